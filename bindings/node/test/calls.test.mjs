// Calls: what they answer, how they fail, and how they are given up.

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { after, before, test } from 'node:test';

import * as synod from '@synod/client';

import { develop } from './cluster.mjs';
import { silent } from './relay.mjs';

const { Client, ConflictError, InvalidArgumentError, NotFoundError, SynodError, UnavailableError } = synod;
const required = createRequire(import.meta.url)('@synod/client');

const widgets = { group: 'example.io', resource: 'widgets' };

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

test('require and import give the same classes', () => {
  assert.equal(required.Client, Client);
  assert.equal(required.SynodError, SynodError);
  assert.deepEqual(Object.keys(required).sort(), Object.keys(synod).filter((name) => name !== 'default').sort());
});

test('an answer has every field, with revisions as bigint', async () => {
  let status = await client.status();
  assert.equal(typeof status.header.revision, 'bigint');
  assert.equal(status.replicas.length, 3);
  // One that has not heard of the others for a moment, as where other programs keep them from running, raises an alarm.
  const limit = AbortSignal.timeout(60_000);
  while (status.alarms.length > 0 && !limit.aborted) status = await client.status();
  assert.deepEqual(status.alarms, []);
});

test('an object keeps its bytes, labels and revisions', async () => {
  await client.collections.create({ resource: widgets, kind: 'Widget', namespaced: true });
  const key = { resource: widgets, namespace: 'team-a', name: 'one' };
  const data = new Uint8Array(256).map((_, index) => index);
  const content = { encodingVersion: 'example.io/v1', mediaType: 'application/octet-stream', data };
  const created = await client.objects.create({ key, attributes: { labels: { app: 'web' } }, content });
  const { object } = await client.objects.get({ key });
  assert.deepEqual(object.content.data, data);
  assert.deepEqual(object.metadata.labels, { app: 'web' });
  assert.equal(object.metadata.resourceVersion, created.resourceVersion);
  assert.ok(created.header.revision >= created.resourceVersion);
});

test('a revision is given as a bigint or as digits, and never as a number', async () => {
  const { header } = await client.status();
  const read = (atRevision) => client.collections.list({ read: { atRevision } });
  const revision = (await client.collections.list()).header.revision;
  assert.equal((await read(revision)).header.revision, revision);
  assert.equal((await read(String(revision))).header.revision, revision);
  await assert.rejects(read(Number(revision)), { name: 'TypeError', message: /atRevision must be a bigint/ });
  await assert.rejects(read(2n ** 64n - 1n), { code: 'FUTURE_REVISION' });
  assert.ok(header.revision <= revision);
});

test('a lost comparison is a ConflictError that holds the present object', async () => {
  const key = { resource: widgets, namespace: 'team-a', name: 'contended' };
  const content = { encodingVersion: 'example.io/v1', data: Buffer.from('{}') };
  const { uid, resourceVersion } = await client.objects.create({ key, content });
  const update = { key, content: { ...content, data: Buffer.from('{"size":1}') } };
  await client.objects.update({ ...update, preconditions: { uid, resourceVersion } });
  const stale = { ...update, preconditions: { uid, resourceVersion } };
  await assert.rejects(client.objects.update(stale), (error) => {
    assert.ok(error instanceof ConflictError && error instanceof SynodError && error instanceof Error);
    assert.equal(error.name, 'ConflictError');
    assert.equal(error.code, 'CONFLICT');
    assert.equal(error.execution, 'refused');
    assert.equal(error.retryable, false);
    assert.equal(Buffer.from(error.current.content.data).toString(), '{"size":1}');
    assert.equal(typeof error.current.metadata.resourceVersion, 'bigint');
    return true;
  });
});

test('every fault of a request is named by its path', async () => {
  const wrong = client.objects.get({ key: { resource: { group: 'Example', resource: '' }, name: 'x' } });
  await assert.rejects(wrong, (error) => {
    assert.ok(error instanceof InvalidArgumentError);
    assert.ok(error.violations.length >= 2, JSON.stringify(error.violations));
    assert.ok(error.violations.every(({ field, rule }) => field.startsWith('key.') && rule.length > 0));
    return true;
  });
  await assert.rejects(client.objects.get({ kee: {} }), { code: 'INVALID_ARGUMENT' });
});

test('what is not there is a NotFoundError', async () => {
  const key = { resource: widgets, namespace: 'team-a', name: 'absent' };
  await assert.rejects(client.objects.get({ key }), NotFoundError);
});

test('a client without a usable endpoint is refused at once', () => {
  assert.throws(() => new Client({ endpoints: [] }), InvalidArgumentError);
  assert.throws(() => new Client({ endpoints: ['not an address'] }), InvalidArgumentError);
});

test('a call to nobody fails by its deadline, and was certainly not executed', async () => {
  const lonely = new Client({ endpoints: ['127.0.0.1:1'] });
  await assert.rejects(lonely.collections.list({}, { timeoutMs: 300 }), (error) => {
    assert.ok(error instanceof SynodError, String(error));
    assert.ok(['UNAVAILABLE', 'DEADLINE_EXCEEDED'].includes(error.code), error.code);
    assert.equal(error.execution, 'not_executed');
    assert.equal(error.retryable, true);
    return true;
  });
  lonely.close();
});

test('an aborted call is rejected with the reason of its signal, and leaves the signal to its owner', async () => {
  const relay = await silent();
  const waiting = new Client({ endpoints: [relay.endpoint], requestTimeoutMs: 60_000 });
  const controller = new AbortController();
  let heard = 0;
  controller.signal.onabort = () => (heard += 1);
  const call = waiting.collections.list({}, { signal: controller.signal });
  await relay.connected;
  const reason = new Error('given up');
  controller.abort(reason);
  await assert.rejects(call, reason);
  assert.equal(heard, 1);
  await assert.rejects(waiting.collections.list({}, { signal: controller.signal }), reason);
  await assert.rejects(waiting.collections.list({}, { signal: AbortSignal.timeout(20) }), { name: 'TimeoutError' });
  waiting.close();
  await relay.stop();
});

test('a closed client refuses new calls', async () => {
  const closed = cluster.client();
  await closed.status();
  closed.close();
  await assert.rejects(closed.status(), /closed/);
});

test('a call that nobody answers is not taken for one that failed for good', async () => {
  const relay = await silent();
  const waiting = new Client({ endpoints: [relay.endpoint], requestTimeoutMs: 400 });
  await assert.rejects(waiting.status(), (error) => error instanceof SynodError && error.retryable);
  waiting.close();
  await relay.stop();
  assert.ok(UnavailableError.prototype instanceof SynodError);
});
