//! The mis-specified setting (section 4, Theorem 4.1, Lemma 6.1): dynamics that leave the kernel's
//! space, with every norm in closed form.
//!
//! On `[0, 1]` with `e_0 = 1`, `e_k = √2 cos(πkx)` the kernel is `Σ σ_k e_k(x)e_k(y)`, `σ_0 = ½`,
//! `σ_k = ¼·2⁻ᵏ`, so that `h_k = √σ_k e_k` are orthonormal in H. The state goes to the tent map's
//! `1 − |1 − 2x|`, or with probability 0.2 anywhere; its law is uniform. The tent map sends `e_k`
//! to `e_{2k}`:
//!
//! ```text
//! K h_l = 0.8 √σ_l e_{2l},     ‖K‖² in HS(H, [H]^β) = ½^{1−β} + 0.64 Σ σ_l σ_{2l}^{−β}
//! ```
//!
//! which is finite for β < ½ alone. Since `‖K h_l‖²` grows like 2ˡ, some functions of H leave it.
//! The minimiser is `K_λ h_l = σ_{2l}/(σ_{2l} + λ) K h_l`.

use crate::prelude::*;
use mercer_kernels::Kernel;
use mercer_koopman::{Budget, KernelOperator, OperatorLearner, Sogd, SogdParams, StepSchedule};
use mercer_streams::Pairs;

/// `σ_{k+1}/σ_k`
const RATIO: f64 = 0.5;
/// Probability of going anywhere.
const ANYWHERE: f64 = 0.2;
/// Functions that are computed with; what is beyond them is a geometric series.
const MODES: usize = 160;
const LAMBDA: f64 = 0.01;
/// `k(x, x)` at most.
const B_INFINITY: f64 = 1.0;
const BETAS: [f64; 3] = [0.1, 0.25, 0.4];
const STEPS: [(&str, StepSchedule); 2] = [
    ("0.2", StepSchedule::Constant(0.2)),
    ("2/(t + 30)^0.75", StepSchedule::Power { eta: 2.0, exponent: 0.75, offset: 30.0 }),
];
/// Regularisers at which the minimiser's bias is computed.
const LAMBDAS: [f64; 7] = [1e-1, 1e-2, 1e-3, 1e-4, 1e-6, 1e-8, 1e-10];

#[derive(Clone, Copy, Debug)]
struct Cosines;

impl Kernel for Cosines {
    fn evaluate(&self, x: &[f64], z: &[f64]) -> f64 {
        // Σ rᵏ cos kθ
        let sum = |theta: f64| {
            let along = RATIO * theta.cos();
            (along - RATIO * RATIO) / (1.0 - 2.0 * along + RATIO * RATIO)
        };
        let pi = std::f64::consts::PI;
        0.5 + 0.25 * (sum(pi * (x[0] - z[0])) + sum(pi * (x[0] + z[0])))
    }

    fn self_value(&self, x: &[f64]) -> f64 {
        self.evaluate(x, x)
    }
}

fn sigma(k: usize) -> f64 {
    if k == 0 { 0.5 } else { 0.25 * RATIO.powi(k as i32) }
}

fn cosine(k: usize, x: f64) -> f64 {
    if k == 0 { 1.0 } else { std::f64::consts::SQRT_2 * (std::f64::consts::PI * k as f64 * x).cos() }
}

/// `⟨K h_l, e_{2l}⟩`
fn koopman(l: usize) -> f64 {
    sigma(l).sqrt() * if l == 0 { 1.0 } else { 1.0 - ANYWHERE }
}

/// `Σ_l w(σ_{2l}) ⟨K h_l, e_{2l}⟩² σ_{2l}^{−β}`: of `w = 1` the squared norm of K, of `w = (λ/(σ +
/// λ))²` the minimiser's bias.
fn norm_of(beta: f64, weight: impl Fn(f64) -> f64) -> f64 {
    let term = |l: usize| weight(sigma(2 * l)) * koopman(l).powi(2) * sigma(2 * l).powf(-beta);
    // Far out the terms are a geometric series.
    (0..500).map(term).sum()
}

fn bias(beta: f64, lambda: f64) -> f64 {
    norm_of(beta, |sigma| (lambda / (sigma + lambda)).powi(2))
}

