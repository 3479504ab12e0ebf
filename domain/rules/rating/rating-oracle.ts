/**
 * Random prices and usage for tests, and what they must cost: counted half unit by half unit, and event by
 * event, in plain integers. It shares no arithmetic with the pricers, so that no fault of them can hide here.
 */
import fc from 'fast-check';
import type { Price, PriceTier } from './price.ts';
import type { PeriodUsage } from './rate-price.ts';

/** One metered event: its value in halves of a unit, and the value of its property. */
export interface UsedEvent {
  halves: number;
  region: 'eu' | 'us' | undefined;
}

/** Of amounts: the smallest one in a price. */
const THOUSAND = 1_000;
/** Half a unit at a thousandth. */
const MONEY = 2 * THOUSAND;
const DIGITS = { USD: 2, JPY: 0, KWD: 3 } as const;

const thousandths = amounts(0);
/** No `maximum` is below a `minimum`. */
const bounds = amounts(4_000);
const halves = fc.integer({ min: 1, max: 120 });
const texts = halves.map((count) => String(count / 2));

function amounts(min: number): fc.Arbitrary<string> {
  return fc.integer({ min, max: min + 4_000 }).map((units) => String(units / THOUSAND));
}

/** Events in order. Some are corrections. */
export const usedEvents = fc.array(
  fc.record({
    halves: fc.oneof(
      { weight: 6, arbitrary: fc.integer({ min: 0, max: 60 }) },
      fc.integer({ min: -40, max: 0 }),
    ),
    region: fc.constantFrom<UsedEvent['region'][]>('eu', 'us', undefined),
  }),
  { maxLength: 14 },
);

const tiers = fc
  .record({
    ends: fc.uniqueArray(halves, { maxLength: 4 }),
    amounts: fc.array(thousandths, { minLength: 5, maxLength: 5 }),
    flats: fc.array(fc.option(thousandths, { nil: undefined }), { minLength: 5, maxLength: 5 }),
  })
  .map(({ ends, amounts, flats }): PriceTier[] => {
    const ascending = [...ends.toSorted((a, b) => a - b).map((end) => String(end / 2)), null];
    return ascending.map((upTo, at) => {
      const flatAmount = flats[at];
      return { upTo, unitAmount: amounts[at] ?? '0', ...(flatAmount === undefined ? {} : { flatAmount }) };
    });
  });

const common = fc.record(
  {
    key: fc.constant('price'),
    currency: fc.constantFrom('USD', 'JPY', 'KWD'),
    interval: fc.constant('month' as const),
    intervalCount: fc.constant(1),
    minimum: thousandths,
    maximum: bounds,
  },
  { requiredKeys: ['key', 'currency', 'interval', 'intervalCount'] },
);

function optional<T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> {
  return fc.option(arbitrary, { nil: undefined });
}

const models = [
  fc.record({ model: fc.constant('flat' as const), amount: thousandths }),
  fc.record({
    model: fc.constant('per_unit' as const),
    meterKey: fc.constant('calls'),
    unitAmount: thousandths,
    unitAmounts: optional(
      fc.record({
        property: fc.constant('region'),
        amounts: fc.record({ eu: thousandths, us: thousandths }),
      }),
    ),
    included: optional(texts),
  }),
  fc.record({
    model: fc.constantFrom('graduated' as const, 'volume' as const),
    meterKey: fc.constant('calls'),
    tiers,
  }),
  fc.record({
    model: fc.constant('package' as const),
    meterKey: fc.constant('calls'),
    size: texts,
    amount: thousandths,
    included: optional(texts),
  }),
  fc.record({
    model: fc.constant('percentage' as const),
    meterKey: fc.constant('calls'),
    rate: thousandths,
    fixed: optional(thousandths),
    min: optional(thousandths),
    max: optional(bounds),
  }),
  fc.record({
    model: fc.constant('seat' as const),
    featureKey: fc.constant('seats'),
    unitAmount: thousandths,
  }),
];

/** Of each model as often. */
export const prices: fc.Arbitrary<Price> = fc
  .tuple(common, fc.oneof(...models))
  .map(([first, second]) => withoutUndefined({ ...first, ...second }) as Price);

function withoutUndefined(fields: object): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** As the product would have read it. */
export function usageOf(price: Price, events: readonly UsedEvent[]): PeriodUsage {
  const units = (list: readonly UsedEvent[]) => BigInt(sumOf(list)) * (10n ** 12n / 2n);
  const total = units(events);
  if (price.model === 'per_unit' && price.unitAmounts) {
    const values = ['eu', 'us', undefined] as const;
    const of = (value: UsedEvent['region']) => events.filter(({ region }) => region === value);
    return { units: total, byValue: values.map((value) => ({ value, units: units(of(value)) })) };
  }
  if (price.model !== 'percentage') return { units: total };
  const kept = events.filter(({ halves: value }) => value >= 0);
  const bound = (name: 'min' | 'max') => kept.filter((event) => boundOf(price, event) === name);
  const free = kept.filter((event) => boundOf(price, event) === undefined);
  const corrections = events.filter(({ halves: value }) => value < 0);
  return {
    units: total,
    byBound: {
      total,
      units: units(free),
      events: BigInt(free.length),
      atMin: BigInt(bound('min').length),
      atMax: BigInt(bound('max').length),
      corrected: units(corrections),
    },
  };
}

