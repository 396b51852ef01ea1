//! The recorded placements of real clients, in `tests/vectors`.
//!
//! `INDEX.tsv` lists the files: one a configuration of a client, a header and one line a key.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// A recording: what a client did in one configuration.
pub struct Recording {
    /// Folder of the file: says which client.
    pub client: String,
    /// The first line of the file.
    pub header: Value,
    /// A line a key.
    pub vectors: Vec<Value>,
}

/// The folder of the recordings.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors")
}

/// The recordings whose path in `INDEX.tsv` starts with `prefix`, by that path.
pub fn recordings(prefix: &str) -> Vec<(String, Recording)> {
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
    /// A file, by its path in the folder.
    pub fn read(path: &str) -> Self {
        let text = fs::read_to_string(folder().join(path)).unwrap();
        let mut lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
        Self {
            client: path.rsplit('/').nth(1).unwrap().to_owned(),
            header: lines.next().unwrap(),
            vectors: lines.collect(),
        }
    }

    /// A value of the header as text, `None` if it is null or not there.
    pub fn option(&self, name: &str) -> Option<String> {
        match &self.header[name] {
            Value::Null => None,
            Value::String(text) => Some(text.clone()),
            value => Some(value.to_string()),
        }
    }

    /// A list of the header, empty if it is not there.
    pub fn list(&self, name: &str) -> Vec<Value> {
        self.header[name].as_array().cloned().unwrap_or_default()
    }

    /// The `server` lines' texts for the names that were given to the client.
    pub fn names(&self) -> Vec<String> {
        let names = self.list("servers");
        names.iter().map(|name| nginx_name(name.as_str().unwrap())).collect()
    }

    /// The weights as integers, and what they were multiplied with.
    pub fn weights(&self) -> (Vec<u32>, u32) {
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
    pub fn parameters(&self) -> String {
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
    pub fn namespace(&self) -> String {
        let options = &self.header["options"];
        if let Some(namespace) = options["namespace"].as_str() {
            return format!("{namespace}:");
        }
        let namespace = options["OPT_PREFIX_KEY"].as_str().or(self.header["namespace"].as_str());
        namespace.unwrap_or_default().to_owned()
    }

    /// Whether keys were looked up; else they were stored.
    pub fn operation_is_get(&self) -> bool {
        self.option("operation").as_deref() == Some("get")
    }
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
pub fn key(vector: &Value) -> Vec<u8> {
    if let Some(key) = vector["key"].as_str() {
        return key.as_bytes().to_vec();
    }
    let hex = vector["key_hex"].as_str().unwrap().as_bytes();
    let byte = |pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    hex.chunks(2).map(byte).collect()
}

/// The place of a server, `None` if the client gave up.
pub fn index(server: &Value) -> Option<usize> {
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
