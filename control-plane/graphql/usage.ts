import { Rejected } from '../../schemas/failures.ts';
import { timestampMs } from '../../schemas/primitives/timestamp.ts';
import { BREAKDOWN_WINDOWS } from '../../schemas/resources/usage.ts';
import { type MeterRow, meterList } from '../store/meters.ts';
import type { PlacedRow } from '../store/read-slice.ts';
import { cursorAfter } from '../usage/event-page.ts';
import { timeOf } from '../usage/time-of.ts';
import { connectionType, costOfList, pageArgs, pageOf, sliceOf } from './connections.ts';
import type { GraphqlContext } from './graphql-context.ts';
import { enumOf } from './resource-fields.ts';
import { Breakdown, Counter, Customer, UsageEvent } from './resource-types.ts';
import { checkedQuery, readAs } from './rest-reads.ts';
import { builder } from './schema-builder.ts';
import { analysisArgs, analysisOf, consistencyArg, LONG_READ_COST, spanArgs } from './usage-arguments.ts';

const Counters = connectionType('Counter', Counter);
const UsageEvents = builder.connectionObject({
  type: UsageEvent,
  name: 'UsageEventConnection',
  fields: (t) => ({
    asOf: t.field({
      type: 'DateTime',
      nullable: false,
      description: 'Usage acknowledged before this time is in the list.',
      resolve: (page) => (page as unknown as { asOf: string }).asOf,
    }),
  }),
});
const RequestedWindow = enumOf('RequestedWindow', BREAKDOWN_WINDOWS);

const timeArgs = builder.args((t) => ({
  at: t.string({ description: 'A time within the period to read. Default: now.' }),
}));
const meterArg = builder.args((t) => ({
  meterKey: t.id({ required: true, description: "The meter's key or id." }),
}));

builder.objectFields(Customer, (t) => ({
  counters: t.field({
    type: Counters,
    description: 'One for each meter, newest meter first, also at 0.',
    authScopes: { as: 'usage.list' },
    args: { ...pageArgs, ...timeArgs, ...consistencyArg },
    complexity: costOfList(2),
    resolve: async ({ id: customerId }, args, context) => {
      const list = meterList(context.environment);
      const slice = sliceOf('meters', args);
      const meters = (await context.loaders.rows.load({ list, slice })) as unknown as PlacedRow<MeterRow>[];
      const wish = wishOf(context, args);
      const counters = await Promise.all(
        meters
          .slice(0, slice.first)
          .map((meter) => context.loaders.counters.load({ customerId, meter, ...wish })),
      );
      const byMeter = new Map(counters.map((one) => [one.meterId, one]));
      const countAll = () => context.loaders.rowCounts.load(list);
      const shown = ({ key }: MeterRow) => byMeter.get(key) as (typeof counters)[number];
      return pageOf(meters, slice, { name: 'meters', shown, countAll });
    },
  }),
  counter: t.field({
    type: Counter,
    authScopes: { as: 'usage.retrieve' },
    args: { ...meterArg, ...timeArgs, ...consistencyArg },
    complexity: 2,
    resolve: async ({ id: customerId }, { meterKey, ...args }, context) => {
      const meter = await context.loaders.meters.load(meterKey);
      if (!meter)
        throw new Rejected('meter_not_found', `There is no meter ${meterKey}.`, { param: 'meterKey' });
      return context.loaders.counters.load({ customerId, meter, ...wishOf(context, args) });
    },
  }),
}));

builder.objectFields(Customer, (t) => ({
  breakdown: t.field({
    type: Breakdown,
    description: 'Sorted by total, largest first, unless `order` is `time`.',
    authScopes: { as: 'usage.breakdown' },
    args: {
      ...meterArg,
      dimension: t.arg.string({
        required: true,
        description: 'An event property, or `$hour`, `$day` or `$month` of `timezone`.',
      }),
      window: t.arg({ type: RequestedWindow }),
      ...spanArgs,
      ...timeArgs,
      limit: t.arg.int({ description: 'Entries; the others are combined in `other`. From 1 to 1000.' }),
      ...analysisArgs,
      ...consistencyArg,
    },
    complexity: { field: LONG_READ_COST, multiplier: 1 },
    resolve: ({ id: customerId }, { meterKey: meterId, ...args }, context) => {
      const query = analysisOf(args) as object;
      return readAs(context, 'usage.breakdown', { params: { customerId, meterId }, query });
    },
  }),
  usageEvents: t.field({
    type: UsageEvents,
    description: 'Oldest first.',
    authScopes: { as: 'usage.events' },
    args: { ...meterArg, ...pageArgs, ...spanArgs, ...consistencyArg },
    complexity: costOfList(5),
    resolve: ({ id: customerId }, { meterKey: meterId, ...args }, context) =>
      eventsOf(context, { customerId, meterId }, args),
  }),
}));

interface EventArgs {
  first?: number | null | undefined;
  after?: string | null | undefined;
  from?: string | null | undefined;
  to?: string | null | undefined;
  consistency?: unknown;
}

async function eventsOf(
  context: GraphqlContext,
  params: { customerId: string; meterId: string },
  { first, after, ...given }: EventArgs,
) {
  const { first: limit } = sliceOf('usage', { first });
  const query = { ...given, cursor: after, limit: Math.max(1, limit) } as object;
  const { data, nextCursor, asOf } = await readAs(context, 'usage.events', { params, query });
  const edges = data.slice(0, limit).map((node) => {
    const occurredAtMs = timestampMs(node.occurredAt) ?? 0;
    return { cursor: cursorAfter({ occurredAtMs, id: node.id }), node };
  });
  const pageInfo = {
    hasNextPage: nextCursor !== undefined || data.length > limit,
    hasPreviousPage: Boolean(after),
    startCursor: edges[0]?.cursor ?? null,
    endCursor: edges.at(-1)?.cursor ?? null,
  };
  return { edges, pageInfo, asOf };
}

/** Of which time and how fresh a counter is to be. Throws Rejected. */
function wishOf({ nowMs }: GraphqlContext, args: { at?: string | null | undefined; consistency?: unknown }) {
  const { at, consistency } = checkedQuery('usage.retrieve', args as object);
  return { atMs: timeOf(at, nowMs), consistency: consistency as 'strong' | 'eventual' | undefined };
}
