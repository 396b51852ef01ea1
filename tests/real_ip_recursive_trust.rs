//! `real_ip_recursive_trust` where a fixture cannot reach: HTTP/2, sockets, floods, reload, nginx's realip
//! beside it, and the recipes.

// Tests stop at the first thing that is not as it should be.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used
)]

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use support::http::{self, Connection};
use support::nginx::{Nginx, slowness, version};
use support::tcp_server::{Step, TcpServer, delay_ms, send};

const HTTP: &str = "
    set_real_ip_from        127.0.0.1;
    real_ip_header          X-Forwarded-For;
    real_ip_recursive       on;
    real_ip_recursive_trust 203.0.113.7;
";

const SAY: &str =
    r#"location / { return 200 "$remote_addr|$realip_remote_addr|$realip_trust_hops"; }"#;

fn start(http: &str, server: &str) -> Nginx {
    Nginx::builder().http(http).server(server).root_location(false).start()
}

/// What the server answers to these lines of X-Forwarded-For.
fn ask(nginx: &Nginx, lines: &[&str]) -> String {
    let headers: Vec<_> = lines.iter().map(|line| ("X-Forwarded-For", *line)).collect();
    http::get_with(nginx.port(), "/", &headers).text()
}

fn request(lines: &[&str]) -> String {
    let lines: String = lines.iter().map(|line| format!("X-Forwarded-For: {line}\r\n")).collect();
    format!("GET / HTTP/1.1\r\nHost: a\r\n{lines}\r\n")
}

/// An HTTP/2 connection, as little of it as a test of requests without bodies needs (RFC 9113, RFC 7541).
struct Http2(TcpStream);

impl Http2 {
    fn open(port: u16) -> Http2 {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(10) * slowness())).unwrap();
        let settings = Self::frame(4, 0, 0, &[]);
        stream.write_all(&[&b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"[..], &settings].concat()).unwrap();
        Http2(stream)
    }

    fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
        let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
        [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
    }

    /// `GET /` with these lines of X-Forwarded-For: headers that the peer need not remember.
    fn headers(stream: u32, lines: &[&str]) -> Vec<u8> {
        let mut block = b"\x82\x86\x84\x01\x01a".to_vec();
        for line in lines {
            let length = u8::try_from(line.len()).unwrap();
            block.extend([&b"\x00\x0fx-forwarded-for"[..], &[length], line.as_bytes()].concat());
        }
        Self::frame(1, 0x5, stream, &block)
    }

    /// The bodies of as many streams, by the streams' numbers.
    fn bodies(&mut self, count: usize) -> BTreeMap<u32, String> {
        let mut bodies = BTreeMap::<u32, String>::new();
        let mut ended = 0;
        while ended < count {
            let mut head = [0; 9];
            self.0.read_exact(&mut head).unwrap();
            let [a, b, c, kind, flags, stream @ ..] = head;
            let mut payload = vec![0; u32::from_be_bytes([0, a, b, c]) as usize];
            self.0.read_exact(&mut payload).unwrap();
            assert!(kind != 3 && kind != 7, "the stream or connection was closed: {head:?}");
            if kind == 0 {
                let body = bodies.entry(u32::from_be_bytes(stream)).or_default();
                body.push_str(std::str::from_utf8(&payload).unwrap());
                ended += usize::from(flags & 1);
            }
        }
        bodies
    }
}

