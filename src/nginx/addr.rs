//! The address of a connection's client.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ngx::ffi::{
    AF_INET, AF_INET6, in_addr, in6_addr, in6_addr__bindgen_ty_1, sockaddr_in, sockaddr_in6,
    socklen_t,
};
use ngx::http::Request;

use super::pool::PoolExt;
use crate::real_ip_recursive_trust::logic::Text;

/// A socket address, and its text, in the memory of a request.
#[derive(Clone, Copy)]
struct Client {
    sockaddr: SockAddr,
    socklen: socklen_t,
    text: Text,
}

#[derive(Clone, Copy)]
#[repr(C)]
union SockAddr {
    v4: sockaddr_in,
    v6: sockaddr_in6,
}

impl Client {
    fn new(addr: IpAddr, port: u16) -> Self {
        let text = Text::of(addr);
        match addr {
            IpAddr::V4(addr) => {
                let v4 = sockaddr_in {
                    sin_family: AF_INET as _,
                    sin_port: port.to_be(),
                    sin_addr: in_addr { s_addr: addr.to_bits().to_be() },
                    sin_zero: [0; 8],
                };
                let socklen = size_of::<sockaddr_in>() as socklen_t;
                Self { sockaddr: SockAddr { v4 }, socklen, text }
            }
            IpAddr::V6(addr) => {
                let octets = in6_addr__bindgen_ty_1 { __u6_addr8: addr.octets() };
                let v6 = sockaddr_in6 {
                    sin6_family: AF_INET6 as _,
                    sin6_port: port.to_be(),
                    sin6_flowinfo: 0,
                    sin6_addr: in6_addr { __in6_u: octets },
                    sin6_scope_id: 0,
                };
                let socklen = size_of::<sockaddr_in6>() as socklen_t;
                Self { sockaddr: SockAddr { v6 }, socklen, text }
            }
        }
    }
}

/// An IPv4 address as a `sockaddr_in` or an `ngx_cidr_t` holds it.
pub(crate) fn ipv4(addr: u32) -> Ipv4Addr {
    Ipv4Addr::from_bits(u32::from_be(addr))
}

/// An IPv6 address as a `sockaddr_in6` or an `ngx_cidr_t` holds it.
pub(crate) fn ipv6(addr: &in6_addr) -> Ipv6Addr {
    // SAFETY: the union's members are the same 16 bytes.
    unsafe { addr.__in6_u.__u6_addr8 }.into()
}

/// The address and port that the request is said to come from, if they are of IPv4 or IPv6.
pub(crate) fn client(request: &Request) -> Option<(IpAddr, u16)> {
    // SAFETY: a request has a connection, and a connection of a client an address; its family tells
    // which kind it is.
    unsafe {
        let any = (*request.connection()).sockaddr;
        match u32::from((*any).sa_family) {
            AF_INET => {
                let v4 = &*any.cast::<sockaddr_in>();
                Some((ipv4(v4.sin_addr.s_addr).into(), u16::from_be(v4.sin_port)))
            }
            AF_INET6 => {
                let v6 = &*any.cast::<sockaddr_in6>();
                Some((ipv6(&v6.sin6_addr).into(), u16::from_be(v6.sin6_port)))
            }
            _ => None,
        }
    }
}

/// Makes the request come from this address and port (0: none), as nginx's realip does it.
///
/// `None`: there is no memory left. The address lives in the request's pool, so whoever calls this has
/// seen to it that the connection gets its own address back before that pool is gone.
pub(crate) fn set_client(request: &Request, addr: IpAddr, port: u16) -> Option<()> {
    let mut client = request.pool().place_pod(Client::new(addr, port))?;
    // SAFETY: a request has a connection. What the connection points to lives as long as the request.
    unsafe {
        let client = client.as_mut();
        let connection = request.connection();
        (*connection).sockaddr = (&raw mut client.sockaddr).cast();
        (*connection).socklen = client.socklen;
        (*connection).addr_text.len = client.text.as_bytes().len();
        (*connection).addr_text.data = client.text.as_bytes().as_ptr().cast_mut();
    }
    Some(())
}
