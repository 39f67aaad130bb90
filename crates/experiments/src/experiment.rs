//! The list of experiments, for a program that runs them by name.

use std::time::Instant;

use mercer_learners::{NonsAld, NonsAldParams, prequential};

use crate::decay::Regime;
use crate::plan::{ExperimentError, Plan};
use crate::report::Report;
use crate::{lemmas, projected, table1, table3};

/// One experiment.
#[derive(Clone, Copy, Debug)]
pub struct Experiment {
    /// The name it is called by, and of its main table.
    pub name: &'static str,
    /// What it shows.
    pub title: &'static str,
    /// Runs it.
    pub run: fn(&Plan) -> Result<Report, ExperimentError>,
    /// About how many seconds it will take at the papers' size; `None` if that cannot be told.
    pub estimate: fn(&Plan) -> Option<f64>,
}

/// All of them, in the order in which they run.
pub const EXPERIMENTS: [Experiment; 6] = [
    Experiment {
        name: "table3",
        title: "Table 3: six learners on real streams",
        run: table3::run,
        estimate: |plan| table3::estimate(&plan.registry, &table3::Options::of(plan)).ok(),
    },
    Experiment {
        name: "table1",
        title: "Table 1: measured exponents of regret, dictionary size and time",
        run: table1::run,
        estimate: |plan| scaled(plan, TABLE1_SECONDS * plan.repetitions_or(3, 5) as f64 / 5.0),
    },
    Experiment {
        name: "lemma31",
        title: "Lemma 3.1: dictionary size against its bound",
        run: lemmas::size::run,
        estimate: |plan| scaled(plan, LEMMA31_SECONDS),
    },
    Experiment {
        name: "lemma45",
        title: "Lemma 4.5: spectral errors against their bounds",
        run: lemmas::spectral::run,
        estimate: |plan| scaled(plan, LEMMA45_SECONDS),
    },
    Experiment {
        name: "theorem46",
        title: "Theorem 4.6: regret of NONS-ALD against its bound",
        run: lemmas::regret::run,
        estimate: |plan| scaled(plan, THEOREM46_SECONDS * plan.repetitions_or(3, 10) as f64 / 10.0),
    },
    Experiment {
        name: "bounds",
        title: "Projections: regret and dictionaries against their bounds",
        run: projected::bounds::run,
        estimate: |plan| scaled(plan, BOUNDS_SECONDS * plan.repetitions_or(2, 5) as f64 / 5.0),
    },
];

/// Seconds of one core at the papers' size, on a machine where [`probe`] takes [`PROBE_SECONDS`].
const TABLE1_SECONDS: f64 = 800.0;
const LEMMA31_SECONDS: f64 = 40.0;
const LEMMA45_SECONDS: f64 = 30.0;
const THEOREM46_SECONDS: f64 = 100.0;
const BOUNDS_SECONDS: f64 = 100.0;
const PROBE_SECONDS: f64 = 0.1;

/// What took `seconds` of one core on the machine of the constants above, on this one and its threads.
fn scaled(plan: &Plan, seconds: f64) -> Option<f64> {
    Some(seconds * probe().ok()? / PROBE_SECONDS / plan.threads as f64)
}

/// The time of a fixed piece of work.
fn probe() -> Result<f64, ExperimentError> {
    let stream = Regime::MATERN_32.stream(1000, 0)?;
    let params = NonsAldParams { alpha: 1e-8, ..NonsAldParams::default() };
    let mut learner = NonsAld::new(Regime::MATERN_32.kernel()?, stream.dimension(), params)?;
    let start = Instant::now();
    prequential(&mut learner, stream.iter(), |_| {}).map_err(|(_, error)| error)?;
    Ok(start.elapsed().as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_distinct() {
        let mut names: Vec<&str> = EXPERIMENTS.iter().map(|experiment| experiment.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), EXPERIMENTS.len());
    }
}
