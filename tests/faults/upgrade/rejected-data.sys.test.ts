import { randomBytes } from 'node:crypto';
import { appendFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type DataDir, dataDirAt } from '../../../infra/platform/data-dir.ts';
import { EXIT } from '../../../infra/platform/exit-code.ts';
import { openFixture } from './fixture.ts';
import {
  damagedMiddle,
  foreignLog,
  header,
  keyFile,
  makeWarehouseNewer,
  olderLog,
  segment,
  segments,
  truncatedKeys,
  without,
} from './harmed-data.ts';
import {
  copyOf,
  DATA_PLANE,
  expectDataPlaneRejects,
  type Harm,
  MUTANT_NOTICES,
  runToEnd,
} from './rejected-data-under-test.ts';
import { startRelease, THIS_RELEASE } from './release.ts';
import { type Installation, makeInstallation } from './small-installation.ts';
import { checkSums, checkSumsOfAll, databaseSums, warehouseSums } from './stored-sums.ts';

/*
 * Data that cannot be used as it is: the whole process says in one sentence what is wrong with which file
 * and ends with 4, so that no supervisor starts it again, and has changed nothing. What each file's own
 * checks find is tested in their modules; this is about the outcome.
 */
const CONTROL_SIDE = join('dist', 'app', 'control-side.js');

const LOST_CLUSTER = /^No database is in .*postgres, and .*log\.json .*: restore it from the backup/;

const ROLES = ['data-dir', 'ingest', 'control'];

/**
 * What the data plane rejects at its start, and how it has to say so: of each kind one. The rest is in
 * rejected-data.whole.test.ts.
 */
const HARMS: Harm[] = [
  [
    'a log without one of its segments',
    (paths) => segment(without(paths, segment(paths, 1)), 0),
    /the next segment begins at \d+\. Restore it/,
  ],
  // Red when only the folder itself is checked: what is acknowledged from then on would never be counted.
  ['a log older than the database', olderLog, /durable up to \d+\. .* no older than the database/],
  // Red when a log is made where there is none: it would know no key of what was counted.
  ['a folder that lost its log', (paths) => without(paths, paths.log).log, /mount or restore DATA_DIR/],
  [
    'a file of keys of another log',
    (paths) => header(paths, 32),
    /another log\. Restore it, or move its folder/,
  ],
  ['a file of keys of a newer release', (paths) => header(paths, 4), /by a newer Metergate: start that one/],
];

let installation: Installation;

beforeAll(async () => {
  installation = await makeInstallation();
});

afterAll(() => installation?.remove());

describe('the data plane rejects', () => {
  it.each(HARMS)('%s', async (...harm) => {
    await expectDataPlaneRejects(installation, harm);
  });

  it('nothing of a frame cut short at the end, which was never acknowledged: it is cut off', async () => {
    const paths = copyOf(installation.dataDir);
    const last = join(paths.log, segments(paths).at(-1) ?? '');
    const sound = readFileSync(last);
    appendFileSync(last, sound.subarray(40, 140));
    const env = { DATA_DIR: paths.root, ...installation.env, LOG_LEVEL: 'warn' };
    const release = startRelease(DATA_PLANE, env);
    onTestFinished(() => release.end());
    await expect.poll(release.stderr, { timeout: 40_000 }).toContain('cut off an unfinished write');
    // It is logged when it is found.
    await expect.poll(() => readFileSync(last).equals(sound), { timeout: 40_000 }).toBe(true);
  });
});

describe('the control side rejects', () => {
  it('a database of a newer release', async () => {
    const env = { ...installation.env, DATABASE_URL: await installation.newerDatabase() };
    await expectRejected(env, /^The database is at migration 9999 .*table migrations.*start a release/);
  });

  it('the secret of another installation', async () => {
    const env = { ...installation.env, SERVER_SECRET: randomBytes(32).toString('base64') };
    await expectRejected(env, /^SERVER_SECRET, or .*server-secret .* another installation .*restore/);
  });

  // Red when a log is loaded by whichever database is there: what another one counted is counted again.
  it('a log of another identity key', async () => {
    await expectRejected(installation.env, /^The log in .* another identity key than .* restore/, foreignLog);
  });

  // Red when it is brought up to this release first: its tables are where a backup is to be restored.
  it('an empty database with a log', async () => {
    const env = { ...installation.env, DATABASE_URL: await installation.emptyDatabase() };
    await expectRejected(env, /^The database holds nothing .*log\.json .*: restore it from the backup/);
  });

  // Red when a cluster is created wherever there is none: at the place where the lost one has to be restored.
  it('a folder that lost its database', async () => {
    const { SERVER_SECRET = '' } = installation.env;
    await expectRejected({ SERVER_SECRET }, LOST_CLUSTER);
  });

  // Red when a folder is taken for a database: what is read in it is not there, which names no remedy.
  it('the folder of a database that is not mounted', async () => {
    const { SERVER_SECRET = '' } = installation.env;
    await expectRejected({ SERVER_SECRET }, LOST_CLUSTER, ({ postgres }) => mkdirSync(postgres));
  });

  async function expectRejected(
    env: Record<string, string>,
    says: RegExp,
    harm?: (paths: DataDir) => unknown,
  ): Promise<void> {
    const paths = copyOf(installation.dataDir);
    harm?.(paths);
    const stored = async () => ({
      files: checkSumsOfAll(paths),
      tables: await databaseSums(env.DATABASE_URL ?? installation.env.DATABASE_URL ?? ''),
    });
    const before = await stored();
    const { code, stderr } = await runToEnd(CONTROL_SIDE, { DATA_DIR: paths.root, ...env });
    expect(stderr).toMatch(says);
    expect(stderr.trim().split('\n')).toHaveLength(1);
    expect(code).toBe(EXIT.dataRejected);
    expect(await stored()).toEqual(before);
  }
});

