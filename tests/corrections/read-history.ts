import { readLabelledUsage } from '../../aggregator/store/read-labelled-usage.ts';
import { readUsage } from '../../aggregator/store/read-usage.ts';
import { readCountersInOrder } from '../../control-plane/store/read-counter.ts';
import { readManyCounters } from '../../control-plane/store/read-many-counters.ts';
import { readByBound, readByValue, readTotals } from '../../control-plane/store/read-priced-usage.ts';
import { findUsageEvents, readUsageEvents } from '../../control-plane/store/read-usage-events.ts';
import type { CustomerMeter } from '../../control-plane/usage/customer-meter.ts';
import { labelOfValue, UNRATED } from '../../domain/rules/credit-cost.ts';
import { AGGREGATIONS } from '../../schemas/usage-limits.ts';
import { groupedBy, unitsOf } from '../support/usage-oracle.ts';
import { CUSTOMERS, type UsedEvent } from './changed-history.ts';
import { ALL, amount, type HistoryRead, type Of, ofThese, type Reading, spanIn } from './history-reads.ts';
import { breakdown, meterUsage } from './read-groups.ts';

/** One of each kind, with spans and dimensions by chance. */
export function readsOf(reading: Reading): HistoryRead[] {
  return [counters, manyCounters, breakdown, meterUsage, eventList, found, priced, settled, labelled].map(
    (make) => make(reading),
  );
}

function counters({ warehouse, view, standing, environment, random }: Reading): HistoryRead {
  const [customerId, span, other] = [random.pick(CUSTOMERS), spanIn(random), spanIn(random)];
  const questions = AGGREGATIONS.flatMap((aggregation) =>
    [random.chance(0.5) ? span : ALL, other].map((one) => ({
      meterKey: aggregation,
      aggregation,
      span: one,
    })),
  );
  return {
    name: 'counters of a customer',
    read: async () => {
      const owner = { environment, customerId };
      return (await readCountersInOrder({ warehouse, view }, owner, questions)).map((text) => unitsOf(text));
    },
    expected: questions.map(({ meterKey, aggregation, span }) =>
      amount(ofThese(standing, { customerId, meterKey, ...span }), aggregation),
    ),
  };
}

function manyCounters({ warehouse, view, standing, environment, random }: Reading): HistoryRead {
  const aggregation = random.pick(AGGREGATIONS);
  const owners = CUSTOMERS.map((customerId) => ({ customerId, span: spanIn(random) }));
  return {
    name: `counters of customers, ${aggregation}`,
    read: async () => {
      const question = { environment, meterKey: aggregation, aggregation, owners };
      const counted = await readManyCounters({ warehouse, view }, question);
      return [...counted].map(([customerId, text]) => [customerId, unitsOf(text)]);
    },
    expected: owners.map(({ customerId, span }) => {
      const own = ofThese(standing, { customerId, meterKey: aggregation, ...span });
      return [customerId, amount(own, aggregation)];
    }),
  };
}

function eventList({ warehouse, view, standing, voided, environment, random }: Reading): HistoryRead {
  const [aggregation, customerId] = [random.pick(AGGREGATIONS), random.pick(CUSTOMERS)];
  const [span, size] = [spanIn(random), 1 + random.below(4)];
  const meter = { key: aggregation, aggregation } as CustomerMeter['meter'];
  const own = ofThese([...standing, ...voided], { customerId, meterKey: aggregation, ...span });
  const customerMeter = { environment, customerId, meter };
  return {
    name: 'list of events, page by page',
    read: async () => {
      const all: unknown[] = [];
      for (let after: UsedEvent | undefined; ; ) {
        const page = await readUsageEvents({ warehouse, view }, { customerMeter, span, after, limit: size });
        all.push(...page.map(({ id, change, isVoided }) => ({ id, change, isVoided })));
        if (page.length < size) return all;
        after = page.at(-1) as unknown as UsedEvent;
      }
    },
    expected: own
      .sort((a, b) => a.occurredAtMs - b.occurredAtMs || (a.id < b.id ? -1 : 1))
      .map((one) => ({ id: one.id, change: one.change, isVoided: voided.includes(one) })),
  };
}

