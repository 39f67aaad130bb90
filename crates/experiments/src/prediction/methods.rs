//! E.1: all methods on a system whose closed-loop predictor forgets slowly (ρ = 0.7783).
//!
//! OPF for several γ (1 is the algorithm of Tsiamis and Pappas), SLIP over the whole past and over
//! OPF's window for several ranks k, which the paper leaves open, spectral filtering for the same
//! ranks, sample discounting, the experts, and two floors. A best rank at the end of the ranks
//! tried is said to be there, for more (or fewer) filters might do better.

use mercer_streams::LinearSystem;

use super::forecasters::ForecastMethod;
use super::summary::{Curves, ReferenceRegret, axis, smaller_in};
use super::trial::{SystemModel, trials};
use super::{E_1, E_1_EPOCHS, horizon};
use crate::prelude::*;

const GAMMAS: [f64; 8] = [0.2, 0.3, 0.4, 0.45, 0.5, 0.6, 0.7, 0.9];
/// Ranks k of all filters: those of the papers' size, and fewer.
const RANKS: [usize; 10] = [3, 4, 5, 6, 7, 8, 9, 10, 15, 20];
const FEW_RANKS: [usize; 4] = [3, 6, 10, 20];

/// Reference means at N = 4000, as in [`forgetting`](super::forgetting).
const REFERENCES: &[ReferenceRegret] = &[
    ReferenceRegret { method: "OPF, γ = ρ", mean: 6.2, unit: 1e4, decimals: 1 },
    ReferenceRegret { method: "OPF, γ = 1", mean: 1.2, unit: 1e5, decimals: 1 },
];

fn methods(radius: f64, ranks: &[usize]) -> Vec<(String, ForecastMethod)> {
    let mut methods: Vec<(String, ForecastMethod)> = vec![("OPF, γ = ρ".into(), ForecastMethod::Opf(radius))];
    methods.extend(GAMMAS.iter().map(|&gamma| (format!("OPF, γ = {gamma}"), ForecastMethod::Opf(gamma))));
    methods.push(("OPF, γ = 1".into(), ForecastMethod::Opf(1.0)));
    methods.push(("Experts".into(), ForecastMethod::Experts));
    let each = |kind: &str, method: fn(usize) -> ForecastMethod| -> Vec<(String, ForecastMethod)> {
        ranks.iter().map(|&rank| (format!("{kind}, k = {rank}"), method(rank))).collect()
    };
    methods.extend(each("SLIP", ForecastMethod::Slip));
    methods.extend(each("windowed SLIP", ForecastMethod::WindowedSlip));
    methods.extend(each("spectral filtering", ForecastMethod::Spectral));
    methods.push((
        "discounted, α = 0.999".into(),
        ForecastMethod::Discounted { alpha: 0.999, discount_regulariser: true },
    ));
    methods.push(("linear extrapolation".into(), ForecastMethod::LinearExtrapolation));
    methods.push(("last value".into(), ForecastMethod::LastValue));
    methods
}

pub(super) fn run(plan: &Plan) -> Result<Report> {
    let epochs = plan.size.unwrap_or(E_1_EPOCHS);
    let model = SystemModel::new(LinearSystem::slow_decay())?;
    let last = horizon(&E_1, epochs);
    let ranks = if plan.full { &RANKS[..] } else { &FEW_RANKS };
    let methods = methods(model.radius(), ranks);
    let marks = log_spaced(E_1.first_start() * 6 / 5, last, 50);
    let seeds = plan.repetitions_or(6, 50);
    let curves = trials(plan, &model, last, seeds, "opf_methods", |trial| {
        let curve = |(_, method): &(String, ForecastMethod)| {
            trial.regret(&mut method.build(trial.dimension(), E_1, last)?, E_1.first_start(), &marks)
        };
        methods.iter().map(curve).collect::<Result<Vec<_>>>()
    })?;
    let curves = Curves { names: methods.into_iter().map(|(name, _)| name).collect(), marks, seeds: curves };
    MethodRuns { radius: model.radius(), last, curves }.report(epochs == E_1_EPOCHS)
}

struct MethodRuns {
    radius: f64,
    last: usize,
    curves: Curves,
}

impl MethodRuns {
    /// The best of a kind of filter, its mean regret, and where among the ranks it stands.
    fn best_rank(&self, kind: &str) -> (f64, String) {
        let (index, regret) = self.curves.best(kind);
        let name = &self.curves.names[index];
        let own: Vec<&String> = self.curves.names.iter().filter(|name| name.starts_with(kind)).collect();
        let edge = if own.first() == Some(&name) {
            ", the fewest tried"
        } else if own.last() == Some(&name) {
            ", the most tried"
        } else {
            ""
        };
        (regret, format!("{name}{edge}"))
    }

