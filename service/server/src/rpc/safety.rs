//! `CheckBinary` and `CheckDrop`: what the machine finds, as messages of a bounded size.

use synod_machine::{
    Danger, Decodes, Why, check_binary as dangers_of, check_drop as dangers_of_drop,
};
use synod_model::Refusal;
use synod_proto::limits::DANGERS_MAX;
use synod_proto::{CheckBinary, CheckDrop, v1};

use super::typed;
use crate::handle::{Asking, Handle};

pub(super) async fn check_binary(
    handle: &Handle,
    asking: &Asking,
    message: v1::StorageVersionsCheckBinaryRequest,
) -> Result<v1::StorageVersionsCheckBinaryResponse, Refusal> {
    let CheckBinary { resources, read } = typed(message)?;
    let reading = handle.read(asking, read).await?;
    let now = reading.published().state.log_time();
    let binary: Vec<Decodes> = resources
        .into_iter()
        .map(|binary| Decodes {
            resource: binary.resource,
            kind: binary.kind,
            versions: binary.decodable,
        })
        .collect();
    let (dangers, omitted) = named(dangers_of(&reading.past()?, now, &binary));
    Ok(v1::StorageVersionsCheckBinaryResponse {
        header: Some(handle.header_of(&reading)),
        safe: dangers.is_empty(),
        dangers,
        omitted,
        log_time_ms: now.as_millis(),
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
    let found = dangers_of_drop(&reading.past()?, now, &resource, &version);
    let (dangers, omitted) = named(found);
    Ok(v1::StorageVersionsCheckDropResponse {
        header: Some(handle.header_of(&reading)),
        safe: dangers.is_empty(),
        dangers,
        omitted,
        log_time_ms: now.as_millis(),
    })
}

/// As many as an answer names, and how many more there are.
fn named(dangers: Vec<Danger>) -> (Vec<v1::Danger>, u32) {
    let omitted = dangers.len().saturating_sub(DANGERS_MAX);
    let named = dangers.iter().take(DANGERS_MAX).map(danger).collect();
    (named, u32::try_from(omitted).unwrap_or(u32::MAX))
}

fn danger(danger: &Danger) -> v1::Danger {
    use v1::DangerReason as Reason;
    let mut pb = v1::Danger {
        resource: Some((&danger.resource).into()),
        ..v1::Danger::default()
    };
    let reason = match &danger.why {
        Why::NoState => Reason::NoState,
        Why::PersistedUnknown => Reason::PersistedUnknown,
        Why::Persisted(version) => {
            pb.version = version.to_string();
            Reason::Persisted
        }
        Why::PersistedHash(hash) => {
            pb.hash = hash.to_string();
            Reason::PersistedHash
        }
        Why::Selected(version) => {
            pb.version = version.to_string();
            Reason::Selected
        }
        Why::Reported(member, version) => {
            pb.member = member.to_string();
            pb.version = version.to_string();
            Reason::Reported
        }
        Why::Voted(member, version) => {
            pb.member = member.to_string();
            pb.version = version.to_string();
            Reason::Voted
        }
        Why::Draining(version, until) => {
            pb.version = version.to_string();
            pb.until_log_time_ms = until.as_millis();
            Reason::Draining
        }
    };
    pb.reason = reason.into();
    pb
}
