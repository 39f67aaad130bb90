//! Few atoms suffice: loss against the number of features or points (section 4's remark on `r`).
//!
//! PKAWV on Taylor features of rising degree, PKAWV-Nyström with falling `μ`, and FOGD with rising
//! `D` on the same streams, beside Kernel-AWV, which keeps all points. `r` is the number of
//! coordinates: `C(d + M, M)`, `J` and `2D`.

use mercer_kernels::{Gaussian, TaylorFeatures};
use mercer_learners::{
    Fogd, FogdParams, KernelAwv, KernelRidgeParams, NystromParams, PkawvNystrom, PkawvTaylor, Regressor, RegressorExt,
    Score, TaylorParams,
};
use mercer_readers::{Dataset, Ranges, Scaling, Scheme};

use super::methods::LAMBDA;
use crate::prelude::*;

const DATA_SETS: [&str; 3] = ["casp", "cod_rna_train", "diamonds"];

const DEGREES: [usize; 6] = [1, 2, 3, 4, 5, 6];

/// Most Taylor features.
const MOST_FEATURES: u128 = 1500;

const MUS: [f64; 6] = [300.0, 100.0, 30.0, 10.0, 3.0, 1.0];

const FREQUENCIES: [usize; 5] = [10, 30, 100, 300, 1000];

/// How much more than the loss of Kernel-AWV counts as enough.
const ENOUGH: f64 = 1.05;

const SIGMA: f64 = 1.0;

/// A learner of some size.
#[derive(Clone, Copy, Debug, PartialEq)]
enum AtomsSetting {
    Taylor(usize),
    Nystrom(f64),
    Fogd(usize),
    Whole,
}

impl AtomsSetting {
    const NAMES: [&str; 3] = ["PKAWV-Taylor", "PKAWV-Nyström", "FOGD"];

    fn all(d: usize) -> Vec<Self> {
        let degrees = DEGREES.into_iter().filter(|degree| TaylorFeatures::count(d, *degree) <= MOST_FEATURES);
        let mut all: Vec<Self> = degrees.map(Self::Taylor).collect();
        all.extend(MUS.map(Self::Nystrom));
        all.extend(FREQUENCIES.map(Self::Fogd));
        all.push(Self::Whole);
        all
    }

    fn name(self) -> &'static str {
        match self {
            Self::Taylor(_) => Self::NAMES[0],
            Self::Nystrom(_) => Self::NAMES[1],
            Self::Fogd(_) => Self::NAMES[2],
            Self::Whole => "Kernel-AWV",
        }
    }

    fn words(self) -> String {
        match self {
            Self::Taylor(degree) => format!("M = {degree}"),
            Self::Nystrom(mu) => format!("μ = {mu}"),
            Self::Fogd(features) => format!("D = {features}"),
            Self::Whole => "all points".into(),
        }
    }

    fn build(self, d: usize, rounds: usize, seed: u64) -> Result<Box<dyn Regressor>> {
        let kernel = Gaussian::new(SIGMA)?;
        Ok(match self {
            Self::Taylor(degree) => {
                let params = TaylorParams::default().sigma(SIGMA).degree(degree).lambda(LAMBDA);
                Box::new(PkawvTaylor::new(d, params)?)
            }
            Self::Nystrom(mu) => {
                let params = NystromParams::default().lambda(LAMBDA).mu(mu).beta(1.0).epsilon(0.5).seed(seed);
                Box::new(PkawvNystrom::new(kernel, d, params)?)
            }
            Self::Fogd(features) => {
                let step = 1.0 / (rounds as f64).sqrt();
                Box::new(Fogd::new(d, FogdParams::default().sigma(SIGMA).features(features).step(step).seed(seed))?)
            }
            Self::Whole => Box::new(KernelAwv::new(kernel, d, KernelRidgeParams::default().lambda(LAMBDA))?),
        })
    }
}

#[derive(Clone, Copy, Debug)]
struct AtomsResult {
    coordinates: f64,
    loss: f64,
    error_rate: Option<f64>,
}

fn pass(setting: AtomsSetting, table: &Dataset, seed: u64) -> Result<AtomsResult> {
    let mut learner = setting.build(table.dimension(), table.len(), seed)?;
    let (mut predictions, mut score) = (Vec::with_capacity(table.len()), Score::default());
    learner.learn_block(table.features(), table.targets(), &mut predictions)?;
    predictions.iter().zip(table.targets()).for_each(|(prediction, y)| score.record(*prediction, *y));
    let size = learner.dictionary_size() as f64;
    let coordinates = if matches!(setting, AtomsSetting::Fogd(_)) { 2.0 * size } else { size };
    Ok(AtomsResult { coordinates, loss: score.mse(), error_rate: score.error_rate() })
}

