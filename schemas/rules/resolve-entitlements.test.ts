import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FeatureType } from '../resources/entitlement-values.ts';
import {
  type Grant,
  type HeldSubscription,
  type Holdings,
  resolveEntitlements,
} from './resolve-entitlements.ts';
import { SUBSCRIPTION_STATUSES, type SubscriptionStatus } from './subscription-status.ts';

/*
 * What a customer holds, against a second reading of the contract that goes feature by feature over the
 * catalogue and shares no code with the product.
 *
 * Breaks that turn it red: quantity left out; the first amount in place of the sum; null as 0; grace with <=;
 * unpaid or paused counted; AND in place of OR; soft of the last grant; a source twice.
 */
const DAY_MS = 86_400_000;
const NOW_MS = Date.UTC(2026, 10, 21);
const TYPES: Record<string, FeatureType> = {
  sso: 'boolean',
  audit: 'boolean',
  seats: 'limit',
  calls: 'metered',
};
const KEYS = Object.keys(TYPES);
const ONE = 10n ** 12n;

/** Of one feature: a flag, or units of 10^-12, or null for unlimited. */
interface Given {
  value: boolean | bigint | null;
  soft: boolean;
}

type Giving = Partial<Record<string, Given>>;

interface Subscribed {
  status: SubscriptionStatus;
  sinceMs: number;
  plan: number;
  addons: Array<{ addon: number; quantity: number }>;
}

interface Case {
  graceDays: number;
  plans: Giving[];
  addons: Giving[];
  subscriptions: Subscribed[];
}

const flag = fc.record({ value: fc.boolean(), soft: fc.constant(false) });
const amount = fc.record({
  value: fc.oneof(fc.constantFrom(null, 0n, 1n, ONE, 10n ** 27n - 1n), fc.bigInt(0n, 20n * ONE)),
  soft: fc.boolean(),
});
const giving: fc.Arbitrary<Giving> = fc.record(
  { sso: flag, audit: flag, seats: amount, calls: amount },
  { requiredKeys: [] },
);
const PLACES = 3;
const subscribed: fc.Arbitrary<Subscribed> = fc.record({
  status: fc.constantFrom(...SUBSCRIPTION_STATUSES),
  sinceMs: fc
    .tuple(fc.integer({ min: 0, max: 3 }), fc.constantFrom(-1, 0, 1))
    .map(([days, ms]) => NOW_MS - days * DAY_MS + ms),
  plan: fc.nat(PLACES - 1),
  addons: fc.uniqueArray(
    fc.record({ addon: fc.nat(PLACES - 1), quantity: fc.integer({ min: 1, max: 1_000_000 }) }),
    { selector: ({ addon }) => addon, maxLength: PLACES },
  ),
});
const cases: fc.Arbitrary<Case> = fc.record({
  graceDays: fc.nat(3),
  plans: fc.array(giving, { minLength: PLACES, maxLength: PLACES }),
  addons: fc.array(giving, { minLength: PLACES, maxLength: PLACES }),
  subscriptions: fc.array(subscribed, { maxLength: 4 }),
});

describe('what a customer holds', () => {
  it('is what a second, plain reading of the contract says', () => {
    fc.assert(
      fc.property(cases, (one) => {
        const { features } = resolveEntitlements(holdingsOf(one), NOW_MS);
        const seen = Object.fromEntries(
          [...features].map(([key, { value, soft, sources, graceEndsMs }]) => [
            key,
            { value: typeof value === 'string' ? unitsOf(value) : value, soft, sources, graceEndsMs },
          ]),
        );
        expect(seen).toEqual(expectedOf(one));
      }),
      { numRuns: 20_000 },
    );
  });

  it('says of the rest what is in its way', () => {
    fc.assert(
      fc.property(cases, (one) => {
        const { withheld, standing } = resolveEntitlements(holdingsOf(one), NOW_MS);
        const overdue = one.subscriptions.filter(
          (sub) => sub.status === 'unpaid' || (sub.status === 'past_due' && !countsFor(sub, one)),
        );
        const paused = one.subscriptions.filter(({ status }) => status === 'paused');
        for (const key of KEYS) {
          const gives = (sub: Subscribed) =>
            givenBy(sub, one, key).some(({ given }) => given.value !== false);
          const expected = overdue.some(gives) ? 'past_due' : paused.some(gives) ? 'paused' : undefined;
          expect(withheld.get(key)).toBe(expected);
        }
        const fallback = overdue.length > 0 ? 'past_due' : paused.length > 0 ? 'paused' : 'none';
        expect(standing).toBe(one.subscriptions.some((sub) => countsFor(sub, one)) ? 'counts' : fallback);
      }),
      { numRuns: 5_000 },
    );
  });
});

