//! How a learner takes examples, one by one and in batches.

use std::sync::atomic::{AtomicUsize, Ordering};

use mercer::model::{Tabular, Task, Taught as _};
use mercer::session::classes::ClassPrediction;
use mercer::session::{Lesson, Session, StepError};
use mercer::{Regressor as _, RegressorExt as _, Rows, Target, Targets};
use pyo3::prelude::*;

use super::LearnerCore;
use crate::batch::Block;
use crate::body::{budget, most, width};
use crate::errors;
use crate::front::{Front, read_targets};
use crate::making::DataFacts;
use crate::names::{Row, number, sequence};
use crate::rows::{EarlyEnd, check_width, in_pieces_of, piece, prompt};
use crate::steps::learn_block;

impl LearnerCore {
    /// Reads a target into `front.y`. Gives the names of its numbers when they first come by name.
    fn read_target(front: &mut Front, y: &Bound<'_, PyAny>) -> PyResult<Vec<Py<PyAny>>> {
        front.y.clear();
        match number(y) {
            Ok(y) => front.y.push(y),
            Err(error) => match Row::new(y) {
                Ok(Row::Keyed(dict)) => return read_targets(front, &dict),
                _ => sequence(y, &mut front.y).map_err(|_| error)?,
            },
        }
        Ok(Vec::new())
    }

    /// Learns one example; the answer is what there is to be said of it.
    pub(super) fn learn_step(
        slf: &Bound<'_, Self>,
        x: &Bound<'_, PyAny>,
        y: &Bound<'_, PyAny>,
        w: f64,
    ) -> PyResult<Vec<String>> {
        let (py, core, classes) = (slf.py(), &slf.get().core, slf.get().of_classes);
        let mut front = core.front(py);
        let front = &mut *front;
        let (mut names, mut class) = (Vec::new(), 0);
        if classes {
            class = front.classes.class(y, core.look(py, most).unwrap_or(None))?;
        } else {
            names = Self::read_target(front, y)?;
        }
        let outputs = if classes { 1 } else { front.y.len() };
        let make =
            |dimension| Self::make(slf, &DataFacts { dimension, outputs, classes, ..DataFacts::default() }, false);
        let fresh = core.read_to_learn(front, x, make)?;
        let learnt = match core.model.write(py).as_mut() {
            None => Err(errors::not_learnt()),
            Some(model) => Self::learn_read(model, front, y, class, w),
        };
        if learnt.is_err() && fresh {
            // A first example that is refused settles nothing.
            core.forget(py, front);
        }
        learnt?;
        if !names.is_empty() {
            front.targets = names;
        }
        Ok(front.notes.take())
    }

    /// Learns the example that was read, with its target in `front.y` or as one of a class.
    fn learn_read(model: &mut Session, front: &mut Front, y: &Bound<'_, PyAny>, class: usize, w: f64) -> PyResult<()> {
        let of_numbers = model.numbers().is_some();
        let known = front.classes.len();
        let lesson = if of_numbers {
            Lesson::Numbers(Target::weighted(&front.y, w))
        } else {
            Lesson::Class { class, known, weight: w }
        };
        let learnt = model.task.learn(&front.inputs[..], lesson, &mut front.notes.watch, &mut front.work);
        learnt.map_err(|error| match error {
            StepError::Learner(error) => front.names.refusal(error),
            other => errors::step(other),
        })?;
        if of_numbers {
            front.notes.hear(&front.y, front.y.len());
        } else if class == known && w != 0.0 {
            front.classes.append(y)?;
        }
        if w != 0.0 {
            model.background.take(&front.inputs);
        }
        model.progress.rows += 1;
        front.notes.judge(model);
        Ok(())
    }

