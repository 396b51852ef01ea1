//! The documentation against the code: what the one has, the other has too, and what it shows works.

// The helpers are no `#[test]` functions: see clippy.toml.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used
)]

#[path = "../support/mod.rs"]
mod support;

mod cases;
mod clients;
mod code;
mod configurations;
mod links;
mod markdown;
mod reference;
mod sessions;
mod values;

use std::path::{Path, PathBuf};

/// The repository.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The nginx modules, as their folders in `src/` and their pages in `docs/` are called.
fn modules() -> Vec<String> {
    let folders = std::fs::read_dir(root().join("src")).unwrap();
    let mut modules: Vec<String> = folders
        .map(|folder| folder.unwrap().path())
        .filter(|folder| folder.join("module.rs").exists() && folder.join("logic").exists())
        .map(|folder| folder.file_name().unwrap().to_string_lossy().into_owned())
        .collect();
    modules.sort();
    assert!(!modules.is_empty());
    modules
}

/// All files below `folder` with this extension, in order.
fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.is_symlink() {
                folders.push(path);
            } else if path.extension().is_some_and(|found| found == extension) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Fails the test with all that is wrong, if anything is.
#[track_caller]
fn none(faults: Vec<String>) {
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
}
