//! Mistakes of classifiers on a budget against that budget, in one pass over a random order.
//!
//! The perceptron and PA have no budget and are flat lines. Inputs are scaled to `[−1, 1]` but
//! where the file is scaled already. Sets that are not on this machine are left out; the bundled
//! one (is a diamond dearer than the median?) always runs.

use mercer_datasets::Registry;
use mercer_learners::catalogue::Context;
use mercer_readers::{Dataset, Ranges, Scaling, Scheme};

use super::methods::FilterMethod;
use super::pass::{mistakes, small_multiples};
use crate::prelude::*;

/// The budgets.
const BUDGETS: [usize; 5] = [25, 50, 100, 200, 400];
/// Rows of the reduced and of the full run.
const ROWS: [usize; 2] = [5000, 50_000];

/// The classifiers, those without a budget first.
const METHODS: [FilterMethod; 9] = [
    FilterMethod::new("perceptron", &[]),
    FilterMethod::new("pa", &[]),
    FilterMethod::new("rbp", &[]),
    FilterMethod::new("forgetron", &[]),
    FilterMethod::new("projectron", &[]),
    FilterMethod::new("projectron++", &[]),
    FilterMethod::new("bpa-s", &[]),
    FilterMethod::new("bogd", &[]),
    FilterMethod::new("pegasos", &[]),
];

/// A data set and how it is learnt.
#[derive(Clone, Copy)]
struct MistakeSet {
    name: &'static str,
    scaled: bool,
    width: f64,
}

const SETS: [MistakeSet; 5] = [
    MistakeSet { name: "ijcnn1", scaled: false, width: 0.5 },
    MistakeSet { name: "cod_rna", scaled: true, width: 0.5 },
    MistakeSet { name: "susy_11k_low8", scaled: true, width: 1.0 },
    MistakeSet { name: "susy", scaled: true, width: 1.0 },
    MistakeSet { name: "diamonds", scaled: true, width: 0.5 },
];

impl MistakeSet {
    fn load(&self, registry: &Registry) -> Result<Dataset> {
        let mut table = registry.open(self.name)?;
        if !table.is_binary() {
            let middle = median(table.targets());
            let labels = table.targets().iter().map(|y| if *y > middle { 1.0 } else { -1.0 }).collect();
            table = Dataset::new(self.name, table.dimension(), table.features().to_vec(), labels)?;
        }
        if self.scaled {
            let targets = table.targets().to_vec();
            Scaling::new(Ranges::from_table(&table), Scheme::PAPER11).apply(&mut table)?;
            table = Dataset::new(self.name, table.dimension(), table.features().to_vec(), targets)?;
        }
        Ok(table)
    }
}

/// The place of a set, a method, a budget (`None` for those that have none) and a repetition.
type MistakeTask = (usize, FilterMethod, Option<usize>, usize);

