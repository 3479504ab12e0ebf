import { afterAll, describe, expect, it, vi } from 'vitest';
import { startLoadOfThisFile } from '../../tests/support/load-of-this-file.ts';
import { openLogAndWarehouse } from '../../tests/support/log-and-warehouse.ts';
import { ownUsageOf } from '../../tests/support/own-usage-of.ts';
import { createRandom } from '../../tests/support/random.ts';
import { apiOfThisFile } from '../api-under-test.ts';
import { secondControlPlaneOfThisFile } from '../entitlements/second-control-plane-under-test.ts';
import { reservationsUnderTest } from './reservations-under-test.ts';

/*
 * Many callers at once over two control planes, who hold and commit, or consume, while the load counts what
 * they used. Faults this suite catches: usage that is on the log and that no decision sees; usage that is
 * seen twice, so that a caller is denied what would fit; an event that is written twice, or not at all.
 */
const stores = await openLogAndWarehouse(afterAll);
const api = await apiOfThisFile({
  warehouse: stores.warehouse,
  logReader: stores.reader,
  openUsageWriter: (pool) => ownUsageOf(stores, pool, afterAll),
});
await api.request('meters.create', { body: { key: 'sum', name: 'sum', aggregation: 'sum' } });
startLoadOfThisFile(stores, api);
const made = await reservationsUnderTest(api);
const plane = await secondControlPlaneOfThisFile(api, {
  warehouse: stores.warehouse,
  logReader: stores.reader,
});

let keys = 0;

/** Every other one by the second control plane. Repeated while the response is 503. */
async function post(at: number, path: string, body: object) {
  keys += 1;
  const headers = { 'content-type': 'application/json', 'idempotency-key': `k${keys}` };
  for (;;) {
    const sent =
      at % 2
        ? await plane.request(path, { method: 'POST', headers, body })
        : await api.call('POST', `/api/v1${path}`, { headers, body });
    if (sent.status !== 503) return { status: sent.status, body: JSON.parse(sent.text) };
  }
}

interface Asked {
  amount: number;
  featureKey?: string;
}

/** Amounts that were used. */
async function consumeAll(customerId: string, all: Asked[], query = ''): Promise<Asked[]> {
  const used: Asked[] = [];
  await Promise.all(
    all.map(async (asked, at) => {
      const { status, body } = await post(at, `/entitlements/consume${query}`, {
        customerId,
        featureKey: 'calls',
        ...asked,
      });
      if (status === 201) used.push(asked);
      else expect([status, body.decision?.allowed], JSON.stringify(body)).toEqual([200, false]);
    }),
  );
  return used;
}

async function holdAndCommitAll(customerId: string, all: Asked[], query = ''): Promise<Asked[]> {
  const used: Asked[] = [];
  await Promise.all(
    all.map(async (asked, at) => {
      const held = await post(at, `/reservations${query}`, { customerId, featureKey: 'calls', ...asked });
      if (held.status !== 201) return;
      const { status, body } = await post(at + 1, `/reservations/${held.body.id}/commit`, {});
      expect([status, body.status], JSON.stringify(body)).toEqual([200, 'committed']);
      used.push(asked);
    }),
  );
  return used;
}

const sumOf = (all: Asked[]) => all.reduce((sum, { amount }) => sum + Math.round(amount * 1_000), 0) / 1_000;

async function counted(customerId: string, featureKey = 'calls'): Promise<number | undefined> {
  return (await made.check(customerId, featureKey, { consistency: 'strong' })).current;
}

describe('of many callers at once over two control planes', () => {
  it.each([
    ['who hold and commit', holdAndCommitAll],
    ['who consume', consumeAll],
  ])('%s exactly as many use the limit as it has room for', async (_, useAll) => {
    const customerId = await made.customerWith({ calls: 100 });
    const first = await useAll(customerId, Array(90).fill({ amount: 1 }));
    expect(await counted(customerId)).toBe(90);
    // The counter has these, and they take something besides.
    const more = await useAll(customerId, Array(60).fill({ amount: 1 }), '?consistency=strong');
    expect([first.length, more.length]).toEqual([90, 10]);
    expect(await counted(customerId)).toBe(100);
  });

  it('with amounts that differ the limit is kept, and the counter has all that was used', async () => {
    const random = createRandom(33);
    const customerId = await made.customerWith({ calls: 100 });
    const asked = () => Array.from({ length: 60 }, () => ({ amount: (1 + random.below(4_000)) / 1_000 }));
    const used = [
      ...(await consumeAll(customerId, asked())),
      ...(await holdAndCommitAll(customerId, asked())),
    ];
    expect(sumOf(used)).toBeLessThanOrEqual(100);
    expect(sumOf(used)).toBeGreaterThan(96);
    expect(await counted(customerId)).toBe(sumOf(used));
  });

  it('a wallet pays for what it can pay, of whichever meter', async () => {
    const customerId = await made.customerWith({ tokens: 0, minutes: 0 }, 60);
    const asked = Array.from({ length: 60 }, (_, at) =>
      at % 3 ? { featureKey: 'tokens', amount: 2 } : { featureKey: 'minutes', amount: 1 },
    );
    const used = [
      ...(await consumeAll(customerId, asked.slice(0, 30))),
      ...(await holdAndCommitAll(customerId, asked)),
    ];
    const credits = used.map(({ featureKey }) => (featureKey === 'tokens' ? 1 : 2));
    expect(credits.reduce((sum, one) => sum + one, 0)).toBe(60);
    await vi.waitFor(
      async () => {
        const balance = await api.request('credits.retrieve', { params: { customerId } });
        expect(balance.body.balance).toBe(0);
      },
      { timeout: 20_000, interval: 50 },
    );
  });
});
