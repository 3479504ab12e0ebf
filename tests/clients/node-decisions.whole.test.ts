import { expect, it, onTestFinished, vi } from 'vitest';
import { createCloser } from '../../infra/platform/closer.ts';
import { createClient } from '../../sdk/node/src/client/client.ts';
import { type Check, createEntitlements } from '../../sdk/node/src/entitlements/check.ts';
import { createMeter } from '../../sdk/node/src/meter/meter.ts';
import { instanceOfThisFile } from '../support/instance-of-this-file.ts';
import { openHop } from '../support/proxy/armed-proxy.ts';
import { SILENT } from '../support/silent-log.ts';

/*
 * Decisions that sdk/node makes in its process, from the feed of a real Metergate. Breaks that they catch: an
 * amount that is not exact; a change that is not seen; own usage that is forgotten before it is counted; a
 * customer of a stream that was opened again.
 */
const instance = await instanceOfThisFile();
const apiKey = instance.keys().live.secret;
const direct = createClient({ url: instance.origin, apiKey });
const WAIT = { timeout: 20_000, interval: 20 };

const GIVEN = [
  { featureKey: 'calls', value: 10 },
  { featureKey: 'soft', value: 3, soft: true },
  { featureKey: 'paid', value: 1.5 },
  { featureKey: 'sso', value: true },
  { featureKey: 'seats', value: 5 },
  { featureKey: 'many', value: null },
  { featureKey: 'counted', value: 10 },
  { featureKey: 'dear', value: 0 },
];
const METERED = ['calls', 'soft', 'paid', 'many', 'counted', 'dear'];
const RATES: Record<string, number> = { paid: 0.25, dear: 0.5 };

async function makeCatalogue(): Promise<string> {
  for (const key of METERED) {
    const { [key]: creditRate } = RATES;
    const rate = creditRate === undefined ? {} : { creditRate };
    const aggregation = key === 'counted' ? 'count' : 'sum';
    await direct.meters.create({ body: { key, name: key, aggregation, ...rate } });
    await direct.features.create({ body: { key, name: key, type: 'metered', meterKey: key } });
  }
  await direct.features.create({ body: { key: 'sso', name: 'SSO', type: 'boolean' } });
  await direct.features.create({ body: { key: 'seats', name: 'Seats', type: 'limit' } });
  await direct.features.create({ body: { key: 'other', name: 'Other', type: 'boolean' } });
  const plan = await direct.createPlan({ body: { name: 'Pro', productId: 'p' } });
  await direct.plans.replaceEntitlements({ planId: plan.id, body: { entitlements: GIVEN } });
  return plan.id;
}

const planId = await makeCatalogue();

async function subscribed(externalId: string): Promise<string> {
  const { id } = await direct.customers.create({
    body: { name: externalId, email: 'a@b.example', externalId },
  });
  await direct.subscriptions.create({ body: { customerId: id, planId } });
  return id;
}

/** A process of its own, by a way to the server that can be cut. */
async function openProcess(options: Partial<Parameters<typeof createEntitlements>[0]> = {}) {
  const closer = createCloser(SILENT);
  onTestFinished(async () => void (await closer.close()));
  const hop = await openHop(closer, () => ({
    host: '127.0.0.1',
    port: Number(new URL(instance.origin).port),
  }));
  const to = { url: `http://127.0.0.1:${hop.port}`, apiKey };
  const meter = createMeter({ ...to, lingerMs: 50, onError: () => undefined });
  const client = createClient(to);
  const quiet = { onError: () => undefined, timeoutMs: 2_000 };
  const entitlements = createEntitlements({ client, isLocal: true, meter, ...quiet, ...options });
  onTestFinished(async () => {
    entitlements.close();
    await meter.close({ timeoutMs: 0 });
  });
  const isLocal = (check: Check) =>
    vi.waitFor(async () => expect((await entitlements.check(check)).source).toBe('local'), WAIT);
  return { entitlements, meter, isLocal, cut: () => closer.close() };
}

it('are those of the server, whatever is asked for', async () => {
  const customerId = await subscribed('equal');
  await direct.credits.grant({ customerId, body: { amount: 2, reason: 'x' } });
  const { entitlements, meter, isLocal } = await openProcess();
  for (const [meterId, value] of [
    ['calls', 7.5],
    ['soft', 3],
    ['paid', 1],
    ['many', 12],
  ] as const) {
    meter.track({ customerId: 'equal', meterId, value });
  }
  await meter.flush();
  await direct.usage.retrieve({ customerId, meterId: 'paid', consistency: 'strong' });
  const names = [...GIVEN.map(({ featureKey }) => featureKey), 'other'];
  // A name of the application's own is followed too.
  for (const name of [customerId, 'equal']) {
    await isLocal({ customerId: name, featureKey: 'sso' });
    const counted = async () => {
      const { current, source } = await entitlements.check({ customerId: name, featureKey: 'many' });
      expect([current, source]).toEqual([12, 'local']);
    };
    await vi.waitFor(counted, WAIT);
    for (const featureKey of names) {
      for (const requested of [undefined, 0, 0.5, 2, 2.5, 3, 8.5, 8.75, 1e6]) {
        const check = { customerId: name, featureKey };
        const [amount, text] =
          requested === undefined ? [] : [{ requested }, { requested: String(requested) }];
        const { source, asOf, reason: _, ...here } = await entitlements.check({ ...check, ...amount });
        const there = await direct.entitlements.check({ ...check, ...text });
        const { allowed, reasonCode, limit, current, remaining, sources = [] } = there;
        const context = JSON.stringify([check, there]);
        expect([source, here.allowed, here.reasonCode], context).toEqual(['local', allowed, reasonCode]);
        expect([here.limit, here.current, here.remaining, here.sources ?? []], context).toEqual([
          ...[limit, current, remaining],
          sources,
        ]);
        if (current !== undefined) expect(Date.parse(asOf ?? ''), context).toBeGreaterThan(0);
      }
    }
  }
  const wrong = entitlements.check({ customerId, featureKey: 'calls', requested: -1 });
  await expect(wrong).rejects.toMatchObject({ code: 'invalid_request' });
  const unknown = await entitlements.check({ customerId: 'nobody', featureKey: 'calls' });
  expect(unknown).toMatchObject({ allowed: false, reasonCode: 'customer_not_found', source: 'server' });
});

