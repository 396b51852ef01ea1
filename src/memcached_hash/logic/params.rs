//! The parameters of the directive.

use std::ops::RangeInclusive;
use std::str;

use super::Server;
use super::clients::{self, Client};
use super::error::{BuildError, ParamError};
use super::placement::Placement;

/// What every client has.
const COMMON: [&str; 2] = ["client", "key"];

/// The parsed parameters of one `memcached_hash` directive.
#[derive(Debug)]
pub struct Params {
    client: Box<dyn Client>,
    key: Option<Box<[u8]>>,
}

impl Params {
    /// Parses `name=value` texts, in any order: `client=NAME` (by default `cache_memcached_fast`),
    /// `key=STRING`, and those of the client, which its file in [`clients`] lists.
    pub fn parse<'a>(args: impl IntoIterator<Item = &'a [u8]>) -> Result<Self, ParamError> {
        let args = Args::split(args)?;
        let kind = args.kind()?;

        let known = |arg: &Arg<'_>| {
            let mut names = kind.parameters.iter().chain(&COMMON);
            arg.value.is_some() && names.any(|name| name.as_bytes() == arg.name)
        };
        if let Some(arg) = args.0.iter().find(|arg| !known(arg)) {
            return Err(ParamError::Unknown {
                parameter: text(arg.whole),
                client: kind.name,
                accepted: kind.parameters.iter().chain(&COMMON).copied().collect(),
            });
        }

        let key = match args.value("key") {
            Some(b"") => return Err(value_error("key", b"", "it must not be empty")),
            key => key.map(Box::from),
        };
        Ok(Self { client: (kind.parse)(&args)?, key })
    }

    /// The string to hash, variables unexpanded, if `key=` was given.
    pub fn key(&self) -> Option<&[u8]> {
        self.key.as_deref()
    }

    /// Places the client's points or buckets for `servers`.
    pub fn build(&self, servers: &[Server<'_>]) -> Result<Placement, BuildError> {
        if servers.is_empty() {
            return Err(BuildError::NoServers);
        }
        self.client.build(servers)
    }
}

/// The directive's arguments, each name at most once.
pub(super) struct Args<'a>(Vec<Arg<'a>>);

struct Arg<'a> {
    whole: &'a [u8],
    name: &'a [u8],
    value: Option<&'a [u8]>,
}

impl<'a> Args<'a> {
    fn split(args: impl IntoIterator<Item = &'a [u8]>) -> Result<Self, ParamError> {
        let mut seen: Vec<Arg<'a>> = Vec::new();

        for whole in args {
            let mut parts = whole.splitn(2, |&byte| byte == b'=');
            let name = parts.next().unwrap_or_default();
            if seen.iter().any(|arg| arg.name == name) {
                return Err(ParamError::Duplicate(text(name)));
            }
            seen.push(Arg { whole, name, value: parts.next() });
        }
        Ok(Self(seen))
    }

    fn kind(&self) -> Result<&'static clients::Kind, ParamError> {
        let Some(name) = self.value("client") else {
            return Ok(&clients::DEFAULT);
        };
        let mut kinds = clients::all();
        kinds.find(|kind| kind.name.as_bytes() == name).ok_or_else(|| {
            let names: Vec<_> = clients::all().map(|kind| kind.name).collect();
            value_error("client", name, &format!("one of {} is expected", names.join(", ")))
        })
    }

    fn value(&self, name: &str) -> Option<&'a [u8]> {
        self.0.iter().find(|arg| arg.name == name.as_bytes())?.value
    }

    /// A decimal number, `default` if it is not given.
    pub(super) fn number(
        &self,
        name: &'static str,
        range: RangeInclusive<u32>,
        default: u32,
    ) -> Result<u32, ParamError> {
        let Some(value) = self.value(name) else { return Ok(default) };

        let digits = Some(value).filter(|value| value.iter().all(u8::is_ascii_digit));
        let number = digits.and_then(|digits| str::from_utf8(digits).ok()?.parse().ok());
        number.filter(|number| range.contains(number)).ok_or_else(|| {
            let expected =
                format!("a number from {} to {} is expected", range.start(), range.end());
            value_error(name, value, &expected)
        })
    }

    /// `on` or `off`; off if it is not given.
    pub(super) fn flag(&self, name: &'static str) -> Result<bool, ParamError> {
        self.choice(name, &[("off", false), ("on", true)])
    }

    /// One of `choices`; the first if it is not given.
    pub(super) fn choice<T: Copy>(
        &self,
        name: &'static str,
        choices: &[(&'static str, T)],
    ) -> Result<T, ParamError> {
        let value = self.value(name);
        let matches = |choice: &&(&str, T)| value.is_none_or(|value| choice.0.as_bytes() == value);
        choices.iter().find(matches).map(|choice| choice.1).ok_or_else(|| {
            let names: Vec<_> = choices.iter().map(|choice| choice.0).collect();
            let expected = format!("one of {} is expected", names.join(", "));
            value_error(name, value.unwrap_or_default(), &expected)
        })
    }
}

/// That `value` is none that the parameter `name` can have.
pub(super) fn value_error(name: &'static str, value: &[u8], expected: &str) -> ParamError {
    ParamError::Value { name, value: text(value), expected: expected.into() }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
