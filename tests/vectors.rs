//! Every placement that was recorded from a real client (tests/vectors) holds.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used
)]

mod support;

use std::collections::HashMap;
use std::fs;

use ngx_cachefront::memcached_hash::logic::{Key, Params, Placement, Rehash, Server};
use serde_json::Value;
use support::recording::{Recording, folder, index, key, recordings};

/// The most servers that the recorded operation asks: `set` of Cache::Memcached gives up one
/// attempt before `get`, and is otherwise the same.
fn attempts(recording: &Recording) -> usize {
    match recording.client.as_str() {
        "perl-cache-memcached" if !recording.operation_is_get() => 20,
        _ => usize::MAX,
    }
}

fn placement(recording: &Recording) -> Placement {
    let (weights, _) = recording.weights();
    let names = recording.names();
    let servers = names.iter().zip(weights);
    let servers: Vec<_> =
        servers.map(|(name, weight)| Server { name: name.as_bytes(), weight }).collect();

    let parameters = recording.parameters();
    let params = Params::parse(parameters.split_whitespace().map(str::as_bytes)).unwrap();
    params.build(&servers).unwrap()
}

/// What differs, a line each.
fn differences(recording: &Recording) -> Vec<String> {
    let placement = placement(recording);
    let namespace = recording.namespace();
    let down: Vec<_> = recording.list("down").iter().map(|server| index(server).unwrap()).collect();
    let mut entries = HashMap::new();
    let mut differences = Vec::new();

    for vector in &recording.vectors {
        let wire = [namespace.as_bytes(), &key(vector)].concat();
        let key = Key { wire: &wire, namespace_len: namespace.len() };

        let tried = tried(&placement, key, &down, attempts(recording));
        let found = tried.last().copied().filter(|server| !down.contains(server));

        let same = match &vector["conn"] {
            // Two entries are one server, and only the connection tells which one was used.
            Value::Number(connection) => {
                is_same_address(recording, found.unwrap(), index(&vector["server"]).unwrap())
                    && *entries.entry(connection.clone()).or_insert(found) == found
            }
            _ => found == index(&vector["server"]),
        };
        let same_order = match &vector["tried"] {
            Value::Array(expected) => {
                tried == expected.iter().map(|s| index(s).unwrap()).collect::<Vec<_>>()
            }
            _ => true,
        };
        if !same || !same_order {
            differences.push(format!("{vector}: found {found:?}, tried {tried:?}"));
        }
    }

    differences
}

fn is_same_address(recording: &Recording, one: usize, other: usize) -> bool {
    let address = |server: usize| {
        recording.list("servers")[server].as_str().unwrap().replace("localhost", "127.0.0.1")
    };
    address(one) == address(other)
}

/// The servers that are asked for `key`, the last one alive, or all of them down.
fn tried(placement: &Placement, key: Key<'_>, down: &[usize], attempts: usize) -> Vec<usize> {
    let mut rehash = Rehash::default();
    let mut tried = vec![placement.server(key)];
    while down.contains(tried.last().unwrap()) && tried.len() < attempts {
        match placement.rehash(key, &mut rehash) {
            Some(next) => tried.push(next),
            None => break,
        }
    }
    tried
}

/// Checks `files` recordings with `vectors` keys, and says which differ.
fn check(prefix: &str, files: usize, vectors: usize) {
    let recordings = recordings(prefix);
    let keys = recordings.iter().map(|(_, recording)| recording.vectors.len()).sum::<usize>();
    assert_eq!((recordings.len(), keys), (files, vectors), "the recordings that are there");

    let mut wrong = String::new();
    for (path, recording) in &recordings {
        let differences = differences(recording);
        if let Some(first) = differences.first() {
            wrong += &format!("{path}: {} keys, the first {first}\n", differences.len());
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn every_file_is_listed() {
    let mut found = Vec::new();
    let mut folders = vec![folder()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "jsonl") {
                found.push(path);
            }
        }
    }
    assert_eq!(found.len(), recordings("").len());
}

#[test]
fn cache_memcached_fast() {
    check("perl-fast/", 180, 51122);
}

#[test]
fn cache_memcached() {
    check("perl-cache-memcached/", 27, 8100);
}

#[test]
fn libmemcached() {
    check("other/php-memcached/", 26, 4700);
    check("other/python-pylibmc-apt/", 9, 2700);
    check("other/python-pylibmc-pip/", 7, 700);
}

#[test]
fn php_memcache() {
    check("other/php-memcache/", 16, 3595);
}

#[test]
fn python_memcached() {
    check("other/python-memcached-apt1.59/", 5, 1245);
    check("other/python-memcached-pip1.62/", 3, 900);
}

#[test]
fn pymemcache() {
    check("other/python-pymemcache/", 4, 1050);
}

#[test]
fn dalli() {
    check("other/ruby-dalli/", 6, 950);
}

#[test]
fn gomemcache() {
    check("other/go-gomemcache/", 1, 300);
}

#[test]
fn node_memcached() {
    check("other/node-memcached/", 3, 700);
}

#[test]
fn memjs() {
    check("other/node-memjs/", 2, 600);
}

#[test]
fn spymemcached() {
    check("other/java-spymemcached/", 9, 1750);
}

#[test]
fn twemproxy() {
    check("other/twemproxy/", 25, 4420);
}

#[test]
fn a_wrong_vector_is_noticed() {
    for (path, mut recording) in recordings("") {
        let servers = recording.list("servers").len();
        if servers == 1 || recording.vectors[0]["conn"].is_number() {
            continue;
        }
        let server =
            index(&recording.vectors[0]["server"]).map_or(0, |server| (server + 1) % servers);
        recording.vectors[0]["server"] = server.into();
        assert_eq!(differences(&recording).len(), 1, "{path}");
    }
}

#[test]
fn a_wrong_order_is_noticed() {
    let mut recording = Recording::read("perl-cache-memcached/down_ip3.0_1_2.jsonl");
    let order = recording.vectors[0]["tried"].as_array_mut().unwrap();
    order.swap(0, 1);
    assert_eq!(differences(&recording).len(), 1);
}

/// Small cases written as nginx has them, from the reference client.
#[test]
fn nginx_fixtures() {
    let text = fs::read_to_string(folder().join("nginx-fixtures.json")).unwrap();
    let fixtures: Vec<Value> = serde_json::from_str(&text).unwrap();
    assert_eq!(fixtures.len(), 5);

    for fixture in fixtures {
        let parameters = ["ketama_points", "weight_scale"]
            .map(|name| format!("{name}={}", fixture[name].as_u64().unwrap()));
        let servers: Vec<_> = fixture["servers"].as_array().unwrap().iter().map(server).collect();
        let params = Params::parse(parameters.iter().map(String::as_bytes)).unwrap();
        let placement = params.build(&servers).unwrap();

        for (key, expected) in fixture["expect"].as_object().unwrap() {
            let found = placement.server(Key { wire: key.as_bytes(), namespace_len: 0 });
            assert_eq!(Some(found), index(expected), "{key} in {}", fixture["name"]);
        }
    }
}

/// `NAME weight=N`
fn server(text: &Value) -> Server<'_> {
    let (name, weight) = text.as_str().unwrap().split_once(" weight=").unwrap();
    Server { name: name.as_bytes(), weight: weight.parse().unwrap() }
}
