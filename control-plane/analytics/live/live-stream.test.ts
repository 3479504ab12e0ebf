import { expect, it } from 'vitest';
import { eventLine } from '../../../tests/support/event-line.ts';
import { createLiveStream, EVENTS_MAX } from './live-stream.ts';

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

it('shows an event with every digit and each property as it was sent', async () => {
  const { body, offer, end } = createLiveStream({});
  const properties = { b: '\u0000btrue', n: '\u0000n1.50', t: 'quote " and \n' };
  offer(Buffer.from(eventLine({ id: 'use_a', value: '123456789.000000000001', properties }).trimEnd()));
  end();
  const text = (await body.toArray()).join('');
  expect(text).toContain('"value":123456789.000000000001');
  expect(text).toContain('"properties":{"b":true,"n":1.50,"t":"quote \\" and \\n"}}\n\n');
});
