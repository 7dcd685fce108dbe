"""A live table of storage versions: it follows them by a watch, and is printed anew with every change."""

from __future__ import annotations

import asyncio
import sys
import time

import synod
from synod import v1

GROUP = f"py{time.time_ns() % 10**9}.example.io"
WIDGETS = v1.GroupResource(group=GROUP, resource="widgets")
NAME = f"{GROUP}.widgets"
VERSION = f"{GROUP}/v1"


Entries = dict[str, v1.StorageVersionEntry]


def fold(entries: Entries, change: v1.StorageVersionChange) -> None:
    """Brings the entries of a storage version up to date: a change has only those that changed."""
    for member in change.removed_members:
        entries.pop(member, None)
    for entry in change.changed_entries:
        entries[entry.member] = entry


def show(entries: Entries, status: v1.StorageVersionStatus) -> None:
    """Prints the table."""
    selected, common = status.selected_version or "-", status.common_encoding_version or "-"
    print(f"{NAME}: selected {selected}, common {common}")
    for member, entry in sorted(entries.items()):
        print(f"    {member} encodes {entry.encoding_version or '-'}")


async def follow(client: synod.AsyncClient, begun: asyncio.Event) -> None:
    """Keeps the table, until the agreement that this program makes is in it."""
    entries: Entries = {}
    chosen = v1.WatchFilter(kinds=(v1.ObjectKind.STORAGE_VERSION,), names=(NAME,))
    async with await client.watch(chosen, from_list=True) as watch:
        begun.set()
        async for message in watch:
            if isinstance(message, synod.Bookmark):
                continue
            for event in message.events:
                change = event.storage_version
                if change is None or change.status is None:
                    continue
                fold(entries, change)
                show(entries, change.status)
                if change.status.common_encoding_version == VERSION:
                    return


async def main(endpoints: list[str]) -> None:
    """Follows the table while a member reports."""
    async with synod.AsyncClient(endpoints, timeout=30.0) as client:
        begun = asyncio.Event()
        following = asyncio.create_task(follow(client, begun))
        await begun.wait()
        async with client.join(f"server-{GROUP}") as membership:
            entry = v1.ReportEntry(
                resource=WIDGETS,
                kind="Widget",
                decodable_versions=(VERSION,),
                served_versions=(VERSION,),
                encoding_version=VERSION,
            )
            await membership.report([entry])
            await asyncio.wait_for(following, 60.0)
        print(f"seen: {NAME} is encoded in {VERSION}")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:] or ["127.0.0.1:4600"]))
