"""What there is, in memory and up to date."""

from __future__ import annotations

import json
from collections.abc import Sequence
from types import TracebackType
from typing import Any

from synod import _synod, v1
from synod._message import Message
from synod._service import dumped
from synod._waiting import wait, wait_async

_MESSAGES: dict[v1.ObjectKind, type[Message]] = {
    v1.ObjectKind.MEMBER: v1.Member,
    v1.ObjectKind.STORAGE_VERSION: v1.StorageVersion,
    v1.ObjectKind.STORAGE_STATE: v1.StorageState,
    v1.ObjectKind.SETTINGS: v1.Settings,
    v1.ObjectKind.COLLECTION: v1.Collection,
    v1.ObjectKind.CONTROLLER_REVISION: v1.ControllerRevision,
    v1.ObjectKind.LEASE: v1.Lease,
    v1.ObjectKind.LEASE_CANDIDATE: v1.LeaseCandidate,
    v1.ObjectKind.MIGRATION: v1.Migration,
    v1.ObjectKind.ROSTER: v1.Roster,
}


def reflect_options(kinds: Sequence[v1.ObjectKind]) -> str:
    """What to reflect, as a document."""
    return json.dumps({"kinds": [kind.value for kind in kinds]})


class _AnyReflector:
    """What both kinds of reflectors have in common. Reading waits for nobody."""

    def __init__(self, reflector: _synod.Reflector) -> None:
        self._reflector = reflector

    @property
    def revision(self) -> int:
        """The revision at which everything here is the state of the cluster."""
        return self._reflector.revision()

    def get(
        self,
        kind: v1.ObjectKind,
        name: str = "",
        *,
        namespace: str = "",
        resource: v1.GroupResource | None = None,
    ) -> Any:
        """One object, as its message of `synod.v1`; `None` if there is none. Storage versions, storage states and
        collections are found by `resource`, the others by `name` and `namespace`."""
        asked = dumped(
            {
                "kind": kind.value,
                "name": name or None,
                "namespace": namespace or None,
                "resource": None if resource is None else resource.to_dict(),
            }
        )
        text = self._reflector.get(asked)
        return None if text is None else _MESSAGES[kind].from_json(text)

    def list(self, kind: v1.ObjectKind) -> tuple[Any, ...]:
        """All objects of a kind, as their messages of `synod.v1`."""
        return tuple(_MESSAGES[kind].from_dict(each) for each in json.loads(self._reflector.list(kind.value)))

    def close(self) -> None:
        """Ends it."""
        self._reflector.close()


class Reflector(_AnyReflector):
    """What there is of some kinds, kept in memory and up to date by a watch. For threads."""

    def changed(self, since: int) -> int:
        """Waits until the revision is another than `since`, and answers it."""
        return wait(self._reflector.changed(since))

    def reached(self, revision: int, limit: float) -> None:
        """Waits until it has come to a revision, at most so many seconds."""
        wait(self._reflector.reached(revision, limit))

    def __enter__(self) -> Reflector:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class AsyncReflector(_AnyReflector):
    """What there is of some kinds, kept in memory and up to date by a watch. For event loops."""

    async def changed(self, since: int) -> int:
        """Waits until the revision is another than `since`, and answers it."""
        return await wait_async(self._reflector.changed(since))

    async def reached(self, revision: int, limit: float) -> None:
        """Waits until it has come to a revision, at most so many seconds."""
        await wait_async(self._reflector.reached(revision, limit))

    async def __aenter__(self) -> AsyncReflector:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
