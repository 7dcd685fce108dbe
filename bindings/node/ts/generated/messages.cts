// Generated from the protocol. To write it again: UPDATE_GOLDEN=1 cargo test -p synod-bound generated

/** Whether a condition holds. Since 0.1. */
export type ConditionStatus =
  | 'CONDITION_STATUS_UNSPECIFIED'
  | 'CONDITION_STATUS_TRUE'
  | 'CONDITION_STATUS_FALSE'
  | 'CONDITION_STATUS_UNKNOWN';

/** What a replica is in the replica set. Since 0.1. */
export type ReplicaRole =
  | 'REPLICA_ROLE_UNSPECIFIED'
  | 'REPLICA_ROLE_VOTER'
  | 'REPLICA_ROLE_LEARNER';

/** What is wrong. Since 0.1. */
export type AlarmKind =
  | 'ALARM_KIND_UNSPECIFIED'
  | 'ALARM_KIND_NO_QUORUM'
  | 'ALARM_KIND_DIGEST_MISMATCH'
  | 'ALARM_KIND_QUOTA'
  | 'ALARM_KIND_DISK_FULL'
  | 'ALARM_KIND_DAMAGED_CHECKPOINT'
  | 'ALARM_KIND_WENT_BACK'
  | 'ALARM_KIND_CERTIFICATE'
  | 'ALARM_KIND_POLICY'
  | 'ALARM_KIND_AUDIT'
  | 'ALARM_KIND_NOT_VOTING'
  | 'ALARM_KIND_SWITCHED_OFF';

/** Whether something works that can be switched off. Since 0.1. */
export type Switch =
  | 'SWITCH_UNSPECIFIED'
  | 'SWITCH_ON'
  | 'SWITCH_OFF';

/** Why a request failed. Beside each: its gRPC code, and whether sending the same request again can help. Since 0.1. */
export type ErrorReason =
  | 'ERROR_REASON_UNSPECIFIED'
  | 'ERROR_REASON_INVALID_ARGUMENT'
  | 'ERROR_REASON_NOT_FOUND'
  | 'ERROR_REASON_ALREADY_EXISTS'
  | 'ERROR_REASON_CONFLICT'
  | 'ERROR_REASON_NOT_A_MEMBER'
  | 'ERROR_REASON_STALE_EPOCH'
  | 'ERROR_REASON_NOT_DECODABLE'
  | 'ERROR_REASON_ENCODING_NOT_SELECTED'
  | 'ERROR_REASON_IMMUTABLE'
  | 'ERROR_REASON_NO_AGREEMENT'
  | 'ERROR_REASON_DRAINING'
  | 'ERROR_REASON_REQUEST_EXPIRED'
  | 'ERROR_REASON_COMPACTED'
  | 'ERROR_REASON_FUTURE_REVISION'
  | 'ERROR_REASON_TOO_LARGE'
  | 'ERROR_REASON_QUOTA'
  | 'ERROR_REASON_OVERLOADED'
  | 'ERROR_REASON_UNAVAILABLE'
  | 'ERROR_REASON_UNKNOWN_OUTCOME'
  | 'ERROR_REASON_DEADLINE_EXCEEDED'
  | 'ERROR_REASON_UNAUTHENTICATED'
  | 'ERROR_REASON_PERMISSION_DENIED'
  | 'ERROR_REASON_DATA_LOSS'
  | 'ERROR_REASON_SWITCHED_OFF';

/** How far a member has come. Since 0.1. */
export type MemberPhase =
  | 'MEMBER_PHASE_UNSPECIFIED'
  | 'MEMBER_PHASE_JOINING'
  | 'MEMBER_PHASE_READY';

/** How a change of a JSON document is written. Since 0.1. */
export type PatchFormat =
  | 'PATCH_FORMAT_UNSPECIFIED'
  | 'PATCH_FORMAT_MERGE'
  | 'PATCH_FORMAT_JSON';

/** What becomes of the objects that an object owns when it is deleted. Since 0.1. */
export type Propagation =
  | 'PROPAGATION_UNSPECIFIED'
  | 'PROPAGATION_BACKGROUND'
  | 'PROPAGATION_FOREGROUND'
  | 'PROPAGATION_ORPHAN';

/** The marks of a ControllerRevision. Since 0.1. */
export type LiveMarkKind =
  | 'LIVE_MARK_KIND_UNSPECIFIED'
  | 'LIVE_MARK_KIND_CURRENT'
  | 'LIVE_MARK_KIND_UPDATE'
  | 'LIVE_MARK_KIND_IN_USE';

/** How a ControllerRevision came to be the newest of its history. Since 0.1. */
export type ControllerRevisionOutcome =
  | 'CONTROLLER_REVISION_OUTCOME_UNSPECIFIED'
  | 'CONTROLLER_REVISION_OUTCOME_UNCHANGED'
  | 'CONTROLLER_REVISION_OUTCOME_ROLLED_BACK'
  | 'CONTROLLER_REVISION_OUTCOME_CREATED';

/** How the data of two snapshots is compared. Data that is no JSON is compared byte by byte in any way. Since 0.1. */
export type ControllerRevisionEquality =
  | 'CONTROLLER_REVISION_EQUALITY_UNSPECIFIED'
  | 'CONTROLLER_REVISION_EQUALITY_JSON'
  | 'CONTROLLER_REVISION_EQUALITY_BYTES'
  | 'CONTROLLER_REVISION_EQUALITY_JSON_IGNORING_EMPTY';

/** Where a member stores the objects of a resource. Since 0.1. */
export type StoredIn =
  | 'STORED_IN_UNSPECIFIED'
  | 'STORED_IN_OUTSIDE'
  | 'STORED_IN_COLLECTION';

/** What a migration worker walks. Since 0.1. */
export type Walk =
  | 'WALK_UNSPECIFIED'
  | 'WALK_COLLECTION'
  | 'WALK_OUTSIDE'
  | 'WALK_BOTH';

/** What began or ended an agreement. Since 0.1. */
export type AgreementCause =
  | 'AGREEMENT_CAUSE_UNSPECIFIED'
  | 'AGREEMENT_CAUSE_MEMBER'
  | 'AGREEMENT_CAUSE_OBSERVED'
  | 'AGREEMENT_CAUSE_ROSTER';

/** What an answer or a success rests on beside what is known. Since 0.1. */
export type AssumptionReason =
  | 'ASSUMPTION_REASON_UNSPECIFIED'
  | 'ASSUMPTION_REASON_NO_ROSTER'
  | 'ASSUMPTION_REASON_SNAPSHOT_VERSION_UNKNOWN'
  | 'ASSUMPTION_REASON_LEFT_TO_OTHERS'
  | 'ASSUMPTION_REASON_CONCLUDED_BEFORE'
  | 'ASSUMPTION_REASON_SAID_STOPPED'
  | 'ASSUMPTION_REASON_ROSTER_MAY_MISS'
  | 'ASSUMPTION_REASON_SHORT_ABSENCE'
  | 'ASSUMPTION_REASON_UNGATED_GONE';

/** What makes something unsafe. Since 0.1. Clients treat an unknown reason as a danger and show its `message`. */
export type DangerReason =
  | 'DANGER_REASON_UNSPECIFIED'
  | 'DANGER_REASON_NO_STATE'
  | 'DANGER_REASON_PERSISTED_UNKNOWN'
  | 'DANGER_REASON_PERSISTED'
  | 'DANGER_REASON_PERSISTED_HASH'
  | 'DANGER_REASON_SELECTED'
  | 'DANGER_REASON_REPORTED'
  | 'DANGER_REASON_VOTED'
  | 'DANGER_REASON_DRAINING'
  | 'DANGER_REASON_DRAINING_HASH'
  | 'DANGER_REASON_OBSERVED'
  | 'DANGER_REASON_OBSERVATION_EXPIRED'
  | 'DANGER_REASON_ABSENT'
  | 'DANGER_REASON_ABSENT_MORE'
  | 'DANGER_REASON_NOT_DECODABLE'
  | 'DANGER_REASON_SNAPSHOT'
  | 'DANGER_REASON_UNREADABLE_HASH'
  | 'DANGER_REASON_CONTRADICTED'
  | 'DANGER_REASON_VERSION_UNKNOWN'
  | 'DANGER_REASON_DRAINING_UNKNOWN'
  | 'DANGER_REASON_MEMBER_SILENT'
  | 'DANGER_REASON_SCOPE_UNKNOWN';

/** Why the members do not agree. Since 0.1. Clients treat an unknown reason as an obstacle and show its `message`. */
export type ObstacleReason =
  | 'OBSTACLE_REASON_UNSPECIFIED'
  | 'OBSTACLE_REASON_NOTHING_KNOWN'
  | 'OBSTACLE_REASON_MEMBER_SILENT'
  | 'OBSTACLE_REASON_SCOPE_UNKNOWN'
  | 'OBSTACLE_REASON_UNKNOWN'
  | 'OBSTACLE_REASON_UNREPORTED'
  | 'OBSTACLE_REASON_NOTHING_SELECTED'
  | 'OBSTACLE_REASON_ENCODINGS_DIFFER'
  | 'OBSTACLE_REASON_FIXED_ELSEWHERE'
  | 'OBSTACLE_REASON_NOT_ADOPTED'
  | 'OBSTACLE_REASON_ABSENT'
  | 'OBSTACLE_REASON_CONTRADICTED'
  | 'OBSTACLE_REASON_OBSERVATION_EXPIRED'
  | 'OBSTACLE_REASON_OBSERVATIONS_DIFFER';

/**
 * Why an upgrade may not go on; a smaller number is worse. Since 0.1. Clients treat an unknown reason as an obstacle and show its
 * `message`.
 */
export type UpgradeReason =
  | 'UPGRADE_REASON_UNSPECIFIED'
  | 'UPGRADE_REASON_ALARM'
  | 'UPGRADE_REASON_DISAGREEMENT'
  | 'UPGRADE_REASON_ROSTER'
  | 'UPGRADE_REASON_SILENT'
  | 'UPGRADE_REASON_EXPIRING'
  | 'UPGRADE_REASON_MIGRATION_FAILED'
  | 'UPGRADE_REASON_NOT_MIGRATED'
  | 'UPGRADE_REASON_MIGRATION_PENDING'
  | 'UPGRADE_REASON_MIGRATION_RUNNING'
  | 'UPGRADE_REASON_DRAINING';

/** Why a migration was created. Since 0.1. */
export type MigrationReason =
  | 'MIGRATION_REASON_UNSPECIFIED'
  | 'MIGRATION_REASON_AGREEMENT'
  | 'MIGRATION_REASON_MANUAL'
  | 'MIGRATION_REASON_REWRITE_ALL';

/** What a worker says of its rewrites when it gives up its claim: it starts none any more. Since 0.1. */
export type WorkerStop =
  | 'WORKER_STOP_UNSPECIFIED'
  | 'WORKER_STOP_SOME_UNANSWERED'
  | 'WORKER_STOP_ALL_ANSWERED';

/** Where a migration stands. Since 0.1. */
export type MigrationPhase =
  | 'MIGRATION_PHASE_UNSPECIFIED'
  | 'MIGRATION_PHASE_PENDING'
  | 'MIGRATION_PHASE_RUNNING'
  | 'MIGRATION_PHASE_SUCCEEDED'
  | 'MIGRATION_PHASE_FAILED'
  | 'MIGRATION_PHASE_ABORTED';

/** Why a migration was called off. Since 0.1. */
export type AbortCause =
  | 'ABORT_CAUSE_UNSPECIFIED'
  | 'ABORT_CAUSE_NO_AGREEMENT'
  | 'ABORT_CAUSE_AGREEMENT_MOVED'
  | 'ABORT_CAUSE_REQUESTED'
  | 'ABORT_CAUSE_STORAGE_UNKNOWN';

/** What kind of failure it is. Since 0.1. */
export type FailureClass =
  | 'FAILURE_CLASS_UNSPECIFIED'
  | 'FAILURE_CLASS_TRANSIENT'
  | 'FAILURE_CLASS_REJECTED'
  | 'FAILURE_CLASS_NOT_SUPPORTED'
  | 'FAILURE_CLASS_FORBIDDEN'
  | 'FAILURE_CLASS_UNDECODABLE';

/**
 * What can be watched. The events of members, storage versions, storage states, settings, migrations and rosters are the
 * upgrade history: events of other kinds never push them out of what is kept. Since 0.1.
 */
export type ObjectKind =
  | 'OBJECT_KIND_UNSPECIFIED'
  | 'OBJECT_KIND_MEMBER'
  | 'OBJECT_KIND_STORAGE_VERSION'
  | 'OBJECT_KIND_STORAGE_STATE'
  | 'OBJECT_KIND_SETTINGS'
  | 'OBJECT_KIND_COLLECTION'
  | 'OBJECT_KIND_OBJECT'
  | 'OBJECT_KIND_CONTROLLER_REVISION'
  | 'OBJECT_KIND_LEASE'
  | 'OBJECT_KIND_LEASE_CANDIDATE'
  | 'OBJECT_KIND_MIGRATION'
  | 'OBJECT_KIND_ROSTER';

/** Why a replica ended a watch. Since 0.1. */
export type WatchEndReason =
  | 'WATCH_END_REASON_UNSPECIFIED'
  | 'WATCH_END_REASON_TOO_SLOW'
  | 'WATCH_END_REASON_SHUTDOWN'
  | 'WATCH_END_REASON_CHECKPOINT'
  | 'WATCH_END_REASON_CUT_OFF'
  | 'WATCH_END_REASON_RIGHTS';

/** What happened to an object. Since 0.1. */
export type EventType =
  | 'EVENT_TYPE_UNSPECIFIED'
  | 'EVENT_TYPE_ADDED'
  | 'EVENT_TYPE_MODIFIED'
  | 'EVENT_TYPE_REMOVED';

/** What every response begins with. Since 0.1. */
export interface ResponseHeader {
  /** The cluster that answered. A restore makes a new id: epochs and sessions of another cluster are worthless here. */
  clusterId: string;
  /** The replica that answered, as numbered in the replica set; at least 1. */
  replicaId: bigint;
  /**
   * For a read: the revision of the state that was read. For a change: the revision of the store right after the
   * command, at its first execution if this is the answer to a retry. A watch from `revision` + 1 misses nothing.
   */
  revision: bigint;
  /** The Raft term that the replica is in, for display: no rule depends on it. */
  raftTerm: bigint;
  /**
   * Set on a read that gave `max_staleness_ms`: the age of the answer, in milliseconds, counted from when its read
   * index was asked for.
   */
  ageMs?: bigint;
}

/**
 * The exactly-once key of a changing request. A retry with the same session and sequence, on any replica, gets the
 * outcome of the first execution and is not executed again. A request without one is tried at most once by the server,
 * and its caller cannot ask what became of it. Since 0.1.
 */
export interface RequestId {
  /** The session, as `Sessions.Open` gave it. */
  session: bigint;
  /** The number of this request in its session; at least 1, each used for one request only. */
  sequence: bigint;
  /**
   * The lowest sequence whose answer the client has not had yet; at least 1, at most `sequence`. The outcomes below it
   * are forgotten.
   */
  lowestUnanswered: bigint;
  /** The cluster that gave the session. If set and not the cluster that is asked: `REQUEST_EXPIRED`. */
  clusterId: string;
}

/** A member's fencing token: who speaks, and which life of it. Since 0.1. */
export interface MemberEpoch {
  /** The member's id: a DNS-1123 subdomain of at most 253 characters. */
  member: string;
  /** The epoch that its join returned; at least 1. An older one than the member's present epoch: `STALE_EPOCH`. */
  epoch: bigint;
  /** The cluster that gave the epoch. If set and not the cluster that is asked: `NOT_A_MEMBER`. */
  clusterId: string;
}

/**
 * How fresh or how exact a read must be. Left out or empty, the read is linearizable on whichever replica is asked: it
 * sees every change that was acknowledged before it was sent. Since 0.1.
 */
export interface ReadOptions {
  /**
   * Read the state as it was at exactly this revision; at least 1, and without the two other fields. Below the window
   * that is kept: `COMPACTED`. Above the present revision: `FUTURE_REVISION`.
   */
  atRevision?: bigint;
  /**
   * Read the replica's own state once it has come to at least this revision, without asking the leader: a client reads
   * its own writes anywhere. 0 takes whatever state the replica has. A replica that does not get there before the
   * deadline answers `DEADLINE_EXCEEDED`.
   */
  minRevision?: bigint;
  /**
   * Read the replica's own state if it was confirmed to be current no longer ago than this, in milliseconds; 1 to
   * 600,000. Counted from when the confirming read index was asked for; if it is older, the replica asks again first.
   */
  maxStalenessMs?: bigint;
}

/** A resource of Kubernetes-like APIs. Since 0.1. */
export interface GroupResource {
  /** The API group, a DNS-1123 subdomain other than `core`; empty for the core group. */
  group: string;
  /** The resource in the plural, a DNS-1035 label, as in `deployments`. */
  resource: string;
}

/** What every object has. Nothing here moves without a new `resource_version`. Since 0.1. */
export interface Metadata {
  /** The object's name, unique in its kind. */
  name: string;
  /** A UUID that no other object ever has, also not one of the same name later. */
  uid: string;
  /** The revision of the object's last change. */
  resourceVersion: bigint;
  /** The revision that created the object. */
  createRevision: bigint;
  /** Counts the changes of the desired part, from 1. */
  generation: bigint;
  /**
   * When the object was created, in milliseconds since the Unix epoch by the leader's wall clock: for display, no rule
   * depends on it.
   */
  creationTimeMs: bigint;
  /** Up to 64 labels. Keys are qualified names, values have at most 63 characters, both as in Kubernetes. */
  labels: Record<string, string>;
  /** The object's namespace, a DNS-1123 label; empty for objects without one. */
  namespace: string;
  /** Notes that nobody selects by: at most 256 KiB in all. Keys are qualified names, texts are free. */
  annotations: Record<string, string>;
  /** What the object goes with: at most 64, each once, at most one of them the controller. */
  ownerReferences: OwnerReference[];
  /** What must be done before the object goes: at most 64 qualified names, each once. */
  finalizers: string[];
  /**
   * When the deletion was asked for of an object that waits for its finalizers, in milliseconds since the Unix epoch
   * by the leader's wall clock: for display. Unset while nobody has deleted it.
   */
  deletionTimeMs?: bigint;
}

/** An object that another one goes with. It is in the same namespace, or has none. Since 0.1. */
export interface OwnerReference {
  /** The owner's group and a version of it, `[group/]version`: only the group decides. */
  apiVersion: string;
  /** The owner's kind. */
  kind: string;
  /** The owner's name. */
  name: string;
  /** The owner's uid: a later object of the same name is no owner. */
  uid: string;
  /** Whether this owner is the one that manages the object. */
  controller: boolean;
  /** Whether this owner, deleted in the foreground, waits for the object to go. */
  blockOwnerDeletion: boolean;
}

/** Which object a change was made for. Since 0.1. */
export interface Preconditions {
  /** The object with this uid, and no later one of the same name. Empty: any. */
  uid: string;
  /** The object as of this revision, its `resource_version`; at least 1. Left out: any. */
  resourceVersion?: bigint;
}

/** One observation about an object, in the form that Kubernetes uses. Since 0.1. */
export interface Condition {
  /** What is observed, as in `AllEncodingVersionsEqual`; unique within its object. */
  type: string;
  /** Whether it holds. */
  status: ConditionStatus;
  /** Why, as one CamelCase word for programs. */
  reason: string;
  /** Why, as a sentence for people. */
  message: string;
  /** The object's `generation` that the observation is about. */
  observedGeneration: bigint;
  /** When it last changed, in milliseconds since the Unix epoch by the leader's wall clock: for display. */
  lastTransitionTimeMs: bigint;
  /** The revision at which it last changed. */
  lastTransitionRevision: bigint;
}

