/** The write gate: no object reaches the store before the cluster knows in which version it is encoded. */

import type { IncomingMessage, ServerResponse } from 'node:http';

import { direct, settled, type CallOptions } from './call.cjs';
import type * as v1 from './generated/messages.cjs';
import type { NativeDoor, NativeFenceGuard, NativeGate, NativePermit } from './native.cjs';
import { fromJson, toJson } from './values.cjs';

/** How a permit is asked for. */
export interface PermitOptions extends Pick<CallOptions, 'signal'> {
  /** How long to wait for the gate to open, in milliseconds; 0: not at all; left out: as the membership was told. */
  readonly waitMs?: number | undefined;
}

/**
 * A permit to write objects of one resource in one encoding, under one epoch.
 *
 * The order is: encode in `encoding`; call `check` right before the store is called; call the store; then `done` when it
 * has answered, or `unknownOutcome` when it has not. A permit that is collected without a word is taken for one of unknown
 * outcome if a check has ever passed, so say so.
 */
export class Permit implements Disposable {
  readonly #native: NativePermit;

  /** @internal */
  constructor(native: NativePermit) {
    this.#native = native;
  }

  /** @internal */
  static nativeOf(permit: Permit): NativePermit {
    return permit.#native;
  }

  /** The resource that may be written, as it was reported. */
  get resource(): v1.GroupResource {
    return fromJson('GroupResource', this.#native.resource());
  }

  /** The version in which to encode. */
  get encoding(): string {
    return this.#native.encoding();
  }

  /** The epoch that the permit belongs to. */
  get epoch(): bigint {
    return this.#native.epoch();
  }

  /** A revision of the cluster at which the member's entry allowed the encoding. */
  get revision(): bigint {
    return this.#native.revision();
  }

  /** Throws if the write may not be sent to the store now. Call this right before the store. */
  check(): void {
    direct(() => this.#native.check());
  }

  /** The store has answered, or was never called: no write under this permit can land any more. */
  done(): void {
    this.#native.done();
  }

  /** The store was called and has not answered: the write may still land, so the permit is held for a while. */
  unknownOutcome(): void {
    this.#native.unknownOutcome();
  }

  /** Lets the permit go: what was not said before is decided by whether a check has passed. */
  [Symbol.dispose](): void {
    this.#native.release();
  }
}

/** How the middleware of a gate works. */
export interface MiddlewareOptions {
  /** How long a write may wait for the gate to open before it is refused, in milliseconds; not at all if not set. */
  readonly waitMs?: number | undefined;
  /** Further resources that the server answers and does not store, so that they are never reported. */
  readonly notStored?: readonly v1.GroupResource[] | undefined;
}

/** A request to a server that the gate stands before. */
export interface GatedRequest {
  /** The permit of a request that writes; absent for one that passes without. */
  permit?: Permit;
}

/** What `gate.middleware` gives: for express and connect as it is, and for `node:http` with what comes next as a function. */
export type Middleware = (
  request: IncomingMessage & GatedRequest,
  response: ServerResponse,
  next: (error?: unknown) => void,
) => void;

/** As much of fastify as the hook needs. */
export interface FastifyLikeRequest {
  readonly raw: IncomingMessage;
}

/** As much of fastify as the hook needs. */
export interface FastifyLikeReply {
  readonly raw: ServerResponse;
  code(status: number): unknown;
  header(name: string, value: string): unknown;
  send(body: string): unknown;
}

/** What becomes of an HTTP request: it is refused with this answer, or it passes, with a permit if it writes. */
export interface Admitted {
  readonly refused?: Refused;
  readonly permit?: Permit;
}

/** The answer in place of the server's: a `Status` of Kubernetes. */
export interface Refused {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

/**
 * What a server's own discovery shows of a resource as `storageVersionHash`, or why there is no consensus: then leave the
 * field out.
 *
 * It follows the gate: a hash is only shown while the server may write, and then it is of the version in which it encodes.
 * Whoever reads it, such as a migrator, takes it for the version of all servers, so it is not shown before they all agree.
 */
export type Discovery =
  | { readonly hash: string; readonly noConsensus?: undefined }
  | { readonly hash?: undefined; readonly noConsensus: string };

/** The write gate of a membership. It is closed for a resource until its report was acknowledged. */
export class Gate {
  readonly #native: NativeGate;
  /** The membership lives as long as somebody has its gate. @internal */
  readonly owner: object;

  /** @internal */
  constructor(native: NativeGate, owner: object) {
    this.#native = native;
    this.owner = owner;
  }

  /** A permit to write objects of a resource. Waits for the gate to open. */
  async permit(resource: v1.GroupResource, options: PermitOptions = {}): Promise<Permit> {
    const { signal, waitMs } = options;
    const json = toJson('GroupResource', resource);
    return new Permit(await settled(signal, (token) => this.#native.permit(json, waitMs, token)));
  }

  /** A permit, if the gate is open now; else it throws. */
  tryPermit(resource: v1.GroupResource): Permit {
    return new Permit(direct(() => this.#native.tryPermit(toJson('GroupResource', resource))));
  }

  /** What the server waits for before it may say that it is ready, as a sentence; `undefined`: nothing. */
  get waitsFor(): string | undefined {
    return this.#native.waitsFor() ?? undefined;
  }

  /** What the server's own discovery shows of a resource now. It waits for nothing, and takes no permit. */
  discovery(resource: v1.GroupResource): Discovery {
    return JSON.parse(direct(() => this.#native.discovery(toJson('GroupResource', resource)))) as Discovery;
  }

  /** Whether no write that this gate let through can land any more. */
  get isDrained(): boolean {
    return this.#native.isDrained();
  }

  /**
   * A middleware for express, connect and `node:http`: `app.use(gate.middleware())`. A request that writes passes with a
   * permit as `request.permit`, which says in which version to encode and has to be used as `Permit` says; one that the gate
   * does not let through is answered with 503 and a `Status` of Kubernetes.
   */
  middleware(options: MiddlewareOptions = {}): Middleware {
    const door = this.#door(options);
    return (request, response, next) => {
      door(request, response).then((answer) => {
        if (answer === undefined) return next();
        response.writeHead(answer.status, { 'content-type': answer.contentType });
        response.end(answer.body);
        return undefined;
      }, next);
    };
  }

  /**
   * A hook for fastify: `app.addHook('onRequest', gate.fastifyHook())`. The permit of a request that writes is
   * `request.raw.permit`.
   */
  fastifyHook(options: MiddlewareOptions = {}): (request: FastifyLikeRequest, reply: FastifyLikeReply) => Promise<unknown> {
    const door = this.#door(options);
    return async (request, reply) => {
      const answer = await door(request.raw, reply.raw);
      if (answer === undefined) return undefined;
      reply.code(answer.status);
      reply.header('content-type', answer.contentType);
      return reply.send(answer.body);
    };
  }

  /**
   * What becomes of a request of this method and target, a path with its query: for servers that the others do not fit. The
   * permit is the caller's to use and to let go.
   */
  async admit(
    request: { readonly method: string; readonly url: string },
    options: MiddlewareOptions = {},
  ): Promise<Admitted> {
    return admitted(this.#open(options), request.method, request.url);
  }

  #open({ waitMs, notStored = [] }: MiddlewareOptions): NativeDoor {
    const json = notStored.map((resource) => toJson('GroupResource', resource));
    return direct(() => this.#native.door(waitMs, `[${json.join()}]`));
  }

  /** What both do: the rule is Rust's, the permit is the request's, and it is let go with the response. */
  #door(options: MiddlewareOptions) {
    const door = this.#open(options);
    return async (request: IncomingMessage & GatedRequest, response: ServerResponse): Promise<Refused | undefined> => {
      // Express takes the place where a router is mounted off the URL, and keeps the whole of it beside.
      const url = (request as { originalUrl?: string }).originalUrl ?? request.url ?? '';
      const { refused, permit } = await admitted(door, request.method ?? '', url);
      if (permit !== undefined) {
        request.permit = permit;
        response.once('close', () => permit[Symbol.dispose]());
      }
      return refused;
    };
  }
}

async function admitted(door: NativeDoor, method: string, url: string): Promise<Admitted> {
  const outcome = await settled(undefined, () => door.admit(method, url));
  if (outcome.refused) return { refused: outcome.refused };
  const permit = outcome.takePermit();
  return permit === null ? {} : { permit: new Permit(permit) };
}

/**
 * The agreements that a member knows of, by which its writes pass the fence of its store.
 *
 * For each write: take a permit, read the fence key, `check`, `permit.check`, then write on condition that the key holds what
 * was read. A value that was read earlier may be used: if the key has changed since, the condition fails, and the key is read
 * again. {@link FencedWriter} does all this.
 */
export class FenceGuard implements Disposable {
  readonly #native: NativeFenceGuard;

  /** @internal */
  constructor(native: NativeFenceGuard) {
    this.#native = native;
  }

  /**
   * Throws if a write under this permit may not be sent on condition that the fence key holds `present`; for `undefined`, on
   * condition that there is no such key.
   *
   * `UnavailableError`: the store was migrated under an agreement that this member has not seen yet, but will.
   * `NotAMemberError` and `EncodingNotSelectedError`: the permit is void. `ConflictError`: the fence is not one of this
   * cluster and resource.
   */
  check(permit: Permit, present: Uint8Array | undefined): void {
    direct(() => this.#native.check(Permit.nativeOf(permit), present));
  }

  /** Follows the cluster no longer. */
  close(): void {
    this.#native.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}
