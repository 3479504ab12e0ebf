import { expect, it } from 'vitest';
import { eventLine } from '../../../tests/support/event-line.ts';
import { createLiveStream, EVENTS_MAX } from './live-stream.ts';

const LARGEST = Object.fromEntries(Array.from({ length: 32 }, (_, at) => [`p${at}`, 'x'.repeat(256)]));
const line = (id: string) => Buffer.from(eventLine({ id, properties: { note: 'x'.repeat(200) } }).trimEnd());

// Red when what a client does not take is kept without bound.
it('cuts off a client that reads nothing, at a bounded number of bytes', () => {
  const { body, offer, second } = createLiveStream({});
  let offered = 0;
  while (!body.destroyed && offered < 100_000) {
    for (let at = 0; at < EVENTS_MAX; at += 1) offer(line(`use_${offered + at}`));
    offered += EVENTS_MAX;
    second();
  }
  expect(body.destroyed).toBe(true);
  expect(body.readableLength).toBeLessThan(300_000);
  offer(line('use_later'));
});

// Red when events that come at once, each of the largest size, cut off a client that reads.
it('leaves out what a client has no room for yet, and says so', async () => {
  const { body, offer, second, end } = createLiveStream({});
  const large = Buffer.from(eventLine({ id: 'use_large', properties: LARGEST }).trimEnd());
  for (let at = 0; at < EVENTS_MAX; at += 1) offer(large);
  expect(body.readableLength).toBeLessThan(300_000);
  second();
  end();
  const text = (await body.toArray()).join('');
  const shown = text.split('event: usage').length - 1;
  expect(shown).toBeGreaterThan(10);
  expect(text).toContain(`event: sampled\ndata: {"leftOut":${EVENTS_MAX - shown},"isComplete":true}`);
});

it('goes on for a client that reads slowly', () => {
  const { body, offer, second } = createLiveStream({});
  const large = Buffer.from(eventLine({ id: 'use_large', properties: LARGEST }).trimEnd());
  for (let seconds = 0; seconds < 100; seconds += 1) {
    for (let at = 0; at < EVENTS_MAX; at += 1) offer(large);
    body.read(1_000);
    second();
  }
  expect(body.destroyed).toBe(false);
});

// Red when an event that comes after the end fails the stream: what the client has not read yet is lost.
it('has after its end nothing more, and ends in order', async () => {
  const { body, offer, second, end } = createLiveStream({});
  offer(line('use_a'));
  end();
  offer(line('use_b'));
  second();
  end();
  const text = (await body.toArray()).join('');
  expect(text).toContain('use_a');
  expect(text).not.toContain('use_b');
});

it('shows an event with every digit and each property as it was sent', async () => {
  const { body, offer, end } = createLiveStream({});
  const properties = { b: '\u0000btrue', n: '\u0000n1.50', t: 'quote " and \n' };
  offer(Buffer.from(eventLine({ id: 'use_a', value: '123456789.000000000001', properties }).trimEnd()));
  end();
  const text = (await body.toArray()).join('');
  expect(text).toContain('"value":123456789.000000000001');
  expect(text).toContain('"properties":{"b":true,"n":1.50,"t":"quote \\" and \\n"}}\n\n');
});
