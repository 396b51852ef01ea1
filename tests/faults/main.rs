//! No memory: each call with which the module takes memory of nginx fails once. The request that it was for
//! fails as nginx's own do, with 500 or a connection that ends, and the worker goes on.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used
)]

#[path = "../support/mod.rs"]
mod support;

use std::fs;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use support::http::{Connection, Response};
use support::memcached::Memcached;
use support::nginx::{self, Builder, Nginx};
use support::tools;
use tempfile::TempDir;

const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/faults/fail_alloc.c");

/// What the module imports of nginx that takes no memory, takes it for nginx's own use, or goes on without.
const NOT_FAILED: [&str; 22] = [
    "ngx_cached_time",
    "ngx_chain_update_chains",
    "ngx_conf_log_error",
    "ngx_conf_set_enum_slot",
    "ngx_conf_set_flag_slot",
    "ngx_cycle",
    "ngx_hash_key",
    "ngx_http_clean_header",
    "ngx_http_copy_filter_module",
    "ngx_http_core_module",
    "ngx_http_test_content_type",
    "ngx_http_top_body_filter",
    "ngx_http_top_header_filter",
    "ngx_http_types_slot",
    "ngx_http_upstream_free_round_robin_peer",
    "ngx_http_upstream_module",
    "ngx_http_weak_etag",
    "ngx_log_error_core",
    "ngx_rwlock_rlock",
    "ngx_rwlock_unlock",
    "ngx_rwlock_wlock",
    "ngx_sock_ntop",
];

/// The library that makes calls fail.
fn library() -> &'static Path {
    static LIBRARY: OnceLock<(TempDir, PathBuf)> = OnceLock::new();
    let (_, path) = LIBRARY.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("fail_alloc.so");
        let compiler = tools::require_tool("cc", "gcc");
        let mut command = Command::new(compiler);
        command.args(["-Wall", "-Wextra", "-Werror", "-O1", "-g", "-fPIC", "-shared", "-o"]);
        let status = command.arg(&path).arg(SOURCE).status().unwrap();
        assert!(status.success(), "cc: {status}");
        (folder, path)
    });
    path
}

/// Which call fails, and how many there have been: `control` of the library.
struct Faults(fs::File);

impl Faults {
    fn new(path: &Path) -> Faults {
        fs::write(path, [0; 64]).unwrap();
        Faults(fs::OpenOptions::new().read(true).write(true).open(path).unwrap())
    }

    /// The function whose call failed.
    fn name(&self) -> String {
        let mut name = [0; 56];
        self.0.read_exact_at(&mut name, 8).unwrap();
        String::from_utf8_lossy(&name).trim_end_matches('\0').to_owned()
    }

    /// Counts anew and lets the call `number` fail, from 1 on; none if it is 0.
    fn fail_at(&self, number: u32) {
        self.0.write_all_at(&0u32.to_ne_bytes(), 4).unwrap();
        self.0.write_all_at(&number.to_ne_bytes(), 0).unwrap();
    }

    fn count(&self) -> u32 {
        let mut bytes = [0; 4];
        self.0.read_exact_at(&mut bytes, 4).unwrap();
        u32::from_ne_bytes(bytes)
    }
}

