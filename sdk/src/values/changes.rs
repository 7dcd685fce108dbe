//! What changing calls answer, and the small reads.

use std::time::Duration;

use synod_model::{
    AgreementChange, ApiVersion, Epoch, GroupResource, Revision, Settings, Violations,
};
use synod_proto::v1;

use super::storage_version::resource;
use super::wire::{list, required, version};
use super::{FromWire, Header};

/// A change was made, or was made already.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// Who answered, and at which revision.
    pub header: Header,
    /// False if everything was so already.
    pub changed: bool,
}

/// A member was let in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Joined {
    /// Who answered, and at which revision.
    pub header: Header,
    /// The member's fencing token.
    pub epoch: Epoch,
    /// How long it is kept after a renewal.
    pub ttl: Duration,
    /// False if this instance was in already, and got its epoch back.
    pub changed: bool,
    /// How long a write may still land after its proof of membership has ended: the setting at the header's revision,
    /// or later.
    pub write_grace: Duration,
}

/// A member's deadline was moved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Renewed {
    /// Who answered, and at which revision. A renewal moves no revision.
    pub header: Header,
    /// How long the member is kept from this renewal on.
    pub ttl: Duration,
}

/// A report was taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reported {
    /// Who answered, and at which revision.
    pub header: Header,
    /// False if the report said nothing new.
    pub changed: bool,
    /// For each reported resource, in the order of the report, what the member is told.
    pub resources: Vec<ReportedResource>,
}

/// What a member is told of a resource that it reported, as of right after the report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportedResource {
    /// The resource.
    pub resource: GroupResource,
    /// The version that the member's entry encodes now. `None`: it votes and nothing is selected.
    pub encoding: Option<ApiVersion>,
    /// The version that is selected, if one is.
    pub selected: Option<ApiVersion>,
    /// The revision at which `selected` last changed; zero if it is unset.
    pub selected_revision: Revision,
    /// The `selected_revision` that the entry took or adopted last: if it is another one, the member has yet to adopt. `None`
    /// for a fixed entry, and for a voter while nothing is selected.
    pub adopted_revision: Option<Revision>,
}

/// The replicated settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingsView {
    /// Who answered, and at which revision.
    pub header: Header,
    /// The settings.
    pub settings: Settings,
}

/// What the members of a resource agreed on, change by change, oldest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgreementHistory {
    /// Who answered, and at which revision.
    pub header: Header,
    /// The changes. The setting `agreements_kept` says how many are kept.
    pub changes: Vec<AgreementChange>,
}

impl FromWire<(Option<v1::ResponseHeader>, bool)> for Changed {
    fn from_wire(
        (header, changed): (Option<v1::ResponseHeader>, bool),
    ) -> Result<Self, Violations> {
        let header = Header::from_wire(header)?;
        Ok(Self { header, changed })
    }
}

impl FromWire<v1::MembershipJoinResponse> for Joined {
    fn from_wire(pb: v1::MembershipJoinResponse) -> Result<Self, Violations> {
        let epoch = Epoch::new(Revision::new(pb.epoch));
        epoch.check().map_err(|fault| fault.at("epoch"))?;
        Ok(Self {
            header: Header::from_wire(pb.header)?,
            epoch,
            ttl: Duration::from_millis(pb.ttl_ms),
            changed: pb.changed,
            write_grace: Duration::from_millis(pb.write_grace_ms),
        })
    }
}

impl FromWire<v1::StorageVersionsReportResponse> for Reported {
    fn from_wire(pb: v1::StorageVersionsReportResponse) -> Result<Self, Violations> {
        let resources = list(pb.resources, ReportedResource::from_wire);
        let mut found = Violations::new();
        let resources = found.parsed("resources", resources);
        let header = found.parsed("", Header::from_wire(pb.header));
        let (Some(header), Some(resources)) = (header, resources) else {
            return Err(found);
        };
        Ok(Self {
            header,
            changed: pb.changed,
            resources,
        })
    }
}

impl FromWire<v1::ReportedResource> for ReportedResource {
    fn from_wire(pb: v1::ReportedResource) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let resource = found.parsed("resource", resource(pb.resource));
        let encoding = found.parsed("encodingVersion", version(pb.encoding_version.as_deref()));
        let selected = found.parsed("selectedVersion", version(pb.selected_version.as_deref()));
        let (Some(resource), Some(encoding), Some(selected)) = (resource, encoding, selected)
        else {
            return Err(found);
        };
        Ok(Self {
            resource,
            encoding,
            selected,
            selected_revision: Revision::new(pb.selected_revision),
            adopted_revision: pb.adopted_revision.map(Revision::new),
        })
    }
}

impl FromWire<v1::ClusterGetSettingsResponse> for SettingsView {
    fn from_wire(pb: v1::ClusterGetSettingsResponse) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let header = found.parsed("", Header::from_wire(pb.header));
        let settings = required(pb.settings).map_err(Violations::from);
        let settings = found.parsed("settings", settings.and_then(Settings::try_from));
        match (header, settings) {
            (Some(header), Some(settings)) => Ok(Self { header, settings }),
            _ => Err(found),
        }
    }
}

impl FromWire<v1::StorageVersionsHistoryResponse> for AgreementHistory {
    fn from_wire(pb: v1::StorageVersionsHistoryResponse) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let header = found.parsed("", Header::from_wire(pb.header));
        let changes = found.parsed("changes", list(pb.changes, AgreementChange::try_from));
        match (header, changes) {
            (Some(header), Some(changes)) => Ok(Self { header, changes }),
            _ => Err(found),
        }
    }
}
