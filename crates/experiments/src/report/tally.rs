//! Numbers of comparisons by outcome, the three kinds apart.

use serde::Serialize;

use crate::judgement::ComparisonKind;
use crate::judgement::Outcome;
use crate::report::Report;
use crate::table::TableVerdict;

/// The comparisons of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Number of comparisons that came out.
    pub came_out: usize,
    /// Number of those which need a choice of ours or whose bound is loose.
    pub qualified: usize,
    /// Number of comparisons that did not come out.
    pub differ: usize,
    /// Number of comparisons that could not be made.
    pub not_run: usize,
}

impl Counts {
    /// Number of comparisons with this outcome.
    pub fn count(&self, outcome: Outcome) -> usize {
        match outcome {
            Outcome::Reproduced => self.came_out,
            Outcome::Differs => self.differ,
            Outcome::NotRun => self.not_run,
        }
    }

    /// All of them.
    pub fn total(&self) -> usize {
        self.came_out + self.differ + self.not_run
    }

    fn add(&mut self, other: &Self) {
        self.came_out += other.came_out;
        self.qualified += other.qualified;
        self.differ += other.differ;
        self.not_run += other.not_run;
    }
}

/// The three kinds of comparisons, never added up: they show different things.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// Numbers that a paper prints.
    pub printed: Counts,
    /// Bounds and orders that a paper proves or states.
    pub bounds: Counts,
    /// Statements of this project.
    pub claims: Counts,
}

impl Tally {
    /// The comparisons of a kind.
    pub fn counts(&self, kind: ComparisonKind) -> &Counts {
        match kind {
            ComparisonKind::Printed => &self.printed,
            ComparisonKind::Bound => &self.bounds,
            ComparisonKind::Claim => &self.claims,
        }
    }

    fn counts_mut(&mut self, kind: ComparisonKind) -> &mut Counts {
        match kind {
            ComparisonKind::Printed => &mut self.printed,
            ComparisonKind::Bound => &mut self.bounds,
            ComparisonKind::Claim => &mut self.claims,
        }
    }

    /// Tally of one report: the verdicts of its tables, and the comparisons that it says could not
    /// be made.
    pub fn of_report(report: &Report) -> Self {
        let mut tally = Self::default();
        report.judged().iter().for_each(|judged| tally.count(judged));
        let missing = report.remarks().filter_map(|remark| remark.missing);
        missing.for_each(|(kind, count)| tally.counts_mut(kind).not_run += count);
        tally
    }

    /// Number of comparisons of all kinds with this outcome: to know if there is anything to list,
    /// and nothing to boast of.
    pub fn any(&self, outcome: Outcome) -> usize {
        ComparisonKind::ALL.iter().map(|kind| self.counts(*kind).count(outcome)).sum()
    }

    fn count(&mut self, judged: &TableVerdict) {
        let counts = self.counts_mut(judged.kind);
        match judged.outcome {
            Outcome::Reproduced => {
                counts.came_out += 1;
                counts.qualified += usize::from(judged.choice.is_some() || judged.loose.is_some());
            }
            Outcome::Differs => counts.differ += 1,
            Outcome::NotRun => counts.not_run += 1,
        }
    }

    /// Without those that could not be made.
    pub fn made(mut self) -> Self {
        ComparisonKind::ALL.into_iter().for_each(|kind| self.counts_mut(kind).not_run = 0);
        self
    }

    /// All of them together.
    pub fn sum(tallies: impl Iterator<Item = Self>) -> Self {
        tallies.fold(Self::default(), |mut sum, tally| {
            ComparisonKind::ALL.into_iter().for_each(|kind| sum.counts_mut(kind).add(tally.counts(kind)));
            sum
        })
    }
}
