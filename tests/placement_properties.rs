//! Placements against slow ones that follow the descriptions of the clients word by word: rings
//! searched from the start, lists written out, the floating-point steps one by one.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used
)]

use ngx_cachefront::memcached_hash::logic::{Key, Params, Placement, Rehash, Server, clients};
use proptest::prelude::*;

type Servers = Vec<(String, u32)>;

fn build(parameters: &str, servers: &Servers) -> Option<Placement> {
    let params = Params::parse(parameters.split_whitespace().map(str::as_bytes)).unwrap();
    let servers =
        servers.iter().map(|(name, weight)| Server { name: name.as_bytes(), weight: *weight });
    params.build(&servers.collect::<Vec<_>>()).ok()
}

fn server(placement: &Placement, key: &[u8]) -> usize {
    placement.server(Key { wire: key, namespace_len: 0 })
}

/// All servers asked for `key` if none answers.
fn all_tried(placement: &Placement, key: &[u8]) -> Vec<usize> {
    let key = Key { wire: key, namespace_len: 0 };
    let mut state = Rehash::default();
    let more = std::iter::from_fn(|| placement.rehash(key, &mut state));
    std::iter::once(placement.server(key)).chain(more).collect()
}

fn crc32(bytes: &[u8]) -> u32 {
    crc32fast::hash(bytes)
}

fn crc15(bytes: &[u8]) -> u32 {
    (crc32(bytes) >> 16) & 0x7fff
}

/// A point and its server, in the order in which they are added.
type Points = Vec<(u32, usize)>;

/// Cache::Memcached::Fast: the points of all servers.
fn fast_points(servers: &Servers, ketama_points: u32, scale: u32) -> Points {
    let mut points = Points::new();
    for (index, (name, weight)) in servers.iter().enumerate() {
        let (host, port) = name.rsplit_once(':').unwrap();
        let weight = f64::from(*weight) / f64::from(scale);
        let count = (f64::from(ketama_points) * weight + 0.5) as u32;
        let mut point = 0_u32;
        for _ in 0..count {
            let mut text = [host.as_bytes(), b"\0", port.as_bytes()].concat();
            text.extend(point.to_le_bytes());
            point = crc32(&text);
            points.push((point, index));
        }
    }
    points
}

/// The first added of the points that are nearest to `hash` from above, else of the smallest.
fn next_point(points: &Points, hash: u32) -> usize {
    let above = points.iter().filter(|point| point.0 >= hash);
    above.min_by_key(|point| point.0).or(points.iter().min_by_key(|point| point.0)).unwrap().1
}

/// The first added of the points that are nearest to `hash` from below, else of the greatest.
fn last_point(points: &Points, hash: u32) -> usize {
    let first_greatest = |points: &mut dyn Iterator<Item = &(u32, usize)>| {
        points.fold(None, |best: Option<(u32, usize)>, point| match best {
            Some(best) if best.0 >= point.0 => Some(best),
            _ => Some(*point),
        })
    };
    let below = first_greatest(&mut points.iter().filter(|point| point.0 <= hash));
    below.or_else(|| first_greatest(&mut points.iter())).unwrap().1
}

/// Cache::Memcached::Fast without ketama: the server for a 15-bit hash.
fn basic_server(servers: &Servers, scale: u32, hash: u32) -> usize {
    let mut ends: Vec<u32> = Vec::new();
    let mut total = 0.0_f64;
    for (_, weight) in servers {
        let weight = f64::from(*weight) / f64::from(scale);
        total += weight;
        let share = weight / total;
        for end in &mut ends {
            *end = (f64::from(*end) - f64::from(*end) * share) as u32;
        }
        ends.push(u32::MAX);
    }
    let slots = (total + 0.5) as u32;
    let slot = hash % slots;
    let place = (f64::from(slot) / total * f64::from(u32::MAX) + 0.5) as u32 + 1;
    ends.iter().position(|&end| end >= place).unwrap_or(0)
}

/// The bucket list, written out.
fn list(servers: &Servers) -> Vec<usize> {
    let runs = servers.iter().enumerate();
    runs.flat_map(|(index, (_, weight))| vec![index; *weight as usize]).collect()
}

fn md5_words(bytes: &[u8]) -> [u32; 4] {
    use md5::Digest;
    let digest = md5::Md5::digest(bytes);
    [0, 4, 8, 12].map(|at| u32::from_le_bytes(digest[at..at + 4].try_into().unwrap()))
}

