//! The output of a run: a line a row while it runs, and its report, picture and file of predictions
//! at the end.

use std::path::Path;

use mercer_session::model::Prediction;

use super::ForecastArguments;
use super::anomalies::Anomalies;
use super::backtest::Backtest;
use super::effects::EffectReport;
use super::feed::SeriesFeed;
use super::future::Future;
use super::parts::PartsTable;
use super::pass::{PassOptions, SeriesAhead, SeriesPass};
use super::passes::Passes;
#[cfg(feature = "plots")]
use super::picture::ForecastPicture;
use super::record::SeriesRecord;
use super::report::{Coming, ForecastReport, ForecastResults};
use super::tables::SeriesTable;
use super::total::{TotalRows, TotalSeries};
use crate::data::source::Source;
use crate::model::classes::quoted;
use crate::report::failure::Failure;
use crate::report::output::{self, Predictions};
#[cfg(feature = "plots")]
use crate::report::plot::PlotFile;
use crate::report::verbosity;

/// Rows to come by the name of their scenario, if there are several, and what is told of them by
/// that or the name of the group.
type NamedAhead = (Option<String>, Option<SeriesAhead>);
type NamedComing = (Option<String>, Coming);

/// Where predictions go, and what is gathered for the end.
pub(super) struct ForecastOutput {
    /// The name of the data.
    data: String,
    /// True if each row is answered on standard output.
    streaming: bool,
    file: Option<Predictions>,
    scored: SeriesRecord,
    backtest: Option<Backtest>,
    backtest_rows: Option<SeriesTable>,
    parts: Option<PartsTable>,
    anomalies: Option<Anomalies>,
    total: Option<TotalRows>,
    /// True if there are several scenarios.
    scenarios: bool,
    #[cfg(feature = "plots")]
    picture: Option<(PlotFile, ForecastPicture)>,
    line: String,
}

impl ForecastOutput {
    /// Makes the files that are asked for, beside their places; `None` if nobody reads what is
    /// streamed.
    pub(super) fn begin(
        arguments: &ForecastArguments,
        source: &Source<'_>,
        read: &[&Path],
        pass: &SeriesPass,
        feed: &SeriesFeed,
    ) -> Result<Option<Self>, Failure> {
        let streaming = arguments.is_streaming(source);
        let scenarios = arguments.future.len() > 1;
        let header = pass.header(if streaming { pass.ahead() } else { 1 }, feed);
        let header = if scenarios { format!("scenario,{header}") } else { header };
        #[cfg(feature = "plots")]
        let picture = arguments.plot.create(read)?.map(|file| (file, ForecastPicture::default()));
        #[cfg(not(feature = "plots"))]
        arguments.plot.refuse()?;
        let steps = pass.steps().filter(|_| !streaming);
        let backtest_rows = arguments.tables.backtest_rows.as_deref();
        let backtest_rows = backtest_rows.map(|path| Backtest::table(path, read, (pass, feed))).transpose()?;
        let parts = arguments.tables.parts.as_deref();
        let parts = parts.map(|path| PartsTable::create(path, read, (pass, feed), scenarios)).transpose()?;
        let rows = arguments.tables.anomalies.as_deref();
        let anomalies =
            arguments.tables.usual().map(|share| Anomalies::new(share, rows, read, (pass, feed))).transpose()?;
        let create = |path| Predictions::create(path, read, &header);
        let file = arguments.predictions.as_deref().map(create).transpose()?;
        if streaming && !output::print_on(&header)? {
            return Ok(None);
        }
        Ok(Some(Self {
            data: source.to_string(),
            streaming,
            file,
            scored: SeriesRecord::new(pass),
            backtest: steps.map(|steps| Backtest::new(steps, arguments.backtest, backtest_rows.is_some())),
            backtest_rows,
            parts,
            anomalies,
            total: arguments.total.map(TotalRows::new),
            scenarios,
            #[cfg(feature = "plots")]
            picture,
            line: String::new(),
        }))
    }

