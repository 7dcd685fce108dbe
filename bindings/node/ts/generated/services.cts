// Generated from the protocol. To write it again: UPDATE_GOLDEN=1 cargo test -p synod-bound generated

import type { CallOptions, Caller } from '../call.cjs';
import type { Init } from '../values.cjs';
import type * as v1 from './messages.cjs';

/**
 * The cluster itself: its replicas and its replicated settings.
 *
 * A change of the replica set is brought to the leader, whichever replica is asked. Asked again after it was carried out, it
 * changes nothing, so it needs no request id. Since 0.1.
 */
export class ClusterService {
  readonly #caller: Caller;

  /** @internal */
  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** Says how the cluster does, as the replica that is asked sees it: no quorum is needed. Since 0.1. */
  status(request: Init<v1.ClusterStatusRequest> = {}, options: CallOptions = {}): Promise<v1.ClusterStatusResponse> {
    return this.#caller.call('synod.v1.Cluster/Status', 'ClusterStatusRequest', 'ClusterStatusResponse', request, options);
  }

  /** Reads the settings. Since 0.1. */
  getSettings(request: Init<v1.ClusterGetSettingsRequest> = {}, options: CallOptions = {}): Promise<v1.ClusterGetSettingsResponse> {
    return this.#caller.call('synod.v1.Cluster/GetSettings', 'ClusterGetSettingsRequest', 'ClusterGetSettingsResponse', request, options);
  }

  /**
   * Finds the newest kept revision that was made at or before a time. `COMPACTED`: every kept revision was made later, or
   * before times were kept. Since 0.1.
   */
  revisionAt(request: Init<v1.ClusterRevisionAtRequest> = {}, options: CallOptions = {}): Promise<v1.ClusterRevisionAtResponse> {
    return this.#caller.call('synod.v1.Cluster/RevisionAt', 'ClusterRevisionAtRequest', 'ClusterRevisionAtResponse', request, options);
  }

  /** Changes settings. Since 0.1. */
  updateSettings(request: Init<v1.ClusterUpdateSettingsRequest> = {}, options: CallOptions = {}): Promise<v1.ClusterUpdateSettingsResponse> {
    return this.#caller.call('synod.v1.Cluster/UpdateSettings', 'ClusterUpdateSettingsRequest', 'ClusterUpdateSettingsResponse', request, options);
  }

  /**
   * Adds a fresh replica, which was started to join and has an empty data directory. It becomes a learner: it follows the
   * log, serves reads, and does not count for the quorum. `ALREADY_EXISTS`: its id is taken, or was that of a
   * replica that has left. `UNAVAILABLE`: it does not answer. Since 0.1.
   */
  addReplica(request: Init<v1.ClusterAddReplicaRequest> = {}, options: CallOptions = {}): Promise<v1.ClusterAddReplicaResponse> {
    return this.#caller.call('synod.v1.Cluster/AddReplica', 'ClusterAddReplicaRequest', 'ClusterAddReplicaResponse', request, options);
  }

  /**
   * Makes a learner a voter as soon as it has caught up; with `replaces_id`, another replica leaves the set in the same
   * change. `NOT_FOUND`: there is no such replica. `UNAVAILABLE`: it has not caught up within the deadline. `CONFLICT`: the
   * new set would have no majority that answers. Since 0.1.
   */
  promoteReplica(request: Init<v1.ClusterPromoteReplicaRequest> = {}, options: CallOptions = {}): Promise<v1.ClusterPromoteReplicaResponse> {
    return this.#caller.call('synod.v1.Cluster/PromoteReplica', 'ClusterPromoteReplicaRequest', 'ClusterPromoteReplicaResponse', request, options);
  }

  /**
   * Lets a replica leave the set, for good: it ends, and nobody gets its id again. A leader hands the leadership over
   * first. `CONFLICT`: it is the last voter, or the others would have no majority that answers. Since 0.1.
   */
  removeReplica(request: Init<v1.ClusterRemoveReplicaRequest> = {}, options: CallOptions = {}): Promise<v1.ClusterRemoveReplicaResponse> {
    return this.#caller.call('synod.v1.Cluster/RemoveReplica', 'ClusterRemoveReplicaRequest', 'ClusterRemoveReplicaResponse', request, options);
  }

  /** Hands the leadership to another voter, and answers when it leads. `CONFLICT`: there is no such voter. Since 0.1. */
  transferLeader(request: Init<v1.ClusterTransferLeaderRequest> = {}, options: CallOptions = {}): Promise<v1.ClusterTransferLeaderResponse> {
    return this.#caller.call('synod.v1.Cluster/TransferLeader', 'ClusterTransferLeaderRequest', 'ClusterTransferLeaderResponse', request, options);
  }

  /** Lets the replica that is asked write a checkpoint of its state, and answers when it is on disk. Since 0.1. */
  checkpoint(request: Init<v1.ClusterCheckpointRequest> = {}, options: CallOptions = {}): Promise<v1.ClusterCheckpointResponse> {
    return this.#caller.call('synod.v1.Cluster/Checkpoint', 'ClusterCheckpointRequest', 'ClusterCheckpointResponse', request, options);
  }

  /** Says which events the process of the replica that is asked logs: no quorum is needed. Since 0.1. */
  getLogFilter(request: Init<v1.ClusterGetLogFilterRequest> = {}, options: CallOptions = {}): Promise<v1.ClusterGetLogFilterResponse> {
    return this.#caller.call('synod.v1.Cluster/GetLogFilter', 'ClusterGetLogFilterRequest', 'ClusterGetLogFilterResponse', request, options);
  }

