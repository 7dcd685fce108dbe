//! `Join`: registers a member and gives it its epoch, this command's revision.

use std::sync::Arc;

use synod_model::{
    EVIDENCE_SINCE, Epoch, ErrorKind, Join, LogTime, Member, MemberId, Metadata, Phase, Refusal,
};

use super::{returns, succession};
use crate::state::{over_quota, stale_epoch};
use crate::turn::Turn;
use crate::voting::{Cause, drained_by_replacement};
use crate::{Answer, Holder};

pub(crate) fn apply(turn: &mut Turn<'_>, join: &Join) -> Result<Answer, Refusal> {
    match turn.state().members.get(&join.id).cloned() {
        Some(present) if present.instance == join.instance => stay(turn, &present, join),
        Some(present) => replace(turn, &present, join),
        None => enter(turn, join),
    }
}

/// A new member.
fn enter(turn: &mut Turn<'_>, join: &Join) -> Result<Answer, Refusal> {
    let most = turn.state().settings.members_max;
    if turn.state().members.len() as u64 >= u64::from(most) {
        let message = format!(
            "there are {most} members, the most that members_max allows: remove some or raise it"
        );
        return Err(Refusal::new(ErrorKind::Quota, message));
    }
    if turn.state().is_over_quota() {
        let what = format!("member \"{}\" is new", join.id);
        return Err(over_quota(turn.state(), &what));
    }
    turn.note_join(join);
    let metadata = turn.new_metadata();
    let answer = admit(turn, join, metadata);
    turn.follow_labels(Some(Cause::Member(&join.id)), &[&join.labels]);
    Ok(answer)
}

/// The same process joins again, perhaps because it lost the answer: it keeps its epoch.
fn stay(turn: &mut Turn<'_>, present: &Arc<Member>, join: &Join) -> Result<Answer, Refusal> {
    let mut member = Member {
        ttl: join.ttl,
        labels: join.labels.clone(),
        version: join.version.clone(),
        endpoint: join.endpoint.clone(),
        gated: is_gated(turn, join),
        ..(**present).clone()
    };
    turn.note_join(join);
    if member != **present {
        member.metadata.resource_version = turn.revision();
        member.metadata.generation += 1;
        turn.put_member(member);
        let labels = [&present.labels, &join.labels];
        turn.follow_labels(Some(Cause::Member(&join.id)), &labels);
    }
    turn.extend_deadline(Holder::Member(join.id.clone()), join.ttl.duration());
    Ok(Answer::Joined {
        epoch: present.epoch,
        ttl: join.ttl,
    })
}

/// Another process holds the id: that process is fenced from this revision on.
///
/// The entries of the old epoch stay, because its writes may still arrive, until the new epoch reports: a restart with
/// an unchanged program changes no storage version.
fn replace(turn: &mut Turn<'_>, present: &Arc<Member>, join: &Join) -> Result<Answer, Refusal> {
    if let Some(lost) = join.lost_epoch.filter(|lost| present.epoch > *lost) {
        return Err(stale_epoch(present, lost));
    }
    turn.note_join(join);
    if present.reported {
        let held_until = turn
            .state()
            .deadlines
            .promised(&Holder::Member(join.id.clone()), turn.log_time());
        let held_until = held_until.expect("every member has a deadline");
        drain_entries(
            turn,
            &join.id,
            held_until.after(turn.state().settings.write_grace),
        );
    }
    returns::doubt(turn, &join.id);
    let metadata = Metadata {
        resource_version: turn.revision(),
        generation: present.metadata.generation + 1,
        ..present.metadata.clone()
    };
    let answer = admit(turn, join, metadata);
    turn.forget_statements(&join.id);
    // Leases that the replaced process holds under its epoch end with the epoch.
    succession::free_of_member(turn, &join.id);
    let labels = [&present.labels, &join.labels];
    turn.follow_labels(Some(Cause::Member(&join.id)), &labels);
    if turn.state().reported.contains_key(&join.id) {
        let grace = turn.state().settings.unreported_grace;
        turn.set_deadline(Holder::Unreported(join.id.clone()), grace);
    }
    Ok(answer)
}

fn drain_entries(turn: &mut Turn<'_>, id: &MemberId, until: LogTime) {
    for resource in turn.state().reported.get(id).cloned().unwrap_or_default() {
        let entry = &turn.state().storage_versions[&resource].entries[id];
        let kept = turn.state().status(&resource);
        if let Some(after) = drained_by_replacement(kept, entry, until) {
            let first = turn.state().first_name(&resource).into_owned();
            turn.put_storage_state(&first, after, None);
        }
    }
}

fn is_gated(turn: &Turn<'_>, join: &Join) -> bool {
    join.gated && turn.state().machine_version >= EVIDENCE_SINCE
}

fn admit(turn: &mut Turn<'_>, join: &Join, metadata: Metadata) -> Answer {
    let epoch = Epoch::new(turn.revision());
    turn.put_member(Member {
        id: join.id.clone(),
        instance: join.instance.clone(),
        epoch,
        ttl: join.ttl,
        labels: join.labels.clone(),
        version: join.version.clone(),
        endpoint: join.endpoint.clone(),
        phase: Phase::Joining,
        metadata,
        reported: false,
        gated: is_gated(turn, join),
    });
    turn.set_deadline(Holder::Member(join.id.clone()), join.ttl.duration());
    Answer::Joined {
        epoch,
        ttl: join.ttl,
    }
}
