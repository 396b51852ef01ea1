//! Requests and replies that somebody made up to do harm: they are answered with work in proportion to their
//! size, nothing of them comes back, and nobody is believed who should not be.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used
)]

mod support;

use std::time::Duration;

use support::http::{Connection, Response};
use support::nginx::{self, Nginx};
use support::process;
use support::tcp_server::{RequestEnd, Step, TcpServer, send};

const JSON: &str = r#"{"a":1}"#;

/// Room for 128 KB in one line, and for many lines.
const LARGE: &str = "large_client_header_buffers 16 128k; keepalive_requests 1000000;";

fn jsonp(directives: &str) -> Nginx {
    Nginx::builder()
        .http(LARGE)
        .server(&format!(
            "location /j {{ default_type application/json; jsonp_callback callback cb jsonp; {directives}
                            return 200 '{JSON}'; }}"
        ))
        .root_location(false)
        .start()
}

fn ask(connection: &mut Connection, target: &[u8], headers: &[u8]) -> Response {
    let request = [b"GET ", target, b" HTTP/1.1\r\nHost: localhost\r\n", headers, b"\r\n"].concat();
    connection.send(request).read()
}

/// Sizes of what is sent, in bytes, of which the second is four times the first.
const SIZES: [usize; 2] = [30_000, 120_000];

/// Seconds of CPU that the workers have used.
fn cpu(nginx: &Nginx) -> f64 {
    let of = |pid: u32| -> f64 {
        // The first number is the time on a CPU in nanoseconds; `stat` has it in hundredths of a second only.
        let text = std::fs::read_to_string(format!("/proc/{pid}/schedstat")).unwrap();
        text.split(' ').next().unwrap().parse::<f64>().unwrap() / 1e9
    };
    nginx.worker_pids().into_iter().map(of).sum()
}

/// Seconds that `request` costs the worker when it sends something of each of [`SIZES`]. The least of several tries
/// counts, as nothing that else goes on makes it less.
fn costs(nginx: &Nginx, mut request: impl FnMut(usize)) -> [f64; 2] {
    const REQUESTS: u32 = 4;
    let mut least = [f64::INFINITY; 2];
    for _ in 0..8 {
        for (size, least) in SIZES.into_iter().zip(&mut least) {
            let before = cpu(nginx);
            (0..REQUESTS).for_each(|_| request(size));
            *least = least.min((cpu(nginx) - before) / f64::from(REQUESTS));
        }
    }
    least
}

/// Sees that what is four times as large costs about four times as much, not sixteen times, and never over 5 ms.
/// `nginx` is how much of the larger cost is not the module's.
fn is_linear(what: &str, [small, large]: [f64; 2], nginx: f64) {
    let slow = f64::from(nginx::slowness()).powi(2);
    assert!(large < 0.005 * slow, "{what}: {large:.6} s a request");
    // The end of a request may be counted with the next.
    assert!(
        large - nginx < small * 6.0 + 0.0001 * slow,
        "{what}: {small:.6} s for {} bytes, but {large:.6} s for {}, {nginx:.6} s of it nginx's own",
        SIZES[0],
        SIZES[1]
    );
}

#[test]
fn no_byte_of_a_callback_comes_back_that_is_not_allowed() {
    let bare = jsonp("");
    let bare_answer = ask(&mut Connection::open(bare.port()), b"/j", b"");
    let sites = [
        (jsonp("jsonp_callback_syntax word;"), 200),
        (jsonp("jsonp_callback_syntax member;"), 200),
        (jsonp("jsonp_callback_syntax member; jsonp_callback_invalid 400;"), 400),
    ];
    for (site, refused) in &sites {
        for byte in 0..=u8::MAX {
            let encoded = format!("%{byte:02X}").into_bytes();
            // A line end as it is would end the request line.
            let raw = (!b"\r\n".contains(&byte)).then(|| vec![byte]);
            for value in raw.into_iter().chain([encoded]) {
                for (before, after) in [("zq", "qz"), ("", "qz"), ("zq", "")] {
                    let name = [before.as_bytes(), &value, after.as_bytes()].concat();
                    check_callback(site, &name, byte, *refused, &bare_answer);
                }
            }
        }
    }
    sites.into_iter().for_each(|(site, _)| site.check());
    bare.check();
}

