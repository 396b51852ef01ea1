//! Load balancing on nginx's round-robin peers, as the core methods do it: shared memory, limits,
//! failures and `keepalive` are nginx's own.

use core::cell::Cell;
use core::ffi::{CStr, c_char, c_void};
use core::fmt::Display;
use core::iter;
use core::marker::PhantomData;
use core::ptr::{self, NonNull};
use core::slice;

use ngx::core::Status;
use ngx::ffi::{
    NGX_HTTP_UPSTREAM_CREATE, NGX_HTTP_UPSTREAM_DOWN, NGX_HTTP_UPSTREAM_FAIL_TIMEOUT,
    NGX_HTTP_UPSTREAM_MAX_CONNS, NGX_HTTP_UPSTREAM_MAX_FAILS, NGX_HTTP_UPSTREAM_WEIGHT,
    NGX_LOG_EMERG, NGX_LOG_WARN, NGX_PEER_FAILED, ngx_conf_t, ngx_event_free_peer_pt,
    ngx_event_get_peer_pt, ngx_http_get_flushed_variable, ngx_http_get_indexed_variable,
    ngx_http_request_t, ngx_http_upstream_free_round_robin_peer,
    ngx_http_upstream_init_round_robin, ngx_http_upstream_init_round_robin_peer,
    ngx_http_upstream_rr_peer_data_t, ngx_http_upstream_rr_peer_t, ngx_http_upstream_rr_peers_t,
    ngx_http_upstream_server_t, ngx_http_upstream_srv_conf_t, ngx_http_upstream_t, ngx_int_t,
    ngx_peer_connection_t, ngx_time, ngx_uint_t, time_t,
};
use ngx::http::{HttpModuleServerConf, NgxHttpUpstreamModule, Request};

use super::pool::PoolExt;
use super::shim;
use super::variable::answer;

/// The function that prepares an `upstream` when the configuration has been read.
pub(crate) type InitUpstream =
    unsafe extern "C" fn(*mut ngx_conf_t, *mut ngx_http_upstream_srv_conf_t) -> ngx_int_t;

/// The function that prepares a request to be sent to an `upstream`.
pub(crate) type InitPeer =
    unsafe extern "C" fn(*mut ngx_http_request_t, *mut ngx_http_upstream_srv_conf_t) -> ngx_int_t;

/// An `upstream` block.
pub(crate) struct Block<'a>(&'a mut ngx_http_upstream_srv_conf_t);

impl<'a> Block<'a> {
    /// The block that holds the directive being read.
    ///
    /// # Safety
    ///
    /// `cf` is what nginx passed for a directive with `NGX_HTTP_UPS_CONF`.
    pub(crate) unsafe fn of_directive(cf: *mut ngx_conf_t) -> Option<Self> {
        // SAFETY: nginx passes a valid `cf`.
        NgxHttpUpstreamModule::server_conf_mut(unsafe { &*cf }).map(Self)
    }

    /// # Safety
    ///
    /// `us` is what nginx passed to the [`InitUpstream`] that is running.
    pub(crate) unsafe fn new(us: *mut ngx_http_upstream_srv_conf_t) -> Self {
        // SAFETY: nginx passes a valid block.
        Self(unsafe { &mut *us })
    }

    /// Makes `init` the method of the block, and says what it was until now.
    ///
    /// # Safety
    ///
    /// `cf` is what nginx passed for the directive that is being read.
    pub(crate) unsafe fn set_method(
        &mut self,
        cf: *mut ngx_conf_t,
        init: InitUpstream,
    ) -> Option<InitUpstream> {
        let former = self.0.peer.init_upstream.replace(init);
        if former.is_some() {
            ngx::ngx_conf_log_error!(NGX_LOG_WARN, cf, "load balancing method redefined");
        }

        let flags = NGX_HTTP_UPSTREAM_CREATE
            | NGX_HTTP_UPSTREAM_WEIGHT
            | NGX_HTTP_UPSTREAM_MAX_CONNS
            | NGX_HTTP_UPSTREAM_MAX_FAILS
            | NGX_HTTP_UPSTREAM_FAIL_TIMEOUT
            | NGX_HTTP_UPSTREAM_DOWN;
        // SAFETY: it only returns a constant.
        self.0.flags = flags as ngx_uint_t | unsafe { shim::cachefront_upstream_modify() };
        former
    }

