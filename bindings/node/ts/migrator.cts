/** Workers that carry migrations out. */

import { settled, type CallOptions } from './call.cjs';
import type * as v1 from './generated/messages.cjs';
import type { NativeMigrator, NativeTask } from './native.cjs';
import type { Codec } from './objects.cjs';
import { fromJson, toJson } from './values.cjs';

type Signal = Pick<CallOptions, 'signal'>;

interface CommonOptions {
  /** Under which name it claims, for people. */
  readonly worker: string;
  /** How long it may be silent before another takes its place, in milliseconds; 15 seconds if not set. */
  readonly ttlMs?: number | undefined;
  /** How many objects it rewrites in a second at most; as many as the store takes if not set. */
  readonly objectsPerSecond?: number | undefined;
  /** How many objects it writes at the same time; one after the other if not set. */
  readonly objectsAtOnce?: number | undefined;
}

/** A worker for collections of the cluster, by the codec of each. */
export interface CollectionsMigratorOptions extends CommonOptions {
  /** Which resources it can rewrite, and how each is encoded. */
  readonly collections: readonly { readonly resource: v1.GroupResource; readonly codec: Codec<any> }[];
  /** How many objects it reads at once. */
  readonly pageSize?: number | undefined;
}

/** A worker for objects in a store of the program's own. */
export interface StoreMigratorOptions<O> extends CommonOptions {
  /** Which resources it can rewrite. */
  readonly resources: readonly v1.GroupResource[];
  /** Where they are. With fences, the worker raises the fence key of a resource before it lists. */
  readonly store: Store<O> | FencedStore<O>;
}

/** What every call of a store gets beside its arguments. */
export interface Wanted {
  /**
   * Aborts when the worker does not wait for the call any more: its migration was aborted, or is another worker's now, or
   * the worker was closed. The worker goes on once the call has ended, so pass it on to what the call waits for.
   */
  readonly signal: AbortSignal;
}

/** A store whose objects a worker rewrites. Objects are whatever JSON can say, such as the key and version of each. */
export interface Store<O> {
  /**
   * Which objects it lists: those of the resource's collection in the cluster, those stored outside of the cluster, or both;
   * `WALK_OUTSIDE` if not set. A migration whose objects may be in a place that the store does not list is left to a worker that
   * lists more. Since 0.1.
   */
  readonly walks?: v1.Walk | undefined;
  /**
   * The objects after `token`, a page of them; from the first one without it.
   *
   * All of them are rewritten, so leave out what is known to need no rewrite: what is in the target's version, and where
   * everything is written anew (`migration.reason`), what is known to have been stored as a whole after the migration's start.
   * A token is best the key of the last object: it is saved in the cluster, and comes back in another process, long after a
   * snapshot that it names is gone. A list that can only begin anew is given up after a few times.
   */
  listPage(migration: v1.Migration, token: string | undefined, wanted: Wanted): Promise<StorePage<O>>;
  /**
   * Writes an object as it is, in the target's encoding, and only if nobody has changed it since it was listed. A worker that is
   * stopped gives its claim back without waiting for this: the write may land when another worker has the migration.
   */
  rewrite(migration: v1.Migration, object: O, wanted: Wanted): Promise<void>;
}

/**
 * A store whose objects a worker rewrites, and that can write something on condition that a key still holds a value.
 *
 * Beside the objects of a resource it keeps a fence key, which the worker raises to the agreement of its migration before it
 * lists, and which every write of a server compares ({@link FenceGuard}): so no write lands behind the worker, however late.
 * {@link FencedObjects} is one over a {@link KeyStore}, such as {@link Etcd}.
 */
