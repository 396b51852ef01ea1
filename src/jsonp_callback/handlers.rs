//! nginx's callbacks: the filters and the variables.

use core::ptr::NonNull;

use ngx::core::Status;
use ngx::ffi::{NGX_LOG_ERR, ngx_chain_t, ngx_http_request_t, ngx_int_t, ngx_variable_value_t};
use ngx::http::{HttpModule, Request};

use super::conf::{Invalid, LocConf};
use super::logic::callback::{self, MAX_LEN};
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

/// A callback that a request asks for, as it is sent, where answers may be wrapped.
#[derive(Clone, Copy)]
struct Asked<'a> {
    conf: &'a LocConf,
    callback: &'a [u8],
}

impl Asked<'_> {
    fn of(request: &Request) -> Option<Self> {
        let conf = LocConf::of(request)?;
        let query = request.args();
        if !request.is_main() || conf.names().is_empty() || query.is_empty() {
            return None;
        }
        let callback = NonNull::from(callback::given(query, conf.names())?);
        // SAFETY: the query string is not written to as long as there is the request.
        Some(Self { conf, callback: unsafe { callback.as_ref() } })
    }

    /// Whether the answer is to be wrapped, as far as that does not depend on its coding.
    fn decide<'b>(&'b self, request: &Request, buffer: &'b mut callback::Buffer) -> Decision<'b> {
        let conf = self.conf;
        if !request.is_get_or_head()
            || !conf.has_status(request.status())
            || request.content_length() == Some(0)
            || request.begins_with_range()
            || !conf.types().contains(request.bare_content_type())
        {
            return Decision::Leave;
        }
        match (callback::decode(self.callback, conf.syntax(), buffer), conf.invalid()) {
            (Some(callback), _) => Decision::Wrap(callback),
            // An error page in place of an error page is left: nginx's own do not look whether their header
            // was refused.
            (None, Invalid::Refuse(status)) if !request.is_error_page() => Decision::Refuse(status),
            (None, _) => Decision::Leave,
        }
    }
}

/// Before gunzip: has it decode, for every client, what is to be wrapped.
pub(crate) unsafe extern "C" fn header_filter_before_gunzip(
    r: *mut ngx_http_request_t,
) -> ngx_int_t {
    // SAFETY: nginx passes a request.
    let request = unsafe { Request::from_ngx_http_request(r) };
    if request.content_encoding().eq_ignore_ascii_case(b"gzip") && is_wanted(request) {
        request.set_gzip_ok(Some(false));
    }
    // SAFETY: `r` is what nginx passed.
    unsafe { NEXT_BEFORE_GUNZIP.call(r) }
}

/// Whether something would become of the answer if it had no content coding.
#[inline(never)]
fn is_wanted(request: &Request) -> bool {
    Asked::of(request)
        .is_some_and(|asked| !matches!(asked.decide(request, &mut [0; MAX_LEN]), Decision::Leave))
}

/// After gunzip, before the filters that change or compress the body: decides what becomes of the answer.
pub(crate) unsafe extern "C" fn header_filter(r: *mut ngx_http_request_t) -> ngx_int_t {
    // SAFETY: nginx passes a request.
    let request = unsafe { Request::from_ngx_http_request(r) };
    // SAFETY: this is what the module sets.
    let main = unsafe { request.main_context::<Wrapping>(JsonpCallback::module()) };
    let asked = Asked::of(request);
    if main.is_some() || asked.is_some() {
        if let Then::Return(status) = header(request, main, asked) {
            return status.into();
        }
    }
    // SAFETY: `r` is what nginx passed.
    unsafe { NEXT_HEADER.call(r) }
}

