//! Everything that may be done with a model that was read: refused or not is its affair, but nothing may panic.

use mercer::Regressor;
use mercer::learners::prediction::Forecaster;
use mercer::model::Model;

/// Dimensions up to this are tried; a file may claim millions, which are allowed and slow.
const WIDEST: usize = 64;

pub(crate) fn exercise(model: Model) {
    match model {
        Model::Regression(mut model) => {
            let learner = &mut model.learner;
            let _ = (learner.name(), learner.dictionary_size());
            if learner.dimension() > WIDEST {
                return;
            }
            let x = vec![0.25; learner.dimension()];
            let _ = learner.predict(&x);
            for step in 0..3 {
                let x: Vec<f64> = x.iter().map(|x| x + f64::from(step) / 3.0).collect();
                let _ = learner.predict_then_update(&x, 0.5);
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
            let _ = forecaster.lags() + forecaster.epochs().len() + usize::from(forecaster.warmed_up());
        }
        Model::Operator(mut model) => {
            let operator = model.learner.inner().operator();
            if operator.input_dimension() + operator.output_dimension() > WIDEST {
                return;
            }
            let (x, y) = (vec![0.3; operator.input_dimension()], vec![0.4; operator.output_dimension()]);
            let _ = operator.embedding(&x);
            for _ in 0..3 {
                let _ = model.learner.inner_mut().update(&x, &y);
            }
            let _ = (model.learner.kept_rounds(), model.learner.forced_rejections());
            let _ = model.learner.inner().operator().hs_norm();
        }
        _ => panic!("a kind that is not exercised"),
    }
}
