"""Fences in a server's own store: no write that comes too late undoes a migration.

A server asks Synod's gate in which version to encode, and then calls its store. A call that is held up for longer than
`write_grace` may land behind a migration worker and put an old version back, where nobody looks for one. A store that compares
and writes in one step keeps that out. Beside the objects of a resource it holds a fence key; the worker raises it to the
agreement of its migration before it lists, and every write of a server compares it.

`KeyStore` is what a store has to do, and `Etcd` is one. `FencedWriter` is the server's side, and `FencedObjects`, with a
`Recoder`, the worker's:

```python
from synod import fence

etcd = fence.Etcd("http://127.0.0.1:2379")
with client.fence_guard(membership.id) as guard:
    writer = fence.FencedWriter(guard, etcd, "/fences/")
    writer.update(membership.gate, widgets, "/objects/widgets/one", lambda object, encoding: encode(encoding))

worker = client.fenced_worker("worker", [widgets], fence.FencedObjects(etcd, Widgets(), "/fences/"))
worker.run()
```

What starts with `Async` is for event loops. A delete leaves no old version behind, so it needs no fence.
"""

from __future__ import annotations

import asyncio
import time
from base64 import b64decode, b64encode
from collections.abc import Awaitable, Callable, Generator
from typing import Any, Generic, Protocol, TypeVar

from synod import v1
from synod._errors import ConflictError, SynodError
from synod._etcd import AsyncEtcd, Etcd
from synod._key_store import (
    AsyncKeyStore,
    Condition,
    Fault,
    Holds,
    KeyStore,
    NotExecuted,
    Page,
    Pair,
    Refused,
    Unknown,
    WrittenAt,
)
from synod._membership import AsyncGate, FenceGuard, Gate, Permit
from synod._worker import StoreError, StorePage

__all__ = [
    "AsyncEtcd",
    "AsyncFencedObjects",
    "AsyncFencedWriter",
    "AsyncKeyStore",
    "Change",
    "Condition",
    "Etcd",
    "Fault",
    "FencedObjects",
    "FencedWriter",
    "Holds",
    "KeyStore",
    "NotExecuted",
    "Page",
    "Pair",
    "Recoder",
    "Refused",
    "Unknown",
    "WrittenAt",
]

T = TypeVar("T")
S = TypeVar("S", bound="KeyStore | AsyncKeyStore")

Change = Callable[["Pair | None", str], bytes]
"""What makes the new value of a key, in the version that is named, of its present one: `None` if there is none."""

# What is made of several calls is written once, as a generator that yields the calls and is sent their answers.
_Asks = Generator[Callable[[], Any], Any, T]

_PAUSE = 0.02
"""How long to wait for what a moment brings, in seconds: a newer agreement, or a new permit."""


def _run(asks: _Asks[T]) -> T:
    """Makes the calls one after the other, in this thread."""
    try:
        ask = next(asks)
        while True:
            try:
                answer = ask()
            except BaseException as error:
                ask = asks.throw(error)
            else:
                ask = asks.send(answer)
    except StopIteration as done:
        result: T = done.value
        return result


async def _run_async(asks: _Asks[Any]) -> Any:
    """Makes the calls one after the other, in the running loop."""
    try:
        ask: Callable[[], Awaitable[Any]] = next(asks)
        while True:
            try:
                answer = await ask()
            except BaseException as error:
                ask = asks.throw(error)
            else:
                ask = asks.send(answer)
    except StopIteration as done:
        return done.value


class _Fences(Generic[S]):
    """A store, and where the fences of its resources are in it."""

    def __init__(self, store: S, prefix: str) -> None:
        self._store = store
        self._prefix = prefix

    def _fence_key(self, resource: v1.GroupResource) -> str:
        group = f".{resource.group}" if resource.group else ""
        return f"{self._prefix}{resource.resource}{group}"

    def _reading(self, resource: v1.GroupResource) -> _Asks[bytes | None]:
        pair: Pair | None = yield lambda: self._store.get(self._fence_key(resource))
        return None if pair is None else pair.value

    def _unchanged(self, resource: v1.GroupResource, present: bytes | None) -> Condition:
        key = self._fence_key(resource)
        return WrittenAt(key, 0) if present is None else Holds(key, present)


