// Each recipe runs against a real cluster and does what its first lines say.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { after, before, test } from 'node:test';

import { develop } from '../../bindings/node/test/cluster.mjs';

// A project that has installed the package, made anew: under the target folder, so that a run leaves nothing beside the
// recipes, neither a link nor the path of this machine.
const checkout = join(import.meta.dirname, '../..');
const project = join(resolve(checkout, process.env.CARGO_TARGET_DIR ?? 'target'), 'node/recipes');
rmSync(project, { recursive: true, force: true });
mkdirSync(join(project, 'node_modules/@synod'), { recursive: true });
symlinkSync(join(checkout, 'bindings/node'), join(project, 'node_modules/@synod/client'), 'dir');
for (const name of readdirSync(import.meta.dirname).filter((name) => name.endsWith('.mjs'))) {
  copyFileSync(join(import.meta.dirname, name), join(project, name));
}

const minute = { timeout: 60_000 };

let cluster;

before(async () => {
  cluster = await develop();
});

after(() => cluster.stop());

/** Runs a recipe, and answers what it printed. It ends with status 0 and no complaint. */
async function printed(name) {
  const program = join(project, name);
  const child = spawn(process.execPath, [program, ...cluster.endpoints], { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  let faults = '';
  child.stdout.on('data', (bytes) => (output += bytes));
  child.stderr.on('data', (bytes) => (faults += bytes));
  const [code] = await once(child, 'close');
  assert.deepEqual({ code, faults }, { code: 0, faults: '' }, output);
  return output.trimEnd().split('\n');
}

test('the gated server is refused a write before its report, and stores in the version of its permit', minute, async () => {
  const stored = '{"apiVersion":"gated.example.io/v2","kind":"Widget","name":"one","size":1}';
  assert.deepEqual(await printed('gated_server.mjs'), [
    'before the report, a write is answered by 503',
    'all resources are reported, and the server is ready',
    `a write is answered by 201: ${stored}`,
    'discovery shows the hash Mdi6EuvcmS8=',
    `read back: ${stored}`,
    'after it left, a write is answered by 503',
  ]);
});

test('the controller keeps what it wants, goes back, and is taken over when it releases', minute, async () => {
  assert.deepEqual(await printed('controller.mjs'), [
    'first leads',
    'wanted: revision 1 is {"image":"web:1"}, and 1 worker runs it',
    'wanted: revision 2 is {"image":"web:2"}, and 1 worker runs it',
    'rolled back: revision 3 is {"image":"web:1"}, and 1 worker runs it',
    'second leads',
    'taken over: revision 3 is {"image":"web:1"}, and 1 worker runs it',
  ]);
});

test('whoever waits for agreement sees who stands in the way, and then that nobody does', minute, async () => {
  const lines = await printed('agreement.mjs');
  assert.equal(lines.at(-1), 'all agree on agreement.example.io/v2');
  const first = lines.indexOf('all agree on agreement.example.io/v1');
  assert.ok(first >= 0, lines.join('\n'));
  const between = lines.slice(first + 1, -1);
  assert.ok(between.includes('node-old encodes agreement.example.io/v1'), lines.join('\n'));
});

test('the table ends with the agreement that it made', minute, async () => {
  const lines = await printed('versions_table.mjs');
  assert.ok(lines.some((line) => /^RESOURCE +SELECTED +AGREED +ENCODED$/.test(line)), lines.join('\n'));
  const version = 'table\\.example\\.io/v1';
  const row = new RegExp(`^table\\.example\\.io\\.gizmos +${version} +${version} +node-shown=${version}$`);
  assert.match(lines.at(-1), row);
});

test('the worker rewrites every object, and nothing but the new version is persisted', minute, async () => {
  assert.deepEqual(await printed('migration_worker.mjs'), [
    '3 objects are stored in v1',
    'v2 is agreed on, and a migration waits',
    'the worker ended: completed',
    'objects are stored in node-migrated.example.io/v2',
    'one is {"width":7,"height":7} in node-migrated.example.io/v2',
  ]);
});
