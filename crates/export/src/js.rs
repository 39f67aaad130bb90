//! An ES module of JavaScript.

use std::fmt::Write as _;

use mercer_encoding::{CategoryRecipe, ColumnRecipe, NumberRecipe, ScaleRecipe};
use mercer_session::function::{Affine, Waves};

use crate::formula::{Formula, FormulaColumn};
use crate::parts::{FAR, KernelTerms, Part, Profile};
use crate::text::{double, doubles, listed};

const HEAD: &str = "\
// The prediction of a model of Mercer: predict({column: value, …}).
//
// A number is a number, and a truth value may be a boolean; a category is a text, or what stands
// for one. A gap is null, undefined or an empty text, but its column must be there. The answer is
// NaN for a category that the model has not met, and for a gap where it takes none.
";

const CELL: &str = "
function cell(row, name) {
  if (!(name in row)) throw new Error(`the row has no column ${name}`);
  const value = row[name];
  return value === undefined || value === \"\" ? null : value;
}
";

const NUMBER: &str = "
function number(row, name, words = []) {
  const value = cell(row, name);
  if (value === null) return NaN;
  if (typeof value === \"number\") return Number.isFinite(value) ? value : NaN;
  if (typeof value === \"boolean\") return value ? 1 : 0;
  const word = words.indexOf(String(value).toLowerCase());
  if (word < 0) throw new TypeError(`column ${name}: ${value} is no number`);
  return word % 2;
}
";

const BENT: &str = "
function bent(u) {
  const beyond = Math.abs(u) - 4;
  return beyond <= 0 ? u : Math.sign(u) * (4 + 4 / (4 / beyond + 1));
}
";

const CATEGORY: &str = "
function category(row, name) {
  const value = cell(row, name);
  if (typeof value !== \"number\") return value === null ? null : String(value);
  const size = Math.abs(value);
  if (!Number.isFinite(value)) return null;
  return size === 0 ? \"0\" : size >= 1e-5 && size < 1e16 ? String(value) : value.toExponential().replace(\"+\", \"\");
}
";

const BY_DISTANCE: &str = "
function squaredDistance(c, x) {
  let s = 0;
  for (let j = 0; j < x.length; j++) s += (c[j] - x[j]) * (c[j] - x[j]);
  return s;
}
";

const BY_PRODUCT: &str = "
function product(c, x) {
  let s = 0;
  for (let j = 0; j < x.length; j++) s += c[j] * x[j];
  return s;
}
";

/// The module. Writing to a string cannot fail.
pub(crate) fn write(formula: &Formula) -> String {
    let mut text = HEAD.to_owned();
    let quotes = |target: &String| quoted(target);
    let _ = write!(text, "\nexport const target = {};", formula.target.as_ref().map_or("null".to_owned(), quotes));
    let names = listed(formula.columns.iter().map(|column| quoted(&column.name)));
    let _ = writeln!(text, "\nexport const columns = [{names}];");
    let is_distance = |part: &Part| matches!(part, Part::Kernels(terms) if terms.profile.is_of_distance());
    let is_product = |part: &Part| matches!(part, Part::Kernels(_) | Part::Waves(_)) && !is_distance(part);
    for (helper, used) in [
        (CELL, true),
        (NUMBER, formula.numbers().next().is_some()),
        (BENT, formula.bends()),
        (CATEGORY, formula.categories().next().is_some()),
        (BY_DISTANCE, formula.parts.iter().any(is_distance)),
        (BY_PRODUCT, formula.parts.iter().any(is_product)),
    ] {
        text += if used { helper } else { "" };
    }
    for (place, column) in formula.columns.iter().enumerate() {
        if let ColumnRecipe::Category(recipe) = &column.recipe {
            let pairs = listed(recipe.known.iter().map(|(name, input)| format!("[{}, {input}]", quoted(name))));
            let _ = writeln!(text, "\nconst inputs{place} = new Map([{pairs}]);");
        }
    }
    formula.parts.iter().enumerate().for_each(|(place, part)| tables(&mut text, place, part));
    let _ = write!(text, "\nexport function predict(row) {{\n  const x = new Array({}).fill(0);\n", formula.inputs);
    formula.columns.iter().enumerate().for_each(|(place, column)| inputs(&mut text, place, column));
    text += "  let sum = 0;\n";
    formula.parts.iter().enumerate().for_each(|(place, part)| sum(&mut text, place, part));
    if let Some(bound) = formula.bound.map(double) {
        let _ = writeln!(text, "  sum = Math.max(-{bound}, Math.min({bound}, sum));");
    }
    let _ = write!(text, "  return {} + {} * sum;\n}}\n", double(formula.offset), double(formula.scale));
    text
}

/// What sets the inputs of a column.
fn inputs(text: &mut String, place: usize, FormulaColumn { name, recipe }: &FormulaColumn) {
    let name = quoted(name);
    match recipe {
        ColumnRecipe::Number(NumberRecipe { input, scale, gap, gap_input, truth }) => {
            let words = truth.as_ref().map_or(String::new(), |[no, yes]| {
                let words = [no, yes].map(|word| quoted(&word.to_lowercase()));
                format!(", [{}, {}, \"false\", \"true\"]", words[0], words[1])
            });
            let value = match scale {
                ScaleRecipe::AsItIs => format!("v{place}"),
                ScaleRecipe::Zero => "0".to_owned(),
                ScaleRecipe::Bent { centre, scale } => {
                    format!("bent((v{place} - {}) / {})", double(*centre), double(*scale))
                }
                ScaleRecipe::Range { low, width } => {
                    format!("bent(2 * ((v{place} - {}) / {}) - 1)", double(*low), double(*width))
                }
            };
            let gap = gap.map_or("NaN".to_owned(), double);
            let _ = writeln!(text, "  const v{place} = number(row, {name}{words});");
            let _ = writeln!(text, "  x[{input}] = Number.isNaN(v{place}) ? {gap} : {value};");
            if let Some(input) = gap_input {
                let _ = writeln!(text, "  x[{input}] = Number.isNaN(v{place}) ? 1 : 0;");
            }
        }
        ColumnRecipe::Category(CategoryRecipe { gap_input, .. }) => {
            let _ = writeln!(text, "  const v{place} = category(row, {name});");
            let _ = writeln!(text, "  if (v{place} !== null && !inputs{place}.has(v{place})) return NaN;");
            let _ = writeln!(text, "  if (v{place} !== null) x[inputs{place}.get(v{place})] = 1;");
            if let Some(input) = gap_input {
                let _ = writeln!(text, "  if (v{place} === null) x[{input}] = 1;");
            }
        }
    }
}

/// The numbers of a part.
fn tables(text: &mut String, place: usize, part: &Part) {
    let mut rows = |name: &str, rows: &[Vec<f64>]| {
        let _ = writeln!(text, "\nconst {name}{place} = [");
        rows.iter().for_each(|row| _ = writeln!(text, "  [{}],", doubles(row)));
        text.push_str("];\n");
    };
    match part {
        Part::Kernels(KernelTerms { weights, centres, .. }) => {
            rows("centres", centres);
            column(text, "weights", place, weights);
        }
        Part::Waves(Waves { frequencies, cosines, sines }) => {
            rows("frequencies", frequencies);
            column(text, "cosines", place, cosines);
            column(text, "sines", place, sines);
        }
        Part::Affine(Affine { slopes, centres, .. }) => {
            column(text, "slopes", place, slopes);
            column(text, "means", place, centres);
        }
    }
}

fn column(text: &mut String, name: &str, place: usize, numbers: &[f64]) {
    let _ = writeln!(text, "\nconst {name}{place} = [{}];", doubles(numbers));
}

/// The loop that adds a part to the sum.
fn sum(text: &mut String, p: usize, part: &Part) {
    match part {
        Part::Kernels(KernelTerms { profile, weights, .. }) => {
            let by = if profile.is_of_distance() { "squaredDistance" } else { "product" };
            let _ = writeln!(text, "  for (let i = 0; i < {}; i++) {{", weights.len());
            let _ = writeln!(text, "    const s = {by}(centres{p}[i], x);");
            *text += &kernel(*profile);
            let _ = writeln!(text, "    sum += weights{p}[i] * k;\n  }}");
        }
        Part::Waves(Waves { cosines, .. }) => {
            let _ = writeln!(text, "  for (let i = 0; i < {}; i++) {{", cosines.len());
            let _ = writeln!(text, "    const s = product(frequencies{p}[i], x);");
            let _ = writeln!(text, "    sum += cosines{p}[i] * Math.cos(s) + sines{p}[i] * Math.sin(s);\n  }}");
        }
        Part::Affine(Affine { offset, slopes, .. }) => {
            let _ = writeln!(text, "  sum += {};", double(*offset));
            let each = format!("sum += slopes{p}[j] * (x[j] - means{p}[j])");
            let _ = writeln!(text, "  for (let j = 0; j < {}; j++) {each};", slopes.len());
        }
    }
}

/// The kernel `k` of `s`.
fn kernel(profile: Profile) -> String {
    let of_distance = |rate: f64, k: &str| {
        let rate = double(rate);
        format!("    const r = Math.min({rate} * Math.sqrt(s), {FAR:?});\n    const k = {k};\n")
    };
    match profile {
        Profile::Gaussian { rate } => format!("    const k = Math.exp(-{} * s);\n", double(rate)),
        Profile::Laplace { rate } => of_distance(rate, "Math.exp(-r)"),
        Profile::Matern32 { rate } => of_distance(rate, "(1 + r) * Math.exp(-r)"),
        Profile::Matern52 { rate } => of_distance(rate, "(1 + r + (r * r) / 3) * Math.exp(-r)"),
        Profile::Polynomial { degree, offset } => {
            format!("    const k = Math.pow(s + {}, {degree});\n", double(offset))
        }
    }
}

/// A text as JavaScript writes it.
fn quoted(text: &str) -> String {
    let written = |letter: char| match letter {
        '"' => "\\\"".to_owned(),
        '\\' => "\\\\".to_owned(),
        '\u{2028}' | '\u{2029}' => format!("\\u{:04x}", u32::from(letter)),
        letter if letter.is_control() => format!("\\u{:04x}", u32::from(letter)),
        letter => letter.to_string(),
    };
    format!("\"{}\"", text.chars().map(written).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_quoted() {
        assert_eq!(quoted("a\"\\\n\u{2028}ö"), "\"a\\\"\\\\\\u000a\\u2028ö\"");
    }
}
