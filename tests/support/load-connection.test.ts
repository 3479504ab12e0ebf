import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { createLoadConnection } from './load-connection.ts';

const REQUEST = Buffer.from('GET / HTTP/1.1\r\n\r\n');
const response = (body: string) => `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`;

/** A connection to a server that responds to each request with the next of these. */
async function against(
  responses: Array<(socket: Socket) => void>,
  run: (connection: ReturnType<typeof createLoadConnection>) => Promise<void>,
): Promise<void> {
  const server = createServer((socket) => {
    socket.on('data', () => responses.shift()?.(socket)).on('error', () => undefined);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const connection = createLoadConnection(new URL(`http://127.0.0.1:${port}`), 5_000);
  try {
    await run(connection);
  } finally {
    connection.close();
    server.close();
  }
}

describe('a connection of the load', () => {
  it('reads a response that comes in pieces and is larger than its memory', async () => {
    const body = 'x'.repeat(300_000);
    const inPieces = (socket: Socket) => {
      socket.write('HTTP/1.1 201 Created\r\nIdempotent-Repl');
      setImmediate(() => socket.write(`ayed: true\r\nContent-Length: ${body.length}\r\n\r\n${body}`));
    };
    await against([inPieces], async (connection) => {
      const read = await connection.ask(REQUEST);
      expect(read).toMatchObject({ status: 201, replayed: true });
      expect(read.body.toString()).toBe(body);
    });
  });

  // Fault this catches: memory of its own for each response. The collections that it calls for are then in
  // every latency that is measured.
  it('reads all responses into the same memory', async () => {
    // Larger than what Node takes of a pool that buffers share.
    const bodies = ['first', 'second'].map((word) => word.repeat(10_000));
    const respond = bodies.map((body) => (socket: Socket) => void socket.write(response(body)));
    await against(respond, async (connection) => {
      const first = await connection.ask(REQUEST);
      expect(first.body.toString()).toBe(bodies[0]);
      const second = await connection.ask(REQUEST);
      expect(second.body.toString()).toBe(bodies[1]);
      expect(second.body.buffer === first.body.buffer).toBe(true);
    });
  });

  it('rejects where the connection is closed, and connects again', async () => {
    const whole = (socket: Socket) => void socket.write(response('whole'));
    await against([(socket) => socket.end('HTTP/1.1 200 OK\r\n'), whole], async (connection) => {
      await expect(connection.ask(REQUEST)).rejects.toThrow('the connection was closed');
      expect((await connection.ask(REQUEST)).body.toString()).toBe('whole');
    });
  });
});
