/** Fences in a server's own store: no write that comes too late undoes a migration. */

import { setTimeout as sleep } from 'node:timers/promises';

import { SynodError } from './base.cjs';
import type { CallOptions } from './call.cjs';
import { type FenceGuard, type Gate, type Permit } from './gate.cjs';
import { ConflictError } from './generated/errors.cjs';
import type * as v1 from './generated/messages.cjs';
import { KeyStoreError, type Condition, type KeyStore, type Pair } from './key_store.cjs';
import { StoreError, type FencedStore, type StorePage, type Wanted } from './migrator.cjs';

type Signal = Pick<CallOptions, 'signal'>;

/** How long to wait for what a moment brings, in milliseconds: a newer agreement, or a new permit. */
const PAUSE_MS = 20;

/** Makes the new value of a key, in the version that is named, of its present one; there may be none. */
export type Change = (object: Pair | undefined, encoding: string) => Uint8Array | Promise<Uint8Array>;

/** A store, and where the fences of its resources are in it. */
class Fences {
  readonly store: KeyStore;
  readonly #prefix: string;

  constructor(store: KeyStore, prefix: string) {
    this.store = store;
    this.#prefix = prefix;
  }

  key({ group, resource }: v1.GroupResource): string {
    return `${this.#prefix}${resource}${group === '' ? '' : `.${group}`}`;
  }

  async read(resource: v1.GroupResource, signal?: Signal): Promise<Uint8Array | undefined> {
    return (await this.store.get(this.key(resource), signal))?.value;
  }

  unchanged(resource: v1.GroupResource, present: Uint8Array | undefined): Condition {
    const key = this.key(resource);
    return present === undefined ? { key, revision: 0n } : { key, value: present };
  }
}

/**
 * Writes the objects of a server, each on condition that the fence of its resource lets the server write.
 *
 * A server asks its gate in which version to encode, and then calls its store. A call that is held up for longer than
 * `write_grace` may land behind a migration worker and put an old version back, where nobody looks for one. A store that
 * compares and writes in one step keeps that out: beside the objects of a resource it holds a fence key, which the worker
 * raises to the agreement of its migration before it lists, and which every write compares.
 *
 * A delete leaves no old version behind, so it needs no fence.
 */
export class FencedWriter {
  readonly #guard: FenceGuard;
  readonly #fences: Fences;
  /**
   * The fences as they were read last, one of each resource. An old one makes a write fail that could have landed, or does
   * not pass the check, and is then read again.
   */
  readonly #seen = new Map<string, Uint8Array | undefined>();

  /** `fences` is what the keys of the fences begin with, and no key of an object. */
  constructor(guard: FenceGuard, store: KeyStore, fences: string) {
    this.#guard = guard;
    this.#fences = new Fences(store, fences);
  }

  /**
   * Changes an object, or creates it, until it is stored: takes a permit, reads the object, encodes what `change` makes of it
   * in the version that the permit names, and writes. All of it again if somebody was faster, or if a migration has moved the
   * fence, for at most `limitMs`, 10 seconds if not set.
   *
   * It throws a {@link KeyStoreError}: `not_executed` if the limit is over or the store does not answer, `refused` if the
   * store or the fence keeps the write out for good, and `unknown` if it may still land.
   */
  async update(
    gate: Gate,
    resource: v1.GroupResource,
    key: string,
    change: Change,
    { limitMs = 10_000, signal }: Signal & { readonly limitMs?: number } = {},
  ): Promise<void> {
    const deadline = performance.now() + limitMs;
    for (;;) {
      const permit = await permitted(gate.permit(resource, { waitMs: Math.max(0, Math.ceil(deadline - performance.now())), signal }));
      let [object, value]: [Pair | undefined, Uint8Array] = [undefined, EMPTY];
      try {
        object = await this.#fences.store.get(key, { signal });
        value = await change(object, permit.encoding);
      } catch (error) {
        permit.done();
        throw error;
      }
      let pauseMs = 0;
      try {
        if (await this.write(permit, key, object?.revision ?? 0n, value, { signal })) return;
      } catch (error) {
        if (!(error instanceof KeyStoreError) || error.outcome !== 'not_executed') throw error;
        pauseMs = error.retryAfterMs ?? PAUSE_MS;
      }
      if (performance.now() + pauseMs >= deadline) throw new KeyStoreError('not_executed', `${key} could not be written in time`);
      await sleep(pauseMs, undefined, { signal });
    }
  }

