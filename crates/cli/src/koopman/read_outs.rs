//! What else is read off an operator by sums: lags, sets and committors, functions at given states.

use std::num::NonZeroUsize;

use clap::Args;
use mercer_koopman::{Error, LagMode, LagScan, MetastableSets, OperatorModel, OperatorSums};
use serde_json::{Value, json};

use super::Learnt;
use crate::arguments::count;
use crate::report::failure::Failure;
use crate::report::output::{Predictions, number};

/// Further read-outs of exact sums.
#[derive(Args)]
pub(super) struct ReadOuts {
    /// By sums: learn the pairs that are so many steps apart as well, and tell the time scales at
    /// each lag and whether eigenvalues are powers of those at the shortest one (the test of
    /// Chapman and Kolmogorov); where they are not, a state misses something slow
    #[arg(long, value_name = "K,…", value_delimiter = ',', value_parser = count, requires = "pairs")]
    lags: Vec<NonZeroUsize>,
    #[command(flatten)]
    sets: SetArguments,
}

/// Almost invariant sets.
#[derive(Args)]
pub(crate) struct SetArguments {
    /// By sums: tell K almost invariant sets, the heaviest first: their weights at rest, which need
    /// no equilibrium in the data, and the jumps between them in a step
    #[arg(long, value_name = "K", value_parser = count)]
    sets: Option<NonZeroUsize>,
    /// With --sets: the probability that set B is reached before set A, from each set and from each
    /// state that sets are told for; sets count from 1
    #[arg(long, value_name = "A,B", value_delimiter = ',', value_parser = count, requires = "sets")]
    committor: Vec<NonZeroUsize>,
}

impl SetArguments {
    /// True if sets are asked for.
    pub(crate) fn are_given(&self) -> bool {
        self.sets.is_some()
    }

    /// The sets of a model, named `shown` in messages.
    pub(crate) fn read(&self, shown: &str, model: &OperatorModel) -> Result<SetColumns, Failure> {
        let [from, to] = match self.committor[..] {
            [] => [None; 2],
            [from, to] => [Some(from.get() - 1), Some(to.get() - 1)],
            _ => return Err(Failure::usage("--committor: give two sets, such as 1,2")),
        };
        let sets = self.sets.map(|count| model.sets(count.get())).transpose();
        let sets = sets.map_err(|error| match error {
            Error::NoSets { .. } => Failure::usage(format!("--sets: {error}")),
            _ => Failure::because(format!("{shown}: {error}")),
        })?;
        let committor = match (&sets, from, to) {
            (Some(sets), Some(from), Some(to)) => Some(sets.committor(from, to).map_err(|_| {
                Failure::usage(format!("--committor: give two different sets of 1 to {}", sets.count()))
            })?),
            _ => None,
        };
        Ok(SetColumns { sets, committor })
    }
}

/// Sets that were read off a model, as columns beside its eigenfunctions.
#[derive(Default)]
pub(crate) struct SetColumns {
    sets: Option<MetastableSets>,
    /// For each set.
    committor: Option<Vec<f64>>,
}

impl SetColumns {
    /// The columns of so many functions: real and imaginary part of each; with sets also the set,
    /// the memberships, and the committor.
    pub(crate) fn names(&self, functions: usize) -> Vec<String> {
        let parts = (1..=functions).flat_map(|i| [format!("re{i}"), format!("im{i}")]);
        let sets = self.sets.iter().flat_map(|sets| {
            let members = (1..=sets.count()).map(|i| format!("member{i}"));
            std::iter::once("set".to_owned())
                .chain(members)
                .chain(self.committor.iter().map(|_| "committor".to_owned()))
        });
        parts.chain(sets).collect()
    }

