"""The Python client of Synod.

HA API servers agree by Synod on the versions that they store objects in, and keep objects, histories and leases in it.

```python
import synod
from synod import v1

with synod.Client(["127.0.0.1:4600", "127.0.0.1:4601", "127.0.0.1:4602"]) as client:
    widgets = v1.GroupResource(group="example.io", resource="widgets")
    with client.join(synod.apiserver_id("master-1")) as membership:
        membership.report([
            v1.ReportEntry(
                resource=widgets,
                kind="Widget",
                decodable_versions=("example.io/v1", "example.io/v2"),
                served_versions=("example.io/v1", "example.io/v2"),
                preferred_version="example.io/v2",
            )
        ])
        membership.ready()
        with membership.gate.permit(widgets) as permit:
            ...  # encode the object in permit.encoding
            permit.check()  # right before the store is called
            ...  # call the store
```

`Client` is for threads and `AsyncClient` for event loops; they have the same names. The messages of the protocol are
`synod.v1`. What fails raises a `SynodError`, of a class for each kind of error.
"""

import atexit

from synod import _logs, _synod, fence, gate, v1
from synod._async_client import AsyncClient
from synod._backup import BackupWritten
from synod._client import Client
from synod._errors import (
    AlreadyExistsError,
    ClosedError,
    CompactedError,
    ConflictError,
    DataLossError,
    DeadlineExceededError,
    DrainingError,
    EncodingNotSelectedError,
    FutureRevisionError,
    ImmutableError,
    InvalidArgumentError,
    NoAgreementError,
    NotAMemberError,
    NotDecodableError,
    NotFoundError,
    OverloadedError,
    PermissionDeniedError,
    QuotaError,
    RequestExpiredError,
    StaleEpochError,
    SwitchedOffError,
    SynodError,
    TooLargeError,
    UnauthenticatedError,
    UnavailableError,
    UnknownOutcomeError,
    Violation,
)
from synod._leases import (
    AsyncElection,
    AsyncLock,
    AsyncObserver,
    Candidate,
    Election,
    LeadershipEnd,
    Lock,
    Observer,
)
from synod._membership import (
    Admission,
    AsyncGate,
    AsyncMembership,
    Discovery,
    FenceGuard,
    Gate,
    Joining,
    Membership,
    MembershipState,
    Permit,
)
from synod._message import Message, ProtocolEnum
from synod._object_reflector import AsyncObjectReflector, ObjectReflector, Snapshot
from synod._objects import AsyncObjects, Codec, Draft, JSONCodec, Objects, Updated
from synod._reflector import AsyncReflector, Reflector
from synod._stored import Stored
from synod._tls import Tls, Token
from synod._topic import Topic
from synod._watch import AsyncWatch, Bookmark, Events, Resync, Watch, WatchMessage
from synod._worker import (
    AsyncFencedStore,
    AsyncStore,
    AsyncWorker,
    FencedStore,
    Store,
    StoreError,
    StorePage,
    Worked,
    Worker,
)


def apiserver_id(hostname: str) -> str:
    """The id that Kubernetes would give to the API server on a host."""
    return _synod.apiserver_id(hostname)


def _end() -> None:
    _synod._shutdown()
    _logs.end()


# Threads of the runtime must not outlive the interpreter.
atexit.register(_end)

__all__ = [
    "Admission",
    "AlreadyExistsError",
    "AsyncClient",
    "AsyncElection",
    "AsyncFencedStore",
    "AsyncGate",
    "AsyncLock",
    "AsyncMembership",
    "AsyncObjectReflector",
    "AsyncObjects",
    "AsyncObserver",
    "AsyncReflector",
    "AsyncStore",
    "AsyncWatch",
    "AsyncWorker",
    "BackupWritten",
    "Bookmark",
    "Candidate",
    "Client",
    "ClosedError",
    "Codec",
    "CompactedError",
    "ConflictError",
    "DataLossError",
    "DeadlineExceededError",
    "Discovery",
    "Draft",
    "DrainingError",
    "Election",
    "EncodingNotSelectedError",
    "Events",
    "FutureRevisionError",
    "FenceGuard",
    "FencedStore",
    "Gate",
    "ImmutableError",
    "InvalidArgumentError",
    "JSONCodec",
    "Joining",
    "LeadershipEnd",
    "Lock",
    "Membership",
    "MembershipState",
    "Message",
    "NoAgreementError",
    "NotAMemberError",
    "NotDecodableError",
    "NotFoundError",
    "ObjectReflector",
    "Objects",
    "Observer",
    "OverloadedError",
    "Permit",
    "PermissionDeniedError",
    "ProtocolEnum",
    "QuotaError",
    "Reflector",
    "RequestExpiredError",
    "Resync",
    "Snapshot",
    "StaleEpochError",
    "Store",
    "StoreError",
    "StorePage",
    "Stored",
    "SwitchedOffError",
    "SynodError",
    "Tls",
    "Token",
    "TooLargeError",
    "Topic",
    "UnauthenticatedError",
    "UnavailableError",
    "UnknownOutcomeError",
    "Updated",
    "Violation",
    "Watch",
    "WatchMessage",
    "Worked",
    "Worker",
    "apiserver_id",
    "fence",
    "gate",
    "v1",
]
