//! Sample figures of every kind. With `MERCER_FIGURES=DIR` in the environment they are written
//! there to be looked at.

use super::*;

const TABLE: [&str; 6] = ["FOGD", "NOGD", "PROS-N-KONS", "CON-KONS", "AOGD-ALD", "NONS-ALD"];
const SETS: [&str; 6] = ["parkinson", "elevators", "cpusmall", "bank", "ailerons", "calhousing"];

fn rounds(n: u32) -> Vec<f64> {
    (1..=n).map(f64::from).collect()
}

fn map(xs: &[f64], f: impl Fn(f64) -> f64) -> Vec<f64> {
    xs.iter().map(|&x| f(x)).collect()
}

/// A wobble without a random number.
fn wobble(x: f64) -> f64 {
    (12.9898 * x).sin() * (78.233 * x).cos()
}

fn regret() -> Figure {
    let t = rounds(20_000);
    let mut figure = Figure::new("Regret on a stream with eigenvalues decaying as i⁻²")
        .x_label("round t")
        .y_label("cumulative regret")
        .log_x()
        .log_y();
    for (i, name) in ["AOGD-ALD", "NONS-ALD"].into_iter().enumerate() {
        let power = 0.55 - 0.3 * i as f64;
        let mean = map(&t, |t| (1.0 + 0.04 * wobble(t)) * 0.4 * t.powf(power));
        let lower = map(&t, |t| 0.4 * t.powf(power) * (1.0 - 0.5 * t.powf(-0.1)));
        let upper = map(&t, |t| 0.4 * t.powf(power) * (1.0 + 0.5 * t.powf(-0.1)));
        figure = figure.line_with_band(name, &t, &mean, &lower, &upper).dashed(
            format!("{name}, bound"),
            &t,
            &map(&t, |t| 2.0 * t.powf(power + 0.05)),
        );
    }
    figure.dashed("√t", &t, &map(&t, f64::sqrt))
}

fn losses(title: &str) -> Figure {
    let t = rounds(16_599);
    let mut figure = Figure::new(title).x_label("round t").y_label("cumulative squared loss");
    for (i, name) in TABLE.into_iter().enumerate() {
        let (slope, start) = (0.0056 - 0.0005 * i as f64, 3.0 + 2.0 * i as f64);
        let mean = map(&t, |t| slope * t + start * (1.0 - (-t / 800.0).exp()));
        let spread = |sign: f64| map(&t, |t| (slope * t + start * (1.0 - (-t / 800.0).exp())) * (1.0 + sign * 0.02));
        figure = figure.line_with_band(name, &t, &mean, &spread(-1.0), &spread(1.0));
    }
    figure
}

fn trade_off() -> Figure {
    let mut marks = Vec::new();
    for (i, series) in TABLE.into_iter().enumerate() {
        for (j, group) in SETS.into_iter().enumerate() {
            let (a, b) = (i as f64, j as f64);
            let y = 0.003 * 2f64.powf(b + 0.6 * wobble(a + b)) * (1.0 + 0.1 * (5.0 - a));
            marks.push(Mark {
                series: series.into(),
                group: group.into(),
                x: 1e-6 * 10f64.powf(0.3 * a + 0.2 * b + 0.3 * wobble(3.0 * a + b)),
                y,
                y_error: Some(0.08 * y),
            });
        }
    }
    Figure::new("Error against time")
        .x_label("time per round (s)")
        .y_label("mean squared error")
        .log_x()
        .log_y()
        .marks("learner", "data set", marks)
}

fn labelled() -> Figure {
    let mut figure = Figure::new("Time and error on bank, a point a setting")
        .x_label("time per round (µs)")
        .y_label("mean squared error");
    for (i, name) in ["FOGD", "NONS-ALD", "AOGD-ALD"].into_iter().enumerate() {
        let a = i as f64;
        let xs = [10.0 + 20.0 * a, 14.0 + 21.0 * a, 15.0 + 20.0 * a, 30.0 + 25.0 * a];
        let ys = [0.019 - 0.002 * a, 0.0185 - 0.002 * a, 0.0184 - 0.002 * a, 0.016 - 0.002 * a];
        figure = figure.labelled_points(name, &xs, &ys, &["D = 50", "D = 100", "D = 200", "D = 400"]);
    }
    figure
}

