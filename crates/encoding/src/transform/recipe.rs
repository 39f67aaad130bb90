//! How columns become numbers, told to programs that do the same elsewhere.

use mercer_core::{TruthWords, parse_instant};

use crate::notation::Notation;
use crate::scale::NumberScale;
use crate::schema::{Column, Schema};

use super::Transform;
use super::category::Categories;
use super::encoder::{Encoder, NumberColumn};

/// How the cells of a column become inputs, as the statistics stand now.
#[derive(Clone, Debug, PartialEq)]
pub enum ColumnRecipe {
    /// A column of numbers.
    Number(NumberRecipe),
    /// A column of categories.
    Category(CategoryRecipe),
}

/// A column of numbers: input `input` is the value under `scale`.
#[derive(Clone, Debug, PartialEq)]
pub struct NumberRecipe {
    /// The input that it becomes.
    pub input: usize,
    /// What is done with a value.
    pub scale: ScaleRecipe,
    /// The input of a gap; none where a gap has no prediction.
    pub gap: Option<f64>,
    /// The input that is 1 for a gap and else 0, if there is one.
    pub gap_input: Option<usize>,
    /// The words for 0 and 1, of a column of truth values.
    pub truth: Option<[String; 2]>,
}

/// What is done with a number `v`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ScaleRecipe {
    /// `v`
    AsItIs,
    /// 0, where the column has shown no spread.
    Zero,
    /// `b((v − centre)/scale)`, where `b` bends what lies beyond 4: `|u| = 4 + e` becomes
    /// `4 + 4e/(4 + e)`.
    Bent {
        /// What is taken off.
        centre: f64,
        /// What it is divided by.
        scale: f64,
    },
    /// `b(2(v − low)/width − 1)`
    Range {
        /// The smallest value.
        low: f64,
        /// The largest less the smallest.
        width: f64,
    },
}

/// A column of categories: the input of its category is 1, the others 0.
#[derive(Clone, Debug, PartialEq)]
pub struct CategoryRecipe {
    /// Texts with the inputs of their categories; a category may have several.
    pub known: Vec<(String, usize)>,
    /// The input that is 1 for a gap, if there is one.
    pub gap_input: Option<usize>,
}

/// A column that has no recipe.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("column {column:?} {why}")]
pub struct NoRecipe {
    /// Its name.
    pub column: String,
    /// What it is.
    pub why: NoRecipeReason,
}

/// Why a column has no recipe.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoRecipeReason {
    /// Times, which become parts of a calendar.
    #[error("holds times")]
    Times,
    /// Words.
    #[error("holds words")]
    Words,
    /// Numbers that are not written plainly; with the words of their notation.
    #[error("holds numbers that are not written plainly ({0})")]
    Notation(String),
    /// More categories than have an input of their own.
    #[error("has categories that are hashed")]
    Hashed,
    /// Means of the target.
    #[error("has the means of the target beside its categories")]
    Means,
    /// Addresses.
    #[error("holds addresses, which are categories of their networks")]
    Networks,
    /// No value in the head.
    #[error("had no value in the first rows, so that it is not known what it holds")]
    Late,
    /// Dates that are categories, each of which is written in several ways.
    #[error("has dates for categories")]
    Dates,
    /// A range that is no number.
    #[error("has a range wider than the largest number")]
    Wide,
}

impl Transform {
    /// How each column that is encoded becomes inputs, with its place in a record. A category that
    /// is not in the recipe is hashed here, which no recipe tells.
    ///
    /// # Errors
    /// The first column that has no recipe.
    pub(crate) fn recipes(&self, schema: &Schema) -> Result<Vec<(usize, ColumnRecipe)>, NoRecipe> {
        let width = |columns: &[Encoder]| columns.iter().map(Encoder::width).sum::<usize>();
        let pool = width(&self.columns[..self.before]);
        let (mut next, mut recipes) = (0, Vec::new());
        for (place, (encoder, column)) in self.columns.iter().zip(schema.columns()).enumerate() {
            next = if place == self.before { pool + self.pool.width() } else { next };
            if encoder.width() > 0 || encoder.categories().is_some() {
                let recipe = recipe(encoder, column, next, pool);
                let recipe = recipe.map_err(|why| NoRecipe { column: column.name.clone(), why })?;
                recipes.push((place, recipe));
            }
            next += encoder.width();
        }
        Ok(recipes)
    }
}

