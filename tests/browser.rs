//! A real browser on a page that embeds JSONP from another origin.

// The helpers are no `#[test]` functions: see clippy.toml.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used
)]

mod support;

use std::fs::{self, File};
use std::process::{Command, Stdio};
use std::time::Duration;

use support::http;
use support::nginx::{Nginx, slowness};
use support::ports::free_port;
use support::process::{self, Signal};
use support::tcp_server::{Step, TcpServer, send};
use support::tools::require_tool;

/// What the page's functions are called with stands in the element `result` in the end, a line each, and what
/// scripts failed, or were refused by the browser.
const PAGE: &str = r#"<!DOCTYPE html>
<title>JSONP</title>
<pre id="result"></pre>
<script>
function note(line) { document.getElementById("result").textContent += line + "\n"; }
function called(name) { return function (json) { note(name + " " + JSON.stringify(json)); }; }
window.onerror = function (message) { note("failed " + message); };
var word_1 = called("word"), guarded = called("guarded"), typed = called("typed"), evil = called("evil"),
    broken = called("broken"), described = called("described"), member = { list: [null, { $_0: called("member") }] };
function separated(json) { note("separated " + json.s.charCodeAt(1) + " " + json.s.charCodeAt(3)); }
</script>
"#;

fn page(api: u16) -> String {
    let script = |name: &str| {
        format!(
            "<script src=\"http://127.0.0.1:{api}/{name}\" onerror=\"note('refused {path}')\"></script>\n",
            path = name.split('?').next().unwrap_or_default()
        )
    };
    let scripts = [
        "word?callback=word_1",
        "member?callback=member.list%5B1%5D.$_0",
        "guarded?callback=guarded",
        "guarded?callback=nobody",
        "word?callback=nobody",
        "separators?callback=separated",
        "typed?callback=typed",
        "error?callback=described",
        "word?callback=evil(1)//",
        "broken/length?callback=broken",
        "broken/chunked?callback=broken",
        "unbuffered/length?callback=broken",
        "unbuffered/chunked?callback=broken",
    ];
    PAGE.to_owned() + &scripts.map(script).concat()
}

/// What the page's element `result` holds once all of it has been loaded.
fn result_of(url: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let dom = folder.path().join("dom.html");
    let log = folder.path().join("log");
    let mut command = Command::new(require_tool("chromium", "chromium"));
    command
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"])
        .args(["--no-first-run", "--disable-sync", "--disable-extensions", "--disable-quic"])
        .args(["--disable-background-networking", "--disable-component-update"])
        // Nothing but loopback is asked, and nobody in between.
        .args(["--no-proxy-server", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"])
        .arg(format!("--user-data-dir={}", folder.path().join("profile").display()))
        .args(["--dump-dom", url])
        .env("HOME", folder.path())
        .stdin(Stdio::null())
        .stdout(File::create(&dom).unwrap())
        .stderr(File::create(&log).unwrap());
    let mut browser = process::spawn(command).unwrap();
    let patience = Duration::from_secs(90) * slowness();
    let status = process::wait_for_exit(&mut browser, patience).unwrap();
    if status.is_none() {
        process::stop(&mut browser, &[(Signal::TERM, Duration::from_secs(5))]).unwrap();
    }
    let dom = fs::read_to_string(&dom).unwrap();
    let result =
        dom.split_once("<pre id=\"result\">").and_then(|(_, rest)| rest.split_once("</pre>"));
    let Some((result, _)) = result else {
        panic!("chromium, {status:?}: {dom}\n{}", fs::read_to_string(&log).unwrap_or_default());
    };
    result.to_owned()
}

#[test]
fn a_browser_runs_what_is_wrapped_and_nothing_else() {
    let half = |header: &str, body: &str| {
        let header =
            format!("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n{header}\r\n\r\n");
        TcpServer::answering([send(header + body), Step::Close])
    };
    let length = half("Content-Length: 20", "{\"a\":1}");
    let chunked = half("Transfer-Encoding: chunked", "7\r\n{\"a\":1}\r\n");
    let api = free_port();
    let broken = |folder: &str, directive: &str| {
        format!(
            "location /{folder}/ {{ {directive}
                 location /{folder}/length {{ proxy_pass http://127.0.0.1:{}; }}
                 location /{folder}/chunked {{ proxy_pass http://127.0.0.1:{}; }} }}\n",
            length.port(),
            chunked.port()
        )
    };
    let mut builder = Nginx::builder();
    builder = builder
        .file("html/page.html", page(api))
        .file("html/separators", "{\"s\":\"a\u{2028}b\u{2029}c\"}");
    let own = builder.port();
    let locations = broken("broken", "") + &broken("unbuffered", "proxy_buffering off;");
    let nginx = builder
        .http(&format!(
            "server {{
                 listen 127.0.0.1:{api};
                 default_type   application/json;
                 jsonp_callback callback;
                 proxy_http_version 1.1;
                 location /word       {{ return 200 '{{\"a\":1}}'; }}
                 location /member     {{ jsonp_callback_syntax member; return 200 '{{\"a\":2}}'; }}
                 location /guarded    {{ jsonp_callback_guard on; return 200 '{{\"a\":3}}'; }}
                 location /separators {{ root html; }}
                 location /typed      {{ add_header X-Content-Type-Options nosniff; return 200 '{{\"a\":4}}'; }}
                 location /error      {{ jsonp_callback_status 404 =200; return 404 '{{\"a\":5}}'; }}
                 {locations}
             }}"
        ))
        .start();

    // What a script of another origin fails of is not told.
    let expected = [
        "word {\"a\":1}",
        "member {\"a\":2}",
        "guarded {\"a\":3}",
        "failed Script error.",
        "separated 8232 8233",
        "typed {\"a\":4}",
        "described {\"a\":5}",
    ];
    let result = result_of(&format!("http://127.0.0.1:{own}/page.html"));
    let ran: Vec<&str> = result.lines().filter(|line| !line.starts_with("refused ")).collect();
    assert_eq!(ran, expected, "{result}");
    // The browser did ask for all of them, and what is half a script did come.
    let log = String::from_utf8(nginx.access_log()).unwrap();
    for path in ["/word?callback=evil", "/broken/length", "/broken/chunked", "/unbuffered/length"] {
        assert!(log.contains(&format!("GET {path}")), "{path}: {log}");
    }
    let raw = http::get(api, "/unbuffered/length?callback=broken");
    assert_eq!((raw.text().as_str(), raw.complete), ("broken({\"a\":1}", false));
    nginx.check();
}
