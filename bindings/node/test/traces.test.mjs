// Calls name the span of OpenTelemetry that is current where they are made.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { ROOT_CONTEXT, TraceFlags, context, propagation, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { TraceState, W3CTraceContextPropagator } from '@opentelemetry/core';
import { BasicTracerProvider } from '@opentelemetry/sdk-trace-base';

import { collect } from './collector.mjs';
import { serve } from './cluster.mjs';

const CREATE = 'synod.v1.Collections/Create';
const SETTINGS = 'synod.v1.Cluster/GetSettings';

/** The span that the application is called in. */
const above = {
  traceId: '0af7651916cd43dd8448eb211c80319c',
  spanId: 'b7ad6b7169203331',
  traceFlags: TraceFlags.SAMPLED,
  isRemote: true,
  traceState: new TraceState('vendor=said'),
};

const tracer = new BasicTracerProvider().getTracer('application');
const named = (name) => ({ resource: { group: `${name}.example.io`, resource: 'widgets' }, kind: 'Widget' });
const within = (span, work) => context.with(trace.setSpanContext(ROOT_CONTEXT, span), work);

let collector;
let cluster;
let client;

before(async () => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  collector = await collect();
  cluster = await serve({ flags: ['--otlp-endpoint', collector.url] });
  client = cluster.client();
  // The session has calls of its own, which are then over.
  await client.collections.create(named('first'));
});

after(async () => {
  client.close();
  await cluster.stop();
  collector.stop();
  propagation.disable();
  context.disable();
});

/** Does a part of the application in a span of its own, and answers that. */
const working = (work, parent = context.active()) => {
  const span = tracer.startSpan('work', {}, parent);
  return context.with(trace.setSpan(parent, span), async () => {
    await work();
    span.end();
    return span.spanContext();
  });
};

/** The replicas' spans of these names, and of no others, are right below a span. */
async function isShown({ traceId, spanId, traceState }, names, signal) {
  for (const seen of await collector.below(spanId, names, signal)) {
    assert.equal(seen.traceId, traceId);
    assert.equal(seen.traceState, traceState?.serialize() ?? '');
  }
}

test('spans of replicas are below that in which is called', { timeout: 120_000 }, async ({ signal }) => {
  let part;
  const parent = trace.setSpanContext(ROOT_CONTEXT, above);
  const work = await working(async () => {
    await client.collections.create(named('a-1'));
    part = await working(() => client.cluster.getSettings({}, { signal }));
    await client.collections.create(named('a-2'), { signal });
  }, parent);
  await client.cluster.getSettings();
  await isShown(work, [CREATE, CREATE], signal);
  await isShown(part, [SETTINGS], signal);
  assert.equal(work.traceState.serialize(), 'vendor=said');
});

test('handles name the span, too', { timeout: 120_000 }, async ({ signal }) => {
  const work = await working(async () => {
    const lock = await client.lock({ namespace: 'traces', name: 'lock' });
    await lock.release();
  });
  await isShown(work, ['synod.v1.Leases/Acquire', 'synod.v1.Leases/Release'], signal);
});

test('calls that overlap have spans of their own', { timeout: 120_000 }, async ({ signal }) => {
  const calls = Array.from({ length: 32 }, (_, number) =>
    working(async () => {
      await client.collections.create(named(`b-${number}`));
      await client.cluster.getSettings();
    }),
  );
  for (const work of await Promise.all(calls)) await isShown(work, [CREATE, SETTINGS], signal);
});

test('calls outside of spans, and in spans that are not sampled, have none', { timeout: 120_000 }, async ({ signal }) => {
  const unsampled = { traceId: '7'.repeat(32), spanId: '8'.repeat(16), traceFlags: TraceFlags.NONE };
  await client.cluster.getSettings();
  await within(unsampled, () => client.cluster.getSettings());
  // What is exported is exported in order, so nothing else comes behind this.
  await isShown(await working(() => client.collections.create(named('c'))), [CREATE], signal);
  const asked = collector.spans.filter(({ name }) => name === SETTINGS);
  assert.ok(asked.every(({ parentSpanId }) => parentSpanId !== ''));
  assert.ok(collector.spans.every(({ traceId }) => traceId !== unsampled.traceId));
});
