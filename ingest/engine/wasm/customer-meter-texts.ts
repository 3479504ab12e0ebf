import { ORDERED_AGGREGATIONS } from '../../../schemas/usage-limits.ts';
import type { CustomerMeter } from '../../registry-entries.ts';

/** A (customer, meter) as a request names it. */
export interface NamedCustomerMeter {
  environment: number;
  customerName: string;
  meterName: string;
  customerMeter: CustomerMeter;
}

/**
 * The texts of each (customer, meter) in the wasm engine's memory, about 250 B each, written when a pair of
 * names is first used: their lengths, the numbers of environment and pair, then the beginning of its
 * fingerprints, the beginning of its lines, the counted property of a `unique` meter, and the names; of a
 * `latest` meter the length of the property is {@link OF_LATEST}. When there is no room, or `generation` is
 * another one, all are forgotten at the next request: the texts of one request stay together.
 */
export function createCustomerMeterTexts(
  { memory, from, to }: { memory: Buffer; from: number; to: number },
  forget: () => void,
) {
  const environments = new Map<string, number>();
  const customerMeters: CustomerMeter[] = [];
  let latest = { environment: '', number: -1 };
  let generation = -1;
  let end = from;
  let isFull = false;

  function clear(): void {
    environments.clear();
    customerMeters.length = 0;
    latest = { environment: '', number: -1 };
    end = from;
    isFull = false;
    forget();
  }

  function numberOf(environment: string): number {
    const number = environments.get(environment) ?? environments.size;
    environments.set(environment, number);
    latest = { environment, number };
    return number;
  }

  return {
    /** Returns the number of the environment. */
    beginRequest(environment: string, current: number): number {
      if (isFull || current !== generation || environments.size > ENVIRONMENTS_MAX) clear();
      generation = current;
      return environment === latest.environment ? latest.number : numberOf(environment);
    },
    /** Its place; undefined when there is no room for this request. */
    add(named: NamedCustomerMeter): number | undefined {
      const texts = textsOf(named, customerMeters.length);
      isFull = end + texts.length > to;
      if (isFull) return undefined;
      const place = end;
      memory.set(texts, place);
      end += texts.length;
      customerMeters.push(named.customerMeter);
      return place;
    },
    /** By its number in the texts. */
    customerMeter: (number: number) => customerMeters[number] as CustomerMeter,
  };
}

/** Far more than one installation has. */
const ENVIRONMENTS_MAX = 10_000;

/** In place of a length: there is no property, and its lines carry the order of arrival. */
const OF_LATEST = -1;

function textsOf(named: NamedCustomerMeter, number: number): Buffer {
  const { environment, customerName, meterName, customerMeter } = named;
  const { fingerprint, json, meter } = customerMeter;
  const parts = [fingerprint, json, meter.property ?? '', customerName, meterName];
  const texts = parts.map((text) => Buffer.from(text));
  const head = Int32Array.from([...texts.map(({ length }) => length), environment, number]);
  if (ORDERED_AGGREGATIONS.has(meter.aggregation)) head[2] = OF_LATEST;
  return Buffer.concat([Buffer.from(head.buffer), ...texts]);
}
