//! What nginx's own methods do, done by this one too.

use std::collections::HashSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use crate::cluster::{self, Client, lines, memcacheds, missed, names, owners, places};
use crate::fake::{Fake, found};
use crate::support::http;
use crate::support::memcached::Memcached;
use crate::support::nginx::{Builder, Nginx, slowness, version};
use crate::support::process::wait_until;
use crate::support::tcp_server::{RequestEnd, Step, TcpServer, delay_ms, send};

const KETAMA: &str = "ketama_points=150";

fn keys(number: usize) -> Vec<String> {
    (0..number).map(|number| format!("/k{number}")).collect()
}

/// nginx with an upstream `m` of these directives.
fn front(directives: &str) -> Builder {
    Nginx::builder()
        .http(&format!("upstream m {{ {directives} }}"))
        .server(
            "memcached_connect_timeout 2s; memcached_read_timeout 2s; keepalive_requests 100000;",
        )
        .server(cluster::LOCATION)
        .root_location(false)
}

#[test]
fn m02_160_points_are_what_nginx_itself_has() {
    let servers = memcacheds(3);
    let names = names(&servers);
    let lines = lines(&names, "");
    let nginx = Nginx::builder()
        .http(&format!("upstream ours {{ memcached_hash ketama_points=160; {lines} }}"))
        .http(&format!("upstream core {{ hash $http_x_key consistent; {lines} }}"))
        .server("set $memcached_key $http_x_key; keepalive_requests 100000;")
        .server("error_page 404 = @missed;")
        .server("location /ours { memcached_pass ours; }")
        .server("location /core { memcached_pass core; }")
        .server("location @missed { return 200 $upstream_addr; }")
        .root_location(false)
        .start();
    let mut client = Client::of(&nginx);
    let mut seen = HashSet::new();
    for key in keys(1000) {
        let ours = client.ask("/ours", &[("X-Key", key.as_bytes())]).text();
        assert_eq!(ours, client.ask("/core", &[("X-Key", key.as_bytes())]).text(), "{key}");
        assert!(names.contains(&ours));
        seen.insert(ours);
    }
    assert_eq!(seen.len(), 3);
    nginx.check();
}

#[test]
fn m23_kept_connections() {
    let servers = memcacheds(3);
    let names = names(&servers);
    let lines = lines(&names, "");
    let keys = keys(50);
    for (key, server) in keys.iter().zip(places(KETAMA, &names, &keys)) {
        servers[server].set(key, 0, key);
    }
    let connections =
        || -> u64 { servers.iter().map(|server| server.stat("total_connections")).sum() };

    let kept_by_default = version().unwrap() >= [1, 29, 7];
    let mut cases = vec![
        (format!("memcached_hash {KETAMA}; {lines} keepalive 8;"), true),
        (format!("memcached_hash {KETAMA}; keepalive 8; {lines}"), true),
        (format!("keepalive 8; memcached_hash {KETAMA}; {lines}"), true),
        (format!("{lines} keepalive 8; memcached_hash {KETAMA};"), true),
        (format!("memcached_hash {KETAMA}; {lines}"), kept_by_default),
        (format!("zone z 256k; memcached_hash {KETAMA}; {lines} keepalive 8;"), true),
        (format!("zone z 256k; keepalive 8; memcached_hash {KETAMA}; {lines}"), true),
    ];
    if kept_by_default {
        cases.push((format!("memcached_hash {KETAMA}; {lines} keepalive 0;"), false));
    }
    for (directives, kept) in cases {
        let nginx = front(&directives).start();
        let mut client = Client::of(&nginx);
        let before = connections();
        for number in 0..1000 {
            let key = &keys[number % keys.len()];
            assert_eq!(client.hit(key), *key, "{directives}");
        }
        // Each look at the statistics is a connection too.
        let made = connections() - before - 3;
        match kept {
            true => assert_eq!(made, 3, "{directives}"),
            false => assert_eq!(made, 1000, "{directives}"),
        }
        nginx.check();
    }
}

