import { units } from '../../support/exact.ts';
import type { LimitedCustomer } from './limited-world.ts';
import { BUDGET, LIMIT, RATES, type RatedCustomer, type RatedWorld } from './rated-world.ts';
import type { UsedEvent } from './usage-workload.ts';

/** What the usage of one customer has cost and crossed. */
export interface ExpectedSettlement {
  /** In units of 10^-24. */
  burned: bigint;
  /** `tokens 25.5` and so on, by how many periods have reached it. */
  crossed: Map<string, number>;
}

/** By walking the acknowledged events one by one: shares no arithmetic with the product. */
export function expectedSettlement(
  customer: RatedCustomer,
  { tokenRates }: RatedWorld,
  used: readonly UsedEvent[],
): ExpectedSettlement {
  const own = used.filter(({ customerId }) => customerId === customer.id);
  const tokens = own.filter(({ meterKey }) => meterKey === 'tokens');
  const calls = own.filter(({ meterKey }) => meterKey === 'calls');
  const exports = own.filter(({ meterKey }) => meterKey === 'exports');
  const before = exports.filter(({ occurredAtMs }) => occurredAtMs < customer.subscribedMs);
  const limited = sumOf(exports) - sumOf(before);
  const beyond = limited > units(LIMIT) ? limited - units(LIMIT) : 0n;
  const rateAt = (atMs: number) => tokenRates.findLast(({ sinceMs }) => sinceMs <= atMs)?.rate ?? '0';
  let burned = (sumOf(before) + beyond) * units(RATES.exports);
  for (const { value, occurredAtMs } of tokens) burned += units(value) * units(rateAt(occurredAtMs));
  for (const { region = '' } of calls) {
    burned += units('1') * units(RATES.calls.byRegion[region] ?? RATES.calls.other);
  }
  const crossed = new Map<string, number>();
  const reach = (threshold: string, meterKey: string, amounts: Iterable<bigint>) => {
    const periods = [...amounts].filter((amount) => amount >= units(threshold)).length;
    if (periods > 0) crossed.set(`${meterKey} ${threshold}`, periods);
  };
  const months = byMonth(tokens);
  for (const threshold of [BUDGET.soft, BUDGET.hard]) reach(threshold, 'tokens', months.values());
  for (const threshold of [String(Number(LIMIT) * 0.8), LIMIT]) reach(threshold, 'exports', [limited]);
  return { burned, crossed };
}

function byMonth(events: readonly UsedEvent[]): Map<string, bigint> {
  const months = new Map<string, bigint>();
  for (const { occurredAtMs, value } of events) {
    const month = new Date(occurredAtMs).toISOString().slice(0, 7);
    months.set(month, (months.get(month) ?? 0n) + units(value));
  }
  return months;
}

function sumOf(events: readonly UsedEvent[]): bigint {
  return events.reduce((sum, { value }) => sum + units(value), 0n);
}

/** Units of 10^-24 of a plain decimal. */
export function creditUnits(text: string): bigint {
  const [integer = '', fraction = ''] = text.replace('-', '').split('.');
  const size = BigInt(integer + fraction.padEnd(24, '0'));
  return text.startsWith('-') ? -size : size;
}

/** Of a meter that costs 1 each, in whole numbers; negative where it corrects. */
export interface JobsUsed {
  occurredAtMs: number;
  value: number;
}

/**
 * How many jobs were to be paid, by walking them one by one: shares no arithmetic with the product. A
 * correction takes away the last ones before it in its period; what there is none of counts against those
 * after it. Within a stretch of one limit, jobs and corrections come to a sum first.
 */
export function expectedJobs(customer: LimitedCustomer, used: readonly JobsUsed[]): number {
  const ordered = [...used].sort((a, b) => a.occurredAtMs - b.occurredAtMs);
  const periods = new Map<string, Stretch[]>();
  const stretchAt = stretchesOf(customer);
  for (const { occurredAtMs, value } of ordered) {
    const period = periodAt(customer, occurredAtMs);
    const stretches = periods.get(period) ?? [];
    periods.set(period, stretches);
    const { place, limit } = stretchAt(occurredAtMs);
    const last = stretches.at(-1);
    if (last?.place === place) last.sum += value;
    else stretches.push({ place, limit, sum: value });
  }
  return [...periods.values()].reduce((paid, stretches) => paid + paidIn(stretches), 0);
}

interface Stretch {
  place: number;
  /** Infinity: all is covered. */
  limit: number;
  sum: number;
}

function paidIn(stretches: readonly Stretch[]): number {
  const jobs: number[] = [];
  const missing = stretches.map(({ sum }, at) => {
    for (let job = 0; job < sum; job += 1) jobs.push(at);
    let none = 0;
    for (let job = 0; job < -sum; job += 1) if (jobs.pop() === undefined) none += 1;
    return none;
  });
  let [paid, before, next] = [0, 0, 0];
  stretches.forEach(({ limit }, at) => {
    before -= missing[at] ?? 0;
    for (; jobs[next] === at; next += 1) {
      if (before >= limit) paid += 1;
      before += 1;
    }
  });
  return paid;
}

/** Calendar months where there is no subscription. */
function periodAt({ periods }: LimitedCustomer, atMs: number): string {
  const { sinceMs, isSubscribed } = periods.findLast(({ sinceMs: since }) => since <= atMs) ?? {
    sinceMs: 0,
    isSubscribed: false,
  };
  return isSubscribed ? `${sinceMs}` : `${sinceMs} ${new Date(atMs).toISOString().slice(0, 7)}`;
}

/** Neighbours of one limit are one stretch. */
function stretchesOf({ plans, overrides }: LimitedCustomer) {
  const limitAt = (atMs: number): number | undefined => {
    const own = overrides.findLast(({ fromMs, toMs }) => fromMs <= atMs && atMs < toMs);
    const value = own?.value ?? plans.findLast(({ sinceMs }) => sinceMs <= atMs)?.value;
    return value === null ? Number.POSITIVE_INFINITY : value;
  };
  const times = [
    ...plans.map(({ sinceMs }) => sinceMs),
    ...overrides.flatMap(({ fromMs, toMs }) => [fromMs, toMs]),
  ].sort((a, b) => a - b);
  const starts = times.filter((ms, at) => at === 0 || limitAt(ms) !== limitAt(times[at - 1] ?? ms));
  return (atMs: number) => ({
    place: starts.findLastIndex((ms) => ms <= atMs),
    limit: limitAt(atMs) ?? 0,
  });
}
