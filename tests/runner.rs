//! The fixture runner itself: fixtures that are wrong must fail, and say why.

// The helpers below are no `#[test]` functions: see clippy.toml.
#![allow(clippy::indexing_slicing, clippy::panic)]

mod support;

use support::fixture::file::{self, parse_time};
use support::fixture::perl::{Variables, eval};
use support::fixture::value::Value;
use support::fixture::{Test, tests};

const PREAMBLE: &str = "use Test::Nginx::Socket 'no_plan';\nrun_tests();\n__DATA__\n";

/// A block whose location `/t` answers `body` and a newline, with more sections.
fn block(sections: &str) -> String {
    let answer = "--- config\nlocation /t { return 200 \"body\\n\"; }\n--- request\nGET /t\n";
    format!("=== TEST 1: x\n{answer}{sections}\n")
}

/// Runs the one block of a file.
fn run(file: &str) -> Result<(), String> {
    let all = tests("x.t", file.as_bytes());
    assert_eq!(all.len(), 1, "{all:?}");
    all[0].run()
}

fn run_block(sections: &str) -> Result<(), String> {
    run(&format!("{PREAMBLE}{}", block(sections)))
}

/// Runs blocks that must fail, each with a part of what it must say.
fn all_fail(cases: &[(&str, &str)]) {
    for (sections, expected) in cases {
        match run_block(sections) {
            Ok(()) => panic!("this passed:\n{sections}"),
            Err(error) => assert!(error.contains(expected), "{sections}\nsays: {error}"),
        }
    }
}

#[test]
fn a_block_that_is_right_passes() {
    assert_eq!(run_block("--- response_body\nbody\n"), Ok(()));
}

#[test]
fn a_failure_names_the_place_the_expected_and_the_got() {
    let error = run_block("--- response_body\nother\n").unwrap_err();
    assert!(error.starts_with("x.t:4: TEST 1: x: "), "{error}");
    for part in ["expected (6 bytes)\nother\\n", "got (5 bytes)\nbody\\n", "end of the error log"] {
        assert!(error.contains(part), "no `{part}` in {error}");
    }
}

#[test]
fn wrong_answers_fail() {
    all_fail(&[
        ("--- response_body chomp\nbody\n", "body differs"),
        ("--- response_body:\n", "body differs"),
        ("--- response_body eval\nqr/^b$/\n", "does not match /^b$/"),
        ("--- response_body_like: ^b$\n", "response_body_like"),
        ("--- response_body_unlike: b.dy\n", "response_body_unlike"),
        ("--- error_code: 201\n", "status: expected 201, got \"200\""),
        ("--- error_code\n200\n", "status: expected 200\\n"),
        ("--- error_code_like: ^3\n", "status 200 does not match"),
        ("--- response_headers\nContent-Length: 6\n", "Content-Length: expected \"6\", got \"5\""),
        ("--- response_headers\nX-None: 1\n", "X-None: expected \"1\", got \"\""),
        ("--- response_headers\n!Content-Type\n", "header Content-Type is there: text/plain"),
        ("--- response_headers_like\nContent-Length: 5.\n", "does not match /^5.$/"),
        ("--- raw_response_headers_like: ETag\n", "raw_response_headers_like"),
        ("--- raw_response_headers_unlike: Content-Length: 5\n", "raw_response_headers_unlike"),
    ]);
    let wrong_by_default = run(&format!(
        "{PREAMBLE}=== TEST 1: x\n--- config\nlocation /t {{ return 404; }}\n--- request\nGET /t\n"
    ));
    assert!(wrong_by_default.unwrap_err().contains("status: expected 200, got \"404\""));
}

#[test]
fn wrong_logs_fail() {
    all_fail(&[
        ("--- error_log\nnever said\n", "error_log: no line has `never said`"),
        ("--- error_log\nworker process\nnever said\n", "no line has `never said`"),
        ("--- error_log eval\nqr/never \\w+/\n", "no line has `/never \\w+/`"),
        ("--- no_error_log\nworker process\n", "no_error_log: `worker process` is in: "),
        ("--- access_log\nPOST\n", "access_log: no line has `POST`"),
        ("--- no_access_log\nGET\n", "no_access_log: `GET` is in"),
        ("--- shutdown_error_log\nnever said\n", "shutdown_error_log: no line has"),
        ("--- no_shutdown_error_log\nsignal 3\n", "no_shutdown_error_log: `signal 3`"),
        (
            "--- grep_error_log: worker process\n--- grep_error_log_out\nworker\n",
            "grep_error_log_out differs",
        ),
        ("--- grep_error_log: worker process\n", "belong together"),
    ]);
}