/// R20: streams of one connection, each with another client, and open at the same time.
#[test]
fn http2_streams_have_addresses_of_their_own() {
    // All streams wait for this, and only then say what their address is.
    let answer = "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    let backend = TcpServer::answering([delay_ms(300), send(answer), Step::Close]);
    let (listen, on) = match version().unwrap() {
        [1, minor, _] if minor < 25 => ("http2", ""),
        _ => ("", "http2 on;"),
    };
    let port = support::ports::free_port();
    let nginx = start(
        &format!(
            "{HTTP} log_format r '$server_protocol $connection $remote_addr $realip_remote_addr';
             server {{
                 listen 127.0.0.1:{port} {listen}; {on}
                 access_log logs/h2.log r;
                 location / {{
                     proxy_pass http://127.0.0.1:{};
                     proxy_intercept_errors on;
                     error_page 404 =200 @say;
                 }}
                 {}
             }}",
            backend.port(),
            SAY.replace("location /", "location @say"),
        ),
        "return 204;",
    );

    let mut connection = Http2::open(port);
    for round in 0..3 {
        // The second round reuses what nginx kept of the streams of the first.
        let streams: Vec<u32> = (0..9).map(|n| round * 18 + n * 2 + 1).collect();
        let client = |stream: u32| format!("198.51.100.{stream}");
        let mut frames = Vec::new();
        let mut expected = BTreeMap::new();
        for &stream in &streams {
            let forwarded = format!("{}, 203.0.113.7", client(stream));
            let (lines, answer) = match stream % 3 {
                0 => (vec![forwarded.as_str()], format!("{}|127.0.0.1|1", client(stream))),
                1 => (vec!["203.0.113.7"], "203.0.113.7|127.0.0.1|0".to_owned()),
                _ => (vec![], "127.0.0.1|127.0.0.1|".to_owned()),
            };
            frames.extend(Http2::headers(stream, &lines));
            expected.insert(stream, answer);
        }
        connection.0.write_all(&frames).unwrap();
        assert_eq!(connection.bodies(streams.len()), expected, "round {round}");
    }
    drop(connection);

    // nginx logs a request after its answer.
    let mut log = String::new();
    support::process::wait_until(Duration::from_secs(10) * slowness(), || {
        log = std::fs::read_to_string(nginx.prefix().join("logs/h2.log")).unwrap();
        log.lines().count() == 27
    });
    assert_eq!(log.lines().count(), 27, "{log}");
    let connections: BTreeSet<_> = log.lines().map(|line| line.split(' ').nth(1)).collect();
    assert_eq!(connections.len(), 1, "{log}");
    for client in ["198.51.100.3", "203.0.113.7", "127.0.0.1"] {
        assert!(log.contains(&format!(" {client} 127.0.0.1\n")), "{client}: {log}");
    }
    nginx.check();
}

/// R20: many requests of many clients on one connection, some without the header, some with one too short.
#[test]
fn a_kept_connection_carries_many_clients() {
    let nginx = start(&format!("{HTTP} keepalive_requests 10000;"), SAY);
    let hops = start(&HTTP.replace("203.0.113.7", "hops=1"), SAY);
    for (nginx, short, expected) in [
        (&nginx, "203.0.113.7", "203.0.113.7|127.0.0.1|0"),
        (&hops, "192.0.2.66", "127.0.0.1|127.0.0.1|1"),
    ] {
        let mut connection = Connection::open(nginx.port());
        for n in 0..300 {
            let client = format!("198.51.100.{}", n % 250);
            let full = format!("{client}, 203.0.113.7");
            let (lines, expected) = match n % 3 {
                0 => (vec![full.as_str()], format!("{client}|127.0.0.1|1")),
                1 => (vec![], "127.0.0.1|127.0.0.1|".to_owned()),
                _ => (vec![short], expected.to_owned()),
            };
            assert_eq!(connection.send(request(&lines)).read().text(), expected, "request {n}");
        }
    }
    nginx.check();
    hops.check();
}

