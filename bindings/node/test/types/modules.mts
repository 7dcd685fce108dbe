// What a program in TypeScript sees that imports the package: this is compiled and never run.

import {
  Client,
  ConflictError,
  Etcd,
  FencedObjects,
  FencedWriter,
  SynodError,
  type Codec,
  type ErrorCode,
  type Init,
  type Stored,
  type v1,
} from '@synod/client';

export async function uses(signal: AbortSignal): Promise<void> {
  await using client = new Client({ endpoints: ['127.0.0.1:4600'] });
  const answer: v1.ObjectsGetResponse = await client.objects.get(
    { key: { resource: { group: 'example.io', resource: 'widgets' }, name: 'one' }, read: { atRevision: 7n } },
    { signal, timeoutMs: 1_000 },
  );
  const revision: bigint = answer.header?.revision ?? 0n;
  // Digits are a revision, too.
  await client.collections.list({ read: { minRevision: `${revision}` } });
  // @ts-expect-error A number is none.
  await client.collections.list({ read: { minRevision: 7 } });
  // @ts-expect-error There is no such field.
  await client.collections.list({ reed: {} });
  // @ts-expect-error There is no such kind.
  await client.watch({ filter: { kinds: ['OBJECT_KIND_POD'] } });

  for await (const message of await client.watch({ from: 'list' }, { signal })) {
    if (message.type === 'bookmark') continue;
    const names: string[] = message.events.map((event) => event.name);
    if (names.length > 0) break;
  }

  await using membership = await client.join({ id: 'server-1' });
  const entry: Init<v1.ReportEntry> = { kind: 'Widget', decodableVersions: ['v1'], encodingVersion: 'v1' };
  await membership.report([entry]);
  using permit = await membership.gate.permit({ group: 'example.io', resource: 'widgets' }, { signal });
  const encoding: string = permit.encoding;

  const reflector = await client.reflect(['OBJECT_KIND_LEASE']);
  const lease: v1.Lease | undefined = reflector.get('OBJECT_KIND_LEASE', { namespace: 'default', name: encoding });
  await using lock = await client.lock({ namespace: 'default', name: lease?.metadata?.name ?? 'leader' });
  const token: bigint = lock.token;
  // @ts-expect-error A token is no number.
  const wrong: number = token;
  void wrong;
}

export async function caches(client: Client, codec: Codec<{ size: number }>): Promise<number> {
  const objects = client.objectsOf({ group: 'example.io', resource: 'widgets' }, codec);
  await using cache = await objects.reflect({ labelSelector: 'app=web' });
  const one: Stored<{ size: number }> | undefined = await cache.get({ namespace: 'a', name: 'one' });
  const { revision, objects: all } = await cache.snapshot();
  const shown: bigint = revision;
  // @ts-expect-error The value has no such field.
  void one?.value.length;
  return all.reduce((sum, { value }) => sum + value.size, Number(shown));
}

export async function fences(client: Client, widgets: v1.GroupResource): Promise<void> {
  await using membership = await client.join({ id: 'server-1' });
  const { hash, noConsensus } = membership.gate.discovery(widgets);
  const shown: string = hash ?? noConsensus;
  const etcd = new Etcd('http://127.0.0.1:2379');
  using guard = await client.fenceGuard(shown);
  const writer = new FencedWriter(guard, etcd, '/fences/');
  await writer.update(membership.gate, widgets, '/objects/one', (_, encoding) => Buffer.from(encoding));
  const recoder = { prefix: () => '/objects/', recode: () => undefined };
  const store = new FencedObjects(etcd, recoder, '/fences/');
  await client.migrator({ worker: 'one', resources: [widgets], store, objectsAtOnce: 4 }).run();
  const own = { listPage: async () => ({ objects: ['one'] }), rewrite: async (_: v1.Migration, object: string) => void object };
  await client.migrator({ worker: 'one', resources: [widgets], store: own }).run();
}

export function judged(error: unknown): ErrorCode | undefined {
  if (error instanceof ConflictError) return error.code;
  return error instanceof SynodError && error.retryable ? error.code : undefined;
}
