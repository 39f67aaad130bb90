//! Near duplicates: the up- and downdates of appendix H against the coordinates of this project.
//!
//! The listing keeps the factor `RᵀR = KᵀK + λK_M` of the normal equations of the kernel columns
//! `K` of the kept points; a kept point updates it by `u = (c/(1+g), g)` and downdates it by
//! `v = (c/(1+g), −1)`, `g = √(1 + d)`. Two points a distance `h` apart leave this matrix an
//! eigenvalue of the order `λh²`, and the downdate subtracts numbers of the order of 1 to find it.
//! [`mercer_learners::PkawvNystrom`] has orthonormal coordinates, in which no eigenvalue is below
//! `λ`. Both follow the same decisions on what to keep, and are compared with a dense solution in
//! each round.

use mercer_kernels::{Gaussian, Kernel};
use mercer_learners::{NystromParams, PkawvNystrom, RegressorExt};
use mercer_linalg_incremental::SymmetricEigen;
use mercer_readers::Dataset;
use mercer_sparsify::{Admission, Kors, NewtonBasis, Probe};
use mercer_streams::Simulation;

use crate::hindsight::spanning;
use crate::learners::nystrom;
use crate::prelude::*;

/// Distances of a point from the one before it.
const GAPS: [f64; 6] = [1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6];

/// The distance that is shown round by round.
const SHOWN: usize = 2;

/// How far ours may be from the dense solution.
const CLOSE: f64 = 1e-8;

/// The second dense solution is computed once in so many rounds.
const SECOND: usize = 10;

const LAMBDA: f64 = 0.01;

const DIMENSION: usize = 3;

/// The factor of a growing normal matrix as the listing has it: upper triangular, by rows,
/// `factor[i][j]` for `j ≥ i`.
#[derive(Clone, Debug, Default)]
struct Listing {
    factor: Vec<Vec<f64>>,
    /// `columns[j][s] = k(x_s, x̃_j)`
    columns: Vec<Vec<f64>>,
    kept: Vec<Vec<f64>>,
    past: Vec<Vec<f64>>,
    targets: Vec<f64>,
}

impl Listing {
    /// `RᵀR ← RᵀR ± xxᵀ`, row by row; a root of a negative number is left to be not a number.
    fn cholup(&mut self, mut x: Vec<f64>, sign: f64) {
        for k in 0..x.len() {
            let old = self.factor[k][k];
            let new = (old * old + sign * x[k] * x[k]).sqrt();
            let (c, s) = (new / old, x[k] / old);
            self.factor[k][k] = new;
            if old == 0.0 {
                // The new row begins as zeros: it takes what is left of the vector.
                for j in k + 1..x.len() {
                    self.factor[k][j] = sign * x[k] * x[j] / new;
                    x[j] = 0.0;
                }
                continue;
            }
            for j in k + 1..x.len() {
                self.factor[k][j] = (self.factor[k][j] + sign * s * x[j]) / c;
                x[j] = c * x[j] - s * self.factor[k][j];
            }
        }
    }

    /// `α = R⁻¹R⁻ᵀ Kᵀ(Y, 0)`
    fn coefficients(&self) -> Vec<f64> {
        let n = self.factor.len();
        let mut a: Vec<f64> = self.columns.iter().map(|column| dot(column, &self.targets)).collect();
        for i in 0..n {
            for j in 0..i {
                a[i] -= self.factor[j][i] * a[j];
            }
            a[i] /= self.factor[i][i];
        }
        for i in (0..n).rev() {
            for j in i + 1..n {
                a[i] -= self.factor[i][j] * a[j];
            }
            a[i] /= self.factor[i][i];
        }
        a
    }

