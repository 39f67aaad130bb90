//! The report on an operator by exact sums.

use std::time::Duration;

use mercer_koopman::{Error, OperatorModel, Trajectory};
#[cfg(feature = "serve")]
use mercer_session::model::Operator;
#[cfg(feature = "serve")]
use serde_json::Value;

#[cfg(feature = "serve")]
use super::pairs::PairLayout;
use super::read_outs::ReadOff;
use super::sums_report::{COVERAGE, Forecast, SumsReport};
use super::{ExtraFiles, KoopmanArguments, Learnt, MODES};
use crate::report::failure::Failure;
use crate::report::output;

/// Why sums cannot be read.
pub(super) fn unread(learnt: &Learnt, error: &Error) -> Failure {
    let trajectory = learnt.pass.model.trajectory.as_ref();
    match trajectory.map_or(0, Trajectory::cuts) {
        cuts if 2 * cuts > learnt.pass.learnt => learnt.failure(error).with(&format!(
            "the trajectory was cut {cuts} times, at gaps of --time, missing cells or another --group, whose rows must stand together"
        )),
        _ => learnt.failure(error),
    }
}

pub(super) fn tell(
    arguments: &KoopmanArguments,
    learnt: &Learnt,
    (model, read): (&OperatorModel, ReadOff),
    time: Duration,
    files: ExtraFiles,
) -> Result<(), Failure> {
    let trajectory = learnt.pass.model.trajectory.as_ref();
    let forecast = forecast(model, learnt, trajectory).map_err(|error| learnt.failure(&error))?;
    let modes = arguments.eigen.unwrap_or(MODES);
    let shapes = model.mode_shapes(modes).map_err(|error| learnt.failure(&error))?;
    let report = SumsReport {
        data: &learnt.shown,
        layout: &learnt.layout,
        trajectory,
        learnt: learnt.pass.learnt,
        left_out: learnt.left_out,
        stopped: learnt.stopped,
        tau: arguments.step_time.or(learnt.step_time),
        in_seconds: arguments.step_time.is_none() && learnt.in_seconds,
        doubt: learnt.doubt.as_deref(),
        modes,
        model,
        shapes,
        read,
        forecast,
        seconds: time.as_secs_f64(),
    };
    if let Some(mut file) = files.predictions {
        file.write(&report.forecast_lines())?;
        file.finish()?;
    }
    if let Some(mut file) = files.eigenfunctions {
        report.read.write_functions(&mut file, (learnt, model)).map_err(|error| error.with(&learnt.shown))?;
        file.finish()?;
    }
    output::print(&if arguments.json {
        crate::report::json::line(&report.object())?
    } else {
        report.text(arguments.predictions.is_none())
    })
}

/// The findings about the operator of a file, as `--json` tells them of a model without PAIRS, less
/// what belongs to a run.
///
/// # Errors
/// When the functions of the modes depend on each other.
#[cfg(feature = "serve")]
pub(crate) fn findings(file: &Operator, model: &OperatorModel) -> Result<Value, Error> {
    let (layout, trajectory) = (PairLayout::of_model(file), file.trajectory.as_ref());
    let report = SumsReport {
        data: "",
        layout: &layout,
        trajectory,
        learnt: 0,
        left_out: 0,
        stopped: false,
        tau: trajectory.and_then(Trajectory::step),
        in_seconds: false,
        doubt: None,
        modes: MODES,
        model,
        shapes: model.mode_shapes(MODES)?,
        read: ReadOff::default(),
        forecast: None,
        seconds: 0.0,
    };
    let mut object = report.object();
    if let Some(object) = object.as_object_mut() {
        for key in ["seconds", "left_out", "sets", "lags", "forced_rejections", "full_rejections"] {
            object.remove(key);
        }
    }
    Ok(object)
}

/// The states after each query, or those after the end of the trajectory with their intervals.
fn forecast(
    model: &OperatorModel,
    learnt: &Learnt,
    trajectory: Option<&Trajectory>,
) -> Result<Option<Forecast>, Error> {
    let (dimension, steps) = (learnt.layout.input_dimension, learnt.steps);
    if let Some(queries) = &learnt.queries {
        let mut rows = Vec::new();
        for query in queries.rows() {
            let (x, inputs) = query.split_at(dimension);
            rows.extend(model.forecast(x, inputs, steps)?.pop());
        }
        return Ok(Some(Forecast { rows, half_widths: vec![model.half_widths(steps, COVERAGE)], from_end: false }));
    }
    let Some((trajectory, last)) = trajectory.and_then(|rows| Some((rows, rows.state()?))) else { return Ok(None) };
    let newest = dimension - trajectory.columns();
    let rows = model.forecast(last, &[], steps)?.into_iter().map(|mut state| state.split_off(newest)).collect();
    let half_widths = (1..=steps).map(|step| model.half_widths(step, COVERAGE).split_off(newest)).collect();
    Ok(Some(Forecast { rows, half_widths, from_end: true }))
}
