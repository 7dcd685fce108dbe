"""Workers that carry migrations out."""

from __future__ import annotations

import asyncio
import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest
from replicas import Replicas

import synod
from synod import v1


def _entry(resource: v1.GroupResource, preferred: str) -> v1.ReportEntry:
    return v1.ReportEntry(
        resource=resource,
        kind="Widget",
        decodable_versions=("v1", "v2"),
        served_versions=("v1", "v2"),
        preferred_version=preferred,
        # It is so of the stores of these tests that are no collections, too: there is none that could count.
        stored=v1.StoredIn.COLLECTION,
    )


def _agreed(membership: synod.Membership, resource: v1.GroupResource) -> str:
    """Has a server vote for v2, and answers the name of the migration that follows."""
    membership.report([_entry(resource, "v2")])
    return f"{resource.resource}.{resource.group}-"


def _migration(client: synod.Client, prefix: str) -> str:
    with client.watch(v1.WatchFilter(kinds=(v1.ObjectKind.MIGRATION,)), from_list=True) as watch:
        for message in watch:
            events = () if isinstance(message, synod.Bookmark) else message.events
            for event in events:
                if event.name.startswith(prefix):
                    _let_earlier_writes_land(client, event.name)
                    return event.name
    raise AssertionError("a watch does not end by itself")


def _let_earlier_writes_land(client: synod.Client, migration: str) -> None:
    """Waits until nothing can land that was written before the server spoke."""
    found = client.migrations.get(name=migration).migration
    assert found is not None
    dangers: tuple[v1.Danger, ...] | None = None
    while dangers is None or any(danger.reason == v1.DangerReason.DRAINING_UNKNOWN for danger in dangers):
        dangers = client.storage_versions.check_drop(resource=found.resource, version="v1").dangers


def a_worker_encodes_a_collection_anew(client: synod.Client, name: str) -> None:
    resource = v1.GroupResource(group=f"{name}.example.io", resource="widgets")
    client.collections.create(resource=resource, kind="Widget")
    codec = synod.JSONCodec("v1", "v2")
    objects = client.typed_objects(resource, codec)
    for i in range(5):
        objects.create(f"w-{i}", {"size": i})
    with client.join(name) as membership:
        migration = _migration(client, _agreed(membership, resource))
        worker = client.worker(name, [resource], codec, page_size=2)
        worked = worker.run_one(migration)
        assert worked is not None and (worked.end, worked.failure) == ("completed", None)
        assert worker.run_one(migration) is None
        versions = [stored.object.content.encoding_version for stored in objects.list() if stored.object.content]
        assert versions == ["v2"] * 5


def a_worker_says_which_object_nobody_can_read(client: synod.Client, name: str) -> None:
    resource = v1.GroupResource(group=f"{name}.example.io", resource="widgets")
    client.collections.create(resource=resource, kind="Widget")
    client.typed_objects(resource, synod.JSONCodec("v1")).create("broken", {"size": 1})
    with client.join(name) as membership:
        migration = _migration(client, _agreed(membership, resource))
        worked = client.worker(name, [resource], synod.JSONCodec("v2")).run_one(migration)
        assert worked is not None and worked.end == "failed"
        assert worked.failure is not None and "broken" in worked.failure.reason


class _Busy:
    """A store of eight objects whose writes wait until so many are under way at the same time."""

    def __init__(self, at_once: int) -> None:
        self.together = threading.Barrier(at_once)
        self.written: set[str] = set()

    def list_page(self, migration: v1.Migration, token: str | None) -> synod.StorePage:
        """All of them."""
        return synod.StorePage([f"o-{i}" for i in range(8)])

    def rewrite(self, migration: v1.Migration, object: Any) -> None:
        """Waits for the others."""
        self.together.wait(30.0)
        self.written.add(object)


class _Held:
    """A store whose writes end when the test says so."""

    def __init__(self) -> None:
        self.begun: queue.SimpleQueue[str] = queue.SimpleQueue()
        self.end = threading.Event()

    def list_page(self, migration: v1.Migration, token: str | None) -> synod.StorePage:
        """Eight objects."""
        return synod.StorePage([f"o-{i}" for i in range(8)])

    def rewrite(self, migration: v1.Migration, object: Any) -> None:
        """Is held."""
        self.begun.put(object)
        assert self.end.wait(30.0)


