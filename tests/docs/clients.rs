//! The parameters of `memcached_hash`: what its page says of them, their values and their defaults, against the
//! parser that reads them.

use std::collections::{BTreeMap, BTreeSet};

use ngx_cachefront::memcached_hash::logic::{ParamError, Params, clients};

use crate::markdown::{Page, code_spans, tables};
use crate::none;
use crate::reference::{compare, entries, field, page};

fn parse(args: &str) -> Result<Params, ParamError> {
    Params::parse(args.split_whitespace().map(str::as_bytes))
}

/// What a parameter can be.
#[derive(Debug, PartialEq)]
enum Values {
    Any,
    OneOf(BTreeSet<String>),
    /// In words, which the page begins with.
    Told(String),
}

/// The values that a client's parameter has: nothing is one, and the error for it names those that are.
fn values(client: &str, parameter: &str) -> Values {
    let given = format!("{parameter}=\u{1}");
    let args = [format!("client={client}"), given];
    let args = if parameter == "client" { &args[1..] } else { &args };
    let Err(error) = Params::parse(args.iter().map(String::as_bytes)) else { return Values::Any };
    let ParamError::Value { expected, .. } = error else {
        panic!("{client}: {parameter}: {error}")
    };
    let told = expected.trim_end_matches(" is expected").trim_end_matches(" are expected");
    match told.strip_prefix("one of ") {
        Some(names) => Values::OneOf(names.split(", ").map(str::to_owned).collect()),
        None => Values::Told(told.trim_start_matches("a number from ").into()),
    }
}

/// All parameters of a client: its own and those that each has.
fn parameters(client: &str) -> BTreeSet<String> {
    match parse(&format!("client={client} zq=1")) {
        Err(ParamError::Unknown { accepted, .. }) => {
            accepted.into_iter().map(str::to_owned).collect()
        }
        other => panic!("{client}: {other:?}"),
    }
}

/// A parameter in the table of a client's section.
#[derive(Debug, Default, PartialEq)]
struct Documented {
    /// The cells about its values, one a row.
    values: Vec<String>,
    defaults: Vec<Preset>,
}

/// A default, and the parameter that it goes with if it is not the only one.
#[derive(Debug, Default, PartialEq)]
struct Preset {
    value: String,
    with: String,
}

/// What the last cell of a row says; `None` if the parameter is empty unless it is given.
fn defaults(cell: &str, value: &str) -> Vec<Preset> {
    let one = |value: &str, with: &str| Preset { value: value.into(), with: with.into() };
    match (&*code_spans(cell), cell) {
        ([first, with, rest], _) if cell.contains(" with ") && cell.contains(", else ") => {
            vec![one(first, with), one(rest, "")]
        }
        (_, "yes") => vec![one(&code_spans(value).remove(0), "")],
        ([first], _) => vec![one(first, "")],
        _ => Vec::new(),
    }
}

/// The tables of parameters, by client.
fn documented(page: &Page) -> BTreeMap<String, BTreeMap<String, Documented>> {
    let mut clients = BTreeMap::new();
    for (heading, text) in page.sections(3) {
        let Some((_, client)) = heading.split_once("client=") else { continue };
        let of_client: &mut BTreeMap<String, Documented> =
            clients.entry(client.to_owned()).or_default();
        let tables = tables(&text);
        let tables = tables.iter().filter(|table| table.header[0] == "parameter");
        let mut name = String::new();
        for row in tables.flat_map(|table| &table.rows) {
            if let [span] = &*code_spans(&row[0]) {
                name = span.trim_end_matches('=').to_owned();
            }
            let parameter = of_client.entry(name.clone()).or_default();
            parameter.values.push(row[1].clone());
            parameter.defaults.extend(defaults(&row[row.len() - 1], &row[1]));
        }
    }
    clients
}

/// What the page says of a parameter that is not so.
fn faults(client: &str, name: &str, documented: &Documented) -> Vec<String> {
    let mut faults = Vec::new();
    let spans: BTreeSet<String> =
        documented.values.iter().flat_map(|cell| code_spans(cell)).collect();
    match values(client, name) {
        Values::OneOf(names) => faults.extend(compare("value", &names, &spans)),
        Values::Told(told) if !documented.values[0].starts_with(&told) => {
            faults.push(format!("it takes {told}"));
        }
        Values::Any if !spans.is_empty() => faults.push("it takes any value".into()),
        _ => (),
    }

    let told = |args: &str| parse(&format!("client={client} {args}")).map(|it| format!("{it:?}"));
    if documented.defaults.is_empty() && matches!(values(client, name), Values::OneOf(_)) {
        faults.push("there is no default".into());
    }
    for Preset { value, with } in &documented.defaults {
        if told(with) != told(&format!("{with} {name}={value}")) {
            faults.push(format!("the default is not {value} {with}"));
        }
        // What makes no difference would be right in any case.
        let number = value.parse::<u32>().map(|number| (number ^ 1).to_string());
        for other in spans.iter().cloned().chain(number.ok()).filter(|other| other != value) {
            if told(with) == told(&format!("{with} {name}={other}")) {
                faults.push(format!("{other} is the default too"));
            }
        }
    }
    faults.iter().map(|fault| format!("client={client}: {name}: {fault}")).collect()
}

