//! The models of files as the server asks for them: of examples, or of a series.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::Path;

use mercer_encoding::{Entry, List, Oddity, ScaledTargets, Use};
use mercer_learners::intervals::LearnerIntervals;
use mercer_learners::{RegressorExt, Scratch, TokenRow};
use mercer_readers::{Cell, ColumnChoice, Gaps, Labels};
use mercer_serve::{
    ALARMS, Column, Explain, Explained, Forecast, Model, Prediction, Reason, Row, Schema, Standing, Takes, Value,
};
use mercer_session::explain::{Explanation, Ground, PERMUTATIONS, RowExplainers, SHARED};
use mercer_session::model::{Classes, Model as SavedModel, Task};
use mercer_session::notes::{Face, Watch, of_session};
use mercer_session::{AlarmKind, Row as SessionRow, RowPrediction, Session, WatchChoices};

use super::LimitArguments;
use super::cells::{are_distinct, cell_of};
use super::dynamics::Dynamics;
use super::screened_model::ServeWatch;
use super::series::ServedSeries;
use crate::arguments::dialect::known_gaps;
use crate::data::encoded_rows::targets;
use crate::data::input::sorted_names;
use crate::model::store;
use crate::model::watching::SessionWatch;
use crate::predict::known_place;
use crate::report::failure::Failure;

/// The model in a file, if it can be served; rows that have its columns must fit into a request.
pub(super) fn load(path: &Path, limits: &LimitArguments, watching: ServeWatch) -> Result<Box<dyn Model>, Failure> {
    served(path, store::load(path)?.model, limits, watching)
}

/// The model of these bytes, which are told of as those of a file.
pub(super) fn of_bytes(
    path: &Path,
    bytes: &[u8],
    limits: &LimitArguments,
    watching: ServeWatch,
) -> Result<Box<dyn Model>, Failure> {
    served(path, store::of_bytes(path, bytes)?, limits, watching)
}

fn served(
    path: &Path,
    model: SavedModel,
    limits: &LimitArguments,
    watching: ServeWatch,
) -> Result<Box<dyn Model>, Failure> {
    let rows = matches!(&model, SavedModel::Regression(_) | SavedModel::Classification(_) | SavedModel::Moments(_));
    if watching.watch && !rows {
        return Err(Failure::usage(format!("{}: --watch is for models of rows; leave it out", path.display())));
    }
    let model = match model {
        SavedModel::Prediction(model) => model,
        SavedModel::Operator(model) if model.learner.sums().is_some() => {
            return Ok(Box::new(Dynamics::new(path, *model)?));
        }
        SavedModel::GroupPredictions(_) => {
            return Err(Failure::because(format!(
                "{}: holds many series; mercer forecast --model goes on with them, and a service takes the model of one",
                path.display()
            )));
        }
        other => {
            let model = store::trained(path, other)?;
            let (columns, most) = (model.dimension(), limits.max_body as usize);
            // A value has two bytes at least.
            if model.encoding.is_none() && columns > most / 2 {
                return Err(Failure::because(format!(
                    "{}: has {columns} columns, which do not fit into a request of {most} bytes; raise --max-body",
                    path.display()
                )));
            }
            let model = Examples::new(model, limits.max_classes as usize);
            return Ok(Box::new(if watching.watch { model.watched(path, watching)? } else { model }));
        }
    };
    Ok(Box::new(ServedSeries::new(*model)?))
}

/// A model of examples.
struct Examples {
    model: Session,
    schema: Schema,
    /// Where the columns stand in a record, of a model behind an encoding.
    record: Option<Layout>,
    /// Values that stand for none.
    gaps: Gaps,
    max_classes: usize,
    watch: Watch,
    answer: RowPrediction,
    /// What watches the rows, if they are watched, and its alarms by kind.
    watching: Option<SessionWatch>,
    alarms: [u64; ALARMS.len()],
}

/// The columns of a record.
struct Layout {
    width: usize,
    features: Vec<usize>,
    targets: Vec<usize>,
    weight: Option<usize>,
}

impl Layout {
    /// The places of the columns, the targets and the weight of a row.
    fn places(&self) -> impl Iterator<Item = usize> {
        [&*self.features, &self.targets, self.weight.as_slice()].concat().into_iter()
    }
}

thread_local! {
    static WORK: RefCell<RowPrediction> = RefCell::default();
}

/// The name of the pairs of a sparse row.
const PAIRS: &str = "pairs";

