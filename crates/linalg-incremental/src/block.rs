//! A block of rounds on a symmetric inverse at the price of matrix products.
//!
//! A round of recursive least squares or of an online Newton step with coordinates `φ_b` needs
//! `c_b = P_b φ_b`, `s_b = φ_bᵀc_b` and `z_b = w_bᵀφ_b`, chooses two numbers and moves
//! `P ← P − γ_b c_b c_bᵀ`, `w ← w + m_b c_b`. When the inputs of `B` rounds are known beforehand,
//! all of that follows from `C = P Φ` and `G = Φᵀ C` as they were before the block: with
//! `H[k, b] = φ_kᵀ c_b`,
//!
//! ```text
//! c_b     = C_b − Σ_{a<b} F[b, a] c_a,             F[b, a] = γ_a H[b, a]
//! H[k, b] = G[k, b] − Σ_{a<b} γ_a H[b, a] H[k, a],   s_b = H[b, b]
//! z_k    += m_b H[k, b]                              for the rounds k > b to come
//! ```
//!
//! so that a round costs `O(B²)` and both passes over `P`, the product and the subtraction, are
//! made once a block: `1½n²` multiply-adds a round as one by one, but at the pace of the arithmetic
//! instead of the memory. The same numbers to rounding (Woodbury's identity, its recursion left to
//! the learner).
//!
//! Several outputs have a `w` each and share `P`: every round then has one `s_b` and one `γ_b`, and
//! a `z_b` and an `m_b` for each output. An output more costs `2n` multiply-adds a round.

mod look_ahead;

use mercer_simd::{AlignedVec, LANES, Lane, Op, Simd, axpy_lanes, dispatch};

use look_ahead::LookAhead;

use crate::SymmetricMatrix;
use crate::symmetric::{MAX_GROUPS, RankOneTerms, load_tiles, store_tiles, subtract};
use crate::tiles::{Panel, ZERO_TILE, split};

/// A number for each round of a block.
type LaneRow = [Lane; MAX_GROUPS];

const ZERO_ROW: LaneRow = [Lane::ZERO; MAX_GROUPS];

/// The state of a block of rounds, and its memory, reused from block to block.
#[derive(Clone, Debug, Default)]
pub struct BlockRecursion {
    /// Rounds of the block, those done, and panels of eight rows.
    rounds: usize,
    done: usize,
    blocks: usize,
    /// `Φ` and `C` by groups of eight rounds, a lane a row.
    xs: Vec<Panel>,
    cs: Vec<Panel>,
    /// Row `b`: `H[k, b]` for `k ≥ b` when round `b` is done, before that `G[k, b]` reduced by the
    /// rounds done.
    h: Vec<LaneRow>,
    /// Row `a`: `F[b, a] = γ_a H[b, a]` for `b > a`.
    f: Vec<LaneRow>,
    /// For each output `z`, updated for the rounds to come.
    z: Vec<LaneRow>,
    gains: LaneRow,
    /// For each output the `m_b` of the rounds done.
    moves: Vec<LaneRow>,
    /// The final columns, a lane eight rows of one of them: for each panel its groups.
    us: Vec<Panel>,
}

impl BlockRecursion {
    /// Most rounds of a block.
    pub const MAX: usize = MAX_GROUPS * LANES;

    /// Rounds of a block that suit a matrix of dimension `n`: one (no block) while the matrix stays
    /// in the first level of cache, more the further away it is.
    #[must_use]
    pub const fn suitable(n: usize) -> usize {
        match n {
            0..128 => 1,
            128..1500 => 2 * LANES,
            _ => Self::MAX,
        }
    }

