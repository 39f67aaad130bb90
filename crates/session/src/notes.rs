//! Remarks on what was learnt that the numbers of a result do not make plain, each with its cause
//! and what mends it, in the words of a [`Face`].
//!
//! A [`Watch`] takes note of the rows as they are learnt. The command, the service, Python's
//! classes and the matrix of `cargo xtask soak` ask it for the same remarks.

mod face;
mod nearness;
mod order;
mod watch;

use mercer_encoding::Implausible;
use mercer_experts::Outliers;
use mercer_kernels::AnyKernel;
use mercer_learners::{ClassScore, Regressor};
use mercer_readers::{Labels, alike};
use mercer_registry::AnyRegressor;

use crate::Session;
use crate::model::{Classes, Description, Numbers, Task};
use mercer_registry::catalogue::{Entry, Value};

use face::FaceWords;
pub use mercer_encoding::Face;
pub use order::{OrderTarget, RowOrder};
pub use watch::Watch;

/// Fewest rounds of which anything can be said.
const FEWEST: usize = 20;

/// Points from which a dictionary that should stay small is remarked on.
const MANY_POINTS: usize = 500;

/// Why something is remarked on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Targets lie beyond what the learner can predict.
    UnitOfTargets,
    /// Inputs are in another unit than the kernel.
    UnitOfInputs,
    /// Fewer rows are remembered than there are coefficients.
    Forgetting,
    /// Rows are far from all points of a dictionary, or from the centre of features.
    FullDictionary,
    /// A dictionary that should stay small does not.
    LargeDictionary,
    /// Most of the loss is that of one row.
    OneRow,
    /// Targets are far beyond the others.
    ImplausibleTarget,
    /// A constant would have done as well, and nothing tells why.
    NoBetterThanConstant,
    /// Rows are sorted by their class, their target or a feature.
    OrderOfRows,
    /// Two classes may be one that is written in two ways.
    AlikeClasses,
    /// Two groups may be one that is written in two ways.
    AlikeGroups,
}

// For programs.
mercer_core::names!(pub Cause {
    UnitOfTargets = "unit_of_targets",
    UnitOfInputs = "unit_of_inputs",
    Forgetting = "forgetting",
    FullDictionary = "full_dictionary",
    LargeDictionary = "large_dictionary",
    OneRow = "one_row",
    ImplausibleTarget = "implausible_target",
    NoBetterThanConstant = "no_better_than_constant",
    OrderOfRows = "order_of_rows",
    AlikeClasses = "alike_classes",
    AlikeGroups = "alike_groups",
});

/// A remark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// Why it is made.
    pub cause: Cause,
    /// What happened, and what mends it.
    pub text: String,
}

impl Note {
    fn new(cause: Cause, text: String) -> Self {
        Self { cause, text }
    }
}

/// A learner of numbers with its settings.
#[derive(Clone, Copy, Debug)]
pub struct LearningFacts<'a> {
    /// What is known of it.
    pub entry: &'a Entry,
    /// The kernel as it is written.
    pub kernel: &'a str,
    /// Each key with its value as it is written.
    pub parameters: &'a [(String, String)],
    /// Whether targets are scaled before they are learnt.
    pub scaled: bool,
    /// The learner.
    pub learner: &'a AnyRegressor<AnyKernel>,
    /// Rounds that it has learnt in its life.
    pub rounds: usize,
}

impl LearningFacts<'_> {
    fn value(&self, key: &str) -> Option<&str> {
        self.parameters.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
    }
}

/// The remarks on a model that was watched.
#[must_use]
pub fn of_session(session: &Session, watch: &Watch, face: Face) -> Vec<Note> {
    let about = &session.description;
    let mut notes = match &session.task {
        Task::Numbers(task) => of_numbers(about, task, watch, face),
        Task::Classes(task) => of_classes(about, task, face),
    };
    notes.extend(alike_names(session));
    notes
}

fn of_numbers(about: &Description, task: &Numbers, watch: &Watch, face: Face) -> Vec<Note> {
    let Ok(entry) = mercer_registry::catalogue::find(&about.learner) else { return Vec::new() };
    let scaled = !task.learner.is_settled() || !task.learner.scales().is_empty();
    let (learner, rounds) = (task.learner.learner(), task.score.rounds());
    let (kernel, parameters) = (&about.kernel, &about.parameters);
    watch.notes(&LearningFacts { entry, kernel, parameters, scaled, learner, rounds }, face)
}

fn of_classes(about: &Description, task: &Classes, face: Face) -> Vec<Note> {
    let size = task.classifier.learner().dictionary_size();
    let entry = mercer_registry::catalogue::find(&about.learner).ok();
    let crowded = entry.and_then(|entry| crowded(entry, task.learnt as usize, size, face));
    crowded.into_iter().chain(majority(entry, &task.score, face)).collect()
}

fn alike_classes(labels: &Labels) -> Option<Note> {
    Some(Note::new(Cause::AlikeClasses, alike_words("classes", labels.alike()?)))
}

/// When two groups may be one that is written in two ways.
#[must_use]
pub fn alike_groups<'a>(names: impl IntoIterator<Item = &'a str>) -> Option<Note> {
    Some(Note::new(Cause::AlikeGroups, alike_words("groups", alike(names)?)))
}

fn alike_words(of: &str, (one, other): (&str, &str)) -> String {
    format!(
        "the {of} {one:?} and {other:?} differ in capitals or marks alone, and are two; write both in one way if they are one"
    )
}

