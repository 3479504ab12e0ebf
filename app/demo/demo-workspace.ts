import { existsSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Pool } from 'pg';
import { parseApiKey } from '../../domain/rules/api-key.ts';
import { keepFact, readFact } from '../../domain/store/installation.ts';
import { newWorkspaceKeys, type WorkspaceKeys, writeWorkspace } from '../../domain/workspace.ts';
import { syncDirectory, writeDurably } from '../../infra/platform/durable-file.ts';
import { inTransaction } from '../../infra/postgres/pool.ts';

export interface DemoDeps {
  pool: Pool;
  pepper: Buffer;
  /** `demo-keys.json`. */
  file: string;
  /** Whether its test mode is to get data, once; see demo-data.ts. */
  withData: boolean;
}

const FACT = 'demo_workspace';
/** The time that its data are relative to. Installations of earlier releases lack it: nothing is due. */
export const DATA_DUE = 'demo_data_due';

/**
 * Makes the workspace `Demo` at the first start of an installation and gives its keys; undefined at every
 * later one, also when its file was deleted since. The keys are on disk under another name before their
 * rows are committed, so that a crash between the two loses neither.
 */
export async function ensureDemoWorkspace({
  pool,
  pepper,
  file,
  withData,
}: DemoDeps): Promise<WorkspaceKeys | undefined> {
  const written = `${file}.uncommitted`;
  const made = await readFact(pool, FACT);
  if (made) {
    if (existsSync(written) && workspaceIn(written) === made.toString()) {
      publish(written, file, made.toString());
    }
    return undefined;
  }
  const keys = newWorkspaceKeys();
  writeDurably(written, `${JSON.stringify(keys, null, 2)}\n`);
  const isFirst = await inTransaction(pool, async (client) => {
    const kept = await keepFact(client, FACT, Buffer.from(keys.workspaceId));
    if (kept) await writeWorkspace(client, { name: 'Demo', keys, pepper });
    if (kept && withData) await keepFact(client, DATA_DUE, Buffer.from(new Date().toISOString()));
    return kept;
  });
  if (isFirst) publish(written, file, keys.workspaceId);
  else rmSync(written, { force: true });
  return isFirst ? keys : undefined;
}

/** For people, on plain stdout: the keys, shown this once, and three lines to try. */
export function demoGreeting(keys: WorkspaceKeys, baseUrl: string, file: string): string {
  const auth = `-H 'Authorization: Bearer ${keys.live.secret}'`;
  const json = `-H 'Content-Type: application/json'`;
  const customer = `{"name":"Ada","email":"ada@example.com","externalId":"ada"}`;
  const event = `{"customerId":"ada","meterId":"api_calls","value":3}`;
  return [
    `The workspace Demo was made (${keys.workspaceId}). Its keys are shown this once and kept in ${file}:`,
    `  live  ${keys.live.secret}  ${keys.live.publishable}`,
    `  test  ${keys.test.secret}  ${keys.test.publishable}`,
    // The fragment of an address is sent to no server: the console takes the key out of it.
    `The console, signed in to test mode: ${baseUrl}/console#key=${keys.test.secret}`,
    'To try:',
    `  curl ${baseUrl}/api/v1/customers ${auth} ${json} -d '${customer}'`,
    `  curl ${baseUrl}/api/v1/usage/events ${auth} ${json} -H 'Idempotency-Key: try-1' -d '${event}'`,
    `  curl ${baseUrl}/api/v1/usage/ada/api_calls ${auth}`,
    `The plans of its test mode, as a pricing page: ${baseUrl}/demo/pricing`,
    '',
  ].join('\n');
}

/** The publishable key of its test mode, which a page may show; undefined without a file of keys. */
export function readDemoKey(file: string): string | undefined {
  try {
    const { test } = Object(JSON.parse(readFileSync(file, 'utf8'))) as Partial<WorkspaceKeys>;
    const key = test?.publishable ?? '';
    return parseApiKey(key) ? key : undefined;
  } catch {
    return undefined;
  }
}

/** The keys of the demo workspace; undefined where the file is not there, or has those of another one. */
export async function readDemoKeys(pool: Pool, file: string): Promise<WorkspaceKeys | undefined> {
  const made = await readFact(pool, FACT);
  const keys = existsSync(file) ? keysIn(file) : undefined;
  return keys?.workspaceId === made?.toString() ? keys : undefined;
}

/** Undefined when there are no keys: then they are not those of any workspace. */
function workspaceIn(file: string): string | undefined {
  return keysIn(file)?.workspaceId;
}

function keysIn(file: string): WorkspaceKeys | undefined {
  try {
    return Object(JSON.parse(readFileSync(file, 'utf8'))) as WorkspaceKeys;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Keys of an earlier workspace are kept: its database may be restored. */
function publish(written: string, file: string, workspaceId: string): void {
  if (existsSync(file)) renameSync(file, `${file}.before-${workspaceId}`);
  renameSync(written, file);
  syncDirectory(dirname(file));
}
