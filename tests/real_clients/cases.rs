//! What an application may have, and the line of nginx for it.

use std::fmt;

use crate::keys::Keys;
use crate::pool::Kind;

/// A client in one configuration, and what belongs to it in nginx.
pub struct Case {
    /// Its name, as in [`crate::programs::CLIENTS`].
    pub client: &'static str,
    /// The name of the configuration in the client's program.
    pub mode: &'static str,
    /// The parameters of `memcached_hash`.
    pub parameters: &'static str,
    /// What `$memcached_namespace` is.
    pub namespace: &'static str,
    pub pool: Kind,
    pub weights: [u32; 3],
    pub keys: Keys,
    /// Whether the values are of a length that some clients compress unless they are told not to.
    pub long_values: bool,
}

impl Case {
    pub fn new(client: &'static str, mode: &'static str, parameters: &'static str) -> Case {
        Case {
            client,
            mode,
            parameters,
            namespace: "",
            pool: Kind::Addresses,
            weights: [1, 1, 1],
            keys: Keys::All,
            long_values: false,
        }
    }

    /// What stands before the key in its value.
    pub fn tag(&self) -> String {
        let length = if self.long_values { 30_000 } else { 0 };
        format!("{}{}", self.client, ".".repeat(length))
    }

    fn namespace(self, namespace: &'static str) -> Case {
        Case { namespace, ..self }
    }

    fn on(self, pool: Kind) -> Case {
        Case { pool, ..self }
    }

    fn weights(self, weights: [u32; 3]) -> Case {
        Case { weights, ..self }
    }

    fn ascii(self) -> Case {
        Case { keys: Keys::Ascii, ..self }
    }

    fn long_values(self) -> Case {
        Case { long_values: true, ..self }
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.mode)?;
        if self.weights != [1, 1, 1] {
            write!(f, ", weights {:?}", self.weights)?;
        }
        if self.long_values {
            write!(f, ", long values")?;
        }
        match self.pool {
            Kind::Addresses => Ok(()),
            pool => write!(f, ", {pool:?}"),
        }
    }
}

