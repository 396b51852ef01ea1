//! Content types.

/// The value of `jsonp_callback_types`: nginx's rules for directives such as `gzip_types`.
///
/// nginx looks such a list up by hash; this one has a few entries, and comparing them takes an eighth of the
/// time.
#[derive(Clone, Debug)]
pub struct Types {
    any: bool,
    parameters: bool,
    list: Vec<Box<[u8]>>,
}

impl Default for Types {
    fn default() -> Self {
        let mut types = Self::none();
        for name in ["application/json", "application/javascript", "text/javascript"] {
            types.add(name.as_bytes());
        }
        types
    }
}

impl Types {
    /// An empty list.
    pub const fn none() -> Self {
        Self { any: false, parameters: false, list: Vec::new() }
    }

    /// Adds a type; `*` stands for all. False if it was already there.
    pub fn add(&mut self, name: &[u8]) -> bool {
        if name == b"*" {
            (self.any, self.parameters) = (true, true);
            return true;
        }
        self.parameters |= name.contains(&b';');
        let is_new = !self.list.iter().any(|listed| listed.eq_ignore_ascii_case(name));
        if is_new {
            self.list.push(name.into());
        }
        is_new
    }

    /// Whether `content_type`, which has no charset parameter, is in the list. Names are compared without
    /// case; an answer without a type is in none.
    pub fn contains(&self, content_type: &[u8]) -> bool {
        self.any && !content_type.is_empty()
            || self.list.iter().any(|listed| {
                **listed == *content_type || listed.eq_ignore_ascii_case(content_type)
            })
    }

    /// Whether a type in the list may have parameters.
    pub fn have_parameters(&self) -> bool {
        self.parameters
    }
}

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
    fn types() {
        let mut types = Types::none();
        assert!(!types.contains(b"application/json"));
        assert!(types.add(b"application/json"));
        assert!(types.add(b"Text/JavaScript"));
        assert!(!types.add(b"APPLICATION/json"));
        for name in ["application/json", "APPLICATION/JSON", "text/javascript"] {
            assert!(types.contains(name.as_bytes()), "{name}");
        }
        for name in
            ["", "text/html", "application/jsonp", "application/jso", "application/json;a=b"]
        {
            assert!(!types.contains(name.as_bytes()), "{name}");
        }
        assert!(!types.have_parameters());
        assert!(types.add(b"application/json;a=b"));
        assert!(types.contains(b"application/json;a=b") && types.have_parameters());
    }

    #[test]
    fn any_type() {
        let mut types = Types::none();
        assert!(types.add(b"*"));
        assert!(types.contains(b"text/html") && !types.contains(b"") && types.have_parameters());
    }

    #[test]
    fn types_by_default() {
        let types = Types::default();
        for name in ["application/json", "application/javascript", "text/javascript"] {
            assert!(types.contains(name.as_bytes()), "{name}");
        }
        assert!(!types.contains(b"text/html") && !types.contains(b"application/vnd.api+json"));
    }

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