    /// Looks at the rounds with coordinates `phis`: the product `P Φ`, and the values `wᵀΦ` for the
    /// `w` of each output.
    ///
    /// # Panics
    /// If there are more than [`MAX`](Self::MAX) rounds or no output, or a vector has not as many
    /// entries as `p` has rows.
    pub fn begin(&mut self, p: &mut SymmetricMatrix, ws: &[AlignedVec], phis: &[AlignedVec]) {
        assert!(phis.len() <= Self::MAX, "a block of {} rounds", phis.len());
        assert!(phis.iter().all(|phi| phi.len() == p.dimension()), "coordinates have one entry for each row");
        assert!(!ws.is_empty(), "a block has an output");
        assert!(ws.iter().all(|w| w.len() == p.dimension()), "coefficients have one entry for each row");
        (self.rounds, self.done, self.blocks) = (phis.len(), 0, p.dimension().div_ceil(LANES));
        let (groups, blocks) = (self.rounds.div_ceil(LANES), self.blocks.max(1));
        self.xs.resize(groups * self.blocks, ZERO_TILE);
        self.cs.resize(groups * self.blocks, ZERO_TILE);
        self.h.resize(groups * LANES, ZERO_ROW);
        self.f.resize(groups * LANES, ZERO_ROW);
        self.z.resize(ws.len(), ZERO_ROW);
        self.moves.resize(ws.len(), ZERO_ROW);
        dispatch(Transpose { phis, xs: &mut self.xs, blocks: self.blocks });
        dispatch(LookAhead {
            tiles: p.flushed_tiles(),
            ws,
            blocks,
            xs: &self.xs,
            cs: &mut self.cs,
            h: &mut self.h,
            z: &mut self.z,
        });
    }

    /// `wᵀφ` of the round at hand for output `k`.
    ///
    /// # Panics
    /// If there is no such output.
    #[must_use]
    pub fn value(&self, k: usize) -> f64 {
        let (lane, at) = split(self.done);
        self.z[k][lane].0[at]
    }

    /// `wᵀφ` of the round at hand for each output.
    pub fn values(&self) -> impl ExactSizeIterator<Item = f64> {
        let (lane, at) = split(self.done);
        self.z.iter().map(move |z| z[lane].0[at])
    }

    /// `φᵀPφ` of the round at hand.
    #[must_use]
    pub fn quadratic(&self) -> f64 {
        let (lane, at) = split(self.done);
        self.h[self.done][lane].0[at]
    }

    /// Ends the round at hand with `P ← P − gain · c cᵀ` and, for each output, `w ← w + along · c`,
    /// `c = Pφ`. `O(B²)`, and `O(B)` an output.
    ///
    /// # Panics
    /// If `alongs` has not one entry for each output.
    pub fn advance(&mut self, gain: f64, alongs: &[f64]) {
        assert_eq!(alongs.len(), self.moves.len(), "a move for each output");
        let (lane, at) = split(self.done);
        self.gains[lane].0[at] = gain;
        for (moves, along) in self.moves.iter_mut().zip(alongs) {
            moves[lane].0[at] = *along;
        }
        let (rounds, round) = (self.rounds, self.done);
        dispatch(Advance { rounds, round, h: &mut self.h, f: &mut self.f, z: &mut self.z, gain, alongs });
        self.done += 1;
    }

    /// Makes the moves of the rounds done.
    ///
    /// # Panics
    /// If the outputs, or their entries, are not as many as the block began with.
    pub fn finish(&mut self, p: &mut SymmetricMatrix, ws: &mut [AlignedVec]) {
        assert_eq!(ws.len(), self.moves.len(), "the outputs that the block began with");
        assert!(ws.iter().all(|w| w.lanes().len() == self.blocks), "coefficients have one entry for each row");
        self.rounds = self.done;
        if self.done == 0 {
            return;
        }
        let groups = self.done.div_ceil(LANES);
        self.forget_the_rest();
        self.us.resize(groups * self.blocks, ZERO_TILE);
        if let ([w, others @ ..], [moves, other_moves @ ..]) = (ws, self.moves.as_slice()) {
            dispatch(FinalColumns {
                cs: &self.cs,
                f: &self.f[..groups * LANES],
                moves,
                blocks: self.blocks,
                us: &mut self.us,
                w: w.lanes_mut(),
            });
            dispatch(Moves { us: &self.us, groups, moves: other_moves, ws: others });
        }
        let terms = RankOneTerms { gains: &self.gains[..groups], us: &self.us };
        subtract(p.flushed_tiles(), terms, LANES, true);
    }

