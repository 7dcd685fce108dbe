"""The messages of Synod's protocol, `synod.v1`, as frozen values.

Every message has `to_dict` and `from_dict`, which are protobuf's JSON form: keys in lowerCamelCase, 64-bit numbers as
decimal strings, bytes in base64. A field that is `None` is not set.
"""

# Generated from the sources of the protocol: UPDATE_GOLDEN=1 cargo test --package synod-bound --test bound generated

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from synod._message import Field, Message, ProtocolEnum


class ConditionStatus(ProtocolEnum):
    """Whether a condition holds. Since 0.1."""

    UNSPECIFIED = "CONDITION_STATUS_UNSPECIFIED"
    """Never sent."""

    TRUE = "CONDITION_STATUS_TRUE"
    """The condition holds."""

    FALSE = "CONDITION_STATUS_FALSE"
    """The condition does not hold."""

    UNKNOWN = "CONDITION_STATUS_UNKNOWN"
    """It cannot be told."""


class ReplicaRole(ProtocolEnum):
    """What a replica is in the replica set. Since 0.1."""

    UNSPECIFIED = "REPLICA_ROLE_UNSPECIFIED"
    """Never sent."""

    VOTER = "REPLICA_ROLE_VOTER"
    """It votes and counts for the quorum."""

    LEARNER = "REPLICA_ROLE_LEARNER"
    """It follows the log and does not count."""


class AlarmKind(ProtocolEnum):
    """What is wrong. Since 0.1."""

    UNSPECIFIED = "ALARM_KIND_UNSPECIFIED"
    """Never sent."""

    NO_QUORUM = "ALARM_KIND_NO_QUORUM"
    """No leader is known, or it is not answered by a quorum."""

    DIGEST_MISMATCH = "ALARM_KIND_DIGEST_MISMATCH"
    """The digests of the replicas differ and no majority is right, or their logs differ where they are committed: all refuse
    writes.
    """

    QUOTA = "ALARM_KIND_QUOTA"
    """The state is at its quota: only what shrinks it or keeps members alive is let through."""

    DISK_FULL = "ALARM_KIND_DISK_FULL"
    """The replica's disk is nearly full."""

    DAMAGED_CHECKPOINT = "ALARM_KIND_DAMAGED_CHECKPOINT"
    """A checkpoint of the replica failed its check and was put aside, or one that a leader sent it was refused. Another one
    is written by itself.
    """

    WENT_BACK = "ALARM_KIND_WENT_BACK"
    """The replica's data directory went back in time: it lacks what it had acknowledged. It is refused and does not vote."""

    CERTIFICATE = "ALARM_KIND_CERTIFICATE"
    """A certificate, a key or a CA bundle of the replica expires soon or has expired, or its file was replaced by one that
    cannot be used, so that the one read before stays in use.
    """

    POLICY = "ALARM_KIND_POLICY"
    """The file of the replica's policy was replaced by one that cannot be used, so that the policy read before stays in use."""

    AUDIT = "ALARM_KIND_AUDIT"
    """Lines of the replica's audit log were lost within the last hour."""

    NOT_VOTING = "ALARM_KIND_NOT_VOTING"
    """The end of the replica's log was cut off, and may have been acknowledged. It does not vote before it has caught up with
    a leader, and where no leader can be elected without it, none is.
    """

    SWITCHED_OFF = "ALARM_KIND_SWITCHED_OFF"
    """A feature is switched off by the setting that the message names."""


class Switch(ProtocolEnum):
    """Whether something works that can be switched off. Since 0.1."""

    UNSPECIFIED = "SWITCH_UNSPECIFIED"
    """Never sent."""

    ON = "SWITCH_ON"
    """It works."""

    OFF = "SWITCH_OFF"
    """What it would do is refused with `SWITCHED_OFF`. What is there is kept, can be read, and works again once it is on."""


class ErrorReason(ProtocolEnum):
    """Why a request failed. Beside each: its gRPC code, and whether sending the same request again can help. Since 0.1."""

    UNSPECIFIED = "ERROR_REASON_UNSPECIFIED"
    """Never sent."""

    INVALID_ARGUMENT = "ERROR_REASON_INVALID_ARGUMENT"
    """INVALID_ARGUMENT, no retry. The request breaks a rule of form; `google.rpc.BadRequest` names each field and rule."""

    NOT_FOUND = "ERROR_REASON_NOT_FOUND"
    """NOT_FOUND, no retry. There is no such object."""

    ALREADY_EXISTS = "ERROR_REASON_ALREADY_EXISTS"
    """ALREADY_EXISTS, no retry. There is such an object already."""

    CONFLICT = "ERROR_REASON_CONFLICT"
    """ABORTED, no retry as it is. The object is at another revision than the request expects; the details hold it."""

    NOT_A_MEMBER = "ERROR_REASON_NOT_A_MEMBER"
    """FAILED_PRECONDITION, no retry. The caller is not a member (any more): join and report again."""

    STALE_EPOCH = "ERROR_REASON_STALE_EPOCH"
    """FAILED_PRECONDITION, no retry. Another instance has taken the member's id: stop."""

    NOT_DECODABLE = "ERROR_REASON_NOT_DECODABLE"
    """FAILED_PRECONDITION, no retry. A member cannot decode a version that it must be able to decode."""

    ENCODING_NOT_SELECTED = "ERROR_REASON_ENCODING_NOT_SELECTED"
    """FAILED_PRECONDITION, no retry as it is. The object is not encoded in the selected version."""

    IMMUTABLE = "ERROR_REASON_IMMUTABLE"
    """FAILED_PRECONDITION, no retry. The field can never change."""

    NO_AGREEMENT = "ERROR_REASON_NO_AGREEMENT"
    """FAILED_PRECONDITION, no retry until there is agreement. The members do not agree on a version."""

    DRAINING = "ERROR_REASON_DRAINING"
    """FAILED_PRECONDITION, retry after `retry_after_ms`. Writes in another version may still land."""

    REQUEST_EXPIRED = "ERROR_REASON_REQUEST_EXPIRED"
    """FAILED_PRECONDITION, no retry. The session is unknown or the sequence was forgotten. This attempt was not executed;
    an earlier one may have been.
    """

    COMPACTED = "ERROR_REASON_COMPACTED"
    """OUT_OF_RANGE, no retry. The revision is older than what is kept: list again."""

    FUTURE_REVISION = "ERROR_REASON_FUTURE_REVISION"
    """OUT_OF_RANGE, retry when it is there. The revision does not exist yet."""

    TOO_LARGE = "ERROR_REASON_TOO_LARGE"
    """RESOURCE_EXHAUSTED, no retry. The request is larger than a limit allows."""

    QUOTA = "ERROR_REASON_QUOTA"
    """RESOURCE_EXHAUSTED, no retry until something is removed. A quota of the cluster is used up."""

    OVERLOADED = "ERROR_REASON_OVERLOADED"
    """RESOURCE_EXHAUSTED, retry with backoff. The replica has too much to do; the request was not executed."""

    UNAVAILABLE = "ERROR_REASON_UNAVAILABLE"
    """UNAVAILABLE, retry anywhere. No leader or no quorum could be reached; the request was not executed. Beware: a gRPC
    library says UNAVAILABLE by itself when a connection breaks. Only with an `ErrorInfo` of Synod is it this.
    """

    UNKNOWN_OUTCOME = "ERROR_REASON_UNKNOWN_OUTCOME"
    """UNKNOWN, ask by request id. The request may have been carried out, or may still be."""

    DEADLINE_EXCEEDED = "ERROR_REASON_DEADLINE_EXCEEDED"
    """DEADLINE_EXCEEDED, ask by request id. The deadline passed; without `not_executed` the request may have been carried
    out.
    """

    UNAUTHENTICATED = "ERROR_REASON_UNAUTHENTICATED"
    """UNAUTHENTICATED, no retry. The caller did not prove who it is."""

    PERMISSION_DENIED = "ERROR_REASON_PERMISSION_DENIED"
    """PERMISSION_DENIED, no retry. The caller may not do this."""

    DATA_LOSS = "ERROR_REASON_DATA_LOSS"
    """DATA_LOSS, no retry. The replica found its data damaged and has stopped."""

    SWITCHED_OFF = "ERROR_REASON_SWITCHED_OFF"
    """FAILED_PRECONDITION, no retry until an operator switches it on. What the request is about is switched off by a
    setting, which the metadata names (`setting`). Nothing was changed, and what was there is kept.
    """


class MemberPhase(ProtocolEnum):
    """How far a member has come. Since 0.1."""

    UNSPECIFIED = "MEMBER_PHASE_UNSPECIFIED"
    """Never sent."""

    JOINING = "MEMBER_PHASE_JOINING"
    """It has joined and does not serve yet."""

    READY = "MEMBER_PHASE_READY"
    """It has said that it serves."""


class PatchFormat(ProtocolEnum):
    """How a change of a JSON document is written. Since 0.1."""

    UNSPECIFIED = "PATCH_FORMAT_UNSPECIFIED"
    """Never sent."""

    MERGE = "PATCH_FORMAT_MERGE"
    """A JSON merge patch (RFC 7386): the document's own form, `null` for what goes."""

    JSON = "PATCH_FORMAT_JSON"
    """A JSON patch (RFC 6902): a list of operations."""


class Propagation(ProtocolEnum):
    """What becomes of the objects that an object owns when it is deleted. Since 0.1."""

    UNSPECIFIED = "PROPAGATION_UNSPECIFIED"
    """What the object's finalizers say (`foregroundDeletion`, `orphan`), else in the background."""

    BACKGROUND = "PROPAGATION_BACKGROUND"
    """It goes at once, and they after it."""

    FOREGROUND = "PROPAGATION_FOREGROUND"
    """They go before it: it waits for those that block its deletion."""

    ORPHAN = "PROPAGATION_ORPHAN"
    """They stay, and forget it."""


class LiveMarkKind(ProtocolEnum):
    """The marks of a ControllerRevision. Since 0.1."""

    UNSPECIFIED = "LIVE_MARK_KIND_UNSPECIFIED"
    """Never sent."""

    CURRENT = "LIVE_MARK_KIND_CURRENT"
    """What the controller's objects were made from last."""

    UPDATE = "LIVE_MARK_KIND_UPDATE"
    """What the controller is changing them to."""

    IN_USE = "LIVE_MARK_KIND_IN_USE"
    """What somebody else uses."""


class ControllerRevisionOutcome(ProtocolEnum):
    """How a ControllerRevision came to be the newest of its history. Since 0.1."""

    UNSPECIFIED = "CONTROLLER_REVISION_OUTCOME_UNSPECIFIED"
    """Never sent."""

    UNCHANGED = "CONTROLLER_REVISION_OUTCOME_UNCHANGED"
    """It was already."""

    ROLLED_BACK = "CONTROLLER_REVISION_OUTCOME_ROLLED_BACK"
    """It is an older one, whose number is now the highest."""

    CREATED = "CONTROLLER_REVISION_OUTCOME_CREATED"
    """It is a new one."""


class ControllerRevisionEquality(ProtocolEnum):
    """How the data of two snapshots is compared. Data that is no JSON is compared byte by byte in any way. Since 0.1."""

    UNSPECIFIED = "CONTROLLER_REVISION_EQUALITY_UNSPECIFIED"
    """As `CONTROLLER_REVISION_EQUALITY_JSON`."""

    JSON = "CONTROLLER_REVISION_EQUALITY_JSON"
    """By what the JSON says: neither the order of keys nor the form of numbers counts, and no number is rounded."""

    BYTES = "CONTROLLER_REVISION_EQUALITY_BYTES"
    """Byte by byte."""

    JSON_IGNORING_EMPTY = "CONTROLLER_REVISION_EQUALITY_JSON_IGNORING_EMPTY"
    """As JSON, and members of objects that are `null`, `{}` or `[]`, or become so by this rule, count as not being there."""


class StoredIn(ProtocolEnum):
    """Where a member stores the objects of a resource. Since 0.1."""

    UNSPECIFIED = "STORED_IN_UNSPECIFIED"
    """Not said: outside."""

    OUTSIDE = "STORED_IN_OUTSIDE"
    """In a store of the member's own. What a collection of this cluster counts proves nothing about it."""

    COLLECTION = "STORED_IN_COLLECTION"
    """In the resource's collection in this cluster, and nowhere else."""


class Walk(ProtocolEnum):
    """What a migration worker walks. Since 0.1."""

    UNSPECIFIED = "WALK_UNSPECIFIED"
    """Not said: the collection of the resource if there is one, else the store outside."""

    COLLECTION = "WALK_COLLECTION"
    """The resource's collection in this cluster."""

    OUTSIDE = "WALK_OUTSIDE"
    """The store of the members outside of this cluster."""

    BOTH = "WALK_BOTH"
    """One after the other."""


class AgreementCause(ProtocolEnum):
    """What began or ended an agreement. Since 0.1."""

    UNSPECIFIED = "AGREEMENT_CAUSE_UNSPECIFIED"
    """No single cause."""

    MEMBER = "AGREEMENT_CAUSE_MEMBER"
    """What `cause_member` said, or that it came or went."""

    OBSERVED = "AGREEMENT_CAUSE_OBSERVED"
    """What discovery showed beside the reports."""

    ROSTER = "AGREEMENT_CAUSE_ROSTER"
    """A roster that was set or deleted."""


class AssumptionReason(ProtocolEnum):
    """What an answer or a success rests on beside what is known. Since 0.1."""

    UNSPECIFIED = "ASSUMPTION_REASON_UNSPECIFIED"
    """It rests on nothing else."""

    NO_ROSTER = "ASSUMPTION_REASON_NO_ROSTER"
    """No roster says which members must report the resource, or no migration was created and completed under one (see
    `StorageState.on_trust_since`). Assumed: only reporting members and observed servers wrote it.
    """

    SNAPSHOT_VERSION_UNKNOWN = "ASSUMPTION_REASON_SNAPSHOT_VERSION_UNKNOWN"
    """ControllerRevisions that may be of the resource's kind do not say in which version their data is: it is in none that
    would no longer be decoded.
    """

    LEFT_TO_OTHERS = "ASSUMPTION_REASON_LEFT_TO_OTHERS"
    """Something is stored of the resource, which was left to others: they decode it."""

    CONCLUDED_BEFORE = "ASSUMPTION_REASON_CONCLUDED_BEFORE"
    """The resource was last migrated before machine version 3, whose rules count what workers may write after they have lost
    their claims: nothing of that has landed. The next migration makes an end of this.
    """

    SAID_STOPPED = "ASSUMPTION_REASON_SAID_STOPPED"
    """Somebody said that the process of an evicted member has stopped: it had, and it wrote nothing since."""

    ROSTER_MAY_MISS = "ASSUMPTION_REASON_ROSTER_MAY_MISS"
    """The roster asks by labels, or for more members than it names, so it cannot notice a server that never joins: there is
    none. An operator that knows this sets `RosterRule.complete`.
    """

    SHORT_ABSENCE = "ASSUMPTION_REASON_SHORT_ABSENCE"
    """A member came back after a short absence: it did not run without its membership meanwhile. A migration that is claimed
    `write_grace` or more after it came back makes an end of this. Nobody has to vouch for it: it is said and changes no
    exit code.
    """

    UNGATED_GONE = "ASSUMPTION_REASON_UNGATED_GONE"
    """A member without a gate expired or was evicted: its process has stopped. Its return makes an end of this, or whoever says
    that it has stopped.
    """


class DangerReason(ProtocolEnum):
    """What makes something unsafe. Since 0.1. Clients treat an unknown reason as a danger and show its `message`."""

    UNSPECIFIED = "DANGER_REASON_UNSPECIFIED"
    """Never sent."""

    NO_STATE = "DANGER_REASON_NO_STATE"
    """Nothing is known of the resource's store."""

    PERSISTED_UNKNOWN = "DANGER_REASON_PERSISTED_UNKNOWN"
    """Objects may be stored in versions that nobody can name."""

    PERSISTED = "DANGER_REASON_PERSISTED"
    """Objects may be stored in `version`."""

    PERSISTED_HASH = "DANGER_REASON_PERSISTED_HASH"
    """Objects may be stored in the encoding of which only `hash` is known."""

    SELECTED = "DANGER_REASON_SELECTED"
    """Members are instructed to encode `version`."""

    REPORTED = "DANGER_REASON_REPORTED"
    """`member` encodes `version`."""

    VOTED = "DANGER_REASON_VOTED"
    """`member` prefers `version`, so it may be selected."""

    DRAINING = "DANGER_REASON_DRAINING"
    """Writes in `version` may land until `until_log_time_ms`."""

    DRAINING_HASH = "DANGER_REASON_DRAINING_HASH"
    """Writes in the encoding with `hash`, which discovery has shown, may land until `until_log_time_ms`."""

    OBSERVED = "DANGER_REASON_OBSERVED"
    """A server shows the encoding with `hash` in discovery."""

    OBSERVATION_EXPIRED = "DANGER_REASON_OBSERVATION_EXPIRED"
    """Nobody has looked at the resource's discovery for two periods."""

    ABSENT = "DANGER_REASON_ABSENT"
    """The roster asks for `member`, which does not speak for the resource."""

    ABSENT_MORE = "DANGER_REASON_ABSENT_MORE"
    """The roster asks for `count` more."""

    NOT_DECODABLE = "DANGER_REASON_NOT_DECODABLE"
    """The binary would encode or vote for `version`, which `member` does not decode."""

    SNAPSHOT = "DANGER_REASON_SNAPSHOT"
    """The ControllerRevision `snapshot`, which never changes, is in `version`."""

    UNREADABLE_HASH = "DANGER_REASON_UNREADABLE_HASH"
    """An encoding whose `hash` matches no known kind and version is stored, draining or shown in discovery: it may be any version."""

    CONTRADICTED = "DANGER_REASON_CONTRADICTED"
    """A server shows an encoding in discovery that no member reports."""

    VERSION_UNKNOWN = "DANGER_REASON_VERSION_UNKNOWN"
    """Nobody ever reported, observed or stored `version`, so it may be mistyped: the message names those that are known."""

    DRAINING_UNKNOWN = "DANGER_REASON_DRAINING_UNKNOWN"
    """Writes in versions that nobody can name may land until `until_log_time_ms`."""

    MEMBER_SILENT = "DANGER_REASON_MEMBER_SILENT"
    """So many members as `count` says, of which `member` is the first, have joined and have not reported: what they encode and
    decode is unknown. An empty report counts.
    """

    SCOPE_UNKNOWN = "DANGER_REASON_SCOPE_UNKNOWN"
    """A roster asks for resources of `scope`, and no such resource is known."""


class ObstacleReason(ProtocolEnum):
    """Why the members do not agree. Since 0.1. Clients treat an unknown reason as an obstacle and show its `message`."""

    UNSPECIFIED = "OBSTACLE_REASON_UNSPECIFIED"
    """Never sent."""

    NOTHING_KNOWN = "OBSTACLE_REASON_NOTHING_KNOWN"
    """Nothing at all is known: no resource is reported, observed, draining or on a roster. The request can allow this."""

    MEMBER_SILENT = "OBSTACLE_REASON_MEMBER_SILENT"
    """The members have joined and have not reported since: what they encode is unknown. An empty report counts."""

    SCOPE_UNKNOWN = "OBSTACLE_REASON_SCOPE_UNKNOWN"
    """A roster asks for resources of `scope`, and no such resource is known."""

    UNKNOWN = "OBSTACLE_REASON_UNKNOWN"
    """The resource was never reported or observed, so it may be mistyped: `nearest` is the known one with the most similar name."""

    UNREPORTED = "OBSTACLE_REASON_UNREPORTED"
    """No member reports the resource, and discovery shows nothing of it."""

    NOTHING_SELECTED = "OBSTACLE_REASON_NOTHING_SELECTED"
    """The members vote, each group for its version, and no version is selected: they encode nothing."""

    ENCODINGS_DIFFER = "OBSTACLE_REASON_ENCODINGS_DIFFER"
    """The members do not all encode one version; each group encodes its own."""

    FIXED_ELSEWHERE = "OBSTACLE_REASON_FIXED_ELSEWHERE"
    """The fixed entries of the members encode another version than `selected_version`."""

    NOT_ADOPTED = "OBSTACLE_REASON_NOT_ADOPTED"
    """The members vote and have not adopted `selected_version`, which was selected at `selected_revision`."""

    ABSENT = "OBSTACLE_REASON_ABSENT"
    """The roster asks for the members in `absent`, which do not report the resource."""

    CONTRADICTED = "OBSTACLE_REASON_CONTRADICTED"
    """Discovery shows `hashes`, or showed them last, and no member reports one of them."""

    OBSERVATION_EXPIRED = "OBSTACLE_REASON_OBSERVATION_EXPIRED"
    """No member reports the resource, and nobody has looked at its discovery for two periods."""

    OBSERVATIONS_DIFFER = "OBSTACLE_REASON_OBSERVATIONS_DIFFER"
    """No member reports the resource, and discovery shows several encodings: `hashes`."""


class UpgradeReason(ProtocolEnum):
    """Why an upgrade may not go on; a smaller number is worse. Since 0.1. Clients treat an unknown reason as an obstacle and show its
    `message`.
    """

    UNSPECIFIED = "UPGRADE_REASON_UNSPECIFIED"
    """Never sent."""

    ALARM = "UPGRADE_REASON_ALARM"
    """The replica that answers raises `alarm`."""

    DISAGREEMENT = "UPGRADE_REASON_DISAGREEMENT"
    """The members do not agree on the resource, or nothing is known at all: `agreement` says why."""

    ROSTER = "UPGRADE_REASON_ROSTER"
    """A roster asks for members that do not report the resource, or for resources that nothing knows: `agreement` says which."""

    SILENT = "UPGRADE_REASON_SILENT"
    """The members have joined and have not reported since. An empty report counts."""

    EXPIRING = "UPGRADE_REASON_EXPIRING"
    """The member has not renewed its membership for two thirds of its TTL: it expires in `remaining_ms` unless it renews."""

    MIGRATION_FAILED = "UPGRADE_REASON_MIGRATION_FAILED"
    """The worker of `migration` gave up, and nothing has migrated the resource since."""

    NOT_MIGRATED = "UPGRADE_REASON_NOT_MIGRATED"
    """Objects may be stored in another version than the one that is agreed on, and no migration waits or runs."""

    MIGRATION_PENDING = "UPGRADE_REASON_MIGRATION_PENDING"
    """`migration` waits for a worker."""

    MIGRATION_RUNNING = "UPGRADE_REASON_MIGRATION_RUNNING"
    """`worker` has claimed `migration`."""

    DRAINING = "UPGRADE_REASON_DRAINING"
    """Writes in another version than the one that is agreed on may still land, for `remaining_ms`: in `version`, in the encoding
    with `hash`, or, if both are empty, in versions that nobody can name.
    """


class MigrationReason(ProtocolEnum):
    """Why a migration was created. Since 0.1."""

    UNSPECIFIED = "MIGRATION_REASON_UNSPECIFIED"
    """Never sent."""

    AGREEMENT = "MIGRATION_REASON_AGREEMENT"
    """What was agreed on, or what is persisted, changed."""

    MANUAL = "MIGRATION_REASON_MANUAL"
    """Somebody asked for it."""

    REWRITE_ALL = "MIGRATION_REASON_REWRITE_ALL"
    """Every object is to be written anew though its version is right: a key is rotated. What was stored as a whole after the
    migration's start, its `metadata.create_revision`, needs no rewrite: start it only once every server writes with the
    new key and the last write with the old one has landed or can land no more. Nobody checks that, except where the key is
    a topic, of the group `keys.synod`: its migration begins by itself, and rewrites what is not in its target's key.
    """


class WorkerStop(ProtocolEnum):
    """What a worker says of its rewrites when it gives up its claim: it starts none any more. Since 0.1."""

    UNSPECIFIED = "WORKER_STOP_UNSPECIFIED"
    """Not said: whoever sends this does not speak for the worker, which may go on until its claim would have run out."""

    SOME_UNANSWERED = "WORKER_STOP_SOME_UNANSWERED"
    """Some were not answered, so they may still land."""

    ALL_ANSWERED = "WORKER_STOP_ALL_ANSWERED"
    """All were answered."""


class MigrationPhase(ProtocolEnum):
    """Where a migration stands. Since 0.1."""

    UNSPECIFIED = "MIGRATION_PHASE_UNSPECIFIED"
    """Never sent."""

    PENDING = "MIGRATION_PHASE_PENDING"
    """It waits for a worker."""

    RUNNING = "MIGRATION_PHASE_RUNNING"
    """A worker has claimed it."""

    SUCCEEDED = "MIGRATION_PHASE_SUCCEEDED"
    """Every object is in the target's encoding."""

    FAILED = "MIGRATION_PHASE_FAILED"
    """A worker gave up. It may be tried again."""

    ABORTED = "MIGRATION_PHASE_ABORTED"
    """It was called off, and will never be tried again."""


class AbortCause(ProtocolEnum):
    """Why a migration was called off. Since 0.1."""

    UNSPECIFIED = "ABORT_CAUSE_UNSPECIFIED"
    """Never sent."""

    NO_AGREEMENT = "ABORT_CAUSE_NO_AGREEMENT"
    """The members agree no more."""

    AGREEMENT_MOVED = "ABORT_CAUSE_AGREEMENT_MOVED"
    """They agree on something else, or agreed anew."""

    REQUESTED = "ABORT_CAUSE_REQUESTED"
    """Somebody asked for it."""

    STORAGE_UNKNOWN = "ABORT_CAUSE_STORAGE_UNKNOWN"
    """What is stored became unknown meanwhile."""


class FailureClass(ProtocolEnum):
    """What kind of failure it is. Since 0.1."""

    UNSPECIFIED = "FAILURE_CLASS_UNSPECIFIED"
    """Never sent."""

    TRANSIENT = "FAILURE_CLASS_TRANSIENT"
    """A server was not there, too busy or in error: trying again may help."""

    REJECTED = "FAILURE_CLASS_REJECTED"
    """An object could not be rewritten for a reason of its own: trying again may help."""

    NOT_SUPPORTED = "FAILURE_CLASS_NOT_SUPPORTED"
    """There is no such list, or its objects cannot be updated. Permanent."""

    FORBIDDEN = "FAILURE_CLASS_FORBIDDEN"
    """The worker may not. Permanent."""

    UNDECODABLE = "FAILURE_CLASS_UNDECODABLE"
    """An object is in an encoding that nobody at hand can read. Permanent."""


class ObjectKind(ProtocolEnum):
    """What can be watched. The events of members, storage versions, storage states, settings, migrations and rosters are the
    upgrade history: events of other kinds never push them out of what is kept. Since 0.1.
    """

    UNSPECIFIED = "OBJECT_KIND_UNSPECIFIED"
    """Never sent."""

    MEMBER = "OBJECT_KIND_MEMBER"
    """Members; the name is the member's id."""

    STORAGE_VERSION = "OBJECT_KIND_STORAGE_VERSION"
    """Storage versions; the name is `<group>.<resource>`."""

    STORAGE_STATE = "OBJECT_KIND_STORAGE_STATE"
    """Storage states; the name is `<resource>.<group>`."""

    SETTINGS = "OBJECT_KIND_SETTINGS"
    """The replicated settings; the name is `settings`."""

    COLLECTION = "OBJECT_KIND_COLLECTION"
    """Collections; the name is `<resource>.<group>`."""

    OBJECT = "OBJECT_KIND_OBJECT"
    """Objects of collections."""

    CONTROLLER_REVISION = "OBJECT_KIND_CONTROLLER_REVISION"
    """ControllerRevisions; the name is that in the namespace."""

    LEASE = "OBJECT_KIND_LEASE"
    """Leases; the name is that in the namespace."""

    LEASE_CANDIDATE = "OBJECT_KIND_LEASE_CANDIDATE"
    """Candidates for leases; the name is their identity."""

    MIGRATION = "OBJECT_KIND_MIGRATION"
    """Migrations; the name is `<resource>.<group>-<revision>`."""

    ROSTER = "OBJECT_KIND_ROSTER"
    """Rosters; the name is the scope."""


class WatchEndReason(ProtocolEnum):
    """Why a replica ended a watch. Since 0.1."""

    UNSPECIFIED = "WATCH_END_REASON_UNSPECIFIED"
    """Never sent."""

    TOO_SLOW = "WATCH_END_REASON_TOO_SLOW"
    """The reader was so slow that the history it needs was dropped: resuming answers `compacted`."""

    SHUTDOWN = "WATCH_END_REASON_SHUTDOWN"
    """The replica shuts down: resume on another one."""

    CHECKPOINT = "WATCH_END_REASON_CHECKPOINT"
    """The replica installed a checkpoint whose history begins later: resuming elsewhere may still work."""

    CUT_OFF = "WATCH_END_REASON_CUT_OFF"
    """The replica could not prove for some seconds that it has all there is: it is cut off from the others, or no quorum of
    them runs. Resume on another one.
    """

    RIGHTS = "WATCH_END_REASON_RIGHTS"
    """What the caller may do has changed, or its proof of who it is has ended: who opens the watch again is told whether it may."""


