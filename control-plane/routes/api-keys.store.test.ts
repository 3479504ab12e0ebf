import { describe, expect, it } from 'vitest';
import { parseApiKey } from '../../domain/rules/api-key.ts';
import type { ApiKey } from '../../schemas/resources/api-keys.ts';
import type { AuditEntry } from '../../schemas/resources/audit-log.ts';
import { apiOfThisFile, expectRejection } from '../api-under-test.ts';

/*
 * Keys over HTTP: created, rotated, revoked, never with more scopes than their creator has.
 *
 * Seen red with the mutants key-of-any-environment, grant-not-checked, replayed-to-any-key and whole-key-kept
 * (tests/mutants/tenancy-mutants.ts), and with the end of the old key left out of a rotation.
 */
const api = await apiOfThisFile();

async function make(body: object = { kind: 'secret', scopes: ['*'] }): Promise<ApiKey & { key: string }> {
  const response = await api.request('apiKeys.create', { body });
  expect(response.status).toBe(201);
  return response.body;
}

const read = async (keyId: string): Promise<ApiKey> =>
  (await api.request('apiKeys.retrieve', { params: { keyId } })).body;

const works = async (key: string): Promise<string> => {
  const { status, body } = await api.call('GET', '/api/v1/workspace', { key });
  return status === 200 ? 'works' : body.error.code;
};

describe('a new key', () => {
  it('is shown once, works at once, and is kept without its text', async () => {
    const made = await make({ kind: 'secret', scopes: ['plans:read', 'usage:read'], name: 'Reports' });
    const { key, ...shown } = made;
    expect(parseApiKey(key)).toEqual({ kind: 'secret', mode: 'live' });
    expect(shown).toMatchObject({
      id: expect.stringMatching(/^key_[a-z2-7]{26}$/),
      kind: 'secret',
      mode: 'live',
      name: 'Reports',
      scopes: ['plans:read', 'usage:read'],
      last4: key.slice(-4),
      status: 'active',
    });
    expect(await works(key)).toBe('works');
    expect((await api.request('plans.list', { key })).status).toBe(200);
    expectRejection(await api.request('customers.list', { key }), 'insufficient_scope');
    expect(await read(made.id)).toEqual(shown);
    const rows = await api.pool.query('SELECT api_keys::text AS row FROM api_keys WHERE id = $1', [made.id]);
    expect(rows.rows[0].row).not.toContain(key);
  });

  it('belongs to the environment of the key that makes the request', async () => {
    const response = await api.request('apiKeys.create', { key: api.keys.test.secret });
    expect(response.body).toMatchObject({ mode: 'test' });
    expect(parseApiKey(response.body.key)?.mode).toBe('test');
    const fromLive = await api.request('apiKeys.retrieve', { params: { keyId: response.body.id } });
    expectRejection(fromLive, 'not_found', 'keyId');
  });

  it('may be publishable, without scopes', async () => {
    const { key, scopes } = await make({ kind: 'publishable' });
    expect(parseApiKey(key)).toEqual({ kind: 'publishable', mode: 'live' });
    expect(scopes).toEqual([]);
    expectRejection(await api.request('workspace.retrieve', { key }), 'publishable_key_not_allowed');
  });

  const wrong: Array<[what: string, body: object, param: string]> = [
    ['an unknown scope', { kind: 'secret', scopes: ['plans:read', 'plans:own'] }, 'scopes.1'],
    ['a scope twice', { kind: 'secret', scopes: ['plans:read', 'plans:read'] }, 'scopes'],
    ['no scopes', { kind: 'secret' }, 'scopes'],
    ['an empty list of scopes', { kind: 'secret', scopes: [] }, 'scopes'],
    ['scopes for a publishable one', { kind: 'publishable', scopes: ['plans:read'] }, 'scopes'],
    ['no kind', { scopes: ['*'] }, 'kind'],
    ['an unknown kind', { kind: 'root', scopes: ['*'] }, 'kind'],
    ['an empty name', { kind: 'publishable', name: '' }, 'name'],
    ['a past end', { kind: 'publishable', expiresAt: '2020-01-01T00:00:00Z' }, 'expiresAt'],
    ['an end that is not a time', { kind: 'publishable', expiresAt: 'tomorrow' }, 'expiresAt'],
  ];
  it.each(wrong)('is rejected with %s', async (_, body, param) => {
    const before = (await api.request('apiKeys.list')).body.total;
    expectRejection(await api.request('apiKeys.create', { body }), 'invalid_request', param);
    expect((await api.request('apiKeys.list')).body.total).toBe(before);
  });

  it('gets no scope that the creating key does not have', async () => {
    const maker = await make({ kind: 'secret', scopes: ['keys:manage', 'plans:read'] });
    const request = (scopes: string[]) =>
      api.request('apiKeys.create', { key: maker.key, body: { kind: 'secret', scopes } });
    for (const scopes of [['*'], ['plans:write'], ['plans:read', 'usage:write']]) {
      const response = await request(scopes);
      expectRejection(response, 'insufficient_scope', 'scopes');
      expect(response.body).toMatchObject({ error: { details: { missing: scopes.slice(-1) } } });
    }
    expect((await request(['plans:read', 'keys:manage'])).body).toMatchObject({ createdBy: maker.id });
  });

  it('ends at its expiresAt', async () => {
    const end = Date.now() + 3_000;
    const { key, id } = await make({
      kind: 'secret',
      scopes: ['*'],
      expiresAt: new Date(end).toISOString(),
    });
    expect(await works(key)).toBe('works');
    await expect.poll(() => works(key), { timeout: 20_000 }).toBe('key_expired');
    expect(Date.now()).toBeGreaterThanOrEqual(end);
    expect(await read(id)).toMatchObject({ status: 'expired' });
  });
});

