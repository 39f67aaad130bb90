//! How far verdicts on modes can be trusted: on systems whose spectrum is known and on controls
//! that have none, the reliable and the other modes that are true and false, and how often two
//! spreads hold a leading eigenvalue.
//!
//! `cargo run --release -p mercer-benches --bin verdicts -- 1000 20000`; numbers are the pairs of a
//! sample, words the systems and controls that are wanted. A mode is true within 0.05 of a true
//! eigenvalue, each of which counts once. A row of a control is told at its delays 1, 3 and 8.

mod gyre;
mod muller_brown;
mod systems;

use std::collections::BTreeMap;
use std::process::ExitCode;

use mercer_koopman::{Mode, OperatorModel, OperatorSums, OperatorSumsParams, Reason, Reliability, Trajectory};
use mercer_streams::Draws;

use systems::{CONTROLS, SYSTEMS, Sample, control, system};

/// Modes that are read.
const MODES: usize = 15;
/// A mode this near to a true eigenvalue is true.
const NEAR: f64 = 0.05;
const SEEDS: u64 = 3;
const DELAYS: [usize; 3] = [1, 3, 8];

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// True and false modes by verdict, and leading eigenvalues that two spreads hold.
#[derive(Clone, Copy, Default)]
struct Tally {
    /// Reliable, unreliable and open; true and false of each.
    modes: [[usize; 2]; 3],
    held: usize,
    leading: usize,
}

impl Tally {
    fn add(&mut self, other: &Self) {
        for (ours, theirs) in self.modes.iter_mut().flatten().zip(other.modes.iter().flatten()) {
            *ours += theirs;
        }
        self.held += other.held;
        self.leading += other.leading;
    }

    fn line(&self) -> String {
        let pair = |k: usize| format!("{}/{}", self.modes[k][0], self.modes[k][1]);
        let held = if self.leading > 0 { format!("{}/{}", self.held, self.leading) } else { "–".to_owned() };
        format!("{:>12}{:>12}{:>12}{held:>12}", pair(0), pair(1), pair(2))
    }
}

fn run() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let mut sizes: Vec<usize> = words.iter().filter_map(|word| word.parse().ok()).collect();
    if sizes.is_empty() {
        sizes.push(1000);
    }
    let names: Vec<&String> = words.iter().filter(|word| word.parse::<usize>().is_err() && *word != "-v").collect();
    let wanted = |name: &str| names.is_empty() || names.iter().any(|word| *word == name);
    let told = words.iter().any(|word| word == "-v");
    for size in sizes {
        println!("\n{size} pairs, {SEEDS} seeds: true/false of each verdict, and leading modes within two spreads");
        println!("{:<16}{:>12}{:>12}{:>12}{:>12}", "", "reliable", "unreliable", "open", "held");
        let mut sums: BTreeMap<&str, Tally> = BTreeMap::new();
        for name in SYSTEMS.into_iter().filter(|name| wanted(name)) {
            let mut tally = Tally::default();
            for seed in 0..SEEDS {
                tally.add(&count(&system(name, size, &mut Draws::new(1000 + seed))?, told)?);
            }
            println!("{name:<16}{}", tally.line());
            sums.entry("all systems").or_default().add(&tally);
        }
        for name in CONTROLS.into_iter().filter(|name| wanted(name)) {
            let mut tally = Tally::default();
            for (seed, delay) in (0..SEEDS).flat_map(|seed| DELAYS.map(|delay| (seed, delay))) {
                tally.add(&count(&control(name, delay, size, &mut Draws::new(2000 + seed)), told)?);
            }
            println!("{name:<16}{}", tally.line());
            sums.entry("controls").or_default().add(&tally);
        }
        sums.iter().for_each(|(name, tally)| println!("{name:<16}{}", tally.line()));
    }
    Ok(())
}

fn learnt(sample: &Sample) -> Result<OperatorModel, Box<dyn std::error::Error>> {
    let columns = sample.paths[0][0].len();
    let params = OperatorSumsParams::default().delay(sample.delay);
    let mut learner = OperatorSums::new(columns * sample.delay, 0, params)?;
    for rows in &sample.paths {
        let mut trajectory = Trajectory::new(columns, sample.delay, None)?;
        for row in rows {
            if let Some((x, x_plus)) = trajectory.push(row, None, None)? {
                learner.update(x, x_plus)?;
            }
        }
    }
    Ok(learner.model(MODES, 1)?)
}

fn count(sample: &Sample, told: bool) -> Result<Tally, Box<dyn std::error::Error>> {
    let model = learnt(sample)?;
    let modes: Vec<&Mode> = model.modes().iter().filter(|mode| mode.reason != Reason::Constant).take(MODES).collect();
    let mut tally = Tally { leading: sample.leading, ..Tally::default() };
    let away = |mode: &Mode, truth: &[f64; 2]| (mode.value.re - truth[0]).hypot(mode.value.im - truth[1]);
    // The nearest pairs first, one to one.
    let mut pairs: Vec<(usize, usize)> =
        (0..modes.len()).flat_map(|i| (0..sample.truth.len()).map(move |j| (i, j))).collect();
    pairs.retain(|(i, j)| away(modes[*i], &sample.truth[*j]) <= NEAR);
    pairs.sort_by(|a, b| away(modes[a.0], &sample.truth[a.1]).total_cmp(&away(modes[b.0], &sample.truth[b.1])));
    let (mut is_true, mut taken) = (vec![false; modes.len()], vec![false; sample.truth.len()]);
    for (i, j) in pairs {
        if !is_true[i] && !taken[j] {
            (is_true[i], taken[j]) = (true, true);
        }
    }
    for (mode, is_true) in modes.iter().zip(is_true) {
        let kind = match mode.reliability {
            Reliability::Reliable => 0,
            Reliability::Unreliable => 1,
            _ => 2,
        };
        tally.modes[kind][usize::from(!is_true)] += 1;
        if told {
            let Mode { value, spread, residual, .. } = mode;
            println!(
                "  {:.4} {:+.4}i ± {spread:.2e} residual {residual:.2e} {is_true} {kind} {}",
                value.re,
                value.im,
                mode.reason.words()
            );
        }
    }
    for truth in &sample.truth[..sample.leading] {
        let nearest = modes.iter().min_by(|a, b| away(a, truth).total_cmp(&away(b, truth)));
        let held = nearest.is_some_and(|mode| away(mode, truth) <= 2.0 * mode.spread);
        tally.held += usize::from(held);
        if told {
            let mode = nearest.map(|mode| (mode.value, mode.spread));
            println!("  leading {truth:.4?}: {mode:?} {held}");
        }
    }
    Ok(tally)
}
