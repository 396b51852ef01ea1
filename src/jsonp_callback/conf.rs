//! The directives, and what they configure for a location.

use core::ffi::{c_char, c_void};
use core::mem::offset_of;

use ngx::core::NGX_CONF_OK;
use ngx::ffi::{
    NGX_CONF_1MORE, NGX_CONF_FLAG, NGX_CONF_TAKE1, NGX_CONF_UNSET, NGX_HTTP_LIF_CONF,
    NGX_HTTP_LOC_CONF, NGX_HTTP_LOC_CONF_OFFSET, NGX_HTTP_MAIN_CONF, NGX_HTTP_SRV_CONF,
    ngx_command_t, ngx_conf_enum_t, ngx_conf_set_enum_slot, ngx_conf_set_flag_slot, ngx_conf_t,
    ngx_flag_t, ngx_str_t, ngx_uint_t,
};
use ngx::http::{HttpModule, HttpModuleConfExt, Request};

use super::logic::callback::Syntax;
use super::logic::content_type::{self, Types};
use super::logic::status::{self, Statuses};
use super::module::JsonpCallback;
use crate::nginx::conf::{Directive, IS_DUPLICATE, create, inherit};
use crate::nginx::module::{command, ngx_c_str};

/// What the directives say for a location.
pub(crate) struct LocConf {
    names: Option<Vec<Box<[u8]>>>,
    types: Option<Types>,
    syntax: ngx_uint_t,
    invalid: Option<Invalid>,
    statuses: Option<Statuses>,
    output_type: Option<Option<OutputType>>,
    escape: ngx_flag_t,
    guard: ngx_flag_t,
}

/// The value of `jsonp_callback_invalid`.
#[derive(Clone, Copy, Eq, PartialEq)]
pub(crate) enum Invalid {
    /// The answer goes out as it is.
    Pass,
    /// Another answer is sent, with this status.
    Refuse(u16),
}

/// The type that wrapped answers are sent with.
#[derive(Clone, Copy)]
pub(crate) struct OutputType {
    pub(crate) text: &'static [u8],
    /// How much of it is the type itself, without parameters, in bytes.
    pub(crate) essence_len: usize,
}

impl OutputType {
    fn new(text: &'static [u8]) -> Self {
        Self { text, essence_len: content_type::essence(text).len() }
    }
}

/// `ngx_conf_set_*_slot`'s mark for what was not given.
const UNSET: ngx_flag_t = NGX_CONF_UNSET as ngx_flag_t;
const UNSET_UINT: ngx_uint_t = ngx_uint_t::MAX;

impl Default for LocConf {
    fn default() -> Self {
        Self {
            names: None,
            types: None,
            syntax: UNSET_UINT,
            invalid: None,
            statuses: None,
            output_type: None,
            escape: UNSET,
            guard: UNSET,
        }
    }
}

impl LocConf {
    /// The configuration of the location that the request is in.
    pub(crate) fn of<'a>(request: &Request) -> Option<&'a Self> {
        // SAFETY: this is what `create_loc_conf` sets; it lives longer than any request.
        unsafe { request.http_location_conf_unchecked(JsonpCallback::module()) }
            .map(|conf| unsafe { conf.as_ref() })
    }

    /// The query arguments that may hold the callback; none if answers are not wrapped.
    pub(crate) fn names(&self) -> &[Box<[u8]>] {
        self.names.as_deref().unwrap_or_default()
    }

    /// The types that are wrapped.
    pub(crate) fn types(&self) -> &Types {
        static NONE: Types = Types::none();
        // `merge_loc_conf` set them.
        self.types.as_ref().unwrap_or(&NONE)
    }

    /// What a callback may look like.
    pub(crate) fn syntax(&self) -> Syntax {
        if self.syntax == MEMBER { Syntax::Member } else { Syntax::Word }
    }

    /// What becomes of an answer whose callback is not valid.
    pub(crate) fn invalid(&self) -> Invalid {
        self.invalid.unwrap_or(Invalid::Pass)
    }

    /// Whether answers with this status are wrapped.
    pub(crate) fn has_status(&self, status: usize) -> bool {
        self.statuses.as_ref().map_or(status == 200, |statuses| statuses.contains(status))
    }

    /// The status that wrapped answers are sent with, if not their own.
    pub(crate) fn sent_as(&self) -> Option<u16> {
        self.statuses.as_ref().and_then(Statuses::sent_as)
    }

    /// The type that wrapped answers are sent with; `None` is their own.
    pub(crate) fn output_type(&self) -> Option<OutputType> {
        self.output_type.unwrap_or_else(|| Some(OutputType::new(b"text/javascript")))
    }

