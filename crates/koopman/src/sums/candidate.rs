//! One candidate: its features, and the sums of all pairs on them.

use mercer_core::{Inconsistent, Validate};
use mercer_linalg_incremental::Matrix;
use mercer_sparsify::Probe;

use super::blocks::{Blocks, Group, Sums, add, scale, widened};
use super::features::Features;
use super::stretch::PairStretch;

/// Parts of the pairs, by their round, that a spectrum is scored on in turn.
pub(crate) const FOLDS: usize = 4;

/// `A` over one fold of the pairs.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Fold {
    pub(crate) cross: Matrix,
    pub(crate) weight: f64,
}

impl Validate for Fold {
    fn validate(&self) -> Result<(), Inconsistent> {
        self.cross.values().validate()?;
        self.weight.validate()
    }
}

/// Features with their sums.
///
/// # Invariants
/// The sums have a row for each feature; `state` of the numbers of `x` are the state.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Candidate {
    pub(crate) features: Features,
    pub(crate) blocks: Blocks,
    /// `C = Σ ψψᵀ` over all pairs.
    next: Matrix,
    pub(crate) folds: [Fold; FOLDS],
    state: usize,
    /// The shorter of the two lags at which modes are tested.
    lag: usize,
}

/// Memory of a stretch, which all candidates use in turn.
#[derive(Clone, Debug, Default)]
pub(crate) struct StretchMemory {
    probes: Vec<Probe>,
    /// Features of the points, a column each.
    points: Matrix,
    /// `[1, x⁺]` of each pair, where `x` carries inputs.
    outputs: Matrix,
    product: Matrix,
    /// Pairs, and features side by side, of one product.
    pairs: Vec<usize>,
    some: [Matrix; 2],
}

impl Validate for Candidate {
    fn validate(&self) -> Result<(), Inconsistent> {
        const WHAT: &str = "candidate of an operator";
        self.features.validate()?;
        self.blocks.validate()?;
        self.folds.validate()?;
        let d = self.features.leading() - 1;
        Inconsistent::require((1..=d).contains(&self.state), WHAT, "a state within x")?;
        Inconsistent::require((1..=d.max(2)).contains(&self.lag), WHAT, "a lag of no more rows than a state has")?;
        let shape = (self.features.len(), self.outputs());
        let alike = |fold: &Fold| {
            let entries = shape.0.checked_mul(shape.1);
            (fold.cross.rows(), fold.cross.columns()) == shape && entries == Some(fold.cross.values().len())
        };
        self.next.values().validate()?;
        let square = |matrix: &Matrix| matrix.rows() == shape.1 && matrix.values().len() == shape.1 * shape.1;
        let fits = self.blocks.shape() == shape && square(&self.next) && self.folds.iter().all(alike);
        Inconsistent::require(fits, WHAT, "sums with a row for each feature")
    }
}

impl Candidate {
    /// Nothing learnt yet; the blocks have `length` pairs to begin with, and lags are `lag` and
    /// twice that.
    pub(crate) fn new(features: Features, state: usize, length: usize, lag: usize) -> Self {
        let p = features.len();
        let q = outputs(&features, state);
        let fold = Fold { cross: Matrix::zeros(p, q), weight: 0.0 };
        let folds = std::array::from_fn(|_| fold.clone());
        let (blocks, next) = (Blocks::new(p, q, length), Matrix::zeros(q, q));
        Self { features, blocks, next, folds, state, lag }
    }

    fn outputs(&self) -> usize {
        outputs(&self.features, self.state)
    }

    /// Numbers of a state, which are the features 1 to this one.
    pub(crate) fn state(&self) -> usize {
        self.state
    }

    /// Lets points of the stretch join the dictionary. Past pairs keep a 0 in the new coordinates,
    /// which is right to the tolerance of the dictionary: it would have kept them otherwise.
    pub(crate) fn grow(&mut self, stretch: &PairStretch, memory: &mut StretchMemory) {
        let before = self.features.len();
        let (points, rounds) = stretch.points();
        self.features.grow(points, rounds, &mut memory.probes);
        if self.features.len() > before {
            let (p, q) = (self.features.len(), self.outputs());
            self.blocks.widen(p, q);
            self.next = widened(&self.next, q, q);
            for fold in &mut self.folds {
                fold.cross = widened(&fold.cross, p, q);
            }
        }
    }

    /// Lets points join while there is room, and learns; all before fades by `half_life` pairs.
    pub(crate) fn take(&mut self, stretch: &PairStretch, half_life: Option<f64>, memory: &mut StretchMemory) {
        if self.features.has_room() {
            self.grow(stretch, memory);
        }
        let fade = |rows: f64| mercer_simd::exp(-std::f64::consts::LN_2 * stretch.len() as f64 / rows);
        self.learn(stretch, half_life.map_or(1.0, fade), memory);
    }