/// What two groups of a session, or two of its classes, look like.
pub fn alike_names(session: &Session) -> impl Iterator<Item = Note> {
    let groups = session.groups.as_ref().and_then(|groups| alike_groups(groups.models.keys().map(String::as_str)));
    session.classes().and_then(|task| alike_classes(&task.labels)).into_iter().chain(groups)
}

/// What keeps the predictions of a learner within a bound.
#[derive(Clone, Debug)]
pub struct Bound {
    learner: &'static str,
    key: String,
    value: String,
    limit: f64,
}

impl Bound {
    /// That of a learner on a kernel, if there is one and targets are not scaled.
    #[must_use]
    pub fn of(entry: &Entry, kernel: &str, parameters: &[(String, String)], scaled: bool) -> Option<Self> {
        let (key, value) = parameters.iter().find(|(key, _)| Some(key.as_str()) == entry.bound).filter(|_| !scaled)?;
        // A ball of functions bounds predictions by U√k(x,x), which is U for kernels with k(x,x) =
        // 1 only.
        let unit = !["linear", "polynomial", "mix"].iter().any(|name| kernel.starts_with(name));
        let limit = value.parse().ok().filter(|_| unit || key == "clip")?;
        Some(Self { learner: entry.name, key: key.clone(), value: value.clone(), limit })
    }

    /// What is said at once of a target beyond it; nothing of one that overflows when it is
    /// squared, whose refusal tells more.
    #[must_use]
    pub fn told(&self, targets: &[f64], face: Face) -> Option<String> {
        let beyond = |target: &&f64| target.abs() > self.limit && (*target * *target).is_finite();
        let target = number(*targets.iter().find(beyond)?);
        let Self { learner, key, value, .. } = self;
        let mending = face.pick(
            "add --scale standard, which scales the inputs and the target, or raise",
            "scale the targets, take mercer.Pipeline, which does it, or raise",
        );
        Some(format!("a target is {target}, and {learner} keeps predictions within ±{value} ({key}); {mending} {key}"))
    }
}

/// What became of rows with implausible targets, the first of which has a place in words.
#[must_use]
pub fn implausible(found: &Implausible, place: &str, outliers: Outliers, face: Face) -> Note {
    let (done, other) = match outliers {
        Outliers::Keep => ("learnt", "skip"),
        Outliers::Weigh => ("learnt with less weight", "skip"),
        Outliers::Skip => ("not learnt", "keep"),
    };
    let option = |way: &str| match face {
        Face::Command => format!("--outliers {way}"),
        Face::Python => format!("outliers=\"{way}\""),
    };
    let more = found.rows - 1;
    let rows = if more == 0 { String::new() } else { format!(" and of {more} rows more") };
    let mark = found.mark.map_or_else(String::new, |mark| {
        let (mark, gap) = (number(mark), face.pick("--gap=", "gap="));
        format!("; {mark} came again and again, exactly, and was not learnt: if it marks a missing value, {gap}{mark} says so")
    });
    Note::new(
        Cause::ImplausibleTarget,
        format!(
            "the target {}{place}{rows} is far beyond the others and was {done} ({}); {} does otherwise{mark}",
            number(found.target),
            option(outliers.name()),
            option(other)
        ),
    )
}

/// When the class that is most frequent would have done as well.
#[must_use]
pub fn majority(entry: Option<&Entry>, score: &ClassScore, face: Face) -> Option<Note> {
    (score.rounds() >= FEWEST && score.accuracy() <= score.majority()).then(|| {
        Note::new(
            Cause::NoBetterThanConstant,
            format!(
                "the accuracy is not above that of always predicting the most frequent class, {}; {}",
                digits(score.majority()),
                face.anything(entry.is_some_and(|entry| entry.autonomous))
            ),
        )
    })
}

/// When a dictionary that should stay small does not, which makes rounds slow.
#[must_use]
pub fn crowded(entry: &Entry, rounds: usize, size: usize, face: Face) -> Option<Note> {
    let meant_small = entry.growth.is_none() && entry.key("max_dictionary").is_some();
    (meant_small && size >= MANY_POINTS).then(|| {
        let threshold = ["nu", "alpha"].into_iter().find(|key| entry.key(key).is_some());
        let threshold = threshold.map_or(String::new(), |key| format!(", raise {key} ({})", face.set(key, "…")));
        let removal = entry.key("removal").map_or(String::new(), |_| {
            format!("{}{}", face.pick(" ", ", "), face.set("removal", "least-significant"))
        });
        Note::new(
            Cause::LargeDictionary,
            format!(
                "the dictionary holds {size} of {rounds} rows, and a row costs {} multiply-adds, J being {size}; widen the kernel \
                 ({}){threshold} or bound it ({}{removal})",
                entry.time,
                face.width(),
                face.set("max_dictionary", "N")
            ),
        )
    })
}

/// A number as the settings write it.
#[must_use]
pub fn number(value: f64) -> String {
    Value::Number(value).to_string()
}

/// A number as people read it: six digits, with an exponent where it is large.
#[must_use]
pub fn digits(value: f64) -> String {
    if value.is_finite() && value.abs() >= 1e9 {
        let text = format!("{value:.5e}");
        let (figures, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        return format!("{}e{exponent}", figures.trim_end_matches('0').trim_end_matches('.'));
    }
    let rounded: f64 = format!("{value:.5e}").parse().unwrap_or(value);
    number(rounded)
}
