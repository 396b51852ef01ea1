//! Finds the memcached server that holds a key, as the application's own client does.

pub mod logic;