#[test]
fn keepalive_above_the_method_with_servers_that_are_down() {
    let mut servers = memcacheds(3);
    let names = names(&servers);
    let keys = keys(30);
    for (key, server) in keys.iter().zip(places(KETAMA, &names, &keys)) {
        servers[server].set(key, 0, key);
    }
    servers[1].kill();
    let nginx =
        front(&format!("keepalive 8; memcached_hash {KETAMA}; {}", lines(&names, ""))).start();
    let mut client = Client::of(&nginx);
    for _ in 0..2 {
        for (key, server) in keys.iter().zip(places(KETAMA, &names, &keys)) {
            let answer = client.get(key);
            match server {
                1 => assert_eq!(missed(&answer).server, names[1]),
                _ => assert_eq!(answer.text(), *key),
            }
        }
    }
    nginx.check();
}

#[test]
fn more_servers_than_fit_a_word() {
    let servers = memcacheds(2);
    let [one, other] = &names(&servers)[..] else { unreachable!() };
    // 200 names of the same two servers.
    let port = |name: &String| name.rsplit(':').next().unwrap().to_owned();
    let many: Vec<_> = (0..200)
        .map(|number| {
            format!("127.0.0.1:{}{}", "0".repeat(number / 2), port([one, other][number % 2]))
        })
        .collect();
    for server in &servers {
        for key in keys(100) {
            server.set(&key, 0, &key);
        }
    }
    let at = owners(KETAMA, &many, &keys(100));
    assert!(at.iter().collect::<HashSet<_>>().len() > 50);
    for directives in [
        "memcached_hash ketama_points=150; keepalive 8;",
        "keepalive 8; memcached_hash ketama_points=150;",
        "zone z 1m; memcached_hash ketama_points=150;",
    ] {
        let nginx = front(&format!("{directives} {}", lines(&many, ""))).start();
        let mut client = Client::of(&nginx);
        for (key, server) in keys(100).iter().zip(&at) {
            let answer = client.get(key);
            assert_eq!(
                (answer.text(), answer.header("X-Server")),
                (key.clone(), Some(server.clone()))
            );
        }
        nginx.check();
    }
}

/// `PID server|address|status` for each of many connections, so that every worker is asked.
fn ask_all_workers(nginx: &Nginx, workers: usize, key: &str) -> Vec<String> {
    let mut pids = HashSet::new();
    let mut answers = Vec::new();
    let done = wait_until(Duration::from_secs(20), || {
        let text = http::get_with(nginx.port(), "/", &[("X-Key", key)]).text();
        let (pid, answer) = text.split_once(' ').unwrap();
        pids.insert(pid.to_owned());
        answers.push(answer.to_owned());
        pids.len() == workers && answers.len() >= 20
    });
    assert!(done, "only {pids:?} answered");
    answers
}

#[test]
fn a_zone_shares_failures_between_workers() {
    for (zone, shared) in [("zone z 256k;", true), ("", false)] {
        let nginx = Nginx::builder()
            .workers(2)
            .http(&format!(
                "upstream m {{ {zone} memcached_hash; {} }}",
                lines(&["127.0.0.1:1", "127.0.0.1:2"], "max_fails=1 fail_timeout=60s")
            ))
            .server(
                r#"
                location / {
                    set $memcached_key $http_x_key;
                    memcached_pass     m;
                    error_page         502 = @missed;
                }
                location @missed { return 200 "$pid $upstream_addr"; }
                "#,
            )
            .root_location(false)
            .start();
        let answers = ask_all_workers(&nginx, 2, "key");
        let asked = answers.iter().filter(|address| *address != "m").count();
        assert_eq!(asked, if shared { 1 } else { 2 }, "{zone} {answers:?}");
        nginx.check();
    }
}

#[test]
fn a_key_has_the_same_server_in_every_worker() {
    let servers = memcacheds(3);
    let names = names(&servers);
    for zone in ["zone z 256k;", ""] {
        let nginx = Nginx::builder()
            .workers(4)
            .http(&format!(
                "upstream m {{ {zone} memcached_hash {KETAMA}; {} }}",
                lines(&names, "")
            ))
            .server(
                r#"
                location / {
                    set $memcached_key $http_x_key;
                    memcached_pass     m;
                    error_page         404 = @missed;
                }
                location @missed { return 200 "$pid $memcached_hash_server|$upstream_addr"; }
                "#,
            )
            .root_location(false)
            .start();
        for (key, server) in keys(3).iter().zip(places(KETAMA, &names, &keys(3))) {
            let expected = format!("{0}|{0}", names[server]);
            for answer in ask_all_workers(&nginx, 4, key) {
                assert_eq!(answer, expected, "{key}");
            }
        }
        nginx.check();
    }
}

