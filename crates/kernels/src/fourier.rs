//! Random Fourier features of the Gaussian kernel (Rahimi and Recht 2007).

use std::f64::consts::FRAC_2_PI;

use mercer_core::{Inconsistent, Validate};
use mercer_simd::{AlignedVec, LANES, Lane, Op, Simd, dispatch, sincos_lane};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rand_distr::{Distribution, StandardNormal};

use crate::kernel::KernelError;
use crate::points::Points;
use crate::stationary::width;
use crate::support::{WIDE, support};

/// `z(x) = [cos Wx; sin Wx]/√D` with `D` frequencies `W ~ N(0, I/σ²)`, so that
/// `z(x)ᵀz(x') ≈ exp(−‖x−x'‖²/2σ²)` and `‖z(x)‖ = 1`.
///
/// The coordinates come in pairs of lanes, eight cosines then their eight sines; slots past the
/// last frequency are zero. Frequencies are stored in quarter turns (`2W/π`), which makes the range
/// reduction of the sine exact.
///
/// Inputs may [gain columns](Self::grow) later. Without a column (`d = 0`) every cosine is `1/√D`
/// and every sine 0.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct RandomFourier {
    quarter_turns: Points,
    /// Width `σ` by which the frequencies of a later column are drawn.
    sigma: f64,
    seed: u64,
}

/// Column `j` has stream `COLUMNS + j` of the seed. The frequencies of `draw` have stream 0; other
/// draws have their own.
const COLUMNS: u64 = 0x7266_665f_0000_0000;

/// A draw of `w` in quarter turns.
fn draw_quarter_turns(rng: &mut ChaCha8Rng, sigma: f64) -> f64 {
    let normal: f64 = StandardNormal.sample(rng);
    normal / sigma * FRAC_2_PI
}

impl Validate for RandomFourier {
    fn validate(&self) -> Result<(), Inconsistent> {
        Inconsistent::require(self.frequencies() > 0, "random features", "there is at least one frequency")?;
        Inconsistent::positive(self.sigma, "width of random features")?;
        self.quarter_turns.validate()
    }
}

impl RandomFourier {
    /// Draws `features` frequencies for inputs of dimension `dimension` from ChaCha8 seeded with
    /// `seed`, one frequency after the other. The dimension may be 0, for inputs whose columns all
    /// [come later](Self::grow).
    ///
    /// # Errors
    /// [`KernelError::Width`] when `sigma` is not a positive number, or one too small or too large
    /// to be squared.
    pub fn draw(dimension: usize, sigma: f64, features: usize, seed: u64) -> Result<Self, KernelError> {
        width(sigma)?;
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut quarter_turns = Points::with_capacity(dimension, features);
        let mut frequency = vec![0.0; dimension];
        for _ in 0..features {
            frequency.fill_with(|| draw_quarter_turns(&mut rng, sigma));
            quarter_turns.push(&frequency);
        }
        Ok(Self { quarter_turns, sigma, seed })
    }

    /// Takes `added` columns more after those that the inputs have. `O(D(d + added))`.
    ///
    /// An input that is 0 in the new columns keeps its features, to the bit. The frequencies of
    /// column `j`, counted from 0, come from ChaCha8 seeded with the seed of the model, from a
    /// stream for `j`. They depend on the seed, the width and `j` alone: two columns at once are
    /// the same as one and then another, and it does not matter when they come. The columns that
    /// were there at the start are [drawn](Self::draw) from one stream together, so a model that
    /// grows to `d` columns is another than one that starts with them.
    pub fn grow(&mut self, added: usize) {
        let before = self.input_dimension();
        self.quarter_turns.grow(added);
        for column in before..before + added {
            let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
            rng.set_stream(COLUMNS + column as u64);
            self.quarter_turns.fill_coordinate(column, || draw_quarter_turns(&mut rng, self.sigma));
        }
    }

    /// Input dimension `d`.
    #[must_use]
    pub fn input_dimension(&self) -> usize {
        self.quarter_turns.dimension()
    }

    /// Number of frequencies `D`.
    #[must_use]
    pub fn frequencies(&self) -> usize {
        self.quarter_turns.len()
    }

    /// Number of coordinates: `2D` with `D` rounded up to a multiple of eight.
    #[must_use]
    pub fn dimension(&self) -> usize {
        2 * self.frequencies().next_multiple_of(LANES)
    }

    /// Frequency `index`, `w` such that the features hold `cos wᵀx` and `sin wᵀx`.
    ///
    /// # Panics
    /// If there is no such frequency.
    #[must_use]
    pub fn frequency(&self, index: usize) -> Vec<f64> {
        self.quarter_turns.point(index).iter().map(|w| w / FRAC_2_PI).collect()
    }

