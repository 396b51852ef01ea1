//! The directive, and what its levels come to once the whole configuration was read.

use core::ffi::{c_char, c_void};
use core::ptr::NonNull;
use std::rc::Rc;

use ngx::core::{NGX_CONF_ERROR, NGX_CONF_OK, Status};
use ngx::ffi::{
    NGX_CONF_1MORE, NGX_HTTP_LOC_CONF, NGX_HTTP_LOC_CONF_OFFSET, NGX_HTTP_MAIN_CONF,
    NGX_HTTP_SRV_CONF, NGX_HTTP_VAR_NOCACHEABLE, ngx_command_t, ngx_conf_t, ngx_int_t,
};
use ngx::http::HttpModuleMainConf;

use super::handlers;
use super::logic::param::Note;
use super::logic::{AddressSet, Trust};
use super::module::RealIpRecursiveTrust;
use crate::nginx::conf::{self, Directive, Place};
use crate::nginx::headers::HeaderName;
use crate::nginx::module::command;
use crate::nginx::phase::{self, Phase};
use crate::nginx::realip::{self, Origin, RealIp, Source};
use crate::nginx::variable;

const NAME: &str = "real_ip_recursive_trust";

pub(super) const COMMANDS: [ngx_command_t; 2] = [
    command(
        c"real_ip_recursive_trust",
        NGX_HTTP_MAIN_CONF | NGX_HTTP_SRV_CONF | NGX_HTTP_LOC_CONF | NGX_CONF_1MORE,
        set_trust,
        NGX_HTTP_LOC_CONF_OFFSET,
        0,
    ),
    ngx_command_t::empty(),
];

/// What holds for the whole `http` block.
#[derive(Default)]
pub(crate) struct MainConf {
    /// nginx's realip, looked up by the first directive that needs it.
    pub(super) realip: Option<RealIp>,
    /// All servers and locations, until they have their rules.
    levels: Vec<Level>,
}

/// What holds in a server or location.
#[derive(Default)]
pub(crate) struct LocationConf {
    /// The directives of this level, or of the nearest one above that has any.
    own: Option<Rc<Directives>>,
    /// What realip reads here, and whom it believes.
    pub(super) origin: Option<Origin>,
    /// How that is walked; `None` where it is not.
    pub(super) rules: Option<Rc<Rules>>,
}

/// All directives of one level.
#[derive(Clone)]
struct Directives {
    trust: Trust,
    /// Where the first of them stands.
    place: Place,
}

/// A server or location, with realip's settings there.
struct Level {
    conf: NonNull<LocationConf>,
    realip: realip::Level,
}

/// How a header is walked.
pub(super) struct Rules {
    pub(super) header: HeaderName,
    pub(super) hops: usize,
    /// The addresses of `set_real_ip_from` and of the directive.
    pub(super) trusted: AddressSet,
}

pub(super) unsafe extern "C" fn preconfiguration(cf: *mut ngx_conf_t) -> ngx_int_t {
    // It is there without realip as well: a log format may name it.
    // SAFETY: nginx passes a valid `cf`.
    let defined = unsafe {
        variable::define(
            cf,
            "realip_trust_hops",
            NGX_HTTP_VAR_NOCACHEABLE,
            handlers::realip_trust_hops,
        )
    };
    defined.err().unwrap_or(Status::NGX_OK).into()
}

pub(super) unsafe extern "C" fn create_main_conf(cf: *mut ngx_conf_t) -> *mut c_void {
    // SAFETY: nginx passes a valid `cf`.
    unsafe { conf::create::<MainConf>(cf) }
}

pub(super) unsafe extern "C" fn create_loc_conf(cf: *mut ngx_conf_t) -> *mut c_void {
    // SAFETY: nginx passes a valid `cf`.
    unsafe { conf::create::<LocationConf>(cf) }
}

/// `real_ip_recursive_trust address|CIDR|hops=N ...;`
unsafe extern "C" fn set_trust(
    cf: *mut ngx_conf_t,
    _command: *mut ngx_command_t,
    conf: *mut c_void,
) -> *mut c_char {
    // SAFETY: nginx passes a valid `cf`, and a `LocationConf`, as the directive's table says.
    let (directive, main, conf) = unsafe {
        let main = cf.as_ref().and_then(RealIpRecursiveTrust::main_conf_mut);
        (Directive::new(cf), main, conf.cast::<LocationConf>().as_mut())
    };
    let (Some(main), Some(conf)) = (main, conf) else { return NGX_CONF_ERROR };

    if main.realip.is_none() {
        // SAFETY: nginx passes a valid `cf`.
        match unsafe { RealIp::find(cf) } {
            Ok(realip) => main.realip = Some(realip),
            Err(unusable) => return directive.error(unusable),
        }
    }

    let own = conf.own.get_or_insert_with(|| {
        Rc::new(Directives { trust: Trust::default(), place: directive.place() })
    });
    let own = Rc::make_mut(own);
    for param in directive.args() {
        match own.trust.add(param) {
            Ok(None) => {}
            Ok(Some(Note::HostBits)) => directive.warn(format_args!(
                "low address bits of {} are meaningless",
                String::from_utf8_lossy(param)
            )),
            Err(error) => return directive.error(error),
        }
    }
    NGX_CONF_OK
}

