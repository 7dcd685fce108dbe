// Caches of objects: what there is, as values, up to date.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { develop, serve } from './cluster.mjs';
import { relay } from './relay.mjs';

const minutes = (count) => ({ timeout: count * 60_000 });

/** Encodes objects as JSON, and counts what it decodes. */
function counting(...versions) {
  const know = (version) => {
    if (!versions.includes(version)) throw new Error(`${version} is not known`);
  };
  return {
    decoded: 0,
    preferred: versions[0],
    encode(value, apiVersion) {
      know(apiVersion);
      return { data: Buffer.from(JSON.stringify({ apiVersion, value })) };
    },
    async decode({ encodingVersion, data }) {
      this.decoded += 1;
      know(encodingVersion);
      return JSON.parse(Buffer.from(data)).value;
    },
  };
}

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

/** Declares a collection, with namespaces. */
async function collection(name, by = client) {
  const resource = { group: `${name}.example.io`, resource: 'widgets' };
  await by.collections.create({ resource, kind: 'Widget', namespaced: true });
  return resource;
}

const revisionOf = ({ object }) => object.metadata.resourceVersion;
const namesOf = async (cache) =>
  (await cache.list()).map(({ object: { metadata } }) => `${metadata.namespace}/${metadata.name}`);

test('a cache has what there is and follows what changes', async () => {
  const codec = counting('v1');
  const objects = client.objectsOf(await collection('follows'), codec);
  for (const [namespace, name] of [['b', 'one'], ['a', 'two'], ['a', 'one']]) await objects.create({ namespace, name }, 1);
  const cache = await objects.reflect();
  assert.deepEqual(await namesOf(cache), ['a/one', 'a/two', 'b/one']);
  assert.equal(codec.decoded, 3);
  const one = await cache.get({ namespace: 'a', name: 'one' });
  assert.equal(one.value, 1);
  assert.equal(await cache.get({ namespace: 'c', name: 'one' }), undefined);
  assert.equal(codec.decoded, 3, 'what has not changed is not decoded again');

  const seen = cache.revision;
  const grow = (draft) => void (draft.value = 2);
  const updated = await objects.guaranteedUpdate({ namespace: 'a', name: 'one' }, grow, { cached: one.object });
  await cache.reached(revisionOf(updated));
  assert.ok((await cache.changed(seen)) >= revisionOf(updated));
  assert.equal((await cache.get({ namespace: 'a', name: 'one' })).value, 2);
  const gone = await objects.delete({ namespace: 'a', name: 'two' });
  await cache.reached(gone.header.revision);
  const snapshot = await cache.snapshot();
  assert.ok(snapshot.revision >= gone.header.revision);
  assert.deepEqual(snapshot.objects.map(({ value }) => value), [2, 1]);
  await assert.rejects(cache.reached(10n ** 12n, { timeoutMs: 50 }), { code: 'DEADLINE_EXCEEDED' });
  cache.close();
  await assert.rejects(cache.get({ namespace: 'a', name: 'one' }), /closed/);
});

test('a cache has the objects that it selects', async () => {
  const objects = client.objectsOf(await collection('selects'), counting('v1'));
  const attributes = { labels: { app: 'web' } };
  await objects.create({ namespace: 'a', name: 'web' }, 1, { attributes });
  await objects.create({ namespace: 'a', name: 'other' }, 2);
  await objects.create({ namespace: 'b', name: 'web' }, 3, { attributes });
  const cache = await objects.reflect({ namespaces: ['a'], labelSelector: 'app=web' });
  assert.deepEqual(await namesOf(cache), ['a/web']);
  const leave = (draft) => void (draft.attributes = { ...draft.attributes, labels: {} });
  await cache.reached(revisionOf(await objects.guaranteedUpdate({ namespace: 'a', name: 'web' }, leave)));
  assert.deepEqual(await namesOf(cache), [], 'what matches no longer is gone');
  await cache.reached(revisionOf(await objects.create({ namespace: 'a', name: 'new' }, 4, { attributes })));
  assert.deepEqual(await namesOf(cache), ['a/new']);
  cache.close();
});

