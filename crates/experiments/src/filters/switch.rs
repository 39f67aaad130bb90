//! A nonlinear channel is identified; in the middle of the stream it becomes another one.
//!
//! After the figure of Van Vaerenbergh, Lázaro-Gredilla and Santamaría, *Kernel recursive
//! least-squares tracker for time-varying regression*, IEEE Trans. Neural Netw. Learn. Syst. 23
//! (2012): white normal numbers through five taps and tanh, 20 dB of noise. Error is the squared
//! error of predictions before learning, as a mean over windows and seeds; that of the noise alone
//! is 0.01.

use super::methods::FilterMethod;
use super::pass::smoothed;
use super::signals::{CHANNEL_NOISE, channel};
use crate::prelude::*;

/// Rows of the full and the reduced run.
const ROWS: usize = 3000;
/// Windows over the whole stream.
const WINDOWS: usize = 60;
/// Most points.
const BUDGET: usize = 150;
/// Width of the Gaussian.
const WIDTH: f64 = 3.0;
/// A filter has recovered when its error is back at this many times its own before the change.
const RECOVERED: f64 = 1.5;
/// The part of the rows before the change within which a filter is expected to recover, or not.
const WITHIN: f64 = 0.33;

/// A mixture is compared with a learner that starts at the change, over so many rows after it.
const AFTER: usize = 1000;
/// The loss of the mixture over them is at most this many times that of the learner.
const AT_MOST: f64 = 1.2;

const KRLS: FilterMethod = FilterMethod::new("krls", &[("nu", 1e-2), ("lambda", 1e-2)]);
const RESTART: FilterMethod = KRLS.restarting().called("restart (krls)");
const SW_KRLS: FilterMethod = FilterMethod::new("sw-krls", &[("lambda", 1e-2)]);
const KRLS_T: FilterMethod = FilterMethod::new("krls-t", &[("noise", 1e-2), ("forgetting", 0.995)]);

/// Filters that are not expected back soon, and what they do with the past. Directional forgetting
/// weakens what is known along each input alone, which for as many directions as points takes long.
const SLOW: [(FilterMethod, &str); 3] = [
    (KRLS, "keep it"),
    (FilterMethod::new("ald-krls", &[("nu", 1e-2)]), "keep it"),
    (
        FilterMethod::new("krls", &[("nu", 1e-2), ("lambda", 1e-2), ("forgetting", 0.9)]).called("krls, directional"),
        "forget it along each input, 0.9",
    ),
];

/// Filters that are.
const FAST: [(FilterMethod, &str); 8] = [
    (
        FilterMethod::new("krls", &[("nu", 1e-2), ("lambda", 1e-2), ("forgetting", 0.99)])
            .naming(&[("forgets", "prior")])
            .called("krls, to the prior"),
        "forget it back to the prior, 0.99",
    ),
    (RESTART, "start anew"),
    (SW_KRLS, "keep a window"),
    (FilterMethod::new("fb-krls", &[("lambda", 1e-2)]), "keep a budget of it"),
    (KRLS_T, "forget it back to the prior, 0.995"),
    (FilterMethod::new("knlms", &[("eta", 0.5), ("mu0", 0.95)]), "small steps away from it"),
    (FilterMethod::new("norma", &[("eta", 0.5), ("lambda", 0.01)]), "keep a window, and shrink it"),
    (MIXTURE, "weigh learners that keep and that forget it"),
];

const MIXTURE: FilterMethod = FilterMethod::mixture(&[KRLS, RESTART, SW_KRLS, KRLS_T]).called("mixture of four");

/// The filter that starts at the change, and has no past.
const FRESH: FilterMethod = KRLS.called("krls, from the change on");

/// Facts from the smoothed error of one filter.
struct SwitchCourse {
    before: f64,
    after: f64,
    /// Rows after the change until it has recovered.
    recovery: Option<usize>,
}

