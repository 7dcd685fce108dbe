/** The objects of one collection, as values of one type. */

import { direct, settled, type CallOptions } from './call.cjs';
import type { ObjectsService } from './generated/services.cjs';
import type * as v1 from './generated/messages.cjs';
import { requests } from './generated/traces.cjs';
import type { NativeObjectReflector, NativeObjects } from './native.cjs';
import { ObjectReflector, type ObjectName, type Selected, type Stored } from './object_reflector.cjs';
import { fromJson, toJson, type Init } from './values.cjs';

type Signal = Pick<CallOptions, 'signal'>;

/** Begins to follow the objects that a document selects. */
type Follow = (options: string, signal: Signal) => Promise<NativeObjectReflector>;

/** What a value is encoded as. */
export interface Encoded {
  readonly data: Uint8Array;
  /** The form of the data; `application/json` if left out. */
  readonly mediaType?: string | undefined;
}

/**
 * Encodes the values of one collection, in each of its versions, and decodes them. It may also compress and encrypt: what
 * it makes is all that the cluster ever sees.
 */
export interface Codec<T> {
  /** The version to begin with, while nobody has said which one is selected. */
  readonly preferred: string;
  /** The value in this version. */
  encode(value: T, version: string, key: v1.ObjectKey): Encoded | Promise<Encoded>;
  /** The value that was encoded, in whichever version that was. */
  decode(content: v1.ObjectContent, key: v1.ObjectKey): T | Promise<T>;
  /**
   * Whether two contents are the same to a reader, in version as in value. Left out: every byte counts. A codec whose output
   * differs each time, as that of an encryption should, says here what it compares.
   */
  isSame?(one: v1.ObjectContent, other: v1.ObjectContent): boolean | Promise<boolean>;
}

/** What a change works on: the value and what is said of it, to be changed in place or replaced. */
export interface Draft<T> {
  value: T;
  attributes: v1.ObjectAttributes;
}

/** What became of a guaranteed update. */
export interface Updated<T> extends Stored<T> {
  /** False: it was as it is wanted already. */
  readonly changed: boolean;
  /** True: its last finalizer was removed, and it is gone. */
  readonly deleted: boolean;
}

/** What must be true of the writer when a write is applied. */
export type Fences = Init<v1.Fences>;

/**
 * The objects of one collection, as values of one type. In a strict collection everything is stored in the selected version:
 * a write in another one is encoded again and sent again, and the program never sees it.
 */
export class Objects<T> {
  readonly #native: NativeObjects;
  readonly #service: ObjectsService;
  readonly #follow: Follow;
  readonly #codec: Codec<T>;
  readonly #fences: Fences | undefined;
  /** The resource of the collection. */
  readonly resource: v1.GroupResource;

  /** @internal */
  constructor(
    native: NativeObjects,
    service: ObjectsService,
    follow: Follow,
    resource: v1.GroupResource,
    codec: Codec<T>,
    fences: Fences | undefined,
  ) {
    this.#native = native;
    this.#service = service;
    this.#follow = follow;
    this.#codec = codec;
    this.#fences = fences;
    this.resource = resource;
  }