    /// Whether U+2028 and U+2029 are escaped.
    pub(crate) fn escape(&self) -> bool {
        self.escape != 0
    }

    /// Whether the guard is put in front.
    pub(crate) fn guard(&self) -> bool {
        self.guard == 1
    }
}

const WORD: ngx_uint_t = 0;
const MEMBER: ngx_uint_t = 1;

/// A table that nginx only reads.
#[repr(transparent)]
struct Table<T>(T);

// SAFETY: nobody writes to it.
unsafe impl<T> Sync for Table<T> {}

static SYNTAXES: Table<[ngx_conf_enum_t; 3]> = Table([
    ngx_conf_enum_t { name: ngx_c_str(c"word"), value: WORD },
    ngx_conf_enum_t { name: ngx_c_str(c"member"), value: MEMBER },
    ngx_conf_enum_t { name: ngx_str_t::empty(), value: 0 },
]);

const ANYWHERE: u32 =
    NGX_HTTP_MAIN_CONF | NGX_HTTP_SRV_CONF | NGX_HTTP_LOC_CONF | NGX_HTTP_LIF_CONF;

pub(crate) static mut COMMANDS: [ngx_command_t; 9] = [
    command(c"jsonp_callback", ANYWHERE | NGX_CONF_1MORE, set_names, NGX_HTTP_LOC_CONF_OFFSET, 0),
    command(
        c"jsonp_callback_types",
        ANYWHERE | NGX_CONF_1MORE,
        set_types,
        NGX_HTTP_LOC_CONF_OFFSET,
        0,
    ),
    ngx_command_t {
        post: (&raw const SYNTAXES).cast_mut().cast::<c_void>(),
        ..command(
            c"jsonp_callback_syntax",
            ANYWHERE | NGX_CONF_TAKE1,
            ngx_conf_set_enum_slot,
            NGX_HTTP_LOC_CONF_OFFSET,
            offset_of!(LocConf, syntax),
        )
    },
    command(
        c"jsonp_callback_invalid",
        ANYWHERE | NGX_CONF_TAKE1,
        set_invalid,
        NGX_HTTP_LOC_CONF_OFFSET,
        0,
    ),
    command(
        c"jsonp_callback_status",
        ANYWHERE | NGX_CONF_1MORE,
        set_statuses,
        NGX_HTTP_LOC_CONF_OFFSET,
        0,
    ),
    command(
        c"jsonp_callback_output_type",
        ANYWHERE | NGX_CONF_TAKE1,
        set_output_type,
        NGX_HTTP_LOC_CONF_OFFSET,
        0,
    ),
    command(
        c"jsonp_callback_escape",
        ANYWHERE | NGX_CONF_FLAG,
        ngx_conf_set_flag_slot,
        NGX_HTTP_LOC_CONF_OFFSET,
        offset_of!(LocConf, escape),
    ),
    command(
        c"jsonp_callback_guard",
        ANYWHERE | NGX_CONF_FLAG,
        ngx_conf_set_flag_slot,
        NGX_HTTP_LOC_CONF_OFFSET,
        offset_of!(LocConf, guard),
    ),
    ngx_command_t::empty(),
];

/// `jsonp_callback name ... | off`
unsafe extern "C" fn set_names(
    cf: *mut ngx_conf_t,
    _cmd: *mut ngx_command_t,
    conf: *mut c_void,
) -> *mut c_char {
    // SAFETY: nginx passes what `create_loc_conf` made, and the directive being read.
    let (directive, conf) = unsafe { (Directive::new(cf), &mut *conf.cast::<LocConf>()) };
    if conf.names.is_some() {
        return IS_DUPLICATE;
    }
    let mut names: Vec<Box<[u8]>> = Vec::new();
    let mut off = false;
    for name in directive.args() {
        if name.is_empty() || name.iter().any(|byte| b"&=#".contains(byte)) {
            let name = String::from_utf8_lossy(name);
            return directive.error(format_args!("no argument can be called \"{name}\""));
        }
        match name {
            b"off" => off = true,
            _ => names.push(name.into()),
        }
    }
    if off && directive.args().count() > 1 {
        return directive.error("\"off\" cannot be combined with names");
    }
    conf.names = Some(names);
    NGX_CONF_OK
}

