//! nginx's own realip module: its settings, and what it did for a request.
//!
//! `ngx_http_realip_module` may be missing from nginx, so nothing of it is linked; it is looked up by
//! name. Its configuration is private to it, and is mirrored here, which is checked at start.

use core::ffi::c_void;
use core::fmt;
use core::mem::offset_of;
use core::ptr::{self, NonNull};

use ipnet::{IpNet, Ipv4Net, Ipv6Net};
use ngx::ffi::{
    AF_INET, AF_INET6, ngx_array_t, ngx_cidr_t, ngx_command_t, ngx_conf_t, ngx_flag_t,
    ngx_module_t, ngx_pool_cleanup_t, ngx_str_t, ngx_uint_t,
};
use ngx::http::{HttpModuleConfExt, Request};

use super::addr::{ipv4, ipv6};
use super::headers::HeaderName;
use super::module;
use super::request::RequestExt;

/// `ngx_http_realip_loc_conf_t`, the same from nginx 1.22.0 to 1.31.4.
#[repr(C)]
struct LocConf {
    from: *mut ngx_array_t,
    kind: ngx_uint_t,
    hash: ngx_uint_t,
    header: ngx_str_t,
    recursive: ngx_flag_t,
}

/// Values of [`LocConf::kind`], `NGX_HTTP_REALIP_*`.
mod kind {
    pub(super) const X_REAL_IP: usize = 0;
    pub(super) const X_FORWARDED_FOR: usize = 1;
    pub(super) const HEADER: usize = 2;
}

/// nginx's realip module, found in the nginx that runs.
pub(crate) struct RealIp(&'static ngx_module_t);

/// Why realip cannot be used.
pub(crate) enum Unusable {
    /// nginx was built without it.
    Missing,
    /// Its configuration is not the one that is mirrored.
    Unknown {
        /// Where it says that `real_ip_recursive` stands.
        offset: Option<usize>,
    },
}

impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const NAME: &str = "ngx_http_realip_module";
        let known = offset_of!(LocConf, recursive);
        match self {
            Self::Missing => {
                write!(f, "needs {NAME}: build nginx with --with-http_realip_module")
            }
            Self::Unknown { offset: Some(offset) } => write!(
                f,
                "the {NAME} of this nginx is not known: its configuration has \
                 \"real_ip_recursive\" at offset {offset}, not {known}"
            ),
            Self::Unknown { offset: None } => {
                write!(f, "the {NAME} of this nginx is not known: it has no \"real_ip_recursive\"")
            }
        }
    }
}

impl RealIp {
    /// Looks realip up in the nginx that reads this configuration, and checks that it is the known one.
    ///
    /// # Safety
    ///
    /// `cf` is what nginx passed to the callback that is running.
    pub(crate) unsafe fn find(cf: *mut ngx_conf_t) -> Result<Self, Unusable> {
        // SAFETY: nginx passes a valid `cf`.
        let module = unsafe { module::find((*cf).cycle, c"ngx_http_realip_module") };
        let module = module.ok_or(Unusable::Missing)?;
        // SAFETY: a module's commands end with one that has no name.
        let offset = unsafe { offset_of_command(module.commands, b"real_ip_recursive") };
        if offset != Some(offset_of!(LocConf, recursive)) {
            return Err(Unusable::Unknown { offset });
        }
        Ok(Self(module))
    }

    /// realip's settings of the level whose configuration is being merged.
    ///
    /// They are complete once all levels were merged.
    ///
    /// # Safety
    ///
    /// `cf` is what nginx passed to the `merge_loc_conf` that is running.
    pub(crate) unsafe fn level(&self, cf: *mut ngx_conf_t) -> Option<Level> {
        // SAFETY: while it merges, nginx has `cf` point to the level's configurations; realip's was
        // found to be a `LocConf`.
        unsafe { cf.as_ref()?.http_location_conf_unchecked(self.0) }.map(Level)
    }

    /// What realip did for the request, or `None` if it left the connection's address as it is.
    ///
    /// To be called right after realip in every phase that it runs in: later, an internal redirect may
    /// have reset the request's contexts.
    pub(crate) fn replacement(&self, request: &Request) -> Option<Replacement> {
        // SAFETY: what it points to is not looked at.
        let context = unsafe { request.context::<c_void>(self.0) }?;
        let cleanup = request.cleanups().find(|cleanup| cleanup.data == context.as_ptr())?;
        Some(Replacement(cleanup))
    }
}

/// realip's settings of one level of the configuration.
#[derive(Clone, Copy)]
pub(crate) struct Level(NonNull<LocConf>);

/// What realip reads on a level, and whom it believes.
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct Origin {
    /// What `real_ip_header` names.
    pub(crate) source: Source,
    /// The list that `set_real_ip_from` made. Levels that inherit it share it.
    from: NonNull<ngx_array_t>,
}

/// What `real_ip_header` names.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Source {
    /// The lines of a header.
    Header(HeaderName),
    /// The PROXY protocol, which gives one address and no list.
    Other,
}

impl Level {
    /// Whether `real_ip_recursive` is on.
    pub(crate) fn recursive(self) -> bool {
        self.conf().recursive == 1
    }

    /// What realip reads here, and whom it believes; `None` where it does nothing.
    pub(crate) fn origin(self) -> Option<Origin> {
        let conf = self.conf();
        let source = match conf.kind {
            kind::X_REAL_IP => Source::Header(HeaderName::from_static("x-real-ip")),
            kind::X_FORWARDED_FOR => Source::Header(HeaderName::from_static("x-forwarded-for")),
            // SAFETY: realip keeps the name in lower case, in the configuration's pool.
            kind::HEADER => Source::Header(unsafe { HeaderName::from_ngx(conf.hash, conf.header) }),
            _ => Source::Other,
        };
        NonNull::new(conf.from).map(|from| Origin { source, from })
    }

