//! What the documentation names in this repository is there.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::markdown::{Page, all, documentation};
use crate::{none, root};

/// `path` without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    plain
}

/// Why a link leads nowhere.
fn broken(page: &Page, target: &str) -> Option<String> {
    if target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
    let path = match file {
        "" => page.path.clone(),
        _ => plain(&page.path.parent().unwrap().join(file)),
    };
    if !path.starts_with(root()) {
        return Some(format!("{target} is outside the repository"));
    }
    if !file.is_empty() && !path.exists() {
        return Some(format!("there is no {target}"));
    }
    if anchor.is_empty() {
        return None;
    }
    let anchors = if file.is_empty() { page.anchors() } else { Page::read(&path).anchors() };
    (!anchors.iter().any(|found| found == anchor)).then(|| format!("{target}: no such heading"))
}

#[test]
fn links_lead_somewhere() {
    let mut faults = Vec::new();
    for page in all() {
        for (line, target) in page.links() {
            faults.extend(broken(&page, &target).map(|why| format!("{}: {why}", page.at(line))));
        }
    }
    none(faults);
}

/// The code in the text and the lines of all commands, with their lines.
fn commands(page: &Page) -> Vec<(usize, String)> {
    let mut commands = page.code_spans();
    for language in ["sh", "console"] {
        for (first, block) in page.blocks(language) {
            let lines = block.lines().enumerate();
            commands.extend(lines.map(|(at, line)| (first + at, line.to_owned())));
        }
    }
    commands
}

/// Whether the folder's `.gitignore` says that the file is made by what is run there.
fn is_made_here(folder: &str, file: &str) -> bool {
    let ignored = fs::read_to_string(root().join(folder).join(".gitignore")).unwrap_or_default();
    ignored.lines().any(|line| format!("{folder}{line}").trim_end_matches('/') == file)
}

#[test]
fn files_that_are_named_are_there() {
    let folders: BTreeSet<String> = [
        "src",
        "tests",
        "t",
        "docs",
        "nginx-conf",
        "scripts",
        "bench",
        "fuzz",
        "packaging",
        "examples",
        ".ci",
    ]
    .map(str::to_owned)
    .into();
    let mut faults = Vec::new();
    for page in all() {
        let commands = commands(&page);
        let words = commands
            .iter()
            .flat_map(|(line, command)| command.split_whitespace().map(move |word| (*line, word)));
        for (line, word) in words {
            let word = word.trim_start_matches("./").trim_end_matches([',', '.', ':', ';', ')']);
            let Some((folder, _)) = word.split_once('/') else { continue };
            let is_pattern = word.contains(['*', '<', '{', '$', '…', '=', '(', '\'', '"'])
                || word.contains("...");
            let is_there = root().join(word).exists() || is_made_here(folder, word);
            if folders.contains(folder) && !is_pattern && !is_there {
                faults.push(format!("{}: there is no {word}", page.at(line)));
            }
        }
    }
    none(faults);
}

/// The targets of a Makefile.
fn targets(makefile: &str) -> BTreeSet<String> {
    let rules = makefile.lines().filter_map(|line| line.split_once(':'));
    let names = rules.flat_map(|(names, _)| names.split_whitespace());
    names
        .filter(|name| name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'))
        .map(str::to_owned)
        .collect()
}

/// The targets that commands `make ...` name.
fn made(page: &Page) -> Vec<(usize, String)> {
    let is_target = |word: &&str| word.starts_with(|first: char| first.is_ascii_lowercase());
    let target = |command: &str| {
        let mut words =
            command.split_whitespace().skip_while(|word| *word == "$" || word.contains('='));
        (words.next() == Some("make")).then(|| words.find(is_target).map(str::to_owned)).flatten()
    };
    commands(page).iter().filter_map(|(at, command)| Some((*at, target(command)?))).collect()
}

/// What nginx's own Makefile has.
const NGINX: [&str; 1] = ["modules"];

#[test]
fn targets_of_make_are_there() {
    let targets = targets(&fs::read_to_string(root().join("Makefile")).unwrap());
    assert!(targets.contains("test"), "{targets:?}");
    let mut faults = Vec::new();
    for page in all() {
        let unknown = |name: &str| !targets.contains(name) && !NGINX.contains(&name);
        for (line, name) in made(&page).into_iter().filter(|(_, name)| unknown(name)) {
            faults.push(format!("{}: there is no `make {name}`", page.at(line)));
        }
    }
    none(faults);
}

#[test]
fn readme_stays_short() {
    let readme = &documentation()[0];
    assert!(readme.len() < 300, "README.md has {} lines", readme.len());
}

#[test]
fn what_is_not_there_is_noticed() {
    let text = "# T\n[b](docs/none.md) [c](#none) [d](#t) [e](https://x.example/)\n\n`X=1 make test` `make -s none`\n";
    let page = Page::parse(&root().join("x.md"), text);
    let faults: Vec<_> = page.links().iter().filter_map(|(_, to)| broken(&page, to)).collect();
    assert_eq!(faults, ["there is no docs/none.md", "#none: no such heading"]);
    assert!(is_made_here("fuzz", "fuzz/artifacts"));
    assert!(!is_made_here("fuzz", "fuzz/none") && !is_made_here("src", "src/none"));
    let names: Vec<_> = made(&page).into_iter().map(|(_, name)| name).collect();
    assert_eq!(names, ["test", "none"]);
    assert_eq!(
        targets("a b: c\n\td: e\nx-y: ## z\nX := 1\n"),
        ["a", "b", "d", "x-y"].map(str::to_owned).into()
    );
}
