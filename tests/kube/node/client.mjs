// Works on the Kubernetes API of Synod by Kubernetes' client for Node: custom objects, a watch, an informer whose connections are cut,
// leases and reviews.
//
// Its first argument is the address of a replica that has the namespaced collection widgets.example.io. With the files of a CA, a
// certificate and its key behind it, it connects over TLS. It prints each step that it has done, and ends with an exception at the
// first that fails.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';

import * as k8s from '@kubernetes/client-node';

const PATIENCE_MS = 30_000;
const namespace = 'node';
const place = { group: 'example.io', version: 'v1', namespace, plural: 'widgets' };
const path = `/apis/example.io/v1/namespaces/${namespace}/widgets`;

const [address, caFile, certFile, keyFile] = process.argv.slice(2);

/** How to reach the replica at this address, which is its own or that of a road to it. */
function config(server) {
  const config = new k8s.KubeConfig();
  config.loadFromClusterAndUser(
    // Plain HTTP is spoken only to whom nothing is verified of.
    { name: 'synod', server, caFile, skipTLSVerify: caFile === undefined },
    { name: 'me', certFile, keyFile },
  );
  return config;
}

const direct = config(address);
const custom = direct.makeApiClient(k8s.CustomObjectsApi);
const as = (strategy) => k8s.setHeaderOptions('Content-Type', strategy);

const widget = (name, size) => ({
  apiVersion: 'example.io/v1',
  kind: 'Widget',
  metadata: { name, namespace, labels: { app: 'web' } },
  spec: { size },
});

/** Expects a call to be refused with this status. */
async function refused(code, call) {
  const fault = await call.then(
    (answer) => assert.fail(`it was not refused: ${JSON.stringify(answer)}`),
    (fault) => fault,
  );
  assert.equal(fault.code, code, String(fault));
  return typeof fault.body === 'string' ? JSON.parse(fault.body) : fault.body;
}

/** What is told, one after the other. */
class Heard {
  #told = [];
  #wakes = () => {};

  tell(what) {
    this.#told.push(what);
    this.#wakes();
  }

