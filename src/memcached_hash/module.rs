//! The nginx module: its callbacks, as nginx's tables name them.

use ngx::ffi::{
    NGX_CONF_ANY, NGX_HTTP_SRV_CONF_OFFSET, NGX_HTTP_UPS_CONF, ngx_command_t, ngx_http_module_t,
    ngx_module_t,
};
use ngx::http::{HttpModule, HttpModuleMainConf, HttpModuleServerConf};

use super::conf::{self, MainConf, UpstreamConf};
use super::handlers::{self, State};
use crate::nginx::conf::create;
use crate::nginx::kept::KeepsState;
use crate::nginx::module::{command, http_module};

/// The nginx module of `memcached_hash`.
pub(crate) struct MemcachedHash;

impl HttpModule for MemcachedHash {
    fn module() -> &'static ngx_module_t {
        let module = &raw const ngx_http_upstream_memcached_hash_module;
        // SAFETY: nginx sets the module up before it calls any of its functions.
        unsafe { &*module }
    }
}

// SAFETY: `create_main_conf` makes one.
unsafe impl HttpModuleMainConf for MemcachedHash {
    type MainConf = MainConf;
}

// SAFETY: `create_srv_conf` makes one.
unsafe impl HttpModuleServerConf for MemcachedHash {
    type ServerConf = UpstreamConf;
}

impl KeepsState for MemcachedHash {
    type State = State;
}

static CONTEXT: ngx_http_module_t = ngx_http_module_t {
    preconfiguration: Some(handlers::define_variables),
    postconfiguration: Some(conf::find_variables),
    create_main_conf: Some(create::<MainConf>),
    init_main_conf: None,
    create_srv_conf: Some(create::<UpstreamConf>),
    merge_srv_conf: None,
    create_loc_conf: None,
    merge_loc_conf: None,
};

static mut COMMANDS: [ngx_command_t; 2] = [
    command(
        c"memcached_hash",
        NGX_HTTP_UPS_CONF | NGX_CONF_ANY,
        conf::memcached_hash,
        NGX_HTTP_SRV_CONF_OFFSET,
        0,
    ),
    ngx_command_t::empty(),
];

#[allow(non_upper_case_globals)]
pub(crate) static mut ngx_http_upstream_memcached_hash_module: ngx_module_t =
    http_module(&raw const CONTEXT, (&raw mut COMMANDS).cast());
