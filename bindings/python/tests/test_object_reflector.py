"""Caches of objects."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import threading
from typing import Any

import pytest
from relay import Relay
from replicas import Replicas

import synod
from synod import v1

Value = dict[str, Any]
LIMIT = 60.0


class _Counting(synod.JSONCodec):
    """Counts what it decodes."""

    decoded = 0

    def decode(self, key: v1.ObjectKey, content: v1.ObjectContent) -> Value:
        """The dictionary."""
        self.decoded += 1
        return super().decode(key, content)


def _collection(client: synod.Client, name: str) -> v1.GroupResource:
    resource = v1.GroupResource(group=f"{name}.example.io", resource="widgets")
    client.collections.create(resource=resource, kind="Widget", namespaced=True)
    return resource


def _revision(stored: synod.Stored[Value]) -> int:
    assert stored.object.metadata is not None
    return stored.object.metadata.resource_version


def _names(cache: synod.ObjectReflector[Value]) -> list[str]:
    found = [stored.object.metadata for stored in cache.list()]
    return [f"{metadata.namespace}/{metadata.name}" for metadata in found if metadata is not None]


def a_cache_has_what_there_is_and_follows_what_changes(client: synod.Client, name: str) -> None:
    codec = _Counting("v1")
    resource = _collection(client, name)
    objects = client.typed_objects(resource, codec)
    for namespace, each in (("b", "one"), ("a", "two"), ("a", "one")):
        objects.create(each, {"size": 1}, namespace=namespace)
    with objects.reflect() as cache:
        assert _names(cache) == ["a/one", "a/two", "b/one"]
        assert codec.decoded == 3
        one = cache.get("one", namespace="a")
        assert one is not None and one.value == {"size": 1}
        assert cache.get("one", namespace="c") is None
        assert codec.decoded == 3, "what has not changed is not decoded again"

        seen = cache.revision
        updated = objects.guaranteed_update(
            "one", lambda draft: draft.value.update(size=2), namespace="a", cached=one
        )
        cache.reached(_revision(updated.stored), LIMIT)
        assert cache.changed(seen) >= _revision(updated.stored)
        changed = cache.get("one", namespace="a")
        assert changed is not None and changed.value == {"size": 2}
        gone = client.objects.delete(key=v1.ObjectKey(resource=resource, namespace="a", name="two"))
        assert gone.header is not None
        cache.reached(gone.header.revision, LIMIT)
        snapshot = cache.snapshot()
        assert snapshot.revision >= gone.header.revision
        assert [stored.value for stored in snapshot.objects] == [{"size": 2}, {"size": 1}]
        with pytest.raises(synod.DeadlineExceededError, match="did not come to"):
            cache.reached(10**12, 0.05)
    with pytest.raises(synod.ClosedError):
        cache.get("one", namespace="a")


def a_loop_has_a_cache_of_the_objects_that_it_selects(
    client: synod.Client, replicas: Replicas, name: str
) -> None:
    resource = _collection(client, name)
    objects = client.typed_objects(resource, synod.JSONCodec("v1"))
    web = v1.ObjectAttributes(labels={"app": "web"})
    objects.create("web", {"size": 1}, namespace="a", attributes=web)
    objects.create("other", {"size": 2}, namespace="a")
    objects.create("web", {"size": 3}, namespace="b", attributes=web)

    async def live() -> None:
        async with synod.AsyncClient(replicas.endpoints, timeout=LIMIT) as loud:
            followed = loud.typed_objects(resource, synod.JSONCodec("v1"))
            async with await followed.reflect(namespaces=["a"], label_selector="app=web") as cache:
                assert [stored.value for stored in cache.list()] == [{"size": 1}]

                def leave(draft: synod.Draft[Value]) -> None:
                    draft.attributes = v1.ObjectAttributes()

                left = await followed.guaranteed_update("web", leave, namespace="a")
                waiting = asyncio.create_task(cache.reached(_revision(left.stored), LIMIT))
                await waiting
                assert cache.list() == (), "what matches no longer is gone"
                joined = await followed.create("new", {"size": 4}, namespace="a", attributes=web)
                await cache.reached(_revision(joined), LIMIT)
                found = cache.get("new", namespace="a")
                assert found is not None and found.value == {"size": 4}

    asyncio.run(live())


def a_cache_shows_one_revision_as_a_whole(client: synod.Client, name: str) -> None:
    resource = _collection(client, name)
    content = v1.ObjectContent(encoding_version="v1", media_type="application/json", data=b'{"apiVersion":"v1"}')
    last: list[int] = []

    def create(number: int, side: str) -> v1.ObjectsOperation:
        key = v1.ObjectKey(resource=resource, namespace=side, name=f"w-{number}")
        return v1.ObjectsOperation(create=v1.CreateOperation(key=key, content=content))

    def write() -> None:
        for number in range(40):
            both = (create(number, "left"), create(number, "right"))
            header = client.objects.transact(operations=both).header
            assert header is not None
            last.append(header.revision)

    with client.typed_objects(resource, synod.JSONCodec("v1")).reflect() as cache:
        writing = threading.Thread(target=write)
        writing.start()
        while writing.is_alive():
            names = _names(cache)
            left, right = ([name for name in names if name.startswith(side)] for side in ("left/", "right/"))
            assert len(left) == len(right)
        writing.join()
        cache.reached(last[-1], LIMIT)
        assert len(cache.list()) == 80


def what_cannot_be_decoded_keeps_nothing_else_from_being_read(client: synod.Client, name: str) -> None:
    resource = _collection(client, name)
    client.typed_objects(resource, synod.JSONCodec("v2")).create("new", {"size": 1}, namespace="a")
    old = client.typed_objects(resource, synod.JSONCodec("v1"))
    old.create("old", {"size": 2}, namespace="a")
    with old.reflect() as cache:
        found = cache.get("old", namespace="a")
        assert found is not None and found.value == {"size": 2}
        with pytest.raises(synod.NotDecodableError, match="stored in v2"):
            cache.get("new", namespace="a")
        with pytest.raises(synod.NotDecodableError, match="stored in v2"):
            cache.snapshot()


def a_cache_follows_over_the_death_of_its_replica(doomed: Replicas) -> None:
    with synod.Client(doomed.endpoints, timeout=60.0) as client:
        resource = _collection(client, "cached")
        objects = client.typed_objects(resource, synod.JSONCodec("v1"))
        objects.create("one", {"size": 1}, namespace="a")
        with objects.reflect() as cache:
            doomed.kill(doomed.leader())
            objects.create("two", {"size": 2}, namespace="a")
            gone = client.objects.delete(key=v1.ObjectKey(resource=resource, namespace="a", name="one"))
            assert gone.header is not None
            cache.reached(gone.header.revision, 60.0)
            assert _names(cache) == ["a/two"]


def a_cache_follows_over_a_replica_that_is_silent(doomed: Replicas) -> None:
    relay = Relay(doomed.endpoints[0])
    with synod.Client(doomed.endpoints, timeout=60.0) as client:
        resource = _collection(client, "cached")
        objects = client.typed_objects(resource, synod.JSONCodec("v1"))
        objects.create("gone", {"size": 1}, namespace="a")
        with (
            synod.Client([relay.endpoint, doomed.endpoints[1]], timeout=60.0, keepalive=(1.0, 1.0)) as cut,
            cut.typed_objects(resource, synod.JSONCodec("v1")).reflect() as cache,
        ):
            assert _names(cache) == ["a/gone"]
            relay.silence()
            client.objects.delete(key=v1.ObjectKey(resource=resource, namespace="a", name="gone"))
            last = objects.create("new", {"size": 2}, namespace="a")
            cache.reached(_revision(last), 60.0)
            assert _names(cache) == ["a/new"]
    relay.close()


_SUSPENDED = """
import sys
import synod
from synod import v1

