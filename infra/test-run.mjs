/**
 * `npm test`: installs what is missing, builds, runs every check and every test that this machine can run,
 * says loudly what it could not run and why, and ends with 0 only when all of it is well.
 *
 * Plain JavaScript without packages: it has to run before anything is installed. What comes after `--` goes
 * to vitest (`npm test -- --project unit`); without it, what needs a broker and the proofs of breaks are left
 * to `npm run test:shared` and `npm run breaks`. The counts are left in .cache/test-summary.json for .ci/run.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');
const REPORT = join(ROOT, '.cache', 'test-report.json');
const SUMMARY = join(ROOT, '.cache', 'test-summary.json');
/** What the tests need of the machine; made by the build. */
const MEANS = join(ROOT, 'dist', 'bench', 'torture', 'machine-means.js');
const NODE_MAJOR_MIN = 20;

/** As start.mjs does it: the checks are development packages, Postgres comes in optional ones. */
const INSTALL = ['install', '--no-save', '--include=dev', '--include=optional', '--no-audit', '--no-fund'];

/** What is left: `npm run test:shared` and `npm run breaks`. */
const USUAL = ['unit', 'store', 'sys', 'timed'].map((project) => `--project=${project}`);

/** Each runs even when one before it failed, so that one run shows everything. */
const GATES = [
  ['build', process.execPath, ['infra/build.mjs']],
  ['biome', 'npx', ['--no-install', 'biome', 'check', '--error-on-warnings']],
  ['tsc', 'npx', ['--no-install', 'tsc', '--noEmit', '-p', '.']],
  ['knip', 'npx', ['--no-install', 'knip']],
];

process.chdir(ROOT);
process.exitCode = await main(process.argv.slice(2));

async function main(vitestArguments) {
  rmSync(REPORT, { force: true });
  rmSync(SUMMARY, { force: true });
  mkdirSync(dirname(REPORT), { recursive: true });
  if (Number(process.versions.node.split('.')[0]) < NODE_MAJOR_MIN) {
    return fail(`Metergate needs Node ${NODE_MAJOR_MIN} or newer; this is ${process.versions.node}.`);
  }
  if (mustInstall() && !run('install', 'npm', INSTALL)) return fail('npm install failed.');
  const failedGates = GATES.filter(([name, command, options]) => !run(name, command, options)).map(
    ([name]) => name,
  );
  const counts = runTests(vitestArguments);
  const missing = await notRunHere();
  // For .ci/run, which fails on both, what was left out is no better than what was skipped.
  const skipped = [...counts.skipped, ...missing];
  writeFileSync(SUMMARY, `${JSON.stringify({ ...counts, skipped, failedGates })}\n`);
  return report({ ...counts, failedGates, missing });
}

function mustInstall() {
  const installed = join('node_modules', '.package-lock.json');
  return !existsSync(installed) || statSync(installed).mtimeMs < statSync('package-lock.json').mtimeMs;
}

function run(name, command, options) {
  process.stdout.write(`\n=== ${name}\n`);
  const { status, error } = spawnSync(command, options, { stdio: ['ignore', 'inherit', 'inherit'] });
  if (error) process.stdout.write(`${name}: ${error.message}\n`);
  return status === 0;
}

/** Passed, failed and skipped as vitest counts them; a run without a report is one failure. */
function runTests(vitestArguments) {
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${REPORT}`];
  const chosen = vitestArguments.length > 0 ? vitestArguments : USUAL;
  const sound = run('tests', 'npx', ['--no-install', 'vitest', 'run', ...reporters, ...chosen]);
  if (!existsSync(REPORT)) return { passed: 0, failed: 1, skipped: [] };
  const report = JSON.parse(readFileSync(REPORT, 'utf8'));
  const tests = report.testResults.flatMap((file) => file.assertionResults);
  // A file that cannot be loaded, or an error outside every test, fails the run without a failed test.
  const broken = report.testResults.filter((file) => file.status === 'failed' && !hasFailure(file)).length;
  const failed = tests.filter((test) => test.status === 'failed').length + broken;
  return {
    passed: tests.filter((test) => test.status === 'passed').length,
    failed: failed === 0 && !sound ? 1 : failed,
    skipped: tests
      .filter((test) => test.status !== 'passed' && test.status !== 'failed')
      .map((test) => test.fullName),
  };
}

function hasFailure(file) {
  return file.assertionResults.some((test) => test.status === 'failed');
}

function report({ passed, failed, skipped, failedGates, missing }) {
  if (missing.length > 0 || skipped.length > 0) {
    process.stdout.write('\n!!! NOT RUN ON THIS MACHINE\n');
    for (const line of missing) process.stdout.write(`!!!   ${line}\n`);
    for (const name of skipped) process.stdout.write(`!!!   skipped: ${name}\n`);
  }
  if (failedGates.length > 0) process.stdout.write(`\nFailed: ${failedGates.join(', ')}\n`);
  process.stdout.write(`\n${passed} tests passed, ${failed} failed, ${skipped.length} skipped\n`);
  return failed === 0 && failedGates.length === 0 ? 0 : 1;
}

/** What vitest.config.ts left out: tests that need of the machine what does not come with packages. */
async function notRunHere() {
  if (!existsSync(MEANS)) return ['unknown: there is no build to ask'];
  const { testsNotRunHere } = await import(pathToFileURL(MEANS));
  return testsNotRunHere().map(({ why }) => why);
}

function fail(message) {
  process.stderr.write(`${message}\n`);
  return 1;
}
