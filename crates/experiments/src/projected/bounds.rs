//! Propositions 1, 2 and 5, Theorems 3, 4 and 6, Corollaries 7 and 8: what is measured, against
//! what is proved.
//!
//! On streams whose eigenvalues fall in a known way ([`decay`](crate::decay)). Every statement
//! holds for all targets in `[−B, B]` and all functions, so no measurement may exceed its bound;
//! Proposition 5 and what rests on it hold with probability `1 − δ`.

use mercer_kernels::{AlignedVec, AnyKernel, TaylorFeatures};
use mercer_learners::{
    KernelAwv, KernelRidgeParams, NystromParams, PkawvFrozen, PkawvNystrom, Regressor, TaylorParams, prequential,
};
use mercer_readers::Dataset;

use super::theory::{BoundFacts, Tuning, corollary7, corollary8, proposition5_beta};
use crate::decay::{Law, Regime};
use crate::hindsight::{Hindsight, leverage_scores, neglected};
use crate::learners::{nystrom, taylor};
use crate::prelude::*;

/// `1 − δ` is the probability that Proposition 5 and Theorem 6 speak of.
const DELTA: f64 = 0.1;

const REGIMES: [Regime; 3] = [Regime::EXPONENTIAL, Regime::LAPLACE, Regime::MATERN_52];

const RIDGES: [f64; 5] = [0.01, 0.1, 1.0, 10.0, 100.0];

/// Degrees of Taylor features beside the sufficient one.
const DEGREES: [usize; 5] = [1, 2, 4, 8, 16];

/// Sizes that Corollaries 7 and 8 are asked for.
const SIZES: [f64; 4] = [5.0, 10.0, 20.0, 40.0];

/// One statement on one stream.
#[derive(Clone, Debug, PartialEq)]
struct BoundsRow {
    statement: &'static str,
    learner: &'static str,
    /// The quantity that is varied, and its value.
    varied: (&'static str, f64),
    size: Option<usize>,
    measured: f64,
    bound: f64,
    /// Bound that holds in any case: for a regret that of predicting 0, for a size the rounds. A
    /// bound no smaller says nothing.
    trivial: f64,
    /// True if something was left out; otherwise the learner is Kernel-AWV.
    projected: bool,
}

impl BoundsRow {
    /// A statement about no projection.
    fn whole(statement: &'static str, learner: &'static str, varied: (&'static str, f64), trivial: f64) -> Self {
        Self { statement, learner, varied, size: None, measured: f64::NAN, bound: f64::NAN, trivial, projected: true }
    }

    fn measured(self, measured: f64, bound: f64) -> Self {
        Self { measured, bound, ..self }
    }

    fn of_size(self, size: usize, projected: bool) -> Self {
        Self { size: Some(size), projected, ..self }
    }
}

/// Verdict on a statement: some rows may break it, and a bound may say nothing.
fn verdict(rows: &[&BoundsRow]) -> Cell {
    // Equality up to rounding is within.
    if rows.iter().any(|row| row.measured > row.bound * (1.0 + 1e-9)) {
        Judgement::bound(false, []).into()
    } else if rows.iter().any(|row| !row.projected) {
        "no projection".into()
    } else if rows.iter().any(|row| row.bound >= row.trivial) {
        "says nothing".into()
    } else {
        Judgement::bound(true, rows.iter().map(|row| (row.measured, row.bound))).into()
    }
}

/// A corollary's choice and what came of it.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Chosen {
    statement: &'static str,
    m: f64,
    tuning: Tuning,
    /// With Proposition 5's β.
    size: usize,
    regret: f64,
    /// With the β = 1 of the paper's experiments, for which nothing is proved.
    small_size: usize,
    small_regret: f64,
    /// `‖(I − P)C^{1/2}‖²/μ` of that smaller dictionary.
    share: f64,
}

/// Facts about a stream before anything is learnt.
#[derive(Clone, Copy, Debug, PartialEq)]
struct StreamFacts {
    dimension: f64,
    largest_score: f64,
    scores: f64,
    decay: f64,
    capacity: f64,
}

#[derive(Clone, Debug, PartialEq)]
struct BoundsResult {
    rows: Vec<BoundsRow>,
    chosen: Vec<Chosen>,
    known: StreamFacts,
}

/// A stream and what its bounds need.
struct BoundsStream<'a> {
    kernel: AnyKernel,
    stream: &'a Dataset,
    facts: BoundFacts,
    seed: u64,
}