class _AsyncHeld:
    """A store whose writes never end by themselves."""

    def __init__(self) -> None:
        self.begun: asyncio.Queue[str] = asyncio.Queue()
        self.cancelled: list[str] = []

    async def list_page(self, migration: v1.Migration, token: str | None) -> synod.StorePage:
        """Eight objects."""
        return synod.StorePage([f"o-{i}" for i in range(8)])

    async def rewrite(self, migration: v1.Migration, object: Any) -> None:
        """Waits to be cancelled."""
        await self.begun.put(object)
        try:
            await asyncio.get_running_loop().create_future()
        except asyncio.CancelledError:
            self.cancelled.append(object)
            raise


class _Stops:
    """A store of pages of two objects, which does something at one of them."""

    def __init__(self, at: int | None = None, does: Any = None) -> None:
        self.at = at
        self.does = does
        self.asked: list[str | None] = []

    def list_page(self, migration: v1.Migration, token: str | None) -> synod.StorePage:
        """Two of ten objects."""
        self.asked.append(token)
        begin = int(token or 0)
        return synod.StorePage([begin, begin + 1], next=str(begin + 2) if begin < 8 else None)

    def rewrite(self, migration: v1.Migration, object: Any) -> None:
        """Does it once."""
        if object == self.at:
            self.at = None
            self.does()


class _AsyncStops(_Stops):
    """As `_Stops`, in an event loop."""

    async def list_page(self, migration: v1.Migration, token: str | None) -> synod.StorePage:  # type: ignore[override]
        """Two of ten objects."""
        return super().list_page(migration, token)

    async def rewrite(self, migration: v1.Migration, object: Any) -> None:  # type: ignore[override]
        """Does it once, and waits for what that answers."""
        if object == self.at:
            self.at = None
            await self.does()


class _Pages:
    """A store of a program's own: ten objects, of which one is changed by somebody else, and one is gone."""

    def __init__(self) -> None:
        self.versions = {f"o-{i}": "v1" for i in range(10)}
        self.busy = 1

    def list_page(self, migration: v1.Migration, token: str | None) -> synod.StorePage:
        """Four objects."""
        begin = int(token or 0)
        if begin == 4 and self.busy:
            self.busy -= 1
            raise synod.StoreError("busy", retry_after=0.01)
        keys = [{"key": key} for key in sorted(self.versions)[begin : begin + 4]]
        return synod.StorePage(keys, next=str(begin + 4) if begin + 4 < len(self.versions) else None)

    def rewrite(self, migration: v1.Migration, object: Any) -> None:
        """Writes it in the target's version."""
        if object["key"] == "o-3":
            raise synod.StoreError("conflict")
        if object["key"] == "o-4":
            raise synod.StoreError("not_found")
        self.versions[object["key"]] = migration.target_version or ""


def a_worker_rewrites_a_store_of_the_programs_own(client: synod.Client, name: str) -> None:
    resource = v1.GroupResource(group=f"{name}.example.io", resource="widgets")
    with client.join(name) as membership:
        migration = _migration(client, _agreed(membership, resource))
        store = _Pages()
        worked = client.store_worker(name, [resource], store).run_one(migration)
        assert worked is not None and worked.end == "completed"
        left = [key for key, version in store.versions.items() if version == "v1"]
        assert left == ["o-3", "o-4"], "a conflict and a loss are somebody else's writes"


class _Everything:
    """A store of objects in a collection of the cluster and outside of it."""

    walks: v1.Walk | None = v1.Walk.BOTH

    def __init__(self, client: synod.Client, resource: v1.GroupResource) -> None:
        self.client = client
        self.key = v1.ObjectKey(resource=resource, name="inside")
        self.walked: list[v1.Walk] = []

    def list_page(self, migration: v1.Migration, token: str | None) -> synod.StorePage:
        """The object in the collection, and one outside."""
        assert migration.metadata is not None
        claimed = self.client.migrations.get(name=migration.metadata.name).migration
        assert claimed is not None and claimed.claim is not None
        self.walked.append(claimed.claim.walks)
        return synod.StorePage(["inside", "outside"])

    def rewrite(self, migration: v1.Migration, object: Any) -> None:
        """Writes the object in the collection in the target's version."""
        if object == "inside":
            content = v1.ObjectContent(encoding_version=migration.target_version or "", data=b"{}")
            present = self.client.objects.get(key=self.key).object
            assert present is not None and present.metadata is not None
            conditions = v1.Preconditions(resource_version=present.metadata.resource_version)
            self.client.objects.update(key=self.key, content=content, preconditions=conditions)


