//! Sums of outer products of vectors that are known together.

use mercer_simd::{AlignedVec, LANES, Lane};

use super::{MAX_GROUPS, RankOneTerms, SymmetricMatrix, subtract};
use crate::tiles::{Panel, ZERO_TILE};

/// Memory for [`SymmetricMatrix::add_outer_products`], reused from block to block.
#[derive(Clone, Debug, Default)]
pub struct OuterProducts {
    us: Vec<Panel>,
}

impl OuterProducts {
    /// Most vectors of a block.
    pub const MAX: usize = MAX_GROUPS * LANES;
}

impl SymmetricMatrix {
    /// `P ← P + Σ_k weights[k] · x_k x_kᵀ`, in one pass over the matrix: `½n²` multiply-adds a
    /// vector, at the pace of the arithmetic.
    ///
    /// The order of the sums is fixed, so the bits depend only on the vectors, their weights and
    /// how they are cut into blocks.
    ///
    /// # Panics
    /// If there are more than [`OuterProducts::MAX`] vectors, not as many weights, or a vector has
    /// not `n` entries.
    pub fn add_outer_products(&mut self, weights: &[f64], xs: &[AlignedVec], memory: &mut OuterProducts) {
        assert!(xs.len() <= OuterProducts::MAX, "a block of {} vectors", xs.len());
        assert_eq!(weights.len(), xs.len(), "a weight for each vector");
        assert!(xs.iter().all(|x| x.len() == self.n), "a vector has one entry for each row of the matrix");
        let (groups, blocks) = (xs.len().div_ceil(LANES), self.n.div_ceil(LANES));
        self.flush();
        if groups == 0 || blocks == 0 {
            return;
        }
        let mut gains = [Lane::ZERO; MAX_GROUPS];
        memory.us.clear();
        memory.us.resize(groups * blocks, ZERO_TILE);
        for (k, (x, weight)) in xs.iter().zip(weights).enumerate() {
            let (group, column) = (k / LANES, k % LANES);
            gains[group].0[column] = -weight;
            for (panels, lane) in memory.us.chunks_exact_mut(groups).zip(x.lanes()) {
                panels[group][column] = *lane;
            }
        }
        subtract(&mut self.tiles, RankOneTerms { gains: &gains[..groups], us: &memory.us }, LANES, false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_those_of_the_definition() {
        let mut memory = OuterProducts::default();
        for (n, block) in [(0, 3), (1, 1), (7, 5), (8, 8), (19, 64), (40, 63), (41, 9)] {
            let value = |k: usize, i: usize| ((k * 31 + i * 7) as f64 * 0.37).sin();
            let xs: Vec<AlignedVec> =
                (0..block).map(|k| AlignedVec::from_slice(&(0..n).map(|i| value(k, i)).collect::<Vec<_>>())).collect();
            let weights: Vec<f64> = (0..block).map(|k| (k % 4) as f64 * 0.5).collect();
            let mut sum = SymmetricMatrix::scaled_identity(n, 0.25);
            if n > 0 {
                // What is deferred is not lost.
                sum.subtract(-1.0, &xs[0]);
            }
            sum.add_outer_products(&weights, &xs, &mut memory);
            for i in 0..n {
                for j in 0..n {
                    let outer: f64 = (0..block).map(|k| weights[k] * value(k, i) * value(k, j)).sum();
                    let expected = outer + value(0, i) * value(0, j) + if i == j { 0.25 } else { 0.0 };
                    assert!((sum.entry(i, j) - expected).abs() < 1e-13, "n {n}, block {block}: ({i}, {j})");
                }
            }
        }
    }
}
