import fc from 'fast-check';
import type { FeatureType } from '../../schemas/resources/entitlement-values.ts';
import { SUBSCRIPTION_STATUSES, type SubscriptionStatus } from '../../schemas/value-sets.ts';

/*
 * Random catalogues with customers, and a second reading of the contract that goes feature by feature over
 * them and shares no code with the product.
 */
export const DAY_MS = 86_400_000;
export const NOW_MS = Date.UTC(2026, 10, 21);
export const TYPES: Record<string, FeatureType> = {
  sso: 'boolean',
  audit: 'boolean',
  seats: 'limit',
  calls: 'metered',
};
export const KEYS = Object.keys(TYPES);
const ONE = 10n ** 12n;

/** Of one feature: a flag, or units of 10^-12, or null for unlimited. */
export interface Given {
  value: boolean | bigint | null;
  soft: boolean;
}

export type Giving = Partial<Record<string, Given>>;

export interface Subscribed {
  status: SubscriptionStatus;
  sinceMs: number;
  startsMs: number;
  plan: number;
  addons: Array<{ addon: number; quantity: number }>;
}

/** A value in place of all others, until then. */
export interface Overriding {
  value: Given['value'];
  untilMs: number | null;
}

export interface Case {
  graceDays: number;
  plans: Giving[];
  addons: Giving[];
  subscriptions: Subscribed[];
  overrides: Partial<Record<string, Overriding>>;
}

/** A question about a feature of such a customer. Amounts are units of 10^-12. */
export interface Question {
  customer: 'unknown' | 'archived' | 'active';
  key: string;
  /** Left out: 1 of what is metered, else 0. */
  requested: bigint | undefined;
  used: bigint;
  /** Credits for one unit; undefined: the meter has no rate. Of the wallet one is zero. */
  credit: { rate: bigint; balance: bigint; unpaid: bigint } | undefined;
}

const flag = fc.record({ value: fc.boolean(), soft: fc.constant(false) });
const units = fc.oneof(fc.constantFrom(0n, 1n, ONE, 10n ** 27n - 1n), fc.bigInt(0n, 20n * ONE));
const amount = fc.record({ value: fc.oneof(fc.constant(null), units, units), soft: fc.boolean() });
const giving: fc.Arbitrary<Giving> = fc.record(
  { sso: flag, audit: flag, seats: amount, calls: amount },
  { requiredKeys: [] },
);
const around = fc
  .tuple(fc.integer({ min: -3, max: 3 }), fc.constantFrom(-1, 0, 1))
  .map(([days, ms]) => NOW_MS + days * DAY_MS + ms);
const PLACES = 3;
const subscribed: fc.Arbitrary<Subscribed> = fc.record({
  status: fc.constantFrom(...SUBSCRIPTION_STATUSES),
  sinceMs: around.map((ms) => (ms > NOW_MS + 1 ? NOW_MS : ms)),
  startsMs: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: around }),
  plan: fc.nat(PLACES - 1),
  addons: fc.uniqueArray(
    fc.record({ addon: fc.nat(PLACES - 1), quantity: fc.integer({ min: 1, max: 1_000_000 }) }),
    { selector: ({ addon }) => addon, maxLength: PLACES },
  ),
});
const overriding = (given: fc.Arbitrary<Given>): fc.Arbitrary<Overriding> =>
  fc.record({ value: given.map(({ value }) => value), untilMs: fc.oneof(fc.constant(null), around) });

export const cases: fc.Arbitrary<Case> = fc.record({
  graceDays: fc.nat(3),
  plans: fc.array(giving, { minLength: PLACES, maxLength: PLACES }),
  addons: fc.array(giving, { minLength: PLACES, maxLength: PLACES }),
  subscriptions: fc.array(subscribed, { maxLength: 4 }),
  overrides: fc.record({ audit: overriding(flag), calls: overriding(amount) }, { requiredKeys: [] }),
});

export const questions: fc.Arbitrary<Question> = fc.record({
  customer: fc.constantFrom('active', 'active', 'active', 'active', 'active', 'archived', 'unknown'),
  key: fc.constantFrom('sso', 'audit', 'seats', 'calls', 'calls', 'calls', 'gone'),
  requested: fc.oneof(fc.constant(undefined), units),
  used: fc.oneof(fc.bigInt(-ONE, 40n * ONE), units),
  credit: fc.oneof(
    fc.constant(undefined),
    fc.record({
      rate: fc.constantFrom(1n, ONE / 2n, ONE),
      balance: fc.oneof(fc.constant(0n), fc.bigInt(0n, 40n * ONE * ONE)),
      unpaid: fc.constant(0n),
    }),
    fc.record({ rate: fc.constant(ONE), balance: fc.constant(0n), unpaid: fc.bigInt(1n, ONE) }),
  ),
});

