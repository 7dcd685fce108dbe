//! The rows of a checkpoint.

use std::sync::Arc;
use std::time::Duration;

use synod_machine::{Deadline, Holder, ReplicaId, ReplicaRow, Row, StatementHash, StatementRow};
use synod_model::{LogTime, MemberId, Revision};
use synod_proto::storage::v1 as pb;

use super::events::{events_from_pb, events_to_pb};
use super::leases::{
    candidate_from_pb, candidate_to_pb, contender_from_pb, contender_to_pb, lease_from_pb,
    lease_holder, lease_to_pb, place_from_pb, place_to_pb, waiter_from_pb, waiter_to_pb,
};
use super::objects::{
    collection_from_pb, collection_to_pb, garbage_from_pb, garbage_to_pb, key_from_pb, key_to_pb,
    object_from_pb, object_to_pb,
};
use super::outcomes::{outcome_from_pb, outcome_to_pb};
use super::storage_states::{
    agreement_from_pb, agreement_to_pb, storage_state_from_pb, storage_state_to_pb,
};
use super::storage_versions::{
    entry_from_pb, entry_to_pb, storage_version_from_pb, storage_version_to_pb,
};
use super::values::{
    cluster_id, digest, directory_id, member_from_pb, member_id, member_to_pb, millis, replica_id,
    required, resource_from_pb, resource_to_pb, sequence, session_id, settings_from_pb,
    settings_to_pb, sized, statement,
};
use super::{CodecError, controller_revisions, migrations, rosters};

type Result<T> = std::result::Result<T, CodecError>;

pub(super) fn row_to_pb(row: &Row) -> pb::Row {
    use pb::row::Row as Pb;
    let row = match row {
        Row::Header {
            cluster,
            machine_version,
            revision,
            log_time,
            lifted_at,
            history_floor,
            strangers_write_until,
            digest,
        } => Pb::Meta(pb::MetaRow {
            cluster_id: cluster
                .map(|cluster| cluster.as_bytes().to_vec())
                .unwrap_or_default()
                .into(),
            revision: revision.get(),
            log_time_ms: log_time.as_millis(),
            lifted_at_ms: lifted_at.as_millis(),
            machine_version: *machine_version,
            history_floor: history_floor.get(),
            strangers_write_until_ms: strangers_write_until.as_millis(),
            digest: digest.as_bytes().to_vec().into(),
        }),
        Row::Settings(settings) => Pb::Settings(settings_to_pb(settings)),
        Row::Replica(id, row) => Pb::Replica(replica_to_pb(*id, row)),
        Row::Member(member) => Pb::Member(member_to_pb(member)),
        Row::Deadline(holder, deadline) => Pb::Deadline(deadline_to_pb(holder, *deadline)),
        Row::Statement(member, said) => Pb::Statement(statement_to_pb(member, said)),
        Row::Session(id, lowest) => Pb::Session(pb::SessionRow {
            session: id.get(),
            lowest: lowest.get(),
        }),
        Row::Outcome(id, sequence, row) => Pb::Outcome(outcome_to_pb(*id, *sequence, row)),
        Row::StorageVersion(resource, row) => {
            Pb::StorageVersion(storage_version_to_pb(resource, row))
        }
        Row::Entry(resource, member, row) => Pb::Entry(entry_to_pb(resource, member, row)),
        Row::StorageState(resource, row) => Pb::StorageState(storage_state_to_pb(resource, row)),
        Row::Agreement(resource, line) => Pb::Agreement(agreement_to_pb(resource, line)),
        Row::Collection(row) => Pb::Collection(collection_to_pb(row)),
        Row::Object(object) => Pb::Object(object_to_pb(object)),
        Row::Garbage(uid, garbage) => Pb::Garbage(garbage_to_pb(uid, garbage)),
        Row::ControllerRevision(row) => {
            Pb::ControllerRevision(controller_revisions::row_to_pb(row))
        }
        Row::Lease(lease) => Pb::Lease(lease_to_pb(lease)),
        Row::LeaseWaiter(key, ticket, waiter) => {
            Pb::LeaseWaiter(waiter_to_pb(key, *ticket, waiter))
        }
        Row::LeaseCandidate(candidate) => Pb::LeaseCandidate(candidate_to_pb(candidate)),
        Row::Heartbeat(resource, heartbeat) => {
            Pb::Heartbeat(migrations::heartbeat_to_pb(resource, *heartbeat))
        }
        Row::Migration(migration) => Pb::Migration(migrations::row_to_pb(migration)),
        Row::MigrationProgress(id, row) => {
            Pb::MigrationProgress(migrations::progress_row_to_pb(id, row))
        }
        Row::Roster(roster) => Pb::Roster(rosters::row_to_pb(roster)),
        Row::Events(events) => Pb::Events(events_to_pb(events)),
    };
    pb::Row { row: Some(row) }
}

