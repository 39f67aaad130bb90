//! Form of a factor in files: the coefficients in tiles of eight rows and eight outputs.

use mercer_simd::{AlignedVec, LANES, Lane};

use super::factor::Factor;
use super::outputs::{Coefficients, OUTPUTS, groups};
use crate::tiles::{Tile, ZERO_TILE};

#[derive(serde::Serialize, serde::Deserialize)]
pub(super) struct StoredFactor {
    n: usize,
    m: usize,
    tiles: Vec<Tile>,
    inverse_pivots: AlignedVec,
    coefficients: Vec<Tile>,
    largest: [f64; 2],
    smallest: f64,
    steepest: f64,
}

impl From<Factor> for StoredFactor {
    fn from(factor: Factor) -> Self {
        let Factor { n, m, tiles, inverse_pivots, coefficients, largest, smallest, steepest } = factor;
        let blocks = coefficients.chunks(groups(m));
        let coefficients = blocks.flat_map(|block| block.chunks(LANES / OUTPUTS).map(joined)).collect();
        Self { n, m, tiles, inverse_pivots, coefficients, largest, smallest, steepest }
    }
}

/// A number of tiles that is none of a factor gives a number of coefficients that is none either,
/// for its validation to see.
impl From<StoredFactor> for Factor {
    fn from(stored: StoredFactor) -> Self {
        let StoredFactor { n, m, tiles, inverse_pivots, coefficients, largest, smallest, steepest } = stored;
        let blocks = coefficients.chunks(m.div_ceil(LANES).max(1));
        let coefficients = blocks.flat_map(|block| block.iter().flat_map(parts).take(groups(m))).collect();
        Self { n, m, tiles, inverse_pivots, coefficients, largest, smallest, steepest }
    }
}

fn joined(parts: &[Coefficients]) -> Tile {
    let mut tile = ZERO_TILE;
    for (part, place) in parts.iter().zip((0..LANES).step_by(OUTPUTS)) {
        for (lane, outputs) in tile.iter_mut().zip(&part.0) {
            lane.0[place..place + OUTPUTS].copy_from_slice(outputs);
        }
    }
    tile
}

fn parts(tile: &Tile) -> [Coefficients; LANES / OUTPUTS] {
    std::array::from_fn(|part| Coefficients(tile.map(|Lane(row)| std::array::from_fn(|k| row[part * OUTPUTS + k]))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::square_root::{SquareRootRls, SquareRootScratch};

    #[test]
    fn what_is_stored_has_eight_outputs_side_by_side_and_comes_back() {
        let n = 11;
        for m in [1, 3, 4, 5, 8, 9, 12, 13, 17] {
            let mut rls = SquareRootRls::new(&vec![1.0; n], m);
            for t in 0..20 {
                let number = |i: usize| ((7 * t + 3 * i) % 11) as f64 - 5.0;
                let (row, outputs): (AlignedVec, Vec<f64>) =
                    ((0..n).map(number).collect(), (0..m).map(|o| number(o + 1) / 3.0).collect());
                rls.update(&row, &outputs, &mut SquareRootScratch::default()).expect("in range");
            }
            let factor = rls.factor;
            let stored = StoredFactor::from(factor.clone());
            assert_eq!(stored.coefficients.len(), 2 * m.div_ceil(LANES));
            for i in 0..n {
                for o in 0..m {
                    let tile = &stored.coefficients[i / LANES * m.div_ceil(LANES) + o / LANES];
                    assert_eq!(
                        tile[i % LANES].0[o % LANES],
                        factor.coefficient(i, o),
                        "coefficient {o} of row {i}, {m} outputs"
                    );
                }
            }
            assert_eq!(Factor::from(stored), factor);
        }
    }

    #[test]
    fn a_tile_too_few_is_seen() {
        use mercer_core::Validate;
        for m in [1, 5, 9, 13] {
            let mut stored = StoredFactor::from(SquareRootRls::new(&[1.0; 20], m).factor);
            stored.coefficients.pop();
            assert!(Factor::from(stored).validate().is_err(), "{m} outputs");
        }
    }
}
