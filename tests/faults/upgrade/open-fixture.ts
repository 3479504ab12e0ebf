import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { dataDirAt } from '../../../infra/platform/data-dir.ts';
import { chooseServerAccount } from '../../../infra/postgres/server-account.ts';
import { type FixtureStory, parseStory } from './fixture-story.ts';

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
    const dataDir = join(folder, 'data');
    giveToServer(dataDirAt(dataDir).postgres);
    return { folder, dataDir, story: parseStory(readFileSync(join(folder, 'story.json'), 'utf8')) };
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
