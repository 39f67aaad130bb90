//! From arguments to a forecaster.

use std::num::NonZeroUsize;
use std::str::FromStr;

use clap::ValueEnum;
use mercer_encoding::TimeStep;
use mercer_forecast::{
    AnyForecaster, ConformalIntervals, EpochSchedule, Error, ForecastMixture, Forgetting, GridParams,
    GuardedForecaster, InputParams, IntervalParams, Opf, OpfParams, Periods, ScaledForecaster, ScaledParams,
    SeasonParams,
};
use mercer_readers::ColumnChoice;
use mercer_session::model::{Prediction, SeriesErrors};
use mercer_session::series::{SEASON_HORIZONS, season_mixture};
use serde_json::{Value, json};

use super::ForecastMaking;
use super::columns::SeriesColumns;
use crate::arguments::typed;
use crate::report::failure::Failure;

/// The defaults of the options; an option at its default is accepted by every method.
const BETA: f64 = 2.5;
const T_INIT: usize = 60;
/// A hundredth of the squared scales: weak, since the noise of a smooth series is far below its
/// changes. Between a thousandth and 1 it makes little difference to noisy series (a per cent or
/// so), and smooth ones want it small; chosen on simulated series and the Earth's orientation.
const LAMBDA_IN_SCALES: f64 = 0.01;
/// Steps that weights and intervals of a season mixture are learnt for at most.
const MOST_HORIZONS: usize = 2000;

/// Methods of prediction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum ForecastMethod {
    Opf,
    Experts,
    Season,
}

/// The lengths of the seasons, as they are told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Season {
    /// By the step of the times, or else by the data.
    Auto,
    /// None for no season.
    Given(Vec<usize>),
}

impl FromStr for Season {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "auto" => return Ok(Self::Auto),
            "none" => return Ok(Self::Given(Vec::new())),
            _ => {}
        }
        let periods: Result<Vec<usize>, _> = text.split(',').map(|part| part.trim().parse()).collect();
        let mut periods =
            periods.map_err(|_| "give auto, none, or one to three numbers of rows such as 7 or 24,168")?;
        periods.sort_unstable();
        periods.dedup();
        Ok(Self::Given(periods))
    }
}

/// A forgetting factor, or a grid of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Gamma {
    Auto,
    Given(f64),
}

impl FromStr for Gamma {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "auto" => Ok(Self::Auto),
            _ => text.parse().map(Self::Given).map_err(|_| "give auto or a number above 0 and at most 1"),
        }
    }
}

/// A regulariser in the squared units of the series, or in squares of the scales that it tells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Lambda {
    Auto,
    Given(f64),
}

impl FromStr for Lambda {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "auto" => Ok(Self::Auto),
            _ => text.parse().map(Self::Given).map_err(|_| "give auto or a positive number"),
        }
    }
}

impl Lambda {
    /// The value that the forecaster itself gets, behind scales or not.
    fn own(self) -> f64 {
        match self {
            Self::Auto => LAMBDA_IN_SCALES,
            Self::Given(lambda) => lambda,
        }
    }

    fn shown(self) -> Value {
        match self {
            Self::Auto => json!("auto"),
            Self::Given(lambda) => json!(lambda),
        }
    }
}

impl ForecastMaking {
    /// γ, if it is a number.
    fn gamma(&self) -> Option<f64> {
        match self.gamma {
            Some(Gamma::Given(gamma)) => Some(gamma),
            Some(Gamma::Auto) | None => None,
        }
    }

    /// The method that is told; without one, what the other options are for.
    pub(super) fn method(&self) -> ForecastMethod {
        let Self { beta, t_init, lambda, gamma, inputs, season, known, .. } = self;
        let of_experts =
            !beta.is_empty() || t_init.is_some() || lambda.is_some() || gamma.is_some() || !inputs.is_empty();
        let of_season = season.is_some() || !known.is_empty();
        let of_the_rest = if of_experts && !of_season { ForecastMethod::Experts } else { ForecastMethod::Season };
        self.method.unwrap_or(if self.gamma().is_some() { ForecastMethod::Opf } else { of_the_rest })
    }

    /// The columns that act on the outputs, and the option that names them.
    pub(super) fn acting(&self) -> (&'static str, &[ColumnChoice]) {
        if self.known.is_empty() { ("--inputs", &self.inputs) } else { ("--known", &self.known) }
    }
}

/// Facts with which a season mixture is made beside its options: the periods that the times
/// suggest, and the steps that are forecast.
pub(super) struct SeasonSetup {
    pub(super) periods: Periods,
    pub(super) steps: Option<NonZeroUsize>,
    /// True if there are many series.
    pub(super) grouped: bool,
}

/// The periods of rows that are this far apart.
pub(super) fn periods_of(step: TimeStep) -> Periods {
    let likely = step.periods();
    if likely.is_empty() { Periods::Found } else { Periods::Calendar { likely, asked: step.year() } }
}

/// The season mixture that the options ask for, with nothing observed.
fn build_season(
    arguments: &ForecastMaking,
    columns: &SeriesColumns,
    ahead: &SeasonSetup,
) -> Result<Prediction, Failure> {
    let (m, q) = (columns.outputs.len(), columns.inputs.len());
    let periods = match &arguments.season {
        Some(Season::Given(periods)) => Periods::Given(periods.clone()),
        Some(Season::Auto) | None => ahead.periods.clone(),
    };
    let horizons = ahead.steps.map_or(SEASON_HORIZONS, |steps| steps.get().clamp(SEASON_HORIZONS, MOST_HORIZONS));
    let params = SeasonParams::default().periods(periods).horizons(horizons);
    let made =
        season_mixture(columns.file_names(), [m, q], params, (arguments.intervals, ahead.grouped.then_some(true)));
    let made = made.map_err(|error| {
        let option = if error.name == "coverage" { "--intervals" } else { "--season" };
        Failure::usage(format!("{option}: {error}"))
    })?;
    let inputs = columns.inputs.iter().filter_map(|column| u32::try_from(*column).ok()).collect();
    Ok(Prediction { inputs, ..made })
}

