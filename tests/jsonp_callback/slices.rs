//! Documents that nginx fetches in slices: one script, however it was cut.

use crate::proxy::{ESCAPED, SEPARATOR};
use crate::support::http::{Connection, find, get};
use crate::support::nginx::{Builder, Nginx};
use crate::support::tcp_server::{Step, TcpServer, send};

/// A server of parts of `document`. The part that begins at `cut` breaks off.
fn backend(document: &[u8], cut: Option<usize>) -> TcpServer {
    let document = document.to_vec();
    TcpServer::builder().start_with(move |_, request| {
        let request = String::from_utf8_lossy(request).into_owned();
        let (_, range) = request.split_once("Range: bytes=").unwrap();
        let (start, end) = range.lines().next().unwrap().split_once('-').unwrap();
        let start: usize = start.parse().unwrap();
        let end = document.len().min(end.parse::<usize>().unwrap() + 1);
        let part = &document[start..end];
        let head = format!(
            "HTTP/1.1 206 Partial Content\r\nContent-Type: application/json\r\n\
             Content-Range: bytes {start}-{}/{}\r\nContent-Length: {}\r\n\r\n",
            end - 1,
            document.len(),
            part.len(),
        );
        if cut == Some(start) {
            let some = &part[..part.len() / 2];
            return vec![send([head.as_bytes(), some].concat()), Step::Close];
        }
        vec![send([head.as_bytes(), part].concat())]
    })
}

fn builder(backend: &TcpServer, size: usize, escape: &str) -> Builder {
    Nginx::builder()
        .server(&format!(
            "location / {{
                 jsonp_callback        callback;
                 jsonp_callback_escape {escape};
                 slice                 {size};
                 proxy_http_version    1.1;
                 proxy_set_header      Connection '';
                 proxy_set_header      Range $slice_range;
                 proxy_pass            http://127.0.0.1:{};
             }}",
            backend.port()
        ))
        .root_location(false)
}

#[test]
fn separators_across_slices() {
    let dense = SEPARATOR.repeat(300);
    let sparse = [b"0123456789", SEPARATOR, b"\xe2\x80", b"\xe2"].concat().repeat(60);
    for (document, count) in [(&dense, 300), (&sparse, 60)] {
        let backend = backend(document, None);
        let escaped = String::from_utf8_lossy(ESCAPED).into_owned();
        for size in [4, 5, 100, 101, 899, 900, 901] {
            let nginx = builder(&backend, size, "on").start();
            let answer = get(nginx.port(), "/?callback=cb");
            let body = &answer.body;
            assert_eq!(body.len(), document.len() + 3 * count + 5, "{size}");
            assert!(find(body, SEPARATOR).is_none(), "{size}");
            let text = String::from_utf8_lossy(body);
            assert_eq!(text.matches(&escaped).count(), count, "{size}");
            assert!(text.starts_with("cb(") && text.ends_with(");"), "{size}");
            assert_eq!(get(nginx.port(), "/").body, *document, "{size}");
            nginx.check();

            let nginx = builder(&backend, size, "off").start();
            let answer = get(nginx.port(), "/?callback=cb");
            assert_eq!(answer.body, [b"cb(", &**document, b");"].concat(), "{size}");
            nginx.check();
        }
    }
}

#[test]
fn no_end_of_a_script_without_one_of_its_slices() {
    let document = format!("[{}1 ]", "1,".repeat(1498));
    for cut in [0, 1000, 2000] {
        for escape in ["on", "off"] {
            let backend = backend(document.as_bytes(), Some(cut));
            let nginx = builder(&backend, 1000, escape).start();
            for version in ["1.0", "1.1"] {
                let mut client = Connection::open(nginx.port());
                client.send(format!("GET /?callback=cb HTTP/{version}\r\nHost: a\r\n\r\n"));
                let bytes = client.read_to_end();
                let text = String::from_utf8_lossy(&bytes);
                assert!(text.starts_with("HTTP/1.1 200"), "{cut}, {escape}: {text}");
                assert!(!text.contains(");"), "{cut}, {escape}: {text}");
                assert!(!bytes.ends_with(b"0\r\n\r\n"), "{cut}, {escape}: {text}");
            }
            nginx.check();
        }
    }
}
