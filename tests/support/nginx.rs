//! A real nginx with the module loaded, in a folder of its own.
//!
//! ```ignore
//! let nginx = Nginx::builder().server("location / { return 200 hello; }").start();
//! assert_eq!(http::get(nginx.port(), "/").body, b"hello");
//! nginx.check();
//! ```
//!
//! Environment:
//! - `TEST_NGINX_BINARY`: the nginx to run, a path or a name in `PATH`; `nginx` if not set.
//! - `TEST_NGINX_MODULE`: the module to load; what `make build` built if not set, none if empty.
//! - `TEST_NGINX_WRAPPER`: a command and its arguments, divided by blanks, to run nginx under, such as
//!   `valgrind -q --leak-check=full --error-exitcode=99`. All waiting is ten times as patient then.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use tempfile::TempDir;

use super::Result;
use super::ports::free_port;
use super::process::{self, Signal};
use super::tools::find_tool;

/// The nginx binary under test.
pub fn binary() -> Result<PathBuf> {
    match std::env::var_os("TEST_NGINX_BINARY") {
        Some(path) if Path::new(&path).components().count() > 1 => Ok(path.into()),
        Some(name) => find_tool(&name.to_string_lossy(), "nginx"),
        None => find_tool("nginx", "nginx"),
    }
}

/// The version of [`binary`], as `[1, 28, 3]`.
pub fn version() -> Result<[u32; 3]> {
    let output = Command::new(binary()?)
        .arg("-v")
        .output()
        .map_err(|error| format!("cannot run nginx -v: {error}"))?;
    // nginx version: nginx/1.22.1
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let numbers: Vec<u32> = text
        .rsplit_once('/')
        .map(|(_, version)| version.split(|c: char| !c.is_ascii_digit()))
        .into_iter()
        .flatten()
        .map_while(|number| number.parse().ok())
        .take(3)
        .collect();
    numbers
        .try_into()
        .map_err(|_| format!("`nginx -v` says `{}`, which is no version", text.trim()))
}

/// The module to load; `None` when `TEST_NGINX_MODULE` is empty.
pub fn module() -> Result<Option<PathBuf>> {
    if let Some(path) = std::env::var_os("TEST_NGINX_MODULE") {
        if path.is_empty() {
            return Ok(None);
        }
        let path = std::path::absolute(&path).map_err(|error| error.to_string())?;
        if !path.exists() {
            return Err(format!("TEST_NGINX_MODULE: there is no {}", path.display()));
        }
        return Ok(Some(path));
    }

    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| "target".into(), PathBuf::from);
    let library = package.join(target).join("release/libngx_cachefront.so");
    if !library.exists() {
        return Err(format!(
            "the module is not built: run `make build` (no {})",
            library.display()
        ));
    }
    match newer_source(&library) {
        Some(source) => {
            Err(format!("the module is older than {}: run `make build` again", source.display()))
        }
        None => Ok(Some(library)),
    }
}

/// A source the library was built from and that has changed since, by the list cargo left beside it.
fn newer_source(library: &Path) -> Option<PathBuf> {
    let built = library.metadata().and_then(|meta| meta.modified()).ok()?;
    let list = fs::read_to_string(library.with_extension("d")).ok()?;
    let (_, sources) = list.split_once(": ")?;
    sources.split_whitespace().map(PathBuf::from).find(|source| {
        source.metadata().and_then(|meta| meta.modified()).is_ok_and(|at| at > built)
    })
}

