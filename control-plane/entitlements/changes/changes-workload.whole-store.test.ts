import fc from 'fast-check';
import { expect, it, vi } from 'vitest';
import type { NotifiedValues } from '../../../domain/rules/entitlement-changes.ts';
import { type ApiResponse, type ApiUnderTest, apiOfThisFile } from '../../api-under-test.ts';
import { customerGrantsUnderTest } from '../customer-grants-under-test.ts';
import { notifiedUnderTest, type SentChange } from './changes-under-test.ts';

/*
 * Changes of every kind, drawn at random: sequential, and many concurrently. What was notified is compared
 * with the rules themselves, which the notifier does not compute with.
 *
 * Mutants this suite catches: in control-plane/store/granted-values.ts the quantity or the number of
 * subscriptions left out, a sum where one is unlimited, the newest version for a pinned one, an override that
 * has expired, or that of an archived customer. In touch-entitlements.ts the environment's lock left out, or
 * always shared: a job then misses a customer that joined while it was created. In notify-customers.ts the
 * grants read before the lock.
 */
const SEED = Date.now() % 1_000_000;

const api = await apiOfThisFile();
const { environment } = api;
const notified = notifiedUnderTest(api.pool, environment);
const place = await placeOfWorkload(api);

it(`each change notifies the values that it has changed, and no other (seed ${SEED})`, async () => {
  const random = randomOf(SEED);
  const kept = new Map<string, Map<string, unknown>>();
  // Events are in no order: until here there may be several of one value.
  await notified.quiet();
  for (const id of place.customers) {
    await notified.events(id);
    kept.set(id, new Map(Object.entries(numbersOf(await notifiedTo(id)))));
  }
  for (let step = 0; step < 60; step += 1) {
    const change = drawn(random, place, { isLasting: true });
    await change.run();
    await notified.quiet();
    expect({ after: change.name, untrue: await notified.untrue() }).toEqual({
      after: change.name,
      untrue: [],
    });
    for (const id of place.customers) {
      const values = kept.get(id) as Map<string, unknown>;
      const changes = await notified.events(id);
      // No customer is notified of a value twice in a row.
      expect(
        changes.filter(({ featureKey, effectiveValue }) => values.get(featureKey) === effectiveValue),
      ).toEqual([]);
      for (const one of changes) keep(values, one);
      expect(Object.fromEntries(values)).toEqual(numbersOf(await notifiedTo(id)));
    }
  }
}, 240_000);

it(`many changes at once notify every customer of its final entitlements (seed ${SEED})`, async () => {
  const writers = Array.from({ length: 8 }, async (_, writer) => {
    const random = randomOf(SEED + writer + 1);
    for (let step = 0; step < 30; step += 1) await drawn(random, place, { isLasting: false }).run();
  });
  await Promise.all(writers);
  // Some of the overrides have not expired yet.
  await vi.waitFor(async () => expect(await notified.untrue()).toEqual([]), {
    timeout: 20_000,
    interval: 100,
  });
  for (const id of place.customers) {
    const flags = new Map<string, number>();
    for (const { featureKey, allowed, effectiveValue } of await notified.events(id, 'all')) {
      if (typeof effectiveValue === 'boolean')
        flags.set(featureKey, (flags.get(featureKey) ?? 0) + (allowed ? 1 : -1));
    }
    // The values true and false of a flag alternate: each was notified once.
    const values = await notifiedTo(id);
    for (const [key, balance] of flags) expect([key, balance]).toEqual([key, key in values ? 1 : 0]);
  }
}, 240_000);

interface Change {
  name: string;
  run(): Promise<void>;
}

type Place = Awaited<ReturnType<typeof placeOfWorkload>>;

/** From 0 to n - 1. */
type Random = (n: number) => number;

