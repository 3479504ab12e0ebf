/** Reading usage: counters, breakdowns and the events behind them. */
import { type Static, Type } from 'typebox';
import { CALENDAR_WINDOWS } from '../primitives/calendar.ts';
import type { ExactNumber } from '../primitives/exact-json.ts';
import { API_BASE, defineRoute } from '../route.ts';
import { USAGE_LIMITS } from '../usage-limits.ts';
import { Consistency } from './consistency.ts';
import { CustomerParams } from './customers.ts';
import { Decimal, NamedId, Nothing, optional, PageQuery, pageOf, ruled, Timestamp } from './fields.ts';
import { Fill, Quantiles, timeZone, UsageSource, usageFilter, ValueQuantiles } from './meter-usage.ts';
import { UsageEvent } from './usage-events.ts';

const CustomerMeterParams = Type.Object({
  ...CustomerParams.properties,
  meterId: Type.String({ ...NamedId, description: "The meter's key or id." }),
});

export const BREAKDOWN_WINDOWS = ['current_period', ...CALENDAR_WINDOWS, 'all'] as const;
export type BreakdownWindow = (typeof BREAKDOWN_WINDOWS)[number];

const counterFields = {
  customerId: Type.String(),
  meterId: Type.String({ description: "The meter's key." }),
};

export const UsageCounter = Type.Object({
  ...counterFields,
  current: Decimal,
  limit: Type.Optional(
    Type.Unsafe<ExactNumber>({
      ...Decimal,
      description:
        'The limit of the customer now; the largest one when several features use the meter. Left out when ' +
        'the customer has no such feature or is unlimited.',
    }),
  ),
  periodStart: Timestamp,
  periodEnd: Timestamp,
  unit: Type.Optional(Type.String()),
  asOf: Timestamp,
});
export type UsageCounter = Static<typeof UsageCounter>;

const BreakdownAmount = {
  total: Decimal,
  count: Type.Integer(),
  creditCost: Decimal,
  quantiles: Type.Optional(ValueQuantiles),
};

export const UsageBreakdownReport = Type.Object({
  ...counterFields,
  dimension: Type.String(),
  window: Type.Enum([...BREAKDOWN_WINDOWS, 'custom']),
  from: Type.Optional(Timestamp),
  to: Type.Optional(Timestamp),
  timezone: Type.Optional(Type.String()),
  source: UsageSource,
  total: Decimal,
  totalCreditCost: Decimal,
  quantiles: Type.Optional(ValueQuantiles),
  breakdown: Type.Array(Type.Object({ value: Type.String(), ...BreakdownAmount })),
  other: Type.Optional(
    Type.Object(BreakdownAmount, { description: 'The entries beyond `limit`, combined.' }),
  ),
  unit: Type.Optional(Type.String()),
  asOf: Timestamp,
});

export const UsageEventList = Type.Object({
  data: Type.Array(UsageEvent),
  nextCursor: Type.Optional(
    Type.String({ description: 'The cursor of the next page. Left out on the last page.' }),
  ),
  asOf: Timestamp,
});
export type UsageEventList = Static<typeof UsageEventList>;

export const FoundUsageEvents = Type.Object({
  data: Type.Array(UsageEvent, {
    description: 'One event, or none. More than one shows that an event was counted more than once.',
  }),
  asOf: Timestamp,
});

const pageLimit = Type.Integer({ minimum: 1, maximum: 1000, default: 100 });

const PERIOD =
  'The period is the billing period that contains `at` of the oldest subscription that counts and whose ' +
  'plan or add-on uses the meter; without such a subscription it is the calendar month in UTC. Where the ' +
  'limit resets at other times it is the window of the limit.';

const At = Type.String({ ...Timestamp, description: 'A time within the period to read. Default: now.' });

const SoughtKey = Type.String({
  minLength: 1,
  maxLength: USAGE_LIMITS.idempotencyKeyCharsMax,
  ...ruled('^[^\\u0000-\\u001f\\u007f-\\u009f]+$', 'must not contain control characters'),
  description: 'The idempotency key that the event was sent with.',
});
const SoughtId = Type.String({
  ...ruled('^use_[a-z2-7]{26}$', 'must be the id of a usage event: `use_` and 26 letters or digits'),
});

