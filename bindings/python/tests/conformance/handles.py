"""The handles that cases open, and their functions, in this package's words."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import synod
from synod import v1

Document = Any
Function = Callable[[Document], Awaitable[Document]]


class Handle:
    """What lives longer than a call: its functions, by the names that cases call them by."""

    def __init__(self, it: Any, answer: Document = None, **functions: Function) -> None:
        self.it: Any = it
        self.answer = answer
        self.functions = functions

    async def call(self, function: str, given: Document) -> Document:
        """What a function answers: a document, or another handle."""
        return await self.functions[function](given)

    def close(self) -> None:
        """Drops it."""
        close = getattr(self.it, "close", None)
        if close is not None:
            close()
        self.it = None
        self.functions = {}


def error(raised: synod.SynodError) -> Document:
    """An error, as cases match it."""
    return {
        "code": raised.code,
        "message": raised.message,
        "execution": raised.execution,
        "retryable": raised.retryable,
        "violations": [{"field": each.field, "rule": each.rule} for each in raised.violations],
        "metadata": raised.metadata,
        "current": None if raised.current is None else raised.current.to_dict(),
        "requestKey": raised.request_key,
    }


def _seconds(given: Document, key: str) -> float | None:
    value = given.pop(key, None)
    return None if value is None else int(value) / 1000


def _done(given: Document) -> None:
    assert not given, f"these are not known: {given}"


def _resource(given: Document) -> v1.GroupResource:
    return v1.GroupResource.from_dict(given.pop("resource"))


async def opened(client: synod.AsyncClient, kind: str, given: Document) -> Handle:
    """Opens a handle."""
    given = dict(given)
    handle: Handle = await _OPEN[kind](client, given)
    _done(given)
    return handle


async def _membership(client: synod.AsyncClient, given: Document) -> Handle:
    equivalents = given.pop("equivalents", ())
    it = await client.join(
        given.pop("id"),
        ttl=_seconds(given, "ttlMs"),
        labels=given.pop("labels", None),
        version=given.pop("version", ""),
        endpoint=given.pop("endpoint", ""),
        permit_wait=_seconds(given, "permitWaitMs"),
        drain_limit=_seconds(given, "drainLimitMs"),
        equivalents=[[v1.GroupResource.from_dict(each) for each in one] for one in equivalents],
    )

    async def report(given: Document) -> Document:
        entries = [v1.ReportEntry.from_dict(entry) for entry in given.pop("entries")]
        return (await it.report(entries)).to_dict()

    async def report_change(given: Document) -> Document:
        return (await it.report_change(v1.ReportEntry.from_dict(given.pop("entry")))).to_dict()

    async def ready(given: Document) -> None:
        await it.ready()

    async def leave(given: Document) -> None:
        await it.leave(_seconds(given, "drainLimitMs") or 0.0)

    async def state(given: Document) -> Document:
        state = it.state
        epoch = None if state.epoch is None else str(state.epoch)
        return {
            "epoch": epoch,
            "proved": state.proved,
            "reported": state.reported,
            "ready": state.ready,
            "ended": state.ended,
        }

    async def ended(given: Document) -> Document:
        return {"ended": await it.ended()}

    async def permit(given: Document) -> Handle:
        return _permit(await it.gate.permit(_resource(given), wait_for=_seconds(given, "waitMs")))

    async def try_permit(given: Document) -> Handle:
        return _permit(it.gate.try_permit(_resource(given)))

    async def readiness(given: Document) -> Document:
        waits = it.gate.readiness()
        return {"ready": True} if waits is None else {"ready": False, "waitsFor": waits}

    async def is_drained(given: Document) -> Document:
        return {"drained": it.gate.is_drained()}

    async def discovery(given: Document) -> Document:
        shown = it.gate.discovery(_resource(given))
        return {"noConsensus": shown.no_consensus} if shown.hash is None else {"hash": shown.hash}

    async def admit(given: Document) -> Document:
        others = [v1.GroupResource.from_dict(each) for each in given.pop("notStored", ())]
        admission = await it.gate.admit(given.pop("method"), given.pop("uri"), not_stored=others)
        if admission.permit is not None:
            admission.permit.done()
        return {"pass": True} if admission.status is None else {"pass": False, "status": admission.status}

    return Handle(
        it,
        report=report,
        report_change=report_change,
        ready=ready,
        leave=leave,
        state=state,
        ended=ended,
        permit=permit,
        try_permit=try_permit,
        readiness=readiness,
        is_drained=is_drained,
        discovery=discovery,
        admit=admit,
    )


def _permit(it: synod.Permit) -> Handle:
    async def check(given: Document) -> None:
        it.check()

    async def done(given: Document) -> None:
        it.done()

    async def unknown_outcome(given: Document) -> None:
        it.unknown_outcome()

    answer = {
        "resource": it.resource.to_dict(),
        "encoding": it.encoding,
        "epoch": str(it.epoch),
        "revision": str(it.revision),
    }
    return Handle(it, answer, check=check, done=done, unknown_outcome=unknown_outcome)


def _lock_options(given: Document) -> dict[str, Any]:
    member = given.pop("ifMember", None)
    return {
        "lease": v1.LeaseKey.from_dict(given.pop("lease")),
        "holder": given.pop("holder"),
        "ttl": _seconds(given, "ttlMs"),
        "if_member": None if member is None else v1.MemberEpoch.from_dict(member),
    }


def _held(it: synod.AsyncLock) -> Handle:
    async def proof(given: Document) -> Document:
        return it.proof.to_dict()

    async def check(given: Document) -> None:
        it.check()

    async def lost(given: Document) -> Document:
        return {"lost": error(await it.lost())}

    async def release(given: Document) -> None:
        await it.release()

    return Handle(it, it.proof.to_dict(), proof=proof, check=check, lost=lost, release=release)


async def _lock(client: synod.AsyncClient, given: Document) -> Handle:
    return _held(await client.lock(**_lock_options(given)))


async def _try_lock(client: synod.AsyncClient, given: Document) -> Handle:
    return _held(await client.try_lock(**_lock_options(given)))


async def _election(client: synod.AsyncClient, given: Document) -> Handle:
    candidate = given.pop("candidate", None)
    stands = candidate and synod.Candidate(candidate["binaryVersion"], candidate["emulationVersion"])
    it = client.election(**_lock_options(given), candidate=stands)

    async def campaign(given: Document) -> Handle:
        return _held(await it.campaign())

    async def over(given: Document) -> Document:
        lock: Handle = given.pop("lock")
        end = await it.over(lock.it)
        return {"preferred": end.preferred} if end.lost is None else {"lost": error(end.lost)}

    async def observe(given: Document) -> Handle:
        return _observer(it.observe())

    async def withdraw(given: Document) -> None:
        await it.withdraw()

    return Handle(it, campaign=campaign, over=over, observe=observe, withdraw=withdraw)


def _observer(it: synod.AsyncObserver) -> Handle:
    async def following(given: Document) -> Document:
        lease = await it.__anext__()
        return None if lease is None else lease.to_dict()

    return Handle(it, next=following)


async def _reflector(client: synod.AsyncClient, given: Document) -> Handle:
    it = await client.reflect([v1.ObjectKind(kind) for kind in given.pop("kinds")])

    async def get(given: Document) -> Document:
        resource = given.pop("resource", None)
        found = it.get(
            v1.ObjectKind(given.pop("kind")),
            given.pop("name", ""),
            namespace=given.pop("namespace", ""),
            resource=None if resource is None else v1.GroupResource.from_dict(resource),
        )
        return {} if found is None else {"object": found.to_dict()}

    async def everything(given: Document) -> Document:
        return {"objects": [each.to_dict() for each in it.list(v1.ObjectKind(given.pop("kind")))]}

    async def reached(given: Document) -> None:
        await it.reached(int(given.pop("revision")), _seconds(given, "limitMs") or 0.0)

    async def changed(given: Document) -> Document:
        return {"revision": str(await it.changed(int(given.pop("since"))))}

    return Handle(it, get=get, list=everything, reached=reached, changed=changed)


class CaseCodec:
    """The codec of the cases: a value in version `v` is `{"apiVersion": v, "value": <value>}`."""

    def __init__(self, versions: list[str]) -> None:
        self._versions = versions

    def preferred(self) -> str:
        """The first of its versions."""
        return self._versions[0]

    def encode(self, key: v1.ObjectKey, value: Any, version: str) -> v1.ObjectContent:
        """The value, with its version."""
        if version not in self._versions:
            raise ValueError(f"{version} is not known")
        text = json.dumps({"apiVersion": version, "value": value}, separators=(",", ":"))
        return v1.ObjectContent(encoding_version=version, media_type="application/json", data=text.encode())

    def decode(self, key: v1.ObjectKey, content: v1.ObjectContent) -> Any:
        """The value without its version."""
        if content.encoding_version not in self._versions:
            raise ValueError(f"{content.encoding_version} is not known")
        return json.loads(content.data)["value"]

    def is_same(self, one: v1.ObjectContent, other: v1.ObjectContent) -> bool:
        """Whether they have the same version and value."""
        same_version = one.encoding_version == other.encoding_version
        return same_version and json.loads(one.data) == json.loads(other.data)


def _merged(value: Any, patch: Any) -> Any:
    """The JSON merge patch, applied."""
    if not isinstance(patch, dict):
        return patch
    merged = dict(value) if isinstance(value, dict) else {}
    for key, each in patch.items():
        if each is None:
            merged.pop(key, None)
        else:
            merged[key] = _merged(merged.get(key), each)
    return merged


async def _objects(client: synod.AsyncClient, given: Document) -> Handle:
    member, lease = given.pop("ifMember", None), given.pop("ifLease", None)
    it = client.typed_objects(
        _resource(given),
        CaseCodec(given.pop("versions")),
        encode_in=given.pop("encodeIn", None),
        if_member=None if member is None else v1.MemberEpoch.from_dict(member),
        if_lease=None if lease is None else v1.LeaseToken.from_dict(lease),
    )

    async def get(given: Document) -> Document:
        key = v1.ObjectKey.from_dict(given.pop("key"))
        stored = await it.get(key.name, namespace=key.namespace)
        return {"object": stored.object.to_dict(), "value": stored.value}

    async def create(given: Document) -> Document:
        key = v1.ObjectKey.from_dict(given.pop("key"))
        stored = await it.create(key.name, given.pop("value"), namespace=key.namespace)
        return {"object": stored.object.to_dict(), "value": stored.value}

    async def guaranteed_update(given: Document) -> Document:
        key, merge = v1.ObjectKey.from_dict(given.pop("key")), given.pop("merge")
        meanwhile: list[Callable[[], None]] = given.pop("meanwhile")

        def change(draft: synod.Draft[Any]) -> None:
            if meanwhile:
                meanwhile.pop()()
            draft.value = _merged(draft.value, merge)

        # In a thread of its own, since others have their turn inside the change.
        update = it.guaranteed_update(key.name, change, namespace=key.namespace)
        updated = await asyncio.to_thread(asyncio.run, update)
        stored = updated.stored
        return {"object": stored.object.to_dict(), "value": stored.value, "changed": updated.changed}

    return Handle(it, get=get, create=create, guaranteed_update=guaranteed_update)


async def _object_reflector(client: synod.AsyncClient, given: Document) -> Handle:
    objects = client.typed_objects(_resource(given), CaseCodec(given.pop("versions")))
    it = await objects.reflect(
        namespaces=given.pop("namespaces", ()),
        label_selector=given.pop("labelSelector", ""),
        field_selector=given.pop("fieldSelector", ""),
    )

    def shown(stored: synod.Stored[Any]) -> Document:
        return {"object": stored.object.to_dict(), "value": stored.value}

    async def get(given: Document) -> Document:
        found = it.get(given.pop("name"), namespace=given.pop("namespace", ""))
        return {} if found is None else shown(found)

    async def everything(given: Document) -> Document:
        return {"objects": [shown(stored) for stored in it.list()]}

    async def reached(given: Document) -> None:
        await it.reached(int(given.pop("revision")), _seconds(given, "limitMs") or 0.0)

    async def changed(given: Document) -> Document:
        return {"revision": str(await it.changed(int(given.pop("since"))))}

    return Handle(it, get=get, list=everything, reached=reached, changed=changed)


class _Memory:
    """A store in memory, with a fence key: the version of each object, by its name."""

    def __init__(self, objects: dict[str, str], fence: str | None) -> None:
        self.objects = dict(objects)
        self.fence = None if fence is None else fence.encode()

    async def read_fence(self, resource: v1.GroupResource) -> bytes | None:
        """What the key holds."""
        return self.fence

    async def write_fence(self, resource: v1.GroupResource, present: bytes | None, fence: bytes) -> bool:
        """Writes the key if it holds `present`."""
        if self.fence != present:
            return False
        self.fence = fence
        return True

    async def list_page(self, migration: v1.Migration, token: str | None) -> synod.StorePage:
        """All objects."""
        return synod.StorePage(list(self.objects))

    async def rewrite(self, migration: v1.Migration, object: Any, fence: bytes) -> None:
        """Writes the target's version, if the key holds the fence."""
        if self.fence != fence:
            raise synod.StoreError("refused", "the fence is another one")
        self.objects[object] = migration.target_version or ""


