import { type ChildProcess, fork, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { dataDirAt, prepareDataDir } from '../infra/platform/data-dir.ts';
import { isAlive, signal } from '../infra/platform/process-identity.ts';
import { testFolder } from '../tests/support/test-folder.ts';

const START = fileURLToPath(new URL('./start.mjs', import.meta.url));
const SETPRIV = '/usr/bin/setpriv';
const isRoot = process.getuid?.() === 0;
const DEFAULTS = { PORT: '0', SEED_DEMO: 'keys' };
const WITHIN = { timeout: 60_000, interval: 20 };

interface Run {
  child: ChildProcess;
  stdout(): string;
  stderr(): string;
  exit: Promise<number | null>;
}

/** The very process of `npm start`; ended by force with the test, if it still runs. */
function start(dataDir: string, env: NodeJS.ProcessEnv = {}): Run {
  const child = spawn(process.execPath, [START], {
    env: { ...process.env, npm_lifecycle_event: '', ...DEFAULTS, DATA_DIR: dataDir, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream].setEncoding('utf8').on('data', (text: string) => {
      output[stream] += text;
    });
  }
  const exit = once(child, 'close').then(([code]) => code as number | null);
  onTestFinished(async () => {
    child.kill('SIGTERM');
    await exit;
    await vi.waitFor(() => expect(leftIn(dataDir)).toEqual([]), WITHIN);
  });
  return { child, stdout: () => output.stdout, stderr: () => output.stderr, exit };
}

async function ready(run: Run): Promise<string> {
  await vi.waitFor(() => expect(run.stdout()).toMatch(/^Metergate ready on .+$/m), WITHIN);
  return /^Metergate ready on (.+)$/m.exec(run.stdout())?.[1] ?? '';
}

/** The processes that the files of a data folder name and that live. */
function leftIn(dataDir: string): number[] {
  const paths = dataDirAt(dataDir);
  const locks = ['data-dir', 'ingest', 'control'].map(paths.lock).filter((file) => existsSync(file));
  const notified = locks.map((file) => readFileSync(file, 'utf8')).filter((text) => text !== '');
  const owners = notified.map((text) => (JSON.parse(text) as { pid: number }).pid);
  const postmaster = join(paths.postgres, 'postmaster.pid');
  if (existsSync(postmaster)) owners.push(Number.parseInt(readFileSync(postmaster, 'utf8'), 10));
  return owners.filter(isAlive);
}

/** Red when Postgres is left behind, when the ready line comes twice, and when the lock is not looked at. */
test('it is ready once, holds its folder alone, and stops with 0 leaving nothing behind', async () => {
  const dataDir = join(testFolder(), 'data');
  const run = start(dataDir);
  const url = await ready(run);
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  expect(leftIn(dataDir)).toHaveLength(4);
  const keys = JSON.parse(readFileSync(join(dataDir, 'demo-keys.json'), 'utf8'));
  expect(run.stdout()).toContain(keys.live.secret);
  expect(run.stderr()).not.toContain(keys.live.secret);
  expect(statSync(join(dataDir, 'demo-keys.json')).mode & 0o777).toBe(0o600);

  const second = start(dataDir);
  expect(await second.exit).toBe(3);
  expect(second.stderr()).toContain('DATA_DIR');
  expect(second.stdout()).toBe('');

  const stoppedAt = performance.now();
  signal(run.child.pid ?? 0, 'SIGTERM');
  expect(await run.exit).toBe(0);
  expect(performance.now() - stoppedAt).toBeLessThan(15_000);
  expect(leftIn(dataDir)).toEqual([]);
  expect(run.stdout().match(/^Metergate ready/gm)).toHaveLength(1);
});

/** Red when the children outlive their supervisor, or the next start does not wait for them. */
test('after kill -9 of the whole the next start is ready, and makes the demo left out before', async () => {
  const dataDir = join(testFolder(), 'data');
  const first = start(dataDir, { SEED_DEMO: 'false' });
  await ready(first);
  expect(first.stdout()).toMatch(/^Metergate ready on (\S+)\n {2}console {2}\1\/console\n$/);
  expect(readdirSync(dataDir)).not.toContain('demo-keys.json');
  signal(first.child.pid ?? 0, 'SIGKILL');
  const second = start(dataDir);
  await ready(second);
  expect(readdirSync(dataDir)).toContain('demo-keys.json');
});

/** Red when the configuration is judged in the children only: three starts, and another exit code. */
test('a bad configuration ends it with 2 and one message, before anything is made', async () => {
  const dataDir = join(testFolder(), 'data');
  const run = start(dataDir, { PORT: 'eighty', REDIS_URL: 'redis://canary' });
  expect(await run.exit).toBe(2);
  expect(run.stderr().trim().split('\n').at(-1)).toMatch(/^Bad configuration: PORT .*; KAFKA_BROKERS .*\.$/);
  expect(run.stderr()).not.toContain('canary');
  expect(existsSync(dataDir)).toBe(false);
});

/** Red without listeners on the streams: each process ends with 1 at the first line that is not read. */
test('it continues when its output is no longer read, and reports what stopped it', async () => {
  const dataDir = join(testFolder(), 'data');
  const run = start(dataDir);
  run.child.stdout?.destroy();
  const port = () => /"port":(\d+)/.exec(run.stderr())?.[1];
  const status = async () => (await fetch(`http://127.0.0.1:${port()}/readyz`)).status;
  await vi.waitFor(async () => expect(await status()).toBe(200), WITHIN);
  expect(readdirSync(dataDir)).toContain('demo-keys.json');
  signal(run.child.pid ?? 0, 'SIGTERM');
  expect(await run.exit).toBe(0);
  expect(run.stderr()).not.toContain('EPIPE');
  expect(run.stderr()).toMatch(/"role":"supervisor".*"reason":"SIGTERM"/);
});

test('its exit code is reported even when its message cannot be', async () => {
  const run = start(join(testFolder(), 'data'), { PORT: 'eighty' });
  run.child.stderr?.destroy();
  expect(await run.exit).toBe(2);
});

describe.skipIf(isRoot && !existsSync(SETPRIV))('what is of another account', () => {
  /** To root everything is open, but for one without these. */
  const plain = isRoot ? [SETPRIV, '--bounding-set', '-dac_override,-dac_read_search'] : [];

  function runClosed(name: string, program: (root: string) => string[]) {
    const { root } = prepareDataDir(join(testFolder(), 'data'));
    const path = join(root, name);
    if (name === 'postgres') mkdirSync(path);
    writeFileSync(join(root, 'server-secret'), Buffer.alloc(32).toString('base64'));
    chmodSync(path, 0);
    const [command = '', ...args] = [...plain, process.execPath, ...program(root)];
    const env = { ...process.env, npm_lifecycle_event: '', PORT: '0', DATA_DIR: root, LOG_LEVEL: 'fatal' };
    return { path, ...spawnSync(command, args, { env, encoding: 'utf8', timeout: 60_000 }) };
  }

  /** Red when only the folders above are looked at: it is a raw EACCES, three times, and exit 1. */
  test.each(['log', 'keys', 'warehouse'])('%s in its folder ends it with 2 and one sentence', (name) => {
    const { path, status, stderr } = runClosed(name, () => [START]);
    expect(stderr).toMatch(/^DATA_DIR cannot be used: [^\n]+ is not ours to write \(EACCES\)[^\n]+\n$/);
    expect(stderr).toContain(path);
    expect(status).toBe(2);
  });

  /** Depends on the process that opens it: with DATABASE_URL it may be that of another installation. */
  test('the folder of its Postgres ends it with 2 and one sentence, too', () => {
    const { path, status, stderr } = runClosed('postgres', () => [START]);
    expect(stderr).toMatch(/^DATA_DIR cannot be used: [^\n]+ is not ours to write \(EACCES\)[^\n]+$/m);
    expect(stderr).toContain(`${path}/`);
    expect(stderr).not.toMatch(/^ +at /m);
    expect(status).toBe(2);
  });

  test('its secret is rejected as such a folder is', () => {
    const secrets = new URL('../dist-tests/domain/secrets.js', import.meta.url).href;
    const { path, stdout } = runClosed('server-secret', (root) => [
      ...['--input-type=module', '--eval'],
      `import { readServerSecret } from ${JSON.stringify(secrets)};
       try { readServerSecret({ dataDir: ${JSON.stringify(root)} }); }
       catch ({ code, message }) { console.log(code, message); }`,
    ]);
    expect(stdout).toMatch(/^data_dir_closed /);
    expect(stdout).toContain(path);
  });
});

/** Red when a role relies on a message: the end of a channel is sent once, to those that listen by then. */
test.each(['app/roles/ingest.js', 'app/control-side.js'])(
  '%s ends when its supervisor ended before it could listen',
  async (program) => {
    const env = { ...process.env, PORT: '0', DATA_DIR: join(testFolder(), 'data') };
    const child = fork(fileURLToPath(new URL(`../dist/${program}`, import.meta.url)), { env, silent: true });
    onTestFinished(() => void child.kill('SIGKILL'));
    child.disconnect();
    const [code] = await once(child, 'exit', { signal: AbortSignal.timeout(20_000) });
    expect(code).toBe(0);
    expect(existsSync(env.DATA_DIR)).toBe(false);
  },
);
