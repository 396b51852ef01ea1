//! What may stand behind a directive, and what stands there if nothing does: the lines `Syntax:` and `Default:` of
//! each page, and README, against what nginx takes and how it then answers.

use std::collections::BTreeSet;
use std::fs;
use std::net::IpAddr;

use crate::code::{knows_directive, test};
use crate::markdown::{Page, Table, code_spans, tables};
use crate::reference::{Entry, entries, field, page};
use crate::support::http;
use crate::support::nginx::Nginx;
use crate::{files, modules, none, root};

/// A word of `Syntax:` that stands for others: its name, such others, and which words it stands for.
struct Placeholder(&'static str, [&'static str; 2], fn(&str) -> bool);

const PLACEHOLDERS: [Placeholder; 7] = [
    Placeholder("name", ["zq", "zr"], |_| true),
    Placeholder("mime-type", ["text/plain", "text/css"], |word| word.contains('/')),
    Placeholder("code", ["404", "500"], |word| word.len() == 3 && word.parse::<u16>().is_ok()),
    Placeholder("class", ["4xx", "5xx"], |word| word.ends_with("xx")),
    Placeholder("address", ["192.0.2.1", "2001:db8::1"], |word| word.parse::<IpAddr>().is_ok()),
    Placeholder("CIDR", ["192.0.2.0/24", "2001:db8::/32"], |word| word.contains('/')),
    Placeholder("number", ["1", "2"], |word| word.parse::<u32>().is_ok()),
];

/// One of the words that may stand behind a directive: `off`, `name`, `hops=number`.
#[derive(Debug, PartialEq)]
struct Word {
    /// What it begins with if only the rest of it stands for something else: `hops=`.
    prefix: String,
    text: String,
    /// There may be more of them, or of others with this mark.
    repeats: bool,
    /// In brackets.
    optional: bool,
}

impl Word {
    fn placeholder(&self) -> Option<&'static Placeholder> {
        PLACEHOLDERS.iter().find(|placeholder| placeholder.0 == self.text)
    }

    /// Words that it stands for; itself, if it stands for no other.
    fn samples(&self) -> Vec<String> {
        let samples =
            self.placeholder().map_or(vec![&*self.text], |placeholder| placeholder.1.to_vec());
        samples.iter().map(|sample| format!("{}{sample}", self.prefix)).collect()
    }

    fn stands_for(&self, word: &str) -> bool {
        let rest = word.strip_prefix(&self.prefix);
        rest.is_some_and(|rest| match self.placeholder() {
            Some(placeholder) => placeholder.2(rest),
            None => rest == self.text,
        })
    }
}

/// The words of a `Syntax:` such as `a name ... | off;`. Those before the three dots may be repeated.
fn words(syntax: &str) -> Vec<Word> {
    let all = syntax.trim_end_matches(';').split_whitespace().skip(1).filter(|word| *word != "|");
    let all: Vec<&str> = all.collect();
    let dots = all.iter().rposition(|word| *word == "...").unwrap_or(0);
    let words = all.iter().enumerate().filter(|(_, word)| **word != "...");
    let word = |(at, word): (usize, &&str)| {
        let bare = word.trim_start_matches('[').trim_end_matches(']');
        let (prefix, text) = bare.split_at(bare.find('=').map_or(0, |equals| equals + 1));
        Word {
            prefix: prefix.into(),
            text: text.into(),
            repeats: at < dots,
            optional: word.starts_with('['),
        }
    };
    words.map(word).collect()
}

/// Whether nginx takes these words behind the directive.
fn takes(directive: &str, words: &[&str]) -> bool {
    let line = format!("{directive} {};", words.join(" "));
    test(&format!("http {{ server {{ location / {{ {line} }} }} }}"), true).0
}

