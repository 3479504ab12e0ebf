import { readMeteredTerms } from '../../domain/store/metered-terms.ts';
import type { ViewedUsage } from '../../domain/store/usage-views.ts';
import type { Warehouse } from '../../infra/ports/warehouse.ts';
import { groupBy } from '../../schemas/primitives/group-by.ts';
import type { Consistency } from '../../schemas/resources/consistency.ts';
import type { UsageCounter } from '../../schemas/resources/usage.ts';
import type { RequestContext } from '../http/request-context.ts';
import type { MeterRow } from '../store/meters.ts';
import { readCounters } from '../store/read-counter.ts';
import { readManyCounters } from '../store/read-many-counters.ts';
import { readConsistently } from './consistency.ts';
import type { Freshness } from './freshness.ts';
import { type Metering, meteringOf } from './metering.ts';
import { beginReadTime, type ReadTime } from './read-time.ts';
import { shownCounter } from './shown-counter.ts';

export interface CounterQuestion {
  /** Its id. */
  customerId: string;
  meter: MeterRow;
  atMs: number;
  consistency: Consistency;
}

interface CounterDeps {
  warehouse: Warehouse;
  freshness: Freshness;
}

/** Of one statement of the warehouse. */
const TOGETHER_MAX = 100;

/**
 * In the order of the questions, which are of one time and one consistency. The warehouse is read once for
 * each customer or once for each meter and 100 customers, whichever is less.
 */
export async function readCountersOfMany(
  { warehouse, freshness }: CounterDeps,
  { db, environment }: Pick<RequestContext, 'db' | 'environment'>,
  questions: readonly CounterQuestion[],
): Promise<UsageCounter[]> {
  const [first] = questions;
  if (!first) return [];
  const { atMs, consistency } = first;
  const time = beginReadTime(consistency);
  const metering = await time.within(readMeterings({ db, environment }, questions, atMs));
  const spanOf = ({ customerId, meter }: CounterQuestion) => meteringFor(customerId).periodOf(meter.key);
  const meteringFor = (customerId: string) => metering.get(customerId) ?? meteringOf([], atMs);
  return readConsistently(freshness, { consistency, time, environment }, async (asOfMs, view) => {
    const read = readerOf(questions)({ usage: { warehouse, view }, environment, spanOf, time });
    const counted = await read(questions);
    return questions.map((question) => {
      const { customerId, meter } = question;
      const current = counted.get(placeOf(question)) ?? '0';
      return shownCounter({ customerId, meter }, { metering: meteringFor(customerId), current, asOfMs });
    });
  });
}

/** By customer. */
async function readMeterings(
  { db, environment }: Pick<RequestContext, 'db' | 'environment'>,
  questions: readonly CounterQuestion[],
  atMs: number,
): Promise<Map<string, Metering>> {
  const from = new Date(atMs);
  const requested = questions.map(({ customerId, meter }) => {
    return { environment, customerId, meterKey: meter.key, from };
  });
  const terms = groupBy(await readMeteredTerms(db, requested), ({ customerId }) => customerId);
  return new Map([...terms].map(([customerId, own]) => [customerId, meteringOf(own, atMs)]));
}

interface Reading {
  usage: ViewedUsage;
  environment: string;
  spanOf: (question: CounterQuestion) => { fromMs: number; toMs: number };
  time: ReadTime;
}

type Read = (questions: readonly CounterQuestion[]) => Promise<Map<string, string>>;

/** Which of the two takes fewer statements. */
function readerOf(questions: readonly CounterQuestion[]): (reading: Reading) => Read {
  const customers = new Set(questions.map(({ customerId }) => customerId)).size;
  const meters = new Set(questions.map(({ meter }) => meter.key)).size;
  return customers <= meters * Math.ceil(customers / TOGETHER_MAX) ? byCustomer : byMeter;
}

function byCustomer({ usage, environment, spanOf, time }: Reading): Read {
  return async (questions) => {
    const counted = new Map<string, string>();
    const owners = groupBy(questions, ({ customerId }) => customerId);
    const reads = [...owners].map(async ([customerId, own]) => {
      const asked = own.map((question) => {
        const { key: meterKey, aggregation } = question.meter;
        return { meterKey, aggregation, span: spanOf(question) };
      });
      const found = await readCounters(usage, { environment, customerId }, asked, {
        timeoutMs: time.leftMs(),
      });
      for (const [key, current] of found) counted.set(`${customerId} ${key}`, current);
    });
    await Promise.all(reads);
    return counted;
  };
}

function byMeter({ usage, environment, spanOf }: Reading): Read {
  return async (questions) => {
    const counted = new Map<string, string>();
    const reads = chunksByMeter(questions).map(async (some) => {
      const { key: meterKey, aggregation } = some[0].meter;
      const owners = some.map((one) => ({ customerId: one.customerId, span: spanOf(one) }));
      const found = await readManyCounters(usage, { environment, meterKey, aggregation, owners });
      for (const [customerId, current] of found) counted.set(`${customerId} ${meterKey}`, current);
    });
    await Promise.all(reads);
    return counted;
  };
}

function chunksByMeter(
  questions: readonly CounterQuestion[],
): Array<[CounterQuestion, ...CounterQuestion[]]> {
  const chunks: Array<[CounterQuestion, ...CounterQuestion[]]> = [];
  for (const [, own] of groupBy(questions, ({ meter }) => meter.key)) {
    for (let at = 0; at < own.length; at += TOGETHER_MAX) {
      const [first, ...others] = own.slice(at, at + TOGETHER_MAX);
      if (first) chunks.push([first, ...others]);
    }
  }
  return chunks;
}

function placeOf({ customerId, meter }: CounterQuestion): string {
  return `${customerId} ${meter.key}`;
}