    /// Rounds that were not done leave no trace.
    fn forget_the_rest(&mut self) {
        let (group, first) = split(self.done);
        if first > 0 {
            self.gains[group].0[first..].fill(0.0);
            self.moves.iter_mut().for_each(|moves| moves[group].0[first..].fill(0.0));
            self.f[self.done..].fill(ZERO_ROW);
            self.f[..self.done].iter_mut().for_each(|f| f[group].0[first..].fill(0.0));
            let panels = &mut self.cs[group * self.blocks..][..self.blocks];
            panels.as_flattened_mut().iter_mut().for_each(|row| row.0[first..].fill(0.0));
        }
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

/// Effect of one round on the scalars of the later ones.
struct Advance<'a> {
    rounds: usize,
    round: usize,
    h: &'a mut [LaneRow],
    f: &'a mut [LaneRow],
    z: &'a mut [LaneRow],
    gain: f64,
    alongs: &'a [f64],
}

impl Op for Advance<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { rounds, round, h, f, z, gain, alongs } = self;
        let (lane, groups) = (round / LANES, rounds.div_ceil(LANES));
        let (done, later) = h.split_at_mut(round + 1);
        let row = &done[round][lane..groups];
        if let ([z, others @ ..], [along, other_alongs @ ..]) = (z, alongs) {
            let (gain, along) = (simd.splat(gain), simd.splat(*along));
            for ((h, f), z) in row.iter().zip(&mut f[round][lane..groups]).zip(&mut z[lane..groups]) {
                let h = simd.load(h);
                simd.store(simd.mul(gain, h), f);
                simd.store(simd.mul_add(along, h, simd.load(z)), z);
            }
            for (z, along) in others.iter_mut().zip(other_alongs) {
                axpy_lanes(simd, *along, row, &mut z[lane..groups]);
            }
        }
        // The rounds of its own group at once, those of the later groups by eight.
        let end = (lane + 1) * LANES;
        for (j, to) in (round + 1..end.min(rounds)).zip(&mut *later) {
            let factor = simd.splat(f[round][lane].0[j % LANES]);
            for (to, h) in to[lane..groups].iter_mut().zip(row) {
                simd.store(simd.negate_mul_add(factor, simd.load(h), simd.load(to)), to);
            }
        }
        if round + 1 == end {
            let (own, f) = (&done[lane * LANES..], &f[lane * LANES..end]);
            for (j, to) in (end..rounds).zip(later) {
                let (first, at) = split(j);
                let mut factors = [simd.splat(0.0); LANES];
                for a in 0..LANES {
                    factors[a] = simd.splat(f[a][first].0[at]);
                }
                for (l, to) in to.iter_mut().enumerate().take(groups).skip(first) {
                    let mut rest = [simd.load(to), simd.splat(0.0)];
                    for a in 0..LANES {
                        rest[a % 2] = simd.negate_mul_add(factors[a], simd.load(&own[a][l]), rest[a % 2]);
                    }
                    simd.store(simd.add(rest[0], rest[1]), to);
                }
            }
        }
    }
}

/// Eight-row panels of all columns `c_b = C_b − Σ_{a<b} F[b, a] c_a`, and `w ← w + Σ m_b c_b`.
struct FinalColumns<'a> {
    /// The panels, group after group.
    cs: &'a [Panel],
    f: &'a [LaneRow],
    moves: &'a LaneRow,
    /// Panels of a group.
    blocks: usize,
    /// The columns: for each panel its groups.
    us: &'a mut [Panel],
    w: &'a mut [Lane],
}