export interface FencedStore<O> {
  /** The content of a resource's fence key; `undefined` if there is no such key. */
  readFence(resource: v1.GroupResource, wanted: Wanted): Promise<Uint8Array | undefined>;
  /**
   * Writes the fence key if it holds `present`; for `undefined`, if there is no such key. Answers whether it was written.
   */
  writeFence(
    resource: v1.GroupResource,
    present: Uint8Array | undefined,
    fence: Uint8Array,
    wanted: Wanted,
  ): Promise<boolean>;
  /** As `listPage` of a {@link Store}. It must not be answered from a state of the store that is older than the call. */
  listPage(migration: v1.Migration, token: string | undefined, wanted: Wanted): Promise<StorePage<O>>;
  /**
   * As `rewrite` of a {@link Store}, but only if the fence key holds `fence`; if it holds another one, it throws an error
   * that is no {@link StoreError}.
   */
  rewrite(migration: v1.Migration, object: O, wanted: Wanted & { readonly fence: Uint8Array }): Promise<void>;
}

/** A page of objects. */
export interface StorePage<O> {
  readonly objects: readonly O[];
  /** Where the next page begins; left out at the end. */
  readonly next?: string | undefined;
  /** How many objects there may be behind this page, if the store says so. */
  readonly remaining?: number | undefined;
}

/** Why a store did not do what a worker asked: what the worker decides by. */
export type StoreFault =
  /** It is not there. HTTP: 404. */
  | { readonly kind: 'not_found' }
  /** Somebody has changed the object since it was listed, and encoded it anew by that: it is done. HTTP: 409. */
  | { readonly kind: 'conflict' }
  /**
   * It would not write as the migration requires now, such as a server that encodes another version still: the worker gives
   * its claim back, another one may go on, and this one asks again later.
   */
  | { readonly kind: 'not_ready'; readonly why: string }
  /** It cannot be listed or updated at all. HTTP: 405. */
  | { readonly kind: 'not_supported' }
  /** The worker may not. HTTP: 401 and 403. */
  | { readonly kind: 'forbidden' }
  /** The list has taken too long. HTTP: 410, whose body has a token that goes on with what is there now. */
  | { readonly kind: 'expired'; readonly token?: string }
  /** It has too much to do, or did not answer in time. HTTP: 429, 500, 503 and 504. */
  | { readonly kind: 'busy'; readonly retryAfterMs?: number }
  /** No codec can read the object of this key. */
  | { readonly kind: 'undecodable'; readonly key: string; readonly why: string };

/** What a store throws for a worker to decide by. Anything else that it throws ends the migration, with its message. */
export class StoreError extends Error {
  readonly fault: StoreFault;

  constructor(fault: StoreFault) {
    super(`the store answered ${JSON.stringify(fault)}`);
    this.name = 'StoreError';
    this.fault = fault;
  }
}

/**
 * What became of a migration that was worked at: all is rewritten, it was given up, it was given back for the next worker to
 * go on with, or it is another worker's. The assumptions are what a completion rests on beside what is known; none: nothing.
 */
export type Worked =
  | { readonly worked: 'completed'; readonly assumptions: readonly v1.Assumption[] }
  | { readonly worked: 'failed'; readonly failure: v1.MigrationFailure }
  | { readonly worked: 'released'; readonly why: string }
  | { readonly worked: 'lost' };

/** Answers what a worker asks, as a document. @internal */
export type Answer = (asked: Asked, wanted: Wanted) => Promise<object>;

/** What a worker asks: one of these. @internal */
export interface Asked {
  readonly list?: { readonly migration: unknown; readonly token?: string };
  readonly rewrite?: { readonly migration: unknown; readonly object: unknown; readonly fence?: string };
  readonly readFence?: { readonly resource: unknown };
  readonly writeFence?: { readonly resource: unknown; readonly present: string | null; readonly fence: string };
  readonly recode?: { readonly object: unknown; readonly version: string };
}

/**
 * A worker that carries migrations out: it claims them, rewrites every object page by page, and says how far it is. Its store
 * or codec is called for as many objects at a time as `objectsAtOnce` says.
 */
