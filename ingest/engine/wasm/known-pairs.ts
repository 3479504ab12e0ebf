import type { TouchedSpan } from '../../../schemas/stored/frame.ts';
import type { CustomerMeter, UsageRegistry } from '../../registry-entries.ts';
import type { WasmModule } from './wasm-module.ts';

/**
 * The (customer, meter) pairs of the request that the wasm engine has just read, in its order, with their
 * texts in its memory. Undefined when a name is not cached here, or names an archived object.
 */
export function findKnownPairs(
  module: WasmModule,
  registry: UsageRegistry,
  environment: string,
): CustomerMeter[] | undefined {
  const pairs: CustomerMeter[] = [];
  module.texts.beginRequest();
  for (let index = 0, count = module.wasm.pairCount(); index < count; index++) {
    const [customerName, meterName] = module.namesOf(index);
    const customer = registry.findCustomer(environment, customerName);
    const meter = registry.findMeter(environment, meterName);
    if (!customer || !meter || customer.archived || meter.archived) return undefined;
    const pair = registry.pairOf(environment, customer, meter);
    const place = module.texts.placeOf(pair);
    if (place === undefined) return undefined;
    module.setText(index, place);
    pairs.push(pair);
  }
  return pairs;
}

/** A customer may have been named by its id and by its external id in one request. */
export function touchedSpans(module: WasmModule, pairs: CustomerMeter[]): TouchedSpan[] {
  const touched = new Map<CustomerMeter, TouchedSpan>();
  for (const [index, pair] of pairs.entries()) {
    const span = module.touchedSpan(index);
    if (!span) continue;
    const known = touched.get(pair) ?? { pair: pair.json, ...span };
    known.occurredFromMs = Math.min(known.occurredFromMs, span.occurredFromMs);
    known.occurredToMs = Math.max(known.occurredToMs, span.occurredToMs);
    touched.set(pair, known);
  }
  return [...touched.values()];
}
