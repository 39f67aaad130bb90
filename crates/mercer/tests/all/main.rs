//! The library from outside, in one binary: the catalogue, model files of every learner, and the
//! tables of the documents. `MERCER_BLESS=1 cargo test -p mercer --test all` writes what is
//! committed of them anew.

mod bare;
mod catalogue;
mod class_sums;
mod damage;
mod exercise;
mod golden;
mod nesting;
mod subjects;
mod tables;