pub(super) fn run(plan: &Plan) -> Result<Report> {
    let rows = plan.size_or(2500, 10_000);
    let repetitions = plan.repetitions_or(1, 3);
    let (there, missing): (Vec<&str>, Vec<&str>) = DATA_SETS.iter().partition(|name| plan.registry.is_available(name));
    let mut tables = Vec::new();
    for name in &there {
        let mut table = plan.registry.open(name)?;
        Scaling::new(Ranges::of(&table), Scheme::PAPER11).apply(&mut table)?;
        tables.push(table);
    }
    let mut jobs = Vec::new();
    for (index, table) in tables.iter().enumerate() {
        for setting in AtomsSetting::all(table.dimension()) {
            for repetition in 0..repetitions {
                let name = format!("atoms / {} / {setting:?} / {}", there[index], repetition + 1);
                jobs.push(Job::new(name, plan.seed, 1, (index, setting, repetition)));
            }
        }
    }
    let outcomes = plan.run(&jobs, |job, bar| {
        let (index, setting, repetition) = job.input;
        let mut table =
            tables[index].permuted(seed_of(plan.seed, &format!("{} / permutation {}", there[index], repetition + 1)));
        table.truncate(rows);
        let outcome = pass(setting, &table, job.seed);
        bar.advance(1);
        outcome
    })?;

    let mut report = Report::new("Few atoms suffice: loss against the number of coordinates");
    report.words(format!("n = {rows}, {repetitions} permutations. {INTRODUCTION}"));
    if !missing.is_empty() {
        report.words(format!("Not on this machine: {}.", missing.join(", ")));
    }
    let mut table = Table::with(
        "stream | learner | setting | r .0 | average loss ~4 | error rate ~3 | \
             over Kernel-AWV's loss .3",
    );
    let mut few = Table::with("stream | n #");
    for name in AtomsSetting::NAMES {
        few = few.numbers(name, Format::Decimals(0));
    }
    let mut panels = Panels::new("Average loss against the number of coordinates", 3);
    for (index, stream) in there.iter().enumerate() {
        let of = |setting: AtomsSetting| -> Vec<AtomsResult> {
            let own = jobs.iter().zip(&outcomes).filter(|(job, _)| job.input.0 == index && job.input.1 == setting);
            own.map(|(_, outcome)| *outcome).collect()
        };
        let average =
            |all: &[AtomsResult], value: fn(&AtomsResult) -> f64| mean(&all.iter().map(value).collect::<Vec<_>>());
        let floor = average(&of(AtomsSetting::Whole), |outcome| outcome.loss);
        let mut figure = Figure::new(*stream).x_label("coordinates r").y_label("average loss").log_x().log_y();
        let mut curves: Vec<(Vec<f64>, Vec<f64>)> = vec![Default::default(); AtomsSetting::NAMES.len()];
        for setting in AtomsSetting::all(tables[index].dimension()) {
            let own = of(setting);
            let (size, loss) = (average(&own, |outcome| outcome.coordinates), average(&own, |outcome| outcome.loss));
            let rates: Vec<f64> = own.iter().filter_map(|outcome| outcome.error_rate).collect();
            table.push(row![
                *stream,
                setting.name(),
                setting.words(),
                size,
                loss,
                if rates.is_empty() { Cell::Empty } else { mean(&rates).into() },
                loss / floor
            ])?;
            if let Some(place) = AtomsSetting::NAMES.iter().position(|name| *name == setting.name()) {
                curves[place].0.push(size);
                curves[place].1.push(loss);
            }
        }
        let mut row = vec![(*stream).into(), rows.min(tables[index].len()).into()];
        for (name, (sizes, losses)) in AtomsSetting::NAMES.iter().zip(&curves) {
            figure = figure.line(*name, sizes, losses);
            let enough = sizes.iter().zip(losses).filter(|(_, loss)| **loss <= ENOUGH * floor).map(|(size, _)| *size);
            row.push(enough.reduce(f64::min).into());
        }
        few.push(row)?;
        let most = curves.iter().flat_map(|(sizes, _)| sizes.iter().copied()).fold(1.0, f64::max);
        let least = curves.iter().flat_map(|(sizes, _)| sizes.iter().copied()).fold(most, f64::min);
        panels = panels.panel(figure.dashed("Kernel-AWV", &[least, most], &[floor, floor]));
    }
    report.table("atoms_enough", "The fewest coordinates tried whose loss is within 5% of Kernel-AWV's", few);
    report.table("atoms", "Every size", table);
    report.picture("atoms", "Average loss against the number of coordinates; dashed: Kernel-AWV, all points", panels);
    Ok(report)
}

const INTRODUCTION: &str = "σ = 1, λ = 1, inputs and targets scaled to [−1, 1]; KORS β = 1, ε = ½; FOGD η = 1/√n. \
r = C(d + M, M) for Taylor features, J for dictionaries, 2D for FOGD. A dash: no size that was tried is enough.";
