//! Which call carries out what is asked for, for who wants to know beforehand whether it may.

use synod_model::Refusal;
use synod_proto::access::{Named, Names, Spot};
use synod_proto::v1;

use crate::identity::NAMESPACE;
use crate::kinds::{Kind, Source, Verb};
use crate::sources::{Calls, state_of, storage_version_of};
use crate::status::{About, Fault};

/// Asks whether the caller may do what it asks for, before anything is read or computed for it. The call that does it is
/// decided about, too.
///
/// # Errors
///
/// It may not.
pub(crate) fn admit(calls: &Calls, about: &About<'_>) -> Result<(), Fault> {
    let target = Target::of(about.kind, about.namespace, about.name);
    let is_lease = about.kind.source == Source::Leases && about.namespace == Some(NAMESPACE);
    // The lease may be the member that the caller is.
    if is_lease && Target::of_member(about.name).may(calls, about.verb).is_ok() {
        return Ok(());
    }
    let may = target.admit(calls, about.verb);
    may.map_err(|refusal| Fault::of(&refusal, about))
}

/// What a request is about, as the policy looks at it.
#[derive(Debug)]
pub(crate) struct Target<'a> {
    source: Source,
    /// The collection, or what a StorageVersion or an agreement is of; none: all of them.
    resource: Option<v1::GroupResource>,
    /// Empty: none, or all.
    namespace: &'a str,
    /// Empty: all.
    name: &'a str,
    /// Whether the caller acts as the member of this name.
    is_oneself: bool,
}

impl<'a> Target<'a> {
    /// Objects of this kind.
    pub(crate) fn of(kind: &Kind, namespace: Option<&'a str>, name: &'a str) -> Self {
        let resource = match kind.source {
            Source::Objects => Some(kind.resource()),
            Source::StorageVersions if !name.is_empty() => Some(storage_version_of(name)),
            Source::Agreements | Source::StorageStates if !name.is_empty() => Some(state_of(name)),
            _ => None,
        };
        Self {
            source: kind.source,
            resource,
            // What has no namespace is in none, whichever is named.
            namespace: namespace.filter(|_| kind.namespaced).unwrap_or_default(),
            name,
            is_oneself: false,
        }
    }

    /// The member of this name, as which the caller acts.
    pub(crate) const fn of_member(name: &'a str) -> Self {
        Self {
            source: Source::Members,
            resource: None,
            namespace: "",
            name,
            is_oneself: true,
        }
    }

    /// Objects of all collections.
    pub(crate) fn all_objects(namespace: &'a str) -> Self {
        Self {
            source: Source::Objects,
            resource: None,
            namespace,
            name: "",
            is_oneself: false,
        }
    }

    /// Whether the sender of the request may do this to it.
    ///
    /// # Errors
    ///
    /// Why not.
    pub(crate) fn may(&self, calls: &Calls, verb: Verb) -> Result<(), Refusal> {
        if let Some(read) = self.read_for(verb) {
            calls
                .front
                .may(&calls.origin, read.path(Verb::Get), &read)?;
        }
        calls.front.may(&calls.origin, self.path(verb), self)
    }

    /// The same before it is done: the audit log is told of a refusal.
    ///
    /// # Errors
    ///
    /// Why not.
    fn admit(&self, calls: &Calls, verb: Verb) -> Result<(), Refusal> {
        if let Some(read) = self.read_for(verb) {
            calls
                .front
                .admit(&calls.origin, read.path(Verb::Get), &read)?;
        }
        calls.front.admit(&calls.origin, self.path(verb), self)
    }

    /// What is read to do it, beyond the call that does it. Candidates are kept by their leases, so one is looked for by its name
    /// among those for all leases, but for an update, which says for which lease it stands.
    fn read_for(&self, verb: Verb) -> Option<Self> {
        if self.source != Source::LeaseCandidates || verb == Verb::Watch {
            return None;
        }
        Some(Self {
            source: self.source,
            resource: None,
            namespace: match verb {
                Verb::Update => self.namespace,
                _ => "",
            },
            name: "",
            is_oneself: false,
        })
    }

