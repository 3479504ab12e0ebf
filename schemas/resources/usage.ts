/** Reading usage: counters, breakdowns and the events behind them. */
import { type Static, Type } from 'typebox';
import { CALENDAR_WINDOWS } from '../primitives/calendar.ts';
import type { ExactNumber } from '../primitives/exact-json.ts';
import { API_BASE, defineRoute } from '../route.ts';
import { CustomerParams } from './customers.ts';
import { Decimal, NamedId, optional, PageQuery, pageOf, Timestamp } from './fields.ts';
import { UsageEvent } from './usage-events.ts';

const CustomerMeterParams = Type.Object({
  ...CustomerParams.properties,
  meterId: Type.String({ ...NamedId, description: "The meter's key or id." }),
});

const Consistency = Type.Enum(['strong', 'eventual'], {
  description:
    'By default the answer waits up to 1 s for what was acknowledged before. `strong` waits up to 5 s, ' +
    'else 503; ' +
    '`eventual` does not wait. `asOf` always says up to when everything is counted.',
});
export type Consistency = 'strong' | 'eventual' | undefined;

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
        'What the customer is entitled to now; of several features on the meter the largest. Missing where ' +
        'there is none or no end.',
    }),
  ),
  periodStart: Timestamp,
  periodEnd: Timestamp,
  unit: Type.Optional(Type.String()),
  asOf: Timestamp,
});
export type UsageCounter = Static<typeof UsageCounter>;

const BreakdownAmount = { total: Decimal, count: Type.Integer(), creditCost: Decimal };

export const UsageBreakdownReport = Type.Object({
  ...counterFields,
  dimension: Type.String(),
  window: Type.Enum([...BREAKDOWN_WINDOWS, 'custom']),
  from: Type.Optional(Timestamp),
  to: Type.Optional(Timestamp),
  total: Decimal,
  totalCreditCost: Decimal,
  breakdown: Type.Array(Type.Object({ value: Type.String(), ...BreakdownAmount })),
  other: Type.Optional(Type.Object(BreakdownAmount, { description: 'What stands beyond `limit`.' })),
  unit: Type.Optional(Type.String()),
  asOf: Timestamp,
});

export const UsageEventList = Type.Object({
  data: Type.Array(UsageEvent),
  nextCursor: Type.Optional(Type.String({ description: 'Missing on the last page.' })),
  asOf: Timestamp,
});
export type UsageEventList = Static<typeof UsageEventList>;

const pageLimit = Type.Integer({ minimum: 1, maximum: 1000, default: 100 });

const PERIOD =
  'The period is that of the subscription whose plan or add-on meters it (the oldest that counts), rolled ' +
  'forward or back to the moment; without one the calendar month in UTC.';

const At = Type.String({ ...Timestamp, description: 'A moment whose period is read, in place of now.' });

export const usageRoutes = {
  'usage.list': defineRoute({
    method: 'GET',
    path: `${API_BASE}/usage/{customerId}`,
    plane: 'control',
    access: 'usage:read',
    summary: 'Read all usage counters of a customer',
    description: `One per meter, the newest meter first, those at 0 too. ${PERIOD}`,
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
    summary: 'Read a usage counter',
    description: `Everything that occurred in the period. ${PERIOD}`,
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
    summary: 'Break usage down by a property or by time',
    description:
      'Largest total first, then by value. Events without the property stand under the empty value. ' +
      'What is beyond `limit` is folded into `other`. `total` is the aggregate of all events of the ' +
      `window. ${PERIOD}`,
    params: CustomerMeterParams,
    query: Type.Object({
      dimension: Type.String({
        minLength: 1,
        maxLength: 64,
        description: 'A property, or `$hour`, `$day`, `$month` of occurredAt in UTC.',
      }),
      window: Type.Optional(Type.Enum([...BREAKDOWN_WINDOWS])),
      from: Type.Optional(Timestamp),
      to: Type.Optional(Timestamp),
      at: Type.Optional(At),
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
    summary: 'List stored usage events, oldest first',
    description: 'from ≤ occurredAt < to. Events of the same millisecond come in the order of their ids.',
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
