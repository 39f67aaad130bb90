//! A block of rounds on a symmetric inverse at the price of matrix products.
//!
//! A round of recursive least squares or of an online Newton step with coordinates `φ_b` needs `c_b = P_b φ_b`,
//! `s_b = φ_bᵀc_b` and `z_b = w_bᵀφ_b`, chooses two numbers and moves `P ← P − γ_b c_b c_bᵀ`, `w ← w + m_b c_b`. When the
//! inputs of `B` rounds are known beforehand, all of that follows from `C = P Φ` and `G = Φᵀ C` as they were before the
//! block: with `H[k, b] = φ_kᵀ c_b`,
//!
//! ```text
//! c_b     = C_b − Σ_{a<b} γ_a H[b, a] c_a          = Σ_{a≤b} T[b, a] C_a
//! H[k, b] = G[k, b] − Σ_{a<b} γ_a H[b, a] H[k, a],   s_b = H[b, b]
//! z_k    += m_b H[k, b]                              for the rounds k > b to come
//! ```
//!
//! so that a round costs `O(B²)` and both passes over `P`, the product and the subtraction, are made once a block: `1½n²`
//! multiply-adds a round as one by one, but at the pace of the arithmetic instead of the memory. The same numbers to
//! rounding (Woodbury's identity, its recursion left to the learner).

use mercer_simd::{AlignedVec, LANES, Lane, Op, Simd, dispatch};

use crate::SymmetricInverse;
use crate::inverse::{Columns, MAX_GROUPS, ProductOfGroups, subtract};
use crate::tiles::{Panel, ZERO_TILE};

/// The state of a block of rounds, and its memory, reused from block to block.
#[derive(Clone, Debug)]
pub struct BlockRecursion {
    /// Rounds of the block, those done, and panels of eight rows.
    rounds: usize,
    done: usize,
    blocks: usize,
    /// `Φ` and `C` by groups of eight rounds, a lane a row.
    xs: Vec<Panel>,
    cs: Vec<Panel>,
    /// `H` below the diagonal of the rounds done, `G` reduced by them elsewhere; row `k`, column `b` at `k · MAX + b`.
    h: Vec<f64>,
    /// `T` by rows.
    t: Vec<f64>,
    z: [f64; BlockRecursion::MAX],
    gains: [f64; BlockRecursion::MAX],
    moves: [f64; BlockRecursion::MAX],
    /// The final columns, a lane eight rows of one of them.
    us: Vec<Panel>,
}

impl Default for BlockRecursion {
    fn default() -> Self {
        Self {
            rounds: 0,
            done: 0,
            blocks: 0,
            xs: Vec::new(),
            cs: Vec::new(),
            h: Vec::new(),
            t: Vec::new(),
            z: [0.0; Self::MAX],
            gains: [0.0; Self::MAX],
            moves: [0.0; Self::MAX],
            us: Vec::new(),
        }
    }
}

impl BlockRecursion {
    /// Most rounds of a block.
    pub const MAX: usize = MAX_GROUPS * LANES;

    /// Rounds of a block that suit a matrix of dimension `n`: one (no block) while the matrix stays in the first level of
    /// cache, few while it stays in the second, many when it has to come from further away.
    #[must_use]
    pub const fn suitable(n: usize) -> usize {
        match n {
            0..128 => 1,
            128..448 => LANES,
            448..1500 => 2 * LANES,
            _ => Self::MAX,
        }
    }

