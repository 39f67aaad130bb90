//! `--config FILE.toml`: options from a file, put before those of the command line, which win.
//!
//! A key is the long name of an option. A value is a text or a number; true or false for an option
//! that takes no value; a list for one that may be given several times. `set` may also be a table
//! of the learner's keys.

use std::ffi::OsString;
use std::path::Path;

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command};
use mercer_registry::catalogue::nearest;
use toml::{Table, Value};

use crate::arguments::spelling::spelled_out;
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
    let spoken = Spoken::of(&words, command);
    let mut said = Vec::new();
    for (key, value) in &table {
        said.extend(option(key, value, subcommand, &spoken).map_err(|why| Failure::usage(format!("{shown}: {why}")))?);
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

/// What the command line says, whatever form its options have: long, short, with their values or
/// joined to them.
struct Spoken(Option<ArgMatches>);

impl Spoken {
    /// What is wrong with the words, or lacks, is told when all are parsed.
    fn of(words: &[OsString], command: &Command) -> Self {
        let matches = command.clone().ignore_errors(true).try_get_matches_from(spelled_out(words.iter().cloned())).ok();
        Self(matches.and_then(|mut all| Some(all.remove_subcommand()?.1)))
    }

    fn has(&self, id: &str) -> bool {
        let source = |matches: &ArgMatches| matches.try_contains_id(id).is_ok().then(|| matches.value_source(id))?;
        self.0.as_ref().and_then(source) == Some(ValueSource::CommandLine)
    }

    /// The keys that `--set` sets.
    fn sets(&self) -> Vec<String> {
        let values = self.0.as_ref().and_then(|matches| matches.try_get_raw("set").ok().flatten());
        let pairs = values.into_iter().flatten().filter_map(|pair| pair.to_str()?.split_once('='));
        pairs.map(|(key, _)| key.trim().to_owned()).collect()
    }
}

/// The first word that names a subcommand.
fn subcommand<'c>(words: &[OsString], command: &'c Command) -> Option<(usize, &'c Command)> {
    let value_of_config = |place: usize| words.get(place - 1).is_some_and(|word| word == "--config");
    let mut places = (1..words.len()).filter(|place| !value_of_config(*place));
    places.find_map(|place| Some((place, command.find_subcommand(&words[place])?)))
}

/// The words of one key; none if the command line says something else.
fn option(key: &str, value: &Value, command: &Command, spoken: &Spoken) -> Result<Vec<OsString>, String> {
    let name = command.get_name();
    let known: Vec<&str> = command.get_arguments().filter(|arg| may_stand(arg)).filter_map(Arg::get_long).collect();
    let Some(arg) = command.get_arguments().find(|arg| may_stand(arg) && is_called(arg, key)) else {
        let meant = nearest(key, &known).map_or(String::new(), |name| format!(" (is {name} meant?)"));
        return Err(format!("mercer {name} has no option {key:?}{meant}; its options are {}", known.join(", ")));
    };
    if key == "set" {
        return sets(value, spoken);
    }
    // Quiet and verbose answer one question.
    let is_said = match key {
        "quiet" | "verbose" => spoken.has("quiet") || spoken.has("verbose"),
        _ => spoken.has(arg.get_id().as_str()),
    };
    if is_said {
        return Ok(Vec::new());
    }
    match (arg.get_action(), value) {
        (ArgAction::SetTrue, Value::Boolean(true)) => Ok(vec![format!("--{key}").into()]),
        (ArgAction::SetTrue, Value::Boolean(false)) => Ok(Vec::new()),
        (ArgAction::SetTrue, _) => Err(format!("{key} must be true or false")),
        (ArgAction::Append, Value::Array(values)) => values.iter().map(|value| word(key, value)).collect(),
        (_, value) if key == "learner" => Ok(learner(word(key, value)?, spoken)),
        (_, value) => word(key, value).map(|word| vec![word]),
    }
}

/// The words of a learner that may have settings, without those that the command line says.
fn learner(word: OsString, spoken: &Spoken) -> Vec<OsString> {
    let (sets, kernel) = (spoken.sets(), spoken.has("kernel"));
    let is_left = |word: &OsString| match word.to_string_lossy() {
        word if word.starts_with("--kernel=") => !kernel,
        word => word
            .strip_prefix("--set=")
            .and_then(|pair| pair.split_once('='))
            .is_none_or(|(key, _)| !sets.iter().any(|said| said == key.trim())),
    };
    spelled_out([word]).into_iter().filter(is_left).collect()
}

/// True if this is the name of an option, or another name of it.
fn is_called(arg: &Arg, key: &str) -> bool {
    arg.get_long() == Some(key) || arg.get_all_aliases().unwrap_or_default().contains(&key)
}

/// Options that are no matter of a file.
fn may_stand(arg: &Arg) -> bool {
    !["config", "help", "version"].contains(&arg.get_id().as_str())
}

/// `set`: a list of KEY=VALUE, or a table; a key that the command line sets is left out.
fn sets(value: &Value, spoken: &Spoken) -> Result<Vec<OsString>, String> {
    let pairs: Vec<(String, String)> = match value {
        Value::Table(table) => {
            table.iter().map(|(key, value)| Ok((key.clone(), scalar(key, value)?))).collect::<Result<_, String>>()?
        }
        Value::Array(values) => values.iter().map(pair).collect::<Result<_, _>>()?,
        one => vec![pair(one)?],
    };
    let said = spoken.sets();
    let left = pairs.iter().filter(|(key, _)| !said.contains(key));
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
