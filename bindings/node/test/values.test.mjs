// What a newer cluster says: reasons that this package does not know are there, with their words.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { fromJson } from '../dist/values.cjs';

test('a reason of a newer cluster is there with its words', () => {
  const near = { reason: 4_711, message: 'a comet is near' };
  const assumed = { reason: 4_712, message: 'no comet comes' };
  for (const [check, list] of [
    ['CheckDrop', 'dangers'],
    ['CheckBinary', 'dangers'],
    ['CheckAgreement', 'obstacles'],
    ['CheckUpgrade', 'obstacles'],
  ]) {
    const answer = fromJson(`StorageVersions${check}Response`, { [list]: [near], assumptions: [assumed] });
    for (const [given, said] of [[answer[list], near], [answer.assumptions, assumed]]) {
      assert.deepEqual(given.map(({ reason, message }) => ({ reason, message })), [said]);
    }
  }
});
