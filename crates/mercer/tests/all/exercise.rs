//! Everything that may be done with a model that was read: refused or not is its affair, but nothing may panic.

use mercer::encoding::Cell;
use mercer::forecast::Forecaster;
use mercer::koopman::Trajectory;
use mercer::model::Model;
use mercer::{Regressor, RegressorExt, Scratch, Target};

/// Dimensions up to this are tried; a file may claim millions, which are allowed and slow.
const WIDEST: usize = 64;

/// What a record may hold.
const CELLS: [Cell<'static>; 5] =
    [Cell::Missing, Cell::Number(0.25), Cell::Instant(1.7e9), Cell::Text("a"), Cell::Number(1e308)];

pub(crate) fn exercise(model: Model) {
    match model {
        Model::Regression(mut model) => {
            let learner = &mut model.learner;
            let _ = (learner.learner().name(), learner.dictionary_size());
            if learner.dimension() > WIDEST {
                return;
            }
            let x = vec![0.25; learner.dimension()];
            let _ = learner.predict(&x);
            let m = learner.outputs();
            let (mut scores, mut other) = (vec![0.0; m], vec![0.0; m]);
            let _ = learner.predict_variance_into(&x, &mut Scratch::default(), &mut scores, &mut other);
            if let Some(intervals) = &mut model.intervals {
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
            let classifier = &mut model.classifier;
            let _ = (model.labels.sorted(), model.progress.score.balanced_accuracy(), model.progress.score.majority());
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
        Model::Table(mut model) => {
            let columns = model.encoding().schema().columns().len();
            if model.encoding().dimension().max(columns) > WIDEST {
                return;
            }
            let outputs = model.pipeline.learner().outputs();
            let mut made = vec![0.0; outputs];
            for cell in CELLS {
                let record = vec![cell; columns];
                let mut numbers = Vec::new();
                model.encoding().encode(&record, &mut numbers).unwrap();
                assert!(numbers.iter().all(|number| number.is_finite()));
                let _ = model.pipeline.predict(&record);
                let _ = model.pipeline.learn_target(&record, Target::new(&vec![0.5; outputs]), &mut made);
            }
            let _ = (model.encoding().names(), model.encoding().transform().treatment(0));
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
            let _ = model.fit().map(|made| made.learner.predict(&x));
            let _ = (model.add_label(&x, "a class", 0.5), model.held_out(&other, 0.5));
            if let Ok(Model::Table(_) | Model::ClassTable(_)) = model.fit_model()
                && let Some(encoding) = &model.encoding
            {
                let mut numbers = Vec::new();
                let _ = encoding.encode(&vec![CELLS[0]; encoding.schema().columns().len()], &mut numbers);
            }
        }
        Model::ClassTable(mut model) => {
            let columns = model.encoding().schema().columns().len();
            let classes = model.pipeline.classifier().classes();
            if model.encoding().dimension().max(columns).max(classes) > WIDEST {
                return;
            }
            let _ = model.labels.sorted();
            for (cell, class) in CELLS.into_iter().zip([0, 1, classes, 0, 1]) {
                let record = vec![cell; columns];
                let _ = (model.pipeline.predict(&record), model.pipeline.learn(&record, class, 1.0));
            }
        }
        _ => panic!("a kind that is not exercised"),
    }
}