/** Names a time. Since 0.1. */
export interface ClusterRevisionAtRequest {
  /** The time, in milliseconds since the Unix epoch. */
  timeMs: bigint;
  /** How to read; left out: linearizable. A past revision cannot be asked for. */
  read?: ReadOptions;
}

/** The revision of a time. Since 0.1. */
export interface ClusterRevisionAtResponse {
  /** Who answered, and at which revision. */
  header?: ResponseHeader;
  /**
   * The newest kept revision at or before the time. The time of a revision is the greatest wall clock that leaders stamped on
   * it and on all revisions before, so it never goes back. What happened after the time begins at the next revision.
   */
  revision: bigint;
  /** When the revision was made, in milliseconds since the Unix epoch by the leader's wall clock. */
  timeMs: bigint;
  /** The proved identity of the caller whose change made the revision, as in `WatchEvents`. */
  caller?: string;
}

/** Asks how the cluster does. Since 0.1. */
export interface ClusterStatusRequest {
}

/** How the cluster does, as one replica sees it. Since 0.1. */
export interface ClusterStatusResponse {
  /** Who answered, and its own revision. */
  header?: ResponseHeader;
  /** The name that the replicas were started with. */
  clusterName: string;
  /** The version of the replica's program. */
  version: string;
  /** The behaviour of apply that is in force. */
  machineVersion: number;
  /** The leader as far as the replica knows. Unset: it knows none. */
  leaderId?: bigint;
  /** The replica set, ordered by id. */
  replicas: ReplicaStatus[];
  /** The replica's log time, in milliseconds. */
  logTimeMs: bigint;
  /** The last log index that the replica has applied. */
  appliedIndex: bigint;
  /** The digest of its state, in lower-case hexadecimal digits. */
  digest: string;
  /** The log index at which `digest` was taken: equal indexes must have equal digests on all replicas. */
  digestIndex: bigint;
  /** The oldest revision from which a watch of all kinds can begin. */
  oldestRevision: bigint;
  /** What an operator must look at; empty if all is well. */
  alarms: Alarm[];
  /** What the replica tells of its host and of the size of its state. Since 0.1. */
  vitals?: ReplicaVitals;
  /** The oldest revision from which a watch can begin that names only kinds of the upgrade history: see `ObjectKind`. Since 0.1. */
  oldestUpgradeRevision: bigint;
}

/** One replica of the replica set. Since 0.1. */
export interface ReplicaStatus {
  /** Its number; at least 1, never used again for another data directory. */
  replicaId: bigint;
  /** Where the other replicas reach it. */
  peerAddress: string;
  /** Where clients reach it; empty if it has not announced itself yet. */
  clientAddress: string;
  /** The identity of its data directory, as 32 lower-case hexadecimal digits. */
  directoryId: string;
  /** What it is in the replica set. */
  role: ReplicaRole;
  /** The version of its program; empty if it has not announced itself yet. */
  version: string;
  /** The highest machine version that it has announced; 0 if it has not announced itself yet. */
  machineVersion: number;
  /** The last log index that it has applied. Unset if the replica that answers does not know. */
  appliedIndex?: bigint;
  /** The last log index that it has stored. Known to the leader, unset elsewhere. */
  matchedIndex?: bigint;
}

/** Something that an operator must look at. Since 0.1. */
export interface Alarm {
  /** What is wrong. */
  kind: AlarmKind;
  /** The replica that it is about; 0 if it is about the cluster. */
  replicaId: bigint;
  /** What is wrong and what to do, as a sentence for people. */
  message: string;
}

/** The replicated settings: all that apply goes by beside its state. Since 0.1. */
export interface Settings {
  /** The revision of their last change. */
  resourceVersion: bigint;
  /** How many revisions of history are kept for watches and past reads. */
  historyRevisions: bigint;
  /** How many bytes of history are kept at most. */
  historyBytes: bigint;
  /** How long a write may land after its member's membership ended, in milliseconds of log time. */
  writeGraceMs: bigint;
  /** How long the entries of a replaced epoch stand while the new one has not reported, in milliseconds of log time. */
  unreportedGraceMs: bigint;
  /** How long a session lives without use, in milliseconds of log time. */
  sessionTtlMs: bigint;
  /** How many outcomes are kept for a session. */
  sessionOutcomes: number;
  /** How many sessions may be open. */
  sessionsMax: number;
  /** How many members there may be. */
  membersMax: number;
  /** How many entries a report may have. */
  reportEntriesMax: number;
  /** How many changes of agreement are kept for each resource. */
  agreementsKept: number;
  /** How large the state may grow, in bytes. */
  stateQuotaBytes: bigint;
  /** The resources for which a voter must decode every version known to be persisted. */
  enforcePersisted: GroupResource[];
  /** How many finished migrations are kept for each resource. */
  migrationsKept: number;
  /** How often an observer looks at discovery, in milliseconds of log time; after twice that what it saw is stale. */
  discoveryPeriodMs: bigint;
  /**
   * Whether votes move what is selected. While they are off, `selected` stays as it is for each resource that has a voter.
   * Reports and adoptions are accepted as before, and their votes count once votes are on again. The switches are unset by
   * a replica that knows none, which has everything on.
   */
  votes?: Switch;
  /**
   * Whether collections and their objects change. While they are off, each such change is refused; objects with a time to
   * live still end, and what deletions have begun goes on.
   */
  objects?: Switch;
  /**
   * Whether histories of ControllerRevisions change. While they are off, each such change is refused, but for marks of
   * what is in use and for releases.
   */
  histories?: Switch;
  /**
   * Whether leases are given and renewed, and candidates stand for them. While they are off, each hold ends at its
   * deadline and nobody gets a lease; releases go on, and tokens fence as before.
   */
  leases?: Switch;
  /**
   * Whether migrations are started and worked at. While they are off, none is created, claimed or continued, and a
   * failed one waits; a claim ends at its deadline. What a worker has finished is still recorded, and aborts go on.
   */
  migrations?: Switch;
}

/** A change of settings: what is unset stays as it is. Since 0.1. */
export interface SettingsPatch {
  /** See `Settings.history_revisions`. */
  historyRevisions?: bigint;
  /** See `Settings.history_bytes`. */
  historyBytes?: bigint;
  /** See `Settings.write_grace_ms`. */
  writeGraceMs?: bigint;
  /** See `Settings.unreported_grace_ms`. */
  unreportedGraceMs?: bigint;
  /** See `Settings.session_ttl_ms`. */
  sessionTtlMs?: bigint;
  /** See `Settings.session_outcomes`. */
  sessionOutcomes?: number;
  /** See `Settings.sessions_max`. */
  sessionsMax?: number;
  /** See `Settings.members_max`. */
  membersMax?: number;
  /** See `Settings.report_entries_max`. */
  reportEntriesMax?: number;
  /** See `Settings.agreements_kept`. */
  agreementsKept?: number;
  /** See `Settings.state_quota_bytes`. */
  stateQuotaBytes?: bigint;
  /** See `Settings.enforce_persisted`. If set, the list takes the place of the one before. */
  enforcePersisted?: GroupResourceList;
  /** See `Settings.migrations_kept`. */
  migrationsKept?: number;
  /** See `Settings.discovery_period_ms`. */
  discoveryPeriodMs?: bigint;
  /** See `Settings.votes`. A switch is refused with `UNAVAILABLE` while a replica of the set does not know switches. */
  votes?: Switch;
  /** See `Settings.objects`, and `votes` here. */
  objects?: Switch;
  /** See `Settings.histories`, and `votes` here. */
  histories?: Switch;
  /** See `Settings.leases`, and `votes` here. */
  leases?: Switch;
  /** See `Settings.migrations`, and `votes` here. */
  migrations?: Switch;
}

/** A list that can be left out, which is not the same as empty. Since 0.1. */
export interface GroupResourceList {
  /** The resources, none twice; up to 10,000. */
  items: GroupResource[];
}

/** Asks for the settings. Since 0.1. */
export interface ClusterGetSettingsRequest {
  /** How to read; left out: linearizable. */
  read?: ReadOptions;
}

/** The settings. Since 0.1. */
export interface ClusterGetSettingsResponse {
  /** Who answered, and at which revision. */
  header?: ResponseHeader;
  /** The settings. */
  settings?: Settings;
}

/** Asks to change settings. Since 0.1. */
export interface ClusterUpdateSettingsRequest {
  /** The exactly-once key, if the caller has a session. */
  requestId?: RequestId;
  /** What to change; required. */
  patch?: SettingsPatch;
  /**
   * Change them only if their `resource_version` is this one; else `CONFLICT`, with the settings in the details. Left
   * out: change them in any case.
   */
  ifRevision?: bigint;
  /** True: check everything and change nothing. The answer is what would have been. */
  dryRun: boolean;
}

/** The settings are as asked. Since 0.1. */
export interface ClusterUpdateSettingsResponse {
  /** Who answered, and at which revision. */
  header?: ResponseHeader;
  /** False if they were so already. */
  changed: boolean;
}

/** Asks to add a replica. Since 0.1. */
export interface ClusterAddReplicaRequest {
  /** Its number, at least 1, which no replica of this cluster has had before; required. */
  replicaId: bigint;
  /** Where the other replicas reach it, as `host:port`; required. A replica that it is to replace may have had the address. */
  peerAddress: string;
}

/** The replica is in the replica set. Since 0.1. */
export interface ClusterAddReplicaResponse {
  /** Who answered, and its own revision. */
  header?: ResponseHeader;
  /** False if it was there already. */
  changed: boolean;
}

/** Asks to make a learner a voter. Since 0.1. */
export interface ClusterPromoteReplicaRequest {
  /** Its number; required. */
  replicaId: bigint;
  /** The number of a replica that leaves the set in the same change. Left out: none does. */
  replacesId?: bigint;
}

/** The replica is a voter. Since 0.1. */
export interface ClusterPromoteReplicaResponse {
  /** Who answered, and its own revision. */
  header?: ResponseHeader;
  /** False if it was so already. */
  changed: boolean;
}

/** Asks to let a replica leave the replica set. Since 0.1. */
export interface ClusterRemoveReplicaRequest {
  /** Its number; required. */
  replicaId: bigint;
}

/** The replica is not in the replica set. Since 0.1. */
export interface ClusterRemoveReplicaResponse {
  /** Who answered, and its own revision. */
  header?: ResponseHeader;
  /** False if it had left already. */
  changed: boolean;
}

/** Asks to hand the leadership over. Since 0.1. */
export interface ClusterTransferLeaderRequest {
  /** The number of the voter that is to lead. Left out: the one that holds most of the log. */
  replicaId?: bigint;
  /**
   * The number of the replica that is to hand it over. If another one leads, nothing is changed, so that the request can be sent
   * again when it is not known what came of it. Left out: whichever leads.
   */
  fromReplicaId?: bigint;
}

/** The leadership was handed over. Since 0.1. */
export interface ClusterTransferLeaderResponse {
  /** Who answered, and its own revision. */
  header?: ResponseHeader;
  /** False if the replica that was named leads already, or another one than that which was to hand over. */
  changed: boolean;
}

/** Asks for a checkpoint. Since 0.1. */
export interface ClusterCheckpointRequest {
}

/** The checkpoint is written. Since 0.1. */
export interface ClusterCheckpointResponse {
  /** Who answered, and its own revision. */
  header?: ResponseHeader;
  /** The last log index that the checkpoint covers. */
  index: bigint;
}

/** What a replica tells of its host and of the size of its state. Since 0.1. */
export interface ReplicaVitals {
  /** Its wall clock, in milliseconds since 1970-01-01 00:00:00 UTC. No rule depends on it. */
  wallTimeMs: bigint;
  /** How many of its last writes to the log the two times below are of; at most 128. */
  logFlushes: number;
  /** The median of how long they took until they were durable, in microseconds; 0 if there were none. */
  logFlushUsMedian: bigint;
  /** The longest of them, in microseconds; 0 if there were none. */
  logFlushUsMax: bigint;
  /** How large the state is, in bytes. */
  stateBytes: bigint;
  /** How large it may grow, in bytes: `Settings.state_quota_bytes`. */
  stateQuotaBytes: bigint;
  /** How many members there are. */
  members: number;
  /** How many there may be: `Settings.members_max`. */
  membersMax: number;
  /** How many sessions are open. */
  sessions: number;
  /** How many may be open: `Settings.sessions_max`. */
  sessionsMax: number;
  /** How many resources are reported. */
  storageVersions: number;
  /** On how many of them there is no agreement. */
  disagreements: number;
}

/** Which events a replica's process logs. Since 0.1. */
export interface LogFilter {
  /** The filter in force, as `synod serve --log` takes it. */
  filter: string;
  /** The filter that the process was started with. */
  configured: string;
  /** After how long the configured filter returns, in milliseconds. Unset: it is in force. */
  remainingMs?: bigint;
}

/** Asks for a replica's log filter. Since 0.1. */
export interface ClusterGetLogFilterRequest {
}

/** A replica's log filter. Since 0.1. */
export interface ClusterGetLogFilterResponse {
  /** Who answered, and its own revision. */
  header?: ResponseHeader;
  /** The filter. */
  logFilter?: LogFilter;
}

/** Asks to log other events for a while. Since 0.1. */
export interface ClusterSetLogFilterRequest {
  /**
   * The filter, as `synod serve --log` takes it, as in `synod_server=debug,info`; 1 to 1,024 bytes. Left out: the configured
   * filter returns now.
   */
  filter?: string;
  /** After how long the configured filter returns, in milliseconds; 1,000 to 86,400,000. Left out: 600,000. */
  forMs?: bigint;
}

/** The events are logged as asked. Since 0.1. */
export interface ClusterSetLogFilterResponse {
  /** Who answered, and its own revision. */
  header?: ResponseHeader;
  /** The filter from now on. */
  logFilter?: LogFilter;
}

/** Asks what a replica knows of itself. Since 0.1. */
export interface ClusterGetDiagnosticsRequest {
}

/** What a replica knows of itself. Since 0.1. */
export interface ClusterGetDiagnosticsResponse {
  /** Who answered, and its own revision. */
  header?: ResponseHeader;
  /**
   * What it was started with, by the names of the settings file; of certificates, keys, policy and audit log only where they
   * are.
   */
  configuration: Record<string, string>;
  /** Its metrics, in the OpenMetrics text format. */
  metrics: string;
  /** The answer of `/readyz?verbose`. */
  readiness: string;
  /** Its log filter. */
  logFilter?: LogFilter;
}

/** Asks for a backup. Since 0.1. */
export interface ClusterBackupRequest {
  /**
   * How fresh the state must be; left out: linearizable, so that every change acknowledged before is in it. A past revision
   * cannot be asked for.
   */
  read?: ReadOptions;
}

/** A part of a backup. Since 0.1. */
export interface ClusterBackupResponse {
  /** The first message, and only that. */
  begin?: ClusterBackupBegin;
  /** Rows of the state, up to 1 MiB, as Synod stores them. A row can continue in the next message. */
  rows?: Uint8Array;
  /** The last message, and only that. */
  end?: ClusterBackupEnd;
}

/** What a backup is of. Since 0.1. */
export interface ClusterBackupBegin {
  /** Who answers, and at which revision the state is. */
  header?: ResponseHeader;
  /** The name that the replicas were started with. */
  clusterName: string;
  /** The log time of the state, in milliseconds. */
  logTimeMs: bigint;
  /** When the backup begins, in milliseconds since the Unix epoch by the replica's wall clock: for display. */
  wallTimeMs: bigint;
  /** The version of the replica's program. */
  version: string;
  /** The behaviour of apply that is in force. */
  machineVersion: number;
  /** The version of the form of the rows. */
  format: number;
}

/** What a backup was. Since 0.1. */
export interface ClusterBackupEnd {
  /** The length of all rows, in bytes. */
  rowsBytes: bigint;
  /** The SHA-256 of all rows; 32 bytes. */
  sha256: Uint8Array;
}

/** A field that breaks a rule. Since 0.1. */
export interface FieldViolation {
  /** The path of the field in the request, in its JSON form, as in `entries[3].decodableVersions[0]`. */
  field: string;
  /** The rule that it breaks, and what to do. */
  rule: string;
}

/**
 * An error that travels inside a message, where a gRPC status would end the stream. It says what a status would: see
 * the head of this file. Since 0.1.
 */
export interface Refusal {
  /** Why. */
  reason: ErrorReason;
  /** Why, as a sentence for people. */
  message: string;
  /** Every field at fault, if the reason is `INVALID_ARGUMENT`. */
  violations: FieldViolation[];
  /** What a program may need, by the keys at the head of this file. */
  metadata: Record<string, string>;
}

/** An API server that has joined. Its deadline is kept beside it, since renewals change no object. Since 0.1. */
export interface Member {
  /** Name (the member's id), uid, revisions and labels. */
  metadata?: Metadata;
  /** What the process called itself when it joined: tells two processes with one id apart. */
  instance: string;
  /** The member's fencing token: the revision at which this instance joined. */
  epoch: bigint;
  /** How long the member is kept after a renewal, in milliseconds of log time. */
  ttlMs: bigint;
  /** The version of its program, for display; may be empty. */
  version: string;
  /** Where it can be reached, for display; may be empty. */
  endpoint: string;
  /** How far it has come. */
  phase: MemberPhase;
  /** Whether this epoch has reported. Until it has, the entries of the epoch that it replaced stand. */
  reported: boolean;
  /** Whether it says that it writes through a gate alone. False of a member that joined before machine version 3. Since 0.1. */
  gated: boolean;
}

/**
 * Asks to be let in. The same instance gets its epoch back. Another instance replaces the member: the older epoch is
 * fenced from that revision on. Since 0.1.
 */
export interface MembershipJoinRequest {
  /** The exactly-once key, if the caller has a session. */
  requestId?: RequestId;
  /** The member's id: a DNS-1123 subdomain of at most 253 characters. */
  id: string;
  /** A name for this process that no other process has: 1 to 64 of `A-Za-z0-9._-`, best chosen at random. */
  instance: string;
  /**
   * How long to keep the member after a renewal, in milliseconds of log time; 1,000 to 86,400,000. Left out: 15,000. An
   * instance that joins again with a shorter one keeps the deadline that it was promised.
   */
  ttlMs?: bigint;
  /** Up to 64 labels; keys are qualified names, values have at most 63 characters, both as in Kubernetes. */
  labels: Record<string, string>;
  /** The version of the program, for display; at most 128 characters. */
  version: string;
  /** Where the member can be reached, for display; at most 512 characters. */
  endpoint: string;
  /**
   * The epoch that this process lost, if it was a member before, even of a cluster that was restored since. If another
   * instance holds the id by a later epoch, the join is refused with `STALE_EPOCH`.
   */
  lostEpoch?: bigint;
  /**
   * Whether the process writes through a gate alone: it begins no write without a proof of its membership, and none of a
   * resource or in a version that it has not reported. The gates of the clients keep this. What a process without a gate
   * may still write drains whenever it changes what it reports, and if it expires, answers assume that it has stopped. Below
   * machine version 3 no process counts as gated, and the next join counts. Since 0.1.
   */
  gated: boolean;
}

/** The member is in. Since 0.1. */
export interface MembershipJoinResponse {
  /** Who answered, and at which revision. */
  header?: ResponseHeader;
  /** The member's fencing token: name it in all that the member does, together with `header.cluster_id`. */
  epoch: bigint;
  /** The TTL that counts, in milliseconds of log time. */
  ttlMs: bigint;
  /** False if this instance was in already, and got its epoch back. */
  changed: boolean;
  /**
   * The setting `write_grace_ms` at `header.revision` or later: how long a write may still land after the member's proof
   * of membership has ended, in milliseconds. It is told here so that joining needs no other call.
   */
  writeGraceMs: bigint;
}

