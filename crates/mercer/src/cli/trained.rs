//! The model of a file, of numbers or of classes, alone or behind the encoding of a table, as `train` and `predict` use it.

use mercer::encoding::{Encoding, PipelineScratch, ScaledTargets};
use mercer::learners::intervals::{IntervalScale, LearnerIntervals};
use mercer::model::{
    ClassProgress, ClassTable, Classification, Description, ModelError, ModelKind, Progress, Regression, Seen, Table,
};
use mercer::readers::{Example, Labels, Scaling};
use mercer::{AnyKernel, AnyRegressor, ClassScore, Error, Regressor, RegressorExt, Score, Scratch, Target};

use super::classes::{AnyClassifier, Judged, class_of};
use super::encoded::Sample;
use super::notes::Watch;
use super::output::number;
use super::table::Standing;

pub(crate) enum Trained {
    Numbers(Box<Regression>),
    Classes(Box<Classification>),
    Table(Box<Table>),
    ClassTable(Box<ClassTable>),
}

/// The score so far.
pub(crate) enum ScoreSoFar<'a> {
    Numbers(&'a Score),
    /// With the rows that were learnt.
    Classes(u64, &'a ClassScore),
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
    /// The numbers of a record.
    inputs: Vec<f64>,
    scratch: Scratch,
    pipeline: PipelineScratch,
}

impl Trained {
    pub(crate) fn kind(&self) -> ModelKind {
        match self {
            Self::Numbers(_) => ModelKind::Regression,
            Self::Classes(_) => ModelKind::Classification,
            Self::Table(_) => ModelKind::Table,
            Self::ClassTable(_) => ModelKind::ClassTable,
        }
    }

    pub(crate) fn description(&self) -> &Description {
        match self {
            Self::Numbers(model) => &model.description,
            Self::Classes(model) => &model.description,
            Self::Table(model) => &model.description,
            Self::ClassTable(model) => &model.description,
        }
    }

    pub(crate) fn description_mut(&mut self) -> &mut Description {
        match self {
            Self::Numbers(model) => &mut model.description,
            Self::Classes(model) => &mut model.description,
            Self::Table(model) => &mut model.description,
            Self::ClassTable(model) => &mut model.description,
        }
    }

    pub(crate) fn scaling(&self) -> Option<&Scaling> {
        match self {
            Self::Numbers(model) => model.scaling.as_ref(),
            Self::Classes(model) => model.scaling.as_ref(),
            Self::Table(_) | Self::ClassTable(_) => None,
        }
    }

    /// How the columns of a table become numbers.
    pub(crate) fn encoding(&self) -> Option<&Encoding> {
        match self {
            Self::Numbers(_) | Self::Classes(_) => None,
            Self::Table(model) => Some(model.encoding()),
            Self::ClassTable(model) => Some(model.encoding()),
        }
    }

    pub(crate) fn is_class(&self) -> bool {
        matches!(self, Self::Classes(_) | Self::ClassTable(_))
    }

    /// The names of its classes, and their classifier.
    pub(crate) fn classes(&self) -> Option<(&Labels, &AnyClassifier)> {
        match self {
            Self::Numbers(_) | Self::Table(_) => None,
            Self::Classes(model) => Some((&model.labels, &model.classifier)),
            Self::ClassTable(model) => Some((&model.labels, model.pipeline.classifier())),
        }
    }

    /// The intervals of a model of numbers.
    pub(crate) fn intervals(&self) -> Option<&LearnerIntervals> {
        match self {
            Self::Numbers(model) => model.intervals.as_ref(),
            Self::Table(model) => model.intervals.as_ref(),
            Self::Classes(_) | Self::ClassTable(_) => None,
        }
    }

    pub(crate) fn dimension(&self) -> usize {
        match self {
            Self::Numbers(model) => model.learner.dimension(),
            Self::Classes(model) => model.classifier.learner().dimension(),
            Self::Table(model) => model.encoding().dimension(),
            Self::ClassTable(model) => model.encoding().dimension(),
        }
    }

    /// Numbers in a target; 1 for a class.
    pub(crate) fn outputs(&self) -> usize {
        match self {
            Self::Numbers(model) => model.learner.outputs(),
            Self::Table(model) => model.pipeline.learner().outputs(),
            Self::Classes(_) | Self::ClassTable(_) => 1,
        }
    }

    /// The learner of a model of numbers, which may screen its targets.
    pub(crate) fn screened(&self) -> Option<&ScaledTargets<AnyRegressor<AnyKernel>>> {
        match self {
            Self::Numbers(model) => Some(&model.learner),
            Self::Table(model) => Some(model.pipeline.learner()),
            Self::Classes(_) | Self::ClassTable(_) => None,
        }
    }

    /// What is to be told of its intervals.
    pub(crate) fn intervals_told(&self) -> String {
        self.intervals().map_or("none".to_owned(), |intervals| {
            let local = if intervals.scale() == IntervalScale::Error { "" } else { " (local)" };
            format!("{}{local}", number(intervals.conformal.params().coverage))
        })
    }

    pub(crate) fn dictionary_size(&self) -> usize {
        match self {
            Self::Numbers(model) => model.learner.dictionary_size(),
            Self::Classes(model) => model.classifier.learner().dictionary_size(),
            Self::Table(model) => model.pipeline.learner().dictionary_size(),
            Self::ClassTable(model) => model.pipeline.classifier().learner().dictionary_size(),
        }
    }

    pub(crate) fn to_bytes(&self) -> Result<Vec<u8>, ModelError> {
        match self {
            Self::Numbers(model) => model.to_bytes(),
            Self::Classes(model) => model.to_bytes(),
            Self::Table(model) => model.to_bytes(),
            Self::ClassTable(model) => model.to_bytes(),
        }
    }

    /// The rows met.
    pub(crate) fn seen(&self) -> Seen {
        match self {
            Self::Numbers(model) => model.progress.seen(),
            Self::Classes(model) => model.progress.seen(),
            Self::Table(model) => model.progress.seen(),
            Self::ClassTable(model) => model.progress.seen(),
        }
    }

    /// Rows were met.
    pub(crate) fn meet(&mut self, Seen { rows, fingerprint }: Seen) {
        let (met, known) = match self {
            Self::Numbers(model) => (&mut model.progress.rows, &mut model.progress.fingerprint),
            Self::Classes(model) => (&mut model.progress.rows, &mut model.progress.fingerprint),
            Self::Table(model) => (&mut model.progress.rows, &mut model.progress.fingerprint),
            Self::ClassTable(model) => (&mut model.progress.rows, &mut model.progress.fingerprint),
        };
        (*met, *known) = (rows, fingerprint);
    }

    /// The last row was a bad one.
    pub(crate) fn leave_out(&mut self) {
        match self {
            Self::Numbers(model) => model.progress.bad += 1,
            Self::Classes(model) => model.progress.bad += 1,
            Self::Table(model) => model.progress.bad += 1,
            Self::ClassTable(model) => model.progress.bad += 1,
        }
    }

    /// The score of the predictions made before their targets were shown.
    pub(crate) fn score(&self) -> ScoreSoFar<'_> {
        match self {
            Self::Numbers(model) => ScoreSoFar::Numbers(&model.progress.score),
            Self::Table(model) => ScoreSoFar::Numbers(&model.progress.score),
            Self::Classes(model) => ScoreSoFar::Classes(model.progress.learnt, &model.progress.score),
            Self::ClassTable(model) => ScoreSoFar::Classes(model.progress.learnt, &model.progress.score),
        }
    }

    /// How good it has been.
    pub(crate) fn standing(&self) -> Standing {
        match self.score() {
            ScoreSoFar::Numbers(score) => {
                Standing { rounds: score.rounds(), weight: score.weight(), loss: score.cumulative_loss() }
            }
            ScoreSoFar::Classes(learnt, score) => {
                Standing { rounds: learnt as usize, weight: score.weight(), loss: score.mistakes() }
            }
        }
    }

    /// Predicts a row, which it scales or encodes.
    pub(crate) fn predict(
        &self,
        sample: &mut Sample,
        scratch: &mut Scratch,
        answer: &mut Answer,
    ) -> Result<(), String> {
        let Sample { example: Example { features, .. }, record } = sample;
        if let Some(scaling) = self.scaling() {
            scaling.row(features).map_err(display)?;
        }
        match self {
            Self::Numbers(model) => {
                answer.predict(&model.learner, model.intervals.as_ref(), features, scratch).map_err(display)?;
                answer.unscale(model.scaling.as_ref())
            }
            Self::Table(model) => {
                let mut inputs = std::mem::take(&mut answer.inputs);
                inputs.clear();
                let encoded = model.encoding().encode(record, &mut inputs).map_err(display);
                let learner = model.pipeline.learner();
                let made = encoded.and_then(|()| {
                    answer.predict(learner, model.intervals.as_ref(), &inputs, scratch).map_err(display)
                });
                answer.inputs = inputs;
                made.and_then(|()| answer.unscale(None))
            }
            Self::Classes(model) => {
                let Classification { classifier, labels, .. } = &**model;
                classifier.scores_with(features, scratch, &mut answer.scores).map_err(display)?;
                answer.judged.of(classifier, labels, labels.len(), &answer.scores);
                Ok(())
            }
            Self::ClassTable(model) => {
                let ClassTable { pipeline, labels, .. } = &**model;
                pipeline.scores_with(record, &mut answer.pipeline, &mut answer.scores).map_err(display)?;
                answer.judged.of(pipeline.classifier(), labels, labels.len(), &answer.scores);
                Ok(())
            }
        }
    }

    /// Predicts a row, which it scales or encodes, and learns it.
    pub(crate) fn learn(&mut self, sample: &mut Sample, watch: &mut Watch, answer: &mut Answer) -> Result<(), String> {
        let Sample { example: Example { features, targets, label, weight }, record } = sample;
        match self {
            Self::Numbers(model) => {
                let Regression { learner, scaling, progress, intervals, .. } = &mut **model;
                if let Some(scaling) = scaling {
                    scaling.row(features).and_then(|()| scaling.targets(targets)).map_err(display)?;
                }
                let target = Target::weighted(targets, *weight);
                answer.learn(learner, intervals.as_mut(), features, target).map_err(display)?;
                score(progress, watch, (learner.learner(), &answer.numbers), target);
                answer.unscale(scaling.as_ref())
            }
            Self::Table(model) => {
                let Table { pipeline, progress, intervals, .. } = &mut **model;
                let target = Target::weighted(targets, *weight);
                let teach = |learner: &mut _, x: &[f64]| answer.learn(learner, intervals.as_mut(), x, target);
                pipeline.learn_by(record, *weight, teach).map_err(display)?;
                score(progress, watch, (pipeline.learner().learner(), &answer.numbers), target);
                answer.unscale(None)
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
                met(class, label, *weight, judged, (classifier, labels, progress));
                Ok(())
            }
            Self::ClassTable(model) => {
                let ClassTable { pipeline, labels, progress, .. } = &mut **model;
                let class = class_of(labels, pipeline.classifier(), label)?;
                let judged = &mut answer.judged;
                let learnt = pipeline.learn_rows(&[&*record], &[class], &[*weight], |_, classifier, scores| {
                    judged.of(classifier, labels, labels.len(), scores);
                });
                learnt.map_err(display)?;
                met(class, label, *weight, judged, (pipeline.classifier(), labels, progress));
                Ok(())
            }
        }
    }
}

