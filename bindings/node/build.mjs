// Builds the package into dist/: the library of Rust, and the JavaScript with its types.
//
// The library is built by cargo alone, into the target folder that everything else uses: the command line tool of
// napi-rs builds for a named target, which compiles every dependency a second time. SYNOD_LIBRARY names a
// library that was built before; without it, it is built as for a release.

import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const dist = join(here, 'dist');
const run = (program, ...words) => execFileSync(program, words, { cwd: here, stdio: ['ignore', 'pipe', 'inherit'] });

const library = () => {
  if (process.env.SYNOD_LIBRARY !== undefined) return process.env.SYNOD_LIBRARY;
  const words = ['build', '--locked', '--profile', 'bindings', '--package', 'synod-node', '--lib'];
  const messages = run('cargo', ...words, '--message-format', 'json-render-diagnostics').toString();
  const artifacts = messages.split('\n').filter(Boolean).map((line) => JSON.parse(line));
  const built = artifacts.filter((it) => it.reason === 'compiler-artifact' && it.target.name === 'synod_node');
  const file = built.flatMap((it) => it.filenames).find((it) => /\.(so|dylib|dll)$/.test(it));
  if (file === undefined) throw new Error('cargo built no library for Node: see Cargo.toml, `crate-type`');
  return file;
};

rmSync(dist, { recursive: true, force: true });
mkdirSync(dist);
copyFileSync(library(), join(dist, 'synod.node'));

const tsc = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc');
try {
  run(process.execPath, tsc, '--project', here);
} catch (error) {
  process.stderr.write(error.stdout ?? '');
  throw new Error('the sources under ts/ do not compile: see above');
}

// One class for `require` and `import`: the module only names what the other one has made.
const names = Object.keys(createRequire(import.meta.url)(join(dist, 'index.cjs')));
writeFileSync(
  join(dist, 'index.mjs'),
  `import synod from './index.cjs';\nexport const {\n${names.map((name) => `  ${name},\n`).join('')}} = synod;\n`,
);
writeFileSync(join(dist, 'index.d.mts'), "export * from './index.cjs';\n");
