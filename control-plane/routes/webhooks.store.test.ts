import { describe, expect, it } from 'vitest';
import { deriveSecrets, unseal } from '../../domain/secrets.ts';
import { EVENT_TYPES } from '../../schemas/events.ts';
import type { EventEnvelope, WebhookEndpoint } from '../../schemas/resources/webhooks.ts';
import { apiOfThisFile, apiOfThisTest, expectRejection } from '../api-under-test.ts';

/*
 * Webhook endpoints and events over HTTP and a real Postgres.
 *
 * Mutants this suite catches: the secret stored in the clear; the count of endpoints read without its lock;
 * events printed from JSON.parse; one WHERE environment dropped.
 */
const { sealingKey } = deriveSecrets(Buffer.alloc(32, 7));

const api = await apiOfThisFile();

const HOOKS = 'https://example.com/hooks';
const create = (fields: object = {}, key = api.keys.live.secret) =>
  api.request('createWebhookEndpoint', { key, body: { url: HOOKS, events: ['*'], ...fields } });
const list = async (key: string): Promise<WebhookEndpoint[]> =>
  (await api.request('listWebhookEndpoints', { key })).body.data;

describe('a webhook endpoint', () => {
  it('is made with a secret that is shown once and stored sealed', async () => {
    const { secret: key } = (await api.addWorkspace()).live;
    const { status, body } = await create({ events: ['plan.created', '*', 'plan.created'] }, key);
    const { secret, ...shown } = body;
    expect(status).toBe(201);
    expect(shown).toMatchObject({ url: HOOKS, events: ['plan.created', '*'], status: 'enabled' });
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(await list(key)).toEqual([shown]);
    const sql = 'SELECT secret, environment FROM webhook_endpoints WHERE id = $1';
    const [row] = (await api.pool.query(sql, [body.id])).rows;
    expect(row.secret.toString('latin1')).not.toContain(secret.slice(6));
    const context = `${row.environment}/webhook-secret/${body.id}`;
    expect(unseal(row.secret, sealingKey, context).toString()).toBe(secret);
    const audit = 'SELECT action, after FROM audit_log WHERE object_id = $1';
    const entries = (await api.pool.query(audit, [body.id])).rows;
    expect(entries).toEqual([{ action: 'createWebhookEndpoint', after: shown }]);
  });

  it('has a secret of its own, which a repeated request shows again', async () => {
    const body = { url: HOOKS, events: ['*'] };
    const again = { body, headers: { 'idempotency-key': 'endpoint' } };
    const first = await api.request('createWebhookEndpoint', again);
    expect((await api.request('createWebhookEndpoint', again)).body).toEqual(first.body);
    expect((await create()).body.secret).not.toBe(first.body.secret);
  });

  it('may subscribe to each type of event', async () => {
    expect((await create({ events: EVENT_TYPES })).body.events).toEqual([...EVENT_TYPES]);
  });

  it('is of one environment, and lists are newest first', async () => {
    const { live, test } = await api.addWorkspace();
    const made = [];
    for (const path of ['a', 'b', 'c'])
      made.push((await create({ url: `${HOOKS}/${path}` }, live.secret)).body.id);
    expect((await list(live.secret)).map(({ id }) => id)).toEqual(made.reverse());
    expect(await list(test.secret)).toEqual([]);
  });

  const rejected: Array<[what: string, fields: object, param: string]> = [
    ['http', { url: 'http://example.com/' }, 'url'],
    ['a private address', { url: 'https://10.0.0.1/' }, 'url'],
    ['no url', { url: undefined }, 'url'],
    ['an endless url', { url: `https://example.com/${'x'.repeat(2048)}` }, 'url'],
    ['no list of events', { events: undefined }, 'events'],
    ['no event', { events: [] }, 'events'],
    ['an unknown event', { events: ['plan.created', 'plan.deleted'] }, 'events.1'],
    ['a part of a type', { events: ['plan.*'] }, 'events.0'],
    ['a text for a list', { events: '*' }, 'events'],
  ];
  it.each(rejected)('is rejected with %s', async (_, fields, param) => {
    expectRejection(await create(fields), 'invalid_request', param);
  });

  it('is one of a hundred at most, also between rivals', async () => {
    const { live, test } = await api.addWorkspace();
    await Promise.all(Array.from({ length: 98 }, () => create({}, live.secret)));
    const responses = await Promise.all(Array.from({ length: 6 }, () => create({}, live.secret)));
    const late = responses.filter(({ status }) => status !== 201);
    expect(late.length).toBe(4);
    for (const response of late) expectRejection(response, 'invalid_request');
    expect((await list(live.secret)).length).toBe(100);
    expect((await create({}, test.secret)).status).toBe(201);
  });

  it('may be private where the server allows it', async () => {
    const open = await apiOfThisTest(undefined, { webhookTargets: 'all' });
    const url = 'http://127.0.0.1:9/hooks';
    const response = await open.request('createWebhookEndpoint', { body: { url, events: ['*'] } });
    expect([response.status, response.body.url]).toEqual([201, url]);
  });

  // Red when the mode of the key is not checked, and when a change is checked by other rules.
  it('may be http and loopback in test mode alone, where the server allows that', async () => {
    const open = await apiOfThisTest(undefined, { webhookTargets: 'loopback' });
    const { live, test } = await open.addWorkspace();
    for (const [key, url, isTaken] of [
      [live.secret, 'http://127.0.0.1:9/hooks', false],
      [live.secret, 'https://localhost/', false],
      [test.secret, 'http://127.0.0.1:9/hooks', true],
      [test.secret, 'http://localhost:9/hooks', true],
      [test.secret, 'http://10.0.0.1/', false],
      [test.secret, 'http://169.254.169.254/', false],
      [test.secret, 'http://example.com/', false],
    ] as const) {
      const made = await open.request('createWebhookEndpoint', { key, body: { url, events: ['*'] } });
      expect([url, made.status]).toEqual([url, isTaken ? 201 : 400]);
      const other = { url: HOOKS, events: ['*'] };
      const { body } = await open.request('createWebhookEndpoint', { key, body: other });
      const params = { endpointId: body.id };
      const changed = await open.request('webhookEndpoints.update', { key, params, body: { url } });
      expect([url, changed.status]).toEqual([url, isTaken ? 200 : 400]);
    }
  });
});