const KEYS: [(&str, &str); 3] = [
    ("testapp::100::100", r#"{"status":"success", "count":1000}"#),
    ("testapp::100::101", "[\"a\u{2028}b\u{2029}c\", \"\u{2028}\"]"),
    ("/fragment", "<p>from memcached</p>"),
];

/// nginx with all directives in use, in front of two memcached.
struct Site {
    nginx: Nginx,
    faults: Faults,
    _memcached: Vec<Memcached>,
}

fn builder(memcached: &[Memcached]) -> (Builder, Faults) {
    for (key, value) in KEYS {
        memcached.iter().for_each(|server| server.set(key, 0, value));
    }
    let lines: String =
        memcached.iter().map(|server| format!("server localhost:{};", server.port())).collect();
    let builder = Nginx::builder();
    let port = builder.port();
    let control = builder.prefix().join("fail_alloc");
    let faults = Faults::new(&control);
    let builder = builder
        .env("LD_PRELOAD", library())
        .env("FAIL_ALLOC", control)
        .http(&format!(
            "jsonp_callback_types application/json text/javascript;
             log_format hops '$realip_trust_hops $jsonp_args $memcached_hash_server';
             access_log logs/hops.log hops;
             upstream ketama  {{ zone z 256k; memcached_hash ketama_points=150; {lines} keepalive 8; }}
             upstream basic   {{ memcached_hash rehash=on hash_namespace=on; {lines} }}
             upstream by_key  {{ memcached_hash key=$uri$arg_k; server 127.0.0.1:{port}; }}"
        ))
        .server(
            r#"keepalive_requests 1000000;
             set_real_ip_from 127.0.0.1;
             real_ip_header X-Forwarded-For;
             real_ip_recursive on;
             real_ip_recursive_trust 203.0.113.7 192.0.2.0/24 2001:db8::/32;
             default_type text/javascript;

             location /count {
                 jsonp_callback callback;
                 set $memcached_key       "$arg_user::$arg_entry";
                 set $memcached_namespace testapp::;
                 memcached_pass           ketama;
                 error_page 404 = @fetch;
             }
             location @fetch {
                 jsonp_callback callback;
                 rewrite ^ /json break;
                 proxy_pass http://by_key;
             }
             location = /json { return 200 '{"from":"the application"}'; }
             location /basic {
                 jsonp_callback       callback;
                 jsonp_callback_guard on;
                 set $memcached_key       "100::100";
                 set $memcached_namespace testapp::;
                 memcached_pass           basic;
             }
             location /proxied {
                 jsonp_callback callback;
                 jsonp_callback_status any =200;
                 jsonp_callback_escape off;
                 proxy_pass http://by_key/json;
             }
             location /refused {
                 jsonp_callback callback;
                 jsonp_callback_invalid 422;
                 return 200 '{}';
             }
             location /variables {
                 jsonp_callback callback;
                 jsonp_callback_types none/none;
                 return 200 "$jsonp_callback|$jsonp_args|$remote_addr|$realip_trust_hops";
             }
             location /page {
                 ssi on;
                 ssi_types text/plain;
                 default_type text/plain;
                 jsonp_callback callback;
                 jsonp_callback_types text/plain;
                 return 200 '<!--# include virtual="/fragment" -->';
             }
             location /fragment {
                 set $memcached_key $uri;
                 memcached_pass ketama;
             }"#,
        )
        .root_location(false);
    (builder, faults)
}

impl Site {
    fn start() -> Site {
        let memcached = vec![Memcached::start(), Memcached::start()];
        let (builder, faults) = builder(&memcached);
        Site { nginx: builder.start(), faults, _memcached: memcached }
    }

    /// `Err` if the connection ended without a whole answer.
    fn ask(&self, target: &str) -> Result<Response, String> {
        let mut connection = Connection::open(self.nginx.port());
        let entries = ["192.0.2.66, 198.51.100.9", "2001:db8::7", "203.0.113.7"];
        let lines: String =
            (0..4).flat_map(|_| entries).map(|e| format!("X-Forwarded-For: {e}\r\n")).collect();
        connection.send(format!(
            "GET {target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{lines}\r\n"
        ));
        match connection.try_read(false) {
            Ok(response) if response.complete => Ok(response),
            Ok(response) => Err(format!("cut off: {}", response.text())),
            Err(error) => Err(error),
        }
    }

    /// Asks again and again, each time with another call that fails, until there are no more. `fails` says
    /// whether an answer is one of a request that failed.
    fn fail_each_call(&self, target: &str, expected: &str, fails: impl Fn(&Response) -> bool) {
        let workers = self.nginx.worker_pids();
        let mut failed = 0;
        for number in 1.. {
            self.faults.fail_at(number);
            let answer = self.ask(target);
            let count = self.faults.count();
            self.faults.fail_at(0);
            match answer {
                Err(_) => failed += 1,
                Ok(answer) if fails(&answer) => failed += 1,
                Ok(answer) => assert_eq!(
                    (answer.status, answer.text().as_str()),
                    (200, expected),
                    "{target}, with call {number} failing, of {}: neither failed nor right",
                    self.faults.name()
                ),
            }
            let answer = self.ask(target).unwrap();
            assert_eq!(answer.text(), expected, "{target}, after call {number} failed");
            assert_eq!(self.nginx.worker_pids(), workers, "{target}: call {number}");
            if count < number {
                break;
            }
        }
        assert!(failed > 0, "{target}: nothing failed, so nothing was tested");
    }
}

fn is_500(answer: &Response) -> bool {
    answer.status == 500
}

#[test]
fn a_request_without_memory_fails_and_the_worker_goes_on() {
    let site = Site::start();
    let wrapped = r#"cb({"status":"success", "count":1000});"#;
    let target = "/count?user=100&entry=100&callback=cb";
    site.fail_each_call(target, wrapped, is_500);
    let escaped = r#"cb(["a\u2028b\u2029c", "\u2028"]);"#;
    site.fail_each_call("/count?user=100&entry=101&callback=cb", escaped, is_500);
    let bare = r#"{"status":"success", "count":1000}"#;
    site.fail_each_call("/count?user=100&entry=100", bare, is_500);
    let fetched = r#"cb({"from":"the application"});"#;
    // A request to the upstream that fails for want of memory is answered by nginx with 500 or 502.
    site.fail_each_call("/count?user=0&entry=0&callback=cb", fetched, |answer| {
        matches!(answer.status, 500 | 502)
    });
    let guarded = format!("/**/typeof cb==='function'&&{wrapped}");
    site.fail_each_call("/basic?callback=cb", &guarded, is_500);
    site.fail_each_call("/proxied?callback=cb", fetched, is_500);
    // As with nginx's own, a variable that there is no memory for is empty.
    let values = ["cb", "a=1", "198.51.100.9", "2"];
    site.fail_each_call("/variables?callback=cb&a=1", &values.join("|"), |answer| {
        let empty = |which| {
            let left = values.iter().enumerate().map(|(i, v)| if i == which { "" } else { v });
            left.collect::<Vec<_>>().join("|")
        };
        is_500(answer) || (0..values.len()).any(|which| answer.text() == empty(which))
    });
    // nginx puts a fragment's error in its place.
    site.fail_each_call("/page?callback=cb", "cb(<p>from memcached</p>);", |answer| {
        is_500(answer) || answer.text().contains("500 Internal Server Error")
    });
    site.nginx.check();
}

#[test]
fn a_configuration_without_memory_is_refused() {
    let memcached = vec![Memcached::start(), Memcached::start()];
    let (good, words) = builder(&memcached).0.test_config();
    assert!(good, "{words}");
    let mut refused = 0;
    for number in 1.. {
        let (builder, faults) = builder(&memcached);
        faults.fail_at(number);
        let (good, words) = builder.test_config();
        if good && faults.count() < number {
            break;
        }
        // One call only looks for a variable that is there, which takes no memory; without an answer the
        // variable is read in the long way.
        if good {
            assert_eq!(
                faults.name(),
                "ngx_http_add_variable",
                "call {number} failed, and nobody saw it"
            );
            continue;
        }
        assert!(words.contains("test failed"), "call {number}: {words}");
        refused += 1;
    }
    assert!(refused > 0);
}

/// So that what the module is made to import next is not forgotten here.
#[test]
fn every_function_that_takes_memory_is_made_to_fail() {
    let module = nginx::module().unwrap().unwrap();
    let nm = Command::new(tools::require_tool("nm", "binutils"))
        .args(["-D", "--undefined-only"])
        .arg(module)
        .output()
        .unwrap();
    let source = fs::read_to_string(SOURCE).unwrap();
    let imports = String::from_utf8(nm.stdout).unwrap();
    let imports: Vec<_> =
        imports.split_whitespace().filter(|name| name.starts_with("ngx_")).collect();
    assert!(imports.len() > 20, "{imports:?}");
    for import in imports {
        assert!(
            NOT_FAILED.contains(&import) || source.contains(&format!("ENTRY({import})")),
            "{import} is neither made to fail nor known to take no memory"
        );
    }
}
