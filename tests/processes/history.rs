//! Checks that the answers to all calls can be true together (linearizability).
//!
//! Every change has its place in one order, the revision, and every answer names its revision. So a history is
//! linearizable exactly if the revisions agree with real time (a call that began after another one's answer has no
//! older revision), and if every change is at its revision in what the watches saw, once. Both are checked in one pass.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::ops::RangeBounds;

use synod_client::{ErrorKind, GroupResource, RequestKey, Revision};
use synod_proto::v1;
use tokio::time::Instant;

use crate::watch_log::WatchLog;

/// One call of a client.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) began: Instant,
    pub(crate) ended: Instant,
    pub(crate) asked: Asked,
    pub(crate) told: Told,
}

/// The request of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    /// To report these resources, which only this call reports.
    Report(Vec<GroupResource>),
    /// To create these objects in one transaction; only this call creates them.
    Create(Vec<String>),
    /// To set this value, which only this call sets, if the register's last change was at this revision.
    Compare {
        register: Register,
        if_revision: Revision,
        value: u32,
    },
    /// To read the value, linearizably.
    Read(Register),
}

/// A single value that all writers compare and set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Register {
    /// A value of the settings.
    Settings,
    /// An object.
    Object,
}

/// The result of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    /// It was done, at this revision.
    Done(Revision),
    /// The value was read, at revision `at`.
    Seen { at: Revision, setting: Setting },
    /// The comparison failed. The present value, unless this is the answer to a retry, which does not carry it.
    Lost(Option<Setting>),
    /// A rule refused it.
    Refused(ErrorKind),
    /// It was certainly not executed.
    NotExecuted(ErrorKind),
    /// It may have been executed.
    Unknown(Option<RequestKey>),
}

/// The value of a register, and the revision of its last change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Setting {
    pub(crate) since: Revision,
    pub(crate) value: u32,
}

/// The number of calls with each result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) done: usize,
    pub(crate) seen: usize,
    pub(crate) lost: usize,
    pub(crate) refused: usize,
    pub(crate) not_executed: usize,
    pub(crate) unknown: usize,
}

impl Tally {
    /// Counts calls.
    pub(crate) fn of(calls: &[Call]) -> Self {
        let mut tally = Self::default();
        for call in calls {
            *match call.told {
                Told::Done(_) => &mut tally.done,
                Told::Seen { .. } => &mut tally.seen,
                Told::Lost(_) => &mut tally.lost,
                Told::Refused(_) => &mut tally.refused,
                Told::NotExecuted(_) => &mut tally.not_executed,
                Told::Unknown(_) => &mut tally.unknown,
            } += 1;
        }
        tally
    }
}

/// Checks that no answer is older than one that had arrived before its call began.
///
/// # Errors
///
/// The first answer that is.
pub(crate) fn check_real_time(calls: &[Call]) -> Result<(), String> {
    let mut by_begin: Vec<&Call> = calls.iter().collect();
    by_begin.sort_by_key(|call| call.began);
    let mut by_end: Vec<&Call> = calls.iter().collect();
    by_end.sort_by_key(|call| call.ended);
    let mut ended = by_end.into_iter().peekable();
    let mut floor = Revision::ZERO;
    for call in by_begin {
        while let Some(before) = ended.next_if(|before| before.ended < call.began) {
            floor = floor.max(told_revision(before).unwrap_or_default());
        }
        let is_old = match call.told {
            // A change must be newer than that: its revision is its own.
            Told::Done(revision) => revision <= floor,
            Told::Seen { at, .. } => at < floor,
            Told::Lost(_) | Told::Refused(_) | Told::NotExecuted(_) | Told::Unknown(_) => false,
        };
        if is_old {
            return Err(format!(
                "stale: revision {floor} was answered before this began: {call:?}"
            ));
        }
    }
    Ok(())
}

fn told_revision(call: &Call) -> Option<Revision> {
    match call.told {
        Told::Done(revision) | Told::Seen { at: revision, .. } => Some(revision),
        Told::Lost(setting) => setting.map(|setting| setting.since),
        Told::Refused(_) | Told::NotExecuted(_) | Told::Unknown(_) => None,
    }
}

/// Checks the comparisons and reads against all changes of settings since `first`, as a watch saw them.
///
/// # Errors
///
/// The first call that cannot be true, or the first change that no call made.
pub(crate) fn check_settings(calls: &[Call], first: Setting, log: &WatchLog) -> Result<(), String> {
    check_register(calls, Register::Settings, first, &settings(first, log))
}

