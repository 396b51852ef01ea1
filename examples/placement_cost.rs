//! What `memcached_hash` costs without nginx: instructions of a look-up, counted by valgrind
//! (callgrind) as the difference of a run and one twice as long, and the time to make the points.
//!
//! `cargo run --release --no-default-features --example placement_cost`

#![allow(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::unwrap_used)]

use std::env;
use std::hint::black_box;
use std::process::Command;
use std::time::{Duration, Instant};

use ngx_cachefront::memcached_hash::logic::{Key, Params, Placement, Server, clients};

const LOOK_UPS: u64 = 2_000;

/// 16 bytes each.
const KEYS: usize = 1024;

fn main() {
    let args: Vec<_> = env::args().collect();
    match args.get(1).map(String::as_str) {
        Some("--look-ups") => look_up(&args[2], args[3].parse().unwrap(), args[4].parse().unwrap()),
        _ => report(),
    }
}

fn report() {
    let ketama = "ketama_points=150".to_owned();
    let others = clients::parameters().map(|(client, _)| format!("client={client}"));
    let more = [
        "client=libmemcached distribution=consistent",
        "client=libmemcached distribution=ketama_weighted",
        "client=php_memcache hash_strategy=standard",
        "client=spymemcached locator=ketama",
        "client=twemproxy distribution=modula",
    ];
    let more = more.into_iter().map(str::to_owned);

    println!("{:50} {:>9} {:>11} {:>11}", "", "ms to make", "instructions per look-up,", "");
    println!("{:50} {:>9} {:>11} {:>11}", "", "1,000", "3 servers", "1,000");
    for parameters in [ketama].into_iter().chain(others).chain(more) {
        println!(
            "{parameters:50} {:>9.1} {:>11} {:>11}",
            time_to_make(&parameters, 1000).as_secs_f64() * 1000.0,
            instructions(&parameters, 3),
            instructions(&parameters, 1000),
        );
    }
}

fn make(parameters: &str, servers: usize) -> Placement {
    let names: Vec<_> = (0..servers)
        .map(|server| format!("10.0.{}.{}:11211", server / 250, server % 250))
        .collect();
    let servers = names.iter().map(|name| Server { name: name.as_bytes(), weight: 1 });
    let params = Params::parse(parameters.split(' ').map(str::as_bytes)).unwrap();
    params.build(&servers.collect::<Vec<_>>()).unwrap()
}

/// The least of some tries.
fn time_to_make(parameters: &str, servers: usize) -> Duration {
    let tries = (0..5).map(|_| {
        let start = Instant::now();
        black_box(make(parameters, servers));
        start.elapsed()
    });
    tries.min().unwrap()
}

/// Looks keys up, or only reads them if there are no servers.
fn look_up(parameters: &str, servers: usize, times: u64) {
    let placement = (servers > 0).then(|| make(parameters, servers));
    let keys: Vec<_> = (0..KEYS).map(|key| format!("/page/{key:010}")).collect();
    for key in keys.iter().cycle().take(times as usize) {
        let key = black_box(Key { wire: key.as_bytes(), namespace_len: 0 });
        if let Some(placement) = &placement {
            black_box(placement.server(key));
        }
    }
}

/// What a look-up takes.
fn instructions(parameters: &str, servers: usize) -> u64 {
    difference(parameters, servers) - difference(parameters, 0)
}

/// What a turn of the loop takes: the difference of some turns and twice as many.
fn difference(parameters: &str, servers: usize) -> u64 {
    let count = |times: u64| {
        let output = Command::new("valgrind")
            .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
            .arg(env::current_exe().unwrap())
            .args(["--look-ups", parameters, &servers.to_string(), &times.to_string()])
            .output()
            .unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        let collected = text.lines().find_map(|line| line.split_once("Collected : ")).unwrap();
        collected.1.trim().parse::<u64>().unwrap()
    };
    (count(2 * LOOK_UPS) - count(LOOK_UPS)) / LOOK_UPS
}
