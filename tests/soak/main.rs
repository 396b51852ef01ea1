//! A long run of mixed requests. In its first part nginx reloads and a memcached dies and comes back, again and
//! again; in its second the same workers go on undisturbed, so that one that grows is seen. `make soak` runs it for
//! five minutes and a million requests; `cargo test` for a few seconds, to see that it works.
//!
//! No request may fail. Only one for a key of the memcached that is dead may be answered by the application
//! in its place. No process ends but the workers that a reload retires, and none grows.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used
)]

#[path = "../support/mod.rs"]
mod support;

mod h2;

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::Ipv4Addr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use h2::Outcome;
use support::http::{self, Connection, connect};
use support::memcached::Memcached;
use support::nginx::Nginx;
use support::ports::free_port;

/// How long, how much, and how often.
struct Plan {
    requests: u64,
    seconds: u64,
    /// In the first so many of these, there are so many reloads and deaths of a memcached.
    restless: u64,
    reloads: u32,
    deaths: u32,
    /// Seconds from there until the workers that are left have met all kinds of requests.
    warm_up: u64,
}

impl Plan {
    fn get() -> Plan {
        match std::env::var_os("SOAK") {
            Some(_) => Plan {
                requests: 1_000_000,
                seconds: 300,
                restless: 160,
                reloads: 50,
                deaths: 10,
                warm_up: 20,
            },
            None => Plan {
                requests: 20_000,
                seconds: 10,
                restless: 5,
                reloads: 3,
                deaths: 1,
                warm_up: 0,
            },
        }
    }
}

/// Of ten minutes; the rest is for the start, the end, and a machine that has other things to do.
const LIMIT: Duration = Duration::from_secs(560);

const WORKERS: u32 = 4;
const KEYS: u64 = 100;
const CLIENTS: u64 = 6;
const H2_CLIENTS: u64 = 2;
const SLOW_CLIENTS: u64 = 2;
const FROM_APPLICATION: &str = r#"{"from":"the application"}"#;
/// Which worker answered, a request a line.
const PIDS: &str = "logs/pids.log";
/// The memcached that dies.
const MORTAL: usize = 1;
/// Bytes by which the heap of a worker may grow whatever the number of its requests.
const ONCE: i64 = 32 * 1024;
/// nginx asks a server again so long after it was found dead.
const FAIL_TIMEOUT: Duration = Duration::from_secs(1);

