//! C99 without libraries but `<math.h>`.

use std::fmt::Write as _;

use mercer_encoding::{CategoryRecipe, NumberRecipe, ScaleRecipe};
use mercer_session::function::{Affine, Waves};

use crate::formula::Formula;
use crate::parts::{FAR, KernelTerms, Part, Profile};
use crate::text::{double, doubles, listed};

const HEAD: &str = "\
/* The prediction of a model of Mercer. C99; link with -lm, and compile without -ffast-math.
 *
 * numbers     one for each of mercer_number_names, in their order; NAN for a gap
 * categories  one for each of mercer_category_names, in UTF-8; NULL or \"\" for a gap
 *
 * The answer is NAN for a category that the model has not met, and for a gap where it takes none. */
#include <math.h>
";

const BENT: &str = "
static double mercer_bent(double u) {
    const double beyond = fabs(u) - 4.0;
    return beyond <= 0.0 ? u : copysign(4.0 + 4.0 / (4.0 / beyond + 1.0), u);
}
";

const PLACE: &str = "
/* The place of a text in a list that ends with 0; -1 where it is not there. */
static int mercer_place(const char *const *names, const char *text) {
    for (int place = 0; names[place]; place++) {
        const char *one = names[place], *other = text;
        while (*one && *one == *other) {
            one++;
            other++;
        }
        if (*one == *other) {
            return place;
        }
    }
    return -1;
}
";

/// The program. Writing to a string cannot fail.
pub(crate) fn write(formula: &Formula) -> String {
    let mut text = HEAD.to_owned();
    let numbers: Vec<(&str, &NumberRecipe)> = formula.numbers().collect();
    let categories: Vec<(&str, &CategoryRecipe)> = formula.categories().collect();
    if let Some(target) = &formula.target {
        let _ = write!(text, "\nconst char *const mercer_target = {};", quoted(target));
    }
    names(&mut text, "number", numbers.iter().map(|(name, _)| *name));
    names(&mut text, "category", categories.iter().map(|(name, _)| *name));
    if formula.bends() {
        text += BENT;
    }
    if !categories.is_empty() {
        text += PLACE;
    }
    for (place, part) in formula.parts.iter().enumerate() {
        tables(&mut text, place, part);
    }
    text += "\ndouble mercer_predict(const double *numbers, const char *const *categories) {\n";
    let _ = writeln!(text, "    double x[{}] = {{0.0}};", formula.inputs.max(1));
    text += "    double sum = 0.0;\n    (void)numbers;\n    (void)categories;\n    (void)x;\n";
    numbers.iter().enumerate().for_each(|(place, (_, recipe))| number(&mut text, place, recipe));
    categories.iter().enumerate().for_each(|(place, (_, recipe))| category(&mut text, place, recipe));
    for (place, part) in formula.parts.iter().enumerate() {
        sum(&mut text, place, part, formula.inputs);
    }
    if let Some(bound) = formula.bound.map(double) {
        let _ = writeln!(text, "    sum = sum > {bound} ? {bound} : sum < -{bound} ? -{bound} : sum;");
    }
    let _ = write!(text, "    return {} + {} * sum;\n}}\n", double(formula.offset), double(formula.scale));
    text
}

/// The names of the columns of a kind, and how many they are.
fn names<'a>(text: &mut String, kind: &str, names: impl Iterator<Item = &'a str> + Clone) {
    let (count, names) = (names.clone().count(), names.map(quoted).chain(["0".to_owned()]));
    let _ = write!(text, "\nconst int mercer_{kind}_count = {count};");
    let _ = writeln!(text, "\nconst char *const mercer_{kind}_names[] = {{{}}};", listed(names));
}

fn number(text: &mut String, place: usize, recipe: &NumberRecipe) {
    let NumberRecipe { input, scale, gap, gap_input, .. } = recipe;
    let value = match scale {
        ScaleRecipe::AsItIs => format!("numbers[{place}]"),
        ScaleRecipe::Zero => "0.0".to_owned(),
        ScaleRecipe::Bent { centre, scale } => {
            format!("mercer_bent((numbers[{place}] - {}) / {})", double(*centre), double(*scale))
        }
        ScaleRecipe::Range { low, width } => {
            format!("mercer_bent(2.0 * ((numbers[{place}] - {}) / {}) - 1.0)", double(*low), double(*width))
        }
    };
    let gap = gap.map_or("NAN".to_owned(), double);
    let _ = writeln!(text, "    x[{input}] = isfinite(numbers[{place}]) ? {value} : {gap};");
    if let Some(input) = gap_input {
        let _ = writeln!(text, "    x[{input}] = isfinite(numbers[{place}]) ? 0.0 : 1.0;");
    }
}

fn category(text: &mut String, place: usize, CategoryRecipe { known, gap_input }: &CategoryRecipe) {
    let names = listed(known.iter().map(|(name, _)| quoted(name)).chain(["0".to_owned()]));
    let inputs = listed(known.iter().map(|(_, input)| input.to_string()).chain(["0".to_owned()]));
    let _ = write!(
        text,
        "    if (categories[{place}] && *categories[{place}]) {{
        static const char *const names[] = {{{names}}};
        static const int inputs[] = {{{inputs}}};
        const int found = mercer_place(names, categories[{place}]);
        if (found < 0) {{
            return NAN;
        }}
        x[inputs[found]] = 1.0;
    }}"
    );
    let _ = match gap_input {
        Some(input) => writeln!(text, " else {{\n        x[{input}] = 1.0;\n    }}"),
        None => writeln!(text),
    };
}

