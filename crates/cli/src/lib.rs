//! The `mercer` command: reads arguments, runs one command, and says in one line what went wrong.
//! Each command is a module of its own.
//!
//! Exit codes: 0 done, 1 failure (data, files, a learner that diverged), 2 usage (arguments that
//! cannot be right). Nothing is printed on stdout unless the command succeeds. A reader that closes
//! the pipe early ends the command quietly.
#![doc = include_str!("../README.md")]
// Printing panics where nothing can be written; see `verbosity` and `output`.
#![cfg_attr(
    not(test),
    warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, clippy::print_stderr)
)]

mod arguments;
mod compare;
mod data;
mod eval;
mod eval_options;
mod explain;
mod export;
mod fit;
mod forecast;
mod inspect;
mod koopman;
mod learners;
mod limits;
mod manual;
mod merge;
mod model;
mod predict;
mod report;
#[cfg(feature = "serve")]
mod serve;
mod train;
mod tune;
mod watch;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{Args, Command as Parsed, CommandFactory, FromArgMatches, Parser, Subcommand};

use compare::CompareArguments;
use eval::arguments::EvalArguments;
use forecast::ForecastArguments;
use inspect::InspectArguments;
use koopman::KoopmanArguments;
use learners::LearnersArguments;
use manual::{CompletionsArguments, ManArguments};
use predict::PredictArguments;
use report::failure::Failure;
use report::verbosity::Verbosity;
use train::TrainArguments;
use tune::TuneArguments;

/// Online learning with kernels on streams of examples.
#[derive(Parser)]
#[command(name = "mercer", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    habits: Habits,
}

/// Options that every command takes.
#[derive(Args)]
struct Habits {
    /// Say nothing on stderr but failures, and rows that were left out
    #[arg(short, long, global = true, conflicts_with = "verbose", help_heading = "Everywhere")]
    quiet: bool,
    /// Say on stderr also what was found and chosen
    #[arg(short, long, global = true, help_heading = "Everywhere")]
    verbose: bool,
    /// Take options from this file; those of the command line win
    ///
    /// A line is the long name of an option and its value, such as `learner = "krls"` or
    /// `limit = 1000`; true or false where an option has no value; a list where it may be given
    /// several times. `set` may be a table: `set = { lambda = 0.1 }`.
    #[arg(long, global = true, value_name = "FILE.toml", help_heading = "Everywhere")]
    config: Option<PathBuf>,
}

#[derive(Subcommand)]
enum Command {
    /// Run several learners over the same rows, and print their scores side by side
    Compare(CompareArguments),
    Completions(CompletionsArguments),
    Eval(Box<EvalArguments>),
    Explain(Box<explain::ExplainArguments>),
    Export(export::ExportArguments),
    Fit(Box<fit::FitArguments>),
    Forecast(Box<ForecastArguments>),
    Inspect(InspectArguments),
    #[cfg(feature = "serve")]
    Journal(serve::JournalCommand),
    Koopman(Box<KoopmanArguments>),
    Learners(LearnersArguments),
    Man(ManArguments),
    Merge(merge::MergeArguments),
    Predict(Box<PredictArguments>),
    #[cfg(feature = "serve")]
    Serve(Box<serve::ServeArguments>),
    Train(Box<TrainArguments>),
    /// Find good settings of a learner for these data, and print the command that has them
    Tune(TuneArguments),
    Watch(Box<watch::WatchArguments>),
}

impl Habits {
    fn level(&self) -> Verbosity {
        match (self.quiet, self.verbose) {
            (true, _) => Verbosity::Quiet,
            (_, true) => Verbosity::Verbose,
            _ => Verbosity::Usual,
        }
    }
}

/// Ends every long help.
const EXIT_CODES: &str = "\
Exit codes:
  0      done
  1      it did not work: data, files, a learner that diverged
  2      the arguments cannot be right
  128+N  ended by signal N, with nothing to be kept
";

/// Told where no command is given.
const FIRST_STEPS: &str = "\
The usual commands, for a table or a series of any format:
  mercer inspect FILE                           what is in its columns
  mercer eval FILE --target NAME                how good predictions of a column are
  mercer train FILE --target NAME --out MODEL   learn from it, and save the model
  mercer predict FILE --model MODEL             predict further rows
  mercer forecast FILE --steps 7                the next rows of a series
";

/// The command line, with what its definition by types leaves out.
fn command() -> Parsed {
    let command = Arguments::command().after_help(EXIT_CODES);
    command.mut_subcommands(|one| {
        let examples = one.get_after_help().map_or(String::new(), |help| format!("{help}\n"));
        one.after_long_help(examples + EXIT_CODES)
    })
}

/// Runs the command that the program was called with, and tells its exit code.
#[must_use]
pub fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            report::verbosity::complain(&failure);
            failure.exit_code()
        }
    }
}

fn run() -> Result<(), Failure> {
    let (words, taken) = arguments::config::with_file(std::env::args_os().collect(), &mut command())?;
    let words = arguments::spelling::spelled_out(words);
    let parsed = command().try_get_matches_from(words).and_then(|matches| Arguments::from_arg_matches(&matches));
    let Arguments { command: asked, habits } = match parsed {
        Ok(arguments) => arguments,
        Err(error) if error.use_stderr() => {
            if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
                report::verbosity::show(FIRST_STEPS);
            }
            return Err(Failure::from_clap(&error));
        }
        // Help and version are asked for, and belong on stdout.
        Err(error) => return report::output::print(&report::verbosity::styled(&error.render())),
    };
    report::verbosity::set(habits.level());
    taken.inspect(|taken| report::verbosity::more(|| taken.clone()));
    match asked {
        Command::Compare(arguments) => compare::run(&arguments),
        Command::Completions(arguments) => manual::completions(&arguments, command()),
        Command::Eval(arguments) => eval::run(&arguments),
        Command::Explain(arguments) => explain::run(&arguments),
        Command::Export(arguments) => export::run(&arguments),
        Command::Fit(arguments) => fit::run(&arguments),
        Command::Inspect(arguments) => inspect::run(&arguments),
        #[cfg(feature = "serve")]
        Command::Journal(arguments) => serve::run_journal(&arguments),
        Command::Koopman(arguments) => koopman::run(&arguments),
        Command::Forecast(arguments) => forecast::run(&arguments),
        Command::Learners(arguments) => learners::run(&arguments),
        Command::Merge(arguments) => merge::run(&arguments),
        Command::Man(arguments) => manual::man(&arguments, command()),
        Command::Predict(arguments) => predict::run(&arguments),
        #[cfg(feature = "serve")]
        Command::Serve(arguments) => serve::run(&arguments),
        Command::Train(arguments) => train::run(&arguments),
        Command::Tune(arguments) => tune::run(&arguments),
        Command::Watch(arguments) => watch::run(&arguments),
    }
}
