//! `synod completions` and `synod man`: what shells and `man` know of this program.

use std::fs;
use std::path::Path;

use clap::Command;
use clap_complete::Shell;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::output;

/// Prints the script by which a shell completes the commands of this program.
pub(crate) fn completions(shell: Shell, mut program: Command) -> Result<Exit, Failure> {
    let name = program.get_name().to_owned();
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut program, name, &mut script);
    output::print(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Ok)
}

/// Writes a page for `man` for each command.
pub(crate) fn pages(folder: &Path, program: Command) -> Result<Exit, Failure> {
    let mut program = program;
    // Names and usages of subcommands are filled in.
    program.build();
    fs::create_dir_all(folder)
        .and_then(|()| clap_mangen::generate_to(program, folder))
        .map_err(|error| {
            let message = format!(
                "the pages cannot be written to {}: {error}",
                folder.display()
            );
            Failure::local(message, "check the path and who may write there")
        })?;
    Ok(Exit::Ok)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;
    use crate::args::Cli;

    #[test]
    fn there_is_a_page_for_every_command_that_is_shown() {
        let folder = tempfile::TempDir::new().unwrap();
        pages(folder.path(), Cli::command()).unwrap();
        let page = |name: &str| folder.path().join(name);
        for name in ["synod.1", "synod-serve.1", "synod-storage-versions-check.1"] {
            let text = fs::read_to_string(page(name)).unwrap();
            assert!(text.contains(".TH"), "{name}: {text}");
        }
        assert!(!page("synod-demo-store.1").exists());
    }
}
