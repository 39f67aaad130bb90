//! The numbers of the paper's Table 3, as printed.
//!
//! The table heads its last column with "Time (s)" and the text speaks of "average per-round
//! running time", but the numbers are seconds for a whole pass: 16.49 s a round would be ten days
//! for one pass of NOGD over the 51,630 rounds of Year, and hundred for its ten permutations.

use std::sync::LazyLock;

use crate::judgement::PrintedValue;

/// One cell of the table: a learner on a data set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PrintedCell {
    /// Mean squared error, mean ± standard deviation over ten permutations.
    pub mse: PrintedValue,
    /// Number of stored examples, or of random features.
    pub size: f64,
    /// Seconds a pass, mean ± standard deviation (in R, on a laptop).
    pub seconds: PrintedValue,
}

/// One data set of the table. Cells stand in the order of
/// [`Table3Learner::ALL`](super::Table3Learner::ALL).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PrintedSet {
    /// The table's own name for it.
    pub name: &'static str,
    /// Rows, from Table 2.
    pub rows: usize,
    /// Features, from Table 2.
    pub features: usize,
    /// Printed width of the Gaussian kernel.
    pub width: f64,
    /// FOGD, NOGD, PROS-N-KONS, CON-KONS, AOGD-ALD, NONS-ALD.
    pub cells: [PrintedCell; 6],
}

/// `crates/experiments/printed/table3.csv`, a line a cell, the six of a data set together.
const CELLS: &str = include_str!("../../../printed/table3.csv");

/// All data sets of the table. Parkinson stands beside both of the file's targets: the paper does
/// not say which one it predicts.
pub(super) static SETS: LazyLock<Vec<PrintedSet>> = LazyLock::new(|| {
    let lines: Vec<Vec<&str>> = CELLS.lines().skip(1).map(|line| line.split(',').collect()).collect();
    lines.chunks_exact(6).map(set).collect()
});

fn set(lines: &[Vec<&'static str>]) -> PrintedSet {
    let number = |line: &[&str], column: usize| line[column].parse().unwrap_or(f64::NAN);
    let cell = |line: &Vec<&str>| {
        let [mean, std, size, seconds, seconds_std] = [5, 6, 7, 8, 9].map(|column| number(line, column));
        let seconds = PrintedValue { decimals: 2, ..PrintedValue::new(seconds, seconds_std) };
        PrintedCell { mse: PrintedValue::new(mean, std), size, seconds }
    };
    let first = &lines[0];
    let (rows, features) = (number(first, 1) as usize, number(first, 2) as usize);
    PrintedSet {
        name: first[0],
        rows,
        features,
        width: number(first, 3),
        cells: std::array::from_fn(|i| cell(&lines[i])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_says_what_the_paper_says_of_it() {
        let cells = || CELLS.lines().skip(1).flat_map(|line| line.split(',').skip(5));
        assert_eq!((SETS.len(), cells().filter(|cell| cell.parse::<f64>().is_ok()).count()), (8, 8 * 6 * 5));
        for (learner, line) in (0..48).zip(CELLS.lines().skip(1)) {
            assert_eq!(line.split(',').nth(4), Some(super::super::Table3Learner::ALL[learner % 6].name()));
        }
        for set in SETS.iter() {
            // "NONS-ALD enjoys the smallest MSE on all datasets."
            let best = set.cells[5].mse.mean;
            assert!(set.cells[..5].iter().all(|cell| cell.mse.mean > best), "{}", set.name);
            // "AOGD-ALD even runs fastest on all datasets except for the bank dataset."
            let fastest = set.cells.iter().all(|cell| cell.seconds.mean >= set.cells[4].seconds.mean);
            assert_eq!(fastest, set.name != "bank", "{}", set.name);
            // D = 400 and J = 400.
            assert!(set.cells[..2].iter().all(|cell| cell.size == 400.0));
        }
    }
}
