// The client outlives what happens to the replicas: each of them a process that can be killed.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { serve } from './cluster.mjs';
import { relay } from './relay.mjs';

const widgets = { group: 'example.io', resource: 'widgets' };
const content = (size) => ({
  encodingVersion: 'example.io/v1',
  mediaType: 'application/octet-stream',
  data: Buffer.alloc(size, 'x'),
});
const minutes = (number) => ({ timeout: number * 60_000 });

let cluster;

before(async () => {
  cluster = await serve();
  const client = cluster.client();
  await client.collections.create({ resource: widgets, kind: 'Widget' });
  client.close();
}, minutes(2));

after(() => cluster.stop());

/** Creates an object and answers its revision. */
async function create(client, name, size = 2) {
  const created = await client.objects.create({ key: { resource: widgets, name }, content: content(size) });
  return created.resourceVersion;
}

/** Reads a watch until it has shown an object of this name; answers the names of all that it has added. */
async function until(watch, name) {
  const added = [];
  for (;;) {
    const { value, done } = await watch.next();
    assert.ok(!done, 'the watch ended');
    if (value.type === 'bookmark') continue;
    added.push(...value.events.filter(({ type }) => type === 'EVENT_TYPE_ADDED').map((event) => event.name));
    if (added.includes(name)) return added;
  }
}

const objects = { filter: { resources: [widgets] } };

test('calls and watches go on when the replica that they use is killed', minutes(3), async () => {
  const client = cluster.client();
  const watch = await client.watch(objects);
  await create(client, 'before-kill');
  assert.deepEqual(await until(watch, 'before-kill'), ['before-kill']);
  const { header } = await client.status();
  const victim = Number(header.replicaId);
  const creating = create(client, 'while-killed');
  await cluster.kill(victim);
  await creating;
  await create(client, 'after-kill');
  assert.deepEqual(await until(watch, 'after-kill'), ['while-killed', 'after-kill']);
  await cluster.start(victim);
  watch.close();
  client.close();
});

test('calls and watches go on when all replicas were killed and started again', minutes(3), async () => {
  const client = cluster.client();
  const watch = await client.watch(objects);
  await create(client, 'before-restart');
  await Promise.all([1, 2, 3].map((id) => cluster.kill(id)));
  const pending = create(client, 'over-restart');
  await Promise.all([1, 2, 3].map((id) => cluster.start(id)));
  await pending;
  assert.deepEqual(await until(watch, 'over-restart'), ['before-restart', 'over-restart']);
  watch.close();
  client.close();
});

test('a change of leader ends no membership, and its gate opens again', minutes(3), async () => {
  const client = cluster.client();
  const membership = await client.join({ id: 'steady', ttlMs: 20_000, permitWaitMs: 60_000 });
  const versions = ['example.io/v1'];
  const entry = { resource: widgets, kind: 'Widget', decodableVersions: versions, servedVersions: versions };
  await membership.report([{ ...entry, encodingVersion: 'example.io/v1' }]);
  const { epoch } = membership;
  const leader = await cluster.leader();
  await cluster.kill(leader);
  // Longer than the TTL: the gate proves the membership by renewals at the new leader.
  const limit = AbortSignal.timeout(23_000);
  await assert.rejects(membership.ended({ signal: limit }), { name: 'TimeoutError' });
  const permit = await membership.gate.permit(widgets);
  permit.check();
  permit.done();
  assert.equal(membership.epoch, epoch);
  await cluster.start(leader);
  await membership.leave();
  client.close();
});

test('a watch that was starved until its history was gone begins anew with what there is', minutes(3), async () => {
  const client = cluster.client();
  const watch = await client.watch(objects);
  await client.cluster.updateSettings({ patch: { historyRevisions: 1n } });
  const names = Array.from({ length: 60 }, (_, number) => `large-${number}`);
  for (const name of names) await create(client, name, 200_000);
  let resynced = false;
  const seen = new Set();
  while (!names.every((name) => seen.has(name))) {
    const { value, done } = await watch.next();
    assert.ok(!done, 'the watch ended');
    if (value.type === 'bookmark') continue;
    resynced ||= value.type === 'resync';
    for (const event of value.events) seen.add(event.name);
  }
  assert.ok(resynced, 'the history was never gone, so nothing was proved');
  await client.cluster.updateSettings({ patch: { historyRevisions: 10_000n } });
  watch.close();
  client.close();
});

test('a connection that goes silent is noticed, and left for another one', minutes(3), async () => {
  const proxy = await relay(cluster.endpoints[0]);
  const keepalive = { keepaliveIntervalMs: 500, keepaliveTimeoutMs: 500 };
  const client = cluster.client({ endpoints: [proxy.endpoint], ...keepalive });
  const watch = await client.watch({ ...objects, bookmarkIntervalMs: 1_000 });
  await create(client, 'before-silence');
  assert.deepEqual(await until(watch, 'before-silence'), ['before-silence']);
  proxy.silence();
  await create(client, 'after-silence');
  assert.deepEqual(await until(watch, 'after-silence'), ['after-silence']);
  assert.ok(proxy.swallowed() > 0, 'nothing went through the proxy, so nothing was proved');
  watch.close();
  client.close();
  await proxy.stop();
});