fn check_callback(site: &Nginx, name: &[u8], byte: u8, refused: u16, bare: &Response) {
    let target = [b"/j?callback=", name].concat();
    let answer = ask(&mut Connection::open(site.port()), &target, b"Connection: close\r\n");
    let wrapped = answer.status == 200 && answer.body.ends_with(b");");
    if wrapped {
        // What is called is what was sent, up to where the argument or the URI ends.
        let end = name.iter().position(|byte| b" &#".contains(byte)).unwrap_or(name.len());
        let sent = match byte.is_ascii_alphanumeric() || b"_$.[]".contains(&byte) {
            true => String::from_utf8_lossy(name)
                .replace(&format!("%{byte:02X}"), &char::from(byte).to_string()),
            false => String::from_utf8_lossy(&name[..end]).into_owned(),
        };
        assert_eq!(answer.text(), format!("{sent}({JSON});"));
        return;
    }
    // nginx itself refuses some bytes in a request line.
    let by_nginx = answer.status == 400 && (byte <= b' ' || byte == 0x7f);
    if answer.status == 200 && refused == 200 {
        assert_eq!(
            (&answer.body, answer.header("Content-Type")),
            (&bare.body, bare.header("Content-Type"))
        );
    } else {
        assert!(
            by_nginx || answer.status == refused || answer.text() == JSON,
            "{byte:#x}: {answer:?}"
        );
    }
    let head = String::from_utf8_lossy(&answer.head).into_owned();
    assert!(!head.contains("zq") && !head.contains("qz"), "{head}");
    assert!(!answer.text().contains("zq") && !answer.text().contains("qz"), "{}", answer.text());
}

#[test]
fn long_query_strings_cost_what_they_are_long() {
    let site = jsonp("jsonp_callback_syntax member;");
    let mut connection = Connection::open(site.port());
    // What is repeated, what stands before and behind it, and whether the answer is wrapped.
    for (what, before, part, behind, wraps) in [
        ("other arguments", "", "callbac=x&", "callback=f", true),
        ("empty arguments", "", "&", "callback=f", true),
        ("the argument without a value", "", "callback&", "callback=f", true),
        ("all names, empty", "", "cb=&jsonp=&callback=&", "", false),
        ("a name within names", "", "callbackcallback", "", false),
        ("a long name", "callback=", "a", "", false),
        ("a deep name", "callback=", "a.", "a", false),
        ("many indexes", "callback=a", "[0]", "", false),
        ("open brackets", "callback=a", "[", "", false),
        ("all encoded", "callback=", "%61", "", false),
        ("percents", "callback=", "%", "", false),
        ("255 bytes deep", &format!("callback={}a&", "a[0].".repeat(50)), "x", "", true),
    ] {
        let costs = costs(&site, |size| {
            let target = format!("/j?{before}{}{behind}", part.repeat(size / part.len()));
            let answer = ask(&mut connection, target.as_bytes(), b"");
            assert_eq!((answer.status, answer.text() != JSON), (200, wraps), "{what}");
        });
        is_linear(what, costs, 0.0);
    }
    drop(connection);
    site.check();
}

#[test]
fn a_large_jsonp_args_costs_what_it_is_large() {
    let site = Nginx::builder()
        .http(LARGE)
        .server("location /args { jsonp_callback callback cb; return 200 $jsonp_args; }")
        .root_location(false)
        .start();
    let mut connection = Connection::open(site.port());
    for (part, left) in [("_=1&", ""), ("cb=1&a=2&", "a=2&"), ("&", "&"), ("ab&", "ab&")] {
        let costs = costs(&site, |size| {
            let times = size / part.len();
            let target = format!("/args?{}z", part.repeat(times));
            let answer = ask(&mut connection, target.as_bytes(), b"");
            assert_eq!(answer.text(), left.repeat(times) + "z");
        });
        is_linear(part, costs, 0.0);
    }
    drop(connection);
    site.check();
}

const CLIENT: &str = "198.51.100.9";

fn realip(trust: &str) -> Nginx {
    behind_proxies(&format!("real_ip_recursive_trust 203.0.113.7 {trust};"))
}

fn behind_proxies(directive: &str) -> Nginx {
    Nginx::builder()
        .http(LARGE)
        .server(&format!(
            "set_real_ip_from 127.0.0.1; real_ip_header X-Forwarded-For; real_ip_recursive on;
             {directive}
             location / {{ return 200 $remote_addr; }}"
        ))
        .root_location(false)
        .start()
}

