//! The header of a response, for output filters.

use core::ffi::c_void;
use core::ptr::{self, NonNull};

use ngx::ffi::{
    NGX_HTTP_GET, NGX_HTTP_HEAD, ngx_cycle, ngx_http_clean_header, ngx_http_weak_etag,
    ngx_list_push, ngx_module_t, ngx_output_chain_ctx_t, ngx_str_t, ngx_table_elt_t, off_t,
};
use ngx::http::Request;

use super::headers::lines_of;
use super::module::{self, ngx_str};
use super::request::RequestExt;
use super::shim;

unsafe extern "C" {
    /// nginx's copy filter; its headers do not declare it.
    static ngx_http_copy_filter_module: ngx_module_t;
}

/// The response to a request.
pub(crate) trait ResponseExt {
    /// Whether it answers GET or HEAD.
    fn is_get_or_head(&self) -> bool;

    /// Whether no body is sent.
    fn is_head(&self) -> bool;

    /// Its status.
    fn status(&self) -> usize;

    /// Gives it another status, for the log too.
    fn set_status_code(&mut self, status: u16);

    /// Whether nginx itself answers with an error, or with what `error_page` says.
    fn is_error_page(&self) -> bool;

    /// The length of its body, if it is known, in bytes.
    fn content_length(&self) -> Option<u64>;

    /// Changes that length; `None` makes it unknown.
    fn set_content_length(&mut self, len: Option<u64>);

    /// The type, parameters included.
    fn content_type(&self) -> &[u8];

    /// The type as nginx compares it: without the charset parameter, where nginx knows of it.
    fn bare_content_type(&self) -> &[u8];

    /// Another type, whose name takes the first `essence_len` bytes of it.
    fn set_content_type(&mut self, content_type: &'static [u8], essence_len: usize);

    /// The charset that is going to be put behind a type without parameters.
    fn charset(&self) -> &[u8];

    /// Changes that charset.
    ///
    /// # Safety
    ///
    /// The text lives as long as the request.
    unsafe fn set_charset(&mut self, charset: NonNull<[u8]>);

    /// Whether the body begins where the client's Range does, not with the document: nginx's slice filter leaves
    /// the rest to the range filter.
    fn begins_with_range(&self) -> bool;

    /// The value of Content-Encoding that nginx's filters look at, empty if there is none.
    fn content_encoding(&self) -> &[u8];

    /// The values of all lines called Content-Encoding that the client would get.
    fn content_encodings(&self) -> impl Iterator<Item = &[u8]>;

    /// Takes Last-Modified and Accept-Ranges away, and makes ETag weak, as nginx's filters do that change a
    /// body. No part of the body is then asked for.
    fn forget_exact_bytes(&mut self);

    /// Sets a header that is none of those nginx knows. `None`: no memory.
    fn set_header(
        &mut self,
        name: &'static str,
        lowercase: &'static str,
        value: &'static str,
    ) -> Option<()>;

    /// Makes the filters that ask decide whether the client takes gzip: `Some(false)` no, `None` by what the
    /// client sent.
    fn set_gzip_ok(&mut self, ok: Option<bool>);

    /// Has the copy filter read files into memory. To be called before the first part of the body.
    fn need_in_memory(&mut self);

    /// Whether a filter changes bytes in their place.
    fn needs_temporary(&self) -> bool;

    /// Has the copy filter copy what may not be changed, even if it has already been called.
    fn need_temporary_from_now_on(&mut self);

    /// Whether an upstream was to answer, and no more will come from it.
    fn is_upstream_over(&self) -> bool;

    /// Keeps the status with which the request ends out of the cache, which takes 502 and 504 for the upstream's.
    fn forbid_caching(&mut self);

    /// Forgets the response that was to be sent, so that the filter can answer with an error of its own, by
    /// returning its status: the header, and that gunzip was to decode the body, which would be the error's.
    ///
    /// Contexts of other modules stay (`ngx_http_filter_finalize_request` clears them all, and closes the
    /// connection): what keeps its state of the request there, such as Lua, goes on with it.
    fn discard_response(&mut self);
}

impl ResponseExt for Request {
    fn is_get_or_head(&self) -> bool {
        self.as_ref().method & (NGX_HTTP_GET | NGX_HTTP_HEAD) as usize != 0
    }

    fn is_head(&self) -> bool {
        // SAFETY: the request is live.
        let is_header_only = unsafe { shim::cachefront_request_header_only(self.as_ref()) != 0 };
        is_header_only || self.as_ref().method & NGX_HTTP_HEAD as usize != 0
    }

    fn status(&self) -> usize {
        self.as_ref().headers_out.status
    }

    fn set_status_code(&mut self, status: u16) {
        let r = self.as_mut();
        r.headers_out.status = status.into();
        r.headers_out.status_line = ngx_str_t::empty();
        // The log prefers this one.
        if r.err_status != 0 {
            r.err_status = status.into();
        }
    }

    fn is_error_page(&self) -> bool {
        self.as_ref().err_status >= 300
    }

    fn content_length(&self) -> Option<u64> {
        u64::try_from(self.as_ref().headers_out.content_length_n).ok()
    }

    fn set_content_length(&mut self, len: Option<u64>) {
        let headers = &mut self.as_mut().headers_out;
        headers.content_length_n = len.and_then(|len| off_t::try_from(len).ok()).unwrap_or(-1);
        remove(&mut headers.content_length);
    }

    fn content_type(&self) -> &[u8] {
        self.as_ref().headers_out.content_type.as_bytes()
    }

    fn bare_content_type(&self) -> &[u8] {
        let content_type = self.content_type();
        content_type.get(..self.as_ref().headers_out.content_type_len).unwrap_or(content_type)
    }

