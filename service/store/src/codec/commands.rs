//! Log entries and their commands.

mod expire;
mod objects;

use std::sync::Arc;
use std::time::Duration;

use synod_machine::{
    AnnounceReplica, CollectGarbage, Command, Envelope, Initialize, LogEntry, RaiseMachineVersion,
    ReplicaId, Restore,
};
use synod_model::{
    Adopt, CloseSession, Epoch, ForgetResource, Join, Leave, LogTime, MarkReady, MemberId,
    OpenSession, Renew, Report, ReportEntry, RequestId, Revision, SettingsPatch, UpdateSettings,
    WallTime,
};
use synod_proto::storage::v1 as pb;

use super::leases::{
    acquire_from_pb, acquire_to_pb, put_candidate_from_pb, put_candidate_to_pb, release_from_pb,
    release_to_pb, renew_candidate_from_pb, renew_candidate_to_pb, renew_from_pb, renew_to_pb,
    withdraw_candidate_from_pb, withdraw_candidate_to_pb,
};
use super::values::{
    binary_version, cluster_id, directory_id, endpoint, epoch, instance, kind, labels_from_pb,
    labels_to_pb, member_id, millis, parsed, replica_id, required, resource_from_pb,
    resource_to_pb, resources_from_pb, sequence, session_id, settings_from_pb, settings_to_pb,
    stance_from_pb, stance_to_pb, statement, texts, ttl, version_set,
};
use super::{CodecError, controller_revisions as revisions, migrations, rosters};

type Result<T> = std::result::Result<T, CodecError>;

pub(super) fn log_entry_to_pb(entry: &LogEntry) -> pb::LogEntry {
    pb::LogEntry {
        log_time_ms: entry.log_time.as_millis(),
        lift_deadlines: entry.lift_deadlines,
        wall_ms: entry.wall.as_millis(),
        commands: entry.commands.iter().map(envelope_to_pb).collect(),
    }
}

pub(super) fn log_entry_from_pb(entry: pb::LogEntry) -> Result<LogEntry> {
    Ok(LogEntry {
        log_time: LogTime::from_millis(entry.log_time_ms),
        lift_deadlines: entry.lift_deadlines,
        wall: WallTime::from_millis(entry.wall_ms),
        commands: entry
            .commands
            .into_iter()
            .map(envelope_from_pb)
            .collect::<Result<_>>()?,
    })
}

pub(super) fn envelope_to_pb(envelope: &Envelope) -> pb::Envelope {
    let request = envelope.request.map(|request| pb::RequestId {
        session: request.session.get(),
        sequence: request.sequence.get(),
        lowest_unanswered: request.lowest_unanswered.get(),
    });
    pb::Envelope {
        request,
        command: Some(command_to_pb(&envelope.command)),
    }
}

pub(super) fn envelope_from_pb(envelope: pb::Envelope) -> Result<Envelope> {
    let command = command_from_pb(required("command", envelope.command)?)?;
    let request = envelope.request.map(request_from_pb).transpose()?;
    Ok(Envelope {
        request,
        command: Arc::new(command),
    })
}

fn request_from_pb(request: pb::RequestId) -> Result<RequestId> {
    let own = sequence("request.sequence", request.sequence)?;
    let lowest = sequence("request.lowest_unanswered", request.lowest_unanswered)?;
    parsed(
        "request",
        RequestId::new(session_id(request.session), own, lowest),
    )
}

