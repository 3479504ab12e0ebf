import { expect, test } from 'vitest';
import { closeUsageChange, insertUsageChange, revertUsageChange } from '../domain/store/usage-changes.ts';
import { systemClock } from '../infra/ports/clock.ts';
import { inTransaction } from '../infra/postgres/pool.ts';
import { Transient } from '../schemas/failures.ts';
import { newId } from '../schemas/primitives/ids.ts';
import { USAGE_LIMITS } from '../schemas/usage-limits.ts';
import { poolOfThisFile, unavailablePool } from '../tests/support/test-pool.ts';
import { createRegistry } from './registry.ts';

const pool = await poolOfThisFile();

const registryOf = (entriesMax = 1_000) => createRegistry(pool, { entriesMax, clock: systemClock });
const names = (...list: string[]) => new Set(list);

/** A workspace of its own for one test, by its live environment. */
async function createEnvironment(options: { strict: boolean } = { strict: false }): Promise<string> {
  const workspace = newId('ws');
  await pool.query('INSERT INTO workspaces (id, name, strict_meters) VALUES ($1, $1, $2)', [
    workspace,
    options.strict,
  ]);
  const environment = `${workspace}:live`;
  await pool.query("INSERT INTO environments (id, workspace_id, mode) VALUES ($1, $2, 'live')", [
    environment,
    workspace,
  ]);
  return environment;
}

async function insertCustomer(environment: string, externalId?: string, status = 'active'): Promise<string> {
  const id = newId('cus');
  await pool.query(
    `INSERT INTO customers (id, environment, external_id, name, email, status)
     VALUES ($1, $2, $3, 'Ann', 'ann@example.com', $4)`,
    [id, environment, externalId, status],
  );
  return id;
}

async function insertMeter(environment: string, key: string, property?: string): Promise<string> {
  const id = newId('meter');
  await pool.query(
    'INSERT INTO meters (id, environment, key, name, aggregation, property) VALUES ($1, $2, $3, $3, $4, $5)',
    [id, environment, key, property === undefined ? 'max' : 'unique', property],
  );
  return id;
}

async function automaticMeters(environment: string): Promise<string[]> {
  const { rows } = await pool.query<{ key: string }>(
    "SELECT key FROM meters WHERE environment = $1 AND source = 'auto' AND aggregation = 'sum' ORDER BY key",
    [environment],
  );
  return rows.map(({ key }) => key);
}

test('a customer is found by its id and by its external id, and then in the cache', async () => {
  const environment = await createEnvironment();
  const id = await insertCustomer(environment, 'acme');
  const archived = await insertCustomer(environment, 'gone', 'archived');
  const registry = registryOf();
  expect(registry.findCustomer(environment, 'acme')).toBeUndefined();
  const found = await registry.fillCustomers(environment, names(id, 'acme', 'gone', 'nobody'));
  expect([...found.keys()].sort()).toEqual([id, 'acme', 'gone'].sort());
  expect(found.get('acme')).toMatchObject({ id, archived: false });
  expect(found.get(id)).toBe(found.get('acme'));
  expect(found.get('gone')).toMatchObject({ id: archived, archived: true });
  for (const name of [id, 'acme', 'gone']) {
    expect(registry.findCustomer(environment, name)).toBe(found.get(name));
  }
});

/** Red when a statement forgets the environment: promise 16. */
test('nothing of one environment is seen in another', async () => {
  const [mine, other] = [await createEnvironment(), await createEnvironment()];
  const customer = await insertCustomer(mine, 'acme');
  const meter = await insertMeter(mine, 'calls', 'user');
  const registry = registryOf();
  await registry.fillCustomers(mine, names(customer, 'acme'));
  await registry.fillMeters(mine, names(meter, 'calls'));
  expect(registry.findCustomer(other, 'acme')).toBeUndefined();
  expect((await registry.fillCustomers(other, names(customer, 'acme'))).size).toBe(0);
  const meters = await registry.fillMeters(other, names(meter, 'calls'));
  expect([...meters.keys()]).toEqual(['calls']);
  expect(meters.get('calls')).toMatchObject({ aggregation: 'sum', property: undefined });
});

test('unknown names that the other mode of the workspace has are reported', async () => {
  const [live, stranger] = [await createEnvironment(), await createEnvironment()];
  const test = live.replace(/live$/, 'test');
  await pool.query("INSERT INTO environments (id, workspace_id, mode) VALUES ($1, $2, 'test')", [
    test,
    live.split(':')[0],
  ]);
  const [id, foreign] = [await insertCustomer(test, 'acme'), await insertCustomer(stranger, 'theirs')];
  const meter = await insertMeter(test, 'users', 'user');
  const registry = registryOf();
  const requested = names(id, 'acme', foreign, 'theirs', meter, 'users', 'nobody');
  expect(await registry.namesInOtherMode(live, 'customer', requested)).toEqual(names(id, 'acme'));
  expect(await registry.namesInOtherMode(live, 'meter', requested)).toEqual(names(meter, 'users'));
  expect(await registry.namesInOtherMode(test, 'customer', requested)).toEqual(names());
  expect(registry.findCustomer(live, 'acme')).toBeUndefined();
});

