use std::collections::{BTreeMap, BTreeSet};

use synod_model::{GroupResource, ReportEntry, Verdict};
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::sent::Saying;
use crate::{Error, Reported};

/// Where the answer to a command is sent. If the caller has gone away, the answer is discarded.
pub(in crate::membership) type Reply<T> = oneshot::Sender<Result<T, Error>>;

/// The resources that are to be reported.
#[derive(Clone, Debug)]
pub(super) enum Scope {
    /// All resources of the member.
    Full(Vec<ReportEntry>),
    /// One resource, beside the others.
    One(Box<ReportEntry>),
}

/// A report that a program has asked for.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) number: u64,
    pub(super) scope: Scope,
    /// The resources whose entries the job changes: their gates are closed meanwhile.
    pub(super) changed: BTreeSet<GroupResource>,
    pub(super) stage: Stage,
    pub(super) tries: u32,
    /// Whether a try may have been executed.
    pub(super) uncertain: bool,
    /// When the job is given up, unless it is being sent just then.
    pub(super) give_up_at: Instant,
    pub(super) last_error: Option<Error>,
    pub(super) reply: Reply<Reported>,
}

/// How far a job has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// An earlier job is about the same resources.
    Waiting,
    /// The permits of its resources are to be given back.
    Draining,
    /// The job can be sent.
    Drained,
    /// The job is being sent.
    Sent,
}

/// How often a report is tried: as often as Kubernetes does.
pub(super) const TRIES_MAX: u32 = 3;

impl Scope {
    pub(super) fn is_full(&self) -> bool {
        matches!(self, Self::Full(_))
    }

    pub(super) fn entries(&self) -> Vec<ReportEntry> {
        match self {
            Self::Full(entries) => entries.clone(),
            Self::One(entry) => vec![(**entry).clone()],
        }
    }

    /// What is sent for it.
    pub(super) fn saying(&self) -> Saying {
        Saying {
            entries: self.entries(),
            whole: self.is_full(),
        }
    }

    /// What is sent for it together with all that was acknowledged last.
    pub(super) fn within(&self, committed: &BTreeMap<GroupResource, ReportEntry>) -> Saying {
        let mut all = committed.clone();
        self.clone().commit(&mut all);
        Saying {
            entries: all.into_values().collect(),
            whole: true,
        }
    }

    /// The resources whose entries differ from the last acknowledged ones, or are removed.
    pub(super) fn changed(
        &self,
        committed: &BTreeMap<GroupResource, ReportEntry>,
    ) -> BTreeSet<GroupResource> {
        let entries = self.entries();
        let differing = entries
            .iter()
            .filter(|entry| committed.get(&entry.resource) != Some(*entry));
        let mut changed: BTreeSet<_> = differing.map(|entry| entry.resource.clone()).collect();
        if self.is_full() {
            let named: BTreeSet<_> = entries.iter().map(|entry| &entry.resource).collect();
            changed.extend(
                committed
                    .keys()
                    .filter(|resource| !named.contains(resource))
                    .cloned(),
            );
        }
        changed
    }

    /// Enters this scope into the acknowledged entries.
    pub(super) fn commit(self, committed: &mut BTreeMap<GroupResource, ReportEntry>) {
        match self {
            Self::Full(entries) => {
                let entries = entries.into_iter();
                *committed = entries
                    .map(|entry| (entry.resource.clone(), entry))
                    .collect();
            }
            Self::One(entry) => {
                committed.insert(entry.resource.clone(), *entry);
            }
        }
    }
}

impl Job {
    /// Whether the other job has to wait for this one.
    pub(super) fn holds_back(&self, other: &Self) -> bool {
        match (&self.scope, &other.scope) {
            (Scope::Full(_), _) | (_, Scope::Full(_)) => true,
            (Scope::One(entry), Scope::One(others)) => entry.resource == others.resource,
        }
    }

    /// Records a failed try. Returns whether the job is tried again.
    pub(super) fn take_failure(&mut self, error: &Error) -> bool {
        self.tries += 1;
        self.uncertain |= error.execution() == Verdict::Unknown;
        self.last_error = Some(error.clone());
        self.stage = Stage::Drained;
        error.execution() != Verdict::Refused && self.tries < TRIES_MAX
    }
}
