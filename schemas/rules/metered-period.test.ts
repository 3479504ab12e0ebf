import { describe, expect, it } from 'vitest';
import { meteredLimit, meteredPeriod } from './metered-period.ts';
import { type Grant, type HeldSubscription, resolveEntitlements } from './resolve-entitlements.ts';

/*
 * Which period a meter is counted in.
 *
 * Breaks that turn it red: the newest subscription in place of the oldest; a paused one before one that
 * counts; one that has ended, or not begun, at the moment; one that meters something else; limits added up.
 */
const NOW_MS = Date.parse('2026-11-21T12:00:00Z');
const DAY_MS = 86_400_000;

const CALLS: Grant = {
  featureKey: 'calls',
  type: 'metered',
  meterKey: 'api_calls',
  source: 'plan:pro',
  quantity: 1,
  enabled: null,
  amount: '10',
  soft: false,
};

/** From this day of last January on, month by month. */
function since(day: number, more: Partial<HeldSubscription> = {}): HeldSubscription {
  const anchorMs = Date.UTC(2026, 0, day);
  return {
    status: 'active',
    statusSinceMs: anchorMs,
    createdAtMs: anchorMs,
    canceledAtMs: null,
    startsAtMs: anchorMs,
    cycle: { anchorMs, interval: 'month', intervalCount: 1 },
    periodStartMs: anchorMs,
    periodEndMs: Date.UTC(2026, 1, day),
    grants: [CALLS],
    ...more,
  };
}

function periodOf(subscriptions: HeldSubscription[], at = '2026-11-21T12:00:00Z'): string {
  const question = { meterKey: 'api_calls', atMs: Date.parse(at), nowMs: NOW_MS };
  const { fromMs, toMs } = meteredPeriod({ graceMs: 7 * DAY_MS, subscriptions, overrides: [] }, question);
  return [fromMs, toMs].map((ms) => new Date(ms).toISOString().slice(0, 10)).join(' ');
}

const CALENDAR_MONTH = '2026-11-01 2026-12-01';

describe("a meter's period", () => {
  it('is that of the subscription that meters it, else the calendar month', () => {
    expect(periodOf([since(15)])).toBe('2026-11-15 2026-12-15');
    expect(periodOf([])).toBe(CALENDAR_MONTH);
    expect(periodOf([since(15, { grants: [{ ...CALLS, meterKey: 'other' }] })])).toBe(CALENDAR_MONTH);
    expect(periodOf([since(15, { grants: [{ ...CALLS, source: 'addon:more' }] })])).toBe(
      '2026-11-15 2026-12-15',
    );
  });

  it('is that of the oldest of several, one that counts before one that does not', () => {
    expect(periodOf([since(5), since(15)])).toBe('2026-11-05 2026-12-05');
    for (const status of ['paused', 'unpaid', 'past_due'] as const) {
      expect(periodOf([since(5, { status }), since(15)])).toBe('2026-11-15 2026-12-15');
      expect(periodOf([since(5, { status })])).toBe('2026-11-05 2026-12-05');
    }
    const inGrace = since(5, { status: 'past_due', statusSinceMs: NOW_MS - DAY_MS });
    expect(periodOf([inGrace, since(15)])).toBe('2026-11-05 2026-12-05');
    expect(periodOf([since(5, { status: 'incomplete' })])).toBe(CALENDAR_MONTH);
  });

  it('of another moment is the one that held then', () => {
    const first = since(5, { status: 'canceled', canceledAtMs: Date.UTC(2026, 8, 20) });
    const both = [first, since(15)];
    expect(periodOf(both, '2026-01-01T00:00:00Z')).toBe('2026-01-01 2026-02-01');
    expect(periodOf(both, '2026-09-19T23:59:59Z')).toBe('2026-09-05 2026-10-05');
    expect(periodOf(both, '2026-09-20T00:00:00Z')).toBe('2026-09-15 2026-10-15');
    expect(periodOf(both, '2027-02-20T00:00:00Z')).toBe('2027-02-15 2027-03-15');
  });

  it('reaches back over an anchor that was moved, to the day the subscription began', () => {
    const moved = since(5, { startsAtMs: Date.UTC(2025, 11, 20) });
    expect(periodOf([moved], '2025-12-24T00:00:00Z')).toBe('2025-12-05 2026-01-05');
    expect(periodOf([moved], '2025-12-19T00:00:00Z')).toBe('2025-12-01 2026-01-01');
  });
});

describe("a meter's limit", () => {
  const limitOf = (...grants: Array<Partial<Grant>>) => {
    const held = since(5, { grants: grants.map((grant) => ({ ...CALLS, ...grant })) });
    const view = resolveEntitlements({ graceMs: 0, subscriptions: [held], overrides: [] }, NOW_MS);
    return meteredLimit(view, 'api_calls');
  };

  it('is that of its feature, and of several features the largest', () => {
    expect(limitOf({ amount: '10' }, { amount: '5', source: 'addon:more', quantity: 3 })).toBe('25');
    expect(limitOf({ amount: '9' }, { amount: '10', featureKey: 'bulk' })).toBe('10');
  });

  it('is missing where there is none or no end', () => {
    expect(limitOf({ amount: '9' }, { amount: null, featureKey: 'bulk' })).toBeUndefined();
    expect(limitOf({ meterKey: 'other' })).toBeUndefined();
  });
});
