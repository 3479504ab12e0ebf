import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { SILENT } from '../../tests/support/silent-log.ts';
import { startStopwatch } from '../../tests/support/stopwatch.ts';
import { testClient } from '../../tests/support/test-client.ts';
import { folderOfThisFile, testFolder } from '../../tests/support/test-folder.ts';
import { queryOnce } from '../../tests/support/with-client.ts';
import { isAlive, parentOf, signal, workingDirectoryOf } from '../platform/process-identity.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres, stopEmbeddedPostgres } from './embedded.ts';

/** A cluster that was started and stopped, to be copied: one is made in a second. */
const made = join(folderOfThisFile(), 'postgres');
await (await startEmbeddedPostgres({ directory: made, log: SILENT })).stop();

/** With its owner, as only cp keeps it. */
function clusterOfTest(): string {
  const directory = join(testFolder(), 'postgres');
  execFileSync('cp', ['-a', made, directory]);
  return directory;
}

async function start(directory: string): Promise<EmbeddedPostgres> {
  const server = await startEmbeddedPostgres({ directory, log: SILENT });
  onTestFinished(() => server.stop());
  return server;
}

/** Red when adoption is left out: the lock file of the first server makes the second start fail. */
test('a server that outlived the process that started it is adopted, with what it holds', async () => {
  const directory = clusterOfTest();
  const first = await start(directory);
  await queryOnce(first.url, 'CREATE TABLE kept AS SELECT 7 AS seven');
  const second = await start(directory);
  expect(second).toMatchObject({ adopted: true, pid: first.pid });
  expect(await queryOnce(second.url, 'SELECT seven FROM kept')).toEqual([{ seven: 7 }]);
  await second.stop();
  expect(isAlive(first.pid)).toBe(false);
});

/** Red when the leftovers are not cleared: a stopped backend holds the shared memory, no start succeeds. */
test('after kill -9 of the postmaster, with a backend that hangs, what was committed is there', async () => {
  const directory = clusterOfTest();
  const first = await start(directory);
  await queryOnce(first.url, 'CREATE TABLE kept AS SELECT 7 AS seven');
  const exited = vi.fn();
  first.onExit(exited);
  const hanging = await hangingBackend(first.url);
  signal(first.pid, 'SIGKILL');
  await vi.waitFor(() => expect(exited).toHaveBeenCalledOnce(), 20_000);
  const second = await start(directory);
  expect(second.adopted).toBe(false);
  expect(isAlive(hanging)).toBe(false);
  expect(await queryOnce(second.url, 'SELECT seven FROM kept')).toEqual([{ seven: 7 }]);
}, 420_000);

