//! The state of an answer that is being wrapped, and what becomes of its body.

use core::mem;
use core::ptr::NonNull;

use ngx::core::Pool;
use ngx::http::HttpModule;

use super::logic::around::{SUFFIX_LEN, around};
use super::logic::separators::{self, Part, Separators, TEXTS};
use super::module::JsonpCallback;
use crate::nginx::chain::{Buffer, Chain, OwnBuffers, TextBuffer};
use crate::nginx::pool::PoolExt;

/// Up to so many bytes between two separators are copied: a buffer of their own would take more.
const COPIED: usize = 64;

/// What is remembered of a request whose answer the module has to do with.
#[derive(Clone, Copy)]
pub(crate) struct Wrapping {
    role: Role,
    stage: Stage,
    header_held: bool,
    /// The search, if U+2028 and U+2029 are to be escaped.
    separators: Option<Separators>,
    /// How long the body is before it is changed, if that is known.
    len: Option<u64>,
    /// How much of it has come.
    taken: u64,
    /// How much that has become, without what is put around it.
    passed: u64,
    around_len: u64,
    prefix: TextBuffer,
    suffix: TextBuffer,
    own: OwnBuffers,
    /// What a buffer may be made to stand for.
    texts: [u8; TEXTS.len()],
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
    /// The suffix has, or nothing ever will be.
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
        pool.place_with(&around(callback, guard), |text| {
            let around_len = text.len() as u64;
            let (prefix, suffix) = text.split_at_mut(text.len().saturating_sub(SUFFIX_LEN));
            Self {
                len,
                around_len,
                prefix: TextBuffer::new(prefix),
                suffix: TextBuffer::new(suffix),
                ..Self::new(Role::Whole, escape)
            }
        })
    }

    /// For a subrequest's answer that becomes a part of one whose separators are escaped.
    pub(crate) fn fragment(pool: &Pool) -> Option<NonNull<Self>> {
        pool.place_pod(Self::new(Role::Fragment, true))
    }

    /// For the error that is sent because the callback was not valid.
    pub(crate) fn refusal(pool: &Pool) -> Option<NonNull<Self>> {
        pool.place_pod(Self::new(Role::Refusal, false))
    }

    fn new(role: Role, escape: bool) -> Self {
        Self {
            role,
            stage: Stage::Before,
            header_held: false,
            separators: escape.then(Separators::default),
            len: None,
            taken: 0,
            passed: 0,
            around_len: 0,
            prefix: TextBuffer::EMPTY,
            suffix: TextBuffer::EMPTY,
            own: OwnBuffers::new(JsonpCallback::module()),
            texts: *TEXTS,
        }
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

    /// What comes now is not the answer's body: that of HEAD has none, and after a refusal comes the error's.
    pub(crate) fn expect_no_more(&mut self) {
        self.stage = Stage::After;
    }

    /// How many bytes are put around the body.
    pub(crate) fn around_len(&self) -> u64 {
        self.around_len
    }

    /// Whether a piece of the body has been passed on.
    pub(crate) fn has_begun(&self) -> bool {
        self.stage != Stage::Before
    }

    /// How long the wrapped body is, if all of it has been passed on.
    pub(crate) fn wrapped_len(&self) -> Option<u64> {
        self.is_over().then(|| self.passed.saturating_add(self.around_len))
    }

    /// Whether this filter has nothing left to do.
    pub(crate) fn is_over(&self) -> bool {
        self.stage == Stage::After
    }

    /// Whether the body ends with this buffer although it is shorter than it was said to be, or longer.
    pub(crate) fn is_cut_by(&self, buffer: &Buffer<'_>) -> bool {
        buffer.is_last()
            && !self.is_over()
            && self.len.is_some_and(|len| len != self.taken.saturating_add(buffer.len()))
    }

    /// Takes back what has been sent of `passed`, and of what was passed on before, to use it again.
    pub(crate) fn update(&mut self, passed: Chain) {
        if !self.is_over() {
            self.own.update(passed);
        }
    }

    /// Whether all of these buffers, in the middle of the body, go on as they are. If so, they are taken for
    /// passed on.
    pub(crate) fn leave<'a>(&mut self, buffers: impl Iterator<Item = Buffer<'a>>) -> bool {
        if self.role == Role::Whole && self.stage != Stage::Inside {
            return false;
        }
        let mut len: u64 = 0;
        for buffer in buffers {
            let size = buffer.len();
            len = len.saturating_add(size);
            let is_left = match (&self.separators, buffer.bytes()) {
                (Some(separators), Some(bytes)) => separators.leave(bytes),
                (Some(separators), None) => separators.leave(&[]),
                (None, _) => true,
            };
            if !is_left || buffer.is_last() || size == 0 && !buffer.is_special() {
                return false;
            }
        }
        let taken = self.taken.saturating_add(len);
        if self.len.is_some_and(|len| len <= taken) {
            return false;
        }
        self.taken = taken;
        self.passed = self.passed.saturating_add(len);
        true
    }

    /// Adds to `out` what becomes of a buffer. `None`: no memory.
    pub(crate) fn add(&mut self, mut buffer: Buffer<'_>, out: &mut Chain) -> Option<()> {
        let before = out.last();
        let len = buffer.len();
        if len > 0 {
            self.begin(out);
            self.content(buffer, len, out)?;
            self.taken = self.taken.saturating_add(len);
        }
        let complete = buffer.is_last() || len > 0 && self.len == Some(self.taken);
        // What a whole answer has is not over with what its main request has of it: the rest may be in slices.
        if complete || self.role != Role::Whole && buffer.is_last_of_request() {
            self.held_back(out)?;
        }
        if complete {
            self.end(out);
        }
        if !buffer.is_signal() {
            return Some(());
        }
        // What the buffer tells has to come after its last byte.
        match out.last().filter(|last| before.as_ref() != Some(last)) {
            Some(last) => buffer.signal_by(last.buffer()?),
            None if buffer.is_special() => drop(out.push(buffer)?),
            // Its bytes are held back, or it has none although it should.
            None => {
                let signal = OwnBuffers::signal(out)?;
                buffer.signal_by(signal);
                out.push(signal)?;
            }
        }
        Some(())
    }

    /// The prefix, before the first byte.
    fn begin(&mut self, out: &mut Chain) {
        if self.role == Role::Whole && self.stage == Stage::Before {
            self.stage = Stage::Inside;
            // SAFETY: it stays in the request's pool, and is passed on once.
            unsafe { out.push_text(&mut self.prefix) };
        }
    }

    /// The suffix, after the last byte.
    fn end(&mut self, out: &mut Chain) {
        self.begin(out);
        if self.stage == Stage::Inside {
            self.stage = Stage::After;
            // SAFETY: it stays in the request's pool, and is passed on once.
            unsafe { out.push_text(&mut self.suffix) };
        }
    }

    /// The bytes that were held back because they might begin a sequence.
    fn held_back(&mut self, out: &mut Chain) -> Option<()> {
        match self.separators.as_mut().map_or(&[][..], Separators::finish) {
            [] => Some(()),
            text => self.text(text, out),
        }
    }

    fn text(&mut self, text: &[u8], out: &mut Chain) -> Option<()> {
        self.passed = self.passed.saturating_add(text.len() as u64);
        self.own.push_text(out, text)
    }

    /// A buffer's `len` bytes.
    fn content(&mut self, buffer: Buffer<'_>, len: u64, out: &mut Chain) -> Option<()> {
        match (&self.separators, buffer.bytes()) {
            (Some(separators), Some(bytes)) if !separators.leave(bytes) => {
                return self.escape(buffer, bytes, out);
            }
            // With separators to be escaped, the copy filter reads files into memory. What is in a file all
            // the same was put there by a filter in between, and goes on as it is.
            (Some(_), None) => self.held_back(out)?,
            _ => {}
        }
        out.push(buffer)?;
        self.passed = self.passed.saturating_add(len);
        Some(())
    }

    /// The bytes of a buffer that are not to be left as they are.
    ///
    /// The buffer itself goes on last, and never without bytes: it is not filled again before they are sent, so that
    /// nothing is read faster than the client reads.
    fn escape(&mut self, mut buffer: Buffer<'_>, bytes: &[u8], out: &mut Chain) -> Option<()> {
        let mut separators = self.separators?;
        let mut parts = separators.scan(bytes);
        let Some(mut part) = parts.next() else {
            // All of it is held back.
            buffer.narrow(bytes.len()..bytes.len());
            self.separators = Some(separators);
            return Some(());
        };
        for next in parts.by_ref() {
            match mem::replace(&mut part, next) {
                Part::Piece(range) if range.len() > COPIED => {
                    self.passed = self.passed.saturating_add(range.len() as u64);
                    out.push(self.own.part(out, buffer, range)?)?;
                }
                Part::Piece(range) => self.text(bytes.get(range)?, out)?,
                Part::Text(text) => self.text(text, out)?,
            }
        }
        self.separators = Some(separators);
        let len = match part {
            Part::Piece(range) => {
                let len = range.len();
                buffer.narrow(range);
                len
            }
            Part::Text(text) => {
                let place = self.texts.get_mut(separators::place_of(text))?;
                // SAFETY: it is in the request's pool.
                unsafe { buffer.stand_for(place) };
                text.len()
            }
        };
        self.passed = self.passed.saturating_add(len as u64);
        out.push(buffer)?;
        Some(())
    }
}
