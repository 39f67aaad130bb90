//! Regression in sublinear time, after Junfan Li and Shizhong Liao, *Nearly Optimal Algorithms with
//! Sublinear Computational Complexity for Online Kernel Regression* (ICML 2023).
//!
//! **The problem.** Prices of diamonds come one after the other: predict the price from nine
//! features, then see it, and learn. A kernel method is accurate, but the plain ones keep every
//! stone: KONS, the online Newton step in the kernel's space, needs `½t²` multiply-adds in round
//! `t`, which 54,000 stones make 10¹³.
//!
//! **The idea.** Most stones are nearly combinations of earlier ones: their images `k(x, ·)` lie
//! within a distance `√α` of the span of a few that are kept. ALD (approximate linear dependence)
//! keeps a stone only when it does not. What is learnt then has `J` coordinates, and `J` depends on
//! how fast the kernel's eigenvalues fall, hardly on `t`. Two learners use this dictionary:
//! - AOGD-ALD takes gradient steps: cheap, and its regret grows like the square root of the best
//!   function's loss;
//! - NONS-ALD takes Newton steps, `Jd + 2J²` multiply-adds, and its regret is nearly logarithmic
//!   where the spectrum falls fast.
//!
//! **What to look at.** In the first table `kept` hardly doubles while the stream grows a
//! hundredfold, and the loss goes on falling. In the second, NONS-ALD loses hardly more than KONS,
//! which keeps everything. In the third, `α` trades points for loss.
//!
//! ```sh
//! cargo run -p mercer --example sublinear_regression
//! ```

use std::error::Error;
use std::time::Instant;

use mercer::datasets::Registry;
use mercer::readers::{Dataset, Ranges, Scaling, Scheme};
use mercer::{
    AogdAld, AogdAldParams, Fogd, FogdParams, Gaussian, Kons, KonsParams, NonsAld, NonsAldParams, Regressor,
    prequential,
};

/// Width of the Gaussian kernel; features lie on \[−1, 1\].
const WIDTH: f64 = 4.0;

fn main() -> Result<(), Box<dyn Error>> {
    // The bundled stream, shuffled (the file has runs of rising price), features on [−1, 1] and
    // prices on [0, 1].
    let mut table = Registry::load()?.open("diamonds")?.permuted(1);
    Scaling::new(Ranges::from_table(&table), Scheme::PAPER01).apply(&mut table)?;
    let d = table.dimension();
    let alpha = 25.0 / table.len() as f64; // the paper's threshold, 25/T

    println!("1. {} stones, one pass; mean squared error and points kept so far", table.len());
    println!("{:>9}  {:>22}  {:>22}", "stones", "AOGD-ALD (kept)", "NONS-ALD (kept)");
    let mut gradient = AogdAld::new(kernel()?, d, AogdAldParams::default().alpha(alpha))?;
    let mut newton = NonsAld::new(kernel()?, d, NonsAldParams::default().alpha(alpha))?;
    let (first, second) = (at_doublings(&mut gradient, &table)?, at_doublings(&mut newton, &table)?);
    for ((t, loss, kept), (_, other_loss, other_kept)) in first.into_iter().zip(second) {
        println!("{t:>9}  {loss:>15.5} {kept:>6}  {other_loss:>15.5} {other_kept:>6}");
    }

    table.truncate(2000);
    println!(
        "\n2. The first {} of them again, beside a learner that keeps all, and one of random features",
        table.len()
    );
    println!("{:>9}  {:>10} {:>6} {:>8}", "", "error", "kept", "ms");
    // The same curvature and regulariser for both, so that only the dictionary differs.
    let newton = NonsAldParams::default().alpha(alpha);
    let eta = 1.0 / (4.0 * (newton.radius.powi(2) + newton.label_bound.powi(2)));
    let keeps_all = KonsParams::default().mu(newton.mu).eta(eta).clip(Some(newton.radius));
    let step = 10.0 / (table.len() as f64).sqrt();
    row("KONS", Kons::new(kernel()?, d, keeps_all)?, &table)?;
    row("NONS-ALD", NonsAld::new(kernel()?, d, newton)?, &table)?;
    row("FOGD", Fogd::new(d, FogdParams::default().sigma(WIDTH).step(step))?, &table)?;

    println!("\n3. The threshold α of NONS-ALD");
    println!("{:>9}  {:>10} {:>6} {:>8}", "α", "error", "kept", "ms");
    for alpha in [1e-1, 1e-2, 1e-3, 1e-4] {
        row(&format!("{alpha:e}"), NonsAld::new(kernel()?, d, newton.alpha(alpha))?, &table)?;
    }
    Ok(())
}

fn kernel() -> Result<Gaussian, mercer::KernelError> {
    Gaussian::new(WIDTH)
}

/// Mean squared error and dictionary size after 500, 1000, 2000, … rounds and after the last.
fn at_doublings(learner: &mut impl Regressor, table: &Dataset) -> Result<Vec<(usize, f64, usize)>, mercer::Error> {
    let (mut seen, mut next) = (Vec::new(), 500);
    prequential(learner, table.iter(), |round| {
        if round.t == next || round.t == table.len() {
            seen.push((round.t, round.score.mse(), round.dictionary_size));
            next *= 2;
        }
    })
    .map_err(|refused| refused.error)?;
    Ok(seen)
}

/// One pass, one line.
fn row(name: &str, mut learner: impl Regressor, table: &Dataset) -> Result<(), mercer::Error> {
    let start = Instant::now();
    let score = prequential(&mut learner, table.iter(), |_round| {}).map_err(|refused| refused.error)?;
    let milliseconds = start.elapsed().as_secs_f64() * 1e3;
    println!("{name:>9}  {:>10.5} {:>6} {milliseconds:>8.1}", score.mse(), learner.dictionary_size());
    Ok(())
}
