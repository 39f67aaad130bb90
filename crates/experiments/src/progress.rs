//! Bars for a person who waits: one a running job, and one for all of them.
//!
//! They are drawn on standard error, and only if that is a terminal; otherwise nothing is written,
//! so that logs and pipes stay clean.

use std::io::IsTerminal;

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

/// The bars of one set of jobs. They vanish when it is dropped.
#[derive(Debug)]
pub struct Progress {
    bars: MultiProgress,
    total: ProgressBar,
}

impl Progress {
    /// Bars for this many jobs on standard error, or none if that is no terminal.
    #[must_use]
    pub fn on_terminal(jobs: usize) -> Self {
        if std::io::stderr().is_terminal() {
            Self::drawn_on(ProgressDrawTarget::stderr(), jobs)
        } else {
            Self::hidden(jobs)
        }
    }

    /// No bars, whatever standard error is.
    #[must_use]
    pub fn hidden(jobs: usize) -> Self {
        Self::drawn_on(ProgressDrawTarget::hidden(), jobs)
    }

    fn drawn_on(target: ProgressDrawTarget, jobs: usize) -> Self {
        let bars = MultiProgress::with_draw_target(target);
        let total = bars.add(ProgressBar::new(jobs as u64));
        total.set_style(style("{bar:30} {pos}/{len} jobs, {elapsed} gone, {eta} to go"));
        total.tick();
        Self { bars, total }
    }

    /// The bar of a job of this many steps that starts now.
    #[must_use]
    pub fn job(&self, name: &str, steps: u64) -> JobProgress {
        // Added before it says anything: a bar of its own would draw on a line of its own. Above
        // the total, which stays the last line.
        let bar = self.bars.insert_before(&self.total, ProgressBar::hidden());
        bar.set_length(steps);
        bar.set_style(style("{bar:30} {percent:>3}% {msg}"));
        bar.set_message(name.to_owned());
        JobProgress { bar, total: self.total.clone() }
    }

    /// Jobs that have ended.
    #[must_use]
    pub fn done(&self) -> u64 {
        self.total.position()
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.total.finish_and_clear();
    }
}

/// The bar of one job; when dropped, however the job ended, it vanishes and the job counts as done.
#[derive(Debug)]
pub struct JobProgress {
    bar: ProgressBar,
    total: ProgressBar,
}

impl JobProgress {
    /// Some more steps are done. Cheap, but not free: call it every few hundred rounds.
    pub fn advance(&self, steps: u64) {
        self.bar.inc(steps);
    }
}

impl Drop for JobProgress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
        self.total.inc(1);
    }
}

fn style(template: &str) -> ProgressStyle {
    // The templates are fixed; a wrong one costs a plainer bar, not the run.
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("━╸─")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_count_when_they_end() {
        let progress = Progress::hidden(2);
        let first = progress.job("first", 10);
        let second = progress.job("second", 10);
        first.advance(4);
        first.advance(6);
        assert_eq!((first.bar.position(), second.bar.position()), (10, 0));
        assert_eq!(progress.done(), 0);
        drop(first);
        assert_eq!(progress.done(), 1);
        drop(second);
        assert_eq!(progress.done(), 2);
    }

    #[test]
    fn the_templates_are_understood() {
        for template in ["{bar:30} {pos}/{len} jobs, {elapsed} gone, {eta} to go", "{bar:30} {percent:>3}% {msg}"] {
            assert!(ProgressStyle::with_template(template).is_ok());
        }
    }
}