    /// Adds the pairs of a stretch to the sums, after all before weigh `keep` times as much.
    /// `O(md + p²)` a pair, as matrix products.
    pub(crate) fn learn(&mut self, stretch: &PairStretch, keep: f64, memory: &mut StretchMemory) {
        if keep < 1.0 {
            self.blocks.fade(keep);
            scale(&mut self.next, keep);
            for fold in &mut self.folds {
                scale(&mut fold.cross, keep);
                fold.weight *= keep;
            }
        }
        self.lift(stretch, memory);
        let block = self.blocks.last();
        add_products(memory, stretch, block, &mut self.folds);
        add_squares(memory, stretch, block, &mut self.next);
        add_lags(memory, stretch, block, self.lag);
        block.weight += stretch.len() as f64;
        block.rows += stretch.len() as f64;
    }

    /// Writes the features of the stretch into the memory.
    fn lift(&self, stretch: &PairStretch, memory: &mut StretchMemory) {
        let (points, d) = (stretch.points().0, self.features.leading() - 1);
        self.features.probe(points, &mut memory.probes);
        memory.points.reset(self.features.len(), points.len() / d);
        for (i, x) in points.chunks_exact(d).enumerate() {
            self.features.write(x, &memory.probes[i], memory.points.column_mut(i));
        }
        let alone = if stretch.next(0).is_none() { stretch.len() } else { 0 };
        memory.outputs.reset(self.outputs(), alone);
        for i in 0..alone {
            let to = memory.outputs.column_mut(i);
            to[0] = 1.0;
            to[1..].copy_from_slice(stretch.successor(i));
        }
    }

    /// The sums of all pairs, those of `pending` among them, in at most `most` contiguous groups.
    pub(crate) fn groups<'a>(&'a self, most: usize, pending: Option<&'a Self>) -> Vec<Group<'a>> {
        let mut groups = self.blocks.groups(most);
        for last in pending.iter().flat_map(|pending| pending.blocks.groups(1)) {
            match groups.last_mut() {
                Some(Group(blocks)) => blocks.extend(last.0),
                None => groups.push(last),
            }
        }
        groups
    }

    /// The folds and `C` over all pairs, those of `pending` among them.
    pub(crate) fn folds(&self, pending: Option<&Self>) -> ([Fold; FOLDS], Matrix) {
        let (mut folds, mut next) = (self.folds.clone(), self.next.clone());
        if let Some(pending) = pending {
            for (fold, more) in folds.iter_mut().zip(&pending.folds) {
                add(&mut fold.cross, 1.0, &more.cross);
                fold.weight += more.weight;
            }
            add(&mut next, 1.0, &pending.next);
        }
        (folds, next)
    }

    /// The same features with the pairs of a stretch alone, if it has any.
    pub(crate) fn alone(&self, stretch: &PairStretch) -> Option<Self> {
        (stretch.len() > 0).then(|| {
            let mut alone = Self::new(self.features.clone(), self.state, stretch.len(), self.lag);
            alone.learn(stretch, 1.0, &mut StretchMemory::default());
            alone
        })
    }

    /// The same features without a pair, which takes no further point.
    pub(crate) fn emptied(&self, length: usize) -> Self {
        let mut features = self.features.clone();
        features.close();
        Self::new(features, self.state, length, self.lag)
    }

    /// Adds the sums of other pairs on the same features, or takes them back.
    pub(crate) fn combine(&mut self, sign: f64, other: &Self) {
        if sign > 0.0 {
            self.blocks.merge(&other.blocks);
        } else {
            self.blocks.retract(&other.blocks);
        }
        add(&mut self.next, sign, &other.next);
        for (fold, theirs) in self.folds.iter_mut().zip(&other.folds) {
            add(&mut fold.cross, sign, &theirs.cross);
            fold.weight += sign * theirs.weight;
        }
    }
}

/// Numbers of `ψ`: those of `φ`, or `1 + state` where `x` carries inputs and `x⁺` does not.
fn outputs(features: &Features, state: usize) -> usize {
    if features.leading() == 1 + state { features.len() } else { 1 + state }
}

/// Writes columns side by side.
fn gather<'a>(to: &mut Matrix, rows: usize, columns: impl ExactSizeIterator<Item = &'a [f64]>) {
    to.reset(rows, columns.len());
    columns.enumerate().for_each(|(j, column)| to.column_mut(j).copy_from_slice(column));
}

/// `φ` of pair `i`.
fn now<'a>(points: &'a Matrix, stretch: &PairStretch, i: usize) -> &'a [f64] {
    points.column(stretch.now(i))
}

