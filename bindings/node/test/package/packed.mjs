// The package as npm packs it, in a project that knows nothing else.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';

const here = join(import.meta.dirname, '../..');
const project = mkdtempSync(join(tmpdir(), 'synod-packed-'));
after(() => rmSync(project, { recursive: true, force: true }));

const run = (cwd, program, ...words) => execFileSync(program, words, { cwd, encoding: 'utf8' });

const makes = `const client = new Client({ endpoints: ['127.0.0.1:1'] });
const kinds = [typeof Client, new SynodError({ code: 'QUOTA', message: '' }) instanceof Error, client.endpoints.length];
client.close();
console.log(kinds.join());`;

test('the packed package works in an empty project, required and imported', () => {
  const [packed] = JSON.parse(run(here, 'npm', 'pack', '--json', '--pack-destination', project, '--loglevel', 'error'));
  const names = packed.files.map((file) => file.path);
  for (const name of ['README.md', 'dist/synod.node', 'dist/index.cjs', 'dist/index.mjs', 'dist/index.d.cts']) {
    assert.ok(names.includes(name), `${name} is not in the package`);
  }
  assert.deepEqual(names.filter((name) => /^(test|ts|src|target|node_modules)\//.test(name)), []);

  mkdirSync(join(project, 'app'));
  const app = join(project, 'app');
  writeFileSync(join(app, 'package.json'), '{ "name": "app", "private": true }');
  run(app, 'npm', 'install', '--no-audit', '--no-fund', '--loglevel', 'error', join(project, packed.filename));
  writeFileSync(join(app, 'required.cjs'), `const { Client, SynodError } = require('@synod/client');\n${makes}`);
  writeFileSync(join(app, 'imported.mjs'), `import { Client, SynodError } from '@synod/client';\n${makes}`);
  for (const program of ['required.cjs', 'imported.mjs']) {
    assert.equal(run(app, process.execPath, program), 'function,true,1\n', program);
  }
  const manifest = JSON.parse(readFileSync(join(app, 'node_modules/@synod/client/package.json'), 'utf8'));
  assert.deepEqual(Object.keys(manifest.dependencies ?? {}), []);
});
