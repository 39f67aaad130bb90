//! `auto` as a classifier with calibrated probabilities, beside the peers: accuracy and log loss
//! over the last half of a stream.

use std::time::Instant;

use mercer_auto::{Auto, AutoParams};
use mercer_learners::Classifier;
use mercer_readers::Dataset;

use super::peers::{ClassScore, class_scores, is_online};
use super::streams::{LoadedStream, load_classes, times};
use crate::prelude::*;

/// Probabilities are clipped to this and to 1 less this, so that the log loss is finite. The peers'
/// were, too.
const CLIP: f64 = 1e-6;

/// One of the two scores.
struct Measure {
    name: &'static str,
    /// Score of a pass of `auto`.
    ours: fn(&ClassPass) -> f64,
    /// Score of a peer.
    theirs: fn(&ClassScore) -> f64,
    /// True if the first is better.
    better: fn(f64, f64) -> bool,
}

const MEASURES: [Measure; 2] = [
    Measure { name: "accuracy", ours: |pass| pass.accuracy, theirs: |score| score.accuracy, better: |a, b| a > b },
    Measure { name: "log loss", ours: |pass| pass.log_loss, theirs: |score| score.log_loss, better: |a, b| a < b },
];

impl Measure {
    /// The best peer of a stream that learns row by row, or that is refitted.
    fn best(&self, stream: &str, online: bool) -> Option<(&'static str, f64)> {
        let of_kind = class_scores(stream).filter(|score| is_online(score.method) == online);
        let told = of_kind.map(|score| (score.method, (self.theirs)(&score)));
        told.reduce(|best, other| if (self.better)(other.1, best.1) { other } else { best })
    }
}

/// Results of a pass.
#[derive(Clone, Debug)]
struct ClassPass {
    classes: usize,
    accuracy: f64,
    log_loss: f64,
    /// Time of a row, predicted and learnt.
    microseconds: f64,
}

pub(super) fn run(plan: &Plan) -> Result<Report> {
    let rows = plan.size_or(super::REDUCED_ROWS, usize::MAX);
    let (streams, missing) = load_classes(plan, rows)?;
    let name = |stream: &&LoadedStream| format!("quality_classes / {}", stream.name);
    let results = plan.each(&streams, name, |stream, _| pass(&stream.table))?.0;
    let whole = rows == usize::MAX;

    let mut report = Report::new("Quality: classes");
    report.words(format!(
        "One pass over each stream, row by row, untuned, with the default budget of {} multiply-adds a row. Scores are over the last half. \
         Probabilities are clipped to [1e-6, 1 − 1e-6]. The peers' scores are those of all rows of a stream in the same order; \
         `crates/experiments/quality/classes.py` measures them. Refitted peers are fitted anew whenever the stream has doubled.",
        AutoParams::default().budget
    ));
    if !whole {
        report.words(format!("**Shortened**: the first {rows} rows of a stream, so that no peer stands beside them."));
    }
    if !results.is_empty() {
        if whole {
            report.table("quality_classes_claims", "What is wanted (statements of this project)", claims(&results)?);
        }
        let [accuracy, log_loss] = &MEASURES;
        report.table("quality_classes", "Accuracy over the last half", standing(&results, accuracy, whole)?);
        report.table("quality_log_loss", "Log loss over the last half", standing(&results, log_loss, whole)?);
        report.table(
            "quality_classes_times",
            "Microseconds a row on this machine, with other streams beside",
            times(results.iter().map(|(loaded, pass)| (*loaded, pass.microseconds)))?,
        );
    }
    let made = "`crates/experiments/quality/classes.py` makes class_susy and class_segments.";
    report.lacks(&missing, MEASURES.len(), &format!("{} {made}", super::elsewhere()));
    Ok(report)
}

/// Learns the table. Classes are numbered as they are met; a row is wrong if its class was not met
/// before.
fn pass(table: &Dataset) -> Result<ClassPass> {
    let mut classifier = Classifier::new(Auto::new(table.dimension(), AutoParams::default())?)?.calibrated();
    let (mut met, mut right, mut log_loss) = (Vec::new(), 0_usize, 0.0);
    let half = table.len().div_ceil(2);
    let start = Instant::now();
    for (t, (x, label)) in table.iter().enumerate() {
        let class = met.iter().position(|other| *other == label).unwrap_or_else(|| {
            met.push(label);
            met.len() - 1
        });
        classifier.learn_rows(x, &[class], &[], |_, classifier, scores| {
            if t >= half {
                let mut p = scores.to_vec();
                classifier.probabilities(&mut p);
                right += usize::from(classifier.choice(scores) == Some(class));
                log_loss -= p.get(class).copied().unwrap_or(0.0).clamp(CLIP, 1.0 - CLIP).ln();
            }
        })?;
    }
    let rows = (table.len() - half).max(1) as f64;
    Ok(ClassPass {
        classes: met.len(),
        accuracy: right as f64 / rows,
        log_loss: log_loss / rows,
        microseconds: 1e6 * start.elapsed().as_secs_f64() / table.len().max(1) as f64,
    })
}

/// One score of all streams, on whole streams beside the best peers.
fn standing(results: &[(&LoadedStream, ClassPass)], measure: &Measure, whole: bool) -> Result<Table> {
    let mut table = Table::with("stream | order | rows # | features # | classes # | auto .4");
    for kind in ["online", "refitted"] {
        table = table.numbers(format!("best {kind} peer"), Format::Decimals(4)).words(format!("which {kind}"));
    }
    for (loaded, pass) in results {
        let mut row = vec![
            loaded.name.clone().into(),
            loaded.order().into(),
            loaded.table.len().into(),
            loaded.table.dimension().into(),
            pass.classes.into(),
            (measure.ours)(pass).into(),
        ];
        for online in [true, false] {
            let best = if whole { measure.best(&loaded.name, online) } else { None };
            row.extend([best.map(|(_, score)| score).into(), best.map_or("", |(method, _)| method).into()]);
        }
        table.push(row)?;
    }
    Ok(table)
}

/// The statements, judged on all streams that are there.
fn claims(results: &[(&LoadedStream, ClassPass)]) -> Result<Table> {
    let mut claims = Claims::new();
    for measure in &MEASURES {
        let behind: Vec<String> = results
            .iter()
            .filter_map(|(loaded, pass)| {
                let ((method, theirs), ours) = (measure.best(&loaded.name, true)?, (measure.ours)(pass));
                let told = || format!("{} ({}, {method} {})", loaded.name, short(ours), short(theirs));
                (!(measure.better)(ours, theirs)).then(told)
            })
            .collect();
        let measured =
            if behind.is_empty() { format!("all {}", results.len()) } else { format!("not {}", behind.join(", ")) };
        let statement = format!("{}: on every stream ahead of every online peer", measure.name);
        claims.ours(statement, measured, behind.is_empty())?;
    }
    Ok(claims.table())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_peer_of_a_kind_is_the_highest_accuracy_and_the_lowest_loss() {
        let told = MEASURES.each_ref().map(|measure| [true, false].map(|online| measure.best("class_ijcnn1", online)));
        let accuracy = [Some(("sk-mlp", 0.9544)), Some(("b-lgbm", 0.977))];
        let log_loss = [Some(("sk-mlp", 0.112_978)), Some(("b-lgbm", 0.059_881_8))];
        assert_eq!(told, [accuracy, log_loss]);
        assert_eq!(MEASURES[0].best("casp", true), None);
    }
}