    /// Makes the peers of the `server` lines, with `init` or as round robin has them; and makes `start`
    /// the function that prepares a request, instead of the one that this gave, which is returned.
    ///
    /// # Safety
    ///
    /// `cf` is what nginx passed to the [`InitUpstream`] that is running.
    pub(crate) unsafe fn init(
        &mut self,
        cf: *mut ngx_conf_t,
        init: Option<InitUpstream>,
        start: InitPeer,
    ) -> Result<Option<InitPeer>, Status> {
        let init = init.unwrap_or(ngx_http_upstream_init_round_robin);
        // SAFETY: nginx passes a valid `cf`, and this is the block it reads.
        match Status(unsafe { init(cf, &raw mut *self.0) }) {
            Status::NGX_OK => Ok(self.0.peer.init.replace(start)),
            _ => Err(Status::NGX_ERROR),
        }
    }

    /// The `server` lines in their order.
    pub(crate) fn servers(&self) -> &'a [ngx_http_upstream_server_t] {
        // SAFETY: the array holds servers, and lives as long as the configuration.
        unsafe { self.0.servers.as_ref().map_or(&[], |servers| servers.as_slice()) }
    }

    /// Says why the block cannot stand, as nginx does: `reason in upstream "name" in file:line`.
    ///
    /// # Safety
    ///
    /// `cf` is what nginx passed to the [`InitUpstream`] that is running.
    pub(crate) unsafe fn error(&self, cf: *mut ngx_conf_t, reason: impl Display) -> Status {
        // SAFETY: nginx passes a valid `cf`, and names the file with a terminated string.
        let (log, file) = unsafe {
            let file = self.0.file_name.cast::<c_char>();
            (&mut *(*cf).log, if file.is_null() { c"" } else { CStr::from_ptr(file) })
        };
        ngx::ngx_log_error!(
            NGX_LOG_EMERG,
            log,
            "{reason} in upstream \"{}\" in {}:{}",
            self.0.host,
            file.to_str().unwrap_or_default(),
            self.0.line
        );
        Status::NGX_ERROR
    }
}

/// Where the addresses of each `server` line are in nginx's list of peers.
///
/// One line may have several addresses, and several lines the same text. nginx lists the addresses
/// of all lines whose names it resolved when it read the configuration, line by line; behind them
/// come those that it resolves at run time, which come and go.
pub(crate) struct Lines {
    lines: Box<[Line]>,
    /// The list that `first` of the lines is about.
    list: Cell<List>,
}

struct Line {
    /// How many addresses it has; `None` if its name is resolved at run time.
    addresses: Option<usize>,
    /// The first in the list of peers, NULL if there is none.
    first: Cell<*mut ngx_http_upstream_rr_peer_t>,
}

/// One state of a list of peers.
#[derive(Clone, Copy, PartialEq)]
struct List {
    peers: *const ngx_http_upstream_rr_peers_t,
    /// A number that changes whenever a peer comes or goes.
    config: ngx_uint_t,
}

impl Lines {
    pub(crate) fn new(servers: &[ngx_http_upstream_server_t]) -> Self {
        let line = |server: &ngx_http_upstream_server_t| {
            // SAFETY: `server` is valid.
            let resolves = unsafe { shim::cachefront_server_resolves(server) } != 0;
            Line {
                addresses: (!resolves).then_some(server.naddrs),
                first: Cell::new(ptr::null_mut()),
            }
        };
        let none = List { peers: ptr::null(), config: 0 };
        Self { lines: servers.iter().map(line).collect(), list: Cell::new(none) }
    }

    /// The addresses of a line, none if there is no such line.
    fn addresses<'a>(&self, line: usize, peers: &'a Peers) -> Addresses<'a> {
        if self.list.get() != peers.list() {
            self.find(peers);
        }

        let (first, left) = match self.lines.get(line) {
            Some(line) => (line.first.get(), line.addresses),
            None => (ptr::null_mut(), None),
        };
        let (left, host) = match (left, NonNull::new(first)) {
            (Some(left), _) => (left, None),
            (None, Some(first)) => (usize::MAX, peers.host(first)),
            (None, None) => (0, None),
        };
        Addresses { peers, next: first, left, host }
    }

    /// Walks the list once for all lines, and once more for each that is resolved at run time.
    #[cold]
    fn find(&self, peers: &Peers) {
        let mut fixed = peers.all();
        let mut hosts = peers.hosts();
        for line in &self.lines {
            let first = match line.addresses {
                Some(0) => None,
                Some(more) => {
                    let first = fixed.next();
                    fixed.by_ref().take(more.saturating_sub(1)).for_each(drop);
                    first
                }
                None => {
                    let host = hosts.next();
                    peers.all().find(|&peer| host.is_some() && peers.host(peer) == host)
                }
            };
            line.first.set(first.map_or(ptr::null_mut(), NonNull::as_ptr));
        }
        self.list.set(peers.list());
    }
}

