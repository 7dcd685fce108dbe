// What each kind of step does: see tests/conformance/README.md.

import assert from 'node:assert/strict';

import { SynodError } from '@synod/client';

import { functions, handles, openers } from './handles.mjs';
import { filled, mismatch, part, plain, typed } from './values.mjs';

/** How long a step may wait. */
const LIMIT_MS = 30_000;

/** The keys that a step may have beside the one that is its kind. */
const KEYS = {
  call: ['request', 'timeout_ms', 'until', 'behind', 'answer', 'error', 'save'],
  finish: ['answer', 'error', 'save'],
  pages: ['request', 'items', 'answer', 'error', 'save'],
  repeat: ['steps'],
  watch: ['options', 'from', 'timeout_ms', 'error', 'save'],
  next: ['answer', 'error', 'save'],
  resume: [],
  close: [],
  open: ['as', 'with', 'behind', 'until', 'timeout_ms', 'answer', 'error', 'save'],
  do: ['of', 'with', 'as', 'behind', 'until', 'timeout_ms', 'answer', 'error', 'save'],
  kill: [],
  start: [],
  restart: [],
};

/** One run of a case: what it has saved and opened. */
export class Run {
  constructor(cluster, name, own) {
    this.cluster = cluster;
    /** Whether no other case sees these replicas. */
    this.own = own;
    this.client = cluster.client({ requestTimeoutMs: LIMIT_MS });
    this.saved = new Map([['case', name]]);
    this.handles = new Map();
    this.behind = new Map();
    /** The replica that the last answer came from. */
    this.connected = undefined;
    this.killed = new Set();
  }

  /** Runs a case, all of whose steps come to an end within it. */
  async whole(steps) {
    await this.steps(steps);
    assert.deepEqual([...this.behind.keys()], [], 'these steps were never finished');
  }

  async steps(steps) {
    for (const step of steps) await this.step(step);
  }

  async step(step) {
    const kind = Object.keys(KEYS).find((key) => key in step);
    assert.ok(kind !== undefined, `there is no such step: ${JSON.stringify(step)}`);
    assert.ok(!('answer' in step && 'error' in step), 'a step is answered or fails, and not both');
    const unknown = Object.keys(step).filter((key) => key !== kind && !KEYS[kind].includes(key));
    assert.deepEqual(unknown, [], `a step of the kind \`${kind}\` has no such key`);
    try {
      await this[kind](step, this.fill(step[kind]));
    } catch (error) {
      error.message = `${kind} ${JSON.stringify(step[kind])}: ${error.message}`;
      throw error;
    }
  }

  fill(value) {
    return filled(value, this.saved);
  }

  handle(name) {
    const handle = this.handles.get(name);
    assert.ok(handle !== undefined, `nothing is open as \`${name}\``);
    return handle;
  }

