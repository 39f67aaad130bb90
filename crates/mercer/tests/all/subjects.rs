//! Small models of every kind and learner, trained on a few rows that are the same on every
//! machine.

use mercer::AnyKernel;
use mercer::catalogue::{self, Context, Entry, Settings};
use mercer::encoding::{Cell, Encoding, EncodingOptions, Overrides, Scale, ScaledTargets};
use mercer::fit::FitSpec;
use mercer::forecast::{
    AnyForecaster, ConformalIntervals, Detail, Discounted, DiscountedParams, EpochSchedule, ForecastMixture,
    Forecaster, GridParams, GuardedForecaster, HorizonIntervals, InputParams, IntervalParams, KalmanPredictor,
    LastValue, LinearExtrapolation, Opf, OpfParams, Periods, ScaledForecaster, ScaledParams, SeasonParams, Seasons,
    SharedWeights, Slip, SlipParams, SpectralFilter, SpectralParams, SpectralRule, StateSpace, WindowedSlip,
    WindowedSlipParams,
};
use mercer::koopman::{DenseSogd, DenseSogdParams, OperatorModel, OperatorSums, OperatorSumsParams, Sogd, SogdParams};
use mercer::learners::intervals::{IntervalScale, LearnerIntervals};
use mercer::model::{
    AnyOperator, BackgroundRows, Classes, Classification, Description, GroupPredictions, Model, Moments, Numbers,
    Operator, Prediction, Progress, Regression, RowDigest, SeriesErrors, Tabular,
};
use mercer::readers::{ColumnChoice, Labels, TargetColumn};
use mercer::session::Groups;
use mercer::{ClassScore, Classifier, Krls, KrlsParams, Regressor, RegressorExt, Score, Scratch, Target};

/// Rows `(x, y)` with `x` in the square.
pub(crate) fn rows(count: usize) -> Vec<([f64; 2], f64)> {
    let mut state = 7_u64;
    let mut uniform = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f64 / f64::from(1 << 23) - 1.0
    };
    (0..count).map(|_| ([uniform(), uniform()], uniform())).map(|(x, e)| (x, x[0] * x[1] / 2.0 + 0.1 * e)).collect()
}

/// Settings that keep every file small.
fn settings(entry: &Entry) -> &'static [&'static str] {
    match entry.name {
        "experts" => &["members=nons-ald; krls lambda=0.1; krls lambda=0.1 kernel=laplace:1; fogd features=4; kogd"],
        _ => entry.trial,
    }
}

/// The target of a row for this learner: `y`, or its sign.
fn target(learner: &impl Regressor, y: f64) -> f64 {
    if learner.loss().is_margin() { 1_f64.copysign(y) } else { y }
}

/// The learner `name` of the catalogue after `learnt` rows.
pub(crate) fn regression(name: &str, learnt: usize) -> Regression {
    regression_with(name, settings(catalogue::find(name).unwrap()), 2, learnt)
}

/// The learner after `learnt` rows of one feature or of both.
fn regression_with(name: &str, settings: &[&str], features: usize, learnt: usize) -> Regression {
    let entry = catalogue::find(name).unwrap();
    let kernel: AnyKernel = match name {
        "kons" => "mix:0.4*gaussian:0.4+0.6*matern32:0.7".parse(),
        "kernel-awv" => "polynomial:2,1".parse(),
        _ => "gaussian:0.7".parse(),
    }
    .unwrap();
    let spec = kernel.to_string();
    let context = Context { dimension: features, seed: 3, ..Context::default() };
    let mut built = Settings::new(entry, settings.iter().copied()).unwrap().build(kernel, &context).unwrap();
    let mut score = Score::default();
    for (x, y) in &rows(learnt) {
        let y = target(&built.learner, *y);
        score.record(built.learner.predict_then_update(&x[..features], y).unwrap(), y);
    }
    Tabular {
        description: Description {
            learner: name.to_owned(),
            kernel: spec,
            parameters: built.parameters.iter().map(|(key, value)| ((*key).to_owned(), value.to_string())).collect(),
            seed: 3,
            features: ["a", "b"][..features].iter().map(|name| (*name).to_owned()).collect(),
            target_name: Some("y".to_owned()),
            target: TargetColumn::Name("y".to_owned()),
            own: vec![("kernel".to_owned(), "\"auto\"".to_owned())],
            ..Description::default()
        },
        progress: Progress { rows: learnt as u64 + 1, bad: 1, fingerprint: 5 },
        ..Tabular::plain(Numbers { score, ..Numbers::new(ScaledTargets::unscaled(built.learner)) })
    }
}

