//! The request that changes several objects in one transaction.

use std::collections::BTreeSet;

use crate::limits::TRANSACTION_OPERATIONS_MAX;
use crate::{
    ApiVersion, CreateObject, DeleteObject, Fences, GroupResource, ObjectKey, PatchObject,
    Revision, UpdateObject, Violation, Violations,
};

/// If every comparison holds, carries out all operations, or none if one is refused. Otherwise
/// carries out the reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transact {
    /// The comparisons.
    pub compares: Vec<Compare>,
    /// The operations, in order; at most one for each key.
    pub operations: Vec<Operation>,
    /// The objects to read if a comparison fails.
    pub reads: Vec<ObjectKey>,
    /// The conditions on the writer.
    pub fences: Fences,
}

/// A condition of a transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Compare {
    /// The object exists and was last changed at this revision.
    ResourceVersion(ObjectKey, Revision),
    /// The object exists.
    Exists(ObjectKey),
    /// There is no such object.
    Absent(ObjectKey),
    /// This version is selected for the resource; `None`: no version is.
    Selected(GroupResource, Option<ApiVersion>),
}

/// One change of a transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// See [`CreateObject`].
    Create(CreateObject),
    /// See [`UpdateObject`].
    Update(UpdateObject),
    /// See [`PatchObject`].
    Patch(PatchObject),
    /// See [`DeleteObject`].
    Delete(DeleteObject),
}

impl Operation {
    /// The object that it changes.
    #[must_use]
    pub fn key(&self) -> &ObjectKey {
        match self {
            Self::Create(create) => &create.key,
            Self::Update(update) => &update.key,
            Self::Patch(patch) => &patch.key,
            Self::Delete(delete) => &delete.key,
        }
    }

    /// The broken rules of the request that do not depend on the state.
    #[must_use]
    pub fn check(&self) -> Violations {
        match self {
            Self::Create(create) => create.check(),
            Self::Update(update) => update.check(),
            Self::Patch(patch) => patch.check(),
            Self::Delete(delete) => delete.check(),
        }
    }
}

impl Transact {
    /// The broken rules of the request that do not depend on the state.
    pub fn check(&self) -> Violations {
        let mut violations = Violations::new();
        let lists = [
            ("compares", self.compares.len()),
            ("operations", self.operations.len()),
            ("reads", self.reads.len()),
        ];
        for (field, items) in lists {
            if items > TRANSACTION_OPERATIONS_MAX {
                let violation = Violation::too_many(items, TRANSACTION_OPERATIONS_MAX);
                violations.push(violation.at(field));
            }
        }
        for (i, compare) in self.compares.iter().enumerate() {
            if let Compare::ResourceVersion(_, Revision::ZERO) = compare {
                let rule = "must be the resource version of an object; ask for its absence instead";
                let field = format!("compares[{i}].resourceVersion");
                violations.push(Violation::invalid_number(0, rule).at(&field));
            }
        }
        let mut seen = BTreeSet::new();
        for (i, operation) in self.operations.iter().enumerate() {
            violations.extend_at(format_args!("operations[{i}]"), operation.check());
            if !seen.insert(operation.key()) {
                let duplicate = Violation::duplicate(&operation.key().to_string());
                violations.push(duplicate.at(&format!("operations[{i}].key")));
            }
        }
        violations.extend_at("fences", self.fences.check());
        violations
    }
}
