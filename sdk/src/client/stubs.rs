//! The generated clients of all services, with the size limit for answers.

use synod_proto::v1::cluster_client::ClusterClient;
use synod_proto::v1::collections_client::CollectionsClient;
use synod_proto::v1::controller_revisions_client::ControllerRevisionsClient;
use synod_proto::v1::leases_client::LeasesClient;
use synod_proto::v1::membership_client::MembershipClient;
use synod_proto::v1::migrations_client::MigrationsClient;
use synod_proto::v1::objects_client::ObjectsClient;
use synod_proto::v1::rosters_client::RostersClient;
use synod_proto::v1::sessions_client::SessionsClient;
use synod_proto::v1::storage_versions_client::StorageVersionsClient;
use synod_proto::v1::watch_client::WatchClient;

use crate::transport::{ANSWER_BYTES_MAX, ReplicaChannel};

pub(crate) fn cluster(channel: ReplicaChannel) -> ClusterClient<ReplicaChannel> {
    ClusterClient::new(channel).max_decoding_message_size(ANSWER_BYTES_MAX)
}

pub(crate) fn controller_revisions(
    channel: ReplicaChannel,
) -> ControllerRevisionsClient<ReplicaChannel> {
    ControllerRevisionsClient::new(channel).max_decoding_message_size(ANSWER_BYTES_MAX)
}

pub(crate) fn leases(channel: ReplicaChannel) -> LeasesClient<ReplicaChannel> {
    LeasesClient::new(channel).max_decoding_message_size(ANSWER_BYTES_MAX)
}

pub(crate) fn collections(channel: ReplicaChannel) -> CollectionsClient<ReplicaChannel> {
    CollectionsClient::new(channel).max_decoding_message_size(ANSWER_BYTES_MAX)
}

pub(crate) fn objects(channel: ReplicaChannel) -> ObjectsClient<ReplicaChannel> {
    ObjectsClient::new(channel).max_decoding_message_size(ANSWER_BYTES_MAX)
}

pub(crate) fn membership(channel: ReplicaChannel) -> MembershipClient<ReplicaChannel> {
    MembershipClient::new(channel).max_decoding_message_size(ANSWER_BYTES_MAX)
}

pub(crate) fn migrations(channel: ReplicaChannel) -> MigrationsClient<ReplicaChannel> {
    MigrationsClient::new(channel).max_decoding_message_size(ANSWER_BYTES_MAX)
}

pub(crate) fn rosters(channel: ReplicaChannel) -> RostersClient<ReplicaChannel> {
    RostersClient::new(channel).max_decoding_message_size(ANSWER_BYTES_MAX)
}

pub(crate) fn sessions(channel: ReplicaChannel) -> SessionsClient<ReplicaChannel> {
    SessionsClient::new(channel).max_decoding_message_size(ANSWER_BYTES_MAX)
}

pub(crate) fn storage_versions(channel: ReplicaChannel) -> StorageVersionsClient<ReplicaChannel> {
    StorageVersionsClient::new(channel).max_decoding_message_size(ANSWER_BYTES_MAX)
}

pub(crate) fn watch(channel: ReplicaChannel) -> WatchClient<ReplicaChannel> {
    WatchClient::new(channel).max_decoding_message_size(ANSWER_BYTES_MAX)
}
