/**
 * `npm run openmeter:check`: OpenMeter's own SDKs, unchanged, send to a real instance, and what they sent is
 * counted exactly. Installs them into .cache first, from npm and PyPI, which needs python3. Leaves counts for
 * .ci/run, one for each SDK; exit 1 when one of them fails.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Instance, startInstance } from '../support/instance.ts';

/** The newest of each. */
const NPM_PACKAGES = ['@openmeter/sdk@1.0.0-beta.232'];
const PYTHON_PACKAGES = ['openmeter==1.0.0b236'];
const PROGRAMS = resolve('tests', 'clients', 'openmeter');
const CACHE = resolve('.cache');
const SUMMARY = join(CACHE, 'openmeter-summary.json');
/** Named by what is in them: other versions are installed again. */
const NPM_FOLDER = join(CACHE, `openmeter-${nameOf(NPM_PACKAGES)}`);
const PYTHON_FOLDER = join(CACHE, `openmeter-${nameOf(PYTHON_PACKAGES)}`);
const INSTALL_TIMEOUT_MS = 300_000;
const RUN_TIMEOUT_MS = 60_000;

interface Sdk {
  subject: string;
  command: string;
  args: string[];
  /** By meter, of all that the program sends and that is not rejected. */
  counted: Record<string, number>;
}

rmSync(SUMMARY, { force: true });
mkdirSync(CACHE, { recursive: true });
const sdks: Record<string, Sdk> = {
  '@openmeter/sdk': {
    subject: 'om-js',
    command: process.execPath,
    args: [npmProgram()],
    counted: { om_tokens: 5 + 500 * 0.25 + 7, om_prompts: 502 },
  },
  openmeter: {
    subject: 'om-py',
    command: pythonProgram(),
    args: ['-W', 'ignore', join(PROGRAMS, 'ingest.py')],
    // One of them has no model.
    counted: { om_tokens: 5 + 2 + 500 * 0.25 + 7 + 3, om_prompts: 503 },
  },
};
const counts = { passed: 0, failed: 0 };
const instance = await startInstance({ LOG_LEVEL: 'warn' });
try {
  await createMeters(instance);
  for (const [name, sdk] of Object.entries(sdks)) {
    const fault = await faultOf(sdk, instance);
    console.log(fault === undefined ? `passed: ${name}` : `FAILED ${name}\n${fault}`);
    counts[fault === undefined ? 'passed' : 'failed'] += 1;
  }
} finally {
  await instance.remove();
}
writeFileSync(SUMMARY, `${JSON.stringify(counts)}\n`);
process.exitCode = counts.failed === 0 ? 0 : 1;

async function createMeters(to: Instance): Promise<void> {
  const groupBy = { model: '$.model' };
  const tokens = { eventType: 'prompt', valueProperty: '$.tokens', groupBy };
  const prompts = { eventType: 'prompt', filters: { '$.model': ['large'] } };
  for (const [key, eventSource] of Object.entries({ om_tokens: tokens, om_prompts: prompts })) {
    await call(to, 'meters', { key, name: key, aggregation: 'sum', eventSource });
  }
  for (const { subject } of Object.values(sdks)) {
    await call(to, 'customers', { name: subject, email: 'a@example.com', externalId: subject });
  }
}

/** What is wrong with the program's run, or with what was counted; undefined where nothing is. */
async function faultOf({ subject, command, args, counted }: Sdk, of: Instance): Promise<string | undefined> {
  const { status, error, stdout, stderr } = spawnSync(command, args, {
    encoding: 'utf8',
    timeout: RUN_TIMEOUT_MS,
    env: {
      ...process.env,
      ...{ METERGATE_URL: of.origin, METERGATE_KEY: of.keys().live.secret, SUBJECT: subject },
      ...{ NO_PROXY: '*', no_proxy: '*' },
    },
  });
  if (status !== 0) return `it ended with ${error?.message ?? status}\n${stdout}${stderr}`;
  for (const [meter, expected] of Object.entries(counted)) {
    const { current } = await call(of, `usage/${subject}/${meter}?consistency=strong`);
    if (current !== expected) return `${meter} counts ${current} in place of ${expected}`;
  }
  return undefined;
}

async function call(of: Instance, path: string, body?: unknown): Promise<Record<string, unknown>> {
  const response = await fetch(`${of.origin}/api/v1/${path}`, {
    headers: { authorization: `Bearer ${of.keys().live.secret}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${path} returned ${response.status}: ${text}`);
  return JSON.parse(text) as Record<string, unknown>;
}

/** Next to its package, which it imports by name. */
function npmProgram(): string {
  install(NPM_FOLDER, () => {
    mkdirSync(NPM_FOLDER, { recursive: true });
    writeFileSync(join(NPM_FOLDER, 'package.json'), '{ "private": true }\n');
    // React, its peer, is for another part of it.
    const options = ['--no-audit', '--no-fund', '--ignore-scripts', '--omit=peer', '--loglevel=error'];
    mustRun('npm', ['install', '--prefix', NPM_FOLDER, ...options, ...NPM_PACKAGES]);
  });
  const program = join(NPM_FOLDER, 'ingest.mjs');
  copyFileSync(join(PROGRAMS, 'ingest.mjs'), program);
  return program;
}

function pythonProgram(): string {
  install(PYTHON_FOLDER, () => {
    mustRun('python3', ['-m', 'venv', PYTHON_FOLDER]);
    mustRun(join(PYTHON_FOLDER, 'bin', 'pip'), ['install', '--quiet', ...PYTHON_PACKAGES]);
  });
  return join(PYTHON_FOLDER, 'bin', 'python');
}

/** An installation that was interrupted has no mark, and is made again. */
function install(folder: string, fill: () => void): void {
  const mark = join(folder, 'installed');
  if (existsSync(mark)) return;
  rmSync(folder, { recursive: true, force: true });
  fill();
  writeFileSync(mark, '');
}

function mustRun(command: string, args: string[]): void {
  const { status, error } = spawnSync(command, args, { stdio: 'inherit', timeout: INSTALL_TIMEOUT_MS });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${error?.message ?? status}`);
}

function nameOf(packages: readonly string[]): string {
  return packages.join('+').replace(/[^\w.+-]/g, '-');
}
