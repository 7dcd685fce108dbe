//! The header that all answers have.

use synod_proto::v1;

/// An answer with a header, which names the replica.
pub(crate) trait Headed: Send {
    /// The header, if the answer has one.
    fn header(&self) -> Option<&v1::ResponseHeader>;
}

macro_rules! answers {
    ($($message:ident),+ $(,)?) => {
        $(impl Headed for v1::$message {
            fn header(&self) -> Option<&v1::ResponseHeader> {
                self.header.as_ref()
            }
        })+
    };
}

answers!(
    ClusterGetDiagnosticsResponse,
    ClusterGetLogFilterResponse,
    ClusterGetSettingsResponse,
    ClusterRevisionAtResponse,
    ClusterSetLogFilterResponse,
    ClusterStatusResponse,
    ClusterUpdateSettingsResponse,
    LeasesAcquireResponse,
    LeasesGetResponse,
    LeasesListCandidatesResponse,
    LeasesListResponse,
    LeasesPutCandidateResponse,
    LeasesReleaseResponse,
    LeasesRenewResponse,
    LeasesWithdrawCandidateResponse,
    CollectionsCreateResponse,
    CollectionsDeleteResponse,
    CollectionsGetResponse,
    CollectionsListResponse,
    CollectionsUpdateResponse,
    ControllerRevisionsAdoptResponse,
    ControllerRevisionsCreateResponse,
    ClusterAddReplicaResponse,
    ClusterCheckpointResponse,
    ClusterPromoteReplicaResponse,
    ClusterRemoveReplicaResponse,
    ClusterTransferLeaderResponse,
    ControllerRevisionsDeleteResponse,
    ControllerRevisionsDeleteHistoryResponse,
    ControllerRevisionsDiffResponse,
    ControllerRevisionsGetResponse,
    ControllerRevisionsHistoryResponse,
    ControllerRevisionsListResponse,
    ControllerRevisionsMarkLiveResponse,
    ControllerRevisionsReleaseResponse,
    ControllerRevisionsRollbackResponse,
    ControllerRevisionsTruncateResponse,
    ControllerRevisionsUpdateResponse,
    MembershipGetResponse,
    MembershipJoinResponse,
    MembershipLeaveResponse,
    MembershipListResponse,
    MembershipReadyResponse,
    MembershipRenewResponse,
    ObjectsCreateResponse,
    ObjectsDeleteResponse,
    ObjectsGetResponse,
    ObjectsListResponse,
    ObjectsPatchResponse,
    ObjectsTransactResponse,
    ObjectsUpdateResponse,
    MigrationsAbortResponse,
    MigrationsClaimResponse,
    MigrationsCompleteResponse,
    MigrationsDeleteResponse,
    MigrationsDismissResponse,
    MigrationsFailResponse,
    MigrationsGetResponse,
    MigrationsListResponse,
    MigrationsObserveResponse,
    MigrationsProgressResponse,
    MigrationsReleaseResponse,
    MigrationsResetResponse,
    MigrationsRetryResponse,
    MigrationsStartResponse,
    LeasesDeleteResponse,
    RostersDeleteResponse,
    RostersGetResponse,
    RostersListResponse,
    RostersSetResponse,
    SessionsCloseResponse,
    SessionsGetOutcomeResponse,
    SessionsOpenResponse,
    StorageVersionsAdoptResponse,
    StorageVersionsAddEquivalentsResponse,
    StorageVersionsForgetResponse,
    StorageVersionsRemoveEquivalentResponse,
    StorageVersionsCheckAgreementResponse,
    StorageVersionsCheckBinaryResponse,
    StorageVersionsCheckDropResponse,
    StorageVersionsCheckUpgradeResponse,
    StorageVersionsGetResponse,
    StorageVersionsHistoryResponse,
    StorageVersionsListResponse,
    StorageVersionsReportResponse,
);
