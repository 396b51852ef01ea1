//! Query arguments. Input: a name, a line end, a query string.

use ngx_cachefront::jsonp_callback::logic::args;

use super::first_line;

pub fn check(input: &[u8]) {
    let (name, query) = first_line(input);
    // Names come from the configuration; one with `&` in it can never be found.
    if !name.is_empty() && !name.contains(&b'&') {
        assert_eq!(args::value(query, name), value(query, name));
    }

    let mut room = vec![0; query.len()];
    let left = args::without(query, &[name], |len| room.get_mut(..len));
    assert_eq!(left, Some(&without(query, name)[..]));
}

/// nginx's `ngx_http_arg`: every place where the name stands, then what is around it.
fn value<'a>(query: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let at = (0..query.len()).find(|&at| {
        let end = at + name.len();
        end < query.len()
            && query[at..end].eq_ignore_ascii_case(name)
            && (at == 0 || query[at - 1] == b'&')
            && query[end] == b'='
    })?;
    query[at + name.len() + 1..].split(|&byte| byte == b'&').next()
}

fn without(query: &[u8], name: &[u8]) -> Vec<u8> {
    let kept = |argument: &&[u8]| {
        let called = argument.split(|&byte| byte == b'=').next().unwrap_or_default();
        called != b"_" && !called.eq_ignore_ascii_case(name)
    };
    let kept: Vec<_> = query.split(|&byte| byte == b'&').filter(kept).collect();
    kept.join(&b'&')
}
