//! The picture of a Koopman operator: its spectrum, eigenfunctions and almost invariant sets.

use std::f64::consts::TAU;
use std::ops::RangeInclusive;

use mercer_kernels::AnyKernel;
use mercer_kernels::Points;
use mercer_koopman::{Eigenvalue, Error, KMeans, KernelOperator, LagMode, OperatorModel, orthonormal_rows};
use mercer_plots::{Figure, Grid, HeatMap, Panels, Scale, significant};

use super::pairs::PairLayout;
use crate::report::plot::short_name;

/// Eigenvalues that are shown.
const SPECTRUM: usize = 400;
/// Eigenfunctions that have a panel.
const FUNCTIONS: usize = 4;
/// Cells of a map, from side to side; points of a curve.
const CELLS: usize = 61;
const POINTS: usize = 400;
/// Largest distance from 1 of an eigenvalue whose function tells sets apart, and largest number of
/// sets.
const NEAR: f64 = 0.06;
const MOST_SETS: usize = 5;

/// Where the functions are shown.
enum Places {
    /// Along the one number of a state, or along points in their order.
    Line(Vec<f64>, String),
    /// Over the two numbers of a state.
    Plane(Grid),
}

/// Real parts of functions at points, `[function][point]`.
type Functions<'a> = dyn Fn(&Points) -> Result<Vec<Vec<f64>>, Error> + 'a;

/// The facts of an operator that are drawn.
pub(super) struct Subject<'a> {
    /// All eigenvalues, with their spreads if they are known.
    pub(super) values: Vec<Eigenvalue>,
    pub(super) spreads: Option<Vec<f64>>,
    /// The eigenvalues that have functions.
    pub(super) leading: Vec<Eigenvalue>,
    /// A description of the points for the title.
    pub(super) kept: String,
    /// The points kept, or states.
    pub(super) places: Points,
    /// Real parts of the leading functions, `[function][point]`.
    pub(super) functions: Box<Functions<'a>>,
}

impl<'a> Subject<'a> {
    /// That of gradient descent.
    ///
    /// # Errors
    /// Those of the eigenvalues.
    pub(super) fn of_descent(operator: &'a KernelOperator<AnyKernel>) -> Result<Self, Error> {
        let functions = operator.eigen(2 * FUNCTIONS)?;
        Ok(Self {
            values: operator.eigenvalues()?,
            spreads: None,
            leading: functions.values.clone(),
            kept: kept(operator.inputs().len()),
            places: operator.inputs().clone(),
            functions: Box::new(move |points| operator.evaluate_real_parts(&functions, points)),
        })
    }

    /// That of exact sums.
    pub(super) fn of_sums(model: &'a OperatorModel) -> Self {
        let values: Vec<Eigenvalue> = model.modes().iter().map(|mode| mode.value).collect();
        let rows = model.places().concat();
        let size = model.spectrum_choice().size;
        let functions = |points: &Points| {
            let mut parts = vec![Vec::with_capacity(points.len()); model.modes().len()];
            for i in 0..points.len() {
                let values = model.eigenfunctions(&points.point(i))?;
                parts.iter_mut().zip(values).for_each(|(part, [re, _])| part.push(re));
            }
            Ok(parts)
        };
        Self {
            leading: values.clone(),
            values,
            spreads: Some(model.modes().iter().map(|mode| mode.spread).collect()),
            kept: if size == 0 { "linear features".to_owned() } else { kept(size) },
            places: Points::from_rows(model.units().len(), &rows),
            functions: Box::new(functions),
        }
    }
}

