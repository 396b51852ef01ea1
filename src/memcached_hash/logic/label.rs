//! What clients hash for a server: its name in a form of their own.

use super::hash::Hash;

/// The port that some clients leave out.
const MEMCACHED_PORT: &[u8] = b"11211";

/// `host:port`. Where the configuration has no port, nginx connects to port 80, so the client must
/// have been given that one.
pub(super) fn host_port(host: &[u8], port: &[u8]) -> Vec<u8> {
    let port = if port.is_empty() { b"80" } else { port };
    [host, b":", port].concat()
}

/// `host:port`, but only `host` if the port is memcached's own.
pub(super) fn host_and_unusual_port(host: &[u8], port: &[u8]) -> Vec<u8> {
    if port == MEMCACHED_PORT { host.to_vec() } else { host_port(host, port) }
}

/// `label-number`
pub(super) fn numbered(label: &[u8], number: u64) -> Vec<u8> {
    [label, format!("-{number}").as_bytes()].concat()
}

/// Points of a server: the hashes of `label-0`, `label-1`, ...
pub(super) fn points(label: &[u8], hash: Hash) -> impl Iterator<Item = u32> {
    (0..).map(move |number| hash.of(&numbered(label, number)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports() {
        assert_eq!(host_port(b"mc", b"20000"), b"mc:20000");
        assert_eq!(host_port(b"mc", b"11211"), b"mc:11211");
        assert_eq!(host_port(b"mc", b""), b"mc:80");
        assert_eq!(host_and_unusual_port(b"mc", b"20000"), b"mc:20000");
        assert_eq!(host_and_unusual_port(b"mc", b"11211"), b"mc");
        assert_eq!(host_and_unusual_port(b"mc", b""), b"mc:80");
        assert_eq!(numbered(b"mc", 7), b"mc-7");
    }
}
