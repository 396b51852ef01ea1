//! ngx-cachefront: three nginx modules in one library.
//!
//! | folder | directive | nginx module |
//! |---|---|---|
//! | [`jsonp_callback`] | `jsonp_callback` | `ngx_http_jsonp_callback_filter_module` |
//! | [`memcached_hash`] | `memcached_hash` | `ngx_http_upstream_memcached_hash_module` |
//! | [`real_ip_recursive_trust`] | `real_ip_recursive_trust` | `ngx_http_realip_trust_module` |

pub mod jsonp_callback;
pub mod memcached_hash;
#[cfg(feature = "module")]
mod nginx;
pub mod real_ip_recursive_trust;

/// What nginx reads from the library when `load_module` opens it.
#[cfg(feature = "module")]
#[allow(non_upper_case_globals)]
mod exports {
    use core::ffi::{CStr, c_char};
    use core::ptr;

    use ngx::ffi::ngx_module_t;

    use crate::jsonp_callback::{
        ngx_http_jsonp_callback_filter_module, ngx_http_jsonp_callback_gunzip_filter_module,
        ngx_http_jsonp_callback_type_filter_module,
    };
    use crate::memcached_hash::ngx_http_upstream_memcached_hash_module;
    use crate::real_ip_recursive_trust::ngx_http_realip_trust_module;

    const REALIP_TRUST: &CStr = c"ngx_http_realip_trust_module";
    const JSONP_CALLBACK: &CStr = c"ngx_http_jsonp_callback_filter_module";
    const JSONP_CALLBACK_GUNZIP: &CStr = c"ngx_http_jsonp_callback_gunzip_filter_module";
    const JSONP_CALLBACK_TYPE: &CStr = c"ngx_http_jsonp_callback_type_filter_module";
    const MEMCACHED_HASH: &CStr = c"ngx_http_upstream_memcached_hash_module";

    #[unsafe(no_mangle)]
    static mut ngx_modules: [*const ngx_module_t; 6] = [
        &raw const ngx_http_realip_trust_module,
        &raw const ngx_http_jsonp_callback_type_filter_module,
        &raw const ngx_http_jsonp_callback_filter_module,
        &raw const ngx_http_jsonp_callback_gunzip_filter_module,
        &raw const ngx_http_upstream_memcached_hash_module,
        ptr::null(),
    ];

    #[unsafe(no_mangle)]
    static mut ngx_module_names: [*const c_char; 6] = [
        REALIP_TRUST.as_ptr(),
        JSONP_CALLBACK_TYPE.as_ptr(),
        JSONP_CALLBACK.as_ptr(),
        JSONP_CALLBACK_GUNZIP.as_ptr(),
        MEMCACHED_HASH.as_ptr(),
        ptr::null(),
    ];

    /// Each module goes before the first, in nginx's table, of all those named after it here
    /// (`ngx_add_module`). A phase handler runs after those of the modules behind it in the table, so
    /// the walk comes after realip's own. A filter runs after those of the modules behind it, too: the
    /// wrapping comes after gunzip has decoded, and before sub, addition, charset, SSI and gzip; the new
    /// type is set after SSI and those before it have looked at the old one, and before gzip; and what
    /// gunzip is to be told is told before it decides. The filters behind gunzip, and charset behind
    /// SSI, stand in for them in an nginx that has none.
    #[unsafe(no_mangle)]
    static mut ngx_module_order: [*const c_char; 12] = [
        REALIP_TRUST.as_ptr(),
        c"ngx_http_realip_module".as_ptr(),
        JSONP_CALLBACK_TYPE.as_ptr(),
        c"ngx_http_ssi_filter_module".as_ptr(),
        c"ngx_http_charset_filter_module".as_ptr(),
        JSONP_CALLBACK.as_ptr(),
        c"ngx_http_gunzip_filter_module".as_ptr(),
        c"ngx_http_userid_filter_module".as_ptr(),
        c"ngx_http_headers_filter_module".as_ptr(),
        JSONP_CALLBACK_GUNZIP.as_ptr(),
        c"ngx_http_copy_filter_module".as_ptr(),
        ptr::null(),
    ];
}
