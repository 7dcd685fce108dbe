//! Collections and objects of the stand-in: reads are answered from its lists, writes with the prepared answers.

use synod_proto::v1;
use synod_proto::v1::collections_server::Collections;
use synod_proto::v1::objects_server::Objects;
use tonic::{Request, Response, Status, async_trait};

use super::{Actor, fixture, no_part};

#[async_trait]
impl Collections for Actor {
    async fn create(
        &self,
        _: Request<v1::CollectionsCreateRequest>,
    ) -> Result<Response<v1::CollectionsCreateResponse>, Status> {
        let item = self.part.collections.items.last();
        self.say(&v1::CollectionsCreateResponse {
            header: Some(fixture::header()),
            collection: item.and_then(|item| item.collection.clone()),
        })
    }

    async fn update(
        &self,
        _: Request<v1::CollectionsUpdateRequest>,
    ) -> Result<Response<v1::CollectionsUpdateResponse>, Status> {
        Err(no_part())
    }

    async fn get(
        &self,
        request: Request<v1::CollectionsGetRequest>,
    ) -> Result<Response<v1::CollectionsGetResponse>, Status> {
        let wanted = request.into_inner().resource;
        let of = |item: &v1::CollectionListItem| item.collection.clone()?.resource;
        let mut items = self.part.collections.items.iter();
        let found = items.find(|item| of(item) == wanted);
        let found = found.ok_or_else(|| Status::not_found("there is no such collection"))?;
        self.say(&v1::CollectionsGetResponse {
            header: Some(fixture::header()),
            collection: found.collection.clone(),
            counts: found.counts.clone(),
        })
    }

    async fn list(
        &self,
        _: Request<v1::CollectionsListRequest>,
    ) -> Result<Response<v1::CollectionsListResponse>, Status> {
        self.say(&self.part.collections)
    }

    async fn delete(
        &self,
        _: Request<v1::CollectionsDeleteRequest>,
    ) -> Result<Response<v1::CollectionsDeleteResponse>, Status> {
        self.say(&v1::CollectionsDeleteResponse {
            header: Some(fixture::header()),
        })
    }
}

#[async_trait]
impl Objects for Actor {
    async fn create(
        &self,
        _: Request<v1::ObjectsCreateRequest>,
    ) -> Result<Response<v1::ObjectsCreateResponse>, Status> {
        Err(no_part())
    }

    async fn get(
        &self,
        request: Request<v1::ObjectsGetRequest>,
    ) -> Result<Response<v1::ObjectsGetResponse>, Status> {
        let wanted = request.into_inner().key.map(|key| key.name);
        let name = |item: &v1::ObjectListItem| Some(item.object.clone()?.metadata?.name);
        let mut items = self.part.objects.items.iter();
        let found = items.find(|item| name(item) == wanted);
        let found = found.ok_or_else(|| Status::not_found("there is no such object"))?;
        self.say(&v1::ObjectsGetResponse {
            header: Some(fixture::header()),
            object: found.object.clone(),
            remaining_ms: found.remaining_ms,
        })
    }

    async fn list(
        &self,
        request: Request<v1::ObjectsListRequest>,
    ) -> Result<Response<v1::ObjectsListResponse>, Status> {
        let wanted = request.into_inner().resource;
        let of = |item: &v1::ObjectListItem| item.object.clone()?.resource;
        let mut answer = self.part.objects.clone();
        answer.items.retain(|item| of(item) == wanted);
        self.say(&answer)
    }

    async fn update(
        &self,
        _: Request<v1::ObjectsUpdateRequest>,
    ) -> Result<Response<v1::ObjectsUpdateResponse>, Status> {
        self.say(&self.part.written)
    }

    async fn patch(
        &self,
        _: Request<v1::ObjectsPatchRequest>,
    ) -> Result<Response<v1::ObjectsPatchResponse>, Status> {
        Err(no_part())
    }

    async fn delete(
        &self,
        _: Request<v1::ObjectsDeleteRequest>,
    ) -> Result<Response<v1::ObjectsDeleteResponse>, Status> {
        let written = &self.part.written;
        self.say(&v1::ObjectsDeleteResponse {
            header: Some(fixture::header()),
            changed: true,
            deleted: true,
            uid: written.uid.clone(),
            resource_version: written.resource_version,
        })
    }

    async fn transact(
        &self,
        _: Request<v1::ObjectsTransactRequest>,
    ) -> Result<Response<v1::ObjectsTransactResponse>, Status> {
        Err(no_part())
    }
}
