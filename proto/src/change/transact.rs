use synod_model::limits::TRANSACTION_OPERATIONS_MAX;
use synod_model::{
    ApiVersion, Compare, CreateObject, DeleteObject, Fences, GroupResource, ObjectKey, Operation,
    PatchObject, Revision, Transact, UpdateObject, Violation, Violations,
};

use super::Change;
use super::objects::{Opening, wire_fences};
use crate::fields::{list, required, sound};
use crate::v1;

impl From<&Change<Transact>> for v1::ObjectsTransactRequest {
    fn from(change: &Change<Transact>) -> Self {
        let transact = &change.body;
        Self {
            request_id: change.wire_key(),
            compares: transact.compares.iter().map(Into::into).collect(),
            operations: transact.operations.iter().map(Into::into).collect(),
            reads: transact.reads.iter().map(Into::into).collect(),
            fences: wire_fences(change, &transact.fences),
            dry_run: false,
        }
    }
}

impl TryFrom<v1::ObjectsTransactRequest> for Change<Transact> {
    type Error = Violations;

    fn try_from(mut pb: v1::ObjectsTransactRequest) -> Result<Self, Violations> {
        let opening = Opening::read(pb.request_id.take(), pb.fences.take());
        opening.around(Transact::try_from(pb), |body| &mut body.fences)
    }
}

/// All but the fences.
impl TryFrom<v1::ObjectsTransactRequest> for Transact {
    type Error = Violations;

    fn try_from(pb: v1::ObjectsTransactRequest) -> Result<Self, Violations> {
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
        // What is too long is not looked into.
        if !found.is_empty() {
            return Err(found);
        }
        let compares = found.parsed("compares", list(pb.compares, Compare::try_from));
        let operations = found.parsed("operations", list(pb.operations, Operation::try_from));
        let reads = found.parsed("reads", list(pb.reads, ObjectKey::try_from));
        let (Some(compares), Some(operations), Some(reads)) = (compares, operations, reads) else {
            return Err(found);
        };
        let body = Self {
            compares,
            operations,
            reads,
            fences: Fences::default(),
        };
        found.extend_at("", body.check());
        sound(body, found)
    }
}

impl From<&Compare> for v1::ObjectsCompare {
    fn from(compare: &Compare) -> Self {
        use v1::objects_compare::Compare as Wire;
        let existence = |key: &ObjectKey, exists| {
            Wire::Existence(v1::CompareExistence {
                key: Some(key.into()),
                exists,
            })
        };
        let compare = match compare {
            Compare::ResourceVersion(key, revision) => {
                Wire::ResourceVersion(v1::CompareResourceVersion {
                    key: Some(key.into()),
                    resource_version: revision.get(),
                })
            }
            Compare::Exists(key) => existence(key, true),
            Compare::Absent(key) => existence(key, false),
            Compare::Selected(resource, version) => {
                Wire::SelectedVersion(v1::CompareSelectedVersion {
                    resource: Some(resource.into()),
                    version: version.as_ref().map(ToString::to_string),
                })
            }
        };
        Self {
            compare: Some(compare),
        }
    }
}

impl TryFrom<v1::ObjectsCompare> for Compare {
    type Error = Violations;

    fn try_from(pb: v1::ObjectsCompare) -> Result<Self, Violations> {
        use v1::objects_compare::Compare as Wire;
        match required(pb.compare, "must say what to compare")? {
            Wire::ResourceVersion(compare) => {
                let key = key_at("resourceVersion.key", compare.key)?;
                let revision = Revision::new(compare.resource_version);
                Ok(Self::ResourceVersion(key, revision))
            }
            Wire::Existence(compare) => {
                let key = key_at("existence.key", compare.key)?;
                Ok(match compare.exists {
                    true => Self::Exists(key),
                    false => Self::Absent(key),
                })
            }
            Wire::SelectedVersion(compare) => {
                let mut found = Violations::new();
                let resource = required(compare.resource, "must name a resource")
                    .map_err(Violations::from)
                    .and_then(GroupResource::try_from);
                let resource = found.parsed("selectedVersion.resource", resource);
                let version = compare.version.as_deref().map(ApiVersion::parse);
                let version = found.parsed("selectedVersion.version", version.transpose());
                match (resource, version) {
                    (Some(resource), Some(version)) => Ok(Self::Selected(resource, version)),
                    _ => Err(found),
                }
            }
        }
    }
}

fn key_at(path: &str, pb: Option<v1::ObjectKey>) -> Result<ObjectKey, Violations> {
    let mut found = Violations::new();
    let key = required(pb, "must name an object")
        .map_err(Violations::from)
        .and_then(ObjectKey::try_from);
    found.parsed(path, key).ok_or(found)
}

impl From<&Operation> for v1::ObjectsOperation {
    fn from(operation: &Operation) -> Self {
        use v1::objects_operation::Operation as Wire;
        let operation = match operation {
            Operation::Create(create) => Wire::Create(create.into()),
            Operation::Update(update) => Wire::Update(update.into()),
            Operation::Patch(patch) => Wire::Patch(patch.into()),
            Operation::Delete(delete) => Wire::Delete(delete.into()),
        };
        Self {
            operation: Some(operation),
        }
    }
}

impl TryFrom<v1::ObjectsOperation> for Operation {
    type Error = Violations;

    fn try_from(pb: v1::ObjectsOperation) -> Result<Self, Violations> {
        use v1::objects_operation::Operation as Wire;
        let mut found = Violations::new();
        let operation = match required(pb.operation, "must say what to do")? {
            Wire::Create(create) => found
                .parsed("create", CreateObject::try_from(create))
                .map(Self::Create),
            Wire::Update(update) => found
                .parsed("update", UpdateObject::try_from(update))
                .map(Self::Update),
            Wire::Patch(patch) => found
                .parsed("patch", PatchObject::try_from(patch))
                .map(Self::Patch),
            Wire::Delete(delete) => found
                .parsed("delete", DeleteObject::try_from(delete))
                .map(Self::Delete),
        };
        operation.ok_or(found)
    }
}