#[test]
fn max_conns() {
    for zone in ["zone z 256k;", ""] {
        let server = TcpServer::builder()
            .until(RequestEnd::Line)
            .reply([Step::Delay(Duration::from_millis(500)), send("END\r\n")])
            .start();
        let name = format!("127.0.0.1:{}", server.port());
        let other = "server 127.0.0.1:1;";
        let key = keys(100)
            .into_iter()
            .find(|key| places(KETAMA, &[&*name, "127.0.0.1:1"], &[key])[0] == 0)
            .unwrap();
        let nginx = front(&format!(
            "{zone} memcached_hash {KETAMA}; server {name} max_conns=1; {other} keepalive 4;"
        ))
        .start();
        let mut first = http::Connection::open(nginx.port());
        let request = format!("GET / HTTP/1.1\r\nHost: a\r\nX-Key: {key}\r\n\r\n");
        first.send(&request);
        assert!(wait_until(Duration::from_secs(5), || !server.requests().is_empty()));
        let mut second = http::Connection::open(nginx.port());
        let full = missed(&second.send(&request).read());
        assert_eq!((&*full.addresses[0], &*full.statuses[0], &full.server), ("m", "502", &name));
        assert_eq!(missed(&first.read()).statuses, ["404"]);
        // And then it is free again.
        assert_eq!(missed(&second.send(&request).read()).statuses, ["404"]);
        nginx.check();
    }
}

#[test]
fn unix_sockets_and_ipv6() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memcached.sock");
    let socket = Memcached::start_unix(&path);
    let ipv6 = Fake::start(Ipv6Addr::LOCALHOST.into(), 0, |line| found(line, "by IPv6"));
    // A host without IPv6 has only the socket.
    let mut names = vec![format!("unix:{}", path.display())];
    names.extend(ipv6.as_ref().map(|fake| format!("[::1]:{}", fake.port())));
    let keys = keys(40);
    for key in &keys {
        socket.set(key, 0, "by a socket");
    }
    let at = places(KETAMA, &names, &keys);
    assert_eq!(at.iter().collect::<HashSet<_>>().len(), names.len());
    for keepalive in ["keepalive 8;", ""] {
        let nginx =
            front(&format!("memcached_hash {KETAMA}; {} {keepalive}", lines(&names, ""))).start();
        let mut client = Client::of(&nginx);
        for (key, &server) in keys.iter().zip(&at) {
            assert_eq!(client.hit(key), ["by a socket", "by IPv6"][server]);
        }
        nginx.check();
    }
}

/// nginx in which `mc.example` has these addresses.
fn with_names(builder: Builder, addresses: &[&str]) -> Builder {
    let hosts: String = addresses.iter().map(|address| format!("{address} mc.example\n")).collect();
    let builder = builder.file("hosts", hosts);
    let hosts = builder.prefix().join("hosts");
    builder.env("LD_PRELOAD", "libnss_wrapper.so").env("NSS_WRAPPER_HOSTS", hosts)
}

#[test]
fn m21_a_name_with_several_addresses_is_one_server() {
    let servers = memcacheds(2);
    let port = servers[0].port();
    let names = [format!("mc.example:{port}"), format!("127.0.0.1:{}", servers[1].port())];
    let keys = keys(60);
    // Where the other addresses of the name would have points of their own, keys would be elsewhere.
    let at = places(KETAMA, &[format!("unix:mc.example:{port}"), names[1].clone()], &keys);
    assert!(at.contains(&0) && at.contains(&1));
    for (key, &server) in keys.iter().zip(&at) {
        servers[server].set(key, 0, key);
    }

    for more in ["", "keepalive 8;", "zone z 256k;"] {
        for before in ["", "keepalive 8;"] {
            if !before.is_empty() && !more.is_empty() {
                continue;
            }
            // Nobody listens at two of the three.
            let nginx = with_names(
                front(&format!("{before} memcached_hash {KETAMA}; {} {more}", lines(&names, ""))),
                &["127.0.0.3", "127.0.0.2", "127.0.0.1"],
            )
            .start();
            let mut client = Client::of(&nginx);
            for _ in 0..2 {
                for (key, &server) in keys.iter().zip(&at) {
                    let answer = client.get(key);
                    assert_eq!(answer.text(), *key, "{before} {more}");
                    assert_eq!(answer.header("X-Server").as_ref(), Some(&names[server]));
                }
            }
            nginx.check();
        }
    }
}

