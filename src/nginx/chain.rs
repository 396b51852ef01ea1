//! Chains of buffers: those a body filter is given, and those it passes on.

use core::marker::PhantomData;
use core::mem;
use core::ops::Range;
use core::ptr::{self, NonNull};
use core::slice;

use ngx::core::Pool;
use ngx::ffi::{
    ngx_alloc_chain_link, ngx_buf_t, ngx_buf_tag_t, ngx_chain_t, ngx_chain_update_chains,
    ngx_create_temp_buf, ngx_module_t, ngx_pcalloc,
};

use super::pool::PoolExt;

/// A buffer, for as long as the filter that was given it runs.
#[derive(Clone, Copy)]
pub(crate) struct Buffer<'a> {
    buf: NonNull<ngx_buf_t>,
    call: PhantomData<&'a ngx_buf_t>,
}

impl Buffer<'_> {
    /// # Safety
    ///
    /// `buf` is set up, and stays where it is and as long as it is part of a chain.
    pub(crate) unsafe fn new(buf: NonNull<ngx_buf_t>) -> Self {
        Self { buf, call: PhantomData }
    }

    fn get(&self) -> &ngx_buf_t {
        // SAFETY: see `new`.
        unsafe { self.buf.as_ref() }
    }

    fn get_mut(&mut self) -> &mut ngx_buf_t {
        // SAFETY: see `new`; nobody else looks at the buffer while the filter runs.
        unsafe { self.buf.as_mut() }
    }

    /// Whether its bytes are in memory (`ngx_buf_in_memory`).
    fn is_in_memory(&self) -> bool {
        let buf = self.get();
        buf.temporary() != 0 || buf.memory() != 0 || buf.mmap() != 0
    }

    /// Its bytes, if they are in memory.
    pub(crate) fn bytes(&self) -> Option<&[u8]> {
        if !self.is_in_memory() {
            return None;
        }
        let buf = self.get();
        match self.len() {
            0 => Some(&[]),
            // SAFETY: the bytes from `pos` to `last` are the buffer's.
            _ => Some(unsafe { slice::from_raw_parts(buf.pos, self.memory_len()) }),
        }
    }

    fn memory_len(&self) -> usize {
        let buf = self.get();
        (buf.last as usize).saturating_sub(buf.pos as usize)
    }

    /// The number of its bytes, in memory or in a file (`ngx_buf_size`).
    pub(crate) fn len(&self) -> u64 {
        if self.is_in_memory() {
            return self.memory_len() as u64;
        }
        let buf = self.get();
        u64::try_from(buf.file_last.saturating_sub(buf.file_pos)).unwrap_or(0)
    }

    /// Whether the whole response ends with it.
    pub(crate) fn is_last(&self) -> bool {
        self.get().last_buf() != 0
    }

    /// Whether what this request adds to the response ends with it, for the time being at least.
    pub(crate) fn is_last_of_request(&self) -> bool {
        self.is_last() || self.get().last_in_chain() != 0
    }

    /// Whether it tells the filters something besides its bytes.
    pub(crate) fn is_signal(&self) -> bool {
        let buf = self.get();
        buf.flush() != 0 || buf.sync() != 0 || self.is_last_of_request()
    }

    /// Whether it is there only to tell that (`ngx_buf_special`): nginx lets no other buffer be empty.
    pub(crate) fn is_special(&self) -> bool {
        self.is_signal() && !self.is_in_memory() && self.get().in_file() == 0
    }

    /// Lets `to`, which comes after it or is the same, tell what this one tells.
    pub(crate) fn signal_by(&mut self, mut to: Buffer<'_>) {
        if self.buf == to.buf {
            return;
        }
        let from = self.get_mut();
        let to = to.get_mut();
        to.set_flush(from.flush() | to.flush());
        to.set_sync(from.sync() | to.sync());
        to.set_last_in_chain(from.last_in_chain() | to.last_in_chain());
        to.set_last_buf(from.last_buf() | to.last_buf());
        from.set_last_in_chain(0);
        from.set_last_buf(0);
    }

    /// Leaves only these of its bytes, which are in memory. Once they are sent, the buffer is, for whoever
    /// filled it.
    pub(crate) fn narrow(&mut self, range: Range<usize>) {
        let len = self.memory_len();
        if range == (0..len) || range.end > len {
            return;
        }
        let buf = self.get_mut();
        // SAFETY: the range is within the buffer's bytes.
        unsafe {
            buf.last = buf.pos.add(range.end);
            buf.pos = buf.pos.add(range.start);
        }
        // The bytes in the file are no longer those in memory.
        buf.set_in_file(0);
    }

    /// Holds other bytes in place of its own, until they are sent: then it is, for whoever filled it.
    ///
    /// # Safety
    ///
    /// The text may be written to, and lives as long as the buffer.
    pub(crate) unsafe fn stand_for(&mut self, text: &mut [u8]) {
        let Range { start, end } = text.as_mut_ptr_range();
        let buf = self.get_mut();
        (buf.pos, buf.last) = (start, end);
        buf.set_in_file(0);
    }
}

