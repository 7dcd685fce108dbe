/** The client: what it is made from, and where its calls are. */

import { resolve } from 'node:path';

import { direct, settled, type CallOptions } from './call.cjs';
import type * as v1 from './generated/messages.cjs';
import { Services } from './generated/services.cjs';
import { requests } from './generated/traces.cjs';
import { FenceGuard } from './gate.cjs';
import { Election, LeaseObserver, Lock, toLockJson, type ElectionOptions, type LockOptions } from './lock.cjs';
import { Membership, type JoinOptions } from './membership.cjs';
import {
  Migrator,
  isFenced,
  recoding,
  storing,
  type CollectionsMigratorOptions,
  type StoreMigratorOptions,
} from './migrator.cjs';
import { native, type NativeClient, type NativeMigrator, type NativeObjectReflector } from './native.cjs';
import { Objects, type Codec, type Fences } from './objects.cjs';
import { Reflector, type Reflected } from './reflector.cjs';
import { tlsOptions, tokenOption, type Tls, type Token } from './tls.cjs';
import { fromJson, toJson, type Init } from './values.cjs';
import { Watch, toWatchJson, type WatchOptions } from './watch.cjs';

/** What a client is made from. */
export interface ClientOptions {
  /** Where the replicas serve clients, each as `host:port`. Give all of them. */
  readonly endpoints: readonly string[];
  /** By when a call is answered, over all its tries; 10 seconds if not set. */
  readonly requestTimeoutMs?: number | undefined;
  /** How long one attempt to connect may take; 2 seconds if not set. */
  readonly connectTimeoutMs?: number | undefined;
  /** How often each connection is asked whether it is alive; 10 seconds if not set. */
  readonly keepaliveIntervalMs?: number | undefined;
  /** How long a connection has to say that it is alive; 5 seconds if not set. */
  readonly keepaliveTimeoutMs?: number | undefined;
  /** Whether changing calls are made in a session, so that they can be repeated; they are if not set. */
  readonly sessions?: boolean | undefined;
  /** Transport security; connections are not encrypted if not set. */
  readonly tls?: Tls | undefined;
  /**
   * Proves who this client is in place of a certificate: the token of a Kubernetes service account. A file is read again
   * when it has changed.
   */
  readonly token?: Token | undefined;
  /**
   * Who this client is by the policy of the replicas: leases are held under names that begin with it where no holder is
   * named. Without it those names are random, which only admins may use where callers are known.
   */
  readonly name?: string | undefined;
}

/** What a backup is of that was written to a file. */
export interface BackupWritten {
  /** The id of the cluster. */
  readonly clusterId: string;
  /** The name that its replicas were started with. */
  readonly clusterName: string;
  /** The revision that it is of, with every change up to it and none after. */
  readonly revision: bigint;
  /** The length of the file. */
  readonly bytes: bigint;
  /** The SHA-256 of the file but for its end, which holds it, in hexadecimal digits. */
  readonly sha256: string;
}

/** How a backup is written. */
export interface BackupOptions {
  /** Whether a file of this name is replaced; it is not if not set. */
  readonly replace?: boolean | undefined;
  /** Gives the backup up: nothing is left of it. */
  readonly signal?: AbortSignal | undefined;
}

type Signal = Pick<CallOptions, 'signal'>;

/**
 * A client of a cluster. It fails over between replicas under one deadline, and carries changes exactly once through a
 * session. An idle client keeps no process alive.
 *
 * The services of the protocol are attributes with a method for each call, as `client.objects.create(...)`; what lives
 * longer than a call is made by the methods here.
 */
export class Client extends Services implements AsyncDisposable {
  readonly #native: NativeClient;

  /**
   * Waits for no replica: connections are made when they are needed. Throws if an endpoint is no address, or a certificate
   * or the token cannot be used.
   */
  constructor(options: ClientOptions) {
    const secured = { tls: tlsOptions(options.tls), token: tokenOption(options.token) };
    const made = direct(() => new native.Client(JSON.stringify({ ...options, ...secured })));
    super({
      call: async (method, input, output, request, { signal, timeoutMs }) => {
        const json = toJson(input, request);
        return fromJson(output, await settled(signal, (token) => made.call(method, json, timeoutMs, token), method));
      },
    });
    this.#native = made;
  }

  /** The endpoints, as they were given. */
  get endpoints(): string[] {
    return this.#native.endpoints();
  }

  /** How the cluster does. */
  status(options: CallOptions = {}): Promise<v1.ClusterStatusResponse> {
    return this.cluster.status({}, options);
  }