/** What a feature is worth to the customer, and why; undefined where it has nothing of it. */
export function heldOf(one: Case, key: string) {
  const override = one.overrides[key];
  if (override && (override.untilMs === null || override.untilMs > NOW_MS)) {
    const whole = { source: 'override', value: override.value, times: 1n };
    return {
      value: override.value,
      soft: false,
      sources: ['override'],
      contributions: [whole],
      graceEndsMs: undefined,
    };
  }
  let all = one.subscriptions
    .filter((sub) => countsFor(sub, one))
    .flatMap((sub) => givenBy(sub, one, key).map((each) => ({ ...each, sub })));
  if (all.length === 0) return undefined;
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
  const contributions = partsOf(all, value);
  return { value, soft, sources, contributions, graceEndsMs };
}

/** What a value is made of: each value that one source gives, and how often the customer has it. */
function partsOf(all: ReturnType<typeof givenBy>, value: Given['value']) {
  const parts: Array<{ source: string; value: Given['value']; times: bigint }> = [];
  for (const { source, given, times } of all) {
    if (value === null && given.value !== null) continue;
    const known = parts.find((part) => part.source === source && part.value === given.value);
    if (known) known.times += BigInt(times);
    else parts.push({ source, value: given.value, times: BigInt(times) });
  }
  return parts;
}

/** What is in the way of a feature, and of the customer as a whole. */
export function blockersOf(one: Case, key: string) {
  const begun = one.subscriptions.filter(({ startsMs }) => startsMs <= NOW_MS);
  const overdue = begun.filter(
    (sub) => sub.status === 'unpaid' || (sub.status === 'past_due' && !countsFor(sub, one)),
  );
  const paused = begun.filter(({ status }) => status === 'paused');
  const gives = (sub: Subscribed) => givenBy(sub, one, key).some(({ given }) => given.value !== false);
  const fallback = overdue.length > 0 ? 'past_due' : paused.length > 0 ? 'paused' : 'none';
  return {
    withheld: overdue.some(gives) ? 'past_due' : paused.some(gives) ? 'paused' : undefined,
    standing: one.subscriptions.some((sub) => countsFor(sub, one)) ? 'counts' : fallback,
  };
}

/** The reason code of a decision. */
export function codeOf(one: Case, { customer, key, requested, used, credit }: Question): string {
  if (customer === 'unknown') return 'customer_not_found';
  if (customer === 'archived') return 'customer_archived';
  if (key === 'gone') return 'feature_not_found';
  const held = heldOf(one, key);
  const isOverride = held?.sources[0] === 'override';
  if (isOverride && held?.value === false) return 'override_denied';
  if (!held || held.value === false) return codeOfNothing(one, key, held !== undefined);
  const plain = isOverride
    ? 'granted_by_override'
    : held.graceEndsMs !== undefined
      ? 'granted_grace_period'
      : held.value === null
        ? 'granted_unlimited'
        : 'granted';
  if (held.value === true || held.value === null) return plain;
  const isMetered = key === 'calls';
  const more = requested ?? (isMetered ? ONE : 0n);
  const before = isMetered ? used : 0n;
  if (before + more <= held.value) return plain;
  if (held.soft) return 'granted_soft_limit_exceeded';
  if (isOverride && held.value === 0n) return 'override_denied';
  if (!isMetered || !credit) return 'limit_reached';
  const paidFor = before > held.value ? more : before + more - held.value;
  const left = credit.balance - credit.unpaid;
  return left > 0n && paidFor * credit.rate <= left ? 'granted_by_credit' : 'insufficient_credit';
}

function codeOfNothing(one: Case, key: string, isGivenAsOff: boolean): string {
  const { withheld, standing } = blockersOf(one, key);
  if (withheld === 'past_due') return 'subscription_past_due';
  if (withheld === 'paused') return 'subscription_paused';
  if (isGivenAsOff || standing === 'counts') return 'feature_not_included';
  if (standing === 'past_due') return 'subscription_past_due';
  return standing === 'paused' ? 'subscription_paused' : 'no_active_subscription';
}

function countsFor({ status, sinceMs, startsMs }: Subscribed, { graceDays }: Case): boolean {
  if (startsMs > NOW_MS) return false;
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
