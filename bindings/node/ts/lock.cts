/** Holding a lease, and leader election by it. */

import { direct, settled, type CallOptions } from './call.cjs';
import type * as v1 from './generated/messages.cjs';
import { requests } from './generated/traces.cjs';
import type { SynodError, Failure } from './base.cjs';
import { failed } from './error.cjs';
import type { NativeElection, NativeLock, NativeObserver } from './native.cjs';
import { fromJson, toJson, type Init } from './values.cjs';
import { Pulled } from './watch.cjs';

/** How to hold a lease. */
export interface LockOptions {
  /** The namespace of the lease. */
  readonly namespace: string;
  /** The name of the lease in its namespace. */
  readonly name: string;
  /** Under which name to hold it; left out: one that no other process has. */
  readonly holder?: string | undefined;
  /** How long the lease is held after a renewal; 15 seconds if not set. */
  readonly ttlMs?: number | undefined;
  /** Only while this member speaks under this epoch. */
  readonly ifMember?: Init<v1.MemberEpoch> | undefined;
}

/** How to take part in an election. */
export interface ElectionOptions extends LockOptions {
  /**
   * To stand for the lease under `holder`: of those who stand, the one of the lowest emulation version leads. Left out: who
   * asks first leads.
   */
  readonly candidate?: { readonly binaryVersion: string; readonly emulationVersion: string } | undefined;
}

/** @internal */
export function toLockJson({ namespace, name, ifMember, ...options }: ElectionOptions): string {
  const member = ifMember && { ifMember: JSON.parse(toJson('MemberEpoch', ifMember)) as unknown };
  return JSON.stringify({ ...options, ...member, lease: { namespace, name } });
}

/**
 * A lease that this process holds. It renews by itself until it is released or lost.
 *
 * Whoever acts under it asks `check` right before, and names `proof` in what is written: only the store that compares the
 * token is safe against a process that was suspended between the two.
 */
export class Lock implements AsyncDisposable {
  /** @internal */
  readonly native: NativeLock;

  /** @internal */
  constructor(native: NativeLock) {
    this.native = native;
  }

  /** Who holds it: this process. */
  get holder(): string {
    return this.native.holder;
  }

  /** The fencing token, which is higher than that of every holder before. */
  get token(): bigint {
    return this.native.token;
  }

  /** What a write names that is to be made only while this lock is held: `fences: { ifLease: lock.proof }`. */
  get proof(): v1.LeaseToken {
    return fromJson('LeaseToken', this.native.proof);
  }

  /** Throws unless the lease is certainly held now. */
  check(): void {
    direct(() => this.native.check());
  }

  /** Waits until the lease is lost, or may be, and answers why: stop acting under it. */
  async lost(options: Pick<CallOptions, 'signal'> = {}): Promise<SynodError> {
    const json = await settled(options.signal, (token) => this.native.lost(token));
    return failed(JSON.parse(json) as Failure);
  }

  /** Gives the lease up; who waits next has it at once. */
  async release(options: Pick<CallOptions, 'signal'> = {}): Promise<void> {
    await settled(options.signal, (token) => this.native.release(token), requests['Lock.release']);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.release();
  }
}

/** What leading is given up for. */
export type LeadershipEnd =
  /** The lease is lost, or may be: stop at once. */
  | { readonly type: 'lost'; readonly error: SynodError }
  /** Another candidate should lead: end in order, and release. */
  | { readonly type: 'preferred'; readonly candidate: string };

/** An election in which this process takes part. */
export class Election {
  readonly #native: NativeElection;

  /** @internal */
  constructor(native: NativeElection) {
    this.#native = native;
  }

  /** Waits until this process leads. Its signal gives the place up, so that nobody who is gone is chosen. */
  async campaign(options: Pick<CallOptions, 'signal'> = {}): Promise<Lock> {
    return new Lock(await settled(options.signal, (token) => this.#native.campaign(token), requests['Election.campaign']));
  }

  /** Waits, while this process leads, for what it is over by. */
  async over(lock: Lock, options: Pick<CallOptions, 'signal'> = {}): Promise<LeadershipEnd> {
    const end = await settled(options.signal, (token) => this.#native.over(lock.native, token));
    if (end.lost === undefined) return { type: 'preferred', candidate: end.preferred ?? '' };
    return { type: 'lost', error: failed(JSON.parse(end.lost) as Failure) };
  }

  /** Observes who leads: the lease as it is now, and after that each time it has changed. */
  observe(): LeaseObserver {
    return new LeaseObserver(this.#native.observe());
  }

  /** Stands no longer. A lease that is held is released by itself. */
  async withdraw(options: Pick<CallOptions, 'signal'> = {}): Promise<void> {
    await settled(options.signal, (token) => this.#native.withdraw(token), requests['Election.withdraw']);
  }
}

/** Observes a lease: `null` while there is none, and else the lease, each time it has changed. */
export class LeaseObserver extends Pulled<v1.Lease | null> {
  /** @internal */
  constructor(native: NativeObserver) {
    super(native, (json) => (json === 'null' ? null : fromJson('Lease', json)));
  }
}
