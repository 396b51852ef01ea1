//! What nginx sees of the library when it loads it, in whatever nginx is tested: one without realip,
//! memcached, gzip, gunzip, SSI, PCRE or threads too (`make features`, case B05).

// Tests stop at the first thing that is not as it should be.
#![allow(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::unwrap_used)]

mod support;

use std::fs;
use std::path::Path;
use std::process::Command;

use support::http;
use support::memcached::Memcached;
use support::nginx::{self, Nginx};
use support::tools;

/// Whether the nginx under test was built with all of these configure arguments, and without none.
fn built(with: &[&str], without: &[&str]) -> bool {
    let binary = nginx::binary().unwrap();
    let output = Command::new(binary).arg("-V").output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let has = |argument: &&str| text.split_whitespace().any(|word| word == *argument);
    with.iter().all(has) && !without.iter().any(has)
}

#[test]
fn b04_it_exports_the_three_tables_and_nothing_else() {
    let module = nginx::module().unwrap().unwrap();
    let nm = tools::require_tool("nm", "binutils");
    let output = Command::new(nm)
        .args(["--dynamic", "--defined-only", "--format=just-symbols"])
        .arg(module)
        .output()
        .unwrap();
    let mut names: Vec<String> =
        String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect();
    names.sort();
    assert_eq!(names, ["ngx_module_names", "ngx_module_order", "ngx_modules"]);
}

/// What nginx says of a copy of the library in which one text of bytes stands for another.
fn refused(from: &[u8], to: &[u8]) -> String {
    let mut library = fs::read(nginx::module().unwrap().unwrap()).unwrap();
    let places: Vec<usize> = library
        .windows(from.len())
        .enumerate()
        .filter_map(|(at, bytes)| (bytes == from).then_some(at))
        .collect();
    assert!(!places.is_empty());
    for at in places {
        library[at..].iter_mut().zip(to).for_each(|(byte, new)| *byte = *new);
    }
    let prefix = tempfile::tempdir().unwrap();
    let changed = prefix.path().join("changed.so");
    fs::write(&changed, library).unwrap();
    let text = format!("load_module {}; events {{}}", changed.display());
    fs::write(prefix.path().join("nginx.conf"), text).unwrap();
    let output = Command::new(nginx::binary().unwrap())
        .args(["-t", "-c", "nginx.conf", "-e", "stderr", "-p"])
        .arg(prefix.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success(), "{said}");
    said
}

/// In the words that docs/loading.md explains.
#[test]
fn a_library_for_another_nginx_is_refused() {
    let [major, minor, patch] = nginx::version().unwrap();
    let version = u64::from(major * 1_000_000 + minor * 1_000 + patch);
    let said = refused(&version.to_le_bytes(), &(version + 5).to_le_bytes());
    assert!(said.contains(&format!("version {} instead of {version}", version + 5)), "{said}");

    // The sizes with which the signature of any nginx on these machines begins.
    let said = refused(b"8,4,8,", b"8,4,9,");
    assert!(said.contains("is not binary compatible"), "{said}");
}

/// The signature that nginx compares, as docs/loading.md finds it in a file. A compiler that does not optimize
/// leaves one for each module.
fn signature(file: &Path) -> Vec<String> {
    let output = Command::new("grep").args(["-aoE", "8,4,8,[01]{20,}"]).arg(file).output().unwrap();
    let mut found: Vec<String> =
        String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect();
    found.sort();
    found.dedup();
    found
}

#[test]
fn the_signature_can_be_compared_by_hand() {
    let found = signature(&nginx::binary().unwrap());
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(signature(&nginx::module().unwrap().unwrap()), found);
}

#[test]
fn an_answer_is_wrapped() {
    let nginx = Nginx::builder()
        .server(
            "location /j {
                 root           html;
                 default_type   application/json;
                 jsonp_callback callback;
             }",
        )
        .file("html/j", r#"{"a":1}"#)
        .start();
    assert_eq!(http::get(nginx.port(), "/j?callback=cb").text(), r#"cb({"a":1});"#);
    assert_eq!(http::get(nginx.port(), "/j").text(), r#"{"a":1}"#);
    nginx.check();
}

#[test]
fn a_key_is_found_where_nginx_has_memcached() {
    let servers = [Memcached::start(), Memcached::start()];
    for (number, server) in servers.iter().enumerate() {
        server.set("key", 0, number.to_string());
    }
    let [first, second] = servers.each_ref().map(Memcached::port);
    let upstream = format!(
        "upstream cluster {{ memcached_hash; server 127.0.0.1:{first}; server 127.0.0.1:{second}; }}"
    );
    let builder = Nginx::builder().http(&upstream);

    // Without memcached or `set`, the directive stands all the same.
    if !built(&[], &["--without-http_memcached_module", "--without-http_rewrite_module"]) {
        let (accepted, said) = builder.test_config();
        assert!(accepted, "{said}");
        return;
    }
    let nginx = builder
        .server(
            "location / {
                 add_header X-Server $memcached_hash_server;
                 set $memcached_key key;
                 memcached_pass cluster;
             }",
        )
        .root_location(false)
        .start();
    let answer = http::get(nginx.port(), "/");
    let asked = if answer.text() == "0" { first } else { second };
    assert_eq!(answer.header("X-Server"), Some(format!("127.0.0.1:{asked}")));
    nginx.check();
}

#[test]
fn an_address_is_found_or_realip_is_named() {
    let builder = Nginx::builder().server("real_ip_recursive_trust 203.0.113.7;");
    if !built(&["--with-http_realip_module"], &[]) {
        let (accepted, said) = builder.test_config();
        assert!(!accepted);
        assert!(
            said.contains(
                "\"real_ip_recursive_trust\" directive: needs ngx_http_realip_module: \
                 build nginx with --with-http_realip_module"
            ),
            "{said}"
        );
        return;
    }
    let nginx = builder
        .server(
            "set_real_ip_from  127.0.0.1;
             real_ip_header    X-Forwarded-For;
             real_ip_recursive on;
             add_header        X-Address $remote_addr;",
        )
        .start();
    let answer =
        http::get_with(nginx.port(), "/", &[("X-Forwarded-For", "198.51.100.9, 203.0.113.7")]);
    assert_eq!(answer.header("X-Address").as_deref(), Some("198.51.100.9"));
    nginx.check();
}
