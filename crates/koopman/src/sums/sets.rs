//! Almost invariant sets, their weights at rest, jumps between them, and committors.
//!
//! With the constant and the next slow real functions `g = (1, g₂, …, g_K)`, `E[g(x⁺)|x] = g(x)Λ`,
//! the states that are farthest from each other in `g` are the corners of a simplex (inner simplex
//! algorithm, Weber and Galliat 2002; PCCA+, Deuflhard and Weber 2005). With the rows of `V` the
//! values of `g` there, `χ(x) = g(x)V⁻¹` are memberships that sum to 1, and
//! `E[χ(x⁺)|x] = χ(x) T` with `T = VΛV⁻¹`: the rows of `T` are the jumps between the sets.
//!
//! **At rest** every `g_k` but the constant has mean 0, whatever the law of the data: the weights
//! are the first row of `V⁻¹`. They need no equilibrium in the data.
//!
//! **Committor** from set `a` to `b`: the probability that `b` is reached before `a`, `q = Tq` off
//! both, `q_a = 0`, `q_b = 1`, and `χ(x)q` at a state. It is exact where the sets are the states of
//! a chain, and else that of jumps between sets.

use mercer_linalg_incremental::{Eigenvalue, Matrix};

use super::operator_model::OperatorModel;
use super::verdict::{Reason, Reliability};
use crate::Error;

/// Almost invariant sets: made by [`OperatorModel::sets`].
#[derive(Clone, Debug)]
pub struct MetastableSets {
    /// The mode of each function, and the part of it: 0 real, 1 imaginary. The first is the
    /// constant.
    functions: Vec<(usize, usize)>,
    /// The sign of the constant.
    constant: f64,
    /// `V⁻¹`
    change: Matrix,
    jumps: Matrix,
}

impl OperatorModel {
    /// `count` almost invariant sets by the leading functions that are not known to be unreliable,
    /// the heaviest set first. `O(points · count²)`.
    ///
    /// # Errors
    /// When there are not as many functions, `count` cuts a complex pair, or the states do not tell
    /// so many sets apart.
    pub fn sets(&self, count: usize) -> Result<MetastableSets, Error> {
        mercer_core::ParameterError::at_least_one("sets", count)?;
        let modes = self.modes();
        let constant = modes.iter().position(|mode| mode.reason == Reason::Constant);
        let usable = |k: &usize| Some(*k) != constant && modes[*k].reliability != Reliability::Unreliable;
        let slow = (0..modes.len()).filter(usable).filter(|k| modes[*k].value.im >= 0.0);
        let parts = |k: usize| if modes[k].value.im > 0.0 { vec![(k, 0), (k, 1)] } else { vec![(k, 0)] };
        let all: Vec<(usize, usize)> = constant.map(|k| (k, 0)).into_iter().chain(slow.flat_map(parts)).collect();
        let cuts = |at: usize| all.get(at).is_some_and(|(k, part)| *part == 1 && all[at - 1].0 == *k);
        if constant.is_none() || all.len() < count || cuts(count) {
            let fit = (1..=all.len()).filter(|n| constant.is_some() && !cuts(*n)).collect();
            return Err(Error::NoSets { asked: count, fit });
        }
        let functions = all[..count].to_vec();
        let places = self.places();
        let values = places.iter().map(|place| self.eigenfunctions(place)).collect::<Result<Vec<_>, _>>()?;
        let sign = values.first().map_or(1.0, |values| values[functions[0].0][0].signum());
        let mut sets =
            MetastableSets { functions, constant: sign, change: Matrix::default(), jumps: Matrix::default() };
        let rows: Vec<Vec<f64>> = values.iter().map(|values| sets.row(values)).collect();
        let corners = corners(&rows, count);
        let corner = Matrix::from_fn(count, count, |i, j| corners.get(i).map_or(0.0, |row| rows[*row][j]));
        let one = Matrix::from_fn(count, count, |i, j| f64::from(u8::from(i == j)));
        let change = corner.solve(&one).map_err(|_| Error::NoSets { asked: count, fit: Vec::new() })?;
        // The heaviest first.
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_by(|a, b| change.entry(0, *b).total_cmp(&change.entry(0, *a)));
        sets.change = Matrix::from_fn(count, count, |i, j| change.entry(i, order[j]));
        let corner = Matrix::from_fn(count, count, |i, j| corner.entry(order[i], j));
        let step = sets.step(|k| modes[k].value);
        sets.jumps = corner.times(&step).times(&sets.change);
        Ok(sets)
    }
}

