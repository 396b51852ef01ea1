//! What the modules have: read from their sources, and asked of nginx.

use std::collections::BTreeSet;
use std::fs;

use crate::support::nginx::{self, Nginx};
use crate::{files, root};

/// The places where a directive may stand, as nginx's documentation calls them, each with the text around it.
pub const CONTEXTS: [(&str, &str); 8] = [
    ("main", "@"),
    ("http", "http { @ }"),
    ("server", "http { server { @ } }"),
    ("location", "http { server { location / { @ } } }"),
    ("if in location", "http { server { location / { if ($uri) { @ } } } }"),
    ("if in server", "http { server { if ($uri) { @ } } }"),
    ("limit_except", "http { server { location / { limit_except GET { @ } } } }"),
    ("upstream", "http { upstream u { @ } }"),
];

/// What `nginx -t` says of a configuration, with the module or without.
pub fn test(configuration: &str, with_module: bool) -> (bool, String) {
    let builder = Nginx::builder();
    let prefix = builder.prefix().display().to_string();
    let (builder, load) = match with_module {
        true => (builder.link_module(), "load_module modules/ngx_http_cachefront_module.so;"),
        false => (builder, ""),
    };
    let events = if configuration.contains("events {") { "" } else { "events {}" };
    // What the modules of nginx would write to the places it was configured with.
    let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|name| format!("{name}_temp_path {prefix}/{name};"))
        .join(" ");
    let http = format!("http {{ access_log off; {temporary}");
    let configuration = configuration.replacen("http {", &http, 1);
    builder.raw(&format!("{load}\n{events}\n{configuration}\n")).test_config()
}

/// The directives of a module and its variables.
#[derive(Debug, Default, PartialEq)]
pub struct Names {
    pub directives: BTreeSet<String>,
    pub variables: BTreeSet<String>,
}

impl Names {
    /// Those that nginx knows with the library and not without it, of all that the sources could name.
    pub fn of(module: &str) -> Names {
        let mut names = Names::default();
        for path in files(&root().join("src").join(module), "rs") {
            let text = fs::read_to_string(&path).unwrap();
            for (literal, is_c) in literals(&text) {
                let taken = if is_c { &mut names.directives } else { &mut names.variables };
                taken.insert(literal);
            }
        }
        names.directives.retain(|name| is_new(|with| knows_directive(name, with)));
        names.variables.retain(|name| is_new(|with| knows_variable(name, with)));
        names
    }
}

fn is_new(known: impl Fn(bool) -> bool) -> bool {
    known(true) && !known(false)
}

pub fn knows_directive(name: &str, with_module: bool) -> bool {
    let (_, said) = test(&format!("{name};"), with_module);
    !said.contains(&format!("unknown directive \"{name}\""))
}

fn knows_variable(name: &str, with_module: bool) -> bool {
    let configuration = format!("http {{ server {{ return 200 \"${name}\"; }} }}");
    test(&configuration, with_module).0
}

/// Where a directive may stand, of [`CONTEXTS`].
pub fn contexts(directive: &str) -> BTreeSet<&'static str> {
    let allowed = |context: &&(&str, &str)| {
        let (_, said) = test(&context.1.replace('@', &format!("{directive} x;")), true);
        !said.contains(&format!("\"{directive}\" directive is not allowed here"))
    };
    CONTEXTS.iter().filter(allowed).map(|context| context.0).collect()
}

/// The texts in a source that might be names, and whether they are C strings.
fn literals(source: &str) -> Vec<(String, bool)> {
    let mut found = Vec::new();
    for line in source.lines().filter(|line| !line.trim_start().starts_with("//")) {
        let parts: Vec<&str> = line.split('"').collect();
        for (at, text) in parts.iter().enumerate().skip(1).step_by(2) {
            let name =
                |byte: u8| byte.is_ascii_lowercase() || byte == b'_' || byte.is_ascii_digit();
            if !text.is_empty() && text.bytes().all(name) {
                found.push(((*text).to_owned(), parts[at - 1].ends_with('c')));
            }
        }
    }
    found
}

#[test]
fn names_are_found_in_sources() {
    let source =
        "command(c\"a_b\", X), // c\"no\"\n    // c\"no\"\ndefine(cf, \"c_d\", \"Not this\");\n";
    let found = [("a_b", true), ("no", true), ("c_d", false)];
    assert_eq!(literals(source), found.map(|(name, is_c)| (name.to_owned(), is_c)));
}

#[test]
fn nginx_tells_what_is_the_modules() {
    if nginx::module().unwrap().is_none() {
        return;
    }
    assert!(is_new(|with| knows_directive("memcached_hash", with)));
    assert!(is_new(|with| knows_variable("jsonp_args", with)));
    for name in ["memcached_pass", "no_such_directive"] {
        assert!(!is_new(|with| knows_directive(name, with)), "{name}");
    }
    for name in ["memcached_key", "arg_anything", "no_such_variable"] {
        assert!(!is_new(|with| knows_variable(name, with)), "{name}");
    }
}
