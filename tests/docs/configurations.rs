//! The configurations that the documentation shows, and those of `nginx-conf/`, start.

use std::fs;
use std::process::Command;

use crate::code::test;
use crate::markdown::{Page, documentation};
use crate::support::http;
use crate::support::nginx::{self, Nginx};
use crate::{files, none, root};

/// What the fragments in the documentation leave to their readers: upstreams and zones of these names.
const ELSEWHERE: [(&str, &str); 4] = [
    ("app", "upstream app { server 127.0.0.1:1; }"),
    ("application", "upstream application { server 127.0.0.1:1; }"),
    ("memcached_cluster", "upstream memcached_cluster { server 127.0.0.1:1; }"),
    ("api", "proxy_cache_path cache keys_zone=api:1m;"),
];

/// The places that a fragment may be meant for.
const FRAMES: [(&str, &str); 5] = [
    ("a file", "@"),
    ("http", "http { $ @ }"),
    ("server", "http { $ server { @ } }"),
    ("location", "http { $ server { location / { @ } } }"),
    ("upstream", "http { $ upstream fragment { @ server 127.0.0.1:1; } }"),
];

/// What nginx says against a fragment, wherever it may be meant for; nothing if it may start somewhere.
fn faults(fragment: &str) -> Vec<String> {
    let own = |line: &&str| !line.starts_with("load_module ");
    let text = fragment.lines().filter(own).collect::<Vec<_>>().join("\n");
    let elsewhere: Vec<&str> = ELSEWHERE
        .iter()
        .filter(|(name, _)| {
            !["upstream ", "keys_zone="].iter().any(|word| text.contains(&format!("{word}{name}")))
        })
        .map(|(_, directive)| *directive)
        .collect();
    let mut faults = Vec::new();
    for (place, frame) in FRAMES {
        let whole = frame.replace('$', &elsewhere.join(" ")).replace('@', &format!("\n{text}\n"));
        match test(&whole, true) {
            (true, _) => return Vec::new(),
            (false, said) => {
                faults.push(format!("    in {place}: {}", said.lines().next().unwrap_or_default()))
            }
        }
    }
    faults
}

#[test]
fn what_the_documentation_shows_starts() {
    let mut all = Vec::new();
    let mut number = 0;
    for page in documentation() {
        for (line, fragment) in page.blocks("nginx") {
            number += 1;
            let faults = faults(&fragment);
            if !faults.is_empty() {
                all.push(format!("{}:\n{}", page.at(line), faults.join("\n")));
            }
        }
    }
    assert!(number > 0);
    none(all);
}

/// Directives in the running text, such as `jsonp_callback a b;`. What stands for more, as `...`, is none.
fn directives(page: &Page) -> Vec<(usize, String)> {
    let is_directive = |text: &str| {
        let name = text.split(' ').next().unwrap_or_default();
        let is_name = name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
        text.ends_with(';')
            && is_name
            && !["...", "|", "[", "("].iter().any(|part| text.contains(part))
    };
    page.code_spans().into_iter().filter(|(_, text)| is_directive(text)).collect()
}

#[test]
fn directives_in_the_text_are_right() {
    let mut all = Vec::new();
    let mut number = 0;
    for page in documentation() {
        for (line, directive) in directives(&page) {
            number += 1;
            let faults = faults(&directive);
            if !faults.is_empty() {
                all.push(format!("{}: {directive}\n{}", page.at(line), faults.join("\n")));
            }
        }
    }
    assert!(number > 0);
    none(all);
}

#[test]
fn a_fragment_that_is_wrong_is_noticed() {
    for right in [
        "memcached_hash;",
        "jsonp_callback a;",
        "set $x 1;",
        "server { listen 10080; }",
        "events {}",
    ] {
        assert!(faults(right).is_empty(), "{right}: {:?}", faults(right));
    }
    for wrong in
        ["memcached_hash points=1;", "jsonp_callback;", "server { memcached_hash; }", "set $x"]
    {
        assert_eq!(faults(wrong).len(), FRAMES.len(), "{wrong}");
    }
}

/// Where the configurations of `nginx-conf/` find all they name.
fn prefix() -> tempfile::TempDir {
    let prefix = tempfile::tempdir().unwrap();
    for folder in ["modules", "logs", "temp"] {
        fs::create_dir(prefix.path().join(folder)).unwrap();
    }
    if let Some(module) = nginx::module().unwrap() {
        let link = prefix.path().join("modules/ngx_http_cachefront_module.so");
        std::os::unix::fs::symlink(module, link).unwrap();
    }
    prefix
}

#[test]
fn every_example_starts_as_it_is() {
    let mut faults = Vec::new();
    let examples = files(&root().join("nginx-conf"), "conf");
    assert!(!examples.is_empty());
    for path in examples {
        let prefix = prefix();
        let mut nginx = Command::new(nginx::binary().unwrap());
        nginx.arg("-p").arg(prefix.path()).arg("-c").arg(&path).args([
            "-e",
            "logs/error.log",
            "-t",
        ]);
        let output = nginx.output().unwrap();
        if !output.status.success() {
            faults.push(format!("{}: {}", path.display(), String::from_utf8_lossy(&output.stderr)));
        }
    }
    none(faults);
}

#[test]
fn one_cached_json_serves_every_callback() {
    let builder = Nginx::builder();
    let api = format!("127.0.0.1:{}", builder.port());
    let application = format!("127.0.0.1:{}", crate::support::ports::free_port());
    let changes = [("127.0.0.1:10080", &*api), ("127.0.0.1:10082", &*application)];
    let nginx = builder.example("jsonp-cache.conf", &changes).start();
    for (target, state, body) in [
        ("/a%20b?id=1&callback=x", "MISS", r#"x({"asked":"/a%20b?id=1"});"#),
        ("/a%20b?id=1&callback=y&_=12", "HIT", r#"y({"asked":"/a%20b?id=1"});"#),
        ("/a%20b?id=1", "HIT", r#"{"asked":"/a%20b?id=1"}"#),
        ("/a%20b?id=2&callback=x", "MISS", r#"x({"asked":"/a%20b?id=2"});"#),
        // A line end in the path stays where it is.
        ("/%0d%0aX:%20y?id=1&callback=x", "MISS", r#"x({"asked":"/%0d%0aX:%20y?id=1"});"#),
    ] {
        let answer = http::get(nginx.port(), target);
        assert_eq!(answer.header("X-Cache").as_deref(), Some(state), "{target}");
        assert_eq!(String::from_utf8_lossy(&answer.body), body, "{target}");
    }
    nginx.check();
}
