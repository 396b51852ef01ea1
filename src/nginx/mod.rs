//! The only place that touches raw nginx pointers beyond what the `ngx` crate wraps.
//!
//! Small safe types over what nginx hands to a module; each `unsafe` says why it holds.

/// `shim.c`.
mod shim {
    #![allow(missing_docs)]
    include!(concat!(env!("OUT_DIR"), "/shim.rs"));
}

pub(crate) mod addr;
pub(crate) mod chain;
pub(crate) mod conf;
pub(crate) mod filter;
pub(crate) mod headers;
pub(crate) mod kept;
pub(crate) mod module;
pub(crate) mod phase;
pub(crate) mod pool;
pub(crate) mod realip;
pub(crate) mod request;
pub(crate) mod response;
pub(crate) mod upstream;
pub(crate) mod variable;
