import type { Aggregation } from '../schemas/usage-limits.ts';

/** What the hot path needs to know of a customer. */
export interface Customer {
  /** `cus_…` */
  id: string;
  archived: boolean;
  /** What is derived from this customer and one meter, by meter key; see {@link CustomerMeter}. */
  customerMeters: Map<string, CustomerMeter>;
}

/** What the hot path needs to know of a meter. */
export interface Meter {
  key: string;
  aggregation: Aggregation;
  /** The counted property of a `unique` meter. */
  property: string | undefined;
  archived: boolean;
}

/** Texts that every event of one (environment, customer, meter) begins with, made once. */
export interface CustomerMeter {
  meter: Meter;
  /**
   * `"environment","customer id","meter key"`: begins a line, and names the customer and meter in a frame.
   */
  json: string;
  /** Unambiguous beginning of a fingerprint's text: no name holds U+0000. */
  fingerprint: string;
}

/**
 * Customers and meters by name, per environment. `find` reads the cache; names that are not cached are
 * queried by `fill…` before anything is decided, one query for all names of a request. Misses are never
 * cached.
 */
export interface UsageRegistry {
  /** Another one as soon as anything that was found before may be out of date. */
  readonly generation: number;
  findCustomer(environment: string, name: string): Customer | undefined;
  findMeter(environment: string, name: string): Meter | undefined;
  /** Throws Transient while Postgres is unavailable. Names that do not exist are absent from the result. */
  fillCustomers(environment: string, names: Set<string>): Promise<Map<string, Customer>>;
  /**
   * As above; an unknown key becomes a `sum` meter unless the workspace is strict or has its fill of them.
   */
  fillMeters(environment: string, names: Set<string>): Promise<Map<string, Meter>>;
  /**
   * Which of these names, that this environment does not have, the other mode of its workspace has: for the
   * text of an error. Nothing of it is cached. Throws Transient.
   */
  namesInOtherMode(environment: string, kind: 'customer' | 'meter', names: Set<string>): Promise<Set<string>>;
  customerMeterOf(environment: string, customer: Customer, meter: Meter): CustomerMeter;
}