/// The addresses of one line.
struct Addresses<'a> {
    peers: &'a Peers,
    next: *mut ngx_http_upstream_rr_peer_t,
    left: usize,
    /// What tells the line's addresses from others; `None` if there are no others between them.
    host: Option<NonNull<c_void>>,
}

impl Iterator for Addresses<'_> {
    type Item = PeerPtr;

    fn next(&mut self) -> Option<PeerPtr> {
        self.left = self.left.checked_sub(1)?;
        loop {
            let peer = NonNull::new(self.next)?;
            // SAFETY: the peers of a locked list are valid.
            self.next = unsafe { peer.as_ref() }.next;
            if self.host.is_none() || self.peers.host(peer) == self.host {
                return Some(peer);
            }
        }
    }
}

type PeerPtr = NonNull<ngx_http_upstream_rr_peer_t>;

/// nginx's list of peers, locked for reading.
struct Peers {
    peers: NonNull<ngx_http_upstream_rr_peers_t>,
    config: ngx_uint_t,
}

impl Peers {
    /// # Safety
    ///
    /// `peers` is a list of the running configuration.
    unsafe fn lock(peers: *mut ngx_http_upstream_rr_peers_t) -> Self {
        // SAFETY: the list is valid.
        unsafe {
            let config = shim::cachefront_peers_rlock(peers);
            Self { peers: NonNull::new_unchecked(peers), config }
        }
    }

    fn as_ref(&self) -> &ngx_http_upstream_rr_peers_t {
        // SAFETY: the list is valid, and locked.
        unsafe { self.peers.as_ref() }
    }

    fn list(&self) -> List {
        List { peers: self.peers.as_ptr(), config: self.config }
    }

    /// All peers, in their order.
    fn all(&self) -> impl Iterator<Item = PeerPtr> + use<'_> {
        self.from(self.as_ref().peer)
    }

    /// The hosts of the lines that are resolved at run time, in the order of these.
    fn hosts(&self) -> impl Iterator<Item = NonNull<c_void>> + use<'_> {
        // SAFETY: the list is valid, and locked.
        let first = unsafe { shim::cachefront_peers_resolve(self.peers.as_ptr()) };
        self.from(first).filter_map(|peer| self.host(peer))
    }

    /// `first` and the peers behind it.
    fn from(
        &self,
        first: *mut ngx_http_upstream_rr_peer_t,
    ) -> impl Iterator<Item = PeerPtr> + use<'_> {
        // SAFETY: the peers of a locked list are valid.
        iter::successors(NonNull::new(first), |peer| NonNull::new(unsafe { peer.as_ref() }.next))
    }

    /// What the addresses of a line that is resolved at run time have in common.
    fn host(&self, peer: PeerPtr) -> Option<NonNull<c_void>> {
        // SAFETY: the peers of a locked list are valid.
        NonNull::new(unsafe { shim::cachefront_peer_host(peer.as_ptr()) }.cast_mut())
    }
}

impl Drop for Peers {
    fn drop(&mut self) {
        // SAFETY: it was locked by `lock`.
        unsafe { shim::cachefront_peers_unlock(self.peers.as_ptr()) };
    }
}

/// A peer, locked.
struct Peer<'a> {
    peers: &'a Peers,
    peer: PeerPtr,
}

impl<'a> Peer<'a> {
    fn lock(peers: &'a Peers, peer: PeerPtr) -> Self {
        // SAFETY: the peers of a locked list are valid.
        unsafe { shim::cachefront_peer_lock(peers.peers.as_ptr(), peer.as_ptr()) };
        Self { peers, peer }
    }

    /// Whether nginx would send a request there now (`ngx_http_upstream_get_hash_peer`).
    fn is_usable(&self) -> bool {
        // SAFETY: the peer is valid, and locked.
        let peer = unsafe { self.peer.as_ref() };
        let failed = peer.max_fails > 0
            && peer.fails >= peer.max_fails
            && since(peer.checked) <= peer.fail_timeout;
        let full = peer.max_conns > 0 && peer.conns >= peer.max_conns;
        peer.down == 0 && !failed && !full
    }

