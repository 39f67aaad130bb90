//! Treatment of targets that are taken for errors of measurement.

use mercer_core::{Inconsistent, Validate};
use mercer_experts::{OutlierScreen, Outliers};
use mercer_learners::{Rows, Target};

/// Rows without a return to the level before, after which a new level is one.
const TRIAL: u32 = 50;
/// Rows outside of the level before, among some 200, with which a new level is one although values
/// return.
const STRAYS: f64 = 50.0;
/// Factor of their count a row.
const FADING: f64 = 1.0 - 1.0 / 200.0;

/// Weighs rows by how plausible their targets are: by the screen of each output, and of several
/// outputs by the least plausible.
///
/// A new level is on trial: see [`RowEvent::Enters`].
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Screening {
    outliers: Outliers,
    screens: Vec<OutlierScreen>,
    /// Rows of positive weight.
    rows: u64,
    found: Option<Implausible>,
    /// The new level on trial.
    trial: Option<LevelTrial>,
    /// Rows outside of the level before a trial, those of long ago less.
    strays: f64,
}

/// A new level that may yet turn out to be a run of wrong values.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct LevelTrial {
    /// The screens as they were before it.
    screens: Vec<OutlierScreen>,
    /// Rows that it lasts.
    rows: u32,
    /// The first target of its first row.
    target: f64,
}

/// What a row means to the learner behind the screen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum RowEvent {
    /// It is learnt with this weight.
    Plain(f64),
    /// It is learnt, and so are the rows after it, by a learner of which a copy is put aside: its
    /// target passes because those before it did not, which is a new level or a run of wrong
    /// values.
    Enters(f64),
    /// The targets return to the level before: the copy goes on, and learns it with this weight.
    Returns(f64),
    /// It is the first to leave a constant, and is learnt after the second if that confirms it.
    Waits,
}

/// Rows whose targets were implausible.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Implausible {
    /// The number of these rows.
    pub rows: u64,
    /// The first, counted from 1 among the rows of positive weight.
    pub first: u64,
    /// Its target.
    pub target: f64,
    /// A target that came again and again, exactly, and was held out.
    pub mark: Option<f64>,
}

impl Implausible {
    /// One more, or several.
    fn and(before: Option<Self>, Self { rows, first, target, mark }: Self) -> Self {
        let Some(before) = before else { return Self { rows, first, target, mark } };
        let (rows, mark) = (before.rows + rows, before.mark.or(mark));
        if before.first <= first { Self { rows, mark, ..before } } else { Self { rows, first, target, mark } }
    }
}

impl Screening {
    /// A screening of so many outputs; none where every row counts as it is.
    pub(crate) fn new(outliers: Outliers, outputs: usize) -> Option<Self> {
        let screens = vec![OutlierScreen::default(); outputs];
        let new = Self { outliers, screens, rows: 0, found: None, trial: None, strays: 0.0 };
        (outliers != Outliers::Keep).then_some(new)
    }

    /// The treatment of the rows.
    pub(crate) fn outliers(&self) -> Outliers {
        self.outliers
    }

    /// The least of the shares of the targets.
    fn share(screens: &[OutlierScreen], targets: &[f64]) -> f64 {
        screens.iter().zip(targets).map(|(screen, y)| screen.share(*y)).fold(1.0, f64::min)
    }

    /// The weight that is left to an example by these screens.
    fn weight(&self, screens: &[OutlierScreen], Target { y, weight }: Target<'_>) -> f64 {
        let share = Self::share(screens, y);
        weight * if share == 0.0 { 0.0 } else { self.outliers.weight(share) }
    }

    /// True if nothing but the targets' being within their ranges is to be known.
    fn is_usual(&self, target: Target<'_>) -> bool {
        self.trial.is_none() && self.screens.iter().zip(target.y).all(|(screen, y)| screen.is_usual(*y))
    }

    /// What an example of positive weight means.
    pub(crate) fn event(&self, target: Target<'_>) -> RowEvent {
        if self.is_usual(target) {
            return RowEvent::Plain(target.weight);
        }
        let any = |sees: fn(&OutlierScreen, f64) -> bool| {
            self.screens.iter().zip(target.y).any(|(screen, y)| sees(screen, *y))
        };
        match &self.trial {
            Some(trial) if self.returns(trial, target.y) => RowEvent::Returns(self.weight(&trial.screens, target)),
            None if any(OutlierScreen::leaves) => RowEvent::Waits,
            None if any(OutlierScreen::stretches) && Self::share(&self.screens, target.y) == 1.0 => {
                RowEvent::Enters(target.weight)
            }
            _ => RowEvent::Plain(self.weight(&self.screens, target)),
        }
    }

    /// True if these targets are of the level before the trial.
    fn returns(&self, trial: &LevelTrial, targets: &[f64]) -> bool {
        let usual = |(screen, y): (&OutlierScreen, &f64)| screen.share(*y) == 1.0 && !screen.stretches(*y);
        self.strays < STRAYS && trial.screens.iter().zip(targets).all(usual)
    }

