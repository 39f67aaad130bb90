//! From arguments to a forecaster.

use std::num::NonZeroUsize;
use std::path::Path;
use std::str::FromStr;

use clap::ValueEnum;
use mercer_forecast::Error;
use mercer_forecast::{
    AnyForecaster, ConformalIntervals, Detail, Discounted, DiscountedParams, EpochSchedule, ForecastMixture,
    Forgetting, GridParams, InputParams, IntervalParams, KalmanPredictor, Opf, OpfParams, Periods, ScaledForecaster,
    ScaledParams, SeasonParams, Seasons, Slip, SlipParams, SpectralFilter, SpectralParams, SpectralRule, StateSpace,
    WindowedSlip, WindowedSlipParams,
};
use mercer_readers::{ColumnChoice, Header, ReadOptions, RowReader, Series, TargetColumn};
use mercer_session::model::{Prediction, SeriesErrors};
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
const ALPHA: f64 = 1.0;
const RANK: usize = 10;
const HORIZON: usize = 1000;
/// Steps that weights and intervals of a season mixture are learnt for: at least, whatever is asked
/// for, and at most.
const HORIZONS: usize = 12;
const MOST_HORIZONS: usize = 2000;
/// Rows of a season mixture without a season that are not scored.
const WARM_UP: usize = 10;
/// Columns beyond which season mixtures have fewer experts.
const MANY: usize = 8;

/// Methods of prediction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum ForecastMethod {
    Opf,
    TsiamisPappas,
    Discounted,
    Slip,
    SlipWindow,
    Spectral,
    Kalman,
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
    fn gamma_given(&self) -> bool {
        self.gamma.is_some_and(|gamma| gamma != Gamma::Auto) || self.gamma_matrix.is_some()
    }

    /// The method that is told; without one, what the other options are for.
    pub(super) fn method(&self) -> ForecastMethod {
        let Self { beta, t_init, lambda, gamma, inputs, season, known, .. } = self;
        let of_experts =
            !beta.is_empty() || t_init.is_some() || lambda.is_some() || gamma.is_some() || !inputs.is_empty();
        let of_season = season.is_some() || !known.is_empty();
        let of_the_rest = if of_experts && !of_season { ForecastMethod::Experts } else { ForecastMethod::Season };
        self.method.unwrap_or(if self.gamma_given() { ForecastMethod::Opf } else { of_the_rest })
    }

    /// The columns that act on the outputs, and the option that names them.
    pub(super) fn acting(&self) -> (&'static str, &[ColumnChoice]) {
        if self.known.is_empty() { ("--inputs", &self.inputs) } else { ("--known", &self.known) }
    }
}

/// Facts with which a season mixture is made beside its options: the periods that the times
/// suggest, and the steps that are forecast.
pub(super) struct SeasonSetup {
    pub(super) periods: Vec<usize>,
    pub(super) steps: Option<NonZeroUsize>,
    /// True if there are many series.
    pub(super) grouped: bool,
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
        Some(Season::Auto) | None if ahead.periods.is_empty() => Periods::Found,
        Some(Season::Auto) | None => Periods::Given(ahead.periods.clone()),
    };
    let horizons = ahead.steps.map_or(HORIZONS, |steps| steps.get().clamp(HORIZONS, MOST_HORIZONS));
    let season = match &periods {
        Periods::Found => json!("found"),
        Periods::Given(periods) => json!(periods),
    };
    let mut parameters = vec![("season", season), ("horizons", json!(horizons))];
    let warm_up = match &periods {
        Periods::Given(periods) if !periods.is_empty() => 2 * periods[0] + 2,
        _ => WARM_UP,
    };
    let mut params = SeasonParams::default().periods(periods).horizons(horizons);
    if m > MANY || ahead.grouped {
        params = params.detail(Detail::Light);
        parameters.push(("detail", json!("light")));
    }
    if let Some(share) = arguments.intervals {
        params = params.coverage(share);
        parameters.push(("intervals", json!(share)));
    }
    if q > 0 {
        parameters.push(("known", json!(q)));
    }
    let seasons = Seasons::new(m, q, &params).map_err(|error| {
        let option = if error.name == "coverage" { "--intervals" } else { "--season" };
        Failure::usage(format!("{option}: {error}"))
    })?;
    Ok(Prediction {
        method: typed(&ForecastMethod::Season),
        parameters: parameters.into_iter().map(|(key, value)| (key.to_owned(), value.to_string())).collect(),
        inputs: columns.inputs.iter().filter_map(|column| u32::try_from(*column).ok()).collect(),
        errors: SeriesErrors { warm_up: warm_up as u64, ..SeriesErrors::default() },
        ..Prediction::new(columns.file_names(), seasons.into())
    })
}

