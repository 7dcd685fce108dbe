//! The reported resources and the entries of their members.

use synod_machine::{EntryRow, StorageVersionRow, VersionStatus};
use synod_model::{GroupResource, MemberId, Revision};
use synod_proto::storage::v1 as pb;

use super::CodecError;
use super::values::{
    condition_from_pb, condition_to_pb, kind, member_id, metadata_from_pb, metadata_to_pb,
    optional_version, resource_from_pb, resource_to_pb, stance_from_pb, stance_to_pb, text, texts,
    version_set, versions,
};

type Result<T> = std::result::Result<T, CodecError>;

pub(super) fn storage_version_to_pb(
    resource: &GroupResource,
    row: &StorageVersionRow,
) -> pb::StorageVersionRow {
    let status = &row.status;
    pb::StorageVersionRow {
        resource: Some(resource_to_pb(resource)),
        metadata: Some(metadata_to_pb(&row.metadata)),
        common: text(status.common.as_ref()),
        selected: text(status.selected.as_ref()),
        selected_revision: status.selected_revision.get(),
        agreement_revision: status.agreement_revision.get(),
        agreed: text(status.agreed.as_ref()),
        decodable_by_all: texts(&status.decodable_by_all),
        served_by_all: texts(&status.served_by_all),
        all_equal: Some(condition_to_pb(&status.all_equal)),
        decodable: Some(condition_to_pb(&status.decodable)),
    }
}

pub(super) fn storage_version_from_pb(
    row: pb::StorageVersionRow,
) -> Result<(GroupResource, StorageVersionRow)> {
    let status = VersionStatus {
        common: optional_version("common", row.common.as_deref())?,
        selected: optional_version("selected", row.selected.as_deref())?,
        selected_revision: Revision::new(row.selected_revision),
        agreement_revision: Revision::new(row.agreement_revision),
        agreed: optional_version("agreed", row.agreed.as_deref())?,
        decodable_by_all: versions("decodable_by_all", &row.decodable_by_all)?,
        served_by_all: versions("served_by_all", &row.served_by_all)?,
        all_equal: condition_from_pb("all_equal", row.all_equal)?,
        decodable: condition_from_pb("decodable", row.decodable)?,
    };
    let metadata = metadata_from_pb(row.metadata)?;
    Ok((
        resource_from_pb(row.resource)?,
        StorageVersionRow { metadata, status },
    ))
}

pub(super) fn entry_to_pb(
    resource: &GroupResource,
    member: &MemberId,
    row: &EntryRow,
) -> pb::EntryRow {
    pb::EntryRow {
        resource: Some(resource_to_pb(resource)),
        member: member.to_string(),
        kind: row.kind.to_string(),
        decodable: texts(&row.decodable),
        served: texts(&row.served),
        stance: Some(stance_to_pb(&row.stance)),
        encoding: text(row.encoding.as_ref()),
        adopted_revision: row.adopted_revision.map(Revision::get),
        since: row.since.get(),
    }
}

pub(super) fn entry_from_pb(row: pb::EntryRow) -> Result<(GroupResource, MemberId, EntryRow)> {
    let entry = EntryRow {
        kind: kind(&row.kind)?,
        decodable: version_set("decodable", &row.decodable)?,
        served: version_set("served", &row.served)?,
        stance: stance_from_pb(row.stance)?,
        encoding: optional_version("encoding", row.encoding.as_deref())?,
        adopted_revision: row.adopted_revision.map(Revision::new),
        since: Revision::new(row.since),
    };
    Ok((
        resource_from_pb(row.resource)?,
        member_id("member", &row.member)?,
        entry,
    ))
}
