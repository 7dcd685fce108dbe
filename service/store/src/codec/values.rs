//! Values that several stored messages hold.

use std::sync::Arc;
use std::time::Duration;

use synod_machine::{DirectoryId, ReplicaId};
use synod_model::{
    ApiVersion, BinaryVersion, ClusterId, Condition, ConditionStatus, Endpoint, Epoch,
    GroupResource, InstanceId, Kind, Labels, Member, MemberId, Metadata, Persisted, Phase,
    Revision, Sequence, SessionId, Settings, Stance, StatementNumber, StorageVersionHash, Ttl, Uid,
    VersionSet, WallTime,
};
use synod_proto::storage::v1 as pb;

use super::CodecError;

type Result<T> = std::result::Result<T, CodecError>;

pub(super) fn required<T>(field: &str, value: Option<T>) -> Result<T> {
    value.ok_or_else(|| {
        CodecError::new(
            field,
            "it is missing, or of a kind that this build does not know",
        )
    })
}

/// A text that `synod-model` parses.
pub(super) fn parsed<T, E: std::fmt::Display>(
    field: &str,
    value: std::result::Result<T, E>,
) -> Result<T> {
    value.map_err(|fault| CodecError::new(field, fault))
}

pub(super) fn sized<const N: usize>(field: &str, bytes: &[u8]) -> Result<[u8; N]> {
    bytes
        .try_into()
        .map_err(|_| CodecError::new(field, format!("it has {} bytes, not {N}", bytes.len())))
}

pub(super) fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}

pub(super) fn cluster_id(field: &str, bytes: &[u8]) -> Result<ClusterId> {
    Ok(ClusterId::from_bytes(sized(field, bytes)?))
}

pub(super) fn directory_id(field: &str, bytes: &[u8]) -> Result<DirectoryId> {
    Ok(DirectoryId::from_bytes(sized(field, bytes)?))
}

pub(super) fn uid(field: &str, bytes: &[u8]) -> Result<Uid> {
    Ok(Uid::from_bytes(sized(field, bytes)?))
}

pub(super) fn digest(field: &str, bytes: &[u8]) -> Result<synod_machine::Digest> {
    Ok(synod_machine::Digest::from_bytes(sized(field, bytes)?))
}

pub(super) fn replica_id(number: u64) -> ReplicaId {
    ReplicaId::new(number)
}

pub(super) fn epoch(number: u64) -> Epoch {
    Epoch::new(Revision::new(number))
}

pub(super) fn session_id(number: u64) -> SessionId {
    SessionId::new(Revision::new(number))
}

pub(super) fn statement(field: &str, number: u64) -> Result<StatementNumber> {
    StatementNumber::new(number)
        .ok_or_else(|| CodecError::new(field, "a statement is numbered from 1"))
}

pub(super) fn sequence(field: &str, number: u64) -> Result<Sequence> {
    Sequence::new(number).ok_or_else(|| CodecError::new(field, "a sequence is at least 1"))
}

pub(super) fn member_id(field: &str, text: &str) -> Result<MemberId> {
    parsed(field, MemberId::parse(text))
}

pub(super) fn version(field: &str, text: &str) -> Result<ApiVersion> {
    parsed(field, ApiVersion::parse(text))
}

pub(super) fn optional_version(field: &str, text: Option<&str>) -> Result<Option<ApiVersion>> {
    text.map(|text| version(field, text)).transpose()
}

pub(super) fn versions<C: FromIterator<ApiVersion>>(field: &str, texts: &[String]) -> Result<C> {
    texts.iter().map(|text| version(field, text)).collect()
}

pub(super) fn texts<'a>(versions: impl IntoIterator<Item = &'a ApiVersion>) -> Vec<String> {
    versions.into_iter().map(ToString::to_string).collect()
}

pub(super) fn text(version: Option<&ApiVersion>) -> Option<String> {
    version.map(ToString::to_string)
}

pub(super) fn resource_to_pb(resource: &GroupResource) -> pb::GroupResource {
    pb::GroupResource {
        group: resource.group().to_owned(),
        resource: resource.resource().to_owned(),
    }
}

pub(super) fn resource_from_pb(resource: Option<pb::GroupResource>) -> Result<GroupResource> {
    let resource = required("resource", resource)?;
    parsed(
        "resource",
        GroupResource::new(&resource.group, &resource.resource),
    )
}