fn md5_points(servers: &Servers, digests: impl Fn(u32, u64) -> u64, each: usize) -> Points {
    let total = servers.iter().map(|(_, weight)| u64::from(*weight)).sum();
    let mut points = Points::new();
    for (index, (name, weight)) in servers.iter().enumerate() {
        let label = name.strip_suffix(":11211").unwrap_or(name);
        for number in 0..digests(*weight, total) {
            let words = md5_words(format!("{label}-{number}").as_bytes());
            points.extend(words[..each].iter().map(|word| (*word, index)));
        }
    }
    points
}

/// The search of PHP's memcache, step by step.
fn php_search(sorted: &Points, value: u32) -> usize {
    let (mut low, mut high) = (0, sorted.len() - 1);
    loop {
        if value <= sorted[low].0 || value > sorted[high].0 {
            return sorted[low].1;
        }
        let middle = low + (high - low) / 2;
        let before = if middle == 0 { 0 } else { sorted[middle - 1].0 };
        if value <= sorted[middle].0 && value > before {
            return sorted[middle].1;
        }
        if sorted[middle].0 < value {
            low = middle + 1;
        } else {
            high = middle - 1;
        }
    }
}

fn servers(weights: std::ops::Range<u32>) -> impl Strategy<Value = Servers> {
    let name = "[a-zA-Z0-9.-]{0,12}:(11211|[0-9]{1,5})";
    prop::collection::vec((name, weights), 2..12)
}

