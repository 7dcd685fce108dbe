"""The client for event loops."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Any

from synod import _services, v1
from synod._backup import BackupWritten, backup_options, written
from synod._client import connect, watch_options
from synod._errors import SynodError
from synod._leases import AsyncElection, AsyncLock, Candidate, lock_options
from synod._membership import FenceGuard, Joining, join_options
from synod._objects import AsyncObjects, Codec, T, objects_options
from synod._reflector import AsyncReflector, reflect_options
from synod._tls import Tls, Token
from synod._waiting import wait_async
from synod._watch import AsyncWatch
from synod._worker import (
    AsyncFencedStore,
    AsyncStore,
    AsyncWorker,
    async_asker,
    async_recoder,
    walks_of,
    worker_options,
)


class AsyncClient:
    """A client of a cluster, for event loops. Any number of loops may use it.

    It fails over between the replicas that it is told of under one deadline for each call, and carries changes exactly once.
    Cancelling a task cancels its call.
    """

    def __init__(
        self,
        endpoints: Sequence[str],
        *,
        timeout: float = 10.0,
        connect_timeout: float = 2.0,
        keepalive: tuple[float, float] = (10.0, 5.0),
        sessions: bool = True,
        tls: Tls | None = None,
        token: Token | None = None,
        name: str | None = None,
    ) -> None:
        """`endpoints` are where the replicas serve clients, each as `host:port`; give all of them. `timeout` is by when a
        call is answered, over all its tries, in seconds. `keepalive` is how often each connection is asked whether it is
        alive, and how long it has to answer. Connections are encrypted if `tls` is given, and `token` proves who
        calls in place of a certificate: a file is read again when it has changed. `name` is who this client is by the policy
        of the replicas: leases are held under names that begin with it where no holder is named. Nothing is connected to
        before it is needed."""
        self._client = connect(endpoints, timeout, connect_timeout, keepalive, sessions, tls, token, name)
        self.cluster = _services.AsyncClusterService(self._client)
        """The cluster itself: its replicas and its settings."""
        self.collections = _services.AsyncCollectionsService(self._client)
        """The kinds of objects that the cluster keeps."""
        self.controller_revisions = _services.AsyncControllerRevisionsService(self._client)
        """Histories of immutable snapshots."""
        self.leases = _services.AsyncLeasesService(self._client)
        """Leases and candidates; `lock` and `election` are what programs want."""
        self.membership = _services.AsyncMembershipService(self._client)
        """Who is a member; `join` is what API servers want."""
        self.migrations = _services.AsyncMigrationsService(self._client)
        """Storage states and migrations; `worker` carries migrations out."""
        self.objects = _services.AsyncObjectsService(self._client)
        """Objects of collections as bytes; `typed_objects` has them as values."""
        self.rosters = _services.AsyncRostersService(self._client)
        """Who must speak for which resources before anything that is said of them counts."""
        self.sessions = _services.AsyncSessionsService(self._client)
        """What became of requests. The client has a session of its own."""
        self.storage_versions = _services.AsyncStorageVersionsService(self._client)
        """What members report, and what they agree on."""

    @property
    def endpoints(self) -> list[str]:
        """The endpoints, as they were given."""
        return self._client.endpoints()

    async def status(self, *, timeout: float | None = None) -> v1.ClusterStatusResponse:
        """How the cluster does, as any one replica sees it. No quorum is needed."""
        return await self.cluster.status(timeout=timeout)

    def join(
        self,
        member: str,
        *,
        ttl: float | None = None,
        labels: Mapping[str, str] | None = None,
        version: str = "",
        endpoint: str = "",
        permit_wait: float | None = None,
        drain_limit: float | None = None,
        equivalents: Sequence[Sequence[v1.GroupResource]] = (),
    ) -> Joining:
        """Joins the cluster as a member, and stays one as long as the membership is kept: `await` it, or use it with
        `async with`, which leaves at the end.

        `member` is the id, the same over restarts of the server: `synod.apiserver_id` makes one. `ttl` is how many seconds
        the member is kept after a renewal. `version`, `endpoint` and `labels` are for people. `permit_wait` is how long a
        permit is waited for, `drain_limit` how long a changed report waits for permits to come back. `equivalents` are
        resources that are one in the store.
        """
        options = join_options(
            member,
            ttl=ttl,
            labels=labels,
            version=version,
            endpoint=endpoint,
            permit_wait=permit_wait,
            drain_limit=drain_limit,
            equivalents=equivalents,
        )
        return Joining(self._client.join(options))

    async def watch(
        self,
        filter: v1.WatchFilter | None = None,
        *,
        from_revision: int | None = None,
        from_list: bool = False,
        resync: bool = True,
        bookmark_interval: float | None = None,
        disconnect_limit: float | None = None,
    ) -> AsyncWatch:
        """Watches what changes from now on, from a revision on, or beginning with a list of what there is.

        Where the history that it needs is gone it lists anew, or without `resync` ends with `CompactedError`. With
        `disconnect_limit` it ends with an error after so many seconds without any replica.
        """
        options = watch_options(filter, from_revision, from_list, resync, bookmark_interval, disconnect_limit)
        return AsyncWatch(await wait_async(self._client.watch(options)))

    async def reflect(self, kinds: Sequence[v1.ObjectKind]) -> AsyncReflector:
        """Keeps what there is of these kinds in memory, up to date."""
        return AsyncReflector(await wait_async(self._client.reflect(reflect_options(kinds))))

    async def lock(
        self,
        lease: v1.LeaseKey,
        *,
        holder: str | None = None,
        ttl: float | None = None,
        if_member: v1.MemberEpoch | None = None,
    ) -> AsyncLock:
        """Waits for a lease, in the order in which those who want it came, and holds it; with `async with`, until the end.

        `holder` is a name that no other process holds or wants the lease under; a random one if it is left out.
        """
        options = lock_options(lease, holder=holder, ttl=ttl, if_member=if_member)
        return AsyncLock(await wait_async(self._client.lock(options)))

    async def try_lock(
        self,
        lease: v1.LeaseKey,
        *,
        holder: str | None = None,
        ttl: float | None = None,
        if_member: v1.MemberEpoch | None = None,
    ) -> AsyncLock:
        """Holds a lease if nobody else does; else `ConflictError`, whose `current` is the lease."""
        options = lock_options(lease, holder=holder, ttl=ttl, if_member=if_member)
        return AsyncLock(await wait_async(self._client.try_lock(options)))

    def election(
        self,
        lease: v1.LeaseKey,
        *,
        holder: str | None = None,
        ttl: float | None = None,
        if_member: v1.MemberEpoch | None = None,
        candidate: Candidate | None = None,
    ) -> AsyncElection:
        """Takes part in an election: who asks first leads, or with `candidate`, whom the rule of Kubernetes chooses."""
        options = lock_options(lease, holder=holder, ttl=ttl, if_member=if_member, candidate=candidate)
        return AsyncElection(self._client.election(options))

    def typed_objects(
        self,
        resource: v1.GroupResource,
        codec: Codec[T],
        *,
        encode_in: str | None = None,
        if_member: v1.MemberEpoch | None = None,
        if_lease: v1.LeaseToken | None = None,
    ) -> AsyncObjects[T]:
        """The objects of a collection as values. `encode_in` is the version to begin with; with `if_member` or `if_lease`
        they are written only while that member speaks or that lease is held."""
        return AsyncObjects(self._client, resource, codec, objects_options(codec, encode_in, if_member, if_lease))

    def worker(
        self,
        name: str,
        resources: Sequence[v1.GroupResource],
        codec: Codec[Any],
        *,
        ttl: float | None = None,
        objects_per_second: int | None = None,
        objects_at_once: int | None = None,
        page_size: int | None = None,
    ) -> AsyncWorker:
        """A worker that carries out the migrations of collections of the cluster, whose objects a codec encodes anew.

        `name` is for people; `ttl` is how many seconds it may be silent before another takes its place. It writes
        one object after the other, or as many as `objects_at_once` says at the same time.
        """
        options = worker_options(
            name,
            resources,
            store=None,
            ttl=ttl,
            objects_per_second=objects_per_second,
            objects_at_once=objects_at_once,
            page_size=page_size,
        )
        return AsyncWorker(self._client.worker(options), async_recoder(codec), objects_at_once or 1)

    def store_worker(
        self,
        name: str,
        resources: Sequence[v1.GroupResource],
        store: AsyncStore,
        *,
        ttl: float | None = None,
        objects_per_second: int | None = None,
        objects_at_once: int | None = None,
    ) -> AsyncWorker:
        """A worker that carries out the migrations of a store of yours, page by page. It rewrites one object after the
        other, or as many as `objects_at_once` says at the same time. What the store lists is outside of the cluster, unless it
        says otherwise by `walks`."""
        options = worker_options(
            name,
            resources,
            store="own",
            walks=walks_of(store),
            ttl=ttl,
            objects_per_second=objects_per_second,
            objects_at_once=objects_at_once,
        )
        return AsyncWorker(self._client.worker(options), async_asker(store), objects_at_once or 1)

    def fenced_worker(
        self,
        name: str,
        resources: Sequence[v1.GroupResource],
        store: AsyncFencedStore,
        *,
        ttl: float | None = None,
        objects_per_second: int | None = None,
        objects_at_once: int | None = None,
    ) -> AsyncWorker:
        """As `store_worker`, for a store whose fence key the worker raises before it lists: no write that comes too late
        undoes its migrations."""
        options = worker_options(
            name,
            resources,
            store="fenced",
            ttl=ttl,
            objects_per_second=objects_per_second,
            objects_at_once=objects_at_once,
        )
        return AsyncWorker(self._client.worker(options), async_asker(store), objects_at_once or 1)

    async def fence_guard(self, member: str) -> FenceGuard:
        """What a member's writes pass the fence of its store by. It follows the cluster until it is closed."""
        return FenceGuard(await wait_async(self._client.fence_guard(member)))

    async def back_up(self, path: str | os.PathLike[str], *, replace: bool = False) -> BackupWritten:
        """Writes the whole state of the cluster, as it is at one revision, to a file that `synod backup verify` and `restore`
        read. The file appears once it is whole and on the disk, for its owner alone, and replaces another one only with
        `replace`; a part of it at a time is in memory. It holds every object: guard it, or encrypt it by `age`."""
        return written(await wait_async(self._client.back_up(backup_options(path, replace))))

    async def close(self) -> None:
        """Ends the client's session, which else ends by itself. Its connections end when nothing refers to it any more."""
        await wait_async(self._client.close())

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # The session ends by itself, too.
        with suppress(SynodError):
            await self.close()

    def __repr__(self) -> str:
        return f"AsyncClient({self.endpoints!r})"