fn bars() -> Figure {
    let printed = [0.0559, 0.00560, 0.01269, 0.01910, 0.00363, 0.02690];
    Figure::new("FOGD: mean squared error, measured and printed")
        .y_label("mean squared error")
        .categories(&SETS)
        .bars_with_errors("measured", &printed.map(|v| v * 1.03), &printed.map(|v| 0.05 * v))
        .bars("printed", &printed)
}

fn bars_of_learners() -> Figure {
    Figure::new("")
        .y_label("time per round (µs)")
        .categories(&["FOGD", "NOGD", "PROS-N-KONS", "CON-KONS", "AOGD-ALD", "NONS-ALD", "Sketched-KONS", "KRLS"])
        .bars("", &[20.0, 90.0, 45.0, 47.0, 9.0, 16.0, f64::NAN, 30.0])
}

fn variants() -> Figure {
    let t = rounds(500);
    let mut figure = Figure::new(
        "Spectral error of the ALD dictionary: a long title that has to be broken into two lines, at 100 $ & <all>",
    )
    .x_label("round t")
    .y_label("error")
    .log_y();
    for (i, mu) in [1, 5, 15].into_iter().enumerate() {
        let name = format!("NONS-ALD, μ = {mu}");
        figure = figure.line(name, &t, &map(&t, |t| 1e-15 * (1.0 + t).powf(1.0 + i as f64)));
    }
    figure.points_with_error_bars("batch & \"best\" <f>", &[100.0, 300.0], &[1e-12, 1e-11], &[5e-13, 2e-11])
}

fn runaway() -> Figure {
    let t = rounds(300);
    Figure::new("A step size that diverges")
        .x_label("round t")
        .y_label("loss")
        .y_range(0.0, 2.0)
        .line("FOGD", &t, &map(&t, |t| 0.1 * (t / 20.0).exp()))
        .line("NOGD", &t, &map(&t, |t| 1.0 + 1.5 * (t / 20.0).sin()))
        .line("KRLS", &t, &map(&t, |t| 1.0 / t.sqrt()))
}

/// The values of a function on a grid.
fn map_of(scale: Scale, f: impl Fn(f64, f64) -> f64) -> HeatMap {
    let grid = Grid::square(2.0, 61);
    HeatMap { grid, values: grid.centres().into_iter().map(|[x, y]| f(x, y)).collect(), scale }
}

fn wells() -> Figure {
    let t = rounds(3000);
    let (xs, ys) = (map(&t, |t| (t / 900.0).sin() * 1.8), map(&t, |t| 2.5 * (t / 700.0).cos()));
    Figure::new("Potential and a path, which leaves the picture below and above")
        .x_label("x₁")
        .y_label("x₂")
        .heat_map(map_of(Scale::Sequential, |x, y| ((x * x - 1.0).powi(2) + (y * y - 1.0).powi(2)).min(4.0)))
        .line("path", &xs, &ys)
}

fn eigenfunction() -> Figure {
    Figure::new("An eigenfunction, and a hole in it")
        .x_label("z")
        .y_label("ż")
        .heat_map(map_of(Scale::Diverging, |x, y| if x.hypot(y) < 0.2 { f64::NAN } else { 0.004 * (x - y).tanh() }))
        .points("at rest", &[-1.0, 1.0], &[0.0, 0.0])
}

fn sets() -> Figure {
    let t = rounds(900);
    let cloud = |sign: f64| (map(&t, |t| sign + 0.5 * wobble(t)), map(&t, |t| 0.9 * wobble(2.0 * t)));
    let ((xs, ys), (us, vs)) = (cloud(1.0), cloud(-1.0));
    Figure::new("Sets")
        .heat_map(map_of(Scale::Sets, |x, y| f64::from(u8::from(x > 0.0) + 2 * u8::from(y > 0.0))))
        .points("right", &xs, &ys)
        .points("left", &us, &vs)
}

