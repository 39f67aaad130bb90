//! The members of `auto` that have a closed form, and what they add to each effect.

use mercer_auto::{Auto, ClosedForm, ClosedMember, ClosedPart, Polynomial};
use mercer_kernels::AlignedVec;
use mercer_learners::update::LinearUpdate;
use mercer_learners::{Error, Regressor, Scratch};

use super::Absence;
use super::products::ProductSum;
use crate::function::{summed, waves};

/// `Σ_k w_k ŷ_k(x)` over the members of `auto` outside of its windows, unclipped, at the weights
/// that they have: dictionaries and random features of the bent features, and a polynomial.
pub(super) struct ClosedSum<'a> {
    form: ClosedForm<'a>,
    /// Of the bent features.
    products: ProductSum,
    /// The player of each feature.
    players: Vec<usize>,
    /// Means of straight and bent features in the background.
    straight: Vec<f64>,
    bent: Vec<f64>,
    /// The mean of `z_i z_j` where both are absent, in the order of the polynomial's products.
    moments: Vec<f64>,
}

impl<'a> ClosedSum<'a> {
    /// The sum of the outputs of `auto` with the weights of `aim`, beside a background; `players`
    /// are those of the inputs. None before `auto` has learnt a scaling.
    pub(super) fn new(
        auto: &'a Auto,
        aim: &[f64],
        (background, absence): (&[Vec<f64>], Absence),
        (players, count): (&[usize], usize),
    ) -> Option<Self> {
        let form = auto.closed_form(aim)?;
        let mut products = ProductSum::default();
        for part in &form.parts {
            match part.member {
                ClosedMember::Dictionary(learner) => {
                    let (basis, mut alpha) = (learner.basis(), AlignedVec::new());
                    basis.coefficients(&summed(learner.linear().coefficients()?.vectors(), &part.weights)?, &mut alpha);
                    products.add_gaussian(basis.kernel(), basis.points(), &alpha);
                }
                ClosedMember::Waves(learner) => {
                    products.add_waves(waves(learner.feature_map(), learner.linear(), &part.weights)?);
                }
            }
        }
        let own: Vec<usize> = form.inputs().map(|input| players[input]).collect();
        let rows: Vec<[Vec<f64>; 2]> = background.iter().map(|row| features(&form, row)).collect();
        let mean = |kind: usize, j: usize| rows.iter().map(|row| row[kind][j]).sum::<f64>() / rows.len() as f64;
        let means = |kind: usize| (0..own.len()).map(|j| mean(kind, j)).collect::<Vec<f64>>();
        let (straight, bent) = (means(0), means(1));
        let mut moments = Vec::new();
        if !form.polynomial.products.is_empty() {
            moments.reserve(form.polynomial.products.len());
            for (j, player) in own.iter().enumerate() {
                for (i, other) in own[..=j].iter().enumerate() {
                    let together = absence == Absence::Together || player == other;
                    let products = rows.iter().map(|[_, z]| z[i] * z[j]);
                    moments.push(if together { products.sum::<f64>() / rows.len() as f64 } else { bent[i] * bent[j] });
                }
            }
        }
        let rows: Vec<Vec<f64>> = rows.into_iter().map(|[_, bent]| bent).collect();
        products.set_background(&rows, &own, count, absence);
        Some(Self { form, products, players: own, straight, bent, moments })
    }

    /// The sum at inputs `x`, by the members' own predictions.
    ///
    /// # Errors
    /// Theirs.
    pub(super) fn value(&self, x: &[f64]) -> Result<f64, Error> {
        let [straight, bent] = features(&self.form, x);
        let Polynomial { offset, straight: a, bent: b, products } = &self.form.polynomial;
        let linear = |w: &[f64], x: &[f64]| w.iter().zip(x).map(|(w, x)| w * x).sum::<f64>();
        let mut sum = offset + linear(a, &straight) + linear(b, &bent);
        let (mut scratch, mut made) = (Scratch::default(), Vec::new());
        for ClosedPart { member, weights } in &self.form.parts {
            made.resize(weights.len(), 0.0);
            match member {
                ClosedMember::Dictionary(learner) => learner.predict_into(&bent, &mut scratch, &mut made)?,
                ClosedMember::Waves(learner) => learner.predict_into(&bent, &mut scratch, &mut made)?,
            }
            sum += linear(weights, &made);
        }
        let mut rest = &products[..];
        for (j, z) in bent.iter().enumerate().take_while(|_| !products.is_empty()) {
            let (own, behind) = rest.split_at(j + 1);
            sum += z * linear(own, &bent);
            rest = behind;
        }
        Ok(sum)
    }

