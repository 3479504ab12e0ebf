import { afterEach, describe, expect, it, vi } from 'vitest';
import { expectRejection } from '../../control-plane/api-under-test.ts';
import { Transient } from '../../schemas/failures.ts';
import { correctedUsageOfThisFile } from './corrected-usage.ts';

/*
 * Mutants this suite catches: left-voids-forgotten.
 */
const usage = await correctedUsageOfThisFile();
const { api, faults } = usage;
const WAIT = { timeout: 60_000, interval: 50 };
const DAY = '2026-10-05T10:00:00.000Z';
const OCTOBER = { from: '2026-10-01T00:00:00Z', to: '2026-11-01T00:00:00Z' };
afterEach(() => {
  faults.before = undefined;
  faults.after = undefined;
});

const ones = (count: number) => Array.from({ length: count }, () => 1);

async function select(given: object, more: object = {}) {
  const body = { select: { ...OCTOBER, ...given }, action: 'void', ...more };
  return (await api.request('usageCorrections.create', { body })) as Awaited<ReturnType<typeof api.call>>;
}

async function completed(correctionId: string) {
  return vi.waitFor(async () => {
    const { body } = await api.request('usageCorrections.retrieve', { params: { correctionId } });
    expect(body.status).toBe('completed');
    return body;
  }, WAIT);
}

async function counted(customerId: string, meterId: string): Promise<number> {
  const params = { customerId, meterId };
  const query = { consistency: 'strong', at: DAY };
  return (await api.request('usage.retrieve', { params, query })).body.current;
}

describe('a correction of many events', () => {
  it('says first what it would void, by customer and meter', async () => {
    const [ada, bob] = [await usage.makeCustomer(), await usage.makeCustomer()];
    const meter = await usage.makeMeter('sum');
    await usage.record(ada, meter, [1.5, 2], { occurredAt: DAY, properties: '{"region":"eu"}' });
    await usage.record(ada, meter, [70], { occurredAt: DAY, properties: '{"region":"us"}' });
    await usage.record(bob, meter, [9], { occurredAt: DAY, properties: '{"region":"eu"}' });
    await usage.record(bob, meter, [100], { properties: '{"region":"eu"}' });
    const { status, body } = await select({ meterId: meter, properties: { region: 'eu' } }, { dryRun: true });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      ...{ status: 'preview', events: 3, more: false },
      customers: [
        { customerId: ada, meterId: meter, events: 2, total: 3.5 },
        { customerId: bob, meterId: meter, events: 1, total: 9 },
      ],
    });
    expect(await counted(ada, meter)).toBe(73.5);
    expect((await select({ meterId: meter, customerId: bob }, { dryRun: true })).body.events).toBe(1);
  });

  it('voids the selected ones, those of before its request, as one', async () => {
    const customerId = await usage.makeCustomer();
    const meter = await usage.makeMeter('sum');
    const [single = ''] = await usage.record(customerId, meter, ones(700), { occurredAt: DAY });
    await usage.record(customerId, meter, [5]);
    await usage.voidEvent(single);
    const seen = new Set<number>();
    faults.before = async () => {
      seen.add(await plain(customerId, meter));
    };
    const created = await select({ customerId, meterId: meter }, { reason: 'metered twice' });
    expect(created.status, created.text).toBe(202);
    expect(created.body).toMatchObject({ kind: 'selection', status: 'running', reason: 'metered twice' });
    expect(await completed(created.body.id)).toMatchObject({ voided: 699, select: { customerId } });
    expect([...seen]).toEqual([699]);
    expect(await counted(customerId, meter)).toBe(0);
    expect(await usage.counter(customerId, meter)).toBe(5);
    // What is voided already is left out.
    const again = await select({ customerId, meterId: meter });
    expect(await completed(again.body.id)).toMatchObject({ voided: 0 });
  });

  it.each([
    ['before records are written', 'before'],
    ['before they are known to be written', 'after'],
  ] as const)('goes on where it was cut off %s', async (_, where) => {
    const customerId = await usage.makeCustomer();
    const meter = await usage.makeMeter('max');
    const [first = ''] = await usage.record(customerId, meter, [900, 3, 4, 5], { occurredAt: DAY });
    await usage.record(customerId, meter, [7], { occurredAt: '2026-09-30T23:59:59.999Z' });
    let cuts = 0;
    faults[where] = async () => {
      cuts += 1;
      if (cuts <= 2) throw new Transient('usage_not_written', 'cut off');
    };
    const { body } = await select({ customerId, meterId: meter });
    expect(await completed(body.id)).toMatchObject({ voided: 4 });
    expect(await counted(customerId, meter)).toBe(0);
    expect(cuts).toBeGreaterThan(2);
    const again = await usage.voidEvent(first);
    expect(again.body).toMatchObject({ correctionId: body.id, voided: { status: 'voided', value: 900 } });
    const { rows } = await api.pool.query(
      `SELECT count(*) AS all, count(*) FILTER (WHERE written) AS written FROM usage_voids
        WHERE customer_id = $1`,
      [customerId],
    );
    expect(rows).toEqual([{ all: 4, written: 4 }]);
  });

  it('is one for its Idempotency-Key, is listed, and not found elsewhere', async () => {
    const body = { select: OCTOBER, action: 'void' };
    const headers = { 'idempotency-key': 'once' };
    const [one, other] = [
      await api.request('usageCorrections.create', { body, headers }),
      await api.request('usageCorrections.create', { body, headers }),
    ];
    expect(other.text).toBe(one.text);
    expect(other.headers['idempotent-replayed']).toBe('true');
    const id = (one.body as { id: string }).id;
    await completed(id);
    const { body: page } = await api.request('usageCorrections.list', { query: { pageSize: 1 } });
    expect(page.data.map((row) => row.id)).toEqual([id]);
    const path = `/api/v1/usage/corrections/${id}`;
    expectRejection(await api.call('GET', path, { key: api.keys.test.secret }), 'not_found', 'correctionId');
  });

  it.each([
    [{ to: '2026-09-01T00:00:00Z' }, 'invalid_request', 'to'],
    [{ customerId: 'nobody' }, 'customer_not_found', 'customerId'],
    [{ meterId: 'nothing' }, 'meter_not_found', 'meterId'],
  ] as const)('is rejected with %j', async (given, code, param) => {
    expectRejection(await select(given), code, param);
  });
});

it('what a request left is finished by the job', async () => {
  const customerId = await usage.makeCustomer();
  const meter = await usage.makeMeter('count');
  const [wrong = ''] = await usage.record(customerId, meter, [1, 1]);
  faults.before = () => Promise.reject(new Transient('usage_not_written', 'cut off'));
  expectRejection(await usage.voidEvent(wrong), 'unavailable');
  faults.before = undefined;
  expect(await usage.counter(customerId, meter)).toBe(2);
  await api.pool.query(
    "UPDATE usage_changes SET created_at = created_at - interval '1 hour' WHERE state = 'open'",
  );
  await vi.waitFor(async () => expect(await usage.counter(customerId, meter)).toBe(1), WAIT);
});

/** As a reader sees it that waits for nothing. */
async function plain(customerId: string, meterId: string): Promise<number> {
  const params = { customerId, meterId };
  return (await api.request('usage.retrieve', { params, query: { consistency: 'eventual', at: DAY } })).body
    .current;
}
