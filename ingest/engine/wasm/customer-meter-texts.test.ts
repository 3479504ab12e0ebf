import { expect, test } from 'vitest';
import type { CustomerMeter } from '../../registry-entries.ts';
import { createCustomerMeterTexts } from './customer-meter-texts.ts';

const FROM = 16;

function customerMeterOf(name: string, property?: string): CustomerMeter {
  const meter = { key: 'm', aggregation: 'unique' as const, property, archived: false };
  return { meter, json: `"${name}"`, fingerprint: `${name}!` };
}

test('three lengths come before the texts, and a customer and meter met before keep their place', () => {
  const memory = Buffer.alloc(100);
  const texts = createCustomerMeterTexts(memory, FROM, 100);
  const customerMeter = customerMeterOf('ö', 'user');
  expect(texts.placeOf(customerMeter)).toBe(FROM);
  expect(texts.placeOf(customerMeter)).toBe(FROM);
  expect([0, 4, 8].map((at) => memory.readUInt32LE(FROM + at))).toEqual([3, 4, 4]);
  expect(memory.toString('utf8', FROM + 12, FROM + 23)).toBe('ö!"ö"user');
});

/** Red when the texts are cleared within a request: its first items would lose theirs. */
test('without room nothing is overwritten until the next request, which starts from empty', () => {
  const memory = Buffer.alloc(64);
  const texts = createCustomerMeterTexts(memory, FROM, 64);
  const customerMeters = ['a', 'b', 'c'].map((name) => customerMeterOf(name)); // 17 bytes each, room for two
  expect(customerMeters.map((customerMeter) => texts.placeOf(customerMeter))).toEqual([
    FROM,
    FROM + 17,
    undefined,
  ]);
  const before = Buffer.from(memory);
  expect(texts.placeOf(customerMeters[2] as CustomerMeter)).toBeUndefined();
  expect(memory).toEqual(before);
  texts.beginRequest();
  expect(texts.placeOf(customerMeters[2] as CustomerMeter)).toBe(FROM);
});
