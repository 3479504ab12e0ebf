import { type Static, type TProperties, Type } from 'typebox';
import { INTERVALS } from '../value-sets.ts';
import { AnyName, Decimal, NamedId, ruled } from './fields.ts';

export const PRICES_MAX = 100;
export const TIERS_MAX = 100;
const INTERVAL_COUNT_MAX = 366;

const Amount = Type.Unsafe<Static<typeof Decimal>>({ ...Decimal, minimum: 0 });
const Positive = Type.Unsafe<Static<typeof Decimal>>({ ...Decimal, exclusiveMinimum: 0 });

function explained<S extends object>(schema: S, description: string): S {
  return { ...schema, description };
}

const MeterKey = explained(NamedId, "The meter's key.");
const Included = Type.Optional(explained(Amount, 'Units of each period that cost nothing.'));

const common = {
  key: explained(
    NamedId,
    'Your name for it. Prices with the same key are one price in several currencies and intervals.',
  ),
  currency: Type.String({
    ...ruled('^[A-Z]{3}$', 'must be a currency code of ISO 4217, like EUR'),
    description: 'A currency in use, by its code of ISO 4217. Amounts are in it, not in its minor unit.',
  }),
  interval: Type.Enum([...INTERVALS], {
    description:
      'Together with `intervalCount` the period of the price. Periods begin at the billing anchor of the ' +
      'subscription. Of the prices with one key a subscription pays the one with its own interval, else ' +
      'the one with the shortest.',
  }),
  intervalCount: Type.Optional(
    Type.Integer({ minimum: 1, maximum: INTERVAL_COUNT_MAX, description: 'Default: 1.' }),
  ),
  description: Type.Optional(Type.String({ maxLength: 500 })),
  minimum: Type.Optional(explained(Amount, 'The least that each period costs.')),
  maximum: Type.Optional(explained(Amount, 'The most that each period costs.')),
};

function ofModel<M extends string, P extends TProperties>(model: M, description: string, fields: P) {
  return Type.Object({ model: Type.Literal(model), ...common, ...fields }, { description });
}

export const FlatPrice = ofModel('flat', 'The same amount for each period.', { amount: Amount });

export const PerUnitPrice = ofModel('per_unit', 'Each unit costs the same.', {
  meterKey: MeterKey,
  unitAmount: Amount,
  unitAmounts: Type.Optional(
    Type.Object(
      {
        property: Type.String({ minLength: 1, maxLength: 64 }),
        amounts: Type.Record(AnyName, Amount, {
          minProperties: 1,
          maxProperties: 1000,
          propertyNames: { maxLength: 256 },
        }),
      },
      {
        description:
          'Amounts by the value of one property of the events; `unitAmount` is for all other values. Only ' +
          'for `sum` and `count` meters. What is included are the dearest units.',
      },
    ),
  ),
  included: Included,
});

export const PriceTier = Type.Object({
  upTo: Type.Unsafe<Static<typeof Positive> | null>({
    ...Positive,
    type: ['number', 'null'],
    description: 'The tier includes it. Ascending; null in the last tier.',
  }),
  unitAmount: Amount,
  flatAmount: Type.Optional(
    explained(Amount, 'Charged once, as soon as the tier is reached. Every period reaches the first one.'),
  ),
});
const tiered = {
  meterKey: MeterKey,
  tiers: Type.Array(PriceTier, { minItems: 1, maxItems: TIERS_MAX }),
};

export const GraduatedPrice = ofModel('graduated', 'Each unit costs what its own tier says.', tiered);

export const VolumePrice = ofModel(
  'volume',
  'All units of a period cost what the tier says that the last of them reaches.',
  tiered,
);

export const PackagePrice = ofModel('package', 'Whole packages; a begun one is charged.', {
  meterKey: MeterKey,
  size: explained(Positive, 'Units in a package.'),
  amount: Amount,
  included: Included,
});

export const PercentagePrice = ofModel(
  'percentage',
  'A share of the metered value, which is money. Only for `sum` meters. A correction gives back its share.',
  {
    meterKey: MeterKey,
    rate: explained(Amount, 'Of 1: 0.029 is 2.9 %.'),
    fixed: Type.Optional(explained(Amount, 'Added for each event.')),
    min: Type.Optional(explained(Amount, 'The least that one event costs.')),
    max: Type.Optional(explained(Amount, 'The most that one event costs.')),
  },
);

export const SeatPrice = ofModel('seat', 'Each seat that the customer has.', {
  featureKey: explained(NamedId, 'The key of a limit or metered feature. Its value is the number of seats.'),
  unitAmount: Amount,
});

/** By `model`. */
export const PRICE_MODELS = {
  flat: FlatPrice,
  per_unit: PerUnitPrice,
  graduated: GraduatedPrice,
  volume: VolumePrice,
  package: PackagePrice,
  percentage: PercentagePrice,
  seat: SeatPrice,
};

export type Price = Static<(typeof PRICE_MODELS)[keyof typeof PRICE_MODELS]>;
export const Price = Type.Unsafe<Price>({
  type: 'object',
  properties: { model: Type.Enum(Object.keys(PRICE_MODELS)) },
  required: ['model'],
  discriminator: { propertyName: 'model' },
  oneOf: Object.values(PRICE_MODELS),
});

export const PriceSet = Type.Object({ prices: Type.Array(Price, { maxItems: PRICES_MAX }) });
export type PriceSet = Static<typeof PriceSet>;

export const REPLACED =
  'The request contains the whole set; a price that is not in it is no longer charged. The set that is ' +
  'there already changes nothing. What was used before the change keeps its price.';