function sumOf(events: readonly UsedEvent[]): number {
  return events.reduce((sum, event) => sum + event.halves, 0);
}

/** In units of 10^-24, rounded. */
export function expectedAmount(price: Price, events: readonly UsedEvent[]): bigint {
  const { minimum, maximum, currency } = price;
  let money = walk(price, events);
  if (maximum !== undefined) money = Math.min(money, inMoney(maximum));
  if (minimum !== undefined) money = Math.max(money, inMoney(minimum));
  const digits = DIGITS[currency as keyof typeof DIGITS];
  return BigInt(halfEven(money, MONEY / 10 ** digits)) * 10n ** BigInt(24 - digits);
}

/** In parts of {@link MONEY}. */
function walk(price: Price, events: readonly UsedEvent[]): number {
  const quantity = Math.max(0, sumOf(events));
  switch (price.model) {
    case 'flat':
      return quantity * inThousandths(price.amount);
    case 'seat':
      return quantity * inThousandths(price.unitAmount);
    case 'graduated':
      return (
        eachHalf(quantity, (at) => tierAt(price.tiers, at).unitAmount) + flatsUpTo(price.tiers, quantity)
      );
    case 'volume': {
      const tier = tierAt(price.tiers, quantity);
      return eachHalf(quantity, () => tier.unitAmount) + inMoney(tier.flatAmount ?? '0');
    }
    case 'package': {
      let packages = 0;
      const beyond = quantity - Number(price.included ?? 0) * 2;
      for (let left = beyond; left > 0; left -= Number(price.size) * 2) packages += 1;
      return packages * inMoney(price.amount);
    }
    case 'per_unit':
      return walkUnits(price, events);
    case 'percentage':
      return Math.max(
        0,
        events.reduce((sum, event) => sum + feeOf(price, event), 0),
      );
  }
}

/** The half unit that ends at `at` halves. */
function tierAt(tiers: readonly PriceTier[], at: number): PriceTier {
  return tiers.find(({ upTo }) => upTo === null || at <= Number(upTo) * 2) as PriceTier;
}

function flatsUpTo(tiers: readonly PriceTier[], quantity: number): number {
  const reached = new Set([tiers[0]]);
  for (let at = 1; at <= quantity; at += 1) reached.add(tierAt(tiers, at));
  return [...reached].reduce((sum, tier) => sum + inMoney(tier?.flatAmount ?? '0'), 0);
}

function eachHalf(quantity: number, unitAmount: (at: number) => string): number {
  let money = 0;
  for (let at = 1; at <= quantity; at += 1) money += inThousandths(unitAmount(at));
  return money;
}

function walkUnits(price: Price & { model: 'per_unit' }, events: readonly UsedEvent[]): number {
  const amountOf = (region: UsedEvent['region']) =>
    inThousandths((region && price.unitAmounts?.amounts[region]) ?? price.unitAmount);
  const values = price.unitAmounts ? (['eu', 'us', undefined] as const) : [undefined];
  const costs: number[] = [];
  let given = 0;
  for (const value of values) {
    const used = sumOf(events.filter(({ region }) => !price.unitAmounts || region === value));
    if (used < 0) given += -used * amountOf(value);
    for (let at = 0; at < used; at += 1) costs.push(amountOf(value));
  }
  const paid = costs.toSorted((a, b) => b - a).slice(Number(price.included ?? 0) * 2);
  return Math.max(0, paid.reduce((sum, cost) => sum + cost, 0) - given);
}

function feeOf(price: Price & { model: 'percentage' }, event: UsedEvent): number {
  const share = event.halves * inThousandths(price.rate);
  if (event.halves < 0) return share;
  const bound = boundOf(price, event);
  return bound ? inMoney(price[bound] ?? '0') : share + inMoney(price.fixed ?? '0');
}

function boundOf(
  price: Price & { model: 'percentage' },
  { halves: value }: UsedEvent,
): 'min' | 'max' | undefined {
  const fee = value * inThousandths(price.rate) + inMoney(price.fixed ?? '0');
  if (price.max !== undefined && fee > inMoney(price.max)) return 'max';
  return price.min !== undefined && fee < inMoney(price.min) ? 'min' : undefined;
}

function inThousandths(text: string): number {
  return Math.round(Number(text) * THOUSAND);
}

function inMoney(text: string): number {
  return inThousandths(text) * 2;
}

/** How many whole `unit`s; a half goes to the even neighbour. */
function halfEven(money: number, unit: number): number {
  const [low, rest] = [Math.floor(money / unit), money % unit];
  if (rest * 2 !== unit) return rest * 2 > unit ? low + 1 : low;
  return low % 2 === 0 ? low : low + 1;
}