    /// `features ← z(x)`: `D(d + 40)` operations; allocates only when `features` must grow.
    ///
    /// # Panics
    /// If `x` has not `d` coordinates.
    pub fn map(&self, x: &[f64], features: &mut AlignedVec) {
        self.map_rows([x], std::array::from_mut(features));
    }

    /// [`map`](Self::map) for the rows of a row-major block, the same bits: four rows share one
    /// read of the frequencies.
    ///
    /// Rows of no coordinates (`d = 0`) cannot be counted in `xs`; there are then as many as
    /// `features`.
    ///
    /// # Panics
    /// If there is no memory for a row, or a row has not `d` coordinates.
    pub fn map_block(&self, xs: &[f64], features: &mut [AlignedVec]) {
        let d = self.input_dimension();
        if d == 0 {
            features.iter_mut().for_each(|features| self.map(xs, features));
            return;
        }
        for (xs, features) in xs.chunks(4 * d).zip(features.chunks_mut(4)) {
            match <&mut [AlignedVec; 4]>::try_from(&mut *features) {
                Ok(features) if xs.len() == 4 * d => {
                    self.map_rows(std::array::from_fn(|r| &xs[r * d..(r + 1) * d]), features);
                }
                _ => xs.chunks(d).zip(features).for_each(|(x, features)| self.map(x, features)),
            }
        }
    }

    fn map_rows<const N: usize>(&self, xs: [&[f64]; N], features: &mut [AlignedVec; N]) {
        assert!(xs.iter().all(|x| x.len() == self.input_dimension()), "an input has one coordinate for each dimension");
        let scale = 1.0 / (self.frequencies() as f64).sqrt();
        let out = features.each_mut().map(|features| {
            features.resize(self.dimension());
            features.lanes_mut()
        });
        let (lanes, stride) = (self.quarter_turns.lanes(), self.quarter_turns.stride());
        let supports = xs.map(|x| if x.len() >= WIDE { support(x, 0) } else { None });
        if supports.iter().all(Option::is_some) && N > 0 {
            for ((x, places), out) in xs.iter().zip(supports.iter().flatten()).zip(out) {
                dispatch(SparseMap { lanes, stride, x, places, scale, out });
            }
        } else {
            dispatch(Map { lanes, stride, xs, scale, out });
        }
        let used = self.frequencies() % LANES;
        if used != 0 {
            for features in features {
                features.lanes_mut().iter_mut().rev().take(2).for_each(|lane| lane.0[used..].fill(0.0));
            }
        }
    }
}

/// The features of an input by its coordinates that are not 0; the others would add 0.
struct SparseMap<'a> {
    lanes: &'a [Lane],
    stride: usize,
    x: &'a [f64],
    places: &'a [usize],
    scale: f64,
    out: &'a mut [Lane],
}

impl Op for SparseMap<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { lanes, stride, x, places, scale, out } = self;
        let scale = simd.splat(scale);
        for (block, out) in lanes.chunks(stride).zip(out.as_chunks_mut::<2>().0) {
            // Even and odd coordinates apart, as they are summed where all count.
            let mut sums = [simd.splat(0.0); 2];
            for place in places {
                let sum = &mut sums[place % 2];
                *sum = simd.mul_add(simd.load(&block[*place]), simd.splat(x[*place]), *sum);
            }
            let (sin, cos) = sincos_lane(simd, simd.add(sums[0], sums[1]));
            simd.store(simd.mul(cos, scale), &mut out[0]);
            simd.store(simd.mul(sin, scale), &mut out[1]);
        }
    }
}

struct Map<'a, const N: usize> {
    lanes: &'a [Lane],
    /// Lanes of a block of eight frequencies.
    stride: usize,
    xs: [&'a [f64]; N],
    scale: f64,
    out: [&'a mut [Lane]; N],
}

impl<const N: usize> Op for Map<'_, N> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { lanes, stride, xs, scale, mut out } = self;
        let lanes = (lanes, stride);
        if S::REGISTERS > 2 * N + 2 {
            map(simd, lanes, &xs, scale, &mut out);
        } else {
            for (xs, out) in xs.as_chunks::<2>().0.iter().zip(out.as_chunks_mut::<2>().0) {
                map(simd, lanes, xs, scale, out);
            }
        }
    }
}

