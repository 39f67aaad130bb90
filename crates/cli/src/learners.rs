//! `mercer learners`: the catalogue, as a table or one learner in detail.

use std::fmt::Write as _;

use mercer_registry::catalogue::{self, Entry, Key, SearchRange};
use serde::Serialize;

use crate::report::failure::Failure;
use crate::report::json;
use crate::report::output;
use crate::report::output::number;
use clap::Args;

/// List the learners with their parameters, cost and source
#[derive(Args)]
pub(crate) struct LearnersArguments {
    /// Tell all of this one
    pub(crate) name: Option<String>,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) fn run(arguments: &LearnersArguments) -> Result<(), Failure> {
    let text = match (&arguments.name, arguments.json) {
        (None, false) => table(),
        (None, true) => {
            json::line(&All { learners: catalogue::entries().iter().map(EntryFacts::from_entry).collect() })?
        }
        (Some(name), false) => detail(catalogue::find(name)?),
        (Some(name), true) => json::line(&EntryFacts::from_entry(catalogue::find(name)?))?,
    };
    output::print(&text)
}

#[derive(Serialize)]
struct All {
    learners: Vec<EntryFacts>,
}

/// An entry as JSON.
#[derive(Serialize)]
struct EntryFacts {
    name: &'static str,
    summary: &'static str,
    keys: Vec<DescribedKey>,
    time: String,
    memory: String,
    memory_grows: bool,
    growth: Option<&'static str>,
    source: &'static str,
    losses: &'static [&'static str],
    targets: Vec<&'static str>,
}

#[derive(Serialize)]
struct DescribedKey {
    key: &'static str,
    symbol: &'static str,
    default: String,
    range: &'static str,
    meaning: &'static str,
    auto: Option<&'static str>,
    auto_source: Option<&'static str>,
    none: Option<&'static str>,
    /// Where `mercer tune` looks for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    search: Option<KeyRange>,
}

#[derive(Serialize)]
struct KeyRange {
    low: f64,
    high: f64,
    log: bool,
}

impl EntryFacts {
    fn from_entry(entry: &Entry) -> Self {
        let keys = entry.keys.iter().map(|key| DescribedKey {
            key: key.name,
            symbol: key.symbol,
            default: key.default_text(),
            range: key.range,
            meaning: key.meaning,
            auto: key.auto.map(|rule| rule.formula),
            auto_source: key.auto.map(|rule| rule.source),
            none: key.none,
            search: key.search.map(|SearchRange { low, high, logarithmic: log, .. }| KeyRange { low, high, log }),
        });
        Self {
            name: entry.name,
            summary: entry.summary,
            keys: keys.collect(),
            time: entry.time.to_string(),
            memory: entry.memory.to_string(),
            memory_grows: entry.growth.is_some(),
            growth: entry.growth,
            source: entry.source,
            losses: entry.takes.losses,
            targets: entry.takes.targets().collect(),
        }
    }
}

const LEGEND: &str = "
Time: multiply-adds a round; memory: numbers of 8 bytes. t is the round, d the features, J the dictionary size, other letters
the keys' symbols. * memory grows with the stream. Targets: 1 a number, m several numbers, ± two classes, K more classes.
Defaults suit features and targets on [−1, 1] (--scale range). mercer learners NAME tells what the keys mean.

Bifet and Gavaldà 2007: Learning from time-changing data with adaptive windowing
Calandriello et al. 2017a: Efficient second-order online kernel learning with adaptive embedding
Calandriello et al. 2017b: Second-order kernel online convex optimization with adaptive sketching
Cavallanti et al. 2007: Tracking the best hyperplane with a simple budget perceptron
Cesa-Bianchi et al. 2012: Mirror descent meets fixed share (and feels no regret)
Chen et al. 2012: Quantized kernel least mean square algorithm
Crammer et al. 2006: Online passive-aggressive algorithms
Dekel et al. 2008: The Forgetron: a kernel-based perceptron on a budget
Engel et al. 2004: The kernel recursive least-squares algorithm
Freund and Schapire 1999: Large margin classification using the perceptron algorithm
Gaillard et al. 2014: A second-order bound with excess losses
Gao et al. 2013: Kernel LMS algorithm with forward-backward splitting for dictionary learning
Herbster and Warmuth 1998: Tracking the best expert
Jézéquel, Gaillard and Rudi 2019: Efficient online learning with kernels for adversarial large scale problems
Kivinen et al. 2004: Online learning with kernels
Li and Liao: Nearly optimal algorithms with sublinear computational complexity for online kernel regression
Liu and Principe 2008: Kernel affine projection algorithms
Liu et al. 2008: The kernel least-mean-square algorithm
Lu et al. 2016: Large scale online kernel learning
Orabona et al. 2009: Bounded kernel-based online learning
Page 1954: Continuous inspection schemes
Pokharel et al. 2013: Mixture kernel least mean square
Richard et al. 2009: Online prediction of time series data with kernels
de Rooij et al. 2014: Follow the leader if you can, hedge if you must
Rzepka 2012: Fixed-budget kernel least mean squares
Slavakis et al. 2008: Online kernel-based classification using adaptive projection algorithms
Wang and Vucetic 2010: Online passive-aggressive algorithms on a budget
Wang et al. 2012: Breaking the curse of kernelization: budgeted stochastic gradient descent for large-scale SVM training
Wintenberger 2017: Optimal learning with Bernstein online aggregation
Yukawa 2012: Multikernel adaptive filtering
Zhao et al. 2012: Fast bounded online gradient descent algorithms for scalable kernel-based online learning
Zhao et al. 2013: Fixed budget quantized kernel least-mean-square algorithm
Zinkevich 2003: Online convex programming and generalized infinitesimal gradient ascent
";

