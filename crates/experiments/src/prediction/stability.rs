//! E.2: ways of beginning an epoch, and a million steps.
//!
//! On the system of section 5, OPF by the printed recursion (15) on an explicit inverse, its epochs
//! begun in three ways, beside the square-root engine, which forms no inverse. The paper's figure
//! ends at N = 7680 and is judged there; the run goes on to twice that, because (E.2)'s own
//! trouble, of which the paper says nothing, begins behind it. Then one coordinate of that system
//! for a million steps, where outputs pass 10⁸ and an explicit inverse loses all its digits.
//!
//! A run that has left the range of numbers has an infinite regret; curves are medians over seeds.

use mercer_forecast::EpochSchedule;
use mercer_streams::LinearSystem;

use super::comparators::{EpochStart, ExplicitInverse};
use super::forecasters::opf;
use super::summary::axis;
use super::trial::{PredictionTrial, SystemModel, trials};
use super::{LAMBDA, SECTION_5, SECTION_5_EPOCHS, horizon};
use crate::prelude::*;

/// A regret beyond this is a breakdown: honest ones stay below a tenth of it.
const BROKEN: f64 = 1e6;

/// Size that the outputs of the long run have to pass for it to say anything of digits lost.
const LARGE: f64 = 1e8;

/// Form in which the regression is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RegressionForm {
    SquareRoot,
    Explicit(EpochStart),
}

const WAYS: [(&str, RegressionForm); 4] = [
    ("square root", RegressionForm::SquareRoot),
    ("(E.1), explicit inverse", RegressionForm::Explicit(EpochStart::Direct)),
    ("(E.1), triangular solves", RegressionForm::Explicit(EpochStart::Triangular)),
    ("(E.2), row by row", RegressionForm::Explicit(EpochStart::Iterative)),
];

/// The regret of one run at each mark, and the first moment at which it was beyond [`BROKEN`].
struct RegretCourse {
    curve: Vec<f64>,
    broken: Option<usize>,
}

/// Claims of the paper are judged at the paper's number of epochs, or at the end of a shorter run.
pub(super) fn run(plan: &Plan) -> Result<Report> {
    let (epochs, steps) = match plan.size {
        Some(steps) => (3, steps),
        None => (SECTION_5_EPOCHS + usize::from(plan.full), 1_000_000),
    };
    let mut report = Report::new("OPF, E.2: numerical stability");
    let mut claims = Claims::new();
    let mut table = Table::with("system | γ | way | median regret ~4 | broken | first broken at #");
    let beginnings = beginnings(plan, epochs, &mut claims, &mut table)?;
    let (long, ratio) = long_run(plan, steps, &mut claims, &mut table)?;
    report.words(format!(
        "A run counts as broken when its regret is beyond {BROKEN:e} or not a number. All ways compute the same estimator."
    ));
    report.table("opf_stability_claims", "What the paper says of E.2, and what this project promises", claims.table());
    report.table("opf_stability", "Regret at the end of the run", table);
    report.picture(
        "opf_stability_epochs",
        "Regret under four ways of computing the same estimator (medians), and one run's outputs",
        beginnings,
    );
    report.picture(
        "opf_stability_long",
        "Regret, and regret over log²N, of one coordinate over the long run (medians)",
        long,
    );
    report.words(format!(
        "Of the square root, R_N/log²N at the end is {} times what it was at a hundredth of the run.",
        short(ratio)
    ));
    Ok(report)
}