/// A buffer without bytes that tells nothing.
// SAFETY: nginx itself sets buffers up with zeros (`ngx_calloc_buf`).
const BLANK: ngx_buf_t = unsafe { mem::zeroed() };

/// A buffer for text of the request's own, together with the link that puts it into a chain once.
#[derive(Clone, Copy)]
pub(crate) struct TextBuffer {
    buf: ngx_buf_t,
    link: ngx_chain_t,
}

impl TextBuffer {
    /// Without text.
    pub(crate) const EMPTY: Self =
        Self { buf: BLANK, link: ngx_chain_t { buf: ptr::null_mut(), next: ptr::null_mut() } };

    /// Filters may change the text in its place. It lives as long as the buffer.
    pub(crate) fn new(text: &mut [u8]) -> Self {
        let Range { start, end } = text.as_mut_ptr_range();
        let mut buf = ngx_buf_t { pos: start, last: end, start, end, ..BLANK };
        buf.set_temporary(1);
        Self { buf, ..Self::EMPTY }
    }
}

/// The buffers of a chain.
///
/// # Safety
///
/// `chain` is what nginx passed to the body filter that is running.
pub(crate) unsafe fn buffers<'a>(chain: *mut ngx_chain_t) -> impl Iterator<Item = Buffer<'a>> {
    let mut next = chain;
    core::iter::from_fn(move || {
        // SAFETY: a chain's links are valid, each with a buffer; the last one's `next` is null.
        let link = unsafe { next.as_ref() }?;
        next = link.next;
        // SAFETY: as above.
        NonNull::new(link.buf).map(|buf| unsafe { Buffer::new(buf) })
    })
}

/// A chain that a filter puts together.
///
/// All its links are its own: those of a chain that a filter is given belong to whoever passed it.
pub(crate) struct Chain {
    pool: Pool,
    first: *mut ngx_chain_t,
    last: *mut ngx_chain_t,
}

/// The place of a buffer in a [`Chain`].
#[derive(Clone, Copy, Eq, PartialEq)]
pub(crate) struct Link(NonNull<ngx_chain_t>);

impl Link {
    /// The buffer.
    pub(crate) fn buffer<'a>(&self) -> Option<Buffer<'a>> {
        // SAFETY: as above, and `push` put a valid buffer there.
        NonNull::new(unsafe { self.0.as_ref() }.buf).map(|buf| unsafe { Buffer::new(buf) })
    }
}

impl Chain {
    pub(crate) fn new(pool: Pool) -> Self {
        Self { pool, first: ptr::null_mut(), last: ptr::null_mut() }
    }

    /// Adds a buffer at the end. `None`: no memory.
    pub(crate) fn push(&mut self, buffer: Buffer<'_>) -> Option<Link> {
        // SAFETY: the pool is the request's.
        let mut link = NonNull::new(unsafe { ngx_alloc_chain_link(self.pool.as_ptr()) })?;
        // SAFETY: nginx allocated a link.
        unsafe { link.as_mut() }.buf = buffer.buf.as_ptr();
        Some(self.append(link))
    }

