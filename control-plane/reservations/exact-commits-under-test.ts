import { setTimeout as delay } from 'node:timers/promises';
import { expect, vi } from 'vitest';
import { createRandom } from '../../tests/support/random.ts';
import { secondControlPlaneOfThisFile } from '../entitlements/second-control-plane-under-test.ts';
import { countedReservationsOfThisFile } from './counted-reservations-under-test.ts';

/** After a 503: callers that repeat at once would keep the processes busy. */
const AGAIN_MS = 200;
const SEEN = { timeout: 30_000, interval: 50 };

interface Asked {
  amount: number;
  featureKey?: string;
}

/** Sends all at once. Returns those that were used. */
export type UseAll = (customerId: string, all: Asked[]) => Promise<Asked[]>;

/** Callers over two control planes, while the load counts what they use. For all tests of a file. */
export async function exactCommitsOfThisFile() {
  const { stores, api, made } = await countedReservationsOfThisFile();
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
      if (sent.status === 503) await delay(AGAIN_MS);
      else return { status: sent.status, body: JSON.parse(sent.text) };
    }
  }

  /** Amounts that were used. */
  async function consumeAll(customerId: string, all: Asked[]): Promise<Asked[]> {
    const used: Asked[] = [];
    await Promise.all(
      all.map(async (asked, at) => {
        const { status, body } = await post(at, '/entitlements/consume', {
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

  async function holdAndCommitAll(customerId: string, all: Asked[]): Promise<Asked[]> {
    const used: Asked[] = [];
    await Promise.all(
      all.map(async (asked, at) => {
        const held = await post(at, '/reservations', { customerId, featureKey: 'calls', ...asked });
        if (held.status !== 201) return;
        const { status, body } = await post(at + 1, `/reservations/${held.body.id}/commit`, {});
        expect([status, body.status], JSON.stringify(body)).toEqual([200, 'committed']);
        used.push(asked);
      }),
    );
    return used;
  }

  async function counted(customerId: string, featureKey = 'calls'): Promise<number | undefined> {
    return (await made.check(customerId, featureKey, { consistency: 'strong' })).current;
  }

  /** How many of 90 callers, and then of `callers`, use a limit of 100. */
  async function useLimit(useAll: UseAll, callers: number): Promise<number[]> {
    const customerId = await made.customerWith({ calls: 100 });
    const first = await useAll(customerId, Array(90).fill({ amount: 1 }));
    expect(await counted(customerId)).toBe(first.length);
    // Now the cached counters have these, and they take something besides.
    await vi.waitFor(async () => {
      const cached = [await made.check(customerId, 'calls'), await plane.check(customerId, 'calls')];
      expect(cached.map((one) => ('decision' in one ? one.decision : one).current)).toEqual([
        first.length,
        first.length,
      ]);
    }, SEEN);
    const more = await useAll(customerId, Array(callers).fill({ amount: 1 }));
    expect(await counted(customerId)).toBe(first.length + more.length);
    return [first.length, more.length];
  }

  async function useAmountsThatDiffer(seed: number, callers: number): Promise<void> {
    const random = createRandom(seed);
    const customerId = await made.customerWith({ calls: 100 });
    const asked = () => {
      return Array.from({ length: callers }, () => ({ amount: (1 + random.below(4_000)) / 1_000 }));
    };
    const used = [
      ...(await consumeAll(customerId, asked())),
      ...(await holdAndCommitAll(customerId, asked())),
    ];
    expect(sumOf(used)).toBeLessThanOrEqual(100);
    expect(sumOf(used)).toBeGreaterThan(96);
    expect(await counted(customerId)).toBe(sumOf(used));
  }

  /** Of two meters, one after the other by both ways, with credits for 60. */
  async function useWallet(callers: number): Promise<void> {
    const customerId = await made.customerWith({ tokens: 0, minutes: 0 }, 60);
    const asked = Array.from({ length: callers }, (_, at) =>
      at % 3 ? { featureKey: 'tokens', amount: 2 } : { featureKey: 'minutes', amount: 1 },
    );
    const used = [
      ...(await consumeAll(customerId, asked.slice(0, 30))),
      ...(await holdAndCommitAll(customerId, asked)),
    ];
    const credits = used.map(({ featureKey }) => (featureKey === 'tokens' ? 1 : 2));
    expect(credits.reduce((sum, one) => sum + one, 0)).toBe(60);
    const balance = async () =>
      (await api.request('credits.retrieve', { params: { customerId } })).body.balance;
    await vi.waitFor(async () => expect(await balance()).toBe(0), { timeout: 30_000, interval: 50 });
  }

  return { consumeAll, holdAndCommitAll, useLimit, useAmountsThatDiffer, useWallet };
}

function sumOf(all: Asked[]): number {
  return all.reduce((sum, { amount }) => sum + Math.round(amount * 1_000), 0) / 1_000;
}
