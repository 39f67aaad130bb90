//! Lemma 4.5: how well an ALD dictionary stands for the kernel matrix, in spectral norm.
//!
//! Local (13): on the rounds `T_j` that see the dictionary `S(j)`,
//! `‖K_{T_j} − Φᵀ P_{S(j)} Φ‖₂ ≤ |T_j| α`. Global (14): with every round in the coordinates of the
//! dictionary that held it, `‖K_T − Φ̃ᵀΦ̃‖₂ ≤ T √α`. In Newton coordinates a dictionary's points
//! keep their coordinates when it grows, so `φ̃` is the round's own coordinate vector, padded with
//! zeros.

use mercer_kernels::Kernel;
use mercer_readers::Dataset;

use super::Walk;
use crate::decay::Regime;
use crate::hindsight::neglected;
use crate::prelude::*;

const REGIMES: [Regime; 2] = [Regime::EXPONENTIAL, Regime::MATERN_32];

const THRESHOLDS: [f64; 5] = [1e-1, 1e-2, 1e-3, 1e-4, 1e-5];

/// The errors of one walk.
#[derive(Clone, Debug, PartialEq)]
struct WalkErrors {
    /// `(|T_j|, error)` of every epoch.
    local: Vec<(f64, f64)>,
    global: f64,
    size: usize,
}

/// `‖K − ΦᵀΦ‖₂` over the rounds of a range.
fn error<K: Kernel>(walk: &Walk<K>, stream: &Dataset, first: usize, end: usize) -> Result<f64> {
    let inputs: Vec<&[f64]> = (first..end).map(|t| stream.row(t)).collect();
    neglected(walk.basis.kernel(), &inputs, &walk.coordinates[first..end])
}

fn measure(regime: &Regime, rounds: usize, alpha: f64, seed: u64) -> Result<WalkErrors> {
    let stream = regime.stream(rounds, seed)?;
    let walk = Walk::new(regime.kernel()?, &stream, alpha)?;
    let ends = walk.kept.iter().skip(1).copied().chain([rounds]);
    let local = walk
        .kept
        .iter()
        .zip(ends)
        .map(|(&first, end)| Ok(((end - first) as f64, error(&walk, &stream, first, end)?)))
        .collect::<Result<_>>()?;
    Ok(WalkErrors { local, global: error(&walk, &stream, 0, rounds)?, size: walk.basis.len() })
}

pub(in crate::sublinear) fn run(plan: &Plan) -> Result<Report> {
    let rounds = plan.size_or(600, 1500);
    let inputs = REGIMES.iter().flat_map(|regime| THRESHOLDS.map(|alpha| (*regime, alpha)));
    let name = |(regime, alpha): &(Regime, f64)| format!("lemma45 / {} / {alpha}", regime.name);
    let results = plan.each(inputs, name, |(regime, alpha), _| measure(regime, rounds, *alpha, plan.seed))?;

    let mut report = Report::new("Lemma 4.5: spectral errors of an ALD dictionary");
    report.words(format!(
        "T = {rounds}. Local: the largest share of its bound |T_j| α that the error of any epoch takes (1 would be the bound). Global: \
         the error of the whole kernel matrix, against T √α."
    ));
    let mut table =
        Table::with("decay | α ~1 | J # | largest local error/bound ~3 | global error ~3 | T √α ~3 | within");
    let mut panels = Panels::new(format!("Spectral errors of an ALD dictionary, T = {rounds}"), 2);
    for regime in &REGIMES {
        let own = results.0.iter().filter(|((own, _), _)| own == regime);
        let rows: Vec<(f64, &WalkErrors)> = own.map(|((_, alpha), errors)| (*alpha, errors)).collect();
        let (mut local, mut edge) = (Figure::new(format!("local (13), decay {}", regime.name)), Vec::new());
        for (alpha, errors) in &rows {
            let share = errors.local.iter().map(|(length, error)| error / (length * alpha)).fold(0.0, f64::max);
            let bound = rounds as f64 * alpha.sqrt();
            // A dictionary that kept the round exactly leaves rounding behind, some 1e−16.
            let within = share <= 1.0 + 1e-9 && errors.global <= bound;
            table.push(row![
                regime.name,
                *alpha,
                errors.size,
                share,
                errors.global,
                bound,
                Judgement::bound(within, [(share, 1.0), (errors.global, bound)])
            ])?;
            // An epoch of one round is the kept point itself, and has no error.
            let real: Vec<&(f64, f64)> = errors.local.iter().filter(|(length, _)| *length > 1.0).collect();
            let xs: Vec<f64> = real.iter().map(|(length, _)| length * alpha).collect();
            let ys: Vec<f64> = real.iter().map(|(_, error)| *error).collect();
            edge.extend(xs.iter().copied());
            local = local.points(format!("α = {alpha:e}"), &xs, &ys);
        }
        edge.sort_by(f64::total_cmp);
        local = local.dashed("bound", &edge, &edge).x_label("|T_j| α").y_label("spectral error of the epoch");
        let alphas: Vec<f64> = rows.iter().map(|(alpha, _)| *alpha).collect();
        let measured: Vec<f64> = rows.iter().map(|(_, errors)| errors.global).collect();
        let bounds: Vec<f64> = alphas.iter().map(|alpha| rounds as f64 * alpha.sqrt()).collect();
        let global = Figure::new(format!("global (14), decay {}", regime.name))
            .x_label("α")
            .y_label("spectral error of the kernel matrix")
            .line("measured", &alphas, &measured)
            .dashed("bound", &alphas, &bounds);
        panels = panels.panel(global.log_x().log_y()).panel(local.log_x().log_y());
    }
    report.table("lemma45", "Spectral errors and the lemma's bounds", table);
    report.picture("lemma45", "Left: the error of the whole matrix; right: of every epoch; dashed: the bounds", panels);
    Ok(report)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spectral_norm_by_hand_and_the_bounds_on_a_stream() {
        // Three equal points: one is kept, nothing is left out.
        let stream = Dataset::new("t", 1, vec![0.5; 3], vec![0.0; 3]).unwrap();
        let walk = Walk::new("gaussian:1".parse::<mercer_kernels::AnyKernel>().unwrap(), &stream, 0.1).unwrap();
        assert_eq!(walk.kept, [0]);
        assert!(error(&walk, &stream, 0, 3).unwrap() < 1e-15);
        for regime in &REGIMES {
            let errors = measure(regime, 120, 1e-3, 9).unwrap();
            assert_eq!(errors.local.len(), errors.size);
            assert_eq!(errors.local.iter().map(|(length, _)| length).sum::<f64>(), 120.0);
            assert!(errors.local.iter().all(|(length, error)| *error <= length * 1e-3));
            assert!(errors.global <= 120.0 * 1e-3f64.sqrt() && errors.global > 0.0);
        }
    }
}
