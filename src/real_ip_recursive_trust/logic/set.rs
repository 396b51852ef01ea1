//! Sets of addresses whose look-up does not grow with the list they were made of.

use std::net::IpAddr;

use ipnet::{IpNet, Ipv4Net, Ipv6Net};

use super::entry::{address, number, split_at_first};

/// A set of IPv4 and IPv6 addresses.
///
/// An IPv4-mapped IPv6 address is the IPv4 address that it maps, in the set and in what is looked up.
/// A network that holds more than mapped addresses (`::/0`) holds no IPv4 address, as in nginx.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AddressSet {
    v4: Ranges<u32>,
    v6: Ranges<u128>,
}

impl FromIterator<IpNet> for AddressSet {
    fn from_iter<I: IntoIterator<Item = IpNet>>(nets: I) -> Self {
        let (mut v4, mut v6): (Vec<Ipv4Net>, Vec<Ipv6Net>) = Default::default();
        for net in nets {
            match unmapped(net) {
                IpNet::V4(net) => v4.push(net),
                IpNet::V6(net) => v6.push(net),
            }
        }
        // Aggregated networks are sorted, and none of them overlap.
        Self {
            v4: Ipv4Net::aggregate(&v4)
                .into_iter()
                .map(|net| (net.network().to_bits(), net.broadcast().to_bits()))
                .collect(),
            v6: Ipv6Net::aggregate(&v6)
                .into_iter()
                .map(|net| (net.network().to_bits(), net.broadcast().to_bits()))
                .collect(),
        }
    }
}

impl AddressSet {
    /// Whether `addr` is in the set.
    pub fn contains(&self, addr: IpAddr) -> bool {
        match addr.to_canonical() {
            IpAddr::V4(addr) => contains(&self.v4, addr.to_bits()),
            IpAddr::V6(addr) => contains(&self.v6, addr.to_bits()),
        }
    }
}

/// First and last addresses of ranges, sorted; no two of them overlap.
type Ranges<T> = Box<[(T, T)]>;

fn contains<T: Copy + Ord>(ranges: &[(T, T)], addr: T) -> bool {
    let behind = ranges.partition_point(|&(first, _)| first <= addr);
    behind.checked_sub(1).and_then(|i| ranges.get(i)).is_some_and(|&(_, last)| addr <= last)
}

/// A network of mapped addresses as the IPv4 network that it maps.
fn unmapped(net: IpNet) -> IpNet {
    let IpNet::V6(v6) = net else { return net };
    let prefix = v6.prefix_len().checked_sub(MAPPED_PREFIX_LEN);
    match (v6.network().to_ipv4_mapped(), prefix) {
        (Some(addr), Some(prefix)) => Ipv4Net::new(addr, prefix).map_or(net, IpNet::V4),
        _ => net,
    }
}

/// IPv4-mapped addresses are `::ffff:0:0/96` (RFC 4291, section 2.5.5.2).
const MAPPED_PREFIX_LEN: u8 = 96;