/// The tokens of the pairs of a sparse row.
fn sparse(values: &[Value]) -> Result<TokenRow, Reason> {
    let [Value::List(text)] = values else {
        return Err(format!("{PAIRS:?} is no object of indices and numbers").into());
    };
    let pair = |entry: Entry<'_>| match entry {
        Entry::Number(index, value) => index.parse::<u64>().ok().map(|index| (index.wrapping_sub(1), value)),
        _ => None,
    };
    let pairs: Option<Vec<(u64, f64)>> = List::known(text).entries().map(pair).collect();
    let pairs = pairs.ok_or_else(|| format!("{PAIRS:?} has a name that is no index, or a value that is no number"))?;
    let mut row = TokenRow::default();
    row.fill_sparse(pairs.into_iter());
    Ok(row)
}

/// The columns of a row, where a table has them, and whether they have names.
fn columns_of(model: &Session) -> (Vec<Column>, Option<Layout>, bool) {
    let about = &model.description;
    match &model.encoding {
        Some(encoding) => {
            let schema = encoding.schema();
            let names: Vec<_> = schema.columns().iter().map(|column| column.name.clone()).collect();
            let group = model.groups.as_ref().map(|groups| groups.column);
            let columns = schema.columns().iter().enumerate();
            let used = columns.filter(|(place, column)| column.used != Use::SetAside || Some(*place) == group);
            let (features, columns) = used
                .map(|(place, column)| {
                    let column = Column {
                        name: column.name.clone(),
                        takes: Takes::Any(column.kind.to_string()),
                        about: column.line(schema.rows(), Face::Command).unwrap_or_default(),
                        needed: column.used.is_learnt(),
                        categories: column.categories.iter().take(100).map(|(name, _)| name.clone()).collect(),
                    };
                    (place, column)
                })
                .unzip();
            let layout = Layout {
                width: names.len(),
                features,
                targets: targets(&known_place(about), names.len(), Some(&names)).unwrap_or_default(),
                weight: about.weight.as_ref().and_then(|choice| choice.place(names.len(), Some(&names))),
            };
            (columns, Some(layout), schema.is_named())
        }
        // The rows are those of LIBSVM.
        None if model.dimension() == 0 => {
            let about = "the pairs of a sparse row by index, as LIBSVM has them: {\"17\": 1.5, \"2040\": 1}";
            let takes = Takes::Any("list".to_owned());
            let pairs =
                Column { name: PAIRS.to_owned(), takes, about: about.to_owned(), needed: true, categories: Vec::new() };
            (vec![pairs], None, true)
        }
        None => {
            let number = |at: usize| {
                let name = about.features.get(at).cloned().unwrap_or_else(|| format!("x{}", at + 1));
                Column { name, takes: Takes::Number, about: String::new(), needed: true, categories: Vec::new() }
            };
            let columns: Vec<Column> = (0..model.dimension()).map(number).collect();
            (columns, None, !about.features.is_empty())
        }
    }
}

impl Examples {
    fn new(model: Session, max_classes: usize) -> Self {
        let about = &model.description;
        let outputs = model.outputs();
        let known = match &about.target_names[..] {
            [] => about.target_name.iter().cloned().collect(),
            names => names.to_vec(),
        };
        let target_names = match outputs {
            _ if known.len() == outputs => known,
            1 => vec!["y".to_owned()],
            _ => (1..=outputs).map(|output| format!("y{output}")).collect(),
        };
        let weight = about.weight.as_ref().map(|weight| match weight {
            ColumnChoice::Name(name) => name.clone(),
            _ => "weight".to_owned(),
        });
        let (columns, record, named) = columns_of(&model);
        // Where a name does not say which column is meant, rows are arrays.
        let distinct = are_distinct(columns.iter().map(|column| &column.name).chain(&target_names).chain(&weight));
        let schema = Schema {
            learner: about.learner.clone(),
            details: format!("Kernel {}", about.kernel),
            loss: if model.classes().is_some() { "error rate" } else { "mean squared error" }.to_owned(),
            columns,
            named: named && distinct,
            series: None,
            known: Vec::new(),
            tells_parts: false,
            outputs: target_names.clone(),
            targets: target_names,
            weight,
            classes: model.classes().map(|task| sorted_names(&task.labels)),
            has_probabilities: model.classes().is_some_and(|task| task.classifier.has_probabilities()),
            interval_share: model.intervals().map(LearnerIntervals::coverage),
            has_variance: model.screened().is_some_and(RegressorExt::has_variance),
            explains: Ground::kept(&model, &[]).is_ok(),
            states: Vec::new(),
        };
        let gaps = Gaps::new(&known_gaps(&model.description.own));
        let (watch, answer) = (Watch::default(), RowPrediction::default());
        Self { model, schema, record, gaps, max_classes, watch, answer, watching: None, alarms: Default::default() }
    }

