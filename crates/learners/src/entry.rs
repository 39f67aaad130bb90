//! The description of a learner: name, keys with defaults from its `Params`, [`Cost`], the losses
//! and targets that it [takes](Takes), settings for a small trial. This module knows no learner; a
//! learner's file ends with its [`Entry`] and the function that makes the learner of [`Values`].

pub(crate) mod keys;
mod parameters;
mod value;

use mercer_core::{Cost, Symbol, TokenUse, cost};
use mercer_kernels::AnyKernel;

use crate::loss::Loss;

pub(crate) use parameters::choices;
pub use parameters::{Choice, Field, ParameterType, Parameters, Range};
pub use parameters::{count, keys_of};
pub use value::{BuildError, Context, Value, Values};

/// A learner, as its user sees it. It is written over [`Entry::PLAIN`], whose fields most leave.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The name by which it is asked for.
    pub name: &'static str,
    /// The learner in one line.
    pub summary: &'static str,
    /// The keys that set it, in the order in which they are shown.
    pub keys: &'static [Key],
    /// Multiply-adds a round: `t` the round, `d` the features, `J` the dictionary size, other
    /// letters the keys' symbols.
    pub time: Cost,
    /// Numbers of memory, in the same letters.
    pub memory: Cost,
    /// Why memory grows with the stream, for those learners whose memory does.
    pub growth: Option<&'static str>,
    /// The paper it comes from, with the place in it.
    pub source: &'static str,
    /// The key that bounds its predictions, so that targets beyond it cannot be met.
    pub bound: Option<&'static str>,
    /// The setting to change when it diverges, beside scaling the data.
    pub remedy: Option<&'static str>,
    /// True if it chooses kernel and scaling itself, and does not look at the kernel it is given.
    pub autonomous: bool,
    /// True if it needs the width of a Gaussian kernel.
    pub gaussian: bool,
    /// Losses and targets.
    pub takes: Takes,
    /// The tables of whose rows it takes the tokens.
    pub tokens: TokenUse,
    /// When to take it.
    pub advice: &'static str,
    /// Settings to begin with.
    pub start: &'static str,
    /// Settings `KEY=VALUE` that keep it small, for trials.
    pub trial: &'static [&'static str],
}

/// An entry, and how a learner is made of the values of its keys.
#[derive(Clone, Copy, Debug)]
pub struct Learner<L> {
    /// Its description.
    pub entry: Entry,
    /// The function that makes it, for a kernel and all that is known of the data.
    pub make: Make<L>,
}

type Make<L> = fn(AnyKernel, &Context<'_>, &Values<'_>) -> Result<L, BuildError>;

/// One parameter of a learner.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Key {
    /// The name by which it is set.
    pub name: &'static str,
    /// The paper's symbol.
    pub symbol: &'static str,
    /// The values it may have, in words.
    pub range: &'static str,
    /// Its effect.
    pub meaning: &'static str,
    /// The kind of its values.
    pub kind: Kind,
    /// The meaning of `none` here, if it may be.
    pub none: Option<&'static str>,
    /// The rule of `auto` here, if there is one.
    pub auto: Option<Rule>,
    /// Where good values lie for data that are scaled, if it is worth tuning.
    pub search: Option<SearchRange>,
    range_with_none: &'static str,
    default: Default,
    for_classes: Option<fn(&Context<'_>) -> Value>,
    without_data: Option<Default>,
    of_time: Option<OfTime>,
}

/// Where good values of a key are looked for; both ends are values that it may have.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct SearchRange {
    /// The key.
    pub key: &'static str,
    /// The least value.
    pub low: f64,
    /// The largest value.
    pub high: f64,
    /// True if its logarithm is spread evenly.
    pub logarithmic: bool,
}

type Default = fn() -> Value;

/// The kind of a key's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// A number.
    Number,
    /// A whole number.
    Count,
    /// One number for all features, or as many as there are features.
    Numbers,
    /// One of these names.
    Name(&'static [&'static str]),
    /// A loss, one of those that the learner takes.
    Loss,
    /// Learners with their settings: `NAME KEY=VALUE …; NAME …`, where the key `kernel` is known
    /// too.
    Members,
    /// Kernels, separated by commas, or by `;` where one has a comma of its own.
    Kernels,
    /// One such learner, which learns what its owner is to learn.
    Learner,
}

/// A rule for a key, of a paper unless its source says otherwise.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Rule {
    /// The rule, in words.
    pub formula: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// The way it looks at the data.
    pub look: Look,
}

/// The search of a rule in the data.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Look {
    /// True if it has to see [`Context::rows`].
    pub needs_rows: bool,
    find: Find,
}

/// From microseconds to a value.
type OfTime = fn(f64, &Context<'_>, &Values<'_>) -> Result<Value, BuildError>;

type Find = fn(&AnyKernel, &Context<'_>, &Values<'_>) -> Result<Value, BuildError>;

impl Look {
    /// The value for this kernel, this data and the values of the keys before its own.
    ///
    /// # Errors
    /// [`BuildError::NeedsData`], or why no learner could be built either.
    pub fn find(&self, kernel: &AnyKernel, context: &Context<'_>, values: &Values<'_>) -> Result<Value, BuildError> {
        (self.find)(kernel, context, values)
    }
}

/// Targets that a learner can be taught. All take two classes as `±1`, and one number except for
/// those whose losses are all [for classes](Loss::is_margin).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Takes {
    /// Losses, named as in [`Loss::NAMES`]; the first is the default.
    pub losses: &'static [&'static str],
    /// True if it takes several numbers at once.
    pub vectors: bool,
    /// True if it takes more than two classes: by an output for each.
    pub many_classes: bool,
}

