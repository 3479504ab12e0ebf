import { describe, expect, it } from 'vitest';
import { createPool } from '../../infra/postgres/pool.ts';
import { deferred } from '../../tests/support/deferred.ts';
import { SILENT } from '../../tests/support/silent-log.ts';
import { apiOfThisFile, expectRejection, newCustomer } from '../api-under-test.ts';
import { lockRequestKey } from '../store/idempotent-responses.ts';
import { createRunChange } from './idempotent.ts';

/*
 * Idempotent POSTs.
 *
 * Mutants this suite catches: no lock before the read; JSON.parse in place of parseExact; the environment or
 * the path left out of the key; the body stored in the clear; a response stored outside the transaction of
 * its change.
 */
const CUSTOMERS = '/api/v1/customers';
const METERS = '/api/v1/meters';

const api = await apiOfThisFile();

describe('an idempotent POST', () => {
  let used = 0;
  function keyed(more: Record<string, string> = {}) {
    used += 1;
    return { 'idempotency-key': `key ${used}, again`, ...more };
  }

  it('gets the same response again, and changes nothing twice', async () => {
    const headers = keyed();
    const { name, email, externalId } = newCustomer();
    const first = await api.call('POST', CUSTOMERS, { body: { name, email, externalId }, headers });
    const again = await api.call('POST', CUSTOMERS, { body: { externalId, email, name }, headers });
    expect(again.status).toBe(201);
    expect(again.text).toBe(first.text);
    expect(again.headers['idempotent-replayed']).toBe('true');
    expect(first.headers).not.toHaveProperty('idempotent-replayed');
  });

  it('with another body is rejected, also when both are the same as doubles', async () => {
    const headers = keyed();
    const meter = (rate: string) =>
      `{"key":"rate-${used}","name":"r","aggregation":"sum","creditRate":${rate}}`;
    expect((await api.call('POST', METERS, { body: meter('1.000000000001'), headers })).status).toBe(201);
    expect((await api.call('POST', METERS, { body: meter('1.0000000000010'), headers })).status).toBe(201);
    const other = await api.call('POST', METERS, { body: meter('100000000000000.000000000001'), headers });
    expectRejection(other, 'idempotency_key_reused');
  });

  it('may be repaired under the same key after a rejection', async () => {
    const headers = keyed();
    const { email } = newCustomer();
    const nameless = await api.call('POST', CUSTOMERS, { body: { email }, headers });
    expectRejection(nameless, 'invalid_request', 'name');
    const taken = newCustomer();
    await api.call('POST', CUSTOMERS, { body: taken });
    const again = await api.call('POST', CUSTOMERS, { body: taken, headers });
    expectRejection(again, 'already_exists', 'externalId');
    expect((await api.call('POST', CUSTOMERS, { body: { name: 'n', email }, headers })).status).toBe(201);
  });

  // Red with 500 when the missing body is read as JSON.
  it('may be one without a body', async () => {
    const headers = keyed();
    const { body: customer } = await api.call('POST', CUSTOMERS, { body: newCustomer() });
    const archive = () => api.call('POST', `${CUSTOMERS}/${customer.id}/archive`, { headers });
    const first = await archive();
    expect(first.body.status).toBe('archived');
    const again = await archive();
    expect(again).toMatchObject({ text: first.text, headers: { 'idempotent-replayed': 'true' } });
  });

  it('keeps keys of other environments and paths apart', async () => {
    const headers = keyed();
    const body = { name: 'n', email: 'n@example.com' };
    const live = await api.call('POST', CUSTOMERS, { body, headers });
    const test = await api.call('POST', CUSTOMERS, { body, headers, key: api.keys.test.secret });
    expect(test.body.id).not.toBe(live.body.id);
    const meter = { key: `apart-${used}`, name: 'm', aggregation: 'count' };
    expect((await api.call('POST', METERS, { body: meter, headers })).body.key).toBe(meter.key);
  });

  it('runs once when rivals race', async () => {
    const headers = keyed();
    const body = { name: 'Race', email: 'race@example.com' };
    const responses = await Promise.all(
      Array.from({ length: 8 }, () => api.call('POST', CUSTOMERS, { body, headers })),
    );
    expect(new Set(responses.map(({ text }) => text)).size).toBe(1);
    expect(responses.filter(({ headers }) => headers['idempotent-replayed'] === 'true')).toHaveLength(7);
  });

  it('is stored sealed', async () => {
    const headers = keyed();
    await api.call('POST', CUSTOMERS, { body: { name: 'Sealed', email: 's@example.com' }, headers });
    const { rows } = await api.pool.query(`SELECT body FROM idempotent_answers WHERE key = $1`, [
      headers['idempotency-key'],
    ]);
    expect(rows).toHaveLength(1);
    expect(rows[0].body.includes('Sealed')).toBe(false);
  });

  it('changes nothing when its response cannot be stored', async () => {
    await api.pool.query(`
      CREATE FUNCTION reject() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''rejected''; END';
      CREATE TRIGGER reject BEFORE INSERT ON idempotent_answers
        FOR EACH ROW WHEN (new.key = 'unkept') EXECUTE FUNCTION reject()`);
    const body = { name: 'Unkept', email: 'unkept@example.com' };
    const response = await api.call('POST', CUSTOMERS, { body, headers: { 'idempotency-key': 'unkept' } });
    expectRejection(response, 'internal');
    expect(response.text).not.toContain('rejected');
    const { rows } = await api.pool.query(`SELECT FROM customers WHERE name = 'Unkept'`);
    expect(rows).toEqual([]);
  });

  it('is rejected with its key in use when a rival takes too long', async () => {
    const runChange = createRunChange(api.pool, Buffer.alloc(32), 50);
    const request = { environment: 'e', method: 'POST', path: '/', key: 'slow', bodyText: '{}' };
    const [begun, finished] = [deferred<void>(), deferred<void>()];
    void runChange(request, async () => {
      begun.resolve();
      await finished.promise;
      return { status: 201, body: 'first' };
    });
    await begun.promise;
    const rival = runChange(request, async () => ({ status: 201, body: 'second' }));
    await expect(rival).rejects.toMatchObject({ rejection: { code: 'idempotency_key_in_use' } });
    finished.resolve();
    await expect
      .poll(() => runChange(request, async () => ({ status: 201, body: 'third' })), { timeout: 20_000 })
      .toMatchObject({ body: 'first', replayed: true });
  });

  // Mutant it catches: every rival waits, each with a connection that others need.
  it('has at most ten rivals waiting per environment; further ones are rejected at once', async () => {
    const runChange = createRunChange(api.pool, Buffer.alloc(32));
    const request = { environment: 'e', method: 'POST', path: '/', key: 'crowded', bodyText: '{}' };
    const response = async () => ({ status: 201, body: 'done' });
    const client = await api.pool.connect();
    await client.query('BEGIN');
    await lockRequestKey(client, request, 1_000);
    const pool = createPool({ url: api.url, name: 'crowd', log: SILENT, max: 12 });
    try {
      const crowd = createRunChange(pool, Buffer.alloc(32), 30_000);
      const rejected: unknown[] = [];
      const reject = (error: unknown) => {
        rejected.push(error);
        return { body: 'rejected' };
      };
      const requested = Array.from({ length: 12 }, () => crowd(request, response).catch(reject));
      // Before the lock is free: a concurrent request without a connection would get one.
      await expect.poll(() => rejected.length, { timeout: 20_000 }).toBe(2);
      const inUse = { rejection: { code: 'idempotency_key_in_use' } };
      expect(rejected).toMatchObject([inUse, inUse]);
      await client.query('COMMIT');
      const outcomes = await Promise.all(requested);
      expect(outcomes.filter(({ body }) => body === 'done')).toHaveLength(10);
      expect((await runChange(request, response)).replayed).toBe(true);
    } finally {
      client.release();
      await pool.end();
    }
  });

  it('takes no body and an empty one for the same', async () => {
    const { id } = (await api.request('customers.create')).body;
    const headers = keyed();
    const path = `/api/v1/customers/${id}/archive`;
    await api.call('POST', path, { headers });
    const again = await api.call('POST', path, { headers, body: {} });
    expect([again.status, again.headers['idempotent-replayed']]).toEqual([200, 'true']);
  });

  it('is forgotten after 24 hours', async () => {
    const headers = keyed();
    const body = { name: 'Old', email: 'old@example.com' };
    const first = await api.call('POST', CUSTOMERS, { body, headers });
    await api.pool.query(
      `UPDATE idempotent_answers SET created_at = now() - interval '25 hours' WHERE key = $1`,
      [headers['idempotency-key']],
    );
    const later = await api.call('POST', CUSTOMERS, { body, headers });
    expect(later.body.id).not.toBe(first.body.id);
  });

  // Red when any character is accepted: the same header bytes can be read as Latin-1 or UTF-8, and so could a
  // key.
  it('rejects a key that is empty, too long, or ambiguous', async () => {
    const body = { name: 'n', email: 'n@example.com' };
    for (const key of ['', 'x'.repeat(256), 'a\u00e9', '\u00e9a', 'a\u00ffb', 'a\tb']) {
      const response = await api.call('POST', CUSTOMERS, { body, headers: { 'idempotency-key': key } });
      expectRejection(response, 'idempotency_key_invalid');
    }
  });
});
