//! The arguments of a query string.

use std::io::Write;

/// The value of the first argument called `name`, as nginx's `$arg_name` finds it (`ngx_http_arg`):
/// names are compared as they are sent, undecoded and without case, and only an argument with `=`
/// has a value.
pub fn value<'a>(args: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let mut rest = args;
    loop {
        // A name has no `&` in it, so what is equal to it and followed by `=` is one argument's name.
        if let Some((head, [b'=', tail @ ..])) = rest.split_at_checked(name.len()) {
            if is_same_name(head, name) {
                return tail.get(..first_ampersand(tail));
            }
        }
        rest = rest.get(first_ampersand(rest)..)?.get(1..)?;
    }
}

/// As `eq_ignore_ascii_case`, for two of the same length, which mostly differ at once or are equal to the letter.
fn is_same_name(a: &[u8], b: &[u8]) -> bool {
    let may_be = a.first().zip(b.first()).is_none_or(|(a, b)| (a ^ b) & !0x20 == 0);
    may_be && (a == b || a.eq_ignore_ascii_case(b))
}

/// Where the first `&` is, or the end.
///
/// Arguments are mostly too short for a vectorized search to pay, so this looks at eight bytes at a time.
fn first_ampersand(text: &[u8]) -> usize {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    const HIGH_BITS: u64 = u64::from_le_bytes([0x80; 8]);
    const AMPERSANDS: u64 = u64::from_le_bytes([b'&'; 8]);
    let mut at: usize = 0;
    let mut rest = text;
    while let Some((eight, behind)) = rest.split_first_chunk() {
        // The lowest byte with its high bit set in `found` is the first that is 0 in `differing`.
        let differing = u64::from_le_bytes(*eight) ^ AMPERSANDS;
        let found = differing.wrapping_sub(ONES) & !differing & HIGH_BITS;
        if found != 0 {
            return at.saturating_add(found.trailing_zeros() as usize / 8);
        }
        at = at.saturating_add(8);
        rest = behind;
    }
    at.saturating_add(rest.iter().take_while(|&&byte| byte != b'&').count())
}

/// The query string without the arguments called one of `names`, and without `_`, which jQuery adds
/// to get past caches. What remains keeps its order and its spelling.
///
/// The result is `args` itself where nothing is to be removed; else it is written to the room that
/// `room` gives for so many bytes at most. `None` if `room` gives none.
pub fn without<'a>(
    args: &'a [u8],
    names: &[impl AsRef<[u8]>],
    room: impl FnOnce(usize) -> Option<&'a mut [u8]>,
) -> Option<&'a [u8]> {
    if arguments(args).all(|argument| !is_called(argument, names)) {
        return Some(args);
    }
    let room = room(args.len())?;
    let mut free = &mut *room;
    let mut separator: &[u8] = b"";
    for argument in arguments(args).filter(|argument| !is_called(argument, names)) {
        free.write_all(separator).ok()?;
        free.write_all(argument).ok()?;
        separator = b"&";
    }
    let unused = free.len();
    room.get(..room.len().checked_sub(unused)?)
}

/// Whether the argument, with a value or without, is one of `names` or jQuery's `_`.
fn is_called(argument: &[u8], names: &[impl AsRef<[u8]>]) -> bool {
    let called = argument.split(|&byte| byte == b'=').next().unwrap_or_default();
    called == b"_" || names.iter().any(|name| name.as_ref().eq_ignore_ascii_case(called))
}

/// What stands between the `&`.
fn arguments(args: &[u8]) -> impl Iterator<Item = &[u8]> {
    args.split(|&byte| byte == b'&')
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn finds_what_nginx_finds() {
        for (args, name, found) in [
            ("callback=cb", "callback", Some("cb")),
            ("a=1&callback=cb&b=2", "callback", Some("cb")),
            ("CallBack=cb", "callback", Some("cb")),
            ("callback=cb", "CALLBACK", Some("cb")),
            ("callback=a&callback=b", "callback", Some("a")),
            ("callback=&callback=b", "callback", Some("")),
            ("callback&callback=b", "callback", Some("b")),
            ("callback=a=b", "callback", Some("a=b")),
            ("xcallback=cb", "callback", None),
            ("x=callback=cb", "callback", None),
            ("callbackx=cb", "callback", None),
            ("c%61llback=cb", "callback", None),
            ("callback", "callback", None),
            ("callbac", "callback", None),
            ("c", "callback", None),
            ("", "callback", None),
            ("&&callback=cb&", "callback", Some("cb")),
            ("c=f", "c", Some("f")),
        ] {
            let got = value(args.as_bytes(), name.as_bytes());
            assert_eq!(got, found.map(str::as_bytes), "{args} {name}");
        }
    }

    fn strip(args: &str, names: &[&str]) -> String {
        let room = Box::leak(vec![0; args.len()].into_boxed_slice());
        let args = Box::leak(args.as_bytes().to_vec().into_boxed_slice());
        let left = without(args, names, |len| room.get_mut(..len)).unwrap();
        String::from_utf8(left.to_vec()).unwrap()
    }

    #[test]
    fn removes_callbacks_and_jquerys_argument() {
        for (args, left) in [
            ("", ""),
            ("a=1", "a=1"),
            ("a=1&b=2", "a=1&b=2"),
            ("callback=x", ""),
            ("callback", ""),
            ("callback=", ""),
            ("a=1&callback=x", "a=1"),
            ("callback=x&a=1", "a=1"),
            ("a=1&callback=x&b=2", "a=1&b=2"),
            ("a=1&CALLBACK=x&b=2&callback=y&_=123", "a=1&b=2"),
            ("cb=1&_", ""),
            ("_x=1&x_=2&__=3", "_x=1&x_=2&__=3"),
            ("a=1&&b=2", "a=1&&b=2"),
            ("&_=1&", "&"),
            ("callbacks=1&callbac=2", "callbacks=1&callbac=2"),
        ] {
            assert_eq!(strip(args, &["callback", "cb"]), left, "{args}");
        }
        assert_eq!(strip("callback=x&_=1", &[]), "callback=x");
    }

    #[test]
    fn no_room_is_no_value() {
        assert_eq!(without(b"callback=x", &["callback"], |_| None), None);
        assert_eq!(without(b"a=1", &["callback"], |_| None), Some(&b"a=1"[..]));
    }

    /// nginx's own search, step by step: every place where the name stands, then what is around it.
    fn reference(args: &[u8], name: &[u8]) -> Option<Vec<u8>> {
        (0..args.len()).find_map(|at| {
            let end = at + name.len();
            let here = end < args.len()
                && args[at..end].eq_ignore_ascii_case(name)
                && (at == 0 || args[at - 1] == b'&')
                && args[end] == b'=';
            let tail = args.get(end + 1..).unwrap_or_default();
            here.then(|| tail.iter().copied().take_while(|&b| b != b'&').collect())
        })
    }

    proptest! {
        #[test]
        fn searches_as_nginx_does(args in "[abA=&]{0,24}", name in "[abA]{1,3}") {
            let found = value(args.as_bytes(), name.as_bytes()).map(<[u8]>::to_vec);
            prop_assert_eq!(found, reference(args.as_bytes(), name.as_bytes()));
        }

        #[test]
        fn what_is_left_has_no_callback(args in "[ab_=&]{0,24}") {
            let left = strip(&args, &["a", "ab"]);
            let kept: Vec<_> = args
                .split('&')
                .filter(|a| !["a", "ab", "_"].contains(&a.split('=').next().unwrap_or_default()))
                .collect();
            prop_assert_eq!(left, kept.join("&"));
        }
    }
}
