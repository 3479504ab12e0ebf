import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

const ATTEMPTS = 100;

/**
 * A port that is free just now, below those that clients are given (32768… on Linux): a client that knocks at
 * a dead server's port from that very port connects to itself, and then the port is taken.
 */
export async function quietPort(): Promise<number> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const port = randomInt(20_000, 30_000);
    const server = createServer().listen(port, '127.0.0.1');
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
  throw new Error(`${ATTEMPTS} ports between 20,000 and 30,000 are taken`);
}
