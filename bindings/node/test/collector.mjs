// A collector of OpenTelemetry on loopback, which keeps the spans that are exported to it.

import { EventEmitter, once } from 'node:events';
import { createServer } from 'node:http2';

/** The fields of a message of protobuf that are bytes, each with its number. Numbers of fixed or variable length are skipped. */
function* fields(bytes) {
  let at = 0;
  const varint = () => {
    let value = 0;
    for (let shift = 1; ; shift *= 128) {
      const byte = bytes[at++];
      value += (byte & 127) * shift;
      if (byte < 128) return value;
    }
  };
  while (at < bytes.length) {
    const tag = varint();
    switch (tag % 8) {
      case 0:
        varint();
        break;
      case 1:
        at += 8;
        break;
      case 2: {
        const length = varint();
        yield [Math.floor(tag / 8), bytes.subarray(at, (at += length))];
        break;
      }
      case 5:
        at += 4;
        break;
      default:
        throw new Error(`no wire type: ${tag % 8}`);
    }
  }
}

const all = (message, number) => [...fields(message)].filter(([its]) => its === number).map(([, bytes]) => bytes);

/** A `Span` of OpenTelemetry's protocol. */
function toSpan(bytes) {
  const field = (number) => all(bytes, number)[0] ?? Buffer.alloc(0);
  return {
    traceId: field(1).toString('hex'),
    spanId: field(2).toString('hex'),
    traceState: field(3).toString(),
    parentSpanId: field(4).toString('hex'),
    name: field(5).toString(),
  };
}

/** The spans in an `ExportTraceServiceRequest`. */
const toSpans = (request) =>
  all(request, 1).flatMap((resource) => all(resource, 2).flatMap((scope) => all(scope, 2).map(toSpan)));

/** Whether these are the wanted names, and no others. There may be more of one: a call that is tried again has a span for each. */
function hasAll(names, wanted) {
  const count = (among, name) => among.filter((each) => each === name).length;
  const areEnough = wanted.every((name) => count(names, name) >= count(wanted, name));
  return areEnough && names.every((name) => wanted.includes(name));
}

export async function collect() {
  const spans = [];
  const came = new EventEmitter();
  const sessions = new Set();
  const server = createServer();
  server.on('session', (session) => {
    sessions.add(session);
    session.on('close', () => sessions.delete(session));
  });
  server.on('stream', async (stream) => {
    const chunks = [];
    for await (const chunk of stream) chunks.push(chunk);
    // Behind the head of a message of gRPC: whether it is compressed, and its length.
    spans.push(...toSpans(Buffer.concat(chunks).subarray(5)));
    came.emit('spans');
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
    stream.end(Buffer.alloc(5));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    spans,
    /** The spans right below one, once there are those with these names, and no others. */
    async below(spanId, names, signal) {
      for (;;) {
        const found = spans.filter(({ parentSpanId }) => parentSpanId === spanId);
        if (hasAll(found.map(({ name }) => name), names)) return found;
        await once(came, 'spans', { signal });
      }
    },
    stop() {
      for (const session of sessions) session.destroy();
      server.close();
    },
  };
}
