import { afterAll, describe, expect, it, vi } from 'vitest';
import type { UsageWriter } from '../../infra/ports/usage-writer.ts';
import { Transient } from '../../schemas/failures.ts';
import { deferred } from '../../tests/support/deferred.ts';
import { openLogAndWarehouse } from '../../tests/support/log-and-warehouse.ts';
import { ownUsageOf } from '../../tests/support/own-usage-of.ts';
import { apiOfThisFile, expectRejection } from '../api-under-test.ts';
import { reservationsUnderTest } from '../reservations/reservations-under-test.ts';

/*
 * Faults this suite catches: an event that is missing, or written twice; a commit that is rejected since it
 * came late; an end after another one; what a failed write leaves half made; a key that uses twice.
 */
const stores = await openLogAndWarehouse(afterAll);
const faults: Array<'before' | 'after' | Promise<void>> = [];
const api = await apiOfThisFile({
  warehouse: stores.warehouse,
  logReader: stores.reader,
  openUsageWriter: (pool) => withFaults(ownUsageOf(stores, pool, afterAll)),
});
await stores.warehouse.migrate();
await api.request('meters.create', { body: { key: 'sum', name: 'sum', aggregation: 'sum' } });
await api.request('meters.create', { body: { key: 'count', name: 'count', aggregation: 'count' } });
const made = await reservationsUnderTest(api);
await made.feature('jobs', 'metered', 'count');

/** Ends as if the other process had, before or after it wrote, or waits for something behind its write. */
function withFaults(writer: UsageWriter): UsageWriter {
  return {
    async write(usage) {
      const fault = faults.shift();
      if (fault !== 'before') {
        const written = await writer.write(usage);
        if (fault !== 'after') await fault;
        if (fault !== 'after') return written;
      }
      throw new Transient('usage_not_written', 'the test');
    },
  };
}

const WAIT = { timeout: 30_000, interval: 50 };
const expireNow = (id: string) =>
  api.pool.query(`UPDATE reservations SET expires_at = now() - interval '1 second' WHERE id = $1`, [id]);

describe('a commit', () => {
  it('records its usage as an event, and is the same again, whatever is sent', async () => {
    const customerId = await made.customerWith({ calls: 10 });
    const { id } = await made.held(customerId, 6, { properties: { model: 'a' } });
    const committed = await made.commit(id);
    expect(committed.status).toBe(200);
    expect(committed.body).toMatchObject({
      ...{ id, status: 'committed', amount: 6, value: 6, endedAt: expect.any(String) },
      event: { customerId, meterId: 'sum', value: 6, status: 'recorded', properties: { model: 'a' } },
    });
    expect(committed.body.late).toBeUndefined();
    expect(committed.body.eventId).toBe(committed.body.event.id);
    expect((await made.commit(id, { value: 1 })).body).toEqual(committed.body);
    const { event, ...shown } = committed.body;
    expect(await made.get(id)).toEqual(shown);
    const listed = await api.request('reservations.list', { query: { customerId, status: 'committed' } });
    expect(listed.body.data).toEqual([shown]);
  });

  it('counts what was used, less or more than was held, at the time that it names', async () => {
    const customerId = await made.customerWith({ calls: 10 });
    const [less, more] = [await made.held(customerId, 4), await made.held(customerId, 4)];
    const occurredAt = new Date(Date.now() - 60_000).toISOString();
    const usage = { value: 1.000000000001, occurredAt, properties: { size: 2 } };
    expect((await made.commit(less.id, usage)).body.event).toMatchObject({
      ...{ value: 1.000000000001, occurredAt, properties: { size: 2 } },
    });
    expect((await made.commit(more.id, { value: 7 })).body).toMatchObject({ amount: 4, value: 7 });
    expect(await made.ledger(customerId)).toMatchObject({ account: 8.000000000001, open: 0 });
    expect((await made.commit((await made.held(customerId, 1)).id, { value: 0 })).body.value).toBe(0);
    expectRejection(await made.commit(less.id, { value: -1 }), 'invalid_request', 'value');
  });

  it('excludes a release, and a release a commit', async () => {
    const customerId = await made.customerWith({ calls: 10 });
    const [one, other] = [await made.held(customerId, 1), await made.held(customerId, 1)];
    await made.commit(one.id);
    expectRejection(await made.release(one.id), 'illegal_transition');
    expectRejection(await made.patch(one.id, { amount: 1 }), 'illegal_transition');
    await made.release(other.id);
    expectRejection(await made.commit(other.id), 'illegal_transition');
  });

  it('is late after the expiry, and counts all the same', async () => {
    const customerId = await made.customerWith({ calls: 10 });
    const { id } = await made.held(customerId, 6);
    await expireNow(id);
    await made.held(customerId, 10);
    const late = await made.commit(id, { value: 5 });
    expect(late.body).toMatchObject({ status: 'committed', late: true, value: 5 });
    expect(await made.ledger(customerId)).toMatchObject({ account: 15, open: 10 });
  });

  it('of a meter that counts events is one, whatever was held', async () => {
    const customerId = await made.customerWith({ jobs: 5 });
    const { id } = await made.held(customerId, 5, { featureKey: 'jobs' });
    expect((await made.commit(id)).body).toMatchObject({ amount: 5, value: 1 });
    expect(await made.ledger(customerId)).toMatchObject({ account: 1 });
  });

  it('that failed around its write is finished by a job, once, as is one that comes by itself', async () => {
    const customerId = await made.customerWith({ calls: 20 });
    const left = [await made.held(customerId, 6), await made.held(customerId, 6)];
    for (const [at, when] of (['before', 'after'] as const).entries()) {
      const { id } = left[at] ?? { id: '' };
      faults.push(when);
      expectRejection(await made.commit(id, { value: 2 }), 'unavailable');
      expectRejection(await made.release(id), 'illegal_transition');
    }
    const own = await made.held(customerId, 7, { onExpiry: 'commit' });
    // The larger of what is held and used: either may become true.
    expect(await made.ledger(customerId)).toMatchObject({ account: 19, open: 7 });
    await expireNow(own.id);
    await vi.waitFor(async () => {
      const listed = await api.request('reservations.list', { query: { customerId, status: 'committed' } });
      expect(listed.body.total).toBe(3);
    }, WAIT);
    for (const { id } of left) {
      expect((await made.commit(id)).body).toMatchObject({ value: 2, event: { value: 2 } });
    }
    expect((await made.commit(own.id, { value: 1 })).body).toMatchObject({ value: 7, event: { value: 7 } });
    expect(await made.ledger(customerId)).toMatchObject({ account: 11, open: 0 });
  });

  it('that two are at work on is finished once', async () => {
    const customerId = await made.customerWith({ calls: 10 });
    const { id } = await made.held(customerId, 6);
    const second = deferred<void>();
    faults.push(second.promise);
    const first = made.commit(id, { value: 2 });
    // By the job.
    await vi.waitFor(async () => expect(await made.get(id)).toMatchObject({ status: 'committed' }), WAIT);
    // As when it is counted and forgotten meanwhile.
    await api.pool.query('UPDATE reservations SET reserved = 0 WHERE id = $1', [id]);
    await api.pool.query('UPDATE reserved_amounts SET held = 0, uncounted = 0 WHERE customer_id = $1', [
      customerId,
    ]);
    second.resolve();
    expect((await first).body).toMatchObject({ id, value: 2, event: { value: 2 } });
    expect(await made.ledger(customerId)).toMatchObject({ account: 0 });
  });

  it('whose event is rejected leaves the reservation as it was', async () => {
    const customerId = await made.customerWith({ calls: 10 });
    const { id } = await made.held(customerId, 6);
    const ahead = new Date(Date.now() + 3_600_000).toISOString();
    expectRejection(await made.commit(id, { occurredAt: ahead }), 'event_in_future', 'occurredAt');
    expect(await made.get(id)).toMatchObject({ status: 'held', amount: 6 });
    expect((await made.get(id)).value).toBeUndefined();
    expect(await made.ledger(customerId)).toMatchObject({ account: 6, open: 6 });
    expect((await made.commit(id, { value: 2 })).body).toMatchObject({ status: 'committed', value: 2 });
  });
});

