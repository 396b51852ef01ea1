//! Addresses read the way nginx reads them: `ngx_inet_addr`, `ngx_inet6_addr`, `ngx_parse_addr_port` and
//! `ngx_ptocidr`, byte by byte as their sources go.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// `ngx_inet_addr`; `INADDR_NONE` is its word for "no address".
pub fn inet_addr(text: &[u8]) -> Option<u32> {
    let (mut addr, mut octet, mut dots) = (0u32, 0u32, 0);
    for &c in text {
        if c.is_ascii_digit() {
            octet = octet * 10 + u32::from(c - b'0');
            if octet > 255 {
                return None;
            }
        } else if c == b'.' {
            addr = (addr << 8) + octet;
            octet = 0;
            dots += 1;
            if dots > 3 {
                return None;
            }
        } else {
            return None;
        }
    }
    (dots == 3).then_some((addr << 8) + octet).filter(|&addr| addr != u32::MAX)
}

/// `ngx_inet6_addr`
pub fn inet6_addr(text: &[u8]) -> Option<[u8; 16]> {
    if text.is_empty() {
        return None;
    }
    let mut out: Vec<u8> = Vec::new();
    let mut zero = None;
    let mut digits = 0;
    let mut word = 0u32;
    let mut nibbles = 0;
    let mut left = 8;

    let mut rest = text;
    if rest[0] == b':' {
        rest = &rest[1..];
    }
    let offset = text.len() - rest.len();

    for (at, &c) in rest.iter().enumerate() {
        if c == b':' {
            if nibbles > 0 {
                digits = offset + at + 1;
                left -= 1;
                if left == 0 {
                    return None;
                }
                out.extend([(word >> 8) as u8, word as u8]);
                nibbles = 0;
                word = 0;
            } else {
                if zero.is_some() {
                    return None;
                }
                digits = offset + at + 1;
                zero = Some(out.len());
            }
            continue;
        }
        if c == b'.' && nibbles > 0 {
            if left < 2 || digits == 0 {
                return None;
            }
            let v4 = inet_addr(&text[digits..])?;
            out.extend([(v4 >> 24) as u8, (v4 >> 16) as u8]);
            left -= 1;
            word = v4 & 0xffff;
            return finish(out, zero, word, left);
        }
        nibbles += 1;
        if nibbles > 4 {
            return None;
        }
        word = word * 16 + (c as char).to_digit(16)?;
    }
    if nibbles == 0 && zero.is_none() {
        return None;
    }
    finish(out, zero, word, left)
}

/// The end of `ngx_inet6_addr`: the last group, and the gap.
fn finish(mut out: Vec<u8>, zero: Option<usize>, word: u32, mut left: usize) -> Option<[u8; 16]> {
    out.extend([(word >> 8) as u8, word as u8]);
    left -= 1;
    if left > 0 {
        let zero = zero?;
        for _ in 0..left * 2 {
            out.insert(zero, 0);
        }
    } else if zero.is_some() {
        return None;
    }
    out.try_into().ok()
}

/// `ngx_parse_addr`
pub fn addr(text: &[u8]) -> Option<IpAddr> {
    match inet_addr(text) {
        Some(addr) => Some(Ipv4Addr::from(addr).into()),
        None => inet6_addr(text).map(|addr| Ipv6Addr::from(addr).into()),
    }
}

/// `ngx_atoi`
pub fn atoi(text: &[u8]) -> Option<u64> {
    if text.is_empty() || !text.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(text).ok()?.parse().ok().filter(|&n: &u64| n <= i64::MAX as u64)
}

/// `ngx_parse_addr_port` of 1.27.3 and later; port 0 is none.
pub fn addr_port(text: &[u8]) -> Option<(IpAddr, u16)> {
    if let Some(addr) = addr(text) {
        return Some((addr, 0));
    }
    let (text, end) = if text.first() == Some(&b'[') {
        let end = text.iter().position(|&byte| byte == b']')?;
        (&text[1..], end - 1)
    } else {
        (text, text.iter().position(|&byte| byte == b':')?)
    };
    let mut behind = &text[end..];
    if behind.first() == Some(&b']') {
        behind = &behind[1..];
        if behind.is_empty() {
            return addr(&text[..end]).map(|addr| (addr, 0));
        }
    }
    let port = atoi(behind.strip_prefix(b":")?).filter(|port| (1..65536).contains(port))?;
    addr(&text[..end]).map(|addr| (addr, port as u16))
}

/// `ngx_ptocidr`: the network's first address, the length of its prefix, and whether host bits were cleared.
pub fn cidr(text: &[u8]) -> Option<(IpAddr, u32, bool)> {
    let slash = text.iter().position(|&byte| byte == b'/');
    let written = addr(&text[..slash.unwrap_or(text.len())])?;
    let bits = if written.is_ipv4() { 32 } else { 128 };
    let prefix = match slash {
        None => bits,
        Some(slash) => u32::try_from(atoi(&text[slash + 1..])?).ok()?,
    };
    if prefix > bits {
        return None;
    }
    let first: IpAddr = match written {
        IpAddr::V4(addr) => Ipv4Addr::from(addr.to_bits() & mask(prefix, 32) as u32).into(),
        IpAddr::V6(addr) => Ipv6Addr::from(addr.to_bits() & mask(prefix, 128)).into(),
    };
    Some((first, prefix, first != written))
}

/// The highest `prefix` of `bits` bits.
pub fn mask(prefix: u32, bits: u32) -> u128 {
    u128::MAX.checked_shl(bits - prefix).unwrap_or(0)
}