  /**
   * Has the process of the replica that is asked log other events for a while. No other replica is asked, and nothing is
   * replicated. Since 0.1.
   */
  setLogFilter(request: Init<v1.ClusterSetLogFilterRequest> = {}, options: CallOptions = {}): Promise<v1.ClusterSetLogFilterResponse> {
    return this.#caller.call('synod.v1.Cluster/SetLogFilter', 'ClusterSetLogFilterRequest', 'ClusterSetLogFilterResponse', request, options);
  }

  /**
   * Tells what the replica that is asked knows of itself and says nowhere else in this protocol: no quorum is needed.
   * Since 0.1.
   */
  getDiagnostics(request: Init<v1.ClusterGetDiagnosticsRequest> = {}, options: CallOptions = {}): Promise<v1.ClusterGetDiagnosticsResponse> {
    return this.#caller.call('synod.v1.Cluster/GetDiagnostics', 'ClusterGetDiagnosticsRequest', 'ClusterGetDiagnosticsResponse', request, options);
  }
}

/**
 * Members are the API servers that take part. A member is kept by renewing; one that does not renew is expired, and
 * with it goes all that hangs on it, at one revision. Since 0.1.
 */
export class MembershipService {
  readonly #caller: Caller;

  /** @internal */
  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** Lets a member in, or replaces the one that holds the id. Since 0.1. */
  join(request: Init<v1.MembershipJoinRequest> = {}, options: CallOptions = {}): Promise<v1.MembershipJoinResponse> {
    return this.#caller.call('synod.v1.Membership/Join', 'MembershipJoinRequest', 'MembershipJoinResponse', request, options);
  }

  /** Moves a member from joining to ready. Since 0.1. */
  ready(request: Init<v1.MembershipReadyRequest> = {}, options: CallOptions = {}): Promise<v1.MembershipReadyResponse> {
    return this.#caller.call('synod.v1.Membership/Ready', 'MembershipReadyRequest', 'MembershipReadyResponse', request, options);
  }

  /** Removes a member and all that hangs on it, at once: at its own request, or because somebody else evicts it. Since 0.1. */
  leave(request: Init<v1.MembershipLeaveRequest> = {}, options: CallOptions = {}): Promise<v1.MembershipLeaveResponse> {
    return this.#caller.call('synod.v1.Membership/Leave', 'MembershipLeaveRequest', 'MembershipLeaveResponse', request, options);
  }

  /** Reads one member. Since 0.1. */
  get(request: Init<v1.MembershipGetRequest> = {}, options: CallOptions = {}): Promise<v1.MembershipGetResponse> {
    return this.#caller.call('synod.v1.Membership/Get', 'MembershipGetRequest', 'MembershipGetResponse', request, options);
  }

  /** Reads all members, ordered by id. Since 0.1. */
  list(request: Init<v1.MembershipListRequest> = {}, options: CallOptions = {}): Promise<v1.MembershipListResponse> {
    return this.#caller.call('synod.v1.Membership/List', 'MembershipListRequest', 'MembershipListResponse', request, options);
  }
}

/**
 * Leases are what one holder at a time has, for as long as it renews: locks, and leadership. Each holder gets a fencing
 * token that is higher than every one before; a write that names it is refused once the lease is lost. Since 0.1.
 */
export class LeasesService {
  readonly #caller: Caller;

  /** @internal */
  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /**
   * Takes a lease. One that another holds is refused, or waited for in a queue that is part of the replicated state: it is
   * fair, and goes on whichever replica is asked. Since 0.1.
   */
  acquire(request: Init<v1.LeasesAcquireRequest> = {}, options: CallOptions = {}): Promise<v1.LeasesAcquireResponse> {
    return this.#caller.call('synod.v1.Leases/Acquire', 'LeasesAcquireRequest', 'LeasesAcquireResponse', request, options);
  }

  /** Gives up a lease, or the place in the queue for it. Who is next has it at the same revision. Since 0.1. */
  release(request: Init<v1.LeasesReleaseRequest> = {}, options: CallOptions = {}): Promise<v1.LeasesReleaseResponse> {
    return this.#caller.call('synod.v1.Leases/Release', 'LeasesReleaseRequest', 'LeasesReleaseResponse', request, options);
  }

  /**
   * Deletes a lease, whoever holds it. Its token is stale at once, and refused wherever it is shown; but the holder may act
   * until its next renewal, by which alone it learns of it. Who is next, elected or first in the queue, has a new lease of this
   * name at the same revision, with a uid of its own and a higher token, which watches tell as `EVENT_TYPE_MODIFIED`; without
   * anybody there is none any more. `NOT_FOUND` if there is no such lease; `UNAVAILABLE` until all replicas know the call
   * (machine version 2). Since 0.1.
   */
  delete(request: Init<v1.LeasesDeleteRequest> = {}, options: CallOptions = {}): Promise<v1.LeasesDeleteResponse> {
    return this.#caller.call('synod.v1.Leases/Delete', 'LeasesDeleteRequest', 'LeasesDeleteResponse', request, options);
  }

  /** Reads one lease. To observe it, watch `OBJECT_KIND_LEASE` from the answer's revision + 1. Since 0.1. */
  get(request: Init<v1.LeasesGetRequest> = {}, options: CallOptions = {}): Promise<v1.LeasesGetResponse> {
    return this.#caller.call('synod.v1.Leases/Get', 'LeasesGetRequest', 'LeasesGetResponse', request, options);
  }

  /** Reads all leases, ordered by `<namespace>/<name>`. Since 0.1. */
  list(request: Init<v1.LeasesListRequest> = {}, options: CallOptions = {}): Promise<v1.LeasesListResponse> {
    return this.#caller.call('synod.v1.Leases/List', 'LeasesListRequest', 'LeasesListResponse', request, options);
  }

