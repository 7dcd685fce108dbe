//! The result of one round of looking at API servers, and how it is printed.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde_json::{Value, json};
use synod_client::{Error, ErrorKind, GroupResource, Revision, StorageVersionHash};

use super::server::{Fault, Look};
use super::sight::Seen;
use crate::args::ObserveFormat;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::printable;
use synod_client::json::{self as form, JsonObject};

/// One look at every server, and what was posted after it.
#[derive(Debug)]
pub(super) struct Round {
    pub(super) looks: Vec<Look>,
    pub(super) posted: Vec<Posted>,
}

/// A resource, and what was posted about it.
#[derive(Debug)]
pub(super) struct Posted {
    pub(super) resource: GroupResource,
    pub(super) seen: Seen,
    pub(super) outcome: RoundEnd,
    /// Whether members report the resource.
    pub(super) reported: bool,
    /// The hashes that discovery shows, or showed last, and no member reports: they end the members' agreement.
    pub(super) against: BTreeSet<StorageVersionHash>,
}

/// The outcome of posting an observation.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum RoundEnd {
    /// The cluster has confirmed the observation that it had.
    Unchanged,
    /// The cluster has stored a new observation.
    Changed(Revision),
    /// Not every server could be read, but one shows a new hash, which was joined to the known ones.
    Widened(Revision),
    /// Posted by name, but not of every server: what these showed last stays.
    Kept(BTreeSet<String>),
    /// Not every server could be read, and nothing was posted.
    Withheld,
    /// The cluster's knowledge has changed since before the look: by a member, or another observer.
    Overtaken,
    /// The cluster has refused the observation.
    Failed(String),
}

impl RoundEnd {
    /// The end of a round whose post was refused.
    pub(super) fn refused(error: &Error) -> Self {
        if error.kind() == ErrorKind::Conflict {
            return Self::Overtaken;
        }
        Self::Failed(format!("{}: {}", error.kind(), error.message()))
    }

    pub(super) const fn name(&self) -> &'static str {
        match self {
            Self::Unchanged => "UNCHANGED",
            Self::Changed(_) => "CHANGED",
            Self::Widened(_) => "WIDENED",
            Self::Kept(_) => "KEPT",
            Self::Withheld => "WITHHELD",
            Self::Overtaken => "OVERTAKEN",
            Self::Failed(_) => "FAILED",
        }
    }
}

impl Round {
    /// Whether everything was read and posted.
    pub(super) fn is_whole(&self) -> bool {
        let is_read = self.looks.iter().all(|look| look.faults.is_empty());
        is_read
            && self.posted.iter().all(|posted| match posted.outcome {
                RoundEnd::Unchanged | RoundEnd::Changed(_) => true,
                RoundEnd::Widened(_)
                | RoundEnd::Kept(_)
                | RoundEnd::Withheld
                | RoundEnd::Overtaken
                | RoundEnd::Failed(_) => false,
            })
    }

    /// Whether a hash was shown that no member reports, or the round was overtaken: a member may just have changed.
    pub(super) fn is_doubtful(&self) -> bool {
        let is_doubtful =
            |posted: &Posted| !posted.against.is_empty() || posted.outcome == RoundEnd::Overtaken;
        self.posted.iter().any(is_doubtful)
    }

    /// The exit code or the failure of a program that looks once.
    pub(super) fn ended(&self) -> Result<Exit, Failure> {
        if self.is_whole() {
            return Ok(Exit::Ok);
        }
        let message = "not everything could be read and posted";
        let advice =
            "see above for which servers and resources; what was posted is right, and stays";
        Err(Failure::local(message, advice))
    }

    pub(super) fn render(&self, format: ObserveFormat) -> String {
        match format {
            ObserveFormat::Text => self.text(),
            ObserveFormat::Json => format!("{}\n", self.json()),
        }
    }

