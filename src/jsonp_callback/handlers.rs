//! nginx's callbacks: the filters and the variables.

use core::ptr::NonNull;

use ngx::core::Status;
use ngx::ffi::{ngx_chain_t, ngx_http_request_t, ngx_int_t, ngx_variable_value_t};
use ngx::http::{HttpModule, Request};

use super::conf::{Invalid, LocConf};
use super::logic::callback::{self, Callback, MAX_LEN};
use super::logic::{args, content_type};
use super::module::JsonpCallback;
use super::wrapping::Wrapping;
use crate::nginx::chain::{Chain, buffers};
use crate::nginx::filter::{BodyFilter, HeaderFilter, Next};
use crate::nginx::pool::PoolExt;
use crate::nginx::request::RequestExt;
use crate::nginx::response::ResponseExt;
use crate::nginx::variable;

pub(crate) static NEXT_HEADER: Next<HeaderFilter> = Next::none();
pub(crate) static NEXT_BODY: Next<BodyFilter> = Next::none();
pub(crate) static NEXT_BEFORE_GUNZIP: Next<HeaderFilter> = Next::none();
pub(crate) static NEXT_BEFORE_GZIP: Next<HeaderFilter> = Next::none();

/// What is to become of an answer.
enum Decision<'a> {
    /// It goes out as it is.
    Leave,
    /// It is wrapped in a call of this.
    Wrap(&'a [u8]),
    /// Another one is sent in its place, with this status.
    Refuse(u16),
}

/// Whether the answer is to be wrapped, as far as that does not depend on its coding.
fn decide<'a>(
    request: &mut Request,
    conf: &LocConf,
    buffer: &'a mut callback::Buffer,
) -> Decision<'a> {
    if !request.is_get_or_head()
        || !conf.has_status(request.status())
        || request.content_length() == Some(0)
    {
        return Decision::Leave;
    }
    let decision = match callback::find(request.args(), conf.names(), conf.syntax(), buffer) {
        Callback::Absent => return Decision::Leave,
        Callback::Valid(callback) => Decision::Wrap(callback),
        Callback::Invalid => match conf.invalid() {
            Invalid::Pass => return Decision::Leave,
            // An error page in place of an error page: nginx's own do not look whether their header was
            // refused.
            Invalid::Refuse(_) if request.is_error_page() => return Decision::Leave,
            Invalid::Refuse(status) => Decision::Refuse(status),
        },
    };
    if request.has_type_of(conf.types()) { decision } else { Decision::Leave }
}

/// The configuration, where an answer may be wrapped at all.
fn conf_of<'a>(request: &Request) -> Option<&'a LocConf> {
    let conf = LocConf::of(request)?;
    (request.is_main() && !conf.names().is_empty() && !request.args().is_empty()).then_some(conf)
}

/// Before gunzip: has it decode, for every client, what is to be wrapped.
pub(crate) unsafe extern "C" fn header_filter_before_gunzip(
    r: *mut ngx_http_request_t,
) -> ngx_int_t {
    // SAFETY: nginx passes a request.
    let request = unsafe { Request::from_ngx_http_request(r) };
    if request.content_encoding().eq_ignore_ascii_case(b"gzip") {
        if let Some(conf) = conf_of(request) {
            if !matches!(decide(request, conf, &mut [0; MAX_LEN]), Decision::Leave) {
                request.set_gzip_ok(Some(false));
            }
        }
    }
    // SAFETY: `r` is what nginx passed.
    unsafe { NEXT_BEFORE_GUNZIP.call(r) }
}

/// After gunzip, before the filters that change or compress the body: decides what becomes of the answer.
pub(crate) unsafe extern "C" fn header_filter(r: *mut ngx_http_request_t) -> ngx_int_t {
    // SAFETY: nginx passes a request.
    match header(unsafe { Request::from_ngx_http_request(r) }) {
        // SAFETY: `r` is what nginx passed.
        Then::PassOn => unsafe { NEXT_HEADER.call(r) },
        Then::Return(status) => status.into(),
    }
}

/// Before gzip, after the filters that look at the type the answer had: gives it the type it is sent with.
pub(crate) unsafe extern "C" fn header_filter_before_gzip(r: *mut ngx_http_request_t) -> ngx_int_t {
    // SAFETY: nginx passes a request.
    let request = unsafe { Request::from_ngx_http_request(r) };
    // SAFETY: the context lives as long as the request.
    if wrapping_of(request).is_some_and(|wrapping| unsafe { wrapping.as_ref() }.is_whole()) {
        set_output_type(request);
    }
    // SAFETY: `r` is what nginx passed.
    unsafe { NEXT_BEFORE_GZIP.call(r) }
}

