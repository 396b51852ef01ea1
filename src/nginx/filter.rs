//! The two chains of output filters, and a module's place in them.

use core::cell::UnsafeCell;
use core::ptr;

use ngx::core::Status;
use ngx::ffi::{
    ngx_chain_t, ngx_http_output_body_filter_pt, ngx_http_output_header_filter_pt,
    ngx_http_request_t, ngx_http_top_body_filter, ngx_http_top_header_filter, ngx_int_t,
};

/// The filter that was the first of its chain before a module put its own in front of it.
pub(crate) struct Next<F>(UnsafeCell<Option<F>>);

// SAFETY: it is written while nginx reads its configuration, and read while a worker runs filters; both
// happen in a process's only thread that runs modules' code.
unsafe impl<F> Sync for Next<F> {}

/// A header filter.
pub(crate) type HeaderFilter = unsafe extern "C" fn(*mut ngx_http_request_t) -> ngx_int_t;

/// A body filter.
pub(crate) type BodyFilter =
    unsafe extern "C" fn(*mut ngx_http_request_t, *mut ngx_chain_t) -> ngx_int_t;

impl<F> Next<F> {
    pub(crate) const fn none() -> Self {
        Self(UnsafeCell::new(None))
    }
}

impl Next<HeaderFilter> {
    /// Puts `filter` in front of the header filters there are.
    ///
    /// # Safety
    ///
    /// To be called from a module's `postconfiguration`.
    pub(crate) unsafe fn put_first(&self, filter: HeaderFilter) {
        let top: *mut ngx_http_output_header_filter_pt = &raw mut ngx_http_top_header_filter;
        // SAFETY: nginx lets modules exchange the first filter while it reads its configuration.
        unsafe { *self.0.get() = ptr::replace(top, Some(filter)) };
    }

    /// Passes the request's header on.
    ///
    /// # Safety
    ///
    /// `r` is what nginx passed to the filter that is running; no reference into it is held.
    pub(crate) unsafe fn call(&self, r: *mut ngx_http_request_t) -> ngx_int_t {
        // SAFETY: the filter was nginx's first when it was stored.
        unsafe { (*self.0.get()).map_or(Status::NGX_OK.into(), |next| next(r)) }
    }
}

impl Next<BodyFilter> {
    /// Puts `filter` in front of the body filters there are.
    ///
    /// # Safety
    ///
    /// To be called from a module's `postconfiguration`.
    pub(crate) unsafe fn put_first(&self, filter: BodyFilter) {
        let top: *mut ngx_http_output_body_filter_pt = &raw mut ngx_http_top_body_filter;
        // SAFETY: nginx lets modules exchange the first filter while it reads its configuration.
        unsafe { *self.0.get() = ptr::replace(top, Some(filter)) };
    }

    /// Passes a part of the request's body on.
    ///
    /// # Safety
    ///
    /// `r` is what nginx passed to the filter that is running, and `chain` is valid, or null; no reference
    /// into either is held.
    pub(crate) unsafe fn call(
        &self,
        r: *mut ngx_http_request_t,
        chain: *mut ngx_chain_t,
    ) -> ngx_int_t {
        // SAFETY: the filter was nginx's first when it was stored.
        unsafe { (*self.0.get()).map_or(Status::NGX_OK.into(), |next| next(r, chain)) }
    }
}
