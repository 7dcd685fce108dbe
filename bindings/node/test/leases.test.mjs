// Locks and elections: who holds a lease, who waits, and who is told.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { ConflictError, InvalidArgumentError, StaleEpochError } from '@synod/client';

import { develop } from './cluster.mjs';

const lease = { namespace: 'default', name: 'leader' };

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

test('a lock is given on in order, with a higher token each time', async () => {
  const first = await client.lock(lease);
  first.check();
  await assert.rejects(client.tryLock(lease), (error) => {
    assert.ok(error instanceof ConflictError);
    assert.equal(error.current.hold.holder, first.holder);
    return true;
  });
  const second = client.lock({ ...lease, holder: 'second' });
  await first.release();
  const lock = await second;
  assert.equal(lock.holder, 'second');
  assert.ok(lock.token > first.token);
  assert.deepEqual(lock.proof.lease, lease);
  assert.equal(lock.proof.token, lock.token);
  await lock[Symbol.asyncDispose]();
  assert.throws(() => lock.check());
});

test('a holder that is not named has the name of its client', async () => {
  const named = cluster.client({ name: 'controller' });
  const lock = await named.lock({ namespace: 'default', name: 'named' });
  assert.match(lock.holder, /^controller_/);
  await lock.release();
  named.close();
  assert.throws(() => cluster.client({ name: 'no name_' }), InvalidArgumentError);
});

test('an option that breaks a rule is the same error with a signal and without', async () => {
  const bad = { ...lease, ttlMs: 1 };
  await assert.rejects(client.lock(bad), InvalidArgumentError);
  await assert.rejects(client.lock(bad, { signal: new AbortController().signal }), InvalidArgumentError);
});

test('whoever gives up waiting is not given the lease', async () => {
  const held = await client.lock(lease);
  const controller = new AbortController();
  const waiting = client.lock({ ...lease, holder: 'impatient' }, { signal: controller.signal });
  const after = client.lock({ ...lease, holder: 'patient' });
  controller.abort();
  await assert.rejects(waiting, { name: 'AbortError' });
  await held.release();
  assert.equal((await after).holder, 'patient');
  await (await after).release();
});

test('a lock that another has taken away is lost, and its writes are refused', async () => {
  const lock = await client.lock({ ...lease, name: 'taken' });
  const lost = lock.lost();
  await client.leases.release({ lease: { ...lease, name: 'taken' }, holder: lock.holder, token: lock.token });
  assert.ok((await lost) instanceof StaleEpochError);
  assert.throws(() => lock.check(), StaleEpochError);
  const key = { resource: { group: 'example.io', resource: 'gadgets' }, name: 'one' };
  await client.collections.create({ resource: key.resource, kind: 'Gadget' });
  const content = { encodingVersion: 'example.io/v1', data: Buffer.from('{}') };
  await assert.rejects(client.objects.create({ key, content, fences: { ifLease: lock.proof } }), StaleEpochError);
});

test('in an election one leads, and the next one when it resigns', async () => {
  const name = 'elected';
  const one = client.election({ ...lease, name, holder: 'one' });
  const two = client.election({ ...lease, name, holder: 'two' });
  const lead = await one.campaign();
  const next = two.campaign();
  await lead.release();
  const lock = await next;
  assert.equal(lock.holder, 'two');
  const over = two.over(lock);
  await client.leases.release({ lease: { ...lease, name }, holder: 'two', token: lock.token });
  const end = await over;
  assert.equal(end.type, 'lost');
  assert.ok(end.error instanceof StaleEpochError);
});

test('of candidates the one of the lowest emulation version leads', async () => {
  const stand = (identity, emulationVersion) =>
    client.election({ ...lease, name: 'coordinated', holder: identity, candidate: { binaryVersion: '1.2.0', emulationVersion } });
  const young = stand('young', '1.2.0');
  const lead = await young.campaign();
  const over = young.over(lead);
  const controller = new AbortController();
  const old = stand('old', '1.1.0').campaign({ signal: controller.signal });
  assert.deepEqual(await over, { type: 'preferred', candidate: 'old' });
  await lead.release();
  const lock = await old;
  assert.equal(lock.holder, 'old');
  await young.withdraw();
  await lock.release();
});
