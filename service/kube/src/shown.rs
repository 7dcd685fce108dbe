//! The kinds that Synod keeps itself, as documents.

use serde_json::{Map, Value, json};
use synod_proto::v1;

use crate::documents::{RAW_DATA, document, micro_time, time, word};
use crate::kinds::{Kind, Source};
use crate::migration_status::conditions;

/// The name of the one object with the settings.
pub(crate) const SETTINGS_NAME: &str = "synod";

/// The hash of versions that nobody knows, as Kubernetes' storage version migrator calls it.
const UNKNOWN: &str = "Unknown";

pub(crate) fn member(kind: &Kind, member: &v1::Member) -> Value {
    let rest = json!({
        "spec": {
            "instance": member.instance,
            "version": member.version,
            "endpoint": member.endpoint,
            "ttlMs": member.ttl_ms,
        },
        "status": {
            "phase": word(member.phase().as_str_name(), "MEMBER_PHASE_"),
            "epoch": member.epoch,
            "reported": member.reported,
        },
    });
    document(kind, member.metadata.as_ref(), rest)
}

pub(crate) fn storage_version(kind: &Kind, version: &v1::StorageVersion) -> Value {
    let reported = version.entries.iter().map(|entry| {
        json!({
            "apiServerID": entry.member,
            "encodingVersion": entry.encoding_version.clone().unwrap_or_default(),
            "decodableVersions": entry.decodable_versions,
            "servedVersions": entry.served_versions,
        })
    });
    let mut status = json!({ "storageVersions": reported.collect::<Vec<_>>() });
    if let Some(own) = &version.status {
        if let Some(common) = &own.common_encoding_version {
            status["commonEncodingVersion"] = json!(common);
        }
        status["conditions"] = own.conditions.iter().map(condition).collect();
    }
    let rest = json!({ "spec": {}, "status": status });
    document(kind, version.metadata.as_ref(), rest)
}

fn condition(condition: &v1::Condition) -> Value {
    json!({
        "type": condition.r#type,
        "status": word(condition.status().as_str_name(), "CONDITION_STATUS_"),
        "reason": condition.reason,
        "message": condition.message,
        "observedGeneration": condition.observed_generation,
        "lastTransitionTime": time(condition.last_transition_time_ms),
    })
}

fn agreement(kind: &Kind, state: &v1::StorageState) -> Value {
    let persisted = state.persisted.iter().map(|one| match &one.version {
        _ if one.unknown => UNKNOWN.to_owned(),
        Some(version) => version.clone(),
        None => one.hash.clone(),
    });
    let mut status = json!({
        "agreementRevision": state.agreement_revision,
        "persistedVersions": persisted.collect::<Vec<_>>(),
        "observedHashes": state.observed_hashes,
        "contradicted": state.contradicted,
    });
    for (field, version) in [
        ("currentVersion", &state.current_version),
        ("selectedVersion", &state.selected_version),
        ("commonEncodingVersion", &state.common_encoding_version),
    ] {
        if let Some(version) = version {
            status[field] = json!(version);
        }
    }
    let rest = json!({
        "spec": { "resource": resource(state.resource.as_ref()) },
        "status": status,
    });
    document(kind, state.metadata.as_ref(), rest)
}

/// A storage state: as an agreement of Synod's own, or as `migration.k8s.io/v1alpha1` has it.
pub(crate) fn state(kind: &Kind, state: &v1::StorageState) -> Value {
    match kind.source {
        Source::StorageStates => storage_state(kind, state),
        _ => agreement(kind, state),
    }
}

/// A storage state that is read alone, with what is kept beside it: the time at which discovery was last looked at, and of an
/// agreement why the members do not agree, in the words of the service. Neither moves a revision, so lists and watches have neither.
pub(crate) fn state_alone(kind: &Kind, found: &v1::StorageVersionsGetResponse) -> Option<Value> {
    let mut document = state(kind, found.storage_state.as_ref()?);
    if let Some(heartbeat) = &found.heartbeat {
        document["status"]["lastHeartbeatTime"] = time(heartbeat.time_ms);
    }
    if kind.source == Source::Agreements {
        document["status"]["reasons"] = found.reasons.iter().map(reason).collect();
    }
    Some(document)
}

fn reason(reason: &v1::Obstacle) -> Value {
    json!({
        "reason": word(reason.reason().as_str_name(), "OBSTACLE_REASON_"),
        "message": reason.message,
    })
}

fn storage_state(kind: &Kind, state: &v1::StorageState) -> Value {
    let persisted = state.persisted.iter().map(|one| match one.unknown {
        true => UNKNOWN,
        false => one.hash.as_str(),
    });
    // What is agreed on is persisted, with its hash.
    let current = state
        .persisted
        .iter()
        .find(|one| state.current_version.is_some() && one.version == state.current_version);
    let current = current.map(|one| one.hash.as_str());
    let current = current.or(state.current_hash.as_deref());
    let rest = json!({
        "spec": { "resource": resource(state.resource.as_ref()) },
        "status": {
            "currentStorageVersionHash": current.unwrap_or(UNKNOWN),
            "persistedStorageVersionHashes": persisted.collect::<Vec<_>>(),
        },
    });
    document(kind, state.metadata.as_ref(), rest)
}

