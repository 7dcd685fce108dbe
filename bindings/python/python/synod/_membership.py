"""Being a member, and the gate that every write of a member passes."""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

from synod import _synod, v1
from synod._errors import SynodError, error_of
from synod._service import dumped, milliseconds
from synod._waiting import wait, wait_async


@dataclass(frozen=True)
class MembershipState:
    """How a membership does."""

    epoch: int | None
    """The present epoch, which is the member's fencing token. `None`: it was lost, and the server is joining again; or it
    is over for good."""
    proved: bool
    """Whether the epoch can be proved: a renewal was acknowledged lately enough. If not, the gate is closed."""
    reported: bool
    """Whether the present epoch has reported all of its resources."""
    ready: bool
    """Whether the present epoch has said that it is ready."""
    ended: str | None
    """Why it is over for good: `replaced`, `left` or `stopped`; `None` if it is not."""
    last_error: SynodError | None = field(compare=False)
    """What went wrong last; `None` once all is well again."""
    _text: str = field(repr=False)


def _state(text: str) -> MembershipState:
    told: dict[str, Any] = json.loads(text)
    epoch = told.get("epoch")
    error = told.get("lastError")
    return MembershipState(
        epoch=None if epoch is None else int(epoch),
        proved=bool(told.get("proved")),
        reported=bool(told.get("reported")),
        ready=bool(told.get("ready")),
        ended=told.get("ended"),
        last_error=None if error is None else error_of(json.dumps(error)),
        _text=text,
    )


def join_options(
    member: str,
    *,
    ttl: float | None,
    labels: Mapping[str, str] | None,
    version: str,
    endpoint: str,
    permit_wait: float | None,
    drain_limit: float | None,
    equivalents: Sequence[Sequence[v1.GroupResource]],
) -> str:
    """How to join, as a document."""
    return dumped(
        {
            "id": member,
            "ttlMs": milliseconds(ttl),
            "labels": dict(labels) if labels else None,
            "version": version or None,
            "endpoint": endpoint or None,
            "permitWaitMs": milliseconds(permit_wait),
            "drainLimitMs": milliseconds(drain_limit),
            "equivalents": [[each.to_dict() for each in one] for one in equivalents] or None,
        }
    )


class _AnyMembership:
    """What both kinds of memberships have in common."""

    def __init__(self, membership: _synod.Membership) -> None:
        self._membership = membership

    @property
    def id(self) -> str:
        """The member's id."""
        return self._membership.id()

    @property
    def instance(self) -> str:
        """What this process calls itself: it tells two processes under one id apart."""
        return self._membership.instance()

    @property
    def epoch(self) -> int | None:
        """The present epoch, which is the member's fencing token; `None` while there is none."""
        return self.state.epoch

    @property
    def state(self) -> MembershipState:
        """How it does."""
        return _state(self._membership.state())

    def close(self) -> None:
        """Stops keeping it without leaving: the gate closes for ever, and the member expires."""
        self._membership.close()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.id}>"

    def _entries(self, entries: Sequence[v1.ReportEntry]) -> str:
        return json.dumps([entry.to_dict() for entry in entries])


class Membership(_AnyMembership):
    """A membership, kept alive in the background until it is left, closed, or not referred to any more. For threads.

    It renews by itself, joins and reports again after it expired, and adopts what is selected once its permits have come
    back. As a context manager it leaves at the end.
    """

    @property
    def gate(self) -> Gate:
        """The gate that every write has to pass."""
        return Gate(self._membership.gate())

    def report(self, entries: Sequence[v1.ReportEntry]) -> v1.StorageVersionsReportResponse:
        """Reports all resources of the server, fixed and voting, in one command; the gate opens for each of them."""
        text = wait(self._membership.report(self._entries(entries)))
        return v1.StorageVersionsReportResponse.from_json(text)

    def report_change(self, entry: v1.ReportEntry) -> v1.StorageVersionsReportResponse:
        """Reports one resource anew, as with another vote, or a new one, beside the others: its gate closes, its permits
        come back, and it opens again."""
        return v1.StorageVersionsReportResponse.from_json(wait(self._membership.report_change(entry.to_json())))

    def ready(self) -> None:
        """Says that the server is ready."""
        wait(self._membership.ready())

    def leave(self, drain_limit: float = 30.0) -> None:
        """Leaves the cluster. Permits that are out have so many seconds to come back. The membership is over whatever is
        answered."""
        wait(self._membership.leave(drain_limit))

    def state_changed(self, seen: MembershipState) -> MembershipState:
        """Waits until it does otherwise than `seen`."""
        return _state(wait(self._membership.changed(seen._text)))

    def ended(self) -> str:
        """Waits until it is over for good, and answers why: `replaced`, `left` or `stopped`."""
        return wait(self._membership.ended())

    def __enter__(self) -> Membership:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.leave()
        except SynodError:
            # What went wrong within counts for more; the member expires by itself.
            if error is None:
                raise


