//! What is written down for operators says nothing that the program does not know: every command of the runbook, and every
//! flag, variable and setting of the manifests, the units and the default files.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use clap::error::ErrorKind;
use clap::{Arg, ArgMatches, CommandFactory as _, FromArgMatches as _};
use serde_json::Value;
use synod_policy::Policy;

use crate::args::{Cli, Command, in_order};
use crate::innermost;
use crate::settings::ServeSettings;

const RUNBOOK: &str = "docs/OPERATIONS.md";

/// The folders of manifests.
const FOLDERS: [&str; 7] = [
    "aggregated",
    "base",
    "backup",
    "cert-manager",
    "migrator",
    "monitoring",
    "observer",
];

fn checkout(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(path)
}

fn text(path: &str) -> String {
    fs::read_to_string(checkout(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn parsed(words: impl IntoIterator<Item = String>) -> Result<ArgMatches, String> {
    let program = Cli::command();
    let words = in_order(words.into_iter().map(OsString::from), &program);
    let matches = program.try_get_matches_from(words);
    matches.map_err(|error| error.to_string())
}

/// The commands of this program in a shell's text, also those in pipes.
fn commands(script: &str) -> Vec<Vec<String>> {
    let whole = script.replace("\\\n", " ");
    let mut commands = Vec::new();
    for line in whole.lines().map(words) {
        for command in line.split(|word| matches!(&**word, "&&" | "|")) {
            let words = command
                .iter()
                .take_while(|word| !matches!(&***word, ">" | "<"));
            commands.push(words.cloned().collect::<Vec<_>>());
        }
    }
    commands.retain(|words| words.first().is_some_and(|word| word == "synod"));
    commands
}

/// The words of a line, up to a comment. What is quoted is one word.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for letter in line.chars() {
        match quote {
            Some(mark) if letter == mark => quote = None,
            None if matches!(letter, '\'' | '"') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            None if letter.is_whitespace() => words.extend(word.take()),
            None if letter == '#' && word.is_none() => break,
            _ => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    words
}

/// The blocks of code whose fence says `kind`.
fn blocks(document: &str, kind: &str) -> Vec<String> {
    let mut blocks = Vec::new();
    let mut open: Option<String> = None;
    for line in document.lines() {
        let line = line.trim_start();
        match (line.strip_prefix("```"), &mut open) {
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (Some(fence), None) if fence == kind => open = Some(String::new()),
            (None, Some(block)) => {
                *block += line;
                block.push('\n');
            }
            _ => {}
        }
    }
    blocks
}

// Guarantee: I-09
#[test]
fn every_command_of_the_runbook_is_one_of_the_program() {
    let document = text(RUNBOOK);
    let mut count = 0;
    for block in blocks(&document, "sh") {
        for command in commands(&block) {
            count += 1;
            let line = command.join(" ");
            parsed(command).unwrap_or_else(|error| panic!("{RUNBOOK}: {line}\n{error}"));
        }
    }
    assert!(count > 15, "only {count} commands were found");
}

/// What stands between single backticks outside of blocks of code.
fn spans(document: &str) -> Vec<String> {
    let mut is_block = false;
    let prose = document.lines().filter(|line| {
        let is_fence = line.trim_start().starts_with("```");
        is_block ^= is_fence;
        !is_block && !is_fence
    });
    let prose: Vec<&str> = prose.collect();
    let prose = prose.join(" ");
    let spans = prose.split('`').skip(1).step_by(2);
    spans.map(str::to_owned).collect()
}

#[test]
fn every_command_that_the_runbook_mentions_is_one_of_the_program() {
    let document = text(RUNBOOK);
    let mut count = 0;
    for span in spans(&document) {
        // Alone it is the name of a role, a user or a folder.
        for command in commands(&span).into_iter().filter(|words| words.len() > 1) {
            count += 1;
            let program = Cli::command();
            let words = in_order(command.into_iter().map(OsString::from), &program);
            // A command that is named alone may lack what it needs.
            match program.try_get_matches_from(words) {
                Err(error) if error.kind() != ErrorKind::MissingRequiredArgument => {
                    panic!("{RUNBOOK}: `{span}`\n{error}")
                }
                Ok(_) | Err(_) => {}
            }
        }
    }
    assert!(count > 15, "only {count} commands were found");
}

/// The documents of a manifest.
fn documents(path: &str) -> Vec<Value> {
    let text = text(path);
    let documents = synod_yaml::documents(&text);
    let documents = documents.unwrap_or_else(|error| panic!("{path}: {error}"));
    documents
        .into_iter()
        .map(|document| document.value)
        .collect()
}

/// The containers in a document, wherever they stand.
fn containers(document: &Value) -> Vec<Value> {
    match document {
        Value::Object(map) => {
            let own = map.get("containers").and_then(Value::as_array);
            let below = map.iter().flat_map(|(_, value)| containers(value));
            own.into_iter().flatten().cloned().chain(below).collect()
        }
        Value::Array(items) => items.iter().flat_map(containers).collect(),
        _ => Vec::new(),
    }
}

/// The texts of a list.
fn texts(list: &Value) -> Vec<String> {
    let items = list.as_array().into_iter().flatten();
    items
        .filter_map(|item| Some(item.as_str()?.to_owned()))
        .collect()
}

/// The variables of a container that have a value.
fn variables(container: &Value) -> Vec<(String, String)> {
    let variables = container["env"].as_array().into_iter().flatten();
    variables
        .filter_map(|it| {
            let (name, value) = (it["name"].as_str()?, it["value"].as_str()?);
            Some((name.to_owned(), value.to_owned()))
        })
        .collect()
}

/// The name of the flag that a command reads from a variable, if it reads it.
fn flag_of(command: &clap::Command, variable: &str) -> Option<String> {
    let is_it = |arg: &&Arg| arg.get_env().is_some_and(|name| name == variable);
    let arg = command.get_arguments().find(is_it)?;
    Some(format!("--{}", arg.get_long()?))
}

// Guarantee: I-09
#[test]
fn manifests_name_nothing_that_the_program_does_not_know() {
    let mut found = Vec::new();
    for folder in FOLDERS {
        let folder = format!("deploy/kubernetes/{folder}");
        for entry in fs::read_dir(checkout(&folder)).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            if !name.ends_with(".yaml") {
                continue;
            }
            let path = format!("{folder}/{name}");
            for container in documents(&path).iter().flat_map(containers) {
                let mut words = texts(&container["args"]);
                if words.is_empty() {
                    // A patch of the replica's container says what it changes alone.
                    words.push("serve".to_owned());
                }
                found.push(words[0].clone());
                known(&path, words, &variables(&container));
            }
        }
    }
    found.sort_unstable();
    assert_eq!(found, ["backup", "migrate", "observe", "serve", "serve"]);
}

#[test]
fn each_resource_that_the_deployed_worker_migrates_has_a_role() {
    let containers = containers(&documents("deploy/kubernetes/migrator/deployment.yaml")[0]);
    let words = texts(&containers[0]["args"]);
    let named = words[1..].iter().take_while(|word| !word.starts_with('-'));
    let named: Vec<String> = named.cloned().collect();
    let mut granted = Vec::new();
    for role in documents("deploy/kubernetes/migrator/resources.yaml") {
        let label = &role["metadata"]["labels"]["synod.io/aggregate-to-migrator"];
        assert_eq!(label, "true", "{role:?}");
        for rule in role["rules"].as_array().unwrap() {
            assert_eq!(texts(&rule["verbs"]), ["get", "list", "update"]);
            for group in texts(&rule["apiGroups"]) {
                let resources = texts(&rule["resources"]).into_iter();
                granted.extend(resources.map(|resource| format!("{resource}.{group}")));
            }
        }
    }
    assert_eq!(named, granted);
}

/// Panics unless the program knows this command with these variables.
fn known(path: &str, words: Vec<String>, variables: &[(String, String)]) {
    let mut program = Cli::command();
    program.build();
    let command = program.find_subcommand(&words[0]);
    let mut command = command.unwrap_or_else(|| panic!("{path}: there is no `{}`", words[0]));
    for word in &words[1..] {
        let Some(inner) = command.find_subcommand(word) else {
            break;
        };
        command = inner;
    }
    for (variable, _) in variables {
        assert!(
            !variable.starts_with("SYNOD_") || flag_of(command, variable).is_some(),
            "{path}: `{}` does not read {variable}",
            words[0]
        );
    }
    let line = std::iter::once("synod".to_owned()).chain(words);
    parsed(line).unwrap_or_else(|error| panic!("{path}: {error}"));
}

/// The settings of a replica by a file, with flags.
fn settings(file: &Path, flags: Vec<String>) -> Result<ServeSettings, String> {
    let file = file.display().to_string();
    let line = ["synod", "serve", "--config", &file].map(str::to_owned);
    let matches = parsed(line.into_iter().chain(flags))?;
    let Ok(Cli {
        command: Command::Serve(args),
    }) = Cli::from_arg_matches(&matches)
    else {
        panic!("it does not serve")
    };
    ServeSettings::load(&args, innermost(&matches)).map_err(|failure| failure.to_string())
}

// Guarantee: I-09
#[test]
fn each_pod_is_a_replica_of_its_own() {
    let path = "deploy/kubernetes/base/stateful-set.yaml";
    let documents = documents(path);
    let container = containers(&documents[0]).remove(0);
    let program = Cli::command();
    let serve = program.find_subcommand("serve").unwrap();
    let flags: Vec<String> = variables(&container)
        .into_iter()
        .filter_map(|(name, value)| Some([flag_of(serve, &name)?, value]))
        .flatten()
        .collect();
    for number in 0..3 {
        let file = format!("deploy/kubernetes/base/replicas/synod-{number}.toml");
        let settings = settings(&checkout(&file), flags.clone());
        let replica = settings
            .unwrap_or_else(|fault| panic!("{file}: {fault}"))
            .replica;
        assert_eq!(replica.replica.get(), number + 1);
        let advertised = format!("synod-{number}.synod-peers.synod.svc:4600");
        assert_eq!(replica.advertise_client, Some(advertised));
        let own = format!("synod-{number}.synod-peers.synod.svc:4610");
        assert_eq!(replica.replicas.get(&replica.replica), Some(&own));
        assert_eq!(replica.replicas.len(), 3);
        assert!(replica.security.policy.is_some() && !replica.allow_insecure);
    }
}

#[test]
fn the_default_files_can_be_used_once_they_are_filled_in() {
    let default = text("deploy/debian/synod.toml");
    let is_setting = |line: &str| line.contains(" = ") && !line.starts_with("# ");
    let filled: String = default
        .lines()
        .map(|line| match line.strip_prefix('#') {
            Some(setting) if is_setting(line) => format!("{setting}\n"),
            _ => format!("{line}\n"),
        })
        .collect();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("synod.toml");
    fs::write(&file, filled).unwrap();
    let replica = settings(&file, Vec::new()).unwrap().replica;
    assert_eq!(replica.replicas.len(), 3);
    assert!(replica.security.client.is_some() && replica.security.peer.is_some());
    for (policy, grants) in [
        ("deploy/debian/policy.toml", 5),
        ("deploy/kubernetes/base/policy.toml", 7),
    ] {
        let policy = Policy::parse(&text(policy)).unwrap();
        assert_eq!(policy.grants.len(), grants);
    }
}

#[test]
fn units_start_commands_of_the_program() {
    for unit in ["synod.service", "synod-backup.service"] {
        let path = format!("deploy/systemd/{unit}");
        let text = text(&path);
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix("ExecStart="));
        let (_, line) = line.unwrap().split_once("/usr/bin/synod ").unwrap();
        // What the shell puts together is one word.
        let (line, made_by_the_shell) = line.split_once('"').unwrap_or((line, ""));
        let mut words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        if !made_by_the_shell.is_empty() {
            words.push("file".to_owned());
        }
        known(&path, words, &[]);
    }
}