/// A block whose location `/t` cannot be proxied, which nginx logs as `[crit]`.
const CRITICAL: &str = "=== TEST 1: x\n--- config\nlocation /t { proxy_pass http://unix:/none.sock; }\n\
                        --- request\nGET /t\n--- error_code: 502\n";

/// A block whose nginx logs an `[alert]` at its start.
const ALERT: &str = "--- main_config\nworker_rlimit_nofile 999999999999;\n";

#[test]
fn alerts_and_the_like_fail_unless_the_block_expects_them() {
    let error = run(&format!("{PREAMBLE}{CRITICAL}")).unwrap_err();
    assert!(error.contains("nginx complained:") && error.contains("[crit]"), "{error}");
    assert_eq!(run(&format!("{PREAMBLE}{CRITICAL}--- error_log\n[crit]\n")), Ok(()));
    assert_eq!(run(&format!("{PREAMBLE}{CRITICAL}--- error_log eval\nqr/\\[crit\\]/\n")), Ok(()));

    all_fail(&[(ALERT, "[alert]"), (&format!("{ALERT}--- error_log\nsetrlimit\n"), "[alert]")]);
    let expected = format!("{ALERT}--- shutdown_error_log\nsetrlimit\n--- error_log\n[alert]\n");
    assert_eq!(run_block(&expected), Ok(()));
}

#[test]
fn broken_framing_fails() {
    // Two answers where one is expected.
    let two = "=== TEST 1: x\n--- config\nlocation /t { return 200 a; }\n--- raw_request eval\n\
               \"GET /t HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n\" . \"GET /t HTTP/1.0\\r\\n\\r\\n\"\n";
    let error = run(&format!("{PREAMBLE}{two}")).unwrap_err();
    assert!(error.contains("bytes after the response: HTTP/1.1 200 OK"), "{error}");

    // An answer that is shorter than it says.
    let cut = "=== TEST 1: x\n--- config\n\
               location /t { proxy_pass http://127.0.0.1:$TEST_NGINX_BACKEND_PORT_1; }\n\
               --- backend\nsend HTTP/1.0 200 OK\\r\\nContent-Length: 9\\r\\n\\r\\nshort\nclose\n\
               --- request\nGET /t\n--- response_body: short\n";
    let error = run(&format!("{PREAMBLE}{cut}")).unwrap_err();
    assert!(error.contains("Length(9), but 5 bytes of body came"), "{error}");
    assert_eq!(run(&format!("{PREAMBLE}{cut}--- abort\n")), Ok(()));

    all_fail(&[
        (
            "--- more_headers\nConnection: keep-alive\n--- timeout: 100ms\n",
            "did not close: nothing came for 100ms",
        ),
        ("--- http09\n--- response_body\nbody\n", "body differs"),
    ]);
}

#[test]
fn a_configuration_that_is_or_is_not_refused_fails() {
    all_fail(&[
        ("--- main_config\nno_such_directive;\n", "unknown directive \"no_such_directive\""),
        ("--- must_die\n", "nginx must refuse this configuration, but it started"),
        ("--- must_die: 2\n--- main_config\nno_such;\n", "exit status: expected 2, got 1"),
        ("--- must_die\n--- main_config\nno_such;\n--- error_log\nother words\n", "no line has"),
        ("--- must_die\n--- main_config\nno_such;\n--- no_error_log\n[emerg]\n", "no_error_log"),
    ]);
    assert_eq!(
        run_block(
            "--- must_die\n--- main_config\nno_such;\n--- error_log\nunknown directive \"no_such\"\n"
        ),
        Ok(())
    );
}

