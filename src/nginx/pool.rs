//! Memory from nginx's pools, with nginx's answer to none being left: `None`.

use core::ptr::{self, NonNull};
use core::slice;

use ngx::core::Pool;
use ngx::ffi::{ngx_palloc, ngx_pnalloc, ngx_pool_cleanup_add};

/// What [`Pool`] of the `ngx` crate lacks, or does without looking whether memory was given.
// Each call gives memory that was not given before, so there is one reference to it.
#[allow(clippy::mut_from_ref)]
pub(crate) trait PoolExt {
    /// Moves `value` into the pool, which drops it when it is destroyed itself.
    ///
    /// For configurations: values that own memory of Rust's heap are released at reload.
    fn place<T>(&self, value: T) -> Option<NonNull<T>>;

    /// Moves `value` into the pool, which never drops it.
    ///
    /// For requests: `T` owns nothing but memory of the same pool.
    fn place_pod<T: Copy>(&self, value: T) -> Option<NonNull<T>>;

    /// The first `len` of `items`, one behind the other.
    fn collect<T: Copy>(&self, items: impl Iterator<Item = T>, len: usize) -> Option<NonNull<[T]>>;

    /// Room for `len` bytes, not initialized and not aligned.
    fn bytes(&self, len: usize) -> Option<NonNull<u8>>;

    /// `len` zeros, which live as long as the pool.
    fn zeroed(&self, len: usize) -> Option<&mut [u8]>;

    /// The pieces one after another, in memory that lives as long as the pool.
    fn concat(&self, pieces: &[&[u8]]) -> Option<&mut [u8]>;

    /// As [`PoolExt::place_pod`] and [`PoolExt::concat`], in one piece of memory: the value that `make` makes
    /// of where its text is.
    fn place_with<T: Copy>(
        &self,
        text: &[&[u8]],
        make: impl FnOnce(&mut [u8]) -> T,
    ) -> Option<NonNull<T>>;
}

impl PoolExt for Pool {
    fn place<T>(&self, value: T) -> Option<NonNull<T>> {
        // The cleanup is registered first: if there is no memory for it, `value` is simply dropped.
        // SAFETY: `self` is a live pool.
        let cleanup = unsafe { ngx_pool_cleanup_add(self.as_ptr(), size_of::<T>()).as_mut() }?;
        // A pool's memory is aligned for pointers (NGX_ALIGNMENT), and no larger alignment is used.
        const { assert!(align_of::<T>() <= align_of::<usize>()) };
        let place = NonNull::new(cleanup.data.cast::<T>())?;
        // SAFETY: nginx allocated `size_of::<T>()` bytes for the cleanup's data.
        unsafe { place.write(value) };
        cleanup.handler = Some(drop_in_place::<T>);
        Some(place)
    }

    fn place_pod<T: Copy>(&self, value: T) -> Option<NonNull<T>> {
        const { assert!(align_of::<T>() <= align_of::<usize>()) };
        // SAFETY: `self` is a live pool.
        let place = NonNull::new(unsafe { ngx_palloc(self.as_ptr(), size_of::<T>()) }.cast::<T>())?;
        // SAFETY: nginx allocated `size_of::<T>()` bytes.
        unsafe { place.write(value) };
        Some(place)
    }

    fn collect<T: Copy>(&self, items: impl Iterator<Item = T>, len: usize) -> Option<NonNull<[T]>> {
        const { assert!(align_of::<T>() <= align_of::<usize>()) };
        let size = size_of::<T>().checked_mul(len)?;
        // SAFETY: `self` is a live pool.
        let room = NonNull::new(unsafe { ngx_palloc(self.as_ptr(), size) }.cast::<T>())?;
        let mut filled: usize = 0;
        for item in items.take(len) {
            // SAFETY: there is room for `len` items.
            unsafe { room.add(filled).write(item) };
            filled = filled.wrapping_add(1);
        }
        Some(NonNull::slice_from_raw_parts(room, filled))
    }

    fn bytes(&self, len: usize) -> Option<NonNull<u8>> {
        // SAFETY: `self` is a live pool.
        NonNull::new(unsafe { ngx_pnalloc(self.as_ptr(), len) }.cast::<u8>())
    }

    fn zeroed(&self, len: usize) -> Option<&mut [u8]> {
        let room = self.bytes(len)?.as_ptr();
        // SAFETY: `len` bytes were allocated, and are initialized here.
        unsafe {
            room.write_bytes(0, len);
            Some(slice::from_raw_parts_mut(room, len))
        }
    }

    fn concat(&self, pieces: &[&[u8]]) -> Option<&mut [u8]> {
        let room = self.bytes(total_len(pieces))?;
        // SAFETY: that much was allocated.
        Some(unsafe { write(pieces, room) })
    }

    fn place_with<T: Copy>(
        &self,
        text: &[&[u8]],
        make: impl FnOnce(&mut [u8]) -> T,
    ) -> Option<NonNull<T>> {
        const { assert!(align_of::<T>() <= align_of::<usize>()) };
        let len = size_of::<T>().checked_add(total_len(text))?;
        // SAFETY: `self` is a live pool.
        let place = NonNull::new(unsafe { ngx_palloc(self.as_ptr(), len) }.cast::<T>())?;
        // SAFETY: nginx allocated room for both.
        unsafe { place.write(make(write(text, place.add(1).cast()))) };
        Some(place)
    }
}

fn total_len(pieces: &[&[u8]]) -> usize {
    pieces.iter().map(|piece| piece.len()).sum()
}

/// Writes the pieces one after another.
///
/// # Safety
///
/// There is room for all of them, in memory that was just allocated.
unsafe fn write<'a>(pieces: &[&[u8]], room: NonNull<u8>) -> &'a mut [u8] {
    let mut end = room.as_ptr();
    for piece in pieces.iter().filter(|piece| !piece.is_empty()) {
        // SAFETY: as the caller says.
        unsafe {
            ptr::copy_nonoverlapping(piece.as_ptr(), end, piece.len());
            end = end.add(piece.len());
        }
    }
    // SAFETY: all of it was written.
    unsafe { slice::from_raw_parts_mut(room.as_ptr(), total_len(pieces)) }
}

unsafe extern "C" fn drop_in_place<T>(data: *mut core::ffi::c_void) {
    // SAFETY: the pool calls this once, with the value that `place` wrote.
    unsafe { data.cast::<T>().drop_in_place() };
}
