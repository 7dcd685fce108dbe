// Workers of stores of the program's own: several objects at a time, and an end to all of them.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, test } from 'node:test';

import { ConflictError, StoreError } from '@synod/client';

import { develop } from './cluster.mjs';

const versions = ['v1', 'v2'];
const keys = Array.from({ length: 8 }, (_, number) => `o-${number}`);

let cluster;
let client;

before(async () => {
  cluster = await develop();
  client = cluster.client();
  // So that nobody waits longer for what was written before a test.
  await client.cluster.updateSettings({ patch: { writeGraceMs: 1_000n } });
});

after(async () => {
  client.close();
  await cluster.stop();
});

/** Has a server vote for v2 of a resource, and answers that, and the name of the migration that follows. */
async function agreed(t, name) {
  const resource = { group: `${name}.example.io`, resource: 'widgets' };
  const membership = await client.join({ id: name });
  t.after(() => membership.leave());
  const entry = { resource, kind: 'Widget', decodableVersions: versions, servedVersions: versions };
  await membership.report([{ ...entry, preferredVersion: 'v2' }]);
  const { migrations } = await client.migrations.list({});
  const { metadata } = migrations.map((item) => item.migration ?? item).find(({ metadata }) => metadata.name.includes(name));
  await earlierWritesLanded(resource);
  return { resource, migration: metadata.name };
}

/** Waits until nothing can land that was written before the server spoke. */
async function earlierWritesLanded(resource) {
  for (;;) {
    const { dangers } = await client.storageVersions.checkDrop({ resource, version: 'v1' });
    if (!dangers.some(({ reason }) => reason === 'DANGER_REASON_DRAINING_UNKNOWN')) return;
  }
}

/** A store whose writes wait to be aborted. What is written at once begins and ends in no order. */
class Held {
  begun = [];
  aborted = [];
  #events = new EventTarget();

  /** Waits until so many writes were begun. */
  async until(count) {
    while (this.begun.length < count) await once(this.#events, 'begun');
  }

  async listPage() {
    return { objects: keys };
  }

  async rewrite(_, object, { signal }) {
    this.begun.push(object);
    this.#events.dispatchEvent(new Event('begun'));
    if (!signal.aborted) await once(signal, 'abort');
    this.aborted.push(object);
    throw signal.reason;
  }
}

test('a store is asked for as many objects at a time as was said, and for no more', async (t) => {
  const { resource, migration } = await agreed(t, 'several');
  const written = [];
  let [underWay, most] = [0, 0];
  let waiting = [];
  const store = {
    listPage: async () => ({ objects: keys }),
    async rewrite(_, object) {
      underWay += 1;
      most = Math.max(most, underWay);
      // Only four together go on.
      await new Promise((resolve) => {
        waiting.push(resolve);
        if (waiting.length === 4) for (const go of waiting.splice(0)) go();
      });
      underWay -= 1;
      if (object === 'o-3') throw new StoreError({ kind: 'conflict' });
      written.push(object);
    },
  };
  const worker = client.migrator({ worker: 'several', resources: [resource], store, objectsAtOnce: 4 });
  assert.equal((await worker.runOne(migration)).worked, 'completed');
  assert.equal(most, 4);
  assert.deepEqual(written.sort(), keys.filter((key) => key !== 'o-3'));
});

test('a worker says which objects its store lists', async (t) => {
  const name = 'walks';
  const resource = { group: `${name}.example.io`, resource: 'widgets' };
  const key = { resource, name: 'inside' };
  const data = Buffer.from('{}');
  await client.collections.create({ resource, kind: 'Widget' });
  await client.objects.create({ key, content: { encodingVersion: 'v1', data } });
  const { migration } = await agreed(t, name);
  const walked = [];
  const storeOf = (walks) => ({
    walks,
    async listPage({ metadata }) {
      const { migration } = await client.migrations.get({ name: metadata.name });
      walked.push(migration.claim.walks);
      return { objects: ['inside', 'outside'] };
    },
    async rewrite({ targetVersion }, object) {
      if (object !== 'inside') return;
      const { object: present } = await client.objects.get({ key });
      const preconditions = { resourceVersion: present.metadata.resourceVersion };
      await client.objects.update({ key, content: { encodingVersion: targetVersion, data }, preconditions });
    },
  });
  const workerOf = (walks) => client.migrator({ worker: name, resources: [resource], store: storeOf(walks) });
  // One that lists less may leave out objects in another version.
  for (const less of ['WALK_COLLECTION', 'WALK_OUTSIDE', undefined]) assert.equal(await workerOf(less).runOne(migration), undefined);
  assert.equal((await workerOf('WALK_BOTH').runOne(migration)).worked, 'completed');
  assert.deepEqual(walked, ['WALK_BOTH']);
  assert.throws(() => workerOf('both'), /walks/);
});

test('an aborted migration aborts all that is under way, and nothing more is begun', async (t) => {
  const { resource, migration } = await agreed(t, 'aborted');
  const store = new Held();
  const worker = client.migrator({ worker: 'aborted', resources: [resource], store, objectsAtOnce: 3 });
  const working = worker.runOne(migration);
  await store.until(3);
  await client.migrations.abort({ name: migration });
  assert.deepEqual(await working, { worked: 'lost' });
  assert.deepEqual(store.begun.toSorted(), keys.slice(0, 3));
  assert.deepEqual(store.aborted.toSorted(), keys.slice(0, 3));
});

test('a worker that goes on works at the next migration once what was aborted has ended', async (t) => {
  const { resource, migration } = await agreed(t, 'next');
  const store = new Held();
  const worker = client.migrator({ worker: 'next', resources: [resource], store, objectsAtOnce: 2 });
  const working = worker.run();
  await store.until(2);
  await client.migrations.abort({ name: migration });
  await client.migrations.start({ resource, reason: 'MIGRATION_REASON_MANUAL' });
  await store.until(4);
  assert.deepEqual(store.aborted.toSorted(), keys.slice(0, 2));
  worker.close();
  await working;
  assert.deepEqual(store.aborted.slice(2).toSorted(), keys.slice(0, 2));
});

test('a signal ends a worker and what its store is at', async (t) => {
  const { resource, migration } = await agreed(t, 'signal');
  const store = new Held();
  const worker = client.migrator({ worker: 'signal', resources: [resource], store, objectsAtOnce: 2 });
  const over = new AbortController();
  const working = worker.runOne(migration, { signal: over.signal });
  await store.until(2);
  over.abort(new Error('enough'));
  await assert.rejects(working, /enough/);
  assert.deepEqual(store.aborted.toSorted(), keys.slice(0, 2));
});

test('an answer that cannot be sent is thrown and ends the others', async (t) => {
  const { resource, migration } = await agreed(t, 'wrong');
  const store = { listPage: async () => ({ objects: [1n] }), rewrite: async () => {} };
  const worker = client.migrator({ worker: 'wrong', resources: [resource], store, objectsAtOnce: 2 });
  await assert.rejects(worker.runOne(migration), /BigInt/);
});

/** A store of pages of two objects, which calls what it was given at one of them. */
class Stops {
  asked = [];
  #at;
  #does;

