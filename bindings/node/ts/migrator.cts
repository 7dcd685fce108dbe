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
}

/** A worker for collections of the cluster, by the codec of each. */
export interface CollectionsMigratorOptions extends CommonOptions {
  /** Which resources it can rewrite, and how each is encoded. */
  readonly collections: readonly { readonly resource: v1.GroupResource; readonly codec: Codec<any> }[];
  /** How many objects it writes at the same time; one after the other if not set. */
  readonly objectsAtOnce?: number | undefined;
  /** How many objects it reads at once. */
  readonly pageSize?: number | undefined;
}

/** A worker for objects in a store of the program's own. */
export interface StoreMigratorOptions<O> extends CommonOptions {
  /** Which resources it can rewrite. */
  readonly resources: readonly v1.GroupResource[];
  /** Where they are. */
  readonly store: Store<O>;
}

/** A store whose objects a worker rewrites. Objects are whatever JSON can say, such as the key and version of each. */
export interface Store<O> {
  /**
   * The objects after `token`, a page of them; from the first one without it.
   *
   * All of them are rewritten, so leave out what is known to need no rewrite: what is in the target's version, and where
   * everything is written anew (`migration.reason`), what is known to have been stored as a whole after the migration's start.
   * A token is best the key of the last object: it is saved in the cluster, and comes back in another process, long after a
   * snapshot that it names is gone. A list that can only begin anew is given up after a few times.
   */
  listPage(migration: v1.Migration, token: string | undefined): Promise<StorePage<O>>;
  /** Writes an object as it is, in the target's encoding, and only if nobody has changed it since it was listed. */
  rewrite(migration: v1.Migration, object: O): Promise<void>;
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
 * What became of a migration that was worked at: all is rewritten, it was given up, or it is another worker's. The
 * assumptions are what a completion rests on beside what is known; none: nothing.
 */
export type Worked =
  | { readonly worked: 'completed'; readonly assumptions: readonly v1.Assumption[] }
  | { readonly worked: 'failed'; readonly failure: v1.MigrationFailure }
  | { readonly worked: 'lost' };

/** Answers what a worker asks, as a document. @internal */
export type Answer = (asked: Asked) => Promise<object>;

/** What a worker asks: one of the three. @internal */
export interface Asked {
  readonly list?: { readonly migration: unknown; readonly token?: string };
  readonly rewrite?: { readonly migration: unknown; readonly object: unknown };
  readonly recode?: { readonly object: unknown; readonly version: string };
}

/** A worker that carries migrations out: it claims them, rewrites every object page by page, and says how far it is. */
export class Migrator implements AsyncDisposable {
  readonly #native: NativeMigrator;
  readonly #answer: Answer;

  /** @internal */
  constructor(native: NativeMigrator, answer: Answer) {
    this.#native = native;
    this.#answer = answer;
  }

  /** Works at every migration of its resources, those of today and those to come, until the signal aborts it or `close`. */
  async run({ signal }: Signal = {}): Promise<void> {
    await this.#answering(settled(signal, (token) => this.#native.run(token)));
  }

  /** Works at one migration; `undefined`: it is not to be had now. */
  async runOne(name: string, { signal }: Signal = {}): Promise<Worked | undefined> {
    const json = await this.#answering(settled(signal, (token) => this.#native.runOne(name, token)));
    const { worked, failure, assumptions = [] } = JSON.parse(json) as {
      worked?: Worked['worked'];
      failure?: unknown;
      assumptions?: readonly unknown[];
    };
    switch (worked) {
      case undefined:
        return undefined;
      case 'completed':
        return { worked, assumptions: assumptions.map((assumed) => fromJson<v1.Assumption>('Assumption', assumed)) };
      case 'failed':
        return { worked, failure: fromJson('MigrationFailure', failure) };
      case 'lost':
        return { worked };
    }
  }

  /** Stops the worker. What it was at is taken up by another when its claim has ended. */
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

  async #tasks(over: AbortSignal): Promise<void> {
    while (!over.aborted) {
      let task: NativeTask | null;
      try {
        task = await settled(over, (token) => this.#native.task(token));
      } catch (error) {
        if (over.aborted) return;
        throw error;
      }
      if (task === null) return;
      task.answer(JSON.stringify(await this.#answer(JSON.parse(task.document()) as Asked)));
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
  return async ({ list, rewrite }) => {
    try {
      if (list !== undefined) return { page: await store.listPage(fromJson('Migration', list.migration), list.token) };
      await store.rewrite(fromJson('Migration', rewrite?.migration), rewrite?.object as O);
      return { rewritten: true };
    } catch (error) {
      return { error: error instanceof StoreError ? error.fault : { kind: 'refused', why: said(error) } };
    }
  };
}

const said = (error: unknown): string => (error instanceof Error ? error.message : String(error));
