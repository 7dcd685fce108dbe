"""Carrying migrations out."""

from __future__ import annotations

import asyncio
import json
from base64 import b64decode, b64encode
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Semaphore
from types import TracebackType
from typing import Any, Literal, Protocol

from synod import _synod, v1
from synod._errors import SynodError
from synod._objects import Codec
from synod._service import dumped, milliseconds
from synod._waiting import wait, wait_async

Answer = Callable[[dict[str, Any]], dict[str, Any]]
"""What answers the tasks of a worker."""

AsyncAnswer = Callable[[dict[str, Any]], Awaitable[dict[str, Any]]]
"""What answers the tasks of a worker, in an event loop."""

StoreErrorKind = Literal[
    "not_found", "conflict", "not_supported", "forbidden", "expired", "busy", "undecodable", "not_ready", "refused"
]
"""Why a store did not do what a worker asked; the worker knows what to do about each. For `not_ready`, as of a server that
encodes another version still, it gives its claim back for another worker, and asks again later."""


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
    """A store whose objects a worker rewrites.

    A store may have an attribute `walks`, a `v1.Walk`, that says which objects it lists: `COLLECTION`, those of the resource's
    collection in the cluster; `OUTSIDE`, those stored outside of the cluster, as without the attribute; or `BOTH`. A migration
    whose objects may be in a place that the store does not list is left to a worker that lists more. Since 0.1.
    """

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
        """Writes an object as it is, in the target's encoding, and only if nobody has changed it since it was listed.

        A worker that is stopped gives its claim back without waiting for this: the write may land when another worker has the
        migration.
        """
        ...


class AsyncStore(Protocol):
    """A store whose objects a worker rewrites, in an event loop. It may have an attribute `walks`, as a `Store`."""

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
        """Writes an object as it is, in the target's encoding, and only if nobody has changed it since it was listed.

        A worker that is stopped gives its claim back without waiting for this: the write may land when another worker has the
        migration.
        """
        ...


class FencedStore(Protocol):
    """A store whose objects a worker rewrites, and that can write something on condition that a key still holds a value.

    Beside the objects of a resource it keeps a fence key, which the worker raises to the agreement of its migration before
    it lists, and which every write of a server compares (`FenceGuard`): so no write lands behind the worker, however late.
    `synod.fence` has one over etcd.
    """

    def read_fence(self, resource: v1.GroupResource) -> bytes | None:
        """The content of a resource's fence key; `None` if there is no such key."""
        ...

    def write_fence(self, resource: v1.GroupResource, present: bytes | None, fence: bytes) -> bool:
        """Writes the fence key if it holds `present`; for `None`, if there is no such key. Answers whether it did."""
        ...

    def list_page(self, migration: v1.Migration, token: str | None) -> StorePage:
        """As `Store.list_page`. It must not be answered from a state of the store that is older than the call."""
        ...

    def rewrite(self, migration: v1.Migration, object: Any, fence: bytes) -> None:
        """As `Store.rewrite`, but only if the fence key holds `fence`; raises `StoreError("refused")` if it holds another
        one."""
        ...


class AsyncFencedStore(Protocol):
    """As `FencedStore`, in an event loop."""

    async def read_fence(self, resource: v1.GroupResource) -> bytes | None:
        """The content of a resource's fence key; `None` if there is no such key."""
        ...

    async def write_fence(self, resource: v1.GroupResource, present: bytes | None, fence: bytes) -> bool:
        """Writes the fence key if it holds `present`; for `None`, if there is no such key. Answers whether it did."""
        ...

    async def list_page(self, migration: v1.Migration, token: str | None) -> StorePage:
        """As `AsyncStore.list_page`. It must not be answered from a state of the store that is older than the call."""
        ...

    async def rewrite(self, migration: v1.Migration, object: Any, fence: bytes) -> None:
        """As `AsyncStore.rewrite`, but only if the fence key holds `fence`; raises `StoreError("refused")` if it holds
        another one."""
        ...


@dataclass(frozen=True)
class Worked:
    """What became of a migration that was worked at."""

    end: Literal["completed", "failed", "released", "lost"]
    """Every object is in the target's encoding; it was given up; it was given back, for the next worker to go on where this
    one stood; or it is not this worker's any more."""
    failure: v1.MigrationFailure | None
    """Why it was given up."""
    assumptions: tuple[v1.Assumption, ...] = ()
    """What a completion rests on beside what is known; none: nothing."""
    why: str = ""
    """Why it was given back, for people."""


def worker_options(
    name: str,
    resources: Sequence[v1.GroupResource],
    *,
    store: Literal["own", "fenced"] | None,
    walks: v1.Walk | None = None,
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
            "store": store,
            "walks": None if walks is None else walks.value,
            "ttlMs": milliseconds(ttl),
            "objectsPerSecond": objects_per_second,
            "objectsAtOnce": objects_at_once,
            "pageSize": page_size,
        }
    )


