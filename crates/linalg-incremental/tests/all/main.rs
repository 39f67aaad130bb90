//! Factors and inverses against dense algebra, in one binary. The order of loops is a choice for
//! the whole process, so `orders` has its own.

mod against_dense;
mod removal;
mod square_root;
