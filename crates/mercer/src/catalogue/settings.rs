//! From `KEY=VALUE` pairs to the parameters of one learner, and to the learner.

use std::fmt;

use mercer_kernels::AnyKernel;
use mercer_learners::AnyRegressor;

use super::error::CatalogueError;
use super::expression::Expression;
use super::{BuildError, Entry, Key, nearest};

/// What the settings of one learner say, before the data are known.
#[derive(Clone, Debug)]
pub struct Settings {
    entry: &'static Entry,
    /// One for each key of the entry, in its order.
    chosen: Vec<Choice>,
}

#[derive(Clone, Debug)]
enum Choice {
    None,
    Formula(Expression),
}

/// What is known of the data when a learner is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Context {
    /// `T`, the number of rounds, if it is known.
    pub rounds: Option<usize>,
    /// `d`, the number of features.
    pub dimension: usize,
    /// Seed of the learners that draw.
    pub seed: u64,
}

/// A learner made of settings, and what they came to.
#[derive(Clone, Debug)]
pub struct Built {
    /// The learner.
    pub learner: AnyRegressor<AnyKernel>,
    /// Every key with its value, in the entry's order.
    pub parameters: Vec<(&'static str, Value)>,
}

/// The value of a key.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// Doing without.
    None,
    /// A count.
    Whole(usize),
    /// A number.
    Number(f64),
}

impl fmt::Display for Value {
    /// As it could be written in a setting; a number reads back as the same `f64`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::Whole(count) => count.fmt(f),
            Self::Number(number) if *number == 0.0 || (1e-5..1e16).contains(&number.abs()) => number.fmt(f),
            Self::Number(number) => write!(f, "{number:e}"),
        }
    }
}

impl Settings {
    pub(super) fn new<'p>(
        entry: &'static Entry,
        pairs: impl IntoIterator<Item = &'p str>,
    ) -> Result<Self, CatalogueError> {
        let learner = entry.name;
        let keys: Vec<&str> = entry.keys.iter().map(|key| key.name).collect();
        let mut given: Vec<Option<Choice>> = vec![None; entry.keys.len()];
        for pair in pairs {
            let Some((name, value)) = pair.split_once('=') else {
                return Err(CatalogueError::NotAPair { learner, pair: pair.to_owned(), keys });
            };
            let (name, value) = (name.trim(), value.trim());
            let Some(position) = keys.iter().position(|key| *key == name) else {
                let (key, nearest) = (name.to_owned(), nearest(name, &keys));
                return Err(CatalogueError::UnknownKey { learner, key, nearest, keys });
            };
            let key = &entry.keys[position];
            if given[position].replace(choice(entry, key, value)?).is_some() {
                return Err(CatalogueError::SetTwice { learner, key: key.name });
            }
        }
        let chosen = given.into_iter().zip(entry.keys).map(|(given, key)| match given {
            Some(choice) => Ok(choice),
            None => choice(entry, key, key.default),
        });
        Ok(Self { entry, chosen: chosen.collect::<Result<_, _>>()? })
    }

    /// The learner that they are for.
    #[must_use]
    pub fn entry(&self) -> &'static Entry {
        self.entry
    }

    /// The first key whose value depends on `T`.
    #[must_use]
    pub fn needs_rounds(&self) -> Option<&'static str> {
        let mut keys = self.entry.keys.iter().zip(&self.chosen);
        keys.find(|(_, choice)| matches!(choice, Choice::Formula(formula) if formula.uses_rounds()))
            .map(|(key, _)| key.name)
    }

    /// The learner, untrained.
    ///
    /// # Errors
    /// When a value is out of its range for this data, `T` is needed and not known, or the learner cannot use the kernel.
    pub fn build(&self, kernel: AnyKernel, context: &Context) -> Result<Built, CatalogueError> {
        let keys = self.entry.keys.iter().zip(&self.chosen);
        let parameters: Vec<(&'static str, Value)> = keys
            .map(|(key, choice)| Ok((key.name, self.value(key, choice, context)?)))
            .collect::<Result<_, CatalogueError>>()?;
        let (learner, spec) = (self.entry.name, kernel.to_string());
        match (self.entry.build)(kernel, context, &Values(&parameters)) {
            Ok(learner) => Ok(Built { learner, parameters }),
            Err(BuildError::Learner(source)) => Err(CatalogueError::Learner { learner, source }),
            Err(BuildError::Kernel(needs)) => Err(CatalogueError::Kernel { learner, kernel: spec, needs }),
            Err(BuildError::TooLarge(what)) => {
                Err(CatalogueError::TooLarge { learner, what, dimension: context.dimension })
            }
        }
    }

    fn value(&self, key: &Key, choice: &Choice, context: &Context) -> Result<Value, CatalogueError> {
        let (learner, name, range) = (self.entry.name, key.name, key.range);
        let Choice::Formula(formula) = choice else { return Ok(Value::None) };
        let Context { rounds, dimension, .. } = *context;
        if formula.uses_rounds() && rounds.is_none() {
            return Err(CatalogueError::NeedsRounds { learner, key: name, value: formula.to_string() });
        }
        let value = formula.value(rounds, dimension);
        if !value.is_finite() {
            let expression = formula.to_string();
            return Err(CatalogueError::NotFinite { learner, key: name, expression, value, rounds, dimension, range });
        }
        if !key.whole {
            return Ok(Value::Number(value));
        }
        let count = if formula.uses_names() { value.floor() } else { value };
        // 2⁵³: above it not every whole number is an f64.
        if count.fract() == 0.0 && (0.0..=9_007_199_254_740_992.0).contains(&count) {
            Ok(Value::Whole(count as usize))
        } else {
            Err(CatalogueError::NotWhole { learner, key: name, value, range })
        }
    }
}

