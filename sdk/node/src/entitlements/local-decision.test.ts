import { expect, it } from 'vitest';
import type { EntitlementDecision } from '../generated/schemas.ts';
import { CREDIT_DIGITS, parseExactJson, textOfUnits, unitsOf } from '../meter/exact-decimal.ts';
import { type CustomerMessage, fedCustomer } from './fed-customer.ts';
import { decideHere, owedByOthers } from './local-decision.ts';

type Members = Partial<Omit<EntitlementDecision, 'effectiveValue' | 'current'>> & {
  effectiveValue?: unknown;
  current?: unknown;
};

interface Asked {
  requested?: number | string;
  own?: number;
  owed?: number;
  soft?: boolean;
  creditRate?: number | string;
  credits?: CustomerMessage['credits'];
}

const FACTS = { allowed: true, reason: '…', reasonCode: 'granted', customerId: 'cus_1', featureKey: 'f' };
const metered = (effectiveValue: unknown, current: unknown, members: Members = {}): Members => {
  return { type: 'metered', effectiveValue, current, sources: ['plan:pro'], ...members };
};

function decided(members: Members, { requested, own = 0, owed = 0, credits, ...facts }: Asked = {}) {
  const decision = { ...FACTS, ...members } as EntitlementDecision;
  const customer = fedCustomer({
    ...{ customerId: 'cus_1', asked: 'a', status: 'active', otherwise: 'feature_not_included' },
    credits: credits ?? { balance: 0, unpaid: 0 },
    features: [{ decision, meterId: 'm', ...facts }],
  });
  const feature = customer?.features.get('f');
  if (!customer || !feature) throw new Error('not fed');
  const units = requested === undefined ? undefined : unitsOf(requested);
  const { allowed, reasonCode } = decideHere(customer, feature, {
    requested: units,
    own: unitsOf(own) ?? 0n,
    owed: unitsOf(owed, CREDIT_DIGITS) ?? 0n,
  });
  return [allowed, reasonCode];
}

it('is that of the server for any amount', () => {
  const amounts = [2.5, '2.5', 2.500000000001, 3, 0].map((requested) => {
    return decided(metered(10, 7.5), { requested })[0];
  });
  expect(amounts).toEqual([true, true, false, false, true]);
  expect(decided(metered(0.3, 0.2), { requested: 0.1 })[0]).toBe(true);
  const large = metered('12345678901234567890.000000000001', '12345678901234567890');
  const beyond = [1e-12, '0.000000000002'].map((requested) => decided(large, { requested })[0]);
  expect(beyond).toEqual([true, false]);
  const seats: Members = { type: 'limit', effectiveValue: 5 };
  expect([0, 5, 6].map((requested) => decided(seats, { requested })[0])).toEqual([true, true, false]);
});

it('has the reason of the server', () => {
  const asked = { requested: 1 };
  expect(decided(metered(10, 10), asked)).toEqual([false, 'limit_reached']);
  expect(decided(metered(null, 99), asked)).toEqual([true, 'granted_unlimited']);
  expect(decided(metered(10, 10), { ...asked, soft: true })).toEqual([true, 'granted_soft_limit_exceeded']);
  const given = { sources: ['override'], reasonCode: 'granted_by_override' } as const;
  expect(decided(metered(5, 0, { ...given, sources: ['override'] }), asked)).toEqual([
    true,
    'granted_by_override',
  ]);
  const taken = metered(0, 0, { allowed: false, reasonCode: 'override_denied', sources: ['override'] });
  expect(decided(taken, asked)).toEqual([false, 'override_denied']);
  expect(decided(metered(10, 1, { reasonCode: 'granted_grace_period' }), asked)).toEqual([
    true,
    'granted_grace_period',
  ]);
  const flag: Members = { type: 'boolean', effectiveValue: false, allowed: false };
  expect(decided({ ...flag, reasonCode: 'feature_not_included' })).toEqual([false, 'feature_not_included']);
  const lost: Members = { type: 'metered', allowed: false, reasonCode: 'no_active_subscription' };
  expect(decided(lost, asked)).toEqual([false, 'no_active_subscription']);
});

