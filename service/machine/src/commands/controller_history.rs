//! A history while a command changes it: shared by the commands on ControllerRevisions.
//!
//! A command changes a draft and may still refuse; only [`Draft::carry_out`] changes the state, each snapshot once.

use std::collections::BTreeSet;
use std::sync::Arc;

use synod_model::limits::{REVISION_BYTES_PER_COMMAND_MAX, REVISIONS_PER_COMMAND_MAX};
use synod_model::{
    ControllerHistory, ControllerRevision, Current, Equality, ErrorKind, Namespace, NamespacedName,
    ObjectName, Preconditions, Refusal, Revision, RevisionIdentity, RevisionNumber, Uid,
};

use crate::State;
use crate::controller_revisions::{IdentifiedRevision, bytes_of};
use crate::outcome::HistoryAnswer;
use crate::turn::Turn;

/// The snapshots of a history, in its order, with the changes that the command makes.
pub(super) struct Draft {
    snapshots: Vec<Drafted>,
    deleted: Vec<NamespacedName>,
    tells: HistoryAnswer,
}

struct Drafted {
    row: Arc<ControllerRevision>,
    identity: Arc<RevisionIdentity>,
    changed: bool,
}

impl Draft {
    /// Everything that an owner controls in a namespace, whatever its labels.
    pub(super) fn controlled(state: &State, namespace: &Namespace, owner: Uid) -> Self {
        let controlled = state
            .controller_revisions
            .controlled(namespace, Some(owner));
        Self::of(controlled)
    }

    /// A history, after it has adopted what it may adopt.
    pub(super) fn adopting(state: &State, history: &ControllerHistory) -> Result<Self, Refusal> {
        let mut draft = Self::of(state.controller_revisions.of(history));
        draft.adopt(state.controller_revisions.adoptable(history), history);
        let left = draft.tells.left;
        if left == 0 {
            return Ok(draft);
        }
        let message = format!(
            "{left} more snapshots could be adopted than one command takes: adopt them first, call by call"
        );
        Err(Refusal::new(ErrorKind::TooLarge, message))
    }

    /// A history without snapshots.
    pub(super) fn empty() -> Self {
        Self::of(std::iter::empty())
    }

    fn of<'a>(kept: impl Iterator<Item = &'a IdentifiedRevision>) -> Self {
        Self {
            snapshots: kept.map(Drafted::of).collect(),
            deleted: Vec::new(),
            tells: HistoryAnswer::default(),
        }
    }

    /// Adopts snapshots, oldest first, as many as one command may.
    pub(super) fn adopt<'a>(
        &mut self,
        adoptable: impl Iterator<Item = &'a IdentifiedRevision>,
        history: &ControllerHistory,
    ) {
        let mut room = Room::default();
        for kept in adoptable {
            if self.tells.left > 0 || !room.takes(&kept.row) {
                self.tells.left += 1;
                continue;
            }
            let row = ControllerRevision {
                controller: Some(history.owner.clone()),
                ..(*kept.row).clone()
            };
            self.snapshots.push(Drafted {
                row: Arc::new(row),
                identity: Arc::clone(&kept.identity),
                changed: true,
            });
            self.tells.adopted += 1;
        }
        self.sort();
    }

    /// Refuses unless the newest snapshot is the one that the caller last saw.
    pub(super) fn check_newest(&self, if_newest: Option<Revision>) -> Result<(), Refusal> {
        check_newest(self.newest(), if_newest)
    }

    /// The snapshots, oldest first.
    pub(super) fn rows(&self) -> impl DoubleEndedIterator<Item = &ControllerRevision> + Clone {
        self.snapshots.iter().map(|drafted| &*drafted.row)
    }

    pub(super) fn newest(&self) -> Option<&ControllerRevision> {
        self.rows().next_back()
    }

    /// The newest snapshot with equal data.
    pub(super) fn equal(
        &self,
        identity: &RevisionIdentity,
        equality: Equality,
    ) -> Option<&ControllerRevision> {
        let mut newest_first = self.snapshots.iter().rev();
        let found = newest_first.find(|drafted| drafted.identity.equals(identity, equality));
        found.map(|drafted| &*drafted.row)
    }

    /// The number after the highest in use.
    pub(super) fn next_number(&self) -> Result<RevisionNumber, Refusal> {
        number_after(self.newest())
    }

    pub(super) fn add(&mut self, row: ControllerRevision, identity: RevisionIdentity) {
        self.snapshots.push(Drafted {
            row: Arc::new(row),
            identity: Arc::new(identity),
            changed: true,
        });
        self.sort();
    }

    /// Makes the snapshot the newest.
    pub(super) fn renumber(&mut self, name: &ObjectName, number: RevisionNumber) {
        self.change(|row| {
            if row.key.name() == name.as_str() {
                row.number = number;
            }
        });
        self.sort();
    }

    /// Changes each snapshot as `change` does; those that stay the same are not written.
    pub(super) fn change(&mut self, mut change: impl FnMut(&mut ControllerRevision)) {
        for drafted in &mut self.snapshots {
            let mut row = (*drafted.row).clone();
            change(&mut row);
            if row != *drafted.row {
                drafted.row = Arc::new(row);
                drafted.changed = true;
            }
        }
    }

    /// The bytes of the changed snapshots.
    pub(super) fn bytes_changed(&self) -> usize {
        let changed = self.snapshots.iter().filter(|drafted| drafted.changed);
        changed.map(|drafted| bytes_of(&drafted.row)).sum()
    }

    /// Deletes the oldest snapshots that are not live until `limit` of those are left. `spared` counts but is never
    /// deleted. The newest is live without a mark, because it is what the owner wants.
    pub(super) fn truncate(&mut self, limit: u32, spared: Option<&ObjectName>) {
        let newest = self.newest().map(|row| row.key.clone());
        let idle = self
            .rows()
            .filter(|row| !row.marks.is_live() && Some(&row.key) != newest.as_ref());
        let beyond = idle.clone().count().saturating_sub(limit as usize);
        let oldest = idle
            .filter(|row| spared.is_none_or(|spared| row.key.name() != spared.as_str()))
            .take(beyond)
            .map(|row| row.key.clone())
            .collect();
        self.delete(&oldest);
    }

    /// Deletes these, oldest first, as many as one command may.
    fn delete(&mut self, going: &BTreeSet<NamespacedName>) {
        let mut room = Room::default();
        let (mut deleted, mut full) = (Vec::new(), false);
        self.snapshots.retain(|drafted| {
            let goes = !full && going.contains(&drafted.row.key);
            full |= goes && !room.takes(&drafted.row);
            if goes && !full {
                deleted.push(drafted.row.key.clone());
            }
            !goes || full
        });
        self.tells.deleted = count(deleted.len());
        self.tells.left = count(going.len() - deleted.len());
        self.deleted = deleted;
    }

    /// Deletes all, live or not, as many as one command may.
    pub(super) fn delete_all(&mut self) {
        let all = self.rows().map(|row| row.key.clone()).collect();
        self.delete(&all);
    }

    /// Changes the state, and returns what was adopted and deleted.
    pub(super) fn carry_out(self, turn: &mut Turn<'_>) -> HistoryAnswer {
        for key in &self.deleted {
            // A snapshot that was adopted only to be deleted is not written first.
            turn.remove_controller_revision(key);
        }
        for drafted in self.snapshots.into_iter().filter(|drafted| drafted.changed) {
            let mut row = Arc::unwrap_or_clone(drafted.row);
            row.metadata.resource_version = turn.revision();
            turn.put_controller_revision(row);
        }
        self.tells
    }

    fn sort(&mut self) {
        self.snapshots
            .sort_by_cached_key(|drafted| drafted.row.place());
    }
}