fn samples() -> Vec<(&'static str, Figure)> {
    vec![
        ("regret", regret()),
        ("losses", losses("Cumulative loss on elevators, ten permutations")),
        ("trade-off", trade_off()),
        ("labelled", labelled()),
        ("bars", bars()),
        ("bars-of-learners", bars_of_learners()),
        ("variants", variants()),
        ("runaway", runaway()),
        ("wells", wells()),
        ("eigenfunction", eigenfunction()),
        ("sets", sets()),
    ]
}

fn grid() -> Panels {
    SETS[..4]
        .iter()
        .fold(Panels::new("Cumulative loss, mean and standard deviation of ten permutations", 2), |panels, set| {
            panels.panel(losses(set))
        })
}

fn mixed() -> Panels {
    let figures = [regret(), trade_off(), bars_of_learners(), labelled(), variants(), wells(), eigenfunction(), sets()];
    figures.into_iter().fold(Panels::new("", 3), Panels::panel)
}

#[test]
fn samples_are_saved_and_the_same_every_time() {
    let folder = tempfile::tempdir().unwrap();
    let dir = std::env::var_os("MERCER_FIGURES").map_or(folder.path().to_owned(), PathBuf::from);
    for (stem, figure) in samples() {
        let saved = figure.save(&dir, stem).unwrap();
        let svg = std::fs::read_to_string(saved.svg).unwrap();
        // Not assert_eq: a failure would print two whole pictures.
        assert!(svg == figure.svg().unwrap(), "{stem} differs");
        assert!(svg.contains("</svg>"));
        let png = std::fs::read(saved.png).unwrap();
        assert!(png.starts_with(b"\x89PNG"), "{stem}");
        assert!(png == figure.png().unwrap(), "{stem} differs");
    }
    for (stem, panels) in [("grid", grid()), ("mixed", mixed())] {
        let saved = panels.save(&dir, stem).unwrap();
        let svg = std::fs::read_to_string(saved.svg).unwrap();
        assert!(svg == panels.svg().unwrap(), "{stem} differs");
    }
}

fn message(result: Result<String, FigureError>) -> String {
    result.unwrap_err().to_string()
}

#[test]
fn what_cannot_be_drawn_is_refused_in_words() {
    let nothing = Figure::new("f").log_y().line("a", &[1.0, f64::NAN], &[0.0, 1.0]);
    assert!(message(nothing.svg()).contains("nothing to draw"));
    assert!(message(Figure::new("f").svg()).contains("nothing to draw"));
    assert!(message(Panels::new("p", 2).svg()).contains("nothing to draw"));

    let lengths = [
        Figure::new("f").line("a", &[1.0, 2.0], &[1.0]),
        Figure::new("f").line_with_band("a", &[1.0], &[1.0], &[], &[1.0]),
        Figure::new("f").points_with_error_bars("a", &[1.0], &[1.0], &[1.0, 2.0]),
        Figure::new("f").labelled_points("a", &[1.0], &[1.0], &["x", "y"]),
        Figure::new("f").categories(&["c"]).bars("a", &[1.0, 2.0]),
        Figure::new("f").categories(&["c"]).bars_with_errors("a", &[1.0], &[]),
    ];
    for figure in lengths {
        assert!(matches!(figure.svg(), Err(FigureError::Lengths { .. })));
    }
    let map = map_of(Scale::Sequential, |x, _| x);
    let short = HeatMap { values: vec![1.0], ..map.clone() };
    assert!(matches!(Figure::new("f").heat_map(short).svg(), Err(FigureError::Lengths { .. })));
    assert!(matches!(Figure::new("f").heat_map(map).log_x().svg(), Err(FigureError::HeatMap { .. })));
    let none = HeatMap { grid: Grid::square(1.0, 0), values: Vec::new(), scale: Scale::Sets };
    assert!(matches!(Figure::new("f").heat_map(none).svg(), Err(FigureError::HeatMap { .. })));
    let bars = Figure::new("f").log_y().categories(&["c"]).bars("a", &[1.0]);
    assert!(matches!(bars.svg(), Err(FigureError::BarsOnLogAxis { .. })));
    let line = || Figure::new("f").line("a", &[1.0, 2.0], &[1.0, 2.0]);
    assert!(matches!(line().y_range(2.0, 1.0).svg(), Err(FigureError::Range { .. })));
    assert!(matches!(line().y_range(f64::NAN, 1.0).svg(), Err(FigureError::Range { .. })));
    assert!(matches!(line().log_y().y_range(0.0, 1.0).svg(), Err(FigureError::Range { .. })));
}

