//! All experts that learn, in all coordinates of a series.

use mercer_core::{Inconsistent, Validate};
use mercer_simd::exp;

use super::bank::SeasonBank;
use super::bank_model::{BankModel, FRONT};
use super::coordinates::{Coordinate, LARGEST};
use super::history::RecentRange;
use super::lags::{LagSet, Past, View, reach};
use super::params::{Detail, SeasonParams};
use super::parts::ForecastParts;
use crate::ForecastScratch;

/// Rows that a regression's target must have before it.
const FIRST_ROWS: usize = 2;

/// A coordinate and what is known of the series in it.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Side {
    coordinate: Coordinate,
    past: Past,
    range: RecentRange,
}

/// The experts of a series. Their paths are in the order of the bank's filters and then of the
/// sets, in each all of one coordinate before those of the next.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Experts {
    sides: Vec<Side>,
    /// Filters with the waves of the periods, and such without.
    banks: Vec<(BankModel, SeasonBank)>,
    sets: Vec<LagSet>,
    /// By how much the level has shifted: experts know the series less that.
    shift: f64,
}

/// The models of the banks: a season that has gone, or that never was, is not in the last.
fn models(periods: &[usize], detail: Detail) -> Vec<BankModel> {
    let seasonless: &[usize] = &[];
    let all = [periods, seasonless];
    all.iter().take(if periods.is_empty() { 1 } else { 2 }).map(|periods| BankModel::new(periods, detail)).collect()
}

impl Side {
    fn view(&self) -> View<'_> {
        View {
            recent: self.past.recent.rows(),
            mean: self.past.mean.value(),
            scale: self.past.scale,
            bounds: self.range.bounds(),
        }
    }

    /// Trend of a level, and the factor of what is added to it, where its sum with waves and an
    /// autoregression is `sum`: see the head of `parts`.
    fn trend(&self, level: f64, sum: f64) -> (f64, f64) {
        let (low, high) = self.range.bounds();
        let (level, sum) = (level.clamp(low, high), sum.clamp(low, high));
        if self.coordinate == Coordinate::Plain {
            return (level, 1.0);
        }
        let trend = exp(level);
        (trend, if sum == level { trend } else { (exp(sum) - trend) / (sum - level) })
    }

    /// Clips a path to where it may go, and brings it back to the series.
    fn finish(&self, bounds: (f64, f64), shift: f64, path: &mut [f64]) {
        path.iter_mut().for_each(|z| *z = z.clamp(bounds.0, bounds.1));
        self.coordinate.values(path);
        path.iter_mut().for_each(|y| *y = (*y + shift).clamp(-LARGEST, LARGEST));
    }
}

impl Experts {
    /// Experts for a series that begins with these rows, which they have not learnt yet.
    pub(super) fn new(periods: &[usize], params: &SeasonParams, beginning: &[Option<f64>]) -> Self {
        let observed: Vec<f64> = beginning.iter().flatten().copied().collect();
        let side = |coordinate: Coordinate| {
            let z: Vec<f64> = observed.iter().map(|y| coordinate.of_value(*y)).collect();
            Side { coordinate, past: Past::new(&z, reach(periods)), range: RecentRange::new() }
        };
        let sides: Vec<Side> = Coordinate::choose(observed.iter().copied()).into_iter().map(side).collect();
        let bank = |model: BankModel| {
            let filters = SeasonBank::new(&model, sides.len());
            (model, filters)
        };
        Self {
            banks: models(periods, params.detail).into_iter().map(bank).collect(),
            sets: LagSet::all(periods, params.detail, sides.len(), params.seed),
            sides,
            shift: 0.0,
        }
    }

    /// By how much the level has shifted so far.
    pub(super) fn shift(&self) -> f64 {
        self.shift
    }

    /// The level shifts.
    pub(super) fn shift_by(&mut self, by: f64) {
        self.shift += by;
    }

    pub(super) fn count(&self) -> usize {
        self.sides.len() * self.banks.iter().map(|(model, _)| model.filters()).sum::<usize>()
            + self.sets.iter().map(LagSet::experts).sum::<usize>()
    }

