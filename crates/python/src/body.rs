//! The model behind a table: how it is made, and how it learns a row.

use mercer::catalogue::Built;
use mercer::encoding::{
    Cells, ClassPipeline, Encoding, EncodingError, EncodingOptions, Kind, Overrides, Pipeline, PipelineScratch,
    ScaledTargets,
};
use mercer::experts::Outliers;
use mercer::model::{ClassProgress, ClassTable, Description, Progress, Table};
use mercer::readers::Labels;
use mercer::{AnyKernel, AnyRegressor, Loss, RegressorExt, Scratch, Target};
use pyo3::prelude::*;

use crate::cells::Row;
use crate::errors;
use crate::making::{Extras, Known, Spec, intervals};
use crate::notes::Notes;

/// Memory of a step that is used again.
#[derive(Default)]
pub(crate) struct Work {
    pub(crate) scores: Vec<f64>,
    pub(crate) radii: Vec<f64>,
    pub(crate) scratch: Scratch,
    pub(crate) pipeline: PipelineScratch,
}

/// The learner behind an encoding.
type Inner = ScaledTargets<AnyRegressor<AnyKernel>>;

/// A model of numbers or of classes.
pub(crate) enum Body {
    Numbers(Box<Table>),
    Classes(Box<ClassTable>),
}

impl Body {
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
                model.labels = labels;
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

    pub(crate) fn encoding(&self) -> &Encoding {
        match self {
            Self::Numbers(model) => model.encoding(),
            Self::Classes(model) => model.encoding(),
        }
    }
}

/// The encoding of a table with this head, some of whose columns are of a kind that is told; without columns one of
/// the kinds alone.
pub(crate) fn encoding_of(
    names: &[String],
    head: &[Row<'_>],
    kinds: Vec<(String, String)>,
    scale: &str,
) -> PyResult<Encoding> {
    let options = EncodingOptions::default().scale(scale.parse().map_err(errors::encoding)?);
    let parsed = |(name, kind): (String, String)| kind.parse::<Kind>().map(|kind| (name, kind));
    let kinds: Vec<_> = kinds.into_iter().map(parsed).collect::<Result<_, _>>().map_err(errors::encoding)?;
    let encoding = if names.is_empty() {
        Encoding::of_kinds(kinds, options)
    } else {
        let overrides = kinds.into_iter().fold(Overrides::default(), |all, (name, kind)| all.kind(name, kind));
        Encoding::look(names, head, &overrides, options)
    };
    encoding.map_err(errors::encoding)
}

/// What a model is made of.
pub(crate) struct Plan {
    pub(crate) spec: Spec,
    pub(crate) extras: Extras,
    pub(crate) outputs: usize,
    /// Whether targets are scaled, too.
    pub(crate) scaled: bool,
    pub(crate) outliers: Outliers,
    pub(crate) rounds: Option<usize>,
}

impl Plan {
    /// An untrained model behind an encoding: of numbers, or of classes, of which two may be settled. The first encoded
    /// rows with their weights are for the width of the kernel.
    pub(crate) fn make(&self, encoding: Encoding, two: Option<bool>, rows: &[f64], weights: &[f64]) -> PyResult<Body> {
        let Self { spec, extras: Extras(coverage, local, calibrated), outputs, scaled, outliers, rounds } = self;
        let (dimension, classes) = (encoding.dimension(), two.is_some());
        let known = Known { dimension, outputs: *outputs, classes, rounds: *rounds, rows, weights };
        let kernel = spec.kernel(&known)?;
        let Some(two) = two else {
            let Built { learner, parameters } = spec.build(&kernel, &known, None)?;
            let intervals = intervals(&learner, *coverage, *local)?;
            let learner = if learner.loss() == Loss::SQUARED && *scaled {
                ScaledTargets::new(learner).map_err(errors::encoding)?
            } else {
                ScaledTargets::unscaled(learner)
            };
            let learner = learner.screening(*outliers);
            return Ok(Body::Numbers(Box::new(Table {
                description: spec.describe(&kernel, &parameters),
                progress: Progress::default(),
                intervals,
                pipeline: Pipeline::new(encoding, learner).map_err(errors::encoding)?,
            })));
        };
        let (classifier, parameters) = spec.classifier(&kernel, &known, two, *calibrated)?;
        Ok(Body::Classes(Box::new(ClassTable {
            description: spec.describe(&kernel, &parameters),
            labels: Labels::new(),
            progress: ClassProgress::default(),
            pipeline: ClassPipeline::new(encoding, classifier).map_err(errors::encoding)?,
        })))
    }
}

/// Learns a row, which is number `row` of its batch, and leaves its prediction in the memory.
pub(crate) fn teach(
    model: &mut Table,
    notes: &mut Notes,
    record: &impl Cells,
    row: usize,
    target: Target<'_>,
    work: &mut Work,
) -> Result<(), EncodingError> {
    let Table { pipeline, progress, intervals, .. } = model;
    let Work { scores, radii, scratch, .. } = work;
    let outputs = pipeline.learner().outputs();
    scores.resize(outputs, 0.0);
    radii.resize(outputs, 0.0);
    let step = |learner: &mut Inner, x: &[f64]| match intervals.as_mut() {
        None => learner.learn(x, target, scores),
        Some(intervals) => intervals.learn(learner, x, target, scratch, scores, radii),
    };
    pipeline.learn_by(record, target.weight, step)?;
    notes.look(row, pipeline.encoding(), record);
    notes.screened(pipeline.learner());
    progress.score.record_weighted(scores, target.y, target.weight);
    notes.compare(scores, target.y, target.weight);
    progress.rows += 1;
    Ok(())
}

/// The same for a row of a class with a weight; the answer is the class that was predicted.
pub(crate) fn teach_class(
    model: &mut ClassTable,
    notes: &mut Notes,
    record: &impl Cells,
    row: usize,
    (class, weight): (usize, f64),
) -> Result<Option<usize>, EncodingError> {
    let predicted = model.pipeline.learn(record, class, weight)?;
    notes.look(row, model.pipeline.encoding(), record);
    notes.compare_class(class, predicted, weight);
    model.progress.rows += 1;
    model.progress.learnt += 1;
    model.progress.score.record(class, predicted, None, weight);
    Ok(predicted)
}

/// The classes that a model takes at most, if there is a limit.
pub(crate) fn most(model: &ClassTable) -> Option<usize> {
    let classifier = model.pipeline.classifier();
    (!classifier.is_open()).then(|| classifier.classes())
}
