//! The real Perl clients store, and nginx finds: every key, every configuration.

use crate::cluster::{self, Client, lines, memcacheds, missed, names, places};
use crate::support::memcached::Memcached;
use crate::support::nginx::Nginx;
use crate::support::tools::{perl, require_perl_module};

fn require_fast() {
    require_perl_module("Cache::Memcached::Fast", "libcache-memcached-fast-perl");
}

/// 300 keys of all sorts, none of which needs a header that cannot be sent.
fn keys() -> Vec<String> {
    (0..300)
        .map(|number| match number % 6 {
            0 => format!("{number}::{}", number * 7919),
            1 => format!("/page/{number}?x={number}&y=%20"),
            2 => format!("ключ-{number}"),
            3 => format!("with blanks {number}"),
            4 => format!("{number}%{number}%%"),
            _ => "k".repeat(number / 2 + 1),
        })
        .collect()
}

/// How nginx sends a key.
fn escaped(key: &str) -> String {
    key.replace('%', "%25").replace(' ', "%20")
}

/// Has Perl store `KEYS`, each as the value of itself, with the client that the expression gives. It may
/// fail to store some: those are given back.
fn store(client: &str, keys: &[String]) -> Vec<String> {
    let script = format!(
        r#"
        use Cache::Memcached;
        use Cache::Memcached::Fast;
        my $client = {client};
        for my $key (split /\n/, $ENV{{KEYS}}) {{
            $client->set($key, $key) or print "$key\n";
        }}
        "#
    );
    let wire: Vec<_> = keys.iter().map(|key| escaped(key)).collect();
    let failed = perl(&script, &[("KEYS", wire.join("\n"))]);
    String::from_utf8(failed).unwrap().lines().map(str::to_owned).collect()
}

fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("'{name}'")).collect::<Vec<_>>().join(", ")
}

#[test]
fn cache_memcached_fast() {
    require_fast();
    let folder = tempfile::tempdir().unwrap();
    let mut servers = memcacheds(4);
    let socket = folder.path().join("s.sock");
    servers.push(Memcached::start_unix(&socket));
    let path = socket.display();

    let all = names(&servers[..4]);
    let localhost: Vec<_> = all.iter().map(|name| name.replace("127.0.0.1", "localhost")).collect();
    let weighted = |weights: &[&str]| -> String {
        let pairs = all.iter().zip(weights);
        pairs.map(|(name, weight)| format!("['{name}', {weight}], ")).collect()
    };
    let with_weights = |weights: &[u32]| -> String {
        let pairs = all.iter().zip(weights);
        pairs.map(|(name, weight)| format!("server {name} weight={weight};\n")).collect()
    };

    let equal = (quoted(&all), lines(&all, ""));
    let by_name = (quoted(&localhost), lines(&localhost, ""));
    let rational = (weighted(&["2.5", "1", "4", "0.5"]), with_weights(&[25, 10, 40, 5]));
    let whole = (weighted(&["2", "1", "4", "3"]), with_weights(&[2, 1, 4, 3]));
    let sockets = (
        format!("{}, '{path}'", quoted(&all[..2])),
        format!("{} server unix:{path};", lines(&all[..2], "")),
    );
    let one = (quoted(&all[..1]), lines(&all[..1], ""));

    for (options, parameters, (given, lines)) in [
        ("ketama_points => 150", "ketama_points=150", &equal),
        ("ketama_points => 150", "ketama_points=150", &by_name),
        ("ketama_points => 160", "ketama_points=160", &whole),
        ("ketama_points => 150", "ketama_points=150 weight_scale=10", &rational),
        ("ketama_points => 1", "ketama_points=1", &equal),
        ("ketama_points => 150", "ketama_points=150", &sockets),
        ("ketama_points => 150", "ketama_points=150", &one),
        ("", "", &equal),
        ("", "", &whole),
        ("", "weight_scale=10", &rational),
        ("", "client=cache_memcached_fast ketama_points=0", &by_name),
        (
            "ketama_points => 150, hash_namespace => 1",
            "ketama_points=150 hash_namespace=on",
            &equal,
        ),
        ("hash_namespace => 1", "hash_namespace=on", &whole),
    ] {
        for namespace in ["", "testapp::"] {
            let client = format!(
                "Cache::Memcached::Fast->new({{ servers => [{given}], namespace => '{namespace}', {PATIENCE}, {options} }})"
            );
            assert_eq!(store(&client, &keys()), [""; 0], "{client}");
            check(
                &format!("memcached_hash {parameters}; {lines} keepalive 8;"),
                namespace,
                &keys(),
            );
        }
    }
}

