//! Mixtures that recover from rounds out of all proportion, and are as they were without them.

use mercer_experts::{Aggregation, OutlierScreen, Rule, Share, square_loss_regret};
use rand::RngExt;
use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};

/// Experts that are off by so much, and by noise.
const OFF: [f64; 3] = [0.3, 0.0, 1.0];

fn plain() -> Vec<Aggregation> {
    let shared = [Rule::Ewa, Rule::Boa].map(|rule| {
        let aggregation = Aggregation::new(OFF.len(), rule).expect("experts");
        aggregation.sharing(Share::Decreasing).expect("a share")
    });
    let alone = Rule::ALL.map(|rule| Aggregation::new(OFF.len(), rule).expect("experts"));
    alone.into_iter().chain(shared).collect()
}

/// Plays `rounds` rounds whose targets are `spoil`ed; the squared error of each against the true
/// one, and the regrets.
fn play(aggregation: &mut Aggregation, rounds: usize, spoil: impl Fn(usize, f64) -> f64) -> (Vec<f64>, Vec<Vec<f64>>) {
    let mut random = ChaCha8Rng::seed_from_u64(6);
    let round = |t: usize| {
        let truth = (0.3 * t as f64).sin();
        let made = OFF.map(|off| truth + off + 0.2 * (random.random::<f64>() - 0.5));
        let mut mixture = [0.0];
        aggregation.mix(&made, &mut mixture).expect("finite");
        let y = spoil(t, truth);
        let regrets = made.map(|made| square_loss_regret(&mixture, &[y], &[made]));
        aggregation.learn(&regrets).expect("finite");
        ((mixture[0] - truth).powi(2), regrets.to_vec())
    };
    (0..rounds).map(round).unzip()
}

#[test]
fn ordinary_streams_have_the_same_weights_to_the_bit() {
    for mut aggregation in plain() {
        let mut recovering = aggregation.clone().recovering();
        assert_eq!(play(&mut aggregation, 5000, |_, y| y), play(&mut recovering, 5000, |_, y| y));
        assert_eq!(aggregation.weights(), recovering.weights());
    }
}

#[test]
fn one_wrong_target_is_made_good_within_some_hundred_rounds() {
    for aggregation in plain() {
        let recovering = aggregation.clone().recovering();
        let errors = |aggregation: &Aggregation, row: usize, size: f64| {
            let errors = play(&mut aggregation.clone(), row + 1500, |t, y| if t == row { size } else { y }).0;
            errors[row + 500..].iter().sum::<f64>()
        };
        let mut ruined = 0;
        for (row, size) in [6, 5000].into_iter().flat_map(|row| [1e3, 1e6, 1e9, 1e60].map(|size| (row, size))) {
            let undisturbed = errors(&aggregation, row, 0.0);
            let spoilt = errors(&recovering, row, size);
            assert!(spoilt < 1.2 * undisturbed, "{}: {size:e} in {row}: {spoilt} {undisturbed}", aggregation.rule());
            ruined += usize::from(errors(&aggregation, row, size) > 2.0 * undisturbed);
        }
        // ML-Poly's weights are ratios, in which the range cancels where it outweighs all squares.
        let ratios = aggregation.rule() == Rule::MlPoly;
        assert!(ratios || ruined > 0, "{}: nothing to recover from", aggregation.rule());
    }
}

#[test]
fn a_weighed_round_is_one_of_a_smaller_size() {
    for aggregation in plain() {
        let mut recovering = aggregation.clone().recovering();
        let spoil = |t: usize, y: f64| if t % 300 == 200 { -1e5 } else { y };
        let (_, history) = play(&mut recovering, 2000, spoil);
        let (mut weighed, mut screen, mut weights) = (aggregation, OutlierScreen::default(), Vec::new());
        for regrets in &history {
            let size = regrets.iter().fold(0.0, |size: f64, regret| size.max(regret.abs()));
            weights.push(screen.observe(size).powi(2));
            let regrets: Vec<f64> = regrets.iter().map(|regret| weights[weights.len() - 1] * regret).collect();
            weighed.learn(&regrets).expect("finite");
        }
        assert_eq!(recovering.weights(), weighed.weights());
        let spoilt = (0..history.len()).filter(|t| spoil(*t, 0.0) != 0.0).count();
        assert_eq!(weights.iter().filter(|weight| **weight < 1.0).count(), spoilt);
    }
}

#[test]
fn what_was_outgrown_is_left() {
    for aggregation in plain() {
        let mut recovering = aggregation.recovering();
        // A thousand rounds in another unit, in which other experts were better.
        let mut round = |t: usize| {
            let mut regrets = [0.0; 3];
            let (best, unit) = if t < 1000 { (0, 1e9) } else { (2, 1.0) };
            for (k, regret) in regrets.iter_mut().enumerate() {
                *regret = unit * (f64::from(k == best) - recovering.weights()[best]);
            }
            recovering.learn(&regrets).expect("finite");
            recovering.weights()[2]
        };
        let weights: Vec<f64> = (0..3500).map(&mut round).collect();
        assert!(weights[999] < 0.1 && weights[3499] > 0.9, "{}", recovering.rule());
    }
}
