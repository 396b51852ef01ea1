//! Callbacks. Input: a query string with the argument `cb`.

use ngx_cachefront::jsonp_callback::logic::callback::{MAX_LEN, Syntax, decode, given};

pub fn check(query: &[u8]) {
    for (syntax, is_callback) in
        [(Syntax::Word, is_word as fn(&[u8]) -> bool), (Syntax::Member, is_member)]
    {
        let mut buffer = [0; MAX_LEN];
        let given = given(query, &["cb"]);
        let value = query
            .split(|&byte| byte == b'&')
            .find(|argument| argument.len() > 2 && argument[..3].eq_ignore_ascii_case(b"cb="))
            .map(|argument| &argument[3..])
            .filter(|value| !value.is_empty());
        assert_eq!(given, value);
        let Some(value) = value else { continue };
        let expected = decoded(value).filter(|name| is_callback(name));
        assert_eq!(decode(value, syntax, &mut buffer), expected.as_deref());
    }
}

/// Percent-decoded once, if every `%` has its two digits.
fn decoded(value: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let mut at = 0;
    while at < value.len() {
        if value[at] == b'%' {
            let digit = |at: usize| (*value.get(at)? as char).to_digit(16);
            out.push((digit(at + 1)? * 16 + digit(at + 2)?) as u8);
            at += 3;
        } else {
            out.push(value[at]);
            at += 1;
        }
    }
    Some(out)
}

/// `[A-Za-z0-9_]{1,255}`
fn is_word(name: &[u8]) -> bool {
    (1..=255).contains(&name.len()) && name.iter().all(|b| b.is_ascii_alphanumeric() || *b == b'_')
}

/// Identifiers joined by `.`, each followed by any number of `[digits]`.
fn is_member(name: &[u8]) -> bool {
    let identifier = |text: &[u8]| {
        let word = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_' || *b == b'$';
        !text.is_empty() && text.iter().all(word) && !text[0].is_ascii_digit()
    };
    let index = |text: &[u8]| {
        let digits = text.strip_suffix(b"]").unwrap_or_default();
        !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
    };
    let part = |text: &[u8]| {
        let mut pieces = text.split(|&byte| byte == b'[');
        pieces.next().is_some_and(identifier) && pieces.all(index)
    };
    name.len() <= 255 && name.split(|&byte| byte == b'.').all(part)
}