/// A peer that has no address at all gets its own text back.
#[test]
fn a_unix_socket_as_peer() {
    use std::os::unix::net::UnixStream;

    let http = "set_real_ip_from unix:; real_ip_header X-Forwarded-For; real_ip_recursive on;
                real_ip_recursive_trust 203.0.113.7 hops=1;";
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("s");
    let nginx = start(
        &format!("{http} server {{ listen unix:{}; {SAY} }}", socket.display()),
        "return 204;",
    );

    let mut stream = UnixStream::connect(&socket).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(10) * slowness())).unwrap();
    let mut answers = String::new();
    for lines in [
        &["198.51.100.9, 203.0.113.7, 192.0.2.1"][..],
        &["192.0.2.66"],
        &[],
        &["198.51.100.10, 192.0.2.1"],
    ] {
        stream.write_all(request(lines).as_bytes()).unwrap();
        let mut bytes = [0; 4096];
        let length = stream.read(&mut bytes).unwrap();
        let (response, _) = http::parse(&bytes[..length], false, false).unwrap().unwrap();
        answers.push_str(&response.text());
        answers.push('\n');
    }
    assert_eq!(
        answers,
        "198.51.100.9|unix:|2\nunix:|unix:|1\nunix:|unix:|\n198.51.100.10|unix:|1\n"
    );
    drop(stream);
    nginx.check();
}

/// Peers that connect by IPv6, and by IPv4 to a socket of both.
#[test]
fn ipv6_peers() {
    if TcpListener::bind((Ipv6Addr::LOCALHOST, 0)).is_err() {
        eprintln!("this machine has no IPv6");
        return;
    }
    let port = support::ports::free_port();
    let nginx = start(
        &format!(
            "set_real_ip_from ::1; {}
             server {{ listen [::]:{port} ipv6only=off; {SAY} }}",
            HTTP.replace("203.0.113.7", "203.0.113.7 hops=1")
        ),
        "return 204;",
    );
    for (server, peer) in [
        (IpAddr::from(Ipv6Addr::LOCALHOST), "::1"),
        (IpAddr::from(Ipv4Addr::LOCALHOST), "::ffff:127.0.0.1"),
    ] {
        let mut connection = Connection::try_open(server, port, None).unwrap();
        let mut ask = |lines: &[&str]| connection.send(request(lines)).read().text();
        assert_eq!(ask(&["192.0.2.66"]), format!("{peer}|{peer}|1"));
        assert_eq!(ask(&["198.51.100.9, 203.0.113.7, ::1"]), format!("198.51.100.9|{peer}|2"));
        assert_eq!(ask(&[]), format!("{peer}|{peer}|"));
    }
    nginx.check();
}

/// The PROXY protocol gives one address and no list, so there is nothing to walk.
#[test]
fn the_proxy_protocol() {
    let port = support::ports::free_port();
    let http = "set_real_ip_from 127.0.0.1; real_ip_header proxy_protocol; real_ip_recursive on;
                real_ip_recursive_trust 198.51.100.9 hops=1;";
    let nginx = start(
        &format!("{http} server {{ listen 127.0.0.1:{port} proxy_protocol; {SAY} }}"),
        "return 204;",
    );
    let mut connection = Connection::open(port);
    connection.send("PROXY TCP4 198.51.100.9 203.0.113.7 4711 80\r\n");
    for lines in [&[][..], &["192.0.2.66, 192.0.2.67"]] {
        let answer = connection.send(request(lines)).read().text();
        assert_eq!(answer, "198.51.100.9|127.0.0.1|");
    }
    nginx.check();
}

/// F11: requests without a header, over and over.
#[test]
fn http09_requests() {
    let nginx = start(HTTP, SAY);
    for _ in 0..200 {
        for text in ["GET /\r\n", "GET /\r\n\r\n"] {
            let mut connection = Connection::open(nginx.port());
            let answer = connection.send(text).read_to_end();
            assert_eq!(String::from_utf8_lossy(&answer), "127.0.0.1|127.0.0.1|");
        }
    }
    nginx.check();
}

