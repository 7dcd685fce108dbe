use synod_model::limits::TRANSACTION_OPERATIONS_MAX;
use synod_model::{
    ApiVersion, Compare, CreateObject, DeleteObject, GroupResource, ObjectKey, Operation,
    PatchObject, Revision, Transact, UpdateObject, Violation, Violations,
};

use super::{Change, requests};
use crate::wire::{Wire, required, sound};
use crate::{read_fields, v1};

requests! {
    v1::ObjectsTransactRequest = Transact, fences;
}

impl Wire<v1::ObjectsTransactRequest> for Transact {
    fn to_wire(&self) -> v1::ObjectsTransactRequest {
        v1::ObjectsTransactRequest {
            compares: self.compares.to_wire(),
            operations: self.operations.to_wire(),
            reads: self.reads.iter().map(Into::into).collect(),
            fences: self.fences.to_wire(),
            ..Default::default()
        }
    }

    fn of_wire(pb: v1::ObjectsTransactRequest) -> Result<Self, Violations> {
        let mut found = Violations::new();
        for (path, count) in [
            ("compares", pb.compares.len()),
            ("operations", pb.operations.len()),
            ("reads", pb.reads.len()),
        ] {
            if count > TRANSACTION_OPERATIONS_MAX {
                found.push(Violation::too_many(count, TRANSACTION_OPERATIONS_MAX).at(path));
            }
        }
        // The items of a list that is too long are not read.
        if !found.is_empty() {
            return Err(found);
        }
        read_fields! { pb, found;
            fences = fences,
            compares = compares,
            operations = operations,
            reads = reads,
        }
        let body = Self {
            compares,
            operations,
            reads,
            fences,
        };
        found.extend_at("", body.check());
        sound(body, found)
    }
}

impl Wire<v1::ObjectsCompare> for Compare {
    fn to_wire(&self) -> v1::ObjectsCompare {
        use v1::objects_compare::Compare as Sent;
        let existence = |key: &ObjectKey, exists| {
            Sent::Existence(v1::CompareExistence {
                key: key.to_wire(),
                exists,
            })
        };
        let compare = match self {
            Self::ResourceVersion(key, revision) => {
                Sent::ResourceVersion(v1::CompareResourceVersion {
                    key: key.to_wire(),
                    resource_version: revision.to_wire(),
                })
            }
            Self::Exists(key) => existence(key, true),
            Self::Absent(key) => existence(key, false),
            Self::Selected(resource, version) => {
                Sent::SelectedVersion(v1::CompareSelectedVersion {
                    resource: resource.to_wire(),
                    version: version.to_wire(),
                })
            }
        };
        v1::ObjectsCompare {
            compare: Some(compare),
        }
    }

    fn of_wire(pb: v1::ObjectsCompare) -> Result<Self, Violations> {
        use v1::objects_compare::Compare as Sent;
        match required(pb.compare, "must say what to compare")? {
            Sent::ResourceVersion(pb) => {
                let key = ObjectKey::of_wire(pb.key);
                let key = key.map_err(|faults| faults.at("resourceVersion.key"))?;
                Ok(Self::ResourceVersion(
                    key,
                    Revision::new(pb.resource_version),
                ))
            }
            Sent::Existence(pb) => {
                let key = ObjectKey::of_wire(pb.key);
                let key = key.map_err(|faults| faults.at("existence.key"))?;
                Ok(match pb.exists {
                    true => Self::Exists(key),
                    false => Self::Absent(key),
                })
            }
            Sent::SelectedVersion(pb) => {
                let selected = selected(pb).map_err(|faults| faults.at("selectedVersion"))?;
                Ok(Self::Selected(selected.0, selected.1))
            }
        }
    }
}

fn selected(
    pb: v1::CompareSelectedVersion,
) -> Result<(GroupResource, Option<ApiVersion>), Violations> {
    let mut found = Violations::new();
    read_fields! { pb, found; resource = resource, version = version }
    Ok((resource, version))
}

impl Wire<v1::ObjectsOperation> for Operation {
    fn to_wire(&self) -> v1::ObjectsOperation {
        use v1::objects_operation::Operation as Sent;
        let operation = match self {
            Self::Create(create) => Sent::Create(create.to_wire()),
            Self::Update(update) => Sent::Update(update.to_wire()),
            Self::Patch(patch) => Sent::Patch(patch.to_wire()),
            Self::Delete(delete) => Sent::Delete(delete.to_wire()),
        };
        v1::ObjectsOperation {
            operation: Some(operation),
        }
    }

    fn of_wire(pb: v1::ObjectsOperation) -> Result<Self, Violations> {
        use v1::objects_operation::Operation as Sent;
        let mut found = Violations::new();
        let operation = match required(pb.operation, "must say what to do")? {
            Sent::Create(pb) => found
                .parsed("create", CreateObject::of_wire(pb))
                .map(Self::Create),
            Sent::Update(pb) => found
                .parsed("update", UpdateObject::of_wire(pb))
                .map(Self::Update),
            Sent::Patch(pb) => found
                .parsed("patch", PatchObject::of_wire(pb))
                .map(Self::Patch),
            Sent::Delete(pb) => found
                .parsed("delete", DeleteObject::of_wire(pb))
                .map(Self::Delete),
        };
        operation.ok_or(found)
    }
}
