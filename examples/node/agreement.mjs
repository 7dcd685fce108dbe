// How to wait for agreement, with a limit, and to say who stands in the way until then.
//
// Two members of different ages join: the old one knows v1 alone until it is upgraded. Run it against a cluster:
// `node agreement.mjs 127.0.0.1:4600`.

import { Client } from '@synod/client';

const endpoints = process.argv.slice(2);
const client = new Client({ endpoints: endpoints.length > 0 ? endpoints : ['127.0.0.1:4600'] });

const gadgets = { group: 'agreement.example.io', resource: 'gadgets' };
const [v1, v2] = ['agreement.example.io/v1', 'agreement.example.io/v2'];
const voting = (versions) => ({
  resource: gadgets,
  kind: 'Gadget',
  decodableVersions: versions,
  servedVersions: versions,
  preferredVersion: versions.at(-1),
});

/** Waits until all members agree on a version, and says who does not while they do not. */
async function agreed(reflector, version, signal) {
  for (let seen = 0n; ; seen = await reflector.changed(seen, { signal })) {
    // All of this is of one revision.
    const found = reflector
      .list('OBJECT_KIND_STORAGE_VERSION')
      .find(({ resource }) => resource.group === gadgets.group && resource.resource === gadgets.resource);
    if (found?.status.agreedVersion === version) return found.status;
    for (const { member, encodingVersion = 'nothing yet' } of found?.entries ?? []) {
      if (encodingVersion !== version) console.log(`${member} encodes ${encodingVersion}`);
    }
  }
}

const old = await client.join({ id: 'node-old' });
const young = await client.join({ id: 'node-young' });
await old.report([voting([v1])]);
await young.report([voting([v1, v2])]);

const signal = AbortSignal.timeout(30_000);
const reflector = await client.reflect(['OBJECT_KIND_STORAGE_VERSION'], { signal });
await agreed(reflector, v1, signal);
console.log(`all agree on ${v1}`);

const waiting = agreed(reflector, v2, signal);
await old.reportChange(voting([v1, v2])); // it is upgraded
const { agreementRevision } = await waiting;
console.log(`all agree on ${v2}`);
if (agreementRevision > reflector.revision) throw new Error('an agreement cannot be newer than what shows it');

await Promise.all([old.leave({ drainLimitMs: 0 }), young.leave({ drainLimitMs: 0 })]);
reflector.close();
client.close();
