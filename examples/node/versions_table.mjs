// A live table of all resources: what is selected, what is agreed on, and what each member encodes.
//
// It prints the table anew with every change, and ends with the agreement that it makes itself. Run it against a cluster:
// `node versions_table.mjs 127.0.0.1:4600`.

import { Client } from '@synod/client';

const endpoints = process.argv.slice(2);
const client = new Client({ endpoints: endpoints.length > 0 ? endpoints : ['127.0.0.1:4600'] });

/** What is known of each resource, by name. An event carries the entries that changed, and all that follows from them. */
const known = new Map();

function take({ type, name, storageVersion }) {
  if (type === 'EVENT_TYPE_REMOVED') return known.delete(name);
  const row = known.get(name) ?? { entries: new Map() };
  for (const member of storageVersion.removedMembers) row.entries.delete(member);
  for (const entry of storageVersion.changedEntries) row.entries.set(entry.member, entry.encodingVersion ?? '?');
  row.status = storageVersion.status;
  return known.set(name, row);
}

function table() {
  const rows = [...known].map(([name, { status, entries }]) => [
    name,
    status.selectedVersion ?? '-',
    status.agreedVersion ?? '-',
    [...entries].map(([member, version]) => `${member}=${version}`).join(' '),
  ]);
  const all = [['RESOURCE', 'SELECTED', 'AGREED', 'ENCODED'], ...rows.sort()];
  const widths = all[0].map((_, column) => Math.max(...all.map((row) => row[column].length)));
  return all.map((row) => row.map((cell, column) => cell.padEnd(widths[column])).join('  ').trimEnd()).join('\n');
}

const filter = { kinds: ['OBJECT_KIND_STORAGE_VERSION'] };
const watch = await client.watch({ filter, from: 'list' });

const version = 'table.example.io/v1';
const membership = await client.join({ id: 'node-shown' });
const resource = { group: 'table.example.io', resource: 'gizmos' };
const common = { resource, kind: 'Gizmo', decodableVersions: [version], servedVersions: [version] };
await membership.report([{ ...common, preferredVersion: version }]);

for await (const message of watch) {
  if (message.type === 'bookmark') continue;
  message.events.forEach(take);
  console.log(`-- revision ${message.revision}\n${table()}`);
  if (known.get('table.example.io.gizmos')?.status.agreedVersion === version) break;
}
await membership.leave({ drainLimitMs: 0 });
client.close();