fn command_to_pb(command: &Command) -> pb::envelope::Command {
    use pb::envelope::Command as Pb;
    match command {
        Command::Initialize(initialize) => Pb::Initialize(initialize_to_pb(initialize)),
        Command::Restore(restore) => Pb::Restore(restore_to_pb(restore)),
        Command::AnnounceReplica(announce) => Pb::AnnounceReplica(announce_to_pb(announce)),
        Command::RaiseMachineVersion(raise) => Pb::RaiseMachineVersion(raise_to_pb(raise)),
        Command::OpenSession(OpenSession {}) => Pb::OpenSession(pb::OpenSession {}),
        Command::CloseSession(close) => Pb::CloseSession(pb::CloseSession {
            session: close.session.get(),
        }),
        Command::Join(join) => Pb::Join(join_to_pb(join)),
        Command::Renew(renew) => Pb::Renew(pb::Renew {
            member: who(&renew.member, renew.epoch),
        }),
        Command::MarkReady(ready) => Pb::MarkReady(pb::MarkReady {
            member: who(&ready.member, ready.epoch),
        }),
        Command::Leave(leave) => Pb::Leave(leave_to_pb(leave)),
        Command::Report(report) => Pb::Report(report_to_pb(report)),
        Command::Adopt(adopt) => Pb::Adopt(adopt_to_pb(adopt)),
        Command::ForgetResource(forget) => Pb::ForgetResource(pb::ForgetResource {
            resource: Some(resource_to_pb(&forget.resource)),
            if_revision: forget.if_revision.map(Revision::get),
        }),
        Command::Expire(expire) => Pb::Expire(expire::to_pb(expire)),
        Command::UpdateSettings(update) => Pb::UpdateSettings(update_to_pb(update)),
        Command::CreateCollection(create) => objects::create_collection_to_pb(create),
        Command::UpdateCollection(update) => objects::update_collection_to_pb(update),
        Command::DeleteCollection(delete) => objects::delete_collection_to_pb(delete),
        Command::CreateObject(create) => Pb::CreateObject(objects::create_to_pb(create)),
        Command::UpdateObject(update) => Pb::UpdateObject(objects::update_to_pb(update)),
        Command::PatchObject(patch) => Pb::PatchObject(objects::patch_to_pb(patch)),
        Command::DeleteObject(delete) => Pb::DeleteObject(objects::delete_to_pb(delete)),
        Command::Transact(transact) => Pb::Transact(objects::transact_to_pb(transact)),
        Command::CollectGarbage(CollectGarbage {}) => Pb::CollectGarbage(pb::CollectGarbage {}),
        Command::CreateControllerRevision(create) => revisions::create_to_pb(create),
        Command::UpdateControllerRevision(update) => revisions::update_to_pb(update),
        Command::RollbackControllerRevision(rollback) => revisions::rollback_to_pb(rollback),
        Command::MarkControllerRevisions(marking) => revisions::mark_to_pb(marking),
        Command::TruncateControllerRevisions(truncate) => revisions::truncate_to_pb(truncate),
        Command::DeleteControllerRevisions(delete) => revisions::delete_to_pb(delete),
        Command::AdoptControllerRevisions(adopt) => revisions::adopt_to_pb(adopt),
        Command::ReleaseControllerRevision(release) => revisions::release_to_pb(release),
        Command::AcquireLease(acquire) => Pb::AcquireLease(acquire_to_pb(acquire)),
        Command::RenewLease(renew) => Pb::RenewLease(renew_to_pb(renew)),
        Command::ReleaseLease(release) => Pb::ReleaseLease(release_to_pb(release)),
        Command::PutLeaseCandidate(put) => Pb::PutLeaseCandidate(put_candidate_to_pb(put)),
        Command::RenewLeaseCandidate(renew) => {
            Pb::RenewLeaseCandidate(renew_candidate_to_pb(renew))
        }
        Command::WithdrawLeaseCandidate(withdraw) => {
            Pb::WithdrawLeaseCandidate(withdraw_candidate_to_pb(withdraw))
        }
        Command::StartMigration(start) => migrations::start_to_pb(start),
        Command::ClaimMigration(claim) => migrations::claim_to_pb(claim),
        Command::ReportMigrationProgress(report) => migrations::report_to_pb(report),
        Command::CompleteMigration(complete) => migrations::complete_to_pb(complete),
        Command::FailMigration(fail) => migrations::fail_to_pb(fail),
        Command::AbortMigration(abort) => migrations::abort_to_pb(abort),
        Command::RetryMigration(retry) => migrations::retry_to_pb(retry),
        Command::ObserveStorage(observe) => migrations::observe_to_pb(observe),
        Command::ResetStorageStates(reset) => migrations::reset_to_pb(reset),
        Command::SetRoster(set) => rosters::set_to_pb(set),
        Command::DeleteRoster(delete) => rosters::delete_to_pb(delete),
    }
}