/// Headers as large as nginx takes them, made of whatever costs the most.
#[test]
fn floods() {
    let large = "large_client_header_buffers 4 68k;";
    let nginx = start(&format!("{HTTP} {large}"), SAY);
    let hops = start(&format!("{} {large}", HTTP.replace("203.0.113.7", "hops=100000")), SAY);
    let both = "real_ip_header X-Chain;";
    let custom = start(
        &format!("{} {large}", HTTP.replace("real_ip_header          X-Forwarded-For;", both)),
        SAY,
    );

    let entries = |entry: &str, bytes: usize| entry.repeat(bytes / entry.len());
    let forged = entries("192.0.2.66, ", 65_000);
    let trusted = entries("203.0.113.7, ", 65_000);
    let digits = entries("1", 65_000);
    let colons = entries(":", 65_000);
    let separators = entries(", ", 32_000);
    let began = Instant::now();
    for (line, expected) in [
        (format!("{forged}198.51.100.9, 203.0.113.7"), "198.51.100.9|127.0.0.1|1"),
        (format!("198.51.100.9, {trusted}203.0.113.7"), "198.51.100.9|127.0.0.1|5001"),
        (format!("{digits}, 203.0.113.7"), "203.0.113.7|127.0.0.1|0"),
        (format!("{colons}, 203.0.113.7"), "203.0.113.7|127.0.0.1|0"),
        (format!("198.51.100.9{separators}203.0.113.7"), "198.51.100.9|127.0.0.1|1"),
        (format!("{separators}203.0.113.7{separators}"), "203.0.113.7|127.0.0.1|0"),
        (digits.clone(), "127.0.0.1|127.0.0.1|"),
        (separators.clone(), "127.0.0.1|127.0.0.1|"),
    ] {
        for _ in 0..5 {
            assert_eq!(ask(&nginx, &[&line]), expected, "{} bytes", line.len());
        }
        let answer = ask(&hops, &[&line]);
        assert!(answer.starts_with("127.0.0.1|127.0.0.1|"), "{answer}");
    }

    // As many lines as nginx takes (`max_headers`, which Debian has in its 1.22.1 too).
    let empty = [""; 900];
    let lines = [&["198.51.100.9"], &empty[..], &["203.0.113.7"]].concat();
    assert_eq!(ask(&nginx, &lines), "198.51.100.9|127.0.0.1|1");
    let mut text = String::from("GET / HTTP/1.1\r\nHost: a\r\nX-Chain: 198.51.100.9\r\n");
    text.push_str(&"X-Chain: 203.0.113.7\r\n".repeat(900));
    text.push_str("\r\n");
    let answer = Connection::open(custom.port()).send(text).read().text();
    assert_eq!(answer, "198.51.100.9|127.0.0.1|900");

    // Each of these is some hundred thousand steps; none of them is the square of that.
    assert!(began.elapsed() < Duration::from_secs(20) * slowness(), "{:?}", began.elapsed());
    nginx.check();
    hops.check();
    custom.check();
}

/// R27: connections that are open while the list changes.
#[test]
fn reload_with_another_list() {
    let nginx = start(HTTP, SAY);
    let mut old = Connection::open(nginx.port());
    assert_eq!(
        old.send(request(&["198.51.100.9, 203.0.113.7"])).read().text(),
        "198.51.100.9|127.0.0.1|1"
    );

    // A request that was begun before is ended after.
    let text = request(&["198.51.100.9, 203.0.113.7"]);
    let (begin, end) = text.split_at(20);
    let mut slow = Connection::open(nginx.port());
    slow.send(begin).is_closed(Duration::from_millis(50));

    for round in 0..5 {
        let (from, to) = if round % 2 == 0 {
            ("real_ip_recursive_trust 203.0.113.7", "real_ip_recursive_trust 203.0.113.8")
        } else {
            ("real_ip_recursive_trust 203.0.113.8", "real_ip_recursive_trust 203.0.113.7")
        };
        nginx.set_config(|config| config.replace(from, to));
        nginx.reload();
        let now = if round % 2 == 0 { "203.0.113.8" } else { "203.0.113.7" };
        let answered = support::process::wait_until(Duration::from_secs(10) * slowness(), || {
            ask(&nginx, &[&format!("198.51.100.9, {now}")]) == "198.51.100.9|127.0.0.1|1"
        });
        assert!(answered, "round {round}");
    }
    assert_eq!(slow.send(end).read().text(), "198.51.100.9|127.0.0.1|1");
    nginx.check();
}

