//! U+2028 and U+2029 in a body that comes in pieces. Input: the body.

use ngx_cachefront::jsonp_callback::logic::separators::{Part, Separators};

/// Bodies up to this length are cut in all ways into three pieces; longer ones into equal pieces.
const SHORT: usize = 24;

pub fn check(body: &[u8]) {
    let expected = reference(body);
    if body.len() <= SHORT {
        for first in 0..=body.len() {
            for second in first..=body.len() {
                let pieces = [&body[..first], &body[first..second], &body[second..]];
                assert_eq!(escaped(pieces), expected);
            }
        }
    }
    for size in (1..=body.len().clamp(1, 70)).chain([body.len().max(1)]) {
        assert_eq!(escaped(body.chunks(size)), expected);
    }
}

fn escaped<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<u8> {
    let mut separators = Separators::default();
    let mut out = Vec::new();
    for piece in pieces {
        for part in separators.scan(piece) {
            match part {
                Part::Piece(range) => {
                    assert!(!range.is_empty());
                    out.extend(&piece[range]);
                }
                Part::Text(text) => out.extend(text),
            }
        }
    }
    out.extend(separators.finish());
    out
}

fn reference(body: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut at = 0;
    while at < body.len() {
        if body[at..].starts_with("\u{2028}".as_bytes()) {
            out.extend(b"\\u2028");
            at += 3;
        } else if body[at..].starts_with("\u{2029}".as_bytes()) {
            out.extend(b"\\u2029");
            at += 3;
        } else {
            out.push(body[at]);
            at += 1;
        }
    }
    out
}