impl Op for FinalColumns<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { cs, f, moves, blocks, us, w } = self;
        let groups = f.len() / LANES;
        let together = if S::REGISTERS > 2 * LANES { w.len() / 2 } else { 0 };
        let (pairs, singles) = w.split_at_mut(2 * together);
        let (us, us_singles) = us.split_at_mut(2 * together * groups);
        for (i, (w, us)) in pairs.as_chunks_mut().0.iter_mut().zip(us.chunks_exact_mut(2 * groups)).enumerate() {
            let (one, two) = us.split_at_mut(groups);
            final_columns::<S, 2>(simd, &cs[2 * i..], f, moves, blocks, &mut [one, two], w);
        }
        for (i, (w, us)) in singles.iter_mut().zip(us_singles.chunks_exact_mut(groups)).enumerate() {
            final_columns::<S, 1>(simd, &cs[2 * together + i..], f, moves, blocks, &mut [us], std::array::from_mut(w));
        }
    }
}

/// `w ← w + Σ m_b c_b` for outputs after the first, from the final columns.
struct Moves<'a> {
    us: &'a [Panel],
    /// Groups of a panel.
    groups: usize,
    moves: &'a [LaneRow],
    ws: &'a mut [AlignedVec],
}

impl Op for Moves<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        for (w, moves) in self.ws.iter_mut().zip(self.moves) {
            for (w, us) in w.lanes_mut().iter_mut().zip(self.us.chunks_exact(self.groups)) {
                let mut sums = [simd.load(w), simd.splat(0.0), simd.splat(0.0), simd.splat(0.0)];
                for (u, moves) in us.iter().zip(moves) {
                    for k in 0..LANES {
                        sums[k % 4] = simd.mul_add(simd.splat(moves.0[k]), simd.load(&u[k]), sums[k % 4]);
                    }
                }
                simd.store(simd.add(simd.add(sums[0], sums[1]), simd.add(sums[2], sums[3])), w);
            }
        }
    }
}

/// The columns of `N` neighbouring panels, which share every factor that is spread over a register.
#[inline(always)]
fn final_columns<S: Simd, const N: usize>(
    simd: S,
    cs: &[Panel],
    f: &[LaneRow],
    moves: &LaneRow,
    blocks: usize,
    us: &mut [&mut [Panel]; N],
    w: &mut [Lane; N],
) {
    let (f, _) = f.as_chunks::<LANES>();
    for g in 0..f.len() {
        let mut u = [[simd.splat(0.0); LANES]; N];
        for p in 0..N {
            u[p] = simd.transpose(load_tiles(simd, std::array::from_ref(&cs[g * blocks + p]))[0]);
        }
        for (e, f) in f.iter().enumerate().take(g) {
            for a in 0..LANES {
                let mut earlier = [simd.splat(0.0); N];
                for p in 0..N {
                    earlier[p] = simd.load(&us[p][e][a]);
                }
                for k in 0..LANES {
                    let factor = simd.splat(f[a][g].0[k]);
                    for p in 0..N {
                        u[p][k] = simd.negate_mul_add(factor, earlier[p], u[p][k]);
                    }
                }
            }
        }
        for a in 0..LANES {
            for k in a + 1..LANES {
                let factor = simd.splat(f[g][a][g].0[k]);
                for p in 0..N {
                    u[p][k] = simd.negate_mul_add(factor, u[p][a], u[p][k]);
                }
            }
        }
        for p in 0..N {
            let mut sum = [simd.load(&w[p]), simd.splat(0.0)];
            for k in 0..LANES {
                sum[k % 2] = simd.mul_add(simd.splat(moves[g].0[k]), u[p][k], sum[k % 2]);
            }
            simd.store(simd.add(sum[0], sum[1]), &mut w[p]);
            store_tiles(simd, [u[p]], std::array::from_mut(&mut us[p][g]));
        }
    }
}
