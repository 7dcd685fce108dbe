// A controller of which one process at a time leads, and that keeps the history of what it wants in Synod.
//
// Two instances stand; the one that leads brings what it wants into the history, and goes back to what it wanted before.
// When it releases, the other takes over. Run it against a cluster: `node controller.mjs 127.0.0.1:4600`.

import { Client } from '@synod/client';

const endpoints = process.argv.slice(2);
const client = new Client({ endpoints: endpoints.length > 0 ? endpoints : ['127.0.0.1:4600'] });

const history = {
  namespace: 'default',
  owner: {
    apiVersion: 'example.io/v1',
    kind: 'WorkerSet',
    name: 'node-web',
    uid: '3c83e878-eeb1-8b29-b351-e7ab275f5372',
    controller: true,
    blockOwnerDeletion: true,
  },
  selector: { app: 'node-web' },
};

/** What the workers run: each was made from a ControllerRevision. */
const workers = new Map([['web-0', undefined]]);

/** Brings all workers to the newest of the history, and says what was done. */
async function reconcile(lock, what) {
  const { items } = await client.controllerRevisions.history({ history });
  const wanted = items.at(-1);
  for (const [name, made] of workers) {
    if (made === wanted.metadata.name) continue;
    lock.check(); // right before it acts: another may lead by now
    workers.set(name, wanted.metadata.name);
  }
  console.log(`${what}: revision ${wanted.revision} is ${Buffer.from(wanted.data)}, and ${workers.size} worker runs it`);
}

const stand = (holder) => client.election({ namespace: 'default', name: 'node-web-controller', holder, ttlMs: 5_000 });

const first = await stand('first').campaign();
console.log(`${first.holder} leads`);
const second = stand('second').campaign();

// A real controller keeps this in its status, so that the next create begins there.
let collisionCount = 0;
for (const target of ['{"image":"web:1"}', '{"image":"web:2"}']) {
  const data = Buffer.from(target);
  const created = await client.controllerRevisions.create({ history, data, collisionCount, historyLimit: 3 });
  ({ collisionCount } = created.answer);
  await reconcile(first, 'wanted');
}
await client.controllerRevisions.rollback({ history });
await reconcile(first, 'rolled back');

await first.release();
const next = await second;
console.log(`${next.holder} leads`);
await reconcile(next, 'taken over');

await client.controllerRevisions.deleteHistory({ namespace: history.namespace, ownerUid: history.owner.uid });
await next.release();
client.close();
