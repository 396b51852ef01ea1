//! The state of an answer that is being wrapped, and what becomes of its body.

use core::ptr::NonNull;

use ngx::core::Pool;
use ngx::ffi::ngx_buf_t;
use ngx::http::HttpModule;

use super::logic::prefix::{SUFFIX, prefix};
use super::logic::separators::{Part, Separators};
use super::module::JsonpCallback;
use crate::nginx::chain::{Buffer, Chain, OwnBuffers};
use crate::nginx::pool::PoolExt;

/// What is remembered of a request whose answer the module has to do with.
#[derive(Clone, Copy)]
pub(crate) struct Wrapping {
    role: Role,
    stage: Stage,
    header_held: bool,
    /// How many bytes of the body, as it was before, are still to come, if that is known.
    left: Option<u64>,
    /// The search, if U+2028 and U+2029 are to be escaped.
    separators: Option<Separators>,
    own: OwnBuffers,
    prefix: ngx_buf_t,
    suffix: ngx_buf_t,
    suffix_text: [u8; SUFFIX.len()],
}

/// What the request's answer is.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Role {
    /// It is wrapped.
    Whole,
    /// It becomes a part of one that is wrapped: that of a subrequest.
    Fragment,
    /// It is the error that is sent because the callback was not valid.
    Refusal,
}

/// How far a wrapped answer is.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Stage {
    /// Nothing of it has been passed on.
    Before,
    /// The prefix has.
    Inside,
    /// The suffix has.
    After,
}

impl Wrapping {
    /// For an answer that is wrapped; `len` is the length of its body as it is, if that is known. `None`: no
    /// memory.
    pub(crate) fn whole(
        pool: &Pool,
        callback: &[u8],
        guard: bool,
        escape: bool,
        len: Option<u64>,
    ) -> Option<NonNull<Self>> {
        let text = pool.concat(&prefix(callback, guard))?;
        let mut place = Self::place(pool, Role::Whole, escape)?;
        // SAFETY: it was just made.
        let this = unsafe { place.as_mut() };
        this.left = len;
        this.prefix = Buffer::of_text(text);
        this.suffix = Buffer::of_text(&mut this.suffix_text);
        Some(place)
    }

    /// For a subrequest's answer that becomes a part of one whose separators are escaped.
    pub(crate) fn fragment(pool: &Pool) -> Option<NonNull<Self>> {
        Self::place(pool, Role::Fragment, true)
    }

    /// For the error that is sent because the callback was not valid.
    pub(crate) fn refusal(pool: &Pool) -> Option<NonNull<Self>> {
        Self::place(pool, Role::Refusal, false)
    }

    fn place(pool: &Pool, role: Role, escape: bool) -> Option<NonNull<Self>> {
        let empty = Buffer::of_text(&mut []);
        pool.place_pod(Self {
            role,
            stage: Stage::Before,
            header_held: false,
            left: None,
            separators: escape.then(Separators::default),
            own: OwnBuffers::new(JsonpCallback::module()),
            prefix: empty,
            suffix: empty,
            suffix_text: [b')', b';'],
        })
    }

    /// Whether the answer is wrapped.
    pub(crate) fn is_whole(&self) -> bool {
        self.role == Role::Whole
    }

    /// Whether the answer is the error that is sent because the callback was not valid.
    pub(crate) fn is_refusal(&self) -> bool {
        self.role == Role::Refusal
    }

    /// Whether U+2028 and U+2029 are escaped.
    pub(crate) fn escapes(&self) -> bool {
        self.separators.is_some()
    }

    /// Whether the header waits for the first piece of body.
    pub(crate) fn is_header_held(&self) -> bool {
        self.header_held
    }

    pub(crate) fn hold_header(&mut self, hold: bool) {
        self.header_held = hold;
    }

    /// How many bytes are put around the body.
    pub(crate) fn around_len(&self) -> u64 {
        let bytes = |buf: &ngx_buf_t| (buf.last as u64).saturating_sub(buf.pos as u64);
        bytes(&self.prefix).saturating_add(bytes(&self.suffix))
    }