describe('a repeated request for a key', () => {
  it('shows the same secret again', async () => {
    const headers = { 'idempotency-key': 'make-1' };
    const [first, again] = [
      await api.request('apiKeys.create', { headers }),
      await api.request('apiKeys.create', { headers }),
    ];
    expect(again.headers['idempotent-replayed']).toBe('true');
    expect(again.body.key).toBe(first.body.key);
  });

  it('shows nothing to a key with other scopes', async () => {
    const headers = { 'idempotency-key': 'make-2' };
    const body = { kind: 'secret', scopes: ['*'] };
    await api.request('apiKeys.create', { headers, body });
    const { key } = await make({ kind: 'secret', scopes: ['keys:manage'] });
    expectRejection(await api.request('apiKeys.create', { headers, body, key }), 'idempotency_key_reused');
  });
});

describe('a rotation', () => {
  it('gives a successor of the same powers, and lets the old key live for the overlap', async () => {
    const expiresAt = new Date(Date.now() + 86_400_000 * 90).toISOString();
    const old = await make({ kind: 'secret', scopes: ['plans:read'], name: 'CI', expiresAt });
    const response = await api.request('apiKeys.rotate', { params: { keyId: old.id }, body: undefined });
    const { body: next } = response;
    expect(response.status).toBe(200);
    expect(next).toMatchObject({ name: 'CI', scopes: ['plans:read'], expiresAt, status: 'active' });
    expect(next.key).not.toBe(old.key);
    expect([await works(old.key), await works(next.key)]).toEqual(['works', 'works']);
    const { expiresAt: end = '', ...shown } = await read(old.id);
    expect(shown).toMatchObject({ status: 'active', rotatedTo: next.id });
    expect(Date.parse(end) - Date.parse(next.createdAt)).toBe(86_400_000);
  });

  it('never lets the old key live beyond its own end', async () => {
    const expiresAt = new Date(Date.now() + 60_000).toISOString();
    const { id: keyId } = await make({ kind: 'publishable', expiresAt });
    await api.request('apiKeys.rotate', { params: { keyId }, body: { overlapSeconds: 3600 } });
    expect(await read(keyId)).toMatchObject({ expiresAt });
  });

  it('ends the old key at once without an overlap', async () => {
    const { id: keyId, key } = await make();
    const next = await api.request('apiKeys.rotate', { params: { keyId }, body: { overlapSeconds: 0 } });
    expect([await works(key), await works(next.body.key)]).toEqual(['key_revoked', 'works']);
  });

  it('may be of the key that makes the request', async () => {
    const { id: keyId, key } = await make();
    const next = await api.request('apiKeys.rotate', { key, params: { keyId }, body: { overlapSeconds: 0 } });
    expect(await works(next.body.key)).toBe('works');
  });

  it('is denied to a key with fewer scopes, for what has ended, and a second time', async () => {
    const params = { keyId: (await make()).id };
    const { key } = await make({ kind: 'secret', scopes: ['keys:manage'] });
    expectRejection(await api.request('apiKeys.rotate', { key, params }), 'insufficient_scope', 'scopes');
    expect((await api.request('apiKeys.rotate', { params })).status).toBe(200);
    expectRejection(await api.request('apiKeys.rotate', { params }), 'illegal_transition');
    await api.request('apiKeys.revoke', { params });
    expectRejection(await api.request('apiKeys.rotate', { params }), 'illegal_transition');
    for (const overlapSeconds of [-1, 0.5, 2_592_001, '60', true]) {
      const response = await api.request('apiKeys.rotate', { params, body: { overlapSeconds } });
      expectRejection(response, 'invalid_request', 'overlapSeconds');
    }
  });

  it('gives one successor to two rivals', async () => {
    const params = { keyId: (await make()).id };
    const responses = await Promise.all([1, 2, 3].map(() => api.request('apiKeys.rotate', { params })));
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
  });
});