  /** Stands for a lease, or changes what the candidate says of itself. Since 0.1. */
  putCandidate(request: Init<v1.LeasesPutCandidateRequest> = {}, options: CallOptions = {}): Promise<v1.LeasesPutCandidateResponse> {
    return this.#caller.call('synod.v1.Leases/PutCandidate', 'LeasesPutCandidateRequest', 'LeasesPutCandidateResponse', request, options);
  }

  /** Stands for a lease no longer. Since 0.1. */
  withdrawCandidate(request: Init<v1.LeasesWithdrawCandidateRequest> = {}, options: CallOptions = {}): Promise<v1.LeasesWithdrawCandidateResponse> {
    return this.#caller.call('synod.v1.Leases/WithdrawCandidate', 'LeasesWithdrawCandidateRequest', 'LeasesWithdrawCandidateResponse', request, options);
  }

  /** Reads who stand for a lease, ordered by identity. Since 0.1. */
  listCandidates(request: Init<v1.LeasesListCandidatesRequest> = {}, options: CallOptions = {}): Promise<v1.LeasesListCandidatesResponse> {
    return this.#caller.call('synod.v1.Leases/ListCandidates', 'LeasesListCandidatesRequest', 'LeasesListCandidatesResponse', request, options);
  }
}

/**
 * The objects of declared collections, with optimistic concurrency. An object holds bytes that the cluster does not
 * look into, unless it is to patch them. Since 0.1.
 */
export class ObjectsService {
  readonly #caller: Caller;

  /** @internal */
  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** Stores a new object. `ALREADY_EXISTS` if there is one of its key. Since 0.1. */
  create(request: Init<v1.ObjectsCreateRequest> = {}, options: CallOptions = {}): Promise<v1.ObjectsCreateResponse> {
    return this.#caller.call('synod.v1.Objects/Create', 'ObjectsCreateRequest', 'ObjectsCreateResponse', request, options);
  }

  /** Reads one object. Since 0.1. */
  get(request: Init<v1.ObjectsGetRequest> = {}, options: CallOptions = {}): Promise<v1.ObjectsGetResponse> {
    return this.#caller.call('synod.v1.Objects/Get', 'ObjectsGetRequest', 'ObjectsGetResponse', request, options);
  }

  /** Reads the objects of a collection, page by page, all at one revision. Since 0.1. */
  list(request: Init<v1.ObjectsListRequest> = {}, options: CallOptions = {}): Promise<v1.ObjectsListResponse> {
    return this.#caller.call('synod.v1.Objects/List', 'ObjectsListRequest', 'ObjectsListResponse', request, options);
  }

  /** Replaces an object. Since 0.1. */
  update(request: Init<v1.ObjectsUpdateRequest> = {}, options: CallOptions = {}): Promise<v1.ObjectsUpdateResponse> {
    return this.#caller.call('synod.v1.Objects/Update', 'ObjectsUpdateRequest', 'ObjectsUpdateResponse', request, options);
  }

  /**
   * Changes a part of an object where it is stored, its data or what is said of it: without a `resource_version` it never
   * conflicts with another change. Since 0.1.
   */
  patch(request: Init<v1.ObjectsPatchRequest> = {}, options: CallOptions = {}): Promise<v1.ObjectsPatchResponse> {
    return this.#caller.call('synod.v1.Objects/Patch', 'ObjectsPatchRequest', 'ObjectsPatchResponse', request, options);
  }

  /** Deletes an object, or has it deleted once its finalizers are gone. Since 0.1. */
  delete(request: Init<v1.ObjectsDeleteRequest> = {}, options: CallOptions = {}): Promise<v1.ObjectsDeleteResponse> {
    return this.#caller.call('synod.v1.Objects/Delete', 'ObjectsDeleteRequest', 'ObjectsDeleteResponse', request, options);
  }

  /** Compares, and then either carries out all operations at one revision, or reads. Since 0.1. */
  transact(request: Init<v1.ObjectsTransactRequest> = {}, options: CallOptions = {}): Promise<v1.ObjectsTransactResponse> {
    return this.#caller.call('synod.v1.Objects/Transact', 'ObjectsTransactRequest', 'ObjectsTransactResponse', request, options);
  }
}

/**
 * Which kinds of objects the cluster keeps, and how strictly. A collection is declared before it holds anything; its
 * name is `<resource>.<group>`, for the core group `<resource>`. Since 0.1.
 */
export class CollectionsService {
  readonly #caller: Caller;

  /** @internal */
  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /**
   * Declares a collection. `ALREADY_EXISTS` if its resource has one; `NO_AGREEMENT` if it is to be strict and a
   * member reports the resource with a fixed entry. Since 0.1.
   */
  create(request: Init<v1.CollectionsCreateRequest> = {}, options: CallOptions = {}): Promise<v1.CollectionsCreateResponse> {
    return this.#caller.call('synod.v1.Collections/Create', 'CollectionsCreateRequest', 'CollectionsCreateResponse', request, options);
  }

  /**
   * Changes the rules of a collection, or corrects its kind while it holds no object. Group, resource and scope never change.
   * `NO_AGREEMENT` if it is to become strict and a member reports the resource with a fixed entry. Of another kind: `CONFLICT`
   * while the collection holds objects, `ALREADY_EXISTS` if another collection of the group has that kind. Since 0.1.
   */
  update(request: Init<v1.CollectionsUpdateRequest> = {}, options: CallOptions = {}): Promise<v1.CollectionsUpdateResponse> {
    return this.#caller.call('synod.v1.Collections/Update', 'CollectionsUpdateRequest', 'CollectionsUpdateResponse', request, options);
  }