/// The class of a row: three, the last of which comes late.
fn class_of(t: usize, (x, _): &([f64; 2], f64)) -> usize {
    if x[0] > 0.2 { usize::from(x[1] > 0.0 && t > 10) * 2 } else { 1 }
}

/// A learner of classes with all that the command keeps beside it; each row counts for a half.
fn classification(learnt: usize) -> Classification {
    let Regression { description, .. } = regression("krls", 0);
    let kernel: AnyKernel = "gaussian:0.7".parse().unwrap();
    let learner = Krls::new(kernel, 2, KrlsParams::default().lambda(0.1)).unwrap();
    let (mut classifier, mut labels) = (Classifier::new(learner.into()).unwrap(), Labels::new());
    let mut score = ClassScore::default();
    for (t, row) in rows(learnt).iter().enumerate() {
        let class = class_of(t, row).min(classifier.classes());
        labels.insert(["red", "dark, blue", "3"][class]);
        let predicted = classifier.learn(&row.0, class, 0.5).unwrap();
        score.record(class, predicted, Some(0.25), 0.5);
    }
    let progress = Progress { rows: learnt as u64 + 1, bad: 1, fingerprint: 5 };
    let description = Description { weight: Some(ColumnChoice::Name("w".to_owned())), ..description };
    let task = Classes { classifier, labels, learnt: learnt as u64, score };
    Tabular { description, progress, ..Tabular::plain(task) }
}

/// Members that forget or start anew, with a share for all; after enough rows for the detectors to
/// have seen losses.
fn sharing(learnt: usize) -> Regression {
    let members = "members=krls forgetting=0.99 lambda=0.1 max_dictionary=9; \
                   restart learner=(krls lambda=0.1 kernel=laplace:1 max_dictionary=9); \
                   restart learner=(fogd features=4) detector=adwin";
    regression_with("experts", &[members, "rule=ewa", "share=auto"], 2, 3 * learnt)
}

/// With a window; a budget of 35,000 pays for some 1600 examples.
pub(crate) fn windowed(budget: &str, features: usize, learnt: usize) -> Regression {
    regression_with("auto", &[budget], features, learnt)
}

/// A learner of two targets.
/// Sums of two targets on Taylor features and on random frequencies.
fn moments(options: &str, learnt: usize) -> Moments {
    let spec: FitSpec = options.parse().unwrap();
    let mut sums = spec.start(2, 2, None).unwrap();
    for (x, y) in &rows(learnt) {
        sums.sums.add_target(x, Target::weighted(&[*y, x[0]], 2.0)).unwrap();
    }
    sums.close((0, 1), learnt as u64, Vec::new()).unwrap();
    sums
}

/// Sums of three classes, the last of which comes late.
fn class_moments(learnt: usize) -> Moments {
    let spec: FitSpec = "learner=pkrr-taylor kernel=gaussian:0.9 lambda=0.3".parse().unwrap();
    let mut sums = spec.start_classes(2, None).unwrap();
    for (t, row) in rows(learnt).iter().enumerate() {
        sums.add_label(&row.0, ["red", "dark, blue", "3"][class_of(t, row)], 0.5).unwrap();
    }
    sums.close((0, 1), learnt as u64, Vec::new()).unwrap();
    sums
}

/// Sums of an encoded table.
fn table_moments(learnt: usize) -> Moments {
    let (spec, encoding): (FitSpec, _) = ("learner=ridge lambda=0.3".parse().unwrap(), encoding(Scale::Standard));
    let mut sums = spec.start(encoding.dimension(), 1, None).unwrap();
    for (t, (x, y)) in rows(learnt).iter().enumerate() {
        let mut numbers = Vec::new();
        encoding.encode(&record(t, x), &mut numbers).unwrap();
        sums.sums.add(&numbers, *y).unwrap();
    }
    sums.encoding = Some(encoding);
    sums.close((0, 1), learnt as u64, Vec::new()).unwrap();
    sums
}

