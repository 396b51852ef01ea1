//! What happens to a request.

use core::cell::Cell;

use ngx::core::Status;
use ngx::ffi::{
    NGX_HTTP_VAR_NOCACHEABLE, NGX_LOG_ERR, ngx_conf_t, ngx_http_request_t,
    ngx_http_upstream_srv_conf_t, ngx_int_t, ngx_str_t, ngx_variable_value_t,
};
use ngx::http::{HttpModuleMainConf, HttpModuleServerConf, Request};

use super::conf::{Cluster, UpstreamConf};
use super::logic::{Key, Rehash};
use super::module::MemcachedHash;
use crate::nginx::kept;
use crate::nginx::upstream::{Call, Choice};
use crate::nginx::variable::{self, answer};

/// The variable for what goes before the key on the wire.
pub(super) const NAMESPACE: &str = "memcached_namespace";

/// The variable that tells the server.
const SERVER: &str = "memcached_hash_server";

/// The longest key that memcached takes, in bytes (its protocol.txt, KEY_MAX_LENGTH).
const LONGEST_KEY: usize = 250;

/// What is known of a request, each subrequest for itself.
#[derive(Default)]
pub(crate) struct State {
    /// What `set` gave to `$memcached_namespace`.
    namespace: Cell<Option<ngx_str_t>>,
    /// The text of the server that was asked last.
    server: Cell<Option<ngx_str_t>>,
}

/// Defines the variables before the configuration is read.
pub(super) unsafe extern "C" fn define_variables(cf: *mut ngx_conf_t) -> ngx_int_t {
    // nginx shares the values it caches between a request and its subrequests.
    let flags = NGX_HTTP_VAR_NOCACHEABLE;
    // SAFETY: nginx passes a valid `cf`.
    let defined = unsafe {
        variable::define_settable(cf, NAMESPACE, flags, get_namespace, set_namespace)
            .and_then(|()| variable::define(cf, SERVER, flags, get_server))
    };
    defined.err().unwrap_or(Status::NGX_OK).into()
}

pub(super) unsafe extern "C" fn get_namespace(
    r: *mut ngx_http_request_t,
    value: *mut ngx_variable_value_t,
    _data: usize,
) -> ngx_int_t {
    // SAFETY: nginx passes a valid request and the value to be filled.
    unsafe { get(r, value, |state| state.namespace.get()) }
}

unsafe extern "C" fn get_server(
    r: *mut ngx_http_request_t,
    value: *mut ngx_variable_value_t,
    _data: usize,
) -> ngx_int_t {
    // SAFETY: nginx passes a valid request and the value to be filled.
    unsafe { get(r, value, |state| state.server.get()) }
}

/// # Safety
///
/// `r` and `value` are what nginx passed to the variable's function.
unsafe fn get(
    r: *mut ngx_http_request_t,
    value: *mut ngx_variable_value_t,
    field: impl Fn(&State) -> Option<ngx_str_t>,
) -> ngx_int_t {
    // SAFETY: nginx passes a valid request and the value to be filled.
    let (request, value) = unsafe { (Request::from_ngx_http_request(r), &mut *value) };
    match kept::find::<MemcachedHash>(request) {
        Ok(state) => {
            let text = state.and_then(field);
            answer(value, text.as_ref().map(ngx_str_t::as_bytes)).into()
        }
        Err(status) => status.into(),
    }
}

unsafe extern "C" fn set_namespace(
    r: *mut ngx_http_request_t,
    value: *mut ngx_variable_value_t,
    _data: usize,
) {
    // SAFETY: nginx passes a valid request and the value, whose text lives as long as the request.
    let (request, value) = unsafe { (Request::from_ngx_http_request(r), &*value) };
    // Without memory for it, the request fails later: `find_or_create` sees to that.
    if let Ok(state) = kept::find_or_create::<MemcachedHash>(request) {
        let namespace = ngx_str_t { len: value.as_bytes().len(), data: value.data };
        state.namespace.set(Some(namespace));
    }
    // Where a `map`, say, defines the variable too, what comes last counts.
    let conf = MemcachedHash::main_conf(request.as_ref());
    if let Some(index) = conf.and_then(|conf| conf.namespace) {
        // SAFETY: `r` is nginx's, and so is the index; the value's text lives as long as the request.
        unsafe { variable::assign(r, index, value.as_bytes()) };
    }
}