/** Asks to move one member's deadline to the present log time plus its TTL. Since 0.1. */
export interface MembershipRenewRequest {
  /** Who renews. */
  member?: MemberEpoch;
  /** A number of the caller's choice, given back in the answer. */
  correlation: bigint;
}

/** What became of one renewal. Since 0.1. */
export interface MembershipRenewResponse {
  /** Who answered, and at which revision. A renewal moves no revision. */
  header?: ResponseHeader;
  /** The number that came with the renewal. */
  correlation: bigint;
  /** The deadline was moved. */
  renewed?: Renewed;
  /** It was not, or that is not known. `NOT_A_MEMBER` and `STALE_EPOCH` are final for this epoch. */
  refusal?: Refusal;
}

/** A deadline was moved. Since 0.1. */
export interface Renewed {
  /** The TTL that counts from this renewal on, in milliseconds of log time. */
  ttlMs: bigint;
}

/** Says that a member serves. Since 0.1. */
export interface MembershipReadyRequest {
  /** The exactly-once key, if the caller has a session. */
  requestId?: RequestId;
  /** Who is ready. */
  member?: MemberEpoch;
}

/** The member is ready. Since 0.1. */
export interface MembershipReadyResponse {
  /** Who answered, and at which revision. */
  header?: ResponseHeader;
  /** False if it was ready already. */
  changed: boolean;
}

/** Says that a member goes. Since 0.1. */
export interface MembershipLeaveRequest {
  /** The exactly-once key, if the caller has a session. */
  requestId?: RequestId;
  /** Who leaves. */
  member?: MemberEpoch;
  /**
   * True if no write of this member can land any more: no permit is open. Then nothing has to drain. Only the instance itself
   * can say so.
   */
  drained: boolean;
  /**
   * The instance that leaves, as it joined; `CONFLICT` if another one speaks for the member. Left out: somebody else evicts
   * the member, and `drained` counts for nothing. Its process may not know of it, so what it may still write drains until its proof of
   * membership has run out and for `write_grace` more; what a voter decodes drains, since it follows what is selected.
   */
  instance: string;
  /**
   * True, and only of a member that is evicted: its process has stopped, says the caller. What it may still write drains for
   * `write_grace` alone, and answers name `ASSUMPTION_REASON_SAID_STOPPED`.
   */
  stopped: boolean;
}

/** The member is gone. Since 0.1. */
export interface MembershipLeaveResponse {
  /** Who answered, and at which revision. */
  header?: ResponseHeader;
}

/** Names a member to read. Since 0.1. */
export interface MembershipGetRequest {
  /** The member's id. */
  id: string;
  /** How to read; left out: linearizable. */
  read?: ReadOptions;
}

/** One member. Since 0.1. */
export interface MembershipGetResponse {
  /** Who answered, and at which revision. */
  header?: ResponseHeader;
  /** The member. */
  member?: Member;
  /**
   * How much log time it has left at least, in milliseconds: a hint, since a change of leader gives more. The leader knows
   * of all renewals; another replica may know of less, or leave it unset. Unset for a read of a past revision.
   */
  remainingMs?: bigint;
}

/** Asks for a page of members. Since 0.1. */
export interface MembershipListRequest {
  /** How to read; left out: linearizable. Not together with `continue_token`, which pins the revision. */
  read?: ReadOptions;
  /** Only members that have all of these labels; up to 64. */
  labels: Record<string, string>;
  /** How many to return at most, at least 1; more than 5,000 counts as 5,000. Left out: 500. */
  pageSize?: number;
  /**
   * Where the page before ended, as it was given; empty for the first page. With it, `labels` must be as they were,
   * else `INVALID_ARGUMENT`. A token whose revision left the window: `COMPACTED`.
   */
  continueToken: string;
  /**
   * True: the page is read at the present revision, behind what the token names, also if the token's own revision has left
   * the window, as in `ObjectsListRequest`.
   */
  continueAtPresent: boolean;
}

/** A page of members, all at one revision. Since 0.1. */
export interface MembershipListResponse {
  /** Who answered, and the revision of all pages of this list. */
  header?: ResponseHeader;
  /** The members, ordered by id. */
  items: MemberListItem[];
  /** Give this to get the next page; empty at the end. */
  continueToken: string;
  /** True: this page is of a later revision than the one before it, as in `ObjectsListResponse`. */
  inconsistent: boolean;
}

/** A member in a list. Since 0.1. */
export interface MemberListItem {
  /** The member. */
  member?: Member;
  /** How much log time it has left at least, in milliseconds: a hint, as in `MembershipGetResponse`. */
  remainingMs?: bigint;
}

/** Names a lease. Since 0.1. */
export interface LeaseKey {
  /** The namespace: a DNS-1123 label of at most 63 characters. */
  namespace: string;
  /** The name in it: a DNS-1123 subdomain of at most 253 characters. */
  name: string;
}

/** The proof that a lease is held. Since 0.1. */
export interface LeaseToken {
  /** The lease. */
  lease?: LeaseKey;
  /** The fencing token that acquiring it answered; at least 1. If the lease is not held by it: `STALE_EPOCH`. */
  token: bigint;
  /** The cluster that gave the token. If set and not the cluster that is asked: `STALE_EPOCH`. */
  clusterId: string;
}

/** Somebody who stands for a lease. Since 0.1. */
export interface LeaseContender {
  /** The lease. */
  lease?: LeaseKey;
  /** Who, unlike any other: 1 to 317 bytes without controls, bidirectional marks and line separators. */
  identity: string;
}

/**
 * A lease. Its deadline and its queue are kept beside it, since renewals and waiters change no object. A free lease stays
 * for 24 hours of log time. Since 0.1.
 */
export interface Lease {
  /** Name, namespace, uid and revisions. */
  metadata?: Metadata;
  /** Who has it; unset while it is free. */
  hold?: LeaseHold;
  /** How often it was given to a holder after the first time. */
  transitions: bigint;
  /** The candidate who should have it, where another has it; empty otherwise. The holder is to release it. */
  preferredHolder: string;
}

/** That somebody has a lease. Since 0.1. */
export interface LeaseHold {
  /** Who has it. */
  holder: string;
  /** The fencing token: the revision at which it was given to this holder. */
  token: bigint;
  /** The place in the queue that it was given to; unset if the holder did not wait. */
  ticket?: bigint;
  /** How long it is held after a renewal, in milliseconds of log time. */
  ttlMs: bigint;
  /** The member whose epoch the hold ends with; unset if there is none. */
  member?: MemberEpoch;
  /** When it was given, in milliseconds since the Unix epoch by the leader's wall clock: for display. */
  acquiredMs: bigint;
}

/** A candidate for a lease. Its deadline is kept beside it. Since 0.1. */
export interface LeaseCandidate {
  /** Name (the candidate's identity), namespace (the lease's), uid and revisions. */
  metadata?: Metadata;
  /** The lease. */
  lease?: LeaseKey;
  /** The release that it runs. */
  binaryVersion: string;
  /** The release that it behaves like; empty if it does not say. */
  emulationVersion: string;
  /** How the holder is to be chosen: `OldestEmulationVersion`, or a name with a domain that Synod does not interpret. */
  strategy: string;
  /** How long it stands after a renewal, and holds the lease after one, in milliseconds of log time. */
  ttlMs: bigint;
}

/** Asks for a lease. Who holds it already keeps it, with the same token; who waits already keeps its place. Since 0.1. */
export interface LeasesAcquireRequest {
  /** The exactly-once key, if the caller has a session. */
  requestId?: RequestId;
  /** The lease. It need not exist. */
  lease?: LeaseKey;
  /** Who wants it, unlike any other: 1 to 317 bytes without controls, bidirectional marks and line separators. */
  holder: string;
  /**
   * How long to hold the lease after a renewal, in milliseconds of log time; 1,000 to 86,400,000. Left out: 15,000. A
   * holder that asks again for a shorter time keeps the deadline that it was promised.
   */
  ttlMs?: bigint;
  /**
   * How long to keep a place in the queue if another has the lease, in milliseconds of log time; 1,000 to 86,400,000. The
   * call is then answered when it is the caller's turn, or shortly before its deadline; ask again in time to keep the place.
   * Left out: another holder is answered by `CONFLICT`, with the lease in the details.
   */
  waitMs?: bigint;
  /** Only while this member speaks under this epoch: the hold ends with it, if not before. Left out: no member. */
  ifMember?: MemberEpoch;
}

/** The lease is the caller's, or its place in the queue. Since 0.1. */
export interface LeasesAcquireResponse {
  /** Who answered, and at which revision. */
  header?: ResponseHeader;
  /** The caller has the lease. */
  held?: LeaseHeld;
  /** The caller's deadline came first. It keeps its place until `wait_ms` after it last asked. */
  queued?: LeaseQueued;
}

/** The caller has a lease. Since 0.1. */
export interface LeaseHeld {
  /** The fencing token: name it in all that is done under the lease, together with `header.cluster_id`. */
  token: bigint;
  /** The TTL that counts, in milliseconds of log time. */
  ttlMs: bigint;
}

/** The caller waits for a lease. Since 0.1. */
export interface LeaseQueued {
  /** The place in the queue: the revision at which the caller came. */
  ticket: bigint;
  /** How many are before it. */
  ahead: bigint;
}

/** Asks to move one deadline to the present log time plus its TTL. Since 0.1. */
export interface LeasesRenewRequest {
  /** A lease. */
  lease?: LeaseToken;
  /** A candidate. */
  candidate?: LeaseContender;
  /** A number of the caller's choice, given back in the answer. */
  correlation: bigint;
}

/** What became of one renewal. Since 0.1. */
export interface LeasesRenewResponse {
  /** Who answered, and at which revision. A renewal moves no revision. */
  header?: ResponseHeader;
  /** The number that came with the renewal. */
  correlation: bigint;
  /** The deadline was moved. */
  renewed?: Renewed;
  /**
   * It was not, or that is not known. `STALE_EPOCH` is final for this token; a candidate that is `NOT_FOUND` has to stand
   * again.
   */
  refusal?: Refusal;
}

/** Asks to give up what a holder has. Who has nothing has nothing to give up: that is no error. Since 0.1. */
export interface LeasesReleaseRequest {
  /** The exactly-once key, if the caller has a session. */
  requestId?: RequestId;
  /** The lease. */
  lease?: LeaseKey;
  /** Who gives it up. */
  holder: string;
  /** Only a hold by this token. Left out: whatever the holder has, the lease or its place in the queue. */
  token?: bigint;
}

/** It is given up. Since 0.1. */
export interface LeasesReleaseResponse {
  /** Who answered, and at which revision. */
  header?: ResponseHeader;
  /** False if there was nothing to give up. */
  changed: boolean;
}

/** Names a lease to delete. Since 0.1. */
export interface LeasesDeleteRequest {
  /** The exactly-once key, if the caller has a session. */
  requestId?: RequestId;
  /** The lease. */
  lease?: LeaseKey;
  /** Which lease it must still be; left out: whichever there is. */
  preconditions?: Preconditions;
  /** True: check everything and change nothing. */
  dryRun: boolean;
}

/** The lease is deleted. Since 0.1. */
export interface LeasesDeleteResponse {
  /** Who answered, and at which revision. */
  header?: ResponseHeader;
}

/** Names a lease to read. Since 0.1. */
export interface LeasesGetRequest {
  /** The lease. */
  lease?: LeaseKey;
  /** How to read; left out: linearizable. */
  read?: ReadOptions;
}

/** One lease. Since 0.1. */
export interface LeasesGetResponse {
  /** Who answered, and at which revision. */
  header?: ResponseHeader;
  /** The lease. */
  lease?: Lease;
  /**
   * How much log time its hold has left at least, in milliseconds: a hint, since a change of leader gives more. The leader
   * knows of all renewals; another replica may know of less, or leave it unset. Unset if it is free, and for a read of a
   * past revision.
   */
  remainingMs?: bigint;
  /** How many wait for it. Unset for a read of a past revision. */
  waiting?: bigint;
  /** The first who wait for it, in their order; up to 100. Empty for a read of a past revision. */
  waiters: LeaseWaiter[];
}

/** Somebody who waits for a lease. Since 0.1. */
export interface LeaseWaiter {
  /** Who waits. */
  holder: string;
  /** The place in the queue: the revision at which it came. */
  ticket: bigint;
}

/** Asks for a page of leases. Since 0.1. */
export interface LeasesListRequest {
  /** How to read; left out: linearizable. Not together with `continue_token`, which pins the revision. */
  read?: ReadOptions;
  /** Only leases of this namespace; empty: of all. */
  namespace: string;
  /** How many to return at most, at least 1; more than 5,000 counts as 5,000. Left out: 500. */
  pageSize?: number;
  /**
   * Where the page before ended, as it was given; empty for the first page. With it, `namespace` must be as it
   * was, else `INVALID_ARGUMENT`. A token whose revision left the window: `COMPACTED`.
   */
  continueToken: string;
  /**
   * True: the page is read at the present revision, behind what the token names, also if the token's own revision has left
   * the window, as in `ObjectsListRequest`.
   */
  continueAtPresent: boolean;
}

/** A page of leases, all at one revision. Since 0.1. */
export interface LeasesListResponse {
  /** Who answered, and the revision of all pages of this list. */
  header?: ResponseHeader;
  /** The leases, ordered by `<namespace>/<name>`. */
  items: LeaseListItem[];
  /** Give this to get the next page; empty at the end. */
  continueToken: string;
  /** True: this page is of a later revision than the one before it, as in `ObjectsListResponse`. */
  inconsistent: boolean;
}

/** A lease in a list. Since 0.1. */
export interface LeaseListItem {
  /** The lease. */
  lease?: Lease;
  /** How much log time its hold has left at least, in milliseconds: a hint, as in `LeasesGetResponse`. */
  remainingMs?: bigint;
  /** How many wait for it. Unset for a read of a past revision. */
  waiting?: bigint;
}

/**
 * Asks to stand for a lease. While somebody does whose strategy Synod knows, a free lease goes to the candidate that the
 * strategy chooses, at the same revision: that of the highest binary version decides on the strategy;
 * `OldestEmulationVersion` chooses the lowest emulation version, then the lowest binary version, then who has stood
 * longest. Since 0.1.
 */
export interface LeasesPutCandidateRequest {
  /** The exactly-once key, if the caller has a session. */
  requestId?: RequestId;
  /** Who stands for which lease. The lease need not exist. */
  candidate?: LeaseContender;
  /** The release that it runs: a semantic version. */
  binaryVersion: string;
  /**
   * The release that it behaves like: a semantic version, not above `binary_version`. Empty: it does not say, which
   * `OldestEmulationVersion` does not allow.
   */
  emulationVersion: string;
  /** How the holder is to be chosen: `OldestEmulationVersion`, or a name with a domain. Empty: `OldestEmulationVersion`. */
  strategy: string;
  /**
   * How long to stand after a renewal, and to hold the lease after one, in milliseconds of log time; 1,000 to 86,400,000.
   * Left out: 15,000.
   */
  ttlMs?: bigint;
}

/** The candidate stands. Since 0.1. */
export interface LeasesPutCandidateResponse {
  /** Who answered, and at which revision. */
  header?: ResponseHeader;
  /** False if it stood already and said the same. */
  changed: boolean;
}

/** Asks to stand for a lease no longer. What the candidate holds it keeps until it releases that, too. Since 0.1. */
export interface LeasesWithdrawCandidateRequest {
  /** The exactly-once key, if the caller has a session. */
  requestId?: RequestId;
  /** Who stood for which lease. */
  candidate?: LeaseContender;
}

/** The candidate does not stand any more. Since 0.1. */
export interface LeasesWithdrawCandidateResponse {
  /** Who answered, and at which revision. */
  header?: ResponseHeader;
  /** False if it did not stand. */
  changed: boolean;
}

/** Asks who stand for a lease. Since 0.1. */
export interface LeasesListCandidatesRequest {
  /** The lease; left out: all leases, also those that do not exist and that somebody stands for. */
  lease?: LeaseKey;
  /** How to read; left out: linearizable. Not together with `continue_token`, which pins the revision. */
  read?: ReadOptions;
  /**
   * Where the page before ended, as it was given; empty for the first page. With it, `lease` must be as it was. A token
   * whose revision left the window: `COMPACTED`.
   */
  continueToken: string;
  /**
   * True: the page is read at the present revision, behind what the token names, also if the token's own revision has left
   * the window, as in `ObjectsListRequest`.
   */
  continueAtPresent: boolean;
}

/** Who stand for a lease: at most 1,000 for each, all in one page. Since 0.1. */
export interface LeasesListCandidatesResponse {
  /** Who answered, and the revision of all pages of this list. */
  header?: ResponseHeader;
  /** The candidates, ordered by lease and identity. */
  items: LeaseCandidateItem[];
  /** Give this to get the next page; empty at the end. */
  continueToken: string;
  /** True: this page is of a later revision than the one before it, as in `ObjectsListResponse`. */
  inconsistent: boolean;
}

/** A candidate in a list. Since 0.1. */
export interface LeaseCandidateItem {
  /** The candidate. */
  candidate?: LeaseCandidate;
  /** How much log time it has left at least, in milliseconds: a hint, as in `LeasesGetResponse`. */
  remainingMs?: bigint;
}

/** Names an object. Since 0.1. */
export interface ObjectKey {
  /** The resource of its collection. */
  resource?: GroupResource;
  /** Its namespace, a DNS-1123 label of at most 63 characters; empty if the collection is not namespaced. */
  namespace: string;
  /** Its name, a DNS-1123 subdomain of at most 253 characters. */
  name: string;
}

/** What must still be true of the writer when its write is applied. Since 0.1. */
export interface Fences {
  /** The member holds this very epoch, else `STALE_EPOCH` or `NOT_A_MEMBER`. Left out: it is not asked. */
  ifMember?: MemberEpoch;
  /** The lease is held by this very token, else `STALE_EPOCH`. Left out: it is not asked. */
  ifLease?: LeaseToken;
}

/** An object as it is stored. Since 0.1. */
export interface Object {
  /** Name, namespace, uid, revisions, and what its writers say of it. */
  metadata?: Metadata;
  /** The resource of its collection. */
  resource?: GroupResource;
  /** What is stored. */
  content?: ObjectContent;
  /**
   * The revision at which the content was last stored as a whole: by the create, or by the last update that changed it. A
   * patch leaves it, and so does every change of what is said of the object: neither encodes the content anew.
   */
  contentRevision: bigint;
}

/** What is stored of an object, and how it is written. Since 0.1. */
export interface ObjectContent {
  /** The version that the data is encoded in. */
  encodingVersion: string;
  /** The form of the data, in lower case, without parameters, at most 127 characters. Left out: `application/json`. */
  mediaType: string;
  /** The data; at most 1 MiB. */
  data: Uint8Array;
}

/** What writers say of an object beside its data. Since 0.1. */
export interface ObjectAttributes {
  /** Up to 64 labels, what it is selected by. */
  labels: Record<string, string>;
  /** Notes: at most 4,096 with at most 256 KiB in all. */
  annotations: Record<string, string>;
  /** What it goes with: up to 64, each once, at most one of them the controller. */
  ownerReferences: OwnerReference[];
  /** What must be done before it goes: up to 64 qualified names, each once. */
  finalizers: string[];
}

/** A change of a JSON document, made for one encoding of it. Since 0.1. */
export interface ContentPatch {
  /** The version that the change was made for. If the object is stored in another one: `CONFLICT`, with the object. */
  encodingVersion: string;
  /** How the change is written; required. */
  format: PatchFormat;
  /** The change; at most 1 MiB. */
  document: Uint8Array;
}

