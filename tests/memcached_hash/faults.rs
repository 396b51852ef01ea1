//! Servers that are down, that stop, that come back, or that answer nonsense.

use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::cluster::{self, Client, lines, memcacheds, missed, names, places};
use crate::fake::found;
use crate::support::memcached::Memcached;
use crate::support::nginx::{Nginx, slowness};
use crate::support::tcp_server::{RequestEnd, Step, TcpServer, send};

/// Keys of all of the servers, with the place of each one's own.
fn placed(names: &[String]) -> Vec<(String, usize)> {
    let keys: Vec<_> = (0..30).map(|number| format!("/k{number}")).collect();
    let at = places("ketama_points=150", names, &keys);
    assert!((0..names.len()).all(|server| at.contains(&server)));
    keys.into_iter().zip(at).collect()
}

/// Stores each key at its own server, and a wrong value for it at all others.
fn fill(servers: &[Memcached], keys: &[(String, usize)]) {
    for (key, own) in keys {
        for (at, server) in servers.iter().enumerate() {
            server.set(key, 0, if at == *own { key } else { "of another server" });
        }
    }
}

#[test]
fn m19_a_server_that_is_down() {
    let servers = memcacheds(3);
    let names = names(&servers);
    let keys = placed(&names);
    fill(&servers, &keys);

    for parameters in ["ketama_points=150", ""] {
        let down = format!("{}server {} down;", lines(&names[..1], ""), names[1]);
        let rest = lines(&names[2..], "");
        let nginx = Nginx::builder()
            .http(&format!("upstream m {{ memcached_hash {parameters}; {down} {rest} }}"))
            .server(cluster::LOCATION)
            .root_location(false)
            .start();
        let mut client = Client::of(&nginx);
        let keys: Vec<_> = keys.iter().map(|(key, _)| key).collect();
        for (key, own) in keys.iter().zip(places(parameters, &names, &keys)) {
            let answer = client.get(key);
            if own == 1 {
                let missed = missed(&answer);
                assert_eq!(
                    (&missed.server, &*missed.addresses),
                    (&names[1], &["m".to_owned()][..])
                );
                assert_eq!(missed.statuses, ["502"]);
            } else {
                // Down or not, it keeps its place: the others' keys stay where they are.
                assert_eq!(answer.header("X-Server").as_ref(), Some(&names[own]));
            }
        }
        nginx.check();
    }
}

#[test]
fn m19_a_server_that_is_killed_and_comes_back() {
    let mut servers = memcacheds(3);
    let names = names(&servers);
    let keys = placed(&names);
    fill(&servers, &keys);
    let gets = |servers: &[Memcached]| -> u64 {
        servers.iter().map(|server| server.stat("cmd_get")).sum()
    };

    let all = lines(&names, "max_fails=2 fail_timeout=2s");
    let nginx = Nginx::builder()
        .http(&format!("upstream m {{ memcached_hash ketama_points=150; {all} keepalive 8; }}"))
        .server(cluster::LOCATION)
        .root_location(false)
        .start();
    let mut client = Client::of(&nginx);
    for (key, _) in &keys {
        assert_eq!(client.hit(key), *key);
    }

    let (key, dead) = keys[0].clone();
    servers[dead].kill();
    let alive: Vec<_> = (0..3).filter(|&server| server != dead).collect();
    let before = gets(&[]) + alive.iter().map(|&at| servers[at].stat("cmd_get")).sum::<u64>();
    // Twice it is asked, and then not for two seconds.
    for asked in [&names[dead], &names[dead], "m", "m"] {
        let missed = missed(&client.get(&key));
        assert_eq!((&*missed.addresses, &missed.server), (&[asked.to_owned()][..], &names[dead]));
        assert_eq!(missed.statuses, ["502"]);
    }
    nginx.wait_for_log("no live upstreams");
    let after = alive.iter().map(|&at| servers[at].stat("cmd_get")).sum::<u64>();
    assert_eq!(before, after, "another server was asked");
    for (key, _) in keys.iter().filter(|(_, own)| *own != dead) {
        assert_eq!(client.hit(key), *key);
    }

    let port = names[dead].rsplit(':').next().unwrap().parse().unwrap();
    servers[dead] = Memcached::start_on(port);
    servers[dead].set(&key, 0, "back again");
    sleep(Duration::from_millis(3100));
    assert_eq!(client.hit(&key), "back again");
    assert_eq!(client.hit(&key), "back again");
    nginx.check();
}

