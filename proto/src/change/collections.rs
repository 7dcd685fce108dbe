use synod_model::{CreateCollection, DeleteCollection, UpdateCollection};

use super::{Change, requests};
use crate::{messages, v1};

requests! {
    v1::CollectionsCreateRequest = CreateCollection;
    v1::CollectionsUpdateRequest = UpdateCollection;
    v1::CollectionsDeleteRequest = DeleteCollection;
}

messages! {
    v1::CollectionsCreateRequest = CreateCollection {
        resource = resource,
        kind = kind,
        namespaced = namespaced,
        rules = rules,
        ; ..Default::default()
    } => check
    v1::CollectionsUpdateRequest = UpdateCollection {
        resource = resource,
        strict_storage_version = strict_storage_version,
        create_on_update = create_on_update,
        unconditional_update = unconditional_update,
        status_subresource = status_subresource,
        kind = kind,
        preconditions = preconditions,
        ; ..Default::default()
    } => check
    v1::CollectionsDeleteRequest = DeleteCollection {
        resource = resource,
        preconditions = preconditions,
        ; ..Default::default()
    }
}