    fn report(&self, whole: bool) -> Result<Report> {
        let mut report = Report::new("OPF, E.1: all methods on a slowly forgetting system");
        report.words(format!(
            "N = {}, {} seeds, ρ(A − LC) = {:.4}; bands are one standard error. SLIP and spectral filters run over the whole past, \
             windowed SLIP over OPF's window; k is their number of filters. Spectral filtering has the last output beside its filters, as in \
             its paper, but learns by ridge regression and not by gradients, which do not follow a series that grows.",
            self.last,
            self.curves.seeds.len(),
            self.radius
        ));
        let claims = self.claims()?;
        report.differs_where(&claims, "OPF and the filters", FILTERS);
        report.table("opf_methods_claims", "What the paper says of E.1, and what this project promises", claims);
        let table = self.curves.table(REFERENCES, whole)?;
        report.table("opf_methods", format!("Regret at N = {}, mean ± standard deviation", self.last), table);
        report.picture("opf_methods", "Regret against time, the best rank of each kind", self.picture());
        Ok(report)
    }

    fn claims(&self) -> Result<Table> {
        let mut claims = Claims::new();
        // 0.78 is printed.
        let is_printed = (self.radius - 0.78).abs() < 0.005;
        let printed = Judgement::either(ComparisonKind::Printed, is_printed, "reproduced", "differs");
        claims.judge("The predictor's radius is 0.78", format!("{:.4}", self.radius), printed)?;
        let balanced = self.curves.named_finals("OPF, γ = ρ");
        let plain = self.curves.named_finals("OPF, γ = 1");
        let (smaller, of) = smaller_in(&balanced, &plain);
        claims.of_paper(
            "OPF (γ = ρ) beats γ = 1",
            format!("{} against {}; smaller in {of}", short(mean(&balanced)), short(mean(&plain))),
            smaller == balanced.len(),
        )?;
        let kinds = [
            ("SLIP over the whole past", "SLIP"),
            ("spectral filtering", "spectral"),
            ("SLIP over a window", "windowed"),
        ];
        let mut filters = (f64::INFINITY, String::new());
        for (kind, beginning) in kinds {
            let (regret, name) = self.best_rank(beginning);
            claims.of_paper(
                format!("OPF (γ = ρ) beats {kind} at its best rank"),
                format!("{} against {} ({name})", short(mean(&balanced)), short(regret)),
                mean(&balanced) < regret,
            )?;
            if regret < filters.0 {
                filters = (regret, name);
            }
        }
        let (best, least) = self.curves.best("OPF");
        claims.ours(
            "A γ below ρ is better still",
            format!("{} ({}) against {}", short(least), self.curves.names[best], short(mean(&balanced))),
            least < mean(&balanced),
        )?;
        let experts = mean(&self.curves.named_finals("Experts"));
        claims.ours(
            "The expert grid has at most 1.15 times the regret of the best γ in hindsight",
            format!("{} times {}", short(experts / least), short(least)),
            experts <= 1.15 * least,
        )?;
        claims.observe(
            "The expert grid against the best filter of all, its rank known in hindsight",
            format!("{} against {} ({})", short(experts), short(filters.0), filters.1),
            if experts < filters.0 { "fewer" } else { "more" },
        )?;
        Ok(claims.table())
    }

    fn picture(&self) -> Panels {
        let xs = axis(&self.curves.marks);
        let draw = |title: &str, methods: &[usize]| {
            let figure = Figure::new(title).x_label("N").y_label("regret").log_x().log_y();
            methods.iter().fold(figure, |figure, &i| {
                let name = self.curves.names[i].as_str();
                self.curves.band(name).draw(figure, name, &xs)
            })
        };
        let named = |names: &[&str]| names.iter().map(|name| self.curves.find(name)).collect::<Vec<usize>>();
        let mut own = named(&["OPF, γ = ρ", "OPF, γ = 1"]);
        own.push(self.curves.best("OPF").0);
        // The experts lie upon the best line, so that they are dashed. The floors stand in the
        // table.
        let experts = self.curves.band("Experts").mean;
        let mut others = named(&["OPF, γ = ρ", "OPF, γ = 1"]);
        others.extend(["SLIP", "windowed", "spectral"].map(|kind| self.curves.best(kind).0));
        others.extend(named(&["discounted, α = 0.999"]));
        let own = draw("forgetting", &own).dashed("Experts", &xs, &experts);
        Panels::new("", 2).panel(own).panel(draw("comparators", &others))
    }
}

const FILTERS: &str = "Against the filters at their best rank, OPF with γ = ρ does not win on every count: ridge regression on a few filters \
has fewer coefficients to learn than OPF's window of outputs. Their rank matters as much as γ does to OPF, and the paper names none; OPF's own best \
γ lies below ρ, and the expert grid, which needs not know it, is compared with the best filter in the table's last line.";