fn vector(learnt: usize) -> Regression {
    let mut model = regression("krls", 0);
    let kernel: AnyKernel = "gaussian:0.7".parse().unwrap();
    let learner = Krls::new(kernel, 2, KrlsParams::default().lambda(0.1).outputs(2)).unwrap();
    model.task.learner = ScaledTargets::unscaled(learner.into());
    model.description.target_names = vec!["y".to_owned(), "z".to_owned()];
    let mut made = [0.0; 2];
    for (x, y) in &rows(learnt) {
        let targets = [*y, x[0]];
        model.task.learner.learn(x, Target::weighted(&targets, 2.0), &mut made).unwrap();
        model.task.score.record_weighted(&made, &targets, 2.0);
    }
    model
}

/// A row of a table: a number with gaps, another, a category of which new ones come, and a time.
fn record(t: usize, x: &[f64; 2]) -> [Cell<'static>; 4] {
    let first = if t % 5 == 2 { Cell::Missing } else { Cell::Number(100.0 * x[0]) };
    let city = ["Ulm", "Bonn", "Kiel", "Hof", "Ems", "Jena"][t % (2 + t / 4).min(6)];
    [first, Cell::Number(x[1]), Cell::Text(city), Cell::Instant(1.7e9 + 40_000.0 * t as f64)]
}

/// The inputs of a row, which may be encoded.
fn inputs(encoding: Option<&Encoding>, t: usize, x: &[f64; 2]) -> Vec<f64> {
    let Some(encoding) = encoding else { return x.to_vec() };
    let mut numbers = Vec::new();
    encoding.encode(&record(t, x), &mut numbers).unwrap();
    numbers
}

/// The encoding of a table whose head has been learnt.
fn encoding(scale: Scale) -> Encoding {
    let names = ["size", "b", "city", "at"].map(str::to_owned);
    let head: Vec<_> = rows(16).iter().enumerate().map(|(t, (x, _))| record(t, x)).collect();
    Encoding::look(&names, &head, &Overrides::default(), EncodingOptions::default().scale(scale)).unwrap()
}

fn krls_for(encoding: &Encoding) -> Krls<AnyKernel> {
    let kernel: AnyKernel = "gaussian:3".parse().unwrap();
    Krls::new(kernel, encoding.dimension(), KrlsParams::default().lambda(0.1).max_dictionary(Some(8))).unwrap()
}

/// A learner of numbers behind the encoding of a table.
fn table(learnt: usize) -> Regression {
    let Regression { description, .. } = regression("krls", 0);
    let mut encoding = encoding(Scale::Robust);
    let mut task = Numbers::new(ScaledTargets::new(krls_for(&encoding).into()).unwrap());
    let (mut progress, mut background) = (Progress::default(), BackgroundRows::default());
    for (t, (x, y)) in rows(learnt).iter().enumerate() {
        let inputs = inputs(Some(&encoding), t, x);
        task.score.record(task.learner.predict_then_update(&inputs, *y).unwrap(), *y);
        background.take(&inputs);
        encoding.learn(&record(t, x)).unwrap();
        progress.meet(progress.seen().after_cells(&record(t, x), &[*y]));
    }
    let description = Description { features: Vec::new(), ..description };
    Tabular { description, encoding: Some(encoding), progress, background, ..Tabular::plain(task) }
}

/// A model with the model of a group: a copy of it, so far.
fn grouped<T: Clone>(mut model: Tabular<T>) -> Box<Tabular<T>> {
    let mut groups = Groups::new(0, 3);
    groups.models.extend([("u".to_owned(), model.task.clone())]);
    model.groups = Some(groups);
    Box::new(model)
}

