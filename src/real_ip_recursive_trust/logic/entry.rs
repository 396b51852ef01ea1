//! One entry of X-Forwarded-For, read as nginx reads it (`ngx_parse_addr_port`, `ngx_parse_addr`).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// An address of a header, with the port that stands behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The address, as it is written: an IPv4-mapped IPv6 address stays one.
    pub addr: IpAddr,
    /// 1 to 65535, or 0 where the entry has none.
    pub port: u16,
}

impl Entry {
    /// Reads `192.0.2.1`, `192.0.2.1:80`, `2001:db8::1`, `[2001:db8::1]:80` or `[2001:db8::1]`.
    ///
    /// The same bytes are an address here as in nginx's `ngx_parse_addr_port` from 1.27.3 on; before
    /// that, nginx did not know brackets without a port. Like nginx, this takes an IPv4 address in
    /// brackets, and knows no zone (`%eth0`).
    pub fn parse(text: &[u8]) -> Option<Self> {
        if let Some(addr) = address(text) {
            return Some(Self { addr, port: 0 });
        }
        let (addr, port) = match text.strip_prefix(b"[") {
            Some(inner) => {
                let (addr, behind) = split_at_first(inner, b']')?;
                if behind.is_empty() {
                    return Some(Self { addr: address(addr)?, port: 0 });
                }
                (addr, behind.strip_prefix(b":")?)
            }
            None => split_at_first(text, b':')?,
        };
        let port =
            number(port).and_then(|port| u16::try_from(port).ok()).filter(|&port| port > 0)?;
        Some(Self { addr: address(addr)?, port })
    }
}

/// An IPv4 or IPv6 address without port or brackets, as `ngx_parse_addr` reads it.
pub(super) fn address(text: &[u8]) -> Option<IpAddr> {
    ipv4(text).map(IpAddr::V4).or_else(|| ipv6(text).map(IpAddr::V6))
}

/// What stands before and behind the first `separator`.
pub(super) fn split_at_first(text: &[u8], separator: u8) -> Option<(&[u8], &[u8])> {
    let (before, behind) = text.split_at(text.iter().position(|&byte| byte == separator)?);
    Some((before, behind.get(1..)?))
}

/// A decimal number without sign, as `ngx_atoi` reads it, or `None` where it is too large.
pub(super) fn number(text: &[u8]) -> Option<usize> {
    if text.is_empty() {
        return None;
    }
    text.iter().try_fold(0usize, |number, byte| {
        let digit = byte.is_ascii_digit().then(|| usize::from(byte & 0x0f))?;
        number.checked_mul(10)?.checked_add(digit)
    })
}

/// An IPv4 address as `ngx_inet_addr` reads it.
///
/// Four decimal numbers up to 255, each with any number of leading zeros. A number may be missing
/// and is 0 then (`1..2.3`). 255.255.255.255 is none: it is how nginx says "no address".
fn ipv4(text: &[u8]) -> Option<Ipv4Addr> {
    let (mut addr, mut octet, mut dots) = (0u32, 0u32, 0u32);
    for &byte in text {
        match byte.wrapping_sub(b'0') {
            digit @ 0..=9 => {
                octet = octet.wrapping_mul(10).wrapping_add(digit.into());
                if octet > 255 {
                    return None;
                }
            }
            _ if byte == b'.' => {
                addr = addr << 8 | octet;
                octet = 0;
                dots = dots.wrapping_add(1);
            }
            _ => return None,
        }
    }
    let addr = Ipv4Addr::from_bits(addr << 8 | octet);
    (dots == 3 && !addr.is_broadcast()).then_some(addr)
}

