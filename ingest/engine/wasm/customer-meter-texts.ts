import { ORDERED_AGGREGATIONS } from '../../../schemas/usage-limits.ts';
import type { CustomerMeter } from '../../registry-entries.ts';

/**
 * The texts of each (customer, meter) in the wasm engine's memory, about 200 B each, written when a pair is
 * first used: three lengths, then the beginning of its fingerprints, the beginning of its lines, and the
 * counted property of a `unique` meter; of a `latest` meter the last length is {@link OF_LATEST}. When there
 * is no room they are cleared at the next request: the texts of one request stay together.
 */
export function createCustomerMeterTexts(memory: Buffer, from: number, to: number) {
  const places = new Map<CustomerMeter, number>();
  let end = from;
  let isFull = false;
  return {
    beginRequest(): void {
      if (!isFull) return;
      places.clear();
      end = from;
      isFull = false;
    },
    /** Undefined when there is no room for this request. */
    placeOf(customerMeter: CustomerMeter): number | undefined {
      const known = places.get(customerMeter);
      if (known !== undefined) return known;
      const texts = textsOf(customerMeter);
      isFull = end + texts.length > to;
      if (isFull) return undefined;
      const place = end;
      memory.set(texts, place);
      end += texts.length;
      places.set(customerMeter, place);
      return place;
    },
  };
}

/** In place of a length: there is no property, and its lines carry the order of arrival. */
const OF_LATEST = -1;

function textsOf({ fingerprint, json, meter }: CustomerMeter): Buffer {
  const texts = [fingerprint, json, meter.property ?? ''].map((text) => Buffer.from(text));
  const lengths = Int32Array.from(texts, (text) => text.length);
  if (ORDERED_AGGREGATIONS.has(meter.aggregation)) lengths[2] = OF_LATEST;
  return Buffer.concat([Buffer.from(lengths.buffer), ...texts]);
}