/// A learner of classes behind the encoding of a table.
fn class_table(learnt: usize) -> Classification {
    let Classification { description, .. } = classification(0);
    let mut encoding = encoding(Scale::Standard);
    let mut task = Classes::new(Classifier::new(krls_for(&encoding).into()).unwrap(), Labels::new());
    for (t, row) in rows(learnt).iter().enumerate() {
        let class = class_of(t, row).min(task.classifier.classes());
        task.labels.insert(["red", "dark, blue", "3"][class]);
        let predicted = task.classifier.learn(&inputs(Some(&encoding), t, &row.0), class, 0.5).unwrap();
        encoding.learn(&record(t, &row.0)).unwrap();
        task.score.record(class, predicted, None, 0.5);
        task.learnt += 1;
    }
    let description = Description { features: Vec::new(), ..description };
    let progress = Progress { rows: learnt as u64, ..Progress::default() };
    Tabular { description, encoding: Some(encoding), progress, ..Tabular::plain(task) }
}

/// Forecasters by the names of their files.
fn forecasters() -> Vec<(&'static str, AnyForecaster)> {
    let schedule = EpochSchedule { beta: 0.7, t_init: 8, max_lags: Some(4) };
    let opf = OpfParams::default().schedule(schedule);
    let inputs = InputParams::default().count(1).forgetting(opf.forgetting.clone()).feed_through(true);
    let discounted = DiscountedParams::default().schedule(schedule).alpha(0.99);
    let slip = SlipParams::default().t_init(8).rank(3).horizon(12);
    let spectral = SpectralParams::default().t_init(8).rank(3).horizon(12);
    let gradient = spectral.rule(SpectralRule::Gradient { rate: 0.1, radius: 2.0 });
    let grid = GridParams::default().schedule(schedule).gammas(vec![0.4, 0.9]);
    let season = SeasonParams::default().periods(Periods::Given(vec![2])).horizons(2).detail(Detail::Light);
    let model = StateSpace {
        a: vec![0.9, 0.1, 0.0, 0.5],
        b: Vec::new(),
        c: vec![1.0, 0.0],
        d: Vec::new(),
        q: vec![0.1, 0.0, 0.0, 0.1],
        r: vec![0.2],
    };
    vec![
        ("opf", Opf::new(1, &opf).unwrap().into()),
        ("opf-inputs", Opf::with_inputs(1, &inputs, &opf).unwrap().into()),
        ("discounted", Discounted::new(1, &discounted).unwrap().into()),
        ("slip", Slip::new(1, &slip).unwrap().into()),
        (
            "slip-window",
            WindowedSlip::new(1, &WindowedSlipParams::default().schedule(schedule).rank(2).lambda(1.0)).unwrap().into(),
        ),
        ("spectral", SpectralFilter::new(1, &spectral).unwrap().into()),
        ("spectral-gradient", SpectralFilter::new(1, &gradient).unwrap().into()),
        ("kalman", KalmanPredictor::new(&model).unwrap().into()),
        ("last-value", LastValue::new(1).into()),
        ("extrapolation", LinearExtrapolation::new(1).into()),
        ("forecast-experts", ForecastMixture::grid(1, &grid).unwrap().into()),
        ("season", Seasons::new(1, 1, &season).unwrap().into()),
        ("scaled", scaled(&opf, 9)),
        ("scaled-open", scaled(&opf, 1000)),
        ("guarded", GuardedForecaster::new(scaled(&opf, 9)).unwrap().into()),
    ]
}

/// OPF behind scales, known after so many rows.
fn scaled(opf: &OpfParams, rows: usize) -> AnyForecaster {
    let inner = AnyForecaster::from(Opf::new(1, opf).unwrap());
    ScaledForecaster::new(inner, ScaledParams::default().rows(rows).shared(false)).unwrap().into()
}

fn prediction(mut forecaster: AnyForecaster, observed: usize) -> Prediction {
    teach(&mut forecaster, &rows(observed));
    let inputs = vec!["u".to_owned(); forecaster.inputs()];
    Prediction::new(std::iter::once("y".to_owned()).chain(inputs).collect(), forecaster)
}

/// OPF whose least squares let a row wait for the next.
pub(crate) fn wide(observed: usize) -> Model {
    let schedule = EpochSchedule { beta: 140.0, t_init: 146, max_lags: Some(140) };
    let opf = Opf::new(1, &OpfParams::default().schedule(schedule)).unwrap();
    Model::Prediction(Box::new(prediction(opf.into(), observed)))
}

