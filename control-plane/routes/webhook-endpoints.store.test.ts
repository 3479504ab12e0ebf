import { beforeEach, describe, expect, it } from 'vitest';
import { deriveSecrets } from '../../domain/secrets.ts';
import { openWebhookSecret } from '../../domain/webhook-secrets.ts';
import type { WebhookEndpoint } from '../../schemas/resources/webhooks.ts';
import { apiOfThisFile, expectRejection } from '../api-under-test.ts';

/*
 * Operations on an existing endpoint, over HTTP and a real Postgres.
 *
 * Mutants this suite catches: the url of a PATCH not checked; the failures kept when it is enabled; the old
 * secret kept beyond a rotation without overlap; If-Match not checked; an audit entry with a secret.
 */
const { sealingKey } = deriveSecrets(Buffer.alloc(32, 7));
const HOOKS = 'https://receiver.example/hooks';

let key: string;
let environment: string;

const api = await apiOfThisFile();

beforeEach(async () => {
  const { workspaceId, live } = await api.addWorkspace();
  key = live.secret;
  environment = `${workspaceId}:live`;
});

async function make(fields: object = {}): Promise<WebhookEndpoint & { secret: string }> {
  const body = { url: HOOKS, events: ['plan.created'], ...fields };
  return (await api.request('createWebhookEndpoint', { key, body })).body;
}

const of = (endpointId: string) => ({ key, params: { endpointId } });
const read = (id: string) => api.request('webhookEndpoints.retrieve', of(id));
const patch = (id: string, body: object, headers = {}) =>
  api.request('webhookEndpoints.update', { ...of(id), body: body as never, headers });
const rotate = (id: string, body: object = {}) =>
  api.request('webhookEndpoints.rotateSecret', { ...of(id), body });

async function stored(id: string): Promise<Record<string, unknown>> {
  const { rows } = await api.pool.query('SELECT * FROM webhook_endpoints WHERE id = $1', [id]);
  return rows[0] ?? {};
}

async function audited(id: string): Promise<Array<{ action: string; before: object; after: object }>> {
  const sql = 'SELECT action, before, after FROM audit_log WHERE object_id = $1 ORDER BY id';
  return (await api.pool.query(sql, [id])).rows;
}

/** As the delivery service leaves an endpoint that failed for days. */
async function failFor(id: string): Promise<void> {
  await api.pool.query(
    `UPDATE webhook_endpoints SET failures = 40, failing_since = now(), circuit_until = now(),
            circuit_probes = 3, status = 'disabled', disabled_reason = 'failing' WHERE id = $1`,
    [id],
  );
}

async function openCircuit(id: string): Promise<void> {
  const sql = 'UPDATE webhook_endpoints SET failures = 11, circuit_until = now() WHERE id = $1';
  await api.pool.query(sql, [id]);
}

const FORGIVEN = { failures: 0, failing_since: null, circuit_until: null, circuit_probes: 0 };

describe('a webhook endpoint that is read', () => {
  it('is as it was made, without its secret, and carries an ETag', async () => {
    const { secret, ...made } = await make();
    const { status, body, headers } = await read(made.id);
    expect([status, body]).toEqual([200, made]);
    const again = await api.request('webhookEndpoints.retrieve', {
      ...of(made.id),
      headers: { 'if-none-match': String(headers.etag) },
    });
    expect([again.status, again.text.includes(secret)]).toEqual([304, false]);
  });

  it('shows why it was disabled, in lists too', async () => {
    const { id } = await make();
    await failFor(id);
    const expected = { id, status: 'disabled', disabledReason: 'failing' };
    expect((await read(id)).body).toMatchObject(expected);
    expect((await api.request('listWebhookEndpoints', { key })).body.data).toMatchObject([expected]);
  });
});

