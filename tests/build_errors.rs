//! What the build says when it cannot go on names what is missing, and the command that helps. Nothing is
//! built here: the scripts see trees and tools that stand in for nginx's, cargo's and Debian's.

// The helpers are no `#[test]` functions: see clippy.toml.
#![allow(clippy::panic, clippy::unwrap_used)]

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// The tools that the scripts use and that have no part in what is tested.
const PLAIN: [&str; 23] = [
    "awk",
    "bash",
    "cat",
    "cp",
    "cut",
    "dirname",
    "env",
    "grep",
    "gzip",
    "head",
    "make",
    "mkdir",
    "mktemp",
    "realpath",
    "rm",
    "sed",
    "sh",
    "sha256sum",
    "sort",
    "tail",
    "tar",
    "tee",
    "test",
];

/// A folder with the tools of some machine, and what else is there.
struct Machine {
    folder: TempDir,
    variables: Vec<(String, String)>,
}

/// What a command said, and whether it ended well.
#[derive(Debug)]
struct Said {
    well: bool,
    text: String,
}

impl Said {
    /// It failed with all of this text.
    #[track_caller]
    fn fails(self, words: &[&str]) {
        assert!(!self.well, "{self:?}");
        for word in words {
            assert!(self.text.contains(word), "no `{word}` in: {}", self.text);
        }
    }

    /// It ended well, and said just this.
    #[track_caller]
    fn passes(self, text: &str) {
        assert!(self.well && self.text.trim_end() == text, "{self:?}");
    }
}

