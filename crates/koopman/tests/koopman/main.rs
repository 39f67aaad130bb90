//! The operator learners against weights and Gram matrices written down from the paper, and against
//! themselves.

use mercer_testkit::alloc::CountingAllocator;

mod against_gram_formulas;
mod batch;
mod contracts;
mod finite_chains;
mod lag_test;
mod long_streams;
mod mode_read_outs;
mod operator_sums;
mod read_outs;
mod support;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;
