//! Flags that may stand before the command as well as after it.

use std::ffi::{OsStr, OsString};

use clap::Command;

/// How to reach the cluster, and how to print. Each has a value.
const LONG: [&str; 10] = [
    "--cacert",
    "--cert",
    "--config",
    "--context",
    "--endpoints",
    "--key",
    "--output",
    "--timeout",
    "--tls-server-name",
    "--token-file",
];
const SHORT: &str = "-o";

/// The words of a command line, with the flags of this module that stand before the command moved to behind it. So each
/// command says by itself which of them it has.
pub(crate) fn in_order(
    words: impl IntoIterator<Item = OsString>,
    program: &Command,
) -> Vec<OsString> {
    let mut words = words.into_iter().peekable();
    // The first word is the name of the program.
    let mut ordered: Vec<OsString> = words.next().into_iter().collect();
    let mut moved = Vec::new();
    while let Some(word) = words.next_if(|word| is_global(word)) {
        let has_value = has_value(&word);
        moved.push(word);
        if !has_value {
            moved.extend(words.next());
        }
    }
    let mut command = program;
    while let Some(inner) = words.peek().and_then(|word| command.find_subcommand(word)) {
        command = inner;
        ordered.extend(words.next());
    }
    // Without a command they say nothing, and what is missing is told.
    if ordered.len() > 1 {
        ordered.append(&mut moved);
    }
    ordered.extend(words);
    ordered
}

fn is_global(word: &OsStr) -> bool {
    let Some(word) = word.to_str() else {
        return false;
    };
    let name = word.split_once('=').map_or(word, |(name, _)| name);
    LONG.contains(&name) || (word.starts_with(SHORT) && !word.starts_with("--"))
}

/// Whether a flag has its value in the same word, as in `--timeout=2s` and `-ojson`.
fn has_value(word: &OsStr) -> bool {
    let word = word.to_string_lossy();
    word.contains('=') || (!word.starts_with("--") && word.len() > SHORT.len())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;
    use crate::args::Cli;

    fn ordered(line: &str) -> String {
        let words = line.split_whitespace().map(OsString::from);
        let words = in_order(words, &Cli::command());
        words.join(OsStr::new(" ")).into_string().unwrap()
    }

    #[test]
    fn flags_before_the_command_are_as_if_they_stood_behind_it() {
        for (given, expected) in [
            ("synod status -o json", "synod status -o json"),
            ("synod -o json status", "synod status -o json"),
            (
                "synod -ojson --timeout=2s status x",
                "synod status -ojson --timeout=2s x",
            ),
            (
                "synod --endpoints a:1 storage-versions list --all -- y",
                "synod storage-versions list --endpoints a:1 --all -- y",
            ),
            (
                "synod --endpoints a:1 lock l -- status",
                "synod lock --endpoints a:1 l -- status",
            ),
            (
                "synod --endpoints a:1 sv list",
                "synod sv list --endpoints a:1",
            ),
            ("synod --endpoints a:1 --help", "synod --help"),
            ("synod --endpoints", "synod"),
            ("synod --strange status", "synod --strange status"),
            ("synod", "synod"),
        ] {
            assert_eq!(ordered(given), expected, "{given}");
        }
    }
}
