"""What a client survives: replicas that are killed, all of them restarted, and a network that goes silent."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from typing import Any

from relay import Relay
from replicas import Replicas

import synod
from synod import v1

VALUE = v1.ObjectContent(encoding_version="v1", data=b"{}")
WIDGETS = v1.GroupResource(group="example.io", resource="widgets")


def _create(client: synod.Client, name: str) -> int:
    answer = client.objects.create(key=v1.ObjectKey(resource=WIDGETS, name=name), content=VALUE, timeout=60.0)
    assert answer.header is not None
    return answer.header.replica_id


def _read_until(watch: synod.Watch, wanted: set[str]) -> list[str]:
    seen: list[str] = []
    while not wanted <= set(seen):
        message = next(watch)
        if not isinstance(message, synod.Bookmark):
            seen += [event.name for event in message.events]
    return seen


def calls_and_watches_go_on_when_the_connected_replica_is_killed(doomed: Replicas) -> None:
    with synod.Client(doomed.endpoints, timeout=60.0) as client:
        client.collections.create(resource=WIDGETS, kind="Widget")
        with client.watch(v1.WatchFilter(resources=(WIDGETS,))) as watch:
            connected = _create(client, "w-0")
            doomed.kill(connected)
            for i in range(1, 10):
                assert _create(client, f"w-{i}") != connected
            names = [f"w-{i}" for i in range(10)]
            assert _read_until(watch, set(names)) == names


def calls_and_watches_go_on_when_all_replicas_are_restarted(doomed: Replicas) -> None:
    with synod.Client(doomed.endpoints, timeout=60.0) as client:
        client.collections.create(resource=WIDGETS, kind="Widget")
        with client.watch(v1.WatchFilter(resources=(WIDGETS,))) as watch, client.join("server") as membership:
            _create(client, "before")
            doomed.kill_all()
            asked = threading.Thread(target=_create, args=(client, "meanwhile"))
            asked.start()
            doomed.start_all()
            asked.join()
            _create(client, "after")
            assert _read_until(watch, {"before", "meanwhile", "after"}) == ["before", "meanwhile", "after"]
            _await_proof(membership)


def a_membership_survives_a_change_of_leader(doomed: Replicas) -> None:
    entry = v1.ReportEntry(
        resource=WIDGETS, kind="Widget", decodable_versions=("v1",), served_versions=("v1",), encoding_version="v1"
    )
    with synod.Client(doomed.endpoints, timeout=60.0) as client, client.join("server") as membership:
        membership.report([entry])
        membership.ready()
        epoch = membership.epoch
        leader = doomed.leader()
        doomed.kill(leader)
        with synod.Client(doomed.endpoints, timeout=60.0) as other:
            other.cluster.get_settings()
        _await_proof(membership)
        assert membership.epoch == epoch, "no other life of it began"
        with membership.gate.permit(WIDGETS, wait_for=30.0) as permit:
            permit.check()


def _await_proof(membership: synod.Membership) -> None:
    state = membership.state
    while not state.proved:
        state = membership.state_changed(state)


def a_connection_that_goes_silent_is_left_for_another(doomed: Replicas) -> None:
    relay = Relay(doomed.endpoints[0])
    endpoints = [relay.endpoint, *doomed.endpoints[1:]]
    try:
        with synod.Client(endpoints, timeout=60.0, keepalive=(0.5, 0.5)) as client:
            client.collections.create(resource=WIDGETS, kind="Widget")
            chosen = v1.WatchFilter(resources=(WIDGETS,))
            with client.watch(chosen, bookmark_interval=1.0) as watch:
                _create(client, "before")
                relay.silence()
                begun = time.monotonic()
                _create(client, "after")
                assert _read_until(watch, {"before", "after"}) == ["before", "after"]
                assert time.monotonic() - begun < 30.0
    finally:
        relay.close()


def a_watch_whose_history_is_gone_lists_anew(doomed: Replicas) -> None:
    with synod.Client(doomed.endpoints, timeout=60.0) as client:
        client.cluster.update_settings(patch=v1.SettingsPatch(history_revisions=100))
        client.collections.create(resource=WIDGETS, kind="Widget")
        first = client.objects.create(key=v1.ObjectKey(resource=WIDGETS, name="first"), content=VALUE)
        asyncio.run(_fill(doomed.endpoints, 150))
        chosen = v1.WatchFilter(resources=(WIDGETS,), kinds=(v1.ObjectKind.OBJECT,))
        assert client.status().oldest_revision > first.resource_version
        with client.watch(chosen, from_revision=first.resource_version) as watch:
            message = next(watch)
            assert isinstance(message, synod.Resync)
            assert {event.name for event in message.events} == {"first", "filled"}


def a_watch_that_nobody_reads_comes_to_what_there_is(doomed: Replicas) -> None:
    changes = 300
    with synod.Client(doomed.endpoints, timeout=60.0) as client:
        client.cluster.update_settings(patch=v1.SettingsPatch(history_revisions=100))
        client.collections.create(resource=WIDGETS, kind="Widget")
        with client.watch(v1.WatchFilter(resources=(WIDGETS,), kinds=(v1.ObjectKind.OBJECT,))) as starved:
            asyncio.run(_fill(doomed.endpoints, changes))
            seen = 0
            for message in starved:
                for event in () if isinstance(message, synod.Bookmark) else message.events:
                    stored = event.stored_object
                    assert stored is not None and stored.content is not None
                    size = json.loads(stored.content.data)["size"]
                    assert size >= seen, "a watch never goes back"
                    seen = size
                if seen == changes:
                    break


async def _fill(endpoints: list[str], changes: int) -> None:
    """Changes one object many times."""
    async with synod.AsyncClient(endpoints, timeout=60.0) as client:
        objects = client.typed_objects(WIDGETS, synod.JSONCodec("v1"))
        await objects.create("filled", {"size": 0})
        for _ in range(changes):
            await objects.guaranteed_update("filled", _grow)


def _grow(draft: synod.Draft[dict[str, Any]]) -> None:
    draft.value["size"] += 1
