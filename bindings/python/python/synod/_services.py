"""The services of Synod's protocol: one method for each of its calls, for threads and for event loops."""

# Generated from the sources of the protocol: UPDATE_GOLDEN=1 cargo test --package synod-bound --test bound generated

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping

from synod import v1
from synod._service import AsyncService, Service


class ClusterService(Service):
    """The cluster itself: its replicas and its replicated settings.

    A change of the replica set is brought to the leader, whichever replica is asked. Asked again after it was carried out, it
    changes nothing, so it needs no request id. Since 0.1.
    """

    def status(
        self,
        *,
        timeout: float | None = None,
    ) -> v1.ClusterStatusResponse:
        """Says how the cluster does, as the replica that is asked sees it: no quorum is needed. Since 0.1."""
        request = v1.ClusterStatusRequest()
        return self._call("synod.v1.Cluster/Status", request, v1.ClusterStatusResponse, timeout)

    def get_settings(
        self,
        *,
        read: v1.ReadOptions | None = None,
        timeout: float | None = None,
    ) -> v1.ClusterGetSettingsResponse:
        """Reads the settings. Since 0.1."""
        request = v1.ClusterGetSettingsRequest(
            read=read,
        )
        return self._call("synod.v1.Cluster/GetSettings", request, v1.ClusterGetSettingsResponse, timeout)

    def revision_at(
        self,
        *,
        time_ms: int = 0,
        read: v1.ReadOptions | None = None,
        timeout: float | None = None,
    ) -> v1.ClusterRevisionAtResponse:
        """Finds the newest kept revision that was made at or before a time. `COMPACTED`: every kept revision was made later, or
        before times were kept. Since 0.1.
        """
        request = v1.ClusterRevisionAtRequest(
            time_ms=time_ms,
            read=read,
        )
        return self._call("synod.v1.Cluster/RevisionAt", request, v1.ClusterRevisionAtResponse, timeout)

    def update_settings(
        self,
        *,
        request_id: v1.RequestId | None = None,
        patch: v1.SettingsPatch | None = None,
        if_revision: int | None = None,
        dry_run: bool = False,
        timeout: float | None = None,
    ) -> v1.ClusterUpdateSettingsResponse:
        """Changes settings. Since 0.1."""
        request = v1.ClusterUpdateSettingsRequest(
            request_id=request_id,
            patch=patch,
            if_revision=if_revision,
            dry_run=dry_run,
        )
        return self._call("synod.v1.Cluster/UpdateSettings", request, v1.ClusterUpdateSettingsResponse, timeout)

    def add_replica(
        self,
        *,
        replica_id: int = 0,
        peer_address: str = "",
        timeout: float | None = None,
    ) -> v1.ClusterAddReplicaResponse:
        """Adds a fresh replica, which was started to join and has an empty data directory. It becomes a learner: it follows the
        log, serves reads, and does not count for the quorum. `ALREADY_EXISTS`: its id is taken, or was that of a
        replica that has left. `UNAVAILABLE`: it does not answer. Since 0.1.
        """
        request = v1.ClusterAddReplicaRequest(
            replica_id=replica_id,
            peer_address=peer_address,
        )
        return self._call("synod.v1.Cluster/AddReplica", request, v1.ClusterAddReplicaResponse, timeout)

    def promote_replica(
        self,
        *,
        replica_id: int = 0,
        replaces_id: int | None = None,
        timeout: float | None = None,
    ) -> v1.ClusterPromoteReplicaResponse:
        """Makes a learner a voter as soon as it has caught up; with `replaces_id`, another replica leaves the set in the same
        change. `NOT_FOUND`: there is no such replica. `UNAVAILABLE`: it has not caught up within the deadline. `CONFLICT`: the
        new set would have no majority that answers. Since 0.1.
        """
        request = v1.ClusterPromoteReplicaRequest(
            replica_id=replica_id,
            replaces_id=replaces_id,
        )
        return self._call("synod.v1.Cluster/PromoteReplica", request, v1.ClusterPromoteReplicaResponse, timeout)

    def remove_replica(
        self,
        *,
        replica_id: int = 0,
        timeout: float | None = None,
    ) -> v1.ClusterRemoveReplicaResponse:
        """Lets a replica leave the set, for good: it ends, and nobody gets its id again. A leader hands the leadership over
        first. `CONFLICT`: it is the last voter, or the others would have no majority that answers. Since 0.1.
        """
        request = v1.ClusterRemoveReplicaRequest(
            replica_id=replica_id,
        )
        return self._call("synod.v1.Cluster/RemoveReplica", request, v1.ClusterRemoveReplicaResponse, timeout)

    def transfer_leader(
        self,
        *,
        replica_id: int | None = None,
        from_replica_id: int | None = None,
        timeout: float | None = None,
    ) -> v1.ClusterTransferLeaderResponse:
        """Hands the leadership to another voter, and answers when it leads. `CONFLICT`: there is no such voter. Since 0.1."""
        request = v1.ClusterTransferLeaderRequest(
            replica_id=replica_id,
            from_replica_id=from_replica_id,
        )
        return self._call("synod.v1.Cluster/TransferLeader", request, v1.ClusterTransferLeaderResponse, timeout)

    def checkpoint(
        self,
        *,
        timeout: float | None = None,
    ) -> v1.ClusterCheckpointResponse:
        """Lets the replica that is asked write a checkpoint of its state, and answers when it is on disk. Since 0.1."""
        request = v1.ClusterCheckpointRequest()
        return self._call("synod.v1.Cluster/Checkpoint", request, v1.ClusterCheckpointResponse, timeout)

    def get_log_filter(
        self,
        *,
        timeout: float | None = None,
    ) -> v1.ClusterGetLogFilterResponse:
        """Says which events the process of the replica that is asked logs: no quorum is needed. Since 0.1."""
        request = v1.ClusterGetLogFilterRequest()
        return self._call("synod.v1.Cluster/GetLogFilter", request, v1.ClusterGetLogFilterResponse, timeout)

    def set_log_filter(
        self,
        *,
        filter: str | None = None,
        for_ms: int | None = None,
        timeout: float | None = None,
    ) -> v1.ClusterSetLogFilterResponse:
        """Has the process of the replica that is asked log other events for a while. No other replica is asked, and nothing is
        replicated. Since 0.1.
        """
        request = v1.ClusterSetLogFilterRequest(
            filter=filter,
            for_ms=for_ms,
        )
        return self._call("synod.v1.Cluster/SetLogFilter", request, v1.ClusterSetLogFilterResponse, timeout)

    def get_diagnostics(
        self,
        *,
        timeout: float | None = None,
    ) -> v1.ClusterGetDiagnosticsResponse:
        """Tells what the replica that is asked knows of itself and says nowhere else in this protocol: no quorum is needed.
        Since 0.1.
        """
        request = v1.ClusterGetDiagnosticsRequest()
        return self._call("synod.v1.Cluster/GetDiagnostics", request, v1.ClusterGetDiagnosticsResponse, timeout)


class AsyncClusterService(AsyncService):
    """The cluster itself: its replicas and its replicated settings.

    A change of the replica set is brought to the leader, whichever replica is asked. Asked again after it was carried out, it
    changes nothing, so it needs no request id. Since 0.1.
    """

    async def status(
        self,
        *,
        timeout: float | None = None,
    ) -> v1.ClusterStatusResponse:
        """Says how the cluster does, as the replica that is asked sees it: no quorum is needed. Since 0.1."""
        request = v1.ClusterStatusRequest()
        return await self._call("synod.v1.Cluster/Status", request, v1.ClusterStatusResponse, timeout)

    async def get_settings(
        self,
        *,
        read: v1.ReadOptions | None = None,
        timeout: float | None = None,
    ) -> v1.ClusterGetSettingsResponse:
        """Reads the settings. Since 0.1."""
        request = v1.ClusterGetSettingsRequest(
            read=read,
        )
        return await self._call("synod.v1.Cluster/GetSettings", request, v1.ClusterGetSettingsResponse, timeout)

    async def revision_at(
        self,
        *,
        time_ms: int = 0,
        read: v1.ReadOptions | None = None,
        timeout: float | None = None,
    ) -> v1.ClusterRevisionAtResponse:
        """Finds the newest kept revision that was made at or before a time. `COMPACTED`: every kept revision was made later, or
        before times were kept. Since 0.1.
        """
        request = v1.ClusterRevisionAtRequest(
            time_ms=time_ms,
            read=read,
        )
        return await self._call("synod.v1.Cluster/RevisionAt", request, v1.ClusterRevisionAtResponse, timeout)

    async def update_settings(
        self,
        *,
        request_id: v1.RequestId | None = None,
        patch: v1.SettingsPatch | None = None,
        if_revision: int | None = None,
        dry_run: bool = False,
        timeout: float | None = None,
    ) -> v1.ClusterUpdateSettingsResponse:
        """Changes settings. Since 0.1."""
        request = v1.ClusterUpdateSettingsRequest(
            request_id=request_id,
            patch=patch,
            if_revision=if_revision,
            dry_run=dry_run,
        )
        return await self._call("synod.v1.Cluster/UpdateSettings", request, v1.ClusterUpdateSettingsResponse, timeout)

    async def add_replica(
        self,
        *,
        replica_id: int = 0,
        peer_address: str = "",
        timeout: float | None = None,
    ) -> v1.ClusterAddReplicaResponse:
        """Adds a fresh replica, which was started to join and has an empty data directory. It becomes a learner: it follows the
        log, serves reads, and does not count for the quorum. `ALREADY_EXISTS`: its id is taken, or was that of a
        replica that has left. `UNAVAILABLE`: it does not answer. Since 0.1.
        """
        request = v1.ClusterAddReplicaRequest(
            replica_id=replica_id,
            peer_address=peer_address,
        )
        return await self._call("synod.v1.Cluster/AddReplica", request, v1.ClusterAddReplicaResponse, timeout)

    async def promote_replica(
        self,
        *,
        replica_id: int = 0,
        replaces_id: int | None = None,
        timeout: float | None = None,
    ) -> v1.ClusterPromoteReplicaResponse:
        """Makes a learner a voter as soon as it has caught up; with `replaces_id`, another replica leaves the set in the same
        change. `NOT_FOUND`: there is no such replica. `UNAVAILABLE`: it has not caught up within the deadline. `CONFLICT`: the
        new set would have no majority that answers. Since 0.1.
        """
        request = v1.ClusterPromoteReplicaRequest(
            replica_id=replica_id,
            replaces_id=replaces_id,
        )
        return await self._call("synod.v1.Cluster/PromoteReplica", request, v1.ClusterPromoteReplicaResponse, timeout)

    async def remove_replica(
        self,
        *,
        replica_id: int = 0,
        timeout: float | None = None,
    ) -> v1.ClusterRemoveReplicaResponse:
        """Lets a replica leave the set, for good: it ends, and nobody gets its id again. A leader hands the leadership over
        first. `CONFLICT`: it is the last voter, or the others would have no majority that answers. Since 0.1.
        """
        request = v1.ClusterRemoveReplicaRequest(
            replica_id=replica_id,
        )
        return await self._call("synod.v1.Cluster/RemoveReplica", request, v1.ClusterRemoveReplicaResponse, timeout)

    async def transfer_leader(
        self,
        *,
        replica_id: int | None = None,
        from_replica_id: int | None = None,
        timeout: float | None = None,
    ) -> v1.ClusterTransferLeaderResponse:
        """Hands the leadership to another voter, and answers when it leads. `CONFLICT`: there is no such voter. Since 0.1."""
        request = v1.ClusterTransferLeaderRequest(
            replica_id=replica_id,
            from_replica_id=from_replica_id,
        )
        return await self._call("synod.v1.Cluster/TransferLeader", request, v1.ClusterTransferLeaderResponse, timeout)

    async def checkpoint(
        self,
        *,
        timeout: float | None = None,
    ) -> v1.ClusterCheckpointResponse:
        """Lets the replica that is asked write a checkpoint of its state, and answers when it is on disk. Since 0.1."""
        request = v1.ClusterCheckpointRequest()
        return await self._call("synod.v1.Cluster/Checkpoint", request, v1.ClusterCheckpointResponse, timeout)

    async def get_log_filter(
        self,
        *,
        timeout: float | None = None,
    ) -> v1.ClusterGetLogFilterResponse:
        """Says which events the process of the replica that is asked logs: no quorum is needed. Since 0.1."""
        request = v1.ClusterGetLogFilterRequest()
        return await self._call("synod.v1.Cluster/GetLogFilter", request, v1.ClusterGetLogFilterResponse, timeout)

    async def set_log_filter(
        self,
        *,
        filter: str | None = None,
        for_ms: int | None = None,
        timeout: float | None = None,
    ) -> v1.ClusterSetLogFilterResponse:
        """Has the process of the replica that is asked log other events for a while. No other replica is asked, and nothing is
        replicated. Since 0.1.
        """
        request = v1.ClusterSetLogFilterRequest(
            filter=filter,
            for_ms=for_ms,
        )
        return await self._call("synod.v1.Cluster/SetLogFilter", request, v1.ClusterSetLogFilterResponse, timeout)

    async def get_diagnostics(
        self,
        *,
        timeout: float | None = None,
    ) -> v1.ClusterGetDiagnosticsResponse:
        """Tells what the replica that is asked knows of itself and says nowhere else in this protocol: no quorum is needed.
        Since 0.1.
        """
        request = v1.ClusterGetDiagnosticsRequest()
        return await self._call("synod.v1.Cluster/GetDiagnostics", request, v1.ClusterGetDiagnosticsResponse, timeout)


class MembershipService(Service):
    """Members are the API servers that take part. A member is kept by renewing; one that does not renew is expired, and
    with it goes all that hangs on it, at one revision. Since 0.1.
    """

    def join(
        self,
        *,
        request_id: v1.RequestId | None = None,
        id: str = "",
        instance: str = "",
        ttl_ms: int | None = None,
        labels: Mapping[str, str] | None = None,
        version: str = "",
        endpoint: str = "",
        lost_epoch: int | None = None,
        gated: bool = False,
        timeout: float | None = None,
    ) -> v1.MembershipJoinResponse:
        """Lets a member in, or replaces the one that holds the id. Since 0.1."""
        request = v1.MembershipJoinRequest(
            request_id=request_id,
            id=id,
            instance=instance,
            ttl_ms=ttl_ms,
            labels=labels or {},
            version=version,
            endpoint=endpoint,
            lost_epoch=lost_epoch,
            gated=gated,
        )
        return self._call("synod.v1.Membership/Join", request, v1.MembershipJoinResponse, timeout)

    def ready(
        self,
        *,
        request_id: v1.RequestId | None = None,
        member: v1.MemberEpoch | None = None,
        timeout: float | None = None,
    ) -> v1.MembershipReadyResponse:
        """Moves a member from joining to ready. Since 0.1."""
        request = v1.MembershipReadyRequest(
            request_id=request_id,
            member=member,
        )
        return self._call("synod.v1.Membership/Ready", request, v1.MembershipReadyResponse, timeout)

    def leave(
        self,
        *,
        request_id: v1.RequestId | None = None,
        member: v1.MemberEpoch | None = None,
        drained: bool = False,
        instance: str = "",
        stopped: bool = False,
        timeout: float | None = None,
    ) -> v1.MembershipLeaveResponse:
        """Removes a member and all that hangs on it, at once: at its own request, or because somebody else evicts it. Since 0.1."""
        request = v1.MembershipLeaveRequest(
            request_id=request_id,
            member=member,
            drained=drained,
            instance=instance,
            stopped=stopped,
        )
        return self._call("synod.v1.Membership/Leave", request, v1.MembershipLeaveResponse, timeout)

    def get(
        self,
        *,
        id: str = "",
        read: v1.ReadOptions | None = None,
        timeout: float | None = None,
    ) -> v1.MembershipGetResponse:
        """Reads one member. Since 0.1."""
        request = v1.MembershipGetRequest(
            id=id,
            read=read,
        )
        return self._call("synod.v1.Membership/Get", request, v1.MembershipGetResponse, timeout)

    def list(
        self,
        *,
        read: v1.ReadOptions | None = None,
        labels: Mapping[str, str] | None = None,
        page_size: int | None = None,
        continue_token: str = "",
        continue_at_present: bool = False,
        timeout: float | None = None,
    ) -> v1.MembershipListResponse:
        """Reads all members, ordered by id. Since 0.1."""
        request = v1.MembershipListRequest(
            read=read,
            labels=labels or {},
            page_size=page_size,
            continue_token=continue_token,
            continue_at_present=continue_at_present,
        )
        return self._call("synod.v1.Membership/List", request, v1.MembershipListResponse, timeout)

    def list_all(
        self,
        *,
        read: v1.ReadOptions | None = None,
        labels: Mapping[str, str] | None = None,
        page_size: int | None = None,
        continue_at_present: bool = False,
        timeout: float | None = None,
    ) -> Iterator[v1.MemberListItem]:
        """As `list`, over all pages, which are read at one revision as they are needed."""
        request = v1.MembershipListRequest(
            read=read,
            labels=labels or {},
            page_size=page_size,
            continue_at_present=continue_at_present,
        )
        return self._pages("synod.v1.Membership/List", request, v1.MembershipListResponse, v1.MemberListItem, timeout)


