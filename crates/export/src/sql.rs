//! A query of DuckDB.

use std::fmt::Write as _;

use mercer_encoding::{CategoryRecipe, ColumnRecipe, NumberRecipe, ScaleRecipe};
use mercer_session::function::{Affine, Waves};

use crate::formula::{Formula, FormulaColumn};
use crate::parts::{FAR, KernelTerms, Part, Profile};

const HEAD: &str = "\
-- The prediction of a model of Mercer for each row of a table, in DuckDB.
--
-- A gap is NULL, or an empty text. The prediction is NULL for a category that the model has not met,
-- and for a gap where it takes none. A text in a column of numbers is an error.
";

/// The query. Writing to a string cannot fail.
pub(crate) fn write(formula: &Formula, table: &str) -> String {
    let mut text = HEAD.to_owned();
    text += "WITH mercer_inputs AS (\n  SELECT *";
    let mut helpers = Helpers { text: &mut text, names: Vec::new() };
    formula.columns.iter().enumerate().for_each(|(place, column)| helpers.column(place, column));
    let reached = helpers.inputs();
    for input in (0..formula.inputs).filter(|input| !reached.contains(&x(*input))) {
        helpers.add(x(input), "0e0");
    }
    let names = helpers.names;
    let _ = write!(text, "\n  FROM {}\n)", quoted(table));
    formula.parts.iter().enumerate().for_each(|(place, part)| points(&mut text, place, part));
    let exclude = if names.is_empty() { String::new() } else { format!(" EXCLUDE ({})", names.join(", ")) };
    let _ = write!(text, "\nSELECT *{exclude},\n  {} AS prediction\nFROM mercer_inputs;\n", prediction(formula));
    text
}

/// What is computed beside the columns of the table, with names that no table has.
struct Helpers<'a> {
    text: &'a mut String,
    names: Vec<String>,
}

impl Helpers<'_> {
    fn add(&mut self, name: String, value: &str) {
        let _ = write!(self.text, ",\n    {value} AS {name}");
        self.names.push(name);
    }

    /// The inputs that columns set.
    fn inputs(&self) -> Vec<String> {
        self.names.iter().filter(|name| name.starts_with("\"mercer x")).cloned().collect()
    }

    fn column(&mut self, place: usize, FormulaColumn { name, recipe }: &FormulaColumn) {
        let name = quoted(name);
        match recipe {
            ColumnRecipe::Number(recipe) => self.number(place, &name, recipe),
            ColumnRecipe::Category(recipe) => self.category(place, &name, recipe),
        }
    }

    fn number(&mut self, place: usize, name: &str, recipe: &NumberRecipe) {
        let NumberRecipe { input, scale, gap, gap_input, truth } = recipe;
        let (v, u) = (format!("\"mercer v{place}\""), format!("\"mercer u{place}\""));
        let given = format!("CAST(NULLIF(CAST({name} AS VARCHAR), '') AS DOUBLE)");
        let value = truth.as_ref().map_or(given.clone(), |[no, yes]| {
            let word = |word: &str, truth: u8| format!("WHEN {} THEN {truth}e0", text(&word.to_lowercase()));
            let (no, yes) = (word(no, 0), word(yes, 1));
            format!("CASE lower(CAST({name} AS VARCHAR)) {no} {yes} WHEN 'false' THEN 0e0 WHEN 'true' THEN 1e0 ELSE {given} END")
        });
        self.add(v.clone(), &value);
        let scaled = match scale {
            ScaleRecipe::AsItIs => v.clone(),
            ScaleRecipe::Zero => "0e0".to_owned(),
            ScaleRecipe::Bent { centre, scale } => {
                self.add(u.clone(), &format!("({v} - {}) / {}", double(*centre), double(*scale)));
                bent(&u)
            }
            ScaleRecipe::Range { low, width } => {
                self.add(u.clone(), &format!("2e0 * (({v} - {}) / {}) - 1e0", double(*low), double(*width)));
                bent(&u)
            }
        };
        let gap = gap.map_or("NULL".to_owned(), double);
        self.add(x(*input), &format!("CASE WHEN isfinite({v}) THEN {scaled} ELSE {gap} END"));
        if let Some(input) = gap_input {
            self.add(x(*input), &format!("CASE WHEN isfinite({v}) THEN 0e0 ELSE 1e0 END"));
        }
    }

    /// The number of the category is that of its input, and -1 that of a gap.
    fn category(&mut self, place: usize, name: &str, CategoryRecipe { known, gap_input }: &CategoryRecipe) {
        let k = category_name(place);
        let whens: String = known.iter().map(|(name, input)| format!(" WHEN {} THEN {input}", text(name))).collect();
        self.add(k.clone(), &format!("CASE coalesce(CAST({name} AS VARCHAR), '') WHEN '' THEN -1{whens} END"));
        let mut inputs: Vec<usize> = known.iter().map(|(_, input)| *input).collect();
        inputs.sort_unstable();
        inputs.dedup();
        inputs.into_iter().for_each(|input| self.add(x(input), &format!("CAST({k} = {input} AS DOUBLE)")));
        if let Some(input) = gap_input {
            self.add(x(*input), &format!("CAST({k} = -1 AS DOUBLE)"));
        }
    }
}

fn category_name(place: usize) -> String {
    format!("\"mercer k{place}\"")
}

fn x(input: usize) -> String {
    format!("\"mercer x{input}\"")
}