    /// Has the request sent there.
    fn take(mut self, rrp: &mut ngx_http_upstream_rr_peer_data_t, pc: &mut ngx_peer_connection_t) {
        rrp.current = self.peer.as_ptr();
        // SAFETY: the peer is valid, and locked; `current` keeps it until it is freed.
        let peer = unsafe {
            let peers = self.peers.peers.as_ptr();
            shim::cachefront_peer_take(peers, self.peer.as_ptr(), &raw mut *pc);
            self.peer.as_mut()
        };

        pc.sockaddr = peer.sockaddr;
        pc.socklen = peer.socklen;
        pc.name = &raw mut peer.name;

        peer.conns = peer.conns.wrapping_add(1);
        if since(peer.checked) > peer.fail_timeout {
            peer.checked = ngx_time();
        }
    }
}

impl Drop for Peer<'_> {
    fn drop(&mut self) {
        // SAFETY: it was locked by `lock`.
        unsafe { shim::cachefront_peer_unlock(self.peers.peers.as_ptr(), self.peer.as_ptr()) };
    }
}

/// Seconds from `time` until now.
fn since(time: time_t) -> time_t {
    ngx_time().wrapping_sub(time)
}

/// Which `server` lines a request asks.
pub(crate) trait Choice: Copy {
    /// The line to ask: its place among the `server` lines. None is asked if there is no such line.
    fn line(&self) -> usize;

    /// Goes on to the line to ask when no address of this one can be reached; false if there is none.
    fn next(&mut self) -> bool;
}

/// A request that is about to be sent to an upstream.
#[derive(Clone, Copy)]
pub(crate) struct Call<'r> {
    r: NonNull<ngx_http_request_t>,
    upstream: NonNull<ngx_http_upstream_t>,
    lifetime: PhantomData<&'r ngx_http_request_t>,
}

impl<'r> Call<'r> {
    /// # Safety
    ///
    /// `r` is what nginx passed to the [`InitPeer`] that is running, and the call ends with it.
    pub(crate) unsafe fn new(r: *mut ngx_http_request_t) -> Option<Self> {
        let r = NonNull::new(r)?;
        // SAFETY: nginx passes a valid request.
        let upstream = NonNull::new(unsafe { r.as_ref() }.upstream)?;
        Some(Self { r, upstream, lifetime: PhantomData })
    }

