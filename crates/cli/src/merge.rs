//! `mercer merge`: the sums of shards, or the filters that learnt them, into one file.

mod plain;

use std::path::{Path, PathBuf};

use clap::Args;
use mercer_session::Session;
use mercer_session::model::{FilterMergeError, MergeError, Model, ModelKind, Moments, copies};
use serde_json::{Value, json};

use crate::data::paths::expand;
use crate::fit::{copy_told, facts};
use crate::model::lock;
use crate::model::store;
use crate::report::facts::Facts;
use crate::report::failure::Failure;
use crate::report::output;
use crate::report::verbosity;

/// Join what shards have learnt: sums of `mercer fit`, or models of diagonal-kalman
///
/// The shards must be of the same learner, kernel, parameters, scaling and columns. The result is
/// that of one pass over all rows, to rounding, in whatever order they come; `mercer predict`
/// predicts with it. Models of diagonal-kalman that `mercer train` made of shards of texts, lists,
/// categories or LIBSVM add up by the precisions of their weights, as Gaussian posteriors do: about
/// what one pass learns, and not to rounding. A model that a shard went on from counts twice.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct MergeArguments {
    /// Files of sums or models, patterns such as 'part*.mercer', or folders
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Take the shards of these files back out again
    #[arg(long, value_name = "FILE")]
    retract: Vec<PathBuf>,
    /// Print the mean squared error on each file of the fit to all others; of classes, that of
    /// targets of 1 and -1
    #[arg(long)]
    held_out: bool,
    /// The file of all sums; one that ends in .parquet is a plain table of numbers, which any
    /// engine adds up by sum(value) over moment, a and b
    #[arg(short, long, value_name = "FILE")]
    out: PathBuf,
    /// A file of `mercer fit` with the options of plain tables of sums (Parquet, CSV and others
    /// with the columns moment, a, b and value), which are then read, too
    #[arg(long, value_name = "FILE")]
    like: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  mercer merge part0.mercer part1.mercer part2.mercer --out all.mercer
  mercer merge 'part*.mercer' --held-out --out all.mercer
  mercer merge all.mercer --retract part1.mercer --out without.mercer
  mercer merge part0.mercer --out part0.parquet
  mercer merge sums.parquet --like part0.mercer --out all.mercer
";

/// The sums of a file, or those of a plain table of a fit that is known.
fn load(path: &Path, like: Option<&Moments>) -> Result<Moments, Failure> {
    if plain::is_table(path) && !store::is_model(path) {
        return match like {
            Some(like) => plain::read(path, like),
            None => Err(Failure::usage(format!(
                "{}: is a table and no model file; --like FILE says of which fit its sums are",
                path.display()
            ))),
        };
    }
    match store::load(path)?.model {
        Model::Moments(model) => Ok(*model),
        other => Err(store::other_kind(path, ModelKind::Moments, &other)),
    }
}

pub(super) fn run(arguments: &MergeArguments) -> Result<(), Failure> {
    let like = arguments.like.as_deref().map(|path| load(path, None)).transpose()?;
    let is_model = |path: &Path| {
        path.extension().is_some_and(|ending| ending == store::ENDING) || like.is_some() && plain::is_table(path)
    };
    let (paths, retracted) = (expand(&arguments.files, is_model)?, expand(&arguments.retract, is_model)?);
    for path in paths.iter().chain(&retracted) {
        output::refuse_place("--out", &arguments.out, &[path])?;
    }
    let _lock = lock::take("--out", &arguments.out)?;
    let is_plain = check_place(&arguments.out, &paths)?;
    let Some((first, others)) = paths.split_first() else { return Err(Failure::usage("give at least one file")) };
    if let Some(model) = store::is_model(first).then(|| store::load(first)).transpose()?
        && let Ok(model) = Session::of(model.model)
    {
        return filters(arguments, model, first, others);
    }
    let state = joined((first, others), &retracted, like.as_ref())?;
    let missing = missing(&state);
    if !missing.is_empty() {
        verbosity::remark(format!("{}: still without shard {}", arguments.out.display(), missing.join(", ")));
    }
    let mut more = vec![("files", json!(paths.len())), ("shards", json!(state.parts.len()))];
    if arguments.held_out {
        more.push(("held_out", held_out(&state, &paths, like.as_ref())?));
    }
    if is_plain {
        plain::write(&arguments.out, &state)?;
    } else {
        drop(store::save("--out", &arguments.out, state.to_bytes())?);
    }
    facts(&state, &arguments.out, true, more)?.print(arguments.json, "")
}

