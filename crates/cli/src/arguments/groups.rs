//! Models of groups, and labels that come by id.

use clap::Args;
use mercer_readers::ColumnChoice;

use crate::report::failure::Failure;

/// Options on the groups of rows, and on labels that come in later lines.
#[derive(Args, Clone, Debug)]
pub(crate) struct GroupArguments {
    /// The column that says which group a row is of: each group has a model of its own, beside a
    /// common one
    ///
    /// The column is no feature. The common model learns all rows, and a new group begins with a
    /// copy of it. All have the same settings and the same encoding. Each row is answered by the
    /// model of its group; one that names no group by the common one.
    #[arg(long, value_name = "NAME|INDEX")]
    pub(crate) group: Option<ColumnChoice>,
    /// Most groups that have a model; rows of further ones are those of the common model, and are
    /// counted
    #[arg(long, value_name = "N", default_value_t = 100, requires = "group", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) max_groups: u32,
    #[command(flatten)]
    pub(crate) labels: LabelArguments,
}

impl LabelArguments {
    /// Refuses options that need all labels beforehand, or the rows in their order.
    pub(crate) fn check(&self, others: &[(&str, bool)]) -> Result<(), Failure> {
        match others.iter().find(|(_, is_given)| *is_given && self.label_id.is_some()) {
            Some((option, _)) => Err(Failure::usage(format!("--label-id does not go with {option}; leave one out"))),
            None => Ok(()),
        }
    }
}

/// Options on labels that come in later lines.
#[derive(Args, Clone, Debug)]
pub(crate) struct LabelArguments {
    /// The column of ids by which labels come: a row without its target waits until a later line
    /// with the same id has it
    ///
    /// The row is predicted when it comes, and learnt and scored when its label has come; of the
    /// later line only the id and the target count. A row that has its target is learnt at once.
    /// Labels without a row, and rows without a label, are counted at the end.
    #[arg(long, value_name = "NAME|INDEX", conflicts_with_all = ["label_delay", "weight"])]
    pub(crate) label_id: Option<ColumnChoice>,
    /// Most rows that wait for their labels; the oldest are forgotten, and counted
    #[arg(long, value_name = "N", default_value_t = 100_000, requires = "label_id", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_kept: u32,
}

impl GroupArguments {
    /// An option that needs columns of a file, if one is given.
    pub(crate) fn given(&self) -> Option<&'static str> {
        let given = [("--group", &self.group), ("--label-id", &self.labels.label_id)];
        given.into_iter().find(|(_, choice)| choice.is_some()).map(|(option, _)| option)
    }
}
