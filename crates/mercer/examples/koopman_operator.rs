//! An operator learnt from a stream of states, after Boya Hou, Sina Sanjari, Nathan Dahlin, Alec
//! Koppel and Subhonmesh Bose, *Nonparametric Sparse Online Learning of the Koopman Operator*.
//!
//! **The problem.** A particle moves in a landscape with four wells, pushed by noise: it stays in a
//! well for long and jumps rarely. The wells are nowhere written down; only pairs `(x, x⁺)` of a
//! state and the one that follows are seen. Which regions hold the particle, and where will it be?
//!
//! **The idea.** The motion is nonlinear, but the *Koopman operator* `(Kg)(x) = E[g(x⁺) | x]`,
//! which takes a function to its expected value one step later, is linear. In a kernel's space it
//! can be learnt by stochastic gradient steps, one pair at a time, and a dictionary that keeps a
//! pair only when leaving it out would cost more than a budget `ε` holds the step at `2md + 3m²`
//! multiply-adds. From the operator everything is read off:
//! - its *eigenvalues* near 1 belong to what hardly changes: as many as there are wells;
//! - their *eigenfunctions* are nearly constant on each well, so that clustering their values finds
//!   the wells;
//! - its *powers* applied to a function forecast that function many steps ahead.
//!
//! **What to look at.** The dictionary nearly stops growing; after four eigenvalues near 1 there is
//! a gap; the adjusted Rand index (1 is a perfect partition, 0 a random one) compares the clusters
//! with the true wells, of which the learner was told nothing. The forecasts come near the
//! simulated shares; a state so close to a ridge is the hardest case, for the kernel smooths over
//! it.
//!
//! ```sh
//! cargo run -p mercer --example koopman_operator
//! ```

use std::error::Error;

use mercer::AnyKernel;
use mercer::kernels::Points;
use mercer::koopman::{
    Budget, KMeans, OperatorLearner, Sogd, SogdParams, StepSchedule, adjusted_rand_index, orthonormal_rows,
};
use mercer::streams::FourWells;

const WELLS: usize = 4;
const ETA: f64 = 0.3;

fn main() -> Result<(), Box<dyn Error>> {
    // 400 trajectories of 100 pairs, a pair every 0.1, told in turns, so that the whole landscape
    // is seen from early on.
    let pairs = FourWells::default().pairs(400, 100, 5)?.interleaved(100);
    let kernel: AnyKernel = "mix:0.4*gaussian:0.4+0.6*gaussian:0.7".parse()?;
    let params = SogdParams::default()
        // Falling steps average the noise away; 2000 rounds pass before they fall.
        .step(StepSchedule::Power { eta: ETA * 2000_f64.powf(0.6), exponent: 0.6, offset: 2000.0 })
        .budget(Budget::Constant(ETA.powi(4)))
        .rank_guard(2.5e-4);
    let mut learner = Sogd::on_states(kernel, 2, params)?;

    println!("1. Learning");
    println!("{:>8} {:>6} {:>8}", "pairs", "kept", "norm");
    for (t, (x, x_plus)) in pairs.iter().enumerate() {
        learner.update(x, x_plus)?;
        if [500, 2000, 8000, 20_000, 40_000].contains(&(t + 1)) {
            println!("{:>8} {:>6} {:>8.3}", t + 1, learner.operator().inputs().len(), learner.operator().hs_norm());
        }
    }

    let operator = learner.operator();
    let functions = operator.eigen(WELLS)?;
    let moduli: Vec<String> =
        operator.eigenvalues()?.iter().take(WELLS + 2).map(|value| format!("{:.3}", value.modulus())).collect();
    println!("\n2. Sizes of the leading eigenvalues: {}", moduli.join(", "));

    // States that were not learnt from.
    let (mut states, mut wells) = (Points::new(2), Vec::new());
    for (x, _) in FourWells::default().pairs(40, 50, 6)?.iter() {
        states.push(x);
        wells.push(FourWells::well([x[0], x[1]]));
    }
    let values = operator.evaluate_real_parts(&functions, &states)?;
    let clusters = KMeans { clusters: WELLS, ..KMeans::default() }.partition(&orthonormal_rows(&values), WELLS)?;
    let index = adjusted_rand_index(&clusters.labels, &wells);
    println!("   {} new states in {WELLS} clusters: adjusted Rand index {index:.3}", states.len());

    // g(x) = ±1 on the right and on the left; (1 + Kⁿg)/2 is the probability to be on the right n
    // steps later. It is centred because constants lie outside the space of this kernel.
    println!("\n3. Starting on the slope (0.3, 1): the chance to be on the right, forecast and simulated");
    let side = operator.observe(|x| x[0].signum());
    let steps = 20;
    let powers = operator.powers(&side, steps)?;
    let runs: Vec<_> =
        (0..1000).map(|seed| FourWells::default().trajectory([0.3, 1.0], steps, seed)).collect::<Result<_, _>>()?;
    for step in [1, 5, 20] {
        let forecast = 0.5 + 0.5 * operator.evaluate(&powers[step - 1], &[0.3, 1.0])?;
        let share = runs.iter().filter(|run| run[step][0] > 0.0).count() as f64 / runs.len() as f64;
        println!("   after {step:>2} steps: {forecast:.3} {share:.3}");
    }
    Ok(())
}
