//! Every method that a client can call, and how it is admitted.

use std::collections::HashMap;
use std::sync::LazyLock;

use synod_model::limits::{REPORT_BYTES_MAX, REQUEST_BYTES_MAX};

use crate::limits::STREAMED_REQUEST_BYTES_MAX;
use crate::metrics::RpcMetrics;

/// What a method costs, and so how many calls of it there may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Class {
    /// One answer to one request.
    Ordinary,
    /// The same, in the lane of what keeps members alive.
    Renewal,
    /// Taking a lease, which may wait for its turn.
    Acquire,
    /// A stream of renewals.
    RenewalStream,
    /// A stream of events. Their number is bounded where they are opened.
    Watch,
    /// Health and status: never refused because of others.
    Side,
    /// A stream of the same, or of server reflection.
    SideStream,
}

/// A method by its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Method {
    pub(super) service: &'static str,
    pub(super) name: &'static str,
    pub(super) class: Class,
}

/// What no client should call.
const UNKNOWN: Method = Method {
    service: "unknown",
    name: "unknown",
    class: Class::Side,
};

const METHODS: &[Method] = &[
    method("synod.v1.Cluster", "GetSettings", Class::Ordinary),
    method("synod.v1.Cluster", "Status", Class::Side),
    method("synod.v1.Cluster", "UpdateSettings", Class::Ordinary),
    method("synod.v1.Leases", "Acquire", Class::Acquire),
    method("synod.v1.Leases", "Get", Class::Ordinary),
    method("synod.v1.Leases", "List", Class::Ordinary),
    method("synod.v1.Leases", "ListCandidates", Class::Ordinary),
    method("synod.v1.Leases", "PutCandidate", Class::Ordinary),
    method("synod.v1.Leases", "Release", Class::Ordinary),
    method("synod.v1.Leases", "Renew", Class::RenewalStream),
    method("synod.v1.Leases", "WithdrawCandidate", Class::Ordinary),
    method("synod.v1.Collections", "Create", Class::Ordinary),
    method("synod.v1.Collections", "Delete", Class::Ordinary),
    method("synod.v1.Collections", "Get", Class::Ordinary),
    method("synod.v1.Collections", "List", Class::Ordinary),
    method("synod.v1.Collections", "Update", Class::Ordinary),
    method("synod.v1.ControllerRevisions", "Adopt", Class::Ordinary),
    method("synod.v1.ControllerRevisions", "Create", Class::Ordinary),
    method("synod.v1.ControllerRevisions", "Delete", Class::Ordinary),
    method(
        "synod.v1.ControllerRevisions",
        "DeleteHistory",
        Class::Ordinary,
    ),
    method("synod.v1.ControllerRevisions", "Diff", Class::Ordinary),
    method("synod.v1.ControllerRevisions", "Get", Class::Ordinary),
    method("synod.v1.ControllerRevisions", "History", Class::Ordinary),
    method("synod.v1.ControllerRevisions", "List", Class::Ordinary),
    method("synod.v1.ControllerRevisions", "MarkLive", Class::Ordinary),
    method("synod.v1.ControllerRevisions", "Release", Class::Ordinary),
    method("synod.v1.ControllerRevisions", "Rollback", Class::Ordinary),
    method("synod.v1.ControllerRevisions", "Truncate", Class::Ordinary),
    method("synod.v1.ControllerRevisions", "Update", Class::Ordinary),
    method("synod.v1.Membership", "Get", Class::Ordinary),
    method("synod.v1.Membership", "Join", Class::Renewal),
    method("synod.v1.Membership", "Leave", Class::Renewal),
    method("synod.v1.Membership", "List", Class::Ordinary),
    method("synod.v1.Membership", "Ready", Class::Renewal),
    method("synod.v1.Membership", "Renew", Class::RenewalStream),
    method("synod.v1.Objects", "Create", Class::Ordinary),
    method("synod.v1.Objects", "Delete", Class::Ordinary),
    method("synod.v1.Objects", "Get", Class::Ordinary),
    method("synod.v1.Objects", "List", Class::Ordinary),
    method("synod.v1.Objects", "Patch", Class::Ordinary),
    method("synod.v1.Objects", "Transact", Class::Ordinary),
    method("synod.v1.Objects", "Update", Class::Ordinary),
    method("synod.v1.Migrations", "Abort", Class::Ordinary),
    method("synod.v1.Migrations", "Claim", Class::Ordinary),
    method("synod.v1.Migrations", "Complete", Class::Renewal),
    method("synod.v1.Migrations", "Fail", Class::Renewal),
    method("synod.v1.Migrations", "Get", Class::Ordinary),
    method("synod.v1.Migrations", "List", Class::Ordinary),
    method("synod.v1.Migrations", "Observe", Class::Renewal),
    method("synod.v1.Migrations", "Progress", Class::Renewal),
    method("synod.v1.Migrations", "Reset", Class::Ordinary),
    method("synod.v1.Migrations", "Retry", Class::Ordinary),
    method("synod.v1.Migrations", "Start", Class::Ordinary),
    method("synod.v1.Rosters", "Delete", Class::Ordinary),
    method("synod.v1.Rosters", "Get", Class::Ordinary),
    method("synod.v1.Rosters", "List", Class::Ordinary),
    method("synod.v1.Rosters", "Set", Class::Ordinary),
    method("synod.v1.Sessions", "Close", Class::Ordinary),
    method("synod.v1.Sessions", "GetOutcome", Class::Ordinary),
    method("synod.v1.Sessions", "Open", Class::Ordinary),
    method("synod.v1.StorageVersions", "Adopt", Class::Renewal),
    method("synod.v1.StorageVersions", "Forget", Class::Ordinary),
    method("synod.v1.StorageVersions", "CheckBinary", Class::Ordinary),
    method("synod.v1.StorageVersions", "CheckDrop", Class::Ordinary),
    method("synod.v1.StorageVersions", "Get", Class::Ordinary),
    method("synod.v1.StorageVersions", "History", Class::Ordinary),
    method("synod.v1.StorageVersions", "List", Class::Ordinary),
    method("synod.v1.StorageVersions", "Report", Class::Renewal),
    method("synod.v1.Watch", "Watch", Class::Watch),
    method("grpc.health.v1.Health", "Check", Class::Side),
    method("grpc.health.v1.Health", "Watch", Class::SideStream),
    method(
        "grpc.reflection.v1.ServerReflection",
        "ServerReflectionInfo",
        Class::SideStream,
    ),
    method(
        "grpc.reflection.v1alpha.ServerReflection",
        "ServerReflectionInfo",
        Class::SideStream,
    ),
];