    /// The base and the effects of all players. With means `m` and `E_ij` of the products of what
    /// is absent, `z_i z_j` adds `½ (z_i z_j + z_i m_j − m_i z_j − E_ij)` to the effect of the
    /// player of `i`, and the same with `i` and `j` changed to that of `j`.
    pub(super) fn explain(&self, x: &[f64], count: usize) -> (f64, Vec<f64>) {
        let [straight, bent] = features(&self.form, x);
        let (mut base, mut effects) = self.products.explain(&bent, &self.players, count);
        let Polynomial { offset, straight: a, bent: b, products } = &self.form.polynomial;
        base += offset;
        for (w, x, means) in [(a, &straight, &self.straight), (b, &bent, &self.bent)] {
            for (((w, x), mean), player) in w.iter().zip(x).zip(means).zip(&self.players) {
                base += w * mean;
                effects[*player] += w * (x - mean);
            }
        }
        let mut pairs = products.iter().zip(&self.moments);
        for (j, (z, m)) in bent.iter().zip(&self.bent).enumerate() {
            let others = bent[..=j].iter().zip(&self.bent).zip(&self.players);
            for (((other, mean), player), (w, moment)) in others.zip(pairs.by_ref()) {
                let (both, across) = (z * other - moment, other * m - mean * z);
                base += w * moment;
                effects[*player] += 0.5 * w * (both + across);
                effects[self.players[j]] += 0.5 * w * (both - across);
            }
        }
        (base, effects)
    }
}

/// Straight and bent features of inputs.
fn features(form: &ClosedForm<'_>, x: &[f64]) -> [Vec<f64>; 2] {
    let (mut straight, mut bent) = (Vec::new(), Vec::new());
    form.features(x, &mut straight, &mut bent);
    [straight, bent]
}

#[cfg(test)]
mod tests {
    use mercer_auto::AutoParams;
    use mercer_encoding::ScaledTargets;
    use mercer_learners::RegressorExt;

    use super::super::columns::ExplainedColumns;
    use super::super::inputs::InputExplainer;
    use super::super::{Aim, Explanation};
    use super::*;
    use crate::model::{Numbers, Tabular, Task};

    /// Three inputs in units of their own, the last of which is often the same, and a target.
    fn example(t: usize) -> (Vec<f64>, f64) {
        let [a, b, c] = [37, 53, 71].map(|step| (t * step + t * t * 7) as f64 % 101.0 / 101.0);
        let c = if c < 0.6 { 0.0 } else { c };
        (vec![100.0 * a, b - 3.0, c], 50.0 + 10.0 * (5.0 * a).sin() + 8.0 * b * c + 3.0 * a)
    }

    fn learnt(rows: usize) -> Result<Auto, Error> {
        let mut auto = Auto::new(3, AutoParams::default().budget(100_000))?;
        for t in 0..rows {
            let (x, y) = example(t);
            auto.update(&x, y)?;
        }
        Ok(auto)
    }

    /// A row with a value far out, so that bent features are other ones than straight ones, and a
    /// background.
    fn explained() -> (Vec<f64>, Vec<Vec<f64>>) {
        (vec![700.0, -2.2, 0.9], (0..4).map(|k| example(900 + 31 * k).0).collect())
    }

    /// The value of a set of players: the mean over the background, of whole rows or of a row for
    /// each absent player.
    fn value(
        f: impl Fn(&[f64]) -> f64,
        (x, background, players): (&[f64], &[Vec<f64>], &[usize]),
        (set, count, absence): (usize, usize, Absence),
    ) -> f64 {
        let n = background.len();
        let all = if absence == Absence::Together { n } else { n.pow(count as u32) };
        let row = |draw: usize, player: usize| match absence {
            Absence::Together => draw,
            Absence::Independent => draw / n.pow(player as u32) % n,
        };
        let mixed = |draw: usize| -> Vec<f64> {
            let input = |(j, player): (usize, &usize)| {
                if set >> player & 1 == 1 { x[j] } else { background[row(draw, *player)][j] }
            };
            players.iter().enumerate().map(input).collect()
        };
        (0..all).map(|draw| f(&mixed(draw))).sum::<f64>() / all as f64
    }

