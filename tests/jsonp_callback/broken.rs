//! Upstreams that break off: a script that was cut must not run.

use std::time::Duration;

use crate::proxy::{self, CHUNKED_HEAD, LAST_CHUNK, WAYS, chunk, head_with_length};
use crate::support::http::{Connection, Framing, find, get};
use crate::support::tcp_server::{Step, TcpServer, delay_ms, send};

/// The ways to end before the answer does.
fn breaks() -> Vec<(&'static str, Vec<Step>)> {
    let with_length = |body: &str| send([&*head_with_length(20), body].concat());
    let chunked = |body: &[u8]| send([CHUNKED_HEAD.as_bytes(), body].concat());
    let cases = [
        ("too short", with_length("{\"a\":1")),
        ("no body at all", with_length("")),
        (
            "nothing but what may begin a separator",
            send([head_with_length(20).as_bytes(), b"\xe2\x80"].concat()),
        ),
        ("within a chunk", chunked(b"7\r\n{\"a\":1")),
        ("between two chunks", chunked(&chunk("{\"a\":1"))),
        ("before the first chunk", chunked(b"")),
        ("before the end of the last chunk", chunked(&[&*chunk("{\"a\":1}"), b"0\r\n"].concat())),
    ];
    // A reset may overtake what was sent just before.
    let ends = [("closed", Step::Close), ("reset", Step::Reset)];
    cases
        .into_iter()
        .flat_map(|(name, start)| {
            ends.clone().map(|(_, end)| (name, vec![start.clone(), delay_ms(50), end]))
        })
        .collect()
}

fn request(connection: &mut Connection, target: &str) -> (Vec<u8>, bool) {
    connection.send(format!("GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n"));
    // A kept connection: only nginx's own closing ends this.
    let bytes = connection.read_to_end();
    let is_complete = crate::support::http::parse(&bytes, false, true)
        .ok()
        .flatten()
        .is_some_and(|(response, _)| response.complete && response.framing != Framing::Close);
    (bytes, is_complete)
}

#[test]
fn no_end_of_a_script_after_half_of_it() {
    for (name, steps) in breaks() {
        let backend = TcpServer::answering(steps);
        for way in WAYS {
            let nginx = proxy::builder(&backend, way).start();
            let (bytes, is_complete) =
                request(&mut Connection::open(nginx.port()), "/?callback=cb");
            let text = String::from_utf8_lossy(&bytes).into_owned();
            assert!(find(&bytes, b");").is_none(), "{name}, {way}: {text}");
            assert!(text.starts_with("HTTP/1.1 200"), "{name}, {way}: {text}");
            // Without a callback, the connection ends the same way.
            let (bare, bare_is_complete) = request(&mut Connection::open(nginx.port()), "/");
            let bare = String::from_utf8_lossy(&bare).into_owned();
            assert!(bare.starts_with("HTTP/1.1 200"), "{name}, {way}: {bare}");
            assert_eq!(
                (is_complete, bare_is_complete),
                (false, false),
                "{name}, {way}: {text} {bare}"
            );

            // HTTP/1.0 has no other end than that of the connection.
            let mut connection = Connection::open(nginx.port());
            connection.send("GET /?callback=cb HTTP/1.0\r\n\r\n");
            let bytes = connection.read_to_end();
            assert!(find(&bytes, b");").is_none(), "HTTP/1.0, {name}, {way}");
            nginx.check();
        }
    }
}

#[test]
fn nothing_is_taken_from_a_cache_that_broke_off() {
    for (name, steps) in breaks() {
        for escape in ["on", "off"] {
            let backend = TcpServer::builder()
                .reply(steps.clone())
                .reply([proxy::answer("{\"a\":1}")])
                .start();
            let nginx = proxy::builder(
                &backend,
                &format!(
                    "proxy_cache z; proxy_cache_valid 1h; jsonp_callback_escape {escape};
                          proxy_cache_key $uri; add_header X-Cache $upstream_cache_status;"
                ),
            )
            .http("proxy_cache_path cache keys_zone=z:1m;")
            .start();
            let (bytes, is_complete) =
                request(&mut Connection::open(nginx.port()), "/?callback=cb");
            let text = String::from_utf8_lossy(&bytes).into_owned();
            assert!(find(&bytes, b");").is_none() && !is_complete, "{name}, {escape}: {text}");

            for (callback, status) in [("a", "MISS"), ("b", "HIT")] {
                let answer = get(nginx.port(), &format!("/?callback={callback}"));
                assert_eq!(answer.text(), format!("{callback}({{\"a\":1}});"), "{name}, {escape}");
                assert_eq!(answer.header("X-Cache").as_deref(), Some(status), "{name}, {escape}");
            }
            assert_eq!(backend.requests().len(), 2);
            nginx.check();
        }
    }
}

#[test]
fn an_upstream_that_says_nothing_any_more() {
    for way in WAYS {
        for head in [head_with_length(20), CHUNKED_HEAD.to_owned() + "14\r\n"] {
            let backend = TcpServer::answering([send(head + "{\"a\":1"), Step::Hold]);
            let nginx =
                proxy::builder(&backend, &format!("proxy_read_timeout 300ms; {way}")).start();
            let (bytes, is_complete) =
                request(&mut Connection::open(nginx.port()), "/?callback=cb");
            assert!(find(&bytes, b");").is_none() && !is_complete, "{way}");
            assert!(bytes.starts_with(b"HTTP/1.1 200"), "{way}");
            nginx.check();
        }
    }
}

#[test]
fn a_client_that_leaves() {
    let backend = TcpServer::answering([
        send([CHUNKED_HEAD.as_bytes(), &chunk("{\"a\":")].concat()),
        delay_ms(200),
        send(chunk("1}")),
        delay_ms(200),
        send(LAST_CHUNK),
    ]);
    for way in WAYS {
        let nginx = proxy::builder(&backend, way).start();
        for wait in [0, 100, 300] {
            let mut connection = Connection::open(nginx.port());
            connection.send("GET /?callback=cb HTTP/1.1\r\nHost: localhost\r\n\r\n");
            std::thread::sleep(Duration::from_millis(wait));
        }
        assert_eq!(get(nginx.port(), "/?callback=cb").text(), "cb({\"a\":1});");
        nginx.check();
    }
}

#[test]
fn an_upstream_that_sends_too_much() {
    let backend = TcpServer::answering([
        send([&*head_with_length(7), "{\"a\":1}, and more"].concat()),
        Step::Close,
    ]);
    for way in WAYS {
        let nginx = proxy::builder(&backend, way).start();
        let answer = get(nginx.port(), "/?callback=cb");
        assert_eq!(answer.text(), "cb({\"a\":1});", "{way}");
        assert!(answer.complete);
        nginx.check();
    }
}
