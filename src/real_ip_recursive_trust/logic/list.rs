//! The walk over a header's entries, from the one written last towards the client's own.
//!
//! ```text
//!   X-Forwarded-For: forged, client, proxy, balancer
//!                    e1      e2      e3     e4        <- the walk starts here
//! ```

use std::net::IpAddr;

use super::entry::Entry;

/// Where a walk ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Walk {
    /// The entry that is the client, or `None` where the peer is.
    pub client: Option<Entry>,
    /// How many entries were passed over, i.e. stand to the right of the place where it ended.
    pub passed: usize,
}

/// Walks over `lines`, the values of a header in order, as one list (RFC 9110, section 5.3).
///
/// 1. The `hops` rightmost entries are passed over, whatever they hold. Where there are no more, the
///    peer is the answer: the leftmost entry of a list that is shorter than promised is the client's
///    to forge.
/// 2. From there on, an address that is `trusted` is passed over as long as there is another to its
///    left, as in nginx's `ngx_http_get_forwarded_addr`.
/// 3. An entry that is not an address ends the walk at the last one that was, or at the peer.
///
/// Entries are separated by commas and spaces, and empty ones do not count (RFC 9110, section 5.6.1).
/// There nginx differs: it takes a comma at the very start of a line for a part of the first entry,
/// and a line without entries for one that is not an address.
pub fn walk<'a>(
    lines: impl DoubleEndedIterator<Item = &'a [u8]>,
    hops: usize,
    trusted: impl Fn(IpAddr) -> bool,
) -> Walk {
    let mut entries = Entries { lines, line: &[] };
    let skipped = entries.by_ref().take(hops).count();
    let mut walk = Walk { client: None, passed: skipped };

    let mut entries = entries.peekable();
    while let Some(entry) = entries.next().and_then(Entry::parse) {
        if walk.client.replace(entry).is_some() {
            walk.passed = walk.passed.saturating_add(1);
        }
        if entries.peek().is_none() || !trusted(entry.addr) {
            break;
        }
    }
    walk
}

/// The entries of all lines, from the last one to the first.
struct Entries<'a, L> {
    lines: L,
    /// What is left of the current line.
    line: &'a [u8],
}

