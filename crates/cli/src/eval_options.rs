//! Options of `eval` that other commands take, too: they are handed on word by word, so that every
//! run is one that `eval` could make.

use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;

use clap::parser::ValueSource;
use clap::{ArgAction, ArgMatches, Args, Command as Parsed, FromArgMatches};

use crate::arguments::spelling::spelled_out;
use crate::eval::arguments::EvalArguments;
use crate::report::failure::Failure;

fn eval() -> Parsed {
    EvalArguments::augment_args(Parsed::new("eval"))
}

/// Arguments that a command takes beside the options of `eval`.
pub(crate) trait ExtraArgs: Args {
    /// Options of `eval` that it does not take, or takes as its own.
    const WITHOUT: &'static [&'static str];
    const EXAMPLES: &'static str;
}

/// The arguments of such a command.
pub(crate) struct WithEval<O> {
    pub(crate) own: O,
    /// The options of `eval`.
    pub(crate) words: Words,
}

impl<O: ExtraArgs> FromArgMatches for WithEval<O> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(Self { own: O::from_arg_matches(matches)?, words: Words::from_matches(matches, O::WITHOUT) })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl<O: ExtraArgs> Args for WithEval<O> {
    fn augment_args(command: Parsed) -> Parsed {
        let eval = eval();
        let taken = eval.get_arguments().filter(|arg| !O::WITHOUT.contains(&arg.get_id().as_str()));
        let command = O::augment_args(command).allow_negative_numbers(true);
        taken.cloned().fold(command, Parsed::arg).after_help(O::EXAMPLES)
    }

    fn augment_args_for_update(command: Parsed) -> Parsed {
        Self::augment_args(command)
    }
}

/// Words of a command line of `eval`, behind its name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Words(Vec<OsString>);

impl Words {
    /// The words that were given for the options of `eval` that are not among `without`.
    fn from_matches(matches: &ArgMatches, without: &[&str]) -> Self {
        let mut words = Self::default();
        for arg in eval().get_arguments() {
            let id = arg.get_id().as_str();
            if without.contains(&id) || matches.value_source(id) != Some(ValueSource::CommandLine) {
                continue;
            }
            let values = matches.get_raw(id).into_iter().flatten();
            match (arg.get_long(), arg.get_action()) {
                (Some(name), ArgAction::SetTrue) => words.0.push(format!("--{name}").into()),
                (Some(name), _) => values.for_each(|value| words.add(name, value)),
                (None, _) => words.0.extend(values.map(OsString::from)),
            }
        }
        words
    }

    /// One option more.
    pub(crate) fn add(&mut self, name: &str, value: impl AsRef<OsStr>) {
        let (mut option, value) = (OsString::from(format!("--{name}")), value.as_ref());
        if value.as_encoded_bytes().starts_with(b"-") {
            option.push("=");
            option.push(value);
            self.0.push(option);
        } else {
            self.0.extend([option, value.to_owned()]);
        }
    }

    /// Parses the words as arguments of `eval`.
    pub(crate) fn parsed(&self) -> Result<EvalArguments, Failure> {
        let words = std::iter::once(OsString::from("eval")).chain(self.0.iter().cloned());
        let eval = EvalArguments::augment_args(Parsed::new("eval"));
        let matches = eval.try_get_matches_from(spelled_out(words));
        matches
            .and_then(|matches| EvalArguments::from_arg_matches(&matches))
            .map_err(|error| Failure::from_clap(&error))
    }

    /// The command as it would be typed.
    pub(crate) fn command(&self) -> String {
        let mut text = "mercer eval".to_owned();
        for word in self.0.iter().map(|word| word.to_string_lossy()) {
            let plain = |c: char| c.is_alphanumeric() || "_./:=,+@%-".contains(c);
            // Writing to a string cannot fail.
            let _ = if !word.is_empty() && word.chars().all(plain) {
                write!(text, " {word}")
            } else {
                write!(text, " '{}'", word.replace('\'', "'\\''"))
            };
        }
        text
    }
}
