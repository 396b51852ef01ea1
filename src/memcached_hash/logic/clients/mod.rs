//! The clients, one file each.

use std::fmt::Debug;

use super::Server;
use super::error::{BuildError, ParamError};
use super::params::Args;
use super::placement::Placement;

pub mod cache_memcached;
pub mod cache_memcached_fast;

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

pub(super) const DEFAULT: Kind = cache_memcached_fast::KIND;

const KINDS: [Kind; 2] = [DEFAULT, cache_memcached::KIND];

/// All clients, the default first.
pub(super) fn all() -> impl Iterator<Item = &'static Kind> {
    KINDS.iter()
}
