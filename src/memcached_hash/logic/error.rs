//! What can be wrong with a directive and its servers, in the words that `nginx -t` prints.

use std::error::Error;
use std::fmt;

/// The most points that the servers of one upstream may have together.
pub const MAX_POINTS: u64 = 16_000_000;

/// A parameter of the directive that is not accepted.
#[derive(Clone, Debug, PartialEq)]
pub enum ParamError {
    /// The client has no such parameter.
    Unknown {
        /// The parameter as written.
        parameter: String,
        /// The `client=` that is in force.
        client: &'static str,
        /// The parameters which that client has.
        accepted: Vec<&'static str>,
    },
    /// The same parameter was given twice.
    Duplicate(
        /// Its name.
        String,
    ),
    /// The value is not one that the parameter can have.
    Value {
        /// The parameter's name.
        name: &'static str,
        /// The value as written.
        value: String,
        /// What is expected instead.
        expected: String,
    },
}

impl fmt::Display for ParamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { parameter, client, accepted } => write!(
                f,
                "invalid parameter \"{parameter}\": client={client} has {}=",
                accepted.join("=, ")
            ),
            Self::Duplicate(name) => write!(f, "duplicate parameter \"{name}\""),
            Self::Value { name, value, expected } => {
                write!(f, "invalid value \"{value}\" of \"{name}\": {expected}")
            }
        }
    }
}

impl Error for ParamError {}

/// Servers that a client could not place keys on.
#[derive(Clone, Debug, PartialEq)]
pub enum BuildError {
    /// There is no server.
    NoServers,
    /// No server has a point on the ring.
    NoPoints,
    /// The servers have more than [`MAX_POINTS`] points together.
    TooManyPoints(
        /// How many they have.
        u64,
    ),
    /// The sum of the weights, rounded, is 0.
    NoWeight(
        /// The sum.
        f64,
    ),
    /// There are not as many names as servers.
    Names {
        /// How many were given.
        names: usize,
        /// How many are needed.
        servers: usize,
    },
    /// The client hashes the address of a server, and the system knows none for its name.
    NoAddress(
        /// The name.
        String,
    ),
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoServers => f.write_str("no servers"),
            Self::NoPoints => {
                f.write_str("the servers have 0 points together, at least 1 is needed")
            }
            Self::TooManyPoints(points) => {
                write!(f, "the servers have {points} points together, the limit is {MAX_POINTS}")
            }
            Self::NoWeight(total) => {
                write!(f, "the total weight {total} rounds to 0, at least 0.5 is needed")
            }
            Self::Names { names, servers } => {
                write!(f, "{names} names are given to {servers} servers")
            }
            Self::NoAddress(host) => write!(f, "no address is found for \"{host}\""),
        }
    }
}

impl Error for BuildError {}