describe('consuming', () => {
  it('uses an amount if the customer may, once for a key', async () => {
    const customerId = await made.customerWith({ calls: 10 });
    const used = await made.consume(customerId, 6, 'a', { properties: { model: 'a' } });
    expect(used.status).toBe(201);
    expect(used.body).toMatchObject({
      event: { customerId, meterId: 'sum', value: 6, properties: { model: 'a' } },
      decision: { allowed: true, reasonCode: 'granted', limit: 10 },
    });
    const again = await made.consume(customerId, 6, 'a', { properties: { model: 'a' } });
    expect([again.status, again.body]).toEqual([201, used.body]);
    expectRejection(await made.consume(customerId, 5, 'a'), 'idempotency_key_reused');
    expect(await made.ledger(customerId)).toMatchObject({ account: 6, granted: 1 });
  });

  it('needs a key, and of a meter that counts events uses one', async () => {
    const customerId = await made.customerWith({ calls: 10, jobs: 5 });
    const body = { customerId, featureKey: 'calls', amount: 1 };
    const response = await api.request('entitlements.consume', { body });
    expectRejection(response, 'idempotency_key_missing', 'Idempotency-Key');
    const jobs = { featureKey: 'jobs' };
    expectRejection(await made.consume(customerId, 2, 'j2', jobs), 'value_invalid', 'amount');
    expect((await made.consume(customerId, 1, 'j1', jobs)).status).toBe(201);
  });

  it('is denied where the customer may not, and its key is kept for nothing', async () => {
    const customerId = await made.customerWith({ calls: 10 });
    const { id } = await made.held(customerId, 5);
    const denied = await made.consume(customerId, 6, 'd');
    expect([denied.status, denied.body.decision.reasonCode]).toEqual([200, 'limit_reached']);
    await made.release(id);
    expect((await made.consume(customerId, 6, 'd')).status).toBe(201);
    const unknown = await made.consume('nobody', 1, 'u');
    expect([unknown.status, unknown.body.decision.reasonCode]).toEqual([200, 'customer_not_found']);
  });

  it.each(['before', 'after'] as const)(
    'that fails %s its write is done once, by a retry too',
    async (when) => {
      const customerId = await made.customerWith({ calls: 10 });
      faults.push(when);
      expectRejection(await made.consume(customerId, 6, `f-${when}`), 'unavailable');
      const again = await made.consume(customerId, 6, `f-${when}`);
      expect(again).toMatchObject({
        status: 201,
        body: { event: { value: 6 }, decision: { allowed: true } },
      });
      expect(await made.ledger(customerId)).toMatchObject({ account: 6, granted: 1 });
    },
  );
});