    /// Learns rows of numbers; the answer is their predictions in the units of the learner.
    pub(super) fn learn_all(
        &self,
        py: Python<'_>,
        block: &Block<'_>,
        targets: Targets<'_>,
        ys: &[f64],
        weights: &[f64],
    ) -> PyResult<Vec<f64>> {
        let (rows, outputs) = (targets.len(), ys.len() / targets.len().max(1));
        let (inputs, dimension) = (block.numbers(), block.dimension);
        let all = Rows::new(inputs, dimension, targets).and_then(|all| all.with_tokens(block.tokens()));
        let all = all.map_err(errors::learner)?;
        let mut made = Vec::with_capacity(ys.len());
        let (points, cost) = self.core.look(py, |model| (model.dictionary_size(), budget(model)))?;
        let size = AtomicUsize::new(points);
        let sums = &mut made;
        let learnt = in_pieces_of(
            py,
            rows,
            |range| {
                let mut model = self.core.model.write_detached();
                let Some(Tabular { progress, background, task: Task::Numbers(task), .. }) = model.as_mut() else {
                    return Err(errors::not_learnt().into());
                };
                check_width(task.learner.dimension(), dimension)?;
                let learnt = learn_block(task, (progress, background), all.range(range.start, range.end), sums);
                size.store(task.learner.dictionary_size(), Ordering::Relaxed);
                learnt.map_err(|error| EarlyEnd::Row(sums.len() / outputs.max(1), error))
            },
            || piece(size.load(Ordering::Relaxed)).min(prompt(cost)),
        );
        let mut front = self.core.front(py);
        learnt.map_err(|refused| refused.named(&front.names))?;
        front.notes.hear(ys, outputs);
        let (points, made_rows) = (size.into_inner(), made.chunks_exact(outputs.max(1)));
        for (row, (scores, y)) in made_rows.zip(ys.chunks_exact(outputs.max(1))).enumerate() {
            let weight = weights.get(row).copied().unwrap_or(1.0);
            front.notes.watch.record(&inputs[row * dimension..][..dimension], scores, y, weight, points);
        }
        self.core.look(py, |body| front.notes.judge(body))?;
        Ok(made)
    }

    /// Learns rows of classes, row `i` of label `labels[codes[i]]`. It gives the predictions.
    pub(super) fn learn_labels(
        &self,
        py: Python<'_>,
        rows_of: &Block<'_>,
        labels: &[Bound<'_, PyAny>],
        codes: &[i64],
        weights: &[f64],
    ) -> PyResult<Vec<Option<usize>>> {
        let Block { rows, dimension, .. } = *rows_of;
        if codes.len() != rows || !(weights.is_empty() || weights.len() == rows) {
            return Err(errors::data(format!("{rows} rows, {} targets and {} weights", codes.len(), weights.len())));
        }
        let (most, cost) = self.core.look(py, |model| (most(model), budget(model)))?;
        let mut front = self.core.front(py);
        let mut known = front.classes.len();
        let met = front.classes.meet(labels, codes, weights, most);
        drop(front);
        let (mut predicted, mut judged) = (Vec::with_capacity(rows), ClassPrediction::default());
        let size = AtomicUsize::new(0);
        let made = &mut predicted;
        let learnt = met.map_err(EarlyEnd::from).and_then(|met| {
            in_pieces_of(
                py,
                rows,
                |range| {
                    let mut model = self.core.model.write_detached();
                    let Some(Tabular { progress, background, task: Task::Classes(task), .. }) = model.as_mut() else {
                        return Err(errors::not_learnt().into());
                    };
                    check_width(task.learner().dimension(), dimension)?;
                    let weight = weights.get(range.clone()).unwrap_or_default();
                    let block = rows_of.inputs().range(range.start, range.end, dimension);
                    let first = range.start;
                    let learnt = task.learn_rows(block, (&met[range], known), weight, &mut judged, |judged, _| {
                        let row = made.len();
                        let weighs = weight.get(row - first).is_none_or(|weight| *weight != 0.0);
                        known += usize::from(met[row] == known && weighs);
                        if weighs {
                            background.take(rows_of.input(row).numbers);
                        }
                        progress.rows += 1;
                        made.push(judged.class);
                    });
                    size.store(task.learner().dictionary_size(), Ordering::Relaxed);
                    learnt.map_err(|error| EarlyEnd::Row(made.len(), error))
                },
                || piece(size.load(Ordering::Relaxed)).min(prompt(cost)),
            )
        });
        let classes = self.core.look(py, width)?;
        let mut front = self.core.front(py);
        if let Err(refused) = learnt {
            // Labels whose first example was not reached are no classes.
            front.classes.truncate(py, classes)?;
            return Err(refused.named(&front.names));
        }
        self.core.look(py, |body| front.notes.judge(body))?;
        Ok(predicted)
    }
}
