//! Ridge regression on a projection, after Rémi Jézéquel, Pierre Gaillard and Alessandro Rudi,
//! *Efficient online learning with kernels for adversarial large scale problems* (NeurIPS 2019).
//!
//! **The problem.** Compete with the best function of a Gaussian kernel's space on a long stream in
//! few dimensions, of which nothing is assumed: an adversary may choose each target once it has
//! seen the prediction. Kernel-AWV (Azoury, Warmuth, Vovk) has the best regret there is, but keeps
//! every point: `½t²` multiply-adds in round `t`.
//!
//! **The idea.** Project on a space of `r` functions. In few dimensions it can be chosen before any
//! data come: the Taylor features of the Gaussian up to degree `M`, `r = C(d + M, M)`, for a round
//! of `2r²`. Or it follows the data: KORS keeps a point with a probability that is its leverage
//! score (PKAWV-Nyström). The forecast is that of AWV, `wᵀz/(1 + zᵀA⁻¹z)`: ridge regression that
//! shrinks its prediction where it knows little. PKRR is the same without the shrinking.
//!
//! **What to look at.** In the first table a few degrees reach the loss of all points, at a price a
//! round that does not grow with the stream. In the second, an adversary answers every prediction
//! with the target opposite to it: ridge regression, which does not shrink, loses more.
//!
//! ```sh
//! cargo run -p mercer --example projected_regression
//! ```

use std::error::Error;
use std::time::Instant;

use mercer::kernels::TaylorFeatures;
use mercer::readers::Dataset;
use mercer::streams::Simulation;
use mercer::{
    Gaussian, KernelAwv, KernelRidgeParams, NystromParams, PkawvNystrom, PkawvTaylor, PkrrTaylor, Regressor,
    RegressorExt, TaylorParams, prequential,
};

const WIDTH: f64 = 0.5;
const LAMBDA: f64 = 0.1;

fn main() -> Result<(), Box<dyn Error>> {
    // A sum of Gaussian bumps on the square, seen through noise that is uniform on [−0.1, 0.1]
    // (variance 0.00333).
    let simulation = Simulation { rows: 2000, noise: 0.1, width: WIDTH, seed: 7 };
    let stream = simulation.cube(2)?.dataset;

    println!("1. {} rounds in two dimensions; no learner can be much below 0.00333", stream.len());
    println!("{:>16}  {:>8} {:>8} {:>8}", "", "size", "error", "ms");
    for degree in [2, 4, 8, 16] {
        row(&format!("Taylor, degree {degree}"), PkawvTaylor::new(2, taylor(degree))?, &stream)?;
    }
    let nystrom = NystromParams::default().lambda(LAMBDA);
    row("Nyström", PkawvNystrom::new(Gaussian::new(WIDTH)?, 2, nystrom)?, &stream)?;
    let exact = KernelAwv::new(Gaussian::new(WIDTH)?, 2, KernelRidgeParams::default().lambda(LAMBDA))?;
    row("all points", exact, &stream)?;
    let sufficient = TaylorFeatures::sufficient_degree(2.0_f64.sqrt(), WIDTH, stream.len(), LAMBDA);
    println!(
        "Theorem 4 asks for degree {sufficient} ({} features), enough for any data; these are kinder.",
        TaylorFeatures::count(2, sufficient)
    );

    println!("\n2. The same inputs; every target is ±1, whichever is farther from the prediction");
    println!("{:>16}  {:>12} {:>16}", "", "mean loss", "mean |predicted|");
    let (awv, ridge) = (PkawvTaylor::new(2, taylor(16))?, PkrrTaylor::new(2, taylor(16))?);
    for (name, (loss, size)) in
        [("AWV", against_adversary(awv, &stream)?), ("ridge", against_adversary(ridge, &stream)?)]
    {
        println!("{name:>16}  {loss:>12.4} {size:>16.4}");
    }
    println!("Always predicting 0 would lose 1.0000 a round.");
    Ok(())
}

fn taylor(degree: usize) -> TaylorParams {
    TaylorParams::default().sigma(WIDTH).degree(degree).lambda(LAMBDA)
}

/// One pass, one line.
fn row(name: &str, mut learner: impl Regressor, stream: &Dataset) -> Result<(), mercer::Error> {
    let start = Instant::now();
    let score = prequential(&mut learner, stream.iter(), |_round| {}).map_err(|refused| refused.error)?;
    let milliseconds = start.elapsed().as_secs_f64() * 1e3;
    println!("{name:>16}  {:>8} {:>8.5} {milliseconds:>8.1}", learner.dictionary_size(), score.mse());
    Ok(())
}

/// Mean loss, and mean size of the predictions, when the target is the sign that the prediction has
/// not.
fn against_adversary(mut learner: impl Regressor, stream: &Dataset) -> Result<(f64, f64), mercer::Error> {
    let (mut loss, mut size) = (0.0, 0.0);
    for (x, _) in stream.iter() {
        // `predict` is pure: the adversary may look before it answers.
        let prediction = learner.predict(x)?;
        let y = if prediction >= 0.0 { -1.0 } else { 1.0 };
        learner.update(x, y)?;
        loss += (prediction - y).powi(2);
        size += prediction.abs();
    }
    let rounds = stream.len() as f64;
    Ok((loss / rounds, size / rounds))
}
