//! The output of a run: a line a row while it runs, and its report, picture and file of predictions
//! at the end.

use std::path::Path;

use super::ForecastArguments;
use super::backtest::Backtest;
use super::feed::SeriesFeed;
use super::pass::SeriesPass;
use super::passes::Passes;
#[cfg(feature = "plots")]
use super::picture::SeriesPicture;
use super::record::SeriesRecord;
use super::report::ForecastReport;
use super::tables::SeriesTable;
use crate::data::source::Source;
use crate::report::failure::Failure;
use crate::report::output::{self, Predictions};
#[cfg(feature = "plots")]
use crate::report::plot::PlotFile;
use crate::report::verbosity;

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
    #[cfg(feature = "plots")]
    picture: Option<(PlotFile, SeriesPicture)>,
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
        let header = pass.header(if streaming { pass.ahead() } else { 1 }, feed);
        #[cfg(feature = "plots")]
        let picture = arguments.plot.create(read)?.map(|file| (file, SeriesPicture::new()));
        #[cfg(not(feature = "plots"))]
        arguments.plot.refuse()?;
        let steps = pass.steps().filter(|_| !streaming);
        let backtest_rows = arguments.tables.backtest_rows.as_deref();
        let backtest_rows = backtest_rows.map(|path| Backtest::table(path, read, (pass, feed))).transpose()?;
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
        #[cfg(feature = "plots")]
        if let Some((_, gathered)) = &mut self.picture {
            gathered.take(pass, feed);
        }
        self.line.clear();
        if let Some(file) = &mut self.file {
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

    /// Finishes the files and prints the report.
    pub(super) fn end(
        mut self,
        arguments: &ForecastArguments,
        passes: &mut Passes,
        feed: &mut SeriesFeed,
        stopped: bool,
    ) -> Result<(), Failure> {
        let mut forecasts = Vec::new();
        for (group, pass) in passes.all_mut().iter_mut().enumerate() {
            feed.turn_to(group);
            let steps = pass.steps().filter(|_| !self.streaming);
            let forecast = steps.map(|steps| pass.forecast(steps)).transpose();
            let forecast = forecast.map_err(|error| error.at(&feed.place()))?;
            for output in pass.silent() {
                let name = pass.columns().output_name(output);
                let of = feed.group().map_or_else(String::new, |group| format!(" of {group:?}"));
                verbosity::remark(format!(
                    "{}: column {name:?}{of} has no value, so that its forecasts are 0",
                    self.data
                ));
            }
            if let (Some(table), Some(backtest)) = (&mut self.backtest_rows, &self.backtest) {
                backtest.write(pass, feed, table)?;
            }
            if let (Some(file), Some(forecast)) = (&mut self.file, &forecast) {
                self.line.clear();
                pass.write_forecast(feed, forecast, &mut self.line);
                file.write(&self.line)?;
            }
            forecasts.push(forecast);
        }
        #[cfg(feature = "plots")]
        let picture = self.picture.take().map(|(file, gathered)| {
            (file, gathered.draw(passes.first(), feed, &self.scored, &self.data, forecasts[0].as_deref()))
        });
        let mut text = String::new();
        if !self.streaming {
            let season = passes.first().period(feed, 0).is_some();
            let backtest = self.backtest.as_ref().and_then(|backtest| backtest.scores(season));
            let report = ForecastReport::new(passes, feed, &self.scored, backtest, forecasts, &arguments.quantiles);
            text = if arguments.json { report.json()? } else { report.text(&self.data, passes, stopped) };
            if let Some(file) = self.file {
                file.finish()?;
            }
            if let Some(table) = self.backtest_rows {
                table.finish()?;
            }
        }
        #[cfg(feature = "plots")]
        if let Some((file, picture)) = picture {
            file.finish(&picture)?;
        }
        if self.streaming { Ok(()) } else { output::print(&text) }
    }
}