/** A change of an object's metadata, whatever its data and its encoding are. Since 0.1. */
export interface MetadataPatch {
  /** How the change is written; required. */
  format: PatchFormat;
  /**
   * The change; at most 1 MiB. It is made of the document that Kubernetes shows as `metadata`: `name`, `namespace`, `uid`,
   * `resourceVersion` (as text), `generation`, and where there are any `labels`, `annotations`, `ownerReferences` and
   * `finalizers`. Those four can be changed. Another name, namespace or uid: `INVALID_ARGUMENT`. Another resource version:
   * `CONFLICT`, with the object. `generation`, the times and what else the store keeps by itself are ignored, and any other
   * member is refused.
   */
  document: Uint8Array;
}

/** Stores a new object. Since 0.1. */
export interface ObjectsCreateRequest {
  /** The exactly-once key, if the caller has a session. */
  requestId?: RequestId;
  /** Its name. */
  key?: ObjectKey;
  /** What is said of it. */
  attributes?: ObjectAttributes;
  /** What to store; required. */
  content?: ObjectContent;
  /** How long it lives, in milliseconds, 1,000 to 86,400,000; left out: until it is deleted. */
  ttlMs?: bigint;
  /** Who may do this. */
  fences?: Fences;
  /** True: check everything and change nothing. The answer is what would have been. */
  dryRun: boolean;
  /**
   * True: the answer comes without the object. For callers that need no more of it than its uid and its revision, and have
   * the rest, since they have sent it.
   */
  withoutObject: boolean;
}

/** The object is stored. Since 0.1. */
export interface ObjectsCreateResponse {
  /** Who answered, and at which revision. */
  header?: ResponseHeader;
  /** The uid of the object. */
  uid: string;
  /** Its revision. */
  resourceVersion: bigint;
  /**
   * The object as it was stored. Unset if this answers a retry so late that its revision is no longer kept, and if the
   * request said `without_object`.
   */
  object?: Object;
}

/** Names an object to read. Since 0.1. */
export interface ObjectsGetRequest {
  /** The object. */
  key?: ObjectKey;
  /** How to read; left out: linearizable. */
  read?: ReadOptions;
}

/** One object. Since 0.1. */
export interface ObjectsGetResponse {
  /** Who answered, and at which revision. */
  header?: ResponseHeader;
  /** The object. */
  object?: Object;
  /**
   * How much log time is left until it expires, in milliseconds: a hint, since a change of leader gives more. Unset if
   * it has no TTL, and for a read of the past.
   */
  remainingMs?: bigint;
}

/** Asks for a page of objects. Since 0.1. */
export interface ObjectsListRequest {
  /** The resource of the collection. */
  resource?: GroupResource;
  /** Only objects of this namespace; empty: of all. A collection without namespaces has none in any. */
  namespace: string;
  /** Only objects whose labels match, as in `app=web,tier in (a,b),!old`; at most 4 KiB; empty: all. */
  labelSelector: string;
  /**
   * Only objects whose fields match: `metadata.name` and `metadata.namespace`, with `=`, `==` and `!=`; at most 4 KiB;
   * empty: all.
   */
  fieldSelector: string;
  /** How to read; left out: linearizable. Not together with `continue_token`, which pins the revision. */
  read?: ReadOptions;
  /** How many to return at most, at least 1; more than 5,000 counts as 5,000. Left out: 500. */
  pageSize?: number;
  /**
   * Where the page before ended, as it was given; empty for the first page. With it, the resource, the namespace and
   * the selectors must be as they were, else `INVALID_ARGUMENT`. A token whose revision left the window: `COMPACTED`.
   */
  continueToken: string;
  /**
   * True: the page is read at the present revision, behind the object that the token names, whether or not the token's
   * own revision is still kept: what to do about `COMPACTED` where a list that begins again would never end. The model is
   * the inconsistent continue token that Kubernetes sends with its answer 410; here it is the same token, and the caller
   * says so. Without a token it says nothing.
   */
  continueAtPresent: boolean;
}

/** A page of objects, all at one revision. Since 0.1. */
export interface ObjectsListResponse {
  /** Who answered, and the revision of all pages of this list, but for those that are `inconsistent` with it. */
  header?: ResponseHeader;
  /** The objects, ordered by namespace and name. */
  items: ObjectListItem[];
  /** Give this to get the next page; empty at the end. */
  continueToken: string;
  /**
   * True: this page is of a later revision than the one before it, as `continue_at_present` asked for. No object is told
   * twice, and none is left out that was there all the time; but what was created, changed or deleted meanwhile among
   * those that are told already is not seen. `header.revision` is this page's, and `continue_token` pins it.
   */
  inconsistent: boolean;
}

/** An object in a list. Since 0.1. */
export interface ObjectListItem {
  /** The object. */
  object?: Object;
  /** How much log time is left until it expires, as in `ObjectsGetResponse`. */
  remainingMs?: bigint;
}

/** Replaces an object. Since 0.1. */
export interface ObjectsUpdateRequest {
  /** The exactly-once key, if the caller has a session. */
  requestId?: RequestId;
  /** Its name. */
  key?: ObjectKey;
  /** What is said of it from now on: all of it, in place of what was. */
  attributes?: ObjectAttributes;
  /** What to store from now on; required. */
  content?: ObjectContent;
  /**
   * Which object it must still be, and unless the collection allows unconditional updates, as of which revision. If it
   * is not: `CONFLICT`, with the object as it is.
   */
  preconditions?: Preconditions;
  /**
   * How long it lives from now on, in milliseconds, 1,000 to 86,400,000. Left out: its deadline stays, or that it has
   * none, unless `remove_ttl` says otherwise.
   */
  ttlMs?: bigint;
  /** Who may do this. */
  fences?: Fences;
  /** True: check everything and change nothing. The answer is what would have been. */
  dryRun: boolean;
  /** True: it has no deadline any more. Not together with `ttl_ms`. */
  removeTtl: boolean;
  /**
   * True: the answer comes without the object. For callers that need no more of it than its uid and its revision, and have
   * the rest, since they have sent it.
   */
  withoutObject: boolean;
}

/** The object is as asked. Since 0.1. */
export interface ObjectsUpdateResponse {
  /** Who answered, and at which revision. */
  header?: ResponseHeader;
  /** False if the object was so already: nothing was written. */
  changed: boolean;
  /** True if the object was not there, and was created. */
  created: boolean;
  /** True if the object is gone: the update took the last finalizer of one that was to be deleted. */
  deleted: boolean;
  /** The uid of the object. */
  uid: string;
  /** Its revision. */
  resourceVersion: bigint;
  /**
   * The object as it is after the request, or as it was last. Unset if this answers a retry so late that its revision is
   * no longer kept, and if the request said `without_object`.
   */
  object?: Object;
}

/** Changes a part of an object, whatever the rest of it is; it must change the data, the metadata or the TTL. Since 0.1. */
export interface ObjectsPatchRequest {
  /** The exactly-once key, if the caller has a session. */
  requestId?: RequestId;
  /** Its name. */
  key?: ObjectKey;
  /** The change of its data, which must be a JSON object. Left out: the data stays, whatever its form and its encoding are. */
  patch?: ContentPatch;
  /** Which object it must still be. Without a `resource_version` a patch never conflicts with another change. */
  preconditions?: Preconditions;
  /** Who may do this. */
  fences?: Fences;
  /** True: check everything and change nothing. The answer is what would have been. */
  dryRun: boolean;
  /** The change of what is said of it. Left out: that stays. */
  metadataPatch?: MetadataPatch;
  /** How long it lives from now on, as in `ObjectsUpdateRequest`. */
  ttlMs?: bigint;
  /** True: it has no deadline any more, as in `ObjectsUpdateRequest`. */
  removeTtl: boolean;
  /**
   * True: the answer comes without the object. For callers that need no more of it than its uid and its revision, and have
   * the rest, since they have sent it.
   */
  withoutObject: boolean;
}

/** The object is patched. Since 0.1. */
export interface ObjectsPatchResponse {
  /** Who answered, and at which revision. */
  header?: ResponseHeader;
  /** False if the patch changed nothing: nothing was written. */
  changed: boolean;
  /** The uid of the object. */
  uid: string;
  /** Its revision. */
  resourceVersion: bigint;
  /**
   * The object after the patch, or as it was last. Unset if this answers a retry so late that its revision is no longer
   * kept, and if the request said `without_object`.
   */
  object?: Object;
  /** True if the object is gone: the patch took the last finalizer of one that was to be deleted. */
  deleted: boolean;
}

/** Deletes an object. Since 0.1. */
export interface ObjectsDeleteRequest {
  /** The exactly-once key, if the caller has a session. */
  requestId?: RequestId;
  /** Its name. */
  key?: ObjectKey;
  /** Which object it must still be, and as of which revision. */
  preconditions?: Preconditions;
  /**
   * What becomes of the objects that it owns. An object that waits for its deletion goes from now on as the last one says:
   * `foregroundDeletion` and `orphan` among its finalizers are exchanged, and if none is left it goes at once. What was done
   * to the objects that it owns before stays done. Unspecified: it goes on as it was asked to.
   */
  propagation: Propagation;
  /** Who may do this. */
  fences?: Fences;
  /** True: check everything and change nothing. The answer is what would have been. */
  dryRun: boolean;
}

/** The object is deleted, or will be. Since 0.1. */
export interface ObjectsDeleteResponse {
  /** Who answered, and at which revision. */
  header?: ResponseHeader;
  /** False if it was to be deleted already, and in this way. */
  changed: boolean;
  /** True if the object is gone. False: it waits for its finalizers, or for the objects that it owns. */
  deleted: boolean;
  /** The uid of the object. */
  uid: string;
  /** The revision of its last change; if it is gone, of the deletion. */
  resourceVersion: bigint;
}

/** A condition of a transaction. Since 0.1. */
export interface ObjectsCompare {
  /** An object is there at exactly a revision. */
  resourceVersion?: CompareResourceVersion;
  /** An object is there, or is not. */
  existence?: CompareExistence;
  /** A version is the selected one of a resource. */
  selectedVersion?: CompareSelectedVersion;
}

/** An object is there at exactly a revision. Since 0.1. */
export interface CompareResourceVersion {
  /** The object. */
  key?: ObjectKey;
  /** Its revision; at least 1. */
  resourceVersion: bigint;
}

/** An object is there, or is not. Since 0.1. */
export interface CompareExistence {
  /** The object. */
  key?: ObjectKey;
  /** Whether it is to be there. */
  exists: boolean;
}

/** A version is the selected one of a resource. Since 0.1. */
export interface CompareSelectedVersion {
  /** The resource. */
  resource?: GroupResource;
  /** The version. Unset: none is selected. */
  version?: string;
}

/** An operation of a transaction. Since 0.1. */
export interface ObjectsOperation {
  /** Stores a new object. */
  create?: CreateOperation;
  /** Replaces an object. */
  update?: UpdateOperation;
  /** Changes a part of an object. */
  patch?: PatchOperation;
  /** Deletes an object. */
  delete?: DeleteOperation;
}

/** Stores a new object. Since 0.1. */
export interface CreateOperation {
  /** Its name. */
  key?: ObjectKey;
  /** What is said of it. */
  attributes?: ObjectAttributes;
  /** What to store; required. */
  content?: ObjectContent;
  /** How long it lives, as in `ObjectsCreateRequest`. */
  ttlMs?: bigint;
}

/** Replaces an object. Since 0.1. */
export interface UpdateOperation {
  /** Its name. */
  key?: ObjectKey;
  /** What is said of it from now on. */
  attributes?: ObjectAttributes;
  /** What to store from now on; required. */
  content?: ObjectContent;
  /** Which object it must still be, as in `ObjectsUpdateRequest`. */
  preconditions?: Preconditions;
  /** How long it lives from now on, as in `ObjectsUpdateRequest`. */
  ttlMs?: bigint;
  /** True: it has no deadline any more, as in `ObjectsUpdateRequest`. */
  removeTtl: boolean;
}

/** Changes a part of an object. Since 0.1. */
export interface PatchOperation {
  /** Its name. */
  key?: ObjectKey;
  /** The change of its data, as in `ObjectsPatchRequest`. */
  patch?: ContentPatch;
  /** Which object it must still be. */
  preconditions?: Preconditions;
  /** The change of what is said of it, as in `ObjectsPatchRequest`. */
  metadataPatch?: MetadataPatch;
  /** How long it lives from now on, as in `ObjectsUpdateRequest`. */
  ttlMs?: bigint;
  /** True: it has no deadline any more, as in `ObjectsUpdateRequest`. */
  removeTtl: boolean;
}

/** Deletes an object. Since 0.1. */
export interface DeleteOperation {
  /** Its name. */
  key?: ObjectKey;
  /** Which object it must still be, and as of which revision. */
  preconditions?: Preconditions;
  /** What becomes of the objects that it owns. */
  propagation: Propagation;
}

/** Compares, and then either carries out all operations at one revision, or reads. Since 0.1. */
export interface ObjectsTransactRequest {
  /** The exactly-once key, if the caller has a session. */
  requestId?: RequestId;
  /** What must all be so; up to 128. */
  compares: ObjectsCompare[];
  /** What to do then, all at one revision or not at all; up to 128, no object twice. */
  operations: ObjectsOperation[];
  /** What to read if not all compares hold; up to 128. */
  reads: ObjectKey[];
  /** Who may do this. */
  fences?: Fences;
  /** True: check everything and change nothing. The answer is what would have been. */
  dryRun: boolean;
}

/** What the transaction did. Since 0.1. */
export interface ObjectsTransactResponse {
  /** Who answered, and at which revision. */
  header?: ResponseHeader;
  /** False if nothing was written. */
  changed: boolean;
  /** True: all compares held, and the operations were carried out. False: they did not, and `reads` has what was asked. */
  succeeded: boolean;
  /** One for each operation, in order. */
  results: OperationResult[];
  /** One for each read, in order, as of `header.revision`, if it did not succeed. */
  reads: ReadResult[];
}

/** What an operation of a transaction did. Since 0.1. */
export interface OperationResult {
  /** False if the object was so already. */
  changed: boolean;
  /** True if the object was created. */
  created: boolean;
  /** True if the object is gone. */
  deleted: boolean;
  /** The uid of the object. */
  uid: string;
  /** The revision of its last change; if it is gone, of the deletion. */
  resourceVersion: bigint;
}

/** What a transaction read. Since 0.1. */
export interface ReadResult {
  /** The object. Unset if it was not there, or is left out. */
  object?: Object;
  /**
   * True: the answer does not say whether the object was there. It and those before it have more than 2 MiB, or this
   * answers a retry so late that its revision is no longer kept. Read it by itself.
   */
  leftOut: boolean;
}

/** A kind of objects that the cluster keeps. Since 0.1. */
export interface Collection {
  /** Name (`<resource>.<group>`, for the core group `<resource>`), uid and revisions. */
  metadata?: Metadata;
  /** The resource. */
  resource?: GroupResource;
  /**
   * The kind of the objects, as in `Widget`; at most 63 characters. No other collection of the group has it. It changes only
   * while the collection holds no object.
   */
  kind: string;
  /** True: each object lives in a namespace. False: none does. */
  namespaced: boolean;
  /** What writes must hold to. */
  rules?: CollectionRules;
}

/** What the writes of a collection must hold to. Since 0.1. */
export interface CollectionRules {
  /**
   * True: what is stored must be encoded in the version that is selected at that revision, else
   * `ENCODING_NOT_SELECTED`, and `NO_AGREEMENT` while none is selected. Changes of metadata alone and deletions pass.
   */
  strictStorageVersion: boolean;
  /** True: an update of an object that is not there creates it. False: `NOT_FOUND`. */
  createOnUpdate: boolean;
  /** True: an update may leave out `resource_version`. False: that is an `INVALID_ARGUMENT`. */
  unconditionalUpdate: boolean;
  /**
   * True: the top-level member `status` of an object's JSON is what is observed of it. A write that changes nothing else moves
   * no generation, and the Kubernetes API serves `<object>/status`, by which alone it changes the status of what stays in its
   * version. To set it, or to name it in an update: `UNAVAILABLE` until all replicas know the field (machine version 2). Since 0.1.
   */
  statusSubresource: boolean;
}

/** How many objects of a collection are encoded in a version. Since 0.1. */
export interface EncodingCount {
  /** The version. */
  version: string;
  /** The number of objects, exact; at least 1. */
  objects: bigint;
}

/** Declares a collection. Since 0.1. */
export interface CollectionsCreateRequest {
  /** The exactly-once key, if the caller has a session. */
  requestId?: RequestId;
  /** The resource. */
  resource?: GroupResource;
  /** The kind of the objects, as in `Widget`; at most 63 characters. */
  kind: string;
  /** True: each object lives in a namespace. */
  namespaced: boolean;
  /** What writes must hold to; left out: not strict, no creation by update, no unconditional update. */
  rules?: CollectionRules;
  /** True: check everything and change nothing. The answer is what would have been. */
  dryRun: boolean;
}

/** The collection was declared. Since 0.1. */
export interface CollectionsCreateResponse {
  /** Who answered, and at which revision. */
  header?: ResponseHeader;
  /** The collection. Unset if this answers a retry so late that its revision is no longer kept. */
  collection?: Collection;
}

/** Changes a collection. Since 0.1. */
export interface CollectionsUpdateRequest {
  /** The exactly-once key, if the caller has a session. */
  requestId?: RequestId;
  /** The resource. */
  resource?: GroupResource;
  /** Which collection it must still be; left out: whichever there is. */
  preconditions?: Preconditions;
  /** See `CollectionRules`; left out: as before. At least one of the four rules or the kind is required. */
  strictStorageVersion?: boolean;
  /** See `CollectionRules`; left out: as before. */
  createOnUpdate?: boolean;
  /** See `CollectionRules`; left out: as before. */
  unconditionalUpdate?: boolean;
  /** True: check everything and change nothing. The answer is what would have been. */
  dryRun: boolean;
  /** See `CollectionRules`; left out: as before. Since 0.1. */
  statusSubresource?: boolean;
  /**
   * The right kind of the objects, as in `Widget`, at most 63 characters, where the collection was declared with a wrong one; left
   * out: as before. `CONFLICT` while the collection holds objects: delete them first. `UNAVAILABLE` until all replicas know the
   * field (machine version 3). Since 0.1.
   */
  kind?: string;
}

/** The collection is as asked. Since 0.1. */
export interface CollectionsUpdateResponse {
  /** Who answered, and at which revision. */
  header?: ResponseHeader;
  /** False if it was so already. */
  changed: boolean;
  /** The collection. Unset if this answers a retry so late that its revision is no longer kept. */
  collection?: Collection;
}

/** Names a collection to read. Since 0.1. */
export interface CollectionsGetRequest {
  /** The resource. */
  resource?: GroupResource;
  /** How to read; left out: linearizable. */
  read?: ReadOptions;
}

/** One collection. Since 0.1. */
export interface CollectionsGetResponse {
  /** Who answered, and at which revision. */
  header?: ResponseHeader;
  /** The collection. */
  collection?: Collection;
  /** How many objects it holds, by version, sorted by it. */
  counts: EncodingCount[];
}

/** Asks for a page of collections. Since 0.1. */
export interface CollectionsListRequest {
  /** How to read; left out: linearizable. Not together with `continue_token`, which pins the revision. */
  read?: ReadOptions;
  /** How many to return at most, at least 1; more than 5,000 counts as 5,000. Left out: 500. */
  pageSize?: number;
  /**
   * Where the page before ended, as it was given; empty for the first page. A token whose revision left the window:
   * `COMPACTED`.
   */
  continueToken: string;
  /**
   * True: the page is read at the present revision, behind what the token names, also if the token's own revision has left
   * the window, as in `ObjectsListRequest`.
   */
  continueAtPresent: boolean;
}

/** A page of collections, all at one revision. Since 0.1. */
export interface CollectionsListResponse {
  /** Who answered, and the revision of all pages of this list. */
  header?: ResponseHeader;
  /** The collections, ordered by group and resource. */
  items: CollectionListItem[];
  /** Give this to get the next page; empty at the end. */
  continueToken: string;
  /** True: this page is of a later revision than the one before it, as in `ObjectsListResponse`. */
  inconsistent: boolean;
}