#[test]
fn floods_of_entries_cost_what_they_are_long() {
    let line = |value: &str| format!("X-Forwarded-For: {value}\r\n");
    // nginx from 1.23 on looks at all lines of a name for each of them.
    let bare = behind_proxies("");
    let mut to_bare = Connection::open(bare.port());
    for (trust, hops) in [("", 0), ("hops=1", 1), ("hops=100000", 100_000)] {
        let site = realip(trust);
        let mut connection = Connection::open(site.port());
        let fill = |part: &str, size: usize| line(&part.repeat(size / part.len()));
        // So many that the largest size is about 900 lines.
        let lines = |text: &str, size: usize| text.repeat(size / 133);
        let floods: [(&str, &dyn Fn(usize) -> String); 10] = [
            ("trusted entries", &|size| fill("203.0.113.7, ", size)),
            ("commas", &|size| fill(",", size)),
            ("blanks and commas", &|size| line(&(CLIENT.to_owned() + &" ,".repeat(size / 2)))),
            ("one long entry", &|size| fill("1", size)),
            ("colons", &|size| fill(":", size)),
            ("many groups", &|size| fill("1:", size)),
            ("brackets", &|size| fill("[::1]:1,", size)),
            ("many lines", &|size| lines(&line("203.0.113.7"), size)),
            ("many empty lines", &|size| lines(&line(""), size)),
            ("many other lines", &|size| lines("X-Forwarded-Fo: 1\r\n", size)),
        ];
        for (what, headers) in floods {
            let [_, nginx] = costs(&bare, |size| {
                let answer = ask(&mut to_bare, b"/", headers(size).as_bytes());
                assert_eq!(answer.status, 200, "{what}: {}", bare.log_tail());
            });
            let costs = costs(&site, |size| {
                let headers = headers(size);
                let answer = ask(&mut connection, b"/", headers.as_bytes());
                assert_eq!(answer.status, 200, "{what}: {}", site.log_tail());
                let answered = answer.text();
                if hops > 4 {
                    // No list that a client can write is so long: the peer, never the client's own words.
                    let count =
                        headers.matches("203.0.113.7").count() + headers.matches("::1").count();
                    assert!(count > 100_000 || answered == "127.0.0.1", "{what}: {answered}");
                }
            });
            is_linear(&format!("{what} {trust}"), costs, nginx);
        }
        drop(connection);
        site.check();
    }
    drop(to_bare);
    bare.check();
}

/// What stands left of the address that the proxy saw is the client's to write.
#[test]
fn nothing_that_a_client_writes_moves_the_address() {
    let site = realip("");
    let hops = realip("hops=1");
    // A line end would end the line for the proxy too.
    let bytes = || (0..=u8::MAX).filter(|byte| !b"\r\n".contains(byte));
    let mut forged: Vec<Vec<u8>> = bytes().map(|byte| vec![byte]).collect();
    forged.extend(bytes().map(|byte| [b"192.0.2.66,", &[byte][..], b"203.0.113.7"].concat()));
    for text in [
        "192.0.2.66",
        "192.0.2.66\r\nX-Forwarded-For: 192.0.2.67",
        "192.0.2.66\r\nx-forwarded-for: 192.0.2.67",
        "192.0.2.66\r\nX_Forwarded_For: 192.0.2.67",
        "192.0.2.66\r\nX-Forwarded-For:",
        "192.0.2.66\r\nX-Forwarded-For: ,",
        "192.0.2.66\r\nX-Real-IP: 192.0.2.67",
        "192.0.2.66\r\nForwarded: for=192.0.2.67",
        "127.0.0.1, 203.0.113.7, 203.0.113.7",
        "unix:, unix:/tmp/s",
        "[::1]:80, 2001:db8::1",
        "192.0.2.66;",
        "\"192.0.2.66\"",
    ] {
        forged.push(text.as_bytes().to_vec());
    }
    let (mut answered, mut refused) = (0, 0);
    for forged in forged {
        let headers = [
            b"X-Forwarded-For: ",
            &forged[..],
            b"\r\nX-Forwarded-For: 198.51.100.9, 203.0.113.7\r\n",
        ]
        .concat();
        for site in [&site, &hops] {
            let answer = ask(&mut Connection::open(site.port()), b"/", &headers);
            if answer.status == 200 {
                assert_eq!(answer.text(), CLIENT, "{}", String::from_utf8_lossy(&headers));
                answered += 1;
            } else {
                assert_eq!(answer.status, 400);
                refused += 1;
            }
        }
    }
    assert!(answered > 400 && refused < 20, "{answered} answered, {refused} refused");
    site.check();
    hops.check();
}

