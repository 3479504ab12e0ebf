import { describe, expect, it } from 'vitest';
import { apiOfThisFile, expectRejection } from '../api-under-test.ts';
import { auditEntries } from '../subscriptions/subscriptions-under-test.ts';

/*
 * Budgets, and what a change of rates leaves behind, over HTTP and a real Postgres.
 *
 * Mutants this suite catches: a statement without its environment; the ETag not compared; a change to the
 * same value recorded; a mark outside the change, or none; a double on the way; a change of a meter's name
 * that begins a version.
 */
const api = await apiOfThisFile();
const { environment } = api;
const customerId = (await api.request('customers.create')).body.id;
await api.request('meters.create', { body: { key: 'calls', name: 'Calls', aggregation: 'sum' } });
await api.request('meters.create', { body: { key: 'bytes', name: 'Bytes', aggregation: 'max' } });

const put = (body: unknown, meterKey = 'calls', headers = {}) =>
  api.request('budgets.put', { params: { customerId, meterKey }, body, headers });
const read = (meterKey = 'calls') => api.request('budgets.retrieve', { params: { customerId, meterKey } });

describe('a budget', () => {
  it('is put, read, listed, replaced as a whole and removed, each recorded and settled by', async () => {
    await api.pool.query('DELETE FROM settlement_marks');
    const { body: first } = await put('{"soft":0.1,"hard":123456789.000000000001}');
    expect(first).toMatchObject({ customerId, meterId: 'calls', updatedAt: first.createdAt });
    const shown = await read();
    expect(shown.text).toContain('"soft":0.1,"hard":123456789.000000000001');
    const { body: second } = await put({ hard: 7 });
    expect(second).toEqual({ ...first, soft: undefined, hard: 7, updatedAt: expect.any(String) });
    await put({ soft: 1 }, 'bytes');
    const { body: list } = await api.request('budgets.list', { params: { customerId } });
    expect(list.data.map(({ meterId }) => meterId)).toEqual(['bytes', 'calls']);
    const removal = await api.request('budgets.delete', { params: { customerId, meterKey: 'calls' } });
    expect(removal.status).toBe(204);
    expectRejection(await read(), 'not_found', 'meterKey');
    const entries = await auditEntries(api.pool, customerId);
    expect(entries.filter(({ action }) => action.startsWith('budgets.'))).toHaveLength(4);
    const { rows } = await api.pool.query(
      `SELECT customer_id AS "customerId", meter_key AS "meterKey" FROM settlement_marks
        WHERE environment = $1 ORDER BY id`,
      [environment],
    );
    expect(rows.map(({ meterKey }) => meterKey)).toEqual(['calls', 'calls', 'bytes', 'calls']);
    expect(rows[0]).toMatchObject({ customerId });
  });

  it('that is put to the value it has changes nothing', async () => {
    const { body } = await put({ soft: 5, hard: 5.0 });
    const before = await api.pool.query('SELECT count(*) FROM audit_log');
    expect((await put({ hard: 5, soft: 5 })).body).toEqual(body);
    expect((await api.pool.query('SELECT count(*) FROM audit_log')).rows).toEqual(before.rows);
  });

  it('is changed only as its caller saw it', async () => {
    await put({ hard: 10 });
    const etag = String((await read()).headers.etag);
    await put({ hard: 11 });
    expectRejection(await put({ hard: 12 }, 'calls', { 'if-match': etag }), 'precondition_failed');
    const params = { customerId, meterKey: 'calls' };
    const headers = { 'if-match': etag };
    expectRejection(await api.request('budgets.delete', { params, headers }), 'precondition_failed');
    expect((await read()).body).toMatchObject({ hard: 11 });
  });

  it('is rejected, and nothing changes, where it makes no sense', async () => {
    await put({ hard: 10 });
    expectRejection(await put({}), 'invalid_request', 'hard');
    expectRejection(await put({ soft: 11, hard: 10.9 }), 'invalid_request', 'soft');
    expectRejection(await put({ soft: -1 }), 'invalid_request', 'soft');
    expectRejection(await put({ hard: null }), 'invalid_request', 'hard');
    expectRejection(await put({ hard: '10' }), 'invalid_request', 'hard');
    expectRejection(await put('{"hard":1e15}'), 'value_invalid', 'hard');
    expectRejection(await put('{"soft":1e-13}'), 'value_invalid', 'soft');
    expectRejection(await put({ hard: 1 }, 'none'), 'meter_not_found', 'meterKey');
    const unknown = { params: { customerId: 'cus_none', meterKey: 'calls' }, body: { hard: 1 } };
    expectRejection(await api.request('budgets.put', unknown), 'customer_not_found', 'customerId');
    const list = await api.request('budgets.list', { params: { customerId: 'cus_none' } });
    expectRejection(list, 'customer_not_found', 'customerId');
    expect((await read()).body).toMatchObject({ hard: 10 });
    const { id } = (await api.request('customers.create')).body;
    await api.request('customers.archive', { params: { customerId: id } });
    const archived = { params: { customerId: id, meterKey: 'calls' }, body: { hard: 1 } };
    expectRejection(await api.request('budgets.put', archived), 'customer_archived', 'customerId');
  });
});

describe('rates of a meter', () => {
  it('begin with it, and a version ends when the next begins', async () => {
    const meter = { key: 'rated', name: 'Rated', aggregation: 'sum', creditRate: 2 };
    await api.request('meters.create', { body: meter });
    const params = { meterId: 'rated' };
    await api.request('meters.update', { params, body: { name: 'Another' } });
    const byRegion = { property: 'region', rates: { eu: 3 } };
    const { body } = await api.request('meters.update', { params, body: { creditRates: byRegion } });
    await api.request('meters.update', { params, body: { creditRates: byRegion } });
    await api.request('meters.update', { params, body: { creditRates: null, creditRate: null } });
    const { rows } = await api.pool.query(
      `SELECT version, started_at AS "startedAt", burns_from AS "burnsFrom", credit_rate AS rate,
              credit_rates AS rates FROM meter_rates WHERE environment = $1 ORDER BY version`,
      [environment],
    );
    expect(rows).toMatchObject([
      { version: 1, startedAt: new Date(0), burnsFrom: new Date(0), rate: '2', rates: null },
      { version: 2, startedAt: new Date(body.updatedAt), rate: '2', rates: { rates: { eu: '3' } } },
      { version: 3, rate: null, rates: null },
    ]);
    const { rows: marks } = await api.pool.query(
      `SELECT customer_id AS "customerId", from_at AS "from" FROM settlement_marks WHERE meter_key = 'rated'
        ORDER BY id`,
    );
    expect(marks).toEqual([1, 2].map((at) => ({ customerId: null, from: rows[at].startedAt })));
  });
});
