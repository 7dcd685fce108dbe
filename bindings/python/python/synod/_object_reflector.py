"""The objects of a collection, in memory and up to date."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Lock
from types import TracebackType
from typing import Any, Generic, TypeVar

from synod import _synod, v1
from synod._service import dumped
from synod._stored import Stored
from synod._waiting import wait, wait_async

T = TypeVar("T")

Name = tuple[str, str]
"""A namespace, empty for an object without one, and a name."""


def object_reflector_options(
    resource: v1.GroupResource, namespaces: Sequence[str], label_selector: str, field_selector: str
) -> str:
    """Which objects to follow, as a document."""
    return dumped(
        {
            "resource": resource.to_dict(),
            "namespaces": list(namespaces),
            "labelSelector": label_selector or None,
            "fieldSelector": field_selector or None,
        }
    )


@dataclass(frozen=True)
class Snapshot(Generic[T]):
    """All objects of a cache at one revision."""

    revision: int
    """The revision."""
    objects: tuple[Stored[T], ...]
    """The objects, ordered by namespace and name."""


class _Row(Generic[T]):
    """An object of the cache: as it came, and once somebody has asked for it, as it was decoded."""

    __slots__ = ("object", "stored")

    def __init__(self, object: v1.Object) -> None:
        self.object = object
        self.stored: Stored[T] | None = None


class _AnyObjectReflector(Generic[T]):
    """What both kinds of caches have in common. Reading waits for nobody, and any number of threads may read.

    An object is decoded when it is first asked for, and once for each change of it, so readers share its value: do not
    change it in place. It takes the memory of the objects that it follows, and of the last change of each since somebody
    looked.
    """

    def __init__(self, reflector: _synod.ObjectReflector, decode: Callable[[v1.Object], Stored[T]]) -> None:
        self._reflector = reflector
        self._decode = decode
        self._lock = Lock()
        self._rows: dict[Name, _Row[T]] = {}
        self._revision = 0
        # Why a change could not be taken over: what the cache has is of no revision.
        self._broken: BaseException | None = None

    @property
    def revision(self) -> int:
        """The revision that the cache shows: all of it, and nothing else."""
        return self._reflector.revision()

    def get(self, name: str, *, namespace: str = "") -> Stored[T] | None:
        """One object; `None` if there is none. Raises `NotDecodableError` if the codec cannot decode it."""
        with self._lock:
            self._pull()
            row = self._rows.get((namespace, name))
        return None if row is None else self._stored(row)

    def snapshot(self) -> Snapshot[T]:
        """All objects, at one revision. Raises `NotDecodableError` if the codec cannot decode one of them."""
        with self._lock:
            self._pull()
            revision = self._revision
            rows = [row for _, row in sorted(self._rows.items())]
        return Snapshot(revision, tuple(self._stored(row) for row in rows))

    def list(self) -> tuple[Stored[T], ...]:
        """All objects, ordered by namespace and name, as of one revision."""
        return self.snapshot().objects

    def close(self) -> None:
        """Follows the cluster no longer."""
        self._reflector.close()

    def _stored(self, row: _Row[T]) -> Stored[T]:
        # Two threads may decode the same object at once; either value will do.
        if row.stored is None:
            row.stored = self._decode(row.object)
        return row.stored

    def _pull(self) -> None:
        """Takes over what has changed, all of one revision or nothing. The caller holds the lock."""
        if self._broken is not None:
            raise RuntimeError("this cache lacks a change that could not be taken over") from self._broken
        revision, text = self._reflector.pull()
        try:
            self._take_over(text)
        except BaseException as error:
            # It is not told again. An interrupt may come in between, too.
            self._broken = error
            self.close()
            raise
        self._revision = revision

    def _take_over(self, text: str | None) -> None:
        if text is None:
            return
        told: dict[str, Any] = json.loads(text)
        rows: dict[Name, _Row[T]] = {}
        for each in told["changed"]:
            object = v1.Object.from_dict(each)
            metadata = object.metadata or v1.Metadata()
            rows[metadata.namespace, metadata.name] = _Row(object)
        for gone in told["gone"]:
            self._rows.pop((gone["namespace"], gone["name"]), None)
        self._rows.update(rows)


class ObjectReflector(_AnyObjectReflector[T]):
    """Objects of one collection as values, kept in memory and up to date by a watch. For threads.

    It always shows one revision as a whole, and may be behind the cluster: `reached` waits for a revision, such as that of
    one's own write. `Objects.guaranteed_update` may begin with an object from it. Lost connections and replicas, and a
    history that is gone, are made good by a list; nothing of that can be seen here.
    """

    def changed(self, since: int) -> int:
        """Waits until the revision is after `since`, and answers it."""
        return wait(self._reflector.changed(since))

    def reached(self, revision: int, limit: float) -> None:
        """Waits until the cache shows this revision or a later one, at most so many seconds."""
        wait(self._reflector.reached(revision, limit))

    def __enter__(self) -> ObjectReflector[T]:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class AsyncObjectReflector(_AnyObjectReflector[T]):
    """Objects of one collection as values, kept in memory and up to date by a watch. For event loops.

    It always shows one revision as a whole, and may be behind the cluster: `reached` waits for a revision, such as that of
    one's own write. `AsyncObjects.guaranteed_update` may begin with an object from it. Lost connections and replicas, and a
    history that is gone, are made good by a list; nothing of that can be seen here.
    """

    async def changed(self, since: int) -> int:
        """Waits until the revision is after `since`, and answers it."""
        return await wait_async(self._reflector.changed(since))

    async def reached(self, revision: int, limit: float) -> None:
        """Waits until the cache shows this revision or a later one, at most so many seconds."""
        await wait_async(self._reflector.reached(revision, limit))

    async def __aenter__(self) -> AsyncObjectReflector[T]:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
