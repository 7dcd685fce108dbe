// Backups: what a program writes, the command line reads.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { InvalidArgumentError } from '@synod/client';

import { develop, program } from './cluster.mjs';

let cluster;
let client;
let folder;

before(async () => {
  cluster = await develop();
  client = cluster.client();
  folder = mkdtempSync(join(tmpdir(), 'synod-node-'));
});

after(async () => {
  client.close();
  await cluster.stop();
  rmSync(folder, { recursive: true });
});

test('a backup is what the command line verifies, and replaces another only if it is told to', async () => {
  const path = join(folder, 'a.backup');
  const written = await client.backUp(path);
  assert.equal(BigInt(statSync(path).size), written.bytes);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  const verified = JSON.parse(execFileSync(program(), ['backup', 'verify', path, '-o', 'json']));
  assert.equal(verified.revision, String(written.revision));
  assert.equal(verified.clusterId, written.clusterId);
  assert.equal(verified.sha256, written.sha256);
  await assert.rejects(client.backUp(path), (error) => {
    assert.ok(error instanceof InvalidArgumentError);
    assert.deepEqual(error.violations.map(({ field }) => field), ['path']);
    return true;
  });
  const again = await client.backUp(path, { replace: true });
  assert.ok(again.revision >= written.revision);
  assert.deepEqual(readdirSync(folder), ['a.backup']);
});

test('a backup that is given up leaves nothing', async () => {
  const signal = AbortSignal.abort();
  await assert.rejects(client.backUp(join(folder, 'b.backup'), { signal }), { name: 'AbortError' });
  assert.ok(!readdirSync(folder).includes('b.backup'));
});
