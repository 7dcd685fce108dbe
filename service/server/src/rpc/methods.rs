//! The table of all methods that a client can call, with the class that each is admitted in.

use synod_machine::CommandName;
use synod_model::limits::{REPORT_BYTES_MAX, REQUEST_BYTES_MAX};

use crate::limits::{PIPELINE_REQUEST_BYTES_MAX, STREAMED_REQUEST_BYTES_MAX};
use crate::metrics::RpcMetrics;

/// The classes of methods, each with its own limit of calls in progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Class {
    /// One answer to one request.
    Ordinary,
    /// One answer to one request, in the proposer's lane for what keeps members alive.
    Renewal,
    /// Taking a lease, which may wait for its turn.
    Acquire,
    /// A stream of renewals.
    RenewalStream,
    /// A stream of events.
    Watch,
    /// A stream of calls.
    Pipeline,
    /// A stream of the whole state.
    Backup,
    /// Health and status: not refused when other classes are full.
    Side,
    /// A stream of health, or of server reflection.
    SideStream,
}

/// A method by its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Method {
    pub(super) service: &'static str,
    pub(super) name: &'static str,
    pub(super) class: Class,
}

/// A method that is not in the table.
pub(super) const UNKNOWN: Method = Method {
    service: "unknown",
    name: "unknown",
    class: Class::Side,
};

/// Lists the methods by service. `Method;` is a read, `Method = Command;` carries this command of the machine and has its
/// lane, and `Method: Class;` is of this class.
macro_rules! methods {
    ($($service:literal { $($name:ident $(= $command:ident)? $(: $class:ident)?;)* })*) => {
        pub(super) const METHODS: &[Method] = &[$($(Method {
            service: $service,
            name: stringify!($name),
            class: methods!(@class $($command)? $(: $class)?),
        },)*)*];
    };
    (@class) => { Class::Ordinary };
    (@class $command:ident) => { Class::carrying(CommandName::$command) };
    (@class : $class:ident) => { Class::$class };
}

methods! {
    "synod.v1.Cluster" {
        AddReplica;
        Backup: Backup;
        Checkpoint;
        GetDiagnostics: Side;
        GetLogFilter: Side;
        GetSettings;
        PromoteReplica;
        RemoveReplica;
        RevisionAt;
        SetLogFilter;
        Status: Side;
        TransferLeader;
        UpdateSettings = UpdateSettings;
    }
    "synod.v1.Collections" {
        Create = CreateCollection;
        Delete = DeleteCollection;
        Get;
        List;
        Update = UpdateCollection;
    }
    "synod.v1.ControllerRevisions" {
        Adopt = AdoptControllerRevisions;
        Create = CreateControllerRevision;
        Delete = DeleteControllerRevisions;
        DeleteHistory = DeleteControllerRevisions;
        Diff;
        Get;
        History;
        List;
        MarkLive = MarkControllerRevisions;
        Release = ReleaseControllerRevision;
        Rollback = RollbackControllerRevision;
        Truncate = TruncateControllerRevisions;
        Update = UpdateControllerRevision;
    }
    "synod.v1.Leases" {
        Acquire: Acquire;
        Delete = DeleteLease;
        Get;
        List;
        ListCandidates;
        PutCandidate = PutLeaseCandidate;
        Release = ReleaseLease;
        Renew: RenewalStream;
        WithdrawCandidate = WithdrawLeaseCandidate;
    }
    "synod.v1.Membership" {
        Get;
        Join = Join;
        Leave = Leave;
        List;
        Ready = MarkReady;
        Renew: RenewalStream;
    }
    "synod.v1.Migrations" {
        Abort = AbortMigration;
        Claim = ClaimMigration;
        Complete = CompleteMigration;
        Delete = DeleteMigration;
        Dismiss = DismissLooks;
        Fail = FailMigration;
        Get;
        List;
        Observe = ObserveStorage;
        Progress = ReportMigrationProgress;
        Release = ReleaseMigration;
        Reset = ResetStorageStates;
        Retry = RetryMigration;
        Start = StartMigration;
    }
    "synod.v1.Objects" {
        Create = CreateObject;
        Delete = DeleteObject;
        Get;
        List;
        Patch = PatchObject;
        Transact = Transact;
        Update = UpdateObject;
    }
    "synod.v1.Pipeline" {
        Open: Pipeline;
    }
    "synod.v1.Rosters" {
        Delete = DeleteRoster;
        Get;
        List;
        Set = SetRoster;
    }
    "synod.v1.Sessions" {
        Close = CloseSession;
        GetOutcome;
        Open = OpenSession;
    }
    "synod.v1.StorageVersions" {
        AddEquivalents = AddEquivalents;
        Adopt = Adopt;
        CheckAgreement;
        CheckBinary;
        CheckDrop;
        CheckUpgrade;
        Forget = ForgetResource;
        Get;
        History;
        List;
        RemoveEquivalent = RemoveEquivalent;
        Report = Report;
    }
    "synod.v1.Watch" {
        Watch: Watch;
    }
    "grpc.health.v1.Health" {
        Check: Side;
        Watch: SideStream;
    }
    "grpc.reflection.v1.ServerReflection" {
        ServerReflectionInfo: SideStream;
    }
    "grpc.reflection.v1alpha.ServerReflection" {
        ServerReflectionInfo: SideStream;
    }
}

