//! What stays of a resource, and its history of agreements.

use synod_machine::{Observation, StateStatus, StorageStateRow};
use synod_model::{
    AgreementCause, AgreementChange, GroupResource, LogTime, Revision, StorageVersionHash, WallTime,
};
use synod_proto::storage::v1 as pb;

use super::migrations::{hashes_from_pb, hashes_to_pb};
use super::values::{
    kind, member_id, metadata_from_pb, metadata_to_pb, optional_version, persisted_from_pb,
    persisted_to_pb, resource_from_pb, resource_to_pb, storage_version_hash, text, version,
};
use super::{CodecError, rosters};

type Result<T> = std::result::Result<T, CodecError>;

pub(super) fn storage_state_to_pb(
    resource: &GroupResource,
    row: &StorageStateRow,
) -> pb::StorageStateRow {
    let status = &row.status;
    let drains = status.drains.iter();
    let hash_drains = status.hash_drains.iter();
    pb::StorageStateRow {
        resource: Some(resource_to_pb(resource)),
        metadata: Some(metadata_to_pb(&row.metadata)),
        common: text(status.common.as_ref()),
        selected: text(status.selected.as_ref()),
        selected_revision: status.selected_revision.get(),
        agreement_revision: status.agreement_revision.get(),
        agreed: text(status.agreed.as_ref()),
        persisted: status.persisted.iter().map(persisted_to_pb).collect(),
        observation: status.observation.as_ref().map(observation_to_pb),
        contradicted: status.contradicted,
        agreed_hash: status.agreed_hash.map(hash_to_pb).unwrap_or_default(),
        absent: rosters::absent_to_pb(&status.absent),
        on_trust_since: status.on_trust.map_or(0, Revision::get),
        heard: status.heard.iter().map(ToString::to_string).collect(),
        hash_drains: hash_drains
            .map(|(hash, until)| pb::HashDrain {
                hash: hash_to_pb(*hash),
                until_ms: until.as_millis(),
            })
            .collect(),
        drains: drains
            .map(|(version, until)| pb::Drain {
                version: version.to_string(),
                until_ms: until.as_millis(),
            })
            .collect(),
    }
}

pub(super) fn storage_state_from_pb(
    row: pb::StorageStateRow,
) -> Result<(GroupResource, StorageStateRow)> {
    let drains = row.drains.iter().map(|drain| {
        Ok((
            version("drains.version", &drain.version)?,
            LogTime::from_millis(drain.until_ms),
        ))
    });
    let hash_drains = row.hash_drains.iter().map(|drain| {
        Ok((
            storage_version_hash("hash_drains.hash", &drain.hash)?,
            LogTime::from_millis(drain.until_ms),
        ))
    });
    let agreed_hash = (!row.agreed_hash.is_empty())
        .then(|| storage_version_hash("agreed_hash", &row.agreed_hash));
    let status = StateStatus {
        common: optional_version("common", row.common.as_deref())?,
        selected: optional_version("selected", row.selected.as_deref())?,
        selected_revision: Revision::new(row.selected_revision),
        agreement_revision: Revision::new(row.agreement_revision),
        agreed: optional_version("agreed", row.agreed.as_deref())?,
        observation: row.observation.map(observation_from_pb).transpose()?,
        contradicted: row.contradicted,
        agreed_hash: agreed_hash.transpose()?,
        absent: rosters::absent_from_pb(row.absent)?,
        on_trust: (row.on_trust_since > 0).then(|| Revision::new(row.on_trust_since)),
        heard: rosters::members("heard", &row.heard)?,
        hash_drains: hash_drains.collect::<Result<_>>()?,
        drains: drains.collect::<Result<_>>()?,
        persisted: row
            .persisted
            .into_iter()
            .map(persisted_from_pb)
            .collect::<Result<_>>()?,
    };
    let metadata = metadata_from_pb(row.metadata)?;
    Ok((
        resource_from_pb(row.resource)?,
        StorageStateRow { metadata, status },
    ))
}

pub(super) fn agreement_to_pb(
    resource: &GroupResource,
    line: &AgreementChange,
) -> pb::AgreementRow {
    pb::AgreementRow {
        resource: Some(resource_to_pb(resource)),
        from: text(line.from.as_ref()),
        to: text(line.to.as_ref()),
        revision: line.revision.get(),
        at_ms: line.at.as_millis(),
        cause: line.cause.as_ref().map(cause_to_pb),
    }
}

pub(super) fn agreement_from_pb(row: pb::AgreementRow) -> Result<(GroupResource, AgreementChange)> {
    let line = AgreementChange {
        from: optional_version("from", row.from.as_deref())?,
        to: optional_version("to", row.to.as_deref())?,
        revision: Revision::new(row.revision),
        at: WallTime::from_millis(row.at_ms),
        cause: row.cause.map(cause_from_pb).transpose()?,
    };
    Ok((resource_from_pb(row.resource)?, line))
}

fn cause_to_pb(cause: &AgreementCause) -> pb::agreement_row::Cause {
    use pb::agreement_row::Cause as Pb;
    match cause {
        AgreementCause::Member(id) => Pb::Member(id.to_string()),
        AgreementCause::Observed => Pb::Observed(pb::Done {}),
        AgreementCause::Roster => Pb::Roster(pb::Done {}),
    }
}

fn cause_from_pb(cause: pb::agreement_row::Cause) -> Result<AgreementCause> {
    use pb::agreement_row::Cause as Pb;
    Ok(match cause {
        Pb::Member(id) => AgreementCause::Member(member_id("cause.member", &id)?),
        Pb::Observed(pb::Done {}) => AgreementCause::Observed,
        Pb::Roster(pb::Done {}) => AgreementCause::Roster,
    })
}

fn observation_to_pb(observation: &Observation) -> pb::Observation {
    pb::Observation {
        hashes: hashes_to_pb(&observation.hashes),
        kind: observation.kind.as_ref().map(ToString::to_string),
        expired: observation.expired,
        overtaken: observation.overtaken,
    }
}

fn observation_from_pb(observation: pb::Observation) -> Result<Observation> {
    let said = observation.kind.as_deref().map(kind);
    Ok(Observation {
        hashes: hashes_from_pb("observation.hashes", &observation.hashes)?,
        kind: said.transpose()?,
        expired: observation.expired,
        overtaken: observation.overtaken,
    })
}

fn hash_to_pb(hash: StorageVersionHash) -> bytes::Bytes {
    hash.as_bytes().to_vec().into()
}