it('follow each change, also of customers that join while it runs', async () => {
  const { entitlements, isLocal } = await openProcess();
  for (let at = 0; at < 3; at++) {
    const customerId = await subscribed(`changes-${at}`);
    const check = { customerId, featureKey: 'seats', requested: 8 };
    await isLocal(check);
    for (const value of [9, 7]) {
      await direct.overrides.put({ customerId, featureKey: 'seats', body: { value } });
      await vi.waitFor(async () => {
        const { source, allowed } = await entitlements.check(check);
        expect([source, allowed]).toEqual(['local', value >= 8]);
      }, WAIT);
    }
  }
  // The first ones are still followed: their stream was opened again with the others.
  await isLocal({ customerId: 'changes-0', featureKey: 'seats' });
});

it.each([
  ['local', 100],
  ['server', 1],
])('let a burst of one process use a limit up, and not pass it: %s', async (mode, customersMax) => {
  const customerId = await subscribed(`burst-${mode}`);
  const { entitlements, meter, isLocal } = await openProcess({ customersMax });
  await isLocal({ customerId: await subscribed(`before-${mode}`), featureKey: 'calls' });
  const sources = new Set<string>();
  let used = 0;
  // From the first check on, when the customer is not in the feed yet, until everything is counted.
  const endMs = performance.now() + 2_500;
  for (let at = 0; performance.now() < endMs; at++) {
    const { allowed, source } = await entitlements.check({ customerId, featureKey: 'calls' });
    sources.add(source);
    if (allowed) {
      used += 1;
      meter.track({ customerId, meterId: 'calls', value: 1 });
    }
    if (at % 50 === 49) await new Promise((resolve) => setTimeout(resolve, 10));
  }
  expect(used).toBe(10);
  expect(sources).toContain(mode);
  await meter.flush();
  const { current } = await direct.usage.retrieve({ customerId, meterId: 'calls', consistency: 'strong' });
  expect(current).toBe(10);
  expect(meter.stats()).toMatchObject({ sent: 10, rejected: 0 });
});

// Red when a `count` meter's events count as their values, or each feature has the credits for itself.
it('let a burst use up what a meter counts, and credits that several features share', async () => {
  const customerId = await subscribed('shared');
  await direct.credits.grant({ customerId, body: { amount: 2, reason: 'x' } });
  const { entitlements, meter, isLocal } = await openProcess();
  await isLocal({ customerId, featureKey: 'calls' });
  const burst = async (featureKey: string, value: number) => {
    let used = 0;
    for (let at = 0; at < 20; at++) {
      const { allowed, source } = await entitlements.check({ customerId, featureKey, requested: value });
      expect(source).toBe('local');
      if (allowed) used += Number(meter.track({ customerId, meterId: featureKey, value }));
    }
    return used;
  };
  expect(await burst('counted', 0.1)).toBe(10);
  expect(await burst('dear', 1)).toBe(4);
  // What its plan includes; nothing is left to pay for more.
  expect(await burst('paid', 0.5)).toBe(3);
});

it('fall to the policy of the feature when the server is gone', async () => {
  const customerId = await subscribed('gone');
  const fallback = { calls: 'last_known', seats: 'open', sso: 'closed' } as const;
  const { entitlements, meter, isLocal, cut } = await openProcess({ fallback, timeoutMs: 300 });
  await isLocal({ customerId, featureKey: 'calls' });
  await cut();
  const decided = async (featureKey: string, name = customerId) => {
    const { allowed, source } = await entitlements.check({ customerId: name, featureKey });
    return [allowed, source];
  };
  // What it knew is good for two seconds.
  await vi.waitFor(async () => expect(await decided('sso')).toEqual([false, 'fallback']), WAIT);
  expect(await decided('seats')).toEqual([true, 'fallback']);
  for (let at = 0; at < 12; at++) {
    expect(await decided('calls')).toEqual([at < 10, 'fallback']);
    meter.track({ customerId, meterId: 'calls', value: 1 });
  }
  expect(await decided('calls', 'another')).toEqual([false, 'fallback']);
});
