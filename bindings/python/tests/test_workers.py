"""Workers that carry migrations out."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

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
                    return event.name
    raise AssertionError("a watch does not end by itself")


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


def a_worker_that_is_closed_ends(client: synod.Client, replicas: Replicas, name: str) -> None:
    resource = v1.GroupResource(group=f"{name}.example.io", resource="widgets")
    worker = client.worker(name, [resource], synod.JSONCodec("v1"))
    working = threading.Thread(target=worker.run)
    working.start()
    worker.close()
    working.join(30.0)
    assert not working.is_alive()

    async def live() -> None:
        async with synod.AsyncClient(replicas.endpoints) as loud:
            worker = loud.worker(name, [resource], synod.JSONCodec("v1"))
            working = asyncio.create_task(worker.run())
            await asyncio.sleep(0)
            worker.close()
            await asyncio.wait_for(working, 30.0)

    asyncio.run(live())