class AsyncMembership(_AnyMembership):
    """A membership, kept alive in the background until it is left, closed, or not referred to any more. For event loops.

    It renews by itself, joins and reports again after it expired, and adopts what is selected once its permits have come
    back. As a context manager it leaves at the end.
    """

    @property
    def gate(self) -> AsyncGate:
        """The gate that every write has to pass."""
        return AsyncGate(self._membership.gate())

    async def report(self, entries: Sequence[v1.ReportEntry]) -> v1.StorageVersionsReportResponse:
        """Reports all resources of the server, fixed and voting, in one command; the gate opens for each of them."""
        text = await wait_async(self._membership.report(self._entries(entries)))
        return v1.StorageVersionsReportResponse.from_json(text)

    async def report_change(self, entry: v1.ReportEntry) -> v1.StorageVersionsReportResponse:
        """Reports one resource anew, as with another vote, or a new one, beside the others: its gate closes, its permits
        come back, and it opens again."""
        text = await wait_async(self._membership.report_change(entry.to_json()))
        return v1.StorageVersionsReportResponse.from_json(text)

    async def ready(self) -> None:
        """Says that the server is ready."""
        await wait_async(self._membership.ready())

    async def leave(self, drain_limit: float = 30.0) -> None:
        """Leaves the cluster. Permits that are out have so many seconds to come back. The membership is over whatever is
        answered."""
        await wait_async(self._membership.leave(drain_limit))

    async def state_changed(self, seen: MembershipState) -> MembershipState:
        """Waits until it does otherwise than `seen`."""
        return _state(await wait_async(self._membership.changed(seen._text)))

    async def ended(self) -> str:
        """Waits until it is over for good, and answers why: `replaced`, `left` or `stopped`."""
        return await wait_async(self._membership.ended())

    async def __aenter__(self) -> AsyncMembership:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            await self.leave()
        except SynodError:
            # What went wrong within counts for more; the member expires by itself.
            if error is None:
                raise


class Joining:
    """A join under way: `await` it for the membership, or use it with `async with`."""

    def __init__(self, call: _synod.Call[_synod.Membership]) -> None:
        self._call = call
        self._membership: AsyncMembership | None = None

    async def _join(self) -> AsyncMembership:
        return AsyncMembership(await wait_async(self._call))

    def __await__(self) -> Generator[Any, Any, AsyncMembership]:
        return self._join().__await__()

    async def __aenter__(self) -> AsyncMembership:
        self._membership = await self._join()
        return self._membership

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._membership is not None:
            await self._membership.__aexit__(kind, error, trace)


@dataclass(frozen=True)
class Admission:
    """What the gate says to an HTTP request."""

    permit: Permit | None
    """The permit of a write that may pass. `None`: the request passes without, or is refused."""
    status: int | None
    """The status to answer with in place of the server; `None` if the request passes."""
    content_type: str
    """The type of `body`."""
    body: str
    """What to answer with in place of the server."""


def _admission(told: _synod.Permit | tuple[int, str, str] | None) -> Admission:
    if isinstance(told, tuple):
        status, content_type, body = told
        return Admission(None, status, content_type, body)
    return Admission(None if told is None else Permit(told), None, "", "")


@dataclass(frozen=True)
class Discovery:
    """What a server's own discovery shows of a resource as `storageVersionHash`.

    It follows the gate: a hash is only shown while the server may write, and then it is of the version in which it encodes.
    Whoever reads it, such as a migrator, takes it for the version of all servers, so it is not shown before they all agree.
    """

    hash: str | None
    """The hash to show; `None` if there is no consensus: leave the field out."""
    no_consensus: str | None
    """Why there is no consensus; `None` if there is one."""


class _AnyGate:
    """What both kinds of gates have in common."""

    def __init__(self, gate: _synod.Gate) -> None:
        self._gate = gate

    def try_permit(self, resource: v1.GroupResource) -> Permit:
        """A permit, if the gate is open now."""
        return Permit(self._gate.try_permit(resource.to_json()))

    def readiness(self) -> str | None:
        """What the server waits for before it may say that it is ready; `None` if it may."""
        return self._gate.waits_for()

    def discovery(self, resource: v1.GroupResource) -> Discovery:
        """What the server's own discovery shows of a resource now. It waits for nothing, and takes no permit."""
        told = json.loads(self._gate.discovery(resource.to_json()))
        return Discovery(told.get("hash"), told.get("noConsensus"))

    def is_drained(self) -> bool:
        """Whether no write that this gate let through can land any more."""
        return self._gate.is_drained()

    def _door(self, wait_for: float, not_stored: Sequence[v1.GroupResource]) -> _synod.Door:
        return self._gate.door(wait_for, json.dumps([each.to_dict() for each in not_stored]))


