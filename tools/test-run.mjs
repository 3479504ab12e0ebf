/**
 * `npm test`: installs what is missing, builds, runs every check and every test that this machine can run,
 * prints clearly what it could not run and why, and ends with 0 only when all of it is well.
 *
 * Plain JavaScript without packages: it has to run before anything is installed. What comes after `--` goes
 * to vitest (`npm test -- --project unit`). Without it, the tests that surround the promises, those that need
 * a broker and the proofs of mutants are left to `npm run test:whole`, `test:distributed` and `breaks`. The
 * counts are left in .cache/test-summary.json for .ci/run.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { install, isInstalled } from './packages.mjs';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');
const REPORTS = join(ROOT, '.cache', 'test-reports');
const SUMMARY = join(ROOT, '.cache', 'test-summary.json');
/** What the tests need of the machine; made by the build. */
const MEANS = join(ROOT, 'dist-tests', 'tests', 'support', 'machine-requirements.js');
const NODE_MAJOR_MIN = 20;

const BUILD = ['build', process.execPath, ['tools/build.mjs', '--tests']];

/** One after the other; each runs even when one before it failed, so that one run shows everything. */
const GATES = [
  ['biome', program('biome'), ['check', '--error-on-warnings']],
  // More checkers than one check what several files share more than once, and the cores are taken.
  ['tsc', program('tsc'), ['--noEmit', '-p', '.', '--singleThreaded']],
  ['tsc of the console', program('tsc'), ['--noEmit', '-p', 'console', '--singleThreaded']],
  ['tsc of the widget', program('tsc'), ['--noEmit', '-p', 'widget', '--singleThreaded']],
  ['tsc of sdk/node', program('tsc'), ['--noEmit', '-p', 'sdk/node', '--singleThreaded']],
  ['knip', program('knip'), []],
];

/**
 * Tests that judge durations run one file at a time and mostly wait; tests of whole processes wait for
 * starts, stops and locks. Tests that need only the processor take the rest of it, at a lower priority. Left
 * out: what `npm run test:whole`, `test:distributed` and `breaks` run.
 */
const TIMED = ['timed'];
const CONCURRENT = ['unit', 'store'];
const PROCESSES = ['sys'];
/** Of 19. More would starve tests that have a time limit of their own. */
const NICE = ['nice', '-n', '5'];
/** The end of what is printed when it is done: some hundred kilobytes are usual. */
const OUTPUT_CHARS_MAX = 16 * 1024 * 1024;

process.chdir(ROOT);
process.exitCode = await main(process.argv.slice(2));

async function main(vitestArguments) {
  rmSync(REPORTS, { recursive: true, force: true });
  rmSync(SUMMARY, { force: true });
  mkdirSync(REPORTS, { recursive: true });
  if (Number(process.versions.node.split('.')[0]) < NODE_MAJOR_MIN) {
    return fail(`Metergate needs Node ${NODE_MAJOR_MIN} or newer; this is ${process.versions.node}.`);
  }
  if (!isInstalled({ withDev: true })) {
    process.stdout.write('\n=== install\n');
    if (!install({ withDev: true })) return fail('npm install failed.');
  }
  const isBuilt = run(...BUILD);
  const { counts, failedGates } = await runAll(vitestArguments);
  if (!isBuilt) failedGates.unshift('build');
  const missing = await notRunHere();
  // For .ci/run, which fails on both, what was left out is no better than what was skipped.
  const skipped = [...counts.skipped, ...missing];
  writeFileSync(SUMMARY, `${JSON.stringify({ ...counts, skipped, failedGates })}\n`);
  return report({ ...counts, failedGates, missing });
}

/** One that came with a package, without npm around it. */
function program(name) {
  return join(ROOT, 'node_modules', '.bin', name);
}

function run(name, command, options) {
  process.stdout.write(`\n=== ${name}\n`);
  const { status, error } = spawnSync(command, options, { stdio: ['ignore', 'inherit', 'inherit'] });
  if (error) process.stdout.write(`${name}: ${error.message}\n`);
  return status === 0;
}

/** The gates, and the tests that are chosen, else all of them. */
async function runAll(vitestArguments) {
  if (vitestArguments.length > 0) {
    const failedGates = await runGates();
    const isSound = run('tests', program('vitest'), vitest('chosen', vitestArguments));
    return { counts: countsOf('chosen', isSound), failedGates };
  }
  const concurrent = runBehind(
    'tests within a process',
    program('vitest'),
    vitest('concurrent', projects(CONCURRENT)),
  );
  const gates = runGates();
  const timed = await runShown('timed tests; those within a process run concurrently', 'timed', TIMED);
  const processes = await runShown(
    'tests of whole processes; the rest of the others',
    'processes',
    PROCESSES,
  );
  const within = countsOf('concurrent', await concurrent);
  const failedGates = await gates;
  const all = [within, timed, processes];
  const sum = (name) => all.reduce((total, counts) => total + counts[name], 0);
  const skipped = all.flatMap((counts) => counts.skipped);
  return { counts: { passed: sum('passed'), failed: sum('failed'), skipped }, failedGates };
}

async function runShown(title, name, chosen) {
  process.stdout.write(`\n=== ${title}\n`);
  const child = spawn(program('vitest'), vitest(name, projects(chosen)), {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  return countsOf(name, (await ended(child)) === 0);
}

function projects(names) {
  return names.map((name) => `--project=${name}`);
}

function vitest(name, chosen) {
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${reportOf(name)}`];
  return ['run', ...reporters, ...chosen];
}

function reportOf(name) {
  return join(REPORTS, `${name}.json`);
}

async function runGates() {
  const failed = [];
  for (const [name, command, options] of GATES) {
    if (!(await runBehind(name, command, options))) failed.push(name);
  }
  return failed;
}

/** Runs at a lower priority; its output is shown when it has ended. True when it is well. */
async function runBehind(name, command, options) {
  const [nice, ...niceness] = NICE;
  const child = spawn(nice, [...niceness, command, ...options], { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  const take = (text) => {
    output = (output + text).slice(-OUTPUT_CHARS_MAX);
  };
  child.stdout.setEncoding('utf8').on('data', take);
  child.stderr.setEncoding('utf8').on('data', take);
  const status = await ended(child);
  process.stdout.write(`\n=== ${name}\n${output}`);
  return status === 0;
}

/** Resolves with its exit code; prints why when it cannot be run at all. */
async function ended(child) {
  return await once(child, 'close').then(
    ([status]) => status,
    (error) => {
      process.stdout.write(`${error.message}\n`);
      return 1;
    },
  );
}

/** Passed, failed and skipped as vitest counts them; a run without a report is one failure. */
function countsOf(name, isSound) {
  if (!existsSync(reportOf(name))) return { passed: 0, failed: 1, skipped: [] };
  const report = JSON.parse(readFileSync(reportOf(name), 'utf8'));
  const tests = report.testResults.flatMap((file) => file.assertionResults);
  // A file that cannot be loaded, or an error outside every test, fails the run without a failed test.
  const broken = report.testResults.filter((file) => file.status === 'failed' && !hasFailure(file)).length;
  const failed = tests.filter((test) => test.status === 'failed').length + broken;
  return {
    passed: tests.filter((test) => test.status === 'passed').length,
    failed: failed === 0 && !isSound ? 1 : failed,
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
  if (!existsSync(MEANS)) return ['unknown: there is no build to query'];
  const { testsNotRunHere } = await import(pathToFileURL(MEANS));
  return testsNotRunHere().map(({ why }) => why);
}

function fail(message) {
  process.stderr.write(`${message}\n`);
  return 1;
}