pub(super) fn run(plan: &Plan) -> Result<Report> {
    let rows = plan.size.unwrap_or(ROWS);
    let seeds = plan.repetitions_or(10, 50);
    let methods: Vec<&(FilterMethod, &str)> = SLOW.iter().chain(&FAST).collect();
    let inputs = methods.iter().map(|(method, _)| *method).chain([FRESH]);
    let inputs = inputs.flat_map(|method| (0..seeds).map(move |seed| (method, seed)));
    let name = |(method, seed): &(FilterMethod, usize)| format!("filters_switch / {} / {}", method.shown, seed + 1);
    let passes = plan.each(inputs, name, |(method, seed), own| {
        let signal = channel(rows, plan.seed.wrapping_add(*seed as u64))?;
        let signal = if *method == FRESH { signal.after(rows / 2) } else { signal };
        method.pass(WIDTH, BUDGET, &signal, own)
    })?;
    let of = |method: &FilterMethod| passes.outcomes_where(|(own, _)| own == method);

    let axes = |title| Figure::new(title).x_label("row").y_label("mean squared error").log_y();
    let mut panels = [axes("not expected back soon"), axes("expected back")];
    let mut table = Table::with(
        "filter | the past | before the change ~3 | at the end ~3 | rows to recover .0 | \
             dictionary .0",
    );
    let mut courses = Vec::new();
    for (place, (method, past)) in methods.iter().enumerate() {
        let passes = of(method);
        let (xs, ys) = smoothed(&passes, WINDOWS);
        let course = course(&xs, &ys);
        table.push(row![
            method.shown,
            *past,
            course.before,
            course.after,
            course.recovery,
            mean_of(&passes, |pass| pass.size as f64)
        ])?;
        let panel = &mut panels[usize::from(place >= SLOW.len())];
        *panel = std::mem::take(panel).line(method.shown, &xs, &ys);
        courses.push(course);
    }
    let [late, soon] = panels;
    let (xs, noise) = (smoothed(&of(&KRLS), WINDOWS).0, vec![CHANNEL_NOISE * CHANNEL_NOISE; WINDOWS]);
    let pictures = [late, soon].map(|panel| panel.dashed("noise alone", &xs, &noise));

    let after = AFTER.min(rows - rows / 2);
    let losses =
        |method: &FilterMethod, first: usize| all_of(of(method), |pass| pass.squares[first..][..after].iter().sum());
    let ratios = all_of(losses(&MIXTURE, rows / 2).iter().zip(losses(&FRESH, 0)), |(mixed, fresh)| mixed / fresh);

    let mut report = Report::new("Filters: a channel that changes");
    report.words(format!(
        "{rows} rows, {seeds} seeds, at most {BUDGET} points (each member of the mixture), a Gaussian of width {WIDTH}; the taps change at row {}. Windows of {} rows. \
         A filter has recovered when a window's error is at most {RECOVERED} times its mean over the tenth of the stream before the change. Settings, and \
         which filters are expected back, were settled after a first run; no paper prints these numbers.",
        rows / 2,
        rows / WINDOWS
    ));
    report.table(
        "filters_switch_claims",
        "Which filters are back soon (statements of this project)",
        judge(&methods, &courses, rows, (after, &ratios))?,
    );
    report.table("filters_switch", "Errors before the change and at the end, and rows until recovery", table);
    let picture = pictures.into_iter().fold(Panels::new("", 2), Panels::panel);
    report.picture("filters_switch", "Error over the stream; the channel changes in the middle", picture);
    Ok(report)
}

fn course(xs: &[f64], ys: &[f64]) -> SwitchCourse {
    let half = ys.len() / 2;
    let before = mean(&ys[half - ys.len() / 10..half]);
    let recovered = (half..ys.len()).find(|k| ys[*k] <= RECOVERED * before);
    SwitchCourse {
        before,
        after: mean(&ys[ys.len() - ys.len() / 10..]),
        recovery: recovered.map(|k| (xs[k] - xs[half - 1]) as usize),
    }
}

fn judge(
    methods: &[&(FilterMethod, &str)],
    courses: &[SwitchCourse],
    rows: usize,
    (after, ratios): (usize, &[f64]),
) -> Result<Table> {
    let mut claims = Claims::new();
    let within = (WITHIN * rows as f64 / 2.0) as usize;
    let slow = SLOW.len();
    for ((method, _), course) in methods.iter().zip(courses).take(slow) {
        claims.ours(
            format!("{} is not back where it was within {within} rows", method.shown),
            format!("{} before, {} at the end", short(course.before), short(course.after)),
            course.recovery.is_none_or(|rows| rows > within),
        )?;
    }
    for ((method, _), course) in methods.iter().zip(courses).skip(slow) {
        let measured =
            course.recovery.map_or_else(|| "not within the stream".to_owned(), |rows| format!("{rows} rows"));
        claims.ours(
            format!("{} recovers within {within} rows", method.shown),
            measured,
            course.recovery.is_some_and(|rows| rows <= within),
        )?;
    }
    let (ratio, worst) = (mean(ratios), ratios.iter().fold(0.0, |worst: f64, ratio| worst.max(*ratio)));
    claims.ours(
        format!(
            "Over the {after} rows after the change the mixture loses at most {AT_MOST} times what {} loses",
            FRESH.shown
        ),
        format!("{} times as a mean over seeds, {} at worst", short(ratio), short(worst)),
        ratio <= AT_MOST,
    )?;
    let best = |courses: &[SwitchCourse]| courses.iter().map(|course| course.after).fold(f64::INFINITY, f64::min);
    let (late, soon) = (best(&courses[..slow]), best(&courses[slow..]));
    claims.ours(
        "At the end the best of those that are expected back is below the best of the others",
        format!("{} against {}", short(soon), short(late)),
        soon < late,
    )?;
    Ok(claims.table())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recovery_is_counted_from_the_change() {
        let xs: Vec<f64> = (1..=20).map(|k| 10.0 * f64::from(k)).collect();
        let mut ys = vec![1.0; 20];
        ys[10..14].fill(9.0);
        assert_eq!(course(&xs, &ys).recovery, Some(50));
        ys[10..].fill(9.0);
        let course = course(&xs, &ys);
        assert_eq!((course.recovery, course.before, course.after), (None, 1.0, 9.0));
    }
}