    /// Takes the row that was observed last; false if nobody listens any more.
    pub(super) fn row(&mut self, pass: &mut SeriesPass, feed: &SeriesFeed) -> Result<bool, Failure> {
        let of_pass = &*pass;
        self.scored.take(of_pass, feed.now(), |output| of_pass.period(feed, output));
        if let Some(backtest) = &mut self.backtest {
            backtest.take(pass, feed, &self.scored).map_err(|error| error.at(&feed.place()))?;
        }
        if let Some(total) = &mut self.total {
            total.take(pass, feed);
        }
        if let Some(parts) = &mut self.parts {
            parts.row(pass, feed)?;
        }
        if let Some(anomalies) = &mut self.anomalies {
            anomalies.take(pass, feed)?;
        }
        #[cfg(feature = "plots")]
        if let Some((_, gathered)) = &mut self.picture {
            gathered.take(pass, feed);
        }
        self.line.clear();
        if let Some(file) = &mut self.file {
            self.line.push_str(if self.scenarios { "," } else { "" });
            pass.write_row(feed, &mut self.line);
            return file.write(&self.line).map(|()| true);
        }
        if !self.streaming {
            return Ok(true);
        }
        if pass.feeds_through() {
            pass.write_row(feed, &mut self.line);
        } else {
            pass.write_next(feed, &mut self.line).map_err(|error| error.at(&feed.place()))?;
        }
        output::print_on(&self.line)
    }

    /// Finishes the files and prints the report. Rows to come are of these scenarios. A total has a
    /// fresh forecaster and its options.
    pub(super) fn end(
        mut self,
        arguments: &ForecastArguments,
        (passes, scenarios, total): (&mut Passes, &[Future], Option<(Prediction, PassOptions)>),
        feed: &mut SeriesFeed,
        stopped: bool,
    ) -> Result<(), Failure> {
        let mut aheads = self.forecast(passes, scenarios, feed)?;
        let total = match (self.total.take(), total, aheads.first().is_some_and(|(_, ahead)| ahead.is_some())) {
            (Some(rows), Some((fresh, wanted)), true) => {
                let mut known: Vec<SeriesAhead> = aheads.iter_mut().filter_map(|(_, ahead)| ahead.take()).collect();
                let total = rows.add_up(fresh, (passes.all(), feed), wanted, &mut known)?;
                aheads.iter_mut().zip(known).for_each(|((_, ahead), known)| *ahead = Some(known));
                Some(total)
            }
            _ => None,
        };
        let mut comings = Vec::new();
        for (i, (name, ahead)) in aheads.iter().enumerate() {
            let group = if self.scenarios { 0 } else { i };
            feed.turn_to(group);
            let pass = &passes.all()[group];
            if let (Some(table), Some(backtest), true) = (&mut self.backtest_rows, &self.backtest, i == group) {
                backtest.write(pass, feed, table)?;
            }
            if let Some(ahead) = ahead {
                self.write_ahead(pass, feed, (name.as_deref(), ahead))?;
            }
            let coming = Coming::new(pass, feed, ahead.as_ref(), &arguments.quantiles);
            comings.push((name.as_deref().or(feed.group()).map(str::to_owned), coming));
        }
        let total = total.as_ref().map(|total| self.coming_total(total, feed, arguments)).transpose()?;
        #[cfg(feature = "plots")]
        let picture = self
            .picture
            .take()
            .map(|(file, gathered)| (file, gathered.draw(passes, feed, &self.scored, &self.data, &aheads)));
        let mut text = String::new();
        if !self.streaming {
            let report = self.report(
                passes,
                feed,
                (comings, total, aheads.first().and_then(|(_, ahead)| ahead.as_ref())),
                arguments,
                stopped,
            );
            text = if arguments.json { report.json()? } else { report.text(&self.data, passes) };
            self.finish_tables()?;
        }
        #[cfg(feature = "plots")]
        if let Some((file, picture)) = picture {
            file.finish(&picture)?;
        }
        if self.streaming { Ok(()) } else { output::print(&text) }
    }

    /// The rows to come of a total, also written to the file of predictions.
    fn coming_total(
        &mut self,
        TotalSeries { pass, ahead }: &TotalSeries,
        feed: &SeriesFeed,
        arguments: &ForecastArguments,
    ) -> Result<Coming, Failure> {
        if let Some(file) = &mut self.file {
            self.line.clear();
            pass.write_forecast(feed, &ahead.forecast, &mut self.line);
            file.write(&self.line)?;
        }
        Ok(Coming::new(pass, feed, Some(ahead), &arguments.quantiles))
    }

