//! The `--help` of every command.

use clap::{Command, CommandFactory as _};

use super::golden;
use crate::args::Cli;

#[test]
fn every_command_explains_itself_with_an_example() {
    // As on a terminal of this width. Without a terminal clap takes the same width.
    let mut command = Cli::command().term_width(100);
    command.build();
    let mut texts = Vec::new();
    collect(&mut command, &mut texts);
    for (name, text) in &texts {
        assert!(text.contains("Examples:\n"), "{name} shows no example");
        assert!(
            text.lines().all(|line| line.chars().count() <= 110),
            "{name} has a line that is too long"
        );
    }
    golden::check("help", &texts);
}

fn collect(command: &mut Command, texts: &mut Vec<(String, String)>) {
    let name = command
        .get_bin_name()
        .unwrap_or_else(|| command.get_name())
        .replace(' ', "-");
    let help = command.render_long_help().to_string();
    let lines = help.lines().map(|line| format!("{}\n", line.trim_end()));
    texts.push((name, lines.collect()));
    // The hidden commands are processes of the demo, which nobody types.
    for inner in command
        .get_subcommands_mut()
        .filter(|inner| !inner.is_hide_set())
    {
        collect(inner, texts);
    }
}

#[test]
fn the_definition_of_the_commands_is_sound() {
    Cli::command().debug_assert();
}
