//! Parameters by their keys: what [`parameters!`](crate::parameters) makes of a declaration.

use mercer_core::ParameterError;
use mercer_experts::{Rule, Share};
use mercer_kernels::AnyKernel;

use super::{BuildError, Context, Key, Kind, Value, Values};
use crate::engines::basis::Eviction;
use crate::loss::Loss;

/// The parameters of a learner.
pub trait Parameters: Sized + Default + 'static {
    /// All of them, in the order in which they are declared.
    const FIELDS: &'static [Field<Self>];
    /// The keys that users set.
    const KEYS: &'static [Key];

    /// The parameters that these values and this data give.
    ///
    /// # Errors
    /// When a key has no value, or one of another kind.
    fn read(values: &Values<'_>, context: &Context<'_>) -> Result<Self, BuildError> {
        let mut params = Self::default();
        Self::FIELDS.iter().try_for_each(|field| (field.read)(&mut params, values, context))?;
        Ok(params)
    }

    /// Refuses parameters out of their range.
    ///
    /// # Errors
    /// The first that is not.
    fn check(&self) -> Result<(), ParameterError> {
        Self::FIELDS.iter().try_for_each(|field| (field.check)(self))
    }
}

/// One of the parameters `P`.
#[derive(Debug)]
pub struct Field<P> {
    /// The key by which users set it, if they do.
    pub key: Option<Key>,
    /// Reads its value.
    pub read: fn(&mut P, &Values<'_>, &Context<'_>) -> Result<(), BuildError>,
    /// Refuses it out of its range.
    pub check: fn(&P) -> Result<(), ParameterError>,
}

/// Number of fields that have a key.
#[must_use]
pub const fn count<P>(fields: &[Field<P>]) -> usize {
    let (mut count, mut place) = (0, 0);
    while place < fields.len() {
        count += fields[place].key.is_some() as usize;
        place += 1;
    }
    count
}

/// The `N` keys of the fields.
#[must_use]
pub const fn keys_of<P: Parameters, const N: usize>() -> [Key; N] {
    let mut keys = [Key::PLAIN; N];
    let (mut filled, mut place) = (0, 0);
    while filled < N {
        if let Some(key) = P::FIELDS[place].key {
            keys[filled] = key;
            filled += 1;
        }
        place += 1;
    }
    keys
}

/// The values that a parameter may have.
#[derive(Clone, Copy, Debug)]
pub struct Range {
    /// In words.
    pub words: &'static str,
    /// The same where there need be none.
    pub words_with_none: &'static str,
    /// True for a number among them.
    pub holds: fn(f64) -> bool,
}

/// A type that a parameter may have.
pub trait ParameterType: Sized {
    /// The kind of value that users write.
    const KIND: Kind;

    /// As a user would write it.
    fn to_value(&self) -> Value;

    /// The value a user wrote, if it is of this type.
    fn from_value(value: &Value, context: &Context<'_>) -> Option<Self>;

    /// Refuses a value out of range.
    ///
    /// # Errors
    /// The error that names the parameter and says what it has to be.
    fn check(&self, _name: &'static str, _range: &Range) -> Result<(), ParameterError> {
        Ok(())
    }
}

impl ParameterType for f64 {
    const KIND: Kind = Kind::Number;

    fn to_value(&self) -> Value {
        Value::Number(*self)
    }

    fn from_value(value: &Value, _: &Context<'_>) -> Option<Self> {
        if let Value::Number(number) = value { Some(*number) } else { None }
    }

    fn check(&self, name: &'static str, range: &Range) -> Result<(), ParameterError> {
        ParameterError::require((range.holds)(*self), name, range.words, *self).map(drop)
    }
}

impl ParameterType for usize {
    const KIND: Kind = Kind::Count;

    fn to_value(&self) -> Value {
        Value::Whole(*self)
    }

    fn from_value(value: &Value, _: &Context<'_>) -> Option<Self> {
        if let Value::Whole(count) = value { Some(*count) } else { None }
    }