  constructor(at, does) {
    this.#at = at;
    this.#does = does;
  }

  async listPage(_, token) {
    this.asked.push(token);
    const begin = Number(token ?? 0);
    return { objects: [begin, begin + 1], next: begin < 8 ? String(begin + 2) : undefined };
  }

  async rewrite(_, object, { signal }) {
    if (object !== this.#at) return;
    this.#does();
    if (!signal.aborted) await once(signal, 'abort');
    throw signal.reason;
  }
}

/** Another worker has the migration at once, and goes on behind the second page. */
async function goesOn(resource, migration) {
  const since = performance.now();
  const store = new Stops();
  const worker = client.migrator({ worker: 'next', resources: [resource], store });
  assert.equal((await worker.runOne(migration)).worked, 'completed');
  assert.deepEqual(store.asked, ['4', '6', '8']);
  // The claim before it would have run out after an hour.
  assert.ok(performance.now() - since < 600_000);
}

/**
 * Has a worker that stops give its claim back. It has two seconds for that, which are too few where other programs keep it from
 * running: then it tries again.
 */
async function givesBack(migration, stops) {
  for (let tries = 0; tries < 5; tries += 1) {
    const late = await stops().then(() => undefined, (error) => error);
    if (late !== undefined && late.code !== 'DEADLINE_EXCEEDED') throw late;
    const { claim } = (await client.migrations.get({ name: migration })).migration;
    if (claim === undefined && late === undefined) return;
    if (claim === undefined) continue;
    const released = client.migrations.release({ claim: { migration, token: claim.token } });
    // What the worker has sent may come yet, and then the claim has ended.
    await released.catch((error) => assert.ok(error instanceof ConflictError, error));
  }
  assert.fail('no claim was given back in time');
}

test('a worker that is closed gives its claim back and the next goes on', async (t) => {
  const { resource, migration } = await agreed(t, 'closed');
  const options = { worker: 'closed', resources: [resource], ttlMs: 3_600_000 };
  await givesBack(migration, async () => {
    const worker = client.migrator({ ...options, store: new Stops(4, () => worker.close()) });
    const worked = await worker.runOne(migration);
    assert.equal(worked.worked, 'released');
    assert.match(worked.why, /stop/);
  });
  await givesBack(migration, () => {
    const running = client.migrator({ ...options, store: new Stops(4, () => running.close()) });
    return running.run();
  });
  await goesOn(resource, migration);
});

test('a worker whose signal aborts gives its claim back and the next goes on', async (t) => {
  const { resource, migration } = await agreed(t, 'aborting');
  await givesBack(migration, () => {
    const over = new AbortController();
    const store = new Stops(4, () => over.abort(new Error('enough')));
    const worker = client.migrator({ worker: 'aborting', resources: [resource], store, ttlMs: 3_600_000 });
    return assert.rejects(worker.run({ signal: over.signal }), /enough/);
  });
  await goesOn(resource, migration);
});

test('a store that is not ready gives the claim back', async (t) => {
  const { resource, migration } = await agreed(t, 'unready');
  const store = new Stops(4, () => {
    throw new StoreError({ kind: 'not_ready', why: 'it encodes in v1 still' });
  });
  const worker = client.migrator({ worker: 'unready', resources: [resource], store, ttlMs: 3_600_000 });
  await givesBack(migration, async () => {
    assert.deepEqual(await worker.runOne(migration), { worked: 'released', why: 'it encodes in v1 still' });
  });
  await goesOn(resource, migration);
});