test('a cache shows one revision as a whole', async () => {
  const resource = await collection('whole');
  const cache = await client.objectsOf(resource, counting('v1')).reflect();
  const content = { encodingVersion: 'v1', mediaType: 'application/json', data: Buffer.from('{}') };
  let last;
  const writing = (async () => {
    for (let number = 0; number < 40; number += 1) {
      const create = (namespace) => ({ create: { key: { resource, namespace, name: `w-${number}` }, content } });
      const { header } = await client.objects.transact({ operations: [create('left'), create('right')] });
      last = header.revision;
    }
  })();
  for (let going = true; going; ) {
    going = await Promise.race([writing.then(() => false), new Promise((resolve) => setImmediate(resolve, true))]);
    const names = await namesOf(cache);
    const of = (side) => names.filter((name) => name.startsWith(side)).length;
    assert.equal(of('left/'), of('right/'));
  }
  await cache.reached(last);
  assert.equal((await cache.list()).length, 80);
  cache.close();
});

test('what cannot be decoded keeps nothing else from being read', async () => {
  const resource = await collection('unread');
  await client.objectsOf(resource, counting('v2')).create({ namespace: 'a', name: 'new' }, 1);
  const old = client.objectsOf(resource, counting('v1'));
  await old.create({ namespace: 'a', name: 'old' }, 2);
  const cache = await old.reflect();
  assert.equal((await cache.get({ namespace: 'a', name: 'old' })).value, 2);
  await assert.rejects(cache.get({ namespace: 'a', name: 'new' }), /v2 is not known/);
  await assert.rejects(cache.list(), /v2 is not known/);
  cache.close();
});

test('a cache follows over the death of its replica and over one that goes silent', minutes(3), async (t) => {
  const doomed = await serve();
  t.after(() => doomed.stop());
  const writer = doomed.client({ requestTimeoutMs: 60_000 });
  t.after(() => writer.close());
  const objects = writer.objectsOf(await collection('doomed', writer), counting('v1'));
  await objects.create({ namespace: 'a', name: 'one' }, 1);
  const cache = await objects.reflect();
  const proxy = await relay(doomed.endpoints[0]);
  const keepalive = { keepaliveIntervalMs: 500, keepaliveTimeoutMs: 500 };
  const cut = doomed.client({ endpoints: [proxy.endpoint, ...doomed.endpoints.slice(1)], requestTimeoutMs: 60_000, ...keepalive });
  t.after(() => cut.close());
  const behind = await cut.objectsOf(objects.resource, counting('v1')).reflect();
  proxy.silence();
  await doomed.kill(await doomed.leader());
  await objects.create({ namespace: 'a', name: 'two' }, 2);
  const gone = await objects.delete({ namespace: 'a', name: 'one' });
  for (const each of [cache, behind]) {
    await each.reached(gone.header.revision, { timeoutMs: 60_000 });
    assert.deepEqual(await namesOf(each), ['a/two']);
    each.close();
  }
  await proxy.stop();
});

test('a codec that has failed is asked again', async () => {
  const codec = counting('v1');
  const objects = client.objectsOf(await collection('failing'), codec);
  await objects.create({ namespace: 'a', name: 'one' }, 1);
  let failures = 1;
  const failing = { ...codec, decode: (...given) => (failures-- > 0 ? Promise.reject(new Error('not now')) : codec.decode(...given)) };
  const cache = await client.objectsOf({ group: 'failing.example.io', resource: 'widgets' }, failing).reflect();
  await assert.rejects(cache.get({ namespace: 'a', name: 'one' }), /not now/);
  assert.equal((await cache.get({ namespace: 'a', name: 'one' })).value, 1);
  cache.close();
});