/** Red when a postmaster that does not respond is adopted or trusted forever. */
test('a server that is on its way out is waited for and a new one is started', async () => {
  const directory = clusterOfTest();
  const first = await start(directory);
  const client = await testClient(first.url);
  // A smart shutdown: it takes no connections and stays until the last client has gone.
  signal(first.pid, 'SIGTERM');
  const closed = setTimeout(() => client.end(), 300);
  onTestFinished(() => clearTimeout(closed));
  const second = await start(directory);
  expect(second.pid).not.toBe(first.pid);
  expect(await queryOnce(second.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
}, 420_000);

/** Red when initdb works in the place itself: the half-made folder is then taken for a cluster. */
test('a first start that was cut off while it made the cluster does not spoil the next one', async () => {
  const folder = testFolder();
  mkdirSync(join(folder, 'postgres.new', 'base'), { recursive: true });
  writeFileSync(join(folder, 'postgres.new', 'PG_VERSION'), '18\n');
  writeFileSync(join(folder, 'postgres.new-password'), 'half');
  const server = await start(join(folder, 'postgres'));
  expect(await queryOnce(server.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  expect(readdirSync(folder).sort()).toEqual(['postgres', 'postgres.log']);
});

/** Red when the stale file is trusted: this very process would get a signal, or the start would fail. */
test('a postmaster.pid that names another process is not trusted', async () => {
  const directory = clusterOfTest();
  await (await start(directory)).stop();
  writeFileSync(join(directory, 'postmaster.pid'), `${process.pid}\n${directory}\n0\n5432\n`);
  await stopEmbeddedPostgres(directory);
  writeFileSync(join(directory, 'postmaster.pid'), `${process.pid}\n${directory}\n0\n5432\n`);
  const server = await start(directory);
  expect(server.adopted).toBe(false);
});

/** Red when the lock file of a dead postmaster is left to Postgres: it sees the zombie and does not start. */
test('a postmaster that is dead and not yet reaped does not block a start', async () => {
  const directory = clusterOfTest();
  await (await start(directory)).stop();
  const zombie = await makeZombie(statSync(directory));
  writeFileSync(join(directory, 'postmaster.pid'), `${zombie}\n${directory}\n0\n5432\n`);
  expect((await start(directory)).adopted).toBe(false);
});

test('commits are durable, other passwords are rejected, and a stop leaves no process behind', async () => {
  const directory = clusterOfTest();
  const server = await start(directory);
  expect(await queryOnce(server.url, 'SHOW fsync')).toEqual([{ fsync: 'on' }]);
  expect(await queryOnce(server.url, 'SHOW synchronous_commit')).toEqual([{ synchronous_commit: 'on' }]);
  const wrong = new URL(server.url);
  wrong.password = 'wrong';
  await expect(queryOnce(wrong.href, 'SELECT 1')).rejects.toMatchObject({ code: '28P01' });
  await server.stop();
  expect(existsSync(join(directory, 'postmaster.pid'))).toBe(false);
  const pids = readdirSync('/proc').map(Number).filter(Boolean);
  expect(pids.filter((pid) => workingDirectoryOf(pid) === directory)).toEqual([]);
});

/** Red with the default verbosity: the DETAIL of a violation shows the row. */
test('its log names what went wrong and not the data it went wrong with', async () => {
  const directory = clusterOfTest();
  const client = await testClient((await start(directory)).url);
  await client.query('CREATE TABLE customers (email text UNIQUE, age integer CHECK (age > 0))');
  const insert = 'INSERT INTO customers VALUES ($1, $2)';
  await client.query(insert, ['ada@example.com', 7]);
  await expect(client.query(insert, ['ada@example.com', 7])).rejects.toMatchObject({ code: '23505' });
  await expect(client.query(insert, ['eve@example.com', -7])).rejects.toMatchObject({ code: '23514' });
  const text = readFileSync(`${directory}.log`, 'utf8');
  expect(text).toContain('customers_email_key');
  expect(text).toContain('customers_age_check');
  expect(text).not.toContain('@example.com');
});

/** Red when only the postmaster is ended by force: backends that hang hold the cluster's memory forever. */
test('a server that hangs is ended in the time given, with all its processes', async () => {
  const directory = clusterOfTest();
  const { pid, url } = await start(directory);
  await testClient(url);
  const family = readdirSync('/proc')
    .map(Number)
    .filter((one) => one === pid || parentOf(one) === pid);
  // Where the code under test is broken they would run forever.
  onTestFinished(() => {
    for (const one of family.filter(isAlive)) signal(one, 'SIGKILL');
  });
  for (const one of family) signal(one, 'SIGSTOP');
  const passedMs = startStopwatch();
  await stopEmbeddedPostgres(directory, 500);
  expect(passedMs()).toBeLessThan(3_000);
  expect(family.length).toBeGreaterThan(2);
  expect(family.filter(isAlive)).toEqual([]);
});

/** Of the server's own account. A shell that becomes another program never reaps the child it had. */
async function makeZombie({ uid, gid }: { uid: number; gid: number }): Promise<number> {
  const shell = spawn('sh', ['-c', 'sleep 0 & echo $!; exec sleep 1000'], {
    uid,
    gid,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  onTestFinished(() => void shell.kill('SIGKILL'));
  const [printed] = (await once(shell.stdout, 'data')) as [Buffer];
  return Number(printed.toString());
}

/**
 * A backend that has stopped in the middle of a statement: it does not notice that its postmaster is dead.
 */
async function hangingBackend(url: string): Promise<number> {
  const client = await testClient(url);
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  const pid = rows[0]?.pid ?? 0;
  signal(pid, 'SIGSTOP');
  onTestFinished(() => void signal(pid, 'SIGKILL'));
  return pid;
}