/// All of them.
pub fn cases() -> Vec<Case> {
    [
        php_memcached(),
        php_memcache(),
        python_memcached("python-memcached (apt)", "client=python_memcached version=1.59"),
        python_memcached("python-memcached (pip)", "client=python_memcached"),
        pylibmc("pylibmc (apt)"),
        pylibmc("pylibmc (pip)"),
        pymemcache(),
        dalli(),
        node_memcached(),
        memjs(),
        gomemcache(),
        spymemcached(),
        twemproxy(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// It refuses keys that are not ASCII, but for the binary protocol.
fn php_memcached() -> Vec<Case> {
    let case = |mode, parameters| Case::new("php-memcached", mode, parameters);
    let ketama = "client=libmemcached distribution=ketama_weighted";
    let consistent = "client=libmemcached distribution=consistent";
    vec![
        case("default", "client=libmemcached").ascii(),
        case("default", "client=libmemcached").ascii().long_values(),
        case("default", "client=libmemcached").ascii().weights([2, 1, 4]),
        case("default", "client=libmemcached").ascii().on(Kind::Sockets),
        case("md5", "client=libmemcached hash=md5").ascii(),
        case("crc", "client=libmemcached hash=crc").ascii(),
        case("fnv1_64", "client=libmemcached hash=fnv1_64").ascii(),
        case("fnv1a_64", "client=libmemcached hash=fnv1a_64").ascii(),
        case("fnv1_32", "client=libmemcached hash=fnv1_32").ascii(),
        case("fnv1a_32", "client=libmemcached hash=fnv1a_32").ascii(),
        case("murmur", "client=libmemcached hash=murmur").ascii(),
        case("binary", "client=libmemcached"),
        case("binary fnv1a_32", "client=libmemcached hash=fnv1a_32"),
        case("prefix", "client=libmemcached").ascii().namespace("app:"),
        case("hashed prefix", "client=libmemcached hash_with_prefix=on").ascii().namespace("app:"),
        case("consistent", consistent).ascii(),
        case("memcached.default_consistent_hash", consistent).ascii(),
        case("consistent", consistent).ascii().weights([2, 1, 4]),
        case("consistent", consistent).ascii().on(Kind::Names),
        case("consistent", consistent).ascii().on(Kind::UsualPort),
        case("consistent", consistent).ascii().on(Kind::Sockets),
        case("consistent fnv1a_32", "client=libmemcached distribution=consistent hash=fnv1a_32")
            .ascii(),
        case("libketama", ketama).ascii(),
        case("libketama", ketama).ascii().weights([2, 1, 4]),
        case("libketama", ketama).ascii().on(Kind::Names),
        case("libketama", ketama).ascii().on(Kind::UsualPort),
        case("libketama", ketama).ascii().on(Kind::Ipv6),
        case("libketama", ketama).ascii().on(Kind::Sockets),
        case("libketama binary", ketama),
        case("libketama prefix", ketama).ascii().namespace("app:"),
        case(
            "libketama fnv1a_64",
            "client=libmemcached distribution=ketama_weighted hash=fnv1a_64",
        )
        .ascii(),
        case("libketama, then consistent", "client=libmemcached distribution=consistent hash=md5")
            .ascii(),
    ]
}

fn php_memcache() -> Vec<Case> {
    let case = |mode, parameters| Case::new("php-memcache", mode, parameters);
    let standard = "client=php_memcache hash_strategy=standard";
    vec![
        case("default", "client=php_memcache"),
        case("default", "client=php_memcache").long_values(),
        case("default", "client=php_memcache").weights([2, 1, 4]),
        case("default", "client=php_memcache").on(Kind::Names),
        case("default", "client=php_memcache").on(Kind::UsualPort),
        case("default", "client=php_memcache").on(Kind::Ipv6),
        case("default", "client=php_memcache").on(Kind::Sockets),
        case("fnv", "client=php_memcache hash_function=fnv"),
        case("standard", standard),
        case("standard", standard).weights([2, 1, 4]),
        case("standard fnv", "client=php_memcache hash_strategy=standard hash_function=fnv"),
        case("prefix", "client=php_memcache").namespace("app:"),
    ]
}

fn python_memcached(client: &'static str, parameters: &'static str) -> Vec<Case> {
    let case = |mode| Case::new(client, mode, parameters);
    vec![
        case("default"),
        case("default").long_values(),
        case("default").weights([2, 1, 4]),
        case("default").on(Kind::Ipv6),
        case("default").on(Kind::Sockets),
        case("prefix").namespace("app:"),
    ]
}

/// `ketama_weighted` comes after `hash`, however the application orders them, and sets it to MD5.
fn pylibmc(client: &'static str) -> Vec<Case> {
    let case = |mode, parameters| Case::new(client, mode, parameters);
    let consistent = "client=libmemcached distribution=consistent";
    let weighted = "client=libmemcached distribution=ketama_weighted";
    let mut cases = vec![
        case("default", "client=libmemcached"),
        case("default", "client=libmemcached").long_values(),
        case("binary", "client=libmemcached"),
        case("md5", "client=libmemcached hash=md5"),
        case("fnv1a_32", "client=libmemcached hash=fnv1a_32"),
        case("consistent", consistent),
        case("consistent fnv1a_32", "client=libmemcached distribution=consistent hash=fnv1a_32"),
        case("ketama", consistent),
        case("ketama", consistent).weights([2, 1, 4]),
        case("ketama", consistent).on(Kind::UsualPort),
        case("ketama", "client=libmemcached distribution=consistent unix_port=0").on(Kind::Sockets),
        case("ketama_weighted", weighted),
        case("ketama_weighted", weighted).weights([2, 1, 4]),
        case("ketama_weighted", weighted).on(Kind::Names),
        case("ketama_weighted fnv1a_32", weighted),
        case("namespace", "client=libmemcached").namespace("app:"),
        case("hashed namespace", "client=libmemcached hash_with_prefix=on").namespace("app:"),
    ];
    // The library in the wheel does not resolve IPv6 addresses.
    if client != "pylibmc (pip)" {
        cases.push(case("ketama_weighted", weighted).on(Kind::Ipv6));
    }
    cases
}

fn pymemcache() -> Vec<Case> {
    let case = |mode, parameters| Case::new("pymemcache", mode, parameters);
    vec![
        case("default", "client=pymemcache"),
        case("default", "client=pymemcache").long_values(),
        case("bytes", "client=pymemcache keys=bytes"),
        case("prefix", "client=pymemcache").namespace("app:"),
        case("default", "client=pymemcache").on(Kind::Names),
        case("default", "client=pymemcache").on(Kind::UsualPort),
        case("default", "client=pymemcache").on(Kind::Ipv6),
        case("default", "client=pymemcache").on(Kind::Sockets),
    ]
}

fn dalli() -> Vec<Case> {
    let case = |mode| Case::new("dalli", mode, "client=dalli");
    vec![
        case("default"),
        case("default").long_values(),
        case("default").weights([2, 1, 4]),
        case("namespace").namespace("app:"),
        case("default").on(Kind::Names),
        case("default").on(Kind::UsualPort),
        case("default").on(Kind::Ipv6),
        case("default").on(Kind::Sockets),
    ]
}

fn node_memcached() -> Vec<Case> {
    let case = |mode, parameters| Case::new("node-memcached", mode, parameters);
    vec![
        case("default", "client=node_memcached"),
        case("default", "client=node_memcached").long_values(),
        case("default", "client=node_memcached").weights([2, 1, 4]),
        case("default", "client=node_memcached").on(Kind::Names),
        case("default", "client=node_memcached").on(Kind::UsualPort),
        case("default", "client=node_memcached").on(Kind::Ipv6),
        case("namespace", "client=node_memcached").namespace("app:"),
        case("sha1", "client=node_memcached algorithm=sha1"),
        case("hash_ring", "client=node_memcached compatibility=hash_ring"),
        case("hash_ring", "client=node_memcached compatibility=hash_ring").on(Kind::UsualPort),
    ]
}

fn memjs() -> Vec<Case> {
    let case = |pool| Case::new("memjs", "default", "client=memjs").on(pool);
    vec![
        case(Kind::Addresses),
        case(Kind::Addresses).long_values(),
        case(Kind::Names),
        case(Kind::UsualPort),
    ]
}

/// It refuses keys that are not ASCII.
fn gomemcache() -> Vec<Case> {
    let case = || Case::new("gomemcache", "default", "client=gomemcache").ascii();
    vec![case(), case().long_values(), case().on(Kind::Ipv6), case().on(Kind::Sockets)]
}

fn spymemcached() -> Vec<Case> {
    let case = |mode, parameters| Case::new("spymemcached", mode, parameters);
    let ketama = "client=spymemcached locator=ketama";
    vec![
        case("default", "client=spymemcached"),
        case("default", "client=spymemcached").long_values(),
        case("CRC_HASH", "client=spymemcached hash=crc"),
        case("FNV1_64_HASH", "client=spymemcached hash=fnv1_64"),
        case("FNV1A_32_HASH", "client=spymemcached hash=fnv1a_32"),
        case("KETAMA_HASH", "client=spymemcached hash=ketama"),
        case("KetamaConnectionFactory", ketama),
        case("KetamaConnectionFactory", ketama).on(Kind::Names),
        case("KetamaConnectionFactory", ketama).on(Kind::UsualPort),
        case("KetamaConnectionFactory", ketama).on(Kind::Ipv6),
        case("CONSISTENT FNV1A_32_HASH", "client=spymemcached locator=ketama hash=fnv1a_32"),
    ]
}

fn twemproxy() -> Vec<Case> {
    let case = |mode, parameters| Case::new("twemproxy", mode, parameters);
    vec![
        case("default", "client=twemproxy"),
        case("default", "client=twemproxy").weights([2, 1, 4]),
        case("default", "client=twemproxy").on(Kind::Names),
        case("default", "client=twemproxy").on(Kind::UsualPort),
        case("default", "client=twemproxy").on(Kind::Sockets),
        case("default", "client=twemproxy").on(Kind::Ipv6),
        case("names", "client=twemproxy names=alpha,beta,gamma"),
        case("modula", "client=twemproxy distribution=modula").weights([2, 1, 4]),
        case("md5", "client=twemproxy hash=md5"),
        case("one_at_a_time", "client=twemproxy hash=one_at_a_time"),
        case("crc16, modula", "client=twemproxy hash=crc16 distribution=modula"),
        case("crc32a", "client=twemproxy hash=crc32a"),
        case("murmur", "client=twemproxy hash=murmur"),
        case("hash_tag", "client=twemproxy hash_tag=::"),
    ]
}
