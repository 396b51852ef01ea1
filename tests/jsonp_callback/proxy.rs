//! nginx in front of a scripted server.

use crate::support::nginx::{Builder, Nginx};
use crate::support::tcp_server::{Step, TcpServer, send};

/// U+2028 in UTF-8, and what becomes of it.
pub const SEPARATOR: &[u8] = b"\xe2\x80\xa8";
pub const ESCAPED: &[u8] = b"\\u2028";

/// How nginx takes an answer, and what the filter does with it: each line of directives is to give the same
/// body.
pub const WAYS: [&str; 4] = [
    "proxy_buffering on;  jsonp_callback_escape on;",
    "proxy_buffering off; jsonp_callback_escape on;",
    "proxy_buffering on;  jsonp_callback_escape off;",
    "proxy_buffering off; jsonp_callback_escape off;",
];

/// nginx whose server passes everything on, with these directives.
pub fn builder(backend: &TcpServer, directives: &str) -> Builder {
    Nginx::builder()
        .server(&format!(
            "location / {{
                 jsonp_callback     callback;
                 proxy_http_version 1.1;
                 proxy_set_header   Connection '';
                 proxy_pass         http://127.0.0.1:{};
                 {directives}
             }}",
            backend.port()
        ))
        .root_location(false)
}

/// The head of an answer of JSON whose length is said.
pub fn head_with_length(length: usize) -> String {
    format!("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n")
}

/// The head of an answer of JSON in chunks.
pub const CHUNKED_HEAD: &str =
    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";

/// A chunk.
pub fn chunk(data: impl AsRef<[u8]>) -> Vec<u8> {
    let data = data.as_ref();
    [format!("{:x}\r\n", data.len()).as_bytes(), data, b"\r\n"].concat()
}

/// The last chunk.
pub const LAST_CHUNK: &[u8] = b"0\r\n\r\n";

/// A whole answer in one piece.
pub fn answer(body: impl AsRef<[u8]>) -> Step {
    let body = body.as_ref();
    send([head_with_length(body.len()).as_bytes(), body].concat())
}
