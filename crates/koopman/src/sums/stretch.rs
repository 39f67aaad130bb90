//! Some successive pairs in scaled units, which every candidate learns in turn.

use super::scale::ColumnScale;

/// Pairs with their points named once: along a path `x` is the `x⁺` before it, and a dictionary is
/// asked about it only once.
#[derive(Clone, Debug, Default)]
pub(crate) struct PairStretch {
    /// Numbers of `x`.
    dimension: usize,
    /// The round of the first pair, from 0.
    first: u64,
    /// The points that a dictionary is asked about, row by row.
    points: Vec<f64>,
    /// The round of each.
    rounds: Vec<u64>,
    /// The point of each `x`.
    now: Vec<usize>,
    /// The point of each `x⁺`; empty where `x` carries inputs.
    next: Vec<usize>,
    /// `x⁺`, row by row.
    successors: Vec<f64>,
}

impl PairStretch {
    /// Takes row-major pairs `x, x⁺` in the user's units, the first of round `first`.
    pub(crate) fn fill(&mut self, scale: &ColumnScale, state: usize, first: u64, pairs: &[f64]) {
        let d = scale.dimension();
        (self.dimension, self.first) = (d, first);
        self.points.clear();
        self.rounds.clear();
        self.now.clear();
        self.next.clear();
        self.successors.clear();
        let mut before: Option<&[f64]> = None;
        for (pair, round) in pairs.chunks_exact(d + state).zip(first..) {
            let (x, x_plus) = pair.split_at(d);
            match before {
                Some(before) if d == state && before == x => self.now.push(self.rounds.len() - 1),
                _ => {
                    self.now.push(self.rounds.len());
                    self.point(scale, x, round);
                }
            }
            scale.push(x_plus, &mut self.successors);
            if d == state {
                self.next.push(self.rounds.len());
                self.point(scale, x_plus, round);
            }
            before = Some(x_plus);
        }
    }

    fn point(&mut self, scale: &ColumnScale, x: &[f64], round: u64) {
        scale.push(x, &mut self.points);
        self.rounds.push(round);
    }

    /// Pairs.
    pub(crate) fn len(&self) -> usize {
        self.now.len()
    }

    /// The round of the first pair.
    pub(crate) fn first(&self) -> u64 {
        self.first
    }

    /// The points, row by row, and the round of each.
    pub(crate) fn points(&self) -> (&[f64], &[u64]) {
        (&self.points, &self.rounds)
    }

    /// The index of the point `x` of pair `i`.
    pub(crate) fn now(&self, i: usize) -> usize {
        self.now[i]
    }

    /// The index of the point `x⁺` of pair `i`, if a dictionary knows it.
    pub(crate) fn next(&self, i: usize) -> Option<usize> {
        self.next.get(i).copied()
    }

    /// True if pair `i` begins where the one before it led to.
    pub(crate) fn is_led_to(&self, i: usize) -> bool {
        i > 0 && self.next.get(i - 1) == Some(&self.now[i])
    }

    /// `x⁺` of pair `i`.
    pub(crate) fn successor(&self, i: usize) -> &[f64] {
        let state = self.successors.len() / self.len().max(1);
        &self.successors[i * state..(i + 1) * state]
    }
}