/// Columns of the table and their widths; the last may be as wide as it likes.
const COLUMNS: [(&str, usize); 6] =
    [("NAME", 14), ("KEYS (defaults)", 36), ("TIME", 12), ("MEMORY", 14), ("TARGETS", 7), ("SOURCE", 30)];

fn table() -> String {
    let mut text = String::new();
    row(&mut text, COLUMNS.map(|(name, _)| name));
    for entry in catalogue::entries() {
        let keys: Vec<String> = entry.keys.iter().map(|key| format!("{}={}", key.name, key.default_text())).collect();
        let memory = format!("{}{}", entry.memory, if entry.growth.is_some() { " *" } else { "" });
        row(&mut text, [entry.name, &keys.join(" "), &entry.time.to_string(), &memory, &targets(entry), entry.source]);
    }
    text + LEGEND
}

/// The targets that the learner can be taught, in signs.
fn targets(entry: &Entry) -> String {
    let vectors = if entry.takes.vectors { " m" } else { "" };
    let classes = if entry.takes.many_classes { " K" } else { "" };
    let numbers = if entry.takes.numbers() { "1" } else { "" };
    format!("{numbers}{vectors} ±{classes}").trim_start().to_owned()
}

/// One row of the table, over as many lines as its longest cell needs.
fn row(text: &mut String, cells: [&str; 6]) {
    let cells: Vec<(usize, Vec<String>)> =
        cells.iter().zip(COLUMNS).map(|(cell, (_, width))| (width, wrapped(cell, width))).collect();
    let lines = cells.iter().map(|(_, lines)| lines.len()).max().unwrap_or(0);
    for i in 0..lines {
        let cell = |(width, lines): &(usize, Vec<String>)| {
            let words = lines.get(i).map_or("", String::as_str);
            format!("{words:<width$}  ")
        };
        text.push_str(cells.iter().map(cell).collect::<String>().trim_end());
        text.push('\n');
    }
}

/// The words of `cell` on lines of at most `width` characters.
fn wrapped(cell: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in cell.split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

fn detail(entry: &Entry) -> String {
    let Entry { name, summary, time, memory, source, .. } = entry;
    let mut text = format!("{name}: {summary}\n\n");
    for key in entry.keys {
        describe(&mut text, key);
    }
    // Writing to a string cannot fail.
    let _ = writeln!(text, "\ntime     {time} multiply-adds a round");
    let growth =
        entry.growth.map_or("does not grow with the stream".to_owned(), |why| format!("grows with the stream: {why}"));
    let _ = writeln!(text, "memory   {memory} numbers; {growth}");
    let targets: Vec<&str> = entry.takes.targets().collect();
    let _ = writeln!(text, "targets  {}", targets.join(", "));
    let _ = writeln!(text, "losses   {}", entry.takes.losses.join(", "));
    let _ = writeln!(text, "source   {source}");
    let setting = entry.keys.first().map_or(String::new(), |key| format!(" --set {}={}", key.name, key.default_text()));
    // No bundled data set has classes.
    let data = if entry.takes.numbers() { "diamonds" } else { "classes.csv" };
    let _ = writeln!(text, "\nexample  mercer eval {data} --learner {name} --scale standard --limit 2000{setting}");
    text
}

fn describe(text: &mut String, key: &Key) {
    let symbol = if key.symbol.is_empty() { String::new() } else { format!(" ({})", key.symbol) };
    let _ = writeln!(text, "  {:<22}{}", format!("{}{symbol}", key.name), key.meaning);
    let _ = writeln!(text, "  {:<22}{}; default {}", "", key.range, key.default_text());
    if let Some(rule) = key.auto {
        let _ = writeln!(text, "  {:<22}auto is {} ({})", "", rule.formula, rule.source);
    }
    if let Some(meaning) = key.none {
        let _ = writeln!(text, "  {:<22}none: {meaning}", "");
    }
    if let Some(SearchRange { low, high, .. }) = key.search {
        let _ = writeln!(text, "  {:<22}mercer tune looks from {} to {}", "", number(low), number(high));
    }
}