#[test]
fn wrong_queries_to_servers_fail() {
    let proxied = |sections: &str| {
        run(&format!(
            "{PREAMBLE}=== TEST 1: x\n--- config\nlocation /t {{ set $memcached_key k; \
             memcached_pass 127.0.0.1:$TEST_NGINX_RAND_PORT_1; }}\n--- request\nGET /t\n\
             --- tcp_listen: $TEST_NGINX_RAND_PORT_1\n--- tcp_reply eval\n\
             \"VALUE k 0 1\\r\\nv\\r\\nEND\\r\\n\"\n{sections}"
        ))
    };
    assert_eq!(proxied("--- tcp_query eval\n\"get k\\r\\n\"\n--- tcp_query_len: 7\n"), Ok(()));
    let error = proxied("--- tcp_query eval\n\"get x\\r\\n\"\n").unwrap_err();
    assert!(error.contains("tcp_query differs"), "{error}");
    let error = proxied("--- tcp_query_len: 6\n").unwrap_err();
    assert!(error.contains("tcp_query_len: expected 6, got 7"), "{error}");

    all_fail(&[
        ("--- memcached: 2\n--- memcached_gets: 0 1\n", "expected 0 1, got 0 0"),
        ("--- memcached: 1\n--- memcached_set\n2 k 0 v\n", "no memcached server `2`"),
        ("--- memcached: 1\n--- memcached_set\n1 k\n", "needs <server> <key> <flags> <value>"),
        ("--- memcached: 1\n--- memcached_set\n1 k 0 \\q\n", "an escape other than"),
        ("--- memcached: 1\n--- memcached_perl\ndie 'for a reason';\n", "for a reason"),
        ("--- memcached: 1\n--- memcached_down: 2\n", "no memcached server `2`"),
        ("--- memcached_gets: 1\n", "without section `memcached`"),
        ("--- backend\nsend x\n--- backend_requests: 1\n", "expected 1, got 0"),
        ("--- backend\nsend x\n--- backend_request_like: GET\n", "backend_request_like"),
        ("--- backend\nsent x\n", "unknown command `sent x`"),
        ("--- backend\nsend x\nreply\n", "an answer without a step"),
        ("--- backend_requests: 1\n", "without section `backend`"),
        ("--- tcp_reply: x\n", "without section `tcp_listen`"),
        ("--- tcp_listen: 1\n", "without section `tcp_reply`"),
    ]);
}

#[test]
fn what_the_runner_does_not_know_fails() {
    all_fail(&[
        ("--- responce_body\nbody\n", "line 9: unknown section `responce_body`"),
        ("---response_body\nbody\n", "line 9: a section begins with `--- `"),
        ("--- error_code: 200\n--- error_code: 200\n", "line 10: a second section `error_code`"),
        ("--- response_body chmop\nbody\n", "unknown filter `chmop`"),
        ("--- error_code: 200\n200\n", "there are more lines"),
        ("--- error_log\n", "section `error_log` is empty"),
        ("--- response_body eval\njoin '', 1 .. 3\n", "this Perl is not supported"),
        ("--- response_body eval\n\"a $name\"\n", "write `\\$` here"),
        ("--- response_body_like: (\n", "the pattern `(`"),
        ("--- response_body: x\n--- response_body_like: x\n", "passes over section"),
        ("--- skip_nginx: < 1.2.3\n", "is not `<checks>: <op> <version>"),
        ("--- more_headers\nX: $TEST_NGINX_SERVER_PORT\n", "expands no $TEST_NGINX_... here"),
        ("--- main_config\n# $TEST_NGINX_NONE\n", "nothing sets $TEST_NGINX_NONE"),
        ("--- main_config\n# $TEST_NGINX_HTML_DIR\n", "||= html_dir();"),
        ("--- user_files\n>>> /etc/passwd\nx\n", "not below the html folder"),
        ("--- user_files\n>>> ../../x\nx\n", "not below the html folder"),
        ("--- timeout: soon\n", "`soon` is not a time"),
    ]);
    let lists = [
        ("--- error_code: 200\n", "`error_code` needs a list"),
        ("--- error_code eval\n[200]\n", "`error_code` has nothing for request 1"),
        ("--- more_headers eval\n['A: b']\n", "`more_headers` has nothing for request 1"),
    ];
    for (sections, expected) in lists {
        let block =
            format!("=== TEST 1: x\n--- config\n--- request eval\n['GET /', 'GET /']\n{sections}");
        let error = run(&format!("{PREAMBLE}{block}")).unwrap_err();
        assert!(error.contains(expected), "{error}");
    }
    let bare = |sections: &str| run(&format!("{PREAMBLE}=== TEST 1: x\n{sections}")).unwrap_err();
    assert!(bare("--- request\nGET /\n").contains("no section `config`"));
    assert!(bare("--- config\n").contains("there is no request"));
    assert!(bare("--- config\n--- request\nGET / HTTP/1.1 x\n").contains("is no request line"));
}