def a_worker_says_which_objects_its_store_lists(client: synod.Client, name: str) -> None:
    resource = v1.GroupResource(group=f"{name}.example.io", resource="widgets")
    client.collections.create(resource=resource, kind="Widget")
    store = _Everything(client, resource)
    client.objects.create(key=store.key, content=v1.ObjectContent(encoding_version="v1", data=b"{}"))
    with client.join(name) as membership:
        outside = replace(_entry(resource, "v2"), stored=v1.StoredIn.OUTSIDE)
        membership.report([outside])
        migration = _migration(client, f"{resource.resource}.{resource.group}-")
        # One that lists less may leave out objects in another version.
        for less in (v1.Walk.COLLECTION, v1.Walk.OUTSIDE, None):
            store.walks = less
            assert client.store_worker(name, [resource], store).run_one(migration) is None
        store.walks = v1.Walk.BOTH
        worked = client.store_worker(name, [resource], store).run_one(migration)
        assert worked is not None and worked.end == "completed"
        assert store.walked == [v1.Walk.BOTH]


def what_is_no_walk_of_a_store_is_refused(client: synod.Client, name: str) -> None:
    resource = v1.GroupResource(group=f"{name}.example.io", resource="widgets")
    store: Any = _Everything(client, resource)
    store.walks = "both"
    with pytest.raises(TypeError, match="must be a synod.v1.Walk, not 'both'"):
        client.store_worker(name, [resource], store)
    store.walks = v1.Walk.UNSPECIFIED
    with pytest.raises(synod.InvalidArgumentError, match="walks"):
        client.store_worker(name, [resource], store)


def a_worker_that_is_closed_ends(client: synod.Client, replicas: Replicas, name: str) -> None:
    resource = v1.GroupResource(group=f"{name}.example.io", resource="widgets")
    worker = client.worker(name, [resource], synod.JSONCodec("v1"))
    working = threading.Thread(target=worker.run)
    working.start()
    worker.close()
    working.join(30.0)
    assert not working.is_alive()

    async def live() -> None:
        async with synod.AsyncClient(replicas.endpoints, timeout=60.0) as loud:
            worker = loud.worker(name, [resource], synod.JSONCodec("v1"))
            working = asyncio.create_task(worker.run())
            await asyncio.sleep(0)
            worker.close()
            await asyncio.wait_for(working, 30.0)

    asyncio.run(live())


def a_store_is_asked_for_as_many_objects_at_a_time_as_was_said(client: synod.Client, name: str) -> None:
    resource = v1.GroupResource(group=f"{name}.example.io", resource="widgets")
    with client.join(name) as membership:
        migration = _migration(client, _agreed(membership, resource))
        store = _Busy(4)
        worked = client.store_worker(name, [resource], store, objects_at_once=4).run_one(migration)
        assert worked is not None and worked.end == "completed"
        assert len(store.written) == 8


def a_loop_asks_for_as_many_objects_at_a_time_as_was_said(
    client: synod.Client, replicas: Replicas, name: str
) -> None:
    resource = v1.GroupResource(group=f"{name}.example.io", resource="widgets")

    async def live(migration: str) -> None:
        async with synod.AsyncClient(replicas.endpoints, timeout=60.0) as loud:
            store = _AsyncHeld()
            worker = loud.store_worker(name, [resource], store, objects_at_once=3)
            working = asyncio.create_task(worker.run_one(migration))
            begun = {await asyncio.wait_for(store.begun.get(), 30.0) for _ in range(3)}
            assert begun == {"o-0", "o-1", "o-2"}
            await loud.migrations.abort(name=migration)
            worked = await asyncio.wait_for(working, 30.0)
            assert worked is not None and worked.end == "lost"
            assert sorted(store.cancelled) == ["o-0", "o-1", "o-2"]
            assert store.begun.empty(), "nothing is begun after it"

    with client.join(name) as membership:
        asyncio.run(live(_migration(client, _agreed(membership, resource))))