test('a meter is found by its key and by its id, with what it counts', async () => {
  const environment = await createEnvironment();
  const id = await insertMeter(environment, 'users', 'user');
  const found = await registryOf().fillMeters(environment, names(id, 'users'));
  expect(found.get('users')).toEqual({
    key: 'users',
    aggregation: 'unique',
    property: 'user',
    archived: false,
  });
  expect(found.get(id)).toBe(found.get('users'));
  expect(await automaticMeters(environment)).toEqual([]);
});

test('an unknown key becomes an automatic sum meter, an unknown id does not', async () => {
  const environment = await createEnvironment();
  const id = newId('meter');
  const found = await registryOf().fillMeters(environment, names('calls', id, 'ä "quoted" key'));
  expect([...found.keys()].sort()).toEqual(['calls', 'ä "quoted" key']);
  expect(found.get('calls')).toEqual({
    key: 'calls',
    aggregation: 'sum',
    property: undefined,
    archived: false,
  });
  expect(await automaticMeters(environment)).toHaveLength(2);
});

/** Red when they are made: a client that tidies its paths, as browsers do, could never read them. */
test('a key that no path can carry becomes no meter', async () => {
  const environment = await createEnvironment();
  const found = await registryOf().fillMeters(environment, names('.', '..', '...'));
  expect([...found.keys()]).toEqual(['...']);
});

test('a strict workspace makes no meters, an unknown one neither', async () => {
  const environment = await createEnvironment({ strict: true });
  await insertMeter(environment, 'known');
  const found = await registryOf().fillMeters(environment, names('known', 'unknown'));
  expect([...found.keys()]).toEqual(['known']);
  expect((await registryOf().fillMeters('ws_nobody:live', names('calls'))).size).toBe(0);
});

/** Red without the lock: two rivals then both use the last free places. */
test('rivals make at most 1,000 automatic meters, and all see the same ones', async () => {
  const environment = await createEnvironment();
  const most = USAGE_LIMITS.automaticMetersMax;
  const requests = Array.from({ length: 12 }, (_, rival) =>
    names(...Array.from({ length: 200 }, (_, at) => `meter-${(rival * 97 + at) % 1_150}`)),
  );
  const responses = await Promise.all(requests.map((keys) => registryOf().fillMeters(environment, keys)));
  const made = await automaticMeters(environment);
  expect(made).toHaveLength(most);
  for (const response of responses) for (const key of response.keys()) expect(made).toContain(key);
  const known = await registryOf().fillMeters(environment, names(made[0] ?? '', 'one more'));
  expect([...known.keys()]).toEqual([made[0]]);
});

/** Red when a result that was read before a change is cached after it. */
test('an invalidation during a query keeps its result out of the cache', async () => {
  const environment = await createEnvironment();
  const id = await insertCustomer(environment);
  const registry = registryOf();
  const change = { kind: 'customer' as const, environment, id };
  const customers = registry.fillCustomers(environment, names(id));
  const meters = registry.fillMeters(environment, names('calls'));
  const before = registry.generation;
  registry.forget(change);
  expect(registry.generation).not.toBe(before);
  expect([(await customers).size, (await meters).size]).toEqual([1, 1]);
  expect(registry.findCustomer(environment, id)).toBeUndefined();
  expect(registry.findMeter(environment, 'calls')).toBeUndefined();
});

test('an invalidation clears its environment, one of another kind nothing, a new session all', async () => {
  const [one, two] = [await createEnvironment(), await createEnvironment()];
  const [inOne, inTwo] = [await insertCustomer(one), await insertCustomer(two)];
  const registry = registryOf();
  const known = () => [registry.findCustomer(one, inOne)?.id, registry.findCustomer(two, inTwo)?.id];
  await registry.fillCustomers(one, names(inOne));
  await registry.fillCustomers(two, names(inTwo));
  registry.forget({ kind: 'key', environment: one, id: 'key_a' });
  registry.forget({ kind: 'catalogue', environment: one, id: 'plan_a' });
  expect(known()).toEqual([inOne, inTwo]);
  registry.forget({ kind: 'meter', environment: one, id: 'meter_a' });
  expect(known()).toEqual([undefined, inTwo]);
  registry.clear();
  expect(known()).toEqual([undefined, undefined]);
});

