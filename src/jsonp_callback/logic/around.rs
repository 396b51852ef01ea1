//! What is put around the JSON.

/// How many bytes of it stand behind the JSON: `);`.
pub const SUFFIX_LEN: usize = 2;

/// What stands around it, in pieces: `name(` and `);`, or with the guard
/// `/**/typeof name==='function'&&name(` and `);`.
///
/// The guard's comment keeps the first bytes of the answer out of the client's hands (an answer that
/// begins with bytes of the client's choice can be made to pass for a Flash file, CVE-2014-4671),
/// and nothing is called that is not a function.
pub fn around(callback: &[u8], guard: bool) -> [&[u8]; 5] {
    if guard {
        [b"/**/typeof ", callback, b"==='function'&&", callback, b"();"]
    } else {
        [b"", b"", b"", callback, b"();"]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces() {
        assert_eq!(around(b"a.b", false).concat(), b"a.b();");
        assert_eq!(around(b"cb", true).concat(), b"/**/typeof cb==='function'&&cb();");
        assert_eq!(&b"cb();"["cb();".len() - SUFFIX_LEN..], b");");
    }
}