    fn check(&self, name: &'static str, range: &Range) -> Result<(), ParameterError> {
        (*self as f64).check(name, range)
    }
}

/// One number a feature; a single one stands for all.
impl ParameterType for Vec<f64> {
    const KIND: Kind = Kind::Numbers;

    fn to_value(&self) -> Value {
        Value::Numbers(self.clone())
    }

    fn from_value(value: &Value, context: &Context<'_>) -> Option<Self> {
        match value {
            Value::Number(number) => Some(vec![*number; context.dimension]),
            Value::Numbers(numbers) => Some(numbers.clone()),
            _ => None,
        }
    }
}

impl ParameterType for Vec<AnyKernel> {
    const KIND: Kind = Kind::Kernels;

    fn to_value(&self) -> Value {
        Value::Kernels(self.clone())
    }

    fn from_value(value: &Value, _: &Context<'_>) -> Option<Self> {
        if let Value::Kernels(kernels) = value { Some(kernels.clone()) } else { None }
    }
}

impl<T: ParameterType> ParameterType for Option<T> {
    const KIND: Kind = T::KIND;

    fn to_value(&self) -> Value {
        self.as_ref().map_or(Value::None, T::to_value)
    }

    fn from_value(value: &Value, context: &Context<'_>) -> Option<Self> {
        if *value == Value::None { Some(None) } else { T::from_value(value, context).map(Some) }
    }

    fn check(&self, name: &'static str, range: &Range) -> Result<(), ParameterError> {
        let range = Range { words: range.words_with_none, ..*range };
        self.as_ref().map_or(Ok(()), |value| value.check(name, &range))
    }
}

impl ParameterType for Loss {
    const KIND: Kind = Kind::Loss;

    fn to_value(&self) -> Value {
        Value::Words(self.to_string())
    }

    fn from_value(value: &Value, _: &Context<'_>) -> Option<Self> {
        if let Value::Words(words) = value { words.parse().ok() } else { None }
    }
}

/// A rule that draws takes its seed from the context; that of the parameter itself is not shown.
impl ParameterType for Eviction {
    const KIND: Kind = Kind::Name(&Self::NAMES);

    fn to_value(&self) -> Value {
        self.name().into()
    }

    fn from_value(value: &Value, context: &Context<'_>) -> Option<Self> {
        if let Value::Words(words) = value { Self::named(words, context.seed) } else { None }
    }
}

/// One of a few, each with a name.
pub trait Choice: Copy + PartialEq + 'static {
    /// All of them, with their names.
    const NAMED: &'static [(&'static str, Self)];
    /// The names alone.
    const NAMES: &'static [&'static str];
}

/// Names the variants of an enum: `choices!(Leak { "after" = After, "first" = First });`
macro_rules! choices {
    ($type:ident { $($name:literal = $variant:ident),+ $(,)? }) => {
        impl $crate::entry::Choice for $type {
            const NAMED: &'static [(&'static str, Self)] = &[$(($name, $type::$variant)),+];
            const NAMES: &'static [&'static str] = &[$($name),+];
        }
    };
}

pub(crate) use choices;

impl<T: Choice> ParameterType for T {
    const KIND: Kind = Kind::Name(T::NAMES);

    fn to_value(&self) -> Value {
        T::NAMED.iter().find(|(_, choice)| choice == self).map(|(name, _)| *name).into()
    }

    fn from_value(value: &Value, _: &Context<'_>) -> Option<Self> {
        let Value::Words(words) = value else { return None };
        T::NAMED.iter().find(|(name, _)| name == words).map(|(_, choice)| *choice)
    }
}

impl ParameterType for Share {
    const KIND: Kind = Kind::Number;

    fn to_value(&self) -> Value {
        match self {
            Self::Fixed(share) => Value::Number(*share),
            _ => Value::Words(self.to_string()),
        }
    }

    fn from_value(value: &Value, _: &Context<'_>) -> Option<Self> {
        match value {
            Value::Number(share) => Some(Self::Fixed(*share)),
            Value::Words(words) => words.parse().ok(),
            _ => None,
        }
    }
}

choices!(Rule { "ewa" = Ewa, "boa" = Boa, "ml-poly" = MlPoly });
