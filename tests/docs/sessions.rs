//! Sessions with the command `memcached-hash` that the documentation shows go as they are shown.

use std::path::Path;
use std::process::Command;

use crate::markdown::documentation;
use crate::none;

/// The commands of a session, behind `$ `, each with what it prints.
fn commands(session: &str) -> Vec<(String, String)> {
    let mut commands: Vec<(String, String)> = Vec::new();
    for line in session.lines() {
        match (line.strip_prefix("$ "), commands.last_mut()) {
            (Some(command), _) => commands.push((command.to_owned(), String::new())),
            (None, Some((command, _))) if command.ends_with('\\') => {
                command.pop();
                command.push_str(line.trim_start());
            }
            (None, Some((_, printed))) => {
                printed.push_str(line);
                printed.push('\n');
            }
            (None, None) => panic!("a session begins with a command: {session}"),
        }
    }
    commands
}

/// What a command prints, with the command that cargo built for the tests in place of the one of `make tools`.
fn run(command: &str) -> String {
    let command = command.replace("target/release/memcached-hash", "memcached-hash");
    let tools = Path::new(env!("CARGO_BIN_EXE_memcached-hash")).parent().unwrap();
    let path = format!("{}:{}", tools.display(), std::env::var("PATH").unwrap());
    let output = Command::new("sh").args(["-c", &command]).env("PATH", path).output().unwrap();
    String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
}

#[test]
fn sessions_go_as_they_are_shown() {
    let mut faults = Vec::new();
    let mut number = 0;
    for page in documentation() {
        for (line, session) in page.blocks("console") {
            let commands = commands(&session).into_iter();
            for (command, shown) in
                commands.filter(|(command, _)| command.contains("memcached-hash"))
            {
                number += 1;
                let printed = run(&command);
                if printed != shown {
                    faults.push(format!("{}: `{command}` prints\n{printed}", page.at(line)));
                }
            }
        }
    }
    assert!(number > 0);
    none(faults);
}

#[test]
fn a_session_is_read() {
    let session = "$ echo a |\\\n    cat\na\n$ true\n";
    let expected = [("echo a |cat", "a\n"), ("true", "")];
    assert_eq!(
        commands(session),
        expected.map(|(command, printed)| (command.into(), printed.into()))
    );
    assert_eq!(run("echo a |cat"), "a\n");
}
