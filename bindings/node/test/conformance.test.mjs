// The cases that every language runs: tests/conformance/*.yaml must hold, and tests/conformance/failing/*.yaml must fail.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';

import { parse } from 'yaml';

import { letWritesLandSoon, serve } from './cluster.mjs';
import { Run } from './conformance/steps.mjs';

const folder = join(import.meta.dirname, '../../../tests/conformance');

/** Names of cases that no other run on the same replicas has. */
let number = 0;
const name = () => `n${process.pid.toString(36)}x${(number += 1)}`;

/** Runs a case, on the replicas that all share or on its own. */
async function run({ case: sentence, cluster: whose, steps, ...unknown }) {
  assert.deepEqual(unknown, {}, `the case "${sentence}" has keys that are not known`);
  assert.ok(whose === undefined || whose === 'own', `there is no cluster "${whose}"`);
  const cluster = whose === 'own' ? await letWritesLandSoon(await serve()) : await together();
  const one = new Run(cluster, name(), whose === 'own');
  try {
    await one.whole(steps);
  } finally {
    await one.end();
    if (whose === 'own') await cluster.stop();
  }
}

let shared;
const together = () => (shared ??= serve().then(letWritesLandSoon));
after(async () => (await shared)?.stop());

/** The cases of a folder, by their files. */
function files(of) {
  const names = readdirSync(of).filter((it) => it.endsWith('.yaml'));
  return names.sort().map((file) => [file, parse(readFileSync(join(of, file), 'utf8')).cases]);
}

const several = { concurrency: 4, timeout: 10 * 60_000 };

for (const [file, cases] of files(folder)) {
  describe(file, several, () => {
    for (const one of cases) test(one.case, () => run(one));
  });
}

// What must fail does: a runner that passes over something, or does not compare it, is found out.
for (const [file, cases] of files(join(folder, 'failing'))) {
  describe(`failing/${file}`, several, () => {
    for (const one of cases) test(one.case, () => assert.rejects(run(one)));
  });
}
