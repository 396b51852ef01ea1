//! HTTP/2.

use std::io::{Read, Write};
use std::net::Ipv4Addr;
use std::process::Command;
use std::time::Duration;

use crate::proxy::{self, CHUNKED_HEAD, LAST_CHUNK, chunk, head_with_length};
use crate::support::http::connect;
use crate::support::nginx::{self, Nginx};
use crate::support::ports::free_port;
use crate::support::tcp_server::{Step, TcpServer, delay_ms, send};
use crate::support::tools::require_tool;

struct Http2 {
    nginx: Nginx,
    port: u16,
}

impl Http2 {
    fn start(backend: &TcpServer, directives: &str) -> Http2 {
        let port = free_port();
        let listen = match nginx::version().unwrap() >= [1, 25, 1] {
            true => format!("listen 127.0.0.1:{port}; http2 on;"),
            false => format!("listen 127.0.0.1:{port} http2;"),
        };
        let nginx = Nginx::builder()
            .http(&format!(
                "server {{
                     {listen}
                     jsonp_callback callback;
                     default_type   application/json;
                     {directives}
                     location /return {{ return 200 '{{\"a\":1}}'; }}
                     location /file/ {{ alias html/; }}
                     location / {{
                         proxy_http_version 1.1;
                         proxy_set_header   Connection '';
                         proxy_pass         http://127.0.0.1:{};
                     }}
                 }}",
                backend.port()
            ))
            .file("html/a.json", "{\"a\":1}")
            .start();
        Http2 { nginx, port }
    }

    /// Whether curl was content, the headers, and the body.
    fn curl(&self, arguments: &[&str], target: &str) -> (bool, String, String) {
        let curl = require_tool("curl", "curl");
        let headers = self.nginx.prefix().join("headers");
        let output = Command::new(curl)
            .args(["--http2-prior-knowledge", "-sg", "--noproxy", "*", "-m", "60", "-D"])
            .arg(&headers)
            .args(arguments)
            .arg(format!("http://127.0.0.1:{}{target}", self.port))
            .output()
            .unwrap();
        let headers = std::fs::read_to_string(headers).unwrap();
        let body = String::from_utf8_lossy(&output.stdout).into_owned();
        (output.status.success(), headers, body)
    }
}

fn lines(headers: &str) -> Vec<&str> {
    headers.lines().map(str::trim_end).filter(|line| !line.starts_with("date:")).collect()
}

#[test]
fn get_and_head() {
    let backend =
        TcpServer::builder().start_with(|_, request| match request.starts_with(b"HEAD") {
            true => vec![send(head_with_length(7))],
            false => vec![proxy::answer("{\"a\":1}")],
        });
    for (directives, has_length) in [("", false), ("jsonp_callback_escape off;", true)] {
        let server = Http2::start(&backend, directives);
        for path in ["/return", "/file/a.json", "/proxied"] {
            let (success, headers, body) = server.curl(&[], &format!("{path}?callback=cb"));
            assert!(success && headers.starts_with("HTTP/2 200"), "{headers}");
            assert_eq!(body, "cb({\"a\":1});", "{path}");
            let got = lines(&headers);
            assert!(got.contains(&"content-length: 12"), "{path} {headers}");
            assert!(got.contains(&"content-type: text/javascript"), "{path} {headers}");

            let (success, headers, body) = server.curl(&["-I"], &format!("{path}?callback=cb"));
            assert!(success && !body.contains("cb("), "{body}");
            let length = |line: &&str| !line.starts_with("content-length:");
            let expected: Vec<_> =
                got.iter().copied().filter(|line| has_length || length(line)).collect();
            assert_eq!(lines(&headers), expected, "{path}");

            let (_, headers, body) = server.curl(&[], path);
            assert_eq!(body, "{\"a\":1}");
            assert!(lines(&headers).contains(&"content-length: 7"), "{path} {headers}");
            assert!(lines(&headers).contains(&"content-type: application/json"), "{path}");
        }
        server.nginx.check();
    }
}

/// A frame (RFC 9113, 4.1).
fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;

