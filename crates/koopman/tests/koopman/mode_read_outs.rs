//! What is read off modes, against the same from the pairs themselves and from known systems:
//! shapes, sets with their weights, jumps and committors, the spectrum under control, and lags.

use std::num::NonZeroUsize;

use mercer_koopman::{Error, LagScan, OperatorModel, OperatorSums, OperatorSumsParams, Reason, Reliability};
use mercer_linalg_incremental::Matrix;
use mercer_testkit::oracle::Pair;
use mercer_testkit::streams::uniforms;

use crate::support::{Outcome, autoregressive_pairs, path, planar_pairs};

fn model(pairs: &[Pair], count: usize) -> Result<OperatorModel, Error> {
    let state = pairs[0].1.len();
    let mut learner = OperatorSums::new(state, pairs[0].0.len() - state, OperatorSumsParams::default())?;
    for (x, x_plus) in pairs {
        learner.update(x, x_plus)?;
    }
    learner.model(count, 1)
}

/// Real functions of the leading modes on rows: the constant's and real modes' as they are, of a
/// complex pair both parts.
fn functions(model: &OperatorModel, count: usize, x: &[f64]) -> Result<Vec<f64>, Error> {
    let values = model.eigenfunctions(x)?;
    let mut row = Vec::new();
    for (mode, [re, im]) in model.modes().iter().zip(values).take(count) {
        if mode.value.im >= 0.0 {
            row.push(re);
        }
        if mode.value.im > 0.0 {
            row.push(im);
        }
    }
    Ok(row)
}

/// Shapes and errors are those of least squares on the pairs.
#[test]
fn shapes_are_those_of_least_squares_on_the_pairs() -> Outcome {
    let mut pairs = planar_pairs(4, 900);
    // Another unit and another origin.
    pairs.iter_mut().for_each(|(x, next)| [x, next].into_iter().for_each(|x| x[1] = 1000.0 + 50.0 * x[1]));
    let model = model(&pairs, 12)?;
    assert!(model.modes().iter().any(|mode| mode.value.im != 0.0));
    for count in [1, 4, 12] {
        let made = model.mode_shapes(count)?;
        let rows: Vec<Vec<f64>> = pairs.iter().map(|(x, _)| functions(&model, count, x)).collect::<Result<_, _>>()?;
        let (n, m) = (pairs.len(), rows[0].len());
        let gram = Matrix::from_fn(m, m, |i, j| rows.iter().map(|row| row[i] * row[j]).sum::<f64>());
        let right = Matrix::from_fn(m, 2, |i, j| rows.iter().zip(&pairs).map(|(row, pair)| row[i] * pair.0[j]).sum());
        let best = gram.solve(&right)?;
        // The other one of a pair that the count cuts is its conjugate.
        let last = made.shapes.len() - 1;
        let twice = |k: usize| if k == last && model.modes()[k].value.im > 0.0 { 2.0 } else { 1.0 };
        let (mut state, mut step, mut variances) = ([0.0; 2], [0.0; 2], [[0.0; 2]; 2]);
        for j in 0..2 {
            let mean = |k: usize| pairs.iter().map(|pair| [&pair.0, &pair.1][k][j]).sum::<f64>() / n as f64;
            let means = [mean(0), mean(1)];
            for (row, (x, next)) in rows.iter().zip(&pairs) {
                let fitted: f64 = row.iter().zip(best.column(j)).map(|(f, c)| f * c).sum();
                state[j] += (x[j] - fitted).powi(2);
                let values = model.eigenfunctions(x)?;
                // Σ v μ f, term by term in complex numbers.
                let ahead: f64 = (0..made.shapes.len())
                    .map(|k| {
                        let (value, [a, b], [re, im]) = (model.modes()[k].value, made.shapes[k][j], values[k]);
                        let (c, d) = (a * value.re - b * value.im, a * value.im + b * value.re);
                        twice(k) * (c * re - d * im)
                    })
                    .sum();
                step[j] += (next[j] - ahead).powi(2);
                variances[0][j] += (x[j] - means[0]).powi(2);
                variances[1][j] += (next[j] - means[1]).powi(2);
                // x ≈ Σ v f is real, and that of least squares.
                let told: f64 = (0..made.shapes.len())
                    .map(|k| twice(k) * (made.shapes[k][j][0] * values[k][0] - made.shapes[k][j][1] * values[k][1]))
                    .sum();
                assert!((told - fitted).abs() < 1e-5 * (1.0 + fitted.abs()), "{count}: {told} {fitted}");
            }
        }
        let units = model.units();
        let part = |missed: [f64; 2], of: [f64; 2]| {
            let sum = |parts: [f64; 2]| parts[0] / units[0].powi(2) + parts[1] / units[1].powi(2);
            sum(missed) / sum(of)
        };
        assert!((made.state_error - part(state, variances[0])).abs() < 1e-6, "{count}: {made:?}");
        let ahead = made.step_error.ok_or("a step")?;
        assert!((ahead - part(step, variances[1])).abs() < 1e-6, "{count}: {made:?}");
    }
    // The constant alone has the mean, and misses all of the variance.
    let constant = model.mode_shapes(1)?;
    assert!((constant.state_error - 1.0).abs() < 1e-9 && (constant.shapes[0][1][0].abs() - 1000.0).abs() < 50.0);
    Ok(())
}