#[test]
fn a_server_that_never_failed_for_nginx_is_always_asked() {
    let mut servers = memcacheds(2);
    let names = names(&servers);
    servers[0].kill();
    servers[1].kill();
    let nginx = Nginx::builder()
        .http(&format!("upstream m {{ memcached_hash; {} }}", lines(&names, "max_fails=0")))
        .server(cluster::LOCATION)
        .root_location(false)
        .start();
    let mut client = Client::of(&nginx);
    for _ in 0..5 {
        let missed = missed(&client.get("key"));
        assert_eq!(missed.addresses, [missed.server]);
        assert_eq!(missed.statuses, ["502"]);
    }
    nginx.check();
}

#[test]
fn a_server_that_is_stopped() {
    let servers = memcacheds(3);
    let names = names(&servers);
    let keys = placed(&names);
    fill(&servers, &keys);
    let all = lines(&names, "max_fails=1 fail_timeout=1s");
    let nginx = Nginx::builder()
        .http(&format!("upstream m {{ memcached_hash ketama_points=150; {all} keepalive 8; }}"))
        .server("memcached_read_timeout 300ms;")
        .server(cluster::LOCATION)
        .root_location(false)
        .start();
    let mut client = Client::of(&nginx);
    for (key, _) in &keys {
        assert_eq!(client.hit(key), *key);
    }

    let (key, own) = keys[0].clone();
    servers[own].stop();
    let missed_first = missed(&client.get(&key));
    assert_eq!(missed_first.addresses, [&*names[own]]);
    assert_eq!(missed_first.statuses, ["504"]);
    // Now it is marked: nobody waits for it again.
    let at = Instant::now();
    assert_eq!(missed(&client.get(&key)).statuses, ["502"]);
    assert!(at.elapsed() < Duration::from_millis(250) * slowness());
    for (key, _) in keys.iter().filter(|(_, at)| *at != own) {
        assert_eq!(client.hit(key), *key);
    }

    servers[own].cont();
    sleep(Duration::from_millis(2100));
    // What it answers late is for nobody.
    for (key, _) in keys.iter().rev().filter(|(_, at)| *at == own) {
        assert_eq!(client.hit(key), *key);
    }
    nginx.check();
}

#[test]
fn a_server_that_is_restarted_between_two_requests() {
    let mut servers = memcacheds(3);
    let names = names(&servers);
    let keys = placed(&names);
    fill(&servers, &keys);
    let nginx = cluster::builder("ketama_points=150", &names, "keepalive 8;").start();
    let mut client = Client::of(&nginx);
    for round in 0..3 {
        for (key, own) in &keys {
            let expected = if *own == 0 && round > 0 { "fresh" } else { key };
            assert_eq!(client.hit(key), expected);
        }
        servers[0].kill();
        servers[0] = Memcached::start_on(names[0].rsplit(':').next().unwrap().parse().unwrap());
        for (key, _) in keys.iter().filter(|(_, own)| *own == 0) {
            servers[0].set(key, 0, "fresh");
        }
    }
    nginx.check();
}

/// The server closes a connection when a second request comes on it: to nginx that looks as if it had
/// been closed before.
#[test]
fn a_kept_connection_that_turns_out_closed_is_no_failure_of_the_server() {
    for last in [Step::Close, Step::Reset] {
        let server = TcpServer::builder().until(RequestEnd::Line).start_with(
            move |number, line| match number % 3 {
                1 => vec![last.clone()],
                _ => vec![send(found(std::str::from_utf8(line).unwrap().trim_end(), "value"))],
            },
        );
        let names = [format!("127.0.0.1:{}", server.port()), "127.0.0.1:1".to_owned()];
        let keys = placed(&names);
        let (key, _) = keys.iter().find(|(_, own)| *own == 0).unwrap();

        for directives in [
            "memcached_hash ketama_points=150; keepalive 4;",
            // An old nginx wants it the other way round, and warns.
            "keepalive 4; memcached_hash ketama_points=150;",
        ] {
            let nginx = Nginx::builder()
                .http(&format!("upstream m {{ {directives} {} }}", lines(&names, "")))
                .server(cluster::LOCATION)
                .root_location(false)
                .start();
            let mut client = Client::of(&nginx);
            for _ in 0..6 {
                assert_eq!(client.hit(key), "value", "{directives}");
            }
            nginx.check();
        }
        assert!(server.requests().len() > 12, "no connection was closed");
    }
}

