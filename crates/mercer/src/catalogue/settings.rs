//! From `KEY=VALUE` pairs to the parameters of one learner, and to the learner.

use std::fmt;

use mercer_core::Number;
use mercer_kernels::AnyKernel;
use mercer_learners::{AnyRegressor, experts};

use super::error::CatalogueError;
use super::expression::Expression;
use super::members::Member;
use super::{BuildError, Entry, Key, Kind, LookError, nearest};

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
    Numbers(Vec<Expression>),
    Rule(experts::Rule),
    Members(String, Vec<Member>),
    /// What the key's rule finds in the data.
    Looked,
}

/// What is known of the data when a learner is built.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Context<'a> {
    /// `T`, the number of rounds, if it is known.
    pub rounds: Option<usize>,
    /// `d`, the number of features.
    pub dimension: usize,
    /// Seed of the learners that draw.
    pub seed: u64,
    /// The first rows, for rules that look at them: row by row, `d` numbers each; may be empty.
    pub rows: &'a [f64],
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
}

impl fmt::Display for Value {
    /// As it could be written in a setting; a number reads back as the same `f64`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::Whole(count) => count.fmt(f),
            Self::Number(number) => Number(*number).fmt(f),
            Self::Numbers(numbers) => {
                let shown: Vec<String> = numbers.iter().map(|number| Self::Number(*number).to_string()).collect();
                f.write_str(&shown.join(","))
            }
            Self::Words(words) => f.write_str(words),
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
        let needs = |choice: &Choice| match choice {
            Choice::Formula(formula) => formula.uses_rounds(),
            Choice::Numbers(formulas) => formulas.iter().any(Expression::uses_rounds),
            Choice::Members(_, members) => members.iter().any(|member| member.needs_rounds().is_some()),
            // Of the rules that look at the data, the degree's needs T; the centre's is content with the first rows.
            Choice::Looked | Choice::None | Choice::Rule(_) => false,
        };
        keys.find(|(key, choice)| needs(choice) || (matches!(choice, Choice::Looked) && key.kind == Kind::Count))
            .map(|(key, _)| key.name)
    }

    /// Whether a value is found in the data, so that [`Context::rows`] should hold the first of them.
    #[must_use]
    pub fn needs_rows(&self) -> bool {
        self.chosen.iter().any(|choice| match choice {
            Choice::Looked => true,
            Choice::Members(_, members) => members.iter().any(Member::needs_rows),
            Choice::Formula(_) | Choice::Numbers(_) | Choice::None | Choice::Rule(_) => false,
        })
    }

    /// The learner, untrained.
    ///
    /// # Errors
    /// When a value is out of its range for this data, `T` is needed and not known, or the learner cannot use the kernel.
    pub fn build(&self, kernel: AnyKernel, context: &Context<'_>) -> Result<Built, CatalogueError> {
        let (learner, spec) = (self.entry.name, kernel.to_string());
        let mut parameters: Vec<(&'static str, Value)> = Vec::new();
        for (key, choice) in self.entry.keys.iter().zip(&self.chosen) {
            let value = match (choice, key.auto.and_then(|rule| rule.looks)) {
                (Choice::Looked, Some(look)) => {
                    let values = Values { values: &parameters, members: &[] };
                    look(&kernel, context, &values).map_err(|error| match error {
                        LookError::NeedsData(needs) => {
                            CatalogueError::NeedsData { learner, key: key.name, needs, range: key.range }
                        }
                        LookError::Build(error) => self.refused(error, &spec, context),
                    })?
                }
                _ => self.value(key, choice, context)?,
            };
            parameters.push((key.name, value));
        }
        let members = self.chosen.iter().find_map(|choice| match choice {
            Choice::Members(_, members) => Some(&members[..]),
            _ => None,
        });
        let values = Values { values: &parameters, members: members.unwrap_or_default() };
        match (self.entry.build)(kernel, context, &values) {
            Ok(learner) => Ok(Built { learner, parameters }),
            Err(error) => Err(self.refused(error, &spec, context)),
        }
    }

    fn refused(&self, error: BuildError, kernel: &str, context: &Context<'_>) -> CatalogueError {
        let learner = self.entry.name;
        match error {
            BuildError::Learner(source) => CatalogueError::Learner { learner, source },
            BuildError::Kernel(needs) => CatalogueError::Kernel { learner, kernel: kernel.to_owned(), needs },
            BuildError::TooLarge(what) => CatalogueError::TooLarge { learner, what, dimension: context.dimension },
            BuildError::Member(source) => CatalogueError::Member { learner, key: "members", source },
        }
    }

    fn value(&self, key: &Key, choice: &Choice, context: &Context<'_>) -> Result<Value, CatalogueError> {
        match choice {
            Choice::None | Choice::Looked => Ok(Value::None),
            Choice::Rule(rule) => Ok(Value::Words(rule.to_string())),
            Choice::Members(words, _) => Ok(Value::Words(words.clone())),
            Choice::Formula(formula) => self.number(key, formula, context),
            Choice::Numbers(formulas) => {
                let (learner, key_name, got, dimension) =
                    (self.entry.name, key.name, formulas.len(), context.dimension);
                let one = |formula| match self.number(key, formula, context)? {
                    Value::Number(number) => Ok(number),
                    _ => Ok(f64::NAN),
                };
                let numbers: Vec<f64> = formulas.iter().map(one).collect::<Result<_, _>>()?;
                match numbers[..] {
                    [number] => Ok(Value::Number(number)),
                    _ if got == dimension => Ok(Value::Numbers(numbers)),
                    _ => Err(CatalogueError::HowMany { learner, key: key_name, got, dimension }),
                }
            }
        }
    }

    fn number(&self, key: &Key, formula: &Expression, context: &Context<'_>) -> Result<Value, CatalogueError> {
        let (learner, name, range) = (self.entry.name, key.name, key.range);
        let Context { rounds, dimension, .. } = *context;
        if formula.uses_rounds() && rounds.is_none() {
            return Err(CatalogueError::NeedsRounds { learner, key: name, value: formula.to_string() });
        }
        let value = formula.value(rounds, dimension);
        if !value.is_finite() {
            let expression = formula.to_string();
            return Err(CatalogueError::NotFinite { learner, key: name, expression, value, rounds, dimension, range });
        }
        if key.kind != Kind::Count {
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
        ("auto", Some(rule)) if rule.looks.is_some() => return Ok(Choice::Looked),
        ("auto", Some(rule)) => rule.formula,
        ("auto", None) if matches!(key.kind, Kind::Number | Kind::Count) => return Err(refused("auto")),
        _ => value,
    };
    let syntax = |source| CatalogueError::Syntax { learner, key: name, value: value.to_owned(), source };
    match key.kind {
        Kind::Number | Kind::Count => Expression::parse(formula).map(Choice::Formula).map_err(syntax),
        // Commas separate numbers, not arguments of functions.
        Kind::Numbers if formula.contains('(') => {
            Expression::parse(formula).map(|formula| Choice::Numbers(vec![formula])).map_err(syntax)
        }
        Kind::Numbers => {
            let numbers = formula.split(',').map(Expression::parse).collect::<Result<_, _>>();
            numbers.map(Choice::Numbers).map_err(syntax)
        }
        Kind::Rule => value.parse().map(Choice::Rule).map_err(|_| {
            let (value, range) = (value.to_owned(), key.range);
            CatalogueError::NotAName { learner, key: name, value, range }
        }),
        Kind::Members => match Member::list(value) {
            Ok(members) => Ok(Choice::Members(value.to_owned(), members)),
            Err(source) => Err(CatalogueError::Member { learner, key: name, source: Box::new(source) }),
        },
    }
}

/// The values of all keys of an entry, for its builder.
pub(super) struct Values<'a> {
    values: &'a [(&'static str, Value)],
    members: &'a [Member],
}

