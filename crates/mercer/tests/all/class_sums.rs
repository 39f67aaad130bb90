//! Sums of classes: shards that met different classes merge to one pass, whatever their order, and
//! are taken back.

use mercer::fit::FitSpec;
use mercer::model::{MOST_CLASSES, MergeError, Model, ModelError, Moments};
use mercer::readers::Labels;
use mercer::{Error, Regressor, RegressorExt, Scratch};

use crate::subjects::rows;

const OPTIONS: [&str; 3] = [
    "learner=ridge lambda=0.1",
    "learner=pkawv-taylor kernel=gaussian:0.9 degree=3 lambda=0.3",
    "learner=pkrr-fourier kernel=gaussian:0.9 features=9 seed=4 lambda=0.01",
];
const ROWS: usize = 350;

/// The class of a row. One is met in the first rows alone, one in the last rows alone.
fn label(t: usize, x: &[f64; 2]) -> &'static str {
    match (t, x[0] > 0.2, x[1] > 0.0) {
        (0..40, true, true) => "early",
        (300.., false, _) => "late",
        (_, true, _) => "10",
        (_, _, true) => "9",
        _ => "dark, blue",
    }
}

fn sums(options: &str, range: std::ops::Range<usize>, shard: u64, of: u64) -> Moments {
    let mut sums = options.parse::<FitSpec>().unwrap().start_classes(2, None).unwrap();
    let all = rows(range.end);
    for t in range.clone() {
        sums.add_label(&all[t].0, label(t, &all[t].0), 0.5 + (t % 3) as f64).unwrap();
    }
    sums.close((shard, of), range.len() as u64, Vec::new()).unwrap();
    sums
}

/// Scores of new rows, by the name of the class.
fn scores(sums: &Moments) -> Vec<(String, Vec<f64>)> {
    let Model::Classification(model) = sums.fit_model().unwrap() else { panic!("another kind") };
    let new = &rows(ROWS + 30)[ROWS..];
    let of = |class: usize| {
        let one = |(x, _): &([f64; 2], f64)| {
            let mut scores = Vec::new();
            model.task.classifier.scores_with(x, &mut Scratch::default(), &mut scores).unwrap();
            scores[class]
        };
        new.iter().map(one).collect()
    };
    (0..model.task.labels.len()).map(|class| (model.task.labels.get(class).unwrap().to_owned(), of(class))).collect()
}

fn assert_near(ours: &Moments, theirs: &Moments, what: &str) {
    let (ours, theirs) = (scores(ours), scores(theirs));
    assert_eq!(ours.len(), theirs.len(), "{what}");
    for ((name, ours), (other, theirs)) in ours.iter().zip(&theirs) {
        assert_eq!(name, other, "{what}");
        assert!(ours.iter().zip(theirs).all(|(a, b)| (a - b).abs() < 1e-9), "{what}: {name}");
    }
}

#[test]
fn shards_that_met_different_classes_merge_in_any_order() {
    for options in OPTIONS {
        let one = sums(options, 0..ROWS, 0, 1);
        assert_eq!(one.classes.as_ref().unwrap().names(), ["9", "10", "dark, blue", "early", "late"]);
        for of in [1, 2, 7] {
            let cut = |shard: usize| shard * ROWS / of;
            let shards: Vec<Moments> =
                (0..of).map(|shard| sums(options, cut(shard)..cut(shard + 1), shard as u64, of as u64)).collect();
            assert!(of == 1 || shards[0].classes != shards[of - 1].classes);
            let mut files = Vec::new();
            for order in 0..3 {
                let mut order: Vec<usize> = match order {
                    1 => (0..of).rev().collect(),
                    _ => (0..of).map(|shard| (shard + order) % of).collect(),
                };
                order.rotate_left(of / 3);
                let mut all = options.parse::<FitSpec>().unwrap().start_classes(2, None).unwrap();
                order.iter().for_each(|shard| all.merge(&shards[*shard]).unwrap());
                assert_near(&all, &one, options);
                assert!((all.point().unwrap().gcv[0] - one.point().unwrap().gcv[0]).abs() < 1e-9);
                let read = Moments::from_bytes(&all.to_bytes().unwrap()).unwrap();
                assert_eq!(read.classes, one.classes);
                files.push(read.classes);
                // A shard is taken back, and the class that only it had with it.
                if of > 1 {
                    let mut rest = options.parse::<FitSpec>().unwrap().start_classes(2, None).unwrap();
                    order.iter().filter(|shard| **shard > 0).for_each(|shard| rest.merge(&shards[*shard]).unwrap());
                    all.retract(&shards[0]).unwrap();
                    assert!(all.classes.as_ref().unwrap().find("early").is_none());
                    assert_near(&all, &rest, options);
                }
            }
            assert!(files.windows(2).all(|pair| pair[0] == pair[1]));
        }
    }
}

