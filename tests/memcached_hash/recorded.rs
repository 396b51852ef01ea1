//! Every recorded placement of the clients holds in nginx too.
//!
//! The servers are called what the client's were called, and are `down`: nginx tells where it would ask.

use std::collections::{BTreeMap, BTreeSet};

use crate::cluster::{Client, lines, memcacheds, missed, names};
use crate::support::nginx::Nginx;
use crate::support::recording::{Recording, index, key, recordings};

/// Recordings whose servers nginx refuses: a port or a host that is empty, a weight of 0.
const REFUSED: [&str; 5] = [
    "perl-fast/edge_bad_emptyport.kp150.jsonl",
    "perl-fast/edge_bad_emptyport.kp160.jsonl",
    "perl-fast/edge_bad_nohost.kp150.jsonl",
    "perl-fast/edge_bad_nohost.kp160.jsonl",
    "perl-cache-memcached/ip3.w0_1_4.jsonl",
];

/// How a key gets to nginx.
enum Way {
    /// As the value of `$memcached_key` that nginx sends like that.
    Wire { namespace: Vec<u8>, key: Vec<u8> },
    /// As the string of `key=`, for what nginx never sends.
    Hashed(Vec<u8>),
}

#[test]
fn every_recorded_placement_holds_in_nginx() {
    let recordings: Vec<_> = recordings("")
        .into_iter()
        .filter(|(path, recording)| {
            !REFUSED.contains(&&**path) && recording.list("down").is_empty()
        })
        .collect();

    let mut hosts = BTreeSet::new();
    let mut upstreams = String::new();
    let mut locations = String::new();
    for (number, (_, recording)) in recordings.iter().enumerate() {
        // The first server that is asked is the same, and the last that is told.
        let parameters =
            recording.parameters().replace(" rehash=on", "").replace(" failover=on", "");
        let parameters: String =
            parameters.split_whitespace().map(|parameter| format!(" '{parameter}'")).collect();
        let names = recording.names();
        for name in names.iter().filter(|name| !name.starts_with("unix:")) {
            hosts.insert(name.rsplit_once(':').map_or(&**name, |(host, _)| host).to_owned());
        }
        let servers = down(recording);
        for (kind, more, set) in
            [("w", "", "$memcached_key"), ("h", "key=$to_be_hashed", "$to_be_hashed")]
        {
            upstreams += &format!(
                "upstream {kind}{number} {{ memcached_hash {parameters} {more};\n{servers} }}\n"
            );
            for (place, from) in [("=", "$http_x_key"), ("", "$from_uri")] {
                let slash = if place.is_empty() { "/" } else { "" };
                locations += &format!(
                    "location {place} /{kind}{number}{slash} {{ set {set} {from}; memcached_pass {kind}{number}; }}\n"
                );
            }
        }
    }

    let nginx = Nginx::builder()
        .log_level("crit")
        .file("hosts", hosts.iter().map(|host| format!("127.0.0.1 {host}\n")).collect::<String>());
    let hosts = nginx.prefix().join("hosts");
    let nginx = nginx
        .env("LD_PRELOAD", "libnss_wrapper.so")
        .env("NSS_WRAPPER_HOSTS", hosts)
        .http(r#"map $uri $from_uri { "~(?s)^/[^/]+/(?<rest>.*)$" $rest; }"#)
        .http("variables_hash_max_size 4096; proxy_headers_hash_max_size 4096;")
        .http(&upstreams)
        .server("keepalive_requests 1000000; merge_slashes off;")
        .server("set $to_be_hashed ''; set $memcached_key any;")
        .server("set $memcached_namespace $http_x_namespace;")
        .server("error_page 502 = @missed;")
        .server(&locations)
        .server(r#"location @missed { return 404 "$memcached_hash_server|m|502"; }"#)
        .root_location(false)
        .start();

    let mut client = Client::of(&nginx);
    let mut asked = BTreeMap::new();
    let mut wrong = String::new();
    for (number, (path, recording)) in recordings.iter().enumerate() {
        let mut differences = Vec::new();
        for vector in &recording.vectors {
            let Some(way) = way(recording, &key(vector)) else {
                *asked.entry("not").or_insert(0) += 1;
                continue;
            };
            let answer = match &way {
                Way::Wire { namespace, key } => {
                    *asked.entry("by the wire").or_insert(0) += 1;
                    let target = target("w", number, key);
                    client.ask(&target, &[("X-Key", header(key)), ("X-Namespace", namespace)])
                }
                Way::Hashed(text) => {
                    *asked.entry("by key=").or_insert(0) += 1;
                    client.ask(&target("h", number, text), &[("X-Key", header(text))])
                }
            };
            let found = missed(&answer).server;
            // Of two lines with the same text, nginx does not tell which.
            let expected = &recording.names()[index(&vector["server"]).unwrap()];
            let one = |name: &str| name.replace("localhost", "127.0.0.1");
            let same = match vector["conn"].is_number() {
                true => one(&found) == one(expected),
                false => found == *expected,
            };
            if !same {
                differences.push(format!("{vector}: found {found}"));
            }
        }
        if let Some(first) = differences.first() {
            wrong += &format!("{path}: {} keys, the first {first}\n", differences.len());
        }
    }
    nginx.check();
    assert!(wrong.is_empty(), "\n{wrong}");
    assert_eq!(asked, BTreeMap::from([("by the wire", 68_543), ("by key=", 8_653), ("not", 86)]));
}

/// The `server` lines of a recording, all down.
fn down(recording: &Recording) -> String {
    let (weights, _) = recording.weights();
    let lines = recording.names().into_iter().zip(weights);
    lines.map(|(name, weight)| format!("server '{name}' weight={weight} down;\n")).collect()
}

#[test]
fn recordings_that_nginx_refuses() {
    for path in REFUSED {
        let servers = down(&Recording::read(path));
        let upstream = format!("upstream m {{ memcached_hash; {servers} }}");
        let (good, said) = Nginx::builder().http(&upstream).test_config();
        assert!(!good, "{path} is no longer refused: {said}");
    }
}

/// A header's value; one that cannot be sent like that goes into the target instead.
fn header(value: &[u8]) -> &[u8] {
    if fits_a_header(value) { value } else { b"" }
}

fn fits_a_header(value: &[u8]) -> bool {
    value.trim_ascii() == value
        && !value.is_empty()
        && value.iter().all(|byte| *byte >= b' ' && *byte != 0x7f)
}

fn target(kind: &str, number: usize, value: &[u8]) -> String {
    let mut target = format!("/{kind}{number}");
    if !fits_a_header(value) {
        target.push('/');
        target.extend(value.iter().map(|byte| format!("%{byte:02X}")));
    }
    target
}

/// `None` if nginx can be given neither.
fn way(recording: &Recording, key: &[u8]) -> Option<Way> {
    let namespace = recording.namespace().into_bytes();
    let wire = (unescaped(&namespace), unescaped(key));
    let way = match wire {
        (Some(namespace), Some(key))
            if !key.is_empty() && (namespace.is_empty() || fits_a_header(&namespace)) =>
        {
            Way::Wire { namespace, key }
        }
        _ if namespace.is_empty() => Way::Hashed(key.to_vec()),
        _ if recording.client == "perl-fast" => {
            let both = recording.option("hash_namespace").as_deref() == Some("1");
            Way::Hashed(if both { [&namespace, key].concat() } else { key.to_vec() })
        }
        _ => return None,
    };
    let (Way::Wire { key: sent, .. } | Way::Hashed(sent)) = &way;
    // nginx takes no NUL in a target.
    (fits_a_header(sent) || !sent.contains(&0)).then_some(way)
}

/// What nginx escapes to `wire`, if there is anything.
fn unescaped(wire: &[u8]) -> Option<Vec<u8>> {
    let value = crate::placement::sent_as(wire);
    let escaped = |byte: &u8| match byte {
        0..=b' ' | b'%' => format!("%{byte:02X}").into_bytes(),
        _ => vec![*byte],
    };
    let again: Vec<u8> = value.iter().flat_map(escaped).collect();
    (again == wire).then_some(value)
}

/// In the basic mode names do not count, so those that are up can be real servers.
#[test]
fn every_recorded_rehash_holds_in_nginx() {
    let servers = memcacheds(8);
    let real = names(&servers);
    for (path, recording) in recordings("") {
        let down: Vec<_> = recording.list("down").iter().filter_map(index).collect();
        let clients =
            ["perl-cache-memcached", "python-memcached-apt1.59", "python-memcached-pip1.62"];
        if down.is_empty() || !clients.contains(&&*recording.client) {
            continue;
        }
        let (weights, _) = recording.weights();
        let lines: String = weights
            .iter()
            .enumerate()
            .map(|(at, weight)| {
                let parameters =
                    format!("weight={weight} {}", if down.contains(&at) { "down" } else { "" });
                lines(&real[at..=at], &parameters)
            })
            .collect();
        let nginx = Nginx::builder()
            .log_level("crit")
            .http(&format!(
                "upstream m {{ memcached_hash {};\n{lines} keepalive 8; }}",
                recording.parameters()
            ))
            .server(crate::cluster::LOCATION)
            .server("keepalive_requests 1000000;")
            .root_location(false)
            .start();
        let mut client = Client::of(&nginx);
        let (mut asked, mut gave_up) = (0, 0);
        for vector in &recording.vectors {
            let (Some(namespace), Some(key)) =
                (unescaped(recording.namespace().as_bytes()), unescaped(&key(vector)))
            else {
                continue;
            };
            if !fits_a_header(&key) {
                continue;
            }
            let missed = missed(&client.get_in(&namespace, &key));
            match index(&vector["server"]) {
                Some(server) => {
                    assert_eq!(missed.server, real[server], "{path} {vector}");
                    assert_eq!(
                        (missed.addresses, missed.statuses),
                        (vec![real[server].clone()], vec!["404".to_owned()])
                    );
                }
                // `get` makes one attempt more than the operations that were recorded.
                None if missed.statuses == ["404"] => assert!(!recording.operation_is_get()),
                None => {
                    assert_eq!(missed.statuses, ["502"], "{path} {vector}");
                    gave_up += 1;
                }
            }
            asked += 1;
        }
        assert!(asked > 250 && gave_up <= asked, "{path}: {asked} keys");
        nginx.check();
    }
}
