//! What a callback may be.

use super::args;

/// The longest callback, in bytes after decoding.
pub const MAX_LEN: usize = 255;

/// Room for a decoded callback.
pub type Buffer = [u8; MAX_LEN];

/// The value of `jsonp_callback_syntax`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Syntax {
    /// `[A-Za-z0-9_]{1,255}`.
    Word,
    /// Identifiers (`[A-Za-z_$][A-Za-z0-9_$]*`) joined by `.`, each followed by any number of
    /// `[digits]`: `angular.callbacks._0`, `CK._.cbs[197]`.
    Member,
}

/// What the query string says the callback is, as it is sent, if it says anything.
///
/// Of the arguments called one of `names`, in the order of `names`, the first that is present and not
/// empty counts ([`args::value`]).
pub fn given<'a>(query: &'a [u8], names: &[impl AsRef<[u8]>]) -> Option<&'a [u8]> {
    names
        .iter()
        .find_map(|name| args::value(query, name.as_ref()).filter(|value| !value.is_empty()))
}

/// The callback that was [`given`]: percent-decoded once, into `buffer` if that changes it. `None` if that is
/// not a callback of this syntax.
pub fn decode<'a>(given: &'a [u8], syntax: Syntax, buffer: &'a mut Buffer) -> Option<&'a [u8]> {
    if syntax.allows(given) {
        return Some(given);
    }
    let decoded = percent_decode(given, buffer)?;
    syntax.allows(decoded).then_some(decoded)
}

/// The percent-decoded `value`. `None` if a `%` is not followed by two hexadecimal digits, or if it is too
/// long for a callback.
fn percent_decode<'a>(value: &[u8], buffer: &'a mut Buffer) -> Option<&'a [u8]> {
    let mut bytes = value.iter().copied();
    let mut room = buffer.iter_mut();
    while let Some(byte) = bytes.next() {
        *room.next()? = match byte {
            b'%' => hex_digit(bytes.next()?)? << 4 | hex_digit(bytes.next()?)?,
            _ => byte,
        };
    }
    let unused = room.len();
    buffer.get(..MAX_LEN.checked_sub(unused)?)
}

fn hex_digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

impl Syntax {
    /// Whether `name`, as it is, is a callback.
    fn allows(self, name: &[u8]) -> bool {
        (1..=MAX_LEN).contains(&name.len())
            && match self {
                // To look at all of the few bytes takes less than to ask after each whether to go on.
                Self::Word => name.iter().fold(true, |all, byte| all & is_word(byte)),
                Self::Member => is_member(name),
            }
    }
}

/// Whether the byte is one of `[A-Za-z0-9_]`.
fn is_word(byte: &u8) -> bool {
    WORDS.get(usize::from(*byte)).is_some_and(|is_word| *is_word)
}

/// The answers of [`is_word`]: looking one up takes less than comparing with the ranges.
// The compiler does these sums, and would not go on if one went wrong.
#[allow(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
static WORDS: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < table.len() {
        table[byte] = matches!(byte as u8, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'A'..=b'Z');
        byte += 1;
    }
    table
};

/// Whether all of it is identifiers joined by `.`, each followed by any number of `[digits]`.
fn is_member(name: &[u8]) -> bool {
    name.split(|&byte| byte == b'.').all(|part| {
        let mut pieces = part.split(|&byte| byte == b'[');
        pieces.next().is_some_and(is_identifier) && pieces.all(is_index)
    })
}

fn is_identifier(text: &[u8]) -> bool {
    text.first().is_some_and(|first| !first.is_ascii_digit())
        && text.iter().all(|byte| is_word(byte) || *byte == b'$')
}