    fn text(&self) -> String {
        let mut text = String::new();
        for look in &self.looks {
            for fault in &look.faults {
                let (url, why) = (&look.server, printable(&fault.why));
                let _ = writeln!(text, "{url}  cannot be read: {why}");
            }
        }
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for posted in &self.posted {
            *counts.entry(posted.outcome.name()).or_default() += 1;
            if let Some(what) = self.what(posted) {
                let hashes: Vec<String> =
                    posted.seen.hashes.iter().map(ToString::to_string).collect();
                let name = posted.resource.qualified();
                let _ = writeln!(text, "{name}  {}  {what}", hashes.join(","));
            }
            if !posted.against.is_empty() {
                let hashes: Vec<String> = posted.against.iter().map(ToString::to_string).collect();
                let name = posted.resource.qualified();
                let (this, it) = match hashes.len() {
                    1 => ("this hash", "it"),
                    _ => ("these hashes", "them"),
                };
                let _ = writeln!(
                    text,
                    "{name}  {}  no member reports that it encodes {}: the resource has no agreement until one does, \
                     or until discovery no longer shows {}",
                    hashes.join(","),
                    this,
                    it,
                );
            }
        }
        let told = [
            ("CHANGED", "changed"),
            ("UNCHANGED", "as before"),
            ("WIDENED", "widened"),
            ("KEPT", "kept in part"),
            ("WITHHELD", "withheld"),
            ("OVERTAKEN", "overtaken"),
            ("FAILED", "not taken"),
        ];
        let told = told
            .iter()
            .filter_map(|(name, word)| Some(format!("{} {word}", counts.get(name)?)));
        let against = self.posted.iter().filter(|one| !one.against.is_empty());
        let against = Some(against.count()).filter(|count| *count > 0);
        let against = against.map(|count| format!("{count} against what members report"));
        let told: Vec<String> = told.chain(against).collect();
        let (servers, all) = (self.looks.len(), self.posted.len());
        let told = match told.is_empty() {
            true => String::new(),
            false => format!(": {}", told.join(", ")),
        };
        let _ = writeln!(text, "{all} resources of {servers} servers{told}");
        text
    }

    /// This is no message of the protocol: only the observer knows what it has seen.
    fn json(&self) -> Value {
        let fault = |fault: &Fault| {
            JsonObject::new()
                .with_some("group", fault.group.clone())
                .with("why", fault.why.as_str())
        };
        let server = |look: &Look| {
            let faults: Vec<Value> = look.faults.iter().map(|one| fault(one).into()).collect();
            json!({"url": look.server, "faults": faults})
        };
        let servers = form::list(&self.looks, server);
        let resources = form::list(&self.posted, Posted::json);
        json!({"look": {"servers": servers, "resources": resources}})
    }

    /// The text for a resource; `None` if it needs no line, or if the line of a server tells of the same fault.
    fn what(&self, posted: &Posted) -> Option<String> {
        match &posted.outcome {
            RoundEnd::Unchanged => None,
            RoundEnd::Withheld => {
                let mut silent = self.looks.iter().filter(|look| look.faults.is_empty());
                let silent = silent.find(|look| posted.seen.unknown.contains(&look.server));
                silent.map(|look| format!("withheld: {} shows no hash", look.server))
            }
            RoundEnd::Overtaken => {
                Some("not taken: what is known of it has changed since it was looked at".to_owned())
            }
            RoundEnd::Changed(revision) => Some(format!("changed at revision {revision}")),
            RoundEnd::Widened(revision) => Some(format!(
                "joined to what was observed before at revision {revision}, since not every server could be read"
            )),
            RoundEnd::Kept(servers) => {
                let servers: Vec<&str> = servers.iter().map(String::as_str).collect();
                Some(format!(
                    "posted, but of {} stays what was seen last: if it is gone, end that with `synod observe --dismiss`",
                    servers.join(", ")
                ))
            }
            RoundEnd::Failed(why) => Some(format!("not taken: {}", printable(why))),
        }
    }
}

impl Posted {
    fn json(&self) -> Value {
        let revision = match &self.outcome {
            RoundEnd::Changed(revision) | RoundEnd::Widened(revision) => Some(*revision),
            RoundEnd::Unchanged
            | RoundEnd::Kept(_)
            | RoundEnd::Withheld
            | RoundEnd::Overtaken
            | RoundEnd::Failed(_) => None,
        };
        let why = match &self.outcome {
            RoundEnd::Failed(why) => Some(why.clone()),
            _ => None,
        };
        JsonObject::new()
            .with("resource", form::of(&self.resource))
            .with("hashes", form::list(&self.seen.hashes, form::text))
            .with("unknownServers", form::list(&self.seen.unknown, form::text))
            .with("outcome", self.outcome.name())
            .with("reported", self.reported)
            .with("contradicting", form::list(&self.against, form::text))
            .with_some("revision", revision.map(form::revision))
            .with_some("why", why)
            .into()
    }
}
