//! What a real client stored, nginx finds: a pool of three memcached servers filled by the client that an
//! application would use, and nginx with the line of `memcached_hash` for it.
//!
//! Each key is stored once, on one server, so a key that nginx looks for on another one is a miss.
//! `scripts/clients.sh` installs the clients. One that is not there is named, and counted as ignored.

// As in tests/support: a test stops at the first thing that is not as it should be.
#![allow(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::unwrap_used)]

#[path = "../support/mod.rs"]
mod support;

mod cases;
mod keys;
mod pool;
mod programs;
mod twemproxy;

use std::process::ExitCode;
use std::thread;

use libtest_mimic::{Arguments, Trial};

use cases::Case;
use pool::Pool;
use programs::{Client, Presence};
use support::{Result, cluster};

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    libtest_mimic::run(&arguments, trials()).exit_code()
}

fn trials() -> Vec<Trial> {
    let asked = programs::CLIENTS.map(|client| (client, thread::spawn(move || client.presence())));

    let control = Trial::test("a key on another server is a miss", || {
        a_key_on_another_server_is_a_miss().map_err(Into::into)
    });
    let mut trials = vec![control];
    for (client, presence) in asked {
        match presence.join().unwrap_or_else(|_| Presence::Broken("it panicked".into())) {
            Presence::Version(version) => trials.extend(trials_of(client, &version)),
            Presence::Missing(reason) => {
                let name = format!("{} ({})", client.name, reason);
                trials.push(Trial::test(name, || Ok(())).with_ignored_flag(true));
            }
            Presence::Broken(reason) => {
                trials.push(Trial::test(client.name, || Err(reason.into())));
            }
        }
    }
    trials
}

fn trials_of(client: Client, version: &str) -> Vec<Trial> {
    let cases = cases::cases().into_iter().filter(|case| case.client == client.name);
    cases
        .map(|case| {
            let name = format!("{} {version}: {case}", client.name);
            let left_out = case.pool.is_ipv6() && !pool::has_ipv6();
            let trial = Trial::test(name, move || run(client, &case).map_err(Into::into));
            trial.with_ignored_flag(left_out)
        })
        .collect()
}

/// Lets the client fill a pool, and asks nginx for every key.
fn run(client: Client, case: &Case) -> Result<()> {
    let pool = Pool::start(case.pool, case.weights)?;
    let keys = keys::keys(case.keys);
    client.fill(case, &pool, &keys)?;

    let stored = pool.items();
    if stored.iter().sum::<u64>() != keys.len() as u64 || stored.contains(&0) {
        return Err(format!("{} keys became {stored:?} on the servers", keys.len()));
    }

    let missed = missed(case, &pool, &keys)?;
    match missed.first() {
        None => Ok(()),
        Some(first) => Err(format!("{} keys are not found; {first}", missed.len())),
    }
}

/// Asks nginx for the keys, and says of each that is not found what was answered.
fn missed(case: &Case, pool: &Pool, keys: &[String]) -> Result<Vec<String>> {
    let nginx = cluster::builder(case.parameters, &pool.lines(), "").try_start()?;
    let mut client = cluster::Client::of(&nginx);
    let mut missed = Vec::new();
    for key in keys {
        let answer = client.get_in(case.namespace, keys::asked_for(key));
        if answer.status != 200 || answer.text() != format!("{} {key}", case.tag()) {
            let answered: String = answer.text().chars().take(200).collect();
            missed.push(format!("{key}: {} {answered}", answer.status));
        }
    }
    nginx.check();
    Ok(missed)
}

fn a_key_on_another_server_is_a_miss() -> Result<()> {
    let case = Case::new("test", "default", "client=gomemcache");
    let pool = Pool::start(case.pool, case.weights)?;
    let keys = keys::keys(case.keys);
    for key in &keys {
        pool.servers[0].try_set(key.as_bytes(), 0, format!("{} {key}", case.tag()).as_bytes())?;
    }
    let missed = missed(&case, &pool, &keys)?.len();
    // Two thirds of them.
    if (150..250).contains(&missed) { Ok(()) } else { Err(format!("{missed} were missed")) }
}
