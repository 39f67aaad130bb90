//! The report on an operator that stochastic gradient descent has learnt.

use mercer_kernels::AnyKernel;
use mercer_koopman::KernelOperator;

use super::report::{self, Eigenvalue, KoopmanReport, KoopmanRun};
use super::{ExtraFiles, KoopmanArguments, Learnt};
use crate::report::failure::Failure;
use crate::report::output;

pub(super) fn tell(
    arguments: &KoopmanArguments,
    learnt: &Learnt,
    operator: &KernelOperator<AnyKernel>,
    files: ExtraFiles,
) -> Result<(), Failure> {
    let Learnt { pass, layout, shown, .. } = learnt;
    let learner = &pass.model.learner;
    if operator.inputs().is_empty() && learner.rounds() > 0 && arguments.predict.is_none() {
        return Err(Failure::because(format!(
            "{shown}: no pair was kept, so the operator is empty: its units are too small for this kernel and budget; scale the \
             columns, lower --set budget, or take --method sums, which scales them"
        )));
    }
    let wanted = arguments.eigen.unwrap_or(if layout.acts() { 0 } else { super::MODES });
    let mut eigenvalues =
        if wanted == 0 { Vec::new() } else { operator.eigenvalues().map_err(|error| learnt.failure(&error))? };
    eigenvalues.truncate(wanted);
    let forecasts = learnt.queries.as_ref().map(|queries| queries.forecast(operator, learnt.steps));
    let kept_rounds = report::kept(&learner.kept_rounds());
    let report = KoopmanReport {
        pairs: learner.rounds(),
        dictionary_size: kept_rounds.len(),
        dictionary_indices: kept_rounds,
        hs_norm: operator.hs_norm(),
        forced_rejections: learner.forced_rejections(),
        full_rejections: pass.full,
        eigenvalues: eigenvalues.into_iter().map(Eigenvalue::from).collect(),
        seconds: pass.seconds.as_secs_f64(),
        predictions: forecasts.transpose().map_err(|error| learnt.failure(&error))?,
    };
    if let Some(mut file) = files.weights {
        report::write_weights(&mut file, operator)?;
        file.finish()?;
    }
    if let Some(mut file) = files.dictionary {
        report::write_dictionary(&mut file, operator, &learner.kept_rounds(), layout)?;
        file.finish()?;
    }
    if let Some(mut file) = files.predictions {
        file.write(&report.forecast_lines(layout))?;
        file.finish()?;
    }
    output::print(&if arguments.json {
        crate::report::json::line(&report)?
    } else {
        let run = KoopmanRun { data: shown, learnt: pass.learnt, one_sided: pass.one_sided, stopped: learnt.stopped };
        report.text(&run, operator, layout, arguments.predictions.is_none())
    })
}
