//! `--config FILE.toml`: options from a file, put before those of the command line, which win.
//!
//! A key is the long name of an option. A value is a text or a number; true or false for an option
//! that takes no value; a list for one that may be given several times. `set` may also be a table
//! of the learner's keys.

use std::ffi::OsString;
use std::path::Path;

use clap::{Arg, ArgAction, Command};
use mercer_registry::catalogue::nearest;
use toml::{Table, Value};

use crate::report::failure::Failure;

/// The words of the command line with those of its `--config` behind the name of the subcommand;
/// and what these are, to be told.
pub(crate) fn with_file(
    mut words: Vec<OsString>,
    command: &mut Command,
) -> Result<(Vec<OsString>, Option<String>), Failure> {
    let Some(path) = given_config(&words) else { return Ok((words, None)) };
    command.build();
    // Without a subcommand the parser says what is missing.
    let Some((place, subcommand)) = subcommand(&words, command) else { return Ok((words, None)) };
    let path = Path::new(&path);
    let shown = path.display();
    let text = std::fs::read_to_string(path)
        .map_err(|error| Failure::because(format!("{shown}: cannot be read ({error}); give another --config")))?;
    let table: Table = text.parse().map_err(|error: toml::de::Error| {
        let line = error.span().map(|span| 1 + text[..span.start.min(text.len())].matches('\n').count());
        let line = line.map_or(String::new(), |line| format!(", line {line}"));
        let why = error.message().replace('\n', "; ");
        Failure::usage(format!("{shown}{line}: is not TOML: {why}; write lines such as limit = 1000"))
    })?;
    let mut said = Vec::new();
    for (key, value) in &table {
        said.extend(option(key, value, subcommand, &words).map_err(|why| Failure::usage(format!("{shown}: {why}")))?);
    }
    let told: Vec<String> = said.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let told = format!("{shown}: {}", told.join(" "));
    words.splice(place + 1..place + 1, said);
    Ok((words, Some(told)))
}

/// The words before `--`, behind which options end.
fn options(words: &[OsString]) -> impl Iterator<Item = &str> {
    words.iter().skip(1).map(|word| word.to_str().unwrap_or_default()).take_while(|word| *word != "--")
}

/// The file that `--config` names.
fn given_config(words: &[OsString]) -> Option<OsString> {
    let place = options(words).position(|word| word == "--config");
    let joined = options(words).find_map(|word| word.strip_prefix("--config=")).map(OsString::from);
    joined.or_else(|| words.get(place? + 2).cloned())
}

/// The first word that names a subcommand.
fn subcommand<'c>(words: &[OsString], command: &'c Command) -> Option<(usize, &'c Command)> {
    let value_of_config = |place: usize| words.get(place - 1).is_some_and(|word| word == "--config");
    let mut places = (1..words.len()).filter(|place| !value_of_config(*place));
    places.find_map(|place| Some((place, command.find_subcommand(&words[place])?)))
}

/// The words of one key; none if the command line says something else.
fn option(key: &str, value: &Value, command: &Command, words: &[OsString]) -> Result<Vec<OsString>, String> {
    let name = command.get_name();
    let known: Vec<&str> = command.get_arguments().filter(|arg| may_stand(arg)).filter_map(Arg::get_long).collect();
    let Some(arg) = command.get_arguments().find(|arg| may_stand(arg) && arg.get_long() == Some(key)) else {
        let meant = nearest(key, &known).map_or(String::new(), |name| format!(" (is {name} meant?)"));
        return Err(format!("mercer {name} has no option {key:?}{meant}; its options are {}", known.join(", ")));
    };
    if key == "set" {
        return sets(value, words);
    }
    let spoken =
        |name: &str| options(words).any(|word| word == format!("--{name}") || word.starts_with(&format!("--{name}=")));
    let letter = |letter: char| {
        options(words).any(|word| !word.starts_with("--") && word.starts_with('-') && word.contains(letter))
    };
    // Quiet and verbose answer one question.
    let is_said = match key {
        "quiet" | "verbose" => ["quiet", "verbose"].iter().any(|name| spoken(name)) || letter('q') || letter('v'),
        _ => spoken(key),
    };
    if is_said {
        return Ok(Vec::new());
    }
    match (arg.get_action(), value) {
        (ArgAction::SetTrue, Value::Boolean(true)) => Ok(vec![format!("--{key}").into()]),
        (ArgAction::SetTrue, Value::Boolean(false)) => Ok(Vec::new()),
        (ArgAction::SetTrue, _) => Err(format!("{key} must be true or false")),
        (ArgAction::Append, Value::Array(values)) => values.iter().map(|value| word(key, value)).collect(),
        (_, value) => word(key, value).map(|word| vec![word]),
    }
}

/// Options that are no matter of a file.
fn may_stand(arg: &Arg) -> bool {
    !["config", "help", "version"].contains(&arg.get_id().as_str())
}

/// `set`: a list of KEY=VALUE, or a table; a key that the command line sets is left out.
fn sets(value: &Value, words: &[OsString]) -> Result<Vec<OsString>, String> {
    let pairs: Vec<(String, String)> = match value {
        Value::Table(table) => {
            table.iter().map(|(key, value)| Ok((key.clone(), scalar(key, value)?))).collect::<Result<_, String>>()?
        }
        Value::Array(values) => values.iter().map(pair).collect::<Result<_, _>>()?,
        one => vec![pair(one)?],
    };
    let said: Vec<&str> = options(words).collect();
    let is_said = |key: &str| {
        let sets = |pair: &str| pair.split_once('=').is_some_and(|(name, _)| name.trim() == key);
        said.windows(2).any(|two| two[0] == "--set" && sets(two[1]))
            || said.iter().filter_map(|word| word.strip_prefix("--set=")).any(sets)
    };
    let left = pairs.iter().filter(|(key, _)| !is_said(key));
    Ok(left.map(|(key, value)| format!("--set={key}={value}").into()).collect())
}

fn pair(value: &Value) -> Result<(String, String), String> {
    let pair = value.as_str().and_then(|pair| pair.split_once('='));
    let (key, value) = pair.ok_or("set must be a table, or texts such as \"lambda=0.1\"")?;
    Ok((key.trim().to_owned(), value.trim().to_owned()))
}

fn word(key: &str, value: &Value) -> Result<OsString, String> {
    scalar(key, value).map(|text| format!("--{key}={text}").into())
}

/// A value as it would be typed.
fn scalar(key: &str, value: &Value) -> Result<String, String> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Integer(number) => Ok(number.to_string()),
        Value::Float(number) => Ok(number.to_string()),
        Value::Datetime(instant) => Ok(instant.to_string()),
        Value::Boolean(_) => Err(format!("{key} takes a text or a number, not true or false")),
        Value::Array(_) => Err(format!("{key} takes one value, not a list")),
        Value::Table(_) => Err(format!("{key} takes a text or a number, not a table")),
    }
}