export class Migrator implements AsyncDisposable {
  readonly #native: NativeMigrator;
  readonly #answer: Answer;
  readonly #atOnce: number;

  /** @internal */
  constructor(native: NativeMigrator, answer: Answer, atOnce = 1) {
    this.#native = native;
    this.#answer = answer;
    this.#atOnce = atOnce;
  }

  /**
   * Works at every migration of its resources, those of today and those to come, until the signal aborts it or `close`. Then
   * what it has claimed is given back, so that another worker goes on at once: that takes a moment, and three seconds at most.
   */
  async run({ signal }: Signal = {}): Promise<void> {
    await this.#answering(settled(signal, (token) => this.#native.run(token)));
    signal?.throwIfAborted();
  }

  /**
   * Works at one migration; `undefined`: it is not to be had now. It is stopped as `run` is, and then throws the reason of the
   * signal, unless the work had ended by itself: that is told.
   */
  async runOne(name: string, { signal }: Signal = {}): Promise<Worked | undefined> {
    const json = await this.#answering(settled(signal, (token) => this.#native.runOne(name, token)));
    const { worked, failure, why = '', assumptions = [] } = JSON.parse(json) as {
      worked?: Worked['worked'];
      failure?: unknown;
      why?: string;
      assumptions?: readonly unknown[];
    };
    if (worked === undefined || worked === 'released') signal?.throwIfAborted();
    switch (worked) {
      case undefined:
        return undefined;
      case 'completed':
        return { worked, assumptions: assumptions.map((assumed) => fromJson<v1.Assumption>('Assumption', assumed)) };
      case 'failed':
        return { worked, failure: fromJson('MigrationFailure', failure) };
      case 'released':
        return { worked, why };
      case 'lost':
        return { worked };
    }
  }

  /**
   * Stops the worker. What it was at is given back for another one to go on with, before the promises of `run` and `runOne`
   * are settled: wait for them before the process ends. A process that is killed gives nothing back, and its claim runs out.
   */
  close(): void {
    this.#native.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }

  /** Answers what the worker asks until it has worked. */
  async #answering<T>(working: Promise<T>): Promise<T> {
    const over = new AbortController();
    const ended = working.finally(() => over.abort());
    const answered = this.#tasks(over.signal);
    // Whichever fails first says why; the other one ends with it.
    answered.catch(() => this.close());
    await Promise.allSettled([ended, answered]);
    await answered;
    return ended;
  }

  /** Answers tasks, several at a time, until it is over; then what is still under way is aborted, and waited for. */
  async #tasks(over: AbortSignal): Promise<void> {
    const answering = new Answering(this.#answer, () => this.close());
    try {
      while (!over.aborted) {
        const asked = await settled(over, (token) => this.#native.asking(token)).catch((error: unknown) => {
          if (over.aborted) return undefined;
          throw error;
        });
        if (asked === undefined || asked.ended) return;
        const task = asked.takeTask();
        if (task === null) answering.withdraw();
        else await answering.take(task, this.#atOnce);
      }
    } finally {
      await answering.end();
    }
  }
}

/** The tasks that are being answered. */
class Answering {
  readonly #answer: Answer;
  readonly #close: () => void;
  readonly #underWay = new Map<Promise<void>, { readonly task: NativeTask; readonly controller: AbortController }>();
  #failure: { readonly error: unknown } | undefined;

  /** `close` closes the worker, which would wait for ever for a task that could not be answered. */
  constructor(answer: Answer, close: () => void) {
    this.#answer = answer;
    this.#close = close;
  }

