//! What is known of the columns of a table before it is read: from options, or from a model.

use mercer_core::TokenUse;
use mercer_encoding::{Encoding, EncodingOptions, Overrides, Zone};
use mercer_readers::{ColumnChoice, TargetColumn};
use mercer_registry::catalogue::{Settings, find};

use crate::arguments::CommonArguments;
use crate::arguments::common::whole;
use crate::arguments::task::Kind;
use crate::arguments::zone::ZoneArguments;
use crate::data::source::Source;
use crate::report::failure::Failure;

/// How the columns of a table are looked at.
#[derive(Clone, Debug, Default)]
pub(crate) struct Looking {
    /// What the user says of columns.
    pub(crate) overrides: Overrides,
    /// The features, if the user names them.
    pub(crate) only: Vec<ColumnChoice>,
    pub(crate) options: EncodingOptions,
    /// Whether rows that cannot be read are left out: a column of numbers with a few cells of
    /// something else is then one of numbers.
    pub(crate) skips: bool,
    /// Whether a first row of numbers alone is enough to take the table for one of numbers.
    pub(crate) at_once: bool,
    /// Whether rows are encoded one after the other, so that columns may be means of the target.
    pub(crate) running: bool,
    /// Whether the learner needs no numbers beside tokens.
    pub(crate) tokens_alone: bool,
    /// The columns that name groups, and ids by which labels come.
    pub(crate) group: Option<ColumnChoice>,
    pub(crate) label_id: Option<ColumnChoice>,
}

/// By what a model knows its columns.
#[derive(Clone)]
pub(crate) struct ColumnSource<'a> {
    pub(crate) encoding: &'a Encoding,
    /// What the rows have as their targets, which are looked for if they are to be learnt.
    pub(crate) kind: Kind,
    pub(crate) target: Option<TargetColumn>,
    pub(crate) weight: Option<ColumnChoice>,
    /// True if a row may lack its target.
    pub(crate) may_lack: bool,
    /// The column of ids by which labels come.
    pub(crate) label_id: Option<ColumnChoice>,
}

/// What `--as` and `--zone` say of the columns of data.
pub(crate) fn overrides(kinds: &[String], zone: Option<&Zone>, source: &Source<'_>) -> Result<Overrides, Failure> {
    if let (false, Source::Named(_)) = (kinds.is_empty(), source) {
        return Err(Failure::usage(format!(
            "{source}: --as is for files; the columns of a data set are numbers, so leave it out"
        )));
    }
    if let (Some(zone), Source::Named(_)) = (zone, source) {
        ZoneArguments::check_used(Some(zone), source, false)?;
    }
    let zoned = Overrides::default().zone(zone.cloned());
    let told = kinds.iter().try_fold(zoned, |overrides, kind| overrides.parse_kind(kind));
    told.map_err(|error| Failure::usage(format!("--as: {error}")))
}

/// The settings of the learner. Those that are none are told by whoever makes it.
fn settings(common: &CommonArguments) -> Option<Settings> {
    Settings::new(find(&common.learner).ok()?, common.set.iter().map(String::as_str)).ok()
}

impl Looking {
    /// The columns that the user speaks of.
    pub(crate) fn mentioned(&self) -> Vec<ColumnChoice> {
        // A name is understood by whoever reads it; this cannot fail.
        let kinds = self.overrides.kinds.iter().filter_map(|(name, _)| name.parse().ok());
        let roles = self.group.iter().chain(&self.label_id);
        self.only.iter().chain(roles).cloned().chain(kinds).collect()
    }

    /// An option that gives a column a role of its own, if there is one.
    pub(crate) fn role(&self) -> Option<(&'static str, &ColumnChoice)> {
        let group = self.group.as_ref().map(|choice| ("--group", choice));
        group.or(self.label_id.as_ref().map(|choice| ("--label-id", choice)))
    }

    /// What the options say of the columns of a source.
    pub(crate) fn of(common: &CommonArguments, source: &Source<'_>) -> Result<Self, Failure> {
        let settings = settings(common);
        let tokens = settings.as_ref().map_or(TokenUse::Never, Settings::tokens);
        let tokens_alone = settings.as_ref().is_some_and(Settings::takes_tokens_alone);
        let options = EncodingOptions::default().scale(common.scale).tokens(tokens);
        let overrides = overrides(&common.kinds, common.zone.zone.as_ref(), source)?;
        if let (false, Source::Named(_)) = (common.only.is_empty(), source) {
            return Err(Failure::usage(format!(
                "{source}: --only is for files; a data set's name settles it, so leave it out"
            )));
        }
        let only = whole(&common.only);
        let (group, label_id) = (common.groups.group.clone(), common.groups.labels.label_id.clone());
        Ok(Self { overrides, only, options, tokens_alone, running: true, group, label_id, ..Self::default() })
    }
}
