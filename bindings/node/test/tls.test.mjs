// Connections behind transport security.

import assert from 'node:assert/strict';
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { after, before, test } from 'node:test';

import { Client, InvalidArgumentError, SynodError } from '@synod/client';

import { serve } from './cluster.mjs';

let cluster;

before(async () => {
  cluster = await serve({ secured: true });
}, { timeout: 120_000 });

after(() => cluster.stop());

/** How many replicas a client sees. */
async function seen(options) {
  const client = cluster.client(options);
  try {
    return (await client.status()).replicas.length;
  } finally {
    client.close();
  }
}

test('files and bytes are taken alike', async () => {
  const { ca, certificate, key } = cluster.tls;
  const bytes = { ca: readFileSync(ca), certificate: readFileSync(certificate), key: readFileSync(key) };
  const named = { ...cluster.tls, serverName: '127.0.0.1' };
  for (const tls of [cluster.tls, bytes, named]) assert.equal(await seen({ tls }), 3);
  const endpoints = cluster.endpoints.map((endpoint) => `https://${endpoint}`);
  assert.equal(await seen({ endpoints }), 3);
});

test('files that are replaced are read again', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'synod-tls-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const shown = (path) => join(folder, basename(path));
  const { certificate, key } = cluster.tls;
  const show = (name) => {
    for (const path of [certificate, key]) copyFileSync(path.replace('admin', name), shown(path));
  };
  // The certificate of a server proves no client.
  show('server');
  const tls = { ...cluster.tls, certificate: shown(certificate), key: shown(key) };
  const client = cluster.client({ tls });
  t.after(() => client.close());
  await assert.rejects(client.status({ timeoutMs: 3_000 }), SynodError);
  show('admin');
  assert.equal((await client.status()).replicas.length, 3);
});

test('who shows nothing is not served', async () => {
  const { ca } = cluster.tls;
  for (const tls of [{ ca }, undefined]) {
    await assert.rejects(seen({ tls, requestTimeoutMs: 1_000 }), SynodError);
  }
});

test('what cannot be used is named', () => {
  const { certificate, ...rest } = cluster.tls;
  const faults = {
    'tls.ca': { ...cluster.tls, ca: Buffer.from('no PEM') },
    'tls.certificate': { ...rest, certificate: certificate.replace('admin', 'server') },
    'tls.key': { ...cluster.tls, key: undefined },
    'tls.serverName': { ...cluster.tls, serverName: 'no name' },
  };
  for (const [field, tls] of Object.entries(faults)) {
    const { endpoints } = cluster;
    assert.throws(
      () => new Client({ endpoints, tls }),
      (error) => error instanceof InvalidArgumentError && error.violations.some((each) => each.field === field),
    );
  }
});