impl Takes {
    /// One number under the squared loss.
    pub const SQUARED: Self = Self { losses: &["squared"], vectors: false, many_classes: false };
    /// Numbers and classes under the squared loss, an output for each.
    pub const SQUARED_OUTPUTS: Self = Self { vectors: true, many_classes: true, ..Self::SQUARED };
    /// Two classes alone.
    pub const SIGNS: Self = Self { losses: &["hinge"], ..Self::SQUARED };
    /// One number, or two classes.
    pub const DUAL_NEWTON: Self = Self { losses: &["squared", "logistic"], ..Self::SQUARED };
    /// One number, or classes.
    pub const NEWTON: Self = Self { losses: &["squared", "logistic", "softmax"], vectors: false, many_classes: true };
    /// Every loss and every target.
    pub const ALL: Self = Self { losses: Loss::NAMES, vectors: true, many_classes: true };

    /// The kinds of targets, in words.
    pub fn targets(&self) -> impl Iterator<Item = &'static str> + use<> {
        let all = [
            ("number", self.numbers()),
            ("vector", self.vectors),
            ("two classes", true),
            ("many classes", self.many_classes),
        ];
        all.into_iter().filter(|(_, taken)| *taken).map(|(target, _)| target)
    }

    /// True if it takes a number; a learner that takes none can do nothing but classify.
    #[must_use]
    pub fn numbers(&self) -> bool {
        self.losses.iter().any(|loss| !["logistic", "hinge", "squared-hinge", "softmax"].contains(loss))
    }

    /// True if this loss is among them.
    #[must_use]
    pub fn loss(&self, loss: Loss) -> bool {
        self.losses.iter().any(|name| name.split(':').next() == Some(loss.name()))
    }
}

/// The need of a learner that works on the features of a Gaussian.
pub const NEEDS_GAUSSIAN: &str = "the width of a Gaussian, so gaussian:SIGMA or median";

impl Entry {
    /// True if probabilities of classes are learnt from its scores unasked: it needs no settings,
    /// and its loss has no probabilities of its own.
    #[must_use]
    pub fn calibrates(&self, loss: Loss) -> bool {
        self.autonomous && loss == Loss::SQUARED
    }

    /// The values that most learners have in common; an entry sets the rest.
    pub const PLAIN: Self = Self {
        name: "",
        summary: "",
        keys: &[],
        time: cost!(1.0 t d),
        memory: cost!(1.0 t d),
        growth: None,
        source: "",
        bound: None,
        remedy: None,
        autonomous: false,
        gaussian: false,
        takes: Takes::SQUARED,
        tokens: TokenUse::Never,
        advice: "",
        start: "defaults",
        trial: &[],
    };

    /// This entry with what makes its learner.
    #[must_use]
    pub const fn made_by<L>(self, make: Make<L>) -> Learner<L> {
        Learner { entry: self, make }
    }

    /// The key of this name.
    #[must_use]
    pub fn key(&self, name: &str) -> Option<&'static Key> {
        self.keys.iter().find(|key| key.name == name)
    }

    /// The ranges of the keys that are worth tuning, in the order of the keys.
    pub fn search(&self) -> impl Iterator<Item = SearchRange> + use<> {
        self.keys.iter().filter_map(|key| key.search)
    }

    /// Numbers kept after `rows` rows of `dimension` features, at least: what the memory comes to
    /// in `t` and `d` alone; 0 for learners that do not grow with the stream.
    #[must_use]
    pub fn least_numbers(&self, rows: usize, dimension: usize) -> f64 {
        let size = |symbol| match symbol {
            Symbol::Round => rows as f64,
            Symbol::Features => dimension as f64,
            _ => 0.0,
        };
        if self.memory.grows() { self.memory.value(size).unwrap_or(0.0) } else { 0.0 }
    }

    /// Refuses data whose targets it does not take.
    ///
    /// # Errors
    /// [`BuildError::Outputs`]
    pub fn check_targets(&self, context: &Context<'_>) -> Result<(), BuildError> {
        let Context { outputs, classes, .. } = *context;
        let (several, what) =
            if classes { (self.takes.many_classes, "classes") } else { (self.takes.vectors, "numbers") };
        if outputs > 1 && !several { Err(BuildError::Outputs { outputs, what }) } else { Ok(()) }
    }
}

impl Key {
    /// Its value when it is not set.
    #[must_use]
    pub fn default(&self) -> Value {
        (self.default)()
    }

    /// The same for this data: learning classes may want another value.
    #[must_use]
    pub fn default_for(&self, context: &Context<'_>) -> Value {
        match self.for_classes {
            Some(value) if context.classes => value(context),
            _ => self.default(),
        }
    }

    /// The value of a default of `auto` where its rule has no data to look at.
    #[must_use]
    pub fn without_data(&self) -> Option<Value> {
        self.without_data.map(|value| value())
    }

    /// True if a time such as `50us` may stand for its value.
    #[must_use]
    pub fn takes_time(&self) -> bool {
        self.of_time.is_some()
    }

    /// The value that takes so many microseconds, found by a measurement on this machine; `values`
    /// are those of the keys before its own.
    ///
    /// # Errors
    /// When the time is out of range, or the key takes none.
    pub fn in_time(&self, microseconds: f64, context: &Context<'_>, values: &Values<'_>) -> Result<Value, BuildError> {
        self.of_time.map_or(Err(BuildError::OtherKind(self.name)), |find| find(microseconds, context, values))
    }

    /// The default as a user would write it.
    #[must_use]
    pub fn default_text(&self) -> String {
        let Value::Number(number) = self.default() else { return self.default().to_string() };
        let (plain, scientific) = (format!("{number}"), format!("{number:e}"));
        if scientific.len() < plain.len() { scientific } else { plain }
    }
}