class EventType(ProtocolEnum):
    """What happened to an object. Since 0.1."""

    UNSPECIFIED = "EVENT_TYPE_UNSPECIFIED"
    """Never sent."""

    ADDED = "EVENT_TYPE_ADDED"
    """It was created."""

    MODIFIED = "EVENT_TYPE_MODIFIED"
    """It was there and changed. A lease that was deleted while somebody waited or stood for it is a new one of its name at the
    same revision: one event of this type, with another `metadata.uid` than before.
    """

    REMOVED = "EVENT_TYPE_REMOVED"
    """It is gone."""


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class ResponseHeader(Message):
    """What every response begins with. Since 0.1."""

    cluster_id: str = ""
    """The cluster that answered. A restore makes a new id: epochs and sessions of another cluster are worthless here."""

    replica_id: int = 0
    """The replica that answered, as numbered in the replica set; at least 1."""

    revision: int = 0
    """For a read: the revision of the state that was read. For a change: the revision of the store right after the
    command, at its first execution if this is the answer to a retry. A watch from `revision` + 1 misses nothing.
    """

    raft_term: int = 0
    """The Raft term that the replica is in, for display: no rule depends on it."""

    age_ms: int | None = None
    """Set on a read that gave `max_staleness_ms`: the age of the answer, in milliseconds, counted from when its read
    index was asked for.
    """

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("cluster_id", "clusterId", "one", "str"),
        Field("replica_id", "replicaId", "one", "long"),
        Field("revision", "revision", "one", "long"),
        Field("raft_term", "raftTerm", "one", "long"),
        Field("age_ms", "ageMs", "optional", "long"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class RequestId(Message):
    """The exactly-once key of a changing request. A retry with the same session and sequence, on any replica, gets the
    outcome of the first execution and is not executed again. A request without one is tried at most once by the server,
    and its caller cannot ask what became of it. Since 0.1.
    """

    session: int = 0
    """The session, as `Sessions.Open` gave it."""

    sequence: int = 0
    """The number of this request in its session; at least 1, each used for one request only."""

    lowest_unanswered: int = 0
    """The lowest sequence whose answer the client has not had yet; at least 1, at most `sequence`. The outcomes below it
    are forgotten.
    """

    cluster_id: str = ""
    """The cluster that gave the session. If set and not the cluster that is asked: `REQUEST_EXPIRED`."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("session", "session", "one", "long"),
        Field("sequence", "sequence", "one", "long"),
        Field("lowest_unanswered", "lowestUnanswered", "one", "long"),
        Field("cluster_id", "clusterId", "one", "str"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class MemberEpoch(Message):
    """A member's fencing token: who speaks, and which life of it. Since 0.1."""

    member: str = ""
    """The member's id: a DNS-1123 subdomain of at most 253 characters."""

    epoch: int = 0
    """The epoch that its join returned; at least 1. An older one than the member's present epoch: `STALE_EPOCH`."""

    cluster_id: str = ""
    """The cluster that gave the epoch. If set and not the cluster that is asked: `NOT_A_MEMBER`."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("member", "member", "one", "str"),
        Field("epoch", "epoch", "one", "long"),
        Field("cluster_id", "clusterId", "one", "str"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class ReadOptions(Message):
    """How fresh or how exact a read must be. Left out or empty, the read is linearizable on whichever replica is asked: it
    sees every change that was acknowledged before it was sent. Since 0.1.
    """

    at_revision: int | None = None
    """Read the state as it was at exactly this revision; at least 1, and without the two other fields. Below the window
    that is kept: `COMPACTED`. Above the present revision: `FUTURE_REVISION`.
    """

    min_revision: int | None = None
    """Read the replica's own state once it has come to at least this revision, without asking the leader: a client reads
    its own writes anywhere. 0 takes whatever state the replica has. A replica that does not get there before the
    deadline answers `DEADLINE_EXCEEDED`.
    """

    max_staleness_ms: int | None = None
    """Read the replica's own state if it was confirmed to be current no longer ago than this, in milliseconds; 1 to
    600,000. Counted from when the confirming read index was asked for; if it is older, the replica asks again first.
    """

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("at_revision", "atRevision", "optional", "long"),
        Field("min_revision", "minRevision", "optional", "long"),
        Field("max_staleness_ms", "maxStalenessMs", "optional", "long"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class GroupResource(Message):
    """A resource of Kubernetes-like APIs. Since 0.1."""

    group: str = ""
    """The API group, a DNS-1123 subdomain other than `core`; empty for the core group."""

    resource: str = ""
    """The resource in the plural, a DNS-1035 label, as in `deployments`."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("group", "group", "one", "str"),
        Field("resource", "resource", "one", "str"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class Metadata(Message):
    """What every object has. Nothing here moves without a new `resource_version`. Since 0.1."""

    name: str = ""
    """The object's name, unique in its kind."""

    uid: str = ""
    """A UUID that no other object ever has, also not one of the same name later."""

    resource_version: int = 0
    """The revision of the object's last change."""

    create_revision: int = 0
    """The revision that created the object."""

    generation: int = 0
    """Counts the changes of the desired part, from 1."""

    creation_time_ms: int = 0
    """When the object was created, in milliseconds since the Unix epoch by the leader's wall clock: for display, no rule
    depends on it.
    """

    labels: Mapping[str, str] = field(default_factory=dict)
    """Up to 64 labels. Keys are qualified names, values have at most 63 characters, both as in Kubernetes."""

    namespace: str = ""
    """The object's namespace, a DNS-1123 label; empty for objects without one."""

    annotations: Mapping[str, str] = field(default_factory=dict)
    """Notes that nobody selects by: at most 256 KiB in all. Keys are qualified names, texts are free."""

    owner_references: tuple[OwnerReference, ...] = ()
    """What the object goes with: at most 64, each once, at most one of them the controller."""

    finalizers: tuple[str, ...] = ()
    """What must be done before the object goes: at most 64 qualified names, each once."""

    deletion_time_ms: int | None = None
    """When the deletion was asked for of an object that waits for its finalizers, in milliseconds since the Unix epoch
    by the leader's wall clock: for display. Unset while nobody has deleted it.
    """

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("name", "name", "one", "str"),
        Field("uid", "uid", "one", "str"),
        Field("resource_version", "resourceVersion", "one", "long"),
        Field("create_revision", "createRevision", "one", "long"),
        Field("generation", "generation", "one", "long"),
        Field("creation_time_ms", "creationTimeMs", "one", "long"),
        Field("labels", "labels", "map", "str"),
        Field("namespace", "namespace", "one", "str"),
        Field("annotations", "annotations", "map", "str"),
        Field("owner_references", "ownerReferences", "many", "OwnerReference"),
        Field("finalizers", "finalizers", "many", "str"),
        Field("deletion_time_ms", "deletionTimeMs", "optional", "long"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class OwnerReference(Message):
    """An object that another one goes with. It is in the same namespace, or has none. Since 0.1."""

    api_version: str = ""
    """The owner's group and a version of it, `[group/]version`: only the group decides."""

    kind: str = ""
    """The owner's kind."""

    name: str = ""
    """The owner's name."""

    uid: str = ""
    """The owner's uid: a later object of the same name is no owner."""

    controller: bool = False
    """Whether this owner is the one that manages the object."""

    block_owner_deletion: bool = False
    """Whether this owner, deleted in the foreground, waits for the object to go."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("api_version", "apiVersion", "one", "str"),
        Field("kind", "kind", "one", "str"),
        Field("name", "name", "one", "str"),
        Field("uid", "uid", "one", "str"),
        Field("controller", "controller", "one", "bool"),
        Field("block_owner_deletion", "blockOwnerDeletion", "one", "bool"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class Preconditions(Message):
    """Which object a change was made for. Since 0.1."""

    uid: str = ""
    """The object with this uid, and no later one of the same name. Empty: any."""

    resource_version: int | None = None
    """The object as of this revision, its `resource_version`; at least 1. Left out: any."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("uid", "uid", "one", "str"),
        Field("resource_version", "resourceVersion", "optional", "long"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class Condition(Message):
    """One observation about an object, in the form that Kubernetes uses. Since 0.1."""

    type: str = ""
    """What is observed, as in `AllEncodingVersionsEqual`; unique within its object."""

    status: ConditionStatus = ConditionStatus.UNSPECIFIED
    """Whether it holds."""

    reason: str = ""
    """Why, as one CamelCase word for programs."""

    message: str = ""
    """Why, as a sentence for people."""

    observed_generation: int = 0
    """The object's `generation` that the observation is about."""

    last_transition_time_ms: int = 0
    """When it last changed, in milliseconds since the Unix epoch by the leader's wall clock: for display."""

    last_transition_revision: int = 0
    """The revision at which it last changed."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("type", "type", "one", "str"),
        Field("status", "status", "one", "ConditionStatus"),
        Field("reason", "reason", "one", "str"),
        Field("message", "message", "one", "str"),
        Field("observed_generation", "observedGeneration", "one", "long"),
        Field("last_transition_time_ms", "lastTransitionTimeMs", "one", "long"),
        Field("last_transition_revision", "lastTransitionRevision", "one", "long"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class ClusterRevisionAtRequest(Message):
    """Names a time. Since 0.1."""

    time_ms: int = 0
    """The time, in milliseconds since the Unix epoch."""

    read: ReadOptions | None = None
    """How to read; left out: linearizable. A past revision cannot be asked for."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("time_ms", "timeMs", "one", "long"),
        Field("read", "read", "optional", "ReadOptions"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class ClusterRevisionAtResponse(Message):
    """The revision of a time. Since 0.1."""

    header: ResponseHeader | None = None
    """Who answered, and at which revision."""

    revision: int = 0
    """The newest kept revision at or before the time. The time of a revision is the greatest wall clock that leaders stamped on
    it and on all revisions before, so it never goes back. What happened after the time begins at the next revision.
    """

    time_ms: int = 0
    """When the revision was made, in milliseconds since the Unix epoch by the leader's wall clock."""

    caller: str | None = None
    """The proved identity of the caller whose change made the revision, as in `WatchEvents`."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("header", "header", "optional", "ResponseHeader"),
        Field("revision", "revision", "one", "long"),
        Field("time_ms", "timeMs", "one", "long"),
        Field("caller", "caller", "optional", "str"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class ClusterStatusRequest(Message):
    """Asks how the cluster does. Since 0.1."""


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class ClusterStatusResponse(Message):
    """How the cluster does, as one replica sees it. Since 0.1."""

    header: ResponseHeader | None = None
    """Who answered, and its own revision."""

    cluster_name: str = ""
    """The name that the replicas were started with."""

    version: str = ""
    """The version of the replica's program."""

    machine_version: int = 0
    """The behaviour of apply that is in force."""

    leader_id: int | None = None
    """The leader as far as the replica knows. Unset: it knows none."""

    replicas: tuple[ReplicaStatus, ...] = ()
    """The replica set, ordered by id."""

    log_time_ms: int = 0
    """The replica's log time, in milliseconds."""

    applied_index: int = 0
    """The last log index that the replica has applied."""

    digest: str = ""
    """The digest of its state, in lower-case hexadecimal digits."""

    digest_index: int = 0
    """The log index at which `digest` was taken: equal indexes must have equal digests on all replicas."""

    oldest_revision: int = 0
    """The oldest revision from which a watch of all kinds can begin."""

    alarms: tuple[Alarm, ...] = ()
    """What an operator must look at; empty if all is well."""

    vitals: ReplicaVitals | None = None
    """What the replica tells of its host and of the size of its state. Since 0.1."""

    oldest_upgrade_revision: int = 0
    """The oldest revision from which a watch can begin that names only kinds of the upgrade history: see `ObjectKind`. Since 0.1."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("header", "header", "optional", "ResponseHeader"),
        Field("cluster_name", "clusterName", "one", "str"),
        Field("version", "version", "one", "str"),
        Field("machine_version", "machineVersion", "one", "int"),
        Field("leader_id", "leaderId", "optional", "long"),
        Field("replicas", "replicas", "many", "ReplicaStatus"),
        Field("log_time_ms", "logTimeMs", "one", "long"),
        Field("applied_index", "appliedIndex", "one", "long"),
        Field("digest", "digest", "one", "str"),
        Field("digest_index", "digestIndex", "one", "long"),
        Field("oldest_revision", "oldestRevision", "one", "long"),
        Field("alarms", "alarms", "many", "Alarm"),
        Field("vitals", "vitals", "optional", "ReplicaVitals"),
        Field("oldest_upgrade_revision", "oldestUpgradeRevision", "one", "long"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class ReplicaStatus(Message):
    """One replica of the replica set. Since 0.1."""

    replica_id: int = 0
    """Its number; at least 1, never used again for another data directory."""

    peer_address: str = ""
    """Where the other replicas reach it."""

    client_address: str = ""
    """Where clients reach it; empty if it has not announced itself yet."""

    directory_id: str = ""
    """The identity of its data directory, as 32 lower-case hexadecimal digits."""

    role: ReplicaRole = ReplicaRole.UNSPECIFIED
    """What it is in the replica set."""

    version: str = ""
    """The version of its program; empty if it has not announced itself yet."""

    machine_version: int = 0
    """The highest machine version that it has announced; 0 if it has not announced itself yet."""

    applied_index: int | None = None
    """The last log index that it has applied. Unset if the replica that answers does not know."""

    matched_index: int | None = None
    """The last log index that it has stored. Known to the leader, unset elsewhere."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("replica_id", "replicaId", "one", "long"),
        Field("peer_address", "peerAddress", "one", "str"),
        Field("client_address", "clientAddress", "one", "str"),
        Field("directory_id", "directoryId", "one", "str"),
        Field("role", "role", "one", "ReplicaRole"),
        Field("version", "version", "one", "str"),
        Field("machine_version", "machineVersion", "one", "int"),
        Field("applied_index", "appliedIndex", "optional", "long"),
        Field("matched_index", "matchedIndex", "optional", "long"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class Alarm(Message):
    """Something that an operator must look at. Since 0.1."""

    kind: AlarmKind = AlarmKind.UNSPECIFIED
    """What is wrong."""

    replica_id: int = 0
    """The replica that it is about; 0 if it is about the cluster."""

    message: str = ""
    """What is wrong and what to do, as a sentence for people."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("kind", "kind", "one", "AlarmKind"),
        Field("replica_id", "replicaId", "one", "long"),
        Field("message", "message", "one", "str"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class Settings(Message):
    """The replicated settings: all that apply goes by beside its state. Since 0.1."""

    resource_version: int = 0
    """The revision of their last change."""

    history_revisions: int = 0
    """How many revisions of history are kept for watches and past reads."""

    history_bytes: int = 0
    """How many bytes of history are kept at most."""

    write_grace_ms: int = 0
    """How long a write may land after its member's membership ended, in milliseconds of log time."""

    unreported_grace_ms: int = 0
    """How long the entries of a replaced epoch stand while the new one has not reported, in milliseconds of log time."""

    session_ttl_ms: int = 0
    """How long a session lives without use, in milliseconds of log time."""

    session_outcomes: int = 0
    """How many outcomes are kept for a session."""

    sessions_max: int = 0
    """How many sessions may be open."""

    members_max: int = 0
    """How many members there may be."""

    report_entries_max: int = 0
    """How many entries a report may have."""

    agreements_kept: int = 0
    """How many changes of agreement are kept for each resource."""

    state_quota_bytes: int = 0
    """How large the state may grow, in bytes."""

    enforce_persisted: tuple[GroupResource, ...] = ()
    """The resources for which a voter must decode every version known to be persisted."""

    migrations_kept: int = 0
    """How many finished migrations are kept for each resource."""

    discovery_period_ms: int = 0
    """How often an observer looks at discovery, in milliseconds of log time; after twice that what it saw is stale."""

    votes: Switch | None = None
    """Whether votes move what is selected. While they are off, `selected` stays as it is for each resource that has a voter.
    Reports and adoptions are accepted as before, and their votes count once votes are on again. The switches are unset by
    a replica that knows none, which has everything on.
    """

    objects: Switch | None = None
    """Whether collections and their objects change. While they are off, each such change is refused; objects with a time to
    live still end, and what deletions have begun goes on.
    """

    histories: Switch | None = None
    """Whether histories of ControllerRevisions change. While they are off, each such change is refused, but for marks of
    what is in use and for releases.
    """

    leases: Switch | None = None
    """Whether leases are given and renewed, and candidates stand for them. While they are off, each hold ends at its
    deadline and nobody gets a lease; releases go on, and tokens fence as before.
    """

    migrations: Switch | None = None
    """Whether migrations are started and worked at. While they are off, none is created, claimed or continued, and a
    failed one waits; a claim ends at its deadline. What a worker has finished is still recorded, and aborts go on.
    """

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("resource_version", "resourceVersion", "one", "long"),
        Field("history_revisions", "historyRevisions", "one", "long"),
        Field("history_bytes", "historyBytes", "one", "long"),
        Field("write_grace_ms", "writeGraceMs", "one", "long"),
        Field("unreported_grace_ms", "unreportedGraceMs", "one", "long"),
        Field("session_ttl_ms", "sessionTtlMs", "one", "long"),
        Field("session_outcomes", "sessionOutcomes", "one", "int"),
        Field("sessions_max", "sessionsMax", "one", "int"),
        Field("members_max", "membersMax", "one", "int"),
        Field("report_entries_max", "reportEntriesMax", "one", "int"),
        Field("agreements_kept", "agreementsKept", "one", "int"),
        Field("state_quota_bytes", "stateQuotaBytes", "one", "long"),
        Field("enforce_persisted", "enforcePersisted", "many", "GroupResource"),
        Field("migrations_kept", "migrationsKept", "one", "int"),
        Field("discovery_period_ms", "discoveryPeriodMs", "one", "long"),
        Field("votes", "votes", "optional", "Switch"),
        Field("objects", "objects", "optional", "Switch"),
        Field("histories", "histories", "optional", "Switch"),
        Field("leases", "leases", "optional", "Switch"),
        Field("migrations", "migrations", "optional", "Switch"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class SettingsPatch(Message):
    """A change of settings: what is unset stays as it is. Since 0.1."""

    history_revisions: int | None = None
    """See `Settings.history_revisions`."""

    history_bytes: int | None = None
    """See `Settings.history_bytes`."""

    write_grace_ms: int | None = None
    """See `Settings.write_grace_ms`."""

    unreported_grace_ms: int | None = None
    """See `Settings.unreported_grace_ms`."""

    session_ttl_ms: int | None = None
    """See `Settings.session_ttl_ms`."""

    session_outcomes: int | None = None
    """See `Settings.session_outcomes`."""

    sessions_max: int | None = None
    """See `Settings.sessions_max`."""

    members_max: int | None = None
    """See `Settings.members_max`."""

    report_entries_max: int | None = None
    """See `Settings.report_entries_max`."""

    agreements_kept: int | None = None
    """See `Settings.agreements_kept`."""

    state_quota_bytes: int | None = None
    """See `Settings.state_quota_bytes`."""

    enforce_persisted: GroupResourceList | None = None
    """See `Settings.enforce_persisted`. If set, the list takes the place of the one before."""

    migrations_kept: int | None = None
    """See `Settings.migrations_kept`."""

    discovery_period_ms: int | None = None
    """See `Settings.discovery_period_ms`."""

    votes: Switch | None = None
    """See `Settings.votes`. A switch is refused with `UNAVAILABLE` while a replica of the set does not know switches."""

    objects: Switch | None = None
    """See `Settings.objects`, and `votes` here."""

    histories: Switch | None = None
    """See `Settings.histories`, and `votes` here."""

    leases: Switch | None = None
    """See `Settings.leases`, and `votes` here."""

    migrations: Switch | None = None
    """See `Settings.migrations`, and `votes` here."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("history_revisions", "historyRevisions", "optional", "long"),
        Field("history_bytes", "historyBytes", "optional", "long"),
        Field("write_grace_ms", "writeGraceMs", "optional", "long"),
        Field("unreported_grace_ms", "unreportedGraceMs", "optional", "long"),
        Field("session_ttl_ms", "sessionTtlMs", "optional", "long"),
        Field("session_outcomes", "sessionOutcomes", "optional", "int"),
        Field("sessions_max", "sessionsMax", "optional", "int"),
        Field("members_max", "membersMax", "optional", "int"),
        Field("report_entries_max", "reportEntriesMax", "optional", "int"),
        Field("agreements_kept", "agreementsKept", "optional", "int"),
        Field("state_quota_bytes", "stateQuotaBytes", "optional", "long"),
        Field("enforce_persisted", "enforcePersisted", "optional", "GroupResourceList"),
        Field("migrations_kept", "migrationsKept", "optional", "int"),
        Field("discovery_period_ms", "discoveryPeriodMs", "optional", "long"),
        Field("votes", "votes", "optional", "Switch"),
        Field("objects", "objects", "optional", "Switch"),
        Field("histories", "histories", "optional", "Switch"),
        Field("leases", "leases", "optional", "Switch"),
        Field("migrations", "migrations", "optional", "Switch"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class GroupResourceList(Message):
    """A list that can be left out, which is not the same as empty. Since 0.1."""

    items: tuple[GroupResource, ...] = ()
    """The resources, none twice; up to 10,000."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("items", "items", "many", "GroupResource"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class ClusterGetSettingsRequest(Message):
    """Asks for the settings. Since 0.1."""

    read: ReadOptions | None = None
    """How to read; left out: linearizable."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("read", "read", "optional", "ReadOptions"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class ClusterGetSettingsResponse(Message):
    """The settings. Since 0.1."""

    header: ResponseHeader | None = None
    """Who answered, and at which revision."""

    settings: Settings | None = None
    """The settings."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("header", "header", "optional", "ResponseHeader"),
        Field("settings", "settings", "optional", "Settings"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class ClusterUpdateSettingsRequest(Message):
    """Asks to change settings. Since 0.1."""

    request_id: RequestId | None = None
    """The exactly-once key, if the caller has a session."""

    patch: SettingsPatch | None = None
    """What to change; required."""

    if_revision: int | None = None
    """Change them only if their `resource_version` is this one; else `CONFLICT`, with the settings in the details. Left
    out: change them in any case.
    """

    dry_run: bool = False
    """True: check everything and change nothing. The answer is what would have been."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("request_id", "requestId", "optional", "RequestId"),
        Field("patch", "patch", "optional", "SettingsPatch"),
        Field("if_revision", "ifRevision", "optional", "long"),
        Field("dry_run", "dryRun", "one", "bool"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class ClusterUpdateSettingsResponse(Message):
    """The settings are as asked. Since 0.1."""

    header: ResponseHeader | None = None
    """Who answered, and at which revision."""

    changed: bool = False
    """False if they were so already."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("header", "header", "optional", "ResponseHeader"),
        Field("changed", "changed", "one", "bool"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class ClusterAddReplicaRequest(Message):
    """Asks to add a replica. Since 0.1."""

    replica_id: int = 0
    """Its number, at least 1, which no replica of this cluster has had before; required."""

    peer_address: str = ""
    """Where the other replicas reach it, as `host:port`; required. A replica that it is to replace may have had the address."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("replica_id", "replicaId", "one", "long"),
        Field("peer_address", "peerAddress", "one", "str"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class ClusterAddReplicaResponse(Message):
    """The replica is in the replica set. Since 0.1."""

    header: ResponseHeader | None = None
    """Who answered, and its own revision."""

    changed: bool = False
    """False if it was there already."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("header", "header", "optional", "ResponseHeader"),
        Field("changed", "changed", "one", "bool"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class ClusterPromoteReplicaRequest(Message):
    """Asks to make a learner a voter. Since 0.1."""

    replica_id: int = 0
    """Its number; required."""

    replaces_id: int | None = None
    """The number of a replica that leaves the set in the same change. Left out: none does."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("replica_id", "replicaId", "one", "long"),
        Field("replaces_id", "replacesId", "optional", "long"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class ClusterPromoteReplicaResponse(Message):
    """The replica is a voter. Since 0.1."""

    header: ResponseHeader | None = None
    """Who answered, and its own revision."""

    changed: bool = False
    """False if it was so already."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("header", "header", "optional", "ResponseHeader"),
        Field("changed", "changed", "one", "bool"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class ClusterRemoveReplicaRequest(Message):
    """Asks to let a replica leave the replica set. Since 0.1."""

    replica_id: int = 0
    """Its number; required."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("replica_id", "replicaId", "one", "long"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class ClusterRemoveReplicaResponse(Message):
    """The replica is not in the replica set. Since 0.1."""

    header: ResponseHeader | None = None
    """Who answered, and its own revision."""

    changed: bool = False
    """False if it had left already."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("header", "header", "optional", "ResponseHeader"),
        Field("changed", "changed", "one", "bool"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class ClusterTransferLeaderRequest(Message):
    """Asks to hand the leadership over. Since 0.1."""

    replica_id: int | None = None
    """The number of the voter that is to lead. Left out: the one that holds most of the log."""

    from_replica_id: int | None = None
    """The number of the replica that is to hand it over. If another one leads, nothing is changed, so that the request can be sent
    again when it is not known what came of it. Left out: whichever leads.
    """

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("replica_id", "replicaId", "optional", "long"),
        Field("from_replica_id", "fromReplicaId", "optional", "long"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class ClusterTransferLeaderResponse(Message):
    """The leadership was handed over. Since 0.1."""

    header: ResponseHeader | None = None
    """Who answered, and its own revision."""

    changed: bool = False
    """False if the replica that was named leads already, or another one than that which was to hand over."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("header", "header", "optional", "ResponseHeader"),
        Field("changed", "changed", "one", "bool"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class ClusterCheckpointRequest(Message):
    """Asks for a checkpoint. Since 0.1."""


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class ClusterCheckpointResponse(Message):
    """The checkpoint is written. Since 0.1."""

    header: ResponseHeader | None = None
    """Who answered, and its own revision."""

    index: int = 0
    """The last log index that the checkpoint covers."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("header", "header", "optional", "ResponseHeader"),
        Field("index", "index", "one", "long"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class ReplicaVitals(Message):
    """What a replica tells of its host and of the size of its state. Since 0.1."""

    wall_time_ms: int = 0
    """Its wall clock, in milliseconds since 1970-01-01 00:00:00 UTC. No rule depends on it."""

    log_flushes: int = 0
    """How many of its last writes to the log the two times below are of; at most 128."""

    log_flush_us_median: int = 0
    """The median of how long they took until they were durable, in microseconds; 0 if there were none."""

    log_flush_us_max: int = 0
    """The longest of them, in microseconds; 0 if there were none."""

    state_bytes: int = 0
    """How large the state is, in bytes."""

    state_quota_bytes: int = 0
    """How large it may grow, in bytes: `Settings.state_quota_bytes`."""

    members: int = 0
    """How many members there are."""

    members_max: int = 0
    """How many there may be: `Settings.members_max`."""

    sessions: int = 0
    """How many sessions are open."""

    sessions_max: int = 0
    """How many may be open: `Settings.sessions_max`."""

    storage_versions: int = 0
    """How many resources are reported."""

    disagreements: int = 0
    """On how many of them there is no agreement."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("wall_time_ms", "wallTimeMs", "one", "long"),
        Field("log_flushes", "logFlushes", "one", "int"),
        Field("log_flush_us_median", "logFlushUsMedian", "one", "long"),
        Field("log_flush_us_max", "logFlushUsMax", "one", "long"),
        Field("state_bytes", "stateBytes", "one", "long"),
        Field("state_quota_bytes", "stateQuotaBytes", "one", "long"),
        Field("members", "members", "one", "int"),
        Field("members_max", "membersMax", "one", "int"),
        Field("sessions", "sessions", "one", "int"),
        Field("sessions_max", "sessionsMax", "one", "int"),
        Field("storage_versions", "storageVersions", "one", "int"),
        Field("disagreements", "disagreements", "one", "int"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class LogFilter(Message):
    """Which events a replica's process logs. Since 0.1."""

    filter: str = ""
    """The filter in force, as `synod serve --log` takes it."""

    configured: str = ""
    """The filter that the process was started with."""

    remaining_ms: int | None = None
    """After how long the configured filter returns, in milliseconds. Unset: it is in force."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("filter", "filter", "one", "str"),
        Field("configured", "configured", "one", "str"),
        Field("remaining_ms", "remainingMs", "optional", "long"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class ClusterGetLogFilterRequest(Message):
    """Asks for a replica's log filter. Since 0.1."""


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class ClusterGetLogFilterResponse(Message):
    """A replica's log filter. Since 0.1."""

    header: ResponseHeader | None = None
    """Who answered, and its own revision."""

    log_filter: LogFilter | None = None
    """The filter."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("header", "header", "optional", "ResponseHeader"),
        Field("log_filter", "logFilter", "optional", "LogFilter"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class ClusterSetLogFilterRequest(Message):
    """Asks to log other events for a while. Since 0.1."""

    filter: str | None = None
    """The filter, as `synod serve --log` takes it, as in `synod_server=debug,info`; 1 to 1,024 bytes. Left out: the configured
    filter returns now.
    """

    for_ms: int | None = None
    """After how long the configured filter returns, in milliseconds; 1,000 to 86,400,000. Left out: 600,000."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("filter", "filter", "optional", "str"),
        Field("for_ms", "forMs", "optional", "long"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class ClusterSetLogFilterResponse(Message):
    """The events are logged as asked. Since 0.1."""

    header: ResponseHeader | None = None
    """Who answered, and its own revision."""

    log_filter: LogFilter | None = None
    """The filter from now on."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("header", "header", "optional", "ResponseHeader"),
        Field("log_filter", "logFilter", "optional", "LogFilter"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class ClusterGetDiagnosticsRequest(Message):
    """Asks what a replica knows of itself. Since 0.1."""


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class ClusterGetDiagnosticsResponse(Message):
    """What a replica knows of itself. Since 0.1."""

    header: ResponseHeader | None = None
    """Who answered, and its own revision."""

    configuration: Mapping[str, str] = field(default_factory=dict)
    """What it was started with, by the names of the settings file; of certificates, keys, policy and audit log only where they
    are.
    """

    metrics: str = ""
    """Its metrics, in the OpenMetrics text format."""

    readiness: str = ""
    """The answer of `/readyz?verbose`."""

    log_filter: LogFilter | None = None
    """Its log filter."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("header", "header", "optional", "ResponseHeader"),
        Field("configuration", "configuration", "map", "str"),
        Field("metrics", "metrics", "one", "str"),
        Field("readiness", "readiness", "one", "str"),
        Field("log_filter", "logFilter", "optional", "LogFilter"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class ClusterBackupRequest(Message):
    """Asks for a backup. Since 0.1."""

    read: ReadOptions | None = None
    """How fresh the state must be; left out: linearizable, so that every change acknowledged before is in it. A past revision
    cannot be asked for.
    """

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("read", "read", "optional", "ReadOptions"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class ClusterBackupResponse(Message):
    """A part of a backup. Since 0.1."""

    begin: ClusterBackupBegin | None = None
    """The first message, and only that."""

    rows: bytes | None = None
    """Rows of the state, up to 1 MiB, as Synod stores them. A row can continue in the next message."""

    end: ClusterBackupEnd | None = None
    """The last message, and only that."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("begin", "begin", "optional", "ClusterBackupBegin"),
        Field("rows", "rows", "optional", "bytes"),
        Field("end", "end", "optional", "ClusterBackupEnd"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class ClusterBackupBegin(Message):
    """What a backup is of. Since 0.1."""

    header: ResponseHeader | None = None
    """Who answers, and at which revision the state is."""

    cluster_name: str = ""
    """The name that the replicas were started with."""

    log_time_ms: int = 0
    """The log time of the state, in milliseconds."""

    wall_time_ms: int = 0
    """When the backup begins, in milliseconds since the Unix epoch by the replica's wall clock: for display."""

    version: str = ""
    """The version of the replica's program."""

    machine_version: int = 0
    """The behaviour of apply that is in force."""

    format: int = 0
    """The version of the form of the rows."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("header", "header", "optional", "ResponseHeader"),
        Field("cluster_name", "clusterName", "one", "str"),
        Field("log_time_ms", "logTimeMs", "one", "long"),
        Field("wall_time_ms", "wallTimeMs", "one", "long"),
        Field("version", "version", "one", "str"),
        Field("machine_version", "machineVersion", "one", "int"),
        Field("format", "format", "one", "int"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class ClusterBackupEnd(Message):
    """What a backup was. Since 0.1."""

    rows_bytes: int = 0
    """The length of all rows, in bytes."""

    sha256: bytes = b""
    """The SHA-256 of all rows; 32 bytes."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("rows_bytes", "rowsBytes", "one", "long"),
        Field("sha256", "sha256", "one", "bytes"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class FieldViolation(Message):
    """A field that breaks a rule. Since 0.1."""

    field: str = ""
    """The path of the field in the request, in its JSON form, as in `entries[3].decodableVersions[0]`."""

    rule: str = ""
    """The rule that it breaks, and what to do."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("field", "field", "one", "str"),
        Field("rule", "rule", "one", "str"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class Refusal(Message):
    """An error that travels inside a message, where a gRPC status would end the stream. It says what a status would: see
    the head of this file. Since 0.1.
    """

    reason: ErrorReason = ErrorReason.UNSPECIFIED
    """Why."""

    message: str = ""
    """Why, as a sentence for people."""

    violations: tuple[FieldViolation, ...] = ()
    """Every field at fault, if the reason is `INVALID_ARGUMENT`."""

    metadata: Mapping[str, str] = field(default_factory=dict)
    """What a program may need, by the keys at the head of this file."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("reason", "reason", "one", "ErrorReason"),
        Field("message", "message", "one", "str"),
        Field("violations", "violations", "many", "FieldViolation"),
        Field("metadata", "metadata", "map", "str"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class Member(Message):
    """An API server that has joined. Its deadline is kept beside it, since renewals change no object. Since 0.1."""

    metadata: Metadata | None = None
    """Name (the member's id), uid, revisions and labels."""

    instance: str = ""
    """What the process called itself when it joined: tells two processes with one id apart."""

    epoch: int = 0
    """The member's fencing token: the revision at which this instance joined."""

    ttl_ms: int = 0
    """How long the member is kept after a renewal, in milliseconds of log time."""

    version: str = ""
    """The version of its program, for display; may be empty."""

    endpoint: str = ""
    """Where it can be reached, for display; may be empty."""

    phase: MemberPhase = MemberPhase.UNSPECIFIED
    """How far it has come."""

    reported: bool = False
    """Whether this epoch has reported. Until it has, the entries of the epoch that it replaced stand."""

    gated: bool = False
    """Whether it says that it writes through a gate alone. False of a member that joined before machine version 3. Since 0.1."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("metadata", "metadata", "optional", "Metadata"),
        Field("instance", "instance", "one", "str"),
        Field("epoch", "epoch", "one", "long"),
        Field("ttl_ms", "ttlMs", "one", "long"),
        Field("version", "version", "one", "str"),
        Field("endpoint", "endpoint", "one", "str"),
        Field("phase", "phase", "one", "MemberPhase"),
        Field("reported", "reported", "one", "bool"),
        Field("gated", "gated", "one", "bool"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class MembershipJoinRequest(Message):
    """Asks to be let in. The same instance gets its epoch back. Another instance replaces the member: the older epoch is
    fenced from that revision on. Since 0.1.
    """

    request_id: RequestId | None = None
    """The exactly-once key, if the caller has a session."""

    id: str = ""
    """The member's id: a DNS-1123 subdomain of at most 253 characters."""

    instance: str = ""
    """A name for this process that no other process has: 1 to 64 of `A-Za-z0-9._-`, best chosen at random."""

    ttl_ms: int | None = None
    """How long to keep the member after a renewal, in milliseconds of log time; 1,000 to 86,400,000. Left out: 15,000. An
    instance that joins again with a shorter one keeps the deadline that it was promised.
    """

    labels: Mapping[str, str] = field(default_factory=dict)
    """Up to 64 labels; keys are qualified names, values have at most 63 characters, both as in Kubernetes."""

    version: str = ""
    """The version of the program, for display; at most 128 characters."""

    endpoint: str = ""
    """Where the member can be reached, for display; at most 512 characters."""

    lost_epoch: int | None = None
    """The epoch that this process lost, if it was a member before, even of a cluster that was restored since. If another
    instance holds the id by a later epoch, the join is refused with `STALE_EPOCH`.
    """

    gated: bool = False
    """Whether the process writes through a gate alone: it begins no write without a proof of its membership, and none of a
    resource or in a version that it has not reported. The gates of the clients keep this. What a process without a gate
    may still write drains whenever it changes what it reports, and if it expires, answers assume that it has stopped. Below
    machine version 3 no process counts as gated, and the next join counts. Since 0.1.
    """

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("request_id", "requestId", "optional", "RequestId"),
        Field("id", "id", "one", "str"),
        Field("instance", "instance", "one", "str"),
        Field("ttl_ms", "ttlMs", "optional", "long"),
        Field("labels", "labels", "map", "str"),
        Field("version", "version", "one", "str"),
        Field("endpoint", "endpoint", "one", "str"),
        Field("lost_epoch", "lostEpoch", "optional", "long"),
        Field("gated", "gated", "one", "bool"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class MembershipJoinResponse(Message):
    """The member is in. Since 0.1."""

    header: ResponseHeader | None = None
    """Who answered, and at which revision."""

    epoch: int = 0
    """The member's fencing token: name it in all that the member does, together with `header.cluster_id`."""

    ttl_ms: int = 0
    """The TTL that counts, in milliseconds of log time."""

    changed: bool = False
    """False if this instance was in already, and got its epoch back."""

    write_grace_ms: int = 0
    """The setting `write_grace_ms` at `header.revision` or later: how long a write may still land after the member's proof
    of membership has ended, in milliseconds. It is told here so that joining needs no other call.
    """

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("header", "header", "optional", "ResponseHeader"),
        Field("epoch", "epoch", "one", "long"),
        Field("ttl_ms", "ttlMs", "one", "long"),
        Field("changed", "changed", "one", "bool"),
        Field("write_grace_ms", "writeGraceMs", "one", "long"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class MembershipRenewRequest(Message):
    """Asks to move one member's deadline to the present log time plus its TTL. Since 0.1."""

    member: MemberEpoch | None = None
    """Who renews."""

    correlation: int = 0
    """A number of the caller's choice, given back in the answer."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("member", "member", "optional", "MemberEpoch"),
        Field("correlation", "correlation", "one", "long"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class MembershipRenewResponse(Message):
    """What became of one renewal. Since 0.1."""

    header: ResponseHeader | None = None
    """Who answered, and at which revision. A renewal moves no revision."""

    correlation: int = 0
    """The number that came with the renewal."""

    renewed: Renewed | None = None
    """The deadline was moved."""

    refusal: Refusal | None = None
    """It was not, or that is not known. `NOT_A_MEMBER` and `STALE_EPOCH` are final for this epoch."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("header", "header", "optional", "ResponseHeader"),
        Field("correlation", "correlation", "one", "long"),
        Field("renewed", "renewed", "optional", "Renewed"),
        Field("refusal", "refusal", "optional", "Refusal"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class Renewed(Message):
    """A deadline was moved. Since 0.1."""

    ttl_ms: int = 0
    """The TTL that counts from this renewal on, in milliseconds of log time."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("ttl_ms", "ttlMs", "one", "long"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class MembershipReadyRequest(Message):
    """Says that a member serves. Since 0.1."""

    request_id: RequestId | None = None
    """The exactly-once key, if the caller has a session."""

    member: MemberEpoch | None = None
    """Who is ready."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("request_id", "requestId", "optional", "RequestId"),
        Field("member", "member", "optional", "MemberEpoch"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class MembershipReadyResponse(Message):
    """The member is ready. Since 0.1."""

    header: ResponseHeader | None = None
    """Who answered, and at which revision."""

    changed: bool = False
    """False if it was ready already."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("header", "header", "optional", "ResponseHeader"),
        Field("changed", "changed", "one", "bool"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class MembershipLeaveRequest(Message):
    """Says that a member goes. Since 0.1."""

    request_id: RequestId | None = None
    """The exactly-once key, if the caller has a session."""

    member: MemberEpoch | None = None
    """Who leaves."""

    drained: bool = False
    """True if no write of this member can land any more: no permit is open. Then nothing has to drain. Only the instance itself
    can say so.
    """

    instance: str = ""
    """The instance that leaves, as it joined; `CONFLICT` if another one speaks for the member. Left out: somebody else evicts
    the member, and `drained` counts for nothing. Its process may not know of it, so what it may still write drains until its proof of
    membership has run out and for `write_grace` more; what a voter decodes drains, since it follows what is selected.
    """

    stopped: bool = False
    """True, and only of a member that is evicted: its process has stopped, says the caller. What it may still write drains for
    `write_grace` alone, and answers name `ASSUMPTION_REASON_SAID_STOPPED`.
    """

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("request_id", "requestId", "optional", "RequestId"),
        Field("member", "member", "optional", "MemberEpoch"),
        Field("drained", "drained", "one", "bool"),
        Field("instance", "instance", "one", "str"),
        Field("stopped", "stopped", "one", "bool"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class MembershipLeaveResponse(Message):
    """The member is gone. Since 0.1."""

    header: ResponseHeader | None = None
    """Who answered, and at which revision."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("header", "header", "optional", "ResponseHeader"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class MembershipGetRequest(Message):
    """Names a member to read. Since 0.1."""

    id: str = ""
    """The member's id."""

    read: ReadOptions | None = None
    """How to read; left out: linearizable."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("id", "id", "one", "str"),
        Field("read", "read", "optional", "ReadOptions"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class MembershipGetResponse(Message):
    """One member. Since 0.1."""

    header: ResponseHeader | None = None
    """Who answered, and at which revision."""

    member: Member | None = None
    """The member."""

    remaining_ms: int | None = None
    """How much log time it has left at least, in milliseconds: a hint, since a change of leader gives more. The leader knows
    of all renewals; another replica may know of less, or leave it unset. Unset for a read of a past revision.
    """

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("header", "header", "optional", "ResponseHeader"),
        Field("member", "member", "optional", "Member"),
        Field("remaining_ms", "remainingMs", "optional", "long"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class MembershipListRequest(Message):
    """Asks for a page of members. Since 0.1."""

    read: ReadOptions | None = None
    """How to read; left out: linearizable. Not together with `continue_token`, which pins the revision."""

    labels: Mapping[str, str] = field(default_factory=dict)
    """Only members that have all of these labels; up to 64."""

    page_size: int | None = None
    """How many to return at most, at least 1; more than 5,000 counts as 5,000. Left out: 500."""

    continue_token: str = ""
    """Where the page before ended, as it was given; empty for the first page. With it, `labels` must be as they were,
    else `INVALID_ARGUMENT`. A token whose revision left the window: `COMPACTED`.
    """

    continue_at_present: bool = False
    """True: the page is read at the present revision, behind what the token names, also if the token's own revision has left
    the window, as in `ObjectsListRequest`.
    """

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("read", "read", "optional", "ReadOptions"),
        Field("labels", "labels", "map", "str"),
        Field("page_size", "pageSize", "optional", "int"),
        Field("continue_token", "continueToken", "one", "str"),
        Field("continue_at_present", "continueAtPresent", "one", "bool"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class MembershipListResponse(Message):
    """A page of members, all at one revision. Since 0.1."""

    header: ResponseHeader | None = None
    """Who answered, and the revision of all pages of this list."""

    items: tuple[MemberListItem, ...] = ()
    """The members, ordered by id."""

    continue_token: str = ""
    """Give this to get the next page; empty at the end."""

    inconsistent: bool = False
    """True: this page is of a later revision than the one before it, as in `ObjectsListResponse`."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("header", "header", "optional", "ResponseHeader"),
        Field("items", "items", "many", "MemberListItem"),
        Field("continue_token", "continueToken", "one", "str"),
        Field("inconsistent", "inconsistent", "one", "bool"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class MemberListItem(Message):
    """A member in a list. Since 0.1."""

    member: Member | None = None
    """The member."""

    remaining_ms: int | None = None
    """How much log time it has left at least, in milliseconds: a hint, as in `MembershipGetResponse`."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("member", "member", "optional", "Member"),
        Field("remaining_ms", "remainingMs", "optional", "long"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class LeaseKey(Message):
    """Names a lease. Since 0.1."""

    namespace: str = ""
    """The namespace: a DNS-1123 label of at most 63 characters."""

    name: str = ""
    """The name in it: a DNS-1123 subdomain of at most 253 characters."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("namespace", "namespace", "one", "str"),
        Field("name", "name", "one", "str"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class LeaseToken(Message):
    """The proof that a lease is held. Since 0.1."""

    lease: LeaseKey | None = None
    """The lease."""

    token: int = 0
    """The fencing token that acquiring it answered; at least 1. If the lease is not held by it: `STALE_EPOCH`."""

    cluster_id: str = ""
    """The cluster that gave the token. If set and not the cluster that is asked: `STALE_EPOCH`."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("lease", "lease", "optional", "LeaseKey"),
        Field("token", "token", "one", "long"),
        Field("cluster_id", "clusterId", "one", "str"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class LeaseContender(Message):
    """Somebody who stands for a lease. Since 0.1."""

    lease: LeaseKey | None = None
    """The lease."""

    identity: str = ""
    """Who, unlike any other: 1 to 317 bytes without controls, bidirectional marks and line separators."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("lease", "lease", "optional", "LeaseKey"),
        Field("identity", "identity", "one", "str"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class Lease(Message):
    """A lease. Its deadline and its queue are kept beside it, since renewals and waiters change no object. A free lease stays
    for 24 hours of log time. Since 0.1.
    """

    metadata: Metadata | None = None
    """Name, namespace, uid and revisions."""

    hold: LeaseHold | None = None
    """Who has it; unset while it is free."""

    transitions: int = 0
    """How often it was given to a holder after the first time."""

    preferred_holder: str = ""
    """The candidate who should have it, where another has it; empty otherwise. The holder is to release it."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("metadata", "metadata", "optional", "Metadata"),
        Field("hold", "hold", "optional", "LeaseHold"),
        Field("transitions", "transitions", "one", "long"),
        Field("preferred_holder", "preferredHolder", "one", "str"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class LeaseHold(Message):
    """That somebody has a lease. Since 0.1."""

    holder: str = ""
    """Who has it."""

    token: int = 0
    """The fencing token: the revision at which it was given to this holder."""

    ticket: int | None = None
    """The place in the queue that it was given to; unset if the holder did not wait."""

    ttl_ms: int = 0
    """How long it is held after a renewal, in milliseconds of log time."""

    member: MemberEpoch | None = None
    """The member whose epoch the hold ends with; unset if there is none."""

    acquired_ms: int = 0
    """When it was given, in milliseconds since the Unix epoch by the leader's wall clock: for display."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("holder", "holder", "one", "str"),
        Field("token", "token", "one", "long"),
        Field("ticket", "ticket", "optional", "long"),
        Field("ttl_ms", "ttlMs", "one", "long"),
        Field("member", "member", "optional", "MemberEpoch"),
        Field("acquired_ms", "acquiredMs", "one", "long"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class LeaseCandidate(Message):
    """A candidate for a lease. Its deadline is kept beside it. Since 0.1."""

    metadata: Metadata | None = None
    """Name (the candidate's identity), namespace (the lease's), uid and revisions."""

    lease: LeaseKey | None = None
    """The lease."""

    binary_version: str = ""
    """The release that it runs."""

    emulation_version: str = ""
    """The release that it behaves like; empty if it does not say."""

    strategy: str = ""
    """How the holder is to be chosen: `OldestEmulationVersion`, or a name with a domain that Synod does not interpret."""

    ttl_ms: int = 0
    """How long it stands after a renewal, and holds the lease after one, in milliseconds of log time."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("metadata", "metadata", "optional", "Metadata"),
        Field("lease", "lease", "optional", "LeaseKey"),
        Field("binary_version", "binaryVersion", "one", "str"),
        Field("emulation_version", "emulationVersion", "one", "str"),
        Field("strategy", "strategy", "one", "str"),
        Field("ttl_ms", "ttlMs", "one", "long"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class LeasesAcquireRequest(Message):
    """Asks for a lease. Who holds it already keeps it, with the same token; who waits already keeps its place. Since 0.1."""

    request_id: RequestId | None = None
    """The exactly-once key, if the caller has a session."""

    lease: LeaseKey | None = None
    """The lease. It need not exist."""

    holder: str = ""
    """Who wants it, unlike any other: 1 to 317 bytes without controls, bidirectional marks and line separators."""

    ttl_ms: int | None = None
    """How long to hold the lease after a renewal, in milliseconds of log time; 1,000 to 86,400,000. Left out: 15,000. A
    holder that asks again for a shorter time keeps the deadline that it was promised.
    """

    wait_ms: int | None = None
    """How long to keep a place in the queue if another has the lease, in milliseconds of log time; 1,000 to 86,400,000. The
    call is then answered when it is the caller's turn, or shortly before its deadline; ask again in time to keep the place.
    Left out: another holder is answered by `CONFLICT`, with the lease in the details.
    """

    if_member: MemberEpoch | None = None
    """Only while this member speaks under this epoch: the hold ends with it, if not before. Left out: no member."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("request_id", "requestId", "optional", "RequestId"),
        Field("lease", "lease", "optional", "LeaseKey"),
        Field("holder", "holder", "one", "str"),
        Field("ttl_ms", "ttlMs", "optional", "long"),
        Field("wait_ms", "waitMs", "optional", "long"),
        Field("if_member", "ifMember", "optional", "MemberEpoch"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class LeasesAcquireResponse(Message):
    """The lease is the caller's, or its place in the queue. Since 0.1."""

    header: ResponseHeader | None = None
    """Who answered, and at which revision."""

    held: LeaseHeld | None = None
    """The caller has the lease."""

    queued: LeaseQueued | None = None
    """The caller's deadline came first. It keeps its place until `wait_ms` after it last asked."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("header", "header", "optional", "ResponseHeader"),
        Field("held", "held", "optional", "LeaseHeld"),
        Field("queued", "queued", "optional", "LeaseQueued"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class LeaseHeld(Message):
    """The caller has a lease. Since 0.1."""

    token: int = 0
    """The fencing token: name it in all that is done under the lease, together with `header.cluster_id`."""

    ttl_ms: int = 0
    """The TTL that counts, in milliseconds of log time."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("token", "token", "one", "long"),
        Field("ttl_ms", "ttlMs", "one", "long"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class LeaseQueued(Message):
    """The caller waits for a lease. Since 0.1."""

    ticket: int = 0
    """The place in the queue: the revision at which the caller came."""

    ahead: int = 0
    """How many are before it."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("ticket", "ticket", "one", "long"),
        Field("ahead", "ahead", "one", "long"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class LeasesRenewRequest(Message):
    """Asks to move one deadline to the present log time plus its TTL. Since 0.1."""

    lease: LeaseToken | None = None
    """A lease."""

    candidate: LeaseContender | None = None
    """A candidate."""

    correlation: int = 0
    """A number of the caller's choice, given back in the answer."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("lease", "lease", "optional", "LeaseToken"),
        Field("candidate", "candidate", "optional", "LeaseContender"),
        Field("correlation", "correlation", "one", "long"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class LeasesRenewResponse(Message):
    """What became of one renewal. Since 0.1."""

    header: ResponseHeader | None = None
    """Who answered, and at which revision. A renewal moves no revision."""

    correlation: int = 0
    """The number that came with the renewal."""

    renewed: Renewed | None = None
    """The deadline was moved."""

    refusal: Refusal | None = None
    """It was not, or that is not known. `STALE_EPOCH` is final for this token; a candidate that is `NOT_FOUND` has to stand
    again.
    """

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("header", "header", "optional", "ResponseHeader"),
        Field("correlation", "correlation", "one", "long"),
        Field("renewed", "renewed", "optional", "Renewed"),
        Field("refusal", "refusal", "optional", "Refusal"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class LeasesReleaseRequest(Message):
    """Asks to give up what a holder has. Who has nothing has nothing to give up: that is no error. Since 0.1."""

    request_id: RequestId | None = None
    """The exactly-once key, if the caller has a session."""

    lease: LeaseKey | None = None
    """The lease."""

    holder: str = ""
    """Who gives it up."""

    token: int | None = None
    """Only a hold by this token. Left out: whatever the holder has, the lease or its place in the queue."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("request_id", "requestId", "optional", "RequestId"),
        Field("lease", "lease", "optional", "LeaseKey"),
        Field("holder", "holder", "one", "str"),
        Field("token", "token", "optional", "long"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class LeasesReleaseResponse(Message):
    """It is given up. Since 0.1."""

    header: ResponseHeader | None = None
    """Who answered, and at which revision."""

    changed: bool = False
    """False if there was nothing to give up."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("header", "header", "optional", "ResponseHeader"),
        Field("changed", "changed", "one", "bool"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class LeasesDeleteRequest(Message):
    """Names a lease to delete. Since 0.1."""

    request_id: RequestId | None = None
    """The exactly-once key, if the caller has a session."""

    lease: LeaseKey | None = None
    """The lease."""

    preconditions: Preconditions | None = None
    """Which lease it must still be; left out: whichever there is."""

    dry_run: bool = False
    """True: check everything and change nothing."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("request_id", "requestId", "optional", "RequestId"),
        Field("lease", "lease", "optional", "LeaseKey"),
        Field("preconditions", "preconditions", "optional", "Preconditions"),
        Field("dry_run", "dryRun", "one", "bool"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class LeasesDeleteResponse(Message):
    """The lease is deleted. Since 0.1."""

    header: ResponseHeader | None = None
    """Who answered, and at which revision."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("header", "header", "optional", "ResponseHeader"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class LeasesGetRequest(Message):
    """Names a lease to read. Since 0.1."""

    lease: LeaseKey | None = None
    """The lease."""

    read: ReadOptions | None = None
    """How to read; left out: linearizable."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("lease", "lease", "optional", "LeaseKey"),
        Field("read", "read", "optional", "ReadOptions"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class LeasesGetResponse(Message):
    """One lease. Since 0.1."""

    header: ResponseHeader | None = None
    """Who answered, and at which revision."""

    lease: Lease | None = None
    """The lease."""

    remaining_ms: int | None = None
    """How much log time its hold has left at least, in milliseconds: a hint, since a change of leader gives more. The leader
    knows of all renewals; another replica may know of less, or leave it unset. Unset if it is free, and for a read of a
    past revision.
    """

    waiting: int | None = None
    """How many wait for it. Unset for a read of a past revision."""

    waiters: tuple[LeaseWaiter, ...] = ()
    """The first who wait for it, in their order; up to 100. Empty for a read of a past revision."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("header", "header", "optional", "ResponseHeader"),
        Field("lease", "lease", "optional", "Lease"),
        Field("remaining_ms", "remainingMs", "optional", "long"),
        Field("waiting", "waiting", "optional", "long"),
        Field("waiters", "waiters", "many", "LeaseWaiter"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class LeaseWaiter(Message):
    """Somebody who waits for a lease. Since 0.1."""

    holder: str = ""
    """Who waits."""

    ticket: int = 0
    """The place in the queue: the revision at which it came."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("holder", "holder", "one", "str"),
        Field("ticket", "ticket", "one", "long"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class LeasesListRequest(Message):
    """Asks for a page of leases. Since 0.1."""

    read: ReadOptions | None = None
    """How to read; left out: linearizable. Not together with `continue_token`, which pins the revision."""

    namespace: str = ""
    """Only leases of this namespace; empty: of all."""

    page_size: int | None = None
    """How many to return at most, at least 1; more than 5,000 counts as 5,000. Left out: 500."""

    continue_token: str = ""
    """Where the page before ended, as it was given; empty for the first page. With it, `namespace` must be as it
    was, else `INVALID_ARGUMENT`. A token whose revision left the window: `COMPACTED`.
    """

    continue_at_present: bool = False
    """True: the page is read at the present revision, behind what the token names, also if the token's own revision has left
    the window, as in `ObjectsListRequest`.
    """

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("read", "read", "optional", "ReadOptions"),
        Field("namespace", "namespace", "one", "str"),
        Field("page_size", "pageSize", "optional", "int"),
        Field("continue_token", "continueToken", "one", "str"),
        Field("continue_at_present", "continueAtPresent", "one", "bool"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class LeasesListResponse(Message):
    """A page of leases, all at one revision. Since 0.1."""

    header: ResponseHeader | None = None
    """Who answered, and the revision of all pages of this list."""

    items: tuple[LeaseListItem, ...] = ()
    """The leases, ordered by `<namespace>/<name>`."""

    continue_token: str = ""
    """Give this to get the next page; empty at the end."""

    inconsistent: bool = False
    """True: this page is of a later revision than the one before it, as in `ObjectsListResponse`."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("header", "header", "optional", "ResponseHeader"),
        Field("items", "items", "many", "LeaseListItem"),
        Field("continue_token", "continueToken", "one", "str"),
        Field("inconsistent", "inconsistent", "one", "bool"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class LeaseListItem(Message):
    """A lease in a list. Since 0.1."""

    lease: Lease | None = None
    """The lease."""

    remaining_ms: int | None = None
    """How much log time its hold has left at least, in milliseconds: a hint, as in `LeasesGetResponse`."""

    waiting: int | None = None
    """How many wait for it. Unset for a read of a past revision."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("lease", "lease", "optional", "Lease"),
        Field("remaining_ms", "remainingMs", "optional", "long"),
        Field("waiting", "waiting", "optional", "long"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class LeasesPutCandidateRequest(Message):
    """Asks to stand for a lease. While somebody does whose strategy Synod knows, a free lease goes to the candidate that the
    strategy chooses, at the same revision: that of the highest binary version decides on the strategy;
    `OldestEmulationVersion` chooses the lowest emulation version, then the lowest binary version, then who has stood
    longest. Since 0.1.
    """

    request_id: RequestId | None = None
    """The exactly-once key, if the caller has a session."""

    candidate: LeaseContender | None = None
    """Who stands for which lease. The lease need not exist."""

    binary_version: str = ""
    """The release that it runs: a semantic version."""

    emulation_version: str = ""
    """The release that it behaves like: a semantic version, not above `binary_version`. Empty: it does not say, which
    `OldestEmulationVersion` does not allow.
    """

    strategy: str = ""
    """How the holder is to be chosen: `OldestEmulationVersion`, or a name with a domain. Empty: `OldestEmulationVersion`."""

    ttl_ms: int | None = None
    """How long to stand after a renewal, and to hold the lease after one, in milliseconds of log time; 1,000 to 86,400,000.
    Left out: 15,000.
    """

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("request_id", "requestId", "optional", "RequestId"),
        Field("candidate", "candidate", "optional", "LeaseContender"),
        Field("binary_version", "binaryVersion", "one", "str"),
        Field("emulation_version", "emulationVersion", "one", "str"),
        Field("strategy", "strategy", "one", "str"),
        Field("ttl_ms", "ttlMs", "optional", "long"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class LeasesPutCandidateResponse(Message):
    """The candidate stands. Since 0.1."""

    header: ResponseHeader | None = None
    """Who answered, and at which revision."""

    changed: bool = False
    """False if it stood already and said the same."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("header", "header", "optional", "ResponseHeader"),
        Field("changed", "changed", "one", "bool"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class LeasesWithdrawCandidateRequest(Message):
    """Asks to stand for a lease no longer. What the candidate holds it keeps until it releases that, too. Since 0.1."""

    request_id: RequestId | None = None
    """The exactly-once key, if the caller has a session."""

    candidate: LeaseContender | None = None
    """Who stood for which lease."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("request_id", "requestId", "optional", "RequestId"),
        Field("candidate", "candidate", "optional", "LeaseContender"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class LeasesWithdrawCandidateResponse(Message):
    """The candidate does not stand any more. Since 0.1."""

    header: ResponseHeader | None = None
    """Who answered, and at which revision."""

    changed: bool = False
    """False if it did not stand."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("header", "header", "optional", "ResponseHeader"),
        Field("changed", "changed", "one", "bool"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class LeasesListCandidatesRequest(Message):
    """Asks who stand for a lease. Since 0.1."""

    lease: LeaseKey | None = None
    """The lease; left out: all leases, also those that do not exist and that somebody stands for."""

    read: ReadOptions | None = None
    """How to read; left out: linearizable. Not together with `continue_token`, which pins the revision."""

    continue_token: str = ""
    """Where the page before ended, as it was given; empty for the first page. With it, `lease` must be as it was. A token
    whose revision left the window: `COMPACTED`.
    """

    continue_at_present: bool = False
    """True: the page is read at the present revision, behind what the token names, also if the token's own revision has left
    the window, as in `ObjectsListRequest`.
    """

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("lease", "lease", "optional", "LeaseKey"),
        Field("read", "read", "optional", "ReadOptions"),
        Field("continue_token", "continueToken", "one", "str"),
        Field("continue_at_present", "continueAtPresent", "one", "bool"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class LeasesListCandidatesResponse(Message):
    """Who stand for a lease: at most 1,000 for each, all in one page. Since 0.1."""

    header: ResponseHeader | None = None
    """Who answered, and the revision of all pages of this list."""

    items: tuple[LeaseCandidateItem, ...] = ()
    """The candidates, ordered by lease and identity."""

    continue_token: str = ""
    """Give this to get the next page; empty at the end."""

    inconsistent: bool = False
    """True: this page is of a later revision than the one before it, as in `ObjectsListResponse`."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("header", "header", "optional", "ResponseHeader"),
        Field("items", "items", "many", "LeaseCandidateItem"),
        Field("continue_token", "continueToken", "one", "str"),
        Field("inconsistent", "inconsistent", "one", "bool"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class LeaseCandidateItem(Message):
    """A candidate in a list. Since 0.1."""

    candidate: LeaseCandidate | None = None
    """The candidate."""

    remaining_ms: int | None = None
    """How much log time it has left at least, in milliseconds: a hint, as in `LeasesGetResponse`."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("candidate", "candidate", "optional", "LeaseCandidate"),
        Field("remaining_ms", "remainingMs", "optional", "long"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class ObjectKey(Message):
    """Names an object. Since 0.1."""

    resource: GroupResource | None = None
    """The resource of its collection."""

    namespace: str = ""
    """Its namespace, a DNS-1123 label of at most 63 characters; empty if the collection is not namespaced."""

    name: str = ""
    """Its name, a DNS-1123 subdomain of at most 253 characters."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("resource", "resource", "optional", "GroupResource"),
        Field("namespace", "namespace", "one", "str"),
        Field("name", "name", "one", "str"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class Fences(Message):
    """What must still be true of the writer when its write is applied. Since 0.1."""

    if_member: MemberEpoch | None = None
    """The member holds this very epoch, else `STALE_EPOCH` or `NOT_A_MEMBER`. Left out: it is not asked."""

    if_lease: LeaseToken | None = None
    """The lease is held by this very token, else `STALE_EPOCH`. Left out: it is not asked."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("if_member", "ifMember", "optional", "MemberEpoch"),
        Field("if_lease", "ifLease", "optional", "LeaseToken"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class Object(Message):
    """An object as it is stored. Since 0.1."""

    metadata: Metadata | None = None
    """Name, namespace, uid, revisions, and what its writers say of it."""

    resource: GroupResource | None = None
    """The resource of its collection."""

    content: ObjectContent | None = None
    """What is stored."""

    content_revision: int = 0
    """The revision at which the content was last stored as a whole: by the create, or by the last update that changed it. A
    patch leaves it, and so does every change of what is said of the object: neither encodes the content anew.
    """

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("metadata", "metadata", "optional", "Metadata"),
        Field("resource", "resource", "optional", "GroupResource"),
        Field("content", "content", "optional", "ObjectContent"),
        Field("content_revision", "contentRevision", "one", "long"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class ObjectContent(Message):
    """What is stored of an object, and how it is written. Since 0.1."""

    encoding_version: str = ""
    """The version that the data is encoded in."""

    media_type: str = ""
    """The form of the data, in lower case, without parameters, at most 127 characters. Left out: `application/json`."""

    data: bytes = b""
    """The data; at most 1 MiB."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("encoding_version", "encodingVersion", "one", "str"),
        Field("media_type", "mediaType", "one", "str"),
        Field("data", "data", "one", "bytes"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class ObjectAttributes(Message):
    """What writers say of an object beside its data. Since 0.1."""

    labels: Mapping[str, str] = field(default_factory=dict)
    """Up to 64 labels, what it is selected by."""

    annotations: Mapping[str, str] = field(default_factory=dict)
    """Notes: at most 4,096 with at most 256 KiB in all."""

    owner_references: tuple[OwnerReference, ...] = ()
    """What it goes with: up to 64, each once, at most one of them the controller."""

    finalizers: tuple[str, ...] = ()
    """What must be done before it goes: up to 64 qualified names, each once."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("labels", "labels", "map", "str"),
        Field("annotations", "annotations", "map", "str"),
        Field("owner_references", "ownerReferences", "many", "OwnerReference"),
        Field("finalizers", "finalizers", "many", "str"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class ContentPatch(Message):
    """A change of a JSON document, made for one encoding of it. Since 0.1."""

    encoding_version: str = ""
    """The version that the change was made for. If the object is stored in another one: `CONFLICT`, with the object."""

    format: PatchFormat = PatchFormat.UNSPECIFIED
    """How the change is written; required."""

    document: bytes = b""
    """The change; at most 1 MiB."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("encoding_version", "encodingVersion", "one", "str"),
        Field("format", "format", "one", "PatchFormat"),
        Field("document", "document", "one", "bytes"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class MetadataPatch(Message):
    """A change of an object's metadata, whatever its data and its encoding are. Since 0.1."""

    format: PatchFormat = PatchFormat.UNSPECIFIED
    """How the change is written; required."""

    document: bytes = b""
    """The change; at most 1 MiB. It is made of the document that Kubernetes shows as `metadata`: `name`, `namespace`, `uid`,
    `resourceVersion` (as text), `generation`, and where there are any `labels`, `annotations`, `ownerReferences` and
    `finalizers`. Those four can be changed. Another name, namespace or uid: `INVALID_ARGUMENT`. Another resource version:
    `CONFLICT`, with the object. `generation`, the times and what else the store keeps by itself are ignored, and any other
    member is refused.
    """

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("format", "format", "one", "PatchFormat"),
        Field("document", "document", "one", "bytes"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class ObjectsCreateRequest(Message):
    """Stores a new object. Since 0.1."""

    request_id: RequestId | None = None
    """The exactly-once key, if the caller has a session."""

    key: ObjectKey | None = None
    """Its name."""

    attributes: ObjectAttributes | None = None
    """What is said of it."""

    content: ObjectContent | None = None
    """What to store; required."""

    ttl_ms: int | None = None
    """How long it lives, in milliseconds, 1,000 to 86,400,000; left out: until it is deleted."""

    fences: Fences | None = None
    """Who may do this."""

    dry_run: bool = False
    """True: check everything and change nothing. The answer is what would have been."""

    without_object: bool = False
    """True: the answer comes without the object. For callers that need no more of it than its uid and its revision, and have
    the rest, since they have sent it.
    """

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("request_id", "requestId", "optional", "RequestId"),
        Field("key", "key", "optional", "ObjectKey"),
        Field("attributes", "attributes", "optional", "ObjectAttributes"),
        Field("content", "content", "optional", "ObjectContent"),
        Field("ttl_ms", "ttlMs", "optional", "long"),
        Field("fences", "fences", "optional", "Fences"),
        Field("dry_run", "dryRun", "one", "bool"),
        Field("without_object", "withoutObject", "one", "bool"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class ObjectsCreateResponse(Message):
    """The object is stored. Since 0.1."""

    header: ResponseHeader | None = None
    """Who answered, and at which revision."""

    uid: str = ""
    """The uid of the object."""

    resource_version: int = 0
    """Its revision."""

    object: Object | None = None
    """The object as it was stored. Unset if this answers a retry so late that its revision is no longer kept, and if the
    request said `without_object`.
    """

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("header", "header", "optional", "ResponseHeader"),
        Field("uid", "uid", "one", "str"),
        Field("resource_version", "resourceVersion", "one", "long"),
        Field("object", "object", "optional", "Object"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class ObjectsGetRequest(Message):
    """Names an object to read. Since 0.1."""

    key: ObjectKey | None = None
    """The object."""

    read: ReadOptions | None = None
    """How to read; left out: linearizable."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("key", "key", "optional", "ObjectKey"),
        Field("read", "read", "optional", "ReadOptions"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class ObjectsGetResponse(Message):
    """One object. Since 0.1."""

    header: ResponseHeader | None = None
    """Who answered, and at which revision."""

    object: Object | None = None
    """The object."""

    remaining_ms: int | None = None
    """How much log time is left until it expires, in milliseconds: a hint, since a change of leader gives more. Unset if
    it has no TTL, and for a read of the past.
    """

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("header", "header", "optional", "ResponseHeader"),
        Field("object", "object", "optional", "Object"),
        Field("remaining_ms", "remainingMs", "optional", "long"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class ObjectsListRequest(Message):
    """Asks for a page of objects. Since 0.1."""

    resource: GroupResource | None = None
    """The resource of the collection."""

    namespace: str = ""
    """Only objects of this namespace; empty: of all. A collection without namespaces has none in any."""

    label_selector: str = ""
    """Only objects whose labels match, as in `app=web,tier in (a,b),!old`; at most 4 KiB; empty: all."""

    field_selector: str = ""
    """Only objects whose fields match: `metadata.name` and `metadata.namespace`, with `=`, `==` and `!=`; at most 4 KiB;
    empty: all.
    """

    read: ReadOptions | None = None
    """How to read; left out: linearizable. Not together with `continue_token`, which pins the revision."""

    page_size: int | None = None
    """How many to return at most, at least 1; more than 5,000 counts as 5,000. Left out: 500."""

    continue_token: str = ""
    """Where the page before ended, as it was given; empty for the first page. With it, the resource, the namespace and
    the selectors must be as they were, else `INVALID_ARGUMENT`. A token whose revision left the window: `COMPACTED`.
    """

    continue_at_present: bool = False
    """True: the page is read at the present revision, behind the object that the token names, whether or not the token's
    own revision is still kept: what to do about `COMPACTED` where a list that begins again would never end. The model is
    the inconsistent continue token that Kubernetes sends with its answer 410; here it is the same token, and the caller
    says so. Without a token it says nothing.
    """

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("resource", "resource", "optional", "GroupResource"),
        Field("namespace", "namespace", "one", "str"),
        Field("label_selector", "labelSelector", "one", "str"),
        Field("field_selector", "fieldSelector", "one", "str"),
        Field("read", "read", "optional", "ReadOptions"),
        Field("page_size", "pageSize", "optional", "int"),
        Field("continue_token", "continueToken", "one", "str"),
        Field("continue_at_present", "continueAtPresent", "one", "bool"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class ObjectsListResponse(Message):
    """A page of objects, all at one revision. Since 0.1."""

    header: ResponseHeader | None = None
    """Who answered, and the revision of all pages of this list, but for those that are `inconsistent` with it."""

    items: tuple[ObjectListItem, ...] = ()
    """The objects, ordered by namespace and name."""

    continue_token: str = ""
    """Give this to get the next page; empty at the end."""

    inconsistent: bool = False
    """True: this page is of a later revision than the one before it, as `continue_at_present` asked for. No object is told
    twice, and none is left out that was there all the time; but what was created, changed or deleted meanwhile among
    those that are told already is not seen. `header.revision` is this page's, and `continue_token` pins it.
    """

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("header", "header", "optional", "ResponseHeader"),
        Field("items", "items", "many", "ObjectListItem"),
        Field("continue_token", "continueToken", "one", "str"),
        Field("inconsistent", "inconsistent", "one", "bool"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class ObjectListItem(Message):
    """An object in a list. Since 0.1."""

    object: Object | None = None
    """The object."""

    remaining_ms: int | None = None
    """How much log time is left until it expires, as in `ObjectsGetResponse`."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("object", "object", "optional", "Object"),
        Field("remaining_ms", "remainingMs", "optional", "long"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class ObjectsUpdateRequest(Message):
    """Replaces an object. Since 0.1."""

    request_id: RequestId | None = None
    """The exactly-once key, if the caller has a session."""

    key: ObjectKey | None = None
    """Its name."""

    attributes: ObjectAttributes | None = None
    """What is said of it from now on: all of it, in place of what was."""

    content: ObjectContent | None = None
    """What to store from now on; required."""

    preconditions: Preconditions | None = None
    """Which object it must still be, and unless the collection allows unconditional updates, as of which revision. If it
    is not: `CONFLICT`, with the object as it is.
    """

    ttl_ms: int | None = None
    """How long it lives from now on, in milliseconds, 1,000 to 86,400,000. Left out: its deadline stays, or that it has
    none, unless `remove_ttl` says otherwise.
    """

    fences: Fences | None = None
    """Who may do this."""

    dry_run: bool = False
    """True: check everything and change nothing. The answer is what would have been."""

    remove_ttl: bool = False
    """True: it has no deadline any more. Not together with `ttl_ms`."""

    without_object: bool = False
    """True: the answer comes without the object. For callers that need no more of it than its uid and its revision, and have
    the rest, since they have sent it.
    """

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("request_id", "requestId", "optional", "RequestId"),
        Field("key", "key", "optional", "ObjectKey"),
        Field("attributes", "attributes", "optional", "ObjectAttributes"),
        Field("content", "content", "optional", "ObjectContent"),
        Field("preconditions", "preconditions", "optional", "Preconditions"),
        Field("ttl_ms", "ttlMs", "optional", "long"),
        Field("fences", "fences", "optional", "Fences"),
        Field("dry_run", "dryRun", "one", "bool"),
        Field("remove_ttl", "removeTtl", "one", "bool"),
        Field("without_object", "withoutObject", "one", "bool"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class ObjectsUpdateResponse(Message):
    """The object is as asked. Since 0.1."""

    header: ResponseHeader | None = None
    """Who answered, and at which revision."""

    changed: bool = False
    """False if the object was so already: nothing was written."""

    created: bool = False
    """True if the object was not there, and was created."""

    deleted: bool = False
    """True if the object is gone: the update took the last finalizer of one that was to be deleted."""

    uid: str = ""
    """The uid of the object."""

    resource_version: int = 0
    """Its revision."""

    object: Object | None = None
    """The object as it is after the request, or as it was last. Unset if this answers a retry so late that its revision is
    no longer kept, and if the request said `without_object`.
    """

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("header", "header", "optional", "ResponseHeader"),
        Field("changed", "changed", "one", "bool"),
        Field("created", "created", "one", "bool"),
        Field("deleted", "deleted", "one", "bool"),
        Field("uid", "uid", "one", "str"),
        Field("resource_version", "resourceVersion", "one", "long"),
        Field("object", "object", "optional", "Object"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class ObjectsPatchRequest(Message):
    """Changes a part of an object, whatever the rest of it is; it must change the data, the metadata or the TTL. Since 0.1."""

    request_id: RequestId | None = None
    """The exactly-once key, if the caller has a session."""

    key: ObjectKey | None = None
    """Its name."""

    patch: ContentPatch | None = None
    """The change of its data, which must be a JSON object. Left out: the data stays, whatever its form and its encoding are."""

    preconditions: Preconditions | None = None
    """Which object it must still be. Without a `resource_version` a patch never conflicts with another change."""

    fences: Fences | None = None
    """Who may do this."""

    dry_run: bool = False
    """True: check everything and change nothing. The answer is what would have been."""

    metadata_patch: MetadataPatch | None = None
    """The change of what is said of it. Left out: that stays."""

    ttl_ms: int | None = None
    """How long it lives from now on, as in `ObjectsUpdateRequest`."""

    remove_ttl: bool = False
    """True: it has no deadline any more, as in `ObjectsUpdateRequest`."""

    without_object: bool = False
    """True: the answer comes without the object. For callers that need no more of it than its uid and its revision, and have
    the rest, since they have sent it.
    """

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("request_id", "requestId", "optional", "RequestId"),
        Field("key", "key", "optional", "ObjectKey"),
        Field("patch", "patch", "optional", "ContentPatch"),
        Field("preconditions", "preconditions", "optional", "Preconditions"),
        Field("fences", "fences", "optional", "Fences"),
        Field("dry_run", "dryRun", "one", "bool"),
        Field("metadata_patch", "metadataPatch", "optional", "MetadataPatch"),
        Field("ttl_ms", "ttlMs", "optional", "long"),
        Field("remove_ttl", "removeTtl", "one", "bool"),
        Field("without_object", "withoutObject", "one", "bool"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class ObjectsPatchResponse(Message):
    """The object is patched. Since 0.1."""

    header: ResponseHeader | None = None
    """Who answered, and at which revision."""

    changed: bool = False
    """False if the patch changed nothing: nothing was written."""

    uid: str = ""
    """The uid of the object."""

    resource_version: int = 0
    """Its revision."""

    object: Object | None = None
    """The object after the patch, or as it was last. Unset if this answers a retry so late that its revision is no longer
    kept, and if the request said `without_object`.
    """

    deleted: bool = False
    """True if the object is gone: the patch took the last finalizer of one that was to be deleted."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("header", "header", "optional", "ResponseHeader"),
        Field("changed", "changed", "one", "bool"),
        Field("uid", "uid", "one", "str"),
        Field("resource_version", "resourceVersion", "one", "long"),
        Field("object", "object", "optional", "Object"),
        Field("deleted", "deleted", "one", "bool"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class ObjectsDeleteRequest(Message):
    """Deletes an object. Since 0.1."""

    request_id: RequestId | None = None
    """The exactly-once key, if the caller has a session."""

    key: ObjectKey | None = None
    """Its name."""

    preconditions: Preconditions | None = None
    """Which object it must still be, and as of which revision."""

    propagation: Propagation = Propagation.UNSPECIFIED
    """What becomes of the objects that it owns. An object that waits for its deletion goes from now on as the last one says:
    `foregroundDeletion` and `orphan` among its finalizers are exchanged, and if none is left it goes at once. What was done
    to the objects that it owns before stays done. Unspecified: it goes on as it was asked to.
    """

    fences: Fences | None = None
    """Who may do this."""

    dry_run: bool = False
    """True: check everything and change nothing. The answer is what would have been."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("request_id", "requestId", "optional", "RequestId"),
        Field("key", "key", "optional", "ObjectKey"),
        Field("preconditions", "preconditions", "optional", "Preconditions"),
        Field("propagation", "propagation", "one", "Propagation"),
        Field("fences", "fences", "optional", "Fences"),
        Field("dry_run", "dryRun", "one", "bool"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class ObjectsDeleteResponse(Message):
    """The object is deleted, or will be. Since 0.1."""

    header: ResponseHeader | None = None
    """Who answered, and at which revision."""

    changed: bool = False
    """False if it was to be deleted already, and in this way."""

    deleted: bool = False
    """True if the object is gone. False: it waits for its finalizers, or for the objects that it owns."""

    uid: str = ""
    """The uid of the object."""

    resource_version: int = 0
    """The revision of its last change; if it is gone, of the deletion."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("header", "header", "optional", "ResponseHeader"),
        Field("changed", "changed", "one", "bool"),
        Field("deleted", "deleted", "one", "bool"),
        Field("uid", "uid", "one", "str"),
        Field("resource_version", "resourceVersion", "one", "long"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class ObjectsCompare(Message):
    """A condition of a transaction. Since 0.1."""

    resource_version: CompareResourceVersion | None = None
    """An object is there at exactly a revision."""

    existence: CompareExistence | None = None
    """An object is there, or is not."""

    selected_version: CompareSelectedVersion | None = None
    """A version is the selected one of a resource."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("resource_version", "resourceVersion", "optional", "CompareResourceVersion"),
        Field("existence", "existence", "optional", "CompareExistence"),
        Field("selected_version", "selectedVersion", "optional", "CompareSelectedVersion"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class CompareResourceVersion(Message):
    """An object is there at exactly a revision. Since 0.1."""

    key: ObjectKey | None = None
    """The object."""

    resource_version: int = 0
    """Its revision; at least 1."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("key", "key", "optional", "ObjectKey"),
        Field("resource_version", "resourceVersion", "one", "long"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class CompareExistence(Message):
    """An object is there, or is not. Since 0.1."""

    key: ObjectKey | None = None
    """The object."""

    exists: bool = False
    """Whether it is to be there."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("key", "key", "optional", "ObjectKey"),
        Field("exists", "exists", "one", "bool"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class CompareSelectedVersion(Message):
    """A version is the selected one of a resource. Since 0.1."""

    resource: GroupResource | None = None
    """The resource."""

    version: str | None = None
    """The version. Unset: none is selected."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("resource", "resource", "optional", "GroupResource"),
        Field("version", "version", "optional", "str"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class ObjectsOperation(Message):
    """An operation of a transaction. Since 0.1."""

    create: CreateOperation | None = None
    """Stores a new object."""

    update: UpdateOperation | None = None
    """Replaces an object."""

    patch: PatchOperation | None = None
    """Changes a part of an object."""

    delete: DeleteOperation | None = None
    """Deletes an object."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("create", "create", "optional", "CreateOperation"),
        Field("update", "update", "optional", "UpdateOperation"),
        Field("patch", "patch", "optional", "PatchOperation"),
        Field("delete", "delete", "optional", "DeleteOperation"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class CreateOperation(Message):
    """Stores a new object. Since 0.1."""

    key: ObjectKey | None = None
    """Its name."""

    attributes: ObjectAttributes | None = None
    """What is said of it."""

    content: ObjectContent | None = None
    """What to store; required."""

    ttl_ms: int | None = None
    """How long it lives, as in `ObjectsCreateRequest`."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("key", "key", "optional", "ObjectKey"),
        Field("attributes", "attributes", "optional", "ObjectAttributes"),
        Field("content", "content", "optional", "ObjectContent"),
        Field("ttl_ms", "ttlMs", "optional", "long"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class UpdateOperation(Message):
    """Replaces an object. Since 0.1."""

    key: ObjectKey | None = None
    """Its name."""

    attributes: ObjectAttributes | None = None
    """What is said of it from now on."""

    content: ObjectContent | None = None
    """What to store from now on; required."""

    preconditions: Preconditions | None = None
    """Which object it must still be, as in `ObjectsUpdateRequest`."""

    ttl_ms: int | None = None
    """How long it lives from now on, as in `ObjectsUpdateRequest`."""

    remove_ttl: bool = False
    """True: it has no deadline any more, as in `ObjectsUpdateRequest`."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("key", "key", "optional", "ObjectKey"),
        Field("attributes", "attributes", "optional", "ObjectAttributes"),
        Field("content", "content", "optional", "ObjectContent"),
        Field("preconditions", "preconditions", "optional", "Preconditions"),
        Field("ttl_ms", "ttlMs", "optional", "long"),
        Field("remove_ttl", "removeTtl", "one", "bool"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class PatchOperation(Message):
    """Changes a part of an object. Since 0.1."""

    key: ObjectKey | None = None
    """Its name."""

    patch: ContentPatch | None = None
    """The change of its data, as in `ObjectsPatchRequest`."""

    preconditions: Preconditions | None = None
    """Which object it must still be."""

    metadata_patch: MetadataPatch | None = None
    """The change of what is said of it, as in `ObjectsPatchRequest`."""

    ttl_ms: int | None = None
    """How long it lives from now on, as in `ObjectsUpdateRequest`."""

    remove_ttl: bool = False
    """True: it has no deadline any more, as in `ObjectsUpdateRequest`."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("key", "key", "optional", "ObjectKey"),
        Field("patch", "patch", "optional", "ContentPatch"),
        Field("preconditions", "preconditions", "optional", "Preconditions"),
        Field("metadata_patch", "metadataPatch", "optional", "MetadataPatch"),
        Field("ttl_ms", "ttlMs", "optional", "long"),
        Field("remove_ttl", "removeTtl", "one", "bool"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class DeleteOperation(Message):
    """Deletes an object. Since 0.1."""

    key: ObjectKey | None = None
    """Its name."""

    preconditions: Preconditions | None = None
    """Which object it must still be, and as of which revision."""

    propagation: Propagation = Propagation.UNSPECIFIED
    """What becomes of the objects that it owns."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("key", "key", "optional", "ObjectKey"),
        Field("preconditions", "preconditions", "optional", "Preconditions"),
        Field("propagation", "propagation", "one", "Propagation"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class ObjectsTransactRequest(Message):
    """Compares, and then either carries out all operations at one revision, or reads. Since 0.1."""

    request_id: RequestId | None = None
    """The exactly-once key, if the caller has a session."""

    compares: tuple[ObjectsCompare, ...] = ()
    """What must all be so; up to 128."""

    operations: tuple[ObjectsOperation, ...] = ()
    """What to do then, all at one revision or not at all; up to 128, no object twice."""

    reads: tuple[ObjectKey, ...] = ()
    """What to read if not all compares hold; up to 128."""

    fences: Fences | None = None
    """Who may do this."""

    dry_run: bool = False
    """True: check everything and change nothing. The answer is what would have been."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("request_id", "requestId", "optional", "RequestId"),
        Field("compares", "compares", "many", "ObjectsCompare"),
        Field("operations", "operations", "many", "ObjectsOperation"),
        Field("reads", "reads", "many", "ObjectKey"),
        Field("fences", "fences", "optional", "Fences"),
        Field("dry_run", "dryRun", "one", "bool"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class ObjectsTransactResponse(Message):
    """What the transaction did. Since 0.1."""

    header: ResponseHeader | None = None
    """Who answered, and at which revision."""

    changed: bool = False
    """False if nothing was written."""

    succeeded: bool = False
    """True: all compares held, and the operations were carried out. False: they did not, and `reads` has what was asked."""

    results: tuple[OperationResult, ...] = ()
    """One for each operation, in order."""

    reads: tuple[ReadResult, ...] = ()
    """One for each read, in order, as of `header.revision`, if it did not succeed."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("header", "header", "optional", "ResponseHeader"),
        Field("changed", "changed", "one", "bool"),
        Field("succeeded", "succeeded", "one", "bool"),
        Field("results", "results", "many", "OperationResult"),
        Field("reads", "reads", "many", "ReadResult"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class OperationResult(Message):
    """What an operation of a transaction did. Since 0.1."""

    changed: bool = False
    """False if the object was so already."""

    created: bool = False
    """True if the object was created."""

    deleted: bool = False
    """True if the object is gone."""

    uid: str = ""
    """The uid of the object."""

    resource_version: int = 0
    """The revision of its last change; if it is gone, of the deletion."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("changed", "changed", "one", "bool"),
        Field("created", "created", "one", "bool"),
        Field("deleted", "deleted", "one", "bool"),
        Field("uid", "uid", "one", "str"),
        Field("resource_version", "resourceVersion", "one", "long"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class ReadResult(Message):
    """What a transaction read. Since 0.1."""

    object: Object | None = None
    """The object. Unset if it was not there, or is left out."""

    left_out: bool = False
    """True: the answer does not say whether the object was there. It and those before it have more than 2 MiB, or this
    answers a retry so late that its revision is no longer kept. Read it by itself.
    """

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("object", "object", "optional", "Object"),
        Field("left_out", "leftOut", "one", "bool"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class Collection(Message):
    """A kind of objects that the cluster keeps. Since 0.1."""

    metadata: Metadata | None = None
    """Name (`<resource>.<group>`, for the core group `<resource>`), uid and revisions."""

    resource: GroupResource | None = None
    """The resource."""

    kind: str = ""
    """The kind of the objects, as in `Widget`; at most 63 characters. No other collection of the group has it. It changes only
    while the collection holds no object.
    """

    namespaced: bool = False
    """True: each object lives in a namespace. False: none does."""

    rules: CollectionRules | None = None
    """What writes must hold to."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("metadata", "metadata", "optional", "Metadata"),
        Field("resource", "resource", "optional", "GroupResource"),
        Field("kind", "kind", "one", "str"),
        Field("namespaced", "namespaced", "one", "bool"),
        Field("rules", "rules", "optional", "CollectionRules"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class CollectionRules(Message):
    """What the writes of a collection must hold to. Since 0.1."""

    strict_storage_version: bool = False
    """True: what is stored must be encoded in the version that is selected at that revision, else
    `ENCODING_NOT_SELECTED`, and `NO_AGREEMENT` while none is selected. Changes of metadata alone and deletions pass.
    """

    create_on_update: bool = False
    """True: an update of an object that is not there creates it. False: `NOT_FOUND`."""

    unconditional_update: bool = False
    """True: an update may leave out `resource_version`. False: that is an `INVALID_ARGUMENT`."""

    status_subresource: bool = False
    """True: the top-level member `status` of an object's JSON is what is observed of it. A write that changes nothing else moves
    no generation, and the Kubernetes API serves `<object>/status`, by which alone it changes the status of what stays in its
    version. To set it, or to name it in an update: `UNAVAILABLE` until all replicas know the field (machine version 2). Since 0.1.
    """

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("strict_storage_version", "strictStorageVersion", "one", "bool"),
        Field("create_on_update", "createOnUpdate", "one", "bool"),
        Field("unconditional_update", "unconditionalUpdate", "one", "bool"),
        Field("status_subresource", "statusSubresource", "one", "bool"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class EncodingCount(Message):
    """How many objects of a collection are encoded in a version. Since 0.1."""

    version: str = ""
    """The version."""

    objects: int = 0
    """The number of objects, exact; at least 1."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("version", "version", "one", "str"),
        Field("objects", "objects", "one", "long"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class CollectionsCreateRequest(Message):
    """Declares a collection. Since 0.1."""

    request_id: RequestId | None = None
    """The exactly-once key, if the caller has a session."""

    resource: GroupResource | None = None
    """The resource."""

    kind: str = ""
    """The kind of the objects, as in `Widget`; at most 63 characters."""

    namespaced: bool = False
    """True: each object lives in a namespace."""

    rules: CollectionRules | None = None
    """What writes must hold to; left out: not strict, no creation by update, no unconditional update."""

    dry_run: bool = False
    """True: check everything and change nothing. The answer is what would have been."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("request_id", "requestId", "optional", "RequestId"),
        Field("resource", "resource", "optional", "GroupResource"),
        Field("kind", "kind", "one", "str"),
        Field("namespaced", "namespaced", "one", "bool"),
        Field("rules", "rules", "optional", "CollectionRules"),
        Field("dry_run", "dryRun", "one", "bool"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class CollectionsCreateResponse(Message):
    """The collection was declared. Since 0.1."""

    header: ResponseHeader | None = None
    """Who answered, and at which revision."""

    collection: Collection | None = None
    """The collection. Unset if this answers a retry so late that its revision is no longer kept."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("header", "header", "optional", "ResponseHeader"),
        Field("collection", "collection", "optional", "Collection"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class CollectionsUpdateRequest(Message):
    """Changes a collection. Since 0.1."""

    request_id: RequestId | None = None
    """The exactly-once key, if the caller has a session."""

    resource: GroupResource | None = None
    """The resource."""

    preconditions: Preconditions | None = None
    """Which collection it must still be; left out: whichever there is."""

    strict_storage_version: bool | None = None
    """See `CollectionRules`; left out: as before. At least one of the four rules or the kind is required."""

    create_on_update: bool | None = None
    """See `CollectionRules`; left out: as before."""

    unconditional_update: bool | None = None
    """See `CollectionRules`; left out: as before."""

    dry_run: bool = False
    """True: check everything and change nothing. The answer is what would have been."""

    status_subresource: bool | None = None
    """See `CollectionRules`; left out: as before. Since 0.1."""

    kind: str | None = None
    """The right kind of the objects, as in `Widget`, at most 63 characters, where the collection was declared with a wrong one; left
    out: as before. `CONFLICT` while the collection holds objects: delete them first. `UNAVAILABLE` until all replicas know the
    field (machine version 3). Since 0.1.
    """

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("request_id", "requestId", "optional", "RequestId"),
        Field("resource", "resource", "optional", "GroupResource"),
        Field("preconditions", "preconditions", "optional", "Preconditions"),
        Field("strict_storage_version", "strictStorageVersion", "optional", "bool"),
        Field("create_on_update", "createOnUpdate", "optional", "bool"),
        Field("unconditional_update", "unconditionalUpdate", "optional", "bool"),
        Field("dry_run", "dryRun", "one", "bool"),
        Field("status_subresource", "statusSubresource", "optional", "bool"),
        Field("kind", "kind", "optional", "str"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class CollectionsUpdateResponse(Message):
    """The collection is as asked. Since 0.1."""

    header: ResponseHeader | None = None
    """Who answered, and at which revision."""

    changed: bool = False
    """False if it was so already."""

    collection: Collection | None = None
    """The collection. Unset if this answers a retry so late that its revision is no longer kept."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("header", "header", "optional", "ResponseHeader"),
        Field("changed", "changed", "one", "bool"),
        Field("collection", "collection", "optional", "Collection"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class CollectionsGetRequest(Message):
    """Names a collection to read. Since 0.1."""

    resource: GroupResource | None = None
    """The resource."""

    read: ReadOptions | None = None
    """How to read; left out: linearizable."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("resource", "resource", "optional", "GroupResource"),
        Field("read", "read", "optional", "ReadOptions"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class CollectionsGetResponse(Message):
    """One collection. Since 0.1."""

    header: ResponseHeader | None = None
    """Who answered, and at which revision."""

    collection: Collection | None = None
    """The collection."""

    counts: tuple[EncodingCount, ...] = ()
    """How many objects it holds, by version, sorted by it."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("header", "header", "optional", "ResponseHeader"),
        Field("collection", "collection", "optional", "Collection"),
        Field("counts", "counts", "many", "EncodingCount"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class CollectionsListRequest(Message):
    """Asks for a page of collections. Since 0.1."""

    read: ReadOptions | None = None
    """How to read; left out: linearizable. Not together with `continue_token`, which pins the revision."""

    page_size: int | None = None
    """How many to return at most, at least 1; more than 5,000 counts as 5,000. Left out: 500."""

    continue_token: str = ""
    """Where the page before ended, as it was given; empty for the first page. A token whose revision left the window:
    `COMPACTED`.
    """

    continue_at_present: bool = False
    """True: the page is read at the present revision, behind what the token names, also if the token's own revision has left
    the window, as in `ObjectsListRequest`.
    """

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("read", "read", "optional", "ReadOptions"),
        Field("page_size", "pageSize", "optional", "int"),
        Field("continue_token", "continueToken", "one", "str"),
        Field("continue_at_present", "continueAtPresent", "one", "bool"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class CollectionsListResponse(Message):
    """A page of collections, all at one revision. Since 0.1."""

    header: ResponseHeader | None = None
    """Who answered, and the revision of all pages of this list."""

    items: tuple[CollectionListItem, ...] = ()
    """The collections, ordered by group and resource."""

    continue_token: str = ""
    """Give this to get the next page; empty at the end."""

    inconsistent: bool = False
    """True: this page is of a later revision than the one before it, as in `ObjectsListResponse`."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("header", "header", "optional", "ResponseHeader"),
        Field("items", "items", "many", "CollectionListItem"),
        Field("continue_token", "continueToken", "one", "str"),
        Field("inconsistent", "inconsistent", "one", "bool"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class CollectionListItem(Message):
    """A collection in a list. Since 0.1."""

    collection: Collection | None = None
    """The collection."""

    counts: tuple[EncodingCount, ...] = ()
    """How many objects it holds, by version, sorted by it."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("collection", "collection", "optional", "Collection"),
        Field("counts", "counts", "many", "EncodingCount"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class CollectionsDeleteRequest(Message):
    """Takes a collection away. Since 0.1."""

    request_id: RequestId | None = None
    """The exactly-once key, if the caller has a session."""

    resource: GroupResource | None = None
    """The resource."""

    preconditions: Preconditions | None = None
    """Which collection it must still be; left out: whichever there is."""

    dry_run: bool = False
    """True: check everything and change nothing."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("request_id", "requestId", "optional", "RequestId"),
        Field("resource", "resource", "optional", "GroupResource"),
        Field("preconditions", "preconditions", "optional", "Preconditions"),
        Field("dry_run", "dryRun", "one", "bool"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class CollectionsDeleteResponse(Message):
    """The collection is gone. Since 0.1."""

    header: ResponseHeader | None = None
    """Who answered, and at which revision."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("header", "header", "optional", "ResponseHeader"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class ControllerRevision(Message):
    """What a controller wanted at one point of its history. Its data never changes; its number moves forward when the same
    data is wanted again. Since 0.1.
    """

    metadata: Metadata | None = None
    """Name, namespace, uid, revisions, labels (the hash of the data as `controller.kubernetes.io/hash` among them),
    annotations, and the controller as the one owner reference, if it has one.
    """

    revision: int = 0
    """Its place in the history: at least 0; the highest is what the controller wants now."""

    media_type: str = ""
    """The form of the data."""

    data: bytes = b""
    """What was wanted: if `media_type` is that of JSON, a JSON object."""

    current: bool = False
    """Whether it is what the controller's objects were made from last."""

    update: bool = False
    """Whether it is what the controller is changing them to."""

    in_use: tuple[str, ...] = ()
    """Who else uses it, sorted. A snapshot that is current, of the update or in use is live: it is never truncated. So is the
    newest of its history.
    """

    marks: tuple[LiveMark, ...] = ()
    """Each of these marks with what it goes with: current, update, then by marker. How long one still has that is renewed is
    no part of the snapshot.
    """

    data_version: str | None = None
    """The version of the controller's kind that the data is in, if a create said so."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("metadata", "metadata", "optional", "Metadata"),
        Field("revision", "revision", "one", "long"),
        Field("media_type", "mediaType", "one", "str"),
        Field("data", "data", "one", "bytes"),
        Field("current", "current", "one", "bool"),
        Field("update", "update", "one", "bool"),
        Field("in_use", "inUse", "many", "str"),
        Field("marks", "marks", "many", "LiveMark"),
        Field("data_version", "dataVersion", "optional", "str"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class LiveMark(Message):
    """A mark of a ControllerRevision. Since 0.1."""

    kind: LiveMarkKind = LiveMarkKind.UNSPECIFIED
    """Which."""

    marker: str = ""
    """Who else uses it; empty for the other marks."""

    tie: MarkTie | None = None
    """What it goes with."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("kind", "kind", "one", "LiveMarkKind"),
        Field("marker", "marker", "one", "str"),
        Field("tie", "tie", "optional", "MarkTie"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class MarkTie(Message):
    """What a mark goes with. Since 0.1."""

    ttl_ms: int | None = None
    """It goes when it was not set again for so long, in milliseconds of log time: 1,000 to 86,400,000."""

    member: MemberEpoch | None = None
    """It goes in the command in which this epoch of a member goes: when the member leaves or expires, or another instance
    replaces it. An epoch that is not the present one: `NOT_A_MEMBER` or `STALE_EPOCH`.
    """

    object: TiedObject | None = None
    """It goes in the command in which this object goes."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("ttl_ms", "ttlMs", "optional", "long"),
        Field("member", "member", "optional", "MemberEpoch"),
        Field("object", "object", "optional", "TiedObject"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class TiedObject(Message):
    """An object that marks go with. Since 0.1."""

    key: ObjectKey | None = None
    """Its key. An object that is not there: `NOT_FOUND`."""

    uid: str = ""
    """Its uid. An object of another: `CONFLICT`."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("key", "key", "optional", "ObjectKey"),
        Field("uid", "uid", "one", "str"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class ControllerRevisionAnswer(Message):
    """What became of what a controller wants. Since 0.1."""

    name: str = ""
    """The name of the ControllerRevision that holds it."""

    revision: int = 0
    """Its number."""

    outcome: ControllerRevisionOutcome = ControllerRevisionOutcome.UNSPECIFIED
    """How it came to be the newest."""

    collision_count: int = 0
    """The collisions of names that the owner has to count from now on: give it with the next create. 0 for a rollback."""

    history: ControllerHistoryAnswer | None = None
    """What was done to the others."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("name", "name", "one", "str"),
        Field("revision", "revision", "one", "long"),
        Field("outcome", "outcome", "one", "ControllerRevisionOutcome"),
        Field("collision_count", "collisionCount", "one", "int"),
        Field("history", "history", "optional", "ControllerHistoryAnswer"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class ControllerHistoryAnswer(Message):
    """What was done to the ControllerRevisions of a history. Since 0.1."""

    adopted: int = 0
    """How many had no controller and were adopted."""

    deleted: int = 0
    """How many were deleted."""

    left: int = 0
    """How many are left to adopt or to delete, since one command does only so much: ask again."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("adopted", "adopted", "one", "int"),
        Field("deleted", "deleted", "one", "int"),
        Field("left", "left", "one", "int"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class ControllerHistory(Message):
    """Names the history of a controller: the snapshots of a namespace that have the labels and that the owner, by its uid,
    controls. A change first adopts those that have the labels and no controller. Since 0.1.
    """

    namespace: str = ""
    """The namespace of the owner and of its snapshots: a DNS-1123 label."""

    owner: OwnerReference | None = None
    """The owner; it is the controller, whatever its `controller` says."""

    selector: Mapping[str, str] = field(default_factory=dict)
    """The labels that its snapshots have. Without any, all that it controls belong to the history, and none is adopted."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("namespace", "namespace", "one", "str"),
        Field("owner", "owner", "optional", "OwnerReference"),
        Field("selector", "selector", "map", "str"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class ControllerRevisionsCreateRequest(Message):
    """Says what a controller wants now. Since 0.1."""

    request_id: RequestId | None = None
    """The exactly-once key, if the caller has a session."""

    history: ControllerHistory | None = None
    """Whose history."""

    media_type: str = ""
    """The form of the data; empty: `application/json`."""

    data: bytes = b""
    """What is wanted, of at most 1 MiB. If `media_type` is that of JSON, a JSON object: no key twice in one object, at most
    128 levels.
    """

    equality: ControllerRevisionEquality = ControllerRevisionEquality.UNSPECIFIED
    """How it is compared."""

    prefix: str = ""
    """What the name of a new snapshot begins with, cut to 223 characters; empty: the owner's name."""

    labels: Mapping[str, str] = field(default_factory=dict)
    """The labels of a new snapshot, beside those of the selector and the hash; 63 in all."""

    annotations: Mapping[str, str] = field(default_factory=dict)
    """The annotations of a new snapshot."""

    revision: int | None = None
    """The number of a new snapshot, such as the owner's generation. It counts if it is greater than all in the history;
    else, and if left out, the number is one more than the highest, and 1 in an empty history.
    """

    collision_count: int | None = None
    """How many collisions of names the owner has counted: what the answer to its last create said, 0 at first. Required;
    at most 2,147,483,647.
    """

    history_limit: int | None = None
    """How many snapshots that are not live to keep; at most 10,000. Left out: 10. Neither the one that is answered, which is
    the newest from now on, nor the one that was the newest before is deleted; the former does not count.
    """

    if_newest: int | None = None
    """The `resource_version` of the newest snapshot of the history as the caller knows it, 0 for none: else `CONFLICT`.
    Left out: any.
    """

    dry_run: bool = False
    """True: check everything and change nothing. The answer is what would have been."""

    mark_update: MarkTie | None = None
    """Set: the one that is answered is marked in the same command as what the controller is changing its objects to, and no
    other is; the mark goes with this. An answer of *unchanged* renews it. Left out: marks stay as they are.
    """

    data_version: str | None = None
    """The version of the controller's kind that the data is in, as in `apps/v1`. Nobody ever rewrites a snapshot, so
    `StorageVersions.CheckDrop` names it while the version is asked for. Left out: not known, and it is named as an
    assumption. If the data is there already and its version was not known, it is from then on, which is a change of the
    snapshot also where the outcome is *unchanged*; a version that is known stays.
    """

    name: str = ""
    """The name of the snapshot, for whoever compares and counts itself, as controllers of Kubernetes do: it is created whatever the
    history holds, with `revision` as it is given, and none is adopted or deleted. `ALREADY_EXISTS` if the name is taken; `QUOTA` if
    the owner controls 10,000 snapshots in the namespace; `UNAVAILABLE` until all replicas know the field (machine version 2). Not
    together with `mark_update`. Empty: the replicas compare, name and count. Since 0.1.
    """

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("request_id", "requestId", "optional", "RequestId"),
        Field("history", "history", "optional", "ControllerHistory"),
        Field("media_type", "mediaType", "one", "str"),
        Field("data", "data", "one", "bytes"),
        Field("equality", "equality", "one", "ControllerRevisionEquality"),
        Field("prefix", "prefix", "one", "str"),
        Field("labels", "labels", "map", "str"),
        Field("annotations", "annotations", "map", "str"),
        Field("revision", "revision", "optional", "long"),
        Field("collision_count", "collisionCount", "optional", "int"),
        Field("history_limit", "historyLimit", "optional", "int"),
        Field("if_newest", "ifNewest", "optional", "long"),
        Field("dry_run", "dryRun", "one", "bool"),
        Field("mark_update", "markUpdate", "optional", "MarkTie"),
        Field("data_version", "dataVersion", "optional", "str"),
        Field("name", "name", "one", "str"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class ControllerRevisionsCreateResponse(Message):
    """What a controller wants stands in its history. Since 0.1."""

    header: ResponseHeader | None = None
    """Who answered, and at which revision."""

    changed: bool = False
    """False if nothing was written."""

    answer: ControllerRevisionAnswer | None = None
    """What became of it."""

    controller_revision: ControllerRevision | None = None
    """The snapshot; unset in the answer to a retry whose revision has left the window."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("header", "header", "optional", "ResponseHeader"),
        Field("changed", "changed", "one", "bool"),
        Field("answer", "answer", "optional", "ControllerRevisionAnswer"),
        Field("controller_revision", "controllerRevision", "optional", "ControllerRevision"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class ControllerRevisionsGetRequest(Message):
    """Names a snapshot to read. Since 0.1."""

    namespace: str = ""
    """Its namespace."""

    name: str = ""
    """Its name."""

    read: ReadOptions | None = None
    """How to read; left out: linearizable."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("namespace", "namespace", "one", "str"),
        Field("name", "name", "one", "str"),
        Field("read", "read", "optional", "ReadOptions"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class ControllerRevisionsGetResponse(Message):
    """One snapshot. Since 0.1."""

    header: ResponseHeader | None = None
    """Who answered, and at which revision."""

    controller_revision: ControllerRevision | None = None
    """The snapshot."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("header", "header", "optional", "ResponseHeader"),
        Field("controller_revision", "controllerRevision", "optional", "ControllerRevision"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class ControllerRevisionsListRequest(Message):
    """Asks for a page of snapshots: those that pass every field. Since 0.1."""

    read: ReadOptions | None = None
    """How to read; left out: linearizable. Not together with `continue_token`, which pins the revision."""

    namespace: str = ""
    """Only those of this namespace; empty: of all."""

    labels: Mapping[str, str] = field(default_factory=dict)
    """Only those that have all of these labels; up to 64."""

    owner_kind: str = ""
    """Only those whose controller is of this kind; empty: of any, or none."""

    owner_name: str = ""
    """Only those whose controller has this name; empty: any, or none."""

    owner_uid: str = ""
    """Only those whose controller has this uid; empty: any, or none."""

    page_size: int | None = None
    """How many to return at most, at least 1; more than 5,000 counts as 5,000. Left out: 500."""

    continue_token: str = ""
    """Where the page before ended, as it was given; empty for the first page. With it, all else must be as it was,
    else `INVALID_ARGUMENT`. A token whose revision left the window: `COMPACTED`.
    """

    continue_at_present: bool = False
    """True: the page is read at the present revision, behind what the token names, also if the token's own revision has left
    the window, as in `ObjectsListRequest`.
    """

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("read", "read", "optional", "ReadOptions"),
        Field("namespace", "namespace", "one", "str"),
        Field("labels", "labels", "map", "str"),
        Field("owner_kind", "ownerKind", "one", "str"),
        Field("owner_name", "ownerName", "one", "str"),
        Field("owner_uid", "ownerUid", "one", "str"),
        Field("page_size", "pageSize", "optional", "int"),
        Field("continue_token", "continueToken", "one", "str"),
        Field("continue_at_present", "continueAtPresent", "one", "bool"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class ControllerRevisionsListResponse(Message):
    """A page of snapshots, all at one revision. Since 0.1."""

    header: ResponseHeader | None = None
    """Who answered, and the revision of all pages of this list."""

    items: tuple[ControllerRevision, ...] = ()
    """The snapshots, ordered by namespace and name."""

    continue_token: str = ""
    """Give this to get the next page; empty at the end."""

    inconsistent: bool = False
    """True: this page is of a later revision than the one before it, as in `ObjectsListResponse`."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("header", "header", "optional", "ResponseHeader"),
        Field("items", "items", "many", "ControllerRevision"),
        Field("continue_token", "continueToken", "one", "str"),
        Field("inconsistent", "inconsistent", "one", "bool"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class ControllerRevisionsHistoryRequest(Message):
    """Asks for a page of a history. Since 0.1."""

    history: ControllerHistory | None = None
    """Whose history."""

    read: ReadOptions | None = None
    """How to read; left out: linearizable. Not together with `continue_token`, which pins the revision."""

    page_size: int | None = None
    """How many to return at most, at least 1; more than 5,000 counts as 5,000. Left out: 500."""

    continue_token: str = ""
    """Where the page before ended, as it was given; empty for the first page. With it, `history` must be as it was,
    else `INVALID_ARGUMENT`. A token whose revision left the window: `COMPACTED`.
    """

    continue_at_present: bool = False
    """True: the page is read at the present revision, behind what the token names, also if the token's own revision has left
    the window, as in `ObjectsListRequest`.
    """

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("history", "history", "optional", "ControllerHistory"),
        Field("read", "read", "optional", "ReadOptions"),
        Field("page_size", "pageSize", "optional", "int"),
        Field("continue_token", "continueToken", "one", "str"),
        Field("continue_at_present", "continueAtPresent", "one", "bool"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class ControllerRevisionsHistoryResponse(Message):
    """A page of a history, all at one revision. Since 0.1."""

    header: ResponseHeader | None = None
    """Who answered, and the revision of all pages of this history."""

    items: tuple[ControllerRevision, ...] = ()
    """The snapshots, oldest first: ordered by number, then by the revision that created them, then by name."""

    continue_token: str = ""
    """Give this to get the next page; empty at the end."""

    inconsistent: bool = False
    """True: this page is of a later revision than the one before it, as in `ObjectsListResponse`."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("header", "header", "optional", "ResponseHeader"),
        Field("items", "items", "many", "ControllerRevision"),
        Field("continue_token", "continueToken", "one", "str"),
        Field("inconsistent", "inconsistent", "one", "bool"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class ControllerRevisionsDiffRequest(Message):
    """Names two snapshots of a namespace. Since 0.1."""

    namespace: str = ""
    """Their namespace."""

    from_: str = ""
    """The one to begin with; empty for a nil revision, which says nothing."""

    to: str = ""
    """The one to end with; empty for a nil revision."""

    read: ReadOptions | None = None
    """How to read; left out: linearizable."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("namespace", "namespace", "one", "str"),
        Field("from_", "from", "one", "str"),
        Field("to", "to", "one", "str"),
        Field("read", "read", "optional", "ReadOptions"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class ControllerRevisionsDiffResponse(Message):
    """What changed. Since 0.1."""

    header: ResponseHeader | None = None
    """Who answered, and at which revision."""

    equal: bool = False
    """Whether the two say the same as JSON; if they are no JSON, whether they are the same bytes."""

    json_patch: str | None = None
    """The JSON patch (RFC 6902) that makes the one of the other; unset unless both are JSON. A nil revision is `null`."""

    unified: str | None = None
    """What changed, line by line, in the unified format; empty if nothing. Unset if one of them is neither JSON nor text."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("header", "header", "optional", "ResponseHeader"),
        Field("equal", "equal", "one", "bool"),
        Field("json_patch", "jsonPatch", "optional", "str"),
        Field("unified", "unified", "optional", "str"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class ControllerRevisionsUpdateRequest(Message):
    """Changes what may be changed of a snapshot. What is left out stays. Since 0.1."""

    request_id: RequestId | None = None
    """The exactly-once key, if the caller has a session."""

    namespace: str = ""
    """Its namespace."""

    name: str = ""
    """Its name."""

    if_uid: str = ""
    """The uid that it must have, else `CONFLICT`; empty: any."""

    if_resource_version: int | None = None
    """The `resource_version` that it must have, else `CONFLICT`. Required, as Kubernetes has it for ControllerRevisions."""

    revision: int | None = None
    """Its number from now on. A lower one than it has: `IMMUTABLE`."""

    labels: LabelMap | None = None
    """Its labels from now on. The hash stays without being named; another one: `IMMUTABLE`."""

    annotations: LabelMap | None = None
    """Its annotations from now on."""

    data: bytes = b""
    """The data that it has, for callers that send whole objects: any other: `IMMUTABLE`. Empty: not compared."""

    media_type: str = ""
    """The form of `data`; empty: `application/json`."""

    dry_run: bool = False
    """True: check everything and change nothing. The answer is what would have been."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("request_id", "requestId", "optional", "RequestId"),
        Field("namespace", "namespace", "one", "str"),
        Field("name", "name", "one", "str"),
        Field("if_uid", "ifUid", "one", "str"),
        Field("if_resource_version", "ifResourceVersion", "optional", "long"),
        Field("revision", "revision", "optional", "long"),
        Field("labels", "labels", "optional", "LabelMap"),
        Field("annotations", "annotations", "optional", "LabelMap"),
        Field("data", "data", "one", "bytes"),
        Field("media_type", "mediaType", "one", "str"),
        Field("dry_run", "dryRun", "one", "bool"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class LabelMap(Message):
    """Labels or annotations that can be left out as a whole. Since 0.1."""

    items: Mapping[str, str] = field(default_factory=dict)
    """By key."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("items", "items", "map", "str"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class ControllerRevisionsUpdateResponse(Message):
    """The snapshot is as asked. Since 0.1."""

    header: ResponseHeader | None = None
    """Who answered, and at which revision."""

    changed: bool = False
    """False if it was so already."""

    controller_revision: ControllerRevision | None = None
    """The snapshot; unset in the answer to a retry whose revision has left the window."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("header", "header", "optional", "ResponseHeader"),
        Field("changed", "changed", "one", "bool"),
        Field("controller_revision", "controllerRevision", "optional", "ControllerRevision"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class ControllerRevisionsRollbackRequest(Message):
    """Names a snapshot to go back to. Since 0.1."""

    request_id: RequestId | None = None
    """The exactly-once key, if the caller has a session."""

    history: ControllerHistory | None = None
    """Whose history."""

    revision: int | None = None
    """The one with this number; the last in order if several have it."""

    name: str | None = None
    """The one with this name."""

    if_newest: int | None = None
    """The `resource_version` of the newest snapshot of the history as the caller knows it: else `CONFLICT`. Left out: any."""

    dry_run: bool = False
    """True: check everything and change nothing. The answer is what would have been."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("request_id", "requestId", "optional", "RequestId"),
        Field("history", "history", "optional", "ControllerHistory"),
        Field("revision", "revision", "optional", "long"),
        Field("name", "name", "optional", "str"),
        Field("if_newest", "ifNewest", "optional", "long"),
        Field("dry_run", "dryRun", "one", "bool"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class ControllerRevisionsRollbackResponse(Message):
    """The snapshot is the newest of its history. Since 0.1."""

    header: ResponseHeader | None = None
    """Who answered, and at which revision."""

    changed: bool = False
    """False if nothing was written."""

    answer: ControllerRevisionAnswer | None = None
    """What became of it."""

    controller_revision: ControllerRevision | None = None
    """The snapshot, with the data that is wanted again; unset in the answer to a retry whose revision has left the window."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("header", "header", "optional", "ResponseHeader"),
        Field("changed", "changed", "one", "bool"),
        Field("answer", "answer", "optional", "ControllerRevisionAnswer"),
        Field("controller_revision", "controllerRevision", "optional", "ControllerRevision"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class InUse(Message):
    """What one marker uses. Since 0.1."""

    marker: str = ""
    """Who says so, such as the controller or one of its workers; 1 to 253 characters."""

    names: tuple[str, ...] = ()
    """The snapshots that it uses, up to 1,000: its marks are on these and on no others of the history. None clears them."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("marker", "marker", "one", "str"),
        Field("names", "names", "many", "str"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class ControllerRevisionsMarkLiveRequest(Message):
    """Says which snapshots of a history are in use. What is left out stays as it is. Since 0.1."""

    request_id: RequestId | None = None
    """The exactly-once key, if the caller has a session."""

    history: ControllerHistory | None = None
    """Whose history. Its selector does not count: marks can be on all that the owner controls."""

    current: str | None = None
    """What the controller's objects were made from last, by name; empty for a nil revision."""

    update: str | None = None
    """What the controller is changing them to, by name; empty for a nil revision."""

    in_use: InUse | None = None
    """What somebody else uses."""

    tie: MarkTie | None = None
    """What the marks go with that are set here, from now on. At most 1,000 snapshots of 4 MiB can have marks that go with one
    member or object: `QUOTA`. Left out: a `ttl_ms` of 86,400,000, a day.
    """

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("request_id", "requestId", "optional", "RequestId"),
        Field("history", "history", "optional", "ControllerHistory"),
        Field("current", "current", "optional", "str"),
        Field("update", "update", "optional", "str"),
        Field("in_use", "inUse", "optional", "InUse"),
        Field("tie", "tie", "optional", "MarkTie"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class ControllerRevisionsMarkLiveResponse(Message):
    """The marks are as asked. Since 0.1."""

    header: ResponseHeader | None = None
    """Who answered, and at which revision."""

    changed: bool = False
    """False if they were so already."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("header", "header", "optional", "ResponseHeader"),
        Field("changed", "changed", "one", "bool"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class ControllerRevisionsTruncateRequest(Message):
    """Deletes the oldest of a history that are not live. Since 0.1."""

    request_id: RequestId | None = None
    """The exactly-once key, if the caller has a session."""

    history: ControllerHistory | None = None
    """Whose history."""

    limit: int | None = None
    """How many snapshots that are not live to keep; at most 10,000. Left out: 10. The newest is live: it stays even with 0."""

    if_newest: int | None = None
    """The `resource_version` of the newest snapshot of the history as the caller knows it: else `CONFLICT`. Left out: any."""

    dry_run: bool = False
    """True: check everything and change nothing. The answer is what would have been."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("request_id", "requestId", "optional", "RequestId"),
        Field("history", "history", "optional", "ControllerHistory"),
        Field("limit", "limit", "optional", "int"),
        Field("if_newest", "ifNewest", "optional", "long"),
        Field("dry_run", "dryRun", "one", "bool"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class ControllerRevisionsTruncateResponse(Message):
    """The oldest are gone. Since 0.1."""

    header: ResponseHeader | None = None
    """Who answered, and at which revision."""

    changed: bool = False
    """False if nothing was written."""

    answer: ControllerHistoryAnswer | None = None
    """What was done."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("header", "header", "optional", "ResponseHeader"),
        Field("changed", "changed", "one", "bool"),
        Field("answer", "answer", "optional", "ControllerHistoryAnswer"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class ControllerRevisionsDeleteRequest(Message):
    """Names a snapshot to delete. Since 0.1."""

    request_id: RequestId | None = None
    """The exactly-once key, if the caller has a session."""

    namespace: str = ""
    """Its namespace."""

    name: str = ""
    """Its name."""

    if_uid: str = ""
    """The uid that it must have, else `CONFLICT`; empty: any."""

    if_resource_version: int | None = None
    """The `resource_version` that it must have, else `CONFLICT`; left out: any."""

    dry_run: bool = False
    """True: check everything and change nothing. The answer is what would have been."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("request_id", "requestId", "optional", "RequestId"),
        Field("namespace", "namespace", "one", "str"),
        Field("name", "name", "one", "str"),
        Field("if_uid", "ifUid", "one", "str"),
        Field("if_resource_version", "ifResourceVersion", "optional", "long"),
        Field("dry_run", "dryRun", "one", "bool"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class ControllerRevisionsDeleteResponse(Message):
    """The snapshot is gone. Since 0.1."""

    header: ResponseHeader | None = None
    """Who answered, and at which revision."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("header", "header", "optional", "ResponseHeader"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class ControllerRevisionsDeleteHistoryRequest(Message):
    """Names a history to delete. Since 0.1."""

    request_id: RequestId | None = None
    """The exactly-once key, if the caller has a session."""

    namespace: str = ""
    """The namespace of the owner."""

    owner_uid: str = ""
    """The uid of the owner."""

    dry_run: bool = False
    """True: check everything and change nothing. The answer is what would have been."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("request_id", "requestId", "optional", "RequestId"),
        Field("namespace", "namespace", "one", "str"),
        Field("owner_uid", "ownerUid", "one", "str"),
        Field("dry_run", "dryRun", "one", "bool"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class ControllerRevisionsDeleteHistoryResponse(Message):
    """The history is gone, as far as one command goes. Since 0.1."""

    header: ResponseHeader | None = None
    """Who answered, and at which revision."""

    changed: bool = False
    """False if there was none."""

    answer: ControllerHistoryAnswer | None = None
    """What was done."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("header", "header", "optional", "ResponseHeader"),
        Field("changed", "changed", "one", "bool"),
        Field("answer", "answer", "optional", "ControllerHistoryAnswer"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class ControllerRevisionsAdoptRequest(Message):
    """Names what to adopt. Since 0.1."""

    request_id: RequestId | None = None
    """The exactly-once key, if the caller has a session."""

    history: ControllerHistory | None = None
    """Who adopts."""

    name: str = ""
    """The one to adopt, whatever its labels. Empty: all that have the labels of the selector, which must then name some."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("request_id", "requestId", "optional", "RequestId"),
        Field("history", "history", "optional", "ControllerHistory"),
        Field("name", "name", "one", "str"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class ControllerRevisionsAdoptResponse(Message):
    """They are adopted. Since 0.1."""

    header: ResponseHeader | None = None
    """Who answered, and at which revision."""

    changed: bool = False
    """False if nothing was written."""

    answer: ControllerHistoryAnswer | None = None
    """What was done."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("header", "header", "optional", "ResponseHeader"),
        Field("changed", "changed", "one", "bool"),
        Field("answer", "answer", "optional", "ControllerHistoryAnswer"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class ControllerRevisionsReleaseRequest(Message):
    """Names a snapshot to let go. Since 0.1."""

    request_id: RequestId | None = None
    """The exactly-once key, if the caller has a session."""

    namespace: str = ""
    """Its namespace."""

    name: str = ""
    """Its name."""

    owner_uid: str = ""
    """The uid of the owner that lets it go."""

    if_uid: str = ""
    """The uid that it must have, else `CONFLICT`; empty: any."""

    if_resource_version: int | None = None
    """The `resource_version` that it must have, else `CONFLICT`; left out: any."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("request_id", "requestId", "optional", "RequestId"),
        Field("namespace", "namespace", "one", "str"),
        Field("name", "name", "one", "str"),
        Field("owner_uid", "ownerUid", "one", "str"),
        Field("if_uid", "ifUid", "one", "str"),
        Field("if_resource_version", "ifResourceVersion", "optional", "long"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class ControllerRevisionsReleaseResponse(Message):
    """The owner does not control it. Since 0.1."""

    header: ResponseHeader | None = None
    """Who answered, and at which revision."""

    changed: bool = False
    """False if it did not before."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("header", "header", "optional", "ResponseHeader"),
        Field("changed", "changed", "one", "bool"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class Roster(Message):
    """Who must speak for the resources of a scope. Of the rosters that cover a resource, the narrowest alone counts. Since 0.1."""

    metadata: Metadata | None = None
    """Name (the scope), uid and revisions."""

    scope: str = ""
    """The resources: `*` for all, `<group>.*` for those of a group, `<group>.<resource>` for one; the core group is written
    `core`.
    """

    rule: RosterRule | None = None
    """Who must speak."""

    may_miss: bool = False
    """True: the roster cannot notice a server that never joins, and answers assume that there is none."""

    notices: str = ""
    """What it can notice and what it cannot, in words."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("metadata", "metadata", "optional", "Metadata"),
        Field("scope", "scope", "one", "str"),
        Field("rule", "rule", "optional", "RosterRule"),
        Field("may_miss", "mayMiss", "one", "bool"),
        Field("notices", "notices", "one", "str"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class RosterRule(Message):
    """Who must speak: has an entry for the resource. All that is asked for must hold, and something must be. Since 0.1."""

    members: tuple[str, ...] = ()
    """These members; up to 1,000, none twice."""

    label_selector: str = ""
    """Every member whose labels match, and there must be one. A selector as in `ObjectsListRequest`; empty: none in
    particular.
    """

    least: int = 0
    """At least so many: of the members whose labels match, if there is a selector. 0: no number in particular."""

    complete: bool = False
    """True: the operator vouches that no server outside of the live members writes these resources, now or later. Answers then
    do not assume `ASSUMPTION_REASON_ROSTER_MAY_MISS`.
    """

    exempts_observed: bool = False
    """True, for the scope `*` alone: resources that no member ever reported, and that are only observed, are left out, and answer
    as without a roster. That ends with the first report of one.
    """

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("members", "members", "many", "str"),
        Field("label_selector", "labelSelector", "one", "str"),
        Field("least", "least", "one", "int"),
        Field("complete", "complete", "one", "bool"),
        Field("exempts_observed", "exemptsObserved", "one", "bool"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class AbsentMembers(Message):
    """Who is missing of a resource, by its roster. Since 0.1."""

    members: tuple[str, ...] = ()
    """Members that are asked for and have no entry for the resource, sorted; up to 16."""

    unnamed: int = 0
    """How many more there are."""

    short: int = 0
    """How many more entries there must be, of whichever members."""

    message: str = ""
    """The same in words, for people."""

    label_selector: str = ""
    """The labels of those of whom `short` are lacking, as a selector; empty: whoever they are."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("members", "members", "many", "str"),
        Field("unnamed", "unnamed", "one", "int"),
        Field("short", "short", "one", "int"),
        Field("message", "message", "one", "str"),
        Field("label_selector", "labelSelector", "one", "str"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class RostersSetRequest(Message):
    """Says who must speak. Since 0.1."""

    request_id: RequestId | None = None
    """The exactly-once key, if the caller has a session."""

    scope: str = ""
    """For which resources: see `Roster.scope`."""

    rule: RosterRule | None = None
    """Who."""

    if_revision: int | None = None
    """Only if the `resource_version` of the roster is this one; 0: only if there is none. Else `CONFLICT`, with the present one
    in the details, or `NOT_FOUND` if there is none. Left out: in any case.
    """

    dry_run: bool = False
    """True: check everything and change nothing. The answer is what would have been."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("request_id", "requestId", "optional", "RequestId"),
        Field("scope", "scope", "one", "str"),
        Field("rule", "rule", "optional", "RosterRule"),
        Field("if_revision", "ifRevision", "optional", "long"),
        Field("dry_run", "dryRun", "one", "bool"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class RostersSetResponse(Message):
    """The roster is as asked. Since 0.1."""

    header: ResponseHeader | None = None
    """Who answered, and at which revision."""

    changed: bool = False
    """False if it was so already."""

    roster: Roster | None = None
    """The roster. Unset if this answers a retry so late that its revision is no longer kept."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("header", "header", "optional", "ResponseHeader"),
        Field("changed", "changed", "one", "bool"),
        Field("roster", "roster", "optional", "Roster"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class RostersDeleteRequest(Message):
    """Names a roster to take away. Since 0.1."""

    request_id: RequestId | None = None
    """The exactly-once key, if the caller has a session."""

    scope: str = ""
    """For which resources it is: see `Roster.scope`."""

    if_revision: int | None = None
    """Only if the `resource_version` of the roster is this one. Else `CONFLICT`, with the present one in the details. Left out:
    in any case.
    """

    dry_run: bool = False
    """True: check everything and change nothing. The answer is what would have been."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("request_id", "requestId", "optional", "RequestId"),
        Field("scope", "scope", "one", "str"),
        Field("if_revision", "ifRevision", "optional", "long"),
        Field("dry_run", "dryRun", "one", "bool"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class RostersDeleteResponse(Message):
    """The roster is gone. Since 0.1."""

    header: ResponseHeader | None = None
    """Who answered, and at which revision."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("header", "header", "optional", "ResponseHeader"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class RostersGetRequest(Message):
    """Names a roster to read. Since 0.1."""

    scope: str = ""
    """For which resources it is: see `Roster.scope`."""

    read: ReadOptions | None = None
    """How to read; left out: linearizable."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("scope", "scope", "one", "str"),
        Field("read", "read", "optional", "ReadOptions"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class RostersGetResponse(Message):
    """A roster. Since 0.1."""

    header: ResponseHeader | None = None
    """Who answered, and at which revision."""

    roster: Roster | None = None
    """The roster."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("header", "header", "optional", "ResponseHeader"),
        Field("roster", "roster", "optional", "Roster"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class RostersListRequest(Message):
    """Asks for a page of rosters. Since 0.1."""

    read: ReadOptions | None = None
    """How to read; left out: linearizable. Not together with `continue_token`, which pins the revision."""

    page_size: int | None = None
    """How many to return at most, at least 1; more than 5,000 counts as 5,000. Left out: 500."""

    continue_token: str = ""
    """Where the page before ended, as it was given; empty for the first page. A token whose revision left the window:
    `COMPACTED`.
    """

    continue_at_present: bool = False
    """True: the page is read at the present revision, behind what the token names, also if the token's own revision has left
    the window, as in `ObjectsListRequest`.
    """

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("read", "read", "optional", "ReadOptions"),
        Field("page_size", "pageSize", "optional", "int"),
        Field("continue_token", "continueToken", "one", "str"),
        Field("continue_at_present", "continueAtPresent", "one", "bool"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class RostersListResponse(Message):
    """A page of rosters, all at one revision. Since 0.1."""

    header: ResponseHeader | None = None
    """Who answered, and the revision of all pages of this list."""

    rosters: tuple[Roster, ...] = ()
    """The rosters: that of all resources, then those of groups, then those of one resource, each by name."""

    continue_token: str = ""
    """Give this to get the next page; empty at the end."""

    inconsistent: bool = False
    """True: this page is of a later revision than the one before it, as in `ObjectsListResponse`."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("header", "header", "optional", "ResponseHeader"),
        Field("rosters", "rosters", "many", "Roster"),
        Field("continue_token", "continueToken", "one", "str"),
        Field("inconsistent", "inconsistent", "one", "bool"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class StorageVersion(Message):
    """A resource that at least one member reports, and what follows from all entries together. Nobody writes these fields;
    the object goes with its last entry. Since 0.1.
    """

    metadata: Metadata | None = None
    """Name (`<group>.<resource>`, the core group written `core`), uid and revisions."""

    resource: GroupResource | None = None
    """The resource."""

    entries: tuple[StorageVersionEntry, ...] = ()
    """One entry for each member that reports the resource, ordered by member."""

    status: StorageVersionStatus | None = None
    """What follows from the entries."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("metadata", "metadata", "optional", "Metadata"),
        Field("resource", "resource", "optional", "GroupResource"),
        Field("entries", "entries", "many", "StorageVersionEntry"),
        Field("status", "status", "optional", "StorageVersionStatus"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class StorageVersionEntry(Message):
    """What one member says of one resource, and what follows for its encoding. The member's epoch is not part of it, so a
    restart with an unchanged program changes no entry. Since 0.1.
    """

    member: str = ""
    """The member's id."""

    kind: str = ""
    """The kind that the resource stores."""

    decodable_versions: tuple[str, ...] = ()
    """The versions that the member can decode."""

    served_versions: tuple[str, ...] = ()
    """The versions that it serves."""

    preferred_version: str | None = None
    """The version that it would like to encode, if it votes. Unset: the entry is fixed, the member encodes what it says."""

    encoding_version: str | None = None
    """The version that it encodes. Unset: it votes and nothing was selected yet; its gate stays closed."""

    adopted_revision: int | None = None
    """The `selected_revision` that it took or adopted last. Unset for a fixed entry."""

    since_revision: int = 0
    """The revision at which the member's entry for this resource first appeared as a fixed or as a voting one: the oldest
    vote is the first to be selected.
    """

    serve_until_ms: int | None = None
    """The time that the member names before which nobody may withdraw a served version, in milliseconds since the Unix epoch.
    Unset: it names none.
    """

    stored: StoredIn = StoredIn.UNSPECIFIED
    """Where the member stores the objects."""

    equivalents: tuple[GroupResource, ...] = ()
    """The other names of the objects' store, as the member told them, sorted. Since 0.1."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("member", "member", "one", "str"),
        Field("kind", "kind", "one", "str"),
        Field("decodable_versions", "decodableVersions", "many", "str"),
        Field("served_versions", "servedVersions", "many", "str"),
        Field("preferred_version", "preferredVersion", "optional", "str"),
        Field("encoding_version", "encodingVersion", "optional", "str"),
        Field("adopted_revision", "adoptedRevision", "optional", "long"),
        Field("since_revision", "sinceRevision", "one", "long"),
        Field("serve_until_ms", "serveUntilMs", "optional", "long"),
        Field("stored", "stored", "one", "StoredIn"),
        Field("equivalents", "equivalents", "many", "GroupResource"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class StorageVersionStatus(Message):
    """What follows from all entries of a resource. Since 0.1."""

    common_encoding_version: str | None = None
    """The one version that all entries encode. Unset if they do not."""

    selected_version: str | None = None
    """The version that voters shall encode: an instruction. Unset if nothing was ever selected."""

    selected_revision: int = 0
    """The revision at which `selected_version` last changed; 0 before it was first set."""

    agreement_revision: int = 0
    """The revision at which the common or the selected version last changed, or an observation or a roster began or ceased to
    stand against an agreement.
    """

    agreed_version: str | None = None
    """The version that is agreed on: common, selected if anything is, taken by every voter, with nobody missing of the
    resource's roster, and with nothing else shown in discovery. Unset: no agreement.
    """

    decodable_by_all: tuple[str, ...] = ()
    """The versions that every entry decodes, sorted."""

    served_by_all: tuple[str, ...] = ()
    """The versions that every entry serves, sorted."""

    conditions: tuple[Condition, ...] = ()
    """`AllEncodingVersionsEqual`: there is a common version. `DecodableByAll`: every entry decodes every version that is
    reported, selected or persisted; if not, its message names who cannot decode which.
    """

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("common_encoding_version", "commonEncodingVersion", "optional", "str"),
        Field("selected_version", "selectedVersion", "optional", "str"),
        Field("selected_revision", "selectedRevision", "one", "long"),
        Field("agreement_revision", "agreementRevision", "one", "long"),
        Field("agreed_version", "agreedVersion", "optional", "str"),
        Field("decodable_by_all", "decodableByAll", "many", "str"),
        Field("served_by_all", "servedByAll", "many", "str"),
        Field("conditions", "conditions", "many", "Condition"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class StorageState(Message):
    """What stays of a resource when its last entry goes. Since 0.1."""

    metadata: Metadata | None = None
    """Name (`<resource>.<group>`, for the core group `<resource>`), uid and revisions."""

    resource: GroupResource | None = None
    """The resource."""

    selected_version: str | None = None
    """The version that voters shall encode. Losing every member does not unset it."""

    selected_revision: int = 0
    """The revision at which `selected_version` last changed; 0 before it was first set."""

    agreement_revision: int = 0
    """The revision at which the common or the selected version last changed."""

    current_version: str | None = None
    """The version that is agreed on. Unset: unknown, since there is no agreement."""

    persisted: tuple[PersistedVersion, ...] = ()
    """The versions in which objects may be stored."""

    drains: tuple[Drain, ...] = ()
    """The versions in which writes may still land. A drain only ever grows; one that is over may still be listed."""

    common_encoding_version: str | None = None
    """The one version that all entries encode. Unset if they do not, and while nobody reports the resource."""

    observed_hashes: tuple[str, ...] = ()
    """The storage-version hashes that discovery shows, sorted; empty if the resource is not observed. While nobody reports it,
    one is an agreement and several are none. While members report it, one that none of them encodes ends the agreement.
    """

    observed_kind: str = ""
    """The kind, if an observer said it; else empty."""

    observation_expired: bool = False
    """True: nobody has looked at discovery for two periods, so what it showed says nothing of the present."""

    contradicted: bool = False
    """True: discovery shows, or last showed, what no member says that it encodes. There is no agreement until it is seen
    otherwise, or the resource is reset.
    """

    current_hash: str | None = None
    """The hash that is agreed on while nobody reports the resource: the one that discovery shows. Unset: none."""

    absent: AbsentMembers | None = None
    """Who is missing by the roster of the resource. Unset: nobody."""

    on_trust_since: int = 0
    """Since which revision what is persisted is on trust; 0: it is not. Who writes the resource and was not asked for by a
    roster may have written any version. A migration that was created at this revision or later, and ends under a roster,
    makes an end of it: start one by request where none begins by itself.
    """

    serve_until_ms: int | None = None
    """Of the topic of a served version: the latest time that a member has named before which nobody may withdraw it, in
    milliseconds since the Unix epoch. Unset: none was named. It stays when the member goes.
    """

    serve_until_log_time_ms: int | None = None
    """The same in log time, in milliseconds, which alone decides. `log_time_ms` beside the object says what it is now."""

    known_versions: tuple[str, ...] = ()
    """The versions that were ever decodable, encoded, selected or stored, sorted; up to 256, the newest. `CheckDrop` of another one
    is not answered by yes. Empty under a machine version before 3.
    """

    known_hashes: tuple[str, ...] = ()
    """The storage-version hashes that discovery has ever shown, sorted; up to 256, the newest."""

    concluded_before: int = 0
    """The revision since which what is stored rests on `ASSUMPTION_REASON_CONCLUDED_BEFORE`; 0: it does not."""

    said_stopped: tuple[str, ...] = ()
    """The evicted members of which somebody said that they have stopped, and that a migration has not made irrelevant since."""

    short_absences: tuple[ShortAbsence, ...] = ()
    """Members of the roster that came back after a short absence, and that no migration has made irrelevant since; up to 32,
    those that came back last. Since 0.1.
    """

    ungated_gone: tuple[UngatedMember, ...] = ()
    """Members without a gate that expired or were evicted and have not come back, up to 64. Since 0.1."""

    more_ungated_gone: bool = False
    """Whether there were more of these. Since 0.1."""

    stored_outside: bool = False
    """Whether objects were ever stored outside of this cluster: members said so, or discovery showed what no member stores in the
    collection. Then the collection does not count all that is stored. Since 0.1.
    """

    looks: tuple[ObserverLook, ...] = ()
    """The looks of named observers. `observed_hashes` is what all looks show together. Since 0.1."""

    equivalents: tuple[GroupResource, ...] = ()
    """The other names of the same store, sorted; `resource` is the first. Of a key it is empty: its names follow from those of the
    resource. Since 0.1.
    """

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("metadata", "metadata", "optional", "Metadata"),
        Field("resource", "resource", "optional", "GroupResource"),
        Field("selected_version", "selectedVersion", "optional", "str"),
        Field("selected_revision", "selectedRevision", "one", "long"),
        Field("agreement_revision", "agreementRevision", "one", "long"),
        Field("current_version", "currentVersion", "optional", "str"),
        Field("persisted", "persisted", "many", "PersistedVersion"),
        Field("drains", "drains", "many", "Drain"),
        Field("common_encoding_version", "commonEncodingVersion", "optional", "str"),
        Field("observed_hashes", "observedHashes", "many", "str"),
        Field("observed_kind", "observedKind", "one", "str"),
        Field("observation_expired", "observationExpired", "one", "bool"),
        Field("contradicted", "contradicted", "one", "bool"),
        Field("current_hash", "currentHash", "optional", "str"),
        Field("absent", "absent", "optional", "AbsentMembers"),
        Field("on_trust_since", "onTrustSince", "one", "long"),
        Field("serve_until_ms", "serveUntilMs", "optional", "long"),
        Field("serve_until_log_time_ms", "serveUntilLogTimeMs", "optional", "long"),
        Field("known_versions", "knownVersions", "many", "str"),
        Field("known_hashes", "knownHashes", "many", "str"),
        Field("concluded_before", "concludedBefore", "one", "long"),
        Field("said_stopped", "saidStopped", "many", "str"),
        Field("short_absences", "shortAbsences", "many", "ShortAbsence"),
        Field("ungated_gone", "ungatedGone", "many", "UngatedMember"),
        Field("more_ungated_gone", "moreUngatedGone", "one", "bool"),
        Field("stored_outside", "storedOutside", "one", "bool"),
        Field("looks", "looks", "many", "ObserverLook"),
        Field("equivalents", "equivalents", "many", "GroupResource"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class ObserverLook(Message):
    """The look of a named observer. Since 0.1."""

    observer: str = ""
    """The observer."""

    servers: tuple[ServerLook, ...] = ()
    """What each server shows, or showed when it was last reached."""

    kind: str = ""
    """The kind that the resource stores, if the observer said it; else empty."""

    expired: bool = False
    """True: for two periods not all of these servers were reached, so what they showed says nothing of the present."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("observer", "observer", "one", "str"),
        Field("servers", "servers", "many", "ServerLook"),
        Field("kind", "kind", "one", "str"),
        Field("expired", "expired", "one", "bool"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class ServerLook(Message):
    """What one server shows. Since 0.1."""

    server: str = ""
    """The name under which the observer reaches the server, as its URL; up to 253 bytes. It is of this observer alone."""

    hashes: tuple[str, ...] = ()
    """The storage-version hashes that the server shows, none twice, up to 16. None: it does not show the resource."""

    of_member: str | None = None
    """The member that the server is; the caller does not act as this member. What all servers show that are members ends once each has reported another encoding. Left
    out: not known.
    """

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("server", "server", "one", "str"),
        Field("hashes", "hashes", "many", "str"),
        Field("of_member", "ofMember", "optional", "str"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class ShortAbsence(Message):
    """The short absence of a member that came back. Since 0.1."""

    member: str = ""
    """The member."""

    away_ms: int = 0
    """How long nobody had renewed its membership when it came back, in milliseconds of log time."""

    returned_log_time_ms: int = 0
    """The log time, in milliseconds, at which it came back."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("member", "member", "one", "str"),
        Field("away_ms", "awayMs", "one", "long"),
        Field("returned_log_time_ms", "returnedLogTimeMs", "one", "long"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class UngatedMember(Message):
    """A member without a gate that went without saying so. Since 0.1."""

    member: str = ""
    """The member."""

    epoch: int = 0
    """Its last epoch."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("member", "member", "one", "str"),
        Field("epoch", "epoch", "one", "long"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class PersistedVersion(Message):
    """A version in which objects may be stored. Since 0.1."""

    unknown: bool = False
    """True: objects may be stored in versions that nobody knows of. Then the other fields are empty."""

    hash: str = ""
    """The storage-version hash: base64 of the first 8 bytes of the SHA-256 of `group/version/kind`."""

    version: str | None = None
    """The version, if it is known."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("unknown", "unknown", "one", "bool"),
        Field("hash", "hash", "one", "str"),
        Field("version", "version", "optional", "str"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class Drain(Message):
    """Writes in an encoding may still land. Since 0.1."""

    version: str = ""
    """The version; empty if only its hash is known."""

    until_log_time_ms: int = 0
    """Until which log time, in milliseconds. `log_time_ms` beside the object says what it is now."""

    hash: str = ""
    """The storage-version hash of what discovery has shown; empty where the version is known."""

    unknown: bool = False
    """True: writes in versions that nobody can name may land. Then version and hash are empty."""

    claim_token: int = 0
    """The claim of the migration worker that may write them, which has ended without success; 0: a server may write them."""

    fenced: bool = False
    """True: a fenced worker need not wait for this one of another fenced worker."""

    walks: Walk = Walk.UNSPECIFIED
    """What the worker of the claim walked. One that walked the collection alone holds back no claim."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("version", "version", "one", "str"),
        Field("until_log_time_ms", "untilLogTimeMs", "one", "long"),
        Field("hash", "hash", "one", "str"),
        Field("unknown", "unknown", "one", "bool"),
        Field("claim_token", "claimToken", "one", "long"),
        Field("fenced", "fenced", "one", "bool"),
        Field("walks", "walks", "one", "Walk"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class AgreementChange(Message):
    """A change of what a resource's members agree on. Since 0.1."""

    from_version: str | None = None
    """What was agreed before. Unset: no agreement."""

    to_version: str | None = None
    """What was agreed then. Unset: no agreement."""

    revision: int = 0
    """The revision of the change."""

    time_ms: int = 0
    """When, in milliseconds since the Unix epoch by the leader's wall clock: for display."""

    cause_member: str | None = None
    """The member whose change caused it, if one did."""

    cause: AgreementCause = AgreementCause.UNSPECIFIED
    """What caused it."""

    caller: str | None = None
    """The proved identity of the caller whose change caused it; at most 512 bytes. It is sent only to callers that hold the right
    to operate. Unset as well: the replicas made the change themselves, the caller proved nothing, or an older machine version
    made the change.
    """

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("from_version", "fromVersion", "optional", "str"),
        Field("to_version", "toVersion", "optional", "str"),
        Field("revision", "revision", "one", "long"),
        Field("time_ms", "timeMs", "one", "long"),
        Field("cause_member", "causeMember", "optional", "str"),
        Field("cause", "cause", "one", "AgreementCause"),
        Field("caller", "caller", "optional", "str"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class ReportEntry(Message):
    """What a member says of one resource. Since 0.1."""

    resource: GroupResource | None = None
    """The resource. A report names none twice; of equivalent resources it names one. A topic other than an encoding is a resource
    of a reserved group: the key that encrypts `secrets` is `secrets` in `keys.synod`, with names of keys as versions; a feature
    is in `features.synod`, with its levels `v1`, `v2` and so on; whether `v1beta1` of the widgets of `example.io` is served is
    `v1beta1` in `widgets.example.io.served.synod`, with the versions `served` and `withdrawn`. Entries for these vote.
    """

    kind: str = ""
    """The kind that the resource stores, as in `Deployment`; at most 63 characters."""

    decodable_versions: tuple[str, ...] = ()
    """The versions that the member can decode; 1 to 64. One that stands twice counts once."""

    served_versions: tuple[str, ...] = ()
    """The versions that it serves; up to 64, each one decodable."""

    encoding_version: str | None = None
    """It encodes this version, which must be decodable: a *fixed* entry."""

    preferred_version: str | None = None
    """It encodes what is selected, and would like this to be it, which must be decodable: a *voting* entry."""

    serve_until_ms: int | None = None
    """The time before which nobody may withdraw a served version, in milliseconds since the Unix epoch, as a deprecation policy
    promises it: within 1,096 days from now. For topics of served versions alone. Of all dates that were ever named for a topic
    the latest counts. Unset: this member names none.
    """

    stored: StoredIn = StoredIn.UNSPECIFIED
    """Where it stores the objects. The first entry that says or leaves out that it stores them outside puts in doubt what a
    collection counts: what is stored is unknown until a migration ends that walked outside.
    """

    equivalents: tuple[GroupResource, ...] = ()
    """The other resources under whose names the same objects are stored, as `ingresses` of `extensions` and of `networking.k8s.io`
    are; up to 7, the resource itself not among them. For resources that are encoded alone: their keys follow. What is known of
    all names is joined, and stays so when the entry goes; see `AddEquivalents`.
    """

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("resource", "resource", "optional", "GroupResource"),
        Field("kind", "kind", "one", "str"),
        Field("decodable_versions", "decodableVersions", "many", "str"),
        Field("served_versions", "servedVersions", "many", "str"),
        Field("encoding_version", "encodingVersion", "optional", "str"),
        Field("preferred_version", "preferredVersion", "optional", "str"),
        Field("serve_until_ms", "serveUntilMs", "optional", "long"),
        Field("stored", "stored", "one", "StoredIn"),
        Field("equivalents", "equivalents", "many", "GroupResource"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class StorageVersionsReportRequest(Message):
    """What a member says of its resources. Since 0.1."""

    request_id: RequestId | None = None
    """The exactly-once key, if the caller has a session."""

    member: MemberEpoch | None = None
    """Who reports."""

    entries: tuple[ReportEntry, ...] = ()
    """One entry for each resource; up to the setting `report_entries_max`, 10,000 by default."""

    replace: bool = False
    """True: these are all of the member's resources, its other entries go. False: its other entries stay. The first
    report of an epoch replaces all in any case.
    """

    number: int = 0
    """The place of this statement among all that the member says under its epoch, adoptions too; at least 1, counted by the
    caller. Each new statement has a greater one than all before. One that is sent again has the same one, and is carried
    out again if nothing came after it. Smaller than the last one taken, or the same for something else: `CONFLICT` with
    `last_number`.
    """

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("request_id", "requestId", "optional", "RequestId"),
        Field("member", "member", "optional", "MemberEpoch"),
        Field("entries", "entries", "many", "ReportEntry"),
        Field("replace", "replace", "one", "bool"),
        Field("number", "number", "one", "long"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class StorageVersionsReportResponse(Message):
    """The report was taken. Since 0.1."""

    header: ResponseHeader | None = None
    """Who answered, and at which revision."""

    changed: bool = False
    """False if the report said nothing new."""

    resources: tuple[ReportedResource, ...] = ()
    """For each reported resource, in the order of the report, what the member is told."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("header", "header", "optional", "ResponseHeader"),
        Field("changed", "changed", "one", "bool"),
        Field("resources", "resources", "many", "ReportedResource"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class ReportedResource(Message):
    """What a member is told of a resource that it reported, as of right after the report. Since 0.1."""

    resource: GroupResource | None = None
    """The resource."""

    encoding_version: str | None = None
    """The version that the member's entry encodes now: what the member must encode. Unset: it votes and nothing is
    selected; its gate stays closed.
    """

    selected_version: str | None = None
    """The version that is selected. Unset if none is. A voter whose entry encodes another one drains its permits and
    adopts.
    """

    selected_revision: int = 0
    """The revision at which `selected_version` last changed; 0 if it is unset."""

    adopted_revision: int | None = None
    """The `selected_revision` that the entry took or adopted last. Another one than `selected_revision`: the member has yet
    to adopt. Unset for a fixed entry, and for a voter while nothing is selected.
    """

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("resource", "resource", "optional", "GroupResource"),
        Field("encoding_version", "encodingVersion", "optional", "str"),
        Field("selected_version", "selectedVersion", "optional", "str"),
        Field("selected_revision", "selectedRevision", "one", "long"),
        Field("adopted_revision", "adoptedRevision", "optional", "long"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class StorageVersionsAdoptRequest(Message):
    """Says that a voter has taken the selected version. Since 0.1."""

    request_id: RequestId | None = None
    """The exactly-once key, if the caller has a session."""

    member: MemberEpoch | None = None
    """Who adopts."""

    resource: GroupResource | None = None
    """The resource."""

    selected_revision: int = 0
    """The `selected_revision` whose version is adopted; at least 1. If selected has moved since: `CONFLICT`."""

    number: int = 0
    """The place of this statement among all that the member says under its epoch, as that of a report."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("request_id", "requestId", "optional", "RequestId"),
        Field("member", "member", "optional", "MemberEpoch"),
        Field("resource", "resource", "optional", "GroupResource"),
        Field("selected_revision", "selectedRevision", "one", "long"),
        Field("number", "number", "one", "long"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class StorageVersionsAdoptResponse(Message):
    """The member's entry encodes the selected version. Since 0.1."""

    header: ResponseHeader | None = None
    """Who answered, and at which revision."""

    changed: bool = False
    """False if it had been adopted already."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("header", "header", "optional", "ResponseHeader"),
        Field("changed", "changed", "one", "bool"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class StorageVersionsForgetRequest(Message):
    """Names a resource to forget. Since 0.1."""

    request_id: RequestId | None = None
    """The exactly-once key, if the caller has a session."""

    resource: GroupResource | None = None
    """The resource."""

    if_revision: int | None = None
    """Forget it only if the `resource_version` of its storage state is this one; else `CONFLICT`, with the present one in
    the metadata. Left out: forget it in any case.
    """

    dry_run: bool = False
    """True: check everything and change nothing. The answer is what would have been."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("request_id", "requestId", "optional", "RequestId"),
        Field("resource", "resource", "optional", "GroupResource"),
        Field("if_revision", "ifRevision", "optional", "long"),
        Field("dry_run", "dryRun", "one", "bool"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class StorageVersionsForgetResponse(Message):
    """The resource is forgotten. Since 0.1."""

    header: ResponseHeader | None = None
    """Who answered, and at which revision."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("header", "header", "optional", "ResponseHeader"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class StorageVersionsAddEquivalentsRequest(Message):
    """Names the resources that are one store. Since 0.1."""

    request_id: RequestId | None = None
    """The exactly-once key, if the caller has a session."""

    resources: tuple[GroupResource, ...] = ()
    """The resources; 2 to 8. Each brings the names that it is known to be equivalent to."""

    dry_run: bool = False
    """True: check everything and change nothing. The answer is what would have been."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("request_id", "requestId", "optional", "RequestId"),
        Field("resources", "resources", "many", "GroupResource"),
        Field("dry_run", "dryRun", "one", "bool"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class StorageVersionsAddEquivalentsResponse(Message):
    """The resources are one store. Since 0.1."""

    header: ResponseHeader | None = None
    """Who answered, and at which revision."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("header", "header", "optional", "ResponseHeader"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class StorageVersionsRemoveEquivalentRequest(Message):
    """Names a resource that is a store of its own. Since 0.1."""

    request_id: RequestId | None = None
    """The exactly-once key, if the caller has a session."""

    resource: GroupResource | None = None
    """The resource."""

    dry_run: bool = False
    """True: check everything and change nothing. The answer is what would have been."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("request_id", "requestId", "optional", "RequestId"),
        Field("resource", "resource", "optional", "GroupResource"),
        Field("dry_run", "dryRun", "one", "bool"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class StorageVersionsRemoveEquivalentResponse(Message):
    """The resource is a store of its own. Since 0.1."""

    header: ResponseHeader | None = None
    """Who answered, and at which revision."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("header", "header", "optional", "ResponseHeader"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class StorageVersionsGetRequest(Message):
    """Names a resource to read. Since 0.1."""

    resource: GroupResource | None = None
    """The resource."""

    read: ReadOptions | None = None
    """How to read; left out: linearizable."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("resource", "resource", "optional", "GroupResource"),
        Field("read", "read", "optional", "ReadOptions"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class StorageVersionsGetResponse(Message):
    """One resource. Since 0.1."""

    header: ResponseHeader | None = None
    """Who answered, and at which revision."""

    storage_version: StorageVersion | None = None
    """The entries and what follows from them. Unset if no member reports the resource now."""

    storage_state: StorageState | None = None
    """What stays when the entries go."""

    log_time_ms: int = 0
    """The log time of the state that was read, in milliseconds, to hold against the drains."""

    heartbeat: Heartbeat | None = None
    """When discovery was last looked at, as of now and not of the revision. Unset if it never was."""

    reasons: tuple[Obstacle, ...] = ()
    """Why the members do not agree on the resource: every obstacle, as `CheckAgreement` of the resource names it. None: they agree."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("header", "header", "optional", "ResponseHeader"),
        Field("storage_version", "storageVersion", "optional", "StorageVersion"),
        Field("storage_state", "storageState", "optional", "StorageState"),
        Field("log_time_ms", "logTimeMs", "one", "long"),
        Field("heartbeat", "heartbeat", "optional", "Heartbeat"),
        Field("reasons", "reasons", "many", "Obstacle"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class Heartbeat(Message):
    """When discovery was last looked at for a resource. Kept beside its state: it moves no revision. Since 0.1."""

    log_time_ms: int = 0
    """The log time, in milliseconds."""

    time_ms: int = 0
    """The wall time, in milliseconds since the Unix epoch: for display."""

    stale: bool = False
    """True: it is longer ago than two periods, so what is stored may have changed and changed back since."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("log_time_ms", "logTimeMs", "one", "long"),
        Field("time_ms", "timeMs", "one", "long"),
        Field("stale", "stale", "one", "bool"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class StorageVersionsListRequest(Message):
    """Asks for a page of resources. Since 0.1."""

    read: ReadOptions | None = None
    """How to read; left out: linearizable. Not together with `continue_token`, which pins the revision."""

    include_unreported: bool = False
    """True: also list resources that no member reports now and of which only the state has stayed."""

    page_size: int | None = None
    """How many to return at most, at least 1; more than 5,000 counts as 5,000. Left out: 500."""

    continue_token: str = ""
    """Where the page before ended, as it was given; empty for the first page. With it, `include_unreported` must be as it
    was, else `INVALID_ARGUMENT`. A token whose revision left the window: `COMPACTED`.
    """

    continue_at_present: bool = False
    """True: the page is read at the present revision, behind what the token names, also if the token's own revision has left
    the window, as in `ObjectsListRequest`.
    """

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("read", "read", "optional", "ReadOptions"),
        Field("include_unreported", "includeUnreported", "one", "bool"),
        Field("page_size", "pageSize", "optional", "int"),
        Field("continue_token", "continueToken", "one", "str"),
        Field("continue_at_present", "continueAtPresent", "one", "bool"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class StorageVersionsListResponse(Message):
    """A page of resources, all at one revision. Since 0.1."""

    header: ResponseHeader | None = None
    """Who answered, and the revision of all pages of this list."""

    items: tuple[StorageVersionListItem, ...] = ()
    """The resources, ordered by group and resource."""

    continue_token: str = ""
    """Give this to get the next page; empty at the end."""

    log_time_ms: int = 0
    """The log time of the state that was read, in milliseconds, to hold against the drains."""

    inconsistent: bool = False
    """True: this page is of a later revision than the one before it, as in `ObjectsListResponse`."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("header", "header", "optional", "ResponseHeader"),
        Field("items", "items", "many", "StorageVersionListItem"),
        Field("continue_token", "continueToken", "one", "str"),
        Field("log_time_ms", "logTimeMs", "one", "long"),
        Field("inconsistent", "inconsistent", "one", "bool"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class StorageVersionListItem(Message):
    """A resource in a list. Since 0.1."""

    storage_version: StorageVersion | None = None
    """The entries and what follows from them. Unset if no member reports the resource now."""

    storage_state: StorageState | None = None
    """What stays when the entries go."""

    reasons: tuple[Obstacle, ...] = ()
    """Why the members do not agree on the resource: see `StorageVersionsGetResponse.reasons`."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("storage_version", "storageVersion", "optional", "StorageVersion"),
        Field("storage_state", "storageState", "optional", "StorageState"),
        Field("reasons", "reasons", "many", "Obstacle"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class StorageVersionsHistoryRequest(Message):
    """Names a resource whose history to read. Since 0.1."""

    resource: GroupResource | None = None
    """The resource."""

    read: ReadOptions | None = None
    """How to read; left out: linearizable."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("resource", "resource", "optional", "GroupResource"),
        Field("read", "read", "optional", "ReadOptions"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class StorageVersionsHistoryResponse(Message):
    """What was agreed, change by change. Since 0.1."""

    header: ResponseHeader | None = None
    """Who answered, and at which revision."""

    changes: tuple[AgreementChange, ...] = ()
    """The changes, oldest first. The setting `agreements_kept` says how many are kept."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("header", "header", "optional", "ResponseHeader"),
        Field("changes", "changes", "many", "AgreementChange"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class BinaryResource(Message):
    """What a binary decodes and encodes of one resource. Since 0.1."""

    resource: GroupResource | None = None
    """The resource. A check names none twice."""

    kind: str | None = None
    """The kind that it stores. A stored encoding of which only the hash is known is told by it; left out: it is not safe."""

    decodable_versions: tuple[str, ...] = ()
    """The versions that the binary decodes; up to 64."""

    encoding_version: str | None = None
    """It will encode this version, which must be decodable."""

    preferred_version: str | None = None
    """It will vote for this version, which must be decodable."""

    new: bool = False
    """True: the binary brings the resource, so it is no danger (`DANGER_REASON_NO_STATE`) that nothing is known of it. If the resource
    is known, or a roster names it, it is judged as any other. Since 0.1.
    """

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("resource", "resource", "optional", "GroupResource"),
        Field("kind", "kind", "optional", "str"),
        Field("decodable_versions", "decodableVersions", "many", "str"),
        Field("encoding_version", "encodingVersion", "optional", "str"),
        Field("preferred_version", "preferredVersion", "optional", "str"),
        Field("new", "new", "one", "bool"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class StorageVersionsCheckBinaryRequest(Message):
    """Asks whether a binary may join. Since 0.1."""

    resources: tuple[BinaryResource, ...] = ()
    """What it decodes; at least one resource, up to 10,000. This is the whole binary: of a resource that is known and neither named here nor left to
    others it decodes nothing.
    """

    read: ReadOptions | None = None
    """How to read; left out: linearizable."""

    left_to_others: tuple[str, ...] = ()
    """The resources that other binaries look after, by scope (see `Roster.scope`); up to 1,000. They are not looked at, unless
    they are named; those of which something is stored are named as an assumption.
    """

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("resources", "resources", "many", "BinaryResource"),
        Field("read", "read", "optional", "ReadOptions"),
        Field("left_to_others", "leftToOthers", "many", "str"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class StorageVersionsCheckBinaryResponse(Message):
    """Whether the binary may join. Since 0.1."""

    header: ResponseHeader | None = None
    """Who answered, and at which revision."""

    safe: bool = False
    """Whether it may: there is no danger."""

    dangers: tuple[Danger, ...] = ()
    """Every reason why not, up to 1,000."""

    omitted: int = 0
    """How many more there are."""

    log_time_ms: int = 0
    """The log time of the state that was read, in milliseconds, to hold against the drains."""

    assumptions: tuple[Assumption, ...] = ()
    """What a safe answer assumes, also while it is not safe. None: nothing."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("header", "header", "optional", "ResponseHeader"),
        Field("safe", "safe", "one", "bool"),
        Field("dangers", "dangers", "many", "Danger"),
        Field("omitted", "omitted", "one", "int"),
        Field("log_time_ms", "logTimeMs", "one", "long"),
        Field("assumptions", "assumptions", "many", "Assumption"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class Assumption(Message):
    """What a safe answer assumes. Whoever acts on the answer vouches for it. Since 0.1."""

    reason: AssumptionReason = AssumptionReason.UNSPECIFIED
    """What kind of assumption."""

    message: str = ""
    """What is assumed, in words."""

    resources: tuple[GroupResource, ...] = ()
    """Of which resources, sorted; up to 100."""

    omitted: int = 0
    """Of how many more."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("reason", "reason", "one", "AssumptionReason"),
        Field("message", "message", "one", "str"),
        Field("resources", "resources", "many", "GroupResource"),
        Field("omitted", "omitted", "one", "int"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class StorageVersionsCheckDropRequest(Message):
    """Asks whether a version may be dropped. Since 0.1."""

    resource: GroupResource | None = None
    """Of which resource."""

    version: str = ""
    """Which version."""

    read: ReadOptions | None = None
    """How to read; left out: linearizable."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("resource", "resource", "optional", "GroupResource"),
        Field("version", "version", "one", "str"),
        Field("read", "read", "optional", "ReadOptions"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class StorageVersionsCheckDropResponse(Message):
    """Whether the version may be dropped. Since 0.1."""

    header: ResponseHeader | None = None
    """Who answered, and at which revision."""

    safe: bool = False
    """Whether it may: there is no danger."""

    dangers: tuple[Danger, ...] = ()
    """Every reason why not, up to 1,000."""

    omitted: int = 0
    """How many more there are."""

    log_time_ms: int = 0
    """The log time of the state that was read, in milliseconds, to hold against the drains."""

    assumptions: tuple[Assumption, ...] = ()
    """What a safe answer assumes, also while it is not safe. None: nothing."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("header", "header", "optional", "ResponseHeader"),
        Field("safe", "safe", "one", "bool"),
        Field("dangers", "dangers", "many", "Danger"),
        Field("omitted", "omitted", "one", "int"),
        Field("log_time_ms", "logTimeMs", "one", "long"),
        Field("assumptions", "assumptions", "many", "Assumption"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class Danger(Message):
    """Why something is not safe. Since 0.1."""

    resource: GroupResource | None = None
    """The resource."""

    reason: DangerReason = DangerReason.UNSPECIFIED
    """What about it."""

    version: str = ""
    """The version, where the reason names one; else empty."""

    hash: str = ""
    """The storage-version hash, where the reason names one; else empty."""

    member: str = ""
    """The member, where the reason names one; else empty."""

    until_log_time_ms: int = 0
    """Until which log time, in milliseconds, where the reason names one; else 0."""

    count: int = 0
    """How many, where the reason names a number; else 0."""

    snapshot: str = ""
    """The ControllerRevision as `<namespace>/<name>`, where the reason names one; else empty."""

    message: str = ""
    """The same in words, for people."""

    scope: str = ""
    """The scope of a roster (see `Roster.scope`), where the reason names one; else empty."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("resource", "resource", "optional", "GroupResource"),
        Field("reason", "reason", "one", "DangerReason"),
        Field("version", "version", "one", "str"),
        Field("hash", "hash", "one", "str"),
        Field("member", "member", "one", "str"),
        Field("until_log_time_ms", "untilLogTimeMs", "one", "long"),
        Field("count", "count", "one", "int"),
        Field("snapshot", "snapshot", "one", "str"),
        Field("message", "message", "one", "str"),
        Field("scope", "scope", "one", "str"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class StorageVersionsCheckAgreementRequest(Message):
    """Asks whether the members agree. Since 0.1."""

    resources: tuple[GroupResource, ...] = ()
    """On which resources; up to 1,000. None: on all that is known, that is each resource that a member reports, that discovery
    shows, in which writes may still land, for which a roster asks, or that was once reported and has a collection.
    """

    allow_none: bool = False
    """Whether it counts as agreement that nothing at all is known."""

    read: ReadOptions | None = None
    """How to read; left out: linearizable."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("resources", "resources", "many", "GroupResource"),
        Field("allow_none", "allowNone", "one", "bool"),
        Field("read", "read", "optional", "ReadOptions"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class StorageVersionsCheckAgreementResponse(Message):
    """Whether the members agree. Since 0.1."""

    header: ResponseHeader | None = None
    """Who answered, and at which revision."""

    agreed: bool = False
    """Whether they do: there is no obstacle."""

    obstacles: tuple[Obstacle, ...] = ()
    """The obstacles that concern the whole cluster, up to 1,000."""

    resources: tuple[ResourceAgreement, ...] = ()
    """The resources in question, up to 1,000: first those without an agreement, each part by group and resource."""

    omitted: int = 0
    """How many more obstacles of the cluster and resources there are."""

    left_over: tuple[GroupResource, ...] = ()
    """The resources that do not count, sorted, up to 1,000: of which only what was known before has stayed. Empty if resources
    were named.
    """

    left_over_omitted: int = 0
    """How many more there are."""

    assumptions: tuple[Assumption, ...] = ()
    """The assumptions of a positive answer, also while it is negative. None: nothing."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("header", "header", "optional", "ResponseHeader"),
        Field("agreed", "agreed", "one", "bool"),
        Field("obstacles", "obstacles", "many", "Obstacle"),
        Field("resources", "resources", "many", "ResourceAgreement"),
        Field("omitted", "omitted", "one", "int"),
        Field("left_over", "leftOver", "many", "GroupResource"),
        Field("left_over_omitted", "leftOverOmitted", "one", "int"),
        Field("assumptions", "assumptions", "many", "Assumption"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class ResourceAgreement(Message):
    """Whether the members agree on one resource. Since 0.1."""

    resource: GroupResource | None = None
    """The resource."""

    agreed: bool = False
    """Whether they do: there is no obstacle."""

    agreed_version: str | None = None
    """The version that they agree on. Unset: none, or discovery alone shows the encoding."""

    agreed_hash: str | None = None
    """The storage-version hash that discovery shows while no member reports the resource. Unset: none."""

    obstacles: tuple[Obstacle, ...] = ()
    """Every obstacle."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("resource", "resource", "optional", "GroupResource"),
        Field("agreed", "agreed", "one", "bool"),
        Field("agreed_version", "agreedVersion", "optional", "str"),
        Field("agreed_hash", "agreedHash", "optional", "str"),
        Field("obstacles", "obstacles", "many", "Obstacle"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class Obstacle(Message):
    """An obstacle to an agreement. Since 0.1."""

    reason: ObstacleReason = ObstacleReason.UNSPECIFIED
    """The kind of obstacle."""

    message: str = ""
    """The same in words, for people."""

    groups: tuple[ObstacleGroup, ...] = ()
    """The members that it concerns, where it concerns some, by version where the reason has versions; up to 16 members."""

    omitted: int = 0
    """How many more members it concerns."""

    hashes: tuple[str, ...] = ()
    """The storage-version hashes, where the reason names some, sorted, up to 16."""

    expired: bool = False
    """Whether the observation has expired, where the reason is that it contradicts the members."""

    scope: str = ""
    """The scope of a roster (see `Roster.scope`), where the reason names one; else empty."""

    nearest: GroupResource | None = None
    """The known resource with the most similar name, where the resource is unknown and one is similar."""

    selected_version: str = ""
    """The selected version, where the reason names one; else empty."""

    selected_revision: int = 0
    """The revision that selected it, where the reason names one; else 0."""

    absent: AbsentMembers | None = None
    """The members that are missing by the roster, where the reason is that some are."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("reason", "reason", "one", "ObstacleReason"),
        Field("message", "message", "one", "str"),
        Field("groups", "groups", "many", "ObstacleGroup"),
        Field("omitted", "omitted", "one", "int"),
        Field("hashes", "hashes", "many", "str"),
        Field("expired", "expired", "one", "bool"),
        Field("scope", "scope", "one", "str"),
        Field("nearest", "nearest", "optional", "GroupResource"),
        Field("selected_version", "selectedVersion", "one", "str"),
        Field("selected_revision", "selectedRevision", "one", "long"),
        Field("absent", "absent", "optional", "AbsentMembers"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class ObstacleGroup(Message):
    """Members that an obstacle concerns in the same way. Since 0.1."""

    version: str = ""
    """The version that they encode or vote for, where the reason has versions; else empty."""

    members: tuple[str, ...] = ()
    """Their ids, sorted."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("version", "version", "one", "str"),
        Field("members", "members", "many", "str"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class StorageVersionsCheckUpgradeRequest(Message):
    """Asks whether an upgrade may go on. Since 0.1."""

    read: ReadOptions | None = None
    """How to read; left out: linearizable."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("read", "read", "optional", "ReadOptions"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class StorageVersionsCheckUpgradeResponse(Message):
    """Whether an upgrade may go on. Since 0.1."""

    header: ResponseHeader | None = None
    """Who answered, and at which revision."""

    may_go_on: bool = False
    """Whether it may: there is no obstacle."""

    message: str = ""
    """The answer in one sentence, for people."""

    obstacles: tuple[UpgradeObstacle, ...] = ()
    """Every obstacle, the worst first, in the order of the numbers of their reasons; up to 64."""

    omitted: int = 0
    """How many more there are."""

    assumptions: tuple[Assumption, ...] = ()
    """The assumptions of a positive answer, also while it is negative. None: nothing."""

    expiring_known: bool = False
    """Whether it is known which members are about to expire: only the leader knows it, and only of the present revision. False: no
    obstacle says `EXPIRING`.
    """

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("header", "header", "optional", "ResponseHeader"),
        Field("may_go_on", "mayGoOn", "one", "bool"),
        Field("message", "message", "one", "str"),
        Field("obstacles", "obstacles", "many", "UpgradeObstacle"),
        Field("omitted", "omitted", "one", "int"),
        Field("assumptions", "assumptions", "many", "Assumption"),
        Field("expiring_known", "expiringKnown", "one", "bool"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class UpgradeObstacle(Message):
    """An obstacle to an upgrade. Since 0.1."""

    reason: UpgradeReason = UpgradeReason.UNSPECIFIED
    """The kind of obstacle."""

    message: str = ""
    """The same in words, for people."""

    command: str = ""
    """A command that shows more or helps, for a shell."""

    resource: GroupResource | None = None
    """The resource that it concerns. Unset: the whole cluster."""

    members: tuple[str, ...] = ()
    """The members that it concerns, sorted; up to 16."""

    omitted: int = 0
    """How many more members it concerns."""

    agreement: Obstacle | None = None
    """The obstacle to the agreement, where the reason is one."""

    alarm: Alarm | None = None
    """The alarm, where the reason is one."""

    migration: str = ""
    """The name of the migration, where the reason names one; else empty."""

    worker: str = ""
    """The worker that has claimed the migration, as it calls itself, where one has; else empty."""

    version: str = ""
    """The version, where the reason names one: what drains, or what a migration writes. Else empty."""

    hash: str = ""
    """The storage-version hash, where only that is known; else empty."""

    remaining_ms: int = 0
    """How long it lasts still, in milliseconds of log time, where the reason says so; else 0."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("reason", "reason", "one", "UpgradeReason"),
        Field("message", "message", "one", "str"),
        Field("command", "command", "one", "str"),
        Field("resource", "resource", "optional", "GroupResource"),
        Field("members", "members", "many", "str"),
        Field("omitted", "omitted", "one", "int"),
        Field("agreement", "agreement", "optional", "Obstacle"),
        Field("alarm", "alarm", "optional", "Alarm"),
        Field("migration", "migration", "one", "str"),
        Field("worker", "worker", "one", "str"),
        Field("version", "version", "one", "str"),
        Field("hash", "hash", "one", "str"),
        Field("remaining_ms", "remainingMs", "one", "long"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class Migration(Message):
    """The rewriting of every stored object of a resource in one encoding. What it is for is pinned. Since 0.1."""

    metadata: Metadata | None = None
    """Name (`<resource>.<group>-<revision>`, for the core group `<resource>-<revision>`), uid and revisions."""

    resource: GroupResource | None = None
    """The resource."""

    target_hash: str = ""
    """The storage-version hash of what every object is to be encoded in."""

    target_version: str | None = None
    """Its version. Unset if it was observed only."""

    agreement_revision: int = 0
    """The agreement that it carries out."""

    reason: MigrationReason = MigrationReason.UNSPECIFIED
    """Why there is one."""

    phase: MigrationPhase = MigrationPhase.UNSPECIFIED
    """Where it stands."""

    claim: MigrationClaim | None = None
    """Who works at it. Set while it is running."""

    failures: int = 0
    """How often a worker gave up since it was created, or retried by hand."""

    failure: MigrationFailure | None = None
    """Why a worker gave up last. Unset if none did, and when it succeeded."""

    aborted: AbortCause = AbortCause.UNSPECIFIED
    """Why it was called off. Unset unless it was."""

    done: int = 0
    """Objects done, as last shown: at most once in 5 seconds of log time. `MigrationProgress` beside it is exact."""

    estimate: int | None = None
    """Objects there may be in all, as last shown. Unset: the worker cannot tell."""

    end_time_ms: int | None = None
    """When it succeeded, failed or was aborted, in milliseconds since the Unix epoch: for display. Unset before that."""

    assumption: AssumptionReason = AssumptionReason.UNSPECIFIED
    """The first of `assumptions`, for older clients; `UNSPECIFIED` if there is none."""

    alias: str | None = None
    """The alias that it was started under. Unset if it has none."""

    assumptions: tuple[AssumptionReason, ...] = ()
    """What its success rests on beside what is known, each once. None: on nothing, or it has not succeeded."""

    equivalents: tuple[GroupResource, ...] = ()
    """The other names of the same store, sorted. A worker of any of them works at it. Since 0.1."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("metadata", "metadata", "optional", "Metadata"),
        Field("resource", "resource", "optional", "GroupResource"),
        Field("target_hash", "targetHash", "one", "str"),
        Field("target_version", "targetVersion", "optional", "str"),
        Field("agreement_revision", "agreementRevision", "one", "long"),
        Field("reason", "reason", "one", "MigrationReason"),
        Field("phase", "phase", "one", "MigrationPhase"),
        Field("claim", "claim", "optional", "MigrationClaim"),
        Field("failures", "failures", "one", "int"),
        Field("failure", "failure", "optional", "MigrationFailure"),
        Field("aborted", "aborted", "one", "AbortCause"),
        Field("done", "done", "one", "long"),
        Field("estimate", "estimate", "optional", "long"),
        Field("end_time_ms", "endTimeMs", "optional", "long"),
        Field("assumption", "assumption", "one", "AssumptionReason"),
        Field("alias", "alias", "optional", "str"),
        Field("assumptions", "assumptions", "many", "AssumptionReason"),
        Field("equivalents", "equivalents", "many", "GroupResource"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class MigrationClaim(Message):
    """Who works at a migration. Since 0.1."""

    worker: str = ""
    """The worker, as it calls itself."""

    token: int = 0
    """The revision of its claim: its fencing token."""

    ttl_ms: int = 0
    """How long it may be silent, in milliseconds of log time."""

    fenced: bool = False
    """True: a fence in the store refuses its rewrites once another fenced worker has raised it."""

    since_log_time_ms: int | None = None
    """The log time of the claim, in milliseconds. Unset: it is from before machine version 3."""

    walks: Walk = Walk.UNSPECIFIED
    """What it walks. Unspecified: it is from before machine version 3."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("worker", "worker", "one", "str"),
        Field("token", "token", "one", "long"),
        Field("ttl_ms", "ttlMs", "one", "long"),
        Field("fenced", "fenced", "one", "bool"),
        Field("since_log_time_ms", "sinceLogTimeMs", "optional", "long"),
        Field("walks", "walks", "one", "Walk"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class MigrationFailure(Message):
    """Why a worker gave up. Since 0.1."""

    class_: FailureClass = FailureClass.UNSPECIFIED
    """What kind of failure it is."""

    reason: str = ""
    """What happened, for people; may be empty."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("class_", "class", "one", "FailureClass"),
        Field("reason", "reason", "one", "str"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class MigrationProgress(Message):
    """How far a migration is, as its worker last said. Kept beside the migration: it moves no revision. Since 0.1."""

    done: int = 0
    """Objects done."""

    estimate: int | None = None
    """Objects there may be in all. Unset: the worker cannot tell."""

    continue_token: str = ""
    """Where the next worker goes on, up to 8 KiB of printable text; empty at the start."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("done", "done", "one", "long"),
        Field("estimate", "estimate", "optional", "long"),
        Field("continue_token", "continueToken", "one", "str"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class ClaimKey(Message):
    """A worker's claim, as it shows it. Since 0.1."""

    migration: str = ""
    """The name of the migration."""

    token: int = 0
    """The token that the claim answered; at least 1."""

    cluster_id: str = ""
    """The cluster that gave it. If set and not the cluster that is asked: `STALE_EPOCH`; the number means something else
    there.
    """

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("migration", "migration", "one", "str"),
        Field("token", "token", "one", "long"),
        Field("cluster_id", "clusterId", "one", "str"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class MigrationsGetRequest(Message):
    """Names a migration to read. Since 0.1."""

    name: str = ""
    """The name of the migration, or its alias."""

    read: ReadOptions | None = None
    """How to read; left out: linearizable."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("name", "name", "one", "str"),
        Field("read", "read", "optional", "ReadOptions"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class MigrationsGetResponse(Message):
    """One migration. Since 0.1."""

    header: ResponseHeader | None = None
    """Who answered, and at which revision."""

    migration: Migration | None = None
    """The migration."""

    progress: MigrationProgress | None = None
    """How far it is, as of now and not of the revision. Unset before a worker has said anything."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("header", "header", "optional", "ResponseHeader"),
        Field("migration", "migration", "optional", "Migration"),
        Field("progress", "progress", "optional", "MigrationProgress"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class MigrationsListRequest(Message):
    """Asks for a page of migrations. Since 0.1."""

    read: ReadOptions | None = None
    """How to read; left out: linearizable. Not together with `continue_token`, which pins the revision."""

    page_size: int | None = None
    """How many to return at most, at least 1; more than 5,000 counts as 5,000. Left out: 500."""

    continue_token: str = ""
    """Where the page before ended, as it was given; empty for the first page. A token whose revision left the window:
    `COMPACTED`.
    """

    continue_at_present: bool = False
    """True: the page is read at the present revision, behind what the token names, also if the token's own revision has left
    the window, as in `ObjectsListRequest`.
    """

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("read", "read", "optional", "ReadOptions"),
        Field("page_size", "pageSize", "optional", "int"),
        Field("continue_token", "continueToken", "one", "str"),
        Field("continue_at_present", "continueAtPresent", "one", "bool"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class MigrationsListResponse(Message):
    """A page of migrations, all at one revision. Since 0.1."""

    header: ResponseHeader | None = None
    """Who answered, and the revision of all pages of this list."""

    migrations: tuple[Migration, ...] = ()
    """The migrations, ordered by resource, the oldest of each first."""

    continue_token: str = ""
    """Give this to get the next page; empty at the end."""

    inconsistent: bool = False
    """True: this page is of a later revision than the one before it, as in `ObjectsListResponse`."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("header", "header", "optional", "ResponseHeader"),
        Field("migrations", "migrations", "many", "Migration"),
        Field("continue_token", "continueToken", "one", "str"),
        Field("inconsistent", "inconsistent", "one", "bool"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class MigrationsStartRequest(Message):
    """Asks for a migration. Since 0.1."""

    request_id: RequestId | None = None
    """The exactly-once key, if the caller has a session."""

    resource: GroupResource | None = None
    """What to migrate."""

    reason: MigrationReason = MigrationReason.UNSPECIFIED
    """Why: manual or rewrite-all."""

    dry_run: bool = False
    """True: check everything and change nothing. The answer is what would have been."""

    alias: str | None = None
    """A name of one's own for the migration: a DNS-1123 subdomain of up to 253 bytes that does not end with `-` and a number, as
    the names that are given here do. No two migrations have the same one. Left out: none.
    """

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("request_id", "requestId", "optional", "RequestId"),
        Field("resource", "resource", "optional", "GroupResource"),
        Field("reason", "reason", "one", "MigrationReason"),
        Field("dry_run", "dryRun", "one", "bool"),
        Field("alias", "alias", "optional", "str"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class MigrationsStartResponse(Message):
    """The migration was created. Since 0.1."""

    header: ResponseHeader | None = None
    """Who answered, and at which revision."""

    name: str = ""
    """The name of the migration."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("header", "header", "optional", "ResponseHeader"),
        Field("name", "name", "one", "str"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class MigrationsClaimRequest(Message):
    """Asks for a migration to work at. Since 0.1."""

    request_id: RequestId | None = None
    """The exactly-once key, if the caller has a session."""

    name: str = ""
    """The name of the migration."""

    worker: str = ""
    """What the worker calls itself; 1 to 253 bytes of printable text."""

    ttl_ms: int | None = None
    """How long the worker may be silent, in milliseconds of log time; 1,000 to 86,400,000. Left out: 15,000."""

    fenced: bool = False
    """True: before it lists, the worker raises a fence in the store, which refuses the rewrites of every fenced worker before it.
    So it need not wait for theirs.
    """

    walks: Walk = Walk.UNSPECIFIED
    """What the worker walks. It is refused with `CONFLICT`, and with the walk that is needed in the metadata `walk`, where it
    leaves out a place in which objects may be stored in another version. A walk of another place than that of the worker
    before it begins at the first key.
    """

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("request_id", "requestId", "optional", "RequestId"),
        Field("name", "name", "one", "str"),
        Field("worker", "worker", "one", "str"),
        Field("ttl_ms", "ttlMs", "optional", "long"),
        Field("fenced", "fenced", "one", "bool"),
        Field("walks", "walks", "one", "Walk"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class MigrationsClaimResponse(Message):
    """The migration is the worker's. Since 0.1."""

    header: ResponseHeader | None = None
    """Who answered, and at which revision."""

    token: int = 0
    """The worker's fencing token."""

    progress: MigrationProgress | None = None
    """Where the worker before it stood."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("header", "header", "optional", "ResponseHeader"),
        Field("token", "token", "one", "long"),
        Field("progress", "progress", "optional", "MigrationProgress"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class MigrationsProgressRequest(Message):
    """Says how far a migration is. Since 0.1."""

    request_id: RequestId | None = None
    """The exactly-once key, if the caller has a session."""

    claim: ClaimKey | None = None
    """The claim."""

    progress: MigrationProgress | None = None
    """How far; left out: nothing done yet."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("request_id", "requestId", "optional", "RequestId"),
        Field("claim", "claim", "optional", "ClaimKey"),
        Field("progress", "progress", "optional", "MigrationProgress"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class MigrationsProgressResponse(Message):
    """It is noted, and the claim is kept. Since 0.1."""

    header: ResponseHeader | None = None
    """Who answered, and at which revision."""

    changed: bool = False
    """Whether the migration shows it now."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("header", "header", "optional", "ResponseHeader"),
        Field("changed", "changed", "one", "bool"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class MigrationsCompleteRequest(Message):
    """Says that a migration is done. Since 0.1."""

    request_id: RequestId | None = None
    """The exactly-once key, if the caller has a session."""

    claim: ClaimKey | None = None
    """The claim."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("request_id", "requestId", "optional", "RequestId"),
        Field("claim", "claim", "optional", "ClaimKey"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class MigrationsCompleteResponse(Message):
    """The migration succeeded. Since 0.1."""

    header: ResponseHeader | None = None
    """Who answered, and at which revision."""

    assumptions: tuple[Assumption, ...] = ()
    """What that rests on beside what is known. None: nothing."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("header", "header", "optional", "ResponseHeader"),
        Field("assumptions", "assumptions", "many", "Assumption"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class MigrationsFailRequest(Message):
    """Gives a migration up. Since 0.1."""

    request_id: RequestId | None = None
    """The exactly-once key, if the caller has a session."""

    claim: ClaimKey | None = None
    """The claim."""

    class_: FailureClass = FailureClass.UNSPECIFIED
    """Whether trying again can help."""

    reason: str = ""
    """What happened, for people; up to 4 KiB of printable text."""

    stop: WorkerStop = WorkerStop.UNSPECIFIED
    """What the worker says of its rewrites. What may still land drains, as after `Release`."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("request_id", "requestId", "optional", "RequestId"),
        Field("claim", "claim", "optional", "ClaimKey"),
        Field("class_", "class", "one", "FailureClass"),
        Field("reason", "reason", "one", "str"),
        Field("stop", "stop", "one", "WorkerStop"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class MigrationsFailResponse(Message):
    """The migration failed. Since 0.1."""

    header: ResponseHeader | None = None
    """Who answered, and at which revision."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("header", "header", "optional", "ResponseHeader"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class MigrationsReleaseRequest(Message):
    """Gives a claim back. Since 0.1."""

    request_id: RequestId | None = None
    """The exactly-once key, if the caller has a session."""

    claim: ClaimKey | None = None
    """The claim."""

    stop: WorkerStop = WorkerStop.UNSPECIFIED
    """What the worker says of its rewrites. `ALL_ANSWERED`: nothing drains; said of a claim that has ended, it lifts its drain.
    `SOME_UNANSWERED`: the migration's target drains for `write_grace`. Left out: for as long as the worker may go on, too.
    """

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("request_id", "requestId", "optional", "RequestId"),
        Field("claim", "claim", "optional", "ClaimKey"),
        Field("stop", "stop", "one", "WorkerStop"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class MigrationsReleaseResponse(Message):
    """The migration waits for another worker. Since 0.1."""

    header: ResponseHeader | None = None
    """Who answered, and at which revision."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("header", "header", "optional", "ResponseHeader"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class MigrationsAbortRequest(Message):
    """Calls a migration off. Since 0.1."""

    request_id: RequestId | None = None
    """The exactly-once key, if the caller has a session."""

    name: str = ""
    """The name of the migration."""

    dry_run: bool = False
    """True: check everything and change nothing. The answer is what would have been."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("request_id", "requestId", "optional", "RequestId"),
        Field("name", "name", "one", "str"),
        Field("dry_run", "dryRun", "one", "bool"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class MigrationsAbortResponse(Message):
    """The migration is aborted. Since 0.1."""

    header: ResponseHeader | None = None
    """Who answered, and at which revision."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("header", "header", "optional", "ResponseHeader"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class MigrationsDeleteRequest(Message):
    """Names a migration to delete. Since 0.1."""

    request_id: RequestId | None = None
    """The exactly-once key, if the caller has a session."""

    name: str = ""
    """The name of the migration."""

    preconditions: Preconditions | None = None
    """Which migration it must still be; left out: whichever there is."""

    dry_run: bool = False
    """True: check everything and change nothing."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("request_id", "requestId", "optional", "RequestId"),
        Field("name", "name", "one", "str"),
        Field("preconditions", "preconditions", "optional", "Preconditions"),
        Field("dry_run", "dryRun", "one", "bool"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class MigrationsDeleteResponse(Message):
    """The migration is deleted. Since 0.1."""

    header: ResponseHeader | None = None
    """Who answered, and at which revision."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("header", "header", "optional", "ResponseHeader"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class MigrationsRetryRequest(Message):
    """Has a failed migration tried again. Since 0.1."""

    request_id: RequestId | None = None
    """The exactly-once key, if the caller has a session."""

    name: str = ""
    """The name of the migration."""

    dry_run: bool = False
    """True: check everything and change nothing. The answer is what would have been."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("request_id", "requestId", "optional", "RequestId"),
        Field("name", "name", "one", "str"),
        Field("dry_run", "dryRun", "one", "bool"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class MigrationsRetryResponse(Message):
    """The migration is pending. Since 0.1."""

    header: ResponseHeader | None = None
    """Who answered, and at which revision."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("header", "header", "optional", "ResponseHeader"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class MigrationsObserveRequest(Message):
    """Says what discovery shows of a resource. Since 0.1."""

    request_id: RequestId | None = None
    """The exactly-once key, if the caller has a session."""

    resource: GroupResource | None = None
    """The resource."""

    hashes: tuple[str, ...] = ()
    """The storage-version hashes that its servers show, none twice: one if they agree, up to 16 if they do not."""

    kind: str | None = None
    """The kind that it stores, as discovery says it, so that versions can be told from hashes. Left out: not known."""

    if_revision: int | None = None
    """Take it only if the `resource_version` of the resource's storage state is this one, 0 if it has none: what the observer
    has read before it looked. Else `CONFLICT`, with the present one in the metadata: look again, or an older look would
    take away what was learned since. Left out: take it in any case.
    """

    observer: str | None = None
    """The name of the observer, up to 253 bytes. Then `hashes` stays empty, and `servers` is given. Left out: an observer without
    a name, which has reached every server. Since 0.1.
    """

    servers: tuple[ServerLook, ...] = ()
    """The servers that a named observer has reached, up to 32. What others showed when it last reached them stays. Since 0.1."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("request_id", "requestId", "optional", "RequestId"),
        Field("resource", "resource", "optional", "GroupResource"),
        Field("hashes", "hashes", "many", "str"),
        Field("kind", "kind", "optional", "str"),
        Field("if_revision", "ifRevision", "optional", "long"),
        Field("observer", "observer", "optional", "str"),
        Field("servers", "servers", "many", "ServerLook"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class MigrationsObserveResponse(Message):
    """It is noted. Since 0.1."""

    header: ResponseHeader | None = None
    """Who answered, and at which revision."""

    changed: bool = False
    """False if nothing but the time of the last look is new."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("header", "header", "optional", "ResponseHeader"),
        Field("changed", "changed", "one", "bool"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class MigrationsDismissRequest(Message):
    """Ends what looks have shown. Since 0.1."""

    request_id: RequestId | None = None
    """The exactly-once key, if the caller has a session."""

    resource: GroupResource | None = None
    """The resource."""

    observer: str | None = None
    """The observer whose look ends. Left out: every observer's."""

    server: str | None = None
    """The server, by the name that observers use. Left out: all servers, of observers without a name too."""

    dry_run: bool = False
    """True: check everything and change nothing. The answer is what would have been."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("request_id", "requestId", "optional", "RequestId"),
        Field("resource", "resource", "optional", "GroupResource"),
        Field("observer", "observer", "optional", "str"),
        Field("server", "server", "optional", "str"),
        Field("dry_run", "dryRun", "one", "bool"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class MigrationsDismissResponse(Message):
    """It is ended. Since 0.1."""

    header: ResponseHeader | None = None
    """Who answered, and at which revision."""

    changed: bool = False
    """False if there was nothing to end."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("header", "header", "optional", "ResponseHeader"),
        Field("changed", "changed", "one", "bool"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class MigrationsResetRequest(Message):
    """Forgets what is known of the store. Since 0.1."""

    request_id: RequestId | None = None
    """The exactly-once key, if the caller has a session."""

    resource: GroupResource | None = None
    """Of which resource. Left out: of every one."""

    dry_run: bool = False
    """True: check everything and change nothing. The answer is what would have been."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("request_id", "requestId", "optional", "RequestId"),
        Field("resource", "resource", "optional", "GroupResource"),
        Field("dry_run", "dryRun", "one", "bool"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class MigrationsResetResponse(Message):
    """It is forgotten. Since 0.1."""

    header: ResponseHeader | None = None
    """Who answered, and at which revision."""

    changed: bool = False
    """False if there was nothing to forget."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("header", "header", "optional", "ResponseHeader"),
        Field("changed", "changed", "one", "bool"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class PipelineOpenRequest(Message):
    """What a client sends at a time. Since 0.1."""

    calls: tuple[PipelineCall, ...] = ()
    """Calls; each starts in this order and may overtake earlier ones."""

    cancel: tuple[int, ...] = ()
    """Numbers of calls that are no longer wanted: a watch ends, any other call is given up as if its connection had broken.
    Each is answered with the code CANCELLED, unless its last answer is already on its way.
    """

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("calls", "calls", "many", "PipelineCall"),
        Field("cancel", "cancel", "many", "long"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class PipelineCall(Message):
    """One call. Since 0.1."""

    number: int = 0
    """A number that no other unanswered call of this stream has."""

    method: str = ""
    """The method as a gRPC path without the leading slash: `synod.v1.Objects/Update`. All methods of this protocol but
    `Pipeline/Open` can be called. `Watch/Watch` is answered by many messages. A renewal (`Membership/Renew`,
    `Leases/Renew`) is one request and one answer here.
    """

    message: bytes = b""
    """The encoded request of that method."""

    timeout_ms: int | None = None
    """How long the caller waits, in milliseconds; up to 60,000. Left out: 10,000. For a watch it bounds only the opening."""

    request_id: str = ""
    """The name of the call in the logs; up to 128 bytes. Empty: the replica makes one."""

    traceparent: str = ""
    """The caller's span, below which the replica makes its own if it makes any: a `traceparent` of the W3C, as in the header of
    a call outside of a pipeline. Empty, or not of that form: none.
    """

    tracestate: str = ""
    """What vendors of traces say to each other of that span: a `tracestate` of the W3C, as in the header of a call outside of a
    pipeline; up to 512 bytes. The replica's spans show it. Empty, longer, or not of that form: nothing. Since 0.1.
    """

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("number", "number", "one", "long"),
        Field("method", "method", "one", "str"),
        Field("message", "message", "one", "bytes"),
        Field("timeout_ms", "timeoutMs", "optional", "int"),
        Field("request_id", "requestId", "one", "str"),
        Field("traceparent", "traceparent", "one", "str"),
        Field("tracestate", "tracestate", "one", "str"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class PipelineOpenResponse(Message):
    """What a replica sends at a time. Since 0.1."""

    answers: tuple[PipelineAnswer, ...] = ()
    """Answers, in the order in which they were ready. The messages of one watch are in their order."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("answers", "answers", "many", "PipelineAnswer"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class PipelineAnswer(Message):
    """An answer to a call, or one message of several watches. Since 0.1."""

    numbers: tuple[int, ...] = ()
    """The calls that this answers: one, or all watches of this stream that deliver this message."""

    message: bytes | None = None
    """The encoded response of the method. It is the only one, except that a watch goes on until `WatchResponse.ended` or
    `.compacted`.
    """

    status: bytes | None = None
    """The call failed: an encoded `google.rpc.Status`, with the details that a call outside of a pipeline has in the
    trailer `grpc-status-details-bin`.
    """

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("numbers", "numbers", "many", "long"),
        Field("message", "message", "optional", "bytes"),
        Field("status", "status", "optional", "bytes"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class SessionsOpenRequest(Message):
    """Asks for a session. Since 0.1."""


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class SessionsOpenResponse(Message):
    """A new session. Since 0.1."""

    header: ResponseHeader | None = None
    """Who answered, and at which revision."""

    session: int = 0
    """The session's id: the revision of the command that opened it."""

    ttl_ms: int = 0
    """The session ends when it was not used for this long, in milliseconds of log time."""

    outcomes_max: int = 0
    """How many outcomes are kept for it. A request whose sequence is this much above the lowest kept one is refused."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("header", "header", "optional", "ResponseHeader"),
        Field("session", "session", "one", "long"),
        Field("ttl_ms", "ttlMs", "one", "long"),
        Field("outcomes_max", "outcomesMax", "one", "int"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class SessionsCloseRequest(Message):
    """Names the session to end. Since 0.1."""

    session: int = 0
    """The session, as `Open` gave it."""

    cluster_id: str = ""
    """The cluster that gave it. If set and not the cluster that is asked: `REQUEST_EXPIRED`."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("session", "session", "one", "long"),
        Field("cluster_id", "clusterId", "one", "str"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class SessionsCloseResponse(Message):
    """The session is gone. Since 0.1."""

    header: ResponseHeader | None = None
    """Who answered, and at which revision."""

    changed: bool = False
    """False if there was no such session (any more): nothing changed."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("header", "header", "optional", "ResponseHeader"),
        Field("changed", "changed", "one", "bool"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class SessionsGetOutcomeRequest(Message):
    """Asks what became of one request. An unknown session, or a sequence that was forgotten: `REQUEST_EXPIRED`. Since 0.1."""

    session: int = 0
    """The session, as `Open` gave it."""

    sequence: int = 0
    """The sequence of the request; at least 1."""

    cluster_id: str = ""
    """The cluster that gave the session. If set and not the cluster that is asked: `REQUEST_EXPIRED`."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("session", "session", "one", "long"),
        Field("sequence", "sequence", "one", "long"),
        Field("cluster_id", "clusterId", "one", "str"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class SessionsGetOutcomeResponse(Message):
    """What became of the request. Since 0.1."""

    header: ResponseHeader | None = None
    """Who answered, and at which revision."""

    outcome: RecordedOutcome | None = None
    """The outcome. Unset: as of `header.revision` the request was not executed. It may still be while an attempt is on
    its way; sending it again under the same id is safe.
    """

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("header", "header", "optional", "ResponseHeader"),
        Field("outcome", "outcome", "optional", "RecordedOutcome"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class RecordedOutcome(Message):
    """What is kept of a request that was executed. Since 0.1."""

    revision: int = 0
    """The revision of the store right after the request."""

    changed: bool = False
    """Whether the request changed anything."""

    refusal: Refusal | None = None
    """A rule refused the request. The current object is not kept."""

    joined: JoinedAnswer | None = None
    """A member was let in."""

    reported: ReportedAnswer | None = None
    """A report was taken."""

    object: OperationResult | None = None
    """A collection or an object was written or deleted."""

    transacted: TransactedAnswer | None = None
    """A transaction was decided."""

    controller_revision: ControllerRevisionAnswer | None = None
    """What a controller wants stands in its history."""

    controller_history: ControllerHistoryAnswer | None = None
    """Something was done to a history."""

    lease_held: LeaseHeld | None = None
    """A lease was given."""

    lease_queued: int | None = None
    """A place in the queue for a lease was given; the number is its ticket."""

    migration_started: str | None = None
    """The name of the migration that was created."""

    migration_claimed: ClaimedAnswer | None = None
    """A migration was claimed."""

    migration_completed: CompletedAnswer | None = None
    """A migration has succeeded."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("revision", "revision", "one", "long"),
        Field("changed", "changed", "one", "bool"),
        Field("refusal", "refusal", "optional", "Refusal"),
        Field("joined", "joined", "optional", "JoinedAnswer"),
        Field("reported", "reported", "optional", "ReportedAnswer"),
        Field("object", "object", "optional", "OperationResult"),
        Field("transacted", "transacted", "optional", "TransactedAnswer"),
        Field("controller_revision", "controllerRevision", "optional", "ControllerRevisionAnswer"),
        Field("controller_history", "controllerHistory", "optional", "ControllerHistoryAnswer"),
        Field("lease_held", "leaseHeld", "optional", "LeaseHeld"),
        Field("lease_queued", "leaseQueued", "optional", "long"),
        Field("migration_started", "migrationStarted", "optional", "str"),
        Field("migration_claimed", "migrationClaimed", "optional", "ClaimedAnswer"),
        Field("migration_completed", "migrationCompleted", "optional", "CompletedAnswer"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class ClaimedAnswer(Message):
    """What a claim of a migration was answered. Since 0.1."""

    token: int = 0
    """The worker's fencing token."""

    progress: MigrationProgress | None = None
    """Where the worker before it stood."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("token", "token", "one", "long"),
        Field("progress", "progress", "optional", "MigrationProgress"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class CompletedAnswer(Message):
    """A migration has succeeded. Since 0.1."""

    assumption: AssumptionReason = AssumptionReason.UNSPECIFIED
    """The first of `assumptions`, for older clients; `UNSPECIFIED` if there is none."""

    assumptions: tuple[AssumptionReason, ...] = ()
    """What that rests on beside what is known, each once. None: on nothing."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("assumption", "assumption", "one", "AssumptionReason"),
        Field("assumptions", "assumptions", "many", "AssumptionReason"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class JoinedAnswer(Message):
    """What a join was answered. Since 0.1."""

    epoch: int = 0
    """The epoch that the member got."""

    ttl_ms: int = 0
    """The TTL that counts, in milliseconds."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("epoch", "epoch", "one", "long"),
        Field("ttl_ms", "ttlMs", "one", "long"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class TransactedAnswer(Message):
    """What a transaction was answered. What it read is not kept. Since 0.1."""

    succeeded: bool = False
    """Whether all compares held, and the operations were carried out."""

    results: tuple[OperationResult, ...] = ()
    """One for each operation, in order."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("succeeded", "succeeded", "one", "bool"),
        Field("results", "results", "many", "OperationResult"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class ReportedAnswer(Message):
    """What a report was answered. Since 0.1."""

    resources: tuple[ReportedResource, ...] = ()
    """For each reported resource, in the order of the report, what the member was told."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("resources", "resources", "many", "ReportedResource"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class WatchRequest(Message):
    """What to watch, and from where. Since 0.1."""

    from_revision: int | None = None
    """The first revision to deliver: at least 1. Left out: what comes after the newest revision at the time of the call.
    One more than the newest revision is the next to come; more than that: `FUTURE_REVISION`. If the filter names only kinds of
    the upgrade history, older revisions can be given than otherwise: see `ObjectKind`.
    """

    filter: WatchFilter | None = None
    """Which events to deliver; left out: all."""

    bookmark_interval_ms: int | None = None
    """How often to send a bookmark when there is nothing else to send, in milliseconds; 1,000 to 30,000. Left out: 10,000."""

    cluster_id: str = ""
    """The cluster that `from_revision` came from. If set and not the cluster that is asked, the answer is `compacted`:
    its revisions mean something else.
    """

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("from_revision", "fromRevision", "optional", "long"),
        Field("filter", "filter", "optional", "WatchFilter"),
        Field("bookmark_interval_ms", "bookmarkIntervalMs", "optional", "int"),
        Field("cluster_id", "clusterId", "one", "str"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class WatchFilter(Message):
    """Which events pass: those that pass every field. An object that begins to have the labels is delivered as added, one that
    ceases to have them as removed. Since 0.1.
    """

    kinds: tuple[ObjectKind, ...] = ()
    """Only objects of these kinds; empty: of all kinds."""

    names: tuple[str, ...] = ()
    """Only objects of these names; up to 1,000; empty: of all names."""

    labels: Mapping[str, str] = field(default_factory=dict)
    """Only objects that have all of these labels; up to 64. An object without labels passes only if this is empty."""

    resources: tuple[GroupResource, ...] = ()
    """Only objects of these collections; up to 64; empty: of all. What is no object of a collection passes only if this is
    empty.
    """

    namespaces: tuple[str, ...] = ()
    """Only objects of these namespaces; up to 1,000; empty: of all. What has no namespace passes only if this is empty."""

    label_selector: str = ""
    """Only objects whose labels match, as in `ObjectsListRequest`; empty: all."""

    field_selector: str = ""
    """Only objects whose fields match, as in `ObjectsListRequest`; empty: all. What is no object of a collection passes only
    if this is empty.
    """

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("kinds", "kinds", "many", "ObjectKind"),
        Field("names", "names", "many", "str"),
        Field("labels", "labels", "map", "str"),
        Field("resources", "resources", "many", "GroupResource"),
        Field("namespaces", "namespaces", "many", "str"),
        Field("label_selector", "labelSelector", "one", "str"),
        Field("field_selector", "fieldSelector", "one", "str"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class WatchResponse(Message):
    """One message of a watch. Since 0.1."""

    events: WatchEvents | None = None
    """Something changed."""

    bookmark: WatchBookmark | None = None
    """Nothing more up to a revision."""

    compacted: WatchCompacted | None = None
    """`from_revision` is below what is kept. The stream ends after this message: list again."""

    ended: WatchEnded | None = None
    """The replica ends the stream. Open another one from `resume_revision`, on any replica."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("events", "events", "optional", "WatchEvents"),
        Field("bookmark", "bookmark", "optional", "WatchBookmark"),
        Field("compacted", "compacted", "optional", "WatchCompacted"),
        Field("ended", "ended", "optional", "WatchEnded"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class WatchEvents(Message):
    """The events of one revision, or a fragment of them. Since 0.1."""

    revision: int = 0
    """The revision."""

    events: tuple[Event, ...] = ()
    """What it changed, as far as it passed the filter."""

    more_fragments: bool = False
    """True: more events of this revision follow in the next message. To resume in between, ask for this revision again
    and drop what was there already.
    """

    time_ms: int | None = None
    """When the revision was made, in milliseconds since the Unix epoch by the leader's wall clock: for display. The clock of a
    later revision can be behind it. Unset: an older machine version made the revision.
    """

    caller: str | None = None
    """The proved identity of the caller whose change made the revision; at most 512 bytes. It is sent only to callers that hold
    the right to operate. Unset as well: the replicas made the change themselves, the caller proved nothing, or an older
    machine version made the revision.
    """

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("revision", "revision", "one", "long"),
        Field("events", "events", "many", "Event"),
        Field("more_fragments", "moreFragments", "one", "bool"),
        Field("time_ms", "timeMs", "optional", "long"),
        Field("caller", "caller", "optional", "str"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class WatchBookmark(Message):
    """All events up to a revision that pass the filter have been delivered. Since 0.1."""

    revision: int = 0
    """The revision. Resume from the next one."""

    cluster_id: str = ""
    """The cluster that answers."""

    replica_id: int = 0
    """The replica that answers."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("revision", "revision", "one", "long"),
        Field("cluster_id", "clusterId", "one", "str"),
        Field("replica_id", "replicaId", "one", "long"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class WatchCompacted(Message):
    """The history that was asked for is gone. Since 0.1."""

    oldest_revision: int = 0
    """The oldest `from_revision` that can be used."""

    current_revision: int = 0
    """The newest revision there is."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("oldest_revision", "oldestRevision", "one", "long"),
        Field("current_revision", "currentRevision", "one", "long"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class WatchEnded(Message):
    """The replica ended the stream. Since 0.1."""

    resume_revision: int = 0
    """The first revision that was not delivered in full."""

    reason: WatchEndReason = WatchEndReason.UNSPECIFIED
    """Why."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("resume_revision", "resumeRevision", "one", "long"),
        Field("reason", "reason", "one", "WatchEndReason"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class Event(Message):
    """One object changed. Since 0.1."""

    type: EventType = EventType.UNSPECIFIED
    """What happened."""

    kind: ObjectKind = ObjectKind.UNSPECIFIED
    """The kind of the object."""

    name: str = ""
    """The name of the object."""

    member: Member | None = None
    """A member."""

    storage_version: StorageVersionChange | None = None
    """A storage version: what changed of its entries, and all that follows from them."""

    storage_state: StorageState | None = None
    """A storage state."""

    settings: Settings | None = None
    """The settings."""

    collection: Collection | None = None
    """A collection."""

    stored_object: Object | None = None
    """An object of a collection."""

    controller_revision: ControllerRevision | None = None
    """A ControllerRevision."""

    lease: Lease | None = None
    """A lease."""

    lease_candidate: LeaseCandidate | None = None
    """A candidate for a lease."""

    migration: Migration | None = None
    """A migration."""

    roster: Roster | None = None
    """A roster."""

    namespace: str = ""
    """The namespace of the object; empty if it has none."""

    resource: GroupResource | None = None
    """The resource of an object of a collection. Unset for every other kind."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("type", "type", "one", "EventType"),
        Field("kind", "kind", "one", "ObjectKind"),
        Field("name", "name", "one", "str"),
        Field("member", "member", "optional", "Member"),
        Field("storage_version", "storageVersion", "optional", "StorageVersionChange"),
        Field("storage_state", "storageState", "optional", "StorageState"),
        Field("settings", "settings", "optional", "Settings"),
        Field("collection", "collection", "optional", "Collection"),
        Field("stored_object", "storedObject", "optional", "Object"),
        Field("controller_revision", "controllerRevision", "optional", "ControllerRevision"),
        Field("lease", "lease", "optional", "Lease"),
        Field("lease_candidate", "leaseCandidate", "optional", "LeaseCandidate"),
        Field("migration", "migration", "optional", "Migration"),
        Field("roster", "roster", "optional", "Roster"),
        Field("namespace", "namespace", "one", "str"),
        Field("resource", "resource", "optional", "GroupResource"),
    )


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class StorageVersionChange(Message):
    """A storage version after a change. Of the entries it carries only those that changed; the others are as they were.
    Since 0.1.
    """

    metadata: Metadata | None = None
    """Name, uid and revisions of the storage version."""

    resource: GroupResource | None = None
    """The resource."""

    changed_entries: tuple[StorageVersionEntry, ...] = ()
    """The entries that are new or changed, ordered by member. If the storage version was created: all of them."""

    removed_members: tuple[str, ...] = ()
    """The members whose entries are gone, sorted."""

    status: StorageVersionStatus | None = None
    """What follows from all entries, changed or not; if the storage version is gone, as it was last."""

    _fields: ClassVar[tuple[Field, ...]] = (
        Field("metadata", "metadata", "optional", "Metadata"),
        Field("resource", "resource", "optional", "GroupResource"),
        Field("changed_entries", "changedEntries", "many", "StorageVersionEntry"),
        Field("removed_members", "removedMembers", "many", "str"),
        Field("status", "status", "optional", "StorageVersionStatus"),
    )


__all__ = [
    "AbortCause",
    "AbsentMembers",
    "AgreementCause",
    "AgreementChange",
    "Alarm",
    "AlarmKind",
    "Assumption",
    "AssumptionReason",
    "BinaryResource",
    "ClaimKey",
    "ClaimedAnswer",
    "ClusterAddReplicaRequest",
    "ClusterAddReplicaResponse",
    "ClusterBackupBegin",
    "ClusterBackupEnd",
    "ClusterBackupRequest",
    "ClusterBackupResponse",
    "ClusterCheckpointRequest",
    "ClusterCheckpointResponse",
    "ClusterGetDiagnosticsRequest",
    "ClusterGetDiagnosticsResponse",
    "ClusterGetLogFilterRequest",
    "ClusterGetLogFilterResponse",
    "ClusterGetSettingsRequest",
    "ClusterGetSettingsResponse",
    "ClusterPromoteReplicaRequest",
    "ClusterPromoteReplicaResponse",
    "ClusterRemoveReplicaRequest",
    "ClusterRemoveReplicaResponse",
    "ClusterRevisionAtRequest",
    "ClusterRevisionAtResponse",
    "ClusterSetLogFilterRequest",
    "ClusterSetLogFilterResponse",
    "ClusterStatusRequest",
    "ClusterStatusResponse",
    "ClusterTransferLeaderRequest",
    "ClusterTransferLeaderResponse",
    "ClusterUpdateSettingsRequest",
    "ClusterUpdateSettingsResponse",
    "Collection",
    "CollectionListItem",
    "CollectionRules",
    "CollectionsCreateRequest",
    "CollectionsCreateResponse",
    "CollectionsDeleteRequest",
    "CollectionsDeleteResponse",
    "CollectionsGetRequest",
    "CollectionsGetResponse",
    "CollectionsListRequest",
    "CollectionsListResponse",
    "CollectionsUpdateRequest",
    "CollectionsUpdateResponse",
    "CompareExistence",
    "CompareResourceVersion",
    "CompareSelectedVersion",
    "CompletedAnswer",
    "Condition",
    "ConditionStatus",
    "ContentPatch",
    "ControllerHistory",
    "ControllerHistoryAnswer",
    "ControllerRevision",
    "ControllerRevisionAnswer",
    "ControllerRevisionEquality",
    "ControllerRevisionOutcome",
    "ControllerRevisionsAdoptRequest",
    "ControllerRevisionsAdoptResponse",
    "ControllerRevisionsCreateRequest",
    "ControllerRevisionsCreateResponse",
    "ControllerRevisionsDeleteHistoryRequest",
    "ControllerRevisionsDeleteHistoryResponse",
    "ControllerRevisionsDeleteRequest",
    "ControllerRevisionsDeleteResponse",
    "ControllerRevisionsDiffRequest",
    "ControllerRevisionsDiffResponse",
    "ControllerRevisionsGetRequest",
    "ControllerRevisionsGetResponse",
    "ControllerRevisionsHistoryRequest",
    "ControllerRevisionsHistoryResponse",
    "ControllerRevisionsListRequest",
    "ControllerRevisionsListResponse",
    "ControllerRevisionsMarkLiveRequest",
    "ControllerRevisionsMarkLiveResponse",
    "ControllerRevisionsReleaseRequest",
    "ControllerRevisionsReleaseResponse",
    "ControllerRevisionsRollbackRequest",
    "ControllerRevisionsRollbackResponse",
    "ControllerRevisionsTruncateRequest",
    "ControllerRevisionsTruncateResponse",
    "ControllerRevisionsUpdateRequest",
    "ControllerRevisionsUpdateResponse",
    "CreateOperation",
    "Danger",
    "DangerReason",
    "DeleteOperation",
    "Drain",
    "EncodingCount",
    "ErrorReason",
    "Event",
    "EventType",
    "FailureClass",
    "Fences",
    "FieldViolation",
    "GroupResource",
    "GroupResourceList",
    "Heartbeat",
    "InUse",
    "JoinedAnswer",
    "LabelMap",
    "Lease",
    "LeaseCandidate",
    "LeaseCandidateItem",
    "LeaseContender",
    "LeaseHeld",
    "LeaseHold",
    "LeaseKey",
    "LeaseListItem",
    "LeaseQueued",
    "LeaseToken",
    "LeaseWaiter",
    "LeasesAcquireRequest",
    "LeasesAcquireResponse",
    "LeasesDeleteRequest",
    "LeasesDeleteResponse",
    "LeasesGetRequest",
    "LeasesGetResponse",
    "LeasesListCandidatesRequest",
    "LeasesListCandidatesResponse",
    "LeasesListRequest",
    "LeasesListResponse",
    "LeasesPutCandidateRequest",
    "LeasesPutCandidateResponse",
    "LeasesReleaseRequest",
    "LeasesReleaseResponse",
    "LeasesRenewRequest",
    "LeasesRenewResponse",
    "LeasesWithdrawCandidateRequest",
    "LeasesWithdrawCandidateResponse",
    "LiveMark",
    "LiveMarkKind",
    "LogFilter",
    "MarkTie",
    "Member",
    "MemberEpoch",
    "MemberListItem",
    "MemberPhase",
    "MembershipGetRequest",
    "MembershipGetResponse",
    "MembershipJoinRequest",
    "MembershipJoinResponse",
    "MembershipLeaveRequest",
    "MembershipLeaveResponse",
    "MembershipListRequest",
    "MembershipListResponse",
    "MembershipReadyRequest",
    "MembershipReadyResponse",
    "MembershipRenewRequest",
    "MembershipRenewResponse",
    "Metadata",
    "MetadataPatch",
    "Migration",
    "MigrationClaim",
    "MigrationFailure",
    "MigrationPhase",
    "MigrationProgress",
    "MigrationReason",
    "MigrationsAbortRequest",
    "MigrationsAbortResponse",
    "MigrationsClaimRequest",
    "MigrationsClaimResponse",
    "MigrationsCompleteRequest",
    "MigrationsCompleteResponse",
    "MigrationsDeleteRequest",
    "MigrationsDeleteResponse",
    "MigrationsDismissRequest",
    "MigrationsDismissResponse",
    "MigrationsFailRequest",
    "MigrationsFailResponse",
    "MigrationsGetRequest",
    "MigrationsGetResponse",
    "MigrationsListRequest",
    "MigrationsListResponse",
    "MigrationsObserveRequest",
    "MigrationsObserveResponse",
    "MigrationsProgressRequest",
    "MigrationsProgressResponse",
    "MigrationsReleaseRequest",
    "MigrationsReleaseResponse",
    "MigrationsResetRequest",
    "MigrationsResetResponse",
    "MigrationsRetryRequest",
    "MigrationsRetryResponse",
    "MigrationsStartRequest",
    "MigrationsStartResponse",
    "Object",
    "ObjectAttributes",
    "ObjectContent",
    "ObjectKey",
    "ObjectKind",
    "ObjectListItem",
    "ObjectsCompare",
    "ObjectsCreateRequest",
    "ObjectsCreateResponse",
    "ObjectsDeleteRequest",
    "ObjectsDeleteResponse",
    "ObjectsGetRequest",
    "ObjectsGetResponse",
    "ObjectsListRequest",
    "ObjectsListResponse",
    "ObjectsOperation",
    "ObjectsPatchRequest",
    "ObjectsPatchResponse",
    "ObjectsTransactRequest",
    "ObjectsTransactResponse",
    "ObjectsUpdateRequest",
    "ObjectsUpdateResponse",
    "ObserverLook",
    "Obstacle",
    "ObstacleGroup",
    "ObstacleReason",
    "OperationResult",
    "OwnerReference",
    "PatchFormat",
    "PatchOperation",
    "PersistedVersion",
    "PipelineAnswer",
    "PipelineCall",
    "PipelineOpenRequest",
    "PipelineOpenResponse",
    "Preconditions",
    "Propagation",
    "ReadOptions",
    "ReadResult",
    "RecordedOutcome",
    "Refusal",
    "Renewed",
    "ReplicaRole",
    "ReplicaStatus",
    "ReplicaVitals",
    "ReportEntry",
    "ReportedAnswer",
    "ReportedResource",
    "RequestId",
    "ResourceAgreement",
    "ResponseHeader",
    "Roster",
    "RosterRule",
    "RostersDeleteRequest",
    "RostersDeleteResponse",
    "RostersGetRequest",
    "RostersGetResponse",
    "RostersListRequest",
    "RostersListResponse",
    "RostersSetRequest",
    "RostersSetResponse",
    "ServerLook",
    "SessionsCloseRequest",
    "SessionsCloseResponse",
    "SessionsGetOutcomeRequest",
    "SessionsGetOutcomeResponse",
    "SessionsOpenRequest",
    "SessionsOpenResponse",
    "Settings",
    "SettingsPatch",
    "ShortAbsence",
    "StorageState",
    "StorageVersion",
    "StorageVersionChange",
    "StorageVersionEntry",
    "StorageVersionListItem",
    "StorageVersionStatus",
    "StorageVersionsAddEquivalentsRequest",
    "StorageVersionsAddEquivalentsResponse",
    "StorageVersionsAdoptRequest",
    "StorageVersionsAdoptResponse",
    "StorageVersionsCheckAgreementRequest",
    "StorageVersionsCheckAgreementResponse",
    "StorageVersionsCheckBinaryRequest",
    "StorageVersionsCheckBinaryResponse",
    "StorageVersionsCheckDropRequest",
    "StorageVersionsCheckDropResponse",
    "StorageVersionsCheckUpgradeRequest",
    "StorageVersionsCheckUpgradeResponse",
    "StorageVersionsForgetRequest",
    "StorageVersionsForgetResponse",
    "StorageVersionsGetRequest",
    "StorageVersionsGetResponse",
    "StorageVersionsHistoryRequest",
    "StorageVersionsHistoryResponse",
    "StorageVersionsListRequest",
    "StorageVersionsListResponse",
    "StorageVersionsRemoveEquivalentRequest",
    "StorageVersionsRemoveEquivalentResponse",
    "StorageVersionsReportRequest",
    "StorageVersionsReportResponse",
    "StoredIn",
    "Switch",
    "TiedObject",
    "TransactedAnswer",
    "UngatedMember",
    "UpdateOperation",
    "UpgradeObstacle",
    "UpgradeReason",
    "Walk",
    "WatchBookmark",
    "WatchCompacted",
    "WatchEndReason",
    "WatchEnded",
    "WatchEvents",
    "WatchFilter",
    "WatchRequest",
    "WatchResponse",
    "WorkerStop",
]
