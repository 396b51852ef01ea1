//! Wire keys as the text that some clients hash. Bytes that are no UTF-8, which such a client never
//! sends, count as U+FFFD, one for each broken sequence.

use std::iter;

/// The characters of UTF-8 `bytes`.
pub(super) fn chars(bytes: &[u8]) -> impl Iterator<Item = char> {
    bytes.utf8_chunks().flat_map(|chunk| {
        let broken = (!chunk.invalid().is_empty()).then_some(char::REPLACEMENT_CHARACTER);
        chunk.valid().chars().chain(broken)
    })
}

/// The UTF-16 units of UTF-8 `bytes`.
pub(super) fn utf16(bytes: &[u8]) -> impl Iterator<Item = u32> {
    chars(bytes).flat_map(|char| {
        let mut units = [0; 2];
        let length = char.encode_utf16(&mut units).len();
        units.into_iter().take(length).map(u32::from)
    })
}

/// The characters that Python prints for `bytes`: `b'...'`.
pub(super) fn python_bytes(bytes: &[u8]) -> impl Iterator<Item = u8> {
    let quote = if bytes.contains(&b'\'') && !bytes.contains(&b'"') { b'"' } else { b'\'' };

    let printed = bytes.iter().flat_map(move |&byte| {
        let (text, length) = match byte {
            b'\t' => (*b"\\t__", 2),
            b'\n' => (*b"\\n__", 2),
            b'\r' => (*b"\\r__", 2),
            _ if byte == quote || byte == b'\\' => ([b'\\', byte, 0, 0], 2),
            b' '..=b'~' => ([byte, 0, 0, 0], 1),
            _ => ([b'\\', b'x', hex(byte >> 4), hex(byte & 15)], 4),
        };
        text.into_iter().take(length)
    });
    [b'b', quote].into_iter().chain(printed).chain(iter::once(quote))
}

fn hex(digit: u8) -> u8 {
    char::from_digit(u32::from(digit), 16).map_or(b'0', |digit| digit as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn utf_8_is_decoded() {
        let text = "aé€😀";
        assert!(chars(text.as_bytes()).eq(text.chars()));
        assert!(utf16(text.as_bytes()).eq(text.encode_utf16().map(u32::from)));
    }

    #[test]
    fn broken_sequences_are_replaced_one_by_one() {
        for bytes in [&b"\xff"[..], b"a\xe2\x82b\xff", b"\xf0\x9f\x98", b"\xc3\xa9\xc3"] {
            let expected = String::from_utf8_lossy(bytes);
            assert!(chars(bytes).eq(expected.chars()), "{bytes:?}");
        }
    }

    #[test]
    fn bytes_are_printed_as_python_does() {
        for (bytes, printed) in [
            (&b"abc"[..], "b'abc'"),
            (b"", "b''"),
            (b"it's", "b\"it's\""),
            (b"it's \"it\"", "b'it\\'s \"it\"'"),
            (b"\"", "b'\"'"),
            (b"a\\b\t\n\r\x00\x7f\xff~ ", "b'a\\\\b\\t\\n\\r\\x00\\x7f\\xff~ '"),
        ] {
            assert!(python_bytes(bytes).eq(printed.bytes()), "{printed}");
        }
    }
}
