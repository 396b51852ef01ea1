//! Programs the tests ask: Perl with the real client modules, and whatever else must be installed.

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::Result;

/// Where the program `name` is, or an error that names the Debian package to install.
///
/// Besides `PATH`, `/usr/sbin` and `/sbin` are searched: an ordinary user's `PATH` leaves them out.
pub fn find_tool(name: &str, debian_package: &str) -> Result<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .chain(["/usr/sbin".into(), "/sbin".into()])
        .map(|folder| folder.join(name))
        .find(|candidate| is_executable(candidate))
        .ok_or_else(|| format!("`{name}` is not installed: apt-get install {debian_package}"))
}

/// As [`find_tool`]; a missing program fails the test with that error.
pub fn require_tool(name: &str, debian_package: &str) -> PathBuf {
    find_tool(name, debian_package).unwrap_or_else(|error| panic!("{error}"))
}

fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

/// Fails the test when Perl cannot load `module`, naming the Debian package that has it.
pub fn require_perl_module(module: &str, debian_package: &str) {
    if let Err(error) = try_perl(&format!("require {module};"), NO_ENV) {
        panic!("Perl has no {module}: apt-get install {debian_package}\n{error}");
    }
}

/// For [`perl`]: no variables.
pub const NO_ENV: &[(&str, &str)] = &[];

/// Runs a Perl script under `use strict; use warnings`, with `env` added to its environment, and gives what
/// it printed. A warning or a failure of the script fails the test.
pub fn perl<K: AsRef<OsStr>, V: AsRef<OsStr>>(script: &str, env: &[(K, V)]) -> Vec<u8> {
    try_perl(script, env).unwrap_or_else(|error| panic!("{error}"))
}

/// As [`perl`], with the failure as an error.
pub fn try_perl<K: AsRef<OsStr>, V: AsRef<OsStr>>(script: &str, env: &[(K, V)]) -> Result<Vec<u8>> {
    let interpreter = find_tool("perl", "perl")?;
    let mut child = Command::new(interpreter)
        .args(["-Mstrict", "-Mwarnings", "-"])
        .envs(env.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("cannot run perl: {error}"))?;

    // Perl reads a script to its end before it runs it, so this cannot wait for ever. A script that does not
    // compile may close its input early; its exit status tells.
    let _ = child.stdin.take().map(|mut input| input.write_all(script.as_bytes()));

    let output =
        child.wait_with_output().map_err(|error| format!("cannot wait for perl: {error}"))?;
    if output.status.success() && output.stderr.is_empty() {
        return Ok(output.stdout);
    }
    Err(format!(
        "the Perl script failed ({}):\n{}\n--- script\n{script}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    ))
}