impl BoundsStream<'_> {
    fn regret(&self, learner: &mut impl Regressor, lambda: f64) -> Result<f64> {
        let score = prequential(learner, self.stream.iter(), |_| {})?;
        Ok(self.facts.regret(score.cumulative_loss(), lambda))
    }

    /// Regret of predicting 0.
    fn idle(&self, lambda: f64) -> f64 {
        self.facts.regret(self.stream.targets().iter().map(|y| y * y).sum(), lambda)
    }

    /// True if a dictionary of this size leaves out a point that is not in the span of the others.
    fn leaves_out(&self, size: usize) -> bool {
        size < self.facts.hindsight.eigenvalues().len()
    }

    fn sampled(&self, lambda: f64, mu: f64) -> NystromParams {
        let beta = proposition5_beta(self.stream.len(), DELTA);
        nystrom(lambda, mu, self.seed).beta(beta)
    }

    fn online(&self, params: NystromParams) -> Result<PkawvNystrom<AnyKernel>> {
        Ok(PkawvNystrom::new(self.kernel.clone(), self.stream.dimension(), params)?)
    }

    fn beforehand(&self, params: NystromParams, rounds: usize) -> Result<PkawvFrozen<AnyKernel>> {
        let d = self.stream.dimension();
        Ok(PkawvFrozen::new(self.kernel.clone(), d, &self.stream.features()[..rounds * d], params)?)
    }

    /// `‖(I − P)C_t^{1/2}‖²` of features over the first `rounds` inputs.
    fn neglected(&self, rounds: usize, mut map: impl FnMut(&[f64], &mut AlignedVec)) -> Result<f64> {
        let inputs: Vec<&[f64]> = (0..rounds).map(|t| self.stream.row(t)).collect();
        let mut features = AlignedVec::new();
        let mut coordinates = |x: &&[f64]| {
            map(x, &mut features);
            features.to_vec()
        };
        let coordinates: Vec<Vec<f64>> = inputs.iter().map(&mut coordinates).collect();
        neglected(&self.kernel, &inputs, &coordinates)
    }

    fn frozen_neglects(&self, learner: &PkawvFrozen<AnyKernel>, rounds: usize) -> Result<f64> {
        let mut probe = mercer_sparsify::Probe::default();
        self.neglected(rounds, |x, features| {
            learner.feature_map().probe(x, &mut probe);
            features.assign(probe.coordinates());
        })
    }

    /// Every statement about one ridge.
    fn at_ridge(&self, lambda: f64, rows: &mut Vec<BoundsRow>) -> Result<()> {
        let (d, idle) = (self.stream.dimension(), self.idle(lambda));
        let row = |statement, learner, trivial| BoundsRow::whole(statement, learner, ("λ", lambda), trivial);
        let mut whole = KernelAwv::new(self.kernel.clone(), d, KernelRidgeParams::default().lambda(lambda))?;
        let (first, second) = (self.facts.proposition1(lambda), self.facts.proposition2(lambda));
        rows.push(row("Proposition 1", "Kernel-AWV", idle).measured(self.regret(&mut whole, lambda)?, first));
        rows.push(row("Proposition 2", "its bound", f64::INFINITY).measured(first, second));
        // The last term of Theorem 6 is then twice the dictionary's size.
        let mu = lambda / self.facts.rounds;
        let mut sampled = self.online(self.sampled(lambda, mu))?;
        let regret = self.regret(&mut sampled, lambda)?;
        let size = sampled.dictionary_size();
        let sixth = row("Theorem 6", "PKAWV-Nyström", idle).of_size(size, self.leaves_out(size));
        rows.push(sixth.measured(regret, self.facts.theorem6(lambda, mu, size)));
        rows.push(self.third(self.sampled(lambda, mu), ("λ", lambda))?);
        Ok(())
    }

    /// Theorem 3 on a dictionary that is chosen beforehand.
    fn third(&self, params: NystromParams, varied: (&'static str, f64)) -> Result<BoundsRow> {
        let mut frozen = self.beforehand(params, self.stream.len())?;
        let rest = self.frozen_neglects(&frozen, self.stream.len())?;
        let size = frozen.dictionary_size();
        let regret = self.regret(&mut frozen, params.lambda)?;
        let row = BoundsRow::whole("Theorem 3", "PKAWV beforehand", varied, self.idle(params.lambda));
        let bound = self.facts.theorem3(params.lambda, rest);
        Ok(row.of_size(size, self.leaves_out(size)).measured(regret, bound))
    }

    /// Theorems 3 and 4 on Taylor features of the Gaussian kernel of width 1, λ = 1.
    fn taylor(&self, rows: &mut Vec<BoundsRow>) -> Result<()> {
        let (d, sigma, lambda) = (self.stream.dimension(), 1.0, 1.0);
        let sufficient = TaylorFeatures::sufficient_degree(self.facts.radius, sigma, self.stream.len(), lambda);
        for degree in DEGREES.into_iter().chain([sufficient]) {
            let mut learner = taylor(d, sigma, degree, lambda, TaylorParams::default().max_bytes)?;
            let rest = self.neglected(self.stream.len(), |x, z| learner.feature_map().map(x, z))?;
            let size = learner.dictionary_size();
            let measured = self.regret(&mut learner, lambda)?;
            let row = |statement| BoundsRow::whole(statement, "PKAWV-Taylor", ("M", degree as f64), self.idle(lambda));
            // An eigenvalue of this size is rounding.
            let projected = rest > 1e-9 * self.facts.rounds;
            rows.push(row("Theorem 3").of_size(size, projected).measured(measured, self.facts.theorem3(lambda, rest)));
            if degree == sufficient {
                // That the rule's degree neglects nothing that counts is what it claims.
                rows.push(row("Theorem 4").of_size(size, true).measured(measured, self.facts.theorem4(lambda)));
            }
        }
        for lambda in RIDGES {
            let measured = self.facts.hindsight.effective_dimension(lambda);
            let bound = self.facts.gaussian_dimension(d, sigma, lambda);
            let row = BoundsRow::whole("after Theorem 4", "d_eff", ("λ", lambda), self.facts.rounds);
            rows.push(row.measured(measured, bound));
        }
        Ok(())
    }

    /// Proposition 5: the neglected part at growing prefixes of the stream, the worst of them, and
    /// the dictionary's size; where `β/(1 + μ)` is near 1 or below, so that points are left out,
    /// Theorem 3 with `λ = μ` as well.
    fn sampler(&self, rows: &mut Vec<BoundsRow>) -> Result<()> {
        let rounds = self.stream.len();
        // Nothing neglects more than the largest eigenvalue.
        let largest = self.facts.hindsight.eigenvalues().first().copied().unwrap_or(0.0);
        for mu in [0.01, 1.0, 100.0, 300.0, 1000.0] {
            let mut worst = 0.0f64;
            for t in [rounds / 8, rounds / 4, rounds / 2, rounds] {
                worst = worst.max(self.frozen_neglects(&self.beforehand(self.sampled(1.0, mu), t)?, t)?);
            }
            let size = self.beforehand(self.sampled(1.0, mu), rounds)?.dictionary_size();
            let projected = self.leaves_out(size);
            let row = |learner, trivial| {
                BoundsRow::whole("Proposition 5", learner, ("μ", mu), trivial).of_size(size, projected)
            };
            rows.push(row("KORS, neglected", largest).measured(worst, mu));
            let bound = self.facts.proposition5_size(mu, DELTA);
            rows.push(row("KORS, size", self.facts.rounds).measured(size as f64, bound));
            if mu > 1.0 {
                rows.push(self.third(self.sampled(mu, mu), ("λ = μ", mu))?);
            }
        }
        Ok(())
    }

    fn corollaries(&self, rows: &mut Vec<BoundsRow>) -> Result<Vec<Chosen>> {
        let (rounds, gamma) = (self.stream.len(), self.facts.capacity());
        let mut chosen = Vec::new();
        for m in SIZES {
            let tunings =
                [("Corollary 7", corollary7(rounds, m, gamma)), ("Corollary 8", corollary8(rounds, m, gamma))];
            for (statement, tuning) in tunings {
                let Tuning { mu, lambda, .. } = tuning;
                let run = |params: NystromParams| -> Result<(usize, f64)> {
                    if statement == "Corollary 7" {
                        let mut learner = self.online(params)?;
                        let regret = self.regret(&mut learner, lambda)?;
                        Ok((learner.dictionary_size(), regret))
                    } else {
                        let mut learner = self.beforehand(params, rounds)?;
                        Ok((learner.dictionary_size(), self.regret(&mut learner, lambda)?))
                    }
                };
                let (size, regret) = run(self.sampled(lambda, mu))?;
                let small = self.sampled(lambda, mu).beta(1.0);
                let (small_size, small_regret) = run(small)?;
                let share = self.frozen_neglects(&self.beforehand(small, rounds)?, rounds)? / mu;
                chosen.push(Chosen { statement, m, tuning, size, regret, small_size, small_regret, share });
                let (learner, bound) = if statement == "Corollary 7" {
                    ("PKAWV-Nyström", self.facts.theorem6(lambda, mu, size))
                } else {
                    ("PKAWV beforehand", self.facts.theorem3(lambda, mu))
                };
                let row = BoundsRow::whole(statement, learner, ("m", m), self.idle(lambda));
                rows.push(row.of_size(size, self.leaves_out(size)).measured(regret, bound));
            }
        }
        Ok(chosen)
    }

    fn known(&self) -> Result<StreamFacts> {
        let scores = leverage_scores(&self.kernel, self.stream, 1.0)?;
        let eigenvalues = self.facts.hindsight.eigenvalues();
        // As far as they stand above what was neglected.
        let first: Vec<f64> = eigenvalues.iter().copied().take(30).filter(|value| *value > 1e-6).collect();
        let index: Vec<f64> = (1..=first.len()).map(|i| i as f64).collect();
        Ok(StreamFacts {
            dimension: self.facts.hindsight.effective_dimension(1.0),
            largest_score: scores.iter().copied().fold(0.0, f64::max),
            scores: scores.iter().sum(),
            decay: PowerLaw::fit(&index, &first).map_or(f64::NAN, |fit| -fit.exponent),
            capacity: self.facts.capacity(),
        })
    }
}