/// What a header filter does when it is done.
enum Then {
    /// It calls the next one.
    PassOn,
    /// It returns this.
    Return(Status),
}

fn header(request: &mut Request) -> Then {
    if let Some(wrapping) = wrapping_of(request) {
        // SAFETY: the context lives as long as the request.
        if unsafe { wrapping.as_ref() }.is_refusal() {
            return Then::PassOn;
        }
        // What was to be wrapped is no longer what is to be sent.
        set_wrapping(request, None);
    }
    if !request.is_main() {
        return fragment(request);
    }
    let Some(conf) = conf_of(request) else { return Then::PassOn };
    // What `header_filter_before_gunzip` said was meant for gunzip only.
    request.set_gzip_ok(None);
    if is_coded(request) {
        return Then::PassOn;
    }
    match decide(request, conf, &mut [0; MAX_LEN]) {
        Decision::Leave => Then::PassOn,
        Decision::Wrap(callback) => wrap(request, conf, callback),
        Decision::Refuse(status) => refuse(request, status),
    }
}

/// Whether the body has a content coding that is still to be undone.
fn is_coded(request: &Request) -> bool {
    let coding = request.content_encoding();
    !coding.is_empty() && !coding.eq_ignore_ascii_case(b"identity")
}

fn wrap(request: &mut Request, conf: &LocConf, callback: &[u8]) -> Then {
    let (pool, len) = (request.pool(), request.content_length());
    let wrapping = Wrapping::whole(&pool, callback, conf.guard(), conf.escape(), len);
    let Some(mut wrapping) = wrapping else { return Then::Return(Status::NGX_ERROR) };
    if conf.guard() {
        let (name, lowercase) = ("X-Content-Type-Options", "x-content-type-options");
        if request.set_header(name, lowercase, "nosniff").is_none() {
            return Then::Return(Status::NGX_ERROR);
        }
    }
    if let Some(status) = conf.sent_as() {
        request.set_status_code(status);
    }
    request.forget_exact_bytes();
    set_wrapping(request, Some(wrapping));
    // SAFETY: it was just made.
    let wrapping = unsafe { wrapping.as_mut() };
    if !conf.escape() {
        request.set_content_length(len.map(|len| len.saturating_add(wrapping.around_len())));
        return Then::PassOn;
    }
    // The search needs the bytes, and only they tell how long the body becomes.
    request.need_in_memory();
    if len.is_none() || request.is_head() {
        request.set_content_length(None);
        return Then::PassOn;
    }
    wrapping.hold_header(true);
    Then::Return(Status::NGX_OK)
}

/// A subrequest's answer becomes a part of the document, so it is escaped where the document is.
fn fragment(request: &mut Request) -> Then {
    // SAFETY: this is what the module sets, and lives as long as the main request.
    let main = unsafe { request.main_context::<Wrapping>(JsonpCallback::module()) };
    let escapes = main.is_some_and(|main| {
        // SAFETY: as above.
        let main = unsafe { main.as_ref() };
        main.is_whole() && main.escapes()
    });
    if !escapes || is_coded(request) || request.is_head() {
        return Then::PassOn;
    }
    let Some(wrapping) = Wrapping::fragment(&request.pool()) else {
        return Then::Return(Status::NGX_ERROR);
    };
    set_wrapping(request, Some(wrapping));
    request.need_in_memory();
    request.set_content_length(None);
    Then::PassOn
}

/// Sends an error in place of the answer. Returning its status from a header filter is what nginx's own range
/// filter does; whoever was to send the answer ends the request with it.
fn refuse(request: &mut Request, status: u16) -> Then {
    let Some(wrapping) = Wrapping::refusal(&request.pool()) else {
        return Then::Return(Status::NGX_ERROR);
    };
    request.discard_response();
    set_wrapping(request, Some(wrapping));
    Then::Return(Status(status as ngx_int_t))
}

fn set_output_type(request: &mut Request) {
    let Some(output) = LocConf::of(request).and_then(LocConf::output_type) else { return };
    if request.charset().is_empty() {
        if let Some(charset) = content_type::charset(request.content_type()).map(NonNull::from) {
            // SAFETY: it is a part of the type that the answer had.
            unsafe { request.set_charset(charset) };
        }
    }
    request.set_content_type(output.text, output.essence_len);
}

