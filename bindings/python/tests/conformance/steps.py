"""Running a case, step by step. Whatever is not known is a fault."""

from __future__ import annotations

import asyncio
import random
import string
from collections.abc import Coroutine
from typing import Any

import synod
from synod import v1
from synod._message import Message

from replicas import Replicas

from .handles import Handle, error, opened
from .values import Document, differences, fill, part

LIMIT = 30.0
"""How long any step may take, in seconds."""

KINDS = (
    "call", "finish", "pages", "repeat", "watch", "next", "resume", "close", "open", "do", "kill", "start", "restart",
)  # fmt: skip
"""Every kind of step, by the key that it is known by."""

_KEYS = {
    "call": {"request", "timeout_ms", "until", "behind"},
    "pages": {"request", "items"},
    "repeat": {"steps"},
    "watch": {"options", "from", "timeout_ms"},
    "open": {"as", "with"},
    "do": {"of", "as", "with", "until", "behind", "timeout_ms"},
}


class Fault(AssertionError):
    """A step did not do what was expected."""


class Run:
    """A case that is run."""

    def __init__(self, client: synod.AsyncClient, replicas: Replicas | None) -> None:
        self._client = client
        self._replicas = replicas
        """Those that no other case sees, if it has such."""
        label = "".join(random.choices(string.ascii_lowercase, k=12))
        self._names: dict[str, Any] = {"case": label}
        self._handles: dict[str, Handle] = {}
        self._behind: dict[str, tuple[asyncio.Task[Any], str | None]] = {}
        self._watches: dict[str, Document] = {}
        self._connected = 0

    async def case(self, steps: list[Document]) -> None:
        """Runs all steps of a case."""
        try:
            await self.steps(steps)
            if self._behind:
                raise Fault(f"nobody finished {list(self._behind)}")
        finally:
            for task, _ in self._behind.values():
                task.cancel()
            for handle in self._handles.values():
                handle.close()

    async def steps(self, steps: list[Document]) -> None:
        """Runs steps, one after the other."""
        for number, step in enumerate(steps, 1):
            try:
                await asyncio.wait_for(self._step(dict(step)), None if "repeat" in step else 2 * LIMIT)
            except asyncio.TimeoutError:
                raise Fault(f"step {number}, {step}:\n  nothing came in time") from None
            except Fault as fault:
                raise Fault(f"step {number}, {step}:\n  {fault}") from None

    async def _step(self, step: Document) -> None:
        kinds = [kind for kind in KINDS if kind in step]
        if len(kinds) != 1:
            raise Fault(f"it is of one kind of {KINDS}, not of {kinds}")
        (kind,) = kinds
        if "answer" in step and "error" in step:
            raise Fault("it expects both an answer and an error")
        unknown = set(step) - {kind, "answer", "error", "save"} - _KEYS.get(kind, set())
        if unknown:
            raise Fault(f"these keys are not known: {unknown}")
        if kind == "repeat":
            for index in range(step["repeat"]):
                self._names["index"] = str(index)
                await self.steps(step["steps"])
            return
        if "behind" in step:
            self._behind[step["behind"]] = (asyncio.ensure_future(self._act(kind, step)), step.get("as"))
            return
        deadline = asyncio.get_running_loop().time() + LIMIT
        while True:
            came, failed = await self._outcome(kind, step)
            faults = self._faults(step, came, failed)
            late = asyncio.get_running_loop().time() > deadline
            if not faults or late or not step.get("until"):
                break
            await asyncio.sleep(0.02)
        if faults:
            raise Fault("\n  ".join(faults))
        self._settle(step, came)

    async def _outcome(self, kind: str, step: Document) -> tuple[Document, bool]:
        """What a step came to, and whether that is an error."""
        opens = step.get("as")
        try:
            if kind == "finish":
                task, opens = self._behind.pop(step["finish"])
                came = await task
            else:
                came = await self._act(kind, step)
        except synod.SynodError as raised:
            return error(raised), True
        if isinstance(came, Handle):
            if kind in ("watch", "resume"):
                opens = step[kind]
            if opens is not None:
                self._handles[opens] = came
            return came.answer, False
        return came, False

    def _faults(self, step: Document, came: Document, failed: bool) -> list[str]:
        if "error" in step:
            return differences(fill(step["error"], self._names), came) if failed else [f"no error came, but {came}"]
        if failed:
            return [f"it failed: {came}"]
        return differences(fill(step["answer"], self._names), came) if "answer" in step else []

    def _settle(self, step: Document, came: Document) -> None:
        replica = part(came, "header.replicaId")
        self._connected = int(replica) if replica else self._connected
        for name, path in step.get("save", {}).items():
            value = part(came, path)
            if value is None:
                raise Fault(f"there is no {path} in {came}")
            self._names[name] = value

    def _act(self, kind: str, step: Document) -> Coroutine[Any, Any, Document]:
        act = getattr(self, f"_{kind}")
        acting: Coroutine[Any, Any, Document] = act(step)
        return acting

    async def _call(self, step: Document) -> Document:
        timeout = step.get("timeout_ms")
        request = fill(step.get("request", {}), self._names)
        return await self._ask(step["call"], request, None if timeout is None else timeout / 1000)

    async def _ask(self, method: str, given: Document, timeout: float | None = None) -> Document:
        """Calls a method by the client's own function for it, with the request's fields as its arguments."""
        service, _, name = method.removeprefix("synod.v1.").partition("/")
        request = getattr(v1, f"{service}{name}Request").from_dict(given)
        _check_fields(given, request)
        fields = {field.name: getattr(request, field.name) for field in request._fields}
        function = getattr(getattr(self._client, _snake(service)), _snake(name))
        answer = await function(**fields, timeout=timeout)
        document: Document = answer.to_dict()
        return document

    async def _pages(self, step: Document) -> Document:
        request = fill(step.get("request", {}), self._names)
        items: list[Document] = []
        revisions: list[Document] = []
        pages = 0
        while True:
            page = await self._ask(step["pages"], request)
            pages += 1
            items += page.get(step["items"], [])
            revision = part(page, "header.revision")
            if revision not in revisions:
                revisions.append(revision)
            if not page.get("continueToken"):
                return {"items": items, "revisions": revisions, "pages": pages}
            request = {**request, "continueToken": page["continueToken"]}

    async def _watch(self, step: Document) -> Handle:
        options = fill(step.get("options", {}), self._names)
        resync = options.pop("resync", True)
        client = self._client
        if "timeout_ms" in step:
            client = synod.AsyncClient(client.endpoints, timeout=step["timeout_ms"] / 1000)
        return await self._watched(client, step["watch"], options, step.get("from") == "list", resync)

    async def _watched(
        self, client: synod.AsyncClient, name: str, options: Document, from_list: bool, resync: bool
    ) -> Handle:
        request = v1.WatchRequest.from_dict(options)
        interval = request.bookmark_interval_ms
        watch = await client.watch(
            request.filter,
            from_revision=request.from_revision,
            from_list=from_list,
            resync=resync,
            bookmark_interval=None if interval is None else interval / 1000,
        )
        self._watches[name] = (options, resync)
        return Handle(watch)

    async def _next(self, step: Document) -> Document:
        watch: synod.AsyncWatch = self._handles[step["next"]].it
        wants_bookmark = "bookmark" in step.get("answer", {})
        while True:
            message = await watch.__anext__()
            if isinstance(message, synod.Bookmark):
                if wants_bookmark:
                    return {"bookmark": {"revision": str(message.revision)}}
                continue
            said = {"revision": str(message.revision), "events": [event.to_dict() for event in message.events]}
            if isinstance(message, synod.Resync):
                return {"resync": said}
            beside = {"timeMs": message.time_ms, "caller": message.caller}
            return {"events": said | {key: value for key, value in beside.items() if value is not None}}

    async def _resume(self, step: Document) -> Handle:
        name = step["resume"]
        watch: synod.AsyncWatch = self._handles.pop(name).it
        position = watch.position
        await watch.aclose()
        options, resync = self._watches[name]
        return await self._watched(self._client, name, {**options, "fromRevision": str(position)}, False, resync)

    async def _close(self, step: Document) -> None:
        self._handles.pop(step["close"]).close()

    async def _open(self, step: Document) -> Handle:
        return await opened(self._client, step["open"], fill(step.get("with", {}), self._names))

    async def _do(self, step: Document) -> Document:
        given = dict(step.get("with", {}))
        meanwhile = given.pop("meanwhile", [])
        given = fill(given, self._names)
        if step["do"] == "guaranteed_update":
            loop = asyncio.get_running_loop()

            def others() -> None:
                asyncio.run_coroutine_threadsafe(self.steps(meanwhile), loop).result()

            given["meanwhile"] = [others] if meanwhile else []
        for name in ("lock", "permit"):
            if isinstance(given.get(name), str):
                given[name] = self._handles[given[name]]
        answer = await self._handles[step["of"]].call(step["do"], given)
        left = [key for key in given if key not in ("meanwhile", "lock", "permit")]
        assert not left, f"these are not known: {left}"
        return answer

    async def _kill(self, step: Document) -> None:
        replicas = self._own()
        leader = await asyncio.to_thread(replicas.leader)
        role = step["kill"]
        if role == "connected":
            killed = self._connected
        else:
            killed = leader if role == "leader" else next(i for i in replicas.running if i != leader)
        await asyncio.to_thread(replicas.kill, killed)
        self._names["killed"] = str(killed)

    async def _start(self, step: Document) -> None:
        await asyncio.to_thread(self._own().start_all)

    async def _restart(self, step: Document) -> None:
        await asyncio.to_thread(self._own().kill_all)
        await asyncio.to_thread(self._own().start_all)

    def _own(self) -> Replicas:
        if self._replicas is None:
            raise Fault("only a case with `cluster: own` may do that")
        return self._replicas


def _check_fields(given: Document, message: Message) -> None:
    """A message passes over what it does not know; a case has nothing of that kind."""
    fields = {field.key: field.name for field in message._fields}
    unknown = set(given) - set(fields)
    if unknown:
        raise Fault(f"{type(message).__name__} has no {unknown}")
    for key, each in given.items():
        read = getattr(message, fields[key])
        pairs = zip(each, read) if isinstance(each, list) else [(each, read)]
        for document, value in pairs:
            if isinstance(value, Message):
                _check_fields(document, value)


def _snake(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name).lstrip("_")