/// Header lines that another server might read in another way.
#[test]
fn smuggled_lines_do_not_count() {
    let site = realip("");
    for lines in [
        "X-Forwarded-For : 192.0.2.66\r\nX-Forwarded-For: 198.51.100.9\r\n",
        "X-Forwarded-For: 198.51.100.9\r\nX-Forwarded-For\t: 192.0.2.66\r\n",
        "X-Forwarded-For: 198.51.100.9\r\n\tX-Forwarded-For: 192.0.2.66\r\n",
        "X-Forwarded-For: 198.51.100.9\r\nX_Forwarded_For: 192.0.2.66\r\n",
        "X-Forwarded-For: 198.51.100.9\r\nX-Forwarded-For\0: 192.0.2.66\r\n",
        "X-Forwarded-For: 198.51.100.9\r\nX-Forwarded-Fo\r: 192.0.2.66\r\n",
        "X-Forwarded-For: 198.51.100.9\r\nA: b\nX_Forwarded-For: 192.0.2.66\r\n",
        "X-Forwarded-For: 198.51.100.9\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n",
    ] {
        let answer = ask(&mut Connection::open(site.port()), b"/", lines.as_bytes());
        assert!(
            answer.status == 400 || (answer.status, &*answer.text()) == (200, CLIENT),
            "{lines:?}: {} {}",
            answer.status,
            answer.text()
        );
    }
    site.check();
}

/// A memcached that lies: what it sends is passed on whole, or broken off, or not at all.
#[test]
fn hostile_replies_of_memcached() {
    let long = "x".repeat(200_000);
    let endless = format!("VALUE {long}");
    for (what, reply) in [
        ("a length of 2^64 - 1", "VALUE k 0 18446744073709551615\r\nx\r\nEND\r\n"),
        ("a length of 21 digits", "VALUE k 0 999999999999999999999\r\nx\r\nEND\r\n"),
        ("a length below 0", "VALUE k 0 -1\r\nx\r\nEND\r\n"),
        ("a length of letters", "VALUE k 0 abc\r\nx\r\nEND\r\n"),
        ("no length", "VALUE k 0 \r\nx\r\nEND\r\n"),
        ("no flags", "VALUE k\r\nx\r\nEND\r\n"),
        ("flags of 100 digits", &format!("VALUE k {} 1\r\nx\r\nEND\r\n", "9".repeat(100))),
        ("another key", "VALUE other 0 1\r\nx\r\nEND\r\n"),
        ("a longer key", "VALUE kk 0 1\r\nx\r\nEND\r\n"),
        ("less than it says", "VALUE k 0 5\r\nx\r\nEND\r\n"),
        ("more than it says", "VALUE k 0 1\r\nxyz\r\nEND\r\n"),
        ("no end", "VALUE k 0 1\r\nx\r\n"),
        ("another end", "VALUE k 0 1\r\nx\r\nEN\r\n"),
        ("a second value", "VALUE k 0 1\r\nx\r\nVALUE k 0 1\r\ny\r\nEND\r\n"),
        ("a second reply", "VALUE k 0 1\r\nx\r\nEND\r\nVALUE k 0 1\r\ny\r\nEND\r\n"),
        ("an endless line", &endless),
        ("no line", &long),
        ("line ends alone", "VALUE k 0 1\nx\nEND\n"),
        ("bytes of all kinds", "\u{0}\u{1}\u{7f}\r\n"),
        ("nothing", ""),
        ("an error", "SERVER_ERROR out of memory\r\n"),
        ("HTTP", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx"),
    ] {
        let hostile = TcpServer::builder()
            .until(RequestEnd::Line)
            .reply(vec![send(reply), Step::Close])
            .start();
        let site = Nginx::builder()
            .http(&format!(
                "upstream m {{ memcached_hash ketama_points=150; server 127.0.0.1:{}; keepalive 2; }}",
                hostile.port()
            ))
            .server(
                "location / { default_type application/json; jsonp_callback cb;
                              set $memcached_key k; memcached_read_timeout 2s; memcached_pass m; }",
            )
            .root_location(false)
            .start();
        let workers = site.worker_pids();
        for _ in 0..3 {
            let mut connection = Connection::open(site.port());
            connection.set_timeout(Duration::from_secs(10) * nginx::slowness());
            connection.send("GET /?cb=f HTTP/1.1\r\nHost: localhost\r\n\r\n");
            if let Ok(answer) = connection.try_read(false) {
                let text = answer.text();
                let whole = answer.status == 200 && answer.complete;
                // What follows the value only tells nginx's memcached module that the connection is of no
                // more use.
                assert!(!whole || ["f(x);", "f(x\r\nEN);"].contains(&&*text), "{what}: {text}");
                assert!(
                    answer.complete || !text.contains(");"),
                    "{what}: cut off, but ends: {text}"
                );
                assert!(
                    whole || !answer.complete || answer.status >= 500,
                    "{what}: {}",
                    answer.status
                );
            }
        }
        assert_eq!(site.worker_pids(), workers, "{what}");
        assert!(workers.iter().all(|&worker| process::is_alive(worker)));
        site.check();
    }
}