fn command_from_pb(command: pb::envelope::Command) -> Result<Command> {
    use pb::envelope::Command as Pb;
    Ok(match command {
        Pb::Initialize(initialize) => Command::Initialize(initialize_from_pb(initialize)?),
        Pb::AnnounceReplica(announce) => Command::AnnounceReplica(announce_from_pb(announce)?),
        Pb::RaiseMachineVersion(raise) => Command::RaiseMachineVersion(raise_from_pb(raise)),
        Pb::OpenSession(pb::OpenSession {}) => Command::OpenSession(OpenSession {}),
        Pb::CloseSession(close) => Command::CloseSession(CloseSession {
            session: session_id(close.session),
        }),
        Pb::Join(join) => Command::Join(join_from_pb(join).map_err(|fault| fault.within("join"))?),
        Pb::Renew(renew) => {
            let (member, epoch) = who_from_pb(renew.member)?;
            Command::Renew(Renew { member, epoch })
        }
        Pb::MarkReady(ready) => Command::MarkReady(mark_ready_from_pb(ready)?),
        Pb::Leave(leave) => Command::Leave(leave_from_pb(leave)?),
        Pb::Report(report) => {
            Command::Report(report_from_pb(report).map_err(|fault| fault.within("report"))?)
        }
        Pb::Adopt(adopt) => Command::Adopt(adopt_from_pb(adopt)?),
        Pb::ForgetResource(forget) => Command::ForgetResource(ForgetResource {
            resource: resource_from_pb(forget.resource)?,
            if_revision: forget.if_revision.map(Revision::new),
        }),
        Pb::Expire(expire) => {
            Command::Expire(expire::from_pb(expire).map_err(|fault| fault.within("expire"))?)
        }
        Pb::UpdateSettings(update) => Command::UpdateSettings(update_from_pb(update)?),
        Pb::CreateCollection(create) => objects::create_collection_from_pb(create)?,
        Pb::UpdateCollection(update) => objects::update_collection_from_pb(update)?,
        Pb::DeleteCollection(delete) => objects::delete_collection_from_pb(delete)?,
        Pb::CreateObject(create) => Command::CreateObject(objects::create_from_pb(create)?),
        Pb::UpdateObject(update) => Command::UpdateObject(objects::update_from_pb(update)?),
        Pb::PatchObject(patch) => Command::PatchObject(objects::patch_from_pb(patch)?),
        Pb::DeleteObject(delete) => Command::DeleteObject(objects::delete_from_pb(delete)?),
        Pb::Transact(transact) => Command::Transact(objects::transact_from_pb(transact)?),
        Pb::CollectGarbage(pb::CollectGarbage {}) => Command::CollectGarbage(CollectGarbage {}),
        Pb::CreateControllerRevision(create) => revisions::create_from_pb(create)?,
        Pb::UpdateControllerRevision(update) => revisions::update_from_pb(update)?,
        Pb::RollbackControllerRevision(rollback) => revisions::rollback_from_pb(rollback)?,
        Pb::MarkControllerRevisions(marking) => revisions::mark_from_pb(marking)?,
        Pb::TruncateControllerRevisions(truncate) => revisions::truncate_from_pb(truncate)?,
        Pb::DeleteControllerRevisions(delete) => revisions::delete_from_pb(delete)?,
        Pb::AdoptControllerRevisions(adopt) => revisions::adopt_from_pb(adopt)?,
        Pb::ReleaseControllerRevision(release) => revisions::release_from_pb(release)?,
        Pb::AcquireLease(acquire) => acquire_from_pb(acquire)?,
        Pb::RenewLease(renew) => renew_from_pb(&renew)?,
        Pb::ReleaseLease(release) => release_from_pb(&release)?,
        Pb::PutLeaseCandidate(put) => put_candidate_from_pb(&put)?,
        Pb::RenewLeaseCandidate(renew) => renew_candidate_from_pb(renew)?,
        Pb::WithdrawLeaseCandidate(withdraw) => withdraw_candidate_from_pb(withdraw)?,
        Pb::StartMigration(start) => migrations::start_from_pb(start)?,
        Pb::ClaimMigration(claim) => migrations::claim_from_pb(claim)?,
        Pb::ReportMigrationProgress(report) => migrations::report_from_pb(report)?,
        Pb::CompleteMigration(complete) => migrations::complete_from_pb(complete)?,
        Pb::FailMigration(fail) => migrations::fail_from_pb(fail)?,
        Pb::AbortMigration(abort) => migrations::abort_from_pb(abort)?,
        Pb::RetryMigration(retry) => migrations::retry_from_pb(retry)?,
        Pb::ObserveStorage(observe) => migrations::observe_from_pb(observe)?,
        Pb::ResetStorageStates(reset) => migrations::reset_from_pb(reset)?,
        Pb::SetRoster(set) => rosters::set_from_pb(set)?,
        Pb::DeleteRoster(delete) => rosters::delete_from_pb(&delete)?,
        Pb::Restore(restore) => Command::Restore(restore_from_pb(&restore)?),
    })
}