#[test]
fn a_file_that_cannot_be_read_is_one_failing_test() {
    let fails = |text: &str, expected: &str| {
        let all = tests("x.t", text.as_bytes());
        assert_eq!(all.len(), 1);
        assert_eq!(all[0].name, "x.t: the file");
        let error = all[0].run().unwrap_err();
        assert!(error.contains(expected), "{error}");
    };
    fails("run_tests();\n=== TEST 1: x\n", "no line `__DATA__`");
    fails("use Test::Nginx::Socket;\n__DATA__\n", "does not call `run_tests();`");
    fails("use Socket; run_tests();\n__DATA__\n", "`use Socket` is not supported");
    fails("add_block_preprocessor(1); run_tests();\n__DATA__\n", "`add_block_preprocessor` is not");
    fails("my $x = 1; run_tests();\n__DATA__\n", "not supported in fixtures");
    fails("repeat_each('often'); run_tests();\n__DATA__\n", "needs a whole number");
    fails(&format!("{PREAMBLE}text\n"), "text before the first block");
    fails(&format!("{PREAMBLE}=== A\n=== A\n"), "line 5: a second block `A`");
}

#[test]
fn only_last_and_skip_leave_blocks_out() {
    let left_out = |marks: [&str; 4]| -> Vec<bool> {
        let blocks = ["A", "B", "C", "D"].iter().zip(marks);
        let blocks: String = blocks
            .map(|(name, mark)| format!("=== {name}\n--- config\n--- request: GET /\n{mark}\n"))
            .collect();
        let all = tests("x.t", format!("{PREAMBLE}{blocks}").as_bytes());
        all.iter().map(|test: &Test| test.left_out.is_some()).collect()
    };
    assert_eq!(left_out(["", "", "", ""]), [false; 4]);
    assert_eq!(left_out(["", "--- SKIP", "", ""]), [false, true, false, false]);
    assert_eq!(left_out(["", "--- ONLY", "", ""]), [true, false, true, true]);
    assert_eq!(left_out(["", "--- LAST", "", "--- ONLY"]), [false, false, true, true]);
    assert_eq!(left_out(["--- ONLY", "--- LAST", "", ""]), [false, true, true, true]);
    assert_eq!(left_out(["--- skip_nginx: 2: >= 1.0.0", "", "", ""]), [true, false, false, false]);
    assert_eq!(left_out(["--- skip_nginx: 2: < 1.0.0", "", "", ""]), [false; 4]);
    assert_eq!(left_out(["--- skip_nginx2: 2: > 1.0.0 and < 1.0.1: x", "", "", ""]), [false; 4]);
}

