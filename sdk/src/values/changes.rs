//! The answers to changing calls, and to small reads.

use std::time::Duration;

use synod_model::{
    AgreementChange, ApiVersion, Epoch, GroupResource, Identity, Revision, Settings, WallTime,
};
use synod_proto::{messages, v1};

use super::Header;

/// The answer to a change that was made, now or before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// The replica that answered, and its revision.
    pub header: Header,
    /// False if nothing had to be changed.
    pub changed: bool,
}

/// The answer to a join.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Joined {
    /// The replica that answered, and its revision.
    pub header: Header,
    /// The member's fencing token.
    pub epoch: Epoch,
    /// How long the member is kept after a renewal.
    pub ttl: Duration,
    /// False if this instance was a member already, and got its epoch back.
    pub changed: bool,
    /// How long a write may still land after its proof of membership has ended: the setting at the header's revision,
    /// or later.
    pub write_grace: Duration,
}

/// The answer to a renewal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Renewed {
    /// The replica that answered, and its revision. A renewal does not change the revision.
    pub header: Header,
    /// How long the member is kept from this renewal on.
    pub ttl: Duration,
}

/// The answer to a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reported {
    /// The replica that answered, and its revision.
    pub header: Header,
    /// False if the report changed nothing.
    pub changed: bool,
    /// The state of each reported resource, in the order of the report.
    pub resources: Vec<ReportedResource>,
}

/// The state of a reported resource for the member, right after the report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportedResource {
    /// The resource.
    pub resource: GroupResource,
    /// The version in which the member's entry encodes now. `None`: the entry votes and nothing is selected.
    pub encoding: Option<ApiVersion>,
    /// The version that is selected, if one is.
    pub selected: Option<ApiVersion>,
    /// The revision at which `selected` last changed; zero if it is unset.
    pub selected_revision: Revision,
    /// The `selected_revision` that the entry took or adopted last: if it differs, the member has yet to adopt. `None`
    /// for a fixed entry, and for a voter while nothing is selected.
    pub adopted_revision: Option<Revision>,
}

/// The replicated settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingsView {
    /// The replica that answered, and its revision.
    pub header: Header,
    /// The settings.
    pub settings: Settings,
}

/// The newest kept revision at or before a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RevisionAtTime {
    /// The replica that answered, and its revision.
    pub header: Header,
    /// The revision. What happened after the time begins at the next one.
    pub revision: Revision,
    /// The leader's wall clock at the revision.
    pub time: WallTime,
    /// The proved identity of the caller whose change made the revision, as in [`Events`](crate::Events).
    pub caller: Option<Identity>,
}

/// A checkpoint that a replica has written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckpointWritten {
    /// The replica that has written it, and its revision.
    pub header: Header,
    /// The last log index that the checkpoint covers.
    pub index: u64,
}

/// What the members of a resource agreed on, change by change, oldest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgreementHistory {
    /// The replica that answered, and its revision.
    pub header: Header,
    /// The changes. The setting `agreements_kept` says how many are kept.
    pub changes: Vec<AgreementChange>,
}

messages! {
    v1::MembershipJoinResponse = Joined {
        header = header,
        epoch = epoch,
        ttl = ttl_ms,
        changed = changed,
        write_grace = write_grace_ms,
    }
    v1::StorageVersionsReportResponse = Reported {
        header = header,
        changed = changed,
        resources = resources,
    }
    v1::ReportedResource = ReportedResource {
        resource = resource,
        encoding = encoding_version,
        selected = selected_version,
        selected_revision = selected_revision,
        adopted_revision = adopted_revision,
    }
    v1::ClusterGetSettingsResponse = SettingsView {
        header = header,
        settings = settings,
    }
    v1::ClusterRevisionAtResponse = RevisionAtTime {
        header = header,
        revision = revision,
        time = time_ms,
        caller = caller,
    }
    v1::ClusterCheckpointResponse = CheckpointWritten {
        header = header,
        index = index,
    }
    v1::StorageVersionsHistoryResponse = AgreementHistory {
        header = header,
        changes = changes,
    }
    v1::ControllerRevisionsUpdateResponse = Changed {
        header = header,
        changed = changed,
        ; ..Default::default()
    }
}

messages! {
    v1::ClusterAddReplicaResponse, v1::ClusterPromoteReplicaResponse,
    v1::ClusterRemoveReplicaResponse, v1::ClusterTransferLeaderResponse,
    v1::ClusterUpdateSettingsResponse, v1::ControllerRevisionsMarkLiveResponse,
    v1::ControllerRevisionsReleaseResponse, v1::LeasesPutCandidateResponse,
    v1::LeasesReleaseResponse, v1::LeasesWithdrawCandidateResponse, v1::MembershipReadyResponse,
    v1::MigrationsDismissResponse, v1::MigrationsObserveResponse, v1::MigrationsProgressResponse, v1::MigrationsResetResponse,
    v1::StorageVersionsAdoptResponse = Changed {
        header = header,
        changed = changed,
    }
}
