import { type Api, getPatiently } from '../../tests/support/api.ts';
import { numberText, plainText, units } from '../../tests/support/exact.ts';
import { type BreakdownRow, eventsIn } from '../counted-events.ts';
import type { ResponseLedger } from './response-ledger.ts';

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

/** Of one customer: what was acknowledged, what may be stored besides, and what the server counts. */
interface Expected {
  events: number;
  value: bigint;
  mayBeMore: { events: number; value: bigint };
}

const UNITS_OF_A_THOUSANDTH = 1_000_000_000n;

/**
 * Adds to `found` every counter that differs from the responses, a sentence each: the number of events
 * and their exact sum, and the same sum as the counters of the months show it. Rejects when one is not read.
 */
export async function judgeCounters(question: CounterQuestion, found: string[]): Promise<void> {
  for (const [at, tally] of question.ledger.tallies().entries()) {
    const { acknowledged, uncertain } = tally;
    const customer = question.customers[at] ?? '';
    const expected = {
      events: acknowledged.events,
      value: BigInt(acknowledged.thousandths) * UNITS_OF_A_THOUSANDTH,
      mayBeMore: {
        events: uncertain.events,
        value: BigInt(uncertain.thousandths) * UNITS_OF_A_THOUSANDTH,
      },
    };
    if (expected.events + uncertain.events === 0) continue;
    found.push(...(await judgeCustomer(question, customer, expected)));
  }
}

async function judgeCustomer(
  question: CounterQuestion,
  customer: string,
  expected: Expected,
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
  const { events: least, value, mayBeMore } = expected;
  const found: string[] = [];
  if (events < least || events > least + mayBeMore.events) {
    found.push(`${customer}: ${events} events are counted, ${least} were acknowledged`);
  }
  for (const [name, sum] of [
    ['breakdown', total],
    ['counter', counters],
  ] as const) {
    if (sum >= value && sum <= value + mayBeMore.value) continue;
    found.push(`${customer}: the ${name} says ${plainText(sum)}, acknowledged was ${plainText(value)}`);
  }
  return found;
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
