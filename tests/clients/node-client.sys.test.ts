import { expect, it, onTestFinished } from 'vitest';
import { ApiError } from '../../sdk/node/src/client/api-error.ts';
import { createClient } from '../../sdk/node/src/client/client.ts';
import { createEntitlements } from '../../sdk/node/src/entitlements/check.ts';
import { createMeter } from '../../sdk/node/src/meter/meter.ts';
import type { EventRejection, UsageEvent } from '../../sdk/node/src/meter/usage-event.ts';
import { openSpool } from '../../sdk/node/src/spool/spool.ts';
import { instanceOfThisFile } from '../support/instance-of-this-file.ts';
import { testFolder } from '../support/test-folder.ts';

/*
 * sdk/node against a real Metergate: what it sends is what the server takes, and what the server returns is
 * what it reads.
 */
const instance = await instanceOfThisFile();
const to = { url: instance.origin, apiKey: instance.keys().live.secret };
const client = createClient(to);
await client.customers.create({ body: { name: 'Acme', email: 'a@acme.example', externalId: 'acme' } });

it('a meter sends events that are counted once, and hands back those that cannot be', async () => {
  const rejected: Array<[UsageEvent, EventRejection]> = [];
  const spool = openSpool({ folder: testFolder() });
  const meter = createMeter({ ...to, spool, gzip: true, onRejected: (...one) => void rejected.push(one) });
  onTestFinished(async () => void (await meter.close()));
  const event = { customerId: 'acme', meterId: 'tokens', properties: { model: 'ü', cached: true, n: 1.5 } };
  for (let at = 0; at < 1_200; at++) meter.track({ ...event, value: 0.1, idempotencyKey: `t-${at}` });
  meter.track({ ...event, value: 0.1, idempotencyKey: 't-0' });
  meter.track({ ...event, value: '123456789.000000000001' });
  meter.track({ ...event, value: 1, customerId: 'unknown' });
  expect(await meter.flush()).toEqual({ sent: 1_202, rejected: 1, waiting: 0 });
  expect(meter.stats()).toMatchObject({ duplicates: 1, retries: 0 });
  expect(rejected).toMatchObject([[{ customerId: 'unknown' }, { code: 'customer_not_found' }]]);
  const path = `${to.url}/api/v1/usage/acme/tokens?consistency=strong`;
  const response = await fetch(path, { headers: { authorization: `Bearer ${to.apiKey}` } });
  expect(await response.text()).toContain('"current":123456909.000000000001,');
});

it('a client calls operations by their ids, and throws what the API says', async () => {
  const page = await client.customers.list({ pageSize: 1 });
  expect(page).toMatchObject({ page: 1, pageSize: 1, data: [{ name: 'Acme' }] });
  const plan = await client.createPlan({ body: { name: 'Pro', productId: 'p' } });
  let etag = '';
  await client.plans.retrieve(
    { planId: plan.id },
    {
      onResponse: (response) => {
        etag = response.header('etag') ?? '';
      },
    },
  );
  await client.plans.update({ planId: plan.id, body: { name: 'Pro 2' } }, { ifMatch: etag });
  const stale = client.plans.update({ planId: plan.id, body: { name: 'Pro 3' } }, { ifMatch: etag });
  await expect(stale).rejects.toMatchObject({ code: 'precondition_failed', status: 412 });
  const missing = await client.customers.retrieve({ customerId: 'a/b' }).catch((error: unknown) => error);
  expect(missing).toBeInstanceOf(ApiError);
  expect(missing).toMatchObject({ code: 'customer_not_found', status: 404, requestId: expect.any(String) });
  const series = await client.meterUsage.retrieve({
    meterId: 'tokens',
    from: '2026-01-01T00:00:00Z',
    to: '2030-01-01T00:00:00Z',
    filter: { model: 'ü' },
    consistency: 'strong',
  });
  expect(series.data).toHaveLength(1);
});

it('an entitlement is decided by the server', async () => {
  await client.features.create({ body: { key: 'export', name: 'Export', type: 'boolean' } });
  await client.overrides.put({ customerId: 'acme', featureKey: 'export', body: { value: true } });
  const entitlements = createEntitlements({ client });
  const check = { customerId: 'acme', featureKey: 'export' };
  expect(await entitlements.check(check)).toMatchObject({ allowed: true, source: 'server' });
  expect(await entitlements.check({ ...check, featureKey: 'none' })).toMatchObject({
    allowed: false,
    reasonCode: 'feature_not_found',
  });
});
