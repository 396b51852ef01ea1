//! The bucket list: each server, in order, as often as it weighs.

use std::num::NonZeroU64;

use super::error::BuildError;

/// The list, kept as where each server's run ends, so that a large weight takes no room.
#[derive(Debug)]
pub(super) struct Buckets {
    ends: Box<[u64]>,
    count: NonZeroU64,
}

impl Buckets {
    pub(super) fn new(weights: &[u32]) -> Result<Self, BuildError> {
        let mut count: u64 = 0;
        let ends = weights.iter().map(|&weight| {
            count = count.saturating_add(u64::from(weight));
            count
        });
        let ends = ends.collect();
        let count = NonZeroU64::new(count).ok_or(BuildError::NoWeight(0.0))?;
        Ok(Self { ends, count })
    }

    /// A list without weights.
    pub(super) fn one_each(servers: usize) -> Result<Self, BuildError> {
        Self::new(&vec![1; servers])
    }

    /// The server of the bucket `hash`, counted modulo their number.
    pub(super) fn owner(&self, hash: u32) -> usize {
        let bucket = u64::from(hash) % self.count;
        self.ends.partition_point(|&end| end <= bucket)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_server_stands_as_often_as_it_weighs() {
        let buckets = Buckets::new(&[2, 0, 1, 4]).unwrap();
        let owners: Vec<_> = (0..9).map(|hash| buckets.owner(hash)).collect();
        assert_eq!(owners, [0, 0, 2, 3, 3, 3, 3, 0, 0]);
    }

    #[test]
    fn large_weights_are_no_matter() {
        let buckets = Buckets::new(&[u32::MAX, u32::MAX]).unwrap();
        assert_eq!(buckets.owner(u32::MAX), 1);
        assert_eq!(buckets.owner(u32::MAX - 1), 0);
    }

    #[test]
    fn a_list_needs_a_bucket() {
        assert_eq!(Buckets::new(&[0, 0]).unwrap_err(), BuildError::NoWeight(0.0));
    }
}
