//! The table of all methods that a client can call, with the class that each is admitted in.

use std::collections::HashMap;
use std::sync::LazyLock;

use synod_machine::CommandName;
use synod_model::limits::{REPORT_BYTES_MAX, REQUEST_BYTES_MAX};

use super::calls::{Calls, Handler};
use super::{
    cluster, collections, controller_revisions, lease_renewals, leases, membership, migrations,
    objects, renewals, rosters, sessions, storage_versions,
};
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

/// A method as a call finds it.
pub(super) struct Known {
    pub(super) method: Method,
    /// The place of the method in the table; that after the last for an unknown one.
    pub(super) number: usize,
    /// Carries out one call; `None` for a method that is only a stream.
    pub(super) handler: Option<Handler>,
}

/// The functions of each service that carry out its calls.
const CALLS: &[(&str, Calls)] = &[
    ("synod.v1.Cluster", cluster::CALLS),
    ("synod.v1.Collections", collections::CALLS),
    ("synod.v1.ControllerRevisions", controller_revisions::CALLS),
    ("synod.v1.Leases", leases::CALLS),
    ("synod.v1.Leases", lease_renewals::CALLS),
    ("synod.v1.Membership", membership::CALLS),
    ("synod.v1.Membership", renewals::CALLS),
    ("synod.v1.Migrations", migrations::CALLS),
    ("synod.v1.Objects", objects::CALLS),
    ("synod.v1.Rosters", rosters::CALLS),
    ("synod.v1.Sessions", sessions::CALLS),
    ("synod.v1.StorageVersions", storage_versions::CALLS),
];

/// A method that is not in the table.
const UNKNOWN: Method = Method {
    service: "unknown",
    name: "unknown",
    class: Class::Side,
};

/// Lists the methods by service. `Method;` is a read, `Method = Command;` carries this command of the machine and has its
/// lane, and `Method: Class;` is of this class.
macro_rules! methods {
    ($($service:literal { $($name:ident $(= $command:ident)? $(: $class:ident)?;)* })*) => {
        const METHODS: &[Method] = &[$($(Method {
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
        GetSettings;
        Status: Side;
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
        Fail = FailMigration;
        Get;
        List;
        Observe = ObserveStorage;
        Progress = ReportMigrationProgress;
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
        Adopt = Adopt;
        CheckBinary;
        CheckDrop;
        Forget = ForgetResource;
        Get;
        History;
        List;
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

impl Known {
    /// The method that a path names: that of a request, or without the leading slash.
    pub(super) fn of_path(path: &str) -> &'static Self {
        static TABLE: LazyLock<Vec<Known>> = LazyLock::new(|| {
            let all = METHODS.iter().chain([&UNKNOWN]).enumerate();
            all.map(|(number, method)| Known {
                method: *method,
                number,
                handler: method.handler(),
            })
            .collect()
        });
        static BY_PATH: LazyLock<HashMap<String, &'static Known>> = LazyLock::new(|| {
            let known = TABLE.iter().take(METHODS.len());
            known
                .map(|it| (format!("{}/{}", it.method.service, it.method.name), it))
                .collect()
        });
        let path = path.strip_prefix('/').unwrap_or(path);
        BY_PATH
            .get(path)
            .copied()
            .unwrap_or_else(|| &TABLE[METHODS.len()])
    }
}

impl Method {
    fn handler(&self) -> Option<Handler> {
        let name = snake(self.name);
        let mut calls = CALLS
            .iter()
            .filter(|(service, _)| *service == self.service)
            .flat_map(|(_, calls)| *calls);
        calls
            .find(|(call, _)| *call == name)
            .map(|(_, handler)| *handler)
    }

    /// The most bytes of a message to this method.
    pub(super) fn message_bytes_max(self) -> usize {
        match self.class {
            Class::RenewalStream | Class::SideStream => STREAMED_REQUEST_BYTES_MAX,
            Class::Pipeline => PIPELINE_REQUEST_BYTES_MAX,
            _ if self.name == "Report" => REPORT_BYTES_MAX,
            Class::Ordinary | Class::Renewal | Class::Acquire | Class::Watch | Class::Side => {
                REQUEST_BYTES_MAX
            }
        }
    }
}

impl Class {
    pub(super) const ALL: [Self; 8] = [
        Self::Ordinary,
        Self::Renewal,
        Self::Acquire,
        Self::RenewalStream,
        Self::Watch,
        Self::Pipeline,
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
            Self::RenewalStream | Self::Watch | Self::Pipeline | Self::SideStream => true,
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
            Self::Side => "side",
            Self::SideStream => "side_stream",
        }
    }
}

/// The name of the function for a method: `GetOutcome` is `get_outcome`.
fn snake(name: &str) -> String {
    let mut snake = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
    }
    snake
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

    #[test]
    fn every_method_that_is_no_stream_has_its_function_and_no_function_is_without_a_method() {
        for method in METHODS.iter().filter(|it| it.service.starts_with("synod.")) {
            let is_renewal = method.class == Class::RenewalStream;
            assert_eq!(
                method.handler().is_some(),
                !method.class.is_stream() || is_renewal,
                "{}/{}",
                method.service,
                method.name
            );
        }
        let handlers = METHODS.iter().filter_map(Method::handler).count();
        let functions: usize = CALLS.iter().map(|(_, calls)| calls.len()).sum();
        assert_eq!(handlers, functions);
    }

    #[test]
    fn a_path_finds_its_method_and_any_other_finds_none() {
        let renew = Known::of_path("/synod.v1.Membership/Renew").method;
        assert_eq!((renew.name, renew.class), ("Renew", Class::RenewalStream));
        assert_eq!(Known::of_path("synod.v1.Membership/Renew").method, renew);
        for path in [
            "",
            "/",
            "/synod.v1.Membership",
            "/synod.v1.Membership/Renew/x",
            "//synod.v1.Membership/Renew",
            "/x/Renew",
        ] {
            assert_eq!(Known::of_path(path).method, UNKNOWN, "{path}");
        }
    }
}
