import { type Api, getPatiently } from '../../tests/support/api.ts';
import { numberText, plainText, units } from '../../tests/support/exact.ts';
import { type BreakdownRow, eventsIn } from '../counted-events.ts';
import type { ResponseLedger, Tallies, Tally } from './response-ledger.ts';

export interface CounterQuestion {
  api: Api;
  customers: string[];
  meterKey: string;
  ledger: ResponseLedger;
  /** Months in which events of the run occurred: any time within each. */
  months: number[];
  patienceMs: number;
  /** The run was interrupted: reading ends at the next response. */
  leaving: AbortSignal;
}

const UNITS_OF_A_THOUSANDTH = 1_000_000_000n;

/**
 * Adds to `found` every counter that differs from the responses, a sentence each: the number of events
 * and their exact sum, and the same sum as the counters of the months show it. Rejects when one is not read.
 */
export async function judgeCounters(question: CounterQuestion, found: string[]): Promise<void> {
  for (const [at, tally] of question.ledger.tallies().entries()) {
    if (tally.acknowledged.events + tally.uncertain.events === 0) continue;
    found.push(...(await judgeCustomer(question, question.customers[at] ?? '', tally)));
  }
}

/** What was acknowledged is the least that the server may count; what is uncertain may be stored besides. */
async function judgeCustomer(
  question: CounterQuestion,
  customer: string,
  { acknowledged, uncertain }: Tallies,
): Promise<string[]> {
  const path = `/usage/${customer}/${question.meterKey}`;
  const whole = await read(question, `${path}/breakdown?dimension=$month&window=all&consistency=strong`);
  const events = eventsIn((whole.breakdown ?? []) as BreakdownRow[]);
  const total = exactly(whole.total);
  let counters = 0n;
  for (const month of question.months) {
    const at = new Date(month).toISOString();
    counters += exactly((await read(question, `${path}?consistency=strong&at=${at}`)).current);
  }
  const found: string[] = [];
  if (events < acknowledged.events || events > acknowledged.events + uncertain.events) {
    found.push(`${customer}: ${events} events are counted, ${acknowledged.events} were acknowledged`);
  }
  const value = sumOf(acknowledged);
  for (const [name, sum] of [
    ['breakdown', total],
    ['counter', counters],
  ] as const) {
    if (sum >= value && sum <= value + sumOf(uncertain)) continue;
    found.push(`${customer}: the ${name} says ${plainText(sum)}, acknowledged was ${plainText(value)}`);
  }
  return found;
}

function sumOf({ thousandths }: Tally): bigint {
  return BigInt(thousandths) * UNITS_OF_A_THOUSANDTH;
}

async function read(question: CounterQuestion, path: string): Promise<Record<string, unknown>> {
  const { api, patienceMs, leaving } = question;
  const { status, body } = await getPatiently(api, path, patienceMs, leaving);
  // Where nothing was ever stored there is no such meter.
  if (status === 404) return {};
  if (status !== 200) throw new Error(`GET ${path} returned ${status}`);
  return body as Record<string, unknown>;
}

function exactly(seen: unknown): bigint {
  return units(numberText(seen) ?? '0');
}