fn replica_to_pb(id: ReplicaId, row: &ReplicaRow) -> pb::ReplicaRow {
    pb::ReplicaRow {
        replica_id: id.get(),
        directory_id: row.directory.as_bytes().to_vec().into(),
        client_endpoint: row.client_endpoint.clone(),
        binary: row.binary.clone(),
        machine_version: row.machine_version,
        disk_is_low: row.disk_is_low,
    }
}

pub(super) fn row_from_pb(row: pb::Row) -> Result<Row> {
    use pb::row::Row as Pb;
    Ok(match required("row", row.row)? {
        Pb::Meta(meta) => header_from_pb(&meta)?,
        Pb::Settings(settings) => Row::Settings(Arc::new(settings_from_pb(settings)?)),
        Pb::Replica(row) => replica_from_pb(row)?,
        Pb::Member(member) => {
            Row::Member(member_from_pb(member).map_err(|fault| fault.within("member"))?)
        }
        Pb::Deadline(row) => deadline_from_pb(&row)?,
        Pb::Statement(row) => statement_from_pb(&row)?,
        Pb::Session(row) => Row::Session(
            session_id(row.session),
            sequence("session.lowest", row.lowest)?,
        ),
        Pb::Outcome(row) => {
            let (id, sequence, row) =
                outcome_from_pb(row).map_err(|fault| fault.within("outcome"))?;
            Row::Outcome(id, sequence, Arc::new(row))
        }
        Pb::StorageVersion(row) => {
            let (resource, row) =
                storage_version_from_pb(row).map_err(|fault| fault.within("storage_version"))?;
            Row::StorageVersion(resource, Arc::new(row))
        }
        Pb::Entry(row) => {
            let (resource, member, row) =
                entry_from_pb(row).map_err(|fault| fault.within("entry"))?;
            Row::Entry(resource, member, Arc::new(row))
        }
        Pb::StorageState(row) => {
            let (resource, row) =
                storage_state_from_pb(row).map_err(|fault| fault.within("storage_state"))?;
            Row::StorageState(resource, Arc::new(row))
        }
        Pb::Agreement(row) => {
            let (resource, line) =
                agreement_from_pb(row).map_err(|fault| fault.within("agreement"))?;
            Row::Agreement(resource, Arc::new(line))
        }
        Pb::Collection(row) => {
            Row::Collection(collection_from_pb(row).map_err(|fault| fault.within("collection"))?)
        }
        Pb::Object(object) => {
            Row::Object(object_from_pb(object).map_err(|fault| fault.within("object"))?)
        }
        Pb::Garbage(row) => {
            let (uid, garbage) = garbage_from_pb(row).map_err(|fault| fault.within("garbage"))?;
            Row::Garbage(uid, garbage)
        }
        Pb::ControllerRevision(row) => Row::ControllerRevision(
            controller_revisions::row_from_pb(row)
                .map_err(|fault| fault.within("controller_revision"))?,
        ),
        Pb::Lease(row) => Row::Lease(lease_from_pb(row).map_err(|fault| fault.within("lease"))?),
        Pb::LeaseWaiter(row) => {
            waiter_from_pb(row).map_err(|fault| fault.within("lease_waiter"))?
        }
        Pb::LeaseCandidate(row) => Row::LeaseCandidate(
            candidate_from_pb(row).map_err(|fault| fault.within("lease_candidate"))?,
        ),
        Pb::Heartbeat(row) => migrations::heartbeat_from_pb(row)?,
        Pb::Migration(row) => Row::Migration(migrations::shared_row_from_pb(row)?),
        Pb::MigrationProgress(row) => migrations::progress_row_from_pb(row)?,
        Pb::Roster(row) => Row::Roster(rosters::row_from_pb(row)?),
        Pb::Events(row) => Row::Events(Arc::new(
            events_from_pb(row).map_err(|fault| fault.within("events"))?,
        )),
    })
}

fn replica_from_pb(row: pb::ReplicaRow) -> Result<Row> {
    let replica = ReplicaRow {
        directory: directory_id("replica.directory_id", &row.directory_id)?,
        client_endpoint: row.client_endpoint,
        binary: row.binary,
        machine_version: row.machine_version,
        disk_is_low: row.disk_is_low,
    };
    Ok(Row::Replica(replica_id(row.replica_id), replica))
}

