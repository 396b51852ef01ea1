//! The whole, under load and reloaded: nothing a client sees fails.

mod support;

use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use support::memcached::Memcached;
use support::nginx::{self, Nginx};
use support::tools;

const SECONDS: u64 = 10;
const RELOADS: u32 = 5;

/// Counts the answers that are not what memcached holds, wrapped; wrk itself counts those that fail.
const WRK_SCRIPT: &str = r#"
local threads = {}
function setup(thread) table.insert(threads, thread) end
function init() wrong = 0 end
function request()
    local n = math.random(0, 99)
    return wrk.format("GET", "/count?entry_id=" .. n .. "&callback=cb")
end
function response(status, headers, body)
    if status ~= 200 or not body:match("^cb%({\"count\":%d+}%);$") then wrong = wrong + 1 end
end
function done(summary)
    local wrong = 0
    for _, thread in ipairs(threads) do wrong = wrong + thread:get("wrong") end
    local e = summary.errors
    print(string.format("RESULT %d %d", summary.requests,
        wrong + e.connect + e.read + e.write + e.status + e.timeout))
end
"#;

#[test]
fn no_request_fails_while_nginx_reloads_under_load() {
    let wrk = tools::require_tool("wrk", "wrk");
    let servers: Vec<Memcached> = (0..3).map(|_| Memcached::start()).collect();
    let names: Vec<String> = servers.iter().map(|s| format!("localhost:{}", s.port())).collect();
    tools::perl(
        "use Cache::Memcached::Fast;
         my $cache = Cache::Memcached::Fast->new({ servers => [ split / /, $ENV{SERVERS} ],
             namespace => 'testapp::', ketama_points => 150, connect_timeout => 10 });
         $cache->set($_, qq({\"count\":$_})) or die for 0 .. 99;",
        &[("SERVERS", names.join(" "))],
    );

    let lines: String = names.iter().map(|name| format!("server {name};\n")).collect();
    let nginx = Nginx::builder()
        .workers(2)
        .http(&format!(
            "upstream cluster {{ memcached_hash ketama_points=150; {lines} keepalive 50; }}"
        ))
        .server(
            "location /count {
                 default_type         text/javascript;
                 jsonp_callback       callback;
                 set $memcached_key       $arg_entry_id;
                 set $memcached_namespace testapp::;
                 memcached_pass       cluster;
             }",
        )
        .log_level("notice")
        .start();

    let script = nginx.prefix().join("wrk.lua");
    std::fs::write(&script, WRK_SCRIPT).unwrap();
    // A connection each request: an idle one that is kept is closed at a reload at once, also when a request
    // is on its way (nginx has `keepalive_min_timeout` for that from 1.27.4 on), with or without a module.
    let load = Command::new(wrk)
        .args([
            "-c",
            "50",
            "-t",
            "2",
            "-d",
            &format!("{SECONDS}s"),
            "-H",
            "Connection: close",
            "-s",
        ])
        .arg(&script)
        .arg(format!("http://127.0.0.1:{}", nginx.port()))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();

    for _ in 0..RELOADS {
        thread::sleep(Duration::from_secs(SECONDS) / (RELOADS + 1));
        nginx.reload();
    }

    let output = load.wait_with_output().unwrap();
    let output = String::from_utf8_lossy(&output.stdout);
    let result = output.lines().find_map(|line| line.strip_prefix("RESULT ")).expect(&output);
    let (requests, failed) = result.split_once(' ').unwrap();
    assert!(requests.parse::<u64>().unwrap() > 100 * u64::from(RELOADS), "{output}");
    assert_eq!(failed, "0", "{output}");
    assert!(nginx::module().unwrap().is_some());
    nginx.check();
}