class AsyncMembershipService(AsyncService):
    """Members are the API servers that take part. A member is kept by renewing; one that does not renew is expired, and
    with it goes all that hangs on it, at one revision. Since 0.1.
    """

    async def join(
        self,
        *,
        request_id: v1.RequestId | None = None,
        id: str = "",
        instance: str = "",
        ttl_ms: int | None = None,
        labels: Mapping[str, str] | None = None,
        version: str = "",
        endpoint: str = "",
        lost_epoch: int | None = None,
        gated: bool = False,
        timeout: float | None = None,
    ) -> v1.MembershipJoinResponse:
        """Lets a member in, or replaces the one that holds the id. Since 0.1."""
        request = v1.MembershipJoinRequest(
            request_id=request_id,
            id=id,
            instance=instance,
            ttl_ms=ttl_ms,
            labels=labels or {},
            version=version,
            endpoint=endpoint,
            lost_epoch=lost_epoch,
            gated=gated,
        )
        return await self._call("synod.v1.Membership/Join", request, v1.MembershipJoinResponse, timeout)

    async def ready(
        self,
        *,
        request_id: v1.RequestId | None = None,
        member: v1.MemberEpoch | None = None,
        timeout: float | None = None,
    ) -> v1.MembershipReadyResponse:
        """Moves a member from joining to ready. Since 0.1."""
        request = v1.MembershipReadyRequest(
            request_id=request_id,
            member=member,
        )
        return await self._call("synod.v1.Membership/Ready", request, v1.MembershipReadyResponse, timeout)

    async def leave(
        self,
        *,
        request_id: v1.RequestId | None = None,
        member: v1.MemberEpoch | None = None,
        drained: bool = False,
        instance: str = "",
        stopped: bool = False,
        timeout: float | None = None,
    ) -> v1.MembershipLeaveResponse:
        """Removes a member and all that hangs on it, at once: at its own request, or because somebody else evicts it. Since 0.1."""
        request = v1.MembershipLeaveRequest(
            request_id=request_id,
            member=member,
            drained=drained,
            instance=instance,
            stopped=stopped,
        )
        return await self._call("synod.v1.Membership/Leave", request, v1.MembershipLeaveResponse, timeout)

    async def get(
        self,
        *,
        id: str = "",
        read: v1.ReadOptions | None = None,
        timeout: float | None = None,
    ) -> v1.MembershipGetResponse:
        """Reads one member. Since 0.1."""
        request = v1.MembershipGetRequest(
            id=id,
            read=read,
        )
        return await self._call("synod.v1.Membership/Get", request, v1.MembershipGetResponse, timeout)

    async def list(
        self,
        *,
        read: v1.ReadOptions | None = None,
        labels: Mapping[str, str] | None = None,
        page_size: int | None = None,
        continue_token: str = "",
        continue_at_present: bool = False,
        timeout: float | None = None,
    ) -> v1.MembershipListResponse:
        """Reads all members, ordered by id. Since 0.1."""
        request = v1.MembershipListRequest(
            read=read,
            labels=labels or {},
            page_size=page_size,
            continue_token=continue_token,
            continue_at_present=continue_at_present,
        )
        return await self._call("synod.v1.Membership/List", request, v1.MembershipListResponse, timeout)

    def list_all(
        self,
        *,
        read: v1.ReadOptions | None = None,
        labels: Mapping[str, str] | None = None,
        page_size: int | None = None,
        continue_at_present: bool = False,
        timeout: float | None = None,
    ) -> AsyncIterator[v1.MemberListItem]:
        """As `list`, over all pages, which are read at one revision as they are needed."""
        request = v1.MembershipListRequest(
            read=read,
            labels=labels or {},
            page_size=page_size,
            continue_at_present=continue_at_present,
        )
        return self._pages("synod.v1.Membership/List", request, v1.MembershipListResponse, v1.MemberListItem, timeout)


class LeasesService(Service):
    """Leases are what one holder at a time has, for as long as it renews: locks, and leadership. Each holder gets a fencing
    token that is higher than every one before; a write that names it is refused once the lease is lost. Since 0.1.
    """

    def acquire(
        self,
        *,
        request_id: v1.RequestId | None = None,
        lease: v1.LeaseKey | None = None,
        holder: str = "",
        ttl_ms: int | None = None,
        wait_ms: int | None = None,
        if_member: v1.MemberEpoch | None = None,
        timeout: float | None = None,
    ) -> v1.LeasesAcquireResponse:
        """Takes a lease. One that another holds is refused, or waited for in a queue that is part of the replicated state: it is
        fair, and goes on whichever replica is asked. Since 0.1.
        """
        request = v1.LeasesAcquireRequest(
            request_id=request_id,
            lease=lease,
            holder=holder,
            ttl_ms=ttl_ms,
            wait_ms=wait_ms,
            if_member=if_member,
        )
        return self._call("synod.v1.Leases/Acquire", request, v1.LeasesAcquireResponse, timeout)

    def release(
        self,
        *,
        request_id: v1.RequestId | None = None,
        lease: v1.LeaseKey | None = None,
        holder: str = "",
        token: int | None = None,
        timeout: float | None = None,
    ) -> v1.LeasesReleaseResponse:
        """Gives up a lease, or the place in the queue for it. Who is next has it at the same revision. Since 0.1."""
        request = v1.LeasesReleaseRequest(
            request_id=request_id,
            lease=lease,
            holder=holder,
            token=token,
        )
        return self._call("synod.v1.Leases/Release", request, v1.LeasesReleaseResponse, timeout)

    def delete(
        self,
        *,
        request_id: v1.RequestId | None = None,
        lease: v1.LeaseKey | None = None,
        preconditions: v1.Preconditions | None = None,
        dry_run: bool = False,
        timeout: float | None = None,
    ) -> v1.LeasesDeleteResponse:
        """Deletes a lease, whoever holds it. Its token is stale at once, and refused wherever it is shown; but the holder may act
        until its next renewal, by which alone it learns of it. Who is next, elected or first in the queue, has a new lease of this
        name at the same revision, with a uid of its own and a higher token, which watches tell as `EVENT_TYPE_MODIFIED`; without
        anybody there is none any more. `NOT_FOUND` if there is no such lease; `UNAVAILABLE` until all replicas know the call
        (machine version 2). Since 0.1.
        """
        request = v1.LeasesDeleteRequest(
            request_id=request_id,
            lease=lease,
            preconditions=preconditions,
            dry_run=dry_run,
        )
        return self._call("synod.v1.Leases/Delete", request, v1.LeasesDeleteResponse, timeout)

    def get(
        self,
        *,
        lease: v1.LeaseKey | None = None,
        read: v1.ReadOptions | None = None,
        timeout: float | None = None,
    ) -> v1.LeasesGetResponse:
        """Reads one lease. To observe it, watch `OBJECT_KIND_LEASE` from the answer's revision + 1. Since 0.1."""
        request = v1.LeasesGetRequest(
            lease=lease,
            read=read,
        )
        return self._call("synod.v1.Leases/Get", request, v1.LeasesGetResponse, timeout)

    def list(
        self,
        *,
        read: v1.ReadOptions | None = None,
        namespace: str = "",
        page_size: int | None = None,
        continue_token: str = "",
        continue_at_present: bool = False,
        timeout: float | None = None,
    ) -> v1.LeasesListResponse:
        """Reads all leases, ordered by `<namespace>/<name>`. Since 0.1."""
        request = v1.LeasesListRequest(
            read=read,
            namespace=namespace,
            page_size=page_size,
            continue_token=continue_token,
            continue_at_present=continue_at_present,
        )
        return self._call("synod.v1.Leases/List", request, v1.LeasesListResponse, timeout)

    def list_all(
        self,
        *,
        read: v1.ReadOptions | None = None,
        namespace: str = "",
        page_size: int | None = None,
        continue_at_present: bool = False,
        timeout: float | None = None,
    ) -> Iterator[v1.LeaseListItem]:
        """As `list`, over all pages, which are read at one revision as they are needed."""
        request = v1.LeasesListRequest(
            read=read,
            namespace=namespace,
            page_size=page_size,
            continue_at_present=continue_at_present,
        )
        return self._pages("synod.v1.Leases/List", request, v1.LeasesListResponse, v1.LeaseListItem, timeout)

    def put_candidate(
        self,
        *,
        request_id: v1.RequestId | None = None,
        candidate: v1.LeaseContender | None = None,
        binary_version: str = "",
        emulation_version: str = "",
        strategy: str = "",
        ttl_ms: int | None = None,
        timeout: float | None = None,
    ) -> v1.LeasesPutCandidateResponse:
        """Stands for a lease, or changes what the candidate says of itself. Since 0.1."""
        request = v1.LeasesPutCandidateRequest(
            request_id=request_id,
            candidate=candidate,
            binary_version=binary_version,
            emulation_version=emulation_version,
            strategy=strategy,
            ttl_ms=ttl_ms,
        )
        return self._call("synod.v1.Leases/PutCandidate", request, v1.LeasesPutCandidateResponse, timeout)

    def withdraw_candidate(
        self,
        *,
        request_id: v1.RequestId | None = None,
        candidate: v1.LeaseContender | None = None,
        timeout: float | None = None,
    ) -> v1.LeasesWithdrawCandidateResponse:
        """Stands for a lease no longer. Since 0.1."""
        request = v1.LeasesWithdrawCandidateRequest(
            request_id=request_id,
            candidate=candidate,
        )
        return self._call("synod.v1.Leases/WithdrawCandidate", request, v1.LeasesWithdrawCandidateResponse, timeout)

    def list_candidates(
        self,
        *,
        lease: v1.LeaseKey | None = None,
        read: v1.ReadOptions | None = None,
        continue_token: str = "",
        continue_at_present: bool = False,
        timeout: float | None = None,
    ) -> v1.LeasesListCandidatesResponse:
        """Reads who stand for a lease, ordered by identity. Since 0.1."""
        request = v1.LeasesListCandidatesRequest(
            lease=lease,
            read=read,
            continue_token=continue_token,
            continue_at_present=continue_at_present,
        )
        return self._call("synod.v1.Leases/ListCandidates", request, v1.LeasesListCandidatesResponse, timeout)

    def list_candidates_all(
        self,
        *,
        lease: v1.LeaseKey | None = None,
        read: v1.ReadOptions | None = None,
        continue_at_present: bool = False,
        timeout: float | None = None,
    ) -> Iterator[v1.LeaseCandidateItem]:
        """As `list_candidates`, over all pages, which are read at one revision as they are needed."""
        request = v1.LeasesListCandidatesRequest(
            lease=lease,
            read=read,
            continue_at_present=continue_at_present,
        )
        return self._pages("synod.v1.Leases/ListCandidates", request, v1.LeasesListCandidatesResponse, v1.LeaseCandidateItem, timeout)


class AsyncLeasesService(AsyncService):
    """Leases are what one holder at a time has, for as long as it renews: locks, and leadership. Each holder gets a fencing
    token that is higher than every one before; a write that names it is refused once the lease is lost. Since 0.1.
    """

    async def acquire(
        self,
        *,
        request_id: v1.RequestId | None = None,
        lease: v1.LeaseKey | None = None,
        holder: str = "",
        ttl_ms: int | None = None,
        wait_ms: int | None = None,
        if_member: v1.MemberEpoch | None = None,
        timeout: float | None = None,
    ) -> v1.LeasesAcquireResponse:
        """Takes a lease. One that another holds is refused, or waited for in a queue that is part of the replicated state: it is
        fair, and goes on whichever replica is asked. Since 0.1.
        """
        request = v1.LeasesAcquireRequest(
            request_id=request_id,
            lease=lease,
            holder=holder,
            ttl_ms=ttl_ms,
            wait_ms=wait_ms,
            if_member=if_member,
        )
        return await self._call("synod.v1.Leases/Acquire", request, v1.LeasesAcquireResponse, timeout)

    async def release(
        self,
        *,
        request_id: v1.RequestId | None = None,
        lease: v1.LeaseKey | None = None,
        holder: str = "",
        token: int | None = None,
        timeout: float | None = None,
    ) -> v1.LeasesReleaseResponse:
        """Gives up a lease, or the place in the queue for it. Who is next has it at the same revision. Since 0.1."""
        request = v1.LeasesReleaseRequest(
            request_id=request_id,
            lease=lease,
            holder=holder,
            token=token,
        )
        return await self._call("synod.v1.Leases/Release", request, v1.LeasesReleaseResponse, timeout)

    async def delete(
        self,
        *,
        request_id: v1.RequestId | None = None,
        lease: v1.LeaseKey | None = None,
        preconditions: v1.Preconditions | None = None,
        dry_run: bool = False,
        timeout: float | None = None,
    ) -> v1.LeasesDeleteResponse:
        """Deletes a lease, whoever holds it. Its token is stale at once, and refused wherever it is shown; but the holder may act
        until its next renewal, by which alone it learns of it. Who is next, elected or first in the queue, has a new lease of this
        name at the same revision, with a uid of its own and a higher token, which watches tell as `EVENT_TYPE_MODIFIED`; without
        anybody there is none any more. `NOT_FOUND` if there is no such lease; `UNAVAILABLE` until all replicas know the call
        (machine version 2). Since 0.1.
        """
        request = v1.LeasesDeleteRequest(
            request_id=request_id,
            lease=lease,
            preconditions=preconditions,
            dry_run=dry_run,
        )
        return await self._call("synod.v1.Leases/Delete", request, v1.LeasesDeleteResponse, timeout)

    async def get(
        self,
        *,
        lease: v1.LeaseKey | None = None,
        read: v1.ReadOptions | None = None,
        timeout: float | None = None,
    ) -> v1.LeasesGetResponse:
        """Reads one lease. To observe it, watch `OBJECT_KIND_LEASE` from the answer's revision + 1. Since 0.1."""
        request = v1.LeasesGetRequest(
            lease=lease,
            read=read,
        )
        return await self._call("synod.v1.Leases/Get", request, v1.LeasesGetResponse, timeout)

    async def list(
        self,
        *,
        read: v1.ReadOptions | None = None,
        namespace: str = "",
        page_size: int | None = None,
        continue_token: str = "",
        continue_at_present: bool = False,
        timeout: float | None = None,
    ) -> v1.LeasesListResponse:
        """Reads all leases, ordered by `<namespace>/<name>`. Since 0.1."""
        request = v1.LeasesListRequest(
            read=read,
            namespace=namespace,
            page_size=page_size,
            continue_token=continue_token,
            continue_at_present=continue_at_present,
        )
        return await self._call("synod.v1.Leases/List", request, v1.LeasesListResponse, timeout)

    def list_all(
        self,
        *,
        read: v1.ReadOptions | None = None,
        namespace: str = "",
        page_size: int | None = None,
        continue_at_present: bool = False,
        timeout: float | None = None,
    ) -> AsyncIterator[v1.LeaseListItem]:
        """As `list`, over all pages, which are read at one revision as they are needed."""
        request = v1.LeasesListRequest(
            read=read,
            namespace=namespace,
            page_size=page_size,
            continue_at_present=continue_at_present,
        )
        return self._pages("synod.v1.Leases/List", request, v1.LeasesListResponse, v1.LeaseListItem, timeout)

    async def put_candidate(
        self,
        *,
        request_id: v1.RequestId | None = None,
        candidate: v1.LeaseContender | None = None,
        binary_version: str = "",
        emulation_version: str = "",
        strategy: str = "",
        ttl_ms: int | None = None,
        timeout: float | None = None,
    ) -> v1.LeasesPutCandidateResponse:
        """Stands for a lease, or changes what the candidate says of itself. Since 0.1."""
        request = v1.LeasesPutCandidateRequest(
            request_id=request_id,
            candidate=candidate,
            binary_version=binary_version,
            emulation_version=emulation_version,
            strategy=strategy,
            ttl_ms=ttl_ms,
        )
        return await self._call("synod.v1.Leases/PutCandidate", request, v1.LeasesPutCandidateResponse, timeout)

    async def withdraw_candidate(
        self,
        *,
        request_id: v1.RequestId | None = None,
        candidate: v1.LeaseContender | None = None,
        timeout: float | None = None,
    ) -> v1.LeasesWithdrawCandidateResponse:
        """Stands for a lease no longer. Since 0.1."""
        request = v1.LeasesWithdrawCandidateRequest(
            request_id=request_id,
            candidate=candidate,
        )
        return await self._call("synod.v1.Leases/WithdrawCandidate", request, v1.LeasesWithdrawCandidateResponse, timeout)

    async def list_candidates(
        self,
        *,
        lease: v1.LeaseKey | None = None,
        read: v1.ReadOptions | None = None,
        continue_token: str = "",
        continue_at_present: bool = False,
        timeout: float | None = None,
    ) -> v1.LeasesListCandidatesResponse:
        """Reads who stand for a lease, ordered by identity. Since 0.1."""
        request = v1.LeasesListCandidatesRequest(
            lease=lease,
            read=read,
            continue_token=continue_token,
            continue_at_present=continue_at_present,
        )
        return await self._call("synod.v1.Leases/ListCandidates", request, v1.LeasesListCandidatesResponse, timeout)

    def list_candidates_all(
        self,
        *,
        lease: v1.LeaseKey | None = None,
        read: v1.ReadOptions | None = None,
        continue_at_present: bool = False,
        timeout: float | None = None,
    ) -> AsyncIterator[v1.LeaseCandidateItem]:
        """As `list_candidates`, over all pages, which are read at one revision as they are needed."""
        request = v1.LeasesListCandidatesRequest(
            lease=lease,
            read=read,
            continue_at_present=continue_at_present,
        )
        return self._pages("synod.v1.Leases/ListCandidates", request, v1.LeasesListCandidatesResponse, v1.LeaseCandidateItem, timeout)