/// Creates the metrics of all methods and classes, so that each is shown before the first call.
pub(crate) fn declare(metrics: &RpcMetrics) {
    let all = METHODS.iter().chain([&UNKNOWN]);
    metrics.declare(all.map(|method| (method.service, method.name)));
    for class in Class::ALL {
        metrics.in_flight(class.name()).set(0);
        metrics.bytes_held(class.name()).set(0);
    }
}

/// Whether the health of this service can be asked for. All services of the protocol have the health of the replica, for
/// which the empty name stands.
pub(super) fn has_health(service: &str) -> bool {
    service.is_empty()
        || service.starts_with("synod.") && METHODS.iter().any(|method| method.service == service)
}

impl Method {
    /// The most bytes of a message to this method.
    pub(super) fn message_bytes_max(self) -> usize {
        match self.class {
            Class::RenewalStream | Class::SideStream => STREAMED_REQUEST_BYTES_MAX,
            Class::Pipeline => PIPELINE_REQUEST_BYTES_MAX,
            _ if self.name == "Report" => REPORT_BYTES_MAX,
            Class::Ordinary
            | Class::Renewal
            | Class::Acquire
            | Class::Watch
            | Class::Backup
            | Class::Side => REQUEST_BYTES_MAX,
        }
    }
}

impl Class {
    pub(super) const ALL: [Self; 9] = [
        Self::Ordinary,
        Self::Renewal,
        Self::Acquire,
        Self::RenewalStream,
        Self::Watch,
        Self::Pipeline,
        Self::Backup,
        Self::Side,
        Self::SideStream,
    ];

    /// The class of a request that is carried out by this command.
    const fn carrying(command: CommandName) -> Self {
        if command.is_urgent() {
            Self::Renewal
        } else {
            Self::Ordinary
        }
    }

    /// Whether a call of this class is a stream where it is not a part of a pipeline.
    pub(super) const fn is_stream(self) -> bool {
        match self {
            Self::Ordinary | Self::Renewal | Self::Acquire | Self::Side => false,
            Self::RenewalStream
            | Self::Watch
            | Self::Pipeline
            | Self::Backup
            | Self::SideStream => true,
        }
    }

    /// The name in metrics.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Ordinary => "ordinary",
            Self::Renewal => "renewal",
            Self::Acquire => "acquire",
            Self::RenewalStream => "renewal_stream",
            Self::Watch => "watch",
            Self::Pipeline => "pipeline",
            Self::Backup => "backup",
            Self::Side => "side",
            Self::SideStream => "side_stream",
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use prost::Message;
    use prost_types::FileDescriptorSet;

    use super::*;

    #[test]
    fn every_method_of_the_protocol_is_in_the_table() {
        let set = FileDescriptorSet::decode(synod_proto::FILE_DESCRIPTOR_SET).unwrap();
        let services = set.file.iter().flat_map(|file| {
            file.service
                .iter()
                .map(|service| (format!("{}.{}", file.package(), service.name()), service))
        });
        let declared: BTreeSet<(String, String)> = services
            .flat_map(|(name, service)| {
                service
                    .method
                    .iter()
                    .map(move |method| (name.clone(), method.name().to_owned()))
            })
            .collect();
        let listed: BTreeSet<(String, String)> = METHODS
            .iter()
            .filter(|method| method.service.starts_with("synod."))
            .map(|method| (method.service.to_owned(), method.name.to_owned()))
            .collect();
        assert_eq!(listed, declared);
    }
}
