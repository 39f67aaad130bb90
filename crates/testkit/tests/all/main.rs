//! The testkit's own tools against what they count and compare, in one binary.

use mercer_testkit::alloc::CountingAllocator;

mod alloc;
mod kernel_rows;
mod operators;
mod stress;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;
