//! Errors of a catalogue.

use std::fmt;

use mercer_kernels::KernelError;
use mercer_learners::Error as LearnerError;
use mercer_learners::loss::UnknownLoss;

use super::{BuildError, Value};

/// Why a name or its settings make no learner. [`Display`](fmt::Display) is one line.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CatalogueError {
    /// No learner has this name.
    #[error("no learner is called {}{}; the learners are {}", Quoted(name), Meant(*nearest), known.join(", "))]
    UnknownLearner {
        /// The name that was asked for.
        name: String,
        /// The name that was probably meant.
        nearest: Option<&'static str>,
        /// The names that there are.
        known: Vec<&'static str>,
    },
    /// A setting without a key or a value.
    #[error("the setting {} is not KEY=VALUE; the keys of {learner} are {}", Quoted(pair), keys.join(", "))]
    NotAPair {
        /// The learner.
        learner: &'static str,
        /// The text that was given.
        pair: String,
        /// The learner's keys.
        keys: Vec<&'static str>,
    },
    /// The learner has no such key.
    #[error("{learner} has no key {}{}; its keys are {}", Quoted(key), Meant(*nearest), keys.join(", "))]
    UnknownKey {
        /// The learner.
        learner: &'static str,
        /// The key that was asked for.
        key: String,
        /// The key that was probably meant.
        nearest: Option<&'static str>,
        /// The learner's keys.
        keys: Vec<&'static str>,
    },
    /// A key is set twice.
    #[error("{learner}: {key} is set twice; keep one of the two")]
    SetTwice {
        /// The learner.
        learner: &'static str,
        /// The key.
        key: &'static str,
    },
    /// `auto` where no paper gives a rule, or `none` where it has no meaning.
    #[error("{learner}: {key} cannot be {word}; give {range}, such as {key}={example}")]
    NoSuchWord {
        /// The learner.
        learner: &'static str,
        /// The key.
        key: &'static str,
        /// `auto` or `none`.
        word: &'static str,
        /// The values that the key may have.
        range: &'static str,
        /// A value it may have.
        example: String,
    },
    /// A fraction, or a number out of range, where something is counted.
    #[error("{learner}: {key} must be {range}, got {}", Value::Number(*value))]
    NotWhole {
        /// The learner.
        learner: &'static str,
        /// The key.
        key: &'static str,
        /// The value that was given.
        value: f64,
        /// The values that the key may have.
        range: &'static str,
    },
    /// A kernel that the learner cannot use.
    #[error("{learner} cannot use the kernel {kernel}: it needs {needs}")]
    Kernel {
        /// The learner.
        learner: &'static str,
        /// The kernel.
        kernel: String,
        /// The property that the learner needs.
        needs: &'static str,
    },
    /// Parameters that ask for more memory than a machine has.
    #[error("{learner}: {what} for {dimension} features; take fewer")]
    TooLarge {
        /// The learner.
        learner: &'static str,
        /// The thing that is too large.
        what: &'static str,
        /// d.
        dimension: usize,
    },
    /// A rule that looks at the data has none to look at.
    #[error("{learner}: {key}=auto needs {needs}, which is not known here; give {range}")]
    NeedsData {
        /// The learner.
        learner: &'static str,
        /// The key.
        key: &'static str,
        /// The facts that the rule needs.
        needs: &'static str,
        /// The values that the key may have.
        range: &'static str,
    },
    /// One number for each feature was wanted, and another number of them given.
    #[error("{learner}: {key} has {got} numbers for {dimension} features; give one, or one a feature")]
    HowMany {
        /// The learner.
        learner: &'static str,
        /// The key.
        key: &'static str,
        /// Numbers given.
        got: usize,
        /// d.
        dimension: usize,
    },
    /// A learner of one output, and data that need several.
    #[error("{learner} has one output, and cannot learn {outputs} {what}; take {}", instead.join(", "))]
    Outputs {
        /// The learner.
        learner: &'static str,
        /// Outputs that the data need.
        outputs: usize,
        /// The kind of these outputs.
        what: &'static str,
        /// Learners that can.
        instead: Vec<&'static str>,
    },
    /// No loss is written so.
    #[error("{learner}: in {key}, {source}")]
    Loss {
        /// The learner.
        learner: &'static str,
        /// The key.
        key: &'static str,
        /// The error in it.
        source: UnknownLoss,
    },
    /// The entry reads a key that it does not have, or as another kind: an error of the program,
    /// not of its user.
    #[error("{learner}: {source}; the catalogue is at fault, please report it")]
    Entry {
        /// The learner.
        learner: &'static str,
        /// The error in reading the key.
        source: BuildError,
    },
    /// The key takes none of this name.
    #[error("{learner}: {key} must be {range}, got {}", Quoted(value))]
    NotAName {
        /// The learner.
        learner: &'static str,
        /// The key.
        key: &'static str,
        /// The value that was given.
        value: String,
        /// The values that the key may have.
        range: &'static str,
    },
    /// A member of a mixture that takes no numbers, by which a mixture compares its members.
    #[error("{member} only classifies, and a mixture learns numbers; list learners for numbers, such as krls")]
    OnlyClassifies {
        /// The member.
        member: &'static str,
    },
    /// A list of kernels of which one is none.
    #[error(
        "{learner}: in {key}, {source}; separate kernels by commas, or by ; where one has a comma of its own, \
         as in {key}=polynomial:3,1;gaussian:0.5"
    )]
    Kernels {
        /// The learner.
        learner: &'static str,
        /// The key.
        key: &'static str,
        /// The error of the kernel.
        source: KernelError,
    },
    /// A mixture of nothing.
    #[error("a mixture needs a member; list learners, such as nons-ald; krls lambda=0.1 kernel=gaussian:2")]
    NoMembers,
    /// None or several where one learner belongs.
    #[error("{} is not one learner; give a name with its settings, such as krls lambda=0.1", Quoted(_0))]
    NotOneLearner(String),
    /// Learners in learners in learners, and so on.
    #[error("at most 16 learners may be one inside the other; leave parentheses out")]
    TooDeep,
    /// A kernel of a member that is none.
    #[error(transparent)]
    MemberKernel(KernelError),
    /// A learner inside another that cannot be made.
    #[error("{learner}: in {key}, {source}")]
    Member {
        /// The learner that holds it.
        learner: &'static str,
        /// The key.
        key: &'static str,
        /// The error of the learner inside.
        source: Box<CatalogueError>,
    },
    /// A parameter out of its range.
    #[error("{learner}: {source}")]
    Learner {
        /// The learner.
        learner: &'static str,
        /// The learner's own error.
        source: LearnerError,
    },
}

/// A text of the user's, cut to a length that leaves the message one readable line.
struct Cut<'a>(&'a str);

impl fmt::Display for Cut<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 60;
        match self.0.char_indices().nth(SHOWN) {
            None => write!(f, "{}", self.0.escape_debug()),
            Some((end, _)) => write!(f, "{}…", self.0[..end].escape_debug()),
        }
    }
}

/// The same in quotes.
struct Quoted<'a>(&'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", Cut(self.0))
    }
}

/// A guess at what was meant.
struct Meant(Option<&'static str>);

impl fmt::Display for Meant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(name) => write!(f, " (is {name} meant?)"),
            None => Ok(()),
        }
    }
}
