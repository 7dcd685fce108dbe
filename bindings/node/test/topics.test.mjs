// Topics by their texts: the rules are those of the Rust client.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { InvalidArgumentError, Topic } from '@synod/client';

test('a topic is known by its text and by its resource', () => {
  for (const [text, kind, name, group, resource] of [
    ['keys/secrets', 'keys', 'secrets', 'keys.synod', 'secrets'],
    ['keys/deployments.apps', 'keys', 'deployments.apps', 'apps.keys.synod', 'deployments'],
    ['features/locks', 'features', 'locks', 'features.synod', 'locks'],
    ['encoding/pods', 'encoding', 'pods', '', 'pods'],
  ]) {
    const topic = Topic.parse(text);
    assert.deepEqual({ ...topic }, { kind, name, resource: { group, resource } });
    assert.equal(`${topic}`, text);
    assert.deepEqual(Topic.of({ group, resource }), topic);
  }
});

test('what is no topic is refused with the rule', () => {
  for (const text of ['secrets', 'key/secrets', 'keys/', 'encoding/secrets.keys.synod']) {
    assert.throws(
      () => Topic.parse(text),
      (error) => error instanceof InvalidArgumentError && error.violations.length === 1,
      text,
    );
  }
  assert.throws(() => Topic.of({ resource: 'Pods!' }), InvalidArgumentError);
});
