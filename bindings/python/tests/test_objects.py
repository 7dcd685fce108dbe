"""Objects as values."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from replicas import Replicas

import synod
from synod import v1

Value = dict[str, Any]


def _collection(client: synod.Client, name: str) -> v1.GroupResource:
    resource = v1.GroupResource(group=f"{name}.example.io", resource="widgets")
    client.collections.create(resource=resource, kind="Widget")
    return resource


def values_are_created_read_listed_and_changed(client: synod.Client, name: str) -> None:
    objects = client.typed_objects(_collection(client, name), synod.JSONCodec("v1", "v2"))
    created = objects.create("a", {"size": 1}, attributes=v1.ObjectAttributes(labels={"app": "web"}))
    assert created.value == {"size": 1}
    assert objects.get("a").value == {"size": 1}

    def grow(draft: synod.Draft[Value]) -> None:
        draft.value["size"] += 1

    updated = objects.guaranteed_update("a", grow)
    assert (updated.changed, updated.stored.value) == (True, {"size": 2})
    assert [stored.value for stored in objects.list(label_selector="app=web")] == [{"size": 2}]


def all_pages_of_a_list_are_read_one_after_the_other(client: synod.Client, replicas: Replicas, name: str) -> None:
    resource = _collection(client, name)
    objects = client.typed_objects(resource, synod.JSONCodec("v1"))
    for i in range(7):
        objects.create(f"w-{i}", {"size": i})
    named = [f"w-{i}" for i in range(7)]
    items = client.objects.list_all(resource=resource, page_size=3)
    assert [item.object.metadata.name for item in items if item.object and item.object.metadata] == named

    async def the_same() -> list[str]:
        async with synod.AsyncClient(replicas.endpoints, timeout=60.0) as loud:
            found = loud.objects.list_all(resource=resource, page_size=3)
            return [item.object.metadata.name async for item in found if item.object and item.object.metadata]

    assert asyncio.run(the_same()) == named


def a_change_that_changes_nothing_writes_nothing(client: synod.Client, name: str) -> None:
    objects = client.typed_objects(_collection(client, name), synod.JSONCodec("v1"))
    created = objects.create("a", {"size": 1})
    updated = objects.guaranteed_update("a", lambda draft: None)
    assert not updated.changed
    assert updated.stored.object.metadata == created.object.metadata


def a_change_is_made_again_when_somebody_was_faster(client: synod.Client, name: str) -> None:
    objects = client.typed_objects(_collection(client, name), synod.JSONCodec("v1"))
    created = objects.create("a", {"size": 1})
    tries: list[int] = []

    def grow(draft: synod.Draft[Value]) -> None:
        tries.append(draft.value["size"])
        if len(tries) == 1:
            objects.guaranteed_update("a", faster)
        draft.value["size"] += 1

    def faster(draft: synod.Draft[Value]) -> None:
        draft.value["size"] = 10

    assert objects.guaranteed_update("a", grow, cached=created).stored.value == {"size": 11}
    assert tries == [1, 10]


def a_change_that_fails_on_a_cached_object_gets_another_chance(client: synod.Client, name: str) -> None:
    objects = client.typed_objects(_collection(client, name), synod.JSONCodec("v1"))
    cached = objects.create("a", {"size": 1})
    objects.guaranteed_update("a", lambda draft: draft.value.update(size=2))

    def only_two(draft: synod.Draft[Value]) -> None:
        if draft.value["size"] != 2:
            raise ValueError("not two")
        draft.value["size"] = 3

    assert objects.guaranteed_update("a", only_two, cached=cached).stored.value == {"size": 3}
    with pytest.raises(ValueError, match="not two"):
        objects.guaranteed_update("a", only_two)


def a_strict_collection_is_written_in_the_selected_version_by_itself(client: synod.Client, name: str) -> None:
    group = f"{name}.example.io"
    resource = v1.GroupResource(group=group, resource="widgets")
    client.collections.create(
        resource=resource, kind="Widget", rules=v1.CollectionRules(strict_storage_version=True)
    )
    versions = (f"{group}/v1", f"{group}/v2")
    with client.join(name) as membership:
        entry = v1.ReportEntry(
            resource=resource,
            kind="Widget",
            decodable_versions=versions,
            served_versions=versions,
            preferred_version=versions[1],
        )
        membership.report([entry])
        objects = client.typed_objects(resource, synod.JSONCodec(*versions))
        assert objects.version == versions[0]
        stored = objects.create("a", {"size": 1})
        assert stored.object.content is not None
        assert stored.object.content.encoding_version == versions[1]
        assert objects.version == versions[1]


def what_cannot_be_decoded_says_so(client: synod.Client, name: str) -> None:
    resource = _collection(client, name)
    client.typed_objects(resource, synod.JSONCodec("v2")).create("a", {"size": 1})
    with pytest.raises(synod.NotDecodableError, match="stored in v2"):
        client.typed_objects(resource, synod.JSONCodec("v1")).get("a")
    with pytest.raises(synod.InvalidArgumentError, match="cannot be encoded"):
        client.typed_objects(resource, synod.JSONCodec("v1"), encode_in="v3").create("b", {})


def many_change_one_object_at_once_and_no_change_is_lost(replicas: Replicas, name: str) -> None:
    resource = v1.GroupResource(group=f"{name}.example.io", resource="widgets")

    def grow(draft: synod.Draft[Value]) -> None:
        draft.value["size"] += 1

    async def live() -> None:
        async with synod.AsyncClient(replicas.endpoints, timeout=60.0) as client:
            await client.collections.create(resource=resource, kind="Widget")
            objects = client.typed_objects(resource, synod.JSONCodec("v1"))
            await objects.create("a", {"size": 0})
            await asyncio.gather(*(objects.guaranteed_update("a", grow) for _ in range(10)))
            assert (await objects.get("a")).value == {"size": 10}
            assert [stored.value async for stored in objects.list()] == [{"size": 10}]

    asyncio.run(live())
