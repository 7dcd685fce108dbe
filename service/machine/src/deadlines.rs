//! Deadlines in log time: one rule for everything that expires, which [`Holder`] lists.
//!
//! A deadline is the log time of the last renewal plus a TTL. A renewal with a shorter TTL under the same token does
//! not shorten the deadline: the caller may rely on what it was promised. Without a leader nobody can renew, so the
//! first stamped entries of a term lift every effective deadline by setting one number, `lifted_at`. The effective
//! deadline is max(kept, `lifted_at` + TTL), so no scan is needed.
//!
//! A leader may keep renewals to itself. So a deadline that has passed here proves nothing by itself: a holder expires
//! by being named in `Expire`, and whoever derives something from the deadline of a holder that renews counts a whole
//! TTL from now on ([`Deadlines::promised`]).

use std::time::Duration;

use imbl::{OrdMap, OrdSet};
use synod_model::{
    GroupResource, HolderIdentity, LeaseKey, LiveMark, LogTime, MemberId, MigrationId,
    NamespacedName, ObjectKey, ObserverName, SessionId, Ticket,
};

/// What expires at a deadline.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Holder {
    /// A member that does not renew.
    Member(MemberId),
    /// A session that is not used.
    Session(SessionId),
    /// The entries of a replaced epoch, while the present epoch has not reported.
    Unreported(MemberId),
    /// The hold of a lease that is not renewed, or a free lease that no call has asked for in a long time.
    Lease(LeaseKey),
    /// A place in the queue for a lease whose waiter does not ask again.
    LeaseWaiter(LeaseKey, Ticket),
    /// A candidate for a lease that does not renew.
    LeaseCandidate(LeaseKey, HolderIdentity),
    /// An object with a TTL.
    Object(ObjectKey),
    /// A worker's claim of a migration.
    Claim(MigrationId),
    /// The pause before a failed migration is tried again.
    Retry(MigrationId),
    /// The observation of a resource's discovery, when it is not repeated.
    Observation(GroupResource),
    /// A mark of a ControllerRevision that is not set again.
    Mark(NamespacedName, LiveMark),
    /// What passes by itself for a topic of which nothing is stored: the date until which a version is served, or what a
    /// server that is gone may still do.
    Topic(GroupResource),
    /// The look of a named observer, when it does not reach all of its servers again.
    Look(GroupResource, ObserverName),
}

/// A deadline as it is kept, without lifts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadline {
    /// The log time at which the holder expires, unless a lift moves it.
    pub at: LogTime,
    /// The time that a lift grants from `lifted_at` on.
    pub ttl: Duration,
}

/// The holders that are past their deadlines at some log time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Due {
    /// The holders.
    pub holders: Vec<Holder>,
    /// Whether more holders are due than were asked for.
    pub more: bool,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Deadlines {
    pub(crate) lifted_at: LogTime,
    kept: OrdMap<Holder, Deadline>,
    by_time: OrdSet<(LogTime, Holder)>,
}

impl Deadlines {
    /// The log time at which the holder expires, lifts included. `None` for a holder without a deadline.
    pub(crate) fn effective(&self, holder: &Holder) -> Option<LogTime> {
        self.kept.get(holder).map(|deadline| self.lifted(deadline))
    }

    /// The latest log time until which the holder may have been promised to live, though its last renewals may be known
    /// to the leader alone.
    pub(crate) fn promised(&self, holder: &Holder, now: LogTime) -> Option<LogTime> {
        let kept = self.kept(holder)?;
        Some(kept.at.max(now.after(kept.ttl)))
    }

    /// The log time at which the holder would expire without lifts, as the log knows.
    pub(crate) fn unlifted(&self, holder: &Holder) -> Option<LogTime> {
        self.kept.get(holder).map(|deadline| deadline.at)
    }

    /// The holder's deadline, lifts included.
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

    /// The first `limit` holders past their deadlines at `now`, in the order of the kept deadlines, without lifts and
    /// without those that are `spared`.
    ///
    /// Costs one step for each deadline kept at or before `now`: these are many for one TTL after a lift, and while a
    /// leader keeps renewals to itself.
    pub(crate) fn due(&self, now: LogTime, limit: usize, spared: impl Fn(&Holder) -> bool) -> Due {
        let mut due = Due::default();
        for (at, holder) in &self.by_time {
            if *at > now {
                break;
            }
            if !self.is_due(holder, now) || spared(holder) {
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