class ObjectsService(Service):
    """The objects of declared collections, with optimistic concurrency. An object holds bytes that the cluster does not
    look into, unless it is to patch them. Since 0.1.
    """

    def create(
        self,
        *,
        request_id: v1.RequestId | None = None,
        key: v1.ObjectKey | None = None,
        attributes: v1.ObjectAttributes | None = None,
        content: v1.ObjectContent | None = None,
        ttl_ms: int | None = None,
        fences: v1.Fences | None = None,
        dry_run: bool = False,
        without_object: bool = False,
        timeout: float | None = None,
    ) -> v1.ObjectsCreateResponse:
        """Stores a new object. `ALREADY_EXISTS` if there is one of its key. Since 0.1."""
        request = v1.ObjectsCreateRequest(
            request_id=request_id,
            key=key,
            attributes=attributes,
            content=content,
            ttl_ms=ttl_ms,
            fences=fences,
            dry_run=dry_run,
            without_object=without_object,
        )
        return self._call("synod.v1.Objects/Create", request, v1.ObjectsCreateResponse, timeout)

    def get(
        self,
        *,
        key: v1.ObjectKey | None = None,
        read: v1.ReadOptions | None = None,
        timeout: float | None = None,
    ) -> v1.ObjectsGetResponse:
        """Reads one object. Since 0.1."""
        request = v1.ObjectsGetRequest(
            key=key,
            read=read,
        )
        return self._call("synod.v1.Objects/Get", request, v1.ObjectsGetResponse, timeout)

    def list(
        self,
        *,
        resource: v1.GroupResource | None = None,
        namespace: str = "",
        label_selector: str = "",
        field_selector: str = "",
        read: v1.ReadOptions | None = None,
        page_size: int | None = None,
        continue_token: str = "",
        continue_at_present: bool = False,
        timeout: float | None = None,
    ) -> v1.ObjectsListResponse:
        """Reads the objects of a collection, page by page, all at one revision. Since 0.1."""
        request = v1.ObjectsListRequest(
            resource=resource,
            namespace=namespace,
            label_selector=label_selector,
            field_selector=field_selector,
            read=read,
            page_size=page_size,
            continue_token=continue_token,
            continue_at_present=continue_at_present,
        )
        return self._call("synod.v1.Objects/List", request, v1.ObjectsListResponse, timeout)

    def list_all(
        self,
        *,
        resource: v1.GroupResource | None = None,
        namespace: str = "",
        label_selector: str = "",
        field_selector: str = "",
        read: v1.ReadOptions | None = None,
        page_size: int | None = None,
        continue_at_present: bool = False,
        timeout: float | None = None,
    ) -> Iterator[v1.ObjectListItem]:
        """As `list`, over all pages, which are read at one revision as they are needed."""
        request = v1.ObjectsListRequest(
            resource=resource,
            namespace=namespace,
            label_selector=label_selector,
            field_selector=field_selector,
            read=read,
            page_size=page_size,
            continue_at_present=continue_at_present,
        )
        return self._pages("synod.v1.Objects/List", request, v1.ObjectsListResponse, v1.ObjectListItem, timeout)

    def update(
        self,
        *,
        request_id: v1.RequestId | None = None,
        key: v1.ObjectKey | None = None,
        attributes: v1.ObjectAttributes | None = None,
        content: v1.ObjectContent | None = None,
        preconditions: v1.Preconditions | None = None,
        ttl_ms: int | None = None,
        fences: v1.Fences | None = None,
        dry_run: bool = False,
        remove_ttl: bool = False,
        without_object: bool = False,
        timeout: float | None = None,
    ) -> v1.ObjectsUpdateResponse:
        """Replaces an object. Since 0.1."""
        request = v1.ObjectsUpdateRequest(
            request_id=request_id,
            key=key,
            attributes=attributes,
            content=content,
            preconditions=preconditions,
            ttl_ms=ttl_ms,
            fences=fences,
            dry_run=dry_run,
            remove_ttl=remove_ttl,
            without_object=without_object,
        )
        return self._call("synod.v1.Objects/Update", request, v1.ObjectsUpdateResponse, timeout)

    def patch(
        self,
        *,
        request_id: v1.RequestId | None = None,
        key: v1.ObjectKey | None = None,
        patch: v1.ContentPatch | None = None,
        preconditions: v1.Preconditions | None = None,
        fences: v1.Fences | None = None,
        dry_run: bool = False,
        metadata_patch: v1.MetadataPatch | None = None,
        ttl_ms: int | None = None,
        remove_ttl: bool = False,
        without_object: bool = False,
        timeout: float | None = None,
    ) -> v1.ObjectsPatchResponse:
        """Changes a part of an object where it is stored, its data or what is said of it: without a `resource_version` it never
        conflicts with another change. Since 0.1.
        """
        request = v1.ObjectsPatchRequest(
            request_id=request_id,
            key=key,
            patch=patch,
            preconditions=preconditions,
            fences=fences,
            dry_run=dry_run,
            metadata_patch=metadata_patch,
            ttl_ms=ttl_ms,
            remove_ttl=remove_ttl,
            without_object=without_object,
        )
        return self._call("synod.v1.Objects/Patch", request, v1.ObjectsPatchResponse, timeout)

    def delete(
        self,
        *,
        request_id: v1.RequestId | None = None,
        key: v1.ObjectKey | None = None,
        preconditions: v1.Preconditions | None = None,
        propagation: v1.Propagation = v1.Propagation.UNSPECIFIED,
        fences: v1.Fences | None = None,
        dry_run: bool = False,
        timeout: float | None = None,
    ) -> v1.ObjectsDeleteResponse:
        """Deletes an object, or has it deleted once its finalizers are gone. Since 0.1."""
        request = v1.ObjectsDeleteRequest(
            request_id=request_id,
            key=key,
            preconditions=preconditions,
            propagation=propagation,
            fences=fences,
            dry_run=dry_run,
        )
        return self._call("synod.v1.Objects/Delete", request, v1.ObjectsDeleteResponse, timeout)

    def transact(
        self,
        *,
        request_id: v1.RequestId | None = None,
        compares: tuple[v1.ObjectsCompare, ...] = (),
        operations: tuple[v1.ObjectsOperation, ...] = (),
        reads: tuple[v1.ObjectKey, ...] = (),
        fences: v1.Fences | None = None,
        dry_run: bool = False,
        timeout: float | None = None,
    ) -> v1.ObjectsTransactResponse:
        """Compares, and then either carries out all operations at one revision, or reads. Since 0.1."""
        request = v1.ObjectsTransactRequest(
            request_id=request_id,
            compares=compares,
            operations=operations,
            reads=reads,
            fences=fences,
            dry_run=dry_run,
        )
        return self._call("synod.v1.Objects/Transact", request, v1.ObjectsTransactResponse, timeout)


class AsyncObjectsService(AsyncService):
    """The objects of declared collections, with optimistic concurrency. An object holds bytes that the cluster does not
    look into, unless it is to patch them. Since 0.1.
    """

    async def create(
        self,
        *,
        request_id: v1.RequestId | None = None,
        key: v1.ObjectKey | None = None,
        attributes: v1.ObjectAttributes | None = None,
        content: v1.ObjectContent | None = None,
        ttl_ms: int | None = None,
        fences: v1.Fences | None = None,
        dry_run: bool = False,
        without_object: bool = False,
        timeout: float | None = None,
    ) -> v1.ObjectsCreateResponse:
        """Stores a new object. `ALREADY_EXISTS` if there is one of its key. Since 0.1."""
        request = v1.ObjectsCreateRequest(
            request_id=request_id,
            key=key,
            attributes=attributes,
            content=content,
            ttl_ms=ttl_ms,
            fences=fences,
            dry_run=dry_run,
            without_object=without_object,
        )
        return await self._call("synod.v1.Objects/Create", request, v1.ObjectsCreateResponse, timeout)

    async def get(
        self,
        *,
        key: v1.ObjectKey | None = None,
        read: v1.ReadOptions | None = None,
        timeout: float | None = None,
    ) -> v1.ObjectsGetResponse:
        """Reads one object. Since 0.1."""
        request = v1.ObjectsGetRequest(
            key=key,
            read=read,
        )
        return await self._call("synod.v1.Objects/Get", request, v1.ObjectsGetResponse, timeout)

    async def list(
        self,
        *,
        resource: v1.GroupResource | None = None,
        namespace: str = "",
        label_selector: str = "",
        field_selector: str = "",
        read: v1.ReadOptions | None = None,
        page_size: int | None = None,
        continue_token: str = "",
        continue_at_present: bool = False,
        timeout: float | None = None,
    ) -> v1.ObjectsListResponse:
        """Reads the objects of a collection, page by page, all at one revision. Since 0.1."""
        request = v1.ObjectsListRequest(
            resource=resource,
            namespace=namespace,
            label_selector=label_selector,
            field_selector=field_selector,
            read=read,
            page_size=page_size,
            continue_token=continue_token,
            continue_at_present=continue_at_present,
        )
        return await self._call("synod.v1.Objects/List", request, v1.ObjectsListResponse, timeout)

    def list_all(
        self,
        *,
        resource: v1.GroupResource | None = None,
        namespace: str = "",
        label_selector: str = "",
        field_selector: str = "",
        read: v1.ReadOptions | None = None,
        page_size: int | None = None,
        continue_at_present: bool = False,
        timeout: float | None = None,
    ) -> AsyncIterator[v1.ObjectListItem]:
        """As `list`, over all pages, which are read at one revision as they are needed."""
        request = v1.ObjectsListRequest(
            resource=resource,
            namespace=namespace,
            label_selector=label_selector,
            field_selector=field_selector,
            read=read,
            page_size=page_size,
            continue_at_present=continue_at_present,
        )
        return self._pages("synod.v1.Objects/List", request, v1.ObjectsListResponse, v1.ObjectListItem, timeout)

    async def update(
        self,
        *,
        request_id: v1.RequestId | None = None,
        key: v1.ObjectKey | None = None,
        attributes: v1.ObjectAttributes | None = None,
        content: v1.ObjectContent | None = None,
        preconditions: v1.Preconditions | None = None,
        ttl_ms: int | None = None,
        fences: v1.Fences | None = None,
        dry_run: bool = False,
        remove_ttl: bool = False,
        without_object: bool = False,
        timeout: float | None = None,
    ) -> v1.ObjectsUpdateResponse:
        """Replaces an object. Since 0.1."""
        request = v1.ObjectsUpdateRequest(
            request_id=request_id,
            key=key,
            attributes=attributes,
            content=content,
            preconditions=preconditions,
            ttl_ms=ttl_ms,
            fences=fences,
            dry_run=dry_run,
            remove_ttl=remove_ttl,
            without_object=without_object,
        )
        return await self._call("synod.v1.Objects/Update", request, v1.ObjectsUpdateResponse, timeout)

    async def patch(
        self,
        *,
        request_id: v1.RequestId | None = None,
        key: v1.ObjectKey | None = None,
        patch: v1.ContentPatch | None = None,
        preconditions: v1.Preconditions | None = None,
        fences: v1.Fences | None = None,
        dry_run: bool = False,
        metadata_patch: v1.MetadataPatch | None = None,
        ttl_ms: int | None = None,
        remove_ttl: bool = False,
        without_object: bool = False,
        timeout: float | None = None,
    ) -> v1.ObjectsPatchResponse:
        """Changes a part of an object where it is stored, its data or what is said of it: without a `resource_version` it never
        conflicts with another change. Since 0.1.
        """
        request = v1.ObjectsPatchRequest(
            request_id=request_id,
            key=key,
            patch=patch,
            preconditions=preconditions,
            fences=fences,
            dry_run=dry_run,
            metadata_patch=metadata_patch,
            ttl_ms=ttl_ms,
            remove_ttl=remove_ttl,
            without_object=without_object,
        )
        return await self._call("synod.v1.Objects/Patch", request, v1.ObjectsPatchResponse, timeout)

    async def delete(
        self,
        *,
        request_id: v1.RequestId | None = None,
        key: v1.ObjectKey | None = None,
        preconditions: v1.Preconditions | None = None,
        propagation: v1.Propagation = v1.Propagation.UNSPECIFIED,
        fences: v1.Fences | None = None,
        dry_run: bool = False,
        timeout: float | None = None,
    ) -> v1.ObjectsDeleteResponse:
        """Deletes an object, or has it deleted once its finalizers are gone. Since 0.1."""
        request = v1.ObjectsDeleteRequest(
            request_id=request_id,
            key=key,
            preconditions=preconditions,
            propagation=propagation,
            fences=fences,
            dry_run=dry_run,
        )
        return await self._call("synod.v1.Objects/Delete", request, v1.ObjectsDeleteResponse, timeout)

    async def transact(
        self,
        *,
        request_id: v1.RequestId | None = None,
        compares: tuple[v1.ObjectsCompare, ...] = (),
        operations: tuple[v1.ObjectsOperation, ...] = (),
        reads: tuple[v1.ObjectKey, ...] = (),
        fences: v1.Fences | None = None,
        dry_run: bool = False,
        timeout: float | None = None,
    ) -> v1.ObjectsTransactResponse:
        """Compares, and then either carries out all operations at one revision, or reads. Since 0.1."""
        request = v1.ObjectsTransactRequest(
            request_id=request_id,
            compares=compares,
            operations=operations,
            reads=reads,
            fences=fences,
            dry_run=dry_run,
        )
        return await self._call("synod.v1.Objects/Transact", request, v1.ObjectsTransactResponse, timeout)