#[test]
fn m21_addresses_are_tried_in_turn_and_then_no_others() {
    let servers = memcacheds(1);
    let names = ["mc.example:1".to_owned(), format!("127.0.0.1:{}", servers[0].port())];
    for key in keys(30) {
        servers[0].set(&key, 0, "of another server");
    }
    let at = places(KETAMA, &["unix:mc.example:1", &names[1]], &keys(30));
    let (key, _) = keys(30).into_iter().zip(at).find(|(_, server)| *server == 0).unwrap();

    let nginx = with_names(
        front(&format!("memcached_hash {KETAMA}; {}", lines(&names, "max_fails=2"))),
        &["127.0.0.2", "127.0.0.3"],
    )
    .start();
    let mut client = Client::of(&nginx);
    for _ in 0..2 {
        let missed = missed(&client.get(&key));
        let asked: HashSet<_> = missed.addresses.iter().map(String::as_str).collect();
        assert_eq!(asked, HashSet::from(["127.0.0.2:1", "127.0.0.3:1"]));
        assert_eq!((missed.statuses.join(" "), &missed.server), ("502 502".into(), &names[0]));
    }
    assert_eq!(missed(&client.get(&key)).addresses, ["m"]);
    nginx.check();

    // Only as many as nginx is told to.
    let nginx = with_names(
        front(&format!("memcached_hash {KETAMA}; {}", lines(&names, "max_fails=0")))
            .server("memcached_next_upstream_tries 1;"),
        &["127.0.0.2", "127.0.0.3"],
    )
    .start();
    assert_eq!(missed(&Client::of(&nginx).get(&key)).statuses, ["502"]);
    nginx.check();
}

const NEXT: [&str; 6] = [
    "error",
    "timeout",
    "invalid_response",
    "not_found",
    "off",
    "error timeout invalid_response not_found",
];

#[test]
fn whatever_next_upstream_says_no_other_server_is_asked() {
    let mut servers = memcacheds(3);
    let names = names(&servers);
    let keys = keys(30);
    let at = places(KETAMA, &names, &keys);
    servers[0].kill();
    for value in NEXT {
        let nginx = Nginx::builder()
            .http(&cluster::upstream(KETAMA, &names, ""))
            .server(&format!("memcached_next_upstream {value};"))
            .server(cluster::LOCATION)
            .root_location(false)
            .start();
        let mut client = Client::of(&nginx);
        let before: Vec<_> = [1, 2].iter().map(|&at| servers[at].stat("cmd_get")).collect();
        for (key, &server) in keys.iter().zip(&at) {
            let missed = missed(&client.get(key));
            assert_eq!(missed.server, names[server]);
            assert_eq!(missed.statuses, [if server == 0 { "502" } else { "404" }], "{value}");
            assert!(missed.addresses == [&*names[server]] || missed.addresses == ["m"]);
        }
        for (&at_server, before) in [1, 2].iter().zip(before) {
            let own = at.iter().filter(|&&server| server == at_server).count() as u64;
            assert_eq!(servers[at_server].stat("cmd_get") - before, own, "{value}");
        }
        nginx.check();
    }
}

#[test]
fn a_miss_is_not_asked_for_at_another_address() {
    let misses = || |_: &str| b"END\r\n".to_vec();
    let hosts = [Ipv4Addr::new(127, 0, 0, 2), Ipv4Addr::new(127, 0, 0, 3)];
    let first = Fake::start(IpAddr::V4(hosts[0]), 0, misses()).unwrap();
    let second = Fake::start(IpAddr::V4(hosts[1]), first.port(), misses()).unwrap();
    for value in NEXT {
        let nginx = with_names(
            Nginx::builder()
                .http(&cluster::upstream("", &[format!("mc.example:{}", first.port())], ""))
                .server(&format!("memcached_next_upstream {value};"))
                .server(cluster::LOCATION)
                .root_location(false),
            &["127.0.0.2", "127.0.0.3"],
        )
        .start();
        let before = first.lines() + second.lines();
        assert_eq!(missed(&Client::of(&nginx).get("key")).statuses, ["404"], "{value}");
        assert_eq!(first.lines() + second.lines(), before + 1, "{value}");
        nginx.check();
    }
}

