//! Figures 4 and 5: swing-up of a pendulum by value iteration on a learnt conditional-mean operator.
//!
//! A stage is two episodes of 200 pairs `(x, u, x⁺)`, learnt by sparse gradient descent on inputs `z = (x, u)`; value iteration on the
//! operator so far then gives a policy, which is judged by the sums of rewards of further episodes (section 7.2). Two settings:
//!
//! | setting | kernel | step | budget |
//! |---|---|---|---|
//! | the paper's | Gaussian, width 0.167 on (sin θ, cos θ, ω, u) | 1e−4 | 8.91e−5 |
//! | ours | Gaussian, widths 0.2 (angle), 0.5 (velocity), 2 (torque) | 0.1 | 0.05 |
//!
//! The second is the best of those that were tried, and not the paper's. Unstated there and settled here for both: discount
//! 0.99, 25 torques, at most 400 sweeps, weights divided by their sum. Three behaviours collect the pairs: random
//! torques as in the paper, and the ε-greedy and greedy policies that it names.
//!
//! The module `reference` knows the dynamics.

mod reference;
mod stages;

use mercer_data::PendulumState;
use mercer_learners::operator::{Budget, StepSize};

use crate::figure::{Figure, HeatMap, Panels, Scale};
use crate::plan::{ExperimentError, Plan};
use crate::report::Report;
use crate::runner::{Job, seed_of};
use crate::stats::{mean, median};
use crate::table::{Cell, Format, Table};
use reference::Reference;
use stages::{Behaviour, DISCOUNT, EPISODES, SWEEPS, Setting, Sight, score, starts, torques, value_grid};

pub use stages::Size;

const PAPERS: Setting = Setting {
    name: "the paper's",
    angle_width: 0.167,
    velocity_width: 0.167,
    torque_width: 0.167,
    step: StepSize::Constant(1e-4),
    budget: Budget::Constant(8.91e-5),
};

const OURS: Setting = Setting {
    name: "our",
    angle_width: 0.2,
    velocity_width: 0.5,
    torque_width: 2.0,
    step: StepSize::Constant(0.1),
    budget: Budget::Constant(0.05),
};

const SETTINGS: [Setting; 2] = [PAPERS, OURS];

/// Stages after which the paper gives its numbers.
const PRINTED_STAGES: usize = 20;
/// The paper's median score of the last stage, as near as its text says: that of its reference.
const PRINTED_SCORE: f64 = -130.0;
/// The share of the pairs that the paper keeps, 6000 of 8000.
const PRINTED_SHARE: f64 = 0.75;
/// A share this near counts as the printed one, and a median score within this part of it.
const SAME: f64 = 0.1;
/// From this score on, the paper counts an episode as brought upright.
const UPRIGHT: f64 = -400.0;
/// The stages of the value maps, where there are as many.
const SHOWN: [usize; 4] = [0, 7, 14, 19];

/// One learner through all stages.
type Course = (Setting, Behaviour, Vec<Sight>);

/// Runs the experiment.
///
/// # Errors
/// [`ExperimentError`] of the first pass that fails.
pub fn run(plan: &Plan) -> Result<Report, ExperimentError> {
    let size = if plan.full {
        Size { stages: 20, judged_by: 100, last_judged_by: 1000, reference: 301, cells: 61 }
    } else {
        Size { stages: 6, judged_by: 25, last_judged_by: 100, reference: 101, cells: 41 }
    };
    run_at(plan, &size)
}

