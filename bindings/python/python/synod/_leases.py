"""Locks and elections by leases."""

from __future__ import annotations

from dataclasses import dataclass
from types import TracebackType

from synod import _synod, v1
from synod._errors import SynodError, error_of
from synod._service import dumped, milliseconds
from synod._waiting import wait, wait_async


@dataclass(frozen=True)
class Candidate:
    """What a candidate of a coordinated election says of itself."""

    binary_version: str
    """The version of its program, as in `1.31.0`."""
    emulation_version: str
    """The version that it emulates: of those who stand, the one with the lowest leads."""


@dataclass(frozen=True)
class LeadershipEnd:
    """What leading is over by."""

    lost: SynodError | None
    """The lease is lost, or may be: stop at once."""
    preferred: str | None
    """Another candidate should lead: end in order, and release."""


def lock_options(
    lease: v1.LeaseKey,
    *,
    holder: str | None,
    ttl: float | None,
    if_member: v1.MemberEpoch | None,
    candidate: Candidate | None = None,
) -> str:
    """How to hold a lease, as a document."""
    stands = candidate and {
        "binaryVersion": candidate.binary_version,
        "emulationVersion": candidate.emulation_version,
    }
    return dumped(
        {
            "lease": lease.to_dict(),
            "holder": holder,
            "ttlMs": milliseconds(ttl),
            "ifMember": None if if_member is None else if_member.to_dict(),
            "candidate": stands,
        }
    )


class _AnyLock:
    """What both kinds of locks have in common."""

    def __init__(self, lock: _synod.Lock) -> None:
        self._lock = lock

    @property
    def holder(self) -> str:
        """Who holds it: this process."""
        return self._lock.holder()

    @property
    def token(self) -> int:
        """The fencing token, which is higher than that of every holder before."""
        return self._lock.token()

    @property
    def proof(self) -> v1.LeaseToken:
        """Proof that the lease is held: what writes under it name."""
        return v1.LeaseToken.from_json(self._lock.proof())

    def check(self) -> None:
        """Refuses if the lease may be lost. Call this right before acting under it."""
        self._lock.check()


class Lock(_AnyLock):
    """A lease that this process holds, for threads. It renews by itself until it is released, lost, or not referred to any
    more. As a context manager it is released at the end."""

    def lost(self) -> SynodError:
        """Waits until the lease is lost, or may be, and answers why."""
        return error_of(wait(self._lock.lost()))

    def release(self) -> None:
        """Gives the lease up, for the next one to have it at once."""
        wait(self._lock.release())

    def __enter__(self) -> Lock:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.release()
        except SynodError:
            # What went wrong within counts for more; the lease ends by itself.
            if error is None:
                raise


class AsyncLock(_AnyLock):
    """A lease that this process holds, for event loops. It renews by itself until it is released, lost, or not referred to
    any more. As a context manager it is released at the end."""

    async def lost(self) -> SynodError:
        """Waits until the lease is lost, or may be, and answers why."""
        return error_of(await wait_async(self._lock.lost()))

    async def release(self) -> None:
        """Gives the lease up, for the next one to have it at once."""
        await wait_async(self._lock.release())

    async def __aenter__(self) -> AsyncLock:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            await self.release()
        except SynodError:
            # What went wrong within counts for more; the lease ends by itself.
            if error is None:
                raise


def _end(told: tuple[str | None, str | None]) -> LeadershipEnd:
    lost, preferred = told
    return LeadershipEnd(None if lost is None else error_of(lost), preferred)


class Election:
    """An election in which this process takes part, for threads."""

    def __init__(self, election: _synod.Election) -> None:
        self._election = election

    def campaign(self) -> Lock:
        """Waits until this process leads."""
        return Lock(wait(self._election.campaign()))

    def over(self, lock: Lock) -> LeadershipEnd:
        """Waits, while this process leads, for what it is over by."""
        return _end(wait(self._election.over(lock._lock)))

    def observe(self) -> Observer:
        """Sees who leads."""
        return Observer(self._election.observe())

    def withdraw(self) -> None:
        """Does not want to lead any more."""
        wait(self._election.withdraw())


class AsyncElection:
    """An election in which this process takes part, for event loops."""

    def __init__(self, election: _synod.Election) -> None:
        self._election = election

    async def campaign(self) -> AsyncLock:
        """Waits until this process leads."""
        return AsyncLock(await wait_async(self._election.campaign()))

    async def over(self, lock: AsyncLock) -> LeadershipEnd:
        """Waits, while this process leads, for what it is over by."""
        return _end(await wait_async(self._election.over(lock._lock)))

    def observe(self) -> AsyncObserver:
        """Sees who leads."""
        return AsyncObserver(self._election.observe())

    async def withdraw(self) -> None:
        """Does not want to lead any more."""
        await wait_async(self._election.withdraw())


def _lease(text: str) -> v1.Lease | None:
    return None if text == "null" else v1.Lease.from_json(text)


class _AnyObserver:
    """What both kinds of observers have in common. The call for the next lease outlives a wait that was given up."""

    def __init__(self, observer: _synod.Observer) -> None:
        self._observer = observer
        self._next: _synod.Call[str | None] | None = None

    def _begin(self) -> _synod.Call[str | None]:
        if self._next is None:
            self._next = self._observer.next()
        return self._next

    def close(self) -> None:
        """Ends it. Who waits sees its end."""
        self._observer.close()


class Observer(_AnyObserver):
    """Who holds a lease, as an iterator of the lease at each change; `None` while there is none. For threads."""

    def __iter__(self) -> Observer:
        return self

    def __next__(self) -> v1.Lease | None:
        text = wait(self._begin(), keep=True)
        self._next = None
        if text is None:
            raise StopIteration
        return _lease(text)


class AsyncObserver(_AnyObserver):
    """Who holds a lease, as an iterator of the lease at each change; `None` while there is none. For event loops."""

    def __aiter__(self) -> AsyncObserver:
        return self

    async def __anext__(self) -> v1.Lease | None:
        text = await wait_async(self._begin(), keep=True)
        self._next = None
        if text is None:
            raise StopAsyncIteration
        return _lease(text)