/// The numbers of a part.
fn tables(text: &mut String, place: usize, part: &Part) {
    let mut rows = |name: &str, rows: &[Vec<f64>]| {
        let width = rows.first().map_or(0, Vec::len).max(1);
        let _ = writeln!(text, "\nstatic const double mercer_{name}_{place}[][{width}] = {{");
        rows.iter().for_each(|row| _ = writeln!(text, "    {{{}}},", row_of(row)));
        text.push_str("};\n");
    };
    match part {
        Part::Kernels(KernelTerms { weights, centres, .. }) if !weights.is_empty() => {
            rows("centres", centres);
            column(text, "weights", place, weights);
        }
        Part::Waves(Waves { frequencies, cosines, sines }) => {
            rows("frequencies", frequencies);
            column(text, "cosines", place, cosines);
            column(text, "sines", place, sines);
        }
        Part::Affine(Affine { slopes, centres, .. }) if !slopes.is_empty() => {
            column(text, "slopes", place, slopes);
            column(text, "means", place, centres);
        }
        Part::Kernels(_) | Part::Affine(_) => {}
    }
}

/// C knows no array without a number.
fn row_of(row: &[f64]) -> String {
    if row.is_empty() { "0.0".to_owned() } else { doubles(row) }
}

fn column(text: &mut String, name: &str, place: usize, numbers: &[f64]) {
    let _ = writeln!(text, "\nstatic const double mercer_{name}_{place}[] = {{{}}};", row_of(numbers));
}

/// The loop that adds a part to the sum.
fn sum(text: &mut String, part_place: usize, part: &Part, d: usize) {
    let p = part_place;
    let inputs = |each: &str| format!("        for (int j = 0; j < {d}; j++) {{\n{each}        }}\n");
    match part {
        Part::Kernels(KernelTerms { weights, .. }) if weights.is_empty() => {}
        Part::Affine(Affine { slopes, offset, .. }) if slopes.is_empty() => {
            let _ = writeln!(text, "    sum += {};", double(*offset));
        }
        Part::Kernels(KernelTerms { profile, weights, .. }) => {
            let each = if profile.is_of_distance() {
                format!("            const double by = mercer_centres_{p}[i][j] - x[j];\n            s += by * by;\n")
            } else {
                format!("            s += mercer_centres_{p}[i][j] * x[j];\n")
            };
            let _ = write!(text, "    for (int i = 0; i < {}; i++) {{\n        double s = 0.0;\n", weights.len());
            *text += &inputs(&each);
            *text += &kernel(*profile);
            let _ = writeln!(text, "        sum += mercer_weights_{p}[i] * k;\n    }}");
        }
        Part::Waves(Waves { cosines, .. }) => {
            let _ = write!(text, "    for (int i = 0; i < {}; i++) {{\n        double s = 0.0;\n", cosines.len());
            *text += &inputs(&format!("            s += mercer_frequencies_{p}[i][j] * x[j];\n"));
            let _ =
                writeln!(text, "        sum += mercer_cosines_{p}[i] * cos(s) + mercer_sines_{p}[i] * sin(s);\n    }}");
        }
        Part::Affine(Affine { offset, slopes, .. }) => {
            let _ = writeln!(text, "    sum += {};", double(*offset));
            let _ = writeln!(text, "    for (int j = 0; j < {}; j++) {{", slopes.len());
            let _ = writeln!(text, "        sum += mercer_slopes_{p}[j] * (x[j] - mercer_means_{p}[j]);\n    }}");
        }
    }
}

/// The kernel `k` of `s`.
fn kernel(profile: Profile) -> String {
    let of_distance = |rate: f64, k: &str| {
        let rate = double(rate);
        format!("        const double r = fmin({rate} * sqrt(s), {FAR:?});\n        const double k = {k};\n")
    };
    match profile {
        Profile::Gaussian { rate } => format!("        const double k = exp(-{} * s);\n", double(rate)),
        Profile::Laplace { rate } => of_distance(rate, "exp(-r)"),
        Profile::Matern32 { rate } => of_distance(rate, "(1.0 + r) * exp(-r)"),
        Profile::Matern52 { rate } => of_distance(rate, "(1.0 + r + r * r / 3.0) * exp(-r)"),
        Profile::Polynomial { degree, offset } => {
            format!("        const double k = pow(s + {}, {degree}.0);\n", double(offset))
        }
    }
}

/// A text as C writes it: bytes that are no plain characters in octal digits.
fn quoted(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_graphic() && !b"\"\\?".contains(&byte) || byte == b' ';
    let written = |byte: u8| if plain(byte) { char::from(byte).to_string() } else { format!("\\{byte:03o}") };
    format!("\"{}\"", text.bytes().map(written).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_quoted() {
        assert_eq!(quoted("a \"b\"\\?*/"), "\"a \\042b\\042\\134\\077*/\"");
        assert_eq!(quoted("ö\n"), "\"\\303\\266\\012\"");
    }
}