    /// The request, to be read.
    pub(crate) fn request(self) -> &'r Request {
        // SAFETY: the request is valid; nothing that the call does moves or frees what is read of it.
        unsafe { Request::from_ngx_http_request(self.r.as_ptr()) }
    }

    /// The value of a variable, computed anew if nginx would; empty if it has none. `None` if it cannot be computed.
    pub(crate) fn variable(self, index: ngx_uint_t) -> Option<&'r [u8]> {
        // SAFETY: nginx gave the index for this configuration; values live as long as the request.
        let value = unsafe { ngx_http_get_flushed_variable(self.r.as_ptr(), index).as_ref() }?;
        Some(if value.not_found() == 0 { value.as_bytes() } else { &[] })
    }

    /// The key that nginx's memcached module is about to send, namespace included; `None` if the
    /// request is for another protocol.
    pub(crate) fn memcached_key(self) -> Option<&'r [u8]> {
        // SAFETY: nginx has filled in `upstream`, and made the buffers of the request, which live as
        // long as the request.
        let command = unsafe {
            let upstream = self.upstream.as_ref();
            if upstream.schema.as_bytes() != b"memcached://" {
                return None;
            }
            let buf = upstream.request_bufs.as_ref()?.buf.as_ref()?;
            let len = usize::try_from(buf.last.offset_from(buf.pos)).ok()?;
            slice::from_raw_parts(buf.pos, len)
        };
        command.strip_prefix(b"get ")?.strip_suffix(b"\r\n")
    }

    /// Has nginx make the request again, as if the variable had `prefix` before its value.
    pub(crate) fn create_with_prefix(self, index: ngx_uint_t, prefix: &[u8]) -> Result<(), Status> {
        // SAFETY: nginx gave the index for this configuration, and keeps a value for each index.
        let (create, mut slot) = unsafe {
            let create = self.upstream.as_ref().create_request.ok_or(Status::NGX_ERROR)?;
            let value = ngx_http_get_indexed_variable(self.r.as_ptr(), index);
            (create, NonNull::new(value).ok_or(Status::NGX_ERROR)?)
        };
        // SAFETY: as above.
        let former = unsafe { slot.read() };

        let pool = self.request().pool();
        let text = pool.concat(&[prefix, former.as_bytes()]).ok_or(Status::NGX_ERROR)?;
        // SAFETY: as above; nothing but `create` runs while the value is another.
        let created = unsafe {
            answer(slot.as_mut(), Some(text));
            let created = create(self.r.as_ptr());
            slot.write(former);
            Status(created)
        };
        if created.is_ok() { Ok(()) } else { Err(Status::NGX_ERROR) }
    }

    /// Has the request sent to the lines of `choice`.
    ///
    /// Only when no connection can be made is another address asked, first of the same line, then of
    /// the next one. What was answered, a miss or nonsense included, is not asked for elsewhere.
    ///
    /// # Safety
    ///
    /// `us` is what nginx passed to the [`InitPeer`] that is running, `outer` what [`Block::init`] gave
    /// for it, and `lines` and `choice` live as long as the request.
    pub(crate) unsafe fn start<C: Choice + 'r>(
        self,
        us: *mut ngx_http_upstream_srv_conf_t,
        outer: Option<InitPeer>,
        lines: &'r Lines,
        choice: C,
    ) -> Result<(), Status> {
        let attempt = Attempt {
            rrp: NO_PEERS,
            upstream: self.upstream,
            lines,
            choice,
            address: 0,
            tries: None,
            outer: None,
        };
        let attempt = self.request().pool().place_pod(attempt).ok_or(Status::NGX_ERROR)?.as_ptr();

        // SAFETY: `us`, the request and its upstream are valid; the attempt lives as long as the request,
        // and its first field is what the functions of round robin expect.
        unsafe {
            let pc = &raw mut (*self.upstream.as_ptr()).peer;
            if let Some(init) = outer {
                (*pc).data = attempt.cast();
                ok(init(self.r.as_ptr(), us))?;
                if !(*attempt).rrp.peers.is_null() {
                    (*attempt).outer =
                        Some(Outer { data: (*pc).data, get: (*pc).get, free: (*pc).free });
                }
            }

            (*pc).data = attempt.cast();
            ok(ngx_http_upstream_init_round_robin_peer(self.r.as_ptr(), us))?;
            (*pc).get = Some(get::<C>);
            (*pc).free = Some(free::<C>);
        }
        Ok(())
    }
}

fn ok(status: ngx_int_t) -> Result<(), Status> {
    if Status(status).is_ok() { Ok(()) } else { Err(Status::NGX_ERROR) }
}

/// What a request needs until it has its answer; nginx's functions take it for its first field.
#[repr(C)]
#[derive(Clone, Copy)]
struct Attempt<'r, C> {
    rrp: ngx_http_upstream_rr_peer_data_t,
    upstream: NonNull<ngx_http_upstream_t>,
    lines: &'r Lines,
    choice: C,
    /// Which of the line's addresses is asked; those before have been, or cannot be.
    address: usize,
    /// How many addresses may still be asked, this one included; nginx tells at the first.
    tries: Option<ngx_uint_t>,
    outer: Option<Outer>,
}

const NO_PEERS: ngx_http_upstream_rr_peer_data_t = ngx_http_upstream_rr_peer_data_t {
    config: 0,
    peers: ptr::null_mut(),
    current: ptr::null_mut(),
    tried: ptr::null_mut(),
    data: 0,
};

/// What stands on round robin and connects to the peer that this gives: `keepalive`, written above the
/// method in an nginx that wants it below.
#[derive(Clone, Copy)]
struct Outer {
    data: *mut c_void,
    get: ngx_event_get_peer_pt,
    free: ngx_event_free_peer_pt,
}