/// What the sources of a module, without their tests, could name as a value.
fn candidates(module: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for path in files(&root().join("src").join(module), "rs") {
        let text = fs::read_to_string(&path).unwrap();
        let text = text.split("#[cfg(test)]").next().unwrap();
        let literals = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        let literals = literals.flat_map(|line| line.split('"').skip(1).step_by(2));
        let is_word = |text: &&str| {
            let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"_=/*.-".contains(&byte);
            !text.is_empty() && text.bytes().all(allowed)
        };
        found.extend(literals.filter(is_word).map(str::to_owned));
    }
    // Where a number or a code may stand behind something, that is named in the sources, as `hops=` is.
    let prefixes: Vec<_> = found.iter().filter(|text| text.ends_with('=')).cloned().collect();
    found.extend(prefixes.iter().flat_map(|prefix| ["1", "404"].map(|n| format!("{prefix}{n}"))));
    found.extend(PLACEHOLDERS.iter().flat_map(|it| it.1.map(str::to_owned)));
    found
}

/// The directives of a module's page whose values nginx can be asked for here; the parameters of memcached's are
/// the clients'.
fn entries_of(module: &str) -> Vec<Entry> {
    let entries = entries(&page(module)).into_iter();
    entries.filter(|entry| entry.name != "memcached_hash").collect()
}

/// What is wrong with a `Syntax:`, by what nginx takes of what it says and of `candidates`.
fn faults(
    directive: &str,
    syntax: &str,
    candidates: &BTreeSet<String>,
    takes: impl Fn(&[&str]) -> bool,
) -> Vec<String> {
    let words = words(syntax);
    let mut faults = Vec::new();
    let mut fault = |text: String| faults.push(format!("{directive}: Syntax: {text}"));
    let first = words.first().map(|word| word.samples().remove(0)).unwrap_or_default();

    // All that it says is taken,
    for word in &words {
        for sample in word.samples() {
            let alone = [&*sample];
            let behind = [&*first, &*sample];
            if !takes(if word.optional { &behind } else { &alone }) {
                fault(format!("nginx does not take \"{sample}\""));
            }
        }
    }
    let repeated: Vec<String> =
        words.iter().filter(|word| word.repeats).flat_map(Word::samples).collect();
    let together: Vec<&str> = repeated.iter().map(|sample| &**sample).collect();
    // `hops=` may be given only once, which no syntax says.
    let together: Vec<&str> = together.into_iter().filter(|text| *text != "hops=2").collect();
    if !together.is_empty() && !takes(&together) {
        fault(format!("nginx does not take \"{}\"", together.join(" ")));
    }
    for word in words.iter().filter(|word| !word.repeats && !word.optional) {
        let sample = word.samples().remove(0);
        let others = words.iter().filter(|other| !other.optional).flat_map(Word::samples);
        if others.into_iter().any(|other| takes(&[&other, &sample])) {
            fault(format!("\"{sample}\" need not stand alone"));
        }
    }
    // and all that is taken, it says. What takes any word may take some of them for something else, which
    // then cannot stand beside others.
    let takes_any = takes(&["zq~"]);
    let takes_two = takes(&[&first, &first]);
    let is_any = |word: &Word| takes_any && word.repeats && word.placeholder().is_some();
    for candidate in candidates {
        let mut said = words.iter().any(|word| !is_any(word) && word.stands_for(candidate));
        if !said && takes_two && takes(&[&first, candidate]) {
            said = words.iter().any(is_any);
        } else if !said {
            said = !takes(&[candidate]);
        }
        if !said {
            fault(format!("nginx takes \"{candidate}\""));
        }
    }
    faults
}

#[test]
fn nginx_takes_what_syntax_says_and_nothing_else() {
    let mut all = Vec::new();
    for module in modules() {
        let candidates = candidates(&module);
        for entry in entries_of(&module) {
            let syntax = field(&entry, "Syntax").unwrap_or_default();
            assert!(knows_directive(&entry.name, true), "{}", entry.name);
            let takes = |words: &[&str]| takes(&entry.name, words);
            let of_entry = faults(&entry.name, &syntax, &candidates, takes);
            all.extend(of_entry.into_iter().map(|fault| format!("docs/{module}.md: {fault}")));
        }
    }
    none(all);
}

