//! What is said of an answer's length is true, whatever it comes from.

use crate::proxy::{self, ESCAPED, SEPARATOR};
use crate::support::http::{Connection, Framing, Response, get, request};
use crate::support::memcached::Memcached;
use crate::support::nginx::Nginx;
use crate::support::tcp_server::TcpServer;

const SIZES: [usize; 12] = [1, 2, 7, 1000, 4095, 4096, 4097, 8192, 32767, 32768, 65536, 900 * 1024];

/// Not the same at any two places near each other.
fn body(size: usize) -> Vec<u8> {
    (0..size).map(|at| b'a' + (at % 23) as u8).collect()
}

/// nginx that has each size from memcached, from a file, from a cache and from an upstream, at `/<source>/<size>`.
fn everything(memcached: &Memcached, backend: &TcpServer, directives: &str) -> Nginx {
    let mut builder = Nginx::builder()
        .http("proxy_cache_path cache keys_zone=z:1m;")
        .server(&format!(
            "jsonp_callback callback;
             default_type   application/json;
             {directives}
             location /memcached/ {{
                 set $memcached_key $uri;
                 memcached_pass 127.0.0.1:{};
             }}
             location /file/ {{ alias html/; }}
             location /proxy/ {{ proxy_pass http://127.0.0.1:{1}; }}
             location /unbuffered/ {{ proxy_buffering off; proxy_pass http://127.0.0.1:{1}; }}
             location /cache/ {{
                 proxy_cache       z;
                 proxy_cache_key   $uri;
                 proxy_cache_valid 1h;
                 proxy_pass        http://127.0.0.1:{1};
             }}",
            memcached.port(),
            backend.port()
        ))
        .root_location(false);
    for size in SIZES {
        builder = builder.file(&format!("html/{size}"), body(size));
        memcached.set(format!("/memcached/{size}"), 0, body(size));
    }
    builder.start()
}

fn backend() -> TcpServer {
    TcpServer::builder().start_with(|_, request| {
        let request = String::from_utf8_lossy(request).into_owned();
        let path = request.split(['?', ' ']).nth(1).unwrap_or_default();
        let size = path.rsplit('/').next().unwrap_or_default().parse().unwrap();
        vec![proxy::answer(body(size))]
    })
}

const SOURCES: [&str; 5] = ["memcached", "file", "proxy", "unbuffered", "cache"];

fn is_wrapped(answer: &Response, size: usize) -> bool {
    answer.complete && answer.body == [b"cb(", &*body(size), b");"].concat()
}

#[test]
fn the_length_is_that_of_the_wrapped_answer_or_none_is_said() {
    let (memcached, backend) = (Memcached::start(), backend());
    let nginx = everything(&memcached, &backend, "");
    for source in SOURCES {
        for size in SIZES {
            let answer = get(nginx.port(), &format!("/{source}/{size}?callback=cb"));
            assert!(is_wrapped(&answer, size), "{source} {size}");
            // What is there as a whole has its length said.
            if size <= 1000 || size < 4096 && ["file", "cache"].contains(&source) {
                assert_eq!(answer.framing, Framing::Length(size + 5), "{source} {size}");
            }
            match answer.framing {
                Framing::Length(length) => assert_eq!(length, size + 5),
                framing => assert_eq!(framing, Framing::Chunked, "{source} {size}"),
            }
        }
    }
    nginx.check();
}

#[test]
fn without_escaping_it_is_always_said() {
    let (memcached, backend) = (Memcached::start(), backend());
    let nginx = everything(&memcached, &backend, "jsonp_callback_escape off;");
    for source in SOURCES {
        for size in SIZES {
            let target = format!("/{source}/{size}?callback=cb");
            let answer = get(nginx.port(), &target);
            assert!(is_wrapped(&answer, size), "{source} {size}");
            assert_eq!(answer.framing, Framing::Length(size + 5), "{source} {size}");
            assert_eq!(answer.header("Transfer-Encoding"), None, "{source} {size}");
        }
    }
    nginx.check();
}

#[test]
fn a_memcached_hit_of_any_size_that_fits_a_buffer_has_its_length() {
    let memcached = Memcached::start();
    memcached.set("a", 0, [b"\"", SEPARATOR, b"\""].concat());
    memcached.set("b", 0, "{\"status\":\"success\", \"count\":1000}");
    let nginx = Nginx::builder()
        .server(&format!(
            "location / {{
                 default_type   text/javascript;
                 jsonp_callback callback;
                 set $memcached_key $arg_key;
                 memcached_pass 127.0.0.1:{};
             }}",
            memcached.port()
        ))
        .root_location(false)
        .start();
    for _ in 0..3 {
        let answer = get(nginx.port(), "/?key=a&callback=cb");
        assert_eq!(answer.body, [b"cb(\"", ESCAPED, b"\");"].concat());
        assert_eq!(answer.framing, Framing::Length(13));
        let answer = get(nginx.port(), "/?key=b&callback=cb_func_hoge");
        assert_eq!(answer.text(), "cb_func_hoge({\"status\":\"success\", \"count\":1000});");
        assert_eq!(answer.framing, Framing::Length(49));
        assert_eq!(answer.header("Transfer-Encoding"), None);
    }
    nginx.check();
}

#[test]
fn head_says_what_get_says_but_for_a_length_that_the_body_tells() {
    let (memcached, backend) = (Memcached::start(), backend());
    for (directives, same_length) in
        [("", false), ("jsonp_callback_escape off;", true), ("jsonp_callback_guard on;", false)]
    {
        let nginx = everything(&memcached, &backend, directives);
        for source in SOURCES {
            let target = format!("/{source}/7?callback=cb");
            let get = get(nginx.port(), &target);
            let head = request(nginx.port(), "HEAD", &target, &[]);
            assert_eq!(head.status, 200);
            let headers = |answer: &Response| -> Vec<_> {
                let own = |name: &str| name != "Date" && (same_length || name != "Content-Length");
                answer
                    .headers
                    .iter()
                    .filter(|(name, _)| own(name) && name != "Transfer-Encoding")
                    .cloned()
                    .collect()
            };
            assert_eq!(headers(&head), headers(&get), "{source}, {directives}");
            // Never that of the body as it was.
            let said = head.header("Content-Length");
            assert!(said.is_none() || said == get.header("Content-Length"), "{source} {said:?}");
        }
        nginx.check();
    }
}

#[test]
fn http_1_0_gets_no_chunks() {
    let (memcached, backend) = (Memcached::start(), backend());
    let nginx = everything(&memcached, &backend, "");
    for source in SOURCES {
        for size in SIZES {
            let mut connection = Connection::open(nginx.port());
            connection.send(format!("GET /{source}/{size}?callback=cb HTTP/1.0\r\n\r\n"));
            let answer = connection.read();
            assert!(is_wrapped(&answer, size), "{source} {size}");
            assert_eq!(answer.header("Transfer-Encoding"), None);
            // Kept only where the end can be told.
            let mut connection = Connection::open(nginx.port());
            connection.send(format!(
                "GET /{source}/{size}?callback=cb HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"
            ));
            let answer = connection.read();
            assert!(is_wrapped(&answer, size), "{source} {size}");
            let is_kept = answer.header("Connection").as_deref() == Some("keep-alive");
            assert_eq!(is_kept, answer.framing != Framing::Close, "{source} {size}");
        }
    }
    nginx.check();
}

#[test]
fn a_wrapped_answer_is_not_sent_again_to_a_client_that_has_it() {
    let nginx = Nginx::builder()
        .server(
            "default_type application/json; jsonp_callback callback;
             location /file/ { alias html/; }",
        )
        .server("location /raw/ { alias html/; jsonp_callback_escape off; }")
        .file("html/a.json", "{\"a\":1}")
        .start();
    for path in ["/file/a.json", "/raw/a.json"] {
        let bare = get(nginx.port(), path);
        let strong = bare.header("ETag").unwrap();
        let date = bare.header("Last-Modified").unwrap();
        let target = format!("{path}?callback=cb");
        let weak = get(nginx.port(), &target).header("ETag").unwrap();
        assert_eq!(weak, format!("W/{strong}"));

        for condition in
            [("If-None-Match", &weak), ("If-None-Match", &strong), ("If-Modified-Since", &date)]
        {
            let (name, value) = condition;
            for method in ["GET", "HEAD"] {
                let answer = request(nginx.port(), method, &target, &[(name, value.as_str())]);
                assert_eq!(answer.status, 304, "{method} {path} {condition:?}");
                assert_eq!(answer.header("Content-Length"), None);
            }
        }
        for condition in [("If-Match", "\"other\""), ("If-Match", weak.as_str())] {
            // RFC 9110, 13.1.1: no weak tag fits here.
            assert_eq!(request(nginx.port(), "GET", &target, &[condition]).status, 412);
        }
        for condition in [("If-None-Match", "\"other\""), ("Range", "bytes=0-1")] {
            let answer = request(nginx.port(), "GET", &target, &[condition]);
            assert_eq!((answer.status, &*answer.text()), (200, "cb({\"a\":1});"), "{condition:?}");
            assert_eq!(answer.header("ETag"), Some(weak.clone()));
        }
    }
    nginx.check();
}
