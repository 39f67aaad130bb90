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
    /// By sums: tell K almost invariant sets, the heaviest first: their weights at rest, which need
    /// no equilibrium in the data, and the jumps between them in a step
    #[arg(long, value_name = "K", value_parser = count)]
    sets: Option<NonZeroUsize>,
    /// With --sets: the probability that set B is reached before set A, from each set and with
    /// --eigenfunctions at each state; sets count from 1
    #[arg(long, value_name = "A,B", value_delimiter = ',', value_parser = count, requires = "sets")]
    committor: Vec<NonZeroUsize>,
}

impl ReadOuts {
    /// Those that are given, by name.
    pub(super) fn given(&self) -> [(&'static str, bool); 2] {
        [("--lags", !self.lags.is_empty()), ("--sets", self.sets.is_some())]
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
        let [from, to] = match self.committor[..] {
            [] => [None; 2],
            [from, to] => [Some(from.get() - 1), Some(to.get() - 1)],
            _ => return Err(Failure::usage("--committor: give two sets, such as 1,2")),
        };
        let sets = self.sets.map(|count| model.sets(count.get())).transpose();
        let sets = sets.map_err(|error| match error {
            Error::NoSets { .. } => Failure::usage(format!("--sets: {error}")),
            _ => learnt.failure(&error),
        })?;
        let committor = match (&sets, from, to) {
            (Some(sets), Some(from), Some(to)) => Some(sets.committor(from, to).map_err(|_| {
                Failure::usage(format!("--committor: give two different sets of 1 to {}", sets.count()))
            })?),
            _ => None,
        };
        let lags = match &learnt.pass.scan {
            Some(scan) => scan.modes(modes).map_err(|error| {
                let most = scan.lags().last().copied().unwrap_or(0);
                Failure::because(format!("--lags, up to {most} steps: {error}"))
            })?,
            None => Vec::new(),
        };
        Ok(ReadOff { sets, committor, lags })
    }
}

/// What was read off a model.
#[derive(Default)]
pub(super) struct ReadOff {
    pub(super) sets: Option<MetastableSets>,
    /// For each set.
    pub(super) committor: Option<Vec<f64>>,
    pub(super) lags: Vec<LagMode>,
}

impl ReadOff {
    /// The sets as JSON; null without.
    pub(super) fn sets_object(&self) -> Value {
        self.sets.as_ref().map_or(
            Value::Null,
            |sets| json!({"weights": sets.weights(), "jumps": sets.jumps(), "committor": self.committor}),
        )
    }

    /// Writes the eigenfunctions at the states of --predict, or at the points kept, or at the
    /// latest states: x…, then real and imaginary part of each; with sets also the set, the
    /// memberships, and the committor.
    pub(super) fn write_functions(
        &self,
        file: &mut Predictions,
        (learnt, model): (&Learnt, &OperatorModel),
    ) -> Result<(), Failure> {
        let width = model.units().len();
        let sets = self.sets.iter().flat_map(|sets| {
            let members = (1..=sets.count()).map(|i| format!("member{i}"));
            std::iter::once("set".to_owned())
                .chain(members)
                .chain(self.committor.iter().map(|_| "committor".to_owned()))
        });
        let parts = (1..=model.modes().len()).flat_map(|i| [format!("re{i}"), format!("im{i}")]);
        let names = (1..=width).map(|i| format!("x{i}")).chain(parts).chain(sets);
        file.write(&(names.collect::<Vec<_>>().join(",") + "\n"))?;
        let places = match &learnt.queries {
            Some(queries) => queries.rows().iter().map(|row| row[..width].to_vec()).collect(),
            None => model.places(),
        };
        for point in places {
            let values = model.eigenfunctions(&point).map_err(|error| Failure::because(error.to_string()))?;
            let mut cells: Vec<String> = point.iter().chain(values.iter().flatten()).map(|x| number(*x)).collect();
            if let Some(sets) = &self.sets {
                let members = sets.memberships(&values);
                let larger = |best: usize, i: usize| if members[i] > members[best] { i } else { best };
                let set = (0..members.len()).reduce(larger).map_or(0, |set| set + 1);
                cells.push(set.to_string());
                cells.extend(members.iter().map(|member| number(*member)));
                cells.extend(
                    self.committor.iter().map(|q| {
                        number(members.iter().zip(q).map(|(member, q)| member * q).sum::<f64>().clamp(0.0, 1.0))
                    }),
                );
            }
            file.write(&(cells.join(",") + "\n"))?;
        }
        Ok(())
    }
}
