//! A column of categories by one number: the running mean of the target in the rows of each.

use std::collections::BTreeMap;

use mercer_core::{Cell, Inconsistent, Validate};

use crate::key::Key;
use crate::moments::RunningMoments;
use crate::scale::{NumberScale, Scale};
use crate::schema::LONGEST_NAME;

use super::{gap_name, tell_gap};

/// Categories with a mean of their own at most.
const MOST: usize = 1 << 16;

/// Rows of the mean of all that each category begins with.
const PRIOR: f64 = 10.0;

/// Smoothed means of categories, for a category that had `n` rows with the mean `m`, where all rows
/// have the mean `M`:
///
/// ```text
/// (n·m + 10·M)/(n + 10)
/// ```
///
/// A row has the number before its own target is learnt. A category that is new, and a gap, have
/// `M`. Source: D. Micci-Barreca, *A preprocessing scheme for high-cardinality categorical
/// attributes*, SIGKDD Explorations 2001; in the order of the rows as in L. Prokhorenkova et al.,
/// *CatBoost*, NeurIPS 2018.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Means {
    categories: BTreeMap<String, RunningMoments>,
    all: RunningMoments,
    scale: NumberScale,
    gaps: bool,
}

impl Means {
    pub(super) fn new(scale: Scale, gaps: bool) -> Self {
        let scale = NumberScale::new(scale);
        Self { categories: BTreeMap::new(), all: RunningMoments::default(), scale, gaps }
    }

    pub(super) fn width(&self) -> usize {
        1 + usize::from(self.gaps)
    }

    pub(super) fn gaps(&self) -> bool {
        self.gaps
    }

    /// The mean of a cell's category.
    fn mean(&self, cell: Cell<'_>) -> f64 {
        let known = Key::from_cell(cell).and_then(|key| self.categories.get(key.as_str()));
        let all = self.all.mean();
        known.map_or(all, |own| all + (own.mean() - all) * (own.count() as f64 / (own.count() as f64 + PRIOR)))
    }

    pub(super) fn encode(&self, cell: Cell<'_>, numbers: &mut [f64]) {
        numbers[0] = self.scale.encode(self.mean(cell));
        tell_gap(self.gaps && Key::from_cell(cell).is_none(), numbers);
    }

    /// The names of its numbers.
    pub(super) fn names(&self, column: &str, names: &mut Vec<String>) {
        names.push(format!("{column} (mean of the target)"));
        names.extend(self.gaps.then(|| gap_name(column)));
    }

    /// Takes in the target of a row, if it is told.
    pub(super) fn learn(&mut self, cell: Cell<'_>, target: Option<f64>) {
        let Some(target) = target else { return };
        self.scale.learn(self.mean(cell));
        self.all.observe(target);
        let Some(key) = Key::from_cell(cell).filter(|key| key.as_str().len() <= LONGEST_NAME) else { return };
        if let Some(own) = self.categories.get_mut(key.as_str()) {
            own.observe(target);
        } else if self.categories.len() < MOST {
            self.categories.entry(key.as_str().to_owned()).or_default().observe(target);
        }
    }

    pub(super) fn words(&self) -> String {
        match self.categories.len() {
            0 => "running mean of the target in each category".to_owned(),
            known => format!("running mean of the target in each of {known} categories"),
        }
    }
}

impl Validate for Means {
    fn validate(&self) -> Result<(), Inconsistent> {
        const WHAT: &str = "column of means";
        let names = self.categories.keys().all(|name| name.len() <= LONGEST_NAME);
        Inconsistent::require(names && self.categories.len() <= MOST, WHAT, "its categories are in range")?;
        self.all.validate()?;
        self.scale.validate()?;
        self.categories.values().try_for_each(Validate::validate)
    }
}
