//! The quality of predictions: the scores, the baselines beside them, and the table of both that
//! people read.

use std::fmt::Write as _;

use clap::ValueEnum;
use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::report::failure::Failure;
use crate::report::output::{digits, typed};

/// A score that can be asked for, by its key in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum Metric {
    /// Root mean squared error
    Rmse,
    /// Mean squared error
    Mse,
    /// Mean absolute error
    Mae,
    /// Share of the targets' variance that predictions explain
    R2,
    /// Share of the wrong signs, of targets that are ±1
    ErrorRate,
    /// Share of the targets in their intervals
    Coverage,
    /// Mean width of the intervals
    MeanWidth,
    /// Share of the rows whose class was predicted
    Accuracy,
    /// Mean over the classes of their shares predicted
    BalancedAccuracy,
    /// Mean of −ln of the probability of the true class
    LogLoss,
    /// Area under the curve, of two classes
    Auc,
    /// Expected calibration error of probabilities
    CalibrationError,
}

const NUMBERS: [Metric; 7] =
    [Metric::Rmse, Metric::Mae, Metric::R2, Metric::Mse, Metric::ErrorRate, Metric::Coverage, Metric::MeanWidth];
const CLASSES: [Metric; 5] =
    [Metric::Accuracy, Metric::BalancedAccuracy, Metric::LogLoss, Metric::Auc, Metric::CalibrationError];

impl Metric {
    /// The score that is followed row by row: the one asked for, if the targets have it.
    pub(crate) fn followed(asked: Option<Self>, classes: bool, intervals: bool) -> Result<Self, Failure> {
        let Some(metric) = asked else { return Ok(if classes { Self::Accuracy } else { Self::Rmse }) };
        let name = typed(&metric);
        let (own, what, other) = if classes {
            (&CLASSES[..], "numbers, and the target is a class", "regression")
        } else {
            (&NUMBERS[..], "classes, and the target is a number", "class")
        };
        if !own.contains(&metric) {
            let names: Vec<String> = own.iter().map(typed).collect();
            return Err(Failure::usage(format!(
                "--metric {name} is for {what}; give one of {}, or say --task {other}",
                names.join(", ")
            )));
        }
        if matches!(metric, Self::Coverage | Self::MeanWidth) && !intervals {
            return Err(Failure::usage(format!(
                "--metric {name} comes with intervals; add --intervals 0.9, or give another score"
            )));
        }
        Ok(metric)
    }

    /// As the head of a column says it.
    pub(crate) fn head(self) -> &'static str {
        match self {
            Self::Rmse => "RMSE",
            Self::Mse => "MSE",
            Self::Mae => "MAE",
            Self::R2 => "R²",
            Self::ErrorRate => "error rate",
            Self::Coverage => "intervals hold",
            Self::MeanWidth => "mean width",
            Self::Accuracy => "accuracy",
            Self::BalancedAccuracy => "balanced",
            Self::LogLoss => "log loss",
            Self::Auc => "AUC",
            Self::CalibrationError => "calibration",
        }
    }

    /// True if less is better.
    pub(crate) fn is_error(self) -> bool {
        !matches!(self, Self::R2 | Self::Coverage | Self::Accuracy | Self::BalancedAccuracy | Self::Auc)
    }

    /// The score, if it is there and is a number.
    pub(crate) fn value(self, scores: &Scores) -> Option<f64> {
        let (intervals, classes) = (scores.intervals.as_ref(), scores.classes.as_ref());
        let score = match self {
            Self::Rmse => scores.rmse,
            Self::Mse => scores.mse,
            Self::Mae => scores.mae,
            Self::R2 => scores.r2,
            Self::ErrorRate => scores.error_rate,
            Self::Coverage => intervals.map(|scores| scores.coverage),
            Self::MeanWidth => intervals.map(|scores| scores.mean_width),
            Self::Accuracy => classes.map(|scores| scores.accuracy),
            Self::BalancedAccuracy => classes.map(|scores| scores.balanced_accuracy),
            Self::LogLoss => classes.and_then(|scores| scores.log_loss),
            Self::Auc => classes.and_then(|scores| scores.auc),
            Self::CalibrationError => classes.and_then(|scores| scores.calibration_error),
        };
        score.filter(|score| score.is_finite())
    }

    /// The same of a baseline.
    pub(crate) fn of_baseline(self, baseline: &Baseline) -> Option<f64> {
        let score = match self {
            Self::Rmse => baseline.rmse,
            Self::Mse => baseline.mse,
            Self::Mae => baseline.mae,
            Self::R2 => baseline.r2,
            Self::Accuracy => baseline.accuracy,
            _ => None,
        };
        score.filter(|score| score.is_finite())
    }
}

