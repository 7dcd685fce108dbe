//! Deadlines in log time: one rule for members, sessions, the entries of a replaced epoch, the TTL of
//! objects and the marks of snapshots.
//!
//! A deadline is the log time of the last renewal plus a TTL. Who asks again for a shorter one under the same token keeps
//! what it was promised: it may act on that. While no leader counts, nobody can renew, so the first stamped entry of a term
//! lifts every effective deadline by one number: `lifted_at`. The effective deadline is max(kept, `lifted_at` + TTL), and
//! no scan is needed.

use std::time::Duration;

use imbl::{OrdMap, OrdSet};
use synod_model::{
    GroupResource, HolderIdentity, LeaseKey, LiveMark, LogTime, MemberId, MigrationId,
    NamespacedName, ObjectKey, SessionId, Ticket,
};

/// What a deadline ends.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Holder {
    /// A member that does not renew.
    Member(MemberId),
    /// A session without use.
    Session(SessionId),
    /// The entries of a replaced epoch, when the present one does not report.
    Unreported(MemberId),
    /// The hold of a lease that is not renewed, or a lease that nobody has wanted for long.
    Lease(LeaseKey),
    /// A place in the queue for a lease that nobody asks for any more.
    LeaseWaiter(LeaseKey, Ticket),
    /// A candidate for a lease that does not renew.
    LeaseCandidate(LeaseKey, HolderIdentity),
    /// An object with a TTL.
    Object(ObjectKey),
    /// A worker's claim of a migration.
    Claim(MigrationId),
    /// The pause before a failed migration is tried again.
    Retry(MigrationId),
    /// What discovery shows of a resource, when nobody looks again.
    Observation(GroupResource),
    /// A mark of a ControllerRevision that is not set again.
    Mark(NamespacedName, LiveMark),
}

/// A kept deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadline {
    /// When the holder ends, unless lifted.
    pub at: LogTime,
    /// What a lift grants anew.
    pub ttl: Duration,
}

/// What is past its deadline at some log time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Due {
    /// Who.
    pub holders: Vec<Holder>,
    /// Whether there are more than were asked for.
    pub more: bool,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Deadlines {
    pub(crate) lifted_at: LogTime,
    kept: OrdMap<Holder, Deadline>,
    by_time: OrdSet<(LogTime, Holder)>,
}

impl Deadlines {
    /// When the holder ends, lifts counted. `None` for a holder without a deadline.
    pub(crate) fn effective(&self, holder: &Holder) -> Option<LogTime> {
        self.kept.get(holder).map(|deadline| self.lifted(deadline))
    }

    /// The holder's deadline, lifts counted.
    pub(crate) fn kept(&self, holder: &Holder) -> Option<Deadline> {
        let kept = self.kept.get(holder)?;
        Some(Deadline {
            at: self.lifted(kept),
            ttl: kept.ttl,
        })
    }

    fn lifted(&self, deadline: &Deadline) -> LogTime {
        deadline.at.max(self.lifted_at.after(deadline.ttl))
    }

    /// Whether the holder has a deadline that is at or before `now`.
    pub(crate) fn is_due(&self, holder: &Holder, now: LogTime) -> bool {
        self.effective(holder).is_some_and(|at| at <= now)
    }

    /// Sets a deadline and returns the one before.
    pub(crate) fn insert(&mut self, holder: Holder, deadline: Deadline) -> Option<Deadline> {
        let before = self.kept.insert(holder.clone(), deadline);
        if let Some(before) = before {
            self.by_time.remove(&(before.at, holder.clone()));
        }
        self.by_time.insert((deadline.at, holder));
        before
    }

    pub(crate) fn remove(&mut self, holder: &Holder) -> Option<Deadline> {
        let before = self.kept.remove(holder)?;
        self.by_time.remove(&(before.at, holder.clone()));
        Some(before)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Holder, &Deadline)> {
        self.kept.iter()
    }

    /// The first `limit` holders past their deadline at `now`, earliest first.
    ///
    /// Costs a step for each deadline kept at or before `now`: after a lift these may be many, for one TTL.
    pub(crate) fn due(&self, now: LogTime, limit: usize) -> Due {
        let mut due = Due::default();
        for (at, holder) in &self.by_time {
            if *at > now {
                break;
            }
            if !self.is_due(holder, now) {
                continue;
            }
            if due.holders.len() == limit {
                due.more = true;
                break;
            }
            due.holders.push(holder.clone());
        }
        due
    }
}