class CollectionsService(Service):
    """Which kinds of objects the cluster keeps, and how strictly. A collection is declared before it holds anything; its
    name is `<resource>.<group>`, for the core group `<resource>`. Since 0.1.
    """

    def create(
        self,
        *,
        request_id: v1.RequestId | None = None,
        resource: v1.GroupResource | None = None,
        kind: str = "",
        namespaced: bool = False,
        rules: v1.CollectionRules | None = None,
        dry_run: bool = False,
        timeout: float | None = None,
    ) -> v1.CollectionsCreateResponse:
        """Declares a collection. `ALREADY_EXISTS` if its resource has one; `NO_AGREEMENT` if it is to be strict and a
        member reports the resource with a fixed entry. Since 0.1.
        """
        request = v1.CollectionsCreateRequest(
            request_id=request_id,
            resource=resource,
            kind=kind,
            namespaced=namespaced,
            rules=rules,
            dry_run=dry_run,
        )
        return self._call("synod.v1.Collections/Create", request, v1.CollectionsCreateResponse, timeout)

    def update(
        self,
        *,
        request_id: v1.RequestId | None = None,
        resource: v1.GroupResource | None = None,
        preconditions: v1.Preconditions | None = None,
        strict_storage_version: bool | None = None,
        create_on_update: bool | None = None,
        unconditional_update: bool | None = None,
        dry_run: bool = False,
        status_subresource: bool | None = None,
        kind: str | None = None,
        timeout: float | None = None,
    ) -> v1.CollectionsUpdateResponse:
        """Changes the rules of a collection, or corrects its kind while it holds no object. Group, resource and scope never change.
        `NO_AGREEMENT` if it is to become strict and a member reports the resource with a fixed entry. Of another kind: `CONFLICT`
        while the collection holds objects, `ALREADY_EXISTS` if another collection of the group has that kind. Since 0.1.
        """
        request = v1.CollectionsUpdateRequest(
            request_id=request_id,
            resource=resource,
            preconditions=preconditions,
            strict_storage_version=strict_storage_version,
            create_on_update=create_on_update,
            unconditional_update=unconditional_update,
            dry_run=dry_run,
            status_subresource=status_subresource,
            kind=kind,
        )
        return self._call("synod.v1.Collections/Update", request, v1.CollectionsUpdateResponse, timeout)

    def get(
        self,
        *,
        resource: v1.GroupResource | None = None,
        read: v1.ReadOptions | None = None,
        timeout: float | None = None,
    ) -> v1.CollectionsGetResponse:
        """Reads one collection. Since 0.1."""
        request = v1.CollectionsGetRequest(
            resource=resource,
            read=read,
        )
        return self._call("synod.v1.Collections/Get", request, v1.CollectionsGetResponse, timeout)

    def list(
        self,
        *,
        read: v1.ReadOptions | None = None,
        page_size: int | None = None,
        continue_token: str = "",
        continue_at_present: bool = False,
        timeout: float | None = None,
    ) -> v1.CollectionsListResponse:
        """Reads all collections, page by page, all at one revision. Since 0.1."""
        request = v1.CollectionsListRequest(
            read=read,
            page_size=page_size,
            continue_token=continue_token,
            continue_at_present=continue_at_present,
        )
        return self._call("synod.v1.Collections/List", request, v1.CollectionsListResponse, timeout)

    def list_all(
        self,
        *,
        read: v1.ReadOptions | None = None,
        page_size: int | None = None,
        continue_at_present: bool = False,
        timeout: float | None = None,
    ) -> Iterator[v1.CollectionListItem]:
        """As `list`, over all pages, which are read at one revision as they are needed."""
        request = v1.CollectionsListRequest(
            read=read,
            page_size=page_size,
            continue_at_present=continue_at_present,
        )
        return self._pages("synod.v1.Collections/List", request, v1.CollectionsListResponse, v1.CollectionListItem, timeout)

    def delete(
        self,
        *,
        request_id: v1.RequestId | None = None,
        resource: v1.GroupResource | None = None,
        preconditions: v1.Preconditions | None = None,
        dry_run: bool = False,
        timeout: float | None = None,
    ) -> v1.CollectionsDeleteResponse:
        """Takes a collection away. `CONFLICT` while it holds objects. Since 0.1."""
        request = v1.CollectionsDeleteRequest(
            request_id=request_id,
            resource=resource,
            preconditions=preconditions,
            dry_run=dry_run,
        )
        return self._call("synod.v1.Collections/Delete", request, v1.CollectionsDeleteResponse, timeout)


class AsyncCollectionsService(AsyncService):
    """Which kinds of objects the cluster keeps, and how strictly. A collection is declared before it holds anything; its
    name is `<resource>.<group>`, for the core group `<resource>`. Since 0.1.
    """

    async def create(
        self,
        *,
        request_id: v1.RequestId | None = None,
        resource: v1.GroupResource | None = None,
        kind: str = "",
        namespaced: bool = False,
        rules: v1.CollectionRules | None = None,
        dry_run: bool = False,
        timeout: float | None = None,
    ) -> v1.CollectionsCreateResponse:
        """Declares a collection. `ALREADY_EXISTS` if its resource has one; `NO_AGREEMENT` if it is to be strict and a
        member reports the resource with a fixed entry. Since 0.1.
        """
        request = v1.CollectionsCreateRequest(
            request_id=request_id,
            resource=resource,
            kind=kind,
            namespaced=namespaced,
            rules=rules,
            dry_run=dry_run,
        )
        return await self._call("synod.v1.Collections/Create", request, v1.CollectionsCreateResponse, timeout)

    async def update(
        self,
        *,
        request_id: v1.RequestId | None = None,
        resource: v1.GroupResource | None = None,
        preconditions: v1.Preconditions | None = None,
        strict_storage_version: bool | None = None,
        create_on_update: bool | None = None,
        unconditional_update: bool | None = None,
        dry_run: bool = False,
        status_subresource: bool | None = None,
        kind: str | None = None,
        timeout: float | None = None,
    ) -> v1.CollectionsUpdateResponse:
        """Changes the rules of a collection, or corrects its kind while it holds no object. Group, resource and scope never change.
        `NO_AGREEMENT` if it is to become strict and a member reports the resource with a fixed entry. Of another kind: `CONFLICT`
        while the collection holds objects, `ALREADY_EXISTS` if another collection of the group has that kind. Since 0.1.
        """
        request = v1.CollectionsUpdateRequest(
            request_id=request_id,
            resource=resource,
            preconditions=preconditions,
            strict_storage_version=strict_storage_version,
            create_on_update=create_on_update,
            unconditional_update=unconditional_update,
            dry_run=dry_run,
            status_subresource=status_subresource,
            kind=kind,
        )
        return await self._call("synod.v1.Collections/Update", request, v1.CollectionsUpdateResponse, timeout)

    async def get(
        self,
        *,
        resource: v1.GroupResource | None = None,
        read: v1.ReadOptions | None = None,
        timeout: float | None = None,
    ) -> v1.CollectionsGetResponse:
        """Reads one collection. Since 0.1."""
        request = v1.CollectionsGetRequest(
            resource=resource,
            read=read,
        )
        return await self._call("synod.v1.Collections/Get", request, v1.CollectionsGetResponse, timeout)

    async def list(
        self,
        *,
        read: v1.ReadOptions | None = None,
        page_size: int | None = None,
        continue_token: str = "",
        continue_at_present: bool = False,
        timeout: float | None = None,
    ) -> v1.CollectionsListResponse:
        """Reads all collections, page by page, all at one revision. Since 0.1."""
        request = v1.CollectionsListRequest(
            read=read,
            page_size=page_size,
            continue_token=continue_token,
            continue_at_present=continue_at_present,
        )
        return await self._call("synod.v1.Collections/List", request, v1.CollectionsListResponse, timeout)

    def list_all(
        self,
        *,
        read: v1.ReadOptions | None = None,
        page_size: int | None = None,
        continue_at_present: bool = False,
        timeout: float | None = None,
    ) -> AsyncIterator[v1.CollectionListItem]:
        """As `list`, over all pages, which are read at one revision as they are needed."""
        request = v1.CollectionsListRequest(
            read=read,
            page_size=page_size,
            continue_at_present=continue_at_present,
        )
        return self._pages("synod.v1.Collections/List", request, v1.CollectionsListResponse, v1.CollectionListItem, timeout)

    async def delete(
        self,
        *,
        request_id: v1.RequestId | None = None,
        resource: v1.GroupResource | None = None,
        preconditions: v1.Preconditions | None = None,
        dry_run: bool = False,
        timeout: float | None = None,
    ) -> v1.CollectionsDeleteResponse:
        """Takes a collection away. `CONFLICT` while it holds objects. Since 0.1."""
        request = v1.CollectionsDeleteRequest(
            request_id=request_id,
            resource=resource,
            preconditions=preconditions,
            dry_run=dry_run,
        )
        return await self._call("synod.v1.Collections/Delete", request, v1.CollectionsDeleteResponse, timeout)


class ControllerRevisionsService(Service):
    """The histories of controllers: what each wanted, one snapshot for each state that it still may go back to. Since 0.1."""

    def create(
        self,
        *,
        request_id: v1.RequestId | None = None,
        history: v1.ControllerHistory | None = None,
        media_type: str = "",
        data: bytes = b"",
        equality: v1.ControllerRevisionEquality = v1.ControllerRevisionEquality.UNSPECIFIED,
        prefix: str = "",
        labels: Mapping[str, str] | None = None,
        annotations: Mapping[str, str] | None = None,
        revision: int | None = None,
        collision_count: int | None = None,
        history_limit: int | None = None,
        if_newest: int | None = None,
        dry_run: bool = False,
        mark_update: v1.MarkTie | None = None,
        data_version: str | None = None,
        name: str = "",
        timeout: float | None = None,
    ) -> v1.ControllerRevisionsCreateResponse:
        """Says what a controller wants now. One command decides, against all that the history holds: *unchanged* if the newest
        says the same, *rolled back* if an older one does, whose number becomes the highest, else *created*; then the oldest
        that are not live go, beyond the limit. Live are the newest and all that have a mark. The one that was the newest until
        then is not live any more but stays, since only now its owner can say that it still uses it: it can go with the next
        create. `ALREADY_EXISTS` if no free name was found. Since 0.1.
        """
        request = v1.ControllerRevisionsCreateRequest(
            request_id=request_id,
            history=history,
            media_type=media_type,
            data=data,
            equality=equality,
            prefix=prefix,
            labels=labels or {},
            annotations=annotations or {},
            revision=revision,
            collision_count=collision_count,
            history_limit=history_limit,
            if_newest=if_newest,
            dry_run=dry_run,
            mark_update=mark_update,
            data_version=data_version,
            name=name,
        )
        return self._call("synod.v1.ControllerRevisions/Create", request, v1.ControllerRevisionsCreateResponse, timeout)

    def get(
        self,
        *,
        namespace: str = "",
        name: str = "",
        read: v1.ReadOptions | None = None,
        timeout: float | None = None,
    ) -> v1.ControllerRevisionsGetResponse:
        """Reads one snapshot. Since 0.1."""
        request = v1.ControllerRevisionsGetRequest(
            namespace=namespace,
            name=name,
            read=read,
        )
        return self._call("synod.v1.ControllerRevisions/Get", request, v1.ControllerRevisionsGetResponse, timeout)

    def list(
        self,
        *,
        read: v1.ReadOptions | None = None,
        namespace: str = "",
        labels: Mapping[str, str] | None = None,
        owner_kind: str = "",
        owner_name: str = "",
        owner_uid: str = "",
        page_size: int | None = None,
        continue_token: str = "",
        continue_at_present: bool = False,
        timeout: float | None = None,
    ) -> v1.ControllerRevisionsListResponse:
        """Reads snapshots of any owner, ordered by namespace and name. Since 0.1."""
        request = v1.ControllerRevisionsListRequest(
            read=read,
            namespace=namespace,
            labels=labels or {},
            owner_kind=owner_kind,
            owner_name=owner_name,
            owner_uid=owner_uid,
            page_size=page_size,
            continue_token=continue_token,
            continue_at_present=continue_at_present,
        )
        return self._call("synod.v1.ControllerRevisions/List", request, v1.ControllerRevisionsListResponse, timeout)

    def list_all(
        self,
        *,
        read: v1.ReadOptions | None = None,
        namespace: str = "",
        labels: Mapping[str, str] | None = None,
        owner_kind: str = "",
        owner_name: str = "",
        owner_uid: str = "",
        page_size: int | None = None,
        continue_at_present: bool = False,
        timeout: float | None = None,
    ) -> Iterator[v1.ControllerRevision]:
        """As `list`, over all pages, which are read at one revision as they are needed."""
        request = v1.ControllerRevisionsListRequest(
            read=read,
            namespace=namespace,
            labels=labels or {},
            owner_kind=owner_kind,
            owner_name=owner_name,
            owner_uid=owner_uid,
            page_size=page_size,
            continue_at_present=continue_at_present,
        )
        return self._pages("synod.v1.ControllerRevisions/List", request, v1.ControllerRevisionsListResponse, v1.ControllerRevision, timeout)

    def history(
        self,
        *,
        history: v1.ControllerHistory | None = None,
        read: v1.ReadOptions | None = None,
        page_size: int | None = None,
        continue_token: str = "",
        continue_at_present: bool = False,
        timeout: float | None = None,
    ) -> v1.ControllerRevisionsHistoryResponse:
        """Reads the history of a controller, oldest first. One that was never begun is empty. Since 0.1."""
        request = v1.ControllerRevisionsHistoryRequest(
            history=history,
            read=read,
            page_size=page_size,
            continue_token=continue_token,
            continue_at_present=continue_at_present,
        )
        return self._call("synod.v1.ControllerRevisions/History", request, v1.ControllerRevisionsHistoryResponse, timeout)

    def history_all(
        self,
        *,
        history: v1.ControllerHistory | None = None,
        read: v1.ReadOptions | None = None,
        page_size: int | None = None,
        continue_at_present: bool = False,
        timeout: float | None = None,
    ) -> Iterator[v1.ControllerRevision]:
        """As `history`, over all pages, which are read at one revision as they are needed."""
        request = v1.ControllerRevisionsHistoryRequest(
            history=history,
            read=read,
            page_size=page_size,
            continue_at_present=continue_at_present,
        )
        return self._pages("synod.v1.ControllerRevisions/History", request, v1.ControllerRevisionsHistoryResponse, v1.ControllerRevision, timeout)

    def diff(
        self,
        *,
        namespace: str = "",
        from_: str = "",
        to: str = "",
        read: v1.ReadOptions | None = None,
        timeout: float | None = None,
    ) -> v1.ControllerRevisionsDiffResponse:
        """Tells what changed from one snapshot to another. Since 0.1."""
        request = v1.ControllerRevisionsDiffRequest(
            namespace=namespace,
            from_=from_,
            to=to,
            read=read,
        )
        return self._call("synod.v1.ControllerRevisions/Diff", request, v1.ControllerRevisionsDiffResponse, timeout)

    def update(
        self,
        *,
        request_id: v1.RequestId | None = None,
        namespace: str = "",
        name: str = "",
        if_uid: str = "",
        if_resource_version: int | None = None,
        revision: int | None = None,
        labels: v1.LabelMap | None = None,
        annotations: v1.LabelMap | None = None,
        data: bytes = b"",
        media_type: str = "",
        dry_run: bool = False,
        timeout: float | None = None,
    ) -> v1.ControllerRevisionsUpdateResponse:
        """Changes what may be changed of a snapshot, as the caller has seen it. Its data may not: `IMMUTABLE`. Since 0.1."""
        request = v1.ControllerRevisionsUpdateRequest(
            request_id=request_id,
            namespace=namespace,
            name=name,
            if_uid=if_uid,
            if_resource_version=if_resource_version,
            revision=revision,
            labels=labels,
            annotations=annotations,
            data=data,
            media_type=media_type,
            dry_run=dry_run,
        )
        return self._call("synod.v1.ControllerRevisions/Update", request, v1.ControllerRevisionsUpdateResponse, timeout)

    def rollback(
        self,
        *,
        request_id: v1.RequestId | None = None,
        history: v1.ControllerHistory | None = None,
        revision: int | None = None,
        name: str | None = None,
        if_newest: int | None = None,
        dry_run: bool = False,
        timeout: float | None = None,
    ) -> v1.ControllerRevisionsRollbackResponse:
        """Makes an older snapshot the newest of its history, and returns it. Since 0.1."""
        request = v1.ControllerRevisionsRollbackRequest(
            request_id=request_id,
            history=history,
            revision=revision,
            name=name,
            if_newest=if_newest,
            dry_run=dry_run,
        )
        return self._call("synod.v1.ControllerRevisions/Rollback", request, v1.ControllerRevisionsRollbackResponse, timeout)

    def mark_live(
        self,
        *,
        request_id: v1.RequestId | None = None,
        history: v1.ControllerHistory | None = None,
        current: str | None = None,
        update: str | None = None,
        in_use: v1.InUse | None = None,
        tie: v1.MarkTie | None = None,
        timeout: float | None = None,
    ) -> v1.ControllerRevisionsMarkLiveResponse:
        """Says which snapshots of a history are in use, or says so again. Those are never truncated. Every mark goes with
        something, so that nobody who dies pins a snapshot for ever; setting it again renews it and, where nothing else
        changes, moves no revision. `TOO_LARGE` if more than 16 MiB of them would be marked otherwise than they are: fewer at
        first, then all. Since 0.1.
        """
        request = v1.ControllerRevisionsMarkLiveRequest(
            request_id=request_id,
            history=history,
            current=current,
            update=update,
            in_use=in_use,
            tie=tie,
        )
        return self._call("synod.v1.ControllerRevisions/MarkLive", request, v1.ControllerRevisionsMarkLiveResponse, timeout)

    def truncate(
        self,
        *,
        request_id: v1.RequestId | None = None,
        history: v1.ControllerHistory | None = None,
        limit: int | None = None,
        if_newest: int | None = None,
        dry_run: bool = False,
        timeout: float | None = None,
    ) -> v1.ControllerRevisionsTruncateResponse:
        """Deletes the oldest snapshots of a history that are not live. The newest is live, marked or not. Since 0.1."""
        request = v1.ControllerRevisionsTruncateRequest(
            request_id=request_id,
            history=history,
            limit=limit,
            if_newest=if_newest,
            dry_run=dry_run,
        )
        return self._call("synod.v1.ControllerRevisions/Truncate", request, v1.ControllerRevisionsTruncateResponse, timeout)

    def delete(
        self,
        *,
        request_id: v1.RequestId | None = None,
        namespace: str = "",
        name: str = "",
        if_uid: str = "",
        if_resource_version: int | None = None,
        dry_run: bool = False,
        timeout: float | None = None,
    ) -> v1.ControllerRevisionsDeleteResponse:
        """Deletes one snapshot, in use or not. Since 0.1."""
        request = v1.ControllerRevisionsDeleteRequest(
            request_id=request_id,
            namespace=namespace,
            name=name,
            if_uid=if_uid,
            if_resource_version=if_resource_version,
            dry_run=dry_run,
        )
        return self._call("synod.v1.ControllerRevisions/Delete", request, v1.ControllerRevisionsDeleteResponse, timeout)

    def delete_history(
        self,
        *,
        request_id: v1.RequestId | None = None,
        namespace: str = "",
        owner_uid: str = "",
        dry_run: bool = False,
        timeout: float | None = None,
    ) -> v1.ControllerRevisionsDeleteHistoryResponse:
        """Deletes all snapshots that an owner controls in a namespace, in use or not. They stay when the owner goes; this is
        how it is asked otherwise. Since 0.1.
        """
        request = v1.ControllerRevisionsDeleteHistoryRequest(
            request_id=request_id,
            namespace=namespace,
            owner_uid=owner_uid,
            dry_run=dry_run,
        )
        return self._call("synod.v1.ControllerRevisions/DeleteHistory", request, v1.ControllerRevisionsDeleteHistoryResponse, timeout)

    def adopt(
        self,
        *,
        request_id: v1.RequestId | None = None,
        history: v1.ControllerHistory | None = None,
        name: str = "",
        timeout: float | None = None,
    ) -> v1.ControllerRevisionsAdoptResponse:
        """Makes an owner the controller of snapshots that have none. One that has another: `CONFLICT`. Since 0.1."""
        request = v1.ControllerRevisionsAdoptRequest(
            request_id=request_id,
            history=history,
            name=name,
        )
        return self._call("synod.v1.ControllerRevisions/Adopt", request, v1.ControllerRevisionsAdoptResponse, timeout)

    def release(
        self,
        *,
        request_id: v1.RequestId | None = None,
        namespace: str = "",
        name: str = "",
        owner_uid: str = "",
        if_uid: str = "",
        if_resource_version: int | None = None,
        timeout: float | None = None,
    ) -> v1.ControllerRevisionsReleaseResponse:
        """Ends an owner's control of a snapshot, which stays. One that is gone, or that it does not control, is left alone.
        Since 0.1.
        """
        request = v1.ControllerRevisionsReleaseRequest(
            request_id=request_id,
            namespace=namespace,
            name=name,
            owner_uid=owner_uid,
            if_uid=if_uid,
            if_resource_version=if_resource_version,
        )
        return self._call("synod.v1.ControllerRevisions/Release", request, v1.ControllerRevisionsReleaseResponse, timeout)