/// The picture.
///
/// # Errors
/// Those of the functions and of the partition.
pub(super) fn draw(subject: &Subject<'_>, lags: &[LagMode], layout: &PairLayout, data: &str) -> Result<Panels, Error> {
    let data = short_name(data);
    let Subject { values: all, spreads, leading, kept, places: known, functions } = subject;
    let title = format!("Koopman operator of {data}: {kept}");
    let mut panels = Panels::new(title, 2);
    panels = panels.panel(spectrum(all, spreads.as_deref()));
    if let Some(modes) = lags.iter().map(|mode| mode.mode).max() {
        let shown = 1..=modes.min(FUNCTIONS);
        panels = panels.panel(time_scales(lags, shown.clone())).panel(powers(lags, shown));
    }
    if known.is_empty() {
        return Ok(panels);
    }
    let (places, points) = places(known, layout);
    let values = functions(&points)?;
    // Of a complex pair the first tells it all.
    let first = |i: &usize| leading[*i].im >= 0.0;
    for i in (0..leading.len()).filter(first).take(FUNCTIONS) {
        let title = format!("Eigenfunction of {}", shown(&leading[i]));
        panels = panels.panel(function(&title, &places, scaled(&values[i]), layout));
    }
    if let Some((count, sets)) = sets(leading, &values)? {
        let title = format!("{count} almost invariant sets");
        panels = panels.panel(match &places {
            Places::Plane(grid) => {
                let map = HeatMap { grid: *grid, values: sets, scale: Scale::Sets };
                named(Figure::new(title), layout).heat_map(map)
            }
            Places::Line(xs, label) => {
                let mut figure = Figure::new(title).x_label(label).y_label("set");
                figure = figure.y_range(0.5, count as f64 + 0.5);
                let numbers: Vec<f64> = sets.iter().map(|set| set + 1.0).collect();
                figure.dots("set", xs, &numbers)
            }
        });
    }
    Ok(panels)
}

/// Time scales against the lag, a line a mode, in steps: flat where a state tells all that matters.
fn time_scales(lags: &[LagMode], shown: RangeInclusive<usize>) -> Figure {
    let mut figure = Figure::new("Implied time scales").x_label("lag, in steps").y_label("time scale, in steps");
    for k in shown {
        let scale = |mode: &LagMode| -(mode.lag as f64) / mode.value.modulus().ln();
        let own = lags.iter().filter(|mode| mode.mode == k && mode.value.modulus() < 1.0 - 1e-9);
        let (xs, ys): (Vec<f64>, Vec<f64>) = own.map(|mode| (mode.lag as f64, scale(mode))).unzip();
        if !xs.is_empty() {
            figure = figure.line(format!("mode {k}"), &xs, &ys);
        }
    }
    figure
}

/// The test of Chapman and Kolmogorov: the modulus at each lag beside the powers of that at the
/// shortest one.
fn powers(lags: &[LagMode], shown: RangeInclusive<usize>) -> Figure {
    let title = "Chapman–Kolmogorov: lines are powers of the shortest lag";
    let mut figure = Figure::new(title).x_label("lag, in steps").y_label("modulus ± two spreads");
    for k in shown {
        let own: Vec<&LagMode> = lags.iter().filter(|mode| mode.mode == k).collect();
        let each = |of: fn(&LagMode) -> f64| own.iter().map(|mode| of(mode)).collect::<Vec<f64>>();
        let (xs, name) = (each(|mode| mode.lag as f64), format!("mode {k}"));
        let two = each(|mode| if mode.spread.is_finite() { 2.0 * mode.spread } else { 0.0 });
        figure = figure.line(name.clone(), &xs, &each(|mode| mode.power.modulus()));
        figure = figure.points_with_error_bars(name, &xs, &each(|mode| mode.value.modulus()), &two);
    }
    figure
}

fn kept(points: usize) -> String {
    format!("{points} points kept")
}

fn spectrum(values: &[Eigenvalue], spreads: Option<&[f64]>) -> Figure {
    let shown = &values[..values.len().min(SPECTRUM)];
    let (re, im): (Vec<f64>, Vec<f64>) = shown.iter().map(|value| (value.re, value.im)).unzip();
    let circle = |of: fn(f64) -> f64| (0..=180).map(|i| of(TAU * f64::from(i) / 180.0)).collect::<Vec<f64>>();
    let title = match values.len() {
        count if count > SPECTRUM => format!("The {SPECTRUM} largest of {count} eigenvalues"),
        _ => "Eigenvalues and the unit circle".to_owned(),
    };
    let figure = Figure::new(title).x_label("real part").y_label("imaginary part").equal_units();
    let figure = match spreads {
        None => figure.dots("eigenvalue", &re, &im),
        Some(spreads) => {
            let two: Vec<f64> =
                spreads.iter().map(|spread| if spread.is_finite() { 2.0 * spread } else { 0.0 }).collect();
            figure.points_with_error_bars("eigenvalue ± two spreads", &re, &im, &two)
        }
    };
    figure.dashed("unit circle", &circle(f64::cos), &circle(f64::sin))
}

