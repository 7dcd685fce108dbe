//! Sends raw requests to one replica, without retries: for what the client library hides.

use synod_client::{ErrorKind, Revision};
use synod_model::Refusal;
use synod_proto::v1;
use synod_proto::v1::cluster_client::ClusterClient;
use synod_proto::v1::collections_client::CollectionsClient;
use synod_proto::v1::membership_client::MembershipClient;
use synod_proto::v1::migrations_client::MigrationsClient;
use synod_proto::v1::objects_client::ObjectsClient;
use synod_proto::v1::sessions_client::SessionsClient;
use synod_proto::v1::storage_versions_client::StorageVersionsClient;
use synod_proto::v1::watch_client::WatchClient;
use tonic::transport::{Channel, Endpoint};
use tonic::{Request, Status};

use crate::waiting::LIMIT;

/// The services of one replica, over one connection.
#[derive(Clone)]
pub(crate) struct Wire {
    channel: Channel,
}

impl Wire {
    /// The replica that serves clients at `endpoint`. The connection is made when something is sent.
    pub(crate) fn to(endpoint: &str) -> Self {
        let endpoint =
            Endpoint::from_shared(format!("http://{endpoint}")).expect("it is an address");
        Self {
            channel: endpoint.connect_lazy(),
        }
    }

    pub(crate) fn sessions(&self) -> SessionsClient<Channel> {
        SessionsClient::new(self.channel.clone())
    }

    pub(crate) fn membership(&self) -> MembershipClient<Channel> {
        MembershipClient::new(self.channel.clone())
    }

    pub(crate) fn storage_versions(&self) -> StorageVersionsClient<Channel> {
        StorageVersionsClient::new(self.channel.clone())
    }

    pub(crate) fn migrations(&self) -> MigrationsClient<Channel> {
        MigrationsClient::new(self.channel.clone())
    }

    pub(crate) fn cluster(&self) -> ClusterClient<Channel> {
        ClusterClient::new(self.channel.clone())
    }

    pub(crate) fn collections(&self) -> CollectionsClient<Channel> {
        CollectionsClient::new(self.channel.clone())
    }

    pub(crate) fn objects(&self) -> ObjectsClient<Channel> {
        ObjectsClient::new(self.channel.clone())
    }

    pub(crate) fn watch(&self) -> WatchClient<Channel> {
        WatchClient::new(self.channel.clone()).max_decoding_message_size(usize::MAX)
    }

    /// Opens a session.
    pub(crate) async fn open_session(&self) -> v1::SessionsOpenResponse {
        let opened = self
            .sessions()
            .open(timely(v1::SessionsOpenRequest {}))
            .await;
        opened.expect("a session is opened").into_inner()
    }
}

/// A request with the deadline of [`LIMIT`].
pub(crate) fn timely<M>(message: M) -> Request<M> {
    let mut request = Request::new(message);
    request.set_timeout(LIMIT);
    request
}

/// The refusal that a call was answered with.
pub(crate) fn refusal<T: std::fmt::Debug>(answer: Result<T, Status>) -> Refusal {
    synod_proto::status::from_status(&answer.expect_err("the call is refused"))
}

/// The kind of the refusal that a call was answered with.
pub(crate) fn kind<T: std::fmt::Debug>(answer: Result<T, Status>) -> ErrorKind {
    refusal(answer).kind
}

/// The exactly-once key of a request whose predecessors' answers have all arrived.
pub(crate) fn key(session: u64, sequence: u64) -> v1::RequestId {
    v1::RequestId {
        session,
        sequence,
        lowest_unanswered: sequence,
        cluster_id: String::new(),
    }
}

/// The revision in an answer's header.
pub(crate) fn revision(header: Option<&v1::ResponseHeader>) -> Revision {
    Revision::new(header.expect("every answer has a header").revision)
}
