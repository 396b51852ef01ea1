//! Rendezvous hashing: of all servers the one whose name and the key have the highest hash together.

use super::text;

/// The servers by name, ascending, each name once.
#[derive(Debug)]
pub(super) struct Rendezvous {
    nodes: Box<[Node]>,
    keys: Keys,
}

#[derive(Debug)]
struct Node {
    server: usize,
    /// The hash of `name-`, to be continued with the key.
    hash: Murmur3,
}

/// What the keys are in Python.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Keys {
    /// `str`: hashed by the low byte of each character.
    Str,
    /// `bytes`: hashed as Python prints them, `b'...'`.
    Bytes,
}

impl Rendezvous {
    pub(super) fn new(names: &[Vec<u8>], keys: Keys) -> Self {
        let mut named: Vec<_> = names.iter().enumerate().collect();
        named.sort_by_key(|(_, name)| *name);
        named.dedup_by_key(|(_, name)| *name);

        let nodes = named.into_iter().map(|(server, name)| {
            let mut hash = Murmur3::default();
            hash.extend(low_bytes(name));
            hash.extend([b'-']);
            Node { server, hash }
        });
        Self { nodes: nodes.collect(), keys }
    }

    /// The server of `key`; of equal hashes the one with the greater name wins.
    pub(super) fn server(&self, key: &[u8]) -> usize {
        let is_ascii = key.is_ascii();
        let score = |node: &Node| {
            let mut hash = node.hash;
            match self.keys {
                // The same as the next, in a third of the time.
                Keys::Str if is_ascii => hash.extend(key.iter().copied()),
                Keys::Str => hash.extend(low_bytes(key)),
                Keys::Bytes => hash.extend(text::python_bytes(key)),
            }
            hash.finish()
        };
        // Of equal ones the last.
        self.nodes.iter().max_by_key(|node| score(node)).map_or(0, |node| node.server)
    }
}

fn low_bytes(text: &[u8]) -> impl Iterator<Item = u8> {
    text::chars(text).map(|char| char as u32 as u8)
}

/// MurmurHash3, 32 bits, seed 0, byte by byte: keys need not lie in memory as they are hashed.
#[derive(Clone, Copy, Debug, Default)]
struct Murmur3 {
    hash: u32,
    /// The last bytes, the newest on top.
    word: u32,
    length: u32,
}

impl Murmur3 {
    fn extend(&mut self, bytes: impl IntoIterator<Item = u8>) {
        for byte in bytes {
            self.word = (self.word >> 8) | (u32::from(byte) << 24);
            self.length = self.length.wrapping_add(1);
            if self.length % 4 == 0 {
                self.hash = (self.hash ^ scrambled(self.word)).rotate_left(13);
                self.hash = self.hash.wrapping_mul(5).wrapping_add(0xe6546b64);
            }
        }
    }

    fn finish(self) -> u32 {
        let rest = match self.length % 4 {
            0 => 0,
            1 => self.word >> 24,
            2 => self.word >> 16,
            _ => self.word >> 8,
        };
        let mut hash = self.hash ^ scrambled(rest) ^ self.length;
        hash = (hash ^ (hash >> 16)).wrapping_mul(0x85ebca6b);
        hash = (hash ^ (hash >> 13)).wrapping_mul(0xc2b2ae35);
        hash ^ (hash >> 16)
    }
}

fn scrambled(word: u32) -> u32 {
    word.wrapping_mul(0xcc9e2d51).rotate_left(15).wrapping_mul(0x1b873593)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn murmur3(bytes: &[u8]) -> u32 {
        let mut hash = Murmur3::default();
        hash.extend(bytes.iter().copied());
        hash.finish()
    }

    #[test]
    fn published_values() {
        assert_eq!(murmur3(b""), 0);
        assert_eq!(murmur3(b"test"), 0xba6bd213);
        assert_eq!(murmur3(b"hello"), 0x248bfa47);
        assert_eq!(murmur3(b"Hello, world!"), 0xc0363e43);
        assert_eq!(murmur3(b"The quick brown fox jumps over the lazy dog"), 0x2e4ff723);
    }

    #[test]
    fn the_first_of_equal_names_wins() {
        let names = [b"b".to_vec(), b"a".to_vec(), b"b".to_vec(), b"a".to_vec()];
        let servers = Rendezvous::new(&names, Keys::Str);
        let mut found: Vec<_> =
            (0..100_u32).map(|key| servers.server(&key.to_le_bytes())).collect();
        found.sort_unstable();
        found.dedup();
        assert_eq!(found, [0, 1]);
    }
}