/// Checks the comparisons and reads of a register against all of its changes since `first` was set.
///
/// # Errors
///
/// The first call that cannot be true, or the first change that no call made.
pub(crate) fn check_register(
    calls: &[Call],
    of: Register,
    first: Setting,
    changes: &BTreeMap<Revision, Setting>,
) -> Result<(), String> {
    let by_value: BTreeMap<u32, Setting> = changes
        .values()
        .map(|setting| (setting.value, *setting))
        .collect();
    let mut explained = BTreeSet::from([first.value]);
    for call in calls {
        let is_true = match &call.asked {
            Asked::Compare {
                register,
                if_revision,
                value,
            } if *register == of => {
                if matches!(call.told, Told::Done(_) | Told::Unknown(_)) {
                    explained.insert(*value);
                }
                let set = by_value.get(value).copied();
                compared(&call.told, *if_revision, set, changes)
            }
            Asked::Read(register) if *register == of => match call.told {
                Told::Seen { at, setting } => until(changes, ..=at) == Some(setting),
                _ => true,
            },
            Asked::Compare { .. } | Asked::Read(_) | Asked::Report(_) | Asked::Create(_) => true,
        };
        if !is_true {
            return Err(format!(
                "not linearizable, or lost: {call:?} among {changes:?}"
            ));
        }
    }
    match by_value
        .values()
        .find(|setting| !explained.contains(&setting.value))
    {
        Some(phantom) => Err(format!("nobody has set {phantom:?}")),
        None => Ok(()),
    }
}

/// Whether this can be the answer to a comparison whose value was set as `set` says.
fn compared(
    told: &Told,
    if_revision: Revision,
    set: Option<Setting>,
    changes: &BTreeMap<Revision, Setting>,
) -> bool {
    let held = |set: Setting| {
        let before = until(changes, ..set.since);
        before.is_some_and(|before| before.since == if_revision)
    };
    match told {
        Told::Done(revision) => set.is_some_and(|set| set.since == *revision && held(set)),
        Told::Lost(found) => {
            let is_other = |found: Setting| {
                until(changes, ..=found.since) == Some(found) && found.since != if_revision
            };
            set.is_none() && found.is_none_or(is_other)
        }
        Told::NotExecuted(_) | Told::Refused(_) => set.is_none(),
        Told::Unknown(_) => set.is_none_or(held),
        Told::Seen { .. } => true,
    }
}

/// The last change in a range of revisions.
fn until(
    changes: &BTreeMap<Revision, Setting>,
    range: impl RangeBounds<Revision>,
) -> Option<Setting> {
    let last = changes.range(range).next_back();
    last.map(|(_, setting)| *setting)
}

/// Every change of the settings, by its revision.
fn settings(first: Setting, log: &WatchLog) -> BTreeMap<Revision, Setting> {
    let mut changes = BTreeMap::from([(first.since, first)]);
    for group in log.groups() {
        for event in &group.events {
            if let Some(v1::event::Object::Settings(settings)) = &event.object {
                let since = Revision::new(group.revision);
                changes.insert(
                    since,
                    Setting {
                        since,
                        value: settings.members_max,
                    },
                );
            }
        }
    }
    changes
}

/// Checks the reports against all storage versions at the end, each with the revision that created it: an acknowledged
/// report has all its resources, created at the revision of its answer; a report that was not executed has none; and
/// there are no others.
///
/// # Errors
///
/// The first report that was lost, partly executed, or executed against its answer, or the first unreported resource.
pub(crate) fn check_reports(
    calls: &[Call],
    created: BTreeMap<GroupResource, Revision>,
) -> Result<(), String> {
    let reports = calls.iter().filter_map(|call| match &call.asked {
        Asked::Report(resources) => Some((call, resources)),
        Asked::Create(_) | Asked::Compare { .. } | Asked::Read(_) => None,
    });
    check_made(reports, created)
}

/// Checks the creating transactions against all objects at the end, as [`check_reports`] does.
///
/// # Errors
///
/// The first transaction that was lost, partly executed, or executed against its answer, or the first uncreated object.
pub(crate) fn check_created(
    calls: &[Call],
    created: BTreeMap<String, Revision>,
) -> Result<(), String> {
    let transactions = calls.iter().filter_map(|call| match &call.asked {
        Asked::Create(names) => Some((call, names)),
        Asked::Report(_) | Asked::Compare { .. } | Asked::Read(_) => None,
    });
    check_made(transactions, created)
}

/// Checks calls that each create several things at once.
fn check_made<'a, K: Ord + Debug + 'a>(
    calls: impl Iterator<Item = (&'a Call, &'a Vec<K>)>,
    mut created: BTreeMap<K, Revision>,
) -> Result<(), String> {
    for (call, things) in calls {
        let found: BTreeSet<Option<Revision>> =
            things.iter().map(|thing| created.remove(thing)).collect();
        let mut found = found.into_iter();
        let (Some(since), None) = (found.next(), found.next()) else {
            return Err(format!("torn: {call:?}"));
        };
        let is_true = match call.told {
            Told::Done(revision) => since == Some(revision),
            Told::Unknown(_) => true,
            Told::NotExecuted(_) | Told::Refused(_) | Told::Seen { .. } | Told::Lost(_) => {
                since.is_none()
            }
        };
        if !is_true {
            return Err(format!(
                "lost, or executed after all: {call:?}, and it is there since {since:?}"
            ));
        }
    }
    match created.first_key_value() {
        Some((thing, revision)) => Err(format!("nobody made {thing:?} at {revision}")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