impl Machine {
    /// With a new Rust and a C compiler, with libclang, without nginx and without dpkg.
    fn new() -> Machine {
        let machine = Machine { folder: tempfile::tempdir().unwrap(), variables: Vec::new() };
        let path = std::env::var_os("PATH").unwrap();
        fs::create_dir(machine.at("bin")).unwrap();
        for tool in PLAIN {
            let found = std::env::split_paths(&path).map(|folder| folder.join(tool));
            let found = found.into_iter().find(|file| file.exists());
            symlink(found.unwrap_or_else(|| panic!("no {tool}")), machine.at("bin").join(tool))
                .unwrap();
        }
        machine.file("clang/libclang.so.1", "");
        let clang = machine.at("clang").display().to_string();
        machine
            .tool("cargo", "echo 'cargo 1.90.0 (0123456 2025-01-01)'")
            .tool("cc", "")
            .set("LIBCLANG_PATH", &clang)
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn file(&self, name: &str, text: &str) {
        let path = self.at(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn program(&self, name: &str, script: &str) {
        self.file(name, &format!("#!/bin/sh\n{script}\n"));
        fs::set_permissions(self.at(name), fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn tool(self, name: &str, script: &str) -> Machine {
        self.program(&format!("bin/{name}"), script);
        self
    }

    fn without(self, tool: &str) -> Machine {
        fs::remove_file(self.at("bin").join(tool)).unwrap();
        self
    }

    fn set(mut self, variable: &str, value: &str) -> Machine {
        self.variables.push((variable.into(), value.into()));
        self
    }

    /// Debian, with these packages.
    fn debian(self, packages: &str) -> Machine {
        // dpkg-query --show --showformat=... PACKAGE
        let script =
            format!("case ' {packages} ' in *\" $3 \"*) printf installed ;; *) exit 1 ;; esac");
        self.tool("dpkg-query", &script)
    }

    /// An installed nginx of this version.
    fn nginx(self, version: &str) -> Machine {
        self.tool("nginx", &format!("echo 'nginx version: {version}' >&2"))
    }

    /// Sources of nginx of this version, in the folder `nginx`.
    fn sources(self, version: &str, number: &str) -> Machine {
        let header = format!(
            "#define nginx_version      {number}\n#define NGINX_VERSION      \"{version}\"\n"
        );
        self.file("nginx/src/core/nginx.h", &header);
        self.file("nginx/objs/ngx_auto_config.h", "");
        self
    }

    /// Runs a command in this machine's folder, with none of the variables of the tests' own build.
    fn run(&self, program: impl AsRef<Path>, arguments: &[&str]) -> Said {
        let output = Command::new(program.as_ref())
            .args(arguments)
            .current_dir(self.folder.path())
            .env_clear()
            .env("PATH", self.at("bin"))
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        Said { well: output.status.success(), text }
    }

    fn script(&self, name: &str, arguments: &[&str]) -> Said {
        self.run(root().join("scripts").join(name), arguments)
    }

    /// For the nginx that is installed.
    fn check_nginx(&self) -> Said {
        self.script("check-nginx.sh", &["nginx", "nginx/objs"])
    }

    /// For an nginx that is elsewhere.
    fn check_sources(&self) -> Said {
        self.script("check-nginx.sh", &["nginx", "nginx/objs", ""])
    }

    /// What `./configure --add-dynamic-module=` does with the file `config`, in the folder `nginx`.
    fn config(&self, link: &str) -> Said {
        let script = format!(
            "cd nginx; ngx_addon_dir='{}'; NGX_OBJS=objs; ngx_module_link={link}; . \"$ngx_addon_dir/config\"",
            root().display()
        );
        self.run("/bin/sh", &["-c", &script])
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn sources_of_nginx_that_cannot_be_used() {
    Machine::new().check_sources().fails(&["NGINX_SOURCE_DIR, nginx, has no sources of nginx"]);

    let machine = Machine::new().sources("1.28.3", "1028003");
    machine.check_sources().passes("");
    fs::remove_dir_all(machine.at("nginx/objs")).unwrap();
    machine.check_sources().fails(&[
        "nginx are not configured",
        "nginx -V",
        "cd nginx && ./configure",
    ]);

    for (version, number) in [("1.20.2", "1020002"), ("1.9.15", "1009015"), ("0.8.55", "8055")] {
        let old = Machine::new().sources(version, number);
        old.check_sources().fails(&["needs nginx 1.22.0 or newer", version]);
    }
    Machine::new().sources("1.22.0", "1022000").check_sources().passes("");
}

#[test]
fn the_nginx_that_will_load_it_has_another_version() {
    let with = |version| Machine::new().sources("1.22.1", "1022001").nginx(version);
    with("nginx/1.22.1").check_nginx().passes("");
    with("nginx/1.22.1 (Ubuntu)").check_nginx().passes("");
    with("openresty/1.22.1.4").check_nginx().passes("");
    with("nginx/1.28.3").check_nginx().fails(&[
        "nginx-dev are of nginx 1.22.1",
        "is 1.28.3 and would not load the module",
        "make build NGINX_SOURCE_DIR=",
    ]);
    // Whoever names the sources may build for an nginx that is elsewhere.
    let note = with("nginx/1.28.3").set("NGINX_SOURCE_DIR", "nginx").check_nginx();
    assert!(note.well && note.text.contains("builds for nginx 1.22.1"), "{note:?}");
}

const BUILD: &str = "gcc libc6-dev make nginx nginx-dev";

#[test]
fn packages_are_missing() {
    let check = |machine: Machine| machine.script("packages.sh", &["check", "build"]);
    check(Machine::new().debian(BUILD)).passes("");
    check(Machine::new().debian("gcc make nginx")).fails(&[
        "error: missing packages: libc6-dev nginx-dev\n",
        "apt-get install libc6-dev nginx-dev\n",
    ]);
    check(Machine::new().debian(BUILD).set("LIBCLANG_PATH", ""))
        .fails(&["error: missing packages: libclang-dev\n"]);

    // With sources of one's own, nginx need not be installed, unless it is to be run.
    let own = || {
        Machine::new().debian("gcc libc6-dev make curl memcached").set("NGINX_SOURCE_DIR", "nginx")
    };
    check(own()).passes("");
    let demo = ["check", "build", "demo"];
    own().script("packages.sh", &demo).fails(&["packages: libcache-memcached-fast-perl nginx\n"]);
    own()
        .set("TEST_NGINX_BINARY", "/nginx")
        .script("packages.sh", &demo)
        .fails(&["packages: libcache-memcached-fast-perl\n"]);
}

#[test]
fn tools_are_missing() {
    let check = |machine: Machine| {
        // With Debian's packages and without any, the same tools are looked for.
        let said = machine.script("packages.sh", &["check", "build"]);
        let debian = machine.debian(BUILD).script("packages.sh", &["check", "build"]);
        assert_eq!((said.well, &said.text), (debian.well, &debian.text));
        said
    };
    check(Machine::new()).passes("");
    check(Machine::new().without("cargo")).fails(&[
        "Rust 1.85 or newer is needed",
        "cargo is not on PATH",
        "apt-get install cargo",
        "rustup",
    ]);
    check(Machine::new().tool("cargo", "echo 'cargo 1.63.0'"))
        .fails(&["Rust 1.85 or newer is needed", "cargo is 1.63.0"]);
    check(Machine::new().set("CARGO", "/nowhere/cargo")).fails(&["/nowhere/cargo is not on PATH"]);
    check(Machine::new().without("cc")).fails(&["no C compiler", "apt-get install gcc"]);
    check(Machine::new().set("CC", "ccache gcc")).fails(&["ccache is not on PATH"]);
    check(Machine::new().set("LIBCLANG_PATH", "/nowhere"))
        .fails(&["LIBCLANG_PATH, /nowhere, has no libclang.so", "unset it"]);

    // What C++ has of nearly the same name is not it.
    let machine = Machine::new();
    fs::rename(machine.at("clang/libclang.so.1"), machine.at("clang/libclang-cpp.so.1")).unwrap();
    check(machine).fails(&["has no libclang.so"]);
}

#[test]
fn there_is_no_nginx_dev() {
    let configure = |machine: Machine| {
        let said = machine.script("configure-nginx.sh", &["laid-out"]);
        assert!(!machine.at("laid-out").exists());
        said.fails(&[
            "no package nginx-dev",
            "apt-get install nginx-dev",
            "make build NGINX_SOURCE_DIR=",
        ]);
    };
    configure(Machine::new());
    configure(Machine::new().debian("gcc"));
}

#[test]
fn nginx_s_own_build_is_told() {
    let machine = || Machine::new().sources("1.28.3", "1028003");
    machine().config("DYNAMIC").passes("");
    machine().config("ADDON").fails(&["dynamic module only", "--add-dynamic-module="]);
    machine().without("cargo").config("DYNAMIC").fails(&["Rust 1.85 or newer is needed"]);
    machine().set("LIBCLANG_PATH", "/nowhere").config("DYNAMIC").fails(&["has no libclang.so"]);
    Machine::new()
        .sources("1.20.2", "1020002")
        .config("DYNAMIC")
        .fails(&["needs nginx 1.22.0 or newer", "has 1.20.2"]);
    // It is not built for the nginx that happens to be installed.
    machine().nginx("nginx/1.22.1").config("DYNAMIC").passes("");
}

#[test]
fn variables_of_make() {
    let root = root().display().to_string();
    let make = |arguments: &[&str]| {
        let arguments = [&["--no-print-directory", "-C", &root], arguments].concat();
        Machine::new().run("make", &arguments)
    };
    make(&["-n", "build", "NGINX_BUILD_DIR=x"]).fails(&["without NGINX_SOURCE_DIR"]);
    make(&["deb", "NGINX_SOURCE_DIR=/x"]).fails(&["unset NGINX_SOURCE_DIR"]);

    // The path of the library is one word wherever it is given to a command.
    for target in ["build", "demo", "bench", "bench-instr", "bench-check", "bench-update", "deb"] {
        let said = make(&["-n", target, "CARGO_TARGET_DIR=/a b"]);
        assert!(said.well, "{said:?}");
        for line in said.text.lines().filter(|line| line.contains("/a b")) {
            let quoted = line.split('"').skip(1).step_by(2).any(|text| text.contains("/a b"));
            assert!(quoted, "{line}");
        }
    }
}

#[test]
fn a_row_of_the_matrix_that_did_not_run() {
    let other_nginx = "case $1 in
        debian) printf '1.22.1\\t/sources\\t/nginx\\n' ;;
        nginx-src) printf '1.28.3\\t/sources\\t/nginx\\n' ;;
        broken) exit 1 ;;
        *) echo \"no mirror has $1\" >&2; exit 3 ;;
        esac";
    let cargo = "[ \"$1\" = build ] || echo 'test result: ok. 5 passed; 0 failed; 0 ignored'";
    let matrix = |asked: Option<&str>, cargo: &str| {
        let mut machine = Machine::new().tool("cargo", cargo);
        machine.program("scripts/other-nginx.sh", other_nginx);
        fs::copy(root().join("scripts/matrix.sh"), machine.at("scripts/matrix.sh")).unwrap();
        fs::create_dir(machine.at("target")).unwrap();
        if let Some(asked) = asked {
            machine = machine.set("MATRIX", asked);
        }
        machine.run(machine.at("scripts/matrix.sh"), &[])
    };

    let said = matrix(None, cargo);
    let ends = said.text.contains("10 passed, 0 failed; not on this machine: trixie sid\n");
    assert!(said.well && ends, "{said:?}");
    assert!(said.text.contains("skipped: no mirror has trixie"), "{said:?}");
    for asked in ["debian", "1.28", "nginx-src 1.22.1"] {
        let said = matrix(Some(asked), cargo);
        assert!(said.well && !said.text.contains("did not run"), "{said:?}");
    }
    for asked in ["sid", "debian sid", "1.28 1.30", "1.2", "1.28 /nowhere/nginx"] {
        matrix(Some(asked), cargo).fails(&["asked for, and did not run"]);
    }
    matrix(Some("broken"), cargo).fails(&["cannot be built", "0 passed, 1 failed"]);
    matrix(None, "").fails(&["0 passed, 1 failed"]);
    matrix(None, "exit 1").fails(&["does not build"]);
}

/// The sources that an image is built with are those of its nginx, and those that were asked for.
#[test]
fn a_release_with_another_checksum() {
    let machine = || {
        let script =
            "while [ \"$1\" != --output ]; do shift; done; cp release.tar.gz \"$2\"; echo \"$3\"";
        let machine = Machine::new()
            .tool("dpkg-query", "echo 1.26.3")
            .tool("curl", script)
            .set("NGINX_SOURCES", "https://nginx.example");
        machine.file(
            "version",
            "nginx version: nginx/1.28.3\nconfigure arguments: --with-x --with-cc-opt='-g -O2'\n",
        );
        machine.program("nginx-1.28.3/configure", "printf '<%s>' \"$@\"");
        machine.run("tar", &["-czf", "release.tar.gz", "nginx-1.28.3"]).passes("");
        machine
    };
    let sources = root().join("packaging/docker/sources.sh");
    let lay_out = |machine: &Machine| machine.run(&sources, &["version", "sources"]);

    let first = machine();
    let said = lay_out(&first);
    assert!(said.well && said.text.contains("is not checked"), "{said:?}");
    assert!(said.text.ends_with("<--with-x><--with-cc-opt=-g -O2>"), "{said:?}");
    assert!(said.text.contains("https://nginx.example/nginx-1.28.3.tar.gz"), "{said:?}");
    let checksum = first.run("sha256sum", &["release.tar.gz"]).text;
    let checksum = checksum.split(' ').next().unwrap().to_owned();
    assert!(said.text.contains(&format!("NGINX_SHA256={checksum}")), "{said:?}");

    let said = lay_out(&first.set("NGINX_SHA256", &checksum));
    assert!(said.well && !said.text.contains("note"), "{said:?}");

    let other = machine().set("NGINX_SHA256", &checksum.replace(|digit| digit != '0', "0"));
    lay_out(&other).fails(&["error: https://nginx.example/nginx-1.28.3.tar.gz has the SHA-256"]);
    assert!(!other.at("sources").exists());
}