function drawn(random: Random, of: Place, { isLasting }: { isLasting: boolean }): Change {
  const { customers, plans, addons, subscriptions } = of;
  const pick = <T>(from: readonly T[]) => from[random(from.length)] as T;
  const featureKey = pick(['sso', 'audit', 'seats', 'storage']);
  const isFlag = featureKey === 'sso' || featureKey === 'audit';
  const value = () => (isFlag ? random(2) === 0 : pick([0, 1, 2.5, 1000, null]));
  const subscriptionId = pick(subscriptions);
  const [customerId, planId, addonId] = [pick(customers), pick(plans), pick(addons)];
  const entitlements = [{ featureKey, value: value() }];
  const params = { subscriptionId, addonId };
  const until = { expiresAt: new Date(Date.now() + 50 + random(400)).toISOString() };
  const expiry = isLasting || random(2) === 0 ? {} : until;
  const changes: Array<() => Promise<Pick<ApiResponse, 'status'>>> = [
    () => api.request('plans.replaceEntitlements', { params: { planId }, body: { entitlements } }),
    () => api.request('addons.replaceEntitlements', { params: { addonId }, body: { entitlements } }),
    () => api.request('subscriptions.setAddon', { params, body: { quantity: 1 + random(3) } }),
    () => api.request('subscriptions.removeAddon', { params }),
    () => api.request('subscriptions.update', { params, body: { planId } }),
    () => api.request('subscriptions.update', { params, body: { planVersion: pick([null, 1]) } }),
    () =>
      api.request('subscriptions.update', {
        params,
        body: { status: pick(['active', 'past_due', 'paused']) },
      }),
    () =>
      api.request('overrides.put', {
        params: { customerId, featureKey },
        body: { value: value(), ...expiry },
      }),
    () => api.request('overrides.delete', { params: { customerId, featureKey } }),
    () => api.request('workspace.update', { body: { pastDueGraceDays: pick([0, 7]) } }),
    async () => {
      await api.request('features.delete', { params: { featureKey: 'audit' } });
      return api.request('features.create', { body: { key: 'audit', name: 'Audit', type: 'boolean' } });
    },
  ];
  const at = random(changes.length);
  return {
    name: String(changes[at]),
    async run() {
      const { status } = (await changes[at]?.()) ?? { status: 0 };
      // Another worker has removed it meanwhile, or the status change is not allowed.
      expect([200, 201, 204, 400, 404, 409]).toContain(status);
    },
  };
}

/** Few objects of each kind, so that changes overlap. */
async function placeOfWorkload(of: ApiUnderTest) {
  const made = customerGrantsUnderTest(of);
  await made.features({ sso: 'boolean', audit: 'boolean', seats: 'limit', storage: 'limit' });
  const plans = [await made.plan({ sso: true, seats: 5 }), await made.plan({ audit: true, storage: null })];
  for (const planId of plans) await of.request('plans.publish', { params: { planId } });
  const addons = [await made.addon('a', { seats: 1 }), await made.addon('b', { audit: true, storage: 2 })];
  const customers: string[] = [];
  const subscriptions: string[] = [];
  for (let n = 0; n < 4; n += 1) {
    const customerId = await made.customer();
    customers.push(customerId);
    for (const planId of plans) subscriptions.push(await made.subscribe(customerId, {}, { planId }));
  }
  return { plans, addons, customers, subscriptions };
}

async function notifiedTo(customerId: string): Promise<NotifiedValues> {
  const { rows } = await api.pool.query<{ notified: NotifiedValues }>(
    'SELECT told AS notified FROM entitlements_told WHERE customer_id = $1',
    [customerId],
  );
  return rows[0]?.notified ?? {};
}

function keep(values: Map<string, unknown>, { featureKey, allowed, effectiveValue }: SentChange): void {
  if (allowed) values.set(featureKey, effectiveValue);
  else values.delete(featureKey);
}

/** As a receiver has parsed them. */
function numbersOf(values: NotifiedValues): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(values).map(([key, value]) => [key, typeof value === 'string' ? Number(value) : value]),
  );
}

function randomOf(seed: number): Random {
  const draws = fc.sample(fc.noBias(fc.nat()), { seed, numRuns: 2_000 }).values();
  return (n) => Number(draws.next().value) % n;
}
