//! Checks every revision of a rollout against rules that are computed here independently.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use synod_machine::{EntryRow, Past, State};
use synod_model::{ApiVersion, Member, MemberId, Revision, Roster};

use super::ledger::{Ledger, Taken};
use super::observer::hashes;
use super::speaker::number;
use super::{rolls, seen, version};

/// The number of revisions of each sort.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Seen {
    agreed: usize,
    /// A required member was missing.
    absent: usize,
    /// Discovery contradicted the members.
    contradicted: usize,
    /// All members said the same, and there was no agreement nevertheless.
    withheld: usize,
    /// There was agreement by discovery alone.
    observed: usize,
    /// An observation of discovery had expired.
    expired: usize,
}

impl Seen {
    /// Whether enough happened for a check to mean something.
    pub(super) fn is_worth_something(&self) -> bool {
        let Self {
            agreed,
            absent,
            contradicted,
            withheld,
            observed,
            expired,
        } = *self;
        [agreed, absent, contradicted, withheld, observed, expired]
            .into_iter()
            .all(|count| count > 0)
    }
}

/// Whether the last statements count: all members agree, and the observation of the unreported resource has expired.
pub(super) fn is_as_said_last(present: Past<'_>) -> bool {
    let (Some(rolls), Some(seen)) = (
        present.storage_state(&rolls()),
        present.storage_state(&seen()),
    ) else {
        return false;
    };
    let (rolls, seen) = (&rolls.row.status, &seen.row.status);
    let expired = seen.observation.as_ref().is_some_and(|it| it.expired);
    rolls.agreed == Some(version(1)) && expired && seen.agreement().is_none()
}

/// Checks every revision of a state's history, and every acknowledged statement.
///
/// # Errors
///
/// The first fault.
pub(super) fn check(state: &State, ledger: &Ledger) -> Result<Seen, String> {
    let (mut seen, mut last) = (Seen::default(), BTreeMap::new());
    let mut taken: BTreeMap<Revision, Vec<Taken>> = BTreeMap::new();
    for statement in ledger.taken() {
        let at = taken.entry(statement.revision).or_default();
        at.push(statement);
    }
    let mut reached = Revision::ZERO;
    loop {
        let next = state.history().next_after(reached);
        let next = next.map_err(|gone| format!("the history begins at {}", gone.oldest))?;
        let Some(events) = next else {
            return Ok(seen);
        };
        reached = events.revision;
        let past = state.at(reached).map_err(|fault| format!("{fault:?}"))?;
        let checked = look(&past, &mut last, &mut seen);
        let taken = taken.remove(&reached).unwrap_or_default();
        checked
            .and_then(|()| taken.iter().try_for_each(|taken| counts(&past, taken)))
            .map_err(|fault| format!("at revision {reached}: {fault}"))?;
    }
}

/// Checks that an acknowledged statement, or a later one, is in the state if its member still has that epoch.
fn counts(past: &Past<'_>, taken: &Taken) -> Result<(), String> {
    let member = past.member(&taken.member);
    if member.is_none_or(|member| member.epoch != taken.epoch) {
        return Ok(());
    }
    let rolls = past.storage_version(&rolls());
    let entry = rolls.as_ref().and_then(|rolls| rolls.entry(&taken.member));
    let said = entry.map(|entry| number(&entry.decodable));
    (said >= Some(taken.number))
        .then_some(())
        .ok_or_else(|| format!("{taken:?} was acknowledged, and {said:?} counts"))
}

/// Checks one revision.
fn look(
    past: &Past<'_>,
    last: &mut BTreeMap<MemberId, u64>,
    seen: &mut Seen,
) -> Result<(), String> {
    let reported = past.storage_version(&rolls());
    let entries: BTreeMap<MemberId, Arc<EntryRow>> = reported
        .iter()
        .flat_map(|it| it.entries())
        .map(|(id, entry)| (id.clone(), Arc::clone(entry)))
        .collect();
    forward(&entries, last)?;
    agreement(past, &entries, seen)?;
    discovery(past, seen)
}

