/** A cache of the objects of one collection. */

import { direct, settled, type CallOptions } from './call.cjs';
import type * as v1 from './generated/messages.cjs';
import type { NativeObjectReflector } from './native.cjs';
import { fromJson } from './values.cjs';

/** An object, and the value that it holds. */
export interface Stored<T> {
  readonly object: v1.Object;
  readonly value: T;
}

/** An object's namespace, if its collection has them, and its name. */
export interface ObjectName {
  readonly namespace?: string | undefined;
  readonly name: string;
}

/** Which objects of a collection are followed. */
export interface Selected {
  /** Only objects of these namespaces; left out: of all. */
  readonly namespaces?: readonly string[] | undefined;
  /** Only objects whose labels match, in the form of Kubernetes. */
  readonly labelSelector?: string | undefined;
  /** Only objects whose fields match, in the form of Kubernetes. */
  readonly fieldSelector?: string | undefined;
}

/** All objects of a cache at one revision. */
export interface Snapshot<T> {
  readonly revision: bigint;
  /** The objects, ordered by namespace and name. */
  readonly objects: readonly Stored<T>[];
}

/** What has changed, as Rust says it. */
interface Changes {
  readonly gone: readonly { readonly namespace: string; readonly name: string }[];
  readonly changed: readonly unknown[];
}

/** An object of the cache: as it came, and once somebody has asked for it, as it was decoded. */
interface Row<T> {
  readonly key: string;
  readonly object: v1.Object;
  stored?: Promise<Stored<T>>;
}

/**
 * Objects of one collection as values, kept in memory and up to date by a watch.
 *
 * It always shows one revision as a whole, and may be behind the cluster: `reached` waits for a revision, such as that of
 * one's own write. `guaranteedUpdate` may begin with an object from it. Lost connections and replicas, and a history that is
 * gone, are made good by a list; nothing of that can be seen here.
 *
 * An object is decoded when it is first asked for, and once for each change of it, so readers share its value: do not change
 * it in place. It takes the memory of the objects that it follows, and of the last change of each since somebody looked. It
 * keeps no process alive.
 */
export class ObjectReflector<T> implements AsyncDisposable {
  readonly #native: NativeObjectReflector;
  readonly #decode: (object: v1.Object) => Promise<Stored<T>>;
  readonly #rows = new Map<string, Row<T>>();
  #revision = 0n;
  /** Why a change could not be taken over: what the cache has is of no revision. */
  #broken: { readonly cause: unknown } | undefined;

  /** @internal */
  constructor(native: NativeObjectReflector, decode: (object: v1.Object) => Promise<Stored<T>>) {
    this.#native = native;
    this.#decode = decode;
  }

  /** The revision that the cache shows: all of it, and nothing else. */
  get revision(): bigint {
    return direct(() => this.#native.revision());
  }

  /** One object; `undefined` if there is none. Waits for nothing but the codec, and fails as that does. */
  async get({ namespace = '', name }: ObjectName): Promise<Stored<T> | undefined> {
    this.#pull();
    const row = this.#rows.get(keyOf(namespace, name));
    return row && this.#stored(row);
  }

  /** All objects, at one revision. Waits for nothing but the codec, and fails as that does. */
  async snapshot(): Promise<Snapshot<T>> {
    this.#pull();
    const revision = this.#revision;
    const rows = [...this.#rows.values()].sort((one, other) => (one.key < other.key ? -1 : 1));
    return { revision, objects: await Promise.all(rows.map((row) => this.#stored(row))) };
  }

  /** All objects, ordered by namespace and name, as of one revision. */
  async list(): Promise<readonly Stored<T>[]> {
    return (await this.snapshot()).objects;
  }

  /** Waits until the revision is after `since`, and answers it. */
  changed(since: bigint, options: Pick<CallOptions, 'signal'> = {}): Promise<bigint> {
    return settled(options.signal, (token) => this.#native.changed(since, token));
  }

  /** Waits until the cache shows this revision or a later one. */
  async reached(revision: bigint, options: CallOptions = {}): Promise<void> {
    await settled(options.signal, (token) => this.#native.reached(revision, options.timeoutMs, token));
  }

  /** Follows the cluster no longer. */
  close(): void {
    this.#native.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }

  #stored(row: Row<T>): Promise<Stored<T>> {
    if (row.stored !== undefined) return row.stored;
    const decoding = this.#decode(row.object);
    row.stored = decoding;
    // A codec that has failed may do better the next time.
    decoding.catch(() => delete row.stored);
    return decoding;
  }

  /** Takes over what has changed, all of one revision or nothing. */
  #pull(): void {
    if (this.#broken !== undefined) throw new Error('this cache lacks a change that could not be read', this.#broken);
    const { revision, changes } = direct(() => this.#native.pull());
    if (changes !== undefined) {
      try {
        this.#takeOver(JSON.parse(changes) as Changes);
      } catch (cause) {
        // It is not told again.
        this.#broken = { cause };
        this.close();
        throw cause;
      }
    }
    this.#revision = revision;
  }

  #takeOver({ gone, changed }: Changes): void {
    const rows = changed.map((each): Row<T> => {
      const object = fromJson<v1.Object>('Object', each);
      return { key: keyOf(object.metadata?.namespace ?? '', object.metadata?.name ?? ''), object };
    });
    for (const { namespace, name } of gone) this.#rows.delete(keyOf(namespace, name));
    for (const row of rows) this.#rows.set(row.key, row);
  }
}

/** Orders by namespace and then by name: a NUL is in neither, and before all that is. */
const keyOf = (namespace: string, name: string): string => `${namespace}\0${name}`;