/// Before gzip, after the filters that look at the type the answer had: gives it the type it is sent with.
pub(crate) unsafe extern "C" fn header_filter_before_gzip(r: *mut ngx_http_request_t) -> ngx_int_t {
    // SAFETY: nginx passes a request.
    let request = unsafe { Request::from_ngx_http_request(r) };
    // SAFETY: the context lives as long as the request.
    let is_whole = |wrapping: NonNull<Wrapping>| unsafe { wrapping.as_ref() }.is_whole();
    if request.is_main() && wrapping_of(request).is_some_and(is_whole) {
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

/// `main` is the context of the main request, and `asked` what [`Asked::of`] gives.
#[inline(never)]
fn header(
    request: &mut Request,
    main: Option<NonNull<Wrapping>>,
    asked: Option<Asked<'_>>,
) -> Then {
    if let Some(mut wrapping) = wrapping_of(request) {
        // SAFETY: the context lives as long as the request.
        let wrapping = unsafe { wrapping.as_mut() };
        if wrapping.is_refusal() {
            wrapping.expect_no_more();
            return Then::PassOn;
        }
        // What was to be wrapped is no longer what is to be sent.
        set_wrapping(request, None);
    }
    let Some(asked) = asked else {
        return main.map_or(Then::PassOn, |main| fragment(request, main));
    };
    // What `header_filter_before_gunzip` said was meant for gunzip only.
    request.set_gzip_ok(None);
    if is_coded(request) {
        return Then::PassOn;
    }
    match asked.decide(request, &mut [0; MAX_LEN]) {
        Decision::Leave => Then::PassOn,
        Decision::Wrap(callback) => wrap(request, asked.conf, callback),
        Decision::Refuse(status) => refuse(request, status),
    }
}

/// Whether the body has a content coding that is still to be undone.
fn is_coded(request: &Request) -> bool {
    request
        .content_encodings()
        .any(|coding| !coding.is_empty() && !coding.eq_ignore_ascii_case(b"identity"))
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
    let is_head = request.is_head();
    if is_head {
        wrapping.expect_no_more();
    }
    if !conf.escape() {
        request.set_content_length(len.map(|len| len.saturating_add(wrapping.around_len())));
        return Then::PassOn;
    }
    // The search needs the bytes, and only they tell how long the body becomes.
    request.need_in_memory();
    match len {
        Some(_) if !is_head => {
            wrapping.hold_header(true);
            Then::Return(Status::NGX_OK)
        }
        _ => {
            request.set_content_length(None);
            Then::PassOn
        }
    }
}

/// A subrequest's answer becomes a part of the document, so it is escaped where the document is. What is a slice of
/// the document itself is counted, too.
fn fragment(request: &mut Request, main: NonNull<Wrapping>) -> Then {
    // SAFETY: the context lives as long as the main request.
    let whole = unsafe { main.as_ref() };
    if request.is_main() || !whole.is_whole() || is_coded(request) || request.is_head() {
        return Then::PassOn;
    }
    let wrapping = if request.continues_main() && !whole.is_header_held() {
        Some(main)
    } else if whole.escapes() {
        Wrapping::fragment(&request.pool())
    } else {
        return Then::PassOn;
    };
    if wrapping.is_none() {
        return Then::Return(Status::NGX_ERROR);
    }
    set_wrapping(request, wrapping);
    if whole.escapes() {
        request.need_in_memory();
        request.set_content_length(None);
    }
    Then::PassOn
}

/// Sends an error in place of the answer. Returning its status from a header filter is what nginx's own range
/// filter does; whoever was to send the answer ends the request with it.
fn refuse(request: &mut Request, status: u16) -> Then {
    let Some(wrapping) = Wrapping::refusal(&request.pool()) else {
        return Then::Return(Status::NGX_ERROR);
    };
    request.discard_response();
    request.forbid_caching();
    set_wrapping(request, Some(wrapping));
    Then::Return(Status(status as ngx_int_t))
}

fn set_output_type(request: &mut Request) {
    let Some(conf) = LocConf::of(request) else { return };
    let Some(output) = conf.output_type() else { return };
    // A charset that nginx knows of is put behind the new type by itself. One in the type's text is behind what is
    // compared with the list, or in an entry of the list.
    let is_in_text = || {
        conf.types().have_parameters()
            || request.bare_content_type().len() < request.content_type().len()
    };
    if request.charset().is_empty() && is_in_text() {
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
    match wrapping_of(request) {
        // SAFETY: the context lives as long as the request.
        Some(wrapping) if !unsafe { wrapping.as_ref() }.is_over() => {
            // SAFETY: `r` and `chain` are what nginx passed.
            unsafe { body(r, chain, wrapping) }
        }
        // SAFETY: as above.
        _ => unsafe { NEXT_BODY.call(r, chain) },
    }
}

/// # Safety
///
/// `r` and `chain` are what nginx passed to the body filter, and `place` is the request's context.
#[inline(never)]
unsafe fn body(
    r: *mut ngx_http_request_t,
    chain: *mut ngx_chain_t,
    mut place: NonNull<Wrapping>,
) -> ngx_int_t {
    // SAFETY: see above.
    let (request, wrapping) = unsafe { (Request::from_ngx_http_request(r), place.as_mut()) };
    if wrapping.is_refusal() {
        // Whoever sends the answer has not minded that its header was refused.
        return Status::NGX_ERROR.into();
    }
    // SAFETY: `chain` is what nginx passed.
    if wrapping.leave(unsafe { buffers(chain) }) {
        // SAFETY: as above.
        return unsafe { NEXT_BODY.call(r, chain) };
    }
    let mut out = Chain::new(request.pool());
    // SAFETY: `chain` is what nginx passed.
    for buffer in unsafe { buffers(chain) } {
        if wrapping.is_cut_by(&buffer) {
            // A script that was cut must not run.
            tell_cut(request);
            return Status::NGX_ERROR.into();
        }
        if wrapping.add(buffer, &mut out).is_none() {
            return Status::NGX_ERROR.into();
        }
    }

    if wrapping.is_header_held() {
        // A flush alone has nothing to flush yet, unless it is the end of an answer that broke off.
        let is_over = || out.last().is_some() && request.is_upstream_over();
        if !wrapping.has_begun() && !is_over() {
            return Status::NGX_OK.into();
        }
        wrapping.hold_header(false);
        request.set_content_length(wrapping.wrapped_len());
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

#[cold]
fn tell_cut(request: &Request) {
    ngx::ngx_log_error!(
        NGX_LOG_ERR,
        request.log(),
        "the answer that \"jsonp_callback\" wraps has not as many bytes as its Content-Length says"
    );
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
    let callback = LocConf::of(request).and_then(|conf| {
        let given = callback::given(request.args(), conf.names())?;
        callback::decode(given, conf.syntax(), &mut buffer)
    });
    let Some(callback) = callback else { return variable::answer(value, None).into() };
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
