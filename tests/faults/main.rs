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

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

use support::http::{Connection, Response};
use support::memcached::Memcached;
use support::nginx::{self, Builder, Nginx};
use support::tools;
use tempfile::TempDir;

const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/faults/fail_alloc.c");

/// What the module imports of nginx that takes no memory, takes it for nginx's own use, or goes on without.
const NOT_FAILED: [&str; 19] = [
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
    "ngx_http_top_body_filter",
    "ngx_http_top_header_filter",
    "ngx_http_upstream_free_round_robin_peer",
    "ngx_http_upstream_module",
    "ngx_http_weak_etag",
    "ngx_log_error_core",
    "ngx_rwlock_rlock",
    "ngx_rwlock_unlock",
    "ngx_rwlock_wlock",
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

    /// The function whose call failed, if one did.
    fn name(&self) -> Option<String> {
        let mut name = [0; 56];
        self.0.read_exact_at(&mut name, 8).unwrap();
        let name = String::from_utf8_lossy(&name).trim_end_matches('\0').to_owned();
        (!name.is_empty()).then_some(name)
    }

    /// Counts anew and lets the call `number` fail, from 1 on; none if it is 0.
    fn fail_at(&self, number: u32) {
        self.0.write_all_at(&[0; 60], 4).unwrap();
        self.0.write_all_at(&number.to_ne_bytes(), 0).unwrap();
    }

    fn count(&self) -> u32 {
        let mut bytes = [0; 4];
        self.0.read_exact_at(&mut bytes, 4).unwrap();
        u32::from_ne_bytes(bytes)
    }
}

/// `{"gzip":true}`, coded.
const GZIP: &[u8] =
    b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff\xab\x56\x4a\xaf\xca\x2c\x50\xb2\x2a\x29\x2a\
                      \x4d\xad\x05\x00\xf9\xea\xf4\x36\x0d\x00\x00\x00";

/// A file of which slices are asked for.
const FILE: &str = r#"["0123456789", "0123456789", "0123456789"]"#;