fn value(key: u64) -> String {
    format!(r#"{{"status":"success", "count":{key}}}"#)
}

fn large() -> String {
    format!("\"{}\u{2028}\"", "0123456789abcdef".repeat(16_384))
}

fn fill(server: &Memcached) {
    for key in 0..KEYS {
        server.set(format!("testapp::k::{key}"), 0, value(key));
    }
    server.set("large", 0, large());
    server.set("/fragment", 0, "<p>fragment</p>");
}

fn start(servers: &[Memcached], h2_port: u16) -> Nginx {
    let lines: String = servers
        .iter()
        .map(|server| format!("server localhost:{} fail_timeout=1s;", server.port()))
        .collect();
    Nginx::builder()
        .workers(WORKERS)
        // Kept connections change the worker now and then, so that each soon meets all kinds.
        .http(&format!(
            "keepalive_requests 1000;
             log_format pid $pid;
             upstream cluster {{ zone z 256k; memcached_hash ketama_points=150; {lines} keepalive 32; }}"
        ))
        .server(&format!(
            r#"listen 127.0.0.1:{h2_port} http2;
             access_log {PIDS} pid;
             set_real_ip_from 127.0.0.1;
             real_ip_header X-Forwarded-For;
             real_ip_recursive on;
             real_ip_recursive_trust 203.0.113.7 2001:db8::/32;
             memcached_next_upstream off;

             location /count {{
                 default_type         text/javascript;
                 jsonp_callback       callback;
                 set $memcached_key       "k::$arg_key";
                 set $memcached_namespace testapp::;
                 memcached_pass       cluster;
                 add_header           X-Server $memcached_hash_server always;
                 error_page 404 502 504 =200 @application;
             }}
             location /large {{
                 default_type         text/javascript;
                 jsonp_callback       callback;
                 set $memcached_key   large;
                 memcached_pass       cluster;
                 add_header           X-Server $memcached_hash_server always;
                 error_page 404 502 504 =200 @application;
             }}
             location @application {{
                 default_type         text/javascript;
                 jsonp_callback       callback;
                 add_header           X-Server $memcached_hash_server always;
                 return 200           '{FROM_APPLICATION}';
             }}
             location = /page {{
                 ssi on;
                 default_type text/html;
                 return 200 'a<!--# include virtual="/fragment" -->z';
             }}
             location = /fragment {{
                 set $memcached_key $uri;
                 memcached_pass     cluster;
                 error_page 404 502 504 =200 @application;
             }}
             location = /address {{ return 200 "$remote_addr $realip_remote_addr $realip_trust_hops"; }}"#
        ))
        .log_level("notice")
        .start()
}

/// What all threads share.
struct Soak {
    plan: Plan,
    start: Instant,
    port: u16,
    h2_port: u16,
    mortal: String,
    next: AtomicU64,
    /// When the mortal memcached was last seen dead, or not yet filled, in milliseconds from the start.
    dead_until: AtomicU64,
    is_dead: AtomicBool,
    counts: [AtomicU64; Count::ALL.len()],
    faults: Mutex<Vec<String>>,
    stop: AtomicBool,
}

#[derive(Clone, Copy)]
enum Count {
    Hit,
    Miss,
    Fallback,
    Invalid,
    Address,
    Page,
    Http10,
    Http2,
    Slow,
    Aborted,
    AskedAgain,
}

impl Count {
    const ALL: [(Count, &'static str); 11] = [
        (Count::Hit, "hits"),
        (Count::Miss, "misses, answered by the application"),
        (Count::Fallback, "of the dead memcached, answered by the application"),
        (Count::Invalid, "callbacks that are none"),
        (Count::Address, "forged headers"),
        (Count::Page, "pages with a fragment"),
        (Count::Http10, "of HTTP/1.0"),
        (Count::Http2, "of HTTP/2, all kinds"),
        (Count::Slow, "large answers read slowly"),
        (Count::Aborted, "clients gone before the answer"),
        (Count::AskedAgain, "asked again, as a kept connection had ended"),
    ];
}

/// What one request asks, and what it must be answered.
struct Question {
    target: String,
    headers: Vec<(&'static str, &'static str)>,
    right: String,
    /// What it is when its memcached is dead.
    fallback: Option<String>,
    count: Count,
}

impl Question {
    fn new(number: u64) -> Question {
        let key = number % KEYS;
        let hit = |callback: &str| Question {
            target: format!("/count?key={key}&callback={callback}&_={number}"),
            headers: Vec::new(),
            right: format!("{callback}({});", value(key)),
            fallback: Some(format!("{callback}({FROM_APPLICATION});")),
            count: Count::Hit,
        };
        match number % 10 {
            0 => Question {
                target: format!("/count?key=missing{number}&callback=cb"),
                right: format!("cb({FROM_APPLICATION});"),
                fallback: None,
                count: Count::Miss,
                ..hit("cb")
            },
            1 => Question {
                target: format!("/count?key={key}&callback=alert(1)//"),
                right: value(key),
                fallback: Some(FROM_APPLICATION.into()),
                count: Count::Invalid,
                ..hit("cb")
            },
            2 => Question {
                target: "/address".into(),
                headers: vec![
                    ("x-forwarded-for", "192.0.2.66, 127.0.0.1"),
                    ("x-forwarded-for", "198.51.100.9, [2001:db8::7]:443, 203.0.113.7"),
                ],
                right: "198.51.100.9 127.0.0.1 2".into(),
                fallback: None,
                count: Count::Address,
            },
            3 => Question {
                target: "/page".into(),
                headers: Vec::new(),
                right: "a<p>fragment</p>z".into(),
                fallback: Some(format!("a{FROM_APPLICATION}z")),
                count: Count::Page,
            },
            4 => Question {
                target: format!("/count?key={key}"),
                right: value(key),
                fallback: Some(FROM_APPLICATION.into()),
                ..hit("cb")
            },
            _ => hit("jQuery19_1"),
        }
    }

    fn head(&self, version: &str) -> String {
        let headers: String =
            self.headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        format!("GET {} HTTP/{version}\r\nHost: localhost\r\n{headers}\r\n", self.target)
    }
}

impl Soak {
    /// The number of the next request, when its time has come.
    fn next(&self) -> Option<u64> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        if number >= self.plan.requests || self.stop.load(Ordering::Relaxed) {
            return None;
        }
        let due = Duration::from_secs(self.plan.seconds)
            .mul_f64(number as f64 / self.plan.requests as f64);
        if let Some(early) = due.checked_sub(self.start.elapsed()) {
            thread::sleep(early);
        }
        Some(number)
    }

    fn add(&self, count: Count) {
        self.counts[count as usize].fetch_add(1, Ordering::Relaxed);
    }

    fn count(&self, count: Count) -> u64 {
        self.counts[count as usize].load(Ordering::Relaxed)
    }

    fn fault(&self, text: String) {
        let mut faults = self.faults.lock().unwrap();
        if faults.len() < 20 {
            faults.push(text);
        }
    }

    fn now(&self) -> u64 {
        self.start.elapsed().as_millis() as u64
    }

    /// Judges an answer to a question that was asked at `asked`. `server` is the memcached it was for, if the
    /// answer told.
    fn judge(
        &self,
        question: &Question,
        asked: u64,
        status: u16,
        body: &[u8],
        server: Option<&str>,
    ) {
        if status == 200 && body == question.right.as_bytes() {
            return self.add(question.count);
        }
        let was_dead =
            self.is_dead.load(Ordering::SeqCst) || self.dead_until.load(Ordering::SeqCst) >= asked;
        let fallback = question.fallback.as_ref().is_some_and(|text| body == text.as_bytes());
        if status == 200
            && fallback
            && was_dead
            && server.is_none_or(|server| server == self.mortal)
        {
            return self.add(Count::Fallback);
        }
        self.fault(format!(
            "{} at {asked} ms: {status} {:?} from {server:?}",
            question.target,
            String::from_utf8_lossy(&body[..body.len().min(200)])
        ));
    }

    /// Keeps a connection; every twentieth request is of HTTP/1.0, and every two hundredth ends at once.
    fn client(&self) {
        let mut kept = None;
        while let Some(number) = self.next() {
            let question = Question::new(number);
            if number % 200 == 7 {
                let mut gone = Connection::open(self.port);
                gone.send(question.head("1.1"));
                self.add(Count::Aborted);
                continue;
            }
            let old = number % 20 == 13;
            let version = if old { "1.0" } else { "1.1" };
            let asked = self.now();
            let answer = self.ask(&mut kept, &question.head(version), old);
            match answer {
                Ok(answer) if answer.complete => {
                    let server = answer.header("X-Server");
                    self.judge(&question, asked, answer.status, &answer.body, server.as_deref());
                    if old {
                        self.add(Count::Http10);
                    }
                }
                Ok(answer) => self.fault(format!("{}: cut off: {answer:?}", question.target)),
                Err(error) => self.fault(format!("{}: {error}", question.target)),
            }
        }
    }

    /// On the kept connection, if there is one. If it had ended, on another: nginx may end a kept connection
    /// whenever it likes (RFC 9112, 9.5).
    fn ask(
        &self,
        kept: &mut Option<Connection>,
        request: &str,
        old: bool,
    ) -> support::Result<http::Response> {
        if !old {
            if let Some(mut connection) = kept.take() {
                match connection.send(request).try_read(false) {
                    Ok(answer) => {
                        *kept = keeps(&answer).then_some(connection);
                        return Ok(answer);
                    }
                    Err(error)
                        if error.ends_with("without a response: \"\"")
                            || error.contains("reset") =>
                    {
                        self.add(Count::AskedAgain);
                    }
                    Err(error) => return Err(error),
                }
            }
        }
        let mut connection = Connection::open(self.port);
        connection.set_timeout(Duration::from_secs(20));
        let answer = connection.send(request).try_read(false)?;
        if !old {
            *kept = keeps(&answer).then_some(connection);
        }
        Ok(answer)
    }

    fn h2_client(&self) {
        let mut client = None;
        while let Some(number) = self.next() {
            let question = Question::new(number);
            let asked = self.now();
            for attempt in 0.. {
                let kept = client.take();
                let fresh = kept.is_none();
                let mut connection = match kept.map_or_else(|| h2::Client::open(self.h2_port), Ok) {
                    Ok(connection) => connection,
                    Err(error) => return self.fault(format!("HTTP/2: {error}")),
                };
                match connection.ask(&question.target, &question.headers) {
                    Ok(Outcome::Answered(status, body)) => {
                        self.judge(&question, asked, status, &body, None);
                        self.add(Count::Http2);
                        client = Some(connection);
                        break;
                    }
                    // A reload may even come between a connection and its first request.
                    Ok(Outcome::NotProcessed) if !fresh || attempt < 2 => {
                        self.add(Count::AskedAgain)
                    }
                    Ok(Outcome::NotProcessed) => {
                        self.fault(format!("{}: not processed over HTTP/2", question.target));
                        break;
                    }
                    Err(error) => {
                        self.fault(format!("{} over HTTP/2: {error}", question.target));
                        break;
                    }
                }
            }
        }
    }

    /// Takes a large answer in small pieces.
    fn slow_client(&self) {
        let body = large().replace('\u{2028}', "\\u2028");
        let (right, fallback) = (format!("cb({body});"), format!("cb({FROM_APPLICATION});"));
        while !self.stop.load(Ordering::Relaxed)
            && self.next.load(Ordering::Relaxed) < self.plan.requests
        {
            let asked = self.now();
            let mut stream = connect(Ipv4Addr::LOCALHOST.into(), self.port, None).unwrap();
            stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
            stream
                .write_all(b"GET /large?callback=cb HTTP/1.0\r\nHost: localhost\r\n\r\n")
                .unwrap();
            let (mut bytes, mut piece) = (Vec::new(), [0; 8192]);
            loop {
                match stream.read(&mut piece) {
                    Ok(0) => break,
                    Ok(length) => bytes.extend_from_slice(&piece[..length]),
                    Err(error) => return self.fault(format!("slow client: {error}")),
                }
                thread::sleep(Duration::from_millis(20));
            }
            let question = Question {
                target: "/large".into(),
                headers: Vec::new(),
                right: right.clone(),
                fallback: Some(fallback.clone()),
                count: Count::Slow,
            };
            match http::parse(&bytes, false, true) {
                Ok(Some((answer, _))) => {
                    let server = answer.header("X-Server");
                    // Whatever was on its way when its memcached died is cut off, without an end that
                    // would let it run.
                    let cut = self.is_dead.load(Ordering::SeqCst)
                        || self.dead_until.load(Ordering::SeqCst) >= asked;
                    if answer.body != right.as_bytes() && cut && !answer.body.ends_with(b");") {
                        self.add(Count::Fallback);
                        continue;
                    }
                    self.judge(&question, asked, answer.status, &answer.body, server.as_deref());
                }
                other => self.fault(format!("slow client: {other:?}")),
            }
        }
    }
}

fn keeps(answer: &http::Response) -> bool {
    answer.complete && answer.header("Connection").is_none_or(|value| value != "close")
}

/// KiB of a process's memory that no file is behind, even if it still shares it with the process it was forked
/// from.
fn memory(pid: u32) -> Option<u64> {
    let rollup = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
    let line = rollup.lines().find_map(|line| line.strip_prefix("Anonymous:"))?;
    line.trim().trim_end_matches(" kB").trim().parse().ok()
}

/// The master and the largest of the workers, in KiB.
fn memories(nginx: &Nginx) -> (u64, u64) {
    let workers = nginx.worker_pids().into_iter().filter_map(memory).max().unwrap_or(0);
    (memory(nginx.pid()).unwrap_or(0), workers)
}

/// A worker of the second part: what it had in memory, in KiB, and how many requests it had answered.
#[derive(Default)]
struct Worker {
    memories: Vec<u64>,
    first_request: u64,
    last_request: u64,
}

impl Worker {
    fn requests(&self) -> u64 {
        self.last_request - self.first_request
    }

    /// KiB at the beginning and at the end. The least of a while counts: a worker has more while it is busy.
    fn ends(&self) -> (u64, u64) {
        let part = (self.memories.len() / 10).max(1);
        let least = |memories: &[u64]| memories.iter().copied().min().unwrap_or(0);
        (least(&self.memories[..part]), least(&self.memories[self.memories.len() - part..]))
    }

    /// Bytes that it has more.
    fn growth(&self) -> i64 {
        let (before, after) = self.ends();
        (after as i64 - before as i64) * 1024
    }
}

/// How many requests each worker has answered.
fn answered(nginx: &Nginx) -> BTreeMap<u32, u64> {
    let mut answered = BTreeMap::new();
    for line in std::fs::read_to_string(nginx.prefix().join(PIDS)).unwrap().lines() {
        // The last line may not be whole yet.
        if let Ok(pid) = line.parse() {
            *answered.entry(pid).or_default() += 1;
        }
    }
    answered
}

/// The workers, and what becomes of them until `is_over`.
fn watch(nginx: &Nginx, is_over: impl Fn() -> bool) -> BTreeMap<u32, Worker> {
    let mut workers: BTreeMap<u32, Worker> = BTreeMap::new();
    let before = answered(nginx);
    for pid in nginx.worker_pids() {
        let first_request = before.get(&pid).copied().unwrap_or(0);
        workers.insert(pid, Worker { first_request, ..Worker::default() });
    }
    loop {
        for (pid, worker) in &mut workers {
            worker.memories.extend(memory(*pid));
        }
        if is_over() {
            break;
        }
        thread::sleep(Duration::from_secs(1));
    }
    let after = answered(nginx);
    for (pid, worker) in &mut workers {
        worker.last_request = after.get(pid).copied().unwrap_or(0);
    }
    let pids: Vec<u32> = workers.keys().copied().collect();
    let mut now = nginx.worker_pids();
    now.sort_unstable();
    assert_eq!(now, pids, "these are other workers");
    workers
}

#[test]
fn nothing_fails_and_nothing_grows() {
    let plan = Plan::get();
    let mut servers: Vec<Memcached> = (0..3).map(|_| Memcached::start()).collect();
    servers.iter().for_each(fill);
    let h2_port = free_port();
    let nginx = start(&servers, h2_port);

    let mortal_port = servers[MORTAL].port();
    let soak = Soak {
        start: Instant::now(),
        port: nginx.port(),
        h2_port,
        mortal: format!("localhost:{mortal_port}"),
        next: AtomicU64::new(0),
        dead_until: AtomicU64::new(0),
        is_dead: AtomicBool::new(false),
        counts: std::array::from_fn(|_| AtomicU64::new(0)),
        faults: Mutex::default(),
        stop: AtomicBool::new(false),
        plan,
    };
    let reloads = AtomicU32::new(0);
    let samples: Mutex<Vec<(u64, u64, u64)>> = Mutex::default();
    let is_over = || {
        soak.next.load(Ordering::Relaxed) >= soak.plan.requests || soak.stop.load(Ordering::Relaxed)
    };

    let workers = thread::scope(|scope| {
        (0..CLIENTS).for_each(|_| drop(scope.spawn(|| soak.client())));
        (0..H2_CLIENTS).for_each(|_| drop(scope.spawn(|| soak.h2_client())));
        (0..SLOW_CLIENTS).for_each(|_| drop(scope.spawn(|| soak.slow_client())));
        let reloading = scope.spawn(|| {
            for reload in 1..=soak.plan.reloads {
                wait_until(&soak, reload, soak.plan.reloads + 1);
                if !is_over() {
                    nginx.reload();
                    reloads.fetch_add(1, Ordering::Relaxed);
                }
            }
        });
        scope.spawn(|| {
            while !is_over() {
                let (master, worker) = memories(&nginx);
                samples.lock().unwrap().push((soak.start.elapsed().as_secs(), master, worker));
                thread::sleep(Duration::from_secs(1));
                if soak.start.elapsed() > LIMIT {
                    soak.stop.store(true, Ordering::Relaxed);
                }
            }
        });
        for death in 1..=soak.plan.deaths {
            wait_until(&soak, death, soak.plan.deaths + 1);
            soak.is_dead.store(true, Ordering::SeqCst);
            servers[MORTAL].kill();
            thread::sleep(Duration::from_secs(2));
            servers[MORTAL] = Memcached::start_on(mortal_port);
            fill(&servers[MORTAL]);
            // Workers may take it for dead for so long yet.
            thread::sleep(FAIL_TIMEOUT * 2);
            soak.dead_until.store(soak.now(), Ordering::SeqCst);
            soak.is_dead.store(false, Ordering::SeqCst);
        }
        reloading.join().unwrap();
        // Workers of before end when their last client is served.
        while nginx.worker_pids().len() > WORKERS as usize && !is_over() {
            thread::sleep(Duration::from_millis(50));
        }
        thread::sleep(Duration::from_secs(soak.plan.warm_up));
        watch(&nginx, is_over)
    });

    report(&soak, &samples.lock().unwrap(), reloads.load(Ordering::Relaxed), &workers);
    let faults = soak.faults.lock().unwrap();
    assert!(
        faults.is_empty(),
        "{} faults, the first of them:\n{}",
        faults.len(),
        faults.join("\n")
    );
    assert!(!soak.stop.load(Ordering::Relaxed), "not done within {LIMIT:?}");
    assert_eq!(reloads.load(Ordering::Relaxed), soak.plan.reloads);
    for (count, what) in Count::ALL {
        assert!(soak.count(count) > 0 || matches!(count, Count::AskedAgain), "none {what}");
    }
    is_flat(&soak.plan, &samples.lock().unwrap());
    do_not_grow(&workers);
    nginx.check();
}

/// Waits for the time of `part` of `parts` equal parts of the restless part of the run.
fn wait_until(soak: &Soak, part: u32, parts: u32) {
    let at = Duration::from_secs(soak.plan.restless) * part / parts;
    while soak.start.elapsed() < at && !soak.stop.load(Ordering::Relaxed) {
        thread::sleep(Duration::from_millis(50));
    }
}

fn report(soak: &Soak, samples: &[(u64, u64, u64)], reloads: u32, workers: &BTreeMap<u32, Worker>) {
    let seconds = soak.start.elapsed().as_secs_f64();
    let requests = soak.next.load(Ordering::Relaxed).min(soak.plan.requests);
    println!(
        "{requests} requests in {seconds:.0} s, {reloads} reloads, {} deaths of a memcached",
        soak.plan.deaths
    );
    for (count, what) in Count::ALL {
        println!("{:9} {what}", soak.count(count));
    }
    println!("   second    master    worker   (KiB of anonymous memory; the largest worker)");
    for (second, master, worker) in
        samples.iter().step_by((samples.len() / 10).max(1)).chain(samples.last())
    {
        println!("{second:9} {master:9} {worker:9}");
    }
    let seconds = workers.values().map(|worker| worker.memories.len()).max().unwrap_or(0);
    println!(
        "   worker  requests    before     after   (KiB), in the last {seconds} s without a reload"
    );
    for (pid, worker) in workers {
        let (before, after) = worker.ends();
        let each = worker.growth() as f64 * 100_000.0 / worker.requests().max(1) as f64;
        let requests = worker.requests();
        println!("{pid:9} {requests:9} {before:9} {after:9}   {each:.0} bytes in 100,000 requests");
    }
}

/// Whether no process grew by the reloads, after the first minute. The highest of a stretch of samples counts, as
/// a worker has more while it is busy, and while two generations of them are there.
fn is_flat(plan: &Plan, samples: &[(u64, u64, u64)]) {
    let warm: Vec<_> =
        samples.iter().filter(|(second, _, _)| (60..plan.restless).contains(second)).collect();
    if warm.len() < 60 {
        return;
    }
    let highest = |part: &[&(u64, u64, u64)]| {
        (part.iter().map(|s| s.1).max().unwrap(), part.iter().map(|s| s.2).max().unwrap())
    };
    let half = warm.len() / 2;
    let (first, last) = (highest(&warm[..half]), highest(&warm[half..]));
    let grew = |before: u64, after: u64| after > before + before / 20 + 256;
    assert!(!grew(first.0, last.0), "the master grew from {} to {} KiB", first.0, last.0);
    assert!(!grew(first.1, last.1), "the workers grew from {} to {} KiB", first.1, last.1);
}

/// Whether no worker of the second part grew by more than a byte a request and what its heap may grow by once. The
/// least that malloc can lose is 32 bytes; a tenth of the requests or more are of each kind.
fn do_not_grow(workers: &BTreeMap<u32, Worker>) {
    assert_eq!(workers.len(), WORKERS as usize);
    let requests: u64 = workers.values().map(Worker::requests).sum();
    assert!(requests > 0, "no worker answered anything");
    // What a few requests take is what each worker takes once.
    if requests < 100_000 {
        return;
    }
    for (pid, worker) in workers {
        let (before, after) = worker.ends();
        let limit = worker.requests() as i64 + ONCE;
        assert!(worker.growth() < limit, "worker {pid} grew from {before} to {after} KiB");
    }
}