/// The same at another size.
///
/// # Errors
/// As [`run`].
pub fn run_at(plan: &Plan, size: &Size) -> Result<Report, ExperimentError> {
    let inputs: Vec<(Setting, Behaviour)> =
        SETTINGS.iter().flat_map(|setting| Behaviour::ALL.map(|behaviour| (*setting, behaviour))).collect();
    let stages = size.stages as u64;
    let jobs: Vec<Job<(Setting, Behaviour)>> = inputs
        .iter()
        .map(|input| {
            let name = format!("pendulum / {} / {}", input.0.name, input.1.words());
            Job::new(name, plan.seed, stages, *input)
        })
        .collect();
    // Everyone starts from the same places.
    let starts = starts(size.last_judged_by, seed_of(plan.seed, "pendulum / judged"));
    let seed = seed_of(plan.seed, "pendulum / collected");
    let results = plan.run(&jobs, |job, bar| {
        let (setting, behaviour) = job.input;
        setting.learn_in_stages(behaviour, size, &starts, seed, || bar.advance(1))
    })?;
    let courses: Vec<Course> =
        inputs.into_iter().zip(results).map(|((setting, behaviour), sights)| (setting, behaviour, sights)).collect();
    let reference = Reference::solve(size.reference, size.reference, torques(), DISCOUNT);
    let own = |start: &PendulumState| score(*start, |state| Ok(reference.torque(state)));
    let best: Vec<f64> = starts.iter().map(own).collect::<Result<_, _>>()?;

    let mut report = Report::new("Figures 4 and 5: swing-up of a pendulum by value iteration");
    report.words(introduction(size));
    let last = last_stage(&courses, &best)?;
    report.differs_where(&last, "Scores and kept pairs", SCORES);
    report.table("pendulum", "The last stage", last);
    report.table("pendulum_stages", "Every stage", every_stage(&courses)?);
    let words = "Scores by stage (line: median; band: from the 2.5th to the 97.5th of 100 episodes; dashed: dynamic programming that \
                 knows the pendulum), and growth of the dictionary";
    report.picture("pendulum_scores", words, scores(&courses, &best));
    for setting in SETTINGS {
        // Of those that learnt, the one that does best.
        let own = courses.iter().filter(|course| course.0 == setting);
        let Some((_, behaviour, sights)) = own.max_by(|a, b| last_median(&a.2).total_cmp(&last_median(&b.2))) else {
            continue;
        };
        let stem = if setting == PAPERS { "paper" } else { "ours" };
        let words = format!(
            "Normalised value functions by {} setting, {} torques (its best), beside that of dynamic programming",
            setting.name,
            behaviour.words()
        );
        let maps = value_maps(words.clone(), sights, &reference, size);
        report.picture(format!("pendulum_values_{stem}"), words, maps);
    }
    Ok(report)
}

/// The median score of the last stage.
fn last_median(sights: &[Sight]) -> f64 {
    sights.last().map_or(f64::NEG_INFINITY, |sight| median(&sight.scores))
}

/// The score that this share of the episodes does not exceed.
fn quantile(scores: &[f64], share: f64) -> f64 {
    let mut sorted = scores.to_vec();
    sorted.sort_by(f64::total_cmp);
    let place = share * sorted.len().saturating_sub(1) as f64;
    sorted.get(place.round() as usize).copied().unwrap_or(f64::NAN)
}

fn upright(scores: &[f64]) -> f64 {
    scores.iter().filter(|score| **score >= UPRIGHT).count() as f64 / scores.len() as f64
}

