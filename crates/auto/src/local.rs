//! Gaussian processes on the nearest examples: predictions from a window of the stream that no
//! dictionary has to hold.
//!
//! At an input only the `k` nearest examples enter the posterior (Vecchia 1988; Gramacy and Apley
//! 2015; Datta et al. 2016). That is close to the process on all of them where its length is long
//! against the distance of neighbours, and costs `Nd + k³` at most instead of `N²` a round. Rough
//! functions, for which a dictionary would need thousands of points, are learnt so.

mod index;
mod neighbours;
pub(crate) mod relevance;
mod systems;

pub(crate) use neighbours::{NeighbourMemory, Neighbours, TARGETS};
pub(crate) use systems::Process;

/// Rows of `width` numbers, each with one more at its end: that of column `like`, or 0.
pub(crate) fn with_column(rows: &[f64], width: usize, like: Option<usize>) -> Vec<f64> {
    let mut wider = Vec::with_capacity(rows.len() / width * (width + 1));
    for row in rows.chunks_exact(width) {
        wider.extend_from_slice(row);
        wider.push(like.and_then(|like| row.get(like)).copied().unwrap_or(0.0));
    }
    wider
}
