//! `auto` with its default budget beside the peers: error, first rows, regret.

use mercer_auto::AutoParams;

use super::pass::{FIRST_ROWS, QualityPass, pass};
use super::peers::{PeerScore, best_online, first_scores, light_gbm, scores};
use super::streams::{LoadedStream, load, times};
use crate::prelude::*;

/// The most that the error may be of the best online peer's, on each stream and on average over the
/// permuted ones.
const OF_ONLINE: [f64; 2] = [1.01, 0.75];
/// The most that it may be of LightGBM's on average over the permuted streams, and how many of
/// these it is to be ahead on.
const OF_LIGHTGBM: (f64, usize) = (0.95, 7);
/// The most that it may be on the stream of electricity prices.
const ON_PRICES: (&str, f64) = ("o_elec2", 0.30);
/// The most that its loss over the last half may be above the best member's, as a share of it.
const REGRET: f64 = 0.03;

pub(super) fn run(plan: &Plan) -> Result<Report> {
    let rows = plan.size_or(super::REDUCED_ROWS, usize::MAX);
    let (streams, missing) = load(plan, rows)?;
    let budget = AutoParams::default().budget;
    let name = |stream: &&LoadedStream| format!("quality_standing / {}", stream.name);
    let results = plan.each(&streams, name, |stream, _| pass(&stream.table, budget))?.0;

    let mut report = Report::new("Quality: auto beside its peers");
    report.words(format!(
        "One pass over each stream, row by row, untuned, with the default budget of {budget} multiply-adds a row. NMSE is the squared error over the \
         last half as a share of that of the running mean. The peers' scores are those of all rows of a stream in the same order; \
         `crates/experiments/quality/peers.py` measures them. LightGBM is refitted whenever the stream has doubled, and does not learn row by row."
    ));
    if rows < usize::MAX {
        report.words(format!("**Shortened**: the first {rows} rows of a stream, so that no ratio to a peer is told."));
    }
    if rows == usize::MAX && results.iter().any(|(loaded, _)| loaded.stream.is_some()) {
        report.table("quality_claims", "What is wanted (statements of this project)", claims(&results)?);
    }
    report.table("quality_standing", "NMSE over the last half", standing(&results, rows < usize::MAX)?);
    report.table(
        "quality_start",
        format!("NMSE over the first {FIRST_ROWS} rows but the first, beside the peers, and regret against the best member in hindsight over the last half"),
        start(&results)?,
    );
    report.table(
        "quality_times",
        "Microseconds a row on this machine, with other streams beside",
        times(results.iter().map(|(loaded, pass)| (*loaded, pass.microseconds)))?,
    );
    report.lacks(&missing, 1, &super::elsewhere());
    Ok(report)
}

fn standing(results: &[(&LoadedStream, QualityPass)], shortened: bool) -> Result<Table> {
    let mut table = Table::with(
        "stream | order | rows # | features # | auto .4 | best online peer .4 | which | ratio .3 | \
             LightGBM refitted .4 | ratio to it .3",
    );
    for (loaded, pass) in results {
        let of = |peer: fn(&str) -> Option<PeerScore>| {
            loaded.stream.filter(|_| !shortened).and_then(|stream| peer(stream.name))
        };
        let (online, boosted) = (of(|s| best_online(scores(s))), of(|s| light_gbm(scores(s))));
        let ratio = |peer: Option<PeerScore>| peer.map(|peer| pass.nmse / peer.nmse);
        table.push(row![
            loaded.name.clone(),
            loaded.order(),
            loaded.table.len(),
            loaded.table.dimension(),
            pass.nmse,
            online.map(|peer| peer.nmse),
            online.map_or("", |peer| peer.method),
            ratio(online),
            boosted.map(|peer| peer.nmse),
            ratio(boosted)
        ])?;
    }
    Ok(table)
}