  /** Reads one collection. Since 0.1. */
  get(request: Init<v1.CollectionsGetRequest> = {}, options: CallOptions = {}): Promise<v1.CollectionsGetResponse> {
    return this.#caller.call('synod.v1.Collections/Get', 'CollectionsGetRequest', 'CollectionsGetResponse', request, options);
  }

  /** Reads all collections, page by page, all at one revision. Since 0.1. */
  list(request: Init<v1.CollectionsListRequest> = {}, options: CallOptions = {}): Promise<v1.CollectionsListResponse> {
    return this.#caller.call('synod.v1.Collections/List', 'CollectionsListRequest', 'CollectionsListResponse', request, options);
  }

  /** Takes a collection away. `CONFLICT` while it holds objects. Since 0.1. */
  delete(request: Init<v1.CollectionsDeleteRequest> = {}, options: CallOptions = {}): Promise<v1.CollectionsDeleteResponse> {
    return this.#caller.call('synod.v1.Collections/Delete', 'CollectionsDeleteRequest', 'CollectionsDeleteResponse', request, options);
  }
}

/** The histories of controllers: what each wanted, one snapshot for each state that it still may go back to. Since 0.1. */
export class ControllerRevisionsService {
  readonly #caller: Caller;

  /** @internal */
  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /**
   * Says what a controller wants now. One command decides, against all that the history holds: *unchanged* if the newest
   * says the same, *rolled back* if an older one does, whose number becomes the highest, else *created*; then the oldest
   * that are not live go, beyond the limit. Live are the newest and all that have a mark. The one that was the newest until
   * then is not live any more but stays, since only now its owner can say that it still uses it: it can go with the next
   * create. `ALREADY_EXISTS` if no free name was found. Since 0.1.
   */
  create(request: Init<v1.ControllerRevisionsCreateRequest> = {}, options: CallOptions = {}): Promise<v1.ControllerRevisionsCreateResponse> {
    return this.#caller.call('synod.v1.ControllerRevisions/Create', 'ControllerRevisionsCreateRequest', 'ControllerRevisionsCreateResponse', request, options);
  }

  /** Reads one snapshot. Since 0.1. */
  get(request: Init<v1.ControllerRevisionsGetRequest> = {}, options: CallOptions = {}): Promise<v1.ControllerRevisionsGetResponse> {
    return this.#caller.call('synod.v1.ControllerRevisions/Get', 'ControllerRevisionsGetRequest', 'ControllerRevisionsGetResponse', request, options);
  }

  /** Reads snapshots of any owner, ordered by namespace and name. Since 0.1. */
  list(request: Init<v1.ControllerRevisionsListRequest> = {}, options: CallOptions = {}): Promise<v1.ControllerRevisionsListResponse> {
    return this.#caller.call('synod.v1.ControllerRevisions/List', 'ControllerRevisionsListRequest', 'ControllerRevisionsListResponse', request, options);
  }

  /** Reads the history of a controller, oldest first. One that was never begun is empty. Since 0.1. */
  history(request: Init<v1.ControllerRevisionsHistoryRequest> = {}, options: CallOptions = {}): Promise<v1.ControllerRevisionsHistoryResponse> {
    return this.#caller.call('synod.v1.ControllerRevisions/History', 'ControllerRevisionsHistoryRequest', 'ControllerRevisionsHistoryResponse', request, options);
  }

  /** Tells what changed from one snapshot to another. Since 0.1. */
  diff(request: Init<v1.ControllerRevisionsDiffRequest> = {}, options: CallOptions = {}): Promise<v1.ControllerRevisionsDiffResponse> {
    return this.#caller.call('synod.v1.ControllerRevisions/Diff', 'ControllerRevisionsDiffRequest', 'ControllerRevisionsDiffResponse', request, options);
  }

  /** Changes what may be changed of a snapshot, as the caller has seen it. Its data may not: `IMMUTABLE`. Since 0.1. */
  update(request: Init<v1.ControllerRevisionsUpdateRequest> = {}, options: CallOptions = {}): Promise<v1.ControllerRevisionsUpdateResponse> {
    return this.#caller.call('synod.v1.ControllerRevisions/Update', 'ControllerRevisionsUpdateRequest', 'ControllerRevisionsUpdateResponse', request, options);
  }

  /** Makes an older snapshot the newest of its history, and returns it. Since 0.1. */
  rollback(request: Init<v1.ControllerRevisionsRollbackRequest> = {}, options: CallOptions = {}): Promise<v1.ControllerRevisionsRollbackResponse> {
    return this.#caller.call('synod.v1.ControllerRevisions/Rollback', 'ControllerRevisionsRollbackRequest', 'ControllerRevisionsRollbackResponse', request, options);
  }

  /**
   * Says which snapshots of a history are in use, or says so again. Those are never truncated. Every mark goes with
   * something, so that nobody who dies pins a snapshot for ever; setting it again renews it and, where nothing else
   * changes, moves no revision. `TOO_LARGE` if more than 16 MiB of them would be marked otherwise than they are: fewer at
   * first, then all. Since 0.1.
   */
  markLive(request: Init<v1.ControllerRevisionsMarkLiveRequest> = {}, options: CallOptions = {}): Promise<v1.ControllerRevisionsMarkLiveResponse> {
    return this.#caller.call('synod.v1.ControllerRevisions/MarkLive', 'ControllerRevisionsMarkLiveRequest', 'ControllerRevisionsMarkLiveResponse', request, options);
  }

