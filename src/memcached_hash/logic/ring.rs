//! Points on a ring of 32-bit numbers.

use super::error::{BuildError, MAX_POINTS};

/// A point, 8 bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Point {
    pub(super) at: u32,
    /// Index into the servers.
    pub(super) server: u32,
}

/// Points in ascending order, no two in the same place, at least one.
#[derive(Debug)]
pub(super) struct Ring(Box<[Point]>);

impl Ring {
    /// Of points in the same place only the first given is kept: the one that a client finds.
    pub(super) fn new(mut points: Vec<Point>) -> Result<Self, BuildError> {
        if points.is_empty() {
            return Err(BuildError::NoPoints);
        }

        points.sort_by_key(|point| point.at);
        points.dedup_by_key(|point| point.at);
        Ok(Self(points.into_boxed_slice()))
    }

    /// The server of the first point at or after `at`, of the first point of all if there is none.
    pub(super) fn at_or_after(&self, at: u32) -> usize {
        let next = self.0.partition_point(|point| point.at < at);
        let point = self.0.get(next).or_else(|| self.0.first());
        point.map_or(0, |point| point.server as usize)
    }
}

/// Room for the points of all servers, `counts` points each.
pub(super) fn with_room_for(counts: impl Iterator<Item = u64>) -> Result<Vec<Point>, BuildError> {
    let total = counts.fold(0, u64::saturating_add);
    if total > MAX_POINTS {
        return Err(BuildError::TooManyPoints(total));
    }
    Ok(Vec::with_capacity(usize::try_from(total).unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_belongs_to_the_next_point() {
        let ring = Ring::new(vec![
            Point { at: 30, server: 0 },
            Point { at: 10, server: 1 },
            Point { at: 20, server: 2 },
        ])
        .unwrap();

        for (at, server) in [(0, 1), (10, 1), (11, 2), (20, 2), (21, 0), (30, 0), (31, 1)] {
            assert_eq!(ring.at_or_after(at), server, "{at}");
        }
        assert_eq!(ring.at_or_after(u32::MAX), 1);
    }

    #[test]
    fn the_first_added_of_equal_points_wins() {
        let ring = Ring::new(vec![Point { at: 7, server: 1 }, Point { at: 7, server: 0 }]).unwrap();
        assert_eq!(ring.at_or_after(7), 1);
    }

    #[test]
    fn a_ring_needs_points_but_not_too_many() {
        assert_eq!(Ring::new(Vec::new()).unwrap_err(), BuildError::NoPoints);
        assert!(with_room_for([MAX_POINTS, 0].into_iter()).is_ok());
        assert_eq!(
            with_room_for([MAX_POINTS, 1].into_iter()).unwrap_err(),
            BuildError::TooManyPoints(MAX_POINTS + 1)
        );
    }

    #[test]
    fn a_point_takes_eight_bytes() {
        assert_eq!(size_of::<Point>(), 8);
    }
}
