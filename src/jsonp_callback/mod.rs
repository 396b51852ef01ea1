//! Wraps a JSON answer as `name(...);`.

pub mod logic;
#[cfg(feature = "module")]
mod module;

#[cfg(feature = "module")]
pub(crate) use module::ngx_http_jsonp_callback_filter_module;