    /// One round of Algorithm 2; `keep` is KORS's decision.
    fn round(&mut self, kernel: &impl Kernel, x: &[f64], y: f64, keep: bool) -> f64 {
        self.past.push(x.to_vec());
        let mut row: Vec<f64> = self.kept.iter().map(|z| kernel.evaluate(x, z)).collect();
        for (column, value) in self.columns.iter_mut().zip(&row) {
            column.push(*value);
        }
        self.cholup(row.clone(), 1.0);
        if keep {
            let a: Vec<f64> = self.past.iter().map(|z| kernel.evaluate(z, x)).collect();
            let c: Vec<f64> = self.columns.iter().zip(&row).map(|(column, b)| dot(column, &a) + LAMBDA * b).collect();
            let d = dot(&a, &a) + LAMBDA * kernel.self_value(x);
            let g = (1.0 + d).sqrt();
            let with = |last: f64| c.iter().map(|c| c / (1.0 + g)).chain([last]).collect::<Vec<f64>>();
            for line in &mut self.factor {
                line.push(0.0);
            }
            self.factor.push(vec![0.0; self.factor.len() + 1]);
            if self.factor.len() == 1 {
                // The listing's own first step.
                self.factor[0][0] = d.sqrt();
            } else {
                self.cholup(with(g), 1.0);
                self.cholup(with(-1.0), -1.0);
            }
            self.columns.push(a);
            self.kept.push(x.to_vec());
            row.push(kernel.self_value(x));
        }
        let prediction = dot(&row, &self.coefficients());
        self.targets.push(y);
        prediction
    }
}

/// The forecast for the last input, densely: an orthonormal basis of the span of the kept points,
/// made anew in the order in which they are given, and the eigenvectors of the normal matrix in it.
fn dense<'a>(
    kernel: Gaussian,
    inputs: &[&[f64]],
    targets: &[f64],
    kept: impl Iterator<Item = &'a [f64]>,
) -> Result<f64> {
    let dimension = inputs.first().map_or(0, |x| x.len());
    let (basis, mut probe) = (spanning(kernel, dimension, kept, 0.0)?, Probe::default());
    let coordinates = |x: &&[f64]| -> Vec<f64> {
        basis.probe(x, &mut probe);
        probe.coordinates().to_vec()
    };
    let rows: Vec<Vec<f64>> = inputs.iter().map(coordinates).collect();
    let normal = SymmetricEigen::new(basis.len(), |i, j| rows.iter().map(|row| row[i] * row[j]).sum())?;
    let moments: Vec<f64> =
        (0..basis.len()).map(|i| rows.iter().zip(targets).map(|(row, y)| row[i] * y).sum()).collect();
    let Some(last) = rows.last() else { return Ok(0.0) };
    let along = |(v, value): (&Vec<f64>, &f64)| dot(v, &moments) * dot(v, last) / (value + LAMBDA);
    Ok(normal.vectors.iter().zip(&normal.values).map(along).sum())
}

/// What the two did on one stream.
#[derive(Clone, Debug, PartialEq)]
struct DuplicatesResult {
    /// `|ŷ − dense|` by round.
    ours: Vec<f64>,
    /// Between two dense solutions, whose bases are made in opposite orders, in every tenth round.
    dense: Vec<f64>,
    /// The same of the listing, up to its breakdown.
    listing: Vec<f64>,
    /// The round, from 1, from which the listing's predictions are no numbers.
    breaks_down: Option<usize>,
    size: usize,
}

/// Pairs of points `gap` apart.
fn stream(rounds: usize, gap: f64, seed: u64) -> Result<Dataset> {
    let simulated = Simulation { rows: rounds, noise: 0.2, width: 1.0, seed }.normal(DIMENSION, 1.0)?.dataset;
    let mut inputs = simulated.features().to_vec();
    for pair in inputs.chunks_exact_mut(2 * DIMENSION) {
        let (first, second) = pair.split_at_mut(DIMENSION);
        let length = dot(second, second).sqrt();
        second.iter_mut().zip(first).for_each(|(value, first)| *value = *first + gap * *value / length);
    }
    Ok(Dataset::new("near duplicates", DIMENSION, inputs, simulated.targets().to_vec())?)
}

