import type { PoolClient } from 'pg';
import { environmentOf, type Mode } from '../schemas/primitives/environment.ts';
import { newId } from '../schemas/primitives/ids.ts';
import { EVERY_SCOPE } from '../schemas/scopes.ts';
import { type ApiKeySpec, makeApiKey } from './api-keys.ts';
import { newApiKey } from './rules/api-key.ts';
import { insertEnvironment, insertWorkspace } from './store/workspaces.ts';

/** A workspace's first keys, as they are shown once. The secret ones may do everything. */
export interface WorkspaceKeys {
  workspaceId: string;
  live: ModeKeys;
  test: ModeKeys;
}

export interface ModeKeys {
  secret: string;
  publishable: string;
}

export function newWorkspaceKeys(): WorkspaceKeys {
  const keysOf = (mode: Mode) => ({
    secret: newApiKey('secret', mode),
    publishable: newApiKey('publishable', mode),
  });
  return { workspaceId: newId('ws'), live: keysOf('live'), test: keysOf('test') };
}

/** Writes a workspace with both environments and these keys, within the caller's transaction. */
export async function writeWorkspace(
  client: PoolClient,
  { name, keys, pepper }: { name: string; keys: WorkspaceKeys; pepper: Buffer },
): Promise<void> {
  await insertWorkspace(client, keys.workspaceId, name);
  for (const mode of ['live', 'test'] as const) {
    const environment = environmentOf(keys.workspaceId, mode);
    await insertEnvironment(client, { id: environment, workspaceId: keys.workspaceId, mode });
    for (const kind of ['secret', 'publishable'] as const) {
      const scopes = kind === 'secret' ? [EVERY_SCOPE] : [];
      const spec = { environment, kind, scopes, key: keys[mode][kind], nowMs: Date.now() };
      await makeApiKey(client, { ...spec, ...UNNAMED }, pepper);
    }
  }
}

const UNNAMED: Pick<ApiKeySpec, 'name' | 'expiresAt' | 'createdBy'> = {
  name: null,
  expiresAt: null,
  createdBy: 'operator',
};