/// `‖U_λ‖²` in HS(H, H).
fn minimiser_norm(lambda: f64) -> f64 {
    norm_of(1.0, |sigma| (sigma / (sigma + lambda)).powi(2))
}

/// A trajectory as pairs.
fn trajectory(count: usize, seed: u64) -> Pairs {
    let mut state = seed;
    let mut uniform = || {
        state = seed_of(state, "misspecified");
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let mut pairs = Pairs::new(1, 1);
    let mut x = uniform();
    for _ in 0..count {
        let next = if uniform() < ANYWHERE { uniform() } else { 1.0 - (1.0 - 2.0 * x).abs() };
        pairs.push(&[x], &[next]);
        x = next;
    }
    pairs
}

/// The distances of a learnt operator.
#[derive(Clone, Debug, PartialEq)]
struct Distances {
    /// `‖[K_t] − K‖²` for each β.
    to_koopman: [f64; BETAS.len()],
    /// `‖[K_t − K_λ]‖²` for each β.
    to_minimiser: [f64; BETAS.len()],
    /// `‖U_t − U_λ‖²`
    plain: f64,
}

impl Distances {
    fn measure(operator: &KernelOperator<Cosines>) -> Self {
        let (inputs, outputs, weights) = (operator.inputs(), operator.outputs(), operator.weights());
        // √σ_k e_k at the points.
        let features = |points: &mercer_kernels::Points| -> Vec<Vec<f64>> {
            let at = |x: f64| (0..MODES).map(|k| sigma(k).sqrt() * cosine(k, x)).collect();
            (0..points.len()).map(|i| at(points.point(i)[0])).collect()
        };
        let (left, right) = (features(inputs), features(outputs));
        let mut distances = Self { to_koopman: [0.0; 3], to_minimiser: [0.0; 3], plain: 0.0 };
        for l in 0..MODES {
            let mut carried = vec![0.0; left.len()];
            for (row, y) in weights.chunks_exact(left.len().max(1)).zip(&right) {
                carried.iter_mut().zip(row).for_each(|(sum, weight)| *sum += y[l] * weight);
            }
            for k in 0..MODES {
                // ⟨K_t h_l, h_k⟩, and that of the truth and the minimiser.
                let own: f64 = carried.iter().zip(&left).map(|(c, x)| c * x[k]).sum();
                let truth = if k == 2 * l { koopman(l) / sigma(k).sqrt() } else { 0.0 };
                let target = truth * sigma(k) / (sigma(k) + LAMBDA);
                distances.plain += (own - target).powi(2);
                for (i, beta) in BETAS.iter().enumerate() {
                    let scale = sigma(k).powf(1.0 - beta);
                    distances.to_koopman[i] += scale * (own - truth).powi(2);
                    distances.to_minimiser[i] += scale * (own - target).powi(2);
                }
            }
        }
        for (i, beta) in BETAS.iter().enumerate() {
            let beyond = |l: usize| koopman(l).powi(2) * sigma(2 * l).powf(-beta);
            distances.to_koopman[i] += (MODES / 2..500).map(beyond).sum::<f64>();
        }
        distances
    }
}

/// Times that are looked at.
fn times(steps: usize) -> Vec<usize> {
    let ladder = [100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000];
    ladder.into_iter().filter(|t| *t <= steps).collect()
}

fn measure(schedule: StepSchedule, steps: usize, seed: u64) -> Result<Vec<Distances>> {
    let params =
        SogdParams::default().step(schedule).lambda(LAMBDA).budget(Budget::EtaSquared(1.0)).max_dictionary(None);
    let mut learner = Sogd::on_states(Cosines, 1, params)?;
    let times = times(steps);
    let mut seen = Vec::new();
    for (t, (x, next)) in trajectory(steps, seed).iter().enumerate() {
        learner.update(x, next)?;
        if times.contains(&(t + 1)) {
            seen.push(Distances::measure(learner.operator()));
        }
    }
    Ok(seen)
}

pub(super) fn run(plan: &Plan) -> Result<Report> {
    let steps = plan.size_or(5000, 50_000);
    let repetitions = plan.repetitions_or(4, 20);
    let inputs = STEPS.iter().flat_map(|step| (0..repetitions).map(move |repetition| (step, repetition)));
    let name = |((words, _), repetition): &(&(&str, _), usize)| format!("misspecified / {words} / {repetition}");
    let results = plan.each(inputs, name, |((_, schedule), repetition), _| {
        measure(*schedule, steps, seed_of(plan.seed, &format!("misspecified / {repetition}")))
    })?;
    let means = STEPS.map(|step| averaged(&results.outcomes_where(|(own, _)| own.0 == step.0)));
    let mut report = Report::new("The mis-specified setting: dynamics that leave the kernel's space");
    report.words(introduction(steps, repetitions));
    report.table("misspecified", "Errors in the intermediate norms, and what bounds them", bounds(&means, steps)?);
    report.table("misspecified_claims", "What should be seen, and whether it is", claims(&means, plan.seed)?);
    report.picture(
        "misspecified",
        "Error over time with diminishing steps (dashed: the bias of λ), and the bias against λ; the minimiser's own norm grows \
         without limit",
        picture(&means, steps),
    );
    Ok(report)
}

fn averaged(runs: &[&Vec<Distances>]) -> Vec<Distances> {
    let over = |t: usize, of: &dyn Fn(&Distances) -> f64| mean_of(runs, |run| of(&run[t]));
    let at = |t: usize| Distances {
        to_koopman: std::array::from_fn(|i| over(t, &|d| d.to_koopman[i])),
        to_minimiser: std::array::from_fn(|i| over(t, &|d| d.to_minimiser[i])),
        plain: over(t, &|d| d.plain),
    };
    (0..runs[0].len()).map(at).collect()
}

fn introduction(steps: usize, repetitions: usize) -> String {
    format!(
        "Tent map with restarts (probability {ANYWHERE}) on [0, 1]; the eigenvalues of the kernel halve from cosine to cosine, and \
         the map doubles the frequency, so the Koopman operator takes functions of H out of H. It is in HS(H, [H]^β) for β < ½ alone. \
         λ = {LAMBDA}, ε_t = η_t², {steps} steps of one trajectory, means of {repetitions} runs. All norms are sums over cosines: \
         {MODES} of them, and beyond these the series of the operator itself."
    )
}

fn bounds(means: &[Vec<Distances>], steps: usize) -> Result<Table> {
    let mut table = Table::with("statement | step | β # | t # | measured ~3 | bound ~3 | within");
    let all = times(steps);
    let looks = [all.len().saturating_sub(3), all.len() - 1];
    for ((words, _), seen) in STEPS.iter().zip(means) {
        for (i, beta) in BETAS.iter().enumerate() {
            let source = norm_of(*beta, |_| 1.0);
            for look in looks {
                let Distances { to_koopman, to_minimiser, plain } = &seen[look];
                let lemma = 2.0 * B_INFINITY.powf(1.0 - beta) * plain + 2.0 * source;
                let norm = B_INFINITY.powf(1.0 - beta) * plain;
                for (statement, measured, bound) in
                    [("Lemma 6.1", to_koopman[i], lemma), ("Lemma on the β-norm", to_minimiser[i], norm)]
                {
                    table.push(row![
                        statement,
                        *words,
                        *beta,
                        all[look],
                        measured,
                        bound,
                        Judgement::bound(measured <= bound, [(measured, bound)])
                    ])?;
                }
            }
        }
    }
    Ok(table)
}

fn claims(means: &[Vec<Distances>], seed: u64) -> Result<Table> {
    let mut claims = Claims::new();
    // E[h_l(x⁺) e_k(x)] is ⟨K h_l, e_k⟩, and ⟨h_l, U e_k⟩.
    let pairs = trajectory(100_000, seed_of(seed, "misspecified / adjoint"));
    let mut worst = 0.0f64;
    for l in 0..4 {
        for k in 0..8 {
            let products = pairs.iter().map(|(x, next)| sigma(l).sqrt() * cosine(l, next[0]) * cosine(k, x[0]));
            let truth = if k == 2 * l { koopman(l) } else { 0.0 };
            worst = worst.max((products.sum::<f64>() / pairs.len() as f64 - truth).abs());
        }
    }
    claims.of_paper(
        "Theorem 4.1: the adjoint of K is the embedding, mode by mode",
        format!("within {}", short(worst)),
        worst < 0.01,
    )?;
    let norms = [1e-2, 1e-4, 1e-8].map(minimiser_norm);
    claims.of_paper(
        "K is not in HS(H, H): the minimiser's norm grows without limit as λ falls",
        norms.map(short).join(", "),
        norms[2] > 10.0 * norms[0],
    )?;
    // What is left lies beyond the mode whose eigenvalue is λ, where 2⁻²ˡ is about λ.
    let (beta, biases) = (BETAS[1], [1e-2, 1e-4, 1e-8].map(|lambda| bias(BETAS[1], lambda)));
    let slope = (biases[0] / biases[2]).log10() / 6.0;
    claims.of_paper(
        format!("and is in HS(H, [H]^β), β = {beta}: there the bias goes to 0 like λ^{{(1 − 2β)/2}}"),
        format!("{}: like λ^{slope:.3}", biases.map(short).join(", ")),
        (slope - (0.5 - beta)).abs() < 0.02,
    )?;
    if let [first, .., last] = means[1].as_slice() {
        claims.of_paper(
            "Almost sure convergence: with diminishing steps the distance to the minimiser falls",
            format!("{}, then {}", short(first.plain), short(last.plain)),
            last.plain < first.plain / 4.0,
        )?;
        let (error, left) = (last.to_koopman[1], bias(BETAS[1], LAMBDA));
        claims.of_paper(
            "and the error comes to the bias of λ, not to 2 B_src²",
            format!("{}; bias {}, 2 B_src² {}", short(error), short(left), short(2.0 * norm_of(BETAS[1], |_| 1.0))),
            error < 2.0 * left,
        )?;
    }
    Ok(claims.table())
}

fn picture(means: &[Vec<Distances>], steps: usize) -> Panels {
    let xs: Vec<f64> = times(steps).iter().map(|t| *t as f64).collect();
    let mut error = Figure::new("error, diminishing steps").x_label("t").y_label("‖[K_t] − K‖²").log_x().log_y();
    let mut biases = Figure::new("bias and norm of the minimiser").x_label("λ").y_label("squared norm").log_x().log_y();
    for (i, beta) in BETAS.iter().enumerate() {
        let ys: Vec<f64> = means[1].iter().map(|seen| seen.to_koopman[i]).collect();
        error = error.line(format!("β = {beta}"), &xs, &ys);
        error = error.dashed(format!("bias, β = {beta}"), &xs, &vec![bias(*beta, LAMBDA); xs.len()]);
        biases = biases.line(format!("β = {beta}"), &LAMBDAS, &LAMBDAS.map(|lambda| bias(*beta, lambda)));
    }
    let biases = biases.dashed("‖U_λ‖² in HS(H, H)", &LAMBDAS, &LAMBDAS.map(minimiser_norm));
    Panels::new("The mis-specified setting", 2).panel(error).panel(biases)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_is_its_series_and_the_map_doubles_frequencies() {
        for (x, y) in [(0.1, 0.7), (0.0, 0.0), (0.93, 0.92)] {
            let series: f64 = (0..200).map(|k| sigma(k) * cosine(k, x) * cosine(k, y)).sum();
            assert!((Cosines.evaluate(&[x], &[y]) - series).abs() < 1e-14);
            assert!((cosine(3, 1.0 - (1.0 - 2.0 * x).abs()) - cosine(6, x)).abs() < 1e-13);
        }
        assert!(Cosines.self_value(&[0.0]) <= B_INFINITY + 1e-15);
    }

    #[test]
    fn an_operator_of_one_pair_by_hand() {
        // U = k(0.3, ·) ⊗ k(0.6, ·), whose squared norm is k(0.3, 0.3) k(0.6, 0.6).
        let points = |x: f64| mercer_kernels::Points::from_rows(1, &[x]);
        let operator = KernelOperator::from_weights(Cosines, points(0.6), Cosines, points(0.3), &[1.0]).unwrap();
        let own = Cosines.self_value(&[0.6]) * Cosines.self_value(&[0.3]);
        let product: f64 = (0..MODES / 2)
            .map(|l| {
                koopman(l) * sigma(2 * l) / (sigma(2 * l) + LAMBDA)
                    * cosine(2 * l, 0.6)
                    * sigma(l).sqrt()
                    * cosine(l, 0.3)
            })
            .sum();
        let expected = own + minimiser_norm(LAMBDA) - 2.0 * product;
        assert!((Distances::measure(&operator).plain - expected).abs() < 1e-12);
    }
}