const CHANGED: &str = "look at what it is now";

/// Refuses unless the newest snapshot of a history is the one that the caller last saw.
pub(super) fn check_newest(
    newest: Option<&ControllerRevision>,
    if_newest: Option<Revision>,
) -> Result<(), Refusal> {
    let present = newest.map_or(Revision::ZERO, |row| row.metadata.resource_version);
    let Some(expected) = if_newest.filter(|expected| *expected != present) else {
        return Ok(());
    };
    let message = match newest {
        Some(row) => format!(
            "the newest snapshot of the history is \"{}\" at resource version {present}, not {expected}: {CHANGED}",
            row.key
        ),
        None => {
            format!("the history is empty, and its newest was expected at {expected}: {CHANGED}")
        }
    };
    let refusal = Refusal::new(ErrorKind::Conflict, message);
    Err(match newest {
        Some(row) => refusal.with_current(Current::ControllerRevision(row.clone())),
        None => refusal,
    })
}

/// The number after that of the newest snapshot.
pub(super) fn number_after(newest: Option<&ControllerRevision>) -> Result<RevisionNumber, Refusal> {
    let Some(newest) = newest else {
        return Ok(RevisionNumber::FIRST);
    };
    newest.number.next().ok_or_else(|| {
        let message = format!(
            "the number {} of \"{}\" is the highest there is: begin another history",
            newest.number, newest.key
        );
        Refusal::new(ErrorKind::Quota, message)
    })
}

impl Drafted {
    fn of(kept: &IdentifiedRevision) -> Self {
        Self {
            row: Arc::clone(&kept.row),
            identity: Arc::clone(&kept.identity),
            changed: false,
        }
    }
}

/// Bounds the number and bytes of snapshots that one command takes, so that its events stay deliverable.
#[derive(Default)]
struct Room {
    taken: usize,
    bytes: usize,
}

impl Room {
    fn takes(&mut self, row: &ControllerRevision) -> bool {
        let bytes = self.bytes + bytes_of(row);
        if self.taken == REVISIONS_PER_COMMAND_MAX
            || (self.taken > 0 && bytes > REVISION_BYTES_PER_COMMAND_MAX)
        {
            return false;
        }
        self.taken += 1;
        self.bytes = bytes;
        true
    }
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// The snapshot with this key, if it meets the caller's preconditions.
pub(super) fn found<'a>(
    state: &'a State,
    key: &NamespacedName,
    preconditions: &Preconditions,
) -> Result<&'a Arc<ControllerRevision>, Refusal> {
    let kept = state
        .controller_revisions
        .get(key)
        .ok_or_else(|| not_found(key))?;
    check(&kept.row, preconditions)?;
    Ok(&kept.row)
}

/// Refuses unless the snapshot meets the caller's preconditions.
fn check(row: &ControllerRevision, preconditions: &Preconditions) -> Result<(), Refusal> {
    let Some(fault) = preconditions.fault_of_update(&row.metadata) else {
        return Ok(());
    };
    let refusal = row.key.conflict(ControllerRevision::RESOURCE, fault);
    Err(refusal.with_current(Current::ControllerRevision(row.clone())))
}

pub(super) fn not_found(key: &NamespacedName) -> Refusal {
    key.not_found(ControllerRevision::RESOURCE)
}
