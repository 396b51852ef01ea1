//! What must hold for every input: the module's logic against simple references.
//!
//! Each check takes the bytes a fuzzer made up, or a file of `corpus/`, and panics where the logic and its
//! reference differ. The references do what the rules say, in the order in which they say it, and
//! nothing to be fast.

#![forbid(unsafe_code)]

pub mod args;
pub mod callback;
pub mod escape;
pub mod networks;
pub mod nginx_addr;
pub mod placement;
pub mod separators;
pub mod walk;

/// Fails on an input that shows a fault.
pub type Check = fn(&[u8]);

/// The checks by the names of their targets and of their folders in `corpus/`.
pub const CHECKS: [(&str, Check); 7] = [
    ("args", args::check),
    ("callback", callback::check),
    ("escape", escape::check),
    ("networks", networks::check),
    ("placement", placement::check),
    ("separators", separators::check),
    ("walk", walk::check),
];

/// The lines of an input.
fn lines(input: &[u8]) -> impl DoubleEndedIterator<Item = &[u8]> {
    input.split(|&byte| byte == b'\n')
}

/// The input up to the first line end, and what follows it.
fn first_line(input: &[u8]) -> (&[u8], &[u8]) {
    let end = input.iter().position(|&byte| byte == b'\n').unwrap_or(input.len());
    (&input[..end], input.get(end + 1..).unwrap_or_default())
}
