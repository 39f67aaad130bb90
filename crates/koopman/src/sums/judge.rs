//! The verdict on the modes of a spectrum: by held-out lags, and by whether the record is
//! stationary.

use mercer_linalg_incremental::Eigenvalue;

use super::blocks::{Group, Sums, sum};
use super::lag_test::{correlations, distance};
use super::modes::{FitSource, Mode, Spectrum, put_in_order};
use super::resolution::{MOST_MOVED, coarse_values};
use super::stationarity::{SLOWEST, wanders};
use super::verdict::{Reason, Reliability};
use crate::Error;

/// An eigenfunction to this residual needs no test in time, also where the states grow or die out.
const EXACT_FUNCTION: f64 = 0.01;

/// Facts about the system that a verdict needs.
#[derive(Clone, Copy)]
pub(crate) struct SystemFacts {
    /// Features that are no points, and the ridge on the others.
    pub(crate) fit: (usize, f64),
    pub(crate) deterministic: bool,
    /// Successive rows that a state is made of.
    pub(crate) delay: usize,
    /// Numbers of the newest row among the features.
    pub(crate) newest: (usize, usize),
    /// True if the dictionary has no room for points that it lacks.
    pub(crate) full: bool,
    /// True if the pairs are one path.
    pub(crate) path: bool,
}

/// Judges the modes of `spectrum` on the sums of `groups`.
///
/// # Errors
/// When an eigenvalue iteration fails.
pub(crate) fn judge(spectrum: &mut Spectrum, groups: &[Group<'_>], facts: SystemFacts) -> Result<(), Error> {
    test_lags(&mut spectrum.modes, groups, spectrum.source, facts)?;
    spectrum.wanders = test_stationarity(&mut spectrum.modes, groups, facts);
    if facts.deterministic {
        put_in_order(spectrum);
        // Two spreads are then the residual, within which a normal operator has an eigenvalue: that
        // of a system on its attractor. Where there is no noise, functions are what is wrong.
        let others = spectrum.modes.iter_mut().filter(|mode| mode.reason != Reason::Constant);
        others.for_each(|mode| mode.spread = mode.spread.hypot(0.5 * mode.residual));
    }
    Ok(())
}

/// Judges by their correlation at two lags those modes that pass at the first look.
fn test_lags(modes: &mut [Mode], groups: &[Group<'_>], source: FitSource, facts: SystemFacts) -> Result<(), Error> {
    let values: Vec<Eigenvalue> = modes.iter().map(|mode| mode.value).collect();
    let lag = first_lag(facts.delay);
    let found = correlations(groups, facts.fit, source, (&values, lag))?;
    let moves = moves(modes, groups, source, facts);
    for ((k, mode), moved) in modes.iter_mut().enumerate().zip(moves) {
        if mode.reason == Reason::Constant {
            continue;
        }
        mode.spread = mode.spread.hypot(moved);
        let exact = facts.deterministic && mode.residual <= EXACT_FUNCTION;
        if let Some(correlations) = &found {
            if !facts.deterministic {
                mode.spread = mode.spread.hypot(correlations[k].bias);
            }
            if mode.is_reliable() && !exact {
                (mode.reliability, mode.reason) = match mode.value.modulus() <= 3.0 * mode.spread {
                    true => (Reliability::Unknown, Reason::WithinSpread),
                    false => correlations[k].verdict(mode.value, lag),
                };
            }
        } else if mode.is_reliable() && facts.delay > 1 && !facts.deterministic {
            (mode.reliability, mode.reason) = (Reliability::Unknown, Reason::NoLags);
        }
        if mode.is_reliable() && moved > MOST_MOVED {
            (mode.reliability, mode.reason) = (Reliability::Unknown, Reason::Unresolved);
        }
    }
    Ok(())
}

/// How far each mode moves with half of the points of a full dictionary; 0 where it has room.
fn moves(modes: &[Mode], groups: &[Group<'_>], source: FitSource, facts: SystemFacts) -> Vec<f64> {
    let asks = facts.full && !facts.deterministic;
    let coarse = if asks { coarse_values(&sum(groups), facts.fit, source) } else { None };
    modes.iter().map(|mode| coarse.as_ref().map_or(0.0, |coarse| nearest(coarse, mode.value))).collect()
}

/// What the functions of modes that are not judged leave of each eigenvalue: half the residual of a
/// deterministic system, or the move with half of the points.
pub(super) fn function_bias(spectrum: &Spectrum, groups: &[Group<'_>], facts: SystemFacts) -> Vec<f64> {
    match facts.deterministic {
        true => spectrum.modes.iter().map(|mode| 0.5 * mode.residual).collect(),
        false => moves(&spectrum.modes, groups, spectrum.source, facts),
    }
}

/// The distance of the nearest of these values, at most 1.
fn nearest(values: &[Eigenvalue], value: Eigenvalue) -> f64 {
    values.iter().map(|other| distance(*other, value)).fold(1.0, f64::min)
}

/// Leaves all modes but the constant open where the record wanders or has a trend; says if it does.
fn test_stationarity(modes: &mut [Mode], groups: &[Group<'_>], facts: SystemFacts) -> bool {
    if !facts.path {
        return false;
    }
    let weight: f64 = groups.iter().flat_map(|group| &group.0).map(|sums: &&Sums| sums.weight).sum();
    let unit_root = |mode: &Mode| {
        let away = (1.0 - mode.value.re).hypot(mode.value.im);
        let slow = mode.value.im == 0.0 && away * weight < SLOWEST;
        slow && mode.is_reliable() && mode.reason != Reason::Constant
    };
    let (first, last) = facts.newest;
    let wanders =
        wanders(groups, first..last, facts.deterministic) || (!facts.deterministic && modes.iter().any(unit_root));
    if wanders {
        for mode in modes.iter_mut().filter(|mode| mode.reason != Reason::Constant && mode.is_reliable()) {
            (mode.reliability, mode.reason) = (Reliability::Unknown, Reason::NotStationary);
        }
    }
    wanders
}

/// The first lag at which windows of `delay` rows share no row with the next.
pub(super) fn first_lag(delay: usize) -> usize {
    delay.max(2)
}