/// Puts the callback around the body, and escapes what is in it.
pub(crate) unsafe extern "C" fn body_filter(
    r: *mut ngx_http_request_t,
    chain: *mut ngx_chain_t,
) -> ngx_int_t {
    // SAFETY: nginx passes a request.
    let request = unsafe { Request::from_ngx_http_request(r) };
    let Some(mut place) = wrapping_of(request) else {
        // SAFETY: `r` and `chain` are what nginx passed.
        return unsafe { NEXT_BODY.call(r, chain) };
    };
    // SAFETY: the context lives as long as the request.
    let wrapping = unsafe { place.as_mut() };
    if wrapping.is_idle() || request.header_only() {
        // SAFETY: as above.
        return unsafe { NEXT_BODY.call(r, chain) };
    }

    let pool = request.pool();
    let mut out = Chain::new(pool.clone());
    // SAFETY: `chain` is what nginx passed.
    for buffer in unsafe { buffers(chain) } {
        if wrapping.add(&pool, buffer, &mut out).is_none() {
            return Status::NGX_ERROR.into();
        }
    }

    if wrapping.is_header_held() {
        // A flush alone has nothing to flush yet, unless it is the end of an answer that broke off.
        let broken_off = out.last().is_some() && request.is_upstream_over();
        if !wrapping.has_begun() && !broken_off {
            return Status::NGX_OK.into();
        }
        wrapping.hold_header(false);
        request.set_content_length(wrapping.is_over().then(|| out.len()));
        // SAFETY: `r` is what nginx passed.
        let status = unsafe { NEXT_HEADER.call(r) };
        if status == Status::NGX_ERROR.0 || status > Status::NGX_OK.0 {
            return Status::NGX_ERROR.into();
        }
        // SAFETY: as above.
        let request = unsafe { Request::from_ngx_http_request(r) };
        // The copy filter asked before the filters behind the header could say so.
        if request.needs_temporary() {
            request.need_temporary_from_now_on();
            if out.make_temporary().is_none() {
                return Status::NGX_ERROR.into();
            }
        }
    }

    if !chain.is_null() && out.last().is_none() {
        return Status::NGX_OK.into();
    }
    // SAFETY: `r` is what nginx passed, and `out` is valid.
    let status = unsafe { NEXT_BODY.call(r, out.as_ptr()) };
    // SAFETY: the context lives as long as the request.
    unsafe { place.as_mut() }.update(out);
    status
}

/// `$jsonp_callback`: the callback that the request asks for, if it is valid.
pub(crate) unsafe extern "C" fn callback_variable(
    r: *mut ngx_http_request_t,
    value: *mut ngx_variable_value_t,
    _data: usize,
) -> ngx_int_t {
    // SAFETY: nginx passes a request, and the value to be filled.
    let (request, value) = unsafe { (Request::from_ngx_http_request(r), &mut *value) };
    let mut buffer = [0; MAX_LEN];
    let found = LocConf::of(request).map_or(Callback::Absent, |conf| {
        callback::find(request.args(), conf.names(), conf.syntax(), &mut buffer)
    });
    let Callback::Valid(callback) = found else { return variable::answer(value, None).into() };
    match request.pool().concat(&[callback]) {
        Some(callback) => variable::answer(value, Some(callback)).into(),
        None => Status::NGX_ERROR.into(),
    }
}

/// `$jsonp_args`: the query string without the callback.
pub(crate) unsafe extern "C" fn args_variable(
    r: *mut ngx_http_request_t,
    value: *mut ngx_variable_value_t,
    _data: usize,
) -> ngx_int_t {
    // SAFETY: nginx passes a request, and the value to be filled.
    let (request, value) = unsafe { (Request::from_ngx_http_request(r), &mut *value) };
    let names = LocConf::of(request).map(LocConf::names).unwrap_or_default();
    let pool = request.pool();
    match args::without(request.args(), names, |len| pool.zeroed(len)) {
        Some(left) => variable::answer(value, Some(left)).into(),
        None => Status::NGX_ERROR.into(),
    }
}

fn wrapping_of(request: &Request) -> Option<NonNull<Wrapping>> {
    // SAFETY: this is what `set_wrapping` sets.
    unsafe { request.context(JsonpCallback::module()) }
}

fn set_wrapping(request: &mut Request, wrapping: Option<NonNull<Wrapping>>) {
    // SAFETY: it is in the request's pool.
    unsafe { request.set_context(JsonpCallback::module(), wrapping) };
}