    /// Adds a text at the end.
    ///
    /// # Safety
    ///
    /// It stays where it is, and is not added again: nginx may use its link for other buffers.
    pub(crate) unsafe fn push_text(&mut self, text: &mut TextBuffer) {
        text.link.buf = &raw mut text.buf;
        self.append(NonNull::from(&mut text.link));
    }

    fn append(&mut self, mut link: NonNull<ngx_chain_t>) -> Link {
        // SAFETY: the link is in no chain, and `last` is one of this chain's own.
        unsafe {
            link.as_mut().next = ptr::null_mut();
            match self.last.as_mut() {
                Some(last) => last.next = link.as_ptr(),
                None => self.first = link.as_ptr(),
            }
        }
        self.last = link.as_ptr();
        Link(link)
    }

    /// The place of the last buffer.
    pub(crate) fn last(&self) -> Option<Link> {
        NonNull::new(self.last).map(Link)
    }

    /// For the next filter.
    pub(crate) fn as_ptr(&self) -> *mut ngx_chain_t {
        self.first
    }

    /// Copies what is in memory that filters may not change, as nginx's copy filter does for requests with
    /// `filter_need_temporary`. `None`: no memory.
    pub(crate) fn make_temporary(&mut self) -> Option<()> {
        let mut next = self.first;
        // SAFETY: the chain is valid.
        while let Some(link) = unsafe { next.as_mut() } {
            next = link.next;
            // SAFETY: as above.
            let mut from = unsafe { Buffer::new(NonNull::new(link.buf)?) };
            let len = from.memory_len();
            if len == 0 || from.get().memory() == 0 && from.get().mmap() == 0 {
                continue;
            }
            // SAFETY: the pool is the request's.
            let copy = NonNull::new(unsafe { ngx_create_temp_buf(self.pool.as_ptr(), len) })?;
            // SAFETY: nginx set the buffer up.
            let mut to = unsafe { Buffer::new(copy) };
            let buf = to.get_mut();
            // SAFETY: both have room for `len` bytes, and the one is new.
            unsafe {
                ptr::copy_nonoverlapping(from.get().pos, buf.pos, len);
                buf.last = buf.pos.add(len);
            }
            from.signal_by(to);
            from.narrow(len..len);
            link.buf = copy.as_ptr();
        }
        Some(())
    }
}

/// Buffers that a filter adds to what it passes on; they are used again once they have been sent.
#[derive(Clone, Copy)]
pub(crate) struct OwnBuffers {
    tag: ngx_buf_tag_t,
    free: *mut ngx_chain_t,
    busy: *mut ngx_chain_t,
}

/// The room of a buffer for [`OwnBuffers::push_text`], in bytes: about as much as the buffer itself takes.
const TEXT: usize = 128;

impl OwnBuffers {
    /// For the filter of this module.
    pub(crate) fn new(module: *const ngx_module_t) -> Self {
        Self { tag: module.cast_mut().cast(), free: ptr::null_mut(), busy: ptr::null_mut() }
    }

