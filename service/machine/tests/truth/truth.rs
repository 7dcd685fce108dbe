//! The truth: everything that is in a version in a store, and everything that may still write in it.

use std::collections::BTreeSet;
use std::fmt;

use synod_model::Assumption;

use crate::schedule::{OF_OTHER_GROUP, ResourceName, Roster, Version};
use crate::servers::{Discipline, HiddenSpan, ServerProcess};
use crate::stores::{Write, Writer};
use crate::world::TrueWorld;

/// The span in seconds for which a member may be away before its return is doubted.
pub(crate) const ABSENCE_GRACE: u64 = 600;

/// A reason why a version is stored, or may come to be stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WriteCause {
    pub(crate) kind: CauseKind,
    /// The process or worker that wrote, or may write; `None` for objects that were there at the beginning.
    pub(crate) writer: Option<Writer>,
}

/// The kind of a cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CauseKind {
    /// An object is in the version.
    Stored,
    /// A write in the version is on its way, and the store would take it.
    OnItsWay,
    /// A process may send a write in the version.
    MayWrite,
    /// A worker may send a rewrite to the version.
    MayRewrite,
}

impl TrueWorld {
    /// Every reason why the version is stored under the resource, or may come to be.
    pub(crate) fn causes(&self, resource: ResourceName, version: Version) -> Vec<WriteCause> {
        let store = self.stores.place(resource);
        let mut causes = Vec::new();
        let stored = self.stores.objects[store].iter();
        let stored = stored.filter(|object| object.version == Some(version));
        causes.extend(stored.map(|object| WriteCause {
            kind: CauseKind::Stored,
            writer: object.writer,
        }));
        let is_kept = resource == ResourceName::Widgets && self.snapshots.contains(&version);
        causes.extend(is_kept.then_some(WriteCause {
            kind: CauseKind::Stored,
            writer: None,
        }));
        let flying = self.stores.flying.iter();
        let flying = flying.filter(|write| {
            write.store == store && write.version == version && self.stores.takes(write)
        });
        causes.extend(flying.map(|write: &Write| WriteCause {
            kind: CauseKind::OnItsWay,
            writer: Some(write.writer),
        }));
        causes.extend(self.processes_that_may_write(store, version));
        causes.extend(self.workers_that_may_rewrite(store, version));
        causes
    }

    fn processes_that_may_write(
        &self,
        store: usize,
        version: Version,
    ) -> impl Iterator<Item = WriteCause> {
        let writes = self.processes.iter().enumerate().filter(move |(_, it)| {
            let resource = it.binary.resources[0];
            it.can_write(self.now())
                && it.encodes == Some(version)
                && self.stores.place(resource) == store
        });
        writes.map(|(at, _)| WriteCause {
            kind: CauseKind::MayWrite,
            writer: Some(Writer::Process(at)),
        })
    }

    /// A worker rewrites whatever is not in its target yet, as long as it takes its claim for valid.
    fn workers_that_may_rewrite(
        &self,
        store: usize,
        version: Version,
    ) -> impl Iterator<Item = WriteCause> {
        let rewrites = self.workers.iter().enumerate().filter(move |(_, worker)| {
            let Some(claim) = worker.valid_claim(self.now()) else {
                return false;
            };
            let passes_fence =
                !claim.terms.is_fenced || self.stores.fences[store] == claim.grant.agreement;
            let mut rest = worker.rest().iter().filter(|(place, _)| *place == store);
            let has_work = rest.any(|(place, key)| {
                let stored = self.stores.object(*place, *key).version;
                stored.is_some_and(|stored| stored != version)
            });
            claim.grant.target == version && passes_fence && has_work
        });
        rewrites.map(|(at, _)| WriteCause {
            kind: CauseKind::MayRewrite,
            writer: Some(Writer::Worker(at)),
        })
    }

    /// Returns whether the cause is excluded by an assumption of the answer, or by what operators and members vouch for.
    pub(crate) fn is_excused(
        &self,
        cause: WriteCause,
        version: Version,
        assumptions: &BTreeSet<Assumption>,
    ) -> bool {
        let is_stored = cause.kind == CauseKind::Stored;
        let is_of_store = is_stored && version != OF_OTHER_GROUP;
        if is_of_store && assumptions.contains(&Assumption::ConcludedBefore) {
            return true;
        }
        let Some(Writer::Process(at)) = cause.writer else {
            return false;
        };
        let process = &self.processes[at];
        // What an observer has reported is known to the machine.
        if process.discipline == Discipline::Gated || self.evidence.shows(at, version) {
            return false;
        }
        // What a server wrote shortly before an observer saw it is waited for.
        let stopped = process
            .stopped()
            .filter(|_| cause.kind == CauseKind::OnItsWay);
        if stopped.is_some_and(|it| self.evidence.was_seen_first_since(process.server, it)) {
            return false;
        }
        let is_assumed_away = assumptions.iter().any(|assumption| match assumption {
            Assumption::NoRoster => true,
            // A server that never joined, as far as the machine knows.
            Assumption::RosterMayMiss => process.discipline == Discipline::Stranger,
            // A server that ran without a gate between two memberships.
            Assumption::ShortAbsence => {
                process.discipline == Discipline::Stranger && self.was_between_memberships(at)
            }
            // A process without a gate that is no member any more.
            Assumption::UngatedGone => {
                process.discipline == Discipline::Ungated && !self.is_member(at)
            }
            Assumption::SnapshotVersionUnknown
            | Assumption::LeftToOthers
            | Assumption::ConcludedBefore
            | Assumption::SaidStopped
            | Assumption::Other(_) => false,
        });
        is_assumed_away || self.is_vouched_for(process)
    }

    /// Returns whether the roster or a membership says that such a stranger does not exist.
    fn is_vouched_for(&self, process: &ServerProcess) -> bool {
        let is_hidden = match process.hidden {
            Some(HiddenSpan::Open) => true,
            Some(HiddenSpan::Closed(span)) => span <= ABSENCE_GRACE,
            None => false,
        };
        let is_off_roster = match self.roster {
            Some(Roster::Named(servers)) => {
                !servers.contains(&process.server) && !self.has_joined(process.server)
            }
            Some(Roster::Labelled | Roster::AtLeast(_)) | None => false,
        };
        is_hidden || (is_off_roster && process.discipline == Discipline::Stranger)
    }

    /// The writer, for people.
    fn describe(&self, writer: Writer) -> String {
        match writer {
            Writer::Process(at) => {
                let process = &self.processes[at];
                let discipline = process.discipline;
                format!("server {} ({discipline:?})", process.server)
            }
            Writer::Worker(at) => format!("worker {}", self.workers[at].name),
        }
    }

    /// The cause, for people.
    pub(crate) fn explain(&self, cause: WriteCause) -> String {
        match cause.writer {
            Some(writer) => format!("{} by {}", cause.kind, self.describe(writer)),
            None => format!("{} from the beginning", cause.kind),
        }
    }
}

impl fmt::Display for CauseKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Stored => "it is stored",
            Self::OnItsWay => "a write is on its way",
            Self::MayWrite => "it may be written",
            Self::MayRewrite => "objects may be rewritten to it",
        })
    }
}