function expectedOf(one: Case): Record<string, unknown> {
  const expected: Record<string, unknown> = {};
  for (const key of KEYS) {
    let all = one.subscriptions
      .filter((sub) => countsFor(sub, one))
      .flatMap((sub) => givenBy(sub, one, key).map((each) => ({ ...each, sub })));
    if (all.length === 0) continue;
    const soft = all.filter(({ given }) => given.soft).length > 0;
    let value: boolean | bigint | null = null;
    if (TYPES[key] === 'boolean') {
      value = all.filter(({ given }) => given.value === true).length > 0;
      all = all.filter(({ given }) => given.value === value);
    } else if (!all.some(({ given }) => given.value === null)) {
      value = 0n;
      for (const { given, times } of all) value += (given.value as bigint) * BigInt(times);
    }
    const sources: string[] = [];
    for (const { source } of all) if (!sources.includes(source)) sources.push(source);
    const isGrace = all.filter(({ sub }) => sub.status !== 'past_due').length === 0;
    const lastSinceMs = all.map(({ sub }) => sub.sinceMs).sort((a, b) => b - a)[0] ?? 0;
    const graceEndsMs = isGrace ? lastSinceMs + one.graceDays * DAY_MS : undefined;
    expected[key] = { value, soft, sources, graceEndsMs };
  }
  return expected;
}

function countsFor({ status, sinceMs }: Subscribed, { graceDays }: Case): boolean {
  const isLate = NOW_MS - sinceMs >= graceDays * DAY_MS;
  return status === 'trialing' || status === 'active' || (status === 'past_due' && !isLate);
}

/** What a subscription would give of a feature: its plan first, then its add-ons as they are attached. */
function givenBy({ plan, addons }: Subscribed, one: Case, key: string) {
  const found: Array<{ given: Given; times: number; source: string }> = [];
  const ofPlan = one.plans[plan]?.[key];
  if (ofPlan) found.push({ given: ofPlan, times: 1, source: `plan:p${plan}` });
  for (const { addon, quantity } of addons) {
    const given = one.addons[addon]?.[key];
    if (given) found.push({ given, times: quantity, source: `addon:a${addon}` });
  }
  return found;
}

/** The rows that such a catalogue has. */
function holdingsOf({ graceDays, plans, addons, subscriptions }: Case): Holdings {
  return {
    graceMs: graceDays * DAY_MS,
    subscriptions: subscriptions.map((one) => ({
      ...LIFE,
      status: one.status,
      statusSinceMs: one.sinceMs,
      grants: [
        ...grantsOf(plans[one.plan] ?? {}, `plan:p${one.plan}`, 1),
        ...one.addons.flatMap(({ addon, quantity }) =>
          grantsOf(addons[addon] ?? {}, `addon:a${addon}`, quantity),
        ),
      ],
    })),
  };
}

const LIFE: Omit<HeldSubscription, 'status' | 'statusSinceMs' | 'grants'> = {
  createdAtMs: 0,
  canceledAtMs: null,
  cycle: { anchorMs: 0, intervalMonths: 1, intervalMs: null },
};

function grantsOf(given: Giving, source: string, quantity: number): Grant[] {
  return Object.entries(given).map(([featureKey, { value, soft } = { value: null, soft: false }]) => ({
    featureKey,
    type: TYPES[featureKey] ?? 'boolean',
    meterKey: featureKey === 'calls' ? 'calls' : null,
    source,
    quantity,
    enabled: typeof value === 'boolean' ? value : null,
    amount: typeof value === 'bigint' ? textOf(value) : null,
    soft,
  }));
}

function textOf(units: bigint): string {
  return `${units / ONE}.${String(units % ONE).padStart(12, '0')}`;
}

function unitsOf(text: string): bigint {
  const [integer = '', fraction = ''] = text.split('.');
  return BigInt(integer + fraction.padEnd(12, '0'));
}
