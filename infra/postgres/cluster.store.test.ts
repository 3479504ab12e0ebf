import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { testFolder } from '../../tests/support/test-folder.ts';
import { exitCodeOf } from '../platform/exit-code.ts';
import { parentOf, programOf, signal } from '../platform/process-identity.ts';
import { findPostgresBinaries } from './binaries.ts';
import { prepareCluster } from './cluster.ts';
import { chooseServerAccount } from './server-account.ts';

/**
 * The initdb of a start that was killed lives on. Red when both work in one folder: that of the orphan fails
 * there, and empties it.
 */
test('a cluster is made while the initdb of an earlier start still makes one', async () => {
  const folder = testFolder();
  const directory = join(folder, 'postgres');
  const make = () => prepare(directory);
  const orphaned = make().catch(() => undefined);
  await vi.waitFor(() => expect(isBegun(folder)).toBe(true), { timeout: 20_000, interval: 5 });
  const [orphan = 0] = runningInitdbs();
  signal(orphan, 'SIGSTOP');
  const made = make();
  await vi
    .waitFor(() => expect(runningInitdbs()).toHaveLength(2), 20_000)
    .finally(() => {
      signal(orphan, 'SIGCONT');
    });
  expect(await made).toMatch(/^[0-9a-f]{48}$/);
  await orphaned;
  expect(readdirSync(folder)).toEqual(['postgres']);
  expect(existsSync(join(directory, 'global', 'pg_control'))).toBe(true);
});

// Red when a folder is taken for a cluster: there is no password to read.
test('a cluster is made in the place of an empty folder', async () => {
  const directory = join(testFolder(), 'postgres');
  mkdirSync(directory);
  expect(await prepare(directory)).toMatch(/^[0-9a-f]{48}$/);
});

test('a folder that is no cluster is rejected with what to do, and left unchanged', async () => {
  const directory = join(testFolder(), 'postgres');
  mkdirSync(join(directory, 'lost+found'), { recursive: true });
  await expect(prepare(directory)).rejects.toMatchObject({
    code: 'database_missing',
    message: expect.stringMatching(/^No database is in .*postgres \(ENOTEMPTY\): restore .* mount point/),
  });
  expect(readdirSync(directory)).toEqual(['lost+found']);
});

// Red when initdb is run all the same: a shell makes /opt/in of it, which has no programs.
test('paths that initdb cannot take are rejected in one sentence, before anything is made', async () => {
  const folder = testFolder();
  for (const [directory, initdb, message] of [
    [join(folder, 'postgres'), '/opt/in$tall/bin/initdb', /not take "\$" in a path/],
    [join(folder, 'postgres'), '/opt/in"quotes"/initdb', /Move the program to another folder/],
    [join(folder, 'a\nb', 'postgres'), '/opt/initdb', /^DATA_DIR must not hold a line break: "[^\n]+"\.$/],
  ] as const) {
    const rejection = await prepareCluster(directory, initdb, undefined).catch((error: unknown) => error);
    expect(rejection).toMatchObject({ message: expect.stringMatching(message) });
    expect(exitCodeOf(rejection)).toBe(2);
  }
  expect(readdirSync(folder)).toEqual([]);
});

function prepare(directory: string): Promise<string> {
  return prepareCluster(directory, findPostgresBinaries().initdb, chooseServerAccount(directory));
}

function isBegun(folder: string): boolean {
  return readdirSync(folder).some((name) => existsSync(join(folder, name, 'PG_VERSION')));
}

function runningInitdbs(): number[] {
  const pids = readdirSync('/proc').map(Number).filter(Boolean);
  return pids.filter((pid) => parentOf(pid) === process.pid && programOf(pid) === 'initdb');
}
