//! U+2028 and U+2029 in a body that comes in pieces.
//!
//! JSON allows these two in a string; JavaScript before ECMAScript 2019 took them for the end of a
//! line, so that the script was broken. In UTF-8 they are E2 80 A8 and E2 80 A9.

use core::ops::Range;

use memchr::memchr;

/// What takes their place.
const LINE_SEPARATOR: &[u8] = b"\\u2028";
const PARAGRAPH_SEPARATOR: &[u8] = b"\\u2029";

/// All that a [`Part::Text`] may be, one behind the other.
pub const TEXTS: &[u8; 14] = b"\\u2028\\u2029\xE2\x80";

/// Where in [`TEXTS`] the text of a [`Part::Text`] is.
pub fn place_of(text: &[u8]) -> Range<usize> {
    let start = match text {
        LINE_SEPARATOR => 0,
        PARAGRAPH_SEPARATOR => LINE_SEPARATOR.len(),
        _ => LINE_SEPARATOR.len().saturating_add(PARAGRAPH_SEPARATOR.len()),
    };
    start..start.saturating_add(text.len())
}

/// A part of what a piece of body becomes.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Part {
    /// These bytes of the piece, as they are. Never empty.
    Piece(Range<usize>),
    /// These bytes, which are not in the piece: an escape, or what was held back.
    Text(&'static [u8]),
}

/// The search, from piece to piece.
///
/// At most two bytes, the beginning of a sequence at the very end of a piece, are held back until the
/// next piece, or [`Separators::finish`], tells what they are.
#[derive(Clone, Copy, Debug, Default)]
pub struct Separators {
    held: Held,
}

/// The bytes at the end of the last piece that may begin a sequence.
#[derive(Clone, Copy, Debug, Default)]
enum Held {
    #[default]
    Nothing,
    /// E2
    One,
    /// E2 80
    Two,
}

impl Held {
    fn bytes(self) -> &'static [u8] {
        match self {
            Self::Nothing => b"",
            Self::One => b"\xE2",
            Self::Two => b"\xE2\x80",
        }
    }
}

impl Separators {
    /// Whether the next piece of the body is to go on as it is, so that [`Separators::scan`] need not see
    /// it.
    pub fn leave(&self, piece: &[u8]) -> bool {
        matches!(self.held, Held::Nothing) && memchr(0xE2, piece).is_none()
    }

    /// What the next piece of the body becomes, part by part. All parts have to be taken.
    pub fn scan<'a>(&'a mut self, piece: &'a [u8]) -> Parts<'a> {
        let (next, start) = self.settle(piece);
        Parts { held: &mut self.held, piece, start, next }
    }

    /// The bytes held back, after the last piece.
    pub fn finish(&mut self) -> &'static [u8] {
        core::mem::take(&mut self.held).bytes()
    }

    /// Sees whether `piece` goes on with the sequence that is held back: the text that has become of
    /// it, if that is known now, and where the rest of the piece starts.
    fn settle(&mut self, piece: &[u8]) -> (Option<&'static [u8]>, usize) {
        let (last, end) = match (self.held, piece) {
            (Held::Nothing, _) | (_, []) => return (None, 0),
            (Held::One, [0x80]) => {
                self.held = Held::Two;
                return (None, 1);
            }
            (Held::One, [0x80, last, ..]) => (Some(*last), 2),
            (Held::One, _) => (None, 0),
            (Held::Two, [last, ..]) => (Some(*last), 1),
        };
        match (last.and_then(escape), self.finish()) {
            (Some(escape), _) => (Some(escape), end),
            (None, bytes) => (Some(bytes), 0),
        }
    }
}

/// The parts of a piece, in order.
#[derive(Debug)]
pub struct Parts<'a> {
    held: &'a mut Held,
    piece: &'a [u8],
    /// Where the rest of the piece starts.
    start: usize,
    /// The text that comes next, before the rest of the piece.
    next: Option<&'static [u8]>,
}

impl Iterator for Parts<'_> {
    type Item = Part;

    fn next(&mut self) -> Option<Part> {
        if let Some(text) = self.next.take() {
            return Some(Part::Text(text));
        }
        let start = self.start;
        let end = self.find(start);
        if start < end { Some(Part::Piece(start..end)) } else { self.next.take().map(Part::Text) }
    }
}

impl Parts<'_> {
    /// Where the bytes end that are to be taken as they are, from `start` on.
    ///
    /// Behind them is the end of the piece, what is now held back, or a sequence, whose escape is
    /// then in `next`.
    fn find(&mut self, start: usize) -> usize {
        let mut from = start;
        loop {
            let rest = self.piece.get(from..).unwrap_or_default();
            let Some(at) = memchr(0xE2, rest) else {
                self.start = self.piece.len();
                return self.piece.len();
            };
            let end = from.saturating_add(at);
            match rest.get(at..).unwrap_or_default() {
                [_] => return self.hold(Held::One, end),
                [_, 0x80] => return self.hold(Held::Two, end),
                [_, 0x80, last, ..] if escape(*last).is_some() => {
                    self.next = escape(*last);
                    self.start = end.saturating_add(3);
                    return end;
                }
                _ => from = end.saturating_add(1),
            }
        }
    }

    fn hold(&mut self, held: Held, end: usize) -> usize {
        *self.held = held;
        self.start = self.piece.len();
        end
    }
}

