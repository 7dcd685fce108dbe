//! `Expire`: the leader names what it found past its deadline; apply checks each item against this entry's log time.
//!
//! Whatever was renewed earlier in the log is not removed: the order of the log decides.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use synod_model::limits::EXPIRED_BYTES_PER_COMMAND_MAX;
use synod_model::{
    Epoch, GroupResource, LiveMark, MemberId, Migration, MigrationPhase, NamespacedName, ObjectKey,
    Refusal, SessionId,
};

use super::{departure, observe_storage, succession};
use crate::controller_revisions::bytes_of;
use crate::hashes::object_hash;
use crate::late_writes::ClaimEnd;
use crate::looks::OverdueLooks;
use crate::objects::deletion;
use crate::turn::Turn;
use crate::voting::{Occasion, decide};
use crate::{Answer, Expire, Holder};

pub(crate) fn apply(turn: &mut Turn<'_>, expire: &Expire) -> Result<Answer, Refusal> {
    let is_due = |holder: &Holder| turn.state().deadlines.is_due(holder, turn.log_time());
    let holds = |id: &MemberId, epoch: &Epoch| {
        turn.state()
            .members
            .get(id)
            .is_some_and(|member| member.epoch == *epoch)
    };
    let gone: BTreeSet<MemberId> = expire
        .members
        .iter()
        .filter(|(id, epoch)| holds(id, epoch) && is_due(&Holder::Member(id.clone())))
        .map(|(id, _)| id.clone())
        .collect();
    let unreported: BTreeSet<MemberId> = expire
        .unreported
        .iter()
        .filter(|(id, epoch)| {
            holds(id, epoch) && !gone.contains(id) && is_due(&Holder::Unreported(id.clone()))
        })
        .map(|(id, _)| id.clone())
        .collect();
    let sessions: Vec<SessionId> = expire
        .sessions
        .iter()
        .filter(|id| turn.state().sessions.contains_key(*id) && is_due(&Holder::Session(**id)))
        .copied()
        .collect();
    let lapsing = observe_storage::overdue(turn.state(), expire);
    // All entries of a resource go before its agreement is recomputed, so no agreement of a part of them is recorded.
    let entries_of: BTreeSet<MemberId> = gone.union(&unreported).cloned().collect();
    let running = departure::Drain::Running;
    departure::remove_entries(turn, &entries_of, &gone, &lapsing, running);
    // Before the members go: a roster that no longer misses any would make an expired observation an agreement.
    observe_storage::expire(turn, &lapsing, &gone);
    departure::remove_members(turn, &gone, running);
    for id in &unreported {
        turn.clear_deadline(&Holder::Unreported(id.clone()));
        turn.note_silence(id);
    }
    for id in &sessions {
        turn.remove_session(*id);
    }
    let ended = succession::expire(turn, expire, &gone);
    let objects = expire_objects(turn, &expire.objects);
    for resource in &expire.topics {
        pass(turn, resource);
    }
    // After the members go: a migration whose agreement went with them is aborted, and has no deadline any more.
    end_claims(turn, expire);
    try_again(turn, expire);
    // After everything that removes marks: those marks are gone.
    end_marks(turn, expire);
    let count = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
    Ok(Answer::Expired {
        members: count(gone.len()),
        sessions: count(sessions.len()),
        unreported: count(unreported.len()),
        leases: count(ended.leases),
        waiters: count(ended.waiters),
        candidates: count(ended.candidates),
        objects: count(objects),
        observations: count(lapsing.values().map(OverdueLooks::count).sum()),
    })
}

/// Deletes the objects that are past their deadlines, up to a bound. The others stay due, and the leader names them
/// again. Returns the number.
fn expire_objects(turn: &mut Turn<'_>, named: &BTreeSet<ObjectKey>) -> usize {
    let (mut gone, mut bytes) = (0, 0);
    for key in named {
        let due = turn
            .state()
            .deadlines
            .is_due(&Holder::Object(key.clone()), turn.log_time());
        let Some(object) = turn.state().object(key).filter(|_| due) else {
            continue;
        };
        bytes += turn.state().bytes_marked_by(&object.metadata.uid) as u64;
        deletion::delete(turn, &object, None);
        gone += 1;
        bytes += object_hash(&object).bytes();
        if bytes >= EXPIRED_BYTES_PER_COMMAND_MAX as u64 {
            break;
        }
    }
    deletion::collect_own(turn);
    gone
}

/// Decides about a topic anew, for which a date or a drain is over.
fn pass(turn: &mut Turn<'_>, resource: &GroupResource) {
    let holder = Holder::Topic(resource.clone());
    if !turn.state().deadlines.is_due(&holder, turn.log_time()) {
        return;
    }
    let occasion = Occasion {
        passes: true,
        ..turn.occasion()
    };
    let decided = decide(turn.state(), occasion, resource, &[])
        .expect("only a report can be refused, and nothing is reported here");
    if let Some(decided) = decided {
        turn.carry_out(decided);
    }
    let kept = &turn.state().storage_states[resource];
    let status = kept.row.status.clone();
    turn.clear_deadline(&holder);
    turn.follow_time(resource, &status);
}

/// Makes the migrations of silent workers pending again.
fn end_claims(turn: &mut Turn<'_>, expire: &Expire) {
    for (id, token) in &expire.claims {
        let holder = Holder::Claim(id.clone());
        let kept = turn.state().migrations.get(id);
        let silent = kept.map(|kept| Arc::clone(&kept.row)).filter(|migration| {
            let claim = migration.claim.as_ref();
            claim.is_some_and(|claim| claim.token == *token)
                && turn.state().deadlines.is_due(&holder, turn.log_time())
        });
        if let Some(migration) = silent {
            turn.drain_claim(&migration, ClaimEnd::Expired);
            turn.clear_deadline(&holder);
            turn.put_migration(Migration {
                phase: MigrationPhase::Pending,
                claim: None,
                ..(*migration).clone()
            });
        }
    }
}

/// Removes the marks that were not renewed, up to a bound. The others stay due, and the leader names them again.
fn end_marks(turn: &mut Turn<'_>, expire: &Expire) {
    let mut due: BTreeMap<&NamespacedName, Vec<&LiveMark>> = BTreeMap::new();
    for (key, mark) in &expire.marks {
        let holder = Holder::Mark(key.clone(), mark.clone());
        if turn.state().deadlines.is_due(&holder, turn.log_time()) {
            due.entry(key).or_default().push(mark);
        }
    }
    let mut bytes = 0;
    for (key, marks) in due {
        let kept = turn.state().controller_revisions.get(key);
        let kept = kept.expect("only a mark of a snapshot that is there has a deadline");
        let mut row = (*kept.row).clone();
        for mark in marks {
            row.marks.clear(mark);
        }
        row.metadata.resource_version = turn.revision();
        bytes += bytes_of(&row);
        turn.put_controller_revision(row);
        if bytes >= EXPIRED_BYTES_PER_COMMAND_MAX {
            break;
        }
    }
}

/// Makes failed migrations pending again when their pause is over.
fn try_again(turn: &mut Turn<'_>, expire: &Expire) {
    for id in &expire.retries {
        let holder = Holder::Retry(id.clone());
        if !turn.state().deadlines.is_due(&holder, turn.log_time()) {
            continue;
        }
        let kept = turn.state().migrations.get(id);
        let migration = kept
            .expect("only a migration has such a deadline")
            .row
            .clone();
        turn.clear_deadline(&holder);
        turn.put_migration(Migration {
            phase: MigrationPhase::Pending,
            ended: None,
            ..(*migration).clone()
        });
    }
}