class AsyncControllerRevisionsService(AsyncService):
    """The histories of controllers: what each wanted, one snapshot for each state that it still may go back to. Since 0.1."""

    async def create(
        self,
        *,
        request_id: v1.RequestId | None = None,
        history: v1.ControllerHistory | None = None,
        media_type: str = "",
        data: bytes = b"",
        equality: v1.ControllerRevisionEquality = v1.ControllerRevisionEquality.UNSPECIFIED,
        prefix: str = "",
        labels: Mapping[str, str] | None = None,
        annotations: Mapping[str, str] | None = None,
        revision: int | None = None,
        collision_count: int | None = None,
        history_limit: int | None = None,
        if_newest: int | None = None,
        dry_run: bool = False,
        mark_update: v1.MarkTie | None = None,
        data_version: str | None = None,
        name: str = "",
        timeout: float | None = None,
    ) -> v1.ControllerRevisionsCreateResponse:
        """Says what a controller wants now. One command decides, against all that the history holds: *unchanged* if the newest
        says the same, *rolled back* if an older one does, whose number becomes the highest, else *created*; then the oldest
        that are not live go, beyond the limit. Live are the newest and all that have a mark. The one that was the newest until
        then is not live any more but stays, since only now its owner can say that it still uses it: it can go with the next
        create. `ALREADY_EXISTS` if no free name was found. Since 0.1.
        """
        request = v1.ControllerRevisionsCreateRequest(
            request_id=request_id,
            history=history,
            media_type=media_type,
            data=data,
            equality=equality,
            prefix=prefix,
            labels=labels or {},
            annotations=annotations or {},
            revision=revision,
            collision_count=collision_count,
            history_limit=history_limit,
            if_newest=if_newest,
            dry_run=dry_run,
            mark_update=mark_update,
            data_version=data_version,
            name=name,
        )
        return await self._call("synod.v1.ControllerRevisions/Create", request, v1.ControllerRevisionsCreateResponse, timeout)

    async def get(
        self,
        *,
        namespace: str = "",
        name: str = "",
        read: v1.ReadOptions | None = None,
        timeout: float | None = None,
    ) -> v1.ControllerRevisionsGetResponse:
        """Reads one snapshot. Since 0.1."""
        request = v1.ControllerRevisionsGetRequest(
            namespace=namespace,
            name=name,
            read=read,
        )
        return await self._call("synod.v1.ControllerRevisions/Get", request, v1.ControllerRevisionsGetResponse, timeout)

    async def list(
        self,
        *,
        read: v1.ReadOptions | None = None,
        namespace: str = "",
        labels: Mapping[str, str] | None = None,
        owner_kind: str = "",
        owner_name: str = "",
        owner_uid: str = "",
        page_size: int | None = None,
        continue_token: str = "",
        continue_at_present: bool = False,
        timeout: float | None = None,
    ) -> v1.ControllerRevisionsListResponse:
        """Reads snapshots of any owner, ordered by namespace and name. Since 0.1."""
        request = v1.ControllerRevisionsListRequest(
            read=read,
            namespace=namespace,
            labels=labels or {},
            owner_kind=owner_kind,
            owner_name=owner_name,
            owner_uid=owner_uid,
            page_size=page_size,
            continue_token=continue_token,
            continue_at_present=continue_at_present,
        )
        return await self._call("synod.v1.ControllerRevisions/List", request, v1.ControllerRevisionsListResponse, timeout)

    def list_all(
        self,
        *,
        read: v1.ReadOptions | None = None,
        namespace: str = "",
        labels: Mapping[str, str] | None = None,
        owner_kind: str = "",
        owner_name: str = "",
        owner_uid: str = "",
        page_size: int | None = None,
        continue_at_present: bool = False,
        timeout: float | None = None,
    ) -> AsyncIterator[v1.ControllerRevision]:
        """As `list`, over all pages, which are read at one revision as they are needed."""
        request = v1.ControllerRevisionsListRequest(
            read=read,
            namespace=namespace,
            labels=labels or {},
            owner_kind=owner_kind,
            owner_name=owner_name,
            owner_uid=owner_uid,
            page_size=page_size,
            continue_at_present=continue_at_present,
        )
        return self._pages("synod.v1.ControllerRevisions/List", request, v1.ControllerRevisionsListResponse, v1.ControllerRevision, timeout)

    async def history(
        self,
        *,
        history: v1.ControllerHistory | None = None,
        read: v1.ReadOptions | None = None,
        page_size: int | None = None,
        continue_token: str = "",
        continue_at_present: bool = False,
        timeout: float | None = None,
    ) -> v1.ControllerRevisionsHistoryResponse:
        """Reads the history of a controller, oldest first. One that was never begun is empty. Since 0.1."""
        request = v1.ControllerRevisionsHistoryRequest(
            history=history,
            read=read,
            page_size=page_size,
            continue_token=continue_token,
            continue_at_present=continue_at_present,
        )
        return await self._call("synod.v1.ControllerRevisions/History", request, v1.ControllerRevisionsHistoryResponse, timeout)

    def history_all(
        self,
        *,
        history: v1.ControllerHistory | None = None,
        read: v1.ReadOptions | None = None,
        page_size: int | None = None,
        continue_at_present: bool = False,
        timeout: float | None = None,
    ) -> AsyncIterator[v1.ControllerRevision]:
        """As `history`, over all pages, which are read at one revision as they are needed."""
        request = v1.ControllerRevisionsHistoryRequest(
            history=history,
            read=read,
            page_size=page_size,
            continue_at_present=continue_at_present,
        )
        return self._pages("synod.v1.ControllerRevisions/History", request, v1.ControllerRevisionsHistoryResponse, v1.ControllerRevision, timeout)

    async def diff(
        self,
        *,
        namespace: str = "",
        from_: str = "",
        to: str = "",
        read: v1.ReadOptions | None = None,
        timeout: float | None = None,
    ) -> v1.ControllerRevisionsDiffResponse:
        """Tells what changed from one snapshot to another. Since 0.1."""
        request = v1.ControllerRevisionsDiffRequest(
            namespace=namespace,
            from_=from_,
            to=to,
            read=read,
        )
        return await self._call("synod.v1.ControllerRevisions/Diff", request, v1.ControllerRevisionsDiffResponse, timeout)

    async def update(
        self,
        *,
        request_id: v1.RequestId | None = None,
        namespace: str = "",
        name: str = "",
        if_uid: str = "",
        if_resource_version: int | None = None,
        revision: int | None = None,
        labels: v1.LabelMap | None = None,
        annotations: v1.LabelMap | None = None,
        data: bytes = b"",
        media_type: str = "",
        dry_run: bool = False,
        timeout: float | None = None,
    ) -> v1.ControllerRevisionsUpdateResponse:
        """Changes what may be changed of a snapshot, as the caller has seen it. Its data may not: `IMMUTABLE`. Since 0.1."""
        request = v1.ControllerRevisionsUpdateRequest(
            request_id=request_id,
            namespace=namespace,
            name=name,
            if_uid=if_uid,
            if_resource_version=if_resource_version,
            revision=revision,
            labels=labels,
            annotations=annotations,
            data=data,
            media_type=media_type,
            dry_run=dry_run,
        )
        return await self._call("synod.v1.ControllerRevisions/Update", request, v1.ControllerRevisionsUpdateResponse, timeout)

    async def rollback(
        self,
        *,
        request_id: v1.RequestId | None = None,
        history: v1.ControllerHistory | None = None,
        revision: int | None = None,
        name: str | None = None,
        if_newest: int | None = None,
        dry_run: bool = False,
        timeout: float | None = None,
    ) -> v1.ControllerRevisionsRollbackResponse:
        """Makes an older snapshot the newest of its history, and returns it. Since 0.1."""
        request = v1.ControllerRevisionsRollbackRequest(
            request_id=request_id,
            history=history,
            revision=revision,
            name=name,
            if_newest=if_newest,
            dry_run=dry_run,
        )
        return await self._call("synod.v1.ControllerRevisions/Rollback", request, v1.ControllerRevisionsRollbackResponse, timeout)

    async def mark_live(
        self,
        *,
        request_id: v1.RequestId | None = None,
        history: v1.ControllerHistory | None = None,
        current: str | None = None,
        update: str | None = None,
        in_use: v1.InUse | None = None,
        tie: v1.MarkTie | None = None,
        timeout: float | None = None,
    ) -> v1.ControllerRevisionsMarkLiveResponse:
        """Says which snapshots of a history are in use, or says so again. Those are never truncated. Every mark goes with
        something, so that nobody who dies pins a snapshot for ever; setting it again renews it and, where nothing else
        changes, moves no revision. `TOO_LARGE` if more than 16 MiB of them would be marked otherwise than they are: fewer at
        first, then all. Since 0.1.
        """
        request = v1.ControllerRevisionsMarkLiveRequest(
            request_id=request_id,
            history=history,
            current=current,
            update=update,
            in_use=in_use,
            tie=tie,
        )
        return await self._call("synod.v1.ControllerRevisions/MarkLive", request, v1.ControllerRevisionsMarkLiveResponse, timeout)

    async def truncate(
        self,
        *,
        request_id: v1.RequestId | None = None,
        history: v1.ControllerHistory | None = None,
        limit: int | None = None,
        if_newest: int | None = None,
        dry_run: bool = False,
        timeout: float | None = None,
    ) -> v1.ControllerRevisionsTruncateResponse:
        """Deletes the oldest snapshots of a history that are not live. The newest is live, marked or not. Since 0.1."""
        request = v1.ControllerRevisionsTruncateRequest(
            request_id=request_id,
            history=history,
            limit=limit,
            if_newest=if_newest,
            dry_run=dry_run,
        )
        return await self._call("synod.v1.ControllerRevisions/Truncate", request, v1.ControllerRevisionsTruncateResponse, timeout)

    async def delete(
        self,
        *,
        request_id: v1.RequestId | None = None,
        namespace: str = "",
        name: str = "",
        if_uid: str = "",
        if_resource_version: int | None = None,
        dry_run: bool = False,
        timeout: float | None = None,
    ) -> v1.ControllerRevisionsDeleteResponse:
        """Deletes one snapshot, in use or not. Since 0.1."""
        request = v1.ControllerRevisionsDeleteRequest(
            request_id=request_id,
            namespace=namespace,
            name=name,
            if_uid=if_uid,
            if_resource_version=if_resource_version,
            dry_run=dry_run,
        )
        return await self._call("synod.v1.ControllerRevisions/Delete", request, v1.ControllerRevisionsDeleteResponse, timeout)

    async def delete_history(
        self,
        *,
        request_id: v1.RequestId | None = None,
        namespace: str = "",
        owner_uid: str = "",
        dry_run: bool = False,
        timeout: float | None = None,
    ) -> v1.ControllerRevisionsDeleteHistoryResponse:
        """Deletes all snapshots that an owner controls in a namespace, in use or not. They stay when the owner goes; this is
        how it is asked otherwise. Since 0.1.
        """
        request = v1.ControllerRevisionsDeleteHistoryRequest(
            request_id=request_id,
            namespace=namespace,
            owner_uid=owner_uid,
            dry_run=dry_run,
        )
        return await self._call("synod.v1.ControllerRevisions/DeleteHistory", request, v1.ControllerRevisionsDeleteHistoryResponse, timeout)

    async def adopt(
        self,
        *,
        request_id: v1.RequestId | None = None,
        history: v1.ControllerHistory | None = None,
        name: str = "",
        timeout: float | None = None,
    ) -> v1.ControllerRevisionsAdoptResponse:
        """Makes an owner the controller of snapshots that have none. One that has another: `CONFLICT`. Since 0.1."""
        request = v1.ControllerRevisionsAdoptRequest(
            request_id=request_id,
            history=history,
            name=name,
        )
        return await self._call("synod.v1.ControllerRevisions/Adopt", request, v1.ControllerRevisionsAdoptResponse, timeout)

    async def release(
        self,
        *,
        request_id: v1.RequestId | None = None,
        namespace: str = "",
        name: str = "",
        owner_uid: str = "",
        if_uid: str = "",
        if_resource_version: int | None = None,
        timeout: float | None = None,
    ) -> v1.ControllerRevisionsReleaseResponse:
        """Ends an owner's control of a snapshot, which stays. One that is gone, or that it does not control, is left alone.
        Since 0.1.
        """
        request = v1.ControllerRevisionsReleaseRequest(
            request_id=request_id,
            namespace=namespace,
            name=name,
            owner_uid=owner_uid,
            if_uid=if_uid,
            if_resource_version=if_resource_version,
        )
        return await self._call("synod.v1.ControllerRevisions/Release", request, v1.ControllerRevisionsReleaseResponse, timeout)


