/** Reading one meter's usage over all customers. */
import { type Static, Type } from 'typebox';
import { API_BASE, defineRoute } from '../route.ts';
import { AGGREGATIONS } from '../usage-limits.ts';
import { Consistency } from './consistency.ts';
import { AnyName, Decimal, NamedId, Timestamp } from './fields.ts';

export const GRANULARITIES = ['hour', 'day', 'week', 'month'] as const;
export type Granularity = (typeof GRANULARITIES)[number];

/** Of one response. Together they bound its size: a response has at most {@link POINTS_MAX} entries. */
export const BUCKETS_MAX = 1_000;
export const GROUPS_MAX = 1_000;
export const POINTS_MAX = 50_000;

/** `of`: what is counted in it. */
export function timeZone(of: string) {
  const description = `An IANA time zone, such as \`Europe/Berlin\`, ${of}. Default: UTC.`;
  return Type.Optional(Type.String({ minLength: 1, maxLength: 64, description }));
}

const FILTER =
  'Only events whose property has this value, for example `filter[region]=eu`. The empty value selects ' +
  'events without the property. Several filters must all apply.';

/** `more`: what else its names can be. */
export function usageFilter(more = '') {
  return Type.Record(AnyName, Type.String({ maxLength: 256 }), {
    maxProperties: 10,
    propertyNames: { minLength: 1, maxLength: 64 },
    description: `${FILTER}${more}`,
  });
}

export const Quantiles = Type.String({
  minLength: 1,
  maxLength: 64,
  description:
    'Up to five numbers from 0 to 1, separated by commas, such as `0.5,0.95`. Only for `sum` meters. Of n ' +
    'values in ascending order the quantile q is the one at position q × n, rounded down and counted from ' +
    '0; for q = 1 the last one.',
});

export const Fill = Type.Enum(['none', 'zero'], {
  default: 'none',
  description: 'With `zero`, every bucket of the time range has an entry, also those without usage.',
});

/** Of the values of the events of an entry. */
export const ValueQuantiles = Type.Array(Type.Object({ quantile: Type.Number(), value: Decimal }));

/** Where a response about usage is from. */
export const UsageSource = Type.Enum(['rollup', 'events'], {
  description:
    'What was read. A `rollup` has sums by hour, and by the values of each property: it is read as fast, ' +
    'however many events there are. Of properties with more than 10,000 values in a month, or whose values ' +
    'hardly repeat within an hour of a customer, and for what a rollup does not have (several filters, ' +
    'quantiles), the `events` are read. The numbers are the same.',
});

const amount = {
  total: Decimal,
  count: Type.Integer({ description: 'Events.' }),
  quantiles: Type.Optional(ValueQuantiles),
};

const bucket = { from: Timestamp, to: Timestamp };

export const MeterUsageEntry = Type.Object({
  ...bucket,
  group: Type.Record(AnyName, Type.String(), { description: 'A value for each name of `groupBy`.' }),
  ...amount,
});
export type MeterUsageEntry = Static<typeof MeterUsageEntry>;

export const MeterUsageBucket = Type.Object({ ...bucket, ...amount });
export type MeterUsageBucket = Static<typeof MeterUsageBucket>;

export const MeterUsageReport = Type.Object({
  meterId: Type.String({ description: "The meter's key." }),
  aggregation: Type.Enum([...AGGREGATIONS]),
  ...bucket,
  granularity: Type.Optional(Type.Enum([...GRANULARITIES])),
  timezone: Type.String(),
  groupBy: Type.Array(Type.String()),
  source: UsageSource,
  ...amount,
  groups: Type.Integer({ description: 'All groups with usage, also those beyond `limit`.' }),
  data: Type.Array(MeterUsageEntry),
  other: Type.Optional(
    Type.Object(
      { groups: Type.Integer(), ...amount, data: Type.Array(MeterUsageBucket) },
      { description: 'The groups beyond `limit`, combined.' },
    ),
  ),
  unit: Type.Optional(Type.String()),
  asOf: Timestamp,
});
export type MeterUsageReport = Static<typeof MeterUsageReport>;

const Csv = Type.String({
  description:
    'RFC 4180 with a header row: `from`, `to`, the names of `groupBy`, `total`, `count`, one column for ' +
    'each quantile, `isOther` (true for the groups beyond `limit`, combined). Text that a spreadsheet ' +
    "would take for a formula begins with an apostrophe (').",
});

export const meterUsageRoutes = {
  'meterUsage.retrieve': defineRoute({
    method: 'GET',
    path: `${API_BASE}/meters/{meterId}/usage`,
    plane: 'control',
    access: 'usage:read',
    summary: "Retrieve a meter's usage over all customers",
    description:
      'Counts events with from ≤ occurredAt < to, by hour, day, week (from Monday) or month of ' +
      '`timezone`, and by customer or property. The groups with the largest totals are shown one by one, ' +
      `the others are combined in \`other\`. At most ${BUCKETS_MAX} buckets of time, and ${POINTS_MAX} ` +
      'entries. With `Accept: text/csv` the entries come as CSV.',
    params: Type.Object({
      meterId: Type.String({ ...NamedId, description: "The meter's key or id." }),
    }),
    query: Type.Object({
      from: Timestamp,
      to: Timestamp,
      granularity: Type.Optional(
        Type.Enum([...GRANULARITIES], { description: 'Default: one bucket, all of the time range.' }),
      ),
      timezone: timeZone('of the hours, days, weeks and months'),
      groupBy: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 200,
          description:
            '`customerId` and names of properties, up to three, separated by commas. Events without the ' +
            'property have the empty value.',
        }),
      ),
      filter: Type.Optional(
        usageFilter(" `filter[customerId]` takes a customer's id or externalId and selects that customer."),
      ),
      quantiles: Type.Optional(Quantiles),
      order: Type.Optional(
        Type.Enum(['time', 'total'], {
          description:
            'Of the entries: oldest first, or largest total first. Default: `time` with a `granularity`, ' +
            'otherwise `total`.',
        }),
      ),
      fill: Type.Optional(Fill),
      limit: Type.Integer({
        minimum: 1,
        maximum: GROUPS_MAX,
        default: 50,
        description: 'Groups that are shown one by one.',
      }),
      consistency: Type.Optional(Consistency),
    }),
    status: 200,
    response: MeterUsageReport,
    furtherMediaTypes: { 'text/csv': Csv },
    errors: ['customer_not_found', 'meter_not_found', 'overloaded'],
  }),
};
