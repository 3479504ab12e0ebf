import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { SILENT } from '../../tests/support/silent-log.ts';
import { testFolder } from '../../tests/support/test-folder.ts';
import { startEmbeddedPostgres } from './embedded.ts';
import { findPostmaster } from './postmaster.ts';

/** As macOS does, and Linux of another account's processes where a container's root may not trace them. */
const unknown_ = () => undefined;

/**
 * Red when any living process with the pid is trusted: the copy adopts the original's server and its
 * database.
 */
test('a copied folder has no server where the working folder of a process is unknown', async () => {
  const { directory, pid } = await runningServer();
  const copy = `${directory}-copy`;
  execFileSync('cp', ['-a', directory, copy]);
  expect(findPostmaster(copy, unknown_)).toBeUndefined();
  expect(existsSync(join(copy, 'postmaster.pid'))).toBe(false);
  expect(findPostmaster(directory, unknown_)).toMatchObject({ pid });
  execFileSync('ln', ['-s', directory, `${directory}-link`]);
  expect(findPostmaster(`${directory}-link`, unknown_)).toMatchObject({ pid });
});

/**
 * Red when any living process with the pid is trusted: after a power cut another process would get the
 * signal.
 */
test('a reused pid is no server where the working folder of a process is unknown', async () => {
  const { directory, stop } = await runningServer();
  const file = join(directory, 'postmaster.pid');
  const [, ...lines] = readFileSync(file, 'utf8').split('\n');
  await stop();
  writeFileSync(file, [process.pid, ...lines].join('\n'));
  expect(findPostmaster(directory, unknown_)).toBeUndefined();
  expect(existsSync(file)).toBe(false);
});

async function runningServer() {
  const directory = join(testFolder(), 'postgres');
  const server = await startEmbeddedPostgres({ directory, log: SILENT });
  onTestFinished(() => server.stop());
  return { directory, pid: server.pid, stop: server.stop };
}