/// What KORS keeps of a stream: whether it keeps each point, and whether the point adds a
/// coordinate.
fn decisions(kernel: Gaussian, stream: &Dataset, params: NystromParams) -> Result<Vec<(bool, bool)>> {
    let mut rule = Kors::new(params.mu, params.beta, params.epsilon, params.seed)?;
    let (mut basis, mut probe) = (NewtonBasis::new(kernel, stream.dimension()), Probe::default());
    let decide = |(x, _): (&[f64], f64)| {
        basis.probe(x, &mut probe);
        let before = rule.kept();
        let new_coordinate = rule.admits(&basis, x, &probe);
        if let Some(new_coordinate) = new_coordinate {
            basis.append(x, probe.coordinates(), new_coordinate);
        }
        (rule.kept() > before, new_coordinate.is_some())
    };
    Ok(stream.iter().map(decide).collect())
}

fn compare(rounds: usize, gap: f64, seed: u64) -> Result<DuplicatesResult> {
    let (stream, kernel) = (stream(rounds, gap, seed)?, Gaussian::new(1.0)?);
    let params = nystrom(LAMBDA, 1e-4, seed);
    let decisions = decisions(kernel, &stream, params)?;
    let mut learner = PkawvNystrom::new(kernel, stream.dimension(), params)?;
    let mut listing = Listing::default();
    let (mut ours, mut apart, mut theirs, mut breaks_down) = (Vec::new(), Vec::new(), Vec::new(), None);
    let (mut inputs, mut kept) = (Vec::new(), Vec::new());
    for (t, ((x, y), (keep, spans))) in stream.iter().zip(decisions).enumerate() {
        let prediction = learner.predict_then_update(x, y)?;
        inputs.push(x);
        if spans {
            kept.push(x);
        }
        // From the last point to the first: not the order of the learner.
        let targets = &stream.targets()[..t];
        let exact = dense(kernel, &inputs, targets, kept.iter().rev().copied())?;
        ours.push((prediction - exact).abs());
        if (t + 1) % SECOND == 0 {
            apart.push((exact - dense(kernel, &inputs, targets, kept.iter().copied())?).abs());
        }
        if breaks_down.is_none() {
            let prediction = listing.round(&kernel, x, y, keep);
            if prediction.is_finite() {
                theirs.push((prediction - exact).abs());
            } else {
                breaks_down = Some(t + 1);
            }
        }
    }
    Ok(DuplicatesResult { ours, dense: apart, listing: theirs, breaks_down, size: listing.kept.len() })
}

pub(super) fn run(plan: &Plan) -> Result<Report> {
    let rounds = plan.size_or(300, 400);
    let repetitions = plan.repetitions_or(2, 5);
    let inputs = (0..GAPS.len()).flat_map(|gap| (0..repetitions).map(move |repetition| (gap, repetition)));
    let name = |(gap, repetition): &(usize, usize)| format!("near duplicates / {} / {}", GAPS[*gap], repetition + 1);
    let outcomes = plan.each(inputs, name, |(gap, repetition), _| {
        compare(rounds, GAPS[*gap], seed_of(plan.seed, &format!("near duplicates / {}", repetition + 1)))
    })?;

    let mut report = Report::new("Near duplicates: the paper's up- and downdates, and ours");
    report.words(format!("n = {rounds}, {repetitions} streams for each distance. {INTRODUCTION}"));
    let mut table = Table::with(
        "distance ~1 | J .1 | ours, worst ~2 | two dense solutions, worst ~2 | \
             the listing, worst ~2 | no numbers from round .0 | broken down | verdict, ours",
    );
    let worst = |errors: &[f64]| errors.iter().copied().fold(0.0, f64::max);
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for (i, gap) in GAPS.into_iter().enumerate() {
        let own = outcomes.of(|(of, _)| *of == i);
        let broken: Vec<f64> = own.iter().filter_map(|outcome| outcome.breaks_down).map(|t| t as f64).collect();
        ours.push(own.iter().map(|outcome| worst(&outcome.ours)).fold(0.0, f64::max));
        theirs.push(own.iter().map(|outcome| worst(&outcome.listing)).fold(0.0, f64::max));
        table.push(row![
            gap,
            mean_of(&own, |outcome| outcome.size as f64),
            ours[i],
            own.iter().map(|outcome| worst(&outcome.dense)).fold(0.0, f64::max),
            theirs[i],
            if broken.is_empty() { Cell::Empty } else { mean(&broken).into() },
            format!("{} of {}", broken.len(), own.len()),
            Judgement::either(ComparisonKind::Claim, ours[i] <= CLOSE, "within 1e-8", "larger than 1e-8")
        ])?;
    }
    let mut panels = Panels::new("Error of a prediction against the dense solution", 2);
    if let Some(shown) = outcomes.of(|(gap, _)| *gap == SHOWN).first() {
        let rounds = |errors: &[f64]| (1..=errors.len()).map(|t| t as f64).collect::<Vec<f64>>();
        panels = panels.panel(
            Figure::new(format!("points {:e} apart, by round", GAPS[SHOWN]))
                .x_label("round t")
                .y_label("|ŷ − dense|")
                .log_y()
                .line("PKAWV-Nyström, ours", &rounds(&shown.ours), &shown.ours)
                .line("the listing's up- and downdates", &rounds(&shown.listing), &shown.listing),
        );
    }
    panels = panels.panel(
        Figure::new("worst round, by distance")
            .x_label("distance of the near duplicates")
            .y_label("largest |ŷ − dense|")
            .log_x()
            .log_y()
            .line("PKAWV-Nyström, ours", &GAPS, &ours)
            .line("the listing's up- and downdates", &GAPS, &theirs),
    );
    let hard: Vec<String> =
        GAPS.iter().zip(&ours).filter(|(_, worst)| **worst > CLOSE).map(|(gap, _)| format!("{gap:e}")).collect();
    let why = format!("Ours is off by more than 1e-8 at distances of {}. {HARDEST}", hard.join(", "));
    report.differs_where(&table, "Digits at the distances that are hardest", &why);
    report.table("near_duplicates", "Largest distance of a prediction from the dense solution", table);
    report.picture("near_duplicates", "A line that ends is a factor that has become no number", panels);
    Ok(report)
}

