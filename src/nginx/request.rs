//! What the `ngx` crate's [`Request`] does not give.

use core::iter;
use core::ptr::{self, NonNull};

use ngx::ffi::{ngx_module_t, ngx_pool_cleanup_t};
use ngx::http::Request;

/// More of a request.
pub(crate) trait RequestExt {
    /// The query string, without `?`.
    fn args(&self) -> &[u8];

    /// This module's context of the request, if it was set.
    ///
    /// # Safety
    ///
    /// `T` is what the module sets as its context.
    unsafe fn context<T>(&self, module: &ngx_module_t) -> Option<NonNull<T>>;

    /// The cleanups of the request's pool, the newest first.
    fn cleanups(&self) -> impl Iterator<Item = &ngx_pool_cleanup_t>;

    /// The main request, which is the request itself if it is no subrequest.
    fn main(&self) -> &Request;

    /// Whether this subrequest's answer goes on where that of the main request ended, as nginx's slice filter makes
    /// it: a copy of the main request (`NGX_HTTP_SUBREQUEST_CLONE`), with the very same URI.
    fn continues_main(&self) -> bool;

    /// As [`RequestExt::context`], of the main request, which is the request itself if it is no subrequest.
    ///
    /// # Safety
    ///
    /// As there.
    unsafe fn main_context<T>(&self, module: &ngx_module_t) -> Option<NonNull<T>>;

    /// Sets this module's context of the request, or takes it away.
    ///
    /// # Safety
    ///
    /// `T` is what the module sets as its context, and `context` lives as long as the request.
    unsafe fn set_context<T>(&mut self, module: &ngx_module_t, context: Option<NonNull<T>>);
}

impl RequestExt for Request {
    fn args(&self) -> &[u8] {
        self.as_ref().args.as_bytes()
    }

    unsafe fn context<T>(&self, module: &ngx_module_t) -> Option<NonNull<T>> {
        // SAFETY: nginx keeps a slot for each HTTP module in `ctx`.
        NonNull::new(unsafe { *self.as_ref().ctx.add(module.ctx_index) }.cast())
    }

    unsafe fn main_context<T>(&self, module: &ngx_module_t) -> Option<NonNull<T>> {
        // SAFETY: the caller's.
        unsafe { self.main().context(module) }
    }

    unsafe fn set_context<T>(&mut self, module: &ngx_module_t, context: Option<NonNull<T>>) {
        let context = context.map_or(ptr::null_mut(), |context| context.as_ptr().cast());
        // SAFETY: nginx keeps a slot for each HTTP module in `ctx`.
        unsafe { *self.as_ref().ctx.add(module.ctx_index) = context };
    }

    fn cleanups(&self) -> impl Iterator<Item = &ngx_pool_cleanup_t> {
        // SAFETY: a request has a pool, whose cleanups are linked, and live as long as it does.
        unsafe {
            iter::successors((*self.as_ref().pool).cleanup.as_ref(), |cleanup| {
                cleanup.next.as_ref()
            })
        }
    }

    fn continues_main(&self) -> bool {
        !self.is_main() && self.as_ref().uri.data == self.main().as_ref().uri.data
    }

    fn main(&self) -> &Request {
        // SAFETY: the main request lives as long as its subrequests.
        unsafe { Request::from_ngx_http_request(self.as_ref().main) }
    }
}
