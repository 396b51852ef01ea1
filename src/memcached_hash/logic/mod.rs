//! The logic of `memcached_hash`: bytes in, bytes out; no nginx type, no `unsafe`.
//!
//! | file | what |
//! |---|---|
//! | `params` | the directive's parameters |
//! | [`clients`] | one file a client: its parameters and how it places keys |
//! | `placement` | the server of a key, and the next one when that is down |
//! | `buckets`, `shares`, `ring`, `rendezvous` | the structures that lead from a hash to a server |
//! | `ketama` | the points of libketama |
//! | `hash`, `text` | hash functions; keys as text |
//! | `identity`, `label` | the parts of a server's name; what clients make of them |
//! | `escape` | keys as they are on the wire |
//! | `error` | what can be wrong |

#![forbid(unsafe_code)]

mod buckets;
pub mod clients;
mod error;
mod escape;
mod hash;
mod identity;
mod ketama;
mod label;
mod params;
mod placement;
mod rendezvous;
mod ring;
mod shares;
mod text;

pub use error::{BuildError, MAX_POINTS, ParamError};
pub use escape::escape;
pub use params::Params;
pub use placement::{Key, Placement, Rehash};

/// One `server` line of an upstream.
#[derive(Clone, Copy, Debug)]
pub struct Server<'a> {
    /// The address as it is written in the configuration: `localhost:20000`, `[::1]:20000`,
    /// `unix:/run/memcached.sock`.
    pub name: &'a [u8],
    /// Its `weight`, 1 if none was given.
    pub weight: u32,
}