/// The clients wait a quarter of a second for a connection, which a busy machine may not give them.
const PATIENCE: &str = "connect_timeout => 10, io_timeout => 10, select_timeout => 10";

/// nginx finds all keys.
fn check(upstream: &str, namespace: &str, keys: &[String]) {
    let nginx = Nginx::builder()
        .http(&format!("upstream m {{ {upstream} }}"))
        .server(cluster::LOCATION)
        .root_location(false)
        .start();
    let mut client = Client::of(&nginx);
    let mut wrong = Vec::new();
    for key in keys {
        let answer = client.get_in(namespace, key);
        if answer.text() != escaped(key) {
            wrong.push(format!("{key}: {}", answer.text()));
        }
    }
    assert!(wrong.is_empty(), "{} of {} keys in\n{upstream}\n{wrong:?}", wrong.len(), keys.len());
    nginx.check();
}

#[test]
fn cache_memcached() {
    require_fast();
    require_perl_module("Cache::Memcached", "libcache-memcached-perl");
    let servers = memcacheds(3);
    let names = names(&servers);
    // Its keys may not have blanks or control characters, and it takes no other weights.
    for (given, lines) in [
        (quoted(&names), lines(&names, "")),
        (
            format!("['{}', 2], ['{}', 1], ['{}', 4]", names[0], names[1], names[2]),
            format!(
                "server {} weight=2; server {}; server {} weight=4;",
                names[0], names[1], names[2]
            ),
        ),
    ] {
        for namespace in ["", "testapp::"] {
            let client = format!(
                "Cache::Memcached->new({{ servers => [{given}], namespace => '{namespace}', {PATIENCE} }})"
            );
            assert_eq!(store(&client, &keys()), [""; 0], "{client}");
            for parameters in ["client=cache_memcached", "client=cache_memcached rehash=on", ""] {
                check(
                    &format!("memcached_hash {parameters}; {lines} keepalive 8;"),
                    namespace,
                    &keys(),
                );
            }
        }
    }
}

#[test]
fn cache_memcached_rehashes_around_dead_servers() {
    require_fast();
    require_perl_module("Cache::Memcached", "libcache-memcached-perl");
    for dead in [&[1][..], &[0, 2]] {
        let mut servers = memcacheds(4);
        let names = names(&servers);
        for &dead in dead {
            servers[dead].kill();
        }
        let client = format!("Cache::Memcached->new({{ servers => [{}] }})", quoted(&names));
        let failed = store(&client, &keys());
        let keys: Vec<_> =
            keys().into_iter().filter(|key| !failed.contains(&escaped(key))).collect();
        assert!(keys.len() > 200);

        for (parameters, max_fails) in [
            ("client=cache_memcached rehash=on", ""),
            ("rehash=on", ""),
            ("rehash=on", "max_fails=0"),
        ] {
            let lines = lines(&names, max_fails);
            check(&format!("memcached_hash {parameters}; {lines} keepalive 8;"), "", &keys);
            check(&format!("keepalive 4; memcached_hash {parameters}; {lines}"), "", &keys);
        }

        // Without it a key of a dead server is nowhere.
        let nginx = cluster::builder("", &names, "").start();
        let mut client = Client::of(&nginx);
        for (key, server) in keys.iter().zip(places("", &names, &keys)) {
            let answer = client.get(key);
            match dead.contains(&server) {
                true => assert_eq!(missed(&answer).server, names[server]),
                false => assert_eq!(answer.text(), escaped(key)),
            }
        }
        nginx.check();
    }
}

#[test]
fn a_key_in_a_wrong_place_is_a_miss() {
    let servers = memcacheds(3);
    let names = names(&servers);
    let keys = keys();
    let places = places("ketama_points=150", &names, &keys);
    for (number, (key, place)) in keys.iter().zip(&places).enumerate() {
        let place = if number == 77 { (place + 1) % 3 } else { *place };
        servers[place].set(escaped(key), 0, escaped(key));
    }
    let nginx = cluster::builder("ketama_points=150", &names, "").start();
    let mut client = Client::of(&nginx);
    for (number, (key, &place)) in keys.iter().zip(&places).enumerate() {
        let answer = client.get(key);
        match number {
            77 => assert_eq!(missed(&answer).server, names[place]),
            _ => assert_eq!(answer.text(), escaped(key)),
        }
    }
    nginx.check();
}
