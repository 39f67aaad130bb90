//! The box in which settings are looked for.

use crate::catalogue::{Entry, Kind, Value};

/// A setting with its range.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Dimension {
    /// The key, or [`Space::WIDTH`] for the width of the kernel.
    pub name: String,
    /// The least value.
    pub low: f64,
    /// The largest value.
    pub high: f64,
    /// True if its logarithm is spread evenly.
    pub logarithmic: bool,
    /// True if values are whole numbers.
    pub whole: bool,
    /// Where the search begins.
    pub start: f64,
}

impl Dimension {
    /// A range from `low` to `high`, where the search begins in the middle; `None` unless these are
    /// finite, in order, and positive for a logarithmic one.
    #[must_use]
    pub fn new(name: impl Into<String>, low: f64, high: f64, logarithmic: bool) -> Option<Self> {
        let right = low.is_finite() && high.is_finite() && low < high && (low > 0.0 || !logarithmic);
        let middle = if logarithmic { (0.5 * (low.ln() + high.ln())).exp() } else { 0.5 * (low + high) };
        right.then(|| Self { name: name.into(), low, high, logarithmic, whole: false, start: middle })
    }

    /// The same for a key of this learner: whole numbers where it counts, and beginning with its
    /// default if that is in the range.
    #[must_use]
    pub fn of_key(self, entry: &Entry) -> Self {
        let Some(key) = entry.key(&self.name) else { return self };
        let usual = match key.default() {
            Value::Number(usual) => Some(usual),
            Value::Whole(usual) => Some(usual as f64),
            _ => None,
        };
        let usual = usual.filter(|usual| (self.low..=self.high).contains(usual));
        Self { whole: key.kind == Kind::Count, start: usual.unwrap_or(self.start), ..self }
    }

    /// The value at a position from 0 to 1, of three digits.
    fn value(&self, position: f64) -> f64 {
        let value = if self.logarithmic {
            (self.low.ln() + position * (self.high.ln() - self.low.ln())).exp()
        } else {
            self.low + position * (self.high - self.low)
        };
        let rounded = if self.whole { value.round() } else { format!("{value:.2e}").parse().unwrap_or(value) };
        rounded.clamp(self.low, self.high)
    }

    /// Where a value lies between the ends, from 0 to 1.
    #[must_use]
    pub fn position(&self, value: f64) -> f64 {
        if self.logarithmic {
            (value.ln() - self.low.ln()) / (self.high.ln() - self.low.ln())
        } else {
            (value - self.low) / (self.high - self.low)
        }
    }
}

/// The box: a range for each setting that is looked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Space(Vec<Dimension>);

impl Space {
    /// The name of the width of the kernel among the settings.
    pub const WIDTH: &'static str = "sigma";
    /// The width is looked for within this factor of the one given.
    const FACTOR: f64 = 8.0;

    /// These ranges.
    #[must_use]
    pub fn new(dimensions: Vec<Dimension>) -> Self {
        Self(dimensions)
    }

    /// The width of the kernel within a factor of 8 of this one, such as that of the median
    /// heuristic, and the [ranges of the learner's keys](Entry::search).
    #[must_use]
    pub fn for_entry(entry: &Entry, width: Option<f64>) -> Self {
        let width = width.and_then(Self::around_width);
        let keys = entry.search().filter_map(|range| {
            Some(Dimension::new(range.key, range.low, range.high, range.logarithmic)?.of_key(entry))
        });
        Self(width.into_iter().chain(keys).collect())
    }

    fn around_width(width: f64) -> Option<Dimension> {
        let three = |value: f64| format!("{value:.2e}").parse::<f64>().ok();
        let (low, high) = (three(width / Self::FACTOR)?, three(width * Self::FACTOR)?);
        let dimension = Dimension::new(Self::WIDTH, low, high, true)?;
        Some(Dimension { start: width, ..dimension })
    }

    /// The same without a setting.
    #[must_use]
    pub fn without(self, name: &str) -> Self {
        Self(self.0.into_iter().filter(|dimension| dimension.name != name).collect())
    }

