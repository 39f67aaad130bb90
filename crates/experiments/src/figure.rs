//! Pictures of experiments, drawn by `mercer-plots`, and the tables of the series behind them.

use anyhow::Result;
pub use mercer_plots::{Figure, Grid, HeatMap, Mark, Panels, Row, Scale, palette};

use crate::stats::{all_of, mean};
use crate::table::{Cell, Format, Table};

/// A mean curve and a band around it.
pub(crate) struct Band {
    pub(crate) mean: Vec<f64>,
    pub(crate) low: Vec<f64>,
    pub(crate) high: Vec<f64>,
}

impl Band {
    /// Band of the samples of each point: their mean, and a spread to both sides. A single sample
    /// has no spread.
    pub(crate) fn from_samples(samples: impl IntoIterator<Item = Vec<f64>>, spread: fn(&[f64]) -> f64) -> Self {
        let point = |all: Vec<f64>| (mean(&all), Some(spread(&all)).filter(|spread| !spread.is_nan()).unwrap_or(0.0));
        let points: Vec<(f64, f64)> = samples.into_iter().map(point).collect();
        let end = |sign: f64| all_of(&points, |(mean, spread)| mean + sign * spread);
        Self { mean: all_of(&points, |(mean, _)| *mean), low: end(-1.0), high: end(1.0) }
    }

    /// Band of the samples of each point: their mean, the smallest and the largest.
    pub(crate) fn range(samples: &[Vec<f64>]) -> Self {
        let end =
            |fold: fn(f64, f64) -> f64| all_of(samples, |all| all.iter().copied().reduce(fold).unwrap_or(f64::NAN));
        Self { mean: all_of(samples, |all| mean(all)), low: end(f64::min), high: end(f64::max) }
    }

    /// Every point divided by a number of its own.
    pub(crate) fn over(&self, divisors: &[f64]) -> Self {
        let divide = |values: &[f64]| all_of(values.iter().zip(divisors), |(value, by)| value / by);
        Self { mean: divide(&self.mean), low: divide(&self.low), high: divide(&self.high) }
    }

    /// Draws it.
    pub(crate) fn draw(&self, figure: Figure, name: impl Into<String>, xs: &[f64]) -> Figure {
        figure.line_with_band(name, xs, &self.mean, &self.low, &self.high)
    }
}

/// The rows behind a picture as a table.
///
/// Columns: the panel's title; `line`, `dashed`, `points`, `bar` or `heat map`; the series' name;
/// the word beside the point, its group or its category; `x`, `y` and, where there is a band or an
/// error bar, its `low` and `high`; the `value` of a heat map.
pub fn table(rows: &[Row<'_>]) -> Result<Table> {
    let table = Table::new().words("panel").words("kind").words("series").words("label");
    let numbers = ["x", "y", "low", "high", "value"].into_iter();
    let mut table = numbers.fold(table, |table, name| table.numbers(name, Format::Shortest));
    for row in rows {
        let words = [Some(row.panel), Some(row.kind), Some(row.series), row.label];
        let ends = row.interval.unzip();
        let numbers = [Some(row.x), Some(row.y), ends.0, ends.1, row.value];
        table.push(words.into_iter().map(Cell::from).chain(numbers.into_iter().map(Cell::from)).collect())?;
    }
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_series_is_rows() {
        let mark = Mark { series: "FOGD".into(), group: "bank".into(), x: 1.0, y: 2.0, y_error: Some(0.5) };
        let figure = Figure::new("A")
            .line("loss", &[1.0, 2.0], &[0.5, f64::NAN])
            .dashed("bound", &[1.0], &[3.0])
            .points_with_error_bars("e", &[1.0], &[4.0], &[1.0])
            .labelled_points("w", &[1.0], &[5.0], &["here"])
            .marks("learner", "set", vec![mark]);
        let bars = Figure::new("B").categories(&["x", "y"]).bars_with_errors("n", &[1.0, 2.0], &[0.1, 0.5]);
        let map = HeatMap { grid: Grid::square(1.0, 1), values: vec![7.0], scale: Scale::Diverging };
        let panels = Panels::new("", 2).panel(figure).panel(bars).panel(Figure::new("C").heat_map(map));
        insta::assert_snapshot!(table(&panels.rows()).unwrap().csv(), @r"
        panel,kind,series,label,x,y,low,high,value
        A,line,loss,,1,0.5,,,
        A,line,loss,,2,NaN,,,
        A,dashed,bound,,1,3,,,
        A,points,e,,1,4,3,5,
        A,points,w,here,1,5,,,
        A,points,FOGD,bank,1,2,1.5,2.5,
        B,bar,n,x,1,1,0.9,1.1,
        B,bar,n,y,2,2,1.5,2.5,
        C,heat map,,,0,0,,,7
        ");
    }
}
