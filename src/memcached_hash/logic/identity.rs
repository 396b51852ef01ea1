//! The parts of a server's name.

/// A server's name, as nginx's `server` directive reads it (`ngx_parse_url`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Identity<'a> {
    /// The path of a socket; the prefix `unix:`, in any case, is no part of it.
    Unix(&'a [u8]),
    /// `port` is empty where none is written; the brackets of an IPv6 address are no part of `host`.
    Inet { host: &'a [u8], port: &'a [u8] },
}

impl<'a> Identity<'a> {
    pub(super) fn parse(name: &'a [u8]) -> Self {
        if let Some((prefix, path)) = name.split_at_checked(5) {
            if prefix.eq_ignore_ascii_case(b"unix:") {
                return Self::Unix(path);
            }
        }

        if let Some((host, rest)) = name.strip_prefix(b"[").and_then(|rest| split_last(rest, b']'))
        {
            return Self::Inet { host, port: rest.strip_prefix(b":").unwrap_or(rest) };
        }

        let (host, port) = split_last(name, b':').unwrap_or((name, b""));
        Self::Inet { host, port }
    }

    /// Host and port as the Perl clients see them: they know no `unix:`, and split a socket's path
    /// at its last colon too.
    pub(super) fn host_port(self) -> (&'a [u8], &'a [u8]) {
        match self {
            Self::Unix(path) => split_last(path, b':').unwrap_or((path, b"")),
            Self::Inet { host, port } => (host, port),
        }
    }
}

/// What is before and what is after the last `separator`.
fn split_last(text: &[u8], separator: u8) -> Option<(&[u8], &[u8])> {
    let at = text.iter().rposition(|&byte| byte == separator)?;
    let (before, after) = text.split_at_checked(at)?;
    Some((before, after.get(1..)?))
}

#[cfg(test)]
mod tests {
    use std::str;

    use super::*;

    fn host_port(name: &str) -> (&str, &str) {
        let (host, port) = Identity::parse(name.as_bytes()).host_port();
        (str::from_utf8(host).unwrap(), str::from_utf8(port).unwrap())
    }

    #[test]
    fn names_are_split_as_the_perl_clients_split_theirs() {
        for (name, host, port) in [
            ("localhost:20000", "localhost", "20000"),
            ("LocalHost:020000", "LocalHost", "020000"),
            ("localhost", "localhost", ""),
            ("127.0.0.1:", "127.0.0.1", ""),
            (":20000", "", "20000"),
            ("", "", ""),
            ("[::1]:20000", "::1", "20000"),
            ("[::1]", "::1", ""),
            ("[::1", "[:", "1"),
            ("::1:20000", "::1", "20000"),
            ("unix:/run/s1.sock", "/run/s1.sock", ""),
            ("UniX:/run/s1.sock", "/run/s1.sock", ""),
            ("unix:/run/s1.sock:", "/run/s1.sock", ""),
            ("unix:/run/a:b.sock", "/run/a", "b.sock"),
            ("unix:", "", ""),
            ("unix", "unix", ""),
            ("unix.example:11211", "unix.example", "11211"),
        ] {
            assert_eq!(host_port(name), (host, port), "{name}");
        }
    }
}