fn start(results: &[(&LoadedStream, QualityPass)]) -> Result<Table> {
    let mut table = Table::with(
        "stream | auto .4 | best online peer .4 | which | ratio .3 | LightGBM refitted .4 | \
             regret, % .2 | best member",
    );
    for (loaded, pass) in results {
        // The peers' first rows are the same in a shortened run that has as many.
        let stream = loaded.stream.filter(|_| loaded.table.len() >= FIRST_ROWS);
        let of = |peer: fn(&str) -> Option<PeerScore>| stream.and_then(|stream| peer(stream.name));
        let online = of(|s| best_online(first_scores(s)));
        table.push(row![
            loaded.name.clone(),
            pass.first,
            online.map(|peer| peer.nmse),
            online.map_or("", |peer| peer.method),
            online.map(|peer| pass.first / peer.nmse),
            of(|s| light_gbm(first_scores(s))).map(|peer| peer.nmse),
            pass.regret.map(|regret| 100.0 * regret),
            pass.best.clone()
        ])?;
    }
    Ok(table)
}

/// The statements, judged on all streams that are there.
fn claims(results: &[(&LoadedStream, QualityPass)]) -> Result<Table> {
    let mut claims = Claims::new();
    let ratios = |in_time: bool, peer: fn(&str) -> Option<PeerScore>| -> Vec<(&str, f64)> {
        let of = results.iter().filter_map(|(loaded, pass)| {
            let stream = loaded.stream.filter(|stream| stream.in_time == in_time)?;
            Some((stream.name, pass.nmse / peer(stream.name)?.nmse))
        });
        of.collect()
    };
    let above = |ratios: &[(&str, f64)], most: f64| {
        let above: Vec<String> = ratios
            .iter()
            .filter(|(_, ratio)| *ratio > most)
            .map(|(name, ratio)| format!("{name} {}", short(*ratio)))
            .collect();
        let holds = above.is_empty();
        (if holds { format!("all {}", ratios.len()) } else { format!("not {}", above.join(", ")) }, holds)
    };
    let average = |ratios: &[(&str, f64)]| mean_of(ratios, |(_, ratio)| *ratio);
    let (permuted, drifting) = (ratios(false, |s| best_online(scores(s))), ratios(true, |s| best_online(scores(s))));
    let [each, on_average] = OF_ONLINE;
    let both: Vec<(&str, f64)> = permuted.iter().chain(&drifting).copied().collect();
    let (measured, holds) = above(&both, each);
    claims.ours(format!("on every stream at most {each} times the error of the best online peer"), measured, holds)?;
    if !permuted.is_empty() {
        let ratio = average(&permuted);
        let statement =
            format!("permuted streams: at most {on_average} times the error of the best online peer on average");
        claims.ours(statement, short(ratio), ratio <= on_average)?;
        let (boosted, (most, ahead)) = (ratios(false, |s| light_gbm(scores(s))), OF_LIGHTGBM);
        let count = boosted.iter().filter(|(_, ratio)| *ratio < 1.0).count();
        let statement = format!("permuted streams: ahead of refitted LightGBM on at least {ahead} of 10");
        claims.ours(statement, format!("{count} of {}", boosted.len()), count >= ahead)?;
        let ratio = average(&boosted);
        let statement = format!("permuted streams: at most {most} times its error on average");
        claims.ours(statement, short(ratio), ratio <= most)?;
    }
    if !drifting.is_empty() {
        let (measured, holds) = above(&drifting, 1.0);
        claims.ours("streams in the order of time: ahead of every online peer", measured, holds)?;
    }
    let (name, most) = ON_PRICES;
    if let Some((_, pass)) = results.iter().find(|(loaded, _)| loaded.name == name) {
        claims.ours(format!("{name}: NMSE at most {most}"), short(pass.nmse), pass.nmse <= most)?;
    }
    let firsts = results.iter().filter_map(|(loaded, pass)| {
        let peer = best_online(first_scores(loaded.stream?.name)).filter(|_| loaded.table.len() >= FIRST_ROWS)?;
        Some((loaded.name.as_str(), pass.first / peer.nmse))
    });
    let firsts: Vec<(&str, f64)> = firsts.collect();
    if !firsts.is_empty() {
        let (measured, holds) = above(&firsts, 1.0);
        claims.ours(format!("first {FIRST_ROWS} rows: on every stream ahead of every online peer"), measured, holds)?;
    }
    let regrets = results.iter().filter_map(|(loaded, pass)| Some((loaded.name.as_str(), pass.regret?)));
    let regrets: Vec<(&str, f64)> = regrets.collect();
    let (measured, holds) = above(&regrets, REGRET);
    if !regrets.is_empty() {
        claims.ours(format!("regret against the best member at most {REGRET} of its loss"), measured, holds)?;
    }
    Ok(claims.table())
}
