//! Answers that come in pieces.

use std::time::Duration;

use crate::proxy::{
    self, CHUNKED_HEAD, ESCAPED, LAST_CHUNK, SEPARATOR, WAYS, chunk, head_with_length,
};
use crate::support::http::{Connection, Framing, Response, find, get};
use crate::support::nginx::slowness;
use crate::support::tcp_server::{Step, TcpServer, delay_ms, send};

/// Less than the second between two pieces, and enough for a busy machine.
fn soon() -> Duration {
    Duration::from_millis(700) * slowness()
}

/// When all of `text` was there.
fn arrival(response: &Response, text: &str) -> Duration {
    let mut so_far = Vec::new();
    for piece in &response.pieces {
        so_far.extend_from_slice(&piece.bytes);
        if find(&so_far, text.as_bytes()).is_some() {
            return piece.at;
        }
    }
    panic!("`{text}` did not come: {}", String::from_utf8_lossy(&so_far));
}

/// Header, two seconds of nothing, and then a piece a second.
fn slow_steps(is_chunked: bool) -> Vec<Step> {
    let pieces = ["{\"one\":1,", "\"two\":2,", "\"three\":3}"];
    let mut steps = match is_chunked {
        true => vec![send(CHUNKED_HEAD), delay_ms(1000)],
        false => vec![send(head_with_length(pieces.concat().len()))],
    };
    for piece in pieces {
        steps.push(delay_ms(1000));
        steps.push(if is_chunked { send(chunk(piece)) } else { send(piece) });
    }
    if is_chunked {
        steps.push(send(LAST_CHUNK));
    }
    steps
}

#[test]
fn pieces_pass_as_they_come_and_the_header_with_the_first_at_the_latest() {
    std::thread::scope(|scope| {
        for is_chunked in [false, true] {
            for escape in ["on", "off"] {
                scope.spawn(move || {
                    let backend = TcpServer::answering(slow_steps(is_chunked));
                    let nginx = proxy::builder(
                        &backend,
                        &format!("proxy_buffering off; jsonp_callback_escape {escape};"),
                    )
                    .start();
                    let answer = get(nginx.port(), "/?callback=cb");
                    assert_eq!(answer.text(), "cb({\"one\":1,\"two\":2,\"three\":3});");

                    let first = Duration::from_secs(if is_chunked { 2 } else { 1 });
                    let second = Duration::from_secs(1);
                    for (text, due) in [
                        ("HTTP/1.1 200", first),
                        ("cb(", first),
                        ("\"one\":1", first),
                        ("\"two\":2", first + second),
                        ("\"three\":3", first + 2 * second),
                        (");", first + 2 * second),
                    ] {
                        let at = arrival(&answer, text);
                        let too_early = text != "HTTP/1.1 200" && at < due;
                        let way = format!("chunked: {is_chunked}, escape: {escape}");
                        assert!(!too_early && at < due + soon(), "{text} at {at:?}, {way}");
                    }
                    nginx.check();
                });
            }
        }
    });
}

#[test]
fn f06_the_first_bytes_do_not_wait_for_the_next_nor_the_end_for_a_timeout() {
    std::thread::scope(|scope| {
        for escape in ["on", "off"] {
            scope.spawn(move || {
                let backend = TcpServer::answering([
                    send([CHUNKED_HEAD.as_bytes(), &chunk("{\"a\":")].concat()),
                    delay_ms(1500),
                    send(chunk("1}")),
                    send(LAST_CHUNK),
                ]);
                let nginx = proxy::builder(
                    &backend,
                    &format!("proxy_buffering off; jsonp_callback_escape {escape};"),
                )
                .start();
                let mut connection = Connection::open(nginx.port());
                let answer =
                    connection.send("GET /?callback=cb HTTP/1.1\r\nHost: localhost\r\n\r\n").read();
                assert_eq!(answer.text(), "cb({\"a\":1});");
                assert!(arrival(&answer, "{\"a\":") < soon());
                let end = answer.pieces.last().unwrap().at;
                assert!(end < Duration::from_millis(1500) + soon(), "{end:?}");
                nginx.check();
            });
        }
    });
}

#[test]
fn the_header_does_not_wait_for_bytes_that_are_held_back() {
    // The first piece may begin a separator, so none of it is passed on.
    let backend = TcpServer::answering([
        send([head_with_length(4).as_bytes(), b"\xe2"].concat()),
        delay_ms(1500),
        send("\u{2028}".as_bytes()),
    ]);
    let nginx = proxy::builder(&backend, "proxy_buffering off;").start();
    let answer = get(nginx.port(), "/?callback=cb");
    assert_eq!(answer.body, b"cb(\xe2\\u2028);");
    assert!(arrival(&answer, "cb(") < soon());
    nginx.check();
}

