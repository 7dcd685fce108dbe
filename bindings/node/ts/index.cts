/**
 * The Node client of Synod.
 *
 * @packageDocumentation
 */

import { native } from './native.cjs';

export { SynodError, type Execution, type RequestKey, type Violation } from './base.cjs';
export type { CallOptions } from './call.cjs';
export { Client, type ClientOptions } from './client.cjs';
export { Gate, Permit, type Admitted, type FastifyLikeReply, type FastifyLikeRequest, type GatedRequest, type Middleware, type MiddlewareOptions, type PermitOptions, type Refused } from './gate.cjs';
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
export { Election, LeaseObserver, Lock, type ElectionOptions, type LeadershipEnd, type LockOptions } from './lock.cjs';
export { Membership, type Ended, type JoinOptions, type MembershipState } from './membership.cjs';
export {
  Migrator,
  StoreError,
  type CollectionsMigratorOptions,
  type Store,
  type StoreFault,
  type StoreMigratorOptions,
  type StorePage,
  type Worked,
} from './migrator.cjs';
export { Objects, type Codec, type Draft, type Encoded, type Fences, type ObjectName, type Stored, type Updated } from './objects.cjs';
export { Reflector, type Reflected, type ReflectedName } from './reflector.cjs';
export type { Pem, Tls, Token } from './tls.cjs';
export type { Init } from './values.cjs';
export { Pulled, Watch, type WatchMessage, type WatchOptions } from './watch.cjs';

/** The id that Kubernetes gives an API server on this host. */
export const apiserverId = (hostname: string): string => native.apiserverId(hostname);