/// `jsonp_callback_types mime-type ...`; as with `ngx_http_types_slot`, more than one adds up.
unsafe extern "C" fn set_types(
    cf: *mut ngx_conf_t,
    _cmd: *mut ngx_command_t,
    conf: *mut c_void,
) -> *mut c_char {
    // SAFETY: nginx passes what `create_loc_conf` made, and the directive being read.
    let (directive, conf) = unsafe { (Directive::new(cf), &mut *conf.cast::<LocConf>()) };
    let types = conf.types.get_or_insert(Types::none());
    for name in directive.args() {
        if !types.add(name) {
            let name = String::from_utf8_lossy(name);
            directive.warn(format_args!("duplicate MIME type \"{name}\""));
        }
    }
    NGX_CONF_OK
}

/// `jsonp_callback_invalid pass | code`
unsafe extern "C" fn set_invalid(
    cf: *mut ngx_conf_t,
    _cmd: *mut ngx_command_t,
    conf: *mut c_void,
) -> *mut c_char {
    // SAFETY: nginx passes what `create_loc_conf` made, and the directive being read.
    let (directive, conf) = unsafe { (Directive::new(cf), &mut *conf.cast::<LocConf>()) };
    if conf.invalid.is_some() {
        return IS_DUPLICATE;
    }
    let value = directive.args().next().unwrap_or_default();
    conf.invalid = match status::code(value) {
        Some(code @ 400..=599) => Some(Invalid::Refuse(code)),
        None if value == b"pass" => Some(Invalid::Pass),
        _ => {
            let value = String::from_utf8_lossy(value);
            return directive.error(format_args!(
                "invalid value \"{value}\", it must be \"pass\" or a code between 400 and 599"
            ));
        }
    };
    NGX_CONF_OK
}

/// `jsonp_callback_status code | 4xx | any ... [=code]`
unsafe extern "C" fn set_statuses(
    cf: *mut ngx_conf_t,
    _cmd: *mut ngx_command_t,
    conf: *mut c_void,
) -> *mut c_char {
    // SAFETY: nginx passes what `create_loc_conf` made, and the directive being read.
    let (directive, conf) = unsafe { (Directive::new(cf), &mut *conf.cast::<LocConf>()) };
    if conf.statuses.is_some() {
        return IS_DUPLICATE;
    }
    match Statuses::parse(directive.args()) {
        Ok(statuses) => {
            conf.statuses = Some(statuses);
            NGX_CONF_OK
        }
        Err(error) => directive.error(error),
    }
}

/// `jsonp_callback_output_type mime-type | off`
unsafe extern "C" fn set_output_type(
    cf: *mut ngx_conf_t,
    _cmd: *mut ngx_command_t,
    conf: *mut c_void,
) -> *mut c_char {
    // SAFETY: nginx passes what `create_loc_conf` made, and the directive being read.
    let (directive, conf) = unsafe { (Directive::new(cf), &mut *conf.cast::<LocConf>()) };
    if conf.output_type.is_some() {
        return IS_DUPLICATE;
    }
    let value = directive.args().next().unwrap_or_default();
    if value == b"off" {
        conf.output_type = Some(None);
        return NGX_CONF_OK;
    }
    if !value.contains(&b'/') || value.iter().any(u8::is_ascii_control) {
        let value = String::from_utf8_lossy(value);
        return directive.error(format_args!("invalid MIME type \"{value}\""));
    }
    conf.output_type = Some(Some(OutputType::new(value)));
    NGX_CONF_OK
}

pub(crate) unsafe extern "C" fn create_loc_conf(cf: *mut ngx_conf_t) -> *mut c_void {
    // SAFETY: `cf` is what nginx passed.
    unsafe { create::<LocConf>(cf) }
}

/// Each directive is inherited on its own.
pub(crate) unsafe extern "C" fn merge_loc_conf(
    _cf: *mut ngx_conf_t,
    prev: *mut c_void,
    conf: *mut c_void,
) -> *mut c_char {
    // SAFETY: nginx passes two of what `create_loc_conf` made.
    let (prev, conf) = unsafe { (&mut *prev.cast::<LocConf>(), &mut *conf.cast::<LocConf>()) };
    prev.types.get_or_insert_default();
    inherit(&mut conf.names, &prev.names);
    inherit(&mut conf.types, &prev.types);
    inherit(&mut conf.invalid, &prev.invalid);
    inherit(&mut conf.statuses, &prev.statuses);
    inherit(&mut conf.output_type, &prev.output_type);
    if conf.syntax == UNSET_UINT {
        conf.syntax = prev.syntax;
    }
    if conf.escape == UNSET {
        conf.escape = prev.escape;
    }
    if conf.guard == UNSET {
        conf.guard = prev.guard;
    }
    NGX_CONF_OK
}
