//! The model of a file, of numbers or of classes, as `train` and `predict` use it.

use mercer::data::{Example, Scaling};
use mercer::learners::intervals::IntervalScale;
use mercer::model::{Classification, Description, ModelError, ModelKind, Regression, Seen};
use mercer::{Regressor, Scratch, Target};

use super::classes::{Judged, class_of};
use super::notes::Watch;
use super::output::number;
use super::table::Standing;

pub(crate) enum Trained {
    Numbers(Box<Regression>),
    Classes(Box<Classification>),
}

/// What is predicted for a row; the memory is used again.
#[derive(Default)]
pub(crate) struct Answer {
    /// One a target, in the targets' own units.
    pub(crate) numbers: Vec<f64>,
    /// The ends of the intervals in the targets' own units, NaN where there is none yet; empty if the model has none.
    pub(crate) lower: Vec<f64>,
    pub(crate) upper: Vec<f64>,
    /// Of a model of classes.
    pub(crate) judged: Judged,
    scores: Vec<f64>,
    radii: Vec<f64>,
    scratch: Scratch,
}

impl Trained {
    pub(crate) fn kind(&self) -> ModelKind {
        match self {
            Self::Numbers(_) => ModelKind::Regression,
            Self::Classes(_) => ModelKind::Classification,
        }
    }

    pub(crate) fn description(&self) -> &Description {
        match self {
            Self::Numbers(model) => &model.description,
            Self::Classes(model) => &model.description,
        }
    }

    pub(crate) fn scaling(&self) -> Option<&Scaling> {
        match self {
            Self::Numbers(model) => model.scaling.as_ref(),
            Self::Classes(model) => model.scaling.as_ref(),
        }
    }

    pub(crate) fn dimension(&self) -> usize {
        match self {
            Self::Numbers(model) => model.learner.dimension(),
            Self::Classes(model) => model.classifier.learner().dimension(),
        }
    }

    /// Numbers in a target; 1 for a class.
    pub(crate) fn outputs(&self) -> usize {
        match self {
            Self::Numbers(model) => model.learner.outputs(),
            Self::Classes(_) => 1,
        }
    }

    /// What is to be told of its intervals.
    pub(crate) fn intervals_told(&self) -> String {
        match self {
            Self::Numbers(model) => model.intervals.as_ref().map_or("none".to_owned(), |intervals| {
                let local = if intervals.scale() == IntervalScale::Error { "" } else { " (local)" };
                format!("{}{local}", number(intervals.params().coverage))
            }),
            Self::Classes(_) => "none".to_owned(),
        }
    }

    pub(crate) fn dictionary_size(&self) -> usize {
        match self {
            Self::Numbers(model) => model.learner.dictionary_size(),
            Self::Classes(model) => model.classifier.learner().dictionary_size(),
        }
    }

    pub(crate) fn to_bytes(&self) -> Result<Vec<u8>, ModelError> {
        match self {
            Self::Numbers(model) => model.to_bytes(),
            Self::Classes(model) => model.to_bytes(),
        }
    }

    /// The rows met.
    pub(crate) fn seen(&self) -> Seen {
        match self {
            Self::Numbers(model) => model.progress.seen(),
            Self::Classes(model) => model.progress.seen(),
        }
    }

    /// Rows were met.
    pub(crate) fn meet(&mut self, Seen { rows, fingerprint }: Seen) {
        let (met, known) = match self {
            Self::Numbers(model) => (&mut model.progress.rows, &mut model.progress.fingerprint),
            Self::Classes(model) => (&mut model.progress.rows, &mut model.progress.fingerprint),
        };
        (*met, *known) = (rows, fingerprint);
    }

    /// The last row was a bad one.
    pub(crate) fn leave_out(&mut self) {
        match self {
            Self::Numbers(model) => model.progress.bad += 1,
            Self::Classes(model) => model.progress.bad += 1,
        }
    }

    /// How good it has been.
    pub(crate) fn standing(&self) -> Standing {
        match self {
            Self::Numbers(model) => {
                let score = &model.progress.score;
                Standing { rounds: score.rounds(), weight: score.weight(), loss: score.cumulative_loss() }
            }
            Self::Classes(model) => {
                let (progress, score) = (&model.progress, &model.progress.score);
                Standing { rounds: progress.learnt as usize, weight: score.weight(), loss: score.mistakes() }
            }
        }
    }

