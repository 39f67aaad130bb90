//! The prediction of a model as a formula of its columns.

use mercer_encoding::{CategoryRecipe, ColumnRecipe, NumberRecipe, ScaleRecipe};
use mercer_learners::{Loss, RegressorExt};
use mercer_session::model::{GAPS, Numbers, Task};
use mercer_session::{RowPrediction, Session, function};

use crate::error::ExportError;
use crate::parts::{Part, parts_of};

/// Difference of the formula from a prediction that is rounding.
const ROUNDING: f64 = 1e-9;

/// Rows at which the formula must be the prediction, of each kind.
const CHECKED: usize = 16;

/// `offset + scale · clamp(Σ parts(x), ±bound)`, `x` being the inputs that the columns become.
#[derive(Clone, Debug, PartialEq)]
pub struct Formula {
    /// The columns that it reads.
    pub columns: Vec<FormulaColumn>,
    /// The number of inputs.
    pub inputs: usize,
    /// What adds up.
    pub parts: Vec<Part>,
    /// The bound of the sum, if there is one.
    pub bound: Option<f64>,
    /// What is added at the end.
    pub offset: f64,
    /// The unit of the sum.
    pub scale: f64,
    /// The name of the target, where it is known.
    pub target: Option<String>,
    /// The largest difference from a prediction for a row that the model keeps, or for one of its
    /// points if it keeps none, as a part of it. Large terms that cancel lose digits, in a program
    /// as here.
    pub difference: f64,
}

/// A column, and what becomes of it.
#[derive(Clone, Debug, PartialEq)]
pub struct FormulaColumn {
    /// Its name.
    pub name: String,
    /// How it becomes inputs.
    pub recipe: ColumnRecipe,
}

impl Formula {
    /// The formula of a model of one number. Compares it with predictions of the model.
    /// `O(J² + Jd)`.
    ///
    /// # Errors
    /// What has no formula, by name.
    pub fn of(model: &Session) -> Result<Self, ExportError> {
        if model.groups.is_some() {
            return Err(ExportError::Groups);
        }
        if let Some((_, gaps)) = model.description.own.iter().find(|(key, _)| key == GAPS) {
            return Err(ExportError::Gaps(gaps.clone()));
        }
        let Task::Numbers(task) = &model.task else { return Err(ExportError::Classes) };
        let mut formula = Self::of_task(model, task)?;
        formula.columns = columns(model)?;
        formula.check(model)?;
        formula.leave_out();
        Ok(formula)
    }

    /// The formula of the inputs.
    fn of_task(model: &Session, task: &Numbers) -> Result<Self, ExportError> {
        let scaled = &task.learner;
        let learner = scaled.learner();
        let named = &model.description.learner;
        let name = if named.is_empty() { learner.name() } else { named.as_str() };
        if scaled.outputs() != 1 {
            return Err(ExportError::Outputs(scaled.outputs()));
        }
        if let Loss::Poisson(_) = learner.loss() {
            return Err(ExportError::Loss(learner.loss().to_string()));
        }
        if scaled.scales().is_empty() && !scaled.is_settled() {
            return Err(ExportError::Untaught);
        }
        let unknown = || ExportError::Learner(name.to_owned());
        let mut parts = Vec::new();
        for part in function::function_parts(learner, &[1.0]).ok_or_else(unknown)? {
            parts.extend(parts_of(part).ok_or_else(unknown)?);
        }
        let scale = scaled.scales().first();
        Ok(Self {
            columns: Vec::new(),
            inputs: model.dimension(),
            parts,
            bound: function::bound(learner),
            offset: scale.map_or(0.0, |scale| scale.undo(0.0)),
            scale: scale.map_or(1.0, |scale| scale.scale()),
            target: model.description.target_name.clone(),
            difference: 0.0,
        })
    }

    /// The value at inputs `x`, and the size of its terms.
    fn value(&self, x: &[f64]) -> (f64, f64) {
        let values = self.parts.iter().map(|part| part.value(x));
        let (sum, size) = values.fold((0.0, 0.0), |(sum, size), (value, of)| (sum + value, size + of));
        let sum = self.bound.map_or(sum, |bound| sum.clamp(-bound, bound));
        (self.offset + self.scale * sum, self.offset.abs() + self.scale.abs() * size)
    }

