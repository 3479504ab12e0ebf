import { type Static, Type } from 'typebox';
import { API_BASE, defineRoute } from '../route.ts';
import { AGGREGATIONS, RESERVED_METER_KEY } from '../usage-limits.ts';
import { Decimal, Name, NamedId, Nothing, PageQuery, pageOf, Timestamp } from './fields.ts';

const Rate = Type.Unsafe<Static<typeof Decimal>>({ ...Decimal, minimum: 0 });

const Aggregation = Type.Enum([...AGGREGATIONS]);

const Property = Type.String({ minLength: 1, maxLength: 64 });

/** Credits per unit, by the value of one property. */
const RatesByValue = Type.Object({
  property: Property,
  rates: Type.Record(Type.String(), Rate, {
    minProperties: 1,
    maxProperties: 1000,
    propertyNames: { maxLength: 256 },
  }),
});

const meterFields = {
  name: Name,
  aggregation: Aggregation,
  property: Type.Optional(
    Type.String({ ...Property, description: 'What a `unique` meter counts the different values of.' }),
  ),
  unit: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
  creditRate: Type.Optional(
    Type.Unsafe<Static<typeof Rate>>({
      ...Rate,
      description: 'Credits per unit; sum and count meters only.',
    }),
  ),
  creditRates: Type.Optional(RatesByValue),
};

export const NewMeter = Type.Object({
  key: Type.String({ ...NamedId, pattern: `^(?!${RESERVED_METER_KEY})` }),
  ...meterFields,
});
export type NewMeter = Static<typeof NewMeter>;

export const Meter = Type.Object({
  id: Type.String(),
  key: Type.String(),
  ...meterFields,
  name: Type.String(),
  source: Type.Union([Type.Literal('api'), Type.Literal('auto')]),
  status: Type.Union([Type.Literal('active'), Type.Literal('archived')]),
  createdAt: Timestamp,
});
export type Meter = Static<typeof Meter>;

export const meterRoutes = {
  'meters.list': defineRoute({
    method: 'GET',
    path: `${API_BASE}/meters`,
    plane: 'control',
    access: 'plans:read',
    summary: 'List meters, newest first',
    params: Nothing,
    query: PageQuery,
    status: 200,
    response: pageOf(Meter),
    errors: [],
  }),
  'meters.create': defineRoute({
    method: 'POST',
    path: `${API_BASE}/meters`,
    plane: 'control',
    access: 'plans:write',
    summary: 'Create a meter',
    description: 'What it aggregates and how never changes afterwards.',
    params: Nothing,
    query: Nothing,
    body: NewMeter,
    status: 201,
    response: Meter,
    errors: ['already_exists', 'value_invalid'],
  }),
};
