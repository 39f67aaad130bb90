//! Files of the state after the warm-up: nothing, without a learner as ever, or with one.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::series::SettledSeries;
use super::stack::StackedStep;

/// The first two are written as an option is.
#[derive(Serialize)]
enum Written<'a> {
    Young,
    Settled(&'a SettledSeries),
    WithLearner(&'a SettledSeries, &'a StackedStep),
}

#[derive(Deserialize)]
enum Read {
    Young,
    Settled(Box<SettledSeries>),
    WithLearner(Box<SettledSeries>, Box<StackedStep>),
}

pub(super) fn serialize<S: Serializer>(settled: &Option<SettledSeries>, serializer: S) -> Result<S::Ok, S::Error> {
    let written = settled.as_ref().map_or(Written::Young, |settled| match &settled.stack {
        None => Written::Settled(settled),
        Some(stack) => Written::WithLearner(settled, stack),
    });
    written.serialize(serializer)
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<SettledSeries>, D::Error> {
    Ok(match Read::deserialize(deserializer)? {
        Read::Young => None,
        Read::Settled(settled) => Some(*settled),
        Read::WithLearner(mut settled, stack) => {
            settled.stack = Some(stack);
            Some(*settled)
        }
    })
}