/// A learner with intervals.
fn with_intervals(scale: IntervalScale, learnt: usize) -> Model {
    let mut model = regression("krls", 0);
    let mut intervals = LearnerIntervals::new(1, IntervalParams::default().coverage(0.8).window(12), scale).unwrap();
    let (mut scratch, mut score, mut reach) = (Scratch::default(), [0.0], [0.0; 2]);
    for (x, y) in &rows(learnt) {
        let target = Target::new(std::slice::from_ref(y));
        intervals.learn(&mut model.task.learner, x, target, &mut scratch, &mut score, &mut reach).unwrap();
    }
    model.task.intervals = Some(intervals);
    Model::Regression(Box::new(model))
}

/// Models that tell how sure they are.
pub(crate) fn sure(learnt: usize) -> Vec<(&'static str, Model)> {
    let params = IntervalParams::default().coverage(0.8).window(12);
    let scales = [IntervalScale::Error, IntervalScale::Deviation, IntervalScale::Sides];
    let mut all: Vec<_> = scales.map(|scale| ("intervals", with_intervals(scale, learnt))).into();
    let schedule = EpochSchedule { beta: 0.7, t_init: 8, max_lags: Some(4) };
    let opf = Opf::new(1, &OpfParams::default().schedule(schedule)).unwrap();
    let mut model = prediction(opf.into(), learnt);
    let mut further = HorizonIntervals::new(1, 4, params).unwrap();
    for (x, y) in &rows(learnt) {
        further.observe(&[*y]).unwrap();
        further.foretell(&[x[0], x[1], 0.5, *y]).unwrap();
    }
    model.further = Some(further);
    all.push(("intervals of several steps", Model::Prediction(Box::new(model))));
    all
}

/// A forecaster in the midst of a series, with all that the command keeps beside it.
fn series(observed: usize) -> Prediction {
    let params = OpfParams::default().schedule(EpochSchedule { beta: 0.7, t_init: 8, max_lags: Some(4) });
    let inputs = InputParams::default().count(1).forgetting(params.forgetting.clone()).feed_through(true);
    let mut model = prediction(Opf::with_inputs(1, &inputs, &params).unwrap().into(), observed);
    let mut intervals = ConformalIntervals::new(1, IntervalParams::default().window(5)).unwrap();
    for (x, y) in &rows(observed) {
        intervals.observe(&[x[0]], &[*y]).unwrap();
    }
    model.inputs = vec![0];
    model.fingerprint = 77;
    model.errors = SeriesErrors { warm_up: 9, scored: observed as u64 / 2, sum: 0.25 };
    model.intervals = Some(intervals);
    model.parameters = vec![("beta".to_owned(), "0.7".to_owned())];
    model
}

/// Two groups of a table, one of which is new.
fn groups(observed: usize) -> GroupPredictions {
    let fresh = series(0);
    let [first, second] = [observed, 0].map(series);
    let seen = RowDigest { rows: observed as u64, fingerprint: 79 };
    let (column, shared) = ("shop".to_owned(), SharedWeights::default());
    let groups = vec![("north".to_owned(), first), ("south".to_owned(), second)];
    GroupPredictions { column, fresh, groups, shared, shared_at: seen.rows / 2, seen }
}

/// Predictions of the series made of these rows.
fn teach(forecaster: &mut AnyForecaster, rows: &[([f64; 2], f64)]) -> Vec<f64> {
    let mut made = [0.0];
    let one = |(x, y): &([f64; 2], f64)| {
        let input = &x[..forecaster.inputs()];
        forecaster.predict_then_observe(input, &[x[0] + y], &mut made).unwrap();
        made[0]
    };
    rows.iter().map(one).collect()
}

/// Sums with all widths, made small: what was learnt before a fork is not in them.
fn sums() -> AnyOperator {
    let params = OperatorSumsParams::default().max_dictionary(4);
    let mut whole = OperatorSums::new(1, 1, params).unwrap();
    for (x, y) in &rows(4096) {
        whole.update(x, &[*y]).unwrap();
    }
    let mut fork = whole.fork().unwrap();
    for (x, y) in &rows(300) {
        fork.update(x, &[*y]).unwrap();
    }
    AnyOperator::Sums(Box::new(fork))
}

