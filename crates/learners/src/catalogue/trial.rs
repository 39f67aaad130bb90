//! Small learners of every kind, for tests and benches.

use mercer_kernels::AnyKernel;

use super::{BuildError, Context, Entry, Key, Kind, Value, Values, entries};
use crate::any::AnyRegressor;

/// The learner with its [trial settings](Entry::trial), defaults for the other keys.
///
/// # Errors
/// When the learner cannot use the kernel.
pub fn trial(entry: &Entry, kernel: AnyKernel, dimension: usize) -> Result<AnyRegressor<AnyKernel>, BuildError> {
    built(entry, kernel, &Context { dimension, ..Context::default() })
}

pub(super) fn built(
    entry: &Entry,
    kernel: AnyKernel,
    context: &Context<'_>,
) -> Result<AnyRegressor<AnyKernel>, BuildError> {
    let pairs = || entry.trial.iter().filter_map(|pair| pair.split_once('='));
    let known = |key: &str| entry.key(key).map(|key| key.name);
    if let Some((key, _)) = pairs().find(|(key, _)| known(key).is_none()) {
        return Err(BuildError::NoSuchKey(key));
    }
    let value = |key: &'static Key| {
        let given = pairs().find(|(name, _)| *name == key.name);
        let value = given.map_or_else(|| Ok(key.default_for(context)), |(_, text)| literal(key, text))?;
        Ok::<_, BuildError>((key.name, value))
    };
    let values: Vec<(&'static str, Value)> = entry.keys.iter().map(value).collect::<Result<_, _>>()?;
    let mut members = Vec::new();
    let lists = entry.keys.iter().zip(&values).filter(|(key, _)| key.kind == Kind::Members);
    for (_, (_, value)) in lists {
        for name in value.to_string().split(';').map(str::trim) {
            let member = entries().iter().find(|entry| entry.name == name);
            let member = member.ok_or(BuildError::OtherKind("members"))?;
            members.push((name.to_owned(), trial(member, kernel.clone(), context.dimension)?));
        }
    }
    entry.build(kernel, context, &Values::new(&values, &members))
}

/// A value written without arithmetic.
fn literal(key: &'static Key, text: &str) -> Result<Value, BuildError> {
    let refused = || BuildError::OtherKind(key.name);
    match key.kind {
        _ if text == "none" => Ok(Value::None),
        Kind::Number => text.parse().map(Value::Number).map_err(|_| refused()),
        Kind::Count => text.parse().map(Value::Whole).map_err(|_| refused()),
        Kind::Numbers => {
            let numbers = text.split(',').map(str::parse).collect::<Result<_, _>>();
            numbers.map(Value::Numbers).map_err(|_| refused())
        }
        Kind::Name(_) | Kind::Loss | Kind::Members => Ok(text.into()),
    }
}