def a_worker_of_a_loop_that_goes_on_cancels_what_was_under_way_for_an_aborted_migration(
    client: synod.Client, replicas: Replicas, name: str
) -> None:
    resource = v1.GroupResource(group=f"{name}.example.io", resource="widgets")

    async def live(migration: str) -> None:
        async with synod.AsyncClient(replicas.endpoints, timeout=60.0) as loud:
            store = _AsyncHeld()
            worker = loud.store_worker(name, [resource], store, objects_at_once=2)
            working = asyncio.create_task(worker.run())
            for _ in range(2):
                await asyncio.wait_for(store.begun.get(), 30.0)
            await loud.migrations.abort(name=migration)
            # Another one follows, so the same worker begins again: with the first ones, which have ended.
            await loud.migrations.start(resource=resource, reason=v1.MigrationReason.MANUAL)
            for _ in range(2):
                await asyncio.wait_for(store.begun.get(), 30.0)
            assert sorted(store.cancelled) == ["o-0", "o-1"]
            worker.close()
            await asyncio.wait_for(working, 30.0)
            assert sorted(store.cancelled) == ["o-0", "o-0", "o-1", "o-1"]

    with client.join(name) as membership:
        asyncio.run(live(_migration(client, _agreed(membership, resource))))


def an_aborted_migration_is_lost_once_what_its_threads_are_at_has_ended(client: synod.Client, name: str) -> None:
    resource = v1.GroupResource(group=f"{name}.example.io", resource="widgets")
    with client.join(name) as membership, ThreadPoolExecutor(1) as pool:
        migration = _migration(client, _agreed(membership, resource))
        store = _Held()
        worker = client.store_worker(name, [resource], store, objects_at_once=3)
        working = pool.submit(worker.run_one, migration)
        assert {store.begun.get(timeout=30.0) for _ in range(3)} == {"o-0", "o-1", "o-2"}
        client.migrations.abort(name=migration)
        store.end.set()
        worked = working.result(30.0)
        # The abort may be seen after the writes have ended; whatever was begun until then has ended, too.
        assert worked is not None and worked.end == "lost"


def an_answer_that_cannot_be_sent_is_raised_and_ends_the_others(
    client: synod.Client, replicas: Replicas, name: str
) -> None:
    resource = v1.GroupResource(group=f"{name}.example.io", resource="widgets")

    class Wrong(_Busy):
        def list_page(self, migration: v1.Migration, token: str | None) -> synod.StorePage:
            return synod.StorePage([object()])

    class AsyncWrong(_AsyncHeld):
        async def list_page(self, migration: v1.Migration, token: str | None) -> synod.StorePage:
            return synod.StorePage([object()])

    async def live(migration: str) -> None:
        async with synod.AsyncClient(replicas.endpoints, timeout=60.0) as loud:
            with pytest.raises(TypeError, match="JSON"):
                await loud.store_worker(name, [resource], AsyncWrong(), objects_at_once=2).run_one(migration)

    with client.join(name) as membership:
        migration = _migration(client, _agreed(membership, resource))
        with pytest.raises(TypeError, match="JSON"):
            client.store_worker(name, [resource], Wrong(1), ttl=1.0, objects_at_once=2).run_one(migration)
        client.migrations.abort(name=migration)
        started = client.migrations.start(resource=resource, reason=v1.MigrationReason.MANUAL)
        asyncio.run(live(started.name))


def _goes_on(client: synod.Client, resource: v1.GroupResource, migration: str) -> None:
    """Another worker has the migration at once, and goes on behind the second page, or the third one if that was under way when the
    worker was told to stop, and was done before it looked."""
    since = time.monotonic()
    store = _Stops()
    worked = client.store_worker("next", [resource], store).run_one(migration)
    assert worked is not None and worked.end == "completed"
    assert store.asked in (["4", "6", "8"], ["6", "8"])
    assert time.monotonic() - since < 600.0, "the claim before it would have run out after an hour"


