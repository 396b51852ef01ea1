//! Variables: those a module defines, and those it reads.

use core::ffi::c_void;
use std::io::Write;

use ngx::core::Status;
use ngx::ffi::{
    ngx_conf_t, ngx_http_add_variable, ngx_http_get_variable_index, ngx_http_request_t, ngx_int_t,
    ngx_str_t, ngx_uint_t, ngx_variable_value_t,
};
use ngx::http::Request;

use super::module::ngx_str;
use super::pool::PoolExt;

/// The function that gives a variable its value.
pub(crate) type GetHandler =
    unsafe extern "C" fn(*mut ngx_http_request_t, *mut ngx_variable_value_t, usize) -> ngx_int_t;

/// Defines a variable. To be called from `preconfiguration`; `flags` are `NGX_HTTP_VAR_*`.
///
/// # Safety
///
/// `cf` is what nginx passed to the callback that is running.
pub(crate) unsafe fn define(
    cf: *mut ngx_conf_t,
    name: &'static str,
    flags: u32,
    get: GetHandler,
) -> Result<(), Status> {
    let mut name = ngx_str(name);
    // SAFETY: nginx passes a valid `cf`; it copies the name.
    let variable =
        unsafe { ngx_http_add_variable(cf, &raw mut name, flags as ngx_uint_t).as_mut() };
    variable.ok_or(Status::NGX_ERROR)?.get_handler = Some(get);
    Ok(())
}

/// The place of a variable among those that are indexed, for [`super::request::RequestExt::variable`].
///
/// # Safety
///
/// `cf` is what nginx passed to the callback that is running.
pub(crate) unsafe fn index(cf: *mut ngx_conf_t, name: &'static str) -> Result<ngx_uint_t, Status> {
    let mut name: ngx_str_t = ngx_str(name);
    // SAFETY: nginx passes a valid `cf`; the name is static.
    let index = unsafe { ngx_http_get_variable_index(cf, &raw mut name) };
    ngx_uint_t::try_from(index).map_err(|_| Status::NGX_ERROR)
}

/// Gives a variable a value that lives as long as the request.
///
/// `None` is "not found", which reads as an empty string.
pub(crate) fn answer(value: &mut ngx_variable_value_t, bytes: Option<&[u8]>) -> Status {
    match bytes {
        // A value of 256 MB or more does not fit the 28 bits of `len`.
        Some(bytes) if bytes.len() < 1 << 28 => {
            value.set_len(bytes.len() as u32);
            value.set_valid(1);
            value.set_no_cacheable(0);
            value.set_not_found(0);
            value.data = bytes.as_ptr().cast_mut();
        }
        _ => value.set_not_found(1),
    }
    Status::NGX_OK
}

/// Gives a variable a number in decimal.
pub(crate) fn answer_number(
    request: &Request,
    value: &mut ngx_variable_value_t,
    number: usize,
) -> Status {
    let mut text = [0; const { usize::MAX.ilog10() as usize + 1 }];
    let room = text.len();
    let mut rest = text.as_mut_slice();
    // There is room for every number, so nothing is cut off.
    let _ = write!(rest, "{number}");
    let len = room.saturating_sub(rest.len());
    match request.pool().collect(text.iter().copied(), len) {
        // SAFETY: what was collected lives as long as the request.
        Some(text) => answer(value, Some(unsafe { text.as_ref() })),
        None => Status::NGX_ERROR,
    }
}

/// Reads nothing: for a variable that only `set` gives a value.
pub(crate) unsafe extern "C" fn unset(
    _r: *mut ngx_http_request_t,
    value: *mut ngx_variable_value_t,
    _data: usize,
) -> ngx_int_t {
    let _: *mut c_void = value.cast();
    // SAFETY: nginx passes the value to be filled.
    if let Some(value) = unsafe { value.as_mut() } {
        value.set_not_found(1);
    }
    Status::NGX_OK.into()
}