impl<C: Choice> Attempt<'_, C> {
    fn peers(&self) -> Peers {
        // SAFETY: round robin has set the list of the running configuration.
        unsafe { Peers::lock(self.rrp.peers) }
    }

    /// The next address to ask. None if there is none, or if the list has changed since the request
    /// began: nginx's own methods give up then too.
    fn candidate<'a>(&mut self, peers: &'a Peers) -> Option<Peer<'a>> {
        if self.rrp.config != peers.config {
            return None;
        }

        loop {
            let mut addresses = self.lines.addresses(self.choice.line(), peers);
            addresses.by_ref().take(self.address).for_each(drop);
            for peer in addresses {
                let peer = Peer::lock(peers, peer);
                if peer.is_usable() {
                    return Some(peer);
                }
                self.address = self.address.saturating_add(1);
            }
            if !self.choice.next() {
                return None;
            }
            self.address = 0;
        }
    }

    /// Leaves round robin no choice but `peer`.
    fn allow_only(&mut self, peer: PeerPtr, peers: &Peers) {
        const BITS: usize = usize::BITS as usize;
        let words = peers.as_ref().number.div_ceil(BITS);
        // SAFETY: round robin has made room for a bit for each peer, as it has since had no others.
        let tried = unsafe { slice::from_raw_parts_mut(self.rrp.tried, words) };
        tried.fill(usize::MAX);
        let Some(position) = peers.all().position(|each| each == peer) else { return };
        if let Some(word) = tried.get_mut(position / BITS) {
            *word &= !(1 << (position % BITS));
        }
    }
}

/// Gets a peer for the request (`ngx_event_connect_peer`).
unsafe extern "C" fn get<C: Choice>(
    pc: *mut ngx_peer_connection_t,
    data: *mut c_void,
) -> ngx_int_t {
    // SAFETY: nginx passes what `start` has set.
    let (pc, attempt) = unsafe { (&mut *pc, &mut *data.cast::<Attempt<'_, C>>()) };

    pc.set_cached(0);
    pc.connection = ptr::null_mut();

    attempt.tries.get_or_insert(pc.tries);
    // More would let nginx ask elsewhere for what was answered (ngx_http_upstream_test_next).
    pc.tries = 1;

    let peers = attempt.peers();
    let Some(peer) = attempt.candidate(&peers) else {
        pc.name = peers.as_ref().name;
        return Status::NGX_BUSY.into();
    };

    let Some(Outer { data, get: Some(get), .. }) = attempt.outer else {
        peer.take(&mut attempt.rrp, pc);
        return Status::NGX_OK.into();
    };
    attempt.allow_only(peer.peer, &peers);
    drop(peer);
    drop(peers);
    // SAFETY: the function and its data belong together.
    unsafe { get(pc, data) }
}

/// Notes how it went with the peer (`ngx_http_upstream_next`, `ngx_http_upstream_finalize_request`).
unsafe extern "C" fn free<C: Choice>(
    pc: *mut ngx_peer_connection_t,
    data: *mut c_void,
    state: ngx_uint_t,
) {
    // SAFETY: nginx passes what `start` has set.
    let (pc, attempt) = unsafe { (&mut *pc, &mut *data.cast::<Attempt<'_, C>>()) };

    let failed = state & NGX_PEER_FAILED as ngx_uint_t != 0;
    // nginx repeats the request by itself if a connection that it had kept turns out to be closed, which
    // says nothing about the server: the same address gets it again.
    let stale = failed && pc.cached() != 0 && !is_timed_out(pc);
    let unreached = failed && !stale && !is_connected(pc, attempt.upstream);

    let state = if stale { 0 } else { state };
    // SAFETY: the functions and their data belong together.
    unsafe {
        match attempt.outer {
            Some(Outer { data, free: Some(free), .. }) => free(pc, data, state),
            _ => ngx_http_upstream_free_round_robin_peer(pc, data, state),
        }
    }

    pc.tries = 0;
    if unreached {
        attempt.address = attempt.address.saturating_add(1);
        let left = attempt.tries.unwrap_or(0).saturating_sub(1);
        attempt.tries = Some(left);
        let peers = attempt.peers();
        if left > 0 && attempt.candidate(&peers).is_some() {
            pc.tries = left;
        }
    }
}

/// Whether the connection was made, so that the request was or could have been sent.
fn is_connected(pc: &ngx_peer_connection_t, upstream: NonNull<ngx_http_upstream_t>) -> bool {
    // SAFETY: the upstream lives as long as the request.
    !pc.connection.is_null() && unsafe { upstream.as_ref() }.request_sent() != 0
}

fn is_timed_out(pc: &ngx_peer_connection_t) -> bool {
    // SAFETY: a connection's events live as long as it does.
    unsafe {
        pc.connection.as_ref().is_some_and(|connection| {
            (*connection.read).timedout() != 0 || (*connection.write).timedout() != 0
        })
    }
}