#[test]
fn other_protocols_with_a_key() {
    let backends: Vec<_> = (0..3)
        .map(|number| {
            let body = format!("backend {number}");
            TcpServer::builder().start_with(move |_, request| {
                let head = match request.starts_with(b"GET") {
                    true => "HTTP/1.1 200 OK",
                    false => "Status: 200 OK",
                };
                let length = body.len();
                let head = format!("{head}\r\nContent-Length: {length}\r\n\r\n");
                vec![send(format!("{head}{body}")), Step::Close]
            })
        })
        .collect();
    let names: Vec<_> = backends.iter().map(|one| format!("127.0.0.1:{}", one.port())).collect();
    let nginx = Nginx::builder()
        .http(&cluster::upstream("ketama_points=150 key=$http_x_key", &names, ""))
        .http("map $host $by_variable { default m; }")
        .server("add_header X-Server $memcached_hash_server;")
        .server("location /proxy    { proxy_pass http://m; }")
        .server("location /variable { proxy_pass http://$by_variable; }")
        .server("location /scgi     { scgi_pass m; scgi_param REQUEST_METHOD GET; }")
        .root_location(false)
        .start();
    let mut client = Client::of(&nginx);
    for (key, server) in keys(30).iter().zip(places(KETAMA, &names, &keys(30))) {
        for target in ["/proxy", "/variable", "/scgi"] {
            let answer = client.ask(target, &[("X-Key", key.as_bytes())]);
            assert_eq!(answer.text(), format!("backend {server}"), "{target} {key}");
            assert_eq!(answer.header("X-Server").as_ref(), Some(&names[server]));
        }
    }
    nginx.check();
}

#[test]
fn other_protocols_without_a_key() {
    let nginx = Nginx::builder()
        .http(&cluster::upstream(KETAMA, &["127.0.0.1:1", "127.0.0.1:2"], ""))
        .server("location / { proxy_pass http://m; }")
        .root_location(false)
        .start();
    assert_eq!(http::get(nginx.port(), "/").status, 500);
    nginx.wait_for_log("\"memcached_hash\" has no \"key=\"");
    nginx.check();
}

#[test]
fn the_server_is_known_to_the_log_and_to_filters() {
    let servers = memcacheds(3);
    let names = names(&servers);
    let nginx = Nginx::builder()
        .http("log_format server '$memcached_hash_server';")
        .http(&cluster::upstream(KETAMA, &names, ""))
        .server("access_log logs/server.log server;")
        .server("location /none { return 200 [$memcached_hash_server]; }")
        .server(cluster::LOCATION)
        .root_location(false)
        .start();
    let mut client = Client::of(&nginx);
    let mut expected = String::new();
    for (key, server) in keys(10).iter().zip(places(KETAMA, &names, &keys(10))) {
        assert_eq!(missed(&client.get(key)).server, names[server]);
        expected += &format!("{}\n", names[server]);
    }
    assert_eq!(client.ask("/none", &[]).text(), "[]");
    expected += "-\n";
    let log = nginx.prefix().join("logs/server.log");
    let logged = || std::fs::read_to_string(&log).unwrap_or_default();
    assert!(wait_until(Duration::from_secs(5), || logged() == expected), "{}", logged());
    nginx.check();
}

