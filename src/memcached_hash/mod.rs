//! Finds the memcached server that holds a key, as the application's own client does.

#[cfg(feature = "module")]
mod conf;
#[cfg(feature = "module")]
mod handlers;
pub mod logic;
#[cfg(feature = "module")]
mod module;

#[cfg(feature = "module")]
pub(crate) use module::ngx_http_upstream_memcached_hash_module;