fn last_stage(courses: &[Course], best: &[f64]) -> Result<Table, ExperimentError> {
    let mut table = Table::new()
        .words("setting")
        .words("torques while learning")
        .numbers("pairs", Format::Shortest)
        .numbers("dictionary", Format::Shortest)
        .numbers("kept", Format::Decimals(2))
        .words("printed: 0.75")
        .numbers("median score", Format::Decimals(0))
        .numbers("mean score", Format::Decimals(0))
        .numbers("upright", Format::Decimals(2))
        .words("printed: near −130");
    for (setting, behaviour, sights) in courses {
        let Some(last) = sights.last() else { continue };
        let kept = last.size as f64 / last.seen as f64;
        let median = median(&last.scores);
        let verdict = |same: bool| match (*setting == PAPERS, *behaviour) {
            (false, _) => "not the paper's setting",
            _ if sights.len() < PRINTED_STAGES => "shortened run",
            (true, Behaviour::EpsilonGreedy | Behaviour::Greedy) => "not in the paper",
            (true, Behaviour::Random) => {
                if same {
                    "reproduced"
                } else {
                    "differs"
                }
            }
        };
        table.push(vec![
            setting.name.into(),
            behaviour.words().into(),
            last.seen.into(),
            last.size.into(),
            kept.into(),
            verdict((kept - PRINTED_SHARE).abs() <= SAME).into(),
            median.into(),
            mean(&last.scores).into(),
            upright(&last.scores).into(),
            verdict(median >= PRINTED_SCORE * (1.0 + SAME)).into(),
        ])?;
    }
    let [pairs, size, kept] = [Cell::Empty, Cell::Empty, Cell::Empty];
    table.push(vec![
        "dynamic programming".into(),
        "knows the pendulum".into(),
        pairs,
        size,
        kept,
        "".into(),
        median(best).into(),
        mean(best).into(),
        upright(best).into(),
        "its printed mean is about −130".into(),
    ])?;
    Ok(table)
}

fn every_stage(courses: &[Course]) -> Result<Table, ExperimentError> {
    let mut table = Table::new()
        .words("setting")
        .words("torques while learning")
        .numbers("stage", Format::Shortest)
        .numbers("pairs", Format::Shortest)
        .numbers("dictionary", Format::Shortest)
        .numbers("sweeps", Format::Shortest);
    for column in ["worst score", "2.5 %", "median score", "97.5 %", "best score"] {
        table = table.numbers(column, Format::Decimals(0));
    }
    for (setting, behaviour, sights) in courses {
        for (stage, sight) in sights.iter().enumerate() {
            let mut row = vec![
                setting.name.into(),
                behaviour.words().into(),
                stage.into(),
                sight.seen.into(),
                sight.size.into(),
                sight.sweeps.into(),
            ];
            let at = |share: f64| quantile(&sight.scores, share);
            row.extend([at(0.0), at(0.025), median(&sight.scores), at(0.975), at(1.0)].map(Into::into));
            table.push(row)?;
        }
    }
    Ok(table)
}

fn scores(courses: &[Course], best: &[f64]) -> Panels {
    let mut panels = Panels::new("Swing-up of a pendulum", 2);
    let column = |sights: &[Sight], value: &dyn Fn(&Sight) -> f64| sights.iter().map(value).collect::<Vec<f64>>();
    let stages = |sights: &[Sight]| (0..sights.len()).map(|stage| stage as f64).collect::<Vec<f64>>();
    let (lowest, reference) = (-2000.0, median(best));
    for setting in SETTINGS {
        let own = || courses.iter().filter(move |course| course.0 == setting);
        let mut figure = Figure::new(format!("scores, {} setting", setting.name))
            .x_label("stage")
            .y_label("score of an episode")
            .y_range(lowest, 0.0);
        for (_, behaviour, sights) in own() {
            let (xs, ys) = (stages(sights), column(sights, &|sight| median(&sight.scores)));
            figure = if *behaviour == Behaviour::Random {
                let low = column(sights, &|sight| quantile(&sight.scores, 0.025));
                let high = column(sights, &|sight| quantile(&sight.scores, 0.975));
                figure.line_with_band(behaviour.words(), &xs, &ys, &low, &high)
            } else {
                figure.line(behaviour.words(), &xs, &ys)
            };
        }
        let last = own().map(|(_, _, sights)| sights.len()).max().unwrap_or(1) - 1;
        panels = panels.panel(figure.dashed("dynamic programming", &[0.0, last as f64], &[reference, reference]));
    }
    for setting in SETTINGS {
        let mut figure =
            Figure::new(format!("growth, {} setting", setting.name)).x_label("stage").y_label("dictionary size");
        for (_, behaviour, sights) in courses.iter().filter(|course| course.0 == setting) {
            figure = figure.line(behaviour.words(), &stages(sights), &column(sights, &|sight| sight.size as f64));
        }
        if setting == PAPERS {
            let all = courses.first().map_or(&[][..], |(_, _, sights)| sights);
            figure = figure.dashed("all pairs", &stages(all), &column(all, &|sight| sight.seen as f64));
        }
        panels = panels.panel(figure);
    }
    panels
}