describe('an event', () => {
  it('is read as it is stored, byte for byte, alone and in a list', async () => {
    const { secret: key } = (await api.addWorkspace()).live;
    const name = 'é\u2028"\\/\u007f<&>💡';
    await api.request('customers.create', { key, body: { name, email: 'a@example.com' } });
    const sql = `SELECT id, body FROM webhook_events WHERE body LIKE '%💡%'`;
    const [stored] = (await api.pool.query(sql)).rows;
    const one = await api.request('webhookEvents.retrieve', { key, params: { eventId: stored.id } });
    expect(one.text).toBe(stored.body);
    const { text } = await api.request('webhookEvents.list', { key });
    expect(text).toContain(`{"data":[${stored.body}],"total":1`);
  });

  it('keeps every digit of its numbers', async () => {
    const { workspaceId, live } = await api.addWorkspace();
    const data = '{"customerId":"x","amount":123456789.000000000001,"reason":"r"}';
    const at = '2026-01-01T00:00:00.000Z';
    const eventId = `evt_${'a'.repeat(26)}`;
    const head =
      `"id":"${eventId}","type":"credit.granted",` + `"workspace_id":"${workspaceId}","created_at":"${at}"`;
    await api.pool.query(
      `INSERT INTO webhook_events (id, environment, type, object_id, body, created_at)
       VALUES ($1, $2, 'credit.granted', 'x', $3, $4)`,
      [eventId, `${workspaceId}:live`, `{${head},"data":${data}}`, at],
    );
    const response = await api.request('webhookEvents.retrieve', { key: live.secret, params: { eventId } });
    expect(response.text).toBe(`{${head},"data":${data}}`);
  });

  it('is found by type and time, newest first, by the page', async () => {
    const { secret: key } = (await api.addWorkspace()).live;
    const made = [];
    for (let at = 0; at < 3; at += 1) made.push((await api.request('customers.create', { key })).body.id);
    await api.request('customers.archive', { key, params: { customerId: made[0] ?? '' } });
    const events = async (
      query: Record<string, string | number>,
    ): Promise<{ data: EventEnvelope[]; total: number }> =>
      (await api.request('webhookEvents.list', { key, query })).body;
    const all = await events({});
    expect(all.data.map(({ type }) => type)).toEqual([
      'customer.updated',
      ...Array(3).fill('customer.created'),
    ]);
    const created = await events({ type: 'customer.created', pageSize: 2, page: 2 });
    expect(created).toMatchObject({ total: 3, totalPages: 2, hasNext: false, hasPrev: true });
    expect(created.data).toEqual([all.data[3]]);
    const [newest] = all.data;
    const from = newest?.created_at ?? '';
    expect((await events({ from })).data).toContainEqual(newest);
    expect((await events({ to: from })).data).not.toContainEqual(newest);
    expect((await events({ type: 'plan.created' })).total).toBe(0);
  });

  it('of one environment is there for no other', async () => {
    const { live, test } = await api.addWorkspace();
    await api.request('customers.create', { key: live.secret });
    const [event] = (await api.request('webhookEvents.list', { key: live.secret })).body.data;
    const params = { eventId: event?.id ?? '' };
    const read = await api.request('webhookEvents.retrieve', { key: test.secret, params });
    expectRejection(read, 'not_found', 'eventId');
    expect((await api.request('webhookEvents.list', { key: test.secret })).body.total).toBe(0);
  });

  it.each([
    [{ type: 'customer.deleted' }, 'type'],
    [{ from: 'x' }, 'from'],
    [{ from: '2026-02-01T00:00:00Z', to: '2026-01-01T00:00:00Z' }, 'to'],
    [{ pageSize: 101 }, 'pageSize'],
  ])('is not found by %j', async (query, param) => {
    const response = await api.request('webhookEvents.list', { query: query as Record<string, string> });
    expectRejection(response, 'invalid_request', param);
  });
});
