// Clients that prove who they are by a token.

import assert from 'node:assert/strict';
import { generateKeyPairSync, sign } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { Client, InvalidArgumentError, UnauthenticatedError } from '@synod/client';

import { serve } from './cluster.mjs';

const POLICY = `
[tokens]
issuer = "https://kubernetes.default.svc"
audiences = ["synod"]
jwks_file = "jwks.json"

[[grant]]
who = "spiffe://synod/admin"
role = "admin"

[[grant]]
who = "system:serviceaccount:ops:admin"
role = "admin"
`;

const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });

/** A token of the service account `admin` in `ops`, for so many seconds. */
function tokenFor(seconds) {
  const claims = {
    aud: ['synod'],
    exp: Math.floor(Date.now() / 1_000) + seconds,
    iss: 'https://kubernetes.default.svc',
    sub: 'system:serviceaccount:ops:admin',
  };
  const part = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const message = `${part({ alg: 'ES256', kid: 'one' })}.${part(claims)}`;
  const signature = sign('sha256', Buffer.from(message), { key: privateKey, dsaEncoding: 'ieee-p1363' });
  return `${message}.${signature.toString('base64url')}`;
}

const token = tokenFor(3_600);
const folder = mkdtempSync(join(tmpdir(), 'synod-token-'));
const file = join(folder, 'token');
writeFileSync(file, `${token}\n`);

let cluster;
let tls;

before(async () => {
  const jwks = { keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'one' }] };
  cluster = await serve({ secured: true, files: { 'policy.toml': POLICY, 'jwks.json': JSON.stringify(jwks) } });
  tls = { ca: cluster.tls.ca };
}, { timeout: 120_000 });

after(async () => {
  await cluster.stop();
  rmSync(folder, { recursive: true });
});

test('a token may be a file or bytes', async () => {
  for (const each of [file, Buffer.from(token)]) {
    const client = cluster.client({ tls, token: each });
    assert.equal((await client.status()).replicas.length, 3);
    client.close();
  }
});

test('who sends no good token is told so', async () => {
  for (const each of [undefined, tokenFor(-60)]) {
    const client = cluster.client({ tls, token: each && Buffer.from(each) });
    await assert.rejects(client.cluster.getSettings(), UnauthenticatedError);
    client.close();
  }
});

test('a token that cannot be used is named and not shown', () => {
  const { endpoints } = cluster;
  const faults = [
    { tls, token: Buffer.from('two words') },
    { tls, token: join(folder, 'nothing') },
    { tls: cluster.tls, token: Buffer.from(token) },
  ];
  for (const options of faults) {
    assert.throws(
      () => new Client({ endpoints, ...options }),
      (error) =>
        error instanceof InvalidArgumentError &&
        error.violations.some((each) => each.field === 'token') &&
        !error.message.includes('words') &&
        !error.message.includes(token),
    );
  }
  assert.throws(() => new Client({ endpoints: ['replica:4600'], token: Buffer.from(token) }), /unencrypted/);
});
