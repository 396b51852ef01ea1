//! The logic of `real_ip_recursive_trust`: bytes in, addresses out; no nginx type, no `unsafe`.
//!
//! * [`entry`] reads one entry of a header;
//! * [`list`] walks over all entries of a header;
//! * [`set`] holds the addresses that the walk passes over;
//! * [`param`] reads the directive's parameters;
//! * [`text`] writes an address.

#![forbid(unsafe_code)]

pub mod entry;
pub mod list;
pub mod param;
pub mod set;
pub mod text;

pub use entry::Entry;
pub use list::{Walk, walk};
pub use param::{ParamError, Trust};
pub use set::AddressSet;
pub use text::Text;