/// Where no more is trusted, nor hops, the answer is that of nginx's realip, whatever the header holds.
#[test]
fn the_same_as_realip() {
    let lists = "set_real_ip_from 127.0.0.1; set_real_ip_from 203.0.113.0/24; set_real_ip_from 2001:db8:7::/48;
                 real_ip_header X-Forwarded-For; real_ip_recursive on;";
    let say = r#"location / { return 200 "$remote_addr|$remote_port"; }"#;
    let realip = start(lists, say);
    let same = start(&format!("{lists} real_ip_recursive_trust hops=0;"), say);
    // The networks are in this directive instead, but for the peer.
    let trust = lists.replacen("set_real_ip_from 203", "real_ip_recursive_trust 203", 1).replacen(
        "set_real_ip_from 2001",
        "real_ip_recursive_trust 2001",
        1,
    );
    let trust = start(&trust, say);

    let entry = prop::sample::select(vec![
        "198.51.100.9",
        "198.51.100.9:80",
        "203.0.113.7",
        "203.0.113.8:443",
        "127.0.0.1",
        "2001:db8:7::1",
        "[2001:db8:7::1]:80",
        "2001:db8:8::1",
        "::ffff:203.0.113.7",
        "1..2.3",
        "::1.2.3.4",
        ":1:2:3:4:5:6:7:8",
        "255.255.255.255",
        "203.0.113.7:0",
        "203.0.113.7:99999",
        "2001:db8:7::1]",
        "unknown",
        "203.0.113",
    ]);
    let separator = prop::sample::select(vec![",", ", ", " ", ",,", " , "]);
    // Not an empty line, nor a comma at the beginning of one: there nginx differs.
    let line = prop::collection::vec((entry, separator), 1..6)
        .prop_map(|pairs| pairs.into_iter().flat_map(|(e, s)| [e, s]).collect::<String>());
    let lines = prop::collection::vec(line, 1..4);

    let connections = [&realip, &same, &trust].map(|nginx| Connection::open(nginx.port()));
    let connections = std::cell::RefCell::new(connections);
    let cases = if slowness() > 1 { 100 } else { 1000 };
    let config = Config { failure_persistence: None, ..Config::with_cases(cases) };
    TestRunner::new(config)
        .run(&lines, |lines| {
            let lines: Vec<_> = lines.iter().map(String::as_str).collect();
            let mut connections = connections.borrow_mut();
            let [one, other, third] = connections
                .each_mut()
                .map(|connection| connection.send(request(&lines)).read().text());
            // Where nothing was replaced, the port is that of each one's own connection.
            let address = |text: &str| match text.strip_prefix("127.0.0.1|") {
                Some(_) => "127.0.0.1".to_owned(),
                None => text.to_owned(),
            };
            prop_assert_eq!(address(&one), address(&other));
            prop_assert_eq!(address(&one), address(&third));
            Ok(())
        })
        .unwrap();
    drop(connections);
    realip.check();
    same.check();
    trust.check();
}

/// A recipe of `nginx-conf/`, as it is but for its port, the module's place and the workers' user.
fn start_recipe(name: &str) -> (Nginx, String) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("nginx-conf").join(name);
    let text = std::fs::read_to_string(path).unwrap();
    let builder = Nginx::builder();
    let module = support::nginx::module().unwrap().expect("the recipes are about the module");
    let mut config = text.replace(
        "load_module modules/ngx_http_cachefront_module.so;",
        &format!("load_module {};", module.display()),
    );
    assert_ne!(config, text);
    let listen = config.lines().find(|line| line.trim().starts_with("listen ")).unwrap().to_owned();
    config = config.replace(&listen, &format!("listen 127.0.0.1:{};", builder.port()));
    // The test gives these on the command line, and runs in a folder that only its user may enter.
    for line in ["pid       nginx.pid;", "error_log logs/error.log;"] {
        assert!(config.contains(line), "{name} has no `{line}`");
        config = config.replace(line, "");
    }
    let nginx = builder.raw(&config).file("temp/made", "").start();
    (nginx, text)
}

