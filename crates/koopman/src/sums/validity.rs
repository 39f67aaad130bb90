//! Rules that saved sums of an operator keep.

use mercer_core::{Inconsistent, Validate};

use super::candidate::Candidate;
use super::{BUFFER, OperatorSums, OperatorSumsParams, SettledSums};

/// The range of no number.
const EMPTY: (f64, f64) = (f64::INFINITY, f64::NEG_INFINITY);

impl Validate for OperatorSumsParams {
    fn validate(&self) -> Result<(), Inconsistent> {
        Inconsistent::size(self.max_dictionary, "parameters of an operator")?;
        Inconsistent::require(self.delay > 0, "parameters of an operator", "a state has a row")?;
        self.half_life.map_or(Ok(()), |rows| Inconsistent::positive(rows, "half-life"))
    }
}

impl Validate for OperatorSums {
    fn validate(&self) -> Result<(), Inconsistent> {
        const WHAT: &str = "sums of an operator";
        Inconsistent::size(self.dimension, WHAT)?;
        Inconsistent::require((1..=self.dimension).contains(&self.state), WHAT, "a state within x")?;
        self.params.validate()?;
        let whole = self.state.is_multiple_of(self.params.delay) && self.range.len() == self.state;
        Inconsistent::require(whole, WHAT, "a state has whole rows, and a range")?;
        let ranged = self.range.iter().all(|[least, most]| least <= most || (*least, *most) == EMPTY);
        Inconsistent::require(ranged, WHAT, "a range has its least and its largest number")?;
        self.pending.validate()?;
        self.recent.validate()?;
        let width = self.dimension + self.state;
        let fits = self.recent.width() == width && self.pending.len().is_multiple_of(width);
        Inconsistent::require(fits, WHAT, "whole pairs")?;
        let pairs = self.pending.len() / width;
        Inconsistent::require(pairs as u64 <= self.rounds, WHAT, "no more pairs than rounds")?;
        let Some(SettledSums { scale, candidates }) = &self.settled else {
            let all = pairs as u64 == self.rounds && pairs < BUFFER;
            return Inconsistent::require(all, WHAT, "all pairs, until they settle the scale");
        };
        Inconsistent::require(pairs < self.together(), WHAT, "few pairs that are not in the sums")?;
        scale.validate()?;
        candidates.validate()?;
        let leading = |candidate: &Candidate| (candidate.features.leading(), candidate.state());
        let shapes = candidates.iter().all(|candidate| leading(candidate) == (1 + self.dimension, self.state));
        let fits = !candidates.is_empty() && scale.dimension() == self.dimension && shapes;
        Inconsistent::require(fits, WHAT, "candidates of its dimension")
    }
}
