/** What a fence needs of etcd, over etcd's JSON gateway. */

import type { CallOptions } from './call.cjs';
import { KeyStoreError, type Condition, type KeyStore, type Pair } from './key_store.cjs';

/** The largest answer that is read. */
const ANSWER_BYTES_MAX = 16 * 1_024 * 1_024;

type Signal = Pick<CallOptions, 'signal'>;

/** How etcd is called. */
export interface EtcdOptions {
  /** How long etcd has for an answer, in milliseconds; 5 seconds if not set. The outcome of a later write is unknown. */
  readonly timeoutMs?: number | undefined;
  /** Makes the requests, in place of the global `fetch`: one with a CA and a certificate, say. */
  readonly fetch?: typeof fetch | undefined;
}

/**
 * etcd, over the JSON gateway that each of its servers has at its port for clients, by `fetch`.
 *
 * A server that reaches its etcd by a client of its own implements {@link KeyStore} over that, in three calls: a range of one
 * key, a range, and a transaction.
 */
export class Etcd implements KeyStore {
  readonly #url: string;
  readonly #timeoutMs: number;
  readonly #fetch: typeof fetch;

  /** The etcd at a URL, such as `http://127.0.0.1:2379`. */
  constructor(url: string, options: EtcdOptions = {}) {
    this.#url = url.replace(/\/+$/, '');
    this.#timeoutMs = options.timeoutMs ?? 5_000;
    this.#fetch = options.fetch ?? fetch;
  }

  /** The present value of a key; `undefined` if there is no such key. */
  async get(key: string, options: Signal = {}): Promise<Pair | undefined> {
    return (await this.#range({ key: text(key) }, options)).pairs[0];
  }

  /** The pairs whose keys begin with `prefix` and come after `after`, in the order of their keys, at most `limit`. */
  list(prefix: string, after: string | undefined, limit: number, options: Signal = {}): Promise<{ pairs: Pair[]; more: boolean }> {
    // The range begins right after the last key that was seen, and ends right after all keys with the prefix.
    const key = text(after === undefined ? prefix || '\0' : `${after}\0`);
    return this.#range({ key, range_end: endOf(prefix).toString('base64'), limit: String(limit) }, options);
  }

  /** Writes a key if every condition holds, in one step. Answers false if one does not. */
  async putIf(conditions: readonly Condition[], key: string, value: Uint8Array, options: Signal = {}): Promise<boolean> {
    const success = [{ request_put: { key: text(key), value: base64(value) } }];
    const { succeeded } = await this.#ask('txn', { compare: conditions.map(compared), success }, options);
    return succeeded === true;
  }

  async #range(range: object, options: Signal): Promise<{ pairs: Pair[]; more: boolean }> {
    try {
      const { kvs = [], more } = await this.#ask('range', range, options);
      return { pairs: kvs.map(pair), more: more === true };
    } catch (error) {
      // A read changes nothing, so it does not matter whether it was executed.
      if (!(error instanceof KeyStoreError) || error.outcome !== 'unknown') throw error;
      throw new KeyStoreError('not_executed', error.message);
    }
  }

  async #ask(what: string, body: object, { signal }: Signal): Promise<Answer> {
    signal?.throwIfAborted();
    const late = AbortSignal.timeout(this.#timeoutMs);
    let response: Response;
    let answer: string;
    try {
      response = await this.#fetch(`${this.#url}/v3/kv/${what}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
        // A write that is asked for again elsewhere is none that etcd has answered.
        redirect: 'error',
        signal: signal === undefined ? late : AbortSignal.any([signal, late]),
      });
      answer = await whole(response);
    } catch (error) {
      throw new KeyStoreError(wasNotSent(error) ? 'not_executed' : 'unknown', `etcd did not answer: ${told(error)}`);
    }
    if (!response.ok) throw refusal(response);
    try {
      return JSON.parse(answer) as Answer;
    } catch (error) {
      throw new KeyStoreError('unknown', `etcd's answer cannot be understood: ${told(error)}`);
    }
  }
}

/** What etcd answers, as far as it is looked at. */
interface Answer {
  readonly succeeded?: boolean;
  readonly more?: boolean;
  readonly kvs?: readonly { readonly key: string; readonly value?: string; readonly mod_revision: string }[];
}

/** The text of an answer, up to the limit. */
async function whole({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += chunk.byteLength;
    if (bytes > ANSWER_BYTES_MAX) throw new Error(`the answer has more than ${ANSWER_BYTES_MAX} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/** Whether a request failed before there was a connection to send it over. */
function wasNotSent(error: unknown): boolean {
  const { code } = ((error as Error).cause ?? {}) as { readonly code?: string };
  return code !== undefined && ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT'].includes(code);
}

function told(error: unknown): string {
  const { cause } = error as { readonly cause?: unknown };
  return String(cause ?? error);
}

/** What an answer that is no success says of a write. */
function refusal({ status, headers }: Response): KeyStoreError {
  const why = `etcd answered ${status}`;
  if (status === 429) {
    const seconds = Number(headers.get('retry-after') ?? Number.NaN);
    return new KeyStoreError('not_executed', why, Number.isFinite(seconds) ? seconds * 1_000 : undefined);
  }
  if (status >= 400 && status < 500 && status !== 408) return new KeyStoreError('refused', why);
  // A server that gives up waiting for its quorum says so in this way, and the write may still be agreed on.
  return new KeyStoreError('unknown', why);
}

function compared(condition: Condition): object {
  const common = { key: text(condition.key), result: 'EQUAL' };
  if ('value' in condition) return { ...common, target: 'VALUE', value: base64(condition.value) };
  return { ...common, target: 'MOD', mod_revision: condition.revision.toString() };
}

/** The first key behind all keys with this prefix. The last byte of a text is never the largest one. */
function endOf(prefix: string): Buffer {
  const end = Buffer.from(prefix);
  const last = end.at(-1);
  if (last === undefined) return Buffer.of(0);
  end[end.length - 1] = last + 1;
  return end;
}

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');
const text = (key: string): string => Buffer.from(key).toString('base64');

function pair({ key, value = '', mod_revision: revision }: NonNullable<Answer['kvs']>[number]): Pair {
  return {
    key: Buffer.from(key, 'base64').toString(),
    value: new Uint8Array(Buffer.from(value, 'base64')),
    revision: BigInt(revision),
  };
}