pub(super) fn resources_from_pb<C>(field: &str, resources: Vec<pb::GroupResource>) -> Result<C>
where
    C: FromIterator<GroupResource>,
{
    resources
        .into_iter()
        .map(|resource| resource_from_pb(Some(resource)).map_err(|e| e.within(field)))
        .collect()
}

pub(super) fn kind(text: &str) -> Result<Kind> {
    parsed("kind", Kind::parse(text))
}

pub(super) fn stance_to_pb(stance: &Stance) -> pb::Stance {
    let kind = match stance {
        Stance::Fixed { encoding } => pb::stance::Kind::Fixed(encoding.to_string()),
        Stance::Voting { preferred } => pb::stance::Kind::Voting(preferred.to_string()),
    };
    pb::Stance { kind: Some(kind) }
}

pub(super) fn stance_from_pb(stance: Option<pb::Stance>) -> Result<Stance> {
    match required("stance", stance.and_then(|stance| stance.kind))? {
        pb::stance::Kind::Fixed(text) => Ok(Stance::Fixed {
            encoding: version("stance.fixed", &text)?,
        }),
        pb::stance::Kind::Voting(text) => Ok(Stance::Voting {
            preferred: version("stance.voting", &text)?,
        }),
    }
}

pub(super) fn version_set(field: &str, texts: &[String]) -> Result<VersionSet> {
    versions(field, texts)
}

pub(super) fn metadata_to_pb(metadata: &Metadata) -> pb::Metadata {
    pb::Metadata {
        uid: metadata.uid.as_bytes().to_vec().into(),
        resource_version: metadata.resource_version.get(),
        create_revision: metadata.create_revision.get(),
        generation: metadata.generation,
        created_ms: metadata.created.as_millis(),
    }
}

pub(super) fn metadata_from_pb(metadata: Option<pb::Metadata>) -> Result<Metadata> {
    let metadata = required("metadata", metadata)?;
    Ok(Metadata {
        uid: uid("metadata.uid", &metadata.uid)?,
        resource_version: Revision::new(metadata.resource_version),
        create_revision: Revision::new(metadata.create_revision),
        generation: metadata.generation,
        created: WallTime::from_millis(metadata.created_ms),
    })
}

pub(super) fn condition_to_pb(condition: &Condition) -> pb::Condition {
    let status = match condition.status {
        ConditionStatus::True => pb::ConditionStatus::True,
        ConditionStatus::False => pb::ConditionStatus::False,
        ConditionStatus::Unknown => pb::ConditionStatus::Unknown,
    };
    pb::Condition {
        r#type: condition.kind.clone(),
        status: status.into(),
        reason: condition.reason.clone(),
        message: condition.message.clone(),
        observed_generation: condition.observed_generation,
        transition_ms: condition.transition.as_millis(),
        transition_revision: condition.transition_revision.get(),
    }
}

pub(super) fn condition_from_pb(
    field: &str,
    condition: Option<pb::Condition>,
) -> Result<Condition> {
    let condition = required(field, condition)?;
    let status = match condition.status() {
        pb::ConditionStatus::True => ConditionStatus::True,
        pb::ConditionStatus::False => ConditionStatus::False,
        pb::ConditionStatus::Unknown => ConditionStatus::Unknown,
        pb::ConditionStatus::Unspecified => {
            return Err(CodecError::new(
                field,
                "its status is not known to this build",
            ));
        }
    };
    Ok(Condition {
        kind: condition.r#type,
        status,
        reason: condition.reason,
        message: condition.message,
        observed_generation: condition.observed_generation,
        transition: WallTime::from_millis(condition.transition_ms),
        transition_revision: Revision::new(condition.transition_revision),
    })
}

pub(super) fn storage_version_hash(field: &str, bytes: &[u8]) -> Result<StorageVersionHash> {
    Ok(StorageVersionHash::from_bytes(sized(field, bytes)?))
}

pub(super) fn persisted_to_pb(persisted: &Persisted) -> pb::Persisted {
    let kind = match persisted {
        Persisted::Unknown => pb::persisted::Kind::Unknown(pb::UnknownVersion {}),
        Persisted::Version { hash, version } => pb::persisted::Kind::Known(pb::KnownVersion {
            hash: hash.as_bytes().to_vec().into(),
            version: text(version.as_ref()),
        }),
    };
    pb::Persisted { kind: Some(kind) }
}

pub(super) fn persisted_from_pb(persisted: pb::Persisted) -> Result<Persisted> {
    match required("persisted", persisted.kind)? {
        pb::persisted::Kind::Unknown(pb::UnknownVersion {}) => Ok(Persisted::Unknown),
        pb::persisted::Kind::Known(known) => Ok(Persisted::Version {
            hash: storage_version_hash("persisted.hash", &known.hash)?,
            version: optional_version("persisted.version", known.version.as_deref())?,
        }),
    }
}