class Gate(_AnyGate):
    """The write gate of a membership, for threads.

    It is closed for a resource until the report of that resource was acknowledged under the member's present epoch, and it
    closes when the membership cannot be proved.
    """

    def permit(self, resource: v1.GroupResource, *, wait_for: float | None = None) -> Permit:
        """A permit to write objects of a resource. Waits for the gate to open, by default as long as `permit_wait` of the
        join says."""
        return Permit(wait(self._gate.permit(resource.to_json(), wait_for)))

    def admit(
        self, method: str, uri: str, *, wait_for: float = 0.0, not_stored: Sequence[v1.GroupResource] = ()
    ) -> Admission:
        """What the gate says to an HTTP request: the rule of the middleware `synod.gate.WSGIGate`."""
        return _admission(wait(self._door(wait_for, not_stored).admit(method, uri)))


class AsyncGate(_AnyGate):
    """The write gate of a membership, for event loops.

    It is closed for a resource until the report of that resource was acknowledged under the member's present epoch, and it
    closes when the membership cannot be proved.
    """

    async def permit(self, resource: v1.GroupResource, *, wait_for: float | None = None) -> Permit:
        """A permit to write objects of a resource. Waits for the gate to open, by default as long as `permit_wait` of the
        join says."""
        return Permit(await wait_async(self._gate.permit(resource.to_json(), wait_for)))

    async def admit(
        self, method: str, uri: str, *, wait_for: float = 0.0, not_stored: Sequence[v1.GroupResource] = ()
    ) -> Admission:
        """What the gate says to an HTTP request: the rule of the middleware `synod.gate.ASGIGate`."""
        return _admission(await wait_async(self._door(wait_for, not_stored).admit(method, uri)))


class Permit:
    """A permit to write one object: encode it in `encoding`, call `check` right before the store is called, call the
    store, then `done` when it has answered, or `unknown_outcome` when it has not.

    As a context manager it is `done` at the end, and after an exception given back without a word: then its outcome is
    taken for unknown if a check has ever passed.
    """

    def __init__(self, permit: _synod.Permit) -> None:
        self._permit = permit
        self.resource = v1.GroupResource.from_json(permit.resource())
        """The resource that may be written, as it was reported."""
        self.encoding = permit.encoding()
        """The version in which to encode."""
        self.epoch = permit.epoch()
        """The epoch that the permit belongs to."""
        self.revision = permit.revision()
        """A revision of the cluster at which the member's entry allowed the encoding."""

    def check(self) -> None:
        """Refuses if the write may not be sent to the store now."""
        self._permit.check()

    def done(self) -> None:
        """The store has answered, or was never called: no write under this permit can land any more."""
        self._permit.done()

    def unknown_outcome(self) -> None:
        """The store was called and has not answered: the write may still land."""
        self._permit.unknown_outcome()

    def give_back(self) -> None:
        """Gives it back without a word: the outcome is taken for unknown if a check has ever passed."""
        self._permit.give_back()

    def __enter__(self) -> Permit:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self.done()
        else:
            self.give_back()

    def __repr__(self) -> str:
        return f"<Permit {self.resource.resource}.{self.resource.group} in {self.encoding} of epoch {self.epoch}>"


class FenceGuard:
    """The agreements that a member knows of, by which its writes pass the fence of its store.

    For each write: take a permit, read the fence key, `check`, `Permit.check`, then write on condition that the key holds
    what was read. A value that was read earlier may be used: if the key has changed since, the condition fails, and the key
    is read again. `synod.fence` does all this over etcd.
    """

    def __init__(self, guard: _synod.FenceGuard) -> None:
        self._guard = guard

    def check(self, permit: Permit, present: bytes | None) -> None:
        """Refuses if a write under this permit may not be sent on condition that the fence key holds `present`; for `None`,
        on condition that there is no such key.

        `UnavailableError`: the store was migrated under an agreement that this member has not seen yet, but will.
        `NotAMemberError` and `EncodingNotSelectedError`: the permit is void. `ConflictError`: the fence is not one of this
        cluster and resource.
        """
        self._guard.check(permit._permit, present)

    def close(self) -> None:
        """Follows the cluster no longer."""
        self._guard.close()

    def __enter__(self) -> FenceGuard:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
