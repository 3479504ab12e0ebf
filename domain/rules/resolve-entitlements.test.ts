import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { numberText } from '../../schemas/primitives/exact-json.ts';
import { REASON_CODES } from '../../schemas/reason-codes.ts';
import type { Contribution } from '../../schemas/resources/entitlements.ts';
import { decideEntitlement } from './decide-entitlement.ts';
import {
  blockersOf,
  type Case,
  cases,
  codeOf,
  DAY_MS,
  type Given,
  type Giving,
  heldOf,
  KEYS,
  NOW_MS,
  type Question,
  questions,
  TYPES,
} from './entitlement-oracle.ts';
import {
  type CustomerGrants,
  type EntitlementView,
  type Grant,
  type HeldSubscription,
  nextTurnMs,
  resolveEntitlements,
} from './resolve-entitlements.ts';

/*
 * What a customer has and may do, against the second reading of the contract in entitlement-oracle.ts.
 *
 * Mutants that turn it red: quantity left out; the first amount instead of the sum; null as 0; grace with <=;
 * unpaid or paused counted; AND instead of OR; soft of the last grant; a source twice. An override that has
 * expired, that counts at its end, or is added to the rest; credits before a soft limit, that pay for what
 * was used before, or without the unpaid rest. A contribution for each subscription, without its quantity,
 * of two values of one plan as one, or of a limit where another source makes it unlimited; no bound on them.
 */

/** Four thousand take most of a second of a core that does nothing else. */
const LONG = { timeout: 60_000 };

describe('what a customer holds and may do', () => {
  it('is the result of a second, plain reading of the contract, by every reason code', LONG, () => {
    const seen = new Set<string>();
    fc.assert(
      fc.property(cases, questions, (one, question) => {
        const view = resolveEntitlements(customerGrantsOf(one), NOW_MS);
        const { allowed, reasonCode, sources } = decide(view, question);
        const isByCredit = sources?.includes('credit') ?? false;
        expect([...KEYS.map((key) => viewText(view, key)), reasonCode, allowed, isByCredit].join('\n')).toBe(
          expectedOf(one, question).join('\n'),
        );
        seen.add(reasonCode);
      }),
      { numRuns: 4_000 },
    );
    expect([...seen].sort()).toEqual([...REASON_CODES].sort());
  });

  it('adds up to the value from what each source contributes', LONG, () => {
    fc.assert(
      fc.property(cases, questions, (one, question) => {
        const view = resolveEntitlements(customerGrantsOf(one), NOW_MS);
        for (const { value, contributions = [] } of view.features.values()) {
          expect(contributions.length).toBeGreaterThan(0);
          expect(addedUp(contributions)).toBe(typeof value === 'string' ? unitsOf(value) : value);
        }
        const { effectiveValue, contributions } = decide(view, question);
        const held = view.features.get(question.key);
        expect(contributions).toBe(effectiveValue === undefined ? undefined : held?.contributions);
      }),
      { numRuns: 2_000 },
    );
  });

  it('leaves out the contributions when there are too many to list', () => {
    const contributions = (count: number) => {
      const one = { featureKey: 'seats', type: 'limit', meterKey: null, enabled: null, soft: false } as const;
      const grants = Array.from({ length: count }, (_, at) => ({
        ...one,
        source: `addon:${at}`,
        quantity: 2,
      }));
      const given = grants.map((grant) => ({ ...grant, amount: '1' }));
      const held = { ...LIFE, status: 'active', statusSinceMs: 0, startsAtMs: 0, grants: given } as const;
      const customerGrants = { graceMs: 0, subscriptions: [held], overrides: [] };
      return resolveEntitlements(customerGrants, NOW_MS).features.get('seats')?.contributions;
    };
    expect([100, 101].map((count) => contributions(count)?.length)).toEqual([100, undefined]);
  });

  it('stays the same up to the next turn, if nothing else happens', LONG, () => {
    fc.assert(
      fc.property(cases, (one) => {
        const customerGrants = customerGrantsOf(one);
        const now = shownView(resolveEntitlements(customerGrants, NOW_MS));
        const turnMs = nextTurnMs(customerGrants, NOW_MS);
        const lastMs = Math.min(turnMs, NOW_MS + 9 * DAY_MS) - 1;
        expect(shownView(resolveEntitlements(customerGrants, lastMs))).toEqual(now);
        expect(nextTurnMs(customerGrants, lastMs)).toBe(turnMs);
      }),
      { numRuns: 2_000 },
    );
  });
});

/** As text: an object takes ten times as long to compare. */
function expectedOf(one: Case, question: Question): unknown[] {
  const code = codeOf(one, question);
  const held = KEYS.map((key) => heldText(heldOf(one, key), blockersOf(one, key)));
  return [...held, code, code.startsWith('granted'), code === 'granted_by_credit'];
}

