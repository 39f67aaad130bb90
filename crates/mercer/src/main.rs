//! The `mercer` command: reads arguments, runs one command, and says in one line what went wrong.
//!
//! Exit codes: 0 done, 1 failure (data, files, a learner that diverged), 2 usage (arguments that
//! cannot be right). Nothing is printed on stdout unless the command succeeds. A reader that closes
//! the pipe early ends the command quietly.

#![warn(clippy::print_stderr, clippy::print_stdout)] // they panic where nothing can be written; see `cli::voice` and `cli::output`

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    match cli::run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            cli::complain(&failure);
            failure.exit_code()
        }
    }
}