def walks_of(store: Store | AsyncStore) -> v1.Walk | None:
    """The objects that a store lists, if it says so."""
    walks = getattr(store, "walks", None)
    if walks is None or isinstance(walks, v1.Walk):
        return walks
    raise TypeError(f"walks of a store must be a synod.v1.Walk, not {walks!r}")


def recoder(codec: Codec[Any]) -> Answer:
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


def asker(store: Store | FencedStore) -> Answer:
    """What answers the tasks of a worker by a store."""
    of_store: Any = store

    def answered(asked: dict[str, Any]) -> dict[str, Any]:
        question = _Question(asked)
        try:
            return question.answer(getattr(of_store, question.method)(*question.arguments))
        except Exception as error:
            return _refused(error)

    return answered


def async_asker(store: AsyncStore | AsyncFencedStore) -> AsyncAnswer:
    """What answers the tasks of a worker by a store, in an event loop."""
    of_store: Any = store

    async def answered(asked: dict[str, Any]) -> dict[str, Any]:
        question = _Question(asked)
        try:
            return question.answer(await getattr(of_store, question.method)(*question.arguments))
        except Exception as error:
            return _refused(error)

    return answered


class _Question:
    """What a worker asks a store: a method of it, with its arguments."""

    def __init__(self, asked: dict[str, Any]) -> None:
        ((kind, given),) = asked.items()
        self.method = _METHODS[kind]
        self.arguments: tuple[Any, ...]
        if kind == "list":
            self.arguments = (v1.Migration.from_dict(given["migration"]), given.get("token"))
        elif kind == "rewrite":
            fence = given.get("fence")
            self.arguments = (v1.Migration.from_dict(given["migration"]), given["object"])
            self.arguments += () if fence is None else (fence.encode(),)
        elif kind == "readFence":
            self.arguments = (v1.GroupResource.from_dict(given["resource"]),)
        else:
            present = given["present"]
            present = None if present is None else b64decode(present)
            self.arguments = (v1.GroupResource.from_dict(given["resource"]), present, given["fence"].encode())

    def answer(self, answer: Any) -> dict[str, Any]:
        """What the method answered, as a document."""
        if self.method == "list_page":
            return _page(answer)
        if self.method == "rewrite":
            return {"rewritten": True}
        if self.method == "read_fence":
            return {"fence": None if answer is None else b64encode(answer).decode()}
        return {"written": bool(answer)}


_METHODS = {"list": "list_page", "rewrite": "rewrite", "readFence": "read_fence", "writeFence": "write_fence"}


class _AnyWorker:
    """What both kinds of workers have in common."""

    def __init__(self, worker: _synod.Worker) -> None:
        self._worker = worker

    def close(self) -> None:
        """Stops the worker, as from another thread or the handler of a signal. What it was at is given back for another one to
        go on with, before `run` and `run_one` return: that takes a moment, and three seconds at most. A process that is killed
        gives nothing back, and its claim runs out."""
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
        told.get("why", ""),
    )


class Worker(_AnyWorker):
    """Carries migrations out: claims them, rewrites every object page by page, and says how far it is. For threads.

    A store is asked in the thread that called `run` or `run_one`, or with several objects at a time, in threads of the
    worker's own, as many as that. When a migration is aborted, nothing more is begun; what a store is at runs to its end,
    which `run_one` waits for, since a thread cannot be stopped: give its calls a deadline.
    """

    def __init__(self, worker: _synod.Worker, answer: Answer, at_once: int = 1) -> None:
        super().__init__(worker)
        self._answer = answer
        self._at_once = at_once

    def run(self) -> None:
        """Works at every migration of its resources, those of today and those to come, until it is closed."""
        self._work(None)

    def run_one(self, name: str) -> Worked | None:
        """Works at the migration of this name; `None` if it is not to be had now."""
        return _worked(self._work(name))

    def _work(self, name: str | None) -> str | None:
        work = self._worker.work(name)
        if self._at_once > 1:
            with _Threads(work, self._answer, self._at_once) as threads:
                return _served(work, threads.take)
        try:
            return _served(work, lambda task: _answer_to(task, self._answer))
        except BaseException:
            _let_go(work)
            raise


def _let_go(work: _synod.Work) -> None:
    """Stops the work, and waits until what it has claimed is given back. What it asks meanwhile is dropped."""
    work.stop()
    try:
        while not isinstance(wait(work.next()), tuple):
            pass
    except SynodError:
        # The claim runs out. Whoever is told of an exception is told of the one that ended the work.
        pass


async def _let_go_async(work: _synod.Work) -> None:
    """As `_let_go`, in an event loop."""
    work.stop()
    try:
        while not isinstance(await wait_async(work.next()), tuple):
            pass
    except SynodError:
        pass


