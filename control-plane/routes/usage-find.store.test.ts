import { describe, expect, it } from 'vitest';
import { eventIdOf } from '../../domain/rules/event-id.ts';
import { ensureIdentityKey, environmentKeyOf } from '../../domain/secrets.ts';
import { NO_CHANGES } from '../../domain/store/usage-views.ts';
import type { Statement } from '../../infra/ports/warehouse.ts';
import type { Happening } from '../../tests/support/usage-oracle.ts';
import { expectRejection } from '../api-under-test.ts';
import { findUsageEvents } from '../store/read-usage-events.ts';
import { isoText, usageOfThisFile } from '../usage/usage-under-test.ts';

/*
 * Mutants this suite catches: an event of another environment; a key hashed under the key of another
 * environment; a repeated row shown twice, or its later form; a read of the whole table.
 */
const usage = await usageOfThisFile();
const { api, environment, stores } = usage;
const identityKey = await ensureIdentityKey(api.pool);
const happening = usage.happenings[0] as Happening;

const find = (query: Record<string, string>, key = api.keys.live.secret) =>
  api.request('usage.findEvents', { query, key });

function sentWith(idempotencyKey: string, of = environment) {
  const id = eventIdOf(environmentKeyOf(identityKey, of), idempotencyKey);
  return { ...usage.logged(happening, 'sum'), id };
}

describe('an event is found', () => {
  it('by its id, as the list of its customer and meter shows it', async () => {
    const { id } = usage.logged(happening, 'unique');
    const { body } = await find({ id, consistency: 'strong' });
    const listed = await usage.read('unique/events?limit=1000');
    expect(body.data).toEqual(listed.body.data.filter((one: { id: string }) => one.id === id));
    expect(body.data).toHaveLength(1);
    expect(body.data[0]).toMatchObject({ customerId: usage.customerId, meterId: 'unique' });
  });

  it.each(['req-1', 'Grüße / 注文 #7 + a%20b'])('by its idempotency key %s', async (idempotencyKey) => {
    const event = sentWith(idempotencyKey);
    await usage.load(await usage.append([event]));
    const { body } = await find({ idempotencyKey });
    expect(body.data.map(({ id, createdAt }) => [id, createdAt])).toEqual([
      [event.id, isoText(happening.createdAtMs)],
    ]);
  });

  it('once it is counted; until then nothing is found', async () => {
    const event = sentWith('later');
    const appended = await usage.append([event]);
    const query = { idempotencyKey: 'later', consistency: 'eventual' };
    expect((await find(query)).body.data).toEqual([]);
    await usage.load(appended);
    expect((await find(query)).body.data).toHaveLength(1);
  });

  it('once where its row is stored twice: in the form that counts, the earliest', async () => {
    const event = sentWith('twice');
    const { createdAtMs } = happening;
    for (const laterMs of [7, 0, 9]) {
      await usage.load(await usage.append([{ ...event, createdAtMs: createdAtMs + laterMs }]));
    }
    const { body } = await find({ idempotencyKey: 'twice' });
    expect(body.data.map(({ createdAt }) => createdAt)).toEqual([isoText(createdAtMs)]);
  });
});

describe('an event is not found', () => {
  it('in another environment, under its id or its key', async () => {
    const event = sentWith('of-one');
    await usage.load(await usage.append([event]));
    const others = [api.keys.test.secret, (await api.addWorkspace()).live.secret];
    for (const key of others) {
      for (const query of [{ id: event.id }, { idempotencyKey: 'of-one' }]) {
        expect((await find({ ...query, consistency: 'strong' }, key)).body.data).toEqual([]);
      }
    }
    expect((await find({ id: event.id })).body.data).toHaveLength(1);
  });

  it.each([
    ['neither', {}, 'idempotencyKey'],
    ['both', { id: `use_${'a'.repeat(26)}`, idempotencyKey: 'a' }, 'id'],
    ['an id of something else', { id: `cus_${'a'.repeat(26)}` }, 'id'],
    ['a key that no event can have', { idempotencyKey: 'a\u0007' }, 'idempotencyKey'],
    ['an empty key', { idempotencyKey: '' }, 'idempotencyKey'],
    ['a key that is too long', { idempotencyKey: 'a'.repeat(256) }, 'idempotencyKey'],
    ['another parameter', { key: 'a' }, 'key'],
  ])('with %s, which is rejected', async (_, query, param) => {
    expectRejection(await find(query as Record<string, string>), 'invalid_request', param);
  });
});

/** Red without the index: 50 million events would be read for one. */
it('the events are read by the index of ids', async () => {
  let read: Statement | undefined;
  const { warehouse } = stores;
  const id = `use_${'a'.repeat(26)}`;
  const watched = {
    ...warehouse,
    query<Row>(statement: Statement) {
      read = statement;
      return warehouse.query<Row>(statement);
    },
  };
  expect(await findUsageEvents({ warehouse: watched, view: NO_CHANGES }, { environment, id })).toEqual([]);
  const sql = `EXPLAIN indexes = 1 ${read?.sql}`;
  const lines = await warehouse.query<{ explain: string }>({ ...(read as Statement), sql });
  const text = lines.map(({ explain }) => explain.trim()).join('\n');
  expect(text).toMatch(/Skip\nName: id_filter\n.*\n(Condition: .*\n)?Parts: 0\/\d+\nGranules: 0\/\d+/);
});