/// `ψ` of pair `i`.
fn next<'a>((points, outputs): (&'a Matrix, &'a Matrix), stretch: &PairStretch, i: usize) -> &'a [f64] {
    stretch.next(i).map_or_else(|| outputs.column(i), |point| points.column(point))
}

/// `A` and the diagonal of `C` of the lifted pairs; `A` is made once for block and fold.
fn add_products(memory: &mut StretchMemory, stretch: &PairStretch, block: &mut Sums, folds: &mut [Fold; FOLDS]) {
    let StretchMemory { points, outputs, product, some: [before, after], .. } = memory;
    let (p, q) = block.shape();
    let first = (stretch.first() % FOLDS as u64) as usize;
    for (f, fold) in folds.iter_mut().enumerate() {
        let pairs = || ((f + FOLDS - first) % FOLDS..stretch.len()).step_by(FOLDS);
        gather(before, p, pairs().map(|i| now(points, stretch, i)));
        gather(after, q, pairs().map(|i| next((points, outputs), stretch, i)));
        for j in 0..after.columns() {
            block.squares.iter_mut().zip(after.column(j)).for_each(|(square, f)| *square += f * f);
        }
        product.reset(p, q);
        product.add_times_transposed(before, after);
        add(&mut block.cross, 1.0, product);
        add(&mut fold.cross, 1.0, product);
        fold.weight += before.columns() as f64;
    }
}

/// `G` and `C` of the lifted pairs. Along a path they differ by its two ends.
fn add_squares(memory: &mut StretchMemory, stretch: &PairStretch, block: &mut Sums, total: &mut Matrix) {
    let StretchMemory { points, outputs, product, pairs, some: [before, after], .. } = memory;
    let (p, q) = block.shape();
    gather(before, p, (0..stretch.len()).map(|i| now(points, stretch, i)));
    product.reset(p, p);
    product.add_times_transposed(before, before);
    add(&mut block.gram, 1.0, product);
    pairs.clear();
    pairs.extend((0..stretch.len()).filter(|i| !stretch.is_led_to(*i)));
    if p == q && 2 * pairs.len() < stretch.len() {
        add(total, 1.0, product);
        gather(before, p, pairs.iter().map(|i| now(points, stretch, *i)));
        product.reset(p, p);
        product.add_times_transposed(before, before);
        add(total, -1.0, product);
        // A path ends where another begins, and the last with the stretch.
        pairs.push(stretch.len());
        gather(after, q, pairs[1..].iter().map(|end| next((points, outputs), stretch, end - 1)));
    } else {
        gather(after, q, (0..stretch.len()).map(|i| next((points, outputs), stretch, i)));
    }
    total.add_times_transposed(after, after);
}

/// `B` and the products of the lifted pairs at the lags `lag` and twice that, where the path
/// between them is whole. `B` is that of lag 2, also to the last `x⁺` of a path. `2p²` or `3p²` a
/// pair.
fn add_lags(memory: &mut StretchMemory, stretch: &PairStretch, block: &mut Sums, lag: usize) {
    if block.lagged.columns() == 0 {
        return;
    }
    let mut product = std::mem::take(&mut memory.product);
    // Of the pairs that end a path here, or of the others.
    let mut at = |lag: usize, ends: bool, product: &mut Matrix| {
        let StretchMemory { points, pairs, some: [before, after], .. } = &mut *memory;
        // Steps of the path up to the end of pair i.
        let mut whole = 0;
        let is_behind = |i: &usize| {
            whole = if stretch.is_led_to(*i) { whole + 1 } else { 1 };
            whole >= lag && ends != (i + 1 < stretch.len() && stretch.is_led_to(i + 1))
        };
        pairs.clear();
        pairs.extend((0..stretch.len()).filter(is_behind));
        let p = points.rows();
        gather(before, p, pairs.iter().map(|i| now(points, stretch, i + 1 - lag)));
        gather(after, p, pairs.iter().map(|i| points.column(stretch.next(*i).unwrap_or_default())));
        product.reset(p, p);
        product.add_times_transposed(before, after);
        pairs.len() as f64
    };
    block.lags += at(2, true, &mut product);
    add(&mut block.lagged, 1.0, &product);
    let weight = at(2, false, &mut product);
    add(&mut block.lagged, 1.0, &product);
    block.lags += weight;
    for (k, (sum, total)) in block.lag_sums.iter_mut().zip(&mut block.lag_weights).enumerate() {
        let lag = (k + 1) * lag;
        let weight = if lag == 2 { weight } else { at(lag, false, &mut product) };
        add(sum, 1.0, &product);
        *total += weight;
    }
    memory.product = product;
}
