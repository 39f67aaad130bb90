//! Good settings of a learner, found by running it: successive halving over prefixes of one stream,
//! then a finer look around the best.
//!
//! A [`Space`] is a box of settings: the keys that a learner's catalogue entry
//! [names](crate::catalogue::Entry::search) and the width of the kernel. [`search`] scores points
//! of it, lower is better:
//!
//! 1. Half of the [trials](Plan::trials) are spread evenly over the box (a Halton sequence, shifted
//!    by the seed) and scored on the shortest prefix.
//! 2. On each prefix some more are put around the best point. Then the best third of all goes on to
//!    the next prefix, three times as long.
//! 3. On the whole stream two more generations are put around the best point, the second more
//!    closely.
//!
//! The points of a generation are settled before any of it is scored, so the result does not depend
//! on the number of threads. Values have three digits: what is printed is what was scored. Some 33
//! passes over the whole stream for 64 trials; a learner for each thread is in memory at a time.
//!
//! Source of the halving: Jamieson and Talwalkar 2016, *Non-stochastic best arm identification and
//! hyperparameter optimization*.

mod parallel;
mod plan;
mod points;
mod space;

pub use parallel::in_parallel;
pub use plan::Plan;
use points::PointSource;
pub use space::{Dimension, Space};

/// A point of the box and its score.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// From 0, in the order in which points were settled; 0 is the point of the defaults.
    pub number: usize,
    /// One a [dimension](Space::dimensions).
    pub values: Vec<f64>,
    /// Rows of the longest prefix that it was scored on.
    pub rows: usize,
    /// The score there, lower is better; infinite when the learner failed.
    pub score: f64,
    /// Its position in the unit cube.
    position: Vec<f64>,
}

/// The result of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchResult {
    /// Best first: those of longer prefixes before those of shorter ones.
    trials: Vec<Trial>,
    passes: usize,
}

/// Why nothing was found.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TuneError<E> {
    /// The box has no dimension.
    #[error("every key is fixed, so there is nothing to tune; give at least one range")]
    Nothing,
    /// No point could be scored; why the first could not.
    #[error("{0}")]
    Failed(E),
    /// Every score was infinite or NaN.
    #[error("no score is a finite number")]
    NotFinite,
}

impl SearchResult {
    /// The best trial on the whole stream.
    #[must_use]
    pub fn best(&self) -> &Trial {
        // A search without a trial is an error.
        &self.trials[0]
    }

    /// All trials, best first: those of longer prefixes before those of shorter ones.
    #[must_use]
    pub fn trials(&self) -> &[Trial] {
        &self.trials
    }

    /// The trials that were scored on as many rows as the best, best first.
    pub fn whole(&self) -> impl Iterator<Item = &Trial> {
        self.trials.iter().filter(|trial| trial.rows == self.best().rows)
    }

    /// The number of times that the score was computed.
    #[must_use]
    pub fn passes(&self) -> usize {
        self.passes
    }
}

/// Looks for the point of the box with the lowest score; `score` is given the values of a point and
/// the number of rows of a prefix.
///
/// `score` may be called from [several threads](Plan::threads). It must give the same for the same
/// arguments. A point whose score fails or is not finite loses against every other.
///
/// # Errors
/// When the box has no dimension, or no point has a finite score.
///
/// ```
/// use mercer_registry::catalogue::{Context, Settings, find};
/// use mercer_datasets::Registry;
/// use mercer_kernels::{AnyKernel, Gaussian, median_width};
/// use mercer_learners::prequential;
/// use mercer_readers::{Ranges, Scaling, Scheme};
/// use mercer_registry::tune::{Plan, Space, search};
///
/// let mut table = Registry::load()?.open("diamonds")?.permuted(1);
/// table.truncate(600);
/// Scaling::new(Ranges::from_table(&table), Scheme::PAPER01).apply(&mut table)?;
/// let entry = find("krls")?;
/// let width = median_width(table.dimension(), &table.features()[..200 * table.dimension()]);
/// let space = Space::for_entry(entry, Some(width));
/// let mean_squared_error = |values: &[f64], rows: usize| -> Result<f64, Box<dyn std::error::Error + Send + Sync>> {
///     let kernel = AnyKernel::Gaussian(Gaussian::new(space.width(values).unwrap_or(1.0))?);
///     let (pairs, context) = (space.pairs(values), Context { dimension: table.dimension(), ..Context::default() });
///     let mut learner = Settings::new(entry, pairs.iter().map(String::as_str))?.build(kernel, &context)?.learner;
///     Ok(prequential(&mut learner, table.iter().take(rows), |_| {})?.mse())
/// };
/// let plan = Plan::new(table.len()).trials(8);
/// let found = search(&space, &plan, mean_squared_error)?;
/// println!("{} with {}", found.best().score, space.pairs(&found.best().values).join(" "));
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
pub fn search<E: Send>(
    space: &Space,
    plan: &Plan,
    score: impl Fn(&[f64], usize) -> Result<f64, E> + Sync,
) -> Result<SearchResult, TuneError<E>> {
    if space.dimensions().is_empty() {
        return Err(TuneError::Nothing);
    }
    let mut run = TrialRun { plan, score, trials: Vec::new(), passes: 0, first: None };
    let mut points = PointSource::new(space, plan.seed);
    let (spread, around) = plan.generations();
    let mut chosen: Vec<usize> = run.add(points.spread(spread));
    let rungs = plan.rungs();
    for (rung, rows) in rungs.iter().enumerate() {
        run.score_all(&chosen, *rows);
        for (count, half_width) in
            around.iter().filter(|(of, ..)| *of == rung).map(|(_, count, width)| (*count, *width))
        {
            run.rank(&mut chosen);
            let more = run.add(points.around(&run.trials[chosen[0]].position, half_width, count));
            run.score_all(&more, *rows);
            chosen.extend(more);
        }
        run.rank(&mut chosen);
        if rung + 1 < rungs.len() {
            chosen.truncate(chosen.len().div_ceil(Plan::RATIO));
        }
    }
    run.found()
}

