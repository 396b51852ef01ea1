//! State that a request keeps through its internal redirects, which clear a module's context.

use core::ffi::c_void;
use core::ptr;

use ngx::core::Status;
use ngx::ffi::{ngx_http_request_t, ngx_module_t, ngx_pool_cleanup_add, ngx_pool_cleanup_t};
use ngx::http::{HttpModule, Request};

use super::request::RequestExt;
use super::shim;

/// A module that keeps a state for each request, a subrequest's being its own.
pub(crate) trait KeepsState: HttpModule {
    /// It lives in the request's pool, and is never dropped.
    type State: Default;
}

/// In the pool's list of cleanups, where it is found again; and in the request's context.
#[repr(C)]
struct Kept<T> {
    owner: Owner,
    state: T,
}

#[repr(C)]
#[derive(PartialEq)]
struct Owner {
    request: *const ngx_http_request_t,
    module: *const ngx_module_t,
}

/// The state that `M` has for the request.
pub(crate) fn find<M: KeepsState>(request: &Request) -> Result<Option<&M::State>, Status> {
    let module = M::module();
    let Some(context) = request.get_module_ctx::<c_void>(module) else {
        return Ok(is_redirected(request).then(|| find_again::<M>(request)).flatten());
    };

    let context = ptr::from_ref(context);
    if ptr::eq(context, ptr::from_ref(module).cast()) {
        return Err(Status::NGX_ERROR);
    }
    // SAFETY: a context that is not the mark of a failure was set by `set_context`.
    Ok(Some(unsafe { &(*context.cast::<Kept<M::State>>()).state }))
}

/// The state that `M` has for the request, a new one if it has none yet.
///
/// Fails when there is no memory; each later call for this request does then too, so that what should
/// have been kept is not taken for never having been there.
pub(crate) fn find_or_create<M: KeepsState>(request: &Request) -> Result<&M::State, Status> {
    if let Some(state) = find::<M>(request)? {
        return Ok(state);
    }
    create::<M>(request).ok_or_else(|| {
        let failed = ptr::from_ref(M::module()).cast_mut();
        request.set_module_ctx(failed.cast(), M::module());
        Status::NGX_ERROR
    })
}

fn create<M: KeepsState>(request: &Request) -> Option<&M::State> {
    const {
        assert!(!core::mem::needs_drop::<M::State>());
        assert!(align_of::<M::State>() <= align_of::<usize>());
    }

    let pool = request.pool();
    // SAFETY: the pool is live.
    let cleanup =
        unsafe { ngx_pool_cleanup_add(pool.as_ptr(), size_of::<Kept<M::State>>()).as_mut() }?;
    let kept = cleanup.data.cast::<Kept<M::State>>();
    cleanup.handler = Some(forget);

    // SAFETY: nginx allocated as many bytes as a `Kept<M::State>` has, aligned for pointers; they live
    // as long as the pool, which outlives the request.
    unsafe {
        kept.write(Kept { owner: owner::<M>(request), state: M::State::default() });
        Some(set_context::<M>(request, kept))
    }
}

/// # Safety
///
/// `kept` lives as long as the request's pool, and nobody writes to it but through its cells.
unsafe fn set_context<M: KeepsState>(request: &Request, kept: *mut Kept<M::State>) -> &'_ M::State {
    request.set_module_ctx(kept.cast(), M::module());
    // SAFETY: as above.
    unsafe { &(*kept).state }
}

fn owner<M: HttpModule>(request: &Request) -> Owner {
    Owner { request: request.as_ref(), module: M::module() }
}

/// Whether the context may have been cleared since the request began.
fn is_redirected(request: &Request) -> bool {
    // SAFETY: the request is live.
    unsafe { shim::cachefront_request_is_redirected(request.as_ref()) != 0 }
}

fn find_again<M: KeepsState>(request: &Request) -> Option<&M::State> {
    let owner = owner::<M>(request);
    // SAFETY: `forget` marks the entries that begin with an `Owner`.
    let is_kept = |cleanup: &&ngx_pool_cleanup_t| unsafe {
        cleanup.handler.is_some_and(|handler| ptr::fn_addr_eq(handler, FORGET))
            && *cleanup.data.cast::<Owner>() == owner
    };
    let kept = request.cleanups().find(is_kept)?.data;
    // SAFETY: the module in `owner` tells what follows it; it lives as long as the pool.
    Some(unsafe { set_context::<M>(request, kept.cast()) })
}

const FORGET: unsafe extern "C" fn(*mut c_void) = forget;

/// The request is over: another at the same address must not find its state.
unsafe extern "C" fn forget(data: *mut c_void) {
    // SAFETY: the pool calls this once, with what `create` put there.
    unsafe { (*data.cast::<Owner>()).request = ptr::null() };
}
