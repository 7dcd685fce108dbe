// Memberships, their gate, and the middleware before a server.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { after, before, test } from 'node:test';

import express from 'express';
import fastify from 'fastify';

import { NotAMemberError, UnavailableError } from '@synod/client';

import { develop } from './cluster.mjs';

const widgets = { group: 'example.io', resource: 'widgets' };
const entry = {
  resource: widgets,
  kind: 'Widget',
  decodableVersions: ['example.io/v1', 'example.io/v2'],
  servedVersions: ['example.io/v1', 'example.io/v2'],
  preferredVersion: 'example.io/v2',
};
const url = '/apis/example.io/v1/namespaces/team-a/widgets';

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

test('a member that has reported writes under permits, in the version that was selected', async () => {
  const membership = await client.join({ id: 'server-1', labels: { zone: 'a' }, permitWaitMs: 10_000 });
  assert.equal(membership.state.reported, false);
  assert.throws(() => membership.gate.tryPermit(widgets), UnavailableError);
  assert.equal(typeof membership.gate.waitsFor, 'string');

  const answer = await membership.report([entry]);
  assert.equal(typeof answer.header.revision, 'bigint');
  await membership.ready();
  assert.equal(membership.gate.waitsFor, undefined);
  assert.equal(membership.state.ready, true);
  const { member } = await client.membership.get({ id: 'server-1' });
  assert.deepEqual(member.metadata.labels, { zone: 'a' });
  assert.equal(member.epoch, membership.epoch);

  const permit = await membership.gate.permit(widgets);
  assert.equal(permit.encoding, 'example.io/v2');
  assert.equal(permit.epoch, membership.epoch);
  permit.check();
  permit.done();
  assert.throws(() => permit.check(), { code: 'INVALID_ARGUMENT' });
  await membership[Symbol.asyncDispose]();
  assert.equal(membership.state.ended, 'left');
});

test('leaving ends a membership, and whoever waits for its end is told', async () => {
  const membership = await client.join({ id: 'server-2' });
  await membership.report([entry]);
  const ended = membership.ended();
  await membership.leave({ drainLimitMs: 0 });
  assert.equal(await ended, 'left');
  assert.equal(membership.state.ended, 'left');
  assert.equal(membership.epoch, undefined);
  assert.throws(() => membership.gate.tryPermit(widgets), NotAMemberError);
  await assert.rejects(membership.report([entry]), NotAMemberError);
});

test('a member that is replaced stops for good', async () => {
  const old = await client.join({ id: 'server-3' });
  await old.report([entry]);
  const changed = old.ended();
  // Read before the second join: who is told in the meantime that it was replaced has no epoch.
  const { epoch } = old;
  const young = await client.join({ id: 'server-3' });
  assert.ok(young.epoch > epoch);
  assert.equal(await changed, 'replaced');
  assert.throws(() => old.gate.tryPermit(widgets), { code: 'STALE_EPOCH' });
  await young.leave();
});

test('an entry that breaks a rule is refused, and named', async () => {
  const membership = await client.join({ id: 'server-4' });
  await assert.rejects(membership.report([{ ...entry, preferredVersion: 'example.io/v9' }]), { code: 'INVALID_ARGUMENT' });
  const state = membership.stateChanged();
  await membership.report([entry]);
  assert.equal((await state).reported, true);
  await membership.leave();
});

/** What the servers below do with a request that passed. */
function store(request, answer) {
  const { permit } = request;
  if (permit === undefined) return answer('no permit');
  permit.check();
  permit.done();
  return answer(permit.encoding);
}

const servers = {
  async 'node:http'(gate) {
    const middleware = gate.middleware();
    const server = createServer((request, response) => {
      middleware(request, response, () => store(request, (text) => response.end(text)));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return { port: server.address().port, stop: () => server.close() };
  },
  async express(gate) {
    const app = express();
    // Mounted below a path: the gate has to see the whole of it.
    app.use('/apis', gate.middleware());
    app.use((request, response) => void store(request, (text) => response.end(text)));
    const server = app.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return { port: server.address().port, stop: () => server.close() };
  },
  async fastify(gate) {
    const app = fastify();
    app.addHook('onRequest', gate.fastifyHook());
    app.all('/*', (request, reply) => reply.send(store(request.raw, (text) => text)));
    await app.listen({ port: 0, host: '127.0.0.1' });
    return { port: app.server.address().port, stop: () => app.close() };
  },
};

for (const [name, serve] of Object.entries(servers)) {
  test(`before ${name}, a write passes with a permit, and only when the gate is open`, async () => {
    const membership = await client.join({ id: 'server-5' });
    const { port, stop } = await serve(membership.gate);
    const ask = (method, path = url) => fetch(`http://127.0.0.1:${port}${path}`, { method, body: method === 'POST' ? '{}' : null });

    const refused = await ask('POST');
    assert.equal(refused.status, 503);
    assert.match(refused.headers.get('content-type'), /^application\/json/);
    const status = await refused.json();
    assert.equal(status.kind, 'Status');
    assert.equal(status.code, 503);
    assert.equal(await (await ask('GET')).text(), 'no permit');
    // One letter of the path as a number: it is the same path.
    assert.equal((await ask('POST', url.replace('api', '%61pi'))).status, name === 'express' ? 200 : 503);

    await membership.report([entry]);
    await membership.ready();
    const written = await ask('POST');
    assert.equal(written.status, 200);
    assert.equal(await written.text(), 'example.io/v2');
    await membership.leave();
    assert.equal((await ask('POST')).status, 503);
    await stop();
  });
}
