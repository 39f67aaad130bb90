//! Curves of several learners over each other.

use super::Figure;

/// A series of points with a name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curve {
    /// Name in the legend.
    pub name: String,
    /// Rounds, or whatever else runs from left to right.
    pub xs: Vec<f64>,
    /// A score at each of them.
    pub ys: Vec<f64>,
}

/// Score that runs upwards in a picture of curves, in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Score<'a> {
    /// The smaller the better, and positive: shown along a logarithmic axis when heights differ by
    /// a factor of more than 30.
    Error(&'a str),
    /// The larger the better, such as an accuracy.
    Gain(&'a str),
}

/// Ratio of the largest to the smallest height from which on heights are shown along a logarithmic
/// axis.
const WIDE: f64 = 30.0;
/// A height that so many times exceeds the one that 97 of 100 keep below is cut off.
const RUNAWAY: f64 = 3.0;

/// One figure with the curves of learners as solid lines and those of baselines as dashed ones.
///
/// `score` names the vertical axis. On a linear axis the few errors far above all others (a
/// stream's first rows) are cut off.
///
/// ```
/// use mercer_plots::{Curve, Score, learning_curves};
///
/// let curve = |name: &str, ys: [f64; 3]| Curve { name: name.into(), xs: vec![100.0, 200.0, 300.0], ys: ys.into() };
/// let learners = [curve("krls", [0.5, 0.3, 0.25]), curve("nons-ald", [0.6, 0.4, 0.2])];
/// let figure = learning_curves("bank", Score::Error("RMSE of the last 100 rows"), &learners, &[curve("last value", [1.0, 1.1, 0.9])]);
/// assert!(figure.svg()?.contains("nons-ald"));
/// # Ok::<(), mercer_plots::FigureError>(())
/// ```
#[must_use]
pub fn learning_curves(title: &str, score: Score<'_>, learners: &[Curve], baselines: &[Curve]) -> Figure {
    let (Score::Error(label) | Score::Gain(label)) = score;
    let mut figure = Figure::new(title).x_label("row t").y_label(label);
    for curve in learners {
        figure = figure.line(&curve.name, &curve.xs, &curve.ys);
    }
    for curve in baselines {
        figure = figure.dashed(&curve.name, &curve.xs, &curve.ys);
    }
    if matches!(score, Score::Gain(_)) {
        return figure;
    }
    let curves = learners.iter().chain(baselines);
    let mut heights: Vec<f64> = curves.flat_map(|curve| &curve.ys).copied().filter(|y| y.is_finite()).collect();
    heights.sort_by(f64::total_cmp);
    let (Some(&low), Some(&high)) = (heights.first(), heights.last()) else { return figure };
    if low > 0.0 && high > WIDE * low {
        return figure.log_y();
    }
    let most = heights[heights.len() * 97 / 100];
    // Room above what is shown, as an axis has by itself.
    if low >= 0.0 && most > 0.0 && high > RUNAWAY * most { figure.y_range(0.0, 1.3 * most) } else { figure }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(ys: &[f64]) -> Curve {
        Curve { name: "krls".into(), xs: (0..ys.len()).map(|t| t as f64).collect(), ys: ys.into() }
    }

    #[test]
    fn the_axis_suits_the_heights() {
        let figure = |ys: &[f64]| learning_curves("", Score::Error(""), &[curve(ys)], &[]);
        assert!(figure(&[1.0, 100.0]).log_y);
        let plain = figure(&[1.0, 3.0]);
        assert!(!plain.log_y && plain.y_range.is_none());
        // A first height that is far above the others, none of them positive enough for a
        // logarithmic axis.
        let mut ys = vec![0.0; 200];
        ys.iter_mut().enumerate().for_each(|(t, y)| *y = (t % 7) as f64);
        ys[0] = 1e3;
        let cut = figure(&ys);
        assert!(!cut.log_y && cut.y_range.is_some_and(|(low, high)| low == 0.0 && high < 10.0));
        assert!(figure(&[]).svg().is_err());
        assert!(!learning_curves("", Score::Gain(""), &[curve(&[0.01, 1.0])], &[]).log_y);
    }
}
