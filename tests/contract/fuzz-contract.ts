/**
 * `npm run contract`: schemathesis, every check, against a real instance's own /openapi.json. Installs it
 * from PyPI into .cache first, which needs python3. `-- --seed N` draws other requests, `-- --operation ID`
 * asks one operation only. Leaves counts for .ci/run, one for each operation and one for what goes through
 * several of them; exit 1 when one of them fails.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Instance, startInstance } from '../support/instance.ts';
import { type Described, withNullableMembers } from './nullable-members.ts';

const VERSION = '4.32.5';
const ENVIRONMENT = join('.cache', `schemathesis-${VERSION}`);
const PROGRAM = join(ENVIRONMENT, 'bin', 'schemathesis');
const REPORT = join('.cache', 'contract-report.xml');
const SUMMARY = join('.cache', 'contract-summary.json');
const DESCRIPTION = join('.cache', 'contract-openapi.json');
/** The run takes 100 s on two shared cores. */
const RUN_TIMEOUT_MS = 360_000;
const INSTALL_TIMEOUT_MS = 300_000;
const EXAMPLES_PER_OPERATION = 50;
/** Two of its threads fell over each other in a cache of Hypothesis (met once), and took as long. */
const WORKERS = 1;
const OPTIONS = { seed: { type: 'string', default: '20260315' }, operation: { type: 'string' } } as const;

const { values } = parseArgs({ options: OPTIONS });
mkdirSync('.cache', { recursive: true });
for (const file of [REPORT, SUMMARY]) rmSync(file, { force: true });
install();
const instance = await startInstance({ LOG_LEVEL: 'warn' });
try {
  const description = await fetch(`${instance.origin}/openapi.json`);
  writeFileSync(DESCRIPTION, JSON.stringify(withNullableMembers((await description.json()) as Described)));
  const ended = fuzz(instance);
  const counts = countsOf(ended);
  writeFileSync(SUMMARY, `${JSON.stringify(counts)}\n`);
  process.exitCode = ended && counts.failed === 0 ? 0 : 1;
} finally {
  await instance.remove();
}

function install(): void {
  if (existsSync(PROGRAM)) return;
  rmSync(ENVIRONMENT, { recursive: true, force: true });
  run('python3', ['-m', 'venv', ENVIRONMENT]);
  run(join(ENVIRONMENT, 'bin', 'pip'), ['install', '--quiet', `schemathesis==${VERSION}`]);
}

function run(command: string, args: string[]): void {
  const { status, error } = spawnSync(command, args, { stdio: 'inherit', timeout: INSTALL_TIMEOUT_MS });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${error?.message ?? status}`);
}

/** True when it came to its end without a finding. */
function fuzz({ origin, keys }: Instance): boolean {
  const only = values.operation === undefined ? [] : ['--include-operation-id', values.operation];
  const args = [
    ...['--config-file', join('tests', 'contract', 'schemathesis.toml'), 'run', DESCRIPTION],
    ...['--url', origin],
    ...['--checks', 'all', '--max-examples', String(EXAMPLES_PER_OPERATION), '--seed', values.seed],
    ...['--workers', String(WORKERS), '--request-timeout', '15'],
    ...['--report', 'junit', '--report-junit-path', REPORT, ...only],
  ];
  const env = { ...process.env, METERGATE_KEY: keys().live.secret, NO_PROXY: '*', no_proxy: '*' };
  return spawnSync(PROGRAM, args, { stdio: 'inherit', env, timeout: RUN_TIMEOUT_MS }).status === 0;
}

/** A run without a report, or one that failed without naming an operation, is one failure. */
function countsOf(sound: boolean): { passed: number; failed: number } {
  const report = existsSync(REPORT) ? readFileSync(REPORT, 'utf8') : '';
  const cases = report.match(/<testcase [\s\S]*?(?=<testcase |<\/testsuite>)/g) ?? [];
  const failed = cases.filter((one) => /<(failure|error)\b/.test(one)).length;
  if (cases.length === 0) return { passed: 0, failed: 1 };
  return { passed: cases.length - failed, failed: failed === 0 && !sound ? 1 : failed };
}