fn recipe(encoder: &Encoder, column: &Column, first: usize, pool: usize) -> Result<ColumnRecipe, NoRecipeReason> {
    match encoder {
        Encoder::Number(numbers) => numbers.recipe(column, first).map(ColumnRecipe::Number),
        Encoder::Category(categories) => categories.recipe(first, pool).map(ColumnRecipe::Category),
        Encoder::Time(_) => Err(NoRecipeReason::Times),
        Encoder::Network(_) | Encoder::ManyNetworks(..) => Err(NoRecipeReason::Networks),
        Encoder::Many(..) | Encoder::Mean(_) => Err(NoRecipeReason::Means),
        Encoder::Late(_) | Encoder::Aside | Encoder::Ignored => Err(NoRecipeReason::Late),
    }
}

impl NumberColumn {
    fn recipe(&self, column: &Column, input: usize) -> Result<NumberRecipe, NoRecipeReason> {
        let truth = match &self.notation {
            Notation::Truth(words) => Some([false, true].map(|truth| words.text(truth).to_owned())),
            Notation::Plain => None,
            other => return Err(NoRecipeReason::Notation(other.words().unwrap_or_else(|| column.kind.to_string()))),
        };
        let scale = self.scale.recipe().ok_or(NoRecipeReason::Wide)?;
        let gap_input = self.gaps.then_some(input + 1);
        Ok(NumberRecipe { input, scale, gap: Some(self.scale.gap()), gap_input, truth })
    }
}

impl NumberScale {
    /// None where the range is no number.
    fn recipe(&self) -> Option<ScaleRecipe> {
        let by = |centre: f64, scale: f64| {
            if scale == 0.0 { ScaleRecipe::Zero } else { ScaleRecipe::Bent { centre, scale } }
        };
        Some(match self {
            Self::None(_) => ScaleRecipe::AsItIs,
            Self::Standard(moments) => by(moments.mean(), moments.deviation()),
            Self::Robust(robust) => robust.centre_and_scale().map_or(ScaleRecipe::Zero, |(c, s)| by(c, s)),
            Self::Range(range, _) => match range.ends() {
                Some((low, high)) if low < high => ScaleRecipe::Range { low, width: high - low },
                _ => ScaleRecipe::Zero,
            },
        })
        .filter(|recipe| !matches!(recipe, ScaleRecipe::Range { width, .. } if !width.is_finite()))
    }
}

impl Categories {
    fn recipe(&self, first: usize, pool: usize) -> Result<CategoryRecipe, NoRecipeReason> {
        if !self.shares() {
            return Err(NoRecipeReason::Hashed);
        }
        let mut known = self.places(first, pool);
        let is_date = |text: &str| text.as_bytes().get(4) == Some(&b'-') && parse_instant(text).is_some();
        if known.iter().any(|(text, _)| is_date(text)) {
            return Err(NoRecipeReason::Dates);
        }
        let place = |text: &str| known.iter().find(|(other, _)| other == text).map(|(_, place)| *place);
        let mut others = Vec::new();
        // A typed truth value is one of the column's own words, and a whole number may have a
        // fraction of zero.
        if let Some(words) = TruthWords::find(known.iter().map(|(text, _)| text.as_str())) {
            let typed = [(false, "false"), (true, "true")];
            others.extend(
                typed.iter().filter_map(|(truth, text)| Some(((*text).to_owned(), place(words.text(*truth))?))),
            );
        }
        others
            .extend(known.iter().filter(|(text, _)| is_whole(text)).map(|(text, place)| (format!("{text}.0"), *place)));
        others.retain(|(text, _)| place(text).is_none());
        known.extend(others);
        Ok(CategoryRecipe { known, gap_input: self.gap_place().map(|place| first + place) })
    }
}

fn is_whole(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}
