"""A worker that migrates: a collection has objects in v1, its server now votes for v2, and the worker rewrites them all."""

from __future__ import annotations

import sys
import time

import synod
from synod import v1

GROUP = f"py{time.time_ns() % 10**9}.example.io"
WIDGETS = v1.GroupResource(group=GROUP, resource="widgets")
STATE = f"{WIDGETS.resource}.{GROUP}"
V1, V2 = f"{GROUP}/v1", f"{GROUP}/v2"
CODEC = synod.JSONCodec(V1, V2)


def entry(preferred: str) -> v1.ReportEntry:
    """What the server says, before and after its upgrade."""
    return v1.ReportEntry(
        resource=WIDGETS,
        kind="Widget",
        decodable_versions=(V1, V2),
        served_versions=(V1, V2),
        preferred_version=preferred,
        stored=v1.StoredIn.COLLECTION,
    )


def short(versions: list[str]) -> str:
    """Versions without their group."""
    return ", ".join(version.removeprefix(GROUP + "/") for version in versions)


def encodings(client: synod.Client) -> list[str]:
    """In which versions objects are stored."""
    collection = client.collections.get(resource=WIDGETS)
    return sorted(count.version for count in collection.counts if count.objects)


def persisted(client: synod.Client) -> list[str]:
    """In which versions objects may be stored, as far as the cluster has to assume."""
    with client.reflect([v1.ObjectKind.STORAGE_STATE]) as states:
        state: v1.StorageState = states.get(v1.ObjectKind.STORAGE_STATE, resource=WIDGETS)
        return [each.version or "unknown" for each in state.persisted]


def main(endpoints: list[str]) -> None:
    """Upgrades the server, and has the worker do its work."""
    with synod.Client(endpoints, timeout=30.0) as client:
        client.collections.create(resource=WIDGETS, kind="Widget")
        with client.join(f"server-{GROUP}") as membership:
            membership.report([entry(V1)])
            objects = client.typed_objects(WIDGETS, CODEC, encode_in=V1)
            for i in range(20):
                objects.create(f"widget-{i}", {"size": i})
            print(f"20 objects are stored in {short(encodings(client))}")

            membership.report_change(entry(V2))
            print("the server votes for v2: agreed, and a migration is to be done")
            migrate(client)
            print(f"now they are stored in {short(encodings(client))}")
            print(f"persisted: {short(persisted(client))} alone")


def migrate(client: synod.Client) -> None:
    """Waits for the migration, and carries it out."""
    chosen = v1.WatchFilter(kinds=(v1.ObjectKind.MIGRATION,))
    worker = client.worker(f"worker-{GROUP}", [WIDGETS], CODEC)
    with client.watch(chosen, from_list=True) as watch:
        for message in watch:
            events = () if isinstance(message, synod.Bookmark) else message.events
            names = [event.name for event in events if event.name.startswith(STATE)]
            for name in names:
                worked = worker.run_one(name)
                if worked is not None:
                    print(f"migration {worked.end}")
                    return


if __name__ == "__main__":
    main(sys.argv[1:] or ["127.0.0.1:4600"])
