//! ngx-cachefront: three nginx modules in one library.

pub mod jsonp_callback;
pub mod memcached_hash;
pub mod real_ip_recursive_trust;
