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

/// What the query string says about the callback.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Callback<'a> {
    /// No argument that may hold it is there, or all that are there are empty.
    Absent,
    /// There is a value, but nothing that may be called.
    Invalid,
    /// The name, decoded, and of the syntax asked for.
    Valid(&'a [u8]),
}

/// The callback that a query string asks for.
///
/// Of the arguments called one of `names`, in the order of `names`, the first that is present and not
/// empty counts ([`args::value`]); it is percent-decoded once. The callback is written to `buffer`.
pub fn find<'a>(
    query: &[u8],
    names: &[impl AsRef<[u8]>],
    syntax: Syntax,
    buffer: &'a mut Buffer,
) -> Callback<'a> {
    let given = names
        .iter()
        .find_map(|name| args::value(query, name.as_ref()).filter(|value| !value.is_empty()));
    match given {
        None => Callback::Absent,
        Some(value) => decode(value, syntax, buffer).map_or(Callback::Invalid, Callback::Valid),
    }
}

/// The percent-decoded `value`, if all of it is a callback of this syntax.
fn decode<'a>(value: &[u8], syntax: Syntax, buffer: &'a mut Buffer) -> Option<&'a [u8]> {
    let mut state = State::start(syntax);
    let mut bytes = value.iter().copied();
    let mut room = buffer.iter_mut();
    while let Some(byte) = bytes.next() {
        let byte = match byte {
            b'%' => hex_digit(bytes.next()?)? << 4 | hex_digit(bytes.next()?)?,
            _ => byte,
        };
        state = state.next(byte)?;
        *room.next()? = byte;
    }
    let unused = room.len();
    let len = MAX_LEN.checked_sub(unused)?;
    if state.is_end() { buffer.get(..len) } else { None }
}

fn hex_digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

/// How much of a callback has been read.
#[derive(Clone, Copy, Debug)]
enum State {
    /// Nothing of a `word`.
    NoWord,
    Word,
    /// An identifier must begin.
    NoIdentifier,
    Identifier,
    /// Behind `[`.
    NoIndex,
    Index,
    /// Behind `]`.
    Indexed,
}

impl State {
    fn start(syntax: Syntax) -> Self {
        match syntax {
            Syntax::Word => Self::NoWord,
            Syntax::Member => Self::NoIdentifier,
        }
    }

    fn next(self, byte: u8) -> Option<Self> {
        let word = byte.is_ascii_alphanumeric() || byte == b'_';
        Some(match (self, byte) {
            (Self::NoWord | Self::Word, _) if word => Self::Word,
            (Self::NoIdentifier, b'0'..=b'9') => return None,
            (Self::NoIdentifier | Self::Identifier, b'$') => Self::Identifier,
            (Self::NoIdentifier | Self::Identifier, _) if word => Self::Identifier,
            (Self::NoIndex | Self::Index, b'0'..=b'9') => Self::Index,
            (Self::Index, b']') => Self::Indexed,
            (Self::Identifier | Self::Indexed, b'.') => Self::NoIdentifier,
            (Self::Identifier | Self::Indexed, b'[') => Self::NoIndex,
            _ => return None,
        })
    }

    /// Whether a callback may end here.
    fn is_end(self) -> bool {
        matches!(self, Self::Word | Self::Identifier | Self::Indexed)
    }
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn decoded(value: &str, syntax: Syntax) -> Option<String> {
        let mut buffer = [0; MAX_LEN];
        let decoded = decode(value.as_bytes(), syntax, &mut buffer)?;
        Some(String::from_utf8(decoded.to_vec()).unwrap())
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

    fn found(query: &str, names: &[&str]) -> String {
        let mut buffer = [0; MAX_LEN];
        match find(query.as_bytes(), names, Syntax::Word, &mut buffer) {
            Callback::Absent => "absent".into(),
            Callback::Invalid => "invalid".into(),
            Callback::Valid(name) => format!("({})", core::str::from_utf8(name).unwrap()),
        }
    }

    #[test]
    fn the_first_that_is_present_and_not_empty() {
        let names = ["callback", "jsonp"];
        for (query, callback) in [
            ("", "absent"),
            ("callback", "absent"),
            ("callback=", "absent"),
            ("x=1&callback=&y=2", "absent"),
            ("callback=a&jsonp=b", "(a)"),
            ("jsonp=b&callback=a", "(a)"),
            ("jsonp=b&callback=", "(b)"),
            ("jsonp=b", "(b)"),
            ("callback=a.b&jsonp=b", "invalid"),
            ("callback=&callback=a", "absent"),
            ("callback=a&callback=b", "(a)"),
            ("CALLBACK=a", "(a)"),
        ] {
            assert_eq!(found(query, &names), callback, "{query}");
        }
        assert_eq!(found("callback=cb", &["jsonp"]), "absent");
        assert_eq!(found("jsonp=alert(1)", &["jsonp"]), "invalid");
        assert_eq!(found("callback=cb", &[]), "absent");
    }

    fn is_word(text: &[u8]) -> bool {
        let word = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_';
        (1..=255).contains(&text.len()) && text.iter().all(word)
    }

    /// The grammar, by recursive descent.
    fn is_member(text: &[u8]) -> bool {
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
        let more = |rest: &[u8]| rest.strip_prefix(b".").is_some_and(is_member);
        text.len() <= 255 && (rest.is_empty() || more(rest))
    }

    proptest! {
        #[test]
        fn either_exactly_what_was_sent_or_nothing(value in "[a9_$.\\[\\]%]{0,12}|[ -~]{0,8}") {
            for (syntax, is_callback) in
                [(Syntax::Word, is_word as fn(&[u8]) -> bool), (Syntax::Member, is_member)]
            {
                let expected = match value.contains('%') {
                    false if is_callback(value.as_bytes()) => Some(value.clone()),
                    true => continue,
                    false => None,
                };
                prop_assert_eq!(decoded(&value, syntax), expected);
            }
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