describe('the endpoints that fail', () => {
  const failing = async (as = key) =>
    (await api.request('webhookEndpoints.listFailing', { key: as })).body.data;
  const fail = (id: string, since: string, pausedUntil: string | null = null) =>
    api.pool.query(
      `UPDATE webhook_endpoints SET failures = 11, failing_since = $2, circuit_until = $3, last_status = 503,
              last_error = 'status_not_2xx' WHERE id = $1`,
      [id, since, pausedUntil],
    );

  it('are listed, those that have failed longest first, and no other', async () => {
    const [well, young, old, stopped] = [await make(), await make(), await make(), await make()];
    await fail(young.id, '2026-01-02T00:00:00.000Z');
    await fail(old.id, '2026-01-01T00:00:00.000Z', '2026-01-03T00:00:00.000Z');
    await failFor(stopped.id);
    expect(await failing()).toEqual([
      {
        endpointId: old.id,
        url: HOOKS,
        failures: 11,
        failingSince: '2026-01-01T00:00:00.000Z',
        lastStatus: 503,
        lastError: 'status_not_2xx',
        pausedUntil: '2026-01-03T00:00:00.000Z',
      },
      expect.objectContaining({ endpointId: young.id }),
    ]);
    expect(await failing()).not.toContainEqual(expect.objectContaining({ endpointId: well.id }));
    expect(await failing((await api.addWorkspace()).live.secret)).toEqual([]);
  });

  it('leave the list when they are enabled again, and their ETag is the same', async () => {
    const { id } = await make();
    const { headers } = await read(id);
    await fail(id, '2026-01-01T00:00:00.000Z');
    expect((await patch(id, { status: 'enabled' }, { 'if-match': headers.etag })).status).toBe(200);
    expect(await failing()).toEqual([]);
    expect(await stored(id)).toMatchObject({ ...FORGIVEN, last_status: null, last_error: null });
  });
});

describe('a webhook endpoint that is changed', () => {
  it('is changed in the given fields, once, and the audit log shows it', async () => {
    const { secret, ...made } = await make();
    const url = 'https://receiver.example/other';
    const first = await patch(made.id, { url, events: ['*', 'plan.created', '*'], status: 'disabled' });
    const after = { ...made, url, events: ['*', 'plan.created'], status: 'disabled' };
    expect([first.status, first.body]).toEqual([200, after]);
    expect((await patch(made.id, { url, status: 'disabled' })).body).toEqual(after);
    expect((await patch(made.id, {})).body).toEqual(after);
    expect(await audited(made.id)).toEqual([
      { action: 'createWebhookEndpoint', before: null, after: made },
      { action: 'webhookEndpoints.update', before: made, after },
    ]);
    expect((await stored(made.id)).status).toBe('disabled');
  });

  it('forgets its failures when it is enabled, also where it was already', async () => {
    const { id, ...made } = await make();
    await failFor(id);
    expect((await patch(id, { events: ['*'] })).body).toMatchObject({ disabledReason: 'failing' });
    expect(await stored(id)).toMatchObject({ failures: 40, circuit_probes: 3 });
    const { body } = await patch(id, { status: 'enabled' });
    expect(body).toEqual({ id, url: HOOKS, events: ['*'], status: 'enabled', createdAt: made.createdAt });
    expect(await stored(id)).toMatchObject(FORGIVEN);
    await openCircuit(id);
    await patch(id, { status: 'enabled' });
    expect(await stored(id)).toMatchObject(FORGIVEN);
    expect(await audited(id)).toHaveLength(3);
  });

  it('starts again at another url, and nowhere else', async () => {
    const { id } = await make();
    await openCircuit(id);
    await patch(id, { url: HOOKS, events: ['*'] });
    expect(await stored(id)).toMatchObject({ failures: 11 });
    await patch(id, { url: `${HOOKS}/new` });
    expect(await stored(id)).toMatchObject(FORGIVEN);
  });

  const rejected: Array<[what: string, body: object, param: string]> = [
    ['http', { url: 'http://receiver.example/' }, 'url'],
    ['credentials', { url: 'https://a:b@receiver.example/' }, 'url'],
    ['another scheme', { url: 'ftp://receiver.example/' }, 'url'],
    ['an internal address', { url: 'https://169.254.169.254/' }, 'url'],
    ['one in decimal', { url: 'https://2130706433/' }, 'url'],
    ['one in octal', { url: 'https://0177.0.0.1/' }, 'url'],
    ['one in hex', { url: 'https://0x7f.1/' }, 'url'],
    ['one that is mapped', { url: 'https://[::ffff:10.0.0.1]/' }, 'url'],
    ['one behind NAT64', { url: 'https://[64:ff9b::a00:1]/' }, 'url'],
    ['one in the oldest form of IPv6', { url: 'https://[::127.0.0.1]/' }, 'url'],
    ['localhost', { url: 'https://localhost/' }, 'url'],
    ['no event', { events: [] }, 'events'],
    ['an unknown event', { events: ['plan.deleted'] }, 'events.0'],
    ['an unknown status', { status: 'lost' }, 'status'],
  ];
  it.each(rejected)('is rejected with %s, and stays as it is', async (_, body, param) => {
    const { id } = await make();
    const before = await stored(id);
    expectRejection(await patch(id, { events: ['*'], ...body }), 'invalid_request', param);
    expect(await stored(id)).toEqual(before);
  });

  it('is changed only in the version of If-Match, if that is sent', async () => {
    const { id } = await make();
    const seen = { 'if-match': String((await read(id)).headers.etag) };
    expect((await patch(id, { events: ['*'] }, seen)).status).toBe(200);
    expectRejection(await patch(id, { events: ['plan.created'] }, seen), 'precondition_failed');
    const deleted = await api.request('webhookEndpoints.delete', { ...of(id), headers: seen });
    expectRejection(deleted, 'precondition_failed');
  });
});

