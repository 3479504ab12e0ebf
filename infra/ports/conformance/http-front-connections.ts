import { expect, it, onTestFinished } from 'vitest';
import { openConnection, requestHead, until } from '../../../tests/support/raw-connection.ts';
import { SILENT } from '../../../tests/support/silent-log.ts';
import type { Exchange } from '../http-front.ts';
import {
  type CreateFront,
  describeRequest,
  responseJson,
  startFront,
  TEST_LIMITS,
} from './front-under-test.ts';

/** Several requests on a connection, and the front's own beginning and end. */
export function connections(createFront: CreateFront): void {
  it('responds to one request after the other on a connection', async () => {
    const client = await (await startFront(createFront, describeRequest)).connect();
    for (const path of ['/1', '/2', '/3']) {
      client.send(requestHead(`POST ${path} HTTP/1.1`, ['Content-Length: 4']));
      client.send('body');
      expect(JSON.parse((await client.response()).body)).toMatchObject({ path, bytes: 4 });
    }
  });

  // The native front closes a connection on which a request overtakes the response before it: that is
  // allowed.
  it('never gives a pipelined request the response of another', async () => {
    const { port } = await startFront(createFront, (exchange) => {
      const respond = () => responseJson(exchange, exchange.path);
      if (exchange.path === '/1') setTimeout(respond, 20);
      else respond();
    });
    const client = await openConnection(port);
    client.send(requestHead('GET /1 HTTP/1.1') + requestHead('GET /2 HTTP/1.1'));
    const first = await client.response().catch(() => undefined);
    expect(first?.body ?? client.received()).toBe(first ? '"/1"' : '');
  });

  it('responds to pipelined requests in order when each response is ready at once', async () => {
    const { port } = await startFront(createFront, (exchange) => responseJson(exchange, exchange.path));
    const client = await openConnection(port);
    client.send(['/1', '/2', '/3'].map((path) => requestHead(`GET ${path} HTTP/1.1`)).join(''));
    for (const path of ['"/1"', '"/2"', '"/3"']) expect((await client.response()).body).toBe(path);
  });

  it('rejects a port that is taken', async () => {
    const { port, front: first } = await startFront(createFront, describeRequest);
    await first.close(0);
    // A port chosen by its number: one that the system chose is never shared.
    const second = createFront(describeRequest, TEST_LIMITS, SILENT);
    await second.listen('127.0.0.1', port);
    onTestFinished(() => second.close(0));
    const front = createFront(describeRequest, TEST_LIMITS, SILENT);
    await expect(front.listen('127.0.0.1', port)).rejects.toMatchObject({ code: 'listen_failed' });
    await front.close(0);
  });

  // Red when close does not wait for requests in flight.
  it('lets requests in flight end when it closes, and takes no new connection', async () => {
    const held: Exchange[] = [];
    const { front, port } = await startFront(createFront, (exchange) => void held.push(exchange));
    const client = await openConnection(port);
    client.send(requestHead('GET / HTTP/1.1'));
    await until('the request is in', () => held.length === 1);
    const closing = front.close(5_000);
    const late = await openConnection(port);
    await late.closed(1_000);
    for (const exchange of held) responseJson(exchange, 'done');
    expect((await client.response()).headers.get('connection')).toBe('close');
    await closing;
  });

  it('ends what takes longer than the grace it gives', async () => {
    const { front, port } = await startFront(createFront, () => undefined);
    const client = await openConnection(port);
    client.send(requestHead('GET / HTTP/1.1'));
    await front.close(50);
    await client.closed(1_000);
  });
}
