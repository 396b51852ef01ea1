//! Trusts addresses inside X-Forwarded-For that are never trusted as a peer.

pub mod logic;
#[cfg(feature = "module")]
mod module;

#[cfg(feature = "module")]
pub(crate) use module::ngx_http_realip_trust_module;
