//! The settings of this program: a flag, else the environment, else a file, else the default.
//!
//! Every value is a text until it is parsed here, so one rule holds wherever the value stands. All faults are found at
//! once, each with the place of the value, and before anything is touched.

mod address;
mod client;
mod file;
mod replicas;
mod serve;

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use clap::ArgMatches;
use clap::parser::ValueSource;
use synod_client::{Violation, Violations};

pub(crate) use client::ClientSettings;
pub(crate) use serve::{LogFormat, ServeSettings};

use crate::failure::Failure;
use file::File;

/// Every setting that a file may hold, by the name that it has there. A file can be shared by all commands: each takes
/// what it needs, and all of them refuse what none knows.
const KEYS: [&str; 15] = [
    "advertise_client",
    "allow_insecure",
    "cluster_name",
    "data_dir",
    "election_timeout",
    "endpoints",
    "heartbeat_interval",
    "listen_client",
    "listen_metrics",
    "listen_peer",
    "log",
    "log_format",
    "replica_id",
    "replicas",
    "timeout",
];

/// The layers of settings that one command reads from.
pub(crate) struct Layers<'a> {
    matches: &'a ArgMatches,
    file: File,
    /// Where the value of each setting was found; the others have their defaults.
    origins: BTreeMap<&'static str, Origin>,
    faults: Violations,
}

/// Where a value stands.
#[derive(Clone, Debug)]
enum Origin {
    /// It was typed.
    Flag,
    /// It stands in the environment.
    Environment,
    /// It stands in a file: the file's name and the line.
    File(String),
}

impl<'a> Layers<'a> {
    /// What was typed and what the environment holds, with the file below them if one is named.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or is no TOML. What is wrong with its keys is told together with all other faults.
    pub(crate) fn open(matches: &'a ArgMatches, file: Option<&Path>) -> Result<Self, Failure> {
        let file = file.map_or_else(|| Ok(File::default()), File::read)?;
        let mut faults = Violations::new();
        for (place, key) in file.unknown(&KEYS) {
            let rule = format!("no setting has this name; there are: {}", KEYS.join(", "));
            faults.push(Violation {
                field: format!("{place}: {key}"),
                rule,
            });
        }
        Ok(Self {
            matches,
            file,
            origins: BTreeMap::new(),
            faults,
        })
    }

    /// The value of a setting, or nothing if nobody gave it or it is at fault.
    pub(crate) fn given<T>(
        &mut self,
        key: &'static str,
        parse: impl FnOnce(&str) -> Result<T, String>,
    ) -> Option<T> {
        let (text, origin) = self.text(key)?;
        self.origins.insert(key, origin);
        let parsed = text.and_then(|text| {
            parse(&text).map_err(|rule| format!("Invalid value: {text:?}: {rule}"))
        });
        parsed.map_err(|rule| self.fault(key, rule)).ok()
    }

    /// The value of a setting, or its default.
    pub(crate) fn given_or<T>(
        &mut self,
        key: &'static str,
        parse: impl FnOnce(&str) -> Result<T, String>,
        default: T,
    ) -> T {
        self.given(key, parse).unwrap_or(default)
    }

    /// The value of a setting that must be given.
    pub(crate) fn required<T>(
        &mut self,
        key: &'static str,
        parse: impl FnOnce(&str) -> Result<T, String>,
    ) -> Option<T> {
        let given = self.given(key, parse);
        if given.is_none() && !self.origins.contains_key(key) {
            let (flag, variable) = (flag(key), variable(key));
            let rule = format_args!("give {flag}, {variable}, or {key} in the file of --config");
            self.faults.push(Violation::required(rule).at(key));
        }
        given
    }

    /// Adds what is wrong with a setting, at the place where its value stands.
    pub(crate) fn fault(&mut self, key: &str, rule: impl fmt::Display) {
        let field = match self.origins.get(key) {
            Some(Origin::Flag) => flag(key),
            Some(Origin::Environment) => variable(key),
            Some(Origin::File(place)) => format!("{place}: {key}"),
            None => key.to_owned(),
        };
        self.faults.push(Violation {
            field,
            rule: rule.to_string(),
        });
    }

    /// Whether no fault was found so far.
    pub(crate) fn is_sound(&self) -> bool {
        self.faults.is_empty()
    }

    /// Nothing if there is no fault.
    ///
    /// # Errors
    ///
    /// All of them.
    pub(crate) fn check(self) -> Result<(), Failure> {
        if self.is_sound() {
            return Ok(());
        }
        Err(Failure::invalid(
            "these settings cannot be used",
            self.faults,
        ))
    }

    /// What was given in the uppermost layer that has it, or what is wrong with its form there.
    fn text(&self, key: &str) -> Option<(Result<String, String>, Origin)> {
        if let Some(text) = self.matches.get_one::<String>(key) {
            let origin = match self.matches.value_source(key) {
                Some(ValueSource::EnvVariable) => Origin::Environment,
                _ => Origin::Flag,
            };
            return Some((Ok(text.clone()), origin));
        }
        let (place, text) = self.file.get(key)?;
        Some((text, Origin::File(place)))
    }
}

fn flag(key: &str) -> String {
    format!("--{}", key.replace('_', "-"))
}

fn variable(key: &str) -> String {
    format!("SYNOD_{}", key.to_uppercase())
}

#[cfg(test)]
mod tests;