  async next(expected) {
    const late = AbortSignal.timeout(PATIENCE_MS);
    while (this.#told.length === 0) {
      const woken = new Promise((resolve, reject) => {
        this.#wakes = resolve;
        late.onabort = () => reject(new Error(`never heard ${expected}`));
      });
      await woken;
    }
    assert.equal(this.#told.shift(), expected);
  }

  isSilent() {
    return this.#told.length === 0;
  }
}

/** A road to the replica that can be cut: all connections on it end, and new ones can be made at once. */
async function road() {
  const { protocol, hostname, port } = new URL(address);
  const sockets = new Set();
  const server = createServer((near) => {
    const far = connect(Number(port), hostname);
    near.pipe(far).pipe(near);
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        sockets.delete(socket);
        near.destroy();
        far.destroy();
      });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cut = () => sockets.forEach((socket) => socket.resetAndDestroy());
  const close = () => {
    cut();
    server.close();
  };
  return { address: `${protocol}//127.0.0.1:${server.address().port}`, cut, close };
}

/** Custom objects are written in every way. */
async function objects() {
  const made = await custom.createNamespacedCustomObject({ ...place, body: widget('a', 1) });
  assert.equal(made.metadata.generation, 1);
  const twice = await refused(409, custom.createNamespacedCustomObject({ ...place, body: widget('a', 1) }));
  assert.equal(twice.reason, 'AlreadyExists');
  const missing = await refused(404, custom.getNamespacedCustomObject({ ...place, name: 'nothing' }));
  assert.equal(missing.reason, 'NotFound');

  const newer = await custom.replaceNamespacedCustomObject({ ...place, name: 'a', body: { ...made, spec: { size: 2 } } });
  const late = { ...made, spec: { size: 9 } };
  const conflict = await refused(409, custom.replaceNamespacedCustomObject({ ...place, name: 'a', body: late }));
  assert.equal(conflict.reason, 'Conflict');
  assert.match(conflict.message, /the object has been modified/);

  const operations = [
    { op: 'test', path: '/metadata/resourceVersion', value: newer.metadata.resourceVersion },
    { op: 'replace', path: '/spec/size', value: 3 },
  ];
  const patched = await custom.patchNamespacedCustomObject({ ...place, name: 'a', body: operations });
  assert.equal(patched.spec.size, 3);
  const merge = { spec: { size: 4 } };
  const merged = await custom.patchNamespacedCustomObject({ ...place, name: 'a', body: merge }, as(k8s.PatchStrategy.MergePatch));
  assert.equal(merged.spec.size, 4);
  await refused(422, custom.patchNamespacedCustomObject({ ...place, name: 'a', body: operations }));

  const read = await custom.getNamespacedCustomObject({ ...place, name: 'a' });
  assert.deepEqual([read.spec.size, read.metadata.uid], [4, made.metadata.uid]);
  await custom.createNamespacedCustomObject({ ...place, body: widget('b', 1) });
  const first = await custom.listNamespacedCustomObject({ ...place, limit: 1 });
  const rest = await custom.listNamespacedCustomObject({ ...place, limit: 1, _continue: first.metadata.continue });
  assert.deepEqual([...first.items, ...rest.items].map((one) => one.metadata.name), ['a', 'b']);
  assert.equal(rest.metadata.continue, undefined);
  const none = await custom.listNamespacedCustomObject({ ...place, labelSelector: 'app!=web' });
  assert.deepEqual(none.items, []);

  const deleted = await custom.deleteNamespacedCustomObject({ ...place, name: 'a' });
  assert.equal(deleted.status, 'Success');
  await custom.deleteCollectionNamespacedCustomObject(place);
  const left = await custom.listNamespacedCustomObject(place);
  assert.deepEqual(left.items, []);
}

/** Configurations are applied, and objects of any kind found by discovery. */
async function applied() {
  const any = k8s.KubernetesObjectApi.makeApiClient(direct);
  const apply = (size, manager, force) =>
    any.patch(widget('s', size), undefined, undefined, manager, force, k8s.PatchStrategy.ServerSideApply);
  await apply(1, 'one', false);
  const conflict = await refused(409, apply(2, 'two', false));
  assert.match(conflict.message, /conflict with "one": \.spec\.size/);
  const forced = await apply(2, 'two', true);
  assert.equal(forced.spec.size, 2);
  const read = await any.read(widget('s', 0));
  assert.equal(read.spec.size, 2);
  const list = await any.list('example.io/v1', 'Widget', namespace);
  assert.deepEqual(list.items.map((one) => one.metadata.name), ['s']);
  await any.delete(widget('s', 0));
}

/** A watch goes on from a revision, and ends when its time is over. */
async function watched() {
  const before = await custom.listNamespacedCustomObject(place);
  await custom.createNamespacedCustomObject({ ...place, body: widget('w', 1) });
  const heard = new Heard();
  const query = { resourceVersion: before.metadata.resourceVersion, timeoutSeconds: 2, allowWatchBookmarks: true };
  let bookmarks = 0;
  const onEvent = (type, object) => {
    if (type === 'BOOKMARK') {
      assert.ok(Number(object.metadata.resourceVersion) >= Number(query.resourceVersion));
      bookmarks += 1;
    } else {
      heard.tell(`${type} ${object.metadata.name}`);
    }
  };
  const watch = new k8s.Watch(direct);
  await watch.watch(path, query, onEvent, (fault) => heard.tell(`ended ${fault}`));
  await heard.next('ADDED w');
  await custom.deleteNamespacedCustomObject({ ...place, name: 'w' });
  await heard.next('DELETED w');
  await heard.next('ended null');
  assert.ok(bookmarks > 0, 'it ended without a bookmark');
}

/** An informer holds what there is, through connections that are cut. */
async function informed() {
  await custom.createNamespacedCustomObject({ ...place, body: widget('before', 1) });
  const way = await road();
  const through = config(way.address);
  const lists = through.makeApiClient(k8s.CustomObjectsApi);
  let listed = 0;
  const list = async () => {
    listed += 1;
    return lists.listNamespacedCustomObject(place);
  };
  const heard = new Heard();
  const informer = k8s.makeInformer(through, path, list, 'app=web');
  for (const verb of ['add', 'update', 'delete']) {
    informer.on(verb, (object) => heard.tell(`${verb} ${object.metadata.name} ${object.spec.size}`));
  }
  // As its documentation says: who is told of a fault starts it again.
  let faults = 0;
  informer.on('error', () => {
    faults += 1;
    setTimeout(() => informer.start(), 100);
  });
  await informer.start();
  await heard.next('add before 1');
  await custom.createNamespacedCustomObject({ ...place, body: widget('after', 2) });
  await heard.next('add after 2');

  for (const size of [3, 4, 5]) {
    way.cut();
    const body = { spec: { size } };
    await custom.patchNamespacedCustomObject({ ...place, name: 'after', body }, as(k8s.PatchStrategy.MergePatch));
    await heard.next(`update after ${size}`);
  }
  assert.equal(listed, 1, 'it has listed again');
  assert.ok(faults > 0, 'no connection was cut');
  await custom.deleteNamespacedCustomObject({ ...place, name: 'before' });
  await heard.next('delete before 1');
  assert.deepEqual(informer.list().map((one) => `${one.metadata.name} ${one.spec.size}`), ['after 5']);
  assert.ok(heard.isSilent());
  await informer.stop();
  way.close();
  await custom.deleteNamespacedCustomObject({ ...place, name: 'after' });
}

/** A lease is acquired, renewed, released and acquired by another. */
async function leases() {
  const api = direct.makeApiClient(k8s.CoordinationV1Api);
  const now = () => new k8s.V1MicroTime();
  const spec = { holderIdentity: 'one', leaseDurationSeconds: 60, acquireTime: now(), renewTime: now() };
  const made = await api.createNamespacedLease({ namespace, body: { metadata: { name: 'l' }, spec } });
  // This client reads times with microseconds as texts.
  assert.ok(Math.abs(Date.now() - Date.parse(made.spec.renewTime)) < PATIENCE_MS);

  const written = (lease, holderIdentity) => {
    lease.spec = { ...lease.spec, holderIdentity, leaseDurationSeconds: 60, renewTime: now() };
    return api.replaceNamespacedLease({ name: 'l', namespace, body: lease });
  };
  await refused(409, written(await api.readNamespacedLease({ name: 'l', namespace }), 'two'));
  const renewed = await written(await api.readNamespacedLease({ name: 'l', namespace }), 'one');
  assert.equal(renewed.metadata.resourceVersion, made.metadata.resourceVersion);
  await api.patchNamespacedLease(
    { name: 'l', namespace, body: { spec: { holderIdentity: null } } },
    as(k8s.PatchStrategy.StrategicMergePatch),
  );
  // It was released since.
  await refused(409, written(renewed, 'one'));
  const taken = await written(await api.readNamespacedLease({ name: 'l', namespace }), 'two');
  assert.deepEqual([taken.spec.holderIdentity, taken.spec.leaseTransitions], ['two', 1]);
  const list = await api.listNamespacedLease({ namespace });
  assert.deepEqual(list.items.map((one) => one.metadata.name), ['l']);
  await api.deleteNamespacedLease({ name: 'l', namespace });
}

/** It may do what it asks about, and is told who it is. */
async function reviews() {
  const spec = { resourceAttributes: { verb: 'create', group: 'example.io', resource: 'widgets', namespace } };
  const access = direct.makeApiClient(k8s.AuthorizationV1Api);
  const answer = await access.createSelfSubjectAccessReview({ body: { spec } });
  assert.equal(answer.status.allowed, true);
  const me = await direct.makeApiClient(k8s.AuthenticationV1Api).createSelfSubjectReview({ body: {} });
  assert.equal(me.status.userInfo.username, caFile ? 'spiffe://synod/admin' : 'system:anonymous');
  const version = await direct.makeApiClient(k8s.VersionApi).getCode();
  assert.match(version.gitVersion, /-synod-/);
}

for (const step of [objects, applied, watched, informed, leases, reviews]) {
  const late = setTimeout(() => {
    console.error(`${step.name}: it takes longer than ${PATIENCE_MS} ms`);
    process.exit(1);
  }, PATIENCE_MS);
  await step();
  clearTimeout(late);
  console.log(`${step.name}: ok`);
}
process.exit(0);
