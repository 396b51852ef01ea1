//! Each module's page: every directive and variable, in the manner of nginx.org.

use std::collections::BTreeSet;

use crate::code::{CONTEXTS, Names, contexts};
use crate::markdown::{Page, code_spans};
use crate::{modules, none, root};

/// A module's page; empty, and so without all that it should have, where there is none.
pub fn page(module: &str) -> Page {
    let path = root().join(format!("docs/{module}.md"));
    if path.exists() { Page::read(&path) } else { Page::parse(&path, "") }
}

/// A directive's entry: below its heading, a block of code with the lines `Syntax:`, `Default:` and `Context:`.
pub struct Entry {
    pub name: String,
    text: String,
}

pub fn entries(page: &Page) -> Vec<Entry> {
    let blocks = page.blocks("").into_iter().filter(|(_, text)| text.starts_with("Syntax:"));
    blocks.map(|(at, text)| Entry { name: page.heading_before(at).to_owned(), text }).collect()
}

/// What stands behind `field:`, on its line and on those below that begin with a blank.
pub fn field(entry: &Entry, field: &str) -> Option<String> {
    let mut lines = entry.text.lines();
    let first = lines.find_map(|line| line.strip_prefix(field)?.strip_prefix(':'))?;
    let more = lines.take_while(|line| line.starts_with(' '));
    let all: Vec<&str> = std::iter::once(first).chain(more).map(str::trim).collect();
    Some(all.join("\n"))
}

/// The variables that lines of the section about them begin with, in a list or a table too.
fn variables(page: &Page) -> BTreeSet<String> {
    let sections = page.sections(2).into_iter();
    let about = sections.filter(|(heading, _)| heading == "Embedded variables");
    let text: String = about.map(|(_, text)| text + "\n").collect();
    let lines = text.lines().map(|line| line.trim_start_matches(['*', '-', '|', ' ']));
    let spans = lines
        .filter(|line| line.starts_with("`$"))
        .filter_map(|line| code_spans(line).into_iter().next());
    spans.map(|name| name.trim_start_matches('$').to_owned()).collect()
}

/// What only one of the two has.
pub fn compare(what: &str, code: &BTreeSet<String>, page: &BTreeSet<String>) -> Vec<String> {
    let missing = code.difference(page).map(|name| format!("{what} {name} is not documented"));
    let extra = page.difference(code).map(|name| format!("there is no {what} {name}"));
    missing.chain(extra).collect()
}

#[test]
fn every_directive_and_variable_is_documented_and_no_other() {
    let mut faults = Vec::new();
    for module in modules() {
        let code = Names::of(&module);
        assert!(!code.directives.is_empty(), "{module} has no directive");
        let page = page(&module);
        let documented = entries(&page).into_iter().map(|entry| entry.name).collect();
        let both = compare("directive", &code.directives, &documented);
        let more = compare("variable", &code.variables, &variables(&page));
        faults
            .extend(both.into_iter().chain(more).map(|fault| format!("docs/{module}.md: {fault}")));
    }
    none(faults);
}

#[test]
fn every_entry_says_what_the_directive_takes_and_where_it_stands() {
    let mut faults = Vec::new();
    for module in modules() {
        for entry in entries(&page(&module)) {
            let name = &entry.name;
            let mut fault = |text: &str| faults.push(format!("docs/{module}.md: {name}: {text}"));
            let syntax = field(&entry, "Syntax").unwrap_or_default();
            if !syntax.lines().all(|form| form.split([' ', ';']).next() == Some(name)) {
                fault("Syntax: does not begin with its name");
            }
            if field(&entry, "Default").is_none_or(|default| default.is_empty()) {
                fault("Default: is missing");
            }
            let documented = field(&entry, "Context").unwrap_or_default();
            let documented: BTreeSet<String> = documented.split(", ").map(str::to_owned).collect();
            let allowed: BTreeSet<String> = contexts(name).into_iter().map(str::to_owned).collect();
            for missing in allowed.difference(&documented) {
                fault(&format!("Context: lacks {missing}"));
            }
            for extra in documented.difference(&allowed) {
                fault(&format!("it is not allowed in {extra}"));
            }
        }
    }
    none(faults);
}

#[test]
fn what_is_missing_on_either_side_is_noticed() {
    let text = "\
# Module m

## Directives

### a

```
Syntax:  a on | off;
         a name ...;
Default: a off;
Context: http, if in location
```

Text.

## Embedded variables

`$x`

> is `$y`.

* `$z`: z

## Notes

`$b` is none.
";
    let page = Page::parse(&root().join("docs/m.md"), text);
    let set = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<BTreeSet<_>>();

    let entries = entries(&page);
    assert_eq!(entries.len(), 1);
    assert_eq!(entries[0].name, "a");
    assert_eq!(field(&entries[0], "Syntax").as_deref(), Some("a on | off;\na name ...;"));
    assert_eq!(field(&entries[0], "Default").as_deref(), Some("a off;"));
    assert_eq!(field(&entries[0], "Context").as_deref(), Some("http, if in location"));
    assert_eq!(field(&entries[0], "Module"), None);
    assert_eq!(variables(&page), set(&["x", "z"]));

    let documented = set(&["a"]);
    assert_eq!(compare("directive", &set(&["a"]), &documented), Vec::<String>::new());
    assert_eq!(
        compare("directive", &set(&["a", "b"]), &documented),
        ["directive b is not documented"]
    );
    assert_eq!(compare("directive", &set(&[]), &documented), ["there is no directive a"]);
}

#[test]
fn nginx_says_where_a_directive_may_stand() {
    assert_eq!(contexts("memcached_hash"), BTreeSet::from(["upstream"]));
    assert_eq!(contexts("events"), BTreeSet::from(["main"]));
    let names: BTreeSet<_> = CONTEXTS.iter().map(|context| context.0).collect();
    assert_eq!(
        contexts("server_tokens"),
        names.into_iter().filter(|name| ["http", "server", "location"].contains(name)).collect()
    );
}