/// The text of a file of `nginx-conf/`.
pub fn example(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("nginx-conf").join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn wrapper() -> Vec<String> {
    let command = std::env::var("TEST_NGINX_WRAPPER").unwrap_or_default();
    command.split_whitespace().map(str::to_owned).collect()
}

/// How many times longer than usual things may take: 10 under a wrapper, else 1.
pub fn slowness() -> u32 {
    if wrapper().is_empty() { 1 } else { 10 }
}

fn patience() -> Duration {
    Duration::from_secs(10) * slowness()
}

/// The configuration of an nginx to start. The parts given are put where their names say, into the frame
/// that Test::Nginx uses, with one server that listens on [`Builder::port`].
#[derive(Debug)]
pub struct Builder {
    prefix: TempDir,
    port: u16,
    main: String,
    after: String,
    http: String,
    server: String,
    server_name: String,
    log_level: String,
    workers: u32,
    connections: u32,
    master: bool,
    root_location: bool,
    raw: Option<String>,
    env: Vec<(String, OsString)>,
}

impl Builder {
    fn new() -> Builder {
        let prefix = tempfile::Builder::new()
            .prefix("ngx-")
            .tempdir()
            .unwrap_or_else(|error| panic!("cannot make a temporary folder: {error}"));
        Builder {
            prefix,
            port: free_port(),
            main: String::new(),
            after: String::new(),
            http: String::new(),
            server: String::new(),
            server_name: "localhost".into(),
            log_level: "info".into(),
            workers: 1,
            connections: 1024,
            master: true,
            root_location: true,
            raw: None,
            env: Vec::new(),
        }
        .file("html/index.html", INDEX)
    }

    /// The port of the server.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The folder nginx runs in; `html` and `logs` are below it.
    pub fn prefix(&self) -> &Path {
        self.prefix.path()
    }

    /// Directives outside `http` and `events`.
    pub fn main(mut self, directives: &str) -> Builder {
        self.main.push_str(directives);
        self.main.push('\n');
        self
    }

    /// Directives outside `http` and `events`, after them.
    pub fn after(mut self, directives: &str) -> Builder {
        self.after.push_str(directives);
        self.after.push('\n');
        self
    }

    /// Directives of `http`, before the server.
    pub fn http(mut self, directives: &str) -> Builder {
        self.http.push_str(directives);
        self.http.push('\n');
        self
    }

    /// Directives of the server.
    pub fn server(mut self, directives: &str) -> Builder {
        self.server.push_str(directives);
        self.server.push('\n');
        self
    }

    /// The server's name, `localhost` if not given.
    pub fn server_name(mut self, name: &str) -> Builder {
        self.server_name = name.into();
        self
    }

    /// The level of the error log, `info` if not given.
    pub fn log_level(mut self, level: &str) -> Builder {
        self.log_level = level.into();
        self
    }

    /// The number of workers, 1 if not given.
    pub fn workers(mut self, number: u32) -> Builder {
        self.workers = number;
        self
    }

    /// `worker_connections`, 1024 if not given.
    pub fn connections(mut self, number: u32) -> Builder {
        self.connections = number;
        self
    }

    /// Whether a master process is kept apart from the worker; it is if not told otherwise.
    pub fn master(mut self, on: bool) -> Builder {
        self.master = on;
        self
    }

    /// Whether the server has a `location /` with the files of `html`; it has if not told otherwise.
    pub fn root_location(mut self, on: bool) -> Builder {
        self.root_location = on;
        self
    }

    /// A whole configuration instead of the frame and all parts. It has to listen on [`Builder::port`] and
    /// to load the module itself; `daemon`, `pid` and the error log are given on nginx's command line.
    pub fn raw(mut self, configuration: &str) -> Builder {
        self.raw = Some(configuration.into());
        self
    }

    /// A file of `nginx-conf/`, with each of `changes` (the text, what stands for it) wherever it is. Fails the test if a text is not there.
    pub fn example(self, name: &str, changes: &[(&str, &str)]) -> Builder {
        let mut text = example(name);
        for (from, to) in changes {
            assert!(text.contains(from), "nginx-conf/{name} has no `{from}`");
            text = text.replace(from, to);
        }
        // These come from the command line.
        let own = |line: &&str| !["pid ", "error_log "].iter().any(|name| line.starts_with(name));
        let text: Vec<&str> = text.lines().filter(own).collect();
        let mut text = text.join("\n");
        if rustix::process::geteuid().is_root() {
            text = format!("user root;\n{text}");
        }
        fs::create_dir_all(self.prefix().join("temp")).expect("the prefix is there");
        self.link_module().raw(&text)
    }

    /// The module where `load_module modules/...` finds it.
    pub fn link_module(self) -> Builder {
        let module = module().unwrap_or_else(|error| panic!("{error}"));
        let folder = self.prefix().join("modules");
        let linked = fs::create_dir_all(&folder).and_then(|()| {
            let link = folder.join("ngx_http_cachefront_module.so");
            module.map_or(Ok(()), |module| std::os::unix::fs::symlink(module, link))
        });
        linked.unwrap_or_else(|error| panic!("cannot link the module: {error}"));
        self
    }

    /// A variable of nginx's environment.
    pub fn env(mut self, name: &str, value: impl Into<OsString>) -> Builder {
        self.env.push((name.into(), value.into()));
        self
    }

    /// A file below [`Builder::prefix`], such as `html/a.json`.
    pub fn file(self, name: &str, content: impl AsRef<[u8]>) -> Builder {
        let path = self.prefix().join(name);
        let written = path
            .parent()
            .map_or(Ok(()), fs::create_dir_all)
            .and_then(|()| fs::write(&path, content));
        if let Err(error) = written {
            panic!("cannot write {}: {error}", path.display());
        }
        self
    }

    /// Starts nginx and waits until it listens. Fails the test with nginx's own words if it does not.
    pub fn start(self) -> Nginx {
        self.try_start().unwrap_or_else(|error| panic!("{error}"))
    }

    /// As [`Builder::start`], with the failure as an error.
    pub fn try_start(self) -> Result<Nginx> {
        let mut nginx = self.launch()?;
        nginx.wait_until_started()?;
        Ok(nginx)
    }

    /// Starts an nginx that is expected to end by itself, because of its configuration. `Err` if it starts.
    pub fn run_to_exit(self) -> Result<Ended> {
        let mut nginx = self.launch()?;
        if nginx.wait_until_started().is_ok() {
            return Err("nginx must refuse this configuration, but it started".into());
        }
        let child = nginx.child.as_mut().expect("launched above");
        let status =
            process::wait_for_exit(child, patience()).map_err(|error| error.to_string())?;
        let status = status.ok_or("nginx neither started nor ended")?;
        Ok(Ended { status, stderr: nginx.stderr(), error_log: nginx.error_log() })
    }

    /// What `nginx -t` says of the configuration: whether it is good, and the words on stderr.
    pub fn test_config(self) -> (bool, String) {
        self.prepare()
            .and_then(|nginx| nginx.try_test_config())
            .unwrap_or_else(|error| panic!("{error}"))
    }

    fn launch(self) -> Result<Nginx> {
        let mut nginx = self.prepare()?;
        let stderr = fs::File::create(nginx.prefix().join("logs/stderr.log"))
            .map_err(|error| format!("cannot write below {}: {error}", nginx.prefix().display()))?;
        let mut command = nginx.command()?;
        command.stdout(Stdio::null()).stderr(stderr);
        let child =
            process::spawn(command).map_err(|error| format!("cannot run nginx: {error}"))?;
        nginx.child = Some(child);
        Ok(nginx)
    }

    /// Writes the configuration.
    fn prepare(self) -> Result<Nginx> {
        let folder = self.prefix.path();
        let text = match &self.raw {
            Some(text) => text.clone(),
            None => self.frame()?,
        };
        for name in ["logs", "conf"] {
            fs::create_dir_all(folder.join(name)).map_err(|error| error.to_string())?;
        }
        fs::write(folder.join(CONFIGURATION), &text).map_err(|error| error.to_string())?;

        let mut globals = String::new();
        if self.raw.is_some() {
            let pid = folder.join(PID_FILE);
            let _ = write!(globals, "daemon off; pid {};", pid.display());
            let _ = write!(globals, " error_log {} info;", folder.join(ERROR_LOG).display());
        }
        let workers = match (&self.raw, self.master) {
            (Some(_), _) => 1,
            (None, true) => self.workers as usize,
            (None, false) => 0,
        };
        Ok(Nginx {
            prefix: self.prefix,
            port: self.port,
            globals,
            workers,
            env: self.env,
            child: None,
        })
    }

    /// The configuration file, in the order of Test::Nginx::Util's `write_config_file`.
    fn frame(&self) -> Result<String> {
        let folder = self.prefix.path().display();
        let mut text = String::new();
        let _ = writeln!(text, "worker_processes {};", self.workers);
        let _ = writeln!(text, "daemon off;");
        let _ = writeln!(text, "master_process {};", if self.master { "on" } else { "off" });
        let _ = writeln!(text, "error_log {folder}/{ERROR_LOG} {};", self.log_level);
        let _ = writeln!(text, "pid {folder}/{PID_FILE};");
        if rustix::process::geteuid().is_root() {
            // The workers read files in a folder that only this user may enter.
            let _ = writeln!(text, "user root;");
        }
        for name in ["ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS"] {
            let _ = writeln!(text, "env {name};");
        }
        if let Some(module) = module()? {
            let _ = writeln!(text, "load_module {};", module.display());
        }
        let _ = writeln!(text, "\n{}", self.main);

        let _ = writeln!(text, "http {{");
        let _ = writeln!(text, "    access_log {folder}/{ACCESS_LOG};");
        for name in ["client_body", "proxy", "fastcgi", "scgi", "uwsgi"] {
            // A configuration may say it itself; nginx takes it only once.
            let directive = format!("{name}_temp_path");
            if !self.http.contains(&directive) {
                let _ = writeln!(text, "    {directive} {folder}/{name}_temp;");
            }
        }
        let _ = writeln!(text, "    default_type text/plain;");
        let _ = writeln!(text, "    keepalive_timeout 68000ms;");
        let _ = writeln!(text, "\n{}", self.http);

        let _ = writeln!(text, "    server {{");
        let _ = writeln!(text, "        listen {};", self.port);
        let name = self.server_name.replace('\\', "\\\\").replace('\'', "\\'");
        let _ = writeln!(text, "        server_name '{name}';");
        let _ = writeln!(text, "        client_max_body_size 30M;");
        let _ = writeln!(text, "\n{}", self.server);
        if self.root_location {
            let _ = writeln!(text, "        location / {{");
            let _ = writeln!(text, "            root {folder}/html;");
            let _ = writeln!(text, "            index index.html index.htm;");
            let _ = writeln!(text, "        }}");
        }
        let _ = writeln!(text, "    }}\n}}\n\n{}", self.after);
        let _ = writeln!(text, "events {{");
        let _ = writeln!(text, "    accept_mutex off;");
        let _ = writeln!(text, "    worker_connections {};\n}}", self.connections);
        Ok(text)
    }
}

const INDEX: &str = "<html><head><title>It works!</title></head><body>It works!</body></html>";
const CONFIGURATION: &str = "conf/nginx.conf";
const ERROR_LOG: &str = "logs/error.log";
const ACCESS_LOG: &str = "logs/access.log";
const PID_FILE: &str = "logs/nginx.pid";

/// How an nginx ended that could not start.
#[derive(Debug)]
pub struct Ended {
    /// Its exit status.
    pub status: ExitStatus,
    /// What it wrote to stderr; `nginx -t` would say the same.
    pub stderr: String,
    /// Its error log.
    pub error_log: Vec<u8>,
}

/// A running nginx; it ends with this value.
#[derive(Debug)]
pub struct Nginx {
    prefix: TempDir,
    port: u16,
    /// For `-g`.
    globals: String,
    /// How many workers the master starts, at least.
    workers: usize,
    env: Vec<(String, OsString)>,
    child: Option<Child>,
}

impl Nginx {
    /// The configuration of an nginx to start.
    pub fn builder() -> Builder {
        Builder::new()
    }

    /// The port of the server.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The folder nginx runs in.
    pub fn prefix(&self) -> &Path {
        self.prefix.path()
    }

    /// The master's process, or the only one without a master.
    pub fn pid(&self) -> u32 {
        self.read_pid().unwrap_or_else(|| panic!("nginx has no pid file\n{}", self.log_tail()))
    }

    fn read_pid(&self) -> Option<u32> {
        let text = fs::read_to_string(self.prefix().join(PID_FILE)).ok()?;
        text.strip_suffix('\n')?.parse().ok()
    }

    /// The worker processes, those that are shutting down after a reload included.
    pub fn worker_pids(&self) -> Vec<u32> {
        process::children_of(self.pid())
    }

    /// Sends a signal to the master.
    pub fn signal(&self, signal: Signal) {
        assert!(process::signal(self.pid(), signal), "nginx is gone\n{}", self.log_tail());
    }

    /// Another configuration file, for the next [`Nginx::reload`].
    pub fn set_config(&self, edit: impl FnOnce(String) -> String) {
        let path = self.prefix().join(CONFIGURATION);
        fs::read_to_string(&path)
            .and_then(|text| fs::write(&path, edit(text)))
            .unwrap_or_else(|error| panic!("cannot change {}: {error}", path.display()));
    }

    /// Makes nginx read its configuration again and waits for the new workers. The old ones may go on for as
    /// long as they have something to do. Needs a master.
    pub fn reload(&self) {
        let before = self.worker_pids();
        let errors = self.error_log().len();
        self.signal(Signal::HUP);
        let mut refused = false;
        let done = process::wait_until(patience(), || {
            refused = contains(&self.error_log()[errors..], b"[emerg]");
            let new = self.worker_pids().iter().filter(|pid| !before.contains(pid)).count();
            refused || new >= self.workers
        });
        assert!(done && !refused, "nginx did not reload\n{}", self.log_tail());
    }

    /// What `nginx -t` says of the configuration: whether it is good, and the words on stderr.
    pub fn test_config(&self) -> (bool, String) {
        self.try_test_config().unwrap_or_else(|error| panic!("{error}"))
    }

    fn try_test_config(&self) -> Result<(bool, String)> {
        let output = self.command()?.arg("-t").output().map_err(|error| error.to_string())?;
        Ok((output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned()))
    }

    /// The error log so far; empty if there is none.
    pub fn error_log(&self) -> Vec<u8> {
        fs::read(self.prefix().join(ERROR_LOG)).unwrap_or_default()
    }

    /// The access log so far; empty if there is none.
    pub fn access_log(&self) -> Vec<u8> {
        fs::read(self.prefix().join(ACCESS_LOG)).unwrap_or_default()
    }

    /// What nginx, and whatever it runs under, wrote to stderr.
    pub fn stderr(&self) -> String {
        let bytes = fs::read(self.prefix().join("logs/stderr.log")).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Waits until the error log has `text` in it; fails the test if it does not come.
    pub fn wait_for_log(&self, text: &str) {
        let found =
            process::wait_until(patience(), || contains(&self.error_log(), text.as_bytes()));
        assert!(found, "`{text}` is not in the error log\n{}", self.log_tail());
    }

    /// The end of the error log, and of stderr, for a person; debug lines only if there is nothing else.
    pub fn log_tail(&self) -> String {
        let log = self.error_log();
        let log = String::from_utf8_lossy(&log);
        // A debug message may go on for lines, which begin without a date.
        let mut is_debug = false;
        let is_told = |line: &&str| {
            if line.starts_with("20") {
                is_debug = line.contains(" [debug] ");
            }
            !is_debug
        };
        let mut lines: Vec<&str> = log.lines().filter(is_told).collect();
        if lines.is_empty() {
            lines = log.lines().collect();
        }
        let tail = lines[lines.len().saturating_sub(25)..].join("\n");
        let stderr = self.stderr();
        let stderr = if stderr.is_empty() { stderr } else { format!("\n--- stderr\n{stderr}") };
        format!("--- end of the error log\n{tail}{stderr}")
    }

    /// Stops nginx in order and looks whether all was well: no `[alert]`, `[emerg]` or `[crit]` in the error
    /// log, no process that crashed, no sanitizer's or valgrind's report. Fails the test otherwise.
    pub fn check(mut self) {
        if let Err(error) = self.end(&[]) {
            panic!("{error}\n{}", self.log_tail());
        }
    }

    /// As [`Nginx::check`], with the failure as an error and some of `[alert]`, `[emerg]`, `[crit]` allowed.
    /// `read` is shown the whole error log once nginx has ended.
    pub fn finish(mut self, allowed: &[&str], read: impl FnOnce(&[u8])) -> Result<()> {
        let ended = self.end(allowed);
        read(&self.error_log());
        ended
    }

    fn end(&mut self, allowed: &[&str]) -> Result<()> {
        let status = self.stop()?;
        let faults = faults(&self.error_log(), &self.stderr(), allowed);
        if !faults.is_empty() {
            return Err(format!("nginx complained:\n{}", faults.join("\n")));
        }
        match status {
            Some(status) if !status.success() => Err(format!("nginx ended with {status}")),
            _ => Ok(()),
        }
    }

    /// Stops nginx: SIGQUIT lets it end what it is doing, then SIGTERM, then SIGKILL.
    fn stop(&mut self) -> Result<Option<ExitStatus>> {
        let Some(mut child) = self.child.take() else { return Ok(None) };
        let workers = self.read_pid().map(process::children_of).unwrap_or_default();
        let signals = [(Signal::QUIT, patience() / 4), (Signal::TERM, patience() / 4)];
        let status = process::stop(&mut child, &signals).map_err(|error| error.to_string())?;
        // A master that had to be killed leaves its workers behind.
        for worker in workers {
            process::signal(worker, Signal::KILL);
        }
        Ok(Some(status))
    }

    /// nginx on this prefix and configuration, under the wrapper.
    fn command(&self) -> Result<Command> {
        let binary = binary()?;
        let mut words = wrapper().into_iter().map(std::ffi::OsString::from).chain([binary.into()]);
        let mut command = Command::new(words.next().unwrap_or_default());
        let folder = self.prefix();
        command.args(words).stdin(Stdio::null());
        command.envs(self.env.iter().map(|(name, value)| (name, value)));
        command.arg("-p").arg(folder).arg("-c").arg(folder.join(CONFIGURATION));
        command.arg("-e").arg(folder.join(ERROR_LOG));
        if !self.globals.is_empty() {
            command.arg("-g").arg(&self.globals);
        }
        Ok(command)
    }

    /// nginx writes its pid file once it listens (`ngx_create_pidfile` follows `ngx_init_cycle`). Asking
    /// that file instead of the port leaves no trace in the logs.
    fn wait_until_started(&mut self) -> Result<()> {
        let mut child = self.child.take().expect("only called after the launch");
        let mut ended = false;
        let ready = process::wait_until(patience(), || {
            ended = !matches!(child.try_wait(), Ok(None));
            let running = |pid| process::children_of(pid).len() >= self.workers;
            ended || self.read_pid().is_some_and(running)
        });
        self.child = Some(child);
        if ready && !ended {
            return Ok(());
        }
        Err(format!("nginx did not start\n{}", self.log_tail()))
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        // A test that wants to know how nginx ended calls `check`.
        let _ = self.stop();
    }
}

/// The lines of an nginx's logs that no test may leave behind; `allowed` are levels a test provokes.
pub fn faults(error_log: &[u8], stderr: &str, allowed: &[&str]) -> Vec<String> {
    const LEVELS: [&str; 3] = ["[alert]", "[emerg]", "[crit]"];
    const CRASHES: [&str; 3] = ["exited on signal", "Assertion ", "exited with fatal code"];
    const REPORTS: [&str; 10] = [
        "AddressSanitizer",
        "LeakSanitizer",
        "MemorySanitizer",
        "ThreadSanitizer",
        "UndefinedBehaviorSanitizer",
        "runtime error:",
        "panicked at",
        "== Invalid ",
        "definitely lost in loss record",
        "uninitialised value",
    ];

    let log = String::from_utf8_lossy(error_log);
    let forbidden = |line: &&str| {
        // The request line in a message is the client's.
        let own = line.split(", client: ").next().unwrap_or(line);
        let level = LEVELS.iter().any(|level| own.contains(level) && !allowed.contains(level));
        let crashed = !own.contains("[debug]")
            && (CRASHES.iter().any(|word| own.contains(word)) || exited_with_error(own));
        level || crashed
    };
    let reported = |line: &&str| REPORTS.iter().any(|word| line.contains(word));
    log.lines()
        .filter(forbidden)
        .chain(stderr.lines().filter(reported))
        .map(str::to_owned)
        .collect()
}

/// The master's note of a worker whose exit code is not 0, as a wrapper's `--error-exitcode` makes it.
fn exited_with_error(line: &str) -> bool {
    line.contains("worker process ")
        && line.contains(" exited with code ")
        && !line.ends_with(" code 0")
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}
