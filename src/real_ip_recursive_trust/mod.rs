//! Trusts addresses inside X-Forwarded-For that are never trusted as a peer.

pub mod logic;
