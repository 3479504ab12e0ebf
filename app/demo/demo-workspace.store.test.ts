import { existsSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ensureIdentityKey, hashApiKey, readIdentityKey } from '../../domain/secrets.ts';
import { testFolder } from '../../tests/support/test-folder.ts';
import { testPool } from '../../tests/support/test-pool.ts';
import { type DemoDeps, demoGreeting, ensureDemoWorkspace, readDemoKey } from './demo-workspace.ts';

const pepper = Buffer.alloc(32, 3);

async function installation(): Promise<DemoDeps> {
  return { pool: await testPool(), pepper, file: join(testFolder(), 'demo-keys.json'), withData: true };
}

test('the first start makes both environments and four keys that are found by their hash', async () => {
  const deps = await installation();
  const keys = await ensureDemoWorkspace(deps);
  expect(JSON.parse(readFileSync(deps.file, 'utf8'))).toEqual(keys);
  expect(statSync(deps.file).mode & 0o777).toBe(0o600);
  const { rows } = await deps.pool.query('SELECT environment, kind, scopes FROM api_keys WHERE hash = $1', [
    hashApiKey(keys?.test.secret ?? '', pepper),
  ]);
  expect(rows).toEqual([{ environment: `${keys?.workspaceId}:test`, kind: 'secret', scopes: ['*'] }]);
  expect(demoGreeting(keys ?? expect.fail(), 'http://x', deps.file).match(/^ {2}curl /gm)).toHaveLength(3);
});

/** Red when rows are written at each start; and a deleted file is the operator's wish. */
test('later starts make nothing, also when the file was deleted', async () => {
  const deps = await installation();
  await ensureDemoWorkspace(deps);
  renameSync(deps.file, `${deps.file}.moved`);
  expect(await ensureDemoWorkspace(deps)).toBeUndefined();
  expect(existsSync(deps.file)).toBe(false);
  expect((await deps.pool.query('SELECT 1 FROM workspaces')).rowCount).toBe(1);
});

/** Red when the file is written after the rows only: the keys of the rows are then lost. */
test('a crash between the rows and the file loses no key', async () => {
  const deps = await installation();
  const keys = await ensureDemoWorkspace(deps);
  renameSync(deps.file, `${deps.file}.uncommitted`);
  expect(await ensureDemoWorkspace(deps)).toBeUndefined();
  expect(JSON.parse(readFileSync(deps.file, 'utf8'))).toEqual(keys);
});

/** Red when it ends the start: a disk that was full may leave an empty one. */
test('a file of keys that holds none is passed over', async () => {
  const deps = await installation();
  await ensureDemoWorkspace(deps);
  for (const text of ['', '{"workspaceId"', 'null']) {
    writeFileSync(`${deps.file}.uncommitted`, text);
    expect(await ensureDemoWorkspace(deps)).toBeUndefined();
  }
  expect(JSON.parse(readFileSync(deps.file, 'utf8'))).toMatchObject({ workspaceId: expect.any(String) });
});

/** Red when the file is replaced: it may be all that is left of keys whose database is to be restored. */
test('the keys of an earlier workspace are kept with those of the next', async () => {
  const deps = await installation();
  writeFileSync(deps.file, 'earlier');
  const keys = await ensureDemoWorkspace(deps);
  expect(JSON.parse(readFileSync(deps.file, 'utf8'))).toEqual(keys);
  expect(readFileSync(`${deps.file}.before-${keys?.workspaceId}`, 'utf8')).toBe('earlier');
});

test('starts at the same time make one workspace', async () => {
  const deps = await installation();
  const folder = testFolder();
  const starts = [1, 2, 3].map((n) => ensureDemoWorkspace({ ...deps, file: join(folder, `${n}.json`) }));
  const made = (await Promise.all(starts)).filter((keys) => keys !== undefined);
  expect(made).toHaveLength(1);
  expect((await deps.pool.query('SELECT id FROM workspaces')).rows).toEqual([{ id: made[0]?.workspaceId }]);
});

/** Red when the second one writes over the first. */
test('the identity key is made once, whichever process is first', async () => {
  const { pool } = await installation();
  expect(await readIdentityKey(pool)).toBeUndefined();
  const keys = await Promise.all([1, 2, 3, 4].map(() => ensureIdentityKey(pool)));
  expect(new Set(keys.map((key) => key.toString('hex'))).size).toBe(1);
  expect(await readIdentityKey(pool)).toEqual(keys[0]);
});

/** Red when a text that is no key is shown on a page. */
test('the demo page gets the publishable key of the test mode, while the file of keys is sound', async () => {
  const deps = await installation();
  expect(readDemoKey(deps.file)).toBeUndefined();
  const keys = await ensureDemoWorkspace(deps);
  expect(readDemoKey(deps.file)).toBe(keys?.test.publishable);
  for (const text of ['', '{', '[]', '{"test":{"publishable":"pk_test_<script>"}}']) {
    writeFileSync(deps.file, text);
    expect(readDemoKey(deps.file)).toBeUndefined();
  }
});
