//! The clients, one file each: its parameters, and how it places keys.

use std::fmt::Debug;

use super::Server;
use super::error::{BuildError, ParamError};
use super::params::Args;
use super::placement::Placement;

pub mod cache_memcached;
pub mod cache_memcached_fast;
pub mod dalli;
pub mod gomemcache;
pub mod libmemcached;
pub mod memjs;
pub mod node_memcached;
pub mod php_memcache;
pub mod pymemcache;
pub mod python_memcached;
pub mod spymemcached;
pub mod twemproxy;

/// A client with its parameters.
pub(super) trait Client: Debug + Send + Sync {
    /// Places keys on `servers`, of which there is at least one.
    fn build(&self, servers: &[Server<'_>]) -> Result<Placement, BuildError>;
}

/// A client as the parameter `client=` names it.
pub(super) struct Kind {
    pub(super) name: &'static str,
    pub(super) parameters: &'static [&'static str],
    pub(super) parse: fn(&Args<'_>) -> Result<Box<dyn Client>, ParamError>,
}

/// All clients, the default first.
pub(super) static KINDS: [Kind; 12] = [
    cache_memcached_fast::KIND,
    cache_memcached::KIND,
    dalli::KIND,
    gomemcache::KIND,
    libmemcached::KIND,
    memjs::KIND,
    node_memcached::KIND,
    php_memcache::KIND,
    pymemcache::KIND,
    python_memcached::KIND,
    spymemcached::KIND,
    twemproxy::KIND,
];

/// The names for `client=`, the default first, each with the names of its parameters.
pub fn parameters() -> impl Iterator<Item = (&'static str, &'static [&'static str])> {
    KINDS.iter().map(|kind| (kind.name, kind.parameters))
}

/// The weights as they are written.
fn weights(servers: &[Server<'_>]) -> Vec<u32> {
    servers.iter().map(|server| server.weight).collect()
}

/// What the client hashes for each server.
fn labels(servers: &[Server<'_>], label: impl Fn(&[u8]) -> Vec<u8>) -> Vec<Vec<u8>> {
    servers.iter().map(|server| label(server.name)).collect()
}
