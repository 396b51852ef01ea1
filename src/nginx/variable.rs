//! Variables: those a module defines, and those it reads.

use core::ptr;
use std::io::Write;

use ngx::core::Status;
use ngx::ffi::{
    NGX_HTTP_VAR_CHANGEABLE, NGX_HTTP_VAR_WEAK, ngx_conf_t, ngx_http_add_variable,
    ngx_http_get_variable_index, ngx_http_request_t, ngx_http_variable_t, ngx_int_t, ngx_str_t,
    ngx_uint_t, ngx_variable_value_t,
};
use ngx::http::{HttpModuleMainConf, NgxHttpCoreModule, Request};

use super::module::ngx_str;
use super::pool::PoolExt;
use super::shim;

/// The function that gives a variable its value.
pub(crate) type GetHandler =
    unsafe extern "C" fn(*mut ngx_http_request_t, *mut ngx_variable_value_t, usize) -> ngx_int_t;

/// The function that takes the value that `set` gives to a variable.
pub(crate) type SetHandler =
    unsafe extern "C" fn(*mut ngx_http_request_t, *mut ngx_variable_value_t, usize);

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
    // SAFETY: the caller's.
    unsafe { add(cf, name, flags)? }.get_handler = Some(get);
    Ok(())
}

/// As [`define`], for a variable that `set` may give a value.
///
/// # Safety
///
/// As for [`define`].
pub(crate) unsafe fn define_settable(
    cf: *mut ngx_conf_t,
    name: &'static str,
    flags: u32,
    get: GetHandler,
    set: SetHandler,
) -> Result<(), Status> {
    // SAFETY: the caller's.
    let variable = unsafe { add(cf, name, flags | NGX_HTTP_VAR_CHANGEABLE)? };
    variable.get_handler = Some(get);
    variable.set_handler = Some(set);
    Ok(())
}

/// # Safety
///
/// As for [`define`].
unsafe fn add<'a>(
    cf: *mut ngx_conf_t,
    name: &'static str,
    flags: u32,
) -> Result<&'a mut ngx_http_variable_t, Status> {
    let mut name = ngx_str(name);
    // SAFETY: nginx passes a valid `cf`; it copies the name, and keeps the variable with the
    // configuration.
    let variable =
        unsafe { ngx_http_add_variable(cf, &raw mut name, flags as ngx_uint_t).as_mut() };
    variable.ok_or(Status::NGX_ERROR)
}

/// The place of a variable among those that are indexed, for `ngx_http_get_indexed_variable`.
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

/// The place of a variable that some directive of the configuration uses. To be called from
/// `postconfiguration`, when all have been read.
///
/// # Safety
///
/// `cf` is what nginx passed to the callback that is running.
pub(crate) unsafe fn index_in_use(cf: *mut ngx_conf_t, name: &str) -> Option<ngx_uint_t> {
    // SAFETY: nginx passes a valid `cf`, and fills the array with variables.
    let variables = unsafe {
        let main = NgxHttpCoreModule::main_conf(&*cf)?;
        main.variables.as_slice::<ngx_http_variable_t>()
    };
    variables.iter().position(|variable| variable.name.as_bytes() == name.as_bytes())
}

/// Whether the value of a variable that was defined with [`define_settable`] comes from nothing but
/// `set`: another directive, such as `map`, may have defined it anew. To be called from
/// `postconfiguration`.
///
/// # Safety
///
/// `cf` is what nginx passed to the callback that is running.
pub(crate) unsafe fn is_still(cf: *mut ngx_conf_t, name: &'static str, get: GetHandler) -> bool {
    // SAFETY: the caller's.
    let variable = unsafe { add(cf, name, NGX_HTTP_VAR_CHANGEABLE | NGX_HTTP_VAR_WEAK) };
    let handler = variable.ok().and_then(|variable| variable.get_handler);
    handler.is_some_and(|handler| ptr::fn_addr_eq(handler, get))
}

/// Gives a variable a value until another directive does, as `set` does to one that has no function for it.
///
/// # Safety
///
/// `r` is what nginx passed to the function that is running, and gave the index for its configuration; the bytes
/// live as long as the request.
pub(crate) unsafe fn assign(r: *mut ngx_http_request_t, index: ngx_uint_t, bytes: &[u8]) {
    // SAFETY: nginx keeps a value for each index.
    answer(unsafe { &mut *(*r).variables.add(index) }, Some(bytes));
}

/// Gives a variable a value that lives as long as the request.
///
/// `None` is "not found", which reads as an empty string.
pub(crate) fn answer(value: &mut ngx_variable_value_t, bytes: Option<&[u8]>) -> Status {
    match bytes {
        // A value of 256 MB or more does not fit the 28 bits of `len`.
        Some(bytes) if bytes.len() < 1 << 28 => {
            // SAFETY: the bytes live as long as the value.
            unsafe { shim::cachefront_variable_set(value, bytes.as_ptr(), bytes.len()) };
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
