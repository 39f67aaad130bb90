//! A mixture in the catalogue.

use mercer_core::Cost;
use mercer_experts::{Rule, Share};

use super::team::Gather;
use super::{Member, Mixture};
use crate::entry::keys::join;
use crate::entry::{self, BuildError, Context, Entry, Key, Kind, ParameterType, Parameters, Takes, Values};
use crate::parameters::parameters;
use crate::{Error, Regressor};

parameters! {
    /// Parameters by which a [`Mixture`] weighs its members.
    pub struct MixtureParams {
        /// how losses become weights: exponential, Bernstein or polynomial aggregation
        rule: Rule = Rule::MlPoly => "" "ewa, boa or ml-poly",
        /// part of the weight that all members get after a row, to follow a best member that
        /// changes
        share: Share = Share::Fixed(0.0) => "α" "a number of at least 0, below 1; 0 under ml-poly"
            .found(DECREASING_SHARE),
    }
}

const DECREASING_SHARE: entry::Rule =
    entry::Rule::looking("1/(t + 1) after row t", "Cesa-Bianchi et al. 2012", false, |_, _, _| {
        Ok(Share::Decreasing.to_value())
    });

const MEMBERS: Key = Key::written(
    Kind::Members,
    [
        "members",
        "NAME KEY=VALUE …; NAME …, with kernel=SPEC among the settings",
        "the learners; nons-ald, krls and aogd-ald that differ in neither kernel, threshold nor max_dictionary share a \
         dictionary",
    ],
    || "nons-ald;krls;aogd-ald".into(),
);

#[doc(hidden)]
pub const EXPERTS: Entry = Entry {
    name: "experts",
    summary: "mixture of learners that competes with the best of them",
    keys: &join::<3>(&[MEMBERS], MixtureParams::KEYS),
    time: Cost::Members,
    memory: Cost::Members,
    growth: Some(
        "as the members' does; nons-ald and krls keep 1000 points at most, aogd-ald what its threshold admits",
    ),
    source: "de Rooij et al. 2014; Wintenberger 2017; Gaillard et al. 2014; Herbster and Warmuth 1998",
    remedy: Some("replace the members that diverge"),
    takes: Takes::SQUARED,
    advice: "a few candidates",
    start: "`members='nons-ald; krls lambda=0.1'`, ML-Poly",
    trial: &["members=nons-ald; krls; fogd; kogd"],
    ..Entry::PLAIN
};

/// The mixture of the learners that `members` names.
///
/// # Errors
/// When a value is out of its range, or the members cannot be mixed.
pub fn mixture<M: Member + Regressor + Clone>(
    context: &Context<'_>,
    values: &Values<'_>,
    members: &[(String, M)],
) -> Result<Mixture<M>, BuildError>
where
    M::Group: Gather<M>,
{
    let MixtureParams { rule, share } = values.parameters(context)?;
    let mixture = Mixture::new(members.iter().cloned(), rule)?.recovering();
    Ok(mixture.sharing(share).map_err(Error::from)?)
}
