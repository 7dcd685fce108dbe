/** What a store has to do so that its writes can be fenced. */

import type { CallOptions } from './call.cjs';

type Signal = Pick<CallOptions, 'signal'>;

/** A key and its value. */
export interface Pair {
  readonly key: string;
  readonly value: Uint8Array;
  /** What changes with each write of the key, and is never 0: the revision of its last write, say. */
  readonly revision: bigint;
}

/** What must be true of a key for a write to land: it has this value, or was last written at this revision; 0: it is not there. */
export type Condition =
  | { readonly key: string; readonly value: Uint8Array }
  | { readonly key: string; readonly revision: bigint };

/**
 * A store of keys and values that can compare keys and write one in a single step. What was written before a call began is
 * seen by it. It throws a {@link KeyStoreError} if it does not do what is asked.
 */
export interface KeyStore {
  /** The present value of a key; `undefined` if there is no such key. */
  get(key: string, options?: Signal): Promise<Pair | undefined>;
  /** The pairs whose keys begin with `prefix` and come after `after`, in the order of their keys, at most `limit`. */
  list(
    prefix: string,
    after: string | undefined,
    limit: number,
    options?: Signal,
  ): Promise<{ readonly pairs: readonly Pair[]; readonly more: boolean }>;
  /** Writes a key if every condition holds, in one step. Answers false if one does not. */
  putIf(conditions: readonly Condition[], key: string, value: Uint8Array, options?: Signal): Promise<boolean>;
}

/**
 * A store, or a write to it, did not do what was asked. The outcomes are three different answers: after `not_executed` the same
 * may be asked again, after `refused` it is of no use, and after `unknown` it may still happen.
 */
export class KeyStoreError extends Error {
  readonly outcome: 'not_executed' | 'refused' | 'unknown';
  /** How long to wait before it is asked again, in milliseconds, if that is known. */
  readonly retryAfterMs: number | undefined;

  constructor(outcome: 'not_executed' | 'refused' | 'unknown', message: string, retryAfterMs?: number) {
    super(message);
    this.name = 'KeyStoreError';
    this.outcome = outcome;
    this.retryAfterMs = retryAfterMs;
  }
}
