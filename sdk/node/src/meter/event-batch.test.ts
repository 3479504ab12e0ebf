import { expect, it } from 'vitest';
import { batchOf, eventAt, eventsOf, picked } from './event-batch.ts';

it.each([
  ['ASCII', ['{"a":1}', '{"b":"22"}', '{}']],
  ['other texts', ['{"a":"é"}', '{"b":"💶"}', '{"c":"\\ud83d"}']],
  ['nothing', []],
])('a batch is the body of a request, and has each of its events: %s', (_, events) => {
  const batch = batchOf(events);
  expect(String(Buffer.from(batch.body))).toBe(`{"events":[${events.join(',')}]}`);
  expect(eventsOf(batch)).toEqual(events);
  expect(events.map((_, index) => eventAt(batch, index))).toEqual(events);
  const some = picked(batch, events.length === 0 ? [] : [2, 0]);
  expect(eventsOf(some)).toEqual(events.length === 0 ? [] : [events[2], events[0]]);
  expect(JSON.parse(String(Buffer.from(some.body)))).toHaveProperty('events');
});
