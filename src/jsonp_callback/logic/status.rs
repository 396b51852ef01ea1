//! The statuses whose answers are wrapped.

use core::fmt;

/// Answers of these are never wrapped: they have no body, or only a part of one.
const NEVER: [u16; 4] = [204, 205, 206, 304];

/// The value of `jsonp_callback_status`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Statuses {
    /// One bit for each status from 0 to 1023.
    wrapped: [u64; 16],
    sent_as: Option<u16>,
}

/// Why a value of `jsonp_callback_status` cannot be.
#[derive(Debug, Eq, PartialEq)]
pub enum StatusError {
    /// Not a code, a class, or `any`.
    Invalid(String),
    /// An answer with this status cannot be wrapped, or what is wrapped not sent with it.
    Never(String),
    /// A second `=code`.
    SecondSentAs,
    /// Nothing but `=code`.
    Nothing,
}

impl fmt::Display for StatusError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid(value) => write!(
                f,
                "invalid status \"{value}\", it must be \"any\", a class such as \"4xx\", or a code \
                 between 200 and 599"
            ),
            Self::Never(value) => {
                write!(f, "an answer with status \"{value}\" has no whole body that can be wrapped")
            }
            Self::SecondSentAs => f.write_str("duplicate \"=code\""),
            Self::Nothing => f.write_str("no status that is to be wrapped"),
        }
    }
}

impl Default for Statuses {
    /// `200`.
    fn default() -> Self {
        let mut statuses = Self::none();
        statuses.add(200);
        statuses
    }
}

impl Statuses {
    fn none() -> Self {
        Self { wrapped: [0; 16], sent_as: None }
    }

    /// Reads `code|4xx|any ... [=code]`.
    pub fn parse<'a>(args: impl IntoIterator<Item = &'a [u8]>) -> Result<Self, StatusError> {
        let mut statuses = Self::none();
        for arg in args {
            if let Some(text) = arg.strip_prefix(b"=") {
                let code = code(text).ok_or_else(|| StatusError::Invalid(quoted(arg)))?;
                if statuses.sent_as.replace(code).is_some() {
                    return Err(StatusError::SecondSentAs);
                }
                if NEVER.contains(&code) {
                    return Err(StatusError::Never(quoted(arg)));
                }
            } else if let Some(code) = code(arg) {
                if NEVER.contains(&code) {
                    return Err(StatusError::Never(quoted(arg)));
                }
                statuses.add(code);
            } else if arg == b"any" {
                (200..600).for_each(|code| statuses.add(code));
            } else if let [class @ b'2'..=b'5', b'x', b'x'] = arg {
                let hundreds = u16::from(class.saturating_sub(b'0'));
                (200..600)
                    .filter(|code| code / 100 == hundreds)
                    .for_each(|code| statuses.add(code));
            } else {
                return Err(StatusError::Invalid(quoted(arg)));
            }
        }
        if statuses.wrapped == [0; 16] { Err(StatusError::Nothing) } else { Ok(statuses) }
    }

    /// Whether answers with this status are wrapped.
    pub fn contains(&self, status: usize) -> bool {
        self.wrapped.get(status / 64).is_some_and(|bits| bits >> (status % 64) & 1 == 1)
    }

    /// The status that wrapped answers are sent with, if not their own.
    pub fn sent_as(&self) -> Option<u16> {
        self.sent_as
    }

    fn add(&mut self, code: u16) {
        if let Some(bits) = self.wrapped.get_mut(usize::from(code / 64)) {
            *bits |= 1 << (code % 64);
        }
        for never in NEVER {
            if let Some(bits) = self.wrapped.get_mut(usize::from(never / 64)) {
                *bits &= !(1 << (never % 64));
            }
        }
    }
}

/// A code from 200 to 599, of three digits.
pub fn code(text: &[u8]) -> Option<u16> {
    if text.len() != 3 || !text.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let code = core::str::from_utf8(text).ok()?.parse().ok()?;
    (200..600).contains(&code).then_some(code)
}

fn quoted(arg: &[u8]) -> String {
    String::from_utf8_lossy(arg).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Statuses, StatusError> {
        Statuses::parse(text.split_ascii_whitespace().map(str::as_bytes))
    }

    fn wrapped(text: &str) -> Vec<usize> {
        let statuses = parse(text).unwrap();
        (0..2000).filter(|&status| statuses.contains(status)).collect()
    }

    #[test]
    fn only_200_by_default() {
        assert_eq!(Statuses::default(), parse("200").unwrap());
        assert_eq!(wrapped("200"), [200]);
        assert_eq!(Statuses::default().sent_as(), None);
    }

    #[test]
    fn codes_classes_and_any() {
        assert_eq!(wrapped("201 404 500"), [201, 404, 500]);
        assert_eq!(wrapped("4xx"), (400..500).collect::<Vec<_>>());
        assert_eq!(wrapped("200 5xx").len(), 101);
        for never in NEVER {
            assert!(!parse("any").unwrap().contains(never.into()));
            assert!(!parse("2xx 3xx").unwrap().contains(never.into()));
        }
        assert_eq!(wrapped("any").len(), 400 - NEVER.len());
    }

    #[test]
    fn sent_as() {
        let statuses = parse("4xx =200").unwrap();
        assert_eq!(statuses.sent_as(), Some(200));
        assert!(statuses.contains(404) && !statuses.contains(200));
        assert_eq!(parse("=200 any").unwrap().sent_as(), Some(200));
    }

    #[test]
    fn errors() {
        for text in
            ["abc", "6xx", "1xx", "4XX", "4x", "99", "600", "0200", "+20", "=abc", "=", "=199"]
        {
            assert_eq!(parse(text), Err(StatusError::Invalid(text.into())), "{text}");
        }
        for text in ["204", "=304", "206"] {
            assert_eq!(
                parse(&format!("any {text}")),
                Err(StatusError::Never(text.into())),
                "{text}"
            );
        }
        assert_eq!(parse("any =200 =201"), Err(StatusError::SecondSentAs));
        assert_eq!(parse("=200"), Err(StatusError::Nothing));
        assert!(StatusError::Invalid("abc".into()).to_string().contains("\"abc\""));
    }
}
