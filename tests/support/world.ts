/** The customers and meters that a run is about, before and after the product has given them ids. */
import type { Aggregation } from '../../schemas/usage-limits.ts';

export interface MeterPlan {
  key: string;
  aggregation: Aggregation;
  /** What a `unique` meter counts. */
  property?: string;
  unit?: string;
  /** Decimal text. */
  creditRate?: string;
  /** By the label of one property, ahead of `creditRate`. */
  creditRates?: { property: string; rates: Record<string, string> };
  /** False: the product makes it on the first event, as a `sum` meter. */
  declared: boolean;
}

export const METERS: readonly MeterPlan[] = [
  { key: 'api_calls', aggregation: 'sum', unit: 'calls', creditRate: '3', declared: true },
  { key: 'tokens', aggregation: 'sum', unit: 'tokens', declared: true },
  {
    key: 'requests',
    aggregation: 'count',
    creditRate: '0.25',
    creditRates: { property: 'cached', rates: { true: '0.125', false: '7' } },
    declared: true,
  },
  { key: 'peak_memory', aggregation: 'max', unit: 'MiB', declared: true },
  { key: 'seats', aggregation: 'latest', declared: true },
  { key: 'active_users', aggregation: 'unique', property: 'user', declared: true },
  { key: 'adhoc_units', aggregation: 'sum', declared: false },
];

export const DIMENSIONS = ['user', 'size', 'cached', '$hour', '$day', '$month'] as const;

export interface CustomerPlan {
  name: string;
  email: string;
  externalId?: string;
  /** Share of the events. */
  weight: number;
  /** Values of this sign only, but for sums: the state of an extreme that begins at 0 shows here. */
  sign?: 'negative' | 'positive';
}

export const CUSTOMERS: readonly CustomerPlan[] = [
  { name: 'Acme', email: 'ops@acme.example', externalId: 'acme-1', weight: 60 },
  { name: 'Börse & Söhne', email: 'it@boerse.example', weight: 25, sign: 'positive' },
  { name: 'Cold "Store"', email: 'a@cold.example', externalId: 'cold/store 1', weight: 15, sign: 'negative' },
];

/** The ids that the product gave, in the order of the plans above. `id` is '' for a meter not made yet. */
export interface World {
  customers: Array<CustomerPlan & { id: string }>;
  meters: Array<MeterPlan & { id: string }>;
}

/** For tests of what needs a world and no product. */
export function inventedWorld(): World {
  return {
    customers: CUSTOMERS.map((customer, at) => ({ ...customer, id: `cus_${at}` })),
    meters: METERS.map((meter, at) => ({ ...meter, id: meter.declared ? `meter_${at}` : '' })),
  };
}
