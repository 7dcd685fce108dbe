// Calls have spans of their own in the provider of OpenTelemetry that the application has set.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { ROOT_CONTEXT, SpanKind, SpanStatusCode, context, propagation, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator, hrTimeToMilliseconds } from '@opentelemetry/core';
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';

import { AlreadyExistsError, Client, InvalidArgumentError } from '../dist/index.mjs';
import { collect } from './collector.mjs';
import { freePorts, serve } from './cluster.mjs';

const CREATE = 'synod.v1.Collections/Create';
const SETTINGS = 'synod.v1.Cluster/GetSettings';
const ACQUIRE = 'synod.v1.Leases/Acquire';
const OK = { 'rpc.grpc.status_code': 0 };

const resource = { group: 'spans.example.io', resource: 'widgets' };
const lease = { namespace: 'default', name: 'spans' };
const exporter = new InMemorySpanExporter();

let collector;
let cluster;
let client;

before(async () => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  collector = await collect();
  cluster = await serve({ flags: ['--otlp-endpoint', collector.url] });
  client = cluster.client();
  // The session has calls of its own, which are then over. There is no provider yet.
  await client.collections.create({ resource: { ...resource, resource: 'first' }, kind: 'First' });
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }));
});

after(async () => {
  client.close();
  await cluster.stop();
  collector.stop();
  trace.disable();
  propagation.disable();
  context.disable();
});

/** Does a part of the application in a span of its own, and answers the spans of its calls and its own id. */
async function traced(work) {
  exporter.reset();
  const span = trace.getTracer('application').startSpan('work', {}, ROOT_CONTEXT);
  await context.with(trace.setSpan(ROOT_CONTEXT, span), work);
  const finished = exporter.getFinishedSpans();
  const below = finished.filter(({ parentSpanContext }) => parentSpanContext?.spanId === span.spanContext().spanId);
  const calls = below.map((call) => {
    const { 'rpc.system': system, 'rpc.service': service, 'rpc.method': method, ...attributes } = call.attributes;
    assert.equal(system, 'grpc');
    assert.equal(`${service}/${method}`, call.name);
    assert.equal(call.kind, SpanKind.CLIENT);
    // Messages may hold values.
    assert.equal(call.status.message, undefined);
    return { name: call.name, code: call.status.code, attributes, call };
  });
  return { calls, spanId: span.spanContext().spanId };
}

const bare = (calls) => calls.map(({ name, code, attributes }) => [name, code, attributes]);

test('calls and handles have spans, with those of the replicas below', { timeout: 120_000 }, async ({ signal }) => {
  const { calls, spanId } = await traced(async () => {
    await client.collections.create({ resource, kind: 'Widget' });
    await assert.rejects(client.collections.create({ resource, kind: 'Other' }), AlreadyExistsError);
    const lock = await client.lock(lease, { signal });
    await lock.release();
    await client.cluster.getSettings({}, { signal });
    // It asks no replica.
    const nobody = client.tryLock({ namespace: 'default', name: 'Not A Name' });
    await assert.rejects(nobody, InvalidArgumentError);
  });
  assert.deepEqual(bare(calls), [
    [CREATE, SpanStatusCode.UNSET, OK],
    [CREATE, SpanStatusCode.ERROR, { 'rpc.grpc.status_code': 6, 'error.type': 'ALREADY_EXISTS' }],
    [ACQUIRE, SpanStatusCode.UNSET, OK],
    ['synod.v1.Leases/Release', SpanStatusCode.UNSET, OK],
    [SETTINGS, SpanStatusCode.UNSET, OK],
  ]);
  for (const { name, call } of calls) await collector.below(call.spanContext().spanId, [name], signal);
  assert.ok(collector.spans.every(({ parentSpanId }) => parentSpanId !== spanId));
});

test('tries that have failed are events', { timeout: 120_000 }, async () => {
  const [port] = await freePorts(1);
  const endpoint = `127.0.0.1:${port}`;
  const lost = new Client({ endpoints: [endpoint], requestTimeoutMs: 5_000 });
  const { calls } = await traced(() => assert.rejects(lost.status()));
  lost.close();
  assert.deepEqual(bare(calls), [
    [
      'synod.v1.Cluster/Status',
      SpanStatusCode.ERROR,
      { 'rpc.grpc.status_code': 14, 'error.type': 'UNAVAILABLE' },
    ],
  ]);
  const [{ call }] = calls;
  const types = new Set();
  for (const { name, attributes, time } of call.events) {
    assert.equal(name, 'a try failed');
    const { 'error.type': type, ...rest } = attributes;
    assert.deepEqual(rest, { 'server.address': endpoint });
    types.add(type);
    const [began, at, ended] = [call.startTime, time, call.endTime].map(hrTimeToMilliseconds);
    // The clock of events has milliseconds and those of spans more.
    assert.ok(began - 1 <= at && at <= ended + 1, `${began} ${at} ${ended}`);
  }
  // The deadline may cut the last try short.
  types.delete('DEADLINE_EXCEEDED');
  assert.deepEqual([...types], ['UNAVAILABLE']);
});

test('a call that is given up ends its span, and says no code', { timeout: 120_000 }, async ({ signal }) => {
  const lock = await client.lock(lease);
  const abort = new AbortController();
  const { calls } = await traced(async () => {
    const waits = client.lock({ ...lease, holder: 'another' }, { signal: abort.signal });
    const asked = async () => (await client.leases.get({ lease }, { signal })).waiters.length;
    while ((await context.with(ROOT_CONTEXT, asked)) === 0);
    abort.abort(new Error('enough'));
    await assert.rejects(waits, /enough/);
  });
  assert.deepEqual(bare(calls), [[ACQUIRE, SpanStatusCode.UNSET, {}]]);
  await lock.release();
});
