//! `mercer export`: a model as a program that needs nothing of Mercer.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use mercer_export::{ExportError, Formula, Language};
use serde_json::json;

use crate::model::store;
use crate::report::facts::Facts;
use crate::report::failure::Failure;
use crate::report::output::{self, Aside};
use crate::report::verbosity;

/// Write a model as a program that needs nothing of Mercer: ONNX, C, JavaScript or SQL
///
/// A model leaves if its prediction is a formula of its columns: krls and its kin with Gaussian,
/// Laplacian, Matérn, polynomial or linear kernels, fogd, pkrr-fourier and ridge, on columns of
/// numbers, truth values and categories with their scales and gaps. The program predicts what
/// mercer predict does, to rounding; it learns nothing. A category that the model has not met has
/// no prediction there (NaN, in SQL NULL), where mercer predict hashes it.
///
/// Dates, words, hashed categories, classes, auto and all other learners without such a formula are
/// refused by name, and nothing is written.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ExportArguments {
    /// The file of the model
    model: PathBuf,
    /// The language: onnx, c (C99), js (a module), or sql (a query of DuckDB)
    #[arg(long, value_name = "LANGUAGE", value_enum)]
    to: LanguageName,
    /// The file of the program
    #[arg(short, long, value_name = "FILE")]
    out: PathBuf,
    /// With sql, the name of the table that is read
    #[arg(long, value_name = "NAME", default_value = TABLE)]
    table: String,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// The table that SQL reads, unless it is named.
const TABLE: &str = "data";

/// Differences from a prediction, as a part of it, that nobody need know.
const ROUNDING: f64 = 1e-12;

const EXAMPLES: &str = "\
Examples:
  mercer train sales.csv --target sales --learner krls --scale standard --out sales.mercer
  mercer export sales.mercer --to c --out sales.c
  mercer export sales.mercer --to sql --table tomorrow --out sales.sql
";

/// The languages by their names.
#[derive(Clone, Copy, ValueEnum)]
enum LanguageName {
    Onnx,
    C,
    Js,
    Sql,
}

impl LanguageName {
    fn language(self) -> Language {
        match self {
            Self::Onnx => Language::Onnx,
            Self::C => Language::C,
            Self::Js => Language::Js,
            Self::Sql => Language::Sql,
        }
    }

    /// The endings that a name may have without telling another format.
    fn endings(self) -> &'static [&'static str] {
        match self {
            Self::Onnx => &["onnx"],
            Self::C => &["c", "h"],
            Self::Js => &["js", "mjs"],
            Self::Sql => &["sql"],
        }
    }
}

pub(crate) fn run(arguments: &ExportArguments) -> Result<(), Failure> {
    let ExportArguments { model: path, to, out, table, json } = arguments;
    output::refuse_format("--out", out, to.endings())?;
    if table.is_empty() {
        return Err(Failure::usage("--table is empty; name the table that the query reads"));
    }
    if table != TABLE && !matches!(to, LanguageName::Sql) {
        return Err(Failure::usage("--table is for --to sql; leave it out"));
    }
    let model = store::load_trained(path)?;
    let formula = Formula::of(&model).map_err(|error| refusal(path, &error))?;
    let mut file = Aside::create_for("--out", out, &[path], "")?;
    file.write_bytes(&formula.write(to.language(), table))?;
    file.finish()?;
    if model.numbers().is_some_and(|task| task.intervals.is_some()) {
        verbosity::remark(format!("{}: has the prediction alone, without its intervals", out.display()));
    }
    if formula.difference > ROUNDING {
        verbosity::remark(format!(
            "{}: large terms cancel, so that predictions differ from those of mercer predict by {} of them and more; fewer \
             points, or more regularisation, mend that",
            out.display(),
            output::digits(formula.difference)
        ));
    }
    let columns: Vec<&str> = formula.columns.iter().map(|column| column.name.as_str()).collect();
    let mut facts = Facts::default();
    facts.tell("file", out.display().to_string());
    facts.tell("language", output::typed(to));
    facts.tell("reads", json!(columns));
    facts.tell("inputs", formula.inputs);
    facts.tell("terms", formula.terms());
    facts.tell("difference", formula.difference);
    facts.print(*json, &format!("{}\n", path.display()))
}

/// What is refused, and what mends it.
fn refusal(path: &Path, error: &ExportError) -> Failure {
    const LEARNERS: &str = "train one that is, such as --learner krls, nons-ald or fogd, or fit --learner ridge";
    let remedy = match error {
        ExportError::Column(none) => format!("train again with --ignore {:?}, or without that column", none.column),
        ExportError::Learner(_) => LEARNERS.to_owned(),
        ExportError::Classes => "mercer predict and mercer serve answer for it".to_owned(),
        ExportError::Outputs(_) => "train one model for each target".to_owned(),
        ExportError::Groups => "train without --group, or one model for each group".to_owned(),
        ExportError::Gaps(_) => "train again on data with empty cells in their place".to_owned(),
        ExportError::Untaught => "let it learn at least 16 rows".to_owned(),
        ExportError::Loss(_) => "train with another --loss".to_owned(),
        _ => "mercer predict answers for it".to_owned(),
    };
    Failure::because(format!("{}: {error}; {remedy}", path.display()))
}
