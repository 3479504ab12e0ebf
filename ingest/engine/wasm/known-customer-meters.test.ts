import { expect, test } from 'vitest';
import type { Customer, Meter, UsageRegistry } from '../../registry-entries.ts';
import { findKnownCustomerMeters } from './known-customer-meters.ts';
import { createWasmModule } from './wasm-module.ts';

const METER: Meter = { key: 'calls', aggregation: 'sum', property: undefined, archived: false };

/** Each environment has every name, and a customer of its own behind it. Counts what it is asked. */
function createWorld() {
  const world = { generation: 0, asked: 0, archived: false };
  const customers = new Map<string, Customer>();
  const registry: UsageRegistry = {
    get generation() {
      return world.generation;
    },
    findCustomer(environment, name) {
      world.asked++;
      const id = `${environment}/${name}`;
      const known = customers.get(id) ?? { id, archived: false, customerMeters: new Map() };
      customers.set(id, known);
      return { ...known, archived: world.archived };
    },
    findMeter: (_, name) => ({ ...METER, key: name }),
    fillCustomers: async () => new Map(),
    fillMeters: async () => new Map(),
    namesInOtherMode: async () => new Set(),
    customerMeterOf: (_, customer, meter) => ({
      meter,
      json: `${customer.id} ${meter.key}`,
      fingerprint: 'f',
    }),
  };
  return { world, registry };
}

function createFinder() {
  const { world, registry } = createWorld();
  const module = createWasmModule();
  const find = (environment: string, pairs: Array<[string, string]>) => {
    const items = pairs.map(
      ([customer, meter], at) =>
        `{"customerId":"${customer}","meterId":"${meter}","value":1,"idempotencyKey":"${at}"}`,
    );
    const count = module.read({ kind: 'batch', body: Buffer.from(`{"events":[${items.join(',')}]}`) });
    expect(count).toBe(pairs.length);
    return findKnownCustomerMeters(module, registry, environment)?.map(({ json }) => json);
  };
  return { world, find };
}

/** Red when the environment, or where one name ends and the other begins, is left out of the comparison. */
test('names mean what they mean in their environment, and are looked up once', () => {
  const { world, find } = createFinder();
  const pairs: Array<[string, string]> = [
    ['ac', 'me'],
    ['a', 'cme'],
    ['acme', 'm'],
    ['ac', 'm'],
  ];
  for (const round of ['first', 'again']) {
    for (const environment of ['one', 'two'])
      expect(find(environment, pairs), round).toEqual(pairs.map(([a, b]) => `${environment}/${a} ${b}`));
    expect(world.asked).toBe(8);
  }
  expect(find('one', [['new', 'm'], ...pairs, ['newer', 'm']])?.at(-1)).toBe('one/newer m');
  expect(world.asked).toBe(10);
});

/** Red when what is known outlives the rows that it was made of: an archived customer would take usage. */
test('all is looked up again when anything may be out of date', () => {
  const { world, find } = createFinder();
  expect(find('one', [['a', 'm']])).toEqual(['one/a m']);
  world.archived = true;
  expect(find('one', [['a', 'm']])).toEqual(['one/a m']);
  world.generation++;
  expect(find('one', [['a', 'm']])).toBeUndefined();
  expect(find('one', [['a', 'm']])).toBeUndefined();
  world.archived = false;
  expect(find('one', [['a', 'm']])).toEqual(['one/a m']);
});

/**
 * Far more than the table has slots, so that all are compared with others: red when the environment, a length
 * or a name is left out.
 */
test('each of 140,000 pairs of names finds its own', () => {
  const { find } = createFinder();
  const environments = ['one', 'two', 'three', 'four', 'five', 'six', 'seven'];
  for (const some of requestsOf(20_000)) {
    for (const environment of environments) {
      const own = some.map(([customer, meter]) => `${environment}/${customer} ${meter}`);
      expect(find(environment, some)?.join()).toBe(own.join());
    }
  }
});

/** Red with places for a quarter of them: looking pairs up takes ten times what all other reading does. */
test('of 60,000 pairs of names in turn nearly all are looked up once', () => {
  const { world, find } = createFinder();
  for (const some of requestsOf(60_000)) find('one', some);
  expect(world.asked).toBe(60_000);
  for (const some of requestsOf(60_000)) find('one', some);
  expect(world.asked).toBeLessThan(61_000);
});

/** So many pairs of names, as many in each request as it may have. */
function requestsOf(count: number): Array<Array<[string, string]>> {
  const pairs = Array.from({ length: count }, (_, at): [string, string] => {
    return [`c${at % 2_000}`, String(Math.floor(at / 2_000))];
  });
  return Array.from({ length: count / 500 }, (_, at) => pairs.slice(at * 500, (at + 1) * 500));
}
