import type { Pool, PoolClient } from 'pg';
import { makeApiKey, shownApiKey } from '../../domain/api-keys.ts';
import { hashApiKey } from '../../domain/secrets.ts';
import {
  listWorkspaceKeys,
  listWorkspaces,
  lockAnyKey,
  workspaceExists,
} from '../../domain/store/admin-lists.ts';
import { endApiKey } from '../../domain/store/api-keys.ts';
import { insertAuditEntry } from '../../domain/store/insert-audit-entry.ts';
import { notifyChange } from '../../domain/store/notify-change.ts';
import { newWorkspaceKeys, writeWorkspace } from '../../domain/workspace.ts';
import { inTransaction } from '../../infra/postgres/pool.ts';
import { environmentOf } from '../../schemas/primitives/environment.ts';
import { timestampText } from '../../schemas/primitives/timestamp.ts';
import type { AdminCommand } from './read-arguments.ts';

export interface AdminDeps {
  pool: Pool;
  pepper: Buffer;
  nowMs: number;
}

/** What was done: for a script, and line by line for a person. */
export interface AdminOutcome {
  result: unknown;
  lines: string[];
}

/** The requested object does not exist: exit 1. */
export class AdminRejection extends Error {}

/** Throws AdminRejection. Records its changes in the audit log of the environment, with `operator`. */
export function runCommand(command: AdminCommand, deps: AdminDeps): Promise<AdminOutcome> {
  if (command.act === 'workspace create') return createWorkspace(command.name, deps);
  if (command.act === 'workspace list') return showWorkspaces(deps);
  if (command.act === 'key create') return createKey(command, deps);
  if (command.act === 'key list') return showKeys(command.workspace, deps);
  return revokeKey(command.key, deps);
}

async function createWorkspace(name: string, { pool, pepper, nowMs }: AdminDeps): Promise<AdminOutcome> {
  const keys = newWorkspaceKeys();
  const { workspaceId, live, test } = keys;
  await inTransaction(pool, async (client) => {
    await writeWorkspace(client, { name, keys, pepper });
    const change = { action: 'workspace.create', objectId: workspaceId, after: { id: workspaceId, name } };
    for (const mode of ['live', 'test'] as const) {
      await record(client, { environment: environmentOf(workspaceId, mode), ...change }, nowMs);
    }
  });
  const lines = [
    `The workspace ${name} was made: ${workspaceId}. Its keys are shown this once:`,
    `  live  ${live.secret}  ${live.publishable}`,
    `  test  ${test.secret}  ${test.publishable}`,
  ];
  return { result: keys, lines };
}

async function showWorkspaces({ pool }: AdminDeps): Promise<AdminOutcome> {
  const workspaces = (await listWorkspaces(pool)).map(({ id, name, createdAt, firstApiCallAt }) => ({
    id,
    name,
    createdAt: timestampText(createdAt.getTime()),
    ...(firstApiCallAt ? { firstApiCallAt: timestampText(firstApiCallAt.getTime()) } : {}),
  }));
  return { result: workspaces, lines: workspaces.map(({ id, name }) => `${id}  ${printable(name)}`) };
}

type KeyCommand = Extract<AdminCommand, { act: 'key create' }>;

async function createKey(command: KeyCommand, { pool, pepper, nowMs }: AdminDeps): Promise<AdminOutcome> {
  const { workspace, mode, kind, scopes, more } = command;
  const environment = environmentOf(workspace, mode);
  const { key, row } = await inTransaction(pool, async (client) => {
    await checkWorkspace(client, workspace);
    const spec = { environment, kind, scopes, ...more, createdBy: OPERATOR, nowMs };
    const made = await makeApiKey(client, spec, pepper);
    const after = shownApiKey(made.row, nowMs);
    await record(client, { environment, action: 'apiKeys.create', objectId: made.row.id, after }, nowMs);
    return made;
  });
  return { result: { id: row.id, key }, lines: [`${row.id}  ${key}`, 'It is shown this once.'] };
}

async function showKeys(workspace: string, { pool, nowMs }: AdminDeps): Promise<AdminOutcome> {
  await checkWorkspace(pool, workspace);
  const keys = (await listWorkspaceKeys(pool, workspace)).map((row) => shownApiKey(row, nowMs));
  const lines = keys.map(({ id, mode, kind, status, last4, scopes, name = '' }) =>
    [id, mode, kind, status, `…${last4}`, scopes.join(',') || '–', printable(name)].join('  ').trimEnd(),
  );
  return { result: keys, lines };
}

async function revokeKey(named: string, { pool, pepper, nowMs }: AdminDeps): Promise<AdminOutcome> {
  const id = await inTransaction(pool, async (client) => {
    const row = await lockAnyKey(client, { id: named, hash: hashApiKey(named, pepper) });
    if (!row) throw new AdminRejection('There is no such key: name its id, or its whole text.');
    if (row.revokedAt !== null) return row.id;
    const ended = await endApiKey(client, row, { ...row, revokedAt: new Date(nowMs) });
    const [before, after] = [row, ended ?? row].map((each) => shownApiKey(each, nowMs));
    const { environment } = row;
    await record(client, { environment, action: 'apiKeys.revoke', objectId: row.id, before, after }, nowMs);
    await notifyChange(client, { kind: 'key', environment, id: row.id });
    return row.id;
  });
  return {
    result: { id, status: 'revoked' },
    lines: [`${id} is revoked: it is rejected within 10 seconds.`],
  };
}

const OPERATOR = 'operator';

interface Change {
  environment: string;
  action: string;
  objectId: string;
  before?: object | undefined;
  after?: object | undefined;
}

function record(client: PoolClient, { before, after, ...change }: Change, nowMs: number): Promise<void> {
  return insertAuditEntry(client, {
    ...change,
    actor: OPERATOR,
    before: before ? JSON.stringify(before) : null,
    after: after ? JSON.stringify(after) : null,
    requestId: null,
    createdAt: new Date(nowMs),
  });
}

async function checkWorkspace(db: Pool | PoolClient, id: string): Promise<void> {
  if (await workspaceExists(db, id)) return;
  throw new AdminRejection(`There is no workspace ${printable(id)}: see \`workspace list\`.`);
}

/** Names come from clients: none of them steers the operator's terminal. */
function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}]/gu, '\ufffd');
}