    /// The series as it is, less the shift.
    pub(super) fn plain(&self) -> View<'_> {
        self.sides[0].view()
    }

    /// The size of a change, before errors are known.
    pub(super) fn unit(&self) -> f64 {
        self.sides[0].past.scale
    }

    /// The paths of all experts, `steps` numbers each.
    pub(super) fn forecast(&self, steps: usize, paths: &mut [f64], scratch: &mut ForecastScratch, work: &mut Vec<f64>) {
        let mut rest = paths;
        for (model, bank) in &self.banks {
            let (part, behind) = rest.split_at_mut(self.sides.len() * model.filters() * steps);
            bank.forecast(model, steps, part, work);
            self.finish(model.filters(), steps, part);
            rest = behind;
        }
        for set in &self.sets {
            let (part, behind) = rest.split_at_mut(set.experts() * steps);
            set.forecast(|c| self.sides[c].view(), steps, part, scratch);
            self.finish(set.members(), steps, part);
            rest = behind;
        }
    }

    /// The filters with the waves, which are the first experts.
    pub(super) fn filters(&self) -> usize {
        self.sides.len() * self.banks.first().map_or(0, |(model, _)| model.filters())
    }

    /// Explains a forecast by the parts of these filters, which have weights in each step.
    pub(super) fn explain<'a>(
        &self,
        periods: &[usize],
        weights: impl Fn(usize) -> &'a [f64],
        parts: &mut ForecastParts,
    ) {
        let Some((model, bank)) = self.banks.first() else { return };
        let (filters, steps) = (model.filters(), parts.rest.len());
        let owner = |(_, of): (usize, usize)| periods.iter().position(|period| *period == of).unwrap_or(0);
        let owners: Vec<usize> = BankModel::frequencies(periods).into_iter().map(owner).collect();
        let (mut work, mut waves) = (Vec::new(), vec![0.0; periods.len()]);
        for (c, side) in self.sides.iter().enumerate() {
            bank.visit(model, c, steps, &mut work, |step, x| {
                let weights = weights(step)[c * filters..][..filters].iter().enumerate();
                for (k, weight) in weights.filter(|(_, weight)| **weight > 0.0) {
                    let (level, own) = (x[k], x[2 * filters + k]);
                    waves.fill(0.0);
                    for (pair, owner) in owners.iter().enumerate() {
                        waves[*owner] += x[(FRONT + 2 * pair) * filters + k];
                    }
                    let (trend, factor) = side.trend(level, level + own + waves.iter().sum::<f64>());
                    let waves = waves.iter().map(|wave| weight * factor * wave);
                    parts.explain(step, weight * (trend + self.shift), waves);
                }
            });
        }
    }

    /// Finishes paths of which each coordinate has so many.
    fn finish(&self, members: usize, steps: usize, paths: &mut [f64]) {
        for (side, paths) in self.sides.iter().zip(paths.chunks_exact_mut(members * steps)) {
            let bounds = side.range.bounds();
            paths.chunks_exact_mut(steps).for_each(|path| side.finish(bounds, self.shift, path));
        }
    }

    /// True if an observation lies between late ones, less the shift.
    pub(super) fn holds(&self, y: f64) -> bool {
        self.sides[0].range.holds(y - self.shift)
    }

    /// An observation as it counts: see [`RecentRange::tame`].
    pub(super) fn tame(&self, y: f64) -> f64 {
        self.sides[0].range.tame(y - self.shift) + self.shift
    }

    /// Learns the next row.
    pub(super) fn learn(&mut self, y: f64, scratch: &mut ForecastScratch) {
        let z = self.coordinates_of(y);
        let z = &z[..self.sides.len()];
        self.banks.iter_mut().for_each(|(model, bank)| bank.step(model, Some(z)));
        if self.sides[0].past.recent.rows().len() >= FIRST_ROWS {
            let sides = &self.sides;
            self.sets.iter_mut().for_each(|set| set.learn(|c| sides[c].view(), z, scratch));
        }
        for (side, z) in self.sides.iter_mut().zip(z) {
            side.past.recent.push(*z);
            side.past.mean.push(*z);
            side.range.push(*z);
        }
    }

    /// The next row is missing; `forecast` stands for it where it is a lag of later rows.
    pub(super) fn skip(&mut self, forecast: f64, scratch: &mut ForecastScratch) {
        self.banks.iter_mut().for_each(|(model, bank)| bank.step(model, None));
        let reach = self.sides[0].past.recent.kept();
        let sides = &self.sides;
        self.sets.iter_mut().for_each(|set| set.skip(|c| sides[c].view(), reach, scratch));
        let z = self.coordinates_of(forecast);
        self.sides.iter_mut().zip(z).for_each(|(side, z)| side.past.recent.push(z));
    }

    fn coordinates_of(&self, y: f64) -> [f64; 2] {
        std::array::from_fn(|c| self.sides.get(c).map_or(0.0, |side| side.coordinate.of_value(y - self.shift)))
    }

    pub(super) fn validate(&self, periods: &[usize], params: &SeasonParams) -> Result<(), Inconsistent> {
        const WHAT: &str = "experts of a season mixture";
        self.shift.validate()?;
        let plain = self.sides.first().is_some_and(|side| side.coordinate == Coordinate::Plain);
        let logs = self.sides[1..].iter().all(|side| side.coordinate != Coordinate::Plain);
        Inconsistent::require(plain && logs && self.sides.len() <= 2, WHAT, "coordinates are plain, and logarithms")?;
        for side in &self.sides {
            side.coordinate.validate()?;
            side.past.validate(reach(periods))?;
            side.range.validate()?;
        }
        let same = self.banks.iter().map(|(model, _)| model).eq(&models(periods, params.detail));
        Inconsistent::require(same, WHAT, "filters are those of the periods")?;
        self.banks.iter().try_for_each(|(model, bank)| bank.validate(model, self.sides.len()))?;
        LagSet::validate(&self.sets, periods, params.detail, self.sides.len(), params.seed)
    }
}
