//! Perl: Cache::Memcached 1.30.
//!
//! ```text
//! Cache::Memcached->new({ servers => [['mc1:11211', 2], 'mc2:11211'] })
//! memcached_hash client=cache_memcached;
//! server mc1:11211 weight=2;
//! server mc2:11211;
//! ```
//!
//! | parameter | in the client | default |
//! |---|---|---|
//! | `rehash=on\|off` | `get` always asks other servers, whatever `no_rehash` says | off |
//!
//! A bucket list; the namespace is not hashed.

use super::super::Server;
use super::super::buckets::Buckets;
use super::super::error::{BuildError, ParamError};
use super::super::hash::Hash;
use super::super::params::Args;
use super::super::placement::{Failover, Hashed, Method, Placement, Table};
use super::{Client, Kind};

pub(super) const KIND: Kind = Kind { name: "cache_memcached", parameters: &["rehash"], parse };

#[derive(Debug)]
struct CacheMemcached {
    failover: Failover,
}

fn parse(args: &Args<'_>) -> Result<Box<dyn Client>, ParamError> {
    let rehash = args.flag("rehash")?;
    let failover = if rehash { Failover::CacheMemcached } else { Failover::Never };
    Ok(Box::new(CacheMemcached { failover }))
}

impl Client for CacheMemcached {
    fn build(&self, servers: &[Server<'_>]) -> Result<Placement, BuildError> {
        let buckets = Buckets::new(&super::weights(servers))?;
        Ok(Placement {
            hashed: Hashed::Key,
            method: Method::Hash(Hash::Crc15, Table::Buckets(buckets)),
            failover: self.failover,
        })
    }
}