/// Whether a plain table is to be written; refuses a place where neither that nor a model can be.
fn check_place(out: &Path, inputs: &[PathBuf]) -> Result<bool, Failure> {
    output::refuse_format("--out", out, &[store::ENDING, plain::ENDING])?;
    let is_plain = out.extension().is_some_and(|ending| ending == plain::ENDING);
    if is_plain {
        let inputs: Vec<&Path> = inputs.iter().map(PathBuf::as_path).collect();
        plain::check_place(out, &inputs)?;
    } else {
        store::check_place("--out", out)?;
    }
    Ok(is_plain)
}

/// The sums of some files without those of others.
fn joined(
    (first, others): (&Path, &[PathBuf]),
    retracted: &[PathBuf],
    like: Option<&Moments>,
) -> Result<Moments, Failure> {
    let mut state = load(first, like)?;
    for path in others {
        let refused = |error: MergeError| {
            let said = Failure::because(format!("{} and {}: {error}", first.display(), path.display()));
            match error {
                MergeError::Twice { .. } => said.with("or tell apart what is not the same by fit --part NAME"),
                _ => said,
            }
        };
        let other = load(path, like)?;
        if let Some((one, copy)) = copies(&state.parts, &other.parts) {
            verbosity::remark(copy_told(one, copy));
        }
        state.merge(&other).map_err(refused)?;
    }
    for path in retracted {
        state.retract(&load(path, like)?).map_err(|error| Failure::because(format!("{}: {error}", path.display())))?;
    }
    Ok(state)
}

/// The mean squared error on each file of the fit to all others.
fn held_out(state: &Moments, paths: &[PathBuf], like: Option<&Moments>) -> Result<Value, Failure> {
    let lambda = state.ridge().map_err(|error| Failure::because(error.to_string()))?;
    let errors = paths.iter().map(|path| {
        let held_out = state.held_out(&load(path, like)?, lambda);
        let held_out = held_out.map_err(|error| Failure::because(format!("{}: {error}", path.display())))?;
        Ok((path.display().to_string(), json!(held_out)))
    });
    errors.collect()
}

/// Joins models of filters.
fn filters(arguments: &MergeArguments, mut model: Session, first: &Path, others: &[PathBuf]) -> Result<(), Failure> {
    if arguments.held_out || !arguments.retract.is_empty() {
        return Err(Failure::usage(
            "--held-out and --retract are for the sums of mercer fit; models of filters have none",
        ));
    }
    if model.description.learner != "diagonal-kalman" {
        let refused = FilterMergeError::Learner(model.description.learner.clone());
        return Err(Failure::because(format!("{}: {refused}", first.display())));
    }
    for path in others {
        let other = Session::of(store::load(path)?.model);
        let kind = if model.classes().is_some() { ModelKind::Classification } else { ModelKind::Regression };
        let other = other.map_err(|other| store::other_kind(path, kind, &other))?;
        let refused = |error| Failure::because(format!("{} and {}: {error}", first.display(), path.display()));
        model.merge(&other).map_err(refused)?;
    }
    let mut facts = Facts::default();
    facts.tell("files", 1 + others.len());
    facts.tell("learner", model.description.learner.as_str());
    facts.tell("rows", model.progress.rows);
    facts.tell("dictionary_size", model.dictionary_size());
    drop(store::save("--out", &arguments.out, model.to_bytes())?);
    facts.print(arguments.json, "")
}

/// Shards that are not there although others of the same cut are; ten at most.
fn missing(state: &Moments) -> Vec<String> {
    let Some(of) = state.parts.first().map(|part| part.of) else { return Vec::new() };
    if state.parts.iter().any(|part| part.of != of) {
        return Vec::new();
    }
    let there = |shard: u64| state.parts.iter().any(|part| part.shard == shard);
    (0..of).filter(|shard| !there(*shard)).map(|shard| format!("{shard}/{of}")).take(10).collect()
}
