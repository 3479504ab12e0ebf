import { expect, test } from 'vitest';
import { base32 } from '../../../schemas/primitives/ids.ts';
import { RECORD_BYTES } from '../../../schemas/stored/record.ts';
import type { CreateEngineHarness } from './engine-harness.ts';
import {
  CUSTOMER,
  columnsOf,
  ENVIRONMENT,
  NOW_MS,
  type Sent,
  SOUND,
  sessionForEachTest,
} from './engine-session.ts';

const HOUR_MS = 3_600_000;
const at = (ms: number) => new Date(ms).toISOString();

export function engineFramePartTests(create: CreateEngineHarness): void {
  const session = sessionForEachTest(create);

  test('a line holds the event in the order of its columns', async () => {
    const properties = { model: 'large', size: 2 };
    const occurredAt = at(NOW_MS - HOUR_MS);
    const { json, lines } = await session().single({ ...SOUND, value: 1.5, occurredAt, properties }, 'k');
    expect(columnsOf(lines[0] ?? '')).toEqual({
      environment: ENVIRONMENT,
      customer_id: CUSTOMER,
      meter_key: 'api_calls',
      id: json.id,
      fingerprint: expect.stringMatching(/^\d{1,20}$/),
      value: 1.5,
      unique_value: '',
      properties: { model: 'large', size: '\u0000n2' },
      occurred_at: NOW_MS - HOUR_MS,
      created_at: NOW_MS,
    });
  });

  test('only created events are in the part, one record and one line each, in their order', async () => {
    await session().single(SOUND, 'old');
    const keys = ['a', 'old', 'b', 'a', '', 'c'];
    const sent = await session().batch(
      keys.map((idempotencyKey, index) => ({
        ...SOUND,
        idempotencyKey,
        occurredAt: at(NOW_MS - index),
        properties: idempotencyKey === 'old' || idempotencyKey === 'a' ? {} : { index },
      })),
    );
    const statuses = sent.json.results.map(({ status }) => status).join(' ');
    expect(statuses).toBe('created duplicate created duplicate error created');
    expect(sent.commit?.eventCount).toBe(3);
    expect(sent.commit?.claim.created).toBe(3);
    expectRecordsToMatch(sent);
    expect(sent.lines.map((line) => columnsOf(line).occurred_at)).toEqual([NOW_MS, NOW_MS - 2, NOW_MS - 5]);
  });

  test('every line ends with a line feed and holds no other', async () => {
    const properties = { text: 'a\nb\r\u2028', '\n': '\\n' };
    const { commit } = await session().batch([
      { idempotencyKey: 'a', ...SOUND, properties },
      { idempotencyKey: 'b', ...SOUND, properties },
    ]);
    const text = Buffer.from(commit?.lines ?? []).toString();
    expect(text.split('\n').map((line) => line.length > 0)).toEqual([true, true, false]);
  });

  test('each touched customer and meter carries the span of its events', async () => {
    session().putCustomer({ id: 'cus_bbbbbbbbbbbbbbbbbbbbbbbbbb', externalId: 'b' });
    session().putMeter({ key: 'a "quoted" meter' });
    const event = (customerId: string, meterId: string, hours: number) => ({
      ...{ customerId, meterId, value: 1, idempotencyKey: `${customerId}${meterId}${hours}` },
      occurredAt: at(NOW_MS + hours * HOUR_MS),
    });
    const { commit } = await session().batch([
      event(CUSTOMER, 'api_calls', -5),
      event('b', 'api_calls', -1),
      event(CUSTOMER, 'api_calls', -9),
      event(CUSTOMER, 'api_calls', -2),
      event(CUSTOMER, 'a "quoted" meter', 0),
      { ...event(CUSTOMER, 'api_calls', -5), idempotencyKey: '' },
      event(CUSTOMER, 'api_calls', -24 * 500),
    ]);
    const spans = commit?.touched.map(({ pair, occurredFromMs, occurredToMs }) => [
      ...(JSON.parse(`[${pair}]`) as string[]),
      (occurredFromMs - NOW_MS) / HOUR_MS,
      (occurredToMs - NOW_MS) / HOUR_MS,
    ]);
    expect(spans).toEqual([
      [ENVIRONMENT, CUSTOMER, 'api_calls', -9, -2],
      [ENVIRONMENT, 'cus_bbbbbbbbbbbbbbbbbbbbbbbbbb', 'api_calls', -1, -1],
      [ENVIRONMENT, CUSTOMER, 'a "quoted" meter', 0, 0],
    ]);
  });

  test('a unique meter counts the text of its property, and nothing where it is missing', async () => {
    session().putMeter({ key: 'users', property: 'user' });
    const unique = async (properties: object | undefined, key: string) => {
      const { lines } = await session().single({ ...SOUND, meterId: 'users', properties }, key);
      return columnsOf(lines[0] ?? '').unique_value;
    };
    expect(await unique({ user: 'ann', other: 1 }, 'a')).toBe('=ann');
    expect(await unique({ user: '' }, 'b')).toBe('=');
    expect(await unique({ user: 7 }, 'c')).toBe('=7');
    expect(await unique({ user: true }, 'd')).toBe('=true');
    expect(await unique({ user: '"\\\n' }, 'e')).toBe('="\\\n');
    expect(await unique({ other: 'ann' }, 'f')).toBe('');
    expect(await unique(undefined, 'g')).toBe('');
  });

  test('a request that creates nothing and waits for nothing has no part', async () => {
    await session().single(SOUND, 'k');
    expect((await session().single(SOUND, 'k')).commit).toBeUndefined();
    expect((await session().batch([])).commit).toBeUndefined();
    expect((await session().single({ ...SOUND, customerId: 'nobody' }, 'l')).commit).toBeUndefined();
  });
}

/** Records contain what lines do: id, fingerprint, occurredAt, createdAt. */
export function expectRecordsToMatch({ commit, lines }: Sent): void {
  const records = Buffer.from(commit?.records ?? []);
  expect(records).toHaveLength(lines.length * RECORD_BYTES);
  for (const [index, line] of lines.entries()) {
    const record = records.subarray(index * RECORD_BYTES, (index + 1) * RECORD_BYTES);
    const { id, fingerprint, occurred_at, created_at } = columnsOf(line);
    expect(id).toBe(`use_${base32(record.subarray(0, 16))}`);
    expect(fingerprint).toBe(record.readBigUInt64LE(16).toString());
    expect([record.readDoubleLE(24), record.readDoubleLE(32)]).toEqual([occurred_at, created_at]);
  }
}
