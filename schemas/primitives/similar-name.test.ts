import { expect, test } from 'vitest';
import { meantName, misspelling } from './similar-name.ts';

const KNOWN = ['customerId', 'meterId', 'value', 'occurredAt', 'properties', 'idempotencyKey', 'at', 'from'];

test.each([
  ['customer_id', 'customerId'],
  ['CustomerID', 'customerId'],
  ['customer-id', 'customerId'],
  ['occuredAt', 'occurredAt'],
  ['ocurredAt', 'occurredAt'],
  ['occurred_at', 'occurredAt'],
  ['idempotencykey', 'idempotencyKey'],
  ['proprties', 'properties'],
  ['vlaue', 'value'],
  ['values', 'value'],
  ['metreId', 'meterId'],
  ['frm', undefined],
  ['customer', 'customerId'],
  ['usage_value', 'value'],
  ['usageValue', 'value'],
  ['my-customer-id', 'customerId'],
  ['myvalue', undefined],
  ['valueless', undefined],
  ['looked_at', undefined],
  ['timestamp', undefined],
  ['quantity', undefined],
  ['id', undefined],
  ['to', undefined],
  ['__proto__', undefined],
])('%s was meant to be %s', (name, meant) => {
  expect(meantName(name, KNOWN)).toBe(meant);
});

test('the misspelling of a missing name is found among the unknown ones, and no further than fifty', () => {
  expect(misspelling('customerId', ['more', 'customer_id'])).toBe('customer_id');
  expect(misspelling('customerId', ['customerId', 'x'])).toBeUndefined();
  const many = Array.from({ length: 50 }, (_, at) => `field${at}`);
  expect(misspelling('customerId', [...many, 'customer_id'])).toBeUndefined();
});
