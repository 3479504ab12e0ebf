import { expect, test } from 'vitest';
import type { CustomerMeter } from '../../registry-entries.ts';
import { createCustomerMeterTexts } from './customer-meter-texts.ts';

const FROM = 16;
const HEAD_BYTES = 28;

function named(name: string, property?: string) {
  const meter = { key: 'm', aggregation: 'unique' as const, property, archived: false };
  const customerMeter: CustomerMeter = { meter, json: `"${name}"`, fingerprint: `${name}!` };
  return { environment: 3, customerName: name, meterName: 'm', customerMeter };
}

function textsIn(memory: Buffer) {
  const forgotten: string[] = [];
  const room = { memory, from: FROM, to: memory.length };
  return { forgotten, texts: createCustomerMeterTexts(room, () => forgotten.push('all')) };
}

test('lengths and numbers come before the texts, and a number finds its customer and meter', () => {
  const memory = Buffer.alloc(200);
  const { texts } = textsIn(memory);
  const one = named('ö', 'user');
  expect(texts.add(one)).toBe(FROM);
  const numbers = [0, 4, 8, 12, 16, 20, 24].map((at) => memory.readUInt32LE(FROM + at));
  expect(numbers).toEqual([3, 4, 4, 2, 1, 3, 0]);
  expect(memory.toString('utf8', FROM + HEAD_BYTES, FROM + HEAD_BYTES + 14)).toBe('ö!"ö"userö' + 'm');
  const two = named('two');
  const place = texts.add(two) ?? 0;
  expect(texts.customerMeter(memory.readUInt32LE(place + 24))).toBe(two.customerMeter);
  expect(texts.customerMeter(0)).toBe(one.customerMeter);
});

/** Red when the texts are cleared within a request: its first items would lose theirs. */
test('without room nothing is overwritten until the next request, which starts from empty', () => {
  const bytes = HEAD_BYTES + 7;
  const memory = Buffer.alloc(FROM + 2 * bytes + 10);
  const { texts, forgotten } = textsIn(memory);
  texts.beginRequest('e', 0);
  expect(['a', 'b', 'c'].map((name) => texts.add(named(name)))).toEqual([FROM, FROM + bytes, undefined]);
  const before = Buffer.from(memory);
  expect(texts.add(named('c'))).toBeUndefined();
  expect(memory).toEqual(before);
  expect(forgotten).toEqual(['all']);
  texts.beginRequest('e', 0);
  expect(forgotten).toEqual(['all', 'all']);
  expect(texts.add(named('c'))).toBe(FROM);
});

test('an environment keeps its number until all is forgotten, as at another generation', () => {
  const { texts, forgotten } = textsIn(Buffer.alloc(100));
  const numbers = ['a', 'b', 'a', 'b', 'b'].map((environment) => texts.beginRequest(environment, 0));
  expect(numbers).toEqual([0, 1, 0, 1, 1]);
  expect(forgotten).toHaveLength(1);
  expect(texts.beginRequest('b', 1)).toBe(0);
  expect(forgotten).toHaveLength(2);
});
