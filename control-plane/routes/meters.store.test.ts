import { describe, expect, it } from 'vitest';
import type { ErrorCode } from '../../schemas/error-codes.ts';
import { CHANNELS } from '../../schemas/stored/channels.ts';
import { AGGREGATIONS } from '../../schemas/usage-limits.ts';
import { testClient } from '../../tests/support/test-client.ts';
import { apiOfThisFile, expectRejection } from '../api-under-test.ts';
import { auditEntries } from '../subscriptions/subscriptions-under-test.ts';

/*
 * Meters over HTTP.
 *
 * Mutants this suite catches: the environment left out of a statement; rates from JSON.parse; null in a patch
 * read as left out; a rate on a max meter; a change that does not invalidate the data plane's caches.
 */
const METERS = '/api/v1/meters';

const api = await apiOfThisFile();

let made = 0;
async function newMeter(fields: Record<string, unknown> = {}) {
  const body = { key: `meter-${++made}`, name: 'Meter', aggregation: 'sum', ...fields };
  const response = await api.request('meters.create', { body });
  expect(response.status).toBe(201);
  return response.body;
}

describe('a meter', () => {
  it('keeps its credit rates to the last digit', async () => {
    const rates = '{"property":"region","rates":{"eu":0.000000000001,"us":999999999999999.999999999999}}';
    const fields = '"key":"exact","name":"e","aggregation":"sum","unit":"GB"';
    const body = `{${fields},"creditRate":123456789.0000000000010,"creditRates":${rates}}`;
    const response = await api.call('POST', METERS, { body });
    expect(response.text).toContain(`"creditRate":123456789.000000000001,"creditRates":${rates}`);
    expect(response.body).toMatchObject({ source: 'api', status: 'active', unit: 'GB' });
    expect((await api.call('GET', METERS)).text).toContain(`"creditRates":${rates}`);
  });

  type Rejected = [what: string, fields: Record<string, unknown>, param: string];
  const rejected: Rejected[] = [
    ['a key like an id', { key: 'meter_x' }, 'key'],
    ['no aggregation', { aggregation: undefined }, 'aggregation'],
    ['an unknown aggregation', { aggregation: 'mean' }, 'aggregation'],
    ['unique without a property', { aggregation: 'unique' }, 'property'],
    ...AGGREGATIONS.filter((one) => one !== 'unique').map((aggregation): Rejected => {
      return [`a property on ${aggregation}`, { aggregation, property: 'user' }, 'property'];
    }),
    ...AGGREGATIONS.filter((one) => one !== 'sum' && one !== 'count').map((aggregation): Rejected => {
      const property = aggregation === 'unique' ? { property: 'user' } : {};
      return [`a rate on ${aggregation}`, { aggregation, ...property, creditRate: 1 }, 'creditRate'];
    }),
    [
      'rates on a latest',
      { aggregation: 'latest', creditRates: { property: 'a', rates: { b: 1 } } },
      'creditRates',
    ],
    ['a negative rate', { creditRate: -1 }, 'creditRate'],
    ['rates without a property', { creditRates: { rates: { b: 1 } } }, 'creditRates.property'],
    ['no type of its events', { eventSource: { valueProperty: 'a' } }, 'eventSource.eventType'],
    [
      'a value nowhere',
      { eventSource: { eventType: 'a', valueProperty: '$..a' } },
      'eventSource.valueProperty',
    ],
    [
      'a filter nowhere',
      { eventSource: { eventType: 'a', filters: { '$[*]': ['b'] } } },
      'eventSource.filters',
    ],
    ['a group nowhere', { eventSource: { eventType: 'a', groupBy: { b: '$.' } } }, 'eventSource.groupBy.b'],
  ];
  it.each(rejected)('is rejected with %s', async (_, fields, param) => {
    const body = { key: 'rejected', name: 'r', aggregation: 'sum', ...fields };
    expectRejection(await api.call('POST', METERS, { body }), 'invalid_request', param);
  });

  it.each(['1e-13', '1000000000000000', '1e400', '0.1234567890123'])(
    'is rejected with a rate of %s',
    async (rate) => {
      const body = `{"key":"wide","name":"w","aggregation":"sum","creditRate":${rate}}`;
      expectRejection(await api.call('POST', METERS, { body }), 'value_invalid', 'creditRate');
    },
  );

  it('has a key of its own', async () => {
    const body = { key: 'twice', name: 't', aggregation: 'unique', property: 'user' };
    expect((await api.call('POST', METERS, { body })).body).toMatchObject(body);
    expectRejection(await api.call('POST', METERS, { body }), 'already_exists', 'key');
  });
});

