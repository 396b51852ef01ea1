//! The nginx modules: their callbacks, as nginx's tables name them.
//!
//! nginx lets a module have one place among the filters, and this work needs three; the two helpers have no
//! directives of their own.

use core::ptr;

use ngx::core::Status;
use ngx::ffi::{NGX_HTTP_VAR_NOCACHEABLE, ngx_conf_t, ngx_http_module_t, ngx_int_t, ngx_module_t};
use ngx::http::HttpModule;

use super::conf::{self, COMMANDS};
use super::handlers::{
    self, NEXT_BEFORE_GUNZIP, NEXT_BEFORE_GZIP, NEXT_BODY, NEXT_HEADER, args_variable,
    callback_variable,
};
use crate::nginx::module::http_module;
use crate::nginx::variable;

/// The nginx module of `jsonp_callback`.
pub(crate) struct JsonpCallback;

impl HttpModule for JsonpCallback {
    fn module() -> &'static ngx_module_t {
        let module = &raw const ngx_http_jsonp_callback_filter_module;
        // SAFETY: nginx sets the module up before it calls any of its functions.
        unsafe { &*module }
    }
}

/// A module without callbacks.
const NONE: ngx_http_module_t = ngx_http_module_t {
    preconfiguration: None,
    postconfiguration: None,
    create_main_conf: None,
    init_main_conf: None,
    create_srv_conf: None,
    merge_srv_conf: None,
    create_loc_conf: None,
    merge_loc_conf: None,
};

static CONTEXT: ngx_http_module_t = ngx_http_module_t {
    preconfiguration: Some(preconfiguration),
    postconfiguration: Some(postconfiguration),
    create_loc_conf: Some(conf::create_loc_conf),
    merge_loc_conf: Some(conf::merge_loc_conf),
    ..NONE
};

static BEFORE_GUNZIP: ngx_http_module_t =
    ngx_http_module_t { postconfiguration: Some(postconfiguration_before_gunzip), ..NONE };

static BEFORE_GZIP: ngx_http_module_t =
    ngx_http_module_t { postconfiguration: Some(postconfiguration_before_gzip), ..NONE };

#[allow(non_upper_case_globals)]
pub(crate) static mut ngx_http_jsonp_callback_filter_module: ngx_module_t =
    http_module(&raw const CONTEXT, (&raw mut COMMANDS).cast());

#[allow(non_upper_case_globals)]
pub(crate) static mut ngx_http_jsonp_callback_gunzip_filter_module: ngx_module_t =
    http_module(&raw const BEFORE_GUNZIP, ptr::null_mut());

#[allow(non_upper_case_globals)]
pub(crate) static mut ngx_http_jsonp_callback_type_filter_module: ngx_module_t =
    http_module(&raw const BEFORE_GZIP, ptr::null_mut());

unsafe extern "C" fn preconfiguration(cf: *mut ngx_conf_t) -> ngx_int_t {
    let variables: [(&str, variable::GetHandler); 2] =
        [("jsonp_callback", callback_variable), ("jsonp_args", args_variable)];
    for (name, get) in variables {
        // Both depend on the location.
        // SAFETY: `cf` is what nginx passed.
        if let Err(status) = unsafe { variable::define(cf, name, NGX_HTTP_VAR_NOCACHEABLE, get) } {
            return status.into();
        }
    }
    Status::NGX_OK.into()
}

unsafe extern "C" fn postconfiguration(_cf: *mut ngx_conf_t) -> ngx_int_t {
    // SAFETY: this is `postconfiguration`.
    unsafe {
        NEXT_HEADER.put_first(handlers::header_filter);
        NEXT_BODY.put_first(handlers::body_filter);
    }
    Status::NGX_OK.into()
}

unsafe extern "C" fn postconfiguration_before_gunzip(_cf: *mut ngx_conf_t) -> ngx_int_t {
    // SAFETY: this is `postconfiguration`.
    unsafe { NEXT_BEFORE_GUNZIP.put_first(handlers::header_filter_before_gunzip) };
    Status::NGX_OK.into()
}

unsafe extern "C" fn postconfiguration_before_gzip(_cf: *mut ngx_conf_t) -> ngx_int_t {
    // SAFETY: this is `postconfiguration`.
    unsafe { NEXT_BEFORE_GZIP.put_first(handlers::header_filter_before_gzip) };
    Status::NGX_OK.into()
}