with synod.Client(sys.argv[1:], timeout=60.0) as client:
    resource = v1.GroupResource(group="cached.example.io", resource="widgets")
    with client.typed_objects(resource, synod.JSONCodec("v1")).reflect() as cache:
        print("follows", flush=True)
        cache.reached(int(input()), 60.0)
        print(*(stored.object.metadata.name for stored in cache.list()), flush=True)
"""


def a_cache_that_was_suspended_until_its_history_was_gone_has_what_there_is(doomed: Replicas) -> None:
    with synod.Client(doomed.endpoints, timeout=60.0) as client:
        resource = _collection(client, "cached")
        objects = client.typed_objects(resource, synod.JSONCodec("v1"))
        begun = objects.create("gone", {"size": 1}, namespace="a")
        program = [sys.executable, "-c", _SUSPENDED, *doomed.endpoints]
        with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
            assert child.stdin is not None and child.stdout is not None
            assert child.stdout.readline() == "follows\n"
            child.send_signal(signal.SIGSTOP)
            client.cluster.update_settings(patch=v1.SettingsPatch(history_revisions=1))
            client.objects.delete(key=v1.ObjectKey(resource=resource, namespace="a", name="gone"))
            # More than buffers on the way hold.
            filled = {"filled": "x" * 200_000}
            made = [objects.create(f"w-{number:02}", filled, namespace="a") for number in range(80)]
            assert client.status().oldest_revision > _revision(begun) + 40
            child.send_signal(signal.SIGCONT)
            child.stdin.write(f"{_revision(made[-1])}\n")
            child.stdin.flush()
            assert child.stdout.readline().split() == [f"w-{number:02}" for number in range(80)]
            assert child.wait(30.0) == 0


class _Torn:
    """What is told of a cluster, and then what nobody can read the end of."""

    def __init__(self) -> None:
        self.told = [
            (1, '{"gone": [], "changed": [{"metadata": {"name": "one"}}]}'),
            (2, '{"gone": [{"namespace": "", "name": "one"}], "changed": [{"metadata": {"name": "two"}}, 7]}'),
            (3, None),
        ]

    def pull(self) -> tuple[int, str | None]:
        """The next."""
        return self.told.pop(0)

    def close(self) -> None:
        """Nothing is held."""


def a_change_that_cannot_be_read_breaks_the_cache_and_mixes_no_revisions() -> None:
    native: Any = _Torn()
    cache: synod.ObjectReflector[Value] = synod.ObjectReflector(native, lambda object: synod.Stored(object, {}))
    assert _names(cache) == ["/one"]
    with pytest.raises((AttributeError, TypeError)):
        cache.list()
    with pytest.raises(RuntimeError, match="lacks a change"):
        cache.list()
