/** How a call is made: with a deadline, until it is answered or its signal aborts it. */

import { SynodError } from './base.cjs';
import { begin } from './caller.cjs';
import { thrown } from './error.cjs';
import { native, type CallToken } from './native.cjs';

/** What every call takes beside its request. */
export interface CallOptions {
  /** Gives the call up: it is rejected with the signal's reason, and the request is cancelled at the replica. */
  readonly signal?: AbortSignal | undefined;
  /** By when the call is answered, over all its tries, in milliseconds; left out: as the client was told. */
  readonly timeoutMs?: number | undefined;
}

/** Makes the unary calls of services. */
export interface Caller {
  call<Request, Response>(
    method: string,
    input: string,
    output: string,
    request: Request,
    options: CallOptions,
  ): Promise<Response>;
}

/** Whether an error says that a call was given up by its token. */
const isCancelled = (error: unknown): boolean => error instanceof Error && error.message === 'cancelled';

/**
 * What `start` comes to, which asks this request of a replica, unless the signal aborts it first. It is waited for even then, so nothing that Rust has given
 * is lost: what came first is the answer.
 */
export async function settled<T>(
  signal: AbortSignal | undefined,
  start: (token: CallToken | undefined) => Promise<T>,
  request?: string,
): Promise<T> {
  signal?.throwIfAborted();
  const followed = begin(request);
  const { traceparent, tracestate } = followed?.names ?? {};
  const isLoose = signal === undefined && followed === undefined;
  const token = isLoose ? undefined : new native.CallToken(traceparent, tracestate);
  const asked = (): string => token?.asked() ?? '';
  const abort = (): void => token?.cancel();
  signal?.addEventListener('abort', abort, { once: true });
  try {
    // What is wrong with an argument is thrown before there is a promise.
    const answer = await start(token);
    followed?.ended(asked());
    return answer;
  } catch (error) {
    const told = signal?.aborted === true && isCancelled(error) ? signal.reason : thrown(error);
    if (told instanceof SynodError) followed?.ended(asked(), told);
    else followed?.givenUp(asked());
    throw told;
  } finally {
    signal?.removeEventListener('abort', abort);
  }
}

/** What a call that does not wait answers. */
export function direct<T>(call: () => T): T {
  try {
    return call();
  } catch (error) {
    throw thrown(error);
  }
}
