import { Readable } from 'node:stream';
import { expect, test, vi } from 'vitest';
import { UNKNOWN } from './feed-state.ts';
import { createFeedStream, TURN_BYTES_MAX, UNREAD_BYTES_MAX } from './feed-stream.ts';
import { createUnreadBytes } from './unread-bytes.ts';
import { createWatchedCustomers } from './watched-customers.ts';

function streamUnderTest() {
  const watched = createWatchedCustomers();
  const onCut = vi.fn();
  const position = () => `at${watched.position}`;
  const stream = createFeedStream({ nowMs: 0, isResumed: false, position, onWrite: () => undefined, onCut });
  const add = (name: string) => {
    const customer = watched.watch('ws:live', name);
    customer.streams.add(stream);
    stream.expect(customer);
    return customer;
  };
  const textOf = async () => (await stream.body.toArray()).join('');
  return { watched, stream, onCut, add, textOf };
}

// Red when an id comes while a customer waits: a client that resumes at it never gets that customer.
test('events have ids only while no customer waits to be sent', async () => {
  const { watched, stream, add, textOf } = streamUnderTest();
  const [one, other] = [add('one'), add('other')];
  watched.learn(one, UNKNOWN);
  watched.tellUsage(one, ['{"early":1}']);
  watched.learn(other, UNKNOWN);
  watched.tellUsage(other, ['{"later":1}']);
  stream.end();
  const blocks = (await textOf()).split('\n\n').filter((block) => block.includes('event:'));
  const opened = blocks.shift();
  expect(opened).toBe('event: begin\ndata: {"now":"1970-01-01T00:00:00.000Z","resumed":false}');
  const [, , , ready, later] = blocks;
  expect(blocks.map((block) => /event: (\w+)/.exec(block)?.[1])).toEqual([
    'customer',
    'usage',
    'customer',
    'ready',
    'usage',
  ]);
  expect(blocks.slice(0, 3).join()).not.toContain('id:');
  expect(ready).toBe('id: at5\nevent: ready\ndata: {}');
  expect(later).toMatch(/^id: at6\nevent: usage\n/);
});

test('a state that stays the same is not sent again', async () => {
  const { watched, stream, add, textOf } = streamUnderTest();
  const one = add('one');
  for (let round = 0; round < 3; round += 1) watched.learn(one, { ...UNKNOWN });
  watched.learn(one, { ...UNKNOWN, status: 'archived' });
  stream.end();
  expect((await textOf()).match(/"status":"\w+"/g)).toEqual(['"status":"unknown"', '"status":"archived"']);
});

// Red when what a client does not take is kept without bound.
test('a client that reads nothing is cut off at a bounded number of bytes', () => {
  const { watched, stream, onCut, add } = streamUnderTest();
  const one = add('one');
  watched.learn(one, UNKNOWN);
  const decision = JSON.stringify({ reason: 'x'.repeat(1_000) });
  for (let round = 0; round < 1_000; round += 1) {
    if (round % 10 === 0) stream.begin();
    watched.tellUsage(one, [decision]);
  }
  expect(stream.body.destroyed).toBe(true);
  expect(onCut).toHaveBeenCalledTimes(1);
  expect(stream.body.readableLength).toBeLessThan(UNREAD_BYTES_MAX + 12_000);
});

// Red when a client is cut off before it could read anything: it would be at each of its attempts.
test('many changes at once, or a large customer, do not cut a client off, up to 4 MiB', async () => {
  const { watched, stream, onCut, add } = streamUnderTest();
  const one = add('one');
  watched.learn(one, { ...UNKNOWN, head: `"pad":"${'x'.repeat(2 ** 20)}",` });
  stream.pump();
  const decision = JSON.stringify({ reason: 'x'.repeat(1_000) });
  for (let round = 0; round < 1_000; round += 1) watched.tellUsage(one, [decision]);
  expect(stream.body.readableLength).toBeGreaterThan(2_000_000);
  const read: string[] = [];
  stream.body.on('data', (chunk) => read.push(String(chunk)));
  await vi.waitFor(() => expect(read.join('').split('event: usage')).toHaveLength(1_001));
  stream.begin();
  expect(onCut).not.toHaveBeenCalled();
  stream.body.pause();
  for (let round = 0; round < 5_000; round += 1) watched.tellUsage(one, [decision]);
  expect(stream.body.destroyed).toBe(true);
  expect(stream.body.readableLength).toBeLessThan(TURN_BYTES_MAX + 2_000);
});

// Red when it is checked once a second: 6,000 streams may have 4 MiB each by then.
test('all streams together hold a bounded number of bytes at any time; the slowest go first', () => {
  const bodies = Array.from({ length: 50 }, () => new Readable({ read: () => undefined }));
  const unread = createUnreadBytes(() => bodies, 1_000_000);
  const held = () => bodies.reduce((sum, one) => sum + (one.destroyed ? 0 : one.readableLength), 0);
  let most = 0;
  for (let round = 0; round < 2_000; round += 1) {
    const body = bodies[round % 50];
    if (!body || body.destroyed) continue;
    const bytes = Buffer.alloc(round % 50 < 25 ? 500 : 4_000);
    body.push(bytes);
    unread.wrote(bytes.length);
    most = Math.max(most, held());
  }
  expect(most).toBeLessThanOrEqual(1_000_000);
  expect(unread.cutOff()).toBe(bodies.filter(({ destroyed }) => destroyed).length);
  expect(bodies.map(({ destroyed }) => destroyed).indexOf(true)).toBeGreaterThanOrEqual(25);
  // What clients have taken does not count.
  const reading = [new Readable({ read: () => undefined })];
  const taken = createUnreadBytes(() => reading, 1_000);
  for (let round = 0; round < 100; round += 1) {
    reading[0]?.push(Buffer.alloc(100));
    taken.wrote(100);
    reading[0]?.read();
  }
  expect(taken.cutOff()).toBe(0);
});

// Red when the customers of a new client are all put into its memory at once.
test('a client gets many customers as fast as it reads', async () => {
  const { watched, stream, onCut, add } = streamUnderTest();
  const large = { ...UNKNOWN, head: `"pad":"${'x'.repeat(10_000)}",` };
  const customers = Array.from({ length: 300 }, (_, at) => add(`c${at}`));
  for (const customer of customers) watched.learn(customer, large);
  expect(stream.body.readableLength).toBeLessThan(100_000);
  let text = '';
  for await (const chunk of stream.body) {
    text += String(chunk);
    if (text.includes('event: ready')) stream.end();
  }
  expect(text.split('event: customer')).toHaveLength(301);
  expect(onCut).not.toHaveBeenCalled();
});
