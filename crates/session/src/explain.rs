//! Why a prediction: effects of the columns that add up to it.
//!
//! The effects are Shapley values. A column that is not in a set has the law that it has in
//! background rows: by itself ([`Absence::Independent`], columns are drawn independently), or with
//! the other absent columns of the same row ([`Absence::Together`], SHAP's interventional
//! definition). The inputs that come from one column, such as the places of its categories, are one
//! player. A model has a sample of the rows that it has learnt for a background.
//!
//! | learner | how |
//! |---|---|
//! | expansions `Σ α_i k(c_i, x)` of Gaussian kernels and mixtures of them | exact, by quadrature |
//! | linear updates on random Fourier features | exactly, by the same with complex factors |
//! | whatever is affine in its inputs: linear kernels, `ridge` | exactly |
//! | `auto` of numbers | its dictionaries, random features and linear members exactly, at their weights; the rest by permutations, with a standard error |
//! | all others | permutations of the true prediction, with a standard error |
//! | whatever learns words: a sum over columns, as `coin` and `diagonal-kalman` are | exactly |
//! | any other that learns words | permutations, by the cells of records |
//! | linear learners of sparse rows | exactly: the columns that are not 0, beside 0 |
//!
//! Every door asks one object, an [`Explainer`] of a session and a [`Ground`]. Where rows become
//! words a column is its cell, whatever this becomes.
//!
//! The prediction of `auto` is no sum of its members: processes follow the nearest rows, members
//! are clipped. What has a closed form is explained as if it were, and the prediction less that is
//! sampled, so base and effects add up to it.
//!
//! An expansion counts as the learner's only where it gives the prediction itself: a row whose
//! prediction is another, because it is clipped, has sampled effects. Of numbers the effects have
//! the target's unit; of classes they are those on a score, the logit where the learner has
//! probabilities: that of the later of two classes, or of the one that is asked for ([`Aim`]).

mod cells;
mod closed;
mod columns;
mod ground;
mod inputs;
mod permutations;
mod products;
mod rows;
mod sparse;

use mercer_learners::{Error, Input, Loss, RegressorExt, Scratch};

use crate::answer::{RowPrediction, StepError};
use crate::classes::AnyClassifier;
use crate::model::Task;
use crate::{Row, Session};
use cells::CellExplainer;
use columns::ExplainedColumns;
use ground::Compared;
use inputs::InputExplainer;
use sparse::SparseExplainer;

pub use columns::SHARED;
pub use ground::{Ground, NoGround};
pub use rows::RowExplainers;

/// Difference of an expansion from the prediction that is rounding.
const ROUNDING: f64 = 1e-9;

/// Permutations, unless told.
pub const PERMUTATIONS: usize = 200;

/// The law of columns that are absent from a set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Absence {
    /// Each column by itself.
    #[default]
    Independent,
    /// All of them as in one background row.
    Together,
}

/// What of effects is exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exactness {
    /// All.
    All,
    /// Those of members; the rest is sampled.
    Parts,
    /// All is sampled.
    Nothing,
}

/// What is explained: a sum of the numbers, or of the scores of classes, that are predicted.
#[derive(Clone, Debug, PartialEq)]
pub struct Aim(Vec<f64>);

impl Aim {
    /// One of so many numbers.
    #[must_use]
    pub fn number(output: usize, outputs: usize) -> Self {
        Self((0..outputs).map(|k| f64::from(u8::from(k == output))).collect())
    }

    /// The score of a class: of two, its lead over the other as
    /// [`ClassPrediction`](crate::classes::ClassPrediction) has it.
    #[must_use]
    pub fn class(classifier: &AnyClassifier, class: usize) -> Self {
        let classes = classifier.classes();
        if classes != 2 {
            return Self::number(class, classes);
        }
        let share = if classifier.learner().loss() == Loss::SOFTMAX { 1.0 } else { 0.5 };
        Self((0..2).map(|k| if k == class { share } else { -share }).collect())
    }

    fn of(&self, values: &[f64]) -> f64 {
        self.0.iter().zip(values).map(|(weight, value)| weight * value).sum()
    }

    /// The same of the prediction at an input.
    fn of_input(&self, task: &Task, input: Input<'_>) -> Result<f64, Error> {
        match task {
            Task::Numbers(_) => {
                let mut answer = RowPrediction::default();
                task.predict(input, 0, &mut answer)?;
                Ok(self.of(&answer.numbers))
            }
            Task::Classes(task) => {
                let mut scores = Vec::new();
                task.classifier.scores_with(input, &mut Scratch::default(), &mut scores)?;
                Ok(self.of(&scores))
            }
        }
    }
}

