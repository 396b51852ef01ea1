//! The points of libketama: each digest of a numbered label gives several.

use super::error::BuildError;
use super::label;
use super::ring::Ring;

/// Digests of a server of mean weight.
const DIGESTS: u8 = 40;

/// 16 bytes of a digest: four points.
pub(super) type Digest = fn(&[u8]) -> [u8; 16];

/// A ring with `counts` digests of each server's label, and the first `each` points of a digest.
pub(super) fn ring(
    labels: &[Vec<u8>],
    counts: &[u64],
    digest: Digest,
    each: usize,
) -> Result<Ring, BuildError> {
    let counts: Vec<_> = counts.iter().map(|digests| digests.saturating_mul(each as u64)).collect();
    Ring::build(&counts, labels.iter().map(|label| points(label, digest, each)))
}

/// The digests of `label-0`, `label-1`, ..., cut into numbers in little endian.
fn points(label: &[u8], digest: Digest, each: usize) -> impl Iterator<Item = u32> {
    (0..).flat_map(move |number| {
        let digest = u128::from_le_bytes(digest(&label::numbered(label, number)));
        [digest, digest >> 32, digest >> 64, digest >> 96]
            .map(|point| point as u32)
            .into_iter()
            .take(each)
    })
}

/// How many digests each server has, 40 on the mean, in the single precision of libmemcached and
/// twemproxy.
pub(super) fn digests_in_single(weights: &[u32]) -> Vec<u64> {
    let total = total(weights) as f32;
    let servers = weights.len() as f32;
    let digests = weights.iter().map(|&weight| {
        let share = weight as f32 / total;
        let digests = share * 160.0 / 4.0 * servers;
        (f64::from(digests) + 1e-10) as f32 as u64
    });
    digests.collect()
}

/// The same in the double precision of hashring for Node.
pub(super) fn digests_in_double(weights: &[u32]) -> Vec<u64> {
    let total = total(weights) as f64;
    let servers = weights.len() as f64;
    let digests =
        weights.iter().map(|&weight| f64::from(weight) / total * f64::from(DIGESTS) * servers);
    digests.map(|digests| digests as u64).collect()
}

fn total(weights: &[u32]) -> u64 {
    weights.iter().map(|&weight| u64::from(weight)).fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Server counts for which a share that should be 40 falls just below it.
    fn uneven(digests: fn(&[u32]) -> Vec<u64>, most: usize) -> Vec<usize> {
        (1..=most).filter(|&servers| digests(&vec![1; servers])[0] != 40).collect()
    }

    #[test]
    fn digests_are_lost_as_the_clients_lose_them() {
        assert_eq!(uneven(digests_in_double, 112), [7, 14, 28, 49, 56, 98, 103, 112]);
        assert_eq!(uneven(digests_in_single, 100), [25, 47, 50, 55, 61, 71, 94, 100]);
        assert_eq!(digests_in_double(&[1; 7]), [39; 7]);
    }

    #[test]
    fn digests_follow_the_weight() {
        assert_eq!(digests_in_single(&[2, 1, 4]), [34, 17, 68]);
        assert_eq!(digests_in_double(&[2, 1, 4]), [34, 17, 68]);
        assert_eq!(digests_in_single(&[0, 0]), [0, 0]);
    }
}