#[test]
fn every_parameter_value_and_default_of_every_client_is_documented() {
    let documented = documented(&page("memcached_hash"));
    let code: BTreeMap<_, _> = clients::parameters().collect();
    let names = |names: &mut dyn Iterator<Item = &str>| names.map(str::to_owned).collect();
    let mut all = compare(
        "client",
        &names(&mut code.keys().copied()),
        &names(&mut documented.keys().map(String::as_str)),
    );
    for (client, parameters) in &code {
        let Some(documented) = documented.get(*client) else { continue };
        all.extend(compare(
            &format!("client={client}: parameter"),
            &names(&mut parameters.iter().copied()),
            &names(&mut documented.keys().map(String::as_str)),
        ));
        for (name, documented) in
            documented.iter().filter(|(name, _)| parameters.contains(&&***name))
        {
            all.extend(faults(client, name, documented));
        }
    }
    none(all);
}

#[test]
fn what_every_client_has_is_in_the_syntax() {
    let page = page("memcached_hash");
    let entry = entries(&page).remove(0);
    let syntax = field(&entry, "Syntax").unwrap();
    let spelled = syntax.trim_end_matches(';').split_whitespace().skip(1);
    let spelled = spelled.filter_map(|word| word.trim_start_matches('[').split_once('='));
    let spelled: BTreeSet<String> =
        spelled.map(|(name, _)| name.to_owned()).filter(|name| name != "parameter").collect();

    let (_, text) = page.sections(3).into_iter().find(|(name, _)| *name == entry.name).unwrap();
    let described = text.lines().filter(|line| line.starts_with('`'));
    let described = described.filter_map(|line| code_spans(line).into_iter().next());
    let described: BTreeSet<String> =
        described.filter_map(|span| Some(span.split_once('=')?.0.to_owned())).collect();

    for (client, own) in clients::parameters() {
        let mut common = parameters(client);
        common.retain(|name| !own.contains(&&**name));
        assert_eq!((&common, &common), (&spelled, &described), "{client}");
    }

    let joined = text.replace('\n', " ");
    let (before, _) = joined.split_once("` if it is not given").expect("the default client");
    let default = before.rsplit('`').next().unwrap();
    let told = |args: &str| format!("{:?}", parse(args).unwrap());
    assert_eq!(told(""), told(&format!("client={default}")));
    let others = clients::parameters().filter(|(client, _)| *client != default);
    others.for_each(|(client, _)| assert_ne!(told(""), told(&format!("client={client}"))));
}

#[test]
fn a_wrong_parameter_is_noticed() {
    let text = "\
### Java: client=spymemcached

| parameter | value | in the client | default |
|---|---|---|---|
| `locator=` | `modulo` | | |
| | `ketama` | | yes |
| `hash=` | `native`, `crc` | | `crc` with `locator=ketama`, else `native` |
| `more=` | text | | none |
";
    let page = Page::parse(&crate::root().join("docs/m.md"), text);
    let documented = &documented(&page)["spymemcached"];
    assert_eq!(documented.keys().collect::<Vec<_>>(), ["hash", "locator", "more"]);
    assert_eq!(documented["more"], Documented { values: vec!["text".into()], defaults: vec![] });
    let found = |client: &str, name: &str, documented: &Documented| {
        let faults = faults(client, name, documented);
        faults.iter().map(|fault| fault.rsplit(": ").next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(
        found("spymemcached", "locator", &documented["locator"]),
        ["the default is not ketama ", "modulo is the default too"]
    );
    let undocumented = ["fnv1_32", "fnv1_64", "fnv1a_32", "fnv1a_64", "ketama"]
        .map(|name| format!("value {name} is not documented"));
    assert_eq!(
        found("spymemcached", "hash", &documented["hash"]),
        [&undocumented[..], &["the default is not crc locator=ketama".to_owned()]].concat()
    );
    let number = |value: &str, default: &str| Documented {
        values: vec![value.into()],
        defaults: defaults(default, value),
    };
    let points = |value: &str, default: &str| {
        found("cache_memcached_fast", "ketama_points", &number(value, default))
    };
    assert_eq!(points("0 to 16000000", "`0`: basic"), [""; 0]);
    assert_eq!(points("0 to 16000", "`0`"), ["it takes 0 to 16000000"]);
    assert_eq!(points("0 to 16000000", "`1`"), ["the default is not 1 ", "0 is the default too"]);
    let tag = number("`{}`", "none");
    assert_eq!(found("twemproxy", "hash_tag", &tag), ["it takes two characters"]);
    assert_eq!(found("twemproxy", "names", &tag), ["it takes any value"]);
}