/// Whether this, behind a `[`, is an index.
fn is_index(text: &[u8]) -> bool {
    let digits = text.strip_suffix(b"]");
    digits.is_some_and(|digits| !digits.is_empty() && digits.iter().all(u8::is_ascii_digit))
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn decoded(value: &str, syntax: Syntax) -> Option<String> {
        let mut buffer = [0; MAX_LEN];
        let callback = decode(value.as_bytes(), syntax, &mut buffer)?;
        Some(String::from_utf8(callback.to_vec()).unwrap())
    }

    #[test]
    fn words() {
        for word in ["cb", "1", "_", "jQuery1910984648983925581_1418510461219", "Cb_9", "if"] {
            assert_eq!(decoded(word, Syntax::Word).as_deref(), Some(word));
        }
        for other in [
            "",
            "a.b",
            "a[0]",
            "a$",
            "!!!",
            "%3C%3E%40",
            "alert(1)//",
            "a;b",
            "a%0Ab",
            "a b",
            "a+b",
            "%",
            "%4",
            "%zz",
            "a%00",
            "%C3%A9",
            "é",
            "a%2Eb",
            "%2541",
            "a%",
            "a/**/",
        ] {
            assert_eq!(decoded(other, Syntax::Word), None, "{other}");
        }
    }

    #[test]
    fn members() {
        for member in [
            "cb",
            "$",
            "_",
            "$.x",
            "foo._bar",
            "angular.callbacks._0",
            "CK._.cbs[197]",
            "a[0]",
            "a[0][1].b[22]",
            "A9$_",
        ] {
            assert_eq!(decoded(member, Syntax::Member).as_deref(), Some(member));
        }
        for other in [
            "", ".", ".a", "a.", "a..b", "1a", "a.1", "a[", "a[]", "a[x]", "a[0", "a]", "[0]",
            "a[0]b", "a[0].", "a[-1]", "a.[0]", "a['b']", "a()", "a-b", "a[0x1]", "a[ 0]",
        ] {
            assert_eq!(decoded(other, Syntax::Member), None, "{other}");
        }
    }

    #[test]
    fn decodes_once() {
        assert_eq!(decoded("CK._.cbs%5B197%5D", Syntax::Member).as_deref(), Some("CK._.cbs[197]"));
        assert_eq!(decoded("%63%62", Syntax::Word).as_deref(), Some("cb"));
        assert_eq!(decoded("%2563b", Syntax::Word), None);
        assert_eq!(decoded("a%5b0%5d", Syntax::Member).as_deref(), Some("a[0]"));
    }

    #[test]
    fn at_most_255_bytes() {
        for syntax in [Syntax::Word, Syntax::Member] {
            assert!(decoded(&"a".repeat(255), syntax).is_some());
            assert!(decoded(&"a".repeat(256), syntax).is_none());
            assert!(decoded(&"%61".repeat(255), syntax).is_some());
            assert!(decoded(&"%61".repeat(256), syntax).is_none());
        }
    }

    #[test]
    fn the_first_that_is_present_and_not_empty() {
        let found = |query: &'static str, names: &[&str]| {
            given(query.as_bytes(), names).map(|value| String::from_utf8(value.to_vec()).unwrap())
        };
        for (query, callback) in [
            ("", None),
            ("callback", None),
            ("callback=", None),
            ("x=1&callback=&y=2", None),
            ("callback=a&jsonp=b", Some("a")),
            ("jsonp=b&callback=a", Some("a")),
            ("jsonp=b&callback=", Some("b")),
            ("jsonp=b", Some("b")),
            ("callback=a.b&jsonp=b", Some("a.b")),
            ("callback=&callback=a", None),
            ("callback=a&callback=b", Some("a")),
            ("CALLBACK=a", Some("a")),
        ] {
            assert_eq!(found(query, &["callback", "jsonp"]).as_deref(), callback, "{query}");
        }
        assert_eq!(found("callback=cb", &["jsonp"]), None);
        assert_eq!(found("jsonp=alert(1)", &["jsonp"]).as_deref(), Some("alert(1)"));
        assert_eq!(found("callback=cb", &[]), None);
    }

    fn reference_word(text: &[u8]) -> bool {
        let word = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_';
        (1..=255).contains(&text.len()) && text.iter().all(word)
    }

    /// The grammar, by recursive descent.
    fn reference_member(text: &[u8]) -> bool {
        fn identifier(text: &[u8]) -> Option<&[u8]> {
            let start = |b: u8| b.is_ascii_alphabetic() || b == b'_' || b == b'$';
            let len = text.iter().take_while(|&&b| start(b) || b.is_ascii_digit()).count();
            (len > 0 && start(text[0])).then(|| &text[len..])
        }
        fn index(text: &[u8]) -> Option<&[u8]> {
            let inner = text.strip_prefix(b"[")?;
            let len = inner.iter().take_while(|b| b.is_ascii_digit()).count();
            if len == 0 { None } else { inner[len..].strip_prefix(b"]") }
        }
        let Some(mut rest) = identifier(text) else { return false };
        while let Some(next) = index(rest) {
            rest = next;
        }
        let more = |rest: &[u8]| rest.strip_prefix(b".").is_some_and(reference_member);
        text.len() <= 255 && (rest.is_empty() || more(rest))
    }

    proptest! {
        #[test]
        fn either_exactly_what_was_sent_or_nothing(value in "[a9_$.\\[\\]]{1,12}|[ -$'-~]{1,8}") {
            let expected = |is_callback: bool| is_callback.then(|| value.clone());
            let [word, member] = [reference_word, reference_member].map(|is| is(value.as_bytes()));
            prop_assert_eq!(decoded(&value, Syntax::Word), expected(word));
            prop_assert_eq!(decoded(&value, Syntax::Member), expected(member));
        }

        #[test]
        fn an_encoded_callback_is_the_same_callback(
            name in "[a9_$.\\[\\]]{1,12}",
            encoded in proptest::collection::vec(any::<bool>(), 12),
        ) {
            let sent: String = name
                .chars()
                .zip(encoded)
                .map(|(c, encode)| if encode { format!("%{:02x}", c as u32) } else { c.into() })
                .collect();
            for syntax in [Syntax::Word, Syntax::Member] {
                prop_assert_eq!(decoded(&sent, syntax), decoded(&name, syntax));
            }
        }
    }
}
