//! Every kept input of the fuzzers, what they ever found, and inputs made up here, against the same references.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used
)]

use std::fs;
use std::path::Path;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, TestRunner};

#[path = "../fuzz/src/lib.rs"]
mod checks;

#[test]
fn the_corpus_holds() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus");
    for (name, check) in checks::CHECKS {
        let folder = fs::read_dir(corpus.join(name)).unwrap();
        let inputs: Vec<_> = folder.map(|entry| entry.unwrap().path()).collect();
        assert!(!inputs.is_empty(), "{name} has no corpus");
        for input in inputs {
            let bytes = fs::read(&input).unwrap();
            if std::panic::catch_unwind(|| check(&bytes)).is_err() {
                panic!("{name} fails on {}", input.display());
            }
        }
    }
}

/// What a check is written for: each has rules of its own for its input.
fn inputs(check: &str) -> BoxedStrategy<Vec<u8>> {
    let text = |pattern: &str| {
        let text = proptest::string::string_regex(pattern).unwrap();
        text.prop_map(String::into_bytes).boxed()
    };
    match check {
        "args" => text("[abA_]{0,3}\n[abA_=&]{0,40}"),
        "callback" => text(
            "(x=1&){0,2}[cC][bB]=([a9_$.\\[\\]-]|\\[[0-9]\\]|%[2-7][0-9a-fA-F]){0,12}(&cb=z|%)?",
        ),
        "separators" => {
            let pieces = ["\u{2028}", "\u{2029}", "a", "\u{2027}"].map(str::as_bytes);
            let pieces = [&pieces[..], &[b"\xe2", b"\xe2\x80", b"\x80", b"\xa8"]].concat();
            vec(select(pieces), 0..12).prop_map(|pieces| pieces.concat()).boxed()
        }
        "walk" => {
            let entry = "(10\\.0\\.0\\.[1-9]|10\\.0\\.0\\.1:80|\\[fd00::1\\]:[0-9]{1,5}|::ffff:10\\.0\\.0\\.2\
                         |198\\.51\\.100\\.9|2001:db8::[1-9]|unknown|[0-9a-f:.\\[\\]]{1,12})";
            text(&format!("[0-4]({entry}(, ?|\n|,,| )){{0,8}}{entry}?"))
        }
        "networks" => {
            let address = "(10\\.[0-3]\\.0\\.[0-9]|192\\.0\\.2\\.[0-9]{1,3}|2001:db8:[0-3]::[0-9]|::ffff:10\\.[0-3]\\.0\\.1)";
            let prefix = "(/[0-9]|/[1-3][0-9]|/1[0-2][0-9])?";
            text(&format!("(({address}{prefix}|hops=[0-3])\n){{0,6}}\n({address}\n){{0,6}}"))
        }
        "escape" => any::<Vec<u8>>().boxed(),
        "placement" => {
            let fast = "(ketama_points=[0-9]{1,2} ?|weight_scale=[1-9] ?|hash_namespace=on ?){0,2}|rehash=on";
            let other = "client=(cache_memcached|python_memcached|dalli|libmemcached|php_memcache|pymemcache|\
                         gomemcache|node_memcached|memjs|spymemcached|twemproxy)|client=cache_memcached rehash=on";
            let server = "[0-9]{1,2} (mc[1-9]|10\\.0\\.0\\.[1-9]|unix:/s[1-9])(:[0-9]{1,5})?\n";
            text(&format!("({fast}|{other})\n({server}){{1,8}}\n([ -~é]{{2,12}}\n){{1,8}}"))
        }
        other => panic!("nothing is made up for {other}"),
    }
}

#[test]
fn made_up_inputs_hold() {
    for (name, check) in checks::CHECKS {
        let holds = |input: Vec<u8>| {
            let held = std::panic::catch_unwind(|| check(&input));
            held.map_err(|_| {
                TestCaseError::fail(format!("{name} fails on {}", input.escape_ascii()))
            })
        };
        // A case that failed goes to the corpus.
        let config = Config { failure_persistence: None, ..Config::default() };
        TestRunner::new(config).run(&inputs(name), holds).unwrap_or_else(|error| panic!("{error}"));
    }
}
