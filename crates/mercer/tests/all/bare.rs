//! A learner without a description, as users of the library save it.

use std::collections::BTreeMap;

use mercer::model::{self, Model, ModelError, ModelKind};

use crate::subjects::{models, regression, rows};
use mercer::{AnyKernel, AnyRegressor, RegressorExt, catalogue};

#[test]
fn a_learner_alone_goes_on_bit_for_bit() {
    let mut learner = regression("nons-ald", 20).task.learner.into_learner();
    let bytes = model::to_bytes(&learner).unwrap();
    let mut restored = model::from_bytes(&bytes).unwrap();
    assert_eq!(model::to_bytes(&restored).unwrap(), bytes);
    for (x, y) in &rows(40)[20..] {
        let (ours, theirs) = (restored.predict_then_update(x, *y), learner.predict_then_update(x, *y));
        assert_eq!(ours.unwrap().to_bits(), theirs.unwrap().to_bits());
    }
    let Model::Regression(model) = Model::from_bytes(&bytes).unwrap() else { panic!("another kind") };
    assert!(model.encoding.is_none() && model.progress.rows == 0 && model.description.learner.is_empty());
}

#[test]
fn what_is_no_learner_alone_is_refused() {
    let mut encoded = 0;
    for (name, other) in models(3) {
        let got = other.kind();
        let read = model::from_bytes(&other.to_bytes().unwrap());
        match read {
            Ok(_) => assert_eq!(got, ModelKind::Regression, "{name}"),
            Err(ModelError::Encoded) => encoded += 1,
            Err(error) => {
                assert!(matches!(error, ModelError::OtherKind { expected: ModelKind::Regression, got: g } if g == got));
            }
        }
    }
    assert!(encoded > 0);
}

/// Files hold the learner's number in the list, JSON its name. JSON gives the state back bit for
/// bit.
#[test]
fn a_learner_is_known_by_its_number_and_its_name() {
    let mut names = BTreeMap::from([(9, "Krls"), (17, "Auto"), (47, "Restarting")]);
    for entry in catalogue::entries() {
        let learner = regression(entry.name, 5).task.learner.into_learner();
        let number = postcard::to_stdvec(&learner).unwrap()[0];
        assert_eq!(*names.entry(number).or_insert(learner.name()), learner.name());
        let json = serde_json::to_value(&learner).unwrap();
        assert!(json.as_object().unwrap().keys().eq([learner.name()]));
        let read: AnyRegressor<AnyKernel> = serde_json::from_value(json).unwrap();
        let bytes = |learner: &AnyRegressor<AnyKernel>| postcard::to_stdvec(learner).unwrap();
        assert_eq!(bytes(&read), bytes(&learner), "{}: JSON gives another state back", entry.name);
    }
    let learner = regression("nons-ald", 5).task.learner.into_learner();
    let read: AnyRegressor<AnyKernel> = serde_json::from_value(serde_json::to_value(&learner).unwrap()).unwrap();
    assert_eq!(read.name(), learner.name());
    for (x, _) in rows(10) {
        assert_eq!(read.predict(&x).unwrap().to_bits(), learner.predict(&x).unwrap().to_bits());
    }
    let unknown =
        serde_json::from_value::<AnyRegressor<AnyKernel>>(serde_json::json!({"Winnow": 1})).unwrap_err().to_string();
    assert!(unknown.contains("unknown variant `Winnow`, expected one of `Kogd`"), "{unknown}");
    assert!(postcard::from_bytes::<AnyRegressor<AnyKernel>>(&[99, 0, 0]).is_err());
}
