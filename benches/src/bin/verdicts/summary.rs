//! The tables of all counts, as Markdown: verdicts, errors beside the peers', and how often each
//! peer is better.
//!
//! The peer that is best on a system is chosen by the truth, score by score, which nobody has who
//! must choose a library. What one method with fixed settings would do is the third table.

use super::Count;
use super::scores::{Errors, best_peer, peers, steps};
use super::tally::Tally;

/// Errors below this are as good as none.
const EXACT: f64 = 1e-6;
/// Errors within this factor of each other are alike.
const ALIKE: f64 = 1.1;
/// An error that is larger than the best peer's by these factors is named: of the eigenvalues, and
/// of a forecast.
const NAMED: [f64; 4] = [1.5, 1.2, 1.2, 1.2];

/// Our errors on one sample.
struct ErrorRow {
    system: String,
    pairs: usize,
    ours: Errors,
}

impl ErrorRow {
    /// How many times ours is of theirs: above 1 they are better.
    fn ratio(&self, k: usize, theirs: f64) -> f64 {
        self.ours[k].max(EXACT) / theirs.max(EXACT)
    }

    fn measure(&self, k: usize) -> String {
        match k {
            0 => "eigenvalues".to_owned(),
            _ => format!("step {}", steps(&self.system)[k - 1]),
        }
    }
}

/// All that was counted.
#[derive(Default)]
pub(crate) struct Summary {
    /// Lines of the table of verdicts.
    verdicts: Vec<String>,
    rows: Vec<ErrorRow>,
}

impl Summary {
    /// The verdicts on the samples `of` some systems or controls.
    pub(crate) fn count(&mut self, count: Count, of: &str, tally: &Tally) {
        let seeds = count.seeds();
        let [reliable, unreliable, open, _] = tally.cells();
        let first = [count.pairs.to_string(), format!("{} to {}", seeds.start, seeds.end - 1), of.to_owned()];
        let cells = first.into_iter().chain([reliable, unreliable, open]).chain(tally.shares());
        self.verdicts.push(line(cells));
    }

    /// Our errors on a sample that peers' errors are kept for.
    pub(crate) fn errors(&mut self, system: &str, pairs: usize, ours: Errors) {
        self.rows.push(ErrorRow { system: system.to_owned(), pairs, ours });
    }

    pub(crate) fn print(&self) {
        if !self.verdicts.is_empty() {
            println!("\n{}", line(VERDICTS.map(str::to_owned)));
            println!("{}", line(VERDICTS.map(|_| "---".to_owned())));
            self.verdicts.iter().for_each(|line| println!("{line}"));
        }
        let known: Vec<&ErrorRow> =
            self.rows.iter().filter(|row| best_peer(&row.system, row.pairs, 1).is_some()).collect();
        if !known.is_empty() {
            beside_the_best(&known);
            method_by_method(&known);
        }
    }
}

const VERDICTS: [&str; 10] = [
    "pairs",
    "seeds",
    "of",
    "reliable",
    "unreliable",
    "open",
    "false of reliable",
    "two spreads hold",
    "least one-step error",
    "told to wander",
];

/// Our errors beside the least of the peers', with its method, and where they are larger.
fn beside_the_best(rows: &[&ErrorRow]) {
    let heads = ["system", "pairs", "eigenvalues", "first horizon", "second", "third"];
    println!("\nours / the best peer's\n\n{}", line(heads.map(str::to_owned)));
    println!("{}", line(heads.map(|_| "---".to_owned())));
    let (mut behind, mut all) = (Vec::new(), 0);
    for row in rows {
        let mut cells = vec![row.system.clone(), row.pairs.to_string()];
        for k in 0..4 {
            let Some((method, theirs)) = best_peer(&row.system, row.pairs, k) else {
                cells.push("–".to_owned());
                continue;
            };
            cells.push(format!("{:.2e} / {theirs:.2e} {method}", row.ours[k]));
            all += 1;
            let ratio = row.ratio(k, theirs);
            if ratio > NAMED[k] {
                behind.push(format!("{} {} {} ({ratio:.1}, {method})", row.system, row.pairs, row.measure(k)));
            }
        }
        println!("{}", line(cells));
    }
    println!("\nThe best peer is better by more than {} times in {} of {all}: {}", said(NAMED), behind.len(), {
        if behind.is_empty() { "none".to_owned() } else { behind.join("; ") }
    });
}

fn said([eigenvalues, forecast, ..]: [f64; 4]) -> String {
    format!("{eigenvalues} (eigenvalues) or {forecast} (forecasts)")
}

/// Errors of each method with its settings against ours, over all systems and measures.
fn method_by_method(rows: &[&ErrorRow]) {
    let mut methods: Vec<(&str, [usize; 3])> = Vec::new();
    for row in rows {
        for k in 0..4 {
            for (method, theirs) in peers(&row.system, row.pairs, k) {
                let ratio = row.ratio(k, theirs);
                let kind = if ratio > ALIKE { 0 } else { 1 + usize::from(ratio < 1.0 / ALIKE) };
                match methods.iter_mut().find(|(known, _)| *known == method) {
                    Some((_, counts)) => counts[kind] += 1,
                    None => {
                        let mut counts = [0; 3];
                        counts[kind] = 1;
                        methods.push((method, counts));
                    }
                }
            }
        }
    }
    let heads = ["method", "errors", "smaller than ours by a tenth", "alike", "larger by a tenth"];
    println!("\n{}", line(heads.map(str::to_owned)));
    println!("{}", line(heads.map(|_| "---".to_owned())));
    for (method, counts) in methods {
        let all: usize = counts.iter().sum();
        let numbers = std::iter::once(all).chain(counts).map(|count| count.to_string());
        println!("{}", line(std::iter::once(method.to_owned()).chain(numbers)));
    }
}

fn line(cells: impl IntoIterator<Item = String>) -> String {
    cells.into_iter().map(|cell| format!("| {cell} ")).collect::<String>() + "|"
}
