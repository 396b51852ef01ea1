//! What the `ngx` crate's [`Request`] does not give.

use core::ffi::c_void;
use core::iter;
use core::ptr::{self, NonNull};

use ngx::ffi::{
    ngx_http_get_indexed_variable, ngx_http_request_t, ngx_module_t, ngx_pool_cleanup_add,
    ngx_pool_cleanup_t, ngx_uint_t,
};
use ngx::http::{HttpModule, Request};

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

    /// Keeps a value for the request and its subrequests, and through internal redirects, which reset
    /// the contexts of all modules. `None`: there is no memory left.
    fn keep<M: Keeps>(&mut self, value: M::Kept) -> Option<()>;

    /// The value that was kept last.
    fn kept<M: Keeps>(&self) -> Option<M::Kept>;

    /// Whether a context that is not there may have been set, and then been reset: by an internal
    /// redirect, or because this is a subrequest, or a filter's error page.
    fn contexts_were_reset(&self) -> bool;

    /// The cleanups of the request's pool, the newest first.
    fn cleanups(&self) -> impl Iterator<Item = &ngx_pool_cleanup_t>;
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

    unsafe fn main_context<T>(&self, module: &ngx_module_t) -> Option<NonNull<T>> {
        // SAFETY: the main request lives as long as its subrequests, and has a slot for each HTTP module.
        NonNull::new(unsafe { *(*self.as_ref().main).ctx.add(module.ctx_index) }.cast())
    }

    unsafe fn set_context<T>(&mut self, module: &ngx_module_t, context: Option<NonNull<T>>) {
        let context = context.map_or(ptr::null_mut(), |context| context.as_ptr().cast());
        // SAFETY: nginx keeps a slot for each HTTP module in `ctx`.
        unsafe { *self.as_ref().ctx.add(module.ctx_index) = context };
    }

    fn keep<M: Keeps>(&mut self, value: M::Kept) -> Option<()> {
        let module = M::module();
        if let Some(mut kept) = find_kept::<M>(self) {
            // SAFETY: it lives as long as the request's pool, and nobody holds a reference to it.
            unsafe { kept.as_mut() }.value = value;
            return Some(());
        }
        let size = size_of::<Kept<M::Kept>>();
        // SAFETY: a request has a pool.
        let cleanup = unsafe { ngx_pool_cleanup_add(self.as_ref().pool, size).as_mut() }?;
        const { assert!(align_of::<Kept<M::Kept>>() <= align_of::<usize>()) };
        let kept = cleanup.data.cast::<Kept<M::Kept>>();
        // SAFETY: nginx allocated `size` bytes, aligned for pointers.
        unsafe { kept.write(Kept { module, value }) };
        cleanup.handler = Some(forget);
        self.set_module_ctx(kept.cast(), module);
        Some(())
    }

    fn kept<M: Keeps>(&self) -> Option<M::Kept> {
        // SAFETY: it lives as long as the request's pool.
        find_kept::<M>(self).map(|kept| unsafe { kept.as_ref() }.value)
    }

    fn contexts_were_reset(&self) -> bool {
        self.as_ref().internal() != 0 || self.as_ref().filter_finalize() != 0
    }

    fn cleanups(&self) -> impl Iterator<Item = &ngx_pool_cleanup_t> {
        // SAFETY: a request has a pool, whose cleanups are linked, and live as long as it does.
        unsafe {
            iter::successors((*self.as_ref().pool).cleanup.as_ref(), |cleanup| {
                cleanup.next.as_ref()
            })
        }
    }
}

/// A module that keeps a value for a request, and has no context but this.
pub(crate) trait Keeps: HttpModule {
    /// It owns nothing but memory of the request's pool.
    type Kept: Copy;
}

/// What [`RequestExt::keep`] leaves in the request's pool.
#[repr(C)]
struct Kept<T> {
    module: *const ngx_module_t,
    value: T,
}

/// By this cleanup handler a [`Kept`] is known, so it must not be one with a function that does
/// nothing, which the compiler is free to have only one of.
unsafe extern "C" fn forget(data: *mut c_void) {
    // SAFETY: the pool calls this with what `keep` wrote, of which `module` is the first.
    unsafe { data.cast::<*const ngx_module_t>().write(ptr::null()) };
}

fn find_kept<M: Keeps>(request: &Request) -> Option<NonNull<Kept<M::Kept>>> {
    // SAFETY: `keep` is the only one to set the module's context.
    let context = unsafe { request.context(M::module()) };
    if context.is_some() || !request.contexts_were_reset() {
        return context;
    }
    let forget: unsafe extern "C" fn(*mut c_void) = forget;
    request
        .cleanups()
        .filter(|cleanup| cleanup.handler.is_some_and(|handler| ptr::fn_addr_eq(handler, forget)))
        .find(|cleanup| {
            // SAFETY: this is the handler of what `keep` wrote, of which `module` is the first.
            let module = unsafe { *cleanup.data.cast::<*const ngx_module_t>() };
            ptr::eq(module, M::module())
        })
        .and_then(|cleanup| NonNull::new(cleanup.data.cast()))
}