    fn set_content_type(&mut self, content_type: &'static [u8], essence_len: usize) {
        let headers = &mut self.as_mut().headers_out;
        headers.content_type =
            ngx_str_t { len: content_type.len(), data: content_type.as_ptr().cast_mut() };
        headers.content_type_len = essence_len;
        headers.content_type_lowcase = ptr::null_mut();
    }

    fn charset(&self) -> &[u8] {
        self.as_ref().headers_out.charset.as_bytes()
    }

    unsafe fn set_charset(&mut self, charset: NonNull<[u8]>) {
        self.as_mut().headers_out.charset =
            ngx_str_t { len: charset.len(), data: charset.cast().as_ptr() };
    }

    fn begins_with_range(&self) -> bool {
        // SAFETY: the request is live.
        unsafe { shim::cachefront_request_begins_with_range(self.as_ref()) != 0 }
    }

    fn content_encoding(&self) -> &[u8] {
        // SAFETY: it is null or a header of the response.
        let header = unsafe { self.as_ref().headers_out.content_encoding.as_ref() };
        header.map_or(&[], |header| header.value.as_bytes())
    }

    fn content_encodings(&self) -> impl Iterator<Item = &[u8]> {
        lines_of(&self.as_ref().headers_out.headers)
            .filter(|line| line.hash != 0 && is_called(line, b"Content-Encoding"))
            .map(|line| line.value.as_bytes())
    }

    fn forget_exact_bytes(&mut self) {
        let r = self.as_mut();
        // ngx_http_clear_last_modified
        r.headers_out.last_modified_time = -1;
        remove(&mut r.headers_out.last_modified);
        // ngx_http_clear_accept_ranges
        // SAFETY: the request is live.
        unsafe { shim::cachefront_request_forbid_ranges(r) };
        remove(&mut r.headers_out.accept_ranges);
        if !r.headers_out.etag.is_null() {
            // SAFETY: `r` is live.
            unsafe { ngx_http_weak_etag(r) };
        }
    }

    fn set_header(
        &mut self,
        name: &'static str,
        lowercase: &'static str,
        value: &'static str,
    ) -> Option<()> {
        let headers = &mut self.as_mut().headers_out.headers;
        let mut part = &raw const headers.part;
        // SAFETY: the list is the response's, made of parts with `nelts` headers each.
        while let Some(of) = unsafe { part.as_ref() } {
            for at in 0..of.nelts {
                // SAFETY: as above.
                let header = unsafe { &mut *of.elts.cast::<ngx_table_elt_t>().add(at) };
                if header.hash != 0 && is_called(header, name.as_bytes()) {
                    header.value = ngx_str(value);
                    return Some(());
                }
            }
            part = of.next;
        }
        // SAFETY: nginx gives room for one more header, or null.
        unsafe {
            let header = NonNull::new(ngx_list_push(headers).cast::<ngx_table_elt_t>())?;
            header.write(core::mem::zeroed());
            let header = &mut *header.as_ptr();
            header.hash = 1;
            header.key = ngx_str(name);
            header.lowcase_key = lowercase.as_ptr().cast_mut();
            header.value = ngx_str(value);
        }
        Some(())
    }

    fn set_gzip_ok(&mut self, ok: Option<bool>) {
        let (tested, ok) = (ok.is_some().into(), ok.unwrap_or(false).into());
        // SAFETY: the request is live.
        unsafe { shim::cachefront_request_set_gzip(self.as_mut(), tested, ok) };
    }

    fn need_in_memory(&mut self) {
        // SAFETY: the request is live.
        unsafe { shim::cachefront_request_need_in_memory(self.as_mut()) };
    }

    fn needs_temporary(&self) -> bool {
        // SAFETY: the request is live.
        unsafe { shim::cachefront_request_needs_temporary(self.as_ref()) != 0 }
    }

    fn need_temporary_from_now_on(&mut self) {
        // SAFETY: the module is nginx's own, in every binary, and this is what it sets as its context.
        let copy = unsafe { self.context::<ngx_output_chain_ctx_t>(&ngx_http_copy_filter_module) };
        if let Some(mut copy) = copy {
            // SAFETY: the context lives as long as the request.
            unsafe { copy.as_mut() }.set_need_in_temp(1);
        }
    }

    fn is_upstream_over(&self) -> bool {
        // SAFETY: it is null or this request's upstream; `ngx_http_upstream_finalize_request` begins with
        // taking the cleanup handler away.
        unsafe { self.as_ref().upstream.as_ref() }
            .is_some_and(|upstream| upstream.cleanup.is_null())
    }

    fn forbid_caching(&mut self) {
        // SAFETY: the request is live.
        unsafe { shim::cachefront_request_forbid_caching(self.as_mut()) };
    }

    fn discard_response(&mut self) {
        // SAFETY: the request is live, and belongs to the running cycle. Without a context, gunzip passes on what it
        // is given.
        unsafe {
            ngx_http_clean_header(self.as_mut());
            if let Some(gunzip) = module::find(ngx_cycle, c"ngx_http_gunzip_filter_module") {
                self.set_context::<c_void>(gunzip, None);
            }
        }
    }
}

fn is_called(header: &ngx_table_elt_t, name: &[u8]) -> bool {
    header.key.as_bytes().eq_ignore_ascii_case(name)
}

/// Takes a header away that the response may have.
fn remove(header: &mut *mut ngx_table_elt_t) {
    // SAFETY: it is null or a header of the response.
    if let Some(header) = unsafe { header.as_mut() } {
        header.hash = 0;
    }
    *header = ptr::null_mut();
}
