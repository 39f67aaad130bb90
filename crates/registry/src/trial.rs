//! Small learners of every kind, for tests and benches.

use mercer_kernels::AnyKernel;
use mercer_learners::catalogue::{BuildError, Context, Entry, Key, Kind, Value, Values};

use crate::any::{AnyRegressor, Built, build, entries};

/// The learner with its [trial settings](Entry::trial), defaults for the other keys.
///
/// # Errors
/// When the learner cannot use the kernel.
pub fn trial(entry: &Entry, kernel: AnyKernel, dimension: usize) -> Result<AnyRegressor<AnyKernel>, BuildError> {
    built(entry, kernel, &Context { dimension, ..Context::default() })
}

pub(crate) fn built(
    entry: &Entry,
    kernel: AnyKernel,
    context: &Context<'_>,
) -> Result<AnyRegressor<AnyKernel>, BuildError> {
    let value = |(name, text): (&'static str, &str)| {
        let key = entry.key(name).ok_or(BuildError::NoSuchKey(name))?;
        literal(key, text).map(|value| (key.name, value))
    };
    let pairs = entry.trial.iter().filter_map(|pair| pair.split_once('='));
    let given: Vec<(&'static str, Value)> = pairs.map(value).collect::<Result<_, _>>()?;
    build_with(entry, kernel, context, &given).map(|built| built.learner)
}

/// The learner with these values of some keys and defaults for the others. A mixture's members
/// are [trials](trial()).
///
/// # Errors
/// When it has no such key, a value is out of its range, or the learner cannot use the kernel
/// or learn such targets.
pub fn build_with(
    entry: &Entry,
    kernel: AnyKernel,
    context: &Context<'_>,
    given: &[(&'static str, Value)],
) -> Result<Built, BuildError> {
    if let Some((name, _)) = given.iter().find(|(name, _)| entry.key(name).is_none()) {
        return Err(BuildError::NoSuchKey(name));
    }
    let mut parameters: Vec<(&'static str, Value)> = Vec::new();
    for key in entry.keys {
        let given = given.iter().find(|(name, _)| *name == key.name);
        let value = match (given, key.default_for(context), key.auto.map(|rule| rule.look)) {
            (Some((_, value)), ..) => value.clone(),
            (None, Value::Words(word), Some(look)) if word == "auto" => {
                match (look.find(&kernel, context, &Values::new(&parameters)), key.without_data()) {
                    (Err(BuildError::NeedsData(_)), Some(value)) => value,
                    (found, _) => found?,
                }
            }
            (None, value, _) => value,
        };
        parameters.push((key.name, value));
    }
    let mut members = Vec::new();
    let lists = entry.keys.iter().zip(&parameters);
    for (key, (_, value)) in lists.filter(|(key, _)| matches!(key.kind, Kind::Members | Kind::Learner)) {
        // Members of a mixture predict numbers; a learner inside another learns what that is to
        // learn.
        let plain = Context { dimension: context.dimension, ..Context::default() };
        let context = if key.kind == Kind::Learner { context } else { &plain };
        for name in value.to_string().split(';').map(str::trim) {
            let member = entries().iter().find(|entry| entry.name == name);
            let member = member.ok_or(BuildError::OtherKind(key.name))?;
            members.push((name.to_owned(), built(member, kernel.clone(), context)?));
        }
    }
    let learner = build(entry, kernel, context, &Values::new(&parameters), &members)?;
    Ok(Built { learner, parameters })
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
        Kind::Kernels => {
            let kernels = text.split(';').map(str::parse).collect::<Result<_, _>>();
            kernels.map(Value::Kernels).map_err(|_| refused())
        }
        _ => Ok(text.into()),
    }
}
