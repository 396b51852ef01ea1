//! The basic mode of Cache::Memcached::Fast: shares of a line of 32-bit numbers.

use std::num::NonZeroU32;

use super::error::BuildError;

const MAX: f64 = u32::MAX as f64;

/// The line, cut in the client's own floating-point steps: with integer weights a list in which
/// each server stands as often as it weighs, with others something less even.
#[derive(Debug)]
pub(super) struct Shares {
    /// The end of each server's share, ascending.
    ends: Box<[u32]>,
    total: f64,
    slots: NonZeroU32,
}

impl Shares {
    pub(super) fn new(weights: impl Iterator<Item = f64>) -> Result<Self, BuildError> {
        let mut ends: Vec<u32> = Vec::new();
        let mut total = 0.0;

        for weight in weights {
            total += weight;
            let share = weight / total;
            for end in &mut ends {
                let before = f64::from(*end);
                *end = (before - before * share) as u32;
            }
            ends.push(u32::MAX);
        }

        let slots = NonZeroU32::new((total + 0.5) as u32).ok_or(BuildError::NoWeight(total))?;
        Ok(Self { ends: ends.into_boxed_slice(), total, slots })
    }

    /// The server of a key with this hash.
    pub(super) fn owner(&self, hash: u32) -> usize {
        let slot = f64::from(hash % self.slots);
        let at = ((slot / self.total * MAX + 0.5) as u32).wrapping_add(1);
        let owner = self.ends.partition_point(|&end| end < at);
        if owner < self.ends.len() { owner } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(weights: &[f64]) -> Shares {
        Shares::new(weights.iter().copied()).unwrap()
    }

    #[test]
    fn ends_are_the_clients() {
        assert_eq!(*shares(&[2.0, 1.0, 4.0]).ends, [1227133512, 1840700269, 4294967295]);
        assert_eq!(*shares(&[2.5, 1.0, 4.0]).ends, [1431655764, 2004318071, 4294967295]);
        assert_eq!(*shares(&[1.0, 1.0, 1.0]).ends, [1431655764, 2863311530, 4294967295]);
    }

    #[test]
    fn rational_weights_are_as_uneven_as_the_clients() {
        let three = shares(&[1.1, 1.1, 1.1]);
        assert_eq!([0, 1, 2].map(|hash| three.owner(hash)), [0, 0, 1]);
        assert_eq!(shares(&[0.4, 0.4, 0.4]).owner(12345), 0);
    }

    #[test]
    fn integer_weights_are_a_list() {
        for servers in [1, 2, 3, 7, 10, 50, 100, 1000] {
            let equal = shares(&vec![1.0; servers]);
            for hash in 0..=0x7fff {
                assert_eq!(equal.owner(hash), hash as usize % servers);
            }
        }
    }

    #[test]
    fn a_total_that_rounds_to_zero_is_refused() {
        assert!(Shares::new([0.2, 0.3].into_iter()).is_ok());
        assert_eq!(Shares::new([0.2, 0.2].into_iter()).unwrap_err(), BuildError::NoWeight(0.4));
        assert_eq!(Shares::new([0.0, 0.0].into_iter()).unwrap_err(), BuildError::NoWeight(0.0));
    }
}