export const usageRoutes = {
  'usage.findEvents': defineRoute({
    method: 'GET',
    path: `${API_BASE}/usage/events`,
    plane: 'control',
    access: 'usage:read',
    summary: 'Find a usage event by its idempotency key or id',
    description:
      'Of any customer. Send either `idempotencyKey` or `id`. An event that is acknowledged and not ' +
      'counted yet is not found: `data` is empty, and `asOf` is before its `createdAt`. Retry, or read ' +
      'with `consistency=strong`.',
    params: Nothing,
    query: optional({ idempotencyKey: SoughtKey, id: SoughtId, consistency: Consistency }),
    status: 200,
    response: FoundUsageEvents,
    errors: ['overloaded'],
  }),
  'usage.list': defineRoute({
    method: 'GET',
    path: `${API_BASE}/usage/{customerId}`,
    plane: 'control',
    access: 'usage:read',
    customerToken: true,
    summary: "List a customer's usage counters",
    description: `One counter per meter, newest meter first, including counters at 0. ${PERIOD}`,
    params: CustomerParams,
    query: Type.Object({
      ...PageQuery.properties,
      at: Type.Optional(At),
      consistency: Type.Optional(Consistency),
    }),
    status: 200,
    response: pageOf(UsageCounter),
    errors: ['customer_not_found'],
  }),
  'usage.retrieve': defineRoute({
    method: 'GET',
    path: `${API_BASE}/usage/{customerId}/{meterId}`,
    plane: 'control',
    access: 'usage:read',
    customerToken: true,
    summary: 'Retrieve a usage counter',
    description: `Counts all usage that occurred in the period. ${PERIOD}`,
    params: CustomerMeterParams,
    query: optional({ at: At, consistency: Consistency }),
    status: 200,
    response: UsageCounter,
    errors: ['customer_not_found', 'meter_not_found'],
  }),
  'usage.breakdown': defineRoute({
    method: 'GET',
    path: `${API_BASE}/usage/{customerId}/{meterId}/breakdown`,
    plane: 'control',
    access: 'usage:read',
    summary: 'Retrieve usage broken down by a property or by time',
    description:
      'The entries are sorted by total, largest first, then by value; or by time. Events without the ' +
      'property have the empty value. Entries beyond `limit` are combined in `other`. `total` is the ' +
      `aggregate of all events in the window. ${PERIOD}`,
    params: CustomerMeterParams,
    query: Type.Object({
      dimension: Type.String({
        minLength: 1,
        maxLength: 64,
        description: 'An event property, or `$hour`, `$day` or `$month` of `occurredAt` in `timezone`.',
      }),
      window: Type.Optional(Type.Enum([...BREAKDOWN_WINDOWS])),
      from: Type.Optional(Timestamp),
      to: Type.Optional(Timestamp),
      at: Type.Optional(At),
      timezone: timeZone('of the hours, days and months, and of the windows `day`, `week` and `month`'),
      filter: Type.Optional(usageFilter()),
      quantiles: Type.Optional(Quantiles),
      order: Type.Optional(
        Type.Enum(['time', 'total'], {
          description:
            'Largest total first (the default), or oldest first where the dimension is one of time.',
        }),
      ),
      fill: Type.Optional(Fill),
      limit: pageLimit,
      consistency: Type.Optional(Consistency),
    }),
    status: 200,
    response: UsageBreakdownReport,
    errors: ['customer_not_found', 'meter_not_found', 'overloaded'],
  }),
  'usage.events': defineRoute({
    method: 'GET',
    path: `${API_BASE}/usage/{customerId}/{meterId}/events`,
    plane: 'control',
    access: 'usage:read',
    summary: 'List usage events, oldest first',
    description: 'The events with from ≤ occurredAt < to. Events of the same millisecond are sorted by id.',
    params: CustomerMeterParams,
    query: Type.Object({
      from: Type.Optional(Timestamp),
      to: Type.Optional(Timestamp),
      cursor: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
      limit: pageLimit,
      consistency: Type.Optional(Consistency),
    }),
    status: 200,
    response: UsageEventList,
    errors: ['customer_not_found', 'meter_not_found', 'overloaded'],
  }),
};
