//! Products with a symmetric matrix.

use mercer_simd::{AlignedVec, LANES, Lane, Op, Simd};

use super::halves::{HalfTile, RUNS, runs, runs_mut};
use super::subtraction::{MAX_GROUPS, RankOneTerms, subtract_columns, subtract_from};
use crate::tiles::{HALF, Panel, ZERO_TILE};

/// Rank-one terms that wait: the first `count` columns of a single group; the gains of the others
/// are zero.
#[derive(Clone, Copy)]
pub(crate) struct PendingTerms<'a> {
    pub(crate) count: usize,
    pub(crate) gains: &'a Lane,
    pub(crate) us: &'a [Panel],
}

/// `u_kᵀx` for the first `N` columns.
#[inline(always)]
fn along<S: Simd, const N: usize>(simd: S, us: &[Panel], x: &[Lane]) -> Lane {
    let mut sums = [simd.splat(0.0); LANES];
    if S::REGISTERS > N {
        sum_along::<S, 0, N>(simd, us, x, &mut sums);
    } else {
        sum_along::<S, 0, HALF>(simd, us, x, &mut sums);
        sum_along::<S, HALF, N>(simd, us, x, &mut sums);
    }
    let mut along = Lane::ZERO;
    simd.store(simd.transpose_sum(sums), &mut along);
    along
}

#[inline(always)]
fn sum_along<S: Simd, const FROM: usize, const TO: usize>(
    simd: S,
    us: &[Panel],
    x: &[Lane],
    sums: &mut [S::F64; LANES],
) {
    for (panel, x) in us.iter().zip(x) {
        let x = simd.load(x);
        for k in FROM..TO {
            sums[k] = simd.mul_add(simd.load(&panel[k]), x, sums[k]);
        }
    }
}

impl PendingTerms<'_> {
    /// `y ← y − Σ gains[k] (u_kᵀx) u_k`. Columns that nothing has been put in are not read.
    #[inline(always)]
    fn correct<S: Simd>(self, simd: S, x: &[Lane], y: &mut [Lane]) {
        match self.count.div_ceil(2) {
            0 => (),
            1 => self.correct_first::<S, 2>(simd, x, y),
            2 => self.correct_first::<S, 4>(simd, x, y),
            3 => self.correct_first::<S, 6>(simd, x, y),
            _ => self.correct_first::<S, LANES>(simd, x, y),
        }
    }

    /// The same over the first `N` columns.
    #[inline(always)]
    fn correct_first<S: Simd, const N: usize>(self, simd: S, x: &[Lane], y: &mut [Lane]) {
        let mut factors = along::<S, N>(simd, self.us, x);
        for k in 0..N {
            factors.0[k] *= self.gains.0[k];
        }
        for (panel, y) in self.us.iter().zip(y) {
            let mut rest = [simd.load(y), simd.splat(0.0)];
            for k in 0..N {
                rest[k % 2] = simd.negate_mul_add(simd.splat(factors.0[k]), simd.load(&panel[k]), rest[k % 2]);
            }
            simd.store(simd.add(rest[0], rest[1]), y);
        }
    }
}

/// `y ← P x`
pub(crate) struct Product<'a> {
    pub(crate) tiles: &'a [HalfTile],
    /// True to begin with the last tile.
    pub(crate) backwards: bool,
    pub(crate) deferred: PendingTerms<'a>,
    pub(crate) x: &'a AlignedVec,
    pub(crate) y: &'a mut [Lane],
}

impl Op for Product<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { tiles, backwards, deferred, x: all, y } = self;
        let x = all.lanes();
        y.fill(Lane::ZERO);
        // The last block may have four columns or fewer; the others of it are zero, and not worth
        // their place in the cache.
        let whole = x.len() - usize::from((1..=HALF).contains(&(all.len() % LANES)));
        // The deferred columns are at the end of what a pass reads, where one to and one fro meet.
        let end = x.len();
        for step in 0..=end {
            let b = if backwards { end - step } else { step };
            match (b < whole, backwards) {
                _ if b == end => deferred.correct(simd, x, y),
                (true, false) => multiply_block::<S, LANES, 1, AWAY>(simd, tiles, b, x, y),
                (true, true) => multiply_block::<S, LANES, -1, AWAY>(simd, tiles, b, x, y),
                (false, false) => multiply_block::<S, HALF, 1, AWAY>(simd, tiles, b, x, y),
                (false, true) => multiply_block::<S, HALF, -1, AWAY>(simd, tiles, b, x, y),
            }
        }
    }
}