  /**
   * Joins the cluster as a member, and stays one as long as the membership is kept. An older instance under the same id is
   * replaced.
   */
  async join(options: JoinOptions, { signal }: Signal = {}): Promise<Membership> {
    const json = JSON.stringify(options);
    return new Membership(await settled(signal, (token) => this.#native.join(json, token), requests['Client.join']));
  }

  /** Watches the cluster. Returns once the watch stands: what is changed from then on will be delivered. */
  async watch(options: WatchOptions = {}, { signal }: Signal = {}): Promise<Watch> {
    const json = toWatchJson(options);
    return new Watch(await settled(signal, (token) => this.#native.watch(json, token), requests['Client.watch']));
  }

  /** A cache of all objects of these kinds; none: of all kinds. Returns once it is filled. */
  async reflect(kinds: readonly (keyof Reflected)[] = [], { signal }: Signal = {}): Promise<Reflector> {
    return new Reflector(await settled(signal, (token) => this.#native.reflect(JSON.stringify({ kinds }), token)));
  }

  /** Waits for a lease, in the order in which those who want it came, and holds it. */
  async lock(options: LockOptions, { signal }: Signal = {}): Promise<Lock> {
    const json = toLockJson(options);
    return new Lock(await settled(signal, (token) => this.#native.lock(json, token), requests['Client.lock']));
  }

  /** Holds a lease if nobody else does; else it throws a `ConflictError`. */
  async tryLock(options: LockOptions, { signal }: Signal = {}): Promise<Lock> {
    const json = toLockJson(options);
    return new Lock(await settled(signal, (token) => this.#native.tryLock(json, token), requests['Client.try_lock']));
  }

  /** An election to take part in. */
  election(options: ElectionOptions): Election {
    return new Election(direct(() => this.#native.election(toLockJson(options))));
  }

  /** Observes a lease, which need not exist. */
  observeLease(lease: Init<v1.LeaseKey>): LeaseObserver {
    return new LeaseObserver(direct(() => this.#native.observeLease(toJson('LeaseKey', lease))));
  }

  /** The objects of a collection as values of one type; with fences, every write is made only while they hold. */
  objectsOf<T>(resource: v1.GroupResource, codec: Codec<T>, fences?: Fences): Objects<T> {
    const json = { ...(JSON.parse(toJson('Fences', fences ?? {})) as object), encodeIn: codec.preferred };
    const made = direct(() => this.#native.objects(JSON.stringify(json)));
    const follow = (options: string, { signal }: Signal): Promise<NativeObjectReflector> =>
      settled(signal, (token) => this.#native.reflectObjects(options, token));
    return new Objects(made, this.objects, follow, resource, codec, fences);
  }

  /** A worker for collections of the cluster, or for objects in a store of the program's own. */
  migrator<O>(options: CollectionsMigratorOptions | StoreMigratorOptions<O>): Migrator {
    const { worker, ttlMs, objectsPerSecond, objectsAtOnce } = options;
    const common = { worker, ttlMs, objectsPerSecond, objectsAtOnce };
    const make = (own: object): NativeMigrator =>
      direct(() => this.#native.migrator(JSON.stringify({ ...common, ...own })));
    if ('store' in options) {
      const { store, resources } = options;
      const own = isFenced(store) ? { store: 'fenced' } : { store: 'own', walks: store.walks };
      return new Migrator(make({ ...own, resources }), storing(options), objectsAtOnce);
    }
    const { collections, pageSize } = options;
    const resources = collections.map(({ resource }) => resource);
    return new Migrator(make({ resources, pageSize }), recoding(options), objectsAtOnce);
  }

  /** What a member's writes pass the fence of its store by. It follows the cluster until it is closed. */
  async fenceGuard(member: string, { signal }: Signal = {}): Promise<FenceGuard> {
    return new FenceGuard(await settled(signal, (token) => this.#native.fenceGuard(member, token)));
  }

  /**
   * Writes the whole state of the cluster, as it is at one revision, to a file that `synod backup verify` and `restore` read.
   * The file appears once it is whole and on the disk, for its owner alone; a part of it at a time is in memory. It holds
   * every object: guard it, or encrypt it by `age`.
   */
  async backUp(path: string, { replace, signal }: BackupOptions = {}): Promise<BackupWritten> {
    const options = JSON.stringify({ path: resolve(path), replace });
    const written = JSON.parse(await settled(signal, (token) => this.#native.backUp(options, token), requests['Client.back_up'])) as Record<
      keyof BackupWritten,
      string
    >;
    return { ...written, revision: BigInt(written.revision), bytes: BigInt(written.bytes) };
  }

  /** Lets the connections go. Calls under way are answered; new ones are refused. */
  close(): void {
    this.#native.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }
}
