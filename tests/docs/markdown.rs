//! As much of Markdown as the documentation uses.

use std::fs;
use std::path::{Path, PathBuf};

use crate::{files, root};

/// A Markdown file.
pub struct Page {
    pub path: PathBuf,
    lines: Vec<Line>,
}

struct Line {
    text: String,
    place: Place,
}

#[derive(Clone, Debug, PartialEq)]
enum Place {
    Text,
    /// The mark at the beginning or the end of a block of code.
    Fence,
    /// In a block of code of this language.
    Code(String),
}

impl Page {
    pub fn read(path: &Path) -> Page {
        let text =
            fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        Page::parse(path, &text)
    }

    pub fn parse(path: &Path, text: &str) -> Page {
        let mut code: Option<String> = None;
        let mut lines = Vec::new();
        for text in text.lines() {
            let place = match (text.trim_start().strip_prefix("```"), &code) {
                (Some(_), Some(_)) => {
                    code = None;
                    Place::Fence
                }
                (Some(language), None) => {
                    code = Some(language.trim().to_owned());
                    Place::Fence
                }
                (None, Some(language)) => Place::Code(language.clone()),
                (None, None) => Place::Text,
            };
            lines.push(Line { text: text.to_owned(), place });
        }
        assert!(code.is_none(), "{}: a block of code does not end", path.display());
        Page { path: path.to_owned(), lines }
    }

    /// The page and a line of it, for messages.
    pub fn at(&self, line: usize) -> String {
        let path = self.path.strip_prefix(root()).unwrap_or(&self.path);
        format!("{}:{}", path.display(), line + 1)
    }

    /// How many lines it has.
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// The blocks of code in this language, each with its first line.
    pub fn blocks(&self, language: &str) -> Vec<(usize, String)> {
        let mut blocks: Vec<(usize, String)> = Vec::new();
        let wanted = Place::Code(language.to_owned());
        for (number, line) in self.lines.iter().enumerate() {
            if line.place != wanted {
                continue;
            }
            match blocks.last_mut() {
                Some((first, text)) if *first + text.lines().count() == number => {
                    text.push_str(&line.text);
                    text.push('\n');
                }
                _ => blocks.push((number, format!("{}\n", line.text))),
            }
        }
        blocks
    }

    /// The lines that are no code, with their numbers.
    pub fn text(&self) -> impl Iterator<Item = (usize, &str)> {
        let lines = self.lines.iter().enumerate();
        lines.filter(|(_, line)| line.place == Place::Text).map(|(at, line)| (at, &*line.text))
    }

    /// The headings: line, level, text.
    pub fn headings(&self) -> impl Iterator<Item = (usize, usize, &str)> {
        self.text().filter_map(|(at, line)| {
            let level = line.bytes().take_while(|&byte| byte == b'#').count();
            let text = line[level..].strip_prefix(' ')?;
            (level > 0).then_some((at, level, text.trim()))
        })
    }

    /// The heading that a line is below.
    pub fn heading_before(&self, line: usize) -> &str {
        let heading = self.headings().take_while(|heading| heading.0 < line).last();
        heading.map_or("", |(_, _, text)| text)
    }

    /// The lines without code below each heading of this level, up to the next of this level or above.
    pub fn sections(&self, level: usize) -> Vec<(String, String)> {
        let headings: Vec<_> = self.headings().filter(|heading| heading.1 <= level).collect();
        let mut sections = Vec::new();
        for (number, &(at, its_level, heading)) in headings.iter().enumerate() {
            if its_level != level {
                continue;
            }
            let end = headings.get(number + 1).map_or(usize::MAX, |next| next.0);
            let lines = self.text().filter(|(line, _)| *line > at && *line < end);
            let text: Vec<&str> = lines.map(|(_, line)| line).collect();
            sections.push((heading.to_owned(), text.join("\n")));
        }
        sections
    }

    /// What links may name in this page, as GitHub makes it of headings.
    pub fn anchors(&self) -> Vec<String> {
        let mut anchors: Vec<String> = Vec::new();
        for (_, _, heading) in self.headings() {
            let kept = heading.chars().filter_map(|char| match char {
                ' ' => Some('-'),
                '-' | '_' => Some(char),
                _ => char.is_alphanumeric().then(|| char.to_ascii_lowercase()),
            });
            let anchor: String = kept.collect();
            let same = anchors.iter().filter(|other| **other == anchor).count();
            anchors.push(if same == 0 { anchor } else { format!("{anchor}-{same}") });
        }
        anchors
    }