/// A candidate that said so at this time, if that is known.
pub(crate) fn lease_candidate(
    kind: &Kind,
    candidate: &v1::LeaseCandidate,
    renewed_ms: Option<u64>,
) -> Value {
    let lease = candidate.lease.clone().unwrap_or_default();
    let mut spec = json!({
        "leaseName": lease.name,
        "binaryVersion": candidate.binary_version,
        "strategy": candidate.strategy,
    });
    if !candidate.emulation_version.is_empty() {
        spec["emulationVersion"] = json!(candidate.emulation_version);
    }
    if let Some(renewed) = renewed_ms {
        spec["renewTime"] = micro_time(renewed);
    }
    document(kind, candidate.metadata.as_ref(), json!({ "spec": spec }))
}

/// What a migration is called: its alias, or without one its name.
pub(crate) fn migration_name(migration: &v1::Migration) -> &str {
    let own = migration.metadata.as_ref().map(|own| own.name.as_str());
    migration.alias.as_deref().or(own).unwrap_or_default()
}

/// A migration, as `storagemigration.k8s.io/v1beta1` has it, with the phase and what was done beside its conditions.
pub(crate) fn migration(kind: &Kind, migration: &v1::Migration) -> Value {
    let mut status = json!({
        "conditions": conditions(migration),
        "resourceVersion": migration.agreement_revision.to_string(),
        "phase": word(migration.phase().as_str_name(), "MIGRATION_PHASE_"),
        "done": migration.done,
    });
    if let Some(estimate) = migration.estimate {
        status["estimate"] = json!(estimate);
    }
    if let Some(version) = &migration.target_version {
        status["targetVersion"] = json!(version);
    }
    let mut metadata = migration.metadata.clone().unwrap_or_default();
    if migration.alias.is_some() {
        // By which gRPC, workers and the command line know it.
        status["migration"] = json!(metadata.name);
    }
    migration_name(migration).clone_into(&mut metadata.name);
    let rest = json!({
        "spec": { "resource": resource(migration.resource.as_ref()) },
        "status": status,
    });
    document(kind, Some(&metadata), rest)
}

pub(crate) fn controller_revision(kind: &Kind, own: &v1::ControllerRevision) -> Value {
    let data = match serde_json::from_slice(&own.data) {
        Ok(data) if own.media_type == "application/json" => data,
        _ => json!({ RAW_DATA: {
            "mediaType": own.media_type,
            "base64": data_encoding::BASE64.encode(&own.data),
        }}),
    };
    let rest = json!({ "data": data, "revision": own.revision });
    document(kind, own.metadata.as_ref(), rest)
}

pub(crate) fn settings(kind: &Kind, settings: &v1::Settings) -> Value {
    let metadata = v1::Metadata {
        name: SETTINGS_NAME.to_owned(),
        resource_version: settings.resource_version,
        ..v1::Metadata::default()
    };
    let enforced = settings.enforce_persisted.iter();
    let enforced: Vec<Value> = enforced.map(|one| resource(Some(one))).collect();
    let mut spec = json!({
        "historyRevisions": settings.history_revisions,
        "historyBytes": settings.history_bytes,
        "writeGraceMs": settings.write_grace_ms,
        "unreportedGraceMs": settings.unreported_grace_ms,
        "sessionTtlMs": settings.session_ttl_ms,
        "sessionOutcomes": settings.session_outcomes,
        "sessionsMax": settings.sessions_max,
        "membersMax": settings.members_max,
        "reportEntriesMax": settings.report_entries_max,
        "agreementsKept": settings.agreements_kept,
        "stateQuotaBytes": settings.state_quota_bytes,
        "enforcePersisted": enforced,
        "migrationsKept": settings.migrations_kept,
        "discoveryPeriodMs": settings.discovery_period_ms,
    });
    for (name, switch) in [
        ("votes", settings.votes),
        ("objects", settings.objects),
        ("histories", settings.histories),
        ("leases", settings.leases),
        ("migrations", settings.migrations),
    ] {
        let switch = switch.and_then(|switch| v1::Switch::try_from(switch).ok());
        if let Some(switch) = switch {
            spec[name] = json!(word(switch.as_str_name(), "SWITCH_"));
        }
    }
    let mut document = document(kind, Some(&metadata), json!({ "spec": spec }));
    if let Some(metadata) = document["metadata"].as_object_mut() {
        // Settings were never created: they begin with the cluster.
        metadata.shift_remove("creationTimestamp");
    }
    document
}

fn resource(resource: Option<&v1::GroupResource>) -> Value {
    let mut shown = Map::new();
    if let Some(resource) = resource {
        shown.insert("group".to_owned(), json!(resource.group));
        shown.insert("resource".to_owned(), json!(resource.resource));
    }
    Value::Object(shown)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinds::KINDS;

    #[test]
    fn a_migration_goes_by_its_alias_and_tells_its_name() {
        let mut migration = v1::Migration {
            metadata: Some(v1::Metadata {
                name: "pods-17".to_owned(),
                ..v1::Metadata::default()
            }),
            ..v1::Migration::default()
        };
        let shown = self::migration(&KINDS[3], &migration);
        assert_eq!(shown["metadata"]["name"], "pods-17");
        assert!(shown["status"]["migration"].is_null());
        migration.alias = Some("mine".to_owned());
        let shown = self::migration(&KINDS[3], &migration);
        assert_eq!(shown["metadata"]["name"], "mine");
        assert_eq!(shown["status"]["migration"], "pods-17");
    }
}
