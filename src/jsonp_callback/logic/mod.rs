//! The logic of `jsonp_callback`: bytes in, bytes out; no nginx type, no `unsafe`.

#![forbid(unsafe_code)]
