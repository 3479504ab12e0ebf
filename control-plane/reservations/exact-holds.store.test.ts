import { describe, expect, it, vi } from 'vitest';
import { createRandom } from '../../tests/support/random.ts';
import { startStopwatch } from '../../tests/support/stopwatch.ts';
import { expectRejection } from '../api-under-test.ts';
import { secondControlPlaneOfThisFile } from '../entitlements/second-control-plane-under-test.ts';
import { usageOfThisFile } from '../usage/usage-under-test.ts';
import { reservationsUnderTest } from './reservations-under-test.ts';

/*
 * Many callers at once over two control planes on one Postgres. Faults this suite catches: two processes that
 * decide by the same state of an account; a response before its hold is durable; a hold that ends twice, or
 * never; credits that holds of two meters both take.
 */
const usage = await usageOfThisFile();
const { api } = usage;
const made = await reservationsUnderTest(api);
const { reader: logReader, warehouse } = usage.stores;
const plane = await secondControlPlaneOfThisFile(api, { warehouse, logReader });

interface Asked {
  featureKey?: string;
  amount: number;
  expiresInSeconds?: number;
}

interface Held extends Asked {
  id: string;
}

/** All at once, every other one by the second control plane. */
async function askAll(customerId: string, all: Asked[]): Promise<{ granted: Held[]; denied: Asked[] }> {
  const granted: Held[] = [];
  const denied: Asked[] = [];
  await Promise.all(
    all.map(async (asked, at) => {
      const body = { customerId, featureKey: 'calls', ...asked };
      const { status, text } = at % 2 ? await bySecond('/reservations', body) : await byFirst(body);
      if (status === 201) granted.push({ ...asked, id: JSON.parse(text).id });
      else expect([status, JSON.parse(text).status]).toEqual([200, 'denied']);
      if (status === 200) denied.push(asked);
    }),
  );
  return { granted, denied };
}

const byFirst = (body: object) => api.request('reservations.create', { body });
const bySecond = (path: string, body: object) => {
  const headers = { 'content-type': 'application/json' };
  return plane.request(path, { method: 'POST', headers, body });
};
const sumOf = (all: Asked[]) => all.reduce((sum, { amount }) => sum + Math.round(amount * 1_000), 0) / 1_000;

describe('of many holds at once over two control planes', () => {
  it('exactly as many are granted as the limit has room for, one by one', async () => {
    for (let round = 0; round < 2; round += 1) {
      const customerId = await made.customerWith({ calls: 100 });
      const { granted } = await askAll(customerId, Array(300).fill({ amount: 1 }));
      expect(granted).toHaveLength(100);
      expect(await made.ledger(customerId)).toEqual({ account: 100, open: 100, granted: 100 });
    }
  });

  it('one is granted under one Idempotency-Key', async () => {
    const customerId = await made.customerWith({ calls: 100 });
    const headers = { 'content-type': 'application/json', 'idempotency-key': 'over-two' };
    const body = { customerId, featureKey: 'calls', amount: 1 };
    const responses = await Promise.all(
      Array.from({ length: 40 }, (_, at) =>
        at % 2
          ? plane.request('/reservations', { method: 'POST', headers, body })
          : made.hold(customerId, 1, {}, headers),
      ),
    );
    expect(new Set(responses.map(({ text }) => text)).size).toBe(1);
    expect(await made.ledger(customerId)).toEqual({ account: 1, open: 1, granted: 1 });
  });

  it('with amounts that differ the limit is kept, and none is denied that would fit', async () => {
    const random = createRandom(31);
    const customerId = await made.customerWith({ calls: 100 });
    const amounts = Array.from({ length: 300 }, () => ({ amount: (1 + random.below(4_000)) / 1_000 }));
    const { granted, denied } = await askAll(customerId, amounts);
    const held = sumOf(granted);
    expect(held).toBeLessThanOrEqual(100);
    expect(Math.min(...denied.map(({ amount }) => amount))).toBeGreaterThan(100 - held - 1e-9);
    expect(await made.ledger(customerId)).toMatchObject({ account: held, open: held });
  });

  it('a wallet pays for what it can pay, of whichever meter', async () => {
    const customerId = await made.customerWith({ tokens: 0, minutes: 0 }, 100);
    const asked = Array.from({ length: 300 }, (_, at) =>
      at % 3 ? { featureKey: 'tokens', amount: 2 } : { featureKey: 'minutes', amount: 1 },
    );
    const { granted } = await askAll(customerId, asked);
    const credits = granted.map(({ featureKey }) => (featureKey === 'tokens' ? 1 : 2));
    expect(credits.reduce((sum, one) => sum + one, 0)).toBe(100);
  });

  it('what ends in between gives room once, and the limit holds at all times', async () => {
    const random = createRandom(32);
    const customerId = await made.customerWith({ calls: 50 });
    const over: number[] = [];
    const endWatch = watchOpen(customerId, (open) => open > 50 && over.push(open));
    let held: Held[] = [];
    let grants = 0;
    for (let round = 0; round < 12; round += 1) {
      const asked = Array.from({ length: 40 }, () => ({
        amount: 1 + random.below(3),
        ...(random.chance(0.3) ? { expiresInSeconds: 1 } : {}),
      }));
      const ended = held.filter(() => random.chance(0.5));
      const [{ granted }] = await Promise.all([
        askAll(customerId, asked),
        ...ended.map(({ id }, at) =>
          at % 2 ? bySecond(`/reservations/${id}/release`, {}) : made.release(id),
        ),
      ]);
      grants += granted.length;
      held = [...held.filter((one) => !ended.includes(one)), ...granted];
    }
    await endWatch();
    expect(over).toEqual([]);
    const ledger = await made.ledger(customerId);
    expect(ledger?.account).toBe(ledger?.open);
    expect(grants).toBeGreaterThan(100);
  });
});

