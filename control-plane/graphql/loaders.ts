import DataLoader from 'dataloader';
import { Defect } from '../../schemas/failures.ts';
import { groupBy } from '../../schemas/primitives/group-by.ts';
import type { GivenEntitlements } from '../../schemas/resources/entitlement-values.ts';
import type { EntitlementDecision } from '../../schemas/resources/entitlements.ts';
import type { Price } from '../../schemas/resources/prices.ts';
import type { UsageCounter } from '../../schemas/resources/usage.ts';
import { type DecisionsQuestion, decideForMany } from '../entitlements/check/decide-for-many.ts';
import { shownEntitlements } from '../input/read-entitlement-values.ts';
import { shownPrices } from '../input/read-prices.ts';
import { type CreditsRow, readCreditsOf } from '../store/credits.ts';
import { type CustomerRow, findCustomersById } from '../store/customers.ts';
import { findMeters, type MeterRow } from '../store/meters.ts';
import { listOfferedEntitlements, type PlanVersion } from '../store/plan-entitlements.ts';
import { findPlansById, type PlanRow } from '../store/plans.ts';
import { listPricesOfPlans } from '../store/price-sets.ts';
import type { List } from '../store/read-page.ts';
import {
  countList,
  countLists,
  type ListOfParents,
  type PlacedRow,
  readSlice,
  readSlices,
  type Slice,
} from '../store/read-slice.ts';
import {
  listAttemptsOf,
  type WebhookAttemptRow,
  type WebhookDeliveryRow,
} from '../store/webhook-deliveries.ts';
import { listEndpoints, type WebhookEndpointRow } from '../store/webhook-endpoints.ts';
import { findEventsById } from '../store/webhook-events.ts';
import { type CounterQuestion, readCountersOfMany } from '../usage/counters-of-many.ts';
import type { ReadContext } from './read-context.ts';

type Row = PlacedRow<Record<string, unknown>>;

/**
 * The reads of one request. Those of all objects of one level are read together, so that the number of
 * statements grows with the depth of a query and not with its objects.
 */
export interface Loaders {
  rows: DataLoader<{ list: List; slice: Slice }, Row[], string>;
  rowCounts: DataLoader<List, number, string>;
  parentRows: DataLoader<{ of: ListOfParents; slice: Slice; parentId: string }, Row[], string>;
  parentCounts: DataLoader<{ of: ListOfParents; parentId: string }, number, string>;
  customers: DataLoader<string, CustomerRow | undefined>;
  plans: DataLoader<string, PlanRow | undefined>;
  /** By key or id. */
  meters: DataLoader<string, MeterRow | undefined>;
  endpoints: DataLoader<string, WebhookEndpointRow | undefined>;
  /** Bodies. */
  events: DataLoader<string, string | undefined>;
  /** As they are shown: a query may ask for those of one plan under many names. */
  planEntitlements: DataLoader<PlanVersion, GivenEntitlements, string>;
  planPrices: DataLoader<PlanVersion, Price[], string>;
  attempts: DataLoader<Pick<WebhookDeliveryRow, 'id' | 'createdAt'>, WebhookAttemptRow[], string>;
  credits: DataLoader<string, CreditsRow[]>;
  decisions: DataLoader<DecisionsQuestion, EntitlementDecision[], string>;
  counters: DataLoader<CounterQuestion, UsageCounter, string>;
}

export function createLoaders(context: ReadContext): Loaders {
  return { ...listLoaders(context), ...rowLoaders(context), ...customerLoaders(context) };
}

function listLoaders({ db, inTurn, pace, spendRead }: ReadContext) {
  const together = { batchScheduleFn: pace.whenSpread };
  const readList = async (list: List, slice: Slice) => {
    const rows = await inTurn(() => readSlice<Row>(db, list, slice));
    spendRead(rows);
    return rows;
  };
  return {
    rows: new DataLoader<{ list: List; slice: Slice }, Row[], string>(
      (keys) => Promise.all(keys.map(({ list, slice }) => readList(list, slice))),
      { ...together, cacheKeyFn: JSON.stringify },
    ),
    rowCounts: new DataLoader<List, number, string>(
      (lists) => Promise.all(lists.map((list) => inTurn(() => countList(db, list)))),
      { ...together, cacheKeyFn: JSON.stringify },
    ),
    parentRows: new DataLoader<{ of: ListOfParents; slice: Slice; parentId: string }, Row[], string>(
      (keys) =>
        byGroup(
          keys,
          ({ of, slice }) => JSON.stringify([of, slice]),
          async (same) => {
            const [{ of, slice }] = same;
            const parentIds = same.map(({ parentId }) => parentId);
            const found = await inTurn(() => readSlices<Row>(db, of, { ...slice, parentIds }));
            for (const rows of found.values()) spendRead(rows);
            return parentIds.map((id) => found.get(id) ?? []);
          },
        ),
      { ...together, cacheKeyFn: JSON.stringify },
    ),
    parentCounts: new DataLoader<{ of: ListOfParents; parentId: string }, number, string>(
      (keys) =>
        byGroup(
          keys,
          ({ of }) => JSON.stringify(of),
          async (same) => {
            const parentIds = same.map(({ parentId }) => parentId);
            const found = await inTurn(() => countLists(db, same[0].of, parentIds));
            return parentIds.map((id) => found.get(id) ?? 0);
          },
        ),
      { ...together, cacheKeyFn: JSON.stringify },
    ),
  };
}

