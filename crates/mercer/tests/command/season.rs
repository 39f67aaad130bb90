//! `mercer forecast --method season`: ordinary series with dates, seasons and quantiles.

use std::fmt::Write as _;

use crate::support::Folder;

/// Monthly sales from January 2010: a line, a year and something that is no pattern.
fn sales(month: usize) -> f64 {
    let noise = ((month * 7919 + 13) % 101) as f64 / 50.5 - 1.0;
    200.0 + month as f64 + 40.0 * (std::f64::consts::TAU * month as f64 / 12.0).sin() + 2.0 * noise
}

/// Rows of a file of months, from one to another.
fn months(rows: std::ops::Range<usize>) -> String {
    let mut text = "month,shop,sales\n".to_owned();
    for t in rows {
        let _ = writeln!(text, "{}-{:02}-01,{},{:.3}", 2010 + t / 12, t % 12 + 1, t % 5, sales(t));
    }
    text
}

#[test]
fn a_year_of_months_is_forecast_with_dates_and_quantiles() {
    let folder = Folder::new().with("s.csv", months(0..120));
    let report =
        folder.json("forecast s.csv --method season --steps 12 --quantiles 0.05,0.5,0.95 --backtest 3 --plot p.png");
    assert_eq!(report["method"], "season");
    assert_eq!(report["periods"], serde_json::json!([12]));
    let rows = report["forecast"].as_array().unwrap();
    let (first, last) = (report["times"][0].as_str().unwrap(), report["times"][11].as_str().unwrap());
    assert!(first.starts_with("2020-01-01") && last.starts_with("2020-12-01"), "{first} {last}");
    for (step, row) in rows.iter().enumerate() {
        let (point, truth) = (row[0].as_f64().unwrap(), sales(120 + step));
        assert!((point - truth).abs() < 8.0, "step {step}: {point}, {truth}");
        let [low, middle, high] = ["0.05", "0.5", "0.95"].map(|p| report["quantiles"][p][step].as_f64().unwrap());
        assert!(low < middle && middle < high, "step {step}: {low} {middle} {high}");
    }
    let mase = report["scores"]["mase"].as_f64().unwrap();
    assert!(mase < 0.5, "{mase}");
    assert_eq!(report["backtest"]["origins"], 3);
    assert!(folder.path("p.png").metadata().unwrap().len() > 5_000);
}

#[test]
fn a_saved_season_goes_on_as_if_it_had_never_stopped() {
    let folder =
        Folder::new().with("all.csv", months(0..90)).with("a.csv", months(0..61)).with("b.csv", months(61..90));
    let whole = folder.json("forecast all.csv --season 12 --steps 6");
    folder.json("forecast a.csv --season 12 --steps 6 --save m.mercer");
    let later = folder.json("forecast b.csv --model m.mercer --steps 6");
    for key in ["method", "n", "mse", "periods", "forecast", "times"] {
        assert_eq!(whole[key], later[key], "{key}");
    }
}

#[test]
fn what_a_season_has_no_use_for_is_refused() {
    let folder = Folder::new().with("s.csv", months(0..60));
    folder.refused(2, "forecast s.csv --method season --target shop,sales", &["one column", "--target"]);
    folder.refused(2, "forecast s.csv --method opf --gamma 0.9 --season 12", &["--season"]);
    folder.refused(2, "forecast s.csv --steps 3 --quantiles 0.5", &["--quantiles", "--method season"]);
    folder.refused(2, "forecast s.csv --method season --steps 3 --quantiles 1.5", &["between 0 and 1"]);
    folder.refused(2, "forecast s.csv --method season --lambda 1", &["--lambda"]);
}
