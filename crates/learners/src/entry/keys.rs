//! Declarations of a parameter beyond its name, symbol, range and meaning.

use super::parameters::{ParameterType, Range};
use super::{BuildError, Context, Default, Find, Key, Kind, Look, OfTime, Rule, SearchRange, Value};
use crate::loss::Loss;

pub(crate) const FIRST_ROWS: &str = "the first rows";

impl Key {
    pub(crate) const PLAIN: Self = Self {
        name: "",
        symbol: "",
        range: "",
        meaning: "",
        kind: Kind::Number,
        none: None,
        auto: None,
        search: None,
        range_with_none: "",
        default: || Value::None,
        for_classes: None,
        without_data: None,
        of_time: None,
    };

    /// The key of a parameter of type `T`, with its name, symbol and meaning; lines of a meaning
    /// begin with a blank.
    #[must_use]
    pub const fn for_parameter<T: ParameterType>(texts: [&'static str; 3], range: Range, default: Default) -> Self {
        let [name, symbol, meaning] = texts;
        let (_, meaning) = meaning.split_at(1);
        let for_classes: Option<fn(&Context<'_>) -> Value> =
            if matches!(T::KIND, Kind::Loss) { Some(loss_of_classes) } else { None };
        let (kind, range_with_none) = (T::KIND, range.words_with_none);
        Self { name, symbol, range: range.words, meaning, kind, default, for_classes, range_with_none, ..Self::PLAIN }
    }

    /// The key of something that is no number: its name, range and meaning, and what it is by
    /// default.
    #[must_use]
    pub const fn written(kind: Kind, texts: [&'static str; 3], default: Default) -> Self {
        let [name, range, meaning] = texts;
        Self { name, range, meaning, kind, default, ..Self::PLAIN }
    }

    /// The symbol of a paper.
    #[must_use]
    pub const fn with_symbol(self, symbol: &'static str) -> Self {
        Self { symbol, ..self }
    }

    /// The name by which users set it, where it is not that of the field.
    #[must_use]
    pub const fn called(self, name: &'static str) -> Self {
        Self { name, ..self }
    }

    /// Also `none`, which means this.
    #[must_use]
    pub const fn none(self, meaning: &'static str) -> Self {
        Self { none: Some(meaning), range: self.range_with_none, ..self }
    }

    /// Also `none`: a dictionary that may grow as its rule lets it.
    #[must_use]
    pub const fn unlimited(self) -> Self {
        self.none("the rule alone decides how many points are kept")
    }

    /// Also `auto`, which is found in the data.
    #[must_use]
    pub const fn found(self, rule: Rule) -> Self {
        Self { auto: Some(rule), ..self }
    }

    /// The same where the default is `auto`: that of the parameters is for those who know nothing
    /// of the data.
    #[must_use]
    pub const fn found_by_default(self, rule: Rule) -> Self {
        Self { auto: Some(rule), without_data: Some(self.default), default: || "auto".into(), ..self }
    }

    /// Another default when classes are learnt.
    #[must_use]
    pub const fn for_classes(self, default: fn(&Context<'_>) -> Value) -> Self {
        Self { for_classes: Some(default), ..self }
    }

    /// Also a time, which stands for a value found by measurement.
    #[must_use]
    pub const fn time(self, measured: OfTime) -> Self {
        Self { of_time: Some(measured), ..self }
    }

    /// Worth tuning: good values lie from `low` to `high`, orders of magnitude apart.
    #[must_use]
    pub const fn search(self, low: f64, high: f64) -> Self {
        Self { search: Some(SearchRange { key: self.name, low, high, logarithmic: true }), ..self }
    }

    /// The same for a key whose values are spread evenly.
    #[must_use]
    pub const fn search_evenly(self, low: f64, high: f64) -> Self {
        Self { search: Some(SearchRange { key: self.name, low, high, logarithmic: false }), ..self }
    }
}

/// The loss of classes is logistic for two, softmax for more.
fn loss_of_classes(context: &Context<'_>) -> Value {
    if context.outputs > 1 { Loss::SOFTMAX.to_value() } else { Loss::LOGISTIC.to_value() }
}

impl Rule {
    /// A rule, and whether it has to see the first rows.
    #[must_use]
    pub const fn looking(formula: &'static str, source: &'static str, needs_rows: bool, find: Find) -> Self {
        Self { formula, source, look: Look { needs_rows, find } }
    }

    /// The distance at which inputs share a point, in the unit of the inputs.
    pub const NEAREST: Self = Self::looking(
        "the median distance of the first rows (200 at most) to their nearest; 0 if all are the same",
        "ours: the papers choose by hand",
        true,
        |_, context, _| nearest_of_rows(context).map(Value::Number),
    );

    /// The point from which inputs are measured.
    pub const MEAN: Self = Self::looking(
        "the mean of the first rows (256 at most)",
        "ours: the paper expands around the origin",
        true,
        |_, context, _| mean_of_rows(context).map(Value::Numbers),
    );
}

/// `first`, then `then`.
pub(crate) const fn join<const N: usize>(first: &[Key], then: &[Key]) -> [Key; N] {
    let mut keys = [Key::PLAIN; N];
    let mut place = 0;
    while place < N {
        keys[place] = if place < first.len() { first[place] } else { then[place - first.len()] };
        place += 1;
    }
    keys
}

/// The median over the first rows of the distance to the nearest row that is another, 0 where there
/// is none.
fn nearest_of_rows(context: &Context<'_>) -> Result<f64, BuildError> {
    const ROWS: usize = 200;
    let Context { rows, dimension, .. } = *context;
    let rows: Vec<&[f64]> = rows.chunks_exact(dimension.max(1)).take(ROWS).collect();
    if rows.is_empty() {
        return Err(BuildError::NeedsData(FIRST_ROWS));
    }
    let distance = |x: &[f64], z: &[f64]| x.iter().zip(z).map(|(x, z)| (x - z) * (x - z)).sum::<f64>().sqrt();
    let nearest = |x: &&[f64]| {
        let others = rows.iter().map(|z| distance(x, z)).filter(|distance| *distance > 0.0);
        others.fold(f64::INFINITY, f64::min)
    };
    let mut nearest: Vec<f64> = rows.iter().map(nearest).filter(|distance| distance.is_finite()).collect();
    nearest.sort_unstable_by(f64::total_cmp);
    Ok(nearest.get(nearest.len() / 2).copied().unwrap_or(0.0))
}

/// The mean of the first rows.
fn mean_of_rows(context: &Context<'_>) -> Result<Vec<f64>, BuildError> {
    let Context { rows, dimension, .. } = *context;
    let count = rows.len() / dimension.max(1);
    if count == 0 {
        return Err(BuildError::NeedsData(FIRST_ROWS));
    }
    // Each row is divided before it is added, so that the sum of finite numbers is finite.
    let mean = |j| rows.iter().skip(j).step_by(dimension).map(|value| value / count as f64).sum();
    Ok((0..dimension).map(mean).collect())
}
