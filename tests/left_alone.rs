//! What is not wrapped is, byte for byte, what nginx answers without the module.

// The helpers are no `#[test]` functions: see clippy.toml.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used
)]

mod support;

use std::fs;
use std::path::Path;
use std::process::Command;

use support::http::Connection;
use support::nginx::{self, Nginx};
use support::tcp_server::{RequestEnd, Step, TcpServer, send};
use support::tools::require_tool;

/// A file in gzip's format whose only block is stored as it is (RFC 1952, RFC 1951 3.2.4).
fn gzip(text: &[u8]) -> Vec<u8> {
    let len = u16::try_from(text.len()).unwrap();
    let mut file = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 1];
    file.extend(len.to_le_bytes());
    file.extend((!len).to_le_bytes());
    file.extend(text);
    file.extend(crc32fast::hash(text).to_le_bytes());
    file.extend(u32::from(len).to_le_bytes());
    file
}

/// Answers by the last part of the path.
fn backend() -> TcpServer {
    TcpServer::builder().until(RequestEnd::Message).start_with(|_, request| {
        let request = String::from_utf8_lossy(request).into_owned();
        let target = request.split(' ').nth(1).unwrap_or_default();
        let name = target.split('?').next().unwrap_or_default().rsplit('/').next().unwrap_or_default();
        let json = "Content-Type: application/json\r\n";
        let plain = |status: &str, headers: &str, body: &[u8]| {
            let mut answer = format!(
                "HTTP/1.1 {status}\r\n{headers}Content-Length: {}\r\n\r\n",
                body.len()
            )
            .into_bytes();
            if !request.starts_with("HEAD ") {
                answer.extend(body);
            }
            vec![send(answer), Step::Close]
        };
        match name {
            "chunked" if !request.starts_with("HEAD ") => vec![
                send(format!("HTTP/1.1 200 OK\r\n{json}Transfer-Encoding: chunked\r\n\r\n")),
                send("4\r\n{\"a\"\r\n3\r\n:1}\r\n0\r\n\r\n"),
                Step::Close,
            ],
            "tagged" => plain(
                "200 OK",
                &format!("{json}ETag: \"t\"\r\nLast-Modified: Mon, 30 Nov 2026 00:00:00 GMT\r\nAccept-Ranges: bytes\r\n"),
                b"{\"a\":1}",
            ),
            "coded" => {
                plain("200 OK", &format!("{json}Content-Encoding: gzip\r\n"), &gzip(b"{\"a\":1}"))
            }
            "charset" => plain(
                "200 OK",
                "Content-Type: application/json; charset=utf-8\r\n",
                "{\"a\":\"\u{e9}\u{2028}\"}".as_bytes(),
            ),
            "created" => plain("201 Created", json, b"{\"a\":1}"),
            "gone" => plain("404 Not Found", json, b"{\"e\":1}"),
            "none" => vec![send("HTTP/1.1 204 No Content\r\n\r\n"), Step::Close],
            "html" => plain("200 OK", "Content-Type: text/html\r\n", b"<p>{}</p>"),
            "part" => plain(
                "206 Partial Content",
                &format!("{json}Content-Range: bytes 0-2/7\r\n"),
                b"{\"a",
            ),
            _ => plain("200 OK", json, b"{\"a\":1}"),
        }
    })
}

