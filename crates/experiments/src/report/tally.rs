//! How many comparisons came to what, the three kinds apart.

use serde::ser::SerializeStruct as _;
use serde::{Serialize, Serializer};

use crate::judgement::Kind;
use crate::report::Report;
use crate::table::Judged;
use crate::verdict::Outcome;

/// The comparisons of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Those that came out.
    pub came_out: usize,
    /// Of those, the ones that need a choice of ours or whose bound is loose.
    pub qualified: usize,
    /// Those that did not come out.
    pub differ: usize,
    /// Those that could not be made.
    pub not_run: usize,
}

impl Counts {
    /// How many came to this.
    #[must_use]
    pub fn of(&self, outcome: Outcome) -> usize {
        match outcome {
            Outcome::Reproduced => self.came_out,
            Outcome::Differs => self.differ,
            Outcome::NotRun => self.not_run,
        }
    }

    /// All of them.
    #[must_use]
    pub fn total(&self) -> usize {
        self.came_out + self.differ + self.not_run
    }
}

/// The three kinds of comparisons, never added up: they show different things.
///
/// As JSON `{printed: {reproduced, with_our_choice, differ, not_run}, bounds: {hold, loose, do_not_hold, not_run}, claims: {hold,
/// with_our_choice, do_not_hold, not_run}}`, where the second number of each is a part of the first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Numbers that a paper prints.
    pub printed: Counts,
    /// Bounds and orders that a paper proves or states.
    pub bounds: Counts,
    /// What this project says.
    pub claims: Counts,
}

impl Tally {
    /// The comparisons of a kind.
    #[must_use]
    pub fn of(&self, kind: Kind) -> &Counts {
        match kind {
            Kind::Printed => &self.printed,
            Kind::Bound => &self.bounds,
            Kind::Claim => &self.claims,
        }
    }

    fn of_mut(&mut self, kind: Kind) -> &mut Counts {
        match kind {
            Kind::Printed => &mut self.printed,
            Kind::Bound => &mut self.bounds,
            Kind::Claim => &mut self.claims,
        }
    }

    /// Of one report: the verdicts of its tables, and the comparisons that it says could not be made.
    #[must_use]
    pub fn of_report(report: &Report) -> Self {
        let mut tally = Self::default();
        report.judged().iter().for_each(|judged| tally.count(judged));
        report.remarks().filter_map(|remark| remark.missing).for_each(|(kind, count)| tally.add_missing(kind, count));
        tally
    }

    /// How many of all kinds came to this: whether there is anything to list, and nothing to boast of.
    #[must_use]
    pub fn any(&self, outcome: Outcome) -> usize {
        Kind::ALL.iter().map(|kind| self.of(*kind).of(outcome)).sum()
    }

    /// Whether nothing was compared.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    fn count(&mut self, judged: &Judged) {
        let counts = self.of_mut(judged.kind);
        match judged.outcome {
            Outcome::Reproduced => {
                counts.came_out += 1;
                counts.qualified += usize::from(judged.choice.is_some() || judged.loose.is_some());
            }
            Outcome::Differs => counts.differ += 1,
            Outcome::NotRun => counts.not_run += 1,
        }
    }

    fn add_missing(&mut self, kind: Kind, count: usize) {
        self.of_mut(kind).not_run += count;
    }

    pub(crate) fn sum(tallies: impl Iterator<Item = Self>) -> Self {
        tallies.fold(Self::default(), |mut sum, tally| {
            for kind in Kind::ALL {
                let (sum, own) = (sum.of_mut(kind), tally.of(kind));
                sum.came_out += own.came_out;
                sum.qualified += own.qualified;
                sum.differ += own.differ;
                sum.not_run += own.not_run;
            }
            sum
        })
    }
}

impl Serialize for Tally {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        /// One kind with the names of its four numbers.
        struct Named<'a>(&'a Counts, [&'static str; 4]);
        impl Serialize for Named<'_> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let Self(counts, names) = self;
                let mut form = serializer.serialize_struct("Counts", 4)?;
                let numbers = [counts.came_out, counts.qualified, counts.differ, counts.not_run];
                for (name, number) in names.iter().zip(numbers) {
                    form.serialize_field(name, &number)?;
                }
                form.end()
            }
        }
        let mut form = serializer.serialize_struct("Tally", 3)?;
        let printed = ["reproduced", "with_our_choice", "differ", "not_run"];
        form.serialize_field("printed", &Named(&self.printed, printed))?;
        form.serialize_field("bounds", &Named(&self.bounds, ["hold", "loose", "do_not_hold", "not_run"]))?;
        form.serialize_field("claims", &Named(&self.claims, ["hold", "with_our_choice", "do_not_hold", "not_run"]))?;
        form.end()
    }
}