/// The place of the number that is explained: the only one, or that of the target that is `asked`
/// for. Targets without names have their numbers, from 1. Messages call the question `option`.
///
/// # Errors
/// In words: where several are predicted and none or another one is asked for; where one is, or
/// classes are, and some number is asked for.
pub fn output_place(session: &Session, asked: Option<&str>, option: &str) -> Result<usize, String> {
    let (outputs, targets) = (session.outputs(), &session.description.target_names);
    let name = |k: usize| targets.get(k).cloned().unwrap_or_else(|| (k + 1).to_string());
    let known = || (0..outputs).map(name).collect::<Vec<_>>().join(", ");
    let alone = match &session.task {
        Task::Classes(_) => Some("classes"),
        Task::Numbers(_) if outputs == 1 => Some("one number"),
        Task::Numbers(_) => None,
    };
    match (asked, alone) {
        (None, Some(_)) => Ok(0),
        (Some(_), Some(alone)) => Err(format!("predicts {alone}, and {option} is for several numbers; leave it out")),
        (None, None) => Err(format!("predicts {}; say with {option} which is explained", known())),
        (Some(asked), None) => (0..outputs)
            .find(|k| name(*k) == asked)
            .ok_or_else(|| format!("predicts no {asked:?}; its targets are {}", known())),
    }
}

/// An explanation of a prediction: `base + Σ effects = prediction`.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// What is explained: the prediction, or the score of a class.
    pub prediction: f64,
    /// The mean prediction of the background, in the law of absent columns.
    pub base: f64,
    /// One for each column.
    pub effects: Vec<f64>,
    /// Standard errors of effects that were sampled; empty where they are exact.
    pub standard_errors: Vec<f64>,
    /// The columns where each row has its own, as sparse rows have; empty where they are those of
    /// the [`Ground`].
    pub names: Vec<String>,
}

/// Explains the predictions of a model for its rows.
pub struct Explainer<'a> {
    session: &'a Session,
    of: Of<'a>,
}

/// What the rows of a model become.
enum Of<'a> {
    Inputs(Box<InputExplainer<'a>>),
    Cells(CellExplainer<'a>),
    Sparse(SparseExplainer<'a>),
}

impl<'a> Explainer<'a> {
    /// For a session, and rows that are compared with the `ground`. `O(rows·J·d)`; of words
    /// `O(rows·d)` predictions.
    ///
    /// # Errors
    /// The learner's, of a row of the ground that it refuses.
    ///
    /// # Panics
    /// If the ground is that of a session with other columns.
    pub fn new(session: &'a Session, ground: &'a Ground, aim: Aim, absence: Absence) -> Result<Self, Error> {
        Self::of_task(session, &session.task, ground, aim, absence)
    }

    /// The same for another learner of the same rows, such as that of a group.
    fn of_task(
        session: &'a Session,
        task: &'a Task,
        ground: &'a Ground,
        aim: Aim,
        absence: Absence,
    ) -> Result<Self, Error> {
        let of = match (&ground.compared, &session.encoding) {
            (Compared::Inputs(columns, rows), _) => {
                Of::Inputs(Box::new(InputExplainer::new(task, columns, aim, absence, rows)?))
            }
            (Compared::Cells(places, rows), Some(encoding)) => {
                Of::Cells(CellExplainer::new((task, encoding), places, aim, absence, rows))
            }
            (compared, _) => {
                assert!(matches!(compared, Compared::Zeros), "a ground of cells is that of a table");
                Of::Sparse(SparseExplainer::new(task, aim)?)
            }
        };
        Ok(Self { session, of })
    }

    /// The same with so many permutations, two at least, where effects are sampled.
    #[must_use]
    pub fn permutations(self, permutations: usize, seed: u64) -> Self {
        let of = match self.of {
            Of::Inputs(of) => Of::Inputs(Box::new(of.permutations(permutations, seed))),
            Of::Cells(of) => Of::Cells(of.permutations(permutations, seed)),
            Of::Sparse(of) => Of::Sparse(of),
        };
        Self { of, ..self }
    }

    /// What of the effects is exact, but for rows whose prediction is clipped.
    #[must_use]
    pub fn exactness(&self) -> Exactness {
        match &self.of {
            Of::Inputs(of) => of.exactness(),
            Of::Cells(of) if !of.is_exact() => Exactness::Nothing,
            _ => Exactness::All,
        }
    }

    /// True if all of the effects are exact.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        self.exactness() == Exactness::All
    }

    /// Explains the prediction for a row.
    ///
    /// # Errors
    /// That of a row that is none of the model, and the learner's; of sparse rows
    /// [`StepError::Target`] where the prediction is no sum over the columns.
    pub fn explain(&self, row: &Row) -> Result<Explanation, StepError> {
        match &self.of {
            Of::Inputs(of) => Ok(of.explain(&self.session.inputs(row)?)?),
            Of::Cells(of) => of.explain(&row.record),
            Of::Sparse(of) => of.explain(row.input()),
        }
    }
}