/// From 0, the worst on the map, to 1.
fn normalised(mut values: Vec<f64>) -> Vec<f64> {
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let span = (high - low).max(f64::MIN_POSITIVE);
    values.iter_mut().for_each(|value| *value = (*value - low) / span);
    values
}

fn value_maps(title: String, sights: &[Sight], reference: &Reference, size: &Size) -> Panels {
    let grid = value_grid(size.cells);
    let figure = |title: String, values: Vec<f64>| {
        let map = HeatMap { grid, values: normalised(values), scale: Scale::Sequential };
        Figure::new(title).x_label("θ").y_label("ω").heat_map(map)
    };
    let mut panels = Panels::new(title, 3);
    let mut shown: Vec<usize> = SHOWN.into_iter().filter(|stage| *stage < sights.len()).collect();
    shown.extend(sights.len().checked_sub(1).filter(|last| !shown.contains(last)));
    for stage in shown {
        let title = format!("stage {stage}, {} pairs kept", sights[stage].size);
        panels = panels.panel(figure(title, sights[stage].values.clone()));
    }
    let value = |[angle, velocity]: &[f64; 2]| reference.value(&PendulumState { angle: *angle, velocity: *velocity });
    panels.panel(figure("dynamic programming".to_owned(), grid.centres().iter().map(value).collect()))
}

fn introduction(size: &Size) -> String {
    format!(
        "{} stages of {EPISODES} episodes of 200 pairs. *The paper's setting*: Gaussian of width 0.167, η = 1e-4, ε = 8.91e-5. Not stated there \
         and settled here: discount {DISCOUNT}, 25 torques, at most {SWEEPS} sweeps of value iteration (the estimated weights are not all \
         positive, so that it need not converge), weights divided by their sum (without that the future hardly counts), and coordinates \
         not scaled. Scores are sums of rewards over 200 steps, over {} episodes at the last stage and {} before, from the same starting points for all; an \
         episode counts as upright from −400 on. {WORDS}",
        size.stages, size.last_judged_by, size.judged_by,
    )
}

const WORDS: &str = "With a step of 1e-4 the operator is hardly more than a sum over the pairs seen, and divided by its mass it is a kernel \
smoother; a width of 0.167 on coordinates that reach to 8 makes it one of nearest neighbours, which the pairs of random torques do not \
fill. At the paper's size no run with the paper's setting came near its scores, whatever torques it learnt from; a discount, an action grid or a scaling of the \
coordinates that the paper does not state may make the difference. *Our setting* is the best of some twenty that were tried, on other \
seeds: wider in velocity and torque, with a step large enough to correct what was learnt and a budget of half of it. It keeps a tenth \
of 8,000 pairs. It is not the paper's, and no verdict on the paper rests on it.";

const SCORES: &str = "With the printed width, step and budget most pairs are kept, few states being similar to one another at that width, and the \
learnt policy does not swing the pendulum up within the stages run here. A setting of ours, found by trial, does.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_scores() {
        let scores: Vec<f64> = (0..=40).rev().map(|i| -10.0 * f64::from(i)).collect();
        assert_eq!([0.0, 0.025, 0.5, 1.0].map(|share| quantile(&scores, share)), [-400.0, -390.0, -200.0, 0.0]);
        assert_eq!(upright(&[-399.0, -400.0, -401.0, -1.0]), 0.75);
    }

    #[test]
    fn maps_go_from_zero_to_one() {
        assert_eq!(normalised(vec![-3.0, 1.0, -1.0]), [0.0, 1.0, 0.5]);
        assert_eq!(normalised(vec![2.0; 2]), [0.0, 0.0]);
    }
}
