//! Node: memjs 1.3.
//!
//! ```text
//! memjs.Client.create('10.0.0.1:11211,10.0.0.2:11211')
//! memcached_hash client=memjs;
//! server 10.0.0.1:11211;
//! server 10.0.0.2:11211;
//! ```
//!
//! The servers in order, chosen by a hash of the UTF-16 units of everything on the wire. There are
//! no weights: `weight` is not looked at.

use super::super::Server;
use super::super::buckets::Buckets;
use super::super::error::{BuildError, ParamError};
use super::super::hash::Hash;
use super::super::params::Args;
use super::super::placement::{Failover, Hashed, Method, Placement, Table};
use super::{Client, Kind};

pub(super) const KIND: Kind = Kind { name: "memjs", parameters: &[], parse };

#[derive(Debug)]
struct Memjs;

fn parse(_: &Args<'_>) -> Result<Box<dyn Client>, ParamError> {
    Ok(Box::new(Memjs))
}

impl Client for Memjs {
    fn build(&self, servers: &[Server<'_>]) -> Result<Placement, BuildError> {
        let buckets = Buckets::one_each(servers.len())?;
        Ok(Placement {
            hashed: Hashed::Wire,
            method: Method::Hash(Hash::JavaStringAbs, Table::Buckets(buckets)),
            failover: Failover::Never,
        })
    }
}
