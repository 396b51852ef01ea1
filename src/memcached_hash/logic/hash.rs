//! Hash functions of keys and points. Those that differ from the function they are named after in
//! the client say so in their own name.

use std::sync::LazyLock;

use md5::Md5;
use sha1::{Digest, Sha1};

use super::text;

/// A function from bytes to 32 bits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Hash {
    /// CRC-32 (IEEE 802.3).
    Crc32,
    /// Bits 16 to 30 of the CRC-32, as Cache::Memcached takes them.
    Crc15,
    /// The same, but 1 for 0.
    Crc15OrOne,
    /// CRC-16/XMODEM, but the running value has 32 bits and is never cut to 16.
    Crc16Uncut,
    /// The first 4 bytes of the MD5, little endian.
    Md5,
    /// The first 4 bytes of the SHA-1, little endian.
    Sha1,
    /// Bob Jenkins's one-at-a-time, of bytes as signed C `char`s.
    OneAtATimeSigned,
    /// Bob Jenkins's lookup3 (`hashlittle`), initial value 13.
    Lookup3,
    /// Of bytes as signed C `char`s.
    FnvSigned(Fnv),
    /// Bits 16 to 30 of [`FNV1A_32`] of signed `char`s, but 1 for 0.
    Fnv15SignedOrOne,
    /// Of UTF-16 units.
    FnvUtf16(Fnv),
    /// Java's `String.hashCode`, unsigned.
    JavaString,
    /// The absolute value of Java's `String.hashCode`.
    JavaStringAbs,
    /// Paul Hsieh's SuperFastHash, but the last of three left-over bytes is a signed C `char`.
    HsiehSigned,
    /// MurmurHash2, the seed 0xdeadbeef times the length.
    Murmur2,
}

impl Hash {
    pub(super) fn of(self, bytes: &[u8]) -> u32 {
        match self {
            Self::Crc32 => crc32(&[bytes]),
            Self::Crc15 => crc15(&[bytes]),
            Self::Crc15OrOne => crc15(&[bytes]).max(1),
            Self::Crc16Uncut => crc16_uncut(bytes),
            Self::Md5 => first_word(md5(bytes)),
            Self::Sha1 => first_word(sha1(bytes)),
            Self::OneAtATimeSigned => one_at_a_time(signed(bytes)),
            Self::Lookup3 => lookup3(bytes),
            Self::FnvSigned(fnv) => fnv.of(signed(bytes)),
            Self::Fnv15SignedOrOne => bits_16_to_30(FNV1A_32.of(signed(bytes))).max(1),
            Self::FnvUtf16(fnv) => fnv.of(text::utf16(bytes)),
            Self::JavaString => java_string(bytes),
            Self::JavaStringAbs => (java_string(bytes) as i32).unsigned_abs(),
            Self::HsiehSigned => hsieh_signed(bytes),
            Self::Murmur2 => murmur2(bytes),
        }
    }
}

/// The hasher of nothing: a copy costs less than a new one, which asks what the processor can do.
static NO_BYTES: LazyLock<crc32fast::Hasher> = LazyLock::new(crc32fast::Hasher::new);

/// The CRC-32 of `parts`, one after the other.
pub(super) fn crc32(parts: &[&[u8]]) -> u32 {
    let mut hasher = NO_BYTES.clone();
    for part in parts {
        hasher.update(part);
    }
    hasher.finalize()
}

pub(super) fn crc15(parts: &[&[u8]]) -> u32 {
    bits_16_to_30(crc32(parts))
}

fn bits_16_to_30(hash: u32) -> u32 {
    (hash >> 16) & 0x7fff
}

pub(super) fn md5(bytes: &[u8]) -> [u8; 16] {
    Md5::digest(bytes).into()
}

/// The first 16 bytes of the SHA-1.
pub(super) fn sha1(bytes: &[u8]) -> [u8; 16] {
    let digest: [u8; 20] = Sha1::digest(bytes).into();
    let [first @ .., _, _, _, _] = digest;
    first
}

fn first_word([a, b, c, d, ..]: [u8; 16]) -> u32 {
    u32::from_le_bytes([a, b, c, d])
}

/// What C makes of bytes where `char` is signed, as on x86-64, and widened to an unsigned `int`.
fn signed(bytes: &[u8]) -> impl Iterator<Item = u32> {
    bytes.iter().map(|&byte| signed_char(byte))
}

fn signed_char(byte: u8) -> u32 {
    i32::from(byte as i8) as u32
}

