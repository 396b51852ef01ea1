//! Wraps a JSON answer as `name(...);`.

pub mod logic;
