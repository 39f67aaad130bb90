//! The filters, by their names in the catalogue, with the settings that they run with here.

use super::pass::{FilterPass, pass};
use super::signals::Signal;
use crate::prelude::*;
use anyhow::Context as _;
use mercer_experts::{AnyDetector, Rule};
use mercer_kernels::{AnyKernel, Gaussian};
use mercer_learners::catalogue::{Context, Entry, Value};
use mercer_learners::{Mixture, Restarting};
use mercer_registry::{AnyRegressor, build_with, entries};

/// A learner with settings; all else is its default.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct FilterMethod {
    /// As pictures and tables call it.
    pub(super) shown: &'static str,
    /// Its name in the catalogue.
    pub(super) name: &'static str,
    given: &'static [(&'static str, f64)],
    named: &'static [(&'static str, &'static str)],
    /// True if it starts anew when Page–Hinkley's test finds that its loss has risen.
    restarts: bool,
    /// Members of a mixture, by its standard rule.
    members: &'static [Self],
}

impl FilterMethod {
    /// Under its own name.
    pub(super) const fn new(name: &'static str, given: &'static [(&'static str, f64)]) -> Self {
        Self { shown: name, name, given, named: &[], restarts: false, members: &[] }
    }

    /// A mixture of these.
    pub(super) const fn mixture(members: &'static [Self]) -> Self {
        Self { members, ..Self::new("experts", &[]) }
    }

    pub(super) const fn called(self, shown: &'static str) -> Self {
        Self { shown, ..self }
    }

    /// With values that are names.
    pub(super) const fn naming(self, named: &'static [(&'static str, &'static str)]) -> Self {
        Self { named, ..self }
    }

    pub(super) const fn restarting(self) -> Self {
        Self { restarts: true, ..self }
    }

    /// Its entry in the catalogue.
    pub(super) fn entry(&self) -> Result<&'static Entry> {
        let entry = entries().iter().find(|entry| entry.name == self.name);
        entry.with_context(|| format!("the catalogue has no learner {}", self.name))
    }

    /// The key that bounds its points.
    pub(super) fn budget_key(&self) -> Option<&'static str> {
        let entry = self.entry().ok()?;
        ["max_dictionary", "budget", "tau", "window"].into_iter().find_map(|key| entry.key(key)).map(|key| key.name)
    }

    /// The learner, with a Gaussian of this width and at most `budget` points, where it can be told
    /// how many.
    pub(super) fn build(&self, width: f64, budget: usize, context: &Context<'_>) -> Result<AnyRegressor<AnyKernel>> {
        if !self.members.is_empty() {
            let build = |member: &Self| Ok((member.shown.to_owned(), member.build(width, budget, context)?));
            let members = self.members.iter().map(build).collect::<Result<Vec<_>>>()?;
            return Ok(Mixture::new(members, Rule::default())?.into());
        }
        let mut given: Vec<(&'static str, Value)> =
            self.given.iter().map(|(key, value)| (*key, (*value).into())).collect();
        given.extend(self.named.iter().map(|(key, name)| (*key, Value::from(*name))));
        given.extend(self.budget_key().map(|key| (key, budget.into())));
        let learner = build_with(self.entry()?, AnyKernel::Gaussian(Gaussian::new(width)?), context, &given)?.learner;
        Ok(if self.restarts { Restarting::new(learner, AnyDetector::default()).into() } else { learner })
    }

    /// Its pass over a signal.
    pub(super) fn pass(&self, width: f64, budget: usize, signal: &Signal, seed: u64) -> Result<FilterPass> {
        let context = Context { dimension: signal.dimension, seed, ..Context::default() };
        pass(&mut self.build(width, budget, &context)?, signal)
    }
}

/// Filters that share an idea, and so a panel.
pub(super) struct Family {
    pub(super) name: &'static str,
    pub(super) methods: &'static [FilterMethod],
}

/// All filters, `krls` in the last family.
pub(super) const FAMILIES: [Family; 4] = [
    Family {
        name: "gradient steps",
        methods: &[
            FilterMethod::new("klms", &[("eta", 0.5)]),
            FilterMethod::new("qklms", &[("eta", 0.5), ("epsilon", 0.3)]),
            FilterMethod::new("qklms-fb", &[("eta", 0.5), ("epsilon", 0.3)]),
            FilterMethod::new("norma", &[("eta", 0.5), ("lambda", 0.01)]),
            FilterMethod::new("fb-klms", &[("eta", 0.5), ("nu", 0.05)]),
        ],
    },
    Family {
        name: "normalised steps and projections",
        methods: &[
            FilterMethod::new("knlms", &[("eta", 0.5), ("mu0", 0.95)]),
            FilterMethod::new("kap", &[("eta", 0.1), ("mu0", 0.95), ("eps", 0.1)]),
            FilterMethod::new("lkapa", &[("eta", 0.05)]),
            FilterMethod::new("nlkapa", &[("eps", 0.01)]),
            FilterMethod::new("kap-sm", &[("mu", 1.0)]),
        ],
    },
    Family {
        name: "sparse coefficients, several kernels",
        methods: &[
            FilterMethod::new("klms-csl1", &[("eta", 0.02), ("mu0", 0.9)]),
            FilterMethod::new("klms-csal1", &[("eta", 0.02), ("mu0", 0.9)]),
            FilterMethod::new("mknlms-cs", &[("eta", 0.5), ("eps", 0.01)]),
            FilterMethod::new("mxklms", &[("eta", 0.5)]),
        ],
    },
    Family {
        name: "least squares",
        methods: &[
            FilterMethod::new("krls", &[("nu", 1e-4), ("lambda", 1e-3)]),
            FilterMethod::new("ald-krls", &[("nu", 1e-3)]),
            FilterMethod::new("sw-krls", &[("lambda", 1e-3)]),
            FilterMethod::new("fb-krls", &[("lambda", 1e-3)]),
            FilterMethod::new("krls-t", &[("noise", 1e-3), ("forgetting", 1.0)]),
            FilterMethod::new("ex-krls", &[("beta", 0.995)]),
        ],
    },
];

/// The filters of all families.
pub(super) fn filters() -> impl Iterator<Item = &'static FilterMethod> {
    FAMILIES.iter().flat_map(|family| family.methods)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A filter that is given a key it does not have, or a value out of range, is found here and
    /// not after minutes.
    #[test]
    fn every_filter_can_be_made_and_has_a_budget() {
        let context = Context { dimension: 3, ..Context::default() };
        assert!(filters().count() >= 15);
        for method in filters() {
            method.build(1.0, 50, &context).unwrap();
            assert!(method.budget_key().is_some(), "{}", method.shown);
        }
        assert!(FilterMethod::new("no such learner", &[]).build(1.0, 50, &context).is_err());
    }
}
