//! Declaring collections.

use crate::{CollectionRules, GroupResource, Kind, Preconditions, Violation, Violations};

/// Declares a resource, so that it can hold objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreateCollection {
    /// The resource.
    pub resource: GroupResource,
    /// The kind of its objects.
    pub kind: Kind,
    /// Whether they live in namespaces.
    pub namespaced: bool,
    /// What their writes must hold to.
    pub rules: CollectionRules,
}

impl CreateCollection {
    /// What is wrong with its shape: its types say it all.
    pub fn check(&self) -> Violations {
        Violations::new()
    }
}

/// Changes what the writes of a collection must hold to. What is `None` stays.
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
    /// Which collection it was made for.
    pub preconditions: Preconditions,
}

impl UpdateCollection {
    /// What is wrong with its shape.
    pub fn check(&self) -> Violations {
        let mut violations = self.preconditions.check();
        let changes = [
            self.strict_storage_version,
            self.create_on_update,
            self.unconditional_update,
        ];
        if changes.iter().all(Option::is_none) {
            violations.push(Violation::required(
                "must name at least one rule of the collection",
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
    /// Which collection it was made for.
    pub preconditions: Preconditions,
}

impl DeleteCollection {
    /// What is wrong with its shape.
    pub fn check(&self) -> Violations {
        self.preconditions.check()
    }
}