/// The features of `N` inputs.
#[inline(always)]
fn map<S: Simd, const N: usize>(
    simd: S,
    (lanes, stride): (&[Lane], usize),
    xs: &[&[f64]; N],
    scale: f64,
    out: &mut [&mut [Lane]; N],
) {
    let d = xs[0].len();
    let scale = simd.splat(scale);
    for b in 0..out[0].len() / 2 {
        let mut sums = [[simd.splat(0.0); 2]; N];
        // Two by two, so that the sums stay in registers.
        let (pairs, last) = lanes[b * stride..][..d].as_chunks::<2>();
        for (p, [even, odd]) in pairs.iter().enumerate() {
            let (even, odd) = (simd.load(even), simd.load(odd));
            for r in 0..N {
                sums[r][0] = simd.mul_add(even, simd.splat(xs[r][2 * p]), sums[r][0]);
                sums[r][1] = simd.mul_add(odd, simd.splat(xs[r][2 * p + 1]), sums[r][1]);
            }
        }
        for w in last {
            for r in 0..N {
                sums[r][0] = simd.mul_add(simd.load(w), simd.splat(xs[r][d - 1]), sums[r][0]);
            }
        }
        for r in 0..N {
            let (sin, cos) = sincos_lane(simd, simd.add(sums[r][0], sums[r][1]));
            simd.store(simd.mul(cos, scale), &mut out[r][2 * b]);
            simd.store(simd.mul(sin, scale), &mut out[r][2 * b + 1]);
        }
    }
}

#[cfg(test)]
mod tests {
    use mercer_simd::{Level, prefer};

    use super::*;
    use crate::{Gaussian, Kernel};

    /// Zeros that are passed over leave the bits of features.
    #[test]
    fn features_of_few_coordinates_are_those_of_all() {
        let d = WIDE + 3;
        let model = RandomFourier::draw(d, 0.7, 21, 5).unwrap();
        let mut x = vec![0.0; d];
        for place in [0, 1, 6, 77, 78, 2047, d - 1] {
            x[place] = 0.3 - place as f64 / 1e4;
        }
        assert!(support(&x, 0).is_some() && support(&vec![1.0; d], 0).is_none());
        let (mut few, mut all) = (AlignedVec::new(), AlignedVec::new());
        model.map(&x, &mut few);
        all.resize(model.dimension());
        let (lanes, stride) = (model.quarter_turns.lanes(), model.quarter_turns.stride());
        let scale = 1.0 / 21_f64.sqrt();
        dispatch(Map { lanes, stride, xs: [&x], scale, out: [all.lanes_mut()] });
        assert_eq!(few[..32], all[..32]);
        x[5] = 1e-3;
        model.map(&x, &mut few);
        assert_ne!(few[..32], all[..32]);
    }

    #[test]
    fn features_are_the_cosines_and_sines_of_the_frequencies() -> Result<(), KernelError> {
        let features = RandomFourier::draw(3, 0.7, 11, 5)?;
        let x = [0.3, -0.8, 0.1];
        let mut z = AlignedVec::new();
        features.map(&x, &mut z);
        for j in 0..11 {
            let angle: f64 = features.frequency(j).iter().zip(x).map(|(w, x)| w * x).sum();
            let slot = j / 8 * 16 + j % 8;
            assert!((z[slot] - angle.cos() / 11f64.sqrt()).abs() < 1e-15);
            assert!((z[slot + 8] - angle.sin() / 11f64.sqrt()).abs() < 1e-15);
        }
        let norm: f64 = z.iter().map(|z| z * z).sum();
        assert!((norm - 1.0).abs() < 1e-14);
        Ok(())
    }

    #[test]
    fn a_block_has_the_bits_of_its_rows() -> Result<(), KernelError> {
        let features = RandomFourier::draw(3, 0.7, 19, 5)?;
        let xs: Vec<f64> = (0..33).map(|i| f64::from(i).sin()).collect();
        let mut block = vec![AlignedVec::new(); 11];
        features.map_block(&xs, &mut block);
        let mut single = AlignedVec::new();
        for (x, row) in xs.chunks(3).zip(&block) {
            features.map(x, &mut single);
            assert_eq!(*row, single);
        }
        Ok(())
    }

    #[test]
    fn the_first_columns_are_drawn_together() -> Result<(), KernelError> {
        let mut normals = StandardNormal.sample_iter(ChaCha8Rng::seed_from_u64(5));
        let features = RandomFourier::draw(3, 0.7, 11, 5)?;
        for j in 0..11 {
            let expected: Vec<f64> = normals.by_ref().take(3).map(|normal: f64| normal / 0.7 * FRAC_2_PI).collect();
            assert_eq!(features.quarter_turns.point(j), expected);
        }
        Ok(())
    }

