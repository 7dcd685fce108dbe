/** The spans of calls in the program's traces, which the replicas' own spans are below. */

import type { SynodError } from './base.cjs';
import { grpcStatus } from './generated/traces.cjs';

/** What is used of a span. */
interface Span {
  spanContext(): object;
  isRecording(): boolean;
  addEvent(name: string, attributes: object, at: number): unknown;
  setAttribute(key: string, value: string | number): unknown;
  setStatus(status: { readonly code: number }): unknown;
  end(): void;
}

/** What is used of `@opentelemetry/api`, which a program that traces itself has installed. */
interface Api {
  readonly SpanKind: { readonly CLIENT: number };
  readonly SpanStatusCode: { readonly ERROR: number };
  readonly context: { active(): unknown };
  readonly propagation: { inject(context: unknown, carrier: object): void };
  readonly trace: {
    getTracer(name: string): { startSpan(name: string, options: object, context: unknown): Span };
    setSpan(context: unknown, span: Span): unknown;
    isSpanContextValid(context: object): boolean;
  };
}

/** What a call has asked of replicas. */
interface Asked {
  readonly requests: number;
  readonly failed: readonly { readonly endpoint: string; readonly code: string; readonly at: number }[];
}

/** The names of a span in the Trace Context of the W3C, as the program's own propagator writes them. */
interface Names {
  traceparent?: string;
  tracestate?: string;
}

const lookedUp = (): Api | undefined => {
  try {
    return require('@opentelemetry/api') as Api;
  } catch {
    return undefined;
  }
};

let isLookedUp = false;
let api: Api | undefined;

/** A call as it is followed. */
export class Followed {
  readonly names: Readonly<Names>;
  readonly #api: Api;
  readonly #span: Span | undefined;

  /** Without a span of its own, the call is in the one that is current. */
  constructor(api: Api, names: Names, span: Span | undefined) {
    this.#api = api;
    this.names = names;
    this.#span = span;
  }

  /** The call is answered, or has failed. */
  ended(asked: string, error?: SynodError): void {
    const span = this.#left(asked);
    if (span === undefined) return;
    if (error === undefined) {
      span.setAttribute('rpc.grpc.status_code', 0);
    } else {
      const status = grpcStatus[error.code];
      if (status !== undefined) span.setAttribute('rpc.grpc.status_code', status);
      span.setAttribute('error.type', error.code);
      // The message may hold values.
      span.setStatus({ code: this.#api.SpanStatusCode.ERROR });
    }
    span.end();
  }

  /** The call is given up, or broke off in this process. */
  givenUp(asked: string): void {
    this.#left(asked)?.end();
  }

  /** The span, with the tries that have failed. One in which nothing was asked of a replica is let go, and is not exported. */
  #left(asked: string): Span | undefined {
    if (this.#span === undefined) return undefined;
    const { requests, failed } = JSON.parse(asked) as Asked;
    if (requests === 0) return undefined;
    for (const { endpoint, code, at } of failed) {
      this.#span.addEvent('a try failed', { 'server.address': endpoint, 'error.type': code }, at);
    }
    return this.#span;
  }
}

/**
 * Begins to follow a call for this request, below the span that is current now: in a span of its own, if the program has set a
 * tracer provider. A call without a request of its own is in the span that is current.
 */
export function begin(request: string | undefined): Followed | undefined {
  if (!isLookedUp) {
    isLookedUp = true;
    api = lookedUp();
  }
  if (api === undefined) return undefined;
  const active = api.context.active();
  const span = request === undefined ? undefined : started(api, request, active);
  const names: Names = {};
  // One that is not sampled has a name, too. Without a provider there is none, or it is the current one.
  const isNamed = span !== undefined && api.trace.isSpanContextValid(span.spanContext());
  api.propagation.inject(isNamed ? api.trace.setSpan(active, span) : active, names);
  const own = span?.isRecording() === true ? span : undefined;
  return own === undefined && names.traceparent === undefined ? undefined : new Followed(api, names, own);
}

function started(api: Api, request: string, active: unknown): Span {
  const at = request.lastIndexOf('/');
  const attributes = {
    'rpc.system': 'grpc',
    'rpc.service': request.slice(0, at),
    'rpc.method': request.slice(at + 1),
  };
  const options = { kind: api.SpanKind.CLIENT, attributes };
  // It goes by the provider that is set, also later.
  return api.trace.getTracer('@synod/client').startSpan(request, options, active);
}
