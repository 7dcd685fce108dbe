"""Locks and elections."""

from __future__ import annotations

import asyncio
import threading

import pytest
from replicas import Replicas

import synod
from synod import v1


def a_lock_has_one_holder_and_goes_to_the_next_when_it_is_released(client: synod.Client, name: str) -> None:
    lease = v1.LeaseKey(namespace="default", name=name)
    got: list[int] = []

    def wait() -> None:
        with client.lock(lease, holder="second") as second:
            got.append(second.proof.token)

    with client.lock(lease, holder="first") as first:
        first.check()
        assert first.proof.lease == lease
        with pytest.raises(synod.ConflictError) as caught:
            client.try_lock(lease, holder="third")
        current = caught.value.current
        assert isinstance(current, v1.Lease) and current.hold is not None
        assert current.hold.holder == "first"
        waiting = threading.Thread(target=wait)
        waiting.start()
    waiting.join(60.0)
    assert got and got[0] > first.proof.token
    with pytest.raises(synod.SynodError):
        first.check()


def a_holder_that_is_not_named_has_the_name_of_its_client(replicas: Replicas, name: str) -> None:
    lease = v1.LeaseKey(namespace="default", name=name)
    with synod.Client(replicas.endpoints, timeout=60.0, name="controller") as client, client.lock(lease):
        answer = client.leases.get(lease=lease)
        assert answer.lease is not None and answer.lease.hold is not None
        assert answer.lease.hold.holder.startswith("controller_")
    with pytest.raises(synod.InvalidArgumentError):
        synod.Client(replicas.endpoints, name="no name_")


def a_write_under_a_lost_lease_is_refused(client: synod.Client, name: str) -> None:
    lease = v1.LeaseKey(namespace="default", name=name)
    resource = v1.GroupResource(group=f"{name}.example.io", resource="widgets")
    client.collections.create(resource=resource, kind="Widget")
    with client.lock(lease) as first:
        fenced = client.typed_objects(resource, synod.JSONCodec("v1"), if_lease=first.proof)
        fenced.create("a", {"size": 1})
    with client.lock(lease), pytest.raises(synod.StaleEpochError):
        fenced.create("b", {"size": 1})


def a_wait_for_a_lock_that_is_cancelled_leaves_the_lease_to_others(replicas: Replicas, name: str) -> None:
    lease = v1.LeaseKey(namespace="default", name=name)

    async def live() -> None:
        async with synod.AsyncClient(replicas.endpoints, timeout=60.0) as client:
            async with await client.lock(lease, holder="first"):
                with pytest.raises(asyncio.TimeoutError):
                    await asyncio.wait_for(client.lock(lease, holder="second", ttl=2.0), 0.2)
            third = await asyncio.wait_for(client.lock(lease, holder="third"), 90.0)
            await third.release()

    asyncio.run(live())


def _holder(lease: v1.Lease | None) -> str | None:
    return None if lease is None or lease.hold is None else lease.hold.holder


def an_election_has_one_leader_and_another_follows(replicas: Replicas, name: str) -> None:
    lease = v1.LeaseKey(namespace="default", name=name)

    async def live() -> None:
        async with synod.AsyncClient(replicas.endpoints, timeout=60.0) as client:
            first = client.election(lease, holder="first")
            second = client.election(lease, holder="second")
            leading = await first.campaign()
            observer = second.observe()
            seen = await observer.__anext__()
            assert _holder(seen) == "first"
            waiting = asyncio.create_task(second.campaign())
            await leading.release()
            lock = await asyncio.wait_for(waiting, 30.0)
            async for seen in observer:
                if _holder(seen) == "second":
                    break
            await lock.release()

    asyncio.run(live())
