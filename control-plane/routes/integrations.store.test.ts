import { beforeEach, describe, expect, it } from 'vitest';
import { apiOfThisFile, expectRejection } from '../api-under-test.ts';

/*
 * Connecting the payment processor over HTTP and a real Postgres.
 *
 * Mutants this suite catches: a key stored in the clear; `connect` forgets the webhook secret; a context of
 * `seal` that names no environment; an audit entry written for no change.
 */
const API_KEY = 'sk_processor_canary_1234';
const SECRET = 'whsec_canary_5678';

const api = await apiOfThisFile();

beforeEach(async () => {
  await act({ action: 'disconnect' });
});

const act = (body: object, key = api.keys.live.secret) => api.request('connectProcessor', { body, key });
const shown = async (key = api.keys.live.secret) => (await api.request('processor.retrieve', { key })).body;

async function entries(): Promise<Array<{ before: object; after: object }>> {
  const sql = `SELECT before, after FROM audit_log WHERE action = 'connectProcessor' ORDER BY id`;
  return (await api.pool.query(sql)).rows;
}

describe('the processor', () => {
  it('is connected with a key, of which four characters are shown, and forgotten', async () => {
    expect(await shown()).toEqual({ connected: false, webhookSecretSet: false });
    expect((await act({ action: 'connect', apiKey: API_KEY })).body).toEqual({ ok: true });
    expect(await shown()).toEqual({ connected: true, keyLast4: '1234', webhookSecretSet: false });
    await act({ action: 'set_webhook_secret', secret: SECRET });
    await act({ action: 'connect', apiKey: `${API_KEY}9` });
    expect(await shown()).toEqual({ connected: true, keyLast4: '2349', webhookSecretSet: true });
    expect((await act({ action: 'disconnect' })).body).toEqual({ ok: true });
    expect(await shown()).toEqual({ connected: false, webhookSecretSet: false });
    expect((await act({ action: 'disconnect' })).body).toEqual({ ok: true });
  });

  it('may be given both at once', async () => {
    await act({ action: 'connect', apiKey: API_KEY, secret: SECRET });
    expect(await shown()).toEqual({ connected: true, keyLast4: '1234', webhookSecretSet: true });
  });

  it('belongs to one environment', async () => {
    await act({ action: 'connect', apiKey: API_KEY });
    const other = await api.addWorkspace();
    for (const key of [api.keys.test.secret, other.live.secret]) {
      expect(await shown(key)).toEqual({ connected: false, webhookSecretSet: false });
      await act({ action: 'disconnect' }, key);
    }
    expect(await shown()).toMatchObject({ connected: true });
  });

  it('keeps nothing in the clear, not in its row, the audit log or a stored response', async () => {
    const headers = { 'idempotency-key': 'connect' };
    const body = { action: 'connect', apiKey: API_KEY, secret: SECRET };
    await api.request('connectProcessor', { body, headers });
    const tables = ['processor_connections', 'audit_log', 'idempotent_answers', 'webhook_events'];
    for (const table of tables) {
      const { rows } = await api.pool.query(`SELECT row_to_json(t)::text AS text FROM ${table} t`);
      const texts = rows.map(({ text }) => text + decoded(text)).join();
      expect(texts).not.toMatch(/canary/);
    }
  });

  it('leaves an audit entry for each change, also of a secret by another, and none for nothing', async () => {
    const before = (await entries()).length;
    await act({ action: 'disconnect' });
    await act({ action: 'set_webhook_secret', secret: SECRET });
    await act({ action: 'set_webhook_secret', secret: `${SECRET}9` });
    const notified = (await entries()).slice(before);
    const unset = { connected: false, webhookSecretSet: false };
    const set = { connected: false, webhookSecretSet: true };
    expect(notified).toEqual([
      { before: unset, after: { ...set, action: 'set_webhook_secret' } },
      { before: set, after: { ...set, action: 'set_webhook_secret' } },
    ]);
  });

  const rejected: Array<[what: string, body: object, param: string]> = [
    ['no action', {}, 'action'],
    ['another action', { action: 'reconnect' }, 'action'],
    ['connect without a key', { action: 'connect', secret: SECRET }, 'apiKey'],
    ['no secret to set', { action: 'set_webhook_secret', apiKey: API_KEY }, 'secret'],
    ['an empty key', { action: 'connect', apiKey: '' }, 'apiKey'],
    ['a key with a line break', { action: 'connect', apiKey: `${API_KEY}\n` }, 'apiKey'],
    ['a key that is no text', { action: 'connect', apiKey: 12345678 }, 'apiKey'],
    ['an endless secret', { action: 'set_webhook_secret', secret: 'x'.repeat(256) }, 'secret'],
  ];
  it.each(rejected)('is left as it is by %s', async (_, body, param) => {
    await act({ action: 'connect', apiKey: API_KEY });
    expectRejection(await act(body), 'invalid_request', param);
    expect(await shown()).toEqual({ connected: true, keyLast4: '1234', webhookSecretSet: false });
  });
});

/** Bytes are shown as hex. */
function decoded(text: string): string {
  return [...text.matchAll(/\\\\x([0-9a-f]+)/g)].map(([, hex = '']) => Buffer.from(hex, 'hex')).join();
}