fn keys() -> impl Strategy<Value = Vec<Vec<u8>>> {
    prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 1..20)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn fast_ketama(
        servers in servers(1..40), ketama_points in 1..60_u32, scale in 1..30_u32, keys in keys()
    ) {
        let points = fast_points(&servers, ketama_points, scale);
        let parameters = format!("ketama_points={ketama_points} weight_scale={scale}");
        let placement = build(&parameters, &servers);
        prop_assert_eq!(placement.is_none(), points.is_empty());
        if let Some(placement) = placement {
            for key in keys {
                prop_assert_eq!(server(&placement, &key), next_point(&points, crc32(&key)));
            }
        }
    }

    #[test]
    fn fast_basic(servers in servers(1..100), scale in 1..100_u32, keys in keys()) {
        if let Some(placement) = build(&format!("weight_scale={scale}"), &servers) {
            for key in keys {
                prop_assert_eq!(server(&placement, &key), basic_server(&servers, scale, crc15(&key)));
            }
        } else {
            let total: u32 = servers.iter().map(|(_, weight)| weight).sum();
            prop_assert!(f64::from(total) / f64::from(scale) < 0.501);
        }
    }

    #[test]
    fn integer_weights_make_a_bucket_list(servers in servers(1..100), keys in keys()) {
        let list = list(&servers);
        for (parameters, hash) in [
            ("", crc15 as fn(&[u8]) -> u32),
            ("client=cache_memcached", crc15),
            ("client=python_memcached", crc15),
            ("client=python_memcached version=1.59", |key| crc15(key).max(1)),
            ("client=php_memcache hash_strategy=standard", |key| crc15(key).max(1)),
            ("client=twemproxy distribution=modula hash=crc32a", crc32),
        ] {
            let placement = build(parameters, &servers).unwrap();
            for key in &keys {
                let expected = list[hash(key) as usize % list.len()];
                prop_assert_eq!(server(&placement, key), expected, "{}", parameters);
            }
        }
    }

    #[test]
    fn other_servers_are_asked_in_the_clients_order(servers in servers(1..10), keys in keys()) {
        let list = list(&servers);
        let owner = |hash: u32| list[hash as usize % list.len()];
        let cache_memcached = build("client=cache_memcached rehash=on", &servers).unwrap();
        let python_memcached = build("client=python_memcached rehash=on", &servers).unwrap();

        for key in keys {
            let mut hash = crc15(&key);
            let mut expected = vec![owner(hash)];
            for attempt in 1..=20 {
                hash += crc15(&[attempt.to_string().as_bytes(), &key].concat());
                expected.push(owner(hash));
            }
            prop_assert_eq!(all_tried(&cache_memcached, &key), expected);

            let mut hash = crc15(&key);
            let mut expected = vec![owner(hash)];
            for attempt in 0..9 {
                hash = crc15(format!("{hash}{attempt}").as_bytes());
                expected.push(owner(hash));
            }
            prop_assert_eq!(all_tried(&python_memcached, &key), expected);
        }
    }

    #[test]
    fn dalli(servers in servers(1..40), keys in keys()) {
        use sha1::Digest;

        let total: u32 = servers.iter().map(|(_, weight)| weight).sum();
        let mut points = Points::new();
        for (index, (name, weight)) in servers.iter().enumerate() {
            let count = servers.len() as f64 * 160.0 * f64::from(*weight) / f64::from(total);
            for number in 0..count.floor() as u32 {
                let digest = sha1::Sha1::digest(format!("{name}:{number}"));
                points.push((u32::from_be_bytes(digest[..4].try_into().unwrap()), index));
            }
        }

        let placement = build("client=dalli failover=on", &servers).unwrap();
        for key in keys {
            let mut expected = vec![last_point(&points, crc32(&key))];
            for attempt in 0..19 {
                let text = [attempt.to_string().as_bytes(), &key].concat();
                expected.push(last_point(&points, crc32(&text)));
            }
            prop_assert_eq!(all_tried(&placement, &key), expected);
        }
    }

    #[test]
    fn libketama(servers in servers(1..40), keys in keys()) {
        let count = servers.len();
        let single = |weight: u32, total: u64| {
            let share = weight as f32 / total as f32;
            (f64::from(share * 160.0 / 4.0 * count as f32) + 1e-10).floor() as u64
        };
        let double = |weight: u32, total: u64| {
            (f64::from(weight) / total as f64 * 40.0 * count as f64).floor() as u64
        };
        let single = md5_points(&servers, single, 4);
        let double = md5_points(&servers, double, 4);

        for (parameters, points) in [
            ("client=libmemcached distribution=ketama_weighted", &single),
            ("client=twemproxy hash=md5", &single),
            ("client=node_memcached", &double),
        ] {
            let placement = build(parameters, &servers).unwrap();
            for key in &keys {
                let expected = next_point(points, md5_words(key)[0]);
                prop_assert_eq!(server(&placement, key), expected, "{}", parameters);
            }
        }
    }

    #[test]
    fn php_consistent(servers in servers(1..8), keys in keys()) {
        let mut points = Points::new();
        for (index, (name, weight)) in servers.iter().enumerate() {
            for number in 0..160 * weight {
                points.push((crc32(format!("{name}-{number}").as_bytes()), index));
            }
        }
        points.sort_by_key(|point| point.0);

        let placement = build("client=php_memcache", &servers).unwrap();
        for key in keys {
            let place = crc32(&key) % 1024;
            prop_assert_eq!(server(&placement, &key), php_search(&points, place * 4194303));
        }
    }

    #[test]
    fn a_namespace_is_hashed_or_not(
        servers in servers(1..10), namespace in "[a-z:]{0,9}", key in "[a-z]{0,9}", length in 0..30_usize
    ) {
        let wire = format!("{namespace}{key}");
        for (parameters, is_hashed) in [
            ("ketama_points=20", false),
            ("ketama_points=20 hash_namespace=on", true),
            ("client=cache_memcached", false),
            ("client=libmemcached", false),
            ("client=libmemcached hash_with_prefix=on", true),
            ("client=pymemcache", false),
            ("client=dalli", true),
            ("client=node_memcached", true),
            ("client=twemproxy", true),
        ] {
            let placement = build(parameters, &servers).unwrap();
            let found = placement.server(Key { wire: wire.as_bytes(), namespace_len: namespace.len() });
            let hashed = if is_hashed { &wire } else { &key };
            prop_assert_eq!(found, server(&placement, hashed.as_bytes()), "{}", parameters);

            let far = placement.server(Key { wire: wire.as_bytes(), namespace_len: wire.len() + length });
            let hashed = if is_hashed { &wire } else { "" };
            prop_assert_eq!(far, server(&placement, hashed.as_bytes()), "{}", parameters);
        }
    }

    #[test]
    fn every_client_finds_a_server_for_every_key(
        names in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..20), 1..6),
        weights in prop::collection::vec(1..5_u32, 6),
        keys in keys(),
        namespace_len in 0..50_usize,
    ) {
        let servers: Vec<_> =
            names.iter().zip(weights).map(|(name, weight)| Server { name, weight }).collect();

        for (client, _) in clients::parameters() {
            let params = Params::parse([format!("client={client}").as_bytes()]).unwrap();
            let placement = params.build(&servers).unwrap();
            for key in &keys {
                let key = Key { wire: key, namespace_len };
                prop_assert!(placement.server(key) < servers.len(), "{}", client);
            }
        }
    }

    #[test]
    fn parameters_are_taken_or_refused(args in prop::collection::vec(any::<Vec<u8>>(), 0..5)) {
        let _ = Params::parse(args.iter().map(Vec::as_slice));
    }
}
