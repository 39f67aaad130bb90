//! Cells that are written for a row: the columns of predictions.

use mercer_readers::Labels;

use crate::arguments::task::Kind;
use crate::model::classes::quoted;
use crate::report::failure::Failure;

/// Content of a cell of a row.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum AnswerCell {
    /// The target of that output.
    Target(usize),
    /// The prediction of that output.
    Prediction(usize),
    Score,
    Size,
    Loss,
    /// The variance of that output's target as it was expected, and the ends of its interval.
    Variance(usize),
    Lower(usize),
    Upper(usize),
    /// The probability of the class of that name.
    Probability(String),
    /// The prediction where no column is known.
    Base,
    /// A part of the effect with that rank, from 0.
    Effect(usize, EffectPart),
    /// The sum of the effects without a rank.
    OtherEffects,
}

/// What is told of an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EffectPart {
    /// The name of the column.
    Column,
    Size,
    /// Its standard error.
    Error,
}

/// A value that a cell holds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum AnswerValue<'a> {
    Number(f64),
    Name(&'a str),
}

/// The cells behind `t`, with the names of their columns.
pub(crate) struct AnswerCells(Vec<(String, AnswerCell)>);

/// Columns that a row can fill.
pub(crate) struct Offer<'a> {
    pub(crate) kind: Kind,
    /// The names of the targets, if there are names.
    pub(crate) targets: &'a [String],
    /// The classes that have columns.
    pub(crate) classes: &'a [String],
    pub(crate) has_probabilities: bool,
    pub(crate) has_variance: bool,
    pub(crate) has_intervals: bool,
}

impl Offer<'_> {
    fn named(&self, what: &str, output: usize) -> String {
        let number = (output + 1).to_string();
        format!("{what}_{}", self.targets.get(output).unwrap_or(&number))
    }

    fn targets(&self) -> Vec<(String, AnswerCell)> {
        self.each("target", AnswerCell::Target)
    }

    /// A column of that name, or `NAME_TARGET` for each of several targets.
    fn each(&self, name: &str, cell: impl Fn(usize) -> AnswerCell) -> Vec<(String, AnswerCell)> {
        match self.kind.outputs() {
            1 => vec![(name.to_owned(), cell(0))],
            outputs => (0..outputs).map(|output| (self.named(name, output), cell(output))).collect(),
        }
    }

    fn predictions(&self) -> Vec<(String, AnswerCell)> {
        self.each("prediction", AnswerCell::Prediction)
    }
}

impl AnswerCells {
    /// All that is predicted.
    pub(crate) fn predicted(offer: &Offer<'_>) -> Self {
        let mut cells = offer.predictions();
        if offer.has_intervals {
            let (lower, upper) = (offer.each("lower", AnswerCell::Lower), offer.each("upper", AnswerCell::Upper));
            cells.extend(lower.into_iter().zip(upper).flat_map(|(lower, upper)| [lower, upper]));
        }
        if offer.has_probabilities {
            let probability = |class: &String| (format!("p_{class}"), AnswerCell::Probability(class.clone()));
            cells.extend(offer.classes.iter().map(probability));
        }
        if offer.kind.is_class() && offer.classes.len() == 2 {
            cells.push(("score".to_owned(), AnswerCell::Score));
        }
        Self(cells)
    }

    /// Adds the strongest effects on the prediction, with standard errors if they are sampled.
    pub(crate) fn explain(&mut self, top: usize, sampled: bool) {
        self.0.push(("base".to_owned(), AnswerCell::Base));
        let parts =
            [("column", EffectPart::Column), ("effect", EffectPart::Size), ("standard_error", EffectPart::Error)];
        for rank in 0..top {
            let told = parts.iter().take(if sampled { 3 } else { 2 });
            self.0.extend(told.map(|(name, part)| (format!("{name}_{}", rank + 1), AnswerCell::Effect(rank, *part))));
        }
        self.0.push(("other_effects".to_owned(), AnswerCell::OtherEffects));
    }

    /// The targets and the columns of `columns`, or all that is predicted if it is empty.
    pub(crate) fn plan(columns: &[String], offer: &Offer<'_>) -> Result<Self, Failure> {
        let mut cells = offer.targets();
        if columns.is_empty() {
            cells.extend(Self::predicted(offer).0);
            return Ok(Self(cells));
        }
        for column in columns {
            let cell = match (column.as_str(), column.strip_prefix("p_")) {
                ("prediction", _) => {
                    cells.extend(offer.predictions());
                    continue;
                }
                ("variance" | "lower" | "upper", _) if offer.kind.is_class() => {
                    return Err(Failure::usage(format!(
                        "--columns: {column} is for numbers, and the target is a class; leave it out, or say --task regression"
                    )));
                }
                ("variance", _) if !offer.has_variance => {
                    return Err(Failure::usage(
                        "--columns: this learner tells no variance; leave it out, or take a least-squares learner such as krls",
                    ));
                }
                ("variance", _) => {
                    cells.extend(offer.each("variance", AnswerCell::Variance));
                    continue;
                }
                ("lower", _) => {
                    cells.extend(offer.each("lower", AnswerCell::Lower));
                    continue;
                }
                ("upper", _) => {
                    cells.extend(offer.each("upper", AnswerCell::Upper));
                    continue;
                }
                ("score", _) if offer.kind.is_class() => AnswerCell::Score,
                ("size", _) => AnswerCell::Size,
                ("loss", _) => AnswerCell::Loss,
                (_, Some(class)) if offer.kind.is_class() && offer.has_probabilities => {
                    let mut name = String::new();
                    Labels::canonical(class, &mut name);
                    AnswerCell::Probability(name)
                }
                (_, Some(_)) if offer.kind.is_class() => {
                    return Err(Failure::usage(format!(
                        "--columns: {column} is a probability, and this learner's loss has none; leave it out, or take score"
                    )));
                }
                ("score", _) | (_, Some(_)) => {
                    return Err(Failure::usage(format!(
                        "--columns: {column} is for classes, and the target is a number; leave it out, or say --task class"
                    )));
                }
                _ => return Err(unknown(column)),
            };
            cells.push((column.clone(), cell));
        }
        Ok(Self(cells))
    }

    /// The names of the columns, as CSV has them.
    pub(crate) fn header(&self) -> String {
        let names: Vec<String> = self.0.iter().map(|(name, _)| quoted(name)).collect();
        names.join(",")
    }

    /// The cells with the names of their columns.
    pub(crate) fn named(&self) -> impl Iterator<Item = (&str, &AnswerCell)> {
        self.0.iter().map(|(name, cell)| (name.as_str(), cell))
    }
}

/// Refuses columns that there never are, before the data are read.
pub(crate) fn check(columns: &[String], intervals: bool) -> Result<(), Failure> {
    for column in columns {
        match column.as_str() {
            "prediction" | "score" | "size" | "loss" | "variance" => {}
            "lower" | "upper" if intervals => {}
            "lower" | "upper" => {
                return Err(Failure::usage(format!(
                    "--columns: {column} comes with intervals; add --intervals 0.9, or leave it out"
                )));
            }
            name if name.starts_with("p_") => {}
            _ => return Err(unknown(column)),
        }
    }
    Ok(())
}

fn unknown(column: &str) -> Failure {
    Failure::usage(format!(
        "--columns: there is no column {column:?}; give some of prediction, score, size, variance, lower, upper, loss and p_CLASS, with commas between"
    ))
}
