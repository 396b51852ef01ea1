//! The server of a key.

use std::fmt;
use std::io::Write;

use super::buckets::Buckets;
use super::hash::{self, Hash};
use super::rendezvous::Rendezvous;
use super::ring::Ring;
use super::shares::Shares;

/// A key as it is on the wire, after nginx's escaping.
#[derive(Clone, Copy, Debug)]
pub struct Key<'a> {
    /// Namespace and key.
    pub wire: &'a [u8],
    /// How many bytes of `wire` are the namespace; more than there are count as all.
    pub namespace_len: usize,
}

/// Where one client places keys on one list of servers. Looking a key up takes no memory.
#[derive(Debug)]
pub struct Placement {
    pub(super) hashed: Hashed,
    pub(super) method: Method,
    pub(super) failover: Failover,
}

/// The part of the wire key that is hashed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Hashed {
    /// What follows the namespace.
    Key,
    /// All of it.
    Wire,
    /// What is between the first of one byte and the next of another, all if that is nothing.
    Tag(u8, u8),
}

/// How a key leads to a server.
#[derive(Debug)]
pub(super) enum Method {
    /// There is one server.
    Only,
    /// By a hash of the key.
    Hash(Hash, Table),
    Rendezvous(Rendezvous),
}

/// How a hash leads to a server.
#[derive(Debug)]
pub(super) enum Table {
    /// To the bucket, modulo their number.
    Buckets(Buckets),
    Shares(Shares),
    /// To the next point on the ring.
    Ring(Ring),
    /// To the point before it.
    RingBackwards(Ring),
    /// To the server in this place, modulo the number of places.
    Places(Box<[u32]>),
}

/// Which servers are asked when the first is down.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Failover {
    /// No other.
    Never,
    /// Cache::Memcached's `get`: 21 attempts. The hash of the attempt's number, from 1, and the key
    /// is added to the hash so far.
    CacheMemcached,
    /// python-memcached: 10 attempts. The hash of the hash so far and the attempt's number, from 0.
    PythonMemcached,
    /// Dalli: 20 attempts. The hash of the attempt's number, from 0, and the key.
    Dalli,
}

/// How far the search for a server that answers has come; starts as `Rehash::default()`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rehash {
    /// How many servers were asked after the first.
    more: u8,
    /// The hash that led to the last.
    hash: u32,
}

impl Placement {
    /// The server of `key`: an index into the servers that the placement was built from.
    pub fn server(&self, key: Key<'_>) -> usize {
        let key = self.hashed.of(key);
        match &self.method {
            Method::Only => 0,
            Method::Hash(hash, table) => table.owner(hash.of(key)),
            Method::Rendezvous(rendezvous) => rendezvous.server(key),
        }
    }

    /// The server to ask after [`Placement::server`], or the one that the last call gave, could not
    /// be reached; `None` when the client gives up. It may be one that was asked before: to the
    /// client that is an attempt like any other.
    pub fn rehash(&self, key: Key<'_>, state: &mut Rehash) -> Option<usize> {
        let Method::Hash(hash, table) = &self.method else { return None };
        let key = self.hashed.of(key);

        let last = if state.more == 0 { hash.of(key) } else { state.hash };
        state.hash = self.failover.next(*hash, last, state.more, key)?;
        state.more = state.more.saturating_add(1);
        Some(table.owner(state.hash))
    }
}

impl Hashed {
    fn of(self, key: Key<'_>) -> &[u8] {
        match self {
            Self::Key => key.wire.get(key.namespace_len..).unwrap_or_default(),
            Self::Wire => key.wire,
            Self::Tag(open, close) => tag(key.wire, open, close).unwrap_or(key.wire),
        }
    }
}

fn tag(key: &[u8], open: u8, close: u8) -> Option<&[u8]> {
    let after = key.splitn(2, |&byte| byte == open).nth(1)?;
    let mut parts = after.splitn(2, |&byte| byte == close);
    let tag = parts.next().filter(|tag| !tag.is_empty());
    parts.next().and(tag)
}

impl Table {
    fn owner(&self, hash: u32) -> usize {
        match self {
            Self::Buckets(buckets) => buckets.owner(hash),
            Self::Shares(shares) => shares.owner(hash),
            Self::Ring(ring) => ring.at_or_after(hash),
            Self::RingBackwards(ring) => ring.at_or_before(hash),
            Self::Places(places) => {
                let place = (hash as usize).checked_rem(places.len());
                let server = place.and_then(|place| places.get(place));
                server.map_or(0, |&server| server as usize)
            }
        }
    }
}

impl Failover {
    /// The hash after `last`, when `more` servers were asked after the first.
    fn next(self, hash: Hash, last: u32, more: u8, key: &[u8]) -> Option<u32> {
        let mut digits = [0; 20];
        match self {
            Self::CacheMemcached if more < 20 => {
                let attempt = decimal(format_args!("{}", more.saturating_add(1)), &mut digits);
                Some(last.wrapping_add(hash::crc15(&[attempt, key])))
            }
            Self::PythonMemcached if more < 9 => {
                Some(hash.of(decimal(format_args!("{last}{more}"), &mut digits)))
            }
            Self::Dalli if more < 19 => {
                let attempt = decimal(format_args!("{more}"), &mut digits);
                Some(hash::crc32(&[attempt, key]))
            }
            _ => None,
        }
    }
}

/// The text of numbers, in memory of the caller's.
fn decimal<'a>(numbers: fmt::Arguments<'_>, digits: &'a mut [u8; 20]) -> &'a [u8] {
    let mut rest = digits.as_mut_slice();
    // There is room for two numbers of 32 bits.
    let _ = rest.write_fmt(numbers);
    let length = 20_usize.saturating_sub(rest.len());
    digits.get(..length).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hashed_part() {
        let key = |wire, namespace_len| Key { wire, namespace_len };
        assert_eq!(Hashed::Key.of(key(b"ns:key", 3)), b"key");
        assert_eq!(Hashed::Key.of(key(b"ns:", 3)), b"");
        assert_eq!(Hashed::Key.of(key(b"ns:", 4)), b"");
        assert_eq!(Hashed::Wire.of(key(b"ns:key", 3)), b"ns:key");

        let tag = |wire| Hashed::Tag(b'{', b'}').of(key(wire, 0));
        assert_eq!(tag(b"a{b}c{d}"), b"b");
        assert_eq!(tag(b"a}b{c}"), b"c");
        assert_eq!(tag(b"a{{b}}"), b"{b");
        for whole in [&b"ab"[..], b"", b"{", b"a{b", b"a{}b{c}", b"}a{"] {
            assert_eq!(tag(whole), whole);
        }
    }

    #[test]
    fn hash_tag_bytes_may_be_the_same() {
        let key = Key { wire: b"a$b$c", namespace_len: 0 };
        assert_eq!(Hashed::Tag(b'$', b'$').of(key), b"b");
    }

    #[test]
    fn numbers_are_written_in_decimal() {
        assert_eq!(decimal(format_args!("{}", 7), &mut [0; 20]), b"7");
        assert_eq!(
            decimal(format_args!("{}{}", u32::MAX, u32::MAX), &mut [0; 20]),
            b"42949672954294967295"
        );
    }

    #[test]
    fn a_state_is_small() {
        assert!(size_of::<Rehash>() <= 8);
    }
}
