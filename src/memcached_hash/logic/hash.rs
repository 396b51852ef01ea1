//! Hash functions of keys and points.

/// A function from the bytes of a key to 32 bits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Hash {
    /// CRC-32 (IEEE 802.3).
    Crc32,
    /// Bits 16 to 30 of the CRC-32, 15 bits, as Cache::Memcached has them.
    Crc15,
}

impl Hash {
    /// The hash of `parts`, one after the other.
    pub(super) fn of(self, parts: &[&[u8]]) -> u32 {
        match self {
            Self::Crc32 => crc32(parts),
            Self::Crc15 => (crc32(parts) >> 16) & 0x7fff,
        }
    }
}

fn crc32(parts: &[&[u8]]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    for part in parts {
        hasher.update(part);
    }
    hasher.finalize()
}