    /// The same with a range in place of that of the same name, or one more.
    #[must_use]
    pub fn with(mut self, range: Dimension) -> Self {
        match self.0.iter_mut().find(|dimension| dimension.name == range.name) {
            Some(place) => *place = range,
            None => self.0.push(range),
        }
        self
    }

    /// The ranges, in the order of the values of a point.
    #[must_use]
    pub fn dimensions(&self) -> &[Dimension] {
        &self.0
    }

    /// The width of the kernel at a point, if it is looked for.
    #[must_use]
    pub fn width(&self, values: &[f64]) -> Option<f64> {
        let place = self.0.iter().position(|dimension| dimension.name == Self::WIDTH)?;
        values.get(place).copied()
    }

    /// `KEY=VALUE` for each other setting.
    #[must_use]
    pub fn pairs(&self, values: &[f64]) -> Vec<String> {
        let others = self.0.iter().zip(values).filter(|(dimension, _)| dimension.name != Self::WIDTH);
        others.map(|(dimension, value)| format!("{}={}", dimension.name, dimension.shown(*value))).collect()
    }

    /// A point of the box whose position has these coordinates, each from 0 to 1.
    #[must_use]
    pub fn random(&self, mut coordinate: impl FnMut() -> f64) -> Vec<f64> {
        self.0.iter().map(|dimension| dimension.value(coordinate())).collect()
    }

    /// Where the search begins, in the unit cube.
    pub(super) fn start(&self) -> Vec<f64> {
        self.0.iter().map(|dimension| dimension.position(dimension.start)).collect()
    }

    /// The position and the values there.
    pub(super) fn point(&self, position: Vec<f64>) -> (Vec<f64>, Vec<f64>) {
        let values = self.0.iter().zip(&position).map(|(dimension, position)| dimension.value(*position)).collect();
        (position, values)
    }
}

impl Dimension {
    /// A value as it is written in a setting.
    #[must_use]
    pub fn shown(&self, value: f64) -> String {
        if self.whole { format!("{value}") } else { Value::Number(value).to_string() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::{Context, Settings, entries};
    use mercer_kernels::{AnyKernel, Gaussian};

    /// Every range is one of a number, and both of its ends make a learner.
    #[test]
    fn ranges_of_the_catalogue_are_right() {
        for entry in entries() {
            let space = Space::for_entry(entry, None);
            assert_eq!(space.dimensions().len(), entry.search().count(), "{}", entry.name);
            for dimension in space.dimensions() {
                let key = entry.key(&dimension.name);
                assert!(
                    key.is_some_and(|key| matches!(key.kind, Kind::Number | Kind::Count)),
                    "{} {}",
                    entry.name,
                    dimension.name
                );
                assert!((dimension.low..=dimension.high).contains(&dimension.start));
            }
            for end in [0.0, 1.0] {
                let (_, values) = space.point(vec![end; space.dimensions().len()]);
                let pairs = space.pairs(&values);
                let rows = [0.1, 0.2, 0.3, -0.4];
                let context = Context { dimension: 2, rows: &rows, ..Context::default() };
                let kernel = AnyKernel::Gaussian(Gaussian::new(0.7).unwrap());
                let built = Settings::new(entry, pairs.iter().map(String::as_str)).unwrap().build(kernel, &context);
                assert!(built.is_ok(), "{}: {:?}", entry.name, built.err());
            }
        }
    }

    #[test]
    fn values_read_back_as_they_were_scored() {
        let space = Space::for_entry(crate::catalogue::find("krls").unwrap(), Some(0.123_456_789));
        for i in 0..1000 {
            let (_, values) = space.point(vec![f64::from(i) / 999.0; space.dimensions().len()]);
            for (pair, value) in space.pairs(&values).iter().zip(&values[1..]) {
                assert_eq!(pair.split_once('=').unwrap().1.parse::<f64>().unwrap(), *value);
            }
            let width = space.width(&values).unwrap();
            assert!((0.0154..=0.988).contains(&width));
        }
    }
}