fn operators() -> [(&'static str, AnyOperator); 3] {
    let kernel: AnyKernel = "gaussian:0.8".parse().unwrap();
    let params = SogdParams::default().max_dictionary(Some(10));
    let sparse = Sogd::new(kernel.clone(), 2, kernel.clone(), 1, params).unwrap();
    let dense = DenseSogd::new(kernel.clone(), 2, kernel, 1, DenseSogdParams::default()).unwrap();
    let (sparse, dense) = (AnyOperator::Sparse(Box::new(sparse)), AnyOperator::Dense(Box::new(dense)));
    [("sogd", sparse), ("dense-sogd", dense), ("operator-sums", sums())]
}

fn operator(mut learner: AnyOperator, learnt: usize) -> Operator {
    for (x, y) in &rows(learnt) {
        learner.update(x, &[*y]).unwrap();
    }
    Operator::new(Vec::new(), learner)
}

/// An operator on its way, with all that the command keeps beside it.
fn run_of_pairs(learnt: usize) -> Operator {
    let [(_, sparse), ..] = operators();
    let mut model = operator(sparse, learnt);
    model.columns = ["a", "b", "next"].map(str::to_owned).to_vec();
    model.parameters = vec![("eta".to_owned(), "0.3".to_owned())];
    model.fingerprint = 78;
    model
}

/// Every learner of every kind after `learnt` rows, by the name of its file.
pub(crate) fn models(learnt: usize) -> Vec<(&'static str, Model)> {
    let regression =
        |entry: &'static catalogue::Entry| (entry.name, Model::Regression(Box::new(regression(entry.name, learnt))));
    let mut all: Vec<(&'static str, Model)> = catalogue::entries().iter().map(regression).collect();
    let predictions = forecasters().into_iter().map(|(name, new)| (name, prediction(new, learnt)));
    all.extend(predictions.map(|(name, model)| (name, Model::Prediction(Box::new(model)))));
    let operators = operators().into_iter().map(|(name, new)| (name, operator(new, learnt)));
    all.extend(operators.map(|(name, model)| (name, Model::Operator(Box::new(model)))));
    all.push(("series", Model::Prediction(Box::new(series(learnt)))));
    all.push(("groups", Model::GroupPredictions(Box::new(groups(learnt)))));
    all.push(("operator", Model::Operator(Box::new(run_of_pairs(learnt)))));
    all.push(("classes", Model::Classification(Box::new(classification(learnt)))));
    all.push(("experts-share", Model::Regression(Box::new(sharing(learnt)))));
    // One feature, since the file of two is large.
    all.push(("auto-window", Model::Regression(Box::new(windowed("budget=26800", 1, learnt.min(16))))));
    all.push(("intervals", with_intervals(IntervalScale::Error, learnt)));
    all.push(("intervals-local", with_intervals(IntervalScale::Deviation, learnt)));
    all.push(("intervals-sides", with_intervals(IntervalScale::Sides, learnt)));
    all.push(("targets", Model::Regression(Box::new(vector(learnt)))));
    all.push(("table", Model::Regression(Box::new(table(learnt)))));
    all.push(("table-groups", Model::Regression(grouped(table(learnt)))));
    all.push(("class-table-groups", Model::Classification(grouped(class_table(learnt)))));
    let taylor = "learner=pkawv-taylor kernel=gaussian:0.9 lambda=0.3";
    all.push(("moments", Model::Moments(Box::new(moments(taylor, learnt)))));
    let fourier = "learner=pkrr-fourier kernel=gaussian:0.9 lambda=0.3 features=9 seed=4";
    all.push(("moments-fourier", Model::Moments(Box::new(moments(fourier, learnt)))));
    all.push(("moments-classes", Model::Moments(Box::new(class_moments(learnt)))));
    all.push(("moments-table", Model::Moments(Box::new(table_moments(learnt)))));
    all.push(("class-table", Model::Classification(Box::new(class_table(learnt)))));
    all
}

/// Predictions of the model for these rows while it goes on learning them.
pub(crate) fn go_on(model: &mut Model, rows: &[([f64; 2], f64)]) -> Vec<f64> {
    match model {
        Model::Classification(model) => {
            let Tabular { encoding, task: Classes { classifier, .. }, .. } = &mut **model;
            let one = |(t, row): (usize, &([f64; 2], f64))| {
                let class = class_of(t, row).min(classifier.classes());
                let mut score = f64::NAN;
                let observe = |_: usize, _: &Classifier<_>, scores: &[f64]| score = scores.iter().sum();
                let inputs = inputs(encoding.as_ref(), t, &row.0);
                classifier.learn_rows(&inputs, &[class], &[], observe).unwrap();
                encoding.iter_mut().for_each(|encoding| encoding.learn(&record(t, &row.0)).unwrap());
                score
            };
            rows.iter().enumerate().map(one).collect()
        }
        Model::Regression(model) if model.encoding.is_some() => {
            let Tabular { encoding, task: Numbers { learner, .. }, .. } = &mut **model;
            let one = |(t, (x, y)): (usize, &([f64; 2], f64))| {
                let made = learner.predict_then_update(&inputs(encoding.as_ref(), t, x), *y).unwrap();
                encoding.iter_mut().for_each(|encoding| encoding.learn(&record(t, x)).unwrap());
                made
            };
            rows.iter().enumerate().map(one).collect()
        }
        Model::Moments(model) if model.classes.is_some() => {
            let one = |(t, row): (usize, &([f64; 2], f64))| {
                let made = model.fit_classes().unwrap().task.classifier;
                let mut scores = Vec::new();
                made.scores_with(&row.0, &mut Scratch::default(), &mut scores).unwrap();
                model.add_label(&row.0, ["red", "dark, blue", "3"][class_of(t, row)], 1.0).unwrap();
                scores.last().map_or(0.0, |last| scores[0] - 2.0 * last)
            };
            rows.iter().enumerate().map(one).collect()
        }
        Model::Moments(model) if model.encoding.is_some() => {
            let one = |(t, (x, y)): (usize, &([f64; 2], f64))| {
                let made = model.fit().unwrap();
                let numbers = inputs(made.encoding.as_ref(), t, x);
                model.sums.add(&numbers, *y).unwrap();
                made.task.learner.predict(&numbers).unwrap()
            };
            rows.iter().enumerate().map(one).collect()
        }
        Model::Moments(model) => {
            let one = |(x, y): &([f64; 2], f64)| {
                let made = model.fit().unwrap().task.learner;
                let mut scores = [0.0; 2];
                made.predict_into(x, &mut Scratch::default(), &mut scores).unwrap();
                model.sums.add_target(x, Target::new(&[*y, x[0]])).unwrap();
                scores[0] + scores[1]
            };
            rows.iter().map(one).collect()
        }
        Model::Regression(model) if model.outputs() == 2 => {
            let one = |(x, y): &([f64; 2], f64)| {
                let mut made = [0.0; 2];
                model.task.learner.learn(x, Target::new(&[*y, x[0]]), &mut made).unwrap();
                made[0] + made[1]
            };
            rows.iter().map(one).collect()
        }
        Model::Regression(model) => {
            let learner = &mut model.task.learner;
            let features = learner.dimension();
            let one = |(x, y): &([f64; 2], f64)| {
                let y = target(learner.learner(), *y);
                learner.predict_then_update(&x[..features], y).unwrap()
            };
            rows.iter().map(one).collect()
        }
        Model::Prediction(model) => teach(&mut model.forecaster, rows),
        Model::GroupPredictions(model) => teach(&mut model.groups[0].1.forecaster, rows),
        Model::Operator(model) => {
            let learner = &mut model.learner;
            let one = |(x, y): &([f64; 2], f64)| {
                let forecast = |model: OperatorModel| model.forecast(x, &[], 1).unwrap()[0][0];
                let made = match learner.descent() {
                    Some(descent) => descent.operator().embedding(x).unwrap().iter().sum(),
                    None => learner.sums().unwrap().model(3, 1).map_or(0.0, forecast),
                };
                learner.update(x, &[*y]).unwrap();
                made
            };
            rows.iter().map(one).collect()
        }
        _ => panic!("a kind without subjects"),
    }
}