pub(super) fn run(plan: &Plan) -> Result<Report> {
    let rows = plan.size.unwrap_or(ROWS[usize::from(plan.full)]);
    let repetitions = plan.repetitions_or(1, 3);
    let (there, missing) = plan.available(&SETS, |set| set.name);
    let tables: Vec<Dataset> = there.iter().map(|set| set.load(&plan.registry)).collect::<Result<_, _>>()?;
    let budgets_of = |method: &FilterMethod| -> Vec<Option<usize>> {
        if method.budget_key().is_some() { BUDGETS.map(Some).to_vec() } else { vec![None] }
    };
    let methods = (0..tables.len()).flat_map(|set| METHODS.map(|method| (set, method)));
    let tasks = methods.flat_map(|(set, method)| {
        budgets_of(&method).into_iter().flat_map(move |budget| (0..repetitions).map(move |i| (set, method, budget, i)))
    });
    let name = |(set, method, budget, repetition): &MistakeTask| {
        format!("filters_mistakes / {} / {} / {budget:?} / {}", there[*set].name, method.shown, repetition + 1)
    };
    let rates = plan.each(tasks, name, |(set, method, budget, repetition), own| {
        let seed = seed_of(plan.seed, &format!("{} / permutation {}", there[*set].name, repetition + 1));
        let mut table = tables[*set].permuted(seed);
        table.truncate(rows);
        let context = Context { dimension: table.dimension(), seed: own, classes: true, ..Context::default() };
        mistakes(&mut method.build(there[*set].width, budget.unwrap_or(usize::MAX), &context)?, &table)
    })?;

    let mut table = Table::with("data set | classifier | budget .0 | mistakes, % .2");
    let (mut panels, mut claims, mut gallery) = (Panels::new("", 2), Claims::new(), Vec::new());
    let xs = BUDGETS.map(|budget| budget as f64);
    for (set, data) in tables.iter().enumerate() {
        let axes = |title: &str| Figure::new(title).x_label("budget").y_label("mistakes, %").log_x();
        let mut figure = axes(there[set].name);
        let (mut falls, mut curves) = (Vec::new(), Vec::new());
        for method in &METHODS {
            let mut ys = Vec::new();
            for budget in budgets_of(method) {
                let own = rates.outcomes_where(|(of, by, most, _)| (*of, by, *most) == (set, method, budget));
                let rates = all_of(own, |rate| 100.0 * rate);
                table.push(row![there[set].name, method.shown, budget, Summary::from_samples(&rates)])?;
                ys.push(mean(&rates));
            }
            if let [flat] = ys[..] {
                ys.resize(BUDGETS.len(), flat);
            } else {
                falls.push((method.shown, ys[0], ys[BUDGETS.len() - 1]));
            }
            figure = figure.line(method.shown, &xs, &ys);
            curves.push((method.shown, ys));
        }
        panels = panels.panel(figure);
        let most = curves.iter().flat_map(|(_, ys)| ys.iter().copied()).fold(0.0, f64::max);
        let words = ("this classifier", "the fewest of all");
        gallery.push((there[set].name, small_multiples(Panels::new("", 3), &curves, words, &xs, most, axes)));
        judge(&mut claims, there[set].name, data, &falls)?;
    }

    let mut report = Report::new("Classifiers: mistakes against the budget");
    report.words(format!(
        "At most {rows} rows in a random order, {repetitions} of them; a mistake is a sign that was predicted wrong before it was learnt. A \
         Gaussian of width 0.5 (SUSY: 1); settings are the defaults, and no paper prints these numbers."
    ));
    report.table("filters_mistakes_claims", "What budgets cost (statements of this project)", claims.table());
    report.table("filters_mistakes", "Mistakes in percent of the rows", table);
    report.picture("filters_mistakes", "Mistakes against the budget", panels);
    for (name, small) in gallery {
        let caption = format!("One classifier a panel on {name}, and the fewest mistakes of all (dashed)");
        report.picture(format!("filters_mistakes_gallery_{name}"), caption, small);
    }
    for set in missing {
        let page = plan.registry.find(set.name).map_or("", |entry| entry.page.as_str());
        report.not_run(
            ComparisonKind::Claim,
            2,
            set.name,
            format!("The data set was not found on this machine; its page: {page}"),
        );
    }
    Ok(report)
}

/// Statements on the mistakes at the smallest and at the largest budget.
fn judge(claims: &mut Claims, name: &str, data: &Dataset, falls: &[(&str, f64, f64)]) -> Result<()> {
    let rising: Vec<&str> = falls.iter().filter(|(_, small, large)| large > small).map(|(name, ..)| *name).collect();
    claims.ours(
        format!("{name}: every classifier makes fewer mistakes with {} points than with {}", BUDGETS[4], BUDGETS[0]),
        if rising.is_empty() { "all of them".to_owned() } else { format!("not {}", rising.join(", ")) },
        rising.is_empty(),
    )?;
    let positive = data.targets().iter().filter(|y| **y > 0.0).count() as f64 / data.len() as f64;
    let constant = 100.0 * positive.min(1.0 - positive);
    let best = falls.iter().min_by(|a, b| a.2.total_cmp(&b.2)).map_or(("none", f64::NAN), |best| (best.0, best.2));
    claims.ours(
        format!("{name}: the best with {} points beats the more frequent class", BUDGETS[4]),
        format!("{}% ({}) against {}%", short(best.1), best.0, short(constant)),
        best.1 < constant,
    )
}