    /// Whether a piece of the body has been passed on.
    pub(crate) fn has_begun(&self) -> bool {
        self.stage != Stage::Before
    }

    /// Whether all of the body has been passed on, so that whatever comes now goes on as it is.
    pub(crate) fn is_over(&self) -> bool {
        self.stage == Stage::After
    }

    /// Whether there is nothing left to do, for this filter, with any buffer.
    pub(crate) fn is_idle(&self) -> bool {
        self.role == Role::Refusal || self.is_over() && self.own.are_idle()
    }

    /// Takes back what has been sent of `passed`, and of what was passed on before.
    pub(crate) fn update(&mut self, passed: Chain) {
        self.own.update(passed);
    }

    /// Adds to `out` what becomes of a buffer. `None`: no memory.
    pub(crate) fn add(
        &mut self,
        pool: &Pool,
        mut buffer: Buffer<'_>,
        out: &mut Chain,
    ) -> Option<()> {
        let before = out.last();
        let len = buffer.len();
        if len > 0 {
            self.begin(out)?;
            self.content(pool, buffer, out)?;
            self.left = self.left.map(|left| left.saturating_sub(len));
        }
        let complete = buffer.is_last() || len > 0 && self.left == Some(0);
        if complete || buffer.is_last_of_request() {
            self.held_back(pool, out)?;
        }
        if complete {
            self.end(out)?;
        }
        if !buffer.is_signal() {
            return Some(());
        }
        // What the buffer tells has to come after its last byte.
        match out.last().filter(|last| before.as_ref() != Some(last)) {
            Some(last) => buffer.signal_by(last.buffer()?),
            None if buffer.bytes().is_none() => drop(out.push(buffer)?),
            // Its bytes are held back.
            None => {
                let signal = OwnBuffers::signal(pool)?;
                buffer.signal_by(signal);
                out.push(signal)?;
            }
        }
        Some(())
    }

    /// The prefix, before the first byte.
    fn begin(&mut self, out: &mut Chain) -> Option<()> {
        if self.role == Role::Whole && self.stage == Stage::Before {
            self.stage = Stage::Inside;
            // SAFETY: it stays in the request's pool, and is passed on once.
            out.push(unsafe { Buffer::new(NonNull::from(&mut self.prefix)) })?;
        }
        Some(())
    }

    /// The suffix, after the last byte.
    fn end(&mut self, out: &mut Chain) -> Option<()> {
        self.begin(out)?;
        if self.role == Role::Whole && self.stage == Stage::Inside {
            self.stage = Stage::After;
            // SAFETY: it stays in the request's pool, and is passed on once.
            out.push(unsafe { Buffer::new(NonNull::from(&mut self.suffix)) })?;
        }
        Some(())
    }

    /// The bytes that were held back because they might begin a sequence.
    fn held_back(&mut self, pool: &Pool, out: &mut Chain) -> Option<()> {
        let text = self.separators.as_mut().map_or(&[][..], Separators::finish);
        if !text.is_empty() {
            out.push(self.own.text(pool, text)?)?;
        }
        Some(())
    }

    /// A buffer's bytes.
    fn content(&mut self, pool: &Pool, mut buffer: Buffer<'_>, out: &mut Chain) -> Option<()> {
        let (Some(separators), Some(bytes)) = (&mut self.separators, buffer.bytes()) else {
            // With separators to be escaped, the copy filter reads files into memory. What is in a file all
            // the same was put there by a filter in between, and goes on as it is.
            self.held_back(pool, out)?;
            return out.push(buffer).map(drop);
        };
        let whole = 0..bytes.len();
        // The last part that the buffer itself is to hold: it counts as sent once it is.
        let mut last = None;
        for part in separators.scan(bytes) {
            match part {
                Part::Piece(range) => {
                    let link = out.push(buffer)?;
                    if let Some((mut link, range)) = last.replace((link, range)) {
                        link.set(self.own.part(pool, buffer, range)?);
                    }
                }
                Part::Text(text) => drop(out.push(self.own.text(pool, text)?)?),
            }
        }
        buffer.narrow(last.map_or(whole.end..whole.end, |(_, range)| range));
        Some(())
    }
}
