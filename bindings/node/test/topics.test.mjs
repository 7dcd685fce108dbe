// Topics by their texts, which the clients of all languages read alike.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { InvalidArgumentError, Topic } from '@synod/client';

const folder = join(import.meta.dirname, '../../../tests/conformance');
const texts = JSON.parse(readFileSync(join(folder, 'topics.json'), 'utf8'));

test('a topic is known by its text and by its resource', () => {
  for (const { text, kind, name, group, resource } of texts.topics) {
    const topic = Topic.parse(text);
    assert.deepEqual({ ...topic }, { kind, name, resource: { group, resource } });
    assert.equal(`${topic}`, text);
    assert.deepEqual(Topic.of({ group, resource }), topic);
  }
});

test('what is no topic is refused with the rule', () => {
  for (const text of texts.refused) {
    assert.throws(
      () => Topic.parse(text),
      (error) => error instanceof InvalidArgumentError && error.violations.length === 1,
      text,
    );
  }
  assert.throws(() => Topic.of({ resource: 'Pods!' }), InvalidArgumentError);
});
