//! Every placement that was recorded from a real client (tests/vectors) holds.
//!
//! `INDEX.tsv` lists the files: one a configuration of a client, a header and one line a key.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used
)]

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
    fn parameters(&self) -> String {
        let options = &self.header["options"];
        match self.client.as_str() {
            "perl-fast" => self.fast_parameters(),
            // Whatever no_rehash says, `get` asks other servers.
            "perl-cache-memcached" if self.operation_is_get() => {
                "client=cache_memcached rehash=on".into()
            }
            "perl-cache-memcached" => {
                let rehash = on(self.option("no_rehash").is_none());
                format!("client=cache_memcached rehash={rehash}")
            }
            "php-memcache" => format!(
                "client=php_memcache hash_strategy={} hash_function={}",
                text(&options["hash_strategy"]),
                text(&options["hash_function"])
            ),
            "php-memcached" => php_memcached_parameters(options),
            "python-pylibmc-apt" | "python-pylibmc-pip" => {
                pylibmc_parameters(&options["behaviors"])
            }
            "python-memcached-apt1.59" => "client=python_memcached version=1.59 rehash=on".into(),
            "python-memcached-pip1.62" => "client=python_memcached rehash=on".into(),
            "python-pymemcache" if options["bytes"] == true => {
                "client=pymemcache keys=bytes".into()
            }
            "python-pymemcache" => "client=pymemcache".into(),
            "ruby-dalli" => "client=dalli failover=on".into(),
            "go-gomemcache" => "client=gomemcache".into(),
            "node-memcached" => {
                "client=node_memcached".to_owned()
                    + &given("algorithm", &options["client"]["algorithm"])
                    + &given("compatibility", &options["client"]["compatibility"])
            }
            "node-memjs" => "client=memjs".into(),
            "java-spymemcached" => spymemcached_parameters(text(&options["mode"])),
            "twemproxy" => self.twemproxy_parameters(),
            client => panic!("no parameters for {client}"),
        }
    }

    fn fast_parameters(&self) -> String {
        let ketama_points = self.option("ketama_points").unwrap();
        let hash_namespace = on(self.option("hash_namespace").as_deref() == Some("1"));
        let (_, scale) = self.weights();
        format!(
            "ketama_points={ketama_points} weight_scale={scale} hash_namespace={hash_namespace}"
        )
    }

    fn twemproxy_parameters(&self) -> String {
        let names: Vec<_> = self.list("names").iter().map(|name| text(name).to_owned()).collect();
        let names =
            if names.is_empty() { String::new() } else { format!(" names={}", names.join(",")) };
        "client=twemproxy".to_owned()
            + &given("distribution", &self.header["distribution"])
            + &given("hash", &self.header["hash"])
            + &given("hash_tag", &self.header["hash_tag"])
            + &names
    }

    /// What the client puts before a key.
    fn namespace(&self) -> String {
        let options = &self.header["options"];
        if let Some(namespace) = options["namespace"].as_str() {
            return format!("{namespace}:");
        }
        let namespace = options["OPT_PREFIX_KEY"].as_str().or(self.header["namespace"].as_str());
        namespace.unwrap_or_default().to_owned()
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
        let (weights, _) = self.weights();
        let names = self.names();
        let servers = names.iter().zip(weights);
        let servers: Vec<_> =
            servers.map(|(name, weight)| Server { name: name.as_bytes(), weight }).collect();

        let parameters = self.parameters();
        let params = Params::parse(parameters.split_whitespace().map(str::as_bytes)).unwrap();
        params.build(&servers).unwrap()
    }

    /// What differs, a line each.
    fn differences(&self) -> Vec<String> {
        let placement = self.placement();
        let namespace = self.namespace();
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

/// The parameters for the options of PHP's memcached, set in the order of the recording.
fn php_memcached_parameters(options: &Value) -> String {
    let ketama = options["OPT_LIBKETAMA_COMPATIBLE"] == true;
    let consistent = options["OPT_DISTRIBUTION"] == "DISTRIBUTION_CONSISTENT";
    let distribution = match (ketama, consistent) {
        (false, false) => "",
        (true, false) => " distribution=ketama_weighted",
        (false, true) => " distribution=consistent",
        (true, true) => " distribution=consistent hash=md5",
    };
    let hash = options["OPT_HASH"].as_str().map(|hash| hash.replace("HASH_", "").to_lowercase());
    let hash = hash.map_or(String::new(), |hash| format!(" hash={hash}"));
    format!("client=libmemcached{distribution}{hash}")
}

fn pylibmc_parameters(behaviors: &Value) -> String {
    let distribution = if behaviors["ketama_weighted"] == true {
        "ketama_weighted"
    } else if behaviors["ketama"] == true {
        "consistent"
    } else {
        behaviors["distribution"].as_str().unwrap_or("modula")
    };
    format!("client=libmemcached distribution={distribution} unix_port=0")
}

fn spymemcached_parameters(mode: &str) -> String {
    let parameters = match mode {
        "default" => "",
        "ketama_factory" => "locator=ketama",
        "ketama_locator_native" => "locator=ketama hash=native",
        "mod_fnv1a_64" => "hash=fnv1a_64",
        mode => panic!("no parameters for {mode}"),
    };
    format!("client=spymemcached {parameters}")
}

/// ` name=value` if there is a value.
fn given(name: &str, value: &Value) -> String {
    value.as_str().map_or(String::new(), |value| format!(" {name}={value}"))
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

fn on(is_on: bool) -> &'static str {
    if is_on { "on" } else { "off" }
}

/// The key as the application gives it to the client, which is what is hashed. Node's memcached
/// turns `$$` in it into `$` only when it writes the command.
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