    /// For `chain`: a part of the bytes of another buffer, which are in memory. They have to stay until it is sent, so
    /// `of` itself has to come after it in the chain with some of its bytes.
    pub(crate) fn part<'a>(
        &mut self,
        chain: &Chain,
        of: Buffer<'_>,
        range: Range<usize>,
    ) -> Option<Buffer<'a>> {
        let mut part = self.take(&chain.pool)?;
        let of = of.get();
        let buf = part.get_mut();
        buf.set_temporary(of.temporary());
        buf.set_memory(of.memory());
        buf.set_mmap(of.mmap());
        // SAFETY: the range is within the other buffer's bytes.
        unsafe {
            buf.pos = of.pos.add(range.start);
            buf.last = of.pos.add(range.end);
        }
        Some(part)
    }

    /// Adds a copy of a text to `chain`, in as few buffers as it takes. `None`: no memory.
    pub(crate) fn push_text(&mut self, chain: &mut Chain, text: &[u8]) -> Option<()> {
        let mut left = text;
        while !left.is_empty() {
            let mut buffer = match chain.last().and_then(|link| link.buffer()) {
                Some(last) if self.room_behind(&last) > 0 => last,
                _ => {
                    let empty = self.text_buffer(&chain.pool)?;
                    chain.push(empty)?;
                    empty
                }
            };
            let (now, later) = left.split_at(left.len().min(self.room_behind(&buffer)));
            let buf = buffer.get_mut();
            // SAFETY: there is room for so many bytes behind those that it has.
            unsafe {
                ptr::copy_nonoverlapping(now.as_ptr(), buf.last, now.len());
                buf.last = buf.last.add(now.len());
            }
            left = later;
        }
        Some(())
    }

    /// How many bytes can be added to a buffer, if it is one of [`OwnBuffers::text_buffer`].
    fn room_behind(&self, buffer: &Buffer<'_>) -> usize {
        let buf = buffer.get();
        if buf.tag != self.tag || buf.pos != buf.start || buf.start.is_null() {
            return 0;
        }
        (buf.end as usize).saturating_sub(buf.last as usize)
    }

    /// A buffer with room for a text, of which it has none yet.
    fn text_buffer<'a>(&mut self, pool: &Pool) -> Option<Buffer<'a>> {
        let mut buffer = self.take(pool)?;
        let buf = buffer.get_mut();
        if buf.start.is_null() {
            buf.start = pool.bytes(TEXT)?.as_ptr();
            // SAFETY: that is what was allocated.
            buf.end = unsafe { buf.start.add(TEXT) };
        }
        buf.set_temporary(1);
        (buf.pos, buf.last) = (buf.start, buf.start);
        Some(buffer)
    }

    /// For `chain`: a buffer without bytes, for what [`Buffer::signal_by`] is to put on it. It is not used again: nothing
    /// tells when it has been sent.
    pub(crate) fn signal<'a>(chain: &Chain) -> Option<Buffer<'a>> {
        new_buffer(&chain.pool)
    }

    /// Takes back what of `passed`, and of what was passed before, has been sent.
    pub(crate) fn update(&mut self, mut passed: Chain) {
        // SAFETY: the pool is the request's, and the chains are this filter's own.
        unsafe {
            ngx_chain_update_chains(
                passed.pool.as_ptr(),
                &raw mut self.free,
                &raw mut self.busy,
                &raw mut passed.first,
                self.tag,
            );
        }
    }

    /// A buffer without bytes, which may have room for a text.
    fn take<'a>(&mut self, pool: &Pool) -> Option<Buffer<'a>> {
        // SAFETY: `update` puts valid links there, each with one of this filter's buffers.
        let Some(link) = (unsafe { self.free.as_mut() }) else {
            let mut buffer = new_buffer(pool)?;
            buffer.get_mut().tag = self.tag;
            return Some(buffer);
        };
        // SAFETY: as above.
        let mut buffer = unsafe { Buffer::new(NonNull::new(link.buf)?) };
        let buf = buffer.get_mut();
        *buf = ngx_buf_t { start: buf.start, end: buf.end, tag: buf.tag, ..BLANK };
        self.free = link.next;
        // SAFETY: the pool is the request's, and keeps links to be used again (`ngx_free_chain`).
        unsafe {
            let pool = pool.as_ptr();
            link.next = (*pool).chain;
            (*pool).chain = link;
        }
        Some(buffer)
    }
}

/// `ngx_calloc_buf`
fn new_buffer<'a>(pool: &Pool) -> Option<Buffer<'a>> {
    // SAFETY: the pool is the request's; zeros set a buffer up.
    let buf = unsafe { ngx_pcalloc(pool.as_ptr(), size_of::<ngx_buf_t>()) };
    let buf = NonNull::new(buf.cast())?;
    // SAFETY: it stays in the pool.
    Some(unsafe { Buffer::new(buf) })
}
