//! The parts of a Content-Type.

/// The type without its parameters, and without the blanks behind it.
pub fn essence(content_type: &[u8]) -> &[u8] {
    content_type.split(|&byte| byte == b';').next().unwrap_or(content_type).trim_ascii_end()
}

/// The value of the charset parameter, without quotes.
pub fn charset(content_type: &[u8]) -> Option<&[u8]> {
    content_type.split(|&byte| byte == b';').skip(1).find_map(|parameter| {
        let (name, value) = parameter.trim_ascii().split_at_checked(b"charset=".len())?;
        let value = value.strip_prefix(b"\"").unwrap_or(value);
        let value = value.strip_suffix(b"\"").unwrap_or(value);
        (name.eq_ignore_ascii_case(b"charset=") && !value.is_empty()).then_some(value)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts() {
        for (content_type, essence_, charset_) in [
            ("application/json", "application/json", None),
            ("application/json; charset=utf-8", "application/json", Some("utf-8")),
            ("application/json;CHARSET=\"UTF-8\" ", "application/json", Some("UTF-8")),
            ("text/x ; a=b; charset=koi8-r; c=d", "text/x", Some("koi8-r")),
            ("text/x; charset=", "text/x", None),
            ("text/x; charsets=1", "text/x", None),
            ("charset=utf-8", "charset=utf-8", None),
            ("", "", None),
        ] {
            assert_eq!(essence(content_type.as_bytes()), essence_.as_bytes());
            assert_eq!(charset(content_type.as_bytes()), charset_.map(str::as_bytes));
        }
    }
}
