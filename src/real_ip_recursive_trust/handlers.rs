//! What nginx calls for a request.

use ngx::core::Status;
use ngx::ffi::{ngx_http_request_t, ngx_int_t, ngx_str_t, ngx_variable_value_t};
use ngx::http::{HTTPStatus, HttpModuleLocationConf, HttpModuleMainConf, Request};

use super::conf::Rules;
use super::logic;
use super::module::RealIpRecursiveTrust;
use crate::nginx::addr::{client, set_client};
use crate::nginx::headers::{Few, lines};
use crate::nginx::realip::{Origin, Replacement};
use crate::nginx::request::{Keeps, RequestExt};
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

impl Keeps for RealIpRecursiveTrust {
    type Kept = Seen;
}

fn walk_once(request: &mut Request) -> Result<(), OutOfMemory> {
    let Some(conf) = RealIpRecursiveTrust::location_conf(request) else { return Ok(()) };
    let seen = match request.kept::<RealIpRecursiveTrust>() {
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
    request.keep::<RealIpRecursiveTrust>(Seen { passed, ..seen }).ok_or(OutOfMemory)
}

fn replacement(request: &Request) -> Option<Replacement> {
    RealIpRecursiveTrust::main_conf(request)?.realip.as_ref()?.replacement(request)
}

/// Walks the header, makes the request come from where that ends, and says how many entries were
/// passed over.
fn walk_on(
    request: &mut Request,
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
    match request.kept::<RealIpRecursiveTrust>().and_then(|seen| seen.passed) {
        Some(passed) => variable::answer_number(request, value, passed).into(),
        None => variable::answer(value, None).into(),
    }
}