/// The rows that are farthest from each other: each is the farthest from the span of those before.
fn corners(rows: &[Vec<f64>], count: usize) -> Vec<usize> {
    let square = |row: &[f64]| row.iter().map(|x| x * x).sum::<f64>();
    let farthest = |rows: &[Vec<f64>]| {
        (0..rows.len()).reduce(|best, i| if square(&rows[i]) > square(&rows[best]) { i } else { best })
    };
    let mut found: Vec<usize> = farthest(rows).into_iter().collect();
    let Some(first) = found.first().copied() else { return found };
    let away = |row: &Vec<f64>| row.iter().zip(&rows[first]).map(|(x, y)| x - y).collect();
    let mut rest: Vec<Vec<f64>> = rows.iter().map(away).collect();
    while found.len() < count {
        let Some(best) = farthest(&rest) else { break };
        let (direction, norm) = (rest[best].clone(), square(&rest[best]));
        if norm <= 0.0 {
            break;
        }
        found.push(best);
        for row in &mut rest {
            let along = row.iter().zip(&direction).map(|(x, d)| x * d).sum::<f64>() / norm;
            row.iter_mut().zip(&direction).for_each(|(x, d)| *x -= along * d);
        }
    }
    found
}

impl MetastableSets {
    /// `g` of the values of all eigenfunctions at a state.
    fn row(&self, values: &[[f64; 2]]) -> Vec<f64> {
        let mut row: Vec<f64> = self.functions.iter().map(|(k, part)| values[*k][*part]).collect();
        row[0] *= self.constant;
        row
    }

    /// `Λ`
    fn step(&self, value: impl Fn(usize) -> Eigenvalue) -> Matrix {
        let n = self.functions.len();
        Matrix::from_fn(n, n, |i, j| {
            let ((a, from), (b, to)) = (self.functions[i], self.functions[j]);
            let value = value(b);
            // μ(g + ih): the real part goes to re g − im h, the imaginary one to im g + re h.
            match (a == b, from, to) {
                (false, ..) => 0.0,
                (true, 0, 0) | (true, 1, 1) => value.re,
                (true, 1, _) => -value.im,
                (true, ..) => value.im,
            }
        })
    }

    /// Sets.
    #[must_use]
    pub fn count(&self) -> usize {
        self.functions.len()
    }

    /// The weight of each set at rest; they sum to 1.
    #[must_use]
    pub fn weights(&self) -> Vec<f64> {
        (0..self.count()).map(|j| self.change.entry(0, j)).collect()
    }

    /// `T`, row by row: the part of each set that is in each other one step on. Rows sum to 1.
    #[must_use]
    pub fn jumps(&self) -> Vec<Vec<f64>> {
        (0..self.count()).map(|i| (0..self.count()).map(|j| self.jumps.entry(i, j)).collect()).collect()
    }

    /// The memberships of a state by the values of [`OperatorModel::eigenfunctions`] there: they
    /// sum to 1, and lie near 0 and 1 within the sets.
    #[must_use]
    pub fn memberships(&self, values: &[[f64; 2]]) -> Vec<f64> {
        let row = self.row(values);
        let one = |j: usize| row.iter().zip(self.change.column(j)).map(|(g, a)| g * a).sum();
        (0..self.count()).map(one).collect()
    }

    /// For each set the probability that set `to` is reached before set `from`, both from 0.
    ///
    /// # Errors
    /// When they are no two sets, or neither is ever reached.
    pub fn committor(&self, from: usize, to: usize) -> Result<Vec<f64>, Error> {
        let n = self.count();
        let requirement = "two different sets";
        mercer_core::ParameterError::require(from < n && to < n && from != to, "committor", requirement, to as f64)?;
        let fixed = |i: usize| i == from || i == to;
        let one = |i: usize, j: usize| f64::from(u8::from(i == j));
        let system = Matrix::from_fn(n, n, |i, j| one(i, j) - if fixed(i) { 0.0 } else { self.jumps.entry(i, j) });
        Ok(system.solve(&Matrix::from_fn(n, 1, |i, _| one(i, to)))?.values().to_vec())
    }
}
