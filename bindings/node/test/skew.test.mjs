// A client works with replicas of the release before its own, and is told what they do not know.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { UnavailableError } from '@synod/client';

import { serve } from './cluster.mjs';

const widgets = { group: 'example.io', resource: 'widgets' };

let older;
let client;

before(async () => {
  older = await serve({ machineVersion: 1 });
  client = older.client();
});

after(async () => {
  client.close();
  await older.stop();
});

test('what older replicas know works', { timeout: 120_000 }, async () => {
  assert.equal((await client.status()).machineVersion, 1);
  const watch = await client.watch();
  await client.collections.create({ resource: widgets, kind: 'Widget' });
  const key = { resource: widgets, name: 'one' };
  const content = { encodingVersion: 'example.io/v1', mediaType: 'text/plain', data: Buffer.from('one') };
  await client.objects.create({ key, content });
  const { object } = await client.objects.get({ key });
  assert.equal(Buffer.from(object.content.data).toString(), 'one');
  for await (const { events = [] } of watch) if (events.some(({ storedObject }) => storedObject !== undefined)) break;
  const lock = await client.lock({ namespace: 'skew', name: 'lock' });
  lock.check();
  await lock.release();
  const membership = await client.join({ id: 'skew' });
  const versions = ['example.io/v1'];
  await membership.report([
    { resource: widgets, kind: 'Widget', decodableVersions: versions, servedVersions: versions, encodingVersion: versions[0] },
  ]);
  await membership.ready();
  const permit = await membership.gate.permit(widgets);
  assert.equal(permit.encoding, 'example.io/v1');
  permit.done();
  await membership.leave();
});

test('a setting that they know is changed, and one with a switch is not changed in part', async () => {
  await client.cluster.updateSettings({ patch: { sessionsMax: 1_234 } });
  const patch = { sessionsMax: 4_321, votes: 'SWITCH_OFF' };
  for (const dryRun of [true, false]) {
    await assert.rejects(client.cluster.updateSettings({ patch, dryRun }), (error) => {
      assert.ok(error instanceof UnavailableError, error);
      assert.match(error.message, /^votes: switches come with machine version 2, and 1 is in force/);
      assert.match(error.message, /run the newer release on replica 1/);
      return true;
    });
  }
  const { settings } = await client.cluster.getSettings();
  assert.equal(settings.sessionsMax, 1_234);
});
