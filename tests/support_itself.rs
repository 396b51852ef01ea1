//! The parts of `tests/support` against real programs.

mod support;

use std::time::Duration;

use support::http::{self, Connection, Framing};
use support::memcached::Memcached;
use support::nginx::Nginx;
use support::ports::free_port;
use support::tcp_server::{RequestEnd, Step, TcpServer, delay_ms, send};
use support::tools;

#[test]
fn nginx_starts_answers_reloads_and_ends() {
    let nginx = Nginx::builder().workers(2).server("location /a { return 200 one; }").start();
    assert_eq!(nginx.worker_pids().len(), 2);
    let answer = http::get(nginx.port(), "/a");
    assert_eq!((answer.status, answer.body.as_slice()), (200, b"one".as_slice()));
    assert_eq!(answer.framing, Framing::Length(3));

    nginx.set_config(|text| text.replace("return 200 one", "return 200 two"));
    assert!(nginx.test_config().0);
    nginx.reload();
    assert!(support::process::wait_until(Duration::from_secs(5), || {
        http::get(nginx.port(), "/a").body == b"two"
    }));
    nginx.check();
}

#[test]
fn nginx_refuses_a_bad_configuration_in_its_own_words() {
    let (good, words) = Nginx::builder().server("no_such_directive on;").test_config();
    assert!(!good);
    assert!(words.contains("unknown directive \"no_such_directive\""), "{words}");

    let ended = Nginx::builder().http("upstream u { }").run_to_exit().unwrap();
    assert!(!ended.status.success());
    assert!(ended.stderr.contains("no servers are inside upstream"), "{}", ended.stderr);

    let started = Nginx::builder().run_to_exit();
    assert!(started.unwrap_err().contains("it started"));
}

#[test]
fn nginx_that_logs_an_alert_or_loses_a_worker_does_not_pass() {
    let nginx = Nginx::builder().start();
    let worker = nginx.worker_pids()[0];
    support::process::signal(worker, support::process::Signal::SEGV);
    nginx.wait_for_log("exited on signal 11");
    let error = nginx.finish(&[], |_| ()).unwrap_err();
    assert!(error.contains("exited on signal 11"), "{error}");

    // Any log with such a line, and a line that only repeats what a client sent.
    let faults = |log: &str, stderr| support::nginx::faults(log.as_bytes(), stderr, &["[crit]"]);
    assert_eq!(faults("2026 [alert] 1#1: zero size buf in writer", "").len(), 1);
    assert_eq!(faults("2026 [crit] 1#1: SSL_do_handshake() failed", "").len(), 0);
    assert_eq!(
        faults("2026 [info] 1#1: *1 x, client: ::1, request: \"GET /[alert]\"", "").len(),
        0
    );
    assert_eq!(faults("", "==7== Invalid read of size 8\n==7== at 0x1").len(), 1);
    assert_eq!(faults("1#1: worker process 2 exited with code 99", "").len(), 1);
    assert_eq!(faults("1#1: worker process 2 exited with code 0", "").len(), 0);
}

#[test]
fn memcached_stores_stops_and_dies() {
    let mut server = Memcached::start();
    server.set("key", 7, b"a\r\nb");
    assert_eq!(server.get("key"), Some((7, b"a\r\nb".to_vec())));
    assert_eq!(server.get("none"), None);
    assert_eq!(server.stat("get_hits"), 1);

    let port = server.port();
    server.stop();
    let mut frozen = Connection::open(port);
    frozen.send("version\r\n");
    assert!(!frozen.is_closed(Duration::from_millis(100)));
    server.cont();
    assert_eq!(server.get("key"), Some((7, b"a\r\nb".to_vec())));
    server.kill();
    assert!(std::net::TcpStream::connect(("127.0.0.1", port)).is_err());
    let again = Memcached::start_on(port);
    assert_eq!(again.get("key"), None);

    let folder = tempfile::tempdir().unwrap();
    let local = Memcached::start_unix(&folder.path().join("m.sock"));
    local.set("u", 0, "v");
    assert_eq!(local.get("u"), Some((0, b"v".to_vec())));
}

