//! Tables that describe a module to nginx.

use core::ffi::{CStr, c_void};
use core::iter;

use ngx::ffi::{
    NGX_HTTP_MODULE, ngx_command_t, ngx_cycle_t, ngx_http_module_t, ngx_module_t, ngx_str_t,
};

use super::conf::SetHandler;

/// The `ngx_module_t` of an HTTP module with these callbacks and directives.
///
/// `commands` is the first entry of a table that ends with [`ngx_command_t::empty`].
pub(crate) const fn http_module(
    ctx: *const ngx_http_module_t,
    commands: *mut ngx_command_t,
) -> ngx_module_t {
    ngx_module_t {
        ctx: ctx.cast_mut().cast::<c_void>(),
        commands,
        type_: NGX_HTTP_MODULE as usize,
        ..ngx_module_t::default()
    }
}

/// The HTTP module of this name, if this nginx has it. For a module that need not be there, so that nothing of it
/// can be linked.
///
/// # Safety
///
/// `cycle` is one that nginx runs or reads a configuration for.
pub(crate) unsafe fn find(cycle: *const ngx_cycle_t, name: &CStr) -> Option<&'static ngx_module_t> {
    // SAFETY: the cycle's modules end with null, have C strings for names, and are not unloaded as long as its
    // configuration lives.
    unsafe {
        let first = (*cycle).modules.cast_const();
        iter::successors(Some(first), |&module| Some(module.add(1)))
            .map_while(|module| (*module).as_ref())
            .find(|module| {
                module.type_ == NGX_HTTP_MODULE as usize
                    && !module.name.is_null()
                    && CStr::from_ptr(module.name) == name
            })
    }
}

/// One directive of a commands table.
///
/// nginx compares `name` as a C string. `flags` are the contexts and argument counts
/// (`NGX_HTTP_LOC_CONF | NGX_CONF_1MORE`), `conf` is which of the three configurations `set` is given
/// (`NGX_HTTP_LOC_CONF_OFFSET`), and `offset` is the field in it, for nginx's own slot functions.
pub(crate) const fn command(
    name: &'static CStr,
    flags: u32,
    set: SetHandler,
    conf: usize,
    offset: usize,
) -> ngx_command_t {
    ngx_command_t {
        name: ngx_c_str(name),
        type_: flags as usize,
        set: Some(set),
        conf,
        offset,
        post: core::ptr::null_mut(),
    }
}

/// A static string that nginx compares as a C string, such as a directive's name or one of the values it may
/// have; nginx never writes to these.
pub(crate) const fn ngx_c_str(text: &'static CStr) -> ngx_str_t {
    ngx_str_t { len: text.count_bytes(), data: text.as_ptr().cast_mut().cast() }
}

/// A static string that nginx goes by the length of; nginx never writes to these.
pub(crate) const fn ngx_str(text: &'static str) -> ngx_str_t {
    ngx_str_t { len: text.len(), data: text.as_ptr().cast_mut() }
}
