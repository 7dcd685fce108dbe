//! The requests that declare, change and remove collections.

use crate::{CollectionRules, GroupResource, Kind, Preconditions, Violation, Violations};

/// Declares a resource, so that it can hold objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreateCollection {
    /// The resource.
    pub resource: GroupResource,
    /// The kind of its objects.
    pub kind: Kind,
    /// Whether its objects live in namespaces.
    pub namespaced: bool,
    /// The rules for the writes.
    pub rules: CollectionRules,
}

impl CreateCollection {
    /// No broken rules: the types of the fields express all of them.
    pub fn check(&self) -> Violations {
        Violations::new()
    }
}

/// Changes the rules for the writes of a collection, or corrects its kind. What is `None` stays as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpdateCollection {
    /// The resource.
    pub resource: GroupResource,
    /// See [`CollectionRules::strict_storage_version`].
    pub strict_storage_version: Option<bool>,
    /// See [`CollectionRules::create_on_update`].
    pub create_on_update: Option<bool>,
    /// See [`CollectionRules::unconditional_update`].
    pub unconditional_update: Option<bool>,
    /// See [`CollectionRules::status_subresource`].
    pub status_subresource: Option<bool>,
    /// The right kind of the objects, of which the collection must hold none.
    pub kind: Option<Kind>,
    /// The collection that the change was made for.
    pub preconditions: Preconditions,
}

impl UpdateCollection {
    /// The broken rules of the request that do not depend on the state.
    pub fn check(&self) -> Violations {
        let mut violations = self.preconditions.check();
        let changes = [
            self.strict_storage_version,
            self.create_on_update,
            self.unconditional_update,
            self.status_subresource,
        ];
        if changes.iter().all(Option::is_none) && self.kind.is_none() {
            violations.push(Violation::required(
                "must name the kind or at least one rule of the collection",
            ));
        }
        violations
    }
}

/// Removes a collection that holds no object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeleteCollection {
    /// The resource.
    pub resource: GroupResource,
    /// The collection that the change was made for.
    pub preconditions: Preconditions,
}

impl DeleteCollection {
    /// The broken rules of the request that do not depend on the state.
    pub fn check(&self) -> Violations {
        self.preconditions.check()
    }
}