/// An address or a network, as `ngx_ptocidr` reads it, and whether bits behind the prefix were set.
///
/// These are cleared, as nginx does, which warns that they are meaningless.
pub(super) fn network(text: &[u8]) -> Option<(IpNet, bool)> {
    let Some((addr, prefix)) = split_at_first(text, b'/') else {
        return address(text).map(|addr| (addr.into(), false));
    };
    let addr = address(addr)?;
    let net = IpNet::new(addr, u8::try_from(number(prefix)?).ok()?).ok()?;
    Some((net.trunc(), net.network() != addr))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn set(nets: &[&str]) -> AddressSet {
        nets.iter().map(|net| network(net.as_bytes()).unwrap().0).collect()
    }

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn networks() {
        let read = |text: &str| network(text.as_bytes()).map(|(net, bits)| (net.to_string(), bits));
        let is = |text, net: &str, bits| assert_eq!(read(text), Some((net.to_owned(), bits)));
        is("203.0.113.7", "203.0.113.7/32", false);
        is("203.0.113.0/24", "203.0.113.0/24", false);
        is("203.0.113.7/24", "203.0.113.0/24", true);
        is("203.0.113.7/0", "0.0.0.0/0", true);
        is("0.0.0.0/0", "0.0.0.0/0", false);
        is("203.0.113.7/032", "203.0.113.7/32", false);
        is("2001:db8::1", "2001:db8::1/128", false);
        is("2001:db8::/32", "2001:db8::/32", false);
        is("2001:db8::1/32", "2001:db8::/32", true);
        is("::/0", "::/0", false);
        for text in [
            "",
            "/",
            "/8",
            "all",
            "unix:",
            "lb.example",
            "300.1.1.1",
            "1.2.3",
            "203.0.113.7/",
            "203.0.113.7/33",
            "203.0.113.7/-1",
            "203.0.113.7/a",
            "203.0.113.7/8/8",
            "203.0.113.7/256",
            "203.0.113.7/18446744073709551624",
            "203.0.113.7:80",
            "203.0.113.7/255.255.255.0",
            "255.255.255.255",
            "2001:db8::/129",
            "[2001:db8::1]",
            "2001:db8::%eth0/64",
        ] {
            assert_eq!(read(text), None, "{text:?}");
        }
    }

    #[test]
    fn empty() {
        assert!(!set(&[]).contains(ip("0.0.0.0")));
        assert!(!set(&[]).contains(ip("::")));
    }

    #[test]
    fn edges() {
        let set = set(&["203.0.113.7", "192.0.2.128/25", "2001:db8::/64", "198.51.100.0/31"]);
        for addr in ["203.0.113.7", "192.0.2.128", "192.0.2.255", "2001:db8::", "198.51.100.1"] {
            assert!(set.contains(ip(addr)), "{addr}");
        }
        for addr in [
            "203.0.113.6",
            "203.0.113.8",
            "192.0.2.127",
            "192.0.3.0",
            "0.0.0.0",
            "::",
            "255.255.255.255",
            "2001:db8:0:1::",
            "2001:db7:ffff:ffff::",
            "198.51.100.2",
        ] {
            assert!(!set.contains(ip(addr)), "{addr}");
        }
    }

    #[test]
    fn everything() {
        let v4 = set(&["0.0.0.0/0"]);
        assert!(v4.contains(ip("0.0.0.0")) && v4.contains(ip("255.255.255.255")));
        assert!(!v4.contains(ip("::")) && v4.contains(ip("::ffff:1.2.3.4")));
        let v6 = set(&["::/0"]);
        assert!(v6.contains(ip("::")) && v6.contains(ip("ffff::")));
        assert!(!v6.contains(ip("1.2.3.4")) && !v6.contains(ip("::ffff:1.2.3.4")));
    }

    #[test]
    fn mapped_addresses_are_ipv4_addresses() {
        let written_as_ipv4 = set(&["203.0.113.0/24"]);
        let written_as_ipv6 = set(&["::ffff:203.0.113.0/120"]);
        assert_eq!(written_as_ipv4, written_as_ipv6);
        for addr in ["203.0.113.7", "::ffff:203.0.113.7", "::ffff:cb00:7107"] {
            assert!(written_as_ipv4.contains(ip(addr)), "{addr}");
        }
        assert!(!written_as_ipv4.contains(ip("::203.0.113.7")));
        assert_eq!(set(&["::ffff:0:0/96"]), set(&["0.0.0.0/0"]));
        // Not mapped addresses alone: nginx finds no IPv4 address in these either.
        assert!(!set(&["::ffff:0:0/95"]).contains(ip("203.0.113.7")));
    }

    /// Networks close together, so that they overlap and touch.
    fn nets() -> impl Strategy<Value = Vec<IpNet>> {
        let v4 = (0u32..1024, 20u8..=32)
            .prop_map(|(low, len)| Ipv4Net::new((0xcb00_7000 | low).into(), len).unwrap().into());
        let v6 = (0u128..1024, 116u8..=128).prop_map(|(low, len)| {
            Ipv6Net::new(((0x2001_0db8 << 96) | low).into(), len).unwrap().into()
        });
        let mapped = (0u128..1024, 88u8..=128).prop_map(|(low, len)| {
            Ipv6Net::new((0xffff_cb00_7000 | low).into(), len).unwrap().into()
        });
        let any = any::<(IpAddr, u8)>().prop_map(|(addr, len)| IpNet::new(addr, len % 33).unwrap());
        prop::collection::vec(prop_oneof![v4, v6, mapped, any], 0..40)
    }

    fn addresses() -> impl Strategy<Value = IpAddr> {
        prop_oneof![
            (0u32..2048).prop_map(|low| IpAddr::V4((0xcb00_7000 | low).into())),
            (0u128..2048).prop_map(|low| IpAddr::V6(((0x2001_0db8 << 96) | low).into())),
            (0u128..2048).prop_map(|low| IpAddr::V6((0xffff_cb00_7000 | low).into())),
            any::<IpAddr>(),
        ]
    }

    /// `ngx_cidr_match`, with a mapped network taken for the IPv4 network.
    fn linear(nets: &[IpNet], addr: IpAddr) -> bool {
        let addr = addr.to_canonical();
        nets.iter().any(|net| match net {
            IpNet::V6(v6) if v6.prefix_len() >= 96 && v6.network().to_ipv4_mapped().is_some() => {
                let IpAddr::V4(addr) = addr else { return false };
                v6.contains(&addr.to_ipv6_mapped())
            }
            net => net.contains(&addr),
        })
    }

    proptest! {
        #[test]
        fn holds_what_a_linear_search_finds(nets in nets(), addrs in prop::collection::vec(addresses(), 50)) {
            let set: AddressSet = nets.iter().copied().collect();
            for addr in addrs {
                prop_assert_eq!(set.contains(addr), linear(&nets, addr), "{} in {:?}", addr, nets);
            }
        }

        #[test]
        fn reads_what_ipnet_writes(addr: IpAddr, len in 0u8..=128) {
            prop_assume!(address(addr.to_string().as_bytes()).is_some());
            if let Ok(net) = IpNet::new(addr, len) {
                let read = network(net.to_string().as_bytes());
                prop_assert_eq!(read, Some((net.trunc(), net.trunc() != net)));
            }
        }

        #[test]
        fn never_panics(text in "[0-9a-f:./]{0,50}") {
            let _ = network(text.as_bytes());
        }
    }
}