/// Adds to `y = P x` the part of the first `N` columns of block `b`. Columns and tiles are taken in
/// ascending order (`WAY = 1`) or descending (`-1`).
#[inline(always)]
fn multiply_block<S: Simd, const N: usize, const WAY: isize, const ASK: bool>(
    simd: S,
    tiles: &[HalfTile],
    b: usize,
    x: &[Lane],
    y: &mut [Lane],
) {
    let runs = runs(tiles, b);
    let (above, below) = y.split_at_mut(b);
    let mut block = BlockProduct::<S, N>::new(simd, &x[b]);
    if N == HALF || S::REGISTERS >= BlockProduct::<S, N>::REGISTERS {
        block.walk::<WAY, ASK, 0, N>(simd, runs, x, above);
    } else if WAY < 0 {
        block.walk::<WAY, ASK, HALF, N>(simd, runs, x, above);
        block.walk::<WAY, ASK, 0, HALF>(simd, runs, x, above);
    } else {
        block.walk::<WAY, ASK, 0, HALF>(simd, runs, x, above);
        block.walk::<WAY, ASK, HALF, N>(simd, runs, x, above);
    }
    block.finish(simd, &StoredTile::<WAY, ASK>(runs.map(|run| &run[b])), &mut below[0]);
}

/// `P ← P − Σ gains · u uᵀ` over all columns, then `y ← P x`, in one pass: a tile is multiplied
/// while it is at hand.
pub(crate) struct SubtractThenProduct<'a> {
    pub(crate) tiles: &'a mut [HalfTile],
    pub(crate) columns: RankOneTerms<'a>,
    /// True to begin with the last tile.
    pub(crate) backwards: bool,
    pub(crate) x: &'a [Lane],
    pub(crate) y: &'a mut [Lane],
}

impl Op for SubtractThenProduct<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { tiles, columns, backwards, x, y } = self;
        // A number of groups that the compiler does not know keeps it from spreading every factor
        // over a register, of which there are not enough, before it begins with a block.
        let groups = columns.gains.len();
        let mut scaled = [ZERO_TILE; MAX_GROUPS];
        y.fill(Lane::ZERO);
        for step in 0..x.len() {
            let b = if backwards { x.len() - 1 - step } else { step };
            columns.scale(simd, b, &mut scaled);
            let scaled = &scaled[..groups];
            if S::REGISTERS < BlockProduct::<S, LANES>::REGISTERS {
                // Where a tile does not stay in registers, a block in the cache is as good.
                subtract_from::<S, LANES>(simd, runs_mut(tiles, b), scaled, &columns.us[..(b + 1) * groups]);
                if backwards {
                    multiply_block::<S, LANES, -1, AT_HAND>(simd, tiles, b, x, y);
                } else {
                    multiply_block::<S, LANES, 1, AT_HAND>(simd, tiles, b, x, y);
                }
                continue;
            }
            let [(left, left_last), (right, right_last)] = runs_mut(tiles, b).map(|run| run.split_at_mut(b));
            let (above, below) = y.split_at_mut(b);
            let mut block = BlockProduct::<S, LANES>::new(simd, &x[b]);
            let rows = left.iter_mut().zip(right).zip(columns.us.chunks_exact(groups)).zip(x).zip(above);
            if backwards {
                for ((((left, right), u), x), y) in rows.rev() {
                    block.subtract_then_multiply::<-1>(simd, [left, right], (scaled, u), x, y);
                }
            } else {
                for ((((left, right), u), x), y) in rows {
                    block.subtract_then_multiply::<1>(simd, [left, right], (scaled, u), x, y);
                }
            }
            let u = &columns.us[b * groups..][..groups];
            subtract_from::<S, LANES>(simd, [left_last, right_last], scaled, u);
            block.finish(simd, &StoredTile::<1, AT_HAND>([&left_last[0], &right_last[0]]), &mut below[0]);
        }
    }
}

/// A tile by columns.
trait TileColumns<S: Simd> {
    fn column(&self, simd: S, j: usize) -> S::F64;
}

impl<S: Simd> TileColumns<S> for [S::F64; LANES] {
    #[inline(always)]
    fn column(&self, _: S, j: usize) -> S::F64 {
        self[j]
    }
}

/// A tile in memory, of those read in ascending order (`WAY = 1`) or descending (`-1`).
struct StoredTile<'a, const WAY: isize, const ASK: bool>([&'a HalfTile; RUNS]);

/// True to prefetch tiles: not for those that have just been written.
const AWAY: bool = true;
const AT_HAND: bool = false;

impl<S: Simd, const WAY: isize, const ASK: bool> TileColumns<S> for StoredTile<'_, WAY, ASK> {
    /// May also ask for what will be wanted when the second level of cache has answered, ten tiles
    /// later.
    #[inline(always)]
    fn column(&self, simd: S, j: usize) -> S::F64 {
        let column = &self.0[j / HALF][j % HALF];
        if ASK {
            simd.prefetch(std::ptr::from_ref(column).wrapping_offset(WAY * 10 * HALF as isize));
        }
        simd.load(column)
    }
}

/// Part of `y = P x` from the first `N` columns of a block.
struct BlockProduct<S: Simd, const N: usize> {
    x: [S::F64; N],
    /// For each column `a_jᵀ x_rows`, lane by lane.
    sums: [S::F64; LANES],
}