/// Fowler, Noll and Vo's hash. Clients keep the low 32 bits of the 64-bit ones, to which only the
/// low halves of the two constants count.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Fnv {
    offset: u32,
    prime: u32,
    xor_first: bool,
}

pub(super) const FNV1_32: Fnv = Fnv { offset: 0x811c9dc5, prime: 0x01000193, xor_first: false };
pub(super) const FNV1A_32: Fnv = Fnv { xor_first: true, ..FNV1_32 };
/// The low 32 bits of the 64-bit FNV-1.
pub(super) const FNV1_64: Fnv = Fnv { offset: 0x84222325, prime: 0x000001b3, xor_first: false };
/// The low 32 bits of the 64-bit FNV-1a.
pub(super) const FNV1A_64: Fnv = Fnv { xor_first: true, ..FNV1_64 };

impl Fnv {
    fn of(self, units: impl Iterator<Item = u32>) -> u32 {
        units.fold(self.offset, |hash, unit| {
            if self.xor_first {
                (hash ^ unit).wrapping_mul(self.prime)
            } else {
                hash.wrapping_mul(self.prime) ^ unit
            }
        })
    }
}

fn java_string(bytes: &[u8]) -> u32 {
    text::utf16(bytes).fold(0, |hash: u32, unit| hash.wrapping_mul(31).wrapping_add(unit))
}

fn crc16_uncut(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |crc: u32, &byte| {
        let row = (crc >> 8) as u8 ^ byte;
        let entry = (0..8).fold(u16::from(row) << 8, |entry, _| {
            (entry << 1) ^ if entry & 0x8000 == 0 { 0 } else { 0x1021 }
        });
        (crc << 8) ^ u32::from(entry)
    })
}

fn one_at_a_time(units: impl Iterator<Item = u32>) -> u32 {
    let mut hash = units.fold(0, |hash: u32, unit| {
        let hash = hash.wrapping_add(unit);
        let hash = hash.wrapping_add(hash << 10);
        hash ^ (hash >> 6)
    });
    hash = hash.wrapping_add(hash << 3);
    hash ^= hash >> 11;
    hash.wrapping_add(hash << 15)
}

fn hsieh_signed(bytes: &[u8]) -> u32 {
    let word = |low, high| u32::from(u16::from_le_bytes([low, high]));
    let chunks = bytes.chunks_exact(4);
    let rest = chunks.remainder();

    let mut hash = chunks.fold(0, |hash: u32, chunk| match *chunk {
        [a, b, c, d] => {
            let hash = hash.wrapping_add(word(a, b));
            let hash = (hash << 16) ^ (word(c, d) << 11) ^ hash;
            hash.wrapping_add(hash >> 11)
        }
        _ => hash,
    });

    match *rest {
        [a, b, c] => {
            hash = hash.wrapping_add(word(a, b));
            hash ^= hash << 16;
            hash ^= signed_char(c) << 18;
            hash = hash.wrapping_add(hash >> 11);
        }
        [a, b] => {
            hash = hash.wrapping_add(word(a, b));
            hash ^= hash << 11;
            hash = hash.wrapping_add(hash >> 17);
        }
        [a] => {
            hash = hash.wrapping_add(u32::from(a));
            hash ^= hash << 10;
            hash = hash.wrapping_add(hash >> 1);
        }
        _ => {}
    }

    for (left, right) in [(3, 5), (4, 17), (25, 6)] {
        hash ^= hash << left;
        hash = hash.wrapping_add(hash >> right);
    }
    hash
}

fn murmur2(bytes: &[u8]) -> u32 {
    const M: u32 = 0x5bd1e995;

    let length = bytes.len() as u32;
    let chunks = bytes.chunks_exact(4);
    let rest = little_endian(chunks.remainder());
    let has_rest = !chunks.remainder().is_empty();

    let mut hash = chunks.fold(0xdeadbeef_u32.wrapping_mul(length) ^ length, |hash, chunk| {
        let word = little_endian(chunk).wrapping_mul(M);
        hash.wrapping_mul(M) ^ (word ^ (word >> 24)).wrapping_mul(M)
    });
    if has_rest {
        hash = (hash ^ rest).wrapping_mul(M);
    }
    hash = (hash ^ (hash >> 13)).wrapping_mul(M);
    hash ^ (hash >> 15)
}