    /// An example was learnt, as its [event](Self::event) says.
    pub(crate) fn observe(&mut self, target: Target<'_>) {
        if target.weight == 0.0 {
            return;
        }
        self.rows += 1;
        if self.is_usual(target) {
            self.strays *= FADING;
            self.screens.iter_mut().zip(target.y).for_each(|(screen, y)| {
                screen.observe(*y);
            });
            return;
        }
        let first = target.y.first().copied().unwrap_or(0.0);
        match self.event(target) {
            RowEvent::Enters(_) => {
                self.trial = Some(LevelTrial { screens: self.screens.clone(), rows: 0, target: first });
            }
            RowEvent::Returns(_) => {
                if let Some(LevelTrial { screens, rows, target }) = self.trial.take() {
                    self.screens = screens;
                    let first = self.rows - u64::from(rows);
                    self.count(Implausible { rows: rows.into(), first, target, mark: None });
                }
            }
            RowEvent::Waits | RowEvent::Plain(_) => {}
        }
        self.strays *= FADING;
        if let Some(trial) = &mut self.trial {
            trial.rows += 1;
            self.strays += 1.0;
            if trial.rows == TRIAL {
                self.trial = None;
            }
        }
        let mut implausible = None;
        for (screen, y) in self.screens.iter_mut().zip(target.y) {
            let (mark, leaves) = (screen.is_mark(*y), screen.leaves(*y));
            if screen.observe(*y) < 1.0 && !leaves {
                self.strays += f64::from(!mark);
                implausible = implausible.or(Some((*y, Some(*y).filter(|_| mark))));
            }
        }
        if let Some((target, mark)) = implausible {
            self.count(Implausible { rows: 1, first: self.rows, target, mark });
        }
    }

    fn count(&mut self, more: Implausible) {
        self.found = Some(Implausible::and(self.found, more));
    }

    /// True while a new level is on trial.
    pub(crate) fn is_on_trial(&self) -> bool {
        self.trial.is_some()
    }

    /// True while the targets that left a constant are not judged.
    pub(crate) fn waits(&self) -> bool {
        self.screens.iter().any(|screen| screen.waiting().is_some())
    }

    /// True if the targets of a row that [waited](RowEvent::Waits) are plausible by the unit that
    /// is known now; if not, the row is counted.
    pub(crate) fn confirms(&mut self, place: u64, targets: &[f64]) -> bool {
        let right = Self::share(&self.screens, targets) == 1.0;
        if !right {
            self.count(Implausible { rows: 1, first: place, target: targets[0], mark: None });
        }
        right
    }

    /// The number of rows at the beginning of these that are learnt with their own weights, and the
    /// screening after them.
    pub(crate) fn plain(&self, rows: Rows<'_>) -> (usize, Self) {
        let mut ahead = self.clone();
        let usual = |target: &Target<'_>| {
            let plain = ahead.trial.is_none() && !ahead.waits();
            let plain = plain && ahead.event(*target) == RowEvent::Plain(target.weight);
            if plain {
                ahead.observe(*target);
            }
            plain
        };
        (rows.targets().iter().take_while(usual).count(), ahead)
    }

    /// Rows of positive weight that it has seen.
    pub(crate) fn rows(&self) -> u64 {
        self.rows
    }

    /// The implausible rows.
    pub(crate) fn found(&self) -> Option<Implausible> {
        self.found
    }

    /// Takes the weight from those of the first rows of a stream that the rows after them show to
    /// be implausible: whether there is one, and the row that waits since it left a constant.
    /// `places` are the numbers of the rows, 0 for those that are known. The screens are then those
    /// of the other rows.
    pub(crate) fn judge_again(
        &mut self,
        targets: &[f64],
        places: &[u64],
        weights: &mut [f64],
    ) -> (bool, Option<usize>) {
        let outputs = self.screens.len();
        let (mut changed, mut waits) = (false, None);
        for output in 0..outputs {
            let column: Vec<f64> = targets.iter().skip(output).step_by(outputs).copied().collect();
            let found = OutlierScreen::implausible(&column);
            if found.contains(&true) {
                self.screens[output] = OutlierScreen::default();
                let right = column.iter().zip(&found).filter(|(_, found)| !**found);
                for (y, _) in right {
                    self.screens[output].observe(*y);
                }
            }
            for (row, (found, y)) in found.into_iter().zip(column).enumerate() {
                if !found || weights[row] == 0.0 {
                    continue;
                }
                (weights[row], changed) = (0.0, true);
                if waits.is_none() && self.screens[output].leaves(y) {
                    self.screens[output].observe(y);
                    waits = Some(row);
                } else if places[row] > 0 {
                    self.count(Implausible { rows: 1, first: places[row], target: y, mark: None });
                }
            }
        }
        (changed, waits)
    }
}

impl Validate for Screening {
    fn validate(&self) -> Result<(), Inconsistent> {
        self.screens.validate()?;
        let alike = |trial: &LevelTrial| trial.screens.len() == self.screens.len() && trial.rows < TRIAL;
        if let Some(trial) = &self.trial {
            trial.screens.validate()?;
            trial.target.validate()?;
        }
        Inconsistent::non_negative(self.strays, "count of rows on another level")?;
        let trial = self.trial.as_ref().is_none_or(alike);
        Inconsistent::require(trial, "screening of targets", "a level on trial is short")?;
        let counted = |found: Implausible| {
            found.target.is_finite() && found.first >= 1 && found.first <= self.rows && found.rows <= self.rows
        };
        let told = self.outliers != Outliers::Keep && self.found.is_none_or(counted) && self.rows < u64::MAX;
        Inconsistent::require(told, "screening of targets", "it has a purpose, and counts what it found")
    }
}
