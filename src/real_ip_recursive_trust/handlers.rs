//! What nginx calls for a request.

use core::cell::Cell;

use ngx::core::Status;
use ngx::ffi::{ngx_http_request_t, ngx_int_t, ngx_str_t, ngx_variable_value_t};
use ngx::http::{HTTPStatus, HttpModuleLocationConf, HttpModuleMainConf, Request};

use super::conf::Rules;
use super::logic;
use super::module::RealIpRecursiveTrust;
use crate::nginx::addr::{client, set_client};
use crate::nginx::headers::{Few, lines};
use crate::nginx::kept::{self, KeepsState};
use crate::nginx::realip::{Origin, Replacement};
use crate::nginx::request::RequestExt;
use crate::nginx::variable;

/// Walks on where realip stopped. Runs right after realip in each of its phases.
pub(super) unsafe extern "C" fn walk(r: *mut ngx_http_request_t) -> ngx_int_t {
    // SAFETY: nginx passes a live request.
    let request = unsafe { Request::from_ngx_http_request(r) };
    match walk_once(request) {
        Ok(()) => Status::NGX_DECLINED.into(),
        Err(OutOfMemory) => Status::from(HTTPStatus::INTERNAL_SERVER_ERROR).into(),
    }
}

/// A pool had no memory left.
struct OutOfMemory;

/// What is known about a request whose address realip replaced.
#[derive(Clone, Copy)]
pub(crate) struct Seen {
    replacement: Replacement,
    /// By which settings realip did so.
    origin: Option<Origin>,
    /// How many entries were passed over, once the header was walked.
    passed: Option<usize>,
}

/// Kept for the main request: all its subrequests have the same connection, and so the same address.
impl KeepsState for RealIpRecursiveTrust {
    type State = Cell<Option<Seen>>;
}

fn seen(request: &Request) -> Result<Option<Seen>, OutOfMemory> {
    let state = kept::find::<RealIpRecursiveTrust>(request.main()).map_err(|_| OutOfMemory)?;
    Ok(state.and_then(Cell::get))
}

fn walk_once(request: &Request) -> Result<(), OutOfMemory> {
    let Some(conf) = RealIpRecursiveTrust::location_conf(request) else { return Ok(()) };
    let seen = match seen(request)? {
        None => match replacement(request) {
            None => return Ok(()),
            Some(replacement) => Seen { replacement, origin: conf.origin, passed: None },
        },
        // A location may have realip read another header, or believe other peers, than the server did
        // when realip replaced the address: then nobody has vouched for what would be read here.
        Some(seen) if seen.passed.is_some() || seen.origin != conf.origin => return Ok(()),
        Some(seen) => seen,
    };
    let passed = match &conf.rules {
        None => None,
        Some(rules) => Some(walk_on(request, rules, seen.replacement)?),
    };
    let state = kept::find_or_create::<RealIpRecursiveTrust>(request.main());
    state.map_err(|_| OutOfMemory)?.set(Some(Seen { passed, ..seen }));
    Ok(())
}

fn replacement(request: &Request) -> Option<Replacement> {
    RealIpRecursiveTrust::main_conf(request)?.realip.as_ref()?.replacement(request)
}

/// Walks the header, makes the request come from where that ends, and says how many entries were
/// passed over.
fn walk_on(
    request: &Request,
    rules: &Rules,
    replacement: Replacement,
) -> Result<usize, OutOfMemory> {
    let mut few = Few::default();
    let lines = lines(request, &rules.header, &mut few).ok_or(OutOfMemory)?;
    let lines = lines.iter().map(ngx_str_t::as_bytes);
    let walk = logic::walk(lines, rules.hops, |addr| rules.trusted.contains(addr));

    match walk.client {
        None => replacement.undo(request),
        Some(entry) if client(request) == Some((entry.addr, entry.port)) => {}
        Some(entry) => set_client(request, entry.addr, entry.port).ok_or(OutOfMemory)?,
    }
    Ok(walk.passed)
}

/// `$realip_trust_hops`: how many entries were passed over, or nothing if the header was not walked.
pub(super) unsafe extern "C" fn realip_trust_hops(
    r: *mut ngx_http_request_t,
    value: *mut ngx_variable_value_t,
    _data: usize,
) -> ngx_int_t {
    // SAFETY: nginx passes a live request, and the value to be filled.
    let (request, value) = unsafe { (Request::from_ngx_http_request(r), &mut *value) };
    match seen(request).ok().flatten().and_then(|seen| seen.passed) {
        Some(passed) => variable::answer_number(request, value, passed).into(),
        None => variable::answer(value, None).into(),
    }
}
