// What the client does to the process that it lives in: nothing is kept alive, and nothing is left behind.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import { Worker } from 'node:worker_threads';

import { native } from '../dist/native.cjs';

import { develop } from './cluster.mjs';
import { counts, settle } from './leaks.mjs';
import { silent } from './relay.mjs';

let cluster;

before(async () => {
  cluster = await develop();
});

after(() => cluster.stop());

/** Runs a program in a process of its own, and answers how it ended. It has two minutes. */
async function run(text, endpoints = cluster.endpoints) {
  const program = `import { Client } from '@synod/client';
    const client = new Client({ endpoints: ${JSON.stringify(endpoints)}, requestTimeoutMs: 60_000 });
    ${text}`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    cwd: import.meta.dirname,
    timeout: 120_000,
  });
  let output = '';
  let faults = '';
  child.stdout.on('data', (bytes) => (output += bytes));
  child.stderr.on('data', (bytes) => (faults += bytes));
  const [code, signal] = await once(child, 'close');
  return { code, signal, output, faults };
}

test('a process ends by itself with a client, a watch and a membership that wait for nothing', async () => {
  const ended = await run(`
    await client.status();
    const watch = await client.watch();
    const reflector = await client.reflect();
    const membership = await client.join({ id: 'idle' });
    console.log('idle');`);
  assert.deepEqual(ended, { code: 0, signal: null, output: 'idle\n', faults: '' });
});

test('a process can end with calls under way', async () => {
  const relay = await silent();
  const ended = await run(
    `for (let number = 0; number < 50; number += 1) client.collections.list().catch(() => {});
    setImmediate(() => process.exit(3));`,
    [relay.endpoint],
  );
  await relay.stop();
  assert.deepEqual(ended, { code: 3, signal: null, output: '', faults: '' });
});

test('a worker thread makes calls, and what it leaves behind when it is terminated is dropped', async () => {
  const relay = await silent();
  const before = native.counts();
  const text = `const { parentPort, workerData } = require('node:worker_threads');
    const { Client } = require(workerData.module);
    (async () => {
      const client = new Client({ endpoints: workerData.endpoints, requestTimeoutMs: 60_000 });
      const { replicas } = await client.status();
      const stuck = new Client({ endpoints: [workerData.nobody] });
      for (let number = 0; number < 10; number += 1) stuck.collections.list().catch(() => {});
      parentPort.postMessage(replicas.length);
    })();`;
  const workerData = {
    module: new URL('../dist/index.cjs', import.meta.url).pathname,
    endpoints: cluster.endpoints,
    nobody: relay.endpoint,
  };
  for (let round = 0; round < 8; round += 1) {
    const worker = new Worker(text, { eval: true, workerData });
    const [replicas] = await once(worker, 'message');
    assert.equal(replicas, 3);
    await worker.terminate();
  }
  await settle(() => native.counts().calls === before.calls && native.counts().handles === before.handles);
  assert.deepEqual(native.counts(), before);
  await relay.stop();
});

test('a hundred calls at once are answered, and leave nothing behind', async () => {
  const client = cluster.client();
  const before = counts();
  await Promise.all(Array.from({ length: 100 }, () => client.collections.list()));
  await settle(() => counts().calls === before.calls);
  client.close();
});
