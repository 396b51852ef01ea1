//! Points on a ring of 32-bit numbers.

use super::error::{BuildError, MAX_POINTS};

/// A point, 8 bytes. Of points in the same place that of the server listed first is the lesser.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Point {
    at: u32,
    /// Index into the servers.
    server: u32,
}

/// Points in ascending order, no two in the same place, at least one.
#[derive(Debug)]
pub(super) struct Ring(Box<[Point]>);

impl Ring {
    /// Takes the first `counts` points of each server's `points`. Of points in the same place that
    /// of the server listed first is kept: the one that a client finds.
    pub(super) fn build<P: Iterator<Item = u32>>(
        counts: &[u64],
        points: impl Iterator<Item = P>,
    ) -> Result<Self, BuildError> {
        let total = counts.iter().copied().fold(0, u64::saturating_add);
        if total == 0 {
            return Err(BuildError::NoPoints);
        }
        if total > MAX_POINTS {
            return Err(BuildError::TooManyPoints(total));
        }

        let mut ring = Vec::with_capacity(total as usize);
        for ((server, &count), points) in (0..).zip(counts).zip(points) {
            let points = (0..count).zip(points);
            ring.extend(points.map(|(_, at)| Point { at, server }));
        }

        ring.sort_unstable();
        ring.dedup_by_key(|point| point.at);
        Ok(Self(ring.into_boxed_slice()))
    }

    /// The server of the first point at or after `at`, of the first point of all if there is none.
    pub(super) fn at_or_after(&self, at: u32) -> usize {
        let next = self.0.partition_point(|point| point.at < at);
        server(self.0.get(next).or_else(|| self.0.first()))
    }

    /// The server of the last point at or before `at`, of the last point of all if there is none.
    pub(super) fn at_or_before(&self, at: u32) -> usize {
        let next = self.0.partition_point(|point| point.at <= at);
        let before = next.checked_sub(1).and_then(|last| self.0.get(last));
        server(before.or_else(|| self.0.last()))
    }
}

fn server(point: Option<&Point>) -> usize {
    point.map_or(0, |point| point.server as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ring(points: &[&[u32]]) -> Result<Ring, BuildError> {
        let counts: Vec<_> = points.iter().map(|points| points.len() as u64).collect();
        Ring::build(&counts, points.iter().map(|points| points.iter().copied()))
    }

    #[test]
    fn a_key_belongs_to_the_next_point_after() {
        let ring = ring(&[&[30], &[10], &[20]]).unwrap();
        for (at, server) in [(0, 1), (10, 1), (11, 2), (20, 2), (21, 0), (30, 0), (31, 1)] {
            assert_eq!(ring.at_or_after(at), server, "{at}");
        }
        assert_eq!(ring.at_or_after(u32::MAX), 1);
    }

    #[test]
    fn a_key_belongs_to_the_next_point_before() {
        let ring = ring(&[&[30], &[10], &[20]]).unwrap();
        for (at, server) in [(0, 0), (9, 0), (10, 1), (19, 1), (20, 2), (30, 0)] {
            assert_eq!(ring.at_or_before(at), server, "{at}");
        }
        assert_eq!(ring.at_or_before(u32::MAX), 0);
    }

    #[test]
    fn the_first_server_with_a_point_in_a_place_wins() {
        let ring = ring(&[&[9], &[7], &[7, 9]]).unwrap();
        assert_eq!([7, 8].map(|at| ring.at_or_after(at)), [1, 0]);
        assert_eq!([7, 9].map(|at| ring.at_or_before(at)), [1, 0]);
    }

    #[test]
    fn only_as_many_points_as_counted_are_taken() {
        let endless = [5, 6].map(|first| first..);
        let ring = Ring::build(&[0, 2], endless.into_iter()).unwrap();
        assert_eq!(ring.0.len(), 2);
        assert_eq!(ring.at_or_after(0), 1);
    }

    #[test]
    fn a_ring_needs_points_but_not_too_many() {
        assert_eq!(ring(&[&[], &[]]).unwrap_err(), BuildError::NoPoints);
        let none = || [0..0, 0..0].into_iter();
        assert!(Ring::build(&[MAX_POINTS, 0], none()).is_ok());
        assert_eq!(
            Ring::build(&[MAX_POINTS, 1], none()).unwrap_err(),
            BuildError::TooManyPoints(MAX_POINTS + 1)
        );
        assert!(Ring::build(&[u64::MAX, 1], none()).is_err());
    }

    #[test]
    fn a_point_takes_eight_bytes() {
        assert_eq!(size_of::<Point>(), 8);
    }
}