  /** Deletes the oldest snapshots of a history that are not live. The newest is live, marked or not. Since 0.1. */
  truncate(request: Init<v1.ControllerRevisionsTruncateRequest> = {}, options: CallOptions = {}): Promise<v1.ControllerRevisionsTruncateResponse> {
    return this.#caller.call('synod.v1.ControllerRevisions/Truncate', 'ControllerRevisionsTruncateRequest', 'ControllerRevisionsTruncateResponse', request, options);
  }

  /** Deletes one snapshot, in use or not. Since 0.1. */
  delete(request: Init<v1.ControllerRevisionsDeleteRequest> = {}, options: CallOptions = {}): Promise<v1.ControllerRevisionsDeleteResponse> {
    return this.#caller.call('synod.v1.ControllerRevisions/Delete', 'ControllerRevisionsDeleteRequest', 'ControllerRevisionsDeleteResponse', request, options);
  }

  /**
   * Deletes all snapshots that an owner controls in a namespace, in use or not. They stay when the owner goes; this is
   * how it is asked otherwise. Since 0.1.
   */
  deleteHistory(request: Init<v1.ControllerRevisionsDeleteHistoryRequest> = {}, options: CallOptions = {}): Promise<v1.ControllerRevisionsDeleteHistoryResponse> {
    return this.#caller.call('synod.v1.ControllerRevisions/DeleteHistory', 'ControllerRevisionsDeleteHistoryRequest', 'ControllerRevisionsDeleteHistoryResponse', request, options);
  }

  /** Makes an owner the controller of snapshots that have none. One that has another: `CONFLICT`. Since 0.1. */
  adopt(request: Init<v1.ControllerRevisionsAdoptRequest> = {}, options: CallOptions = {}): Promise<v1.ControllerRevisionsAdoptResponse> {
    return this.#caller.call('synod.v1.ControllerRevisions/Adopt', 'ControllerRevisionsAdoptRequest', 'ControllerRevisionsAdoptResponse', request, options);
  }

  /**
   * Ends an owner's control of a snapshot, which stays. One that is gone, or that it does not control, is left alone.
   * Since 0.1.
   */
  release(request: Init<v1.ControllerRevisionsReleaseRequest> = {}, options: CallOptions = {}): Promise<v1.ControllerRevisionsReleaseResponse> {
    return this.#caller.call('synod.v1.ControllerRevisions/Release', 'ControllerRevisionsReleaseRequest', 'ControllerRevisionsReleaseResponse', request, options);
  }
}

/**
 * Who must speak for a resource before anything that is said of it counts. Agreement is among those who take part, and who
 * else writes a resource only an operator knows: a roster says it. While somebody that it asks for is missing, there is no
 * agreement, no new migration, no completion and no safe answer, and the missing are named. Without a roster, whatever
 * rests on agreement says that it assumes that nobody else writes. Since 0.1.
 */
export class RostersService {
  readonly #caller: Caller;

  /** @internal */
  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /**
   * Says who must speak for the resources of a scope, in place of whoever had to before. `QUOTA` if there are 1,000 rosters
   * and none of this scope. Since 0.1.
   */
  set(request: Init<v1.RostersSetRequest> = {}, options: CallOptions = {}): Promise<v1.RostersSetResponse> {
    return this.#caller.call('synod.v1.Rosters/Set', 'RostersSetRequest', 'RostersSetResponse', request, options);
  }

  /**
   * Takes a roster away. The next wider one that covers a resource counts then. `NOT_FOUND` if there is none of this scope.
   * Since 0.1.
   */
  delete(request: Init<v1.RostersDeleteRequest> = {}, options: CallOptions = {}): Promise<v1.RostersDeleteResponse> {
    return this.#caller.call('synod.v1.Rosters/Delete', 'RostersDeleteRequest', 'RostersDeleteResponse', request, options);
  }

  /** Reads the roster of a scope. `NOT_FOUND` if there is none; a wider one may cover its resources. Since 0.1. */
  get(request: Init<v1.RostersGetRequest> = {}, options: CallOptions = {}): Promise<v1.RostersGetResponse> {
    return this.#caller.call('synod.v1.Rosters/Get', 'RostersGetRequest', 'RostersGetResponse', request, options);
  }

  /** Reads all rosters, page by page, all at one revision. Since 0.1. */
  list(request: Init<v1.RostersListRequest> = {}, options: CallOptions = {}): Promise<v1.RostersListResponse> {
    return this.#caller.call('synod.v1.Rosters/List', 'RostersListRequest', 'RostersListResponse', request, options);
  }
}

/** What every member encodes, decodes and serves, and what follows from it. Since 0.1. */
export class StorageVersionsService {
  readonly #caller: Caller;

  /** @internal */
  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** Takes what a member says of its resources: all of it or nothing, at one revision. Since 0.1. */
  report(request: Init<v1.StorageVersionsReportRequest> = {}, options: CallOptions = {}): Promise<v1.StorageVersionsReportResponse> {
    return this.#caller.call('synod.v1.StorageVersions/Report', 'StorageVersionsReportRequest', 'StorageVersionsReportResponse', request, options);
  }

  /**
   * A voting member says that it now encodes the selected version of a resource, and that no write of its in another
   * one can land any more. `NOT_FOUND` if this epoch of the member has reported no voting entry for it. Since 0.1.
   */
  adopt(request: Init<v1.StorageVersionsAdoptRequest> = {}, options: CallOptions = {}): Promise<v1.StorageVersionsAdoptResponse> {
    return this.#caller.call('synod.v1.StorageVersions/Adopt', 'StorageVersionsAdoptRequest', 'StorageVersionsAdoptResponse', request, options);
  }

