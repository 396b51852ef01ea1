//! The logic of `memcached_hash`: bytes in, bytes out; no nginx type, no `unsafe`.

#![forbid(unsafe_code)]