/// Asks for all targets at once, on one connection, and gives the bodies.
fn at_once(port: u16, targets: &[String]) -> Vec<String> {
    let mut bytes = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
    bytes.extend(frame(SETTINGS, 0, 0, &[]));
    for (number, target) in (0..).zip(targets) {
        // HPACK's static table: `:method: GET`, `:scheme: http`; `:authority` and `:path` are literals.
        let mut block = vec![0x82, 0x86, 0x01, 9];
        block.extend_from_slice(b"localhost");
        block.extend([0x04, u8::try_from(target.len()).unwrap()]);
        block.extend_from_slice(target.as_bytes());
        bytes.extend(frame(HEADERS, END_STREAM | END_HEADERS, 2 * number + 1, &block));
    }
    let mut stream = connect(Ipv4Addr::LOCALHOST.into(), port, None).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(10) * nginx::slowness())).unwrap();
    stream.write_all(&bytes).unwrap();

    let mut bodies = vec![Vec::new(); targets.len()];
    let mut open = targets.len();
    while open > 0 {
        let mut head = [0; 9];
        stream.read_exact(&mut head).unwrap();
        let [a, b, c, kind, flags, id @ ..] = head;
        let mut payload = vec![0; u32::from_be_bytes([0, a, b, c]) as usize];
        stream.read_exact(&mut payload).unwrap();
        let number = u32::from_be_bytes(id) / 2;
        match kind {
            DATA => bodies[number as usize].extend(payload),
            SETTINGS if flags == 0 => stream.write_all(&frame(SETTINGS, 1, 0, &[])).unwrap(),
            _ => assert_ne!(kind, RST_STREAM, "stream {number}: {payload:?}"),
        }
        if matches!(kind, DATA | HEADERS) && flags & END_STREAM != 0 {
            open -= 1;
        }
    }
    bodies.into_iter().map(|body| String::from_utf8(body).unwrap()).collect()
}

#[test]
fn many_streams_of_one_connection() {
    let backend = TcpServer::answering([
        send([CHUNKED_HEAD.as_bytes(), &chunk("{\"a\":\"\u{2028}")].concat()),
        delay_ms(50),
        send(chunk("\"}")),
        send(LAST_CHUNK),
    ]);
    for directives in ["", "proxy_buffering off;", "gzip on; proxy_buffering off;"] {
        let server = Http2::start(&backend, directives);
        let targets: Vec<_> = (0..20)
            .map(|number| match number % 4 {
                3 => "/return?callback=a.b".to_owned(),
                2 => format!("/return?callback=cb{number}"),
                _ => format!("/p?callback=cb{number}"),
            })
            .collect();
        for (number, body) in at_once(server.port, &targets).into_iter().enumerate() {
            let expected = match number % 4 {
                3 => "{\"a\":1}".to_owned(),
                2 => format!("cb{number}({{\"a\":1}});"),
                _ => format!("cb{number}({{\"a\":\"\\u2028\"}});"),
            };
            assert_eq!(body, expected, "{directives} {}", targets[number]);
        }
        server.nginx.check();
    }
}

#[test]
fn an_upstream_that_breaks_off() {
    for start in [
        send([&*head_with_length(20), "{\"a\":1"].concat()),
        send(head_with_length(20)),
        send([CHUNKED_HEAD.as_bytes(), &chunk("{\"a\":1")].concat()),
    ] {
        let backend = TcpServer::answering([start, delay_ms(50), Step::Close]);
        for directives in
            ["", "proxy_buffering off;", "jsonp_callback_escape off; proxy_buffering off;"]
        {
            let server = Http2::start(&backend, directives);
            let (success, headers, body) = server.curl(&[], "/?callback=cb");
            assert!(!success && !body.contains(");"), "{directives} {headers} {body}");
            server.nginx.check();
        }
    }
}

#[test]
fn a_large_answer() {
    let text = format!("[\"{}\"]", "0123456789\u{2028}".repeat(100_000));
    let backend = TcpServer::answering([proxy::answer(&text)]);
    for directives in ["", "proxy_buffering off;"] {
        let server = Http2::start(&backend, directives);
        let (success, headers, body) = server.curl(&["--limit-rate", "20M"], "/?callback=cb");
        assert!(success, "{headers}");
        assert!(body == format!("cb({});", text.replace('\u{2028}', "\\u2028")));
        server.nginx.check();
    }
}