/// What was written for a key.
fn choice(entry: &'static Entry, key: &'static Key, value: &str) -> Result<Choice, CatalogueError> {
    let (learner, name) = (entry.name, key.name);
    let refused = |word| {
        let example = if key.default == "none" { "100" } else { key.default };
        CatalogueError::NoSuchWord { learner, key: name, word, range: key.range, example }
    };
    let formula = match (value, key.auto) {
        ("none", _) if key.none.is_some() => return Ok(Choice::None),
        ("none", _) => return Err(refused("none")),
        ("auto", Some(rule)) => rule.formula,
        ("auto", None) => return Err(refused("auto")),
        _ => value,
    };
    let syntax = |source| CatalogueError::Syntax { learner, key: name, value: value.to_owned(), source };
    Expression::parse(formula).map(Choice::Formula).map_err(syntax)
}

/// The values of all keys of an entry, for its builder.
pub(super) struct Values<'a>(&'a [(&'static str, Value)]);

impl Values<'_> {
    fn get(&self, key: &str) -> Value {
        let found = self.0.iter().find(|(name, _)| *name == key);
        debug_assert!(found.is_some(), "the entry has the key {key}");
        found.map_or(Value::None, |(_, value)| *value)
    }

    /// A number; NaN, which every learner refuses, for `none`, which only keys that allow it can be.
    pub(super) fn number(&self, key: &str) -> f64 {
        self.optional_number(key).unwrap_or(f64::NAN)
    }

    pub(super) fn optional_number(&self, key: &str) -> Option<f64> {
        match self.get(key) {
            Value::Number(number) => Some(number),
            Value::Whole(_) | Value::None => None,
        }
    }

    /// A count; 0, which such keys do not allow, for `none`.
    pub(super) fn count(&self, key: &str) -> usize {
        self.optional_count(key).unwrap_or(0)
    }

    pub(super) fn optional_count(&self, key: &str) -> Option<usize> {
        match self.get(key) {
            Value::Whole(count) => Some(count),
            Value::Number(_) | Value::None => None,
        }
    }
}