    fn finish_tables(&mut self) -> Result<(), Failure> {
        self.file.take().map_or(Ok(()), Predictions::finish)?;
        self.backtest_rows.take().map_or(Ok(()), SeriesTable::finish)?;
        self.parts.take().map_or(Ok(()), PartsTable::finish)?;
        self.anomalies.take().map_or(Ok(()), Anomalies::finish)
    }

    /// The rows to come of each scenario, or of each group.
    fn forecast(
        &self,
        passes: &mut Passes,
        scenarios: &[Future],
        feed: &mut SeriesFeed,
    ) -> Result<Vec<NamedAhead>, Failure> {
        let mut aheads = Vec::new();
        for (group, pass) in passes.all_mut().iter_mut().enumerate() {
            feed.turn_to(group);
            self.tell_silent(pass, feed);
            let steps = pass.steps().filter(|_| !self.streaming);
            let planned: Vec<f64> = feed.plan().iter().flat_map(|row| pass.columns().inputs_of(&row.values)).collect();
            for i in 0..if self.scenarios { scenarios.len() } else { 1 } {
                if i > 0 {
                    pass.foresee(planned.iter().chain(&scenarios[i].inputs).copied().collect());
                }
                let ahead = steps.map(|steps| pass.ahead_of(steps)).transpose();
                let name = scenarios.get(i).filter(|_| self.scenarios).map(|one| one.name.clone());
                aheads.push((name, ahead.map_err(|error| error.at(&feed.place()))?));
            }
        }
        Ok(aheads)
    }

    fn report(
        &self,
        passes: &Passes,
        feed: &SeriesFeed,
        (mut comings, total, first): (Vec<NamedComing>, Option<Coming>, Option<&SeriesAhead>),
        arguments: &ForecastArguments,
        stopped: bool,
    ) -> ForecastReport {
        let pass = passes.first();
        let season = pass.period(feed, 0).is_some();
        let mut named = Vec::new();
        if self.scenarios {
            named = comings.drain(..).filter_map(|(name, coming)| Some((name?, coming))).collect();
            comings.push((None, Coming::new(pass, feed, first, &arguments.quantiles)));
        }
        let with_effects = |(group, (name, coming)): (usize, (Option<String>, Coming))| {
            (name, coming.with_effects(EffectReport::all(&passes.all()[group])))
        };
        let results = ForecastResults {
            backtest: self.backtest.as_ref().and_then(|backtest| backtest.scores(season)),
            comings: comings.into_iter().enumerate().map(with_effects).collect(),
            scenarios: named,
            total,
            anomalies: self.anomalies.as_ref().map(Anomalies::report),
        };
        ForecastReport::new(passes, feed, &self.scored, results, stopped)
    }

    /// Writes the rows to come, of a scenario if there are several.
    fn write_ahead(
        &mut self,
        pass: &SeriesPass,
        feed: &SeriesFeed,
        (scenario, ahead): (Option<&str>, &SeriesAhead),
    ) -> Result<(), Failure> {
        if let Some(parts) = &mut self.parts {
            parts.ahead(pass, feed, scenario, &ahead.parts)?;
        }
        let Some(file) = &mut self.file else { return Ok(()) };
        self.line.clear();
        pass.write_forecast(feed, &ahead.forecast, &mut self.line);
        for line in self.line.lines() {
            let scenario = scenario.map_or(String::new(), |name| quoted(name) + ",");
            file.write(&format!("{scenario}{line}\n"))?;
        }
        Ok(())
    }

    fn tell_silent(&self, pass: &SeriesPass, feed: &SeriesFeed) {
        for output in pass.silent() {
            let name = pass.columns().output_name(output);
            let of = feed.group().map_or_else(String::new, |group| format!(" of {group:?}"));
            verbosity::remark(format!("{}: column {name:?}{of} has no value, so that its forecasts are 0", self.data));
        }
    }
}