    /// The same with its rows watched, but for their errors.
    fn watched(mut self, path: &Path, watching: ServeWatch) -> Result<Self, Failure> {
        if self.model.outputs() > 1 {
            return Err(Failure::usage(format!(
                "{}: --watch is for models of one target; leave it out",
                path.display()
            )));
        }
        let kinds = vec![AlarmKind::Rows, AlarmKind::Inputs, AlarmKind::Target];
        let rows_to_a_false_alarm = watching.rows_to_an_alarm() / kinds.len() as f64;
        let choices = WatchChoices { rows_to_a_false_alarm, kinds, ..WatchChoices::default() };
        let target = self.record.as_ref().and_then(|layout| layout.targets.first().copied());
        let made = match &self.model.encoding {
            Some(encoding) => SessionWatch::of_table(encoding.schema(), target, choices),
            None => {
                let names: Vec<String> = self.schema.columns.iter().map(|column| column.name.clone()).collect();
                SessionWatch::of_numbers(&names, self.model.dimension(), choices)
            }
        };
        self.watching = Some(made.map_err(|why| Failure::because(format!("{}: {why}", path.display())))?);
        Ok(self)
    }

    /// Has a row that was learnt watched.
    fn watch_row(&mut self, sample: &SessionRow) {
        let Some(watching) = &mut self.watching else { return };
        let target = match &self.model.task {
            Task::Numbers(_) => sample.example.targets.first().copied().unwrap_or(f64::NAN),
            Task::Classes(task) => task.labels.find(&sample.example.label).map_or(f64::NAN, |class| class as f64),
        };
        // The record is as wide as the schema.
        let _ = watching.take(sample, target, &self.answer, &self.model.task);
        for alarm in watching.watcher.take_alarms() {
            if let Some(place) = ALARMS.iter().position(|kind| *kind == alarm.kind.name()) {
                self.alarms[place] += 1;
            }
        }
    }

    /// The row as a file would have it.
    fn sample(&self, row: &Row) -> Result<SessionRow, Reason> {
        let mut sample = SessionRow::default();
        let SessionRow { example, record, .. } = &mut sample;
        example.weight = row.weight;
        match (&row.targets[..], self.model.classes().is_some()) {
            ([value], true) => Labels::canonical_cell(cell_of(value), &mut example.label),
            (targets, _) => example.targets.extend(targets.iter().map(Value::number)),
        }
        match &self.record {
            None if self.model.dimension() == 0 => example.tokens = Some(sparse(&row.values)?),
            None => example.features.extend(row.values.iter().map(Value::number)),
            Some(layout) => {
                let mut cells = vec![Cell::Missing; layout.width];
                let weight = Value::Number(row.weight);
                let learnt = row.targets.iter().chain((!row.targets.is_empty()).then_some(&weight));
                for (place, value) in layout.places().zip(row.values.iter().chain(learnt)) {
                    cells[place] = self.gaps.without(cell_of(value));
                }
                cells.into_iter().for_each(|cell| record.push(cell));
            }
        }
        Ok(sample)
    }

    /// The variances of the targets; none if the model does not tell any.
    fn variances(&self, sample: &SessionRow, scratch: &mut Scratch) -> Result<Vec<f64>, Reason> {
        let Some(learner) = self.model.screened().filter(|_| self.schema.has_variance) else { return Ok(Vec::new()) };
        let m = learner.outputs();
        let (mut scores, mut variances) = (vec![0.0; m], vec![f64::NAN; m]);
        let mut encoded = Vec::new();
        let inputs = match &self.model.encoding {
            None => &sample.example.features,
            Some(encoding) => {
                encoding.encode(&sample.record, &mut encoded)?;
                &encoded
            }
        };
        learner.predict_variance_into(inputs, scratch, &mut scores, &mut variances)?;
        Ok(variances)
    }

    fn told(&self, answer: &RowPrediction, variance: Vec<f64>) -> Prediction {
        let Some(Classes { labels, .. }) = self.model.classes() else {
            let RowPrediction { numbers, lower, upper, .. } = answer;
            return Prediction::Numbers {
                values: numbers.clone(),
                lower: lower.clone(),
                upper: upper.clone(),
                variance,
                anomaly: Vec::new(),
            };
        };
        let judged = &answer.judged;
        let names = labels.names().iter().enumerate();
        let probability =
            |(class, name): (usize, &String)| Some((name.clone(), judged.probability(class, labels.len())?));
        Prediction::Class {
            name: judged.class.and_then(|class| labels.get(class)).map(str::to_owned),
            probabilities: names.filter_map(probability).collect(),
            score: judged.score,
        }
    }
}

impl Model for Examples {
    fn schema(&self) -> Schema {
        self.schema.clone()
    }

