//! The directive's parameters and the set they make. Input: parameters, one a line, an empty line, and
//! addresses to look up, one a line.

use std::net::IpAddr;

use ngx_cachefront::real_ip_recursive_trust::logic::{AddressSet, Trust, param::Note};

use super::{lines, nginx_addr};

pub fn check(input: &[u8]) {
    let mut lines = lines(input);
    let mut trust = Trust::default();
    let mut networks = Vec::new();
    for parameter in lines.by_ref().take_while(|line| !line.is_empty()) {
        let added = trust.add(parameter);
        if parameter.starts_with(b"hops=") {
            continue;
        }
        match nginx_addr::cidr(parameter) {
            None => assert!(added.is_err(), "{parameter:?}"),
            Some((first, prefix, cleared)) => {
                assert_eq!(added, Ok(cleared.then_some(Note::HostBits)), "{parameter:?}");
                networks.push((first, prefix));
            }
        }
    }
    let added: Vec<_> =
        trust.nets().iter().map(|net| (net.network(), u32::from(net.prefix_len()))).collect();
    assert_eq!(added, networks);

    let set: AddressSet = trust.nets().iter().copied().collect();
    let edges = networks.iter().flat_map(|&(first, prefix)| edges(first, prefix));
    for addr in lines.filter_map(nginx_addr::addr).chain(edges) {
        assert_eq!(set.contains(addr), matches(&networks, addr), "{addr} in {networks:?}");
    }
}

/// `ngx_cidr_match`, but that a network of IPv4-mapped addresses is the IPv4 network which they map.
fn matches(networks: &[(IpAddr, u32)], addr: IpAddr) -> bool {
    networks.iter().any(|&(first, prefix)| match (first, addr.to_canonical()) {
        (IpAddr::V4(first), IpAddr::V4(addr)) => {
            u128::from(addr.to_bits()) & nginx_addr::mask(prefix, 32) == first.to_bits().into()
        }
        (IpAddr::V6(first), IpAddr::V6(addr)) => {
            addr.to_bits() & nginx_addr::mask(prefix, 128) == first.to_bits()
        }
        (IpAddr::V6(first), IpAddr::V4(addr)) => {
            let mapped = prefix >= 96 && first.to_ipv4_mapped().is_some();
            let addr = addr.to_ipv6_mapped().to_bits();
            mapped && addr & nginx_addr::mask(prefix, 128) == first.to_bits()
        }
        (IpAddr::V4(_), IpAddr::V6(_)) => false,
    })
}

/// The first and last addresses of a network, and their neighbours.
fn edges(first: IpAddr, prefix: u32) -> [IpAddr; 4] {
    match first {
        IpAddr::V4(first) => {
            let first = first.to_bits();
            let last = first | !(nginx_addr::mask(prefix, 32) as u32);
            [first, first.wrapping_sub(1), last, last.wrapping_add(1)]
                .map(|bits| IpAddr::V4(bits.into()))
        }
        IpAddr::V6(first) => {
            let first = first.to_bits();
            let last = first | !nginx_addr::mask(prefix, 128);
            [first, first.wrapping_sub(1), last, last.wrapping_add(1)]
                .map(|bits| IpAddr::V6(bits.into()))
        }
    }
}