fn bent(u: &str) -> String {
    format!("CASE WHEN abs({u}) <= 4e0 THEN {u} ELSE sign({u}) * (4e0 + 4e0 / (4e0 / (abs({u}) - 4e0) + 1e0)) END")
}

/// The points of a part, a row each.
fn points(text: &mut String, place: usize, part: &Part) {
    let mut table = |columns: String, rows: &mut dyn Iterator<Item = Vec<f64>>| {
        let rows: Vec<String> = rows.map(|row| format!("\n  ({})", doubles(&row))).collect();
        let _ = write!(text, ",\nmercer_points_{place}({columns}) AS (VALUES{}\n)", rows.join(","));
    };
    let numbered = |d: usize| (0..d).map(|j| format!(", c{j}")).collect::<String>();
    match part {
        Part::Kernels(KernelTerms { weights, centres, .. }) if !weights.is_empty() => {
            let row = |(w, c): (&f64, &Vec<f64>)| [&[*w], c.as_slice()].concat();
            table(format!("w{}", numbered(centres[0].len())), &mut weights.iter().zip(centres).map(row));
        }
        Part::Waves(Waves { frequencies, cosines, sines }) if !cosines.is_empty() => {
            let weights = cosines.iter().zip(sines);
            let row = |((a, b), w): ((&f64, &f64), &Vec<f64>)| [&[*a, *b], w.as_slice()].concat();
            table(format!("a, b{}", numbered(frequencies[0].len())), &mut weights.zip(frequencies).map(row));
        }
        Part::Kernels(_) | Part::Waves(_) | Part::Affine(_) => {}
    }
}

fn prediction(formula: &Formula) -> String {
    let parts: Vec<String> = formula.parts.iter().enumerate().map(|(place, part)| sum(place, part)).collect();
    let mut sum = if parts.is_empty() { "0e0".to_owned() } else { parts.join("\n    + ") };
    if let Some(bound) = formula.bound.map(double) {
        sum = format!("greatest(-{bound}, least({bound}, {sum}))");
    }
    let value = format!("{} + {} * ({sum})", double(formula.offset), double(formula.scale));
    // A bound takes a NULL for no number, and a category without an input is in no sum.
    let mut known: Vec<String> = (0..formula.columns.len())
        .filter(|place| matches!(formula.columns[*place].recipe, ColumnRecipe::Category(_)))
        .map(category_name)
        .collect();
    known.extend(formula.numbers().filter(|(_, number)| number.gap.is_none()).map(|(_, number)| x(number.input)));
    if known.is_empty() {
        return value;
    }
    let known: Vec<String> = known.into_iter().map(|name| format!("{name} IS NOT NULL")).collect();
    format!("CASE WHEN {} THEN {value} END", known.join(" AND "))
}

/// The value of a part.
fn sum(place: usize, part: &Part) -> String {
    let from = |value: String| format!("(SELECT sum({value}) FROM mercer_points_{place})");
    let product = |d: usize| added((0..d).map(|j| format!("c{j} * {}", x(j))));
    match part {
        Part::Kernels(KernelTerms { profile, centres, .. }) => {
            let Some(d) = centres.first().map(Vec::len) else { return "0e0".to_owned() };
            let squared = || added((0..d).map(|j| format!("(c{j} - {0}) * (c{j} - {0})", x(j))));
            let r = |rate: f64| format!("least({} * sqrt({}), {FAR:e})", double(rate), squared());
            from(match profile {
                Profile::Gaussian { rate } => format!("w * exp(-{} * ({}))", double(*rate), squared()),
                Profile::Laplace { rate } => format!("w * exp(-{})", r(*rate)),
                Profile::Matern32 { rate } => format!("w * (1e0 + {0}) * exp(-{0})", r(*rate)),
                Profile::Matern52 { rate } => format!("w * (1e0 + {0} + {0} * {0} / 3e0) * exp(-{0})", r(*rate)),
                Profile::Polynomial { degree, offset } => {
                    format!("w * pow({} + {}, {degree}e0)", product(d), double(*offset))
                }
            })
        }
        Part::Waves(Waves { frequencies, .. }) => {
            let Some(d) = frequencies.first().map(Vec::len) else { return "0e0".to_owned() };
            let s = product(d);
            from(format!("a * cos({s}) + b * sin({s})"))
        }
        Part::Affine(Affine { offset, slopes, centres }) => {
            let terms = slopes.iter().zip(centres).enumerate();
            let term = |(j, (w, c)): (usize, (&f64, &f64))| format!("{} * ({} - {})", double(*w), x(j), double(*c));
            format!("{} + {}", double(*offset), added(terms.map(term)))
        }
    }
}

fn added(terms: impl Iterator<Item = String>) -> String {
    let terms: Vec<String> = terms.collect();
    if terms.is_empty() { "0e0".to_owned() } else { terms.join(" + ") }
}

/// A number that DuckDB takes for a double, and not for a decimal; in brackets where it has a sign.
fn double(number: f64) -> String {
    if number.is_sign_negative() { format!("({number:e})") } else { format!("{number:e}") }
}

fn doubles(numbers: &[f64]) -> String {
    numbers.iter().map(|number| format!("{number:e}")).collect::<Vec<_>>().join(", ")
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn text(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_doubles_and_texts_are_quoted() {
        assert_eq!(
            (double(0.1), double(-2.0), doubles(&[-1.5, 3.0])),
            ("1e-1".into(), "(-2e0)".into(), "-1.5e0, 3e0".into())
        );
        assert_eq!((quoted("a\"b"), text("it's")), ("\"a\"\"b\"".into(), "'it''s'".into()));
    }
}