fn measure(regime: &Regime, rounds: usize, stream_seed: u64, seed: u64) -> Result<BoundsResult> {
    let (stream, kernel) = (regime.stream(rounds, stream_seed)?, regime.kernel()?);
    let facts = BoundFacts::new(&kernel, &stream, Hindsight::new(&kernel, &stream)?);
    let measured = BoundsStream { kernel, stream: &stream, facts, seed };
    let mut rows = Vec::new();
    for lambda in RIDGES {
        measured.at_ridge(lambda, &mut rows)?;
    }
    if matches!(regime.law, Law::Exponential { .. }) {
        measured.taylor(&mut rows)?;
    }
    measured.sampler(&mut rows)?;
    let chosen = measured.corollaries(&mut rows)?;
    Ok(BoundsResult { rows, chosen, known: measured.known()? })
}

pub(super) fn run(plan: &Plan) -> Result<Report> {
    let rounds = plan.size_or(400, 1600);
    let repetitions = plan.repetitions_or(2, 5);
    let inputs = REGIMES.iter().flat_map(|regime| (0..repetitions).map(|repetition| (*regime, repetition)));
    let name = |(regime, repetition): &(Regime, usize)| format!("bounds / {} / {}", regime.name, repetition + 1);
    let outcomes = plan.each(inputs, name, |(regime, repetition), seed| {
        let stream_seed = seed_of(plan.seed, &format!("{} / {}", regime.name, repetition + 1));
        measure(regime, rounds, stream_seed, seed)
    })?;

    let mut report = Report::new("Projections: regret and dictionaries against their bounds");
    report.words(format!("n = {rounds}, {repetitions} streams each. {INTRODUCTION}"));
    let mut table = Table::with("decay | statement | of | varied | value ~3 | J .1 | measured ~3 | bound ~3 | within");
    let mut capacity = Table::with(
        "decay | statement | m # | μ ~3 | λ = rate ~3 | optimal rate | J .1 | regret ~3 | \
             J, β = 1 .1 | regret, β = 1 ~3 | neglected/μ, β = 1 ~3",
    );
    let mut known = Table::with(
        "decay | d_eff ~3 | sum of exact leverage scores ~3 | the largest ~3 | \
             measured decay of 30 eigenvalues .2 | capacity γ .3",
    );
    let mut panels = Panels::new("Regularised regret and its bounds (dashed)", 2);
    for regime in &REGIMES {
        let own = outcomes.outcomes_where(|(of, _)| of == regime);
        let Some(first) = own.first() else { continue };
        for i in 0..first.rows.len() {
            let all: Vec<&BoundsRow> = own.iter().map(|outcome| &outcome.rows[i]).collect();
            table.push(statement(regime, &all))?;
        }
        for i in 0..first.chosen.len() {
            let all: Vec<Chosen> = own.iter().map(|outcome| outcome.chosen[i]).collect();
            capacity.push(choice(regime, &all))?;
        }
        let all = |value: fn(&StreamFacts) -> f64| mean_of(&own, |outcome| value(&outcome.known));
        known.push(row![
            regime.name,
            all(|known| known.dimension),
            all(|known| known.scores),
            all(|known| known.largest_score),
            all(|known| known.decay),
            all(|known| known.capacity)
        ])?;
        for figure in pictures(regime, &own) {
            panels = panels.panel(figure);
        }
    }
    report.table(
        "bounds",
        "Every statement, measured and proved; means over the streams, the verdict over each of them",
        table,
    );
    report.table(
        "bounds_capacity",
        "Corollaries 7 and 8: what they choose for a dictionary of about m points",
        capacity,
    );
    report.table("bounds_streams", "The streams at λ = μ = 1", known);
    report.picture("bounds", "Regret against λ and, on Taylor features, against M; dashed: the bounds", panels);
    Ok(report)
}