  /** Does what a step says, in the background or until it comes out as expected, and keeps what it saves. */
  async attempt(step, act) {
    const limited = () => act(AbortSignal.timeout(LIMIT_MS));
    if (step.behind !== undefined) {
      // Whoever finishes it looks at how it ended.
      this.behind.set(step.behind, outcome(limited));
      return;
    }
    const limit = Date.now() + LIMIT_MS;
    for (;;) {
      const came = await outcome(limited);
      const fault = this.judged(step, came);
      if (fault === undefined) return;
      if (!step.until || Date.now() > limit) throw came.thrown ?? new assert.AssertionError({ message: fault });
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** What is wrong with how a step came out; if nothing, what it saves is kept. */
  judged({ answer, error, save = {} }, came) {
    const value = came.thrown === undefined ? came.answer : came.error;
    this.connected = value?.header?.replicaId ?? this.connected;
    if (came.error === undefined && came.thrown !== undefined) return String(came.thrown);
    const failed = came.error !== undefined;
    if (failed && error === undefined) return `it failed: ${JSON.stringify(came.error)}`;
    if (!failed && error !== undefined) return `it did not fail: ${JSON.stringify(came.answer)}`;
    const expected = failed ? error : answer;
    const fault = expected === undefined ? undefined : mismatch(this.fill(expected), value);
    if (fault !== undefined) return fault;
    for (const [name, path] of Object.entries(save)) this.saved.set(name, part(value, path));
    return undefined;
  }

  async call(step, method) {
    await this.attempt(step, (signal) => this.invoke(method, this.fill(step.request ?? {}), signal, step.timeout_ms));
  }

  /** Calls a method by its name, by the client's own function for it. */
  async invoke(method, request, signal, timeoutMs) {
    const [, service, name] = /^synod\.v1\.(\w+)\/(\w+)$/.exec(method) ?? [];
    const camel = (word) => word[0].toLowerCase() + word.slice(1);
    const found = service && this.client[camel(service)]?.[camel(name)];
    assert.ok(found, `the client has no function for ${method}`);
    const given = typed(`${service}${name}Request`, request);
    return plain(await found.call(this.client[camel(service)], given, { signal, timeoutMs }));
  }

  async finish(step, name) {
    const pending = this.behind.get(name);
    assert.ok(pending !== undefined, 'nothing was begun under this name');
    this.behind.delete(name);
    const came = await pending;
    const fault = this.judged(step, came);
    if (fault !== undefined) throw came.error === undefined && came.thrown ? came.thrown : new Error(fault);
  }

  async pages(step, method) {
    await this.attempt(step, async (signal) => {
      const [all, revisions] = [[], new Set()];
      let continueToken = '';
      let pages = 0;
      do {
        const request = { ...this.fill(step.request ?? {}), ...(continueToken && { continueToken }) };
        const page = await this.invoke(method, request, signal);
        all.push(...page[step.items]);
        revisions.add(page.header.revision);
        continueToken = page.continueToken;
        pages += 1;
      } while (continueToken !== '');
      return { items: all, pages, revisions: [...revisions] };
    });
  }

  async repeat(step, count) {
    for (let index = 0; index < count; index += 1) {
      this.saved.set('index', String(index));
      await this.steps(step.steps);
    }
  }

  async watch(step, name) {
    const { timeout_ms: requestTimeoutMs } = step;
    const client = requestTimeoutMs === undefined ? this.client : this.cluster.client({ requestTimeoutMs });
    await this.attempt(step, async (signal) => {
      const request = typed('WatchRequest', this.fill(step.options ?? {}));
      const { fromRevision, clusterId, ...options } = request;
      const from = this.fill(step.from) ?? fromRevision;
      await this.opened(name, await handles.watch(client, { ...options, ...(from !== undefined && { from }) }, signal));
    });
  }

  async next(step, name) {
    const watch = this.handle(name);
    await this.attempt(step, async (signal) => {
      for (;;) {
        const message = await watch.next(signal);
        const wanted = step.answer !== undefined && 'bookmark' in step.answer;
        if (!('bookmark' in message) || wanted) return message;
      }
    });
  }

  async resume(_, name) {
    const watch = this.handle(name);
    await this.opened(name, await watch.resume(this, AbortSignal.timeout(LIMIT_MS)));
  }

  async close(_, name) {
    const handle = this.handle(name);
    this.handles.delete(name);
    await handle.close();
  }

  async open(step, handle) {
    const opener = openers[handle];
    assert.ok(opener !== undefined, 'there is no such handle');
    await this.attempt(step, async (signal) => {
      const { opened, answer } = await opener(this, this.fill(step.with ?? {}), signal, step.timeout_ms);
      if (opened !== undefined) await this.opened(step.as, opened);
      return plain(answer ?? {});
    });
  }

  async do(step, name) {
    const handle = this.handle(this.fill(step.of));
    const found = functions[handle.kind]?.[name];
    assert.ok(found !== undefined, `a ${handle.kind} has no such function`);
    await this.attempt(step, async (signal) => {
      const { opened, answer } = (await found(handle, this.fill(step.with ?? {}), signal, this)) ?? {};
      if (opened !== undefined) {
        if (step.as === undefined) await opened.close();
        else await this.opened(step.as, opened);
      }
      return plain(answer ?? {});
    });
  }

  /** Keeps a handle, in place of one of the same name. */
  async opened(name, handle) {
    const before = this.handles.get(name);
    this.handles.set(name, handle);
    if (before !== undefined) await before.close();
  }

  async kill(_, which) {
    assert.ok(this.own, 'other cases see these replicas');
    const id = await this.chosen(which);
    await this.cluster.kill(id);
    this.killed.add(id);
    this.saved.set('killed', String(id));
  }

  async chosen(which) {
    if (which === 'connected') return Number(this.connected);
    const leader = await this.cluster.leader(AbortSignal.timeout(LIMIT_MS));
    if (which === 'leader') return leader;
    assert.equal(which, 'follower');
    return [1, 2, 3].find((id) => id !== leader && !this.killed.has(id));
  }

  async start(_, which) {
    assert.ok(this.own, 'other cases see these replicas');
    assert.equal(which, 'killed');
    await Promise.all([...this.killed].map((id) => this.cluster.start(id)));
    this.killed.clear();
  }

  async restart(_, which) {
    assert.ok(this.own, 'other cases see these replicas');
    assert.equal(which, 'all');
    await Promise.all([1, 2, 3].map((id) => this.cluster.kill(id)));
    await Promise.all([1, 2, 3].map((id) => this.cluster.start(id)));
    this.killed.clear();
  }

  /** Drops what is still open. */
  async end() {
    for (const handle of this.handles.values()) await handle.close();
    this.client.close();
  }
}

/** How something came out: an answer, or what it failed with. */
async function outcome(act) {
  try {
    return { answer: await act() };
  } catch (thrown) {
    return { thrown, error: thrown instanceof SynodError ? failure(thrown) : undefined };
  }
}

/** An error as cases see it. */
export function failure(error) {
  const { code, message, execution, retryable, violations, metadata, current, requestKey } = error;
  return plain({ code, message, execution, retryable, violations, metadata, current, requestKey });
}
