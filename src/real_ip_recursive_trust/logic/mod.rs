//! The logic of `real_ip_recursive_trust`: bytes in, bytes out; no nginx type, no `unsafe`.

#![forbid(unsafe_code)]
