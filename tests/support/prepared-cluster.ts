import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { prepareDataDir } from '../../infra/platform/data-dir.ts';
import { findPostgresBinaries } from '../../infra/postgres/binaries.ts';
import { prepareCluster } from '../../infra/postgres/cluster.ts';
import { chooseServerAccount } from '../../infra/postgres/server-account.ts';
import { foldersOfDeadRuns } from './processes.ts';

const VARIABLE = 'TEST_CLUSTER';
const PREFIX = 'metergate-test-cluster-';

/**
 * Vitest's globalSetup: an empty Postgres cluster, made by the program itself, for every test of the run that
 * begins with a Metergate. To make one is a fifth of a first start's work, and half of its time. All else of
 * a first start is done each time; app/start.whole.test.ts begins with nothing at all.
 */
export async function setup(): Promise<() => void> {
  // A run that was killed leaves its cluster behind.
  for (const left of foldersOfDeadRuns(PREFIX)) rmSync(left, { recursive: true, force: true });
  const folder = mkdtempSync(join(tmpdir(), `${PREFIX}${process.pid}-`));
  // The server's account has to pass through.
  chmodSync(folder, 0o711);
  const cluster = join(folder, 'postgres');
  await prepareCluster(cluster, findPostgresBinaries().initdb, chooseServerAccount(cluster));
  process.env[VARIABLE] = cluster;
  return () => rmSync(folder, { recursive: true, force: true });
}

/** Puts a copy where a first start would make one; nothing where none was prepared. */
export function putCluster(dataDir: string): void {
  const cluster = process.env[VARIABLE];
  if (cluster === undefined) return;
  const { postgres } = prepareDataDir(dataDir);
  // With its owner and modes, on which Postgres insists.
  execFileSync('cp', ['-a', cluster, postgres]);
}
