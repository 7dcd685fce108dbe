/**
 * The Node client of Synod.
 *
 * @packageDocumentation
 */

import { native } from './native.cjs';

export { SynodError, type Execution, type RequestKey, type Violation } from './base.cjs';
export type { CallOptions } from './call.cjs';
export { Client, type BackupOptions, type BackupWritten, type ClientOptions } from './client.cjs';
export { Etcd, type EtcdOptions } from './etcd.cjs';
export { FencedObjects, FencedWriter, type Change, type ListedPair, type Recoder } from './fence.cjs';
export { FenceGuard, Gate, Permit, type Admitted, type Discovery, type FastifyLikeReply, type FastifyLikeRequest, type GatedRequest, type Middleware, type MiddlewareOptions, type PermitOptions, type Refused } from './gate.cjs';
export type * as v1 from './generated/messages.cjs';
export {
  InvalidArgumentError,
  NotFoundError,
  AlreadyExistsError,
  ConflictError,
  NotAMemberError,
  StaleEpochError,
  NotDecodableError,
  EncodingNotSelectedError,
  ImmutableError,
  NoAgreementError,
  DrainingError,
  RequestExpiredError,
  CompactedError,
  FutureRevisionError,
  TooLargeError,
  QuotaError,
  OverloadedError,
  UnavailableError,
  UnknownOutcomeError,
  DeadlineExceededError,
  UnauthenticatedError,
  PermissionDeniedError,
  DataLossError,
  SwitchedOffError,
  type ErrorCode,
} from './generated/errors.cjs';
export { KeyStoreError, type Condition, type KeyStore, type Pair } from './key_store.cjs';
export { Election, LeaseObserver, Lock, type ElectionOptions, type LeadershipEnd, type LockOptions } from './lock.cjs';
export { Membership, type Ended, type JoinOptions, type MembershipState } from './membership.cjs';
export {
  Migrator,
  StoreError,
  type CollectionsMigratorOptions,
  type FencedStore,
  type Store,
  type StoreFault,
  type StoreMigratorOptions,
  type StorePage,
  type Wanted,
  type Worked,
} from './migrator.cjs';
export { ObjectReflector, type ObjectName, type Selected, type Snapshot, type Stored } from './object_reflector.cjs';
export { Objects, type Codec, type Draft, type Encoded, type Fences, type Updated } from './objects.cjs';
export { Reflector, type Reflected, type ReflectedName } from './reflector.cjs';
export type { Pem, Tls, Token } from './tls.cjs';
export { Topic } from './topic.cjs';
export type { Init } from './values.cjs';
export { Pulled, Watch, type WatchMessage, type WatchOptions } from './watch.cjs';

/** The id that Kubernetes gives an API server on this host. */
export const apiserverId = (hostname: string): string => native.apiserverId(hostname);
