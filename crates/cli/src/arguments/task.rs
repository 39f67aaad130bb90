//! The target of a row: numbers or a class, and what the user says of it.

use mercer_learners::Loss;
use mercer_readers::{TargetHead, Targets};
use mercer_registry::catalogue::{self, Entry};

use crate::arguments::CommonArguments;
use crate::report::failure::Failure;
use crate::report::verbosity;
use clap::ValueEnum;

/// The kind of target that the user chooses.
#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub(crate) enum TaskChoice {
    /// One of several classes
    Class,
    /// A number
    Regression,
}

/// The target of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    /// So many numbers; none where rows are features alone.
    Numbers(usize),
    /// A class. If the first rows hold two classes alone that are 0 and 1, or −1 and 1, these are
    /// their names, in order.
    Class(Option<[&'static str; 2]>),
}

impl Kind {
    pub(crate) fn is_class(self) -> bool {
        matches!(self, Self::Class(_))
    }

    /// Refuses numbers as targets of a learner that only classifies.
    pub(crate) fn check(self, entry: &Entry, wanted: TaskOptions, shown: &str) -> Result<(), Failure> {
        let Self::Numbers(outputs) = self else { return Ok(()) };
        if entry.takes.numbers() {
            return Ok(());
        }
        let instead = match (outputs, wanted.task) {
            (2.., _) => "give one target of two classes",
            (_, Some(_)) => "leave out --task regression",
            _ => "if there are two classes in it, say --task class",
        };
        let what = if outputs > 1 { "several numbers" } else { "a number" };
        Err(Failure::usage(format!(
            "{shown}: the target is {what}, and {} only classifies; {instead}, or take a learner for numbers, such as krls",
            entry.name
        )))
    }

    /// The target in words; `names` are those of the targets, if there are names.
    pub(crate) fn words(self, names: &[String]) -> String {
        let what = match self {
            Self::Class(_) => "a class".to_owned(),
            Self::Numbers(1) => "a number".to_owned(),
            Self::Numbers(outputs) => format!("{outputs} numbers"),
        };
        if names.is_empty() { format!("target {what}") } else { format!("target {what} ({})", names.join(", ")) }
    }

    /// Why the target is a class, where nobody told it.
    pub(crate) fn why(self, wanted: TaskOptions) -> Option<String> {
        let Self::Class(two) = self else { return None };
        let why = match two {
            Some([a, b]) => format!("the first rows hold {a} and {b} alone; --task regression takes it as a number"),
            None => "it holds text".to_owned(),
        };
        (!wanted.is_told()).then_some(why)
    }

    /// Tells a person why the target of the rows that are `shown` so is a class.
    pub(crate) fn tell(self, wanted: TaskOptions, shown: &str) {
        if let Some(why) = self.why(wanted) {
            verbosity::remark(format!("{shown}: task class, for {why}"));
        }
    }

    /// Numbers in a target, or 1 for a class.
    pub(crate) fn outputs(self) -> usize {
        match self {
            Self::Numbers(outputs) => outputs,
            Self::Class(_) => 1,
        }
    }
}

/// The options that decide if targets are classes.
#[derive(Clone, Copy, Default)]
pub(crate) struct TaskOptions {
    /// The value of `--task`.
    pub(crate) task: Option<TaskChoice>,
    /// True if the loss that is set makes the learner one of classes.
    pub(crate) only_classes: bool,
    /// True if the learner has no other loss.
    pub(crate) classifier: bool,
}

impl TaskOptions {
    /// The options, before the data are seen: a loss for classes makes a learner of classes, and
    /// some learners have no other.
    pub(crate) fn from_arguments(common: &CommonArguments) -> Self {
        let loss = |pair: &str| {
            let (key, value) = pair.split_once('=')?;
            value.trim().parse::<Loss>().ok().filter(|_| key.trim() == "loss")
        };
        let classifies = |loss: Loss| loss.is_margin() || loss == Loss::SOFTMAX;
        let only_classes = common.set.iter().filter_map(|pair| loss(pair)).any(classifies);
        let classifier = catalogue::find(&common.learner).is_ok_and(|entry| !entry.takes.numbers());
        Self { task: common.task, only_classes, classifier }
    }

    /// True if the options alone decide.
    pub(crate) fn is_told(self) -> bool {
        self.task.is_some() || self.only_classes || self.classifier
    }

    /// The way to read targets until they have been looked at.
    pub(crate) fn targets(self) -> Targets {
        if self.task == Some(TaskChoice::Regression) { Targets::Numbers } else { Targets::Auto }
    }

    /// True if numbers are classes. Two that are there in the first rows are; one alone may be the
    /// beginning of numbers.
    pub(crate) fn takes(self, values: Values) -> bool {
        let Values { zero_one, signs, differ } = values;
        match self.task {
            Some(TaskChoice::Class) => true,
            Some(TaskChoice::Regression) => false,
            None => zero_one && (differ || self.classifier) || self.only_classes || (signs && self.classifier),
        }
    }

    /// The names of two classes that are numbers. Where all are 1 the other class may be either; a
    /// learner that only classifies is given signs.
    pub(crate) fn two(self, values: Values) -> Option<[&'static str; 2]> {
        match (values.zero_one, values.signs) {
            (true, true) if self.classifier => Some(["-1", "1"]),
            (true, _) => Some(["0", "1"]),
            (false, true) => Some(["-1", "1"]),
            (false, false) => None,
        }
    }
}

/// Properties of the first targets.
#[derive(Clone, Copy, Default)]
pub(crate) struct Values {
    /// All are 0 or 1.
    zero_one: bool,
    /// All are −1 or 1.
    signs: bool,
    /// Two of them differ.
    differ: bool,
}

impl Values {
    /// The properties of these numbers; without numbers all are false.
    pub(crate) fn from_numbers(mut numbers: impl Iterator<Item = f64>) -> Self {
        let Some(first) = numbers.next() else { return Self::default() };
        let one = |y: f64| Self { zero_one: y == 0.0 || y == 1.0, signs: y.abs() == 1.0, differ: y != first };
        numbers.map(one).fold(one(first), |all, y| Self {
            zero_one: all.zero_one && y.zero_one,
            signs: all.signs && y.signs,
            differ: all.differ || y.differ,
        })
    }
}

impl From<TargetHead> for Values {
    fn from(TargetHead { zero_one, signs, differ, .. }: TargetHead) -> Self {
        Self { zero_one, signs, differ }
    }
}
