// Everything that holds the Node client, in one go, on a machine that has Rust, Node and npm:
//
//   node bindings/node/ci.mjs           all steps
//   node bindings/node/ci.mjs test      one of them
//
// The tests need the program `synod`: SYNOD_BINARY names it, or cargo has built it.

import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const tool = (name, ...words) => [process.execPath, join(here, 'node_modules', name), ...words];

const steps = {
  install: ['npm', 'ci', '--no-audit', '--no-fund', '--loglevel', 'error'],
  build: [process.execPath, 'build.mjs'],
  types: tool('typescript/bin/tsc', '--project', 'test/types'),
  docs: tool('typedoc/bin/typedoc', '--logLevel', 'Warn'),
  test: ['npm', 'run', '--silent', 'test'],
  recipes: [process.execPath, '--test', '../../examples/node/recipes.test.mjs', '../../examples/node/guide.test.mjs'],
  pack: [process.execPath, '--test', 'test/package/packed.mjs'],
};

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !Object.hasOwn(steps, name));
if (unknown.length > 0) {
  console.error(`there is no step ${unknown.join(', ')}; there are: ${Object.keys(steps).join(', ')}`);
  process.exit(2);
}
for (const [name, [program, ...words]] of Object.entries(steps)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  console.log(`-- node ${name}`);
  const { status, error } = spawnSync(program, words, { cwd: here, stdio: 'inherit' });
  if (error || status !== 0) {
    console.error(`-- node ${name} failed${error ? `: ${error.message}` : ''}`);
    process.exit(1);
  }
}
