//! `CreateControllerRevision`: records what a controller wants now, and compares it with what it wanted before.

use synod_model::limits::{COLLISION_COUNT_MAX, COLLISIONS_TRIED_MAX, HISTORY_LIMIT_MAX};
use synod_model::{
    ApiVersion, ControllerHistory, ControllerRevision, CreateControllerRevision, Current,
    ErrorKind, HASH_LABEL, Labels, LiveMark, LiveMarks, MarkTie, NamespacedName, ObjectName,
    Refusal, RevisionHash, RevisionNumber,
};

use super::controller_history::{Draft, check_newest, number_after};
use super::live_marks::{check_tie, check_tied};
use crate::controller_revisions::key;
use crate::outcome::{HistoryAnswer, RevisionAnswer, RevisionOutcome};
use crate::turn::Turn;
use crate::{Answer, State};

pub(crate) fn apply(
    turn: &mut Turn<'_>,
    create: &CreateControllerRevision,
) -> Result<Answer, Refusal> {
    if let Some(name) = &create.name {
        return under_a_name(turn, create, name);
    }
    let mut draft = Draft::adopting(turn.state(), &create.history)?;
    draft.check_newest(create.if_newest)?;
    if let Some(tie) = &create.mark_update {
        check_tie(turn.state(), tie)?;
    }
    let newest_before = draft.newest().map(ControllerRevision::name);
    let identity = create.data.identity();
    let mut collision_count = create.collision_count;
    let equal = draft
        .equal(&identity, create.equality)
        .map(|row| (row.name(), row.number));
    let (name, number, outcome) = match equal {
        Some((name, number)) if newest_before.as_ref() == Some(&name) => {
            (name, number, RevisionOutcome::Unchanged)
        }
        Some((name, _)) => {
            let number = draft.next_number()?;
            draft.renumber(&name, number);
            (name, number, RevisionOutcome::RolledBack)
        }
        None => {
            let (row, count) = new_row(turn, &draft, create)?;
            let (name, number) = (row.name(), row.number);
            collision_count = count;
            draft.add(row, identity);
            (name, number, RevisionOutcome::Created)
        }
    };
    if let Some(version) = create.data.version() {
        draft.change(|row| learn_version(row, &name, version));
    }
    if let Some(tie) = &create.mark_update {
        draft.change(|row| move_update(row, &name, tie));
        check_tied(turn.state(), &draft, tie)?;
    }
    if outcome != RevisionOutcome::Unchanged {
        // The owner moves on from `newest_before` in this command, and marks only later what it still uses of it.
        draft.truncate(create.history_limit, newest_before.as_ref());
    }
    let history = draft.carry_out(turn);
    if create.mark_update.is_some() {
        settle_update(turn, create, &name);
    }
    Ok(Answer::ControllerRevision(RevisionAnswer {
        name,
        number,
        outcome,
        collision_count,
        history,
    }))
}

/// Adds a snapshot under a name that was given, whatever the history holds: nothing is adopted and nothing deleted, so its
/// owner has to, and its newest is all that is looked at.
fn under_a_name(
    turn: &mut Turn<'_>,
    create: &CreateControllerRevision,
    name: &ObjectName,
) -> Result<Answer, Refusal> {
    let history = &create.history;
    let all = &turn.state().controller_revisions;
    let newest = all.of(history).next_back().map(|kept| &*kept.row);
    check_newest(newest, create.if_newest)?;
    let key = key(&history.namespace, name);
    if let Some(present) = all.get(&key) {
        let current = Current::ControllerRevision((*present.row).clone());
        let refusal = Refusal::already_exists(ControllerRevision::RESOURCE, name.as_str());
        return Err(refusal.with_current(current));
    }
    let count = all.count_controlled(&history.namespace, history.owner.uid);
    if count >= HISTORY_LIMIT_MAX as usize {
        return Err(full_history(history, count));
    }
    check_room(turn.state())?;
    let number = match create.number {
        Some(number) => number,
        None => number_after(newest)?,
    };
    let hash = RevisionHash::of(&create.data);
    let row = row(turn, create, key, hash, number);
    turn.put_controller_revision(row);
    Ok(Answer::ControllerRevision(RevisionAnswer {
        name: name.clone(),
        number,
        outcome: RevisionOutcome::Created,
        collision_count: create.collision_count,
        history: HistoryAnswer::default(),
    }))
}

