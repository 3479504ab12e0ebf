/**
 * `npm run python:check`: types, style and packing of the Python SDK, and its tests with the packages that
 * applications use. Installs what that needs into .cache first. Leaves counts for .ci/run, one for each
 * check; exit 1 when one of them fails.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const PACKAGES = [
  ...['mypy==2.4.1', 'ruff==0.17.6', 'build==1.6.1', 'setuptools', 'wheel'],
  ...['litellm', 'fastapi', 'httpx', 'standardwebhooks'],
];
const CACHE = resolve('.cache');
const SUMMARY = join(CACHE, 'python-summary.json');
const VENV = join(CACHE, 'python-checks');
/** An installation that was interrupted, or is of other packages, does not have this. */
const MARK = join(VENV, `installed-${PACKAGES.join('+').replace(/[^\w.+-]/g, '-')}`);
const PACKED = join(CACHE, 'python-packed');
const SDK = resolve('sdk', 'python');
const INSTALL_TIMEOUT_MS = 600_000;
const CHECK_TIMEOUT_MS = 300_000;
/** The tests of what was packed do not read the sources. */
const OF_THE_WHEEL = { PYTHONPATH: '' };

type Check = [program: string, args: string[], environment?: Record<string, string>];

rmSync(SUMMARY, { force: true });
rmSync(PACKED, { recursive: true, force: true });
mkdirSync(PACKED, { recursive: true });
install();

const counts = { passed: 0, failed: 0 };
for (const [name, check] of Object.entries(checks())) {
  const fault = faultOf(check());
  console.log(fault === undefined ? `passed: ${name}` : `FAILED ${name}\n${fault}`);
  counts[fault === undefined ? 'passed' : 'failed'] += 1;
}
writeFileSync(SUMMARY, `${JSON.stringify(counts)}\n`);
process.exitCode = counts.failed === 0 ? 0 : 1;

/** In this order: what is tested last was packed before. */
function checks(): Record<string, () => Check[]> {
  const unittest = (...what: string[]): string[] => ['-W', 'ignore', '-m', 'unittest', ...what];
  return {
    'mypy --strict': () => [['mypy', []]],
    ruff: () => [
      ['ruff', ['check']],
      ['ruff', ['format', '--check']],
    ],
    'python -m build': () => [['python', ['-m', 'build', '--no-isolation', '--outdir', PACKED]]],
    'the packed SDK': () => [
      ['pip', ['install', '--quiet', '--no-deps', '--force-reinstall', ...packed('.whl')]],
      ['python', unittest('discover', '-t', '.', '-s', 'tests'), OF_THE_WHEEL],
      ['python', unittest('tests.packages.check_packages'), OF_THE_WHEEL],
    ],
  };
}

function packed(ending: string): string[] {
  return readdirSync(PACKED)
    .filter((name) => name.endsWith(ending))
    .map((name) => join(PACKED, name));
}

/** What is wrong with the first program that fails; undefined where none does. */
function faultOf(programs: Check[]): string | undefined {
  for (const [program, args, environment = { PYTHONPATH: 'src' }] of programs) {
    const { status, error, stdout, stderr } = spawnSync(join(VENV, 'bin', program), args, {
      cwd: SDK,
      encoding: 'utf8',
      env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1', ...environment },
      timeout: CHECK_TIMEOUT_MS,
    });
    if (status !== 0) return `${program} ended with ${error?.message ?? status}\n${stdout}${stderr}`;
  }
  return undefined;
}

function install(): void {
  if (existsSync(MARK)) return;
  rmSync(VENV, { recursive: true, force: true });
  mustRun('python3', ['-m', 'venv', VENV]);
  mustRun(join(VENV, 'bin', 'pip'), ['install', '--quiet', ...PACKAGES]);
  writeFileSync(MARK, '');
}

function mustRun(command: string, args: string[]): void {
  const { status, error } = spawnSync(command, args, { stdio: 'inherit', timeout: INSTALL_TIMEOUT_MS });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${error?.message ?? status}`);
}
