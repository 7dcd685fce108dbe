// The programs of `docs/guides/node.md` do what they say, against a real cluster.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { after, before, test } from 'node:test';

import { develop, end, freePorts } from '../../bindings/node/test/cluster.mjs';

const LINES_MAX = 25;

const checkout = join(import.meta.dirname, '../..');
const guide = readFileSync(join(checkout, 'docs/guides/node.md'), 'utf8');

/** The programs by the headings above them. */
const programs = new Map([...guide.matchAll(/^## (.+?)$.*?^```js\n(.*?)^```$/gms)].map(([, heading, text]) => [heading, text]));

// A project that has installed the package, made anew under the target folder, as that of the recipes.
const project = join(resolve(checkout, process.env.CARGO_TARGET_DIR ?? 'target'), 'node/guide');
rmSync(project, { recursive: true, force: true });
mkdirSync(join(project, 'node_modules/@synod'), { recursive: true });
symlinkSync(join(checkout, 'bindings/node'), join(project, 'node_modules/@synod/client'), 'dir');

const minute = { timeout: 60_000 };

let cluster;

before(async () => {
  cluster = await develop();
});

after(() => cluster.stop());

/** Starts the program below a heading. */
function start(heading, ...words) {
  const file = join(project, `${heading.replaceAll(' ', '-')}.mjs`);
  writeFileSync(file, programs.get(heading));
  return spawn(process.execPath, [file, ...words, ...cluster.endpoints], { stdio: ['ignore', 'pipe', 'inherit'] });
}

/** The output of the program below a heading, which ends with status 0. */
async function printed(heading) {
  const child = start(heading);
  let output = '';
  child.stdout.on('data', (bytes) => (output += bytes));
  const [code] = await once(child, 'close');
  assert.equal(code, 0, output);
  return output;
}

test('every program of the guide is run, and short', () => {
  assert.deepEqual([...programs.keys()], ['A lock', 'An election', 'A configuration', 'A server behind the gate']);
  for (const [heading, text] of programs) assert.ok(text.split('\n').length - 1 <= LINES_MAX, heading);
});

test('a lock is held', minute, async () => {
  assert.match(await printed('A lock'), /^held with fencing token \d+\n$/);
});

test('a leader leads', minute, async () => {
  assert.match(await printed('An election'), /^\S+ leads\n$/);
});

test('a configuration is changed and watched', minute, async () => {
  assert.match(await printed('A configuration'), /^CONFLICT\nrevision \d+ created web\n$/);
});

test('a write passes the gate', minute, async () => {
  const [port] = await freePorts(1);
  const server = start('A server behind the gate', String(port));
  const retry = ['--retry', '40', '--retry-delay', '1', '--retry-all-errors'];
  const url = `http://127.0.0.1:${port}/apis/example.io/v1/widgets`;
  const write = spawn('curl', ['--silent', '--show-error', '--fail', ...retry, '--request', 'POST', url]);
  let answer = '';
  write.stdout.on('data', (bytes) => (answer += bytes));
  const [code] = await once(write, 'close');
  await end(server);
  assert.deepEqual({ code, answer }, { code: 0, answer: 'stored in example.io/v1' });
});