    /// Predicts a row, which it scales.
    pub(crate) fn predict(
        &self,
        example: &mut Example,
        scratch: &mut Scratch,
        answer: &mut Answer,
    ) -> Result<(), String> {
        if let Some(scaling) = self.scaling() {
            scaling.row(&mut example.features).map_err(display)?;
        }
        match self {
            Self::Numbers(model) => {
                let (learner, x) = (&model.learner, &example.features);
                answer.numbers.resize(learner.outputs(), 0.0);
                match &model.intervals {
                    None => learner.predict_into(x, scratch, &mut answer.numbers),
                    Some(intervals) => {
                        answer.radii.resize(learner.outputs(), 0.0);
                        intervals.predict_into(learner, x, scratch, &mut answer.numbers, &mut answer.radii)
                    }
                }
                .map_err(display)?;
                answer.unscale(model.scaling.as_ref())
            }
            Self::Classes(model) => {
                let Classification { classifier, labels, .. } = &**model;
                classifier.scores_with(&example.features, scratch, &mut answer.scores).map_err(display)?;
                answer.judged.of(classifier, labels, labels.len(), &answer.scores);
                Ok(())
            }
        }
    }

    /// Predicts a row, which it scales, and learns it.
    pub(crate) fn learn(
        &mut self,
        example: &mut Example,
        watch: &mut Watch,
        answer: &mut Answer,
    ) -> Result<(), String> {
        let Example { features, targets, label, weight } = example;
        match self {
            Self::Numbers(model) => {
                let Regression { learner, scaling, progress, intervals, .. } = &mut **model;
                if let Some(scaling) = scaling {
                    scaling.row(features).and_then(|()| scaling.targets(targets)).map_err(display)?;
                }
                answer.numbers.resize(learner.outputs(), 0.0);
                let target = Target::weighted(targets, *weight);
                match intervals {
                    None => learner.learn(features, target, &mut answer.numbers),
                    Some(intervals) => {
                        let Answer { numbers, radii, scratch, .. } = answer;
                        radii.resize(learner.outputs(), 0.0);
                        intervals.learn(learner, features, target, scratch, numbers, radii)
                    }
                }
                .map_err(display)?;
                progress.score.record_weighted(&answer.numbers, targets, *weight);
                if let ([made], [target]) = (&answer.numbers[..], &targets[..]) {
                    watch.record(*made, *target, *weight);
                }
                answer.unscale(scaling.as_ref())
            }
            Self::Classes(model) => {
                let Classification { classifier, labels, scaling, progress, .. } = &mut **model;
                if let Some(scaling) = scaling {
                    scaling.row(features).map_err(display)?;
                }
                let class = class_of(labels, classifier, label)?;
                let judged = &mut answer.judged;
                let learnt = classifier.learn_rows(features, &[class], &[*weight], |_, classifier, scores| {
                    judged.of(classifier, labels, labels.len(), scores);
                });
                learnt.map_err(display)?;
                let probability = judged.scored(class, classifier);
                progress.score.record(class, judged.class, probability, *weight);
                if let Some(confidence) = judged.confidence() {
                    progress.score.record_confidence(confidence, judged.class == Some(class), *weight);
                }
                progress.learnt += 1;
                // What is not learnt does not become a class.
                if *weight != 0.0 {
                    labels.insert(label);
                }
                Ok(())
            }
        }
    }
}

impl Answer {
    /// Turns predictions into the targets' own units, and radii into the ends of intervals.
    fn unscale(&mut self, scaling: Option<&Scaling>) -> Result<(), String> {
        let end = |(number, radius): (&f64, &f64), side: f64| {
            if radius.is_finite() { number + side * radius } else { f64::NAN }
        };
        for (ends, side) in [(&mut self.lower, -1.0), (&mut self.upper, 1.0)] {
            ends.clear();
            ends.extend(self.numbers.iter().zip(&self.radii).map(|pair| end(pair, side)));
        }
        let Some(scaling) = scaling else { return Ok(()) };
        scaling.invert_targets(&mut self.numbers).map_err(display)?;
        if self.radii.is_empty() {
            return Ok(());
        }
        scaling.invert_targets(&mut self.lower).and_then(|()| scaling.invert_targets(&mut self.upper)).map_err(display)
    }
}

fn display(error: impl std::fmt::Display) -> String {
    error.to_string()
}
