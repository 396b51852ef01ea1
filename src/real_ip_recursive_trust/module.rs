//! The nginx module: its callbacks, as nginx's tables name them.

use core::ptr;

use ngx::ffi::{ngx_command_t, ngx_http_module_t, ngx_module_t};
use ngx::http::HttpModule;

use crate::nginx::module::http_module;

/// The nginx module of `real_ip_recursive_trust`.
pub(crate) struct RealIpRecursiveTrust;

impl HttpModule for RealIpRecursiveTrust {
    fn module() -> &'static ngx_module_t {
        // SAFETY: nginx sets the module up before it calls any of its functions.
        unsafe { &*&raw const ngx_http_realip_trust_module }
    }
}

static CONTEXT: ngx_http_module_t = ngx_http_module_t {
    preconfiguration: None,
    postconfiguration: None,
    create_main_conf: None,
    init_main_conf: None,
    create_srv_conf: None,
    merge_srv_conf: None,
    create_loc_conf: None,
    merge_loc_conf: None,
};

static mut COMMANDS: [ngx_command_t; 1] = [ngx_command_t::empty()];

#[allow(non_upper_case_globals)]
pub(crate) static mut ngx_http_realip_trust_module: ngx_module_t =
    http_module(&raw const CONTEXT, (&raw mut COMMANDS).cast());
