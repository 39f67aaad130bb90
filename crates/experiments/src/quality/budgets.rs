//! Error of `auto` against its budget of multiply-adds a row, and against the time that it takes,
//! beside the peers' times.

use super::pass::{QualityPass, pass};
use super::peers::{PeerScore, is_online, scores};
use super::streams::{LoadedStream, load};
use crate::prelude::*;

/// Multiply-adds a row: each some `√2` times the one before.
const BUDGETS: [usize; 27] = [
    1_000, 1_400, 2_000, 2_800, 4_000, 5_600, 8_000, 11_000, 16_000, 22_000, 32_000, 45_000, 64_000, 90_000, 128_000,
    180_000, 256_000, 360_000, 512_000, 720_000, 1_024_000, 1_440_000, 2_048_000, 2_900_000, 4_096_000, 5_800_000,
    8_192_000,
];
/// So many places further the budget is twice as large.
const OCTAVE: usize = 2;
/// The most that twice the budget may raise the error.
const WORSE: f64 = 1.01;

pub(super) fn run(plan: &Plan) -> Result<Report> {
    let rows = plan.size_or(super::REDUCED_ROWS, usize::MAX);
    let (streams, missing) = load(plan, rows)?;
    let inputs = streams.iter().flat_map(|stream| BUDGETS.map(|budget| (stream, budget)));
    let name = |(stream, budget): &(&LoadedStream, usize)| format!("quality_budgets / {} / {budget}", stream.name);
    let passes = plan.each(inputs, name, |(stream, budget), _| pass(&stream.table, *budget))?.0;
    let passes: Vec<QualityPass> = passes.into_iter().map(|(_, pass)| pass).collect();
    let shares = all_of(&passes, |pass| pass.nmse);

    let names = || streams.iter().map(|loaded| &loaded.name);
    let errors = by_budget(names(), Format::Decimals(4), |place| passes[place].nmse)?;
    let times = by_budget(names(), Format::Significant(3), |place| passes[place].microseconds)?;
    let mut panels = Panels::new("", 3);
    let whole = rows == usize::MAX;
    let (mut worse, mut below) = (Vec::new(), [Vec::new(), Vec::new()]);
    let mut peers = [0, 0];
    for (loaded, (shares, passes)) in streams.iter().zip(shares.chunks(BUDGETS.len()).zip(passes.chunks(BUDGETS.len())))
    {
        let micros: Vec<f64> = passes.iter().map(|pass| pass.microseconds).collect();
        let mut figure = Figure::new(&loaded.name).x_label("microseconds a row").y_label("NMSE").log_x().log_y();
        figure = figure.line("auto", &micros, shares);
        if let Some(stream) = loaded.stream.filter(|_| whole) {
            let time = |score: &PeerScore| 1e6 * score.seconds / loaded.table.len() as f64;
            for (kind, name) in ["online peers", "peers refitted"].into_iter().enumerate() {
                let of_kind: Vec<PeerScore> =
                    scores(stream.name).filter(|score| is_online(score.method) == (kind == 0)).collect();
                peers[kind] += of_kind.len();
                below[kind].extend(
                    of_kind.iter().filter(|score| is_below(score.nmse, time(score), shares, &micros)).map(|score| {
                        format!(
                            "{} on {} ({} in {} µs)",
                            score.method,
                            stream.name,
                            short(score.nmse),
                            short(time(score))
                        )
                    }),
                );
                let drawn: Vec<&PeerScore> = of_kind.iter().filter(|score| score.nmse <= 1.0).collect();
                let of =
                    |number: &dyn Fn(&PeerScore) -> f64| drawn.iter().map(|score| number(score)).collect::<Vec<f64>>();
                figure = figure.dots(name, &of(&time), &of(&|score| score.nmse));
            }
        }
        panels = panels.panel(figure);
        let rises = shares.iter().zip(&shares[OCTAVE..]).map(|(once, twice)| twice / once).fold(0.0, f64::max);
        if rises > WORSE {
            worse.push(format!("{} {}", loaded.name, short(rises)));
        }
    }
    let mut report = Report::new("Quality: error against the budget");
    report.words(
        "The same passes with budgets of multiply-adds a row, in thousands; NMSE over the last half. Times are of this machine, those of the peers of \
         the machine where they were measured; peers with an NMSE above 1 are not drawn.",
    );
    if whole {
        let mut claims = Claims::new();
        let measured = if worse.is_empty() { "on no stream".to_owned() } else { format!("on {}", worse.join(", ")) };
        let statement = format!("twice the budget never raises the error by more than {:.0}%", 100.0 * (WORSE - 1.0));
        claims.ours(statement, measured, worse.is_empty())?;
        for ((name, below), count) in
            ["peer that learns row by row", "refitted peer"].into_iter().zip(&below).zip(peers)
        {
            let statement = format!("no {name} reaches a lower error in the same time");
            let measured = match &below[..] {
                [] => format!("none of {count}"),
                some => format!("{} of {count}: {}", some.len(), some.join(", ")),
            };
            claims.ours(statement, measured, below.is_empty())?;
        }
        report.table("quality_budgets_claims", "What a budget buys (statements of this project)", claims.table());
    } else {
        report.words(format!(
            "**Shortened**: the first {rows} rows of a stream; what the peers reach on all rows is not drawn."
        ));
    }
    report.table("quality_budgets", "NMSE over the last half against multiply-adds a row", errors);
    report.table("quality_budgets_times", "Microseconds a row on this machine, with other streams beside", times);
    report.picture("quality_budgets", "Error against the budget", panels);
    report.lacks(&missing, 1, &super::elsewhere());
    Ok(report)
}

/// A row a budget, and a column a stream, of numbers of passes: those of a stream are one after the
/// other.
fn by_budget<'a>(
    streams: impl ExactSizeIterator<Item = &'a String>,
    format: Format,
    number: impl Fn(usize) -> f64,
) -> Result<Table> {
    let count = streams.len();
    let mut table = streams.fold(Table::with("budget"), |table, name| table.numbers(name.clone(), format));
    for (row, budget) in BUDGETS.into_iter().enumerate() {
        let numbers = (0..count).map(|stream| number(stream * BUDGETS.len() + row).into());
        table.push(std::iter::once(thousands(budget).into()).chain(numbers).collect())?;
    }
    Ok(table)
}

/// Such as `5.6k`.
fn thousands(budget: usize) -> String {
    format!("{}k", budget as f64 / 1000.0)
}

/// True if this error in this time is below every run that takes no more time.
fn is_below(nmse: f64, microseconds: f64, shares: &[f64], micros: &[f64]) -> bool {
    !shares.iter().zip(micros).any(|(share, micros)| *micros <= microseconds && *share <= nmse)
}

#[cfg(test)]
mod tests {
    use super::is_below;

    #[test]
    fn a_peer_is_below_where_no_run_as_quick_is_as_good() {
        let (shares, micros) = ([0.5, 0.3], [1.0, 10.0]);
        let told = [(0.4, 20.0), (0.4, 5.0), (0.5, 1.0), (0.2, 99.0), (0.9, 0.5)];
        assert_eq!(told.map(|(nmse, time)| is_below(nmse, time, &shares, &micros)), [false, true, false, true, true]);
    }
}
