// Generated from the protocol. To write it again: UPDATE_GOLDEN=1 cargo test -p synod-bound generated

import { SynodError } from '../base.cjs';

/** What a program decides on: why a request failed. */
export type ErrorCode =
  | 'INVALID_ARGUMENT'
  | 'NOT_FOUND'
  | 'ALREADY_EXISTS'
  | 'CONFLICT'
  | 'NOT_A_MEMBER'
  | 'STALE_EPOCH'
  | 'NOT_DECODABLE'
  | 'ENCODING_NOT_SELECTED'
  | 'IMMUTABLE'
  | 'NO_AGREEMENT'
  | 'DRAINING'
  | 'REQUEST_EXPIRED'
  | 'COMPACTED'
  | 'FUTURE_REVISION'
  | 'TOO_LARGE'
  | 'QUOTA'
  | 'OVERLOADED'
  | 'UNAVAILABLE'
  | 'UNKNOWN_OUTCOME'
  | 'DEADLINE_EXCEEDED'
  | 'UNAUTHENTICATED'
  | 'PERMISSION_DENIED'
  | 'DATA_LOSS'
  | 'SWITCHED_OFF';

/** INVALID_ARGUMENT, no retry. The request breaks a rule of form; `google.rpc.BadRequest` names each field and rule. */
export class InvalidArgumentError extends SynodError {}

/** NOT_FOUND, no retry. There is no such object. */
export class NotFoundError extends SynodError {}

/** ALREADY_EXISTS, no retry. There is such an object already. */
export class AlreadyExistsError extends SynodError {}

/** ABORTED, no retry as it is. The object is at another revision than the request expects; the details hold it. */
export class ConflictError extends SynodError {}

/** FAILED_PRECONDITION, no retry. The caller is not a member (any more): join and report again. */
export class NotAMemberError extends SynodError {}

/** FAILED_PRECONDITION, no retry. Another instance has taken the member's id: stop. */
export class StaleEpochError extends SynodError {}

/** FAILED_PRECONDITION, no retry. A member cannot decode a version that it must be able to decode. */
export class NotDecodableError extends SynodError {}

/** FAILED_PRECONDITION, no retry as it is. The object is not encoded in the selected version. */
export class EncodingNotSelectedError extends SynodError {}

/** FAILED_PRECONDITION, no retry. The field can never change. */
export class ImmutableError extends SynodError {}

/** FAILED_PRECONDITION, no retry until there is agreement. The members do not agree on a version. */
export class NoAgreementError extends SynodError {}

/** FAILED_PRECONDITION, retry after `retry_after_ms`. Writes in another version may still land. */
export class DrainingError extends SynodError {}

/**
 * FAILED_PRECONDITION, no retry. The session is unknown or the sequence was forgotten. This attempt was not executed;
 * an earlier one may have been.
 */
export class RequestExpiredError extends SynodError {}

/** OUT_OF_RANGE, no retry. The revision is older than what is kept: list again. */
export class CompactedError extends SynodError {}

/** OUT_OF_RANGE, retry when it is there. The revision does not exist yet. */
export class FutureRevisionError extends SynodError {}

/** RESOURCE_EXHAUSTED, no retry. The request is larger than a limit allows. */
export class TooLargeError extends SynodError {}

/** RESOURCE_EXHAUSTED, no retry until something is removed. A quota of the cluster is used up. */
export class QuotaError extends SynodError {}

/** RESOURCE_EXHAUSTED, retry with backoff. The replica has too much to do; the request was not executed. */
export class OverloadedError extends SynodError {}

/**
 * UNAVAILABLE, retry anywhere. No leader or no quorum could be reached; the request was not executed. Beware: a gRPC
 * library says UNAVAILABLE by itself when a connection breaks. Only with an `ErrorInfo` of Synod is it this.
 */
export class UnavailableError extends SynodError {}

/** UNKNOWN, ask by request id. The request may have been carried out, or may still be. */
export class UnknownOutcomeError extends SynodError {}

/**
 * DEADLINE_EXCEEDED, ask by request id. The deadline passed; without `not_executed` the request may have been carried
 * out.
 */
export class DeadlineExceededError extends SynodError {}

/** UNAUTHENTICATED, no retry. The caller did not prove who it is. */
export class UnauthenticatedError extends SynodError {}

/** PERMISSION_DENIED, no retry. The caller may not do this. */
export class PermissionDeniedError extends SynodError {}

/** DATA_LOSS, no retry. The replica found its data damaged and has stopped. */
export class DataLossError extends SynodError {}

/**
 * FAILED_PRECONDITION, no retry until an operator switches it on. What the request is about is switched off by a
 * setting, which the metadata names (`setting`). Nothing was changed, and what was there is kept.
 */
export class SwitchedOffError extends SynodError {}

/** The class of each code. @internal */
export const classes: { readonly [code: string]: typeof SynodError } = {
  INVALID_ARGUMENT: InvalidArgumentError,
  NOT_FOUND: NotFoundError,
  ALREADY_EXISTS: AlreadyExistsError,
  CONFLICT: ConflictError,
  NOT_A_MEMBER: NotAMemberError,
  STALE_EPOCH: StaleEpochError,
  NOT_DECODABLE: NotDecodableError,
  ENCODING_NOT_SELECTED: EncodingNotSelectedError,
  IMMUTABLE: ImmutableError,
  NO_AGREEMENT: NoAgreementError,
  DRAINING: DrainingError,
  REQUEST_EXPIRED: RequestExpiredError,
  COMPACTED: CompactedError,
  FUTURE_REVISION: FutureRevisionError,
  TOO_LARGE: TooLargeError,
  QUOTA: QuotaError,
  OVERLOADED: OverloadedError,
  UNAVAILABLE: UnavailableError,
  UNKNOWN_OUTCOME: UnknownOutcomeError,
  DEADLINE_EXCEEDED: DeadlineExceededError,
  UNAUTHENTICATED: UnauthenticatedError,
  PERMISSION_DENIED: PermissionDeniedError,
  DATA_LOSS: DataLossError,
  SWITCHED_OFF: SwitchedOffError,
};