#[test]
fn perl_literals_have_the_values_perl_gives_them() {
    let variables = Variables::from([("Name".to_owned(), b"value".to_vec())]);
    let value = |text: &str| eval(text.as_bytes(), &variables);
    let text = |bytes: &[u8]| Ok(Value::text(bytes));
    assert_eq!(
        value(r#" "a\r\n\t\\\"\$\@\x41\x{e9}\0\033" ; "#),
        text(b"a\r\n\t\\\"$@A\xE9\0\x1B")
    );
    assert_eq!(value(r"'a\n\\\'$x'"), text(br"a\n\'$x"));
    assert_eq!(value("q{a{b}c} . qq(\\x41)"), text(b"a{b}cA"));
    assert_eq!(value("\"ab\" x 3 . 'c' # comment\n"), text(b"abababc"));
    assert_eq!(value("'a' . ('b' . 'c') x 2"), text(b"abcbc"));
    assert_eq!(value("\"<$::Name>\" . $main::Name . 12"), text(b"<value>value12"));
    assert_eq!(value("<<'END' . 'x'\na $b\nEND\n"), text(b"a $b\nx"));
    let list = value("['a', \"b\\n\", 404, ('c') x 2, ['d'],]").unwrap();
    let one = |bytes: &[u8]| Value::text(bytes);
    let expected =
        [one(b"a"), one(b"b\n"), one(b"404"), one(b"c"), one(b"c"), Value::List(vec![one(b"d")])];
    assert_eq!(list, Value::List(expected.to_vec()));
    assert!(
        matches!(value("qr{^a/b$}i"), Ok(Value::Pattern(pattern)) if pattern.is_match(b"A/B\n"))
    );

    for wrong in [
        "",
        "foo()",
        "\"$x\"",
        "\"@x\"",
        "\"${x}\"",
        "$::None",
        "'a' 'b'",
        "['a'",
        "'a",
        "\"\\x{2028}\"",
        "\"\\Qa\"",
        "qr/$x/",
        "qr/a/g",
        "('a') x 2",
        "1 + 1",
        "<<END\nx\n",
        "$x",
    ] {
        assert!(value(wrong).is_err(), "{wrong} is {:?}", value(wrong));
    }
}

/// The same literals through the real Perl.
#[test]
fn perl_agrees() {
    let variables = Variables::from([("Name".to_owned(), b"value".to_vec())]);
    let literals = [
        r#""a\r\n\t\\\"\$\@\x41\x{e9}\0\033\x4\08\e\a\b\f\#""#,
        r"'a\n\\\'$x'",
        r"q{a{b}c\}\d} . qq(\x41)",
        "\"ab\" x 3 . 'c' # comment\n",
        "'a' . ('b' . 'c') x 2",
        "\"<$::Name>\" . $main::Name . 12",
        "<<'END' . 'x'\na $b\nEND\n",
        "<<END . <<\"NEXT\"\na \\$b\nEND\n\\x41\nNEXT\n",
        "1 . 'a' . 1.5",
        "\"$::Name:80\"",
    ];
    for literal in literals {
        let script = format!("no warnings; our $Name = 'value'; my $x = {literal}\n; print $x");
        let expected = support::tools::perl(&script, support::tools::NO_ENV);
        assert_eq!(eval(literal.as_bytes(), &variables), Ok(Value::Text(expected)), "{literal}");
    }
}

#[test]
fn sections_are_trimmed_and_filtered_as_test_base_does() {
    let value = |text: &str| -> Result<Value, String> {
        let file = format!("{PREAMBLE}=== A\n--- user_files{text}");
        let file = file::parse(file.as_bytes())?;
        let block = file.blocks[0].clone();
        block.sections.clone()?;
        Ok(block.get("user_files").unwrap().clone())
    };
    let text = |bytes: &str| Ok(Value::text(bytes));
    assert_eq!(value("\n\n \t\n  a\n\nb \n\n\n"), text("  a\n\nb \n"));
    assert_eq!(value("\na\r\nb\rc\n"), text("a\nb\nc\n"));
    assert_eq!(value(" -trim\n\na\n\n"), text("\na\n\n"));
    assert_eq!(value(" chomp\na\n\n"), text("a"));
    assert_eq!(value(" chop\nab\n"), text("ab"));
    assert_eq!(value(" +chomp chop\nab\n"), text("ab"));
    assert_eq!(value(":  a b  \n"), text("a b"));
    assert_eq!(value(":\n"), text(""));
    assert_eq!(value(" chomp: a: b\n\n"), text("a: b"));
    assert_eq!(value(" eval: 'a' . \"\\n\"\n"), text("a\n"));
    assert_eq!(value("\na\n----b\n--- \n"), text("a\n----b\n--- \n"));
    assert_eq!(
        value(" lines array\na\nb\n"),
        Ok(Value::List(vec![Value::text("a\n"), Value::text("b\n")]))
    );
    assert_eq!(value(" lines\na\nb\n"), text("a\n"));
    assert!(value(" eval chomp\n['a']\n").is_err());
}

#[test]
fn times_are_read_as_test_nginx_does() {
    let milliseconds = |text| parse_time(text).map(|time| time.as_millis());
    assert_eq!(milliseconds("2"), Ok(2000));
    assert_eq!(milliseconds("0.5"), Ok(500));
    assert_eq!(milliseconds("300ms"), Ok(300));
    assert_eq!(milliseconds("1s"), Ok(1000));
    assert!(
        milliseconds("-1").is_err() && milliseconds("").is_err() && milliseconds("1m").is_err()
    );
}