/// The configuration, with the module or without.
fn configuration(port: u16, backend: u16, root: &Path, with_module: bool, http2: bool) -> String {
    let (module, directives) = match nginx::module().unwrap() {
        Some(path) if with_module => (
            format!("load_module {};", path.display()),
            "jsonp_callback callback; jsonp_callback_guard on; jsonp_callback_status 200 201;",
        ),
        _ => (String::new(), ""),
    };
    let root = root.display();
    let paths: String = ["client_body", "proxy", "fastcgi", "scgi", "uwsgi"]
        .iter()
        .map(|name| format!("{name}_temp_path temp_{name};"))
        .collect();
    // From 1.25.1 on, `http2` is a directive, and can be had beside HTTP/1.
    let listen = match nginx::version().unwrap() >= [1, 25, 1] {
        true => format!("listen 127.0.0.1:{port}; http2 {}; ", if http2 { "on" } else { "off" }),
        false => format!("listen 127.0.0.1:{port}{};", if http2 { " http2" } else { "" }),
    };
    format!(
        "{module}
         events {{}}
         http {{
             {paths}
             access_log off;
             absolute_redirect off;
             proxy_cache_path cache keys_zone=cache:1m;
             types {{ application/json json; text/html html; }}
             default_type application/json;
             {directives}
             server {{
                 {listen}
                 location /file/   {{ alias {root}/; }}
                 location /sent/   {{ alias {root}/; sendfile on; tcp_nopush on; }}
                 location /packed/ {{ alias {root}/; gzip on; gzip_min_length 0; gzip_types *; gzip_vary on; }}
                 location /stored/ {{ alias {root}/; gzip_static on; gunzip on; }}
                 location /ssi/    {{ alias {root}/; ssi on; ssi_types *; }}
                 location /charset/ {{ alias {root}/; charset utf-8; charset_types *; }}
                 location /return  {{ return 200 '{{\"a\":1}}'; }}
                 location /error   {{ return 404 '{{\"e\":1}}'; }}
                 location /moved   {{ return 302 /file/a.json; }}
                 location /empty   {{ return 200 ''; }}
                 location /app/    {{ proxy_pass http://127.0.0.1:{backend}; proxy_http_version 1.1; }}
                 location /raw/    {{ proxy_pass http://127.0.0.1:{backend}; proxy_http_version 1.1; proxy_buffering off; }}
                 location /gunzip/ {{ proxy_pass http://127.0.0.1:{backend}; proxy_http_version 1.1; gunzip on; gzip_vary on; }}
                 location /cached/ {{ proxy_pass http://127.0.0.1:{backend}; proxy_http_version 1.1;
                                      proxy_cache cache; proxy_cache_valid any 1h; proxy_cache_key $uri; }}
             }}
         }}"
    )
}

/// The bytes of an answer without what is not the same twice.
fn without_date(answer: &[u8]) -> String {
    let text: String = answer.iter().map(|&byte| char::from(byte)).collect();
    text.split("\r\n")
        .filter(|line| !line.to_ascii_lowercase().starts_with("date:"))
        .collect::<Vec<_>>()
        .join("\r\n")
}

struct Pair {
    with: Nginx,
    without: Nginx,
    _backend: TcpServer,
    _root: tempfile::TempDir,
}

impl Pair {
    fn start(http2: bool) -> Self {
        let root = tempfile::tempdir().unwrap();
        for (name, text) in [
            ("a.json", &b"{\"a\":1}"[..]),
            ("a.html", b"<p>{}</p>"),
            ("empty.json", b""),
            ("a.json.gz", &gzip(b"{\"a\":1}")),
        ] {
            fs::write(root.path().join(name), text).unwrap();
        }
        let backend = backend();
        let [with, without] = [true, false].map(|with_module| {
            let builder = Nginx::builder();
            let port = builder.port();
            builder
                .raw(&configuration(port, backend.port(), root.path(), with_module, http2))
                .start()
        });
        Self { with, without, _backend: backend, _root: root }
    }

    /// Both answers to a request that asks for the connection to be closed.
    fn both(&self, request: &str) -> [String; 2] {
        [&self.without, &self.with].map(|nginx| {
            let mut connection = Connection::open(nginx.port());
            connection.send(request);
            without_date(&connection.read_to_end())
        })
    }
}

const LOCATIONS: [&str; 31] = [
    "/file/a.json",
    "/file/a.html",
    "/file/empty.json",
    "/file/none.json",
    "/sent/a.json",
    "/packed/a.json",
    "/stored/a.json",
    "/ssi/a.json",
    "/charset/a.json",
    "/return",
    "/error",
    "/moved",
    "/empty",
    "/app/json",
    "/app/chunked",
    "/app/tagged",
    "/app/coded",
    "/app/charset",
    "/app/created",
    "/app/gone",
    "/app/none",
    "/app/html",
    "/app/part",
    "/raw/json",
    "/raw/chunked",
    "/raw/tagged",
    "/gunzip/coded",
    "/gunzip/json",
    "/cached/json",
    "/cached/tagged",
    "/cached/coded",
];

/// Nothing that makes a call.
const QUERIES: [&str; 8] = [
    "",
    "?",
    "?a=1",
    "?callback",
    "?callback=",
    "?callback=a.b&x=1",
    "?callback=alert(1)//",
    "?x=callback=cb",
];

const HEADERS: [&str; 7] = [
    "",
    "Range: bytes=0-3\r\n",
    "Range: bytes=-2\r\n",
    "If-None-Match: \"t\", *\r\n",
    "If-Modified-Since: Mon, 30 Nov 2026 00:00:00 GMT\r\n",
    "Accept-Encoding: gzip\r\n",
    "Accept-Encoding: gzip\r\nRange: bytes=1-2\r\n",
];

#[test]
fn without_a_valid_callback() {
    let pair = Pair::start(false);
    for location in LOCATIONS {
        for query in QUERIES {
            for header in HEADERS {
                for line in ["GET @ HTTP/1.1", "HEAD @ HTTP/1.1", "GET @ HTTP/1.0"] {
                    let line = line.replace('@', &format!("{location}{query}"));
                    let request =
                        format!("{line}\r\nHost: localhost\r\nConnection: close\r\n{header}\r\n");
                    let [without, with] = pair.both(&request);
                    assert_eq!(with, without, "{request}");
                }
            }
        }
    }
    pair.with.check();
    pair.without.check();
}

#[test]
fn with_a_callback_but_not_to_be_wrapped() {
    let pair = Pair::start(false);
    let left = [
        "/file/a.html",
        "/file/empty.json",
        "/file/none.json",
        "/error",
        "/moved",
        "/empty",
        "/app/gone",
        "/app/none",
        "/app/html",
        "/app/part",
    ];
    let lines = left.iter().map(|location| format!("GET {location}?callback=cb"));
    let posts = LOCATIONS.iter().map(|location| format!("POST {location}?callback=cb"));
    for line in lines.chain(posts) {
        for header in HEADERS {
            let request = format!(
                "{line} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 0\r\n{header}\r\n"
            );
            let [without, with] = pair.both(&request);
            assert_eq!(with, without, "{request}");
        }
    }
    // The same does see what is wrapped.
    let [without, with] = pair.both("GET /return?callback=cb HTTP/1.0\r\n\r\n");
    assert!(without.ends_with("\r\n{\"a\":1}") && with.ends_with("&&cb({\"a\":1});"), "{with}");
    pair.with.check();
    pair.without.check();
}

#[test]
fn over_http_2() {
    let pair = Pair::start(true);
    let curl = require_tool("curl", "curl");
    for location in LOCATIONS {
        let [without, with] = [&pair.without, &pair.with].map(|nginx| {
            let url = format!("http://127.0.0.1:{}{location}?callback=a.b", nginx.port());
            let output = Command::new(&curl)
                .args(["--http2-prior-knowledge", "-sgi", "--noproxy", "*", "-m", "30", &url])
                .output()
                .unwrap();
            assert!(output.status.success(), "{output:?}");
            without_date(&output.stdout)
        });
        assert!(without.starts_with("HTTP/2 "), "{without}");
        assert_eq!(with, without, "{location}");
    }
    pair.with.check();
    pair.without.check();
}
