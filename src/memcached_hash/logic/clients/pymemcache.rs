//! Python: pymemcache 4.0, `HashClient`.
//!
//! ```text
//! HashClient([('mc1', 11211), ('mc2', 11211)])
//! memcached_hash client=pymemcache;
//! server mc1:11211;
//! server mc2:11211;
//! ```
//!
//! | parameter | in the client | default |
//! |---|---|---|
//! | `keys=str\|bytes` | the type of the keys: `'a'` and `b'a'` are on different servers | str |
//!
//! Rendezvous hashing of the server's name and the key; the `key_prefix`, which is the namespace, is
//! not hashed. There are no weights: `weight` is not looked at.

use super::super::Server;
use super::super::error::{BuildError, ParamError};
use super::super::identity::Identity;
use super::super::label;
use super::super::params::Args;
use super::super::placement::{Failover, Hashed, Method, Placement};
use super::super::rendezvous::{Keys, Rendezvous};
use super::{Client, Kind};

pub(super) const KIND: Kind = Kind { name: "pymemcache", parameters: &["keys"], parse };

#[derive(Debug)]
struct Pymemcache {
    keys: Keys,
}

fn parse(args: &Args<'_>) -> Result<Box<dyn Client>, ParamError> {
    let keys = args.choice("keys", &[("str", Keys::Str), ("bytes", Keys::Bytes)])?;
    Ok(Box::new(Pymemcache { keys: keys.unwrap_or(Keys::Str) }))
}

impl Client for Pymemcache {
    fn build(&self, servers: &[Server<'_>]) -> Result<Placement, BuildError> {
        let names = super::labels(servers, label);
        Ok(Placement {
            hashed: Hashed::Key,
            method: Method::Rendezvous(Rendezvous::new(&names, self.keys)),
            failover: Failover::Never,
        })
    }
}

fn label(name: &[u8]) -> Vec<u8> {
    match Identity::parse(name) {
        Identity::Unix(path) => path.to_vec(),
        Identity::Inet { host, port } => label::host_port(host, port),
    }
}
