"""Watches and reflectors: seeing what changes, without a gap."""

from __future__ import annotations

import json
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Union

from synod import _synod, v1
from synod._waiting import wait, wait_async


@dataclass(frozen=True)
class Events:
    """All that one revision changed."""

    revision: int
    """The revision."""
    events: tuple[v1.Event, ...]
    """The changes."""
    time_ms: int | None = None
    """The leader's wall clock at the revision, for display. `None` of a revision that an older machine version made."""
    caller: str | None = None
    """The proved identity of the caller whose change made the revision. `None` if this client may not operate, or if the caller
    proved nothing."""


@dataclass(frozen=True)
class Resync:
    """The watch begins with a list, or the history that it needs is gone. What is here, after what was delivered before,
    makes all that there is at this revision: first what is gone, then what is new, then what is changed."""

    revision: int
    """The revision."""
    events: tuple[v1.Event, ...]
    """The changes. What is gone and was seen by nobody comes without its object."""


@dataclass(frozen=True)
class Bookmark:
    """Nothing more up to this revision."""

    revision: int
    """The revision."""


WatchMessage = Union[Events, Resync, Bookmark]
"""One message of a watch."""


def _message(text: str) -> WatchMessage:
    told: dict[str, Any] = json.loads(text)
    if "bookmark" in told:
        return Bookmark(int(told["bookmark"]["revision"]))
    body = told.get("events") or told["resync"]
    events = tuple(v1.Event.from_dict(event) for event in body.get("events", ()))
    if "resync" in told:
        return Resync(int(body["revision"]), events)
    time_ms = body.get("timeMs")
    return Events(int(body["revision"]), events, None if time_ms is None else int(time_ms), body.get("caller"))


class _AnyWatch:
    """What both kinds of watches have in common. The call for the next message outlives a wait that was given up, so that
    its message is delivered to whoever waits next."""

    def __init__(self, watch: _synod.Watch) -> None:
        self._watch = watch
        self._next: _synod.Call[str | None] | None = None
        self._closed = False
        self._waited = False

    def _begin(self) -> _synod.Call[str | None]:
        if self._waited:
            raise RuntimeError("somebody else waits for the next message of this watch")
        if self._next is None:
            self._next = self._watch.next()
        self._waited = True
        return self._next

    @property
    def position(self) -> int | None:
        """From which revision another watch goes on after what this one has delivered; `None` before the first message."""
        return self._watch.position()

    def close(self) -> None:
        """Ends the watch. Who waits for a message sees its end."""
        self._closed = True
        self._watch.close()


class Watch(_AnyWatch):
    """A watch, for threads: an iterator of messages that does not end by itself. It goes on over lost connections and
    replicas without a gap and without a repetition."""

    def __iter__(self) -> Watch:
        return self

    def __next__(self) -> WatchMessage:
        if self._closed:
            raise StopIteration
        call = self._begin()
        try:
            text = wait(call, keep=True)
        except Exception:
            self._next = None
            raise
        finally:
            self._waited = False
        self._next = None
        if text is None:
            raise StopIteration
        return _message(text)

    def __enter__(self) -> Watch:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class AsyncWatch(_AnyWatch):
    """A watch, for event loops: an asynchronous iterator of messages that does not end by itself. It goes on over lost
    connections and replicas without a gap and without a repetition.

    Cancelling a wait, as `asyncio.wait_for` does, loses no message: the next wait has it.
    """

    def __aiter__(self) -> AsyncWatch:
        return self

    async def __anext__(self) -> WatchMessage:
        if self._closed:
            raise StopAsyncIteration
        call = self._begin()
        try:
            text = await wait_async(call, keep=True)
        except Exception:
            self._next = None
            raise
        finally:
            self._waited = False
        self._next = None
        if text is None:
            raise StopAsyncIteration
        return _message(text)

    async def aclose(self) -> None:
        """Ends the watch, as `close` does."""
        self.close()

    async def __aenter__(self) -> AsyncWatch:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
