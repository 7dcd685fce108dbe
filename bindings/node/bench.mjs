// Makes calls for a while, and prints how many a second: what the benchmark of the languages runs for Node.
//
// `cargo xtask bench languages` starts the replicas, stores the objects, and makes the same calls in the other languages.

import { parseArgs } from 'node:util';

import { Client } from '@synod/client';

const { values } = parseArgs({
  options: {
    endpoints: { type: 'string' }, // where the replicas serve clients, with commas between them
    call: { type: 'string' }, // `get` or `update`
    callers: { type: 'string' }, // how many wait for answers at a time
    seconds: { type: 'string' }, // for how long; half as long goes before, uncounted
  },
});
const { endpoints, call } = values;
const callers = Number(values.callers);
const seconds = Number(values.seconds);

/** Of the data of each object. */
const BYTES = 256;

const client = new Client({ endpoints: endpoints.split(',') });
const key = (caller) => ({ resource: { group: 'example.io', resource: 'widgets' }, name: `widget-${caller}` });
const content = (number) => ({
  encodingVersion: 'example.io/v1',
  mediaType: 'application/json',
  data: Buffer.from(`"${String(number).padStart(BYTES - 2, '0')}"`),
});

const calls = {
  get: (caller) => client.objects.get({ key: key(caller) }),
  async update(caller, number) {
    const { changed } = await client.objects.update({ key: key(caller), content: content(number) });
    // One that changes nothing is cheaper than one that does.
    if (!changed) throw new Error('the update changed nothing');
  },
};
if (!Object.hasOwn(calls, call)) throw new Error(`there is no call ${call}; there are: ${Object.keys(calls).join(', ')}`);
const make = calls[call];

/** The number of each call, so that no update is like another. */
let number = 0;

/** Calls per second of all callers, of which each waits for an answer before its next call. */
async function rate(span) {
  const first = number;
  const begin = performance.now();
  const live = async (_, caller) => {
    while (performance.now() < begin + span * 1_000) await make(caller, number++);
  };
  await Promise.all(Array.from({ length: callers }, live));
  return ((number - first) * 1_000) / (performance.now() - begin);
}

await rate(seconds / 2);
console.log(await rate(seconds));
client.close();