  /**
   * Removes what stays of a resource when its last entry went: its `StorageState` and its history. Whoever reports it
   * again begins anew, with unknown versions persisted. `NOT_FOUND` if there is nothing; `CONFLICT` while a member
   * reports it; `DRAINING` while writes may still land. Since 0.1.
   */
  forget(request: Init<v1.StorageVersionsForgetRequest> = {}, options: CallOptions = {}): Promise<v1.StorageVersionsForgetResponse> {
    return this.#caller.call('synod.v1.StorageVersions/Forget', 'StorageVersionsForgetRequest', 'StorageVersionsForgetResponse', request, options);
  }

  /**
   * Says that resources are one store under several names: what is stored, selected, agreed on, draining and migrated is kept once
   * from then on, under the first name, and their keys follow. An entry under any name answers for all, and every roster that
   * covers any of them counts. The agreement begins anew, migrations are aborted, and what is stored is unknown if a name was never
   * known. Changes nothing if they are one store already. `CONFLICT` if two of them have a collection, if a member reports two of
   * them, or if no selected version is decodable by all members; `INVALID_ARGUMENT` for more than 8 names. Since 0.1.
   */
  addEquivalents(request: Init<v1.StorageVersionsAddEquivalentsRequest> = {}, options: CallOptions = {}): Promise<v1.StorageVersionsAddEquivalentsResponse> {
    return this.#caller.call('synod.v1.StorageVersions/AddEquivalents', 'StorageVersionsAddEquivalentsRequest', 'StorageVersionsAddEquivalentsResponse', request, options);
  }

  /**
   * Takes a name out of its set: what is stored under it and under the others is unknown until migrations end, both keep what
   * still drains, and migrations are aborted. `NOT_FOUND` if the resource is equivalent to none; `CONFLICT` while an entry tells
   * that it is. Since 0.1.
   */
  removeEquivalent(request: Init<v1.StorageVersionsRemoveEquivalentRequest> = {}, options: CallOptions = {}): Promise<v1.StorageVersionsRemoveEquivalentResponse> {
    return this.#caller.call('synod.v1.StorageVersions/RemoveEquivalent', 'StorageVersionsRemoveEquivalentRequest', 'StorageVersionsRemoveEquivalentResponse', request, options);
  }

  /** Reads one resource. Since 0.1. */
  get(request: Init<v1.StorageVersionsGetRequest> = {}, options: CallOptions = {}): Promise<v1.StorageVersionsGetResponse> {
    return this.#caller.call('synod.v1.StorageVersions/Get', 'StorageVersionsGetRequest', 'StorageVersionsGetResponse', request, options);
  }

  /** Reads all resources, ordered by group and resource. Since 0.1. */
  list(request: Init<v1.StorageVersionsListRequest> = {}, options: CallOptions = {}): Promise<v1.StorageVersionsListResponse> {
    return this.#caller.call('synod.v1.StorageVersions/List', 'StorageVersionsListRequest', 'StorageVersionsListResponse', request, options);
  }

  /** Reads what the members of a resource agreed on, one change after the other. Since 0.1. */
  history(request: Init<v1.StorageVersionsHistoryRequest> = {}, options: CallOptions = {}): Promise<v1.StorageVersionsHistoryResponse> {
    return this.#caller.call('synod.v1.StorageVersions/History', 'StorageVersionsHistoryRequest', 'StorageVersionsHistoryResponse', request, options);
  }

  /**
   * Says whether a binary may join, with every reason against it and what a safe answer assumes. What is not known is not
   * safe. Since 0.1.
   */
  checkBinary(request: Init<v1.StorageVersionsCheckBinaryRequest> = {}, options: CallOptions = {}): Promise<v1.StorageVersionsCheckBinaryResponse> {
    return this.#caller.call('synod.v1.StorageVersions/CheckBinary', 'StorageVersionsCheckBinaryRequest', 'StorageVersionsCheckBinaryResponse', request, options);
  }

  /**
   * Says whether a version of a resource may be dropped from the binaries, with every reason against it and what a safe
   * answer assumes. Since 0.1.
   */
  checkDrop(request: Init<v1.StorageVersionsCheckDropRequest> = {}, options: CallOptions = {}): Promise<v1.StorageVersionsCheckDropResponse> {
    return this.#caller.call('synod.v1.StorageVersions/CheckDrop', 'StorageVersionsCheckDropRequest', 'StorageVersionsCheckDropResponse', request, options);
  }

  /**
   * Says whether the members agree, on some resources or on all that is known, with every obstacle and what a positive answer
   * assumes. Since 0.1.
   */
  checkAgreement(request: Init<v1.StorageVersionsCheckAgreementRequest> = {}, options: CallOptions = {}): Promise<v1.StorageVersionsCheckAgreementResponse> {
    return this.#caller.call('synod.v1.StorageVersions/CheckAgreement', 'StorageVersionsCheckAgreementRequest', 'StorageVersionsCheckAgreementResponse', request, options);
  }

  /**
   * Says whether an upgrade may go on: nothing is alarming, the members agree on all that is known, all of it is migrated, and no
   * write in another version may still land. Each obstacle is named, the worst first, with a command that helps. Since 0.1.
   */
  checkUpgrade(request: Init<v1.StorageVersionsCheckUpgradeRequest> = {}, options: CallOptions = {}): Promise<v1.StorageVersionsCheckUpgradeResponse> {
    return this.#caller.call('synod.v1.StorageVersions/CheckUpgrade', 'StorageVersionsCheckUpgradeRequest', 'StorageVersionsCheckUpgradeResponse', request, options);
  }
}

/**
 * The rewriting of stored objects in one version: what waits, what runs, and what became of it. What is known of a
 * resource's store is read with `StorageVersions.Get` and `List`. Since 0.1.
 */
