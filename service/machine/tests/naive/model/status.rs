//! The naive model of the status of a storage version.

use std::collections::BTreeSet;

use synod_machine::{EntryRow, StateStatus, VersionStatus};
use synod_model::{
    ApiVersion, Condition, ConditionStatus, Persisted, Revision, VersionSet, WallTime,
};

use super::Entry;

/// The present command.
#[derive(Clone, Copy)]
pub(super) struct Now {
    pub(super) wall: WallTime,
    pub(super) revision: Revision,
}

pub(super) fn describe(
    status: &StateStatus,
    entries: &[Entry],
    before: Option<&VersionStatus>,
    now: Now,
) -> VersionStatus {
    let by_all = |said: fn(&EntryRow) -> &VersionSet| -> BTreeSet<ApiVersion> {
        let some = entries.iter().flat_map(|entry| said(&entry.row));
        let all = some.filter(|version| entries.iter().all(|e| said(&e.row).contains(version)));
        all.cloned().collect()
    };
    let same_common = before.filter(|before| before.common == status.common);
    let decodable = decodable(status, entries, now);
    let same_decodable = before.filter(|before| before.decodable.status == decodable.status);
    VersionStatus {
        common: status.common.clone(),
        selected: status.selected.clone(),
        selected_revision: status.selected_revision,
        agreement_revision: status.agreement_revision,
        agreed: status.agreed.clone(),
        decodable_by_all: by_all(|row| &row.decodable),
        served_by_all: by_all(|row| &row.served),
        all_equal: since(
            all_equal(status, now),
            same_common.map(|before| &before.all_equal),
        ),
        decodable: since(decodable, same_decodable.map(|before| &before.decodable)),
    }
}

/// The condition, with the transition time of the older one if its status is the same.
fn since(condition: Condition, older: Option<&Condition>) -> Condition {
    match older {
        None => condition,
        Some(older) => Condition {
            transition: older.transition,
            transition_revision: older.transition_revision,
            ..condition
        },
    }
}

fn all_equal(status: &StateStatus, now: Now) -> Condition {
    let (reason, message) = match &status.common {
        Some(_) => ("CommonEncodingVersionSet", "Common encoding version set"),
        None => (
            "CommonEncodingVersionUnset",
            "Common encoding version unset",
        ),
    };
    let holds = status.common.is_some();
    condition("AllEncodingVersionsEqual", holds, reason, message, now)
}

fn decodable(status: &StateStatus, entries: &[Entry], now: Now) -> Condition {
    let lacking = lacking(status, entries);
    if lacking.is_empty() {
        let message = "every entry decodes every reported, selected and persisted version";
        return condition("DecodableByAll", true, "AllVersionsDecodable", message, now);
    }
    let named: Vec<String> = lacking.iter().take(8).cloned().collect();
    let mut message = named.join(", ");
    if lacking.len() > 8 {
        message += &format!(" and {} more", lacking.len() - 8);
    }
    condition(
        "DecodableByAll",
        false,
        "VersionsNotDecodable",
        &message,
        now,
    )
}

/// Which member does not decode which reported, selected or persisted version.
fn lacking(status: &StateStatus, entries: &[Entry]) -> Vec<String> {
    let reported = entries
        .iter()
        .filter_map(|entry| entry.row.encoding.as_ref());
    let persisted = status.persisted.iter().filter_map(Persisted::version);
    let asked: BTreeSet<&ApiVersion> = reported.chain(&status.selected).chain(persisted).collect();
    let mut lacking = Vec::new();
    for entry in entries {
        for version in asked.iter().filter(|version| !entry.decodes(version)) {
            lacking.push(format!("{} does not decode {version}", entry.member));
        }
    }
    lacking
}

fn condition(kind: &str, holds: bool, reason: &str, message: &str, now: Now) -> Condition {
    Condition {
        kind: kind.to_owned(),
        status: if holds {
            ConditionStatus::True
        } else {
            ConditionStatus::False
        },
        reason: reason.to_owned(),
        message: message.to_owned(),
        observed_generation: 1,
        transition: now.wall,
        transition_revision: now.revision,
    }
}

/// Whether a member is missing, or discovery shows an encoding that no member reports.
pub(super) fn is_objected_to(status: &StateStatus) -> bool {
    let absent = &status.absent;
    let is_missed = !absent.members.is_empty() || absent.unnamed > 0 || absent.short > 0;
    is_missed || status.contradicted
}