#[test]
fn answers_that_are_none() {
    for (answer, status) in [
        ("ERROR\r\n", "502"),
        ("SERVER_ERROR out of memory\r\n", "502"),
        ("CLIENT_ERROR bad command\r\n", "502"),
        ("VALUE other 0 5\r\nvalue\r\nEND\r\n", "502"),
        ("VALUE keys 0 5\r\nvalue\r\nEND\r\n", "502"),
        ("VALUE key 0 99999999999999999999999\r\nvalue\r\nEND\r\n", "502"),
        ("VALUE key 0 -5\r\nvalue\r\nEND\r\n", "502"),
        ("VALUE key 0 five\r\nvalue\r\nEND\r\n", "502"),
        ("VALUE key\r\n", "502"),
        ("\r\n", "502"),
        ("\n", "502"),
        ("END\n", "502"),
    ] {
        let good = send("VALUE key 0 5\r\nvalue\r\nEND\r\n");
        let bad = send(answer);
        let server = TcpServer::builder().until(RequestEnd::Line).start_with(move |number, _| {
            vec![if number == 0 { bad.clone() } else { good.clone() }]
        });
        let name = format!("127.0.0.1:{}", server.port());
        let nginx = cluster::builder("", &[name], "keepalive 4;").start();
        let mut client = Client::of(&nginx);
        assert_eq!(missed(&client.get("key")).statuses, [status], "{answer:?}");
        // The connection is not used again, and what else it might say is not heard.
        assert_eq!(client.hit("key"), "value");
        assert_eq!(client.hit("key"), "value");
        assert_eq!(server.connections(), 2, "{answer:?}");
        nginx.check();
    }
}

#[test]
fn answers_that_break_off() {
    for (answer, length) in [
        ("VALUE key 0 5\r\nval", 5),
        ("VALUE key 0 9999999999\r\nvalue\r\nEND\r\n", 9_999_999_999_u64),
        ("VALUE key 0 5\r\nvalue\r\nEN", 5),
        ("VALUE key 0 5\r\nvalue and more\r\nEND\r\n", 5),
        ("VALUE key 0 0\r\n", 0),
    ] {
        let good = send("VALUE key 0 5\r\nvalue\r\nEND\r\n");
        let bad = send(answer);
        let server =
            TcpServer::builder().until(RequestEnd::Line).start_with(
                move |number, _| match number {
                    0 => vec![bad.clone(), Step::Close],
                    _ => vec![good.clone()],
                },
            );
        let name = format!("127.0.0.1:{}", server.port());
        let nginx = cluster::builder("", &[name], "keepalive 4;").start();
        let answered = Client::of(&nginx).get("key");
        assert_eq!(answered.status, 200);
        assert_eq!(answered.header("Content-Length"), Some(length.to_string()));
        assert_eq!(answered.complete, answered.body.len() as u64 == length, "{answer:?}");

        let mut client = Client::of(&nginx);
        assert_eq!(client.hit("key"), "value", "{answer:?}");
        assert_eq!(server.connections(), 2, "{answer:?}");
        nginx.check();
    }
}

#[test]
fn answers_that_do_not_come() {
    for answer in ["", "VALUE key 0 5\r\nval", "VAL"] {
        let mut steps: Vec<_> = if answer.is_empty() { vec![] } else { vec![send(answer)] };
        steps.push(Step::Hold);
        let server = TcpServer::builder().until(RequestEnd::Line).reply(steps).start();
        let name = format!("127.0.0.1:{}", server.port());
        let nginx = Nginx::builder()
            .http(&cluster::upstream("", &[name], "keepalive 4;"))
            .server("memcached_read_timeout 300ms;")
            .server(cluster::LOCATION)
            .root_location(false)
            .start();
        let answered = Client::of(&nginx).get("key");
        if answered.status == 200 {
            assert!(answer.starts_with("VALUE") && !answered.complete);
        } else {
            assert_eq!(missed(&answered).statuses, ["504"], "{answer:?}");
        }
        nginx.check();
    }
}

#[test]
fn a_client_that_leaves() {
    let server = TcpServer::builder()
        .until(RequestEnd::Line)
        .reply([Step::Delay(Duration::from_millis(200)), send("END\r\n")])
        .start();
    let name = format!("127.0.0.1:{}", server.port());
    let nginx = cluster::builder("", &[name, "127.0.0.1:1".into()], "keepalive 4;").start();
    for number in 0..20 {
        let mut connection = crate::support::http::Connection::open(nginx.port());
        connection.send(format!("GET / HTTP/1.1\r\nHost: a\r\nX-Key: k{number}\r\n\r\n"));
    }
    sleep(Duration::from_millis(500));
    nginx.check();
}