    #[test]
    fn columns_may_come_at_any_time() -> Result<(), KernelError> {
        for (d, features) in [(0, 11), (3, 16), (4, 1)] {
            let start = RandomFourier::draw(d, 0.7, features, 5)?;
            let (mut at_once, mut one_by_one) = (start.clone(), start.clone());
            at_once.grow(3);
            for _ in 0..3 {
                one_by_one.grow(1);
                one_by_one.grow(0);
            }
            assert_eq!(at_once, one_by_one);
            assert_eq!((at_once.input_dimension(), at_once.frequencies()), (d + 3, features));
            assert_eq!(at_once.validate(), Ok(()));
            for j in 0..features {
                let frequency = at_once.frequency(j);
                assert_eq!(frequency[..d], start.frequency(j), "the first columns stay");
                for column in d..d + 3 {
                    let mut rng = ChaCha8Rng::seed_from_u64(5);
                    rng.set_stream(0x7266_665f_0000_0000 + column as u64);
                    let normal: Vec<f64> = StandardNormal.sample_iter(rng).take(features).collect();
                    assert!((frequency[column] - normal[j] / 0.7).abs() < 1e-15 * normal[j].abs() * 4.0);
                }
            }
        }
        // A column is the same wherever growth began.
        let (mut early, mut late) = (RandomFourier::draw(0, 0.7, 9, 5)?, RandomFourier::draw(2, 0.7, 9, 5)?);
        early.grow(4);
        late.grow(2);
        assert!((0..9).all(|j| early.frequency(j)[2..] == late.frequency(j)[2..]));
        Ok(())
    }

    #[test]
    fn inputs_without_the_later_columns_keep_their_features() -> Result<(), KernelError> {
        let (mut before, mut after) = (AlignedVec::new(), AlignedVec::new());
        for d in 0..5 {
            let mut features = RandomFourier::draw(d, 0.7, 19, 5)?;
            let mut x: Vec<f64> = (0..d).map(|i| (i as f64).cos()).collect();
            features.map(&x, &mut before);
            for added in 1..4 {
                features.grow(added);
                x.resize(features.input_dimension(), 0.0);
                features.map(&x, &mut after);
                assert_eq!(after, before);
            }
        }
        Ok(())
    }

    #[test]
    fn without_columns_cosines_are_one_and_sines_zero() -> Result<(), KernelError> {
        let features = RandomFourier::draw(0, 0.7, 11, 5)?;
        assert_eq!(features.validate(), Ok(()));
        assert_eq!((features.dimension(), features.frequency(10)), (32, Vec::new()));
        let mut block = vec![AlignedVec::new(); 6];
        features.map_block(&[], &mut block);
        let mut single = AlignedVec::new();
        features.map(&[], &mut single);
        let one = 1.0 / 11f64.sqrt();
        for (k, z) in single.iter().enumerate() {
            let is_cosine = k % 16 < 8 && k / 16 * 8 + k % 8 < 11;
            assert_eq!(*z, if is_cosine { one } else { 0.0 });
        }
        assert!(block.iter().all(|row| *row == single));
        Ok(())
    }

    #[cfg(feature = "serde")]
    #[test]
    fn what_was_read_back_grows_alike() -> Result<(), Box<dyn std::error::Error>> {
        let features = RandomFourier::draw(3, 0.7, 11, 5)?;
        let mut again: RandomFourier = postcard::from_bytes(&postcard::to_stdvec(&features)?)?;
        assert_eq!(again, features);
        again.grow(2);
        let mut grown = features;
        grown.grow(2);
        assert_eq!(again, grown);
        let no_width = RandomFourier { sigma: 0.0, ..grown };
        assert!(no_width.validate().is_err());
        Ok(())
    }

    #[test]
    fn every_instruction_set_and_order_gives_the_same_bits() -> Result<(), KernelError> {
        let features = RandomFourier::draw(3, 0.7, 19, 5)?;
        let xs: Vec<f64> = (0..24).map(|i| f64::from(i).sin()).collect();
        let blocks: Vec<_> = Level::available()
            .into_iter()
            .map(|level| {
                prefer(Some(level));
                let mut block = vec![AlignedVec::new(); 8];
                features.map_block(&xs, &mut block);
                block
            })
            .collect();
        prefer(None);
        assert!(blocks.len() > 1 && blocks.iter().all(|block| *block == blocks[0]));
        Ok(())
    }

    #[test]
    fn products_approach_the_gaussian_kernel() -> Result<(), KernelError> {
        let features = RandomFourier::draw(2, 1.3, 20_000, 1)?;
        let (x, y) = ([0.4, -0.2], [-0.5, 0.9]);
        let (mut a, mut b) = (AlignedVec::new(), AlignedVec::new());
        features.map(&x, &mut a);
        features.map(&y, &mut b);
        let product: f64 = a.iter().zip(b.iter()).map(|(a, b)| a * b).sum();
        // Four standard errors of a mean of 20,000 cosines.
        assert!((product - Gaussian::new(1.3)?.evaluate(&x, &y)).abs() < 4.0 * (0.5f64 / 20_000.0).sqrt());
        Ok(())
    }
}
