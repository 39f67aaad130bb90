//! Model files: every learner comes back as it was, and nothing that is not a model file does harm.

mod bare;
mod class_sums;
mod damage;
mod exercise;
mod golden;
mod nesting;
mod subjects;
