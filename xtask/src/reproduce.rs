//! `cargo xtask reproduce …`: builds and runs the experiments' own program, which knows its options
//! (`--help` shows them).

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, ExitCode};

use clap::Args;

#[derive(Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Arguments {
    /// Passed on as they are: --full, --keep, --only NAME,…, --seeds N, --fresh, --out DIR,
    /// --threads N, --data DIR, --help.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    rest: Vec<OsString>,
}

/// The program's exit code is this task's.
pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    let mut command = command(arguments);
    match command.status() {
        // Ended by a signal, it has no code; that is a failure like any other.
        Ok(status) => status.code().map_or(ExitCode::FAILURE, |code| ExitCode::from(u8::try_from(code).unwrap_or(1))),
        Err(error) => {
            eprintln!("error: {} could not be started: {error}", command.get_program().display());
            ExitCode::FAILURE
        }
    }
}

/// The manifest is named and the working directory kept, so that `--out DIR` means what it says
/// from any folder.
fn command(arguments: &Arguments) -> Command {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../Cargo.toml");
    let mut command = Command::new(cargo);
    command.args(["run", "--release", "--package", "mercer-experiments", "--bin", "reproduce", "--manifest-path"]);
    command.arg(manifest).arg("--").args(&arguments.rest);
    command
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Whole {
        #[command(flatten)]
        arguments: Arguments,
    }

    #[test]
    fn options_are_passed_on() {
        let given = ["--full", "--only", "table3", "--help"];
        let whole = Whole::parse_from(std::iter::once("reproduce").chain(given));
        let command = command(&whole.arguments);
        let passed: Vec<_> = command.get_args().skip_while(|argument| *argument != "--").skip(1).collect();
        assert_eq!(passed, given);
    }
}