export class MigrationsService {
  readonly #caller: Caller;

  /** @internal */
  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** Reads one migration, by its name or its alias. Since 0.1. */
  get(request: Init<v1.MigrationsGetRequest> = {}, options: CallOptions = {}): Promise<v1.MigrationsGetResponse> {
    return this.#caller.call('synod.v1.Migrations/Get', 'MigrationsGetRequest', 'MigrationsGetResponse', request, options);
  }

  /** Reads all migrations, ordered by resource, the oldest of each first. Since 0.1. */
  list(request: Init<v1.MigrationsListRequest> = {}, options: CallOptions = {}): Promise<v1.MigrationsListResponse> {
    return this.#caller.call('synod.v1.Migrations/List', 'MigrationsListRequest', 'MigrationsListResponse', request, options);
  }

  /**
   * Creates a migration to what is agreed on. `NO_AGREEMENT` if nothing is; `ALREADY_EXISTS` if one of this agreement
   * and reason waits, runs or has failed, or if another one has the alias: the details name it. With an alias `UNAVAILABLE`
   * until all replicas know aliases (machine version 2). Since 0.1.
   */
  start(request: Init<v1.MigrationsStartRequest> = {}, options: CallOptions = {}): Promise<v1.MigrationsStartResponse> {
    return this.#caller.call('synod.v1.Migrations/Start', 'MigrationsStartRequest', 'MigrationsStartResponse', request, options);
  }

  /**
   * Gives a pending migration to a worker. `DRAINING` while writes in another version may land, with `retry_after_ms` in
   * the details; `CONFLICT` if it is not pending, or an older one of the resource comes first. Since 0.1.
   */
  claim(request: Init<v1.MigrationsClaimRequest> = {}, options: CallOptions = {}): Promise<v1.MigrationsClaimResponse> {
    return this.#caller.call('synod.v1.Migrations/Claim', 'MigrationsClaimRequest', 'MigrationsClaimResponse', request, options);
  }

  /** Says how far a migration is, and so keeps its claim. Since 0.1. */
  progress(request: Init<v1.MigrationsProgressRequest> = {}, options: CallOptions = {}): Promise<v1.MigrationsProgressResponse> {
    return this.#caller.call('synod.v1.Migrations/Progress', 'MigrationsProgressRequest', 'MigrationsProgressResponse', request, options);
  }

  /**
   * Says that every object is in the target's encoding: nothing else is persisted then. `NO_AGREEMENT` if what the
   * migration is for is not agreed on any more. Since 0.1.
   */
  complete(request: Init<v1.MigrationsCompleteRequest> = {}, options: CallOptions = {}): Promise<v1.MigrationsCompleteResponse> {
    return this.#caller.call('synod.v1.Migrations/Complete', 'MigrationsCompleteRequest', 'MigrationsCompleteResponse', request, options);
  }

  /**
   * Gives a migration up. Unless the class is permanent it is tried again, later each time, a bounded number of times.
   * Since 0.1.
   */
  fail(request: Init<v1.MigrationsFailRequest> = {}, options: CallOptions = {}): Promise<v1.MigrationsFailResponse> {
    return this.#caller.call('synod.v1.Migrations/Fail', 'MigrationsFailRequest', 'MigrationsFailResponse', request, options);
  }

  /**
   * Gives a claim back before it has run out: the migration waits for a worker again, and the next one goes on from what
   * was said last. It is no failure. What the worker may still write drains, unless it says that all was answered; that it may
   * also say of a claim that has ended. Else `CONFLICT` if the claim has ended; `UNAVAILABLE` until all replicas know the call
   * (machine version 2). Since 0.1.
   */
  release(request: Init<v1.MigrationsReleaseRequest> = {}, options: CallOptions = {}): Promise<v1.MigrationsReleaseResponse> {
    return this.#caller.call('synod.v1.Migrations/Release', 'MigrationsReleaseRequest', 'MigrationsReleaseResponse', request, options);
  }

  /** Calls a migration off. Since 0.1. */
  abort(request: Init<v1.MigrationsAbortRequest> = {}, options: CallOptions = {}): Promise<v1.MigrationsAbortResponse> {
    return this.#caller.call('synod.v1.Migrations/Abort', 'MigrationsAbortRequest', 'MigrationsAbortResponse', request, options);
  }

  /**
   * Deletes a migration, at any time. One that waits, runs or has failed is called off by that, as by `Abort`: its worker is
   * told with its next word, by `NOT_FOUND`. What is known of the store stays as it is: what is persisted, and what drains.
   * Its alias is free for another one. `UNAVAILABLE` until all replicas know the call (machine version 2). Since 0.1.
   */
  delete(request: Init<v1.MigrationsDeleteRequest> = {}, options: CallOptions = {}): Promise<v1.MigrationsDeleteResponse> {
    return this.#caller.call('synod.v1.Migrations/Delete', 'MigrationsDeleteRequest', 'MigrationsDeleteResponse', request, options);
  }

  /** Has a failed migration tried again at once. Since 0.1. */
  retry(request: Init<v1.MigrationsRetryRequest> = {}, options: CallOptions = {}): Promise<v1.MigrationsRetryResponse> {
    return this.#caller.call('synod.v1.Migrations/Retry', 'MigrationsRetryRequest', 'MigrationsRetryResponse', request, options);
  }