fn beginnings(plan: &Plan, epochs: usize, claims: &mut Claims, table: &mut Table) -> Result<Panels> {
    let model = SystemModel::new(LinearSystem::tracking())?;
    let last = horizon(&SECTION_5, epochs);
    let judged = horizon(&SECTION_5, epochs.min(SECTION_5_EPOCHS));
    let gammas = [("γ = 1", 1.0), ("γ = ρ", model.radius())];
    // Close together, so that a jump at the beginning of an epoch is seen as one.
    let mut marks = log_spaced(SECTION_5.first_start() + 1, last, 300);
    marks.push(judged);
    marks.sort_unstable();
    marks.dedup();
    let seeds = plan.repetitions_or(4, 50);
    let results = trials(plan, &model, last, seeds, "opf_stability / epochs", |trial| {
        gammas.iter().map(|(_, gamma)| courses(trial, *gamma, &WAYS, &marks)).collect::<Result<Vec<_>>>()
    })?;
    let xs = axis(&marks);
    let mut panels = Panels::new("", 3);
    for (i, (name, _)) in gammas.iter().enumerate() {
        let mut figure = Figure::new(*name).x_label("N").y_label("regret").log_x().log_y();
        for (j, (way, _)) in WAYS.iter().enumerate() {
            let own: Vec<&RegretCourse> = results.iter().map(|seed| &seed[i][j]).collect();
            let curve = median_curve(&own);
            // The square root lies under two of the others, so that it is dashed.
            figure = match WAYS[j].1 {
                RegressionForm::SquareRoot => figure.dashed(*way, &xs, &curve),
                RegressionForm::Explicit(_) => figure.line(*way, &xs, &curve),
            };
            row(table, "section 5", name, way, &own)?;
        }
        panels = panels.panel(figure);
    }
    let at = marks.iter().position(|mark| *mark == judged).unwrap_or(0);
    let way = |j: usize| -> Vec<&RegretCourse> { results.iter().map(|seed| &seed[0][j]).collect() };
    let median_at = |j: usize| median_curve(&way(j))[at];
    claims.of_paper(
        format!("The direct initialisation (E.1) makes the regret of γ = 1 jump; the iterative one (E.2) does not (N = {judged})"),
        format!("median regret {} against {}", short(median_at(1)), short(median_at(3))),
        median_at(1) > 2.0 * median_at(3),
    )?;
    let broken_by = |end: usize| way(3).iter().filter(|course| course.broken.is_some_and(|k| k <= end)).count();
    claims.of_paper(
        format!("(E.2) with its inverse kept by (15) holds in every run (γ = 1, N = {judged})"),
        format!("{} of {} runs broken", broken_by(judged), results.len()),
        broken_by(judged) == 0,
    )?;
    claims.ours(
        format!("It is the explicit inverse alone: (E.1) with triangular solves is as good as (E.2) (N = {judged})"),
        format!("{} against {}", short(median_at(2)), short(median_at(3))),
        median_at(2) < 1.1 * median_at(3),
    )?;
    if last > judged {
        let first = way(3).iter().filter_map(|course| course.broken).min();
        claims.observe(
            format!("Our own observation, beyond the paper's length: (E.2) at N = {last}, where cond(Ṽ) has passed what an inverse can hold"),
            format!(
                "{} of {} runs broken{}",
                broken_by(last),
                results.len(),
                first.map_or_else(String::new, |k| format!(", first at k = {k}"))
            ),
            if broken_by(last) == 0 { "holds on" } else { "breaks later" },
        )?;
    }
    let trial = PredictionTrial::run(&model, last, plan.seed, 0)?;
    let ks: Vec<f64> = (0..=last).map(|k| k as f64).collect();
    let mut outputs = Figure::new("one run's outputs").x_label("k").y_label("y");
    for output in 0..trial.dimension() {
        let ys: Vec<f64> = (0..=last).map(|k| trial.output(k)[output]).collect();
        outputs = outputs.line(format!("output {}", output + 1), &ks, &ys);
    }
    Ok(panels.panel(outputs))
}

/// The pictures, and by how much `R_N/log²N` of the square root (γ = ρ) grows over the last two
/// decades.
fn long_run(plan: &Plan, steps: usize, claims: &mut Claims, table: &mut Table) -> Result<(Panels, f64)> {
    let model = SystemModel::new(LinearSystem::integrating_tracker())?;
    let gammas = [("γ = ρ", model.radius()), ("γ = 1", 1.0)];
    // The square root is drawn last, upon what an inverse gives while it holds.
    let ways = [WAYS[3], WAYS[0]];
    let mut marks = log_spaced(SECTION_5.first_start() + 1, steps, 100);
    let early = steps / 100;
    marks.push(early);
    marks.sort_unstable();
    marks.dedup();
    let seeds = plan.repetitions_or(1, 5);
    let inputs = (0..seeds).flat_map(|seed| (0..gammas.len()).map(move |gamma| (seed, gamma)));
    let name = |(seed, gamma): &(usize, usize)| format!("opf_stability / long / {seed} / {gamma}");
    let results = plan.each(inputs, name, |(seed, gamma), _| {
        let trial = PredictionTrial::run(&model, steps, plan.seed, *seed)?;
        let largest = (0..=trial.last()).map(|k| trial.output(k)[0].abs()).fold(0.0, f64::max);
        Ok((largest, courses(&trial, gammas[*gamma].1, &ways, &marks)?))
    })?;
    let xs = axis(&marks);
    let squares: Vec<f64> = xs.iter().map(|n| n.ln() * n.ln()).collect();
    let mut plain = Figure::new("regret").x_label("N").y_label("regret").log_x().log_y().y_range(10.0, 1e12);
    let mut ratio =
        Figure::new("regret over log² N").x_label("N").y_label("R_N / log² N").log_x().log_y().y_range(0.1, 1e4);
    let mut growth = f64::NAN;
    let mut finite = true;
    for (i, (gamma, _)) in gammas.iter().enumerate() {
        for (j, (way, _)) in ways.iter().enumerate() {
            let own: Vec<&RegretCourse> =
                results.outcomes_where(|(_, gamma)| *gamma == i).iter().map(|(_, own)| &own[j]).collect();
            let curve = median_curve(&own);
            let over: Vec<f64> = curve.iter().zip(&squares).map(|(regret, square)| regret / square).collect();
            let name = format!("{way}, {gamma}");
            plain = plain.line(name.as_str(), &xs, &curve);
            ratio = ratio.line(name, &xs, &over);
            row(table, "one coordinate", gamma, way, &own)?;
            if j == 1 {
                finite &= own.iter().all(|course| course.broken.is_none());
                if i == 0 {
                    let at = marks.iter().position(|mark| *mark == early).unwrap_or(0);
                    growth = over.last().copied().unwrap_or(f64::NAN) / over[at];
                }
            } else {
                let broken: Vec<usize> = own.iter().filter_map(|course| course.broken).collect();
                claims.ours(
                    format!("{gamma}: an explicit inverse breaks within {steps} steps"),
                    format!("{} of {} runs, first at k = {:?}", broken.len(), own.len(), broken),
                    broken.len() == own.len(),
                )?;
            }
        }
    }
    let largest = results.0.iter().map(|(_, (largest, _))| *largest).fold(f64::INFINITY, f64::min);
    claims.ours(
        format!("The square root survives {steps} steps of a system that integrates"),
        format!(
            "outputs reach {largest:.1e} in every run (more than {LARGE:e} is wanted); {} beyond {BROKEN:e}",
            if finite { "no run is" } else { "a run is" }
        ),
        finite && largest > LARGE,
    )?;
    claims.ours(
        "and its regret over log² N stays flat (γ = ρ; at most twice over the last two decades)",
        format!("times {}", short(growth)),
        growth < 2.0,
    )?;
    Ok((Panels::new("", 2).panel(plain).panel(ratio), growth))
}