/// The error on a shard of the fit to the others, from the formula.
#[test]
fn a_shard_is_held_out() {
    for options in OPTIONS {
        let (mut all, rest, shard) =
            (sums(options, 0..300, 0, 2), sums(options, 0..300, 0, 2), sums(options, 300..ROWS, 1, 2));
        all.merge(&shard).unwrap();
        let lambda = 0.2;
        let told = all.held_out(&shard, lambda).unwrap();
        let rest = Moments { lambda: Some(lambda), awv: false, ..rest };
        let Model::Classification(model) = rest.fit_model().unwrap() else { panic!("another kind") };
        let (mut error, mut weight) = (0.0, 0.0);
        let data = rows(ROWS);
        let classes = all.classes.as_ref().unwrap();
        for (t, (x, _)) in data.iter().enumerate().skip(300) {
            let (mut made, w) = (Vec::new(), 0.5 + (t % 3) as f64);
            model.task.classifier.scores_with(x, &mut Scratch::default(), &mut made).unwrap();
            for class in classes.names() {
                // A class that the others never met scores as one that is never right: the output
                // in reserve.
                let score = match model.task.labels.find(class) {
                    Some(class) => made[class],
                    None => {
                        let learner = model.task.classifier.learner();
                        let mut raw = vec![0.0; learner.outputs()];
                        learner.predict_into(x, &mut Scratch::default(), &mut raw).unwrap();
                        raw[0]
                    }
                };
                let sign = if label(t, x) == class { 1.0 } else { -1.0 };
                error += w * (sign - score).powi(2) / classes.len() as f64;
            }
            weight += w;
        }
        assert!((told - error / weight).abs() < 1e-9, "{options}: {told} for {}", error / weight);
    }
}

#[test]
fn what_does_not_go_together_is_refused() {
    let spec: FitSpec = OPTIONS[0].parse().unwrap();
    let (mut classes, mut numbers) = (sums(OPTIONS[0], 0..60, 0, 1), spec.start(2, 1, None).unwrap());
    for refused in [classes.merge(&numbers), numbers.merge(&classes), numbers.add_label(&[0.0; 2], "a", 1.0)] {
        let words = refused.unwrap_err().to_string();
        assert!(words.contains("targets") && words.contains("numbers") && words.contains("classes"), "{words}");
    }
    assert!(matches!(classes.fit(), Err(ModelError::Learner(Error::Parameter(_)))));
    assert!(matches!(numbers.fit_classes(), Err(ModelError::Learner(Error::Parameter(_)))));
    // A row of no weight is no class.
    let mut many = spec.start_classes(1, None).unwrap();
    many.add_label(&[0.0], "none", 0.0).unwrap();
    assert_eq!(many.classes, Some(Labels::new()));
    assert_eq!(many.fit_classes().unwrap().task.classifier.predict(&[0.3]).unwrap(), None);
    many.to_bytes().unwrap();
    for class in 0..MOST_CLASSES {
        many.add_label(&[0.0], &class.to_string(), 1.0).unwrap();
    }
    let refused = many.add_label(&[0.0], "one more", 1.0).unwrap_err();
    assert!(matches!(refused, MergeError::TooManyClasses { .. }));
    let words = refused.to_string();
    assert!(words.contains("1001 classes") && words.contains("1000 at most"), "{words}");
    // Classes out of order, and a class without sums.
    for names in [["b", "a"].as_slice(), &["a", "b", "c"]] {
        let labels = Labels::from(names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>());
        let mut two = spec.start_classes(1, None).unwrap();
        ["a", "b"].iter().for_each(|name| two.add_label(&[0.5], name, 1.0).unwrap());
        assert!(Moments { classes: Some(labels), ..two }.to_bytes().is_err());
    }
}
