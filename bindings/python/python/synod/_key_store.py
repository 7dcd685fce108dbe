"""What a store has to do so that its writes can be fenced."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


class Fault(Exception):
    """A store, or a write to it, did not do what was asked. There are three kinds, which are three different answers."""


class NotExecuted(Fault):
    """Nothing was changed, and nothing will be: the same may be asked again."""

    def __init__(self, why: str, retry_after: float | None = None) -> None:
        """`retry_after` is how many seconds to wait before, if that is known."""
        super().__init__(why)
        self.retry_after = retry_after


class Refused(Fault):
    """It was refused for good."""


class Unknown(Fault):
    """It may have been executed, or may still be."""


@dataclass(frozen=True)
class Pair:
    """A key and its value."""

    key: str
    """The key."""
    value: bytes
    """Its value."""
    revision: int
    """What changes with each write of the key, and is never 0: the revision of its last write, say."""


@dataclass(frozen=True)
class Page:
    """A part of a list."""

    pairs: Sequence[Pair]
    """The pairs, ordered by their keys."""
    more: bool
    """Whether there are more behind the last one."""


@dataclass(frozen=True)
class Holds:
    """The condition that a key has a value."""

    key: str
    """The key."""
    value: bytes
    """The value."""


@dataclass(frozen=True)
class WrittenAt:
    """The condition that a key was last written at a revision."""

    key: str
    """The key."""
    revision: int
    """The revision of its `Pair`; 0: there is no such key."""


Condition = Holds | WrittenAt
"""What must be true of a key for a write to land."""


class KeyStore(Protocol):
    """A store of keys and values that can compare keys and write one in a single step. What was written before a call began
    is seen by it."""

    def get(self, key: str) -> Pair | None:
        """The present value of a key; `None` if there is no such key."""
        ...

    def list(self, prefix: str, after: str | None, limit: int) -> Page:
        """The pairs whose keys begin with `prefix` and come after `after`, in the order of their keys, at most `limit`."""
        ...

    def put_if(self, conditions: Sequence[Condition], key: str, value: bytes) -> bool:
        """Writes a key if every condition holds, in one step. Answers false if one does not. Raises `NotExecuted`, `Refused`
        or `Unknown`."""
        ...


class AsyncKeyStore(Protocol):
    """As `KeyStore`, in an event loop."""

    async def get(self, key: str) -> Pair | None:
        """The present value of a key; `None` if there is no such key."""
        ...

    async def list(self, prefix: str, after: str | None, limit: int) -> Page:
        """The pairs whose keys begin with `prefix` and come after `after`, in the order of their keys, at most `limit`."""
        ...

    async def put_if(self, conditions: Sequence[Condition], key: str, value: bytes) -> bool:
        """Writes a key if every condition holds, in one step. Answers false if one does not. Raises `NotExecuted`, `Refused`
        or `Unknown`."""
        ...