class RostersService(Service):
    """Who must speak for a resource before anything that is said of it counts. Agreement is among those who take part, and who
    else writes a resource only an operator knows: a roster says it. While somebody that it asks for is missing, there is no
    agreement, no new migration, no completion and no safe answer, and the missing are named. Without a roster, whatever
    rests on agreement says that it assumes that nobody else writes. Since 0.1.
    """

    def set(
        self,
        *,
        request_id: v1.RequestId | None = None,
        scope: str = "",
        rule: v1.RosterRule | None = None,
        if_revision: int | None = None,
        dry_run: bool = False,
        timeout: float | None = None,
    ) -> v1.RostersSetResponse:
        """Says who must speak for the resources of a scope, in place of whoever had to before. `QUOTA` if there are 1,000 rosters
        and none of this scope. Since 0.1.
        """
        request = v1.RostersSetRequest(
            request_id=request_id,
            scope=scope,
            rule=rule,
            if_revision=if_revision,
            dry_run=dry_run,
        )
        return self._call("synod.v1.Rosters/Set", request, v1.RostersSetResponse, timeout)

    def delete(
        self,
        *,
        request_id: v1.RequestId | None = None,
        scope: str = "",
        if_revision: int | None = None,
        dry_run: bool = False,
        timeout: float | None = None,
    ) -> v1.RostersDeleteResponse:
        """Takes a roster away. The next wider one that covers a resource counts then. `NOT_FOUND` if there is none of this scope.
        Since 0.1.
        """
        request = v1.RostersDeleteRequest(
            request_id=request_id,
            scope=scope,
            if_revision=if_revision,
            dry_run=dry_run,
        )
        return self._call("synod.v1.Rosters/Delete", request, v1.RostersDeleteResponse, timeout)

    def get(
        self,
        *,
        scope: str = "",
        read: v1.ReadOptions | None = None,
        timeout: float | None = None,
    ) -> v1.RostersGetResponse:
        """Reads the roster of a scope. `NOT_FOUND` if there is none; a wider one may cover its resources. Since 0.1."""
        request = v1.RostersGetRequest(
            scope=scope,
            read=read,
        )
        return self._call("synod.v1.Rosters/Get", request, v1.RostersGetResponse, timeout)

    def list(
        self,
        *,
        read: v1.ReadOptions | None = None,
        page_size: int | None = None,
        continue_token: str = "",
        continue_at_present: bool = False,
        timeout: float | None = None,
    ) -> v1.RostersListResponse:
        """Reads all rosters, page by page, all at one revision. Since 0.1."""
        request = v1.RostersListRequest(
            read=read,
            page_size=page_size,
            continue_token=continue_token,
            continue_at_present=continue_at_present,
        )
        return self._call("synod.v1.Rosters/List", request, v1.RostersListResponse, timeout)


class AsyncRostersService(AsyncService):
    """Who must speak for a resource before anything that is said of it counts. Agreement is among those who take part, and who
    else writes a resource only an operator knows: a roster says it. While somebody that it asks for is missing, there is no
    agreement, no new migration, no completion and no safe answer, and the missing are named. Without a roster, whatever
    rests on agreement says that it assumes that nobody else writes. Since 0.1.
    """

    async def set(
        self,
        *,
        request_id: v1.RequestId | None = None,
        scope: str = "",
        rule: v1.RosterRule | None = None,
        if_revision: int | None = None,
        dry_run: bool = False,
        timeout: float | None = None,
    ) -> v1.RostersSetResponse:
        """Says who must speak for the resources of a scope, in place of whoever had to before. `QUOTA` if there are 1,000 rosters
        and none of this scope. Since 0.1.
        """
        request = v1.RostersSetRequest(
            request_id=request_id,
            scope=scope,
            rule=rule,
            if_revision=if_revision,
            dry_run=dry_run,
        )
        return await self._call("synod.v1.Rosters/Set", request, v1.RostersSetResponse, timeout)

    async def delete(
        self,
        *,
        request_id: v1.RequestId | None = None,
        scope: str = "",
        if_revision: int | None = None,
        dry_run: bool = False,
        timeout: float | None = None,
    ) -> v1.RostersDeleteResponse:
        """Takes a roster away. The next wider one that covers a resource counts then. `NOT_FOUND` if there is none of this scope.
        Since 0.1.
        """
        request = v1.RostersDeleteRequest(
            request_id=request_id,
            scope=scope,
            if_revision=if_revision,
            dry_run=dry_run,
        )
        return await self._call("synod.v1.Rosters/Delete", request, v1.RostersDeleteResponse, timeout)

    async def get(
        self,
        *,
        scope: str = "",
        read: v1.ReadOptions | None = None,
        timeout: float | None = None,
    ) -> v1.RostersGetResponse:
        """Reads the roster of a scope. `NOT_FOUND` if there is none; a wider one may cover its resources. Since 0.1."""
        request = v1.RostersGetRequest(
            scope=scope,
            read=read,
        )
        return await self._call("synod.v1.Rosters/Get", request, v1.RostersGetResponse, timeout)

    async def list(
        self,
        *,
        read: v1.ReadOptions | None = None,
        page_size: int | None = None,
        continue_token: str = "",
        continue_at_present: bool = False,
        timeout: float | None = None,
    ) -> v1.RostersListResponse:
        """Reads all rosters, page by page, all at one revision. Since 0.1."""
        request = v1.RostersListRequest(
            read=read,
            page_size=page_size,
            continue_token=continue_token,
            continue_at_present=continue_at_present,
        )
        return await self._call("synod.v1.Rosters/List", request, v1.RostersListResponse, timeout)


class StorageVersionsService(Service):
    """What every member encodes, decodes and serves, and what follows from it. Since 0.1."""

    def report(
        self,
        *,
        request_id: v1.RequestId | None = None,
        member: v1.MemberEpoch | None = None,
        entries: tuple[v1.ReportEntry, ...] = (),
        replace: bool = False,
        number: int = 0,
        timeout: float | None = None,
    ) -> v1.StorageVersionsReportResponse:
        """Takes what a member says of its resources: all of it or nothing, at one revision. Since 0.1."""
        request = v1.StorageVersionsReportRequest(
            request_id=request_id,
            member=member,
            entries=entries,
            replace=replace,
            number=number,
        )
        return self._call("synod.v1.StorageVersions/Report", request, v1.StorageVersionsReportResponse, timeout)

    def adopt(
        self,
        *,
        request_id: v1.RequestId | None = None,
        member: v1.MemberEpoch | None = None,
        resource: v1.GroupResource | None = None,
        selected_revision: int = 0,
        number: int = 0,
        timeout: float | None = None,
    ) -> v1.StorageVersionsAdoptResponse:
        """A voting member says that it now encodes the selected version of a resource, and that no write of its in another
        one can land any more. `NOT_FOUND` if this epoch of the member has reported no voting entry for it. Since 0.1.
        """
        request = v1.StorageVersionsAdoptRequest(
            request_id=request_id,
            member=member,
            resource=resource,
            selected_revision=selected_revision,
            number=number,
        )
        return self._call("synod.v1.StorageVersions/Adopt", request, v1.StorageVersionsAdoptResponse, timeout)

    def forget(
        self,
        *,
        request_id: v1.RequestId | None = None,
        resource: v1.GroupResource | None = None,
        if_revision: int | None = None,
        dry_run: bool = False,
        timeout: float | None = None,
    ) -> v1.StorageVersionsForgetResponse:
        """Removes what stays of a resource when its last entry went: its `StorageState` and its history. Whoever reports it
        again begins anew, with unknown versions persisted. `NOT_FOUND` if there is nothing; `CONFLICT` while a member
        reports it; `DRAINING` while writes may still land. Since 0.1.
        """
        request = v1.StorageVersionsForgetRequest(
            request_id=request_id,
            resource=resource,
            if_revision=if_revision,
            dry_run=dry_run,
        )
        return self._call("synod.v1.StorageVersions/Forget", request, v1.StorageVersionsForgetResponse, timeout)

    def add_equivalents(
        self,
        *,
        request_id: v1.RequestId | None = None,
        resources: tuple[v1.GroupResource, ...] = (),
        dry_run: bool = False,
        timeout: float | None = None,
    ) -> v1.StorageVersionsAddEquivalentsResponse:
        """Says that resources are one store under several names: what is stored, selected, agreed on, draining and migrated is kept once
        from then on, under the first name, and their keys follow. An entry under any name answers for all, and every roster that
        covers any of them counts. The agreement begins anew, migrations are aborted, and what is stored is unknown if a name was never
        known. Changes nothing if they are one store already. `CONFLICT` if two of them have a collection, if a member reports two of
        them, or if no selected version is decodable by all members; `INVALID_ARGUMENT` for more than 8 names. Since 0.1.
        """
        request = v1.StorageVersionsAddEquivalentsRequest(
            request_id=request_id,
            resources=resources,
            dry_run=dry_run,
        )
        return self._call("synod.v1.StorageVersions/AddEquivalents", request, v1.StorageVersionsAddEquivalentsResponse, timeout)

    def remove_equivalent(
        self,
        *,
        request_id: v1.RequestId | None = None,
        resource: v1.GroupResource | None = None,
        dry_run: bool = False,
        timeout: float | None = None,
    ) -> v1.StorageVersionsRemoveEquivalentResponse:
        """Takes a name out of its set: what is stored under it and under the others is unknown until migrations end, both keep what
        still drains, and migrations are aborted. `NOT_FOUND` if the resource is equivalent to none; `CONFLICT` while an entry tells
        that it is. Since 0.1.
        """
        request = v1.StorageVersionsRemoveEquivalentRequest(
            request_id=request_id,
            resource=resource,
            dry_run=dry_run,
        )
        return self._call("synod.v1.StorageVersions/RemoveEquivalent", request, v1.StorageVersionsRemoveEquivalentResponse, timeout)

    def get(
        self,
        *,
        resource: v1.GroupResource | None = None,
        read: v1.ReadOptions | None = None,
        timeout: float | None = None,
    ) -> v1.StorageVersionsGetResponse:
        """Reads one resource. Since 0.1."""
        request = v1.StorageVersionsGetRequest(
            resource=resource,
            read=read,
        )
        return self._call("synod.v1.StorageVersions/Get", request, v1.StorageVersionsGetResponse, timeout)

    def list(
        self,
        *,
        read: v1.ReadOptions | None = None,
        include_unreported: bool = False,
        page_size: int | None = None,
        continue_token: str = "",
        continue_at_present: bool = False,
        timeout: float | None = None,
    ) -> v1.StorageVersionsListResponse:
        """Reads all resources, ordered by group and resource. Since 0.1."""
        request = v1.StorageVersionsListRequest(
            read=read,
            include_unreported=include_unreported,
            page_size=page_size,
            continue_token=continue_token,
            continue_at_present=continue_at_present,
        )
        return self._call("synod.v1.StorageVersions/List", request, v1.StorageVersionsListResponse, timeout)

    def list_all(
        self,
        *,
        read: v1.ReadOptions | None = None,
        include_unreported: bool = False,
        page_size: int | None = None,
        continue_at_present: bool = False,
        timeout: float | None = None,
    ) -> Iterator[v1.StorageVersionListItem]:
        """As `list`, over all pages, which are read at one revision as they are needed."""
        request = v1.StorageVersionsListRequest(
            read=read,
            include_unreported=include_unreported,
            page_size=page_size,
            continue_at_present=continue_at_present,
        )
        return self._pages("synod.v1.StorageVersions/List", request, v1.StorageVersionsListResponse, v1.StorageVersionListItem, timeout)

    def history(
        self,
        *,
        resource: v1.GroupResource | None = None,
        read: v1.ReadOptions | None = None,
        timeout: float | None = None,
    ) -> v1.StorageVersionsHistoryResponse:
        """Reads what the members of a resource agreed on, one change after the other. Since 0.1."""
        request = v1.StorageVersionsHistoryRequest(
            resource=resource,
            read=read,
        )
        return self._call("synod.v1.StorageVersions/History", request, v1.StorageVersionsHistoryResponse, timeout)

    def check_binary(
        self,
        *,
        resources: tuple[v1.BinaryResource, ...] = (),
        read: v1.ReadOptions | None = None,
        left_to_others: tuple[str, ...] = (),
        timeout: float | None = None,
    ) -> v1.StorageVersionsCheckBinaryResponse:
        """Says whether a binary may join, with every reason against it and what a safe answer assumes. What is not known is not
        safe. Since 0.1.
        """
        request = v1.StorageVersionsCheckBinaryRequest(
            resources=resources,
            read=read,
            left_to_others=left_to_others,
        )
        return self._call("synod.v1.StorageVersions/CheckBinary", request, v1.StorageVersionsCheckBinaryResponse, timeout)

    def check_drop(
        self,
        *,
        resource: v1.GroupResource | None = None,
        version: str = "",
        read: v1.ReadOptions | None = None,
        timeout: float | None = None,
    ) -> v1.StorageVersionsCheckDropResponse:
        """Says whether a version of a resource may be dropped from the binaries, with every reason against it and what a safe
        answer assumes. Since 0.1.
        """
        request = v1.StorageVersionsCheckDropRequest(
            resource=resource,
            version=version,
            read=read,
        )
        return self._call("synod.v1.StorageVersions/CheckDrop", request, v1.StorageVersionsCheckDropResponse, timeout)

    def check_agreement(
        self,
        *,
        resources: tuple[v1.GroupResource, ...] = (),
        allow_none: bool = False,
        read: v1.ReadOptions | None = None,
        timeout: float | None = None,
    ) -> v1.StorageVersionsCheckAgreementResponse:
        """Says whether the members agree, on some resources or on all that is known, with every obstacle and what a positive answer
        assumes. Since 0.1.
        """
        request = v1.StorageVersionsCheckAgreementRequest(
            resources=resources,
            allow_none=allow_none,
            read=read,
        )
        return self._call("synod.v1.StorageVersions/CheckAgreement", request, v1.StorageVersionsCheckAgreementResponse, timeout)

    def check_upgrade(
        self,
        *,
        read: v1.ReadOptions | None = None,
        timeout: float | None = None,
    ) -> v1.StorageVersionsCheckUpgradeResponse:
        """Says whether an upgrade may go on: nothing is alarming, the members agree on all that is known, all of it is migrated, and no
        write in another version may still land. Each obstacle is named, the worst first, with a command that helps. Since 0.1.
        """
        request = v1.StorageVersionsCheckUpgradeRequest(
            read=read,
        )
        return self._call("synod.v1.StorageVersions/CheckUpgrade", request, v1.StorageVersionsCheckUpgradeResponse, timeout)


