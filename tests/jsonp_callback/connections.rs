//! More than one request on a connection, and more than one client of an answer.

use crate::proxy::{self, CHUNKED_HEAD, LAST_CHUNK, chunk};
use crate::support::http::{Connection, Framing, get};
use crate::support::nginx::Nginx;
use crate::support::tcp_server::{TcpServer, delay_ms, send};

const TEXT: &str = "{\"n\":\"\u{17e}lu\u{165}ou\u{10d}k\u{fd}\"}";

/// A server that says its length, one that sends chunks, and nginx itself.
fn sources(backend: &TcpServer) -> Nginx {
    Nginx::builder()
        .server(&format!(
            "jsonp_callback     callback;
             default_type       application/json;
             proxy_http_version 1.1;
             proxy_set_header   Connection '';
             location /return {{ return 200 '{TEXT}'; }}
             location /length {{ proxy_pass http://127.0.0.1:{0}; }}
             location /chunks {{ proxy_pass http://127.0.0.1:{0}; }}
             location /pieces {{ proxy_buffering off; proxy_pass http://127.0.0.1:{0}; }}
             location /gone {{ return 404 '{{}}'; }}",
            backend.port()
        ))
        .root_location(false)
        .start()
}

fn backend() -> TcpServer {
    TcpServer::builder().start_with(|_, request| {
        if request.starts_with(b"GET /length") || request.starts_with(b"HEAD /length") {
            return vec![proxy::answer(TEXT)];
        }
        let (first, second) = TEXT.as_bytes().split_at(7);
        vec![
            send(CHUNKED_HEAD),
            send(chunk(first)),
            delay_ms(20),
            send(chunk(second)),
            send(LAST_CHUNK),
        ]
    })
}

fn ask(connection: &mut Connection, target: &str) -> (String, Framing) {
    let answer =
        connection.send(format!("GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n")).read();
    assert!(answer.complete);
    (answer.text(), answer.framing)
}

#[test]
fn j14_the_next_request_on_a_kept_connection() {
    let backend = backend();
    let nginx = sources(&backend);
    let mut connection = Connection::open(nginx.port());
    for _ in 0..3 {
        for (path, length) in
            [("/return", Some(26)), ("/length", Some(26)), ("/chunks", None), ("/pieces", None)]
        {
            let (text, framing) = ask(&mut connection, &format!("{path}?callback=cb"));
            assert_eq!(text, format!("cb({TEXT});"), "{path}");
            assert_eq!(framing, length.map_or(Framing::Chunked, Framing::Length), "{path}");
            let (text, _) = ask(&mut connection, path);
            assert_eq!(text, TEXT);
            assert_eq!(ask(&mut connection, "/gone?callback=cb").0, "{}");
        }
    }
    nginx.check();
}

#[test]
fn pipelined_requests() {
    let backend = backend();
    let nginx = sources(&backend);
    let targets = [
        "GET /return?callback=a",
        "GET /chunks?callback=b",
        "HEAD /return?callback=c",
        "GET /return",
        "GET /pieces?callback=d",
        "GET /gone?callback=e",
        "HEAD /length?callback=f",
        "GET /length?callback=g",
    ];
    let requests: String = targets
        .iter()
        .map(|target| format!("{target} HTTP/1.1\r\nHost: localhost\r\n\r\n"))
        .collect();
    let mut connection = Connection::open(nginx.port());
    connection.send(requests);
    let wrapped = |name: &str| format!("{name}({TEXT});");
    for (target, expected) in targets.iter().zip([
        wrapped("a"),
        wrapped("b"),
        String::new(),
        TEXT.into(),
        wrapped("d"),
        "{}".into(),
        String::new(),
        wrapped("g"),
    ]) {
        let answer = connection.try_read(target.starts_with("HEAD")).unwrap();
        assert_eq!(answer.text(), expected, "{target}");
        assert!(answer.complete, "{target}");
    }
    nginx.check();
}

#[test]
fn j28_one_stored_answer_for_ten_callbacks() {
    let backend = TcpServer::answering([proxy::answer("{\"a\":1}")]);
    let nginx = Nginx::builder()
        .http("proxy_cache_path cache keys_zone=z:1m;")
        .server(&format!(
            "location / {{
                 jsonp_callback    callback jsonp;
                 proxy_cache       z;
                 proxy_cache_key   \"$host$uri?$jsonp_args\";
                 proxy_cache_valid 1h;
                 proxy_pass        http://127.0.0.1:{}$uri?$jsonp_args;
             }}",
            backend.port()
        ))
        .root_location(false)
        .start();
    for number in 0..10 {
        let name = if number % 2 == 0 { "callback" } else { "jsonp" };
        let target = format!("/j?id=1&{name}=cb{number}&x=%20y&_={number}");
        let answer = get(nginx.port(), &target);
        assert_eq!(answer.text(), format!("cb{number}({{\"a\":1}});"));
        assert_eq!(answer.framing, Framing::Length(answer.body.len()));
    }
    assert_eq!(get(nginx.port(), "/j?id=1&x=%20y").text(), "{\"a\":1}");
    assert_eq!(get(nginx.port(), "/j?id=1&callback=!&x=%20y").text(), "{\"a\":1}");
    let requests = backend.requests();
    assert_eq!(requests.len(), 1);
    assert!(requests[0].starts_with(b"GET /j?id=1&x=%20y HTTP/1."), "{:?}", requests[0]);
    nginx.check();
}

#[test]
fn f11_requests_without_a_version() {
    let backend = backend();
    let nginx = sources(&backend);
    for number in 0..200 {
        let path = ["/return", "/length", "/chunks"][number % 3];
        let end = ["\r\n", "\r\n\r\n"][number % 2];
        let mut connection = Connection::open(nginx.port());
        connection.send(format!("GET {path}?callback=cb{end}"));
        assert_eq!(connection.read_to_end(), format!("cb({TEXT});").as_bytes(), "{path}");
    }
    nginx.check();
}