  /** Begins to answer a task. One that was aborted may take a while to end: the next ones wait for it. */
  async take(task: NativeTask, atOnce: number): Promise<void> {
    while (this.#underWay.size >= atOnce) await Promise.race(this.#underWay.keys());
    if (!task.isWanted()) return;
    const controller = new AbortController();
    const answered = this.#answered(task, controller.signal).finally(() => this.#underWay.delete(answered));
    this.#underWay.set(answered, { task, controller });
  }

  /** Aborts what is not wanted any more. */
  withdraw(): void {
    for (const { task, controller } of this.#underWay.values()) if (!task.isWanted()) controller.abort();
  }

  /** Aborts all, waits for it, and throws what could not be answered. */
  async end(): Promise<void> {
    for (const { controller } of this.#underWay.values()) controller.abort();
    await Promise.all(this.#underWay.keys());
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  async #answered(task: NativeTask, signal: AbortSignal): Promise<void> {
    try {
      task.answer(JSON.stringify(await this.#answer(JSON.parse(task.document()) as Asked, { signal })));
    } catch (error) {
      this.#failure ??= { error };
      this.#close();
    }
  }
}

/** Answers for the codecs of collections. @internal */
export function recoding({ collections }: CollectionsMigratorOptions): Answer {
  const codecs = new Map<string, Codec<unknown>>();
  const name = (resource: v1.GroupResource | undefined): string => `${resource?.resource}.${resource?.group}`;
  for (const { resource, codec } of collections) codecs.set(name(resource), codec);
  return async ({ recode }) => {
    const { version = '' } = recode ?? {};
    const object = fromJson<v1.Object>('Object', recode?.object);
    const { metadata, resource, content } = object;
    const key = { resource: resource as v1.GroupResource, namespace: metadata?.namespace ?? '', name: metadata?.name ?? '' };
    const codec = codecs.get(name(resource));
    let value: unknown;
    try {
      if (codec === undefined) throw new Error(`there is no codec for ${name(resource)}`);
      value = await codec.decode(content as v1.ObjectContent, key);
    } catch (error) {
      return { undecodable: said(error) };
    }
    try {
      const { data, mediaType = 'application/json' } = await codec.encode(value, version, key);
      return { content: JSON.parse(toJson('ObjectContent', { encodingVersion: version, mediaType, data })) as object };
    } catch (error) {
      return { notEncodable: said(error) };
    }
  };
}

/** Answers for a store. @internal */
export function storing<O>({ store }: StoreMigratorOptions<O>): Answer {
  return async (asked, wanted) => {
    try {
      return await stored(store, asked, wanted);
    } catch (error) {
      return { error: error instanceof StoreError ? error.fault : { kind: 'refused', why: said(error) } };
    }
  };
}

async function stored<O>(store: Store<O> | FencedStore<O>, asked: Asked, wanted: Wanted): Promise<object> {
  const { list, rewrite, readFence, writeFence } = asked;
  if (list !== undefined) return { page: await store.listPage(fromJson('Migration', list.migration), list.token, wanted) };
  if (rewrite !== undefined) {
    const [migration, object] = [fromJson<v1.Migration>('Migration', rewrite.migration), rewrite.object as O];
    if (isFenced(store)) await store.rewrite(migration, object, { ...wanted, fence: Buffer.from(rewrite.fence ?? '') });
    else await store.rewrite(migration, object, wanted);
    return { rewritten: true };
  }
  const fenced = store as FencedStore<O>;
  if (readFence !== undefined) {
    const fence = await fenced.readFence(fromJson('GroupResource', readFence.resource), wanted);
    return { fence: fence === undefined ? null : Buffer.from(fence).toString('base64') };
  }
  const { resource, present, fence } = writeFence ?? { resource: {}, present: null, fence: '' };
  const found = present === null ? undefined : new Uint8Array(Buffer.from(present, 'base64'));
  return { written: await fenced.writeFence(fromJson('GroupResource', resource), found, Buffer.from(fence), wanted) };
}

/** Whether a store has fence keys. @internal */
export function isFenced<O>(store: Store<O> | FencedStore<O>): store is FencedStore<O> {
  return 'writeFence' in store;
}

const said = (error: unknown): string => (error instanceof Error ? error.message : String(error));
