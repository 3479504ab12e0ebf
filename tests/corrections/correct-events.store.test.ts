import { afterEach, describe, expect, it, vi } from 'vitest';
import { expectRejection } from '../../control-plane/api-under-test.ts';
import { Transient } from '../../schemas/failures.ts';
import { correctedUsageOfThisFile } from './corrected-usage.ts';

/*
 * Mutants this suite catches: void-without-its-ledger-row, closed-before-its-records.
 */
const usage = await correctedUsageOfThisFile();
const { api, faults } = usage;
const WAIT = { timeout: 30_000, interval: 20 };
afterEach(() => {
  faults.before = undefined;
  faults.after = undefined;
});

const lost = () => Promise.reject(new Transient('usage_not_written', 'cut off'));

describe('a voided event', () => {
  it('counts nowhere from the response on, and stays in the list', async () => {
    const customerId = await usage.makeCustomer();
    const meter = await usage.makeMeter('sum');
    const [, wrong = ''] = await usage.record(customerId, meter, [5, 20, 7], { properties: '{"a":1.5}' });
    const { status, body } = await usage.voidEvent(wrong, { reason: 'twice' });
    expect(status).toBe(200);
    expect(body.voided).toMatchObject({ id: wrong, status: 'voided', value: 20, properties: { a: 1.5 } });
    expect(await usage.counter(customerId, meter)).toBe(12);
    const listed = await usage.listed(customerId, meter);
    expect(listed.filter(({ status: is }) => is === 'voided').map(({ id }) => id)).toEqual([wrong]);
    expect(listed).toHaveLength(3);
  });

  it('has the same response again, under any key, and is voided once by many callers', async () => {
    const customerId = await usage.makeCustomer();
    const meter = await usage.makeMeter('sum');
    const [wrong = ''] = await usage.record(customerId, meter, [5, 20]);
    const before = (await usage.changes()).length;
    const keys = [{}, {}, { 'idempotency-key': 'a' }, { 'idempotency-key': 'a' }, {}];
    const all = await Promise.all(keys.map((headers) => usage.voidEvent(wrong, {}, headers)));
    expect(all.map(({ status }) => status)).toEqual(keys.map(() => 200));
    expect(new Set(all.map(({ text }) => text)).size).toBe(1);
    expect((await usage.changes()).length - before).toBe(1);
    expect(await usage.counter(customerId, meter)).toBe(20);
    expect((await usage.voidEvent(wrong)).text).toBe(all[0]?.text);
  });

  it('is recorded with who did it and why, and reported once it counts no more', async () => {
    const customerId = await usage.makeCustomer();
    const meter = await usage.makeMeter('sum');
    const [wrong = ''] = await usage.record(customerId, meter, [5]);
    const { body } = await usage.voidEvent(wrong, { reason: 'a test' });
    const audit = await api.request('auditLog.list', { query: { objectId: wrong } });
    expect(audit.body.data).toMatchObject([
      { action: 'usageCorrections.void', before: { status: 'recorded' }, after: { reason: 'a test' } },
    ]);
    await vi.waitFor(async () => expect(await eventsOf(body.correctionId)).toHaveLength(1), WAIT);
    expect(await eventsOf(body.correctionId)).toMatchObject([
      { kind: 'void', voided: 1, eventId: wrong, customerId, meterId: meter, reason: 'a test' },
    ]);
    const shown = await api.request('usageCorrections.retrieve', {
      params: { correctionId: body.correctionId },
    });
    expect(shown.body).toMatchObject({ kind: 'void', status: 'completed', voided: 1, eventId: wrong });
  });
});

it('an event that there is not, and that of another environment, is not found', async () => {
  const [event = ''] = await usage.record(await usage.makeCustomer(), await usage.makeMeter('sum'), [1]);
  expectRejection(await usage.voidEvent(`use_${'a'.repeat(26)}`), 'not_found', 'usageEventId');
  const path = `/api/v1/usage/events/${event}/void`;
  expectRejection(await api.call('POST', path, { key: api.keys.test.secret }), 'not_found', 'usageEventId');
  const key = await api.addKey({ scopes: ['usage:write', 'usage:read'] });
  expectRejection(await api.call('POST', path, { key }), 'insufficient_scope');
});