class AsyncStorageVersionsService(AsyncService):
    """What every member encodes, decodes and serves, and what follows from it. Since 0.1."""

    async def report(
        self,
        *,
        request_id: v1.RequestId | None = None,
        member: v1.MemberEpoch | None = None,
        entries: tuple[v1.ReportEntry, ...] = (),
        replace: bool = False,
        number: int = 0,
        timeout: float | None = None,
    ) -> v1.StorageVersionsReportResponse:
        """Takes what a member says of its resources: all of it or nothing, at one revision. Since 0.1."""
        request = v1.StorageVersionsReportRequest(
            request_id=request_id,
            member=member,
            entries=entries,
            replace=replace,
            number=number,
        )
        return await self._call("synod.v1.StorageVersions/Report", request, v1.StorageVersionsReportResponse, timeout)

    async def adopt(
        self,
        *,
        request_id: v1.RequestId | None = None,
        member: v1.MemberEpoch | None = None,
        resource: v1.GroupResource | None = None,
        selected_revision: int = 0,
        number: int = 0,
        timeout: float | None = None,
    ) -> v1.StorageVersionsAdoptResponse:
        """A voting member says that it now encodes the selected version of a resource, and that no write of its in another
        one can land any more. `NOT_FOUND` if this epoch of the member has reported no voting entry for it. Since 0.1.
        """
        request = v1.StorageVersionsAdoptRequest(
            request_id=request_id,
            member=member,
            resource=resource,
            selected_revision=selected_revision,
            number=number,
        )
        return await self._call("synod.v1.StorageVersions/Adopt", request, v1.StorageVersionsAdoptResponse, timeout)

    async def forget(
        self,
        *,
        request_id: v1.RequestId | None = None,
        resource: v1.GroupResource | None = None,
        if_revision: int | None = None,
        dry_run: bool = False,
        timeout: float | None = None,
    ) -> v1.StorageVersionsForgetResponse:
        """Removes what stays of a resource when its last entry went: its `StorageState` and its history. Whoever reports it
        again begins anew, with unknown versions persisted. `NOT_FOUND` if there is nothing; `CONFLICT` while a member
        reports it; `DRAINING` while writes may still land. Since 0.1.
        """
        request = v1.StorageVersionsForgetRequest(
            request_id=request_id,
            resource=resource,
            if_revision=if_revision,
            dry_run=dry_run,
        )
        return await self._call("synod.v1.StorageVersions/Forget", request, v1.StorageVersionsForgetResponse, timeout)

    async def add_equivalents(
        self,
        *,
        request_id: v1.RequestId | None = None,
        resources: tuple[v1.GroupResource, ...] = (),
        dry_run: bool = False,
        timeout: float | None = None,
    ) -> v1.StorageVersionsAddEquivalentsResponse:
        """Says that resources are one store under several names: what is stored, selected, agreed on, draining and migrated is kept once
        from then on, under the first name, and their keys follow. An entry under any name answers for all, and every roster that
        covers any of them counts. The agreement begins anew, migrations are aborted, and what is stored is unknown if a name was never
        known. Changes nothing if they are one store already. `CONFLICT` if two of them have a collection, if a member reports two of
        them, or if no selected version is decodable by all members; `INVALID_ARGUMENT` for more than 8 names. Since 0.1.
        """
        request = v1.StorageVersionsAddEquivalentsRequest(
            request_id=request_id,
            resources=resources,
            dry_run=dry_run,
        )
        return await self._call("synod.v1.StorageVersions/AddEquivalents", request, v1.StorageVersionsAddEquivalentsResponse, timeout)

    async def remove_equivalent(
        self,
        *,
        request_id: v1.RequestId | None = None,
        resource: v1.GroupResource | None = None,
        dry_run: bool = False,
        timeout: float | None = None,
    ) -> v1.StorageVersionsRemoveEquivalentResponse:
        """Takes a name out of its set: what is stored under it and under the others is unknown until migrations end, both keep what
        still drains, and migrations are aborted. `NOT_FOUND` if the resource is equivalent to none; `CONFLICT` while an entry tells
        that it is. Since 0.1.
        """
        request = v1.StorageVersionsRemoveEquivalentRequest(
            request_id=request_id,
            resource=resource,
            dry_run=dry_run,
        )
        return await self._call("synod.v1.StorageVersions/RemoveEquivalent", request, v1.StorageVersionsRemoveEquivalentResponse, timeout)

    async def get(
        self,
        *,
        resource: v1.GroupResource | None = None,
        read: v1.ReadOptions | None = None,
        timeout: float | None = None,
    ) -> v1.StorageVersionsGetResponse:
        """Reads one resource. Since 0.1."""
        request = v1.StorageVersionsGetRequest(
            resource=resource,
            read=read,
        )
        return await self._call("synod.v1.StorageVersions/Get", request, v1.StorageVersionsGetResponse, timeout)

    async def list(
        self,
        *,
        read: v1.ReadOptions | None = None,
        include_unreported: bool = False,
        page_size: int | None = None,
        continue_token: str = "",
        continue_at_present: bool = False,
        timeout: float | None = None,
    ) -> v1.StorageVersionsListResponse:
        """Reads all resources, ordered by group and resource. Since 0.1."""
        request = v1.StorageVersionsListRequest(
            read=read,
            include_unreported=include_unreported,
            page_size=page_size,
            continue_token=continue_token,
            continue_at_present=continue_at_present,
        )
        return await self._call("synod.v1.StorageVersions/List", request, v1.StorageVersionsListResponse, timeout)

    def list_all(
        self,
        *,
        read: v1.ReadOptions | None = None,
        include_unreported: bool = False,
        page_size: int | None = None,
        continue_at_present: bool = False,
        timeout: float | None = None,
    ) -> AsyncIterator[v1.StorageVersionListItem]:
        """As `list`, over all pages, which are read at one revision as they are needed."""
        request = v1.StorageVersionsListRequest(
            read=read,
            include_unreported=include_unreported,
            page_size=page_size,
            continue_at_present=continue_at_present,
        )
        return self._pages("synod.v1.StorageVersions/List", request, v1.StorageVersionsListResponse, v1.StorageVersionListItem, timeout)

    async def history(
        self,
        *,
        resource: v1.GroupResource | None = None,
        read: v1.ReadOptions | None = None,
        timeout: float | None = None,
    ) -> v1.StorageVersionsHistoryResponse:
        """Reads what the members of a resource agreed on, one change after the other. Since 0.1."""
        request = v1.StorageVersionsHistoryRequest(
            resource=resource,
            read=read,
        )
        return await self._call("synod.v1.StorageVersions/History", request, v1.StorageVersionsHistoryResponse, timeout)

    async def check_binary(
        self,
        *,
        resources: tuple[v1.BinaryResource, ...] = (),
        read: v1.ReadOptions | None = None,
        left_to_others: tuple[str, ...] = (),
        timeout: float | None = None,
    ) -> v1.StorageVersionsCheckBinaryResponse:
        """Says whether a binary may join, with every reason against it and what a safe answer assumes. What is not known is not
        safe. Since 0.1.
        """
        request = v1.StorageVersionsCheckBinaryRequest(
            resources=resources,
            read=read,
            left_to_others=left_to_others,
        )
        return await self._call("synod.v1.StorageVersions/CheckBinary", request, v1.StorageVersionsCheckBinaryResponse, timeout)

    async def check_drop(
        self,
        *,
        resource: v1.GroupResource | None = None,
        version: str = "",
        read: v1.ReadOptions | None = None,
        timeout: float | None = None,
    ) -> v1.StorageVersionsCheckDropResponse:
        """Says whether a version of a resource may be dropped from the binaries, with every reason against it and what a safe
        answer assumes. Since 0.1.
        """
        request = v1.StorageVersionsCheckDropRequest(
            resource=resource,
            version=version,
            read=read,
        )
        return await self._call("synod.v1.StorageVersions/CheckDrop", request, v1.StorageVersionsCheckDropResponse, timeout)

    async def check_agreement(
        self,
        *,
        resources: tuple[v1.GroupResource, ...] = (),
        allow_none: bool = False,
        read: v1.ReadOptions | None = None,
        timeout: float | None = None,
    ) -> v1.StorageVersionsCheckAgreementResponse:
        """Says whether the members agree, on some resources or on all that is known, with every obstacle and what a positive answer
        assumes. Since 0.1.
        """
        request = v1.StorageVersionsCheckAgreementRequest(
            resources=resources,
            allow_none=allow_none,
            read=read,
        )
        return await self._call("synod.v1.StorageVersions/CheckAgreement", request, v1.StorageVersionsCheckAgreementResponse, timeout)

    async def check_upgrade(
        self,
        *,
        read: v1.ReadOptions | None = None,
        timeout: float | None = None,
    ) -> v1.StorageVersionsCheckUpgradeResponse:
        """Says whether an upgrade may go on: nothing is alarming, the members agree on all that is known, all of it is migrated, and no
        write in another version may still land. Each obstacle is named, the worst first, with a command that helps. Since 0.1.
        """
        request = v1.StorageVersionsCheckUpgradeRequest(
            read=read,
        )
        return await self._call("synod.v1.StorageVersions/CheckUpgrade", request, v1.StorageVersionsCheckUpgradeResponse, timeout)


class MigrationsService(Service):
    """The rewriting of stored objects in one version: what waits, what runs, and what became of it. What is known of a
    resource's store is read with `StorageVersions.Get` and `List`. Since 0.1.
    """

    def get(
        self,
        *,
        name: str = "",
        read: v1.ReadOptions | None = None,
        timeout: float | None = None,
    ) -> v1.MigrationsGetResponse:
        """Reads one migration, by its name or its alias. Since 0.1."""
        request = v1.MigrationsGetRequest(
            name=name,
            read=read,
        )
        return self._call("synod.v1.Migrations/Get", request, v1.MigrationsGetResponse, timeout)

    def list(
        self,
        *,
        read: v1.ReadOptions | None = None,
        page_size: int | None = None,
        continue_token: str = "",
        continue_at_present: bool = False,
        timeout: float | None = None,
    ) -> v1.MigrationsListResponse:
        """Reads all migrations, ordered by resource, the oldest of each first. Since 0.1."""
        request = v1.MigrationsListRequest(
            read=read,
            page_size=page_size,
            continue_token=continue_token,
            continue_at_present=continue_at_present,
        )
        return self._call("synod.v1.Migrations/List", request, v1.MigrationsListResponse, timeout)

    def start(
        self,
        *,
        request_id: v1.RequestId | None = None,
        resource: v1.GroupResource | None = None,
        reason: v1.MigrationReason = v1.MigrationReason.UNSPECIFIED,
        dry_run: bool = False,
        alias: str | None = None,
        timeout: float | None = None,
    ) -> v1.MigrationsStartResponse:
        """Creates a migration to what is agreed on. `NO_AGREEMENT` if nothing is; `ALREADY_EXISTS` if one of this agreement
        and reason waits, runs or has failed, or if another one has the alias: the details name it. With an alias `UNAVAILABLE`
        until all replicas know aliases (machine version 2). Since 0.1.
        """
        request = v1.MigrationsStartRequest(
            request_id=request_id,
            resource=resource,
            reason=reason,
            dry_run=dry_run,
            alias=alias,
        )
        return self._call("synod.v1.Migrations/Start", request, v1.MigrationsStartResponse, timeout)

    def claim(
        self,
        *,
        request_id: v1.RequestId | None = None,
        name: str = "",
        worker: str = "",
        ttl_ms: int | None = None,
        fenced: bool = False,
        walks: v1.Walk = v1.Walk.UNSPECIFIED,
        timeout: float | None = None,
    ) -> v1.MigrationsClaimResponse:
        """Gives a pending migration to a worker. `DRAINING` while writes in another version may land, with `retry_after_ms` in
        the details; `CONFLICT` if it is not pending, or an older one of the resource comes first. Since 0.1.
        """
        request = v1.MigrationsClaimRequest(
            request_id=request_id,
            name=name,
            worker=worker,
            ttl_ms=ttl_ms,
            fenced=fenced,
            walks=walks,
        )
        return self._call("synod.v1.Migrations/Claim", request, v1.MigrationsClaimResponse, timeout)

    def progress(
        self,
        *,
        request_id: v1.RequestId | None = None,
        claim: v1.ClaimKey | None = None,
        progress: v1.MigrationProgress | None = None,
        timeout: float | None = None,
    ) -> v1.MigrationsProgressResponse:
        """Says how far a migration is, and so keeps its claim. Since 0.1."""
        request = v1.MigrationsProgressRequest(
            request_id=request_id,
            claim=claim,
            progress=progress,
        )
        return self._call("synod.v1.Migrations/Progress", request, v1.MigrationsProgressResponse, timeout)

    def complete(
        self,
        *,
        request_id: v1.RequestId | None = None,
        claim: v1.ClaimKey | None = None,
        timeout: float | None = None,
    ) -> v1.MigrationsCompleteResponse:
        """Says that every object is in the target's encoding: nothing else is persisted then. `NO_AGREEMENT` if what the
        migration is for is not agreed on any more. Since 0.1.
        """
        request = v1.MigrationsCompleteRequest(
            request_id=request_id,
            claim=claim,
        )
        return self._call("synod.v1.Migrations/Complete", request, v1.MigrationsCompleteResponse, timeout)

    def fail(
        self,
        *,
        request_id: v1.RequestId | None = None,
        claim: v1.ClaimKey | None = None,
        class_: v1.FailureClass = v1.FailureClass.UNSPECIFIED,
        reason: str = "",
        stop: v1.WorkerStop = v1.WorkerStop.UNSPECIFIED,
        timeout: float | None = None,
    ) -> v1.MigrationsFailResponse:
        """Gives a migration up. Unless the class is permanent it is tried again, later each time, a bounded number of times.
        Since 0.1.
        """
        request = v1.MigrationsFailRequest(
            request_id=request_id,
            claim=claim,
            class_=class_,
            reason=reason,
            stop=stop,
        )
        return self._call("synod.v1.Migrations/Fail", request, v1.MigrationsFailResponse, timeout)

    def release(
        self,
        *,
        request_id: v1.RequestId | None = None,
        claim: v1.ClaimKey | None = None,
        stop: v1.WorkerStop = v1.WorkerStop.UNSPECIFIED,
        timeout: float | None = None,
    ) -> v1.MigrationsReleaseResponse:
        """Gives a claim back before it has run out: the migration waits for a worker again, and the next one goes on from what
        was said last. It is no failure. What the worker may still write drains, unless it says that all was answered; that it may
        also say of a claim that has ended. Else `CONFLICT` if the claim has ended; `UNAVAILABLE` until all replicas know the call
        (machine version 2). Since 0.1.
        """
        request = v1.MigrationsReleaseRequest(
            request_id=request_id,
            claim=claim,
            stop=stop,
        )
        return self._call("synod.v1.Migrations/Release", request, v1.MigrationsReleaseResponse, timeout)

    def abort(
        self,
        *,
        request_id: v1.RequestId | None = None,
        name: str = "",
        dry_run: bool = False,
        timeout: float | None = None,
    ) -> v1.MigrationsAbortResponse:
        """Calls a migration off. Since 0.1."""
        request = v1.MigrationsAbortRequest(
            request_id=request_id,
            name=name,
            dry_run=dry_run,
        )
        return self._call("synod.v1.Migrations/Abort", request, v1.MigrationsAbortResponse, timeout)

    def delete(
        self,
        *,
        request_id: v1.RequestId | None = None,
        name: str = "",
        preconditions: v1.Preconditions | None = None,
        dry_run: bool = False,
        timeout: float | None = None,
    ) -> v1.MigrationsDeleteResponse:
        """Deletes a migration, at any time. One that waits, runs or has failed is called off by that, as by `Abort`: its worker is
        told with its next word, by `NOT_FOUND`. What is known of the store stays as it is: what is persisted, and what drains.
        Its alias is free for another one. `UNAVAILABLE` until all replicas know the call (machine version 2). Since 0.1.
        """
        request = v1.MigrationsDeleteRequest(
            request_id=request_id,
            name=name,
            preconditions=preconditions,
            dry_run=dry_run,
        )
        return self._call("synod.v1.Migrations/Delete", request, v1.MigrationsDeleteResponse, timeout)

    def retry(
        self,
        *,
        request_id: v1.RequestId | None = None,
        name: str = "",
        dry_run: bool = False,
        timeout: float | None = None,
    ) -> v1.MigrationsRetryResponse:
        """Has a failed migration tried again at once. Since 0.1."""
        request = v1.MigrationsRetryRequest(
            request_id=request_id,
            name=name,
            dry_run=dry_run,
        )
        return self._call("synod.v1.Migrations/Retry", request, v1.MigrationsRetryResponse, timeout)

    def observe(
        self,
        *,
        request_id: v1.RequestId | None = None,
        resource: v1.GroupResource | None = None,
        hashes: tuple[str, ...] = (),
        kind: str | None = None,
        if_revision: int | None = None,
        observer: str | None = None,
        servers: tuple[v1.ServerLook, ...] = (),
        timeout: float | None = None,
    ) -> v1.MigrationsObserveResponse:
        """Says what discovery shows of a resource. While nobody reports it, that stands for the agreement until two periods of log
        time later. While members report it, it stands beside what they say: what none of them encodes is persisted, and ends
        the agreement until a later look shows otherwise or the resource is reset. What is shown no more drains. What is shown is
        the union of the looks of all observers, at most 16; the looks of a named observer are kept server by server, and end one
        by one: `UNAVAILABLE` until all replicas know that (machine version 3). Since 0.1.
        """
        request = v1.MigrationsObserveRequest(
            request_id=request_id,
            resource=resource,
            hashes=hashes,
            kind=kind,
            if_revision=if_revision,
            observer=observer,
            servers=servers,
        )
        return self._call("synod.v1.Migrations/Observe", request, v1.MigrationsObserveResponse, timeout)

    def dismiss(
        self,
        *,
        request_id: v1.RequestId | None = None,
        resource: v1.GroupResource | None = None,
        observer: str | None = None,
        server: str | None = None,
        dry_run: bool = False,
        timeout: float | None = None,
    ) -> v1.MigrationsDismissResponse:
        """Ends what looks at discovery have shown of a resource, since somebody knows that no server writes it any more. It drains.
        `NOT_FOUND` if there is no such look, `UNAVAILABLE` until all replicas know the call (machine version 3). Since 0.1.
        """
        request = v1.MigrationsDismissRequest(
            request_id=request_id,
            resource=resource,
            observer=observer,
            server=server,
            dry_run=dry_run,
        )
        return self._call("synod.v1.Migrations/Dismiss", request, v1.MigrationsDismissResponse, timeout)

    def reset(
        self,
        *,
        request_id: v1.RequestId | None = None,
        resource: v1.GroupResource | None = None,
        dry_run: bool = False,
        timeout: float | None = None,
    ) -> v1.MigrationsResetResponse:
        """Forgets what is known of the store: what is persisted is unknown again, but for what is written now, and migrations
        begin from the start. Of a key or a feature what is persisted stays, beside what is unknown. Since 0.1.
        """
        request = v1.MigrationsResetRequest(
            request_id=request_id,
            resource=resource,
            dry_run=dry_run,
        )
        return self._call("synod.v1.Migrations/Reset", request, v1.MigrationsResetResponse, timeout)


