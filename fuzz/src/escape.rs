//! Keys in nginx's memcached escaping. Input: the key.

use ngx_cachefront::memcached_hash::logic::escape;

/// nginx's table for `NGX_ESCAPE_MEMCACHED`: a bit for each byte that is escaped, the lowest for the first.
const MEMCACHED: [u32; 8] = [0xffff_ffff, 0x0000_0021, 0, 0, 0, 0, 0, 0];

pub fn check(key: &[u8]) {
    let wire = escape(key);
    let mut expected = Vec::new();
    for &byte in key {
        if MEMCACHED[usize::from(byte >> 5)] & (1 << (byte & 31)) != 0 {
            expected.extend(format!("%{byte:02X}").bytes());
        } else {
            expected.push(byte);
        }
    }
    assert_eq!(wire, expected);
}
