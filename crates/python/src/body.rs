//! The model behind a table: how it is made, and how it learns a row.

use mercer::catalogue::Built;
use mercer::encoding::{Cells, Encoding, EncodingError, EncodingOptions, Kind, Overrides, ScaledTargets, Schema};
use mercer::experts::Outliers;
use mercer::model::{Classes, Classification, Description, Numbers, Regression, Tabular};
use mercer::readers::Labels;
use mercer::{Error, Loss, Regressor, RegressorExt, Scratch, Target};
use pyo3::prelude::*;

use crate::cells::PythonRow;
use crate::errors;
use crate::making::{DataFacts, Extras, LearnerSpec, intervals};
use crate::notes::Notes;
use crate::steps::no_intervals;

/// Memory of a step that is used again.
#[derive(Default)]
pub(crate) struct BodyMemory {
    pub(crate) scores: Vec<f64>,
    pub(crate) radii: Vec<f64>,
    pub(crate) scratch: Scratch,
    pub(crate) inputs: Vec<f64>,
}

impl BodyMemory {
    /// For so many rows to come.
    pub(crate) fn for_rows(rows: usize) -> Self {
        Self { scratch: Scratch::for_inputs(rows), ..Self::default() }
    }
}

/// A model of numbers or of classes.
pub(crate) enum ModelBody {
    Numbers(Box<Regression>),
    Classes(Box<Classification>),
}

impl ModelBody {
    pub(crate) fn description(&self) -> &Description {
        match self {
            Self::Numbers(model) => &model.description,
            Self::Classes(model) => &model.description,
        }
    }

    /// The bytes of a file, of a class table with these labels.
    pub(crate) fn file(&mut self, labels: Labels) -> PyResult<Vec<u8>> {
        let bytes = match self {
            Self::Numbers(model) => model.to_bytes(),
            Self::Classes(model) => {
                model.task.labels = labels;
                model.to_bytes()
            }
        };
        bytes.map_err(errors::model)
    }

    pub(crate) fn description_mut(&mut self) -> &mut Description {
        match self {
            Self::Numbers(model) => &mut model.description,
            Self::Classes(model) => &mut model.description,
        }
    }

    pub(crate) fn encoding(&self) -> PyResult<&Encoding> {
        let encoding = match self {
            Self::Numbers(model) => &model.encoding,
            Self::Classes(model) => &model.encoding,
        };
        encoding.as_ref().ok_or_else(errors::wrong_kind)
    }

    /// Columns appear late; in the rows learnt so far their numbers count as 0.
    pub(crate) fn add_columns(&mut self, columns: Vec<(&str, Kind)>) -> PyResult<Result<(), EncodingError>> {
        let mut encoding = self.encoding()?.clone();
        let before = encoding.dimension();
        if let Err(error) = columns.into_iter().try_for_each(|(name, kind)| encoding.add_column(name, kind).map(drop)) {
            return Ok(Err(error));
        }
        let added = encoding.dimension() - before;
        let (grown, place) = match self {
            Self::Numbers(model) => (model.task.learner.grow(added), &mut model.encoding),
            Self::Classes(model) => (model.task.classifier.grow(added), &mut model.encoding),
        };
        if let Err(error) = grown.or_else(|error| if added == 0 { Ok(()) } else { Err(error) }) {
            return Ok(Err(error.into()));
        }
        *place = Some(encoding);
        Ok(Ok(()))
    }

    /// The scores of a record.
    pub(crate) fn predict(&self, record: &impl Cells, work: &mut BodyMemory) -> PyResult<()> {
        let BodyMemory { scores, scratch, inputs, .. } = work;
        inputs.clear();
        self.encoding()?.encode(record, inputs).map_err(errors::encoding)?;
        match self {
            Self::Numbers(model) => {
                scores.resize(model.outputs(), 0.0);
                model.task.learner.predict_into(inputs, scratch, scores)
            }
            Self::Classes(model) => model.task.classifier.scores_with(inputs, scratch, scores),
        }
        .map_err(errors::learner)
    }

    /// The prediction of a record, and the radii of the intervals around it.
    pub(crate) fn predict_around(&self, record: &impl Cells, work: &mut BodyMemory) -> PyResult<()> {
        let BodyMemory { scores, radii, scratch, inputs } = work;
        let Self::Numbers(model) = self else { return Err(errors::wrong_kind()) };
        let Numbers { learner, intervals, .. } = &model.task;
        inputs.clear();
        self.encoding()?.encode(record, inputs).map_err(errors::encoding)?;
        scores.resize(learner.outputs(), 0.0);
        radii.resize(learner.outputs(), 0.0);
        let intervals = intervals.as_ref().ok_or_else(no_intervals)?;
        intervals.predict_into(learner, inputs, scratch, scores, radii).map_err(errors::learner)
    }
}

