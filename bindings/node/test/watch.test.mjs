// Watches and caches: nothing is lost, whoever stops waiting for what.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { develop } from './cluster.mjs';

const filter = { kinds: ['OBJECT_KIND_LEASE'] };

let cluster;
let client;

before(async () => {
  cluster = await develop();
  client = cluster.client();
});

after(async () => {
  client.close();
  await cluster.stop();
});

/** Makes a change that watches of leases see, and answers its revision. */
async function change(name) {
  const lease = { namespace: 'default', name };
  const { header } = await client.leases.acquire({ lease, holder: 'someone', ttlMs: 60_000n });
  return header.revision;
}

/** The names in the events of a watch, until `count` were seen. */
async function names(watch, count) {
  const seen = [];
  for await (const message of watch) {
    if (message.type === 'bookmark') continue;
    seen.push(...message.events.map((event) => event.name));
    if (seen.length >= count) break;
  }
  return seen;
}

test('a watch delivers every change in order, each at its revision', async () => {
  const watch = await client.watch({ filter });
  const revisions = [];
  for (const name of ['a', 'b', 'c']) revisions.push(await change(name));
  const messages = [];
  for await (const message of watch) {
    if (message.type === 'events') messages.push(message);
    if (messages.length === 3) break;
  }
  assert.deepEqual(messages.map((message) => message.revision), revisions);
  assert.deepEqual(messages.map(({ events }) => events[0].lease.metadata.name), ['a', 'b', 'c']);
  assert.deepEqual(await watch.next(), { done: true, value: undefined });
});

test('a watch from a list begins with all that there is', async () => {
  const watch = await client.watch({ filter, from: 'list' });
  const { value } = await watch.next();
  assert.equal(value.type, 'resync');
  assert.deepEqual(value.events.map((event) => event.name).sort(), ['a', 'b', 'c']);
  assert.ok(value.events.every((event) => event.type === 'EVENT_TYPE_ADDED'));
  watch.close();
});

test('a watch from a revision delivers what has happened since', async () => {
  const first = await change('from');
  await change('onward');
  const watch = await client.watch({ filter, from: first });
  assert.deepEqual(await names(watch, 2), ['from', 'onward']);
});

test('a next that its signal aborts takes no event away', async () => {
  const watch = await client.watch({ filter });
  const count = 100;
  const changing = (async () => {
    for (let number = 0; number < count; number += 1) await change(`n${number}`);
  })();
  const seen = [];
  let aborted = 0;
  while (seen.length < count) {
    try {
      const { value } = await watch.next({ signal: AbortSignal.timeout(1) });
      if (value.type === 'events') seen.push(...value.events.map((event) => event.name));
    } catch (error) {
      assert.equal(error.name, 'TimeoutError');
      aborted += 1;
    }
  }
  await changing;
  assert.deepEqual(seen, Array.from({ length: count }, (_, number) => `n${number}`));
  assert.ok(aborted > 0, 'no call was aborted, so nothing was proved');
  watch.close();
});

test('calls of next are answered in their order', async () => {
  const watch = await client.watch({ filter, bookmarkIntervalMs: 30_000 });
  await watch.next();
  const pending = [watch.next(), watch.next()];
  await change('early');
  await change('late');
  const messages = await Promise.all(pending);
  assert.deepEqual(messages.map(({ value }) => value.events[0].name), ['early', 'late']);
  watch.close();
});

test('closing a watch ends a next that waits', async () => {
  const watch = await client.watch({ filter });
  await watch.next();
  const pending = watch.next();
  watch.close();
  assert.deepEqual(await pending, { done: true, value: undefined });
});

test('a reflector shows one revision as a whole, and reaches that of a change', async () => {
  const reflector = await client.reflect(['OBJECT_KIND_LEASE']);
  const before = reflector.revision;
  const changed = reflector.changed(before);
  const revision = await change('reflected');
  await reflector.reached(revision, { timeoutMs: 60_000 });
  assert.ok((await changed) > before);
  assert.ok(reflector.list('OBJECT_KIND_LEASE').length > 0);
  const lease = reflector.get('OBJECT_KIND_LEASE', { namespace: 'default', name: 'reflected' });
  assert.equal(lease.hold.holder, 'someone');
  assert.equal(reflector.get('OBJECT_KIND_LEASE', { namespace: 'default', name: 'absent' }), undefined);
  await assert.rejects(reflector.reached(revision + 1_000n, { timeoutMs: 50 }), { code: 'DEADLINE_EXCEEDED' });
  reflector.close();
});
