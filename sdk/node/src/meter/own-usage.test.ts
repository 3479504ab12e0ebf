import { expect, it } from 'vitest';
import { OwnUsage } from './own-usage.ts';

const ONE = 10n ** 12n;
const event = (value: number) => ({ customerId: 'a', meterId: 'm', value });
const SUM = { meterId: 'm', aggregation: 'sum' };
const NEVER = Number.NEGATIVE_INFINITY;

it('counts what was tracked until the server has counted it, and each key once', () => {
  const own = new OwnUsage();
  for (const [key, value] of [
    ['k1', 1],
    ['k2', 2],
    ['k2', 2],
    ['k3', 4],
  ] as const) {
    own.tracked(key, event(value));
  }
  expect(own.uncounted('a', SUM, NEVER)).toBe(7n * ONE);
  own.acknowledged('k1', 1_000);
  own.acknowledged('k2', 2_000);
  own.acknowledged('unknown', 2_000);
  expect([own.uncounted('a', SUM, 1_000), own.uncounted('a', SUM, 1_001)]).toEqual([7n * ONE, 6n * ONE]);
  own.rejected('k3');
  expect([own.uncounted('a', SUM, 1_500), own.uncounted('a', SUM, 3_000)]).toEqual([2n * ONE, 0n]);
  expect(own.has('a')).toBe(true);
  own.counted(3_000);
  expect([own.has('a'), own.uncounted('a', SUM, NEVER)]).toEqual([false, 0n]);
});

it('takes all for acknowledged when nothing waits any more', () => {
  const own = new OwnUsage();
  own.tracked('k1', event(1));
  own.tracked('k2', event(-1));
  own.tracked('k3', event(0.5));
  own.drained(1_000);
  expect([own.uncounted('a', SUM, 1_000), own.uncounted('a', SUM, 1_001)]).toEqual([ONE / 2n, 0n]);
});

it('is bounded, and then counts rather too long than too short', () => {
  const own = new OwnUsage();
  for (let at = 0; at < 500; at++) {
    own.tracked(`k${at}`, event(1));
    own.acknowledged(`k${at}`, at * 100);
  }
  expect(own.uncounted('a', SUM, 5_000)).toBe(450n * ONE);
  expect(own.uncounted('a', SUM, 9_900)).toBe(401n * ONE);
  expect(own.uncounted('a', SUM, 49_901)).toBe(0n);
  for (let at = 0; at < 100_010; at++) own.tracked(`c${at}`, { ...event(1), customerId: `c${at % 3}` });
  for (let at = 0; at < 100_010; at++) own.acknowledged(`c${at}`, 60_000);
  const left = ['c0', 'c1', 'c2'].map((name) => own.uncounted(name, SUM, 60_001));
  expect(left.reduce((sum, one) => sum + one, 0n)).toBe(10n * ONE);
  own.drained(61_000);
  expect(own.uncounted('c0', SUM, 61_001)).toBe(0n);
});

it.each([
  ['sum', -1.5],
  ['count', 4],
  ['unique', 4],
  ['max', 1],
  ['latest', 1],
  [undefined, -1.5],
])('counts for %s as much as can be, and never less', (aggregation, most) => {
  const own = new OwnUsage();
  const values = [0.75, 0.25, 0, -2.5];
  for (const [at, value] of values.entries()) own.tracked(`k${at}`, event(value));
  const meter = { meterId: 'm', aggregation };
  const units = BigInt(most * 2) * (ONE / 2n);
  expect(own.uncounted('a', meter, NEVER)).toBe(units);
  for (const at of values.keys()) own.acknowledged(`k${at}`, 1_000);
  expect([own.uncounted('a', meter, 1_000), own.uncounted('a', meter, 1_001)]).toEqual([units, 0n]);
});

it.each([
  [0.1 + 0.2, '300000000000'],
  [1 / 3, '333333333333'],
  [1e-7, '100000'],
  ['0.0000000000005', '0'],
  ['0.0000000000015', '2'],
  ['-0.0000000000025000001', '-3'],
])('counts %s as the server rounds it', (value, units) => {
  const own = new OwnUsage();
  own.tracked('k', { customerId: 'a', meterId: 'm', value });
  expect(String(own.uncounted('a', SUM, NEVER))).toBe(units);
});

it('counts what was tracked by the id of a meter for each of them, until the server has counted it', () => {
  const own = new OwnUsage();
  own.tracked('k1', { customerId: 'a', meterId: 'meter_01', value: 2 });
  own.tracked('k2', event(1));
  const other = { meterId: 'other', aggregation: 'sum' };
  expect([own.uncounted('a', SUM, NEVER), own.uncounted('a', other, NEVER)]).toEqual([3n * ONE, 2n * ONE]);
  own.acknowledged('k1', 1_000);
  expect([own.uncounted('a', SUM, 1_001), own.uncounted('a', other, 1_001)]).toEqual([ONE, 0n]);
});