/// `from 200 to 599` in a text.
fn range(text: &str) -> Option<(u16, u16)> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let number = |word: &str| word.trim_end_matches(|c: char| !c.is_ascii_digit()).parse().ok();
    words.windows(4).find_map(|four| match four {
        ["from", low, "to", high] => Some((number(low)?, number(high)?)),
        _ => None,
    })
}

#[test]
fn codes_are_taken_from_the_first_to_the_last_that_the_text_names() {
    let mut faults = Vec::new();
    let mut compared = 0;
    for module in modules() {
        let sections = page(&module).sections(3);
        for entry in entries_of(&module) {
            let syntax = field(&entry, "Syntax").unwrap_or_default();
            if !words(&syntax).iter().any(|word| word.text == "code") {
                continue;
            }
            compared += 1;
            let text = sections.iter().find(|(heading, _)| *heading == entry.name).unwrap();
            let Some((low, high)) = range(&text.1) else {
                faults.push(format!("docs/{module}.md: {}: names no range of codes", entry.name));
                continue;
            };
            for (code, right) in [(low - 1, false), (low, true), (high, true), (high + 1, false)] {
                if takes(&entry.name, &[&code.to_string()]) != right {
                    faults.push(format!(
                        "docs/{module}.md: {}: the codes are not {low} to {high}",
                        entry.name
                    ));
                }
            }
        }
    }
    assert_eq!(compared, 2);
    none(faults);
}

/// What is asked of a location: the type and status that it answers with, and the query string.
struct Probe {
    content_type: String,
    status: u16,
    callback: &'static str,
}

/// Requests that tell the values of all directives apart.
fn probes(module: &str) -> Vec<Probe> {
    let probe = |content_type: &str, status, callback| Probe {
        content_type: content_type.into(),
        status,
        callback,
    };
    let mut types = candidates(module);
    types.retain(|text| text.contains('/') && text.starts_with(|c: char| c.is_ascii_lowercase()));
    let mut probes: Vec<Probe> = types.iter().map(|text| probe(text, 200, "f")).collect();
    probes.extend(
        [(404, "f"), (200, "a.b"), (200, "!")]
            .map(|(status, callback)| probe("application/json", status, callback)),
    );
    probes
}

/// What may be told by the answer.
type Told = (u16, Vec<Option<String>>, String);

#[test]
fn nothing_said_is_what_default_says() {
    let mut faults = Vec::new();
    for module in modules() {
        let entries = entries_of(&module);
        let defaults = entries.iter().filter_map(|entry| {
            let default = field(entry, "Default")?;
            (default != "—").then_some((entry, default))
        });
        for (entry, default) in defaults {
            assert_eq!(module, "jsonp_callback", "there are no requests that show {default}");
            let name = &entry.name;
            let base = if name == "jsonp_callback" { "" } else { "jsonp_callback callback;" };
            let Some(value) = default.strip_suffix(';').and_then(|text| text.strip_prefix(&**name))
            else {
                faults.push(format!("docs/{module}.md: {name}: Default: {default}"));
                continue;
            };
            let others =
                words(&field(entry, "Syntax").unwrap_or_default()).into_iter().flat_map(|word| {
                    let value = if word.optional { value } else { "" };
                    word.samples().into_iter().map(move |sample| format!("{value} {sample}"))
                });
            let others: Vec<String> = others.filter(|other| other.trim() != value.trim()).collect();
            let line = |value: &str| format!("{base} {name} {value};");
            let variants: Vec<String> = [base.to_owned(), line(value)]
                .into_iter()
                .chain(others.iter().map(|other| line(other)))
                .collect();

            let mut answers = answers(&variants, &probes(&module)).into_iter();
            let nothing = answers.next().unwrap();
            if answers.next().unwrap() != nothing {
                faults.push(format!("docs/{module}.md: {name}: the default is not{value}"));
                continue;
            }
            let same = others.iter().zip(answers).filter(|(_, answer)| *answer == nothing);
            faults.extend(
                same.map(|(other, _)| format!("{name}: no request tells{other} from the default")),
            );
        }
    }
    none(faults);
}