impl<'a, L: DoubleEndedIterator<Item = &'a [u8]>> Iterator for Entries<'a, L> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let separates = |byte: &u8| matches!(byte, b' ' | b',');
        let line = loop {
            match self.line.iter().rposition(|byte| !separates(byte)) {
                Some(last) => break self.line.get(..=last)?,
                None => self.line = self.lines.next_back()?,
            }
        };
        let start = line.iter().rposition(separates).map_or(0, |before| before.saturating_add(1));
        let (rest, entry) = line.split_at_checked(start)?;
        self.line = rest;
        Some(entry)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Walks with 203.0.113.7, 203.0.113.8 and 127.0.0.1 trusted; `|` separates lines.
    fn answer(lines: &str, hops: usize) -> (String, usize) {
        let trusted = ["203.0.113.7", "203.0.113.8", "127.0.0.1"].map(|a| a.parse().unwrap());
        let walk = walk(lines.split('|').map(str::as_bytes), hops, |addr| trusted.contains(&addr));
        let client = match walk.client {
            Some(Entry { addr, port: 0 }) => addr.to_string(),
            Some(Entry { addr, port }) => format!("{addr} port {port}"),
            None => "peer".to_owned(),
        };
        (client, walk.passed)
    }

    #[track_caller]
    fn is(lines: &str, hops: usize, client: &str, passed: usize) {
        assert_eq!(answer(lines, hops), (client.to_owned(), passed), "{lines:?}, hops={hops}");
    }

    #[test]
    fn trusted_entries_are_passed_over() {
        is("198.51.100.9", 0, "198.51.100.9", 0);
        is("198.51.100.9, 203.0.113.7", 0, "198.51.100.9", 1);
        is("192.0.2.66, 198.51.100.9, 203.0.113.7", 0, "198.51.100.9", 1);
        is("198.51.100.9, 203.0.113.8, 203.0.113.7", 0, "198.51.100.9", 2);
        is("192.0.2.66, 198.51.100.9", 0, "198.51.100.9", 0);
        is("198.51.100.9:4711, 203.0.113.7:443", 0, "198.51.100.9 port 4711", 1);
    }

    #[test]
    fn the_leftmost_of_trusted_entries_is_the_answer() {
        is("203.0.113.7", 0, "203.0.113.7", 0);
        is("203.0.113.8, 203.0.113.7", 0, "203.0.113.8", 1);
    }

    #[test]
    fn a_malformed_entry_ends_the_walk() {
        is("unknown, 203.0.113.7", 0, "203.0.113.7", 0);
        is("198.51.100.9, unknown, 203.0.113.7", 0, "203.0.113.7", 0);
        is("198.51.100.9, 203.0.113.8;, 203.0.113.7", 0, "203.0.113.7", 0);
        is("198.51.100.9, unknown", 0, "peer", 0);
        is("unknown", 0, "peer", 0);
    }

    #[test]
    fn hops_pass_over_anything() {
        let list = "192.0.2.66, 198.51.100.9, 203.0.113.7";
        is(list, 1, "198.51.100.9", 1);
        is(list, 2, "192.0.2.66", 2);
        is(list, 3, "peer", 3);
        is(list, 4, "peer", 3);
        is(list, usize::MAX, "peer", 3);
        is("198.51.100.9, unknown, 192.0.2.200", 2, "198.51.100.9", 2);
        is("198.51.100.9, 203.0.113.7, 192.0.2.200", 1, "198.51.100.9", 2);
        is("198.51.100.9, unknown, 192.0.2.200", 1, "peer", 1);
        is("192.0.2.66", 3, "peer", 1);
    }

    #[test]
    fn empty_entries_do_not_count() {
        is("198.51.100.9, 203.0.113.7,", 0, "198.51.100.9", 1);
        is("198.51.100.9,, 203.0.113.7", 0, "198.51.100.9", 1);
        is(",198.51.100.9,203.0.113.7", 0, "198.51.100.9", 1);
        is(" 198.51.100.9 ", 0, "198.51.100.9", 0);
        is("198.51.100.9 203.0.113.7", 0, "198.51.100.9", 1);
        is(", ,", 0, "peer", 0);
        is("", 0, "peer", 0);
        is("192.0.2.66,,,, 203.0.113.7,,", 2, "peer", 2);
    }

    #[test]
    fn lines_are_one_list() {
        is("192.0.2.66|198.51.100.9, 203.0.113.7", 0, "198.51.100.9", 1);
        is("192.0.2.66|198.51.100.9|203.0.113.7", 0, "198.51.100.9", 1);
        is("192.0.2.66|198.51.100.9|203.0.113.7", 2, "192.0.2.66", 2);
        is("198.51.100.9||,|203.0.113.7", 0, "198.51.100.9", 1);
        is("198.51.100.9|unknown|203.0.113.7", 0, "203.0.113.7", 0);
    }

    /// The rules of the directive read as they are written, over a list that is all there.
    fn reference(entries: &[&str], hops: usize, trusted: impl Fn(IpAddr) -> bool) -> Walk {
        let kept = entries.len().saturating_sub(hops);
        let mut client = None;
        for (i, text) in entries[..kept].iter().enumerate().rev() {
            let Some(entry) = Entry::parse(text.as_bytes()) else { break };
            client = Some((entry, entries[i..].len().saturating_sub(1)));
            if !trusted(entry.addr) {
                break;
            }
        }
        match client {
            Some((entry, passed)) => Walk { client: Some(entry), passed },
            None => Walk { client: None, passed: entries[kept..].len() },
        }
    }

    proptest! {
        #[test]
        fn follows_the_rules(
            entries in prop::collection::vec(prop::sample::select(vec![
                "198.51.100.9", "198.51.100.9:80", "203.0.113.7", "203.0.113.8:443",
                "[2001:db8::7]", "2001:db8::7", "[2001:db8::7]:80", "unknown",
            ]), 0..12),
            separators in prop::collection::vec(prop::sample::select(vec![
                ",", ", ", " ", ",,", " , ", "|", "|,|", "||",
            ]), 12),
            hops in 0usize..5,
        ) {
            let trusted = |addr: IpAddr| {
                ["203.0.113.7", "203.0.113.8", "2001:db8::7"].contains(&addr.to_string().as_str())
            };
            let text: String = entries.iter().zip(&separators).flat_map(|(e, s)| [*e, *s]).collect();
            let walked = walk(text.split('|').map(str::as_bytes), hops, trusted);
            prop_assert_eq!(walked, reference(&entries, hops, trusted), "{}", text);
        }

        #[test]
        fn never_panics(
            lines in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..60), 0..6),
            hops: usize,
        ) {
            walk(lines.iter().map(Vec::as_slice), hops, |addr| addr.is_ipv4());
        }

        /// Whoever does not write the rightmost entries cannot move the answer past them.
        #[test]
        fn what_stands_left_of_an_untrusted_entry_does_not_matter(
            forged in "[0-9a-f:., \\[\\]]{0,60}", hops in 0usize..2,
        ) {
            let line = format!("{forged},198.51.100.9, 203.0.113.7");
            let answer = walk([line.as_bytes()].into_iter(), hops, |addr| {
                addr != IpAddr::from([198, 51, 100, 9])
            });
            prop_assert_eq!(answer.client, Entry::parse(b"198.51.100.9"));
            prop_assert_eq!(answer.passed, 1);
        }
    }
}
