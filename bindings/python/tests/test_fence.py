"""Fences in a server's own store: a real etcd, and writes that come too late."""

from __future__ import annotations

import asyncio
import json
import queue
import socket
import threading
from collections.abc import Iterator, Sequence

import pytest
from etcd import RunningEtcd
from relay import Relay
from replicas import Replicas

import synod
from synod import fence, v1

OBJECTS = "/objects/"
FENCES = "/fences/"
LIMIT = 60.0


@pytest.fixture(scope="module")
def etcd() -> Iterator[RunningEtcd]:
    """An etcd that all tests here share."""
    with RunningEtcd() as running:
        yield running


def _encoded(version: str) -> bytes:
    return json.dumps({"apiVersion": version}).encode()


class _Widgets:
    """Encodes objects anew by their `apiVersion`."""

    def __init__(self, name: str) -> None:
        self._prefix = f"{OBJECTS}{name}/"

    def prefix(self, resource: v1.GroupResource) -> str:
        """Those of a test."""
        return self._prefix

    def recode(self, migration: v1.Migration, object: fence.Pair) -> bytes | None:
        """In the target's version."""
        target = migration.target_version or ""
        return None if json.loads(object.value)["apiVersion"] == target else _encoded(target)


class _Held:
    """A store whose writes of one key are held back until the test lets them go."""

    def __init__(self, store: fence.Etcd, key: str) -> None:
        self._store = store
        self._key = key
        self.begun = threading.Event()
        self.go = threading.Event()

    def get(self, key: str) -> fence.Pair | None:
        """As the store."""
        return self._store.get(key)

    def list(self, prefix: str, after: str | None, limit: int) -> fence.Page:
        """As the store."""
        return self._store.list(prefix, after, limit)

    def put_if(self, conditions: Sequence[fence.Condition], key: str, value: bytes) -> bool:
        """As the store, later."""
        if key == self._key and not self.begun.is_set():
            self.begun.set()
            assert self.go.wait(LIMIT)
        return self._store.put_if(conditions, key, value)


def _report(membership: synod.Membership, resource: v1.GroupResource, encoding: str) -> None:
    versions = ("v1", "v2")
    entry = v1.ReportEntry(
        resource=resource,
        kind="Widget",
        decodable_versions=versions,
        served_versions=versions,
        encoding_version=encoding,
    )
    membership.report([entry])


def _migrations(client: synod.Client, name: str) -> Iterator[v1.Migration]:
    """The migrations of a test's resource, as they become open."""
    with client.watch(v1.WatchFilter(kinds=(v1.ObjectKind.MIGRATION,)), from_list=True) as watch:
        for message in watch:
            for event in () if isinstance(message, synod.Bookmark) else message.events:
                if name in event.name and event.migration is not None:
                    yield event.migration


def _migrated(client: synod.Client, name: str, worker: synod.Worker) -> v1.Migration:
    """Works until a migration is completed, which has to wait for drains."""
    for migration in _migrations(client, name):
        while True:
            assert migration.metadata is not None
            now = client.migrations.get(name=migration.metadata.name).migration
            if now is None or now.phase not in (v1.MigrationPhase.PENDING, v1.MigrationPhase.RUNNING):
                break
            worked = worker.run_one(migration.metadata.name)
            if worked is not None and worked.end == "completed":
                return migration
    raise AssertionError("a watch does not end by itself")


def a_write_that_lands_behind_the_worker_is_kept_out_by_the_fence(
    doomed: Replicas, etcd: RunningEtcd, name: str
) -> None:
    resource = v1.GroupResource(group=f"{name}.example.io", resource="widgets")
    widgets = _Widgets(name)
    key = f"{OBJECTS}{name}/late"
    with synod.Client(doomed.endpoints, timeout=60.0) as client:
        client.cluster.update_settings(patch=v1.SettingsPatch(write_grace_ms=1_000))
        first = client.join(f"{name}-a", ttl=5.0)
        with client.join(f"{name}-b") as second, client.fence_guard(first.id) as guard:
            for membership in (first, second):
                _report(membership, resource, "v1")
            held = _Held(etcd.store, key)
            writer = fence.FencedWriter(guard, held, FENCES)
            for number in range(5):
                writer.update(
                    first.gate, resource, f"{OBJECTS}{name}/w-{number}", lambda _, version: _encoded(version)
                )
            came: queue.SimpleQueue[object] = queue.SimpleQueue()

            def write_late() -> None:
                permit = first.gate.permit(resource)
                try:
                    came.put(writer.write(permit, key, 0, _encoded(permit.encoding)))
                except fence.Fault as error:
                    came.put(error)

            writing = threading.Thread(target=write_late)
            writing.start()
            assert held.begun.wait(LIMIT)
            # It has passed every check; then its server is held up, and dies.
            first.close()
            _report(second, resource, "v2")
            objects = fence.FencedObjects(etcd.store, widgets, FENCES, page_size=2)
            done = _migrated(client, name, client.fenced_worker(name, [resource], objects, objects_at_once=2))
            held.go.set()
            late = came.get(timeout=LIMIT)
            writing.join()
            assert isinstance(late, fence.NotExecuted) and "has moved the fence" in str(late)
            page = etcd.store.list(widgets.prefix(resource), None, 100)
            assert [json.loads(pair.value)["apiVersion"] for pair in page.pairs] == ["v2"] * 5
            present = etcd.store.get(f"{FENCES}widgets.{name}.example.io")
            assert present is not None
            assert present.value.decode().endswith(f" widgets.{name}.example.io {done.agreement_revision}")
            # The same write without the condition on the fence lands, so nothing else kept it out.
            assert etcd.store.put_if((fence.WrittenAt(key, 0),), key, _encoded("v1"))
            # The living server goes on: it knows of the agreement.
            with client.fence_guard(second.id) as guard:
                writer = fence.FencedWriter(guard, etcd.store, FENCES)
                writer.update(second.gate, resource, key, lambda _, version: _encoded(version))
            stored = etcd.store.get(key)
            assert stored is not None and stored.value == _encoded("v2")