/// What a server answers to all probes, for each of these configurations of a location.
fn answers(variants: &[String], probes: &[Probe]) -> Vec<Vec<Told>> {
    let mut locations = String::new();
    for (number, variant) in variants.iter().enumerate() {
        for (at, Probe { content_type, status, .. }) in probes.iter().enumerate() {
            locations += &format!(
                "location = /{number}/{at} {{
                     default_type {content_type}; {variant} return {status} '\"\u{2028}\"'; }}\n"
            );
        }
    }
    let nginx = Nginx::builder().server(&locations).root_location(false).start();
    let ask = |number: usize, at: usize| {
        // Under the names that the directive jsonp_callback has here.
        let callback = probes[at].callback;
        let target = format!("/{number}/{at}?callback={callback}&zq={callback}&zr={callback}");
        let answer = http::get(nginx.port(), &target);
        let headers = ["Content-Type", "X-Content-Type-Options"].map(|name| answer.header(name));
        (answer.status, headers.to_vec(), answer.text())
    };
    let all =
        (0..variants.len()).map(|number| (0..probes.len()).map(|at| ask(number, at)).collect());
    let all = all.collect();
    nginx.check();
    all
}

/// The default of each directive in the table of README: the last code of its row.
fn readme_defaults(tables: &[Table]) -> Vec<(String, String)> {
    let about =
        tables.iter().filter(|table| table.header.first().is_some_and(|cell| cell == "directive"));
    let rows = about.flat_map(|table| &table.rows);
    let row =
        |row: &Vec<String>| Some((code_spans(row.first()?).pop()?, code_spans(row.last()?).pop()?));
    rows.filter_map(row).collect()
}

#[test]
fn readme_names_the_same_directives_and_defaults() {
    let readme = Page::read(&root().join("README.md"));
    let text: Vec<&str> = readme.text().map(|(_, line)| line).collect();
    let named = readme_defaults(&tables(&text.join("\n")));
    let documented: Vec<(String, String)> = entries(&page("jsonp_callback"))
        .iter()
        .map(|entry| {
            let default = field(entry, "Default").unwrap_or_default();
            let default = default.strip_prefix(&*entry.name).unwrap_or_default();
            (entry.name.clone(), default.trim_end_matches(';').trim().to_owned())
        })
        .collect();
    assert_eq!(named, documented);
}

#[test]
fn a_wrong_syntax_is_noticed() {
    let word = |prefix: &str, text: &str, repeats, optional| Word {
        prefix: prefix.into(),
        text: text.into(),
        repeats,
        optional,
    };
    assert_eq!(
        words("d code | any ... [=code];"),
        [
            word("", "code", true, false),
            word("", "any", true, false),
            word("=", "code", false, true)
        ]
    );
    assert_eq!(
        words("d name ... | off;"),
        [word("", "name", true, false), word("", "off", false, false)]
    );

    // Names or `off` alone, and a number of its own.
    let takes = |words: &[&str]| words == ["off"] || !words.contains(&"off") && !words.is_empty();
    let two = |words: &[&str]| words.len() == 1 && ["on", "off", "404"].contains(&words[0]);
    let candidates = ["404", "off", "on", "zq"].map(str::to_owned).into();
    let found = |syntax: &str, takes: &dyn Fn(&[&str]) -> bool| {
        let faults = faults("d", syntax, &candidates, takes);
        faults.iter().map(|fault| fault.replace("d: Syntax: ", "")).collect::<Vec<_>>()
    };
    assert_eq!(found("d name ... | off;", &takes), [""; 0]);
    assert_eq!(found("d name ...;", &takes), ["nginx takes \"off\""]);
    assert_eq!(found("d name | off;", &takes), ["\"zq\" need not stand alone"]);
    assert_eq!(found("d on | off | code;", &two), ["nginx does not take \"500\""]);
    assert_eq!(found("d on | off;", &two), ["nginx takes \"404\""]);
    assert_eq!(range("a code from 400 to 599, or"), Some((400, 599)));
}