#[test]
fn f03_pieces_of_one_byte() {
    let body = [b"[\"", SEPARATOR, b"\",\"\xe2\x80\xa9\",\"\xe2\x80\",\"\xe2\",1]"].concat();
    let escaped = [b"cb([\"", ESCAPED, b"\",\"\\u2029\",\"\xe2\x80\",\"\xe2\",1]);"].concat();
    let plain = [b"cb(", &*body, b");"].concat();

    let bytes = |head: String, framed: &dyn Fn(u8) -> Vec<u8>, end: &[u8]| {
        let mut steps = vec![send(head)];
        for &byte in &body {
            steps.extend([delay_ms(3), send(framed(byte))]);
        }
        steps.push(send(end));
        steps
    };
    let with_length = bytes(head_with_length(body.len()), &|byte| vec![byte], b"");
    let chunked = bytes(CHUNKED_HEAD.into(), &|byte| chunk([byte]), LAST_CHUNK);

    for steps in [with_length, chunked] {
        let backend = TcpServer::answering(steps);
        for way in WAYS {
            let nginx = proxy::builder(&backend, way).start();
            let answer = get(nginx.port(), "/?callback=cb");
            let expected = if way.contains("escape on") { &escaped } else { &plain };
            assert_eq!(
                String::from_utf8_lossy(&answer.body),
                String::from_utf8_lossy(expected),
                "{way}"
            );
            nginx.check();
        }
    }
}

#[test]
fn a_separator_cut_anywhere_into_two_or_three_pieces() {
    let body = [b"a", SEPARATOR, SEPARATOR, b"b"].concat();
    let cuts: Vec<_> =
        (1..body.len()).flat_map(|to| (1..=to).map(move |from| (from, to))).collect();
    let pieces = cuts.clone();
    let text = body.clone();
    let backend = TcpServer::builder().start_with(move |number, _| {
        let (from, to) = pieces[number % pieces.len()];
        vec![
            send([head_with_length(text.len()).as_bytes(), &text[..from]].concat()),
            delay_ms(10),
            send(&text[from..to]),
            delay_ms(10),
            send(&text[to..]),
        ]
    });
    for way in &WAYS[..2] {
        let nginx = proxy::builder(&backend, way).start();
        for cut in &cuts {
            let answer = get(nginx.port(), "/?callback=cb");
            assert_eq!(answer.text(), "cb(a\\u2028\\u2028b);", "{way} {cut:?}");
        }
        nginx.check();
    }
}

#[test]
fn f03_a_client_that_reads_late() {
    // More than the sockets hold, so that nginx has to wait for the client.
    let body = [b"\"", &*[b"0123456789abcde", SEPARATOR].concat().repeat(500_000), b"\""].concat();
    let escaped = [b"\"", &*[b"0123456789abcde", ESCAPED].concat().repeat(500_000), b"\""].concat();
    let backend = TcpServer::answering([proxy::answer(&body)]);
    for way in WAYS {
        let nginx = proxy::builder(&backend, way).start();
        let mut connection = Connection::open(nginx.port());
        connection.send("GET /?callback=cb HTTP/1.0\r\n\r\n");
        std::thread::sleep(Duration::from_millis(300));
        let bytes = connection.read_to_end();
        let start = find(&bytes, b"\r\n\r\n").unwrap() + 4;
        let inside = if way.contains("escape on") { &escaped } else { &body };
        // Not assert_eq: nobody wants to read megabytes.
        assert!(bytes[start..] == [b"cb(", &**inside, b");"].concat(), "{way}");
        nginx.check();
    }
}

#[test]
fn an_answer_that_is_there_at_once_has_its_length() {
    let body = [b"[\"", SEPARATOR, b"\"]"].concat();
    let backend = TcpServer::answering([proxy::answer(&body)]);
    for way in WAYS {
        let length = if way.contains("escape on") { 15 } else { 12 };
        let nginx = proxy::builder(&backend, way).start();
        let answer = get(nginx.port(), "/?callback=cb");
        assert_eq!(answer.framing, Framing::Length(length), "{way}");
        assert!(answer.complete, "{way}");
        nginx.check();
    }
}
