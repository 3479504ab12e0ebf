import { expect, test } from 'vitest';
import { createPool } from '../../infra/postgres/pool.ts';
import { Transient } from '../../schemas/failures.ts';
import { SILENT } from '../../tests/support/silent-log.ts';
import { poolOfThisFile } from '../../tests/support/test-pool.ts';
import { findApiKey, findApiKeyById } from './find-api-key.ts';

const pool = await poolOfThisFile();
await pool.query("INSERT INTO workspaces (id, name) VALUES ('ws_a', 'A')");
await pool.query("INSERT INTO environments (id, workspace_id, mode) VALUES ('ws_a:live', 'ws_a', 'live')");

test('a key is found by its hash or its id, with its scopes, end and revocation', async () => {
  const expiresAt = new Date('2027-01-01T00:00:00.000Z');
  const insert = (id: string, expires: Date | null, revoked: Date | null) =>
    pool.query(
      `INSERT INTO api_keys (id, environment, kind, hash, last4, scopes, expires_at, revoked_at)
       VALUES ($1, 'ws_a:live', 'secret', $2, 'abcd', $3, $4, $5)`,
      [id, Buffer.from(id), ['usage:write', 'usage:read'], expires, revoked],
    );
  await insert('key_a', null, null);
  await insert('key_b', expiresAt, new Date());
  const known = { environment: 'ws_a:live', kind: 'secret', scopes: ['usage:write', 'usage:read'] };
  expect(await findApiKey(pool, Buffer.from('key_a'))).toEqual({
    ...known,
    id: 'key_a',
    expiresAtMs: undefined,
    revoked: false,
  });
  expect(await findApiKey(pool, Buffer.from('key_b'))).toEqual({
    ...known,
    id: 'key_b',
    expiresAtMs: expiresAt.getTime(),
    revoked: true,
  });
  expect(await findApiKey(pool, Buffer.from('key_c'))).toBeUndefined();
  for (const id of ['key_a', 'key_b', 'key_c']) {
    expect(await findApiKeyById(pool, id)).toEqual(await findApiKey(pool, Buffer.from(id)));
  }
});

test('while Postgres is unavailable a query throws Transient', async () => {
  const unavailable = createPool({
    url: 'postgres://nobody@127.0.0.1:1/none',
    name: 'unavailable',
    log: SILENT,
  });
  await expect(findApiKey(unavailable, Buffer.from('key_a'))).rejects.toBeInstanceOf(Transient);
  await unavailable.end();
});