/// Three states, of which two are near each other; jumps and weights of the chain itself.
const THREE: [[f64; 3]; 3] = [[0.9, 0.08, 0.02], [0.1, 0.7, 0.2], [0.02, 0.18, 0.8]];

#[test]
fn sets_of_a_chain_are_its_states_and_committors_are_those_of_the_chain() -> Outcome {
    let states = [-1.0, 0.0, 1.0];
    let pairs = path(states, THREE, 20_000, 3);
    let model = model(&pairs, 12)?;
    let sets = model.sets(3)?;
    // The chain that the pairs are.
    let mut counts = [[0.0; 3]; 3];
    let place = |x: &[f64]| (x[0] + 1.0).round() as usize;
    pairs.iter().for_each(|(x, next)| counts[place(x)][place(next)] += 1.0);
    let seen = counts.map(|row| row.map(|count| count / row.iter().sum::<f64>()));
    // At rest, by powers.
    let mut rest = [1.0 / 3.0; 3];
    for _ in 0..2000 {
        rest = [0, 1, 2].map(|j| (0..3).map(|i| rest[i] * seen[i][j]).sum());
    }
    let set: Vec<usize> =
        states.iter().map(|x| largest(&sets.memberships(&model.eigenfunctions(&[*x]).unwrap()))).collect();
    for i in 0..3 {
        let memberships = sets.memberships(&model.eigenfunctions(&[states[i]])?);
        assert!((memberships[set[i]] - 1.0).abs() < 1e-5 && (memberships.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        assert!((sets.weights()[set[i]] - rest[i]).abs() < 2e-3, "{:?} {rest:?}", sets.weights());
        for j in 0..3 {
            assert!((sets.jumps()[set[i]][set[j]] - seen[i][j]).abs() < 2e-3, "{:?} {seen:?}", sets.jumps());
        }
    }
    assert!(sets.weights().windows(2).all(|two| two[0] >= two[1]), "{:?}", sets.weights());
    // Until one of the two is hit, by iteration.
    for (a, b) in [(0, 2), (2, 0), (0, 1)] {
        let mut hit = [0.0; 3];
        for _ in 0..2000 {
            hit = [0, 1, 2].map(|i| match i {
                i if i == a => 0.0,
                i if i == b => 1.0,
                _ => (0..3).map(|j| seen[i][j] * hit[j]).sum(),
            });
        }
        let told = sets.committor(set[a], set[b])?;
        assert!((0..3).all(|i| (told[set[i]] - hit[i]).abs() < 0.02), "{told:?} {hit:?}");
    }
    assert!(sets.committor(1, 1).is_err() && sets.committor(0, 3).is_err());
    assert!(matches!(model.sets(9), Err(Error::NoSets { asked: 9, .. })));
    Ok(())
}

/// Of a chain all functions are told by counts, and whatever features there are is the same score.
#[test]
fn the_held_out_score_is_that_of_the_counts() -> Outcome {
    let pairs = path([-1.0, 0.0, 1.0], THREE, 8000, 5);
    let place = |x: &[f64]| (x[0] + 1.0).round() as usize;
    let mut counts = [[[0.0; 3]; 3]; 4];
    pairs.iter().enumerate().for_each(|(t, (x, next))| counts[t % 4][place(x)][place(next)] += 1.0);
    let share = |k: usize, row: bool| -> f64 {
        let entry = |other: usize| if row { (k, other) } else { (other, k) };
        let cells = (0..3).map(entry);
        cells.map(|(i, j)| counts.iter().map(|fold| fold[i][j]).sum::<f64>()).sum::<f64>() / 8000.0
    };
    let white = |of: &[[f64; 3]; 3]| -> [[f64; 3]; 3] {
        let weight: f64 = of.iter().flatten().sum();
        [0, 1, 2].map(|i| [0, 1, 2].map(|j| of[i][j] / weight / (share(i, true) * share(j, false)).sqrt()))
    };
    for rank in [1, 2, 3] {
        let mut expected = 0.0;
        for fold in 0..4 {
            let mut rest = [[0.0; 3]; 3];
            (0..4).filter(|f| *f != fold).for_each(|f| {
                (0..3).for_each(|i| (0..3).for_each(|j| rest[i][j] += counts[f][i][j]));
            });
            let (own, mut others) = (white(&counts[fold]), white(&rest));
            // Singular pairs by the power method, taken off one after the other.
            let (mut left, mut right) = (Vec::new(), Vec::new());
            for _ in 0..rank {
                let mut v = [0.6, 0.5, 0.4];
                let mut u = [0.0; 3];
                let mut size = 0.0;
                for _ in 0..5000 {
                    u = [0, 1, 2].map(|i| (0..3).map(|j| others[i][j] * v[j]).sum::<f64>());
                    let norm = u.iter().map(|x| x * x).sum::<f64>().sqrt();
                    u = u.map(|x| x / norm);
                    v = [0, 1, 2].map(|j| (0..3).map(|i| others[i][j] * u[i]).sum::<f64>());
                    size = v.iter().map(|x| x * x).sum::<f64>().sqrt();
                    v = v.map(|x| x / size);
                }
                (0..3).for_each(|i| (0..3).for_each(|j| others[i][j] -= size * u[i] * v[j]));
                left.push(u);
                right.push(v);
            }
            for u in &left {
                for v in &right {
                    let seen: f64 = (0..3).map(|i| (0..3).map(|j| u[i] * own[i][j] * v[j]).sum::<f64>()).sum();
                    expected += seen * seen / 4.0;
                }
            }
        }
        let told = model(&pairs, rank)?.vamp2().ok_or("a score")?;
        assert!((told / expected - 1.0).abs() < 0.02, "{rank}: {told} {expected}");
    }
    Ok(())
}

fn largest(values: &[f64]) -> usize {
    (0..values.len()).max_by(|a, b| values[*a].total_cmp(&values[*b])).unwrap_or(0)
}

/// The weights are those at rest, although the pairs begin in one of two sets nearly always.
#[test]
fn weights_at_rest_need_no_equilibrium() -> Outcome {
    // A number of no meaning beside the state, or the end of a path would be the start of the next.
    let others = uniforms(5, 24_000);
    let steps = (0..4000).flat_map(|seed| path([0.0, 1.0], [[0.95, 0.05], [0.15, 0.85]], 3, seed));
    let pairs: Vec<Pair> = steps
        .zip(others.chunks_exact(2))
        .map(|((x, next), other)| (vec![x[0], other[0]], vec![next[0], other[1]]))
        .collect();
    let share = pairs.iter().filter(|(x, _)| x[0] == 0.0).count() as f64 / pairs.len() as f64;
    let sets = model(&pairs, 12)?.sets(2)?;
    assert!(share > 0.9 && (sets.weights()[0] - 0.75).abs() < 0.03, "{share} {:?}", sets.weights());
    Ok(())
}

/// `x⁺ = Ax + Bu + noise` with a turning pair and one beyond 1, in other units.
fn steered(count: usize, noise: f64, input: impl Fn(&[f64], f64) -> f64) -> Vec<Pair> {
    let (c, s) = (0.9 * 0.4_f64.cos(), 0.9 * 0.4_f64.sin());
    let numbers = uniforms(11, 4 * count);
    let mut x = vec![0.3, -0.2, 0.1];
    let mut pairs = Vec::new();
    for draws in numbers.chunks_exact(4) {
        let u = input(&x, draws[3] - 0.5);
        let e: Vec<f64> = draws[..3].iter().map(|draw| noise * (draw - 0.5)).collect();
        let next = vec![c * x[0] - s * x[1] + u + e[0], s * x[0] + c * x[1] + e[1], 1.02 * x[2] + 0.5 * u + e[2]];
        pairs.push((vec![x[0], 100.0 * x[1], x[2], u], vec![next[0], 100.0 * next[1], next[2]]));
        x = next;
    }
    pairs
}

#[test]
fn under_control_the_spectrum_is_that_of_the_system_at_fixed_inputs() -> Outcome {
    // The input holds back the third number, which would run away on its own.
    let held = |x: &[f64], draw: f64| 2.0 * draw - 0.4 * x[2];
    let model = model(&steered(3000, 0.1, held), 10)?;
    assert_eq!(model.modes().len(), 3);
    let turning = 0.9 * 0.4_f64.cos();
    for (value, im) in [(1.02, 0.0), (turning, 0.9 * 0.4_f64.sin()), (turning, -0.9 * 0.4_f64.sin())] {
        let near = |mode: &&mercer_koopman::Mode| (mode.value.re - value).hypot(mode.value.im - im);
        let mode = model.modes().iter().min_by(|a, b| near(a).total_cmp(&near(b))).ok_or("a mode")?;
        assert!(near(&mode) < 3.0 * mode.spread && mode.spread < 0.02, "{mode:?}");
        assert!(mode.is_reliable() && mode.reason == Reason::SpreadAlone, "{mode:?}");
    }
    // The turning pair lives in the first two columns, of which the second has another unit.
    let shapes = model.mode_shapes(10)?;
    let turning = model.modes().iter().position(|mode| mode.value.im > 0.0).ok_or("a pair")?;
    let size = |j: usize| shapes.shapes[turning][j][0].hypot(shapes.shapes[turning][j][1]);
    assert!((size(1) / size(0) / 100.0 - 1.0).abs() < 0.05 && size(2) < 0.05 * size(0), "{shapes:?}");
    assert!(shapes.state_error < 1e-6 && shapes.step_error.is_none(), "{shapes:?}");
    Ok(())
}

/// Under an input that the state tells, `A` is not to be told from `A + BK`.
#[test]
fn inputs_that_follow_the_state_leave_the_spectrum_open() -> Outcome {
    let model = model(&steered(3000, 0.1, |x, _| -0.4 * x[2]), 10)?;
    assert!(!model.modes().is_empty());
    for mode in model.modes() {
        assert_eq!((mode.reliability, mode.reason), (Reliability::Unknown, Reason::InputsFollow), "{mode:?}");
    }
    Ok(())
}

fn scan(pairs: &[Pair], lags: &[usize]) -> Result<LagScan, Error> {
    let lags: Vec<NonZeroUsize> = lags.iter().filter_map(|lag| NonZeroUsize::new(*lag)).collect();
    let mut scan = LagScan::new(pairs[0].1.len(), &lags, OperatorSumsParams::default())?;
    pairs.iter().try_for_each(|(x, next)| scan.update(x, next))?;
    Ok(scan)
}

/// Pairs of each lag are those of the path itself, also where another path begins; and eigenvalues
/// are those of learners of these pairs.
#[test]
fn pairs_of_a_lag_stay_within_a_path() -> Outcome {
    let (mut pairs, other) = (autoregressive_pairs(1, 3000), autoregressive_pairs(2, 2000));
    pairs.extend(other);
    let scan = scan(&pairs, &[5, 1, 5])?;
    assert_eq!((scan.lags(), scan.rounds()), (&[1, 5][..], vec![5000, 2996 + 1996]));
    let whole: Vec<Pair> = [&pairs[..3000], &pairs[3000..]]
        .into_iter()
        .flat_map(|path| path.windows(5).map(|five| (five[0].0.clone(), five[4].1.clone())))
        .collect();
    let alone = model(&whole, 3)?;
    for found in scan.modes(3)?.iter().filter(|found| found.lag == 5) {
        assert!(alone.modes().iter().any(|mode| mode.value == found.value), "{found:?}");
    }
    Ok(())
}

#[test]
fn eigenvalues_of_later_lags_are_powers_where_the_state_tells_all_and_else_not() -> Outcome {
    let whole = autoregressive_pairs(6, 12_000);
    let found = scan(&whole, &[1, 2, 4])?.modes(2)?;
    for mode in found.iter().filter(|mode| mode.mode == 1) {
        let power = 0.8_f64.powi(i32::try_from(mode.lag)?);
        assert!((mode.value.re - power).abs() < 0.04 && mode.agrees == Some(true), "{mode:?}");
    }
    // The same behind noise of its own size: what lag 1 tells dies out too fast.
    let found = scan(&behind_noise(&whole, 9), &[1, 2, 4])?.modes(1)?;
    assert!(found.iter().any(|mode| mode.lag == 4 && mode.agrees == Some(false)), "{found:?}");
    Ok(())
}

/// The process of [`autoregressive_pairs`] behind noise of its own size.
fn behind_noise(pairs: &[Pair], seed: u64) -> Vec<Pair> {
    let draws = uniforms(seed, 12 * (pairs.len() + 1));
    let noise: Vec<f64> = draws.chunks_exact(12).map(|twelve| twelve.iter().sum::<f64>() - 6.0).collect();
    let seen = |(t, (x, next)): (usize, &Pair)| (vec![x[0] + noise[t]], vec![next[0] + noise[t + 1]]);
    pairs.iter().enumerate().map(seen).collect()
}

/// Two spreads of chance leave the true time scale out where the state misses something, and the
/// bias that other lags show holds it; where the state tells all there is next to none.
#[test]
fn spreads_at_lags_hold_the_bias_that_other_lags_show() -> Outcome {
    let (mut by_chance, mut held, mut all) = (0, 0, 0);
    for seed in 0..2 {
        let whole = autoregressive_pairs(20 + seed, 12_000);
        let exact = scan(&whole, &[1, 2, 4])?.modes(1)?;
        for mode in exact.iter().chain(&scan(&behind_noise(&whole, 40 + seed), &[1, 2, 4])?.modes(1)?) {
            let truth = 0.8_f64.powi(i32::try_from(mode.lag)?);
            let away = (mode.value.modulus() - truth).abs();
            let chance = (mode.spread * mode.spread - mode.bias * mode.bias).sqrt();
            if exact.contains(mode) {
                assert!(away <= 3.0 * mode.spread && mode.bias < 0.02, "{seed}: {mode:?}");
            } else {
                all += 1;
                held += u32::from(away <= 2.0 * mode.spread);
                by_chance += u32::from(away <= 2.0 * chance);
            }
        }
    }
    assert!(all == 6 && held == all && by_chance == 0, "{held}, by chance {by_chance} of {all}");
    Ok(())
}
