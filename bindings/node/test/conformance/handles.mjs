// The handles of the cases, and their functions: see tests/conformance/README.md.

import { failure } from './steps.mjs';
import { documents } from './documents.mjs';
import { plain, typed } from './values.mjs';

const number = (value) => (value === undefined ? undefined : Number(value));
const revision = (value) => (value === undefined ? undefined : BigInt(value));

/** What a watch was asked for, and how far it came. */
class Watching {
  kind = 'watch';

  constructor(watch, options) {
    this.watch = watch;
    this.options = options;
    this.last = undefined;
  }

  async next(signal) {
    const { value, done } = await this.watch.next({ signal });
    if (done) throw new Error('the watch has ended');
    const { type, ...rest } = value;
    this.last = value.revision;
    return { [type]: plain(rest) };
  }

  async resume(run, signal) {
    const from = this.last === undefined ? this.options.from : this.last + 1n;
    this.watch.close();
    return handles.watch(run.client, { ...this.options, from }, signal);
  }

  close() {
    this.watch.close();
  }
}

/** What is opened, kept as its kind, with how it is dropped. */
const kept = (kind, value, close = () => {}) => ({ kind, value, close });

export const handles = {
  async watch(client, options, signal) {
    return new Watching(await client.watch(options, { signal }), options);
  },
};

const lock = (value) => kept('lock', value, () => value.release().catch(() => {}));

const lockOptions = ({ lease, holder, ttlMs, ifMember }) => ({
  ...lease,
  ...(holder !== undefined && { holder }),
  ...(ttlMs !== undefined && { ttlMs: number(ttlMs) }),
  ...(ifMember !== undefined && { ifMember: typed('MemberEpoch', ifMember) }),
});

/** A store in memory, with a fence key: the version of each object, by its name. */
class Memory {
  constructor(objects, fence) {
    this.objects = { ...objects };
    this.fence = fence;
  }

  async readFence() {
    return this.fence === undefined ? undefined : Buffer.from(this.fence);
  }

  async writeFence(_, present, fence) {
    const holds = this.fence === (present && Buffer.from(present).toString());
    if (holds) this.fence = Buffer.from(fence).toString();
    return holds;
  }

  async listPage() {
    return { objects: Object.keys(this.objects) };
  }

  async rewrite({ targetVersion }, name, { fence }) {
    if (this.fence !== Buffer.from(fence).toString()) throw new Error('the fence is another one');
    this.objects[name] = targetVersion;
  }
}

/** What `open` opens. */
export const openers = {
  async membership(run, options, signal) {
    const timed = Object.entries(options).map(([name, value]) => [name, name.endsWith('Ms') ? number(value) : value]);
    const membership = await run.client.join(Object.fromEntries(timed), { signal });
    const close = () => membership.leave({ drainLimitMs: 0 }).catch(() => {});
    return { opened: kept('membership', membership, close), answer: { epoch: membership.epoch } };
  },
  async lock(run, options, signal) {
    const held = await run.client.lock(lockOptions(options), { signal });
    return { opened: lock(held), answer: held.proof };
  },
  async try_lock(run, options, signal) {
    const held = await run.client.tryLock(lockOptions(options), { signal });
    return { opened: lock(held), answer: held.proof };
  },
  async election(run, { candidate, ...options }) {
    const election = run.client.election({ ...lockOptions(options), ...(candidate && { candidate }) });
    return { opened: kept('election', election) };
  },
  async reflector(run, { kinds = [] }, signal) {
    const reflector = await run.client.reflect(kinds, { signal });
    return { opened: kept('reflector', reflector, () => reflector.close()), answer: { revision: reflector.revision } };
  },
  async objects(run, { resource, versions, encodeIn, ifMember, ifLease }) {
    const objects = run.client.objectsOf(resource, documents(versions), {
      ...(ifMember && { ifMember: typed('MemberEpoch', ifMember) }),
      ...(ifLease && { ifLease: typed('LeaseToken', ifLease) }),
    });
    if (encodeIn !== undefined) objects.encodeIn(encodeIn);
    return { opened: kept('objects', objects) };
  },
  async object_reflector(run, { resource, versions, ...selected }, signal) {
    const cache = await run.client.objectsOf(resource, documents(versions)).reflect(selected, { signal });
    return { opened: kept('object_reflector', cache, () => cache.close()) };
  },
  async migrator(run, { worker, resource, versions, objects, fence, ttlMs, objectsAtOnce, pageSize }) {
    const common = { worker, ttlMs: number(ttlMs), objectsAtOnce: number(objectsAtOnce) };
    const store = objects && new Memory(objects, fence);
    const migrator = run.client.migrator(
      store === undefined
        ? { ...common, pageSize: number(pageSize), collections: [{ resource, codec: documents(versions) }] }
        : { ...common, resources: [resource], store },
    );
    return { opened: { ...kept('migrator', migrator, () => migrator.close()), store } };
  },
  async fence_guard(run, { member }, signal) {
    const guard = await run.client.fenceGuard(member, { signal });
    return { opened: kept('fence_guard', guard, () => guard.close()) };
  },
};

const permit = (value) => {
  const { resource, encoding, epoch, revision: at } = value;
  return {
    opened: kept('permit', value, () => value[Symbol.dispose]()),
    answer: { resource, encoding, epoch, revision: at },
  };
};