const fn method(service: &'static str, name: &'static str, class: Class) -> Method {
    Method {
        service,
        name,
        class,
    }
}

/// Has the metrics of every method shown from the beginning.
pub(crate) fn declare(metrics: &RpcMetrics) {
    for method in METHODS.iter().chain([&UNKNOWN]) {
        metrics.declare(method.service, method.name);
    }
    for class in Class::ALL {
        metrics.in_flight(class.name()).set(0);
        metrics.bytes_held(class.name()).set(0);
    }
}

impl Method {
    /// The method that a request's path names.
    pub(super) fn of_path(path: &str) -> Self {
        static BY_PATH: LazyLock<HashMap<String, Method>> = LazyLock::new(|| {
            let path = |method: &Method| format!("/{}/{}", method.service, method.name);
            METHODS.iter().map(|it| (path(it), *it)).collect()
        });
        BY_PATH.get(path).copied().unwrap_or(UNKNOWN)
    }

    /// The longest message that it takes, in bytes.
    pub(super) fn message_bytes_max(self) -> usize {
        match self.class {
            Class::RenewalStream | Class::SideStream => STREAMED_REQUEST_BYTES_MAX,
            _ if self.name == "Report" => REPORT_BYTES_MAX,
            Class::Ordinary | Class::Renewal | Class::Acquire | Class::Watch | Class::Side => {
                REQUEST_BYTES_MAX
            }
        }
    }
}

impl Class {
    pub(super) const ALL: [Self; 7] = [
        Self::Ordinary,
        Self::Renewal,
        Self::Acquire,
        Self::RenewalStream,
        Self::Watch,
        Self::Side,
        Self::SideStream,
    ];

    /// Its name in metrics.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Ordinary => "ordinary",
            Self::Renewal => "renewal",
            Self::Acquire => "acquire",
            Self::RenewalStream => "renewal_stream",
            Self::Watch => "watch",
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

    #[test]
    fn a_path_finds_its_method_and_any_other_finds_none() {
        let renew = Method::of_path("/synod.v1.Membership/Renew");
        assert_eq!((renew.name, renew.class), ("Renew", Class::RenewalStream));
        for path in [
            "",
            "/",
            "/synod.v1.Membership",
            "/synod.v1.Membership/Renew/x",
            "/x/Renew",
        ] {
            assert_eq!(Method::of_path(path), UNKNOWN, "{path}");
        }
    }
}
