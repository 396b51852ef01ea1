//! Free TCP ports.

use std::net::{Ipv4Addr, Ipv6Addr, TcpListener};
use std::sync::Mutex;
use std::time::{SystemTime, UNIX_EPOCH};

/// Below 10000 live other people's servers; from 32768 on the kernel takes ports for outgoing connections,
/// and one of those would be gone again between the asking and the listening.
const RANGE: std::ops::Range<u16> = 10_000..32_768;

/// A port nothing listens on, on any address, and that no other call in this process gets.
///
/// Two runs at once start at different places of the range, so they do not meet.
pub fn free_port() -> u16 {
    static GIVEN: Mutex<Vec<u16>> = Mutex::new(Vec::new());

    let mut given = GIVEN.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let mut port = given.last().copied().unwrap_or_else(first_port);
    for _ in RANGE {
        port = if port + 1 < RANGE.end { port + 1 } else { RANGE.start };
        if !given.contains(&port) && is_free(port) {
            given.push(port);
            return port;
        }
    }
    panic!("no free TCP port between {} and {}", RANGE.start, RANGE.end);
}

fn first_port() -> u16 {
    let nanoseconds =
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.subsec_nanos());
    let seed = nanoseconds.wrapping_mul(0x9E37_79B1) ^ std::process::id().wrapping_mul(0x85EB_CA6B);
    RANGE.start + (seed >> 16) as u16 % (RANGE.end - RANGE.start)
}

fn is_free(port: u16) -> bool {
    // A host without IPv6 cannot bind there, and has nothing there either.
    let no_ipv6 = TcpListener::bind((Ipv6Addr::LOCALHOST, 0)).is_err();
    TcpListener::bind((Ipv4Addr::UNSPECIFIED, port)).is_ok()
        && (no_ipv6 || TcpListener::bind((Ipv6Addr::LOCALHOST, port)).is_ok())
}