    /// The call that does it.
    const fn path(&self, verb: Verb) -> &'static str {
        let is_read = matches!(verb, Verb::Get | Verb::List | Verb::Watch);
        match (self.source, verb) {
            (Source::Objects, Verb::Create) => "synod.v1.Objects/Create",
            (Source::Objects, Verb::Update | Verb::Patch) => "synod.v1.Objects/Update",
            (Source::Objects, _) if is_read => "synod.v1.Objects/Get",
            (Source::Objects, _) => "synod.v1.Objects/Delete",
            (Source::LeaseCandidates, _) if is_read => "synod.v1.Leases/ListCandidates",
            (Source::LeaseCandidates, Verb::Delete) => "synod.v1.Leases/WithdrawCandidate",
            (Source::LeaseCandidates, _) => "synod.v1.Leases/PutCandidate",
            (Source::Leases, _) if is_read => "synod.v1.Leases/Get",
            (Source::Leases, Verb::Delete | Verb::DeleteCollection) => "synod.v1.Leases/Delete",
            (Source::Leases, _) => "synod.v1.Leases/Acquire",
            (Source::ControllerRevisions, _) if is_read => "synod.v1.ControllerRevisions/Get",
            (Source::ControllerRevisions, Verb::Create) => "synod.v1.ControllerRevisions/Create",
            (Source::ControllerRevisions, Verb::Update | Verb::Patch) => {
                "synod.v1.ControllerRevisions/Update"
            }
            (Source::ControllerRevisions, _) => "synod.v1.ControllerRevisions/Delete",
            (Source::StorageVersions, _) if !is_read => "synod.v1.StorageVersions/Report",
            (Source::Events, _) => "synod.v1.StorageVersions/History",
            (Source::Members, _) if !is_read => "synod.v1.Membership/Join",
            // What else there is is only read.
            (Source::StorageVersions | Source::Agreements | Source::StorageStates, _) => {
                "synod.v1.StorageVersions/Get"
            }
            (Source::Migrations, _) if is_read => "synod.v1.Migrations/Get",
            (Source::Migrations, Verb::Delete | Verb::DeleteCollection) => {
                "synod.v1.Migrations/Delete"
            }
            // An update changes nothing of it.
            (Source::Migrations, _) => "synod.v1.Migrations/Start",
            (Source::Members, _) => "synod.v1.Membership/Get",
            (Source::Settings, _) => "synod.v1.Cluster/GetSettings",
        }
    }
}

impl Names for Target<'_> {
    fn visit<'a>(&'a self, each: &mut dyn FnMut(Named<'a>)) {
        let spot = Spot {
            resource: None,
            namespace: self.namespace,
            name: self.name,
        };
        match self.source {
            Source::Objects => each(Named::Objects(Spot {
                resource: self.resource.as_ref(),
                ..spot
            })),
            Source::Leases => each(Named::Leases(spot)),
            // Its name is not that of the lease, of which the call that does it asks again.
            Source::LeaseCandidates => each(Named::Leases(Spot { name: "", ..spot })),
            Source::ControllerRevisions => each(Named::Histories(spot)),
            Source::Migrations if !self.name.is_empty() => each(Named::Migration(self.name)),
            Source::StorageVersions | Source::Agreements | Source::StorageStates => {
                if let Some(resource) = &self.resource {
                    each(Named::Resource(resource));
                }
            }
            Source::Members if self.is_oneself => each(Named::Member(self.name)),
            Source::Events | Source::Migrations | Source::Members | Source::Settings => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinds::KINDS;

    #[test]
    fn what_has_no_namespace_is_in_none() {
        for kind in KINDS.iter() {
            let target = Target::of(kind, Some("n"), "a");
            let expected = if kind.namespaced { "n" } else { "" };
            assert_eq!(target.namespace, expected, "{}", kind.plural);
        }
    }
}
