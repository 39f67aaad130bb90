//! One pass of a learner over rows: predict, then learn.

use std::time::Instant;

use mercer_core::ExampleError;
use mercer_learners::{Error, Regressor, RegressorExt};
use mercer_readers::Dataset;

use super::signals::Signal;
use crate::prelude::*;

/// Rows that are timed together.
const BLOCK: usize = 256;

/// Results of a pass.
pub(super) struct FilterPass {
    /// Squared errors of predictions made before the row was learnt; infinite from the row on at
    /// which the learner diverged.
    pub(super) squares: Vec<f64>,
    /// Points at the end.
    pub(super) size: usize,
    /// Time of a row, predicted and learnt: the median over blocks of rows, which other work of the
    /// machine disturbs less than a mean.
    pub(super) microseconds: f64,
}

/// Learns the signal row by row.
pub(super) fn pass(learner: &mut dyn Regressor, signal: &Signal) -> Result<FilterPass> {
    let rows = signal.targets.len();
    let (mut squares, mut times) = (Vec::with_capacity(rows), Vec::new());
    'stream: for (xs, ys) in signal.inputs.chunks(BLOCK * signal.dimension).zip(signal.targets.chunks(BLOCK)) {
        let start = Instant::now();
        for (x, y) in xs.chunks(signal.dimension).zip(ys) {
            match learner.predict_then_update(x, *y) {
                Ok(prediction) => squares.push((prediction - y).powi(2)),
                Err(Error::Example(ExampleError::Diverged)) => break 'stream,
                Err(error) => return Err(error.into()),
            }
        }
        times.push(1e6 * start.elapsed().as_secs_f64() / ys.len() as f64);
    }
    squares.resize(rows, f64::INFINITY);
    Ok(FilterPass { squares, size: learner.dictionary_size(), microseconds: median(&times) })
}

/// The last rows of a window, and the mean over each of `windows` windows of the stream and over
/// all passes.
pub(super) fn smoothed(passes: &[&FilterPass], windows: usize) -> (Vec<f64>, Vec<f64>) {
    let rows = passes.first().map_or(0, |pass| pass.squares.len());
    let ends: Vec<usize> = (1..=windows).map(|k| k * rows / windows).collect();
    let window = |k: usize| if k == 0 { 0 } else { ends[k - 1] }..ends[k];
    let over = |k: usize| mean_of(passes, |pass| mean(&pass.squares[window(k)]));
    (ends.iter().map(|end| *end as f64).collect(), (0..windows).map(over).collect())
}

/// The mean over the last tenth of each pass.
pub(super) fn finals(passes: &[&FilterPass]) -> Vec<f64> {
    all_of(passes, |pass| mean(&pass.squares[pass.squares.len() * 9 / 10..]))
}

/// A panel for each curve, all with the same axes up to `top`, and the lowest of all in each.
pub(super) fn small_multiples(
    panels: Panels,
    curves: &[(&str, Vec<f64>)],
    (own, lowest_of_all): (&str, &str),
    xs: &[f64],
    top: f64,
    axes: impl Fn(&str) -> Figure,
) -> Panels {
    let lowest = all_of(0..xs.len(), |k| curves.iter().map(|(_, ys)| ys[k]).fold(f64::INFINITY, f64::min));
    let bottom = lowest.iter().copied().fold(f64::INFINITY, f64::min);
    curves.iter().fold(panels, |panels, (shown, ys)| {
        let figure = axes(shown).line(own, xs, ys).dashed(lowest_of_all, xs, &lowest);
        panels.panel(if bottom < top { figure.y_range(bottom, top) } else { figure })
    })
}

/// The share of rows of a binary data set whose sign was predicted wrong before it was learnt; 0
/// counts as wrong, as for the classifiers themselves. A learner that diverges has all later rows
/// wrong.
pub(super) fn mistakes(learner: &mut dyn Regressor, table: &Dataset) -> Result<f64> {
    let mut right = 0;
    for (x, y) in table.iter() {
        match learner.predict_then_update(x, y) {
            Ok(score) => right += usize::from(score * y > 0.0),
            Err(Error::Example(ExampleError::Diverged)) => break,
            Err(error) => return Err(error.into()),
        }
    }
    Ok(1.0 - right as f64 / table.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_means_over_rows_and_passes() {
        let pass = |squares: &[f64]| FilterPass { squares: squares.to_vec(), size: 1, microseconds: 1.0 };
        let (a, b) = (pass(&[1.0, 3.0, 5.0, 7.0, 9.0]), pass(&[1.0, 1.0, 1.0, 1.0, f64::INFINITY]));
        let (xs, ys) = smoothed(&[&a, &b], 2);
        assert_eq!((xs, ys), (vec![2.0, 5.0], vec![1.5, f64::INFINITY]));
        assert_eq!(finals(&[&a, &b]), [9.0, f64::INFINITY]);
    }
}
