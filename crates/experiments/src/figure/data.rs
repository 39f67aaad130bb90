//! What a picture shows, as rows for programs and as words for people who do not see it.

use super::{Figure, HeatMap, Panels, Style};
use crate::table::{Cell, Format, Table, TableError};

impl Figure {
    /// Every series behind the picture, whole and unthinned, a row a point.
    ///
    /// Columns: the panel's title; `line`, `dashed`, `points`, `bar` or `heat map`; the series' name; the word beside the point, its
    /// group or its category; `x`, `y` and, where there is a band or an error bar, its `low` and `high`; the `value` of a heat map.
    ///
    /// # Errors
    /// None that a caller can bring about: every row has one cell a column.
    pub fn data(&self) -> Result<Table, TableError> {
        let mut table = columns();
        self.add_data(&mut table)?;
        Ok(table)
    }

    /// The axes, and from where to where each series goes.
    #[must_use]
    pub fn words(&self) -> String {
        let mut parts = Vec::new();
        let axis = |name: &str, label: &str, log: bool| {
            let label = if label.is_empty() { "without a name" } else { label };
            format!("{name} axis: {label}{}", if log { ", logarithmic" } else { "" })
        };
        parts.push(format!(
            "{}; {}.",
            axis("Horizontal", &self.x_label, self.log_x),
            axis("vertical", &self.y_label, self.log_y)
        ));
        parts.extend(self.heat_map.as_ref().map(HeatMap::said));
        for series in &self.series {
            let name = if series.name.is_empty() { "without a name" } else { &series.name };
            let style = match series.style {
                Style::Line => "line",
                Style::Dashed => "dashed line",
                Style::Points => "points",
            };
            let mut finite = series.xs.iter().zip(&series.ys).filter(|(x, y)| x.is_finite() && y.is_finite());
            let first = finite.next();
            parts.push(match (first, finite.next_back().or(first)) {
                (Some((x, y)), Some((u, v))) => {
                    format!("{name} ({style}): from {} at {} to {} at {}.", short(*y), short(*x), short(*v), short(*u))
                }
                _ => format!("{name} ({style}): nothing to show."),
            });
        }
        for mark in self.marks.iter().flat_map(|marks| &marks.marks) {
            parts.push(format!("{}, {}: {} at {}.", mark.series, mark.group, short(mark.y), short(mark.x)));
        }
        if let Some(bars) = &self.bars {
            for group in &bars.groups {
                let heights = bars.categories.iter().zip(&group.heights);
                let said: Vec<String> = heights.map(|(name, height)| format!("{name} {}", short(*height))).collect();
                let name = if group.name.is_empty() { "Bars" } else { &group.name };
                parts.push(format!("{name}: {}.", said.join(", ")));
            }
        }
        parts.join(" ")
    }

    /// Whether there is a heat map, whose colours are values.
    #[must_use]
    pub fn has_heat_map(&self) -> bool {
        self.heat_map.is_some()
    }

    fn add_data(&self, table: &mut Table) -> Result<(), TableError> {
        let mut row = |kind: &str, series: &str, label: Option<&str>, numbers: [Option<f64>; 5]| {
            let [x, y, low, high, value] = numbers.map(Cell::from);
            table.push(vec![
                self.title.as_str().into(),
                kind.into(),
                series.into(),
                label.into(),
                x,
                y,
                low,
                high,
                value,
            ])
        };
        for series in &self.series {
            let kind = match series.style {
                Style::Line => "line",
                Style::Dashed => "dashed",
                Style::Points => "points",
            };
            for (i, (x, y)) in series.xs.iter().zip(&series.ys).enumerate() {
                let interval = series.interval.as_ref();
                let (low, high) = interval.map(|(low, high)| (low.get(i), high.get(i))).unwrap_or_default();
                let label = series.labels.get(i).map(String::as_str);
                row(kind, &series.name, label, [Some(*x), Some(*y), low.copied(), high.copied(), None])?;
            }
        }
        for mark in self.marks.iter().flat_map(|marks| &marks.marks) {
            let (low, high) = (mark.y_error.map(|e| mark.y - e), mark.y_error.map(|e| mark.y + e));
            row("points", &mark.series, Some(&mark.group), [Some(mark.x), Some(mark.y), low, high, None])?;
        }
        if let Some(bars) = &self.bars {
            for group in &bars.groups {
                for (i, (category, height)) in bars.categories.iter().zip(&group.heights).enumerate() {
                    let error = group.errors.as_ref().and_then(|errors| errors.get(i));
                    let (low, high) = (error.map(|e| height - e), error.map(|e| height + e));
                    row("bar", &group.name, Some(category), [Some((i + 1) as f64), Some(*height), low, high, None])?;
                }
            }
        }
        if let Some(map) = &self.heat_map {
            for ([x, y], value) in map.grid.centres().into_iter().zip(&map.values) {
                row("heat map", "", None, [Some(x), Some(y), None, None, Some(*value)])?;
            }
        }
        Ok(())
    }
}

impl Panels {
    /// As [`Figure::data`], panel after panel.
    ///
    /// # Errors
    /// As [`Figure::data`].
    pub fn data(&self) -> Result<Table, TableError> {
        let mut table = columns();
        for figure in &self.figures {
            figure.add_data(&mut table)?;
        }
        Ok(table)
    }

    /// As [`Figure::words`], panel after panel, each with its title.
    #[must_use]
    pub fn words(&self) -> String {
        let panel = |(i, figure): (usize, &Figure)| {
            let title = if figure.title.is_empty() { String::new() } else { format!(", {}", figure.title) };
            format!("Panel {} of {}{title}. {}", i + 1, self.figures.len(), figure.words())
        };
        self.figures.iter().enumerate().map(panel).collect::<Vec<_>>().join(" ")
    }

    /// Whether one of the panels has a heat map.
    #[must_use]
    pub fn has_heat_map(&self) -> bool {
        self.figures.iter().any(Figure::has_heat_map)
    }
}

impl HeatMap {
    fn said(&self) -> String {
        let finite = self.values.iter().copied().filter(|v| v.is_finite());
        let (low, high) = finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
        let (columns, rows) = (self.grid.columns, self.grid.rows);
        format!("Colours: {columns} by {rows} cells, values from {} to {}.", short(low), short(high))
    }
}

fn columns() -> Table {
    let table = Table::new().words("panel").words("kind").words("series").words("label");
    ["x", "y", "low", "high", "value"].into_iter().fold(table, |table, name| table.numbers(name, Format::Shortest))
}

/// Three digits that count.
fn short(v: f64) -> String {
    Format::Significant(3).number(v)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::{Grid, Mark, Scale};

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
        insta::assert_snapshot!(panels.data().unwrap().csv(), @r"
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
        assert!(panels.has_heat_map());
    }

    #[test]
    fn words_say_axes_and_ends() {
        let figure = Figure::new("A").x_label("T").y_label("regret").log_x().line("loss", &[1.0, 9.0], &[0.5, 0.1234]);
        assert_eq!(
            figure.words(),
            "Horizontal axis: T, logarithmic; vertical axis: regret. loss (line): from 0.500 at 1.00 to 0.123 at 9.00."
        );
        let panels = Panels::new("", 1).panel(figure);
        assert!(panels.words().starts_with("Panel 1 of 1, A. Horizontal axis"), "{}", panels.words());
    }
}
