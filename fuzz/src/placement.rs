//! Placement of keys. Input: the directive's parameters in one line, then a server a line, each its weight,
//! a blank and its name, an empty line, and keys, one a line.
//!
//! The Perl clients' placement is compared with their algorithm as it is described, without any of the
//! module's structures; of the other clients it is seen that they give a server there is, and an end.

use ngx_cachefront::memcached_hash::logic::{Key, Params, Rehash, Server};

use super::{first_line, lines};

/// More are left out: they would only take time.
const SERVERS: usize = 16;
const WEIGHT: u32 = 300;
const POINTS: u32 = 200;
const NAMESPACE: usize = 2;

pub fn check(input: &[u8]) {
    let (directive, rest) = first_line(input);
    let args: Vec<_> =
        directive.split(|&byte| byte == b' ').filter(|arg| !arg.is_empty()).collect();
    let Ok(params) = Params::parse(args.iter().copied()) else { return };

    let mut lines = lines(rest);
    let servers: Vec<_> = lines.by_ref().map_while(server).take(SERVERS).collect();
    let reference = Reference::of(&args, &servers);
    // Names are left to the resolver only by this client; a fuzzer must not ask it.
    if directive.windows(6).any(|word| word == b"ketama") && has(&args, b"client=spymemcached") {
        return;
    }
    if reference.as_ref().is_some_and(|reference| reference.points > POINTS) {
        return;
    }

    let placement = match params.build(&servers) {
        Ok(placement) => placement,
        Err(_) => return assert!(reference.is_none_or(|reference| !reference.can_place())),
    };
    for wire in lines {
        let key = Key { wire, namespace_len: NAMESPACE };
        let first = placement.server(key);
        assert!(first < servers.len());

        let mut state = Rehash::default();
        let more: Vec<_> =
            std::iter::from_fn(|| placement.rehash(key, &mut state)).take(50).collect();
        assert!(more.len() <= 20 && more.iter().all(|&server| server < servers.len()));

        if let Some(reference) = &reference {
            assert!(reference.can_place());
            assert_eq!(first, reference.server(wire), "{wire:?}");
            assert_eq!(more, reference.more(wire), "{wire:?}");
        }
    }
}

/// `weight name`
fn server(line: &[u8]) -> Option<Server<'_>> {
    let blank = line.iter().position(|&byte| byte == b' ')?;
    let weight: u32 = std::str::from_utf8(&line[..blank]).ok()?.parse().ok()?;
    (weight <= WEIGHT).then_some(Server { name: &line[blank + 1..], weight })
}

fn has(args: &[&[u8]], arg: &[u8]) -> bool {
    args.contains(&arg)
}

fn number(args: &[&[u8]], name: &str) -> Option<u32> {
    let value = args.iter().find_map(|arg| arg.strip_prefix(name.as_bytes()))?;
    std::str::from_utf8(value).ok()?.parse().ok()
}

/// Cache::Memcached::Fast and Cache::Memcached.
struct Reference<'a> {
    servers: &'a [Server<'a>],
    points: u32,
    scale: f64,
    /// Cache::Memcached's own list, rather than the line of Cache::Memcached::Fast.
    list: bool,
    whole: bool,
    rehash: bool,
}

