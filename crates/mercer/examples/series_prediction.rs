//! Predicting a system that nobody knows, after Jiachen Qian and Yang Zheng, *Model-free Online
//! Learning for the Kalman Filter: Forgetting Factor and Logarithmic Regret* (2025).
//!
//! **The problem.** A linear system is driven by noise and seen through noise, and its outputs may
//! wander off: positions of moving bodies, the pole of the Earth. With the matrices known the best
//! predictor of the next output is Kalman's. Nothing is known here.
//!
//! **The idea.** Kalman's prediction is nearly a regression upon the last `p` outputs, whose
//! coefficients fall like `ρ^lag`, where `ρ < 1` is the rate at which the filter forgets. Plain
//! least squares (`γ = 1`) does not know that they fall, and fits noise with the far lags. Scaling
//! lag `a` by `γ^(a−1)` says so: the regulariser then holds far lags down. The regret against
//! Kalman stays logarithmic and its constant falls. No `γ` need be chosen: a mixture of all of them
//! does nearly as well as the best.
//!
//! **What to look at.** The first table is what each predictor loses beyond Kalman's filter,
//! summed, after ever longer times: slow growth is what the theory promises; compare `γ = 1` with
//! `γ = 0.5`, near this system's `ρ`. The second is real: tomorrow's pole and rotation, and
//! intervals that hold 90 % of what comes, whatever the series does.
//!
//! ```sh
//! cargo run -p mercer --example series_prediction
//! ```

use std::error::Error;

use mercer::datasets::Registry;
use mercer::forecast::{
    ConformalIntervals, ForecastMixture, Forecaster, Forgetting, GridParams, IntervalParams, KalmanPredictor,
    LastValue, LinearExtrapolation, Opf, OpfParams, StateSpace,
};
use mercer::readers::Series;
use mercer::streams::LinearSystem;

const WARM_UP: usize = 60;

fn main() -> Result<(), Box<dyn Error>> {
    known_system()?;
    earth_orientation()
}

fn known_system() -> Result<(), Box<dyn Error>> {
    // Three bodies at once: position, velocity and acceleration each, of which the positions are
    // seen.
    let system = LinearSystem::tracking();
    let series = system.simulate(8000, 3)?.outputs;
    let known = system.matrices();
    let model = StateSpace {
        a: known.a.clone(),
        c: known.c.clone(),
        q: known.q.clone(),
        r: known.r.clone(),
        ..StateSpace::default()
    };
    let mut kalman = KalmanPredictor::new(&model)?;
    println!("1. Loss beyond Kalman's filter, which forgets at the rate ρ = {:.3}", kalman.closed_loop_radius());
    let times = [500, 1000, 2000, 4000, 8000];
    println!("{:>12}{}", "after", times.map(|time| format!("{time:>10}")).concat());
    let best = losses(&mut kalman, &series)?;
    let gaps = |name: &str, losses: &[f64]| {
        println!("{name:>12}{}", times.map(|time| format!("{:>10.0}", losses[time - 1] - best[time - 1])).concat());
    };
    for gamma in [0.5, 0.8, 1.0] {
        let params = OpfParams::default().forgetting(Forgetting::Scalar(gamma));
        gaps(&format!("γ = {gamma}"), &losses(&mut Opf::new(3, &params)?, &series)?);
    }
    let grid = GridParams::default();
    let mut mixture = ForecastMixture::<Opf>::grid(3, &grid)?;
    gaps("all γ", &losses(&mut mixture, &series)?);
    let heaviest = (0..grid.gammas.len()).max_by(|i, j| mixture.weights()[*i].total_cmp(&mixture.weights()[*j]));
    if let Some(heaviest) = heaviest {
        println!(
            "The mixture trusts γ = {} most, with weight {:.2}.",
            grid.gammas[heaviest],
            mixture.weights()[heaviest]
        );
    }
    Ok(())
}

fn earth_orientation() -> Result<(), Box<dyn Error>> {
    let grid = GridParams::default();
    // The real series: pole x and y in milliarcseconds, and rotation in milliseconds, day by day.
    let earth = Registry::load()?.open_series("earth_orientation")?;
    println!(
        "\n2. The orientation of the Earth, {} days: root mean squared error of tomorrow's prediction",
        earth.len()
    );
    let m = earth.dimension();
    let rms = |name: &str, losses: Vec<f64>| {
        println!("{name:>20}  {:.3}", (losses[losses.len() - 1] / (m * (losses.len() - WARM_UP)) as f64).sqrt());
    };
    rms("as today", losses(&mut LastValue::new(m), &earth)?);
    rms("along a line", losses(&mut LinearExtrapolation::new(m), &earth)?);
    let mut mixture = ForecastMixture::<Opf>::grid(m, &grid)?;
    rms("mixture of all γ", losses(&mut mixture, &earth)?);

    // Once more, with an interval around each prediction, and then a week ahead.
    let (mut mixture, mut intervals) =
        (ForecastMixture::<Opf>::grid(m, &grid)?, ConformalIntervals::new(m, IntervalParams::default())?);
    let mut prediction = vec![0.0; m];
    for (day, today) in earth.iter().enumerate() {
        mixture.predict_then_observe(&[], today, &mut prediction)?;
        if day > WARM_UP {
            intervals.observe(&prediction, today)?;
        }
    }
    println!("{:.1} % of the days of pole x lay in their intervals.", 100.0 * intervals.coverage(0));
    let week = mixture.forecast(7, &[])?;
    println!("Pole x tomorrow: {:.2} ± {:.2}; in a week: {:.2}.", week[0], intervals.radius(0), week[6 * m]);
    Ok(())
}

/// Squared errors after the warm-up, summed up to each time.
fn losses(forecaster: &mut impl Forecaster, series: &Series) -> Result<Vec<f64>, mercer::forecast::Error> {
    let (mut prediction, mut sum) = (vec![0.0; series.dimension()], 0.0);
    let mut sums = Vec::with_capacity(series.len());
    for (k, y) in series.iter().enumerate() {
        forecaster.predict_then_observe(&[], y, &mut prediction)?;
        if k > WARM_UP {
            sum += prediction.iter().zip(y).map(|(p, y)| (p - y) * (p - y)).sum::<f64>();
        }
        sums.push(sum);
    }
    Ok(sums)
}
