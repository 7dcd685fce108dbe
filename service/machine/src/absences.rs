//! The rule of absences: what a server may have written while it was no member, as far as its memberships tell.
//!
//! Behind a gate a server writes nothing without its membership, and nobody knows what it does while it has none. A member
//! that comes back within `absence_grace` is taken not to have run without a gate meanwhile, and answers name that; one that
//! was away for longer is not.

use std::sync::Arc;
use std::time::Duration;

use synod_model::limits::ABSENCE_GRACE;
use synod_model::{EVIDENCE_SINCE, Join, LogTime, Member, MemberId};

use crate::hashes::membership_hash;
use crate::turn::Turn;
use crate::{Holder, MembershipRow, State};

impl State {
    /// Whether the member's writes all go through a gate. Before machine version 3 all members were taken to have one.
    pub(crate) fn is_gated(&self, id: &MemberId) -> bool {
        let member = self.members.get(id);
        self.machine_version < EVIDENCE_SINCE || member.is_some_and(|member| member.gated)
    }

    /// The log time of the member's last renewal, or an earlier one.
    ///
    /// Renewals may be known to the leader alone. Of a member with a short TTL that is still there, the last one is no
    /// longer ago than its TTL, since the leader removes it then. Of those under a longer TTL the log has
    /// one a minute.
    fn last_renewal(&self, member: &Member) -> LogTime {
        let kept = self.memberships.get(&member.id);
        let longest = kept.map_or(member.ttl.duration(), |kept| kept.longest_ttl);
        let now = self.log_time;
        if longest <= ABSENCE_GRACE {
            return now.before(longest);
        }
        let deadline = self.deadlines.unlifted(&Holder::Member(member.id.clone()));
        let deadline = deadline.expect("every member has a deadline");
        deadline.min(now.after(longest)).before(longest)
    }
}

impl Turn<'_> {
    /// Notes that a process joins under the id. The member before it must still be there.
    pub(crate) fn note_join(&mut self, join: &Join) {
        let state = self.state();
        if state.machine_version < EVIDENCE_SINCE {
            return;
        }
        let now = state.log_time;
        let present = state.members.get(&join.id);
        let kept = state.memberships.get(&join.id).map(|kept| (**kept).clone());
        let stays = present.is_some_and(|present| present.instance == join.instance);
        let speaks_on = kept
            .as_ref()
            .is_some_and(|kept| kept.instance == join.instance);
        let renewed = match present {
            Some(present) => Some(state.last_renewal(present)),
            None => kept.as_ref().and_then(|kept| kept.renewed),
        };
        let away = renewed.map(|renewed| now.since(renewed));
        let was_gated_since = kept.as_ref().and_then(|kept| kept.gated_since);
        let is_unbroken = speaks_on || away.is_some_and(|away| away <= ABSENCE_GRACE);
        let gated_since = join
            .gated
            .then(|| was_gated_since.filter(|_| is_unbroken).unwrap_or(now));
        let ttl = join.ttl.duration();
        let row = match kept {
            Some(kept) if stays => MembershipRow {
                gated_since,
                longest_ttl: kept.longest_ttl.max(ttl),
                ..kept
            },
            Some(kept) if speaks_on => MembershipRow {
                gated_since,
                longest_ttl: ttl,
                renewed: None,
                ..kept
            },
            kept => MembershipRow {
                instance: join.instance.clone(),
                gated_since,
                longest_ttl: present
                    .filter(|_| stays)
                    .map_or(ttl, |present| present.ttl.duration().max(ttl)),
                joined: now,
                away: if stays { Some(Duration::ZERO) } else { away },
                renewed: None,
                left_ungated: kept.is_some_and(|kept| kept.left_ungated),
            },
        };
        self.put_membership(join.id.clone(), row);
    }

    /// Notes that a member goes, which is still there. `says_so`: its own process says that.
    pub(crate) fn note_departure(&mut self, member: &Member, says_so: bool) {
        let state = self.state();
        if state.machine_version < EVIDENCE_SINCE {
            return;
        }
        let now = state.log_time;
        let renewed = if says_so {
            now
        } else {
            state.last_renewal(member)
        };
        let kept = state
            .memberships
            .get(&member.id)
            .map(|kept| (**kept).clone());
        let kept = kept.unwrap_or_else(|| MembershipRow {
            instance: member.instance.clone(),
            gated_since: None,
            longest_ttl: member.ttl.duration(),
            joined: LogTime::ZERO,
            away: None,
            renewed: None,
            left_ungated: false,
        });
        // What a member may have done before it reported was weighed with its report.
        let away = if member.reported {
            Some(Duration::ZERO)
        } else {
            kept.away
        };
        let row = MembershipRow {
            away,
            renewed: Some(renewed),
            left_ungated: kept.left_ungated || (!member.gated && !says_so),
            ..kept
        };
        self.put_membership(member.id.clone(), row);
        while let Some(oldest) = self.state().memberships.surplus() {
            self.forget_membership(&oldest);
        }
    }

    /// Notes that the entries of a member go which has replaced another process and does not report.
    pub(crate) fn note_silence(&mut self, id: &MemberId) {
        let state = self.state();
        let kept = state.memberships.get(id).map(|kept| (**kept).clone());
        if let Some(kept) = kept.filter(|_| !state.is_gated(id)) {
            let row = MembershipRow {
                left_ungated: true,
                ..kept
            };
            self.put_membership(id.clone(), row);
        }
    }

    /// Forgets who was a member: what is remembered of another cluster proves nothing here.
    pub(crate) fn forget_memberships(&mut self) {
        let all = self.state().memberships.iter().map(|(id, _)| id.clone());
        for id in all.collect::<Vec<_>>() {
            self.forget_membership(&id);
        }
    }

    pub(crate) fn put_membership(&mut self, id: MemberId, row: MembershipRow) {
        self.add(membership_hash(&id, &row));
        if let Some(before) = self.memberships().insert(id.clone(), Arc::new(row)) {
            self.subtract(membership_hash(&id, &before));
        }
    }

    fn forget_membership(&mut self, id: &MemberId) {
        if let Some(before) = self.memberships().remove(id) {
            self.subtract(membership_hash(id, &before));
        }
    }
}
