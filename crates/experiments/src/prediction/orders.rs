//! Table 1, Figure 6 and D.2: the order of the regret in log N, and how far below ρ a γ may go.
//!
//! Figure 6 divides the regret by log N, log² N and log³ N. D.2 argues that the regret stays
//! sublinear down to a margin below ρ: the regularisation factor may grow like
//! `(ρ/γ)^{2p} = N^{2β ln(ρ/γ)}`, which is of lower order than N for γ > ρ e^{−1/(2β)}. D.2 itself
//! prints ρ e^{−1/β}, which is lower: its own inequality has the square that is dropped on the way.
//! Both are judged. Measured here: the exponents of the factor and of the regret over the last
//! three epochs.

use mercer_streams::LinearSystem;

use super::decomposition::decompose;
use super::forecasters::opf;
use super::summary::{axis, band as band_of};
use super::trial::{SystemModel, trials};
use super::{LAMBDA, SECTION_5, horizon};
use crate::prelude::*;

/// γ/ρ of the margin's sweep; 1/ρ is γ = 1.
const SHARES: [f64; 8] = [1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3];

/// Rows of Table 1 of the paper.
const PRINTED: [(&str, &str, &str, &str); 6] = [
    ("Hazan et al. 2017", "Õ(√N)", "no", "no"),
    ("Kozdoba et al. 2019", "Õ(√N + εN)", "no", "no"),
    ("Li et al. 2024", "Õ(√N)", "no", "no"),
    ("Rashidinejad et al. 2020 (SLIP)", "O(log¹¹ N)", "yes", "no"),
    ("Tsiamis and Pappas 2023 (γ = 1)", "O(log⁶ N)", "yes", "no"),
    ("OPF", "O(log³ N)", "yes", "yes"),
];

/// Results of one seed: regret curves of γ = ρ, γ = 1 and the shares; regularisation factors of the
/// shares at the ends of the epochs.
struct OrderResult {
    regret: Vec<Vec<f64>>,
    factors: Vec<Vec<f64>>,
}

pub(super) fn run(plan: &Plan) -> Result<Report> {
    let epochs = plan.size_or(8, 10);
    let model = SystemModel::new(LinearSystem::tracking())?;
    let last = horizon(&SECTION_5, epochs);
    let mut marks = log_spaced(SECTION_5.first_start() + 1, last, 60);
    let ends: Vec<usize> = (epochs - 3..=epochs).map(|epoch| horizon(&SECTION_5, epoch)).collect();
    marks.extend(&ends);
    marks.sort_unstable();
    marks.dedup();
    let gammas: Vec<f64> = [1.0].into_iter().chain(SHARES.map(|share| share * model.radius())).collect();
    let seeds = plan.repetitions_or(6, 50);
    let results = trials(plan, &model, last, seeds, "opf_orders", |trial| {
        let (mut regret, mut factors) = (Vec::new(), Vec::new());
        for (i, &gamma) in gammas.iter().enumerate() {
            let mut opf = opf(trial.dimension(), SECTION_5, gamma)?;
            regret.push(trial.regret(&mut opf, SECTION_5.first_start(), &marks)?);
            if i > 0 {
                let terms = decompose(&model, trial, &SECTION_5, gamma, LAMBDA, 4)?;
                factors.push(terms.iter().map(|epoch| epoch.regularisation).collect());
            }
        }
        Ok(OrderResult { regret, factors })
    })?;
    OrderRuns { radius: model.radius(), marks, ends, gammas, results }.report()
}

struct OrderRuns {
    radius: f64,
    marks: Vec<usize>,
    /// The last four ends of epochs.
    ends: Vec<usize>,
    gammas: Vec<f64>,
    results: Vec<OrderResult>,
}

impl OrderRuns {
    fn band(&self, gamma: usize) -> Band {
        band_of(self.results.iter().map(|seed| seed.regret[gamma].as_slice()))
    }