/// The encoding of a table with this head, some of whose columns are of a kind that is told, and
/// where others may be `means` of the target; without columns one of the kinds alone.
pub(crate) fn encoding_of(
    names: &[String],
    head: &[PythonRow<'_>],
    (kinds, means): (Vec<(String, String)>, bool),
    scale: &str,
) -> PyResult<Encoding> {
    let options = EncodingOptions::default().scale(scale.parse().map_err(errors::encoding)?);
    let parsed = |(name, kind): (String, String)| kind.parse::<Kind>().map(|kind| (name, kind));
    let kinds: Vec<_> = kinds.into_iter().map(parsed).collect::<Result<_, _>>().map_err(errors::encoding)?;
    let encoding = if names.is_empty() {
        Encoding::of_kinds(kinds, options)
    } else {
        let overrides = kinds.into_iter().fold(Overrides::default(), |all, (name, kind)| all.kind(name, kind));
        Schema::of(names, head, &overrides).and_then(|mut schema| {
            if means {
                schema.take_means(&overrides, options.categories);
            }
            let mut encoding = Encoding::new(schema, options)?;
            encoding.learn_head(head)?;
            Ok(encoding)
        })
    };
    encoding.map_err(errors::encoding)
}

/// What a model is made of.
pub(crate) struct ModelPlan {
    pub(crate) spec: LearnerSpec,
    pub(crate) extras: Extras,
    pub(crate) outputs: usize,
    /// Whether targets are scaled, too.
    pub(crate) scaled: bool,
    pub(crate) outliers: Outliers,
    pub(crate) rounds: Option<usize>,
}

impl ModelPlan {
    /// An untrained model behind an encoding: of numbers, or of classes, of which two may be
    /// settled. The first encoded rows with their weights are for the width of the kernel.
    pub(crate) fn make(
        &self,
        encoding: Encoding,
        two: Option<bool>,
        rows: &[f64],
        weights: &[f64],
    ) -> PyResult<ModelBody> {
        let Self { spec, extras: Extras(coverage, local, calibrated), outputs, scaled, outliers, rounds } = self;
        let (dimension, classes) = (encoding.dimension(), two.is_some());
        let known = DataFacts { dimension, outputs: *outputs, classes, rounds: *rounds, rows, weights };
        let kernel = spec.kernel(&known)?;
        let Some(two) = two else {
            let Built { learner, parameters } = spec.build(&kernel, &known, None)?;
            let intervals = intervals(&learner, *coverage, *local)?;
            let learner = if learner.loss() == Loss::SQUARED && *scaled {
                ScaledTargets::new(learner).map_err(errors::encoding)?
            } else {
                ScaledTargets::unscaled(learner)
            };
            let task = Numbers { intervals, ..Numbers::new(learner.screening(*outliers)) };
            let description = spec.describe(&kernel, &parameters);
            let encoding = Some(encoding);
            return Ok(ModelBody::Numbers(Box::new(Tabular { description, encoding, ..Tabular::plain(task) })));
        };
        let (classifier, parameters) = spec.classifier(&kernel, &known, two, *calibrated)?;
        let (description, encoding) = (spec.describe(&kernel, &parameters), Some(encoding));
        let task = Classes::new(classifier, Labels::new());
        Ok(ModelBody::Classes(Box::new(Tabular { description, encoding, ..Tabular::plain(task) })))
    }
}

/// The numbers of a record; then `teach` teaches them, and the encoding learns the record unless
/// its weight is 0.
fn encoded<T>(
    encoding: Option<&mut Encoding>,
    inputs: &mut Vec<f64>,
    (record, weight, target): (&impl Cells, f64, Option<f64>),
    teach: impl FnOnce(&[f64]) -> Result<T, Error>,
) -> PyResult<T> {
    let encoding = encoding.ok_or_else(errors::wrong_kind)?;
    inputs.clear();
    encoding.encode(record, inputs).map_err(errors::encoding)?;
    let taught = teach(inputs).map_err(errors::learner)?;
    if weight != 0.0 {
        encoding.learn_with(record, target).map_err(errors::encoding)?;
    }
    Ok(taught)
}

/// Learns a row, which is number `row` of its batch, and leaves its prediction in the memory.
pub(crate) fn teach(
    model: &mut Regression,
    notes: &mut Notes,
    record: &impl Cells,
    row: usize,
    target: Target<'_>,
    work: &mut BodyMemory,
) -> PyResult<()> {
    let Tabular { encoding, progress, task: Numbers { learner, intervals, score }, .. } = model;
    let BodyMemory { scores, radii, scratch, inputs } = work;
    scores.resize(learner.outputs(), 0.0);
    radii.resize(learner.outputs(), 0.0);
    encoded(encoding.as_mut(), inputs, (record, target.weight, target.y.first().copied()), |x| {
        match intervals.as_mut() {
            None => learner.learn(x, target, scores),
            Some(intervals) => intervals.learn(learner, x, target, scratch, scores, radii),
        }
    })?;
    encoding.iter().for_each(|encoding| notes.look(row, encoding, record));
    notes.screened(learner);
    score.record_weighted(scores, target.y, target.weight);
    notes.watch.record(inputs, scores, target.y, target.weight, learner.dictionary_size());
    progress.rows += 1;
    notes.judge(model);
    Ok(())
}

/// The same for a row of a class with a weight; the answer is the class that was predicted.
pub(crate) fn teach_class(
    model: &mut Classification,
    notes: &mut Notes,
    record: &impl Cells,
    row: usize,
    (class, weight): (usize, f64),
    work: &mut BodyMemory,
) -> PyResult<Option<usize>> {
    let Tabular { encoding, progress, task: Classes { classifier, learnt, score, .. }, .. } = model;
    // Of classes the mean is the share of the first.
    let taken = (record, weight, Some(f64::from(class == 0)));
    let predicted = encoded(encoding.as_mut(), &mut work.inputs, taken, |x| classifier.learn(x, class, weight))?;
    encoding.iter().for_each(|encoding| notes.look(row, encoding, record));
    progress.rows += 1;
    *learnt += 1;
    score.record(class, predicted, None, weight);
    notes.judge_classes(model);
    Ok(predicted)
}

/// The classes that a model takes at most, if there is a limit.
pub(crate) fn most(model: &Classification) -> Option<usize> {
    let classifier = &model.task.classifier;
    (!classifier.is_open()).then(|| classifier.classes())
}