describe('a revocation', () => {
  it('ends a key at once, and a second one changes nothing', async () => {
    const { id: keyId, key } = await make();
    const revoke = () => api.request('apiKeys.revoke', { params: { keyId } });
    expect(await revoke()).toMatchObject({ status: 204, text: '' });
    expect(await works(key)).toBe('key_revoked');
    const after = await read(keyId);
    expect(after).toMatchObject({ status: 'revoked', revokedAt: expect.any(String) });
    expect((await revoke()).status).toBe(204);
    expect(await read(keyId)).toEqual(after);
    const { body } = await api.request('auditLog.list', { query: { objectId: keyId } });
    expect(body.data.map(({ action }: AuditEntry) => action)).toEqual(['apiKeys.revoke', 'apiKeys.create']);
  });

  it('may be of the key that makes the request', async () => {
    const { id: keyId, key } = await make();
    expect((await api.request('apiKeys.revoke', { key, params: { keyId } })).status).toBe(204);
    expect(await works(key)).toBe('key_revoked');
  });

  it.each(['apiKeys.retrieve', 'apiKeys.rotate', 'apiKeys.revoke'] as const)(
    'and every other act is 404 for what is not there: %s',
    async (operation) => {
      for (const keyId of ['key_none', "' OR 1=1 --", '__proto__', '%00x']) {
        const response = await api.request(operation, { params: { keyId } });
        expectRejection(response, 'not_found', 'keyId');
      }
    },
  );
});

it('lists keys by kind and status, newest first, without their texts', async () => {
  const { live } = await api.addWorkspace();
  const request = (query: Record<string, string>) => api.request('apiKeys.list', { key: live.secret, query });
  const create = (body: object) => api.request('apiKeys.create', { key: live.secret, body });
  const revoked = (await create({ kind: 'publishable', name: 'ended' })).body.id;
  await api.request('apiKeys.revoke', { key: live.secret, params: { keyId: revoked } });
  const newest = (await create({ kind: 'secret', scopes: ['*'], name: 'newest' })).body;
  const all = await request({});
  expect(all.body).toMatchObject({ total: 4, data: [{ id: newest.id }, { id: revoked }, {}, {}] });
  expect(all.text).not.toContain(newest.key);
  const namesOf = async (query: Record<string, string>) =>
    (await request(query)).body.data.map(({ name = '–' }: ApiKey) => name);
  expect(await namesOf({ kind: 'publishable' })).toEqual(['ended', '–']);
  expect(await namesOf({ status: 'revoked' })).toEqual(['ended']);
  expect(await namesOf({ status: 'active', kind: 'secret' })).toEqual(['newest', '–']);
  expect(await namesOf({ status: 'expired' })).toEqual([]);
  expectRejection(await request({ status: 'lost' }), 'invalid_request', 'status');
});