/// Checks that no entry is from an older statement than before.
fn forward(
    entries: &BTreeMap<MemberId, Arc<EntryRow>>,
    last: &mut BTreeMap<MemberId, u64>,
) -> Result<(), String> {
    for (id, entry) in entries {
        let now = number(&entry.decodable);
        let before = last.insert(id.clone(), now);
        if before > Some(now) {
            return Err(format!("{id} said {now} after {before:?}"));
        }
    }
    Ok(())
}

/// Checks that there is agreement exactly if all say the same, discovery shows nothing else, and no one is missing.
fn agreement(
    past: &Past<'_>,
    entries: &BTreeMap<MemberId, Arc<EntryRow>>,
    seen: &mut Seen,
) -> Result<(), String> {
    let Some(kept) = past.storage_state(&rolls()) else {
        return Ok(());
    };
    let status = &kept.row.status;
    let members: Vec<Arc<Member>> = past.members(None).collect();
    let mut rosters = past.rosters_of(&rolls()).into_iter();
    let missing = rosters.any(|roster| is_short(&roster, entries, &members));
    if missing == status.absent.is_empty() {
        return Err(format!("{:?} is missing of {entries:?}", status.absent));
    }
    let encodings = entries.values().filter_map(|entry| entry.encoding.as_ref());
    let encodings: BTreeSet<&ApiVersion> = encodings.collect();
    let shown = status.observation.as_ref();
    let against = !entries.is_empty()
        && shown.is_some_and(|shown| !shown.hashes.is_subset(&hashes(encodings.iter().copied())));
    let common = encodings.first().filter(|_| encodings.len() == 1);
    let agreed = common.filter(|_| !missing && !against);
    if status.agreed.as_ref() != agreed.copied() {
        return Err(format!(
            "agreed on {:?}, and it must be {agreed:?}: {status:?}",
            status.agreed
        ));
    }
    seen.agreed += usize::from(agreed.is_some());
    seen.absent += usize::from(missing);
    seen.contradicted += usize::from(against);
    seen.withheld += usize::from(common.is_some() && agreed.is_none());
    Ok(())
}

/// Whether a member that the roster requires is missing.
fn is_short(
    roster: &Roster,
    entries: &BTreeMap<MemberId, Arc<EntryRow>>,
    members: &[Arc<Member>],
) -> bool {
    let rule = &roster.rule;
    let labelled = |id: &MemberId| {
        let member = members.iter().find(|member| member.id == *id);
        member.is_some_and(|member| rule.labels.matches(&member.labels))
    };
    let by_labels = !rule.labels.is_empty();
    let asked = members.iter().map(|member| &member.id);
    let unheard = by_labels
        && asked
            .clone()
            .any(|id| labelled(id) && !entries.contains_key(id));
    let counted = entries.keys().filter(|id| !by_labels || labelled(id));
    let counted = counted.count();
    unheard
        || !rule.members.iter().all(|id| entries.contains_key(id))
        || counted < rule.least as usize
        || (by_labels && counted == 0)
}

/// Checks that discovery alone makes no agreement if its observation has expired or a required member is missing.
fn discovery(past: &Past<'_>, seen: &mut Seen) -> Result<(), String> {
    let Some(kept) = past.storage_state(&super::seen()) else {
        return Ok(());
    };
    let status = &kept.row.status;
    let observation = status.observation.as_ref();
    let expired = observation.is_some_and(|observation| observation.expired);
    let agreed = status.agreed_hash.is_some();
    if agreed && (expired || !status.absent.is_empty()) {
        return Err(format!("discovery alone agrees: {status:?}"));
    }
    seen.observed += usize::from(agreed);
    seen.expired += usize::from(expired);
    Ok(())
}
