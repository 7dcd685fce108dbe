/** Watching: every change, in order, for as long as one likes. */

import { settled, type CallOptions } from './call.cjs';
import type * as v1 from './generated/messages.cjs';
import type { CallToken, NativeWatch } from './native.cjs';
import { fromJson, toJson, type Init } from './values.cjs';

/** What to watch, and from where. Left out: everything, from now on. */
export interface WatchOptions {
  /** Which events to deliver; left out: all. */
  readonly filter?: Init<v1.WatchFilter> | undefined;
  /**
   * Where to begin: `now`, with what changes from now on; `list`, with all that there is as one `resync`; or the first
   * revision to deliver. If the history of that is gone: as from a list.
   */
  readonly from?: 'now' | 'list' | bigint | undefined;
  /** How often a replica that has nothing else to send says so: 1,000 to 30,000; 10,000 if not set. */
  readonly bookmarkIntervalMs?: number | undefined;
  /**
   * False: the watch ends with a `CompactedError` where its history is gone, in place of beginning anew by a `resync`; its
   * `metadata.oldest_revision` is the first that can be used.
   */
  readonly resync?: boolean | undefined;
  /** After how long without any replica the watch ends with an error; never if not set. */
  readonly disconnectLimitMs?: number | undefined;
}

/** One message of a watch. */
export type WatchMessage =
  /**
   * All that one revision changed; with the leader's wall clock, for display, and the proved identity of the caller whose
   * change made it, if this client may operate.
   */
  | {
      readonly type: 'events';
      readonly revision: bigint;
      readonly events: v1.Event[];
      readonly timeMs?: bigint;
      readonly caller?: string;
    }
  /**
   * The watch begins with a list, or the history that it needs is gone. What is here, after what was delivered before,
   * makes all that there is at this revision: first what is gone, then what is new, then what is changed.
   */
  | { readonly type: 'resync'; readonly revision: bigint; readonly events: v1.Event[] }
  /** Nothing more up to this revision. */
  | { readonly type: 'bookmark'; readonly revision: bigint };

/** What Rust gives one after the other, whenever it is asked. */
interface Source {
  next(token: CallToken | undefined): Promise<string | null>;
  close(): void;
}

/** Values that are pulled one after the other: `for await (const value of pulled)`. */
export abstract class Pulled<T> implements AsyncIterableIterator<T>, AsyncDisposable {
  readonly #native: Source;
  readonly #read: (json: string) => T;
  /** What was asked before: calls of `next` are answered in their order. */
  #last: Promise<unknown> = Promise.resolve();

  /** @internal */
  constructor(native: Source, read: (json: string) => T) {
    this.#native = native;
    this.#read = read;
  }

  /**
   * The next one. After an error has ended it, or `close`, it is done. A call that its signal aborts takes nothing away: the
   * next one gets it.
   */
  next(options: Pick<CallOptions, 'signal'> = {}): Promise<IteratorResult<T, undefined>> {
    const answer = this.#last.then(async () => {
      const json = await settled(options.signal, (token) => this.#native.next(token));
      return json === null ? { done: true as const, value: undefined } : { done: false as const, value: this.#read(json) };
    });
    // Who comes next waits for this one, however it ends.
    this.#last = answer.catch(() => undefined);
    return answer;
  }

  /** Ends it; a pending `next` is done. */
  close(): void {
    this.#native.close();
  }

  /** Ends it, as leaving a `for await` does. */
  async return(): Promise<IteratorResult<T, undefined>> {
    this.close();
    return { done: true, value: undefined };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}

/**
 * A watch of all that changes, in the order of the revisions: `for await (const message of watch)`.
 *
 * It reconnects by itself, to any replica, and goes on where it was: nothing is missed and nothing comes twice. It reads
 * as fast as it is asked: what is not asked for waits at the replica. An open watch without a pending `next` keeps no
 * process alive.
 */
export class Watch extends Pulled<WatchMessage> {
  /** @internal */
  constructor(native: NativeWatch) {
    super(native, message);
  }
}

/** How a watch is asked for in Rust. @internal */
export function toWatchJson({ filter, from, bookmarkIntervalMs, ...rest }: WatchOptions): string {
  const [fromRevision, list] = typeof from === 'bigint' ? [from, {}] : [undefined, from === 'list' ? { from } : {}];
  const request = JSON.parse(toJson('WatchRequest', { filter, fromRevision, bookmarkIntervalMs })) as object;
  return JSON.stringify({ ...request, ...rest, ...list });
}

/** One of the three, as Rust writes it. */
interface MessageJson {
  readonly events?: EventsJson;
  readonly resync?: EventsJson;
  readonly bookmark?: { readonly revision: string };
}

interface EventsJson {
  readonly revision: string;
  readonly events?: readonly unknown[];
  readonly timeMs?: string;
  readonly caller?: string;
}

function message(json: string): WatchMessage {
  const { events, resync, bookmark } = JSON.parse(json) as MessageJson;
  if (events) {
    const { timeMs, caller } = events;
    const time = timeMs === undefined ? {} : { timeMs: BigInt(timeMs) };
    return { type: 'events', ...changes(events), ...time, ...(caller === undefined ? {} : { caller }) };
  }
  if (resync) return { type: 'resync', ...changes(resync) };
  return { type: 'bookmark', revision: BigInt(bookmark?.revision ?? 0) };
}

function changes({ revision, events = [] }: EventsJson): { revision: bigint; events: v1.Event[] } {
  return { revision: BigInt(revision), events: events.map((event) => fromJson('Event', event)) };
}