async def _fence_guard(client: synod.AsyncClient, given: Document) -> Handle:
    it = await client.fence_guard(given.pop("member"))

    async def check(given: Document) -> None:
        permit: Handle = given.pop("permit")
        present = given.pop("present", None)
        it.check(permit.it, None if present is None else present.encode())

    return Handle(it, check=check)


async def _store_migrator(client: synod.AsyncClient, given: Document) -> Handle:
    store = _Memory(given.pop("objects"), given.pop("fence", None))
    it = client.fenced_worker(
        given.pop("worker"),
        [_resource(given)],
        store,
        ttl=_seconds(given, "ttlMs"),
        objects_at_once=given.pop("objectsAtOnce", None),
    )

    async def stored(given: Document) -> Document:
        return {"objects": store.objects, "fence": None if store.fence is None else store.fence.decode()}

    return Handle(it, run_one=_running(it), stored=stored)


async def _migrator(client: synod.AsyncClient, given: Document) -> Handle:
    if "objects" in given:
        return await _store_migrator(client, given)
    resource, codec = _resource(given), CaseCodec(given.pop("versions"))
    it = client.worker(
        given.pop("worker"),
        [resource],
        codec,
        ttl=_seconds(given, "ttlMs"),
        objects_at_once=given.pop("objectsAtOnce", None),
        page_size=given.pop("pageSize", None),
    )
    return Handle(it, run_one=_running(it))


def _running(it: synod.AsyncWorker) -> Function:
    async def run_one(given: Document) -> Document:
        worked = await it.run_one(given.pop("name"))
        if worked is None:
            return {}
        failure = None if worked.failure is None else worked.failure.to_dict()
        assumptions = [assumed.to_dict() for assumed in worked.assumptions]
        return {"worked": worked.end, "failure": failure, "assumptions": assumptions}

    return run_one


_OPEN: dict[str, Callable[[synod.AsyncClient, Document], Awaitable[Handle]]] = {
    "membership": _membership,
    "lock": _lock,
    "try_lock": _try_lock,
    "election": _election,
    "reflector": _reflector,
    "objects": _objects,
    "object_reflector": _object_reflector,
    "migrator": _migrator,
    "fence_guard": _fence_guard,
}
