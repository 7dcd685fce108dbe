// Fences in a server's own store: a real etcd, and writes that come too late.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import { Etcd, FencedObjects, FencedWriter, KeyStoreError } from '@synod/client';

import { develop, end, freePorts } from './cluster.mjs';
import { silent } from './relay.mjs';

const minutes = (count) => ({ timeout: count * 60_000 });
const encoded = (apiVersion) => Buffer.from(JSON.stringify({ apiVersion }));
const versionOf = ({ value }) => JSON.parse(Buffer.from(value)).apiVersion;

let cluster;
let client;
let etcd;

/** One etcd process. */
async function running() {
  const folder = mkdtempSync(join(tmpdir(), 'synod-etcd-'));
  const [url, peer] = (await freePorts(2)).map((port) => `http://127.0.0.1:${port}`);
  const words = ['--log-level', 'error', '--data-dir', folder];
  words.push('--listen-client-urls', url, '--advertise-client-urls', url);
  words.push('--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer, '--initial-cluster', `default=${peer}`);
  const child = spawn('etcd', words, { stdio: 'ignore' });
  const store = new Etcd(url, { timeoutMs: 60_000 });
  const limit = AbortSignal.timeout(60_000);
  for (;;) {
    try {
      await store.get('ready', { signal: limit });
      break;
    } catch (error) {
      if (!(error instanceof KeyStoreError)) throw error;
      await pause(50);
    }
  }
  return {
    url,
    store,
    async stop() {
      await end(child);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

before(async () => {
  [cluster, etcd] = await Promise.all([develop(), running()]);
  client = cluster.client();
});

after(async () => {
  client.close();
  await Promise.all([cluster.stop(), etcd.stop()]);
});

/** Encodes objects anew by their `apiVersion`. */
const widgets = (prefix) => ({
  prefix: () => prefix,
  recode: ({ targetVersion }, object) => (versionOf(object) === targetVersion ? undefined : encoded(targetVersion)),
});

/** Has a worker complete a migration of a resource, which has to wait for drains. */
async function migrated(name, worker) {
  const watch = await client.watch({ filter: { kinds: ['OBJECT_KIND_MIGRATION'] }, from: 'list' });
  for await (const { events = [] } of watch) {
    for (const { migration } of events.filter((event) => event.name.includes(name))) {
      for (;;) {
        const { migration: now } = await client.migrations.get({ name: migration.metadata.name });
        if (!['MIGRATION_PHASE_PENDING', 'MIGRATION_PHASE_RUNNING'].includes(now.phase)) break;
        const worked = await worker.runOne(migration.metadata.name);
        if (worked?.worked === 'completed') return migration;
      }
    }
  }
  return undefined;
}

test('a write that lands behind the worker is kept out by the fence', minutes(2), async () => {
  const resource = { group: 'late.example.io', resource: 'widgets' };
  const common = { resource, kind: 'Widget', decodableVersions: ['v1', 'v2'], servedVersions: ['v1', 'v2'] };
  await client.cluster.updateSettings({ patch: { writeGraceMs: 1_000n } });
  const other = cluster.client();
  const first = await other.join({ id: 'late-a', ttlMs: 5_000 });
  const second = await client.join({ id: 'late-b' });
  for (const membership of [first, second]) await membership.report([{ ...common, encodingVersion: 'v1' }]);
  const guard = await other.fenceGuard('late-a');

  const key = '/objects/late/late';
  let [begun, go] = [];
  const [beginning, going] = [new Promise((resolve) => (begun = resolve)), new Promise((resolve) => (go = resolve))];
  const held = {
    get: (...given) => etcd.store.get(...given),
    list: (...given) => etcd.store.list(...given),
    async putIf(conditions, which, ...given) {
      if (which === key) {
        begun();
        await going;
      }
      return etcd.store.putIf(conditions, which, ...given);
    },
  };
  const writer = new FencedWriter(guard, held, '/fences/');
  for (let number = 0; number < 5; number += 1) {
    await writer.update(first.gate, resource, `/objects/late/w-${number}`, (_, version) => encoded(version));
  }
  const permit = await first.gate.permit(resource);
  const late = writer.write(permit, key, 0n, encoded(permit.encoding)).catch((error) => error);
  await beginning;
  // It has passed every check; then its server is held up, and is replaced.
  const replaced = await client.join({ id: 'late-a' });
  await replaced.report([{ ...common, encodingVersion: 'v2' }]);
  await second.report([{ ...common, encodingVersion: 'v2' }]);
  const store = new FencedObjects(etcd.store, widgets('/objects/late/'), '/fences/', { pageSize: 2 });
  const worker = client.migrator({ worker: 'late', resources: [resource], store, objectsAtOnce: 2 });
  const done = await migrated('late.example.io', worker);
  go();
  const fault = await late;
  assert.equal(fault.outcome, 'not_executed');
  assert.match(fault.message, /has moved the fence/);
  const { pairs } = await etcd.store.list('/objects/late/', undefined, 100);
  assert.deepEqual(pairs.map(versionOf), Array(5).fill('v2'));
  const fence = await etcd.store.get('/fences/widgets.late.example.io');
  assert.ok(Buffer.from(fence.value).toString().endsWith(` widgets.late.example.io ${done.agreementRevision}`));
  // The same write without the condition on the fence lands, so nothing else kept it out.
  assert.ok(await etcd.store.putIf([{ key, revision: 0n }], key, encoded('v1')));

  // The living server goes on: it knows of the agreement.
  const living = new FencedWriter(await client.fenceGuard('late-b'), etcd.store, '/fences/');
  await living.update(second.gate, resource, key, (_, version) => encoded(version));
  const stored = await etcd.store.get(key);
  assert.equal(versionOf(stored), 'v2');
  const again = await second.gate.permit(resource);
  assert.equal(await living.write(again, key, stored.revision - 1n, encoded('v2')), false, 'somebody has changed it');
  assert.ok(second.gate.isDrained);
  await etcd.store.putIf([], '/wrong/widgets.late.example.io', Buffer.from('nonsense'));
  const wrong = new FencedWriter(await client.fenceGuard('late-b'), etcd.store, '/wrong/');
  await assert.rejects(wrong.update(second.gate, resource, key, () => encoded('v2')), { outcome: 'refused' });
  // An operator mends it, and the same writer goes on.
  const { value: whole } = await etcd.store.get('/fences/widgets.late.example.io');
  assert.ok(await etcd.store.putIf([], '/wrong/widgets.late.example.io', whole));
  await wrong.update(second.gate, resource, key, () => encoded('v2'));
  await Promise.all([second.leave(), replaced.leave()]);
  other.close();
});

test('a list has the keys of its prefix, page by page, and no other', async () => {
  const bytes = new Uint8Array([0, 255]);
  for (const key of ['p/a/1', 'p/a/2', 'p/a/2/x', 'p/a0', 'p/b']) {
    assert.ok(await etcd.store.putIf([{ key, revision: 0n }], key, bytes));
    assert.ok(!(await etcd.store.putIf([{ key, revision: 0n }], key, bytes)));
  }
  const first = await etcd.store.list('p/a/', undefined, 2);
  assert.deepEqual([first.pairs.map(({ key }) => key), first.more], [['p/a/1', 'p/a/2'], true]);
  const second = await etcd.store.list('p/a/', 'p/a/2', 2);
  assert.deepEqual([second.pairs.map(({ key }) => key), second.more], [['p/a/2/x'], false]);
  assert.deepEqual(second.pairs[0].value, bytes);
  assert.ok(await etcd.store.putIf([{ key: 'p/b', value: bytes }], 'p/b', new Uint8Array()));
});

/** A server that sends everybody to another one. */
async function redirecting(to) {
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(307, { location: `${to}${request.url}` }).end();
  });
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    stop: () => new Promise((stopped) => server.close(stopped).closeAllConnections()),
  };
}

test('what is not answered well is not executed, or refused, or unknown', async () => {
  const [port] = await freePorts(1);
  const nobody = new Etcd(`http://127.0.0.1:${port}`, { timeoutMs: 60_000 });
  await assert.rejects(nobody.putIf([], 'key', new Uint8Array()), { name: 'KeyStoreError', outcome: 'not_executed' });
  const mute = await silent();
  const cut = new Etcd(`http://${mute.endpoint}`, { timeoutMs: 500 });
  await assert.rejects(cut.putIf([], 'key', new Uint8Array()), { outcome: 'unknown' });
  await assert.rejects(cut.get('key'), { outcome: 'not_executed' });
  await mute.stop();
  const wrong = new Etcd(`${etcd.url}/nowhere`, { timeoutMs: 60_000 });
  await assert.rejects(wrong.putIf([], 'key', new Uint8Array()), { outcome: 'refused' });
  const busy = async () => new Response('', { status: 429, headers: { 'retry-after': '3' } });
  const told = new Etcd(etcd.url, { fetch: busy });
  await assert.rejects(told.putIf([], 'key', new Uint8Array()), { outcome: 'not_executed', retryAfterMs: 3_000 });
  const endless = new Etcd(etcd.url, { fetch: async () => new Response(new Uint8Array(17 << 20)) });
  await assert.rejects(endless.putIf([], 'key', new Uint8Array()), { outcome: 'unknown', message: /more than/ });
  const moved = await redirecting(etcd.url);
  await assert.rejects(new Etcd(moved.url).putIf([], 'moved', new Uint8Array()), { outcome: 'unknown' });
  assert.equal(await etcd.store.get('moved'), undefined);
  await moved.stop();
  const late = new Etcd(etcd.url, { fetch: async () => new Response('', { status: 504 }) });
  await assert.rejects(late.putIf([], 'key', new Uint8Array()), { outcome: 'unknown' });
  await assert.rejects(late.get('key'), { outcome: 'not_executed' });
});
