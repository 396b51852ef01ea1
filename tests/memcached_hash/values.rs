//! Keys and values at their limits.

use std::time::Duration;

use crate::cluster::{self, Client, memcacheds, missed, names, places};
use crate::support::nginx::Nginx;
use crate::support::tcp_server::{RequestEnd, Step, TcpServer, send};

#[test]
fn m09_keys_of_250_bytes_and_more() {
    let servers = memcacheds(3);
    let key = "k".repeat(250);
    servers[places("ketama_points=150", &names(&servers), &[&key])[0]].set(&key, 0, "value");
    let nginx = cluster::builder("ketama_points=150", &names(&servers), "keepalive 8;").start();
    let mut client = Client::of(&nginx);
    assert_eq!(client.hit(&key), "value");
    for long in ["k".repeat(251), "k".repeat(2000), " ".repeat(100).replace(' ', "x y")] {
        assert_eq!(missed(&client.get(&long)).statuses, ["502"], "{} bytes", long.len());
        assert_eq!(client.hit(&key), "value");
    }
    nginx.wait_for_log("the key has 251 bytes, memcached takes 250");
    nginx.check();
}

#[test]
fn long_keys_are_not_the_servers_fault() {
    let servers = memcacheds(3);
    let keys: Vec<_> = (0..30).map(|number| format!("/k{number}")).collect();
    for (key, server) in keys.iter().zip(places("", &names(&servers), &keys)) {
        servers[server].set(key, 0, key);
    }
    let nginx = cluster::builder("", &names(&servers), "keepalive 8;").start();
    let mut client = Client::of(&nginx);
    let long = |number: usize| format!("{number}{}", "k".repeat(250));
    for number in 0..30 {
        assert_eq!(missed(&client.get(long(number))).statuses, ["502"]);
    }
    for server in &servers {
        assert_eq!(server.stat("cmd_get"), 0, "a key was asked for that memcached does not take");
    }
    for key in &keys {
        assert_eq!(client.hit(key), *key);
    }
    // The namespace is a part of the key.
    let (key, namespace) = ("k".repeat(200), "n".repeat(51));
    let headers = [("X-Key", key.as_bytes()), ("X-Namespace", namespace.as_bytes())];
    assert_eq!(missed(&client.ask("/", &headers)).statuses, ["502"]);
    assert_eq!(client.hit(&keys[0]), keys[0]);
    nginx.check();
}

#[test]
fn m10_keys_are_hashed_as_nginx_escapes_them() {
    let servers = memcacheds(3);
    let wire: Vec<_> =
        (0..20).flat_map(|n| [format!("/{n}/a%20b"), format!("/{n}/a%0Ab")]).collect();
    for (key, server) in wire.iter().zip(places_of_wire(&names(&servers), &wire)) {
        servers[server].set(key, 0, key);
        if key.contains("%0A") {
            servers[server].set(key.replace("%0A", "%0a"), 0, "lower case");
        }
    }
    let nginx = by_uri(&names(&servers));
    let mut client = Client::of(&nginx);
    for key in &wire {
        assert_eq!(client.ask(key, &[]).text(), *key);
        assert_eq!(client.ask(&key.replace("%0A", "%0a"), &[]).text(), *key);
    }
    nginx.check();

    // Only stored under the lower-case spelling: not found.
    let nginx = by_uri(&names(&servers));
    for server in &servers {
        server.set("/c%0ad", 0, "value");
    }
    assert_eq!(Client::of(&nginx).ask("/c%0Ad", &[]).status, 404);
    nginx.check();
}

#[test]
fn m11_keys_beyond_ascii() {
    let servers = memcacheds(3);
    let wire = ["/caf\u{e9}", "/caf%25C3%25A9"];
    for (key, server) in wire.iter().zip(places_of_wire(&names(&servers), &wire)) {
        servers[server].set(key, 0, key);
    }
    let nginx = by_uri(&names(&servers));
    let mut client = Client::of(&nginx);
    assert_eq!(client.ask("/caf%C3%A9", &[]).text(), "/caf\u{e9}");
    assert_eq!(client.ask("/raw/caf%C3%A9", &[]).text(), "/caf%25C3%25A9");
    nginx.check();
}