/** A collection in a list. Since 0.1. */
export interface CollectionListItem {
  /** The collection. */
  collection?: Collection;
  /** How many objects it holds, by version, sorted by it. */
  counts: EncodingCount[];
}

/** Takes a collection away. Since 0.1. */
export interface CollectionsDeleteRequest {
  /** The exactly-once key, if the caller has a session. */
  requestId?: RequestId;
  /** The resource. */
  resource?: GroupResource;
  /** Which collection it must still be; left out: whichever there is. */
  preconditions?: Preconditions;
  /** True: check everything and change nothing. */
  dryRun: boolean;
}

/** The collection is gone. Since 0.1. */
export interface CollectionsDeleteResponse {
  /** Who answered, and at which revision. */
  header?: ResponseHeader;
}

/**
 * What a controller wanted at one point of its history. Its data never changes; its number moves forward when the same
 * data is wanted again. Since 0.1.
 */
export interface ControllerRevision {
  /**
   * Name, namespace, uid, revisions, labels (the hash of the data as `controller.kubernetes.io/hash` among them),
   * annotations, and the controller as the one owner reference, if it has one.
   */
  metadata?: Metadata;
  /** Its place in the history: at least 0; the highest is what the controller wants now. */
  revision: bigint;
  /** The form of the data. */
  mediaType: string;
  /** What was wanted: if `media_type` is that of JSON, a JSON object. */
  data: Uint8Array;
  /** Whether it is what the controller's objects were made from last. */
  current: boolean;
  /** Whether it is what the controller is changing them to. */
  update: boolean;
  /**
   * Who else uses it, sorted. A snapshot that is current, of the update or in use is live: it is never truncated. So is the
   * newest of its history.
   */
  inUse: string[];
  /**
   * Each of these marks with what it goes with: current, update, then by marker. How long one still has that is renewed is
   * no part of the snapshot.
   */
  marks: LiveMark[];
  /** The version of the controller's kind that the data is in, if a create said so. */
  dataVersion?: string;
}

/** A mark of a ControllerRevision. Since 0.1. */
export interface LiveMark {
  /** Which. */
  kind: LiveMarkKind;
  /** Who else uses it; empty for the other marks. */
  marker: string;
  /** What it goes with. */
  tie?: MarkTie;
}

/** What a mark goes with. Since 0.1. */
export interface MarkTie {
  /** It goes when it was not set again for so long, in milliseconds of log time: 1,000 to 86,400,000. */
  ttlMs?: bigint;
  /**
   * It goes in the command in which this epoch of a member goes: when the member leaves or expires, or another instance
   * replaces it. An epoch that is not the present one: `NOT_A_MEMBER` or `STALE_EPOCH`.
   */
  member?: MemberEpoch;
  /** It goes in the command in which this object goes. */
  object?: TiedObject;
}

/** An object that marks go with. Since 0.1. */
export interface TiedObject {
  /** Its key. An object that is not there: `NOT_FOUND`. */
  key?: ObjectKey;
  /** Its uid. An object of another: `CONFLICT`. */
  uid: string;
}

/** What became of what a controller wants. Since 0.1. */
export interface ControllerRevisionAnswer {
  /** The name of the ControllerRevision that holds it. */
  name: string;
  /** Its number. */
  revision: bigint;
  /** How it came to be the newest. */
  outcome: ControllerRevisionOutcome;
  /** The collisions of names that the owner has to count from now on: give it with the next create. 0 for a rollback. */
  collisionCount: number;
  /** What was done to the others. */
  history?: ControllerHistoryAnswer;
}

/** What was done to the ControllerRevisions of a history. Since 0.1. */
export interface ControllerHistoryAnswer {
  /** How many had no controller and were adopted. */
  adopted: number;
  /** How many were deleted. */
  deleted: number;
  /** How many are left to adopt or to delete, since one command does only so much: ask again. */
  left: number;
}

/**
 * Names the history of a controller: the snapshots of a namespace that have the labels and that the owner, by its uid,
 * controls. A change first adopts those that have the labels and no controller. Since 0.1.
 */
export interface ControllerHistory {
  /** The namespace of the owner and of its snapshots: a DNS-1123 label. */
  namespace: string;
  /** The owner; it is the controller, whatever its `controller` says. */
  owner?: OwnerReference;
  /** The labels that its snapshots have. Without any, all that it controls belong to the history, and none is adopted. */
  selector: Record<string, string>;
}

/** Says what a controller wants now. Since 0.1. */
export interface ControllerRevisionsCreateRequest {
  /** The exactly-once key, if the caller has a session. */
  requestId?: RequestId;
  /** Whose history. */
  history?: ControllerHistory;
  /** The form of the data; empty: `application/json`. */
  mediaType: string;
  /**
   * What is wanted, of at most 1 MiB. If `media_type` is that of JSON, a JSON object: no key twice in one object, at most
   * 128 levels.
   */
  data: Uint8Array;
  /** How it is compared. */
  equality: ControllerRevisionEquality;
  /** What the name of a new snapshot begins with, cut to 223 characters; empty: the owner's name. */
  prefix: string;
  /** The labels of a new snapshot, beside those of the selector and the hash; 63 in all. */
  labels: Record<string, string>;
  /** The annotations of a new snapshot. */
  annotations: Record<string, string>;
  /**
   * The number of a new snapshot, such as the owner's generation. It counts if it is greater than all in the history;
   * else, and if left out, the number is one more than the highest, and 1 in an empty history.
   */
  revision?: bigint;
  /**
   * How many collisions of names the owner has counted: what the answer to its last create said, 0 at first. Required;
   * at most 2,147,483,647.
   */
  collisionCount?: number;
  /**
   * How many snapshots that are not live to keep; at most 10,000. Left out: 10. Neither the one that is answered, which is
   * the newest from now on, nor the one that was the newest before is deleted; the former does not count.
   */
  historyLimit?: number;
  /**
   * The `resource_version` of the newest snapshot of the history as the caller knows it, 0 for none: else `CONFLICT`.
   * Left out: any.
   */
  ifNewest?: bigint;
  /** True: check everything and change nothing. The answer is what would have been. */
  dryRun: boolean;
  /**
   * Set: the one that is answered is marked in the same command as what the controller is changing its objects to, and no
   * other is; the mark goes with this. An answer of *unchanged* renews it. Left out: marks stay as they are.
   */
  markUpdate?: MarkTie;
  /**
   * The version of the controller's kind that the data is in, as in `apps/v1`. Nobody ever rewrites a snapshot, so
   * `StorageVersions.CheckDrop` names it while the version is asked for. Left out: not known, and it is named as an
   * assumption. If the data is there already and its version was not known, it is from then on, which is a change of the
   * snapshot also where the outcome is *unchanged*; a version that is known stays.
   */
  dataVersion?: string;
  /**
   * The name of the snapshot, for whoever compares and counts itself, as controllers of Kubernetes do: it is created whatever the
   * history holds, with `revision` as it is given, and none is adopted or deleted. `ALREADY_EXISTS` if the name is taken; `QUOTA` if
   * the owner controls 10,000 snapshots in the namespace; `UNAVAILABLE` until all replicas know the field (machine version 2). Not
   * together with `mark_update`. Empty: the replicas compare, name and count. Since 0.1.
   */
  name: string;
}

/** What a controller wants stands in its history. Since 0.1. */
export interface ControllerRevisionsCreateResponse {
  /** Who answered, and at which revision. */
  header?: ResponseHeader;
  /** False if nothing was written. */
  changed: boolean;
  /** What became of it. */
  answer?: ControllerRevisionAnswer;
  /** The snapshot; unset in the answer to a retry whose revision has left the window. */
  controllerRevision?: ControllerRevision;
}

/** Names a snapshot to read. Since 0.1. */
export interface ControllerRevisionsGetRequest {
  /** Its namespace. */
  namespace: string;
  /** Its name. */
  name: string;
  /** How to read; left out: linearizable. */
  read?: ReadOptions;
}

/** One snapshot. Since 0.1. */
export interface ControllerRevisionsGetResponse {
  /** Who answered, and at which revision. */
  header?: ResponseHeader;
  /** The snapshot. */
  controllerRevision?: ControllerRevision;
}

/** Asks for a page of snapshots: those that pass every field. Since 0.1. */
export interface ControllerRevisionsListRequest {
  /** How to read; left out: linearizable. Not together with `continue_token`, which pins the revision. */
  read?: ReadOptions;
  /** Only those of this namespace; empty: of all. */
  namespace: string;
  /** Only those that have all of these labels; up to 64. */
  labels: Record<string, string>;
  /** Only those whose controller is of this kind; empty: of any, or none. */
  ownerKind: string;
  /** Only those whose controller has this name; empty: any, or none. */
  ownerName: string;
  /** Only those whose controller has this uid; empty: any, or none. */
  ownerUid: string;
  /** How many to return at most, at least 1; more than 5,000 counts as 5,000. Left out: 500. */
  pageSize?: number;
  /**
   * Where the page before ended, as it was given; empty for the first page. With it, all else must be as it was,
   * else `INVALID_ARGUMENT`. A token whose revision left the window: `COMPACTED`.
   */
  continueToken: string;
  /**
   * True: the page is read at the present revision, behind what the token names, also if the token's own revision has left
   * the window, as in `ObjectsListRequest`.
   */
  continueAtPresent: boolean;
}

/** A page of snapshots, all at one revision. Since 0.1. */
export interface ControllerRevisionsListResponse {
  /** Who answered, and the revision of all pages of this list. */
  header?: ResponseHeader;
  /** The snapshots, ordered by namespace and name. */
  items: ControllerRevision[];
  /** Give this to get the next page; empty at the end. */
  continueToken: string;
  /** True: this page is of a later revision than the one before it, as in `ObjectsListResponse`. */
  inconsistent: boolean;
}

/** Asks for a page of a history. Since 0.1. */
export interface ControllerRevisionsHistoryRequest {
  /** Whose history. */
  history?: ControllerHistory;
  /** How to read; left out: linearizable. Not together with `continue_token`, which pins the revision. */
  read?: ReadOptions;
  /** How many to return at most, at least 1; more than 5,000 counts as 5,000. Left out: 500. */
  pageSize?: number;
  /**
   * Where the page before ended, as it was given; empty for the first page. With it, `history` must be as it was,
   * else `INVALID_ARGUMENT`. A token whose revision left the window: `COMPACTED`.
   */
  continueToken: string;
  /**
   * True: the page is read at the present revision, behind what the token names, also if the token's own revision has left
   * the window, as in `ObjectsListRequest`.
   */
  continueAtPresent: boolean;
}

/** A page of a history, all at one revision. Since 0.1. */
export interface ControllerRevisionsHistoryResponse {
  /** Who answered, and the revision of all pages of this history. */
  header?: ResponseHeader;
  /** The snapshots, oldest first: ordered by number, then by the revision that created them, then by name. */
  items: ControllerRevision[];
  /** Give this to get the next page; empty at the end. */
  continueToken: string;
  /** True: this page is of a later revision than the one before it, as in `ObjectsListResponse`. */
  inconsistent: boolean;
}

/** Names two snapshots of a namespace. Since 0.1. */
export interface ControllerRevisionsDiffRequest {
  /** Their namespace. */
  namespace: string;
  /** The one to begin with; empty for a nil revision, which says nothing. */
  from: string;
  /** The one to end with; empty for a nil revision. */
  to: string;
  /** How to read; left out: linearizable. */
  read?: ReadOptions;
}

/** What changed. Since 0.1. */
export interface ControllerRevisionsDiffResponse {
  /** Who answered, and at which revision. */
  header?: ResponseHeader;
  /** Whether the two say the same as JSON; if they are no JSON, whether they are the same bytes. */
  equal: boolean;
  /** The JSON patch (RFC 6902) that makes the one of the other; unset unless both are JSON. A nil revision is `null`. */
  jsonPatch?: string;
  /** What changed, line by line, in the unified format; empty if nothing. Unset if one of them is neither JSON nor text. */
  unified?: string;
}

/** Changes what may be changed of a snapshot. What is left out stays. Since 0.1. */
export interface ControllerRevisionsUpdateRequest {
  /** The exactly-once key, if the caller has a session. */
  requestId?: RequestId;
  /** Its namespace. */
  namespace: string;
  /** Its name. */
  name: string;
  /** The uid that it must have, else `CONFLICT`; empty: any. */
  ifUid: string;
  /** The `resource_version` that it must have, else `CONFLICT`. Required, as Kubernetes has it for ControllerRevisions. */
  ifResourceVersion?: bigint;
  /** Its number from now on. A lower one than it has: `IMMUTABLE`. */
  revision?: bigint;
  /** Its labels from now on. The hash stays without being named; another one: `IMMUTABLE`. */
  labels?: LabelMap;
  /** Its annotations from now on. */
  annotations?: LabelMap;
  /** The data that it has, for callers that send whole objects: any other: `IMMUTABLE`. Empty: not compared. */
  data: Uint8Array;
  /** The form of `data`; empty: `application/json`. */
  mediaType: string;
  /** True: check everything and change nothing. The answer is what would have been. */
  dryRun: boolean;
}

/** Labels or annotations that can be left out as a whole. Since 0.1. */
export interface LabelMap {
  /** By key. */
  items: Record<string, string>;
}

/** The snapshot is as asked. Since 0.1. */
export interface ControllerRevisionsUpdateResponse {
  /** Who answered, and at which revision. */
  header?: ResponseHeader;
  /** False if it was so already. */
  changed: boolean;
  /** The snapshot; unset in the answer to a retry whose revision has left the window. */
  controllerRevision?: ControllerRevision;
}

/** Names a snapshot to go back to. Since 0.1. */
export interface ControllerRevisionsRollbackRequest {
  /** The exactly-once key, if the caller has a session. */
  requestId?: RequestId;
  /** Whose history. */
  history?: ControllerHistory;
  /** The one with this number; the last in order if several have it. */
  revision?: bigint;
  /** The one with this name. */
  name?: string;
  /** The `resource_version` of the newest snapshot of the history as the caller knows it: else `CONFLICT`. Left out: any. */
  ifNewest?: bigint;
  /** True: check everything and change nothing. The answer is what would have been. */
  dryRun: boolean;
}

/** The snapshot is the newest of its history. Since 0.1. */
export interface ControllerRevisionsRollbackResponse {
  /** Who answered, and at which revision. */
  header?: ResponseHeader;
  /** False if nothing was written. */
  changed: boolean;
  /** What became of it. */
  answer?: ControllerRevisionAnswer;
  /** The snapshot, with the data that is wanted again; unset in the answer to a retry whose revision has left the window. */
  controllerRevision?: ControllerRevision;
}

/** What one marker uses. Since 0.1. */
export interface InUse {
  /** Who says so, such as the controller or one of its workers; 1 to 253 characters. */
  marker: string;
  /** The snapshots that it uses, up to 1,000: its marks are on these and on no others of the history. None clears them. */
  names: string[];
}

/** Says which snapshots of a history are in use. What is left out stays as it is. Since 0.1. */
export interface ControllerRevisionsMarkLiveRequest {
  /** The exactly-once key, if the caller has a session. */
  requestId?: RequestId;
  /** Whose history. Its selector does not count: marks can be on all that the owner controls. */
  history?: ControllerHistory;
  /** What the controller's objects were made from last, by name; empty for a nil revision. */
  current?: string;
  /** What the controller is changing them to, by name; empty for a nil revision. */
  update?: string;
  /** What somebody else uses. */
  inUse?: InUse;
  /**
   * What the marks go with that are set here, from now on. At most 1,000 snapshots of 4 MiB can have marks that go with one
   * member or object: `QUOTA`. Left out: a `ttl_ms` of 86,400,000, a day.
   */
  tie?: MarkTie;
}

/** The marks are as asked. Since 0.1. */
export interface ControllerRevisionsMarkLiveResponse {
  /** Who answered, and at which revision. */
  header?: ResponseHeader;
  /** False if they were so already. */
  changed: boolean;
}

/** Deletes the oldest of a history that are not live. Since 0.1. */
export interface ControllerRevisionsTruncateRequest {
  /** The exactly-once key, if the caller has a session. */
  requestId?: RequestId;
  /** Whose history. */
  history?: ControllerHistory;
  /** How many snapshots that are not live to keep; at most 10,000. Left out: 10. The newest is live: it stays even with 0. */
  limit?: number;
  /** The `resource_version` of the newest snapshot of the history as the caller knows it: else `CONFLICT`. Left out: any. */
  ifNewest?: bigint;
  /** True: check everything and change nothing. The answer is what would have been. */
  dryRun: boolean;
}

/** The oldest are gone. Since 0.1. */
export interface ControllerRevisionsTruncateResponse {
  /** Who answered, and at which revision. */
  header?: ResponseHeader;
  /** False if nothing was written. */
  changed: boolean;
  /** What was done. */
  answer?: ControllerHistoryAnswer;
}

/** Names a snapshot to delete. Since 0.1. */
export interface ControllerRevisionsDeleteRequest {
  /** The exactly-once key, if the caller has a session. */
  requestId?: RequestId;
  /** Its namespace. */
  namespace: string;
  /** Its name. */
  name: string;
  /** The uid that it must have, else `CONFLICT`; empty: any. */
  ifUid: string;
  /** The `resource_version` that it must have, else `CONFLICT`; left out: any. */
  ifResourceVersion?: bigint;
  /** True: check everything and change nothing. The answer is what would have been. */
  dryRun: boolean;
}

/** The snapshot is gone. Since 0.1. */
export interface ControllerRevisionsDeleteResponse {
  /** Who answered, and at which revision. */
  header?: ResponseHeader;
}

/** Names a history to delete. Since 0.1. */
export interface ControllerRevisionsDeleteHistoryRequest {
  /** The exactly-once key, if the caller has a session. */
  requestId?: RequestId;
  /** The namespace of the owner. */
  namespace: string;
  /** The uid of the owner. */
  ownerUid: string;
  /** True: check everything and change nothing. The answer is what would have been. */
  dryRun: boolean;
}

/** The history is gone, as far as one command goes. Since 0.1. */
export interface ControllerRevisionsDeleteHistoryResponse {
  /** Who answered, and at which revision. */
  header?: ResponseHeader;
  /** False if there was none. */
  changed: boolean;
  /** What was done. */
  answer?: ControllerHistoryAnswer;
}

/** Names what to adopt. Since 0.1. */
export interface ControllerRevisionsAdoptRequest {
  /** The exactly-once key, if the caller has a session. */
  requestId?: RequestId;
  /** Who adopts. */
  history?: ControllerHistory;
  /** The one to adopt, whatever its labels. Empty: all that have the labels of the selector, which must then name some. */
  name: string;
}

/** They are adopted. Since 0.1. */
export interface ControllerRevisionsAdoptResponse {
  /** Who answered, and at which revision. */
  header?: ResponseHeader;
  /** False if nothing was written. */
  changed: boolean;
  /** What was done. */
  answer?: ControllerHistoryAnswer;
}

/** Names a snapshot to let go. Since 0.1. */
export interface ControllerRevisionsReleaseRequest {
  /** The exactly-once key, if the caller has a session. */
  requestId?: RequestId;
  /** Its namespace. */
  namespace: string;
  /** Its name. */
  name: string;
  /** The uid of the owner that lets it go. */
  ownerUid: string;
  /** The uid that it must have, else `CONFLICT`; empty: any. */
  ifUid: string;
  /** The `resource_version` that it must have, else `CONFLICT`; left out: any. */
  ifResourceVersion?: bigint;
}

/** The owner does not control it. Since 0.1. */
export interface ControllerRevisionsReleaseResponse {
  /** Who answered, and at which revision. */
  header?: ResponseHeader;
  /** False if it did not before. */
  changed: boolean;
}

