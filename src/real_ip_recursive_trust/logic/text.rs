//! The text of an address, as nginx writes it (`ngx_sock_ntop` without a port).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::ops::Range;

/// The longest text: eight groups of four digits and seven colons.
const LEN: usize = 39;

/// The text of an address.
#[derive(Clone, Copy, Debug)]
pub struct Text {
    bytes: [u8; LEN],
    len: usize,
}

impl Text {
    /// The text of `addr`.
    pub fn of(addr: IpAddr) -> Self {
        let mut text = Self { bytes: [0; LEN], len: 0 };
        match addr {
            IpAddr::V4(addr) => text.ipv4(addr),
            IpAddr::V6(addr) => text.ipv6(addr),
        }
        text
    }

    /// Its bytes, 39 at most.
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or_default()
    }

    fn push(&mut self, byte: u8) {
        if let Some(place) = self.bytes.get_mut(self.len) {
            *place = byte;
            self.len = self.len.wrapping_add(1);
        }
    }

    fn ipv4(&mut self, addr: Ipv4Addr) {
        let [a, b, c, d] = addr.octets();
        self.octet(a);
        for octet in [b, c, d] {
            self.push(b'.');
            self.octet(octet);
        }
    }

    fn octet(&mut self, octet: u8) {
        if octet >= 100 {
            self.digit(octet / 100);
        }
        if octet >= 10 {
            self.digit(octet / 10 % 10);
        }
        self.digit(octet % 10);
    }

    fn digit(&mut self, digit: u8) {
        self.push(match digit {
            0..=9 => b'0' | digit,
            _ => digit.wrapping_add(b'a' - 10),
        });
    }

    /// As RFC 5952 says, except that nginx writes the last 32 bits as an IPv4 address not only in
    /// IPv4-mapped but also in (deprecated) IPv4-compatible addresses.
    fn ipv6(&mut self, addr: Ipv6Addr) {
        let groups = addr.segments();
        let gap = longest_gap(&groups);
        let written = if ends_with_ipv4(addr, &gap) { 6 } else { 8 };

        for (i, &group) in groups.iter().enumerate().take(written) {
            if gap.contains(&i) {
                // Two colons stand for the groups: one in their place, and the one that follows the
                // group before them, or begins the text.
                if i == gap.start {
                    if i == 0 {
                        self.push(b':');
                    }
                    self.push(b':');
                }
                continue;
            }
            self.hexadecimal(group);
            if i < 7 {
                self.push(b':');
            }
        }
        if written == 6 {
            let [.., a, b, c, d] = addr.octets();
            self.ipv4(Ipv4Addr::new(a, b, c, d));
        }
    }

    fn hexadecimal(&mut self, group: u16) {
        // A group of 0 is one digit.
        let digits = 4u32.saturating_sub((group | 1).leading_zeros() / 4);
        for i in (0..digits).rev() {
            self.digit((group >> i.wrapping_mul(4) & 0xf) as u8);
        }
    }
}

/// The first of the longest runs of groups that are 0; a single group is none.
fn longest_gap(groups: &[u16; 8]) -> Range<usize> {
    let (mut longest, mut start) = (0..0, 0);
    for (i, &group) in groups.iter().enumerate() {
        let behind = i.wrapping_add(1);
        if group != 0 {
            start = behind;
        } else if behind.wrapping_sub(start) > longest.len().max(1) {
            longest = start..behind;
        }
    }
    longest
}

/// Whether nginx writes the last 32 bits as an IPv4 address: `ngx_inet6_ntop`.
fn ends_with_ipv4(addr: Ipv6Addr, gap: &Range<usize>) -> bool {
    let [.., last_but_one, last] = addr.octets();
    gap.start == 0
        && match gap.len() {
            5 => addr.to_ipv4_mapped().is_some(),
            6 => true,
            7 => last_but_one != 0 && last != 1,
            _ => false,
        }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn is(addr: &str, text: &str) {
        let written = Text::of(addr.parse().unwrap());
        assert_eq!(String::from_utf8_lossy(written.as_bytes()), text);
    }

    #[test]
    fn ipv4() {
        for text in ["0.0.0.0", "255.255.255.255", "198.51.100.9", "10.0.20.103"] {
            is(text, text);
        }
    }

    #[test]
    fn ipv6() {
        for text in [
            "::",
            "::1",
            "1::",
            "2001:db8::5",
            "1:2:3:4:5:6:7:8",
            "1:0:3:4:5:6:7:8",
            "0:2:3:4:5:6:7:8",
            "1:2:3:4:5:6:7:0",
            "1::4:5:6:7:8",
            "1:2:3:4:5:6::",
            "::3:4:5:6:7:8",
            "1::4:5:0:0:8",
            "1:0:0:4::8",
            "abcd:ef01:2345:6789:abcd:ef01:2345:6789",
            "a0:b:c00:d000::",
            "::ffff:198.51.100.9",
            "::ffff:0.0.0.0",
        ] {
            is(text, text);
        }
    }

    /// Where nginx does not write what RFC 5952 recommends.
    #[test]
    fn ipv4_compatible() {
        is("::1.2.3.4", "::1.2.3.4");
        is("::102:304", "::1.2.3.4");
        is("::102", "::0.0.1.2");
        is("::2", "::2");
        is("::101", "::101");
    }

    proptest! {
        #[test]
        fn reads_as_the_same_address(addr: IpAddr) {
            let text = Text::of(addr);
            prop_assert_eq!(std::str::from_utf8(text.as_bytes()).unwrap().parse(), Ok(addr));
        }

        #[test]
        fn gaps(groups in prop::array::uniform8(prop_oneof![Just(0u16), 0u16..=1, any::<u16>()])) {
            let addr = Ipv6Addr::from(groups);
            let text = Text::of(addr.into());
            let text = std::str::from_utf8(text.as_bytes()).unwrap();
            prop_assert_eq!(text.parse(), Ok(addr));
            if !text.contains('.') {
                prop_assert_eq!(text, addr.to_string());
            }
        }
    }
}
