//! `jsonp_callback` in a real nginx: what a fixture cannot show, as time, memory and connections.
//!
//! `j..` and `f..` in a test's name are the number of the public report that it answers.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used
)]

#[path = "../support/mod.rs"]
mod support;

mod broken;
mod connections;
mod http2;
mod large;
mod lengths;
mod lua;
mod proxy;
mod slices;
mod streaming;
