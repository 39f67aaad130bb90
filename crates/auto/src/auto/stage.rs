//! A stage: members on inputs and targets in scales that the rows before it have told.

use mercer_core::ExampleError;
use mercer_learners::{Error, Expert, Rows, Scratch, Target, Targets};

use super::BlockMemory;
use super::ahead::{Ahead, FeatureBlock};
use super::nearest::{Nearest, Wanted};
use super::scales::{Affine, ScaledRows, Scales};

/// Parts of a stage.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Stage {
    pub(super) scaling: Scales,
    pub(super) ahead: Ahead,
    pub(super) nearest: Box<Nearest>,
    /// Losses of the members before this stage, less those of the replay.
    pub(super) carried: Vec<f64>,
}

/// Memory of a prediction, beside that of its members.
#[derive(Debug, Default)]
struct PredictionMemory {
    rows: ScaledRows,
    given: Vec<f64>,
}

impl Stage {
    /// Factor from squared errors of a scaled target to the target's unit; 1 where there are
    /// several.
    pub(super) fn unit(&self) -> f64 {
        if let [target] = self.scaling.targets[..] { target.scale * target.scale } else { 1.0 }
    }

    /// The members, with the losses of scaled targets since the replay began.
    pub(super) fn members(&self) -> impl Iterator<Item = Expert<'_>> {
        let mut all = self.nearest.members(self.ahead.linear.names());
        let share = all.next().map_or(1.0, |(_, weight, _)| weight);
        let grid = self.ahead.grid.members().map(move |expert| Expert { weight: share * expert.weight, ..expert });
        grid.chain(all.map(|(name, weight, loss)| Expert { name, weight, cumulative_loss: loss, active: true }))
    }

    /// Learns rows of positive weight of which none but the first wakes an input, and hands the
    /// views of each to `take`: the prediction is the first.
    pub(super) fn learn(
        &mut self,
        rows: Rows<'_>,
        beside: bool,
        work: &mut BlockMemory,
        mut take: impl FnMut(&mut [f64]),
    ) -> Result<(), Error> {
        let BlockMemory { rows: scaled, targets, weights, views } = work;
        targets.clear();
        weights.clear();
        for Target { y, weight } in rows.targets().iter() {
            targets.extend(y.iter().zip(&self.scaling.targets).map(|(y, affine)| affine.apply(*y)));
            weights.push(weight);
        }
        // A target that is not finite when scaled is refused, and leaves no trace.
        let outputs = self.scaling.targets.len();
        let fit = targets.iter().position(|y| !y.is_finite()).unwrap_or(targets.len()) / outputs;
        if fit > 0 {
            self.wake(rows.input(0))?;
            let (width, dimension) = (self.scaling.live(), rows.inputs().len() / rows.len());
            self.scaling.rows(&rows.inputs()[..fit * dimension], dimension, scaled);
            let Self { scaling, ahead, nearest, .. } = self;
            let fitting = Targets::new(&targets[..fit * outputs], &weights[..fit], outputs)?;
            let block = FeatureBlock { rows: Rows::new(&scaled.bent, width, fitting)?, straight: &scaled.straight };
            let mut row = 0;
            ahead.learn_in_pieces(block, beside, |given| {
                nearest.round(block.row(row), given, block.rows.target(row), views);
                views.chunks_exact_mut(outputs).for_each(|view| scaling.undo(view));
                take(views);
                row += 1;
            })?;
        }
        if fit < rows.len() { Err(ExampleError::Diverged.into()) } else { Ok(()) }
    }

    /// Takes in the inputs that vary in this row for the first time.
    pub(super) fn wake(&mut self, x: &[f64]) -> Result<(), Error> {
        if self.scaling.wakes(x) {
            let mut scaling = self.scaling.clone();
            let added = scaling.wake(x);
            self.ahead.grow(added)?;
            self.nearest.grow(added)?;
            self.scaling = scaling;
        }
        Ok(())
    }

    /// Predicts `x` into `views`, of which the prediction is the first, and the only one if there
    /// is no more room; and the variances where they are asked for: whether they are known.
    pub(super) fn predict(
        &self,
        x: &[f64],
        scratch: &mut Scratch,
        views: &mut [f64],
        variances: Option<&mut [f64]>,
    ) -> Result<bool, Error> {
        let mut asked: Box<PredictionMemory> = scratch.take_own();
        let PredictionMemory { rows, given } = &mut *asked;
        self.scaling.rows(x, x.len(), rows);
        let row = rows.row(0, self.scaling.live());
        let outputs = self.scaling.targets.len();
        let wanted = if views.len() > outputs { Wanted::Views } else { Wanted::Mixture };
        given.resize(self.ahead.len() * outputs, 0.0);
        let predicted = self.ahead.predict(row, |member| self.nearest.needs(member, wanted), scratch, given);
        if predicted.is_ok() {
            self.nearest.predict(row, given, scratch, views);
            views.chunks_exact_mut(outputs).for_each(|view| self.scaling.undo(view));
        }
        let known = variances.is_some_and(|variances| {
            let known = self.nearest.variances(row, scratch, variances);
            let targets = variances.iter_mut().zip(&self.scaling.targets);
            targets.for_each(|(variance, target)| *variance *= target.scale.powi(2));
            known
        });
        scratch.put_own(asked);
        predicted.map(|()| known)
    }

    /// Gains an output, a copy of output `like` or zero; nothing is changed where one of its parts
    /// cannot.
    pub(super) fn add_output(&mut self, like: Option<usize>) -> Result<(), Error> {
        let mut ahead = self.ahead.clone();
        ahead.add_output(like)?;
        self.nearest.add_output(like)?;
        self.ahead = ahead;
        let like = like.and_then(|like| self.scaling.targets.get(like)).copied();
        self.scaling.targets.push(like.unwrap_or(Affine { centre: 0.0, scale: 1.0 }));
        Ok(())
    }
}