impl<'a> Reference<'a> {
    fn of(args: &[&[u8]], servers: &'a [Server<'a>]) -> Option<Self> {
        let client = args.iter().find_map(|arg| arg.strip_prefix(b"client="));
        let list = match client {
            None | Some(b"cache_memcached_fast") => false,
            Some(b"cache_memcached") => true,
            Some(_) => return None,
        };
        Some(Self {
            servers,
            points: number(args, "ketama_points=").unwrap_or(0),
            scale: number(args, "weight_scale=").unwrap_or(1).into(),
            list,
            whole: has(args, b"hash_namespace=on"),
            rehash: has(args, b"rehash=on"),
        })
    }

    fn weights(&self) -> impl Iterator<Item = f64> {
        self.servers.iter().map(|server| f64::from(server.weight) / self.scale)
    }

    fn can_place(&self) -> bool {
        !self.servers.is_empty()
            && if self.points > 0 {
                !self.ring().is_empty()
            } else {
                self.weights().sum::<f64>() >= 0.5
            }
    }

    fn hashed<'k>(&self, wire: &'k [u8]) -> &'k [u8] {
        if self.whole { wire } else { wire.get(NAMESPACE..).unwrap_or_default() }
    }

    fn server(&self, wire: &[u8]) -> usize {
        let key = self.hashed(wire);
        match self.servers.len() {
            1 => 0,
            _ if self.points > 0 => self.on_ring(crc32(key)),
            _ => self.in_buckets(crc15(key)),
        }
    }

    fn more(&self, wire: &[u8]) -> Vec<usize> {
        if !self.rehash || self.servers.len() == 1 {
            return Vec::new();
        }
        let key = self.hashed(wire);
        let mut hash = crc15(key);
        let mut more = Vec::new();
        for attempt in 1..=20 {
            hash += crc15(&[attempt.to_string().as_bytes(), key].concat());
            more.push(self.in_buckets(hash));
        }
        more
    }

    /// Point and server, in the order in which they are added.
    fn ring(&self) -> Vec<(u32, usize)> {
        let mut ring = Vec::new();
        for (index, weight) in self.weights().enumerate() {
            let (host, port) = host_port(self.servers[index].name);
            let mut point = 0u32;
            for _ in 0..(f64::from(self.points) * weight + 0.5) as u32 {
                point = crc32(&[host, b"\0", port, &point.to_le_bytes()].concat());
                ring.push((point, index));
            }
        }
        ring
    }

    /// The first point at or after the hash, else the first of all; of equal ones the one added first.
    fn on_ring(&self, hash: u32) -> usize {
        let ring = self.ring();
        let after = ring.iter().filter(|&&(point, _)| point >= hash).map(|&(point, _)| point).min();
        let point = after.or_else(|| ring.iter().map(|&(point, _)| point).min());
        ring.iter().find(|&&(at, _)| Some(at) == point).map_or(0, |&(_, server)| server)
    }

    fn in_buckets(&self, hash: u32) -> usize {
        if self.list {
            let list: Vec<_> = (0..self.servers.len())
                .flat_map(|index| std::iter::repeat_n(index, self.servers[index].weight as usize))
                .collect();
            return list[hash as usize % list.len()];
        }
        const MAX: f64 = 4294967295.0;
        let mut ends: Vec<u32> = Vec::new();
        let mut total = 0.0;
        for weight in self.weights() {
            total += weight;
            let share = weight / total;
            for end in &mut ends {
                *end = (f64::from(*end) - f64::from(*end) * share) as u32;
            }
            ends.push(u32::MAX);
        }
        let slot = hash % ((total + 0.5) as u32);
        let at = u64::from((f64::from(slot) / total * MAX + 0.5) as u32) + 1;
        ends.iter().position(|&end| u64::from(end) >= at).unwrap_or(0)
    }
}

/// What the Perl clients are given for a server of nginx's: split at the last colon, without `unix:` and
/// without the brackets of an IPv6 address.
fn host_port(name: &[u8]) -> (&[u8], &[u8]) {
    let unix = name.len() >= 5 && name[..5].eq_ignore_ascii_case(b"unix:");
    let name = if unix { &name[5..] } else { name };
    if !unix && name.first() == Some(&b'[') {
        if let Some(end) = name.iter().rposition(|&byte| byte == b']') {
            let port = &name[end + 1..];
            return (&name[1..end], port.strip_prefix(b":").unwrap_or(port));
        }
    }
    match name.iter().rposition(|&byte| byte == b':') {
        Some(colon) => (&name[..colon], &name[colon + 1..]),
        None => (name, b""),
    }
}

/// Bit by bit.
fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for &byte in bytes {
        crc ^= u32::from(byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 };
        }
    }
    !crc
}

fn crc15(bytes: &[u8]) -> u32 {
    crc32(bytes) >> 16 & 0x7fff
}
