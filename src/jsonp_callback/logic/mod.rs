//! The logic of `jsonp_callback`: bytes in, bytes out; no nginx type, no `unsafe`.

#![forbid(unsafe_code)]

pub mod args;
pub mod around;
pub mod callback;
pub mod content_type;
pub mod separators;
pub mod status;