function viewText({ features, withheld, standing }: EntitlementView, key: string): string {
  const held = features.get(key);
  const blockers = { withheld: withheld.get(key), standing };
  if (!held) return heldText(undefined, blockers);
  const value = typeof held.value === 'string' ? unitsOf(held.value) : held.value;
  const contributions = (held.contributions ?? []).map((one) => ({
    source: one.source,
    value: amountOf(one),
    times: BigInt(one.quantity ?? 1),
  }));
  return heldText({ ...held, value, contributions }, blockers);
}

/** Amounts as units. */
function amountOf({ value }: Contribution): Given['value'] {
  return typeof value === 'string' ? unitsOf(numberText(value) ?? '') : value;
}

/** Booleans all have the same value, and so do those that are unlimited. */
function addedUp(contributions: Contribution[]): Given['value'] {
  const values = contributions.map((one) => ({ value: amountOf(one), times: BigInt(one.quantity ?? 1) }));
  const others = values.filter(({ value }) => typeof value !== 'bigint');
  if (others.length > 0) {
    expect(new Set(values.map(({ value }) => value)).size).toBe(1);
    return others[0]?.value ?? null;
  }
  return values.reduce((sum, { value, times }) => sum + (value as bigint) * times, 0n);
}

function heldText(held: ReturnType<typeof heldOf>, { withheld, standing }: Blockers): string {
  const parts = held?.contributions.map(({ source, value, times }) => `${source}=${value}*${times}`);
  const values = held ? [held.value, held.soft, held.sources, parts, held.graceEndsMs] : ['nothing'];
  return [...values, withheld, standing].join(' ');
}

type Blockers = Pick<ReturnType<typeof blockersOf>, 'standing'> & { withheld: string | undefined };

function decide(view: EntitlementView, { customer, key, requested: wanted, used, credit }: Question) {
  const requested = wanted === undefined ? {} : { requested: textOf(wanted) };
  return decideEntitlement(
    { customerId: 'cus_a', featureKey: key, ...requested },
    {
      customer,
      featureType: TYPES[key],
      view,
      ...(key === 'calls' ? { counter: { current: textOf(used), resetsAtMs: 0, asOfMs: 0 } } : {}),
      ...(key === 'calls' && credit
        ? {
            credit: {
              rate: textOf(credit.rate),
              balance: creditTextOf(credit.balance),
              unpaid: creditTextOf(credit.unpaid),
            },
          }
        : {}),
    },
  );
}

function shownView({ features, withheld, standing }: EntitlementView) {
  return { features: [...features], withheld: [...withheld], standing };
}

/** The rows that such a catalogue has. */
function customerGrantsOf({ graceDays, plans, addons, subscriptions, overrides }: Case): CustomerGrants {
  return {
    graceMs: graceDays * DAY_MS,
    subscriptions: subscriptions.map((one) => ({
      ...LIFE,
      status: one.status,
      statusSinceMs: one.sinceMs,
      startsAtMs: one.startsMs,
      grants: [
        ...grantsOf(plans[one.plan] ?? {}, `plan:p${one.plan}`, 1),
        ...one.addons.flatMap(({ addon, quantity }) =>
          grantsOf(addons[addon] ?? {}, `addon:a${addon}`, quantity),
        ),
      ],
    })),
    overrides: Object.entries(overrides).map(([featureKey, { value, untilMs } = NO_OVERRIDE]) => ({
      ...named(featureKey),
      value: typeof value === 'bigint' ? textOf(value) : value,
      expiresAtMs: untilMs,
    })),
  };
}

const NO_OVERRIDE = { value: null, untilMs: 0 };

const LIFE: Omit<HeldSubscription, 'status' | 'statusSinceMs' | 'startsAtMs' | 'grants'> = {
  createdAtMs: 0,
  canceledAtMs: null,
  cycle: { anchorMs: 0, interval: 'month', intervalCount: 1 },
  periodStartMs: 0,
  periodEndMs: Date.UTC(1970, 1, 1),
};

function grantsOf(given: Giving, source: string, quantity: number): Grant[] {
  return Object.entries(given).map(([featureKey, { value, soft } = { value: null, soft: false }]) => ({
    ...named(featureKey),
    source,
    quantity,
    enabled: typeof value === 'boolean' ? value : null,
    amount: typeof value === 'bigint' ? textOf(value) : null,
    soft,
  }));
}

function named(featureKey: string): Pick<Grant, 'featureKey' | 'type' | 'meterKey'> {
  const type = TYPES[featureKey] ?? 'boolean';
  return { featureKey, type, meterKey: featureKey === 'calls' ? 'calls' : null };
}

function textOf(units: bigint): string {
  return placed(units, 12);
}

function creditTextOf(units: bigint): string {
  return placed(units, 24);
}

function placed(units: bigint, digits: number): string {
  const text = (units < 0n ? -units : units).toString().padStart(digits + 1, '0');
  return `${units < 0n ? '-' : ''}${text.slice(0, -digits)}.${text.slice(-digits)}`;
}

function unitsOf(text: string): bigint {
  const [integer = '', fraction = ''] = text.split('.');
  return BigInt(integer + fraction.padEnd(12, '0'));
}
