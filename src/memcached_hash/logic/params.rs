//! The parameters of the directive.

use std::ops::RangeInclusive;
use std::str;

use super::Server;
use super::clients::{self, Client};
use super::error::{BuildError, ParamError};
use super::placement::{Method, Placement};

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

    /// Places the client's points or buckets of `servers`: 8 bytes a point.
    pub fn build(&self, servers: &[Server<'_>]) -> Result<Placement, BuildError> {
        if servers.is_empty() {
            return Err(BuildError::NoServers);
        }
        let mut placement = self.client.build(servers)?;
        if servers.len() == 1 {
            placement.method = Method::Only;
        }
        Ok(placement)
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
        let [default, ..] = &clients::KINDS;
        let kinds: Vec<_> = clients::KINDS.iter().map(|kind| (kind.name, kind)).collect();
        Ok(self.choice("client", &kinds)?.unwrap_or(default))
    }

    pub(super) fn value(&self, name: &str) -> Option<&'a [u8]> {
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
        Ok(self.choice(name, &[("on", true), ("off", false)])?.unwrap_or(false))
    }

    /// One of `choices`, if it is given.
    pub(super) fn choice<T: Copy>(
        &self,
        name: &'static str,
        choices: &[(&'static str, T)],
    ) -> Result<Option<T>, ParamError> {
        let Some(value) = self.value(name) else { return Ok(None) };

        let choice = choices.iter().find(|choice| choice.0.as_bytes() == value);
        choice.map(|choice| Some(choice.1)).ok_or_else(|| {
            let names: Vec<_> = choices.iter().map(|choice| choice.0).collect();
            value_error(name, value, &format!("one of {} is expected", names.join(", ")))
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

#[cfg(test)]
mod tests {
    use super::super::Key;
    use super::*;

    fn parse(args: &str) -> Result<Params, ParamError> {
        Params::parse(args.split_whitespace().map(str::as_bytes))
    }

    fn error(args: &str) -> String {
        parse(args).unwrap_err().to_string()
    }

    fn build(args: &str, servers: &[(&str, u32)]) -> Result<Placement, BuildError> {
        let servers =
            servers.iter().map(|&(name, weight)| Server { name: name.as_bytes(), weight });
        parse(args).unwrap().build(&servers.collect::<Vec<_>>())
    }

    fn build_error(args: &str, servers: &[(&str, u32)]) -> String {
        build(args, servers).unwrap_err().to_string()
    }

    #[test]
    fn parameters_may_come_in_any_order() {
        assert!(parse("").is_ok());
        assert!(parse("weight_scale=10 ketama_points=150").is_ok());
        assert!(parse("failover=on client=dalli").is_ok());
        assert!(parse("hash_namespace=off rehash=off ketama_points=1").is_ok());
    }

    #[test]
    fn the_key_is_kept_as_it_is_written() {
        assert_eq!(parse("").unwrap().key(), None);
        assert_eq!(parse("key=$uri=$args client=memjs").unwrap().key(), Some(&b"$uri=$args"[..]));
        assert_eq!(error("key="), "invalid value \"\" of \"key\": it must not be empty");
    }

    #[test]
    fn bad_numbers_are_refused() {
        for (parameter, name, range) in [
            ("ketama_points=-1", "ketama_points", "0 to 16000000"),
            ("ketama_points=abc", "ketama_points", "0 to 16000000"),
            ("ketama_points=+1", "ketama_points", "0 to 16000000"),
            ("ketama_points=1.5", "ketama_points", "0 to 16000000"),
            ("ketama_points=", "ketama_points", "0 to 16000000"),
            ("ketama_points=16000001", "ketama_points", "0 to 16000000"),
            ("ketama_points=4294967295", "ketama_points", "0 to 16000000"),
            ("ketama_points=99999999999999999999", "ketama_points", "0 to 16000000"),
            ("weight_scale=0", "weight_scale", "1 to 4294967295"),
            ("weight_scale=4294967296", "weight_scale", "1 to 4294967295"),
        ] {
            let (_, value) = parameter.split_once('=').unwrap();
            let expected = format!(
                "invalid value \"{value}\" of \"{name}\": a number from {range} is expected"
            );
            assert_eq!(error(parameter), expected);
        }
    }

    #[test]
    fn bad_words_are_refused() {
        assert_eq!(
            error("hash_namespace=yes"),
            "invalid value \"yes\" of \"hash_namespace\": one of on, off is expected"
        );
        assert_eq!(
            error("client=spymemcached locator=vbucket"),
            "invalid value \"vbucket\" of \"locator\": one of modulo, ketama is expected"
        );
        assert_eq!(
            error("client=twemproxy hash_tag={"),
            "invalid value \"{\" of \"hash_tag\": two characters are expected"
        );
        assert!(error("client=perl").starts_with(
            "invalid value \"perl\" of \"client\": one of cache_memcached_fast, cache_memcached, dalli,"
        ));
    }

    #[test]
    fn a_parameter_twice_is_refused() {
        assert_eq!(
            error("ketama_points=150 ketama_points=150"),
            "duplicate parameter \"ketama_points\""
        );
        assert_eq!(error("client=dalli client=dalli"), "duplicate parameter \"client\"");
    }

    #[test]
    fn a_parameter_of_another_client_is_refused_with_those_it_has() {
        assert_eq!(
            error("client=dalli ketama_points=5"),
            "invalid parameter \"ketama_points=5\": client=dalli has failover=, client=, key="
        );
        assert_eq!(
            error("ketama_point=5"),
            "invalid parameter \"ketama_point=5\": client=cache_memcached_fast has ketama_points=, \
             weight_scale=, hash_namespace=, rehash=, client=, key="
        );
        assert_eq!(
            error("client=cache_memcached rehash"),
            "invalid parameter \"rehash\": client=cache_memcached has rehash=, client=, key="
        );
        assert_eq!(
            error("=5 client=memjs"),
            "invalid parameter \"=5\": client=memjs has client=, key="
        );
    }

    #[test]
    fn rehash_is_for_the_basic_mode() {
        assert!(parse("rehash=on").is_ok());
        assert_eq!(
            error("rehash=on ketama_points=150"),
            "invalid value \"on\" of \"rehash\": ketama_points must be 0 with it"
        );
    }

    #[test]
    fn servers_without_points_are_refused() {
        let one = [("mc1:11211", 1)];
        let two = [("mc1:11211", 1), ("mc2:11211", 1)];
        let none = "the servers have 0 points together, at least 1 is needed";
        assert_eq!(build_error("ketama_points=1 weight_scale=10", &one), none);
        assert_eq!(build_error("ketama_points=1 weight_scale=10", &two), none);
        assert_eq!(build_error("client=php_memcache", &[("mc1:11211", 0)]), none);
        assert_eq!(
            build_error("weight_scale=100", &one),
            "the total weight 0.01 rounds to 0, at least 0.5 is needed"
        );
        assert_eq!(
            build_error("weight_scale=5", &two),
            "the total weight 0.4 rounds to 0, at least 0.5 is needed"
        );
        assert!(build("weight_scale=4", &two).is_ok());
        assert_eq!(build("", &[]).unwrap_err(), BuildError::NoServers);
    }

    #[test]
    fn too_many_points_are_refused_before_they_are_made() {
        assert_eq!(
            build_error("ketama_points=160", &[("mc1:11211", 1_000_000), ("mc2:11211", 1)]),
            "the servers have 160000160 points together, the limit is 16000000"
        );
        assert_eq!(
            build_error("ketama_points=16000000", &[("mc1:11211", u32::MAX)]),
            "the servers have 68719476720000000 points together, the limit is 16000000"
        );
        assert_eq!(
            build_error("client=php_memcache", &[("mc1:11211", 100_001)]),
            "the servers have 16000160 points together, the limit is 16000000"
        );
    }

    #[test]
    fn names_must_be_as_many_as_servers() {
        assert_eq!(
            build_error("client=twemproxy names=a,b,c", &[("mc1:11211", 1), ("mc2:11211", 1)]),
            "3 names are given to 2 servers"
        );
        assert!(build("client=twemproxy names=a,", &[("mc1:11211", 1), ("mc2:11211", 1)]).is_ok());
    }

    #[test]
    fn a_name_whose_address_is_hashed_must_have_one() {
        assert_eq!(
            build_error("client=spymemcached locator=ketama", &[("no.host.invalid:11211", 1)]),
            "no address is found for \"no.host.invalid\""
        );
        assert!(build("client=spymemcached", &[("no.host.invalid:11211", 1)]).is_ok());
    }

    #[test]
    fn one_server_has_every_key_and_no_other() {
        let key = Key { wire: b"key", namespace_len: 0 };
        for kind in &clients::KINDS {
            let only = build(&format!("client={}", kind.name), &[("127.0.0.1:11211", 3)]).unwrap();
            assert_eq!(only.server(key), 0);
            assert_eq!(only.rehash(key, &mut Default::default()), None, "{}", kind.name);
        }
    }

    #[test]
    fn no_client_fails_over_unless_it_is_told() {
        let key = Key { wire: b"key", namespace_len: 0 };
        let servers = [("127.0.0.1:11211", 1), ("127.0.0.2:11211", 1)];
        for kind in &clients::KINDS {
            let placement = build(&format!("client={}", kind.name), &servers).unwrap();
            assert_eq!(placement.rehash(key, &mut Default::default()), None, "{}", kind.name);
        }
    }

    #[test]
    fn a_client_gives_up_after_its_number_of_attempts() {
        let key = Key { wire: b"key", namespace_len: 0 };
        let servers = [("127.0.0.1:11211", 1), ("127.0.0.2:11211", 1)];
        for (args, attempts) in [
            ("rehash=on", 21),
            ("client=cache_memcached rehash=on", 21),
            ("client=python_memcached rehash=on", 10),
            ("client=dalli failover=on", 20),
        ] {
            let placement = build(args, &servers).unwrap();
            let mut state = Default::default();
            let mut made = 1;
            while placement.rehash(key, &mut state).is_some() {
                made += 1;
            }
            assert_eq!(made, attempts, "{args}");
            assert_eq!(placement.rehash(key, &mut state), None, "{args}");
        }
    }
}
