//! The `mercer` command.

fn main() -> std::process::ExitCode {
    mercer_cli::main()
}