#[test]
fn ports_are_free_and_never_given_twice() {
    let ports: Vec<u16> = (0..200).map(|_| free_port()).collect();
    let distinct: std::collections::HashSet<_> = ports.iter().collect();
    assert_eq!(distinct.len(), ports.len());
    std::net::TcpListener::bind(("127.0.0.1", ports[0])).unwrap();
}

#[test]
fn scripted_server_sends_in_pieces_and_breaks_off() {
    let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    let server = TcpServer::builder()
        .reply([send(head), send("3\r\nabc\r\n"), delay_ms(120), send("1\r\nd\r\n0\r\n\r\n")])
        .reply([send(head), send("3\r\nab"), Step::Reset])
        .reply([send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort"), Step::Close])
        .start();

    let mut connection = Connection::open(server.port());
    let whole = connection.send("POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\nhi").read();
    assert_eq!((whole.body.as_slice(), whole.complete), (b"abcd".as_slice(), true));
    let last = whole.pieces.last().unwrap();
    assert!(last.at >= Duration::from_millis(100), "{:?}", whole.pieces);

    // The connection was kept; the next answer breaks off.
    let cut = connection.send("GET / HTTP/1.1\r\n\r\n").try_read(false);
    assert!(cut.is_err() || !cut.unwrap().complete);

    let short = http::get(server.port(), "/");
    assert_eq!((short.body.as_slice(), short.complete), (b"short".as_slice(), false));
    assert_eq!(server.connections(), 2);
    assert_eq!(server.requests().len(), 3);
    assert_eq!(server.requests()[0].split_at(6).0, b"POST /");
}

#[test]
fn scripted_server_reads_scgi_and_lines_and_refuses_after_its_last_connection() {
    let scgi = TcpServer::answering([send("Status: 200\r\n\r\nx"), Step::Close]);
    let nginx = Nginx::builder()
        .server(&format!("location / {{ scgi_pass 127.0.0.1:{}; scgi_param A b; }}", scgi.port()))
        .root_location(false)
        .start();
    assert_eq!(http::get(nginx.port(), "/").body, b"x");
    assert!(http::find(&scgi.requests()[0], b"A\0b\0").is_some());
    nginx.check();

    let lines = TcpServer::builder()
        .until(RequestEnd::Line)
        .max_connections(1)
        .reply([send("END\r\n")])
        .start();
    let mut connection = Connection::open(lines.port());
    connection.send("get a\r\nget b\r\n").shutdown_write();
    assert_eq!(connection.read_to_end(), b"END\r\nEND\r\n");
    assert!(std::net::TcpStream::connect(("127.0.0.1", lines.port())).is_err());
}

#[test]
fn http_client_reads_pipelined_head_and_chunked_answers() {
    let nginx = Nginx::builder()
        .server("location /a { return 200 aaa; }\n location /b { return 204; }")
        .start();
    let mut connection = Connection::open(nginx.port());
    connection.send(
        "HEAD /a HTTP/1.1\r\nHost: a\r\n\r\nGET /b HTTP/1.1\r\nHost: a\r\n\r\n\
         GET /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
    );
    let head = connection.read_head();
    assert_eq!((head.header("content-length").as_deref(), head.body.len()), (Some("3"), 0));
    assert_eq!(connection.read().status, 204);
    assert_eq!(connection.read().text(), "aaa");
    assert!(connection.is_closed(Duration::from_secs(5)));

    assert!(http::parse(b"HTTP/1.1 200 OK\r\nConte", false, true).unwrap().is_none());
    assert!(http::parse(b"nonsense\r\n\r\n", false, false).is_err());
    assert!(http::decode_chunks(b"zz\r\n").is_err());
    assert!(!http::decode_chunks(b"2\r\nab\r\n0\r\n").unwrap().complete);
}

#[test]
fn perl_runs_and_fails_aloud() {
    let out = tools::perl("print \"$ENV{NAME}-$]\";", &[("NAME", "value")]);
    assert!(out.starts_with(b"value-5."));
    assert!(tools::try_perl("my $x = undef; print \"$x\";", tools::NO_ENV).is_err());
    assert!(tools::try_perl("no such syntax", tools::NO_ENV).is_err());
    let error = tools::find_tool("no-such-tool", "no-such-package").unwrap_err();
    assert!(error.contains("apt-get install no-such-package"), "{error}");
}
