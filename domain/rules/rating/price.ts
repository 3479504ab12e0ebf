import type { Interval } from '../../../schemas/value-sets.ts';

/** A price of a plan or an add-on. Amounts and quantities are decimal texts, amounts in the currency. */
export type Price = FlatPrice | PerUnitPrice | TieredPrice | PackagePrice | PercentagePrice | SeatPrice;

interface AnyPrice {
  key: string;
  /** ISO 4217. */
  currency: string;
  /** The price's own period: usage, tiers, `minimum` and `maximum` begin again with each. */
  interval: Interval;
  intervalCount: number;
  /** Of each period, whatever was used. */
  minimum?: string;
  maximum?: string;
}

/** The same amount for each period. */
export interface FlatPrice extends AnyPrice {
  model: 'flat';
  amount: string;
}

/** Each unit costs the same, perhaps by the value of one property. */
export interface PerUnitPrice extends AnyPrice {
  model: 'per_unit';
  meterKey: string;
  unitAmount: string;
  unitAmounts?: { property: string; amounts: Record<string, string> };
  /** Units of a period that cost nothing; the dearest ones first. */
  included?: string;
}

/**
 * `graduated`: each unit costs what its own tier says. `volume`: all units cost what the tier says that the
 * last of them reaches.
 */
export interface TieredPrice extends AnyPrice {
  model: 'graduated' | 'volume';
  meterKey: string;
  /** Ascending; only the last one has no end. */
  tiers: readonly PriceTier[];
}

export interface PriceTier {
  /** The tier includes it; null: the rest. */
  upTo: string | null;
  unitAmount: string;
  /** Once, as soon as the tier is reached. Every period reaches the first one. */
  flatAmount?: string;
}

/** Whole packages: a begun one is charged. */
export interface PackagePrice extends AnyPrice {
  model: 'package';
  meterKey: string;
  /** Units in a package. */
  size: string;
  amount: string;
  included?: string;
}

/** A share of the metered value, which is money, and a fee for each event. */
export interface PercentagePrice extends AnyPrice {
  model: 'percentage';
  meterKey: string;
  /** Of 1: 0.029 is 2.9 %. */
  rate: string;
  /** Added for each event. */
  fixed?: string;
  /** Bounds of what one event costs. */
  min?: string;
  max?: string;
}

/** Each seat that the customer has: the value of a feature. */
export interface SeatPrice extends AnyPrice {
  model: 'seat';
  featureKey: string;
  unitAmount: string;
}