describe('an existing meter', () => {
  it('is read by key and by id, and is not visible in another environment', async () => {
    const meter = await newMeter();
    const key = api.keys.test.secret;
    for (const meterId of [meter.key, meter.id]) {
      const params = { meterId };
      expect((await api.request('meters.retrieve', { params })).body).toEqual(meter);
      for (const operation of ['meters.retrieve', 'meters.update', 'meters.archive'] as const) {
        expectRejection(await api.request(operation, { key, params }), 'meter_not_found', 'meterId');
      }
    }
  });

  it('changes its name, unit and rates; null removes, what is left out stays', async () => {
    const rates = { property: 'region', rates: { eu: 2 } };
    const meter = await newMeter({ unit: 'GB', creditRate: 1, creditRates: rates });
    const params = { meterId: meter.key };
    const byZone = '"creditRates":{"property":"zone","rates":{"__proto__":3}}';
    const body = `{"name":"New","creditRate":0.1000000000010,${byZone}}`;
    const changed = await api.request('meters.update', { params, body });
    expect(changed.text).toContain(`"creditRate":0.100000000001,${byZone}`);
    expect(changed.body).toMatchObject({ name: 'New', unit: 'GB', aggregation: 'sum' });
    const none = { unit: null, creditRate: null, creditRates: null };
    const bare = await api.request('meters.update', { params, body: none });
    for (const field of Object.keys(none)) expect(bare.body).not.toHaveProperty(field);
    expect(bare.body).toEqual({
      id: meter.id,
      key: meter.key,
      name: 'New',
      aggregation: 'sum',
      source: 'api',
      status: 'active',
      createdAt: meter.createdAt,
      updatedAt: expect.any(String),
    });
    expect((await api.request('meters.retrieve', { params })).body).toEqual(bare.body);
    expect(await auditEntries(api.pool, meter.id)).toMatchObject([
      { action: 'meters.create' },
      { action: 'meters.update', before: { name: 'Meter', unit: 'GB' }, after: { name: 'New' } },
      { action: 'meters.update', after: bare.body },
    ]);
  });

  it('to the values it has: nothing is recorded', async () => {
    const meter = await newMeter({ creditRate: 2.5 });
    const params = { meterId: meter.key };
    const same = { ...meter, creditRate: 2.5, unit: null };
    for (const body of [{}, same, '{"creditRate":25e-1}']) {
      expect((await api.request('meters.update', { params, body })).body).toEqual(meter);
    }
    expect(await auditEntries(api.pool, meter.id)).toHaveLength(1);
  });

  const rejected: Array<[patch: object, code: ErrorCode, param: string]> = [
    [{ key: 'other' }, 'invalid_request', 'key'],
    [{ aggregation: 'sum' }, 'invalid_request', 'aggregation'],
    [{ property: 'user' }, 'invalid_request', 'property'],
    [{ name: 7 }, 'invalid_request', 'name'],
    [{ unit: '' }, 'invalid_request', 'unit'],
    [{ creditRate: 1 }, 'invalid_request', 'creditRate'],
    [{ creditRate: -1 }, 'invalid_request', 'creditRate'],
    [{ creditRates: { property: 'a', rates: { b: 1 } } }, 'invalid_request', 'creditRates'],
    [{ creditRates: { property: 'a', rates: {} } }, 'invalid_request', 'creditRates.rates'],
  ];
  it.each(rejected)('rejects the change %o', async (patch, code, param) => {
    const meter = await newMeter({ aggregation: 'max' });
    const params = { meterId: meter.key };
    const response = await api.request('meters.update', { params, body: { name: 'x', ...patch } });
    expectRejection(response, code, param);
    expect((await api.request('meters.retrieve', { params })).body).toEqual(meter);
  });

  it('rejects a rate of too many digits', async () => {
    const { key } = await newMeter();
    const params = { meterId: key };
    const wide = await api.request('meters.update', { params, body: '{"creditRate":0.1234567890123}' });
    expectRejection(wide, 'value_invalid', 'creditRate');
    const body = '{"creditRates":{"property":"a","rates":{"b":1e400}}}';
    const nested = await api.request('meters.update', { params, body });
    expectRejection(nested, 'value_invalid', 'creditRates.rates.b');
  });

  it('changes which events of other formats it counts', async () => {
    const filters = { '$.model': ['large'] };
    const eventSource = {
      eventType: 'prompt',
      valueProperty: '$.tokens',
      filters,
      groupBy: { model: 'model' },
    };
    const meter = await newMeter({ eventSource: { ...eventSource, unknown: 1 } });
    expect(meter.eventSource).toEqual(eventSource);
    const params = { meterId: meter.key };
    const other = { eventType: 'reply' };
    const changed = await api.request('meters.update', { params, body: { eventSource: other } });
    expect(changed.body).toMatchObject({ eventSource: other });
    const renamed = await api.request('meters.update', { params, body: { name: 'x' } });
    expect(renamed.body).toMatchObject({ name: 'x', eventSource: other });
    const none = await api.request('meters.update', { params, body: { eventSource: null } });
    expect(none.body).not.toHaveProperty('eventSource');
  });

  it('is changed only as it was seen', async () => {
    const { key } = await newMeter();
    const params = { meterId: key };
    const { headers } = await api.request('meters.retrieve', { params });
    const seen = { 'if-match': String(headers.etag) };
    const first = await api.request('meters.update', { params, body: { name: 'a' }, headers: seen });
    expect(first.status).toBe(200);
    const second = await api.request('meters.update', { params, body: { name: 'b' }, headers: seen });
    expectRejection(second, 'precondition_failed');
    expectRejection(await api.request('meters.archive', { params, headers: seen }), 'precondition_failed');
  });

  it('is archived once, and every change is notified to processes that cache meters', async () => {
    const received: string[] = [];
    const listener = await testClient(api.url);
    listener.on('notification', ({ payload = '' }) => received.push(payload));
    await listener.query(`LISTEN ${CHANNELS.changes}`);
    const meter = await newMeter();
    const params = { meterId: meter.key };
    await api.request('meters.update', { params, body: { name: 'New' } });
    const archived = await api.request('meters.archive', { params });
    expect(archived.body).toMatchObject({ name: 'New', status: 'archived' });
    expect((await api.request('meters.archive', { params })).body).toEqual(archived.body);
    await listener.query('SELECT 1'); // earlier notifications arrive with its response
    const note = JSON.stringify({ kind: 'meter', environment: api.environment, id: meter.id });
    expect(received).toEqual([note, note, note]);
    expect(await auditEntries(api.pool, meter.id)).toHaveLength(3);
  });
});
