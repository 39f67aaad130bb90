//! Forecasters: against dense least squares, and their contracts.

mod against_dense;
mod contracts;
mod parts;
mod season;
mod sums;

use mercer_testkit::alloc::CountingAllocator;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

type TestResult = Result<(), Box<dyn std::error::Error>>;
