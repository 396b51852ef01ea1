//! Keys as nginx's memcached module sends them.

/// `key` with the bytes 0x00 to 0x20 and `%` written as `%XX`, as `ngx_escape_uri` does with
/// `NGX_ESCAPE_MEMCACHED`.
pub fn escape(key: &[u8]) -> Vec<u8> {
    let mut wire = Vec::with_capacity(key.len());
    for &byte in key {
        match byte {
            0x00..=b' ' | b'%' => wire.extend([b'%', hex(byte >> 4), hex(byte & 0x0f)]),
            _ => wire.push(byte),
        }
    }
    wire
}

fn hex(digit: u8) -> u8 {
    match digit {
        0..=9 => digit | b'0',
        _ => digit.wrapping_add(b'A' - 10),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// nginx's table: a bit for each byte that is escaped, the lowest for the first.
    const MEMCACHED: [u32; 8] = [0xffffffff, 0x00000021, 0, 0, 0, 0, 0, 0];

    /// By nginx's table, a byte at a time.
    fn reference(key: &[u8]) -> Vec<u8> {
        let escaped = key.iter().map(|&byte| {
            let is_escaped = MEMCACHED[usize::from(byte / 32)] & (1 << (byte % 32)) != 0;
            if is_escaped { format!("%{byte:02X}").into_bytes() } else { vec![byte] }
        });
        escaped.collect::<Vec<_>>().concat()
    }

    #[test]
    fn every_byte_is_escaped_as_in_nginxs_table() {
        for byte in 0..=u8::MAX {
            assert_eq!(escape(&[byte]), reference(&[byte]), "{byte:#x}");
        }
    }

    #[test]
    fn keys_are_escaped_throughout() {
        assert_eq!(escape(b"/a%20b c\n"), b"/a%2520b%20c%0A");
        assert_eq!(escape("/café".as_bytes()), "/café".as_bytes());
        assert_eq!(escape(b""), b"");
    }

    proptest! {
        #[test]
        fn keys_are_escaped_as_nginx_does(key: Vec<u8>) {
            prop_assert_eq!(escape(&key), reference(&key));
        }

        // Most bytes of these are escaped.
        #[test]
        fn what_is_escaped_can_be_read_back(key in "[ -&\\x00-\\x1f]{0,300}") {
            let wire = escape(key.as_bytes());
            prop_assert!(wire.iter().all(|byte| *byte > b' '));
            let mut read = Vec::new();
            let mut rest = &wire[..];
            while let Some((&first, behind)) = rest.split_first() {
                rest = behind;
                if first == b'%' {
                    let (digits, behind) = rest.split_at(2);
                    read.push(u8::from_str_radix(std::str::from_utf8(digits).unwrap(), 16).unwrap());
                    rest = behind;
                } else {
                    read.push(first);
                }
            }
            prop_assert_eq!(read, key.as_bytes());
        }
    }
}