fn statement(regime: &Regime, all: &[&BoundsRow]) -> Vec<Cell> {
    let row = all[0];
    let sizes: Vec<f64> = all.iter().filter_map(|row| row.size).map(|size| size as f64).collect();
    vec![
        regime.name.into(),
        row.statement.into(),
        row.learner.into(),
        row.varied.0.into(),
        mean_of(all, |row| row.varied.1).into(),
        if sizes.is_empty() { Cell::Empty } else { mean(&sizes).into() },
        Summary::from_samples(&all_of(all, |row| row.measured)).into(),
        mean_of(all, |row| row.bound).into(),
        verdict(all),
    ]
}

fn choice(regime: &Regime, all: &[Chosen]) -> Vec<Cell> {
    vec![
        regime.name.into(),
        all[0].statement.into(),
        all[0].m.into(),
        mean_of(all, |chosen| chosen.tuning.mu).into(),
        mean_of(all, |chosen| chosen.tuning.rate).into(),
        if all[0].tuning.optimal { "reached" } else { "m too small" }.into(),
        mean_of(all, |chosen| chosen.size as f64).into(),
        Summary::from_samples(&all_of(all, |chosen| chosen.regret)).into(),
        mean_of(all, |chosen| chosen.small_size as f64).into(),
        Summary::from_samples(&all_of(all, |chosen| chosen.small_regret)).into(),
        Summary::from_samples(&all_of(all, |chosen| chosen.share)).into(),
    ]
}

