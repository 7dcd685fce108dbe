use synod_model::{
    CreateCollection, DeleteCollection, GroupResource, Kind, Preconditions, UpdateCollection,
    Violations,
};

use super::{Change, Key, key};
use crate::fields::{required, sound};
use crate::v1;

impl From<&Change<CreateCollection>> for v1::CollectionsCreateRequest {
    fn from(change: &Change<CreateCollection>) -> Self {
        let create = &change.body;
        Self {
            request_id: change.wire_key(),
            resource: Some((&create.resource).into()),
            kind: create.kind.to_string(),
            namespaced: create.namespaced,
            rules: Some(create.rules.into()),
            dry_run: false,
        }
    }
}

impl TryFrom<v1::CollectionsCreateRequest> for Change<CreateCollection> {
    type Error = Violations;

    fn try_from(pb: v1::CollectionsCreateRequest) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let key = key(pb.request_id, &mut found);
        let resource = resource(pb.resource, &mut found);
        let kind = found.parsed("kind", Kind::parse(&pb.kind));
        let (Some(resource), Some(kind)) = (resource, kind) else {
            return Err(found);
        };
        let body = CreateCollection {
            resource,
            kind,
            namespaced: pb.namespaced,
            rules: pb.rules.unwrap_or_default().into(),
        };
        found.extend_at("", body.check());
        sound(of(key, body), found)
    }
}

impl From<&Change<UpdateCollection>> for v1::CollectionsUpdateRequest {
    fn from(change: &Change<UpdateCollection>) -> Self {
        let update = &change.body;
        Self {
            request_id: change.wire_key(),
            resource: Some((&update.resource).into()),
            preconditions: Some((&update.preconditions).into()),
            strict_storage_version: update.strict_storage_version,
            create_on_update: update.create_on_update,
            unconditional_update: update.unconditional_update,
            dry_run: false,
        }
    }
}

impl TryFrom<v1::CollectionsUpdateRequest> for Change<UpdateCollection> {
    type Error = Violations;

    fn try_from(pb: v1::CollectionsUpdateRequest) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let key = key(pb.request_id, &mut found);
        let resource = resource(pb.resource, &mut found);
        let preconditions = preconditions(pb.preconditions, &mut found);
        let (Some(resource), Some(preconditions)) = (resource, preconditions) else {
            return Err(found);
        };
        let body = UpdateCollection {
            resource,
            strict_storage_version: pb.strict_storage_version,
            create_on_update: pb.create_on_update,
            unconditional_update: pb.unconditional_update,
            preconditions,
        };
        found.extend_at("", body.check());
        sound(of(key, body), found)
    }
}

impl From<&Change<DeleteCollection>> for v1::CollectionsDeleteRequest {
    fn from(change: &Change<DeleteCollection>) -> Self {
        let delete = &change.body;
        Self {
            request_id: change.wire_key(),
            resource: Some((&delete.resource).into()),
            preconditions: Some((&delete.preconditions).into()),
            dry_run: false,
        }
    }
}

impl TryFrom<v1::CollectionsDeleteRequest> for Change<DeleteCollection> {
    type Error = Violations;

    fn try_from(pb: v1::CollectionsDeleteRequest) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let key = key(pb.request_id, &mut found);
        let resource = resource(pb.resource, &mut found);
        let preconditions = preconditions(pb.preconditions, &mut found);
        let (Some(resource), Some(preconditions)) = (resource, preconditions) else {
            return Err(found);
        };
        let body = DeleteCollection {
            resource,
            preconditions,
        };
        sound(of(key, body), found)
    }
}

fn of<T>(key: Key, body: T) -> Change<T> {
    Change {
        key: key.id,
        session_cluster: key.cluster,
        ..Change::new(body)
    }
}

fn resource(pb: Option<v1::GroupResource>, found: &mut Violations) -> Option<GroupResource> {
    let resource = required(pb, "must name a resource")
        .map_err(Violations::from)
        .and_then(GroupResource::try_from);
    found.parsed("resource", resource)
}

/// Reads the field `preconditions`.
pub(super) fn preconditions(
    pb: Option<v1::Preconditions>,
    found: &mut Violations,
) -> Option<Preconditions> {
    found.parsed(
        "preconditions",
        Preconditions::try_from(pb.unwrap_or_default()),
    )
}
