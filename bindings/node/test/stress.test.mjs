// Many watches and memberships come and go, and nothing is left of them.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { develop } from './cluster.mjs';
import { counts, settle } from './leaks.mjs';

const minutes = (number) => ({ timeout: number * 60_000 });

let cluster;
let client;

before(async () => {
  cluster = await develop();
  client = cluster.client();
});

after(async () => {
  client.close();
  await cluster.stop();
});

/** What the engine may still hold on to, since a frame that is gone named it last. */
const NAMED = 1;

/** Runs `round` so often, `at once` together, and holds what the process has then against what it had after the first. */
async function lasting(rounds, atOnce, round) {
  const all = async (count) => {
    for (let number = 0; number < count; number += atOnce) {
      await Promise.all(Array.from({ length: atOnce }, (_, index) => round(number + index)));
    }
  };
  // What is made once, such as connections and the first pages of the heap, is made now.
  await all(Math.max(atOnce, rounds / 10));
  await settle(() => counts().calls <= NAMED);
  const level = { ...counts(), heap: process.memoryUsage().heapUsed };
  await all(rounds);
  const returned = () => {
    const now = counts();
    return now.calls <= NAMED && now.handles <= level.handles && now.files <= level.files;
  };
  await settle(returned);
  const now = counts();
  assert.ok(now.calls <= NAMED, `${now.calls} calls and watches`);
  assert.ok(now.handles <= level.handles, `${now.handles} handles, and before ${level.handles}`);
  assert.ok(now.files <= level.files, `${now.files} open files, and before ${level.files}`);
  assert.ok(now.threads <= level.threads, `${now.threads} threads, and before ${level.threads}`);
  const heap = process.memoryUsage().heapUsed;
  assert.ok(heap < level.heap * 1.25 + 1_000_000, `${heap} bytes of heap, and before ${level.heap}`);
}

test('watches that are opened and dropped leave nothing behind', minutes(10), async () => {
  await lasting(10_000, 10, async (number) => {
    const watch = await client.watch({ filter: { kinds: ['OBJECT_KIND_LEASE'] } });
    // Of three, one is left, one is closed while it waits, and one is dropped as it is.
    if (number % 3 === 0) for await (const _ of watch) break;
    const pending = watch.next();
    if (number % 3 === 1) watch.close();
    await pending;
  });
});

test('memberships that are joined and left leave nothing behind', minutes(10), async () => {
  await lasting(1_000, 2, async (number) => {
    const membership = await client.join({ id: `member-${number % 10}` });
    await membership.leave({ drainLimitMs: 0 });
  });
});
