//! Names that nginx resolves at run time, in an nginx that can (1.27.3).

use std::net::{IpAddr, Ipv4Addr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::cluster::{self, Client, missed, places};
use crate::fake::{Fake, found};
use crate::support::nginx::{Nginx, version};
use crate::support::process::wait_until;

const KETAMA: &str = "ketama_points=150";

/// What a name server knows of one name; it has no other.
#[derive(Clone, Default)]
struct Zone {
    addresses: Vec<Ipv4Addr>,
    /// The port of `_memcached._tcp` of the name, at `node` of the name.
    service: Option<u16>,
}

/// A name server on a free port of 127.0.0.1; it ends with this value.
struct NameServer {
    port: u16,
    zone: Arc<Mutex<Zone>>,
    ending: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl NameServer {
    fn start(zone: Zone) -> NameServer {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        socket.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
        let port = socket.local_addr().unwrap().port();
        let (zone, ending) = (Arc::new(Mutex::new(zone)), Arc::new(AtomicBool::new(false)));
        let (known, end) = (Arc::clone(&zone), Arc::clone(&ending));
        let thread = thread::spawn(move || {
            let mut query = [0; 512];
            while !end.load(Ordering::SeqCst) {
                if let Ok((length, from)) = socket.recv_from(&mut query) {
                    let _ = socket.send_to(&answer(&query[..length], &known.lock().unwrap()), from);
                }
            }
        });
        NameServer { port, zone, ending, thread: Some(thread) }
    }

    fn set(&self, addresses: &[Ipv4Addr]) {
        self.zone.lock().unwrap().addresses = addresses.to_vec();
    }
}

impl Drop for NameServer {
    fn drop(&mut self) {
        self.ending.store(true, Ordering::SeqCst);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// The answer to a query of one question (RFC 1035, 4.1; RFC 2782).
fn answer(query: &[u8], zone: &Zone) -> Vec<u8> {
    const A: u8 = 1;
    const SRV: u8 = 33;
    let end = query[12..].iter().position(|&byte| byte == 0).unwrap() + 12 + 1;
    let (question, kind) = (&query[12..end + 4], query[end + 1]);

    let records: Vec<Vec<u8>> = match (kind, zone.service) {
        (A, _) => zone.addresses.iter().map(|address| address.octets().to_vec()).collect(),
        (SRV, Some(port)) => {
            // Priority and weight, the port, and `node` in front of the name without the two labels of
            // the service.
            let name = &query[12..end];
            let rest = name.iter().skip(1 + usize::from(name[0]));
            let rest: Vec<u8> = rest.copied().collect();
            let rest = &rest[1 + usize::from(rest[0])..];
            vec![[&[0, 1, 0, 1][..], &port.to_be_bytes(), b"\x04node", rest].concat()]
        }
        _ => Vec::new(),
    };

    let no_such_name = if records.is_empty() { 3 } else { 0 };
    let mut answer = query[..2].to_vec();
    answer.extend([0x81, 0x80 | no_such_name, 0, 1, 0, records.len() as u8, 0, 0, 0, 0]);
    answer.extend(question);
    for record in records {
        // The name of the question, the kind, IN, one second to live.
        answer.extend([0xc0, 12, 0, kind, 0, 1, 0, 0, 0, 1, 0, record.len() as u8]);
        answer.extend(record);
    }
    answer
}

/// Fakes at two addresses, on one port, that say where they are.
fn two() -> [(Ipv4Addr, Fake); 2] {
    let fake = |last, port| {
        let host = Ipv4Addr::new(127, 0, 0, last);
        let value = host.to_string();
        (host, Fake::start(IpAddr::V4(host), port, move |line| found(line, &value)).unwrap())
    };
    let first = fake(2, 0);
    let port = first.1.port();
    [first, fake(3, port)]
}

fn is_there() -> bool {
    let is_there = version().unwrap() >= [1, 27, 3];
    if !is_there {
        println!("this nginx cannot resolve names at run time");
    }
    is_there
}

fn start(resolver: &NameServer, servers: &str, workers: u32) -> Nginx {
    Nginx::builder()
        .workers(workers)
        .http(&format!("resolver 127.0.0.1:{} valid=1s ipv6=off;", resolver.port))
        .http(&format!("upstream m {{ zone z 512k; memcached_hash {KETAMA}; {servers} }}"))
        .server(cluster::LOCATION)
        .root_location(false)
        .start()
}

#[test]
fn addresses_come_and_go_and_the_server_stays() {
    if !is_there() {
        return;
    }
    let fakes = two();
    let fixed =
        Fake::start(IpAddr::V4(Ipv4Addr::LOCALHOST), 0, |line| found(line, "fixed")).unwrap();
    let name = format!("mc.example:{}", fakes[0].1.port());
    let fixed = format!("127.0.0.1:{}", fixed.port());
    let other = "other.example:1";

    let keys: Vec<_> = (0..60).map(|number| format!("/k{number}")).collect();
    let names = [&*fixed, &format!("unix:{name}"), &format!("unix:{other}")];
    let at = places(KETAMA, &names, &keys);
    assert!((0..3).all(|server| at.contains(&server)));
    let own = keys.iter().zip(&at).find(|(_, server)| **server == 1).unwrap().0;

    let resolver = NameServer::start(Zone { addresses: vec![fakes[0].0], service: None });
    let nginx = start(
        &resolver,
        &format!("server {fixed}; server {name} resolve; server {other} resolve; keepalive 8;"),
        2,
    );
    let becomes = |addresses: &[Ipv4Addr], expected: &str| {
        resolver.set(addresses);
        let became = wait_until(Duration::from_secs(10), || {
            // A connection that idles is closed at a reload.
            let answer = Client::of(&nginx).get(own);
            match expected {
                "" => answer.status == 404 && missed(&answer).addresses == ["m"],
                _ => answer.text() == expected,
            }
        });
        assert!(became, "{addresses:?} did not become {expected:?}\n{}", nginx.log_tail());
    };

    becomes(&[fakes[0].0], "127.0.0.2");
    // All keys are at their own servers, in the order of the lines, not of the addresses.
    let mut client = Client::of(&nginx);
    for (key, server) in keys.iter().zip(&at) {
        let answer = client.get(key);
        match server {
            0 => assert_eq!(answer.text(), "fixed"),
            1 => assert_eq!(answer.text(), "127.0.0.2"),
            _ => assert_eq!(missed(&answer).server, other),
        }
    }
    becomes(&[fakes[1].0], "127.0.0.3");
    becomes(&[], "");
    becomes(&[fakes[1].0, fakes[0].0], "127.0.0.3");
    becomes(&[fakes[0].0], "127.0.0.2");
    for (key, server) in keys.iter().zip(&at) {
        if *server == 0 {
            assert_eq!(Client::of(&nginx).get(key).text(), "fixed");
        }
    }
    nginx.reload();
    becomes(&[fakes[0].0], "127.0.0.2");
    nginx.check();
}

#[test]
fn services_are_servers_by_the_name_in_the_configuration() {
    if !is_there() {
        return;
    }
    let fakes = two();
    let port = fakes[0].1.port();
    let fixed =
        Fake::start(IpAddr::V4(Ipv4Addr::LOCALHOST), 0, |line| found(line, "fixed")).unwrap();
    let fixed = format!("127.0.0.1:{}", fixed.port());
    let keys: Vec<_> = (0..60).map(|number| format!("/k{number}")).collect();
    let at = places(KETAMA, &["unix:mc.example", &*fixed], &keys);
    assert!((0..2).all(|server| at.contains(&server)));

    let resolver = NameServer::start(Zone { addresses: vec![fakes[1].0], service: Some(port) });
    let nginx = start(
        &resolver,
        &format!("server mc.example service=memcached resolve; server {fixed};"),
        1,
    );
    let mut client = Client::of(&nginx);
    let own = keys.iter().zip(&at).find(|(_, server)| **server == 0).unwrap().0;
    let resolved = wait_until(Duration::from_secs(10), || client.get(own).status == 200);
    assert!(resolved, "{}", nginx.log_tail());
    for (key, &server) in keys.iter().zip(&at) {
        let answer = client.get(key);
        assert_eq!(answer.text(), ["127.0.0.3", "fixed"][server]);
        assert_eq!(answer.header("X-Server").as_deref(), Some(["mc.example", &*fixed][server]));
    }
    nginx.check();
}

#[test]
fn without_a_zone_nginx_refuses_to_resolve() {
    if !is_there() {
        return;
    }
    let (good, said) = Nginx::builder()
        .http("resolver 127.0.0.1:1; upstream m { memcached_hash; server mc.example resolve; }")
        .test_config();
    assert!(!good && said.contains("requires upstream \"m\""), "{said}");
}
