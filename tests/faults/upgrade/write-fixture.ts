/**
 * Writes a data folder as this release leaves it, killed in the middle after an orderly part, with everything
 * that was acknowledged of it: `node dist-tests/tests/faults/upgrade/write-fixture.js FILE`. The fixture of
 * the main job was written by this program's version of then (commit d2711fb) in a checkout of b83522c.
 */
import { execFileSync } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { brotliCompressSync, constants as zlib } from 'node:zlib';
import { Client } from 'pg';
import { workingDirectoryOf } from '../../../infra/platform/process-identity.ts';
import { createApi } from '../../support/api.ts';
import type { Judged } from '../../support/compare.ts';
import { planRequests } from '../../support/generator.ts';
import { seenInTime } from '../../support/in-time.ts';
import { type Instance, startInstance } from '../../support/instance.ts';
import { createLedger } from '../../support/ledger.ts';
import { commit } from '../../support/machine.ts';
import { makeWorld } from '../../support/make-world.ts';
import { sendAll } from '../../support/send.ts';
import { waitUntilCounted } from '../../support/wait-until-counted.ts';
import { postgresUrlOf } from '../query-postgres.ts';
import { sendOptions } from '../workload.ts';
import { type FixtureMode, type Mode, replaysOf, storyText } from './fixture.ts';

const SEED = 19;
const CONNECTIONS = 4;
const WAIT = { timeoutMs: 20_000, everyMs: 2 };
const TAR_BYTES_MAX = 2 ** 29;
const ARCHIVE_WINDOW_BITS = 24;
/** Names of the machine's processes, created at every start. */
const LEFT_OUT = ['locks', 'run', 'postgres/postmaster.pid', 'postgres.log'];

await writeFixture(process.argv[2] ?? 'fixture.tar.br');

async function writeFixture(file: string): Promise<void> {
  const writtenAtMs = Date.now();
  const instance = await startInstance({ LOG_LEVEL: 'warn' });
  try {
    const [live, test] = [await openMode(instance, 'live'), await openMode(instance, 'test')];
    await send(live, { run: 'first', items: 900 });
    await send(test, { run: 'first', items: 300 });
    await instance.stop();
    await instance.start();
    await send(live, { run: 'second', items: 300 });
    await waitUntilCounted(live, WAIT.timeoutMs);
    await killWhilePending(instance, live);
    const modes = { live: kept(live), test: kept(test) };
    const story = { commit: commit(), seed: SEED, writtenAtMs, modes };
    writeFileSync(join(dirname(instance.dataDir), 'story.json'), storyText(story));
    writeFileSync(file, pack(dirname(instance.dataDir)));
  } finally {
    await instance.remove();
  }
}

async function openMode(instance: Instance, mode: Mode): Promise<Judged> {
  const key = instance.keys()[mode].secret;
  const api = createApi({ origin: instance.origin, key, connections: CONNECTIONS });
  const world = await makeWorld(api);
  return { api, world, ledger: createLedger(world) };
}

async function send(judged: Judged, { run, items }: { run: string; items: number }): Promise<void> {
  const nowMs = Date.now();
  const requests = planRequests({ seed: SEED, items, run, nowMs, world: judged.world });
  await sendAll(requests, sendOptions(judged));
  // Sent once more, everything shows when it was stored.
  await sendAll(replaysOf(judged, { nowMs, seed: SEED }), sendOptions(judged));
}

/**
 * Ends every process by force while one range is inserted and not marked as loaded, and more follows
 * it on the log. A row lock of ours keeps the mark away, so that the half millisecond is as long as it has
 * to be.
 */
async function killWhilePending(instance: Instance, live: Judged): Promise<void> {
  const client = new Client({ connectionString: postgresUrlOf(instance) });
  client.on('error', () => undefined);
  await client.connect();
  await client.query("SET idle_in_transaction_session_timeout = 0; SET lock_timeout = '5s'");
  const locked = lockPending(client);
  await send(live, { run: 'third', items: 200 });
  const events = await locked;
  await seenInTime(() => isInsertedUnmarked(instance), WAIT, 'the insert');
  await send(live, { run: 'fourth', items: 300 });
  const roles = ['supervisor', 'control side', 'data plane'] as const;
  const pids = [...roles.map((role) => instance.pid(role)), ...workingIn(instance.dataDir)];
  // All are stopped before one is killed: a process that saw another end would still act on it.
  for (const name of ['SIGSTOP', 'SIGKILL'] as const) for (const pid of pids) process.kill(pid, name);
  const haveEnded = () => workingIn(instance.dataDir).length === 0 || undefined;
  await seenInTime(haveEnded, WAIT, 'the last of them to end');
  await client.end().catch(() => undefined);
  console.log(`killed with a range of ${events} events pending`);
}

/** Resolves with the events of the first range that is caught between its freezing and its mark. */
async function lockPending(client: Client): Promise<number> {
  const caught = async () => {
    await client.query('BEGIN');
    const { rows } = await client.query<{ event_count: number }>(
      "SELECT event_count FROM log_ranges WHERE state = 'pending' FOR UPDATE",
    );
    if (rows.length === 0) await client.query('COMMIT');
    return rows[0]?.event_count;
  };
  return await seenInTime(caught, WAIT, 'a pending range');
}

/** One insert more has come through than ranges were marked. */
async function isInsertedUnmarked({ origin }: Instance): Promise<true | undefined> {
  const response = await fetch(`${origin}/metrics`, { signal: AbortSignal.timeout(WAIT.timeoutMs) });
  const text = await response.text();
  const count = (name: string) => Number(new RegExp(`^${name}_count\\S* (\\d+)`, 'm').exec(text)?.[1]);
  return count('metergate_load_insert_seconds') > count('metergate_load_block_events') || undefined;
}

/** Every process of Postgres works in its cluster's folder. */
function workingIn(dataDir: string): number[] {
  const pids = readdirSync('/proc').map(Number).filter(Boolean);
  return pids.filter((pid) => workingDirectoryOf(pid)?.startsWith(dataDir));
}

function kept({ world, ledger }: Judged): FixtureMode {
  const problems = ledger.problems();
  if (problems.length > 0) throw new Error(problems.join('\n'));
  return { world, events: [...ledger.events()] };
}

/** `data` and `story.json` as one archive: 41 MB, nearly all of it Postgres' empty databases, in 2 MB. */
function pack(folder: string): Buffer {
  const excluded = LEFT_OUT.map((name) => `--exclude=data/${name}`);
  const tar = execFileSync('tar', ['-C', folder, ...excluded, '-cf', '-', 'data', 'story.json'], {
    maxBuffer: TAR_BYTES_MAX,
  });
  const params = {
    [zlib.BROTLI_PARAM_QUALITY]: zlib.BROTLI_MAX_QUALITY,
    [zlib.BROTLI_PARAM_LGWIN]: ARCHIVE_WINDOW_BITS,
    [zlib.BROTLI_PARAM_SIZE_HINT]: tar.length,
  };
  return brotliCompressSync(tar, { params });
}