describe('an amended event', () => {
  it('is replaced by one event at one time, and both name each other', async () => {
    const customerId = await usage.makeCustomer();
    const other = await usage.makeCustomer();
    const meter = await usage.makeMeter('max');
    const [wrong = ''] = await usage.record(customerId, meter, [900, 3], { properties: '{"b":"x"}' });
    const { status, text, body } = await usage.amend(wrong, { value: 0.000000000009, customerId: other });
    expect(status, text).toBe(200);
    expect(body.event).toMatchObject({ customerId: other, supersedes: wrong, properties: { b: 'x' } });
    expect(body.voided.supersededBy).toBe(body.event?.id);
    expect(await usage.counter(customerId, meter)).toBe(3);
    expect(await usage.counter(other, meter)).toBe(9e-12);
    expect(await usage.listed(other, meter)).toEqual([body.event]);
    expect((await usage.listed(customerId, meter)).find(({ id }) => id === wrong)).toEqual(body.voided);
    // Again the same; otherwise it is rejected, and names the event to amend.
    expect((await usage.amend(wrong, { value: 0.000000000009, customerId: other })).text).toBe(text);
    const again = await usage.amend(wrong, { value: 2 });
    expectRejection(again, 'illegal_transition');
    expect(again.text).toContain(body.event?.id);
    // That one can be voided.
    expect((await usage.voidEvent(body.event?.id ?? '')).status).toBe(200);
    expect(await usage.counter(other, meter)).toBe(0);
  });

  it.each([
    [{}, 'invalid_request', 'value'],
    [{ customerId: 'nobody' }, 'customer_not_found', 'customerId'],
    [{ meterId: 'nothing' }, 'meter_not_found', 'meterId'],
    [{ occurredAt: '2099-01-01T00:00:00Z' }, 'event_in_future', 'occurredAt'],
    [{ value: 1e16 }, 'value_invalid', 'value'],
  ] as const)('is not %j: nothing has changed', async (body, code, param) => {
    const customerId = await usage.makeCustomer();
    const meter = await usage.makeMeter('sum');
    const [event = ''] = await usage.record(customerId, meter, [4]);
    expectRejection(await usage.amend(event, body), code, param);
    expect(await usage.counter(customerId, meter)).toBe(4);
  });
});

describe('a correction that was cut off', () => {
  it.each([
    ['before its records', 'before', undefined],
    ['behind the new event', 'after', false],
    ['behind all of them', 'after', true],
  ] as const)('%s counts not at all until it is finished, by the same request', async (_, where, voids) => {
    const customerId = await usage.makeCustomer();
    const meter = await usage.makeMeter('sum');
    const [wrong = ''] = await usage.record(customerId, meter, [8]);
    faults[where] = (written) =>
      voids === undefined || written.change?.voids === voids ? lost() : Promise.resolve();
    expectRejection(await usage.amend(wrong, { value: 5 }), 'unavailable');
    expect(await usage.counter(customerId, meter)).toBe(8);
    faults[where] = undefined;
    const { body } = await usage.amend(wrong, { value: 5 });
    expect(await usage.counter(customerId, meter)).toBe(5);
    expect((await usage.listed(customerId, meter)).map(({ id }) => id).sort()).toEqual(
      [wrong, body.event?.id].sort(),
    );
  });

  it('is closed behind its records alone', async () => {
    const [wrong = ''] = await usage.record(await usage.makeCustomer(), await usage.makeMeter('sum'), [8]);
    let during: unknown;
    faults.before = async () => {
      during = (await usage.changes()).at(-1)?.state;
    };
    await usage.voidEvent(wrong);
    expect(during).toBe('open');
    const { rows } = await api.pool.query<{ end: number }>(
      `SELECT (ends_at->0->>'end')::bigint AS end FROM usage_changes ORDER BY number DESC LIMIT 1`,
    );
    expect(rows[0]?.end).toBe(await usage.stores.reader.durableEnd(0));
  });
});

async function eventsOf(correctionId: string): Promise<object[]> {
  const { rows } = await api.pool.query<{ body: string }>(
    `SELECT body FROM webhook_events WHERE type = 'usage.corrected' AND object_id = $1`,
    [correctionId],
  );
  return rows.map(({ body }) => JSON.parse(body).data);
}
