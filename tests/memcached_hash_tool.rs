//! The tool `memcached-hash`, as a shell runs it.

#![allow(clippy::unwrap_used)]

use std::ffi::OsStr;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::process::{Command, Output, Stdio};

fn run(args: &[&str], keys: &[u8]) -> Output {
    run_bytes(&args.iter().map(|arg| arg.as_bytes()).collect::<Vec<_>>(), keys)
}

fn run_bytes(args: &[&[u8]], keys: &[u8]) -> Output {
    let mut tool = Command::new(env!("CARGO_BIN_EXE_memcached-hash"))
        .args(args.iter().map(|arg| OsStr::from_bytes(arg)))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A call that fails reads no keys.
    let _ = tool.stdin.take().unwrap().write_all(keys);
    tool.wait_with_output().unwrap()
}

/// What is printed for `keys` when all is well.
fn servers(args: &[&str], keys: &[u8]) -> Vec<u8> {
    let output = run(args, keys);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.stderr.is_empty());
    output.stdout
}

fn error(args: &[&str]) -> String {
    let output = run(args, b"key\n");
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stdout.is_empty());
    String::from_utf8(output.stderr).unwrap()
}

const README: [&str; 8] = [
    "ketama_points=150",
    "weight_scale=10",
    "--server",
    "localhost:11211 weight=25",
    "--server",
    "192.168.254.2:11211 weight=10",
    "--server",
    "unix:/path/to/unix.sock weight=40",
];

#[test]
fn keys_are_printed_with_their_servers() {
    assert_eq!(
        String::from_utf8(servers(&README, b"/\n/a\n/k0\nuser:1\n")).unwrap(),
        "/\t192.168.254.2:11211\n\
         /a\tunix:/path/to/unix.sock\n\
         /k0\tlocalhost:11211\n\
         user:1\tunix:/path/to/unix.sock\n"
    );
}

#[test]
fn the_last_line_may_have_no_end() {
    assert_eq!(servers(&README, b"/"), b"/\t192.168.254.2:11211\n");
    assert_eq!(servers(&README, b""), b"");
}

/// Of 32 buckets, so that different keys are likely to be in different ones.
fn buckets() -> Vec<String> {
    (0..32).flat_map(|port| ["--server".to_owned(), format!("mc:{port}")]).collect()
}

fn bucket(args: &[&str], key: &[u8]) -> String {
    let buckets = buckets();
    let args: Vec<_> = args.iter().copied().chain(buckets.iter().map(String::as_str)).collect();
    let printed = servers(&args, key);
    let server = printed.strip_prefix(key).unwrap().strip_prefix(b"\t").unwrap();
    String::from_utf8(server.to_vec()).unwrap()
}

#[test]
fn keys_are_escaped_as_nginx_does_unless_they_are_raw() {
    let escaped = bucket(&[], b"/a%2520b%20c%0D");
    assert_eq!(bucket(&[], b"/a%20b c\r"), bucket(&["--raw"], b"/a%2520b%20c%0D"));
    assert_ne!(bucket(&["--raw"], b"/a%20b c\r"), escaped);
    assert_eq!(bucket(&["key=$uri"], b"/a%20b c\r"), bucket(&["--raw"], b"/a%20b c\r"));
}

#[test]
fn the_namespace_is_escaped_and_hashed_if_the_client_does() {
    assert_eq!(bucket(&["--namespace", "a b:"], b"key"), bucket(&[], b"key"));
    assert_eq!(
        bucket(&["hash_namespace=on", "--namespace", "a b:"], b"key"),
        bucket(&["--raw"], b"a%20b:key")
    );
    assert_eq!(
        bucket(&["hash_namespace=on", "--raw", "--namespace", "a b:"], b"key"),
        bucket(&["--raw"], b"a b:key")
    );
}

#[test]
fn keys_and_names_need_not_be_utf_8() {
    let output = run_bytes(&[b"--server", b"caf\xe9:11211"], b"\xe9\n");
    assert_eq!(output.stdout, b"\xe9\tcaf\xe9:11211\n");
}

#[test]
fn other_parameters_of_a_server_are_passed_over() {
    let server = "mc1:11211  max_fails=0\tfail_timeout=2s max_conns=5 down resolve weight=3";
    assert_eq!(servers(&["--server", server], b"key\n"), b"key\tmc1:11211\n");
}

#[test]
fn what_is_wrong_is_said() {
    let server = ["--server", "mc1:11211"];
    let with = |args: &[&'static str]| [args, &server].concat();

    assert_eq!(error(&[]), "memcached-hash: no --server is given, see --help\n");
    assert_eq!(error(&["--server"]), "memcached-hash: --server needs a value\n");
    assert_eq!(error(&["--server", " "]), "memcached-hash: --server is empty\n");
    assert_eq!(error(&["--namespace"]), "memcached-hash: --namespace needs a value\n");
    assert_eq!(
        error(&with(&["--serve"])),
        "memcached-hash: unknown option \"--serve\", see --help\n"
    );
    assert_eq!(
        error(&with(&["ketama_points=-1"])),
        "memcached-hash: invalid value \"-1\" of \"ketama_points\": \
         a number from 0 to 16000000 is expected\n"
    );
    assert_eq!(
        error(&with(&["weight_scale=10"])),
        "memcached-hash: the total weight 0.1 rounds to 0, at least 0.5 is needed\n"
    );
    for parameter in ["weight=0", "weight=-1", "weight=4294967296", "weight", "backup", "x=1"] {
        assert_eq!(
            error(&["--server", &format!("mc1:11211 {parameter}")]),
            format!("memcached-hash: invalid parameter \"{parameter}\" of the server\n")
        );
    }
}

#[test]
fn help_names_every_client_and_its_parameters() {
    let help = String::from_utf8(servers(&["--help"], b"")).unwrap();
    assert!(help.starts_with("Usage: memcached-hash "));
    assert!(help.contains(
        "\n  client=cache_memcached_fast ketama_points= weight_scale= hash_namespace= rehash=\n"
    ));
    assert!(help.contains("\n  client=gomemcache\n"));
    assert_eq!(servers(&["--raw", "-h"], b""), help.as_bytes());
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    let tool = env!("CARGO_BIN_EXE_memcached-hash");
    let script = format!("set -o pipefail; yes key | head -100000 | {tool} --server a:1 | head -1");
    let output = Command::new("bash").args(["-c", &script]).output().unwrap();
    assert_eq!(output.stdout, b"key\ta:1\n");
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}
