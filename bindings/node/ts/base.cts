/** The base of all errors of the cluster. */

import type { ErrorCode } from './generated/errors.cjs';
import { fromJson } from './values.cjs';

/** What is known of a request that failed: a rule refused it, it was certainly not executed, or its outcome is unknown. */
export type Execution = 'refused' | 'not_executed' | 'unknown';

/** A field that breaks a rule. */
export interface Violation {
  /** The path of the field in the request, as in `entries[3].decodableVersions[0]`. */
  readonly field: string;
  /** The rule that it breaks, and what to do. */
  readonly rule: string;
}

/** By what to ask what became of a request, with `client.sessions.getOutcome`. */
export interface RequestKey {
  readonly clusterId: string;
  readonly session: bigint;
  readonly sequence: bigint;
}

/** A failure as Rust says it. @internal */
export interface Failure {
  readonly code: string;
  readonly message: string;
  readonly execution: Execution;
  readonly retryable: boolean;
  readonly violations?: readonly Violation[];
  readonly metadata?: { readonly [name: string]: string };
  readonly current?: unknown;
  readonly currentType?: string;
  readonly requestKey?: { readonly clusterId: string; readonly session: string; readonly sequence: string };
}

/**
 * Why a call was not answered as asked. There is one class for each `code`; the message is for people and may change.
 */
export class SynodError extends Error {
  /** What a program decides on. */
  readonly code: ErrorCode;
  /** Whether the very same call, made again later, may succeed without the danger of being executed twice. */
  readonly retryable: boolean;
  /** What is known of the request. */
  readonly execution: Execution;
  /** Every broken rule of an invalid request. */
  readonly violations: readonly Violation[];
  /** Facts for programs, by name, such as `oldest_revision` and `retry_after_ms`. */
  readonly metadata: { readonly [name: string]: string };
  /** The object as it stands, where a comparison was lost. */
  readonly current: unknown;
  /** By what to ask what became of the request, if its outcome is unknown and it was made in a session. */
  readonly requestKey: RequestKey | undefined;

  /** @internal */
  constructor(failure: Failure) {
    super(failure.message);
    this.name = new.target.name;
    this.code = failure.code as ErrorCode;
    this.retryable = failure.retryable;
    this.execution = failure.execution;
    this.violations = failure.violations ?? [];
    this.metadata = failure.metadata ?? {};
    this.current = failure.current && fromJson(failure.currentType ?? '', failure.current);
    const key = failure.requestKey;
    this.requestKey = key && { ...key, session: BigInt(key.session), sequence: BigInt(key.sequence) };
  }
}