pub(super) unsafe extern "C" fn merge_loc_conf(
    cf: *mut ngx_conf_t,
    prev: *mut c_void,
    conf: *mut c_void,
) -> *mut c_char {
    // SAFETY: nginx passes a valid `cf`.
    let main = unsafe { cf.as_ref().and_then(RealIpRecursiveTrust::main_conf_mut) };
    let (Some(main), Some(prev), Some(mut conf)) = (
        main,
        NonNull::new(prev.cast::<LocationConf>()),
        NonNull::new(conf.cast::<LocationConf>()),
    ) else {
        return NGX_CONF_ERROR;
    };

    // SAFETY: nginx passes what `create_loc_conf` made for two levels.
    unsafe { conf::inherit(&mut conf.as_mut().own, &prev.as_ref().own) };

    // realip's settings are merged only later, so their place is but noted here.
    if let Some(realip) = &main.realip {
        // SAFETY: nginx passes a valid `cf`, and this is `merge_loc_conf`.
        let Some(realip) = (unsafe { realip.level(cf) }) else { return NGX_CONF_ERROR };
        main.levels.push(Level { conf, realip });
    }
    NGX_CONF_OK
}

pub(super) unsafe extern "C" fn postconfiguration(cf: *mut ngx_conf_t) -> ngx_int_t {
    // SAFETY: nginx passes a valid `cf`.
    let Some(main) = (unsafe { cf.as_ref().and_then(RealIpRecursiveTrust::main_conf_mut) }) else {
        return Status::NGX_ERROR.into();
    };
    // SAFETY: nginx passes a valid `cf`, and runs this when it has merged all levels.
    let done = unsafe { finish(cf, core::mem::take(&mut main.levels)) };
    done.err().unwrap_or(Status::NGX_OK).into()
}

/// Gives each level its rules, and registers the handlers if there are any.
///
/// # Safety
///
/// `cf` is what nginx passed to the `postconfiguration` that is running.
unsafe fn finish(cf: *mut ngx_conf_t, mut levels: Vec<Level>) -> Result<(), Status> {
    let mut made = Made::default();
    for level in &mut levels {
        // SAFETY: nginx keeps each level's configuration as long as the whole, and nobody else uses
        // it while this callback runs.
        let conf = unsafe { level.conf.as_mut() };
        conf.origin = level.realip.origin();
        if let Some(own) = &conf.own {
            conf.rules = made.rules(own, conf.origin, level.realip);
        }
    }
    for own in made.without_effect() {
        let reason = "has no effect while \"real_ip_recursive\" is off";
        // SAFETY: the caller's `cf` is valid.
        unsafe { conf::warn_at(cf, NAME, own.place, reason) };
    }
    if !made.rules.is_empty() {
        // SAFETY: the caller's `cf` is valid.
        unsafe {
            phase::add_handler(cf, Phase::PostRead, handlers::walk)?;
            phase::add_handler(cf, Phase::PreAccess, handlers::walk)?;
        }
    }
    Ok(())
}

/// What was made for the levels so far. Levels with the same directives and origin share their rules.
#[derive(Default)]
struct Made {
    rules: Vec<(Rc<Directives>, Origin, Rc<Rules>)>,
    /// All directives, and whether recursion is on anywhere where they hold.
    directives: Vec<(Rc<Directives>, bool)>,
}

impl Made {
    /// The rules of a level where these directives hold.
    fn rules(
        &mut self,
        own: &Rc<Directives>,
        origin: Option<Origin>,
        realip: realip::Level,
    ) -> Option<Rc<Rules>> {
        match self.directives.iter_mut().rev().find(|(other, _)| Rc::ptr_eq(other, own)) {
            Some((_, recursive)) => *recursive |= realip.recursive(),
            None => self.directives.push((Rc::clone(own), realip.recursive())),
        }

        let origin = origin.filter(|_| realip.recursive())?;
        let Source::Header(header) = origin.source else { return None };

        let mut made = self.rules.iter().rev();
        if let Some((.., rules)) = made.find(|(o, at, _)| Rc::ptr_eq(o, own) && *at == origin) {
            return Some(Rc::clone(rules));
        }
        let trusted = own.trust.nets().iter().copied().chain(realip.nets()).collect();
        let rules = Rc::new(Rules { header, hops: own.trust.hops(), trusted });
        self.rules.push((Rc::clone(own), origin, Rc::clone(&rules)));
        Some(rules)
    }

    fn without_effect(&self) -> impl Iterator<Item = &Directives> {
        self.directives.iter().filter(|(_, recursive)| !recursive).map(|(own, _)| &**own)
    }
}
