// What this process holds: in Rust, and of the system.

import { readdirSync } from 'node:fs';

import { native } from '../dist/native.cjs';

/** Calls and handles in Rust, open files and threads of the process. */
export function counts() {
  return {
    ...native.counts(),
    files: readdirSync('/proc/self/fd').length,
    threads: readdirSync('/proc/self/task').length,
  };
}

/** A turn of the event loop, in which finalizers run. */
const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Collects garbage until `done`, for half a minute at most. Finalizers need a turn of the loop after a collection. */
export async function settle(done) {
  if (globalThis.gc === undefined) throw new Error('run this with --expose-gc');
  const limit = Date.now() + 30_000;
  do {
    globalThis.gc();
    await turn();
  } while (!done() && Date.now() < limit);
}
