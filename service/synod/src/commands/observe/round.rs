//! What came of one round, and how it is told.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde_json::{Value, json};
use synod_client::{GroupResource, Revision, StorageVersionHash};

use super::server::{Fault, Look};
use super::sight::Seen;
use crate::args::ObserveFormat;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::printable;
use synod_client::json::{self as form, JsonObject};

/// One look at every server, and what was posted.
#[derive(Debug)]
pub(super) struct Round {
    pub(super) looks: Vec<Look>,
    pub(super) posted: Vec<Posted>,
}

/// A resource, and what was posted of it.
#[derive(Debug)]
pub(super) struct Posted {
    pub(super) resource: GroupResource,
    pub(super) seen: Seen,
    pub(super) outcome: RoundEnd,
    /// Whether members report it.
    pub(super) reported: bool,
    /// What is shown, or was shown last, that no member says that it encodes: it ends their agreement.
    pub(super) against: BTreeSet<StorageVersionHash>,
}

/// What became of an observation.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum RoundEnd {
    /// It is as it was, and known to be so still.
    Unchanged,
    /// It is new.
    Changed(Revision),
    /// Not every server could be read, and one that could shows what nobody showed before.
    Widened(Revision),
    /// Not every server could be read.
    Withheld,
    /// What is known has changed since before the look: by a member, or another observer.
    Overtaken,
    /// The cluster did not take it.
    Failed(String),
}

impl RoundEnd {
    const fn name(&self) -> &'static str {
        match self {
            Self::Unchanged => "UNCHANGED",
            Self::Changed(_) => "CHANGED",
            Self::Widened(_) => "WIDENED",
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
                | RoundEnd::Withheld
                | RoundEnd::Overtaken
                | RoundEnd::Failed(_) => false,
            })
    }

    /// Whether it shows what no member says that it encodes, or was overtaken. A member may just have moved.
    pub(super) fn is_doubtful(&self) -> bool {
        let is_doubtful =
            |posted: &Posted| !posted.against.is_empty() || posted.outcome == RoundEnd::Overtaken;
        self.posted.iter().any(is_doubtful)
    }

    /// How a program ends that has looked once.
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
                let name = posted.resource.storage_version_name();
                let _ = writeln!(text, "{name}  {}  {what}", hashes.join(","));
            }
            if !posted.against.is_empty() {
                let hashes: Vec<String> = posted.against.iter().map(ToString::to_string).collect();
                let name = posted.resource.storage_version_name();
                let _ = writeln!(
                    text,
                    "{name}  {}  is encoded by no member that reports it: there is no agreement while this is so",
                    hashes.join(",")
                );
            }
        }
        let told = [
            ("CHANGED", "changed"),
            ("UNCHANGED", "as before"),
            ("WIDENED", "widened"),
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

    /// Not a message of the protocol: what was seen is nobody's but the observer's.
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

    /// What a line says of a resource, if it needs one: what hides many of them at once is told by the line of the server.
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
            RoundEnd::Failed(why) => Some(format!("not taken: {}", printable(why))),
        }
    }
}

impl Posted {
    fn json(&self) -> Value {
        let revision = match &self.outcome {
            RoundEnd::Changed(revision) | RoundEnd::Widened(revision) => Some(*revision),
            RoundEnd::Unchanged
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