#[test]
fn reloads_under_load() {
    let servers = memcacheds(3);
    let names = names(&servers);
    let keys = keys(50);
    for (key, server) in keys.iter().zip(places(KETAMA, &names, &keys)) {
        servers[server].set(key, 0, key);
    }
    for zone in ["", "zone z 256k;"] {
        let nginx = Nginx::builder()
            .workers(2)
            .http(&format!(
                "upstream m {{ {zone} memcached_hash {KETAMA}; {} keepalive 8; }}",
                lines(&names, "")
            ))
            .server(cluster::LOCATION)
            .root_location(false)
            .start();
        let (ending, asked) = (AtomicBool::new(false), AtomicUsize::new(0));
        thread::scope(|scope| {
            for first in 0..4 {
                let (nginx, keys, ending, asked) = (&nginx, &keys, &ending, &asked);
                scope.spawn(move || {
                    for number in first.. {
                        if ending.load(Ordering::SeqCst) {
                            break;
                        }
                        let key = &keys[number % keys.len()];
                        let answer = http::get_with(nginx.port(), "/", &[("X-Key", key)]);
                        assert_eq!((answer.status, &answer.text()), (200, key));
                        asked.fetch_add(1, Ordering::SeqCst);
                    }
                });
            }
            for _ in 0..5 {
                thread::sleep(Duration::from_millis(200));
                nginx.reload();
            }
            ending.store(true, Ordering::SeqCst);
        });
        assert!(asked.load(Ordering::SeqCst) > 100 / slowness() as usize);
        nginx.check();
    }
}

/// 300 reloads with `SOAK`, which take a minute or more.
#[test]
fn b13_reloads_do_not_cost_the_master_memory() {
    let reloads = if std::env::var_os("SOAK").is_some() { 300 } else { 15 };
    let servers: Vec<_> = (1..=20).map(|number| format!("127.0.0.1:{number}")).collect();
    let servers = lines(&servers, "");
    let upstreams: String = (0..50)
        .map(|number| {
            format!("upstream m{number} {{ memcached_hash ketama_points=160; {servers} }}\n")
        })
        .collect();
    let slow = TcpServer::builder()
        .until(RequestEnd::Line)
        .reply(vec![delay_ms(300), send("VALUE /slow 0 4\r\nslow\r\nEND\r\n"), Step::Close])
        .start();
    let fast = Memcached::start();
    fast.set("/fast", 0, "fast");
    let upstream = |name: &str, port: u16| {
        format!(
            "upstream {name} {{ memcached_hash ketama_points=160; server 127.0.0.1:{port}; }}\n"
        )
    };
    let location = |name: &str| {
        format!("location /{name} {{ set $memcached_key $uri; memcached_pass {name}; }}\n")
    };
    let nginx = Nginx::builder()
        .workers(2)
        .http(&upstreams)
        .http(&(upstream("slow", slow.port()) + &upstream("fast", fast.port())))
        .server(&(location("slow") + &location("fast")))
        .root_location(false)
        .start();

    let master = nginx.pid();
    // Pages, the second number of statm.
    let resident = || -> usize {
        let statm = std::fs::read_to_string(format!("/proc/{master}/statm")).unwrap();
        statm.split_whitespace().nth(1).unwrap().parse().unwrap()
    };
    let ending = AtomicBool::new(false);
    let answers = [AtomicUsize::new(0), AtomicUsize::new(0)];
    let (before, after) = thread::scope(|scope| {
        // Slow requests are always outstanding, so that each reload leaves some to the workers of before.
        for (name, clients, answers) in [("slow", 6, &answers[0]), ("fast", 2, &answers[1])] {
            for _ in 0..clients {
                let (nginx, ending) = (&nginx, &ending);
                scope.spawn(move || {
                    while !ending.load(Ordering::SeqCst) {
                        let answer = http::get(nginx.port(), &format!("/{name}"));
                        assert_eq!((answer.status, &*answer.text()), (200, name));
                        answers.fetch_add(1, Ordering::SeqCst);
                    }
                });
            }
        }
        let reload = |times: usize| (0..times).for_each(|_| nginx.reload());
        reload(5);
        let before = resident();
        reload(reloads);
        let after = resident();
        ending.store(true, Ordering::SeqCst);
        (before, after)
    });
    let [slow, fast] = answers.map(AtomicUsize::into_inner);
    println!("{reloads} reloads: {before} pages became {after}; {slow} slow requests, {fast} fast");
    assert!(slow > 0 && fast > 0);
    // Each configuration has points for 1.3 MB, 312 pages; kept, they would be 4,700 pages more.
    assert!(after < before + 600, "{before} pages became {after}");
    nginx.check();
}
