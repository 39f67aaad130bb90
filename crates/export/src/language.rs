//! The languages in which a formula is written.

use crate::formula::Formula;
use crate::{c, js, onnx, sql};

/// A language in which a formula is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Language {
    /// ONNX, operators of opset 13, in doubles.
    Onnx,
    /// C99.
    C,
    /// An ES module of JavaScript.
    Js,
    /// A query of DuckDB.
    Sql,
}

impl Formula {
    /// The formula as a program; `table` is the name of the table that SQL reads. `O(Jd)` for `J`
    /// points of `d` inputs.
    #[must_use]
    pub fn write(&self, language: Language, table: &str) -> Vec<u8> {
        match language {
            Language::Onnx => onnx::write(self),
            Language::C => c::write(self).into_bytes(),
            Language::Js => js::write(self).into_bytes(),
            Language::Sql => sql::write(self, table).into_bytes(),
        }
    }
}