  /**
   * Says what discovery shows of a resource. While nobody reports it, that stands for the agreement until two periods of log
   * time later. While members report it, it stands beside what they say: what none of them encodes is persisted, and ends
   * the agreement until a later look shows otherwise or the resource is reset. What is shown no more drains. What is shown is
   * the union of the looks of all observers, at most 16; the looks of a named observer are kept server by server, and end one
   * by one: `UNAVAILABLE` until all replicas know that (machine version 3). Since 0.1.
   */
  observe(request: Init<v1.MigrationsObserveRequest> = {}, options: CallOptions = {}): Promise<v1.MigrationsObserveResponse> {
    return this.#caller.call('synod.v1.Migrations/Observe', 'MigrationsObserveRequest', 'MigrationsObserveResponse', request, options);
  }

  /**
   * Ends what looks at discovery have shown of a resource, since somebody knows that no server writes it any more. It drains.
   * `NOT_FOUND` if there is no such look, `UNAVAILABLE` until all replicas know the call (machine version 3). Since 0.1.
   */
  dismiss(request: Init<v1.MigrationsDismissRequest> = {}, options: CallOptions = {}): Promise<v1.MigrationsDismissResponse> {
    return this.#caller.call('synod.v1.Migrations/Dismiss', 'MigrationsDismissRequest', 'MigrationsDismissResponse', request, options);
  }

  /**
   * Forgets what is known of the store: what is persisted is unknown again, but for what is written now, and migrations
   * begin from the start. Of a key or a feature what is persisted stays, beside what is unknown. Since 0.1.
   */
  reset(request: Init<v1.MigrationsResetRequest> = {}, options: CallOptions = {}): Promise<v1.MigrationsResetResponse> {
    return this.#caller.call('synod.v1.Migrations/Reset', 'MigrationsResetRequest', 'MigrationsResetResponse', request, options);
  }
}

/** Sessions make changing requests exactly-once. Since 0.1. */
export class SessionsService {
  readonly #caller: Caller;

  /** @internal */
  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** Opens a session. If the answer is lost, open another: an unused session ends by itself. Since 0.1. */
  open(request: Init<v1.SessionsOpenRequest> = {}, options: CallOptions = {}): Promise<v1.SessionsOpenResponse> {
    return this.#caller.call('synod.v1.Sessions/Open', 'SessionsOpenRequest', 'SessionsOpenResponse', request, options);
  }

  /** Ends a session and forgets its outcomes. Requests that carry it are refused from then on. Since 0.1. */
  close(request: Init<v1.SessionsCloseRequest> = {}, options: CallOptions = {}): Promise<v1.SessionsCloseResponse> {
    return this.#caller.call('synod.v1.Sessions/Close', 'SessionsCloseRequest', 'SessionsCloseResponse', request, options);
  }

  /** Says what became of a request: a linearizable read. Since 0.1. */
  getOutcome(request: Init<v1.SessionsGetOutcomeRequest> = {}, options: CallOptions = {}): Promise<v1.SessionsGetOutcomeResponse> {
    return this.#caller.call('synod.v1.Sessions/GetOutcome', 'SessionsGetOutcomeRequest', 'SessionsGetOutcomeResponse', request, options);
  }
}

/** The services of a cluster, one attribute each. */
export abstract class Services {

  /**
   * The cluster itself: its replicas and its replicated settings.
   *
   * A change of the replica set is brought to the leader, whichever replica is asked. Asked again after it was carried out, it
   * changes nothing, so it needs no request id. Since 0.1.
   */
  readonly cluster: ClusterService;

  /**
   * Members are the API servers that take part. A member is kept by renewing; one that does not renew is expired, and
   * with it goes all that hangs on it, at one revision. Since 0.1.
   */
  readonly membership: MembershipService;

  /**
   * Leases are what one holder at a time has, for as long as it renews: locks, and leadership. Each holder gets a fencing
   * token that is higher than every one before; a write that names it is refused once the lease is lost. Since 0.1.
   */
  readonly leases: LeasesService;

  /**
   * The objects of declared collections, with optimistic concurrency. An object holds bytes that the cluster does not
   * look into, unless it is to patch them. Since 0.1.
   */
  readonly objects: ObjectsService;

  /**
   * Which kinds of objects the cluster keeps, and how strictly. A collection is declared before it holds anything; its
   * name is `<resource>.<group>`, for the core group `<resource>`. Since 0.1.
   */
  readonly collections: CollectionsService;

  /** The histories of controllers: what each wanted, one snapshot for each state that it still may go back to. Since 0.1. */
  readonly controllerRevisions: ControllerRevisionsService;

  /**
   * Who must speak for a resource before anything that is said of it counts. Agreement is among those who take part, and who
   * else writes a resource only an operator knows: a roster says it. While somebody that it asks for is missing, there is no
   * agreement, no new migration, no completion and no safe answer, and the missing are named. Without a roster, whatever
   * rests on agreement says that it assumes that nobody else writes. Since 0.1.
   */
  readonly rosters: RostersService;

  /** What every member encodes, decodes and serves, and what follows from it. Since 0.1. */
  readonly storageVersions: StorageVersionsService;

  /**
   * The rewriting of stored objects in one version: what waits, what runs, and what became of it. What is known of a
   * resource's store is read with `StorageVersions.Get` and `List`. Since 0.1.
   */
  readonly migrations: MigrationsService;

  /** Sessions make changing requests exactly-once. Since 0.1. */
  readonly sessions: SessionsService;

  /** @internal */
  constructor(caller: Caller) {
    this.cluster = new ClusterService(caller);
    this.membership = new MembershipService(caller);
    this.leases = new LeasesService(caller);
    this.objects = new ObjectsService(caller);
    this.collections = new CollectionsService(caller);
    this.controllerRevisions = new ControllerRevisionsService(caller);
    this.rosters = new RostersService(caller);
    this.storageVersions = new StorageVersionsService(caller);
    this.migrations = new MigrationsService(caller);
    this.sessions = new SessionsService(caller);
  }
}
