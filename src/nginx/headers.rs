//! The lines of a request's header.

use core::{iter, slice};

use ngx::ffi::{ngx_hash_key, ngx_list_part_t, ngx_list_t, ngx_str_t, ngx_table_elt_t, ngx_uint_t};
use ngx::http::Request;

use super::module::ngx_str;
use super::pool::PoolExt;

/// The name of a header, with its hash, by which it is found.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct HeaderName {
    hash: ngx_uint_t,
    lowercase: ngx_str_t,
}

impl HeaderName {
    /// A name that is written in lower case.
    pub(crate) fn from_static(lowercase: &'static str) -> Self {
        let lowercase = ngx_str(lowercase);
        // SAFETY: the function reads `len` bytes.
        let hash = unsafe { ngx_hash_key(lowercase.data, lowercase.len) };
        Self { hash, lowercase }
    }

    /// A name in lower case, with its `ngx_hash_key`.
    ///
    /// # Safety
    ///
    /// `lowercase` points to memory that lives as long as the configuration.
    pub(crate) unsafe fn from_ngx(hash: ngx_uint_t, lowercase: ngx_str_t) -> Self {
        Self { hash, lowercase }
    }

    fn names(&self, line: &ngx_table_elt_t) -> bool {
        line.hash == self.hash && line.key.len == self.lowercase.len && {
            // SAFETY: nginx sets `lowcase_key` of each line to as many bytes as `key` has.
            let name = unsafe { bytes(line.lowcase_key, line.key.len) };
            name == self.lowercase.as_bytes()
        }
    }
}

/// Room for the lines of a header as long as they are few; more take memory from the request's pool.
pub(crate) type Few = [ngx_str_t; 8];

/// The values of all lines with this name, in the order in which they came.
///
/// `None`: there is no memory left. The request's header is not changed.
pub(crate) fn lines<'a>(
    request: &'a Request,
    name: &HeaderName,
    few: &'a mut Few,
) -> Option<&'a [ngx_str_t]> {
    let mut count: usize = 0;
    for value in values(request, name) {
        if let Some(place) = few.get_mut(count) {
            *place = value;
        }
        count = count.saturating_add(1);
    }
    if count <= few.len() {
        return few.get(..count);
    }
    // SAFETY: what was collected lives as long as the request.
    request.pool().collect(values(request, name), count).map(|lines| unsafe { lines.as_ref() })
}

/// The values of the lines with this name.
fn values<'a>(request: &'a Request, name: &'a HeaderName) -> impl Iterator<Item = ngx_str_t> + 'a {
    let lines = lines_of(&request.as_ref().headers_in.headers);
    lines.filter(|line| name.names(line)).map(|line| line.value)
}

/// The lines of a header, of a request or of a response.
pub(crate) fn lines_of(headers: &ngx_list_t) -> impl Iterator<Item = &ngx_table_elt_t> {
    let mut part = &headers.part;
    // SAFETY: the list of headers holds `ngx_table_elt_t`.
    let mut lines = unsafe { elements(part) }.iter();
    iter::from_fn(move || {
        loop {
            if let Some(line) = lines.next() {
                return Some(line);
            }
            // SAFETY: parts of a list are linked, and the last one's `next` is null.
            part = unsafe { part.next.as_ref() }?;
            // SAFETY: as above.
            lines = unsafe { elements(part) }.iter();
        }
    })
}

/// # Safety
///
/// `T` is what the list holds.
unsafe fn elements<T>(part: &ngx_list_part_t) -> &[T] {
    // A part may hold nothing, and then be no place at all (a request of HTTP/0.9).
    if part.nelts == 0 || part.elts.is_null() {
        return &[];
    }
    // SAFETY: `elts` holds `nelts` elements.
    unsafe { slice::from_raw_parts(part.elts.cast(), part.nelts) }
}

/// # Safety
///
/// `data` points to `len` bytes, or `len` is 0.
unsafe fn bytes<'a>(data: *const u8, len: usize) -> &'a [u8] {
    if len == 0 || data.is_null() {
        return &[];
    }
    // SAFETY: as above.
    unsafe { slice::from_raw_parts(data, len) }
}
