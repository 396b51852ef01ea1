//! Directives: their arguments, their errors, and the structures they fill.

use core::ffi::{c_char, c_void};
use core::fmt::{self, Display};
use core::mem::MaybeUninit;
use core::ptr::{self, NonNull};
use core::str;

use ngx::core::{NGX_CONF_ERROR, Pool, Status};
use ngx::ffi::{
    NGX_LOG_EMERG, NGX_LOG_WARN, ngx_command_t, ngx_conf_t, ngx_http_compile_complex_value,
    ngx_http_compile_complex_value_t, ngx_http_complex_value_t, ngx_str_t, ngx_uint_t,
};

use super::pool::PoolExt;

/// The function that nginx calls for a directive.
pub(crate) type SetHandler =
    unsafe extern "C" fn(*mut ngx_conf_t, *mut ngx_command_t, *mut c_void) -> *mut c_char;

/// What a [`SetHandler`] returns where a directive stands twice: `"name" directive is duplicate`.
pub(crate) const IS_DUPLICATE: *mut c_char = c"is duplicate".as_ptr().cast_mut();

/// The directive that nginx is reading.
#[derive(Clone, Copy)]
pub(crate) struct Directive<'a> {
    cf: NonNull<ngx_conf_t>,
    words: &'a [ngx_str_t],
}

impl<'a> Directive<'a> {
    /// # Safety
    ///
    /// `cf` is what nginx passed to the [`SetHandler`] that is running.
    pub(crate) unsafe fn new(cf: *mut ngx_conf_t) -> Self {
        // SAFETY: nginx passes a valid `cf`, whose `args` hold the directive's words and outlive it.
        unsafe {
            let args = (*cf).args.as_ref();
            Self {
                cf: NonNull::new_unchecked(cf),
                words: args.map_or(&[], |args| args.as_slice::<ngx_str_t>()),
            }
        }
    }

    /// The directive's name.
    pub(crate) fn name(&self) -> &'a str {
        self.words.first().and_then(|word| core::str::from_utf8(word.as_bytes()).ok()).unwrap_or("")
    }

    /// The words behind the name. They live as long as the configuration.
    pub(crate) fn args(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        self.words.iter().skip(1).map(ngx_str_t::as_bytes)
    }

    /// Where the directive stands.
    pub(crate) fn place(&self) -> Place {
        // SAFETY: nginx reads the directive from this file, whose name lives in the cycle's pool.
        unsafe {
            let file = self.cf.as_ref().conf_file;
            Place { file: (*file).file.name, line: (*file).line }
        }
    }

    /// Compiles a string with variables, after saying why if it cannot; `text` lives as long as the
    /// configuration.
    pub(crate) fn complex_value(&self, text: &[u8]) -> Option<ngx_http_complex_value_t> {
        let mut text = ngx_str_t { len: text.len(), data: text.as_ptr().cast_mut() };
        // SAFETY: all zero is what nginx begins with in both.
        let (mut value, mut compile) = unsafe {
            (
                MaybeUninit::<ngx_http_complex_value_t>::zeroed().assume_init(),
                MaybeUninit::<ngx_http_compile_complex_value_t>::zeroed().assume_init(),
            )
        };
        compile.cf = self.cf.as_ptr();
        compile.value = &raw mut text;
        compile.complex_value = &raw mut value;
        // SAFETY: nginx keeps `cf` valid, and copies the string's length and place.
        let compiled = Status(unsafe { ngx_http_compile_complex_value(&raw mut compile) });
        compiled.is_ok().then_some(value)
    }

    /// Says why the directive cannot stand, as nginx does: `"name" directive: reason in file:line`.
    pub(crate) fn error(&self, reason: impl Display) -> *mut c_char {
        let name = self.name();
        ngx::ngx_conf_log_error!(NGX_LOG_EMERG, self.cf.as_ptr(), "\"{name}\" directive: {reason}");
        NGX_CONF_ERROR
    }

    /// Says what is odd about the directive, and goes on.
    pub(crate) fn warn(&self, reason: impl Display) {
        let name = self.name();
        ngx::ngx_conf_log_error!(NGX_LOG_WARN, self.cf.as_ptr(), "\"{name}\" directive: {reason}");
    }
}

/// A line of a configuration file. It lives as long as the configuration.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    file: ngx_str_t,
    line: ngx_uint_t,
}

impl Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// Says what is odd about a directive that was read before, and goes on.
///
/// # Safety
///
/// `cf` is what nginx passed to the callback that is running.
pub(crate) unsafe fn warn_at(cf: *mut ngx_conf_t, name: &str, place: Place, reason: impl Display) {
    // SAFETY: nginx passes a valid `cf` with a log.
    let log = unsafe { (*cf).log };
    ngx::ngx_log_error!(NGX_LOG_WARN, log, "\"{name}\" directive: {reason} in {place}");
}

/// A new configuration structure, in the pool of the configuration being read.
///
/// # Safety
///
/// `cf` is what nginx passed to a `create_*_conf` callback.
pub(crate) unsafe extern "C" fn create<T: Default>(cf: *mut ngx_conf_t) -> *mut c_void {
    // SAFETY: nginx passes a valid `cf` with a live pool.
    let pool = unsafe { Pool::from_ngx_pool((*cf).pool) };
    pool.place(T::default()).map_or(ptr::null_mut(), |conf| conf.as_ptr().cast())
}

/// Takes the value of the level above where this level has none of its own.
pub(crate) fn inherit<T: Clone>(conf: &mut Option<T>, prev: &Option<T>) {
    if conf.is_none() {
        conf.clone_from(prev);
    }
}