class _AnyFencedWriter(_Fences[S]):
    """What both kinds of writers have in common."""

    def __init__(self, guard: FenceGuard, store: S, fences: str) -> None:
        """`fences` is what the keys of the fences begin with, and no key of an object."""
        super().__init__(store, fences)
        self._guard = guard
        # The fences as they were read last, one of each resource. An old one makes a write fail that could have landed, or
        # does not pass the check, and is then read again.
        self._seen: dict[str, bytes | None] = {}

    def _fence(self, resource: v1.GroupResource) -> _Asks[bytes | None]:
        fence = yield from self._reading(resource)
        self._seen[self._fence_key(resource)] = fence
        return fence

    def _writing(self, permit: Permit, key: str, revision: int, value: bytes) -> _Asks[bool]:
        resource = permit.resource
        try:
            fence = yield from self._checked(permit)
        except BaseException:
            # It was never sent.
            permit.done()
            raise
        conditions = (WrittenAt(key, revision), self._unchanged(resource, fence))
        try:
            stored: bool = yield lambda: self._store.put_if(conditions, key, value)
        except (NotExecuted, Refused):
            permit.done()
            raise
        except BaseException:
            permit.unknown_outcome()
            raise
        permit.done()
        if not stored and (yield from self._fence(resource)) != fence:
            what = self._fence_key(resource)
            raise NotExecuted(f"a migration has moved the fence {what} since it was read")
        return stored

    def _checked(self, permit: Permit) -> _Asks[bytes | None]:
        """The fence, which lets the write pass."""
        name = self._fence_key(permit.resource)
        if name in self._seen:
            fence = self._seen[name]
            try:
                self._check(permit, fence)
                return fence
            except Fault:
                # What keeps the write out may have been mended since it was read.
                pass
        fence = yield from self._fence(permit.resource)
        self._check(permit, fence)
        return fence

    def _check(self, permit: Permit, fence: bytes | None) -> None:
        try:
            self._guard.check(permit, fence)
            permit.check()
        except ConflictError as error:
            # The fence is of another cluster or resource: only an operator can mend that.
            raise Refused(error.message) from error
        except SynodError as error:
            raise NotExecuted(error.message) from error

    def _updating(
        self,
        resource: v1.GroupResource,
        key: str,
        change: Change,
        limit: float,
        permit_within: Callable[[float], Any],
        sleep: Callable[[float], Any],
    ) -> _Asks[None]:
        deadline = time.monotonic() + limit
        while True:
            try:
                permit: Permit = yield lambda: permit_within(max(0.0, deadline - time.monotonic()))
            except SynodError as error:
                raise NotExecuted(error.message) from error
            try:
                pair: Pair | None = yield lambda: self._store.get(key)
                value = change(pair, permit.encoding)
            except BaseException:
                permit.done()
                raise
            try:
                revision = 0 if pair is None else pair.revision
                if (yield from self._writing(permit, key, revision, value)):
                    return
                pause = 0.0
            except NotExecuted as error:
                pause = _PAUSE if error.retry_after is None else error.retry_after
            if time.monotonic() + pause >= deadline:
                raise NotExecuted(f"{key} could not be written within {limit} s")
            yield lambda: sleep(pause)


class FencedWriter(_AnyFencedWriter[KeyStore]):
    """Writes the objects of a server, each on condition that the fence of its resource lets the server write. For
    threads."""

    def update(
        self, gate: Gate, resource: v1.GroupResource, key: str, change: Change, *, limit: float = 10.0
    ) -> None:
        """Changes an object, or creates it, until it is stored: takes a permit, reads the object, encodes what `change` makes
        of it in the version that the permit names, and writes. All of it again if somebody was faster, or if a migration has
        moved the fence, for at most `limit` seconds.

        Raises `NotExecuted` if the limit is over or the store does not answer, `Refused` if the store or the fence keeps the
        write out for good, and `Unknown` if it may still land.
        """

        def permit_within(wait_for: float) -> Permit:
            return gate.permit(resource, wait_for=wait_for)

        _run(self._updating(resource, key, change, limit, permit_within, time.sleep))

    def write(self, permit: Permit, key: str, revision: int, value: bytes) -> bool:
        """Writes an object that was encoded in the version of its permit, if it is still as it was read: `revision` is that of
        its `Pair`, and 0 for an object that is not there. Answers false if somebody has changed it since. The permit is
        given back, by what came of the write.

        Raises `NotExecuted` if a new permit has to be taken: the store was migrated under an agreement that this server has
        not seen yet, or the permit is void, or the store did not take the write; `Refused` and `Unknown` as `update`.
        """
        return _run(self._writing(permit, key, revision, value))


class AsyncFencedWriter(_AnyFencedWriter[AsyncKeyStore]):
    """Writes the objects of a server, each on condition that the fence of its resource lets the server write. For event
    loops."""

    async def update(
        self, gate: AsyncGate, resource: v1.GroupResource, key: str, change: Change, *, limit: float = 10.0
    ) -> None:
        """As `FencedWriter.update`."""

        async def permit_within(wait_for: float) -> Permit:
            return await gate.permit(resource, wait_for=wait_for)

        await _run_async(self._updating(resource, key, change, limit, permit_within, asyncio.sleep))

    async def write(self, permit: Permit, key: str, revision: int, value: bytes) -> bool:
        """As `FencedWriter.write`."""
        return bool(await _run_async(self._writing(permit, key, revision, value)))


