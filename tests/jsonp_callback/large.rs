//! Large answers: memory does not grow with them.

use std::fs::File;
use std::io::{Read, Write};
use std::net::Ipv4Addr;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::proxy::{ESCAPED, SEPARATOR};
use crate::support::http::{connect, find};
use crate::support::nginx::{Builder, Nginx, slowness};

/// The client takes this much, and then waits a little.
const STEP: usize = 512 * 1024;

/// How much more memory than at the beginning, in kB.
const GROWTH: u64 = 2048;

/// The resident memory of a process without the pages of files, in kB.
fn memory(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

fn cpu_ticks(pid: u32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let (_, rest) = stat.rsplit_once(')').unwrap();
    rest.split_whitespace().skip(11).take(2).map(|ticks| ticks.parse::<u64>().unwrap()).sum()
}

struct Download {
    length: u64,
    first: Vec<u8>,
    last: Vec<u8>,
    /// The least and the most memory of the worker, after the first megabytes.
    memory: (u64, u64),
    /// The worker's, in hundredths of a second.
    cpu: u64,
}

/// Asks for `target` and takes it slowly, over HTTP/1.0, where the body is what comes.
fn download(nginx: &Nginx, target: &str, pause: Duration) -> Download {
    let worker = nginx.worker_pids()[0];
    let cpu = cpu_ticks(worker);
    let mut stream = connect(Ipv4Addr::LOCALHOST.into(), nginx.port(), None).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20) * slowness())).unwrap();
    stream.write_all(format!("GET {target} HTTP/1.0\r\n\r\n").as_bytes()).unwrap();

    let mut first = Vec::new();
    let mut buffer = vec![0; STEP];
    let head = loop {
        let length = stream.read(&mut buffer).unwrap();
        assert!(length > 0, "no answer: {}", String::from_utf8_lossy(&first));
        first.extend_from_slice(&buffer[..length]);
        if let Some(end) = find(&first, b"\r\n\r\n") {
            break end + 4;
        }
    };
    assert!(first.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&first[..head]));
    let mut body = first.split_off(head);
    let mut length = body.len() as u64;
    let mut last = body.clone();
    let (mut least, mut most) = (u64::MAX, 0);
    loop {
        let mut taken = 0;
        while taken < STEP {
            let read = stream.read(&mut buffer[taken..]).unwrap();
            if read == 0 {
                break;
            }
            taken += read;
        }
        length += taken as u64;
        if body.len() < 64 {
            body.extend_from_slice(&buffer[..taken.min(64)]);
        }
        last.extend_from_slice(&buffer[..taken]);
        last.drain(..last.len().saturating_sub(64));
        if taken < STEP {
            break;
        }
        if length > 16 * STEP as u64 {
            let now = memory(worker);
            (least, most) = (least.min(now), most.max(now));
        }
        std::thread::sleep(pause);
    }
    body.truncate(64);
    Download { length, first: body, last, memory: (least, most), cpu: cpu_ticks(worker) - cpu }
}

/// Writes `unit` so often into a file.
fn write_file(path: &Path, unit: &[u8], times: usize) {
    let block = unit.repeat(1024);
    let mut file = File::create(path).unwrap();
    for _ in 0..times / 1024 {
        file.write_all(&block).unwrap();
    }
}

fn builder() -> Builder {
    let builder = Nginx::builder();
    let port = builder.port();
    builder
        .server(&format!(
            "default_type   application/json;
             jsonp_callback callback;
             location /plain/ {{ jsonp_callback off; alias html/; }}
             location /file/ {{ alias html/; sendfile on; }}
             location /read/ {{ alias html/; sendfile off; output_buffers 2 32k; }}
             location /raw/ {{ alias html/; sendfile on; jsonp_callback_escape off; }}
             location /proxy/ {{
                 proxy_max_temp_file_size 0;
                 proxy_pass http://127.0.0.1:{port}/plain/;
             }}
             location /unbuffered/ {{
                 proxy_buffering off;
                 proxy_pass http://127.0.0.1:{port}/plain/;
             }}"
        ))
        .root_location(false)
}

const SOURCES: [&str; 5] = ["file", "read", "raw", "proxy", "unbuffered"];

fn assert_flat(source: &str, download: &Download) {
    let (least, most) = download.memory;
    // valgrind's own memory is not nginx's.
    if slowness() == 1 {
        assert!(most - least <= GROWTH, "{source}: from {least} kB to {most} kB");
    }
}