describe('a signing secret that is replaced', () => {
  const secretsOf = async (id: string) => {
    const row = await stored(id);
    const owner = { environment, endpointId: id };
    const open = (sealed: unknown) => sealed && openWebhookSecret(sealed as Buffer, owner, sealingKey);
    return [open(row.secret), open(row.previous_secret)];
  };

  it('signs along with the new one for a day, or for the given time', async () => {
    const { id, secret: first } = await make();
    const second = await rotate(id);
    expect(second.body.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(await secretsOf(id)).toEqual([second.body.secret, first]);
    expectEnd(second.body.previousSecretUntil, 86_400_000);
    const third = await rotate(id, { overlapSeconds: 604_800 });
    expect(await secretsOf(id)).toEqual([third.body.secret, second.body.secret]);
    expectEnd(third.body.previousSecretUntil, 604_800_000);
    expect(Number((await stored(id)).previous_secret_until)).toBe(
      Date.parse(third.body.previousSecretUntil ?? ''),
    );
  });

  it('is good for nothing at once without an overlap', async () => {
    const { id } = await make();
    await rotate(id);
    const { body } = await rotate(id, { overlapSeconds: 0 });
    expect(body.previousSecretUntil).toBeUndefined();
    expect(await secretsOf(id)).toEqual([body.secret, null]);
    expect((await stored(id)).previous_secret_until).toBeNull();
  });

  it('is shown again to a repeated request, and never by the audit log', async () => {
    const { id } = await make();
    const request = () =>
      api.request('webhookEndpoints.rotateSecret', { ...of(id), headers: { 'idempotency-key': 'r' } });
    const { body } = await request();
    expect((await request()).body).toEqual(body);
    const entries = await audited(id);
    expect(entries.map(({ action }) => action)).toEqual([
      'createWebhookEndpoint',
      'webhookEndpoints.rotateSecret',
    ]);
    expect(JSON.stringify(entries)).not.toContain('whsec_');
  });

  it.each([-1, 604_801, 1.5, '60', true])('overlaps for no %j seconds', async (overlapSeconds) => {
    const { id } = await make();
    expectRejection(await rotate(id, { overlapSeconds }), 'invalid_request', 'overlapSeconds');
  });

  function expectEnd(end: string | undefined, ms: number): void {
    expect(Math.abs(Date.parse(end ?? '') - Date.now() - ms)).toBeLessThan(10_000);
  }
});

describe('a webhook endpoint that is deleted', () => {
  it('is deleted, and the audit log keeps what it was', async () => {
    const { secret, ...made } = await make();
    expect((await api.request('webhookEndpoints.delete', of(made.id))).status).toBe(204);
    expectRejection(await read(made.id), 'endpoint_not_found', 'endpointId');
    expect((await audited(made.id)).at(-1)).toEqual({
      action: 'webhookEndpoints.delete',
      before: made,
      after: null,
    });
    const again = await api.request('webhookEndpoints.delete', of(made.id));
    expectRejection(again, 'endpoint_not_found', 'endpointId');
  });

  it('allows another one', async () => {
    const made: Array<Awaited<ReturnType<typeof make>>> = [];
    // Rotations wait for each other: a hundred at once exceed their time on a busy machine.
    for (let tens = 0; tens < 10; tens += 1) {
      made.push(...(await Promise.all(Array.from({ length: 10 }, () => make()))));
    }
    const beyond = await api.request('createWebhookEndpoint', { key, body: { url: HOOKS, events: ['*'] } });
    expectRejection(beyond, 'invalid_request');
    await api.request('webhookEndpoints.delete', of(made[0]?.id ?? ''));
    expect((await make()).status).toBe('enabled');
  });
});
