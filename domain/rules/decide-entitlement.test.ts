import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { numberText } from '../../schemas/primitives/exact-json.ts';
import type { CreditReading } from './credit-cover.ts';
import { decideEntitlement, type EntitlementFacts } from './decide-entitlement.ts';
import type { EffectiveEntitlement, EntitlementView } from './resolve-entitlements.ts';

/*
 * One decision from the known facts.
 *
 * Mutants that turn it red: < instead of <= at the limit; the requested number left out; the default of 1 for
 * a limit; remaining below 0; decimals as doubles; soft ignored; the customer's status checked too late; the
 * value of an override hidden by a pause; credits that pay for what was used before.
 */
const NOTHING_HELD: EntitlementView = { features: new Map(), withheld: new Map(), standing: 'none' };
const question = { customerId: 'cus_a', featureKey: 'f' };
const RESETS_MS = Date.UTC(2026, 11, 1);
const GRACE_MS = Date.UTC(2026, 10, 28);

function customerGrants(held: Partial<EffectiveEntitlement>): EntitlementView {
  const plain: EffectiveEntitlement = {
    type: 'boolean',
    meterKey: null,
    value: true,
    soft: false,
    sources: ['plan:pro'],
    contributions: [{ source: 'plan:pro', value: true }],
    isOverride: false,
    graceEndsMs: undefined,
  };
  return { features: new Map([['f', { ...plain, ...held }]]), withheld: new Map(), standing: 'counts' };
}

function decide(view: EntitlementView, more: Partial<EntitlementFacts> & { requested?: string } = {}) {
  const { requested, ...facts } = more;
  const featureType = view.features.get('f')?.type ?? 'boolean';
  return decideEntitlement({ ...question, requested }, { customer: 'active', featureType, view, ...facts });
}

function metered(current: string, limit: string | null, held: Partial<EffectiveEntitlement> = {}) {
  const view = customerGrants({ type: 'metered', meterKey: 'm', value: limit, ...held });
  return (requested?: string, credit?: CreditReading) => {
    const counter = { current, resetsAtMs: RESETS_MS, asOfMs: 0 };
    return decide(view, { counter, credit, ...(requested === undefined ? {} : { requested }) });
  };
}

