// Real clusters for the tests, made of the program that SYNOD_BINARY names.

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

import { Client } from '@synod/client';

const checkout = join(dirname(fileURLToPath(import.meta.url)), '../../..');

/** How long a call may take of which a test says nothing: other programs may keep all of it from running for a while. */
const requestTimeoutMs = 60_000;

const found = (named, ...names) =>
  [named, ...names.map((name) => join(checkout, 'target', name))].find((path) => path !== undefined && existsSync(path));

/** The program: what SYNOD_BINARY says, or what cargo built last. */
export function program() {
  const path = found(process.env.SYNOD_BINARY, 'debug/synod', 'release/synod');
  if (path === undefined) throw new Error('there is no program `synod`: run `cargo build -p synod`, or set SYNOD_BINARY');
  return path;
}

/** Ends a process and waits until it is gone. */
export async function end(child, signal = 'SIGKILL') {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill(signal);
  await gone;
}

/** Three replicas in one process. */
export async function develop() {
  const child = spawn(program(), ['dev', '--port', '0'], { stdio: ['ignore', 'pipe', 'inherit'] });
  for await (const line of createInterface({ input: child.stdout })) {
    const found = /^ +endpoints +(\S+)$/.exec(line);
    if (found === null) continue;
    child.stdout.resume();
    const endpoints = found[1].split(',');
    return {
      endpoints,
      client: (options = {}) => new Client({ endpoints, requestTimeoutMs, ...options }),
      stop: () => end(child, 'SIGINT'),
    };
  }
  throw new Error('`synod dev` ended before it served');
}

/** The ports of a block, of which whoever listens at the first has all: a replica that is stopped can listen at its port again.
 * The tests of Rust (`tests/src/ports.rs`) and Python take theirs in the same way. */
const BLOCK = 64;
let rest = [];

/** Ports of loopback at which nobody listens, below those that the system gives to outgoing connections. Each is returned once,
 * and to no other program of tests. */
export async function freePorts(count) {
  const ports = [];
  while (ports.length < count) {
    if (rest.length === 0) rest = await block();
    const port = rest.shift();
    const server = await listen(port);
    if (!server) continue;
    server.close();
    await once(server, 'close');
    ports.push(port);
  }
  return ports;
}

/** The ports of a block that nobody has. */
async function block() {
  for (let step = 0; step < 168; step += 1) {
    const first = 10_240 + BLOCK * ((process.pid + step) % 168);
    const held = await listen(first);
    if (!held) continue;
    // It ends with this process, and keeps that from ending no longer.
    held.unref();
    return Array.from({ length: BLOCK - 1 }, (_, place) => first + 1 + place);
  }
  throw new Error('no port below 20992 is free');
}

/** A server at a port of loopback, or nothing if somebody listens there. */
function listen(port) {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve());
    server.listen(port, '127.0.0.1', () => resolve(server));
  });
}

/** Makes certificates in a folder: the words of a replica that uses them, and what its clients need. */
function certified(folder) {
  const made = spawnSync(program(), ['certs', 'dev', '--out', folder, '--hosts', '127.0.0.1'], { encoding: 'utf8' });
  if (made.status !== 0) throw new Error(made.stderr);
  const file = (name) => join(folder, `${name}.pem`);
  const words = ['--cert-file', file('server'), '--key-file', file('server-key'), '--trusted-ca-file', file('client-ca')];
  words.push('--peer-cert-file', file('peer'), '--peer-key-file', file('peer-key'));
  words.push('--peer-trusted-ca-file', file('peer-ca'));
  return { words, tls: { ca: file('server-ca'), certificate: file('admin'), key: file('admin-key') } };
}

/** Says that a write lands within a second, so that nobody waits longer for what was written before a test. */
export async function letWritesLandSoon(cluster) {
  const client = new Client({ endpoints: cluster.endpoints, tls: cluster.tls, requestTimeoutMs });
  await client.cluster.updateSettings({ patch: { writeGraceMs: 1_000n } });
  client.close();
  return cluster;
}

/**
 * Three replicas as processes of their own, which can be killed and started again; behind transport security if asked, and
 * then by these files: a policy in `policy.toml`, and what it names. The flags are given to each beside.
 */
export async function serve({ secured = false, files = {}, flags = [], machineVersion } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'synod-node-'));
  const ports = await freePorts(9);
  const address = (place) => `127.0.0.1:${ports[place]}`;
  const ids = [1, 2, 3];
  const replicas = ids.map((id) => `${id}=${address(id + 2)}`).join(',');
  const endpoints = ids.map((id) => address(id - 1));
  const children = new Map();
  const env = machineVersion === undefined ? process.env : { ...process.env, SYNOD_TEST_MACHINE_VERSION: `${machineVersion}` };
  const { words: security, tls } = secured ? certified(join(folder, 'certificates')) : { words: [] };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  if ('policy.toml' in files) security.push('--policy-file', join(folder, 'policy.toml'));
  const client = (options = {}) => new Client({ endpoints, tls, requestTimeoutMs, ...options });
  /** Starts a replica, and answers once it serves: then a majority runs, too. */
  const start = async (id) => {
    const words = ['serve', '--replica-id', `${id}`, '--data-dir', join(folder, `${id}`), '--replicas', replicas];
    words.push('--listen-client', address(id - 1), '--listen-peer', address(id + 2), '--listen-metrics', address(id + 5));
    words.push('--cluster-name', 'conformance', '--log', 'off', ...security, ...flags);
    children.set(id, spawn(program(), words, { stdio: ['ignore', 'ignore', 'inherit'], env }));
    const asked = client({ endpoints: [address(id - 1)] });
    await asked.cluster.getSettings();
    asked.close();
  };
  await Promise.all(ids.map(start));
  return {
    endpoints,
    tls,
    client,
    start,
    kill: (id) => end(children.get(id)),
    /** Which replica leads, as soon as one does. */
    async leader(signal) {
      const asked = client();
      try {
        for (;;) {
          const { leaderId } = await asked.cluster.status({}, { signal });
          if (leaderId !== undefined) return Number(leaderId);
        }
      } finally {
        asked.close();
      }
    },
    async stop() {
      await Promise.all(ids.map((id) => end(children.get(id))));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