    /// Compares it with predictions at rows or points that the model keeps, and at others, and
    /// notes the difference at the former.
    fn check(&mut self, model: &Session) -> Result<(), ExportError> {
        let numbers = self.parts.iter().flat_map(Part::numbers).chain([self.offset, self.scale]);
        if !numbers.chain(self.bound).all(f64::is_finite) {
            return Err(ExportError::NotFinite);
        }
        let d = self.inputs;
        let made = |k: usize| (0..d).map(|j| 2.0 * ((1 + j + k * (d + 1)) as f64).sin()).collect::<Vec<f64>>();
        let mut learnt = model.background.rows(d);
        if learnt.is_empty() {
            // Sums keep no rows; their points are such.
            learnt = self.parts.iter().flat_map(Part::centres).cloned().collect();
        }
        learnt.truncate(CHECKED);
        let mut answer = RowPrediction::default();
        for (x, is_learnt) in learnt.into_iter().map(|x| (x, true)).chain((0..CHECKED).map(|k| (made(k), false))) {
            // A row that the learner refuses has no prediction to compare with.
            if model.task.predict(x.as_slice(), 0, &mut answer).is_err() {
                continue;
            }
            let ((formula, size), prediction) = (self.value(&x), answer.numbers[0]);
            let alike = (formula - prediction).abs() <= ROUNDING * size.max(prediction.abs());
            if !alike {
                return Err(ExportError::Unlike { formula, prediction });
            }
            if is_learnt && prediction != 0.0 {
                self.difference = self.difference.max((formula - prediction).abs() / prediction.abs());
            }
        }
        Ok(())
    }

    /// Leaves out inputs that are always 0 and change nothing: places for categories to come.
    fn leave_out(&mut self) {
        let mut reached = vec![false; self.inputs];
        self.columns.iter_mut().for_each(|column| each_input(&mut column.recipe, |input| reached[*input] = true));
        let needed = |j: &usize| reached[*j] || self.parts.iter().any(|part| part.needs(*j));
        let kept: Vec<usize> = (0..self.inputs).filter(needed).collect();
        self.parts.iter_mut().for_each(|part| part.keep(&kept));
        let places: Vec<usize> = (0..self.inputs).map(|j| kept.partition_point(|kept| *kept < j)).collect();
        self.columns.iter_mut().for_each(|column| each_input(&mut column.recipe, |input| *input = places[*input]));
        self.inputs = kept.len();
    }

    /// Terms that add up: points, frequencies, or inputs of a linear function.
    #[must_use]
    pub fn terms(&self) -> usize {
        let terms = |part: &Part| match part {
            Part::Kernels(terms) => terms.weights.len(),
            Part::Waves(waves) => waves.cosines.len(),
            Part::Affine(affine) => affine.slopes.len(),
        };
        self.parts.iter().map(terms).sum()
    }

    /// The columns of numbers, in order.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = (&str, &NumberRecipe)> {
        self.columns.iter().filter_map(|column| match &column.recipe {
            ColumnRecipe::Number(recipe) => Some((column.name.as_str(), recipe)),
            ColumnRecipe::Category(_) => None,
        })
    }

    /// The columns of categories, in order.
    pub(crate) fn categories(&self) -> impl Iterator<Item = (&str, &CategoryRecipe)> {
        self.columns.iter().filter_map(|column| match &column.recipe {
            ColumnRecipe::Category(recipe) => Some((column.name.as_str(), recipe)),
            ColumnRecipe::Number(_) => None,
        })
    }

    /// True if some column of numbers is scaled and bent.
    pub(crate) fn bends(&self) -> bool {
        self.numbers().any(|(_, number)| matches!(number.scale, ScaleRecipe::Bent { .. } | ScaleRecipe::Range { .. }))
    }
}

/// The columns of a model, whose inputs are numbers as they are where it has no table.
fn columns(model: &Session) -> Result<Vec<FormulaColumn>, ExportError> {
    if let Some(encoding) = &model.encoding {
        let columns = encoding.schema().columns();
        let named =
            |(place, recipe): (usize, ColumnRecipe)| FormulaColumn { name: columns[place].name.clone(), recipe };
        return Ok(encoding.recipes()?.into_iter().map(named).collect());
    }
    let (d, known) = (model.dimension(), &model.description.features);
    let column = |input: usize| FormulaColumn {
        name: known.get(input).cloned().unwrap_or_else(|| (input + 1).to_string()),
        recipe: ColumnRecipe::Number(NumberRecipe {
            input,
            scale: ScaleRecipe::AsItIs,
            gap: None,
            gap_input: None,
            truth: None,
        }),
    };
    Ok((0..d).map(column).collect())
}

/// Calls `act` with each input that a column may set.
fn each_input(recipe: &mut ColumnRecipe, mut act: impl FnMut(&mut usize)) {
    match recipe {
        ColumnRecipe::Number(recipe) => {
            act(&mut recipe.input);
            recipe.gap_input.iter_mut().for_each(act);
        }
        ColumnRecipe::Category(recipe) => {
            recipe.known.iter_mut().for_each(|(_, input)| act(input));
            recipe.gap_input.iter_mut().for_each(act);
        }
    }
}
