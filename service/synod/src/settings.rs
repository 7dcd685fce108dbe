//! The settings of this program: from a flag, else the environment, else a file, else the default.
//!
//! Every value is a text until it is parsed here, so the same rule holds for every source. All faults are found at
//! once, each with the place of its value, before anything is touched.

mod address;
mod client;
mod contexts;
mod file;
mod replicas;
mod security;
mod serve;
mod shown;

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use clap::ArgMatches;
use clap::parser::ValueSource;
use synod_client::{Violation, Violations};

pub(crate) use address::reachable;
pub(crate) use client::{ClientSettings, ContextValues};
pub(crate) use contexts::{Contexts, edited, without};
pub(crate) use file::own_path;
pub(crate) use replicas::replica_id;
pub(crate) use serve::{LogFormat, ServeSettings, cluster_name};
pub(crate) use shown::shown;

use crate::failure::Failure;
use file::File;

/// Every setting that a file may hold, by its name there. All commands can share a file: each command uses the settings
/// it needs, and every command refuses unknown names.
const KEYS: [&str; 43] = [
    "advertise_client",
    "allow_insecure",
    "audit_log",
    "cacert",
    "cert",
    "cert_file",
    "cluster_name",
    "current_context",
    "data_dir",
    "election_timeout",
    "endpoints",
    "heartbeat_interval",
    "join",
    "key",
    "key_file",
    "listen_client",
    "listen_kube",
    "listen_metrics",
    "listen_peer",
    "log",
    "log_format",
    "otlp_cert_file",
    "otlp_endpoint",
    "otlp_key_file",
    "otlp_trusted_ca_file",
    "peer_cert_file",
    "peer_key_file",
    "peer_trusted_ca_file",
    "policy_file",
    "replica_id",
    "replicas",
    "requestheader_allowed_names",
    "requestheader_client_ca_file",
    "requestheader_extra_headers_prefix",
    "requestheader_group_headers",
    "requestheader_username_headers",
    "timeout",
    "tls_min_version",
    "tls_server_name",
    "token_file",
    "trace_sampling_ratio",
    "trusted_ca_file",
    "write_kubeconfig",
];

/// Every setting that a context may hold.
const CONTEXT_KEYS: [&str; 7] = [
    "cacert",
    "cert",
    "endpoints",
    "key",
    "timeout",
    "tls_server_name",
    "token_file",
];

/// The sources of settings that one command reads.
pub(crate) struct Layers<'a> {
    matches: &'a ArgMatches,
    file: File,
    /// The source of each setting's value; settings without one have their defaults.
    origins: BTreeMap<&'static str, Origin>,
    faults: Violations,
}

/// The source of a value.
#[derive(Clone, Debug)]
enum Origin {
    /// The command line.
    Flag,
    /// The environment.
    Environment,
    /// A file: its name and the line.
    File(String),
}

/// A value as messages repeat it: without what stands before an `@` in an address, which may be a password.
fn masked(text: &str) -> String {
    let items = text.split(',').map(|item| match item.rsplit_once('@') {
        Some((_, address)) => format!("***@{address}"),
        None => item.to_owned(),
    });
    items.collect::<Vec<_>>().join(",")
}

impl<'a> Layers<'a> {
    /// Opens the sources: the command line, the environment, and the file if one is named.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or is no TOML. Unknown keys are reported later, together with all other faults.
    pub(crate) fn open(matches: &'a ArgMatches, file: Option<&Path>) -> Result<Self, Failure> {
        let file = file.map_or_else(|| Ok(File::default()), File::read)?;
        let mut faults = Violations::new();
        let in_contexts = file.unknown_in_contexts(&CONTEXT_KEYS);
        let unknown = [
            (file.unknown(&KEYS), &KEYS[..]),
            (in_contexts, &CONTEXT_KEYS[..]),
        ];
        for (unknown, known) in unknown {
            let rule = format!("no setting has this name; there are: {}", known.join(", "));
            for (place, key) in unknown {
                faults.push(Violation {
                    field: format!("{place}: {key}"),
                    rule: rule.clone(),
                });
            }
        }
        Ok(Self {
            matches,
            file,
            origins: BTreeMap::new(),
            faults,
        })
    }

    /// Reads from a context of the file before what the file has for all: from the one that is asked for, else from the
    /// current one.
    pub(crate) fn select_context(&mut self) {
        for key in ["context", "current_context"] {
            let Some(name) = self.given(key, |text| Ok(text.to_owned())) else {
                continue;
            };
            if let Err(rule) = self.file.select(&name) {
                self.fault(key, rule);
            }
            return;
        }
    }

    /// The value of a setting; `None` if it is not given or is at fault.
    pub(crate) fn given<T>(
        &mut self,
        key: &'static str,
        parse: impl FnOnce(&str) -> Result<T, String>,
    ) -> Option<T> {
        let (text, origin) = self.text(key)?;
        self.origins.insert(key, origin);
        let parsed = text.and_then(|text| {
            parse(&text).map_err(|rule| format!("Invalid value: {:?}: {rule}", masked(&text)))
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
        if given.is_none() && !self.is_given(key) {
            let (flag, variable) = (flag(key), variable(key));
            let rule = format_args!("give {flag}, {variable}, or {key} in the file of --config");
            self.faults.push(Violation::required(rule).at(key));
        }
        given
    }

    /// Whether a setting was read that is given, be it at fault or not.
    pub(crate) fn is_given(&self, key: &str) -> bool {
        self.origins.contains_key(key)
    }

    /// Adds a fault of a setting, at the place of its value.
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

    /// Ends the reading of the settings.
    ///
    /// # Errors
    ///
    /// All faults that were found.
    pub(crate) fn check(self) -> Result<(), Failure> {
        if self.is_sound() {
            return Ok(());
        }
        Err(Failure::invalid(
            "these settings cannot be used",
            self.faults,
        ))
    }

    /// The text of a setting from the first source that has it, or what is wrong with its form there.
    fn text(&self, key: &str) -> Option<(Result<String, String>, Origin)> {
        // Some settings are no flags.
        if let Ok(Some(text)) = self.matches.try_get_one::<String>(key) {
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
