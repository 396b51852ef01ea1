//! Every kept input of the fuzzers, and what they ever found, against the same references.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used
)]

use std::fs;
use std::path::Path;

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
