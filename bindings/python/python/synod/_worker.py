"""Carrying migrations out."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from synod import _synod, v1
from synod._objects import Codec
from synod._service import dumped, milliseconds
from synod._waiting import wait, wait_async

StoreErrorKind = Literal[
    "not_found", "conflict", "not_supported", "forbidden", "expired", "busy", "undecodable", "refused"
]
"""Why a store did not do what a worker asked; the worker knows what to do about each."""


class StoreError(Exception):
    """A store raises it to say why it did not do what a worker asked. Any other exception counts as `refused`."""

    def __init__(
        self,
        kind: StoreErrorKind,
        why: str = "",
        *,
        key: str | None = None,
        token: str | None = None,
        retry_after: float | None = None,
    ) -> None:
        """`key` is the object that is `undecodable`, `token` where an `expired` list goes on, and `retry_after` how many
        seconds a `busy` store asks for."""
        super().__init__(why or kind)
        self._said: dict[str, Any] = {
            "kind": kind,
            "why": why or None,
            "key": key,
            "token": token,
            "retryAfterMs": milliseconds(retry_after),
        }

    def _document(self) -> dict[str, Any]:
        return {key: value for key, value in self._said.items() if value is not None}


@dataclass(frozen=True)
class StorePage:
    """A page of objects of a store."""

    objects: Sequence[Any]
    """The objects, each whatever JSON can say: they are given to `rewrite`, and nobody else reads them."""
    next: str | None = None
    """Where the next page begins; `None` at the end."""
    remaining: int | None = None
    """How many objects there may be behind this page, if the store says so."""


class Store(Protocol):
    """A store whose objects a worker rewrites."""

    def list_page(self, migration: v1.Migration, token: str | None) -> StorePage:
        """The objects after `token`, a page of them; from the first one without it.

        All of them are rewritten, so leave out what is known to need no rewrite: what is in the target's version, and where
        everything is written anew (`migration.reason`), what is known to have been stored as a whole after the migration's
        start. A token is best the key of the last object: it is saved in the cluster, and comes back in another process, long
        after a snapshot that it names is gone. A list that can only begin anew is given up after a few times. A `conflict` of
        `rewrite` says that the object is done: who was faster has encoded it anew.
        """
        ...

    def rewrite(self, migration: v1.Migration, object: Any) -> None:
        """Writes an object as it is, in the target's encoding, and only if nobody has changed it since it was listed."""
        ...


class AsyncStore(Protocol):
    """A store whose objects a worker rewrites, in an event loop."""

    async def list_page(self, migration: v1.Migration, token: str | None) -> StorePage:
        """The objects after `token`, a page of them; from the first one without it.

        All of them are rewritten, so leave out what is known to need no rewrite: what is in the target's version, and where
        everything is written anew (`migration.reason`), what is known to have been stored as a whole after the migration's
        start. A token is best the key of the last object: it is saved in the cluster, and comes back in another process, long
        after a snapshot that it names is gone. A list that can only begin anew is given up after a few times. A `conflict` of
        `rewrite` says that the object is done: who was faster has encoded it anew.
        """
        ...

    async def rewrite(self, migration: v1.Migration, object: Any) -> None:
        """Writes an object as it is, in the target's encoding, and only if nobody has changed it since it was listed."""
        ...


@dataclass(frozen=True)
class Worked:
    """What became of a migration that was worked at."""

    end: Literal["completed", "failed", "lost"]
    """Every object is in the target's encoding; it was given up; or it is not this worker's any more."""
    failure: v1.MigrationFailure | None
    """Why it was given up."""
    assumptions: tuple[v1.Assumption, ...] = ()
    """What a completion rests on beside what is known; none: nothing."""


def worker_options(
    name: str,
    resources: Sequence[v1.GroupResource],
    *,
    own: bool,
    ttl: float | None,
    objects_per_second: int | None,
    objects_at_once: int | None = None,
    page_size: int | None = None,
) -> str:
    """How a worker works, as a document."""
    return dumped(
        {
            "worker": name,
            "resources": [resource.to_dict() for resource in resources],
            "store": "own" if own else None,
            "ttlMs": milliseconds(ttl),
            "objectsPerSecond": objects_per_second,
            "objectsAtOnce": objects_at_once,
            "pageSize": page_size,
        }
    )