function found({ warehouse, view, standing, voided, environment, random }: Reading): HistoryRead {
  const sought = random.pick([...standing, ...voided, undefined]);
  return {
    name: 'an event by its id',
    read: async () => {
      const rows = await findUsageEvents({ warehouse, view }, { environment, id: sought?.id ?? 'use_none' });
      return rows.map(({ id, isVoided }) => ({ id, isVoided }));
    },
    expected: sought ? [{ id: sought.id, isVoided: voided.includes(sought) }] : [],
  };
}

function priced({ warehouse, view, standing, environment, random }: Reading): HistoryRead {
  const questions = AGGREGATIONS.map((aggregation) => {
    const customerId = random.pick(CUSTOMERS);
    return { customerId, meterKey: aggregation, aggregation, parts: [spanIn(random)] };
  });
  const [sum] = questions as [(typeof questions)[number]];
  const own = ofThese(standing, { ...sum, ...sum.parts[0] } as Of);
  const [values, bound] = [['eu', 'us'], 5n * 10n ** 12n];
  const byValue = groupedBy(own, ({ region }) => (values.includes(region ?? '') ? (region as string) : ''));
  const inBound = own.filter(({ units }) => units >= 0n && units <= bound);
  return {
    name: 'priced usage',
    read: async () => {
      const limits = { connection: 'long', timeoutMs: 60_000 } as const;
      const read = { warehouse, view, environment, ...limits };
      const [labels = []] = await readByValue(read, [
        { ...sum, aggregation: 'sum', property: 'region', values },
      ]);
      const [bounds] = await readByBound(read, [{ ...sum, from: '0', to: '5' }]);
      return {
        totals: await readTotals(read, questions),
        labels: labels.map(({ value = '', units }) => [value, units]).sort(),
        bounds: [bounds?.total, bounds?.events],
      };
    },
    expected: {
      totals: questions.map(({ parts, ...question }) =>
        amount(ofThese(standing, { ...question, ...parts[0] }), question.aggregation),
      ),
      labels: [...byValue].map(([value, some]) => [value, amount(some, 'sum')]).sort(),
      bounds: [amount(own, 'sum'), BigInt(inBound.length)],
    },
  };
}

function settled({ warehouse, view, standing, environment, random }: Reading): HistoryRead {
  const questions = AGGREGATIONS.flatMap((aggregation) =>
    CUSTOMERS.flatMap((customerId) =>
      [ALL, spanIn(random)].map((span) => {
        return { environment, customerId, meterKey: aggregation, aggregation, span };
      }),
    ),
  );
  // Enough of one span for the statement of whole hours.
  const month = { fromMs: Date.UTC(2026, 9), toMs: Date.UTC(2026, 10) };
  const ofMonth = Array.from({ length: 4 }, () => questions.filter(({ span }) => span === ALL)).flat();
  const asked = [...questions, ...ofMonth.map((question) => ({ ...question, span: month }))];
  return {
    name: 'usage as it is settled',
    read: () => readUsage({ warehouse, views: new Map([[environment, view]]) }, asked),
    expected: asked.map(({ customerId, meterKey, aggregation, span }) =>
      amount(ofThese(standing, { customerId, meterKey, ...span }), aggregation),
    ),
  };
}

function labelled({ warehouse, view, standing, environment, random }: Reading): HistoryRead {
  const property = { name: 'region', rates: { eu: '1', us: '2' } };
  const questions = CUSTOMERS.map((customerId) => {
    const span = spanIn(random);
    return { environment, customerId, meterKey: 'sum', aggregation: 'sum' as const, span, property };
  });
  return {
    name: 'usage by label as it is settled',
    read: async () => {
      const views = new Map([[environment, view]]);
      const found = await readLabelledUsage({ warehouse, views }, questions);
      return found.map((usage) => usage.map(({ label, units }) => [label, units]).sort());
    },
    expected: questions.map(({ customerId, span }) => {
      const own = ofThese(standing, { customerId, meterKey: 'sum', ...span });
      const labels = groupedBy(own, ({ region }) => {
        return region === 'eu' || region === 'us' ? labelOfValue(region) : UNRATED;
      });
      return [...labels].map(([label, some]) => [label, amount(some, 'sum')]).sort();
    }),
  };
}