fn header_from_pb(meta: &pb::MetaRow) -> Result<Row> {
    let cluster =
        (!meta.cluster_id.is_empty()).then(|| cluster_id("meta.cluster_id", &meta.cluster_id));
    Ok(Row::Header {
        cluster: cluster.transpose()?,
        machine_version: meta.machine_version,
        revision: Revision::new(meta.revision),
        log_time: LogTime::from_millis(meta.log_time_ms),
        lifted_at: LogTime::from_millis(meta.lifted_at_ms),
        history_floor: Revision::new(meta.history_floor),
        strangers_write_until: LogTime::from_millis(meta.strangers_write_until_ms),
        digest: digest("meta.digest", &meta.digest)?,
    })
}

fn statement_to_pb(member: &MemberId, said: &StatementRow) -> pb::StatementRow {
    pb::StatementRow {
        member: member.to_string(),
        number: said.number.get(),
        content: said.content.as_bytes().to_vec().into(),
    }
}

fn statement_from_pb(row: &pb::StatementRow) -> Result<Row> {
    let member = member_id("statement.member", &row.member)?;
    let number = statement("statement.number", row.number)?;
    let content = StatementHash::from_bytes(sized("statement.content", &row.content)?);
    Ok(Row::Statement(member, StatementRow { number, content }))
}

fn deadline_to_pb(holder: &Holder, deadline: Deadline) -> pb::DeadlineRow {
    let holder = match holder {
        Holder::Member(id) => pb::deadline_row::Holder::Member(id.to_string()),
        Holder::Session(id) => pb::deadline_row::Holder::Session(id.get()),
        Holder::Unreported(id) => pb::deadline_row::Holder::Unreported(id.to_string()),
        Holder::Lease(key) => pb::deadline_row::Holder::Lease(key.to_string()),
        Holder::LeaseWaiter(key, ticket) => {
            pb::deadline_row::Holder::LeaseWaiter(place_to_pb(key, *ticket))
        }
        Holder::LeaseCandidate(key, identity) => {
            pb::deadline_row::Holder::LeaseCandidate(contender_to_pb(key, identity))
        }
        Holder::Object(key) => pb::deadline_row::Holder::Object(key_to_pb(key)),
        Holder::Claim(id) => pb::deadline_row::Holder::Claim(migrations::id_to_pb(id)),
        Holder::Retry(id) => pb::deadline_row::Holder::Retry(migrations::id_to_pb(id)),
        Holder::Observation(resource) => {
            pb::deadline_row::Holder::Observation(resource_to_pb(resource))
        }
        Holder::Mark(key, mark) => {
            pb::deadline_row::Holder::Mark(controller_revisions::renewed_to_pb(key, mark))
        }
    };
    pb::DeadlineRow {
        holder: Some(holder),
        at_ms: deadline.at.as_millis(),
        ttl_ms: millis(deadline.ttl),
    }
}

fn deadline_from_pb(row: &pb::DeadlineRow) -> Result<Row> {
    let holder = match required("deadline.holder", row.holder.as_ref())? {
        pb::deadline_row::Holder::Member(id) => Holder::Member(member_id("deadline.member", id)?),
        pb::deadline_row::Holder::Session(id) => Holder::Session(session_id(*id)),
        pb::deadline_row::Holder::Unreported(id) => {
            Holder::Unreported(member_id("deadline.unreported", id)?)
        }
        pb::deadline_row::Holder::Lease(key) => lease_holder(key)?,
        pb::deadline_row::Holder::LeaseWaiter(place) => {
            let (key, ticket) = place_from_pb(place)?;
            Holder::LeaseWaiter(key, ticket)
        }
        pb::deadline_row::Holder::LeaseCandidate(candidate) => {
            let (key, identity) = contender_from_pb(Some(candidate.clone()))?;
            Holder::LeaseCandidate(key, identity)
        }
        pb::deadline_row::Holder::Object(key) => {
            let key = key_from_pb(Some(key.clone()));
            Holder::Object(key.map_err(|fault| fault.within("deadline"))?)
        }
        pb::deadline_row::Holder::Claim(id) => {
            Holder::Claim(migrations::id_from_pb(Some(id.clone()))?)
        }
        pb::deadline_row::Holder::Retry(id) => {
            Holder::Retry(migrations::id_from_pb(Some(id.clone()))?)
        }
        pb::deadline_row::Holder::Observation(resource) => {
            Holder::Observation(resource_from_pb(Some(resource.clone()))?)
        }
        pb::deadline_row::Holder::Mark(mark) => {
            let renewed = controller_revisions::renewed_from_pb(mark.clone());
            let (key, mark) = renewed.map_err(|fault| fault.within("deadline"))?;
            Holder::Mark(key, mark)
        }
    };
    let deadline = Deadline {
        at: LogTime::from_millis(row.at_ms),
        ttl: Duration::from_millis(row.ttl_ms),
    };
    Ok(Row::Deadline(holder, deadline))
}
