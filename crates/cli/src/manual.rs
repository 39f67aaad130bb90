//! `mercer completions` and `mercer man`: what shells and manuals are told of the command, from its
//! own definition.

use std::io;
use std::path::{Path, PathBuf};

use clap::builder::PossibleValuesParser;
use clap::{Args, Command};
use clap_complete::Shell;
use clap_mangen::Man;
use mercer_registry::catalogue;

use crate::report::failure::Failure;
use crate::report::output::{self, Aside};

/// Print the completions of a shell
///
/// For bash, put them into ~/.local/share/bash-completion/completions/mercer; for fish, into
/// ~/.config/fish/completions/mercer.fish; for zsh, into a file _mercer in a folder of $fpath; for
/// PowerShell and elvish, into what they run at their start.
#[derive(Args)]
pub(crate) struct CompletionsArguments {
    /// The shell
    shell: Shell,
}

/// Print the manual page, or write the pages of all commands into a folder
#[derive(Args)]
pub(crate) struct ManArguments {
    /// The folder, which must be there: mercer.1, mercer-eval.1 and so on are written into it
    folder: Option<PathBuf>,
}

pub(crate) fn completions(arguments: &CompletionsArguments, command: Command) -> Result<(), Failure> {
    let learners = || catalogue::entries().iter().map(|entry| entry.name);
    let names: Vec<String> = command.get_subcommands().map(|one| one.get_name().to_owned()).collect();
    // Shells complete the names of learners, too.
    let mut command = names.iter().fold(command, |command, name| {
        command.mut_subcommand(name, |one| {
            let learns = one.get_arguments().any(|arg| arg.get_id() == "learner");
            if learns {
                one.mut_arg("learner", |arg| arg.value_parser(PossibleValuesParser::new(learners())))
            } else {
                one
            }
        })
    });
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut command, "mercer", &mut script);
    output::print(&String::from_utf8_lossy(&script))
}

pub(crate) fn man(arguments: &ManArguments, command: Command) -> Result<(), Failure> {
    let mut command = command.disable_help_subcommand(true);
    command.build();
    let Some(folder) = &arguments.folder else {
        let page = page(command)?;
        return output::print(&String::from_utf8_lossy(&page));
    };
    if !folder.is_dir() {
        return Err(Failure::because(format!("{}: is not a folder; make it, or give another", folder.display())));
    }
    for one in command.get_subcommands().chain([&command]) {
        write(folder, one.clone())?;
    }
    Ok(())
}

fn page(command: Command) -> Result<Vec<u8>, Failure> {
    let mut page = Vec::new();
    let rendered: io::Result<()> = Man::new(command).render(&mut page);
    rendered.map_err(|error| Failure::because(format!("the manual page cannot be made ({error})")))?;
    Ok(page)
}

fn write(folder: &Path, command: Command) -> Result<(), Failure> {
    let path = folder.join(Man::new(command.clone()).get_filename());
    let mut file = Aside::create_for("folder", &path, &[], "")?;
    file.write_bytes(&page(command)?)?;
    file.finish()
}
