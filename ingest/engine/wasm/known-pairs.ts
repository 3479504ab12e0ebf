import type { TouchedSpan } from '../../../schemas/stored/frame.ts';
import type { CustomerMeter, UsageRegistry } from '../../registry-entries.ts';
import type { WasmModule } from './wasm-module.ts';

/**
 * The pairs of the request that the fast door has just read, in its order, with their texts in its memory.
 * Undefined when a name is not known here, or names what is archived.
 */
export function findKnownPairs(
  door: WasmModule,
  registry: UsageRegistry,
  environment: string,
): CustomerMeter[] | undefined {
  const pairs: CustomerMeter[] = [];
  door.texts.beginRequest();
  for (let index = 0, count = door.wasm.pairCount(); index < count; index++) {
    const [customerName, meterName] = door.namesOf(index);
    const customer = registry.findCustomer(environment, customerName);
    const meter = registry.findMeter(environment, meterName);
    if (!customer || !meter || customer.archived || meter.archived) return undefined;
    const pair = registry.pairOf(environment, customer, meter);
    const place = door.texts.placeOf(pair);
    if (place === undefined) return undefined;
    door.setText(index, place);
    pairs.push(pair);
  }
  return pairs;
}

/** A customer may have been named by its id and by its external id in one request. */
export function touchedSpans(door: WasmModule, pairs: CustomerMeter[]): TouchedSpan[] {
  const touched = new Map<CustomerMeter, TouchedSpan>();
  for (const [index, pair] of pairs.entries()) {
    const span = door.touchedSpan(index);
    if (!span) continue;
    const known = touched.get(pair) ?? { pair: pair.json, ...span };
    known.occurredFromMs = Math.min(known.occurredFromMs, span.occurredFromMs);
    known.occurredToMs = Math.max(known.occurredToMs, span.occurredToMs);
    touched.set(pair, known);
  }
  return [...touched.values()];
}