/// The forecaster that the options ask for, with nothing observed.
pub(super) fn build(
    arguments: &ForecastMaking,
    columns: &SeriesColumns,
    ahead: &SeasonSetup,
) -> Result<Prediction, Failure> {
    let (given, method) = (arguments.gamma_given(), arguments.method());
    refuse_idle_options(method, arguments, given)?;
    if method == ForecastMethod::Season {
        return build_season(arguments, columns, ahead);
    }
    let (m, q) = (columns.outputs.len(), columns.inputs.len());
    let regulariser = arguments.lambda.unwrap_or(Lambda::Auto);
    let t_init = arguments.t_init.unwrap_or(T_INIT);
    let mut asked = MethodSetup {
        betas: if arguments.beta.is_empty() { vec![BETA] } else { arguments.beta.clone() },
        t_init,
        lambda: regulariser.own(),
        outputs: m,
        inputs: q,
        shared: false,
        parameters: Vec::new(),
    };
    if uses_schedule(method) {
        let betas = &asked.betas;
        asked.parameters.push(("beta", if betas.len() == 1 { json!(betas[0]) } else { json!(betas) }));
    }
    if method != ForecastMethod::Kalman {
        asked.parameters.extend([("t_init", json!(t_init)), ("lambda", regulariser.shown())]);
    }
    let forecaster = match method {
        ForecastMethod::Slip | ForecastMethod::SlipWindow | ForecastMethod::Spectral => {
            asked.on_filters(method, arguments)
        }
        ForecastMethod::Kalman => Ok(asked.kalman(arguments)?),
        _ => asked.on_lags(method, arguments, given)?,
    };
    let MethodSetup { shared, mut parameters, .. } = asked;
    if q > 0 {
        parameters.extend([("inputs", json!(q)), ("feed_through", json!(arguments.feed_through))]);
    }
    let intervals = arguments
        .intervals
        .map(|coverage| ConformalIntervals::new(m, IntervalParams::default().coverage(coverage)))
        .transpose()
        .map_err(|error| Failure::usage(format!("--intervals: {error}")))?;
    parameters.extend(arguments.intervals.map(|coverage| ("intervals", json!(coverage))));
    let forecaster = forecaster.map_err(|error| refused(&error))?;
    let forecaster = if regulariser == Lambda::Auto && method != ForecastMethod::Kalman {
        let params = ScaledParams::default().rows(t_init.saturating_add(1)).shared(shared);
        ScaledForecaster::new(forecaster, params).map_err(|error| refused(&error))?.into()
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

/// Settings that all the paper's methods share.
struct MethodSetup {
    betas: Vec<f64>,
    t_init: usize,
    lambda: f64,
    outputs: usize,
    inputs: usize,
    /// True if all outputs have one scale.
    shared: bool,
    /// As they are told.
    parameters: Vec<(&'static str, Value)>,
}

impl MethodSetup {
    fn schedule(&self) -> EpochSchedule {
        EpochSchedule { beta: self.betas[0], t_init: self.t_init, max_lags: None }
    }

    /// Inputs of the methods on lags, which are scaled as the outputs are unless another factor is
    /// given.
    fn inputs(&self, arguments: &ForecastMaking, forgetting: f64) -> InputParams {
        let forgetting = Forgetting::Scalar(arguments.gamma_input.unwrap_or(forgetting));
        InputParams::default().count(self.inputs).forgetting(forgetting).feed_through(arguments.feed_through)
    }

    /// Regressions on lags: one γ, a grid of them, or a discount. The inner error is that of a
    /// parameter.
    fn on_lags(
        &mut self,
        method: ForecastMethod,
        arguments: &ForecastMaking,
        given: bool,
    ) -> Result<Result<AnyForecaster, Error>, Failure> {
        let (m, q, lambda, schedule) = (self.outputs, self.inputs, self.lambda, self.schedule());
        if method == ForecastMethod::Discounted {
            let alpha = arguments.alpha.unwrap_or(ALPHA);
            self.parameters.push(("alpha", json!(alpha)));
            let params = DiscountedParams::default().schedule(schedule).lambda(lambda).alpha(alpha);
            let inputs = self.inputs(arguments, 1.0);
            let made = if q == 0 { Discounted::new(m, &params) } else { Discounted::with_inputs(m, &inputs, &params) };
            return Ok(made.map(AnyForecaster::from));
        }
        if method == ForecastMethod::TsiamisPappas || (method == ForecastMethod::Opf && given) {
            let (forgetting, scalar) = forgetting(method, arguments, m)?;
            self.parameters.push(("gamma", shown(&forgetting, m)));
            self.shared = mixes(&forgetting, m);
            let params = OpfParams::default().schedule(schedule).lambda(lambda).forgetting(forgetting);
            if q == 0 {
                return Ok(Opf::new(m, &params).map(AnyForecaster::from));
            }
            let Some(own) = arguments.gamma_input.or(scalar) else {
                return Err(Failure::usage("--gamma-matrix says nothing of the inputs; add --gamma-input"));
            };
            self.parameters.push(("gamma_input", json!(own)));
            return Ok(Opf::with_inputs(m, &self.inputs(arguments, own), &params).map(AnyForecaster::from));
        }
        let params = GridParams::default()
            .schedule(schedule)
            .lambda(lambda)
            .betas(self.betas.clone())
            .gamma_for_inputs(arguments.gamma_input.is_none());
        self.parameters.extend([("gamma", json!("auto")), ("gammas", json!(params.gammas))]);
        self.parameters.extend(arguments.gamma_input.map(|gamma| ("gamma_input", json!(gamma))));
        let grid = if q == 0 {
            ForecastMixture::<Opf>::grid(m, &params)
        } else {
            ForecastMixture::<Opf>::grid_with_inputs(m, &self.inputs(arguments, 1.0), &params)
        };
        Ok(grid.map(|grid| grid.recovering().into()))
    }

    /// Ridge on spectral filters.
    fn on_filters(&mut self, method: ForecastMethod, arguments: &ForecastMaking) -> Result<AnyForecaster, Error> {
        let (m, q, lambda, feed_through) = (self.outputs, self.inputs, self.lambda, arguments.feed_through);
        let (rank, horizon) = (arguments.rank.unwrap_or(RANK), arguments.horizon.unwrap_or(HORIZON));
        self.parameters.push(("rank", json!(rank)));
        if method == ForecastMethod::SlipWindow {
            let params = WindowedSlipParams::default().schedule(self.schedule()).lambda(lambda).rank(rank);
            let with_inputs = || WindowedSlip::with_inputs(m, q, feed_through, &params);
            return Ok(if q == 0 { WindowedSlip::new(m, &params)? } else { with_inputs()? }.into());
        }
        self.parameters.push(("horizon", json!(horizon)));
        if method == ForecastMethod::Slip {
            let params = SlipParams::default().t_init(self.t_init).lambda(lambda).rank(rank).horizon(horizon);
            let with_inputs = || Slip::with_inputs(m, q, feed_through, &params);
            return Ok(if q == 0 { Slip::new(m, &params)? } else { with_inputs()? }.into());
        }
        let rule = SpectralRule::Ridge { lambda };
        let params = SpectralParams::default().t_init(self.t_init).rank(rank).horizon(horizon).rule(rule);
        let with_inputs = || SpectralFilter::with_inputs(m, q, feed_through, &params);
        Ok(if q == 0 { SpectralFilter::new(m, &params)? } else { with_inputs()? }.into())
    }

    /// The predictor of a known system.
    fn kalman(&mut self, arguments: &ForecastMaking) -> Result<AnyForecaster, Failure> {
        let Some(path) = &arguments.system else {
            return Err(Failure::usage("--method kalman needs the system's matrices; add --system FILE.json"));
        };
        let system = read_system(path)?;
        let kalman =
            KalmanPredictor::new(&system).map_err(|error| Failure::because(format!("{}: {error}", path.display())))?;
        check_system(path, &kalman, self.outputs, self.inputs, arguments.feed_through)?;
        self.parameters.push(("closed_loop_radius", json!(kalman.closed_loop_radius())));
        Ok(AnyForecaster::from(kalman))
    }
}

/// True if β counts past rows.
fn uses_schedule(method: ForecastMethod) -> bool {
    !matches!(method, ForecastMethod::Slip | ForecastMethod::Spectral | ForecastMethod::Kalman | ForecastMethod::Season)
}

/// An option that would be ignored is an error in what was asked for; at its default it says
/// nothing.
fn refuse_idle_options(method: ForecastMethod, arguments: &ForecastMaking, gamma_given: bool) -> Result<(), Failure> {
    let name = typed(&method);
    let idle = |option: &str, of: &str| {
        Err(Failure::usage(format!("--method {name} has no use for {option}, which is for {of}; leave it out")))
    };
    if method == ForecastMethod::Season {
        if arguments.t_init.is_some() || arguments.lambda.is_some() {
            return idle("--t-init and --lambda", "the other methods");
        }
        if !arguments.inputs.is_empty() {
            return idle("--inputs", "the other methods (--known names inputs that are known in advance)");
        }
    } else if arguments.season.is_some() {
        return idle("--season", "season");
    } else if !arguments.known.is_empty() {
        return idle("--known", "season (--inputs with --feed-through is like it)");
    }
    if method == ForecastMethod::Experts && gamma_given {
        return Err(Failure::usage(
            "--method experts tries a grid of γ; leave --gamma and --gamma-matrix out, or use --method opf",
        ));
    }
    if gamma_given && method != ForecastMethod::Opf {
        return idle("--gamma", "opf");
    }
    if arguments.beta.iter().any(|beta| *beta != BETA) && !uses_schedule(method) {
        return idle("--beta", "the methods whose window grows");
    }
    let grid = match method {
        ForecastMethod::Experts => true,
        ForecastMethod::Opf => !gamma_given,
        _ => false,
    };
    if arguments.beta.len() > 1 && !grid {
        return Err(Failure::usage(format!(
            "--method {name} has one β; give --beta one number, or use --method experts"
        )));
    }
    if arguments.alpha.is_some_and(|alpha| alpha != ALPHA) && method != ForecastMethod::Discounted {
        return idle("--alpha", "discounted");
    }
    let spectral = matches!(method, ForecastMethod::Slip | ForecastMethod::SlipWindow | ForecastMethod::Spectral);
    if arguments.rank.is_some_and(|rank| rank != RANK) && !spectral {
        return idle("--rank", "slip, slip-window and spectral");
    }
    if arguments.horizon.is_some_and(|horizon| horizon != HORIZON)
        && (!spectral || method == ForecastMethod::SlipWindow)
    {
        return idle("--horizon", "slip and spectral");
    }
    if arguments.system.is_some() && method != ForecastMethod::Kalman {
        return idle("--system", "kalman");
    }
    if arguments.lambda.is_some_and(|lambda| lambda != Lambda::Auto) && method == ForecastMethod::Kalman {
        return idle("--lambda", "methods that learn");
    }
    if arguments.gamma_input.is_some() && (spectral || method == ForecastMethod::Kalman) {
        return idle("--gamma-input", "opf, experts and discounted");
    }
    Ok(())
}

/// γ or Γ of a method that has one, and γ as a number.
fn forgetting(
    method: ForecastMethod,
    arguments: &ForecastMaking,
    outputs: usize,
) -> Result<(Forgetting, Option<f64>), Failure> {
    if method == ForecastMethod::TsiamisPappas {
        return Ok((Forgetting::Scalar(1.0), Some(1.0)));
    }
    if let Some(path) = &arguments.gamma_matrix {
        return Ok((Forgetting::Matrix(read_matrix(path, outputs)?), None));
    }
    match arguments.gamma {
        Some(Gamma::Given(gamma)) => Ok((Forgetting::Scalar(gamma), Some(gamma))),
        Some(Gamma::Auto) | None => Ok((Forgetting::Scalar(1.0), Some(1.0))),
    }
}

/// True if the powers of a matrix carry numbers from one output to another.
fn mixes(forgetting: &Forgetting, outputs: usize) -> bool {
    let Forgetting::Matrix(entries) = forgetting else { return false };
    entries.iter().enumerate().any(|(i, entry)| !i.is_multiple_of(outputs + 1) && *entry != 0.0)
}

fn shown(forgetting: &Forgetting, outputs: usize) -> Value {
    match forgetting {
        Forgetting::Scalar(gamma) => json!(gamma),
        Forgetting::Matrix(rows) => json!(rows.chunks(outputs).collect::<Vec<_>>()),
    }
}

fn read_matrix(path: &Path, size: usize) -> Result<Vec<f64>, Failure> {
    let options = ReadOptions { target: TargetColumn::None, header: Header::Absent, ..ReadOptions::default() };
    let matrix = Series::read("matrix", &mut RowReader::open(path, &options)?)?;
    let (rows, columns) = (matrix.len(), matrix.dimension());
    if (rows, columns) == (size, size) {
        return Ok(matrix.values().to_vec());
    }
    Err(Failure::because(format!(
        "{}: has {rows} rows of {columns} numbers; a matrix for {size} outputs has {size} rows of {size}",
        path.display()
    )))
}

/// The file of `--system`: matrices as arrays of rows.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct System {
    a: Vec<Vec<f64>>,
    #[serde(default)]
    b: Vec<Vec<f64>>,
    c: Vec<Vec<f64>>,
    #[serde(default)]
    d: Vec<Vec<f64>>,
    q: Vec<Vec<f64>>,
    r: Vec<Vec<f64>>,
}

fn read_system(path: &Path) -> Result<StateSpace, Failure> {
    let refused = |what: String| Failure::because(format!("{}: {what}", path.display()));
    let text = std::fs::read_to_string(path)
        .map_err(|error| refused(format!("cannot be read ({error}); check the path and its permissions")))?;
    let system: System = serde_json::from_str(&text).map_err(|error| {
        refused(format!(
            "{error}; write one object of matrices such as {{\"a\": [[1]], \"c\": [[1]], \"q\": [[1]], \"r\": [[1]]}}"
        ))
    })?;
    let flat = |name: &str, rows: Vec<Vec<f64>>| {
        let width = rows.first().map_or(0, Vec::len);
        if rows.iter().any(|row| row.len() != width) {
            return Err(refused(format!("the rows of \"{name}\" differ in length; give every row as many numbers")));
        }
        Ok(rows.concat())
    };
    let System { a, b, c, d, q, r } = system;
    Ok(StateSpace {
        a: flat("a", a)?,
        b: flat("b", b)?,
        c: flat("c", c)?,
        d: flat("d", d)?,
        q: flat("q", q)?,
        r: flat("r", r)?,
    })
}

fn check_system(
    path: &Path,
    kalman: &KalmanPredictor,
    outputs: usize,
    inputs: usize,
    feed_through: bool,
) -> Result<(), Failure> {
    use mercer_forecast::Forecaster;

    let (m, q) = (kalman.outputs(), kalman.inputs());
    if (m, q) != (outputs, inputs) {
        return Err(Failure::because(format!(
            "{}: has {m} outputs and {q} inputs, the series {outputs} and {inputs}; name the inputs with --inputs, or correct \
             the system",
            path.display()
        )));
    }
    if kalman.feed_through() != feed_through {
        let mending =
            if feed_through { "give it, or leave --feed-through out" } else { "add --feed-through, or take it out" };
        return Err(Failure::because(format!(
            "{}: {} a matrix \"d\", by which inputs act at once; {mending}",
            path.display(),
            if feed_through { "has not" } else { "has" },
        )));
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
