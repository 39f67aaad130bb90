//! What is told of the groups of rows that have models of their own.

use mercer_session::{GroupAnswer, Groups};

use crate::model::labels::Counted;

/// Rows that the common model answered, because their groups have none.
#[derive(Default)]
pub(crate) struct CommonAnswers {
    rows: Counted,
}

impl CommonAnswers {
    /// A row was answered.
    pub(crate) fn take(&mut self, answer: &GroupAnswer, place: impl FnOnce() -> String) {
        if answer.is_common {
            let name = &answer.name;
            let group = if name.is_empty() { "no group".to_owned() } else { format!("group {name:?}") };
            self.rows.take(|| format!("{}, {group}", place()));
        }
    }

    /// The rows of groups that have no model, of so many at most where they learn.
    pub(crate) fn line<T>(&self, groups: &Groups<T>) -> Option<String> {
        let full = groups.models.len() >= groups.most;
        let why = if full { format!(", of which there are {} (--max-groups)", groups.most) } else { String::new() };
        let rest = format!("of groups without a model{why} used the common one");
        self.rows.line(["row", "rows"], &rest)
    }
}