    /// The addresses of `set_real_ip_from`. `unix:` is none.
    pub(crate) fn nets(&self) -> impl Iterator<Item = IpNet> {
        // SAFETY: realip's list holds `ngx_cidr_t`, and lives as long as its configuration.
        let cidrs = unsafe { self.conf().from.as_ref().map_or(&[][..], |from| from.as_slice()) };
        cidrs.iter().filter_map(net)
    }

    fn conf(&self) -> &LocConf {
        // SAFETY: realip's configuration was found to be a `LocConf`. It is read when it is complete.
        unsafe { self.0.as_ref() }
    }
}

/// What realip did for a request: the connection has another address than its own.
#[derive(Clone, Copy)]
pub(crate) struct Replacement(*const ngx_pool_cleanup_t);

impl Replacement {
    /// Gives the connection its own address back, as realip does when the request ends.
    ///
    /// For realip the address stays replaced: it will not replace it again, and
    /// `$realip_remote_addr` stays what it is.
    pub(crate) fn undo(self, request: &Request) {
        let cleanup = request.cleanups().find(|&cleanup| ptr::eq(cleanup, self.0));
        if let Some(&ngx_pool_cleanup_t { handler: Some(handler), data, .. }) = cleanup {
            // SAFETY: realip's handler sets the connection's address to the one that it saved. It may
            // do so twice.
            unsafe { handler(data) };
        }
    }
}

/// Where the directive's field stands in its module's configuration.
///
/// # Safety
///
/// `command` is the first of a module's commands.
unsafe fn offset_of_command(mut command: *const ngx_command_t, name: &[u8]) -> Option<usize> {
    // SAFETY: a module's commands end with one that has no name.
    unsafe {
        while let Some(this) = command.as_ref().filter(|command| !command.name.is_empty()) {
            if this.name.as_bytes() == name {
                return Some(this.offset);
            }
            command = command.add(1);
        }
    }
    None
}

/// A network of `set_real_ip_from`; `None` for `unix:`.
fn net(cidr: &ngx_cidr_t) -> Option<IpNet> {
    // SAFETY: the family tells which member of the union is set.
    unsafe {
        match cidr.family as u32 {
            AF_INET => {
                let net = cidr.u.in_;
                Ipv4Net::with_netmask(ipv4(net.addr), ipv4(net.mask)).map(IpNet::V4).ok()
            }
            AF_INET6 => {
                let net = &cidr.u.in6;
                Ipv6Net::with_netmask(ipv6(&net.addr), ipv6(&net.mask)).map(IpNet::V6).ok()
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use core::ffi::CStr;
    use core::mem::MaybeUninit;

    use ngx::ffi::{NGX_HTTP_MODULE, ngx_cycle_t};

    use super::*;
    use crate::nginx::module::ngx_str;

    /// Looks for realip in an nginx with these modules, each with a directive at an offset.
    fn find(modules: &[(&CStr, &'static str, usize)]) -> Result<RealIp, Unusable> {
        let mut commands: Vec<[ngx_command_t; 2]> = modules
            .iter()
            .map(|&(_, name, offset)| {
                let command = ngx_command_t { name: ngx_str(name), ..ngx_command_t::empty() };
                [ngx_command_t { offset, ..command }, ngx_command_t::empty()]
            })
            .collect();
        let modules: Vec<ngx_module_t> = modules
            .iter()
            .zip(&mut commands)
            .map(|((name, ..), commands)| ngx_module_t {
                name: name.as_ptr().cast_mut(),
                type_: NGX_HTTP_MODULE as usize,
                commands: commands.as_mut_ptr(),
                ..ngx_module_t::default()
            })
            .collect();
        let mut table: Vec<*mut ngx_module_t> =
            modules.iter().map(|module| ptr::from_ref(module).cast_mut()).collect();
        table.push(ptr::null_mut());

        // SAFETY: all zero is a value of both, and nothing but what is set here is looked at.
        unsafe {
            let mut cycle: ngx_cycle_t = MaybeUninit::zeroed().assume_init();
            cycle.modules = table.as_mut_ptr();
            let mut cf: ngx_conf_t = MaybeUninit::zeroed().assume_init();
            cf.cycle = &raw mut cycle;
            RealIp::find(&raw mut cf)
        }
    }

    const OTHER: (&CStr, &str, usize) = (c"ngx_http_geo_module", "real_ip_recursive", 8);

    #[test]
    fn finds_the_realip_that_it_knows() {
        let realip = (c"ngx_http_realip_module", "real_ip_recursive", 40);
        assert!(find(&[OTHER, realip, OTHER]).is_ok());
    }

    #[test]
    fn says_that_realip_is_missing() {
        let error = find(&[OTHER]).err().unwrap().to_string();
        let expected = "needs ngx_http_realip_module: build nginx with --with-http_realip_module";
        assert_eq!(error, expected);
    }

    #[test]
    fn refuses_a_realip_whose_configuration_is_another() {
        let error = find(&[(c"ngx_http_realip_module", "real_ip_recursive", 48)]).err().unwrap();
        assert_eq!(
            error.to_string(),
            "the ngx_http_realip_module of this nginx is not known: its configuration has \
             \"real_ip_recursive\" at offset 48, not 40"
        );
        let error = find(&[(c"ngx_http_realip_module", "set_real_ip_from", 0)]).err().unwrap();
        assert_eq!(
            error.to_string(),
            "the ngx_http_realip_module of this nginx is not known: it has no \"real_ip_recursive\""
        );
    }
}
