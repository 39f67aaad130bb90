//! A golden file of every kind and learner loads and predicts what it did; what is saved now goes
//! on bit for bit.
//!
//! A file is kept for ever: `MERCER_BLESS=1 cargo test -p mercer --test all` writes those that are
//! missing alone. Without it, the test fails where a file is missing, belongs to no learner,
//! differs from what is saved now, or predicts something else.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use mercer::model::{Model, ModelKind};
use mercer::{Regressor, RegressorExt};
use serde_json::Value;

use crate::subjects::{go_on, models, rows, sure, wide, windowed};

/// Rows learnt before a file was written, and rows predicted after it was read.
const LEARNT: usize = 24;
const PREDICTED: usize = 6;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

#[test]
fn what_is_saved_goes_on_bit_for_bit() {
    // Of two numbers of rows one leaves a row that waits.
    let wide = |learnt| vec![("wide opf", wide(learnt))];
    let all = [(0, models(0)), (LEARNT, models(LEARNT)), (40, sure(40)), (400, wide(400)), (401, wide(401))];
    for (learnt, models) in all {
        let ahead = rows(learnt + 40);
        for (name, mut model) in models {
            let bytes = model.to_bytes().unwrap();
            let mut restored = Model::from_bytes(&bytes).unwrap();
            assert_eq!(restored.to_bytes().unwrap(), bytes, "{name}: saved again, it is another file");
            assert_eq!(restored.kind(), model.kind());
            let bits = |values: Vec<f64>| values.into_iter().map(f64::to_bits).collect::<Vec<_>>();
            let expected = bits(go_on(&mut model, &ahead[learnt..]));
            assert_eq!(bits(go_on(&mut restored, &ahead[learnt..])), expected, "{name} after {learnt} rows");
        }
    }
}

/// An index of a window is no part of a file, and what is measured on it decides when the window
/// grows.
#[test]
fn a_window_that_grows_goes_on_bit_for_bit() {
    let (ends, end) = ([700, 1700, 2300], 3500);
    let all = rows(end);
    let mut whole = windowed("budget=35000", 2, 0);
    let mut made: Vec<u64> = Vec::new();
    let mut saved = Vec::new();
    for (t, (x, y)) in all.iter().enumerate() {
        if ends.contains(&t) {
            saved.push((t, Model::Regression(Box::new(whole.clone())).to_bytes().unwrap()));
        }
        made.push(whole.task.learner.predict_then_update(x, *y).unwrap().to_bits());
    }
    // All examples of the window and some points of dictionaries are kept.
    assert!((3000..4000).contains(&whole.task.learner.dictionary_size()), "{}", whole.task.learner.dictionary_size());
    for (start, bytes) in saved {
        let Model::Regression(mut model) = Model::from_bytes(&bytes).unwrap() else { panic!("another model") };
        for ((x, y), bits) in all[start..].iter().zip(&made[start..]) {
            assert_eq!(
                model.task.learner.predict_then_update(x, *y).unwrap().to_bits(),
                *bits,
                "saved after {start} rows"
            );
        }
    }
}

/// Predictions that the files should make.
fn expected() -> BTreeMap<String, Vec<f64>> {
    let text = fs::read_to_string(folder().join("predictions.json")).expect("see this file's head");
    serde_json::from_str(&text).unwrap()
}

/// Writes the files that are missing, and what they predict.
fn bless(ahead: &[([f64; 2], f64)]) {
    let mut all = expected();
    for (name, mut model) in models(LEARNT) {
        let path = folder().join(format!("{name}.mercer"));
        if !path.exists() {
            fs::write(path, model.to_bytes().unwrap()).unwrap();
            all.insert(name.to_owned(), go_on(&mut model, ahead));
        }
    }
    let lines: Vec<String> = all.into_iter().map(|(name, made)| format!("\"{name}\": {}", Value::from(made))).collect();
    fs::write(folder().join("predictions.json"), format!("{{\n{}\n}}\n", lines.join(",\n"))).unwrap();
}

#[test]
fn files_of_every_learner_load_and_predict_what_they_did() {
    let ahead = &rows(LEARNT + PREDICTED)[LEARNT..];
    if std::env::var_os("MERCER_BLESS").is_some() {
        bless(ahead);
    }
    let expected = expected();
    let models = models(LEARNT);
    let names: BTreeSet<String> = models.iter().map(|(name, _)| (*name).to_owned()).collect();
    let files = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let files = files.filter(|path| path.extension().is_some_and(|extension| extension == "mercer"));
    assert_eq!(
        files.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect::<BTreeSet<_>>(),
        names
    );
    assert!(expected.keys().eq(&names), "each file has its predictions");
    let mut kinds = Vec::new();
    for (name, model) in models {
        let bytes = fs::read(folder().join(format!("{name}.mercer"))).unwrap();
        assert!(bytes.len() < 100_000, "{name}: a golden file stays small, this has {} bytes", bytes.len());
        let mut loaded = Model::from_bytes(&bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(loaded.to_bytes().unwrap(), bytes, "{name}: saved again, it is another file");
        assert_eq!(model.to_bytes().unwrap().len(), bytes.len(), "{name}: what is saved now has another form");
        kinds.push(loaded.kind());
        let made = go_on(&mut loaded, ahead);
        let numbers = &expected[name];
        assert_eq!(numbers.len(), PREDICTED);
        for (made, number) in made.iter().zip(numbers) {
            assert!((made - number).abs() <= 1e-12 * number.abs().max(1.0), "{name}: {made} for {number}");
        }
    }
    for kind in [
        ModelKind::Regression,
        ModelKind::Prediction,
        ModelKind::Operator,
        ModelKind::Classification,
        ModelKind::Moments,
        ModelKind::GroupPredictions,
        ModelKind::RegressionGroups,
        ModelKind::ClassificationGroups,
    ] {
        assert!(kinds.contains(&kind));
    }
}
