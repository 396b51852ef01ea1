//! Every placement that was recorded from a real client (tests/vectors) holds.
//!
//! `INDEX.tsv` lists the files: one a configuration of a client, a header and one line a key.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use ngx_cachefront::memcached_hash::logic::{Key, Params, Placement, Rehash, Server};
use serde_json::Value;

/// A recording: what a client did in one configuration.
struct Recording {
    /// Folder of the file: says which client.
    client: String,
    header: Value,
    vectors: Vec<Value>,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors")
}

/// The recordings whose path in `INDEX.tsv` starts with `prefix`, by that path.
fn recordings(prefix: &str) -> Vec<(String, Recording)> {
    let index = fs::read_to_string(folder().join("INDEX.tsv")).unwrap();
    let rows = index.lines().skip(1).filter(|row| row.starts_with(prefix));

    rows.map(|row| {
        let columns: Vec<_> = row.split('\t').collect();
        let recording = Recording::read(columns[0]);
        assert_eq!(recording.vectors.len().to_string(), columns[4], "vectors in {}", columns[0]);
        (columns[0].to_owned(), recording)
    })
    .collect()
}

impl Recording {
    fn read(path: &str) -> Self {
        let text = fs::read_to_string(folder().join(path)).unwrap();
        let mut lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
        Self {
            client: path.rsplit('/').nth(1).unwrap().to_owned(),
            header: lines.next().unwrap(),
            vectors: lines.collect(),
        }
    }

    fn option(&self, name: &str) -> Option<String> {
        match &self.header[name] {
            Value::Null => None,
            Value::String(text) => Some(text.clone()),
            value => Some(value.to_string()),
        }
    }

    fn list(&self, name: &str) -> Vec<Value> {
        self.header[name].as_array().cloned().unwrap_or_default()
    }

    /// The `server` lines' texts for the names that were given to the client.
    fn names(&self) -> Vec<String> {
        let names = self.list("servers");
        names.iter().map(|name| nginx_name(name.as_str().unwrap())).collect()
    }

    /// The weights as integers, and what they were multiplied with.
    fn weights(&self) -> (Vec<u32>, u32) {
        let texts: Vec<_> = self.list("weights").iter().map(Value::to_string).collect();
        let decimals = |text: &String| text.split_once('.').map_or(0, |(_, after)| after.len());
        let scale = 10_u32.pow(texts.iter().map(decimals).max().unwrap() as u32);

        let exact = texts.iter().map(|text| {
            let zeros = "0".repeat(scale.ilog10() as usize - decimals(text));
            (text.replace('.', "") + &zeros).parse().unwrap()
        });
        (exact.collect(), scale)
    }

    /// The directive's parameters that belong to the configuration.
    fn parameters(&self, scale: u32) -> Vec<String> {
        match self.client.as_str() {
            "perl-fast" => {
                let mut parameters = vec![
                    format!("ketama_points={}", self.option("ketama_points").unwrap()),
                    format!("weight_scale={scale}"),
                ];
                if self.option("hash_namespace").as_deref() == Some("1") {
                    parameters.push("hash_namespace=on".into());
                }
                parameters
            }
            "perl-cache-memcached" => {
                assert_eq!(scale, 1);
                let mut parameters = vec!["client=cache_memcached".to_owned()];
                // Whatever no_rehash says, `get` asks other servers.
                if self.operation_is_get() || self.option("no_rehash").is_none() {
                    parameters.push("rehash=on".into());
                }
                parameters
            }
            client => panic!("no parameters for {client}"),
        }
    }

    fn operation_is_get(&self) -> bool {
        self.option("operation").as_deref() == Some("get")
    }

    /// The most servers that the recorded operation asks: `set` of Cache::Memcached gives up one
    /// attempt before `get`, and is otherwise the same.
    fn attempts(&self) -> usize {
        match self.client.as_str() {
            "perl-cache-memcached" if !self.operation_is_get() => 20,
            _ => usize::MAX,
        }
    }

    fn placement(&self) -> Placement {
        let (weights, scale) = self.weights();
        let names = self.names();
        let servers = names.iter().zip(weights);
        let servers: Vec<_> =
            servers.map(|(name, weight)| Server { name: name.as_bytes(), weight }).collect();

        let parameters = self.parameters(scale);
        let params = Params::parse(parameters.iter().map(String::as_bytes)).unwrap();
        params.build(&servers).unwrap()
    }

    /// What differs, a line each.
    fn differences(&self) -> Vec<String> {
        let placement = self.placement();
        let namespace = self.option("namespace").unwrap_or_default();
        let down: Vec<_> = self.list("down").iter().map(|server| index(server).unwrap()).collect();
        let mut entries = HashMap::new();
        let mut differences = Vec::new();

        for vector in &self.vectors {
            let wire = [namespace.as_bytes(), &key(vector)].concat();
            let key = Key { wire: &wire, namespace_len: namespace.len() };

            let tried = tried(&placement, key, &down, self.attempts());
            let found = tried.last().copied().filter(|server| !down.contains(server));

            let same = match &vector["conn"] {
                // Two entries are one server, and only the connection tells which one was used.
                Value::Number(connection) => {
                    self.is_same_address(found.unwrap(), index(&vector["server"]).unwrap())
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

    fn is_same_address(&self, one: usize, other: usize) -> bool {
        let address = |server: usize| {
            self.list("servers")[server].as_str().unwrap().replace("localhost", "127.0.0.1")
        };
        address(one) == address(other)
    }
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

fn key(vector: &Value) -> Vec<u8> {
    if let Some(key) = vector["key"].as_str() {
        return key.as_bytes().to_vec();
    }
    let hex = vector["key_hex"].as_str().unwrap().as_bytes();
    let byte = |pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    hex.chunks(2).map(byte).collect()
}

fn index(server: &Value) -> Option<usize> {
    server.as_u64().map(|server| server as usize)
}

/// What a `server` line says for the name that a client was given.
fn nginx_name(name: &str) -> String {
    match name {
        _ if name.starts_with("::1:") => name.replace("::1", "[::1]"),
        // A path; or what a Perl client takes for host and port, and only a socket could be called.
        _ if !name.contains(':') || name.starts_with(['/', '[']) || name.starts_with("unix:") => {
            format!("unix:{name}")
        }
        _ => name.to_owned(),
    }
}

/// Checks `files` recordings with `vectors` keys, and says which differ.
fn check(prefix: &str, files: usize, vectors: usize) {
    let recordings = recordings(prefix);
    let keys = recordings.iter().map(|(_, recording)| recording.vectors.len()).sum::<usize>();
    assert_eq!((recordings.len(), keys), (files, vectors), "the recordings that are there");

    let mut wrong = String::new();
    for (path, recording) in &recordings {
        let differences = recording.differences();
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
fn a_wrong_vector_is_noticed() {
    for (path, mut recording) in recordings("perl-") {
        let servers = recording.list("servers").len();
        if servers == 1 || recording.vectors[0]["conn"].is_number() {
            continue;
        }
        let server =
            index(&recording.vectors[0]["server"]).map_or(0, |server| (server + 1) % servers);
        recording.vectors[0]["server"] = server.into();
        assert_eq!(recording.differences().len(), 1, "{path}");
    }
}

#[test]
fn a_wrong_order_is_noticed() {
    let mut recording = Recording::read("perl-cache-memcached/down_ip3.0_1_2.jsonl");
    let order = recording.vectors[0]["tried"].as_array_mut().unwrap();
    order.swap(0, 1);
    assert_eq!(recording.differences().len(), 1);
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
