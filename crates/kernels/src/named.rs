//! Texts of kernels: a name and parameters, as in `polynomial:2,1`.

use std::str::FromStr;

use crate::kernel::KernelError;

/// A kernel as it was written.
pub(crate) struct Text<'a> {
    /// All of it.
    pub(crate) spec: &'a str,
    /// The text behind the name.
    pub(crate) parameters: &'a str,
    /// A well-formed kernel of this kind.
    pub(crate) example: &'static str,
}

impl Text<'_> {
    /// The number that is written so.
    pub(crate) fn number<T: FromStr>(&self, value: &str) -> Result<T, KernelError> {
        let refused =
            || KernelError::NotANumber { spec: self.spec.to_owned(), value: value.to_owned(), example: self.example };
        value.trim().parse().map_err(|_| refused())
    }
}

/// A kernel with a name.
pub(crate) trait NamedKernel: Sized {
    /// The kernel of these parameters.
    fn read(text: &Text<'_>) -> Result<Self, KernelError>;

    /// Its parameters, as [`read`](Self::read) takes them; empty if there is none.
    fn parameters(&self) -> String;
}
