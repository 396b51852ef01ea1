//! The server of a key, asked of nginx.

use serde_json::Value;

use crate::cluster::{owners, places};

const THREE: [&str; 3] = ["127.0.0.1:21211", "127.0.0.1:21212", "127.0.0.1:21213"];

#[test]
fn m01_points_chain_on_the_point_before() {
    let keys = ["/k0", "/k1", "/k2", "/k4", "/k7", "/k8", "/k9"];
    assert_eq!(places("ketama_points=150", &THREE, &keys), [2, 0, 0, 2, 0, 2, 2]);
}

#[test]
fn m03_ten_and_more_servers_in_basic_mode() {
    let ten: Vec<_> = (1..=10).map(|host| format!("127.0.0.{host}:11211")).collect();
    let keys = ["/k0", "/k2", "/k13", "/k22", "/k38"];
    assert_eq!(places("", &ten, &keys), [6, 4, 6, 4, 4]);

    let keys: Vec<_> = (0..100).map(|number| format!("/k{number}")).collect();
    for number in [1, 2, 3, 7, 50, 100] {
        let servers: Vec<_> = (1..=number).map(|host| format!("127.0.0.{host}:11211")).collect();
        let hash = |key: &String| (crc32(key.as_bytes()) >> 16) & 0x7fff;
        let expected: Vec<_> = keys.iter().map(|key| hash(key) as usize % number).collect();
        assert_eq!(places("", &servers, &keys), expected, "{number} servers");
    }
}

#[test]
fn m12_the_text_of_a_server_counts_not_its_address() {
    let keys = ["/", "/k0", "/k1"];
    assert_eq!(places("ketama_points=150", &THREE, &keys), [2, 2, 0]);
    let localhost = THREE.map(|name| name.replace("127.0.0.1", "localhost"));
    assert_eq!(places("ketama_points=150", &localhost, &keys), [1, 0, 2]);
}

#[test]
fn m14_m15_m18_recorded_placements() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vectors/nginx-fixtures.json");
    let fixtures: Vec<Value> =
        serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    assert_eq!(fixtures.len(), 5);

    for fixture in fixtures {
        let parameters = ["ketama_points", "weight_scale"]
            .map(|name| format!("{name}={}", fixture[name].as_u64().unwrap()))
            .join(" ");
        let servers: Vec<_> =
            fixture["servers"].as_array().unwrap().iter().map(|s| s.as_str().unwrap()).collect();
        let expected: Vec<_> = fixture["expect"].as_object().unwrap().iter().collect();
        let keys: Vec<_> = expected.iter().map(|(key, _)| sent_as(key)).collect();
        let expected: Vec<_> =
            expected.iter().map(|(_, at)| at.as_u64().unwrap() as usize).collect();
        assert_eq!(places(&parameters, &servers, &keys), expected, "{}", fixture["name"]);
    }
}

#[test]
fn m14_a_server_without_a_port_is_hashed_without_one() {
    // Not the same as with port 80, where nginx would connect to.
    let keys: Vec<_> = (0..200).map(|number| format!("/k{number}")).collect();
    let without = places("ketama_points=160", &["127.0.0.1", "127.0.0.2"], &keys);
    let with = places("ketama_points=160", &["127.0.0.1:80", "127.0.0.2:80"], &keys);
    assert_ne!(without, with);
    let empty = ["unix:127.0.0.1", "unix:127.0.0.2"];
    assert_eq!(without, places("ketama_points=160", &empty, &keys));
}

#[test]
fn m15_a_colon_behind_a_socket_is_no_part_of_it() {
    let keys: Vec<_> = (0..100).map(|number| format!("/k{number}")).collect();
    let with = ["unix:/path/a.sock:", "unix:/path/b.sock:"];
    let without = ["unix:/path/a.sock", "unix:/path/b.sock"];
    for parameters in ["ketama_points=150", ""] {
        assert_eq!(places(parameters, &with, &keys), places(parameters, &without, &keys));
    }
}

#[test]
fn m18_order_counts_in_basic_mode_only() {
    let keys: Vec<_> = (0..100).map(|number| format!("/k{number}")).collect();
    let [a, b, c] = THREE;

    let swapped = places("", &[b, a, c], &keys);
    assert_eq!(places("", &[a, b, c], &keys), swapped);

    let swapped = owners("ketama_points=150", &[b, a, c], &keys);
    assert_eq!(owners("ketama_points=150", &[a, b, c], &keys), swapped);
}

/// The value of `$memcached_key` that nginx sends as `wire`.
pub fn sent_as(wire: impl AsRef<[u8]>) -> Vec<u8> {
    let mut wire = wire.as_ref();
    let mut key = Vec::new();
    while let Some((&byte, rest)) = wire.split_first() {
        let escaped = (byte == b'%').then(|| rest.get(..2)).flatten();
        let escaped = escaped.and_then(|digits| std::str::from_utf8(digits).ok());
        match escaped.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                key.push(byte);
                wire = &rest[2..];
            }
            None => {
                key.push(byte);
                wire = rest;
            }
        }
    }
    key
}

/// CRC-32 (IEEE 802.3), one bit at a time.
fn crc32(bytes: &[u8]) -> u32 {
    let step = |crc: u32, _| (crc >> 1) ^ if crc & 1 == 1 { 0xedb8_8320 } else { 0 };
    !bytes.iter().fold(u32::MAX, |crc, &byte| (0..8).fold(crc ^ u32::from(byte), step))
}