/** Who must speak for the resources of a scope. Of the rosters that cover a resource, the narrowest alone counts. Since 0.1. */
export interface Roster {
  /** Name (the scope), uid and revisions. */
  metadata?: Metadata;
  /**
   * The resources: `*` for all, `<group>.*` for those of a group, `<group>.<resource>` for one; the core group is written
   * `core`.
   */
  scope: string;
  /** Who must speak. */
  rule?: RosterRule;
  /** True: the roster cannot notice a server that never joins, and answers assume that there is none. */
  mayMiss: boolean;
  /** What it can notice and what it cannot, in words. */
  notices: string;
}

/** Who must speak: has an entry for the resource. All that is asked for must hold, and something must be. Since 0.1. */
export interface RosterRule {
  /** These members; up to 1,000, none twice. */
  members: string[];
  /**
   * Every member whose labels match, and there must be one. A selector as in `ObjectsListRequest`; empty: none in
   * particular.
   */
  labelSelector: string;
  /** At least so many: of the members whose labels match, if there is a selector. 0: no number in particular. */
  least: number;
  /**
   * True: the operator vouches that no server outside of the live members writes these resources, now or later. Answers then
   * do not assume `ASSUMPTION_REASON_ROSTER_MAY_MISS`.
   */
  complete: boolean;
  /**
   * True, for the scope `*` alone: resources that no member ever reported, and that are only observed, are left out, and answer
   * as without a roster. That ends with the first report of one.
   */
  exemptsObserved: boolean;
}

/** Who is missing of a resource, by its roster. Since 0.1. */
export interface AbsentMembers {
  /** Members that are asked for and have no entry for the resource, sorted; up to 16. */
  members: string[];
  /** How many more there are. */
  unnamed: number;
  /** How many more entries there must be, of whichever members. */
  short: number;
  /** The same in words, for people. */
  message: string;
  /** The labels of those of whom `short` are lacking, as a selector; empty: whoever they are. */
  labelSelector: string;
}

/** Says who must speak. Since 0.1. */
export interface RostersSetRequest {
  /** The exactly-once key, if the caller has a session. */
  requestId?: RequestId;
  /** For which resources: see `Roster.scope`. */
  scope: string;
  /** Who. */
  rule?: RosterRule;
  /**
   * Only if the `resource_version` of the roster is this one; 0: only if there is none. Else `CONFLICT`, with the present one
   * in the details, or `NOT_FOUND` if there is none. Left out: in any case.
   */
  ifRevision?: bigint;
  /** True: check everything and change nothing. The answer is what would have been. */
  dryRun: boolean;
}

/** The roster is as asked. Since 0.1. */
export interface RostersSetResponse {
  /** Who answered, and at which revision. */
  header?: ResponseHeader;
  /** False if it was so already. */
  changed: boolean;
  /** The roster. Unset if this answers a retry so late that its revision is no longer kept. */
  roster?: Roster;
}

/** Names a roster to take away. Since 0.1. */
export interface RostersDeleteRequest {
  /** The exactly-once key, if the caller has a session. */
  requestId?: RequestId;
  /** For which resources it is: see `Roster.scope`. */
  scope: string;
  /**
   * Only if the `resource_version` of the roster is this one. Else `CONFLICT`, with the present one in the details. Left out:
   * in any case.
   */
  ifRevision?: bigint;
  /** True: check everything and change nothing. The answer is what would have been. */
  dryRun: boolean;
}

/** The roster is gone. Since 0.1. */
export interface RostersDeleteResponse {
  /** Who answered, and at which revision. */
  header?: ResponseHeader;
}

/** Names a roster to read. Since 0.1. */
export interface RostersGetRequest {
  /** For which resources it is: see `Roster.scope`. */
  scope: string;
  /** How to read; left out: linearizable. */
  read?: ReadOptions;
}

/** A roster. Since 0.1. */
export interface RostersGetResponse {
  /** Who answered, and at which revision. */
  header?: ResponseHeader;
  /** The roster. */
  roster?: Roster;
}

/** Asks for a page of rosters. Since 0.1. */
export interface RostersListRequest {
  /** How to read; left out: linearizable. Not together with `continue_token`, which pins the revision. */
  read?: ReadOptions;
  /** How many to return at most, at least 1; more than 5,000 counts as 5,000. Left out: 500. */
  pageSize?: number;
  /**
   * Where the page before ended, as it was given; empty for the first page. A token whose revision left the window:
   * `COMPACTED`.
   */
  continueToken: string;
  /**
   * True: the page is read at the present revision, behind what the token names, also if the token's own revision has left
   * the window, as in `ObjectsListRequest`.
   */
  continueAtPresent: boolean;
}

/** A page of rosters, all at one revision. Since 0.1. */
export interface RostersListResponse {
  /** Who answered, and the revision of all pages of this list. */
  header?: ResponseHeader;
  /** The rosters: that of all resources, then those of groups, then those of one resource, each by name. */
  rosters: Roster[];
  /** Give this to get the next page; empty at the end. */
  continueToken: string;
  /** True: this page is of a later revision than the one before it, as in `ObjectsListResponse`. */
  inconsistent: boolean;
}

/**
 * A resource that at least one member reports, and what follows from all entries together. Nobody writes these fields;
 * the object goes with its last entry. Since 0.1.
 */
export interface StorageVersion {
  /** Name (`<group>.<resource>`, the core group written `core`), uid and revisions. */
  metadata?: Metadata;
  /** The resource. */
  resource?: GroupResource;
  /** One entry for each member that reports the resource, ordered by member. */
  entries: StorageVersionEntry[];
  /** What follows from the entries. */
  status?: StorageVersionStatus;
}

/**
 * What one member says of one resource, and what follows for its encoding. The member's epoch is not part of it, so a
 * restart with an unchanged program changes no entry. Since 0.1.
 */
export interface StorageVersionEntry {
  /** The member's id. */
  member: string;
  /** The kind that the resource stores. */
  kind: string;
  /** The versions that the member can decode. */
  decodableVersions: string[];
  /** The versions that it serves. */
  servedVersions: string[];
  /** The version that it would like to encode, if it votes. Unset: the entry is fixed, the member encodes what it says. */
  preferredVersion?: string;
  /** The version that it encodes. Unset: it votes and nothing was selected yet; its gate stays closed. */
  encodingVersion?: string;
  /** The `selected_revision` that it took or adopted last. Unset for a fixed entry. */
  adoptedRevision?: bigint;
  /**
   * The revision at which the member's entry for this resource first appeared as a fixed or as a voting one: the oldest
   * vote is the first to be selected.
   */
  sinceRevision: bigint;
  /**
   * The time that the member names before which nobody may withdraw a served version, in milliseconds since the Unix epoch.
   * Unset: it names none.
   */
  serveUntilMs?: bigint;
  /** Where the member stores the objects. */
  stored: StoredIn;
  /** The other names of the objects' store, as the member told them, sorted. Since 0.1. */
  equivalents: GroupResource[];
}

/** What follows from all entries of a resource. Since 0.1. */
export interface StorageVersionStatus {
  /** The one version that all entries encode. Unset if they do not. */
  commonEncodingVersion?: string;
  /** The version that voters shall encode: an instruction. Unset if nothing was ever selected. */
  selectedVersion?: string;
  /** The revision at which `selected_version` last changed; 0 before it was first set. */
  selectedRevision: bigint;
  /**
   * The revision at which the common or the selected version last changed, or an observation or a roster began or ceased to
   * stand against an agreement.
   */
  agreementRevision: bigint;
  /**
   * The version that is agreed on: common, selected if anything is, taken by every voter, with nobody missing of the
   * resource's roster, and with nothing else shown in discovery. Unset: no agreement.
   */
  agreedVersion?: string;
  /** The versions that every entry decodes, sorted. */
  decodableByAll: string[];
  /** The versions that every entry serves, sorted. */
  servedByAll: string[];
  /**
   * `AllEncodingVersionsEqual`: there is a common version. `DecodableByAll`: every entry decodes every version that is
   * reported, selected or persisted; if not, its message names who cannot decode which.
   */
  conditions: Condition[];
}

/** What stays of a resource when its last entry goes. Since 0.1. */
export interface StorageState {
  /** Name (`<resource>.<group>`, for the core group `<resource>`), uid and revisions. */
  metadata?: Metadata;
  /** The resource. */
  resource?: GroupResource;
  /** The version that voters shall encode. Losing every member does not unset it. */
  selectedVersion?: string;
  /** The revision at which `selected_version` last changed; 0 before it was first set. */
  selectedRevision: bigint;
  /** The revision at which the common or the selected version last changed. */
  agreementRevision: bigint;
  /** The version that is agreed on. Unset: unknown, since there is no agreement. */
  currentVersion?: string;
  /** The versions in which objects may be stored. */
  persisted: PersistedVersion[];
  /** The versions in which writes may still land. A drain only ever grows; one that is over may still be listed. */
  drains: Drain[];
  /** The one version that all entries encode. Unset if they do not, and while nobody reports the resource. */
  commonEncodingVersion?: string;
  /**
   * The storage-version hashes that discovery shows, sorted; empty if the resource is not observed. While nobody reports it,
   * one is an agreement and several are none. While members report it, one that none of them encodes ends the agreement.
   */
  observedHashes: string[];
  /** The kind, if an observer said it; else empty. */
  observedKind: string;
  /** True: nobody has looked at discovery for two periods, so what it showed says nothing of the present. */
  observationExpired: boolean;
  /**
   * True: discovery shows, or last showed, what no member says that it encodes. There is no agreement until it is seen
   * otherwise, or the resource is reset.
   */
  contradicted: boolean;
  /** The hash that is agreed on while nobody reports the resource: the one that discovery shows. Unset: none. */
  currentHash?: string;
  /** Who is missing by the roster of the resource. Unset: nobody. */
  absent?: AbsentMembers;
  /**
   * Since which revision what is persisted is on trust; 0: it is not. Who writes the resource and was not asked for by a
   * roster may have written any version. A migration that was created at this revision or later, and ends under a roster,
   * makes an end of it: start one by request where none begins by itself.
   */
  onTrustSince: bigint;
  /**
   * Of the topic of a served version: the latest time that a member has named before which nobody may withdraw it, in
   * milliseconds since the Unix epoch. Unset: none was named. It stays when the member goes.
   */
  serveUntilMs?: bigint;
  /** The same in log time, in milliseconds, which alone decides. `log_time_ms` beside the object says what it is now. */
  serveUntilLogTimeMs?: bigint;
  /**
   * The versions that were ever decodable, encoded, selected or stored, sorted; up to 256, the newest. `CheckDrop` of another one
   * is not answered by yes. Empty under a machine version before 3.
   */
  knownVersions: string[];
  /** The storage-version hashes that discovery has ever shown, sorted; up to 256, the newest. */
  knownHashes: string[];
  /** The revision since which what is stored rests on `ASSUMPTION_REASON_CONCLUDED_BEFORE`; 0: it does not. */
  concludedBefore: bigint;
  /** The evicted members of which somebody said that they have stopped, and that a migration has not made irrelevant since. */
  saidStopped: string[];
  /**
   * Members of the roster that came back after a short absence, and that no migration has made irrelevant since; up to 32,
   * those that came back last. Since 0.1.
   */
  shortAbsences: ShortAbsence[];
  /** Members without a gate that expired or were evicted and have not come back, up to 64. Since 0.1. */
  ungatedGone: UngatedMember[];
  /** Whether there were more of these. Since 0.1. */
  moreUngatedGone: boolean;
  /**
   * Whether objects were ever stored outside of this cluster: members said so, or discovery showed what no member stores in the
   * collection. Then the collection does not count all that is stored. Since 0.1.
   */
  storedOutside: boolean;
  /** The looks of named observers. `observed_hashes` is what all looks show together. Since 0.1. */
  looks: ObserverLook[];
  /**
   * The other names of the same store, sorted; `resource` is the first. Of a key it is empty: its names follow from those of the
   * resource. Since 0.1.
   */
  equivalents: GroupResource[];
}

/** The look of a named observer. Since 0.1. */
export interface ObserverLook {
  /** The observer. */
  observer: string;
  /** What each server shows, or showed when it was last reached. */
  servers: ServerLook[];
  /** The kind that the resource stores, if the observer said it; else empty. */
  kind: string;
  /** True: for two periods not all of these servers were reached, so what they showed says nothing of the present. */
  expired: boolean;
}

/** What one server shows. Since 0.1. */
export interface ServerLook {
  /** The name under which the observer reaches the server, as its URL; up to 253 bytes. It is of this observer alone. */
  server: string;
  /** The storage-version hashes that the server shows, none twice, up to 16. None: it does not show the resource. */
  hashes: string[];
  /**
   * The member that the server is; the caller does not act as this member. What all servers show that are members ends once each has reported another encoding. Left
   * out: not known.
   */
  ofMember?: string;
}

/** The short absence of a member that came back. Since 0.1. */
export interface ShortAbsence {
  /** The member. */
  member: string;
  /** How long nobody had renewed its membership when it came back, in milliseconds of log time. */
  awayMs: bigint;
  /** The log time, in milliseconds, at which it came back. */
  returnedLogTimeMs: bigint;
}

/** A member without a gate that went without saying so. Since 0.1. */
export interface UngatedMember {
  /** The member. */
  member: string;
  /** Its last epoch. */
  epoch: bigint;
}

/** A version in which objects may be stored. Since 0.1. */
export interface PersistedVersion {
  /** True: objects may be stored in versions that nobody knows of. Then the other fields are empty. */
  unknown: boolean;
  /** The storage-version hash: base64 of the first 8 bytes of the SHA-256 of `group/version/kind`. */
  hash: string;
  /** The version, if it is known. */
  version?: string;
}

/** Writes in an encoding may still land. Since 0.1. */
export interface Drain {
  /** The version; empty if only its hash is known. */
  version: string;
  /** Until which log time, in milliseconds. `log_time_ms` beside the object says what it is now. */
  untilLogTimeMs: bigint;
  /** The storage-version hash of what discovery has shown; empty where the version is known. */
  hash: string;
  /** True: writes in versions that nobody can name may land. Then version and hash are empty. */
  unknown: boolean;
  /** The claim of the migration worker that may write them, which has ended without success; 0: a server may write them. */
  claimToken: bigint;
  /** True: a fenced worker need not wait for this one of another fenced worker. */
  fenced: boolean;
  /** What the worker of the claim walked. One that walked the collection alone holds back no claim. */
  walks: Walk;
}

/** A change of what a resource's members agree on. Since 0.1. */
export interface AgreementChange {
  /** What was agreed before. Unset: no agreement. */
  fromVersion?: string;
  /** What was agreed then. Unset: no agreement. */
  toVersion?: string;
  /** The revision of the change. */
  revision: bigint;
  /** When, in milliseconds since the Unix epoch by the leader's wall clock: for display. */
  timeMs: bigint;
  /** The member whose change caused it, if one did. */
  causeMember?: string;
  /** What caused it. */
  cause: AgreementCause;
  /**
   * The proved identity of the caller whose change caused it; at most 512 bytes. It is sent only to callers that hold the right
   * to operate. Unset as well: the replicas made the change themselves, the caller proved nothing, or an older machine version
   * made the change.
   */
  caller?: string;
}

/** What a member says of one resource. Since 0.1. */
export interface ReportEntry {
  /**
   * The resource. A report names none twice; of equivalent resources it names one. A topic other than an encoding is a resource
   * of a reserved group: the key that encrypts `secrets` is `secrets` in `keys.synod`, with names of keys as versions; a feature
   * is in `features.synod`, with its levels `v1`, `v2` and so on; whether `v1beta1` of the widgets of `example.io` is served is
   * `v1beta1` in `widgets.example.io.served.synod`, with the versions `served` and `withdrawn`. Entries for these vote.
   */
  resource?: GroupResource;
  /** The kind that the resource stores, as in `Deployment`; at most 63 characters. */
  kind: string;
  /** The versions that the member can decode; 1 to 64. One that stands twice counts once. */
  decodableVersions: string[];
  /** The versions that it serves; up to 64, each one decodable. */
  servedVersions: string[];
  /** It encodes this version, which must be decodable: a *fixed* entry. */
  encodingVersion?: string;
  /** It encodes what is selected, and would like this to be it, which must be decodable: a *voting* entry. */
  preferredVersion?: string;
  /**
   * The time before which nobody may withdraw a served version, in milliseconds since the Unix epoch, as a deprecation policy
   * promises it: within 1,096 days from now. For topics of served versions alone. Of all dates that were ever named for a topic
   * the latest counts. Unset: this member names none.
   */
  serveUntilMs?: bigint;
  /**
   * Where it stores the objects. The first entry that says or leaves out that it stores them outside puts in doubt what a
   * collection counts: what is stored is unknown until a migration ends that walked outside.
   */
  stored: StoredIn;
  /**
   * The other resources under whose names the same objects are stored, as `ingresses` of `extensions` and of `networking.k8s.io`
   * are; up to 7, the resource itself not among them. For resources that are encoded alone: their keys follow. What is known of
   * all names is joined, and stays so when the entry goes; see `AddEquivalents`.
   */
  equivalents: GroupResource[];
}

/** What a member says of its resources. Since 0.1. */
export interface StorageVersionsReportRequest {
  /** The exactly-once key, if the caller has a session. */
  requestId?: RequestId;
  /** Who reports. */
  member?: MemberEpoch;
  /** One entry for each resource; up to the setting `report_entries_max`, 10,000 by default. */
  entries: ReportEntry[];
  /**
   * True: these are all of the member's resources, its other entries go. False: its other entries stay. The first
   * report of an epoch replaces all in any case.
   */
  replace: boolean;
  /**
   * The place of this statement among all that the member says under its epoch, adoptions too; at least 1, counted by the
   * caller. Each new statement has a greater one than all before. One that is sent again has the same one, and is carried
   * out again if nothing came after it. Smaller than the last one taken, or the same for something else: `CONFLICT` with
   * `last_number`.
   */
  number: bigint;
}

/** The report was taken. Since 0.1. */
export interface StorageVersionsReportResponse {
  /** Who answered, and at which revision. */
  header?: ResponseHeader;
  /** False if the report said nothing new. */
  changed: boolean;
  /** For each reported resource, in the order of the report, what the member is told. */
  resources: ReportedResource[];
}

/** What a member is told of a resource that it reported, as of right after the report. Since 0.1. */
export interface ReportedResource {
  /** The resource. */
  resource?: GroupResource;
  /**
   * The version that the member's entry encodes now: what the member must encode. Unset: it votes and nothing is
   * selected; its gate stays closed.
   */
  encodingVersion?: string;
  /**
   * The version that is selected. Unset if none is. A voter whose entry encodes another one drains its permits and
   * adopts.
   */
  selectedVersion?: string;
  /** The revision at which `selected_version` last changed; 0 if it is unset. */
  selectedRevision: bigint;
  /**
   * The `selected_revision` that the entry took or adopted last. Another one than `selected_revision`: the member has yet
   * to adopt. Unset for a fixed entry, and for a voter while nothing is selected.
   */
  adoptedRevision?: bigint;
}

/** Says that a voter has taken the selected version. Since 0.1. */
export interface StorageVersionsAdoptRequest {
  /** The exactly-once key, if the caller has a session. */
  requestId?: RequestId;
  /** Who adopts. */
  member?: MemberEpoch;
  /** The resource. */
  resource?: GroupResource;
  /** The `selected_revision` whose version is adopted; at least 1. If selected has moved since: `CONFLICT`. */
  selectedRevision: bigint;
  /** The place of this statement among all that the member says under its epoch, as that of a report. */
  number: bigint;
}

/** The member's entry encodes the selected version. Since 0.1. */
export interface StorageVersionsAdoptResponse {
  /** Who answered, and at which revision. */
  header?: ResponseHeader;
  /** False if it had been adopted already. */
  changed: boolean;
}