/// An IPv6 address as `ngx_inet6_addr` reads it.
///
/// Unlike RFC 4291, section 2.2, one colon more may stand first, or last where there is a `::`
/// (`:1:2:3:4:5:6:7:8`, `1::2:`), and `::` must stand for more than one group of an address that
/// it begins or ends.
fn ipv6(text: &[u8]) -> Option<Ipv6Addr> {
    let text = text.strip_prefix(b":").unwrap_or(text);
    let mut groups = Groups::default();
    let (mut group, mut digits) = (0u16, 0u8);
    let mut behind_colon = None;

    for (i, &byte) in text.iter().enumerate() {
        let digit = match byte {
            b'0'..=b'9' => byte & 0x0f,
            b'a'..=b'f' | b'A'..=b'F' => (byte & 0x0f).wrapping_add(9),
            b':' => {
                if digits == 0 {
                    groups.open_gap()?;
                } else {
                    groups.push(group);
                    // Something must follow, so this cannot be the eighth.
                    if groups.len >= 8 {
                        return None;
                    }
                }
                (group, digits) = (0, 0);
                behind_colon = text.get(i.wrapping_add(1)..);
                continue;
            }
            b'.' if digits > 0 => {
                let [a, b, c, d] = ipv4(behind_colon?)?.octets();
                groups.push(u16::from_be_bytes([a, b]));
                groups.push(u16::from_be_bytes([c, d]));
                return groups.address();
            }
            _ => return None,
        };
        if digits == 4 {
            return None;
        }
        group = group << 4 | u16::from(digit);
        digits = digits.wrapping_add(1);
    }
    if digits == 0 && groups.gap.is_none() {
        return None;
    }
    // Behind a last colon stands a group of 0, in nginx's eyes.
    groups.push(group);
    groups.address()
}

/// The groups of an IPv6 address in the order in which they are read.
#[derive(Default)]
struct Groups {
    /// How many there are: 9 at most.
    len: u32,
    /// How many groups stand before the `::`, and they.
    gap: Option<(u32, u128)>,
    /// All groups, or those behind the `::`.
    last: u128,
}

impl Groups {
    fn push(&mut self, group: u16) {
        self.last = self.last << 16 | u128::from(group);
        self.len = self.len.wrapping_add(1);
    }

    /// There is one `::` at most.
    fn open_gap(&mut self) -> Option<()> {
        let before = core::mem::take(&mut self.last);
        self.gap.replace((self.len, before)).is_none().then_some(())
    }

    /// The address, if there are eight groups, or fewer and a `::` that fills them up.
    fn address(&self) -> Option<Ipv6Addr> {
        let bits = match self.gap {
            None if self.len == 8 => self.last,
            Some((len, before)) if self.len < 8 => {
                // Groups of an address that begins with `::` would be shifted by all 128 bits.
                let behind = u128::BITS.wrapping_sub(len.wrapping_mul(16));
                before.checked_shl(behind).unwrap_or(0) | self.last
            }
            _ => return None,
        };
        Some(Ipv6Addr::from_bits(bits))
    }
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use proptest::prelude::*;

    use super::*;

    fn parse(text: &str) -> Option<(String, u16)> {
        Entry::parse(text.as_bytes()).map(|entry| (entry.addr.to_string(), entry.port))
    }

    #[track_caller]
    fn is(text: &str, addr: &str, port: u16) {
        assert_eq!(parse(text), Some((addr.to_owned(), port)), "{text}");
    }

    #[test]
    fn addresses() {
        is("198.51.100.9", "198.51.100.9", 0);
        is("0.0.0.0", "0.0.0.0", 0);
        is("255.255.255.254", "255.255.255.254", 0);
        is("2001:db8::5", "2001:db8::5", 0);
        is("2001:DB8::A", "2001:db8::a", 0);
        is("::", "::", 0);
        is("::1", "::1", 0);
        is("1::", "1::", 0);
        is("1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8", 0);
        is("::2:3:4:5:6:7:8", "0:2:3:4:5:6:7:8", 0);
        is("::ffff:192.0.2.1", "::ffff:192.0.2.1", 0);
        is("64:ff9b::192.0.2.33", "64:ff9b::c000:221", 0);
        is("1:2:3:4:5:6:1.2.3.4", "1:2:3:4:5:6:102:304", 0);
    }

    #[test]
    fn ports_and_brackets() {
        is("198.51.100.9:4711", "198.51.100.9", 4711);
        is("198.51.100.9:00080", "198.51.100.9", 80);
        is("198.51.100.9:65535", "198.51.100.9", 65535);
        is("[2001:db8::5]:4711", "2001:db8::5", 4711);
        is("[2001:db8::5]", "2001:db8::5", 0);
        is("[198.51.100.9]", "198.51.100.9", 0);
        is("[198.51.100.9]:1", "198.51.100.9", 1);
    }

