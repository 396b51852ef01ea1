//! The walk over a header. Input: a byte, of which the number of hops is made, then the header's lines.

use std::net::IpAddr;

use ngx_cachefront::real_ip_recursive_trust::logic::{Entry, Walk, walk};

use super::{lines, nginx_addr};

pub fn check(input: &[u8]) {
    let Some((&hops, header)) = input.split_first() else { return };
    // So that '0' is none.
    let hops = usize::from(hops) % 16;
    assert_eq!(walk(lines(header), hops, is_trusted), reference(header, hops));

    for entry in entries(header) {
        let ours = Entry::parse(entry).map(|entry| (entry.addr, entry.port));
        assert_eq!(ours, nginx_addr::addr_port(entry), "{entry:?}");
    }
}

fn is_trusted(addr: IpAddr) -> bool {
    match addr.to_canonical() {
        IpAddr::V4(addr) => addr.octets()[0] == 10,
        IpAddr::V6(addr) => addr.segments()[0] == 0xfd00,
    }
}

fn entries(header: &[u8]) -> Vec<&[u8]> {
    let separators = |byte: &u8| matches!(byte, b'\n' | b',' | b' ');
    header.split(separators).filter(|entry| !entry.is_empty()).collect()
}

/// The rules of the directive as they are written, over a list that is all there.
fn reference(header: &[u8], hops: usize) -> Walk {
    let entries = entries(header);
    let skipped = hops.min(entries.len());
    let mut answer = Walk { client: None, passed: skipped };
    for passed in skipped..entries.len() {
        match Entry::parse(entries[entries.len() - 1 - passed]) {
            None => break,
            Some(entry) => {
                answer = Walk { client: Some(entry), passed };
                if !is_trusted(entry.addr) {
                    break;
                }
            }
        }
    }
    answer
}