/// Regret and bounds against λ, and against M where there are Taylor features.
fn pictures(regime: &Regime, own: &[&BoundsResult]) -> Vec<Figure> {
    let curve = |statement: &str, learner: &str, varied: &str| {
        let (mut xs, mut measured, mut bounds) = (Vec::new(), Vec::new(), Vec::new());
        for (i, row) in own[0].rows.iter().enumerate() {
            if row.statement == statement && row.learner == learner && row.varied.0 == varied {
                let all = |value: fn(&BoundsRow) -> f64| mean_of(own, |o| value(&o.rows[i]));
                xs.push(all(|row| row.varied.1));
                measured.push(all(|row| row.measured));
                bounds.push(all(|row| row.bound));
            }
        }
        (xs, measured, bounds)
    };
    let axes = |title: String, x: &str| Figure::new(title).x_label(x).y_label("regularised regret").log_x().log_y();
    let (xs, whole, first) = curve("Proposition 1", "Kernel-AWV", "λ");
    let (_, _, second) = curve("Proposition 2", "its bound", "λ");
    let (_, sampled, sixth) = curve("Theorem 6", "PKAWV-Nyström", "λ");
    let mut figures = vec![
        axes(format!("decay {}", regime.name), "λ")
            .line("Kernel-AWV", &xs, &whole)
            .points("PKAWV-Nyström", &xs, &sampled)
            .dashed("Proposition 1", &xs, &first)
            .dashed("Proposition 2", &xs, &second)
            .dashed("Theorem 6", &xs, &sixth),
    ];
    let (degrees, regret, third) = curve("Theorem 3", "PKAWV-Taylor", "M");
    let (_, _, fourth) = curve("Theorem 4", "PKAWV-Taylor", "M");
    if let Some(&fourth) = fourth.first() {
        figures.push(
            axes(format!("decay {}, Taylor features, λ = 1", regime.name), "degree M")
                .line("PKAWV-Taylor", &degrees, &regret)
                .dashed("Theorem 3", &degrees, &third)
                .dashed("Theorem 4", &degrees, &vec![fourth; degrees.len()]),
        );
    }
    figures
}