/// nginx with the decoded URI as the key, and below `/raw` what came over the wire.
fn by_uri(names: &[String]) -> Nginx {
    Nginx::builder()
        .http(&cluster::upstream("ketama_points=160", names, ""))
        .http("map $request_uri $raw { ~^/raw(?<rest>.*)$ $rest; }")
        .server("location / { set $memcached_key $uri; memcached_pass m; }")
        .server("location /raw { set $memcached_key $raw; memcached_pass m; }")
        .root_location(false)
        .start()
}

fn places_of_wire(names: &[String], wire: &[impl AsRef<str>]) -> Vec<usize> {
    let keys: Vec<_> = wire.iter().map(|key| crate::placement::sent_as(key.as_ref())).collect();
    // A line feed cannot be sent in a header: `key=` hashes what it is given.
    let sendable = keys.iter().all(|key| !key.contains(&b'\n'));
    match sendable {
        true => places("ketama_points=160", names, &keys),
        false => {
            let wire: Vec<_> = wire.iter().map(AsRef::as_ref).collect();
            places("ketama_points=160 'key=$http_x_key'", names, &wire)
        }
    }
}

#[test]
fn m25_m26_values_of_all_sizes() {
    let servers = memcacheds(3);
    let sizes = [0, 1, 1024, 4094, 4095, 4096, 4097, 8192, 65536, 900 * 1024, 1024 * 1024 - 200];
    let keys: Vec<_> = sizes.iter().map(|size| format!("of{size}")).collect();
    for ((key, &size), server) in
        keys.iter().zip(&sizes).zip(places("ketama_points=150", &names(&servers), &keys))
    {
        servers[server].set(key, 0, value(size));
    }
    for keepalive in ["", "keepalive 8;"] {
        let nginx = cluster::builder("ketama_points=150", &names(&servers), keepalive).start();
        let mut client = Client::of(&nginx);
        for _ in 0..2 {
            for (key, &size) in keys.iter().zip(&sizes) {
                let answer = client.get(key);
                assert_eq!((answer.status, answer.body.len()), (200, size));
                assert!(answer.body == value(size));
                assert_eq!(answer.header("Content-Length"), Some(size.to_string()));
                assert_eq!(answer.header("Content-Type").as_deref(), Some("text/plain"));
            }
        }
        nginx.check();
    }
}

/// Not the same at any two places near each other.
fn value(size: usize) -> Vec<u8> {
    (0..size).map(|at| (at % 251) as u8).collect()
}

#[test]
fn m26_a_trailer_in_pieces() {
    let pieces = ["VALUE key 0 5\r\nva", "lue\r\n", "EN", "D\r", "\n"];
    let steps: Vec<_> = pieces
        .iter()
        .flat_map(|piece| [send(piece), Step::Delay(Duration::from_millis(20))])
        .collect();
    let server = TcpServer::builder().until(RequestEnd::Line).reply(steps).start();
    let name = format!("127.0.0.1:{}", server.port());
    let nginx = cluster::builder("", &[name], "keepalive 8;").start();
    let mut client = Client::of(&nginx);
    for _ in 0..3 {
        assert_eq!(client.hit("key"), "value");
    }
    assert_eq!(server.connections(), 1);
    nginx.check();
}

#[test]
fn m28_the_gzip_flag_of_the_perl_client() {
    crate::support::tools::require_perl_module(
        "Cache::Memcached::Fast",
        "libcache-memcached-fast-perl",
    );
    let servers = memcacheds(3);
    let script = r#"
        use Cache::Memcached::Fast;
        my $client = Cache::Memcached::Fast->new({
            servers => [split / /, $ENV{SERVERS}], ketama_points => 150,
            compress_threshold => 1 });
        $client->set("compressed", "a" x 1000) or die;
        $client->disable_compress if $client->can("disable_compress");
        $client->enable_compress(0);
        $client->set("plain", "a" x 1000) or die;
    "#;
    crate::support::tools::perl(script, &[("SERVERS", names(&servers).join(" "))]);

    for (flag, coding) in [("memcached_gzip_flag 2;", Some("gzip".to_owned())), ("", None)] {
        let nginx =
            cluster::builder("ketama_points=150", &names(&servers), "").server(flag).start();
        let mut client = Client::of(&nginx);
        let compressed = client.get("compressed");
        assert_eq!(compressed.header("Content-Encoding"), coding);
        assert!(compressed.body.starts_with(b"\x1f\x8b"));
        let plain = client.get("plain");
        assert_eq!((plain.header("Content-Encoding"), plain.body.len()), (None, 1000));
        nginx.check();
    }
}
