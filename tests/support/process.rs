//! Child processes that end with the test process, whatever ends that.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, kill_process, set_parent_process_death_signal, test_kill_process};

pub use rustix::process::Signal;

type Request = (Command, Sender<io::Result<Child>>);

/// Starts `command`. The kernel sends it SIGTERM when this process dies, even by SIGKILL.
pub fn spawn(command: Command) -> io::Result<Child> {
    // "When the parent dies" means the thread that forked (prctl(2), PR_SET_PDEATHSIG), and a test's own
    // thread ends with the test: so all children are forked by one thread that stays.
    static SPAWNER: OnceLock<Mutex<Sender<Request>>> = OnceLock::new();

    let spawner = SPAWNER.get_or_init(|| {
        let (requests, queue) = channel::<Request>();
        thread::spawn(move || {
            for (command, answer) in queue {
                // The other side waits for exactly one answer.
                let _ = answer.send(spawn_here(command));
            }
        });
        Mutex::new(requests)
    });

    let (answer, child) = channel();
    spawner.lock().unwrap().send((command, answer)).expect("the spawner thread runs for ever");
    child.recv().expect("the spawner answers every request")
}

fn spawn_here(mut command: Command) -> io::Result<Child> {
    // SAFETY: the closure runs in the forked child and makes one system call; it takes no lock and allocates
    // nothing.
    unsafe {
        command.pre_exec(|| Ok(set_parent_process_death_signal(Some(Signal::TERM))?));
    }
    command.spawn()
}

/// Sends `signal` to the process `pid`; false if there is no such process any more.
pub fn signal(pid: u32, signal: Signal) -> bool {
    pid_of(pid).is_some_and(|pid| kill_process(pid, signal).is_ok())
}

/// Whether the process `pid` exists.
pub fn is_alive(pid: u32) -> bool {
    pid_of(pid).is_some_and(|pid| test_kill_process(pid).is_ok())
}

/// Whether SIGSTOP has stopped all threads of the process `pid`.
pub fn is_stopped(pid: u32) -> bool {
    let Ok(threads) = std::fs::read_dir(format!("/proc/{pid}/task")) else { return false };
    threads.flatten().all(|thread| {
        // pid (comm) state ...
        let stat = std::fs::read_to_string(thread.path().join("stat")).unwrap_or_default();
        stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('T'))
    })
}

fn pid_of(pid: u32) -> Option<Pid> {
    i32::try_from(pid).ok().and_then(Pid::from_raw)
}

/// The processes whose parent is `pid`.
pub fn children_of(pid: u32) -> Vec<u32> {
    let parent_of = |candidate: u32| -> Option<u32> {
        let stat = std::fs::read_to_string(format!("/proc/{candidate}/stat")).ok()?;
        // pid (comm) state ppid ...: the command may hold spaces and brackets itself.
        stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
    };

    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(|&candidate| parent_of(candidate) == Some(pid))
        .collect()
}

/// Ends `child`: each signal in turn with the time it has to work, SIGKILL last.
pub fn stop(child: &mut Child, signals: &[(Signal, Duration)]) -> io::Result<ExitStatus> {
    for &(each, patience) in signals {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        signal(child.id(), each);
        if let Some(status) = wait_for_exit(child, patience)? {
            return Ok(status);
        }
    }
    child.kill()?;
    child.wait()
}

/// Waits until `child` ends, or `None` after `patience`.
pub fn wait_for_exit(child: &mut Child, patience: Duration) -> io::Result<Option<ExitStatus>> {
    let mut status = child.try_wait()?;
    wait_until(patience, || match child.try_wait() {
        Ok(now) => {
            status = now;
            now.is_some()
        }
        Err(_) => true,
    });
    Ok(status)
}

/// Asks `done` again and again until it says yes; false when it did not within `patience`.
pub fn wait_until(patience: Duration, mut done: impl FnMut() -> bool) -> bool {
    let deadline = Instant::now() + patience;
    loop {
        if done() {
            return true;
        }
        if Instant::now() >= deadline {
            return false;
        }
        thread::sleep(Duration::from_millis(3));
    }
}
