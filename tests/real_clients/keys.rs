//! The keys that are stored.

/// Which of them a client takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Keys {
    /// Only those in ASCII.
    Ascii,
    All,
}

/// 300 keys, as they are on the wire.
pub fn keys(which: Keys) -> Vec<String> {
    (0..300)
        .map(|number| match (number % 10, which) {
            (0..=2, _) => format!("k{number}"),
            (3 | 4, _) => format!("user:{number}"),
            (5 | 6, _) => format!("/page/{number}/a:b?c=d"),
            (7, _) => format!("{number}%25"),
            (8, Keys::All) => format!("/caf\u{e9}/{number}"),
            (9, Keys::All) => format!("\u{65e5}\u{672c}:\u{1f600}{number}"),
            _ => format!("{number}::{number}"),
        })
        .collect()
}

/// The value of `$memcached_key` that nginx sends as `wire`: it escapes `%`.
pub fn asked_for(wire: &str) -> String {
    wire.replace("%25", "%")
}