it('pays with credits beyond the limit, and adds what is not counted yet', () => {
  const paid = (requested: number, balance: number | string, own = 0) =>
    decided(metered(10, 8), { requested, own, creditRate: 0.5, credits: { balance, unpaid: 0 } });
  expect(paid(2, 0)).toEqual([true, 'granted']);
  expect(paid(6, 2)).toEqual([true, 'granted_by_credit']);
  expect(paid(6, '1.999999999999999999999999')).toEqual([false, 'insufficient_credit']);
  expect(paid(6, 2, 1)).toEqual([false, 'insufficient_credit']);
  expect(paid(6, 0)).toEqual([false, 'insufficient_credit']);
  expect(decided(metered(10, 7), { requested: 1, own: 2 })).toEqual([true, 'granted']);
  expect(decided(metered(10, 7), { own: 3 })).toEqual([false, 'limit_reached']);
});

it('pays with what own usage of other meters leaves of the credits', () => {
  const paid = (requested: number | undefined, owed: number) => {
    const amount = requested === undefined ? {} : { requested };
    const asked = { ...amount, owed, creditRate: 0.5, credits: { balance: 3, unpaid: 0 } };
    return decided(metered(10, 10), asked)[0];
  };
  expect([paid(6, 0), paid(4, 1), paid(5, 1), paid(undefined, 2.5)]).toEqual([true, true, false, true]);
  expect([paid(undefined, 3), paid(0, 3)]).toEqual([false, true]);
});

it('own usage costs what is beyond the largest limit of its meter', () => {
  const feature = (key: string, meterId: string, limit: unknown, creditRate = 0.5) => {
    const decision = { ...FACTS, ...metered(limit, 8), featureKey: key } as EntitlementDecision;
    return { decision, meterId, creditRate };
  };
  const owed = (...features: CustomerMessage['features']) => {
    const asked = feature('asked', 'm0', 0);
    const customer = fedCustomer({
      ...{ customerId: 'cus_1', asked: 'a', status: 'active', otherwise: 'feature_not_included' },
      credits: { balance: 3, unpaid: 0 },
      features: [asked, ...features],
    });
    const first = customer?.features.get('asked');
    if (!customer || !first) throw new Error('not fed');
    return textOfUnits(
      owedByOthers(customer, first, () => unitsOf(4) ?? 0n),
      CREDIT_DIGITS,
    );
  };
  expect(owed()).toBe('0');
  expect(owed(feature('same', 'm0', 0))).toBe('0');
  expect(owed(feature('a', 'm1', 0), feature('b', 'm2', 10, 0.25))).toBe('2.5');
  expect(owed(feature('a', 'm1', 0), feature('b', 'm1', 11))).toBe('0.5');
  expect(owed(feature('a', 'm1', 0), feature('b', 'm1', null))).toBe('0');
});

it('reads amounts with all their digits, and nothing else as an amount', () => {
  const text =
    '{"a":12345678901234567890.5,"b":1,"c":"x 12345678901234567890 \\"1","d":-0.123456789012345678}';
  const parsed = { a: '12345678901234567890.5', b: 1, c: 'x 12345678901234567890 "1' };
  expect(parseExactJson(text)).toEqual({ ...parsed, d: '-0.123456789012345678' });
  expect(() => parseExactJson('{')).toThrow(SyntaxError);
  for (const one of ['0', '-1.5', '1234567890123456789012345.000000000001']) {
    expect(textOfUnits(unitsOf(one) ?? -1n)).toBe(one);
  }
  for (const other of [
    Number.NaN,
    Infinity,
    1e300,
    1e-13,
    '1e3',
    '',
    '1.',
    '0.0000000000001',
    '1'.repeat(200),
  ]) {
    expect(unitsOf(other)).toBeUndefined();
  }
});
