//! Checks the answers about objects against every change of the objects, by revision.
//!
//! Revisions put all changes into one order, and every answer names its revision. So the answers are linearizable
//! exactly if each of them is right at its revision, and none is older than what any user had been told when its call
//! began.

use std::collections::{BTreeMap, BTreeSet};

use synod_model::Revision;

/// One call of a user.
#[derive(Clone, Debug)]
pub(super) struct Call {
    /// The newest revision that any user had been told when the call began.
    pub(super) floor: Revision,
    pub(super) asked: Asked,
    pub(super) told: Told,
}

/// The request of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// To change these objects in one transaction, each if its last change is as the step says.
    Change(Vec<Step>),
    /// To read an object, linearizably.
    Read(String),
}

/// A change of one object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) name: String,
    /// The revision of its last change; `None`: it must not exist.
    pub(super) base: Option<Revision>,
    /// A value that only this step writes; `None`: delete the object.
    pub(super) value: Option<u64>,
}

/// The result of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Told {
    /// It was done, at this revision.
    Done(Revision),
    /// It was read at this revision: the revision of the object's last change, and its value.
    Seen(Revision, Option<(Revision, u64)>),
    /// A precondition failed.
    Lost,
    /// It was certainly not executed.
    NotStored,
    /// It may have been executed.
    Unknown,
}

/// Every change of each object, by its revision: its value, or `None` if it was deleted.
pub(super) type Changes = BTreeMap<String, BTreeMap<Revision, Option<u64>>>;

/// Checks all calls.
///
/// # Errors
///
/// The first call that cannot be true, or the first change that no call made.
pub(super) fn check(calls: &[Call], changes: &Changes) -> Result<(), String> {
    let mut explained = BTreeSet::new();
    for call in calls {
        let fault = match &call.asked {
            Asked::Read(name) => misread(call, name, changes),
            Asked::Change(steps) => mischanged(call, steps, changes, &mut explained),
        };
        if let Some(fault) = fault {
            return Err(format!("{fault}: {call:?}"));
        }
    }
    for (name, changes) in changes {
        let unasked = changes
            .keys()
            .find(|revision| !explained.contains(&(name.clone(), **revision)));
        if let Some(revision) = unasked {
            return Err(format!("nobody changed {name} at revision {revision}"));
        }
    }
    Ok(())
}

/// The value of an object at a revision, and the revision of its last change.
fn at(changes: &Changes, name: &str, end: Revision) -> Option<(Revision, u64)> {
    let (since, value) = changes.get(name)?.range(..=end).next_back()?;
    value.map(|value| (*since, value))
}

fn before(changes: &Changes, name: &str, revision: Revision) -> Option<Revision> {
    let (since, value) = changes.get(name)?.range(..revision).next_back()?;
    value.map(|_| *since)
}

fn misread(call: &Call, name: &str, changes: &Changes) -> Option<&'static str> {
    match call.told {
        Told::Seen(revision, _) if revision < call.floor => Some("stale"),
        Told::Seen(revision, seen) if at(changes, name, revision) != seen => Some("wrong"),
        _ => None,
    }
}

fn mischanged(
    call: &Call,
    steps: &[Step],
    changes: &Changes,
    explained: &mut BTreeSet<(String, Revision)>,
) -> Option<&'static str> {
    let is_made_at = |revision: Revision| {
        steps.iter().all(|step| {
            let change = changes
                .get(&step.name)
                .and_then(|changes| changes.get(&revision));
            change == Some(&step.value) && before(changes, &step.name, revision) == step.base
        })
    };
    let mut explain = |revision: Revision| {
        explained.extend(steps.iter().map(|step| (step.name.clone(), revision)));
    };
    let made = || made(steps, changes).find(|revision| is_made_at(*revision));
    match call.told {
        Told::Done(revision) if revision <= call.floor => Some("older than what was known"),
        Told::Done(revision) if !is_made_at(revision) => Some("lost, or not as it was asked for"),
        Told::Done(revision) => {
            explain(revision);
            None
        }
        Told::Unknown => {
            if let Some(revision) = made() {
                explain(revision);
            }
            None
        }
        Told::Lost if held_for_ever(call, steps, changes) => Some("refused without a reason"),
        // Deletions are left out: they write no value that would tell one from another.
        Told::Lost | Told::NotStored if steps.iter().any(|step| step.value.is_some()) => {
            made().map(|_| "done after all")
        }
        Told::Lost | Told::NotStored | Told::Seen(..) => None,
    }
}

/// The revision at which these steps may have been executed, if there is one.
fn made(steps: &[Step], changes: &Changes) -> impl Iterator<Item = Revision> {
    let first = steps.first().and_then(|step| {
        let changes = changes.get(&step.name)?;
        let mut made = changes.iter().filter(|(_, value)| **value == step.value);
        // Each value is written only once, and each state of an object is deleted at most once.
        match step.value {
            Some(_) => made.next(),
            None => made.find(|(revision, _)| {
                changes.range(..**revision).next_back().map(|(at, _)| *at) == step.base
            }),
        }
    });
    first.map(|(revision, _)| *revision).into_iter()
}

/// Whether all preconditions held from before the call until the end.
fn held_for_ever(call: &Call, steps: &[Step], changes: &Changes) -> bool {
    steps.iter().all(|step| {
        let is_now = at(changes, &step.name, call.floor).map(|(since, _)| since) == step.base;
        let changes = changes.get(&step.name);
        let later = changes.and_then(|changes| changes.range(call.floor.next()..).next());
        is_now && later.is_none()
    })
}

#[cfg(test)]
mod tests;