def _gives_back(client: synod.Client, migration: str, stops: Callable[..., None], *given: object) -> None:
    """Has a worker that stops give its claim back. It has two seconds for that, which are too few where other programs keep
    it from running: then it tries again."""
    for _ in range(5):
        is_late = False
        try:
            stops(migration, *given)
        except synod.DeadlineExceededError:
            is_late = True
        found = client.migrations.get(name=migration).migration
        assert found is not None
        if found.claim is not None:
            # What the worker has sent may come yet, and then the claim has ended.
            with suppress(synod.ConflictError):
                client.migrations.release(claim=v1.ClaimKey(migration=migration, token=found.claim.token))
        elif not is_late:
            return
    raise AssertionError("no claim was given back in time")


def a_worker_that_is_closed_gives_its_claim_back_and_the_next_goes_on(client: synod.Client, name: str) -> None:
    resource = v1.GroupResource(group=f"{name}.example.io", resource="widgets")

    def closed(migration: str, at_once: int) -> None:
        worker: synod.Worker
        store = _Stops(4, lambda: worker.close())
        worker = client.store_worker(name, [resource], store, ttl=3600.0, objects_at_once=at_once)
        worked = worker.run_one(migration)
        assert worked is not None and worked.end == "released" and "stop" in worked.why
        assert store.asked[-1] == "4"

    with client.join(name) as membership:
        migration = _migration(client, _agreed(membership, resource))
        for at_once in (1, 2):
            _gives_back(client, migration, closed, at_once)
        _goes_on(client, resource, migration)


def a_worker_that_is_interrupted_gives_its_claim_back(client: synod.Client, name: str) -> None:
    resource = v1.GroupResource(group=f"{name}.example.io", resource="widgets")

    def interrupt() -> None:
        raise KeyboardInterrupt

    def interrupted(migration: str, at_once: int) -> None:
        store = _Stops(4, interrupt)
        worker = client.store_worker(name, [resource], store, ttl=3600.0, objects_at_once=at_once)
        with pytest.raises(KeyboardInterrupt):
            worker.run_one(migration)

    with client.join(name) as membership:
        migration = _migration(client, _agreed(membership, resource))
        for at_once in (1, 2):
            _gives_back(client, migration, interrupted, at_once)
        _goes_on(client, resource, migration)


def a_worker_of_a_loop_that_is_closed_or_cancelled_gives_its_claim_back(
    client: synod.Client, replicas: Replicas, name: str
) -> None:
    resource = v1.GroupResource(group=f"{name}.example.io", resource="widgets")

    async def live(migration: str, closes: bool) -> None:
        async with synod.AsyncClient(replicas.endpoints, timeout=60.0) as loud:
            at = asyncio.Event()

            async def holds() -> None:
                at.set()
                await asyncio.get_running_loop().create_future()

            worker = loud.store_worker(name, [resource], _AsyncStops(4, holds), ttl=3600.0)
            if closes:
                working = asyncio.create_task(worker.run_one(migration))
                await asyncio.wait_for(at.wait(), 30.0)
                worker.close()
                worked = await asyncio.wait_for(working, 30.0)
                assert worked is not None and worked.end == "released"
            else:
                running = asyncio.create_task(worker.run())
                await asyncio.wait_for(at.wait(), 30.0)
                running.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await asyncio.wait_for(running, 30.0)

    def stopped(migration: str, closes: bool) -> None:
        asyncio.run(live(migration, closes))

    with client.join(name) as membership:
        migration = _migration(client, _agreed(membership, resource))
        for closes in (True, False):
            _gives_back(client, migration, stopped, closes)
        _goes_on(client, resource, migration)


def a_store_that_is_not_ready_gives_the_claim_back(client: synod.Client, name: str) -> None:
    resource = v1.GroupResource(group=f"{name}.example.io", resource="widgets")

    def not_ready() -> None:
        raise synod.StoreError("not_ready", "it encodes in v1 still")

    def let_go(migration: str) -> None:
        worked = client.store_worker(name, [resource], _Stops(4, not_ready), ttl=3600.0).run_one(migration)
        assert worked is not None and (worked.end, worked.why) == ("released", "it encodes in v1 still")

    with client.join(name) as membership:
        migration = _migration(client, _agreed(membership, resource))
        _gives_back(client, migration, let_go)
        _goes_on(client, resource, migration)
