/** A cache that follows the cluster. */

import { direct, settled, type CallOptions } from './call.cjs';
import type * as v1 from './generated/messages.cjs';
import type { NativeReflector } from './native.cjs';
import { fromJson } from './values.cjs';

/** The kinds that a reflector keeps, and what it keeps of each. */
export interface Reflected {
  OBJECT_KIND_MEMBER: v1.Member;
  OBJECT_KIND_STORAGE_VERSION: v1.StorageVersion;
  OBJECT_KIND_STORAGE_STATE: v1.StorageState;
  OBJECT_KIND_SETTINGS: v1.Settings;
  OBJECT_KIND_COLLECTION: v1.Collection;
  OBJECT_KIND_CONTROLLER_REVISION: v1.ControllerRevision;
  OBJECT_KIND_LEASE: v1.Lease;
  OBJECT_KIND_LEASE_CANDIDATE: v1.LeaseCandidate;
  OBJECT_KIND_MIGRATION: v1.Migration;
  OBJECT_KIND_ROSTER: v1.Roster;
}

/** What an object in a reflector is found by. */
export interface ReflectedName {
  readonly name?: string | undefined;
  readonly namespace?: string | undefined;
  /** Of a storage version, a storage state or a collection, in place of its name. */
  readonly resource?: v1.GroupResource | undefined;
}

/** The message of each kind. */
const MESSAGES: { readonly [Kind in keyof Reflected]: string } = {
  OBJECT_KIND_MEMBER: 'Member',
  OBJECT_KIND_STORAGE_VERSION: 'StorageVersion',
  OBJECT_KIND_STORAGE_STATE: 'StorageState',
  OBJECT_KIND_SETTINGS: 'Settings',
  OBJECT_KIND_COLLECTION: 'Collection',
  OBJECT_KIND_CONTROLLER_REVISION: 'ControllerRevision',
  OBJECT_KIND_LEASE: 'Lease',
  OBJECT_KIND_LEASE_CANDIDATE: 'LeaseCandidate',
  OBJECT_KIND_MIGRATION: 'Migration',
  OBJECT_KIND_ROSTER: 'Roster',
};

/** A cache of everything of some kinds. It always shows one revision as a whole, never a mix of two. */
export class Reflector implements AsyncDisposable {
  readonly #native: NativeReflector;

  /** @internal */
  constructor(native: NativeReflector) {
    this.#native = native;
  }

  /** The revision that the cache shows. */
  get revision(): bigint {
    return direct(() => this.#native.revision());
  }

  /** All objects of a kind, in their order. */
  list<Kind extends keyof Reflected>(kind: Kind): Reflected[Kind][] {
    const items = JSON.parse(direct(() => this.#native.list(kind))) as unknown[];
    return items.map((item) => fromJson(MESSAGES[kind], item));
  }

  /** One object, by its name alone or with its namespace; what is about a resource also by that. */
  get<Kind extends keyof Reflected>(kind: Kind, of: string | ReflectedName): Reflected[Kind] | undefined {
    const asked = typeof of === 'string' ? { name: of } : of;
    const json = direct(() => this.#native.get(JSON.stringify({ kind, ...asked })));
    return json === null ? undefined : fromJson(MESSAGES[kind], json);
  }

  /** Waits until something in the cache has changed after `since`, and answers the revision of the last change. */
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
}
