//! Rosters of the stand-in: reads are answered from its list, writes as if they had been made.

use synod_proto::v1;
use synod_proto::v1::rosters_server::Rosters;
use tonic::{Request, Response, Status, async_trait};

use super::{Actor, fixture};

#[async_trait]
impl Rosters for Actor {
    async fn set(
        &self,
        request: Request<v1::RostersSetRequest>,
    ) -> Result<Response<v1::RostersSetResponse>, Status> {
        self.say(&v1::RostersSetResponse {
            header: Some(fixture::header()),
            changed: true,
            roster: self.roster(&request.get_ref().scope),
        })
    }

    async fn delete(
        &self,
        _: Request<v1::RostersDeleteRequest>,
    ) -> Result<Response<v1::RostersDeleteResponse>, Status> {
        self.say(&v1::RostersDeleteResponse {
            header: Some(fixture::header()),
        })
    }

    async fn get(
        &self,
        request: Request<v1::RostersGetRequest>,
    ) -> Result<Response<v1::RostersGetResponse>, Status> {
        self.say(&v1::RostersGetResponse {
            header: Some(fixture::header()),
            roster: self.roster(&request.get_ref().scope),
        })
    }

    async fn list(
        &self,
        _: Request<v1::RostersListRequest>,
    ) -> Result<Response<v1::RostersListResponse>, Status> {
        self.say(&self.part.rosters)
    }
}

impl Actor {
    fn roster(&self, scope: &str) -> Option<v1::Roster> {
        let mut rosters = self.part.rosters.rosters.iter();
        rosters.find(|roster| roster.scope == scope).cloned()
    }
}