/// Whether a learner predicts nothing before it has seen a row. As in `eval`, its first row is then no part of its score.
fn is_autonomous(learner: &AnyRegressor<AnyKernel>) -> bool {
    matches!(learner, AnyRegressor::Auto(_))
}

/// Scores predictions that a learner made before the target was shown.
fn score(
    progress: &mut Progress,
    watch: &mut Watch,
    (learner, made): (&AnyRegressor<AnyKernel>, &[f64]),
    target: Target<'_>,
) {
    let unscored = progress.score.rounds() == 0 && is_autonomous(learner);
    progress.score.record_weighted(made, target.y, if unscored { 0.0 } else { target.weight });
    if let ([made], [y]) = (made, target.y) {
        watch.record(*made, *y, target.weight);
    }
}

/// Scores a class that was judged before it was shown, and takes it among those that were met.
fn met(
    class: usize,
    label: &str,
    weight: f64,
    judged: &Judged,
    (classifier, labels, progress): (&AnyClassifier, &mut Labels, &mut ClassProgress),
) {
    if progress.learnt > 0 || !is_autonomous(classifier.learner()) {
        let probability = judged.scored(class, classifier);
        progress.score.record(class, judged.class, probability, weight);
        if let Some(confidence) = judged.confidence() {
            progress.score.record_confidence(confidence, judged.class == Some(class), weight);
        }
    }
    progress.learnt += 1;
    // What is not learnt does not become a class.
    if weight != 0.0 {
        labels.insert(label);
    }
}

impl Answer {
    /// Predicts numbers, with the radii of their intervals.
    fn predict(
        &mut self,
        learner: &impl Regressor,
        intervals: Option<&LearnerIntervals>,
        x: &[f64],
        scratch: &mut Scratch,
    ) -> Result<(), Error> {
        self.numbers.resize(learner.outputs(), 0.0);
        match intervals {
            None => learner.predict_into(x, scratch, &mut self.numbers),
            Some(intervals) => {
                self.radii.resize(learner.outputs(), 0.0);
                intervals.predict_into(learner, x, scratch, &mut self.numbers, &mut self.radii)
            }
        }
    }

    /// The same, and has the target learnt.
    fn learn(
        &mut self,
        learner: &mut impl Regressor,
        intervals: Option<&mut LearnerIntervals>,
        x: &[f64],
        target: Target<'_>,
    ) -> Result<(), Error> {
        self.numbers.resize(learner.outputs(), 0.0);
        match intervals {
            None => learner.learn(x, target, &mut self.numbers),
            Some(intervals) => {
                let Self { numbers, radii, scratch, .. } = self;
                radii.resize(learner.outputs(), 0.0);
                intervals.learn(learner, x, target, scratch, numbers, radii)
            }
        }
    }

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
