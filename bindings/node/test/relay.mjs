// Connections that misbehave.

import { once } from 'node:events';
import { connect, createServer } from 'node:net';

async function listening(server) {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `127.0.0.1:${server.address().port}`;
}

/** A server that takes connections and never says a word. */
export async function silent() {
  const sockets = new Set();
  let told;
  const connected = new Promise((resolve) => (told = resolve));
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    told();
  });
  const endpoint = await listening(server);
  return {
    endpoint,
    connected,
    async stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/**
 * A proxy to a replica whose connections can go silent: they stay open, nothing comes through any more, and nobody is told.
 * New ones work.
 */
export async function relay(target) {
  const [host, port] = target.split(':');
  const sockets = new Set();
  let generation = 0;
  let swallowed = 0;
  const server = createServer((near) => {
    const far = connect(Number(port), host);
    const own = generation;
    for (const [from, to] of [[near, far], [far, near]]) {
      sockets.add(from);
      from.on('error', () => to.destroy());
      from.on('close', () => to.destroy());
      from.on('data', (bytes) => {
        if (own < generation) swallowed += bytes.length;
        else to.write(bytes);
      });
    }
  });
  const endpoint = await listening(server);
  return {
    endpoint,
    /** How many bytes were sent into the silence. */
    swallowed: () => swallowed,
    /** Silences the connections that there are now, in both directions. */
    silence() {
      generation += 1;
    },
    async stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
