//! The nginx module: its callbacks, as nginx's tables name them.

use ngx::ffi::{ngx_command_t, ngx_http_module_t, ngx_module_t};
use ngx::http::{HttpModule, HttpModuleLocationConf, HttpModuleMainConf};

use super::conf::{self, LocationConf, MainConf};
use crate::nginx::module::http_module;

/// The nginx module of `real_ip_recursive_trust`.
pub(crate) struct RealIpRecursiveTrust;

impl HttpModule for RealIpRecursiveTrust {
    fn module() -> &'static ngx_module_t {
        let module = &raw const ngx_http_realip_trust_module;
        // SAFETY: nginx sets the module up before it calls any of its functions.
        unsafe { &*module }
    }
}

// SAFETY: `create_main_conf` makes a `MainConf`.
unsafe impl HttpModuleMainConf for RealIpRecursiveTrust {
    type MainConf = MainConf;
}

// SAFETY: `create_loc_conf` makes a `LocationConf`.
unsafe impl HttpModuleLocationConf for RealIpRecursiveTrust {
    type LocationConf = LocationConf;
}

static CONTEXT: ngx_http_module_t = ngx_http_module_t {
    preconfiguration: Some(conf::preconfiguration),
    postconfiguration: Some(conf::postconfiguration),
    create_main_conf: Some(conf::create_main_conf),
    init_main_conf: None,
    create_srv_conf: None,
    merge_srv_conf: None,
    create_loc_conf: Some(conf::create_loc_conf),
    merge_loc_conf: Some(conf::merge_loc_conf),
};

static mut COMMANDS: [ngx_command_t; 2] = conf::COMMANDS;

#[allow(non_upper_case_globals)]
pub(crate) static mut ngx_http_realip_trust_module: ngx_module_t =
    http_module(&raw const CONTEXT, (&raw mut COMMANDS).cast());
