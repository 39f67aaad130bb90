//! The layout of a growing factor: 8×8 tiles, block `b` holding tiles `0..=b`. That of an inverse
//! is made of halves of such tiles.

use mercer_simd::{LANES, Lane};

/// Eight lanes: a square tile by columns.
pub(crate) type Tile = [Lane; LANES];

/// Eight rows of eight columns, a lane a column or a lane a row: what a tile is to a matrix, a
/// panel is to a thin one.
pub(crate) type Panel = [Lane; LANES];

pub(crate) const ZERO_TILE: Tile = [Lane::ZERO; LANES];

/// Columns of a tile that are taken at once where the registers do not hold what all eight need.
pub(crate) const HALF: usize = LANES / 2;

/// Tiles that the first level of cache keeps while they are gone through more than once, for the
/// same reason.
pub(crate) const CHUNK: usize = 16;

/// Index of the first tile of block `b`: blocks `0, 1, …` hold `1, 2, …` tiles.
pub(crate) const fn block_start(b: usize) -> usize {
    b * (b + 1) / 2
}

/// The tiles of block `b`.
pub(crate) fn block(tiles: &[Tile], b: usize) -> &[Tile] {
    &tiles[block_start(b)..=block_start(b) + b]
}

/// True if `tiles` are as many as `blocks` blocks have.
pub(crate) fn are_blocks(tiles: usize, blocks: usize) -> bool {
    blocks.checked_add(1).and_then(|more| blocks.checked_mul(more)).is_some_and(|twice| twice / 2 == tiles)
}

/// `(block, lane)` of a row or column index.
pub(crate) const fn split(index: usize) -> (usize, usize) {
    (index / LANES, index % LANES)
}