const INTRODUCTION: &str = "Regret is regularised: against min_f Σ (f(x_t) − y_t)² + λ‖f‖². KORS with Proposition 5's β = 12 ln(n/δ), \
δ = 0.1; μ = λ/n for Theorem 6. Theorem 3 takes the neglected part ‖(I − P)C^{1/2}‖² as measured, the corollaries (through Theorems 6 \
and 3) as chosen. *J* counts coordinates: points kept in the span of others add none. Theorem 4's last M is the degree that its rule gives. \
At these lengths Proposition 5's β keeps every point that is not in the span of the others unless μ is near β or above: then nothing is \
projected, the learner is Kernel-AWV, and the row is marked so and is no verdict. Bounds that hold for any algorithm are not counted either, because they say \
nothing: on a regret no smaller than that of predicting 0, on a size or an effective dimension no smaller than n, on the neglected part no \
smaller than the largest eigenvalue. Theorem 3 with λ = μ stands at the larger μ. The paper's experiments take β = 1, for which nothing \
is proved and about m points are kept: the corollaries' sizes are reached by no dictionary that they are proved for. Exact leverage scores sum \
to the effective dimension.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_bound_is_broken_on_short_streams() {
        for regime in &REGIMES {
            let outcome = measure(regime, 80, 3, 5).unwrap();
            for row in &outcome.rows {
                assert!(row.measured <= row.bound * (1.0 + 1e-9), "{}: {row:?}", regime.name);
            }
            let known = outcome.known;
            assert!((known.scores - known.dimension).abs() < 1e-6 * known.dimension, "{known:?}");
            assert!(known.largest_score < 1.0);
        }
    }
}
