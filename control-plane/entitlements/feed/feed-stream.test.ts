import { expect, test, vi } from 'vitest';
import { UNKNOWN } from './feed-state.ts';
import { createFeedStream, UNREAD_BYTES_MAX } from './feed-stream.ts';
import { createWatchedCustomers } from './watched-customers.ts';

function streamUnderTest() {
  const watched = createWatchedCustomers();
  const onCut = vi.fn();
  const stream = createFeedStream({ nowMs: 0, position: () => `at${watched.position}`, onCut });
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
  expect(opened).toBe('event: begin\ndata: {"now":"1970-01-01T00:00:00.000Z"}');
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
  for (let round = 0; round < 1_000; round += 1) watched.tellUsage(one, [decision]);
  expect(stream.body.destroyed).toBe(true);
  expect(onCut).toHaveBeenCalledTimes(1);
  expect(stream.body.readableLength).toBeLessThan(UNREAD_BYTES_MAX + 2_000);
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