/// The scores of predictions. A score that is not defined is null.
#[derive(serde::Serialize)]
pub(crate) struct Scores {
    pub(crate) mse: Option<f64>,
    pub(crate) mae: Option<f64>,
    pub(crate) error_rate: Option<f64>,
    pub(crate) rmse: Option<f64>,
    pub(crate) r2: Option<f64>,
    #[serde(flatten)]
    pub(crate) intervals: Option<IntervalScores>,
    #[serde(flatten)]
    pub(crate) classes: Option<ClassScores>,
    pub(crate) baselines: Baselines,
}

/// The scores of intervals, over the rows that had one: weighted means, and means over several
/// outputs.
#[derive(Clone, Copy, serde::Serialize)]
pub(crate) struct IntervalScores {
    /// The share of the targets in their intervals.
    pub(crate) coverage: f64,
    pub(crate) mean_width: f64,
}

/// The scores of predictions of classes.
#[derive(serde::Serialize)]
pub(crate) struct ClassScores {
    pub(crate) accuracy: f64,
    pub(crate) log_loss: Option<f64>,
    pub(crate) balanced_accuracy: f64,
    pub(crate) auc: Option<f64>,
    pub(crate) calibration_error: Option<f64>,
}

/// The scores of predictions that cost nothing, on the same rows. They are the running mean (for
/// classes the most frequent class so far) and the value of the row before; a series with a season
/// also has the value of a season ago.
pub(crate) struct Baselines(pub(crate) Vec<Baseline>);

/// One of them, by its key in JSON.
#[derive(Default, serde::Serialize)]
pub(crate) struct Baseline {
    #[serde(skip)]
    pub(crate) name: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) mse: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) mae: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) rmse: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) r2: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) accuracy: Option<f64>,
    /// Scaled error of forecasts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) mase: Option<f64>,
}

impl Baseline {
    /// As people read it.
    pub(crate) fn said(&self) -> String {
        self.name.replace('_', " ")
    }
}

impl Serialize for Baselines {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for baseline in &self.0 {
            map.serialize_entry(baseline.name, baseline)?;
        }
        map.end()
    }
}

/// The scores of some of the rows, with a name for people.
pub(crate) struct Section<'a> {
    pub(crate) name: String,
    pub(crate) scores: &'a Scores,
}

/// Width of a column of numbers.
const CELL: usize = 13;
const NAMES: usize = 20;

/// The table that people read: a line for each section and its baselines, a column for each score,
/// or for the one asked for.
pub(crate) fn table(sections: &[Section<'_>], asked: Option<Metric>) -> String {
    let exists = |metric: &Metric| match asked {
        Some(asked) => *metric == asked,
        None => sections.iter().any(|section| metric.value(section.scores).is_some()),
    };
    let metrics: Vec<Metric> = NUMBERS.into_iter().chain(CLASSES).filter(exists).collect();
    let mut text = format!("  {:<NAMES$}", "");
    for metric in &metrics {
        // Writing to a string cannot fail.
        let _ = write!(text, "  {:>CELL$}", metric.head());
    }
    text.push('\n');
    let mut line = |name: &str, score: &dyn Fn(Metric) -> Option<f64>| {
        let cells: String = metrics
            .iter()
            .map(|metric| format!("  {:>CELL$}", score(*metric).map_or_else(|| "–".to_owned(), digits)))
            .collect();
        let _ = writeln!(text, "  {name:<NAMES$}{cells}");
    };
    for Section { name, scores } in sections {
        line(name, &|metric| metric.value(scores));
        for baseline in &scores.baselines.0 {
            if metrics.iter().any(|metric| metric.of_baseline(baseline).is_some()) {
                line(&format!("  {}", baseline.said()), &|metric| metric.of_baseline(baseline));
            }
        }
    }
    text
}