    /// Looks at the rounds with coordinates `phis`: the product `P Φ`, and the values `wᵀΦ`.
    ///
    /// # Panics
    /// If there are more than [`MAX`](Self::MAX) of them, or one has not as many entries as `p` has rows.
    pub fn begin(&mut self, p: &mut SymmetricInverse, w: &AlignedVec, phis: &[AlignedVec]) {
        assert!(phis.len() <= Self::MAX, "a block of {} rounds", phis.len());
        assert!(phis.iter().all(|phi| phi.len() == p.dimension()), "coordinates have one entry for each row");
        (self.rounds, self.done, self.blocks) = (phis.len(), 0, w.lanes().len());
        let panels = self.rounds.div_ceil(LANES) * self.blocks;
        self.xs.resize(panels, ZERO_TILE);
        self.cs.resize(panels, ZERO_TILE);
        self.h.resize(Self::MAX * Self::MAX, 0.0);
        self.t.resize(Self::MAX * Self::MAX, 0.0);
        dispatch(Transpose { phis, xs: &mut self.xs, blocks: self.blocks });
        let tiles = p.flushed_tiles();
        dispatch(ProductOfGroups { tiles, xs: &self.xs, ys: &mut self.cs, blocks: self.blocks });
        dispatch(Gram {
            w: w.lanes(),
            xs: &self.xs,
            cs: &self.cs,
            blocks: self.blocks,
            h: &mut self.h,
            z: &mut self.z,
        });
    }

    /// `wᵀφ` of the round at hand.
    #[must_use]
    pub fn value(&self) -> f64 {
        self.z[self.done]
    }

    /// `φᵀPφ` of the round at hand.
    #[must_use]
    pub fn quadratic(&self) -> f64 {
        self.h[self.done * Self::MAX + self.done]
    }

    /// Ends the round at hand with `P ← P − gain · c cᵀ` and `w ← w + along · c`, `c = Pφ`. `O(B²)`.
    pub fn advance(&mut self, gain: f64, along: f64) {
        const MAX: usize = BlockRecursion::MAX;
        let (b, rounds) = (self.done, self.rounds);
        (self.gains[b], self.moves[b]) = (gain, along);
        // Row b of T: what the columns before it have taken off.
        let (above, below) = self.t.split_at_mut(b * MAX);
        let row = &mut below[..=b];
        row.fill(0.0);
        row[b] = 1.0;
        for a in 0..b {
            let factor = self.gains[a] * self.h[b * MAX + a];
            for (row, t) in row[..=a].iter_mut().zip(&above[a * MAX..]) {
                *row -= factor * t;
            }
        }
        for k in b + 1..rounds {
            let along_c = self.h[k * MAX + b];
            self.z[k] += along * along_c;
            // G[k, j] for the rounds j = b+1..=k to come.
            let factor = gain * along_c;
            for j in b + 1..=k {
                self.h[k * MAX + j] -= factor * self.h[j * MAX + b];
            }
        }
        self.done += 1;
    }

    /// Makes the moves of the rounds done.
    pub fn finish(&mut self, p: &mut SymmetricInverse, w: &mut AlignedVec) {
        const MAX: usize = BlockRecursion::MAX;
        let groups = self.done.div_ceil(LANES);
        // Rounds that were not done leave no trace.
        self.gains[self.done..].fill(0.0);
        self.moves[self.done..].fill(0.0);
        for row in self.done..groups * LANES {
            self.t[row * MAX..(row + 1) * MAX].fill(0.0);
        }
        self.us.resize(groups * self.blocks, ZERO_TILE);
        let columns = FinalColumns {
            cs: &self.cs,
            t: &self.t,
            moves: &self.moves,
            blocks: self.blocks,
            us: &mut self.us,
            w: w.lanes_mut(),
        };
        dispatch(columns);
        let mut terms = [Columns { gains: [0.0; LANES], us: &[] }; MAX_GROUPS];
        for (g, (term, us)) in terms.iter_mut().zip(self.us.chunks_exact(self.blocks.max(1))).enumerate() {
            term.gains.copy_from_slice(&self.gains[g * LANES..(g + 1) * LANES]);
            term.us = us;
        }
        subtract(p.flushed_tiles(), &terms[..groups], true);
        self.rounds = self.done;
    }
}

/// Coordinates of rounds into groups, a lane a row.
struct Transpose<'a> {
    phis: &'a [AlignedVec],
    xs: &'a mut [Panel],
    blocks: usize,
}