fn full_history(history: &ControllerHistory, count: usize) -> Refusal {
    let owner = &history.owner;
    let message = format!(
        "{} \"{}\" controls {count} snapshots in the namespace \"{}\", and under a name no more than \
         {HISTORY_LIMIT_MAX} are created: delete the oldest of them",
        owner.kind, owner.name, history.namespace
    );
    Refusal::new(ErrorKind::Quota, message)
}

/// Sets the version of the data of the snapshot with this name, if it was not stated before. Equal data that was stated
/// to be in another version keeps that one.
fn learn_version(row: &mut ControllerRevision, name: &ObjectName, version: &ApiVersion) {
    if row.key.name() == name.as_str() && row.data.version().is_none() {
        row.data = row.data.clone().in_version(Some(version.clone()));
    }
}

/// Moves the mark of the update to the snapshot with this name.
fn move_update(row: &mut ControllerRevision, name: &ObjectName, tie: &MarkTie) {
    if row.key.name() == name.as_str() {
        row.marks.set(LiveMark::Update, tie.clone());
    } else {
        row.marks.clear(&LiveMark::Update);
    }
}

/// Takes the mark of the update from a snapshot of the owner that the selector leaves out, and renews the mark on the
/// snapshot with this name.
fn settle_update(turn: &mut Turn<'_>, create: &CreateControllerRevision, name: &ObjectName) {
    let ControllerHistory {
        namespace, owner, ..
    } = &create.history;
    let all = &turn.state().controller_revisions;
    let stale = all
        .controlled(namespace, Some(owner.uid))
        .find(|kept| kept.row.marks.has(&LiveMark::Update) && kept.row.key.name() != name.as_str());
    if let Some(mut row) = stale.map(|kept| (*kept.row).clone()) {
        row.marks.clear(&LiveMark::Update);
        row.metadata.resource_version = turn.revision();
        turn.put_controller_revision(row);
    }
    turn.renew_mark(&key(namespace, name), &LiveMark::Update);
}

/// The snapshot to add, and the collision count after its name was chosen.
fn new_row(
    turn: &mut Turn<'_>,
    draft: &Draft,
    create: &CreateControllerRevision,
) -> Result<(ControllerRevision, u32), Refusal> {
    check_room(turn.state())?;
    let next = draft.next_number()?;
    let is_greater = |given: &RevisionNumber| draft.newest().is_none_or(|row| *given > row.number);
    let hash = RevisionHash::of(&create.data);
    let (key, collisions) = free_name(turn.state(), create, hash)?;
    let number = create.number.filter(is_greater).unwrap_or(next);
    Ok((row(turn, create, key, hash, number), collisions))
}

fn row(
    turn: &mut Turn<'_>,
    create: &CreateControllerRevision,
    key: NamespacedName,
    hash: RevisionHash,
    number: RevisionNumber,
) -> ControllerRevision {
    ControllerRevision {
        key,
        metadata: turn.new_metadata(),
        // As in Kubernetes, the label has the hash without the collisions that are counted for the name.
        labels: with_hash(&create.labels, hash.with_collisions(create.collision_count)),
        annotations: create.annotations.clone(),
        controller: Some(create.history.owner.clone()),
        number,
        data: create.data.clone(),
        marks: LiveMarks::default(),
    }
}

fn check_room(state: &State) -> Result<(), Refusal> {
    if !state.is_full() {
        return Ok(());
    }
    let message =
        "the state is as large as its quota allows: delete something or raise state_quota_bytes";
    Err(Refusal::new(ErrorKind::Quota, message))
}

/// The first free name, counting on from the collisions that the owner knows of.
fn free_name(
    state: &State,
    create: &CreateControllerRevision,
    hash: RevisionHash,
) -> Result<(NamespacedName, u32), Refusal> {
    let last = COLLISION_COUNT_MAX.min(
        create
            .collision_count
            .saturating_add(COLLISIONS_TRIED_MAX - 1),
    );
    for count in create.collision_count..=last {
        let name = create
            .prefix
            .name(&create.history.namespace, hash.with_collisions(count));
        if state.controller_revisions.get(&name).is_none() {
            return Ok((name, count));
        }
    }
    Err(Refusal::new(
        ErrorKind::AlreadyExists,
        format!(
            "every name \"{}-...\" of the collision counts {} to {last} is taken: give a higher collision_count",
            create.prefix.as_str(),
            create.collision_count
        ),
    )
    .with("collision_count", last))
}

fn with_hash(labels: &Labels, hash: RevisionHash) -> Labels {
    let hash = hash.to_string();
    let pairs = labels.iter().chain([(HASH_LABEL, hash.as_str())]);
    Labels::parse(pairs).expect("there is room for the hash among labels that were checked")
}
