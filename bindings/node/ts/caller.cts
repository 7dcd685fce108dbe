/** The span of the program in which a call is made, which the replicas' own spans are below. */

/** A span by its names in the Trace Context of the W3C. */
export interface Caller {
  readonly traceparent: string;
  readonly tracestate?: string;
}

/** What is used of `@opentelemetry/api`, which a program that traces itself has installed. */
interface Api {
  readonly context: { active(): unknown };
  readonly propagation: { inject(context: unknown, carrier: object): void };
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

/** The span that is current now, as the program's own propagator names it. */
export function caller(): Caller | undefined {
  if (!isLookedUp) {
    isLookedUp = true;
    api = lookedUp();
  }
  if (api === undefined) return undefined;
  const carrier: Partial<Caller> = {};
  api.propagation.inject(api.context.active(), carrier);
  const { traceparent } = carrier;
  return traceparent === undefined ? undefined : { ...carrier, traceparent };
}
