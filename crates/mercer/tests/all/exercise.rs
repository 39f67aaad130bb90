//! Everything that may be done with a model that was read: refused or not is its affair, but
//! nothing may panic.

use mercer::encoding::{Cell, Encoding};
use mercer::forecast::Forecaster;
use mercer::koopman::Trajectory;
use mercer::model::{Classes, Model, Numbers};
use mercer::{Regressor, RegressorExt, Scratch, Target};

/// Dimensions up to this are tried; a file may claim millions, which are allowed and slow.
const WIDEST: usize = 64;

/// Cells that a record may hold.
const CELLS: [Cell<'static>; 5] =
    [Cell::Missing, Cell::Number(0.25), Cell::Instant(1.7e9), Cell::Text("a"), Cell::Number(1e308)];

pub(crate) fn exercise(model: Model) {
    match model {
        Model::Regression(mut model) => {
            exercise_encoding(model.encoding.as_mut());
            let Numbers { learner, intervals, .. } = &mut model.task;
            let _ = (learner.learner().name(), learner.dictionary_size());
            if learner.dimension() > WIDEST {
                return;
            }
            let x = vec![0.25; learner.dimension()];
            let _ = learner.predict(&x);
            let m = learner.outputs();
            let (mut scores, mut other) = (vec![0.0; m], vec![0.0; m]);
            let _ = learner.predict_variance_into(&x, &mut Scratch::default(), &mut scores, &mut other);
            if let Some(intervals) = intervals {
                let (mut scratch, y) = (Scratch::default(), vec![0.25; m]);
                let _ = intervals.predict_into(learner, &x, &mut scratch, &mut scores, &mut other);
                let _ = intervals.learn(learner, &x, Target::new(&y), &mut scratch, &mut scores, &mut other);
            }
            for step in 0..3 {
                let x: Vec<f64> = x.iter().map(|x| x + f64::from(step) / 3.0).collect();
                let _ = (learner.predict_then_update(&x, 0.5), learner.predict_then_update(&x, -1.0));
            }
            let _ = learner.learn_block(&x.repeat(5), &[0.1, 0.2, -0.3, 0.4, 0.5], &mut Vec::new());
        }
        Model::Classification(mut model) => {
            exercise_encoding(model.encoding.as_mut());
            let Classes { classifier, labels, score, .. } = &mut model.task;
            let _ = (labels.sorted(), score.balanced_accuracy(), score.majority());
            let d = classifier.learner().dimension();
            if d > WIDEST || classifier.classes() > WIDEST {
                return;
            }
            let x = vec![0.25; d];
            for class in [0, 1, classifier.classes()] {
                let _ = (classifier.predict(&x), classifier.learn(&x, class, 1.0));
            }
            let _ = classifier.learn_rows(&x.repeat(3), &[0, 1, 0], &[1.0, 0.0, 0.5], |_, classifier, scores| {
                let _ = classifier.probabilities(&mut scores.to_vec());
            });
        }
        Model::GroupPredictions(model) => {
            let all = std::iter::once(model.fresh).chain(model.groups.into_iter().map(|(_, group)| group));
            all.take(4).for_each(|group| exercise(Model::Prediction(group.into())));
        }
        Model::Prediction(mut model) => {
            let forecaster = &mut model.forecaster;
            if forecaster.outputs() + forecaster.inputs() > WIDEST {
                return;
            }
            let (input, output) = (vec![0.5; forecaster.inputs()], vec![0.1; forecaster.outputs()]);
            let mut made = output.clone();
            for _ in 0..12 {
                let _ = forecaster.predict_then_observe(&input, &output, &mut made);
            }
            if let Some(intervals) = &mut model.intervals {
                for _ in 0..3 {
                    let _ = intervals.observe(&made, &output);
                }
                let _ =
                    (0..output.len()).map(|output| intervals.radius(output) + intervals.coverage(output)).sum::<f64>();
            }
            if let Some(further) = &mut model.further {
                let made = forecaster.forecast(further.steps().min(8), &[]).unwrap_or_default();
                for _ in 0..4 {
                    let _ = (further.foretell(&made), further.observe(&output));
                }
                let _ = further.horizon(2).map(|of| (0..output.len()).map(|output| of.radius(output)).sum::<f64>());
            }
            let _ = forecaster.lags() + forecaster.epochs().len() + usize::from(forecaster.warmed_up());
        }
        Model::Operator(mut model) => {
            let [d, d_plus] = model.learner.dimensions();
            if d + d_plus > WIDEST {
                return;
            }
            let (x, y) = (vec![0.3; d], vec![0.4; d_plus]);
            for _ in 0..3 {
                let _ = model.learner.update(&x, &y);
            }
            if let Some(descent) = model.learner.descent() {
                let _ = (descent.operator().embedding(&x), descent.operator().hs_norm());
            }
            let read = model.learner.sums().and_then(|sums| sums.model(3, 2).ok());
            let _ = read.map(|read| (read.forecast(&x, &x, 1), read.eigenfunctions(&x)));
            let row = model.trajectory.as_ref().map_or(0, Trajectory::columns);
            let _ = model.trajectory.as_mut().map(|trajectory| trajectory.push(&vec![0.3; row], None, None).is_ok());
            let _ = (model.learner.kept_rounds(), model.learner.forced_rejections());
        }
        Model::Moments(mut model) => {
            let (d, m) =
                (mercer::learners::FeatureMap::input_dimension(model.sums.feature_map()), model.sums.outputs());
            if d > WIDEST || m > WIDEST || model.sums.sums().features() > WIDEST {
                return;
            }
            let (x, y) = (vec![0.25; d], vec![0.5; m]);
            let _ = (model.point(), model.sums.add_target(&x, Target::new(&y)), model.sums.advance_to(3.0));
            let other = model.clone();
            let _ = (model.merge(&other), model.retract(&other), model.sums.held_out(&other.sums, 0.5));
            let _ = model.fit().map(|made| made.task.learner.predict(&x));
            let _ = (model.add_label(&x, "a class", 0.5), model.held_out(&other, 0.5));
            if model.fit_model().is_ok() {
                exercise_encoding(model.encoding.as_mut());
            }
        }
        _ => panic!("a kind that is not exercised"),
    }
}

fn exercise_encoding(encoding: Option<&mut Encoding>) {
    let Some(encoding) = encoding else { return };
    let columns = encoding.schema().columns().len();
    if encoding.dimension().max(columns) > WIDEST {
        return;
    }
    for cell in CELLS {
        let (record, mut numbers) = (vec![cell; columns], Vec::new());
        encoding.encode(&record, &mut numbers).unwrap();
        assert!(numbers.iter().all(|number| number.is_finite()));
        let _ = encoding.learn(&record);
    }
    let _ = (encoding.names(), encoding.transform().treatment(0));
}