const INTRODUCTION: &str = "Gaussian kernel, σ = 1, λ = 0.01, three dimensions; every second point lies a given distance from the one before it. \
Both sides follow the same decisions of KORS (μ = 1e-4, β = 1); ours gives a point kept in the span of the others no coordinate, the listing \
knows no such rule. Its errors count up to the round in which its factor stops being a number, the root of a negative one; with λ = 1 it keeps its digits longer. \
A distance of 1e-3, at which the listing breaks down, is the one for which 1e-8 is asked; the others tell how far that goes. Two dense \
solutions differ in the order of their bases alone (every tenth round).";

const HARDEST: &str = "It is worst where the residual of a pair, about the square of its \
distance, is just above the 1e-9 that count as zero: the kernel values, rounded to 1e-16, then leave the solution itself hardly more digits. How \
far two dense solutions of the same values are from each other there stands beside ours.";

#[cfg(test)]
mod tests {
    use super::*;

    /// The listing is written correctly: on points that are far apart it is the dense solution.
    #[test]
    fn the_listing_is_exact_on_distant_points() {
        let kernel = Gaussian::new(1.0).unwrap();
        let stream = Simulation { rows: 40, noise: 0.2, width: 1.0, seed: 4 }.normal(2, 3.0).unwrap().dataset;
        let mut listing = Listing::default();
        let (mut inputs, mut kept): (Vec<&[f64]>, Vec<&[f64]>) = (Vec::new(), Vec::new());
        for (t, (x, y)) in stream.iter().enumerate() {
            inputs.push(x);
            if t % 4 == 0 {
                kept.push(x);
            }
            let exact = dense(kernel, &inputs, &stream.targets()[..t], kept.iter().rev().copied()).unwrap();
            let prediction = listing.round(&kernel, x, y, t % 4 == 0);
            assert!((prediction - exact).abs() < 1e-9, "round {t}: {prediction} against {exact}");
        }
    }

    /// Points a thousandth apart: ours is the dense solution to 1e−8, the listing is lost.
    #[test]
    fn the_listing_breaks_down_where_ours_holds() {
        for seed in 1..4 {
            let outcome = compare(300, 1e-3, seed).unwrap();
            assert!(outcome.ours.iter().all(|error| *error <= 1e-8));
            assert!(outcome.breaks_down.is_some());
        }
    }
}
