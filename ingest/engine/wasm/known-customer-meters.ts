import type { CommitPart } from '../../../infra/ports/engine.ts';
import type { TouchedSpan } from '../../../schemas/stored/frame.ts';
import type { CustomerMeter, UsageRegistry } from '../../registry-entries.ts';
import type { WasmModule } from './wasm-module.ts';

/**
 * Each (customer, meter) of the request that the wasm engine has just read, in its order, with their texts in
 * its memory. Undefined when a name is not cached here, or names an archived object.
 */
export function findKnownCustomerMeters(
  module: WasmModule,
  registry: UsageRegistry,
  environment: string,
): CustomerMeter[] | undefined {
  const { wasm } = module;
  const number = module.texts.beginRequest(environment, registry.generation);
  const count = wasm.pairCount();
  for (let index = wasm.findKnown(number, 0); index < count; index = wasm.findKnown(number, index + 1)) {
    const place = placeOf(module, registry, { environment, number, index });
    if (place === undefined) return undefined;
    wasm.putKnown(index, place);
  }
  const customerMeters: CustomerMeter[] = [];
  for (let index = 0; index < count; index++) customerMeters.push(module.customerMeter(index));
  return customerMeters;
}

/** Of the texts of one that is not in the wasm engine's memory yet. */
function placeOf(
  { texts, namesOf }: WasmModule,
  registry: UsageRegistry,
  { environment, number, index }: { environment: string; number: number; index: number },
): number | undefined {
  const [customerName, meterName] = namesOf(index);
  const customer = registry.findCustomer(environment, customerName);
  const meter = registry.findMeter(environment, meterName);
  if (!customer || !meter || customer.archived || meter.archived) return undefined;
  const customerMeter = registry.customerMeterOf(environment, customer, meter);
  return texts.add({ environment: number, customerName, meterName, customerMeter });
}

/**
 * The spans of the created events, and which of them each event is of, once their lines were written. A
 * customer may have been named by its id and by its external id in one request. The numbers lie in the memory
 * of the wasm engine.
 */
export function touchedBy(
  module: WasmModule,
  customerMeters: CustomerMeter[],
  created: number,
): Pick<CommitPart, 'touched' | 'numbers'> {
  const numbers = module.numbers(created);
  const [first] = customerMeters;
  if (first !== undefined && customerMeters.length === 1) {
    const span = module.touchedSpan(0);
    return { numbers, touched: span ? [{ pair: first.json, ...span }] : [] };
  }
  const touched: TouchedSpan[] = [];
  const known = new Map<CustomerMeter, number>();
  const numberOf = new Uint16Array(customerMeters.length);
  let isSame = true;
  for (const [index, customerMeter] of customerMeters.entries()) {
    const span = module.touchedSpan(index);
    if (!span) continue;
    const number = known.get(customerMeter) ?? touched.length;
    numberOf[index] = number;
    isSame &&= number === index;
    if (number < touched.length) widen(touched[number] as TouchedSpan, span);
    else {
      known.set(customerMeter, number);
      const { occurredFromMs, occurredToMs } = span;
      touched.push({ pair: customerMeter.json, occurredFromMs, occurredToMs });
    }
  }
  if (!isSame)
    for (let event = 0; event < created; event++) numbers[event] = numberOf[numbers[event] ?? 0] ?? 0;
  return { numbers, touched };
}

function widen(span: TouchedSpan, by: Omit<TouchedSpan, 'pair'>): void {
  span.occurredFromMs = Math.min(span.occurredFromMs, by.occurredFromMs);
  span.occurredToMs = Math.max(span.occurredToMs, by.occurredToMs);
}
