import { expect, it } from 'vitest';
import type { TouchedCustomerMeter } from '../../schemas/stored/frame.ts';
import { createRecentCustomerMeters } from './recent-customer-meters.ts';

const MINUTE_MS = 60_000;

function customerMeter(customerId: string, occurredAtMs = 0): TouchedCustomerMeter {
  const span = { occurredFromMs: occurredAtMs, occurredToMs: occurredAtMs };
  return { environment: 'ws_a:live', customerId, meterKey: 'calls', ...span };
}

// Red when a customer meter is returned twice at once, or when one that is out of use is returned forever.
it('a customer meter is due again each minute while it is in use, with the time of that minute', () => {
  const recent = createRecentCustomerMeters();
  recent.add([customerMeter('a', 5), customerMeter('b', 7)], 0);
  expect(recent.due(MINUTE_MS - 1)).toEqual([]);
  recent.add([customerMeter('b', 9)], MINUTE_MS - 1);
  expect(recent.due(MINUTE_MS)).toEqual([customerMeter('a', MINUTE_MS)]);
  expect(recent.due(MINUTE_MS)).toEqual([]);
  expect(recent.due(2 * MINUTE_MS)).toEqual([
    customerMeter('b', 2 * MINUTE_MS),
    customerMeter('a', 2 * MINUTE_MS),
  ]);
  expect(recent.due(61 * MINUTE_MS)).toEqual([]);
  expect(recent.due(200 * MINUTE_MS)).toEqual([]);
});

it('at most 200 come up at once, those that wait the longest first', () => {
  const recent = createRecentCustomerMeters();
  recent.add(
    Array.from({ length: 300 }, (_, at) => customerMeter(`cus_${at}`)),
    0,
  );
  expect(recent.due(MINUTE_MS).map(({ customerId }) => customerId)).toEqual(
    Array.from({ length: 200 }, (_, at) => `cus_${at}`),
  );
  expect(recent.due(MINUTE_MS)).toHaveLength(100);
});