#[test]
fn f13_a_gigabyte_and_a_slow_client() {
    let size: u64 = if slowness() == 1 { 1 << 30 } else { 1 << 26 };
    let nginx = builder().start();
    // No disk is filled: a file of nothing but a hole reads as zeros.
    File::create(nginx.prefix().join("html/hole")).unwrap().set_len(size).unwrap();
    for source in ["file", "unbuffered"] {
        let started = Instant::now();
        let download =
            download(&nginx, &format!("/{source}/hole?callback=cb"), Duration::from_millis(1));
        let taken = started.elapsed();
        assert_eq!(download.length, size + 5, "{source}");
        assert!(download.first.starts_with(b"cb(\0") && download.last.ends_with(b"\0);"));
        assert_flat(source, &download);
        // Waiting for the client is not work: what there is to do takes seconds, whatever the client does.
        assert!(taken < Duration::from_secs(120) * slowness(), "{source}: {taken:?}");
        assert!(download.cpu < 3000 * u64::from(slowness()), "{source}: {} ticks", download.cpu);
    }
    nginx.check();
}

#[test]
fn f13_separators_all_along() {
    let times = if slowness() == 1 { 2_000_000 } else { 200_000 } / 1024 * 1024;
    let unit = [b"0123456789abcdef", SEPARATOR, b"-", SEPARATOR].concat();
    let nginx = builder().start();
    write_file(&nginx.prefix().join("html/separators"), &unit, times);
    for source in SOURCES {
        let target = format!("/{source}/separators?callback=cb");
        let download = download(&nginx, &target, Duration::from_millis(1));
        let more = if source == "raw" { 0 } else { 2 * (ESCAPED.len() - SEPARATOR.len()) };
        assert_eq!(download.length as usize, times * (unit.len() + more) + 5, "{source}");
        assert!(download.first.starts_with(b"cb(0123456789abcdef"), "{source}");
        let end: &[u8] = if source == "raw" { b"\xe2\x80\xa8);" } else { b"\\u2028-\\u2028);" };
        assert!(download.last.ends_with(end), "{source}");
        assert_flat(source, &download);
    }
    nginx.check();
}

#[test]
fn f13_a_client_that_is_slow() {
    let times = 400_000 / 1024 * 1024;
    let unit = [b"0123456789abcdef", SEPARATOR].concat();
    let nginx = builder().start();
    write_file(&nginx.prefix().join("html/slow"), &unit, times);
    for source in SOURCES {
        let target = format!("/{source}/slow?callback=cb");
        let download = download(&nginx, &target, Duration::from_millis(50));
        let more = if source == "raw" { 0 } else { ESCAPED.len() - SEPARATOR.len() };
        assert_eq!(download.length as usize, times * (unit.len() + more) + 5, "{source}");
        // Less than half of the time the client takes is work.
        assert!(download.cpu < 100 * u64::from(slowness()), "{source}: {} ticks", download.cpu);
    }
    nginx.check();
}

/// All of a buffer becomes something else, and nginx is not to read the next one for a client that does not read.
#[test]
fn nothing_but_separators_for_a_client_that_does_not_read() {
    let times = 4_000_000 / 1024 * 1024;
    let nginx = builder().start();
    write_file(&nginx.prefix().join("html/dense"), SEPARATOR, times);
    let worker = nginx.worker_pids()[0];
    for source in SOURCES {
        let before = memory(worker);
        let mut stream = connect(Ipv4Addr::LOCALHOST.into(), nginx.port(), None).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20) * slowness())).unwrap();
        stream
            .write_all(format!("GET /{source}/dense?callback=cb HTTP/1.0\r\n\r\n").as_bytes())
            .unwrap();
        std::thread::sleep(Duration::from_millis(1500));
        let after = memory(worker);
        if slowness() == 1 {
            assert!(after <= before + GROWTH, "{source}: from {before} kB to {after} kB");
        }
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap();
        let head = find(&bytes, b"\r\n\r\n").unwrap() + 4;
        let unit = if source == "raw" { SEPARATOR } else { ESCAPED };
        let body = &bytes[head..];
        assert_eq!(body.len(), times * unit.len() + 5, "{source}");
        assert!(body[3..body.len() - 2].chunks(unit.len()).all(|chunk| chunk == unit), "{source}");
    }
    nginx.check();
}
