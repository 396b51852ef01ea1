//! What is put around the JSON.

/// What stands behind the JSON.
pub const SUFFIX: &[u8] = b");";

/// What stands in front of it, in pieces: `name(`, or with the guard
/// `/**/typeof name==='function'&&name(`.
///
/// The guard's comment keeps the first bytes of the answer out of the client's hands (an answer that
/// begins with bytes of the client's choice can be made to pass for a Flash file, CVE-2014-4671),
/// and nothing is called that is not a function.
pub fn prefix(callback: &[u8], guard: bool) -> [&[u8]; 5] {
    if guard {
        [b"/**/typeof ", callback, b"==='function'&&", callback, b"("]
    } else {
        [b"", b"", b"", callback, b"("]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces() {
        assert_eq!(prefix(b"a.b", false).concat(), b"a.b(");
        assert_eq!(prefix(b"cb", true).concat(), b"/**/typeof cb==='function'&&cb(");
    }
}
