//! Phases of a request.

use ngx::core::Status;
use ngx::ffi::{
    ngx_array_push, ngx_conf_t, ngx_http_handler_pt, ngx_http_phases,
    ngx_http_phases_NGX_HTTP_POST_READ_PHASE, ngx_http_phases_NGX_HTTP_PREACCESS_PHASE,
    ngx_http_request_t, ngx_int_t,
};
use ngx::http::{HttpModuleMainConf, NgxHttpCoreModule};

/// The function that nginx calls for a request in a phase.
pub(crate) type Handler = unsafe extern "C" fn(*mut ngx_http_request_t) -> ngx_int_t;

/// The phases that this library has handlers in.
#[derive(Clone, Copy)]
pub(crate) enum Phase {
    /// The header was read; the server's configuration holds.
    PostRead,
    /// Before limits and access rules; the location's configuration holds.
    PreAccess,
}

impl Phase {
    fn index(self) -> ngx_http_phases {
        match self {
            Self::PostRead => ngx_http_phases_NGX_HTTP_POST_READ_PHASE,
            Self::PreAccess => ngx_http_phases_NGX_HTTP_PREACCESS_PHASE,
        }
    }
}

/// Adds a handler to a phase. To be called from `postconfiguration`.
///
/// It runs before the handlers that were added to the phase earlier.
///
/// # Safety
///
/// `cf` is what nginx passed to the callback that is running.
pub(crate) unsafe fn add_handler(
    cf: *mut ngx_conf_t,
    phase: Phase,
    handler: Handler,
) -> Result<(), Status> {
    // SAFETY: nginx passes a valid `cf`, in the context of the `http` block.
    let core = unsafe { cf.as_ref() }.and_then(NgxHttpCoreModule::main_conf_mut);
    let phase = core.and_then(|core| core.phases.get_mut(phase.index() as usize));
    let phase = phase.ok_or(Status::NGX_ERROR)?;
    // SAFETY: nginx made this an array of `ngx_http_handler_pt`.
    let place =
        unsafe { ngx_array_push(&mut phase.handlers).cast::<ngx_http_handler_pt>().as_mut() };
    *place.ok_or(Status::NGX_ERROR)? = Some(handler);
    Ok(())
}