def recoder(codec: Codec[Any]) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """What answers the tasks of a worker whose objects are in collections of the cluster."""

    def recoded(asked: dict[str, Any]) -> dict[str, Any]:
        object, version = v1.Object.from_dict(asked["recode"]["object"]), asked["recode"]["version"]
        metadata = object.metadata or v1.Metadata()
        key = v1.ObjectKey(resource=object.resource, namespace=metadata.namespace, name=metadata.name)
        try:
            value = codec.decode(key, object.content or v1.ObjectContent())
        except Exception as error:
            return {"undecodable": str(error) or repr(error)}
        try:
            return {"content": codec.encode(key, value, version).to_dict()}
        except Exception as error:
            return {"notEncodable": str(error) or repr(error)}

    return recoded


def _page(page: StorePage) -> dict[str, Any]:
    told = {"objects": list(page.objects), "next": page.next, "remaining": page.remaining}
    return {"page": {key: value for key, value in told.items() if value is not None}}


def _refused(error: Exception) -> dict[str, Any]:
    if isinstance(error, StoreError):
        return {"error": error._document()}
    return {"error": {"kind": "refused", "why": f"{type(error).__name__}: {error}"}}


def asker(store: Store) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """What answers the tasks of a worker by a store."""

    def answered(asked: dict[str, Any]) -> dict[str, Any]:
        try:
            if "list" in asked:
                listed = asked["list"]
                return _page(store.list_page(v1.Migration.from_dict(listed["migration"]), listed.get("token")))
            rewritten = asked["rewrite"]
            store.rewrite(v1.Migration.from_dict(rewritten["migration"]), rewritten["object"])
            return {"rewritten": True}
        except Exception as error:
            return _refused(error)

    return answered


def async_asker(store: AsyncStore) -> Callable[[dict[str, Any]], Awaitable[dict[str, Any]]]:
    """What answers the tasks of a worker by a store, in an event loop."""

    async def answered(asked: dict[str, Any]) -> dict[str, Any]:
        try:
            if "list" in asked:
                listed = asked["list"]
                migration = v1.Migration.from_dict(listed["migration"])
                return _page(await store.list_page(migration, listed.get("token")))
            rewritten = asked["rewrite"]
            await store.rewrite(v1.Migration.from_dict(rewritten["migration"]), rewritten["object"])
            return {"rewritten": True}
        except Exception as error:
            return _refused(error)

    return answered


class _AnyWorker:
    """What both kinds of workers have in common."""

    def __init__(self, worker: _synod.Worker) -> None:
        self._worker = worker

    def close(self) -> None:
        """Stops the worker. What it was at is taken up by another when its claim has ended."""
        self._worker.close()


def _worked(text: str | None) -> Worked | None:
    told: dict[str, Any] = json.loads(text) if text else {}
    if "worked" not in told:
        return None
    failure = told.get("failure")
    return Worked(
        told["worked"],
        None if failure is None else v1.MigrationFailure.from_dict(failure),
        tuple(v1.Assumption.from_dict(assumed) for assumed in told.get("assumptions", ())),
    )


class Worker(_AnyWorker):
    """Carries migrations out: claims them, rewrites every object page by page, and says how far it is. For threads."""

    def __init__(self, worker: _synod.Worker, answer: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
        super().__init__(worker)
        self._answer = answer

    def run(self) -> None:
        """Works at every migration of its resources, those of today and those to come, until it is closed."""
        self._work(None)

    def run_one(self, name: str) -> Worked | None:
        """Works at the migration of this name; `None` if it is not to be had now."""
        return _worked(self._work(name))

    def _work(self, name: str | None) -> str | None:
        work = self._worker.work(name)
        while True:
            step = wait(work.next())
            if not isinstance(step, _synod.Task):
                return step
            step.answer(json.dumps(self._answer(json.loads(step.document()))))


class AsyncWorker(_AnyWorker):
    """Carries migrations out: claims them, rewrites every object page by page, and says how far it is. For event loops."""

    def __init__(
        self, worker: _synod.Worker, answer: Callable[[dict[str, Any]], Awaitable[dict[str, Any]]]
    ) -> None:
        super().__init__(worker)
        self._answer = answer

    async def run(self) -> None:
        """Works at every migration of its resources, those of today and those to come, until it is closed."""
        await self._work(None)

    async def run_one(self, name: str) -> Worked | None:
        """Works at the migration of this name; `None` if it is not to be had now."""
        return _worked(await self._work(name))

    async def _work(self, name: str | None) -> str | None:
        work = self._worker.work(name)
        while True:
            step = await wait_async(work.next())
            if not isinstance(step, _synod.Task):
                return step
            step.answer(json.dumps(await self._answer(json.loads(step.document()))))


def async_recoder(codec: Codec[Any]) -> Callable[[dict[str, Any]], Awaitable[dict[str, Any]]]:
    """As `recoder`, in an event loop."""
    recoded = recoder(codec)

    async def answered(asked: dict[str, Any]) -> dict[str, Any]:
        return recoded(asked)

    return answered