    /// The exponent i of `R ~ (log N)^i`, from the mean regret over the second half of log N.
    fn order(&self, gamma: usize) -> f64 {
        let (band, half) = (self.band(gamma), self.marks.len() / 2);
        let logs: Vec<f64> = self.marks[half..].iter().map(|mark| (*mark as f64).ln()).collect();
        PowerLaw::fit(&logs, &band.mean[half..]).map_or(f64::NAN, |law| law.exponent)
    }

    /// The exponent of `R ~ N^s` over the last three epochs.
    fn growth(&self, gamma: usize) -> f64 {
        let band = self.band(gamma);
        let at = |end: &usize| self.marks.iter().position(|mark| mark == end).map_or(f64::NAN, |i| band.mean[i]);
        let regrets: Vec<f64> = self.ends.iter().map(at).collect();
        PowerLaw::fit(&axis(&self.ends), &regrets).map_or(f64::NAN, |law| law.exponent)
    }

    /// The same of the regularisation factor of a share.
    fn factor_growth(&self, share: usize) -> f64 {
        let at = |i: usize| mean_of(&self.results, |seed| seed.factors[share][i]);
        let factors: Vec<f64> = (0..self.ends.len()).map(at).collect();
        PowerLaw::fit(&axis(&self.ends), &factors).map_or(f64::NAN, |law| law.exponent)
    }

    fn report(&self) -> Result<Report> {
        let mut report = Report::new("OPF, Table 1, Figure 6 and D.2: orders of the regret");
        let last = self.ends.last().copied().unwrap_or(0);
        report.words(format!(
            "The system of section 5 at N = {last}, {} seeds; bands are one standard error.",
            self.results.len()
        ));
        let mut printed = Table::with("method | regret, as the paper lists it | Gaussian | forgetting | measured");
        let (plain, balanced) = (self.order(0), self.order(1));
        for (method, order, gaussian, forgetting) in PRINTED {
            let measured = match method {
                "OPF" => Some(format!("(log N)^{balanced:.2}")),
                _ if method.starts_with("Tsiamis") => Some(format!("(log N)^{plain:.2}")),
                _ => None,
            };
            printed.push(row![method, order, gaussian, forgetting, measured])?;
        }
        report.table("opf_orders_table1", "Table 1, and the orders measured here", printed);
        report.table("opf_orders_claims", "What the paper says of orders and margins", self.claims(plain, balanced)?);
        let mut table = Table::with(
            "γ/ρ ~3 | γ ~4 | regret ~4 | exponent of regret .2 | exponent of factor .2 | \
             2β ln(ρ/γ) .2",
        );
        for (i, &gamma) in self.gammas.iter().enumerate() {
            let regret = self.band(i).mean.last().copied();
            let (factor, bound) =
                if i == 0 { (None, None) } else { (Some(self.factor_growth(i - 1)), Some(self.bound(gamma))) };
            table.push(row![gamma / self.radius, gamma, regret, self.growth(i), factor, bound])?;
        }
        report.table("opf_orders", "Exponents in N over the last three epochs, against γ", table);
        report.picture("opf_orders_logarithms", "Regret over powers of log N", self.figure_6());
        report.picture(
            "opf_orders_margin",
            "D.2: growth of regret and of the regularisation factor below ρ",
            self.margin(),
        );
        Ok(report)
    }

    /// The exponent that the regularisation factor may have.
    fn bound(&self, gamma: f64) -> f64 {
        2.0 * SECTION_5.beta * (self.radius / gamma).ln()
    }

