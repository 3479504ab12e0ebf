import { describe, expect, it, onTestFinished } from 'vitest';
import { parseApiKey } from '../../domain/rules/api-key.ts';
import { hashApiKey } from '../../domain/secrets.ts';
import type { WorkspaceKeys } from '../../domain/workspace.ts';
import type { ApiKey } from '../../schemas/resources/api-keys.ts';
import { poolOfThisFile } from '../../tests/support/test-pool.ts';
import { readArguments } from './read-arguments.ts';
import { AdminRejection, runCommand } from './run-command.ts';

/*
 * The operator's commands over a real Postgres; as a process of its own against a running instance:
 * tests/tenancy/tenancy.whole.test.ts.
 *
 * Seen red with: the audit entry of a revocation left out; its invalidation left out; another key taken for
 * one that does not exist.
 */
const pepper = Buffer.alloc(32, 9);

const pool = await poolOfThisFile();

async function run<Result>(...args: string[]): Promise<{ result: Result; lines: string[] }> {
  const nowMs = Date.now();
  const command = readArguments(args, nowMs);
  if (command.act === 'help') throw new TypeError('a command was expected');
  const { result, lines } = await runCommand(command, { pool, pepper, nowMs });
  return { result: result as Result, lines };
}

const newWorkspace = async (name = 'Acme') =>
  (await run<WorkspaceKeys>('workspace', 'create', '--name', name)).result;

const newKey = (workspace: string, ...more: string[]) =>
  run<{ id: string; key: string }>('key', 'create', '--workspace', workspace, ...more);

const SECRET = ['--mode', 'live', '--kind', 'secret', '--scopes', 'usage:write,plans:read'];

async function audited(objectId: string): Promise<string[]> {
  const { rows } = await pool.query<{ notified: string }>(
    `SELECT environment || ' ' || actor || ' ' || action AS notified FROM audit_log WHERE object_id = $1
      ORDER BY environment, id`,
    [objectId],
  );
  return rows.map(({ notified }) => notified);
}

async function stored(key: string) {
  const { rows } = await pool.query('SELECT * FROM api_keys WHERE hash = $1', [hashApiKey(key, pepper)]);
  return rows[0];
}

describe('workspace create', () => {
  it('prints the keys of both modes once, in the form of the demo keys, and is audited in both', async () => {
    const { result, lines } = await run<WorkspaceKeys>('workspace', 'create', '--name', 'Börse');
    const { workspaceId, live, test } = result;
    expect(Object.keys(result)).toEqual(['workspaceId', 'live', 'test']);
    expect(parseApiKey(live.publishable)).toEqual({ kind: 'publishable', mode: 'live' });
    expect(lines.join('\n')).toContain(test.secret);
    expect(await stored(live.secret)).toMatchObject({
      environment: `${workspaceId}:live`,
      kind: 'secret',
      scopes: ['*'],
      created_by: 'operator',
    });
    expect(await audited(workspaceId)).toEqual(
      ['live', 'test'].map((mode) => `${workspaceId}:${mode} operator workspace.create`),
    );
    const { rows } = await pool.query('SELECT audit_log::text AS row FROM audit_log');
    for (const key of [live.secret, live.publishable, test.secret, test.publishable]) {
      expect(JSON.stringify(rows)).not.toContain(key);
    }
  });
});

describe('workspace list', () => {
  it('names every workspace, and lets no name steer the terminal', async () => {
    const { workspaceId } = await newWorkspace('\u001b[2Jgone');
    const { result, lines } = await run<Array<{ id: string }>>('workspace', 'list');
    expect(result).toContainEqual(expect.objectContaining({ id: workspaceId, name: '\u001b[2Jgone' }));
    expect(lines).toContain(`${workspaceId}  \ufffd[2Jgone`);
  });
});

describe('key create', () => {
  it('makes a key of one environment with these scopes, and is audited there', async () => {
    const { workspaceId } = await newWorkspace();
    const { result } = await newKey(workspaceId, ...SECRET, '--name', 'CI');
    expect(Object.keys(result)).toEqual(['id', 'key']);
    expect(await stored(result.key)).toMatchObject({
      id: result.id,
      environment: `${workspaceId}:live`,
      scopes: ['usage:write', 'plans:read'],
      name: 'CI',
      last4: result.key.slice(-4),
    });
    expect(await audited(result.id)).toEqual([`${workspaceId}:live operator apiKeys.create`]);
  });

  it('is rejected for a workspace that does not exist', async () => {
    await expect(newKey('ws_none', ...SECRET)).rejects.toThrow(AdminRejection);
  });
});

describe('key list', () => {
  it('shows the keys of both modes of one workspace, without their texts', async () => {
    const [mine, other] = [await newWorkspace(), await newWorkspace()];
    const { result: key } = await newKey(mine.workspaceId, ...SECRET, '--name', 'CI');
    const { result, lines } = await run<ApiKey[]>('key', 'list', '--workspace', mine.workspaceId);
    expect(result.map(({ mode }) => mode).sort()).toEqual(['live', 'live', 'live', 'test', 'test']);
    expect(lines[0]).toMatch(
      `${key.id}  live  secret  active  …${key.key.slice(-4)}  usage:write,plans:read  CI`,
    );
    const text = JSON.stringify(result) + lines.join('\n');
    for (const secret of [key.key, mine.live.secret, other.live.secret]) expect(text).not.toContain(secret);
    await expect(run('key', 'list', '--workspace', 'ws_none')).rejects.toThrow(AdminRejection);
  });
});

describe('key revoke', () => {
  it('revokes by id or by the text that leaked, once, and notifies the caches', async () => {
    const { workspaceId } = await newWorkspace();
    const listener = await pool.connect();
    onTestFinished(() => listener.release(true));
    const received: string[] = [];
    listener.on('notification', ({ payload = '' }) => received.push(payload));
    await listener.query('LISTEN metergate_changes');
    const [one, two] = [await newKey(workspaceId, ...SECRET), await newKey(workspaceId, ...SECRET)];
    const named = [one.result.id, two.result.key, one.result.id];
    for (const key of named) await run('key', 'revoke', '--key', key);
    for (const { result } of [one, two]) {
      expect((await stored(result.key)).revoked_at).toBeInstanceOf(Date);
      expect(await audited(result.id)).toEqual(
        ['create', 'revoke'].map((act) => `${workspaceId}:live operator apiKeys.${act}`),
      );
    }
    const environment = `${workspaceId}:live`;
    const expected = [one, two].map(({ result }) => ({ kind: 'key', environment, id: result.id }));
    await expect
      .poll(() => received.map((payload) => JSON.parse(payload)), { timeout: 20_000 })
      .toEqual(expected);
  });

  it('is rejected for a key that does not exist, and revokes no other', async () => {
    const { live } = await newWorkspace();
    await expect(run('key', 'revoke', '--key', 'key_none')).rejects.toThrow(AdminRejection);
    await expect(run('key', 'revoke', '--key', `${live.secret}x`)).rejects.toThrow(AdminRejection);
    expect((await stored(live.secret)).revoked_at).toBeNull();
  });
});