describe('a decision', () => {
  it('names the customer before the feature, and the feature before what is held', () => {
    const none = { featureType: undefined };
    expect(decide(NOTHING_HELD, { ...none, customer: 'unknown' })).toEqual({
      allowed: false,
      reason: 'There is no customer cus_a.',
      reasonCode: 'customer_not_found',
      ...question,
    });
    expect(decide(NOTHING_HELD, { ...none, customer: 'archived' }).reasonCode).toBe('customer_archived');
    expect(decide(NOTHING_HELD, none).reasonCode).toBe('feature_not_found');
    expect(decide(NOTHING_HELD)).toMatchObject({
      reasonCode: 'no_active_subscription',
      type: 'boolean',
      sources: [],
    });
  });

  it.each([
    ['none', undefined, 'no_active_subscription'],
    ['counts', undefined, 'feature_not_included'],
    ['past_due', undefined, 'subscription_past_due'],
    ['paused', undefined, 'subscription_paused'],
    ['counts', 'past_due', 'subscription_past_due'],
    ['counts', 'paused', 'subscription_paused'],
    ['past_due', 'paused', 'subscription_paused'],
  ] as const)('where subscriptions give %s and the feature is withheld as %s: %s', (standing, why, code) => {
    const withheld = new Map(why === undefined ? [] : [['f', why]]);
    const decision = decide({ features: new Map(), withheld, standing });
    expect(decision).toMatchObject({ allowed: false, reasonCode: code, sources: [] });
    const off = customerGrants({ value: false });
    const expected = why === undefined ? 'feature_not_included' : code;
    expect(decide({ ...off, withheld, standing }).reasonCode).toBe(expected);
  });

  it('of a flag is its value, whatever number is requested', () => {
    expect(decide(customerGrants({}), { requested: '5' })).toEqual({
      allowed: true,
      reason: 'f is included.',
      reasonCode: 'granted',
      ...question,
      type: 'boolean',
      sources: ['plan:pro'],
      effectiveValue: true,
      contributions: [{ source: 'plan:pro', value: true }],
    });
    expect(decide(customerGrants({ value: false }))).toMatchObject({ allowed: false, effectiveValue: false });
  });

  it('of a limit compares the requested number, by default 0, and names it in its reason', () => {
    const seats = customerGrants({ type: 'limit', value: '5' });
    expect(decide(seats)).toMatchObject({
      allowed: true,
      reason: '0 requested, within the limit of 5 for f.',
    });
    expect(decide(seats, { requested: '5' }).reasonCode).toBe('granted');
    const rejected = decide(seats, { requested: '5.000000000001' });
    const reason = '5.000000000001 requested, beyond the limit of 5 for f.';
    expect(rejected).toMatchObject({ allowed: false, reasonCode: 'limit_reached', reason });
    expect([rejected.limit, rejected.effectiveValue].map(numberText)).toEqual(['5', '5']);
    expect(rejected).not.toHaveProperty('current');
  });

  it('of a metered feature requests one more than was used by default', () => {
    expect(metered('9', '10')()).toMatchObject({ allowed: true, reasonCode: 'granted' });
    const rejected = metered('10', '10')();
    expect(rejected).toMatchObject({
      allowed: false,
      reasonCode: 'limit_reached',
      reason: '10 used and 1 requested, beyond the limit of 10 for f; it resets at 2026-12-01T00:00:00.000Z.',
      resetsAt: '2026-12-01T00:00:00.000Z',
      asOf: '1970-01-01T00:00:00.000Z',
    });
    expect(metered('10', '10')('0').allowed).toBe(true);
    expect(numberText(metered('12', '10')().remaining)).toBe('0');
    expect(numberText(metered('-2.5', '10')().remaining)).toBe('12.5');
  });

  it('lets a soft limit be passed, and reports that before an overdue payment', () => {
    const late = { graceEndsMs: GRACE_MS };
    expect(metered('10', '10', { soft: true })()).toMatchObject({
      allowed: true,
      reasonCode: 'granted_soft_limit_exceeded',
      reason: '10 used and 1 requested, beyond the soft limit of 10 for f.',
    });
    expect(metered('10', '10', { ...late, soft: true })().reasonCode).toBe('granted_soft_limit_exceeded');
    expect(metered('1', '10', late)()).toMatchObject({
      reasonCode: 'granted_grace_period',
      reason:
        '1 used and 1 requested, within the limit of 10 for f; payment is overdue, and grace ends at ' +
        '2026-11-28T00:00:00.000Z.',
    });
    expect(metered('10', '10', late)().reasonCode).toBe('limit_reached');
  });

  it('without a limit has a value of null, no limit, and what was used', () => {
    const decision = metered('7', null)('1');
    expect(decision).toMatchObject({ allowed: true, reasonCode: 'granted_unlimited', effectiveValue: null });
    expect(numberText(decision.current)).toBe('7');
    expect(decision).not.toHaveProperty('limit');
    expect(decision).not.toHaveProperty('remaining');
    expect(decide(customerGrants({ type: 'limit', value: null }), { requested: '99' }).allowed).toBe(true);
  });

  const OVERRIDE = { isOverride: true, sources: ['override'] };

  it('of an override is reported, also where a subscription is paused', () => {
    const withheld = new Map([['f', 'paused' as const]]);
    const sayings = (['granted', 'denied'] as const).map((what) => {
      const view = customerGrants({ ...OVERRIDE, value: what === 'granted' });
      return decide({ ...view, withheld, standing: 'paused' });
    });
    expect(sayings).toMatchObject([
      { allowed: true, reasonCode: 'granted_by_override', reason: 'f is given by an override.' },
      { allowed: false, reasonCode: 'override_denied', reason: 'An override takes f away.' },
    ]);
    expect(sayings[1]?.sources).toEqual(['override']);
  });

  it('of an override of a limit compares as ever; 0 takes it away, and null has no end', () => {
    const reasons = (value: string | null, requested: string) => {
      const { reasonCode, reason } = decide(customerGrants({ ...OVERRIDE, type: 'limit', value }), {
        requested,
      });
      return [reasonCode, reason];
    };
    expect(reasons('5', '5')).toEqual([
      'granted_by_override',
      '5 requested, within the limit of 5 for f by an override.',
    ]);
    expect(reasons('5', '6')).toEqual([
      'limit_reached',
      '6 requested, beyond the limit of 5 for f by an override.',
    ]);
    expect(reasons('0', '1')).toEqual(['override_denied', '1 requested, and an override takes f away.']);
    expect(reasons('0', '0')[0]).toBe('granted_by_override');
    expect(reasons(null, '9')).toEqual([
      'granted_by_override',
      '9 requested, and f is unlimited by an override.',
    ]);
    const credit = { balance: '9', unpaid: '0', rate: '1' };
    expect(metered('0', '0', OVERRIDE)('1', credit).reasonCode).toBe('override_denied');
    expect(metered('7', '7', OVERRIDE)('1', credit).reasonCode).toBe('granted_by_credit');
  });

  it('beyond a limit is paid by credits, if they reach for the part beyond it', () => {
    const credit = { balance: '2', unpaid: '0', rate: '0.5' };
    expect(metered('8', '10')('6', credit)).toMatchObject({
      allowed: true,
      reasonCode: 'granted_by_credit',
      reason: '8 used and 6 requested, beyond the limit of 10 for f: 4 more cost 2 credits, and 2 are left.',
      sources: ['plan:pro', 'credit'],
    });
    expect(metered('8', '10')('2', credit)).toMatchObject({ reasonCode: 'granted', sources: ['plan:pro'] });
    expect(metered('8', '10')('6.000000000001', credit)).toMatchObject({
      allowed: false,
      reasonCode: 'insufficient_credit',
      reason:
        '8 used and 6.000000000001 requested, beyond the limit of 10 for f: 4.000000000001 more cost ' +
        '2.0000000000005 credits, and 2 are left; it resets at 2026-12-01T00:00:00.000Z.',
      sources: ['plan:pro'],
    });
    // What was used beyond the limit is burnt already.
    expect(metered('99', '10')('4', credit).reasonCode).toBe('granted_by_credit');
    expect(metered('99', '10')('5', credit).reasonCode).toBe('insufficient_credit');
    expect(metered('99', '10')('0', credit).reasonCode).toBe('granted_by_credit');
    expect(metered('99', '10', { soft: true })('5', credit).reasonCode).toBe('granted_soft_limit_exceeded');
    const late = { graceEndsMs: GRACE_MS };
    expect(metered('10', '10', late)('1', credit)).toMatchObject({
      reasonCode: 'granted_by_credit',
      reason: expect.stringMatching(
        /0\.5 credits, and 2 are left; payment is overdue, and grace ends at 2026-11-28T/,
      ),
    });
    expect(metered('10', null)('9', credit).reasonCode).toBe('granted_unlimited');
  });

  it('without a credit is not paid for, and an unpaid rest counts against it', () => {
    const none = { balance: '0', unpaid: '0', rate: '0.5' };
    expect(metered('10', '10')('1', none).reasonCode).toBe('insufficient_credit');
    expect(metered('11', '10')('0', none).reasonCode).toBe('insufficient_credit');
    expect(metered('10', '10')('1', { ...none, unpaid: '0.000000000000000000000001' }).reason).toBe(
      '10 used and 1 requested, beyond the limit of 10 for f: 1 more cost 0.5 credits, and ' +
        '0.000000000000000000000001 are unpaid; it resets at 2026-12-01T00:00:00.000Z.',
    );
  });

  it('is exact to the last digit', () => {
    const units = fc.bigInt(0n, 10n ** 27n - 1n);
    fc.assert(
      fc.property(units, units, fc.constantFrom(-1n, 0n, 1n), (used, wanted, off) => {
        const limit = used + wanted + off;
        fc.pre(limit >= 0n);
        expect(metered(textOf(used), textOf(limit))(textOf(wanted)).allowed).toBe(off >= 0n);
      }),
    );
  });
});

function textOf(units: bigint): string {
  const one = 10n ** 12n;
  return `${units / one}.${String(units % one).padStart(12, '0')}`;
}
