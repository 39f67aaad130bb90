//! Which scores are wanted.

use std::num::NonZeroUsize;

use clap::Args;
use mercer_registry::catalogue::Entry;

use super::{count, skipped};
use crate::report::scores::Metric;

/// Which rows are scored, and which scores are shown.
#[derive(Args)]
pub(crate) struct ScoreArguments {
    /// The score that is shown alone, also row by row; unless given all of them are, and `rmse` or
    /// `accuracy` row by row
    #[arg(long, value_name = "NAME")]
    pub(crate) metric: Option<Metric>,
    /// Rows at the beginning that are learnt and not scored [default: 0]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true, value_parser = skipped)]
    pub(crate) skip: usize,
    /// Rows of the window whose score is told beside that of all rows; a tenth of the rows unless
    /// given
    ///
    /// The last window, and at each checkpoint the one that ends there. Past the 16,384th row a
    /// window begins up to n/8192 rows early.
    #[arg(long, value_name = "N", value_parser = count)]
    pub(crate) window: Option<NonZeroUsize>,
}

impl ScoreArguments {
    /// Rows at the beginning that are not scored: those of `--skip`, and the first one of a learner
    /// that knows nothing before it.
    pub(crate) fn skipped(&self, entry: &Entry) -> usize {
        self.skip.max(usize::from(entry.autonomous))
    }
}