class Recoder(Protocol):
    """Where the objects of a program are, and how they are encoded anew."""

    def prefix(self, resource: v1.GroupResource) -> str:
        """What the keys of a resource's objects begin with, and no other key."""
        ...

    def recode(self, migration: v1.Migration, object: Pair) -> bytes | None:
        """An object in the encoding that the migration wants; `None` if it needs no rewrite. If everything is written anew
        (`migration.reason`), an object in that encoding needs one, too. Raises anything if it cannot be decoded: the worker
        goes on with the others, and the migration fails in the end."""
        ...


class _AnyFencedObjects(_Fences[S]):
    """What both kinds of objects have in common."""

    def __init__(self, store: S, recoder: Recoder, fences: str, *, page_size: int = 100) -> None:
        """`fences` is what the keys of the fences begin with: as the `FencedWriter`s of the servers have it. `page_size` is
        how many objects are read at once."""
        super().__init__(store, fences)
        self._recoder = recoder
        self._page_size = page_size

    def _raising(self, resource: v1.GroupResource, present: bytes | None, fence: bytes) -> _Asks[bool]:
        key, unchanged = self._fence_key(resource), self._unchanged(resource, present)
        written: bool = yield lambda: self._store.put_if((unchanged,), key, fence)
        return written

    def _listing(self, migration: v1.Migration, token: str | None) -> _Asks[StorePage]:
        prefix = self._recoder.prefix(_resource(migration))
        page: Page = yield lambda: self._store.list(prefix, token, self._page_size)
        objects = [
            {"key": pair.key, "value": b64encode(pair.value).decode(), "revision": pair.revision}
            for pair in page.pairs
        ]
        return StorePage(objects, next=page.pairs[-1].key if page.more else None)

    def _rewriting(self, migration: v1.Migration, object: Any, fence: bytes) -> _Asks[None]:
        pair = Pair(object["key"], b64decode(object["value"]), object["revision"])
        try:
            value = self._recoder.recode(migration, pair)
        except Exception as error:
            raise StoreError("undecodable", str(error) or repr(error), key=pair.key) from error
        if value is None:
            return
        resource = _resource(migration)
        conditions = (WrittenAt(pair.key, pair.revision), self._unchanged(resource, fence))
        encoded = value
        if (yield lambda: self._store.put_if(conditions, pair.key, encoded)):
            return
        if (yield from self._reading(resource)) == fence:
            raise StoreError("conflict")
        raise StoreError("refused", "somebody has raised the fence: this migration is over")

    def _for_a_worker(self, asks: _Asks[T]) -> _Asks[T]:
        """The same, with the faults of the store as a worker knows them. What may have been executed may be asked again, too:
        all writes here have conditions, so the second one finds what the first has done."""
        try:
            return (yield from asks)
        except NotExecuted as error:
            raise StoreError("busy", str(error), retry_after=error.retry_after) from error
        except Unknown as error:
            raise StoreError("busy", str(error)) from error
        except Refused as error:
            raise StoreError("refused", str(error)) from error


class FencedObjects(_AnyFencedObjects[KeyStore]):
    """The objects of a `KeyStore`, for `Client.fenced_worker`."""

    def read_fence(self, resource: v1.GroupResource) -> bytes | None:
        """The content of a resource's fence key."""
        return _run(self._for_a_worker(self._reading(resource)))

    def write_fence(self, resource: v1.GroupResource, present: bytes | None, fence: bytes) -> bool:
        """Writes the fence key if it holds `present`."""
        return _run(self._for_a_worker(self._raising(resource, present, fence)))

    def list_page(self, migration: v1.Migration, token: str | None) -> StorePage:
        """A page of objects."""
        return _run(self._for_a_worker(self._listing(migration, token)))

    def rewrite(self, migration: v1.Migration, object: Any, fence: bytes) -> None:
        """Writes an object in the target's encoding, if the fence key holds `fence`."""
        _run(self._for_a_worker(self._rewriting(migration, object, fence)))


class AsyncFencedObjects(_AnyFencedObjects[AsyncKeyStore]):
    """The objects of an `AsyncKeyStore`, for `AsyncClient.fenced_worker`."""

    async def read_fence(self, resource: v1.GroupResource) -> bytes | None:
        """The content of a resource's fence key."""
        fence: bytes | None = await _run_async(self._for_a_worker(self._reading(resource)))
        return fence

    async def write_fence(self, resource: v1.GroupResource, present: bytes | None, fence: bytes) -> bool:
        """Writes the fence key if it holds `present`."""
        return bool(await _run_async(self._for_a_worker(self._raising(resource, present, fence))))

    async def list_page(self, migration: v1.Migration, token: str | None) -> StorePage:
        """A page of objects."""
        page: StorePage = await _run_async(self._for_a_worker(self._listing(migration, token)))
        return page

    async def rewrite(self, migration: v1.Migration, object: Any, fence: bytes) -> None:
        """Writes an object in the target's encoding, if the fence key holds `fence`."""
        await _run_async(self._for_a_worker(self._rewriting(migration, object, fence)))


def _resource(migration: v1.Migration) -> v1.GroupResource:
    return migration.resource or v1.GroupResource()