/** Says what is open in one committed state after the other. */
function watchOpen(customerId: string, see: (open: number) => void) {
  const end = { isDue: false };
  async function look(): Promise<void> {
    while (!end.isDue) see((await made.ledger(customerId))?.open ?? 0);
  }
  const looking = look();
  return () => {
    end.isDue = true;
    return looking;
  };
}

it('a hold gets its response when it is durable: one whose commit fails is none', async () => {
  const customerId = await made.customerWith({ calls: 10 });
  await api.pool.query(
    `CREATE FUNCTION fail_commit() RETURNS trigger LANGUAGE plpgsql AS
       $$ BEGIN RAISE EXCEPTION 'no commit'; END $$;
     CREATE CONSTRAINT TRIGGER fail_commit AFTER INSERT ON reservations DEFERRABLE INITIALLY DEFERRED
       FOR EACH ROW EXECUTE FUNCTION fail_commit()`,
  );
  try {
    expectRejection(await made.hold(customerId, 4), 'internal');
  } finally {
    await api.pool.query('DROP FUNCTION fail_commit CASCADE');
  }
  expect(await made.ledger(customerId)).toEqual({ account: 0, open: 0, granted: 0 });
  await made.held(customerId, 10);
});

it('an account that another process keeps locked is 503 within seconds, and nothing is held', async () => {
  const customerId = await made.customerWith({ calls: 10 });
  await made.held(customerId, 1);
  const client = await api.pool.connect();
  try {
    await client.query('BEGIN');
    const sql = 'SELECT 1 FROM reservation_accounts WHERE customer_id = $1 FOR UPDATE';
    await client.query(sql, [customerId]);
    const passedMs = startStopwatch();
    expectRejection(await made.hold(customerId, 1), 'overloaded');
    expect(passedMs()).toBeLessThan(8_000);
  } finally {
    await client.query('ROLLBACK');
    client.release();
  }
  expect(await made.ledger(customerId)).toEqual({ account: 1, open: 1, granted: 1 });
  await made.held(customerId, 9);
});

it('an account that is gone, as from a restored copy, is made again with the next request', async () => {
  const customerId = await made.customerWith({ calls: 10 });
  await made.held(customerId, 1);
  await api.pool.query('DELETE FROM reservation_accounts WHERE customer_id = $1', [customerId]);
  expectRejection(await made.hold(customerId, 1), 'unavailable');
  await made.held(customerId, 9);
});

describe('a reservation that expires', () => {
  it('is ended by the job, and by then takes nothing', async () => {
    const customerId = await made.customerWith({ calls: 10 });
    const { id, expiresAt } = await made.held(customerId, 10, { expiresInSeconds: 1 });
    const expired = { status: 'expired', endedAt: expiresAt };
    await vi.waitFor(
      async () => expect(await made.ledger(customerId)).toMatchObject({ account: 0, open: 0 }),
      {
        timeout: 20_000,
        interval: 50,
      },
    );
    expect(await made.get(id)).toMatchObject(expired);
    expectRejection(await made.release(id), 'illegal_transition');
    expectRejection(await made.patch(id, { expiresInSeconds: 60 }), 'illegal_transition');
    await made.held(customerId, 10);
  });

  it('takes nothing from a decision before the job has run, and is shown as expired', async () => {
    const customerId = await made.customerWith({ calls: 10 });
    const { id } = await made.held(customerId, 10);
    // As if the time had passed for which it was held, and no job had looked yet.
    const sql = `UPDATE reservations SET expires_at = now() - interval '1 second' WHERE id = $1`;
    const { release } = await withoutExpiryJob();
    try {
      await api.pool.query(sql, [id]);
      expect(await made.get(id)).toMatchObject({ status: 'expired' });
      const listed = await api.request('reservations.list', { query: { customerId, status: 'expired' } });
      expect(listed.body.data).toMatchObject([{ id, status: 'expired' }]);
      expectRejection(await made.release(id), 'illegal_transition');
      await made.held(customerId, 10);
      expect(await made.ledger(customerId)).toEqual({ account: 10, open: 10, granted: 2 });
    } finally {
      await release();
    }
  });
});

/** Another process has the lease of the job, and does nothing. */
async function withoutExpiryJob() {
  const take = `UPDATE job_leases
                    SET owner = 'another', epoch = epoch + 1, expires_at = now() + interval '5 s'
                  WHERE job = 'reservation-expiry'`;
  await api.pool.query(take);
  return {
    release: () =>
      api.pool.query(`UPDATE job_leases SET expires_at = now() WHERE job = 'reservation-expiry'`),
  };
}