/** Names a resource to forget. Since 0.1. */
export interface StorageVersionsForgetRequest {
  /** The exactly-once key, if the caller has a session. */
  requestId?: RequestId;
  /** The resource. */
  resource?: GroupResource;
  /**
   * Forget it only if the `resource_version` of its storage state is this one; else `CONFLICT`, with the present one in
   * the metadata. Left out: forget it in any case.
   */
  ifRevision?: bigint;
  /** True: check everything and change nothing. The answer is what would have been. */
  dryRun: boolean;
}

/** The resource is forgotten. Since 0.1. */
export interface StorageVersionsForgetResponse {
  /** Who answered, and at which revision. */
  header?: ResponseHeader;
}

/** Names the resources that are one store. Since 0.1. */
export interface StorageVersionsAddEquivalentsRequest {
  /** The exactly-once key, if the caller has a session. */
  requestId?: RequestId;
  /** The resources; 2 to 8. Each brings the names that it is known to be equivalent to. */
  resources: GroupResource[];
  /** True: check everything and change nothing. The answer is what would have been. */
  dryRun: boolean;
}

/** The resources are one store. Since 0.1. */
export interface StorageVersionsAddEquivalentsResponse {
  /** Who answered, and at which revision. */
  header?: ResponseHeader;
}

/** Names a resource that is a store of its own. Since 0.1. */
export interface StorageVersionsRemoveEquivalentRequest {
  /** The exactly-once key, if the caller has a session. */
  requestId?: RequestId;
  /** The resource. */
  resource?: GroupResource;
  /** True: check everything and change nothing. The answer is what would have been. */
  dryRun: boolean;
}

/** The resource is a store of its own. Since 0.1. */
export interface StorageVersionsRemoveEquivalentResponse {
  /** Who answered, and at which revision. */
  header?: ResponseHeader;
}

/** Names a resource to read. Since 0.1. */
export interface StorageVersionsGetRequest {
  /** The resource. */
  resource?: GroupResource;
  /** How to read; left out: linearizable. */
  read?: ReadOptions;
}

/** One resource. Since 0.1. */
export interface StorageVersionsGetResponse {
  /** Who answered, and at which revision. */
  header?: ResponseHeader;
  /** The entries and what follows from them. Unset if no member reports the resource now. */
  storageVersion?: StorageVersion;
  /** What stays when the entries go. */
  storageState?: StorageState;
  /** The log time of the state that was read, in milliseconds, to hold against the drains. */
  logTimeMs: bigint;
  /** When discovery was last looked at, as of now and not of the revision. Unset if it never was. */
  heartbeat?: Heartbeat;
  /** Why the members do not agree on the resource: every obstacle, as `CheckAgreement` of the resource names it. None: they agree. */
  reasons: Obstacle[];
}

/** When discovery was last looked at for a resource. Kept beside its state: it moves no revision. Since 0.1. */
export interface Heartbeat {
  /** The log time, in milliseconds. */
  logTimeMs: bigint;
  /** The wall time, in milliseconds since the Unix epoch: for display. */
  timeMs: bigint;
  /** True: it is longer ago than two periods, so what is stored may have changed and changed back since. */
  stale: boolean;
}

/** Asks for a page of resources. Since 0.1. */
export interface StorageVersionsListRequest {
  /** How to read; left out: linearizable. Not together with `continue_token`, which pins the revision. */
  read?: ReadOptions;
  /** True: also list resources that no member reports now and of which only the state has stayed. */
  includeUnreported: boolean;
  /** How many to return at most, at least 1; more than 5,000 counts as 5,000. Left out: 500. */
  pageSize?: number;
  /**
   * Where the page before ended, as it was given; empty for the first page. With it, `include_unreported` must be as it
   * was, else `INVALID_ARGUMENT`. A token whose revision left the window: `COMPACTED`.
   */
  continueToken: string;
  /**
   * True: the page is read at the present revision, behind what the token names, also if the token's own revision has left
   * the window, as in `ObjectsListRequest`.
   */
  continueAtPresent: boolean;
}

/** A page of resources, all at one revision. Since 0.1. */
export interface StorageVersionsListResponse {
  /** Who answered, and the revision of all pages of this list. */
  header?: ResponseHeader;
  /** The resources, ordered by group and resource. */
  items: StorageVersionListItem[];
  /** Give this to get the next page; empty at the end. */
  continueToken: string;
  /** The log time of the state that was read, in milliseconds, to hold against the drains. */
  logTimeMs: bigint;
  /** True: this page is of a later revision than the one before it, as in `ObjectsListResponse`. */
  inconsistent: boolean;
}

/** A resource in a list. Since 0.1. */
export interface StorageVersionListItem {
  /** The entries and what follows from them. Unset if no member reports the resource now. */
  storageVersion?: StorageVersion;
  /** What stays when the entries go. */
  storageState?: StorageState;
  /** Why the members do not agree on the resource: see `StorageVersionsGetResponse.reasons`. */
  reasons: Obstacle[];
}

/** Names a resource whose history to read. Since 0.1. */
export interface StorageVersionsHistoryRequest {
  /** The resource. */
  resource?: GroupResource;
  /** How to read; left out: linearizable. */
  read?: ReadOptions;
}

/** What was agreed, change by change. Since 0.1. */
export interface StorageVersionsHistoryResponse {
  /** Who answered, and at which revision. */
  header?: ResponseHeader;
  /** The changes, oldest first. The setting `agreements_kept` says how many are kept. */
  changes: AgreementChange[];
}

/** What a binary decodes and encodes of one resource. Since 0.1. */
export interface BinaryResource {
  /** The resource. A check names none twice. */
  resource?: GroupResource;
  /** The kind that it stores. A stored encoding of which only the hash is known is told by it; left out: it is not safe. */
  kind?: string;
  /** The versions that the binary decodes; up to 64. */
  decodableVersions: string[];
  /** It will encode this version, which must be decodable. */
  encodingVersion?: string;
  /** It will vote for this version, which must be decodable. */
  preferredVersion?: string;
  /**
   * True: the binary brings the resource, so it is no danger (`DANGER_REASON_NO_STATE`) that nothing is known of it. If the resource
   * is known, or a roster names it, it is judged as any other. Since 0.1.
   */
  new: boolean;
}

/** Asks whether a binary may join. Since 0.1. */
export interface StorageVersionsCheckBinaryRequest {
  /**
   * What it decodes; at least one resource, up to 10,000. This is the whole binary: of a resource that is known and neither named here nor left to
   * others it decodes nothing.
   */
  resources: BinaryResource[];
  /** How to read; left out: linearizable. */
  read?: ReadOptions;
  /**
   * The resources that other binaries look after, by scope (see `Roster.scope`); up to 1,000. They are not looked at, unless
   * they are named; those of which something is stored are named as an assumption.
   */
  leftToOthers: string[];
}

/** Whether the binary may join. Since 0.1. */
export interface StorageVersionsCheckBinaryResponse {
  /** Who answered, and at which revision. */
  header?: ResponseHeader;
  /** Whether it may: there is no danger. */
  safe: boolean;
  /** Every reason why not, up to 1,000. */
  dangers: Danger[];
  /** How many more there are. */
  omitted: number;
  /** The log time of the state that was read, in milliseconds, to hold against the drains. */
  logTimeMs: bigint;
  /** What a safe answer assumes, also while it is not safe. None: nothing. */
  assumptions: Assumption[];
}

/** What a safe answer assumes. Whoever acts on the answer vouches for it. Since 0.1. */
export interface Assumption {
  /** What kind of assumption. */
  reason: AssumptionReason;
  /** What is assumed, in words. */
  message: string;
  /** Of which resources, sorted; up to 100. */
  resources: GroupResource[];
  /** Of how many more. */
  omitted: number;
}

/** Asks whether a version may be dropped. Since 0.1. */
export interface StorageVersionsCheckDropRequest {
  /** Of which resource. */
  resource?: GroupResource;
  /** Which version. */
  version: string;
  /** How to read; left out: linearizable. */
  read?: ReadOptions;
}

/** Whether the version may be dropped. Since 0.1. */
export interface StorageVersionsCheckDropResponse {
  /** Who answered, and at which revision. */
  header?: ResponseHeader;
  /** Whether it may: there is no danger. */
  safe: boolean;
  /** Every reason why not, up to 1,000. */
  dangers: Danger[];
  /** How many more there are. */
  omitted: number;
  /** The log time of the state that was read, in milliseconds, to hold against the drains. */
  logTimeMs: bigint;
  /** What a safe answer assumes, also while it is not safe. None: nothing. */
  assumptions: Assumption[];
}

/** Why something is not safe. Since 0.1. */
export interface Danger {
  /** The resource. */
  resource?: GroupResource;
  /** What about it. */
  reason: DangerReason;
  /** The version, where the reason names one; else empty. */
  version: string;
  /** The storage-version hash, where the reason names one; else empty. */
  hash: string;
  /** The member, where the reason names one; else empty. */
  member: string;
  /** Until which log time, in milliseconds, where the reason names one; else 0. */
  untilLogTimeMs: bigint;
  /** How many, where the reason names a number; else 0. */
  count: number;
  /** The ControllerRevision as `<namespace>/<name>`, where the reason names one; else empty. */
  snapshot: string;
  /** The same in words, for people. */
  message: string;
  /** The scope of a roster (see `Roster.scope`), where the reason names one; else empty. */
  scope: string;
}

/** Asks whether the members agree. Since 0.1. */
export interface StorageVersionsCheckAgreementRequest {
  /**
   * On which resources; up to 1,000. None: on all that is known, that is each resource that a member reports, that discovery
   * shows, in which writes may still land, for which a roster asks, or that was once reported and has a collection.
   */
  resources: GroupResource[];
  /** Whether it counts as agreement that nothing at all is known. */
  allowNone: boolean;
  /** How to read; left out: linearizable. */
  read?: ReadOptions;
}

/** Whether the members agree. Since 0.1. */
export interface StorageVersionsCheckAgreementResponse {
  /** Who answered, and at which revision. */
  header?: ResponseHeader;
  /** Whether they do: there is no obstacle. */
  agreed: boolean;
  /** The obstacles that concern the whole cluster, up to 1,000. */
  obstacles: Obstacle[];
  /** The resources in question, up to 1,000: first those without an agreement, each part by group and resource. */
  resources: ResourceAgreement[];
  /** How many more obstacles of the cluster and resources there are. */
  omitted: number;
  /**
   * The resources that do not count, sorted, up to 1,000: of which only what was known before has stayed. Empty if resources
   * were named.
   */
  leftOver: GroupResource[];
  /** How many more there are. */
  leftOverOmitted: number;
  /** The assumptions of a positive answer, also while it is negative. None: nothing. */
  assumptions: Assumption[];
}

/** Whether the members agree on one resource. Since 0.1. */
export interface ResourceAgreement {
  /** The resource. */
  resource?: GroupResource;
  /** Whether they do: there is no obstacle. */
  agreed: boolean;
  /** The version that they agree on. Unset: none, or discovery alone shows the encoding. */
  agreedVersion?: string;
  /** The storage-version hash that discovery shows while no member reports the resource. Unset: none. */
  agreedHash?: string;
  /** Every obstacle. */
  obstacles: Obstacle[];
}

/** An obstacle to an agreement. Since 0.1. */
export interface Obstacle {
  /** The kind of obstacle. */
  reason: ObstacleReason;
  /** The same in words, for people. */
  message: string;
  /** The members that it concerns, where it concerns some, by version where the reason has versions; up to 16 members. */
  groups: ObstacleGroup[];
  /** How many more members it concerns. */
  omitted: number;
  /** The storage-version hashes, where the reason names some, sorted, up to 16. */
  hashes: string[];
  /** Whether the observation has expired, where the reason is that it contradicts the members. */
  expired: boolean;
  /** The scope of a roster (see `Roster.scope`), where the reason names one; else empty. */
  scope: string;
  /** The known resource with the most similar name, where the resource is unknown and one is similar. */
  nearest?: GroupResource;
  /** The selected version, where the reason names one; else empty. */
  selectedVersion: string;
  /** The revision that selected it, where the reason names one; else 0. */
  selectedRevision: bigint;
  /** The members that are missing by the roster, where the reason is that some are. */
  absent?: AbsentMembers;
}

/** Members that an obstacle concerns in the same way. Since 0.1. */
export interface ObstacleGroup {
  /** The version that they encode or vote for, where the reason has versions; else empty. */
  version: string;
  /** Their ids, sorted. */
  members: string[];
}

/** Asks whether an upgrade may go on. Since 0.1. */
export interface StorageVersionsCheckUpgradeRequest {
  /** How to read; left out: linearizable. */
  read?: ReadOptions;
}

/** Whether an upgrade may go on. Since 0.1. */
export interface StorageVersionsCheckUpgradeResponse {
  /** Who answered, and at which revision. */
  header?: ResponseHeader;
  /** Whether it may: there is no obstacle. */
  mayGoOn: boolean;
  /** The answer in one sentence, for people. */
  message: string;
  /** Every obstacle, the worst first, in the order of the numbers of their reasons; up to 64. */
  obstacles: UpgradeObstacle[];
  /** How many more there are. */
  omitted: number;
  /** The assumptions of a positive answer, also while it is negative. None: nothing. */
  assumptions: Assumption[];
  /**
   * Whether it is known which members are about to expire: only the leader knows it, and only of the present revision. False: no
   * obstacle says `EXPIRING`.
   */
  expiringKnown: boolean;
}

/** An obstacle to an upgrade. Since 0.1. */
export interface UpgradeObstacle {
  /** The kind of obstacle. */
  reason: UpgradeReason;
  /** The same in words, for people. */
  message: string;
  /** A command that shows more or helps, for a shell. */
  command: string;
  /** The resource that it concerns. Unset: the whole cluster. */
  resource?: GroupResource;
  /** The members that it concerns, sorted; up to 16. */
  members: string[];
  /** How many more members it concerns. */
  omitted: number;
  /** The obstacle to the agreement, where the reason is one. */
  agreement?: Obstacle;
  /** The alarm, where the reason is one. */
  alarm?: Alarm;
  /** The name of the migration, where the reason names one; else empty. */
  migration: string;
  /** The worker that has claimed the migration, as it calls itself, where one has; else empty. */
  worker: string;
  /** The version, where the reason names one: what drains, or what a migration writes. Else empty. */
  version: string;
  /** The storage-version hash, where only that is known; else empty. */
  hash: string;
  /** How long it lasts still, in milliseconds of log time, where the reason says so; else 0. */
  remainingMs: bigint;
}

/** The rewriting of every stored object of a resource in one encoding. What it is for is pinned. Since 0.1. */
export interface Migration {
  /** Name (`<resource>.<group>-<revision>`, for the core group `<resource>-<revision>`), uid and revisions. */
  metadata?: Metadata;
  /** The resource. */
  resource?: GroupResource;
  /** The storage-version hash of what every object is to be encoded in. */
  targetHash: string;
  /** Its version. Unset if it was observed only. */
  targetVersion?: string;
  /** The agreement that it carries out. */
  agreementRevision: bigint;
  /** Why there is one. */
  reason: MigrationReason;
  /** Where it stands. */
  phase: MigrationPhase;
  /** Who works at it. Set while it is running. */
  claim?: MigrationClaim;
  /** How often a worker gave up since it was created, or retried by hand. */
  failures: number;
  /** Why a worker gave up last. Unset if none did, and when it succeeded. */
  failure?: MigrationFailure;
  /** Why it was called off. Unset unless it was. */
  aborted: AbortCause;
  /** Objects done, as last shown: at most once in 5 seconds of log time. `MigrationProgress` beside it is exact. */
  done: bigint;
  /** Objects there may be in all, as last shown. Unset: the worker cannot tell. */
  estimate?: bigint;
  /** When it succeeded, failed or was aborted, in milliseconds since the Unix epoch: for display. Unset before that. */
  endTimeMs?: bigint;
  /** The first of `assumptions`, for older clients; `UNSPECIFIED` if there is none. */
  assumption: AssumptionReason;
  /** The alias that it was started under. Unset if it has none. */
  alias?: string;
  /** What its success rests on beside what is known, each once. None: on nothing, or it has not succeeded. */
  assumptions: AssumptionReason[];
  /** The other names of the same store, sorted. A worker of any of them works at it. Since 0.1. */
  equivalents: GroupResource[];
}

/** Who works at a migration. Since 0.1. */
export interface MigrationClaim {
  /** The worker, as it calls itself. */
  worker: string;
  /** The revision of its claim: its fencing token. */
  token: bigint;
  /** How long it may be silent, in milliseconds of log time. */
  ttlMs: bigint;
  /** True: a fence in the store refuses its rewrites once another fenced worker has raised it. */
  fenced: boolean;
  /** The log time of the claim, in milliseconds. Unset: it is from before machine version 3. */
  sinceLogTimeMs?: bigint;
  /** What it walks. Unspecified: it is from before machine version 3. */
  walks: Walk;
}

/** Why a worker gave up. Since 0.1. */
export interface MigrationFailure {
  /** What kind of failure it is. */
  class: FailureClass;
  /** What happened, for people; may be empty. */
  reason: string;
}

/** How far a migration is, as its worker last said. Kept beside the migration: it moves no revision. Since 0.1. */
export interface MigrationProgress {
  /** Objects done. */
  done: bigint;
  /** Objects there may be in all. Unset: the worker cannot tell. */
  estimate?: bigint;
  /** Where the next worker goes on, up to 8 KiB of printable text; empty at the start. */
  continueToken: string;
}

/** A worker's claim, as it shows it. Since 0.1. */
export interface ClaimKey {
  /** The name of the migration. */
  migration: string;
  /** The token that the claim answered; at least 1. */
  token: bigint;
  /**
   * The cluster that gave it. If set and not the cluster that is asked: `STALE_EPOCH`; the number means something else
   * there.
   */
  clusterId: string;
}

/** Names a migration to read. Since 0.1. */
export interface MigrationsGetRequest {
  /** The name of the migration, or its alias. */
  name: string;
  /** How to read; left out: linearizable. */
  read?: ReadOptions;
}

/** One migration. Since 0.1. */
export interface MigrationsGetResponse {
  /** Who answered, and at which revision. */
  header?: ResponseHeader;
  /** The migration. */
  migration?: Migration;
  /** How far it is, as of now and not of the revision. Unset before a worker has said anything. */
  progress?: MigrationProgress;
}

/** Asks for a page of migrations. Since 0.1. */
export interface MigrationsListRequest {
  /** How to read; left out: linearizable. Not together with `continue_token`, which pins the revision. */
  read?: ReadOptions;
  /** How many to return at most, at least 1; more than 5,000 counts as 5,000. Left out: 500. */
  pageSize?: number;
  /**
   * Where the page before ended, as it was given; empty for the first page. A token whose revision left the window:
   * `COMPACTED`.
   */
  continueToken: string;
  /**
   * True: the page is read at the present revision, behind what the token names, also if the token's own revision has left
   * the window, as in `ObjectsListRequest`.
   */
  continueAtPresent: boolean;
}

/** A page of migrations, all at one revision. Since 0.1. */
export interface MigrationsListResponse {
  /** Who answered, and the revision of all pages of this list. */
  header?: ResponseHeader;
  /** The migrations, ordered by resource, the oldest of each first. */
  migrations: Migration[];
  /** Give this to get the next page; empty at the end. */
  continueToken: string;
  /** True: this page is of a later revision than the one before it, as in `ObjectsListResponse`. */
  inconsistent: boolean;
}

/** Asks for a migration. Since 0.1. */
export interface MigrationsStartRequest {
  /** The exactly-once key, if the caller has a session. */
  requestId?: RequestId;
  /** What to migrate. */
  resource?: GroupResource;
  /** Why: manual or rewrite-all. */
  reason: MigrationReason;
  /** True: check everything and change nothing. The answer is what would have been. */
  dryRun: boolean;
  /**
   * A name of one's own for the migration: a DNS-1123 subdomain of up to 253 bytes that does not end with `-` and a number, as
   * the names that are given here do. No two migrations have the same one. Left out: none.
   */
  alias?: string;
}