    fn claims(&self, plain: f64, balanced: f64) -> Result<Table> {
        let mut claims = Claims::new();
        claims.of_paper(
            "The regret is of order log² N for both",
            format!("(log N)^{balanced:.2} at γ = ρ, (log N)^{plain:.2} at γ = 1"),
            (plain - 2.0).abs() <= 0.5 && (balanced - 2.0).abs() <= 0.5,
        )?;
        claims.of_paper(
            "and forgetting changes its constant, not its order",
            format!("orders differ by {}", short((plain - balanced).abs())),
            (plain - balanced).abs() <= 0.5,
        )?;
        let below = |edge: f64| (1..self.gammas.len()).filter(move |&i| self.gammas[i] < edge * self.radius);
        let most = |edge: f64| {
            let inside = (1..self.gammas.len()).filter(|&i| self.gammas[i] >= edge * self.radius);
            inside.map(|i| self.growth(i)).fold(f64::NEG_INFINITY, f64::max)
        };
        let ours = (-0.5 / SECTION_5.beta).exp();
        let printed = ours * ours;
        for (edge, kind, text) in [
            (printed, ComparisonKind::Bound, "D.2, as printed: the regret is sublinear down to γ = ρ e^{−1/β}"),
            (
                ours,
                ComparisonKind::Claim,
                "D.2 by its own inequality (ours: with the square that is dropped): down to γ = ρ e^{−1/(2β)}",
            ),
        ] {
            claims.judge(
                format!("{text} = {edge:.3} ρ"),
                format!("largest exponent {} among the γ tried", short(most(edge))),
                Judgement::statement(kind, most(edge) < 1.0),
            )?;
        }
        // The factor's own growth is the argument; the regret may grow less.
        let linear: Vec<String> = (0..SHARES.len())
            .filter(|&i| SHARES[i] >= printed && self.factor_growth(i) >= 1.0)
            .map(|i| format!("{} ρ", SHARES[i]))
            .collect();
        claims.judge(
            "D.2's argument: above the printed margin the regularisation factor grows less than N",
            if linear.is_empty() {
                "so at every γ tried".to_owned()
            } else {
                format!("not at γ = {}", linear.join(", "))
            },
            Judgement::either(ComparisonKind::Bound, linear.is_empty(), "holds", "does not hold; see the square"),
        )?;
        let most = below(printed).map(|i| self.growth(i)).fold(f64::NEG_INFINITY, f64::max);
        claims.observe(
            "Below both margins nothing is promised",
            format!("largest exponent {} down to γ = {} ρ", short(most), SHARES[SHARES.len() - 1]),
            if most < 1.0 { "still sublinear here" } else { "linear or worse" },
        )?;
        Ok(claims.table())
    }

    fn figure_6(&self) -> Panels {
        let xs = axis(&self.marks);
        let mut panels = Panels::new("", 3);
        for (power, title) in [(1, "i = 1"), (2, "i = 2"), (3, "i = 3")] {
            let divisors: Vec<f64> = xs.iter().map(|n| n.ln().powi(power)).collect();
            let mut figure = Figure::new(title).x_label("N").y_label("R_N / logⁱ N").log_x();
            for (name, gamma) in [("γ = ρ", 1), ("γ = 1", 0)] {
                figure = self.band(gamma).over(&divisors).draw(figure, name, &xs);
            }
            panels = panels.panel(figure);
        }
        panels
    }

    fn margin(&self) -> Panels {
        let xs = axis(&self.marks);
        let mut regret = Figure::new("regret").x_label("N").y_label("regret").log_x().log_y();
        for i in [1, 3, 5, 7, 8] {
            regret = self.band(i).draw(
                regret,
                match SHARES[i - 1] {
                    1.0 => "γ = ρ".to_owned(),
                    share => format!("γ = {share} ρ"),
                },
                &xs,
            );
        }
        let shares: Vec<f64> = SHARES.into_iter().rev().collect();
        let reversed = |value: &dyn Fn(usize) -> f64| (0..SHARES.len()).rev().map(value).collect::<Vec<f64>>();
        let growth = Figure::new("exponents in N")
            .x_label("γ / ρ")
            .y_label("exponent over the last three epochs")
            .line("regret", &shares, &reversed(&|i| self.growth(i + 1)))
            .line("regularisation factor", &shares, &reversed(&|i| self.factor_growth(i)))
            .dashed("2β ln(ρ/γ)", &shares, &reversed(&|i| self.bound(self.gammas[i + 1])));
        Panels::new("", 2).panel(regret).panel(growth)
    }
}
