//! The clients: programs in `tests/clients`, each in its client's language, and twemproxy.

use std::fs::File;
use std::io::{Seek, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::cases::Case;
use crate::pool::Pool;
use crate::support::tools::find_tool;
use crate::support::{Result, process};
use crate::twemproxy;

/// The exit status of a program in `tests/clients` that finds no client to use.
const NO_CLIENT: i32 = 3;

/// A client.
#[derive(Clone, Copy)]
pub struct Client {
    pub name: &'static str,
    program: Program,
    /// What installs it.
    install: &'static str,
}

#[derive(Clone, Copy)]
enum Program {
    /// A script of `tests/clients`, and what runs it.
    Script(&'static str, fn() -> Result<Command>),
    Twemproxy,
}

/// Whether a client can be used.
pub enum Presence {
    /// It can, and this is its version.
    Version(String),
    /// It is not installed.
    Missing(String),
    /// It is installed, and does not work.
    Broken(String),
}

/// All clients, but for Perl's, which have tests of their own.
pub const CLIENTS: [Client; 13] = [
    script("php-memcached", "php-memcached.php", php, "php-cli php-memcached"),
    script("php-memcache", "php-memcache.php", php, "php-cli php-memcache"),
    script("python-memcached (apt)", "python-memcached.py", system_python, "python3-memcache"),
    script("python-memcached (pip)", "python-memcached.py", python, "python3-venv"),
    script("pylibmc (apt)", "python-pylibmc.py", system_python, "python3-pylibmc"),
    script("pylibmc (pip)", "python-pylibmc.py", python, "python3-venv"),
    script("pymemcache", "python-pymemcache.py", python, "python3-venv"),
    script("dalli", "ruby-dalli.rb", ruby, "ruby ruby-dalli"),
    script("node-memcached", "node-memcached.js", node, "nodejs npm"),
    script("memjs", "node-memjs.js", node, "nodejs npm"),
    script("gomemcache", "go-gomemcache.go", go, "golang-go golang-github-bradfitz-gomemcache-dev"),
    script(
        "spymemcached",
        "java-spymemcached.java",
        java,
        "default-jdk-headless libspymemcached-java",
    ),
    Client { name: "twemproxy", program: Program::Twemproxy, install: "nutcracker" },
];

const fn script(
    name: &'static str,
    file: &'static str,
    run: fn() -> Result<Command>,
    install: &'static str,
) -> Client {
    Client { name, program: Program::Script(file, run), install }
}

impl Client {
    /// Asks for the client's version.
    pub fn presence(&self) -> Presence {
        let (file, run) = match self.program {
            Program::Script(file, run) => (file, run),
            Program::Twemproxy => {
                return twemproxy::version().map_or_else(|e| self.missing(&e), Presence::Version);
            }
        };
        let output = match run() {
            Ok(command) => output(command, file, &["version".into()], ""),
            Err(error) => return self.missing(&error),
        };
        match output {
            Ok(output) if output.status.success() => {
                Presence::Version(String::from_utf8_lossy(&output.stdout).trim().to_owned())
            }
            Ok(output) if output.status.code() == Some(NO_CLIENT) => {
                self.missing(&String::from_utf8_lossy(&output.stderr))
            }
            Ok(output) => Presence::Broken(failure(file, &output)),
            Err(error) => Presence::Broken(error),
        }
    }

    fn missing(&self, reason: &str) -> Presence {
        let install = self.install;
        Presence::Missing(format!(
            "{}; scripts/clients.sh installs it, and needs: {install}",
            reason.trim()
        ))
    }

    /// Lets the client store each of `keys`, with the case's tag and the key as the value.
    pub fn fill(&self, case: &Case, pool: &Pool, keys: &[String]) -> Result<()> {
        let (file, run) = match self.program {
            Program::Script(file, run) => (file, run),
            Program::Twemproxy => return twemproxy::fill(case, pool, keys),
        };
        let words = ["fill".into(), case.mode.into(), case.tag()];
        let arguments: Vec<_> = words.into_iter().chain(pool.words()).collect();
        let output = output(run()?, file, &arguments, &keys.join("\n"))?;
        if output.status.success() { Ok(()) } else { Err(failure(file, &output)) }
    }
}

/// Runs a script with `input`.
fn output(mut command: Command, file: &str, arguments: &[String], input: &str) -> Result<Output> {
    let failed = |error| format!("cannot run {file}: {error}");
    let stdin = tempfile::tempfile().and_then(|mut stdin: File| {
        stdin.write_all(input.as_bytes())?;
        stdin.rewind()?;
        Ok(stdin)
    });
    command
        .arg(root().join("tests/clients").join(file))
        .args(arguments)
        .stdin(stdin.map_err(failed)?)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    process::spawn(command).and_then(|child| child.wait_with_output()).map_err(failed)
}

fn failure(file: &str, output: &Output) -> String {
    format!("{file} failed ({}): {}", output.status, String::from_utf8_lossy(&output.stderr))
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Where scripts/clients.sh puts what no package installs: an error if `path` is not there.
fn installed(path: &str) -> Result<PathBuf> {
    let path = root().join("build/clients").join(path);
    exists(path).map_err(|_| "it is not in build/clients".into())
}

fn exists(path: PathBuf) -> Result<PathBuf> {
    if path.exists() { Ok(path) } else { Err(format!("there is no {}", path.display())) }
}

fn php() -> Result<Command> {
    Ok(Command::new(find_tool("php", "php-cli")?))
}

/// The Python that Debian's packages are for.
fn system_python() -> Result<Command> {
    let mut command = Command::new(exists("/usr/bin/python3".into())?);
    command.arg("-I");
    Ok(command)
}

fn python() -> Result<Command> {
    let mut command = Command::new(installed("venv/bin/python3")?);
    command.arg("-I");
    Ok(command)
}

fn ruby() -> Result<Command> {
    Ok(Command::new(find_tool("ruby", "ruby")?))
}

fn node() -> Result<Command> {
    let mut command = Command::new(find_tool("node", "nodejs")?);
    command.env("NODE_PATH", installed("node/node_modules")?);
    Ok(command)
}

fn go() -> Result<Command> {
    let mut command = Command::new(find_tool("go", "golang-go")?);
    exists("/usr/share/gocode/src/github.com/bradfitz/gomemcache/memcache".into())?;
    command
        .arg("run")
        .env("GO111MODULE", "off")
        .env("GOPATH", "/usr/share/gocode")
        .env("GOCACHE", root().join("build/clients/go-cache"));
    Ok(command)
}

fn java() -> Result<Command> {
    let mut command = Command::new(find_tool("java", "default-jdk-headless")?);
    // A script is compiled when it is run, which takes more than a Java that only runs programs.
    find_tool("javac", "default-jdk-headless")?;
    command.arg("-cp").arg(exists("/usr/share/java/spymemcached.jar".into())?);
    Ok(command)
}
