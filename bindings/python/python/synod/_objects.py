"""The objects of a collection as values."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from synod import _synod, v1
from synod._errors import InvalidArgumentError, NotDecodableError
from synod._object_reflector import (
    AsyncObjectReflector,
    ObjectReflector,
    object_reflector_options,
)
from synod._service import AsyncService, Service, dumped, milliseconds
from synod._stored import Stored
from synod._waiting import Flow, run, run_async, wait, wait_async

T = TypeVar("T")


class Codec(Protocol[T]):
    """Encodes the values of one collection, in each of its versions, and decodes them. It may also compress and encrypt:
    what it makes is all that the cluster ever sees."""

    def preferred(self) -> str:
        """The version to begin with, while nobody has said which one is selected."""
        ...

    def encode(self, key: v1.ObjectKey, value: T, version: str) -> v1.ObjectContent:
        """The value in this version. Raises anything if it has no form in it, or the version is not known here."""
        ...

    def decode(self, key: v1.ObjectKey, content: v1.ObjectContent) -> T:
        """The value that was encoded, in whichever version that was. Raises anything if that is not known here."""
        ...

    def is_same(self, one: v1.ObjectContent, other: v1.ObjectContent) -> bool:
        """Whether two contents are the same to a reader, in version as in value: for most codecs, `one == other`."""
        ...


class JSONCodec:
    """Encodes dictionaries as JSON documents, whose `apiVersion` is the version. They have the same form in each version
    but for that; a program whose versions differ has a codec of its own."""

    def __init__(self, *versions: str) -> None:
        """The versions that are known; the first one is the one to begin with."""
        self._versions = versions

    def preferred(self) -> str:
        """The version to begin with."""
        return self._versions[0]

    def encode(self, key: v1.ObjectKey, value: dict[str, Any], version: str) -> v1.ObjectContent:
        """The dictionary as JSON, with its version."""
        self._know(version)
        text = json.dumps({"apiVersion": version, **value}, sort_keys=True, separators=(",", ":"))
        return v1.ObjectContent(encoding_version=version, media_type="application/json", data=text.encode())

    def decode(self, key: v1.ObjectKey, content: v1.ObjectContent) -> dict[str, Any]:
        """The dictionary, without its version."""
        self._know(content.encoding_version)
        value: dict[str, Any] = json.loads(content.data)
        value.pop("apiVersion", None)
        return value

    def is_same(self, one: v1.ObjectContent, other: v1.ObjectContent) -> bool:
        """Whether they are the same, byte for byte."""
        return one == other

    def _know(self, version: str) -> None:
        if version not in self._versions:
            raise ValueError(f"the version {version} is none of {', '.join(self._versions)}")


@dataclass(frozen=True)
class Updated(Generic[T]):
    """An object after a change."""

    stored: Stored[T]
    """The object as it is now."""
    changed: bool
    """Whether the change changed anything."""
    deleted: bool
    """Whether it is gone: its last finalizer was removed."""


@dataclass
class Draft(Generic[T]):
    """What a change works on, to be changed in place."""

    value: T
    """The value."""
    attributes: v1.ObjectAttributes
    """What is said of it beside: replace it as a whole."""


Change = Callable[[Draft[T]], object]
"""What changes a draft in place."""


def objects_options(
    codec: Codec[Any],
    encode_in: str | None,
    if_member: v1.MemberEpoch | None,
    if_lease: v1.LeaseToken | None,
) -> str:
    """The objects of a collection, as a document."""
    return dumped(
        {
            "encodeIn": encode_in or codec.preferred(),
            "ifMember": None if if_member is None else if_member.to_dict(),
            "ifLease": None if if_lease is None else if_lease.to_dict(),
        }
    )


class _AnyObjects(Generic[T]):
    """What both kinds of objects have in common."""

    def __init__(
        self, client: _synod.Client, resource: v1.GroupResource, codec: Codec[T], options: str
    ) -> None:
        self._client = client
        self._objects = client.objects(options)
        self._resource = resource
        self._codec = codec

    @property
    def version(self) -> str:
        """The version that the next write is encoded in."""
        return self._objects.version()

    def encode_in(self, version: str) -> None:
        """Encodes from now on in this version: the one that a permit of the gate names, say."""
        self._objects.encode_in(version)

    def _key(self, name: str, namespace: str) -> v1.ObjectKey:
        return v1.ObjectKey(resource=self._resource, namespace=namespace, name=name)

    def _decode(self, object: v1.Object | None) -> Stored[T]:
        object = object or v1.Object()
        metadata = object.metadata or v1.Metadata()
        content = object.content or v1.ObjectContent()
        key = self._key(metadata.name, metadata.namespace)
        try:
            value = self._codec.decode(key, content)
        except Exception as error:
            message = f"{_named(key)} is stored in {content.encoding_version} and cannot be decoded: {error}"
            raise NotDecodableError(message) from error
        return Stored(object, value)

    def _encode(self, key: v1.ObjectKey, value: T, version: str) -> v1.ObjectContent:
        try:
            return self._codec.encode(key, value, version)
        except Exception as error:
            raise InvalidArgumentError(f"{_named(key)} cannot be encoded in {version}: {error}") from error

    def _creating(
        self, key: v1.ObjectKey, value: T, attributes: v1.ObjectAttributes | None, ttl: float | None
    ) -> Flow[Stored[T]]:
        options = {
            "key": key.to_dict(),
            "attributes": None if attributes is None else attributes.to_dict(),
            "ttlMs": milliseconds(ttl),
        }
        creator = self._objects.creator(dumped(options))
        while True:
            content = self._encode(key, value, (yield creator.version()))
            text = yield creator.write(content.to_json())
            if text is not None:
                return Stored(v1.Object.from_json(text), value)

    def _updating(self, key: v1.ObjectKey, change: Change[T], cached: Stored[T] | None) -> Flow[Updated[T]]:
        updater = self._objects.updater(key.to_json(), None if cached is None else cached.object.to_json())
        told = yield updater.begin()
        while True:
            object, version, changed, deleted = told
            base = self._decode(v1.Object.from_json(object))
            draft = Draft(base.value, _attributes(base.object))
            try:
                change(draft)
            except Exception:
                told = yield updater.failed()
                if told is None:
                    raise
                continue
            content = self._encode(key, draft.value, version)
            same = base.object.content is not None and self._codec.is_same(base.object.content, content)
            told = yield updater.write(draft.attributes.to_json(), content.to_json(), same)
            object, version, changed, deleted = told
            if version is None:
                return Updated(Stored(v1.Object.from_json(object), draft.value), changed, deleted)


def _named(key: v1.ObjectKey) -> str:
    resource = key.resource or v1.GroupResource()
    return "/".join(part for part in (f"{resource.resource}.{resource.group}", key.namespace, key.name) if part)


def _attributes(object: v1.Object) -> v1.ObjectAttributes:
    metadata = object.metadata or v1.Metadata()
    return v1.ObjectAttributes(
        labels=metadata.labels,
        annotations=metadata.annotations,
        owner_references=metadata.owner_references,
        finalizers=metadata.finalizers,
    )


class Objects(_AnyObjects[T]):
    """The objects of one collection, as values of one type. For threads.

    In a strict collection everything is stored in the selected version. A write in another one is encoded in that one and
    sent again, all by itself.
    """

    def get(self, name: str, *, namespace: str = "", read: v1.ReadOptions | None = None) -> Stored[T]:
        """Reads one object."""
        request = v1.ObjectsGetRequest(key=self._key(name, namespace), read=read)
        text = wait(self._client.call("synod.v1.Objects/Get", request.to_json(), None))
        return self._decode(v1.ObjectsGetResponse.from_json(text).object)

    def list(self, *, namespace: str = "", label_selector: str = "") -> Iterator[Stored[T]]:
        """Reads objects, one after the other, all at one revision."""
        request = v1.ObjectsListRequest(
            resource=self._resource, namespace=namespace, label_selector=label_selector
        )
        pages = Service(self._client)._pages(
            "synod.v1.Objects/List", request, v1.ObjectsListResponse, v1.ObjectListItem, None
        )
        return (self._decode(item.object) for item in pages)

    def reflect(
        self, *, namespaces: Sequence[str] = (), label_selector: str = "", field_selector: str = ""
    ) -> ObjectReflector[T]:
        """Keeps the objects that are selected in memory, up to date; all of them without a selector. Answers once they are
        there."""
        options = object_reflector_options(self._resource, namespaces, label_selector, field_selector)
        return ObjectReflector(wait(self._client.reflect_objects(options)), self._decode)

    def create(
        self,
        name: str,
        value: T,
        *,
        namespace: str = "",
        attributes: v1.ObjectAttributes | None = None,
        ttl: float | None = None,
    ) -> Stored[T]:
        """Stores a new object, to live for `ttl` seconds or until it is deleted."""
        return run(self._creating(self._key(name, namespace), value, attributes, ttl))

    def guaranteed_update(
        self, name: str, change: Change[T], *, namespace: str = "", cached: Stored[T] | None = None
    ) -> Updated[T]:
        """Changes an object: applies `change` to a draft of it and stores what comes of it, and if somebody else was faster,
        does so again with what the object is then.

        It begins with `cached`, if that is given, and else reads. Nothing is written if `change` changes nothing, but that
        is believed only of an object that was not from a cache. If `change` raises on a cached object, it gets another
        chance on the present one.
        """
        return run(self._updating(self._key(name, namespace), change, cached))


class AsyncObjects(_AnyObjects[T]):
    """The objects of one collection, as values of one type. For event loops.

    In a strict collection everything is stored in the selected version. A write in another one is encoded in that one and
    sent again, all by itself.
    """

    async def get(self, name: str, *, namespace: str = "", read: v1.ReadOptions | None = None) -> Stored[T]:
        """Reads one object."""
        request = v1.ObjectsGetRequest(key=self._key(name, namespace), read=read)
        text = await wait_async(self._client.call("synod.v1.Objects/Get", request.to_json(), None))
        return self._decode(v1.ObjectsGetResponse.from_json(text).object)

    async def list(self, *, namespace: str = "", label_selector: str = "") -> AsyncIterator[Stored[T]]:
        """Reads objects, one after the other, all at one revision."""
        request = v1.ObjectsListRequest(
            resource=self._resource, namespace=namespace, label_selector=label_selector
        )
        pages = AsyncService(self._client)._pages(
            "synod.v1.Objects/List", request, v1.ObjectsListResponse, v1.ObjectListItem, None
        )
        async for item in pages:
            yield self._decode(item.object)

    async def reflect(
        self, *, namespaces: Sequence[str] = (), label_selector: str = "", field_selector: str = ""
    ) -> AsyncObjectReflector[T]:
        """Keeps the objects that are selected in memory, up to date; all of them without a selector. Answers once they are
        there."""
        options = object_reflector_options(self._resource, namespaces, label_selector, field_selector)
        return AsyncObjectReflector(await wait_async(self._client.reflect_objects(options)), self._decode)

    async def create(
        self,
        name: str,
        value: T,
        *,
        namespace: str = "",
        attributes: v1.ObjectAttributes | None = None,
        ttl: float | None = None,
    ) -> Stored[T]:
        """Stores a new object, to live for `ttl` seconds or until it is deleted."""
        return await run_async(self._creating(self._key(name, namespace), value, attributes, ttl))

    async def guaranteed_update(
        self, name: str, change: Change[T], *, namespace: str = "", cached: Stored[T] | None = None
    ) -> Updated[T]:
        """Changes an object: applies `change` to a draft of it and stores what comes of it, and if somebody else was faster,
        does so again with what the object is then.

        It begins with `cached`, if that is given, and else reads. Nothing is written if `change` changes nothing, but that
        is believed only of an object that was not from a cache. If `change` raises on a cached object, it gets another
        chance on the present one.
        """
        return await run_async(self._updating(self._key(name, namespace), change, cached))
