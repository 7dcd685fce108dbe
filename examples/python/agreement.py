"""How to wait for agreement: two members of different ages vote, and the program waits until all agree, with a limit."""

from __future__ import annotations

import asyncio
import sys
import time

import synod
from synod import v1

GROUP = f"py{time.time_ns() % 10**9}.example.io"
WIDGETS = v1.GroupResource(group=GROUP, resource="widgets")
V1, V2 = f"{GROUP}/v1", f"{GROUP}/v2"


def vote(preferred: str) -> v1.ReportEntry:
    """What a member of either age says; the older one would rather have v1."""
    return v1.ReportEntry(
        resource=WIDGETS,
        kind="Widget",
        decodable_versions=(V1, V2),
        served_versions=(V1, V2),
        preferred_version=preferred,
    )


def in_the_way(version: v1.StorageVersion | None) -> list[str]:
    """Who does not encode v2 yet."""
    entries = () if version is None else version.entries
    return [f"{entry.member} encodes {entry.encoding_version or 'nothing yet'}" for entry in entries if entry.encoding_version != V2]


async def agreed(client: synod.AsyncClient, limit: float) -> None:
    """Waits until all encode v2, or says who stands in the way."""
    async with await client.reflect([v1.ObjectKind.STORAGE_VERSION]) as versions:

        async def wait() -> None:
            while True:
                revision = versions.revision
                version: v1.StorageVersion | None = versions.get(v1.ObjectKind.STORAGE_VERSION, resource=WIDGETS)
                obstacles = in_the_way(version)
                if version is not None and not obstacles and version.entries:
                    return
                print("; ".join(obstacles).replace(GROUP + "/", "") or "nobody has reported")
                await versions.changed(revision)

        await asyncio.wait_for(wait(), limit)


async def main(endpoints: list[str]) -> None:
    """Has two members vote, the old one for v1 until it is upgraded."""
    async with synod.AsyncClient(endpoints, timeout=30.0) as client:
        async with client.join(f"old-{GROUP}") as old, client.join(f"new-{GROUP}") as new:
            await old.report([vote(V1)])
            await new.report([vote(V2)])
            print("two members vote: the old one for v1, the new one for v2")
            waiting = asyncio.create_task(agreed(client, 60.0))
            await old.report_change(vote(V2))
            print("the old one was upgraded, and votes for v2")
            await waiting
            print("all agree on v2")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:] or ["127.0.0.1:4600"]))
