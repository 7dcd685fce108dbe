//! Rosters, and who is missing by them.

use std::collections::BTreeSet;
use std::sync::Arc;

use synod_machine::{Change, Command};
use synod_model::{
    Absent, DeleteRoster, LabelSelector, MemberId, ResourceScope, Revision, Roster, RosterRule,
    SetRoster,
};
use synod_proto::storage::v1 as pb;

use super::CodecError;
use super::values::{member_id, metadata_from_pb, metadata_to_pb, parsed, required};

type Result<T> = std::result::Result<T, CodecError>;

pub(super) fn row_to_pb(roster: &Roster) -> pb::RosterRow {
    pb::RosterRow {
        scope: roster.scope.to_string(),
        metadata: Some(metadata_to_pb(&roster.metadata)),
        rule: Some(rule_to_pb(&roster.rule)),
    }
}

pub(super) fn row_from_pb(row: pb::RosterRow) -> Result<Arc<Roster>> {
    let roster = || {
        Ok(Roster {
            scope: scope(&row.scope)?,
            metadata: metadata_from_pb(row.metadata)?,
            rule: rule_from_pb(row.rule)?,
        })
    };
    roster()
        .map(Arc::new)
        .map_err(|fault: CodecError| fault.within("roster"))
}

/// The roster before and after.
pub(super) fn change_to_pb(
    scope: &ResourceScope,
    sides: [&Option<Arc<Roster>>; 2],
) -> pb::change::Object {
    let [before, after] = sides.map(|side| side.as_deref().map(row_to_pb));
    pb::change::Object::Roster(pb::RosterChange {
        scope: scope.to_string(),
        before,
        after,
    })
}

pub(super) fn change_from_pb(change: pb::RosterChange) -> Result<Change> {
    Ok(Change::Roster {
        scope: scope(&change.scope)?,
        before: change.before.map(row_from_pb).transpose()?,
        after: change.after.map(row_from_pb).transpose()?,
    })
}

pub(super) fn set_to_pb(set: &SetRoster) -> pb::envelope::Command {
    pb::envelope::Command::SetRoster(pb::SetRoster {
        scope: set.scope.to_string(),
        rule: Some(rule_to_pb(&set.rule)),
        if_revision: set.if_revision.map(Revision::get),
    })
}

pub(super) fn set_from_pb(set: pb::SetRoster) -> Result<Command> {
    Ok(Command::SetRoster(SetRoster {
        scope: scope(&set.scope)?,
        rule: rule_from_pb(set.rule)?,
        if_revision: set.if_revision.map(Revision::new),
    }))
}

pub(super) fn delete_to_pb(delete: &DeleteRoster) -> pb::envelope::Command {
    pb::envelope::Command::DeleteRoster(pb::DeleteRoster {
        scope: delete.scope.to_string(),
        if_revision: delete.if_revision.map(Revision::get),
    })
}

pub(super) fn delete_from_pb(delete: &pb::DeleteRoster) -> Result<Command> {
    Ok(Command::DeleteRoster(DeleteRoster {
        scope: scope(&delete.scope)?,
        if_revision: delete.if_revision.map(Revision::new),
    }))
}

/// Unset where nobody is missing.
pub(super) fn absent_to_pb(absent: &Absent) -> Option<pb::Absent> {
    (!absent.is_empty()).then(|| pb::Absent {
        members: absent.members.iter().map(ToString::to_string).collect(),
        unnamed: absent.unnamed,
        short: absent.short,
        labels: absent.labels.to_string(),
    })
}

pub(super) fn absent_from_pb(absent: Option<pb::Absent>) -> Result<Absent> {
    let absent = absent.unwrap_or_default();
    Ok(Absent {
        members: members("absent.members", &absent.members)?,
        unnamed: absent.unnamed,
        short: absent.short,
        labels: parsed("absent.labels", LabelSelector::parse(&absent.labels))?,
    })
}

fn rule_to_pb(rule: &RosterRule) -> pb::RosterRule {
    pb::RosterRule {
        members: rule.members.iter().map(ToString::to_string).collect(),
        labels: rule.labels.to_string(),
        least: rule.least,
    }
}

fn rule_from_pb(rule: Option<pb::RosterRule>) -> Result<RosterRule> {
    let rule = required("rule", rule)?;
    Ok(RosterRule {
        members: members("rule.members", &rule.members)?,
        labels: parsed("rule.labels", LabelSelector::parse(&rule.labels))?,
        least: rule.least,
    })
}

pub(super) fn members(field: &str, ids: &[String]) -> Result<BTreeSet<MemberId>> {
    ids.iter().map(|id| member_id(field, id)).collect()
}

fn scope(name: &str) -> Result<ResourceScope> {
    parsed("scope", ResourceScope::parse(name))
}
