//! The service `synod.v1.Collections`.

use synod_machine::{Answer, Command, Past};
use synod_model::{Collection, GroupResource, Refusal};
use synod_proto::{CollectionCursor, GetCollection, ListCollections, v1};

use super::calls::calls;
use super::pages::{Items, Page};
use super::{typed, unexpected};
use crate::handle::{Asking, Carried, Handle};
use crate::objects;

calls! {
    create: CollectionsCreateRequest => CollectionsCreateResponse;
    update: CollectionsUpdateRequest => CollectionsUpdateResponse;
    get: CollectionsGetRequest => CollectionsGetResponse;
    list: CollectionsListRequest => CollectionsListResponse;
    delete: CollectionsDeleteRequest => CollectionsDeleteResponse by DeleteCollection or dry_run;
}

async fn create(
    handle: &Handle,
    asking: &Asking,
    message: v1::CollectionsCreateRequest,
) -> Result<v1::CollectionsCreateResponse, Refusal> {
    let resource = message.resource.clone();
    let dry_run = message.dry_run;
    let carried = handle
        .carry_out(asking, typed(message)?, dry_run, Command::CreateCollection)
        .await?;
    Ok(v1::CollectionsCreateResponse {
        header: Some(handle.header(carried.done.revision)),
        collection: written(&carried, resource)?,
    })
}

async fn update(
    handle: &Handle,
    asking: &Asking,
    message: v1::CollectionsUpdateRequest,
) -> Result<v1::CollectionsUpdateResponse, Refusal> {
    let resource = message.resource.clone();
    let dry_run = message.dry_run;
    let carried = handle
        .carry_out(asking, typed(message)?, dry_run, Command::UpdateCollection)
        .await?;
    Ok(v1::CollectionsUpdateResponse {
        header: Some(handle.header(carried.done.revision)),
        changed: carried.done.changed,
        collection: written(&carried, resource)?,
    })
}

/// The collection as the command left it, if that revision is still kept.
fn written(
    carried: &Carried,
    resource: Option<v1::GroupResource>,
) -> Result<Option<v1::Collection>, Refusal> {
    let Answer::Wrote(written) = &carried.done.answer else {
        return Err(unexpected(&carried.done.answer));
    };
    let resource = resource.and_then(|resource| GroupResource::try_from(resource).ok());
    let (Some(resource), Some(past)) = (resource, carried.past()) else {
        return Ok(None);
    };
    let found = past.collection(&resource);
    let found = found.filter(|collection| collection.metadata.uid == written.uid);
    Ok(found.as_deref().map(Into::into))
}

async fn get(
    handle: &Handle,
    asking: &Asking,
    message: v1::CollectionsGetRequest,
) -> Result<v1::CollectionsGetResponse, Refusal> {
    let GetCollection { resource, read } = typed(message)?;
    let reading = handle.read(asking, read).await?;
    let past = reading.past()?;
    let collection = past
        .collection(&resource)
        .ok_or_else(|| Refusal::no_collection(&resource))?;
    let item = item(&past, &collection);
    Ok(v1::CollectionsGetResponse {
        header: Some(handle.header_of(&reading)),
        collection: item.collection,
        counts: item.counts,
    })
}

async fn list(
    handle: &Handle,
    asking: &Asking,
    message: v1::CollectionsListRequest,
) -> Result<v1::CollectionsListResponse, Refusal> {
    let ListCollections { page } = typed(message)?;
    let page = Page::open(handle, asking, page).await?;
    let past = page.past()?;
    let after = page.after.as_ref().map(|cursor| &cursor.0);
    let Items {
        items,
        continue_token,
    } = page.take(
        handle,
        past.collections(after).map(|collection| {
            (
                CollectionCursor(collection.resource.clone()),
                item(&past, &collection),
            )
        }),
    )?;
    Ok(v1::CollectionsListResponse {
        header: Some(handle.header_of(&page.reading)),
        items,
        continue_token,
        inconsistent: page.is_inconsistent(),
    })
}

fn item(past: &Past<'_>, collection: &Collection) -> v1::CollectionListItem {
    v1::CollectionListItem {
        collection: Some(collection.into()),
        counts: objects::counts(&past.object_counts(&collection.resource)),
    }
}