/// The forecaster that the options ask for, with nothing observed.
pub(super) fn build(
    arguments: &ForecastMaking,
    columns: &SeriesColumns,
    ahead: &SeasonSetup,
) -> Result<Prediction, Failure> {
    let method = arguments.method();
    refuse_idle_options(method, arguments)?;
    if method == ForecastMethod::Season {
        return build_season(arguments, columns, ahead);
    }
    let (m, q) = (columns.outputs.len(), columns.inputs.len());
    let regulariser = arguments.lambda.unwrap_or(Lambda::Auto);
    let t_init = arguments.t_init.unwrap_or(T_INIT);
    let betas = if arguments.beta.is_empty() { vec![BETA] } else { arguments.beta.clone() };
    let mut parameters = vec![
        ("beta", if betas.len() == 1 { json!(betas[0]) } else { json!(betas) }),
        ("t_init", json!(t_init)),
        ("lambda", regulariser.shown()),
    ];
    let schedule = EpochSchedule { beta: betas[0], t_init, max_lags: None };
    let forecaster = match arguments.gamma() {
        Some(gamma) => {
            parameters.push(("gamma", json!(gamma)));
            let forgetting = Forgetting::Scalar(gamma);
            let params = OpfParams::default().schedule(schedule).lambda(regulariser.own());
            opf([m, q], &params.forgetting(forgetting.clone()), &InputParams::default().count(q).forgetting(forgetting))
        }
        None => {
            let params = GridParams::default().schedule(schedule).lambda(regulariser.own()).betas(betas);
            parameters.extend([("gamma", json!("auto")), ("gammas", json!(params.gammas))]);
            grid([m, q], &params)
        }
    };
    let forecaster = forecaster.map_err(|error| refused(&error))?;
    if q > 0 {
        parameters.push(("inputs", json!(q)));
    }
    let intervals = arguments
        .intervals
        .map(|coverage| ConformalIntervals::new(m, IntervalParams::default().coverage(coverage)))
        .transpose()
        .map_err(|error| Failure::usage(format!("--intervals: {error}")))?;
    parameters.extend(arguments.intervals.map(|coverage| ("intervals", json!(coverage))));
    let forecaster = if regulariser == Lambda::Auto {
        let params = ScaledParams::default().rows(t_init.saturating_add(1));
        let scaled: AnyForecaster = ScaledForecaster::new(forecaster, params).map_err(|error| refused(&error))?.into();
        GuardedForecaster::new(scaled).map_err(|error| refused(&error))?.into()
    } else {
        forecaster
    };
    Ok(Prediction {
        method: typed(&method),
        parameters: parameters.into_iter().map(|(key, value)| (key.to_owned(), value.to_string())).collect(),
        inputs: columns.inputs.iter().filter_map(|column| u32::try_from(*column).ok()).collect(),
        errors: SeriesErrors { warm_up: (t_init as u64).saturating_add(1), ..SeriesErrors::default() },
        intervals,
        ..Prediction::new(columns.file_names(), forecaster)
    })
}

/// Online prediction with one γ, of so many outputs and inputs.
fn opf([m, q]: [usize; 2], params: &OpfParams, inputs: &InputParams) -> Result<AnyForecaster, Error> {
    Ok(if q == 0 { Opf::new(m, params)? } else { Opf::with_inputs(m, inputs, params)? }.into())
}

/// The grid of experts, of so many outputs and inputs.
fn grid([m, q]: [usize; 2], params: &GridParams) -> Result<AnyForecaster, Error> {
    let inputs = InputParams::default().count(q).forgetting(Forgetting::Scalar(1.0));
    let grid = if q == 0 {
        ForecastMixture::<Opf>::grid(m, params)?
    } else {
        ForecastMixture::<Opf>::grid_with_inputs(m, &inputs, params)?
    };
    Ok(grid.recovering().into())
}

/// Refuses an option that would be ignored.
fn refuse_idle_options(method: ForecastMethod, arguments: &ForecastMaking) -> Result<(), Failure> {
    let name = typed(&method);
    let idle = |option: &str, of: &str| {
        Err(Failure::usage(format!("--method {name} has no use for {option}, which is for {of}; leave it out")))
    };
    let gamma = arguments.gamma().is_some();
    if method == ForecastMethod::Season {
        if arguments.t_init.is_some() || arguments.lambda.is_some() || !arguments.beta.is_empty() || gamma {
            return idle("--gamma, --beta, --t-init and --lambda", "opf and experts");
        }
        if !arguments.inputs.is_empty() {
            return idle("--inputs", "opf and experts (--known names inputs that are known in advance)");
        }
    } else if arguments.season.is_some() {
        return idle("--season", "season");
    } else if !arguments.known.is_empty() {
        return idle("--known", "season (opf and experts have --inputs)");
    }
    if method == ForecastMethod::Experts && gamma {
        return Err(Failure::usage("--method experts tries a grid of γ; leave --gamma out, or use --method opf"));
    }
    if arguments.beta.len() > 1 && gamma {
        return Err(Failure::usage("--gamma takes one β; give --beta one number, or use --method experts"));
    }
    Ok(())
}

/// A parameter out of range is an argument that cannot be right; its name is the option's.
fn refused(error: &Error) -> Failure {
    match error {
        Error::Parameter(_) => Failure::usage(format!("{error}; see mercer forecast --help")),
        _ => Failure::because(error.to_string()),
    }
}
