/**
 * Writes a data folder as a release leaves it, killed in the middle after an orderly part, with everything
 * that was acknowledged of it: `node dist-tests/tests/faults/upgrade/write-fixture.js FILE`.
 *
 * It uses nothing that the last commit of the main job (b83522c) does not have: put this folder's three
 * files that it needs into a checkout of a release, build, and run it there, so that the data is that
 * release's own.
 */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { brotliCompressSync, constants as zlib } from 'node:zlib';
import { Client } from 'pg';
import { poll } from '../../../infra/platform/poll.ts';
import { workingDirectoryOf } from '../../../infra/platform/process-identity.ts';
import { type Api, createApi } from '../../support/api.ts';
import { planRequests } from '../../support/generator.ts';
import { type Instance, startInstance } from '../../support/instance.ts';
import { createLedger, type Ledger } from '../../support/ledger.ts';
import { makeWorld } from '../../support/make-world.ts';
import { createRandom } from '../../support/random.ts';
import { sendAll } from '../../support/send.ts';
import type { World } from '../../support/world.ts';
import { type FixtureMode, type Mode, storyText } from './fixture-story.ts';
import { replayRequests } from './replay-requests.ts';

interface Side {
  mode: Mode;
  api: Api;
  world: World;
  ledger: Ledger;
}

const SEED = 19;
const CONNECTIONS = 4;
const PATIENCE_MS = 20_000;
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
    const sides = [await openSide(instance, 'live'), await openSide(instance, 'test')] as const;
    const [live, test] = sides;
    await send(live, { run: 'first', items: 900 });
    await send(test, { run: 'first', items: 300 });
    await instance.stop();
    await instance.start();
    await send(live, { run: 'second', items: 300 });
    await allLoaded(live);
    await killWhilePending(instance, live);
    const modes = Object.fromEntries(sides.map((side) => [side.mode, kept(side)]));
    const story = { commit: commit(), seed: SEED, writtenAtMs, modes: modes as Record<Mode, FixtureMode> };
    writeFileSync(join(dirname(instance.dataDir), 'story.json'), storyText(story));
    writeFileSync(file, pack(dirname(instance.dataDir)));
  } finally {
    await instance.remove();
  }
}

async function openSide(instance: Instance, mode: Mode): Promise<Side> {
  const key = instance.keys()[mode].secret;
  const api = createApi({ origin: instance.origin, key, connections: CONNECTIONS });
  const world = await makeWorld(api);
  return { mode, api, world, ledger: createLedger(world) };
}

async function send({ api, ledger, world }: Side, { run, items }: { run: string; items: number }) {
  const options = { api, ledger, connections: CONNECTIONS, patienceMs: PATIENCE_MS };
  const nowMs = Date.now();
  await sendAll(planRequests({ seed: SEED, items, run, nowMs, world }), options);
  // Sent once more, everything shows when it was stored.
  const scope = {
    world,
    nowMs,
    random: createRandom(SEED),
    responsesShowEvents: true,
    latestWithoutTimes: true as const,
  };
  await sendAll(replayRequests(ledger.events(), scope), options);
}

/**
 * Ends every process by force while one range is inserted and not marked as loaded, and more follows
 * it on the log. A row lock of ours keeps the mark away, so that the half millisecond is as long as it has
 * to be.
 */
async function killWhilePending(instance: Instance, live: Side): Promise<void> {
  const client = new Client({ connectionString: postgresUrl(instance) });
  client.on('error', () => undefined);
  await client.connect();
  await client.query("SET idle_in_transaction_session_timeout = 0; SET lock_timeout = '5s'");
  const locked = lockPending(client);
  await send(live, { run: 'third', items: 200 });
  const events = await locked;
  await until(() => isInsertedUnmarked(instance), 'the insert');
  await send(live, { run: 'fourth', items: 300 });
  const roles = ['supervisor', 'control side', 'data plane'] as const;
  const pids = [...roles.map((role) => instance.pid(role)), ...workingIn(instance.dataDir)];
  // All are stopped before one is killed: a process that saw another end would still act on it.
  for (const name of ['SIGSTOP', 'SIGKILL'] as const) for (const pid of pids) process.kill(pid, name);
  await until(async () => workingIn(instance.dataDir).length === 0, 'the last of them to end');
  await client.end().catch(() => undefined);
  console.log(`killed with a range of ${events} events pending`);
}

function postgresUrl({ dataDir }: Instance): string {
  const text = readFileSync(join(dataDir, 'run', 'endpoints.json'), 'utf8');
  return (JSON.parse(text) as { postgresUrl: string }).postgresUrl;
}

/** Resolves with the events of the first range that is caught between its freezing and its mark. */
async function lockPending(client: Client): Promise<number> {
  let events: number | undefined;
  await until(async () => {
    await client.query('BEGIN');
    const { rows } = await client.query<{ event_count: number }>(
      "SELECT event_count FROM log_ranges WHERE state = 'pending' FOR UPDATE",
    );
    events = rows[0]?.event_count;
    if (events === undefined) await client.query('COMMIT');
    return events !== undefined;
  }, 'a pending range');
  return events ?? 0;
}

/** One insert more has come through than ranges were marked. */
async function isInsertedUnmarked({ origin }: Instance): Promise<boolean> {
  const text = await (
    await fetch(`${origin}/metrics`, { signal: AbortSignal.timeout(WAIT.timeoutMs) })
  ).text();
  const count = (name: string) => Number(new RegExp(`^${name}_count\\S* (\\d+)`, 'm').exec(text)?.[1]);
  return count('metergate_load_insert_seconds') > count('metergate_load_block_events');
}

/** A strong read waits for everything that was acknowledged before it. */
async function allLoaded({ api, world }: Side): Promise<void> {
  const path = `/usage/${world.customers[0]?.id}/${world.meters[0]?.key}?consistency=strong`;
  await until(async () => (await api.call('GET', path)).status === 200, 'everything to be loaded');
}

async function until(look: () => Promise<boolean>, what: string): Promise<void> {
  if (await poll(async () => (await look()) || undefined, WAIT)) return;
  throw new Error(`waited ${WAIT.timeoutMs} ms for ${what}`);
}

/** Every process of Postgres works in its cluster's folder. */
function workingIn(dataDir: string): number[] {
  const pids = readdirSync('/proc').map(Number).filter(Boolean);
  return pids.filter((pid) => workingDirectoryOf(pid)?.startsWith(dataDir));
}

function kept({ world, ledger }: Side): FixtureMode {
  const problems = ledger.problems();
  if (problems.length > 0) throw new Error(problems.join('\n'));
  return { world, events: [...ledger.events()] };
}

function commit(): string {
  return execFileSync('git', ['rev-parse', 'HEAD'], { encoding: 'utf8' }).trim();
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