    /// What `ngx_inet_addr` and `ngx_inet6_addr` take although it is not quite right.
    #[test]
    fn as_generous_as_nginx() {
        is("198.051.0000100.9", "198.51.100.9", 0);
        is("1..2.3", "1.0.2.3", 0);
        is("...", "0.0.0.0", 0);
        is(":1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8", 0);
        is("1::2:", "1::2:0", 0);
        is("::0001.2.3.4", "::102:304", 0);
    }

    #[test]
    fn not_an_address() {
        for text in [
            "",
            " ",
            "unknown",
            "_hidden",
            "localhost",
            "unix:",
            "unix:/tmp/s",
            "1.2.3",
            "1.2.3.4.5",
            "256.1.1.1",
            "1.2.3.4 ",
            "1.2.3.4\t",
            "1.2.3.4\0",
            "+1.2.3.4",
            "0x1.2.3.4",
            "255.255.255.255",
            "1.2.3.4:",
            "1.2.3.4:0",
            "1.2.3.4:65536",
            "1.2.3.4:18446744073709551617",
            "1.2.3.4:-1",
            "1.2.3.4:80:80",
            "1.2.3.4:http",
            "[",
            "]",
            "[]",
            "[]:80",
            "[::1",
            "[::1]80",
            "[::1]:",
            "[::1]:0",
            "[::1]]",
            "[[::1]]",
            "::1]",
            ":",
            ":::",
            "1:",
            "1:2",
            "1:2:3:4:5:6:7",
            "1:2:3:4:5:6:7:8:",
            "1:2:3:4:5:6:7:8:9",
            "2001:db8:0:0:0:0:0:5:51108",
            "1:2:3:4:5:6:7::",
            "1::2::3",
            "12345::",
            "g::",
            "fe80::1%eth0",
            "::1.2.3",
            "::1.2.3.4.5",
            "::256.2.3.4",
            "::.1.2.3",
            "::00001.2.3.4",
            "::255.255.255.255",
            "::1.2.3.4:5",
            ":1.2.3.4",
            "1:2:3:4:5:6:7:1.2.3.4",
            "2001:db8::5, 1.2.3.4",
        ] {
            assert_eq!(parse(text), None, "{text:?}");
        }
    }

    fn textual() -> impl Strategy<Value = Vec<u8>> {
        prop_oneof![
            prop::collection::vec(any::<u8>(), 0..60),
            prop::collection::vec(
                prop::sample::select(b"0123456789abcdefF.:[]/ ,".to_vec()),
                0..48
            ),
        ]
    }

    proptest! {
        #[test]
        fn never_panics(text in textual()) {
            let _ = Entry::parse(&text);
        }

        /// What the standard library reads, this reads as well, and gives the same address.
        #[test]
        fn reads_what_std_writes(addr: IpAddr, port in 1u16..) {
            prop_assume!(!is_nginx_exception(addr));
            prop_assert_eq!(Entry::parse(addr.to_string().as_bytes()), Some(Entry { addr, port: 0 }));
            let with_port = SocketAddr::new(addr, port).to_string();
            prop_assert_eq!(Entry::parse(with_port.as_bytes()), Some(Entry { addr, port }));
        }

        /// An address that is read here and by the standard library is the same address.
        #[test]
        fn agrees_with_std(text in "[0-9a-f.:]{1,40}") {
            if let (Some(ours), Ok(theirs)) = (address(text.as_bytes()), text.parse::<IpAddr>()) {
                prop_assert_eq!(ours, theirs);
            }
        }
    }

    /// Addresses whose canonical text nginx does not read.
    fn is_nginx_exception(addr: IpAddr) -> bool {
        let broadcast = |addr: Ipv4Addr| addr == Ipv4Addr::BROADCAST;
        match addr {
            IpAddr::V4(addr) => broadcast(addr),
            IpAddr::V6(addr) => addr.to_ipv4_mapped().is_some_and(broadcast),
        }
    }
}
