import { createServer, type ServerResponse } from 'node:http';
import { expect, it, onTestFinished, vi } from 'vitest';
import { listenUntil } from '../../../../tests/support/listen.ts';
import { FeedConnection } from './feed-connection.ts';

const WAIT = { timeout: 10_000, interval: 5 };
const BEGIN = 'event: begin\ndata: {"now":"2026-01-01T00:00:00.000Z"}\n\n';
const READY = 'event: ready\ndata: {}\n\n';
const time = (second: number) => `event: time\ndata: {"asOf":"2026-01-01T00:00:0${second}.000Z"}\n\n`;

/*
 * Red when usage that was acknowledged after what is known of a customer is taken for counted: a heartbeat
 * may come while customers wait to be sent again after an interruption.
 */
it('a heartbeat counts nothing until all customers were sent, also after an interruption', async () => {
  const streams: ServerResponse[] = [];
  const server = createServer((_, response) => {
    streams.push(response.setHeader('content-type', 'text/event-stream'));
    response.write(BEGIN);
  });
  const { url } = await listenUntil(onTestFinished, server);
  const counted: Array<string | undefined> = [];
  let ready = 0;
  const connection: FeedConnection = new FeedConnection({
    ...{ url, headers: {}, names: ['a'] },
    onReady: () => void ready++,
    onCustomer: () => undefined,
    onCounted: () => void counted.push(connection.asOf),
    onProblem: () => undefined,
  });
  onTestFinished(() => connection.close());
  const opened = (count: number) => vi.waitFor(() => expect(streams).toHaveLength(count), WAIT);
  await opened(1);
  streams[0]?.write(time(1) + READY + time(2));
  await vi.waitFor(() => expect(counted.at(-1)).toMatch(/:02\.000Z$/), WAIT);
  streams[0]?.destroy();
  await opened(2);
  streams[1]?.write(time(3) + READY + time(4));
  await vi.waitFor(() => expect(counted.at(-1)).toMatch(/:04\.000Z$/), WAIT);
  expect([ready, counted.map((asOf) => asOf?.slice(17, 19))]).toEqual([2, ['02', '04']]);
});