    /// The targets of links and images, with their lines.
    pub fn links(&self) -> Vec<(usize, String)> {
        let mut links = Vec::new();
        for (at, line) in self.text() {
            let line = without_code(line);
            let mut rest = &*line;
            while let Some((_, target)) = rest.split_once("](") {
                let (target, left) = target.split_once(')').unwrap_or((target, ""));
                links.push((at, target.to_owned()));
                rest = left;
            }
        }
        links
    }

    /// What stands between backticks in the text, with its line.
    pub fn code_spans(&self) -> Vec<(usize, String)> {
        let spans = |(at, line)| code_spans(line).into_iter().map(move |span| (at, span));
        self.text().flat_map(spans).collect()
    }
}

/// What stands between backticks in a line or more. A span does not go on in the next line.
pub fn code_spans(text: &str) -> Vec<String> {
    let spans = |line: &str| {
        let parts: Vec<String> = line.split('`').map(str::to_owned).collect();
        parts.into_iter().skip(1).step_by(2).filter(|span| !span.is_empty())
    };
    text.lines().flat_map(spans).collect()
}

/// A table: its first row, and those below the line of dashes.
#[derive(Debug, Default, PartialEq)]
pub struct Table {
    pub header: Vec<String>,
    pub rows: Vec<Vec<String>>,
}

/// The tables in a text. A `|` in a cell's code divides nothing if it stands behind a backslash.
pub fn tables(text: &str) -> Vec<Table> {
    let mut tables: Vec<Table> = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        let Some(row) = line.strip_prefix('|') else {
            inside = false;
            continue;
        };
        let row = row.trim_end().trim_end_matches('|').replace("\\|", "\0");
        let cells = row.split('|').map(|cell| cell.trim().replace('\0', "|"));
        let cells: Vec<String> = cells.collect();
        match tables.last_mut() {
            Some(table) if inside => {
                if !cells.iter().all(|cell| cell.starts_with("---")) {
                    table.rows.push(cells);
                }
            }
            _ => tables.push(Table { header: cells, rows: Vec::new() }),
        }
        inside = true;
    }
    tables
}

fn without_code(line: &str) -> String {
    line.split('`').step_by(2).collect()
}

/// README and all pages of `docs/`.
pub fn documentation() -> Vec<Page> {
    let mut paths = vec![root().join("README.md")];
    paths.extend(files(&root().join("docs"), "md"));
    paths.iter().map(|path| Page::read(path)).collect()
}

/// All Markdown of the repository.
pub fn all() -> Vec<Page> {
    let mut paths: Vec<PathBuf> = Vec::new();
    for entry in fs::read_dir(root()).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && !path.is_symlink() {
            if !name.starts_with('.') && !["target", "build"].contains(&&*name) {
                paths.extend(files(&path, "md"));
            }
        } else if name.ends_with(".md") {
            paths.push(path);
        }
    }
    paths.retain(|path| !path.components().any(|part| part.as_os_str() == "node_modules"));
    paths.sort();
    paths.iter().map(|path| Page::read(path)).collect()
}

#[test]
fn a_page_is_read() {
    let text = "\
# A *page* about `x`, and y-z!

A [link](b.md#c), `no [link](x)`, and `two` `spans`.

```nginx
one;
```
## Section

```sh
make x
```
text

```nginx
two;
three;
```
### Below
## Section
";
    let page = Page::parse(Path::new("x.md"), text);
    assert_eq!(page.blocks("nginx"), [(5, "one;\n".into()), (15, "two;\nthree;\n".into())]);
    assert_eq!(page.blocks("sh"), [(10, "make x\n".into())]);
    assert_eq!(page.links(), [(2, "b.md#c".into())]);
    assert_eq!(page.anchors(), ["a-page-about-x-and-y-z", "section", "below", "section-1"]);
    let spans: Vec<_> = page.code_spans().into_iter().map(|(_, span)| span).collect();
    assert_eq!(spans, ["x", "no [link](x)", "two", "spans"]);
    assert_eq!(page.heading_before(10), "Section");
    let sections = page.sections(2);
    assert_eq!(sections[0].0, "Section");
    assert_eq!(sections[0].1, "\ntext\n\n### Below");
    assert_eq!(sections[1], ("Section".into(), String::new()));
}

#[test]
fn tables_are_read() {
    let text = "text\n| a | |\n|---|---|\n| `x\\|y` | 1 |\n|  | 2 |\n\n| b |\n|---|\n";
    let strings = |cells: &[&str]| cells.iter().map(|&cell| cell.to_owned()).collect::<Vec<_>>();
    let rows = vec![strings(&["`x|y`", "1"]), strings(&["", "2"])];
    let first = Table { header: strings(&["a", ""]), rows };
    assert_eq!(tables(text), [first, Table { header: strings(&["b"]), rows: Vec::new() }]);
}