    /// Over all sets, and with two inputs of one column.
    #[test]
    fn its_effects_are_those_of_all_sets() -> Result<(), Error> {
        let (auto, (x, background)) = (learnt(300)?, explained());
        for (players, count) in [([0, 1, 2], 3), ([0, 1, 0], 2)] {
            for absence in [Absence::Together, Absence::Independent] {
                let Some(sum) = ClosedSum::new(&auto, &[2.0], (&background, absence), (&players, count)) else {
                    panic!("auto has a scaling");
                };
                let form = &sum.form;
                assert!(form.parts.len() >= 2 && !form.polynomial.products.is_empty(), "{} parts", form.parts.len());
                let f = |x: &[f64]| sum.value(x).unwrap_or(f64::NAN);
                let of_set = |set| value(f, (&x, &background, &players), (set, count, absence));
                let (base, effects) = sum.explain(&x, count);
                let size = sum.products.size(&x).max(of_set(0).abs());
                assert!((base - of_set(0)).abs() < 1e-12 * size, "{base} and {}", of_set(0));
                for (player, effect) in effects.into_iter().enumerate() {
                    // Shares |S|! (d − 1 − |S|)!/d! of two and of three players.
                    let share = |set: usize| match (count, set.count_ones()) {
                        (2, _) => 0.5,
                        (_, 1) => 1.0 / 6.0,
                        _ => 1.0 / 3.0,
                    };
                    let others = (0..1 << count).filter(|set| set >> player & 1 == 0);
                    let exact: f64 = others.map(|set| share(set) * (of_set(set | 1 << player) - of_set(set))).sum();
                    assert!((effect - exact).abs() < 1e-11 * size, "{player} of {count}: {effect} and {exact}");
                }
            }
        }
        Ok(())
    }

    /// The errors of effects whose exact part is not sampled, beside those of effects that are
    /// sampled as a whole, and beside the effects over all sets.
    #[test]
    fn what_is_exact_is_not_sampled() -> Result<(), Error> {
        let auto = learnt(600)?;
        let (_, background) = explained();
        let task = Task::Numbers(Box::new(Numbers::new(ScaledTargets::unscaled(auto.clone().into()))));
        let columns = ExplainedColumns::new(&Tabular::plain(task.clone()), &[]);
        let made = |exact: bool| {
            let aim = Aim::number(0, 1);
            let made = InputExplainer::new(&task, &columns, aim, Absence::Independent, &background);
            made.map(|made| made.permutations(200, 1).with_exact_parts(exact))
        };
        let (in_parts, whole) = (made(true)?, made(false)?);
        let mut squares = [0.0; 2];
        let mut bases = Vec::new();
        for t in [640, 655, 671, 688, 699] {
            let (x, _) = example(t);
            let f = |x: &[f64]| auto.predict(x).unwrap_or(f64::NAN);
            let of_set = |set| value(f, (&x, &background, &[0, 1, 2]), (set, 3, Absence::Independent));
            for (k, explainer) in [&in_parts, &whole].into_iter().enumerate() {
                let Explanation { prediction, base, effects, standard_errors, .. } = explainer.explain(&x)?;
                let sum = base + effects.iter().sum::<f64>();
                assert!((sum - prediction).abs() < 1e-9 && (prediction - f(&x)).abs() < 1e-12, "{sum}, {prediction}");
                squares[k] += standard_errors.iter().map(|error| error * error).sum::<f64>();
                for (player, (effect, error)) in effects.iter().zip(&standard_errors).enumerate() {
                    let share = |set: usize| if set.count_ones() == 1 { 1.0 / 6.0 } else { 1.0 / 3.0 };
                    let others = (0..8_usize).filter(|set| set >> player & 1 == 0);
                    let exact: f64 = others.map(|set| share(set) * (of_set(set | 1 << player) - of_set(set))).sum();
                    assert!((effect - exact).abs() < 5.0 * error + 1e-9, "{player}: {effect} ± {error}, {exact}");
                }
                bases.push((k, base));
            }
        }
        // All rows have one base.
        assert!(bases.iter().all(|(k, base)| (base - bases[*k].1).abs() < 1e-9), "{bases:?}");
        assert!(squares[0] < squares[1], "{squares:?}");
        Ok(())
    }
}