impl Values<'_> {
    fn get(&self, key: &str) -> &Value {
        let found = self.values.iter().find(|(name, _)| *name == key);
        debug_assert!(found.is_some(), "the entry has the key {key}");
        found.map_or(&Value::None, |(_, value)| value)
    }

    /// One number a feature; `None` for `none`.
    pub(super) fn numbers(&self, key: &str, dimension: usize) -> Option<Vec<f64>> {
        match self.get(key) {
            Value::Number(number) => Some(vec![*number; dimension]),
            Value::Numbers(numbers) => Some(numbers.clone()),
            Value::Whole(_) | Value::Words(_) | Value::None => None,
        }
    }

    /// An aggregation rule.
    pub(super) fn rule(&self, key: &str) -> experts::Rule {
        match self.get(key) {
            // It was written from a rule.
            Value::Words(words) => words.parse().unwrap_or_default(),
            _ => experts::Rule::default(),
        }
    }

    /// The members of a mixture.
    pub(super) fn members(&self) -> &[Member] {
        self.members
    }

    /// A number; NaN, which every learner refuses, for `none`, which only keys that allow it can be.
    pub(super) fn number(&self, key: &str) -> f64 {
        self.optional_number(key).unwrap_or(f64::NAN)
    }

    pub(super) fn optional_number(&self, key: &str) -> Option<f64> {
        match self.get(key) {
            Value::Number(number) => Some(*number),
            _ => None,
        }
    }

    /// A count; 0, which such keys do not allow, for `none`.
    pub(super) fn count(&self, key: &str) -> usize {
        self.optional_count(key).unwrap_or(0)
    }

    pub(super) fn optional_count(&self, key: &str) -> Option<usize> {
        match self.get(key) {
            Value::Whole(count) => Some(*count),
            _ => None,
        }
    }
}
