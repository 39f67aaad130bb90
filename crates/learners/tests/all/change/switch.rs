//! After a switch of the target a mixture with tracking members does nearly as well as a learner
//! that starts there.

use mercer_experts::{Adwin, AnyDetector, PageHinkley, Rule, Share};
use mercer_kernels::{AnyKernel, Gaussian};
use mercer_learners::update::Forgetting;
use mercer_learners::{Fogd, FogdParams, Krls, KrlsParams, Mixture, Regressor, RegressorExt, Restarting};
use mercer_registry::AnyRegressor;
use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};

use mercer_testkit::streams::normal;

type Any = AnyRegressor<AnyKernel>;
type Row = ([f64; 5], f64);

const SWITCH: usize = 5000;

/// A nonlinear channel, as in figure 2 of Van Vaerenbergh, Lázaro-Gredilla and Santamaría (*Kernel
/// recursive least-squares tracker for time-varying regression*, 2012): `tanh` of five taps, which
/// change at the switch, and noise at 20 dB.
fn channel(seed: u64) -> Vec<Row> {
    const BEFORE: [f64; 5] = [1.0, -0.3817, -0.1411, 0.5789, 0.191];
    const AFTER: [f64; 5] = [1.0, -0.0870, 0.9852, -0.2826, -0.1711];
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut x = [0.0; 5];
    let rows = (0..SWITCH + 1000).map(|t| {
        x.rotate_right(1);
        x[0] = normal(&mut random);
        let taps = if t < SWITCH { BEFORE } else { AFTER };
        let clean = taps.iter().zip(&x).map(|(h, x)| h * x).sum::<f64>().tanh();
        (x, clean + 0.07 * normal(&mut random))
    });
    rows.collect()
}

fn losses(learner: &mut impl Regressor, rows: &[Row]) -> Vec<f64> {
    rows.iter().map(|(x, y)| (learner.predict_then_update(x, *y).expect("a row") - y).powi(2)).collect()
}

fn params() -> KrlsParams {
    KrlsParams::default().lambda(0.01).max_dictionary(Some(150))
}

fn krls(params: KrlsParams) -> Any {
    let kernel = AnyKernel::Gaussian(Gaussian::new(4.0).expect("a width"));
    Krls::new(kernel, 5, params).expect("valid").into()
}

fn members(detector: AnyDetector) -> Vec<(String, Any)> {
    let fogd = FogdParams::default().features(200).sigma(4.0).step(0.3);
    let members: [(&str, Any); 4] = [
        ("krls", krls(params())),
        ("krls, forgetting", krls(params().forgetting(0.99).forgets(Forgetting::ToPrior))),
        ("fogd", Fogd::new(5, fogd).expect("valid").into()),
        ("krls, restarting", Restarting::new(krls(params()), detector).into()),
    ];
    members.map(|(name, member)| (name.to_owned(), member)).into()
}

/// The loss of the 1000 rows after the switch, divided by that of a learner that starts there.
fn ratio(learner: &mut impl Regressor, rows: &[Row]) -> f64 {
    let fresh: f64 = losses(&mut krls(params()), &rows[SWITCH..]).iter().sum();
    losses(learner, rows)[SWITCH..].iter().sum::<f64>() / fresh
}

#[test]
fn a_mixture_recovers_after_a_switch() {
    let mut worst = [0.0_f64; 3];
    for seed in 0..6 {
        let rows = channel(seed);
        let [page_hinkley, adwin] = [PageHinkley::default().into(), Adwin::default().into()].map(|detector| {
            let mixture = Mixture::new(members(detector), Rule::Ewa).expect("members");
            ratio(&mut mixture.sharing(Share::Decreasing).expect("a share"), &rows)
        });
        let steady = Mixture::new(members(AnyDetector::default()).into_iter().take(1), Rule::Ewa);
        let steady = ratio(&mut steady.expect("a member"), &rows);
        for (worst, ratio) in worst.iter_mut().zip([page_hinkley, adwin, steady]) {
            *worst = worst.max(ratio);
        }
        assert!(page_hinkley <= 1.2, "seed {seed}: {page_hinkley}");
        // It waits some ten rows longer.
        assert!(adwin <= 1.35, "seed {seed}, ADWIN: {adwin}");
        assert!(steady > 10.0, "seed {seed}: without tracking members {steady}");
    }
    println!(
        "at most {:.3} with Page–Hinkley, {:.3} with ADWIN, {:.1} without tracking members",
        worst[0], worst[1], worst[2]
    );
}
