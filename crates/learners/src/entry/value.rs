//! Values of keys, what is known of the data, and why a learner could not be made of them.

use std::fmt;

use mercer_core::Number;
use mercer_kernels::AnyKernel;

use super::{ParameterType, Parameters};
use crate::Error;

/// Facts about the data that are known when a learner is built.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Context<'a> {
    /// `d`, the number of features.
    pub dimension: usize,
    /// Seed of the learners that draw.
    pub seed: u64,
    /// The first rows, for rules that look at them: row by row, `d` numbers each; may be empty.
    pub rows: &'a [f64],
    /// Scores of a prediction: the numbers of a target, or the classes if there are more than two.
    pub outputs: usize,
    /// True if the targets are classes.
    pub classes: bool,
    /// True if rows have tokens.
    pub tokens: bool,
}

impl Default for Context<'_> {
    /// Nothing is known; targets are numbers.
    fn default() -> Self {
        Self { dimension: 0, seed: 0, rows: &[], outputs: 1, classes: false, tokens: false }
    }
}

/// The value of a key.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Doing without.
    None,
    /// A count.
    Whole(usize),
    /// A number.
    Number(f64),
    /// Several numbers, one a feature.
    Numbers(Vec<f64>),
    /// A name, or a list of members as it was written.
    Words(String),
    /// Several kernels.
    Kernels(Vec<AnyKernel>),
}

impl fmt::Display for Value {
    /// As it could be written in a setting; a number reads back as the same `f64`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::Whole(count) => count.fmt(f),
            Self::Number(number) => Number(*number).fmt(f),
            Self::Numbers(numbers) => {
                let shown: Vec<String> = numbers.iter().map(|number| Number(*number).to_string()).collect();
                f.write_str(&shown.join(","))
            }
            Self::Words(words) => f.write_str(words),
            Self::Kernels(kernels) => {
                let shown: Vec<String> = kernels.iter().map(ToString::to_string).collect();
                f.write_str(&shown.join(";"))?;
                // One kernel alone whose comma would separate two.
                if kernels.len() == 1 && shown[0].contains(',') { f.write_str(";") } else { Ok(()) }
            }
        }
    }
}

impl From<usize> for Value {
    fn from(count: usize) -> Self {
        Self::Whole(count)
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<Vec<f64>> for Value {
    fn from(numbers: Vec<f64>) -> Self {
        Self::Numbers(numbers)
    }
}

impl From<&str> for Value {
    fn from(words: &str) -> Self {
        Self::Words(words.to_owned())
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::None, T::into)
    }
}

/// The values of all keys of an entry.
#[derive(Clone, Copy, Debug)]
pub struct Values<'a> {
    values: &'a [(&'static str, Value)],
}

impl<'a> Values<'a> {
    /// These keys with their values.
    #[must_use]
    pub fn new(values: &'a [(&'static str, Value)]) -> Self {
        Self { values }
    }

    fn get(&self, key: &'static str) -> Result<&'a Value, BuildError> {
        let found = self.values.iter().find(|(name, _)| *name == key);
        found.map(|(_, value)| value).ok_or(BuildError::NoSuchKey(key))
    }

    /// The value of a key.
    ///
    /// # Errors
    /// [`BuildError::NoSuchKey`], [`BuildError::OtherKind`].
    pub fn read<T: ParameterType>(&self, key: &'static str, context: &Context<'_>) -> Result<T, BuildError> {
        T::from_value(self.get(key)?, context).ok_or(BuildError::OtherKind(key))
    }

    /// All parameters of a learner.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn parameters<P: Parameters>(&self, context: &Context<'_>) -> Result<P, BuildError> {
        P::read(self, context)
    }
}

/// Why values make no learner.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The learner refuses a parameter.
    #[error(transparent)]
    Learner(#[from] Error),
    /// The learner cannot use the kernel; what it needs.
    #[error("the learner needs {0}")]
    Kernel(&'static str),
    /// The parameters ask for more memory than a machine has.
    #[error("{0}; take fewer")]
    TooLarge(&'static str),
    /// The learner predicts one number.
    #[error("the learner has one output, and cannot learn {outputs} {what}")]
    Outputs {
        /// Outputs that the data need.
        outputs: usize,
        /// Name of these outputs in the message.
        what: &'static str,
    },
    /// A rule that looks at the data has none to look at; what it needs to know.
    #[error("{0} must be known; give a value instead of auto")]
    NeedsData(&'static str),
    /// A key was given no value.
    #[error("no value was given for the key {0:?}")]
    NoSuchKey(&'static str),
    /// A value is of another kind than its key.
    #[error("the value of {0} is of another kind; see what the catalogue says of this key")]
    OtherKind(&'static str),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::Loss;

    #[test]
    fn wrong_keys_are_errors_and_not_numbers() {
        let given = [("a", Value::Number(1.0)), ("b", Value::None), ("c", Value::Words("squared".to_owned()))];
        let values = Values::new(&given);
        let context = Context { dimension: 2, ..Context::default() };
        assert_eq!(values.read("a", &context), Ok(1.0));
        assert_eq!(values.read::<f64>("x", &context), Err(BuildError::NoSuchKey("x")));
        assert_eq!(values.read::<f64>("b", &context), Err(BuildError::OtherKind("b")));
        assert_eq!(values.read::<usize>("a", &context), Err(BuildError::OtherKind("a")));
        assert_eq!(values.read::<Option<usize>>("b", &context), Ok(None));
        assert_eq!(values.read("c", &context), Ok(Loss::SQUARED));
        assert_eq!(values.read::<mercer_experts::Rule>("c", &context), Err(BuildError::OtherKind("c")));
        assert_eq!(values.read("a", &context), Ok(Some(vec![1.0; 2])));
    }
}
