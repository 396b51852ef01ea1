//! The numbers of cases: `tests/cases.md` has each that a test names, and names the tests.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use crate::markdown::{Page, code_spans, tables};
use crate::{files, none, root};

/// The number at the beginning of a text, such as `J05`; a small letter in a function's name.
fn number(text: &str) -> Option<String> {
    let number = text.get(..3)?.to_ascii_uppercase();
    let [kind, tens, ones] = number.as_bytes() else { return None };
    let is_number = b"JFMRB".contains(kind) && tens.is_ascii_digit() && ones.is_ascii_digit();
    is_number.then_some(number)
}

/// The cases that a test file names: in words, and as the first parts of functions' names (`fn m25_m26_values`).
fn named(text: &str) -> BTreeSet<String> {
    let words = text.split(|char: char| !char.is_ascii_alphanumeric() && char != '_');
    let words = words.filter(|word| word.len() == 3 && word.starts_with(char::is_uppercase));
    let functions = text.split("fn ").skip(1);
    let parts = functions.flat_map(|name| {
        let parts = name.split('_').take_while(|part| part.len() == 3 && number(part).is_some());
        parts.filter(|part| part.starts_with(char::is_lowercase))
    });
    words.chain(parts).filter_map(number).collect()
}

/// The tests that name each case.
fn tests() -> BTreeMap<String, BTreeSet<String>> {
    let mut tests: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (folder, extension) in [("t", "t"), ("tests", "rs")] {
        for path in files(&root().join(folder), extension) {
            let name = path.strip_prefix(root()).unwrap().display().to_string();
            // Its own examples.
            if name == file!() {
                continue;
            }
            for number in named(&fs::read_to_string(&path).unwrap()) {
                tests.entry(number).or_default().insert(name.clone());
            }
        }
    }
    tests
}

/// The rows of the list: each case with the files that it names.
fn listed(page: &Page) -> BTreeMap<String, BTreeSet<String>> {
    let text: Vec<&str> = page.text().map(|(_, line)| line).collect();
    let mut listed = BTreeMap::new();
    for row in tables(&text.join("\n")).into_iter().flat_map(|table| table.rows) {
        let [case, _, source, here] = &*row else { panic!("not four cells: {row:?}") };
        assert_eq!(number(case).as_ref(), Some(case), "not a number");
        assert!(!source.is_empty(), "{case} has no source");
        let files = code_spans(here).into_iter().collect();
        assert!(listed.insert(case.clone(), files).is_none(), "{case} is there twice");
    }
    listed
}

fn faults(
    tests: &BTreeMap<String, BTreeSet<String>>,
    listed: &BTreeMap<String, BTreeSet<String>>,
) -> Vec<String> {
    let mut faults = Vec::new();
    for (case, files) in tests {
        let there = listed.get(case);
        let lacks = files.iter().filter(|file| there.is_none_or(|there| !there.contains(*file)));
        faults.extend(lacks.map(|file| format!("{case} does not name {file}")));
    }
    for (case, files) in listed {
        if files.is_empty() {
            faults.push(format!("{case} names neither a test nor a page"));
        }
        for file in files {
            let is_test = file.ends_with(".t") || file.starts_with("tests/");
            let names_it = tests.get(case).is_some_and(|tests| tests.contains(file));
            if !root().join(file).exists() {
                faults.push(format!("{case}: there is no {file}"));
            } else if is_test && !names_it {
                faults.push(format!("{case}: {file} does not name it"));
            }
        }
    }
    faults
}

#[test]
fn the_list_of_cases_and_the_tests_name_each_other() {
    let tests = tests();
    assert!(tests.len() > 50, "{tests:?}");
    let listed = listed(&Page::read(&root().join("tests/cases.md")));
    none(faults(&tests, &listed));
}

#[test]
fn a_case_that_is_missing_is_noticed() {
    let text = "// J01, f32 and R20: XM01, F031\nfn m25_m26_values() {}\nfn m1_x(f03_b: f32) {}\nlet b13 = 1;";
    assert_eq!(named(text).into_iter().collect::<Vec<_>>(), ["J01", "M25", "M26", "R20"]);

    let map = |rows: &[(&str, &[&str])]| {
        let row = |(case, files): &(&str, &[&str])| {
            (case.to_string(), files.iter().map(|&file| file.to_owned()).collect())
        };
        rows.iter().map(row).collect::<BTreeMap<_, BTreeSet<_>>>()
    };
    let tests = map(&[("J01", &["tests/attacks.rs"]), ("J02", &["tests/attacks.rs"])]);
    let listed = map(&[
        ("J01", &["tests/attacks.rs", "docs/none.md"]),
        ("J03", &["tests/attacks.rs"]),
        ("J04", &[]),
        ("J05", &["README.md"]),
    ]);
    assert_eq!(
        faults(&tests, &listed),
        [
            "J02 does not name tests/attacks.rs",
            "J01: there is no docs/none.md",
            "J03: tests/attacks.rs does not name it",
            "J04 names neither a test nor a page"
        ]
    );
}
