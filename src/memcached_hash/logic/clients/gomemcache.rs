//! Go: gomemcache.
//!
//! ```text
//! memcache.New("10.0.0.1:11211", "10.0.0.2:11211")
//! memcached_hash client=gomemcache;
//! server 10.0.0.1:11211;
//! server 10.0.0.2:11211;
//! ```
//!
//! The servers in order, chosen by the CRC-32 of everything on the wire. There are no weights
//! (`weight` is not looked at): a server given twice to the client stands twice in the upstream.

use super::super::Server;
use super::super::buckets::Buckets;
use super::super::error::{BuildError, ParamError};
use super::super::hash::Hash;
use super::super::params::Args;
use super::super::placement::{Failover, Hashed, Method, Placement, Table};
use super::{Client, Kind};

pub(super) const KIND: Kind = Kind { name: "gomemcache", parameters: &[], parse };

#[derive(Debug)]
struct Gomemcache;

fn parse(_: &Args<'_>) -> Result<Box<dyn Client>, ParamError> {
    Ok(Box::new(Gomemcache))
}

impl Client for Gomemcache {
    fn build(&self, servers: &[Server<'_>]) -> Result<Placement, BuildError> {
        let buckets = Buckets::one_each(servers.len())?;
        Ok(Placement {
            hashed: Hashed::Wire,
            method: Method::Hash(Hash::Crc32, Table::Buckets(buckets)),
            failover: Failover::Never,
        })
    }
}