/** The migration was created. Since 0.1. */
export interface MigrationsStartResponse {
  /** Who answered, and at which revision. */
  header?: ResponseHeader;
  /** The name of the migration. */
  name: string;
}

/** Asks for a migration to work at. Since 0.1. */
export interface MigrationsClaimRequest {
  /** The exactly-once key, if the caller has a session. */
  requestId?: RequestId;
  /** The name of the migration. */
  name: string;
  /** What the worker calls itself; 1 to 253 bytes of printable text. */
  worker: string;
  /** How long the worker may be silent, in milliseconds of log time; 1,000 to 86,400,000. Left out: 15,000. */
  ttlMs?: bigint;
  /**
   * True: before it lists, the worker raises a fence in the store, which refuses the rewrites of every fenced worker before it.
   * So it need not wait for theirs.
   */
  fenced: boolean;
  /**
   * What the worker walks. It is refused with `CONFLICT`, and with the walk that is needed in the metadata `walk`, where it
   * leaves out a place in which objects may be stored in another version. A walk of another place than that of the worker
   * before it begins at the first key.
   */
  walks: Walk;
}

/** The migration is the worker's. Since 0.1. */
export interface MigrationsClaimResponse {
  /** Who answered, and at which revision. */
  header?: ResponseHeader;
  /** The worker's fencing token. */
  token: bigint;
  /** Where the worker before it stood. */
  progress?: MigrationProgress;
}

/** Says how far a migration is. Since 0.1. */
export interface MigrationsProgressRequest {
  /** The exactly-once key, if the caller has a session. */
  requestId?: RequestId;
  /** The claim. */
  claim?: ClaimKey;
  /** How far; left out: nothing done yet. */
  progress?: MigrationProgress;
}

/** It is noted, and the claim is kept. Since 0.1. */
export interface MigrationsProgressResponse {
  /** Who answered, and at which revision. */
  header?: ResponseHeader;
  /** Whether the migration shows it now. */
  changed: boolean;
}

/** Says that a migration is done. Since 0.1. */
export interface MigrationsCompleteRequest {
  /** The exactly-once key, if the caller has a session. */
  requestId?: RequestId;
  /** The claim. */
  claim?: ClaimKey;
}

/** The migration succeeded. Since 0.1. */
export interface MigrationsCompleteResponse {
  /** Who answered, and at which revision. */
  header?: ResponseHeader;
  /** What that rests on beside what is known. None: nothing. */
  assumptions: Assumption[];
}

/** Gives a migration up. Since 0.1. */
export interface MigrationsFailRequest {
  /** The exactly-once key, if the caller has a session. */
  requestId?: RequestId;
  /** The claim. */
  claim?: ClaimKey;
  /** Whether trying again can help. */
  class: FailureClass;
  /** What happened, for people; up to 4 KiB of printable text. */
  reason: string;
  /** What the worker says of its rewrites. What may still land drains, as after `Release`. */
  stop: WorkerStop;
}

/** The migration failed. Since 0.1. */
export interface MigrationsFailResponse {
  /** Who answered, and at which revision. */
  header?: ResponseHeader;
}

/** Gives a claim back. Since 0.1. */
export interface MigrationsReleaseRequest {
  /** The exactly-once key, if the caller has a session. */
  requestId?: RequestId;
  /** The claim. */
  claim?: ClaimKey;
  /**
   * What the worker says of its rewrites. `ALL_ANSWERED`: nothing drains; said of a claim that has ended, it lifts its drain.
   * `SOME_UNANSWERED`: the migration's target drains for `write_grace`. Left out: for as long as the worker may go on, too.
   */
  stop: WorkerStop;
}

/** The migration waits for another worker. Since 0.1. */
export interface MigrationsReleaseResponse {
  /** Who answered, and at which revision. */
  header?: ResponseHeader;
}

/** Calls a migration off. Since 0.1. */
export interface MigrationsAbortRequest {
  /** The exactly-once key, if the caller has a session. */
  requestId?: RequestId;
  /** The name of the migration. */
  name: string;
  /** True: check everything and change nothing. The answer is what would have been. */
  dryRun: boolean;
}

/** The migration is aborted. Since 0.1. */
export interface MigrationsAbortResponse {
  /** Who answered, and at which revision. */
  header?: ResponseHeader;
}

/** Names a migration to delete. Since 0.1. */
export interface MigrationsDeleteRequest {
  /** The exactly-once key, if the caller has a session. */
  requestId?: RequestId;
  /** The name of the migration. */
  name: string;
  /** Which migration it must still be; left out: whichever there is. */
  preconditions?: Preconditions;
  /** True: check everything and change nothing. */
  dryRun: boolean;
}

/** The migration is deleted. Since 0.1. */
export interface MigrationsDeleteResponse {
  /** Who answered, and at which revision. */
  header?: ResponseHeader;
}

/** Has a failed migration tried again. Since 0.1. */
export interface MigrationsRetryRequest {
  /** The exactly-once key, if the caller has a session. */
  requestId?: RequestId;
  /** The name of the migration. */
  name: string;
  /** True: check everything and change nothing. The answer is what would have been. */
  dryRun: boolean;
}

/** The migration is pending. Since 0.1. */
export interface MigrationsRetryResponse {
  /** Who answered, and at which revision. */
  header?: ResponseHeader;
}

/** Says what discovery shows of a resource. Since 0.1. */
export interface MigrationsObserveRequest {
  /** The exactly-once key, if the caller has a session. */
  requestId?: RequestId;
  /** The resource. */
  resource?: GroupResource;
  /** The storage-version hashes that its servers show, none twice: one if they agree, up to 16 if they do not. */
  hashes: string[];
  /** The kind that it stores, as discovery says it, so that versions can be told from hashes. Left out: not known. */
  kind?: string;
  /**
   * Take it only if the `resource_version` of the resource's storage state is this one, 0 if it has none: what the observer
   * has read before it looked. Else `CONFLICT`, with the present one in the metadata: look again, or an older look would
   * take away what was learned since. Left out: take it in any case.
   */
  ifRevision?: bigint;
  /**
   * The name of the observer, up to 253 bytes. Then `hashes` stays empty, and `servers` is given. Left out: an observer without
   * a name, which has reached every server. Since 0.1.
   */
  observer?: string;
  /** The servers that a named observer has reached, up to 32. What others showed when it last reached them stays. Since 0.1. */
  servers: ServerLook[];
}

/** It is noted. Since 0.1. */
export interface MigrationsObserveResponse {
  /** Who answered, and at which revision. */
  header?: ResponseHeader;
  /** False if nothing but the time of the last look is new. */
  changed: boolean;
}

/** Ends what looks have shown. Since 0.1. */
export interface MigrationsDismissRequest {
  /** The exactly-once key, if the caller has a session. */
  requestId?: RequestId;
  /** The resource. */
  resource?: GroupResource;
  /** The observer whose look ends. Left out: every observer's. */
  observer?: string;
  /** The server, by the name that observers use. Left out: all servers, of observers without a name too. */
  server?: string;
  /** True: check everything and change nothing. The answer is what would have been. */
  dryRun: boolean;
}

/** It is ended. Since 0.1. */
export interface MigrationsDismissResponse {
  /** Who answered, and at which revision. */
  header?: ResponseHeader;
  /** False if there was nothing to end. */
  changed: boolean;
}

/** Forgets what is known of the store. Since 0.1. */
export interface MigrationsResetRequest {
  /** The exactly-once key, if the caller has a session. */
  requestId?: RequestId;
  /** Of which resource. Left out: of every one. */
  resource?: GroupResource;
  /** True: check everything and change nothing. The answer is what would have been. */
  dryRun: boolean;
}

/** It is forgotten. Since 0.1. */
export interface MigrationsResetResponse {
  /** Who answered, and at which revision. */
  header?: ResponseHeader;
  /** False if there was nothing to forget. */
  changed: boolean;
}

/** What a client sends at a time. Since 0.1. */
export interface PipelineOpenRequest {
  /** Calls; each starts in this order and may overtake earlier ones. */
  calls: PipelineCall[];
  /**
   * Numbers of calls that are no longer wanted: a watch ends, any other call is given up as if its connection had broken.
   * Each is answered with the code CANCELLED, unless its last answer is already on its way.
   */
  cancel: bigint[];
}

/** One call. Since 0.1. */
export interface PipelineCall {
  /** A number that no other unanswered call of this stream has. */
  number: bigint;
  /**
   * The method as a gRPC path without the leading slash: `synod.v1.Objects/Update`. All methods of this protocol but
   * `Pipeline/Open` can be called. `Watch/Watch` is answered by many messages. A renewal (`Membership/Renew`,
   * `Leases/Renew`) is one request and one answer here.
   */
  method: string;
  /** The encoded request of that method. */
  message: Uint8Array;
  /** How long the caller waits, in milliseconds; up to 60,000. Left out: 10,000. For a watch it bounds only the opening. */
  timeoutMs?: number;
  /** The name of the call in the logs; up to 128 bytes. Empty: the replica makes one. */
  requestId: string;
  /**
   * The caller's span, below which the replica makes its own if it makes any: a `traceparent` of the W3C, as in the header of
   * a call outside of a pipeline. Empty, or not of that form: none.
   */
  traceparent: string;
  /**
   * What vendors of traces say to each other of that span: a `tracestate` of the W3C, as in the header of a call outside of a
   * pipeline; up to 512 bytes. The replica's spans show it. Empty, longer, or not of that form: nothing. Since 0.1.
   */
  tracestate: string;
}

/** What a replica sends at a time. Since 0.1. */
export interface PipelineOpenResponse {
  /** Answers, in the order in which they were ready. The messages of one watch are in their order. */
  answers: PipelineAnswer[];
}

/** An answer to a call, or one message of several watches. Since 0.1. */
export interface PipelineAnswer {
  /** The calls that this answers: one, or all watches of this stream that deliver this message. */
  numbers: bigint[];
  /**
   * The encoded response of the method. It is the only one, except that a watch goes on until `WatchResponse.ended` or
   * `.compacted`.
   */
  message?: Uint8Array;
  /**
   * The call failed: an encoded `google.rpc.Status`, with the details that a call outside of a pipeline has in the
   * trailer `grpc-status-details-bin`.
   */
  status?: Uint8Array;
}

/** Asks for a session. Since 0.1. */
export interface SessionsOpenRequest {
}

/** A new session. Since 0.1. */
export interface SessionsOpenResponse {
  /** Who answered, and at which revision. */
  header?: ResponseHeader;
  /** The session's id: the revision of the command that opened it. */
  session: bigint;
  /** The session ends when it was not used for this long, in milliseconds of log time. */
  ttlMs: bigint;
  /** How many outcomes are kept for it. A request whose sequence is this much above the lowest kept one is refused. */
  outcomesMax: number;
}

/** Names the session to end. Since 0.1. */
export interface SessionsCloseRequest {
  /** The session, as `Open` gave it. */
  session: bigint;
  /** The cluster that gave it. If set and not the cluster that is asked: `REQUEST_EXPIRED`. */
  clusterId: string;
}

/** The session is gone. Since 0.1. */
export interface SessionsCloseResponse {
  /** Who answered, and at which revision. */
  header?: ResponseHeader;
  /** False if there was no such session (any more): nothing changed. */
  changed: boolean;
}

/** Asks what became of one request. An unknown session, or a sequence that was forgotten: `REQUEST_EXPIRED`. Since 0.1. */
export interface SessionsGetOutcomeRequest {
  /** The session, as `Open` gave it. */
  session: bigint;
  /** The sequence of the request; at least 1. */
  sequence: bigint;
  /** The cluster that gave the session. If set and not the cluster that is asked: `REQUEST_EXPIRED`. */
  clusterId: string;
}

/** What became of the request. Since 0.1. */
export interface SessionsGetOutcomeResponse {
  /** Who answered, and at which revision. */
  header?: ResponseHeader;
  /**
   * The outcome. Unset: as of `header.revision` the request was not executed. It may still be while an attempt is on
   * its way; sending it again under the same id is safe.
   */
  outcome?: RecordedOutcome;
}

/** What is kept of a request that was executed. Since 0.1. */
export interface RecordedOutcome {
  /** The revision of the store right after the request. */
  revision: bigint;
  /** Whether the request changed anything. */
  changed: boolean;
  /** A rule refused the request. The current object is not kept. */
  refusal?: Refusal;
  /** A member was let in. */
  joined?: JoinedAnswer;
  /** A report was taken. */
  reported?: ReportedAnswer;
  /** A collection or an object was written or deleted. */
  object?: OperationResult;
  /** A transaction was decided. */
  transacted?: TransactedAnswer;
  /** What a controller wants stands in its history. */
  controllerRevision?: ControllerRevisionAnswer;
  /** Something was done to a history. */
  controllerHistory?: ControllerHistoryAnswer;
  /** A lease was given. */
  leaseHeld?: LeaseHeld;
  /** A place in the queue for a lease was given; the number is its ticket. */
  leaseQueued?: bigint;
  /** The name of the migration that was created. */
  migrationStarted?: string;
  /** A migration was claimed. */
  migrationClaimed?: ClaimedAnswer;
  /** A migration has succeeded. */
  migrationCompleted?: CompletedAnswer;
}

/** What a claim of a migration was answered. Since 0.1. */
export interface ClaimedAnswer {
  /** The worker's fencing token. */
  token: bigint;
  /** Where the worker before it stood. */
  progress?: MigrationProgress;
}

/** A migration has succeeded. Since 0.1. */
export interface CompletedAnswer {
  /** The first of `assumptions`, for older clients; `UNSPECIFIED` if there is none. */
  assumption: AssumptionReason;
  /** What that rests on beside what is known, each once. None: on nothing. */
  assumptions: AssumptionReason[];
}

/** What a join was answered. Since 0.1. */
export interface JoinedAnswer {
  /** The epoch that the member got. */
  epoch: bigint;
  /** The TTL that counts, in milliseconds. */
  ttlMs: bigint;
}

/** What a transaction was answered. What it read is not kept. Since 0.1. */
export interface TransactedAnswer {
  /** Whether all compares held, and the operations were carried out. */
  succeeded: boolean;
  /** One for each operation, in order. */
  results: OperationResult[];
}

/** What a report was answered. Since 0.1. */
export interface ReportedAnswer {
  /** For each reported resource, in the order of the report, what the member was told. */
  resources: ReportedResource[];
}

/** What to watch, and from where. Since 0.1. */
export interface WatchRequest {
  /**
   * The first revision to deliver: at least 1. Left out: what comes after the newest revision at the time of the call.
   * One more than the newest revision is the next to come; more than that: `FUTURE_REVISION`. If the filter names only kinds of
   * the upgrade history, older revisions can be given than otherwise: see `ObjectKind`.
   */
  fromRevision?: bigint;
  /** Which events to deliver; left out: all. */
  filter?: WatchFilter;
  /** How often to send a bookmark when there is nothing else to send, in milliseconds; 1,000 to 30,000. Left out: 10,000. */
  bookmarkIntervalMs?: number;
  /**
   * The cluster that `from_revision` came from. If set and not the cluster that is asked, the answer is `compacted`:
   * its revisions mean something else.
   */
  clusterId: string;
}

/**
 * Which events pass: those that pass every field. An object that begins to have the labels is delivered as added, one that
 * ceases to have them as removed. Since 0.1.
 */
export interface WatchFilter {
  /** Only objects of these kinds; empty: of all kinds. */
  kinds: ObjectKind[];
  /** Only objects of these names; up to 1,000; empty: of all names. */
  names: string[];
  /** Only objects that have all of these labels; up to 64. An object without labels passes only if this is empty. */
  labels: Record<string, string>;
  /**
   * Only objects of these collections; up to 64; empty: of all. What is no object of a collection passes only if this is
   * empty.
   */
  resources: GroupResource[];
  /** Only objects of these namespaces; up to 1,000; empty: of all. What has no namespace passes only if this is empty. */
  namespaces: string[];
  /** Only objects whose labels match, as in `ObjectsListRequest`; empty: all. */
  labelSelector: string;
  /**
   * Only objects whose fields match, as in `ObjectsListRequest`; empty: all. What is no object of a collection passes only
   * if this is empty.
   */
  fieldSelector: string;
}

/** One message of a watch. Since 0.1. */
export interface WatchResponse {
  /** Something changed. */
  events?: WatchEvents;
  /** Nothing more up to a revision. */
  bookmark?: WatchBookmark;
  /** `from_revision` is below what is kept. The stream ends after this message: list again. */
  compacted?: WatchCompacted;
  /** The replica ends the stream. Open another one from `resume_revision`, on any replica. */
  ended?: WatchEnded;
}

/** The events of one revision, or a fragment of them. Since 0.1. */
export interface WatchEvents {
  /** The revision. */
  revision: bigint;
  /** What it changed, as far as it passed the filter. */
  events: Event[];
  /**
   * True: more events of this revision follow in the next message. To resume in between, ask for this revision again
   * and drop what was there already.
   */
  moreFragments: boolean;
  /**
   * When the revision was made, in milliseconds since the Unix epoch by the leader's wall clock: for display. The clock of a
   * later revision can be behind it. Unset: an older machine version made the revision.
   */
  timeMs?: bigint;
  /**
   * The proved identity of the caller whose change made the revision; at most 512 bytes. It is sent only to callers that hold
   * the right to operate. Unset as well: the replicas made the change themselves, the caller proved nothing, or an older
   * machine version made the revision.
   */
  caller?: string;
}

/** All events up to a revision that pass the filter have been delivered. Since 0.1. */
export interface WatchBookmark {
  /** The revision. Resume from the next one. */
  revision: bigint;
  /** The cluster that answers. */
  clusterId: string;
  /** The replica that answers. */
  replicaId: bigint;
}

/** The history that was asked for is gone. Since 0.1. */
export interface WatchCompacted {
  /** The oldest `from_revision` that can be used. */
  oldestRevision: bigint;
  /** The newest revision there is. */
  currentRevision: bigint;
}

/** The replica ended the stream. Since 0.1. */
export interface WatchEnded {
  /** The first revision that was not delivered in full. */
  resumeRevision: bigint;
  /** Why. */
  reason: WatchEndReason;
}

/** One object changed. Since 0.1. */
export interface Event {
  /** What happened. */
  type: EventType;
  /** The kind of the object. */
  kind: ObjectKind;
  /** The name of the object. */
  name: string;
  /** A member. */
  member?: Member;
  /** A storage version: what changed of its entries, and all that follows from them. */
  storageVersion?: StorageVersionChange;
  /** A storage state. */
  storageState?: StorageState;
  /** The settings. */
  settings?: Settings;
  /** A collection. */
  collection?: Collection;
  /** An object of a collection. */
  storedObject?: Object;
  /** A ControllerRevision. */
  controllerRevision?: ControllerRevision;
  /** A lease. */
  lease?: Lease;
  /** A candidate for a lease. */
  leaseCandidate?: LeaseCandidate;
  /** A migration. */
  migration?: Migration;
  /** A roster. */
  roster?: Roster;
  /** The namespace of the object; empty if it has none. */
  namespace: string;
  /** The resource of an object of a collection. Unset for every other kind. */
  resource?: GroupResource;
}

/**
 * A storage version after a change. Of the entries it carries only those that changed; the others are as they were.
 * Since 0.1.
 */
export interface StorageVersionChange {
  /** Name, uid and revisions of the storage version. */
  metadata?: Metadata;
  /** The resource. */
  resource?: GroupResource;
  /** The entries that are new or changed, ordered by member. If the storage version was created: all of them. */
  changedEntries: StorageVersionEntry[];
  /** The members whose entries are gone, sorted. */
  removedMembers: string[];
  /** What follows from all entries, changed or not; if the storage version is gone, as it was last. */
  status?: StorageVersionStatus;
}