class AsyncMigrationsService(AsyncService):
    """The rewriting of stored objects in one version: what waits, what runs, and what became of it. What is known of a
    resource's store is read with `StorageVersions.Get` and `List`. Since 0.1.
    """

    async def get(
        self,
        *,
        name: str = "",
        read: v1.ReadOptions | None = None,
        timeout: float | None = None,
    ) -> v1.MigrationsGetResponse:
        """Reads one migration, by its name or its alias. Since 0.1."""
        request = v1.MigrationsGetRequest(
            name=name,
            read=read,
        )
        return await self._call("synod.v1.Migrations/Get", request, v1.MigrationsGetResponse, timeout)

    async def list(
        self,
        *,
        read: v1.ReadOptions | None = None,
        page_size: int | None = None,
        continue_token: str = "",
        continue_at_present: bool = False,
        timeout: float | None = None,
    ) -> v1.MigrationsListResponse:
        """Reads all migrations, ordered by resource, the oldest of each first. Since 0.1."""
        request = v1.MigrationsListRequest(
            read=read,
            page_size=page_size,
            continue_token=continue_token,
            continue_at_present=continue_at_present,
        )
        return await self._call("synod.v1.Migrations/List", request, v1.MigrationsListResponse, timeout)

    async def start(
        self,
        *,
        request_id: v1.RequestId | None = None,
        resource: v1.GroupResource | None = None,
        reason: v1.MigrationReason = v1.MigrationReason.UNSPECIFIED,
        dry_run: bool = False,
        alias: str | None = None,
        timeout: float | None = None,
    ) -> v1.MigrationsStartResponse:
        """Creates a migration to what is agreed on. `NO_AGREEMENT` if nothing is; `ALREADY_EXISTS` if one of this agreement
        and reason waits, runs or has failed, or if another one has the alias: the details name it. With an alias `UNAVAILABLE`
        until all replicas know aliases (machine version 2). Since 0.1.
        """
        request = v1.MigrationsStartRequest(
            request_id=request_id,
            resource=resource,
            reason=reason,
            dry_run=dry_run,
            alias=alias,
        )
        return await self._call("synod.v1.Migrations/Start", request, v1.MigrationsStartResponse, timeout)

    async def claim(
        self,
        *,
        request_id: v1.RequestId | None = None,
        name: str = "",
        worker: str = "",
        ttl_ms: int | None = None,
        fenced: bool = False,
        walks: v1.Walk = v1.Walk.UNSPECIFIED,
        timeout: float | None = None,
    ) -> v1.MigrationsClaimResponse:
        """Gives a pending migration to a worker. `DRAINING` while writes in another version may land, with `retry_after_ms` in
        the details; `CONFLICT` if it is not pending, or an older one of the resource comes first. Since 0.1.
        """
        request = v1.MigrationsClaimRequest(
            request_id=request_id,
            name=name,
            worker=worker,
            ttl_ms=ttl_ms,
            fenced=fenced,
            walks=walks,
        )
        return await self._call("synod.v1.Migrations/Claim", request, v1.MigrationsClaimResponse, timeout)

    async def progress(
        self,
        *,
        request_id: v1.RequestId | None = None,
        claim: v1.ClaimKey | None = None,
        progress: v1.MigrationProgress | None = None,
        timeout: float | None = None,
    ) -> v1.MigrationsProgressResponse:
        """Says how far a migration is, and so keeps its claim. Since 0.1."""
        request = v1.MigrationsProgressRequest(
            request_id=request_id,
            claim=claim,
            progress=progress,
        )
        return await self._call("synod.v1.Migrations/Progress", request, v1.MigrationsProgressResponse, timeout)

    async def complete(
        self,
        *,
        request_id: v1.RequestId | None = None,
        claim: v1.ClaimKey | None = None,
        timeout: float | None = None,
    ) -> v1.MigrationsCompleteResponse:
        """Says that every object is in the target's encoding: nothing else is persisted then. `NO_AGREEMENT` if what the
        migration is for is not agreed on any more. Since 0.1.
        """
        request = v1.MigrationsCompleteRequest(
            request_id=request_id,
            claim=claim,
        )
        return await self._call("synod.v1.Migrations/Complete", request, v1.MigrationsCompleteResponse, timeout)

    async def fail(
        self,
        *,
        request_id: v1.RequestId | None = None,
        claim: v1.ClaimKey | None = None,
        class_: v1.FailureClass = v1.FailureClass.UNSPECIFIED,
        reason: str = "",
        stop: v1.WorkerStop = v1.WorkerStop.UNSPECIFIED,
        timeout: float | None = None,
    ) -> v1.MigrationsFailResponse:
        """Gives a migration up. Unless the class is permanent it is tried again, later each time, a bounded number of times.
        Since 0.1.
        """
        request = v1.MigrationsFailRequest(
            request_id=request_id,
            claim=claim,
            class_=class_,
            reason=reason,
            stop=stop,
        )
        return await self._call("synod.v1.Migrations/Fail", request, v1.MigrationsFailResponse, timeout)

    async def release(
        self,
        *,
        request_id: v1.RequestId | None = None,
        claim: v1.ClaimKey | None = None,
        stop: v1.WorkerStop = v1.WorkerStop.UNSPECIFIED,
        timeout: float | None = None,
    ) -> v1.MigrationsReleaseResponse:
        """Gives a claim back before it has run out: the migration waits for a worker again, and the next one goes on from what
        was said last. It is no failure. What the worker may still write drains, unless it says that all was answered; that it may
        also say of a claim that has ended. Else `CONFLICT` if the claim has ended; `UNAVAILABLE` until all replicas know the call
        (machine version 2). Since 0.1.
        """
        request = v1.MigrationsReleaseRequest(
            request_id=request_id,
            claim=claim,
            stop=stop,
        )
        return await self._call("synod.v1.Migrations/Release", request, v1.MigrationsReleaseResponse, timeout)

    async def abort(
        self,
        *,
        request_id: v1.RequestId | None = None,
        name: str = "",
        dry_run: bool = False,
        timeout: float | None = None,
    ) -> v1.MigrationsAbortResponse:
        """Calls a migration off. Since 0.1."""
        request = v1.MigrationsAbortRequest(
            request_id=request_id,
            name=name,
            dry_run=dry_run,
        )
        return await self._call("synod.v1.Migrations/Abort", request, v1.MigrationsAbortResponse, timeout)

    async def delete(
        self,
        *,
        request_id: v1.RequestId | None = None,
        name: str = "",
        preconditions: v1.Preconditions | None = None,
        dry_run: bool = False,
        timeout: float | None = None,
    ) -> v1.MigrationsDeleteResponse:
        """Deletes a migration, at any time. One that waits, runs or has failed is called off by that, as by `Abort`: its worker is
        told with its next word, by `NOT_FOUND`. What is known of the store stays as it is: what is persisted, and what drains.
        Its alias is free for another one. `UNAVAILABLE` until all replicas know the call (machine version 2). Since 0.1.
        """
        request = v1.MigrationsDeleteRequest(
            request_id=request_id,
            name=name,
            preconditions=preconditions,
            dry_run=dry_run,
        )
        return await self._call("synod.v1.Migrations/Delete", request, v1.MigrationsDeleteResponse, timeout)

    async def retry(
        self,
        *,
        request_id: v1.RequestId | None = None,
        name: str = "",
        dry_run: bool = False,
        timeout: float | None = None,
    ) -> v1.MigrationsRetryResponse:
        """Has a failed migration tried again at once. Since 0.1."""
        request = v1.MigrationsRetryRequest(
            request_id=request_id,
            name=name,
            dry_run=dry_run,
        )
        return await self._call("synod.v1.Migrations/Retry", request, v1.MigrationsRetryResponse, timeout)

    async def observe(
        self,
        *,
        request_id: v1.RequestId | None = None,
        resource: v1.GroupResource | None = None,
        hashes: tuple[str, ...] = (),
        kind: str | None = None,
        if_revision: int | None = None,
        observer: str | None = None,
        servers: tuple[v1.ServerLook, ...] = (),
        timeout: float | None = None,
    ) -> v1.MigrationsObserveResponse:
        """Says what discovery shows of a resource. While nobody reports it, that stands for the agreement until two periods of log
        time later. While members report it, it stands beside what they say: what none of them encodes is persisted, and ends
        the agreement until a later look shows otherwise or the resource is reset. What is shown no more drains. What is shown is
        the union of the looks of all observers, at most 16; the looks of a named observer are kept server by server, and end one
        by one: `UNAVAILABLE` until all replicas know that (machine version 3). Since 0.1.
        """
        request = v1.MigrationsObserveRequest(
            request_id=request_id,
            resource=resource,
            hashes=hashes,
            kind=kind,
            if_revision=if_revision,
            observer=observer,
            servers=servers,
        )
        return await self._call("synod.v1.Migrations/Observe", request, v1.MigrationsObserveResponse, timeout)

    async def dismiss(
        self,
        *,
        request_id: v1.RequestId | None = None,
        resource: v1.GroupResource | None = None,
        observer: str | None = None,
        server: str | None = None,
        dry_run: bool = False,
        timeout: float | None = None,
    ) -> v1.MigrationsDismissResponse:
        """Ends what looks at discovery have shown of a resource, since somebody knows that no server writes it any more. It drains.
        `NOT_FOUND` if there is no such look, `UNAVAILABLE` until all replicas know the call (machine version 3). Since 0.1.
        """
        request = v1.MigrationsDismissRequest(
            request_id=request_id,
            resource=resource,
            observer=observer,
            server=server,
            dry_run=dry_run,
        )
        return await self._call("synod.v1.Migrations/Dismiss", request, v1.MigrationsDismissResponse, timeout)

    async def reset(
        self,
        *,
        request_id: v1.RequestId | None = None,
        resource: v1.GroupResource | None = None,
        dry_run: bool = False,
        timeout: float | None = None,
    ) -> v1.MigrationsResetResponse:
        """Forgets what is known of the store: what is persisted is unknown again, but for what is written now, and migrations
        begin from the start. Of a key or a feature what is persisted stays, beside what is unknown. Since 0.1.
        """
        request = v1.MigrationsResetRequest(
            request_id=request_id,
            resource=resource,
            dry_run=dry_run,
        )
        return await self._call("synod.v1.Migrations/Reset", request, v1.MigrationsResetResponse, timeout)


class SessionsService(Service):
    """Sessions make changing requests exactly-once. Since 0.1."""

    def open(
        self,
        *,
        timeout: float | None = None,
    ) -> v1.SessionsOpenResponse:
        """Opens a session. If the answer is lost, open another: an unused session ends by itself. Since 0.1."""
        request = v1.SessionsOpenRequest()
        return self._call("synod.v1.Sessions/Open", request, v1.SessionsOpenResponse, timeout)

    def close(
        self,
        *,
        session: int = 0,
        cluster_id: str = "",
        timeout: float | None = None,
    ) -> v1.SessionsCloseResponse:
        """Ends a session and forgets its outcomes. Requests that carry it are refused from then on. Since 0.1."""
        request = v1.SessionsCloseRequest(
            session=session,
            cluster_id=cluster_id,
        )
        return self._call("synod.v1.Sessions/Close", request, v1.SessionsCloseResponse, timeout)

    def get_outcome(
        self,
        *,
        session: int = 0,
        sequence: int = 0,
        cluster_id: str = "",
        timeout: float | None = None,
    ) -> v1.SessionsGetOutcomeResponse:
        """Says what became of a request: a linearizable read. Since 0.1."""
        request = v1.SessionsGetOutcomeRequest(
            session=session,
            sequence=sequence,
            cluster_id=cluster_id,
        )
        return self._call("synod.v1.Sessions/GetOutcome", request, v1.SessionsGetOutcomeResponse, timeout)


class AsyncSessionsService(AsyncService):
    """Sessions make changing requests exactly-once. Since 0.1."""

    async def open(
        self,
        *,
        timeout: float | None = None,
    ) -> v1.SessionsOpenResponse:
        """Opens a session. If the answer is lost, open another: an unused session ends by itself. Since 0.1."""
        request = v1.SessionsOpenRequest()
        return await self._call("synod.v1.Sessions/Open", request, v1.SessionsOpenResponse, timeout)

    async def close(
        self,
        *,
        session: int = 0,
        cluster_id: str = "",
        timeout: float | None = None,
    ) -> v1.SessionsCloseResponse:
        """Ends a session and forgets its outcomes. Requests that carry it are refused from then on. Since 0.1."""
        request = v1.SessionsCloseRequest(
            session=session,
            cluster_id=cluster_id,
        )
        return await self._call("synod.v1.Sessions/Close", request, v1.SessionsCloseResponse, timeout)

    async def get_outcome(
        self,
        *,
        session: int = 0,
        sequence: int = 0,
        cluster_id: str = "",
        timeout: float | None = None,
    ) -> v1.SessionsGetOutcomeResponse:
        """Says what became of a request: a linearizable read. Since 0.1."""
        request = v1.SessionsGetOutcomeRequest(
            session=session,
            sequence=sequence,
            cluster_id=cluster_id,
        )
        return await self._call("synod.v1.Sessions/GetOutcome", request, v1.SessionsGetOutcomeResponse, timeout)


__all__ = [
    "AsyncClusterService",
    "AsyncCollectionsService",
    "AsyncControllerRevisionsService",
    "AsyncLeasesService",
    "AsyncMembershipService",
    "AsyncMigrationsService",
    "AsyncObjectsService",
    "AsyncRostersService",
    "AsyncSessionsService",
    "AsyncStorageVersionsService",
    "ClusterService",
    "CollectionsService",
    "ControllerRevisionsService",
    "LeasesService",
    "MembershipService",
    "MigrationsService",
    "ObjectsService",
    "RostersService",
    "SessionsService",
    "StorageVersionsService",
]
