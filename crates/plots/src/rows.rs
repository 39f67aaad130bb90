//! Contents of a picture, as rows for programs and as words for people who do not see it.

use super::{Figure, HeatMap, Panels, SeriesStyle};

/// A point, a bar or a cell of a picture, as it was given: whole series, nothing thinned.
#[derive(Clone, Debug, PartialEq)]
pub struct Row<'a> {
    /// The title of the panel.
    pub panel: &'a str,
    /// `line`, `dashed`, `points`, `bar` or `heat map`.
    pub kind: &'static str,
    /// The name of the series; empty for a heat map.
    pub series: &'a str,
    /// The word beside the point, its group, or the bar's category.
    pub label: Option<&'a str>,
    /// Horizontal place.
    pub x: f64,
    /// Vertical place; a cell of a heat map has its value beside.
    pub y: f64,
    /// The ends of the band or the error bar.
    pub interval: Option<(f64, f64)>,
    /// The value of a cell of a heat map.
    pub value: Option<f64>,
}

impl Figure {
    /// Every series behind the picture, whole and unthinned, a row a point.
    #[must_use]
    pub fn rows(&self) -> Vec<Row<'_>> {
        let mut rows = Vec::new();
        self.add_rows(&mut rows);
        rows
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
                SeriesStyle::Line => "line",
                SeriesStyle::Dashed => "dashed line",
                SeriesStyle::Points | SeriesStyle::Dots => "points",
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

    fn add_rows<'a>(&'a self, rows: &mut Vec<Row<'a>>) {
        let row = |kind, series, x, y| Row {
            panel: self.title.as_str(),
            kind,
            series,
            label: None,
            x,
            y,
            interval: None,
            value: None,
        };
        for series in &self.series {
            let kind = match series.style {
                SeriesStyle::Line => "line",
                SeriesStyle::Dashed => "dashed",
                SeriesStyle::Points | SeriesStyle::Dots => "points",
            };
            for (i, (x, y)) in series.xs.iter().zip(&series.ys).enumerate() {
                let ends = |(low, high): &(Vec<f64>, Vec<f64>)| Some((*low.get(i)?, *high.get(i)?));
                let interval = series.interval.as_ref().and_then(ends);
                let label = series.labels.get(i).map(String::as_str);
                rows.push(Row { label, interval, ..row(kind, &series.name, *x, *y) });
            }
        }
        for mark in self.marks.iter().flat_map(|marks| &marks.marks) {
            let interval = mark.y_error.map(|error| (mark.y - error, mark.y + error));
            let label = Some(mark.group.as_str());
            rows.push(Row { label, interval, ..row("points", &mark.series, mark.x, mark.y) });
        }
        if let Some(bars) = &self.bars {
            for group in &bars.groups {
                for (i, (category, height)) in bars.categories.iter().zip(&group.heights).enumerate() {
                    let error = group.errors.as_ref().and_then(|errors| errors.get(i));
                    let interval = error.map(|error| (height - error, height + error));
                    let label = Some(category.as_str());
                    rows.push(Row { label, interval, ..row("bar", &group.name, (i + 1) as f64, *height) });
                }
            }
        }
        if let Some(map) = &self.heat_map {
            for ([x, y], value) in map.grid.centres().into_iter().zip(&map.values) {
                rows.push(Row { value: Some(*value), ..row("heat map", "", x, y) });
            }
        }
    }
}

impl Panels {
    /// As [`Figure::rows`], panel after panel.
    #[must_use]
    pub fn rows(&self) -> Vec<Row<'_>> {
        let mut rows = Vec::new();
        for figure in &self.figures {
            figure.add_rows(&mut rows);
        }
        rows
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
}

impl HeatMap {
    fn said(&self) -> String {
        let finite = self.values.iter().copied().filter(|v| v.is_finite());
        let (low, high) = finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
        let (columns, rows) = (self.grid.columns, self.grid.rows);
        format!("Colours: {columns} by {rows} cells, values from {} to {}.", short(low), short(high))
    }
}

/// Three digits that count.
fn short(v: f64) -> String {
    significant(v, 3)
}

/// A number with so many digits that count; very large and very small ones with an exponent.
///
/// ```
/// assert_eq!(mercer_plots::significant(0.012_345, 3), "0.0123");
/// assert_eq!(mercer_plots::significant(9.996, 3), "10.0");
/// assert_eq!(mercer_plots::significant(-1.5e-9, 3), "-1.50e-9");
/// ```
#[must_use]
pub fn significant(v: f64, digits: usize) -> String {
    match decimals_of(v, digits) {
        _ if !v.is_finite() => v.to_string(),
        Some(decimals) => format!("{v:.decimals$}"),
        None => format!("{v:.*e}", digits.max(1) - 1),
    }
}

/// Digits after the point that leave so many significant ones, after rounding (9.996 is 10.00);
/// `None` for a number that is read more easily with an exponent.
#[must_use]
pub fn decimals_of(v: f64, digits: usize) -> Option<usize> {
    if v == 0.0 {
        return Some(digits.max(1) - 1);
    }
    if !(1e-5..1e7).contains(&v.abs()) {
        return None;
    }
    let rounded: f64 = format!("{v:.*e}", digits.max(1) - 1).parse().unwrap_or(v);
    let exponent = rounded.abs().log10().floor() as i64;
    Some((digits.max(1) as i64 - 1 - exponent).max(0) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

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