test('an archived customer is known as archived after its invalidation', async () => {
  const environment = await createEnvironment();
  const id = await insertCustomer(environment, 'acme');
  const registry = registryOf();
  await registry.fillCustomers(environment, names('acme'));
  await pool.query("UPDATE customers SET status = 'archived' WHERE id = $1", [id]);
  registry.forget({ kind: 'customer', environment, id });
  expect((await registry.fillCustomers(environment, names('acme'))).get('acme')?.archived).toBe(true);
});

test('a customer and meter are joined once, and again for a changed meter', async () => {
  const environment = await createEnvironment();
  const id = await insertCustomer(environment);
  const registry = registryOf();
  const customer = (await registry.fillCustomers(environment, names(id))).get(id);
  const meter = (await registry.fillMeters(environment, names('a "key"'))).get('a "key"');
  if (!customer || !meter) throw new Error('both are there');
  const customerMeter = registry.customerMeterOf(environment, customer, meter);
  expect(JSON.parse(`[${customerMeter.json}]`)).toEqual([environment, id, 'a "key"']);
  expect(customerMeter.fingerprint).toBe(`${id}\u0000a "key"\u0000`);
  expect(registry.customerMeterOf(environment, customer, meter)).toBe(customerMeter);
  const changed = registry.customerMeterOf(environment, customer, { ...meter, archived: true });
  expect(changed.meter.archived).toBe(true);
});

/** Red when anything that is forgotten counts for more or less than it did when it came. */
test('the cache holds at most its bound, however often environments are forgotten', async () => {
  const environment = await createEnvironment();
  const ids = await Promise.all(['a', 'b', 'c', 'd'].map((name) => insertCustomer(environment, name)));
  const quiet = await createEnvironment();
  const kept = await insertCustomer(quiet);
  const registry = registryOf(20);
  const meter = (await registry.fillMeters(environment, names('calls'))).get('calls');
  if (!meter) throw new Error('it was made');
  for (let round = 0; round < 10; round++) {
    const found = await registry.fillCustomers(environment, names('a', 'b', ...ids.slice(0, 2)));
    for (const customer of found.values()) registry.customerMeterOf(environment, customer, meter);
    registry.forget({ kind: 'customer', environment, id: 'cus_a' });
  }
  await registry.fillCustomers(quiet, names(kept));
  const fillers = Array.from({ length: 20 }, (_, at) => `filler-${at}`);
  await registry.fillMeters(environment, names(...fillers));
  expect(registry.findCustomer(quiet, kept)).toBeUndefined();
  expect(registry.findMeter(environment, 'filler-0')).toBeDefined();
});

test('while Postgres is unavailable a query is Transient, and what is cached stays cached', async () => {
  const environment = await createEnvironment();
  const registry = createRegistry(unavailablePool(), { entriesMax: 10, clock: systemClock });
  await expect(registry.fillCustomers(environment, names('a'))).rejects.toBeInstanceOf(Transient);
  await expect(registry.fillMeters(environment, names('a'))).rejects.toBeInstanceOf(Transient);
});

// Red when a session that is closed takes usage: it would count without a close.
test('a backfill is found while it is open, in its own environment', async () => {
  const [environment, other] = [await createEnvironment(), await createEnvironment()];
  const begin = (kind: 'backfill' | 'void') =>
    inTransaction(pool, (db) =>
      insertUsageChange(db, {
        ...{ environment, id: `${kind} of ${environment}`, kind, hasVoids: false, request: {} },
        ...{ createdBy: 'key', createdAt: new Date() },
      }),
    );
  const registry = registryOf();
  const number = await begin('backfill');
  await begin('void');
  const find = (id: string, of = environment) => registry.findBackfill(of, id);
  const id = `backfill of ${environment}`;
  expect(await find(id)).toBe(number);
  const unknown = expect.objectContaining({ code: 'not_found', param: 'backfillId' });
  expect(await find(id, other)).toEqual(unknown);
  expect(await find(`void of ${environment}`)).toEqual(unknown);
  await closeUsageChange(pool, number, { endsAt: [], at: new Date() });
  const closed = { code: 'illegal_transition', message: expect.stringContaining('is closed') };
  expect(await find(id)).toMatchObject(closed);
  await inTransaction(pool, (db) => revertUsageChange(db, number, new Date()));
  expect(await find(id)).toMatchObject({ ...closed, message: expect.stringContaining('is reverted') });
  await expect(
    createRegistry(unavailablePool(), { entriesMax: 1, clock: systemClock }).findBackfill(environment, id),
  ).rejects.toThrow(Transient);
});