fn lookup3(bytes: &[u8]) -> u32 {
    let start = 0xdeadbeef_u32.wrapping_add(bytes.len() as u32).wrapping_add(13);
    let (mut a, mut b, mut c) = (start, start, start);

    let mut blocks = bytes.chunks(12).peekable();
    while let Some(block) = blocks.next() {
        let mut words = block.chunks(4).map(little_endian);
        a = a.wrapping_add(words.next().unwrap_or(0));
        b = b.wrapping_add(words.next().unwrap_or(0));
        c = c.wrapping_add(words.next().unwrap_or(0));

        if blocks.peek().is_some() {
            for rotation in [4, 6, 8, 16, 19, 4] {
                a = a.wrapping_sub(c) ^ c.rotate_left(rotation);
                c = c.wrapping_add(b);
                (a, b, c) = (b, c, a);
            }
        } else {
            for rotation in [14, 11, 25, 16, 4, 14, 24] {
                c = (c ^ b).wrapping_sub(b.rotate_left(rotation));
                (a, b, c) = (b, c, a);
            }
            return b;
        }
    }
    start
}

/// Up to 4 bytes as a number.
fn little_endian(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |word, &byte| (word << 8) | u32::from(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Published values of the functions that are what their name says.
    #[test]
    fn published_values() {
        assert_eq!(Hash::Crc32.of(b"123456789"), 0xcbf43926);
        assert_eq!(Hash::Crc15.of(b"123456789"), 0x4bf4);
        assert_eq!(md5(b"abc")[..4], [0x90, 0x01, 0x50, 0x98]);
        assert_eq!(Hash::Md5.of(b"abc"), 0x98500190);
        assert_eq!(sha1(b"abc")[..4], [0xa9, 0x99, 0x3e, 0x36]);
        assert_eq!(Hash::Sha1.of(b"abc"), 0x363e99a9);
        assert_eq!(Hash::FnvSigned(FNV1_32).of(b"foobar"), 0x31f0b262);
        assert_eq!(Hash::FnvSigned(FNV1A_32).of(b"foobar"), 0xbf9cf968);
        assert_eq!(Hash::FnvSigned(FNV1_64).of(b"foobar"), 0x340d8765a4dda9c2_u64 as u32);
        assert_eq!(Hash::FnvSigned(FNV1A_64).of(b"foobar"), 0x85944171f73967e8_u64 as u32);
        assert_eq!(Hash::OneAtATimeSigned.of(b"a"), 0xca2e9442);
        assert_eq!(Hash::JavaString.of(b"hello"), 99162322);
    }

    #[test]
    fn bytes_are_signed_where_a_client_has_signed_chars() {
        assert_eq!(
            Hash::FnvSigned(FNV1A_32).of(b"\xff"),
            (0x811c9dc5_u32 ^ u32::MAX).wrapping_mul(0x01000193)
        );
        assert_eq!(Hash::OneAtATimeSigned.of(b"\xff"), one_at_a_time([u32::MAX].into_iter()));
        assert_ne!(Hash::HsiehSigned.of(b"ab\xff"), Hash::HsiehSigned.of(b"ab\x7f"));
    }

    #[test]
    fn java_hashes_utf_16() {
        // D83D DE00
        assert_eq!(Hash::JavaString.of("\u{1f600}".as_bytes()), 0xd83d * 31 + 0xde00);
        assert_eq!(Hash::JavaString.of("polygenelubricants".as_bytes()), 0x80000000);
        assert_eq!(Hash::JavaStringAbs.of("polygenelubricants".as_bytes()), 0x80000000);
        assert_eq!(
            Hash::JavaStringAbs.of(b"zzzzzz"),
            (Hash::JavaString.of(b"zzzzzz") as i32).unsigned_abs()
        );
    }

    #[test]
    fn the_crc_16_keeps_what_is_shifted_out() {
        assert_eq!(Hash::Crc16Uncut.of(b"123456789") & 0xffff, 0x31c3);
        assert!(Hash::Crc16Uncut.of(b"123456789") > 0xffff);
    }

    #[test]
    fn hash_0_is_1_where_a_client_has_it_so() {
        // Recorded: the 15-bit hash of this key is 0.
        assert_eq!(Hash::Crc15.of(b"z37384"), 0);
        assert_eq!(Hash::Crc15OrOne.of(b"z37384"), 1);
    }

    #[test]
    fn no_key_is_too_short() {
        for length in 0..30 {
            let key = &[b'k'; 30][..length];
            for hash in [Hash::Lookup3, Hash::HsiehSigned, Hash::Murmur2] {
                assert_ne!(hash.of(key), hash.of(&[key, b"k"].concat()), "{hash:?} {length}");
            }
        }
        assert_eq!(Hash::HsiehSigned.of(b""), 0);
        assert_eq!(Hash::Murmur2.of(b""), 0);
        assert_eq!(Hash::Lookup3.of(b""), 0xdeadbeef + 13);
    }
}
