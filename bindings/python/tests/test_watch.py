"""Watches and reflectors."""

from __future__ import annotations

import asyncio
import threading

import pytest
from replicas import Replicas

import synod
from synod import v1

VALUE = v1.ObjectContent(encoding_version="v1", data=b"{}")


def _collection(client: synod.Client, name: str) -> v1.GroupResource:
    resource = v1.GroupResource(group=f"{name}.example.io", resource="widgets")
    client.collections.create(resource=resource, kind="Widget")
    return resource


def _named(message: synod.WatchMessage) -> list[str]:
    return [] if isinstance(message, synod.Bookmark) else [event.name for event in message.events]


def a_watch_delivers_every_change_once_and_in_order(client: synod.Client, name: str) -> None:
    resource = _collection(client, name)
    with client.watch(v1.WatchFilter(resources=(resource,))) as watch:
        for i in range(20):
            client.objects.create(key=v1.ObjectKey(resource=resource, name=f"w-{i}"), content=VALUE)
        seen: list[str] = []
        last = 0
        for message in watch:
            assert message.revision >= last
            last = message.revision
            seen += _named(message)
            if len(seen) >= 20:
                break
    assert seen == [f"w-{i}" for i in range(20)]


def a_watch_may_begin_with_a_list_or_with_a_revision(client: synod.Client, name: str) -> None:
    resource = _collection(client, name)
    chosen = v1.WatchFilter(resources=(resource,), kinds=(v1.ObjectKind.OBJECT,))
    created = client.objects.create(key=v1.ObjectKey(resource=resource, name="a"), content=VALUE)
    with client.watch(chosen, from_list=True) as watch:
        first = next(watch)
        assert isinstance(first, synod.Resync)
        assert _named(first) == ["a"]
        stored = first.events[0].stored_object
        assert stored is not None and stored.metadata is not None
        assert stored.metadata.resource_version == created.resource_version
    with client.watch(chosen, from_revision=created.resource_version) as watch:
        message = next(message for message in watch if not isinstance(message, synod.Bookmark))
        assert isinstance(message, synod.Events)
        assert (message.revision, _named(message)) == (created.resource_version, ["a"])


def no_event_is_lost_when_waits_are_cancelled(replicas: Replicas, name: str) -> None:
    total = 300

    async def count() -> list[str]:
        async with synod.AsyncClient(replicas.endpoints, timeout=60.0) as client:
            resource = v1.GroupResource(group=f"{name}.example.io", resource="widgets")
            await client.collections.create(resource=resource, kind="Widget")

            async def write() -> None:
                for i in range(total):
                    await client.objects.create(key=v1.ObjectKey(resource=resource, name=f"w-{i}"), content=VALUE)

            seen: list[str] = []
            cancelled = 0
            async with await client.watch(v1.WatchFilter(resources=(resource,))) as watch:
                writing = asyncio.create_task(write())
                while len(seen) < total:
                    try:
                        message = await asyncio.wait_for(watch.__anext__(), 0.001)
                    except asyncio.TimeoutError:
                        cancelled += 1
                    else:
                        seen += _named(message)
                await writing
            assert cancelled > 10, "nothing was cancelled"
            return seen

    assert asyncio.run(count()) == [f"w-{i}" for i in range(total)]


def a_watch_that_is_closed_ends_for_whoever_waits(client: synod.Client, replicas: Replicas) -> None:
    watch = client.watch(v1.WatchFilter(kinds=(v1.ObjectKind.SETTINGS,)))
    ended = threading.Event()

    def wait() -> None:
        for _ in watch:
            pass
        ended.set()

    waiting = threading.Thread(target=wait)
    waiting.start()
    watch.close()
    assert ended.wait(60.0)
    waiting.join()
    assert list(watch) == []

    async def the_same() -> None:
        async with synod.AsyncClient(replicas.endpoints, timeout=60.0) as loud:
            watch = await loud.watch(v1.WatchFilter(kinds=(v1.ObjectKind.SETTINGS,)))

            async def wait() -> int:
                return len([message async for message in watch if not isinstance(message, synod.Bookmark)])

            waiting = asyncio.create_task(wait())
            await asyncio.sleep(0)
            await watch.aclose()
            assert await asyncio.wait_for(waiting, 60.0) == 0

    asyncio.run(the_same())


def two_cannot_wait_for_one_watch(replicas: Replicas) -> None:
    async def both() -> None:
        async with synod.AsyncClient(replicas.endpoints, timeout=60.0) as client:
            async with await client.watch(v1.WatchFilter(kinds=(v1.ObjectKind.SETTINGS,))) as watch:
                waiting = asyncio.ensure_future(watch.__anext__())
                await asyncio.sleep(0)
                with pytest.raises(RuntimeError, match="somebody else"):
                    await watch.__anext__()
                waiting.cancel()

    asyncio.run(both())


def a_reflector_has_what_there_is_and_follows(client: synod.Client, name: str) -> None:
    with client.reflect([v1.ObjectKind.MEMBER]) as members:
        assert members.get(v1.ObjectKind.MEMBER, name) is None
        with client.join(name) as membership:
            epoch = membership.epoch
            assert epoch is not None
            members.reached(epoch, 60.0)
            member = members.get(v1.ObjectKind.MEMBER, name)
            assert member.epoch == epoch
            assert member in members.list(v1.ObjectKind.MEMBER)
            seen = members.revision
        assert members.changed(seen) > seen
