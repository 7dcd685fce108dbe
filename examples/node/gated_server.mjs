// An API server with the write gate: no write reaches its store before the cluster knows in which version it is encoded.
//
// It keeps widgets in a store of its own, here a Map, and would like v2 of them. Run it against a cluster:
// `node gated_server.mjs 127.0.0.1:4600`.

import { once } from 'node:events';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';

import { Client, apiserverId } from '@synod/client';

const endpoints = process.argv.slice(2);
const versions = ['gated.example.io/v1', 'gated.example.io/v2'];
const widgets = { group: 'gated.example.io', resource: 'widgets' };
const path = '/apis/gated.example.io/v2/namespaces/default/widgets';

const store = new Map();

/** The object in the version that its permit names: no other encoding reaches the store. */
const encode = (widget, apiVersion) => JSON.stringify({ apiVersion, kind: 'Widget', ...widget });

/** The discovery document: its hash follows the gate, and is left out while the servers do not agree. */
function discovery() {
  const { hash } = membership.gate.discovery(widgets);
  const shown = { name: 'widgets', kind: 'Widget', namespaced: true, verbs: ['create', 'get'], storageVersionHash: hash };
  return JSON.stringify({ kind: 'APIResourceList', apiVersion: 'v1', groupVersion: versions[1], resources: [shown] });
}

async function handle(request, response) {
  if (request.url === `/apis/${versions[1]}`) return response.end(discovery());
  const { permit } = request;
  if (permit === undefined) {
    const stored = store.get(request.url);
    response.statusCode = stored === undefined ? 404 : 200;
    return response.end(stored);
  }
  const widget = JSON.parse(await text(request));
  const stored = encode(widget, permit.encoding);
  permit.check(); // right before the store is called
  store.set(`${request.url}/${widget.name}`, stored);
  permit.done(); // the store has answered; else `permit.unknownOutcome()`
  response.statusCode = 201;
  return response.end(stored);
}

const client = new Client({ endpoints: endpoints.length > 0 ? endpoints : ['127.0.0.1:4600'] });
const membership = await client.join({ id: apiserverId('gated-server') });
const gate = membership.gate.middleware();
const server = createServer((request, response) => {
  gate(request, response, () => {
    handle(request, response).catch((error) => response.writeHead(503).end(`${error.message}\n`));
  });
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const url = `http://127.0.0.1:${server.address().port}${path}`;
const show = async () => (await fetch(new URL(`/apis/${versions[1]}`, url))).json();
const create = () => fetch(url, { method: 'POST', body: '{"name":"one","size":1}' });

console.log(`before the report, a write is answered by ${(await create()).status}`);

// It votes for v2, and encodes what all agree to select.
const common = { resource: widgets, kind: 'Widget', decodableVersions: versions, servedVersions: versions };
await membership.report([{ ...common, preferredVersion: versions[1] }]);
await membership.ready();
console.log('all resources are reported, and the server is ready');

const written = await create();
console.log(`a write is answered by ${written.status}: ${await written.text()}`);
// The server learns of the agreement by a watch, a moment later.
const limit = Date.now() + 10_000;
let shown;
do [shown] = (await show()).resources;
while (shown.storageVersionHash === undefined && Date.now() < limit);
console.log(`discovery shows the hash ${shown.storageVersionHash}`);
console.log(`read back: ${await (await fetch(`${url}/one`)).text()}`);

await membership.leave({ drainLimitMs: 10_000 });
console.log(`after it left, a write is answered by ${(await create()).status}`);
server.close();
client.close();
