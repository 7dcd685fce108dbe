// A worker that migrates: once a new version is agreed on, it rewrites every object of a collection in it.
//
// Run it against a cluster: `node migration_worker.mjs 127.0.0.1:4600`.

import { Client } from '@synod/client';

const endpoints = process.argv.slice(2);
const client = new Client({ endpoints: endpoints.length > 0 ? endpoints : ['127.0.0.1:4600'] });

const widgets = { group: 'node-migrated.example.io', resource: 'widgets' };
const [v1, v2] = ['node-migrated.example.io/v1', 'node-migrated.example.io/v2'];

/** Widgets have a size in v1, and a width and a height in v2. */
const codec = {
  preferred: v1,
  encode(widget, apiVersion) {
    const spec = apiVersion === v1 ? { size: widget.width } : widget;
    return { data: Buffer.from(JSON.stringify({ apiVersion, spec })) };
  },
  decode({ data, encodingVersion }) {
    const { spec } = JSON.parse(Buffer.from(data));
    return encodingVersion === v1 ? { width: spec.size, height: spec.size } : spec;
  },
};

const names = ['one', 'two', 'three'].map((name) => ({ name }));
await client.collections.create({ resource: widgets, kind: 'Widget' });
const objects = client.objectsOf(widgets, codec);
for (const name of names) await objects.create(name, { width: 7, height: 7 });
console.log(`${names.length} objects are stored in v1`);

const membership = await client.join({ id: 'node-migrated' });
const versions = [v1, v2];
const common = { resource: widgets, kind: 'Widget', decodableVersions: versions, servedVersions: versions, stored: 'STORED_IN_COLLECTION' };
await membership.report([{ ...common, preferredVersion: v2 }]);

const reflector = await client.reflect(['OBJECT_KIND_MIGRATION']);
const pending = () =>
  reflector
    .list('OBJECT_KIND_MIGRATION')
    .find(({ resource, phase }) => resource.group === widgets.group && phase === 'MIGRATION_PHASE_PENDING');
for (let seen = 0n; pending() === undefined; ) seen = await reflector.changed(seen);
console.log('v2 is agreed on, and a migration waits');

// A worker of a deployment calls `run`, which goes on with every migration to come.
const worker = client.migrator({ worker: 'example', collections: [{ resource: widgets, codec }] });
const { worked } = await worker.runOne(pending().metadata.name);
console.log(`the worker ended: ${worked}`);

const { storageState } = await client.storageVersions.get({ resource: widgets });
console.log(`objects are stored in ${storageState.persisted.map(({ version }) => version).join(', ')}`);
const { object, value } = await objects.get(names[0]);
console.log(`${names[0].name} is ${JSON.stringify(value)} in ${object.content.encodingVersion}`);

worker.close();
reflector.close();
for (const name of names) await objects.delete(name);
await client.collections.delete({ resource: widgets });
await membership.leave({ drainLimitMs: 0 });
client.close();