impl Op for Transpose<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        for (group, panels) in self.phis.chunks(LANES).zip(self.xs.chunks_exact_mut(self.blocks.max(1))) {
            for (p, panel) in panels.iter_mut().enumerate() {
                let mut rows = [simd.splat(0.0); LANES];
                for (row, phi) in rows.iter_mut().zip(group) {
                    *row = simd.load(&phi.lanes()[p]);
                }
                let columns = simd.transpose(rows);
                for j in 0..LANES {
                    simd.store(columns[j], &mut panel[j]);
                }
            }
        }
    }
}

/// `G = Φᵀ C` on and below the diagonal, and `z = Φᵀ w`.
struct Gram<'a> {
    w: &'a [Lane],
    xs: &'a [Panel],
    cs: &'a [Panel],
    blocks: usize,
    h: &'a mut [f64],
    z: &'a mut [f64],
}

impl Op for Gram<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        const MAX: usize = BlockRecursion::MAX;
        for (k, x) in self.xs.chunks_exact(self.blocks.max(1)).enumerate() {
            for (b, c) in self.cs.chunks_exact(self.blocks.max(1)).enumerate().take(k + 1) {
                let mut rows = [simd.splat(0.0); LANES];
                for (x, c) in x.as_flattened().iter().zip(c.as_flattened()) {
                    let c = simd.load(c);
                    for r in 0..LANES {
                        rows[r] = simd.mul_add(simd.splat(x.0[r]), c, rows[r]);
                    }
                }
                for r in 0..LANES {
                    let mut row = Lane::ZERO;
                    simd.store(rows[r], &mut row);
                    self.h[(k * LANES + r) * MAX + b * LANES..][..LANES].copy_from_slice(&row.0);
                }
            }
            let mut values = [simd.splat(0.0); 4];
            for (x, w) in x.iter().zip(self.w) {
                for r in 0..LANES {
                    values[r % 4] = simd.mul_add(simd.splat(w.0[r]), simd.load(&x[r]), values[r % 4]);
                }
            }
            let mut z = Lane::ZERO;
            simd.store(simd.add(simd.add(values[0], values[1]), simd.add(values[2], values[3])), &mut z);
            self.z[k * LANES..(k + 1) * LANES].copy_from_slice(&z.0);
        }
    }
}

/// `C Tᵀ` turned into columns, and `w ← w + C Tᵀ m`.
struct FinalColumns<'a> {
    cs: &'a [Panel],
    t: &'a [f64],
    moves: &'a [f64],
    blocks: usize,
    us: &'a mut [Panel],
    w: &'a mut [Lane],
}

impl Op for FinalColumns<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        const MAX: usize = BlockRecursion::MAX;
        for (g, us) in self.us.chunks_exact_mut(self.blocks.max(1)).enumerate() {
            // Column a of rows 8g..8g+8 of T, a lane.
            let mut t = [Lane::ZERO; MAX];
            for (a, t) in t.iter_mut().enumerate().take((g + 1) * LANES) {
                for r in 0..LANES {
                    let row = g * LANES + r;
                    t.0[r] = if a <= row { self.t[row * MAX + a] } else { 0.0 };
                }
            }
            for (p, (u, w)) in us.iter_mut().zip(&mut *self.w).enumerate() {
                let mut rows = [simd.splat(0.0); LANES];
                for earlier in 0..=g {
                    let c = &self.cs[earlier * self.blocks + p];
                    for a in 0..LANES {
                        let t = simd.load(&t[earlier * LANES + a]);
                        for r in 0..LANES {
                            rows[r] = simd.mul_add(simd.splat(c[r].0[a]), t, rows[r]);
                        }
                    }
                }
                let columns = simd.transpose(rows);
                let mut sum = [simd.load(w), simd.splat(0.0)];
                for k in 0..LANES {
                    simd.store(columns[k], &mut u[k]);
                    sum[k % 2] = simd.mul_add(simd.splat(self.moves[g * LANES + k]), columns[k], sum[k % 2]);
                }
                simd.store(simd.add(sum[0], sum[1]), w);
            }
        }
    }
}
