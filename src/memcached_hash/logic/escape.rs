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
    use super::*;

    /// nginx's table: a bit for each byte that is escaped, the lowest for the first.
    const MEMCACHED: [u32; 8] = [0xffffffff, 0x00000021, 0, 0, 0, 0, 0, 0];

    #[test]
    fn every_byte_is_escaped_as_in_nginxs_table() {
        for byte in 0..=u8::MAX {
            let is_escaped = MEMCACHED[usize::from(byte / 32)] & (1 << (byte % 32)) != 0;
            let expected =
                if is_escaped { format!("%{byte:02X}").into_bytes() } else { vec![byte] };
            assert_eq!(escape(&[byte]), expected, "{byte:#x}");
        }
    }

    #[test]
    fn keys_are_escaped_throughout() {
        assert_eq!(escape(b"/a%20b c\n"), b"/a%2520b%20c%0A");
        assert_eq!(escape("/café".as_bytes()), "/café".as_bytes());
        assert_eq!(escape(b""), b"");
    }
}
