//! A global allocator that counts, so that "this step allocates nothing" is a test and not a hope.
//!
//! The count is per thread: tests that run side by side do not disturb each other. A test binary
//! installs the allocator once, then asks:
//!
//! ```
//! use mercer_testkit::alloc::{CountingAllocator, allocations_during};
//!
//! #[global_allocator]
//! static ALLOCATOR: CountingAllocator = CountingAllocator;
//!
//! let mut values = Vec::with_capacity(2);
//! assert_eq!(allocations_during(|| values.push(1.0)), 0);
//! assert_eq!(allocations_during(|| values.extend([2.0, 3.0])), 1); // outgrows its capacity
//! ```

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::hint::black_box;

thread_local! {
    // Constant initialiser and no destructor: reading it never allocates, which an allocator may
    // not do.
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

/// The system's allocator, with every allocation and reallocation of a thread counted.
///
/// Giving memory back is not counted: what a steady state must avoid shows as allocations first.
#[derive(Clone, Copy, Debug, Default)]
pub struct CountingAllocator;

fn count_one() {
    // A thread that is shutting down may still allocate; such allocations belong to no test.
    let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
}

#[allow(
    unsafe_code,
    reason = "GlobalAlloc is an unsafe trait; every call is passed on to the system's allocator unchanged"
)]
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count_one();
        // SAFETY: the caller's promises are exactly those that System asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count_one();
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        count_one();
        // SAFETY: as above; the pointer came from System, for every path here does.
        unsafe { System.realloc(pointer, layout, new_size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above; the pointer came from System, for every path here does.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// Number of allocations and reallocations that this thread makes while `work` runs.
///
/// # Panics
/// If [`CountingAllocator`] is not the global allocator of the running binary: the answer would
/// always be zero, and a test built on it could not fail.
pub fn allocations_during(work: impl FnOnce()) -> usize {
    let idle = allocations();
    drop(black_box(Box::new(0_u8)));
    assert!(
        allocations() > idle,
        "CountingAllocator is not installed: declare `#[global_allocator] static ALLOCATOR: CountingAllocator = CountingAllocator;` in the test binary"
    );
    let before = allocations();
    work();
    allocations() - before
}

fn allocations() -> usize {
    ALLOCATIONS.with(Cell::get)
}
