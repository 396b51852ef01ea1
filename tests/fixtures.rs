//! Runs every block of `t/**/*.t` as a test of its own, against the real nginx.
//!
//! `cargo test --test fixtures -- 'basic.t: TEST 3'` runs those whose name has the text in it, and
//! `TEST_FILTER` in the environment does the same.

mod support;

use std::path::Path;
use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};
use support::fixture;

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    if arguments.filter.is_none() {
        arguments.filter = std::env::var("TEST_FILTER").ok().filter(|filter| !filter.is_empty());
    }
    // A block waits for its nginx more than it computes.
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    arguments.test_threads.get_or_insert(processors.saturating_mul(2));

    match trials() {
        Ok(trials) => libtest_mimic::run(&arguments, trials).exit_code(),
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn trials() -> support::Result<Vec<Trial>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut trials = Vec::new();
    for path in fixture::find_files(&root.join("t"))? {
        let text = std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let name = path.strip_prefix(root).unwrap_or(&path).to_string_lossy();
        for test in fixture::tests(&name, &text) {
            let left_out = test.left_out.is_some();
            let name = test.name.clone();
            let trial = Trial::test(name, move || test.run().map_err(Into::into));
            trials.push(trial.with_ignored_flag(left_out));
        }
    }
    Ok(trials)
}