const KEYS: [(&str, &str); 3] = [
    ("testapp::100::100", r#"{"status":"success", "count":1000}"#),
    ("testapp::100::101", "[\"a\u{2028}b\u{2029}c\", \"\u{2028}\"]"),
    ("/fragment", "<p>from memcached</p>"),
];

/// nginx with all directives in use, in front of two memcached.
struct Site {
    nginx: Nginx,
    faults: Faults,
    /// The functions whose calls have failed.
    failed: RefCell<BTreeSet<String>>,
    _memcached: Vec<Memcached>,
}

/// nginx in which calls fail.
fn faulty() -> (Builder, Faults) {
    let builder = Nginx::builder();
    let control = builder.prefix().join("fail_alloc");
    let faults = Faults::new(&control);
    (builder.env("LD_PRELOAD", library()).env("FAIL_ALLOC", control), faults)
}

fn builder(memcached: &[Memcached]) -> (Builder, Faults) {
    for (key, value) in KEYS {
        memcached.iter().for_each(|server| server.set(key, 0, value));
    }
    // nginx takes the flag 2 for a coded value, as Perl's clients set it.
    memcached.iter().for_each(|server| server.set("gzip", 2, GZIP));
    let lines: String =
        memcached.iter().map(|server| format!("server localhost:{};", server.port())).collect();
    let (builder, faults) = faulty();
    let (port, prefix) = (builder.port(), builder.prefix().display().to_string());
    let builder = builder
        .file("html/file.json", FILE)
        .http(&format!(
            "jsonp_callback_types application/json text/javascript;
             log_format hops '$realip_trust_hops $jsonp_args $memcached_hash_server';
             access_log logs/hops.log hops;
             proxy_cache_path {prefix}/cache keys_zone=cache:1m;
             charset_map koi8-r windows-1251 {{ C1 E0; }}
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
             location /gunzip {
                 jsonp_callback       callback;
                 gunzip               on;
                 memcached_gzip_flag  2;
                 set $memcached_key   gzip;
                 memcached_pass       ketama;
             }
             location /gzip {
                 jsonp_callback       callback;
                 gzip                 on;
                 gzip_types           *;
                 gzip_min_length      1;
                 gzip_http_version    1.0;
                 return 200 '{}';
             }
             location = /file.json { root html; }
             location /cached {
                 jsonp_callback       callback;
                 jsonp_callback_types *;
                 proxy_cache          cache;
                 proxy_cache_key      cached;
                 proxy_cache_valid    200 1h;
                 proxy_pass           http://by_key/file.json;
             }
             location /sliced {
                 jsonp_callback       callback;
                 jsonp_callback_types *;
                 slice                16;
                 proxy_set_header     Range $slice_range;
                 proxy_cache          cache;
                 proxy_cache_key      sliced$slice_range$arg_k;
                 proxy_cache_valid    200 206 1h;
                 proxy_pass           http://by_key/file.json;
             }
             location /recoded {
                 jsonp_callback       callback;
                 charset              koi8-r;
                 source_charset       windows-1251;
                 charset_types        *;
                 return 200 '"a"';
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
        Site::of(builder, faults, memcached)
    }

    /// A site whose namespace is not set in a location, but computed.
    fn start_mapped() -> Site {
        let memcached = vec![Memcached::start()];
        memcached[0].set("app::key", 0, "right");
        memcached[0].set("key", 0, "another application's");
        let (builder, faults) = faulty();
        let port = memcached[0].port();
        let builder = builder
            .http(&format!(
                "map $arg_app $memcached_namespace {{ default app::; }}
                 upstream m {{ memcached_hash; server localhost:{port}; }}"
            ))
            .server("location / { set $memcached_key $arg_key; memcached_pass m; }")
            .root_location(false);
        Site::of(builder, faults, memcached)
    }

    fn of(builder: Builder, faults: Faults, memcached: Vec<Memcached>) -> Site {
        let failed = RefCell::default();
        Site { nginx: builder.start(), faults, failed, _memcached: memcached }
    }

    /// The workers without those of the cache, which begin and end when they like.
    fn workers(&self) -> Vec<u32> {
        let is_worker = |pid: &u32| {
            let title = fs::read_to_string(format!("/proc/{pid}/cmdline"));
            title.is_ok_and(|title| title.contains("worker process"))
        };
        self.nginx.worker_pids().into_iter().filter(is_worker).collect()
    }

    /// Asks for what is written as `GET /target`. `Err` if the connection ended without a whole answer.
    fn ask(&self, request: &str) -> Result<Response, String> {
        let mut connection = Connection::open(self.nginx.port());
        let entries = ["192.0.2.66, 198.51.100.9", "2001:db8::7", "203.0.113.7"];
        let lines: String =
            (0..4).flat_map(|_| entries).map(|e| format!("X-Forwarded-For: {e}\r\n")).collect();
        connection.send(format!(
            "{request} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{lines}\r\n"
        ));
        let answer = connection.try_read(request.starts_with("HEAD "));
        // Before it closes the connection, nginx has written its log, which makes calls as well.
        connection.is_closed(Duration::from_secs(5));
        match answer {
            Ok(response) if response.complete => Ok(response),
            Ok(response) => Err(format!("cut off: {}", response.text())),
            Err(error) => Err(error),
        }
    }

    /// Asks again and again, each time with another call that fails, until there are no more. `fails` says
    /// whether an answer is one of a request that failed.
    fn fail_each_call(&self, request: &str, expected: &str, fails: impl Fn(&Response) -> bool) {
        self.fail_each_call_of(request, (200, expected), fails);
    }

    /// As [`Site::fail_each_call`], of a request that is answered with another status.
    fn fail_each_call_of(
        &self,
        request: &str,
        expected: (u16, &str),
        fails: impl Fn(&Response) -> bool,
    ) {
        self.ask(request).unwrap();
        let workers = self.workers();
        assert_eq!(workers.len(), 1);
        let mut failed = 0;
        for number in 1.. {
            self.faults.fail_at(number);
            let answer = self.ask(request);
            let (count, name) = (self.faults.count(), self.faults.name());
            self.faults.fail_at(0);
            match answer {
                Err(_) => failed += 1,
                Ok(answer) if fails(&answer) => failed += 1,
                Ok(answer) => assert_eq!(
                    (answer.status, answer.text().as_str()),
                    expected,
                    "{request}, with call {number} failing, of {name:?}: neither failed nor right"
                ),
            }
            let answer = self.ask(request).unwrap();
            let answer = (answer.status, answer.text());
            assert_eq!((answer.0, &*answer.1), expected, "{request}, after call {number} failed");
            assert_eq!(self.workers(), workers, "{request}: call {number}");
            if count < number {
                break;
            }
            self.failed.borrow_mut().extend(name);
        }
        assert!(failed > 0, "{request}: nothing failed, so nothing was tested");
    }
}

fn is_500(answer: &Response) -> bool {
    answer.status == 500
}

/// The functions of which a call failed for a request.
fn requests() -> &'static BTreeSet<String> {
    static FAILED: OnceLock<BTreeSet<String>> = OnceLock::new();
    FAILED.get_or_init(fail_requests)
}

fn fail_requests() -> BTreeSet<String> {
    let site = Site::start();
    let wrapped = r#"cb({"status":"success", "count":1000});"#;
    let target = "GET /count?user=100&entry=100&callback=cb";
    site.fail_each_call(target, wrapped, is_500);
    site.fail_each_call(&target.replace("GET", "HEAD"), "", is_500);
    let escaped = r#"cb(["a\u2028b\u2029c", "\u2028"]);"#;
    site.fail_each_call("GET /count?user=100&entry=101&callback=cb", escaped, is_500);
    let bare = r#"{"status":"success", "count":1000}"#;
    site.fail_each_call("GET /count?user=100&entry=100", bare, is_500);
    let fetched = r#"cb({"from":"the application"});"#;
    // A request to the upstream that fails for want of memory is answered by nginx with 500 or 502.
    let is_500_or_502 = |answer: &Response| matches!(answer.status, 500 | 502);
    site.fail_each_call("GET /count?user=0&entry=0&callback=cb", fetched, is_500_or_502);
    let guarded = format!("/**/typeof cb==='function'&&{wrapped}");
    site.fail_each_call("GET /basic?callback=cb", &guarded, is_500);
    site.fail_each_call("GET /proxied?callback=cb", fetched, is_500);
    site.fail_each_call("GET /refused?callback=cb", "cb({});", is_500);
    site.fail_each_call_of("GET /refused?callback=!", (422, ""), is_500);
    site.fail_each_call("GET /gunzip?callback=cb", r#"cb({"gzip":true});"#, is_500);
    site.fail_each_call("GET /gzip?callback=cb", "cb({});", is_500);
    site.fail_each_call("GET /recoded?callback=cb", r#"cb("a");"#, is_500);
    // All of these are answered from the cache, which the first request fills.
    let file = format!("cb({FILE});");
    site.fail_each_call("GET /cached?callback=cb", &file, is_500);
    site.fail_each_call("GET /sliced?callback=cb", &file, is_500);
    // As with nginx's own, a variable that there is no memory for is empty.
    let values = ["cb", "a=1", "198.51.100.9", "2"];
    site.fail_each_call("GET /variables?callback=cb&a=1", &values.join("|"), |answer| {
        let empty = |which| {
            let left = values.iter().enumerate().map(|(i, v)| if i == which { "" } else { v });
            left.collect::<Vec<_>>().join("|")
        };
        is_500(answer) || (0..values.len()).any(|which| answer.text() == empty(which))
    });
    // nginx puts a fragment's error in its place.
    site.fail_each_call("GET /page?callback=cb", "cb(<p>from memcached</p>);", |answer| {
        is_500(answer) || answer.text().contains("500 Internal Server Error")
    });
    let mapped = Site::start_mapped();
    mapped.fail_each_call("GET /?key=key", "right", is_500);

    site.nginx.check();
    mapped.nginx.check();
    let mut failed = site.failed.into_inner();
    failed.append(&mut mapped.failed.into_inner());
    failed
}

#[test]
fn a_request_without_memory_fails_and_the_worker_goes_on() {
    assert!(!requests().is_empty());
}

/// The functions of which a call failed for the configuration.
fn configurations() -> &'static BTreeSet<String> {
    static FAILED: OnceLock<BTreeSet<String>> = OnceLock::new();
    FAILED.get_or_init(fail_configurations)
}

fn fail_configurations() -> BTreeSet<String> {
    let memcached = vec![Memcached::start(), Memcached::start()];
    let (good, words) = builder(&memcached).0.test_config();
    assert!(good, "{words}");
    let mut failed = BTreeSet::new();
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
                faults.name().as_deref(),
                Some("ngx_http_add_variable"),
                "call {number} failed, and nobody saw it"
            );
            continue;
        }
        assert!(words.contains("test failed"), "call {number}: {words}");
        failed.extend(faults.name());
    }
    failed
}