#[test]
fn a_file_in_the_way_is_an_error_that_names_it() {
    let folder = tempfile::tempdir().unwrap();
    let blocked = folder.path().join("blocked");
    std::fs::write(&blocked, "file").unwrap();
    let error = runaway().save(&blocked, "figure").unwrap_err();
    assert!(error.to_string().contains("blocked"), "{error}");
}

#[test]
fn strange_values_are_drawn_or_dropped_but_never_panic() {
    let strange = [0.0, -1.0, 1.0, f64::NAN, f64::INFINITY, 1e308, -1e308, 1e300, -1e300, 1e-308, 1e-120, 1e120];
    for &x in &strange {
        for &y in &strange {
            let (xs, ys) = ([1.0, x, 2.0], [1.0, y, y]);
            let figures = [
                Figure::new("").line_with_band("a", &xs, &ys, &[x, 0.0, y], &[y, y, x]),
                Figure::new("").dashed("a", &xs, &ys).y_range(0.5, 1.5),
                Figure::new("").labelled_points("a", &xs, &ys, &["p", "", "q"]),
                Figure::new("").points_with_error_bars("a", &xs, &ys, &[x, y, 1.0]),
            ];
            for figure in figures {
                for figure in [figure.clone(), figure.clone().log_x(), figure.log_x().log_y()] {
                    let svg = figure.svg();
                    // 1 is drawable in every figure, so that none is empty.
                    let svg = svg.unwrap();
                    assert!(!svg.contains("NaN") && !svg.contains("inf"), "{x} {y}");
                }
            }
            let bars = Figure::new("").categories(&["a", "b", "c"]).bars_with_errors("", &ys, &xs);
            let svg = bars.svg().unwrap();
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "bars {x} {y}");
        }
    }
}

#[test]
fn words_are_shown_as_they_are() {
    let svg =
        Figure::new("a $ b & <c>").x_label("$x$").y_label("{y}").line("\"q\"", &[1.0, 2.0], &[1.0, 2.0]).svg().unwrap();
    for shown in ["a $ b &amp; &lt;c&gt;", ">$x$<", ">{y}<", "&quot;q&quot;"] {
        assert!(svg.contains(shown), "{shown} in {svg}");
    }
}

#[test]
fn long_lines_are_thinned_in_the_picture() {
    let long = Figure::new("").line("a", &rounds(100_000), &map(&rounds(100_000), wobble));
    let svg = long.svg().unwrap();
    let path = svg.split("<path d=\"").nth(1).unwrap().split('"').next().unwrap();
    let points = path.matches(['M', 'L']).count();
    assert!((300..=400).contains(&points), "{points}");
}

#[test]
fn a_thinned_figure_is_the_same_picture() {
    let xs: Vec<f64> = (1..=5000).map(f64::from).collect();
    let ys: Vec<f64> = xs.iter().map(|x| (0.05 * x).sin() / x.sqrt()).collect();
    let figure = Figure::new("A").log_x().line("noisy", &xs, &ys).line("short", &xs[..3], &ys[..3]);
    let thinned = figure.thinned();
    assert_eq!(thinned.svg().unwrap(), figure.svg().unwrap());
    assert!(thinned.rows().len() < 410 && figure.rows().len() == 5003);
    // A line that turns, and one with a band, stay whole.
    let back: Vec<f64> = xs.iter().rev().copied().collect();
    let whole = Figure::new("").line("turns", &back, &ys).line_with_band("band", &xs, &ys, &ys, &ys);
    assert_eq!(whole.thinned().rows().len(), 10_000);
}

/// Names come from data: a control character among them would make a file that no viewer opens.
#[test]
fn a_picture_holds_no_control_characters() {
    let svg = losses("up\u{1b}[31m").svg().unwrap();
    assert!(svg.contains("up\\u{1b}[31m") && !svg.chars().any(|c| c.is_control() && !"\t\n\r".contains(c)));
}