def _served(work: _synod.Work, take: Callable[[_synod.Task], None]) -> str | None:
    """Hands every task on, and answers what became of the work."""
    while True:
        step = wait(work.next())
        if isinstance(step, tuple):
            return step[0]
        if step is not None:
            take(step)


def _answer_to(task: _synod.Task, answer: Answer) -> None:
    # One that was withdrawn while it waited is not begun.
    if task.is_wanted():
        task.answer(json.dumps(answer(json.loads(task.document()))))


class _Threads:
    """Answers several tasks at the same time, each in a thread. Used as a context manager, whose end waits for all."""

    def __init__(self, work: _synod.Work, answer: Answer, at_once: int) -> None:
        self._work = work
        self._answer = answer
        self._pool = ThreadPoolExecutor(at_once, thread_name_prefix="synod-worker")
        # Threads may still be at tasks that are not wanted any more: the next ones wait for them, and do not pile up.
        self._free = Semaphore(at_once)
        self._failed: list[BaseException] = []

    def take(self, task: _synod.Task) -> None:
        """Has a thread answer a task, as soon as one is free."""
        self._free.acquire()
        self._pool.submit(self._answered, task)

    def _answered(self, task: _synod.Task) -> None:
        try:
            _answer_to(task, self._answer)
        except BaseException as error:
            # The thread that waits for the work sees its end, and raises this.
            self._failed.append(error)
            self._work.stop()
        finally:
            self._free.release()

    def __enter__(self) -> _Threads:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # After an exception, such as that of Ctrl-C, the work is still under way.
        _let_go(self._work)
        self._pool.shutdown(wait=True, cancel_futures=True)
        if error is None and self._failed:
            raise self._failed[0]


class AsyncWorker(_AnyWorker):
    """Carries migrations out: claims them, rewrites every object page by page, and says how far it is. For event loops.

    With several objects at a time, each call of a store is a task of its own. Those that are under way when a migration is
    aborted are cancelled at once.
    """

    def __init__(self, worker: _synod.Worker, answer: AsyncAnswer, at_once: int = 1) -> None:
        super().__init__(worker)
        self._answer = answer
        self._at_once = at_once

    async def run(self) -> None:
        """Works at every migration of its resources, those of today and those to come, until it is closed."""
        await self._work(None)

    async def run_one(self, name: str) -> Worked | None:
        """Works at the migration of this name; `None` if it is not to be had now."""
        return _worked(await self._work(name))

    async def _work(self, name: str | None) -> str | None:
        work = self._worker.work(name)
        async with _Tasks(work, self._answer, self._at_once) as tasks:
            while True:
                step = await wait_async(work.next())
                if isinstance(step, tuple):
                    return step[0]
                if step is None:
                    tasks.withdraw()
                else:
                    await tasks.take(step)


class _Tasks:
    """Answers several tasks at the same time, each in a task of the loop. Used as a context manager, whose end waits for
    all."""

    def __init__(self, work: _synod.Work, answer: AsyncAnswer, at_once: int) -> None:
        self._work = work
        self._answer = answer
        # A task that is cancelled may take a while to end: the next ones wait for it, and do not pile up.
        self._free = asyncio.Semaphore(at_once)
        self._answering: dict[asyncio.Task[None], _synod.Task] = {}
        self._failed: list[BaseException] = []

    async def take(self, task: _synod.Task) -> None:
        """Begins to answer a task, as soon as there is room."""
        await self._free.acquire()
        answering = asyncio.ensure_future(self._answered(task))
        self._answering[answering] = task
        answering.add_done_callback(self._over)

    def withdraw(self) -> None:
        """Cancels what is not wanted any more."""
        for answering, task in self._answering.items():
            if not task.is_wanted():
                answering.cancel()

    async def _answered(self, task: _synod.Task) -> None:
        if task.is_wanted():
            task.answer(json.dumps(await self._answer(json.loads(task.document()))))

    def _over(self, answering: asyncio.Task[None]) -> None:
        del self._answering[answering]
        self._free.release()
        error = None if answering.cancelled() else answering.exception()
        if error is not None:
            # Who waits for the work sees its end, and raises this.
            self._failed.append(error)
            self._work.stop()

    async def __aenter__(self) -> _Tasks:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        under_way = list(self._answering)
        for answering in under_way:
            answering.cancel()
        await _let_go_async(self._work)
        await asyncio.gather(*under_way, return_exceptions=True)
        if error is None and self._failed:
            raise self._failed[0]


def async_recoder(codec: Codec[Any]) -> AsyncAnswer:
    """As `recoder`, in an event loop."""
    recoded = recoder(codec)

    async def answered(asked: dict[str, Any]) -> dict[str, Any]:
        return recoded(asked)

    return answered
