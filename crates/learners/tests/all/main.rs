//! Everything about learners that needs no binary of its own, in one: each further binary links the
//! learners anew. The contract of all learners (`conformance`) stands apart, so that it is soon
//! run.

use mercer_testkit::alloc::CountingAllocator;

mod against_oracles;
mod belief;
mod blocks;
mod budgets;
mod change;
mod coefficients;
mod common;
mod corners;
mod dictionaries;
mod eviction;
mod filters;
mod forgetting;
mod growth;
mod importance;
mod linear;
mod losses;
mod mixtures;
mod mixtures_of_vectors;
mod moments;
mod novelty;
mod predictions;
mod properties;
mod recursive;
mod refusals;
mod removal;
mod several_kernels;
mod shards;
mod tokens;
mod weights_and_outputs;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;