/// Decides which server a request is for.
pub(super) unsafe extern "C" fn init_peer(
    r: *mut ngx_http_request_t,
    us: *mut ngx_http_upstream_srv_conf_t,
) -> ngx_int_t {
    // SAFETY: nginx passes a valid request and its upstream, which live as long as the request.
    let (call, conf) = unsafe { (Call::new(r), MemcachedHash::server_conf(&*us)) };
    let (Some(call), Some(conf)) = (call, conf) else { return Status::NGX_ERROR.into() };
    let Some(cluster) = &conf.cluster else { return Status::NGX_ERROR.into() };

    let start = || {
        let state = kept::find_or_create::<MemcachedHash>(call.request())?;
        let choice = Search::start(cluster, key(call, conf, state)?, state);
        // SAFETY: `us` is nginx's, and `cluster` belongs to it.
        unsafe { call.start(us, cluster.outer, &cluster.lines, choice) }
    };
    start().err().unwrap_or(Status::NGX_OK).into()
}

/// The key that the server is chosen by; puts the namespace before the one on the wire. `None` if memcached
/// would not take that: it would answer with an error, which nginx counts as a failure of the server, and so
/// a client could have all of them passed over.
fn key<'r>(
    call: Call<'r>,
    conf: &UpstreamConf,
    state: &'r State,
) -> Result<Option<Key<'r>>, Status> {
    let request = call.request();
    let wire = match call.memcached_key() {
        Some(key) => Some(with_namespace(call, key, state)?),
        None => None,
    };
    if let Some(Key { wire, .. }) = wire.filter(|key| key.wire.len() > LONGEST_KEY) {
        tell_too_long(request, wire);
        return Ok(None);
    }

    if let Some(key) = &conf.key {
        let key = request.get_complex_value(key).ok_or(Status::NGX_ERROR)?;
        return Ok(Some(Key { wire: key.as_bytes(), namespace_len: 0 }));
    }
    wire.map(Some).ok_or_else(|| {
        ngx::ngx_log_error!(
            NGX_LOG_ERR,
            request.log(),
            "\"memcached_hash\" has no \"key=\" for a request that is not memcached's"
        );
        Status::NGX_ERROR
    })
}

#[cold]
fn tell_too_long(request: &Request, wire: &[u8]) {
    ngx::ngx_log_error!(
        NGX_LOG_ERR,
        request.log(),
        "the key has {} bytes, memcached takes {LONGEST_KEY}",
        wire.len()
    );
}

fn with_namespace<'r>(call: Call<'r>, key: &'r [u8], state: &'r State) -> Result<Key<'r>, Status> {
    let conf = MemcachedHash::main_conf(call.request().as_ref()).ok_or(Status::NGX_ERROR)?;
    let set = state.namespace.get();
    let namespace = match (conf.namespace, &set) {
        // Without the namespace the key would be another one.
        (Some(index), _) => call.variable(index).ok_or(Status::NGX_ERROR)?,
        (None, Some(set)) => set.as_bytes(),
        (None, None) => &[],
    };
    if namespace.is_empty() {
        return Ok(Key { wire: key, namespace_len: 0 });
    }

    call.create_with_prefix(conf.key.ok_or(Status::NGX_ERROR)?, namespace)?;
    let wire = call.memcached_key().ok_or(Status::NGX_ERROR)?;
    // What the namespace became on the wire is longer if it was escaped.
    Ok(Key { wire, namespace_len: wire.len().saturating_sub(key.len()) })
}

/// No server: there is no such line.
const NOBODY: usize = usize::MAX;

/// The search for a server that can be reached.
#[derive(Clone, Copy)]
struct Search<'r> {
    cluster: &'r Cluster,
    key: Key<'r>,
    server: usize,
    rehash: Rehash,
    state: &'r State,
}

impl<'r> Search<'r> {
    fn start(cluster: &'r Cluster, key: Option<Key<'r>>, state: &'r State) -> Self {
        let server = key.map_or(NOBODY, |key| cluster.placement.server(key));
        let key = key.unwrap_or(Key { wire: &[], namespace_len: 0 });
        let search = Self { cluster, key, server, rehash: Rehash::default(), state };
        search.tell();
        search
    }

    fn tell(&self) {
        self.state.server.set(self.cluster.names.get(self.server).copied());
    }

    /// Whether `server` is one of those asked before the last step of `rehash`.
    fn was_asked(&self, server: usize) -> bool {
        let mut rehash = Rehash::default();
        let mut asked = self.cluster.placement.server(self.key);
        while rehash != self.rehash {
            if asked == server {
                return true;
            }
            match self.cluster.placement.rehash(self.key, &mut rehash) {
                Some(next) => asked = next,
                None => break,
            }
        }
        false
    }
}

impl Choice for Search<'_> {
    fn line(&self) -> usize {
        self.server
    }

    fn next(&mut self) -> bool {
        if self.server == NOBODY {
            return false;
        }
        while let Some(server) = self.cluster.placement.rehash(self.key, &mut self.rehash) {
            if !self.was_asked(server) {
                self.server = server;
                self.tell();
                return true;
            }
        }
        false
    }
}