    fn standing(&self) -> Standing {
        let standing = self.model.running_score();
        Standing {
            met: self.model.progress.seen().rows,
            fingerprint: self.model.progress.seen().fingerprint,
            rounds: standing.rounds as u64,
            weight: standing.weight,
            loss: standing.loss,
            size: self.model.dictionary_size(),
            implausible: self.model.screened().and_then(ScaledTargets::implausible).map_or(0, |found| found.rows),
            alarms: self.alarms,
        }
    }

    fn predict(&self, row: &Row, variance: bool) -> Result<Prediction, Reason> {
        let mut sample = self.sample(row)?;
        WORK.with_borrow_mut(|answer| {
            self.model.predict(&mut sample, answer)?;
            let variances = if variance { self.variances(&sample, &mut answer.scratch)? } else { Vec::new() };
            Ok(self.told(answer, variances))
        })
    }

    fn odd(&self, row: &Row) -> Vec<(usize, Oddity)> {
        let (Some(encoding), Some(layout)) = (&self.model.encoding, &self.record) else { return Vec::new() };
        let served = |(place, oddity)| Some((layout.features.iter().position(|feature| *feature == place)?, oddity));
        let Ok(sample) = self.sample(row) else { return Vec::new() };
        encoding.transform().oddities(&sample.record).filter_map(served).collect()
    }

    fn screen(&self, rows: &[Row]) -> Result<(), (usize, Reason)> {
        let Some(Classes { labels, .. }) = self.model.classes() else { return Ok(()) };
        let (mut new, mut label) = (BTreeSet::new(), String::new());
        for (at, row) in rows.iter().enumerate() {
            row.targets.iter().for_each(|value| Labels::canonical_cell(cell_of(value), &mut label));
            if labels.find(&label).is_some() || new.contains(&label) {
                continue;
            }
            let known = labels.len() + new.len();
            if known >= self.max_classes {
                let why = format!("there are {known} classes already; start mercer serve with a larger --max-classes");
                return Err((at, why.into()));
            }
            new.insert(label.clone());
        }
        Ok(())
    }

    fn learn(&mut self, row: &Row) -> Result<Prediction, Reason> {
        let mut sample = self.sample(row)?;
        let met = sample.digest(self.model.progress.seen(), self.schema.weight.is_some());
        self.model.learn(&mut sample, &mut self.watch, &mut self.answer)?;
        self.model.progress.meet(met);
        self.watch_row(&sample);
        Ok(self.told(&self.answer, Vec::new()))
    }

    fn remarks(&self) -> Vec<(&'static str, String)> {
        let Self { model, watch, .. } = self;
        of_session(model, watch, Face::Command).into_iter().map(|note| (note.cause.name(), note.text)).collect()
    }

    fn forecast(&self) -> Forecast {
        Box::new(|_| Err("the model is of no series".into()))
    }

    fn explain(&self, rows: &[Row], output: usize) -> Explain {
        let samples = rows.iter().enumerate().map(|(at, row)| self.sample(row).map_err(|why| (at, why)));
        let samples: Result<Vec<SessionRow>, (usize, Reason)> = samples.collect();
        let model = self.model.clone();
        Box::new(move || explained(&model, samples?, output))
    }

    fn to_bytes(&self) -> Result<Vec<u8>, Reason> {
        Ok(self.model.to_bytes()?)
    }
}

/// Why the predictions for rows; an error has the place of its row.
fn explained(model: &Session, mut samples: Vec<SessionRow>, output: usize) -> Result<Vec<Explained>, (usize, Reason)> {
    let ground = Ground::kept(model, &[]).map_err(|why| (0, Reason::from(format!("the model {why}"))))?;
    let mut explainers = RowExplainers::new(model, &ground, PERMUTATIONS, 0).output(output);
    let mut explain = |sample: &mut SessionRow| -> Result<Explained, Reason> {
        let mut answer = RowPrediction::default();
        model.predict(sample, &mut answer)?;
        let made = explainers.explain(sample, &answer)?.ok_or("no class is known yet")?;
        let Explanation { prediction, base, effects, standard_errors, names } = made;
        let names = if names.is_empty() { ground.names() } else { &names };
        let told = names.iter().enumerate().filter(|(j, name)| effects[*j] != 0.0 || *name != SHARED);
        let effects = told.map(|(j, name)| (name.clone(), effects[j], standard_errors.get(j).copied())).collect();
        let class = model.classes().and_then(|task| {
            let later = if task.labels.len() == 2 { task.labels.later(0, 1) } else { answer.judged.class };
            task.labels.get(later?).map(str::to_owned)
        });
        Ok(Explained { prediction, class, base, effects })
    };
    samples.iter_mut().enumerate().map(|(at, sample)| explain(sample).map_err(|why| (at, why))).collect()
}
