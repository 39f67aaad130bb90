//! The papers and their experiments, for a program that runs them by name.

use crate::experiment::{Experiment, Paper};
pub use crate::operator::peers::write_samples;
pub use crate::quality::streams::folder as quality_folder;
use crate::{filters, operator, prediction, projected, quality, sublinear};

/// All papers, in the order in which they run.
pub const PAPERS: &[Paper] =
    &[sublinear::PAPER, projected::PAPER, prediction::PAPER, operator::PAPER, filters::PAPER, quality::PAPER];

/// The experiments of all papers.
pub fn experiments() -> impl Iterator<Item = &'static Experiment> {
    PAPERS.iter().flat_map(|paper| paper.experiments)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_distinct() {
        let papers = PAPERS.iter().map(|paper| paper.name);
        let mut names: Vec<&str> = papers.chain(experiments().map(|experiment| experiment.name)).collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
    }
}