fn initialize_to_pb(initialize: &Initialize) -> pb::Initialize {
    pb::Initialize {
        cluster_id: initialize.cluster.as_bytes().to_vec().into(),
        settings: Some(settings_to_pb(&initialize.settings)),
    }
}

fn initialize_from_pb(initialize: pb::Initialize) -> Result<Initialize> {
    Ok(Initialize {
        cluster: cluster_id("initialize.cluster_id", &initialize.cluster_id)?,
        settings: settings_from_pb(required("initialize.settings", initialize.settings)?)?,
    })
}

fn restore_to_pb(restore: &Restore) -> pb::Restore {
    pb::Restore {
        cluster_id: restore.cluster.as_bytes().to_vec().into(),
    }
}

fn restore_from_pb(restore: &pb::Restore) -> Result<Restore> {
    Ok(Restore {
        cluster: cluster_id("restore.cluster_id", &restore.cluster_id)?,
    })
}

fn raise_to_pb(raise: &RaiseMachineVersion) -> pb::RaiseMachineVersion {
    pb::RaiseMachineVersion {
        to: raise.to,
        replica_ids: raise.replicas.iter().map(|id| id.get()).collect(),
    }
}

/// The version to use from then on, and the replica set that must know it.
fn raise_from_pb(raise: pb::RaiseMachineVersion) -> RaiseMachineVersion {
    RaiseMachineVersion {
        to: raise.to,
        replicas: raise.replica_ids.into_iter().map(ReplicaId::new).collect(),
    }
}

/// The member that is ready, under its epoch.
fn mark_ready_from_pb(ready: pb::MarkReady) -> Result<MarkReady> {
    let (member, epoch) = who_from_pb(ready.member)?;
    Ok(MarkReady { member, epoch })
}

fn leave_to_pb(leave: &Leave) -> pb::Leave {
    pb::Leave {
        member: who(&leave.member, leave.epoch),
        drained: leave.drained,
    }
}

fn leave_from_pb(leave: pb::Leave) -> Result<Leave> {
    let (member, epoch) = who_from_pb(leave.member)?;
    Ok(Leave {
        member,
        epoch,
        drained: leave.drained,
    })
}

fn announce_to_pb(announce: &AnnounceReplica) -> pb::AnnounceReplica {
    pb::AnnounceReplica {
        replica_id: announce.replica.get(),
        directory_id: announce.directory.as_bytes().to_vec().into(),
        client_endpoint: announce.client_endpoint.clone(),
        binary: announce.binary.clone(),
        machine_version: announce.machine_version,
        disk_is_low: announce.disk_is_low,
    }
}

fn announce_from_pb(announce: pb::AnnounceReplica) -> Result<AnnounceReplica> {
    Ok(AnnounceReplica {
        replica: replica_id(announce.replica_id),
        directory: directory_id("announce_replica.directory_id", &announce.directory_id)?,
        client_endpoint: announce.client_endpoint,
        binary: announce.binary,
        machine_version: announce.machine_version,
        disk_is_low: announce.disk_is_low,
    })
}

fn adopt_to_pb(adopt: &Adopt) -> pb::Adopt {
    pb::Adopt {
        member: who(&adopt.member, adopt.epoch),
        resource: Some(resource_to_pb(&adopt.resource)),
        selected_revision: adopt.selected_revision.get(),
        number: adopt.number.get(),
    }
}

fn adopt_from_pb(adopt: pb::Adopt) -> Result<Adopt> {
    let (member, epoch) = who_from_pb(adopt.member)?;
    Ok(Adopt {
        member,
        epoch,
        number: statement("adopt.number", adopt.number)?,
        resource: resource_from_pb(adopt.resource)?,
        selected_revision: Revision::new(adopt.selected_revision),
    })
}

fn who(member: &MemberId, epoch: Epoch) -> Option<pb::MemberEpoch> {
    Some(pb::MemberEpoch {
        member: member.to_string(),
        epoch: epoch.get(),
    })
}

fn who_from_pb(member: Option<pb::MemberEpoch>) -> Result<(MemberId, Epoch)> {
    let member = required("member", member)?;
    Ok((member_id("member", &member.member)?, epoch(member.epoch)))
}

