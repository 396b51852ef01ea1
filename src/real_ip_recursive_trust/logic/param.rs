//! The parameters of `real_ip_recursive_trust`.

use std::fmt;

use ipnet::IpNet;

use super::entry::number;
use super::set::network;

/// What all directives of one level say together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trust {
    hops: Option<usize>,
    nets: Vec<IpNet>,
}

/// What is odd about a parameter, but no error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Note {
    /// Bits behind a network's prefix are set, and were cleared.
    HostBits,
}

/// Why a parameter is refused. Displayed, it names the parameter as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParamError {
    /// `hops` was given before on the same level.
    Duplicate(String),
    /// `hops=` is not followed by a number.
    Hops(String),
    /// A path, or `unix:`: no entry of a header is a socket.
    Socket(String),
    /// Neither an address nor a network, such as a name.
    Address(String),
}

impl Trust {
    /// Adds one parameter: an address, a network (`192.0.2.0/24`), or `hops=N`.
    pub fn add(&mut self, param: &[u8]) -> Result<Option<Note>, ParamError> {
        let text = || String::from_utf8_lossy(param).into_owned();
        if let Some(hops) = param.strip_prefix(b"hops=") {
            let hops = number(hops).ok_or_else(|| ParamError::Hops(text()))?;
            return match self.hops.replace(hops) {
                None => Ok(None),
                Some(_) => Err(ParamError::Duplicate(text())),
            };
        }
        if param.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case(b"unix:")) {
            return Err(ParamError::Socket(text()));
        }
        let (net, host_bits) = network(param).ok_or_else(|| ParamError::Address(text()))?;
        self.nets.push(net);
        Ok(host_bits.then_some(Note::HostBits))
    }

    /// How many entries are passed over whatever they hold; 0 where `hops` is not given.
    pub fn hops(&self) -> usize {
        self.hops.unwrap_or(0)
    }

    /// The addresses and networks, in the order in which they were given.
    pub fn nets(&self) -> &[IpNet] {
        &self.nets
    }
}

impl fmt::Display for ParamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Duplicate(param) => write!(f, "duplicate parameter \"{param}\""),
            Self::Hops(param) => write!(f, "invalid number in \"{param}\""),
            Self::Socket(param) => {
                write!(f, "invalid address \"{param}\" (no entry of a header is a socket)")
            }
            Self::Address(param) => write!(
                f,
                "invalid address \"{param}\": neither an address nor a network (names are not resolved)"
            ),
        }
    }
}

impl std::error::Error for ParamError {}

#[cfg(test)]
mod tests {
    use super::*;

    fn trust(params: &[&str]) -> Result<Trust, String> {
        let mut trust = Trust::default();
        for param in params {
            trust.add(param.as_bytes()).map_err(|error| error.to_string())?;
        }
        Ok(trust)
    }

    #[test]
    fn parameters_add_up() {
        let trust = trust(&["203.0.113.7", "hops=2", "192.0.2.128/25"]).unwrap();
        assert_eq!(trust.hops(), 2);
        let nets: Vec<_> = trust.nets().iter().map(IpNet::to_string).collect();
        assert_eq!(nets, ["203.0.113.7/32", "192.0.2.128/25"]);
    }

    #[test]
    fn no_hops_is_zero() {
        assert_eq!(trust(&[]).unwrap().hops(), 0);
        assert_eq!(trust(&["hops=0"]).unwrap().hops(), 0);
    }

    #[test]
    fn host_bits_are_noted() {
        let mut trust = Trust::default();
        assert_eq!(trust.add(b"203.0.113.7/24"), Ok(Some(Note::HostBits)));
        assert_eq!(trust.add(b"203.0.113.0/24"), Ok(None));
        assert_eq!(trust.nets().first(), trust.nets().last());
    }

    #[test]
    fn errors_name_the_parameter() {
        let is = |params: &[&str], text: &str| assert_eq!(trust(params).unwrap_err(), text);
        is(&["hops=1", "hops=1"], "duplicate parameter \"hops=1\"");
        for hops in ["hops=", "hops=-1", "hops=x", "hops=1.5", "hops=99999999999999999999"] {
            is(&[hops], &format!("invalid number in \"{hops}\""));
        }
        for socket in ["unix:", "unix:/run/lb.sock", "UNIX:"] {
            is(
                &[socket],
                &format!("invalid address \"{socket}\" (no entry of a header is a socket)"),
            );
        }
        for other in ["", "all", "lb.example", "300.1.1.1", "1.2.3.4/33", "2001:db8::/129", "hops"]
        {
            is(
                &[other],
                &format!(
                    "invalid address \"{other}\": neither an address nor a network (names are not resolved)"
                ),
            );
        }
    }
}
