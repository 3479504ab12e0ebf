import { Transient } from '../../schemas/failures.ts';
import { splitEnvironment } from '../../schemas/primitives/environment.ts';
import type { Customer, Meter, UsageRegistry } from '../registry-entries.ts';
import type { Item } from './decided.ts';
import type { CheckedItem } from './js/check-item.ts';

/**
 * Gives every well-formed item its customer and meter. Undefined when all names are cached; else what looks
 * the missing ones up, customers first, since only an item with a customer may make a meter.
 */
export function resolveNames(
  registry: UsageRegistry,
  environment: string,
  items: Item[],
): (() => Promise<void>) | undefined {
  for (const item of items) {
    if (!item.checked) continue;
    const customer = registry.findCustomer(environment, item.checked.customer);
    const meter = registry.findMeter(environment, item.checked.meter);
    if (!customer || !meter) return () => lookUp(registry, environment, items);
    item.customer = customer;
    item.customerMeter = registry.customerMeterOf(environment, customer, meter);
  }
  return undefined;
}

async function lookUp(registry: UsageRegistry, environment: string, items: Item[]): Promise<void> {
  const wellFormed = items.flatMap((item) => (item.checked ? [{ item, checked: item.checked }] : []));
  const customers = await find<Customer>({
    names: namesOf(wellFormed, 'customer'),
    findCached: (name) => registry.findCustomer(environment, name),
    fill: (names) => registry.fillCustomers(environment, names),
  });
  const withCustomer = wellFormed.filter(({ checked }) => customers.found.has(checked.customer));
  const meters = await find<Meter>({
    names: namesOf(withCustomer, 'meter'),
    findCached: (name) => registry.findMeter(environment, name),
    fill: (names) => registry.fillMeters(environment, names),
  });
  const keysThatWait = new Set<string>();
  for (const { item, checked } of wellFormed) {
    const customer = customers.found.get(checked.customer);
    const meter = meters.found.get(checked.meter);
    item.customer = customer;
    item.customerMeter =
      customer && meter ? registry.customerMeterOf(environment, customer, meter) : undefined;
    if (customer ? !meter && meters.isUnavailable : customers.isUnavailable)
      keysThatWait.add(checked.idempotencyKey);
    // Also for an earlier item with the same key: it would take the key, and the item sent first would be
    // rejected.
    item.unavailable = keysThatWait.has(checked.idempotencyKey);
  }
  await lookInOtherMode(registry, environment, wellFormed);
}

/** For the text of an error only: where the query fails, the error does not mention the other mode. */
async function lookInOtherMode(
  registry: UsageRegistry,
  environment: string,
  wellFormed: Array<{ item: Item; checked: CheckedItem }>,
): Promise<void> {
  const rejected = wellFormed.filter(({ item }) => !item.customerMeter && !item.unavailable);
  const { mode } = splitEnvironment(environment);
  for (const kind of ['customer', 'meter'] as const) {
    const strangers = rejected.filter(({ item }) => (item.customer === undefined) === (kind === 'customer'));
    if (strangers.length === 0) continue;
    const names = await registry
      .namesInOtherMode(environment, kind, namesOf(strangers, kind))
      .catch((error: unknown) => {
        if (error instanceof Transient) return NO_NAMES;
        throw error;
      });
    for (const { item, checked } of strangers) if (names.has(checked[kind])) item.keyMode = mode;
  }
}

const NO_NAMES: ReadonlySet<string> = new Set();

function namesOf(items: Array<{ checked: CheckedItem }>, kind: 'customer' | 'meter'): Set<string> {
  return new Set(items.map(({ checked }) => checked[kind]));
}

interface Search<Entry> {
  names: Set<string>;
  findCached(name: string): Entry | undefined;
  fill(names: Set<string>): Promise<Map<string, Entry>>;
}

async function find<Entry>(
  search: Search<Entry>,
): Promise<{ found: Map<string, Entry>; isUnavailable: boolean }> {
  const found = new Map<string, Entry>();
  const missing = new Set<string>();
  for (const name of search.names) {
    const entry = search.findCached(name);
    if (entry) found.set(name, entry);
    else missing.add(name);
  }
  if (missing.size === 0) return { found, isUnavailable: false };
  try {
    for (const [name, entry] of await search.fill(missing)) found.set(name, entry);
    return { found, isUnavailable: false };
  } catch (error) {
    if (!(error instanceof Transient)) throw error;
    return { found, isUnavailable: true };
  }
}
