//! The directive and its configuration.

use core::ffi::{c_char, c_void};
use core::fmt::Display;

use ngx::core::{NGX_CONF_OK, Status};
use ngx::ffi::{
    ngx_command_t, ngx_conf_t, ngx_http_complex_value_t, ngx_http_upstream_server_t,
    ngx_http_upstream_srv_conf_t, ngx_int_t, ngx_str_t, ngx_uint_t,
};
use ngx::http::{HttpModuleMainConf, HttpModuleServerConf};

use super::handlers::{self, NAMESPACE};
use super::logic::{Params, Placement, Server};
use super::module::MemcachedHash;
use crate::nginx::conf::{Directive, IS_DUPLICATE};
use crate::nginx::upstream::{Block, InitPeer, InitUpstream, Lines};
use crate::nginx::variable;

/// nginx's variable for the key of the memcached module.
const KEY: &str = "memcached_key";

/// What all upstreams share.
#[derive(Default)]
pub(crate) struct MainConf {
    /// `$memcached_namespace`, if its value does not only come from `set`.
    pub(super) namespace: Option<ngx_uint_t>,
    /// `$memcached_key`, if it is used at all.
    pub(super) key: Option<ngx_uint_t>,
}

/// The configuration of one `upstream`.
#[derive(Default)]
pub(crate) struct UpstreamConf {
    params: Option<Params>,
    /// The string of `key=`.
    pub(super) key: Option<ngx_http_complex_value_t>,
    /// The method that the directive has taken the place of.
    former: Option<InitUpstream>,
    pub(super) cluster: Option<Cluster>,
}

/// The servers of an upstream that uses the directive.
pub(crate) struct Cluster {
    pub(super) placement: Placement,
    pub(super) lines: Lines,
    /// The text of each `server` line.
    pub(super) names: Box<[ngx_str_t]>,
    pub(super) outer: Option<InitPeer>,
}

/// `memcached_hash [parameter ...]`.
pub(super) unsafe extern "C" fn memcached_hash(
    cf: *mut ngx_conf_t,
    _cmd: *mut ngx_command_t,
    conf: *mut c_void,
) -> *mut c_char {
    // SAFETY: nginx passes a valid `cf`, and the configuration that `create_srv_conf` made.
    let (directive, conf) = unsafe { (Directive::new(cf), &mut *conf.cast::<UpstreamConf>()) };
    if conf.params.is_some() {
        return IS_DUPLICATE;
    }

    let params = match Params::parse(directive.args()) {
        Ok(params) => params,
        Err(error) => return directive.error(error),
    };
    if let Some(key) = params.key() {
        match directive.complex_value(key) {
            Some(value) => conf.key = Some(value),
            None => return directive.error("invalid value of \"key\""),
        }
    }
    conf.params = Some(params);

    // SAFETY: the directive stands in an `upstream`.
    unsafe {
        let Some(mut block) = Block::of_directive(cf) else {
            return directive.error("is allowed in \"upstream\" only");
        };
        conf.former = block.set_method(cf, init_upstream);
    }
    NGX_CONF_OK
}

/// Prepares an upstream when all of it has been read.
unsafe extern "C" fn init_upstream(
    cf: *mut ngx_conf_t,
    us: *mut ngx_http_upstream_srv_conf_t,
) -> ngx_int_t {
    // SAFETY: nginx passes a valid `cf` and the upstream, which has this module's configuration.
    let (mut block, conf) = unsafe {
        let Some(conf) = MemcachedHash::server_conf_mut(&*us) else {
            return Status::NGX_ERROR.into();
        };
        (Block::new(us), conf)
    };

    // SAFETY: `cf` is nginx's.
    let fail = |block: &Block<'_>, reason: &dyn Display| unsafe {
        block.error(cf, format_args!("\"memcached_hash\" directive: {reason}")).into()
    };
    let Some(params) = &conf.params else { return fail(&block, &"has not been read") };

    // SAFETY: `cf` is nginx's.
    let outer = match unsafe { block.init(cf, conf.former, handlers::init_peer) } {
        Ok(outer) => outer,
        Err(status) => return status.into(),
    };

    let servers = block.servers();
    let placement = match place(params, servers) {
        Ok(placement) => placement,
        Err(reason) => return fail(&block, &reason),
    };
    conf.cluster = Some(Cluster {
        placement,
        lines: Lines::new(servers),
        names: servers.iter().map(|server| server.name).collect(),
        outer: outer.filter(|_| conf.former.is_some()),
    });
    Status::NGX_OK.into()
}

fn place(params: &Params, servers: &[ngx_http_upstream_server_t]) -> Result<Placement, String> {
    let mut placed = Vec::with_capacity(servers.len());
    for server in servers {
        if server.backup() != 0 {
            return Err(format!(
                "balancing method does not support parameter \"backup\" of server \"{}\"",
                server.name
            ));
        }
        let weight = u32::try_from(server.weight).map_err(|_| {
            format!(
                "weight {} of server \"{}\" is over the limit of {}",
                server.weight,
                server.name,
                u32::MAX
            )
        })?;
        placed.push(Server { name: server.name.as_bytes(), weight });
    }
    params.build(&placed).map_err(|error| error.to_string())
}

/// Learns where nginx keeps the variables, when all directives have been read.
pub(super) unsafe extern "C" fn find_variables(cf: *mut ngx_conf_t) -> ngx_int_t {
    // SAFETY: nginx passes a valid `cf`, with the configuration that `create_main_conf` made.
    unsafe {
        let Some(conf) = MemcachedHash::main_conf_mut(&*cf) else {
            return Status::NGX_ERROR.into();
        };
        // nginx has no array of variables before the first is indexed.
        let Ok(namespace) = variable::index(cf, NAMESPACE) else {
            return Status::NGX_ERROR.into();
        };
        let is_set = variable::is_still(cf, NAMESPACE, handlers::get_namespace);
        conf.namespace = (!is_set).then_some(namespace);
        conf.key = variable::index_in_use(cf, KEY);
    }
    Status::NGX_OK.into()
}
