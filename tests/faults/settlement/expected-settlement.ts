import { units } from '../../support/exact.ts';
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
