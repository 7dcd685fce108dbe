"""Nothing is left behind: no memory, no thread, no handle, no file.

A share of the numbers that are promised is used unless SYNOD_STRESS asks for all of them.
"""

from __future__ import annotations

import asyncio
import gc
import os
from pathlib import Path

from replicas import Replicas

import synod
from synod import _synod

SHARE = 1 if os.environ.get("SYNOD_STRESS") else 20


class _Level:
    """What the process holds."""

    def __init__(self) -> None:
        gc.collect()
        self.counts = dict(_synod._counts())
        self.files = len(os.listdir("/proc/self/fd"))
        self.threads = len(os.listdir("/proc/self/task"))
        self.kilobytes = int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024

    def holds_no_more_than(self, before: _Level) -> None:
        """Memory may be 8 MiB more, since what was freed is not given back to the system at once.

        A client may have connected to each of the three replicas meanwhile.
        """
        assert self.counts == before.counts
        assert self.files <= before.files + 3
        assert self.threads <= before.threads
        assert self.kilobytes <= before.kilobytes + 8 * 1024


async def _watches(client: synod.AsyncClient, total: int) -> None:
    for _ in range(total // 50):
        watches = await asyncio.gather(*(client.watch() for _ in range(50)))
        waits = [asyncio.ensure_future(watch.__anext__()) for watch in watches[:25]]
        await asyncio.sleep(0)
        for wait in waits:
            wait.cancel()
        await asyncio.gather(*waits, return_exceptions=True)
        # Half of them are closed, and the others just dropped.
        for watch in watches[:25]:
            await watch.aclose()


def watches_that_are_opened_and_dropped_leave_nothing(replicas: Replicas) -> None:
    async def live() -> None:
        async with synod.AsyncClient(replicas.endpoints, timeout=60.0) as client:
            await _watches(client, 500)
            before = _Level()
            await _watches(client, 10_000 // SHARE)
            await _settle(before)

    asyncio.run(live())


def memberships_that_join_and_leave_leave_nothing(replicas: Replicas, name: str) -> None:
    async def one(client: synod.AsyncClient, number: int) -> None:
        async with client.join(f"{name}-{number % 20}") as membership:
            await membership.ready()

    async def live() -> None:
        async with synod.AsyncClient(replicas.endpoints, timeout=60.0) as client:
            for number in range(20):
                await one(client, number)
            before = _Level()
            for base in range(0, 1_000 // SHARE, 10):
                await asyncio.gather(*(one(client, base + number) for number in range(10)))
            await _settle(before)

    asyncio.run(live())


def calls_leave_nothing(replicas: Replicas) -> None:
    client = synod.Client(replicas.endpoints, timeout=60.0)

    def ask(total: int) -> None:
        for _ in range(total):
            client.cluster.get_settings()

    ask(500)
    before = _Level()
    ask(20_000 // SHARE)
    _Level().holds_no_more_than(before)


async def _settle(before: _Level) -> None:
    """The runtime may need a moment to drop what it was told to."""
    for _ in range(1_200):
        if _Level().counts == before.counts:
            break
        await asyncio.sleep(0.05)
    _Level().holds_no_more_than(before)
