import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { dataDirAt } from '../../../infra/platform/data-dir.ts';
import { chooseServerAccount } from '../../../infra/postgres/server-account.ts';
import { createApi } from '../../support/api.ts';
import { compareBreakdowns, compareEvents, compareMonths, type Judged } from '../../support/compare.ts';
import { createLedger, type KeptEvent } from '../../support/ledger.ts';
import { createRandom } from '../../support/random.ts';
import { sendAll } from '../../support/send.ts';
import type { World } from '../../support/world.ts';
import { problemsOf } from '../judged-instance.ts';
import { batchesOf, sendOptions } from '../workload.ts';

/** What is known of a kept data folder: who wrote it, when, and everything that was acknowledged of it. */
export interface FixtureStory {
  commit: string;
  seed: number;
  /** The events occurred in the forty days before, or a minute after. */
  writtenAtMs: number;
  modes: Record<Mode, FixtureMode>;
}

export type Mode = 'live' | 'test';

export interface FixtureMode {
  world: World;
  events: KeptEvent[];
}

const UNITS = 'units:';

export function storyText(story: FixtureStory): string {
  return JSON.stringify(story, (_, value) => (typeof value === 'bigint' ? `${UNITS}${value}` : value));
}

/** What the release that wrote the fixture called these times. */
const RENAMED = { askedAtMs: 'requestedAtMs', answeredAtMs: 'respondedAtMs' } as const;

function parseStory(text: string): FixtureStory {
  return JSON.parse(text, (_, value) => {
    if (typeof value === 'string' && value.startsWith(UNITS)) return BigInt(value.slice(UNITS.length));
    for (const [was, is] of Object.entries(RENAMED)) {
      if (typeof value === 'object' && value !== null && was in value) value[is] = value[was];
    }
    return value;
  }) as FixtureStory;
}

/**
 * What the last commit of the main job left (write-fixture.ts): 1,597 acknowledged events in two modes, one
 * range inserted and pending, events behind it that no range holds yet, every process killed.
 */
const FIXTURE = join('tests', 'faults', 'upgrade', 'main-job.tar.br');
const UNPACK_TIMEOUT_MS = 60_000;

export interface OpenFixture {
  /** The caller removes it. */
  folder: string;
  dataDir: string;
  story: FixtureStory;
  /** Of its demo workspace. */
  keys: Record<Mode, { secret: string }>;
}

/** A copy of the kept data folder that is ready to be started on, by root or by an ordinary user. */
export function openFixture(): OpenFixture {
  const folder = mkdtempSync(join(tmpdir(), 'metergate-fixture-'));
  try {
    chmodSync(folder, 0o755);
    execFileSync('tar', ['-C', folder, '--no-same-owner', '-xpf', '-'], {
      input: brotliDecompressSync(readFileSync(FIXTURE)),
      timeout: UNPACK_TIMEOUT_MS,
    });
    const paths = dataDirAt(join(folder, 'data'));
    giveToServer(paths.postgres);
    const story = parseStory(readFileSync(join(folder, 'story.json'), 'utf8'));
    return { folder, dataDir: paths.root, story, keys: JSON.parse(readFileSync(paths.demoKeys, 'utf8')) };
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

/** Postgres does not run as root: there its cluster belongs to an account of its own. */
function giveToServer(cluster: string): void {
  const account = chooseServerAccount(cluster);
  if (!account) return;
  const inside = readdirSync(cluster, { recursive: true, encoding: 'utf8' });
  for (const name of ['.', ...inside]) chownSync(join(cluster, name), account.uid, account.gid);
}

const CONNECTIONS = 2;
const MONTHS_BEFORE_MS = [0, 31 * 86_400_000];

/**
 * Repeats all acknowledged requests of the release that wrote the data folder, which have to return
 * their first responses, and compares counters, breakdowns and stored events with them. A sentence for each
 * difference.
 */
export async function judgeFixture(origin: string, { story, keys }: OpenFixture): Promise<string[]> {
  const found: string[] = [];
  for (const mode of ['live', 'test'] as const) {
    const { world, events } = story.modes[mode];
    // A new judge each time: what the ledger learns of one opening does not count for the next.
    const ledger = createLedger(world, structuredClone(events));
    const api = createApi({ origin, key: keys[mode].secret, connections: CONNECTIONS });
    try {
      found.push(...(await judgeMode({ api, ledger, world }, story)));
    } finally {
      await api.close();
    }
  }
  return found;
}

async function judgeMode(judged: Judged, { writtenAtMs, seed }: FixtureStory): Promise<string[]> {
  const times = MONTHS_BEFORE_MS.map((before) => writtenAtMs - before);
  await sendAll(replaysOf(judged, { nowMs: writtenAtMs, seed }), sendOptions(judged));
  return await problemsOf(
    judged,
    () => compareMonths(judged, times),
    () => compareBreakdowns(judged, ['all', 'custom'], ['user', '$day']),
    compareEvents,
  );
}

/** Everything that was acknowledged once more: what each batch shows is when it was stored. */
export function replaysOf({ world, ledger }: Judged, { nowMs, seed }: { nowMs: number; seed: number }) {
  const times = { nowMs, responsesShowEvents: true, latestWithoutTimes: true } as const;
  const scope = { world, random: createRandom(seed), ...times };
  return batchesOf(
    [...ledger.events()].map(({ event }) => event),
    scope,
  );
}