    /// Their values at a state, of the first `functions` functions.
    pub(crate) fn values(&self, model: &OperatorModel, x: &[f64], functions: usize) -> Result<Vec<f64>, Error> {
        let at = model.eigenfunctions(x)?;
        let mut values: Vec<f64> = at.iter().take(functions).flatten().copied().collect();
        if let Some(sets) = &self.sets {
            let members = sets.memberships(&at);
            let larger = |best: usize, i: usize| if members[i] > members[best] { i } else { best };
            values.push((0..members.len()).reduce(larger).map_or(0, |set| set + 1) as f64);
            values.extend(&members);
            let reached = |q: &Vec<f64>| members.iter().zip(q).map(|(member, q)| member * q).sum::<f64>();
            values.extend(self.committor.iter().map(|q| reached(q).clamp(0.0, 1.0)));
        }
        Ok(values)
    }
}

impl ReadOuts {
    /// Those that are given, by name.
    pub(super) fn given(&self) -> [(&'static str, bool); 2] {
        [("--lags", !self.lags.is_empty()), ("--sets", self.sets.are_given())]
    }

    /// The learners of the pairs at other lags, if they are asked for.
    pub(super) fn scan(&self, sums: Option<&OperatorSums>) -> Result<Option<LagScan>, Failure> {
        let Some(sums) = sums.filter(|_| !self.lags.is_empty()) else { return Ok(None) };
        if sums.input_dimension() != sums.output_dimension() {
            return Err(Failure::usage(
                "--lags: with an action in x a state some steps on also depends on the actions between; leave --lags out",
            ));
        }
        let scan = LagScan::new(sums.output_dimension(), &self.lags, *sums.params());
        scan.map(Some).map_err(|error| Failure::usage(format!("--lags: {error}")))
    }

    /// What is read off the model and the lags.
    pub(super) fn read(&self, learnt: &Learnt, model: &OperatorModel, modes: usize) -> Result<ReadOff, Failure> {
        let lags = match &learnt.pass.scan {
            Some(scan) => scan.modes(modes).map_err(|error| {
                let most = scan.lags().last().copied().unwrap_or(0);
                Failure::because(format!("--lags, up to {most} steps: {error}"))
            })?,
            None => Vec::new(),
        };
        Ok(ReadOff { sets: self.sets.read(&learnt.shown, model)?, lags })
    }
}

/// What was read off a model.
#[derive(Default)]
pub(super) struct ReadOff {
    sets: SetColumns,
    pub(super) lags: Vec<LagMode>,
}

impl ReadOff {
    /// The sets, with the committor of each if it was asked for.
    pub(super) fn sets(&self) -> Option<(&MetastableSets, Option<&[f64]>)> {
        Some((self.sets.sets.as_ref()?, self.sets.committor.as_deref()))
    }

    /// The sets as JSON; null without.
    pub(super) fn sets_object(&self) -> Value {
        self.sets().map_or(
            Value::Null,
            |(sets, committor)| json!({"weights": sets.weights(), "jumps": sets.jumps(), "committor": committor}),
        )
    }

    /// Writes the eigenfunctions at the states of --predict, or at the points kept, or at the
    /// latest states: x…, then the columns of [`SetColumns`].
    pub(super) fn write_functions(
        &self,
        file: &mut Predictions,
        (learnt, model): (&Learnt, &OperatorModel),
    ) -> Result<(), Failure> {
        let (width, functions) = (model.units().len(), model.modes().len());
        let names = (1..=width).map(|i| format!("x{i}")).chain(self.sets.names(functions));
        file.write(&(names.collect::<Vec<_>>().join(",") + "\n"))?;
        let places = match &learnt.queries {
            Some(queries) => queries.rows().iter().map(|row| row[..width].to_vec()).collect(),
            None => model.places(),
        };
        for point in places {
            let values = self.sets.values(model, &point, functions);
            let values = values.map_err(|error| Failure::because(error.to_string()))?;
            let cells: Vec<String> = point.iter().chain(&values).map(|x| number(*x)).collect();
            file.write(&(cells.join(",") + "\n"))?;
        }
        Ok(())
    }
}