  /**
   * Writes an object that was encoded in the version of its permit, if it is still as it was read: `revision` is that of its
   * {@link Pair}, and `0n` for an object that is not there. Answers false if somebody has changed it since. The permit is
   * given back, by what came of the write.
   *
   * It throws a {@link KeyStoreError}: `not_executed` if a new permit has to be taken: the store was migrated under an
   * agreement that this server has not seen yet, or the permit is void, or the store did not take the write.
   */
  async write(permit: Permit, key: string, revision: bigint, value: Uint8Array, signal: Signal = {}): Promise<boolean> {
    const { resource } = permit;
    const name = this.#fences.key(resource);
    let fence: Uint8Array | undefined;
    try {
      fence = await this.#checked(permit);
    } catch (error) {
      // It was never sent.
      permit.done();
      throw error;
    }
    let stored: boolean;
    try {
      stored = await this.#fences.store.putIf([{ key, revision }, this.#fences.unchanged(resource, fence)], key, value, signal);
    } catch (error) {
      if (error instanceof KeyStoreError && error.outcome !== 'unknown') permit.done();
      else permit.unknownOutcome();
      throw error;
    }
    permit.done();
    if (!stored && !same(await this.#read(resource), fence)) {
      throw new KeyStoreError('not_executed', `a migration has moved the fence ${name} since it was read`);
    }
    return stored;
  }

  /** The fence, which lets the write pass. */
  async #checked(permit: Permit): Promise<Uint8Array | undefined> {
    const name = this.#fences.key(permit.resource);
    if (this.#seen.has(name)) {
      const known = this.#seen.get(name);
      try {
        this.#check(permit, known);
        return known;
      } catch (error) {
        // What keeps the write out may have been mended since it was read.
        if (!(error instanceof KeyStoreError)) throw error;
      }
    }
    const fence = await this.#read(permit.resource);
    this.#check(permit, fence);
    return fence;
  }

  /** Reads the fence of a resource, and keeps it for the next writes. */
  async #read(resource: v1.GroupResource): Promise<Uint8Array | undefined> {
    const fence = await this.#fences.read(resource);
    this.#seen.set(this.#fences.key(resource), fence);
    return fence;
  }

  #check(permit: Permit, fence: Uint8Array | undefined): void {
    try {
      this.#guard.check(permit, fence);
      permit.check();
    } catch (error) {
      if (!(error instanceof SynodError)) throw error;
      // If the fence is of another cluster or resource, only an operator can mend that.
      throw new KeyStoreError(error instanceof ConflictError ? 'refused' : 'not_executed', error.message);
    }
  }
}

/** Where the objects of a program are, and how they are encoded anew. */
export interface Recoder {
  /** What the keys of a resource's objects begin with, and no other key. */
  prefix(resource: v1.GroupResource): string;
  /**
   * An object in the encoding that the migration wants; `undefined` if it needs no rewrite. If everything is written anew
   * (`migration.reason`), an object in that encoding needs one, too. It throws anything if the object cannot be decoded: the
   * worker goes on with the others, and the migration fails in the end.
   */
  recode(migration: v1.Migration, object: Pair): Uint8Array | undefined | Promise<Uint8Array | undefined>;
}

/** An object as a worker has it. */
export interface ListedPair {
  readonly key: string;
  readonly value: string;
  readonly revision: string;
}