/// The trials so far.
struct TrialRun<'p, F, E> {
    plan: &'p Plan,
    score: F,
    trials: Vec<Trial>,
    passes: usize,
    /// The failure of the earliest trial that failed.
    first: Option<E>,
}

impl<E: Send, F: Fn(&[f64], usize) -> Result<f64, E> + Sync> TrialRun<'_, F, E> {
    /// Takes in points that are new; tells their numbers.
    fn add(&mut self, points: Vec<(Vec<f64>, Vec<f64>)>) -> Vec<usize> {
        let first = self.trials.len();
        for (position, values) in points {
            if self.trials.iter().all(|trial| trial.values != values) {
                let number = self.trials.len();
                self.trials.push(Trial { number, values, rows: 0, score: f64::INFINITY, position });
            }
        }
        (first..self.trials.len()).collect()
    }

    /// Scores these trials on a prefix.
    fn score_all(&mut self, chosen: &[usize], rows: usize) {
        let (score, trials) = (&self.score, &self.trials);
        let scored = |place: usize| score(&trials[chosen[place]].values, rows);
        let made = in_parallel(self.plan.threads, chosen.len(), scored);
        self.passes += chosen.len();
        for (number, scored) in chosen.iter().zip(made) {
            let trial = &mut self.trials[*number];
            trial.rows = rows;
            trial.score = f64::INFINITY;
            match scored {
                Ok(score) if score.is_finite() => trial.score = score,
                Ok(_) => {}
                Err(error) => self.first = self.first.take().or(Some(error)),
            }
        }
    }

    /// Best first; of equal ones the one settled first.
    fn rank(&self, chosen: &mut [usize]) {
        let key = |number: &usize| (self.trials[*number].score, *number);
        chosen.sort_by(|a, b| key(a).0.total_cmp(&key(b).0).then(key(a).1.cmp(&key(b).1)));
    }

    fn found(self) -> Result<SearchResult, TuneError<E>> {
        let Self { mut trials, passes, first, .. } = self;
        trials.sort_by(|a, b| b.rows.cmp(&a.rows).then(a.score.total_cmp(&b.score)).then(a.number.cmp(&b.number)));
        match trials.first() {
            Some(best) if best.score.is_finite() => Ok(SearchResult { trials, passes }),
            _ => Err(first.map_or(TuneError::NotFinite, TuneError::Failed)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn square() -> Space {
        let dimensions = [("a", 1e-3, 10.0, true), ("b", 0.0, 1.0, false), ("c", 1.0, 100.0, true)];
        Space::new(
            dimensions
                .map(|(name, low, high, logarithmic)| Dimension::new(name, low, high, logarithmic).unwrap())
                .into(),
        )
    }

    /// A bowl in the logarithms whose bottom moves with the prefix, as that of a learner does.
    fn bowl(values: &[f64], rows: usize) -> Result<f64, String> {
        let shift = 100.0 / rows as f64;
        let [a, b, c] = values else { return Err("three values".to_owned()) };
        Ok(1.0 + (a.ln() + 1.5 - shift).powi(2) / 10.0 + (b - 0.7).powi(2) + (c.ln() - 3.0).powi(2) / 5.0)
    }

    #[test]
    fn the_bottom_of_a_bowl_is_found() {
        for seed in 0..20 {
            let found = search(&square(), &Plan::new(10_000).seed(seed), bowl).unwrap();
            assert!(found.best().score < 1.03, "{seed}: {:?}", found.best());
            assert_eq!(found.best().rows, 10_000);
        }
    }

    #[test]
    fn threads_change_nothing_and_seeds_do() {
        let of = |threads, seed| search(&square(), &Plan::new(5000).threads(threads).seed(seed), bowl).unwrap();
        assert_eq!(of(1, 3), of(7, 3));
        assert_ne!(of(1, 3), of(1, 4));
    }

    #[test]
    fn failures_lose_and_are_told_when_nothing_else_is_left() {
        let some = |values: &[f64], rows: usize| {
            if values[0] > 0.1 { Err("diverged") } else { bowl(values, rows).map_err(|_| "") }
        };
        let found = search(&square(), &Plan::new(5000), some).unwrap();
        assert!(found.best().values[0] <= 0.1);
        let all = |_: &[f64], _| Err::<f64, _>("diverged");
        assert_eq!(search(&square(), &Plan::new(5000), all), Err(TuneError::Failed("diverged")));
        let none = |_: &[f64], _| Ok::<_, String>(f64::NAN);
        assert_eq!(search(&square(), &Plan::new(5000), none), Err(TuneError::NotFinite));
        assert_eq!(search(&Space::new(Vec::new()), &Plan::new(5000), bowl), Err(TuneError::Nothing));
    }

    #[test]
    fn trials_are_as_many_as_said() {
        for (trials, rows) in [(1, 10_000), (2, 10_000), (8, 10_000), (64, 10_000), (64, 500), (200, 3000), (5, 1)] {
            let found = search(&square(), &Plan::new(rows).trials(trials), bowl).unwrap();
            assert_eq!(found.trials().len(), trials, "{rows}");
            assert_eq!(found.trials().iter().filter(|trial| trial.rows == rows).count(), found.whole().count());
        }
    }
}