def a_loop_writes_behind_the_fence_and_migrates(client: synod.Client, etcd: RunningEtcd, name: str) -> None:
    resource = v1.GroupResource(group=f"{name}.example.io", resource="widgets")
    key = f"{OBJECTS}{name}/one"

    async def live() -> None:
        async with synod.AsyncClient(client.endpoints, timeout=60.0) as loud, loud.join(name) as membership:
            entry = v1.ReportEntry(
                resource=resource,
                kind="Widget",
                decodable_versions=("v1", "v2"),
                served_versions=("v1", "v2"),
                preferred_version="v2",
            )
            await membership.report([entry])
            store = fence.AsyncEtcd(etcd.url, timeout=LIMIT)
            assert await store.put_if((), key, _encoded("v1"))
            objects = fence.AsyncFencedObjects(store, _Widgets(name), FENCES)
            worker = loud.fenced_worker(name, [resource], objects, objects_at_once=2)
            migration = next(_migrations(client, name))
            assert migration.metadata is not None
            # What was written before the server spoke lands first.
            worked = None
            while worked is None:
                worked = await worker.run_one(migration.metadata.name)
            assert worked.end == "completed"
            stored = await store.get(key)
            assert stored is not None and stored.value == _encoded("v2")
            with await loud.fence_guard(membership.id) as guard:
                writer = fence.AsyncFencedWriter(guard, store, FENCES)
                await writer.update(membership.gate, resource, key, lambda object, version: (object or stored).value + b" ")
                permit = await membership.gate.permit(resource)
                assert not await writer.write(permit, key, stored.revision, b"{}"), "somebody has changed it"
                wrong = fence.AsyncFencedWriter(guard, store, f"{FENCES}other/")
                await store.put_if((), f"{FENCES}other/widgets.{name}.example.io", b"nonsense")
                with pytest.raises(fence.Refused, match="no fence"):
                    await wrong.update(membership.gate, resource, key, lambda _, version: b"{}")
                # An operator mends it, and the same writer goes on.
                whole = await store.get(f"{FENCES}widgets.{name}.example.io")
                assert whole is not None
                assert await store.put_if((), f"{FENCES}other/widgets.{name}.example.io", whole.value)
                await wrong.update(membership.gate, resource, key, lambda _, version: b"{}")
            assert membership.gate.is_drained()

    asyncio.run(live())


def what_is_not_answered_well_is_not_executed_or_refused_or_unknown(etcd: RunningEtcd) -> None:
    with socket.create_server(("127.0.0.1", 0)) as nobody:
        host, port = nobody.getsockname()
    with pytest.raises(fence.NotExecuted, match="cannot be reached"):
        fence.Etcd(f"http://{host}:{port}", timeout=LIMIT).put_if((), "key", b"")
    relay = Relay(etcd.url.removeprefix("http://"))
    url = f"http://{relay.endpoint}"
    assert fence.Etcd(url, timeout=LIMIT).put_if((), "key", b"")
    relay.silence()
    cut = fence.Etcd(url, timeout=0.5)
    with pytest.raises(fence.Unknown):
        cut.put_if((), "key", b"")
    with pytest.raises(fence.NotExecuted):
        cut.get("key")
    relay.close()
    with pytest.raises(fence.Refused, match="404"):
        fence.Etcd(f"{etcd.url}/nowhere", timeout=LIMIT).put_if((), "key", b"")


def a_list_has_the_keys_of_its_prefix_page_by_page(etcd: RunningEtcd, name: str) -> None:
    for key in ("a/1", "a/2", "a/2/x", "a0", "b/1"):
        assert etcd.store.put_if((fence.WrittenAt(f"{name}/{key}", 0),), f"{name}/{key}", b"\x00\xff")
    first = etcd.store.list(f"{name}/a/", None, 2)
    assert ([pair.key for pair in first.pairs], first.more) == ([f"{name}/a/1", f"{name}/a/2"], True)
    second = etcd.store.list(f"{name}/a/", first.pairs[-1].key, 2)
    assert ([pair.key for pair in second.pairs], second.more) == ([f"{name}/a/2/x"], False)
    assert second.pairs[0].value == b"\x00\xff"
    assert len(etcd.store.list("", None, 1_000).pairs) >= 5
