//! Trusts addresses inside X-Forwarded-For that are never trusted as a peer.

#[cfg(feature = "module")]
mod conf;
#[cfg(feature = "module")]
mod handlers;
pub mod logic;
#[cfg(feature = "module")]
mod module;

#[cfg(feature = "module")]
pub(crate) use module::ngx_http_realip_trust_module;
