//! Files written long ago load for ever and predict what they did then; and what is saved now goes on bit for bit.
//!
//! A learner or a format that is new has no file yet: run the tests once with `MERCER_BLESS=1` and commit what appears in `tests/golden`. A file
//! that is there is never written again. When one no longer loads, the format needs a new version that still reads the old one.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use mercer::model::{Model, ModelKind};
use mercer::{Regressor, Scratch};
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

/// An index of a window is no part of a file, and what is measured on it decides when the window grows.
#[test]
fn a_window_that_grows_goes_on_bit_for_bit() {
    let (ends, end) = ([700, 1700, 2300], 3500);
    let all = rows(end);
    let mut whole = windowed("budget=35000", 0);
    let mut made: Vec<u64> = Vec::new();
    let mut saved = Vec::new();
    for (t, (x, y)) in all.iter().enumerate() {
        if ends.contains(&t) {
            saved.push((t, Model::Regression(Box::new(whole.clone())).to_bytes().unwrap()));
        }
        made.push(whole.learner.predict_then_update(x, *y).unwrap().to_bits());
    }
    // All examples of the window and some points of dictionaries are kept.
    assert!((3000..4000).contains(&whole.learner.dictionary_size()), "{}", whole.learner.dictionary_size());
    for (start, bytes) in saved {
        let Model::Regression(mut model) = Model::from_bytes(&bytes).unwrap() else { panic!("another model") };
        for ((x, y), bits) in all[start..].iter().zip(&made[start..]) {
            assert_eq!(model.learner.predict_then_update(x, *y).unwrap().to_bits(), *bits, "saved after {start} rows");
        }
    }
}

/// Files from before format 4 do not tell how large errors were: least squares has a variance once it has learnt again.
#[test]
fn least_squares_of_old_files_has_no_variance_at_first() {
    for name in ["krls", "kernel-awv", "kernel-krr", "pkawv-taylor", "pkrr-taylor", "pkawv-nystrom", "pkrr-nystrom"] {
        let bytes = fs::read(folder().join(format!("{name}.mercer"))).unwrap();
        let Model::Regression(mut model) = Model::from_bytes(&bytes).unwrap() else { panic!("{name}") };
        let (mut scratch, mut score, mut variance) = (Scratch::default(), [0.0], [0.0]);
        let mut told = |model: &mercer::model::Regression| {
            let learner = &model.learner;
            let told = learner.predict_variance_into(&[0.1, 0.2], &mut scratch, &mut score, &mut variance);
            (told.unwrap(), variance[0])
        };
        assert!(model.learner.has_variance() && !told(&model).0, "{name}");
        // The second row lies in the span of the first.
        (0..2).for_each(|_| drop(model.learner.update(&[0.3, 0.1], 0.7)));
        let (known, variance) = told(&model);
        assert!(known && variance > 0.0, "{name}: {variance}");
    }
}

#[test]
fn files_of_every_learner_load_and_predict_what_they_did() {
    let expected_path = folder().join("predictions.json");
    let text = fs::read_to_string(&expected_path).unwrap_or_else(|_| "{}".to_owned());
    let mut expected: BTreeMap<String, Vec<f64>> = serde_json::from_str::<BTreeMap<String, Value>>(&text)
        .unwrap()
        .into_iter()
        .map(|(name, values)| (name, values.as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect()))
        .collect();
    let ahead = &rows(LEARNT + PREDICTED)[LEARNT..];
    let (mut kinds, mut versions, mut new) = (Vec::new(), BTreeSet::new(), false);
    for (name, model) in models(LEARNT) {
        let path = folder().join(format!("{name}.mercer"));
        if !path.exists() && std::env::var_os("MERCER_BLESS").is_some() {
            fs::write(&path, model.to_bytes().unwrap()).unwrap();
            expected.insert(name.to_owned(), go_on(&mut model.clone(), ahead));
            new = true;
        }
        let bytes = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}; see this file's head", path.display()));
        assert!(bytes.len() < 40_000, "{name}: a golden file stays small, this has {} bytes", bytes.len());
        let read = Model::from_bytes_with_version(&bytes);
        let (mut loaded, version) = read.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(version, u16::from_le_bytes([bytes[8], bytes[9]]));
        versions.insert(version);
        kinds.push(loaded.kind());
        let made = go_on(&mut loaded, ahead);
        let numbers = &expected[name];
        assert_eq!(numbers.len(), PREDICTED);
        for (made, number) in made.iter().zip(numbers) {
            assert!((made - number).abs() <= 1e-12 * number.abs().max(1.0), "{name}: {made} for {number}");
        }
    }
    if new {
        let lines: Vec<String> = expected
            .iter()
            .map(|(name, values)| format!("{}: {}", Value::from(name.as_str()), Value::from(values.clone())))
            .collect();
        fs::write(expected_path, format!("{{\n{}\n}}\n", lines.join(",\n"))).unwrap();
    }
    for kind in [
        ModelKind::Regression,
        ModelKind::Prediction,
        ModelKind::Operator,
        ModelKind::Classification,
        ModelKind::Table,
        ModelKind::ClassTable,
        ModelKind::Moments,
    ] {
        assert!(kinds.contains(&kind));
    }
    assert!(versions.is_superset(&BTreeSet::from([1, 2])), "files of all earlier versions are here: {versions:?}");
}