  /** The version that the next write is encoded in. */
  get version(): string {
    return direct(() => this.#native.version());
  }

  /** Encodes from now on in this version: the one that a permit of the gate names, say. */
  encodeIn(version: string): void {
    direct(() => this.#native.encodeIn(version));
  }

  /** Reads one object. */
  async get(name: ObjectName, options: CallOptions & { readonly read?: Init<v1.ReadOptions> } = {}): Promise<Stored<T>> {
    const { read, ...call } = options;
    const { object } = await this.#service.get({ key: this.#key(name), ...(read && { read }) }, call);
    return this.#stored(object as v1.Object);
  }

  /** Reads the objects of the collection, page by page, all at one revision. */
  async *list(
    query: Omit<Init<v1.ObjectsListRequest>, 'resource' | 'continueToken'> = {},
    options: CallOptions = {},
  ): AsyncGenerator<Stored<T>, void> {
    let continueToken = '';
    do {
      const page = await this.#service.list({ ...query, resource: this.resource, continueToken }, options);
      for (const item of page.items) yield await this.#stored(item.object as v1.Object);
      continueToken = page.continueToken;
    } while (continueToken !== '');
  }

  /** A cache of the objects that are selected; without a selector, of all. Returns once it is filled. */
  async reflect(selected: Selected = {}, { signal }: Signal = {}): Promise<ObjectReflector<T>> {
    const native = await this.#follow(JSON.stringify({ resource: this.resource, ...selected }), { signal });
    return new ObjectReflector(native, (object) => this.#stored(object));
  }

  /** Stores a new object. */
  async create(
    name: ObjectName,
    value: T,
    options: Signal & { readonly attributes?: Init<v1.ObjectAttributes>; readonly ttlMs?: bigint } = {},
  ): Promise<Stored<T>> {
    const key = this.#key(name);
    const { attributes, ttlMs } = options;
    const json = toJson('ObjectsCreateRequest', { key, attributes, ttlMs });
    const creator = direct(() => this.#native.creator(json));
    for (;;) {
      const content = toJson('ObjectContent', await this.#encoded(value, await creator.version(), key));
      const json = await settled(options.signal, (token) => creator.write(content, token), requests['Creator.write']);
      if (json !== null) return { object: fromJson('Object', json), value };
    }
  }

  /**
   * Changes an object: applies `change` to it and stores what comes of it, and if somebody else was faster, does so again
   * with what the object is then. `change` may be asynchronous, and changes the draft in place.
   *
   * It begins with `cached`, if that is given, and else reads. Nothing is written if `change` changes nothing, but that is
   * believed only of an object that was not from a cache.
   */
  async guaranteedUpdate(
    name: ObjectName,
    change: (draft: Draft<T>) => void | Promise<void>,
    options: Signal & { readonly cached?: v1.Object } = {},
  ): Promise<Updated<T>> {
    const { signal, cached } = options;
    const key = this.#key(name);
    const updater = direct(() => this.#native.updater(toJson('ObjectKey', key), cached && toJson('Object', cached)));
    let step = await settled(signal, (token) => updater.begin(token), requests['Updater.begin']);
    for (;;) {
      const object = fromJson<v1.Object>('Object', step.object);
      const draft: Draft<T> = { value: await this.#decoded(object), attributes: attributesOf(object) };
      try {
        await change(draft);
      } catch (error) {
        // On an object from a cache it has another chance, on the present one.
        const another = await settled(signal, (token) => updater.failed(token), requests['Updater.failed']);
        if (another === null) throw error;
        step = another;
        continue;
      }
      const content = await this.#encoded(draft.value, step.version ?? '', key);
      const same = await this.#codec.isSame?.(object.content ?? EMPTY, content);
      const attributes = toJson('ObjectAttributes', draft.attributes);
      const json = toJson('ObjectContent', content);
      step = await settled(signal, (token) => updater.write(attributes, json, same, token), requests['Updater.write']);
      if (step.version === undefined) {
        const { changed, deleted } = step;
        return { object: fromJson('Object', step.object), value: draft.value, changed, deleted };
      }
    }
  }

  /** Deletes an object, or has it deleted once its finalizers are gone. */
  delete(
    name: ObjectName,
    request: Omit<Init<v1.ObjectsDeleteRequest>, 'key' | 'fences'> = {},
    options: CallOptions = {},
  ): Promise<v1.ObjectsDeleteResponse> {
    const fences = this.#fences;
    return this.#service.delete({ ...request, key: this.#key(name), ...(fences && { fences }) }, options);
  }

  #key({ namespace = '', name }: ObjectName): v1.ObjectKey {
    return { resource: this.resource, namespace, name };
  }

  async #stored(object: v1.Object): Promise<Stored<T>> {
    return { object, value: await this.#decoded(object) };
  }

  async #decoded(object: v1.Object): Promise<T> {
    const { namespace = '', name = '' } = object.metadata ?? {};
    return this.#codec.decode(object.content ?? EMPTY, this.#key({ namespace, name }));
  }

  async #encoded(value: T, encodingVersion: string, key: v1.ObjectKey): Promise<v1.ObjectContent> {
    const { data, mediaType = 'application/json' } = await this.#codec.encode(value, encodingVersion, key);
    return { encodingVersion, mediaType, data };
  }
}

const EMPTY: v1.ObjectContent = { encodingVersion: '', mediaType: '', data: new Uint8Array() };

function attributesOf({ metadata }: v1.Object): v1.ObjectAttributes {
  const { labels = {}, annotations = {}, ownerReferences = [], finalizers = [] } = metadata ?? {};
  return {
    labels: { ...labels },
    annotations: { ...annotations },
    ownerReferences: [...ownerReferences],
    finalizers: [...finalizers],
  };
}
