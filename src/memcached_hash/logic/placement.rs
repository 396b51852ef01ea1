//! The server of a key.

use super::buckets::Buckets;
use super::hash::Hash;
use super::ring::Ring;

/// A key as it is on the wire, after nginx's escaping; its first `namespace_len` bytes are the
/// namespace.
#[derive(Clone, Copy, Debug)]
pub struct Key<'a> {
    /// Namespace and key.
    pub wire: &'a [u8],
    /// Bytes of the namespace; more than there are count as all.
    pub namespace_len: usize,
}

/// Where one client places keys on one list of servers. Looking a key up takes no memory.
#[derive(Debug)]
pub struct Placement {
    pub(super) hashed: Hashed,
    pub(super) hash: Hash,
    pub(super) table: Table,
    pub(super) failover: Failover,
}

/// The part of the wire key that is hashed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Hashed {
    /// What follows the namespace.
    Key,
    /// All of it.
    Wire,
}

/// How a hash leads to a server.
#[derive(Debug)]
pub(super) enum Table {
    /// There is one server: nothing is hashed.
    One,
    Ring(Ring),
    Buckets(Buckets),
}

/// Which servers are asked when the first is down.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Failover {
    /// No other.
    Never,
    /// Those that `get` of Cache::Memcached 1.30 asks: 21 attempts, the first included. The hash of
    /// attempt t (from 1) followed by the key is added to the hash so far.
    CacheMemcached,
}

/// How far the search for a server that answers has come; starts as `Rehash::default()`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rehash {
    attempts: u8,
    hash: u32,
}

impl Placement {
    /// The server of `key`: an index into the servers that the placement was built from.
    pub fn server(&self, key: Key<'_>) -> usize {
        match self.table {
            Table::One => 0,
            _ => self.table.owner(self.hash.of(&[self.hashed.of(key)])),
        }
    }

    /// The server to ask after [`Placement::server`], or the one that the last call gave, could not
    /// be reached; `None` when the client gives up. It may be one that was asked before: to the
    /// client that is an attempt like any other.
    pub fn rehash(&self, key: Key<'_>, state: &mut Rehash) -> Option<usize> {
        if matches!(self.table, Table::One) {
            return None;
        }

        let key = self.hashed.of(key);
        state.attempts = state.attempts.saturating_add(1);
        if state.attempts == 1 {
            state.hash = self.hash.of(&[key]);
        }

        match self.failover {
            Failover::Never => return None,
            Failover::CacheMemcached => {
                if state.attempts > 20 {
                    return None;
                }
                let mut digits = [0; 10];
                let attempt = decimal(u32::from(state.attempts), &mut digits);
                state.hash = state.hash.wrapping_add(self.hash.of(&[attempt, key]));
            }
        }

        Some(self.table.owner(state.hash))
    }
}

impl Hashed {
    fn of(self, key: Key<'_>) -> &[u8] {
        match self {
            Self::Key => key.wire.get(key.namespace_len..).unwrap_or_default(),
            Self::Wire => key.wire,
        }
    }
}

impl Table {
    fn owner(&self, hash: u32) -> usize {
        match self {
            Self::One => 0,
            Self::Ring(ring) => ring.at_or_after(hash),
            Self::Buckets(buckets) => buckets.owner(hash),
        }
    }
}

/// `number` in decimal, written to the end of `digits`.
fn decimal(mut number: u32, digits: &mut [u8; 10]) -> &[u8] {
    let mut left = digits.len();
    for digit in digits.iter_mut().rev() {
        *digit = b'0'.saturating_add((number % 10) as u8);
        number /= 10;
        left = left.saturating_sub(1);
        if number == 0 {
            break;
        }
    }
    digits.get(left..).unwrap_or_default()
}
