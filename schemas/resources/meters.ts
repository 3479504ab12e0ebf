import { type Static, Type } from 'typebox';
import { API_BASE, defineRoute } from '../route.ts';
import { AGGREGATIONS, RESERVED_METER_KEY } from '../usage-limits.ts';
import {
  AnyName,
  Decimal,
  Name,
  NamedId,
  Nothing,
  PageQuery,
  pageOf,
  removable,
  ruled,
  Timestamp,
} from './fields.ts';

const Rate = Type.Unsafe<Static<typeof Decimal>>({ ...Decimal, minimum: 0 });

const Aggregation = Type.Enum([...AGGREGATIONS]);

const Property = Type.String({ minLength: 1, maxLength: 64 });

/** Credits per unit, by the value of one property. */
export const CreditRates = Type.Object({
  property: Property,
  rates: Type.Record(AnyName, Rate, {
    minProperties: 1,
    maxProperties: 1000,
    propertyNames: { maxLength: 256 },
  }),
});

const UnitRate = Type.Unsafe<Static<typeof Rate>>({
  ...Rate,
  description: 'Credits per unit. Only for `sum` and `count` meters.',
});

const Unit = Type.String({
  minLength: 1,
  maxLength: 64,
  description: 'What an amount is of. It is shown behind amounts as it is: `calls` rather than `call`.',
});

const EventPath = Type.String({ minLength: 1, maxLength: 256 });

const PATH_FORM =
  'A member of the data by its name (`tokens`), or a path of names and indexes (`$.usage.tokens[0]`).';

/** How events of other formats (CloudEvents, logs of OTLP) become usage of a meter. */
export const EventSource = Type.Object({
  eventType: Type.String({
    minLength: 1,
    maxLength: 256,
    description: 'The `type` of the CloudEvents that the meter counts, or the name of the event of a log.',
  }),
  valueProperty: Type.Optional(
    Type.String({
      ...EventPath,
      description:
        `Where the value is in the data of an event: a number, or a text that is one. ${PATH_FORM} Left ` +
        'out: each event counts 1. Of a `unique` meter: what is counted, if its data has no member of the ' +
        'name of `property`.',
    }),
  ),
  filters: Type.Optional(
    Type.Record(AnyName, Type.Array(Type.String({ maxLength: 256 }), { minItems: 1, maxItems: 100 }), {
      minProperties: 1,
      maxProperties: 16,
      propertyNames: { minLength: 1, maxLength: 256 },
      description:
        'Accepted values by path. An event counts if each path has one of its values; numbers and booleans ' +
        'are compared by their text.',
    }),
  ),
  groupBy: Type.Optional(
    Type.Record(AnyName, EventPath, {
      minProperties: 1,
      maxProperties: 32,
      propertyNames: { minLength: 1, maxLength: 64 },
      description: 'Properties of the usage event, each with the path of its value in the data.',
    }),
  ),
});
export type EventSource = Static<typeof EventSource>;

const MeterKey = Type.String({
  ...NamedId,
  ...ruled(`^(?!${RESERVED_METER_KEY})`, 'must not begin with meter_, nor be `.` or `..`'),
});

const meterFields = {
  name: Name,
  aggregation: Aggregation,
  property: Type.Optional(
    Type.String({
      ...Property,
      description: 'The event property whose distinct values a `unique` meter counts.',
    }),
  ),
  unit: Type.Optional(Unit),
  creditRate: Type.Optional(UnitRate),
  creditRates: Type.Optional(CreditRates),
  eventSource: Type.Optional(
    Type.Object(EventSource.properties, {
      description: 'The events sent to `POST /events` that the meter counts. Left out: none.',
    }),
  ),
};

export const NewMeter = Type.Object({ key: MeterKey, ...meterFields });
export type NewMeter = Static<typeof NewMeter>;

/** Fields that cannot change are in the schema so that a change of them is rejected and not ignored. */
export const MeterPatch = Type.Object({
  key: Type.Optional(MeterKey),
  name: Type.Optional(Name),
  aggregation: Type.Optional(Aggregation),
  property: Type.Optional(Property),
  unit: removable(Unit),
  creditRate: removable(UnitRate),
  creditRates: removable(CreditRates),
  eventSource: removable(EventSource),
});
export type MeterPatch = Static<typeof MeterPatch>;

export const Meter = Type.Object({
  id: Type.String(),
  key: Type.String(),
  ...meterFields,
  name: Type.String(),
  source: Type.Union([Type.Literal('api'), Type.Literal('auto')]),
  status: Type.Union([Type.Literal('active'), Type.Literal('archived')]),
  createdAt: Timestamp,
  updatedAt: Timestamp,
});
export type Meter = Static<typeof Meter>;

const MeterParams = Type.Object({
  meterId: Type.String({ ...NamedId, description: "The meter's key or id." }),
});

const oneMeter = {
  plane: 'control',
  params: MeterParams,
  query: Nothing,
  status: 200,
  response: Meter,
  etag: true,
} as const;

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
    description: '`key`, `aggregation` and `property` cannot be changed later.',
    params: Nothing,
    query: Nothing,
    body: NewMeter,
    example: {
      key: 'api-calls',
      name: 'API calls',
      aggregation: 'sum',
      unit: 'calls',
      creditRate: 0.002,
      eventSource: { eventType: 'gateway.request', groupBy: { region: '$.region' } },
    },
    status: 201,
    response: Meter,
    etag: true,
    errors: ['already_exists', 'value_invalid'],
  }),
  'meters.retrieve': defineRoute({
    ...oneMeter,
    method: 'GET',
    path: `${API_BASE}/meters/{meterId}`,
    access: 'plans:read',
    summary: 'Retrieve a meter',
    errors: ['meter_not_found'],
  }),
  'meters.update': defineRoute({
    ...oneMeter,
    method: 'PATCH',
    path: `${API_BASE}/meters/{meterId}`,
    access: 'plans:write',
    summary: 'Update a meter',
    description:
      'Fields left out keep their values; null removes a value. `creditRates` is replaced as a whole. New ' +
      'rates apply to usage that occurs from `updatedAt` on, the old ones to earlier usage. `key`, ' +
      '`aggregation` and `property` cannot be changed. `eventSource` is replaced as a whole, and counts ' +
      'for events that arrive from a second later on.',
    body: MeterPatch,
    example: { name: 'Calls of the API', creditRate: null },
    errors: ['meter_not_found', 'precondition_failed', 'value_invalid'],
  }),
  'meters.archive': defineRoute({
    ...oneMeter,
    method: 'POST',
    path: `${API_BASE}/meters/{meterId}/archive`,
    access: 'plans:write',
    summary: 'Archive a meter',
    description: 'An archived meter takes no new usage. Its recorded usage can still be read.',
    errors: ['meter_not_found', 'precondition_failed'],
  }),
};
