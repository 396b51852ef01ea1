//! Perl's Cache::Memcached 1.30: the basic mode.
//!
//! | parameter | the constructor's | default |
//! |---|---|---|
//! | `rehash=on\|off` | `get` always does, whatever `no_rehash` says | off |

use super::super::Server;
use super::super::buckets::Buckets;
use super::super::error::{BuildError, ParamError};
use super::super::hash::Hash;
use super::super::params::Args;
use super::super::placement::{Failover, Hashed, Placement, Table};
use super::{Client, Kind};

pub(super) const KIND: Kind = Kind { name: "cache_memcached", parameters: &["rehash"], parse };

#[derive(Debug)]
struct CacheMemcached {
    failover: Failover,
}

fn parse(args: &Args<'_>) -> Result<Box<dyn Client>, ParamError> {
    let failover = if args.flag("rehash")? { Failover::CacheMemcached } else { Failover::Never };
    Ok(Box::new(CacheMemcached { failover }))
}

impl Client for CacheMemcached {
    fn build(&self, servers: &[Server<'_>]) -> Result<Placement, BuildError> {
        let weights = servers.iter().map(|server| f64::from(server.weight));
        let buckets = Buckets::new(weights)?;
        let table = if servers.len() == 1 { Table::One } else { Table::Buckets(buckets) };
        Ok(Placement { hashed: Hashed::Key, hash: Hash::Crc15, table, failover: self.failover })
    }
}