/// Where functions are evaluated: on a grid over the points that are known.
fn places(known: &Points, layout: &PairLayout) -> (Places, Points) {
    let d = known.dimension();
    let coordinate = |axis: usize| (0..known.len()).map(move |i| known.point(i)[axis]);
    let range = |axis: usize| {
        let (low, high) = coordinate(axis).fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), x| (l.min(x), h.max(x)));
        if low < high { (low, high) } else { (low - 0.5, high + 0.5) }
    };
    match d {
        1 => {
            let (low, high) = range(0);
            let at = |i: usize| low + (high - low) * i as f64 / (POINTS - 1) as f64;
            let xs: Vec<f64> = (0..POINTS).map(at).collect();
            let points = Points::from_rows(1, &xs);
            (Places::Line(xs, layout.names().first().cloned().unwrap_or_default()), points)
        }
        2 => {
            let grid = Grid { x_range: range(0), y_range: range(1), columns: CELLS, rows: CELLS };
            let points = Points::from_rows(2, &grid.centres().concat());
            (Places::Plane(grid), points)
        }
        _ => {
            let step = known.len().div_ceil(POINTS);
            let some: Vec<usize> = (0..known.len()).step_by(step).collect();
            let rows: Vec<f64> = some.iter().flat_map(|i| known.point(*i).to_vec()).collect();
            let xs = some.iter().map(|i| *i as f64).collect();
            (Places::Line(xs, "point, in order".to_owned()), Points::from_rows(d, &rows))
        }
    }
}

/// The names of the two numbers of a state along the axes.
fn named(figure: Figure, layout: &PairLayout) -> Figure {
    let names = layout.names();
    let name = |axis: usize| names.get(axis).cloned().unwrap_or_default();
    figure.x_label(name(0)).y_label(name(1))
}

fn function(title: &str, places: &Places, values: Vec<f64>, layout: &PairLayout) -> Figure {
    match places {
        Places::Line(xs, label) => {
            Figure::new(title).x_label(label).y_label("real part").line("eigenfunction", xs, &values)
        }
        Places::Plane(grid) => {
            let map = HeatMap { grid: *grid, values, scale: Scale::Diverging };
            named(Figure::new(title), layout).heat_map(map)
        }
    }
}

/// With 1 as the largest modulus, which the scale of an eigenfunction leaves open.
fn scaled(values: &[f64]) -> Vec<f64> {
    let largest = values.iter().map(|f| f.abs()).fold(f64::MIN_POSITIVE, f64::max);
    values.iter().map(|f| f / largest).collect()
}

/// As many sets as eigenvalues are near 1, a complex pair taken for one, if these are two or more:
/// the cluster of each place by the values of their functions.
fn sets(eigen: &[Eigenvalue], values: &[Vec<f64>]) -> Result<Option<(usize, Vec<f64>)>, Error> {
    let near = |i: &usize| eigen[*i].im >= 0.0 && (eigen[*i].re - 1.0).hypot(eigen[*i].im) <= NEAR;
    let near: Vec<usize> = (0..eigen.len()).filter(near).take(MOST_SETS).collect();
    if near.len() < 2 {
        return Ok(None);
    }
    let functions: Vec<Vec<f64>> = near.iter().map(|i| values[*i].clone()).collect();
    let means = KMeans { clusters: near.len(), ..KMeans::default() };
    let labels = means.partition(&orthonormal_rows(&functions), near.len())?.labels;
    Ok(Some((near.len(), labels.into_iter().map(|label| label as f64).collect())))
}

fn shown(value: &Eigenvalue) -> String {
    let number = |part: f64| significant(part, 3).replace('-', "−");
    if value.im == 0.0 { number(value.re) } else { format!("{} ± {}i", number(value.re), number(value.im.abs())) }
}