/** The functions of each handle. */
export const functions = {
  membership: {
    report: async ({ value }, { entries }, signal) => ({ answer: await value.report(entries, { signal }) }),
    report_change: async ({ value }, { entry }, signal) => ({ answer: await value.reportChange(entry, { signal }) }),
    ready: async ({ value }, _, signal) => ({ answer: await value.ready({ signal }) }),
    leave: async ({ value }, { drainLimitMs }, signal) => {
      await value.leave({ drainLimitMs: number(drainLimitMs), signal });
    },
    state: async ({ value }) => {
      const { lastError, ...state } = value.state;
      return { answer: state };
    },
    ended: async ({ value }, _, signal) => ({ answer: { ended: await value.ended({ signal }) } }),
    permit: async ({ value }, { resource, waitMs }, signal) =>
      permit(await value.gate.permit(resource, { waitMs: number(waitMs), signal })),
    try_permit: async ({ value }, { resource }) => permit(value.gate.tryPermit(resource)),
    readiness: async ({ value }) => {
      const { waitsFor } = value.gate;
      return { answer: waitsFor === undefined ? { ready: true } : { ready: false, waitsFor } };
    },
    discovery: async ({ value }, { resource }) => ({ answer: value.gate.discovery(resource) }),
    is_drained: async ({ value }) => ({ answer: { drained: value.gate.isDrained } }),
    admit: async ({ value }, { method, uri, notStored }) => {
      const admitted = await value.gate.admit({ method, url: uri }, { notStored });
      admitted.permit?.[Symbol.dispose]();
      const { refused } = admitted;
      return { answer: refused === undefined ? { pass: true } : { pass: false, status: refused.status } };
    },
  },
  permit: {
    check: async ({ value }) => value.check(),
    done: async ({ value }) => value.done(),
    unknown_outcome: async ({ value }) => value.unknownOutcome(),
  },
  lock: {
    proof: async ({ value }) => ({ answer: value.proof }),
    check: async ({ value }) => value.check(),
    lost: async ({ value }, _, signal) => ({ answer: { lost: failure(await value.lost({ signal })) } }),
    release: async ({ value }, _, signal) => value.release({ signal }),
  },
  election: {
    campaign: async ({ value }, _, signal) => {
      const held = await value.campaign({ signal });
      return { opened: lock(held), answer: held.proof };
    },
    over: async ({ value }, { lock: name }, signal, run) => {
      const end = await value.over(run.handle(name).value, { signal });
      return { answer: end.type === 'lost' ? { lost: failure(end.error) } : { preferred: end.candidate } };
    },
    observe: async ({ value }) => {
      const observer = value.observe();
      return { opened: kept('observer', observer, () => observer.close()) };
    },
    withdraw: async ({ value }, _, signal) => value.withdraw({ signal }),
  },
  observer: {
    next: async ({ value }, _, signal) => ({ answer: (await value.next({ signal })).value ?? {} }),
  },
  reflector: {
    get: async ({ value }, { kind, ...of }) => {
      const object = value.get(kind, of);
      return { answer: object === undefined ? {} : { object } };
    },
    list: async ({ value }, { kind }) => ({ answer: { objects: value.list(kind) } }),
    reached: async ({ value }, { revision: at, limitMs }, signal) =>
      value.reached(revision(at), { timeoutMs: number(limitMs), signal }),
    changed: async ({ value }, { since }, signal) => ({ answer: { revision: await value.changed(revision(since), { signal }) } }),
  },
  objects: {
    guaranteed_update: async ({ value }, { key, merge, meanwhile }, signal, run) => {
      let others = meanwhile;
      const change = async (draft) => {
        const steps = others;
        others = undefined;
        if (steps !== undefined) await run.steps(steps);
        draft.value = merged(draft.value, merge);
      };
      return { answer: await value.guaranteedUpdate(key, change, { signal }) };
    },
    get: async ({ value }, { key }, signal) => ({ answer: await value.get(key, { signal }) }),
    create: async ({ value }, { key, value: given }, signal) => ({ answer: await value.create(key, given, { signal }) }),
  },
  object_reflector: {
    get: async ({ value }, name) => ({ answer: (await value.get(name)) ?? {} }),
    list: async ({ value }) => ({ answer: { objects: await value.list() } }),
    reached: async ({ value }, { revision: at, limitMs }, signal) =>
      value.reached(revision(at), { timeoutMs: number(limitMs), signal }),
    changed: async ({ value }, { since }, signal) => ({ answer: { revision: await value.changed(revision(since), { signal }) } }),
  },
  migrator: {
    run_one: async ({ value }, { name }, signal) => ({ answer: (await value.runOne(name, { signal })) ?? {} }),
    stored: async ({ store: { objects, fence } }) => ({ answer: { objects, fence } }),
  },
  fence_guard: {
    check: async ({ value }, { permit: name, present }, _, run) =>
      value.check(run.handle(name).value, present === undefined ? undefined : Buffer.from(present)),
  },
};

/** A JSON merge patch (RFC 7386). */
function merged(value, patch) {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
  const base = typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
  for (const [name, item] of Object.entries(patch)) {
    if (item === null) delete base[name];
    else base[name] = merged(base[name], item);
  }
  return base;
}
