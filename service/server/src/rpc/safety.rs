//! The calls `CheckBinary` and `CheckDrop`: converts the machine's verdicts to messages of a bounded size.

use std::collections::{BTreeMap, BTreeSet};

use synod_machine::{
    Danger, SafetyVerdict, Why, check_binary as verdict_on, check_drop as verdict_on_drop,
};
use synod_model::{Assumption, GroupResource, Refusal};
use synod_proto::limits::{ASSUMED_RESOURCES_MAX, DANGERS_MAX};
use synod_proto::wire::Wire as _;
use synod_proto::{CheckBinary, CheckDrop, v1};

use super::typed;
use crate::handle::{Asking, Handle};

/// The most members that an assumption names in words.
const NAMED: usize = 8;

pub(super) async fn check_binary(
    handle: &Handle,
    asking: &Asking,
    message: v1::StorageVersionsCheckBinaryRequest,
) -> Result<v1::StorageVersionsCheckBinaryResponse, Refusal> {
    let CheckBinary { binary, read } = typed(message)?;
    let reading = handle.read(asking, read).await?;
    let now = reading.published().state.log_time();
    let verdict = verdict_on(&reading.past()?, now, &binary);
    let safe = verdict.is_safe();
    let assumptions = assumptions(
        &verdict.assumptions,
        &verdict.concerned,
        verdict.is_observed,
    );
    let (dangers, omitted) = named(verdict);
    Ok(v1::StorageVersionsCheckBinaryResponse {
        header: Some(handle.header_of(&reading)),
        safe,
        dangers,
        omitted,
        log_time_ms: now.as_millis(),
        assumptions,
    })
}

pub(super) async fn check_drop(
    handle: &Handle,
    asking: &Asking,
    message: v1::StorageVersionsCheckDropRequest,
) -> Result<v1::StorageVersionsCheckDropResponse, Refusal> {
    let CheckDrop {
        resource,
        version,
        read,
    } = typed(message)?;
    let reading = handle.read(asking, read).await?;
    let now = reading.published().state.log_time();
    let verdict = verdict_on_drop(&reading.past()?, now, &resource, &version);
    let safe = verdict.is_safe();
    let assumptions = assumptions(
        &verdict.assumptions,
        &verdict.concerned,
        verdict.is_observed,
    );
    let (dangers, omitted) = named(verdict);
    Ok(v1::StorageVersionsCheckDropResponse {
        header: Some(handle.header_of(&reading)),
        safe,
        dangers,
        omitted,
        log_time_ms: now.as_millis(),
        assumptions,
    })
}

/// The assumptions of an answer, each with the resources that it concerns.
pub(super) fn assumptions(
    assumed: &BTreeMap<Assumption, BTreeSet<GroupResource>>,
    concerned: &BTreeMap<Assumption, BTreeSet<String>>,
    is_observed: bool,
) -> Vec<v1::Assumption> {
    let assumptions = assumed.iter().map(|(what, of)| {
        let omitted = of.len().saturating_sub(ASSUMED_RESOURCES_MAX);
        let named = of.iter().take(ASSUMED_RESOURCES_MAX);
        v1::Assumption {
            reason: what.to_wire(),
            message: sentence(*what, concerned.get(what), is_observed),
            resources: named.map(Into::into).collect(),
            omitted: u32::try_from(omitted).unwrap_or(u32::MAX),
        }
    });
    assumptions.collect()
}

/// The assumption in words, with the members that it is made of.
fn sentence(what: Assumption, members: Option<&BTreeSet<String>>, is_observed: bool) -> String {
    let sentence = what.sentence(is_observed);
    let members = members.into_iter().flatten();
    let named: Vec<&str> = members.clone().take(NAMED).map(String::as_str).collect();
    match members.count().saturating_sub(NAMED) {
        _ if named.is_empty() => sentence.to_owned(),
        0 => format!("{sentence} ({})", named.join(", ")),
        more => format!("{sentence} ({}, and {more} more)", named.join(", ")),
    }
}

/// The dangers that an answer names, and the number of those left out.
fn named(verdict: SafetyVerdict) -> (Vec<v1::Danger>, u32) {
    let dangers = verdict.dangers;
    let omitted = dangers.len().saturating_sub(DANGERS_MAX);
    let named = dangers.iter().take(DANGERS_MAX).map(danger).collect();
    (named, u32::try_from(omitted).unwrap_or(u32::MAX))
}

fn danger(danger: &Danger) -> v1::Danger {
    let mut pb = v1::Danger {
        resource: Some((&danger.resource).into()),
        reason: reason(&danger.why).into(),
        message: danger.why.to_string(),
        ..v1::Danger::default()
    };
    match &danger.why {
        Why::NoState(_) | Why::PersistedUnknown | Why::Contradicted | Why::ObservationOver => {}
        Why::Persisted(version) | Why::Selected(version) | Why::VersionUnknown(version, _) => {
            pb.version = version.to_string();
        }
        Why::PersistedHash(hash) | Why::Observed(hash) | Why::UnreadableHash(hash) => {
            pb.hash = hash.to_string();
        }
        Why::Reported(member, version)
        | Why::Voted(member, version)
        | Why::NotDecodableBy(member, version) => {
            pb.member = member.to_string();
            pb.version = version.to_string();
        }
        Why::Draining(version, until) => {
            pb.version = version.to_string();
            pb.until_log_time_ms = until.as_millis();
        }
        Why::DrainingHash(hash, until) => {
            pb.hash = hash.to_string();
            pb.until_log_time_ms = until.as_millis();
        }
        Why::DrainingUnknown(until) => pb.until_log_time_ms = until.as_millis(),
        Why::Absent(member) => pb.member = member.to_string(),
        Why::AbsentMore(count) => pb.count = *count,
        Why::Snapshot(key, version) => {
            pb.snapshot = key.to_string();
            pb.version = version.to_string();
        }
        Why::MemberSilent(member, count) => {
            pb.member = member.to_string();
            pb.count = *count;
        }
        Why::ScopeUnknown(scope) => pb.scope = scope.to_string(),
    }
    pb
}

fn reason(why: &Why) -> v1::DangerReason {
    use v1::DangerReason as Reason;
    match why {
        Why::NoState(_) => Reason::NoState,
        Why::VersionUnknown(..) => Reason::VersionUnknown,
        Why::PersistedUnknown => Reason::PersistedUnknown,
        Why::Persisted(_) => Reason::Persisted,
        Why::PersistedHash(_) => Reason::PersistedHash,
        Why::Selected(_) => Reason::Selected,
        Why::Reported(..) => Reason::Reported,
        Why::Voted(..) => Reason::Voted,
        Why::Draining(..) => Reason::Draining,
        Why::DrainingHash(..) => Reason::DrainingHash,
        Why::DrainingUnknown(_) => Reason::DrainingUnknown,
        Why::Observed(_) => Reason::Observed,
        Why::UnreadableHash(_) => Reason::UnreadableHash,
        Why::Contradicted => Reason::Contradicted,
        Why::ObservationOver => Reason::ObservationExpired,
        Why::Absent(_) => Reason::Absent,
        Why::AbsentMore(_) => Reason::AbsentMore,
        Why::NotDecodableBy(..) => Reason::NotDecodable,
        Why::Snapshot(..) => Reason::Snapshot,
        Why::MemberSilent(..) => Reason::MemberSilent,
        Why::ScopeUnknown(_) => Reason::ScopeUnknown,
    }
}