/// What the recipe's own check of the access log prints.
fn own_addresses(nginx: &Nginx, recipe: &str) -> String {
    let line = recipe.lines().find_map(|line| line.strip_prefix("#     awk ")).unwrap();
    let output = Command::new("sh")
        .args(["-c", &format!("awk {line}")])
        .current_dir(nginx.prefix())
        .output()
        .unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Each recipe with a header as its chain makes it, with forged values in front, and with none.
#[test]
fn recipes() {
    let forwarded = "X-Forwarded-For";
    for (name, header, chain) in [
        ("real-ip-google-cloud.conf", forwarded, "203.0.113.7"),
        ("real-ip-google-cloud-hops.conf", forwarded, "203.0.113.99"),
        ("real-ip-cloudflare-alb.conf", forwarded, "172.68.1.2"),
        ("real-ip-proxy-chain.conf", forwarded, "192.0.2.200, 10.20.0.3"),
        ("real-ip-true-client-ip.conf", "True-Client-IP", ""),
    ] {
        let (nginx, recipe) = start_recipe(name);
        let ask = |lines: &[&str]| {
            let headers: Vec<_> = lines.iter().map(|line| (header, *line)).collect();
            http::get_with(nginx.port(), "/", &headers).text()
        };
        let client = "198.51.100.9\n";
        let whole = format!("198.51.100.9, {chain}");
        assert_eq!(ask(&[&whole]), client, "{name}");
        assert_eq!(ask(&["192.0.2.66", &whole]), client, "{name}: a forged line");
        if !chain.is_empty() {
            let forged = format!("192.0.2.66, {whole}");
            assert_eq!(ask(&[&forged]), client, "{name}: a forged value");
        }
        assert_eq!(own_addresses(&nginx, &recipe), "", "{name}");

        // Past the balancer, from one of its own machines.
        assert_eq!(ask(&[]), "127.0.0.1\n", "{name}");
        let mut found = String::new();
        // nginx logs a request after its answer.
        support::process::wait_until(Duration::from_secs(10) * slowness(), || {
            found = own_addresses(&nginx, &recipe);
            !found.is_empty()
        });
        assert_eq!(found.lines().count(), 1, "{name}: {found}");
        assert!(found.starts_with("127.0.0.1 127.0.0.1 - \"-\" ["), "{name}: {found}");

        // The line to try it with says what it gives.
        let line = recipe.lines().find_map(|line| line.strip_prefix("#     curl ")).unwrap();
        let (arguments, expected) = line.split_once("    # ").unwrap();
        let headers: Vec<&str> = arguments.split('\'').skip(1).step_by(2).collect();
        let headers: Vec<_> =
            headers.iter().map(|header| header.split_once(": ").unwrap()).collect();
        let answer = http::get_with(nginx.port(), "/", &headers).text();
        assert_eq!(answer.trim_end(), expected, "{name}: {line}");
        nginx.check();
    }
}

/// R02 in the recipes: somebody in the list of the directive who connects himself is not believed.
#[test]
fn recipes_do_not_believe_other_peers() {
    let (nginx, _) = start_recipe("real-ip-google-cloud-hops.conf");
    let mut connection = Connection::open_from(Ipv4Addr::new(127, 0, 0, 2).into(), nginx.port());
    let answer = connection.send(request(&["192.0.2.66, 192.0.2.67"])).read().text();
    assert_eq!(answer, "127.0.0.2\n");
    nginx.check();
}