/** The objects of a {@link KeyStore}, as the store of a worker: `client.migrator({ store: new FencedObjects(...), ... })`. */
export class FencedObjects implements FencedStore<ListedPair> {
  readonly #fences: Fences;
  readonly #recoder: Recoder;
  readonly #pageSize: number;

  /**
   * `fences` is what the keys of the fences begin with: as the {@link FencedWriter}s of the servers have it. `pageSize` is how
   * many objects are read at once, 100 if not set.
   */
  constructor(store: KeyStore, recoder: Recoder, fences: string, { pageSize = 100 }: { readonly pageSize?: number } = {}) {
    this.#fences = new Fences(store, fences);
    this.#recoder = recoder;
    this.#pageSize = pageSize;
  }

  /** The content of a resource's fence key. */
  readFence(resource: v1.GroupResource, signal: Wanted): Promise<Uint8Array | undefined> {
    return forWorker(this.#fences.read(resource, signal));
  }

  /** Writes the fence key if it holds `present`. */
  writeFence(
    resource: v1.GroupResource,
    present: Uint8Array | undefined,
    fence: Uint8Array,
    signal: Wanted,
  ): Promise<boolean> {
    const unchanged = this.#fences.unchanged(resource, present);
    return forWorker(this.#fences.store.putIf([unchanged], this.#fences.key(resource), fence, signal));
  }

  /** A page of objects. */
  async listPage(migration: v1.Migration, token: string | undefined, signal: Wanted): Promise<StorePage<ListedPair>> {
    const prefix = this.#recoder.prefix(resourceOf(migration));
    const { pairs, more } = await forWorker(this.#fences.store.list(prefix, token, this.#pageSize, signal));
    const objects = pairs.map(({ key, value, revision }) => {
      return { key, value: Buffer.from(value).toString('base64'), revision: revision.toString() };
    });
    return { objects, ...(more && { next: pairs.at(-1)?.key }) };
  }

  /** Writes an object in the target's encoding, if the fence key holds `fence`. */
  async rewrite(
    migration: v1.Migration,
    { key, value, revision }: ListedPair,
    { fence, ...signal }: Wanted & { readonly fence: Uint8Array },
  ): Promise<void> {
    const pair = { key, value: new Uint8Array(Buffer.from(value, 'base64')), revision: BigInt(revision) };
    let recoded: Uint8Array | undefined;
    try {
      recoded = await this.#recoder.recode(migration, pair);
    } catch (error) {
      throw new StoreError({ kind: 'undecodable', key, why: error instanceof Error ? error.message : String(error) });
    }
    if (recoded === undefined) return;
    const resource = resourceOf(migration);
    const conditions = [{ key, revision: pair.revision }, this.#fences.unchanged(resource, fence)];
    if (await forWorker(this.#fences.store.putIf(conditions, key, recoded, signal))) return;
    if (same(await forWorker(this.#fences.read(resource, signal)), fence)) throw new StoreError({ kind: 'conflict' });
    throw new Error('somebody has raised the fence: this migration is over');
  }
}

/**
 * What a store answers, with its faults as a worker knows them. What may have been executed may be asked again, too: all
 * writes of a worker have conditions, so the second one finds what the first has done.
 */
async function forWorker<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (!(error instanceof KeyStoreError) || error.outcome === 'refused') throw error;
    const { retryAfterMs } = error;
    throw new StoreError({ kind: 'busy', ...(retryAfterMs !== undefined && { retryAfterMs }) });
  }
}

async function permitted(permit: Promise<Permit>): Promise<Permit> {
  try {
    return await permit;
  } catch (error) {
    throw error instanceof SynodError ? new KeyStoreError('not_executed', error.message) : error;
  }
}

const EMPTY = new Uint8Array();

const resourceOf = ({ resource }: v1.Migration): v1.GroupResource => resource ?? { group: '', resource: '' };

function same(one: Uint8Array | undefined, other: Uint8Array | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  return Buffer.compare(one, other) === 0;
}