describe('npm start', () => {
  // Red when a rejection is no final exit code: the process restarts until the supervisor gives up.
  it('ends with 4 and says once what is wrong, whichever of its two processes rejects the data', async () => {
    const paths = fixtureOfTest();
    const whole = readFileSync(keyFile(paths));
    const named = truncatedKeys(paths);
    const before = checkSums(paths);
    const truncated = await runToEnd(THIS_RELEASE, { DATA_DIR: paths.root, LOG_LEVEL: 'error' });
    expect(truncated).toMatchObject({ code: EXIT.dataRejected, stdout: '' });
    expect(truncated.stderr.split(named)).toHaveLength(2);
    expect(checkSums(paths)).toEqual(before);

    writeFileSync(named, whole);
    rmSync(join(paths.root, 'server-secret'));
    const secretless = await runToEnd(THIS_RELEASE, { DATA_DIR: paths.root, LOG_LEVEL: 'error' });
    expect(secretless).toMatchObject({ code: EXIT.dataRejected, stdout: '' });
    expect(secretless.stderr).toMatch(/server-secret is missing, .*: restore it, or set SERVER_SECRET\.$/m);
    expect(readdirSync(paths.root)).not.toContain('server-secret');
  });

  it('ends with 4 on the warehouse of a newer release, and leaves it as it is', async () => {
    const paths = fixtureOfTest();
    await makeWarehouseNewer(paths);
    const before = await warehouseSums(paths);
    await expectRejected(paths, /^The warehouse is at migration 9999 .*: start a release that is as new\.$/m);
    expect(await warehouseSums(paths)).toEqual(before);
  });

  // Red when the warehouse is not checked: it is ready, and a strong counter says 0.
  it('ends with 4 where the warehouse is lost, and says how it is made again', async () => {
    const paths = fixtureOfTest();
    rmSync(paths.warehouse, { recursive: true });
    const says = /^The folder .*warehouse is empty, .* has counted \d+ events: .*WAREHOUSE_REBUILD/m;
    await expectRejected(paths, says);
  });

  async function expectRejected({ root }: DataDir, says: RegExp): Promise<string> {
    const { code, stdout, stderr } = await runToEnd(THIS_RELEASE, { DATA_DIR: root });
    expect(stderr).toMatch(says);
    expect({ code, stdout }).toEqual({ code: EXIT.dataRejected, stdout: '' });
    return stderr;
  }

  it('ends with 3 where another one runs on its DATA_DIR, which goes on', async () => {
    const paths = fixtureOfTest();
    const env = { DATA_DIR: paths.root, LOG_LEVEL: 'fatal' };
    const running = startRelease(THIS_RELEASE, env);
    onTestFinished(() => running.end());
    const origin = await running.ready();
    const owners = () => ROLES.map((role) => readFileSync(paths.lock(role), 'utf8'));
    const before = owners();
    const second = startRelease(THIS_RELEASE, env);
    const code = await second.ended();
    expect(second.stderr().replace(MUTANT_NOTICES, '')).toMatch(
      /^Process \d+ holds .*data-dir\.lock: another Metergate runs on this DATA_DIR\. Stop it first, .*\n$/,
    );
    expect({ code, stdout: second.stdout() }).toEqual({ code: EXIT.dataDirInUse, stdout: '' });
    expect(owners()).toEqual(before);
    await expect.poll(async () => (await fetch(`${origin}/readyz`)).status, { timeout: 40_000 }).toBe(200);
    expect(await running.stop()).toBe(EXIT.stopped);
  });

  // A start does not read the whole log, since it has 2 s: the load meets the damage.
  // Red when a frame's checksum is not requested.
  it('goes on with a damaged segment that is not loaded yet, and names it', async () => {
    const paths = copyOf(installation.dataDir);
    const named = damagedMiddle(paths);
    const before = checkSums(paths);
    const notLoaded = await installation.notLoaded();
    const stores = { ...installation.env, DATABASE_URL: notLoaded };
    const env = { ...stores, DATA_DIR: paths.root, LOG_LEVEL: 'fatal' };
    const release = startRelease(THIS_RELEASE, env);
    onTestFinished(() => release.end());
    const origin = await release.ready();
    const readiness = async () => await (await fetch(`${origin}/readyz`)).text();
    await expect.poll(readiness, { timeout: 40_000 }).toContain(named);
    expect(await readiness()).toMatch(
      /is damaged at byte \d+ .*checksum fails.*\. Restore it.*"dataPlane":"ok"/,
    );
    expect(await release.stop()).toBe(EXIT.stopped);
    expect(checkSums(paths)).toMatchObject(before);
  });

  it('ends with 2 where DATA_DIR is not ours to write', async () => {
    // In the kernel's own folder no account can make one, not even root.
    const { code, stderr } = await runToEnd(THIS_RELEASE, { DATA_DIR: '/sys/metergate' });
    expect(stderr).toMatch(/^DATA_DIR cannot be used: .* \(E[A-Z]+\)\. Give it to the account .*\n$/);
    expect(code).toBe(EXIT.badConfiguration);
  });
});

function fixtureOfTest(): DataDir {
  const { folder, dataDir } = openFixture();
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return dataDirAt(dataDir);
}
