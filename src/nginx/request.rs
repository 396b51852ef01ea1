//! What the `ngx` crate's [`Request`] does not give.

use core::ptr::NonNull;

use ngx::ffi::{ngx_http_get_indexed_variable, ngx_http_request_t, ngx_module_t, ngx_uint_t};
use ngx::http::Request;

/// More of a request.
pub(crate) trait RequestExt {
    /// The query string, without `?`.
    fn args(&self) -> &[u8];

    /// The value of a variable whose place [`super::variable::index`] told; `None` if it has none.
    fn variable(&mut self, index: ngx_uint_t) -> Option<&[u8]>;

    /// This module's context of the request, if it was set.
    ///
    /// # Safety
    ///
    /// `T` is what the module sets as its context.
    unsafe fn context<T>(&self, module: &ngx_module_t) -> Option<NonNull<T>>;
}

impl RequestExt for Request {
    fn args(&self) -> &[u8] {
        self.as_ref().args.as_bytes()
    }

    fn variable(&mut self, index: ngx_uint_t) -> Option<&[u8]> {
        let r: *mut ngx_http_request_t = self.as_mut();
        // SAFETY: `r` is live, and the index was given by nginx for this configuration.
        let value = unsafe { ngx_http_get_indexed_variable(r, index).as_ref() }?;
        (value.not_found() == 0).then(|| value.as_bytes())
    }

    unsafe fn context<T>(&self, module: &ngx_module_t) -> Option<NonNull<T>> {
        // SAFETY: nginx keeps a slot for each HTTP module in `ctx`.
        NonNull::new(unsafe { *self.as_ref().ctx.add(module.ctx_index) }.cast())
    }
}
