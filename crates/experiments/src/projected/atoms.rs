//! Few atoms suffice: loss against the number of features or points (section 4's remark on `r`).
//!
//! PKAWV on Taylor features of rising degree, PKAWV-Nyström with falling `μ`, and FOGD with rising
//! `D` on the same streams, beside Kernel-AWV, which keeps all points. `r` is the number of
//! coordinates: `C(d + M, M)`, `J` and `2D`.

use mercer_kernels::{Gaussian, TaylorFeatures};
use mercer_learners::{KernelAwv, KernelRidgeParams, PkawvNystrom, Regressor, RegressorExt, Score};
use mercer_readers::{Dataset, Ranges, Scaling, Scheme};

use super::methods::{LAMBDA, MOST_BYTES};
use crate::learners::{fogd, nystrom, taylor};
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
            Self::Taylor(degree) => Box::new(taylor(d, SIGMA, degree, LAMBDA, MOST_BYTES)?),
            Self::Nystrom(mu) => Box::new(PkawvNystrom::new(kernel, d, nystrom(LAMBDA, mu, seed))?),
            Self::Fogd(features) => Box::new(fogd(d, SIGMA, features, 1.0, rounds, seed)?),
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
    let (there, missing) = plan.available(&DATA_SETS, |name| name);
    let mut tables = Vec::new();
    for name in &there {
        let mut table = plan.registry.open(name)?;
        Scaling::new(Ranges::of(&table), Scheme::PAPER11).apply(&mut table)?;
        tables.push(table);
    }
    let settings = |index: usize| AtomsSetting::all(tables[index].dimension()).into_iter();
    let inputs = (0..tables.len()).flat_map(|index| {
        settings(index).flat_map(move |setting| (0..repetitions).map(move |repetition| (index, setting, repetition)))
    });
    let name = |(index, setting, repetition): &(usize, AtomsSetting, usize)| {
        format!("atoms / {} / {setting:?} / {}", there[*index], repetition + 1)
    };
    let outcomes = plan.each(inputs, name, |(index, setting, repetition), seed| {
        let permutation = seed_of(plan.seed, &format!("{} / permutation {}", there[*index], repetition + 1));
        let mut table = tables[*index].permuted(permutation);
        table.truncate(rows);
        pass(*setting, &table, seed)
    })?;

    let mut report = Report::new("Few atoms suffice: loss against the number of coordinates");
    report.words(format!("n = {rows}, {repetitions} permutations. {INTRODUCTION}"));
    report.absent(&missing);
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
        let of = |setting: AtomsSetting| outcomes.of(|(i, own, _)| *i == index && *own == setting);
        let floor = mean_of(of(AtomsSetting::Whole), |outcome| outcome.loss);
        let mut figure = Figure::new(*stream).x_label("coordinates r").y_label("average loss").log_x().log_y();
        let mut curves: Vec<(Vec<f64>, Vec<f64>)> = vec![Default::default(); AtomsSetting::NAMES.len()];
        for setting in settings(index) {
            let own = of(setting);
            let (size, loss) = (mean_of(&own, |outcome| outcome.coordinates), mean_of(&own, |outcome| outcome.loss));
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