pub(super) fn labels_to_pb(labels: &Labels) -> Vec<pb::Label> {
    pairs_to_pb(labels.iter())
}

pub(super) fn pairs_to_pb<'a>(pairs: impl Iterator<Item = (&'a str, &'a str)>) -> Vec<pb::Label> {
    pairs
        .map(|(key, value)| pb::Label {
            key: key.to_owned(),
            value: value.to_owned(),
        })
        .collect()
}

pub(super) fn labels_from_pb(labels: &[pb::Label]) -> Result<Labels> {
    parsed(
        "labels",
        Labels::parse(labels.iter().map(|label| (&label.key, &label.value))),
    )
}

pub(super) fn instance(text: &str) -> Result<InstanceId> {
    parsed("instance", InstanceId::parse(text))
}

pub(super) fn ttl(ttl_ms: u64) -> Result<Ttl> {
    parsed("ttl_ms", Ttl::from_millis(ttl_ms))
}

pub(super) fn binary_version(text: &str) -> Result<BinaryVersion> {
    parsed("version", BinaryVersion::parse(text))
}

pub(super) fn endpoint(text: &str) -> Result<Endpoint> {
    parsed("endpoint", Endpoint::parse(text))
}

pub(super) fn member_to_pb(member: &Member) -> pb::Member {
    pb::Member {
        id: member.id.to_string(),
        instance: member.instance.to_string(),
        epoch: member.epoch.get(),
        ttl_ms: member.ttl.as_millis(),
        labels: labels_to_pb(&member.labels),
        version: member.version.to_string(),
        endpoint: member.endpoint.to_string(),
        ready: member.phase == Phase::Ready,
        metadata: Some(metadata_to_pb(&member.metadata)),
        reported: member.reported,
    }
}

pub(super) fn member_from_pb(member: pb::Member) -> Result<Arc<Member>> {
    Ok(Arc::new(Member {
        id: member_id("id", &member.id)?,
        instance: instance(&member.instance)?,
        epoch: epoch(member.epoch),
        ttl: ttl(member.ttl_ms)?,
        labels: labels_from_pb(&member.labels)?,
        version: binary_version(&member.version)?,
        endpoint: endpoint(&member.endpoint)?,
        phase: if member.ready {
            Phase::Ready
        } else {
            Phase::Joining
        },
        metadata: metadata_from_pb(member.metadata)?,
        reported: member.reported,
    }))
}

pub(super) fn settings_to_pb(settings: &Settings) -> pb::Settings {
    pb::Settings {
        history_revisions: settings.history_revisions,
        history_bytes: settings.history_bytes,
        write_grace_ms: millis(settings.write_grace),
        unreported_grace_ms: millis(settings.unreported_grace),
        session_ttl_ms: millis(settings.session_ttl),
        session_outcomes: settings.session_outcomes,
        sessions_max: settings.sessions_max,
        members_max: settings.members_max,
        report_entries_max: settings.report_entries_max,
        agreements_kept: settings.agreements_kept,
        state_quota_bytes: settings.state_quota_bytes,
        migrations_kept: settings.migrations_kept,
        discovery_period_ms: millis(settings.discovery_period),
        enforce_persisted: settings
            .enforce_persisted
            .iter()
            .map(resource_to_pb)
            .collect(),
        revision: settings.revision.get(),
    }
}

pub(super) fn settings_from_pb(settings: pb::Settings) -> Result<Settings> {
    Ok(Settings {
        history_revisions: settings.history_revisions,
        history_bytes: settings.history_bytes,
        write_grace: Duration::from_millis(settings.write_grace_ms),
        unreported_grace: Duration::from_millis(settings.unreported_grace_ms),
        session_ttl: Duration::from_millis(settings.session_ttl_ms),
        session_outcomes: settings.session_outcomes,
        sessions_max: settings.sessions_max,
        members_max: settings.members_max,
        report_entries_max: settings.report_entries_max,
        agreements_kept: settings.agreements_kept,
        state_quota_bytes: settings.state_quota_bytes,
        migrations_kept: settings.migrations_kept,
        discovery_period: Duration::from_millis(settings.discovery_period_ms),
        enforce_persisted: resources_from_pb("enforce_persisted", settings.enforce_persisted)?,
        revision: Revision::new(settings.revision),
    })
}
