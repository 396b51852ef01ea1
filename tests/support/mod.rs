//! What the integration tests share: real nginx, real memcached, real Perl, a raw HTTP client, a scripted
//! TCP server, and the runner of the fixtures in `t/`.
//!
//! Everything here gives up with a message of its own instead of guessing: a test that cannot run says what
//! is missing, and every process started ends with the value that stands for it.

// Every test crate compiles this module for itself and uses a part of it.
#![allow(dead_code)]
// Tests stop at the first thing that is not as it should be; clippy.toml's `allow-*-in-tests` reaches only
// functions marked `#[test]`. A test file with helpers of its own has to say the same for itself.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used
)]

pub mod cluster;
pub mod fixture;
pub mod http;
pub mod memcached;
pub mod nginx;
pub mod ports;
pub mod process;
pub mod recording;
pub mod tcp_server;
pub mod tools;

/// What went wrong, as a sentence for the person who reads the test's output.
pub type Result<T> = std::result::Result<T, String>;
