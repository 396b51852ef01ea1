//! `memcached_hash` in a real nginx, with real memcached servers and the real Perl clients.
//!
//! `m..` in a test's name is the number of the public report that it answers.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used
)]

#[path = "../support/mod.rs"]
mod support;

mod balancing;
mod configuration;
mod fake;
mod faults;
mod namespaces;
mod pages;
mod perl;
mod placement;
mod recorded;
mod resolve;
mod values;

use support::cluster;
