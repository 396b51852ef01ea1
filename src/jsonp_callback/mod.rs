//! Wraps a JSON answer as `name(...);`.

#[cfg(feature = "module")]
mod conf;
#[cfg(feature = "module")]
mod handlers;
pub mod logic;
#[cfg(feature = "module")]
mod module;
#[cfg(feature = "module")]
mod wrapping;

#[cfg(feature = "module")]
pub(crate) use module::{
    ngx_http_jsonp_callback_filter_module, ngx_http_jsonp_callback_gunzip_filter_module,
    ngx_http_jsonp_callback_type_filter_module,
};
