//! What the detector must not do: these break the promise, so the tests of it can fail.

use mercer_testkit::oracle::{RankOptions, bets_on_ranks};

use crate::streams::{generator, independent, normals};

const N: f64 = 1000.0;
const BURN_IN: usize = 512;

/// Alarms in the values behind the burn-in at one in 1000, by a detector that begins anew in the
/// counts alone.
fn count(values: &[f64], options: RankOptions) -> usize {
    let mut found = 0;
    let mut from = 0;
    while values.len() - from > BURN_IN {
        let wealth = bets_on_ranks(&values[from..], BURN_IN, options);
        let Some(alarm) = wealth.iter().position(|wealth| *wealth >= N) else { break };
        found += 1;
        from += BURN_IN + alarm + 1;
    }
    found
}

/// Rows that are bet on between alarms: about 60,000 in all, so that 60 alarms are allowed.
#[test]
fn a_fixed_reference_breaks_the_promise() {
    let alarms = |options| -> usize {
        (0..30)
            .map(|seed| {
                let values: Vec<f64> = independent(seed, 2500, 1).into_iter().flatten().collect();
                count(&values, options)
            })
            .sum()
    };
    let (all, fixed) = (alarms(RankOptions::default()), alarms(RankOptions { fixed_reference: Some(32) }));
    assert!(all <= 60, "{all} with ranks among all before");
    assert!(fixed > 90, "{fixed} with ranks among the first 32");
}

/// A witness: the direction in which the last rows went.
#[test]
fn a_score_that_follows_the_stream_breaks_the_promise() {
    let alarms: usize = (0..20)
        .map(|seed| {
            let mut rng = generator(seed);
            let mut witness = vec![0.0; 2];
            let mut score = || {
                let row = normals(&mut rng, 2);
                let score = row.iter().zip(&witness).map(|(x, w)| x * w).sum::<f64>();
                witness.iter_mut().zip(&row).for_each(|(w, x)| *w += 0.02 * (x - *w));
                score
            };
            let values: Vec<f64> = (0..2500).map(|_| score()).collect();
            count(&values, RankOptions::default())
        })
        .sum();
    // 20 streams of some 2000 rows: 40 are allowed.
    assert!(alarms > 60, "{alarms}");
}