impl<S: Simd, const N: usize> BlockProduct<S, N> {
    /// Registers for the coordinates and the sums, and for `x_rows`, `y_rows` and a column.
    const REGISTERS: usize = 2 * N + 3;

    #[inline(always)]
    fn new(simd: S, x: &Lane) -> Self {
        Self { x: std::array::from_fn(|j| simd.splat(x.0[j])), sums: [simd.splat(0.0); LANES] }
    }

    /// Columns `FROM..TO` of the tiles above the diagonal.
    #[inline(always)]
    fn walk<const WAY: isize, const ASK: bool, const FROM: usize, const TO: usize>(
        &mut self,
        simd: S,
        runs: [&[HalfTile]; RUNS],
        x: &[Lane],
        y: &mut [Lane],
    ) {
        let [left, right] = runs.map(|run| &run[..y.len()]);
        let rows = left.iter().zip(right).zip(x).zip(y);
        if WAY < 0 {
            for (((left, right), x), y) in rows.rev() {
                self.multiply::<WAY, FROM, TO>(simd, &StoredTile::<WAY, ASK>([left, right]), x, y);
            }
        } else {
            for (((left, right), x), y) in rows {
                self.multiply::<WAY, FROM, TO>(simd, &StoredTile::<WAY, ASK>([left, right]), x, y);
            }
        }
    }

    /// Takes the columns off a tile above the diagonal, and multiplies it.
    #[inline(always)]
    fn subtract_then_multiply<const WAY: isize>(
        &mut self,
        simd: S,
        tile: [&mut HalfTile; RUNS],
        (scaled, u): (&[Panel], &[Panel]),
        x_rows: &Lane,
        y_rows: &mut Lane,
    ) {
        let [a] = subtract_columns::<S, 1, RUNS, 0, LANES>(simd, &mut tile.map(std::array::from_mut), scaled, [u]);
        self.multiply::<WAY, 0, N>(simd, &a, x_rows, y_rows);
    }

    /// Columns `FROM..TO` of a tile above the diagonal, which stands for both triangles:
    /// `y_rows ← y_rows + A x_columns`, and the sums.
    #[inline(always)]
    fn multiply<const WAY: isize, const FROM: usize, const TO: usize>(
        &mut self,
        simd: S,
        tile: &impl TileColumns<S>,
        x_rows: &Lane,
        y_rows: &mut Lane,
    ) {
        let (x_rows, mut y) = (simd.load(x_rows), simd.load(y_rows));
        for step in 0..TO - FROM {
            let j = if WAY < 0 { TO - 1 - step } else { FROM + step };
            let a = tile.column(simd, j);
            y = simd.mul_add(a, self.x[j], y);
            self.sums[j] = simd.mul_add(a, x_rows, self.sums[j]);
        }
        simd.store(y, y_rows);
    }

    /// The tile on the diagonal, and the sums.
    #[inline(always)]
    fn finish(self, simd: S, tile: &impl TileColumns<S>, y_rows: &mut Lane) {
        let mut y = [simd.transpose_sum(self.sums), simd.load(y_rows)];
        for j in 0..N {
            y[j % 2] = simd.mul_add(tile.column(simd, j), self.x[j], y[j % 2]);
        }
        simd.store(simd.add(y[0], y[1]), y_rows);
    }
}

/// `xᵀ P x`
pub(crate) struct Quadratic<'a> {
    pub(crate) tiles: &'a [HalfTile],
    pub(crate) deferred: PendingTerms<'a>,
    pub(crate) x: &'a [Lane],
}

impl Op for Quadratic<'_> {
    type Output = f64;
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> f64 {
        // Tiles off the diagonal stand for both triangles.
        let (mut off, mut on) = ([simd.splat(0.0); 2], simd.splat(0.0));
        for b in 0..self.x.len() {
            let [left, right] = runs(self.tiles, b);
            let x_columns: [S::F64; LANES] = std::array::from_fn(|j| simd.splat(self.x[b].0[j]));
            for (p, ((left, right), x)) in left.iter().zip(right).zip(self.x).enumerate() {
                let mut y_rows = [simd.splat(0.0); 2];
                for j in 0..LANES {
                    let a = simd.load(&[left, right][j / HALF][j % HALF]);
                    y_rows[j % 2] = simd.mul_add(a, x_columns[j], y_rows[j % 2]);
                }
                let y_rows = simd.add(y_rows[0], y_rows[1]);
                if p < b {
                    off[p % 2] = simd.mul_add(y_rows, simd.load(x), off[p % 2]);
                } else {
                    on = simd.mul_add(y_rows, simd.load(x), on);
                }
            }
        }
        let off = simd.add(off[0], off[1]);
        let stored = simd.sum(simd.add(simd.add(off, off), on));
        let along = along::<S, LANES>(simd, self.deferred.us, self.x);
        self.deferred.gains.0.iter().zip(along.0).fold(stored, |value, (gain, along)| value - gain * along * along)
    }
}
