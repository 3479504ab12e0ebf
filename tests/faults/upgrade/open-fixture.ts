import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { dataDirAt } from '../../../infra/platform/data-dir.ts';
import { chooseServerAccount } from '../../../infra/postgres/server-account.ts';
import type { KeptEvent } from '../../support/ledger.ts';
import type { World } from '../../support/world.ts';

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