/// The escape for the sequence E2 80 `last`.
fn escape(last: u8) -> Option<&'static [u8]> {
    match last {
        0xA8 => Some(LINE_SEPARATOR),
        0xA9 => Some(PARAGRAPH_SEPARATOR),
        _ => None,
    }
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The body with every sequence replaced, byte by byte.
    fn reference(body: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        let mut rest = body;
        while let Some((&first, tail)) = rest.split_first() {
            match rest {
                [0xE2, 0x80, 0xA8, tail @ ..] => {
                    out.extend(b"\\u2028");
                    rest = tail;
                }
                [0xE2, 0x80, 0xA9, tail @ ..] => {
                    out.extend(b"\\u2029");
                    rest = tail;
                }
                _ => {
                    out.push(first);
                    rest = tail;
                }
            }
        }
        out
    }

    /// What the pieces become, with the promises of the parts checked on the way.
    fn escaped<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<u8> {
        let mut separators = Separators::default();
        let mut out = Vec::new();
        let mut taken = 0;
        for piece in pieces {
            let mut end = 0;
            let leave = separators.leave(piece);
            for part in separators.scan(piece) {
                assert!(!leave || part == Part::Piece(0..piece.len()));
                match part {
                    Part::Piece(range) => {
                        assert!(end <= range.start && range.start < range.end);
                        end = range.end;
                        out.extend(&piece[range]);
                    }
                    Part::Text(text) => {
                        assert!(!text.is_empty());
                        assert_eq!(TEXTS.get(place_of(text)), Some(text));
                        out.extend(text);
                    }
                }
            }
            taken += piece.len();
            // An escape is longer than what it stands for, so whatever is missing is held back.
            assert!(out.len() + 2 >= taken);
        }
        out.extend(separators.finish());
        assert!(separators.finish().is_empty());
        out
    }

    /// Every way to cut `body` into three pieces, empty ones included.
    fn check_all_splits(body: &[u8]) {
        let expected = reference(body);
        for first in 0..=body.len() {
            for second in first..=body.len() {
                let pieces = [&body[..first], &body[first..second], &body[second..]];
                assert_eq!(escaped(pieces), expected, "{body:x?} {first} {second}");
            }
        }
        assert_eq!(escaped(body.chunks(1)), expected, "{body:x?} byte by byte");
    }

    #[test]
    fn a_piece_without_any_is_one_part() {
        let mut separators = Separators::default();
        let parts: Vec<_> = separators.scan(b"{\"a\":\"\xE2\x80\x99\"}").collect();
        assert_eq!(parts, [Part::Piece(0..11)]);
        assert_eq!(separators.scan(b"").count(), 0);
    }

    #[test]
    fn sequences() {
        for body in [
            &b"\xE2\x80\xA8"[..],
            b"\xE2\x80\xA9",
            b"a\xE2\x80\xA8b\xE2\x80\xA9c",
            b"\xE2\x80\xA8\xE2\x80\xA8\xE2\x80\xA9",
            b"\xE2",
            b"\xE2\x80",
            b"\xE2\x80\xA7",
            b"\xE2\x80\xAA",
            b"\xE2\xE2\x80\xA8",
            b"\xE2\x80\xE2\x80\xA8",
            b"\xE2\x80\x80\xA8",
            b"\xE2\x81\xA8",
            b"\x80\xA8",
            b"",
            b"\"\xE2\x80\x99\xE2\x80\xA8\"",
        ] {
            check_all_splits(body);
        }
    }

    #[test]
    fn a_sequence_in_three_pieces() {
        let mut separators = Separators::default();
        assert_eq!(separators.scan(b"a\xE2").collect::<Vec<_>>(), [Part::Piece(0..1)]);
        assert_eq!(separators.scan(b"").collect::<Vec<_>>(), []);
        assert_eq!(separators.scan(b"\x80").collect::<Vec<_>>(), []);
        let parts: Vec<_> = separators.scan(b"\xA8b").collect();
        assert_eq!(parts, [Part::Text(LINE_SEPARATOR), Part::Piece(1..2)]);
    }

    proptest! {
        #[test]
        fn any_body_in_any_pieces(
            body in proptest::collection::vec(
                prop_oneof![Just(0xE2u8), Just(0x80), Just(0xA8), Just(0xA9), any::<u8>()], 0..12),
        ) {
            check_all_splits(&body);
        }

        #[test]
        fn long_bodies(
            body in proptest::collection::vec(
                prop_oneof![8 => Just(b'a'), 1 => Just(0xE2u8), 1 => Just(0x80), 1 => Just(0xA9)],
                0..600),
            size in 1usize..80,
        ) {
            prop_assert_eq!(escaped(body.chunks(size)), reference(&body));
        }
    }
}
