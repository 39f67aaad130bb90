//! The layout of a symmetric matrix: runs of tiles of eight rows and four columns.
//!
//! Block `b` holds rows `0..8b+8` of columns `8b..8b+4`, then of columns `8b+4..8b+8`: two runs of
//! `b + 1` tiles each. With few registers a pass takes one run after the other, with many both at
//! once; either way it reads memory in its order.

use mercer_simd::{LANES, Lane};

use crate::tiles::{HALF, are_blocks, block_start};

/// Four columns of eight rows.
pub(crate) type HalfTile = [Lane; HALF];

pub(crate) const ZERO_HALF: HalfTile = [Lane::ZERO; HALF];

/// The runs of a block.
pub(crate) const RUNS: usize = LANES / HALF;

/// Index of the first tile of block `b`.
pub(crate) const fn start(b: usize) -> usize {
    RUNS * block_start(b)
}

/// True if `tiles` are as many as `blocks` blocks have.
pub(crate) fn are_runs(tiles: usize, blocks: usize) -> bool {
    tiles.is_multiple_of(RUNS) && are_blocks(tiles / RUNS, blocks)
}

/// Both runs of block `b`.
pub(crate) fn runs(tiles: &[HalfTile], b: usize) -> [&[HalfTile]; RUNS] {
    tiles[start(b)..start(b + 1)].split_at(b + 1).into()
}

pub(crate) fn runs_mut(tiles: &mut [HalfTile], b: usize) -> [&mut [HalfTile]; RUNS] {
    tiles[start(b)..start(b + 1)].split_at_mut(b + 1).into()
}

/// Form in files: whole tiles, eight columns side by side.
#[cfg(feature = "serde")]
pub(super) mod stored {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::{HALF, HalfTile, RUNS, runs, start};
    use crate::tiles::{Tile, ZERO_TILE};

    pub(in crate::symmetric) fn serialize<S: Serializer>(tiles: &[HalfTile], serializer: S) -> Result<S::Ok, S::Error> {
        joined(tiles).serialize(serializer)
    }

    pub(in crate::symmetric) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<HalfTile>, D::Error> {
        Ok(parted(&Vec::deserialize(deserializer)?))
    }

    fn joined(tiles: &[HalfTile]) -> Vec<Tile> {
        let mut whole = Vec::with_capacity(tiles.len() / RUNS);
        for b in (0..).take_while(|b| start(*b) < tiles.len()) {
            let [left, right] = runs(tiles, b);
            whole.extend(left.iter().zip(right).map(|(left, right)| {
                let mut tile = ZERO_TILE;
                tile[..HALF].copy_from_slice(left);
                tile[HALF..].copy_from_slice(right);
                tile
            }));
        }
        whole
    }

    /// A number of tiles that is none of whole blocks gives one that is none either, for the
    /// matrix's validation to see.
    fn parted(mut whole: &[Tile]) -> Vec<HalfTile> {
        let mut tiles = Vec::with_capacity(RUNS * whole.len());
        for b in 0.. {
            let (block, rest) = whole.split_at(whole.len().min(b + 1));
            for run in 0..RUNS {
                tiles.extend(block.iter().map(|tile| tile.as_chunks().0[run]));
            }
            whole = rest;
            if rest.is_empty() {
                break;
            }
        }
        tiles
    }

    #[cfg(test)]
    mod tests {
        use mercer_simd::Lane;

        use super::*;
        use crate::symmetric::halves::are_runs;
        use crate::tiles::{are_blocks, block};

        fn tiles(count: usize) -> Vec<Tile> {
            (0..count).map(|t| std::array::from_fn(|j| Lane([(8 * t + j) as f64; 8]))).collect()
        }

        #[test]
        fn whole_tiles_come_back() {
            for blocks in 0..5 {
                let whole = tiles(blocks * (blocks + 1) / 2);
                let parts = parted(&whole);
                assert_eq!(joined(&parts), whole);
                for b in 0..blocks {
                    for (p, tile) in block(&whole, b).iter().enumerate() {
                        for (j, column) in tile.iter().enumerate() {
                            assert_eq!(
                                runs(&parts, b)[j / HALF][p][j % HALF],
                                *column,
                                "block {b}, tile {p}, column {j}"
                            );
                        }
                    }
                }
            }
        }

        #[test]
        fn a_number_of_tiles_that_is_none_of_blocks_is_seen() {
            for count in 0..12 {
                let parts = parted(&tiles(count)).len();
                for blocks in 0..6 {
                    assert_eq!(are_runs(parts, blocks), are_blocks(count, blocks), "{count} tiles, {blocks} blocks");
                }
            }
        }
    }
}
