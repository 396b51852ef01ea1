//! Ruby: Dalli 3.0.
//!
//! ```text
//! Dalli::Client.new(['mc1:11211:2', 'mc2:11211'], namespace: 'app')
//! memcached_hash client=dalli;           # and: set $memcached_namespace app:;
//! server mc1:11211 weight=2;
//! server mc2:11211;
//! ```
//!
//! | parameter | in the client | default |
//! |---|---|---|
//! | `failover=on\|off` | `failover: true`, which is the client's default | off |
//!
//! A ring of SHA-1 points in which a key belongs to the point before it. Everything on the wire is
//! hashed, the namespace and its colon too.

use super::super::Server;
use super::super::error::{BuildError, ParamError};
use super::super::hash::{self, Hash};
use super::super::identity::Identity;
use super::super::label;
use super::super::params::Args;
use super::super::placement::{Failover, Hashed, Method, Placement, Table};
use super::super::ring::Ring;
use super::{Client, Kind};

pub(super) const KIND: Kind = Kind { name: "dalli", parameters: &["failover"], parse };

#[derive(Debug)]
struct Dalli {
    failover: Failover,
}

fn parse(args: &Args<'_>) -> Result<Box<dyn Client>, ParamError> {
    let failover = if args.flag("failover")? { Failover::Dalli } else { Failover::Never };
    Ok(Box::new(Dalli { failover }))
}

impl Client for Dalli {
    fn build(&self, servers: &[Server<'_>]) -> Result<Placement, BuildError> {
        let labels = super::labels(servers, label);
        let ring = Ring::build(&counts(servers), labels.iter().map(|label| points(label)))?;
        Ok(Placement {
            hashed: Hashed::Wire,
            method: Method::Hash(Hash::Crc32, Table::RingBackwards(ring)),
            failover: self.failover,
        })
    }
}

fn label(name: &[u8]) -> Vec<u8> {
    match Identity::parse(name) {
        Identity::Unix(path) => path.to_vec(),
        Identity::Inet { host, port } => label::host_port(host, port),
    }
}

/// 160 points for a server of mean weight.
fn counts(servers: &[Server<'_>]) -> Vec<u64> {
    let weights = super::weights(servers);
    let total: f64 = weights.iter().copied().map(f64::from).sum();
    let all = servers.len() as f64 * 160.0;
    weights.iter().map(|&weight| (all * f64::from(weight) / total) as u64).collect()
}

/// The first 4 bytes, big endian, of the SHA-1 of `label:0`, `label:1`, ...
fn points(label: &[u8]) -> impl Iterator<Item = u32> {
    (0_u64..).map(move |number| {
        let text = [label, format!(":{number}").as_bytes()].concat();
        let [a, b, c, d, ..] = hash::sha1(&text);
        u32::from_be_bytes([a, b, c, d])
    })
}