fn courses(
    trial: &PredictionTrial,
    gamma: f64,
    ways: &[(&str, RegressionForm)],
    marks: &[usize],
) -> Result<Vec<RegretCourse>> {
    ways.iter().map(|(_, way)| course(trial, SECTION_5, gamma, *way, marks)).collect()
}

fn course(
    trial: &PredictionTrial,
    schedule: EpochSchedule,
    gamma: f64,
    way: RegressionForm,
    marks: &[usize],
) -> Result<RegretCourse> {
    let from = schedule.first_start();
    let beginning = match way {
        RegressionForm::Explicit(beginning) => beginning,
        RegressionForm::SquareRoot => {
            let mut opf = opf(trial.dimension(), schedule, gamma)?;
            let curve = trial.regret(&mut opf, from, marks)?;
            let broken = curve.iter().zip(marks).find(|(regret, _)| **regret > BROKEN).map(|(_, mark)| *mark);
            return Ok(RegretCourse { curve, broken });
        }
    };
    let mut explicit = ExplicitInverse::new(trial.dimension(), schedule, LAMBDA, gamma, beginning);
    let mut prediction = vec![0.0; trial.dimension()];
    let (mut regret, mut broken, mut curve) = (0.0, None, Vec::with_capacity(marks.len()));
    for k in 0..=trial.last() {
        explicit.step(trial.output(k), &mut prediction);
        if k >= from {
            regret += trial.excess(k, &prediction);
        }
        if broken.is_none() && (regret > BROKEN || regret.is_nan()) {
            broken = Some(k);
        }
        if marks.get(curve.len()) == Some(&k) {
            curve.push(regret);
        }
        if !regret.is_finite() {
            break;
        }
    }
    curve.resize(marks.len(), f64::INFINITY);
    Ok(RegretCourse { curve, broken })
}

fn finals(courses: &[&RegretCourse]) -> Vec<f64> {
    courses.iter().map(|course| course.curve.last().copied().unwrap_or(f64::NAN)).map(number_or_infinity).collect()
}

fn median_curve(courses: &[&RegretCourse]) -> Vec<f64> {
    let points = courses.first().map_or(0, |course| course.curve.len());
    all_of(0..points, |i| median(&all_of(courses, |course| number_or_infinity(course.curve[i]))))
}

fn number_or_infinity(regret: f64) -> f64 {
    if regret.is_nan() { f64::INFINITY } else { regret }
}

fn row(table: &mut Table, system: &str, gamma: &str, way: &str, courses: &[&RegretCourse]) -> Result<()> {
    let broken = courses.iter().filter(|course| course.broken.is_some()).count();
    let first = courses.iter().filter_map(|course| course.broken).min();
    table.push(row![system, gamma, way, median(&finals(courses)), format!("{broken} of {}", courses.len()), first])?;
    Ok(())
}
