/** Being a member. */

import { failed } from './error.cjs';
import type { SynodError, Failure } from './base.cjs';
import { direct, settled, type CallOptions } from './call.cjs';
import { Gate } from './gate.cjs';
import type * as v1 from './generated/messages.cjs';
import { requests } from './generated/traces.cjs';
import type { NativeMembership } from './native.cjs';
import { fromJson, toJson, type Init } from './values.cjs';

/** How to join. */
export interface JoinOptions {
  /** The member's id, which is the same over restarts of the server; `apiserverId` makes the one of Kubernetes. */
  readonly id: string;
  /** How long the member is kept after a renewal; 15 seconds if not set. */
  readonly ttlMs?: number | undefined;
  /** What the server says of itself, to be selected by. */
  readonly labels?: { readonly [key: string]: string } | undefined;
  /** The release that it runs, for display. */
  readonly version?: string | undefined;
  /** Where it can be reached, for display. */
  readonly endpoint?: string | undefined;
  /** Resources that are one in the store, each list one store. */
  readonly equivalents?: readonly (readonly v1.GroupResource[])[] | undefined;
  /** How long `gate.permit` waits; 5 seconds if not set. */
  readonly permitWaitMs?: number | undefined;
  /** How long a change of what is reported waits for the permits of its resources; 3 minutes if not set. */
  readonly drainLimitMs?: number | undefined;
}

/** Why a membership is over for good: another process has its id, it left, or it was dropped. */
export type Ended = 'replaced' | 'left' | 'stopped';

/** How a membership does. */
export interface MembershipState {
  /** The present epoch, which is the member's fencing token; absent while there is none. */
  readonly epoch?: bigint;
  /** Whether the epoch can be proved; if not, the gate is closed. */
  readonly proved: boolean;
  /** Whether the present epoch has reported all of its resources. */
  readonly reported: boolean;
  /** Whether the present epoch has said that it is ready. */
  readonly ready: boolean;
  /** Why it is over for good, if it is. */
  readonly ended?: Ended;
  /** What went wrong last; absent once all is well again. */
  readonly lastError?: SynodError;
}

/**
 * A membership, kept alive in the background until it is left. It renews, joins again after it expired, reports again what
 * was reported, and adopts what is selected once its permits are drained. When another instance joins under its id, it
 * stops for good.
 */
export class Membership implements AsyncDisposable {
  readonly #native: NativeMembership;
  /** The gate that every write has to pass. */
  readonly gate: Gate;

  /** @internal */
  constructor(native: NativeMembership) {
    this.#native = native;
    this.gate = new Gate(native.gate(), native);
  }

  /** The member's id. */
  get id(): string {
    return this.#native.id;
  }

  /** What this process calls itself: it tells two processes under one id apart. */
  get instance(): string {
    return this.#native.instance;
  }

  /** How it does. */
  get state(): MembershipState {
    return state(direct(() => this.#native.state()));
  }

  /** The present epoch, which is the member's fencing token; `undefined` while there is none. */
  get epoch(): bigint | undefined {
    return this.state.epoch;
  }

  /** Waits until it does otherwise than it does now, and answers how. */
  async stateChanged(options: Pick<CallOptions, 'signal'> = {}): Promise<MembershipState> {
    return state(await settled(options.signal, (token) => this.#native.stateChanged(token)));
  }

  /** Waits until it is over for good, and answers why. A program that is replaced must not go on writing. */
  async ended(options: Pick<CallOptions, 'signal'> = {}): Promise<Ended> {
    return (await settled(options.signal, (token) => this.#native.ended(token))) as Ended;
  }

  /**
   * Reports all resources of the server, in one command. The gate opens for each of them when that is acknowledged, and
   * closes for those that are not named any more.
   */
  async report(
    entries: readonly Init<v1.ReportEntry>[],
    options: Pick<CallOptions, 'signal'> = {},
  ): Promise<v1.StorageVersionsReportResponse> {
    const json = entries.map((entry) => toJson('ReportEntry', entry));
    const answer = await settled(options.signal, (token) => this.#native.report(`[${json.join()}]`, token), requests['Membership.report']);
    return fromJson('StorageVersionsReportResponse', answer);
  }

  /** Reports one resource anew, or a new one, beside the others. */
  async reportChange(
    entry: Init<v1.ReportEntry>,
    options: Pick<CallOptions, 'signal'> = {},
  ): Promise<v1.StorageVersionsReportResponse> {
    const json = toJson('ReportEntry', entry);
    const answer = await settled(options.signal, (token) => this.#native.reportChange(json, token), requests['Membership.report_change']);
    return fromJson('StorageVersionsReportResponse', answer);
  }

  /** Says that the server is ready. It is said again after every join that the membership makes by itself. */
  async ready(options: Pick<CallOptions, 'signal'> = {}): Promise<void> {
    await settled(options.signal, (token) => this.#native.ready(token), requests['Membership.ready']);
  }

  /**
   * Leaves the cluster. The gate gives no permits any more; those that are out have so long to come back. Whatever is
   * answered, the membership is over.
   */
  async leave(options: Pick<CallOptions, 'signal'> & { readonly drainLimitMs?: number | undefined } = {}): Promise<void> {
    await settled(options.signal, (token) => this.#native.leave(options.drainLimitMs, token), requests['Membership.leave']);
  }

  /** Leaves, and does not wait for permits that are out. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.leave({ drainLimitMs: 0 });
  }
}

interface StateJson {
  readonly epoch?: string;
  readonly proved?: boolean;
  readonly reported?: boolean;
  readonly ready?: boolean;
  readonly ended?: Ended;
  readonly lastError?: Failure;
}

function state(json: string): MembershipState {
  const { epoch, proved = false, reported = false, ready = false, ended, lastError } = JSON.parse(json) as StateJson;
  return {
    proved,
    reported,
    ready,
    ...(epoch && { epoch: BigInt(epoch) }),
    ...(ended && { ended }),
    ...(lastError && { lastError: failed(lastError) }),
  };
}
