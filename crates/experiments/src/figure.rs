//! Pictures of experiments, drawn by `mercer-plots`, and the tables of the series behind them.

pub use mercer_plots::{Figure, FigureError, Grid, HeatMap, Mark, Panels, Row, SavedPicture, Scale, palette};

use crate::table::{Cell, Format, Table, TableError};

/// The rows behind a picture as a table.
///
/// Columns: the panel's title; `line`, `dashed`, `points`, `bar` or `heat map`; the series' name;
/// the word beside the point, its group or its category; `x`, `y` and, where there is a band or an
/// error bar, its `low` and `high`; the `value` of a heat map.
///
/// # Errors
/// None that a caller can bring about: every row has one cell a column.
pub fn table(rows: &[Row<'_>]) -> Result<Table, TableError> {
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