fn join_to_pb(join: &Join) -> pb::Join {
    pb::Join {
        id: join.id.to_string(),
        instance: join.instance.to_string(),
        ttl_ms: join.ttl.as_millis(),
        labels: labels_to_pb(&join.labels),
        version: join.version.to_string(),
        endpoint: join.endpoint.to_string(),
        lost_epoch: join.lost_epoch.map(Epoch::get),
    }
}

fn join_from_pb(join: pb::Join) -> Result<Join> {
    Ok(Join {
        id: member_id("id", &join.id)?,
        instance: instance(&join.instance)?,
        ttl: ttl(join.ttl_ms)?,
        labels: labels_from_pb(&join.labels)?,
        version: binary_version(&join.version)?,
        endpoint: endpoint(&join.endpoint)?,
        lost_epoch: join.lost_epoch.map(epoch),
    })
}

fn report_to_pb(report: &Report) -> pb::Report {
    let entries = report.entries.iter().map(|entry| pb::ReportEntry {
        resource: Some(resource_to_pb(&entry.resource)),
        kind: entry.kind.to_string(),
        decodable: texts(&entry.decodable),
        served: texts(&entry.served),
        stance: Some(stance_to_pb(&entry.stance)),
    });
    pb::Report {
        member: who(&report.member, report.epoch),
        entries: entries.collect(),
        replace: report.replace,
        number: report.number.get(),
    }
}

fn report_from_pb(report: pb::Report) -> Result<Report> {
    let (member, epoch) = who_from_pb(report.member)?;
    let entries = report.entries.into_iter().map(|entry| {
        Ok(ReportEntry {
            resource: resource_from_pb(entry.resource)?,
            kind: kind(&entry.kind)?,
            decodable: version_set("decodable", &entry.decodable)?,
            served: version_set("served", &entry.served)?,
            stance: stance_from_pb(entry.stance)?,
        })
    });
    Ok(Report {
        member,
        epoch,
        number: statement("report.number", report.number)?,
        entries: entries.collect::<Result<_>>()?,
        replace: report.replace,
    })
}

fn update_to_pb(update: &UpdateSettings) -> pb::UpdateSettings {
    let UpdateSettings { patch, if_revision } = update;
    let resources = patch.enforce_persisted.as_ref();
    pb::UpdateSettings {
        history_revisions: patch.history_revisions,
        history_bytes: patch.history_bytes,
        write_grace_ms: patch.write_grace.map(millis),
        unreported_grace_ms: patch.unreported_grace.map(millis),
        session_ttl_ms: patch.session_ttl.map(millis),
        session_outcomes: patch.session_outcomes,
        sessions_max: patch.sessions_max,
        members_max: patch.members_max,
        report_entries_max: patch.report_entries_max,
        agreements_kept: patch.agreements_kept,
        state_quota_bytes: patch.state_quota_bytes,
        migrations_kept: patch.migrations_kept,
        discovery_period_ms: patch.discovery_period.map(millis),
        enforce_persisted: resources.map(|resources| pb::GroupResourceList {
            items: resources.iter().map(resource_to_pb).collect(),
        }),
        if_revision: if_revision.map(Revision::get),
    }
}

fn update_from_pb(update: pb::UpdateSettings) -> Result<UpdateSettings> {
    let resources = update.enforce_persisted;
    let patch = SettingsPatch {
        history_revisions: update.history_revisions,
        history_bytes: update.history_bytes,
        write_grace: update.write_grace_ms.map(Duration::from_millis),
        unreported_grace: update.unreported_grace_ms.map(Duration::from_millis),
        session_ttl: update.session_ttl_ms.map(Duration::from_millis),
        session_outcomes: update.session_outcomes,
        sessions_max: update.sessions_max,
        members_max: update.members_max,
        report_entries_max: update.report_entries_max,
        agreements_kept: update.agreements_kept,
        state_quota_bytes: update.state_quota_bytes,
        migrations_kept: update.migrations_kept,
        discovery_period: update.discovery_period_ms.map(Duration::from_millis),
        enforce_persisted: resources
            .map(|list| resources_from_pb("update_settings.enforce_persisted", list.items))
            .transpose()?,
    };
    Ok(UpdateSettings {
        patch,
        if_revision: update.if_revision.map(Revision::new),
    })
}
