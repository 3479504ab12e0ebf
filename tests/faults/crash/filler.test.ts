import { createServer } from 'node:net';
import { expect, it, onTestFinished, vi } from 'vitest';
import { listenUntil } from '../../support/listen.ts';
import { startFiller } from './filler.ts';

const BODY = `{"summary":{"total":1,"created":0},"more":"${'x'.repeat(300)}"}`;
const RESPONSE = `HTTP/1.1 200 OK\r\nContent-Length: ${BODY.length}\r\n\r\n${BODY}`;

/** Red when the filler of a server that is not killed never ends. */
it('goes on until it is stopped, and leaves no connection', async () => {
  let requests = 0;
  const server = createServer((socket) => {
    socket.on('data', () => {
      requests++;
      socket.write(RESPONSE);
    });
    socket.on('error', () => undefined);
  });
  const { port } = await listenUntil(onTestFinished, server);
  const connections = () =>
    new Promise<number>((resolve) => server.getConnections((_, count) => resolve(count)));
  const filler = await startFiller(port, Buffer.from('POST'));
  await vi.waitFor(() => expect(requests).toBeGreaterThan(100), 20_000);
  await filler.stop();
  await vi.waitFor(async () => expect(await connections()).toBe(0), 20_000);
});
