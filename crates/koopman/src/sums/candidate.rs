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
    /// The features of each fold, a column a pair.
    now: [Matrix; FOLDS],
    next: [Matrix; FOLDS],
    product: Matrix,
    /// Features side by side for one product.
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
        add_products(memory, block, &mut self.folds);
        add_along(memory, stretch, block, &mut self.next);
        add_lags(memory, stretch, block, self.lag);
        block.weight += stretch.len() as f64;
        block.rows += stretch.len() as f64;
    }

    /// Writes the features of the stretch into the memory, fold by fold.
    fn lift(&self, stretch: &PairStretch, memory: &mut StretchMemory) {
        let (p, q) = (self.features.len(), self.outputs());
        self.features.probe(stretch.points().0, &mut memory.probes);
        let fold = |i: usize| place(stretch, i).0;
        let mut columns = [0; FOLDS];
        (0..stretch.len()).for_each(|i| columns[fold(i)] += 1);
        for (count, (now, next)) in columns.iter().zip(memory.now.iter_mut().zip(&mut memory.next)) {
            now.reset(p, *count);
            next.reset(q, *count);
        }
        columns = [0; FOLDS];
        for i in 0..stretch.len() {
            let (f, column) = (fold(i), columns[fold(i)]);
            columns[f] += 1;
            let (point, x) = stretch.now(i);
            self.features.write(x, &memory.probes[point], memory.now[f].column_mut(column));
            let to = memory.next[f].column_mut(column);
            let x_plus = stretch.successor(i);
            match stretch.next(i) {
                Some(point) => self.features.write(x_plus, &memory.probes[point], to),
                None => {
                    to[0] = 1.0;
                    to[1..].copy_from_slice(x_plus);
                }
            }
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

/// The fold of pair `i` of a stretch, and its column there.
fn place(stretch: &PairStretch, i: usize) -> (usize, usize) {
    let fold = |i: usize| ((stretch.first() + i as u64) % FOLDS as u64) as usize;
    // The first of a fold is one of the first four.
    (fold(i), i / FOLDS)
}

/// `G`, `A` and the diagonal of `C` of the lifted pairs; `A` is made once for block and fold.
fn add_products(memory: &mut StretchMemory, block: &mut Sums, folds: &mut [Fold; FOLDS]) {
    let StretchMemory { now, next, product, .. } = memory;
    for (fold, (now, next)) in folds.iter_mut().zip(now.iter().zip(&*next)) {
        if now.columns() == 0 {
            continue;
        }
        block.gram.add_times_transposed(now, now);
        for j in 0..next.columns() {
            block.squares.iter_mut().zip(next.column(j)).for_each(|(square, f)| *square += f * f);
        }
        product.reset(now.rows(), next.rows());
        product.add_times_transposed(now, next);
        add(&mut block.cross, 1.0, product);
        add(&mut fold.cross, 1.0, product);
        fold.weight += now.columns() as f64;
    }
}

/// `B` and `C` of the lifted pairs.
fn add_along(memory: &mut StretchMemory, stretch: &PairStretch, block: &mut Sums, total: &mut Matrix) {
    let StretchMemory { now, next, some: [before, after], .. } = memory;
    if block.lagged.columns() > 0 {
        before.reset(now[0].rows(), stretch.len());
        after.reset(next[0].rows(), stretch.len());
        for i in 0..stretch.len() {
            let (fold, column) = place(stretch, i);
            after.column_mut(i).copy_from_slice(next[fold].column(column));
            if stretch.is_led_to(i) {
                let (fold, column) = place(stretch, i - 1);
                before.column_mut(i).copy_from_slice(now[fold].column(column));
                block.lags += 1.0;
            }
        }
        block.lagged.add_times_transposed(before, after);
    }
    for next in next.iter().filter(|next| next.columns() > 0) {
        total.add_times_transposed(next, next);
    }
}

/// The products of the lifted pairs at the lags `lag` and twice that, where the path between them
/// is whole. `2p²` a pair.
fn add_lags(memory: &mut StretchMemory, stretch: &PairStretch, block: &mut Sums, lag: usize) {
    if block.lagged.columns() == 0 {
        return;
    }
    let StretchMemory { now, some: [before, after], .. } = memory;
    let lifted = |i: usize| {
        let (fold, column) = place(stretch, i);
        now[fold].column(column)
    };
    let (p, count) = (now[0].rows(), stretch.len());
    for (k, (sum, weight)) in block.lag_sums.iter_mut().zip(&mut block.lag_weights).enumerate() {
        let lag = (k + 1) * lag;
        before.reset(p, count);
        after.reset(p, count);
        let (mut pairs, mut whole) = (0, 0);
        for i in 1..count {
            whole = if stretch.is_led_to(i) { whole + 1 } else { 0 };
            if whole >= lag {
                before.column_mut(pairs).copy_from_slice(lifted(i - lag));
                after.column_mut(pairs).copy_from_slice(lifted(i));
                pairs += 1;
            }
        }
        if pairs > 0 {
            sum.add_times_transposed(before, after);
            *weight += pairs as f64;
        }
    }
}