#[test]
fn a_configuration_without_memory_is_refused() {
    assert!(!configurations().is_empty());
}

/// What the module imports of nginx.
fn imports() -> BTreeSet<String> {
    let module = nginx::module().unwrap().unwrap();
    let nm = Command::new(tools::require_tool("nm", "binutils"))
        .args(["-D", "--undefined-only"])
        .arg(module)
        .output()
        .unwrap();
    let names = String::from_utf8(nm.stdout).unwrap();
    let names = names.split_whitespace().filter(|name| name.starts_with("ngx_"));
    let names: BTreeSet<String> = names.map(str::to_owned).collect();
    assert!(names.len() > 20, "{names:?}");
    names
}

/// The functions that the library lets fail.
fn entries() -> BTreeSet<String> {
    let source = fs::read_to_string(SOURCE).unwrap();
    let entries = source.lines().filter_map(|line| line.trim().strip_prefix("ENTRY("));
    entries.map(|line| line.trim_end_matches("),").to_owned()).collect()
}

/// So that what the module is made to import next is not forgotten here, and that each is reached.
#[test]
fn every_function_that_takes_memory_is_made_to_fail() {
    let (imports, entries) = (imports(), entries());
    let known = |name: &&String| entries.contains(*name) || NOT_FAILED.contains(&&***name);
    let unknown: Vec<_> = imports.iter().filter(|name| !known(name)).collect();
    assert!(unknown.is_empty(), "neither made to fail nor known to take no memory: {unknown:?}");

    let failed: BTreeSet<String> = requests().union(configurations()).cloned().collect();
    let never: Vec<_> = entries.difference(&failed).collect();
    assert!(never.is_empty(), "no call of these has failed: {never:?}");
}