function rowLoaders({ db, environment, inTurn, pace, spendRead }: ReadContext) {
  const together = { batchScheduleFn: pace.whenSpread };
  return {
    customers: new DataLoader<string, CustomerRow | undefined>(async (ids) => {
      const rows = await inTurn(() => findCustomersById(db, environment, ids));
      return inOrder(ids, new Map(rows.map((row) => [row.id, row])));
    }, together),
    plans: new DataLoader<string, PlanRow | undefined>(async (ids) => {
      const rows = await inTurn(() => findPlansById(db, environment, ids));
      return inOrder(ids, new Map(rows.map((row) => [row.id, row])));
    }, together),
    meters: new DataLoader<string, MeterRow | undefined>(async (names) => {
      const rows = await inTurn(() => findMeters(db, environment, names));
      return inOrder(
        names,
        new Map(rows.flatMap((row) => [[row.id, row] as const, [row.key, row] as const])),
      );
    }, together),
    endpoints: new DataLoader<string, WebhookEndpointRow | undefined>(async (ids) => {
      const rows = await inTurn(() => listEndpoints(db, environment));
      return inOrder(ids, new Map(rows.map((row) => [row.id, row])));
    }, together),
    events: new DataLoader<string, string | undefined>(
      async (ids) => inOrder(ids, await inTurn(() => findEventsById(db, environment, ids))),
      together,
    ),
    planEntitlements: new DataLoader<PlanVersion, GivenEntitlements, string>(
      async (places) => {
        const rows = await inTurn(() => listOfferedEntitlements(db, environment, places));
        const byVersion = groupBy(rows, versionOf);
        return places.map((place) => shownEntitlements(byVersion.get(versionOf(place)) ?? []));
      },
      { ...together, cacheKeyFn: versionOf },
    ),
    planPrices: new DataLoader<PlanVersion, Price[], string>(
      async (places) => {
        const sets = await inTurn(() => listPricesOfPlans(db, places));
        const byVersion = new Map(sets.map((one) => [versionOf(one), one.prices]));
        return places.map((place) => shownPrices(byVersion.get(versionOf(place)) ?? []));
      },
      { ...together, cacheKeyFn: versionOf },
    ),
    attempts: new DataLoader<Pick<WebhookDeliveryRow, 'id' | 'createdAt'>, WebhookAttemptRow[], string>(
      async (deliveries) => {
        const rows = await inTurn(() => listAttemptsOf(db, environment, deliveries));
        spendRead(rows);
        const byDelivery = groupBy(rows, ({ deliveryId }) => deliveryId);
        return deliveries.map(({ id }) => byDelivery.get(id) ?? []);
      },
      { ...together, cacheKeyFn: ({ id }) => id },
    ),
  };
}

function customerLoaders(context: ReadContext) {
  const { db, environment, nowMs, inTurn, deps, pace } = context;
  const together = { batchScheduleFn: pace.whenSpread };
  return {
    credits: new DataLoader<string, CreditsRow[]>(async (ids) => {
      const rows = await inTurn(() => readCreditsOf(db, environment, { ids, at: new Date(nowMs) }));
      const byCustomer = groupBy(rows, ({ customerId }) => customerId);
      return ids.map((id) => byCustomer.get(id) ?? []);
    }, together),
    decisions: new DataLoader<DecisionsQuestion, EntitlementDecision[], string>(
      (questions) => inTurn(() => decideForMany({ ...deps, ...deps.entitlementCache }, context, questions)),
      { ...together, cacheKeyFn: JSON.stringify, maxBatchSize: CUSTOMERS_TOGETHER },
    ),
    counters: new DataLoader<CounterQuestion, UsageCounter, string>(
      (questions) =>
        byGroup(
          questions,
          ({ atMs, consistency }) => `${atMs} ${consistency}`,
          (same) => inTurn(() => readCountersOfMany(deps, context, same)),
        ),
      {
        ...together,
        cacheKeyFn: ({ customerId, meter, atMs, consistency }) =>
          JSON.stringify([customerId, meter.key, atMs, consistency]),
      },
    ),
  };
}

/** Their grants are read in one statement, and their counters in one for each meter. */
const CUSTOMERS_TOGETHER = 100;

/** One read for all keys of a group; the results are in the order of the keys. */
async function byGroup<Key, Value>(
  keys: readonly Key[],
  groupOf: (key: Key) => string,
  read: (same: [Key, ...Key[]]) => Promise<Value[]>,
): Promise<Value[]> {
  const values = new Map<Key, Value>();
  const reads = [...groupBy(keys, groupOf).values()].map(async (same) => {
    const found = await read(same);
    for (const [at, key] of same.entries()) values.set(key, found[at] as Value);
  });
  await Promise.all(reads);
  return keys.map((key) => {
    if (!values.has(key)) throw new Defect('a read has no result');
    return values.get(key) as Value;
  });
}

function inOrder<Value>(ids: readonly string[], found: ReadonlyMap<string, Value>): Array<Value | undefined> {
  return ids.map((id) => found.get(id));
}

function versionOf({ planId, version }: PlanVersion): string {
  return `${planId} ${version}`;
}
