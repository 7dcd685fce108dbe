"""A leader-elected controller with history and rollback.

The leader keeps what it wants as ControllerRevisions and brings its workers to it; it rolls back to the revision before; and
when it releases the lease, the second instance takes over.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from typing import Any

import synod
from synod import v1

NAME = f"py{time.time_ns() % 10**9}"
OWNER = v1.OwnerReference(
    api_version="example.io/v1",
    kind="WorkerSet",
    name=NAME,
    uid="3c83e878-eeb1-8b29-b351-e7ab275f5371",
    controller=True,
)
HISTORY = v1.ControllerHistory(namespace="default", owner=OWNER, selector={"app": NAME})


class Controller:
    """What the leader does."""

    def __init__(self, client: synod.AsyncClient) -> None:
        self._revisions = client.controller_revisions
        self._collisions = 0
        self.workers: dict[str, str] = {"worker-0": "", "worker-1": ""}

    async def want(self, target: dict[str, Any]) -> None:
        """Makes `target` the newest revision, and brings every worker to it."""
        answer = await self._revisions.create(
            history=HISTORY,
            data=json.dumps(target).encode(),
            collision_count=self._collisions,
            history_limit=3,
        )
        # A real controller keeps this in its status, so that the next create begins there.
        self._collisions = 0 if answer.answer is None else answer.answer.collision_count
        await self._bring_workers()

    async def roll_back(self) -> None:
        """Makes the revision before the newest one the newest."""
        answer = await self._revisions.rollback(history=HISTORY)
        print(f"rolled back to {_image(answer.controller_revision)}")
        await self._bring_workers()

    async def _bring_workers(self) -> None:
        """Every worker that runs another revision than the newest is made anew."""
        history = await self._revisions.history(history=HISTORY)
        newest = history.items[-1]
        for worker, image in self.workers.items():
            if image != _image(newest):
                print(f"{worker}: {image or 'nothing'} -> {_image(newest)}")
                self.workers[worker] = _image(newest)


def _image(revision: v1.ControllerRevision | None) -> str:
    return "" if revision is None else str(json.loads(revision.data)["image"])


async def lead(endpoints: list[str], identity: str, begun: asyncio.Event) -> None:
    """Takes part in the election, and acts while it leads."""
    async with synod.AsyncClient(endpoints, timeout=30.0) as client:
        election = client.election(v1.LeaseKey(namespace="default", name=NAME), holder=f"{identity}.{NAME}")
        async with await election.campaign() as lock:
            print(f"{identity} leads")
            controller = Controller(client)
            lock.check()  # Right before each act: a leader that may be replaced must not go on.
            await controller.want({"image": "web:1"})
            begun.set()
            if identity == "first":
                await controller.want({"image": "web:2"})
                await controller.roll_back()
        print(f"{identity} released")


async def main(endpoints: list[str]) -> None:
    """Runs two instances; the second one waits until the first releases."""
    begun = asyncio.Event()
    first = asyncio.create_task(lead(endpoints, "first", begun))
    await begun.wait()
    second = asyncio.create_task(lead(endpoints, "second", begun))
    await asyncio.gather(first, second)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:] or ["127.0.0.1:4600"]))
